"""The surveys of the worlds that run: when they are due, and what became of them."""

from __future__ import annotations

from app.engine.lockstep import Lockstep
from app.engine.survey import Surveyor, Wanted
from app.model.snapshot import Survey


class Surveys:
    """One surveyor for each world. What fails is not tried again until something else is wanted."""

    def __init__(self) -> None:
        self.wanted = Wanted()
        self.newest: list[Survey | None] = []
        self._surveyors: list[Surveyor] = []
        self._failed_for: Wanted | None = None

    def begin(self, worlds: int) -> None:
        """Begin with `worlds` other worlds."""
        self._surveyors = [Surveyor() for _ in range(worlds)]
        self.newest = [None] * worlds

    def keep(self, world: int) -> None:
        """Go on with one of the worlds alone."""
        self._surveyors, self.newest = [self._surveyors[world]], [self.newest[world]]

    def are_due(self, lockstep: Lockstep) -> bool:
        """Whether `find` would find anything new."""
        if self.wanted == self._failed_for:
            return False
        return any(
            surveyor.is_due(simulator.world, simulator.scene.rivers, self.wanted)
            for surveyor, simulator in zip(self._surveyors, lockstep.simulators, strict=True)
        )

    def find(self, lockstep: Lockstep) -> None:
        """Survey the worlds. Where that fails they are without surveys, and the error goes on to the caller."""
        try:
            self.newest = [
                surveyor.survey(simulator.world, simulator.scene.rivers, self.wanted)
                for surveyor, simulator in zip(self._surveyors, lockstep.simulators, strict=True)
            ]
        except Exception:
            self.begin(len(lockstep.simulators))
            self._failed_for = self.wanted
            raise

"""The surveys of the running worlds."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.lockstep import Lockstep
from app.engine.publishing import take_snapshot
from app.engine.survey import Surveyor, Wanted, wanted_by
from app.model.snapshot import Snapshot, Survey
from app.model.view_parameters import ViewParameters
from app.model.world import World
from app.scene.scene import Scene


def surveyed_snapshot(
    surveyor: Surveyor,
    world: World,
    scene: Scene,
    number: int = 0,
    old: Snapshot | None = None,
    *,
    view: ViewParameters | None = None,
) -> Snapshot:
    """A snapshot of a world with the surveys of a view, by default that of its scene; see `take_snapshot`."""
    survey = surveyor.survey(world, scene.rivers, wanted_by(view or scene.view), scene.runoff)
    return take_snapshot(world, number, old, survey)


class Surveys:
    """One surveyor per world. A failed survey is not repeated until something else is wanted."""

    def __init__(self) -> None:
        self.wanted = Wanted()
        self.newest: list[Survey | None] = []
        self._surveyors: list[Surveyor] = []
        self._failed_for: Wanted | None = None

    def begin(self, worlds: int) -> None:
        """Begin with `worlds` other worlds."""
        self._surveyors = [Surveyor() for _ in range(worlds)]
        self.newest = [None] * worlds

    def keep_only(self, worlds: Sequence[int]) -> None:
        """Keep only these worlds, in order."""
        self._surveyors = [self._surveyors[world] for world in worlds]
        self.newest = [self.newest[world] for world in worlds]

    def add(self) -> None:
        """Add a world to the comparison."""
        self._surveyors.append(Surveyor())
        self.newest.append(None)

    def are_due(self, lockstep: Lockstep) -> bool:
        """Whether `find` would find anything new."""
        if self.wanted == self._failed_for:
            return False
        return any(
            surveyor.is_due(simulator.world, simulator.scene.rivers, self.wanted, simulator.scene.runoff)
            for surveyor, simulator in zip(self._surveyors, lockstep.simulators, strict=True)
        )

    def find(self, lockstep: Lockstep) -> None:
        """Survey the worlds. If that fails, they have no surveys, and the error is raised."""
        try:
            self.newest = [
                surveyor.survey(
                    simulator.world,
                    simulator.scene.rivers,
                    self.wanted,
                    simulator.scene.runoff,
                )
                for surveyor, simulator in zip(self._surveyors, lockstep.simulators, strict=True)
            ]
        except Exception:
            self.begin(len(lockstep.simulators))
            self._failed_for = self.wanted
            raise

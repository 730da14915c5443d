"""Playing edits: a single one, a journal, or the edits on the way to a moment of the time line."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.lockstep import Lockstep
from app.engine.messages import GoTo, Moment
from app.model.errors import UserError
from app.scene.edits import (
    Blur,
    CancelSnowballs,
    Change,
    Copy,
    Edit,
    Keep,
    LandRequest,
    Lay,
    Open,
    Refine,
    Restack,
    RollSnowballs,
    Stroke,
)


class Player:
    """Plays the edits of a journal, each after its cycle."""

    def __init__(self, edits: Sequence[Edit], done: int) -> None:
        self._edits = edits
        self.done = done  # edits

    def edit(self, lockstep: Lockstep) -> Lockstep:
        """Play the edits that are due before the next cycle."""
        while self.done < len(self._edits) and self._edits[self.done].cycle <= lockstep.cycle:
            request = self._edits[self.done].made
            if request is not None:
                lockstep = edited(lockstep, request)
            self.done += 1
        return lockstep


class Travel(Player):
    """The way from a stored state to a later moment: cycles, with each edit after its cycle."""

    def __init__(
        self, start: Moment, target: Moment, edits: Sequence[Edit], request: GoTo | Restack, before: Moment
    ) -> None:
        """`request` asked for it while the worlds were at `before`."""
        super().__init__(edits[: target.edits], start.edits)
        self.target = target
        self.request = request
        self.before = before

    def is_over(self, lockstep: Lockstep) -> bool:
        return lockstep.cycle >= self.target.cycle and self.done >= self.target.edits

    def moment(self, lockstep: Lockstep) -> Moment:
        """Where the worlds are now."""
        return Moment(self.target.branch, lockstep.cycle, self.done)


def edited(lockstep: Lockstep, request: LandRequest) -> Lockstep:
    """The worlds after an edit. Raises `UserError` if it fails."""
    match request:
        case Change():
            lockstep.change(request.applied_to(lockstep.scenes))
        case Copy(world):
            return lockstep.with_copy(world)
        case Keep(worlds):
            return lockstep.only(worlds)
        case Blur():
            lockstep.smooth()
        case Refine(times):
            return lockstep.refined(times)
        case RollSnowballs(balls):
            lockstep.begin_snowball_run(balls)
        case CancelSnowballs():
            lockstep.end_snowball_run()
        case Stroke():
            lockstep.paint(request)
        case Lay():
            lockstep.lay(request)
        case Open():
            raise UserError("other worlds are opened at the beginning of a journal, and not later")
    return lockstep

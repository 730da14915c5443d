"""The time line for display: branches, their edits, and thumbnails of the land at some moments."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.brushes.stack import kind_of
from app.engine.compressed import Compressed
from app.engine.messages import Moment
from app.model.numbers import value_text
from app.model.parameters import Value
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
    RollSnowballs,
    Stroke,
)
from app.scene.scene import KEYS, find_declaration


def order(moment: Moment) -> tuple[int, int]:
    """Sort key of moments on the same path."""
    return moment.cycle, moment.edits


@dataclass(frozen=True, slots=True)
class StateSeen:
    """A moment with a stored state, and its thumbnail."""

    moment: Moment
    thumbnail: Compressed  # see `app.engine.thumbnails`


@dataclass(frozen=True)
class BranchSeen:
    """A frozen copy of a branch, readable from any thread."""

    number: int
    name: str
    origin: Moment | None
    first: int
    last: int
    edits: tuple[Edit, ...]
    states: tuple[StateSeen, ...]


@dataclass(frozen=True)
class TimelineSeen:
    """All branches, and the moment that the worlds are travelling to."""

    branches: dict[int, BranchSeen] = field(default_factory=dict)
    target: Moment | None = None
    bytes_in_memory: int = 0
    bytes_on_disk: int = 0

    def states_of(self, number: int) -> list[StateSeen]:
        """The stored states on a branch and its ancestors, in order."""
        states: list[StateSeen] = []
        last: Moment | None = None
        while branch := self.branches.get(number):
            own = (state for state in branch.states if last is None or order(state.moment) <= order(last))
            states = [*own, *states]
            if branch.origin is None:
                break
            last = branch.origin if last is None else min(last, branch.origin, key=order)
            number = branch.origin.branch
        return states

    def edits_of(self, moment: Moment) -> tuple[Edit, ...]:
        """All edits up to a moment; none where its branch is gone."""
        branch = self.branches.get(moment.branch)
        return branch.edits[: moment.edits] if branch else ()

    def root(self, number: int) -> int:
        """The first ancestor of a branch, which began with opened worlds."""
        while (branch := self.branches.get(number)) and branch.origin:
            number = branch.origin.branch
        return number


def name_of(request: LandRequest) -> str:
    """An edit in a few words."""
    match request:
        case Change(values):
            return ", ".join(_change(path, value) for path, value in values.items())
        case Open(scenes):
            return scenes[0].name or "land"
        case Copy():
            return "compare"
        case Keep():
            return "end comparison"
        case Blur():
            return "blur"
        case Refine(times):
            return f"refine ×{times}"
        case RollSnowballs(balls):
            return f"{balls} snowballs"
        case CancelSnowballs():
            return "snowballs stopped"
        case Stroke() | Lay():
            return kind_of(request)


def _change(path: str, value: Value) -> str:
    if path.startswith(KEYS):
        return f"keys of {find_declaration(path.removeprefix(KEYS)).label}"
    declaration = find_declaration(path)
    return f"{declaration.label} {value_text(declaration, value)}"

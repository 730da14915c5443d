"""What a person has done, step by step, so that it can be undone and done again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from app.engine.messages import GoTo, Moment
from app.model.numbers import value_text
from app.model.parameters import Value
from app.scene.scene import KEYS, find_declaration

SECONDS_OF_ONE_CHANGE = 1.0  # changes of the same parameter that follow one another as fast are one step
MOST_STEPS = 500

OVERLAY = "view.overlay"

Values = dict[str, tuple[Value, ...]]  # of parameters, by their paths, in each world


@dataclass(frozen=True)
class ValueStep:
    """Parameters were changed. What ran meanwhile stays: the values count from the next cycle on."""

    before: Values
    after: Values
    time: float = field(default_factory=lambda: time.monotonic())

    @property
    def name(self) -> str:
        path, *others = self.after
        more = f" and {len(others)} more" if others else ""
        if path.startswith(KEYS):
            return f"keys of {find_declaration(path.removeprefix(KEYS)).label}{more}"
        declaration = find_declaration(path)
        values = (value_text(declaration, values[path][-1]) for values in (self.before, self.after))
        return f"{declaration.label}{more}: {' → '.join(values)}"

    @property
    def shows_alone(self) -> bool:
        """Whether it changed nothing but which overlay lies over the land."""
        return self.after.keys() == {OVERLAY}

    def followed_by(self, later: ValueStep) -> ValueStep | None:
        """Both as one, where they belong together."""
        if later.after.keys() != self.after.keys() or later.time - self.time > SECONDS_OF_ONE_CHANGE:
            return None
        return ValueStep(self.before, later.after, later.time)


@dataclass(frozen=True)
class LandStep:
    """Something was done to the land, which was at `before` then. To undo it is to go back there.

    `after` is where the land was when that was undone. Where it was `seen` otherwise from then on, that belongs to it.
    """

    name: str
    before: Moment
    after: Moment | None = None
    going: GoTo | None = None  # what was asked for to undo it
    seen: ValueStep | None = None


Step = ValueStep | LandStep


class Undo:
    """The steps that were done, and those of them that were undone.

    Who looks at overlays between two edits wants the edits back: steps that show another overlay stand before all
    others, and are undone when no other is left.
    """

    def __init__(self) -> None:
        self.done: list[Step] = []
        self.undone: list[Step] = []  # the last of them is the first to be done again

    def add(self, step: Step) -> None:
        """Something was done. What was undone before cannot be done again, unless it was an overlay that was shown."""
        if not _shows_alone(step):
            self.undone.clear()
        end = self._end_for(step)
        last = self.done[end - 1] if end else None
        if isinstance(step, ValueStep) and isinstance(last, ValueStep) and (both := last.followed_by(step)):
            self.done[end - 1 : end] = [both] if both.before != both.after else []
        elif not (isinstance(step, ValueStep) and step.before == step.after):
            self.done.insert(end, step)
        del self.done[:-MOST_STEPS]

    def _end_for(self, step: Step) -> int:
        """Where a step belongs that is done now."""
        return sum(map(_shows_alone, self.done)) if _shows_alone(step) else len(self.done)

    def undo(self) -> Step | None:
        """The step to be undone now."""
        if not self.done:
            return None
        step = self.done.pop()
        if isinstance(step, LandStep):
            going = GoTo(step.before.branch, step.before.cycle, step.before.edits, pause=False)
            step = replace(step, after=None, going=going)
        self.undone.append(step)
        return step

    def redo(self) -> Step | None:
        """The step to be done again now; none while the land is still on its way back."""
        if not self.undone or (isinstance(self.undone[-1], LandStep) and self.undone[-1].after is None):
            return None
        step = self.undone.pop()
        self.done.insert(self._end_for(step), step)
        return step

    def was_undone(self, going: GoTo, at: Moment) -> None:
        """The land is where a step was undone to, and was at this moment before."""
        self.undone = [
            replace(step, after=at) if isinstance(step, LandStep) and step.going is going else step
            for step in self.undone
        ]

    def cannot_be_undone(self, going: GoTo) -> None:
        """There is no way back to before a step."""
        self.undone = [step for step in self.undone if not (isinstance(step, LandStep) and step.going is going)]


def _shows_alone(step: Step) -> bool:
    return isinstance(step, ValueStep) and step.shows_alone

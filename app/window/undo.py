"""Steps of the user, for undo and redo."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from app.engine.messages import GoTo, Moment
from app.model.numbers import value_text
from app.model.parameters import Value
from app.scene.scene import KEYS, find_declaration

SECONDS_OF_ONE_CHANGE = 1.0  # successive changes of a parameter within this time are one step
MOST_STEPS = 500

OVERLAY = "view.overlay"

Values = dict[str, tuple[Value, ...]]  # values in each world, by path


@dataclass(frozen=True)
class ValueStep:
    """A change of parameters. Cycles since then stay: values apply from the next cycle on."""

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
        """Whether it only changed the overlay."""
        return self.after.keys() == {OVERLAY}

    def followed_by(self, later: ValueStep) -> ValueStep | None:
        """Both steps as one, or None if they do not belong together."""
        if later.after.keys() != self.after.keys() or later.time - self.time > SECONDS_OF_ONE_CHANGE:
            return None
        return ValueStep(self.before, later.after, later.time)


@dataclass(frozen=True)
class LandStep:
    """An edit of the land at the moment `before`. Undo returns there.

    `after` is the moment at which it was undone. `seen` is the change of the view that belongs to it.
    """

    name: str
    before: Moment
    after: Moment | None = None
    going: GoTo | None = None  # the request of the undo
    seen: ValueStep | None = None


Step = ValueStep | LandStep


class Undo:
    """Done and undone steps.

    Undo should reach edits first: steps that only change the overlay are placed before all others and are undone
    last.
    """

    def __init__(self) -> None:
        self.done: list[Step] = []
        self.undone: list[Step] = []  # the last one is redone first

    def add(self, step: Step) -> None:
        """Add a step. It clears the undone steps, unless it only changes the overlay."""
        if not _shows_alone(step):
            self.undone.clear()
        end = self._end_for(step)
        last = self.done[end - 1] if end else None
        if isinstance(step, ValueStep) and isinstance(last, ValueStep) and (both := last.followed_by(step)):
            self.done[end - 1 : end] = [both] if both.before != both.after else []
        elif not (isinstance(step, ValueStep) and step.before == step.after):
            self.done.insert(end, step)
        del self.done[:-MOST_STEPS]

    def before_stroke(self) -> Moment | None:
        """Drop the last step, that of a stroke which a layer takes; None if something else was done since."""
        if not self.done or not isinstance(step := self.done[-1], LandStep):
            return None
        self.done.pop()
        return step.before

    def _end_for(self, step: Step) -> int:
        """The index of a new step."""
        return sum(map(_shows_alone, self.done)) if _shows_alone(step) else len(self.done)

    def undo(self) -> Step | None:
        """Pop the step to undo."""
        if not self.done:
            return None
        step = self.done.pop()
        if isinstance(step, LandStep):
            going = GoTo(step.before.branch, step.before.cycle, step.before.edits, pause=False)
            step = replace(step, after=None, going=going)
        self.undone.append(step)
        return step

    def redo(self) -> Step | None:
        """Pop the step to redo; None while the land is still travelling back."""
        if not self.undone or (isinstance(self.undone[-1], LandStep) and self.undone[-1].after is None):
            return None
        step = self.undone.pop()
        self.done.insert(self._end_for(step), step)
        return step

    def was_undone(self, going: object, at: Moment) -> None:
        """An undo has arrived; the land was at this moment before."""
        self.undone = [
            replace(step, after=at) if isinstance(step, LandStep) and step.going is going else step
            for step in self.undone
        ]

    def cannot_be_undone(self, going: GoTo) -> None:
        """An undo was refused."""
        self.undone = [step for step in self.undone if not (isinstance(step, LandStep) and step.going is going)]


def _shows_alone(step: Step) -> bool:
    return isinstance(step, ValueStep) and step.shows_alone

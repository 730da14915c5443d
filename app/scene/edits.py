"""Edits of worlds, as frozen values: requests to the simulation, stored in journals with their cycles."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.model.field_parameters import blended_field
from app.model.parameters import Value
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene.scene import Scene, find_declaration


class Message(msgspec.Struct, frozen=True, tag=True):
    """A message between threads."""


class Open(Message, frozen=True):
    """Make the worlds of `scenes`: one, or several that are compared. On failure the current worlds continue."""

    scenes: tuple[Scene, ...]


class Change(Message, frozen=True):
    """Change parameters from the next cycle on, of one world or, without a number, of all.

    Changes of the terrain itself need `Open`. If a change needs kernels that are not compiled yet, a running
    simulation continues until they are ready, as if the change had been requested later.
    """

    values: dict[str, Value]
    world: int | None = None

    def applied_to(self, scenes: Sequence[Scene]) -> tuple[Scene, ...]:
        """The scenes of the worlds after the change."""
        return tuple(
            scene.with_values(self.values) if self.world in (None, place) else scene
            for place, scene in enumerate(scenes)
        )


class Copy(Message, frozen=True):
    """Add a copy of a world to the comparison."""

    world: int


class Keep(Message, frozen=True):
    """Keep some of the worlds, in order, and remove the others."""

    worlds: tuple[int, ...]


class Blur(Message, frozen=True):
    """Smooth the ground once, in a cycle without processes."""


REFINEMENTS = (2, 4)  # refinement factors


class Refine(Message, frozen=True):
    """Refine the cells of the worlds by a factor."""

    times: int


class RollSnowballs(Message, frozen=True):
    """Run `balls` snowballs with all other processes paused; then continue, or stay paused, as before."""

    balls: int


class CancelSnowballs(Message, frozen=True):
    """Stop a run of snowballs."""


# A place in metres from the western and northern edges, and the pressure of the pen, from 0 to 1.
Dab = tuple[float, float, float]


class Stroke(Message, frozen=True):
    """A stroke of a brush, or its next part: `tool` acts at each dab in turn.

    In metres, so that it is the same on a map of any resolution. `app.brushes.tools` tells what the tools are, and
    what they make of `amount`, `level`, `angle` and `choice`.
    """

    tool: str
    dabs: tuple[Dab, ...]
    radius: float
    amount: float  # per dab
    hardness: float = 0.5  # fraction of the radius with full effect
    level: float = 0.0  # height in metres
    angle: float = 0.0  # degrees, clockwise from north
    choice: str = ""
    number: int = 0  # of the stroke, and seed of its random numbers
    first: int = 0  # index of its first dab in the whole stroke
    world: int | None = None  # None: all worlds
    mask: str = ""  # expression of the land: how much of the stroke each cell takes, from 0 to 1

    @property
    def begins(self) -> bool:
        """Whether this is the first part of a stroke."""
        return self.first == 0

    def is_continued_by(self, later: Stroke) -> bool:
        """Whether another part continues this one in the same way."""
        ends = self.first + len(self.dabs)
        return later.first == ends and msgspec.structs.replace(later, dabs=self.dabs, first=self.first) == self

    def and_then(self, later: Stroke) -> Stroke:
        """This part joined with the next."""
        return msgspec.structs.replace(self, dabs=self.dabs + later.dabs)


class Lay(Message, frozen=True):
    """Raise the ground by an expression of the land, such as `40 * image("hill.png")`, in metres; lower it below 0."""

    expression: str
    world: int | None = None  # None: all worlds


LandRequest = (
    Open | Change | Copy | Keep | Blur | Refine | RollSnowballs | CancelSnowballs | Stroke | Lay
)  # edits in a journal


class Restack(Message, frozen=True):
    """Make the present land again with a layer of the stack changed; see `app.brushes.stack`. None: as it is.

    The former land stays on its branch of the time line.
    """

    layer: str
    is_on: bool | None = None
    strength: float | None = None
    expression: str | None = None  # of a field, or of heights
    name: str | None = None
    after: str | None = None  # the layer that is made before it; empty: the land as it began
    takes: int | None = None  # number of a stroke that is made right after its others
    removed: bool = False


class Looked(msgspec.Struct, frozen=True):
    """The view of the land from a moment on. Seconds count session time, including pauses."""

    cycle: int
    seconds: float
    view: ViewParameters
    camera: CameraParameters


class Edit(msgspec.Struct, frozen=True):
    """An edit with the cycle after which it was made, and its place in the stack of edits, see `app.brushes.stack`."""

    cycle: int
    request: LandRequest
    layer: str = ""  # name of its layer in the stack; empty: that of what it does
    is_on: bool = True  # otherwise it is kept, and not made
    strength: float = 1.0  # part of the effect; 1: as it was made
    of_start: bool = False  # a field that the worlds were opened with; while it is off, they have none

    @property
    def made(self) -> LandRequest | None:
        """What it does to the land; None while it is off."""
        if not self.is_on:
            if self.of_start and isinstance(self.request, Change):
                values = {path: find_declaration(path).default for path in self.request.values}
                return msgspec.structs.replace(self.request, values=values)
            return None
        if self.strength == 1.0:
            return self.request
        match self.request:
            case Stroke(amount=amount):
                return msgspec.structs.replace(self.request, amount=self.strength * amount)
            case Change(values):
                blended = {path: blended_field(str(text), self.strength) for path, text in values.items()}
                return msgspec.structs.replace(self.request, values=blended)
            case Lay(expression) if expression.strip():
                return msgspec.structs.replace(self.request, expression=f"{self.strength:g} * ({expression})")
        return self.request

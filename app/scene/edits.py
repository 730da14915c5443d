"""What can be done to worlds, as frozen values: asked of the simulation, and kept in journals with their cycles."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.model.parameters import Value
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene.scene import Scene


class Message(msgspec.Struct, frozen=True, tag=True):
    """A value that goes between the threads."""


class Open(Message, frozen=True):
    """Make the worlds of `scenes`: one, or several that are compared. Where that fails, those that are there go on."""

    scenes: tuple[Scene, ...]


class Change(Message, frozen=True):
    """Change parameters from the next cycle on, of one world or, without a number, of all.

    What changes the terrain itself needs `Open`. Where a change needs kernels that are still to be compiled, a
    simulation that runs goes on as before until they are there, as if the change had been asked for later.
    """

    values: dict[str, Value]
    world: int | None = None

    def applied_to(self, scenes: Sequence[Scene]) -> tuple[Scene, ...]:
        """The scenes of the worlds after it."""
        return tuple(
            scene.with_values(self.values) if self.world in (None, place) else scene
            for place, scene in enumerate(scenes)
        )


class Copy(Message, frozen=True):
    """Compare a copy of a world, as it is now, with those that are there."""

    world: int


class Keep(Message, frozen=True):
    """Go on with some of the worlds, in their order, and without the others."""

    worlds: tuple[int, ...]


class Blur(Message, frozen=True):
    """Smooth the ground once, in a cycle in which nothing else happens."""


REFINEMENTS = (2, 4)  # how many cells may come to lie along the side of one


class Refine(Message, frozen=True):
    """Go on with the worlds as they are now in finer cells, so many of them along the side of each."""

    times: int


class RollSnowballs(Message, frozen=True):
    """Run `balls` snowballs with all other processes paused; then continue, or stay paused, as before."""

    balls: int


class CancelSnowballs(Message, frozen=True):
    """Stop a run of snowballs."""


# A place, in metres from the western and from the northern edge, and how hard the pen was pressed there, from 0 to 1.
Dab = tuple[float, float, float]


class Stroke(Message, frozen=True):
    """A stroke of a brush, or what came to it since its last part: what `tool` does at each dab, one after the other.

    In metres, so that it is the same on a map of any resolution. `app.brushes.tools` tells what the tools are, and
    what they make of `amount`, `level`, `angle` and `choice`.
    """

    tool: str
    dabs: tuple[Dab, ...]
    radius: float
    amount: float  # of one dab
    hardness: float = 0.5  # the part of the radius in which it acts fully
    level: float = 0.0  # height in metres
    angle: float = 0.0  # degrees, clockwise from north
    choice: str = ""
    number: int = 0  # of the stroke: what is by chance in it follows from this
    first: int = 0  # the number of its first dab in the whole stroke
    world: int | None = None  # of several; without it, all

    @property
    def begins(self) -> bool:
        """Whether it is the first part of a stroke."""
        return self.first == 0

    def is_continued_by(self, later: Stroke) -> bool:
        """Whether another part follows on this one, and does the same."""
        ends = self.first + len(self.dabs)
        return later.first == ends and msgspec.structs.replace(later, dabs=self.dabs, first=self.first) == self

    def and_then(self, later: Stroke) -> Stroke:
        """Both parts as one."""
        return msgspec.structs.replace(self, dabs=self.dabs + later.dabs)


LandRequest = (
    Open | Change | Copy | Keep | Blur | Refine | RollSnowballs | CancelSnowballs | Stroke
)  # what a journal has


class Looked(msgspec.Struct, frozen=True):
    """How the land was seen from a moment on. The seconds are those of the session, in which cycles may stand still."""

    cycle: int
    seconds: float
    view: ViewParameters
    camera: CameraParameters


class Edit(msgspec.Struct, frozen=True):
    """What was asked, and the cycle after which it was done."""

    cycle: int
    request: LandRequest

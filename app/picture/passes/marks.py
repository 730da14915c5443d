"""The marks of snowballs and braided rivers on the ground, and snow: their traces, blurred and combined in one map."""

from __future__ import annotations

import math
from typing import NamedTuple

import moderngl

from app.model.layered_map import SNOW
from app.model.snapshot import Snapshot
from app.picture.passes.maps import LayerTextures
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MapTarget, release_all

SNOWBALLS, RIVERS = ("wear", "deposit"), ("reworked",)
TRACES = (*SNOWBALLS, *RIVERS, SNOW)


class Marks(NamedTuple):
    """The inputs of the map."""

    world: int
    versions: tuple[int | None, ...]  # of the traces
    strength: float
    ground: int | None = None  # its version where snow lies, which wind sweeps off its rises
    wind_direction: float = 0.0  # where it comes from, °


class MarksMap:
    """Sand, bare rock, gravel and snow, each from 0 to 1, with a texel for each cell."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = FullScreen(context, shaders, "marks.frag")
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._target = MapTarget(context, (4, "f1"))
        self._drawn: Marks | None = None

    @property
    def texture(self) -> moderngl.Texture:
        return self._nothing if self._drawn is None else self._target.texture()

    @property
    def shown(self) -> bool:
        """Whether there are any marks."""
        return self._drawn is not None

    def update(
        self,
        snapshot: Snapshot,
        layers: LayerTextures,
        strength: float,
        surface: moderngl.Texture,
        wind_direction: float,
    ) -> None:
        """Combine the traces of a snapshot. `strength` is that of sand and rock, from 0 to 1.

        Snow lies on its `surface` as wind has left it, which comes from a direction in degrees.
        """
        by_snowballs = strength > 0.0 and all(name in snapshot.layers for name in SNOWBALLS)
        if not by_snowballs and not any(name in snapshot.layers for name in (*RIVERS, SNOW)):
            self._drawn = None
            return
        versions = tuple(snapshot.versions.get(name) for name in TRACES)
        swept = (snapshot.ground_version, wind_direction) if SNOW in snapshot.layers else ()
        wanted = Marks(snapshot.world, versions, strength, *swept)
        if wanted == self._drawn:
            return
        rows, columns = snapshot.shape
        self._target.fit((columns, rows))
        self._drawing.program.bind(surface=surface, **{name: layers.texture(name) for name in TRACES})
        blows = math.radians(wind_direction)
        self._drawing.program.set(strength=strength, wind=(-math.sin(blows), math.cos(blows)))
        self._drawing.draw(self._target.framebuffer)
        self._drawn = wanted

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = None

    def release(self) -> None:
        self.forget()
        release_all(self._target, self._nothing, self._drawing)

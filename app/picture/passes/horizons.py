"""The horizons around water: what lakes mirror where no ray is followed over the land, and above which none need be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import moderngl

from app.picture.passes.canopy import Crowns
from app.picture.passes.gradual import GradualWork, draw_in_bands
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.shared import HORIZON_TILES
from app.picture.passes.targets import MapTarget, release_all

SIDE = 64  # texels along the longer side of the map in each


class Horizons(NamedTuple):
    """The inputs of the map."""

    world: int
    ground: int  # its version
    water: tuple[float, int]  # level of the sea, and version of the water
    crowns: Crowns | None  # of the trees on the land
    exaggeration: float
    rays: bool  # whether any are followed over the land


class HorizonMap:
    """The slope up to the horizon and its distance, RG8, by place in tiles by direction, drawn in bands over frames.

    An older map stays in use until the next one of its world is complete.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "horizons.frag")
        self._shown, self._next = (MapTarget(context, (2, "f1")) for _ in range(2))
        self._work = GradualWork()
        self._world: int | None = None

    @property
    def texture(self) -> moderngl.Texture | None:
        """None before it is complete."""
        return None if self._work.done is None else self._shown.texture()

    def settled(self, wanted: Horizons | None) -> bool:
        return wanted is None or self._work.is_done(wanted)

    def update(self, maps: Mapping[str, moderngl.Texture], wanted: Horizons, budget: int, *, at_once: bool) -> None:
        """Continue drawing `wanted` within a budget of texels, or completely.

        The `maps` are those of the surface, the skyline and the depth of water, by shader name.
        """
        if wanted.world != self._world:
            self.forget()
            self._world = wanted.world
        steps = partial(self._draw, maps, wanted.rays, budget)
        if self._work.advance(wanted, steps, budget, at_once=at_once):
            self._shown, self._next = self._next, self._shown

    def forget(self) -> None:
        """Force a redraw, or have none."""
        self._work.forget()

    def release(self) -> None:
        self.forget()
        release_all(self._shown, self._next, self._drawing)

    def _draw(self, maps: Mapping[str, moderngl.Texture], rays: bool, band: int) -> Iterator[int]:
        size = maps["surface"].size
        tile = tuple(max(round(SIDE * side / max(size)), 1) for side in size)
        self._next.fit((HORIZON_TILES[0] * tile[0], HORIZON_TILES[1] * tile[1]))
        yield from draw_in_bands(self._drawing, self._next, band, maps, tile=tile, rays=rays)

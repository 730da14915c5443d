"""The map of glaciers: what ice looks like in each cell, from the layers that its process leaves."""

from __future__ import annotations

from typing import NamedTuple

import moderngl

from app.model.snapshot import Snapshot
from app.picture.passes.maps import FINE_CELLS, LayerTextures
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MapTarget, release_all

TRACES = ("ice", "ice_speed", "ice_debris", "ice_runoff")
FINER = 2  # texels along the side of a cell: moraines are narrower than cells of a range


class Glaciers(NamedTuple):
    """The inputs of the map."""

    world: int
    versions: tuple[int, ...]  # of the traces


class GlaciersMap:
    """Ice, firn, crevasses and rock on it, each from 0 to 1, where maps are small in texels finer than a cell."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "glaciers.frag")
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._target = MapTarget(context, (4, "f1"))
        self._drawn: Glaciers | None = None

    @property
    def texture(self) -> moderngl.Texture:
        return self._nothing if self._drawn is None else self._target.texture()

    @property
    def shown(self) -> bool:
        """Whether there is any ice."""
        return self._drawn is not None

    def update(self, snapshot: Snapshot, layers: LayerTextures, surface: moderngl.Texture) -> None:
        """Draw that of a snapshot whose layers and surface these are."""
        if not all(name in snapshot.layers for name in TRACES):
            self._drawn = None
            return
        wanted = Glaciers(snapshot.world, tuple(snapshot.versions[name] for name in TRACES))
        if wanted == self._drawn:
            return
        rows, columns = snapshot.shape
        finer = FINER if rows * columns <= FINE_CELLS else 1
        self._target.fit((finer * columns, finer * rows))
        self._drawing.program.bind(surface=surface, **{name: layers.texture(name) for name in TRACES})
        self._drawing.draw(self._target.framebuffer)
        self._drawn = wanted

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = None

    def release(self) -> None:
        self.forget()
        release_all(self._target, self._nothing, self._drawing)

"""The wet mark on ground that water has left: it dries while the land goes on."""

from __future__ import annotations

import math

import moderngl

from app.model.snapshot import Snapshot
from app.picture.passes.maps import LayerTextures
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import EXACT, MapTarget, release_all

DRYING = 25.0  # cycles in which a mark loses all but a third
FORGOTTEN = 5.0 * DRYING  # cycles after which nothing is left


class WetMark:
    """A map of how wet water has left the ground, from 0 to 1, found from one snapshot to the next."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "wet_mark.frag")
        self._now, self._before = (MapTarget(context, (2, "f4"), filter=EXACT) for _ in range(2))
        self._nothing = context.texture((1, 1), 2, bytes(8), dtype="f4")
        self._noted: tuple[object, ...] | None = None
        self._world: int | None = None
        self._cycle = 0
        self._dries_until = -1  # the cycle
        self.version = 0  # counts its changes

    @property
    def texture(self) -> moderngl.Texture:
        return self._nothing if self._world is None else self._now.texture()

    def update(self, snapshot: Snapshot, layers: LayerTextures, surface: moderngl.Texture) -> None:
        """Let it dry, and mark what water has left since the last snapshot of the same world."""
        size = snapshot.shape[1], snapshot.shape[0]
        water = (snapshot.versions.get("water"), snapshot.sea_level)
        passed = snapshot.cycle - self._cycle
        goes_on = self._world == snapshot.world and self._now.size == size and passed >= 0
        if goes_on and (passed == 0 or (water == self._noted and self._cycle > self._dries_until)):
            self._cycle = snapshot.cycle  # water that leaves later leaves a whole mark
            return
        if not goes_on:
            self._dries_until = -1  # nothing is wet yet
        elif water != self._noted:
            self._dries_until = snapshot.cycle + math.ceil(FORGOTTEN)
        self._now, self._before = self._before, self._now
        self._now.fit(size)
        self._drawing.program.set(kept=math.exp(-passed / DRYING) if goes_on else -1.0)
        before = self._before.texture() if goes_on else self._nothing
        self._drawing.program.bind(water=layers.texture("water"), surface=surface, before=before)
        self._drawing.draw(self._now.framebuffer)
        self._world, self._cycle, self._noted = snapshot.world, snapshot.cycle, water
        self.version += 1

    def forget(self) -> None:
        """Forget what was wet."""
        self._world = self._noted = None

    def release(self) -> None:
        self.forget()
        release_all(self._now, self._before, self._nothing, self._drawing)

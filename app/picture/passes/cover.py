"""What covers the ground, joined from the layers: colours of loose material, wetness, grass."""

from __future__ import annotations

import moderngl

from app.model.snapshot import Snapshot
from app.picture.passes.maps import LayerTextures
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MapTarget, release_all

LIVING = ("wetness", "grass")  # layers that moisture and plants leave
LAYERS = (*LIVING, "loose_kinds", "wind_path")


class CoverMap:
    """Two textures with a texel for each cell: the colour of loose material and how coarse its grain is; and how wet it
    is, how densely grass stands on it, and how much wind touches it."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "cover.frag")
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._target = MapTarget(context, (4, "f1"), (4, "f1"))
        self._drawn: tuple[object, ...] | None = None

    def textures(self) -> dict[str, moderngl.Texture]:
        """By their names in the shaders."""
        if self._drawn is None:
            return {"loose_colour": self._nothing, "cover": self._nothing}
        return {"loose_colour": self._target.texture(0), "cover": self._target.texture(1)}

    def update(self, snapshot: Snapshot, layers: LayerTextures, materials: dict[str, moderngl.Texture]) -> None:
        """Draw them where a layer has changed. `materials` are the textures of those of the world."""
        if not materials and not any(name in snapshot.layers for name in LIVING):
            self._drawn = None
            return
        rows, columns = snapshot.shape
        if self._target.fit((columns, rows)):
            self.forget()
        needs = snapshot.flora.grass.wetness[:2]
        wanted = (snapshot.world, bool(materials), needs, *(snapshot.versions.get(name) for name in LAYERS))
        if wanted != self._drawn:
            self._drawn = wanted
            read = {name: layers.texture(name) for name in LAYERS}
            self._drawing.program.bind(kinds=materials.get("kinds", self._nothing), **read)
            wetness = snapshot.layers.get("wetness")
            simulated = wetness is None or bool(wetness.any())
            told_by_grass = (0.0, 0.0) if simulated else (needs[0], needs[1] - needs[0])
            self._drawing.program.set(with_materials=bool(materials), told_by_grass=told_by_grass)
            self._drawing.draw(self._target.framebuffer)

    def forget(self) -> None:
        """Redraw, though nothing has changed."""
        self._drawn = None

    def release(self) -> None:
        self.forget()
        release_all(self._target, self._nothing, self._drawing)

"""Palettes of overlays, and maps for overlays that are neither a layer nor computed from the surface."""

from __future__ import annotations

import moderngl
import numpy as np

from app.model.materials import Materials
from app.model.overlays import OVERLAYS, palette_colours
from app.model.snapshot import Snapshot
from app.picture.passes.maps import LayerTextures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MIPMAPPED, MapTarget, release_all

# The flow path from a place and its catchment, which are drawn like an overlay and can be combined with any
FLOW_PATH = "flow_path"
FLOW_PATH_LAYERS = ("flow_path", "catchment")


def palette_texture(context: moderngl.Context, name: str, materials: Materials | None = None) -> moderngl.Texture:
    """The palette of an overlay: a row of linear colours, and a row with the strength of their hatching, 0 to 1."""
    colours = palette_colours(name, materials).astype(np.float32)
    hatched = np.zeros_like(colours)
    if OVERLAYS[name].has_sides:  # the less of a hue is seen, the less of its lines
        half = len(colours) // 2
        hatched[:half] = colours[:half, 3:] ** 2
    texture = context.texture((len(colours), 2), 4, np.stack([colours, hatched]).tobytes(), dtype="f4")
    texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return texture


class OverlayMaps:
    """Draws maps for overlays, one at a time.

    Several layers share one map, because a shader can be sure of only 16 textures.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[str, FullScreen] = {}
        self._target = MapTarget(context, (2, "f4"), filter=MIPMAPPED)  # mipmaps average the directions of an arrow
        self._mipmaps = Mipmaps(context, shaders)
        self._drawn: tuple[object, ...] | None = None

    def texture(
        self, name: str, snapshot: Snapshot, layers: LayerTextures, materials: dict[str, moderngl.Texture]
    ) -> moderngl.Texture:
        """The map with this name, redrawn after changes. `materials` are the textures of the world's materials."""
        rows, columns = snapshot.shape
        if self._target.fit((columns, rows)):
            self.forget()
        read = FLOW_PATH_LAYERS if name == FLOW_PATH else OVERLAYS[name].layers
        # Layers can appear within a cycle.
        wanted = (name, snapshot.world, snapshot.version, *(snapshot.versions.get(layer) for layer in read))
        if wanted != self._drawn:
            self._drawn = wanted
            if name not in self._drawings:
                self._drawings[name] = FullScreen(self._context, self._shaders, f"overlays/{name}.frag")
            textures = {layer: layers.texture(layer) for layer in (*read, "rock_numbers")} | materials
            uniforms = {
                "known": all(layer in snapshot.layers for layer in read),
                "kind_count": len(snapshot.materials.loose) if snapshot.materials else 0,
            }
            self._drawings[name].program.read(textures, uniforms)
            self._drawings[name].draw(self._target.framebuffer)
            self._mipmaps.build(self._target.texture())
        return self._target.texture()

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = None

    def release(self) -> None:
        self.forget()
        release_all(self._target, self._mipmaps, *self._drawings.values())

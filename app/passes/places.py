"""The ground that each pixel shows, in a texture, for shaders that then run once for each pixel."""

from __future__ import annotations

import moderngl

from app.passes.mesh import GroundMesh
from app.passes.shaders import ShaderLibrary
from app.passes.targets import colour, released_on_error


class PlacesPass:
    """Draws the mesh of the ground into a texture of places, and its depth into that of the scene."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, mesh: GroundMesh) -> None:
        self._context = context
        self._mesh = mesh
        self._drawing = mesh.drawing(shaders.program("places.vert", "places.frag"))
        self._target: moderngl.Framebuffer | None = None
        self._made_for: moderngl.Framebuffer | None = None

    @property
    def texture(self) -> moderngl.Texture:
        """Metres to the east and south for each pixel of the scene that shows ground."""
        assert self._target is not None
        return colour(self._target)

    def draw(self, scene: moderngl.Framebuffer, surface: moderngl.Texture) -> None:
        """Find the places for a scene without samples, which is in use afterwards."""
        if self._made_for is not scene:
            self._release_target()
            with released_on_error() as keep:
                texture = keep(self._context.texture(scene.size, 2, dtype="f4"))
                texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
                self._target = self._context.framebuffer([texture], scene.depth_attachment)
            self._made_for = scene
        assert self._target is not None
        self._target.use()
        self._target.clear(depth=1.0)
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._context.depth_func = "<="
        self._drawing.program.bind(surface=surface)
        self._mesh.render(self._drawing)
        scene.use()

    def release(self) -> None:
        self._release_target()
        self._drawing.release()

    def _release_target(self) -> None:
        if self._target is not None:
            self.texture.release()
            self._target.release()
            self._target = self._made_for = None

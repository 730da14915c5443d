"""The crowns of all trees spread over the map: what forests are from afar, and what lies in their shadow."""

from __future__ import annotations

from typing import NamedTuple

import moderngl

from app.passes import unlocked
from app.passes.shaders import Drawing, ShaderLibrary
from app.passes.targets import colour, map_target, release_targets
from app.passes.tree_shapes import CROWN_BASE, CROWN_RADIUS

NO_FOREST = (0.0, 0.0, 0.0, 0.0)  # the uniform of canopy.glsl where it is not read


class Crowns(NamedTuple):
    """What the map depends on."""

    world: int
    version: int  # of the trees
    height: float  # of a full-grown tree, cells


class CanopyMap:
    """For each cell the area of the crowns of conifers and of broadleaves, that times their size, and of the sick."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawing: Drawing | None = None
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._target: moderngl.Framebuffer | None = None
        self.drawn: Crowns | None = None

    @property
    def texture(self) -> moderngl.Texture:
        return self._nothing if self._target is None or self.drawn is None else colour(self._target)

    def update(
        self,
        wanted: Crowns,
        size: tuple[int, int],
        trees: tuple[object, ...],
        number: int,
    ) -> None:
        """Spread the trees over a map of this size (columns, rows), if they have changed.

        `trees` is a buffer as programs draw from it, and holds that `number` of them.
        """
        if wanted == self.drawn:
            return
        if self._target is None or self._target.size != size:
            outgrown = self._target
            self._target = map_target(self._context, size, (4, "f2"))
            colour(self._target).filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
            if outgrown is not None:
                release_targets([outgrown])
        if self._drawing is None:
            self._drawing = Drawing(self._context, self._shaders.program("canopy.vert", "canopy.frag"), [trees])
        self._target.use()
        self._target.clear()
        self._context.enable_only(moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE)
        self._context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
        self._context.blend_func = moderngl.ONE, moderngl.ONE
        self._drawing.program.set(crown=(*CROWN_RADIUS, *CROWN_BASE), height=wanted.height)
        self._drawing.render(moderngl.POINTS, vertices=number)
        unlocked.build_mipmaps(colour(self._target))
        self.drawn = wanted

    def forget(self) -> None:
        """There are no trees, or all is to be drawn anew."""
        self.drawn = None

    def release(self) -> None:
        if self._target is not None:
            release_targets([self._target])
            self._target = None
        if self._drawing is not None:
            self._drawing.release()
        self._nothing.release()

"""Crown cover of all trees as a map, for distant forests and their shadows."""

from __future__ import annotations

from typing import NamedTuple

import moderngl

from app.model.plants import Flora
from app.picture.passes.geometry import Geometry
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import Drawing, FullScreen, ShaderLibrary
from app.picture.passes.targets import MIPMAPPED, SMOOTH, MapTarget, release_all
from app.picture.passes.tree_shapes import CROWN_AREA

NO_FOREST = (0.0, 0.0, 0.0, 0.0)  # default of the uniform of canopy.glsl


class Crowns(NamedTuple):
    """The inputs of the map."""

    world: int
    version: int  # of the trees
    flora: Flora
    height: float  # of a full-grown tree, cells


class SkylineMap:
    """The elevation of the land, and how high crowns stand over it, for each cell in metres: what water mirrors.

    Where mirrored rays are followed over it, it has mipmaps: they take longer steps the farther away they are.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "skyline.frag")
        self._target = MapTarget(context, (2, "f4"))
        self._mipmaps = Mipmaps(context, shaders)
        self._drawn: tuple[object, ...] | None = None

    @property
    def texture(self) -> moderngl.Texture | None:
        """None if it was not asked for, or is the land alone without mipmaps."""
        return None if self._drawn is None else self._target.texture()

    def update(
        self,
        surface: moderngl.Texture,
        canopy: CanopyMap,
        ground: tuple[int, int],
        cell_size: float,
        scale: float,
        *,
        rays: bool,
    ) -> None:
        """Draw it where trees, the `ground`, or the `scale` of heights have changed.

        The ground is that of a world in one of its versions. `rays` tells whether any are followed over it.
        """
        if canopy.drawn is None and not rays:
            self.forget()
            return
        wanted = canopy.drawn, ground, scale, surface.size, rays
        if wanted != self._drawn:
            self._target.fit(surface.size)
            self._drawing.program.bind(surface=surface, canopy=canopy.texture)
            self._drawing.program.set(tree_height=canopy.drawn.height * cell_size if canopy.drawn else 0.0)
            self._drawing.draw(self._target.framebuffer)
            texture = self._target.texture()
            texture.filter = MIPMAPPED if rays else SMOOTH
            if rays:
                self._mipmaps.build(texture)
            self._drawn = wanted

    def forget(self) -> None:
        """Redraw it, though nothing has changed, or have none."""
        self._drawn = None

    def release(self) -> None:
        release_all(self._target, self._drawing, self._mipmaps)


class CanopyMap:
    """For each cell the area of the crowns of conifers and of all others, that times their size, and of the sick."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawing: Drawing | None = None
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._target = MapTarget(context, (4, "f2"), filter=MIPMAPPED)
        self._mipmaps = Mipmaps(context, shaders)
        self.drawn: Crowns | None = None

    @property
    def texture(self) -> moderngl.Texture:
        return self._nothing if self.drawn is None else self._target.texture()

    def update(
        self,
        wanted: Crowns,
        size: tuple[int, int],
        trees: Geometry,
        number: int,
    ) -> None:
        """Spread that number of trees over a map of this size (columns, rows), if they have changed."""
        if wanted == self.drawn:
            return
        self._target.fit(size)
        if self._drawing is None:
            self._drawing = Drawing(self._context, self._shaders.program("canopy.vert", "canopy.frag"), trees.buffers)
        self._target.framebuffer.use()
        self._target.framebuffer.clear()
        self._context.enable_only(moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE)
        self._context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
        self._context.blend_func = moderngl.ONE, moderngl.ONE
        self._drawing.program.set(crown_area=CROWN_AREA, height=wanted.height)
        self._drawing.render(moderngl.POINTS, vertices=number)
        self._mipmaps.build(self._target.texture())
        self.drawn = wanted

    def forget(self) -> None:
        """Remove the trees, or force a redraw."""
        self.drawn = None

    def release(self) -> None:
        release_all(self._target, self._mipmaps, self._nothing)
        if self._drawing is not None:
            self._drawing.release()

"""Bounced light: a coarse picture of the lit ground from above, whose mipmaps light facing surfaces."""

from __future__ import annotations

from collections.abc import Hashable

import moderngl

from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MIPMAPPED, MapTarget, release_all

REACH = 0.12  # of the longer side of the map: from how far away most of the light comes


class BounceMap:
    """Bounced light of the land. The lit land is drawn in bands over frames; for a new world at once."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._lit_land = MapTarget(context, (4, "f2"), (4, "f1"), filter=MIPMAPPED)
        self._mipmaps = Mipmaps(context, shaders)
        self._bounce = MapTarget(context, (4, "f1"))
        self._drawing = FullScreen(context, shaders, "bounce.frag")
        self._world: int | None = None  # world shown
        self._drawn: Hashable = None  # key of the shown map
        self._goal: Hashable = None  # key of the map being drawn
        self._wanted: Hashable = None  # key of the last frame, which may have changed since that map was begun
        self._strays = False  # whether a part of that map was drawn in frames of another key
        self._row = 0
        self.band: tuple[int, int] | None = None  # rows of the lit land to draw in this frame

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to draw."""
        return self._goal is None and self._drawn == self._wanted

    @property
    def texture(self) -> moderngl.Texture:
        """The texture, valid once the band of this frame is drawn."""
        return self._bounce.texture()

    @property
    def lit_land(self) -> moderngl.Framebuffer:
        return self._lit_land.framebuffer

    def begin(
        self, world: int, cells: tuple[int, int], goal: Hashable, budget: int, side: int, *, at_once: bool
    ) -> None:
        """Choose the `band` of a frame on the way to `goal`, for a map of this size.

        A goal that changes while it is under way waits; `budget` is the texels of a frame, `side` those along the
        longer side of the map, at most.
        """
        self.band = None
        factor = min(side / max(cells), 1.0)
        size = max(round(cells[0] * factor), 1), max(round(cells[1] * factor), 1)
        goal = self._wanted = (goal, size)
        is_new = self._world != world or self._bounce.size != size
        if self._goal is None or is_new or at_once:
            if goal == self._drawn and not is_new:
                self._goal = None
                return
            self._goal, self._row, self._world, self._strays = goal, 0, world, False
            self._lit_land.fit(size)
            self._bounce.fit(size)
        self._strays |= self._goal != goal
        columns, rows = self._lit_land.size
        height = rows if is_new or at_once else max(budget // columns, 1)
        self.band = self._row, min(self._row + height, rows)

    def finish(self, surface: moderngl.Texture) -> None:
        """The band has been drawn."""
        assert self.band is not None
        self._row = self.band[1]
        self.band = None
        if self._row == self._lit_land.size[1]:
            for attachment in range(2):
                self._mipmaps.build(self._lit_land.texture(attachment))
            self._drawing.program.bind(surface=surface, lit_land=self._lit_land.texture())
            self._drawing.program.set(reach=REACH)
            self._drawing.draw(self._bounce.framebuffer)
            self._drawn, self._goal = None if self._strays else self._goal, None

    def forget(self) -> None:
        """Force a redraw."""
        self._world = self._drawn = self._goal = self._wanted = self.band = None

    def release(self) -> None:
        self.forget()
        release_all(self._lit_land, self._bounce, self._drawing, self._mipmaps)

"""What is the same in all pictures: made once for a context, and released with the last that reads it."""

from __future__ import annotations

from typing import Any

import moderngl

from app.picture.passes.detail import detail_texture
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP, Filter, MapTarget, release_all, released_on_error
from app.picture.passes.wind_waves import wind_waves_texture


class FixedTextures:
    """The textures of a context that depend on nothing, and its skies. Get them by `of`."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._readers = 1
        self._repeating: dict[Filter, dict[str, moderngl.Texture]] = {}
        # See `Fractures`, which draws them.
        self.fractures = {filter: MapTarget(context, (4, "f1"), filter=filter) for filter in (MIPMAPPED, ONE_MIPMAP)}
        self.fractures_drawn = False
        self.skies: dict[tuple[float, ...], Any] = {}  # see `Sky`, which draws them

    @classmethod
    def of(cls, context: moderngl.Context) -> FixedTextures:
        """Those of a context, for one reader more, who has to release them."""
        fixed = context.extra
        if isinstance(fixed, cls):
            fixed._readers += 1
            return fixed
        context.extra = made = cls(context)
        return made

    def repeating(self, mipmaps: Mipmaps, filter: Filter = MIPMAPPED) -> dict[str, moderngl.Texture]:
        """Noise and waves by their names in shaders, which fade far away as a level wants them to.

        Pictures of several levels can be drawn by turns, so each filter has textures of its own.
        """
        if filter not in self._repeating:
            with released_on_error() as keep:
                detail = keep(detail_texture(self._context, mipmaps))
                self._repeating[filter] = {"detail": detail, "wind_waves": wind_waves_texture(self._context, mipmaps)}
            for texture in self._repeating[filter].values():
                texture.filter = filter
        return self._repeating[filter]

    def release(self) -> None:
        """One reader less."""
        self._readers -= 1
        if self._readers:
            return
        if self._context.extra is self:
            self._context.extra = None
        release_all(
            *self.fractures.values(), *(texture for made in self._repeating.values() for texture in made.values())
        )
        self._repeating.clear()
        self.skies.clear()
        self.fractures_drawn = False

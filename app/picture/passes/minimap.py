"""The map from above, in a corner of the picture."""

from __future__ import annotations

import math
from typing import NamedTuple

import moderngl

from app.picture.crop import Crop
from app.picture.passes.declaration import Frame
from app.picture.passes.shaders import FullScreen, ShaderLibrary, Uniform
from app.picture.passes.targets import MapTarget, release_all

Rectangle = tuple[int, int, int, int]

SAMPLES = 2  # along a side of a pixel, at levels that do not save work
# As for distant ground: one variant suffices
SIMPLE = {"OVERLAY": 1, "LINES": 1, "DESERT": 1, "MARKS": 1, "DETAIL_SCALES": 1, "STORM": 2}


def minimap_rectangle(width: int, height: int, columns: int, rows: int, content_scale: float = 1.0) -> Rectangle:
    """Where the minimap lies in a picture: left, top, width and height in pixels from the top left corner.

    Its longer side is a quarter of the picture's shorter one, but readable, in the corner at the bottom left.
    """
    room = min(width, height)
    margin = round(min(14.0 * content_scale, 0.1 * room))
    side = min(max(0.26 * room, 120.0 * content_scale), 0.45 * room)
    scale = side / max(columns, rows)
    across, down = max(round(columns * scale), 1), max(round(rows * scale), 1)
    return margin, height - margin - down, across, down


class Contents(NamedTuple):
    """The inputs of a minimap, which is redrawn if one changes."""

    chosen: object  # edits, which are shown at once
    simulated: object  # what changes as cycles run and light is baked
    time: float  # of what moves by itself


class Shows(NamedTuple):
    """What a minimap has on its ground."""

    what: str  # the overlay, or what else is chosen, see `view.minimap_shows`
    water: bool
    overlay_hides: bool  # water is left out as in the picture


class MinimapPass:
    """Draws the map with the current overlay, or what else is chosen, and where the camera is and looks.

    The map is kept in a texture, and drawn again where what it shows has changed.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[frozenset[tuple[str, int]], FullScreen] = {}
        self._view = FullScreen(context, shaders, "minimap_view.frag")
        self._map = MapTarget(context, (4, "f1"))
        self._drawn: tuple[Contents, float] | None = None  # and when
        self._wanted: Contents | None = None  # by the last picture
        self._patience = 0.0

    def draw(
        self,
        target: moderngl.Framebuffer,
        rectangle: Rectangle,
        crop: Crop,
        content_scale: float,
        frame: Frame,
        *,
        contents: Contents,
        time: float,
        patience: float,
        shows: Shows,
    ) -> None:
        """Draw it at a place in the picture, of which `target` is the part `crop`.

        `patience` are seconds for which a map may stay as it is while cycles run; `time` is the clock for that.
        """
        left, top, width, height = rectangle
        samples = 1 if frame.quality.deferred else SAMPLES
        size = samples * width, samples * height
        self._wanted, self._patience = contents, patience
        if self._is_outdated(size, contents, time):
            self._drawn = contents, time
            own = {"CANOPY": int(frame.trees.forest is not None), "WIND_AND_SAND": int(shows.what == "wind_and_sand")}
            defines = self._shaders.chosen("fullscreen.vert", "minimap.frag", frame.defines) | SIMPLE | own
            drawing = self._drawings.get(key := frozenset(defines.items()))
            if drawing is None:
                drawing = self._drawings[key] = FullScreen(self._context, self._shaders, "minimap.frag", defines)
            uniforms: dict[str, Uniform] = {
                "size": (float(size[0]), float(size[1])),
                "lit": shows.what == "overlay" and frame.defines["OVERLAY"] == 0,
                "plain_ground": shows.what == "water",
                "with_water": shows.water,
                "overlay_hides": shows.overlay_hides,
            }
            drawing.program.read(frame.textures, frame.uniforms | uniforms)
            drawing.draw(self._map.framebuffer)
        camera = frame.camera
        left, bottom = left - crop.left, crop.height - (top - crop.top) - height
        heading = math.radians(camera.heading)
        half_width = math.tan(math.radians(camera.field_of_view) / 2.0) * crop.aspect
        self._view.program.bind(minimap=self._map.texture())
        self._view.program.set(
            samples=samples,
            rectangle=(float(left), float(bottom), float(width), float(height)),
            looking=(math.sin(heading), -math.cos(heading), half_width, content_scale),
            looked_at=(camera.target.x, camera.target.z),
        )
        self._view.draw(target, (left, bottom, width, height))

    def leave_out(self) -> None:
        """A picture has none."""
        self._wanted = None

    @property
    def is_behind(self) -> bool:
        """Whether the map shows less than it was asked to, for a while."""
        return self._wanted is not None and self._drawn is not None and self._drawn[0] != self._wanted

    def may_stay(self, time: float) -> bool:
        """Whether the map may still be as it is."""
        return not self.is_behind or self._is_recent(time)

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = None

    def _is_outdated(self, size: tuple[int, int], contents: Contents, time: float) -> bool:
        if self._map.fit(size) or self._drawn is None:
            return True
        drawn = self._drawn[0]
        return contents != drawn and (contents.chosen != drawn.chosen or not self._is_recent(time))

    def _is_recent(self, time: float) -> bool:
        return self._drawn is not None and self._drawn[1] <= time < self._drawn[1] + self._patience

    def release(self) -> None:
        self.forget()
        release_all(self._map, self._view, *self._drawings.values())

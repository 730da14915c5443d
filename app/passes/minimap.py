"""The map from above, in a corner of the picture."""

from __future__ import annotations

import math
from typing import NamedTuple

import moderngl

from app.camera import Camera
from app.passes.canopy import NO_FOREST
from app.passes.shaders import FullScreen, ShaderLibrary
from app.passes.targets import colour, map_target, release_targets

Rectangle = tuple[int, int, int, int]


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
    """What a minimap was drawn from: it is drawn again where one of these is another."""

    chosen: object  # what is changed by hand, and shown at once
    simulated: object  # what changes as cycles run and light is baked
    time: float  # of what moves by itself


class MinimapPass:
    """Draws the map with the current overlay, or what else is chosen, and where the camera is and looks.

    The map is kept in a texture, and drawn again where what it shows has changed.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], FullScreen] = {}
        self._view = FullScreen(context, shaders, "minimap_view.frag")
        self._map: moderngl.Framebuffer | None = None
        self.is_behind = False  # whether the map shows less than it was asked to, for a while
        self._drawn: tuple[Contents, float] | None = None  # and when

    def draw(
        self,
        target: moderngl.Framebuffer,
        rectangle: Rectangle,
        camera: Camera,
        content_scale: float,
        *,
        contents: Contents,
        time: float,
        patience: float,
        shows: str,
        with_water: bool,
        waves: int,
        with_course: bool,
        with_materials: bool,
        with_life: bool,
        forest: tuple[float, float, float, float] | None,
        **textures: moderngl.Texture,
    ) -> None:
        """`patience` are seconds for which a map may stay as it is while cycles run; `time` is the clock for that."""
        left, top, width, height = rectangle
        outdated = self._is_outdated((width, height), contents, time, patience)
        self.is_behind = not outdated and self._drawn is not None and self._drawn[0] != contents
        if outdated:
            self._drawn = contents, time
            drawing = self._variant(
                f"WAVES {waves}",
                f"MATERIALS {int(with_materials)}",
                f"LIVING {int(with_life)}",
                f"CANOPY {int(forest is not None)}",
                f"WIND_AND_SAND {int(shows == 'wind_and_sand')}",
            )
            drawing.program.bind(**textures)
            drawing.program.set(
                size=(float(width), float(height)),
                plain_ground=shows == "water",
                with_water=with_water,
                with_course=with_course,
                forest=forest or NO_FOREST,
            )
            assert self._map is not None
            drawing.draw(self._map)
        assert self._map is not None
        bottom = target.height - top - height
        heading = math.radians(camera.heading)
        half_width = math.tan(math.radians(camera.field_of_view) / 2.0) * target.width / max(target.height, 1)
        self._view.program.bind(minimap=colour(self._map))
        self._view.program.set(
            rectangle=(float(left), float(bottom), float(width), float(height)),
            looking=(math.sin(heading), -math.cos(heading), half_width, content_scale),
            looked_at=(camera.target.x, camera.target.z),
        )
        self._view.draw(target, (left, bottom, width, height))

    def forget(self) -> None:
        """Draw the map anew, though nothing that it shows has changed."""
        self._drawn = None

    def _is_outdated(self, size: tuple[int, int], contents: Contents, time: float, patience: float) -> bool:
        if self._map is None or self._map.size != size:
            outgrown, self._map = self._map, map_target(self._context, size, (4, "f1"))
            if outgrown is not None:
                release_targets([outgrown])
            return True
        if self._drawn is None:
            return True
        drawn, when = self._drawn
        return contents != drawn and (contents.chosen != drawn.chosen or not when <= time < when + patience)

    def _variant(self, *defines: str) -> FullScreen:
        if defines not in self._drawings:
            self._drawings[defines] = FullScreen(self._context, self._shaders, "minimap.frag", defines)
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in (self._view, *self._drawings.values()):
            drawing.release()
        if self._map is not None:
            release_targets([self._map])
            self._map = None
        self.forget()

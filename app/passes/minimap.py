"""The map from above, in a corner of the picture."""

from __future__ import annotations

import math

import moderngl

from app.camera import Camera
from app.passes.canopy import NO_FOREST
from app.passes.shaders import FullScreen, ShaderLibrary

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


class MinimapPass:
    """Draws the map with the current overlay, or what else is chosen, and where the camera is and looks."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[tuple[str, ...], FullScreen] = {}

    def draw(
        self,
        target: moderngl.Framebuffer,
        rectangle: Rectangle,
        camera: Camera,
        content_scale: float,
        *,
        shows: str,
        with_water: bool,
        waves: int,
        with_course: bool,
        with_materials: bool,
        with_life: bool,
        forest: tuple[float, float, float, float] | None,
        **textures: moderngl.Texture,
    ) -> None:
        left, top, width, height = rectangle
        bottom = target.height - top - height
        heading = math.radians(camera.heading)
        half_width = math.tan(math.radians(camera.field_of_view) / 2.0) * target.width / max(target.height, 1)
        drawing = self._variant(
            f"WAVES {waves}",
            f"MATERIALS {int(with_materials)}",
            f"LIVING {int(with_life)}",
            f"CANOPY {int(forest is not None)}",
            f"WIND_AND_SAND {int(shows == 'wind_and_sand')}",
        )
        drawing.program.bind(**textures)
        drawing.program.set(
            rectangle=(float(left), float(bottom), float(width), float(height)),
            looking=(math.sin(heading), -math.cos(heading), half_width, content_scale),
            plain_ground=shows == "water",
            with_water=with_water,
            with_course=with_course,
            forest=forest or NO_FOREST,
            looked_at=(camera.target.x, camera.target.z),
        )
        drawing.draw(target, (left, bottom, width, height))

    def _variant(self, *defines: str) -> FullScreen:
        if defines not in self._drawings:
            self._drawings[defines] = FullScreen(self._context, self._shaders, "minimap.frag", defines)
        return self._drawings[defines]

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()

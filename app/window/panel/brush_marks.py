"""Marks of the brush on the land: rings on the ground, and the drawn path."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from imgui_bundle import imgui

from app.picture.ground import Ground
from app.picture.style import ACCENT, OVER_SCENE, TEXT, WARNING, Colour, em, faded
from app.window.brushing import BrushMarks
from app.window.views import Views

POINTS = 72  # of a ring
HIDDEN = 0.3  # opacity of what lies behind a hill
STEPS_OF_A_WAY = 24

Place = tuple[float, float]  # metres east and south


def brush_marks(marks: BrushMarks | None, views: Views, exaggeration: float) -> None:
    """Draw the brush over the scene, and below the panel."""
    if marks is None or marks.side.snapshot is None:
        return
    ground = Ground(marks.side.snapshot, exaggeration)
    colour = WARNING if marks.is_opposite else ACCENT
    for place in marks.rings:
        _line(views, marks, ground, _ring(place, marks.radius), colour, 1.0)
        if 0.05 < marks.hardness < 0.95:
            _line(views, marks, ground, _ring(place, marks.radius * marks.hardness), faded(colour, 0.5), 0.7)
        _middle(views, marks, ground, place, is_opposite=marks.is_opposite)
    if len(marks.way) > 1:
        _line(views, marks, ground, _along(marks.way), TEXT, 1.0)


def _ring(middle: Place, radius: float) -> list[Place]:
    angles = (2.0 * math.pi * number / POINTS for number in range(POINTS + 1))
    return [(middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)) for angle in angles]


def _along(way: Sequence[Place]) -> list[Place]:
    """Points so close that a line through them follows the ground."""
    points = [way[0]]
    for first, second in itertools.pairwise(way):
        for number in range(1, STEPS_OF_A_WAY + 1):
            part = number / STEPS_OF_A_WAY
            points.append((first[0] + part * (second[0] - first[0]), first[1] + part * (second[1] - first[1])))
    return points


def _line(
    views: Views, marks: BrushMarks, ground: Ground, points: Sequence[Place], colour: Colour, width: float
) -> None:
    """A line over the ground, fainter behind hills, with a dark outline."""
    drawing = imgui.get_background_draw_list()
    seen = ground.seen_from(views.camera_of(marks.side).camera().position, points)
    on_screen = views.places_of(marks.side, marks.on_ground(ground, points))
    for pass_colour, thickness in ((faded(OVER_SCENE, 0.55), 0.22), (colour, 0.1)):
        for first, second, is_seen in zip(on_screen, on_screen[1:], seen[1:], strict=False):
            if first is not None and second is not None:
                packed = imgui.get_color_u32(imgui.ImVec4(*faded(pass_colour, 1.0 if is_seen else HIDDEN)))
                drawing.add_line(imgui.ImVec2(*first), imgui.ImVec2(*second), packed, em(thickness * width))


def _middle(views: Views, marks: BrushMarks, ground: Ground, place: Place, *, is_opposite: bool) -> None:
    (on_screen,) = views.places_of(marks.side, marks.on_ground(ground, [place]))
    if on_screen is None:
        return
    drawing, (x, y) = imgui.get_background_draw_list(), on_screen
    packed = imgui.get_color_u32(imgui.ImVec4(*TEXT))
    arm = em(0.32)
    drawing.add_line(imgui.ImVec2(x - arm, y), imgui.ImVec2(x + arm, y), packed, em(0.09))
    if not is_opposite:  # a plus, or a minus
        drawing.add_line(imgui.ImVec2(x, y - arm), imgui.ImVec2(x, y + arm), packed, em(0.09))

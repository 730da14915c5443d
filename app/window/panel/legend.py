"""The legend of the overlay: its colours and the values at their ends, over the minimap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from app.model.overlays import OVERLAYS, legend_colours, legend_names, overlay_ends
from app.picture.style import FAINT_TEXT, OVER_SCENE, em

if TYPE_CHECKING:
    from app.window.application import Application

STEPS = 48
MOST_IN_COLUMN = 8


def legend(application: Application) -> None:
    """Drawn behind all windows, like the scene."""
    name = application.documents.scene.view.overlay
    snapshot = application.snapshot
    if name == "none" or snapshot is None:
        return
    overlay = OVERLAYS[name]
    label = (
        f"{overlay.label}, cycle {snapshot.survey.cycle}"
        if snapshot.survey and overlay.survey and snapshot.survey.layers.keys() >= set(overlay.layers)
        else overlay.label
    )
    left, bottom, width = application.layout.place_above_minimap(with_minimap=application.documents.scene.view.minimap)
    names = legend_names(name, snapshot)
    if names:
        _names(label, names, left, bottom, width)
    else:
        _bar(label, name, overlay_ends(name, *application.sides.snapshots), left, bottom, width)


def _box(label: str, left: float, top: float, right: float, bottom: float) -> imgui.ImDrawList:
    """The ground that a legend is drawn on, with its label."""
    drawing = imgui.get_background_draw_list()
    drawing.add_rect_filled(imgui.ImVec2(left, top), imgui.ImVec2(right, bottom), _packed(OVER_SCENE), em(0.3))
    margin = em(0.6)
    drawing.add_text(imgui.ImVec2(left + margin, top + margin), imgui.get_color_u32(imgui.Col_.text.value), label)
    return drawing


def _bar(label: str, name: str, values: tuple[str, str], left: float, bottom: float, width: float) -> None:
    """A palette from its low to its high end."""
    margin, bar, line = em(0.6), em(0.55), imgui.get_text_line_height()
    widest = max(imgui.calc_text_size(text).x for text in (label, "   ".join(values)))
    width = max(width, widest + 2.0 * margin)
    top = bottom - 2.0 * line - bar - 3.0 * margin
    drawing = _box(label, left, top, left + width, bottom)

    first, last = left + margin, left + width - margin
    upper = top + margin + line + 0.5 * margin
    for step, colour in enumerate(legend_colours(name, STEPS)):
        begin, end = (first + (last - first) * part / STEPS for part in (step, step + 1))
        drawing.add_rect_filled(
            imgui.ImVec2(begin, upper), imgui.ImVec2(end, upper + bar), _packed((*map(float, colour),))
        )
    under = upper + bar + 0.5 * margin
    faint = _packed(FAINT_TEXT)
    drawing.add_text(imgui.ImVec2(first, under), faint, values[0])
    drawing.add_text(imgui.ImVec2(last - imgui.calc_text_size(values[1]).x, under), faint, values[1])


def _names(
    label: str, names: list[tuple[str, tuple[float, float, float]]], left: float, bottom: float, width: float
) -> None:
    """Colours with their names, below each other in as few columns as they find room in."""
    margin, swatch, line = em(0.6), em(0.7), imgui.get_text_line_height()
    columns = 1 if len(names) <= MOST_IN_COLUMN else 2
    rows = -(-len(names) // columns)
    across = max(imgui.calc_text_size(title).x for title, _ in names) + swatch + 1.5 * margin
    width = max(width, columns * across + margin, imgui.calc_text_size(label).x + 2.0 * margin)
    top = bottom - (rows + 1) * line - 2.5 * margin
    drawing = _box(label, left, top, left + width, bottom)
    for number, (title, colour) in enumerate(names):
        x = left + margin + number // rows * across
        y = top + 1.5 * margin + (1 + number % rows) * line
        middle = y + 0.5 * (line - swatch)
        drawing.add_rect_filled(
            imgui.ImVec2(x, middle), imgui.ImVec2(x + swatch, middle + swatch), _packed((*colour, 1.0)), em(0.1)
        )
        drawing.add_text(imgui.ImVec2(x + swatch + 0.5 * margin, y), _packed(FAINT_TEXT), title)


def _packed(colour: tuple[float, ...]) -> int:
    return imgui.get_color_u32(imgui.ImVec4(*colour))

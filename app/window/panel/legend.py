"""The legend of the overlay: its colours and the values at their ends, over the minimap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from app.model.legends import Legend, legend_colours
from app.model.legends import legend as legend_of
from app.model.overlays import OVERLAYS
from app.picture.style import FAINT_TEXT, OVER_SCENE, em

if TYPE_CHECKING:
    from app.window.application import Application

STEPS = 48
MOST_IN_COLUMN = 8


def legend(application: Application) -> None:
    """Draw the legend behind all windows, unless the picture has one."""
    view = application.documents.seen_scene.view
    shown = legend_of(view.overlay, application.sides.snapshots)
    if shown is None or view.legend:
        return
    left, bottom, width = application.layout.place_above_minimap(with_minimap=application.recording.shows_minimap)
    if shown.names:
        _names(shown, left, bottom, width)
    else:
        _bar(shown, left, bottom, width)


def _box(label: str, left: float, top: float, right: float, bottom: float) -> imgui.ImDrawList:
    """The box of a legend, with its label."""
    drawing = imgui.get_background_draw_list()
    drawing.add_rect_filled(imgui.ImVec2(left, top), imgui.ImVec2(right, bottom), _packed(OVER_SCENE), em(0.3))
    margin = em(0.6)
    drawing.add_text(imgui.ImVec2(left + margin, top + margin), imgui.get_color_u32(imgui.Col_.text.value), label)
    return drawing


def _bar(legend: Legend, left: float, bottom: float, width: float) -> None:
    """The bar of a palette, with labels below."""
    margin, bar, line = em(0.6), em(0.55), imgui.get_text_line_height()
    widest = max(imgui.calc_text_size(text).x for text in (legend.label, "   ".join(legend.ends), legend.note))
    width = max(width, widest + 2.0 * margin)
    under = 1.5 * bar + line if any(legend.ends) else 0.0
    noted = line + 0.5 * margin if legend.note else 0.0
    top = bottom - line - under - noted - 2.5 * margin
    drawing = _box(legend.label, left, top, left + width, bottom)
    faint = _packed(FAINT_TEXT)

    first, last = left + margin, left + width - margin
    upper = top + margin + line + 0.5 * margin
    if any(legend.ends):
        for step, colour in enumerate(legend_colours(legend.name, STEPS)):
            begin, end = (first + (last - first) * part / STEPS for part in (step, step + 1))
            drawing.add_rect_filled(
                imgui.ImVec2(begin, upper), imgui.ImVec2(end, upper + bar), _packed((*map(float, colour),))
            )
        if OVERLAYS[legend.name].has_sides:
            _hatches(drawing, first, upper, 0.5 * (first + last), upper + bar)
        upper += bar + 0.5 * margin
        low, high = legend.ends
        drawing.add_text(imgui.ImVec2(first, upper), faint, low)
        drawing.add_text(imgui.ImVec2(last - imgui.calc_text_size(high).x, upper), faint, high)
        upper += line
    if legend.note:
        drawing.add_text(imgui.ImVec2(first, upper + 0.25 * margin), faint, legend.note)


def _hatches(drawing: imgui.ImDrawList, left: float, top: float, right: float, bottom: float) -> None:
    """Hatching over the lower half of a two-sided palette."""
    apart, across = em(0.35), bottom - top
    at = left
    while at + across < right:
        drawing.add_line(imgui.ImVec2(at, bottom), imgui.ImVec2(at + across, top), _packed((0.0, 0.0, 0.0, 0.45)))
        at += apart


def _names(legend: Legend, left: float, bottom: float, width: float) -> None:
    """Named colours in as few columns as fit, and a note."""
    names = legend.names
    margin, swatch, line = em(0.6), em(0.7), imgui.get_text_line_height()
    columns = 1 if len(names) <= MOST_IN_COLUMN else 2
    rows = -(-len(names) // columns)
    across = max(imgui.calc_text_size(title).x for title, _ in names) + swatch + 1.5 * margin
    widest = max(imgui.calc_text_size(text).x for text in (legend.label, legend.note))
    width = max(width, columns * across + margin, widest + 2.0 * margin)
    noted = line + 0.5 * margin if legend.note else 0.0
    top = bottom - (rows + 1) * line - noted - 2.5 * margin
    drawing = _box(legend.label, left, top, left + width, bottom)
    for number, (title, colour) in enumerate(names):
        x = left + margin + number // rows * across
        y = top + 1.5 * margin + (1 + number % rows) * line
        middle = y + 0.5 * (line - swatch)
        drawing.add_rect_filled(
            imgui.ImVec2(x, middle), imgui.ImVec2(x + swatch, middle + swatch), _packed((*colour, 1.0)), em(0.1)
        )
        drawing.add_text(imgui.ImVec2(x + swatch + 0.5 * margin, y), _packed(FAINT_TEXT), title)
    if legend.note:
        drawing.add_text(imgui.ImVec2(left + margin, bottom - margin - line), _packed(FAINT_TEXT), legend.note)


def _packed(colour: tuple[float, ...]) -> int:
    return imgui.get_color_u32(imgui.ImVec4(*colour))

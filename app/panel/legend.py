"""The legend of the overlay: its colours and the values at their ends, over the minimap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from app.panel.style import FAINT_TEXT, OVER_SCENE, em
from app.passes.overlays import OVERLAYS, legend_colours, overlay_ends

if TYPE_CHECKING:
    from app.application import Application

STEPS = 48


def legend(application: Application) -> None:
    """Drawn behind all windows, as a part of the scene."""
    name = application.scene.view.overlay
    snapshot = application.snapshot
    if name == "none" or snapshot is None:
        return
    overlay = OVERLAYS[name]
    label = (
        f"{overlay.label}, cycle {snapshot.survey.cycle}"
        if snapshot.survey and overlay.layer in snapshot.survey.layers
        else overlay.label
    )
    margin, bar, line = em(0.6), em(0.55), imgui.get_text_line_height()
    left, bottom, width = application.minimap_place()
    values = overlay_ends(name, *application.sides.snapshots)
    widest = max(imgui.calc_text_size(text).x for text in (label, "   ".join(values)))
    width = max(width, widest + 2.0 * margin)
    top = bottom - 2.0 * line - bar - 3.0 * margin

    drawing = imgui.get_background_draw_list()
    box = imgui.ImVec2(left + width, bottom)
    drawing.add_rect_filled(imgui.ImVec2(left, top), box, _packed(OVER_SCENE), em(0.3))
    faint, bright = _packed(FAINT_TEXT), imgui.get_color_u32(imgui.Col_.text.value)
    drawing.add_text(imgui.ImVec2(left + margin, top + margin), bright, label)

    first, last = left + margin, left + width - margin
    upper = top + margin + line + 0.5 * margin
    for step, colour in enumerate(legend_colours(name, STEPS)):
        begin, end = (first + (last - first) * part / STEPS for part in (step, step + 1))
        drawing.add_rect_filled(
            imgui.ImVec2(begin, upper), imgui.ImVec2(end, upper + bar), _packed((*map(float, colour),))
        )
    under = upper + bar + 0.5 * margin
    drawing.add_text(imgui.ImVec2(first, under), faint, values[0])
    drawing.add_text(imgui.ImVec2(last - imgui.calc_text_size(values[1]).x, under), faint, values[1])


def _packed(colour: tuple[float, ...]) -> int:
    return imgui.get_color_u32(imgui.ImVec4(*colour))

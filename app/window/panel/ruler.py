"""The ruler over the land: its line with length and rise, and the profile of the ground below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from app.model.numbers import length_text, measured
from app.picture.ground import Ground
from app.picture.style import OVER_SCENE, TEXT, em, faded
from app.window.brushing import BrushMarks
from app.window.panel import plots
from app.window.panel.brush_marks import brush_marks
from app.window.ruler import Place, Profile

if TYPE_CHECKING:
    from app.window.application import Application

WINDOW = "Profile"


def ruler(application: Application) -> bool:
    """Draw the ruler, where there is one, and its profile once both ends are set. Returns whether it has plotted."""
    measuring = application.ruler
    if not measuring.is_on:
        return False
    side = measuring.side
    if side is None:  # another land is shown
        measuring.forget()
        return False
    pointer = _pointer(application) if application.views.pointed_side is side else None
    found = measuring.profile_to(pointer)
    end = measuring.end or pointer
    if found is None or end is None or measuring.start is None:
        return False
    marks = BrushMarks(side, 0.0, 0.0, [], [measuring.start, end])
    brush_marks(marks, application.views, application.documents.seen_scene.view.exaggeration)
    _label(application, marks, end, words(found))
    if measuring.end is None:
        return False
    if not _profile(found):
        measuring.forget()
    return True


def words(found: Profile) -> str:
    """Length, rise and slope from one end to the other."""
    rise = found.rise
    direction = "rises" if rise >= 0.0 else "falls"
    return f"{length_text(found.length)} · {direction} {measured(abs(rise))} m · {abs(found.slope):.1f}°"


def _pointer(application: Application) -> Place | None:
    """The place of the land under the pointer; None over the panel and where there is no land."""
    io = imgui.get_io()
    if io.want_capture_mouse or application.camera.flying:
        return None
    hit = application.views.ground_under(io.mouse_pos.x, io.mouse_pos.y)
    return (hit.x, hit.z) if hit is not None else None


def _label(application: Application, marks: BrushMarks, end: Place, text: str) -> None:
    """The figures beside the end of the line."""
    assert marks.side.snapshot is not None
    ground = Ground(marks.side.snapshot, application.documents.seen_scene.view.exaggeration)
    (place,) = application.views.places_of(marks.side, marks.on_ground(ground, [end]))
    if place is None:
        return
    drawing, margin, size = imgui.get_background_draw_list(), em(0.4), imgui.calc_text_size(text)
    left, top = place[0] + em(0.9), place[1] - em(1.9)
    left = min(left, application.layout.size[0] - size.x - em(1.0))
    upper, lower = (
        imgui.ImVec2(left - margin, top - margin),
        imgui.ImVec2(left + size.x + margin, top + size.y + margin),
    )
    drawing.add_rect_filled(upper, lower, imgui.get_color_u32(imgui.ImVec4(*faded(OVER_SCENE, 0.85))), em(0.3))
    drawing.add_text(imgui.ImVec2(left, top), imgui.get_color_u32(imgui.ImVec4(*TEXT)), text)


def _profile(found: Profile) -> bool:
    """The window with the profile. Returns whether it stays open."""
    viewport = imgui.get_main_viewport()
    width = min(em(28.0), 0.6 * viewport.work_size.x)
    place = imgui.ImVec2(viewport.work_pos.x + em(4.0), viewport.work_pos.y + em(1.0))
    imgui.set_next_window_pos(place, imgui.Cond_.appearing.value)
    imgui.set_next_window_size(imgui.ImVec2(width, em(13.0)), imgui.Cond_.appearing.value)
    flags = imgui.WindowFlags_.no_saved_settings.value | imgui.WindowFlags_.no_docking.value
    flags |= imgui.WindowFlags_.no_collapse.value | imgui.WindowFlags_.no_focus_on_appearing.value
    imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
    shown, is_open = imgui.begin(WINDOW, True, flags)
    if shown:
        imgui.text_unformatted(words(found))
        in_km = found.length >= 1000.0
        along = found.along * (1e-3 if in_km else 1.0)
        plots.profile("km" if in_km else "m", along, found.ground, found.water, -1.0)
    imgui.end()
    imgui.pop_style_color()
    return bool(is_open)

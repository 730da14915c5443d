"""Messages over the scene: notices, progress, and failures."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.numbers import spaced
from app.picture.style import ACCENT, ERROR, FAINT_TEXT, OVER_SCENE, WARNING, Colour, em
from app.scene.scene import GROUPS
from app.window.actions import BY_NAME
from app.window.commands import running
from app.window.notices import Kind, Notice
from app.window.panel.widgets import heading, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

SIGNS: dict[Kind, tuple[str, Colour]] = {
    "info": (icons.ICON_FA_CHECK, ACCENT),
    "warning": (icons.ICON_FA_CIRCLE_EXCLAMATION, WARNING),
    "error": (icons.ICON_FA_TRIANGLE_EXCLAMATION, ERROR),
}
LONG_CYCLE = 1.0  # seconds, from which on a cycle shows how far it is
TURNS_PER_SECOND = 0.8

# Centre of the free part of the scene.
Place = tuple[float, float]

BOX_FLAGS = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_nav.value
    | imgui.WindowFlags_.no_move.value
    | imgui.WindowFlags_.always_auto_resize.value
    | imgui.WindowFlags_.no_focus_on_appearing.value
)


def notices(application: Application, middle: float, bottom: float, widest: float) -> None:
    """The notices, one above the other, the newest lowest."""
    for number, notice in enumerate(reversed(application.notices.shown())):
        imgui.push_style_var(imgui.StyleVar_.alpha.value, notice.opacity)
        imgui.set_next_window_pos(imgui.ImVec2(middle, bottom), imgui.Cond_.always.value, imgui.ImVec2(0.5, 1.0))
        imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
        imgui.begin(f"##notice {number}", None, BOX_FLAGS)
        imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
        if _notice(notice, widest):
            application.notices.dismiss(notice)
        bottom -= imgui.get_window_height() + em(0.5)
        imgui.end()
        imgui.pop_style_color()
        imgui.pop_style_var()


def _notice(notice: Notice, widest: float) -> bool:
    """Show a notice. Returns whether it was dismissed."""
    icon, colour = SIGNS[notice.kind]
    imgui.text_colored(imgui.ImVec4(*colour), icon)
    imgui.same_line(0.0, em(0.7))
    imgui.push_text_wrap_pos(
        imgui.get_cursor_pos_x() + min(imgui.calc_text_size(notice.line).x + 1.0, widest - em(5.0))
    )
    imgui.text_unformatted(notice.line)
    imgui.pop_text_wrap_pos()
    if notice.kind != "info":
        imgui.same_line(0.0, em(0.9))
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), icons.ICON_FA_XMARK)
    return imgui.is_window_hovered() and imgui.is_mouse_clicked(0)


def waiting(application: Application, place: Place) -> None:
    """What is being prepared before the requested land is shown."""
    status, documents = application.simulation.status, application.documents
    words = status.message or f"{status.state} …"
    if application.snapshot is not None:
        if not documents.other_comes:
            return
        words = f"opening {documents.name} …"
    _begin_box("##waiting", place)
    _spinner(em(0.55))
    imgui.same_line(0.0, em(0.8))
    imgui.text_unformatted(words)
    _end_box()


def compiling(application: Application, middle: float, top: float, widest: float) -> None:
    """Progress of compiling kernels: current ones, and waiting ones in grey."""
    progress = application.simulation.status.compiling
    if progress is None or application.snapshot is None:
        return
    _begin_box("##compiling", (middle, top), (0.5, 0.0))
    width = min(em(26.0), widest - em(4.0))
    imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + width)
    imgui.text_unformatted(f"Compiling kernels: {', '.join(progress.at_work)}")
    imgui.progress_bar(progress.done / progress.of, imgui.ImVec2(width, 0.0), f"{progress.done} of {progress.of}")
    if progress.waiting:
        imgui.text_disabled(f"then {', '.join(progress.waiting)}")
    imgui.text_disabled("Only this once: compiled kernels are cached for later starts.")
    imgui.pop_text_wrap_pos()
    _end_box()


def long_cycle(application: Application, middle: float, top: float, widest: float) -> None:
    """How far a cycle is that takes long, what waits for its end, and a way to give it up."""
    so_far = application.simulation.cycle_so_far
    if so_far is None or so_far.seconds < LONG_CYCLE or application.snapshot is None:
        return
    _begin_box("##long cycle", (middle, top), (0.5, 0.0))
    width = min(em(24.0), widest - em(4.0))
    title = GROUPS[so_far.process].title if so_far.process in GROUPS else so_far.process
    cycle = spaced(application.simulation.status.cycle + 1)
    imgui.text_unformatted(f"Cycle {cycle}: {title}, {so_far.seconds:.0f} s")
    imgui.progress_bar(so_far.part, imgui.ImVec2(width, 0.0), f"{so_far.part:.0%}" if so_far.part else "…")
    waits = [*["pausing"] * application.simulation.paused, *["saving"] * bool(application.waiting_saves)]
    if waits:
        imgui.text_disabled(f"{' and '.join(waits)} when it ends")
    action = BY_NAME["give_up_cycle"]
    if imgui.button(f"Give up ({action.key_text})###give up"):
        action.run(application)
    tooltip_on_hover(action.help)
    _end_box()


def failure(application: Application, place: Place, widest: float) -> None:
    """Why the simulation stopped, and the ways on."""
    status = application.simulation.status
    if status.state != "failed":
        return
    _begin_box("##failure", place)
    imgui.text_colored(imgui.ImVec4(*ERROR), icons.ICON_FA_TRIANGLE_EXCLAMATION)
    imgui.same_line(0.0, em(0.6))
    heading("The simulation has stopped")
    imgui.spacing()
    imgui.push_text_wrap_pos(min(widest - em(4.0), em(32.0)))
    imgui.text_unformatted(status.error or status.message)
    imgui.text_disabled("What you see is the land after the last good cycle.")
    imgui.pop_text_wrap_pos()
    imgui.spacing()
    if imgui.button("Reset"):
        BY_NAME["reset"].run(application)
    if status.stopped and status.stopped.process:
        imgui.same_line()
        if imgui.button(f"Continue without {status.stopped.process}"):
            running.continue_without(application, status.stopped.process)
    imgui.same_line()
    if imgui.button("Open …"):
        BY_NAME["open_dialog"].run(application)
    _end_box()


def _begin_box(name: str, place: Place, pivot: Place = (0.5, 0.5)) -> None:
    """Begin a box whose point at `pivot`, from (0, 0) at its top left to (1, 1), stands at `place`."""
    imgui.set_next_window_pos(imgui.ImVec2(*place), imgui.Cond_.always.value, imgui.ImVec2(*pivot))
    imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
    imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(em(1.3), em(1.0)))
    imgui.begin(name, None, BOX_FLAGS)


def _end_box() -> None:
    imgui.end()
    imgui.pop_style_var()
    imgui.pop_style_color()


def _spinner(radius: float) -> None:
    """An arc that goes round."""
    place = imgui.get_cursor_screen_pos()
    line = imgui.get_text_line_height()
    middle = imgui.ImVec2(place.x + radius, place.y + line / 2.0)
    start = 2.0 * math.pi * (time.monotonic() * TURNS_PER_SECOND % 1.0)
    drawing = imgui.get_window_draw_list()
    drawing.path_arc_to(middle, radius, start, start + 1.4 * math.pi, 24)
    drawing.path_stroke(imgui.get_color_u32(imgui.ImVec4(*ACCENT)), 2.0 * imgui.get_style().font_scale_dpi)
    imgui.dummy(imgui.ImVec2(2.0 * radius, line))

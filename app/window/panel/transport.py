"""The top row of the panel: buttons that run, stop and restart the simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.picture.style import ACCENT, FAINT_TEXT, em, faded
from app.window.actions import BY_NAME
from app.window.panel.widgets import icon_button, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

BUTTONS: tuple[tuple[str, str], ...] = (
    ("step", icons.ICON_FA_FORWARD_STEP),
    ("reset", icons.ICON_FA_BACKWARD_FAST),
    ("new_seed", icons.ICON_FA_DICE),
    ("compare", icons.ICON_FA_TABLE_COLUMNS),
)


WIDTH_FOR_ONE_ROW = 19.6  # heights of the font


def transport(application: Application) -> None:
    """Pause, step, reset, new seed, compare; speed."""
    width = imgui.get_content_region_avail().x
    paused = application.simulation.paused
    # The most important button stands out.
    imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(*faded(ACCENT, 0.32)))
    imgui.push_style_color(imgui.Col_.button_hovered.value, imgui.ImVec4(*faded(ACCENT, 0.48)))
    pause = BY_NAME["toggle_pause"]
    if icon_button(icons.ICON_FA_PLAY if paused else icons.ICON_FA_PAUSE, pause.name, pause.tooltip):
        pause.run(application)
    imgui.pop_style_color(2)
    for command, icon in BUTTONS:
        imgui.same_line(0.0, em(0.3))
        if icon_button(icon, command, BY_NAME[command].tooltip):
            BY_NAME[command].run(application)
    if width > em(WIDTH_FOR_ONE_ROW):
        imgui.same_line(0.0, em(0.9))
    _speed(application)


def _speed(application: Application) -> None:
    if icon_button(icons.ICON_FA_MINUS, "slower", BY_NAME["slower"].tooltip):
        BY_NAME["slower"].run(application)
    simulation = application.documents.scene.simulation
    cycles, frames = simulation.cycles_per_frame, simulation.frames_per_cycle
    speed = "full speed" if not cycles else f"{cycles}/frame" if frames == 1 else f"{60.0 * cycles / frames:.3g}/s"
    width = imgui.calc_text_size("full speed").x
    imgui.same_line(0.0, em(0.4))
    left = imgui.get_cursor_pos_x()
    imgui.set_cursor_pos_x(left + (width - imgui.calc_text_size(speed).x) / 2.0)
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), speed)
    tooltip_on_hover("simulation cycles per frame of 1/60 s, or per second")
    imgui.same_line(left + width + em(0.4))
    if icon_button(icons.ICON_FA_PLUS, "faster", BY_NAME["faster"].tooltip):
        BY_NAME["faster"].run(application)

"""Which of two worlds the panel changes, and from where it takes its processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.picture.style import ACCENT, FAINT_TEXT, em, faded
from app.scene.scene import presets
from app.window.panel.widgets import tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application
    from app.window.documents import Edited

HELP: dict[Edited, str] = {
    "A": "The panel shows and changes the world on the left",
    "B": "The panel shows and changes the world on the right",
    "both": "The panel shows the world on the left, and changes both",
}


def comparison(application: Application) -> None:
    """A row of the panel, where there are two worlds."""
    if not application.documents.comparing:
        return
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), "change")
    for edited, help in HELP.items():
        imgui.same_line(0.0, em(0.5) if edited == "A" else em(0.2))
        if _choice(edited, is_chosen=application.documents.edited == edited, help=help):
            application.documents.edited = edited
    _processes(application)


def _choice(label: str, *, is_chosen: bool, help: str) -> bool:
    if is_chosen:
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(*faded(ACCENT, 0.32)))
        imgui.push_style_color(imgui.Col_.button_hovered.value, imgui.ImVec4(*faded(ACCENT, 0.48)))
    pressed = imgui.button(f"{label}###change {label}", imgui.ImVec2(em(2.2 if len(label) == 1 else 3.2), 0.0))
    if is_chosen:
        imgui.pop_style_color(2)
    tooltip_on_hover(help, "Only processes can differ; everything else is shared.")
    return pressed


def _processes(application: Application) -> None:
    """A list of presets, from which the processes of what is changed can be taken."""
    label = f"apply a preset  {icons.ICON_FA_CARET_DOWN}"
    width = imgui.calc_text_size(label).x + 2.0 * imgui.get_style().frame_padding.x
    imgui.same_line(0.0, em(0.6))
    if width > imgui.get_content_region_avail().x:
        imgui.new_line()
    if imgui.button(f"{label}###take a preset"):
        imgui.open_popup("presets")
    tooltip_on_hover("Apply the processes of a preset to the selected worlds; the land stays")
    if imgui.begin_popup("presets"):
        for name in presets():
            if imgui.selectable(name, False)[0]:
                application.commands.take_processes(name)
        imgui.end_popup()

"""The list of all keys, made from the table that handles them."""

from __future__ import annotations

from imgui_bundle import imgui

from app.picture.style import ACCENT, FAINT_TEXT, OVER_SCENE, em
from app.window.actions import ACTIONS, GAMEPAD, MOUSE
from app.window.panel.widgets import heading

NAME = "Keys"
WIDTH, HEIGHT = 41.0, 55.0  # heights of the font
KEY_WIDTH = 9.5
WIDTH_FOR_ONE_LINE = 36.0  # below it the help stands under the label


def key_sheet(place: tuple[float, float], widest: float, highest: float) -> bool:
    """Show the list. Returns whether it stays open."""
    flags = (
        imgui.WindowFlags_.no_saved_settings.value
        | imgui.WindowFlags_.no_docking.value
        | imgui.WindowFlags_.no_resize.value
        | imgui.WindowFlags_.no_collapse.value
    )
    imgui.set_next_window_pos(imgui.ImVec2(*place), imgui.Cond_.always.value, imgui.ImVec2(0.5, 0.5))
    width = min(em(WIDTH), widest)
    is_wide = width > em(WIDTH_FOR_ONE_LINE)
    imgui.set_next_window_size(imgui.ImVec2(width, min(em(HEIGHT), highest)))
    imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
    imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(em(1.2), em(0.9)))
    _, is_open = imgui.begin(NAME, True, flags)
    groups = list(dict.fromkeys(action.group for action in ACTIONS))
    if imgui.begin_table("keys", 2):
        imgui.table_setup_column(
            "key", imgui.TableColumnFlags_.width_fixed.value, em(KEY_WIDTH if is_wide else 0.6 * KEY_WIDTH)
        )
        imgui.table_setup_column("help", imgui.TableColumnFlags_.width_stretch.value)
        for group in groups:
            _heading(group)
            for action in ACTIONS:
                if action.group == group:
                    _row(action.key_text, action.label, action.help, is_wide)
        _heading("Mouse")
        for gesture, help in MOUSE:
            _row(gesture, help, "", is_wide)
        _heading("Gamepad")
        for gesture, help in GAMEPAD:
            _row(gesture.removeprefix("gamepad: "), help, "", is_wide)
        imgui.end_table()
    imgui.end()
    imgui.pop_style_var()
    imgui.pop_style_color()
    return bool(is_open)


def _heading(group: str) -> None:
    imgui.table_next_row(0, em(1.9))
    imgui.table_next_column()
    imgui.set_cursor_pos_y(imgui.get_cursor_pos_y() + em(0.5))
    heading(group)


def _row(key: str, label: str, help: str, is_wide: bool) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.push_text_wrap_pos(0.0)
    imgui.text_colored(imgui.ImVec4(*ACCENT), key)
    imgui.table_next_column()
    imgui.text_unformatted(label)
    if help:
        if is_wide:
            imgui.same_line(0.0, em(0.6))
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), help)
    imgui.pop_text_wrap_pos()

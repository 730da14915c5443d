"""The list of all keys, made from the table that handles them."""

from __future__ import annotations

from imgui_bundle import imgui

from app.actions import ACTIONS, MOUSE
from app.panel.style import ACCENT, FAINT_TEXT, OVER_SCENE, em
from app.panel.widgets import heading

NAME = "Keys"


def key_sheet(place: tuple[float, float], widest: float, highest: float) -> bool:
    """Show the list, and tell whether it stays open."""
    flags = (
        imgui.WindowFlags_.no_saved_settings.value
        | imgui.WindowFlags_.no_docking.value
        | imgui.WindowFlags_.no_resize.value
        | imgui.WindowFlags_.no_collapse.value
        | imgui.WindowFlags_.always_auto_resize.value
    )
    imgui.set_next_window_pos(imgui.ImVec2(*place), imgui.Cond_.appearing.value, imgui.ImVec2(0.5, 0.5))
    imgui.set_next_window_size_constraints(imgui.ImVec2(0.0, 0.0), imgui.ImVec2(widest, highest))
    imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
    imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(em(1.2), em(0.9)))
    _, is_open = imgui.begin(NAME, True, flags)
    groups = list(dict.fromkeys(action.group for action in ACTIONS))
    if imgui.begin_table("keys", 2, imgui.TableFlags_.sizing_fixed_fit.value):
        for group in groups:
            _heading(group)
            for action in ACTIONS:
                if action.group == group:
                    _row(action.key_text, f"{action.label}: {action.help}")
        _heading("Mouse")
        for gesture, help in MOUSE:
            _row(gesture, help)
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


def _row(key: str, help: str) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.push_text_wrap_pos(em(13.0))
    imgui.text_colored(imgui.ImVec4(*ACCENT), key)
    imgui.pop_text_wrap_pos()
    imgui.table_next_column()
    label, _, rest = help.partition(": ")
    if not rest:
        imgui.text_unformatted(help)
        return
    imgui.text_unformatted(label)
    imgui.same_line(0.0, em(0.6))
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), rest)

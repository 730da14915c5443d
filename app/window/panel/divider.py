"""The divider between two pictures, which can be dragged. The pictures draw it; this is its handle."""

from __future__ import annotations

from imgui_bundle import imgui

from app.picture.style import ACCENT, FAINT_TEXT, OVER_SCENE, em
from app.window.layout import Layout
from app.window.panel.widgets import HANDLE_FLAGS

WIDTH = 1.0  # heights of the font
GRIP = 2.6


class Divider:
    """A handle over the line; a double click puts it in the middle again."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._grabbed: float | None = None  # where it is held, from the line to the right

    def gui(self) -> None:
        divider = self._layout.divider_place
        if divider is None:
            self._grabbed = None
            return
        viewport = imgui.get_main_viewport()
        place = imgui.ImVec2(divider + 1.0, viewport.work_pos.y + viewport.work_size.y / 2.0)
        size = imgui.ImVec2(em(WIDTH), viewport.work_size.y)
        imgui.set_next_window_pos(place, imgui.Cond_.always.value, imgui.ImVec2(0.5, 0.5))
        imgui.set_next_window_size(size)
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(0.0, 0.0))
        imgui.push_style_var(imgui.StyleVar_.window_min_size.value, imgui.ImVec2(1.0, 1.0))
        imgui.begin("##divider", None, HANDLE_FLAGS)
        imgui.invisible_button("handle", size)
        is_lit = imgui.is_item_active() or imgui.is_item_hovered()
        self._follow_pointer(divider)
        if is_lit:
            imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew.value)
        _grip(place, lit=is_lit)
        imgui.end()
        imgui.pop_style_var(2)

    def _follow_pointer(self, divider: float) -> None:
        pointer = imgui.get_mouse_pos().x
        if imgui.is_item_activated():
            self._grabbed = pointer - divider
            if imgui.is_mouse_double_clicked(0):
                self._layout.divider = 0.5
                self._grabbed = None
        # In a long frame, the last move and the release come together.
        if self._grabbed is not None and (imgui.is_item_active() or imgui.is_item_deactivated()):
            self._layout.move_divider(pointer - self._grabbed)


def _grip(middle: imgui.ImVec2, *, lit: bool) -> None:
    half = imgui.ImVec2(em(0.32), em(GRIP / 2.0))
    drawing = imgui.get_window_draw_list()
    low, high = middle - half, middle + half
    drawing.add_rect_filled(low, high, imgui.get_color_u32(imgui.ImVec4(*OVER_SCENE)), half.x)
    colour = imgui.get_color_u32(imgui.ImVec4(*(ACCENT if lit else FAINT_TEXT)))
    length = imgui.ImVec2(0.0, 0.55 * half.y)
    drawing.add_line(middle - length, middle + length, colour, em(0.14))

"""Bars along the lower edge of the window, below the scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from imgui_bundle import imgui

from app.picture.style import OVER_SCENE, em

FLAGS = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_scroll_with_mouse.value
    | imgui.WindowFlags_.no_focus_on_appearing.value  # it comes with the land, while somebody may be typing
)


@contextmanager
def side_bar(name: str, height: float, padding: tuple[float, float]) -> Iterator[bool]:
    """A bar above the earlier ones, `padding` in heights of the font. Yields whether it is visible."""
    imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
    imgui.push_style_var(imgui.StyleVar_.window_rounding.value, 0.0)
    imgui.push_style_var(imgui.StyleVar_.window_border_size.value, 0.0)
    imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(em(padding[0]), em(padding[1])))
    yield imgui.internal.begin_viewport_side_bar(name, imgui.get_main_viewport(), imgui.Dir.down, height, FLAGS)
    imgui.end()
    imgui.pop_style_var(3)
    imgui.pop_style_color()

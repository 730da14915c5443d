"""The window that a dialog is laid out in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from imgui_bundle import imgui

from app.picture.style import OVER_SCENE, em

FLAGS = (
    imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_collapse.value
)


@contextlib.contextmanager
def dialog_window(
    title: str,
    size: tuple[float, float],
    place: tuple[float, float],
    room: tuple[float, float],
    *,
    more_flags: int = 0,
) -> Iterator[tuple[bool, bool | None]]:
    """A window around a `place`, which says whether its content is to be laid out, and whether it stays open.

    It opens with this `size` in heights of the font, or with what there is `room` for, in units of ImGui.
    """
    width, height = (min(em(length), largest) for length, largest in zip(size, room, strict=True))
    imgui.set_next_window_pos(imgui.ImVec2(*place), imgui.Cond_.appearing.value, imgui.ImVec2(0.5, 0.5))
    imgui.set_next_window_size(imgui.ImVec2(width, height), imgui.Cond_.appearing.value)
    imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
    try:
        yield imgui.begin(title, True, FLAGS | more_flags)
    finally:
        imgui.end()
        imgui.pop_style_color()

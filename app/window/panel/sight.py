"""Items of the panel that are out of sight: they take their room, and the keyboard finds them, but none is drawn.

Most rows are out of sight, and what a row shows costs far more than its place.
"""

from __future__ import annotations

from imgui_bundle import imgui


class _Frame:
    """What is used in this frame, in sight or not."""

    in_use: frozenset[int] = frozenset()  # one for the program: ImGui is, too
    has_popup = False


def begin_frame() -> None:
    """Call it before all items of a frame."""
    context = imgui.get_current_context()
    _Frame.in_use = frozenset(
        (context.active_id, context.active_id_previous_frame, context.nav_id, context.nav_activate_id)
    )
    _Frame.has_popup = imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value)


def is_needed(size: imgui.ImVec2, label: str) -> bool:
    """Whether the next item has to be there as a whole, because something of that size would be seen, or it is used.

    While a menu is open it may be that of any item.
    """
    return _Frame.has_popup or imgui.is_rect_visible(size) or imgui.get_id(label) in _Frame.in_use


def reserve(label: str, size: imgui.ImVec2, flags: int = 0) -> None:
    """Leave the room of an item that is not needed now, where the keyboard goes as if it were there.

    `flags` are the `ItemFlags` of the item itself.
    """
    place = imgui.get_cursor_screen_pos()
    imgui.internal.item_size(size)
    box = imgui.internal.ImRect(place, imgui.ImVec2(place.x + size.x, place.y + size.y))
    imgui.internal.item_add(box, imgui.get_id(label), None, flags)

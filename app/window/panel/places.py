"""Screen positions of panel items by name, for the tour."""

from __future__ import annotations

from typing import NamedTuple

from imgui_bundle import imgui

_FRESH = 1  # frames for which a place holds


class Rectangle(NamedTuple):
    """In logical units from the top left of the window."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Rectangle) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class _Noted:
    """The last frame and rectangle of each item."""

    places: dict[str, tuple[int, Rectangle]] = {}  # noqa: RUF012 (one for the program: ImGui is, too)


def note_place(name: str, *, first: bool = False) -> None:
    """Remember the rectangle of the last item, if visible. Of several with one name the last counts, or the `first`."""
    frame = imgui.get_frame_count()
    if not imgui.is_item_visible() or (first and _Noted.places.get(name, (-1, None))[0] == frame):
        return
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    _Noted.places[name] = frame, Rectangle(low.x, low.y, high.x, high.y)


def place_of(name: str) -> Rectangle | None:
    """The rectangle of a noted item or a window by name; None if it is not on the screen."""
    frame, noted = _Noted.places.get(name, (-1, None))
    if noted is not None and imgui.get_frame_count() - frame <= _FRESH:
        return noted
    window = imgui.internal.find_window_by_name(name)
    if window is None or not window.was_active or window.hidden:
        return None
    return Rectangle(window.pos.x, window.pos.y, window.pos.x + window.size.x, window.pos.y + window.size.y)


def beside(target: Rectangle, size: tuple[float, float], screen: tuple[float, float], gap: float) -> Rectangle:
    """The rectangle of a box next to an item, on the screen and not over it if possible.

    The side with the most room goes first.
    """
    width, height = size
    middle = (target.left + target.right - width) / 2.0, (target.top + target.bottom - height) / 2.0
    sides = sorted(
        (
            (target.left - gap - width, (target.left - gap - width, middle[1])),
            (screen[0] - target.right - gap - width, (target.right + gap, middle[1])),
            (target.top - gap - height, (middle[0], target.top - gap - height)),
            (screen[1] - target.bottom - gap - height, (middle[0], target.bottom + gap)),
        ),
        reverse=True,
    )
    left, top = sides[0][1]
    left = max(min(left, screen[0] - width), 0.0)
    top = max(min(top, screen[1] - height), 0.0)
    return Rectangle(left, top, left + width, top + height)

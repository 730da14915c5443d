"""Text that fits a place."""

from __future__ import annotations

from collections.abc import Callable

ELLIPSIS = "…"
LEAST_PART = 0.6  # least part of the space that is used

Width = Callable[[str], float]


def fitted(text: str, room: float, width: Width) -> str:
    """The text, cut with an ellipsis if it does not fit.

    It ends with a whole word, unless that would lose much.
    """
    if width(text) <= room:
        return text
    fits, fits_not = 0, len(text)
    while fits_not - fits > 1:
        middle = (fits + fits_not) // 2
        if width(text[:middle] + ELLIPSIS) <= room:
            fits = middle
        else:
            fits_not = middle
    word_end = text.rfind(" ", 0, fits + 1)
    return text[: word_end if word_end > LEAST_PART * fits else fits].rstrip(" ,;:") + ELLIPSIS


def fitted_lines(text: str, room: float, most: int, width: Width) -> list[str]:
    """The text in at most so many lines, broken between words and cut with an ellipsis."""
    words = text.split()
    lines: list[str] = []
    while words and len(lines) < most - 1:
        count = 1
        while count < len(words) and width(" ".join(words[: count + 1])) <= room:
            count += 1
        lines.append(fitted(" ".join(words[:count]), room, width))
        words = words[count:]
    return [*lines, fitted(" ".join(words), room, width)] if words else lines

"""The legend of an overlay as pixels, for pictures and clips."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from app.model.legends import Legend, legend_colours
from app.model.overlays import OVERLAYS
from app.picture import style
from app.picture.lettering import LINE, MARGIN, context_for_text, lettered, shortened
from app.picture.style import Face

BAR = 0.7  # heights of the font
SWATCH = 0.7
GROUND = np.array(style.OVER_SCENE[:3])


@lru_cache(maxsize=16)
def legend_sign(legend: Legend, scale: float, width: int, widest: int) -> NDArray[np.uint8]:
    """A legend on a dark ground, at least `width` pixels wide: `[row, column, (red, green, blue, alpha)]`.

    `scale` is that of the interface, in pixels; text that would make it wider than `widest` is cut.
    """
    size = round(style.FONT_SIZE * scale)
    margin, line = round(MARGIN * size), round(LINE * size)
    with context_for_text():

        def text(
            words: str, face: Face = Face.PLAIN, colour: tuple[float, ...] = style.FAINT_TEXT
        ) -> NDArray[np.float64]:
            if not words:
                return np.zeros((line, 0, 3))
            strip = lettered(face, shortened(face, words, size, widest - 2 * margin), size)
            row = np.broadcast_to(GROUND, (line, strip.shape[1], 3)).copy()
            top = (line - strip.shape[0]) // 2
            row[top : top + strip.shape[0]] += (np.array(colour[:3]) - GROUND) * strip[:, :, None]
            return row

        rows = [text(legend.label, Face.BOLD, style.TEXT)]
        if legend.names:
            rows += [_beside(_swatch(colour, line, size), text(title)) for title, colour in legend.names]
        ends = [text(end) for end in legend.ends]
        note = [text(legend.note)] if legend.note else []
    inside = max([width - 2 * margin, *(row.shape[1] for row in rows + note), sum(end.shape[1] for end in ends) + line])
    if not legend.names and any(legend.ends):
        low, high = ends
        gap = np.broadcast_to(GROUND, (line, inside - low.shape[1] - high.shape[1], 3))
        rows += [_bar(legend.name, round(BAR * size), inside), np.concatenate([low, gap, high], axis=1)]
    rows += note
    whole = np.broadcast_to(GROUND, (2 * margin + sum(map(len, rows)), inside + 2 * margin, 3)).copy()
    top = margin
    for row in rows:
        whole[top : top + len(row), margin : margin + row.shape[1]] = row
        top += len(row)
    opaque = np.ones((*whole.shape[:2], 1))
    return np.round(255.0 * np.concatenate([whole, opaque], axis=2)).astype(np.uint8)


def _bar(name: str, height: int, width: int) -> NDArray[np.float64]:
    """The palette of an overlay with its transparency; the lower half of a two-sided one is hatched."""
    colours = legend_colours(name, width)
    bar = np.broadcast_to(GROUND + (colours[:, :3] - GROUND) * colours[:, 3:], (height, width, 3)).copy()
    if OVERLAYS[name].has_sides:
        rows, columns = np.indices((height, width))
        lines = ((rows + columns) % max(height // 2, 3) == 0) & (columns < width // 2)
        bar[lines] *= 0.55
    return bar


def _swatch(colour: tuple[float, float, float], line: int, size: int) -> NDArray[np.float64]:
    """A square of one colour in a line of text, with some room beside it."""
    side = round(SWATCH * size)
    drawn = np.broadcast_to(GROUND, (line, round(1.5 * side), 3)).copy()
    top = (line - side) // 2
    drawn[top : top + side, :side] = colour
    return drawn


def _beside(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([left, right], axis=1)

"""Text as pixels, for pictures and clips."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.picture import style
from app.picture.style import Face

MARGIN = 0.6  # heights of the font
LINE = 1.25
ROWS = 2  # largest number of rows of a line
ELLIPSIS = "…"


@lru_cache(maxsize=16)
def sign(lines: tuple[str, ...], scale: float, widest: int) -> NDArray[np.uint8]:
    """Lines on a dark ground, the first of them bright and bold: `[row, column, (red, green, blue, alpha)]`.

    `scale` is that of the interface, in pixels; lines longer than `widest` pixels are broken once, and then cut.
    """
    size = round(style.FONT_SIZE * scale)
    margin, line = round(MARGIN * size), round(LINE * size)
    with context_for_text():
        strips = []
        for number, words in enumerate(lines):
            face = Face.PLAIN if number else Face.BOLD
            rows = _rows(face, words, size, widest - 2 * margin)
            strips += [(lettered(face, row, size), style.FAINT_TEXT if number else style.TEXT) for row in rows]
    ground = np.array(style.OVER_SCENE[:3])
    width = max(strip.shape[1] for strip, _ in strips) + 2 * margin
    coloured = np.broadcast_to(ground, (2 * margin + line * len(strips), width, 3)).copy()
    for number, (strip, colour) in enumerate(strips):
        top = margin + number * line + (line - strip.shape[0]) // 2
        place = coloured[top : top + strip.shape[0], margin : margin + strip.shape[1]]
        place += (np.array(colour[:3]) - ground) * strip[:, :, None]
    opaque = np.ones((*coloured.shape[:2], 1))
    return np.round(255.0 * np.concatenate([coloured, opaque], axis=2)).astype(np.uint8)


def _rows(face: Face, words: str, size: int, room: int) -> list[str]:
    """A line, wrapped between words and cut in the last row."""
    rows: list[str] = []
    rest = words.split(" ")
    while len(rows) < ROWS - 1 and _width(face, " ".join(rest), size) > room:
        fitting = bisect_right(range(1, len(rest)), room, key=lambda count: _width(face, " ".join(rest[:count]), size))
        if fitting == 0:
            break
        rows.append(" ".join(rest[:fitting]))
        rest = rest[fitting:]
    return [*rows, shortened(face, " ".join(rest), size, room)]


def shortened(face: Face, words: str, size: int, room: int) -> str:
    """A line cut to the available width."""
    if _width(face, words, size) <= room:
        return words

    def beginning(letters: int) -> str:
        return words[:letters].rstrip() + ELLIPSIS

    return beginning(bisect_right(range(1, len(words)), room, key=lambda count: _width(face, beginning(count), size)))


def _width(face: Face, words: str, size: int) -> int:
    return len(lettered(face, words, size).T)


def lettered(face: Face, words: str, size: int) -> NDArray[np.float64]:
    """One line of text, `[row, column]`: 1 in the letters and 0 outside."""
    baked = face.font().get_font_baked(float(size))
    for character in words:  # load all first: a new glyph can rebuild the atlas
        baked.find_glyph(ord(character))
    glyphs = [baked.find_glyph(ord(character)) for character in words]
    strip = np.zeros((size, max(round(sum(glyph.advance_x for glyph in glyphs)), 1)))
    atlas = imgui.get_io().fonts.tex_data
    pixels = np.asarray(atlas.get_pixels_array()).reshape(atlas.height, atlas.width, -1)[:, :, -1] / 255.0
    pen = 0.0
    for glyph in glyphs:
        west, east = (round(part * atlas.width) for part in (glyph.u0, glyph.u1))
        north, south = (round(part * atlas.height) for part in (glyph.v0, glyph.v1))
        letter = pixels[north:south, west:east]
        top, left = max(round(glyph.y0), 0), max(round(pen + glyph.x0), 0)
        place = strip[top : top + letter.shape[0], left : left + letter.shape[1]]
        np.maximum(place, letter[: place.shape[0], : place.shape[1]], out=place)
        pen += glyph.advance_x
    return strip


@contextlib.contextmanager
def context_for_text() -> Iterator[None]:
    """A context of ImGui for text alone, with its fonts: the same pixels with a window and without one.

    It is current inside `with` and destroyed after it, so that it does not interfere with a window. Fonts are
    looked up by their `Face` in the current context.
    """
    before = imgui.get_current_context()
    context = imgui.create_context()
    try:
        imgui.set_current_context(context)
        io = imgui.get_io()
        io.set_ini_filename("")
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
        io.display_size = imgui.ImVec2(1.0, 1.0)
        style.load_fonts()
        imgui.new_frame()
        imgui.end_frame()
        yield
    finally:
        if before is not None:
            imgui.set_current_context(before)
        imgui.destroy_context(context)

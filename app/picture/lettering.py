"""Text as pixels, for what is written into pictures and clips."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.picture import style

MARGIN = 0.6  # heights of the font
LINE = 1.25
ELLIPSIS = "…"


@lru_cache(maxsize=16)
def sign(lines: tuple[str, ...], scale: float, widest: int) -> NDArray[np.uint8]:
    """Lines on a dark ground, the first of them bright and bold: `[row, column, (red, green, blue, alpha)]`.

    `scale` is that of the interface, in pixels; lines that are longer than `widest` pixels are cut.
    """
    size = round(style.FONT_SIZE * scale)
    margin, line = round(MARGIN * size), round(LINE * size)
    with _fonts() as (text, bold):
        strips = []
        for number, words in enumerate(lines):
            font = text if number else bold
            strips.append(_line(font, _shortened(font, words, size, widest - 2 * margin), size))
    ground = np.array(style.OVER_SCENE[:3])
    width = max(strip.shape[1] for strip in strips) + 2 * margin
    coloured = np.broadcast_to(ground, (2 * margin + line * len(lines), width, 3)).copy()
    for number, strip in enumerate(strips):
        colour = np.array((style.FAINT_TEXT if number else style.TEXT)[:3])
        top = margin + number * line + (line - strip.shape[0]) // 2
        place = coloured[top : top + strip.shape[0], margin : margin + strip.shape[1]]
        place += (colour - ground) * strip[:, :, None]
    opaque = np.ones((*coloured.shape[:2], 1))
    return np.round(255.0 * np.concatenate([coloured, opaque], axis=2)).astype(np.uint8)


def _shortened(font: Any, words: str, size: int, room: int) -> str:
    """As much of a line as there is room for."""
    while len(words) > 1 and _line(font, words, size).shape[1] > room:
        words = words.removesuffix(ELLIPSIS)[:-1].rstrip() + ELLIPSIS
    return words


def _line(font: imgui.ImFont, words: str, size: int) -> NDArray[np.float64]:
    """One line of text, `[row, column]`: 1 in the letters and 0 outside."""
    baked = font.get_font_baked(float(size))
    for character in words:  # first all of them: a new one can move those that were found, and the atlas
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
def _fonts() -> Iterator[tuple[imgui.ImFont, imgui.ImFont]]:
    """The fonts for plain and bold text, in their own context: the same pixels with a window and without one.

    The context is current inside `with`, and gone after it: one that stayed current would stand in a window's way.
    """
    before = imgui.get_current_context()
    context = imgui.create_context()
    try:
        imgui.set_current_context(context)
        io = imgui.get_io()
        io.set_ini_filename("")
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
        io.display_size = imgui.ImVec2(1.0, 1.0)
        fonts = style.text_fonts()
        imgui.new_frame()
        imgui.end_frame()
        yield fonts
    finally:
        if before is not None:
            imgui.set_current_context(before)
        imgui.destroy_context(context)

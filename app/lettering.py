"""Text in pictures, drawn without a window: by ImGui's own font, into plain arrays."""

from __future__ import annotations

import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.panel.style import FONTS
from app.recorder import Pixels

FONT = "Roboto/Roboto-Regular.ttf"
COLOUR = np.array([255.0, 255.0, 255.0])
SHADE = 0.55  # how much of the picture the box behind the text takes away


def coverage(text: str, height: float) -> NDArray[np.float64]:
    """How much of each pixel a line of text covers, from 0 to 1, `[row, column]`; `height` is that of a line."""
    before = imgui.get_current_context()
    context = imgui.create_context()
    imgui.set_current_context(context)
    try:
        io = imgui.get_io()
        io.set_ini_filename("")
        io.display_size = imgui.ImVec2(1.0, 1.0)
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
        font = io.fonts.add_font_from_file_ttf(str(FONTS / FONT), height)
        imgui.new_frame()
        baked = font.get_font_baked(height)
        glyphs = [baked.find_glyph(ord(letter)) for letter in text]  # draws them, so that they are in the texture
        advances = [baked.get_char_advance(ord(letter)) for letter in text]
        texture = io.fonts.tex_data
        pixels = np.asarray(texture.get_pixels_array()).reshape(texture.height, texture.width, -1)[..., -1] / 255.0
        line = np.zeros((round(1.3 * height), round(sum(advances)) + 1))
        at = 0.0
        for glyph, advance in zip(glyphs, advances, strict=True):
            top, bottom = (round(v * texture.height) for v in (glyph.v0, glyph.v1))
            left, right = (round(u * texture.width) for u in (glyph.u0, glyph.u1))
            part = pixels[top:bottom, left:right]
            row, column = round(glyph.y0), round(at + glyph.x0)
            place = line[row : row + part.shape[0], column : column + part.shape[1]]
            np.maximum(place, part[: place.shape[0], : place.shape[1]], out=place)
            at += advance
        imgui.end_frame()
        return line
    finally:
        imgui.destroy_context(context)
        if before is not None:
            imgui.set_current_context(before)


def label(picture: Pixels, text: str, height: float) -> None:
    """Write a line on a dark box into the upper left corner of a picture, in place."""
    margin = round(0.45 * height)
    line = np.pad(coverage(text, height), ((margin, margin), (2 * margin, 2 * margin)))
    rows, columns = (min(side, room) for side, room in zip(line.shape, picture.shape, strict=False))
    box, part = picture[:rows, :columns], line[:rows, :columns, None]
    box[...] = np.rint((1.0 - part) * (1.0 - SHADE) * box + part * COLOUR).astype(np.uint8)

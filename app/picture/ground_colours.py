"""The colours of the ground as an image of the whole map, a texture for other programs."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.passes.declaration import Frame
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MapTarget, release_all

DEFINES = (
    "DESERT",
    "MARKS",
    "ICE",
    "SNOWY",
    "MATERIALS",
    "INTRUSIONS",
    "LIVING",
    "GREEN_BY_CLIMATE",
    "DETAIL_SCALES",
)  # variants of the ground


def draw_ground_colours(
    context: moderngl.Context, shaders: ShaderLibrary, frame: Frame, width: int, height: int
) -> NDArray[np.uint8]:
    """Unlit colours of the ground of a frame: sRGB [row, column, (red, green, blue)], row 0 in the north."""
    defines = {name: frame.defines[name] for name in DEFINES}
    drawing = FullScreen(context, shaders, "ground_colour.frag", defines)
    target = MapTarget(context, (4, "f4"))
    try:
        target.fit((width, height))
        drawing.program.read(frame.textures, frame.uniforms)
        drawing.draw(target.framebuffer)
        linear = np.frombuffer(target.framebuffer.read(components=4, dtype="f4"), np.float32)
    finally:
        release_all(target, drawing)
    return _as_srgb(linear.reshape(height, width, 4)[..., :3])


def _as_srgb(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Convert linear light to sRGB (IEC 61966-2-1)."""
    light = np.clip(linear, 0.0, 1.0)
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1.0 / 2.4) - 0.055)
    return np.asarray(np.rint(255.0 * shown), np.uint8)

"""Mipmaps that a shader of ours draws, beside means and the driver's own."""

from __future__ import annotations

import ctypes

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes import unlocked
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.targets import MIPMAPPED
from tests.passes import gl

TYPES: dict[str, tuple[type[np.generic], int]] = {
    "f1": (np.uint8, 0x1401),
    "f2": (np.float16, 0x140B),
    "f4": (np.float32, 0x1406),
}
COLOURS = {1: 0x1903, 2: 0x8227, 4: 0x1908}  # red, red and green, all


def level_of(texture: moderngl.Texture, level: int) -> NDArray[np.float64]:
    """A level of mipmaps, [row, column, component]."""
    width, height = (max(side >> level, 1) for side in texture.size)
    kind, name = TYPES[texture.dtype]
    values = np.empty((height, width, texture.components), kind)
    unlocked._bind(texture)
    unlocked._function("glPixelStorei")(unlocked._PACK_ALIGNMENT, 1)
    read = ctypes.CFUNCTYPE(None, *(ctypes.c_int,) * 4, ctypes.c_void_p)(unlocked.address("glGetTexImage"))
    read(unlocked._TEXTURE_2D, level, COLOURS[texture.components], name, values.ctypes.data)
    return values.astype(np.float64)


@pytest.mark.parametrize(
    ("size", "components", "dtype"),
    [((16, 8), 4, "f1"), ((32, 32), 4, "f2"), ((13, 6), 2, "f4"), ((37, 1), 1, "f4"), ((1, 1), 4, "f2")],
)
def test_levels_are_as_the_driver_has_them(
    context: moderngl.Context, shaders: ShaderLibrary, size: tuple[int, int], components: int, dtype: str
) -> None:
    values = np.random.default_rng(3).random((size[1], size[0], components))
    texels = (255.0 * values).astype(np.uint8) if dtype == "f1" else values.astype(TYPES[dtype][0])
    ours, drivers = (context.texture(size, components, texels.tobytes(), alignment=1, dtype=dtype) for _ in range(2))
    ours.filter = MIPMAPPED
    before, mipmaps = gl.living_objects()["Framebuffer"], Mipmaps(context, shaders)
    bound = context.fbo
    for _ in range(2):  # levels that are there are filled anew
        mipmaps.build(ours)
    unlocked.build_mipmaps(drivers)
    assert context.fbo is bound and ours.filter == MIPMAPPED and gl.living_objects()["Framebuffer"] == before
    levels = max(size).bit_length()
    for level in range(levels):
        assert level_of(ours, level) == pytest.approx(level_of(drivers, level), rel=1e-5)
    if size[0] == size[1]:
        assert level_of(ours, levels - 1).ravel() == pytest.approx(values.mean(axis=(0, 1)), abs=1e-3)
    for made in (ours, drivers, mipmaps):
        made.release()


def test_they_are_built_in_a_new_context(
    context: moderngl.Context, shaders: ShaderLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which has no framebuffer in use: that of a first build is gone when a second begins."""
    mipmaps = Mipmaps(context, shaders)
    textures = [context.texture((8, 8), 1, dtype="f4") for _ in range(2)]
    monkeypatch.setattr(context, "fbo", None)
    for texture in textures:
        mipmaps.build(texture)
    assert context.fbo is not None
    for made in (*textures, mipmaps):
        made.release()

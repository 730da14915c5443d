"""Mipmaps, beside means and bilinear samples."""

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


def half(level: NDArray[np.float64], rounded: bool) -> NDArray[np.float64]:
    """The next smaller level: bilinear samples of this one in the middle of each of its texels."""
    for axis in (1, 0):
        side = level.shape[axis]
        smaller = max(side // 2, 1)
        place = np.maximum((np.arange(smaller) + 0.5) * side / smaller - 0.5, 0.0)
        first = place.astype(int)
        part = np.expand_dims(place - first, tuple(other for other in range(3) if other != axis))
        beyond = np.minimum(first + 1, side - 1)
        level = np.take(level, first, axis) * (1.0 - part) + np.take(level, beyond, axis) * part
        level = np.floor(level + 0.501) if rounded else level
    return level


@pytest.mark.parametrize(
    ("size", "components", "dtype"),
    [((16, 8), 4, "f1"), ((32, 32), 4, "f2"), ((13, 6), 2, "f4"), ((37, 1), 1, "f4"), ((1, 1), 4, "f2")],
)
def test_each_level_is_half_of_the_one_above(
    context: moderngl.Context, shaders: ShaderLibrary, size: tuple[int, int], components: int, dtype: str
) -> None:
    values = np.random.default_rng(3).random((size[1], size[0], components))
    texels = (255.0 * values).astype(np.uint8) if dtype == "f1" else values.astype(TYPES[dtype][0])
    texture = context.texture(size, components, texels.tobytes(), alignment=1, dtype=dtype)
    texture.filter = MIPMAPPED
    before, mipmaps = gl.living_objects()["Framebuffer"], Mipmaps(context, shaders)
    bound = context.fbo
    for _ in range(2):  # levels that are there are filled anew
        mipmaps.build(texture)
    assert context.fbo is bound and texture.filter == MIPMAPPED and gl.living_objects()["Framebuffer"] == before
    levels = max(size).bit_length()
    for level in range(1, levels):
        expected = half(level_of(texture, level - 1), rounded=dtype == "f1")
        assert level_of(texture, level) == pytest.approx(expected, rel=1e-3 if dtype == "f2" else 1e-5)
    if size[0] == size[1]:
        assert level_of(texture, levels - 1).ravel() == pytest.approx(values.mean(axis=(0, 1)), abs=1e-3)
    for made in (texture, mipmaps):
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

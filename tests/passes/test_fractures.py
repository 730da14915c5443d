"""The tile of fractured rock."""

from __future__ import annotations

from collections.abc import Iterator

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes.fixed import FixedTextures
from app.picture.passes.fractures import SIDE, SPANS, Fractures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP
from tests.graphics import own_framebuffer
from tests.passes import gl


@pytest.fixture
def tile(context: moderngl.Context, shaders: ShaderLibrary) -> Iterator[NDArray[np.float64]]:
    """Its texels, from 0 to 1: `[row, column, channel]`."""
    fixed = FixedTextures(context)
    fractures = Fractures(context, shaders, fixed)
    yield np.frombuffer(fractures.texture.read(), np.uint8).reshape(SIDE, SIDE, 4) / 255.0
    fractures.release()
    fixed.release()


def test_its_channels_fill_their_spans(tile: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(tile.mean(axis=(0, 1)), 0.5, atol=0.01)
    np.testing.assert_allclose(tile.std(axis=(0, 1)), 1.0 / 6.0, atol=0.01)
    cut = (tile == 0.0) | (tile == 1.0)
    assert (cut.mean(axis=(0, 1)) < 0.015).all(), "only the deepest cracks"


def test_it_repeats_without_seams(tile: NDArray[np.float64]) -> None:
    height = tile[..., 0]
    for axis in (0, 1):
        steps = np.abs(np.diff(height, axis=axis, append=height.take([0], axis=axis))).mean(axis=1 - axis)
        assert steps[-1] < 1.5 * steps[:-1].mean()


def test_its_slopes_are_those_of_its_heights(tile: NDArray[np.float64]) -> None:
    for axis, channel in ((1, 1), (0, 2)):
        ahead, behind = (np.roll(tile[..., 0], step, axis) for step in (-1, 1))
        rise = 0.5 * (ahead - behind) * SPANS[0] * SIDE
        written = (tile[..., channel] - 0.5) * SPANS[1]
        inside = (tile[..., channel] > 0.0) & (tile[..., channel] < 1.0) & (np.minimum(ahead, behind) > 0.0)
        np.testing.assert_allclose(written[inside], rise[inside], atol=0.3)  # heights are in steps of 0.001


def test_it_has_faces_and_edges(tile: NDArray[np.float64]) -> None:
    """Slopes hardly change on a face, and much at its edge: far more unevenly than those of noise do."""
    for axis, channel in ((1, 1), (0, 2)):
        bend = np.diff(tile[..., channel], axis=axis)
        assert (bend**4).mean() / (bend**2).mean() ** 2 > 8.0, "3 for noise"


def test_it_is_drawn_once_and_again_when_it_is_forgotten(context: moderngl.Context, shaders: ShaderLibrary) -> None:
    fixed = FixedTextures(context)
    fractures = Fractures(context, shaders, fixed)
    drawn = fractures.texture
    blank = bytes(4 * SIDE * SIDE)
    drawn.write(blank)
    assert fractures.texture is drawn and drawn.read() == blank
    fractures.forget()
    assert fractures.texture.read() != blank
    fractures.release()
    fixed.release()


def test_all_pictures_of_a_context_read_one_until_the_last_is_released(
    context: moderngl.Context, shaders: ShaderLibrary, own_textures: None
) -> None:
    before = gl.living_objects()
    one, other = FixedTextures.of(context), FixedTextures.of(context)
    mipmaps = Mipmaps(context, shaders)
    assert one is other
    for filter in (ONE_MIPMAP, MIPMAPPED):
        made = one.repeating(mipmaps, filter)
        assert {texture.filter for texture in made.values()} == {filter} and other.repeating(mipmaps, filter) is made
    pair = [Fractures(context, shaders, fixed) for fixed in (one, other)]
    assert pair[0].texture is pair[1].texture
    for fractures, fixed in zip(pair, (one, other), strict=True):
        kept = gl.living_objects()["Texture"]
        fractures.release()
        fixed.release()
        assert (gl.living_objects()["Texture"] == kept) == (fractures is pair[0])
    shaders.release()
    own_framebuffer().use()
    assert gl.living_objects()["Texture"] == before["Texture"]
    again = FixedTextures.of(context)
    assert again is not one
    again.release()

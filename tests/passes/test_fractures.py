"""The tile of fractured rock."""

from __future__ import annotations

from collections.abc import Iterator

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes.detail import detail_texture
from app.picture.passes.fractures import SIDE, SPANS, Fractures
from app.picture.passes.shaders import ShaderLibrary


@pytest.fixture
def tile(context: moderngl.Context, shaders: ShaderLibrary) -> Iterator[NDArray[np.float64]]:
    """Its texels, from 0 to 1: `[row, column, channel]`."""
    detail = detail_texture(context)
    fractures = Fractures(context, shaders, detail)
    yield np.frombuffer(fractures.texture.read(), np.uint8).reshape(SIDE, SIDE, 4) / 255.0
    fractures.release()
    detail.release()


def test_its_channels_fill_their_spans(tile: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(tile.mean(axis=(0, 1)), 0.5, atol=0.01)
    np.testing.assert_allclose(tile.std(axis=(0, 1)), 1.0 / 6.0, atol=0.01)
    cut = (tile == 0.0) | (tile == 1.0)
    assert (cut.mean(axis=(0, 1)) < 0.01).all()


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
        np.testing.assert_allclose(written[inside], rise[inside], atol=0.25)  # heights are in steps of 0.0007


def test_it_has_faces_and_edges(tile: NDArray[np.float64]) -> None:
    """Slopes hardly change on a face, and much at its edge: more unevenly than those of noise do."""
    bend = np.diff(tile[..., 1], axis=1)
    assert (bend**4).mean() / (bend**2).mean() ** 2 > 4.0, "3 for noise"


def test_it_is_drawn_once_and_again_when_it_is_forgotten(context: moderngl.Context, shaders: ShaderLibrary) -> None:
    detail = detail_texture(context)
    fractures = Fractures(context, shaders, detail)
    drawn = fractures.texture
    blank = bytes(4 * SIDE * SIDE)
    drawn.write(blank)
    assert fractures.texture is drawn and drawn.read() == blank
    fractures.forget()
    assert fractures.texture.read() != blank
    fractures.release()
    detail.release()

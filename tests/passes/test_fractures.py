"""The tile of fractured rock."""

from __future__ import annotations

import math
from collections.abc import Iterator

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes import shaders as module
from app.picture.passes.fixed import FixedTextures
from app.picture.passes.fractures import SIDE, SPANS, Fractures
from app.picture.passes.frame import FrameBlock
from app.picture.passes.frame_values import way_across_beds
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP
from tests.graphics import own_framebuffer
from tests.passes import gl
from tests.passes.test_maps import texels

PROBE = """#include "ground.glsl"
in vec2 uv;
out vec4 result;
void main() {
    vec3 at = vec3(8.0 * uv, 3.0);
    vec2 face = noise_lies_on(vec2(1.2, 0.0), vec2(0.0));
    result = fractured_at(at, mat2x3(dFdx(at), dFdy(at)), face, 0.0, vec3(1.0, 0.0, 0.0)).level;
}
"""


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


def test_blocks_on_a_level_ledge_of_a_wall_are_not_drawn_out(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies along the beds that rock on the wall is drawn by, and would have one and the same of them all over."""
    frame_block.values["beds"] = way_across_beds(math.inf)
    frame_block.upload()
    read = module.read_shader
    monkeypatch.setattr(module, "read_shader", lambda name: PROBE if name == "probe.frag" else read(name))
    drawing = FullScreen(context, shaders, "probe.frag", defines={"DETAIL_SCALES": 3})
    fixed = FixedTextures(context)
    fractures = Fractures(context, shaders, fixed)
    target = context.texture((128, 128), 4, dtype="f4")
    framebuffer = context.framebuffer([target])
    before = context.fbo
    drawing.program.bind(fractures=fractures.texture)
    drawing.draw(framebuffer)
    before.use()
    height = texels(target)[..., 0]
    across, along = (np.abs(np.diff(height, axis=axis)).mean() for axis in (1, 0))
    assert 0.7 < across / along < 1.4
    for made in (framebuffer, target, drawing, fractures, fixed):
        made.release()

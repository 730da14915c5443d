"""From linear light to the screen."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes import shaders as module
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from tests.passes.test_maps import texels

STOPS = 64  # of light, from dark to far brighter than white
PROBE = """#include "tone.glsl"
in vec2 uv;
out vec4 result;
uniform vec3 hue;
void main() { result = vec4(toned(hue * exp2(8.0 * uv.x - 5.0)), 1.0); }
"""
LUMINANCE = (0.2126, 0.7152, 0.0722)
SAND_IN_LOW_SUN = (1.0, 0.43, 0.12)


@pytest.fixture
def library(shaders: ShaderLibrary, monkeypatch: pytest.MonkeyPatch) -> ShaderLibrary:
    read = module.read_shader
    monkeypatch.setattr(module, "read_shader", lambda name: PROBE if name == "probe.frag" else read(name))
    return shaders


def shown(context: moderngl.Context, library: ShaderLibrary, hue: tuple[float, float, float]) -> NDArray[np.float32]:
    """What the screen shows of a colour in more and more light, in linear light: `[stop, channel]`."""
    drawing = FullScreen(context, library, "probe.frag")
    target = context.texture((STOPS, 1), 4, dtype="f4")
    framebuffer = context.framebuffer([target])
    before = context.fbo
    drawing.program.set(hue=hue)
    drawing.draw(framebuffer)
    before.use()
    drawn = texels(target)[0, :, :3].copy()
    for made in (framebuffer, target, drawing):
        made.release()
    return drawn


def test_sand_in_bright_light_bleaches_and_does_not_turn_yellow(
    context: moderngl.Context, library: ShaderLibrary
) -> None:
    drawn = shown(context, library, SAND_IN_LOW_SUN)
    red, green, blue = drawn.T
    bright = (red > 0.9) & (red - blue > 0.3)
    assert bright.sum() > 5
    dim = ((green - blue) / (red - blue))[red < 0.3].mean()
    assert ((green - blue) / (red - blue))[bright].max() < 1.4 * dim
    assert blue[-1] > 0.6 * red[-1], "the brightest is nearly white"


@pytest.mark.parametrize("hue", [(1.0, 1.0, 1.0), SAND_IN_LOW_SUN, (0.5, 0.7, 1.0)])
def test_more_light_is_never_darker(
    context: moderngl.Context, library: ShaderLibrary, hue: tuple[float, float, float]
) -> None:
    drawn = shown(context, library, hue)
    assert (np.diff(drawn @ LUMINANCE) > -1e-4).all() and drawn[0].max() < 0.1 and drawn[-1].min() > 0.6


def test_grey_stays_grey(context: moderngl.Context, library: ShaderLibrary) -> None:
    drawn = shown(context, library, (1.0, 1.0, 1.0))
    np.testing.assert_allclose(drawn, drawn[:, :1].repeat(3, axis=1), atol=2e-3)

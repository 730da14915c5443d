"""Overlays: ranges, and colours that stand for exactly the values of the map."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app import view_parameters
from app.passes import shaders as module
from app.passes.frame import FrameBlock
from app.passes.maps import LayerTextures, SurfaceMap
from app.passes.overlays import KINDS, LAYER, LINES, OVERLAYS, PALETTES, legend_colours, overlay_range, palette_texture
from app.passes.shaders import FullScreen, ShaderLibrary
from tests.passes.worlds import bumps, flat, plane, snapshot

PROBE = """#include "overlay.glsl"
uniform sampler2D surface;
in vec2 uv;
out vec4 colour;
void main() { colour = vec4(with_overlay(vec3(0.25), uv, textureLod(surface, uv, 0.0), 1.0), 1.0); }
"""


@pytest.fixture
def library(shaders: ShaderLibrary, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShaderLibrary]:
    read = module.read_shader
    monkeypatch.setattr(module, "read_shader", lambda name: PROBE if name == "probe.frag" else read(name))
    yield shaders


def test_every_choice_of_the_view_is_an_overlay_with_a_palette() -> None:
    assert tuple(OVERLAYS) == get_args(view_parameters.Overlay)
    computed = [overlay.number for overlay in OVERLAYS.values() if not overlay.layer]
    assert computed == list(range(LAYER))
    assert all(LAYER <= overlay.number <= LINES for overlay in OVERLAYS.values() if overlay.layer)
    assert {overlay.palette for overlay in OVERLAYS.values()} <= set(PALETTES)


def linear_palette(name: str, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Colour and opacity at places of a palette from 0 to 1, in linear light."""
    table = legend_colours(name, 256)
    srgb = table[:, :3]
    table[:, :3] = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    at = np.clip(t, 0.0, 1.0) * 255.0
    return np.stack([np.interp(at, np.arange(256), table[:, channel]) for channel in range(4)], axis=-1)


@pytest.mark.parametrize("name", [name for name in OVERLAYS if name not in ("none", "rivers")])
@pytest.mark.parametrize("opacity", [1.0, 0.4])
def test_colours_stand_for_the_values_of_the_map(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock, name: str, opacity: float
) -> None:
    start = snapshot(plane(24, 40, 4.0, 2.0), 0.5, world=1)
    layers = {
        "bedrock": start.layers["bedrock"] - 5.0 * bumps(24, 40).astype(np.float32),
        "sediment": (6.0 * bumps(24, 40, seed=2)).astype(np.float32),
        **{
            overlay.layer: bumps(24, 40, seed=number).astype(np.float32)
            for number, overlay in enumerate(OVERLAYS.values(), start=3)
            if overlay.layer
        },
    }
    layers["watersheds"] = np.floor(40.0 * layers["watersheds"])
    later = replace(start, layers=layers, versions=dict.fromkeys(layers, 1), cycle=1)
    low, high = overlay_range(name, later)
    frame_block.values["map"] = (40, 24, later.cell_size, 1.0)
    scaled = np.vectorize(OVERLAYS[name].scaled)
    frame_block.values["overlay"] = (OVERLAYS[name].number, opacity, scaled(low), scaled(high))
    frame_block.upload()
    surface, layers = SurfaceMap(context, library), LayerTextures(context)
    for shown in (start, later):
        surface.update(shown, layers.upload(shown))
    palette = palette_texture(context, name)
    texture = context.texture((40, 24), 4, dtype="f4")
    target, drawing, before = context.framebuffer([texture]), FullScreen(context, library, "probe.frag"), context.fbo
    layer = layers.texture(OVERLAYS[name].layer)
    drawing.program.bind(surface=surface.texture, initial=surface.initial, palette=palette, overlay_layer=layer)
    drawing.draw(target)
    before.use()
    seen = np.frombuffer(texture.read(), np.float32).reshape(24, 40, 4)[..., :3]

    joined = np.frombuffer(surface.texture.read(), np.float32).reshape(24, 40, 4).astype(np.float64)
    ground = (later.layers["bedrock"] + later.layers["sediment"]).astype(np.float64)
    values = {
        "elevation": ground,
        "slope": np.degrees(np.arctan(np.hypot(joined[..., 1], joined[..., 2]))),
        "sediment": later.layers["sediment"].astype(np.float64),
        "change": ground - (start.layers["bedrock"] + start.layers["sediment"]),
        **{
            overlay.name: later.layers[overlay.layer].astype(np.float64)
            for overlay in OVERLAYS.values()
            if overlay.layer
        },
    }[name]
    of_kinds = OVERLAYS[name].number == KINDS  # each has a texel of its own
    parts = (scaled(values) - scaled(low)) / (scaled(high) - scaled(low))
    colours = linear_palette(name, values / 255.0 if of_kinds else parts)
    part = colours[..., 3:] * opacity
    np.testing.assert_allclose(seen, 0.25 * (1.0 - part) + colours[..., :3] * part, atol=0.012)
    for made in (drawing, target, texture, palette, surface, layers):
        made.release()


@pytest.mark.parametrize("name", OVERLAYS)
@pytest.mark.parametrize("relief", [0.0, 1e-9, 0.7, 812.0, 1e5])
def test_ranges_are_finite_ordered_and_simple(name: str, relief: float) -> None:
    ground = flat(8, 8, 300.0)
    ground[0, 0] += relief
    low, high = overlay_range(name, snapshot(ground))
    assert math.isfinite(low) and math.isfinite(high) and low <= high
    if name in ("sediment", "change"):
        assert high > 0.0 and float(f"{high:.0e}") == pytest.approx(high)
    if name == "change":
        assert low == -high
    if name == "elevation":
        assert low == 300.0 and high == pytest.approx(300.0 + relief, abs=1e-3)


def test_a_flat_map_has_one_colour_of_elevation() -> None:
    """Rounding between two kinds of floats must not pick the ends of the palette by chance."""
    low, high = overlay_range("elevation", snapshot(flat(8, 8, 1234.567)))
    assert high - low > 0.9e-3

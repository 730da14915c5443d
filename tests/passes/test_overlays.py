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
from pyglm import glm

from app.model import view_parameters
from app.model.overlays import OVERLAYS, Overlay, Value, legend_colours, legend_names, overlay_range
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes import shaders as module
from app.picture.passes.frame import FrameBlock
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.materials import MaterialTextures
from app.picture.passes.overlays import OverlayMaps, palette_texture
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import bumps, flat, materials, plane, snapshot, with_layers, with_materials

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
    assert all(name == overlay.name for name, overlay in OVERLAYS.items())
    of_the_surface = [overlay.value for overlay in OVERLAYS.values() if not overlay.layers]
    assert of_the_surface == [Value.NONE, Value.ELEVATION, Value.SLOPE, Value.SEDIMENT, Value.CHANGE]
    assert {overlay.value for overlay in OVERLAYS.values()} == set(Value)
    assert all(len(overlay.palette) >= 2 for overlay in OVERLAYS.values())
    assert all(overlay.drawn or len(overlay.layers) <= 1 for overlay in OVERLAYS.values())


def of_one_layer() -> Iterator[Overlay]:
    """The overlays that show a layer of the snapshot without being drawn first."""
    return (overlay for overlay in OVERLAYS.values() if overlay.layers and not overlay.drawn)


def linear_palette(name: str, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Colour and opacity at places of a palette from 0 to 1, in linear light."""
    table = legend_colours(name, 256)
    srgb = table[:, :3]
    table[:, :3] = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    at = np.clip(t, 0.0, 1.0) * 255.0
    return np.stack([np.interp(at, np.arange(256), table[:, channel]) for channel in range(4)], axis=-1)


@pytest.mark.parametrize("name", [name for name, overlay in OVERLAYS.items() if name != "none" and not overlay.drawn])
@pytest.mark.parametrize("opacity", [1.0, 0.4])
def test_colours_stand_for_the_values_of_the_map(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock, name: str, opacity: float
) -> None:
    start = snapshot(plane(24, 40, 4.0, 2.0), 0.5, world=1)
    layers = {
        "bedrock": start.layers["bedrock"] - 5.0 * bumps(24, 40).astype(np.float32),
        "sediment": (6.0 * bumps(24, 40, seed=2)).astype(np.float32),
        **{
            overlay.layers[0]: bumps(24, 40, seed=number).astype(np.float32)
            for number, overlay in enumerate(of_one_layer(), start=3)
        },
    }
    layers["watersheds"] = np.floor(40.0 * layers["watersheds"])
    later = replace(start, layers=layers, versions=dict.fromkeys(layers, 1), cycle=1)
    low, high = overlay_range(name, later)
    frame_block.values["map"] = (40, 24, later.cell_size, 1.0)
    scaled = np.vectorize(OVERLAYS[name].scaled)
    frame_block.values["overlay"] = (OVERLAYS[name].value, opacity, scaled(low), scaled(high))
    frame_block.upload()
    surface, layers = SurfaceMap(context, library), LayerTextures(context)
    for shown in (start, later):
        surface.update(shown, layers.upload(shown))
    palette = palette_texture(context, name)
    texture = context.texture((40, 24), 4, dtype="f4")
    target, drawing, before = context.framebuffer([texture]), FullScreen(context, library, "probe.frag"), context.fbo
    layer = surface.initial if name == "change" else layers.texture("".join(OVERLAYS[name].layers))
    drawing.program.bind(surface=surface.texture, palette=palette, overlay_layer=layer)
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
        **{overlay.name: later.layers[overlay.layers[0]].astype(np.float64) for overlay in of_one_layer()},
    }[name]
    of_kinds = OVERLAYS[name].value is Value.KIND  # each has a texel of its own
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


# Overlays that are drawn as maps first.


def drawn_map(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock, name: str, shown: Snapshot
) -> NDArray[np.float32]:
    """The map of an overlay: [row, column, (x, y)]."""
    rows, columns = shown.shape
    layers, materials, maps = LayerTextures(context), MaterialTextures(context), OverlayMaps(context, library)
    before = context.fbo
    layers.upload(shown)
    materials.show(shown.materials)
    frame_block.values["map"] = (columns, rows, shown.cell_size, 1.0)
    frame_block.values["ground_look"] = (2.0, 0.0, 0.2, 100.0)
    frame_block.values["strata"] = (1.0 / materials.depth, 10.0, 0.0, 0.0)
    frame_block.values["wind"] = (1.0, 0.0, 0.0, 0.0)
    frame_block.upload()
    texture = maps.texture(name, shown, layers, materials.textures())
    drawn = np.frombuffer(texture.read(), np.float32).reshape(rows, columns, 2).copy()
    before.use()
    for made in (layers, materials, maps):
        made.release()
    return drawn


def test_the_material_is_what_lies_there_or_the_rock_where_it_is_bare(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock
) -> None:
    made = materials(("sandstone", 30.0), ("clay", 30.0), ("granite", math.inf))
    generator = np.random.default_rng(4)
    rock = generator.uniform(-50.0, 110.0, (24, 40))
    thickness = generator.choice([0.0, 0.05, 0.2, 3.0], (24, 40))
    first, second = generator.integers(0, len(made.loose), (2, 24, 40))
    kinds = first + 16 * second + 256 * generator.integers(0, 128, (24, 40))
    rise = generator.uniform(80.0, 120.0, (24, 40))
    shown = with_materials(snapshot(rock, thickness), made, kinds, rise)
    depth = shown.layers["strata_rise"].astype(float) - shown.layers["bedrock"]
    stratum = np.where(depth < 30.0, 0, np.where(depth < 60.0, 1, 2))
    expected = np.where(thickness > 0.1, first, len(made.loose) + stratum)
    seen = drawn_map(context, library, frame_block, "material", shown)[..., 0]
    clear = np.abs(depth[..., None] - [0.0, 30.0, 60.0]).min(axis=-1) > 2.0 * made.metres_per_step
    np.testing.assert_array_equal(seen[clear], expected[clear])
    assert len(np.unique(seen)) > 5


def test_a_world_of_one_sort_of_ground_has_nothing_to_tell_of_materials(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock
) -> None:
    shown = snapshot(bumps(10, 12), 1.0)
    assert (drawn_map(context, library, frame_block, "material", shown) == 0.0).all()
    assert legend_names("material", shown) == []
    palette = palette_texture(context, "material")
    assert np.frombuffer(palette.read(), np.float32).reshape(-1, 4)[0, 3] == 0.0
    palette.release()


def test_the_legend_names_each_colour_of_the_materials(context: moderngl.Context) -> None:
    made = materials(("sandstone", 30.0), ("clay", math.inf))
    shown = with_materials(snapshot(bumps(10, 12), 1.0), made)
    named = legend_names("material", shown)
    assert [name for name, _ in named] == ["Clay", "Gravel", "Sand", "Soil", "Sandstone", "Clay, solid"]
    assert len({colour for _, colour in named}) == len(named)
    palette = palette_texture(context, "material", made)
    told = np.frombuffer(palette.read(), np.float32).reshape(-1, 4)
    linear = [
        [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb] for _, rgb in named
    ]
    np.testing.assert_allclose(told[: len(named), :3], linear, atol=1e-4)
    assert (told[: len(named), 3] == 1.0).all() and (told[len(named) :, 3] == 0.0).all()
    palette.release()


def test_the_wind_is_that_of_its_field_or_the_prevailing_one(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock
) -> None:
    land = snapshot(bumps(10, 12))
    still = drawn_map(context, library, frame_block, "wind", land)
    np.testing.assert_array_equal(still, np.broadcast_to(np.float32([1.0, 0.0]), (10, 12, 2)))
    blown = with_layers(land, wind_field_south=bumps(10, 12, seed=5) - 0.5, wind_field_east=2.0 * bumps(10, 12, seed=6))
    seen = drawn_map(context, library, frame_block, "wind", blown)
    np.testing.assert_array_equal(seen[..., 0], blown.layers["wind_field_east"])
    np.testing.assert_array_equal(seen[..., 1], blown.layers["wind_field_south"])


@pytest.mark.parametrize("blows", [(1.0, 0.0), (0.0, 1.0), (0.6, 0.8)])
def test_streaks_lie_along_the_wind(draw: Draw, blows: tuple[float, float]) -> None:
    """Seen from above, brightness changes less along the wind than across it, and it moves with the time."""
    shown = with_layers(snapshot(flat(80, 80)), wind_field_east=blows[0], wind_field_south=blows[1])
    scene = Scene().with_values({"view.overlay": "wind", "view.overlay_opacity": 1.0, "view.quality": "medium"})
    camera = Camera(glm.vec3(400.0, 0.0, 400.0), 0.0, 90.0, 600.0)
    pixels = draw(shown, camera, scene, size=(240, 240)).astype(float).mean(axis=2)
    across_columns, across_rows = np.gradient(pixels, axis=1), np.gradient(pixels, axis=0)
    along = np.abs(blows[0] * across_columns + blows[1] * across_rows).mean()
    across = np.abs(-blows[1] * across_columns + blows[0] * across_rows).mean()
    assert along < 0.6 * across
    assert pixels.std() > 4.0
    later = draw(shown, camera, scene, size=(240, 240), time=2.0).astype(float).mean(axis=2)
    assert np.abs(later - pixels).mean() > 1.0

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
from scipy import ndimage

from app.model import view_parameters
from app.model.legends import legend, legend_colours, legend_names
from app.model.overlays import (
    CONTOURS,
    OVERLAYS,
    Overlay,
    Value,
    overlay_ends,
    overlay_range,
)
from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes import shaders as module
from app.picture.passes.frame import FrameBlock
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.materials import MaterialTextures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.overlays import OverlayMaps, palette_texture
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.scene.scene import Scene
from kernels.neighbours import COLUMN_STEPS, LENGTHS, ROW_STEPS
from kernels.rock import INTRUDED
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


def test_colours_stand_for_the_values_of_the_map(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock, subtests: pytest.Subtests
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
    frame_block.values["map"] = (40, 24, later.cell_size, 1.0)
    frame_block.upload()
    surface, textures = SurfaceMap(context, library), LayerTextures(context)
    for shown in (start, later):
        surface.update(shown, textures.upload(shown))
    target = context.framebuffer([context.texture((40, 24), 4, dtype="f4")])
    drawing, before = FullScreen(context, library, "probe.frag"), context.fbo

    joined = np.frombuffer(surface.texture.read(), np.float32).reshape(24, 40, 4).astype(np.float64)
    ground = (later.layers["bedrock"] + later.layers["sediment"]).astype(np.float64)
    values = {
        "elevation": ground,
        "slope": np.degrees(np.arctan(np.hypot(joined[..., 1], joined[..., 2]))),
        "sediment": later.layers["sediment"].astype(np.float64),
        "change": ground - (start.layers["bedrock"] + start.layers["sediment"]),
        **{overlay.name: later.layers[overlay.layers[0]].astype(np.float64) for overlay in of_one_layer()},
    }
    assert list(values) == [name for name, overlay in OVERLAYS.items() if name != "none" and not overlay.drawn]

    def seen(name: str, opacity: float) -> NDArray[np.float32]:
        """What is drawn of an overlay: [row, column, (red, green, blue)]."""
        low, high = map(OVERLAYS[name].scaled, overlay_range(name, later))
        frame_block.values["overlay"] = (OVERLAYS[name].value, opacity, low, high)
        frame_block.values["part"] = (0.0, 0.0, min(1.4 * opacity, 1.0), 0.0)
        frame_block.upload()
        palette = palette_texture(context, name)
        layer = surface.initial if name == "change" else textures.texture("".join(OVERLAYS[name].layers))
        drawing.program.bind(surface=surface.texture, palette=palette, overlay_layer=layer)
        drawing.draw(target)
        palette.release()
        return np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(24, 40, 4)[..., :3]

    def looks_right(name: str, opacity: float) -> None:
        shown, overlay = seen(name, opacity), OVERLAYS[name]
        low, high = map(overlay.scaled, overlay_range(name, later))
        parts = (np.vectorize(overlay.scaled)(values[name]) - low) / (high - low)
        of_kinds = overlay.value is Value.KIND  # each has a texel of its own
        colours = linear_palette(name, values[name] / 255.0 if of_kinds else parts)
        part = colours[..., 3:] * opacity
        below = 0.25 * (1.0 - 0.5 * min(1.4 * opacity, 1.0))
        expected = below * (1.0 - part) + colours[..., :3] * part
        hatched = (parts < 0.5) & overlay.has_sides
        np.testing.assert_allclose(shown[~hatched], expected[~hatched], atol=0.012)
        darkest = below * (1.0 - part) + 0.5 * colours[..., :3] * part
        assert (shown[hatched] <= expected[hatched] + 0.012).all()
        assert (shown[hatched] >= darkest[hatched] - 0.012).all()

    for name in values:
        for opacity in (1.0, 0.4):
            with subtests.test(name=name, opacity=opacity):
                looks_right(name, opacity)
    before.use()
    for made in (drawing, target, target.color_attachments[0], surface, textures):
        made.release()


def seen_from_above(draw: Draw, shown: Snapshot, **values: object) -> NDArray[np.float64]:
    """The middle of a flat map, in levels of 8 bits: [row, column, (red, green, blue)]."""
    scene = Scene().with_values({"view.quality": "medium", **{f"view.{name}": value for name, value in values.items()}})
    return draw(shown, ABOVE, scene, size=(240, 240)).astype(float)[60:180, 60:180]


def test_land_below_a_clear_palette_is_darker_and_nearly_grey(draw: Draw) -> None:
    shown = with_layers(snapshot(flat(60, 60), 0.0), wetness=0.0)
    alone = seen_from_above(draw, shown, overlay="none", greenness=1.0).mean(axis=(0, 1))
    below = seen_from_above(draw, shown, overlay="wetness", greenness=1.0).mean(axis=(0, 1))
    assert below.sum() < 0.85 * alone.sum()
    assert np.ptp(below) / below.max() < 0.6 * np.ptp(alone) / alone.max()


def test_what_is_not_computed_leaves_the_land_as_it_is_and_is_said(draw: Draw) -> None:
    bare = snapshot(flat(60, 60), 0.0)
    for name in ("accumulation", "discharge", "protection"):
        alone, unknown = (seen_from_above(draw, bare, overlay=overlay) for overlay in ("none", name))
        np.testing.assert_allclose(unknown, alone, atol=1.0)
    for name, note in (
        ("accumulation", "not computed yet"),
        ("discharge", "this world has none"),
        ("rain_field", "nothing painted yet"),
    ):
        told = legend(name, [bare])
        known = legend(name, [with_layers(bare, **{OVERLAYS[name].layers[0]: 1.0})])
        assert told is not None and (told.ends, told.note) == (("", ""), note)
        assert known is not None and all(known.ends) and known.note != note
    assert legend("none", [bare]) is None


@pytest.mark.parametrize("distance", [80.0, 200.0, 500.0])
def test_the_lower_of_two_sides_is_hatched_as_wide_from_anywhere(draw: Draw, distance: float) -> None:
    """From west to east the momentum goes from one side to the other; lines cross the western half alone."""
    towards = np.where(np.arange(60) < 30, -1.0, 1.0).astype(np.float32)
    shown = with_layers(snapshot(flat(60, 60)), momentum_east=np.broadcast_to(towards, (60, 60)))
    scene = Scene().with_values(
        {"view.overlay": "momentum_east", "view.overlay_opacity": 1.0, "view.quality": "medium"}
    )
    camera = Camera(glm.vec3(300.0, 0.0, 300.0), 0.0, 90.0, distance)
    pixels = draw(shown, camera, scene, size=(240, 240)).astype(float).mean(axis=2)[40:200]
    west, east = pixels[:, 10:105], pixels[:, 135:230]
    assert west.std() > 1.4 * east.std()
    dark = west < 0.5 * (west.min() + west.max())
    between = np.diff(np.flatnonzero(dark[80, 1:] & ~dark[80, :-1]))
    assert between.size and 8.0 <= between.mean() <= 40.0


def test_watersheds_part_by_lines(draw: Draw) -> None:
    """Where two meet there is a dark line, whatever their hues, and none within them."""
    number = np.where(np.arange(60) < 30, 1.0, 2.0).astype(np.float32)
    shown = with_layers(snapshot(flat(60, 60)), watersheds=np.broadcast_to(number, (60, 60)))
    scene = Scene().with_values({"view.overlay": "watersheds", "view.overlay_opacity": 1.0, "view.quality": "medium"})
    camera = Camera(glm.vec3(300.0, 0.0, 300.0), 0.0, 90.0, 120.0)
    across = draw(shown, camera, scene, size=(240, 240)).astype(float).mean(axis=2)[60:180].mean(axis=0)
    sides = min(across[20:110].min(), across[130:220].min())
    assert across[115:125].min() < 0.7 * sides


def test_ranges_are_finite_ordered_and_simple(subtests: pytest.Subtests) -> None:
    for relief in (0.0, 1e-9, 0.7, 812.0, 1e5):
        ground = flat(8, 8, 300.0)
        ground[0, 0] += relief
        shown = snapshot(ground)
        for name in OVERLAYS:
            with subtests.test(name=name, relief=relief):
                low, high = overlay_range(name, shown)
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
    layers, materials, maps = (
        LayerTextures(context),
        MaterialTextures(context, Mipmaps(context, library)),
        OverlayMaps(context, library),
    )
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
    made = materials(("sandstone", 30.0), ("clay", 30.0), ("siltstone", math.inf), intrusion="granite")
    generator = np.random.default_rng(4)
    rock = generator.uniform(-50.0, 110.0, (24, 40))
    thickness = generator.choice([0.0, 0.05, 0.2, 3.0], (24, 40))
    first, second = generator.integers(0, len(made.loose), (2, 24, 40))
    kinds = first + 16 * second + 256 * generator.integers(0, 128, (24, 40))
    rise = generator.uniform(80.0, 120.0, (24, 40))
    rise[:, 30:] += INTRUDED
    shown = with_materials(snapshot(rock, thickness), made, kinds, rise)
    depth = shown.layers["strata_rise"].astype(float) - shown.layers["bedrock"]
    stratum = np.where(depth < 30.0, 1, np.where(depth < 60.0, 2, 3))
    stratum[:, 30:] = 0
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


@pytest.mark.parametrize(
    ("lowest", "highest", "sea"), [(3.0, 812.0, -math.inf), (-400.0, 96.0, 0.0), (1.0, 1.7, -math.inf)]
)
def test_contours_lie_at_round_heights_of_the_land(lowest: float, highest: float, sea: float) -> None:
    shown = replace(snapshot(flat(8, 8)), lowest=lowest, highest=highest, sea_level=sea)
    low, high = overlay_range("filled", shown)
    apart = (high - low) / CONTOURS
    digits = apart / 10.0 ** math.floor(math.log10(apart) + 1e-9)
    assert min(abs(digits - step) for step in (1.0, 2.0, 5.0)) < 1e-6
    assert low / apart == pytest.approx(round(low / apart), abs=1e-6)
    assert low <= max(lowest, sea) < low + apart
    assert highest <= high
    assert overlay_ends("filled", shown)[1].endswith(f"a line each {apart:.3g} m")


def test_the_filled_surface_and_its_lines_are_drawn_where_the_land_is(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock
) -> None:
    land = snapshot(bumps(10, 12))
    shown = with_layers(land, filled=bumps(10, 12, seed=5), lake_depth=bumps(10, 12, seed=6))
    seen = drawn_map(context, library, frame_block, "filled", shown)
    np.testing.assert_array_equal(seen[..., 0], shown.layers["filled"])
    np.testing.assert_array_equal(seen[..., 1], shown.layers["lake_depth"])
    assert (drawn_map(context, library, frame_block, "filled", land)[..., 0] < -1e29).all(), (
        "not known: nothing is shown"
    )


def test_lines_of_equal_height_run_along_the_filled_surface(draw: Draw) -> None:
    """Seen from above, a slope to the east has dark lines from north to south, evenly spaced; a lake has none."""
    slope = np.broadcast_to(np.linspace(0.0, 190.0, 80, dtype=np.float32), (80, 80))
    lake = np.where(np.arange(80)[:, None] < 40, slope, np.float32(83.0))
    scene = Scene().with_values({"view.overlay": "filled", "view.overlay_opacity": 1.0, "view.quality": "medium"})
    shown = with_layers(replace(snapshot(flat(80, 80)), highest=190.0), filled=lake, lake_depth=lake - slope)
    camera = Camera(glm.vec3(400.0, 0.0, 400.0), 0.0, 90.0, 1500.0)
    pixels = draw(shown, camera, scene, size=(400, 400)).astype(float).mean(axis=2)
    upper, lower = (pixels[rows, 100:300] for rows in (slice(120, 180), slice(220, 280)))
    brightness = upper.mean(axis=0)
    dark = brightness < ndimage.median_filter(brightness, 15) - 8.0
    lines = np.flatnonzero(dark[1:] & ~dark[:-1])
    low, high = overlay_range("filled", shown)
    assert len(lines) >= 6
    assert np.ptp(np.diff(lines)) <= 2
    metres_per_pixel = 2.0 * 1500.0 * math.tan(math.radians(camera.field_of_view / 2.0)) / 400.0
    rise = 190.0 / 79.0 / shown.cell_size  # in a metre to the east
    assert np.diff(lines).mean() == pytest.approx((high - low) / CONTOURS / rise / metres_per_pixel, rel=0.1)
    assert np.ptp(lower.mean(axis=0)) < 0.3 * np.ptp(brightness), "a level surface has no lines"


def test_flow_directions_are_steps_of_one_length(
    context: moderngl.Context, library: ShaderLibrary, frame_block: FrameBlock
) -> None:
    numbers = np.arange(120).reshape(10, 12) % 10  # 0: sea, 9: an outlet
    shown = with_layers(snapshot(bumps(10, 12)), flow_directions=numbers)
    seen = drawn_map(context, library, frame_block, "flow_directions", shown)
    ways = np.zeros((10, 2))
    ways[1:9] = np.column_stack([COLUMN_STEPS, ROW_STEPS]) / LENGTHS[:, None]
    np.testing.assert_allclose(seen, ways[numbers], atol=1e-6)


def bearing_of(number: int) -> float:
    return math.degrees(math.atan2(COLUMN_STEPS[number], -ROW_STEPS[number])) % 360.0


def test_directions_have_the_colours_of_the_legend(draw: Draw, subtests: pytest.Subtests) -> None:
    """Between the arrows, the colour of land that drains one way is nearest to that of its name."""
    scene = Scene().with_values({"view.overlay": "flow_directions", "view.overlay_opacity": 1.0})
    compass = ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"]
    for number in range(8):
        with subtests.test(number=number):
            shown = with_layers(snapshot(flat(60, 60)), flow_directions=1.0 + number)
            pixels = draw(shown, ABOVE, scene, size=(240, 240)).astype(float)[60:180, 60:180].reshape(-1, 3)
            named = dict(legend_names("flow_directions", shown))
            tint = np.median(pixels, axis=0)
            tint = tint / tint.sum()
            away = {name: np.abs(np.array(colour) / sum(colour) - tint).sum() for name, colour in named.items()}
            assert list(named) == compass
            assert min(away, key=away.__getitem__) == compass[round(bearing_of(number) / 45.0)]


ABOVE = Camera(glm.vec3(300.0, 0.0, 300.0), 0.0, 90.0, 500.0)


@pytest.mark.parametrize("distance", [150.0, 300.0, 600.0, 900.0])
def test_arrows_are_as_large_on_the_screen_from_anywhere(draw: Draw, distance: float) -> None:
    """Of land that drains one way, they are evenly spaced, by no fewer pixels than they should be, and by few more."""
    shown = with_layers(snapshot(flat(120, 120)), flow_directions=3.0)  # east
    scene = Scene().with_values(
        {"view.overlay": "flow_directions", "view.overlay_opacity": 1.0, "view.quality": "medium"}
    )
    camera = Camera(glm.vec3(600.0, 0.0, 600.0), 0.0, 90.0, distance)
    bright = draw(shown, camera, scene, size=(320, 320)).min(axis=2) > 185
    labels, count = ndimage.label(bright)
    sizes = ndimage.sum(bright, labels, np.arange(1, count + 1))
    arrows = np.array(ndimage.center_of_mass(bright, labels, 1 + np.flatnonzero(sizes > 20)))
    assert len(arrows) >= 9
    apart = np.hypot(*(arrows[:, None] - arrows[None]).T)
    nearest = np.sort(apart, axis=0)[1]
    assert np.median(nearest) >= 20.0
    assert np.median(nearest) <= 80.0 if distance >= 300.0 else True, "nearby there is one for each cell"


def test_arrows_point_the_way_of_the_water(draw: Draw, subtests: pytest.Subtests) -> None:
    """The head of an arrow has more of it than its tail: its middle lies before that of its box, along the way."""
    scene = Scene().with_values(
        {"view.overlay": "flow_directions", "view.overlay_opacity": 1.0, "view.quality": "medium"}
    )
    for number in range(8):
        with subtests.test(number=number):
            shown = with_layers(snapshot(flat(60, 60)), flow_directions=1.0 + number)
            bright = draw(shown, ABOVE, scene, size=(320, 320)).min(axis=2) > 185
            labels, count = ndimage.label(bright)
            way = np.array([ROW_STEPS[number], COLUMN_STEPS[number]]) / LENGTHS[number]
            ahead = []
            for place in range(1, count + 1):
                cells = np.argwhere(labels == place)
                along = cells @ way
                if len(cells) > 20 and np.ptp(along) > 12.0:
                    ahead.append(along.mean() - 0.5 * (along.min() + along.max()))
            assert len(ahead) > 8
            assert np.median(ahead) > 0.5

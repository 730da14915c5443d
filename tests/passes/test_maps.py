"""Map textures: what is uploaded and when, the surface and its slopes, light and how it is baked over frames."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.model.snapshot import BURDEN, Snapshot
from app.picture.passes import maps, unlocked
from app.picture.passes.cover import CoverMap
from app.picture.passes.frame import FrameBlock
from app.picture.passes.held import held
from app.picture.passes.maps import LayerTextures, Lighting, LightMap, SurfaceMap
from app.picture.passes.quality import BY_NAME
from app.picture.passes.relief import Relief
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.valleys import ValleyFloors, valley_floors
from tests.nets.cases import tried
from tests.passes.worlds import bumps, flat, hills, plane, snapshot, with_layers

HIGH = BY_NAME["high"]


def texels(texture: moderngl.Texture) -> NDArray[np.float32]:
    """What a texture holds, `[row, column, channel]`, and one channel without the last axis."""
    width, height = texture.size
    kind = {"f1": np.uint8, "f2": np.float16, "f4": np.float32}[texture.dtype]
    content = np.frombuffer(texture.read(alignment=1), kind).reshape(height, width, texture.components)
    content = content[..., 0] if texture.components == 1 else content
    return content / np.float32(255.0) if texture.dtype == "f1" else content.astype(np.float32)


# Layers.


class Writes:
    """Counts the uploads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        upload = unlocked.upload

        def counted(texture: moderngl.Texture, layer: NDArray[np.float32]) -> None:
            self.count += 1
            upload(texture, layer)

        monkeypatch.setattr(unlocked, "upload", counted)

    def taken(self) -> int:
        count, self.count = self.count, 0
        return count


@pytest.fixture
def layers(context: moderngl.Context) -> Iterator[LayerTextures]:
    layers = LayerTextures(context)
    yield layers
    layers.release()


def holds(textures: dict[str, moderngl.Texture], shown: Snapshot) -> bool:
    return all(np.array_equal(texels(textures[name]), layer) for name, layer in shown.layers.items())


@pytest.mark.parametrize("shape", [(8, 8), (9, 31), (31, 9), (1, 5)])
def test_textures_hold_the_bits_of_the_layers(layers: LayerTextures, shape: tuple[int, int]) -> None:
    shown = snapshot(bumps(*shape) - 0.5, bumps(*shape, seed=2))
    textures = layers.upload(shown)
    assert textures["bedrock"].size == shape[::-1]
    assert holds(textures, shown)


def test_the_set_in_use_is_not_written_to(layers: LayerTextures) -> None:
    first, second, third = (snapshot(flat(8, 8, height), world=1, cycle=height) for height in (1, 2, 3))
    in_use = layers.upload(first)
    written = layers.upload(second)
    assert in_use["bedrock"] is not written["bedrock"]
    assert holds(in_use, first) and holds(written, second)
    assert layers.upload(third)["bedrock"] is in_use["bedrock"]


def test_only_what_changed_is_uploaded(layers: LayerTextures, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = Writes(monkeypatch)
    shown = snapshot(flat(8, 8, 1.0), 1.0, world=1)
    layers.upload(shown)
    layers.upload(shown)
    assert writes.taken() == 2 * len(shown.layers), "each of the two sets is filled once"
    layers.upload(shown)
    assert writes.taken() == 0
    rained = replace(
        shown,
        layers={**shown.layers, "sediment": flat(8, 8, 2.0)},
        versions={**shown.versions, "sediment": 1},
    )
    for _ in range(2):
        assert holds(layers.upload(rained), rained)
        assert writes.taken() == 1
    assert holds(layers.upload(rained), rained)
    assert writes.taken() == 0


def test_another_world_with_the_same_versions_is_uploaded(layers: LayerTextures) -> None:
    for number in range(4):
        shown = snapshot(flat(8, 8, float(number)), world=number)
        assert holds(layers.upload(shown), shown)


def test_another_size_is_another_texture(layers: LayerTextures) -> None:
    for shape in [(8, 8), (8, 16), (16, 8), (8, 8), (8, 8), (64, 64)]:
        shown = snapshot(bumps(*shape), world=5)
        assert holds(layers.upload(shown), shown)


# Surface.


@pytest.fixture
def surface(context: moderngl.Context, shaders: ShaderLibrary) -> Iterator[SurfaceMap]:
    surface = SurfaceMap(context, shaders)
    yield surface
    surface.release()


def join(surface: SurfaceMap, layers: LayerTextures, block: FrameBlock, shown: Snapshot) -> NDArray[np.float32]:
    rows, columns = shown.shape
    block.values["map"] = (columns, rows, shown.cell_size, 1.0)
    block.upload()
    surface.update(shown, layers.upload(shown))
    return texels(surface.texture)


@pytest.mark.parametrize("shape", [(8, 8), (9, 31), (31, 9), (64, 64)])
@pytest.mark.parametrize("cell_size", [0.01, 10.0, 10_000.0])
def test_a_plane_has_its_slope_everywhere_also_at_the_edges(
    surface: SurfaceMap, layers: LayerTextures, frame_block: FrameBlock, shape: tuple[int, int], cell_size: float
) -> None:
    ground = plane(*shape, east=3.0 * cell_size, south=-0.5 * cell_size)
    joined = join(surface, layers, frame_block, snapshot(ground, cell_size=cell_size))
    np.testing.assert_array_equal(joined[..., 0], ground.astype(np.float32))
    np.testing.assert_allclose(joined[..., 1], 3.0, rtol=1e-4)
    np.testing.assert_allclose(joined[..., 2], -0.5, rtol=1e-3)


def test_all_that_raises_the_ground_is_seen(
    context: moderngl.Context, surface: SurfaceMap, layers: LayerTextures, frame_block: FrameBlock
) -> None:
    """Where there is nothing else, too: what lay there before is gone."""
    floors = ValleyFloors(context)
    shown = snapshot(plane(9, 31, east=3.0, south=1.0), 2.0)
    snow = np.arange(9.0 * 31.0, dtype=np.float32).reshape(9, 31)
    versions = shown.versions | {"burden": 1}
    with_snow = replace(shown, layers=shown.layers | {"burden": snow}, versions=versions)
    for each in (shown, with_snow, shown):
        joined = join(surface, layers, frame_block, each)
        np.testing.assert_allclose(joined[..., 0], each.ground(), rtol=1e-6)
        assert (joined[..., 3] == 2.0).all()
        floors.update(each)
        assert np.frombuffer(floors.texture.read(), np.float32).max() == valley_floors(each.ground()).max()
    floors.release()


def scharr(ground: NDArray[np.float64], cell_size: float) -> NDArray[np.float64]:
    """Slopes to the east and south inside of the map, from the weights of Scharr's article."""
    weights = np.array([[-3, 0, 3], [-10, 0, 10], [-3, 0, 3]]) / (32.0 * cell_size)
    windows = np.lib.stride_tricks.sliding_window_view(ground, (3, 3))
    return np.stack([(windows * kernel).sum(axis=(2, 3)) for kernel in (weights, weights.T)], axis=-1)


@settings(tried(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(8, 40), columns=st.integers(8, 40), seed=st.integers(0, 99))
def test_slopes_are_scharrs_and_elevation_is_the_sum_of_the_layers(
    surface: SurfaceMap, layers: LayerTextures, frame_block: FrameBlock, rows: int, columns: int, seed: int
) -> None:
    shown = snapshot(bumps(rows, columns, seed=seed, height=50.0), bumps(rows, columns, seed=seed + 1), cell_size=7.0)
    joined = join(surface, layers, frame_block, shown)
    ground = shown.layers["bedrock"] + shown.layers["sediment"]
    np.testing.assert_array_equal(joined[..., 0], ground)
    np.testing.assert_array_equal(joined[..., 3], shown.layers["sediment"])
    np.testing.assert_allclose(joined[1:-1, 1:-1, 1:3], scharr(ground.astype(np.float64), 7.0), atol=1e-4)


def test_the_start_is_kept_for_each_world(surface: SurfaceMap, layers: LayerTextures, frame_block: FrameBlock) -> None:
    for world, shape in ((1, (8, 8)), (2, (8, 8)), (3, (8, 16)), (1, (16, 8))):
        start = snapshot(bumps(*shape, seed=world), world=world)
        later = snapshot(bumps(*shape, seed=world) - 0.5, world=world, cycle=9)
        join(surface, layers, frame_block, start)
        joined = join(surface, layers, frame_block, later)
        np.testing.assert_array_equal(texels(surface.initial), start.layers["bedrock"])
        np.testing.assert_array_equal(joined[..., 0], later.layers["bedrock"])


# Cover.


@pytest.fixture
def cover(context: moderngl.Context, shaders: ShaderLibrary) -> Iterator[CoverMap]:
    cover = CoverMap(context, shaders)
    yield cover
    cover.release()


def test_wetness_that_is_found_now_and_then_changes_in_each_cycle(
    cover: CoverMap, layers: LayerTextures, frame_block: FrameBlock
) -> None:
    """From what was found before to what is, in as many cycles; ground that water has left is neither until then."""

    def shown(cycle: int, wetness: float, water: float = 0.0, world: int = 1) -> float:
        state = with_layers(snapshot(flat(16, 16), cycle=cycle), wetness=wetness, water=water)
        state = replace(state, world=world)
        layers.upload(state)
        cover.update(state, layers, {}, may_wait=False)
        return float(texels(cover.textures()["cover"])[8, 8, 0])

    assert [shown(cycle, 0.8) for cycle in range(4)] == [pytest.approx(0.8, abs=1 / 255)] * 4
    dries = [shown(cycle, 0.4 if cycle < 8 else 0.2) for cycle in range(4, 12)]
    np.testing.assert_allclose(dries, [0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25, 0.2], atol=1.5 / 255)
    assert shown(12, 1.0, water=2.0) == 1.0, "below water"
    left = [shown(cycle, 1.0) for cycle in range(13, 16)]
    assert all(0.2 < wetness < 0.65 for wetness in left), left
    assert shown(40, 0.5) == pytest.approx(0.5, abs=0.02), "after a leap, nearly all of it"
    assert shown(3, 0.9) == pytest.approx(0.9, abs=1 / 255), "back in time"
    assert shown(4, 0.1, world=2) == pytest.approx(0.1, abs=1 / 255), "another world"


# Light.


class Baker:
    """A light map with all that it reads."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, block: FrameBlock) -> None:
        self.layers = LayerTextures(context)
        self.surface = SurfaceMap(context, shaders)
        self.light = LightMap(context, shaders)
        self.block = block
        self.shown = snapshot(flat(8, 8))
        self.relief = 0  # that light is as fine as the cells
        self.none = context.texture((1, 1), 4, bytes(4))
        self.carved: moderngl.Texture | None = None  # a map of relief

    def show(self, shown: Snapshot, *, direction: float = 270.0, height: float = 30.0) -> Lighting:
        """Make ground and sun what a shader sees, and name them."""
        rows, columns = shown.shape
        self.shown = shown
        east, south = math.sin(math.radians(direction)), -math.cos(math.radians(direction))
        across, up = math.cos(math.radians(height)), math.sin(math.radians(height))
        self.block.values["map"] = (columns, rows, shown.cell_size, 1.0)
        self.block.values["heights"] = (shown.lowest, shown.highest, shown.lowest, max(rows, columns) * shown.cell_size)
        self.block.values["sun"] = (east * across, up, south * across, math.tan(min(math.radians(height), 1.56)))
        self.block.upload()
        self.surface.update(shown, self.layers.upload(shown))
        return Lighting(shown.world, shown.cycle, (direction, height, 1.0), (1, 1, 1))

    def bake(self, wanted: Lighting, *, at_once: bool = False, budget: int = HIGH.light_budget) -> None:
        """One frame's work."""
        quality = replace(HIGH, light_budget=budget, relief=self.relief)
        maps = {name: self.layers.texture(name) for name in (BURDEN, "strata_rise")} | {"benches": self.none}
        maps["relief"] = self.carved or self.none
        self.light.update(self.surface.texture, wanted, quality, at_once=at_once, of_relief=maps)

    def baked(self, shown: Snapshot, *, direction: float = 270.0, height: float = 30.0) -> NDArray[np.float32]:
        """Sun, sky and hollowness of each cell, `[row, column, channel]`."""
        self.bake(self.show(shown, direction=direction, height=height), at_once=True)
        return self.texels()

    def texels(self) -> NDArray[np.float32]:
        return texels(self.light.texture)

    def release(self) -> None:
        for part in (self.light, self.surface, self.layers, self.none):
            part.release()


@pytest.fixture
def baker(context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock) -> Iterator[Baker]:
    baker = Baker(context, shaders, frame_block)
    yield baker
    baker.release()


def test_what_one_level_has_beside_its_light_is_given_back_at_another(baker: Baker) -> None:
    def held_after(relief: int) -> int:
        baker.relief = relief
        for direction in (90.0, 180.0):  # both maps, that which is shown and the next
            baker.baked(snapshot(hills(20, 30) * 100.0), direction=direction)
        return held().textures

    without = held_after(0)
    assert held_after(3) > without
    assert held_after(0) == without


@pytest.mark.parametrize("height", [2.5, 27.0, 90.0])
@pytest.mark.parametrize("elevation", [0.0, 1e5])
def test_flat_ground_sees_all_of_sun_and_sky(baker: Baker, height: float, elevation: float) -> None:
    baked = baker.baked(snapshot(flat(12, 20, elevation)), height=height)
    assert (baked[..., :2] == 1.0).all()
    np.testing.assert_allclose(baked[..., 2], 0.5, atol=1 / 255)


@pytest.mark.parametrize("direction", [0.0, 45.0, 90.0, 135.0, 180.0, 225.0, 270.0, 315.0])
@pytest.mark.parametrize("height", [20.0, 40.0])
def test_the_shadow_of_a_tower_lies_away_from_the_sun_and_is_as_long_as_the_sun_is_low(
    baker: Baker, direction: float, height: float
) -> None:
    ground = flat(81, 81)
    ground[39:42, 39:42] = 100.0  # ten cells high, three wide
    dark = baker.baked(snapshot(ground), direction=direction, height=height)[..., 0] < 0.5
    dark[39:42, 39:42] = False
    row, column = np.nonzero(dark)
    # Away from the sun; row 0 is in the north.
    east, south = -math.sin(math.radians(direction)), math.cos(math.radians(direction))
    along = (column - 40) * east + (row - 40) * south
    aside = (column - 40) * south - (row - 40) * east
    assert along.min() > 0.0
    assert np.abs(aside).max() <= 3.5
    expected = 10.0 / math.tan(math.radians(height))  # from the tower's edge on
    reach = 1.5 * max(abs(east), abs(south)) + expected
    assert abs(along.max() - reach) <= 2.5


def test_the_edge_of_a_shadow_is_a_line_without_teeth(baker: Baker) -> None:
    """That of a wall along the map lies in the same cells of all rows, at levels that read it from the light itself."""
    ground = flat(40, 60)
    ground[:, 20:22] = 25.0  # two and a half cells high
    ground += 3.0 * np.sin(np.arange(60, dtype=np.float32))
    for height in (12.0, 25.0, 40.0):
        sun = baker.baked(snapshot(ground), height=height)[..., 0]
        assert (sun[:, 22] < 0.5).all() and (sun[:, 50] == 1.0).all()
        assert (sun == sun[:1]).all()


def test_shadows_reach_up_to_the_light_that_passes_what_casts_them(baker: Baker) -> None:
    """Behind a plateau the height falls off as the sun stands, wherever the ground lies within a cell or two of it."""
    baker.relief = HIGH.relief
    column = np.arange(80) + np.zeros((6, 1))
    beam = 200.0 - 5.0 * (column - 20.0)  # of a sun of 26.6°, in cells of 10 m
    ground = np.where(column <= 20, 200.0, np.where(column > 50, 5000.0, beam - 6.0 + 5.0 * np.sin(column)))
    baker.baked(snapshot(ground.astype(np.float32)), direction=270.0, height=math.degrees(math.atan(0.5)))
    assert baker.light.shade is not None
    shade = np.frombuffer(baker.light.shade.read(), np.float32).reshape(12, 160, 4)
    cell = (np.arange(160) + 0.5) / 2.0 - 0.5
    behind = (cell > 24.0) & (cell < 48.0)
    np.testing.assert_allclose(shade[6, behind, 0], 200.0 - 5.0 * (cell[behind] - 20.0), atol=6.0)
    far = (cell > 40.0) & (cell < 48.0)
    assert (shade[6, far, 1] < 10.0 * (cell[far] - 18.0)).all() and (shade[6, far, 1] > 0.0).all()
    assert (shade == shade[:1]).all(), "without the noise of a jitter"
    baker.relief = 0
    baker.baked(snapshot(flat(8, 8)))
    assert baker.light.shade is None


def test_light_can_have_the_form_of_relief_that_the_ground_is_drawn_without(baker: Baker) -> None:
    """Flanks of ribs that turn from the sun have less of it, gullies see less of the sky; flat ground has no ribs."""
    baker.block.values["ground_look"] = (1.0, 1.0, 1.0, 0.0)
    shown = {}
    for name, ground in {"slope": plane(60, 60, 6.0, 0.0), "flat": flat(60, 60)}.items():
        for relief in (0.0, 1.0):
            wanted = baker.show(snapshot(ground), direction=200.0)
            baker.bake(wanted._replace(relief=relief), at_once=True)
            shown[name, relief] = baker.texels()
    assert shown["slope", 1.0].shape[:2] == (120, 120)
    assert (shown["slope", 0.0][..., 0] == 1.0).all()
    sun, sky = shown["slope", 1.0][20:-20, 20:-20, 0], shown["slope", 1.0][20:-20, 20:-20, 1]
    assert 0.1 < (sun < 0.7).mean() < 0.6 and (sun > 1.0).mean() > 0.2
    assert np.diff(sun, axis=0).std() > 1.3 * np.diff(sun, axis=1).std(), "they run down the slope"
    assert sky.min() < 0.8 * shown["slope", 0.0][20:-20, 20:-20, 1].min()
    assert (shown["flat", 1.0][..., :2] == 1.0).all()


def test_light_shows_the_steps_gullies_and_streaks_of_a_map_of_relief(context: moderngl.Context, baker: Baker) -> None:
    """A wall faces the sun and is brighter, behind it is shade, a gully sees less of the sky, a streak is paler."""
    relief = np.zeros((80, 80, 4), np.float32)
    relief[..., 3] = 0.5
    relief[:40, 40:60, 0] = 2.0  # a block, a cell high
    relief[:40, 39:41, 1] = 4.0  # its western flank
    relief[50:54, 20:30, 0] = -0.6
    relief[60:70, 30:40, 3] = 1.0
    wanted = baker.show(snapshot(plane(40, 40, 2.0, 0.0)), direction=270.0, height=35.0)._replace(relief=1.0)
    key = Relief(wanted.world, 0, 1.0, 2, 1.0, 1.0)
    baker.carved = context.texture((80, 80), 4, relief.tobytes(), dtype="f4")
    baker.carved.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    baker.carved.build_mipmaps()
    baker.bake(wanted._replace(carved=key), at_once=True)
    sun, sky = baker.texels()[..., 0], baker.texels()[..., 1]
    baker.carved.release()
    plain_sun, plain_sky = sun[72, 72], sky[72, 72]
    assert sun[20, 39:41].min() > 1.2 * plain_sun
    assert sun[20, 61] < 0.2 * plain_sun < plain_sun == pytest.approx(sun[45, 61], rel=0.05)
    assert sky[51, 24] < 0.8 * plain_sky
    assert sun[65, 35] > 1.1 * plain_sun


def test_light_with_relief_gets_finer_where_the_ground_rests(baker: Baker) -> None:
    """While it changes its light is that of cells, and what would only be finer is given up."""
    baker.block.values["ground_look"] = (1.0, 1.0, 1.0, 0.0)
    hilly = snapshot(hills(24, 30) * 100.0)

    def sizes(cycle: int, budget: int = 10_000) -> tuple[tuple[int, int], bool]:
        wanted = baker.show(replace(hilly, cycle=cycle))._replace(relief=1.0)
        baker.bake(wanted, budget=budget)
        return baker.light.texture.size, baker.light.settled(wanted)

    assert sizes(0) == ((30, 24), False)
    assert sizes(0) == ((60, 48), True)
    assert sizes(1) == ((30, 24), False)
    assert sizes(1, budget=600) == ((30, 24), False)
    assert sizes(2, budget=720) == ((30, 24), False)
    assert baker.light.baked is not None and baker.light.baked.cycle == 2
    assert [sizes(2) for _ in range(2)][-1] == ((60, 48), True)


def test_a_shadow_ends_at_the_height_that_the_sun_passes(baker: Baker) -> None:
    ground = flat(16, 64)
    ground[:, 6:9] = 80.0
    on_flat = baker.baked(snapshot(ground), direction=270.0, height=45.0)[8, :, 0]
    ground[:, 12:] = 60.0  # a plateau: the ray over the wall comes down on it 2 cells behind the wall and not 8
    on_plateau = baker.baked(snapshot(ground), direction=270.0, height=45.0)[8, :, 0]
    assert (on_flat[9:16] < 0.5).all() and (on_flat[18:] > 0.5).all()
    assert (on_plateau[9:12] < 0.5).all() and (on_plateau[12:] > 0.5).all()


def test_a_pit_is_darker_than_the_plain_and_hollow_and_a_top_is_neither(baker: Baker) -> None:
    ground = flat(48, 48)
    ground[10:15, 10:15] = -60.0
    ground[34:37, 34:37] = 60.0
    baked = baker.baked(snapshot(ground), height=60.0)
    plain, pit, top = baked[24, 4], baked[12, 12], baked[35, 35]
    assert pit[1] < 0.5 * plain[1]
    assert pit[2] > 0.6 > plain[2] > 0.4 > top[2]


@pytest.mark.parametrize("budget", [1, 100, 700, 10_000])
def test_light_baked_in_bands_is_the_light_baked_at_once(baker: Baker, budget: int) -> None:
    start, shown = snapshot(flat(37, 50), world=1), snapshot(hills(37, 50) * 200.0, world=1, cycle=1)
    expected = baker.baked(snapshot(hills(37, 50) * 200.0))
    baker.baked(start)
    before = baker.texels()
    wanted = baker.show(shown)
    frames = math.ceil(37 / max(1, budget // 50))
    for _ in range(frames):
        assert not baker.light.settled(wanted)
        np.testing.assert_array_equal(baker.texels(), before, "a texture that is half baked is not shown")
        baker.bake(wanted, budget=budget)
    assert baker.light.settled(wanted)
    np.testing.assert_array_equal(baker.texels(), expected)


def test_settled_light_is_not_baked_again(baker: Baker, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = baker.show(baker.shown)
    assert not baker.light.settled(wanted) and not baker.light.settled(None)
    baker.bake(wanted)
    assert baker.light.settled(wanted)
    monkeypatch.setattr(baker.light, "_bake", lambda *arguments: pytest.fail("baked again"))
    baker.bake(wanted)
    baker.bake(wanted, at_once=True)


def test_a_change_while_light_is_baked_is_baked_after_it(baker: Baker) -> None:
    """Also one after the other: a world that changes in each frame still gets new light from time to time."""
    ground = hills(32, 32) * 200.0
    baker.baked(snapshot(ground, world=1))
    finished = 0
    before = baker.texels()
    for cycle in range(1, 40):
        baker.bake(baker.show(snapshot(ground * (1.0 - 0.01 * cycle), world=1, cycle=cycle)), budget=32 * 4)
        now = baker.texels()
        finished += not np.array_equal(now, before)
        before = now
    assert finished >= 4
    last = snapshot(ground * 0.1, world=1, cycle=99)
    wanted = baker.show(last)
    for _ in range(16):
        baker.bake(wanted, budget=32 * 4)
    assert baker.light.settled(wanted)
    np.testing.assert_array_equal(baker.texels(), baker.baked(replace(last, world=2)))


def test_light_of_which_rows_were_baked_under_another_sun_is_baked_again(baker: Baker) -> None:
    """A hand that moves the sun may come back to where it was when the light was begun."""
    shown = snapshot(hills(32, 32) * 200.0, world=1)
    expected = baker.baked(replace(shown, world=2), direction=250.0)
    baker.baked(shown, direction=90.0)
    for direction in (250.0, 180.0, 250.0, 250.0):
        wanted = baker.show(shown, direction=direction)
        baker.bake(wanted, budget=32 * 8)
    assert not np.array_equal(baker.texels(), expected) and not baker.light.settled(wanted)
    before = baker.light.drawn
    while not baker.light.settled(wanted):
        baker.bake(wanted, budget=32 * 8)
    np.testing.assert_array_equal(baker.texels(), expected)
    assert baker.light.drawn != before, "what was drawn by it is drawn again"


def test_light_at_once_leaves_nothing_of_what_was_being_baked(baker: Baker) -> None:
    ground = hills(32, 32) * 200.0
    baker.baked(snapshot(flat(32, 32), world=1))
    baker.bake(baker.show(snapshot(flat(32, 32, 5.0), world=1, cycle=1)), budget=32 * 20)
    final = baker.baked(snapshot(ground, world=1, cycle=2))
    np.testing.assert_array_equal(final, baker.baked(snapshot(ground, world=2)))


@pytest.mark.parametrize("shape", [(32, 32), (32, 48)])
def test_a_new_land_never_shows_the_light_of_the_one_before(baker: Baker, shape: tuple[int, int]) -> None:
    baker.baked(snapshot(hills(32, 32) * 300.0))
    wanted = baker.show(snapshot(flat(*shape)))
    baker.bake(wanted, budget=1)
    assert baker.light.settled(wanted)
    assert (baker.texels()[..., :2] == 1.0).all()


def test_the_first_light_of_a_large_map_is_coarse_and_the_fine_one_follows(
    baker: Baker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "FIRST_TEXELS", 1000)
    shown = snapshot(hills(96, 130) * 300.0)
    wanted = baker.show(shown)
    baker.bake(wanted, budget=1)
    coarse = baker.texels()
    assert 250 < coarse.shape[0] * coarse.shape[1] <= 1100
    assert not baker.light.settled(wanted)
    for _ in range(4):
        baker.bake(wanted, budget=96 * 130 // 3)
    assert baker.light.settled(wanted)
    fine = baker.texels()
    assert fine.shape[:2] == shown.shape
    # The same light, less sharp.
    row = (np.arange(coarse.shape[0]) + 0.5) * 96 / coarse.shape[0]
    column = (np.arange(coarse.shape[1]) + 0.5) * 130 / coarse.shape[1]
    there = fine[np.ix_(row.astype(int), column.astype(int))]
    assert np.corrcoef(there[..., 1].ravel(), coarse[..., 1].ravel())[0, 1] > 0.9
    assert abs(there[..., 0].mean() - coarse[..., 0].mean()) < 0.03


def test_finer_light_is_the_same_light_in_more_places(baker: Baker, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = snapshot(hills(48, 64) * 300.0)
    coarse = baker.baked(shown)
    baker.relief = HIGH.relief
    wanted = baker.show(shown)
    baker.bake(wanted, budget=1)
    assert not baker.light.settled(wanted), "what is as fine as the cells no longer suffices"
    while not baker.light.settled(wanted):
        baker.bake(wanted, budget=2000)
    fine = baker.texels()
    assert fine.shape[:2] == (96, 128)
    quarters = fine.reshape(48, 2, 64, 2, 4).mean(axis=(1, 3))
    coarse = smoothed(coarse)  # as the finer is where it is baked
    assert np.corrcoef(quarters[..., 0].ravel(), coarse[..., 0].ravel())[0, 1] > 0.9
    assert np.corrcoef(quarters[..., 1].ravel(), coarse[..., 1].ravel())[0, 1] > 0.97
    monkeypatch.setattr(maps, "FINE_CELLS", 1000)  # of larger maps cells are smaller in the picture, too
    baker.light.forget()
    assert baker.baked(shown).shape[:2] == (48, 64)


def smoothed(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean over two texels each way, `[row, column, channel]`."""
    smooth = np.pad(light, ((1, 1), (1, 1), (0, 0)), "edge")
    for axis in (0, 1):
        low, middle, high = (np.take(smooth, range(at, smooth.shape[axis] - 2 + at), axis) for at in range(3))
        smooth = 0.25 * low + 0.5 * middle + 0.25 * high
    return smooth


def test_light_on_a_displaced_mesh_is_smooth(baker: Baker) -> None:
    """As the mean over two texels each way; what is shown while other light is baked stays as it is."""
    baker.relief = HIGH.relief
    shown = snapshot(hills(48, 64) * 300.0, world=1)
    smooth = baker.baked(shown)
    np.testing.assert_allclose(smooth, smoothed(texels(baker.light._shown.texture())), atol=2 / 255)
    wanted = baker.show(snapshot(hills(48, 64) * 100.0, world=1, cycle=1))
    baker.bake(wanted, budget=2000)
    assert not baker.light.settled(wanted)
    np.testing.assert_array_equal(baker.texels(), smooth)


def test_light_baked_at_once_is_never_coarse(baker: Baker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "FIRST_TEXELS", 10)
    assert baker.baked(snapshot(flat(20, 20))).shape[:2] == (20, 20)


def test_forgotten_light_is_baked_again(baker: Baker) -> None:
    wanted = baker.show(baker.shown)
    baker.bake(wanted)
    baker.light.forget()
    assert not baker.light.settled(wanted)
    baker.bake(wanted)
    assert baker.light.settled(wanted)


@pytest.mark.parametrize("height", [1.0, 89.9, 90.0])
@pytest.mark.parametrize("cell_size", [0.01, 10_000.0])
def test_light_is_a_number_for_any_sun_and_cell(baker: Baker, height: float, cell_size: float) -> None:
    baked = baker.baked(snapshot(hills(24, 24) * 1e5, cell_size=cell_size), height=height)
    assert np.isfinite(baked).all() and (baked >= 0.0).all() and (baked <= 1.0).all()
    assert baked[..., 1].max() > 0.0

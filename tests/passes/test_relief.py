"""Relief finer than the map: where it is, how it lies, and how it is drawn over frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.model.snapshot import BURDEN, SURVEYED_FLOW, Snapshot
from app.picture.passes.benches import bench_table
from app.picture.passes.fixed import FixedTextures
from app.picture.passes.fractures import Fractures
from app.picture.passes.frame import FrameBlock
from app.picture.passes.frame_values import way_across_beds
from app.picture.passes.gradual import GradualWork
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.materials import MaterialTextures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.relief import (
    HIGHEST,
    MOST_TEXELS,
    SNOW_ON_ALL,
    SNOW_ON_NONE,
    CarvedLand,
    Relief,
    ReliefMap,
    texels_per_cell,
)
from app.picture.passes.shaders import ShaderLibrary
from kernels.rock import INTRUDED
from tests.passes.worlds import flat, hills, materials, snapshot, with_layers, with_materials

SCALE = 3
COVER = 2.0  # metres of loose material that hide the ground


class Carver:
    """A relief map with all that it reads."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, block: FrameBlock) -> None:
        self.layers = LayerTextures(context)
        self.surface = SurfaceMap(context, shaders)
        self.map = ReliefMap(context, shaders)
        self.still, self.none = (context.texture((1, 1), 4, bytes(4)) for _ in range(2))  # nothing runs; no benches
        self.fixed = FixedTextures.of(context)
        self.fractures = Fractures(context, shaders, self.fixed)
        self.materials = MaterialTextures(context, Mipmaps(context, shaders))
        self.block = block

    def show(self, shown: Snapshot) -> Relief:
        rows, columns = shown.shape
        self.block.values["map"] = (columns, rows, shown.cell_size, 1.0)
        self.block.values["ground_look"] = (2.0, 0.7, COVER, 0.0)
        self.block.upload()
        self.surface.update(shown, self.layers.upload(shown))
        self.materials.show(shown.materials)
        self.block.values["strata"] = (1.0 / self.materials.depth, min(self.materials.thickness, 1e6), 0.0, 0.0)
        self.block.values["beds"] = way_across_beds(self.materials.thickness)
        self.block.upload()
        return Relief(shown.world, shown.cycle, 1.0, SCALE, 1.0, snow_line=SNOW_ON_NONE)

    def draw(self, shown: Snapshot, blocks: bool = False) -> NDArray[np.float32]:
        """Height in cells and its slopes to the east and south, `[row, column, channel]`."""
        wanted = self.show(shown)._replace(blocks=blocks)
        self.update(wanted, 1, at_once=True)
        return self.texels()

    def update(self, wanted: Relief, budget: int, *, at_once: bool) -> None:
        land = CarvedLand(
            self.surface.texture,
            self.layers.texture(BURDEN),
            self.layers.texture("water"),
            self.still,
            self.fractures,
            self.layers.texture("strata_rise"),
            self.materials.textures().get("benches", self.none),
            self.layers.texture(SURVEYED_FLOW),
        )
        self.map.update(land, wanted, budget, at_once=at_once)

    def texels(self) -> NDArray[np.float32]:
        texture = self.map.texture
        assert texture is not None
        return np.frombuffer(texture.read(), np.float16).reshape(texture.height, texture.width, 4).astype(np.float32)

    def release(self) -> None:
        for part in (
            self.map,
            self.surface,
            self.layers,
            self.still,
            self.none,
            self.fractures,
            self.fixed,
            self.materials,
        ):
            part.release()


@pytest.fixture
def carver(context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock) -> Iterator[Carver]:
    carver = Carver(context, shaders, frame_block)
    yield carver
    carver.release()


def slope(rows: int, columns: int, degrees: float, rise: float = 0.7) -> NDArray[np.float32]:
    """A plane of 10 m cells that rises by so much a metre towards this direction, clockwise from the east."""
    row, column = np.mgrid[:rows, :columns]
    turn = np.radians(degrees)
    return (10.0 * rise * (column * np.cos(turn) + row * np.sin(turn))).astype(np.float32)


def test_flat_ground_has_none(carver: Carver) -> None:
    drawn = carver.draw(snapshot(flat(20, 30, 250.0)))
    assert drawn.shape[:2] == (20 * SCALE, 30 * SCALE)
    assert (drawn[..., :3] == 0.0).all()


@pytest.mark.parametrize("degrees", [0.0, 30.0, 90.0, 135.0, 200.0, 315.0])
def test_ribs_and_gullies_run_down_the_slope(carver: Carver, degrees: float) -> None:
    drawn = carver.draw(snapshot(slope(96, 128, degrees)))[12:-12, 12:-12]
    turn = np.radians(degrees)
    down = drawn[..., 1] * np.cos(turn) + drawn[..., 2] * np.sin(turn)
    aside = drawn[..., 2] * np.cos(turn) - drawn[..., 1] * np.sin(turn)
    assert drawn[..., 0].std() > 0.1
    assert abs(drawn[..., 0].mean()) < 0.1
    assert aside.std() > 1.6 * down.std()


@pytest.mark.parametrize("degrees", [0.0, 30.0, 90.0, 200.0])
def test_streaks_run_down_the_slope_also_over_loose_material(carver: Carver, degrees: float) -> None:
    ground = slope(64, 80, degrees, 0.3)
    under = snapshot(ground, sediment=np.full(ground.shape, 20.0 * COVER, np.float32))
    streaks = carver.draw(under)[..., 3].astype(np.float64)
    assert 0.05 < streaks.std() < 0.3 and abs(streaks.mean() - 0.5) < 0.1
    turn = np.radians(degrees)
    east, south = np.gradient(streaks, axis=1), np.gradient(streaks, axis=0)
    down, aside = east * np.cos(turn) + south * np.sin(turn), south * np.cos(turn) - east * np.sin(turn)
    assert aside[12:-12, 12:-12].std() > 1.4 * down[12:-12, 12:-12].std()


def test_its_slopes_are_those_of_its_heights(carver: Carver) -> None:
    drawn = carver.draw(snapshot(hills(40, 56) * 200.0)).astype(np.float64)
    east = (drawn[:, 2:, 0] - drawn[:, :-2, 0]) * 0.5 * SCALE
    south = (drawn[2:, :, 0] - drawn[:-2, :, 0]) * 0.5 * SCALE
    np.testing.assert_allclose(drawn[:, 1:-1, 1], east, atol=4e-3)
    np.testing.assert_allclose(drawn[1:-1, :, 2], south, atol=4e-3)


def test_rock_is_broken_into_blocks_and_snow_lies_over_them(carver: Carver) -> None:
    """Ribs alone hardly change down a slope that is everywhere the same."""
    ground = snapshot(slope(96, 128, 0.0, 0.4))

    def down(snow_line: float) -> NDArray[np.float32]:
        wanted = carver.show(ground)._replace(snow_line=snow_line)
        carver.block.values["heights"] = (0.0, float(ground.highest), 0.0, 1.0)
        carver.block.upload()
        carver.update(wanted, 1, at_once=True)
        return carver.texels()[..., 1]

    bare, under_snow = down(SNOW_ON_NONE), down(SNOW_ON_ALL)
    shattered = np.abs(bare - under_snow).max(axis=0) > 0.1
    assert 0.1 < shattered.mean() < 1.0
    assert bare.std() > 1.08 * under_snow.std()


def test_walls_of_massive_rock_have_ledges_that_end_and_no_folds_from_top_to_bottom(carver: Carver) -> None:
    ground = slope(128, 128, 0.0, 1.6)
    drawn = carver.draw(snapshot(ground, world=1))[30:-30, 30:-30]
    down = 1.6 + drawn[..., 1]
    ledges = down < 0.8
    assert 0.04 < ledges.mean() < 0.4
    assert (down > 2.1).mean() > 0.1, "and cliffs between them"
    across = ledges.mean(axis=0)
    assert across.max() < 0.85, "none goes round the whole wall"
    folds = drawn[..., 0].mean(axis=1).std()
    assert folds < 0.5 * drawn[..., 0].std()
    assert (down < -0.3).mean() < 0.003 and down.min() > -2.0, "no tread falls back into the wall"
    bedded = with_materials(snapshot(ground, world=2), BEDS, rise=INTRUDED + 1000.0)
    assert (1.6 + carver.draw(bedded)[30:-30, 30:-30, 1] < 0.8).mean() < 0.5 * ledges.mean(), "rock in beds has benches"


def test_ledges_follow_the_beds_of_one_rock_which_dip(carver: Carver) -> None:
    """Along a contour of a wall ledges rise and fall with them; those of level beds go along it."""
    wanted = carver.show(snapshot(slope(128, 128, 0.0, 1.6), world=1))

    def alike(thickness: float) -> tuple[float, float]:
        """How much the wall has in common with what is 16 cells up it and 2 to the east, or to the west."""
        carver.block.values["beds"] = way_across_beds(thickness)
        carver.block.upload()
        carver.map.forget()
        carver.update(wanted, 1, at_once=True)
        heights, up, aside = carver.texels()[30:-30, 30:-30, 0], 16 * SCALE, 2 * SCALE
        low, high = heights[:-up], heights[up:]
        east = np.corrcoef(low[:, :-aside].ravel(), high[:, aside:].ravel())[0, 1]
        west = np.corrcoef(low[:, aside:].ravel(), high[:, :-aside].ravel())[0, 1]
        return float(east), float(west)

    east, west = alike(20.0)
    assert east == pytest.approx(west, rel=0.4), "level"
    east, west = alike(np.inf)
    assert east > 2.5 * west, "dipping"


def test_ledges_are_no_higher_on_wide_cells(carver: Carver) -> None:
    ground = slope(128, 128, 0.0, 1.6)
    narrow, wide = (
        carver.draw(snapshot(ground * scale, cell_size=10.0 * scale, world=world), blocks=True)[30:-30, 30:-30, 0].std()
        for world, scale in ((1, 1.0), (2, 10.0))
    )
    assert wide < 0.85 * narrow


def test_massive_rock_stands_out_in_blocks_that_end_at_joints_and_move_with_the_land_by_as_little(
    carver: Carver,
) -> None:
    ground = slope(128, 128, 0.0, 0.8)

    def drawn(shown: Snapshot) -> NDArray[np.float32]:
        """What blocks add, away from the edges of the map."""
        wanted, texels = carver.show(shown), []
        for blocks in (False, True):
            carver.update(wanted._replace(blocks=blocks), 1, at_once=True)
            texels.append(carver.texels()[30:-30, 30:-30, 0])
        assert np.abs(texels[1]).max() < wanted._replace(blocks=True).span
        return texels[1] - texels[0]

    blocks = drawn(snapshot(ground, world=1))
    assert 0.4 < blocks.std() < 1.2 and abs(blocks.mean()) < 0.2
    east, south = np.diff(blocks, axis=1), np.diff(blocks, axis=0)
    for steps in (east, south):  # faces with sides between them
        assert np.quantile(np.abs(steps), 0.98) > 4.0 * np.median(np.abs(steps))
    assert 0.5 < east.std() / south.std() < 2.0, "they are as long as they are wide"
    moved = ground + 0.01 * np.random.default_rng(3).random(ground.shape).astype(np.float32)
    change = np.abs(drawn(snapshot(moved, world=2)) - blocks)
    assert change.mean() < 0.01 and (change > 0.3).mean() < 1e-3
    thick = np.full(ground.shape, 40.0 * COVER, np.float32)
    assert np.abs(drawn(snapshot(ground, sediment=thick, world=3))).max() < 0.01
    assert np.abs(drawn(with_layers(snapshot(ground, world=4), burden=thick))).max() < 0.01


def test_loose_material_lies_smooth(carver: Carver) -> None:
    rock = slope(48, 64, 20.0)
    assert np.abs(carver.draw(snapshot(rock))[..., 0]).max() > 0.3
    gentle = slope(48, 64, 20.0, 0.25)
    covered = snapshot(gentle, sediment=np.full(rock.shape, 20.0 * COVER, np.float32))
    assert np.abs(carver.draw(covered)[..., 0]).max() < 0.01


def test_talus_has_tongues_and_chutes_down_its_slope_and_dunes_have_none(carver: Carver) -> None:
    ground = slope(64, 80, 0.0, 0.6)
    talus = snapshot(ground, sediment=np.full(ground.shape, 20.0 * COVER, np.float32))
    drawn = carver.draw(talus)[12:-12, 12:-12]
    assert 0.1 < np.abs(drawn[..., 0]).max() < 0.6
    assert drawn[..., 2].std() > 2.0 * drawn[..., 1].std()
    low, high = drawn[..., 0] < np.quantile(drawn[..., 0], 0.2), drawn[..., 0] > np.quantile(drawn[..., 0], 0.8)
    assert drawn[..., 3][high].mean() > drawn[..., 3][low].mean() + 0.05, "stones are sorted"
    carver.block.values["wind"] = (0.0, 1.0, 1.0, 0.0)
    assert np.abs(carver.draw(replace(talus, cycle=1))[..., 0]).max() < 0.01


def test_soil_has_hollows_and_spurs_and_dunes_have_none(carver: Carver) -> None:
    ground = slope(48, 64, 20.0, 0.3)
    mantle = snapshot(ground, sediment=np.full(ground.shape, 4.0 * COVER, np.float32))
    hollows = np.abs(carver.draw(mantle)[..., 0]).max()
    assert 0.1 < hollows < np.abs(carver.draw(snapshot(ground))[..., 0]).max()
    carver.block.values["wind"] = (0.0, 1.0, 1.0, 0.0)
    assert np.abs(carver.draw(replace(mantle, cycle=1))[..., 0]).max() < 0.35 * hollows


def test_streaks_follow_the_lines_along_which_much_water_runs(carver: Carver) -> None:
    ground = slope(64, 96, 90.0, 0.1)
    flow = np.full(ground.shape, 1e-3, np.float32)
    flow[:, 40] = 1.0
    shown = with_layers(snapshot(ground), surveyed_flow=flow)
    dry = carver.draw(shown)[..., 3]
    wanted = carver.show(shown)._replace(usual_flow=1e-3)
    carver.update(wanted, 1, at_once=True)
    more = (carver.texels()[..., 3] - dry)[12:-12]
    at = 40 * SCALE + 1
    assert more[:, at].mean() > 0.1
    assert np.abs(more[:, : at - 3 * SCALE]).max() < 0.01 and np.abs(more[:, at + 3 * SCALE :]).max() < 0.01


def widths(inside: np.ndarray) -> np.ndarray:
    """How many texels of each column in turn are inside."""
    edges = np.diff(np.pad(inside, ((1, 1), (0, 0))).astype(np.int8).T, axis=1)
    return np.argwhere(edges < 0)[:, 1] - np.argwhere(edges > 0)[:, 1]


def test_fans_and_pediments_have_washes_down_their_slope_and_dunes_have_none(carver: Carver) -> None:
    """They are of varied width, and branches join them at an angle."""
    ground = slope(96, 128, 0.0, 0.08)
    fan = snapshot(ground, sediment=np.full(ground.shape, 20.0 * COVER, np.float32), world=2)
    drawn = [carver.draw(shown) for shown in (fan, snapshot(ground, world=1))]
    carver.block.values["wind"] = (0.0, 1.0, 1.0, 0.0)
    dunes = carver.draw(replace(fan, cycle=1))
    for land, strong in zip(drawn, (0.15, 0.10), strict=True):
        assert np.abs(land[..., 0]).max() < 0.01, "they are colours only"
        threads = (land[..., 3] - dunes[..., 3])[12:-12, 12:-12].astype(np.float64)
        assert threads.max() > strong and 0.02 < (threads > strong).mean() < 0.35
        down, aside = np.diff(threads, axis=1), np.diff(threads, axis=0)
        assert aside.std() > 1.25 * down.std()
        wide = widths(threads > strong)
        assert wide.std() > 0.75 * wide.mean()


def test_what_else_raises_the_ground_lies_smooth_and_may_go_while_it_is_drawn(carver: Carver) -> None:
    rock = slope(48, 64, 20.0)
    with_ice = with_layers(snapshot(rock), burden=np.full(rock.shape, 20.0 * COVER, np.float32))
    assert np.abs(carver.draw(with_ice)[..., 0]).max() < 0.01
    later = replace(with_ice, cycle=1)
    carver.update(carver.show(later), 1, at_once=False)
    for cycle in (2, 3):  # the layers are uploaded to two sets by turns
        wanted = carver.show(replace(snapshot(rock), world=with_ice.world, cycle=cycle))
    while not carver.map.settled(wanted):
        carver.update(wanted, 2000, at_once=False)
    assert np.abs(carver.texels()[..., 0]).max() > 0.3


def test_it_moves_with_the_land_by_as_little(carver: Carver) -> None:
    ground = hills(64, 64) * 200.0
    first = carver.draw(snapshot(ground, cycle=1, world=1))
    moved = ground + 0.01 * np.random.default_rng(3).random(ground.shape).astype(np.float32)
    second = carver.draw(snapshot(moved, cycle=2, world=1))
    change = np.abs(second[..., 0] - first[..., 0])
    assert 0.0 < change.mean() < 0.01 * first[..., 0].std()
    assert change.max() < 0.5 * first[..., 0].std()


def test_in_bands_over_frames_it_is_the_same_to_the_bit(carver: Carver, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = hills(40, 60) * 200.0, hills(40, 60)[::-1].copy() * 150.0
    at_once = carver.draw(snapshot(after, cycle=2, world=1))
    carver.map.forget()
    carver.draw(snapshot(before, cycle=1, world=1))
    monkeypatch.setattr("app.picture.passes.relief.BAND", 1000)
    wanted = carver.show(snapshot(after, cycle=2, world=1))
    frames = 0
    while not carver.map.settled(wanted):
        shown = carver.texels()
        carver.update(wanted, 3000, at_once=False)
        frames += 1
    assert frames > 3
    assert not np.array_equal(shown, at_once), "the one before is shown until the next is whole"
    np.testing.assert_array_equal(carver.texels(), at_once)


def test_at_water_and_in_streams_there_is_none(carver: Carver, context: moderngl.Context) -> None:
    ground = slope(96, 64, 90.0)
    lake = np.zeros(ground.shape, np.float32)
    lake[:48] = np.maximum(ground[47] - ground[:48], 0.0) + 1.0
    dry = np.abs(carver.draw(snapshot(ground))[..., 0])
    shown = snapshot(ground)
    shown.layers["water"] = lake
    shown.versions["water"] = 1
    wet = np.abs(carver.draw(shown)[..., 0])
    edge = np.s_[47 * SCALE : 49 * SCALE, 12:-12]
    assert dry[edge].mean() > 0.1 and wet[edge].mean() < 0.1 * dry[edge].mean()
    np.testing.assert_array_equal(wet[54 * SCALE :], dry[54 * SCALE :])
    np.testing.assert_array_equal(wet[: 36 * SCALE], dry[: 36 * SCALE])

    streams = np.zeros((*ground.shape, 4), np.float16)
    streams[:, 32, 0] = 1.0
    carver.still.release()
    carver.still = context.texture(ground.shape[::-1], 4, streams.tobytes(), dtype="f2")
    run = np.abs(carver.draw(snapshot(ground))[..., 0])
    assert run[:, 32 * SCALE : 33 * SCALE].max() == 0.0
    np.testing.assert_array_equal(run[:, : 28 * SCALE], dry[:, : 28 * SCALE])


def test_in_8_bits_it_is_the_same_but_for_their_steps(carver: Carver) -> None:
    exact = carver.draw(snapshot(slope(48, 64, 20.0), world=1))
    assert carver.map.kind == 2
    wanted = carver.show(snapshot(slope(48, 64, 20.0), world=1))._replace(exact=False)
    carver.update(wanted, 1, at_once=True)
    assert carver.map.kind == 1
    texture = carver.map.texture
    assert texture is not None
    texels = np.frombuffer(texture.read(), np.uint8).reshape(exact.shape)
    unpacked = (texels[..., :3] - 128.0) * HIGHEST / 127.0
    np.testing.assert_allclose(unpacked, exact[..., :3], atol=0.6 * HIGHEST / 127.0)
    carver.update(carver.show(snapshot(flat(48, 64), world=2))._replace(exact=False), 1, at_once=True)
    flatness = carver.map.texture
    assert flatness is not None
    assert (np.frombuffer(flatness.read(), np.uint8).reshape(-1, 4)[:, :3] == 128).all()


def test_twice_of_it_is_not_cut_in_8_bits(carver: Carver) -> None:
    """Gullies of slopes that are steep themselves."""
    wanted = carver.show(snapshot(slope(48, 64, 20.0, 3.0), world=1))._replace(amount=2.0)
    carver.update(wanted, 1, at_once=True)
    exact = carver.texels()
    assert (np.abs(exact[..., :3]) > HIGHEST).mean() > 1e-3, "more than is usual"
    assert (np.abs(exact[..., :3]) > 2.0 * HIGHEST).mean() < 4e-4
    carver.update(wanted._replace(exact=False), 1, at_once=True)
    assert carver.map.texture is not None
    assert carver.map.span == wanted.span == 2.0 * HIGHEST
    texels = np.frombuffer(carver.map.texture.read(), np.uint8).reshape(exact.shape)
    unpacked, cut = (texels[..., :3] - 128.0) * wanted.span / 127.0, np.clip(exact[..., :3], -wanted.span, wanted.span)
    np.testing.assert_allclose(unpacked, cut, atol=1.2 * HIGHEST / 127.0)


def test_it_is_as_high_as_its_amount_says(carver: Carver) -> None:
    usual = carver.draw(snapshot(slope(48, 64, 20.0), world=1))
    wanted = carver.show(snapshot(slope(48, 64, 20.0), world=1))._replace(amount=0.5)
    carver.update(wanted, 1, at_once=True)
    half = carver.texels()
    assert half[..., 0].std() == pytest.approx(0.5 * usual[..., 0].std(), rel=0.15)


def test_a_new_world_has_its_own_at_once(carver: Carver) -> None:
    carver.draw(snapshot(hills(24, 24) * 200.0, world=1))
    wanted = carver.show(snapshot(hills(24, 36) * 200.0, world=2))
    carver.update(wanted, 1, at_once=False)
    assert carver.texels().shape[:2] == (24 * SCALE, 36 * SCALE)


def test_where_none_is_wanted_none_is_there(carver: Carver) -> None:
    wanted = carver.show(snapshot(hills(24, 24) * 200.0))
    carver.update(wanted, 1, at_once=True)
    carver.update(wanted._replace(texels_per_cell=0), 1, at_once=True)
    assert carver.map.texture is None


@pytest.mark.parametrize("side", [2, 64, 512, 700, 1024, 2048, 4096])
def test_the_map_is_never_larger_than_it_may_be(side: int) -> None:
    scale = texels_per_cell(side, side, 4)
    assert scale * scale * side * side <= MOST_TEXELS
    assert scale == 0 or scale > 1
    assert texels_per_cell(side, side, 0) == 0


# Benches and cliffs.

BEDS = materials(("sandstone", 60.0), ("clay", 30.0), repeat=True)


def test_hard_rock_takes_less_of_the_way_down_and_ground_never_rises_on_it() -> None:
    lower, step = bench_table(BEDS), BEDS.metres_per_step
    assert lower[0] == lower[-1] == 0.0 and 5.0 < np.abs(lower).max() < 45.0
    depth = (np.arange(len(lower)) + 0.5) * step
    fall = 1.0 + np.gradient(lower, step)
    assert fall.min() > -1e-9
    inner = (depth > 200.0) & (depth < depth[-1] - 200.0)
    found = BEDS.strata[np.clip(((depth + lower) / step).astype(int), 0, len(depth) - 1)]
    hard, soft = (fall[inner & (found == number)].mean() for number in (0, 1))
    assert hard > 2.0 * soft
    assert (bench_table(materials(("granite", np.inf))) == 0.0).all()


def test_a_slope_of_hard_and_soft_strata_has_cliffs_and_benches(carver: Carver) -> None:
    """In beds of 60 and 30 m on a slope to the east, hard rock is steeper than soft rock."""
    ground = slope(64, 192, 0.0, 0.7)
    rise = np.full(ground.shape, float(ground.max()) + 60.0)
    shown = with_materials(snapshot(ground, world=1), BEDS, rise=rise)
    drawn = carver.draw(shown)
    plain = carver.draw(snapshot(ground, world=2))
    benched = drawn[..., 0] - plain[..., 0]
    height = np.repeat(np.repeat(ground, SCALE, 0), SCALE, 1) + 10.0 * drawn[..., 0]
    inner = np.s_[30:-30, 30:-30]
    depth = (rise[0, 0] - height)[inner]
    hard = BEDS.strata[(depth / BEDS.metres_per_step).astype(int)] == 0
    down = 0.7 + drawn[..., 1][inner]
    assert down[hard].mean() > 1.5 * down[~hard].mean()
    assert 0.3 < np.abs(benched[inner]).mean() < 3.0
    aside = np.abs(np.diff(benched[inner], axis=0)).mean()
    assert aside < 0.6 * np.abs(np.diff(benched[inner], axis=1)).mean(), "benches run along the slope"


def test_gentle_ground_loose_material_and_intrusions_have_no_benches(carver: Carver) -> None:
    ground = slope(48, 96, 0.0, 0.5)
    within = with_materials(snapshot(ground, world=3), BEDS, rise=np.full(ground.shape, INTRUDED + 1000.0))
    np.testing.assert_allclose(carver.draw(within)[..., 0], carver.draw(snapshot(ground, world=4))[..., 0], atol=2e-3)
    level = with_materials(snapshot(slope(48, 96, 0.0, 0.05), world=5), BEDS, rise=np.full(ground.shape, 600.0))
    assert np.abs(carver.draw(level)[..., 0]).max() < 0.01
    loose = {"sediment": np.full(ground.shape, 120.0 * COVER, np.float32)}
    under = with_materials(snapshot(ground, **loose, world=6), BEDS, rise=900.0)
    plain = carver.draw(snapshot(ground, **loose, world=7))[..., 0]
    np.testing.assert_allclose(carver.draw(under)[..., 0], plain, atol=5e-3)


def badlands(carver: Carver, rock: str, ground: NDArray[np.float32], world: int) -> NDArray[np.float32]:
    """The relief of a land of 3 m cells, of one rock below a cap that lies above it."""
    made = materials((rock, 300.0), ("sandstone", 10.0), repeat=True)
    return carver.draw(with_materials(snapshot(ground, world=world, cell_size=3.0), made, rise=400.0), blocks=True)


def test_gullies_run_down_slopes_of_soft_rock_and_meet_in_a_v(carver: Carver) -> None:
    ground = (0.3 * slope(96, 64, 0.0, 0.7) + 150.0).astype(np.float32)
    drawn = badlands(carver, "siltstone", ground, 31)[30:-30, 30:-30]
    height = drawn[..., 0] - drawn[..., 0].mean(axis=0)  # without benches, which run along the slope
    along, aside = (np.abs(np.diff(height, axis=axis)).mean() for axis in (1, 0))
    assert aside > 1.6 * along and 0.2 < height.std() < 1.0
    bends = np.diff(height, 2, axis=0)
    assert (bends**3).mean() > 0.2 * bends.std() ** 3, "bottoms are sharper than divides"


def test_creep_rounds_small_bumps_of_soft_rock_and_not_those_of_hard_rock(carver: Carver) -> None:
    plain = np.full((48, 64), 200.0, np.float32)
    bumpy = plain.copy()
    bumpy[24, 32] += 1.5
    middle = np.s_[24 * SCALE + 1, 32 * SCALE + 1, 0]
    soft, hard = (badlands(carver, rock, bumpy, 33 + number)[middle] for number, rock in enumerate(("clay", "granite")))
    assert soft < -0.25 and abs(hard) < 0.2


def test_a_thin_soft_top_over_hard_rock_makes_no_badlands_below_it(carver: Carver) -> None:
    """The last rock of the stack continues below its table, and is no mean of what is in it."""
    ground = (0.3 * slope(48, 96, 0.0, 0.7)).astype(np.float32)
    hard, thin = (
        with_materials(
            snapshot(ground, world=35 + number, cell_size=3.0),
            materials((rock, 6.0), ("granite", np.inf)),
            rise=400.0,
        )
        for number, rock in enumerate(("sandstone", "clay"))
    )
    np.testing.assert_allclose(carver.draw(hard, blocks=True), carver.draw(thin, blocks=True), atol=0.01)


def test_benches_show_through_a_mantle_of_debris(carver: Carver) -> None:
    ground, high = slope(48, 96, 0.0, 0.7), {}
    for world, thick in enumerate((0.0, 4.0)):
        loose = {"sediment": np.full(ground.shape, thick * COVER, np.float32)}
        benched = carver.draw(with_materials(snapshot(ground, **loose, world=10 + world), BEDS, rise=900.0))
        plain = carver.draw(snapshot(ground, **loose, world=20 + world))
        high[thick] = np.abs(benched - plain)[30:-30, 30:-30, 0].mean()
    assert high[4.0] > 0.5 * high[0.0] > 0.1


def test_work_that_was_given_up_begins_anew_and_what_was_done_stays() -> None:
    work, begun = GradualWork(), list[str]()

    def steps(goal: str) -> Iterator[int]:
        begun.append(goal)
        yield from (1, 1, 1)

    assert work.advance("low", partial(steps, "low"), 9, at_once=False)
    assert not work.advance("high", partial(steps, "high"), 1, at_once=False)
    work.abandon()
    assert not work.advance("low", partial(steps, "low"), 9, at_once=False) and work.done == "low"
    assert work.advance("high", partial(steps, "high"), 9, at_once=False) and work.done == "high"
    assert begun == ["low", "high", "high"]


def test_work_of_which_parts_were_drawn_for_another_goal_is_not_done() -> None:
    """The scale of heights in these parts is that of their own frames."""
    work, begun = GradualWork(), list[str]()

    def drawn(goal: str) -> bool:
        def steps() -> Iterator[int]:
            begun.append(goal)
            yield from (1, 1, 1)

        return work.advance(goal, steps, 1, at_once=False)

    for goal, is_done in (("low", False), ("high", False), ("low", False), ("low", True)):
        assert drawn(goal) is is_done and not work.is_done("low")
    assert work.done == "low" and work.is_mixed
    assert [drawn("low") for _ in range(4)] == [False, False, False, True]
    assert work.is_done("low") and not drawn("low") and begun == ["low", "low"]

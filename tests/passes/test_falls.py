"""Falls in the picture: sheets that follow the trajectory of their water, move, and do not break off."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes.falls import GRAVITY, SIDES, FallSheets
from app.picture.picture import Picture
from app.scene.scene import Scene
from kernels.hydraulic_geometry import bankfull_depth, channel_width
from tests.passes import gl
from tests.passes.conftest import Draw
from tests.passes.worlds import snapshot, with_layers

ROWS, COLUMNS, CELL, DROP = 24, 40, 10.0, 120.0
LIP, ROW = 20, 12  # the column and the row of the fall
WEST, SOUTH_WEST = 1, 6
WIDTH = 7.2


def cliff(discharge: float, drop: float = DROP) -> Snapshot:
    """A river runs to the west over a cliff."""
    ground = np.tile(0.05 * np.arange(COLUMNS, dtype=np.float64), (ROWS, 1))
    ground[:, LIP:] += drop
    flow, way = np.zeros((ROWS, COLUMNS), np.float32), np.zeros((ROWS, COLUMNS), np.float32)
    flow[ROW], way[ROW, 1:] = discharge, 1 + WEST
    shown = snapshot(ground, cell_size=CELL)
    return with_layers(shown, **{SURVEYED_FLOW: flow, SURVEYED_WAY: way})


def sheets_of(shown: Snapshot) -> NDArray[np.float32]:
    """The middle of the sheet: east, height, south of each station."""
    sheets = FallSheets()
    sheets.update(shown, 1e-3, WIDTH)
    assert sheets.any
    return sheets.sheets[:, :3].reshape(-1, len(SIDES), 3)[:, len(SIDES) // 2].astype(np.float64)


def test_a_strong_river_falls_free_of_its_cliff() -> None:
    """From the middle of the lip's cell, as fast as it is drawn deep, down to the ramp that cells make of the cliff."""
    discharge = 4000.0
    speed = (GRAVITY * float(bankfull_depth(channel_width(discharge, WIDTH)))) ** 0.5
    stations = sheets_of(cliff(discharge))
    ramp = np.interp(stations[:, 0] / CELL - 0.5, np.arange(COLUMNS), cliff(discharge).ground()[ROW])
    free = stations[:, 1] > ramp + 0.5
    assert free.sum() > 3 and (stations[:, 1] >= ramp - 1e-3).all()
    lip = np.flatnonzero(free)[0] - 1
    flown = stations[lip, 0] - stations[free, 0]
    expected = stations[lip, 1] - 0.5 * GRAVITY * (flown / speed) ** 2
    # Stations stand apart, and water leaves the lip between two of them.
    np.testing.assert_allclose(stations[free, 1], expected, atol=8.0)


def test_a_brook_leaps_from_its_cliff_and_comes_down_at_the_foot() -> None:
    stations = sheets_of(cliff(0.02))
    ramp = np.interp(stations[:, 0] / CELL - 0.5, np.arange(COLUMNS), cliff(0.02).ground()[ROW])
    stands_off = stations[:, 1] - ramp
    assert stands_off.min() > -0.01 * DROP and stands_off.max() > 0.02 * DROP
    assert (np.diff(stations[:, 1]) < 0.01).all() and np.ptp(stations[:, 1]) > 0.95 * DROP
    assert stands_off[-1] < 0.02 * DROP, "it ends in the air"


def test_a_sheet_spreads_towards_its_foot_and_a_pool_runs_on_from_there() -> None:
    sheets = FallSheets()
    sheets.update(cliff(20.0), 1e-3, WIDTH)
    half = np.hypot(*sheets.sheets[:: len(SIDES), 3:5].T)
    assert half[-1] > 2.2 * half[0]
    pool = sheets.pools[sheets.pools[:, 7] == 0.0]
    foot = sheets.sheets[-len(SIDES) // 2]
    assert np.ptp(pool[:, 2]) > 2.0 * half[-1], "it is no wider than the fall"
    assert pool[:, 0].min() + pool[:, 0].max() < 2.0 * foot[0] - half[-1], "the river runs to the west"
    assert sheets.pool_triangles.max() == len(sheets.pools) - 1


def test_spray_lies_around_the_foot_and_grows_on_its_way_down_the_sheet() -> None:
    sheets = FallSheets()
    sheets.update(cliff(20.0), 1e-3, WIDTH)
    foot, lip = (sheets.sheets[station + len(SIDES) // 2] for station in (-len(SIDES), 0))
    half = np.hypot(*foot[3:5])
    at_foot = sheets.spray[:, 7] > 0.0
    away = np.hypot(*(sheets.spray[at_foot][:, [0, 2]] - foot[[0, 2]]).T)
    assert 0 < at_foot.sum() < len(at_foot)
    assert 0.5 * half < away.max() < half + 0.25 * DROP
    torn = sheets.spray[~at_foot]
    assert (torn[:, 1] > foot[1]).all() and (torn[:, 1] < lip[1]).all()
    assert np.corrcoef(torn[:, 1], torn[:, 5])[0, 1] < -0.8, "it does not grow"


def test_in_the_air_a_sheet_does_not_turn() -> None:
    """Also where the river leaves the foot in another direction."""
    shown = cliff(20.0)
    flow, way = (np.zeros((ROWS, COLUMNS), np.float32) for _ in range(2))
    flow[ROW, LIP - 1 :], way[ROW, LIP:], way[ROW, LIP - 1] = 20.0, 1 + WEST, 1 + SOUTH_WEST
    for step in range(1, 6):
        flow[ROW + step, LIP - 1 - step], way[ROW + step, LIP - 1 - step] = 20.0, 1 + SOUTH_WEST
    sheets = FallSheets()
    sheets.update(with_layers(shown, **{SURVEYED_FLOW: flow, SURVEYED_WAY: way}), 1e-3, WIDTH)
    across = sheets.sheets[:: len(SIDES), 3:5]
    across = across / np.hypot(*across.T)[:, None]
    assert (across @ across[0]).min() > 0.999


@pytest.mark.parametrize("drop", [1.5, 4.0])
def test_a_low_fall_is_a_short_sheet_on_its_slope_and_white_water_below(drop: float) -> None:
    shown, sheets = cliff(0.05, drop), FallSheets()
    sheets.update(shown, 1e-3, WIDTH)
    assert sheets.any and not sheets.any_free and not len(sheets.pools)
    east, height, *_, part, _ = sheets.sheets[1 :: len(SIDES)].astype(np.float64).T
    np.testing.assert_allclose(height, np.interp(east / CELL - 0.5, np.arange(COLUMNS), shown.ground()[ROW]), atol=0.1)
    assert (np.diff(part) > 0.0).all() and part[0] == 0.0 and part[-1] == 2.0 and 1.0 in part
    length = np.ptp(east[part <= 1.0])
    assert 2.0 * drop < length < 4.0 * drop + CELL
    assert abs(east[part <= 1.0].mean() - LIP * CELL) < 2.0, "it is not at the edge of the step"
    assert 4.0 * drop < np.ptp(east[part >= 1.0]) < 4.0 * drop + CELL


def test_a_low_step_of_a_wide_stream_is_a_rapid_and_no_fall() -> None:
    sheets = FallSheets()
    sheets.update(cliff(20.0, 1.5), 1e-3, WIDTH)
    assert not sheets.any


def test_they_are_found_anew_where_land_or_streams_change_and_not_else() -> None:
    sheets, shown = FallSheets(), cliff(1.0)
    sheets.update(shown, 1e-3, WIDTH)
    version = sheets.version
    sheets.update(shown, 1e-3, WIDTH)
    assert sheets.version == version
    sheets.update(shown, 5.0, WIDTH)
    assert sheets.version > version and not sheets.any


@pytest.mark.parametrize("discharge", [0.05, 1.0])
def test_at_level_low_a_low_fall_is_bright_on_its_stream_and_moves(discharge: float, draw: Draw) -> None:
    drop = 4.0
    camera = Camera(glm.vec3(LIP * CELL, 0.5 * drop, (ROW + 0.5) * CELL), 0.0, 50.0, 90.0, 30.0)
    scene = Scene().with_values({"view.clouds": 0.0, "view.stream_threshold": 1.0, "climate.precipitation": 1.0})
    wet = cliff(discharge, drop)
    first, later = (draw(wet, camera, scene, time=time).astype(int) for time in (1.0, 1.3))
    rows, columns = first.shape[:2]
    middle = first[int(0.3 * rows) : int(0.7 * rows)].min(axis=2).max(axis=0)  # of each column, from the west
    fall, above = middle[int(0.4 * columns) : int(0.5 * columns)], middle[int(0.75 * columns) :]
    assert fall.min() > 1.2 * above.max(), (fall, above)
    moved = np.abs(later - first)[int(0.3 * rows) : int(0.7 * rows), int(0.3 * columns) : int(0.5 * columns)]
    assert (moved.max(axis=2) > 4).sum() > 20, "it stands still"


@pytest.mark.parametrize("discharge", [0.05, 20.0])
def test_at_level_low_a_fall_is_bright_from_lip_to_foot_and_moves(discharge: float, draw: Draw) -> None:
    camera = Camera(glm.vec3(LIP * CELL, 0.5 * DROP, ROW * CELL), 90.0, 8.0, 420.0, 30.0)
    scene = Scene().with_values(
        {"view.sun_direction": 250.0, "view.sun_height": 45.0, "view.clouds": 0.0, "view.stream_threshold": 1.0,
         "climate.precipitation": 1.0}
    )  # fmt: skip
    wet, dry = cliff(discharge), snapshot(cliff(discharge).ground(dtype=np.float64), cell_size=CELL)
    first, later = (draw(wet, camera, scene, time=time).astype(int) for time in (1.0, 1.7))
    without = draw(dry, camera, scene, time=1.0).astype(int)
    rows, columns = first.shape[:2]
    band = np.s_[int(0.36 * rows) : int(0.62 * rows), int(0.42 * columns) : int(0.58 * columns)]
    brighter = (first - without)[band].min(axis=2).max(axis=1)
    assert (brighter > 4).all(), "it breaks off"
    assert (np.abs(later - first)[band].max(axis=2) > 4).sum() > 20, "it stands still"


@pytest.mark.usefixtures("compiled_anew")
def test_nothing_of_falls_is_left_behind(context: moderngl.Context, canvas: Canvas) -> None:
    target = canvas.framebuffer(64, 48)
    target.use()
    before = gl.living_objects()
    picture = Picture(context, bake_at_once=True)
    camera = Camera(glm.vec3(LIP * CELL, 0.5 * DROP, ROW * CELL), 90.0, 8.0, 420.0, 30.0)
    for discharge in (1.0, 20.0):
        picture.show(cliff(discharge))
        picture.draw(target, camera, Scene())
    picture.release()
    assert gl.living_objects() == before

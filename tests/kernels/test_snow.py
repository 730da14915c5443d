"""Snow: melt against plain references, drift and avalanches exact in mass, where snow ends up, and the same bits."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest

from kernels.parameters import exact
from kernels.scratch import Scratch
from kernels.snow import (
    DriftParameters,
    Exchanged,
    SnowParameters,
    blow,
    exchange,
    slide,
    sun_of_day,
)
from kernels.wind_field import WindFieldParameters, find_wind_field
from tests.kernels.terrain import hills

Map = np.ndarray[Any, np.dtype[np.float64]]
CELL = 20.0
SHAPES = [(8, 8), (8, 51), (33, 70)]


def snowy(**changed: Any) -> SnowParameters:
    usual = SnowParameters(
        precipitation=0.004, days=2.0, temperature=-5.0, lapse_rate=0.0065, melt=0.005, sun=0.5, latitude=46.0,
        declination=0.0, stable_depth=0.6, steepest=55.0, rests=20.0, density=0.35, deepest=20.0, open_edges=False,
    )  # fmt: skip
    return exact(usual._replace(**changed))


def windy(**changed: Any) -> DriftParameters:
    usual = DriftParameters(
        air_speed=12.0, seconds=50_000.0, drift=1.0, fetch=500.0, temperature=-10.0, lapse_rate=0.0, wrap=False
    )
    return exact(usual._replace(**changed))


def passed(ground: Map, snow: Map, parameters: SnowParameters) -> tuple[Exchanged, Map]:
    """A cycle of falling and melting, and the water that ran off, beside the rain."""
    runoff = np.ones(ground.shape, np.float32)
    totals = exchange(ground, snow, np.ones(ground.shape), np.zeros(ground.shape, bool), runoff, CELL, parameters)
    return totals, runoff.astype(np.float64)


def falls(surface: Map) -> Map:
    """The tangent of the steepest way down from each cell."""
    padded = np.pad(surface, 1, constant_values=np.inf)
    rows, columns = surface.shape
    most = np.zeros(surface.shape)
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if down or right:
                other = padded[1 + down : 1 + down + rows, 1 + right : 1 + right + columns]
                most = np.maximum(most, (surface - other) / (CELL * math.hypot(down, right)))
    return most


def cone(side: int = 41, height: float = 700.0) -> Map:
    south, east = np.mgrid[:side, :side] - side // 2
    return height * np.maximum(0.0, 1.0 - np.hypot(south, east) / (0.45 * side))


def test_a_year_of_degree_days_on_level_ground() -> None:
    ground, snow = np.full((8, 11), 800.0), np.zeros((8, 11))
    lies = 0.0
    for cycle in range(120):
        temperature = 6.0 - 12.0 * math.cos(2.0 * math.pi * cycle / 100.0)
        totals, runoff = passed(ground, snow, snowy(temperature=temperature))
        warmth = temperature - 5.2
        falling = 0.004 * min(max(0.5 - warmth / 2.0, 0.0), 1.0)
        melting = min(lies + falling, 0.005 * 2.0 * max(warmth, 0.0))
        lies += falling - melting
        np.testing.assert_allclose(snow, lies, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(runoff, (0.004 - falling + melting) / 0.004, rtol=1e-6)
        np.testing.assert_allclose((totals.fallen, totals.melted), (88 * falling, 88 * melting), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("latitude", [46.0, -46.0, 70.0])
def test_slopes_melt_by_the_sun_of_a_day(latitude: float) -> None:
    """Beside the same sun in steps of a minute, on slopes of all aspects."""
    tilt = 0.4
    turn = (np.arange(1440) + 0.5) * (2.0 * math.pi / 1440) - math.pi
    phi, delta = math.radians(latitude), math.radians(10.0)
    up = math.sin(phi) * math.sin(delta) + math.cos(phi) * math.cos(delta) * np.cos(turn)
    east = -math.cos(delta) * np.sin(turn)
    south = (np.sin(phi) * up - math.sin(delta)) / math.cos(phi)
    above = up > 0.0
    for to_east, to_south in [(tilt, 0.0), (-tilt, 0.0), (0.0, tilt), (0.0, -tilt), (0.3, 0.3)]:
        rows, columns = np.mgrid[:9, :10] * CELL
        ground, snow = to_south * rows + to_east * columns, np.full((9, 10), 5.0)
        passed(ground, snow, snowy(temperature=2.0, lapse_rate=0.0, sun=1.0, latitude=latitude, declination=10.0))
        falling = np.maximum(0.0, up - east * to_east - south * to_south)[above].sum() / math.hypot(
            1.0, to_east, to_south
        )
        expected = 0.02 * falling / up[above].sum()
        np.testing.assert_allclose(5.0 - snow, expected, rtol=0.02)
    assert not len(sun_of_day(80.0, -20.0)), "polar night"


def test_northern_slopes_keep_snow_longer() -> None:
    ground = cone()
    snow = np.full(ground.shape, 0.5)
    for _ in range(3):
        passed(ground, snow, snowy(temperature=12.0))
    assert snow[12, 20] > 1.3 * snow[28, 20]
    np.testing.assert_allclose(snow, snow[:, ::-1], rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", [False, True])
def test_wind_loses_no_snow(shape: tuple[int, int], wrap: bool) -> None:
    random = np.random.default_rng(3)
    ground, snow = hills(*shape, 300.0), random.uniform(0.0, 0.2, shape) * (random.uniform(size=shape) < 0.7)
    field = random.normal(0.5, 1.0, (*shape, 2)).astype(np.float32)
    for cycle in range(6):
        before = snow.sum()
        drifted = blow(ground, snow, field, CELL, windy(wrap=wrap), Scratch(), rows_first=cycle % 2 == 0)
        assert snow.min() >= 0.0
        assert snow.sum() == pytest.approx(before + drifted.gained - drifted.lost, rel=1e-12)
        assert not wrap or drifted == (0.0, 0.0)
    assert wrap or drifted.lost > 0.0


@pytest.mark.parametrize("direction", [0.0, 90.0, 180.0, 270.0])
def test_lee_gets_more_than_windward_sides(direction: float) -> None:
    """A ridge across the wind: its crest is bare before all other ground, and drifts lie behind it."""
    across = np.arange(80) - 40.0
    along = 120.0 / (1.0 + (across / 6.0) ** 2)
    ground = np.ascontiguousarray(np.broadcast_to(along, (48, 80)))
    if direction in (0.0, 180.0):
        ground = np.ascontiguousarray(ground.T)
    field = np.empty((*ground.shape, 2), np.float32)
    shaped = WindFieldParameters(
        wind_direction=direction, speed_up=1.0, upwind=0.3, shelter=0.7, shelter_angle=15.0, tree_shelter=0.0,
        tree_length=8.0, highest=2.5, wrap=False,
    )  # fmt: skip
    find_wind_field(ground, None, CELL, shaped, field)
    snow = np.full(ground.shape, 0.1)
    for cycle in range(10):
        blow(ground, snow, field, CELL, windy(drift=6.0), Scratch(), rows_first=cycle % 2 == 0)
    profile = snow.mean(axis=0 if direction in (90.0, 270.0) else 1)
    profile = profile if direction in (0.0, 270.0) else profile[::-1]  # from windward to leeward
    windward, lee = profile[28:40].mean(), profile[41:53].mean()
    assert lee > 1.5 * windward and lee > 0.1 > profile[36:40].mean()


def test_wind_below_the_threshold_and_wet_snow_lie_still() -> None:
    ground = hills(20, 30, 100.0)
    field = np.ones((20, 30, 2), np.float32)
    for still in (windy(air_speed=3.0), windy(temperature=1.0)):
        snow = np.full(ground.shape, 0.3)
        assert blow(ground, snow, field, CELL, still, Scratch(), rows_first=True) == (0.0, 0.0)
        assert (snow == 0.3).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_avalanches_lose_no_snow_and_leave_none_on_what_is_too_steep(shape: tuple[int, int]) -> None:
    parameters = snowy()
    ground = hills(*shape, 900.0)
    ground[: shape[0] // 2] += 60.0  # a cliff
    snow = np.random.default_rng(1).uniform(0.2, 2.0, shape)
    before = snow.sum()
    assert slide(ground, snow, CELL, parameters, Scratch())[1] == 0.0
    assert snow.sum() == pytest.approx(before, rel=1e-12) and snow.min() >= 0.0
    slopes = falls(ground)
    steep = slopes >= math.tan(math.radians(55.0))
    assert steep.any() and snow[steep].max() <= 1e-11
    angles = np.degrees(np.arctan(np.maximum(slopes, 1e-9)))
    assert (snow <= 1.2 * 0.6 * 30.0**2 / (angles * np.maximum(angles, 20.0)) + 1e-9)[~steep].all()


def test_what_lies_below_its_stable_depth_does_not_move() -> None:
    ground = cone(height=200.0)
    snow = np.full(ground.shape, 0.05)
    assert slide(ground, snow, CELL, snowy(), Scratch()) == (0.0, 0.0)
    assert (snow == 0.05).all()


def test_a_cone_keeps_equal_snow_on_all_sides() -> None:
    """Without wind and sun: mirrored and turned, it is the same but for rounding."""
    ground, snow = cone(height=300.0), np.zeros((41, 41))
    for _ in range(60):
        passed(ground, snow, snowy(sun=0.0, precipitation=0.05))
        slide(ground, snow, CELL, snowy(), Scratch())
    assert snow.std() > 0.2
    for turned in (snow[::-1], snow[:, ::-1], snow.T):
        np.testing.assert_allclose(turned, snow, rtol=1e-9, atol=1e-9)


def test_an_avalanche_ends_in_one_cycle_at_the_foot() -> None:
    rows = np.arange(40.0)[:, None] * CELL
    ground = np.broadcast_to(np.maximum(0.0, 600.0 - 1.0 * rows), (40, 9)).copy()
    snow = np.zeros(ground.shape)
    snow[5, 4] = 4.0
    assert slide(ground, snow, CELL, snowy(), Scratch())[0] > 0.0
    foot = int(600.0 / CELL)
    assert snow[foot:].sum() > 3.4
    assert not snow[6:foot].any() and (snow[foot] > 0.01).sum() > 3, "a fan"


def test_avalanches_leave_a_map_with_open_edges() -> None:
    ground = np.broadcast_to(np.arange(20.0)[::-1, None] * CELL, (20, 9)).copy()  # down to the south
    snow = np.full(ground.shape, 1.0)
    _, left = slide(ground, snow, CELL, snowy(open_edges=True), Scratch())
    assert left > 0.5 * snow.size and snow.sum() == pytest.approx(snow.size - left, rel=1e-12)


def test_threads_change_no_bit() -> None:
    states = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        ground, snow = hills(70, 90, 1200.0), np.zeros((70, 90))
        field = np.ones((70, 90, 2), np.float32)
        for cycle in range(20):
            passed(ground, snow, snowy(temperature=cycle - 10.0, precipitation=0.1))
            blow(ground, snow, field, CELL, windy(), Scratch(), rows_first=cycle % 2 == 0)
            slide(ground, snow, CELL, snowy(), Scratch())
        states.append(snow.tobytes())
    assert states[0] == states[1]


def test_no_snow_lies_on_water_and_none_is_deeper_than_the_deepest() -> None:
    ground, snow = np.zeros((8, 8)), np.full((8, 8), 0.5)
    wet = np.zeros((8, 8), bool)
    wet[:4] = True
    runoff = np.ones((8, 8), np.float32)
    totals = exchange(ground, snow, np.ones((8, 8)), wet, runoff, CELL, snowy(deepest=0.3))
    assert not snow[:4].any()
    np.testing.assert_allclose(snow[4:], 0.3)
    assert totals.fallen + 32.0 - totals.melted == pytest.approx(snow.sum())


def test_where_no_rain_falls_melt_evaporates() -> None:
    ground, snow = np.zeros((8, 8)), np.full((8, 8), 0.01)
    runoff = np.ones((8, 8), np.float32)
    dry = np.zeros((8, 8))
    totals = exchange(ground, snow, dry, dry > 1.0, runoff, CELL, snowy(temperature=10.0))
    assert totals.evaporated == pytest.approx(0.64) and totals.melted == 0.0 and (runoff == 1.0).all()

"""The wind near the ground: what hills, gaps, valleys, ridges and trees do to it, from any side."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.wind_field import find_wind_field
from tests.kernels.parameters import wind_field_parameters
from tests.kernels.terrain import hills

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (64, 64), (130, 257), (300, 520)]
OPEN_GROUND: dict[str, Any] = {"shelter": 0.0, "tree_shelter": 0.0, "shelter_angle": 89.0}
DIRECTIONS = [0.0, 45.0, 90.0, 135.0, 180.0, 225.0, 270.0, 315.0]


def found(ground: Layer, canopy: NDArray[np.float32] | None = None, cell_size: float = 1.0, **p: Any) -> Layer:
    """The field [row, column, (south, east)]; the wind blows from the west, if nothing else is said."""
    field = np.full((*ground.shape, 2), np.nan, np.float32)
    if canopy is not None:
        canopy = np.stack([canopy, canopy], axis=2)[..., 0]  # one of layers that lie side by side, as in the program
    find_wind_field(ground, canopy, cell_size, wind_field_parameters(**p), field)
    return field.astype(np.float64)


def towards(direction: float) -> Layer:
    return np.array([math.cos(math.radians(direction)), -math.sin(math.radians(direction))])


def axes(rows: int, columns: int) -> tuple[Layer, Layer]:
    """How far south and east of the middle each cell is."""
    south, east = np.mgrid[:rows, :columns].astype(float)
    return south - 0.5 * (rows - 1), east - 0.5 * (columns - 1)


def ridge(rows: int = 96, columns: int = 160, height: float = 6.0, width: float = 10.0) -> Layer:
    """From the north to the south, across the west wind."""
    return height * np.exp(-((axes(rows, columns)[1] / width) ** 2))


def plain(ground: Layer, direction: float, speed_up: float, upwind: float, highest: float) -> Layer:
    """The formula at the top of the kernel's file, on a map that wraps, without shelter and in plain complex waves."""
    waves = np.fft.fft2(ground)
    k = np.stack(np.meshgrid(*(2.0 * np.pi * np.fft.fftfreq(side) for side in ground.shape), indexing="ij"), axis=2)
    d = towards(direction)
    length = np.hypot(k[..., 0], k[..., 1])
    length[0, 0] = 1.0
    shortest = np.isclose(np.abs(k), np.pi).any(axis=2)  # has no sign, and so no direction
    smooth = np.where(shortest, 0.0, np.exp(-0.5 * (k**2).sum(2)))
    wind = np.empty((*ground.shape, 2))
    for axis in range(2):
        response = (k @ d) * k[..., axis] / length + 1j * upwind * (k @ d) * d[axis]
        wind[..., axis] = np.fft.ifft2(speed_up * smooth * response * waves).real
    along, across = wind @ d, wind @ np.array([-d[1], d[0]])
    most = highest - 1.0
    limited = np.where(along > 0.0, 1.0 + along / (1.0 + along / most), 1.0 / (1.0 + np.abs(along)))
    across = across / (1.0 + np.abs(across) / most)
    return limited[..., None] * d + across[..., None] * np.array([-d[1], d[0]])


@pytest.mark.parametrize("shape", [(8, 8), (61, 47), (64, 100)])
@pytest.mark.parametrize("direction", [0.0, 33.0, 225.0, 290.0])
def test_agrees_with_the_plain_formula(shape: tuple[int, int], direction: float) -> None:
    for seed in range(3):
        ground = hills(*shape, 0.1 * max(shape), seed)
        ours = found(ground, wrap=True, wind_direction=direction, speed_up=1.5, upwind=0.4, highest=3.0, **OPEN_GROUND)
        np.testing.assert_allclose(ours, plain(ground, direction, 1.5, 0.4, 3.0), rtol=0.0, atol=2e-5)
        assert np.ptp(ours) > 0.1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", [False, True])
def test_over_level_open_ground_it_is_the_prevailing_wind(shape: tuple[int, int], wrap: bool) -> None:
    for direction in (*DIRECTIONS, 10.0, 359.0):
        field = found(np.full(shape, 123.4), np.zeros(shape, np.float32), wind_direction=direction, wrap=wrap)
        np.testing.assert_allclose(field, np.broadcast_to(towards(direction), field.shape), atol=1e-6)


@pytest.mark.parametrize("wrap", [False, True])
def test_faster_over_a_crest_and_fastest_before_it(wrap: bool) -> None:
    ground = ridge()
    east = found(ground, wrap=wrap, **OPEN_GROUND)[48, :, 1]
    crest = int(np.argmax(ground[48]))
    assert east[crest] > 1.3
    assert crest - 8 < np.argmax(east) < crest
    assert east[crest - 25] < 1.0  # slower before it rises
    symmetric = found(ground, wrap=wrap, upwind=0.0, **OPEN_GROUND)[48, :, 1]
    np.testing.assert_allclose(symmetric, symmetric[::-1], atol=2e-3)


def test_steeper_hills_speed_up_more_whatever_their_size() -> None:
    def most(scale: float, height: float) -> float:
        ground = ridge(rows=16, columns=400, height=height * scale, width=10.0 * scale)
        return float(found(ground, **OPEN_GROUND)[8, :, 1].max())

    assert most(1.0, 2.0) < most(1.0, 4.0) < most(1.0, 8.0)
    assert most(2.0, 4.0) == pytest.approx(most(1.0, 4.0), abs=0.03)
    assert found(3.0 * ridge(), cell_size=3.0, **OPEN_GROUND) == pytest.approx(found(ridge(), **OPEN_GROUND), abs=1e-5)


def test_sheltered_behind_a_ridge_and_not_before_it() -> None:
    ground = ridge(height=12.0)
    east = found(ground)[48, :, 1]
    bare = found(ground, shelter=0.0)[48, :, 1]
    crest = int(np.argmax(ground[48]))
    assert (east[crest + 10 : crest + 35] < 0.55).all()
    assert np.array_equal(east[: crest - 2], bare[: crest - 2])
    assert east[crest + 60] > 0.8  # beyond 12 / tan 15°


def test_no_shelter_behind_gentle_hills() -> None:
    ground = ridge(height=2.0, width=20.0)  # slopes of 5°
    assert np.array_equal(found(ground), found(ground, shelter=0.0))


def test_faster_through_a_gap_towards_which_the_wind_turns() -> None:
    south, _ = axes(96, 160)
    ground = ridge(height=12.0) * (1.0 - np.exp(-((south / 8.0) ** 4)))
    field = found(ground)
    gap = field[47:49, 76:84]
    assert (gap[..., 1] > 1.1).all()
    north, southern = field[34, 60:78, 0], field[61, 60:78, 0]
    assert (north > 0.02).all()
    assert (southern < -0.02).all()
    behind = np.s_[90:100, 1]
    assert (field[(47, *behind)] > 2.0 * field[(10, *behind)]).all()  # it blows on where the ridge gives shelter


def test_turned_along_a_valley_and_across_a_ridge() -> None:
    """A valley from the south-west to the north-east under a west wind."""
    south, east = axes(128, 128)
    across = (south + east) * math.sqrt(0.5)
    valley = -6.0 * np.exp(-((across / 20.0) ** 2))
    middle = np.s_[60:68, 60:68]
    field = found(valley, upwind=0.0)[middle]
    assert (field[..., 0] < -0.1).all()  # to the north-east
    assert (field[..., 1] > 0.0).all()
    over = found(-valley, upwind=0.0, **OPEN_GROUND)[middle]
    assert (over[..., 0] > 0.1).all()  # to the south-east, the shortest way over
    along = found(8.0 * np.exp(-((south / 14.0) ** 2)), **OPEN_GROUND)[middle]  # a ridge along the wind does nothing
    np.testing.assert_allclose(along[..., 0], 0.0, atol=1e-3)
    np.testing.assert_allclose(along[..., 1], 1.0, atol=1e-3)


def between(field: Layer, row: float, column: float) -> Layer:
    """The wind between cells."""
    i, j = math.floor(row), math.floor(column)
    down, right = row - i, column - j
    upper = (1.0 - right) * field[i, j] + right * field[i, j + 1]
    lower = (1.0 - right) * field[i + 1, j] + right * field[i + 1, j + 1]
    return np.asarray((1.0 - down) * upper + down * lower)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_turns_with_the_wind(direction: float) -> None:
    """A round hill and round woods: the same wind from each side, in the wind's own axes."""
    south, east = axes(97, 97)
    hill = 9.0 * np.exp(-(south**2 + east**2) / 9.0**2)
    woods = np.exp(-(((south**2 + east**2) / 14.0**2) ** 2)).astype(np.float32)
    for canopy, ground in ((None, hill), (woods, np.zeros_like(hill))):
        west, turned = found(ground, canopy), found(ground, canopy, wind_direction=direction)
        d = towards(direction)
        side = np.array([-d[1], d[0]])  # what is south of the middle in a west wind, is so here
        for along, across in ((0, 0), (-8, 0), (12, 0), (20, 0), (0, 10), (-6, 6), (10, -8), (25, 10)):
            place = 48.0 + along * d - across * side
            expected = west[48 + across, 48 + along]
            got = between(turned, *(float(axis) for axis in place))
            np.testing.assert_allclose([got @ d, -got @ side], expected[::-1], atol=0.06)
        if direction % 90.0 == 0.0:
            turns = round((270.0 - direction) / 90.0)
            same = np.rot90(west, turns)
            np.testing.assert_allclose(
                np.stack([turned @ d, -turned @ side], 2), np.stack([same[..., 1], same[..., 0]], 2), atol=1e-5
            )


@pytest.mark.parametrize("direction", [270.0, 300.0])
def test_a_mirrored_land_has_the_mirrored_wind(direction: float) -> None:
    ground = hills(60, 90, 15.0)
    field = found(ground, wind_direction=direction)
    mirrored = found(np.ascontiguousarray(ground[::-1]), wind_direction=540.0 - direction)
    np.testing.assert_allclose(mirrored[::-1] * [-1.0, 1.0], field, atol=1e-4)


def test_trees_shelter_themselves_and_what_is_behind_them() -> None:
    canopy = np.zeros((40, 120), np.float32)
    canopy[:, 50:60] = 0.9
    east = found(np.zeros((40, 120)), canopy)[20, :, 1]
    assert np.array_equal(east[:49], np.ones(49))
    assert east[55] == pytest.approx(1.0 - 0.6 * 0.9, abs=1e-5)
    assert east[60] < 0.55
    assert (np.diff(east[60:]) > 0.0).all()
    assert east[67] == pytest.approx(1.0 - 0.6 * 0.9 * math.exp(-1.0), abs=0.03)
    assert east[100] > 0.98


@pytest.mark.parametrize("direction", [0.0, 30.0, 90.0, 200.0, 270.0])
def test_a_map_that_wraps_has_no_edge(direction: float) -> None:
    ground, canopy = hills(48, 80, 30.0), np.zeros((48, 80), np.float32)
    canopy[20:24, 70:78] = 1.0
    field = found(ground, canopy, wind_direction=direction, wrap=True)
    moved = found(
        np.roll(ground, (17, 31), (0, 1)), np.roll(canopy, (17, 31), (0, 1)), wind_direction=direction, wrap=True
    )
    np.testing.assert_allclose(moved, np.roll(field, (17, 31), (0, 1)), atol=3e-4)


@pytest.mark.parametrize("wrap", [False, True])
def test_a_large_map_has_the_wind_of_its_smaller_picture(wrap: bool) -> None:
    small = hills(100, 200, 12.0)
    large = np.kron(small, np.ones((4, 4)))
    ours = found(large, cell_size=1.0, wrap=wrap, tree_length=32.0).reshape(100, 4, 200, 4, 2).mean((1, 3))
    expected = found(small, cell_size=4.0, wrap=wrap)
    assert np.sqrt(((ours - expected) ** 2).mean()) < 0.03


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", [False, True])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], wrap: bool, two_threads: int) -> None:
    results = []
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        canopy = hills(*shape, 1.0, 5).astype(np.float32)
        results.append(found(hills(*shape, 30.0), canopy, wind_direction=211.0, wrap=wrap).tobytes())
    assert results[0] == results[1]


ENDS = {
    "speed_up": (0.0, 4.0), "upwind": (0.0, 2.0), "shelter": (0.0, 1.0), "shelter_angle": (1.0, 90.0),
    "tree_shelter": (0.0, 1.0), "tree_length": (1.0, 100.0), "highest": (1.0, 5.0),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [False, True])
def test_parameters_at_their_ends_leave_a_wind_that_blows_on(wrap: bool) -> None:
    tower = np.zeros((16, 11))
    tower[5:8, 4:9] = 500.0
    canopy = (tower > 0.0).astype(np.float32)
    for ground in (tower, hills(16, 11, 1e5)):
        for name, ends in ENDS.items():
            for value in ends:
                for direction in (0.0, 211.0, 270.0):
                    field = found(ground, canopy, wind_direction=direction, wrap=wrap, **{name: value})
                    assert np.isfinite(field).all(), (name, value)
                    highest = value if name == "highest" else 2.5
                    assert (field @ towards(direction) >= -1e-6).all(), (name, value)
                    assert np.hypot(field[..., 0], field[..., 1]).max() <= math.hypot(highest, highest - 1.0) + 1e-5
    assert np.array_equal(found(hills(20, 30), highest=1.0, **OPEN_GROUND)[..., 0], np.zeros((20, 30)))


def test_a_bad_cell_is_seen_in_the_field() -> None:
    ground = hills(40, 40)
    ground[3, 4] = np.nan
    assert np.isnan(found(ground)).any()

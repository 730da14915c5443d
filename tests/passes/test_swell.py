"""The swell as it is drawn over a map: when it comes and how high, against formulas and a solution by other means."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array, vstack
from scipy.sparse.linalg import lsqr

from app.picture.passes.swell import SeaGrid, Swell, plane_phase, sea_grid, swell_field
from app.picture.passes.waves import wave_number
from kernels.swell import find_crests
from tests.passes import reference_waves

SPACING = 40.0
DEEP = 2.0 * math.pi / 120.0
Numbers = NDArray[np.float64]


def grid(depth: NDArray[np.floating]) -> SeaGrid:
    found = sea_grid(depth.astype(np.float32), SPACING)
    assert found.cells == math.ceil(max(depth.shape) / 128)
    return found


def field(depth: NDArray[np.floating], towards: float) -> tuple[Numbers, Numbers]:
    """Arrival and height."""
    arrival, height = np.moveaxis(swell_field(grid(depth), Swell(DEEP, towards)), -1, 0)
    return arrival, height


def test_wave_numbers_of_any_depth() -> None:
    depth = np.geomspace(1e-3, 1e4, 200)
    np.testing.assert_allclose(wave_number(DEEP, depth), reference_waves.wave_number(DEEP, depth), rtol=1e-3)


@pytest.mark.parametrize("towards", [0.0, 17.0, 90.0, 135.0, 200.0, 314.0])
def test_on_open_water_the_phase_is_the_way_along_the_swell(towards: float) -> None:
    swell = Swell(DEEP, towards)
    open_sea = grid(np.full((40, 56), 500.0))
    arrival, height = field(np.full((40, 56), 500.0), towards)
    np.testing.assert_allclose(arrival, plane_phase(open_sea, swell), atol=5e-3)
    row, column = 7, 9
    way = SPACING * (column * math.sin(math.radians(towards)) - row * math.cos(math.radians(towards)))
    assert plane_phase(open_sea, swell)[row, column] == pytest.approx(DEEP * way, abs=1e-3)
    assert height == pytest.approx(1.0, abs=1e-3), "and nothing takes of its height"


def test_over_a_bed_that_rises_crests_turn_as_snell_says() -> None:
    """The wave number along the contours stays; what is left of it runs up the slope."""
    away = SPACING * np.arange(100, 0, -1)
    depth = np.maximum(0.016 * (away - 500.0), 0.0) + 4.0
    middle = field(np.tile(depth, (128, 1)), 55.0)[0][64]
    along = DEEP * math.cos(math.radians(55.0))
    number = reference_waves.wave_number(DEEP, depth)
    across = np.sqrt(number**2 - along**2)
    expected = SPACING * np.concatenate([[0.0], np.cumsum(0.5 * (across[1:] + across[:-1]))])
    np.testing.assert_allclose(middle - middle[0], expected, rtol=0.015, atol=0.1)
    turned = math.atan2(along, across[-1])
    assert turned < math.radians(20.0)


@pytest.mark.parametrize("seed", [1, 2])
def test_crests_fit_the_swell_best_by_least_squares(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, columns = 33, 46
    away = np.hypot(*(np.mgrid[:rows, :columns] - np.array([15.0, 20.0])[:, None, None]))
    turned = 0.5 + 0.8 * np.exp(-away / 12.0) + 0.1 * random.standard_normal()
    energy = np.where(away < 6.0, 0.0, 1.0 - 0.8 * np.exp(-away / 9.0))
    south, east, number = energy * np.cos(turned), energy * np.sin(turned), np.full((rows, columns), 1.3)
    found = find_crests(south, east, number, (0.9, 0.6))
    index, wet = np.arange(rows * columns).reshape(rows, columns), energy > 0.0
    parts, told = [], []
    for before, after, way, plane in (
        (np.s_[:-1], np.s_[1:], np.cos(turned), 0.9),
        (np.s_[:, :-1], np.s_[:, 1:], np.sin(turned), 0.6),
    ):
        both = wet[before] & wet[after]
        step = (0.65 * (way[before] + way[after]) - plane)[both]
        weight = np.sqrt(0.5 * (energy[before] + energy[after]) + 0.01)[both]
        edges = np.arange(both.sum())
        here, there = index[after][both], index[before][both]
        values = np.concatenate([weight, -weight])
        where = np.concatenate([edges, edges]), np.concatenate([here, there])
        parts.append(coo_array((values, where), shape=(both.sum(), rows * columns)))
        told.append(weight * step)
    expected = lsqr(vstack(parts), np.concatenate(told), atol=1e-10, btol=1e-10)[0].reshape(rows, columns)
    apart = (found - expected)[wet]
    assert np.ptp(expected[wet]) > 3.0
    assert np.ptp(apart) < 0.2


ROUND = np.where(np.hypot(*(np.mgrid[:81, :121] - np.array([40.0, 40.0])[:, None, None])) < 14.0, 0.0, 400.0)


def test_behind_a_round_island_waves_are_low_and_come_late_and_alike_from_both_sides() -> None:
    arrival, height = field(ROUND, 90.0)
    np.testing.assert_allclose(arrival, arrival[::-1], atol=0.2)
    np.testing.assert_allclose(height, height[::-1], atol=1e-3)
    assert height[40, 20] > 0.99 and height[40, 57] < 0.25, "just before it, and just behind it"
    behind = height[40, 56:]
    assert (np.diff(behind) > -0.02).all() and behind[-1] > 0.6, "far behind it waves are nearly as high again"
    edge = np.convolve(height[:41, 70], (0.25, 0.5, 0.25), "valid")  # about as smooth as it is looked up
    assert np.diff(edge).max() < 0.03 and np.diff(edge).min() > -0.12, "no sharp edge of the shadow"
    late = arrival - plane_phase(grid(ROUND), Swell(DEEP, 90.0))
    assert late[40, 58] - late[40, 20] > 3.0
    later = np.diff(late[:, 75])
    assert (later[22:38] > 0.1).all() and (later[42:58] < -0.1).all(), "crests run into the shadow from both sides"


def test_on_a_lake_waves_grow_with_their_way_over_water() -> None:
    depth = np.zeros((50, 70))
    depth[10:40, 10:60] = 300.0
    arrival, height = field(depth, 90.0)
    along = height[25, 10:60]
    assert along[0] < 0.2 and 0.3 < along[-1] < 1.0 and (np.diff(along) > -1e-3).all()
    over = np.diff(arrival[12:38, 10:60], axis=1)
    np.testing.assert_allclose(over, DEEP * SPACING, atol=0.2)


def test_what_a_process_knows_of_the_swell_is_drawn_and_found_only_where_none_does() -> None:
    depth = np.full((48, 60), 300.0, np.float32)
    depth[:, 30:34] = 0.0
    south, east = np.zeros_like(depth), np.zeros_like(depth)
    south[:, :30], east[:, :30] = 0.25 * math.sin(0.4), 0.25 * math.cos(0.4)
    waters = sea_grid(depth, SPACING)
    arrival, height = np.moveaxis(swell_field(waters.with_swell((south, east)), Swell(DEEP, 30.0)), -1, 0)
    assert height[:, 2:29] == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(np.diff(arrival, axis=0)[:, 2:29], DEEP * SPACING * math.sin(0.4), atol=0.02)
    assert (height[:, 36:] > 0.0).all() and height[24, -1] > height[24, 36], "the wind raises other waves on a lake"
    assert (waters.with_swell((south, east)).with_swell(None).east == 0.0).all()


@pytest.mark.parametrize(("shape", "cells"), [((64, 100), 1), ((300, 130), 3), ((5, 700), 6)])
def test_the_grid_of_a_map_of_any_shape(shape: tuple[int, int], cells: int) -> None:
    depth = np.where(np.random.default_rng(1).random(shape) < 0.6, 8.0, 0.0).astype(np.float32)
    found = sea_grid(depth, 10.0)
    assert found.cells == cells and found.spacing == 10.0 * cells
    assert found.wet.shape == tuple(-(-side // cells) for side in shape)
    np.testing.assert_allclose(found.depth[found.wet > 0.0], 8.0, rtol=1e-5)
    known = np.where(depth > 0.0, np.float32(0.3), np.float32(0.0))
    assert found.with_swell((known, -known)).east[found.wet > 0.0] == pytest.approx(-0.3, abs=1e-5)
    drawn = swell_field(found, Swell(DEEP, 30.0))
    assert np.isfinite(drawn).all() and drawn[..., 1].min() >= 0.0 and drawn[..., 1].max() <= 1.0


def test_dry_land_has_no_waves_but_numbers() -> None:
    drawn = swell_field(grid(np.zeros((6, 9))), Swell(DEEP, 90.0))
    assert np.isfinite(drawn).all() and (drawn[..., 1] == 0.0).all()


def test_its_kernels_are_not_loaded_before_they_are_asked_for() -> None:
    """A first picture does not wait for them."""
    program = (
        "import sys; from app.picture.passes.swell import swell_is_ready as ready; assert not ready()\n"
        "assert 'numba' not in sys.modules; from kernels.swell import prepare; assert not ready()\n"
        "prepare(); assert ready()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

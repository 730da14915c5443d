"""Maps in finer cells: their means are kept, they are smooth, and water finds its way."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from app.engine.creation import create_world
from app.scene.scene import load_preset
from kernels.refining import refine_ground, repeated, smooth, within
from kernels.rivers import drain
from tests.nets.cases import covered, tried

maps = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9), elements=st.floats(-50.0, 50.0))


def means(values: np.ndarray, times: int) -> np.ndarray:
    rows, columns = values.shape
    found: np.ndarray = values.reshape(rows // times, times, columns // times, times).mean(axis=(1, 3))
    return found


def volume_to_fill(ground: np.ndarray, cell_size: float, sea_level: float = -np.inf) -> float:
    """In metres over one cell of the whole map."""
    drainage = drain(np.ascontiguousarray(ground), cell_size, sea_level)
    return float(np.where(drainage.ocean, 0.0, drainage.filled - ground).mean())


@given(values=maps, times=st.sampled_from([2, 4]))
@tried(50)
def test_each_cell_keeps_its_mean(values: np.ndarray, times: int) -> None:
    for fine in (smooth(values, times), within(values, times, -50.0, 50.0), repeated(values, times)):
        np.testing.assert_allclose(means(fine, times), values, rtol=0.0, atol=1e-11)


@given(values=maps, times=st.sampled_from([2, 4]))
@tried(50)
def test_what_is_within_bounds_stays_so(values: np.ndarray, times: int) -> None:
    fine = within(np.abs(values), times, 0.0, 50.0)
    assert fine.min() >= 0.0
    assert fine.max() <= 50.0
    nothing = np.zeros_like(values)
    assert not within(nothing, times).any()


@pytest.mark.parametrize("times", [2, 4])
def test_a_plane_stays_one_and_hills_have_no_steps(times: int) -> None:
    south, east = np.mgrid[:12, :17].astype(float)
    places = (np.arange(12 * times) + 0.5) / times - 0.5, (np.arange(17 * times) + 0.5) / times - 0.5
    plane = 3.0 * places[0][:, None] - 2.0 * places[1]
    inner = np.s_[2 * times : -2 * times, 2 * times : -2 * times]
    for fine in (smooth(3.0 * south - 2.0 * east, times), within(3.0 * south - 2.0 * east, times, -99.0)):
        np.testing.assert_allclose(fine[inner], plane[inner], atol=1e-12)
    hills = np.sin(0.7 * south) * np.cos(0.6 * east)
    bends = [np.abs(np.diff(fine, 2, axis=0)).max() for fine in (smooth(hills, times), repeated(hills, times))]
    assert bends[0] < 0.25 * bends[1]


@functools.cache
def part_of(name: str) -> np.ndarray:
    return np.ascontiguousarray(create_world(load_preset(name))[0].ground[40:120, 30:140])


@covered(name=["jacksboro", "noise", "ridged", "basic"], times=[2, 4], channels=[False, True])
def test_no_hollow_comes_where_there_was_none_and_none_holds_more(name: str, times: int, channels: bool) -> None:
    ground = part_of(name)
    found = refine_ground(ground, 20.0, -np.inf, times, channels=channels)
    assert volume_to_fill(found.ground, 20.0 / times) <= volume_to_fill(ground, 20.0) * (1.0 + 1e-9)
    dry = drain(ground, 20.0, -np.inf).filled == ground
    fine = drain(found.ground, 20.0 / times, -np.inf)
    assert (fine.filled - found.ground)[repeated(dry, times)].max() < 1e-9
    assert found.carved.min() >= 0.0
    assert found.filled.min() >= 0.0
    changed = means(found.ground, times) - ground
    np.testing.assert_allclose(changed, means(found.filled - found.carved, times), rtol=0.0, atol=1e-9)
    assert np.abs(changed).mean() < 1e-3 * np.ptp(ground)


def test_without_carving_valleys_that_run_aslant_are_dammed() -> None:
    """What the carving is for."""
    south, east = np.mgrid[:60, :60].astype(float)
    ground = 8.0 * np.abs(south - east) + 0.5 * (120.0 - south - east)
    assert volume_to_fill(ground, 10.0) == 0.0
    assert volume_to_fill(smooth(ground, 2), 5.0) > 1e-4
    assert volume_to_fill(refine_ground(ground, 10.0, -np.inf, 2, channels=True).ground, 5.0) < 1e-9


def test_channels_are_deeper_where_more_water_comes() -> None:
    south, east = np.mgrid[:80, :40].astype(float)
    ground = 2.0 * np.abs(east - 20.0) + 1.0 * (80.0 - south)
    plain = refine_ground(ground, 10.0, -np.inf, 2, channels=False).ground
    cut = refine_ground(ground, 10.0, -np.inf, 2, channels=True).ground
    deeper = (plain - cut).max(axis=1)
    assert deeper[20] < deeper[100] < deeper[150]
    assert 0.05 < deeper[150] < 2.0


def test_the_same_map_gives_the_same_bits() -> None:
    ground = np.random.default_rng(3).normal(size=(50, 40)).cumsum(axis=0)
    one, other = (refine_ground(ground, 5.0, 0.0, 4, channels=True) for _ in range(2))
    assert one.ground.tobytes() == other.ground.tobytes()


def test_no_island_comes_up_in_a_lake() -> None:
    raw = load_preset("noise").with_value("world.worn", 0.0)
    ground = np.ascontiguousarray(create_world(raw)[0].ground[:120, :120])
    old = drain(ground, 20.0, -np.inf)
    lakes = old.filled - ground > 1e-9
    assert lakes.sum() > 100
    fine = refine_ground(ground, 20.0, -np.inf, 4, channels=True).ground
    assert (fine[repeated(lakes, 4)] <= repeated(old.filled, 4)[repeated(lakes, 4)] + 1e-9).all()

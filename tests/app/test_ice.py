"""Ice as a process of a scene: its ledger, what it does to other processes, and what is left of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.simulator import Simulator
from app.files import checkpoint
from app.scene.scene import Scene
from kernels.scratch import Scratch
from tests.app.small import bits, simulated, small_scene

LAYERS = {"ice", "ice_debris", "ice_speed", "ice_runoff"}


def icy(**settings: object) -> Scene:
    """Land of 4 km with mountains above the snow line."""
    usual = {
        "world__cell_size": 100.0,
        "world__relief": 1500.0,
        "ice__enabled": True,
        "ice__snow_line": 700.0,
        "ice__wear": 0.001,
    }
    return small_scene(**{**usual, **settings})


def test_off_by_default_and_without_a_trace() -> None:
    assert not Scene().ice.enabled
    assert not LAYERS & simulated(1).world.layers.keys()


def test_land_below_the_snow_line_is_as_without_it() -> None:
    low = icy(ice__snow_line=5000.0)
    without = simulated(3, low.with_value("ice.enabled", False))
    assert bits(simulated(3, low).world) == bits(without.world)


@pytest.mark.parametrize("materials", [False, True])
def test_all_of_it_is_in_the_ledger(materials: bool) -> None:
    scene = icy(pools__enabled=True, materials__enabled=materials)
    simulator = simulated(12, scene)
    simulator.verify()
    world = simulator.world
    assert world.layers["ice"].max() > 10.0 and world.layers["ice_debris"].max() > 0.0
    assert world.imbalance() < 1e-9
    assert world.ledger.water.gained["snow on ice"] > world.ledger.water.lost["melted from ice"] > 0.0
    assert world.ledger.rock.lost["worn by ice"] > 0.0
    np.testing.assert_array_equal(world.ground, (world.bedrock + world.sediment) + world.layers["ice"])


@pytest.mark.parametrize("materials", [False, True])
def test_flour_goes_with_the_melt_water(materials: bool) -> None:
    floury, other = (
        simulated(1, icy(ice__fines=fines, materials__enabled=materials, droplets__enabled=False)).world
        for fines in (0.6, 0.0)
    )
    worn = floury.ledger.rock.lost["worn by ice"]
    assert worn == other.ledger.rock.lost["worn by ice"] > 0.0
    assert 0.5 * worn < floury.ledger.sediment.lost["ground to flour by ice"] <= 0.6 * worn
    assert floury.layers["ice_debris"].sum() < other.layers["ice_debris"].sum()
    assert "ground to flour by ice" not in other.ledger.sediment.lost
    assert max(map(abs, floury.imbalances().values())) < 1e-12


@pytest.mark.parametrize("materials", [False, True])
def test_switched_off_it_melts_and_leaves_its_debris(materials: bool) -> None:
    simulator = simulated(6, icy(materials__enabled=materials))
    world = simulator.world
    carried, loose = world.layers["ice_debris"].sum(), world.stored("sediment")
    assert carried > 0.0
    simulator.change(simulator.scene.with_values({"ice.enabled": False, "droplets.enabled": False}))
    simulator.advance()
    simulator.verify()
    assert not LAYERS & world.layers.keys()
    assert world.stored("sediment") == pytest.approx(loose, rel=1e-12)
    assert world.imbalance() < 1e-9


def test_a_higher_snow_line_leaves_none() -> None:
    simulator = simulated(6, icy())
    simulator.change(simulator.scene.with_values({"ice.snow_line": 6000.0, "ice.years_per_cycle": 50.0}))
    for _ in range(12):
        simulator.advance()
    simulator.verify()
    assert not LAYERS & simulator.world.layers.keys()


def test_rivers_get_its_water_and_move_nothing_below_it() -> None:
    simulator = simulated(10, icy(droplets__enabled=False))
    world = simulator.world
    melts, gains = world.layers["ice_runoff"] > 1.5, world.layers["ice_runoff"] < 0.5
    assert melts.any() and gains.any()
    np.testing.assert_array_equal(world.rain_rate, world.layers["ice_runoff"])
    assert world.rates is not None and world.unsheltered is None
    assert (world.rates[world.layers["ice"] >= 1.0, 5] == 0.0).all()
    assert (world.rates[world.layers["ice"] < 1.0] == 1.0).all()
    sheltered = world.layers["ice"] >= 1.0
    bed = world.bedrock + world.sediment
    simulator.change(simulator.scene.with_values({"droplets.enabled": True, "droplets.count": 500, "ice.every": 100}))
    simulator.advance()
    moved = world.bedrock + world.sediment != bed
    assert moved.any() and not moved[sheltered].any()


def test_ice_makes_rates_only_where_it_shelters_and_in_shared_memory() -> None:
    world = simulated(1, icy(ice__enabled=False)).world
    ice, scratch = world.trace("ice"), Scratch()
    ice[...] = 0.9
    assert world.rates is None and world.rates_in(scratch.begin()) is None
    ice[3, 4] = 1.0
    for _ in range(2):  # the block has grown by the second time
        rates = world.rates_in(scratch.begin())
        assert rates is not None and rates.flags.c_contiguous
        np.testing.assert_array_equal(np.argwhere(rates != 1.0), [[3, 4, 3], [3, 4, 5]])  # growth and mobility
    assert scratch.nbytes >= rates.nbytes
    assert np.shares_memory(scratch.begin().empty(8), rates)
    world.lay_rate("rate_wind", np.full(world.shape, 2.0))
    rates = world.rates_in(scratch.begin())
    assert rates is not None and (rates[3, 4] == [1.0, 2.0, 1.0, 0.0, 1.0, 0.0]).all()
    assert world.unsheltered is not None and (world.unsheltered[..., 5] == 1.0).all()


def test_seasons_move_the_snow_line_of_short_cycles() -> None:
    usual = {"ice__snow_line": 1200.0, "droplets__enabled": False}
    seasons = {"climate__year": 8, "climate__season_temperature": 10.0, **usual}
    short = simulated(8, icy(ice__years_per_cycle=0.125, **seasons)).world
    steady = simulated(8, icy(ice__years_per_cycle=0.125, **usual)).world
    assert short.ledger.water.gained["snow on ice"] > 1.2 * steady.ledger.water.gained["snow on ice"]
    year = simulated(8, icy(ice__years_per_cycle=1.0, **seasons)).world
    same = simulated(8, icy(ice__years_per_cycle=1.0, **usual)).world
    np.testing.assert_array_equal(year.layers["ice"], same.layers["ice"])


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    first = simulated(5, icy())
    checkpoint.save(tmp_path / "world.npz", first.world, first.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    second = Simulator(scene, world)
    for _ in range(3):
        first.advance()
        second.advance()
    assert bits(first.world) == bits(second.world)


def test_threads_change_no_bit() -> None:
    scene = icy(pools__enabled=True)
    assert bits(simulated(6, scene, threads=1).world) == bits(simulated(6, scene, threads=2).world)


def test_beside_uplift_it_wears_for_all_years() -> None:
    """Of geological time, in which ice flows for few years."""
    scene = icy(geology__enabled=True, geology__years_per_cycle=500.0, ice__years_per_cycle=500.0, ice__most_steps=3)
    simulator = simulated(4, scene)
    simulator.verify()
    assert simulator.world.ledger.rock.lost["worn by ice"] > 0.0

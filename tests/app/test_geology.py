"""Rivers and uplift in a world: the clock, the ledger, what it goes on beside, and the ranges that begin old."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world, size_in_cells
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.errors import UserError
from app.model.geology_parameters import GeologyParameters, Uplift
from app.model.numbers import time_text
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.geology import Geology
from app.scene.scene import Scene, load_preset, read_preset
from kernels.filling import fill
from kernels.ocean import ocean_mask, outlet_mask
from kernels.uplift import PATTERNS
from tests.app.small import bits, small_scene

PRESETS = (
    "young-range", "old-range", "fold-belt", "fault-block", "escarpment", "dome", "volcanic-island", "lifted",
)  # fmt: skip


def scene_of(**settings: object) -> Scene:
    """Noise that rivers of geological time wear, and nothing else."""
    usual = {"droplets__enabled": False, "geology__enabled": True, "world__relief": 300.0, "geology__erodibility": 2e-5}
    return small_scene(**{**usual, **settings})


def run(scene: Scene, cycles: int, threads: int | None = None) -> World:
    simulator = Simulator(scene, create_world(scene)[0], threads)
    for _ in range(cycles):
        simulator.advance()
    simulator.verify()
    return simulator.world


def small_range(side: int = 96, **settings: object) -> Scene:
    values = {
        "world__source": "range",
        "world__columns": side,
        "world__rows": side,
        "world__cell_size": 30_000.0 / side,
    }
    return scene_of(
        **{**values, "world__relief": 0.0, "geology__erodibility": 5e-6, "world__soil_depth": 0.0, **settings}
    )


def test_the_clock_goes_on_with_each_step(tmp_path: Path) -> None:
    world = run(scene_of(geology__years_per_cycle=2500.0), 12)
    assert world.years == 30_000.0
    assert world.ledger.rock.gained["uplift"] > 0.0
    assert world.ledger.rock.lost["worn by rivers and slopes"] > 0.0
    assert world.imbalance() < 1e-12
    checkpoint.save(tmp_path / "world.npz", world, scene_of())
    assert checkpoint.load(tmp_path / "world.npz")[0].years == 30_000.0
    assert world.copy().years == 30_000.0


def test_every_few_cycles_it_makes_up_for_all_of_them() -> None:
    every = run(scene_of(geology__every=4, geology__years_per_cycle=1000.0), 12)
    longer = run(scene_of(geology__years_per_cycle=4000.0), 3)
    assert every.years == longer.years == 12_000.0
    assert np.array_equal(every.ground, longer.ground)
    between = run(scene_of(geology__every=4, geology__years_per_cycle=1000.0), 11)
    assert between.years == 8000.0


@pytest.mark.parametrize(("first", "then"), [(10, 7), (4, 10), (7, 1)])
def test_no_year_is_lost_or_done_twice_where_its_steps_change(first: int, then: int, tmp_path: Path) -> None:
    scene = scene_of(geology__every=first, geology__years_per_cycle=1000.0)
    simulator = Simulator(scene, create_world(scene)[0])
    for _ in range(13):
        simulator.advance()
    checkpoint.save(tmp_path / "world.npz", simulator.world, scene)
    world = checkpoint.load(tmp_path / "world.npz")[0]
    assert world.years_to_come == simulator.world.years_to_come == 13_000.0 % (1000.0 * first)
    simulator = Simulator(scene, world)
    simulator.change(scene.with_values({"geology.every": then, "geology.years_per_cycle": 500.0}))
    for _ in range(27):
        simulator.advance()
    simulator.verify()
    assert simulator.world.years + simulator.world.years_to_come == 13_000.0 + 27 * 500.0


def test_where_it_begins_within_a_period_it_is_for_the_cycles_that_it_has_run() -> None:
    scene = scene_of(geology__every=10, geology__years_per_cycle=1000.0)
    simulator = Simulator(scene.with_value("geology.enabled", False), create_world(scene)[0])
    for _ in range(6):
        simulator.advance()
    simulator.change(scene)
    for _ in range(4):
        simulator.advance()
    assert simulator.world.years == 4000.0


def test_uplift_that_is_even_takes_no_maps_and_gives_the_same_bits() -> None:
    """As one that differs from cell to cell by nothing."""
    even = GeologyParameters(uplift=0.7, years_per_cycle=3333.0)
    one, other = (create_world(scene_of())[0] for _ in range(2))
    for world in (one, other):
        world.lay_rate("rate_uplift", np.linspace(0.5, 1.5, world.ground.size).reshape(world.shape))
    Geology().step(one, even, Cycle())
    with pytest.MonkeyPatch.context() as patch:
        metres = Uplift(1, 1, 0).risen(even, 0.0, 3333.0)
        patch.setattr(Uplift, "risen", lambda *_: np.full(other.shape, metres))
        Geology().step(other, even, Cycle())
    assert one.ground.tobytes() == other.ground.tobytes()


def test_what_is_switched_off_gives_back_its_memory() -> None:
    scene = scene_of()
    simulator = Simulator(scene, create_world(scene)[0])
    simulator.advance()
    simulator.advance()  # it is as large as the cycle before needed
    room = simulator.cycle.scratch
    assert room.nbytes > 0
    simulator.change(scene.with_value("geology.enabled", False))
    simulator.advance()
    assert room.nbytes == 0
    simulator.change(scene)
    simulator.advance()
    assert simulator.world.years == 3 * scene.geology.years_per_cycle


def test_uplift_that_has_ended_adds_no_rock() -> None:
    settings = {"geology__years_per_cycle": 1000.0, "geology__uplift": 2.0}
    world = run(scene_of(geology__uplift_end=4500.0, **settings), 10)
    inside = world.ledger.rock.gained["uplift"] / world.cell_area
    assert inside <= 9.0 * world.bedrock.size, "4.5 of the 10 steps"
    still = run(scene_of(geology__uplift_end=1.0, **settings), 10)
    assert still.ledger.rock.gained["uplift"] < 1e-3 * world.ledger.rock.gained["uplift"]


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("shape", [(40, 40), (30, 90)])
def test_patterns_are_the_same_at_any_resolution(name: str, shape: tuple[int, int]) -> None:
    parameters = GeologyParameters(uplift_pattern=name, uplift=1.0, uplift_direction=70.0)  # type: ignore[arg-type]
    finer = (4 * shape[0], 4 * shape[1])
    coarse, fine = (
        np.broadcast_to(Uplift(*cells, 5).risen(parameters, 0.0, 1000.0), cells) for cells in (shape, finer)
    )
    means = fine.reshape(shape[0], 4, shape[1], 4).mean(axis=(1, 3))
    assert coarse.max() <= 1.0 and coarse.max() > 0.8
    assert np.abs(coarse - means).mean() < 0.02


@pytest.mark.parametrize("edge", ["open", "sea", "wall"])
@pytest.mark.parametrize("kinds", [False, True])
def test_nothing_is_lost_whatever_lies_beyond_the_edge(edge: str, kinds: bool) -> None:
    scene = scene_of(
        edges__water=edge, edges__sea_level=60.0, materials__enabled=kinds, world__soil_depth=3.0,
        geology__deposition=1.0, geology__diffusivity=0.5,
    )  # fmt: skip
    world = run(scene, 15)
    assert world.imbalance() < 1e-12
    left = world.ledger.sediment.lost.get("off the map", 0.0)
    assert left == 0.0 if edge == "wall" else left > 0.0


def test_all_processes_go_on_beside_it() -> None:
    enabled = ("pools", "moisture", "droplets", "wind", "weathering", "cascade", "plants")
    scene = scene_of(**{f"{name}__enabled": True for name in enabled}, geology__years_per_cycle=200.0)
    one, two = (run(scene, 24, threads) for threads in (1, 2))
    assert bits(one) == bits(two)
    assert one.years == 4800.0
    assert one.ledger.rock.lost["worn by drops"] > 0.0


def test_more_rain_wears_more() -> None:
    dry, wet = (run(scene_of(climate__precipitation=rain, geology__uplift=0.0), 8) for rain in (200.0, 3200.0))
    name = "worn by rivers and slopes"
    assert wet.ledger.rock.lost[name] > 1.2 * dry.ledger.rock.lost[name]


def test_uplift_that_was_a_process_of_its_own_is_read() -> None:
    scene = read_preset("[uplift]\nenabled = true\nrate = 0.25\n", "old")
    world = run(scene.with_values({"world.columns": 32, "world.rows": 32, "droplets.enabled": False}), 4)
    before, _ = create_world(scene.with_values({"world.columns": 32, "world.rows": 32}))
    risen = world.ground - before.ground
    assert np.isclose(risen, 1.0).mean() > 0.9, "but for the base level at the edge"
    assert not world.ledger.rock.lost


def test_times_are_told_in_words() -> None:
    assert [time_text(years) for years in (0.0, 950.0, 45_000.0, 2_345_000.0, 8e7)] == [
        "0 years", "950 years", "45 ky", "2.35 My", "80.00 My"
    ]  # fmt: skip


# Ranges


def test_a_range_begins_with_its_age_and_drains() -> None:
    world, _ = create_world(small_range(128))
    assert world.years == 5e6
    assert np.ptp(world.ground) > 500.0
    filled = fill(world.ground, outlet_mask(ocean_mask(world.ground, -math.inf)))
    assert (filled - world.ground).mean() < 1.0
    plain, _ = create_world(small_range(128, geology__age=0.0))
    assert np.ptp(plain.ground) < 25.0
    young, _ = create_world(small_range(128, geology__age=3e5))
    assert np.ptp(plain.ground) < np.ptp(young.ground) < np.ptp(world.ground)


@pytest.mark.parametrize("columns", [96, 160])
def test_a_range_is_the_same_land_in_finer_cells(columns: int) -> None:
    scene = small_range(columns, world__rows=columns // 2)
    finer = scene.with_values(size_in_cells(scene, 2 * columns, columns))
    coarse, fine = (create_world(made)[0].ground for made in (scene, finer))
    means = fine.reshape(columns // 2, 2, columns, 2).mean(axis=(1, 3))
    assert np.corrcoef(coarse.ravel(), means.ravel())[0, 1] > 0.9
    assert coarse.mean() == pytest.approx(fine.mean(), rel=0.2)
    assert np.ptp(coarse) == pytest.approx(np.ptp(fine), rel=0.2)


@pytest.mark.parametrize("coarse", [128, *(pytest.param(side, marks=pytest.mark.nightly) for side in (256, 512))])
def test_a_range_goes_on_as_the_same_land(coarse: int) -> None:
    """After the same time: hypsometry, slopes seen from afar, and the rock that was worn."""
    found = []
    for side in (coarse, 2 * coarse):
        scene = load_preset("young-range")
        world = run(scene.with_values(size_in_cells(scene, side, 0)), 20)
        ground = world.ground
        seen = ground.reshape(128, side // 128, 128, side // 128).mean(axis=(1, 3))
        slope = np.hypot(*np.gradient(seen, world.cell_size * side / 128)).mean()
        integral = (ground.mean() - ground.min()) / np.ptp(ground)
        worn = world.ledger.rock.lost["worn by rivers and slopes"] / (world.cell_area * ground.size)
        found.append((integral, slope, worn))
    (integral, slope, worn), other = found
    assert other[0] == pytest.approx(integral, abs=0.02)
    assert other[1] == pytest.approx(slope, rel=0.1)
    assert other[2] == pytest.approx(worn, rel=0.15)


def test_another_seed_is_another_range() -> None:
    one, same, other = (create_world(small_range(64, world__seed=seed))[0].ground for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] < 0.9


def test_a_relief_that_is_asked_for_is_had() -> None:
    world, _ = create_world(small_range(64, world__relief=1500.0))
    assert np.ptp(world.ground) == pytest.approx(1500.0)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_go_on_as_they_began(name: str) -> None:
    scene = load_preset(name)
    scene = scene.with_values(size_in_cells(scene, 96, 0))
    world = run(scene, 6)
    assert world.imbalance() < 1e-11
    assert world.years > 0.0
    assert 50.0 < np.ptp(world.ground) < 9000.0


def test_the_field_of_uplift_shapes_a_range() -> None:
    world, _ = create_world(small_range(64, fields__uplift="smoothstep(0.3, 0.7, x)"))
    west, east = world.ground[:, :16].mean(), world.ground[:, 48:].mean()
    assert east > west + 200.0


# What lies beyond, and what may not move


@pytest.mark.parametrize("settings", [
    {"geology__uplift": -5.0},
    {"geology__uplift": 2.0, "geology__uplift_pattern": "fault", "geology__erodibility": 0.0},
    {"geology__uplift": -1.0, "geology__diffusivity": 1.0, "materials__enabled": True, "world__soil_depth": 2.0},
])  # fmt: skip
def test_walls_keep_all_that_sinks_and_creeps(settings: dict[str, object]) -> None:
    world = run(scene_of(edges__water="wall", **settings), 6)
    assert world.imbalance() < 1e-12
    assert "off the map" not in world.ledger.sediment.lost


def test_a_closed_basin_rises_as_a_whole() -> None:
    """Nothing of it hangs on how high it lies."""
    settings = {"edges__water": "wall", "geology__years_per_cycle": 1000.0}
    still, risen = (run(scene_of(geology__uplift=uplift, **settings), 1) for uplift in (0.0, 20.0))
    assert np.allclose(risen.ground, still.ground + 20.0, rtol=0.0, atol=1e-6)
    # Later, levels are rounded otherwise, and water crosses them another way.
    still, risen = (run(scene_of(geology__uplift=uplift, **settings), 5) for uplift in (0.0, 20.0))
    assert risen.ground.mean() == pytest.approx(still.ground.mean() + 100.0)
    worn = [world.ledger.rock.lost["worn by rivers and slopes"] for world in (still, risen)]
    assert worn[1] == pytest.approx(worn[0], rel=0.15)
    closed, _ = create_world(small_range(64, edges__water="wall", geology__age=1e6, geology__uplift=1.0))
    assert closed.ground.mean() == pytest.approx(1000.0, rel=0.03)


def test_walls_bury_no_protected_ground() -> None:
    scene = scene_of(edges__water="wall", fields__mobility="height > 80", geology__uplift=0.0)
    before, _ = create_world(scene)
    protected = before.layers["mobility"] == 0.0
    assert protected.any()
    world = run(scene, 6)
    assert np.array_equal(world.ground[protected], before.ground[protected])
    assert world.imbalance() < 1e-12


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_protected_ground_keeps_its_bits(exponent: float) -> None:
    scene = scene_of(fields__mobility="x > 0.3", geology__slope_exponent=exponent, geology__uplift=0.0)
    before, _ = create_world(scene)
    protected = before.layers["mobility"] == 0.0
    world = run(scene, 4)
    assert np.array_equal(world.bedrock[protected], before.bedrock[protected])
    assert np.array_equal(world.sediment[protected], before.sediment[protected])


def test_a_range_follows_keys_and_is_refused_beyond_all_bounds() -> None:
    scene = small_range(64)
    usual, raised = (create_world(one)[0] for one in (scene, scene.with_value("keys.geology.uplift", "0: 3; 100: 0")))
    assert np.ptp(raised.ground) > 1.3 * np.ptp(usual.ground)
    with pytest.raises(UserError, match=r"geology\.age"):
        create_world(scene.with_values({"geology.age": 5e7, "geology.uplift": -20.0}))


def test_the_season_does_not_last_for_thousands_of_years() -> None:
    seasons = {"climate__year": 4, "climate__season_rain": 0.9, "geology__every": 4}
    with_them, without = (run(scene_of(**settings), 8) for settings in (seasons, {"geology__every": 4}))
    assert np.array_equal(with_them.ground, without.ground)


def test_all_kernels_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels import landscape

    ran = set()

    def watched(name: str) -> Callable[..., object]:
        kernel = getattr(landscape, name)
        return lambda *arguments: (ran.add(name), kernel(*arguments))[1]

    kernels = {"_exchange", "_exchange_along_rivers", "_exchange_along_lines"}
    for name in kernels:
        monkeypatch.setattr(landscape, name, watched(name))
    Geology().prepare_rich()
    assert ran == kernels


def test_strata_rise_with_the_rock(tmp_path: Path) -> None:
    """So that what comes to the surface is what lay below it."""
    scene = scene_of(materials__enabled=True, geology__erodibility=0.0, geology__diffusivity=0.0, geology__uplift=20.0,
                     geology__soil_production=0.0, geology__years_per_cycle=1000.0)  # fmt: skip
    simulator = Simulator(scene, create_world(scene)[0])
    world = simulator.world
    before, state = world.layers["strata_rise"] - world.bedrock, world.state()
    for _ in range(5):
        simulator.advance()
    assert world.bedrock.max() > state["layers"]["bedrock"].max() + 99.0
    assert np.allclose(world.layers["strata_rise"] - world.bedrock, before, rtol=0.0, atol=1e-3)
    checkpoint.save(tmp_path / "w.npz", world, scene)
    assert np.array_equal(checkpoint.load(tmp_path / "w.npz")[0].layers["strata_rise"], world.layers["strata_rise"])
    assert np.array_equal(world.copy().layers["strata_rise"], world.layers["strata_rise"])
    world.restore(state)
    assert np.allclose(world.layers["strata_rise"] - world.bedrock, before, rtol=0.0, atol=1e-6)

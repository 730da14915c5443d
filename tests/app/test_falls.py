"""Falls at work: they wander upstream and keep their lip, and all that they move is in the ledger."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.engine.survey import Surveyor, Wanted
from app.model.materials import MaterialParameters, materials_of
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.falls import UNDERCUT, FallsAtWork, FallsParameters
from app.scene.scene import Scene, load_preset
from app.window.commands.running import FRAMES_PER_SECOND, SPEEDS
from kernels.falls import Falls, find_falls
from kernels.rivers import drain
from tests.app.small import assert_continues_after_saving, bits, simulated, small_scene

SIZE, LIP, DROP = 8.0, 20, 40.0
AT_ONCE = FallsParameters(every=1, least=0.0, retreat=1.0)


def valley(rocks: str = "") -> World:
    """A straight valley to the west, in the middle of which a river falls over a step, of bare rock."""
    along = 0.02 * SIZE * np.arange(48.0)
    along[LIP:] += DROP
    ground = along + np.abs(np.arange(-5.0, 6.0))[:, None] * 4.0
    world = World(ground, np.zeros_like(ground), SIZE, seed=0)
    if rocks:
        rise = np.full(ground.shape, ground[5, LIP], np.float32)
        world.lay_materials(materials_of(MaterialParameters(enabled=True, strata=rocks)), {"sand": 1.0}, rise)
    return world


def fall_of(world: World) -> tuple[int, float]:
    """The column of the lip of the river's fall, and its height."""
    drainage = drain(world.ground, SIZE, -np.inf)
    discharge = drainage.accumulation * 1e-3
    falls: Falls = find_falls(drainage.filled, drainage.directions, discharge, discharge > 0.02, SIZE, 7.2)
    lip = falls.lip[falls.discharge.argmax()]
    return int(lip % world.shape[1]), float(falls.height[falls.discharge.argmax()])


def worked(world: World, cycles: int, parameters: FallsParameters = AT_ONCE) -> World:
    process = FallsAtWork()
    for _ in range(cycles):
        process.step(world, parameters, Cycle())
        world.cycle += 1
    return world


def test_a_fall_wanders_upstream_as_its_law_says_and_keeps_its_lip() -> None:
    world = valley()
    drainage = drain(world.ground, SIZE, -np.inf)
    discharge = drainage.accumulation[5, LIP] * 0.8 / 31_557_600.0 * SIZE**2
    over_face = discharge / (7.2 * np.sqrt(discharge) * (DROP + 0.02 * SIZE))
    by_cycle = (over_face * 72.0) ** 0.73  # metres; all rock is the weakest
    cycles = round(8.5 * SIZE / by_cycle)
    worked(world, cycles)
    lip, height = fall_of(world)
    assert 6 <= lip - LIP <= 9  # the river has less water farther up
    assert height > 0.8 * DROP  # what has broken lies in its gorge
    river = world.ground[5]
    assert river[lip] - river[lip - 1] > 0.8 * DROP


def test_a_hard_layer_recedes_as_the_weak_one_below_it() -> None:
    """And where there is none, it recedes by its own strength."""
    cycles = 20 * round(SIZE / 0.1)
    lips = {}
    for rocks in ("sandstone 10; clay", "sandstone", "clay"):
        world = valley(rocks)
        lips[rocks], height = fall_of(worked(world, cycles))
        assert height > 0.6 * DROP
        assert world.imbalance() < 1e-12
    assert lips["sandstone 10; clay"] == lips["clay"] > lips["sandstone"] + 1 > LIP + 1


def test_the_gorge_of_a_wide_river_is_wider_than_it() -> None:
    for river_width, across in ((7.2, 1), (424.0, 3)):
        world, process, before = valley(), FallsAtWork(), valley().bedrock
        while before[5, LIP + 3] - world.bedrock[5, LIP + 3] < 1.0:
            process.step(world, FallsParameters(every=1, least=3e-4, retreat=30.0), Cycle(river_width=river_width))
            world.cycle += 1
        assert (before - world.bedrock > 0.5 * DROP)[:, LIP + 1].sum() == across
        assert world.imbalance() < 1e-12


def test_what_breaks_is_in_the_ledger_and_lies_below_the_fall() -> None:
    world = worked(valley(), 600, FallsParameters(every=1, least=0.0, retreat=1.0, fines=0.25))
    rock, loose = world.ledger.rock, world.ledger.sediment
    broken = rock.lost["broken by falls"]
    assert broken == loose.gained["broken by falls"] > 100.0
    assert loose.lost["carried off by rivers"] == pytest.approx(0.25 * broken)
    assert world.imbalance() < 1e-12
    np.testing.assert_array_equal(world.ground, world.bedrock + world.sediment)
    assert world.sediment[5, :LIP].sum() > 0.0 and world.sediment.min() >= 0.0


def test_the_pool_is_as_deep_as_the_jet_digs() -> None:
    wide = FallsParameters(every=1, least=0.0, retreat=0.0)
    world = worked(valley(), 400, wide)
    drainage = drain(world.ground, SIZE, -np.inf)
    depth = (drainage.filled - world.ground)[5, LIP - 1]
    discharge = drainage.accumulation[5, LIP] * 0.8 / 31_557_600.0 * SIZE**2
    assert depth == pytest.approx(1.9 * (np.sqrt(discharge) / 7.2) ** 0.54 * DROP**0.225, rel=0.02)
    without = worked(valley(), 400, FallsParameters(every=1, least=0.0, retreat=0.0, pool=0.0))
    np.testing.assert_array_equal(without.ground, valley().ground)


def test_protected_ground_stays() -> None:
    world = valley()
    world.trace("mobility")[:, LIP - 1 :] = 0.0
    before = world.ground.copy()
    worked(world, 500)
    np.testing.assert_array_equal(world.ground, before)


def falling(**settings: object) -> Scene:
    """A small scene so steep that rivers fall."""
    usual = {"falls__enabled": True, "falls__every": 2, "falls__least": 1e-5, "falls__retreat": 100.0,
        "world__relief": 900.0, "pools__enabled": True}  # fmt: skip
    return small_scene(**{**usual, **settings})


def test_off_by_default_and_without_a_trace_and_gentle_land_is_as_without_it() -> None:
    assert not Scene().falls.enabled
    gentle = falling(world__relief=20.0)
    without = simulated(4, gentle.with_value("falls.enabled", False))
    assert UNDERCUT not in without.world.layers
    assert bits(simulated(4, gentle).world) == bits(without.world)


@pytest.mark.parametrize("materials", [False, True])
def test_beside_other_processes_and_on_any_threads(materials: bool, tmp_path: Path) -> None:
    scene = falling(materials__enabled=materials, weathering__enabled=True, cascade__enabled=True)
    simulator = simulated(30, scene, threads=1)
    simulator.verify()
    world = simulator.world
    assert world.ledger.rock.lost["broken by falls"] > 0.0 and world.layers[UNDERCUT].max() > 0.0
    assert world.imbalance() < 1e-12
    assert bits(world) == bits(simulated(30, scene, threads=2).world)
    assert_continues_after_saving(simulator, tmp_path / "world.npz", 3)
    simulator.change(simulator.scene.with_value("falls.enabled", False))
    simulator.advance()
    assert UNDERCUT not in simulator.world.layers


def test_the_preset_has_a_pace_at_which_its_fall_is_watched_for_ten_minutes() -> None:
    simulation = load_preset("falls").simulation
    cycles = 600.0 * FRAMES_PER_SECOND * simulation.cycles_per_frame / simulation.frames_per_cycle
    assert 1000.0 <= cycles <= 1800.0, "it leaves the map after 1800"
    assert (simulation.cycles_per_frame, simulation.frames_per_cycle) in SPEEDS, "as keys and buttons set it"


@pytest.mark.nightly
def test_the_fall_of_the_preset_wanders_for_1000_cycles_and_stays_steep() -> None:
    simulator = simulated(0, load_preset("falls").with_value("world.past", 0))
    world, scene, lips = simulator.world, simulator.scene, list[int]()
    for _ in range(5):
        for _ in range(200):
            simulator.advance()
        survey = Surveyor().survey(world, scene.rivers, Wanted(rivers=True), scene.runoff)
        assert survey is not None
        fall = max(survey.falls, key=lambda fall: fall.discharge * fall.height)
        lips.append(fall.row)
        if len(lips) > 1:  # the slope of the valley's side is behind it
            steepest = max(world.ground[fall.row, fall.column] - world.ground[fall.foot], 0.0)
            assert steepest > 40.0 and np.hypot(fall.row - fall.foot[0], fall.column - fall.foot[1]) < 3.0
    assert all(before - after >= 5 for before, after in pairwise(lips)), "more than 0.1 m in a cycle"
    simulator.verify()
    assert world.imbalance() < 1e-9

"""All processes at once, on the same layers: nothing is lost, nothing breaks, and the bits are always the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.layers import LOOSE
from app.model.parameters import Value
from app.model.soundness import find_fault
from app.model.world import World
from app.processes import PROCESSES
from app.scene.scene import DECLARATIONS, Scene
from tests.app.small import assert_continues_after_saving, bits
from tests.nets.profile import is_nightly

ON: dict[str, Value] = {f"{process.name}.enabled": True for process in PROCESSES}

SMALL: dict[str, Value] = {
    "world.columns": 56,
    "world.rows": 40,
    "world.soil_depth": 1.5,
    "materials.enabled": True,
    "materials.loose": "sand 2; soil 2; gravel 1; clay 1",
    "materials.fold": 40.0,
    "materials.dip": 3.0,
    "droplets.count": 40,
    "wind.count": 12,
    "wind.longest_path": 300,
    "snowballs.count": 5,
    "climate.year": 30,
    "climate.storms": 0.4,
    "climate.storm_length": 6,
}

LANDS: dict[str, dict[str, Value]] = {
    "noise": {},
    "island": {"world.source": "island", "world.relief": 400.0, "edges.water": "sea"},
    "real": {"world.source": "jacksboro.npz"},
    "sand": {"world.source": "sand", "world.relief": 60.0, "edges.wind": "wrap"},
}


def everything(land: str = "noise", **settings: Value) -> Scene:
    """A small scene with all processes on; `settings` are written with `__` for the dot."""
    changes = {path.replace("__", "."): value for path, value in settings.items()}
    return Scene().with_values({**ON, **SMALL, **LANDS[land], **changes})


def simulated(cycles: int, scene: Scene, threads: int | None = None) -> Simulator:
    world, scene = create_world(scene)
    simulator = Simulator(scene, world, threads)
    for _ in range(cycles):
        simulator.advance()
    return simulator


def assert_sound(world: World, told: object = "") -> None:
    """Every account closes, every layer is finite, and what is derived from others is so to the last bit."""
    assert find_fault(world) is None, told
    for name, account in world.ledger.accounts().items():
        assert abs(account.imbalance(world.stored(name))) < 1e-9, (name, told)
    burden = sum(world.layers[name] for name in ("ice", "buried") if name in world.layers)
    assert np.array_equal(world.ground, world.bedrock + world.sediment + burden), told
    if world.materials is not None:
        thickness = np.zeros(world.shape)
        for name in world.materials.names:
            assert world.layers[LOOSE + name].min() >= 0.0, (name, told)
            thickness += world.layers[LOOSE + name]
        assert np.array_equal(thickness, world.sediment), told
    assert world.sediment.min() >= 0.0, told
    assert world.water.min() >= 0.0, told


@pytest.mark.parametrize("land", LANDS)
def test_nothing_is_lost_and_nothing_breaks(land: str) -> None:
    simulator = simulated(40, everything(land))
    assert_sound(simulator.world)
    assert {process.name for process in PROCESSES} == simulator.milliseconds.keys()


@pytest.mark.parametrize("land", ["noise", "island"])
def test_same_bits_on_one_and_two_threads(land: str) -> None:
    one, two = (simulated(25, everything(land), threads).world for threads in (1, 2))
    assert bits(one) == bits(two)
    assert one.trees.tobytes() == two.trees.tobytes()


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    simulator = simulated(13, everything())
    assert_continues_after_saving(simulator, tmp_path / "world.npz", cycles=12)


def test_a_replay_has_the_same_bits() -> None:
    simulator = simulated(9, everything())
    before, trees = bits(simulator.world), simulator.world.trees.tobytes()
    simulator.go_back(simulator.world.cycle)
    assert bits(simulator.world) == before
    assert simulator.world.trees.tobytes() == trees


@pytest.mark.parametrize("materials", [False, True])
def test_each_process_can_be_switched_off_and_on_while_all_run(materials: bool) -> None:
    scene = everything(materials__enabled=materials)
    simulator = simulated(5, scene)
    for process in PROCESSES:
        for enabled in (False, True):
            simulator.change(simulator.scene.with_value(f"{process.name}.enabled", enabled))
            for _ in range(3):
                simulator.advance()
            assert_sound(simulator.world, (process.name, enabled))


def numbers(scene: Scene, low: bool) -> Scene:
    """The scene with every number of climate and processes at one end of its range; but not so many particles."""
    most: dict[str, Value] = {"droplets.count": 60, "wind.count": 12, "snowballs.count": 10, "wind.longest_path": 300}
    values: dict[str, Value] = {}
    for path, declaration in DECLARATIONS.items():
        group = path.partition(".")[0]
        is_ours = group == "climate" or any(group == process.name for process in PROCESSES)
        if is_ours and declaration.kind in (int, float):
            end = declaration.low if low else min(declaration.high, float(most.get(path, declaration.high)))
            values[path] = declaration.kind(end)
    for path in ("cascade.passes", "droplets.longest_path", "snowballs.iterations"):
        if not low:
            values[path] = min(int(values[path]), 50)
    return scene.with_values(values)


@pytest.mark.parametrize(("land", "low"), list(zip(LANDS, itertools.cycle((True, False)), strict=False)))
def test_all_parameters_at_one_end_at_once(land: str, low: bool) -> None:
    """From the one end to the other and back, and to usual numbers, and the other way round."""
    scene = everything(land)
    one, other = numbers(scene, low), numbers(scene, not low)
    cycles = 6 if is_nightly() else 3
    simulator = simulated(cycles, one)
    assert_sound(simulator.world)
    for step, then in enumerate((other, scene, other, one, scene)):
        simulator.change(then)
        for _ in range(cycles):
            simulator.advance()
        assert_sound(simulator.world, step)


def test_no_wind_no_rain_and_no_plants() -> None:
    simulator = simulated(20, everything(climate__wind_speed=0.0, climate__precipitation=0.0))
    assert_sound(simulator.world)
    assert simulator.world.ledger.water.gained.get("rain", 0.0) == 0.0

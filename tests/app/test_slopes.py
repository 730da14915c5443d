"""Rock that breaks, and what slides, as processes of a scene."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.climate import Weather
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.cascade import Cascade, CascadeParameters
from app.processes.cycle import Cycle
from app.processes.weathering import Weathering, WeatheringParameters
from app.scene.scene import DECLARATIONS, Scene, load_preset
from tests.app.small import bits, simulated, small_preset, small_scene
from tests.nets.profile import is_nightly

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written

Layer = NDArray[np.float64]

SLOPES: dict[str, object] = {
    "droplets__enabled": False,
    "world__relief": 300.0,
    "world__cell_size": 5.0,
    "weathering__enabled": True,
    "weathering__frost": 0.01,
    "cascade__enabled": True,
    "climate__temperature": 0.0,
}
MATERIALS: dict[str, object] = {
    "materials__enabled": True,
    "materials__strata": "sandstone 20; clay 30; granite",
    "materials__loose": "sand 2; soil 1; gravel 1",
    "materials__fold": 40.0,
}


def slopes(**settings: object) -> Scene:
    return small_scene(**{**SLOPES, **settings})


@pytest.mark.parametrize("materials", [{}, MATERIALS])
def test_ledger_closes_and_tells_what_broke(materials: dict[str, object]) -> None:
    world = simulated(20, slopes(**materials)).world
    ledger = world.ledger
    assert world.imbalance() < 1e-13
    broken = ledger.rock.lost["broken"]
    assert broken > 0.0
    assert ledger.sediment.gained["broken"] == broken
    gained = {name: account.gained.get("broken", 0.0) for name, account in ledger.kinds.items()}
    assert sum(gained.values()) == pytest.approx(broken if materials else 0.0, rel=1e-12)
    if materials:  # sandstone and granite become gravel, clay stays what it is
        assert gained["gravel"] > 0.0
        assert gained["clay"] > 0.0
        assert gained["sand"] == gained["soil"] == 0.0
        assert np.array_equal(world.sediment, np.add.accumulate(world.mix, axis=2)[..., -1])


def test_off_by_default_and_each_can_be_switched_while_it_runs() -> None:
    assert not Scene().weathering.enabled
    simulator = simulated(3, slopes(weathering__enabled=False))
    rock = simulator.world.bedrock.copy()
    simulator.change(simulator.scene.with_value("weathering.enabled", True))
    simulator.advance()
    assert (simulator.world.bedrock < rock).any()
    rock = simulator.world.bedrock.copy()
    still = {"weathering.breaking": 0.0, "weathering.frost": 0.0}
    simulator.change(simulator.scene.with_values(still))
    simulator.advance()
    assert np.array_equal(simulator.world.bedrock, rock)


@pytest.mark.parametrize("materials", [{}, MATERIALS])
def test_same_bits_on_any_number_of_threads(materials: dict[str, object]) -> None:
    scene = slopes(**materials, droplets__enabled=True)
    assert bits(simulated(8, scene, 1).world) == bits(simulated(8, scene, 2).world)


def test_wet_ground_and_roots_count_where_there_are_any() -> None:
    def slid(wetness: float, roots: float) -> Layer:
        heap = np.zeros((30, 30))
        heap[12:18, 12:18] = 6.0
        world = World(np.zeros_like(heap), heap, cell_size=1.0, seed=0)
        world.trace("wetness")[...] = wetness
        world.trace("roots")[...] = roots
        Cascade().step(world, CascadeParameters(settling=0.045, passes=50), Cycle())
        assert world.imbalance() < 1e-13
        return world.sediment

    spread = {
        name: float((slid(*values) > 0.01).sum())
        for name, values in {"dry": (0.0, 0.0), "wet": (0.5, 0.0), "soaked": (1.0, 0.0), "rooted": (0.0, 1.0)}.items()
    }
    assert spread["rooted"] < spread["wet"] < spread["dry"] < spread["soaked"]


def test_nothing_breaks_with_any_two_parameters_at_the_ends_of_their_ranges() -> None:
    start, _ = create_world(slopes(**MATERIALS))
    start.trace("wetness")[...] = np.random.default_rng(1).random(start.shape)
    start.trace("roots")[...] = np.random.default_rng(2).random(start.shape)
    state = start.state()
    numbers = [
        (path.partition(".")[0], declaration)
        for path, declaration in DECLARATIONS.items()
        if path.startswith(("weathering.", "cascade.")) and declaration.kind in (int, float)
    ]
    assert len(numbers) > 12
    for (one_group, one), (other_group, other) in itertools.combinations(numbers, 2):
        for a, b in itertools.product((one.low, one.high), (other.low, other.high)):
            values: dict[str, dict[str, Any]] = {"weathering": {"frost": 0.01}, "cascade": {}}
            values[one_group][one.name] = one.kind(a)
            values[other_group][other.name] = other.kind(b)
            start.restore(state)
            start.weather = Weather(temperature=-2.0, lapse_rate=0.03)
            Weathering().step(start, WeatheringParameters(**values["weathering"]), Cycle())
            Cascade().step(start, CascadeParameters(**values["cascade"]), Cycle())
            told = str(values)
            assert start.imbalance() < 1e-12, told
            assert find_fault(start) is None, told
            assert start.mix.min() >= 0.0, told
            assert np.array_equal(start.sediment, np.add.accumulate(start.mix, axis=2)[..., -1]), told
            assert np.array_equal(start.ground, start.bedrock + start.sediment), told


# The presets, on fewer and larger cells.


def steepness(world: World) -> Layer:
    """The steepest way down from each cell, in degrees."""
    rows, columns = world.shape
    around = np.pad(world.ground, 1, mode="edge")
    tangent = np.zeros(world.shape)
    for i, j in itertools.product((-1, 0, 1), repeat=2):
        if (i, j) != (0, 0):
            drop = world.ground - around[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]
            tangent = np.maximum(tangent, drop / (world.cell_size * np.hypot(i, j)))
    degrees: Layer = np.degrees(np.arctan(tangent))
    return degrees


def rocks(world: World) -> NDArray[np.str_]:
    """The name of the rock at the top of each cell's."""
    assert world.materials is not None
    fields = world.material_fields()
    step = ((fields.rise.reshape(world.shape) - world.bedrock) * fields.steps_per_metre).astype(int)
    names = np.array([material.name for material in world.materials.rocks])
    return names[fields.strata[np.clip(step, 0, len(fields.strata) - 1)]]


def test_scree_lies_at_the_repose_of_gravel_below_its_cliffs() -> None:
    world = simulated(400, small_preset("scree", 96)).world
    assert world.imbalance() < 1e-12
    assert world.materials is not None
    gravel = world.materials.kind("gravel")
    assert world.mix[..., gravel].sum() == pytest.approx(world.sediment.sum())
    repose = world.materials.loose[gravel].repose
    steep = steepness(world)
    cliff, deep = (world.sediment < 0.3) & (steep > 50.0), world.sediment > 4.0
    scree, foot = deep & (steep > 30.0), (world.sediment > 0.5) & (steep < 20.0)
    for form in (cliff, scree, foot):
        assert form.sum() > 400
    assert np.median(steep[scree]) == pytest.approx(repose, abs=3.0)
    assert np.percentile(steep[scree], 90) < repose + 6.0
    # A hollow profile: steep rock above, scree below it, and level ground at the foot
    assert world.ground[cliff].mean() > world.ground[scree].mean() + 20.0
    assert world.ground[scree].mean() > world.ground[foot].mean() + 20.0


def test_hard_strata_become_ledges_and_soft_ones_slopes() -> None:
    scene = small_preset("ledges", 96)
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)

    def slope_of(rock: str) -> float:
        steep = steepness(world)
        return float(steep[(rocks(world) == rock) & (world.sediment < 0.5) & (steep > 15.0)].mean())

    assert slope_of("sandstone") == pytest.approx(slope_of("clay"), abs=2.0)
    for _ in range(250):
        simulator.advance()
    assert world.imbalance() < 1e-12
    assert slope_of("sandstone") > slope_of("clay") + 10.0
    assert world.ledger.kinds["clay"].gained["broken"] > 3.0 * world.ledger.kinds["gravel"].gained["broken"]


def needle(world: World) -> float:
    """By how many metres a cell stands above all that lie around it, at most."""
    ground = np.pad(world.ground, 1, constant_values=-np.inf)
    rows, columns = world.shape
    around = [
        ground[1 + south : 1 + south + rows, 1 + east : 1 + east + columns]
        for south, east in itertools.product((-1, 0, 1), repeat=2)
        if (south, east) != (0, 0)
    ]
    return float((world.ground - np.max(around, axis=0)).max())


@pytest.mark.parametrize("breaks", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_slopes_that_break_leave_no_needles_beside_rivers_that_carry(breaks: bool) -> None:
    scene = load_preset("noise").with_values({"world.worn": 0.0, "world.past": 0})
    assert scene.droplets.river_transport > 0.0
    if breaks:
        cycles = 200 if is_nightly() else 100  # after which needles are 17 m high where slopes stand
        assert needle(simulated(cycles, scene).world) < 10.0
    else:
        standing = scene.with_values({"weathering.enabled": False, "cascade.enabled": False})
        assert needle(simulated(200, standing).world) > 30.0

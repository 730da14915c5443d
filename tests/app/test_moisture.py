"""Water in the ground of a running world."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.materials import materials_of, open_below
from app.model.parameters import declarations
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.moisture import Moisture, MoistureParameters
from app.scene.scene import Scene
from kernels.standing import SEA
from tests.app.small import bits, simulated, small_preset, small_scene

WET = {"moisture__enabled": True, "pools__enabled": True, "droplets__count": 40}
MATERIALS = {"materials__enabled": True, "materials__loose": "sand 2; clay 1", "materials__repeat": True}


def wet_scene(**settings: object) -> Scene:
    return small_scene(**{**WET, **settings})


def hillside(rows: int = 24, columns: int = 60) -> World:
    """A slope of rock under sand that falls to a flat in the east."""
    height = np.maximum(40.0 - np.arange(columns), 4.0) + 0.01 * np.arange(columns)[::-1]
    ground = np.broadcast_to(height, (rows, columns)) + 0.05 * np.abs(np.arange(rows) - 0.5 * rows)[:, None]
    return World(ground - 2.0, np.full((rows, columns), 2.0), 10.0, seed=5)


def advanced(world: World, scene: Scene, cycles: int, threads: int | None = None) -> Simulator:
    simulator = Simulator(scene, world, threads)
    for _ in range(cycles):
        simulator.advance()
    return simulator


def ends() -> list[tuple[str, float]]:
    return [
        (declaration.path, end)
        for declaration in declarations(MoistureParameters, "moisture.")
        if declaration.kind is not bool
        for end in (declaration.low, declaration.high)
    ]


@pytest.mark.parametrize(("path", "end"), ends())
def test_both_ends_of_all_parameters_keep_the_account(path: str, end: float) -> None:
    materials = MATERIALS if end > 1.0 else {}
    scene = wet_scene(droplets__longest_path=50, edges__water="sea", edges__sea_level=40.0, **materials)
    simulator = simulated(5, scene.with_value(path, float(end)))
    assert simulator.world.imbalance() < 1e-9
    assert find_fault(simulator.world) is None


@pytest.mark.parametrize("edges", ["open", "sea", "wall"])
@pytest.mark.parametrize("running", [(), ("pools",), ("droplets",), ("pools", "droplets")])
@pytest.mark.parametrize("materials", [{}, MATERIALS])
def test_all_water_is_in_the_account(edges: str, running: tuple[str, ...], materials: dict[str, object]) -> None:
    scene = wet_scene(
        pools__enabled="pools" in running,
        droplets__enabled="droplets" in running,
        edges__water=edges,
        edges__sea_level=60.0,
        pools__seepage=0.01,
        moisture__groundwater=1.0,
        moisture__rain_infiltration=0.1,
        **materials,
    )
    world = simulated(9, scene).world
    assert world.imbalance() < 1e-9
    assert world.ledger.water.gained["found in the ground"] > 0.0
    assert world.ledger.water.lost["evaporated from the ground"] > 0.0
    underground = world.ledger.water.lost.get("off the map underground", 0.0)
    assert (underground > 0.0) == (edges != "wall" or "pools" not in running)


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (8, 50)])
@pytest.mark.parametrize("soil", [0.0, 3.0])
def test_small_maps_bare_maps_and_maps_without_rain(rows: int, columns: int, soil: float) -> None:
    scene = wet_scene(world__rows=rows, world__columns=columns, world__soil_depth=soil, climate__precipitation=0.0)
    world = simulated(9, scene).world
    assert world.imbalance() < 1e-9
    assert "rain" not in world.ledger.water.gained or world.ledger.water.gained["rain"] == 0.0


@pytest.mark.parametrize(
    "more",
    [{"droplets__springs": "0.3 0.3 5"}, {"droplets__enabled": False, **MATERIALS}],
    ids=["drops", "materials"],
)
def test_same_bits_on_one_thread_and_on_two_and_after_saving(tmp_path: Path, more: dict[str, object]) -> None:
    scene = wet_scene(pools__seepage=0.002, moisture__rain_infiltration=0.05, **more)
    one = simulated(13, scene, threads=1)
    two = simulated(7, scene, threads=2)
    path = tmp_path / "world.npz"
    checkpoint.save(path, two.world, two.scene)
    world, loaded_scene = checkpoint.load(path)
    loaded = Simulator(loaded_scene, world, threads=2)
    for _ in range(6):
        two.advance()
        loaded.advance()
    assert bits(two.world) == bits(one.world)
    assert bits(loaded.world) == bits(one.world)


def test_a_world_without_it_keeps_its_bits_and_one_with_it_has_its_layers() -> None:
    without = simulated(3, small_scene()).world
    assert without.surface is None
    assert not {"moisture", "groundwater", "wetness"} & without.layers.keys()
    world = simulated(3, wet_scene()).world
    assert {"moisture", "groundwater", "wetness"} <= world.layers.keys()


@pytest.mark.parametrize("moisture", [True, False])
def test_streams_go_on_for_a_while_when_the_rain_has_ended(moisture: bool) -> None:
    scene = wet_scene(
        moisture__enabled=moisture, moisture__rain_infiltration=0.03, pools__enabled=False, droplets__stream_memory=0.2
    )
    simulator = advanced(hillside(), scene, 120)
    simulator.change(scene.with_value("climate.precipitation", 0.0))
    flows = []
    for _ in range(4):
        for _ in range(60):
            simulator.advance()
        flows.append(float(simulator.world.layers["discharge"].sum()))
    if moisture:
        assert flows[0] > flows[1] > flows[3] > 0.0, "base flow, which dwindles"
    else:
        assert max(flows) < 0.01


def test_a_lake_loses_water_to_dry_ground_and_gets_some_from_wet_ground() -> None:
    row, column = np.mgrid[:32, :32] - 15.5
    bowl = np.minimum(0.05 * (row**2 + column**2), 10.0)
    levels = {}
    for filled in (0.0, 1.0):
        world = World(bowl - 5.0, np.full(bowl.shape, 5.0), 10.0, seed=1, water=np.where(bowl < 2.0, 1.0, 0.0))
        before = world.water.sum()
        scene = wet_scene(
            droplets__enabled=False, edges__water="wall", pools__evaporation=0.0, climate__precipitation=0.0,
            moisture__groundwater=filled, moisture__evaporation=0.0,
        )  # fmt: skip
        advanced(world, scene, 40)
        assert world.imbalance() < 1e-9
        levels[filled] = world.water.sum() - before
    assert levels[0.0] < 0.0 < levels[1.0]


def test_ground_at_the_sea_is_full_to_its_level() -> None:
    east = np.broadcast_to(np.arange(40.0), (16, 40))
    world = World(10.0 - east - 30.0, np.full(east.shape, 30.0), 10.0, seed=1)
    scene = wet_scene(
        droplets__enabled=False, edges__water="sea", edges__sea_level=0.0, climate__precipitation=0.0,
        moisture__groundwater=0.0,
        moisture__aquifer_depth=5.0, moisture__infiltration=1.0, moisture__evaporation=0.0,
    )  # fmt: skip
    advanced(world, scene, 400)
    assert (world.standing[:, 12:] == SEA).all()
    parameters = scene.moisture
    rock, loose = (part * (1.0 - parameters.field_capacity) for part in (parameters.rock_porosity, parameters.porosity))
    level = world.bedrock + (world.layers["groundwater"] - rock * 5.0) / loose
    assert np.abs(level[:, 6:10]).max() < 1.0
    assert world.imbalance() < 1e-9


def test_lakes_seep_into_the_groundwater() -> None:
    scene = wet_scene(
        pools__seepage=0.05, moisture__infiltration=0.0, moisture__groundwater=0.0, moisture__rain_infiltration=0.0
    )
    with_it = simulated(12, scene).world
    assert "seeped from lakes" not in with_it.ledger.water.lost
    assert with_it.layers["groundwater"].sum() > 0.0
    without = simulated(12, scene.with_value("moisture.enabled", False)).world
    assert without.ledger.water.lost["seeped from lakes"] > 0.0


def test_the_first_tight_rock_below_is_found() -> None:
    scene = Scene().with_value("materials.strata", "sandstone 30; clay 10; sandstone 20; granite")
    materials = materials_of(scene.with_value("materials.enabled", True).materials)
    below = open_below(materials)
    step = materials.metres_per_step
    assert below[0] == pytest.approx(30.0, abs=step)
    assert below[int(35.0 / step)] == 0.0
    assert below[int(45.0 / step)] == pytest.approx(15.0, abs=step)
    assert below[-1] == 0.0
    open_ground = materials_of(scene.with_value("materials.strata", "sandstone 5; sandstone").materials)
    assert np.isinf(open_below(open_ground)).all()


def test_in_the_preset_spring_water_comes_out_below_the_sandstone_and_feeds_a_stream() -> None:
    scene = small_preset("spring", 96)
    world, scene = create_world(scene)
    risen = np.zeros(world.shape)
    simulator = Simulator(scene, world)
    simulator.prepare_all()
    step = Moisture.step

    def watched(process: Moisture, world: World, parameters: MoistureParameters, cycle: Cycle) -> None:
        step(process, world, parameters, cycle)
        if cycle.rising is not None:
            risen.reshape(-1)[cycle.rising.cell] += cycle.rising.depth

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Moisture, "step", watched)
        for _ in range(200):
            simulator.advance()
    below_top = world.layers["strata_rise"] - world.bedrock
    at_the_foot = (below_top > 50.0) & (below_top < 80.0)  # the sandstone is 55 m thick
    assert risen[at_the_foot].sum() > 0.5 * risen.sum()
    assert at_the_foot.mean() < 0.25  # of the map: there rises more than twice as much as its share
    assert world.imbalance() < 1e-9
    # Most of the water in the streams below comes from there: rain that runs off at once makes less than half of it.
    runs_off = simulated(200, scene.with_value("moisture.enabled", False)).world
    below, of_rain = (float(land.layers["discharge"][below_top > 55.0].mean()) for land in (world, runs_off))
    assert below > 2.0 * of_rain > 0.0


def test_in_the_preset_drying_sand_wet_dunes_lie_still_and_dry_ones_wander() -> None:
    world, scene = create_world(small_preset("drying-sand", 48))
    simulator = Simulator(scene, world)
    told = {}
    for season, middle in (("winter", 0.75), ("summer", 0.25)):  # of a year, which begins in spring
        world.cycle += round((middle - world.cycle / scene.climate.year) % 1.0 * scene.climate.year) - 50
        for _ in range(50):
            simulator.advance()
        before = world.sediment.copy()
        for _ in range(10):
            simulator.advance()
        told[season] = float(world.layers["wetness"].mean()), float(np.abs(world.sediment - before).mean())
    threshold = 1.0 / scene.wind.wet_cohesion  # of the wetness: where there is more, the wind lifts nothing
    assert told["winter"][0] > threshold > told["summer"][0]
    assert told["winter"][1] < 0.1 * told["summer"][1]
    assert world.imbalance() < 1e-9

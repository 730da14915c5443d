"""Rivers of a world that changes: when they are found anew, and what the survey tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import msgspec
import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.messages import Run, SurveyFailed, Watch
from app.engine.publishing import take_snapshot
from app.engine.realism import measure
from app.engine.simulator import Simulator
from app.engine.streams import streams_of
from app.engine.survey import (
    FILLING_LAYER,
    FLOW_PATH_LAYERS,
    RIVER_LAYERS,
    USUAL_RUNOFF,
    WATER_LAYERS,
    Surveyor,
    Wanted,
    wanted_by,
)
from app.engine.thread import SimulationThread
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_LEVEL, Snapshot
from app.model.view_parameters import Overlay, ViewParameters
from app.model.world import World
from app.scene.edits import Change, Stroke
from app.scene.scene import Scene
from app.sources.parameters import WorldParameters
from kernels.neighbours import OUTLET
from kernels.path_cost import path_cost
from kernels.rivers import drain
from kernels.routing import accumulate, way_to_outlet
from kernels.standing import LAKE
from tests.app.small import heard, small_scene
from tests.kernels.relief import island
from tests.kernels.terrain import hills
from tests.waiting import wait_for

PARAMETERS = RiverParameters(threshold=12, watershed_size=30, interval=10)
RIVERS = Wanted(rivers=True)


def world_of(ground: np.ndarray, sea_level: float = -np.inf) -> World:
    world = World(ground, np.zeros_like(ground), 20.0, seed=1)
    world.sea_level = sea_level
    return world


@pytest.fixture
def world() -> World:
    return world_of(island(60, 72) + 12.0, sea_level=0.0)


def test_layers_are_those_that_the_kernels_find(world: World) -> None:
    survey = Surveyor().survey(world, PARAMETERS, RIVERS)
    assert survey is not None
    assert set(survey.layers) == set(survey.versions) == set(RIVER_LAYERS)
    drainage = drain(world.ground, 20.0, 0.0)
    assert drainage.ocean.any()
    layers = survey.layers
    assert all(layer.dtype == np.float32 and layer.shape == world.shape for layer in layers.values())
    assert np.array_equal(layers["lake_depth"], (drainage.filled - world.ground).astype(np.float32))
    land = ~drainage.ocean
    assert np.array_equal(layers["filled"], np.where(land, drainage.filled, 0.0).astype(np.float32)), "0: the sea"
    assert np.array_equal(layers["flow_directions"][land], 1.0 + drainage.directions[land])
    assert not layers["flow_directions"][~land].any()
    np.testing.assert_allclose(layers["accumulation"], 400e-6 * drainage.accumulation, rtol=1e-6)
    np.testing.assert_allclose(layers["distance"], 1e-3 * drainage.routes.distances, rtol=1e-6)
    rivers = layers["rivers"].astype(int)
    assert np.array_equal(rivers > 0, (drainage.accumulation >= 12) & ~drainage.ocean)
    assert np.array_equal(rivers[rivers > 0] & 15, drainage.directions[rivers > 0])
    assert (rivers >> 4).max() == survey.highest_order > 1
    _, sizes = np.unique(drainage.routes.outlets[~drainage.ocean], return_counts=True)
    assert survey.watershed_count == (sizes >= 30).sum() > 1
    assert (layers["watersheds"][drainage.ocean] == 0).all()


def test_lists_of_lakes_and_mouths(world: World) -> None:
    survey = Surveyor().survey(world, PARAMETERS, RIVERS)
    assert survey is not None
    drainage = drain(world.ground, 20.0, 0.0)
    depth = drainage.filled - world.ground
    assert survey.lake_count == len(survey.lakes) > 2
    assert survey.lake_volume == pytest.approx(depth.sum() * 400.0)
    assert [lake.volume for lake in survey.lakes] == sorted((lake.volume for lake in survey.lakes), reverse=True)
    for lake in survey.lakes:
        assert world.ground[lake.row, lake.column] == lake.level
        assert lake.volume <= lake.depth * lake.area
        assert lake.catchment == drainage.accumulation[lake.row, lake.column] * 400.0
    assert survey.mouth_count == len(survey.mouths) > 2
    assert sum(mouth.catchment for mouth in survey.mouths) <= (~drainage.ocean).sum() * 400.0
    for mouth in survey.mouths:
        assert mouth.catchment == drainage.accumulation[mouth.row, mouth.column] * 400.0 >= 12 * 400.0
        # 0.8 m in a year, in cubic metres for each second
        assert mouth.discharge == pytest.approx(mouth.catchment * 0.8 / 31_557_600.0)


def test_falls_are_listed_from_the_highest() -> None:
    ground = np.add.outer(3.0 * np.abs(np.arange(-10.0, 11.0)), np.arange(60.0))
    ground[:, 20:] += 25.0
    ground[:, 40:] += 60.0
    world = world_of(ground, sea_level=-np.inf)
    survey = Surveyor().survey(world, PARAMETERS, RIVERS)
    assert survey is not None
    assert survey.fall_count == len(survey.falls) >= 2
    highest = max(survey.falls, key=lambda fall: fall.discharge if fall.column == 40 else 0.0)
    assert ((highest.row, highest.column), highest.foot, highest.height) == ((10, 40), (10, 39), 61.0)
    assert highest.discharge == pytest.approx(
        drain(ground, 20.0, -np.inf).accumulation[10, 40] * 400.0 * 0.8 / 31_557_600.0
    )
    assert [fall.height for fall in survey.falls] == sorted((fall.height for fall in survey.falls), reverse=True)


def test_a_mouth_discharges_the_rain_of_its_own_catchment(world: World) -> None:
    """Twice the rain twice the water; where the map of rain and the altitude leave less, there is less."""
    rule = msgspec.structs.replace(PARAMETERS, begin="area")

    def discharges(**climate: float) -> dict[tuple[int, int], float]:
        survey = Surveyor().survey(world, rule, RIVERS, replace(USUAL_RUNOFF, **climate))
        assert survey is not None
        return {(mouth.row, mouth.column): mouth.discharge for mouth in survey.mouths}

    usual, wet, by_altitude = discharges(), discharges(precipitation=1600.0), discharges(by_altitude=0.5)
    assert wet == {place: pytest.approx(2.0 * flow) for place, flow in usual.items()}
    land = world.ground - world.ground.min()
    least = 1.0 - 0.5 * (1.0 - float(land.mean() / land.max()))  # of the mean of all land
    assert all(0.5 * flow < by_altitude[place] < flow for place, flow in usual.items())
    assert sum(by_altitude.values()) != pytest.approx(sum(usual.values()))
    assert sum(by_altitude.values()) > 0.7 * least * sum(usual.values())
    columns = world.shape[1]
    world.trace("rain")[:, columns // 2 :] = 1.0  # and none in the west
    eastern = discharges()
    for (row, column), flow in eastern.items():
        assert flow <= usual[row, column] * (1.0 + 1e-12)
    assert sum(eastern.values()) < 0.8 * sum(usual.values())


def test_it_keeps_its_own_pace(world: World) -> None:
    surveyor = Surveyor()
    first = surveyor.survey(world, PARAMETERS, RIVERS)
    assert first is not None
    assert first.cycle == 0
    world.bedrock[20:30, 20:30] += 5.0
    world.ground[...] = world.bedrock
    for cycle in range(1, 10):
        world.cycle = cycle
        assert not surveyor.is_due(world, PARAMETERS, RIVERS)
        assert surveyor.survey(world, PARAMETERS, RIVERS) is first
    world.cycle = 10
    assert surveyor.is_due(world, PARAMETERS, RIVERS)
    second = surveyor.survey(world, PARAMETERS, RIVERS)
    assert second is not None
    assert second.cycle == 10
    assert not set(second.versions.values()) & set(first.versions.values())
    assert not np.array_equal(first.layers["accumulation"], second.layers["accumulation"])
    world.cycle = 3  # went back
    assert surveyor.is_due(world, PARAMETERS, RIVERS)


def test_it_is_made_anew_for_other_parameters_another_sea_or_another_world(world: World) -> None:
    surveyor = Surveyor()
    survey = surveyor.survey(world, PARAMETERS, RIVERS)
    finer = RiverParameters(threshold=5, watershed_size=30, interval=10)
    assert surveyor.is_due(world, finer, RIVERS)
    more = surveyor.survey(world, finer, RIVERS)
    assert survey is not None
    assert more is not None
    assert (more.layers["rivers"] > 0).sum() > (survey.layers["rivers"] > 0).sum()
    assert not surveyor.is_due(world, finer, RIVERS)
    world.sea_level = 5.0
    assert surveyor.is_due(world, finer, RIVERS)
    surveyor.survey(world, finer, RIVERS)
    other = world_of(hills(30, 20))
    assert surveyor.is_due(other, finer, RIVERS)
    survey = surveyor.survey(other, finer, RIVERS)
    assert survey is not None
    assert survey.layers["rivers"].shape == (30, 20)


def test_nothing_wanted_is_nothing_kept(world: World) -> None:
    surveyor = Surveyor()
    assert not surveyor.is_due(world, PARAMETERS, Wanted())
    survey = surveyor.survey(world, PARAMETERS, RIVERS)
    assert survey is not None
    assert surveyor.is_due(world, PARAMETERS, Wanted())
    assert surveyor.survey(world, PARAMETERS, Wanted()) is None
    assert not surveyor.is_due(world, PARAMETERS, Wanted())
    again = surveyor.survey(world, PARAMETERS, RIVERS)
    assert again is not None
    assert min(again.versions.values()) > max(survey.versions.values())  # a texture of the old ones is not taken for it


def test_the_way_of_the_water_from_a_place(world: World) -> None:
    surveyor = Surveyor()
    before = surveyor.survey(world, PARAMETERS, RIVERS)
    drainage = drain(world.ground, 20.0, 0.0)
    # Where no river is near
    quiet = np.argwhere((drainage.accumulation == 1.0) & ~drainage.ocean & (drainage.routes.distances > 120.0))
    place = next(
        (int(row), int(column))
        for row, column in quiet
        if drainage.accumulation[row - 2 : row + 3, column - 2 : column + 3].max() < 12.0
    )
    survey = surveyor.survey(world, PARAMETERS, replace(RIVERS, place=place))
    assert before is not None
    assert survey is not None
    assert survey.flow_path is not None
    assert {name: survey.versions[name] for name in RIVER_LAYERS} == before.versions
    flow_path = survey.flow_path
    assert flow_path.asked == (flow_path.row, flow_path.column) == place
    way = way_to_outlet(drainage.directions, *place)
    assert len(flow_path.distances) == len(flow_path.ground) == len(flow_path.water) == len(way)
    assert flow_path.length == drainage.routes.distances[place]
    assert flow_path.distances[0] == 0.0
    assert flow_path.distances[-1] == pytest.approx(flow_path.length)
    assert flow_path.catchment == 400.0
    assert np.array_equal(flow_path.ground, world.ground[way[:, 0], way[:, 1]].astype(np.float32))
    assert (np.diff(flow_path.water) <= 0.0).all()
    assert flow_path.water[-1] == 0.0  # the ocean's surface
    assert flow_path.drop == pytest.approx(drainage.filled[place])
    line = survey.layers["flow_path"].astype(int)
    assert np.array_equal(np.argwhere(line > 0), np.unique(way, axis=0))
    assert survey.layers["catchment"].sum() == 1.0
    assert not surveyor.is_due(world, PARAMETERS, replace(RIVERS, place=place))
    without = surveyor.survey(world, PARAMETERS, RIVERS)
    assert without is not None
    assert without.flow_path is None
    assert not set(FLOW_PATH_LAYERS) & set(without.layers)


def test_a_place_beside_a_river_means_the_river(world: World) -> None:
    surveyor = Surveyor()
    drainage = drain(world.ground, 20.0, 0.0)
    land = np.where(drainage.ocean, 0.0, drainage.accumulation)
    row, column = (int(number) for number in np.unravel_index(land.argmax(), land.shape))
    survey = surveyor.survey(world, PARAMETERS, Wanted(place=(row - 2, column)))
    assert survey is not None
    assert survey.flow_path is not None
    assert survey.flow_path.asked == (row - 2, column)
    reached = drainage.accumulation[survey.flow_path.row, survey.flow_path.column]
    assert reached >= land.max()
    assert survey.layers["catchment"].sum() >= land.max()
    upstream = accumulate(drainage.directions, drainage.routes.order, np.where(drainage.ocean, 0.0, 1.0))
    assert survey.flow_path.catchment == upstream[survey.flow_path.row, survey.flow_path.column] * 400.0


def test_a_place_of_another_map_is_passed_over(world: World) -> None:
    surveyor = Surveyor()
    assert surveyor.survey(world, PARAMETERS, Wanted(place=(60, 5))) is None
    assert not surveyor.is_due(world, PARAMETERS, Wanted(place=(3, 72)))


def test_the_course_follows_the_ground(world: World) -> None:
    surveyor = Surveyor()
    wanted = Wanted(place=(30, 36))
    first = surveyor.survey(world, PARAMETERS, wanted)
    world.bedrock[...] = np.flipud(world.bedrock)
    world.ground[...] = world.bedrock
    world.cycle = 10
    second = surveyor.survey(world, PARAMETERS, wanted)
    assert first is not None and first.flow_path is not None
    assert second is not None and second.flow_path is not None
    assert not np.array_equal(first.layers["flow_path"], second.layers["flow_path"])


def test_the_filling_moves_on_and_ends_as_the_exact_fill(world: World) -> None:
    surveyor = Surveyor()
    parameters = RiverParameters(filling_pace=3, threshold=12)
    wanted = Wanted(filling=1)
    begun = surveyor.survey(world, parameters, wanted)
    assert begun is not None
    assert begun.fronts == 0
    assert {FILLING_LAYER} <= set(begun.layers) <= {FILLING_LAYER, *WATER_LAYERS}
    drainage = drain(world.ground, 20.0, 0.0)
    assert np.array_equal(begun.layers[FILLING_LAYER] > 0.0, drainage.ocean | _border(world.shape))
    rounds, survey = 0, begun
    lakes = rivers_so_far = np.zeros(world.shape, bool)
    while surveyor.is_due(world, parameters, wanted):
        later = surveyor.survey(world, parameters, wanted)
        assert later is not None
        assert later.versions != survey.versions
        survey = later
        assert survey.filled or survey.fronts == rounds + 3
        filling = survey.layers[FILLING_LAYER]
        wet = np.isfinite(survey.layers.get(SURVEYED_LEVEL, np.full(world.shape, -np.inf)))
        flows = survey.layers.get(SURVEYED_FLOW, np.zeros(world.shape)) > 0.0
        assert (filling[wet] == 1.0).all() and (filling[flows] == 1.0).all(), "only behind the fronts"
        assert (wet >= lakes).all() and (flows >= rivers_so_far).all(), "what is there stays"
        lakes, rivers_so_far = wet, flows
        rounds = survey.fronts
    assert survey.filled
    assert (survey.layers[FILLING_LAYER] == 1.0).all()
    level, flow, _ = (survey.layers[name] for name in WATER_LAYERS)
    lake = drainage.filled > world.ground
    assert np.array_equal(level, np.where(lake, drainage.filled, -np.inf).astype(np.float32))
    assert np.array_equal(flow > 0.0, ~drainage.ocean & (drainage.accumulation >= parameters.threshold))
    again = surveyor.survey(world, parameters, Wanted(filling=2))
    assert again is not None
    assert again.fronts == 0
    both = surveyor.survey(world, parameters, Wanted(rivers=True, filling=2))
    assert both is not None
    assert {*RIVER_LAYERS, FILLING_LAYER} <= set(both.layers) <= {*RIVER_LAYERS, FILLING_LAYER, *WATER_LAYERS}
    rolled(world, 1)
    with_traffic = surveyor.survey(world, parameters, replace(TRAFFIC, filling=3))
    assert with_traffic is not None
    assert with_traffic.layers[FILLING_LAYER].min() == 0.0
    assert not surveyor.survey(world, parameters, TRAFFIC).layers.keys() - set(WATER_LAYERS) - set(RIVER_LAYERS)
    assert not surveyor.is_due(world, parameters, TRAFFIC)
    rivers = surveyor.survey(world, parameters, RIVERS)
    assert rivers is not None
    assert set(rivers.layers) == set(RIVER_LAYERS)


def _border(shape: tuple[int, int]) -> np.ndarray:
    border = np.ones(shape, bool)
    border[1:-1, 1:-1] = False
    return border


def test_overlays_want_what_they_show() -> None:
    assert wanted_by(ViewParameters(overlay="rivers")).rivers
    assert wanted_by(ViewParameters(overlay="filling")).filling == 1
    assert wanted_by(ViewParameters(overlay="slope")).streams_alone
    assert sum(not wanted_by(ViewParameters(overlay=name)).streams_alone for name in get_args(Overlay)) == 10
    assert wanted_by(ViewParameters(traffic_water=30.0)) == Wanted(traffic=30.0, streams=True)


REALISM = Wanted(realism=True)


def test_measures_of_the_land_keep_their_own_pace_and_stay_beside_rivers(world: World) -> None:
    surveyor = Surveyor()
    first = surveyor.survey(world, PARAMETERS, REALISM)
    assert first is not None and first.realism is not None
    assert not first.layers
    drainage = drain(world.ground, world.cell_size, world.sea_level)
    assert first.realism.values == measure(world.ground, drainage, world.cell_size).values
    for cycle in range(1, PARAMETERS.interval):
        world.cycle = cycle
        assert not surveyor.is_due(world, PARAMETERS, REALISM)
    both = surveyor.survey(world, PARAMETERS, replace(REALISM, rivers=True))
    assert both is not None and both.layers and both.realism is first.realism
    world.cycle = PARAMETERS.interval
    assert surveyor.is_due(world, PARAMETERS, REALISM)
    later = surveyor.survey(world, PARAMETERS, REALISM)
    assert later is not None and later.realism is not None
    assert later.realism.cycle == PARAMETERS.interval
    world.touched()
    assert surveyor.is_due(world, PARAMETERS, REALISM)
    surveyor.survey(world, PARAMETERS, REALISM)
    assert not surveyor.is_due(world, PARAMETERS, REALISM)
    world.sea_level = 8.0
    assert surveyor.is_due(world, PARAMETERS, REALISM)
    drowned = surveyor.survey(world, PARAMETERS, REALISM)
    assert drowned is not None and drowned.realism is not None
    assert drowned.realism.values != later.realism.values
    assert surveyor.survey(world, PARAMETERS, Wanted()) is None


TRAFFIC = Wanted(traffic=30.0)


def rolled(world: World, cycle: int) -> None:
    """As snowballs of a cycle leave it: they have come by everywhere."""
    world.cycle = cycle
    world.trace("traffic")[:] = 60.0 + cycle
    world.changed["traffic"] = cycle


def test_traffic_of_snowballs_is_found_anew_at_intervals_and_once_the_balls_lie_still(world: World) -> None:
    surveyor = Surveyor()
    assert surveyor.survey(world, PARAMETERS, TRAFFIC) is None, "no ball has come by"
    assert not surveyor.is_due(world, PARAMETERS, TRAFFIC)
    rolled(world, 1)
    assert surveyor.is_due(world, PARAMETERS, TRAFFIC)
    first = surveyor.survey(world, PARAMETERS, TRAFFIC)
    assert first is not None
    assert set(first.layers) == set(WATER_LAYERS)
    assert (first.layers[SURVEYED_FLOW] >= 0.0).all()
    rolled(world, 7)
    assert not surveyor.is_due(world, PARAMETERS, TRAFFIC)
    assert surveyor.is_due(world, PARAMETERS, Wanted(traffic=31.0))
    world.cycle = 11
    assert surveyor.is_due(world, PARAMETERS, TRAFFIC)
    second = surveyor.survey(world, PARAMETERS, TRAFFIC)
    assert second is not None
    assert second.versions != first.versions
    world.cycle = 40
    assert not surveyor.is_due(world, PARAMETERS, TRAFFIC), "no ball has come by since"
    everything = surveyor.survey(world, PARAMETERS, replace(TRAFFIC, rivers=True))
    assert everything is not None
    assert set(everything.layers) == {*WATER_LAYERS, *RIVER_LAYERS}
    no_traffic = surveyor.survey(world, PARAMETERS, RIVERS)
    assert no_traffic is not None
    assert set(no_traffic.layers) == set(RIVER_LAYERS)


def test_lakes_of_the_survey_stand_in_the_water_of_the_snapshot(world: World) -> None:
    rolled(world, 1)
    surveyor = Surveyor()
    survey = surveyor.survey(world, PARAMETERS, TRAFFIC)
    assert survey is not None
    level = survey.layers[SURVEYED_LEVEL]
    lake = np.isfinite(level)
    assert lake.any()
    before = take_snapshot(world)
    shown = take_snapshot(world, old=take_snapshot(world), survey=survey)
    assert SURVEYED_LEVEL not in shown.layers
    assert shown.layers[SURVEYED_FLOW] is survey.layers[SURVEYED_FLOW]
    assert np.array_equal(shown.layers["water_level"][lake], level[lake])
    np.testing.assert_allclose(shown.layers["water"][lake], level[lake] - world.ground[lake], rtol=1e-4, atol=1e-4)
    assert not shown.layers["water"][~lake].any()
    assert np.array_equal(shown.layers["water_level"][~lake], world.ground[~lake].astype(np.float32))
    again = take_snapshot(world, old=shown, survey=survey)
    assert again.versions["water"] == again.versions["water_level"] == shown.versions["water"]
    world.bedrock[:] += 5.0
    world.sum_ground()
    world.changed["bedrock"] = 2
    later = take_snapshot(world, old=again, survey=survey)
    assert later.versions["water"] != shown.versions["water"]
    wet = level > world.ground
    assert np.array_equal(later.layers["water"] > 0.0, wet), "the ground has risen above a part of the lakes"
    dry = take_snapshot(world, old=later)
    assert dry.layers.keys() == before.layers.keys(), "nothing is left of what a survey found"


def test_snapshots_carry_the_survey_and_give_it_up_again(world: World) -> None:
    surveyor = Surveyor()
    survey = surveyor.survey(world, PARAMETERS, RIVERS)
    assert survey is not None
    with_rivers = take_snapshot(world, survey=survey)
    assert with_rivers.survey is survey
    assert with_rivers.layers["rivers"] is survey.layers["rivers"]
    assert with_rivers.versions["rivers"] == survey.versions["rivers"]
    without = take_snapshot(world, old=with_rivers)
    assert "rivers" not in without.layers
    assert "rivers" not in without.versions
    assert without.survey is None


SCENE = Scene(
    world=WorldParameters(source="noise", columns=64, rows=48), rivers=RiverParameters(threshold=12, interval=7)
).with_value("droplets.count", 50)


def snapshot_with(simulation: SimulationThread, what: str, condition: Callable[[Snapshot], Any]) -> Snapshot:
    return wait_for(
        lambda: next(filter(condition, simulation.take()), None),
        lambda: f"{what}; {simulation.status} {simulation.reports()}",
    )


def test_the_thread_surveys_while_it_runs_and_while_it_is_paused() -> None:
    simulation = SimulationThread(SCENE, paused=True)
    simulation.first_picture_shown.set()
    simulation.start()
    try:
        first = snapshot_with(simulation, "a snapshot", lambda snapshot: True)
        assert first.survey is None
        simulation.ask(Watch(wanted=RIVERS))
        shown = snapshot_with(simulation, "rivers", lambda snapshot: snapshot.survey is not None)
        assert shown.cycle == 0
        assert simulation.status.state == "paused"
        simulation.ask(Change({"rivers.threshold": 5}))
        finer = snapshot_with(simulation, "more rivers", lambda snapshot: snapshot.survey is not shown.survey)
        assert finer.survey is not None
        assert (finer.layers["rivers"] > 0).sum() > (shown.layers["rivers"] > 0).sum()
        simulation.ask(Watch(wanted=replace(RIVERS, place=(20, 20))))
        snapshot_with(
            simulation, "a flow path", lambda snapshot: snapshot.survey is not None and snapshot.survey.flow_path
        )
        simulation.ask(Run())
        cycles = set()
        for _ in range(40):
            running = snapshot_with(simulation, "another", lambda snapshot: snapshot.survey is not None)
            assert running.survey is not None
            assert 0 <= running.cycle - running.survey.cycle < 7 or running.survey.cycle == running.cycle
            cycles.add(running.survey.cycle)
        assert len(cycles) > 1
        simulation.ask(Watch(wanted=Wanted()))
        snapshot_with(simulation, "no rivers", lambda snapshot: snapshot.survey is None)
    finally:
        simulation.stop()


def test_a_touch_is_shown_before_the_rivers_that_follow_from_it() -> None:
    simulation = SimulationThread(SCENE, paused=True)
    simulation.first_picture_shown.set()
    simulation.start()
    try:
        simulation.ask(Watch(wanted=RIVERS))
        before = snapshot_with(simulation, "rivers", lambda snapshot: snapshot.survey is not None)
        simulation.ask(Stroke("raise", ((300.0, 300.0, 1.0),), radius=100.0, amount=50.0, number=1))
        touched = snapshot_with(simulation, "the touch", lambda snapshot: snapshot.version != before.version)
        assert touched.survey is before.survey
        after = snapshot_with(simulation, "its rivers", lambda snapshot: snapshot.survey is not before.survey)
        assert after.version == touched.version
    finally:
        simulation.stop()


def test_a_survey_that_fails_is_told_once_and_the_simulation_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("kernels.rivers.drain", fail)
    simulation = SimulationThread(SCENE)
    simulation.first_picture_shown.set()
    simulation.ask(Watch(wanted=RIVERS))
    simulation.start()
    try:
        snapshot_with(simulation, "some cycles", lambda snapshot: snapshot.cycle > 5)
        (failed,) = heard(simulation, SurveyFailed)
        assert failed.why == "RuntimeError: out of order"
    finally:
        simulation.stop()


def test_who_looks_on_changes_nothing() -> None:
    grounds = []
    for wanted in (Wanted(), Wanted(rivers=True, place=(20, 20), filling=1, realism=True)):
        world, scene = create_world(SCENE)
        simulator, surveyor = Simulator(scene, world), Surveyor()
        for _ in range(12):
            simulator.advance()
            surveyor.survey(world, scene.rivers, wanted)
        grounds.append(world.ground.tobytes())
    assert grounds[0] == grounds[1]


def test_streams_stay_in_their_beds_while_the_land_around_hardly_changes() -> None:
    """On a plain that is strewn with a little sediment, again and again."""
    random = np.random.default_rng(3)
    rows, columns = np.mgrid[:80, :80]
    world = World(0.01 * np.abs(columns - 40.0) - 0.05 * rows, np.zeros((80, 80)), cell_size=20.0, seed=0)
    runoff = Runoff(precipitation=800.0, least_cells=150.0)
    moved = {}
    for remembers in (True, False):
        flow, share = None, []
        for _ in range(6):
            world.sediment[:] = random.uniform(0.0, 0.3, world.shape)
            world.sum_ground()
            before, (flow, _) = flow, streams_of(world, runoff, flow if remembers else None)
            if before is not None:
                seen, old = (each > runoff.smallest_stream(20.0) for each in (flow, before))
                share.append((seen & ~old).sum() / seen.sum())
        moved[remembers] = float(np.mean(share))
    assert moved[True] < 0.1 < 0.4 < moved[False]


def test_no_stream_is_seen_in_a_lake() -> None:
    """It ends at the shore, and goes on where the lake runs over."""
    ground = 40.0 - 0.2 * np.arange(60.0)[:, None] + 0.1 * np.abs(np.arange(40.0) - 20.0)
    lake = np.zeros(ground.shape, np.bool_)
    lake[20:32, 14:28] = True
    level = ground[33, 20] + 0.01
    ground[lake] = level - 3.0
    world = world_of(ground)
    world.standing[lake], world.water_level[lake] = LAKE, level
    flow, directions = streams_of(world, Runoff(precipitation=800.0, least_cells=150.0))
    assert not flow[lake].any() and not directions[lake].any()
    assert flow[36:].max() > flow[:19].max() > 0.0


def test_a_river_that_braids_parts_and_joins_as_it_carries() -> None:
    """Its threads carry together what comes in, side by side, and it alone parts."""
    draw = np.random.default_rng(1)
    ground = -0.4 * np.arange(120.0) + draw.normal(0.0, 0.3, (60, 120))
    world = World(ground - 20.0, np.full(ground.shape, 20.0), cell_size=20.0, seed=0)
    rain = Runoff(precipitation=800.0, least_cells=50.0)
    runoff = replace(rain, braided=((0.5, 0.0, 100.0),))
    (plain, ways), (flow, parted) = streams_of(world, rain), streams_of(world, runoff)
    assert (ways >= 0.0).all()
    own = np.where(parted < 0.0, flow - plain, 0.0)
    brings = rain.discharge(ground.size * world.cell_area)  # without drops, as much as all the rain
    assert own[:, 20].sum() == pytest.approx(brings, rel=0.1)
    threads = [
        np.count_nonzero(np.diff((own[:, column] > runoff.smallest_stream(20.0)).astype(int)) == 1)
        for column in range(20, 110)
    ]
    assert np.mean(threads) > 1.5
    assert (flow[parted >= 0.0] == plain[parted >= 0.0]).all()
    assert np.array_equal(streams_of(world, replace(rain, braided=((0.5, 0.0, 0.0),)))[0], plain), (
        "a river without water"
    )


def test_a_river_that_meanders_runs_in_its_bed_from_source_to_mouth() -> None:
    from kernels.neighbours import COLUMN_STEPS, ROW_STEPS

    rows, columns = 40, 60
    world = World(np.add.outer(np.zeros(rows), np.arange(columns)[::-1] * 0.1), np.zeros((rows, columns)), 10.0, 0)
    east = np.linspace(5.0, 595.0, 80)
    south = 200.0 + 120.0 * np.sin(east / 60.0)
    world.centrelines = np.stack([np.zeros(80), south, east, np.full(80, 15.0), np.zeros(80)], axis=1)
    flow, directions = streams_of(world, Runoff(precipitation=800.0, least_cells=150.0))
    cell = (int(south[0] / 10.0), 0)
    way = [cell]
    while cell[1] < columns - 1:
        towards = int(directions[cell]) - 1
        assert towards >= 0
        cell = (cell[0] + int(ROW_STEPS[towards]), cell[1] + int(COLUMN_STEPS[towards]))
        way.append(cell)
    assert all(flow[cell] >= 15.0 for cell in way)
    beside = 200.0 + 120.0 * np.sin((np.array(way)[:, 1] * 10.0 + 5.0) / 60.0)
    assert np.abs((np.array(way)[:, 0] + 0.5) * 10.0 - beside).max() < 25.0
    assert (flow >= 15.0).sum() == len(set(way)), "and nowhere else"


def test_the_least_cost_is_there_where_it_is_looked_at() -> None:
    """As `analyze` has it, no longer than the way of the water, and found anew when the overlay is chosen."""
    world = create_world(small_scene())[0]
    surveyor, parameters = Surveyor(), RiverParameters()
    rivers = surveyor.survey(world, parameters, wanted_by(ViewParameters(overlay="distance")))
    assert rivers is not None and "path_cost" not in rivers.layers
    wanted = wanted_by(ViewParameters(overlay="path_cost"))
    assert surveyor.is_due(world, parameters, wanted)
    found = surveyor.survey(world, parameters, wanted)
    assert found is not None and not surveyor.is_due(world, parameters, wanted)
    drainage = drain(world.ground, world.cell_size, world.sea_level)
    expected = path_cost(drainage.filled, drainage.directions == OUTLET, world.cell_size)
    np.testing.assert_allclose(found.layers["path_cost"], 1e-3 * expected, rtol=1e-6)
    assert (found.layers["path_cost"] <= found.layers["distance"] * (1.0 + 1e-6)).all()
    assert (found.layers["path_cost"] < 0.99 * found.layers["distance"]).any()

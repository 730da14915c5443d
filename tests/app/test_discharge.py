"""Rain and springs decide where rivers begin, and whoever tells of rivers tells the same."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
import tifffile

from app.cli import main as cli
from app.engine.creation import create_world
from app.engine.discharge import discharge_of_world, rivers_by
from app.engine.fragments import fragments_of
from app.engine.survey import FRAGMENT_LAYER, Surveyor, Wanted
from app.export.landscape import Landscape
from app.export.maps import _discharge
from app.files.opening import open_scene
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff
from app.model.world import World
from app.processes.discharge import discharge_of_cycle
from kernels.fronts import Fronts
from kernels.noise import fractal_noise
from kernels.ocean import ocean_mask, outlet_mask
from kernels.rivers import drain
from kernels.routing import way_to_outlet
from tests.app.small import simulated

CELL = 20.0
RAIN = Runoff(precipitation=800.0, least_cells=100.0)
BY_RAIN, BY_AREA = RiverParameters(threshold=12), RiverParameters(threshold=12, begin="area")


def hills(side: int = 48, seed: int = 3) -> World:
    return World(300.0 * fractal_noise(side, side, seed, 0.5 * side), np.zeros((side, side)), CELL, seed=0)


def rivers(world: World, rule: RiverParameters, runoff: Runoff) -> np.ndarray:
    survey = Surveyor().survey(world, rule, Wanted(rivers=True), runoff)
    assert survey is not None
    return survey.layers["rivers"] > 0.0


def test_where_no_rain_falls_no_river_begins() -> None:
    world = hills()
    even = rivers(world, BY_RAIN, RAIN)
    assert np.array_equal(even, rivers(world, BY_AREA, RAIN)), "under even rain they are those of the area"
    world.trace("rain")[:, 24:] = 1.0  # and none in the west
    drainage = drain(world.ground, CELL, -np.inf)
    discharge = discharge_of_world(drainage, world, RAIN)
    uneven = rivers(world, BY_RAIN, RAIN)
    assert not uneven[discharge == 0.0].any()
    assert (even & (discharge == 0.0)).sum() > 20
    assert np.array_equal(even, rivers(world, BY_AREA, RAIN)), "cells remain as a choice"
    assert np.array_equal(uneven, discharge >= 12 * 400.0 * 0.8 / 31_557_600.0)


def test_a_threshold_is_a_discharge() -> None:
    world = hills()
    drainage = drain(world.ground, CELL, -np.inf)
    discharge = discharge_of_world(drainage, world, RAIN)
    least = float(np.quantile(discharge, 0.97))
    rule = RiverParameters(discharge=least, threshold=1)
    assert np.array_equal(rivers(world, rule, RAIN), discharge >= least)
    wet = msgspec.structs.replace(rule)
    assert rivers(world, wet, Runoff(precipitation=1600.0, least_cells=100.0)).sum() > (discharge >= least).sum()
    assert not rivers(world, BY_RAIN, Runoff(precipitation=0.0, least_cells=100.0)).any(), "without rain there is none"


def test_a_spring_makes_a_river_from_where_it_wells_up() -> None:
    """Nine times as much as the rain, at each cell down to the outlet."""
    world = hills()
    drainage = drain(world.ground, CELL, -np.inf)
    row, column = (int(place) for place in np.argwhere(drainage.accumulation == 1.0)[50])
    place = ((row + 0.5) / 48, (column + 0.5) / 48, 9.0)
    runoff = Runoff(precipitation=800.0, least_cells=100.0, springs=(place,))
    discharge = discharge_of_world(drainage, world, runoff)
    brings = 9.0 * 48**2 * RAIN.discharge(CELL * CELL)
    way = tuple(way_to_outlet(drainage.directions, row, column).T)
    assert discharge[row, column] == pytest.approx(brings + RAIN.discharge(CELL * CELL), rel=1e-12)
    assert (discharge[way] >= brings).all()
    out = drainage.directions == 8
    assert discharge[out].sum() == pytest.approx(10 * 48**2 * RAIN.discharge(CELL * CELL), rel=1e-12), (
        "all of it leaves"
    )
    assert rivers(world, BY_RAIN, runoff)[way].all()
    assert not rivers(world, BY_AREA, runoff)[row, column]


PRESET = """
description = "a spring, rain in the east and more of it on the heights"
[world]
source = "noise"
columns = 48
rows = 40
cell_size = 20.0
relief = 300.0
rain_map = "{picture}"
[fields]
rain = "mix(0.2, 1, x)"
[climate]
precipitation = 1200.0
rain_by_altitude = 0.4
[droplets]
count = 100
springs = "0.4 0.3 160"
[rivers]
ties = "cost"
threshold = 20
watershed_size = 30
"""


def test_overlay_analysis_profile_lists_and_export_agree(tmp_path: Path) -> None:
    np.save(tmp_path / "rain.npy", np.add.outer(np.zeros(8), np.arange(8.0)))
    preset = tmp_path / "mine.toml"
    preset.write_text(PRESET.replace("{picture}", str(tmp_path / "rain.npy")))
    world, scene = create_world(open_scene(str(preset)))
    assert {"rain", "rate_rain"} <= set(world.layers)
    surveyor = Surveyor()
    survey = surveyor.survey(world, scene.rivers, Wanted(rivers=True), scene.runoff)
    assert survey is not None
    assert cli.main(["analyze", str(preset), "--out", str(tmp_path / "maps")]) == 0
    lists = json.loads((tmp_path / "maps" / "analysis.json").read_text())
    assert np.array_equal(tifffile.imread(tmp_path / "maps" / "rivers.tif") > 0, survey.layers["rivers"] > 0.0)
    ours = {(mouth.row, mouth.column): mouth.discharge for mouth in survey.mouths}
    theirs = {(mouth["place"]["row"], mouth["place"]["column"]): mouth["discharge_m3_s"] for mouth in lists["mouths"]}
    assert ours == {place: pytest.approx(flow, rel=1e-9) for place, flow in theirs.items()}
    assert list(ours.values()) == sorted(ours.values(), reverse=True)
    for lake, listed in zip(survey.lakes, lists["lakes"], strict=True):
        assert lake.discharge == pytest.approx(listed["discharge_m3_s"], rel=1e-9)
    largest = survey.mouths[0]
    followed = surveyor.survey(
        world, scene.rivers, Wanted(rivers=True, place=(largest.row, largest.column)), scene.runoff
    )
    assert followed is not None and followed.flow_path is not None
    assert followed.flow_path.discharge[-1] == pytest.approx(largest.discharge, rel=1e-9)
    exported = _discharge(Landscape(world, scene))
    assert exported[largest.row, largest.column] == pytest.approx(largest.discharge, rel=1e-9)
    assert lists["springs"] == 1
    assert lists["discharge_m3_s"] > max(theirs.values()) > 0.5 * lists["discharge_m3_s"]
    profile = lists["profile"]
    assert (np.diff(profile["raised"]) <= 0.0).all(), "the raised line lets all water out"
    assert (np.subtract(profile["raised"], profile["ground"]) >= 0.0).all()
    assert max(np.subtract(profile["raised"], profile["ground"])) > 0.0


SEASONS = """
[climate]
precipitation = 500.0
year = 8
season_rain = 0.9
temperature = 2.0
season_temperature = 12.0
rain_by_altitude = 0.5
[world]
source = "noise"
columns = 40
rows = 32
cell_size = 20.0
relief = 300.0
[droplets]
count = {count}
springs = "0.4 0.3 60; 0.7 0.6 5.5"
[fields]
rain = "mix(0.4, 1, x)"
[snow]
enabled = true
"""


@pytest.mark.parametrize(("count", "precipitation"), [(100, 500.0), (0, 500.0), (0, 0.0)])
def test_meanders_and_falls_reckon_with_the_discharge_that_is_shown_in_each_season(
    tmp_path: Path, count: int, precipitation: float
) -> None:
    preset = tmp_path / "mine.toml"
    preset.write_text('description = "springs, and a year of snow"\n' + SEASONS.format(count=count))
    simulator = simulated(0, open_scene(str(preset)).with_value("climate.precipitation", precipitation))
    for _ in range(8):
        simulator.advance()
        world = simulator.world
        drainage = drain(world.ground, world.cell_size, world.sea_level)
        shown = discharge_of_world(drainage, world, simulator.scene.runoff)
        np.testing.assert_allclose(discharge_of_cycle(world, simulator.cycle, drainage), shown, rtol=1e-9)
    assert world.layers["snow"].any() or not precipitation
    assert shown.any()
    brings = 65.5 * 0.8 * world.ground.size * world.cell_area / 100 / 31_557_600.0
    outlets = shown[drainage.directions == 8].sum()
    if precipitation:
        assert outlets > brings * (1.0 + 1e-9) if count else outlets < brings


def test_without_filling_rivers_are_fragments() -> None:
    world = hills()
    survey = Surveyor().survey(world, BY_RAIN, Wanted(rivers=True, fragments=True), RAIN)
    assert survey is not None
    found = fragments_of(world, BY_RAIN, RAIN)
    pits = (found.drainage.directions == 8) & (drain(world.ground, CELL, -np.inf).directions != 8)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(world.ground, 1, constant_values=np.inf), (3, 3))
    assert np.array_equal(pits, pits & (around.min(axis=(2, 3)) == world.ground)), "water ends where no cell is lower"
    assert (pits & (found.orders > 0)).sum() > 0
    assert np.array_equal(survey.layers[FRAGMENT_LAYER] > 0.0, found.orders > 0)
    assert found.drainage.accumulation.max() < drain(world.ground, CELL, -np.inf).accumulation.max()
    plain = Surveyor().survey(world, BY_RAIN, Wanted(rivers=True), RAIN)
    assert plain is not None
    assert FRAGMENT_LAYER not in plain.layers


def test_a_fill_takes_as_many_rounds_as_the_map_has_cells_to_a_side_and_hardly_more(subtests: pytest.Subtests) -> None:
    """From half to one and three quarters of the side, whatever the size; the article left it for another day."""
    for side in (32, 64, 128):
        for seed in range(3):
            for wavelength in (0.5 * side, 16.0):
                with subtests.test(side=side, seed=seed, wavelength=wavelength):
                    ground = 1000.0 * fractal_noise(side, side, seed, wavelength)
                    fronts = Fronts(ground, outlet_mask(ocean_mask(ground, -np.inf)))
                    fronts.advance(ground.size)
                    assert 0.45 * side < fronts.rounds < 1.75 * side


def test_how_many_times_what_a_river_begins_with() -> None:
    world = hills()
    drainage = drain(world.ground, CELL, -np.inf)
    discharge = discharge_of_world(drainage, world, RAIN)
    times = rivers_by(BY_RAIN, drainage, discharge, RAIN, CELL * CELL)
    np.testing.assert_allclose(times, drainage.accumulation / 12, rtol=1e-12)

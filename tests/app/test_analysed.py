"""A part of an analysed model has the rivers of the whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.cli.analyze import analyze
from app.engine.creation import create_world
from app.engine.discharge import discharge_of_world, drained
from app.engine.streams import streams_of
from app.engine.survey import FILLING_LAYER, Surveyor, Wanted
from app.files.analysed import read_analysed
from app.files.opening import open_scene
from app.model.errors import UserError
from app.sources.heightmap.tiff_model import open_tiff
from app.sources.part import Part
from tests.app.small import small_scene
from tests.app.test_heightmap import write_tiff
from tests.kernels.terrain import hills

PART = Part(40, 50, 80, 90)
PLACE = {"scale": [20.0, 20.0, 0.0], "tiepoint": [0.0, 0.0, 0.0, 5e5, 5e6, 0.0], "geo_keys": {1024: 1, 3072: 32632}}


def analysed(folder: Path) -> Path:
    """An analysis of land that falls to the east, through a valley that the part lies across."""
    south, east = np.mgrid[:160, :200]
    ground = hills(160, 200, seed=3) + 2.0 * (200 - east) + 3.0 * np.abs(south - 80.0)
    write_tiff(folder / "land.tif", ground.astype(np.float32), **PLACE)
    analyze(folder / "land.tif", folder / "whole", climate={"precipitation": 1234.0})
    return folder / "whole"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return analysed(tmp_path_factory.mktemp("analysed"))


def test_rivers_of_the_whole_come_into_a_part(analysis: Path) -> None:
    world, scene = create_world(open_scene(str(analysis), str(PART)))
    assert scene.climate.precipitation == 1234.0 and world.shape == (PART.rows, PART.columns)
    whole, _ = open_tiff(analysis / "discharge.tif", of_heights=False).part(PART)  # type: ignore[union-attr]
    is_river = whole >= scene.rivers.discharge
    share = {}
    for runoff in (scene.runoff, replace(scene.runoff, inflows=())):
        drainage = drained(world.ground, world.cell_size, -np.inf, runoff)
        found = discharge_of_world(drainage, world, runoff)
        share[runoff] = np.mean(np.abs(found - whole)[is_river] < 0.02 * whole[is_river])
        upstream = drainage.accumulation.max() * runoff.discharge(world.cell_area)
        assert upstream == pytest.approx(found.max(), rel=0.01)
    with_them, without = share.values()
    assert with_them > 0.9 and without < with_them - 0.2


def test_they_are_listed_and_drawn(analysis: Path) -> None:
    world, scene = create_world(open_scene(str(analysis), str(PART)))
    whole, _ = open_tiff(analysis / "discharge.tif", of_heights=False).part(PART)  # type: ignore[union-attr]
    survey = Surveyor().survey(world, scene.rivers, Wanted(rivers=True), scene.runoff)
    assert survey is not None
    largest = survey.mouths[0].discharge
    assert largest == pytest.approx(whole.max(), rel=0.02)
    inflow = max(discharge for _, _, discharge in scene.runoff.inflows)
    for passed in (0.0, 1e-6):  # before and after drops have run, which bring none of it
        world.trace("discharge")[:] = passed
        flow, _ = streams_of(world, scene.runoff)
        assert inflow < flow.max() < 1.2 * largest


def test_fronts_fill_up_to_where_a_river_that_comes_in_leaves() -> None:
    scene = small_scene(rivers__inflows="0.5 0.0 10", rivers__filling_pace=100, pools__enabled=False)
    world, _ = create_world(scene)
    world.bedrock[:, :2] -= 100.0  # the edge over which it comes in is the lowest
    world.sum_ground()
    surveyor = Surveyor()
    surveyor.survey(world, scene.rivers, Wanted(filling=1), scene.runoff)
    survey = surveyor.survey(world, scene.rivers, Wanted(filling=1), scene.runoff)
    assert survey is not None and survey.filled
    assert (survey.layers[FILLING_LAYER] == 1.0).all()  # all fronts are where they end


@pytest.mark.parametrize("count", [100, 0])
def test_a_river_comes_into_a_land_without_rain(count: int) -> None:
    settings: dict[str, object] = {"droplets__count": count, "climate__precipitation": 0.0, "pools__enabled": False}
    scene = small_scene(rivers__inflows="0.5 0.5 10", **settings)
    world, _ = create_world(scene)
    drainage = drained(world.ground, world.cell_size, -np.inf, scene.runoff)
    found = discharge_of_world(drainage, world, scene.runoff)
    assert np.unique(np.round(found, 6)).tolist() == [0.0, 10.0]


def test_an_analysis_finds_its_model_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_tiff(Path("land.tif"), hills(24, 32, seed=3).astype(np.float32), **PLACE)
    analyze(Path("land.tif"), Path("whole"))
    monkeypatch.chdir(tmp_path)
    assert read_analysed(Path("here/whole")).model.samefile("here/land.tif")
    (tmp_path / "here").rename(tmp_path / "there")
    assert read_analysed(Path("there/whole")).model.samefile("there/land.tif")


def test_a_scene_names_what_comes_in(analysis: Path) -> None:
    scene = open_scene(str(analysis), str(PART))
    assert len(scene.runoff.inflows) > 1
    whole = open_scene(str(analysis))
    assert whole.rivers.inflows == "" and whole.climate.precipitation == 1234.0
    inner = read_analysed(analysis).inflows(PART, within=8)
    assert all(8 <= south * PART.rows < PART.rows - 8 and 8 <= east * PART.columns < 82 for south, east, _ in inner)
    with pytest.raises(UserError, match=r"^rivers\.inflows: '0 2 1' must be three numbers.*up to 1000000 m³/s$"):
        scene.with_value("rivers.inflows", "0 2 1")


def test_a_folder_that_does_not_fit_is_one_line(analysis: Path, tmp_path: Path) -> None:
    said = json.loads((analysis / "analysis.json").read_text(encoding="utf-8"))
    said["file"] = str(analysis.parent / "land.tif")
    for change, why in (
        ({"file": str(tmp_path / "none.tif")}, "its model .*none.tif is not there"),
        ({"rows": 100}, "it is an analysis of a part of land.tif"),
        ({"rows": "many"}, "it is not the list of an analysis"),
    ):
        (tmp_path / "analysis.json").write_text(json.dumps(said | change), encoding="utf-8")
        with pytest.raises(UserError, match=why):
            open_scene(str(tmp_path), str(PART))
    (tmp_path / "analysis.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(UserError, match=r"discharge\.tif: there is no such map"):
        open_scene(str(tmp_path), str(PART))

"""`thalweg analyze`: maps that other programs can read, in the place of the file, and lists that agree with them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray

from app.cli import analyze as analysis
from app.cli import main as cli
from app.engine.creation import create_world
from app.engine.survey import Surveyor, Wanted
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.river_parameters import RiverParameters
from kernels.rivers import drain
from tests.app.test_heightmap import write_tiff
from tests.kernels.relief import island

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written

ROWS, COLUMNS = 60, 72
GROUND = island(ROWS, COLUMNS) + 12.0
UTM_17N = {1024: 1, 1025: 1, 3072: 32617}


def run(file: Path, folder: Path, *words: str) -> dict[str, Any]:
    """Analyze a file from the command line; the lists."""
    assert cli.main(["analyze", str(file), "--out", str(folder), *words]) == 0
    lists: dict[str, Any] = json.loads((folder / "analysis.json").read_text())
    return lists


def read(folder: Path, name: str) -> NDArray[Any]:
    return np.asarray(tifffile.imread(folder / f"{name}.tif"))


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The maps of an island, with the sea at 0 and cells of 20 m."""
    folder = tmp_path_factory.mktemp("maps")
    file = write_tiff(
        folder / "island.tif", GROUND, scale=[20.0, 20.0, 0.0], tiepoint=[0, 0, 0, 5e5, 4e6, 0], geo_keys=UTM_17N
    )
    run(file, folder / "made" / "here", "--sea-level", "0", "--river", "12", "--watershed", "100")
    return folder / "made" / "here"


def test_maps_are_what_the_kernels_find(maps: Path) -> None:
    drainage = drain(GROUND, 20.0, 0.0)
    assert drainage.ocean.any()
    assert np.array_equal(read(maps, "filled"), drainage.filled)
    assert np.array_equal(read(maps, "accumulation"), drainage.accumulation)
    assert np.array_equal(read(maps, "lake_depth"), (drainage.filled - GROUND).astype(np.float32))
    assert np.array_equal(read(maps, "distance"), drainage.routes.distances.astype(np.float32))
    cost = read(maps, "path_cost")
    assert (cost <= read(maps, "distance") * (1.0 + 1e-6)).all() and (cost < 0.99 * read(maps, "distance")).any()
    assert np.array_equal(read(maps, "lakes") > 0, drainage.filled > GROUND)
    assert np.array_equal(read(maps, "rivers") > 0, (drainage.accumulation >= 12) & ~drainage.ocean)
    _, sizes = np.unique(drainage.routes.outlets[~drainage.ocean], return_counts=True)
    assert read(maps, "watersheds").max() == (sizes >= 100).sum()
    # As in other programs: a power of two, clockwise from the east
    directions = read(maps, "directions")
    assert set(np.unique(directions)) == {0, 1, 2, 4, 8, 16, 32, 64, 128}
    for row, column in np.argwhere(directions == 2):
        assert drainage.filled[row + 1, column + 1] <= drainage.filled[row, column]
        assert drainage.routes.distances[row, column] - drainage.routes.distances[row + 1, column + 1] == pytest.approx(
            20.0 * math.sqrt(2.0)
        )


def test_lists_agree_with_the_maps(maps: Path) -> None:
    lists = json.loads((maps / "analysis.json").read_text())
    drainage = drain(GROUND, 20.0, 0.0)
    assert (lists["rows"], lists["columns"], lists["cell_size"], lists["sea_level"]) == (ROWS, COLUMNS, 20.0, 0.0)
    assert lists["land_m2"] + lists["ocean_m2"] == ROWS * COLUMNS * 400.0
    lakes, labels, depth = lists["lakes"], read(maps, "lakes"), drainage.filled - GROUND
    assert len(lakes) == labels.max() > 3
    assert sum(lake["volume_m3"] for lake in lakes) == pytest.approx(depth.sum() * 400.0, rel=1e-12)
    assert [lake["volume_m3"] for lake in lakes] == sorted((lake["volume_m3"] for lake in lakes), reverse=True)
    for lake in lakes[:5]:
        inside = labels == lake["lake"]
        assert lake["area_m2"] == inside.sum() * 400.0
        assert lake["depth"] == depth[inside].max()
        row, column = lake["outlet"]["row"], lake["outlet"]["column"]
        assert GROUND[row, column] == lake["level"]
        assert (lake["outlet"]["x"], lake["outlet"]["y"]) == (5e5 + 20.0 * (column + 0.5), 4e6 - 20.0 * (row + 0.5))
    mouths = lists["mouths"]
    assert len(mouths) > 3
    catchments = [mouth["catchment_m2"] for mouth in mouths]
    assert catchments == sorted(catchments, reverse=True)
    assert min(catchments) >= 12 * 400.0
    at_outlets = drainage.accumulation[drainage.directions == 8]
    assert sum(catchments) == at_outlets[at_outlets >= 12].sum() * 400.0
    for mouth in mouths:
        cell = mouth["place"]["row"] * COLUMNS + mouth["place"]["column"]
        upstream = drainage.routes.outlets == cell
        assert mouth["longest_way"] == drainage.routes.distances[upstream].max()
        numbers = np.unique(read(maps, "watersheds")[upstream & ~drainage.ocean])
        assert numbers.tolist() == [mouth["watershed"]]
        assert (mouth["watershed"] > 0) == (mouth["catchment_m2"] >= 100 * 400.0)


def test_previews_are_pictures_of_the_map(maps: Path) -> None:
    pictures = {path.stem: imagecodecs.png_decode(path.read_bytes()) for path in maps.glob("*.png")}
    assert pictures.keys() == analysis.PREVIEWS.keys()
    for picture in pictures.values():
        assert picture.shape == (ROWS, COLUMNS, 3)
        assert picture.std() > 5.0
    ocean = drain(GROUND, 20.0, 0.0).ocean
    for name in ("watersheds", "rivers", "distance"):
        assert np.ptp(pictures[name][ocean].astype(int), axis=0).max() == 0, name
    rivers = read(maps, "rivers")
    blueness = pictures["rivers"][..., 2].astype(int) - pictures["rivers"][..., 0]
    assert blueness[rivers == rivers.max()].min() > 50
    assert np.median(blueness[(rivers == 0) & ~ocean]) < 10


def test_a_large_map_has_small_previews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.previews.LARGEST_SIDE", 40)
    np.save(tmp_path / "island.npy", GROUND)
    run(tmp_path / "island.npy", tmp_path / "maps", "--cell-size", "5")
    for name in analysis.PREVIEWS:
        assert imagecodecs.png_decode((tmp_path / "maps" / f"{name}.png").read_bytes()).shape == (30, 36, 3)


# Georeferences.


def corners(file: Path) -> NDArray[np.float64]:
    """Model coordinates of the map's corners, from the tags of a TIFF: north-west, north-east, south-west."""
    with tifffile.TiffFile(file) as tiff:
        page = tiff.pages.first
        rows, columns = page.shape
        tags = page.geotiff_tags
        if "ModelTransformation" in tags:
            to_model = np.array(tags["ModelTransformation"]).reshape(4, 4)[:2][:, [0, 1, 3]]
        else:
            scale, tie = tags["ModelPixelScale"], tags["ModelTiepoint"]
            to_model = np.array([[scale[0], 0.0, tie[3]], [0.0, -scale[1], tie[4]]])
            to_model[:, 2] -= to_model[:, :2] @ tie[:2]
        half = 0.5 if tags.get("GTRasterTypeGeoKey") == 2 else 0.0
    return np.array([to_model @ (x - half, y - half, 1.0) for x, y in ((0, 0), (columns, 0), (0, rows))])


@pytest.mark.parametrize("kind", ["area", "point", "turned", "tiepoint in the middle", "feet"])
def test_georeference_is_kept(kind: str, tmp_path: Path) -> None:
    keys, tags = dict(UTM_17N), {"scale": [30.0, 30.0, 0.0], "tiepoint": [0.0, 0, 0, 7e5, 4e6, 0]}
    if kind == "point":
        keys[1025] = 2
    if kind == "turned":
        tags = {"transformation": [26.0, 15.0, 0, 7e5, 15.0, -26.0, 0, 4e6, 0, 0, 0, 0, 0, 0, 0, 1.0]}
    if kind == "tiepoint in the middle":
        tags["tiepoint"] = [10.0, 20.0, 0, 7e5, 4e6, 0]
    if kind == "feet":
        keys[4099] = 9002
    file = write_tiff(tmp_path / "a.tif", GROUND.astype(np.float32), geo_keys=keys, **tags)
    run(file, tmp_path / "maps")
    for path in (tmp_path / "maps" / f"{name}.tif" for name in analysis.MAPS):
        np.testing.assert_allclose(corners(path), corners(file), rtol=0.0, atol=1e-6)
        with tifffile.TiffFile(path) as made, tifffile.TiffFile(file) as source:
            ours, theirs = made.pages.first.geotiff_tags, source.pages.first.geotiff_tags
            assert ours["ProjectedCSTypeGeoKey"] == theirs["ProjectedCSTypeGeoKey"] == 32617
            assert ours["GTRasterTypeGeoKey"] == theirs["GTRasterTypeGeoKey"]
            assert ours.get("VerticalUnitsGeoKey") == (9001 if kind == "feet" else None)
    if kind == "feet":
        assert read(tmp_path / "maps", "filled").max() == pytest.approx(0.3048 * GROUND.max(), rel=1e-6)


def test_georeference_of_a_map_that_was_brought_back_and_turned_north_up(tmp_path: Path) -> None:
    """Degrees, so that cells are not square, and the southernmost row first."""
    keys = {1024: 2, 1025: 1, 2048: 4326}
    matrix = [0.001, 0, 0, -84.0, 0, 0.001, 0, 36.0, 0, 0, 0, 0, 0, 0, 0, 1.0]
    file = write_tiff(tmp_path / "a.tif", GROUND[::-1], geo_keys=keys, transformation=matrix)
    lists = run(file, tmp_path / "maps")
    assert (lists["rows"], lists["columns"]) == read(tmp_path / "maps", "filled").shape == (ROWS, COLUMNS)
    assert (lists["computed_in"]["rows"], lists["computed_in"]["columns"]) != (ROWS, COLUMNS)
    west, east, south, north = -84.0, -84.0 + 0.001 * COLUMNS, 36.0, 36.0 + 0.001 * ROWS
    np.testing.assert_allclose(
        corners(tmp_path / "maps" / "filled.tif"), [[west, north], [east, north], [west, south]], rtol=0.0, atol=1e-9
    )
    assert lists["mouths"]
    for mouth in lists["mouths"]:
        assert west < mouth["place"]["x"] < east
        assert south < mouth["place"]["y"] < north


DIRECTORY, DOUBLES, TEXTS = 34735, 34736, 34737  # tags of GeoTIFF keys


@pytest.mark.parametrize(
    ("tag", "why"),
    [
        ((DOUBLES, "d", 1, 6378137.0, True), ""),
        ((DOUBLES, "f", 1, 6378137.0, True), "tag 34736 is of type FLOAT; must be DOUBLE"),
        ((DIRECTORY, "I", 4, [1, 1, 0, 0], True), "tag 34735 is of type LONG; must be SHORT"),
        ((DIRECTORY, "H", 5, [1, 1, 0, 0, 7], True), "cannot reshape array of size 5"),
        ((DIRECTORY, "B", 8, b"\1\0\1\0\0\0\1\0", True), "tag 34735 is of type BYTE; must be SHORT"),
        ((TEXTS, "s", 0, b"\xff|", True), "tag 34737 is no ASCII text"),
    ],
)
def test_keys_that_are_damaged_are_left_out_and_the_place_stays(
    tag: tuple[Any, ...], why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = ((33550, "d", 3, [20.0, 20.0, 0.0], True), (33922, "d", 6, [0.0, 0, 0, 5e5, 4e6, 0], True))
    tifffile.imwrite(tmp_path / "a.tif", GROUND, extratags=(*place, tag), metadata=None)
    run(tmp_path / "a.tif", tmp_path / "maps")
    with tifffile.TiffFile(tmp_path / "maps" / "filled.tif") as made:
        assert made.pages.first.tags[33922].value[3:5] == (5e5, 4e6)
        assert (tag[0] in made.pages.first.tags) == (not why)
    assert why in caplog.text and ("a.tif: its GeoTIFF keys are not used" in caplog.text) == bool(why)


def test_files_without_a_place_have_none(tmp_path: Path) -> None:
    file = write_tiff(tmp_path / "a.tif", GROUND.astype(np.float32))
    lists = run(file, tmp_path / "maps")
    assert {tuple(mouth["place"]) for mouth in lists["mouths"]} == {("row", "column")}
    with tifffile.TiffFile(tmp_path / "maps" / "filled.tif") as made:
        assert not made.pages.first.is_geotiff


# Options and other kinds of files.


def test_options_change_what_is_found(tmp_path: Path) -> None:
    np.save(tmp_path / "island.npy", GROUND)
    file = tmp_path / "island.npy"
    none = run(file, tmp_path / "none", "--cell-size", "10")
    sea = run(file, tmp_path / "sea", "--cell-size", "10", "--sea-level", "0")
    assert none["sea_level"] is None
    assert none["ocean_m2"] == 0.0 < sea["ocean_m2"]
    finer = run(file, tmp_path / "finer", "--cell-size", "10", "--river", "3", "--watershed", "3")
    assert len(finer["mouths"]) > len(none["mouths"])
    assert finer["watersheds"] > none["watersheds"]
    bay = np.abs(GROUND) + 1.0
    bay[30, :5] = -1.0
    np.save(file, bay)
    open_edges = run(file, tmp_path / "open", "--cell-size", "10", "--sea-level", "0")
    closed = run(file, tmp_path / "closed", "--cell-size", "10", "--sea-level", "0", "--edges", "closed")
    assert len(open_edges["mouths"]) > 5
    assert {(mouth["place"]["row"]) for mouth in closed["mouths"]} == {30}
    stretched = run(file, tmp_path / "stretched", "--cell-size", "10", "--relief", "500")
    assert np.ptp(read(tmp_path / "stretched", "filled")) <= 500.0
    assert stretched["cell_size"] == 10.0


def test_saved_worlds_are_read_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = tmp_path / "world.npz"
    assert cli.main(["simulate", "noise", "--size", "40x32", "--cycles", "0", "--out", str(world)]) == 0
    lists = run(world, tmp_path / "maps")
    assert (lists["rows"], lists["columns"], lists["cell_size"]) == (32, 40, 256.0)
    assert "40×32 cells of 256 m" in capsys.readouterr().out
    with pytest.raises(UserError, match="keeps its cell size"):
        analysis.read_land(world, cell_size=3.0)


# Rain.

YEAR = 31_557_600.0  # seconds


def rain_below(fallen: NDArray[np.float64], cell_size: float, sea_level: float) -> dict[tuple[int, int], float]:
    """For each outlet, in cubic metres a second, the water of so many metres a year: cell by cell down to the sea."""
    drainage = drain(GROUND, cell_size, sea_level)
    steps = {4: (-1, -1), 0: (-1, 0), 5: (-1, 1), 1: (0, -1), 2: (0, 1), 6: (1, -1), 3: (1, 0), 7: (1, 1)}
    sums: dict[tuple[int, int], float] = {}
    for row, column in np.argwhere(~drainage.ocean):
        place = int(row), int(column)
        while (number := int(drainage.directions[place])) != 8:
            place = place[0] + steps[number][0], place[1] + steps[number][1]
        sums[place] = sums.get(place, 0.0) + fallen[row, column] * cell_size**2 / YEAR
    return sums


def places(found: list[dict[str, Any]], name: str = "place") -> dict[tuple[int, int], float]:
    return {(each[name]["row"], each[name]["column"]): each["discharge_m3_s"] for each in found}


def by_altitude(part: float) -> NDArray[np.float64]:
    height = (GROUND - GROUND.min()) / np.ptp(GROUND)
    return 1.0 + part * (height - 1.0)


def picture_of_rain(folder: Path) -> tuple[Path, NDArray[np.float64]]:
    """A picture of the size of the map, and the part of the rain that it means."""
    grey = np.broadcast_to(np.linspace(0, 65535, COLUMNS).astype(np.uint16), (ROWS, COLUMNS))
    (folder / "rain.png").write_bytes(imagecodecs.png_encode(np.ascontiguousarray(grey)))
    return folder / "rain.png", grey / 65535.0


@pytest.mark.parametrize("kind", ["usual", "wet", "by altitude", "by a map", "all"])
def test_discharge_is_the_rain_on_what_lies_upstream(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "island.npy"
    np.save(file, GROUND)
    picture, part = picture_of_rain(tmp_path)
    words: dict[str, tuple[str, ...]] = {
        "wet": ("--precipitation", "1600"),
        "by altitude": ("--rain-by-altitude", "0.6"),
        "by a map": ("--rain-map", str(picture)),
    }
    words["all"] = (*words["wet"], *words["by altitude"], *words["by a map"])
    metres = (1.6 if kind in ("wet", "all") else 0.8) * np.ones(GROUND.shape)
    metres *= by_altitude(0.6) if kind in ("by altitude", "all") else 1.0
    metres *= part if kind in ("by a map", "all") else 1.0
    options = ("--cell-size", "20", "--sea-level", "0", "--river", "12", "--watershed", "100", *words.get(kind, ()))
    found = run(file, tmp_path / "maps", *options)
    expected = rain_below(metres, 20.0, 0.0)
    assert found["discharge_m3_s"] == pytest.approx(sum(expected.values()), rel=1e-6)
    mouths, basins = places(found["mouths"]), places(found["basins"], "outlet")
    assert len(mouths) > 3 and len(basins) > 1
    for discharges in (mouths, basins):
        assert discharges == {place: pytest.approx(expected[place], rel=1e-6) for place in discharges}
    through = read(tmp_path / "maps", "discharge")
    assert found["lakes"]
    for lake in found["lakes"]:
        assert through[lake["outlet"]["row"], lake["outlet"]["column"]] == pytest.approx(lake["discharge_m3_s"])
    assert found["rain_map"] == (kind in ("by a map", "all"))
    assert found["precipitation_mm_a"] == (1600.0 if kind in ("wet", "all") else 800.0)


def test_basins_are_the_watersheds_of_the_map(maps: Path) -> None:
    lists, labels = json.loads((maps / "analysis.json").read_text()), read(maps, "watersheds")
    basins = lists["basins"]
    assert [basin["area_m2"] for basin in basins] == sorted((basin["area_m2"] for basin in basins), reverse=True)
    assert {basin["watershed"] for basin in basins} == set(range(1, labels.max() + 1))
    for basin in basins:
        assert basin["area_m2"] == (labels == basin["watershed"]).sum() * 400.0


def test_a_world_has_its_own_rain_sea_and_edges(tmp_path: Path) -> None:
    """The same as the survey of the window lists for it; and options go before what it says."""
    picture, _ = picture_of_rain(tmp_path)
    preset = tmp_path / "mine.toml"
    preset.write_text(
        'description = "rain in the east"\n[world]\nsource = "island"\ncolumns = 72\nrows = 60\n'
        f'rain_map = "{picture}"\n[climate]\nprecipitation = 1200.0\nrain_by_altitude = 0.4\n'
        '[edges]\nwater = "sea"\nsea_level = 5.0\n[pools]\nenabled = true\n'
    )
    saved = tmp_path / "world.npz"
    assert cli.main(["simulate", str(preset), "--cycles", "1", "--out", str(saved)]) == 0
    for source in (preset, saved):
        world, scene = create_world(open_scene(str(source)))
        world.sea_level = 5.0
        rule = RiverParameters(begin="area", threshold=20)
        survey = Surveyor().survey(world, rule, Wanted(rivers=True), scene.runoff)
        assert survey is not None
        found = run(source, tmp_path / source.suffix, "--river", "20")
        assert (found["sea_level"], found["precipitation_mm_a"], found["rain_by_altitude"]) == (5.0, 1200.0, 0.4)
        assert found["rain_map"]
        assert places(found["mouths"]) == {
            (mouth.row, mouth.column): pytest.approx(mouth.discharge, rel=1e-12) for mouth in survey.mouths
        }
        wetter = run(source, tmp_path / "wetter", "--river", "20", "--precipitation", "2400", "--sea-level", "-10000")
        assert wetter["ocean_m2"] == 0.0 < found["ocean_m2"]
        assert wetter["precipitation_mm_a"] == 2400.0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--precipitation", "-3"), "climate.precipitation"),
        (("--rain-by-altitude", "1.5"), "climate.rain_by_altitude"),
        (("--rain-map", "dark.npy"), "all of one shade"),
    ],
)
def test_rain_that_cannot_be_is_refused_in_one_line(
    words: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("island.npy", GROUND)
    np.save("dark.npy", np.zeros((8, 8)))
    assert cli.main(["analyze", "island.npy", "--out", "maps", *words]) == 1
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
    assert not Path("maps").exists()


def test_the_same_bytes_each_time_and_a_progress_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "island.npy", GROUND)
    for name in ("one", "two"):
        run(tmp_path / "island.npy", tmp_path / name)
    error = capsys.readouterr().err
    assert "100%" in error
    assert "writing watersheds.tif" in error
    made = {path.name for path in (tmp_path / "one").iterdir()}
    assert made == {*(f"{name}.tif" for name in analysis.MAPS), *(f"{name}.png" for name in analysis.PREVIEWS)} | {
        "analysis.json",
        "vectors.gpkg",
    }
    for name in made:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_folder_that_cannot_be_made_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "island.npy", GROUND)
    for folder in (tmp_path / "island.npy", tmp_path / "island.npy" / "maps"):
        assert cli.main(["analyze", str(tmp_path / "island.npy"), "--out", str(folder)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"thalweg: cannot write into {folder}: ")
        assert error.count("\n") == 1
    (tmp_path / "maps" / "filled.tif").mkdir(parents=True)
    with pytest.raises(UserError, match=r"cannot write .*filled\.tif: it is a folder"):
        analysis.analyze(tmp_path / "island.npy", tmp_path / "maps")


def test_what_fails_leaves_no_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_tiff(tmp_path / "island.tif", GROUND, scale=[20.0, 20.0, 0.0])
    (tmp_path / "there").mkdir()

    def fail(*what: object) -> None:
        raise MemoryError

    monkeypatch.setattr(analysis, "analysis_of", fail)
    for folder in (tmp_path / "new" / "deep", tmp_path / "there", tmp_path / "there" / "new"):
        assert cli.main(["analyze", str(file), "--out", str(folder)]) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["island.tif", "there"]

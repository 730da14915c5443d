"""Rivers, watersheds and lakes in a GeoPackage, as SQLite and nothing else reads it, against the maps."""

from __future__ import annotations

import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray
from rasterio.features import rasterize

from app.cli import main as cli
from app.export import vectors
from app.export.landscape import Landscape
from app.export.plan import plan
from app.export.vectors import LAYERS, reaches_of, way_lengths
from app.export.wishes import Wishes
from app.model.world import World
from app.scene.scene import Scene
from kernels.rivers import drain
from kernels.routing import strahler_orders
from tests.app.full_disk import keeps_the_old_file_on_a_full_disk
from tests.app.test_heightmap import write_tiff
from tests.app.test_source_grid import model
from tests.kernels.relief import island

pytestmark = pytest.mark.slow  # whole commands are run

Points = NDArray[np.float64]
ROWS, COLUMNS, SIDE = 60, 72, 20.0
WEST, NORTH = 5e5, 4e6
GROUND = island(ROWS, COLUMNS) + 12.0
GROUND[:, COLUMNS // 2 :] += 40.0  # a cliff that rivers fall over
UTM_17N = {1024: 1, 1025: 1, 3072: 32617}


def shape_of(blob: bytes) -> Any:
    """A geometry of a GeoPackage: a point [2], a line [point, 2], or a list of polygons, each a list of rings."""
    assert blob[:2] == b"GP"
    envelope = (0, 32, 48, 48, 64)[blob[3] >> 1 & 7]
    return _wkb(memoryview(blob)[8 + envelope :])[0]


def _wkb(data: memoryview) -> tuple[Any, memoryview]:
    order, kind, count = struct.unpack("<BII", data[:9])
    assert order == 1
    rest = data[9:]
    if kind == 1:
        return np.frombuffer(data[5:21], "<f8"), data[21:]
    if kind == 2:
        return np.frombuffer(rest[: 16 * count], "<f8").reshape(-1, 2), rest[16 * count :]
    parts = []
    for _ in range(count):
        if kind == 3:
            (points,) = struct.unpack("<I", rest[:4])
            parts.append(np.frombuffer(rest[4 : 4 + 16 * points], "<f8").reshape(-1, 2))
            rest = rest[4 + 16 * points :]
        else:
            assert kind == 6
            part, rest = _wkb(rest)
            parts.append(part)
    return parts, rest


def read(path: Path, layer: str) -> list[dict[str, Any]]:
    """The features of a layer; `shape` is the geometry."""
    with sqlite3.connect(path) as data:
        data.row_factory = sqlite3.Row
        (column,) = data.execute(
            f"SELECT column_name FROM gpkg_geometry_columns WHERE table_name = '{layer}'"
        ).fetchone()
        rows = [dict(row) for row in data.execute(f"SELECT * FROM {layer} ORDER BY id")]
    return [
        {name: value for name, value in row.items() if name != column} | {"shape": shape_of(row[column])}
        for row in rows
    ]


def area_of(polygons: list[list[Points]]) -> float:
    """Outer rings less inner ones, by the shoelace formula from the first point."""
    total = 0.0
    for rings in polygons:
        for number, ring in enumerate(rings):
            x, y = (ring - ring[0]).T
            area = 0.5 * abs(float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum()))
            total += area if number == 0 else -area
    return total


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    file = write_tiff(
        folder / "island.tif", GROUND, scale=[SIDE, SIDE, 0.0], tiepoint=[0, 0, 0, WEST, NORTH, 0], geo_keys=UTM_17N
    )
    words = ["--sea-level", "0", "--river", "12", "--watershed", "100"]
    assert cli.main(["analyze", str(file), "--out", str(folder / "maps"), *words]) == 0
    return folder / "maps"


def raster(folder: Path, name: str) -> NDArray[Any]:
    with rasterio.open(folder / f"{name}.tif") as file:
        return np.asarray(file.read(1))


def test_layers_have_the_attributes_of_the_table_and_the_models_coordinates(maps: Path) -> None:
    with sqlite3.connect(maps / "vectors.gpkg") as data:
        contents = dict(data.execute("SELECT table_name, srs_id FROM gpkg_contents"))
        assert contents == dict.fromkeys(LAYERS, 32617)
        for name, row in LAYERS.items():
            columns = [column for _, column, *_ in data.execute(f"PRAGMA table_info({name})")]
            assert columns[2:] == [field.name for field in row.fields]
            assert data.execute(f"SELECT count(*) FROM {name}").fetchone()[0] >= 3


def test_rivers_are_those_of_the_map_with_their_lengths(maps: Path) -> None:
    rivers = read(maps / "vectors.gpkg", "rivers")
    drainage = drain(GROUND, SIDE, 0.0)
    is_river = raster(maps, "rivers") > 0
    directions = drainage.directions[is_river]
    expected = np.where(directions < 4, SIDE, np.where(directions < 8, np.sqrt(2.0) * SIDE, 0.0)).sum()
    assert sum(river["length_m"] for river in rivers) == pytest.approx(expected, rel=1e-12)
    seen = np.zeros((ROWS, COLUMNS), bool)
    for river in rivers:
        line = river["shape"]
        assert np.hypot(*np.diff(line, axis=0).T).sum() == pytest.approx(river["length_m"], rel=1e-9)
        columns, rows = ((line - (WEST, NORTH)) / (SIDE, -SIDE) - 0.5).T
        cells = np.rint(rows).astype(int), np.rint(columns).astype(int)
        np.testing.assert_allclose(rows, cells[0], atol=1e-6)
        assert (raster(maps, "rivers")[cells][:-1] == river["strahler"]).all()
        assert river["discharge_m3_s"] == pytest.approx(raster(maps, "discharge")[cells][-2])
        assert river["catchment_m2"] == pytest.approx(raster(maps, "accumulation")[cells][-2] * SIDE**2)
        seen[cells] = True
    alone = is_river & (drainage.directions == 8)  # rivers of a single cell have no line
    assert (seen | alone)[is_river].all()


def test_next_ids_form_trees_that_end_at_outlets(maps: Path) -> None:
    rivers = {river["id"]: river for river in read(maps / "vectors.gpkg", "rivers")}
    directions, labels = raster(maps, "directions"), raster(maps, "watersheds")
    above: dict[int, list[int]] = {}
    for number, river in rivers.items():
        row, column = _cell(river["shape"][0])
        assert (river["watershed"] or 0) == labels[row, column]
        if river["next_id"] is None:
            row, column = _cell(river["shape"][-1])
            assert directions[row, column] == 0
            continue
        below = rivers[river["next_id"]]
        np.testing.assert_array_equal(below["shape"][0], river["shape"][-1])
        assert below["strahler"] >= river["strahler"] and below["catchment_m2"] > river["catchment_m2"]
        above.setdefault(river["next_id"], []).append(number)
    assert above and all(len(numbers) >= 2 for numbers in above.values())
    for number, numbers in above.items():  # Strahler's rule
        orders = sorted((rivers[upper]["strahler"] for upper in numbers), reverse=True)
        assert rivers[number]["strahler"] == orders[0] + (orders[0] == orders[1])
    for number in rivers:  # no circles
        seen = set()
        at: int | None = number
        while at is not None:
            assert at not in seen
            seen.add(at)
            at = rivers[at]["next_id"]


def _cell(place: Points) -> tuple[int, int]:
    return int((NORTH - place[1]) // SIDE), int((place[0] - WEST) // SIDE)


@pytest.mark.parametrize("layer", ["watersheds", "lakes"])
def test_polygons_are_the_cells_of_the_map_and_do_not_overlap(layer: str, maps: Path) -> None:
    labels = raster(maps, layer)
    features = read(maps / "vectors.gpkg", layer)
    assert [feature["id"] for feature in features] == np.unique(labels[labels > 0]).tolist()
    assert sum(area_of(feature["shape"]) for feature in features) == (labels > 0).sum() * SIDE**2
    place = rasterio.transform.from_origin(WEST, NORTH, SIDE, SIDE)
    for feature in features:
        assert area_of(feature["shape"]) == (labels == feature["id"]).sum() * SIDE**2
        assert abs(feature["area_m2"] - area_of(feature["shape"])) <= SIDE**2
        shape = {
            "type": "MultiPolygon",
            "coordinates": [[ring.tolist() for ring in rings] for rings in feature["shape"]],
        }
        covered = rasterize([(shape, 1)], labels.shape, transform=place)
        np.testing.assert_array_equal(covered == 1, labels == feature["id"])


def test_falls_are_points_where_rivers_of_the_map_drop(maps: Path) -> None:
    falls, filled = read(maps / "vectors.gpkg", "falls"), np.maximum(raster(maps, "filled"), 0.0)
    lists = json.loads((maps / "analysis.json").read_text())["falls"]
    assert len(lists) == len(falls) > 3
    assert [fall["height_m"] for fall in falls] == sorted((fall["height_m"] for fall in falls), reverse=True)
    for fall, listed in zip(falls, lists, strict=True):
        lip, foot = _cell(fall["shape"]), _cell(np.array([fall["foot_x"], fall["foot_y"]]))
        assert raster(maps, "rivers")[lip] > 0
        assert (fall["lip_m"], fall["height_m"]) == (filled[lip], filled[lip] - filled[foot])
        assert fall["height_m"] > 0.7 * SIDE
        assert fall["discharge_m3_s"] == pytest.approx(raster(maps, "discharge")[lip])
        places = [(listed[end]["row"], listed[end]["column"]) for end in ("lip", "foot")]
        assert (listed["fall"], listed["height"], places) == (fall["id"], fall["height_m"], [lip, foot])


def test_a_model_in_degrees_has_vectors_in_degrees(tmp_path: Path) -> None:
    path = model(tmp_path, 0.001)
    assert cli.main(["analyze", str(path), "--out", str(tmp_path / "maps"), "--sea-level", "0"]) == 0
    with sqlite3.connect(tmp_path / "maps" / "vectors.gpkg") as data:
        assert {row[0] for row in data.execute("SELECT srs_id FROM gpkg_contents")} == {4326}
    labels = raster(tmp_path / "maps", "watersheds")
    features = read(tmp_path / "maps" / "vectors.gpkg", "watersheds")
    assert sum(area_of(feature["shape"]) for feature in features) / 1e-6 == pytest.approx((labels > 0).sum(), rel=1e-9)
    metres = sum(feature["area_m2"] for feature in features)
    assert metres == pytest.approx((labels > 0).sum() * 77.5 * 111.15, rel=0.03)  # holes have no polygons
    for river in read(tmp_path / "maps" / "vectors.gpkg", "rivers"):
        along = np.hypot(*(np.diff(river["shape"], axis=0) * (77_505.0, 111_151.0)).T).sum()
        assert along == pytest.approx(river["length_m"], rel=0.02)


def test_exports_have_them_too(tmp_path: Path) -> None:
    words = ["--set", "rivers.threshold=20", "--set", "rivers.watershed_size=40", "--size", "48"]
    assert cli.main(["export", "noise", *words, "--out", str(tmp_path / "land.gpkg")]) == 0
    assert cli.main(["export", "noise", *words, "--out", str(tmp_path), "--vectors", "gpkg"]) == 0
    for name in LAYERS:
        one, other = (read(tmp_path / file, name) for file in ("land.gpkg", "vectors.gpkg"))
        assert len(one) == len(other)
        assert len(one) > 0 or name == "falls"  # which its rivers have none of
        for left, right in zip(one, other, strict=True):
            assert {key: left[key] for key in left if key != "shape"} == {
                key: right[key] for key in right if key != "shape"
            }


def test_without_the_package_analyses_go_on_and_exports_say_what_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def missing(path: Path, waters: Any) -> None:
        raise ModuleNotFoundError("No module named 'pyogrio'", name="pyogrio")

    monkeypatch.setattr("app.cli.analyze.write_geopackage", missing)
    np.save(tmp_path / "island.npy", GROUND)
    assert cli.main(["analyze", str(tmp_path / "island.npy"), "--out", str(tmp_path / "maps"), "--cell-size", "5"]) == 0
    assert "pyogrio is not installed" in caplog.text and not (tmp_path / "maps" / "vectors.gpkg").exists()
    monkeypatch.setitem(vectors.VECTOR_FORMATS, "gpkg", vectors.VectorFormat("", "vectors.gpkg", missing, 1.0))
    assert cli.main(["export", "noise", "--size", "32", "--out", str(tmp_path / "a.gpkg")]) != 0
    assert "pip install 'thalweg[export]'" in capsys.readouterr().err


def test_reaches_of_a_fork() -> None:
    directions = np.full((4, 3), 8, np.int8)
    directions[:3] = [[6, 8, 5], [8, 3, 8], [8, 3, 8]]  # two sources meet in the middle and run south
    directions[0] = [7, 3, 6]
    order = np.array([10, 7, 4, 0, 1, 2, 3, 5, 6, 8, 9, 11], np.int32)
    river = np.zeros((4, 3), bool)
    river[[0, 0, 1, 2, 3], [0, 2, 1, 1, 1]] = True
    orders = strahler_orders(directions, order, river)
    reaches = reaches_of(directions, orders)
    assert [reaches.cells[a:b].tolist() for a, b in zip(reaches.begin, reaches.begin[1:], strict=False)] == [
        [0, 4], [2, 4], [4, 7, 10],
    ]  # fmt: skip
    assert reaches.following.tolist() == [2, 2, -1]
    np.testing.assert_allclose(way_lengths(reaches, 3), [np.sqrt(2), np.sqrt(2), 2.0])


def test_a_land_without_rivers_has_empty_layers(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", np.add.outer(np.arange(8.0), np.zeros(8)))
    words = ["--cell-size", "5", "--river", "1000000", "--watershed", "1000000"]
    assert cli.main(["analyze", str(tmp_path / "plain.npy"), "--out", str(tmp_path / "maps"), *words]) == 0
    assert [read(tmp_path / "maps" / "vectors.gpkg", name) for name in LAYERS] == [[], [], [], []]


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    world = World(GROUND, np.zeros_like(GROUND), 10.0, 1)
    (item,) = plan(Landscape(world, Scene()), Wishes(vectors=("gpkg",)))
    keeps_the_old_file_on_a_full_disk(item, tmp_path / item.name)

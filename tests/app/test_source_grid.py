"""Results in the cells of the source model: where its cells are not square, and where it was in degrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray
from rasterio.transform import from_origin

from app.cli import analyze as analysis
from app.cli import main as cli
from app.export.sheet import Sheet
from app.files import checkpoint
from app.model.georeference import Origin, SourceGrid
from app.sources.heightmap import read_heightmap
from app.sources.heightmap.projection import LocalMercator
from tests.kernels.relief import island

pytestmark = pytest.mark.slow  # whole commands are run

ROWS, COLUMNS = 60, 72
HOLE = np.s_[3:9, 4:20]
NOTHING = -32767.0
WEST, NORTH = 7.0, 46.0


def model(folder: Path, degrees: float, ground: NDArray[np.float64] | None = None) -> Path:
    """A model in degrees, with a hole; of cells that are so small that they are only stretched, or so large."""
    heights = (island(ROWS, COLUMNS) + 12.0 if ground is None else ground).astype(np.float32)
    heights[HOLE] = NOTHING
    path = folder / "model.tif"
    with rasterio.open(
        path, "w", driver="GTiff", width=COLUMNS, height=ROWS, count=1, dtype="float32", crs="EPSG:4326",
        nodata=NOTHING, transform=from_origin(WEST, NORTH, degrees, degrees),
    ) as file:  # fmt: skip
        file.write(heights, 1)
    return path


@pytest.fixture(scope="module", params=[0.001, 0.05], ids=["stretched", "projected"])
def analyzed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model, and the folder with its maps."""
    folder = tmp_path_factory.mktemp("source")
    path = model(folder, request.param)
    assert cli.main(["analyze", str(path), "--out", str(folder / "maps"), "--sea-level", "0"]) == 0
    return path, folder / "maps"


def test_maps_lie_over_the_model_cell_by_cell(analyzed: tuple[Path, Path]) -> None:
    path, maps = analyzed
    with rasterio.open(path) as file:
        place, crs, known = file.transform, file.crs, file.read_masks(1) > 0
    projected = place.a > 0.01
    for name in analysis.MAPS:
        with rasterio.open(maps / f"{name}.tif") as file:
            assert (file.shape, file.crs) == ((ROWS, COLUMNS), crs), name
            assert file.transform.almost_equals(place, 1e-12), name
            has_data = file.read_masks(1) > 0
            assert not has_data[HOLE].any(), name
            if projected:  # the map is the largest upright rectangle in the model
                assert has_data.sum() > 0.95 * known.sum() and not (has_data & ~known).any(), name
            else:
                np.testing.assert_array_equal(has_data, known, name)


def test_maps_say_their_units(analyzed: tuple[Path, Path]) -> None:
    _, maps = analyzed
    for name, row in analysis.MAPS.items():
        with rasterio.open(maps / f"{name}.tif") as file:
            assert (file.units[0] or "", file.descriptions[0]) == (row.unit, row.help), name
    with rasterio.open(maps / "discharge.tif") as file:
        assert file.units == ("m³/s",)


def test_heights_are_those_of_the_model_where_nothing_was_filled(analyzed: tuple[Path, Path]) -> None:
    path, maps = analyzed
    with rasterio.open(path) as source, rasterio.open(maps / "filled.tif") as filled:
        heights, found = source.read(1, masked=True), filled.read(1, masked=True)
    with rasterio.open(maps / "lake_depth.tif") as file:
        dry = file.read(1, masked=True).filled(1.0) == 0.0
    away = np.abs(found.filled(0.0) - heights.filled(0.0))[dry & ~np.ma.getmaskarray(heights)]
    assert np.median(away) < 0.02 * np.ptp(heights.compressed())


def test_places_in_the_lists_are_cells_of_the_model(analyzed: tuple[Path, Path]) -> None:
    path, maps = analyzed
    lists = json.loads((maps / "analysis.json").read_text())
    assert (lists["rows"], lists["columns"], lists["brought_back"]) == (ROWS, COLUMNS, True)
    assert (lists["computed_in"]["rows"], lists["computed_in"]["columns"]) != (ROWS, COLUMNS)
    with rasterio.open(path) as source, rasterio.open(maps / "accumulation.tif") as file:
        accumulated, place = file.read(1), source.transform
    assert len(lists["mouths"]) > 5
    area = lists["cell_width"] * lists["cell_height"]
    for mouth in lists["mouths"]:
        row, column = mouth["place"]["row"], mouth["place"]["column"]
        assert (column, row) == tuple(int(part) for part in ~place @ (mouth["place"]["x"], mouth["place"]["y"]))
        if accumulated[row, column] >= 0.0:
            assert accumulated[row, column] * area >= mouth["catchment_m2"] * (1.0 - 1e-9)


def test_labels_are_those_in_the_middle_of_the_models_cells(tmp_path: Path) -> None:
    """Of a model in degrees: against the projection of each cell by itself."""
    degrees = 0.05
    read = read_heightmap(model(tmp_path, degrees))
    assert read.source is not None and read.source.middle is not None and read.georeference is not None
    shape = read.elevation.shape
    sheet = Sheet.of_source(shape, read.cell_size or 0.0, Origin(read.georeference, read.missing, read.source))
    numbers = np.arange(shape[0] * shape[1]).reshape(shape)
    labels = sheet.labels(numbers)
    metres = LocalMercator(*read.source.middle)
    rows, columns = np.mgrid[:ROWS, :COLUMNS] + 0.5
    east, north = metres.to_metres(WEST + degrees * columns, NORTH - degrees * rows)
    (side, _, left), (_, _, top) = read.georeference.to_model.tolist()
    south_cells, east_cells = np.floor((top - north) / side), np.floor((east - left) / side)
    inside = (south_cells >= 0) & (south_cells < shape[0]) & (east_cells >= 0) & (east_cells < shape[1])
    expected = (south_cells * shape[1] + east_cells)[inside]
    assert (labels[inside] == expected).mean() > 0.97  # but for what lies within a fiftieth of a cell of a border
    assert sheet.unmapped is not None
    assert (sheet.unmapped[~inside]).mean() > 0.95 and not sheet.unmapped[30, 36]
    # And there and back again
    back = sheet.places(south_cells + 0.5, east_cells + 0.5, shape)
    assert max(np.abs(back[0] - rows)[inside].max(), np.abs(back[1] - columns)[inside].max()) < 0.76


def test_rivers_stay_whole_and_means_keep_volumes() -> None:
    sheet = Sheet.of_source((90, 72), 10.0, Origin(None, None, SourceGrid(60, 72, None)))
    assert (sheet.rows, sheet.columns, sheet.height, sheet.width) == (60, 72, 15.0, 10.0)
    world = np.zeros((90, 72), np.uint8)
    world[1::3] = 3  # rivers that the middles of the 60 rows never meet
    assert not sheet.labels(world).any()
    assert (sheet.largest(world) == 3).mean() == 0.5
    ground = island(90, 72)
    assert sheet.numbers(ground).mean() == pytest.approx(ground.mean(), rel=1e-12)


@pytest.mark.parametrize("degrees", [0.001, 0.05])
def test_exports_have_the_cells_of_the_model_also_of_a_saved_world(degrees: float, tmp_path: Path) -> None:
    path = model(tmp_path, degrees)
    saved = tmp_path / "saved.npz"
    assert cli.main(["simulate", str(path), "--cycles", "0", "--out", str(saved)]) == 0
    world, _ = checkpoint.load(saved)
    assert world.shape != (ROWS, COLUMNS) and world.origin and world.origin.source
    assert world.origin.source.unmapped is not None and world.origin.source.unmapped[HOLE].all()
    for file in (path, saved):
        out = tmp_path / file.stem
        assert cli.main(["export", str(file), "--out", str(out), "--heights", "tif", "--maps", "slope,lakes"]) == 0
        with rasterio.open(path) as source:
            for name in ("ground", "slope", "lakes"):
                with rasterio.open(out / f"{name}.tif") as made:
                    assert made.shape == (ROWS, COLUMNS)
                    assert made.transform.almost_equals(source.transform, 1e-12)
                    assert not made.read_masks(1)[HOLE].any()
    out = tmp_path / "square.tif"
    assert cli.main(["export", str(saved), "--out", str(out), "--side", "world"]) == 0
    with rasterio.open(out) as made:
        assert made.shape == world.shape


def test_a_world_of_other_cells_than_the_model_has_those_that_were_asked_for(tmp_path: Path) -> None:
    path = model(tmp_path, 0.001)
    out = tmp_path / "made.tif"
    assert cli.main(["export", str(path), "--size", "40", "--out", str(out)]) == 0
    with rasterio.open(out) as made:
        assert max(made.shape) <= 60 and made.shape != (ROWS, COLUMNS)


def test_a_saved_world_whose_source_is_damaged_ends_as_one_line(tmp_path: Path, capsys: Any) -> None:
    path, saved = model(tmp_path, 0.05), tmp_path / "saved.npz"
    assert cli.main(["simulate", str(path), "--cycles", "0", "--out", str(saved)]) == 0
    with np.load(saved, allow_pickle=False) as file:
        arrays = dict(file)
    for name, change in (
        ("source_unmapped", {"source_unmapped": np.zeros((3, 3), bool)}),
        ("source", {"meta": np.array(str(arrays["meta"]).replace('"georeference":{', '"other":{'))}),
        ("source", {"meta": np.array(str(arrays["meta"]).replace('"source":{"rows":60', '"source":{"rows":-1'))}),
    ):
        np.savez(saved, **(arrays | change))
        capsys.readouterr()
        assert cli.main(["export", str(saved), "--out", str(tmp_path / "a.tif")]) != 0
        error = capsys.readouterr().err.strip().splitlines()[-1]
        assert name in error and "saved.npz" in error

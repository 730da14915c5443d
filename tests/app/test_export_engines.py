"""Heights for engines: cells stay square by more land or less, and tiles have the names that importers know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray

from app.cli import main as cli
from app.export.landscape import Landscape
from app.export.sheet import Sheet, Window
from app.model.world import World
from app.scene.scene import Scene
from app.sources.heightmap import read_heightmap
from tests.app.test_export import numbers_of, read_back, write
from tests.kernels.relief import hills

pytestmark = pytest.mark.slow  # files are written

ROWS, COLUMNS, SIDE = 32, 40, 8.0
GROUND = hills(ROWS, COLUMNS, 200.0, 3)


@pytest.fixture(scope="module")
def land() -> Landscape:
    return Landscape(World(GROUND, np.zeros_like(GROUND), SIDE, 1), Scene())


@pytest.mark.parametrize("side", ["unity", "unreal", "90x30", "30x90", "17"])
@pytest.mark.parametrize("fit", ["add", "cut"])
def test_cells_stay_square(side: str, fit: str, land: Landscape, tmp_path: Path) -> None:
    (path,) = write(land, tmp_path, heights=("tif",), side=side, fit=fit)
    with rasterio.open(path) as file:
        place, known, values = file.transform, file.read_masks(1) > 0, file.read(1)
    assert place.a == pytest.approx(-place.e, rel=0.04)
    if side in ("unity", "unreal"):
        assert place.a == -place.e
    # The land lies where it lay, and what was added is NODATA
    rows, columns = np.mgrid[: values.shape[0], : values.shape[1]] + 0.5
    east, north = place.c + columns * place.a, place.f + rows * place.e
    inside = (east > 0.0) & (east < COLUMNS * SIDE) & (north > 0.0) & (north < ROWS * SIDE)
    away = (np.abs(east - COLUMNS * SIDE / 2) < COLUMNS * SIDE / 2 - place.a) & (
        np.abs(north - ROWS * SIDE / 2) < ROWS * SIDE / 2 + place.e
    )
    assert known[away].all() and not known[~inside & (np.abs(north - ROWS * SIDE / 2) > ROWS * SIDE / 2 + SIDE)].any()
    if fit == "cut":
        assert known.all() and inside.all()
    nearest = GROUND[
        ((ROWS * SIDE - north[away]) // SIDE).astype(int), (east[away] // SIDE).astype(int)
    ]  # within the relief of a few cells
    assert np.corrcoef(nearest, values[away])[0, 1] > 0.97


def test_what_was_added_or_cut_is_told(land: Landscape, tmp_path: Path) -> None:
    write(land, tmp_path, heights=("r16",), side="unreal")
    text = (tmp_path / "ground.r16.txt").read_text()
    assert "of 40 × 32 cells of the world 8 rows added, as high as the edge: 4 in the north, 4 in the south" in text
    x, y, _, _ = numbers_of(text, "Unreal")
    assert x == y == pytest.approx(100.0 * SIDE * 40 / 127)
    write(land, tmp_path, heights=("r16",), side="unreal", fit="cut")
    assert "8 columns cut: 4 in the west, 4 in the east" in (tmp_path / "ground.r16.txt").read_text()


def test_a_window_goes_on_as_the_edge_is() -> None:
    values = np.arange(12.0).reshape(3, 4)
    added = Window.of((3, 4), (4, 4), "add")
    assert (added.rows, added.columns, added.left) == (4, 4, 0)
    framed = added.framed(values)
    assert framed.shape == (4, 4)
    assert (framed[0] == values[0]).all() and (framed[-1] == values[-1]).all()
    cut = Window.of((3, 4), (3, 3), "cut")
    assert cut.framed(values).shape == (3, 3)
    assert Window.of((3, 4), (6, 8), "add").is_whole
    sheet = Sheet.of_world((30, 30), 2.0, None)
    assert sheet.resized(60, 60).unmapped is None


def shades(path: Path) -> NDArray[Any]:
    return np.fromfile(path, "<u2").reshape(round(np.sqrt(path.stat().st_size / 2)), -1)


@pytest.mark.parametrize(
    ("side", "names", "cells"),
    [
        ("unreal", ["ground_x0_y0.r16", "ground_x1_y0.r16", "ground_x0_y1.r16", "ground_x1_y1.r16"], 127),
        ("unity", ["ground_0_1.r16", "ground_1_1.r16", "ground_0_0.r16", "ground_1_0.r16"], 33),
        ("24x24", ["ground_0_0.r16", "ground_0_1.r16", "ground_1_0.r16", "ground_1_1.r16"], 24),
    ],
)
def test_tiles_have_the_names_of_importers_and_share_their_borders(
    side: str, names: list[str], cells: int, land: Landscape, tmp_path: Path
) -> None:
    paths = write(land, tmp_path, heights=("r16",), side=side, height_tiles=2)
    assert [path.name for path in paths] == names
    north_west, north_east, south_west, south_east = map(shades, paths)
    assert all(tile.shape == (cells, cells) for tile in (north_west, north_east, south_west, south_east))
    np.testing.assert_array_equal(north_west[:, -1], north_east[:, 0])
    np.testing.assert_array_equal(north_west[-1], south_west[0])
    np.testing.assert_array_equal(south_west[:, -1], south_east[:, 0])
    together = np.block([[north_west[:-1, :-1], north_east[:-1]], [south_west[:, :-1], south_east]])
    (whole,) = write(land, tmp_path, heights=("r16",), side=f"{2 * cells - 1}x{2 * cells - 1}")
    np.testing.assert_array_equal(together, shades(whole))  # in one scale
    texts = {path.with_name(f"{path.name}.txt").read_text() for path in paths}
    assert len(texts) == 1


def test_tiles_of_a_geotiff_lie_side_by_side(land: Landscape, tmp_path: Path) -> None:
    write(land, tmp_path, heights=("tif",), side="21x17", height_tiles=2)
    whole = read_heightmap(tmp_path / "ground_0_0.tif")
    assert whole.elevation.shape == (17, 21)
    with rasterio.open(tmp_path / "ground_0_0.tif") as first, rasterio.open(tmp_path / "ground_0_1.tif") as second:
        assert second.transform.c == pytest.approx(first.transform.c + 20 * first.transform.a)
        assert second.transform.f == first.transform.f


def test_tiles_that_cannot_be_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "noise", "--size", "40", "--heights", "r16", "--height-tiles", "2"]
    assert cli.main([*words, "--out", str(tmp_path / "made")]) != 0
    assert "cannot be cut into so many" in capsys.readouterr().err
    assert cli.main([*words, "--side", "unreal", "--out", str(tmp_path / "land.r16")]) != 0
    assert "need a folder" in capsys.readouterr().err


def test_the_command_prints_what_was_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "noise", "--size", "40x32", "--side", "unity", "--out", str(tmp_path / "land.tif")]
    assert cli.main(words) == 0
    said = capsys.readouterr()
    assert "8 rows added" in said.err + said.out
    assert read_back(tmp_path / "land.tif").shape == (33, 33)

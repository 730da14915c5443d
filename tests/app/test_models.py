"""Models larger than a map: parts of them, tiles that are joined, degrees as metres."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
import rasterio.warp
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rasterio.transform import from_origin

from app.cli import main as cli
from app.engine.creation import create_world, size_in_cells
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.georeference import is_turned
from app.scene.scene import Scene
from app.sources.heightmap import read_heightmap
from app.sources.heightmap.models import Model, tiles_in
from app.sources.heightmap.projection import Degrees, LocalMercator
from app.sources.heightmap.reading import open_model
from app.sources.parameters import WorldParameters
from app.sources.part import Part, read_part
from tests.app.test_heightmap import GEOGRAPHIC, PROJECTED, write_tiff
from tests.nets.cases import tried

Numbers = NDArray[Any]
ROWS, COLUMNS = 90, 130
LAND = np.random.default_rng(5).integers(-300, 4000, (ROWS, COLUMNS)).astype("i2")
LARGE = 15_000

parts = st.builds(Part, st.integers(0, 60), st.integers(0, 100), st.integers(8, 60), st.integers(8, 60))


def hills(rows: int, columns: int, south: float, west: float) -> Numbers:
    """Smooth land over a degree or so: heights of places, whatever the cells are."""
    latitude, longitude = np.meshgrid(
        south + np.linspace(1.0, 0.0, rows), west + np.linspace(0.0, 1.0, columns), indexing="ij"
    )
    return np.rint(900.0 + 500.0 * np.sin(9.0 * longitude) * np.cos(11.0 * latitude)).astype(">i2")


def write_hgt(folder: Path, south: int, west: int, side: int = 1201) -> Numbers:
    heights = hills(side, side, south, west)
    (folder / f"N{south:02d}E{west:03d}.hgt").write_bytes(heights.tobytes())
    return heights


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """15 000² cells of 10 m in UTM, of which only one corner of 1500² is stored, and holds other than NODATA."""
    path = tmp_path_factory.mktemp("large") / "large.tif"
    profile = {"driver": "GTiff", "width": LARGE, "height": LARGE, "count": 1, "dtype": "int16", "nodata": -9999}
    tiles = {"tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "deflate", "SPARSE_OK": True}
    place = {"crs": "EPSG:32632", "transform": from_origin(400_000.0, 5_300_000.0, 10.0, 10.0)}
    with rasterio.open(path, "w", **profile, **tiles, **place) as file:
        rows, columns = np.mgrid[:1500, :1500]
        window = rasterio.windows.Window(5000, 10_000, 1500, 1500)
        file.write((rows + columns // 10).astype("int16"), 1, window=window)
    return path


# Parts.


@pytest.mark.parametrize("kind", ["tiles", "strips", "plain", "south first", "east first"])
@settings(tried(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=parts)
def test_a_part_is_that_of_the_whole(kind: str, part: Part, tmp_path: Path) -> None:
    path, turned = tmp_path / f"{kind}.tif", LAND
    how: dict[str, Any] = {
        "tiles": {"tile": (16, 32), "compression": "zlib", "predictor": True, "byteorder": ">"},
        "strips": {"rowsperstrip": 7, "compression": "lzw"},
    }.get(kind, {})
    to_model = [2.0, 0, 0, 50.0, 0, -2.0, 0, 900.0, 0, 0, 0, 0, 0, 0, 0, 1]
    if kind == "south first":
        turned, to_model[5], to_model[7] = LAND[::-1], 2.0, 900.0 - 2.0 * ROWS
    if kind == "east first":
        turned, to_model[0], to_model[3] = LAND[:, ::-1], -2.0, 50.0 + 2.0 * COLUMNS
    if not path.exists():
        write_tiff(path, turned.copy(), geo_keys=PROJECTED, transformation=to_model, **how)
    model = open_model(path)
    assert model is not None and (model.rows, model.columns) == (ROWS, COLUMNS)
    part = part.within(ROWS, COLUMNS)
    expected = LAND[part.row : part.row + part.rows, part.column : part.column + part.columns]
    heights, missing = model.part(part)
    np.testing.assert_array_equal(heights, expected)
    assert not missing.any()
    read = read_heightmap(path, part=str(part))
    np.testing.assert_array_equal(read.elevation, expected)
    assert read.cell_size == 2.0 and read.georeference is not None
    assert read.georeference.position(0, 0) == (51.0 + 2.0 * part.column, 899.0 - 2.0 * part.row)


def test_a_part_of_any_other_format(tmp_path: Path) -> None:
    np.save(tmp_path / "map.npy", LAND)
    read = read_heightmap(tmp_path / "map.npy", part="20x30+7+11")
    np.testing.assert_array_equal(read.elevation, LAND[11:41, 7:27])


def test_larger_cells_are_means_of_what_is_known(tmp_path: Path) -> None:
    values = LAND.astype("f8")
    values[20:27, 30:50] = np.nan
    write_tiff(tmp_path / "map.tif", values, tile=(16, 16))
    model = open_model(tmp_path / "map.tif")
    assert model is not None
    heights, missing = model.part(Part(3, 5, 80, 100), 4)
    blocks = values[3:83, 5:105].reshape(20, 4, 25, 4)
    known = ~np.isnan(blocks).all(axis=(1, 3))
    np.testing.assert_array_equal(missing, ~known)
    assert missing.any()
    np.testing.assert_allclose(heights[known], np.nanmean(blocks, axis=(1, 3))[known])


@pytest.mark.parametrize("band", [1, 7, 16, 90])
@pytest.mark.parametrize("step", [1, 4, 25, 60])
def test_no_more_is_read_at_once_than_a_band(step: int, band: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where one row of larger cells has more; and the means are the same."""
    asked: list[int] = []

    def read(rows: slice, columns: slice) -> tuple[Numbers, None]:
        asked.append((rows.stop - rows.start) * (columns.stop - columns.start))
        return LAND[rows, columns], None

    model = Model(ROWS, COLUMNS, read, band=band)
    part = Part(5, 3, ROWS - 5, COLUMNS - 3)
    expected, _ = model.part(part, step)
    asked.clear()
    monkeypatch.setattr("app.sources.heightmap.models.BAND", 1000)
    heard: list[float] = []
    heights, missing = model.part(part, step, heard.append)
    np.testing.assert_array_equal(heights, expected)
    assert not missing.any()
    assert max(asked) <= max(1000, band * step)
    rows, columns = (ROWS - 5) // step * step, (COLUMNS - 3) // step * step
    assert sum(asked) == rows * columns
    assert heard == sorted(heard) and heard[-1] == 1.0


def test_a_long_strip_is_seen_small() -> None:
    land = np.arange(100.0)[:, None]
    model = Model(100, 100_000, lambda rows, columns: (np.ones((100_000,))[columns] + land[rows], None))
    heights, missing = model.overview(512)
    assert heights.shape == (1, 510) and not missing.any()
    np.testing.assert_allclose(heights, 50.5)


@pytest.mark.parametrize("marker", [-9999, -32768])
def test_larger_cells_have_no_part_in_markers_of_nodata(marker: int, tmp_path: Path) -> None:
    """Also where the file does not declare them."""
    values = np.full((64, 64), 500, "i2")
    values[:33] = marker
    write_tiff(tmp_path / "map.tif", values, tile=(16, 16))
    model = open_model(tmp_path / "map.tif")
    assert model is not None
    heights, missing = model.part(model.whole, 4)
    assert missing[:8].all() and not missing[8:].any()
    assert (heights[8:] == 500.0).all()


def test_bounds_are_those_of_the_coordinates() -> None:
    to_model = np.array([[0.5, 0.0, 10.0], [0.0, -0.25, 50.0]])
    assert read_part("12,45,20,48", to_model) == Part(8, 4, 12, 16)
    assert read_part(" 16x12+4+8 ", to_model) == Part(8, 4, 12, 16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("all of it", "part all of it: must be like 2048x2048"),
        ("9,45,8,46", "west must lie before east"),
        ("nan,45,8,46", "west must lie before east"),
        ("64x64+1000000+0", "has too little of the model's 130×90 cells"),
        ("7x64+0+0", "has too little of the model's"),
        ("1,2,3,4", "the model says no coordinates"),
    ],
)
def test_parts_that_are_none(text: str, message: str, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "map.tif", LAND)
    with pytest.raises(UserError, match=message) as caught:
        read_heightmap(tmp_path / "map.tif", part=text)
    assert str(tmp_path / "map.tif") in str(caught.value)


@pytest.mark.parametrize("angle", [10.0, 90.0])
@pytest.mark.parametrize("keys", [PROJECTED, GEOGRAPHIC])
def test_a_model_that_is_turned(
    angle: float, keys: dict[int, int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its cells are read as they are, and that is said; bounds of coordinates are none of its rows and columns."""
    sine, cosine = 0.01 * np.sin(np.radians(angle)), 0.01 * np.cos(np.radians(angle))
    if angle == 90.0:
        cosine = 0.0
    to_model = [cosine, sine, 0, 7.0, sine, -cosine, 0, 60.0, 0, 0, 0, 0, 0, 0, 0, 1]
    path = tmp_path / "map.tif"
    write_tiff(path, LAND, geo_keys=keys, transformation=to_model)
    for part in ("", "40x30+10+20"):
        caplog.clear()
        read = read_heightmap(path, part=part)
        expected = LAND[20:50, 10:50] if part else LAND
        np.testing.assert_array_equal(read.elevation[0], expected[0])
        if keys is PROJECTED:  # whose cells are square
            np.testing.assert_array_equal(read.elevation, expected)
        assert read.georeference is not None and is_turned(read.georeference.to_model)
        assert caplog.text.count("the map is turned; its first row is taken for the north") == 1
    with pytest.raises(UserError, match=r"part 7,59,8,60: the model is turned .*; name cells"):
        read_heightmap(path, part="7,59,8,60")
    write_tiff(tmp_path / "other.tif", LAND, geo_keys=keys, transformation=to_model)
    with pytest.raises(UserError, match=r"map\.tif is turned in its coordinates"):
        read_heightmap(tmp_path)


# Large models.


def test_a_large_model_needs_a_part_or_a_size(large: Path) -> None:
    with pytest.raises(UserError, match=r"15000 rows and 15000 columns; .*--part .* takes some of it, --size"):
        read_heightmap(large)


def test_a_part_of_a_large_model_takes_no_more_memory_than_itself(large: Path) -> None:
    """In a process of its own, whose peak is measured: the whole would be 450 MB as it is stored, 1.8 GB as metres."""
    code = f"""
import resource, sys
from pathlib import Path
from app.sources.heightmap import read_heightmap
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
read = read_heightmap(Path({str(large)!r}), part="1000x1000+5500+10500")
assert read.elevation.shape == (1000, 1000) and read.elevation[3, 40] == 503 + 54, read.elevation[3, 40]
assert read.georeference.position(0, 0) == (455_005.0, 5_194_995.0)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 200.0


@pytest.mark.slow
def test_all_of_a_large_model_in_larger_cells(large: Path) -> None:
    values = size_in_cells(Scene(world=WorldParameters(source=str(large))), 64, 0)
    scene = Scene(world=WorldParameters(source=str(large))).with_values(values)
    world, _ = create_world(scene)
    assert world.shape == (64, 64)
    assert world.cell_size == pytest.approx(LARGE * 10.0 / 64, rel=0.01)
    assert world.origin is not None and world.origin.unmapped is not None
    assert not world.origin.unmapped[44, 22] and world.origin.unmapped.mean() > 0.98


def test_blocks_that_are_too_large_are_told(tmp_path: Path) -> None:
    path = tmp_path / "map.tif"
    tifffile.imwrite(path, np.zeros((64, 64), "f4"), compression="zlib")
    with tifffile.TiffFile(path, mode="r+") as file:
        for name in ("ImageWidth", "ImageLength", "RowsPerStrip"):
            file.pages.first.tags[name].overwrite(40_000)
    with pytest.raises(UserError, match=r"blocks of 40000×40000 cells, .*TILED=YES"):
        read_heightmap(path, part="64x64+0+0")


def test_the_option_of_the_command_line(large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "part.npy"
    assert cli.main(["export", str(large), "--part", "64x48+5100+10100", "--out", str(out)]) == 0
    assert np.load(out).shape == (48, 64)
    assert cli.main(["export", "noise", "--part", "64x48+0+0", "--out", str(out)]) != 0
    assert "--part 64x48+0+0: only a heightmap or a folder of tiles has parts" in capsys.readouterr().err


def test_a_part_is_analysed(large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--part", "64x48+5100+10100", "--out", str(tmp_path / "maps")]
    assert cli.main(["analyze", str(large), *where]) == 0
    with rasterio.open(tmp_path / "maps" / "discharge.tif") as file:
        assert file.shape == (48, 64) and file.bounds.left == 400_000.0 + 10 * 5100
    assert cli.main(["analyze", "noise", *where]) != 0
    assert "only a heightmap or a folder of tiles has parts" in capsys.readouterr().err


# Tiles.


def test_tiles_of_srtm_are_joined(tmp_path: Path) -> None:
    """Two degrees beside each other share a column; a void in the one is known to the other."""
    west = write_hgt(tmp_path, 0, 9)
    east = write_hgt(tmp_path, 0, 10)
    assert (west[:, -1] == east[:, 0]).all()
    holed = west.copy()
    holed[100:200, -1] = -32768
    (tmp_path / "N00E009.hgt").write_bytes(holed.tobytes())
    model = open_model(tmp_path)
    assert model is not None and (model.rows, model.columns) == (1201, 2401)
    heights, missing = model.part(Part(0, 0, 1201, 2401))
    assert not missing.any()
    np.testing.assert_array_equal(heights, np.concatenate([west, east[:, 1:]], axis=1))
    assert model.place is not None
    assert model.place.position(0, 0) == pytest.approx((9.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tiles", "west"),
    [
        ((("E179", 9), ("W180", 10)), 179.0),
        ((("W179", 11), ("E179", 9), ("W180", 10)), -181.0),
        ((("W180", 9), ("W179", 10)), -180.0),
        ((("E010", 10), ("E009", 9)), 9.0),
    ],
)
def test_tiles_on_both_sides_of_the_date_line_are_joined(
    tiles: tuple[tuple[str, int], ...], west: float, tmp_path: Path
) -> None:
    """As those are that lie as close elsewhere, in a map and in parts of it, wherever their longitudes begin."""
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    for folder in (there, elsewhere):
        folder.mkdir()
    for name, longitude in tiles:
        write_hgt(elsewhere, 0, longitude)
        (there / f"N00{name}.hgt").write_bytes((elsewhere / f"N00E{longitude:03d}.hgt").read_bytes())
    model = open_model(there)
    assert model is not None and model.place is not None
    assert (model.rows, model.columns) == (1201, 1 + 1200 * len(tiles))
    assert model.place.position(0, 0) == pytest.approx((west, 1.0))
    np.testing.assert_array_equal(read_heightmap(there).elevation, read_heightmap(elsewhere).elevation)
    expected = read_heightmap(elsewhere, part="9.9001,0.2001,10.1001,0.5001")
    for turn in (-360.0, 0.0, 360.0):
        begin = west + 0.9001 + turn
        found = read_heightmap(there, part=f"{begin!r},0.2001,{begin + 0.2!r},0.5001")
        np.testing.assert_array_equal(found.elevation, expected.elevation)


def test_a_part_across_the_date_line_is_named_as_others_name_it(tmp_path: Path) -> None:
    """From an eastern longitude to a western one, or in western ones, which the command line takes for no options."""
    for name, longitude in (("E179", 9), ("W180", 10)):
        write_hgt(tmp_path, 0, longitude)
        (tmp_path / f"N00E{longitude:03d}.hgt").rename(tmp_path / f"N00{name}.hgt")
    expected = read_heightmap(tmp_path, part="179.9001,0.2001,180.1001,0.5001")
    found = read_heightmap(tmp_path, part="179.9001,0.2001,-179.8999,0.5001")
    np.testing.assert_array_equal(found.elevation, expected.elevation)
    words = ["export", str(tmp_path), "--out", str(tmp_path / "out.npy"), "--side", "world"]
    assert cli.main([*words, "--part", "-180.0999,0.2001,-179.8999,0.5001"]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected.elevation)


def test_a_folder_of_copernicus_has_masks_beside_its_heights(tmp_path: Path) -> None:
    profile = {"driver": "GTiff", "width": 60, "height": 60, "count": 1, "dtype": "float32", "crs": "EPSG:4326"}
    for west in (7, 8):
        folder = tmp_path / f"Copernicus_DSM_COG_10_N46_00_E00{west}_00_DEM"
        (folder / "AUX").mkdir(parents=True)
        place = from_origin(west, 47.0, 1 / 60, 1 / 60)
        for name, value in (("DEM", 100.0 * west), ("WBM", 1.0)):
            target = folder / ("" if name == "DEM" else "AUX") / f"Copernicus_N46_E00{west}_{name}.tif"
            with rasterio.open(target, "w", transform=place, **profile) as file:
                file.write(np.full((60, 60), value, "f4"), 1)
    model = open_model(tmp_path)
    assert model is not None and (model.rows, model.columns) == (60, 120)
    heights, _ = model.part(Part(0, 0, 60, 120))
    assert (heights[:, :60] == 700.0).all() and (heights[:, 60:] == 800.0).all()


def write_copernicus(folder: Path, south: int, west: int, columns: int, *, hole: slice | None = None) -> Numbers:
    """A tile whose cells have their middles on the lines of its north and west, 60 from north to south."""
    down, across = 1.0 / 60, 1.0 / columns
    latitude, longitude = np.meshgrid(
        south + 1.0 - down * np.arange(60), west + across * np.arange(columns), indexing="ij"
    )
    heights = smooth(latitude, longitude).astype("f4")
    if hole is not None:
        heights[:, hole] = -9999.0
    profile = {"driver": "GTiff", "count": 1, "dtype": "float32", "crs": "EPSG:4326", "nodata": -9999.0}
    place = from_origin(west - across / 2, south + 1 + down / 2, across, down)
    path = folder / f"Copernicus_DSM_COG_N{south}_00_E{west:03d}_00_DEM.tif"
    with rasterio.open(path, "w", transform=place, width=columns, height=60, **profile) as file:
        file.write(heights, 1)
    return heights


def smooth(latitude: Numbers, longitude: Numbers) -> Numbers:
    return 900.0 + 500.0 * np.sin(9.0 * longitude) * np.cos(11.0 * latitude)


def test_many_small_tiles_tell_their_progress(tmp_path: Path) -> None:
    """A band of a usual model would hold all of them, and could not be ended in between."""
    for number in range(300):
        row, column = divmod(number, 30)
        where = {"scale": [2.0, 2.0, 0.0], "tiepoint": [0.0, 0.0, 0.0, 32.0 * column, -32.0 * row, 0.0]}
        write_tiff(tmp_path / f"{number:03d}.tif", np.full((16, 16), number, "f4"), geo_keys=PROJECTED, **where)
    model = open_model(tmp_path)
    assert model is not None
    told: list[float] = []
    heights, missing = model.part(model.whole, progress=told.append)
    assert len(told) == 5 and told == sorted(told) and told[-1] == 1.0
    assert not missing.any()
    np.testing.assert_array_equal(heights[::16, ::16].ravel(), np.arange(300))


def test_small_tiles_of_several_bands_of_latitude_tell_their_progress(tmp_path: Path) -> None:
    for number in range(150):
        write_small_degrees(tmp_path / f"south{number:03d}.tif", 7.0 + 0.01 * number, 50.0, 16)
        write_small_degrees(tmp_path / f"north{number:03d}.tif", 7.0 + 0.01 * number, 50.01, 8)
    model = open_model(tmp_path)
    assert model is not None and (model.rows, model.columns) == (32, 2400)
    told: list[float] = []
    _, missing = model.part(model.whole, progress=told.append)
    assert len(told) > 3 and told == sorted(told) and told[-1] == 1.0
    assert not missing.any()


def write_small_degrees(path: Path, west: float, north: float, columns: int) -> None:
    """A tile of 16 rows over a hundredth of a degree."""
    place = {"scale": [0.01 / columns, 0.01 / 16, 0.0], "tiepoint": [0.0, 0.0, 0.0, west, north, 0.0]}
    write_tiff(path, np.ones((16, columns), "f4"), geo_keys=GEOGRAPHIC, **place)


def test_tiles_of_several_bands_of_latitude_are_joined(tmp_path: Path) -> None:
    """Their cells are 1.5 times as wide north of 50°, and 2 times north of 60° (here already of 51°)."""
    for west in (7, 8):
        write_copernicus(tmp_path, 51, west, 30)
        write_copernicus(tmp_path, 50, west, 40)
        write_copernicus(tmp_path, 49, west, 60)
    model = open_model(tmp_path)
    assert model is not None and (model.rows, model.columns) == (180, 120)
    heights, missing = model.part(model.whole)
    assert not missing.any() and model.place is not None
    middles = np.arange(120) + 0.5, np.arange(180) + 0.5
    longitude = model.place.to_model[0, 2] + middles[0] * model.place.to_model[0, 0]
    latitude = model.place.to_model[1, 2] + middles[1] * model.place.to_model[1, 1]
    assert longitude[0] == pytest.approx(7.0) and latitude[0] == pytest.approx(52.0)
    off = np.abs(heights - smooth(latitude[:, None], longitude))
    float32 = 1e-4
    steepest = 500.0 * 9.0**2  # of the second derivative along a row
    # Where nothing lies to the east of the last cell, its height counts on
    for rows, minutes, end in ((slice(0, 60), 2.0, 118), (slice(60, 120), 1.5, 118), (slice(120, 180), 1.0, 120)):
        bound = 0.0 if minutes == 1.0 else (minutes / 60.0) ** 2 / 8.0 * steepest
        assert off[rows, :end].max() <= bound + float32, minutes
        assert off[rows, :: {2.0: 2, 1.5: 3, 1.0: 1}[minutes]].max() <= float32, "where the grids agree"
    # No seam: from row to row across 50° and 51° as far as the land itself goes
    step = np.abs(np.diff(heights, axis=0))[:, :118]
    along = np.abs(np.diff(smooth(latitude[:, None], longitude), axis=0))[:, :118]
    for border in (59, 119):
        assert np.abs(step - along)[border].max() <= 2.0 * (2.0 / 60.0) ** 2 / 8.0 * steepest
    # In windows as all at once
    window, _ = model.part(Part(50, 31, 30, 47))
    np.testing.assert_array_equal(window, heights[50:80, 31:78])
    read = read_heightmap(tmp_path)
    assert read.missing is None and read.georeference is not None and read.elevation.shape[0] > 150


def test_nodata_of_wider_cells_stays_nodata(tmp_path: Path) -> None:
    write_copernicus(tmp_path, 49, 7, 60)
    write_copernicus(tmp_path, 50, 7, 40, hole=slice(10, 20))
    model = open_model(tmp_path)
    assert model is not None
    heights, missing = model.part(Part(0, 0, 60, 60))
    middles = np.arange(60) / 60 * 40  # in cells of the northern tile
    expected = (np.rint(middles - 1e-9) >= 10) & (np.rint(middles - 1e-9) < 20)
    np.testing.assert_array_equal(missing, expected + np.zeros((60, 1), bool))
    assert heights[~missing].min() > 300.0, "nothing of what is unknown"


def test_tiles_of_srtm_with_half_the_columns_are_joined(tmp_path: Path) -> None:
    south = write_hgt(tmp_path, 49, 7, 1201)
    latitude = hills(1201, 601, 50, 7)
    (tmp_path / "N50E007.hgt").write_bytes(latitude.tobytes())
    model = open_model(tmp_path)
    assert model is not None and (model.rows, model.columns) == (2401, 1201)
    heights, missing = model.part(model.whole)
    assert not missing.any()
    np.testing.assert_array_equal(heights[1200:], south)
    np.testing.assert_array_equal(heights[:1200, ::2], latitude[:1200])
    np.testing.assert_allclose(heights[:1200, 1::2], (latitude[:1200, 1:] + latitude[:1200, :-1]) / 2.0)


@pytest.mark.parametrize(
    ("keys", "scale", "corner", "message"),
    [
        (PROJECTED, 3.0, 180.0, "b.tif has other cells, or other coordinates, than a.tif"),
        (GEOGRAPHIC, 2.0, 180.0, "b.tif has other cells, or other coordinates, than a.tif"),
        (PROJECTED, 2.0, 181.0, "b.tif does not lie in the grid of a.tif"),
        (PROJECTED, 2.0, 2e9, "its tiles lie too far apart"),
        (None, 0.0, 0.0, "b.tif does not say where it lies"),
    ],
)
def test_tiles_that_cannot_be_joined(
    keys: dict[int, int] | None, scale: float, corner: float, message: str, tmp_path: Path
) -> None:
    write_tiff(tmp_path / "a.tif", LAND, geo_keys=PROJECTED, scale=[2.0, 2.0, 0.0], tiepoint=[0.0] * 6)
    where = {"scale": [scale, scale, 0.0], "tiepoint": [0.0, 0.0, 0.0, corner, 0.0, 0.0]} if keys else {}
    write_tiff(tmp_path / "b.tif", LAND, geo_keys=keys, **where)
    with pytest.raises(UserError, match=message) as caught:
        read_heightmap(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_with_a_broken_tile(tmp_path: Path) -> None:
    write_hgt(tmp_path, 46, 7)
    (tmp_path / "N46E008.hgt").write_bytes(b"short")
    with pytest.raises(UserError, match=r"N46E008\.hgt as an elevation model: it has 5 bytes"):
        read_heightmap(tmp_path)


@pytest.mark.parametrize("others", [0, 2])
def test_a_tile_that_ends_too_early_is_named(others: int, tmp_path: Path) -> None:
    """It can be opened, and only reading it fails."""
    for number in range(others + 1):
        where = {"scale": [2.0, 2.0, 0.0], "tiepoint": [0.0, 0.0, 0.0, 200.0 * number, 0.0, 0.0]}
        write_tiff(tmp_path / f"{number}.tif", LAND, geo_keys=PROJECTED, **where)
    whole = (tmp_path / "0.tif").read_bytes()
    (tmp_path / "0.tif").write_bytes(whole[: -LAND.nbytes // 2])
    with pytest.raises(UserError, match=f"^{tmp_path}: 0.tif: .*; it must be complete$"):
        read_heightmap(tmp_path)


def test_folders_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One beside the tiles is left out; the one that is named is told."""
    write_hgt(tmp_path, 46, 7)
    closed = [tmp_path / "closed"]
    closed[0].mkdir()
    listed = Path.iterdir

    def iterdir(folder: Path) -> Iterator[Path]:
        if folder in closed:
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    assert tiles_in(tmp_path) == [tmp_path / "N46E007.hgt"]
    closed.append(tmp_path)
    with pytest.raises(UserError, match=f"^{tmp_path} cannot be read: Permission denied$"):
        read_heightmap(tmp_path)


# Degrees.


@given(st.floats(-179.0, 179.0), st.floats(-80.0, 80.0), st.floats(-8.0, 8.0), st.floats(-3.0, 3.0))
@tried(60)
def test_the_projection_is_that_of_others(longitude: float, latitude: float, east: float, north: float) -> None:
    metres = LocalMercator(longitude, latitude)
    crs = f"+proj=tmerc +lat_0={latitude!r} +lon_0={longitude!r} +k=1 +ellps=WGS84 +units=m"
    place = np.array([longitude + east]), np.array([latitude + north])
    found = metres.to_metres(*place)
    expected = rasterio.warp.transform("+proj=longlat +ellps=WGS84", crs, *place)
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=0.0, atol=1e-3)
    back = metres.to_degrees(*found)
    np.testing.assert_allclose(np.ravel(back), np.ravel(place), rtol=0.0, atol=1e-9)


def test_a_tile_in_degrees_becomes_metres(tmp_path: Path) -> None:
    """As GDAL makes of it in the same coordinates, to a part of a metre: the heights are whole ones."""
    heights = write_hgt(tmp_path, 60, 10)
    read = read_heightmap(tmp_path / "N60E010.hgt")
    place = read.georeference
    assert place is not None and read.cell_size is not None and read.missing is None
    expected = np.zeros(read.elevation.shape)
    crs = "+proj=tmerc +lat_0=60.5 +lon_0=10.5 +k=1 +datum=WGS84 +units=m"
    side = 1.0 / 1200
    rasterio.warp.reproject(
        heights.astype("f8"), expected, src_transform=from_origin(10 - side / 2, 61 + side / 2, side, side),
        src_crs="EPSG:4326", dst_crs=crs, resampling=rasterio.warp.Resampling.cubic,
        dst_transform=from_origin(*place.to_model[:, 2], read.cell_size, read.cell_size),
    )  # fmt: skip
    assert np.abs(read.elevation - expected)[2:-2, 2:-2].max() < 0.6
    assert np.sqrt(np.mean((read.elevation - expected) ** 2)) < 0.15
    # A degree of longitude is 3 % longer in the south: what is kept is the width in the north
    assert read.elevation.shape[1] * read.cell_size == pytest.approx(54_100.0, rel=0.01)
    assert read.elevation.shape[0] * read.cell_size == pytest.approx(111_400.0, rel=0.01)


def test_exports_of_it_lie_where_it_lay(tmp_path: Path) -> None:
    write_hgt(tmp_path, 60, 10)
    out = tmp_path / "out.tif"
    assert cli.main(["export", str(tmp_path / "N60E010.hgt"), "--size", "400", "--out", str(out)]) == 0
    with rasterio.open(out) as file:
        assert file.crs.is_projected
        west, south, east, north = rasterio.warp.transform_bounds(file.crs, "EPSG:4326", *file.bounds)
        latitude, longitude = 60.5, 10.5
        x, y = rasterio.warp.transform("EPSG:4326", file.crs, [longitude], [latitude])
        (height,) = next(file.sample([(x[0], y[0])]))
    assert (west, south, east, north) == pytest.approx((10.0, 60.0, 11.0, 61.0), abs=0.02)
    expected = 900.0 + 500.0 * np.sin(9.0 * longitude) * np.cos(11.0 * latitude)
    assert height == pytest.approx(expected, abs=9.0)


def test_a_small_map_in_degrees_keeps_its_cells(tmp_path: Path) -> None:
    degrees = Degrees(np.array([[0.001, 0.0, 7.0], [0.0, -0.001, 46.0]]), 12, 17)
    assert degrees.can_be_projected and degrees.stray(77.4, 111.1) < 0.05
    assert not Degrees(np.array([[0.1, 0.0, -180.0], [0.0, -0.1, 90.0]]), 1800, 3600).can_be_projected


def test_degrees_become_no_more_cells_than_a_map_may_have() -> None:
    """In the north cells are narrow: square ones of their width are many from north to south."""
    degrees = Degrees(np.array([[0.01, 0.0, 10.0], [0.0, -0.01, 60.0]]), 100, 120)
    heights = hills(100, 120, 59.0, 10.0).astype("f8")
    grid = degrees.grid(550.0, most=150)
    projected, _ = grid.projected(heights, np.zeros(heights.shape, bool))
    assert projected.shape == (grid.rows, grid.columns) and grid.rows == 150
    assert grid.size == grid.place(4326).to_model[0, 0] > 700.0


# Units of heights.


@pytest.mark.parametrize(
    ("crs", "units", "scale", "offset", "metres"),
    [
        ("EPSG:32617", "ft", 1.0, 0.0, 0.3048),
        ("EPSG:32617", "US survey foot", 1.0, 0.0, 1200 / 3937),
        ("EPSG:32617", "m", 0.1, 5.0, 0.1),
        ("EPSG:32617", None, 1.0, 0.0, 1.0),
        ("EPSG:2225+6360", None, 1.0, 0.0, 1200 / 3937),
    ],
)
def test_heights_in_other_units(
    crs: str, units: str | None, scale: float, offset: float, metres: float, tmp_path: Path
) -> None:
    profile = {"driver": "GTiff", "width": COLUMNS, "height": ROWS, "count": 1, "dtype": "int16", "crs": crs}
    with rasterio.open(tmp_path / "map.tif", "w", transform=from_origin(0.0, 0.0, 9.0, 9.0), **profile) as file:
        file.write(LAND, 1)
        file.units, file.scales, file.offsets = (units,), (scale,), (offset,)
    expected = LAND * metres + offset
    np.testing.assert_allclose(read_heightmap(tmp_path / "map.tif").elevation, expected, rtol=1e-12)
    part = read_heightmap(tmp_path / "map.tif", part="20x20+10+10")
    np.testing.assert_allclose(part.elevation, expected[10:30, 10:30], rtol=1e-12)


# Damaged files.


@pytest.fixture(scope="module")
def tiled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("tiled") / "map.tif"
    write_tiff(path, LAND, geo_keys=GEOGRAPHIC, scale=[1e-2, 1e-2, 0.0], tiepoint=[0.0, 0.0, 0.0, 7.0, 46.0, 0.0],
               tile=(16, 16), compression="zlib")  # fmt: skip
    return path.read_bytes()


@settings(tried(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_parts_of_damaged_files_are_maps_or_one_line(data: st.DataObject, tiled: bytes, tmp_path: Path) -> None:
    content = bytearray(tiled)
    for place in data.draw(st.lists(st.integers(0, min(700, len(content)) - 1), min_size=1, max_size=5)):
        content[place] = data.draw(st.sampled_from([0, 1, 0x7F, 0xFF]) | st.integers(0, 255))
    path = tmp_path / "map.tif"
    path.write_bytes(content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))])
    try:
        read = read_heightmap(path, part="64x64+8+8")
    except UserError as error:
        assert "\n" not in str(error) and str(path) in str(error)
    else:
        assert np.isfinite(read.elevation).all()
    open_scene(str(path))

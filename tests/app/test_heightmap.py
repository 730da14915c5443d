"""Every format read back exactly, every kind of bad file refused in one line."""

from __future__ import annotations

import io
import logging
import os
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import OpenEXR
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.engine.creation import create_world
from app.model.errors import UserError
from app.model.world import DEFAULT_CELL_SIZE
from app.scene.scene import Scene
from app.sources.heightmap import (
    DEFAULT_RELIEF,
    FORMATS,
    SUFFIXES,
    Heightmap,
    is_saved_world,
    read_heightmap,
    resample,
)
from app.sources.heightmap.geography import metres_per_degree
from app.sources.heightmap.nodata import fill
from app.sources.parameters import WorldParameters
from tests.nets.cases import tried

ROWS, COLUMNS = 12, 17
METRES = np.random.default_rng(1).uniform(-400.0, 8000.0, (ROWS, COLUMNS))
SHADES_16 = np.random.default_rng(2).integers(0, 2**16, (ROWS, COLUMNS), np.uint16)
SHADES_8 = np.random.default_rng(3).integers(0, 2**8, (ROWS, COLUMNS), np.uint8)
# What the whole range of an image becomes if nobody tells otherwise.
FULL_RELIEF = DEFAULT_RELIEF * COLUMNS * DEFAULT_CELL_SIZE

# GeoTIFF tags.
PIXEL_SCALE, TIEPOINT, TRANSFORMATION, GEO_KEYS, NODATA = 33550, 33922, 34264, 34735, 42113
PROJECTED, GEOGRAPHIC = {1024: 1}, {1024: 2}


def jacksboro() -> Path:
    return Path(str(files("assets") / "terrain" / "jacksboro.npz"))


def write_tiff(path: Path, image: NDArray[Any], *, geo_keys: dict[int, int] | None = None, **tags: Any) -> Path:
    """A TIFF with `scale`, `tiepoint`, `transformation` (lists of floats), `nodata` (text) and GeoTIFF keys."""
    extra: list[tuple[int, int | str, int, Any, bool]] = []
    for name, tag in (("scale", PIXEL_SCALE), ("tiepoint", TIEPOINT), ("transformation", TRANSFORMATION)):
        if name in tags:
            values = tags.pop(name)
            extra.append((tag, "d", len(values), values, True))
    if "nodata" in tags:
        extra.append((NODATA, "s", 0, tags.pop("nodata"), True))
    if geo_keys is not None:
        directory = [1, 1, 0, len(geo_keys)]
        for key, value in sorted(geo_keys.items()):
            directory += [key, 0, 1, value]
        extra.append((GEO_KEYS, "H", len(directory), directory, True))
    tifffile.imwrite(path, image, extratags=extra, metadata=None, **tags)
    return path


def write_exr(path: Path, channels: dict[str, NDArray[Any]]) -> Path:
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, channels).write(str(path))
    return path


def write_grid(path: Path, header: str, values: NDArray[np.float64] = METRES) -> Path:
    """An Esri ASCII grid. The header's lines are separated by commas here."""
    rows = "\n".join(" ".join(repr(float(value)) for value in row) for row in values)
    path.write_text(f"ncols {values.shape[1]}\nnrows {values.shape[0]}\n" + header.replace(", ", "\n") + "\n" + rows)
    return path


def write_png(path: Path, image: NDArray[Any]) -> Path:
    path.write_bytes(imagecodecs.png_encode(image))
    return path


def write_npz(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **arrays)
    return path


def assert_metres(heightmap: Heightmap, expected: NDArray[Any]) -> None:
    """Bit by bit."""
    assert heightmap.elevation.dtype == np.float64
    assert heightmap.elevation.flags.c_contiguous
    np.testing.assert_array_equal(heightmap.elevation, expected.astype(np.float64))
    assert heightmap.filled_cells == 0


def assert_shades(heightmap: Heightmap, shares: NDArray[Any]) -> None:
    np.testing.assert_allclose(heightmap.elevation, shares * FULL_RELIEF, rtol=1e-14, atol=0)
    assert heightmap.cell_size is None


# Formats


@pytest.mark.parametrize("dtype", ["u1", "i2", "<i4", ">i4", "u8", "f2", "<f4", ">f4", "f8"])
def test_npy_is_exact(dtype: str, tmp_path: Path) -> None:
    values = np.clip(METRES, 0, 250).astype(dtype)
    np.save(tmp_path / "map.npy", values)
    heightmap = read_heightmap(tmp_path / "map.npy")
    assert_metres(heightmap, values)
    assert heightmap.cell_size is None


def test_npy_in_columns_first_order(tmp_path: Path) -> None:
    np.save(tmp_path / "map.npy", np.asfortranarray(METRES))
    assert_metres(read_heightmap(tmp_path / "map.npy"), METRES)


def test_npz_takes_elevation_or_the_only_map(tmp_path: Path) -> None:
    other = METRES + 1.0
    assert_metres(read_heightmap(write_npz(tmp_path / "a.npz", other=other, elevation=METRES)), METRES)
    assert_metres(read_heightmap(write_npz(tmp_path / "b.npz", ground=METRES, names=np.array(["x"]))), METRES)
    with pytest.raises(UserError, match=r"c\.npz: it holds several 2-D arrays \(a, b\); name .* 'elevation'"):
        read_heightmap(write_npz(tmp_path / "c.npz", a=METRES, b=other))


def test_npz_tells_its_cells(tmp_path: Path) -> None:
    assert read_heightmap(write_npz(tmp_path / "a.npz", elevation=METRES, cell_size=7.5)).cell_size == 7.5
    assert read_heightmap(write_npz(tmp_path / "b.npz", elevation=METRES, dx=30, dy=-30.0)).cell_size == 30.0
    edges = {"xmin": 500_000.0, "xmax": 500_510.0, "ymin": 4_000_000.0, "ymax": 4_000_360.0}
    assert read_heightmap(write_npz(tmp_path / "c.npz", elevation=METRES, dx=30.0, dy=30.0, **edges)).cell_size == 30.0


@pytest.mark.parametrize(("image", "full"), [(SHADES_8, 255), (SHADES_16, 65535)])
def test_png_spans_the_relief(image: NDArray[Any], full: int, tmp_path: Path) -> None:
    assert_shades(read_heightmap(write_png(tmp_path / "map.png", image)), image / full)


def test_png_in_colour_is_luminance_and_alpha_is_nodata(tmp_path: Path) -> None:
    colour = np.stack([SHADES_8, SHADES_8[::-1], SHADES_8[:, ::-1]], axis=-1)
    luminance = colour @ np.array([0.2126, 0.7152, 0.0722])
    assert_shades(read_heightmap(write_png(tmp_path / "rgb.png", colour)), luminance / 255)

    alpha = np.full((ROWS, COLUMNS, 1), 200, np.uint8)
    alpha[4:7, 5:9] = 0
    for name, channels, expected in (("rgba", colour, luminance), ("grey", SHADES_8[..., np.newaxis], SHADES_8)):
        path = write_png(tmp_path / f"{name}.png", np.concatenate([channels, alpha], axis=-1))
        heightmap = read_heightmap(path)
        known = alpha[..., 0] != 0
        assert heightmap.filled_cells == 12
        np.testing.assert_allclose(heightmap.elevation[known], expected[known] / 255 * FULL_RELIEF, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("compression", [None, "zlib", "lzw"])
def test_tiff_numbers_are_metres(dtype: str, compression: str | None, tmp_path: Path) -> None:
    values = np.clip(METRES, 0, 120).astype(dtype)
    heightmap = read_heightmap(write_tiff(tmp_path / "map.tif", values, compression=compression))
    assert_metres(heightmap, values)
    assert heightmap.cell_size is None


@pytest.mark.parametrize(("image", "full"), [(SHADES_8, 255), (SHADES_16, 65535)])
def test_tiff_shades_span_the_relief(image: NDArray[Any], full: int, tmp_path: Path) -> None:
    assert_shades(read_heightmap(write_tiff(tmp_path / "map.tiff", image)), image / full)


def test_tiff_in_tiles_with_predictor_in_big_endian(tmp_path: Path) -> None:
    values = METRES.astype("f4")
    path = tmp_path / "map.TIF"
    tifffile.imwrite(path, values, tile=(16, 16), compression="zlib", predictor=True, byteorder=">")
    assert_metres(read_heightmap(path), values)


def test_tiff_in_colour_planes(tmp_path: Path) -> None:
    planes = np.stack([SHADES_8] * 3)
    tifffile.imwrite(tmp_path / "map.tif", planes, photometric="rgb", planarconfig="separate")
    assert_shades(read_heightmap(tmp_path / "map.tif"), SHADES_8 / 255)


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_exr_prefers_y_then_r_then_the_first(dtype: str, tmp_path: Path) -> None:
    height, other = METRES.astype(dtype), (METRES + 9).astype(dtype)
    assert_metres(read_heightmap(write_exr(tmp_path / "y.exr", {"A": other, "R": other, "Y": height})), height)
    assert_metres(read_heightmap(write_exr(tmp_path / "r.exr", {"B": other, "G": other, "R": height})), height)
    assert_metres(read_heightmap(write_exr(tmp_path / "z.exr", {"height": height, "z": other})), height)


def test_raw_is_square_or_tells_its_size(tmp_path: Path) -> None:
    square = SHADES_16[:12, :12]
    for name, values in (("a.raw", square), ("b.R16", square), (f"hills_{COLUMNS}x{ROWS}.raw", SHADES_16)):
        (tmp_path / name).write_bytes(values.astype("<u2").tobytes())
        heightmap = read_heightmap(tmp_path / name, cell_size=10.0)
        relief = DEFAULT_RELIEF * 10.0 * max(values.shape)
        np.testing.assert_allclose(heightmap.elevation, values / 65535 * relief, rtol=1e-14)
    for name in (f"c_{COLUMNS}x{ROWS}.r32", f"d_{COLUMNS}x{ROWS}.f32"):
        (tmp_path / name).write_bytes(METRES.astype("<f4").tobytes())
        assert_metres(read_heightmap(tmp_path / name), METRES.astype("<f4"))


def test_ascii_grid_is_exact(tmp_path: Path) -> None:
    heightmap = read_heightmap(write_grid(tmp_path / "a.asc", "xllcorner 500000, yllcorner 4000000, CELLSIZE 25"))
    assert_metres(heightmap, METRES)
    assert heightmap.cell_size == 25.0
    assert_metres(read_heightmap(write_grid(tmp_path / "b.asc", "xllcenter 500000, yllcenter 0, dx 5, dy 5")), METRES)


def test_ascii_grid_may_break_lines_anywhere(tmp_path: Path) -> None:
    path = write_grid(tmp_path / "a.asc", "cellsize 25")
    head, _, body = path.read_text().partition("cellsize 25\n")
    path.write_text(head + "cellsize 25\n\n" + body.replace(" ", "\r\n"))
    assert_metres(read_heightmap(path), METRES)


# What holds for every format


def test_relief_and_cell_size_of_the_caller_win(tmp_path: Path) -> None:
    image = np.clip(SHADES_16, 1000, 50_000)
    heightmap = read_heightmap(write_png(tmp_path / "map.png", image), cell_size=3.0, relief=120.0)
    assert heightmap.cell_size == 3.0
    assert np.ptp(heightmap.elevation) == pytest.approx(120.0, rel=1e-14)

    np.save(tmp_path / "map.npy", METRES)
    heightmap = read_heightmap(tmp_path / "map.npy", relief=120.0)
    assert heightmap.elevation.min() == METRES.min()
    expected = METRES.min() + (METRES - METRES.min()) / np.ptp(METRES) * 120.0
    np.testing.assert_allclose(heightmap.elevation, expected, rtol=1e-13)


@pytest.mark.parametrize("columns", [0, 3 * COLUMNS])
@pytest.mark.parametrize("cell_size", [0.0, 2.5, 300.0])
def test_a_world_of_an_image_keeps_its_steepness(columns: int, cell_size: float, tmp_path: Path) -> None:
    """A relief that nobody tells is a part of the map's width, whatever cells and size are asked for."""
    image = np.zeros((16, COLUMNS), np.uint8)
    image[:, COLUMNS // 2 :] = 255
    source = str(write_png(tmp_path / "map.png", image))
    scene = Scene(world=WorldParameters(source=source, columns=columns, cell_size=cell_size))
    world, _ = create_world(scene)
    width = max(world.shape) * world.cell_size
    assert np.ptp(world.ground) == pytest.approx(DEFAULT_RELIEF * width, rel=1e-12)


def test_the_default_relief_of_an_image_grows_with_its_cells(tmp_path: Path) -> None:
    path = write_png(tmp_path / "map.png", SHADES_8)
    wide = read_heightmap(path, cell_size=5.0)
    np.testing.assert_allclose(wide.elevation, SHADES_8 / 255 * DEFAULT_RELIEF * COLUMNS * 5.0, rtol=1e-14)


def test_a_plain_stays_a_plain(tmp_path: Path) -> None:
    np.save(tmp_path / "map.npy", np.full((8, 8), 70.0))
    np.testing.assert_array_equal(read_heightmap(tmp_path / "map.npy", relief=100.0).elevation, 70.0)


def test_floats_in_the_unit_range_span_the_relief_unless_cells_are_known(tmp_path: Path) -> None:
    shares = SHADES_16 / 65535
    np.save(tmp_path / "map.npy", shares)
    assert_shades(read_heightmap(tmp_path / "map.npy"), shares)
    singles = shares.astype("f4")
    assert_shades(read_heightmap(write_exr(tmp_path / "map.exr", {"Y": singles})), singles.astype("f8"))
    assert_metres(read_heightmap(write_npz(tmp_path / "map.npz", elevation=shares, dx=2.0)), shares)

    singles[0, 0] = -9999.0
    heightmap = read_heightmap(write_tiff(tmp_path / "map.tif", singles, nodata="-9999"))
    np.testing.assert_allclose(heightmap.elevation[1:], singles[1:].astype("f8") * FULL_RELIEF, rtol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -32768.0, -9999.0, np.finfo("f4").min, -3.40282e38, 1e38])
def test_nodata_is_filled_and_counted(bad: float, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    values = METRES.copy()
    hole = np.zeros(values.shape, bool)
    hole[0, 0] = hole[5:8, 6:9] = hole[-1, 3] = True
    values[hole] = bad
    np.save(tmp_path / "map.npy", values)
    with caplog.at_level(logging.INFO, "app"):
        heightmap = read_heightmap(tmp_path / "map.npy")
    assert heightmap.filled_cells == 11
    assert "filled 11 of 204 cells" in caplog.text
    assert ("usually mean NODATA" in caplog.text) == bool(np.isfinite(bad))
    np.testing.assert_array_equal(heightmap.elevation[~hole], METRES[~hole])
    assert METRES.min() <= heightmap.elevation[hole].min()
    assert heightmap.elevation[hole].max() <= METRES.max()


@pytest.mark.parametrize(
    ("dtype", "marker", "text"),
    [
        ("i2", -1, "-1"),
        ("u2", 65535, "65535"),
        ("f4", -3.5e4, "-35000.0"),
        ("f4", np.float32(0.1), "0.1"),
        ("f4", np.finfo("f4").min, "-3.4028234663852886e+38"),
        ("f8", np.nan, "nan"),
    ],
)
def test_tiff_declares_nodata(dtype: str, marker: float, text: str, tmp_path: Path) -> None:
    values = np.clip(METRES, 1.0, 8000.0).astype(dtype)
    values[3:5, 4:8] = marker
    path = write_tiff(tmp_path / "a.tif", values, nodata=text, scale=[30.0, 30.0, 0.0], geo_keys=PROJECTED)
    heightmap = read_heightmap(path)
    assert heightmap.filled_cells == 8
    known = np.ones(values.shape, bool)
    known[3:5, 4:8] = False
    np.testing.assert_array_equal(heightmap.elevation[known], values[known].astype(float))
    assert heightmap.elevation.min() >= 1.0


def test_ascii_grid_declares_nodata(tmp_path: Path) -> None:
    values = METRES.copy()
    values[2, 2:5] = 7777.0
    heightmap = read_heightmap(write_grid(tmp_path / "a.asc", "cellsize 25, NODATA_value 7777", values))
    assert heightmap.filled_cells == 3
    assert heightmap.elevation[2, 3] != 7777.0


def test_filling_is_smooth_and_leaves_the_rest() -> None:
    row, column = np.mgrid[0:90, 0:110].astype(float)
    ramp = 2.0 * row + 3.0 * column
    missing = np.zeros(ramp.shape, bool)
    missing[20:60, 30:80] = missing[70:, 90:] = True
    filled = fill(np.where(missing, np.nan, ramp), missing)
    np.testing.assert_array_equal(filled[~missing], ramp[~missing])
    inside = filled[19:61, 29:81]
    assert np.abs(np.diff(inside, axis=0)).max() < 2.0 * 3
    assert np.abs(np.diff(inside, axis=1)).max() < 3.0 * 3
    assert np.abs(filled - ramp)[20:60, 30:80].max() < 0.1 * np.ptp(ramp)


def test_one_known_cell_is_enough() -> None:
    missing = np.ones((31, 57), bool)
    missing[30, 2] = False
    np.testing.assert_allclose(fill(np.where(missing, np.nan, 12.0), missing), 12.0, rtol=1e-14)


# Where the map lies


def test_the_default_terrain_in_metres() -> None:
    heightmap = read_heightmap(jacksboro())
    assert heightmap.cell_size == pytest.approx(74.5, abs=0.1)
    assert heightmap.elevation.shape == (427, 403)
    assert heightmap.filled_cells == 0
    with np.load(jacksboro()) as archive:
        original = archive["elevation"]
    assert original.min() <= heightmap.elevation.min()
    assert heightmap.elevation.max() <= original.max()
    assert heightmap.elevation.mean() == pytest.approx(original.mean(), abs=0.1)
    # Columns are kept, so the first and last rows are the original's.
    np.testing.assert_array_equal(heightmap.elevation[0], original[0])
    np.testing.assert_array_equal(heightmap.elevation[-1], original[-1])


@pytest.mark.parametrize("latitude", [0.0, 36.6, -36.6, 60.0, 80.0])
def test_degrees_on_the_ellipsoid(latitude: float) -> None:
    """Against the radii of curvature of WGS 84, from which the series comes."""
    axis, eccentricity = 6_378_137.0, 0.081_819_190_842_622
    sine, cosine = np.sin(np.radians(latitude)), np.cos(np.radians(latitude))
    w = np.sqrt(1.0 - (eccentricity * sine) ** 2)
    east_west, north_south = metres_per_degree(latitude)
    assert east_west == pytest.approx(np.radians(axis * cosine / w), rel=1e-6)
    assert north_south == pytest.approx(np.radians(axis * (1.0 - eccentricity**2) / w**3), rel=1e-6)


def test_projected_geotiff_in_metres_and_feet(tmp_path: Path) -> None:
    place = {"scale": [30.0, 30.0, 0.0], "tiepoint": [0.0, 0.0, 0.0, 500_000.0, 4_000_000.0, 0.0]}
    heightmap = read_heightmap(write_tiff(tmp_path / "m.tif", SHADES_16, geo_keys=PROJECTED, **place))
    assert_metres(heightmap, SHADES_16)  # with a cell size, integers are metres
    assert heightmap.cell_size == 30.0
    feet = PROJECTED | {3076: 9002, 4099: 9002}
    heightmap = read_heightmap(write_tiff(tmp_path / "ft.tif", SHADES_16, geo_keys=feet, **place))
    assert heightmap.cell_size == pytest.approx(30.0 * 0.3048)
    np.testing.assert_allclose(heightmap.elevation, SHADES_16 * 0.3048, rtol=1e-14)


@pytest.mark.parametrize("geo_keys", [GEOGRAPHIC, {1024: 2, 2054: 9102}, None])
def test_geotiff_in_degrees(geo_keys: dict[int, int] | None, tmp_path: Path) -> None:
    values = METRES.astype("f4")
    step = 1.0 / 1200.0
    path = write_tiff(
        tmp_path / "a.tif", values, geo_keys=geo_keys, scale=[step, step, 0.0], tiepoint=[0.0, 0.0, 0.0, 8.0, 60.0, 0.0]
    )
    heightmap = read_heightmap(path)
    east_west, north_south = metres_per_degree(60.0 - ROWS / 2 * step)
    assert heightmap.cell_size == pytest.approx(step * east_west, rel=1e-12)
    assert heightmap.elevation.shape == (round(ROWS * north_south / east_west), COLUMNS)


def test_geotiff_keys_win_over_what_the_numbers_look_like(tmp_path: Path) -> None:
    small = {"scale": [0.01, 0.01, 0.0], "tiepoint": [0.0, 0.0, 0.0, 5.0, 5.0, 0.0]}
    assert read_heightmap(write_tiff(tmp_path / "a.tif", METRES, geo_keys=PROJECTED, **small)).cell_size == 0.01
    coarse = {"scale": [2.0, 2.0, 0.0], "tiepoint": [0.0, 0.0, 0.0, 5.0, 12.0, 0.0]}
    heightmap = read_heightmap(write_tiff(tmp_path / "b.tif", METRES, geo_keys=GEOGRAPHIC, **coarse))
    assert heightmap.cell_size == pytest.approx(2.0 * min(metres_per_degree(0.0)))


def test_geotiff_with_the_south_first_is_turned_over(tmp_path: Path) -> None:
    values = METRES.astype("f4")
    south_up = [10.0, 0.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    path = write_tiff(tmp_path / "a.tif", values, geo_keys=PROJECTED, transformation=south_up)
    assert_metres(read_heightmap(path), values[::-1])
    assert read_heightmap(path).cell_size == 10.0
    negative_scale = write_tiff(tmp_path / "b.tif", values, geo_keys=PROJECTED, scale=[10.0, -10.0, 0.0])
    assert_metres(read_heightmap(negative_scale), values[::-1])
    mirrored = write_tiff(tmp_path / "c.tif", values, geo_keys=PROJECTED, scale=[-10.0, 10.0, 0.0])
    assert_metres(read_heightmap(mirrored), values[:, ::-1])


def test_ascii_grid_in_degrees(tmp_path: Path) -> None:
    path = write_grid(tmp_path / "a.asc", "xllcorner -84.4, yllcorner 36.4, cellsize 0.001")
    east_west, _ = metres_per_degree(36.4 + ROWS / 2 * 0.001)
    assert read_heightmap(path).cell_size == pytest.approx(0.001 * east_west, rel=1e-12)


def test_a_map_of_a_laboratory_is_not_taken_for_degrees(tmp_path: Path) -> None:
    path = write_grid(tmp_path / "a.asc", "xllcorner 0, yllcorner 0, cellsize 0.001")
    assert read_heightmap(path).cell_size == 0.001


def test_oblong_cells_become_square_ones_of_the_finer_side(tmp_path: Path) -> None:
    path = write_grid(tmp_path / "a.asc", "dx 10, dy 30")
    heightmap = read_heightmap(path)
    assert heightmap.cell_size == 10.0
    assert heightmap.elevation.shape == (3 * ROWS, COLUMNS)
    # Three new cells per old one: the middle ones lie on the old centres.
    np.testing.assert_allclose(heightmap.elevation[1::3], METRES, rtol=1e-14)


def test_oblong_cells_never_make_a_map_too_large(tmp_path: Path) -> None:
    ramp = np.tile(np.arange(1000.0), (20, 1)).T
    heightmap = read_heightmap(write_npz(tmp_path / "a.npz", elevation=ramp, dx=100.0, dy=1000.0))
    assert heightmap.elevation.shape == (8192, 16)
    assert heightmap.cell_size == 1000 * 1000.0 / 8192


# Resampling


def test_resampling_leaves_the_range_of_no_neighbours() -> None:
    step = np.zeros((40, 30))
    step[20:] = 100.0
    larger = resample(step, 133, 71)
    assert larger.min() == 0.0
    assert larger.max() == 100.0
    assert (np.diff(larger, axis=0) >= 0.0).all()


@given(steps=st.lists(st.sampled_from([-100.0, -1.0, 0.0, 0.01, 1.0, 50.0]), min_size=8, max_size=20))
@tried(60)
def test_each_new_value_lies_between_its_two_old_neighbours(steps: list[float]) -> None:
    old = np.tile(np.cumsum(steps), (8, 1))
    count = 7 * old.shape[1]
    new = resample(old, 8, count)[0]
    position = np.clip((np.arange(count) + 0.5) / 7 - 0.5, 0, old.shape[1] - 1)
    neighbours = old[0, [np.floor(position).astype(int), np.ceil(position).astype(int)]]
    assert (neighbours.min(axis=0) - 1e-9 <= new).all()
    assert (new <= neighbours.max(axis=0) + 1e-9).all()


def test_resampling_is_smooth_where_the_ground_is() -> None:
    def hills(rows: int, columns: int) -> NDArray[np.float64]:
        y, x = (np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns
        return np.asarray(np.sin(3 * x)[np.newaxis, :] * np.cos(2 * y)[:, np.newaxis])

    larger = resample(hills(40, 50), 97, 131)
    inside = slice(3, -3)  # the outermost half cells continue the last value
    np.testing.assert_allclose(larger[inside, inside], hills(97, 131)[inside, inside], atol=3e-4)


def test_shrinking_keeps_the_mean() -> None:
    smaller = resample(METRES, 5, 7)
    assert smaller.shape == (5, 7)
    assert smaller.mean() == pytest.approx(METRES.mean(), rel=1e-12)
    np.testing.assert_allclose(resample(METRES, 4, COLUMNS)[0], METRES[:3].mean(axis=0), rtol=1e-13)


@given(rows=st.integers(8, 60), columns=st.integers(8, 60), seed=st.integers(0, 9))
@tried(40)
def test_resampling_any_size(rows: int, columns: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(23, 31))
    result = resample(values, rows, columns)
    assert result.shape == (rows, columns)
    assert result.flags.c_contiguous
    assert values.min() - 1e-12 <= result.min()
    assert result.max() <= values.max() + 1e-12
    np.testing.assert_allclose(resample(np.full((23, 31), 5.0), rows, columns), 5.0, rtol=1e-14)
    if (rows, columns) == values.shape:
        np.testing.assert_array_equal(result, values)


# Bad files


def refused(path: Path, capfd: pytest.CaptureFixture[str] | None = None) -> str:
    """The one line with which a file is refused."""
    with pytest.raises(UserError) as caught:
        read_heightmap(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300
    if capfd is not None:
        assert capfd.readouterr() == ("", "")
    return message


def every_format(folder: Path) -> dict[str, bytes]:
    """A valid file of each suffix."""
    height = METRES.astype("f4")
    write_png(folder / "a.png", SHADES_16)
    for suffix in (".tif", ".tiff"):
        path = folder / f"a{suffix}"
        write_tiff(path, height, geo_keys=PROJECTED, scale=[9.0, 9.0, 0.0], nodata="-1", compression="zlib")
    write_exr(folder / "a.exr", {"Y": height})
    write_grid(folder / "a.asc", "xllcorner 0, yllcorner 0, cellsize 9, NODATA_value -1")
    np.save(folder / "a.npy", METRES)
    write_npz(folder / "a.npz", elevation=METRES, dx=9.0, dy=9.0)
    for suffix in (".r16", ".raw"):
        (folder / f"a{suffix}").write_bytes(SHADES_16[:, :12].tobytes())
    for suffix in (".r32", ".f32"):
        (folder / f"a{suffix}").write_bytes(height[:, :12].tobytes())
    (folder / "a.hgt").write_bytes(np.tile(np.arange(1201, dtype=">i2"), (1201, 1)).tobytes())
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return every_format(tmp_path_factory.mktemp("valid"))


all_suffixes = pytest.mark.parametrize("suffix", list(SUFFIXES))


@all_suffixes
def test_every_suffix_has_a_valid_example(suffix: str, valid: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix.upper()}"
    path.write_bytes(valid[suffix])
    assert np.isfinite(read_heightmap(path).elevation).all()


@all_suffixes
def test_no_such_file_a_folder_an_empty_file(suffix: str, tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / f"missing{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "is a folder" in refused(tmp_path / f"folder{suffix}")
    (tmp_path / f"empty{suffix}").touch()
    assert "is empty" in refused(tmp_path / f"empty{suffix}")


@all_suffixes
def test_text_with_the_wrong_suffix(suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"letter{suffix}"
    path.write_text("Dear all,\nthis is no heightmap.\n" * 5)
    refused(path, capfd)


@all_suffixes
def test_truncated_files(
    suffix: str, valid: dict[str, bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for share in (0.05, 0.3, 0.6, 0.95):
        path = tmp_path / f"half{suffix}"
        path.write_bytes(valid[suffix][: int(len(valid[suffix]) * share)])
        refused(path, capfd)


def test_a_reason_without_words_has_the_kind_of_error(tmp_path: Path) -> None:
    """The head of a TIFF alone: what the library misses is the number of a page."""
    tifffile.imwrite(tmp_path / "head.tif", METRES)
    (tmp_path / "head.tif").write_bytes((tmp_path / "head.tif").read_bytes()[:8])
    assert re.search(r": \w*Error 0; it must be complete", refused(tmp_path / "head.tif"))


def test_unknown_suffixes_list_the_known_ones(tmp_path: Path) -> None:
    message = refused(tmp_path / "hills.jpg")
    assert all(suffix in message for suffix in SUFFIXES)
    refused(tmp_path / "hills")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as on Unix")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.r16")
    assert "not a regular file" in refused(tmp_path / "pipe.r16")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npy"
    np.save(path, METRES)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # permissions themselves do not stop a superuser
    assert "no permission" in refused(path)


def png_header(columns: int, rows: int) -> bytes:
    """A PNG that promises more than it holds."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", columns, rows, 16, 0, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(100)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def npy_header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (7, 100), (100, 7), (8193, 100), (100, 8193), (40_000, 40_000)])
def test_too_small_and_too_large_without_decoding(columns: int, rows: int, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png_header(columns, rows))
    (tmp_path / "a.npy").write_bytes(npy_header((rows, columns)) + bytes(1000))
    (tmp_path / "a.asc").write_text(f"ncols {columns}\nnrows {rows}\ncellsize 1\n1 2 3")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((16, 16), "f4"))
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+") as file:
        file.pages.first.tags["ImageWidth"].overwrite(columns)
        file.pages.first.tags["ImageLength"].overwrite(rows)
    for name in ("a.png", "a.npy", "a.asc", "a.tif"):
        message = refused(tmp_path / name)
        assert f"{rows} rows and {columns} columns; each must be from 8 to 8192" in message


def test_a_raw_or_exr_file_of_one_pixel(tmp_path: Path) -> None:
    (tmp_path / "a.r16").write_bytes(bytes(2))
    (tmp_path / "a.r32").write_bytes(bytes(4))
    write_exr(tmp_path / "a.exr", {"Y": np.ones((1, 1), "f4")})
    for name in ("a.r16", "a.r32", "a.exr"):
        assert "1 rows and 1 columns" in refused(tmp_path / name)


def test_raw_files_of_the_wrong_length(tmp_path: Path) -> None:
    (tmp_path / "a.r16").write_bytes(bytes(1001))
    assert "it has 1001 bytes; 22 columns by 22 rows of 2 bytes" in refused(tmp_path / "a.r16")
    (tmp_path / "a_20x30.r32").write_bytes(bytes(2401))
    assert "20 columns by 30 rows of 4 bytes, as its name says, take 2400" in refused(tmp_path / "a_20x30.r32")


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -9999.0])
def test_nothing_but_nodata(nothing: float, tmp_path: Path) -> None:
    values = np.full((ROWS, COLUMNS), nothing)
    np.save(tmp_path / "a.npy", values)
    write_npz(tmp_path / "a.npz", elevation=values)
    write_tiff(tmp_path / "a.tif", values)
    write_exr(tmp_path / "a.exr", {"Y": values.astype("f4")})
    write_grid(tmp_path / "a.asc", "cellsize 5", values)
    (tmp_path / f"a_{COLUMNS}x{ROWS}.r32").write_bytes(values.astype("f4").tobytes())
    write_png(tmp_path / "a.png", np.zeros((ROWS, COLUMNS, 2), np.uint8))
    for path in list(tmp_path.iterdir()):
        assert "every cell is NODATA" in refused(path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.full((9, 9), 1 + 2j), "type complex128; expected integers or floats"),
        (np.full((9, 9), "x"), "type <U1"),
        (np.full((9, 9), True), "type bool"),
        (np.full((9, 9), np.datetime64("2020-01-01")), "type datetime64"),
        (np.zeros((9, 9), [("h", "f8")]), "expected integers or floats"),
        (np.full((9, 9), None), "type object"),
        (np.zeros((9, 9, 3)), "3 dimensions; expected 2"),
        (np.zeros(81), "1 dimensions; expected 2"),
        (np.float64(3.0), "0 dimensions; expected 2"),
        (np.zeros((0, 9)), "0 rows and 9 columns"),
        (np.full((9, 9), 2e5), "a height of 200000 m"),
        (np.full((9, 9), 2**63, np.uint64), "a height of 9.22337e\\+18 m"),
    ],
)
def test_arrays_that_are_no_map(values: NDArray[Any], message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", values)
    with pytest.raises(UserError, match=message):
        read_heightmap(tmp_path / "a.npy")
    with pytest.raises(UserError, match=message):
        read_heightmap(write_npz(tmp_path / "a.npz", elevation=values))


class Bomb:
    """Goes off when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return (pytest.fail, ("a pickle was read",))


def test_pickles_are_never_read(tmp_path: Path) -> None:
    bombs = np.full((9, 9), None)
    bombs[:] = Bomb()
    np.save(tmp_path / "a.npy", bombs)
    refused(tmp_path / "a.npy")
    refused(write_npz(tmp_path / "b.npz", elevation=bombs))
    assert_metres(read_heightmap(write_npz(tmp_path / "c.npz", elevation=METRES, other=bombs)), METRES)


def test_archives_without_a_map(tmp_path: Path) -> None:
    assert "it holds no 2-D array (only a, b)" in refused(write_npz(tmp_path / "a.npz", a=np.zeros(9), b=1.0))
    np.savez(tmp_path / "b.npz")
    assert "only nothing" in refused(tmp_path / "b.npz")


def test_a_header_cannot_fill_memory(tmp_path: Path) -> None:
    size = 64 * 2**20
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("elevation.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", size) + bytes(size))
    tracemalloc.start()
    refused(tmp_path / "a.npz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 8


@pytest.mark.parametrize("side", [0.0, 1e-200, 1e300, np.nan, np.inf])
def test_cells_without_a_size(side: float, tmp_path: Path) -> None:
    assert "side of" in refused(write_npz(tmp_path / "a.npz", elevation=METRES, dx=side, dy=side))


def test_a_pole_has_no_square_cells(tmp_path: Path) -> None:
    path = write_tiff(
        tmp_path / "a.tif", METRES, geo_keys=GEOGRAPHIC, scale=[0.01] * 3, tiepoint=[0.0, 0.0, 0.0, 0.0, 90.0, 0.0]
    )
    assert "latitude 89.94" in refused(path)


def test_what_is_taken_of_a_file_that_holds_more_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "app")

    def said(path: Path) -> str:
        caplog.clear()
        read_heightmap(path)
        return " ".join(record.getMessage() for record in caplog.records)

    with tifffile.TiffWriter(tmp_path / "pages.tif") as file:
        for page in range(5):
            file.write(SHADES_16 + page, contiguous=False)
            file.write(SHADES_16[::2, ::2], subfiletype=1)  # an overview, which is no map of its own
    assert said(tmp_path / "pages.tif") == f"{tmp_path / 'pages.tif'}: its heights are the first of 5 pages"
    assert_shades(read_heightmap(tmp_path / "pages.tif"), SHADES_16 / 65535)
    tifffile.imwrite(tmp_path / "rgb.tif", np.stack([SHADES_8] * 3, axis=-1), photometric="rgb")
    assert said(tmp_path / "rgb.tif") == f"{tmp_path / 'rgb.tif'}: its heights are the brightness of its colours"
    height = METRES.astype("f4")
    many = {f"layer{number:03d}": height for number in range(200)}
    assert said(write_exr(tmp_path / "many.exr", many)).endswith("its heights are channel layer000 of 200")
    assert said(write_exr(tmp_path / "two.exr", {"A": height, "Y": height})).endswith("are channel Y of 2")
    assert said(write_exr(tmp_path / "one.exr", {"Y": height})) == ""
    assert said(write_tiff(tmp_path / "one.tif", SHADES_16)) == ""


def test_inks_are_no_heights(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "ink.tif", np.zeros((ROWS, COLUMNS, 4), np.uint8), photometric="separated")
    with pytest.raises(UserError, match=r"ink.tif: its colours are CMYK; expected shades of grey"):
        read_heightmap(tmp_path / "ink.tif")


def test_tiffs_that_are_no_map(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((ROWS, COLUMNS), np.complex64))
    assert "type complex64" in refused(tmp_path / "a.tif")
    seven = np.zeros((ROWS, COLUMNS, 7), np.uint8)
    tifffile.imwrite(tmp_path / "b.tif", seven, photometric="minisblack", planarconfig="contig")
    assert "7 channels" in refused(tmp_path / "b.tif")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ncols 9\nnrows nine\n1 2 3", "'nrows nine'; expected a name and a number"),
        ("ncols 9\n1 2 3", "lacks nrows"),
        ("ncols 9.5\nnrows 9\n1 2 3", "says 9.5 for ncols"),
        ("ncols 9\nnrows 9\n" + "1 " * 80, "81 values; found 80"),
        ("ncols 9\nnrows 9\n" + "1 " * 82, "81 values; found more"),
        ("ncols 9\nnrows 9\n" + "1 " * 50 + "x " * 31, "cannot read .* as an Esri ASCII grid"),
    ],
)
def test_broken_ascii_grids(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_text(text)
    with pytest.raises(UserError, match=message):
        read_heightmap(tmp_path / "a.asc")


fuzzing = settings(tried(40), suppress_health_check=list(HealthCheck))


def map_or_user_error(path: Path) -> None:
    is_saved_world(path)
    try:
        heightmap = read_heightmap(path)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert np.isfinite(heightmap.elevation).all()
        assert min(heightmap.elevation.shape) >= 8
        assert max(heightmap.elevation.shape) <= 8192


@all_suffixes
@fuzzing
@given(data=st.binary(max_size=600))
def test_random_bytes(suffix: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    map_or_user_error(path)


@pytest.mark.slow
@all_suffixes
@fuzzing
@given(data=st.data())
def test_damaged_files(suffix: str, data: st.DataObject, valid: dict[str, bytes], tmp_path: Path) -> None:
    content = bytearray(valid[suffix])
    places = st.integers(0, len(content) - 1)
    # Headers decide most, so most of the damage is there.
    near_the_start = st.integers(0, min(400, len(content)) - 1)
    for place in data.draw(st.lists(places | near_the_start, min_size=1, max_size=6)):
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content[: data.draw(st.just(len(content)) | places)])
    map_or_user_error(path)


# The rest of the program


def test_saved_worlds_are_told_by_their_meta(tmp_path: Path) -> None:
    assert is_saved_world(write_npz(tmp_path / "world.npz", bedrock=METRES, meta="{}"))
    assert not is_saved_world(jacksboro())
    assert not is_saved_world(tmp_path / "missing.npz")
    assert not is_saved_world(tmp_path)
    (tmp_path / "text.npz").write_text("no archive")
    assert not is_saved_world(tmp_path / "text.npz")


def test_formats_have_a_name_and_unique_suffixes() -> None:
    assert len(SUFFIXES) == sum(len(format.suffixes) for format in FORMATS)
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in SUFFIXES)


def test_the_default_terrain_loads_no_image_library() -> None:
    program = (
        "import sys\n"
        "from app.sources.heightmap import read_heightmap\n"
        f"read_heightmap({str(jacksboro())!r})\n"
        "print(*{'tifffile', 'imagecodecs', 'OpenEXR', 'numba', 'moderngl'} & set(sys.modules))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""

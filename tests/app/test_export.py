"""`thalweg export`: what others read of the files is what the world has, within the precision of each format."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import OpenEXR
import pytest
import rasterio
from numpy.typing import NDArray
from PIL import Image

from app.cli import main as cli
from app.engine.creation import create_world
from app.engine.refining import refined
from app.engine.simulator import Simulator
from app.engine.stored_world import StoredWorld
from app.export.heights import ENGINES, HEIGHT_FORMATS, Heights, engine_side, scale_text
from app.export.landscape import SURFACES, Landscape
from app.export.plan import Item, plan, write_item
from app.export.wishes import Wishes
from app.files import checkpoint
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.georeference import WGS_84, Georeference, Origin
from app.model.world import World
from app.processes.pools import derive_levels
from app.scene.scene import Scene
from app.sources.heightmap import read_heightmap
from tests.app.full_disk import keeps_the_old_file_on_a_full_disk
from tests.app.small import simulated, small_scene
from tests.app.test_checkpoint import change_meta, rewrite
from tests.app.test_heightmap import write_grid, write_tiff
from tests.kernels.relief import island

UTM_17N = {1024: 1, 1025: 1, 3072: 32617}

Numbers = NDArray[Any]


def landscape_of(scene: Scene, cycles: int = 0) -> Landscape:
    simulator = simulated(cycles, scene)
    return Landscape(simulator.world, simulator.scene)


def write(landscape: Landscape, folder: Path, **wishes: Any) -> list[Path]:
    """All that is wished for; the paths of the files."""
    paths = []
    for item in plan(landscape, Wishes(**wishes)):
        write_item(item, folder / item.name)
        paths.append(folder / item.name)
    return paths


@pytest.fixture(scope="module")
def lakes() -> Landscape:
    """40 × 32 cells with lakes and a sea, and loose material on the rock."""
    scene = small_scene(pools__enabled=True, world__lake_depth=60.0, edges__water="sea", edges__sea_level=30.0)
    landscape = landscape_of(scene, 2)
    assert (landscape.world.water > 0.0).any()
    return landscape


# Heights.


def read_back(path: Path) -> Numbers:
    """A file of heights as those programs read it that are its own."""
    match path.suffix:
        case ".tif" | ".asc":
            with rasterio.open(path) as file:
                return np.asarray(file.read(1), np.float64)
        case ".png":
            with Image.open(path) as image:
                assert image.mode in ("I;16", "I")
                return np.asarray(image).astype(np.float64)
        case ".exr":
            return np.asarray(OpenEXR.File(str(path), separate_channels=True).channels()["Y"].pixels, np.float64)
        case ".npy":
            return np.asarray(np.load(path, allow_pickle=False))
    samples = np.fromfile(path, "<u2").astype(np.float64)
    size = re.search(r"_(\d+)x(\d+)$", path.stem)
    return samples.reshape(int(size[2]), int(size[1])) if size else samples.reshape(2 * (round(samples.size**0.5),))


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", HEIGHT_FORMATS)
def test_heights_are_those_of_the_world(name: str, surface: str, lakes: Landscape, tmp_path: Path) -> None:
    (path,) = write(lakes, tmp_path, heights=(name,), surfaces=(surface,))
    expected, found = lakes.surface(surface), read_back(path)
    assert found.shape == expected.shape == (32, 40)
    if HEIGHT_FORMATS[name].scaled:
        assert (found.min(), found.max()) == (0.0, 65535.0)
        found = expected.min() + found * (expected.max() - expected.min()) / 65535.0
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=0.501 * (expected.max() - expected.min()) / 65535.0)
    elif name == "npy":
        np.testing.assert_array_equal(found, expected)
    else:  # GDAL rounds the texts of a grid once more
        np.testing.assert_allclose(found, expected.astype(np.float32), rtol=2e-7 if name == "asc" else 0.0)


def test_surfaces_are_what_they_say(lakes: Landscape) -> None:
    world = lakes.world
    np.testing.assert_array_equal(lakes.surface("ground"), world.bedrock + world.sediment)
    np.testing.assert_array_equal(lakes.surface("rock"), world.bedrock)
    wet = world.standing > 0
    assert wet.any() and not wet.all()
    np.testing.assert_array_equal(lakes.surface("water")[wet], world.water_level[wet])
    np.testing.assert_array_equal(lakes.surface("water")[~wet], world.ground[~wet])
    assert (lakes.surface("filled") >= world.ground).all()
    assert (lakes.surface("filled") > world.ground).any()


@pytest.mark.parametrize("name", HEIGHT_FORMATS)
def test_heights_come_in_again(name: str, lakes: Landscape, tmp_path: Path) -> None:
    (path,) = write(lakes, tmp_path, heights=(name,))
    ground = lakes.world.ground
    relief = float(ground.max() - ground.min()) if HEIGHT_FORMATS[name].scaled else None
    found = read_heightmap(path, relief=relief).elevation
    if relief:
        found = found - found.min() + ground.min()
    np.testing.assert_allclose(found, ground, atol=(relief or 1.0) * 1e-5)


@pytest.mark.parametrize("size", [(8, 8), (9, 40), (300, 8)])
@pytest.mark.parametrize("name", HEIGHT_FORMATS)
def test_tiny_and_long_maps(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    rows, columns = size
    landscape = landscape_of(small_scene(world__rows=rows, world__columns=columns))
    (path,) = write(landscape, tmp_path, heights=(name,))
    assert read_back(path).shape == size


@pytest.mark.parametrize("name", HEIGHT_FORMATS)
def test_level_land(name: str, tmp_path: Path) -> None:
    landscape = Landscape(World(np.full((8, 9), 7.0), np.zeros((8, 9)), 5.0, 1), Scene())
    (path,) = write(landscape, tmp_path, heights=(name,))
    assert (read_back(path) == (0.0 if HEIGHT_FORMATS[name].scaled else 7.0)).all()


def test_names_and_sides_of_engines(tmp_path: Path) -> None:
    landscape = landscape_of(small_scene())
    assert engine_side("unreal", 900, 1000) == 1009
    assert engine_side("unity", 32, 400) == 513
    assert {513, 1025} <= set(ENGINES["unity"]) and {1009, 2017, 4033} <= set(ENGINES["unreal"])
    (square,) = write(landscape, tmp_path, heights=("r16",), side="unity")
    assert square.name == "ground.r16"
    assert read_back(square).shape == (33, 33)
    (wide,) = write(landscape, tmp_path, heights=("r16",), side="60x20")
    assert wide.name == "ground_60x20.r16"  # as this program's own reader of such files wants them
    assert read_heightmap(wide).elevation.shape == (20, 60)


def numbers_of(text: str, line: str) -> list[float]:
    """The numbers in the line that begins so, and those below it that are indented."""
    block = re.search(rf"^{line}(.*(?:\n  .*)*)", text, re.MULTILINE)
    assert block
    return [float(number) for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?", block[1])]


def test_scale_that_is_told_gives_metres_in_unity_and_unreal(tmp_path: Path) -> None:
    landscape = landscape_of(small_scene(world__cell_size=8.0))
    (path,) = write(landscape, tmp_path, heights=("r16",), side="unreal")
    text = (tmp_path / "ground.r16.txt").read_text()
    shades = read_back(path)
    heights = landscape.sheet.resized(127, 127).numbers(landscape.world.ground)
    *_, width, length, height, lowest = numbers_of(text, "Unity")
    assert (width, length) == pytest.approx((126 * 40 * 8.0 / 127, 126 * 40 * 8.0 / 127))
    np.testing.assert_allclose(lowest + height * shades / 65535.0, heights, atol=height / 65535.0)
    x, y, z, location = numbers_of(text, "Unreal")
    # An Unreal landscape: centimetres are (shade − 32768) / 128 × scale, from where it is put
    np.testing.assert_allclose(location + (shades - 32768.0) / 128.0 * z, 100.0 * heights, atol=100 * height / 65535.0)
    assert (126 * x, 126 * y) == pytest.approx((100 * width, 100 * length))


def test_same_text_for_the_same_scale() -> None:
    landscape = landscape_of(small_scene())
    assert scale_text(Heights(landscape.world.ground, landscape.sheet)).count("\n") == 8


# Where it lies.


def model_with_holes(path: Path) -> Path:
    """A GeoTIFF in UTM, in cells of 20 m, with cells without data."""
    ground = (island(36, 48) + 12.0).astype(np.float32)
    ground[3:6, 10:14] = -32768.0
    return write_tiff(
        path, ground, scale=[20.0, 20.0, 0.0], tiepoint=[0, 0, 0, 5e5, 4e6, 0], geo_keys=UTM_17N, nodata="-32768"
    )


def test_place_and_nodata_of_a_model_come_through_simulation_and_saves(tmp_path: Path) -> None:
    model = model_with_holes(tmp_path / "model.tif")
    scene = open_scene(str(model)).with_value("pools.enabled", False)
    simulator = simulated(2, scene)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    assert world.cycle == 2
    (path,) = write(Landscape(world, scene), tmp_path, heights=("tif",))
    with rasterio.open(model) as before, rasterio.open(path) as after:
        assert after.crs == before.crs
        assert after.crs.to_epsg() == 32617
        assert after.bounds == before.bounds
        np.testing.assert_array_equal(after.read_masks(1), before.read_masks(1))
        known = after.read_masks(1) > 0
        assert np.count_nonzero(~known) == 12
        np.testing.assert_array_equal(after.read(1)[known], world.ground.astype(np.float32)[known])
        assert not np.array_equal(after.read(1)[known], before.read(1)[known])  # it was simulated


def test_place_of_a_model_is_kept_by_all_that_makes_a_world_anew(tmp_path: Path) -> None:
    world, scene = create_world(open_scene(str(model_with_holes(tmp_path / "model.tif"))))
    simulator = Simulator(scene, world)
    for same in (world.copy(), StoredWorld.of(simulator).simulator().world):
        assert same.origin is world.origin is not None
    fine = refined(world, 2, channels=False)
    assert fine.origin and fine.origin.georeference and fine.origin.unmapped is not None
    assert world.origin and world.origin.georeference
    np.testing.assert_allclose(
        fine.origin.georeference.to_model @ (96, 72, 1), world.origin.georeference.to_model @ (48, 36, 1)
    )
    assert np.count_nonzero(fine.origin.unmapped) == 48
    smaller, _ = create_world(scene.with_values({"world.columns": 24, "world.rows": 18}))
    assert smaller.origin and smaller.origin.georeference and smaller.origin.unmapped is not None
    np.testing.assert_allclose(
        smaller.origin.georeference.to_model @ (24, 18, 1), world.origin.georeference.to_model @ (48, 36, 1)
    )
    assert smaller.origin.unmapped.shape == (18, 24)
    # Stretched to another size, it lies nowhere on Earth
    larger, _ = create_world(scene.with_value("world.cell_size", 50.0))
    assert larger.origin and larger.origin.georeference is None


def test_made_world_lies_in_local_metres(tmp_path: Path) -> None:
    (path,) = write(landscape_of(small_scene(world__cell_size=7.5)), tmp_path, heights=("tif",))
    with rasterio.open(path) as file:
        assert file.bounds == (0.0, 0.0, 300.0, 240.0)
        assert file.crs.to_wkt().startswith('LOCAL_CS["Local metres",UNIT["metre",1')
        assert file.nodata is None


@contextmanager
def no_file_longer_than(length: int) -> Iterator[None]:
    """By the system, which refuses to write more bytes into any file."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the length of files as on Linux")
def test_what_cannot_be_written_to_its_end_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    """By whatever library: a file may not become longer than a limit, and all that is said is ours."""
    np.save(tmp_path / "land.npy", np.random.default_rng(1).uniform(0.0, 900.0, (120, 120)))
    words = ["export", str(tmp_path / "land.npy"), "--heights"]
    assert cli.main([*words, ",".join(HEIGHT_FORMATS), "--out", str(tmp_path / "whole")]) == 0
    for name in HEIGHT_FORMATS:
        capfd.readouterr()
        with subtests.test(name=name):
            assert (tmp_path / "whole" / f"ground.{name}").stat().st_size > 5000
            with no_file_longer_than(5000):
                assert cli.main([*words, name, "--out", str(tmp_path / "out")]) == 1
            said = capfd.readouterr().err
            lines = [line for line in said.splitlines() if line.strip() and "file/s" not in line]
            assert len(lines) == 1 and lines[0].startswith(f"thalweg: cannot write {tmp_path / 'out'}"), said
            assert not (tmp_path / "out").exists()


def test_geotiff_is_cloud_optimised_with_rasterio_and_the_same_without(tmp_path: Path) -> None:
    landscape = landscape_of(small_scene(world__columns=700, world__rows=600))
    (path,) = write(landscape, tmp_path, heights=("tif",))
    with rasterio.open(path) as file:
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert file.overviews(1) == [2]
        optimised, crs, bounds = file.read(1), file.crs, file.bounds
    with mock.patch.dict("sys.modules", {"rasterio": None, "rasterio.io": None, "rasterio.shutil": None}):
        (path,) = write(landscape, tmp_path, heights=("tif",))
    with rasterio.open(path) as file:
        assert "LAYOUT" not in file.tags(ns="IMAGE_STRUCTURE")
        np.testing.assert_array_equal(file.read(1), optimised)
        assert (file.crs, file.bounds) == (crs, bounds)


@pytest.mark.parametrize("kind", ["asc", "npz"])
def test_degrees_of_grids_and_archives_are_kept(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"model.{kind}"
    if kind == "asc":
        write_grid(path, "xllcorner 7, yllcorner 46, cellsize 0.001", island(20, 30))
    else:
        np.savez(path, elevation=island(20, 30), dx=0.001, dy=0.001, xmin=7.0, xmax=7.03, ymin=46.02, ymax=46.0)
    world, scene = create_world(open_scene(str(path)))
    assert world.shape != (20, 30)  # its cells are square
    (path,) = write(Landscape(world, scene), tmp_path, heights=("tif",))
    with rasterio.open(path) as file:
        assert file.crs.to_epsg() == 4326
        assert file.bounds == pytest.approx((7.0, 46.0, 7.03, 46.02))


@pytest.mark.parametrize(("cell", "squares"), [((0.002, 0.001), (32, 40)), ((0.001, 0.003), (96, 20))])
def test_grids_have_square_cells_and_say_what_their_coordinates_are(
    cell: tuple[float, float], squares: tuple[int, int], tmp_path: Path
) -> None:
    """ArcGIS reads no others. Of a plane nothing is lost."""
    (across, down), (rows, columns) = cell, (32, 20)
    row, column = np.mgrid[:rows, :columns] + 0.5
    to_model = np.array([[across, 0.0, 7.0], [0.0, -down, 46.0]])
    unmapped = np.zeros((rows, columns), bool)
    unmapped[0, :4] = True
    ground = 100.0 + 9.0 * column * across / 0.001 + 5.0 * row * down / 0.001
    world = World(ground, np.zeros_like(ground), 10.0, 1)
    world.origin = Origin(Georeference(to_model, WGS_84), unmapped)
    (path,) = write(Landscape(world, Scene()), tmp_path, heights=("asc",))
    assert "cellsize 0.001\n" in path.read_text() and "dx" not in path.read_text()
    with rasterio.open(path) as file:
        assert file.crs.is_geographic and "WGS_1984" in file.crs.wkt
        assert file.bounds == pytest.approx((7.0, 46.0 - down * rows, 7.0 + across * columns, 46.0))
        heights, there = file.read(1), file.read_masks(1) > 0
    assert heights.shape == squares
    down_at, across_at = np.mgrid[: squares[0], : squares[1]] + 0.5
    plane = 100.0 + 9.0 * across_at + 5.0 * down_at
    inside = np.s_[2:-2, 2:-2]  # beyond the middles of the outer cells it is even
    np.testing.assert_allclose(heights[inside][there[inside]], plane[inside][there[inside]], rtol=1e-6)
    assert np.count_nonzero(~there) == np.count_nonzero(unmapped) * heights.size // unmapped.size


def test_grids_have_the_projection_of_their_model_and_no_turned_rows(tmp_path: Path) -> None:
    heights = island(20, 30)
    write_tiff(
        tmp_path / "model.tif", heights, scale=[10.0, 10.0, 0.0], tiepoint=[0.0, 0.0, 0.0, 5e5, 4e6, 0.0],
        geo_keys=UTM_17N,
    )  # fmt: skip
    (path,) = write(landscape_of(open_scene(str(tmp_path / "model.tif"))), tmp_path, heights=("asc",))
    with rasterio.open(path) as file:
        assert file.crs.to_epsg() == 32617
        assert file.bounds == (5e5, 4e6 - 200.0, 5e5 + 300.0, 4e6)
    assert path.with_suffix(".prj").exists()
    made = World(heights, np.zeros_like(heights), 10.0, 1)
    assert write(Landscape(made, Scene()), tmp_path, heights=("asc",)) == [path]
    assert not path.with_suffix(".prj").exists(), "a land that was made lies nowhere"
    world = World(heights, np.zeros_like(heights), 10.0, 1)
    world.origin = Origin(Georeference(np.array([[7.0, 7.0, 0.0], [7.0, -7.0, 0.0]]), WGS_84))
    with pytest.raises(UserError, match="do not run from west to east"):
        write(Landscape(world, Scene()), tmp_path, heights=("asc",))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"to_model": [1, 2, 3], "keys": []}, "it must have 6 finite numbers"),
        ({"to_model": [1, 0, 0, 0, -1, 0], "keys": [[34735, [1, 1, 0]]]}, "a key 34735 that is none of GeoTIFF"),
        ({"to_model": [1, 0, 0, 0, -1, 0], "keys": [[34735, [1, 1, 0, 70000]]]}, "a key 34735 that is none of"),
        ({"to_model": [1, 0, 0, 0, -1, 0], "keys": [[34737, [1.0]]]}, "a key 34737 that is none of GeoTIFF"),
        ({"to_model": [1, 0, 0, 0, -1, 0], "keys": [[34736, "text"]]}, "a key 34736 that is none of GeoTIFF"),
        ({"to_model": [1, 0, 0, 0, -1, 0], "keys": [[271, "text"]]}, "a key 271 that is none of GeoTIFF"),
        ({"to_model": "here", "keys": []}, "'meta' is not what a saved world has"),
    ],
)
def test_place_in_a_file_that_is_none(place: dict[str, Any], message: str, tmp_path: Path) -> None:
    simulator = simulated(0)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    rewrite(tmp_path / "world.npz", change_meta(georeference=place))
    with pytest.raises(UserError, match=re.escape(message)):
        checkpoint.load(tmp_path / "world.npz")


def test_mask_in_a_file_that_is_none(tmp_path: Path) -> None:
    simulator = simulated(0)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)

    def spoil(arrays: dict[str, Any]) -> None:
        arrays["unmapped"] = np.zeros((3, 3), np.float32)

    rewrite(tmp_path / "world.npz", spoil)
    with pytest.raises(UserError, match="'unmapped' must be true or false in each cell; it is float32"):
        checkpoint.load(tmp_path / "world.npz")


# Failures.


def fails_to_encode(*arguments: Any, **named: Any) -> Any:
    raise RuntimeError("a codec\nfailed")


@pytest.mark.parametrize(("free", "says"), [(100, "no space is left there"), (10**9, "9 requested and 2 written")])
def test_a_library_that_does_not_know_of_a_full_disk(
    free: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(path: Path) -> str:
        raise OSError("9 requested and 2 written")

    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - free, free))
    with pytest.raises(UserError, match=f"cannot write {tmp_path / 'a.npy'}: {says}"):
        write_item(Item("a.npy", 1000.0, write), tmp_path / "a.npy")


@pytest.mark.parametrize("name", HEIGHT_FORMATS)
def test_full_disk_leaves_the_old_file(name: str, lakes: Landscape, tmp_path: Path) -> None:
    (item,) = plan(lakes, Wishes(heights=(name,)))
    keeps_the_old_file_on_a_full_disk(item, tmp_path / item.name)


@pytest.mark.parametrize(
    ("name", "target"),
    [("png", "imagecodecs.png_encode"), ("tif", "tifffile.imwrite"), ("exr", "OpenEXR.File"), ("npy", "numpy.save")],
)
def test_writer_that_fails_leaves_the_old_file(name: str, target: str, lakes: Landscape, tmp_path: Path) -> None:
    (item,) = plan(lakes, Wishes(heights=(name,)))
    path = tmp_path / item.name
    path.write_bytes(b"old")
    with mock.patch(target, fails_to_encode), pytest.raises(UserError) as error:
        write_item(item, path)
    assert str(error.value) == f"cannot write {path}: a codec failed"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    "wishes",
    [
        {"heights": ("npy",), "side": "4000"},
        {"maps": ("slope",), "side": "4000"},
        {"maps": ("all",), "map_format": "layered", "side": "2000"},
        {"pictures": ("relief",), "dpi": 500},
        {"meshes": ("ply",)},
    ],
)
def test_what_does_not_fit_into_memory_is_refused_before(
    wishes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    landscape = landscape_of(small_scene())
    assert plan(landscape, Wishes(**wishes))
    monkeypatch.setattr("app.export.plan.free_memory", lambda: 4e5 if "meshes" in wishes else 1e9)
    with pytest.raises(UserError, match=r"the export needs about [\d.]+ GB of memory; [\d.]+ are free; ask for fewer"):
        plan(landscape, Wishes(**wishes))


# The command.


def test_command_writes_one_file_or_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "noise", "--size", "40x32"]
    assert cli.main([*words, "--out", str(tmp_path / "land.r16"), "--side", "unreal"]) == 0
    assert "Unreal" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["land.r16", "land.r16.txt"]
    folder = tmp_path / "new" / "folder"
    assert cli.main([*words, "--cycles", "1", "--out", str(folder), "--heights", "npy,exr", "--surface", "rock"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["rock.exr", "rock.npy"]
    assert cli.main([*words, "--out", str(tmp_path / "usual")]) == 0
    assert sorted(path.name for path in (tmp_path / "usual").iterdir()) == [
        "ground.png",
        "ground.png.txt",
        "ground.tif",
    ]


def test_command_writes_levels_of_water_of_a_saved_world(lakes: Landscape, tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "world.npz", lakes.world, lakes.scene)
    assert (
        cli.main(["export", str(tmp_path / "world.npz"), "--out", str(tmp_path / "w.npy"), "--surface", "water"]) == 0
    )
    world = lakes.world.copy()
    derive_levels(world, lakes.scene.pools, lakes.scene.edges)
    np.testing.assert_array_equal(np.load(tmp_path / "w.npy"), Landscape(world, lakes.scene).water_surface)


def test_real_terrain(tmp_path: Path) -> None:
    assert cli.main(["export", "jacksboro", "--out", str(tmp_path / "jacksboro.tif")]) == 0
    with rasterio.open(tmp_path / "jacksboro.tif") as file:
        assert file.crs.to_epsg() == 4326
        assert file.bounds == pytest.approx((-84.41375, 36.44625, -84.07791667, 36.73291667))

"""What suits the land of a heightmap that was dropped: its exaggeration, its sea, its streams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
from rasterio.transform import from_origin

from app.cli.scenes import scene_of
from app.cli.table import find_command
from app.engine.creation import create_world
from app.files.opening import open_scene
from app.files.suiting import exaggeration_of, sea_of
from app.scene.scene import DEFAULT_PRESET, load_preset
from app.sources.heightmap import read_heightmap
from app.sources.heightmap.overview import Overview, overview_of, overview_of_file
from app.sources.heightmap.reading import open_model
from app.sources.part import Part
from app.sources.sea_floor import with_sea_floor

SIDE = 200
SLOPE = np.linspace(-40.0, 160.0, SIDE) + np.zeros((SIDE, 1))


def seen(heights: np.ndarray, cell: float = 30.0) -> Overview:  # type: ignore[type-arg]
    return Overview(heights.astype(float), np.zeros(heights.shape, bool), *heights.shape, cell, cell)


def write(
    path: Path,
    heights: np.ndarray,  # type: ignore[type-arg]
    *,
    cell: float = 30.0,
    corner: tuple[float, float] = (4e5, 5e6),
    **more: object,
) -> Path:
    profile = {"driver": "GTiff", "count": 1, "dtype": "float32", "crs": "EPSG:32632", **more}
    shape = {"width": heights.shape[1], "height": heights.shape[0]}
    with rasterio.open(path, "w", transform=from_origin(*corner, cell, cell), **profile, **shape) as file:
        file.write(heights.astype("f4"), 1)
    return path


@pytest.mark.parametrize(
    ("relief", "times"), [(6000.0 * 0.05, 1.0), (6000.0 * 0.02, 2.5), (6000.0 * 0.5, 1.0), (6.0, 6.0), (0.0, 1.0)]
)
def test_flat_land_is_exaggerated_and_steep_land_is_not(relief: float, times: float) -> None:
    heights = np.linspace(0.0, relief / 0.96, SIDE) + np.zeros((SIDE, 1))  # 96 % of it count
    assert exaggeration_of(seen(heights)) == times


def test_the_land_that_ships_is_seen_as_its_preset_has_it() -> None:
    land = overview_of_file(Path(__file__).parents[2] / "assets" / "terrain" / "jacksboro.npz")
    assert land is not None
    assert exaggeration_of(land) == load_preset(DEFAULT_PRESET).view.exaggeration


@pytest.mark.parametrize(
    ("heights", "kind"),
    [
        (np.maximum(SLOPE, 0.0), "level"),  # a sea without a floor
        (SLOPE, "deep"),  # and with one
        (SLOPE + 50.0, None),
        (SLOPE - 500.0, None),  # a basin below the sea, without a coast
        (np.where(np.hypot(*np.mgrid[-1:1:200j, -1:1:200j]) < 0.3, 0.0, 90.0), None),  # a hole is no sea
    ],
)
def test_the_sea_is_found(heights: np.ndarray, kind: str | None) -> None:  # type: ignore[type-arg]
    assert sea_of(seen(heights)) == kind


def test_a_coast_opens_with_a_sea_and_streams_by_its_size(tmp_path: Path) -> None:
    scene = open_scene(str(write(tmp_path / "coast.tif", np.maximum(SLOPE, 0.0))))
    assert (scene.edges.water, scene.edges.sea_level, scene.world.sea_floor) == ("sea", 0.0, 0.03)
    assert scene.view.exaggeration == 2.0
    assert scene.view.stream_threshold == round(SIDE * SIDE / 430)
    assert scene.pools.enabled
    world, _ = create_world(scene)
    assert world.shape == (SIDE, SIDE)
    shore = int(np.argmax(SLOPE[0] > 0.0))
    np.testing.assert_allclose(world.ground[:, :shore], -0.03 * 30.0 * np.arange(shore, 0, -1) + np.zeros((SIDE, 1)))
    np.testing.assert_allclose(world.ground[:, shore:], SLOPE[:, shore:], rtol=1e-6)


@pytest.mark.parametrize(("part", "made"), [("", 4 * SIDE), ("800x800+0+0", 2 * SIDE)])
def test_streams_are_those_of_the_land_that_is_made(part: str, made: int, tmp_path: Path) -> None:
    """A part is read in larger cells, where fewer are wanted, and a whole file that is a map is not."""
    path = write(tmp_path / "coast.tif", np.repeat(np.repeat(SLOPE, 4, axis=0), 4, axis=1))
    wanted = 2 * SIDE - 9
    assert read_heightmap(path, part=part, wanted=wanted).elevation.shape == (made, made)
    assert open_scene(str(path), part, wanted).view.stream_threshold == round(made * made / 430)


def test_a_part_has_what_suits_it(tmp_path: Path) -> None:
    path = write(tmp_path / "coast.tif", np.maximum(SLOPE, 0.0))
    inland = open_scene(str(path), "60x60+130+50")
    assert inland.world.part == "60x60+130+50"
    assert inland.edges.water == "open"
    assert open_scene(str(path), "60x60+0+50").edges.water == "sea"


def test_a_broken_file_is_left_to_its_reader(tmp_path: Path) -> None:
    path = write(tmp_path / "map.tif", SLOPE, compress="deflate")
    path.write_bytes(path.read_bytes()[:700])
    assert open_scene(str(path)).view.exaggeration == 1.0


@pytest.mark.parametrize(
    "words", [["--size", "100"], ["--set", "world.columns=100"], ["--size", "80", "--set", "world.rows=100"]]
)
def test_streams_suit_as_many_cells_as_are_asked_for(words: list[str], tmp_path: Path) -> None:
    """By either option; --set counts, as it does for the land."""
    path = write(tmp_path / "map.tif", np.tile(SLOPE + 50.0, (2, 2)), crs="EPSG:4326", cell=0.005, corner=(10.0, 61.0))
    scene = scene_of(find_command("simulate")[1].parse_args([str(path), *words]))
    assert scene.view.stream_threshold == open_scene(str(path), None, 100).view.stream_threshold
    assert scene.view.stream_threshold != open_scene(str(path)).view.stream_threshold


def test_overviews_in_the_file_are_taken(tmp_path: Path) -> None:
    path = write(
        tmp_path / "map.tif", np.repeat(np.repeat(SLOPE, 8, axis=0), 8, axis=1), tiled=True, compress="deflate"
    )
    with rasterio.open(path, "r+") as file:
        file.build_overviews([2, 4], rasterio.enums.Resampling.average)
    model = open_model(path)
    assert model is not None
    assert [(other.rows, other.columns) for other in model.smaller] == [(800, 800), (400, 400)]
    land = overview_of(model)
    assert land.heights.shape == (400, 400)
    np.testing.assert_allclose(land.heights, np.repeat(np.repeat(SLOPE, 2, axis=0), 2, axis=1), atol=1e-4)
    part = overview_of(model, Part(800, 0, 800, 1600))
    assert (part.rows, part.columns) == (800, 1600)
    np.testing.assert_allclose(part.heights, land.heights[200:], atol=1e-4)
    cut = land.part(Part(800, 0, 800, 1600))
    np.testing.assert_array_equal(cut.heights, land.heights[200:])


def test_only_a_level_sea_at_the_edge_gets_a_floor() -> None:
    pond = np.full((40, 50), 7.0)
    pond[10:20, 10:20] = 0.0
    assert with_sea_floor(pond, 30.0, 0.03) is pond
    coast = np.maximum(np.arange(-30.0, 20.0) + np.zeros((40, 1)), 0.0)
    coast[5, 3] = -4.0  # a measured depth stays
    floored = with_sea_floor(coast, 30.0, 0.03)
    assert floored[5, 3] == -4.0
    assert (np.diff(floored[20]) > 0.0).all()
    assert with_sea_floor(coast, 3000.0, 0.5)[20, 0] == -200.0


def test_a_large_sea_falls_as_a_small_one() -> None:
    wide = np.maximum(np.arange(-1500.0, 1500.0) + np.zeros((16, 1)), 0.0)
    floored = with_sea_floor(wide, 10.0, 0.01)
    np.testing.assert_allclose(floored[:, :1480], -0.1 * np.arange(1501.0, 21.0, -1.0) + np.zeros((16, 1)), atol=0.4)
    assert (floored[:, :1501] < 0.0).all()

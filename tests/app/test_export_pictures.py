"""Printed maps: their size on paper, and that what they show lies where it is."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.cli import main as cli
from app.export.landscape import Landscape
from app.export.pictures import PAPERS, PICTURE_FORMATS, PICTURES, Page, contour_step, draw_page, page_of
from app.export.plan import plan
from app.export.wishes import Wishes
from app.model.errors import UserError
from app.model.world import World
from app.scene.scene import Scene
from kernels.standing import LAKE
from tests.app.full_disk import keeps_the_old_file_on_a_full_disk
from tests.app.small import small_scene
from tests.app.test_export import landscape_of, write
from tests.nets.cases import covered

pytestmark = pytest.mark.slow  # pictures are drawn

DPI = 60


def cone(rows: int = 60, columns: int = 90) -> Landscape:
    """A hill of 100 m in the middle, on cells of 10 m."""
    south, east = np.meshgrid(np.arange(rows) + 0.5 - rows / 2, np.arange(columns) + 0.5 - columns / 2, indexing="ij")
    ground = np.maximum(100.0 - 4.0 * np.hypot(south, east), 0.0)
    return Landscape(World(ground, np.zeros_like(ground), 10.0, 1), Scene())


def map_of(landscape: Landscape, name: str, dpi: int = DPI) -> tuple[Page, NDArray[np.uint8]]:
    """The pixels of the map alone."""
    page = page_of(landscape, "a4", dpi)
    image = np.asarray(draw_page(landscape, page, PICTURES[name]))
    return page, image[page.top : page.top + page.map_height, page.left : page.left + page.map_width]


def brown(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where a line of equal height is."""
    red, _, blue = np.moveaxis(pixels.astype(int), -1, 0)
    return np.asarray(red - blue > 20)


@covered(paper=list(PAPERS), kind=list(PICTURE_FORMATS), size=[(60, 90), (90, 60)])
def test_pages_have_the_size_of_the_paper(paper: str, kind: str, size: tuple[int, int], tmp_path: Path) -> None:
    (path,) = write(cone(*size), tmp_path, pictures=("relief",), picture_format=kind, paper=paper, dpi=36)
    rows, columns = size
    millimetres = sorted(PAPERS[paper], reverse=columns > rows)
    if kind == "png":
        with Image.open(path) as image:
            found = [25.4 * side / dpi for side, dpi in zip(image.size, image.info["dpi"], strict=True)]
    else:
        content = path.read_bytes()
        assert content.startswith(b"%PDF-")
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
        assert box
        found = [25.4 * float(side) / 72.0 for side in box.groups()]
    assert found == pytest.approx(millimetres, abs=0.8)


def test_contours_lie_at_their_heights() -> None:
    page, pixels = map_of(cone(), "contours", 150)
    middle = brown(pixels[page.map_height // 2])
    crossed = np.flatnonzero(middle[1:] & ~middle[:-1])
    step = contour_step(100.0)
    assert step == 5.0
    # From west to east over the hill: up and down again, each line twice; the foot is level and has none
    assert len(crossed) == pytest.approx(2 * (100.0 / step - 1), abs=2)
    per_cell = page.map_width / 90
    distances = np.abs(crossed + 1 - page.map_width / 2) / per_cell
    heights = 100.0 - 4.0 * distances
    heights = heights[heights > 0.5 * step]  # the foot is level, and itself a line
    assert np.abs(heights / step - np.rint(heights / step)).max() * step < 4.0 * 2.0 / per_cell
    assert not brown(pixels[: page.map_height // 20]).any()


def test_level_land_has_no_contours() -> None:
    for height in (0.0, 20.0):
        level = Landscape(World(np.full((30, 40), height), np.zeros((30, 40)), 10.0, 1), Scene())
        assert not brown(map_of(level, "contours")[1]).any()


@pytest.mark.parametrize(("relief", "step"), [(0.0, 5e-5), (24.0, 1.0), (25.0, 2.0), (100.0, 5.0), (2000.0, 100.0)])
def test_steps_between_contours_are_round(relief: float, step: float) -> None:
    assert contour_step(relief) == pytest.approx(step)


def test_light_comes_from_the_north_west() -> None:
    _, pixels = map_of(cone(), "map")
    rows, columns, _ = pixels.shape
    light = pixels.astype(int).sum(axis=-1)
    near = rows // 8
    middle = rows // 2, columns // 2
    assert light[middle[0] - near, middle[1] - near] > light[middle[0] + near, middle[1] + near] + 60


def test_water_is_drawn_to_its_shore() -> None:
    landscape = cone()
    world = landscape.world
    world.standing[world.ground < 40.0] = LAKE
    world.water_level[world.ground < 40.0] = 40.0
    for name in ("relief", "map"):
        page, pixels = map_of(landscape, name, 120)
        red, _, blue = np.moveaxis(pixels.astype(int), -1, 0)
        per_cell = page.map_width / 90
        dry = (red > blue - 25).sum() / per_cell**2  # cells
        assert dry == pytest.approx(math.pi * 15.0**2, rel=0.06), name


def test_overlay_of_the_view_with_its_legend() -> None:
    landscape = cone()
    for name in ("slope", "sediment", "elevation"):
        scene = landscape.scene.with_value("view.overlay", name)
        _, pixels = map_of(Landscape(landscape.world, scene), "map")
        assert pixels.std() > 3.0
    steep = Landscape(landscape.world, landscape.scene.with_value("view.overlay", "slope"))
    _, pixels = map_of(steep, "map")
    rows, columns, _ = pixels.shape
    flat, slope = pixels[2, 2].astype(int), pixels[rows // 2, columns // 2 - rows // 6].astype(int)
    assert np.abs(flat - slope).max() > 60
    page = page_of(steep, "a4", DPI)
    image = np.asarray(draw_page(steep, page, PICTURES["map"]))
    below = image[page.top + page.map_height + 2 :]
    assert (below < 120).any() and (below[..., 0].astype(int) - below[..., 2] > 60).any()  # letters, and a palette


def test_maps_that_cannot_be_printed() -> None:
    with pytest.raises(UserError, match=r"view.overlay = wind: it is drawn in the window alone"):
        plan(Landscape(cone().world, Scene().with_value("view.overlay", "wind")), Wishes(pictures=("map",)))


@pytest.mark.parametrize("size", [(8, 9), (8, 200), (200, 8)])
def test_tiny_and_long_land(size: tuple[int, int], tmp_path: Path) -> None:
    rows, columns = size
    landscape = landscape_of(small_scene(world__rows=rows, world__columns=columns))
    assert len(write(landscape, tmp_path, pictures=tuple(PICTURES), dpi=40)) == 3


@pytest.mark.parametrize("kind", PICTURE_FORMATS)
def test_full_disk_leaves_the_old_picture(kind: str, tmp_path: Path) -> None:
    (item,) = plan(cone(), Wishes(pictures=("relief",), picture_format=kind, dpi=40))
    keeps_the_old_file_on_a_full_disk(item, tmp_path / item.name)


def test_command_prints_one_map_or_several(tmp_path: Path) -> None:
    words = ["export", "noise", "--size", "40x32", "--dpi", "40"]
    assert cli.main([*words, "--out", str(tmp_path / "c.pdf"), "--pictures", "contours"]) == 0
    content = (tmp_path / "c.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert re.search(rb"/Title \(\xfe\xff\x00c\)", content), "its title is its name"
    assert cli.main([*words, "--out", str(tmp_path / "all"), "--pictures", "relief,contours,map"]) == 0
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["contours.png", "map.png", "relief.png"]

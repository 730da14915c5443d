"""Rivers as lines, the catchment of a place and the way of its water, on the ground and on the minimap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.overlays import overlay_ends, overlay_range
from app.model.snapshot import FlowPath, Snapshot, Survey
from app.picture.camera import Camera
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import flat, snapshot, with_layers

ROWS, COLUMNS, CELL = 40, 60, 10.0
EAST, SOUTH_EAST, END = 2, 7, 8

RIVERS = Scene().with_value("view.overlay", "rivers").with_value("view.overlay_opacity", 1.0)


def top_view(across: float = ROWS * CELL, row: float = ROWS / 2, column: float = COLUMNS / 2) -> Camera:
    """Straight down, north up, so that the picture is `across` metres high, in its middle a place of the map."""
    distance = 20.0 * across
    field = 2.0 * np.degrees(np.arctan(0.5 / 20.0))
    return Camera(glm.vec3(column * CELL, 0.0, row * CELL), 0.0, 90.0, distance, float(field))


def surveyed(layers: dict[str, NDArray[np.float32]], flow_path: bool = False, **kept: int) -> Snapshot:
    """Flat ground with the layers of a survey."""
    start = snapshot(flat(ROWS, COLUMNS), cell_size=CELL)
    line = np.zeros(2, np.float32)
    places = np.zeros((1, 2), np.intp)
    way = (
        FlowPath((0, 0), 0, 0, ROWS * COLUMNS * CELL**2, 10.0, 1.0, places, line, line, line, np.zeros(2))
        if flow_path
        else None
    )
    survey = Survey(0, layers, dict.fromkeys(layers, 1), flow_path=way, **kept)
    return replace(start, layers=start.layers | survey.layers, versions=start.versions | survey.versions, survey=survey)


def blank() -> NDArray[np.float32]:
    return np.zeros((ROWS, COLUMNS), np.float32)


def changed(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.abs(one.astype(int) - other).max(axis=2) > 24


def river_layers(order: int) -> dict[str, NDArray[np.float32]]:
    """East along row 20, then on to the south-east."""
    rivers = blank()
    rivers[20, 10:30] = 16 * order + EAST
    rivers[np.arange(20, 30), np.arange(30, 40)] = 16 * order + SOUTH_EAST
    rivers[30, 40] = 16 * order + END
    return {"rivers": rivers, "lake_depth": blank()}


@pytest.mark.parametrize("order", [1, 4])
def test_a_river_is_one_line_without_gaps_that_grows_with_its_order(draw: Draw, order: int) -> None:
    size = (600, 400)  # ten pixels to a cell
    none = draw(surveyed({"rivers": blank(), "lake_depth": blank()}), top_view(), RIVERS, size=size)
    seen = changed(draw(surveyed(river_layers(order)), top_view(), RIVERS, size=size), none)
    straight = seen[:, 110:300].sum(axis=0)
    width = 2.0 * (0.07 + 0.07 * order) * 10.0
    assert abs(straight.mean() - width) < 2.5  # drawn at two thirds of the size
    assert straight.min() > 0
    for column in range(110, 300):
        rows = np.flatnonzero(seen[:, column])
        assert abs(rows.mean() - 204.5) < 1.0  # the middle of row 20
        assert np.array_equal(rows, np.arange(rows[0], rows[-1] + 1))
    for step in range(100):
        assert seen[205 + step, 305 + step]
    assert not seen[:, :95].any()
    assert not seen[330:].any()


def test_rivers_stay_connected_from_far_away(draw: Draw) -> None:
    size = (120, 80)  # two pixels to a cell
    none = draw(surveyed({"rivers": blank(), "lake_depth": blank()}), top_view(), RIVERS, size=size)
    far = np.abs(draw(surveyed(river_layers(2)), top_view(), RIVERS, size=size).astype(int) - none).max(axis=2) > 8
    assert (far[:, 22:80].sum(axis=0) > 0).all()


def test_lakes_are_water_on_the_map_of_rivers(draw: Draw) -> None:
    layers = {"rivers": blank(), "lake_depth": blank()}
    dry = draw(surveyed(layers), top_view(), RIVERS, size=(600, 400))
    layers["lake_depth"] = blank()
    layers["lake_depth"][10:20, 10:25] = 3.0
    wet = draw(surveyed(layers), top_view(), RIVERS, size=(600, 400))
    seen = changed(wet, dry)
    assert seen[105:195, 105:245].all()
    assert not seen[:85].any()
    lake = wet[150, 180].astype(int)
    assert lake[2] > lake[0] + 30


def test_rivers_that_are_found_later_in_a_cycle_are_drawn(draw: Draw) -> None:
    found = surveyed(river_layers(4))
    waiting = replace(surveyed({}), world=found.world, survey=None)
    known, before = draw(found, top_view(), RIVERS), draw(waiting, top_view(), RIVERS)
    assert changed(known, before).any()
    np.testing.assert_array_equal(draw(found, top_view(), RIVERS), known)


def test_watersheds_have_sharp_borders_and_no_colours_between(draw: Draw) -> None:
    numbers = blank()
    numbers[:, :30], numbers[:, 30:] = 3.0, 90.0
    scene = RIVERS.with_value("view.overlay", "watersheds")
    pixels = draw(surveyed({"watersheds": numbers}), top_view(), scene, size=(600, 400))
    row = pixels[200].astype(int)
    west, east = row[60:290].mean(axis=0), row[310:540].mean(axis=0)
    assert np.abs(west - east).max() > 40
    near = np.minimum(np.abs(row[280:320] - west).max(axis=1), np.abs(row[280:320] - east).max(axis=1))
    assert (near < 25).sum() >= 28


def test_the_catchment_lights_up_with_any_overlay_and_without(draw: Draw) -> None:
    inside = blank()
    inside[10:30, 15:45] = 1.0
    line = blank()
    line[20, 20:50] = 16 + EAST
    for name in ("none", "slope", "rivers"):
        scene = RIVERS.with_value("view.overlay", name).with_value("view.overlay_opacity", 0.4)
        plain = draw(surveyed({}), top_view(), scene, size=(600, 400)).astype(int)
        lit = draw(
            surveyed({"catchment": inside, "flow_path": line}, flow_path=True), top_view(), scene, size=(600, 400)
        )
        brighter = lit.astype(int).sum(axis=2) - plain.sum(axis=2)
        assert np.median(brighter[120:190, 170:430]) > 20
        assert np.median(brighter[310:390, 20:580]) < -60
        water = lit[200:210, 260:440].astype(int).sum(axis=2) - lit[230:240, 260:440].astype(int).sum(axis=2)
        assert water.max(axis=0).min() > 100, name
        border = lit[95:106, 200:400].astype(int)
        assert (border[..., 0] - border[..., 2]).max(axis=0).min() > 35  # golden


def test_the_way_of_the_water_lies_on_lakes(draw: Draw) -> None:
    """Seen from the side it is where it would be on land as high as the water, and nowhere else: not on the bed."""
    line, deep = blank(), 90.0
    sharp = Scene().with_value("view.quality", "high")  # lower levels enlarge edges, brighter ones on dark water more
    line[20, 12:48] = 16 + EAST
    aside = replace(top_view(), heading=20.0, pitch=28.0)
    masks = []
    for depth in (0.0, deep):
        pictures = []
        for flow_path in (False, True):
            shown = surveyed({"catchment": blank() + 1.0, "flow_path": line if flow_path else blank()}, flow_path=True)
            ground = shown.layers["bedrock"] + np.float32(deep - depth)
            layers = {
                "bedrock": ground,
                "water": blank() + np.float32(depth),
                "water_level": ground + np.float32(depth),
            }
            versions = dict.fromkeys(layers, 2)
            shown = replace(shown, lowest=deep - depth, highest=deep - depth + 1.0)
            shown = replace(shown, layers=shown.layers | layers, versions=shown.versions | versions)
            pictures.append(draw(shown, aside, sharp, size=(600, 400)))
        masks.append(changed(*pictures))
        assert pictures[1][masks[-1]].min(axis=1).mean() > 150  # as white as on land
    on_land, on_water = masks
    assert on_land.sum() > 300
    assert (on_land & on_water).sum() > 0.75 * (on_land | on_water).sum()


def test_the_way_of_the_water_is_seen_through_lakes(draw: Draw) -> None:
    line = blank()
    line[20, 5:55] = 16 + EAST
    pixels = []
    for flow_path in (False, True):
        shown = surveyed({"catchment": blank() + 1.0, "flow_path": line} if flow_path else {}, flow_path=flow_path)
        lake = {"water": blank() + 6.0, "water_level": shown.layers["bedrock"] + 6.0}
        shown = replace(shown, layers=shown.layers | lake, versions=shown.versions | dict.fromkeys(lake, 1))
        pixels.append(draw(shown, top_view(), Scene(), size=(600, 400)).astype(int).sum(axis=2))
    lake_alone, with_line = pixels
    brighter = with_line - lake_alone
    assert (brighter[195:215, 100:500].max(axis=0) > 120).all()
    assert np.abs(brighter[230:380, 100:500]).mean() < 60


def test_far_away_no_place_is_taken_for_the_border(draw: Draw) -> None:
    inside = blank()
    inside[18:22, 28:32] = 1.0
    shown = surveyed({"catchment": inside, "flow_path": blank()}, flow_path=True)
    pixels = draw(shown, top_view(40.0 * ROWS * CELL), Scene(), size=(600, 400)).astype(int)
    golden = pixels[..., 0] - pixels[..., 2] > 60
    assert golden.sum() < 30


def test_the_minimap_shows_them_too(draw: Draw, picture: Picture) -> None:
    away = Camera(glm.vec3(-9e4, 0.0, -9e4), 0.0, 30.0, 500.0)
    inside = blank()
    inside[:, 30:] = 1.0
    layers = {**river_layers(4), "catchment": inside, "flow_path": blank()}
    none = {"rivers": blank(), "lake_depth": blank()}
    with_flow_path = draw(surveyed(layers, flow_path=True), away, RIVERS, size=(800, 600), minimap=True)
    with_rivers = draw(surveyed(river_layers(4)), away, RIVERS, size=(800, 600), minimap=True)
    plain = draw(surveyed(none), away, RIVERS, size=(800, 600), minimap=True)
    left, top, width, height = picture.minimap_rectangle(800, 600)

    def at(pixels: NDArray[np.uint8], row: float, column: float) -> NDArray[np.int64]:
        y, x = int(top + (row + 0.5) / ROWS * height), int(left + (column + 0.5) / COLUMNS * width)
        return pixels[y - 1 : y + 2, x - 1 : x + 2].astype(int)

    assert np.abs(at(with_rivers, 20, 20) - at(plain, 20, 20)).max() > 25
    assert np.abs(at(with_rivers, 10, 20) - at(plain, 10, 20)).max() == 0
    assert at(with_flow_path, 5, 50).sum() > at(with_rivers, 5, 50).sum()
    assert at(with_flow_path, 5, 10).sum() < at(with_rivers, 5, 10).sum()


@pytest.mark.parametrize("overlay", ["none", "rivers"])
def test_on_the_minimap_the_way_lies_on_lakes(draw: Draw, picture: Picture, overlay: str) -> None:
    away = Camera(glm.vec3(-9e4, 0.0, -9e4), 0.0, 30.0, 500.0)
    scene = RIVERS.with_value("view.overlay", overlay).with_value("waves.enabled", False)
    lake = blank()
    lake[:, 10:50] = 30.0
    way = blank()
    way[20, 5:55] = 16 + EAST
    layers = {**river_layers(1), "catchment": blank() + 1.0, "flow_path": way, "water": lake, "water_level": lake}
    layers["rivers"] = blank()
    there = draw(surveyed(layers, flow_path=True), away, scene, size=(800, 600), minimap=True)
    missing = draw(
        surveyed({**layers, "flow_path": blank()}, flow_path=True), away, scene, size=(800, 600), minimap=True
    )
    left, top, width, height = picture.minimap_rectangle(800, 600)
    y = int(top + 20.5 / ROWS * height)
    for column in (7, 15, 30, 45, 53):
        x = int(left + (column + 0.5) / COLUMNS * width)
        brighter = there[y - 1 : y + 2, x].astype(int) - missing[y - 1 : y + 2, x]
        assert brighter.max() > 40, f"column {column}"


def test_where_the_fronts_have_gone_by_the_picture_is_that_without_an_overlay(draw: Draw) -> None:
    shown = with_layers(
        surveyed({"filling": blank() + 1.0}), surveyed_flow=blank() + 200.0 * (np.arange(COLUMNS) == COLUMNS // 2)
    )
    pictures = [
        draw(shown, top_view(), RIVERS.with_value("view.overlay", overlay), size=(300, 200)).astype(int)
        for overlay in ("filling", "none")
    ]
    assert np.abs(pictures[0] - pictures[1]).max() <= 2, "steps of the palette"


def test_filling_darkens_what_the_fronts_have_not_reached(draw: Draw) -> None:
    filling = blank()
    filling[:, 30:] = 1.0
    filling[10:30, 40:50] = 2.0
    scene = RIVERS.with_value("view.overlay", "filling")
    pixels = draw(surveyed({"filling": filling}), top_view(), scene, size=(600, 400)).astype(int)
    unknown, known, raised = pixels[350, 100], pixels[350, 500], pixels[200, 450]
    assert unknown.sum() < known.sum() - 70
    assert raised[2] > raised[0] + 40


def test_what_the_legend_says() -> None:
    shown = surveyed(
        {
            "accumulation": np.full((ROWS, COLUMNS), 4.0, np.float32),
            "distance": np.full((ROWS, COLUMNS), 7.3, np.float32),
        },
        highest_order=7,
        watershed_count=12,
        fronts=31,
    )
    assert overlay_ends("accumulation", shown) == ("0.0001 km²", "4 km²")
    assert overlay_ends("distance", shown) == ("0 km", "8 km")
    assert overlay_range("rivers", shown) == (1.0, 7.0)
    assert overlay_ends("watersheds", shown) == ("", "12 in all")
    assert overlay_ends("filling", shown) == ("", "round 31")
    assert overlay_ends("elevation", shown)[0] == "0 m"
    assert overlay_ends("elevation", replace(shown, lowest=-1234567.0, highest=2345.4)) == ("-1 234 567 m", "2 345 m")

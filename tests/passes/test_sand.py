"""Dry sand in the picture: ripples across the wind, sand that drifts with it, and the minimap of wind and sand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm
from scipy.ndimage import uniform_filter

from app.model.materials import Material
from app.model.snapshot import Snapshot
from app.model.traits import read_settings
from app.picture.camera import Camera
from app.picture.passes.cover import CYCLES_OF_MEAN
from app.picture.picture import Picture
from app.scene.scene import Scene
from kernels import wind
from tests.passes.conftest import Draw
from tests.passes.worlds import flat, materials, plane, snapshot, with_layers, with_materials, with_water

CELL = 10.0


def sand(*, airborne: float = 0.0, wind_path: float = 0.0) -> Snapshot:
    """A level sheet of sand, 64 by 64 cells."""
    made = snapshot(flat(64, 64), 20.0, cell_size=CELL)
    traces = {"airborne": flat(64, 64, airborne), "wind_path": flat(64, 64, wind_path)}
    return replace(made, layers={**made.layers, **traces}, versions=dict.fromkeys((*made.layers, *traces), 0))


def desert(wind: float = 270.0, **view: float | str) -> Scene:
    scene = Scene().with_value("climate.wind_direction", wind).with_value("view.desert", 1.0)
    for name, value in view.items():
        scene = scene.with_value(f"view.{name}", value)
    return scene


def from_above(cells: float) -> Camera:
    """North up, with so many cells from the top of the picture to its bottom."""
    middle = glm.vec3(32.0 * CELL, 20.0, 32.0 * CELL)
    distance = cells * CELL / 2.0 / np.tan(np.radians(16.0))
    return Camera(middle, heading=0.0, pitch=90.0, distance=float(distance), field_of_view=32.0)


def change(pixels: NDArray[np.uint8]) -> tuple[float, float]:
    """How much the picture changes from pixel to pixel, from left to right and from top to bottom."""
    brightness = pixels.astype(float).mean(axis=2)
    return float(np.abs(np.diff(brightness, axis=1)).mean()), float(np.abs(np.diff(brightness, axis=0)).mean())


@pytest.mark.parametrize("wind", [0.0, 90.0, 180.0, 270.0])
def test_ripples_lie_across_the_wind(draw: Draw, wind: float) -> None:
    # The sun shines along the wind, so that the ripples' flanks are light and dark.
    pixels = draw(sand(), scene=desert(wind, sun_direction=wind), camera=from_above(4.0), size=(160, 160))
    across_columns, across_rows = change(pixels)
    along, across = (across_columns, across_rows) if wind in (90.0, 270.0) else (across_rows, across_columns)
    assert along > 2.0 * across


def test_ripples_fade_before_they_are_finer_than_a_pixel(draw: Draw) -> None:
    near = draw(sand(), scene=desert(), camera=from_above(4.0), size=(160, 160))
    far = draw(sand(), scene=desert(), camera=from_above(60.0), size=(160, 160))
    assert far.mean(axis=2).std() < 0.4 * near.mean(axis=2).std()


def test_there_are_no_pits_between_ripples_that_are_too_fine_to_be_seen(draw: Draw) -> None:
    """Where crests bend and fork they are not seen from farther away than elsewhere."""
    scene = desert(sun_direction=270.0, sun_height=12.0)
    level, blown = (
        draw(sand(), scene=scene.with_value("view.desert", amount), camera=from_above(10.0), size=(160, 160))
        for amount in (0.0, 1.0)
    )
    assert change(blown)[0] < 0.9 * change(level)[0]


@pytest.mark.parametrize("sun_height", [3.0, 6.0, 30.0])
def test_ripples_are_as_bright_from_afar(draw: Draw, picture: Picture, sun_height: float) -> None:
    """At a low sun only their sunny sides are lit. Those finer than a pixel still are."""
    scene = desert(sun_direction=270.0, sun_height=sun_height, haze=0.0)
    seen = []
    for cells in (8.0, 16.0, 40.0):
        draw(sand(), scene=scene, camera=from_above(cells), size=(320, 320))
        assert picture.frame is not None
        linear = np.frombuffer(picture.frame.scene.read(components=3, dtype="f4"), np.float32)
        seen.append(float(linear.reshape(-1, 3)[:, 0].mean(dtype=np.float64)))
    np.testing.assert_allclose(seen, seen[0], rtol=0.06)


def dune(*, lee: float = 0.6, furrows: float = 0.0, airborne: float = 0.0) -> Snapshot:
    """Sand that rises gently with a wind from the west and falls behind a brink in the middle, as steeply as `lee`.

    Furrows along the wind are four cells apart and some centimetres deep for each metre of a cell.
    """
    column, row = np.arange(64), np.arange(64)
    heights = np.where(column < 32, 0.15 * column, 0.15 * 32 - lee * (column - 32)) * CELL + 300.0
    across = furrows * CELL * np.cos(0.5 * np.pi * row)
    made = snapshot(heights[None, :] + across[:, None], 20.0, cell_size=CELL)
    layers = {**made.layers, "airborne": flat(64, 64, airborne)}
    return replace(made, layers=layers, versions=dict.fromkeys(layers, 0))


def on_slip_face(cells: float) -> Camera:
    """From above, with so many cells of the slip face behind the brink from the top of the picture to its bottom."""
    return replace(from_above(cells), target=glm.vec3(44.0 * CELL, 300.0, 32.0 * CELL))


@pytest.mark.parametrize("wind", [270.0, 315.0])
def test_furrows_of_the_wind_do_not_comb_slip_faces(draw: Draw, wind: float) -> None:
    """Sand that slides has none: little of them is seen, and much on rock of the same form."""
    scene = desert(wind, sun_direction=180.0, sun_height=30.0, quality="high", fine_relief=0.0, greenness=0.0)

    def stripes(shown: Snapshot) -> float:
        pixels = draw(shown, scene=scene, camera=on_slip_face(12.0), size=(240, 240)).astype(float)
        return float(pixels.mean(axis=(1, 2)).std())

    def bare(shown: Snapshot) -> Snapshot:
        ground = shown.layers["bedrock"] + shown.layers["sediment"]
        return replace(shown, layers={**shown.layers, "bedrock": ground, "sediment": flat(64, 64)})

    sandy = stripes(dune(furrows=0.04)) - stripes(dune())
    rocky = stripes(bare(dune(furrows=0.04))) - stripes(bare(dune()))
    assert sandy < 0.3 * rocky


def test_no_ripples_lie_in_the_lee_of_a_brink(draw: Draw) -> None:
    """Also where it is less steep than sand slides: no wind draws any there."""
    scene = desert(sun_direction=270.0, sun_height=45.0, quality="high", fine_relief=0.0)

    def ripples(east: float) -> float:
        camera = replace(from_above(6.0), target=glm.vec3(east * CELL, 330.0, 32.0 * CELL))
        pixels = draw(dune(lee=0.32), scene=scene, camera=camera, size=(240, 240)).astype(float).mean(axis=2)
        return float(np.abs(np.diff(uniform_filter(pixels, 5), axis=1)).mean())

    assert ripples(44.0) < 0.4 * ripples(20.0)


def test_sand_in_the_air_falls_down_past_a_brink(draw: Draw) -> None:
    """Streamers do not comb the shade of a slip face, but drift over the windward side."""
    camera = from_above(56.0)
    still, drifting = (
        draw(dune(airborne=0.2), scene=desert(drifting_sand=amount, sun_direction=250.0), camera=camera).astype(int)
        for amount in (0.0, 1.0)
    )
    seen = np.abs(drifting - still).mean(axis=(0, 2))
    middle = len(seen) // 2
    assert seen[:middle].mean() > 1.2
    assert seen[middle + 20 :].max() < 0.1 * seen[:middle].mean()


def test_a_brink_is_sharp(draw: Draw) -> None:
    """Sand that rises gently with the wind and falls at its angle of repose: their edge is narrower than a cell."""
    made = dune()
    scene = desert(sun_direction=270.0, sun_height=45.0, quality="high", fine_relief=0.0)
    camera = replace(from_above(10.0), target=glm.vec3(32.5 * CELL, 360.0, 32.0 * CELL))
    across = draw(made, scene=scene, camera=camera, size=(320, 320)).astype(float).mean(axis=(0, 2))
    smooth = np.convolve(across, np.ones(5) / 5.0, "same")[10:-10]
    brink, cell = len(smooth) // 2, 32
    light, dark = smooth[brink - 2 * cell : brink - cell].mean(), smooth[brink + cell : brink + 2 * cell].mean()
    beside = smooth[brink - cell : brink + cell]  # farther up the wind there are troughs of ripples
    between = (beside < light - 0.2 * (light - dark)) & (beside > dark + 0.2 * (light - dark))
    assert between.sum() / cell < 0.8, "cells"


def test_a_brink_aslant_to_the_wind_is_sharp(draw: Draw) -> None:
    """Before it the windward side is as bright as farther up the wind: no band of the map's round back shows."""
    east, south = np.meshgrid(np.arange(64), np.arange(64))
    past = (0.5 * (east - 32.0) + 0.866 * (south - 32.0)) * CELL
    ground = np.where(past < 0.0, 0.15 * past, -0.6 * past) + 400.0
    layers = {"airborne": flat(64, 64), "wind_path": flat(64, 64)}
    made = snapshot(ground, 20.0, cell_size=CELL)
    made = replace(made, layers={**made.layers, **layers}, versions=dict.fromkeys((*made.layers, *layers), 0))
    camera = replace(from_above(16.0), target=glm.vec3(32.0 * CELL, 400.0, 32.0 * CELL))
    scene = desert(sun_direction=330.0, sun_height=20.0, quality="high", greenness=0.0)
    pixels = draw(made, scene=scene, camera=camera, size=(320, 320)).astype(float).mean(axis=2)
    rows, columns = np.mgrid[:320, :320]
    away = (0.5 * (columns - 159.5) + 0.866 * (rows - 159.5)) / 20.0  # cells past the brink, but for half a cell
    beside, before = (float(pixels[(away > a) & (away < b)].mean()) for a, b in ((-0.5, 0.3), (-5.0, -3.0)))
    assert beside == pytest.approx(before, rel=0.03)


def test_ripples_are_seen_below_a_high_sun(draw: Draw) -> None:
    """Grains of their crests and troughs differ in tone, so that not only light and shade tell of them."""
    pixels = draw(sand(), scene=desert(sun_height=89.0, quality="high"), camera=from_above(4.0), size=(160, 160))
    along, across = change(pixels)
    assert along > 1.5 * across
    rows = pixels.astype(float).mean(axis=2)
    assert (rows.max(axis=1) - rows.min(axis=1)).mean() > 0.1 * rows.mean()


def test_sand_slides_where_its_material_says(draw: Draw) -> None:
    """Sand on a slope of 17° has ripples, but for one whose angle of repose that is."""
    made_of = materials(("granite", np.inf))
    ground = plane(64, 64, 0.0, -3.0) + 400.0
    changes = []
    for repose in (33.0, 17.0):
        other = made_of.with_traits(read_settings("", f"sand repose {repose}", lambda name: Material))
        shown = with_layers(snapshot(ground, 20.0, cell_size=CELL), wind_path=1.0, airborne=0.0)
        shown = with_materials(shown, other, other.kind("sand"), rise=1e4)
        camera = replace(from_above(4.0), target=glm.vec3(32.5 * CELL, 325.0, 32.0 * CELL))
        changes.append(change(draw(shown, scene=desert(sun_direction=270.0), camera=camera, size=(160, 160)))[0])
    rippled, smooth = changes
    assert rippled > 2.0 * smooth


def test_sand_ends_on_rock_in_a_frayed_edge(draw: Draw) -> None:
    """And not along the cells that have some."""
    thickness = flat(64, 64)
    thickness[:, :32] = 3.0
    made = snapshot(flat(64, 64), thickness, cell_size=CELL)
    scene = desert(quality="medium", sun_height=60.0, greenness=0.0)
    camera = replace(from_above(16.0), target=glm.vec3(32.0 * CELL, 1.0, 32.0 * CELL))
    pixels = draw(made, scene=scene, camera=camera, size=(320, 320)).astype(float)
    warm = pixels[..., 0] / (pixels[..., 2] + 1.0)
    sandy = warm > 0.5 * (warm[:, :60].mean() + warm[:, -60:].mean())
    edge = sandy.sum(axis=1) / 20.0
    assert edge.std() > 0.25, "cells"


def sandiness(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """How yellow each pixel is: bare rock and sand differ in that in sun and shade."""
    linear = pixels[..., :3].astype(float) ** 2.2 + 1.0
    return linear[..., 0] / linear[..., 2]


def test_a_little_sand_lies_in_the_hollows_of_rock(draw: Draw) -> None:
    """At noon blocks that stand out are bright, where they are bare, and the cracks between them dark."""
    slope = plane(64, 64, 0.0, -4.0) + 400.0
    camera = replace(from_above(10.0), target=glm.vec3(32.0 * CELL, 274.0, 32.0 * CELL))
    scene = desert(quality="high", sun_height=90.0, greenness=0.0, fine_relief=0.0)
    bare, thin = (
        draw(snapshot(slope, flat(64, 64, sand), cell_size=CELL), scene=scene, camera=camera, size=(320, 320))
        for sand in (0.0, 0.1)
    )
    laid = sandiness(thin) - sandiness(bare)
    agrees = np.corrcoef(bare.astype(float).mean(axis=-1).ravel(), laid.ravel())[0, 1]
    assert agrees < -0.15


def test_where_no_sand_lies_none_is_seen(draw: Draw) -> None:
    """Nor in the deepest hollows: in none does the wind leave any."""
    bare = snapshot(plane(64, 64, 0.0, -0.5) + 100.0, flat(64, 64, 0.0), cell_size=CELL)
    pictures = [draw(bare, scene=desert(wind, quality="high"), camera=from_above(10.0)) for wind in (270.0, 90.0)]
    np.testing.assert_array_equal(*pictures)


def test_a_little_sand_lies_in_the_lee_of_blocks(draw: Draw) -> None:
    """Bare rock shows by a sun in the west which faces look there: to the wind that comes from there, too."""
    slope = plane(64, 64, 0.0, -1.0) + 100.0
    bare, thin = (snapshot(slope, flat(64, 64, sand), cell_size=CELL) for sand in (0.0, 0.1))
    camera = replace(from_above(10.0), target=glm.vec3(32.0 * CELL, 68.0, 32.0 * CELL))
    sunny = {"quality": "high", "sun_direction": 270.0, "sun_height": 40.0, "greenness": 0.0, "fine_relief": 0.0}
    from_west, from_east = (
        sandiness(draw(thin, scene=desert(wind, **sunny), camera=camera, size=(320, 320))) for wind in (270.0, 90.0)
    )
    light = draw(bare, scene=desert(**sunny), camera=camera, size=(320, 320)).astype(float).mean(axis=-1)
    agrees = np.corrcoef(light.ravel(), (from_west - from_east).ravel())[0, 1]
    assert agrees < -0.2


def test_without_dry_sand_the_wind_changes_nothing(draw: Draw) -> None:
    shown, camera = sand(airborne=0.1, wind_path=0.5), from_above(10.0)
    west = Scene().with_value("climate.wind_direction", 270.0)
    north = Scene().with_value("climate.wind_direction", 0.0)
    np.testing.assert_array_equal(draw(shown, scene=west, camera=camera), draw(shown, scene=north, camera=camera))


def test_sand_in_the_air_drifts_with_time_where_it_is_wanted(draw: Draw) -> None:
    shown, camera = sand(airborne=0.2), from_above(40.0)
    still = [draw(shown, scene=desert(), camera=camera, time=time).astype(int) for time in (0.0, 0.4)]
    drifting = [
        draw(shown, scene=desert(drifting_sand=1.0), camera=camera, time=time).astype(int) for time in (0.0, 0.4)
    ]
    np.testing.assert_array_equal(*still)
    assert np.abs(drifting[0] - still[0]).mean() > 2.0, "it is seen"
    assert np.abs(drifting[1] - drifting[0]).mean() > 0.5, "it moves"
    calm = draw(sand(), scene=desert(drifting_sand=1.0), camera=camera, time=0.0).astype(int)
    np.testing.assert_array_equal(calm, still[0])


def test_the_minimap_can_show_wind_and_sand(draw: Draw) -> None:
    """Where the wind touches the ground the map is blue; untouched sand is not."""
    chosen = desert(minimap_shows="wind_and_sand")
    left, bottom = slice(20, 60), slice(-60, -20)
    calm = draw(sand(), scene=chosen, camera=from_above(40.0), size=(320, 320), minimap=True)[bottom, left]
    windy = draw(sand(wind_path=0.7), scene=chosen, camera=from_above(40.0), size=(320, 320), minimap=True)[
        bottom, left
    ]
    red, _, blue = np.moveaxis(calm.astype(float).mean(axis=(0, 1)), -1, 0)
    assert red > blue
    red, _, blue = np.moveaxis(windy.astype(float).mean(axis=(0, 1)), -1, 0)
    assert blue > red


def test_sand_that_drifts_is_not_drawn_in_lines_of_single_parcels(draw: Draw) -> None:
    """Each row of cells has another number of them, as the simulation leaves them."""
    airborne = np.random.default_rng(8).exponential(0.03, (64, 1)) * np.ones(64)
    even, lines = (
        replace(sand(), layers={**sand().layers, "airborne": layer.astype(np.float32)})
        for layer in (np.full((64, 64), 0.03), airborne)
    )
    scene = desert(drifting_sand=1.0, quality="high", sun_height=60.0)
    still = scene.with_value("view.drifting_sand", 0.0)
    seen = [draw(shown, scene=scene, camera=from_above(40.0), size=(160, 160)).astype(float) for shown in (even, lines)]
    veil = seen[0] - draw(even, scene=still, camera=from_above(40.0), size=(160, 160))
    combed = np.abs(np.diff((seen[1] - seen[0]).mean(axis=(1, 2)))).mean() / np.abs(veil).mean()
    assert combed < 0.033


def test_the_ripples_of_coarse_grains_are_crests_across_the_wind_and_no_pits(draw: Draw) -> None:
    scene = desert(sun_direction=270.0, sun_height=12.0, quality="high")
    pixels = draw(sand(), scene=scene, camera=from_above(20.0), size=(160, 160)).astype(float).mean(axis=2)
    smooth = uniform_filter(pixels, 3)
    crests = smooth - uniform_filter(pixels, 41)
    along, across = (np.abs(np.diff(crests, axis=axis)).mean() for axis in (1, 0))
    assert along > 2.2 * across


def test_crests_of_ripples_are_straight_and_some_end(draw: Draw) -> None:
    """What a row of the picture has in common with one a wavelength beside it, and with one many crests away."""
    scene = desert(sun_direction=270.0, sun_height=30.0, quality="high")
    pixels = draw(sand(), scene=scene, camera=from_above(16.0), size=(320, 320)).astype(float).mean(axis=2)
    ripples = uniform_filter(pixels, (5, 5)) - uniform_filter(pixels, 61)

    def alike(rows: int) -> float:
        return float(np.corrcoef(ripples[rows:].ravel(), ripples[:-rows].ravel())[0, 1])

    assert alike(20) > 0.6
    assert alike(240) < 0.5


def test_crests_join_where_finer_ripples_begin_to_be_seen(draw: Draw) -> None:
    """Pixels that are a little smaller show the same ripples in the same places: no seam lies between them."""
    scene = desert(sun_direction=270.0, sun_height=30.0, quality="high")
    farther, nearer = (
        uniform_filter(
            draw(sand(), scene=scene, camera=from_above(cells), size=(160, 160)).astype(float).mean(axis=2), 3
        )
        for cells in (16.2, 16.0)
    )
    assert np.corrcoef(nearer.ravel(), farther.ravel())[0, 1] > 0.9


def test_sand_slides_down_slip_faces_in_tongues(draw: Draw) -> None:
    """They run down the face: it changes from side to side and hardly on the way down."""
    scene = desert(sun_direction=180.0, sun_height=30.0, quality="high", fine_relief=0.0, greenness=0.0)
    pixels = draw(dune(), scene=scene, camera=on_slip_face(12.0), size=(240, 240)).astype(float).mean(axis=2)
    across, down = (np.abs(np.diff(uniform_filter(pixels, 3), axis=axis)).mean() for axis in (0, 1))
    assert across > 1.3 * down and across > 0.4


def test_from_afar_no_bars_lie_across_dunes(draw: Draw) -> None:
    """The few crests of coarse grains are gone, and streamers are a haze, where a dune is some tens of pixels long."""
    scene = desert(sun_direction=270.0, sun_height=12.0, quality="high").with_value("view.drifting_sand", 1.0)
    pixels = draw(dune(lee=-0.15, airborne=0.05), scene=scene, camera=from_above(60.0), size=(120, 120)).astype(float)
    smooth = uniform_filter(pixels.mean(axis=2), 3)[20:-20, 20:-20]
    assert (smooth - uniform_filter(smooth, 31)).std() < 2.2


def test_what_flies_is_seen_in_the_air_before_what_lies_behind_it(draw: Draw) -> None:
    """A plume over a strip in the middle hides the dark ground in the north; nothing hides the ground in the south."""
    strip = np.zeros((64, 64), np.float32)
    strip[28:36] = 0.05
    flying, calm = (
        replace(sand(), layers={**sand().layers, "airborne": layer}) for layer in (strip, np.zeros_like(strip))
    )
    camera = Camera(glm.vec3(32.0 * CELL, 20.0, 32.0 * CELL), 0.0, 8.0, 40.0 * CELL, 40.0)
    scene = desert(quality="high", sun_height=60.0)
    thick = scene.with_value("view.dust_plume", 4.0)
    plain = draw(flying, scene=scene, camera=camera).astype(int)
    hidden = np.abs(draw(flying, scene=thick, camera=camera) - plain).mean(axis=(1, 2))
    row_of_middle = len(hidden) // 2
    assert hidden[row_of_middle - 4 : row_of_middle].mean() > 4.0, "behind it, as high as it is"
    assert hidden[-len(hidden) // 5 :].max() < 0.5, "before it"
    np.testing.assert_array_equal(draw(calm, scene=thick, camera=camera), draw(calm, scene=scene, camera=camera))


def test_dry_sand_that_no_wind_ripples_lies_smooth(draw: Draw) -> None:
    """Grains let furrows slide, so that a low sun does not mottle them as it does the crumbs of soil."""
    made = materials(("granite", np.inf))
    rough = snapshot(np.random.default_rng(5).normal(0.0, 0.25, (64, 64)), 20.0, cell_size=CELL)
    scene = desert(sun_direction=200.0, sun_height=11.0, quality="high", greenness=0.0)

    def mottled(kind: str) -> float:
        shown = replace(with_layers(with_materials(rough, made, made.kind(kind), rise=1e4), wind_path=0.0), cycle=2000)
        pixels = draw(shown, scene=scene, camera=from_above(30.0), size=(160, 160)).astype(float).mean(axis=2)
        return float((pixels - uniform_filter(pixels, 9)).std() / pixels.mean())

    assert mottled("sand") < 0.42 * mottled("soil")


def test_a_land_begins_with_sand_that_wind_has_rippled(draw: Draw) -> None:
    """Before its first cycle nothing tells where wind blows; where it does not, ripples fade over many cycles."""
    made = materials(("granite", np.inf))
    scene = desert(sun_direction=270.0, sun_height=20.0, quality="high", greenness=0.0)
    shown = with_layers(
        with_materials(snapshot(flat(64, 64), 20.0, cell_size=CELL), made, made.kind("sand")), wind_path=0.0
    )
    seen = [
        change(draw(replace(shown, cycle=cycle), scene=scene, camera=from_above(6.0), size=(160, 160)))[0]
        for cycle in (0, 50, 2000)
    ]
    assert seen[0] > seen[1] > 2.0 * seen[2]
    del shown.layers["wind_path"]  # as of a world whose wind has not blown yet
    first = draw(replace(shown, cycle=0), scene=scene, camera=from_above(6.0), size=(160, 160))
    assert change(first)[0] == pytest.approx(seen[0], rel=0.05)
    assert CYCLES_OF_MEAN == 1.0 / wind._AVERAGING_RATE


def facing(made: Snapshot, east: float, cells: float) -> Camera:
    """From above, with so many cells around a place so many cells from the western border."""
    return replace(from_above(cells), target=glm.vec3(east * CELL, made.highest, 32.0 * CELL))


def test_slip_faces_are_darker_and_a_little_warmer_than_windward_sides(draw: Draw) -> None:
    """At noon, without shadows: what slides there is not what the wind winnows, and it is no other sand."""
    scene = desert(sun_height=85.0, quality="high", fine_relief=0.0, haze=0.0)
    hues = [
        draw(dune(), scene=scene, camera=facing(dune(), east, 8.0)).astype(float).mean(axis=(0, 1))
        for east in (16.0, 44.0)
    ]
    windward, slip = (hue[0] / hue[2] for hue in hues)
    assert 1.1 * windward < slip < 1.25 * windward
    assert hues[1].mean() < 0.86 * hues[0].mean()


def test_the_ground_between_dunes_is_darker_than_they_are(draw: Draw) -> None:
    """Coarse grains and stones lie there; not on a sheet of sand, which has no dunes."""
    east = np.arange(64)
    heights = 3.0 * CELL * np.exp(-(((east - 20.0) / 8.0) ** 2))
    dunes = snapshot(np.broadcast_to(heights, (64, 64)).copy(), 20.0, cell_size=CELL)
    scene = desert(sun_height=85.0, quality="high", fine_relief=0.0, haze=0.0)
    crest, between, sheet = (
        draw(shown, scene=scene, camera=facing(shown, at, 6.0)).mean()
        for shown, at in ((dunes, 20.0), (dunes, 54.0), (sand(), 54.0))
    )
    assert between < 0.95 * min(crest, sheet)


def test_crests_of_ripples_turn_on_slopes_across_the_wind(draw: Draw) -> None:
    """Gravity pulls grains down: level they lie across the wind, and there they do not."""
    rise = 0.35 * CELL * np.arange(64.0)
    slope = snapshot(np.broadcast_to(rise[:, None], (64, 64)).copy(), 20.0, cell_size=CELL)
    scene = desert(sun_direction=270.0, sun_height=30.0, quality="high", fine_relief=0.0)

    def turned(shown: Snapshot) -> float:
        camera = replace(
            from_above(4.0), target=glm.vec3(32.0 * CELL, 0.5 * (shown.highest + shown.lowest), 32.0 * CELL)
        )
        along, across = change(draw(shown, scene=scene, camera=camera, size=(160, 160)))
        return across / along

    assert turned(slope) > 1.2 * turned(sand())


def test_the_wind_draws_broader_ripples_on_windward_sides(draw: Draw) -> None:
    """Seen from so far that the fine ones are a haze."""
    scene = desert(sun_direction=270.0, sun_height=30.0, quality="high", fine_relief=0.0)

    def ripples(east_rise: float) -> float:
        shown = snapshot(plane(64, 64, east_rise * CELL, 0.0), 20.0, cell_size=CELL)
        pixels = draw(shown, scene=scene, camera=facing(shown, 32.0, 24.0), size=(240, 240)).astype(float).mean(axis=2)
        return float((pixels - uniform_filter(pixels, 15)).std())

    assert ripples(0.15) > 1.5 * ripples(0.0)


def test_sand_between_waters_is_stained_and_not_rippled(draw: Draw) -> None:
    """A spit twelve cells broad in a lake, as far from the water as the map of flow tells of it, and broader."""
    spit = np.where(np.abs(np.arange(64) - 32) < 6, 0.0, -2.0) * np.ones((64, 1))
    land = snapshot(spit, 20.0, cell_size=CELL)
    by_water = with_layers(with_water(land, np.maximum(20.0 + spit, 19.0)), airborne=0.0, wind_path=0.0)
    scene = desert(sun_direction=270.0, quality="high")
    near, far = (draw(shown, scene=scene, camera=from_above(3.0), size=(160, 160)) for shown in (by_water, sand()))
    assert change(near)[0] < 1.4 * change(near)[1]
    assert change(far)[0] > 2.0 * change(far)[1]
    stained, even = (
        uniform_filter(draw(shown, scene=scene, camera=from_above(9.0), size=(96, 96)).astype(float).mean(axis=2), 9)
        for shown in (by_water, sand())
    )
    assert stained.std() > 1.25 * even.std()


def test_steep_windward_sides_have_ripples(draw: Draw) -> None:
    """Sand slides down slip faces; as steep a side that looks to the wind is rippled."""
    scene = desert(sun_direction=270.0, sun_height=30.0, quality="high", fine_relief=0.0)

    def ripples(east_rise: float) -> float:
        shown = snapshot(plane(64, 64, east_rise * CELL, 0.0), 20.0, cell_size=CELL)
        camera = replace(from_above(4.0), target=glm.vec3(32.0 * CELL, 0.5 * (shown.highest + shown.lowest), 320.0))
        pixels = draw(shown, scene=scene, camera=camera, size=(160, 160)).astype(float).mean(axis=2)
        return float(np.abs(np.diff(uniform_filter(pixels, 3), axis=1)).mean())

    gentle, steep, slipping = (ripples(rise) for rise in (0.15, 0.55, -0.55))
    assert steep > 0.4 * gentle and steep > 2.0 * slipping


def test_from_near_small_ripples_are_seen_between_the_others(draw: Draw) -> None:
    scene = desert(sun_direction=270.0, sun_height=30.0, quality="high", fine_relief=0.0)
    pixels = draw(sand(), scene=scene, camera=from_above(2.0), size=(240, 240)).astype(float).mean(axis=(0, 2))
    waves = np.abs(np.fft.rfft((pixels - pixels.mean()) * np.hanning(240))) ** 2
    crests = np.arange(len(waves)) / 2.0  # in a cell
    small = waves[(crests > 6.0) & (crests < 9.0)].sum()
    assert small > 0.01 * waves.sum()


def test_shade_below_an_open_sky_has_the_colour_of_the_sky(draw: Draw) -> None:
    """On a slip face that the sun does not reach light is less warm than that which sand throws at sand."""
    scene = desert(sun_direction=270.0, sun_height=8.0, quality="high", fine_relief=0.0, haze=0.0)
    shade = draw(dune(), scene=scene, camera=on_slip_face(8.0)).astype(float).mean(axis=(0, 1))
    assert shade[0] < 1.15 * shade[2]

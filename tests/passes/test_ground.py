"""What the ground is made of and what covers it, as the picture shows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm
from scipy import ndimage

from app.engine.publishing import take_snapshot
from app.model.climate import weather_of
from app.model.materials import Materials
from app.model.snapshot import Snapshot
from app.model.world import World
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.passes.frame_values import snow_line
from app.picture.passes.materials import albedo, grain_of, look_of, strata_table, stratum_thickness
from app.picture.picture import Picture
from app.scene.scene import Scene
from kernels.rock import INTRUDED
from tests.passes import masks
from tests.passes.conftest import Draw
from tests.passes.worlds import (
    flat,
    hills,
    materials,
    plane,
    snapshot,
    with_layers,
    with_materials,
    with_rivers,
    with_water,
)

SIZE = (200, 150)
RED, BLUE = "#b01818", "#1818d0"
# A quarter of the light, so that none of it is cut off
LINEAR = {
    "tone.frag": masks.PLAIN_SHADERS["tone.frag"].replace("rgb, 1.0", "rgb * 0.25, 1.0"),
    "backdrop.frag": masks.PLAIN_SHADERS["backdrop.frag"],
}

Show = Callable[..., NDArray[np.float64]]


@pytest.fixture
def show(context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Iterator[Show]:
    """Draws with nothing around the land and no curve of tones: light as it is, from 0 to 1."""
    masks.use(monkeypatch, LINEAR, triangle_pixels=2.0)
    picture = Picture(context, bake_at_once=True, quality="plain")

    def show(shown: Snapshot, camera: Camera, scene: Scene | None = None, *, time: float = 0.0) -> NDArray[np.float64]:
        picture.show(shown)
        picture.draw(canvas.framebuffer(*SIZE), camera, scene or clear(), minimap=False, time=time)
        pixels = canvas.pixels()
        assert pixels is not None
        return pixels / 255.0

    yield show
    picture.release()


def clear(**view: float | str) -> Scene:
    """No air between the camera and the land, which is seen by a high sun."""
    scene = Scene().with_values({"view.haze": 0.0, "view.sun_height": 50.0, "view.greenness": 0.0})
    return scene.with_values({f"view.{name}": value for name, value in view.items()})


def from_above(shown: Snapshot, part: float = 0.8) -> Camera:
    """North up, with a part of the map from the top of the picture to its bottom."""
    rows, columns = shown.shape
    side = rows * shown.cell_size
    middle = glm.vec3(columns * shown.cell_size / 2.0, shown.highest, side / 2.0)
    return Camera(middle, 0.0, 90.0, part * side / 2.0 / math.tan(math.radians(16.0)), 32.0)


def brightness(pixels: NDArray[np.float64]) -> float:
    return float(pixels.mean())


# The tables.


def test_grain_is_as_coarse_as_it_settles() -> None:
    told = {material.name: grain_of(material) for material in materials(("granite", math.inf)).loose}
    assert told == {"clay": 0.0, "soil": 1.0 / 3.0, "sand": 2.0 / 3.0, "gravel": 1.0}


def test_albedos_are_darker_and_less_colourful_than_what_files_tell_in_the_same_order() -> None:
    known = {material.name: material for material in materials(("granite", math.inf)).loose}
    seen, told = (
        {name: np.array(of(material)) for name, material in known.items()}
        for of in (albedo, lambda material: material.linear_colour)
    )
    assert sorted(known, key=lambda name: seen[name].sum()) == sorted(known, key=lambda name: told[name].sum())
    assert all(colour.min() > 0.02 and colour.max() < 0.5 for colour in seen.values())
    assert all(np.ptp(seen[name]) / seen[name].mean() < np.ptp(told[name]) / told[name].mean() for name in known)


def test_rock_is_massive_or_in_beds_or_soft() -> None:
    known = {
        rock.name: look_of(rock)[3]
        for name in ("granite", "sandstone", "clay")
        for rock in materials((name, math.inf)).rocks
    }
    assert known == pytest.approx({"granite": 0.0, "sandstone": 0.5, "clay": 1.0}, abs=0.02)


def test_each_step_of_the_table_has_the_colour_of_its_rock() -> None:
    made = materials((RED, 30.0), (BLUE, 10.0), (RED, math.inf))
    table = strata_table(made)
    depth = (np.arange(len(table)) + 0.5) * made.metres_per_step
    red, blue = (albedo(made.rocks[number]) for number in (0, 1))
    for low, high, colour in ((0.0, 27.0, red), (33.0, 37.0, blue)):
        inside = (depth > low) & (depth < high)
        np.testing.assert_allclose(table[inside, :3], np.broadcast_to(colour, (inside.sum(), 3)), atol=0.01)
    assert stratum_thickness(made) == pytest.approx(20.0, rel=0.01)


# Strata on the sides of the block and on slopes.


@pytest.mark.parametrize("exaggeration", [0.5, 1.0, 3.0])
def test_a_wall_shows_the_strata_where_they_are(show: Show, exaggeration: float) -> None:
    """25 m of red rock over blue, tilted to the east: the contact is where the layer `strata_rise` has it."""
    columns, rows, distance = 90, 60, 450.0
    rise = 110.0 - (plane(rows, columns, 1.0, 0.0) - 44.5)
    shown = with_materials(snapshot(flat(rows, columns, 100.0)), materials((RED, 25.0), (BLUE, math.inf)), rise=rise)
    camera = Camera(glm.vec3(450.0, 90.0 * exaggeration, 300.0), 0.0, 0.0, distance)
    pixels = show(shown, camera, clear(exaggeration=exaggeration))
    focal_length = 0.5 * SIZE[1] / math.tan(math.radians(camera.field_of_view) / 2.0)
    pixels_per_metre = focal_length / (distance - 295.0)
    for column in (20, 60, 100, 140, 180):
        east = 450.0 + (column + 0.5 - SIZE[0] / 2) / pixels_per_metre
        contact = (85.0 - (east - 450.0) / 10.0) * exaggeration
        expected = SIZE[1] / 2 - (contact - 90.0 * exaggeration) * pixels_per_metre
        red, _, blue = pixels[:, column].T
        row = np.flatnonzero(blue > 0.4 * red)[0]
        tolerance = 1.5 + 1.0 * exaggeration * pixels_per_metre  # contacts wander by a metre
        assert abs(row - expected) < tolerance


@pytest.mark.parametrize("quality", ["low", "high"])
def test_an_intrusion_is_seen_between_its_sides_on_the_ground_and_on_the_wall(show: Show, quality: str) -> None:
    """A dyke of blue rock, ten cells wide, stands in red strata: 44.5 ± 5 cells from the west.

    Nothing of what lies deep below is seen between the two.
    """
    columns, rows = 90, 60
    east = np.arange(columns)[None, :]
    rise = np.broadcast_to(np.where(np.abs(east - 44.5) < 5.0, 80.0 + INTRUDED, 80.0), (rows, columns))
    made = materials((RED, 50.0), ("#18b018", 400.0), ("#18b018", math.inf), intrusion=BLUE)
    shown = with_materials(snapshot(flat(rows, columns, 100.0)), made, rise=rise)
    cell = shown.cell_size
    # From above, and at the wall in the south
    for camera, cells in (
        (from_above(shown), 0.8 * rows),
        (Camera(glm.vec3(45.0 * cell, 90.0, rows * cell), 0.0, 0.0, 450.0), 0.0),
    ):
        pixels = show(shown, camera, clear(quality=quality))
        across = pixels[SIZE[1] // 2 + 8 : SIZE[1] // 2 + 16].mean(axis=0)
        blue = across[:, 2] > across[:, 0]
        assert (across[:, 1] < across[:, [0, 2]].max(axis=1)).all()
        seen = cells or 2.0 * 450.0 * math.tan(math.radians(camera.field_of_view) / 2.0) / cell
        width = np.count_nonzero(blue) * seen / SIZE[1]
        assert width == pytest.approx(10.0, abs=0.7)
        first, last = np.flatnonzero(blue)[[0, -1]]
        assert blue[first : last + 1].all() and abs(0.5 * (first + last + 1) - SIZE[0] / 2) < 3.0


@pytest.mark.parametrize("exaggeration", [0.5, 1.0, 3.0])
def test_a_wall_shows_the_roof_of_an_intrusion(show: Show, exaggeration: float) -> None:
    """A block of blue rock, forty cells wide in red strata, ends at a roof that falls to the east: none is on top."""
    columns, rows, distance = 90, 60, 450.0
    east = np.arange(columns)[None, :]
    roof = np.where(np.abs(east - 44.5) < 20.0, 15.0, 15.0 + INTRUDED) + 0.2 * (east - 44.5)
    made = materials((RED, 400.0), (RED, math.inf), intrusion=BLUE)
    shown = with_materials(snapshot(flat(rows, columns, 100.0)), made, rise=110.0)
    shown = with_layers(shown, intrusion_roof=np.broadcast_to(roof, (rows, columns)))
    camera = Camera(glm.vec3(450.0, 90.0 * exaggeration, 300.0), 0.0, 0.0, distance)
    pixels = show(shown, camera, clear(exaggeration=exaggeration))
    focal_length = 0.5 * SIZE[1] / math.tan(math.radians(camera.field_of_view) / 2.0)
    pixels_per_metre = focal_length / (distance - 295.0)
    for column in (60, 80, 100, 120, 140):
        cells = (column + 0.5 - SIZE[0] / 2) / pixels_per_metre / 10.0
        contact = (95.0 - 0.2 * cells) * exaggeration
        expected = SIZE[1] / 2 - (contact - 90.0 * exaggeration) * pixels_per_metre
        red, _, blue = pixels[:, column].T
        is_blue = np.flatnonzero(blue > red)
        assert abs(is_blue[0] - expected) < 1.5 + 0.6 * pixels_per_metre  # contacts wander by a tenth of a cell
    seen = from_above(shown)
    red, _, blue = show(shown, seen, clear()).mean(axis=(0, 1))
    assert red > blue, "none has come up to the ground"


@pytest.mark.parametrize("exaggeration", [0.5, 1.0, 2.0])
def test_a_slope_shows_the_rock_of_each_height(show: Show, exaggeration: float) -> None:
    """Seen from above, a slope that rises 8 m a cell to the east has bands at the columns of their heights."""
    shown = with_materials(
        snapshot(plane(80, 80, 8.0, 0.0)), materials((RED, 160.0), (BLUE, 160.0), repeat=True), rise=640.0
    )
    scene = clear(exaggeration=exaggeration, sun_height=80.0)
    pixels = show(shown, from_above(shown, 2.0 + exaggeration), scene)
    line = pixels[SIZE[1] // 2 - 4 : SIZE[1] // 2 + 4].mean(axis=0)
    column = np.arange(SIZE[0]) + 0.5 - SIZE[0] / 2
    # The camera looks from above its target, so what is lower is seen nearer to the middle.
    camera = from_above(shown, 2.0 + exaggeration)
    focal_length = 0.5 * SIZE[1] / math.tan(math.radians(16.0))
    eye = 632.0 + camera.distance
    top = column / focal_length
    east = np.array(
        [bisect(lambda e, t=t: e - 400.0 - t * (eye - 0.8 * (e - 5.0) * exaggeration), -2000, 3000) for t in top]
    )
    height = 0.8 * (east - 5.0)
    depth = 640.0 - height
    on_map = (east > 25.0) & (east < 775.0)
    clear_of_contacts = np.abs((depth % 160.0) - 80.0) < 60.0
    expected_red = depth % 320.0 < 160.0
    chosen = on_map & clear_of_contacts
    assert chosen.sum() > 20
    assert ((line[:, 2] < 0.4 * line[:, 0]) == expected_red)[chosen].all()


def test_beds_and_rubble_are_seen_on_a_gentle_slope_of_soil(draw: Draw) -> None:
    """Its tone differs from cell to cell, where beds crop out, and within cells there are pieces of rock."""
    made = materials(("sandstone", 40.0), repeat=True)
    shown = with_materials(snapshot(plane(64, 64, 2.0, 0.0), 0.3, cell_size=10.0), made, rise=300.0)
    scene = clear(quality="high", sun_direction=135.0, sun_height=35.0, fine_relief=0.0)
    pixels = draw(shown, from_above(shown, 0.3), scene, size=(240, 240)).astype(float).mean(axis=2)
    squares = pixels.reshape(60, 4, 60, 4).mean(axis=(1, 3))
    assert np.abs(np.diff(squares, axis=1)).mean() > 0.041 * pixels.mean()
    assert np.abs(np.diff(pixels, axis=1)).mean() > 0.050 * pixels.mean()


def cliff(height: float = 3.0) -> Snapshot:
    """A wall that faces south: it falls by so many cells from each row to the next."""
    return snapshot(plane(48, 64, 0.0, -10.0 * height), cell_size=10.0)


def of_the_cliff(draw: Draw, shown: Snapshot, distance: float, quality: str = "high") -> NDArray[np.float64]:
    """What one sees of it from straight before it, at an even scale."""
    middle = glm.vec3(320.0, shown.lowest + 720.0, 240.0)
    camera = Camera(middle, 0.0, math.degrees(math.atan(1.0 / 3.0)), distance, 10.0)
    scene = clear(quality=quality, fine_relief=0.0, sun_direction=150.0, sun_height=35.0)
    return draw(shown, camera, scene, size=(320, 240))[40:200, 40:280].astype(float).mean(axis=2)


@pytest.mark.parametrize("quality", ["low", "medium", "high"])
def test_rock_is_not_drawn_out_down_a_cliff(draw: Draw, quality: str) -> None:
    """As many patches and bumps are on a way down the wall as on one along it."""
    pixels = of_the_cliff(draw, cliff(), 900.0, quality)
    along, down = np.abs(np.diff(pixels, axis=1)).mean(), np.abs(np.diff(pixels, axis=0)).mean()
    assert 0.6 < down / along < 1.7


def test_rock_in_beds_lies_in_layers_on_walls_and_slopes(draw: Draw) -> None:
    """Seen from straight before them, it changes more up them than along them, and lies in no strokes down them."""
    made, ratios = materials((RED, math.inf), repeat=True), []
    for height in (8.0, 30.0):
        shown = with_materials(snapshot(plane(48, 64, 0.0, -height), cell_size=10.0), made, rise=2000.0)
        middle = glm.vec3(320.0, 0.5 * (shown.lowest + shown.highest), 240.0)
        camera = Camera(middle, 0.0, math.degrees(math.atan(10.0 / height)), 500.0, 10.0)
        scene = clear(quality="high", fine_relief=0.0, sun_direction=150.0, sun_height=35.0)
        pixels = draw(shown, camera, scene, size=(320, 240))[40:200, 40:280].astype(float).mean(axis=2)
        along, down = np.abs(np.diff(pixels, axis=1)).mean(), np.abs(np.diff(pixels, axis=0)).mean()
        ratios.append(down / along)
    assert np.mean(ratios) > 1.15


def test_rock_is_as_sharp_on_slopes_between_the_axes(draw: Draw) -> None:
    """Seen from straight before them, each lit in the same way: noise of several projections would be blurred there."""
    sharp = []
    for heading in (90.0, 135.0, 180.0):
        turn = math.radians(heading)
        shown = snapshot(plane(64, 64, 9.0 * math.sin(turn), -9.0 * math.cos(turn)), cell_size=10.0)
        camera = Camera(glm.vec3(320.0, 0.5 * (shown.lowest + shown.highest), 320.0), heading, 48.0, 900.0, 10.0)
        scene = clear(quality="high", fine_relief=0.0, sun_direction=heading + 150.0, sun_height=45.0)
        pixels = draw(shown, camera, scene, size=(320, 240))[40:200, 40:280].astype(float).mean(axis=2)
        sharp.append(np.abs(np.diff(pixels, n=2, axis=0)).mean() / pixels.mean())
    assert sharp[1] > 0.97 * min(sharp[0], sharp[2])


def test_grass_holds_on_to_gentle_faces_of_rock_also_where_no_relief_is_finer_than_the_map(draw: Draw) -> None:
    """As on maps that are too large for it: there is as much of it, and it lies in as many patches."""
    shown, green = snapshot(plane(48, 64, 7.5, 0.0), cell_size=10.0), []
    for relief in (0.0, 1.0):
        scene = clear(quality="high", fine_relief=relief, greenness=1.0)
        pixels = draw(shown, from_above(shown, 0.2), scene, size=(240, 240)).astype(float)
        green.append(pixels[..., 1] / np.maximum(pixels.mean(axis=2), 1.0))
    without, with_relief = green
    assert without.mean() == pytest.approx(with_relief.mean(), abs=0.025)
    assert without.std() > 0.7 * with_relief.std()


@pytest.mark.parametrize(("quality", "least"), [("lowest", 2.4), ("low", 6.0), ("medium", 22.0)])
def test_bare_rock_is_broken_at_lower_levels(draw: Draw, quality: str, least: float) -> None:
    """Its light changes from face to face; that of noise without faces does so far less."""
    shown = snapshot(plane(64, 64, 6.0, 0.0), cell_size=10.0)
    scene = clear(quality=quality, fine_relief=0.0, sun_direction=200.0, sun_height=25.0)
    seen = draw(shown, from_above(shown, 0.12), scene, size=(240, 240)).mean(axis=2)
    assert np.abs(np.diff(seen, n=2, axis=0)).mean() > least


def test_faces_of_bare_rock_differ_in_hue(draw: Draw) -> None:
    """As they have weathered, rusted or broken off lately: not in brightness alone, and nearby as much as far apart."""
    shown = snapshot(plane(48, 64, 12.0, 0.0), cell_size=10.0)
    pixels = draw(shown, from_above(shown, 0.3), clear(quality="high", sun_direction=90.0), size=(240, 240)).astype(
        float
    )
    squares = pixels.reshape(60, 4, 60, 4, 3).mean(axis=(1, 3))
    hue = squares[..., 0] / squares[..., 2]
    assert hue.std() > 0.35 * hue.mean()
    assert np.abs(hue[:, 8:] - hue[:, :-8]).mean() > 0.45 * hue.mean()


def test_massive_rock_is_of_sheets_of_several_colours(draw: Draw) -> None:
    """Up a slope these follow on each other."""
    shown = snapshot(plane(96, 96, 0.0, -12.0), cell_size=10.0)
    scene = clear(quality="high", fine_relief=0.0, greenness=0.0, snow_line=2.0, sun_direction=180.0)
    pixels = draw(shown, from_above(shown, 0.8), scene, size=(240, 240)).astype(float)
    squares = pixels.reshape(12, 20, 12, 20, 3).mean(axis=(1, 3))
    hue = squares[..., 0] / squares[..., 2]
    assert np.abs(np.diff(hue, n=2, axis=0)).mean() > 0.12


def test_crests_are_bare_and_the_slopes_below_them_green(draw: Draw) -> None:
    """Although they are gentle on the map."""
    row = np.arange(96)[:, None] - 47.5
    shown = snapshot(np.broadcast_to(4.0 * (48.0 - np.abs(row)), (96, 96)).astype(np.float32), cell_size=10.0)
    scene = clear(quality="high", fine_relief=0.0, greenness=1.0, snow_line=2.0, sun_direction=270.0)
    pixels = draw(shown, from_above(shown, 0.3), scene, size=(160, 160)).astype(float).sum(axis=1)
    grey = (pixels[:, 0] + pixels[:, 2]) / pixels[:, 1]  # bodies of rock differ in how warm they are, not in green
    assert grey[76:84].mean() > 1.08 * np.concatenate([grey[:40], grey[-40:]]).mean()


def test_a_shadow_that_falls_on_a_cliff_has_an_edge_and_is_not_drawn_out_down_it(draw: Draw) -> None:
    """The map of light has one place for the top of the wall and one for its foot."""
    column = np.arange(64) + np.zeros((48, 1))
    shown = snapshot(np.where((column < 16) | (column > 40), 300.0, 0.0), cell_size=10.0)
    away = 10.0 * (41.0 - 15.5)  # from the western edge to the middle of the eastern wall
    scene = clear(quality="high", sun_direction=270.0, sun_height=math.degrees(math.atan(150.0 / away)))
    camera = Camera(glm.vec3(410.0, 150.0, 240.0), 90.0, 0.0, 230.0, 70.0)
    pixels = draw(shown, camera, scene, size=(120, 240))[:, 30:90].astype(float).mean(axis=(1, 2))
    metres = 2.0 * 230.0 * math.tan(math.radians(35.0)) / 240.0  # of the wall for each row of the picture
    wall = pixels[120 - int(110.0 / metres) : 120 + int(110.0 / metres)]
    lit, dark = wall[:10].mean(), wall[-10:].mean()
    assert lit > 2.0 * dark
    part = (wall - dark) / (lit - dark)
    passing = np.flatnonzero((part > 0.2) & (part < 0.8)) * metres
    assert passing.max() - passing.min() < 60.0
    assert abs(passing.mean() - 110.0) < 25.0


def test_rills_finer_than_a_cell_run_down_a_slope_of_soil(draw: Draw) -> None:
    """From close by, brightness varies across the slope more than down it; from afar, nothing of them is left."""
    shown = snapshot(plane(48, 64, 4.0, 0.0), 1.0, cell_size=10.0)
    scene = clear(quality="high", sun_direction=180.0, sun_height=30.0)
    pixels = draw(shown, from_above(shown, 0.08), scene, size=(240, 240)).astype(float).mean(axis=2)
    across, down = (np.abs(np.diff(pixels[::4, ::4], axis=axis)).mean() for axis in (0, 1))
    assert across > 1.2 * down  # what lies on the slope is foreshortened down it


def test_ground_is_not_blurred_however_near_it_is(draw: Draw) -> None:
    """In squares of a hundredth of a cell pixels differ from their neighbours."""
    shown = snapshot(plane(48, 64, 0.05, 0.0), 1.0, cell_size=10.0)
    scene = clear(quality="high", sun_direction=135.0, sun_height=35.0)
    pixels = draw(shown, from_above(shown, 0.012), scene, size=(200, 200)).astype(float).mean(axis=2)
    assert np.abs(np.diff(pixels[::3, ::3], axis=1)).mean() > 0.05 * pixels.mean()


def test_under_a_high_sun_hollows_are_darker_than_crests(show: Show) -> None:
    """Beside a lower one from along them, for which both are as bright: their ground is level."""
    column = np.arange(64) + np.zeros((48, 1))
    waves = 12.0 * np.cos(column * math.tau / 16.0)
    shown = snapshot(waves, cell_size=10.0)
    part = {}
    for height in (45.0, 88.0):
        pixels = show(shown, from_above(shown), clear(sun_direction=0.0, sun_height=height, fine_relief=0.0))
        lit = pixels.mean(axis=(0, 2))
        metres = (np.arange(SIZE[0]) + 0.5 - SIZE[0] / 2.0) * 0.8 * 480.0 / SIZE[1] + 320.0
        crest = np.cos((metres / 10.0 - 0.5) * math.tau / 16.0)
        part[height] = lit[crest < -0.95].mean() / lit[crest > 0.95].mean()
    assert part[88.0] < 0.93 * part[45.0]


def test_woods_stand_where_the_climate_lets_them_and_first_on_sheltered_slopes(draw: Draw) -> None:
    """No world has simulated plants here. On slopes to the north there are more than on those to the south."""
    woods = []
    for rise, snow in ((3.0, 0.9), (-3.0, 0.9), (3.0, 0.0)):
        shown = snapshot(plane(96, 96, 0.0, rise), cell_size=10.0)
        scene = clear(quality="high", greenness=0.6, sun_height=85.0, snow_line=snow)
        pixels = draw(shown, from_above(shown, 0.6), scene, size=(320, 320)).astype(float)
        woods.append((pixels.mean(axis=2) < 60.0).mean())
    north, south, above_trees = woods
    assert north > 0.01 and south < 0.7 * north and above_trees < 0.1 * north


def test_no_seam_of_grass_lies_between_a_slope_and_what_fills_its_foot(draw: Draw) -> None:
    """The cell between them is neither as steep as the rock nor has it sediment of its own."""
    row = np.arange(48)[:, None] + np.zeros(64)
    ground = np.maximum(24.0 - row, 0.0) * 9.0
    shown = snapshot(ground, np.where(row > 24, 3.0, 0.0), cell_size=10.0)
    scene = clear(quality="high", fine_relief=0.0, greenness=1.0)
    pixels = draw(shown, from_above(shown, 0.35), scene, size=(320, 320)).astype(float)
    green = (pixels[..., 1] - pixels[..., 0]).mean(axis=1)
    # A cell is 19 rows of the picture. Between the faces of rock grass is lusher the lower it grows; woods begin there.
    assert green[140:180].max() < max(green[80:130].max(), green[190:240].max()) + 8.5


def bisect(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < 0.0 else (low, middle)
    return low


# Loose material.


def sheet(made: Materials, kinds: NDArray[np.float32] | float, thickness: float = 5.0) -> Snapshot:
    rock = flat(48, 48, 50.0)
    return with_materials(snapshot(rock, thickness), made, kinds, rise=50.0)


def test_each_kind_has_its_own_colour(show: Show) -> None:
    made = materials((BLUE, math.inf))
    seen = []
    for number in range(len(made.loose)):
        shown = sheet(made, number)
        seen.append(show(shown, from_above(shown)).mean(axis=(0, 1)))
    told = np.array([albedo(material) for material in made.loose])
    seen = np.array(seen)
    # The same light on all of them, but for their own shading.
    light = (seen / told).mean(axis=0)
    np.testing.assert_allclose(seen, told * light, rtol=0.12)


def test_a_mix_lies_between_its_kinds(show: Show) -> None:
    made = materials((BLUE, math.inf))
    sand, soil = made.kind("sand"), made.kind("soil")
    pure, half, other = (
        show(shown, from_above(shown)).mean(axis=(0, 1))
        for shown in (sheet(made, float(code)) for code in (sand, sand + 16 * soil + 256 * 127, soil))
    )
    np.testing.assert_allclose(half, 0.5 * (pure + other), rtol=0.08)


def test_the_first_grains_on_bare_rock_do_not_change_its_colour(show: Show) -> None:
    """They are no kind until then: a plain beside a dune would turn all at once."""
    made = materials((BLUE, math.inf))
    dunes = flat(48, 48)
    dunes[:, :8] = 6.0
    world = World(flat(48, 48, 50.0), dunes, cell_size=10.0, seed=1)
    world.lay_materials(made, {"sand": 3.0, "gravel": 1.0}, flat(48, 48, 50.0))
    bare = take_snapshot(world)
    world.mix[:, 8:, made.kind("sand")] = 1e-4
    world.sum_mix()
    world.changed["sediment"] += 1
    dusted = take_snapshot(world, 1)
    assert (dusted.layers["sediment"] > 0.0).all() and not (bare.layers["sediment"] > 0.0).all()
    before, after = (show(shown, from_above(shown)) for shown in (bare, dusted))
    assert np.abs(after - before).mean() < 0.008
    # Where there is nothing else, too
    world.mix[...] = 0.0
    world.sum_mix()
    world.changed["sediment"] += 1
    assert np.isfinite(take_snapshot(world, 2).layers["loose_kinds"]).all()


def test_borders_between_kinds_have_no_steps(show: Show) -> None:
    """Half sand, half soil: seen so close that a cell is 20 pixels wide, no pixel is far from its neighbour."""
    made = materials((BLUE, math.inf))
    codes = np.where(np.arange(48) < 24, made.kind("sand"), made.kind("soil")).astype(np.float32)
    shown = sheet(made, np.broadcast_to(codes, (48, 48)))
    pixels = show(shown, from_above(shown, 7.5 / 48))
    across = pixels.mean(axis=2)
    span = across[:, :40].mean() - across[:, -40:].mean()
    assert span > 0.03
    assert np.abs(np.diff(across.mean(axis=0))).max() < 0.12 * span


@pytest.mark.parametrize("kind", ["sand", "gravel", "clay", "soil"])
def test_what_lies_thicker_hides_more_of_the_rock(show: Show, kind: str) -> None:
    made = materials((BLUE, math.inf))
    blueness = []
    for thickness in (0.0, 0.1, 0.3, 5.0):
        shown = sheet(made, made.kind(kind), thickness)
        red, _, blue = show(shown, from_above(shown)).mean(axis=(0, 1))
        blueness.append(blue / red)
    assert sorted(blueness, reverse=True) == blueness
    assert blueness[0] > 1.3 and blueness[-1] < 1.0


def test_debris_on_a_slope_ends_at_an_edge(show: Show) -> None:
    """Where it gets thinner, a place has stones or none; sand on level ground is a veneer through which rock shows."""
    made, between = materials((BLUE, math.inf)), []
    for slope, kind in ((0.7, "gravel"), (0.0, "sand")):
        thickness = np.broadcast_to(np.linspace(0.0, 3.0, 48)[:, None], (48, 48))
        land = snapshot(plane(48, 48, 10.0 * slope, 0.0), thickness)
        shown = with_materials(land, made, made.kind(kind), rise=1e4)
        pixels = show(shown, from_above(shown), clear(quality="high", fine_relief=0.0))
        seen = pixels[pixels.sum(axis=2) > 0.02]
        blue = seen[:, 2] / seen.sum(axis=1)
        low, high = np.quantile(blue, (0.05, 0.95))
        part = (blue - low) / (high - low)
        between.append(((part > 0.25) & (part < 0.75)).mean())
    assert between[0] < 0.93 * between[1]


def test_stones_of_scree_are_coarser_at_its_gentle_foot(draw: Draw) -> None:
    """By how much brightness varies over some boulders along a chute, beside its mean."""
    made = materials((BLUE, math.inf))
    varies = []
    for slope in (0.3, 0.75):
        land = snapshot(plane(48, 48, 4.0 * slope, 0.0), 5.0, cell_size=4.0)
        shown = with_materials(land, made, made.kind("gravel"), rise=1e4)
        scene = clear(quality="high", sun_direction=135.0, sun_height=50.0)
        pixels = draw(shown, from_above(shown, 0.3), scene, size=(160, 160)).astype(float).mean(axis=2)
        varies.append(np.abs(pixels[:, 6:] - pixels[:, :-6]).mean() / pixels.mean())
    assert varies[0] > 1.2 * varies[1]


def test_tongues_of_scree_are_dark_or_pale_by_their_age(draw: Draw) -> None:
    """Beside each other on one slope, as broad means over a few cells."""
    made = materials((BLUE, math.inf))
    land = snapshot(plane(96, 96, 4.0 * 0.75, 0.0), 5.0, cell_size=4.0)
    shown = with_materials(land, made, made.kind("gravel"), rise=1e4)
    pixels = draw(shown, from_above(shown, 0.6), clear(quality="high"), size=(192, 192)).astype(float).mean(axis=2)
    broad = ndimage.gaussian_filter(pixels, 4.0)[24:-24, 24:-24]
    low, high = np.quantile(broad, (0.05, 0.95))
    assert high > 1.3 * low


# Wetness and plants.


def living(wetness: float, grass: float = 0.0, *, slope: float = 0.0, kind: str = "sand") -> Snapshot:
    made = materials(("granite", math.inf))
    land = snapshot(plane(48, 48, 10.0 * slope, 0.0), 5.0)
    return with_layers(with_materials(land, made, made.kind(kind), rise=1e4), wetness=wetness, grass=grass)


@pytest.mark.parametrize("kind", ["sand", "soil", "gravel"])
def test_wet_ground_is_darker_than_dry(show: Show, kind: str) -> None:
    light = []
    for wetness in (0.0, 0.25, 0.5, 0.75):
        shown = living(wetness, slope=0.3, kind=kind)
        light.append(brightness(show(shown, from_above(shown, 0.5))))
    assert sorted(light, reverse=True) == light
    assert light[-1] < 0.72 * light[0]


def test_a_marsh_is_level_and_wet(show: Show) -> None:
    """Full of water, level ground is dark green with pools; a slope is only wet."""
    level, steep = living(1.0), living(1.0, slope=0.5)
    marsh, slope = (show(shown, from_above(shown, 0.5)) for shown in (level, steep))
    assert brightness(marsh) < 0.7 * brightness(slope)
    assert marsh[..., 1].mean() > marsh[..., 0].mean()
    assert slope[..., 1].mean() < slope[..., 0].mean()


def test_no_marsh_rings_a_lake(show: Show) -> None:
    """A seam of wet ground around water is hardly darker than wet ground is; a broad one is a marsh."""
    made = materials(("granite", math.inf))
    darkest = []
    for cells in (1, 12):
        ground, wetness = np.full((48, 48), 0.2), np.full((48, 48), 0.1)
        ground[:, :16], wetness[:, : 16 + cells] = -2.0, 1.0
        land = with_materials(snapshot(ground, 5.0), made, made.kind("sand"), rise=1e4)
        level = np.where(ground < 0.0, 5.0, ground + 5.0)
        shown = with_layers(with_water(land, level), wetness=wetness, grass=0.0)
        seen = show(shown, from_above(shown, 0.5)).mean(axis=(0, 2))
        column = 24.0 + (np.arange(SIZE[0]) + 0.5 - SIZE[0] / 2) * 24.0 / SIZE[1]
        on_land = column > 16.4  # water reaches some of its way to the next cell
        darkest.append(seen[on_land & (column < 26.0)].min() / seen[column > 36.0].mean())
    assert darkest[0] > 0.4 and darkest[1] < 0.25


def test_grass_is_green_where_it_is_wet_and_straw_where_it_is_dry(show: Show) -> None:
    bare, dry, wet = (living(*ground, slope=0.2) for ground in ((0.05, 0.0), (0.05, 1.0), (0.6, 1.0)))
    ratio = []
    for shown in (bare, dry, wet):
        red, green, _ = show(shown, from_above(shown, 0.5)).mean(axis=(0, 1))
        ratio.append(green / red)
    assert ratio[0] < 0.85 and 0.7 < ratio[1] < 1.0 < ratio[2]


def test_where_moisture_is_not_simulated_dense_grass_tells_of_it(show: Show) -> None:
    """It has what it needs, so it is no straw."""
    ratio = []
    for wetness in (0.01, 0.0):  # the first is of a world with moisture, though there is hardly any
        shown = living(wetness, 1.0, slope=0.2)
        red, green, _ = show(shown, from_above(shown, 0.5)).mean(axis=(0, 1))
        ratio.append(green / red)
    assert ratio[0] < 0.92 and ratio[1] > 1.05 * ratio[0]


def test_sparse_grass_stands_in_tufts(show: Show) -> None:
    """Between bare ground and a meadow, and more uneven than both."""
    pictures = []
    for grass in (0.0, 0.35, 1.0):
        shown = living(0.5, grass, slope=0.1)
        pictures.append(show(shown, from_above(shown, 0.3)))
    bare, tufts, meadow = (pixels[..., 1] / pixels[..., 0] for pixels in pictures)
    assert bare.mean() < tufts.mean() < meadow.mean()
    assert tufts.std() > 1.3 * max(bare.std(), meadow.std())


def test_grass_that_is_known_takes_the_place_of_guessed_green(show: Show) -> None:
    shown = living(0.3, 0.0)
    one, other = (show(shown, from_above(shown), clear(greenness=greenness)) for greenness in (0.0, 1.0))
    np.testing.assert_array_equal(one, other)


# Storms.


def stormy(**climate: float | int) -> Scene:
    """Air without haze, at the height of a storm or before one: one blows in all spans of 60 cycles."""
    scene = clear(sun_height=30.0).with_values({"climate.storms": 1.0, "climate.storm_length": 60})
    return scene.with_values({f"climate.{name}": value for name, value in climate.items()})


def desert(cycle: int, *, airborne: float = 0.02) -> Snapshot:
    made = materials(("sandstone", 200.0), ("clay", math.inf))
    land = snapshot(hills(64, 64) * 150.0, 2.0, world=None, cycle=cycle)
    return with_layers(with_materials(land, made, made.kind("sand"), rise=150.0), airborne=airborne)


LOOKING_ACROSS = Camera(glm.vec3(320.0, 120.0, 320.0), 30.0, 8.0, 500.0)


def test_a_storm_brings_dust_that_hides_what_is_far(show: Show) -> None:
    """The land grows paler and flatter, most of it far away; without a storm nothing changes, to the last bit."""
    still = show(desert(30), LOOKING_ACROSS, stormy(storms=0.0))
    storm = show(desert(30), LOOKING_ACROSS, stormy())
    land = still.max(axis=2) > 0.02
    far, near = np.zeros_like(land), np.zeros_like(land)
    rows = np.flatnonzero(land.any(axis=1))
    middle = (rows[0] + rows[-1]) // 2
    far[:middle], near[middle:] = land[:middle], land[middle:]
    kept = [storm.mean(axis=2)[part].std() / still.mean(axis=2)[part].std() for part in (far, near)]
    assert kept[0] < 0.75 and kept[0] < kept[1]


def test_dust_lies_low_over_the_ground(show: Show) -> None:
    """A wall of dark rock, 250 m high, from the side: its foot is paler than its top."""
    made = materials(("#101010", math.inf))
    land = snapshot(np.where(np.arange(100) < 50, 250.0, 0.0)[:, None] * np.ones((100, 100)), cycle=30)
    shown = with_layers(with_materials(land, made, rise=250.0), airborne=0.02)
    camera = Camera(glm.vec3(500.0, 150.0, 500.0), 0.0, 2.0, 1500.0)
    calm, storm = (show(shown, camera, stormy(storms=storms)).mean(axis=2) for storms in (0.0, 1.0))
    brighter = (storm - calm)[:, SIZE[0] // 2 - 20 : SIZE[0] // 2 + 20].mean(axis=1)
    top, foot = brighter[60:68].mean(), brighter[90:98].mean()  # by the camera, the wall is in rows 57 to 101
    assert foot > 1.15 * top > 0.0


@pytest.mark.parametrize("changes", [{"storms": 0.0}, {"dust": 0.0}, {"airborne": 0.0}])
def test_no_dust_without_storm_sand_and_wish(show: Show, changes: dict[str, float]) -> None:
    climate = {name: value for name, value in changes.items() if name == "storms"}
    scene = stormy(**climate).with_value("view.dust", changes.get("dust", 1.0))
    shown = desert(30, airborne=changes.get("airborne", 0.02))
    calm = show(shown, LOOKING_ACROSS, stormy(storms=0.0))
    np.testing.assert_array_equal(show(shown, LOOKING_ACROSS, scene, time=3.0), calm)


def test_veils_of_dust_drift_with_time(show: Show) -> None:
    shown = desert(30)
    scene = stormy()
    one, same, later = (show(shown, LOOKING_ACROSS, scene, time=time) for time in (0.0, 0.0, 1.5))
    np.testing.assert_array_equal(one, same)
    assert np.abs(later - one).mean() > 1e-3


def test_the_front_of_a_storm_runs_over_the_land_with_the_wind(show: Show) -> None:
    """When it has come to the middle, there is dust before the half that the wind comes from, and later before both."""

    def dustier_in_the_west(cycle: int, blows_from: float) -> float:
        shown = desert(cycle)
        calm, storm = (
            show(shown, from_above(shown), stormy(storms=storms, wind_direction=blows_from)).mean(axis=2)
            for storms in (0.0, 1.0)
        )
        part = (storm / np.maximum(calm, 0.02))[SIZE[1] // 4 : -SIZE[1] // 4]
        west, east = part[:, SIZE[0] // 4 : SIZE[0] // 2 - 8], part[:, SIZE[0] // 2 + 8 : -SIZE[0] // 4]
        return float(west.mean() - east.mean())

    halfway, whole = (dustier_in_the_west(cycle, 270.0) - dustier_in_the_west(cycle, 90.0) for cycle in (15, 30))
    assert halfway > 0.02
    assert abs(whole) < 0.6 * halfway


def test_billows_stand_over_the_front_at_high_levels(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = "layout(location = 0, index = 0) out vec4 added;\nlayout(location = 0, index = 1) out vec4 kept;\n"
    blue = outputs + "void main() { added = vec4(0.0, 0.0, 9.0, 1.0); kept = vec4(0.0); }\n"
    masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "storm_front.frag": blue})
    pictures = {level: Picture(context, bake_at_once=True, quality=level) for level in ("low", "high")}

    def billows(level: str, cycle: int, scene: Scene) -> tuple[int, float]:
        """How many pixels they cover, and the middle column of them."""
        pictures[level].show(desert(cycle))
        camera = Camera(glm.vec3(320.0, 60.0, 320.0), 0.0, 20.0, 1400.0)
        pictures[level].draw(canvas.framebuffer(*SIZE), camera, scene, minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        seen = (pixels[..., 2] > 150) & (pixels[..., 0] < 60)
        return int(seen.sum()), float(np.nonzero(seen)[1].mean()) if seen.any() else 0.0

    try:
        (some, early), (_, late) = (billows("high", cycle, stormy()) for cycle in (12, 18))
        assert some > 200 and early + 10 < late
        assert billows("high", 12, stormy(storms=0.0))[0] == billows("low", 12, stormy())[0] == 0
        assert billows("high", 30, stormy())[0] == 0, "at its height the front has left the map"
    finally:
        for picture in pictures.values():
            picture.release()


def test_a_billow_hides_nothing_where_it_is_transparent(
    context: moderngl.Context, canvas: Canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those behind it, which can be drawn later, are whole."""
    disc = """layout(location = 0, index = 0) out vec4 added;
layout(location = 0, index = 1) out vec4 kept;
in vec2 in_square;
void main() {
    bool there = length(in_square) < 0.5;
    %s
    added = vec4(0.0, 0.0, there ? 9.0 : 0.0, 1.0);
    kept = vec4(there ? 0.0 : 1.0);
}
"""
    drawn = []
    for transparent in ("", "if (!there) discard;"):
        masks.use(monkeypatch, {**masks.PLAIN_SHADERS, "storm_front.frag": disc % transparent})
        picture = Picture(context, bake_at_once=True, quality="high")
        picture.show(desert(12))
        camera = Camera(glm.vec3(320.0, 60.0, 320.0), 0.0, 20.0, 1400.0)
        picture.draw(canvas.framebuffer(*SIZE), camera, stormy(), minimap=False)
        pixels = canvas.pixels()
        assert pixels is not None
        drawn.append((pixels[..., 2] > 150) & (pixels[..., 0] < 60))
        picture.release()
    assert drawn[0].sum() > 200
    np.testing.assert_array_equal(*drawn)


def test_the_picture_moves_in_a_storm(context: moderngl.Context) -> None:
    picture = Picture(context, bake_at_once=True, quality="low")
    assert not picture.is_moving(stormy())
    picture.show(desert(30))
    assert picture.is_moving(stormy()) and not picture.is_moving(stormy(storms=0.0))
    picture.release()


def test_a_storm_is_seen_before_its_weather_where_that_is_wished_for(show: Show) -> None:
    """Also in a land that has not seen a wind yet; it is as strong as wished for, and one that is stronger stays."""
    first = replace(desert(0), layers={name: layer for name, layer in desert(0).layers.items() if name != "airborne"})

    def dust(shown: Snapshot, least: float) -> float:
        pixels = show(shown, LOOKING_ACROSS, stormy().with_values({"view.storm": least, "view.desert": 1.0}))
        land = pixels.max(axis=2) > 0.02
        return float(pixels.mean(axis=2)[land].std())

    assert dust(first, 0.9) < 0.9 * dust(first, 0.4) < 0.95 * dust(first, 0.0)
    assert dust(desert(30), 0.5) == dust(desert(30), 0.0)


# Snow.


@pytest.mark.parametrize(
    ("temperature", "year", "expected"),
    [(6.5, 0, 0.5), (6.5, 100, 0.5), (-9.0, 0, -0.75), (-9.0, 100, -0.75), (30.0, 100, 2.0)],
)
def test_snow_lies_where_it_freezes_with_and_without_a_year(temperature: float, year: int, expected: float) -> None:
    """Level ground from 0 to 2000 m; it is 6.5 °C colder for each kilometre, and spring."""
    shown = snapshot(plane(41, 11, 0.0, 50.0))
    scene = Scene().with_values({"climate.temperature": temperature, "climate.year": year})
    weather = weather_of(scene.climate, 0, 0)
    assert snow_line(scene.view, weather, shown) == pytest.approx(max(expected, -1.0), abs=0.06)


def snow_at(pixels: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where snow lies in a picture without air: it alone is that bright."""
    found: NDArray[np.bool_] = pixels.min(axis=2) > 0.5 * pixels.max()
    return found


def test_snow_lies_lower_on_slopes_to_the_north_than_to_the_south(show: Show) -> None:
    """A ridge from west to east, with the sun in the west, so that it lights both flanks alike."""
    rows, columns = 96, 96
    row = np.arange(rows)[:, None] - 0.5 * (rows - 1)
    ground = np.broadcast_to(3.0 * (0.5 * rows - np.abs(row)), (rows, columns)).astype(np.float32)
    shown = snapshot(ground)
    snowy = snow_at(show(shown, from_above(shown), clear(snow_line=0.5, sun_direction=270.0))).mean(axis=1)
    north, south = snowy[: SIZE[1] // 2].sum(), snowy[SIZE[1] // 2 :].sum()
    assert south > 5.0, "rows of pixels on the crest"
    assert north > 1.15 * south


def test_snow_thins_out_on_steeper_ground(show: Show) -> None:
    """A slope to the south that is the steeper the higher, all of it above the line of snow."""
    row, _ = np.mgrid[:96, :96]
    shown = snapshot((0.09 * (96.0 - row) ** 2).astype(np.float32))
    camera = from_above(shown)
    bare, snowy = (show(shown, camera, clear(snow_line=line, sun_direction=180.0)).mean(axis=2) for line in (2.0, 0.0))
    risen = (snowy - bare) / (snowy - bare).max()
    assert ((risen > 0.1) & (risen < 0.6)).mean() > 0.08


def test_ground_beside_snow_is_wet_and_dark(draw: Draw) -> None:
    """On an even slope, just below the line of snow, and far below it as without snow."""
    row, _ = np.mgrid[:96, :96]
    shown = snapshot((2.0 * (96.0 - row)).astype(np.float32))
    camera = from_above(shown)
    bare, snowy = (
        draw(shown, camera, clear(quality="high", snow_line=line, sun_direction=180.0, fine_relief=0.0)).mean(axis=2)
        for line in (2.0, 0.5)
    )
    assert (snowy / bare).min() < 0.96
    assert (snowy / bare)[-8:].min() > 0.99


def test_wind_blows_snow_over_a_crest_into_its_lee(show: Show) -> None:
    """A ridge from south to north, lit alike from the south."""
    rows, columns = 96, 96
    column = np.arange(columns)[None, :] - 0.5 * (columns - 1)
    ground = np.broadcast_to(3.0 * (0.5 * columns - np.abs(column)), (rows, columns)).astype(np.float32)
    shown = snapshot(ground)

    def in_lee(wind_direction: float) -> tuple[float, float]:
        scene = clear(snow_line=0.5, sun_direction=180.0).with_value("climate.wind_direction", wind_direction)
        snowy = snow_at(show(shown, from_above(shown), scene)).mean(axis=0)
        return float(snowy[: SIZE[0] // 2].sum()), float(snowy[SIZE[0] // 2 :].sum())

    west, east = in_lee(270.0)
    assert east > 1.03 * west > 5.0
    west, east = in_lee(90.0)
    assert west > 1.03 * east > 5.0


def test_snow_reaches_up_to_a_crest_in_its_lee_and_leaves_the_windward_side_bare(show: Show) -> None:
    """A little over the line of snow, on a ridge from south to north that is lit alike from the south."""
    column = np.arange(96)[None, :] - 47.5
    ground = np.broadcast_to(7.0 * (48.0 - np.abs(column)), (96, 96)).astype(np.float32)
    shown = snapshot(ground)
    scene = clear(snow_line=0.8, sun_direction=180.0).with_value("climate.wind_direction", 270.0)
    snowy = snow_at(show(shown, from_above(shown, 0.4), scene)).mean(axis=0)
    west, east = snowy[SIZE[0] // 2 - 12 : SIZE[0] // 2 - 2], snowy[SIZE[0] // 2 + 2 : SIZE[0] // 2 + 12]
    assert east.mean() > west.mean() + 0.12


def test_snow_closes_over_crests_far_over_its_line(show: Show) -> None:
    """A ridge from south to north that is lit alike from the south: its windward side gets white the higher it is."""
    column = np.arange(96)[None, :] - 47.5
    shown = snapshot(np.broadcast_to(7.0 * (48.0 - np.abs(column)), (96, 96)).astype(np.float32))

    def on_windward_crest(snow_line: float) -> float:
        scene = clear(snow_line=snow_line, sun_direction=180.0).with_value("climate.wind_direction", 270.0)
        snowy = snow_at(show(shown, from_above(shown, 0.4), scene)).mean(axis=0)
        return float(snowy[SIZE[0] // 2 - 12 : SIZE[0] // 2].mean())

    assert on_windward_crest(0.4) > on_windward_crest(0.85) + 0.2


def test_wind_shapes_the_surface_of_snow(draw: Draw) -> None:
    """On level ground, at high levels: drifts that lie across the wind, so that a low sun along it shades them most."""
    level = snapshot(flat(48, 64, 100.0), cell_size=4.0)
    light = {}
    for wind in (180.0, 270.0):
        scene = clear(quality="high", sun_height=15.0, sun_direction=180.0)
        scene = scene.with_values({"climate.temperature": -30.0, "climate.wind_direction": wind})
        light[wind] = draw(level, from_above(level, 0.6), scene, size=(320, 320)).mean(axis=2)
    assert np.corrcoef(light[180.0].ravel(), light[270.0].ravel())[0, 1] < 0.8
    assert min(shades.std() / shades.mean() for shades in light.values()) > 0.02


def test_snow_lies_in_hollows_where_crests_as_high_are_bare(show: Show) -> None:
    """Troughs and crests run down a slope to the south."""
    rows, columns = 96, 96
    row, column = np.mgrid[:rows, :columns]
    wave = np.cos(2.0 * np.pi * (column + 0.5) / 24.0)
    shown = snapshot((3.0 * (rows - row) + 20.0 * wave).astype(np.float32))
    camera = from_above(shown)
    snowy = snow_at(show(shown, camera, clear(snow_line=0.5, sun_direction=180.0)))
    across = (np.arange(SIZE[0]) + 0.5 - SIZE[0] / 2) / SIZE[1] * 0.8 * rows + 0.5 * columns
    crests, troughs = (np.abs(np.cos(np.pi * across / 24.0)) > 0.9, np.abs(np.sin(np.pi * across / 24.0)) > 0.9)
    on_crests, in_troughs = (snowy[:, chosen].sum(axis=0).mean() for chosen in (crests, troughs))
    assert in_troughs > 1.35 * on_crests


def test_shaded_slopes_are_greener_than_those_in_the_sun(show: Show) -> None:
    """A gentle ridge from west to east, with the sun in the west, so that it lights both flanks alike."""
    row = np.arange(96)[:, None] - 47.5
    shown = snapshot(np.broadcast_to(3.0 * (48.0 - np.abs(row)), (96, 96)).astype(np.float32))
    pixels = show(shown, from_above(shown), clear(snow_line=2.0, sun_direction=270.0, greenness=1.0))
    halves = pixels[: SIZE[1] // 2 - 4], pixels[SIZE[1] // 2 + 4 :]
    north, south = (half[..., 1].sum() / half[..., 0].sum() for half in halves)
    assert north > 1.04 * south


def test_a_plain_of_sediment_has_grass_as_the_hills_beside_it(show: Show) -> None:
    """In patches, between which sand and silt show."""

    def green(thickness: float, greenness: float) -> float:
        shown = snapshot(flat(64, 64, 10.0), sediment=thickness)
        pixels = show(shown, from_above(shown), clear(snow_line=2.0, greenness=greenness))
        return float(pixels[..., 1].sum() / pixels[..., 0].sum())

    bare, plain, hills_beside = green(20.0, 0.0), green(20.0, 1.0), green(0.0, 1.0)
    assert plain - bare > 0.25 * (hills_beside - bare) > 0.05


def test_scrub_stands_in_patches_on_level_ground_where_plants_grow(show: Show) -> None:
    """No plateau is a carpet."""
    shown = with_materials(snapshot(flat(64, 64, 100.0), 50.0), materials((RED, 25.0), (BLUE, math.inf)), rise=50.0)
    side = shown.cell_size
    camera = Camera(glm.vec3(32.0 * side, 100.0, 32.0 * side), 0.0, 90.0, 50.0 * side, 40.0)
    pictures = (show(shown, camera, clear(greenness=green))[20:-20, 20:-20] for green in (0.0, 0.5))
    bare, grown = ((picture[..., 1] - picture[..., 2]).std() for picture in pictures)
    assert grown > 1.4 * bare


def plateau() -> Snapshot:
    """Level, of soil on rock: where it is green, dry scrub grows."""
    made = materials((RED, math.inf))
    return with_materials(snapshot(flat(48, 64, 100.0), 1.0, cell_size=4.0), made, made.kind("soil"), rise=100.0)


@pytest.mark.parametrize("greenness", [0.0, 0.6])
def test_what_stands_on_the_ground_is_as_bright_from_afar(draw: Draw, greenness: float) -> None:
    """Bushes, tufts and stones throw shadows; from where they are too fine to be seen, a mean of both is left."""
    scene, light, spots = clear(quality="high", greenness=greenness, sun_height=35.0), [], []
    for part, side in ((0.2, 640), (0.95, 7)):
        pixels = draw(plateau(), from_above(plateau(), part), scene, size=(side, side)).mean(axis=2)
        linear = (pixels / 255.0) ** 2.2
        light.append(linear.mean())
        spots.append((linear < 0.45 * np.median(linear)).mean())
    assert spots[0] > 0.01 > 3.0 * spots[1]
    assert light[0] == pytest.approx(light[1], rel=0.12)


@pytest.mark.parametrize(("quality", "least"), [("lowest", 0.0195), ("low", 0.025), ("medium", 0.035), ("high", 0.1)])
def test_level_ground_that_is_seen_aslant_is_as_sharp_as_a_pixel_near_and_far(
    draw: Draw, quality: str, least: float
) -> None:
    """Grass and crumbs of soil: each row of the picture differs from pixel to pixel."""
    shown = snapshot(flat(96, 96, 100.0), cell_size=4.0)
    camera = Camera(glm.vec3(48.0 * 4.0, 100.0, 48.0 * 4.0), 0.0, 14.0, 110.0, 30.0)
    pixels = draw(shown, camera, clear(quality=quality, greenness=0.8, snow_line=2.0), size=(480, 320)).mean(axis=2)
    for rows in (slice(150, 200), slice(250, 310)):
        part = pixels[rows, 100:380].astype(float)
        assert np.abs(np.diff(part, axis=1)).mean() > least * part.mean()


def test_what_stands_on_ground_that_is_seen_aslant_does_not_lie_in_streaks(draw: Draw) -> None:
    """From row to row of the picture it does not change twice as much as from pixel to pixel of a row, near and far."""
    shown = snapshot(flat(96, 96, 100.0), cell_size=4.0)
    camera = Camera(glm.vec3(48.0 * 4.0, 100.0, 48.0 * 4.0), 20.0, 9.0, 110.0, 30.0)
    pixels = draw(shown, camera, clear(quality="high", greenness=0.8, snow_line=2.0), size=(480, 320)).mean(axis=2)
    for rows in (slice(150, 200), slice(250, 310)):
        part = pixels[rows, 100:380].astype(float)
        assert np.abs(np.diff(part, axis=0)).mean() < 1.8 * np.abs(np.diff(part, axis=1)).mean()


def test_grass_is_uneven_from_afar(draw: Draw) -> None:
    """From above, by pixels of four metres: tussocks and hummocks have a side in the sun and one in the shade."""
    shown = snapshot(flat(96, 96, 100.0), cell_size=20.0)
    scene = clear(quality="high", greenness=0.8, snow_line=2.0, sun_height=35.0)
    pixels = draw(shown, from_above(shown, 0.5), scene, size=(240, 240)).mean(axis=2)
    assert np.abs(np.diff(pixels, axis=1)).mean() > 0.14 * pixels.mean()


def test_bushes_are_of_many_sizes(draw: Draw) -> None:
    """From above, by pixels of half a metre."""
    shown = snapshot(flat(96, 96, 100.0), cell_size=4.0)
    scene = clear(quality="high", greenness=0.7, snow_line=2.0, sun_height=70.0)
    pixels = draw(shown, from_above(shown, 0.8), scene, size=(614, 614)).astype(float).mean(axis=2)
    pixels = ndimage.gaussian_filter(pixels, 0.7)  # or single blades of grass would count
    dark = ndimage.binary_opening(pixels < 0.62 * ndimage.uniform_filter(pixels, 61))
    labels, number = ndimage.label(dark)
    assert number > 60
    across = np.sqrt(ndimage.sum_labels(dark, labels, np.arange(1, number + 1)))
    assert np.percentile(across, 99) > 3.0 * np.percentile(across, 20)


def test_a_plain_has_groves_and_meadows_of_tens_of_metres(draw: Draw) -> None:
    shown = snapshot(flat(150, 150, 100.0), cell_size=10.0)
    scene = clear(quality="high", greenness=1.0, snow_line=2.0, sun_height=60.0)
    pixels = draw(shown, from_above(shown, 0.92), scene, size=(460, 460)).astype(float).mean(axis=2)
    mean = ndimage.gaussian_filter(pixels, 10)[40:-40, 40:-40]
    assert mean.std() > 0.030 * mean.mean()


def test_bushes_stand_upright(draw: Draw) -> None:
    """Seen from low over the ground none is a flat dash, and all are lit on top."""
    shown = plateau()
    camera = Camera(glm.vec3(24.0 * 4.0, 100.0, 30.0 * 4.0), 0.0, 12.0, 90.0, 40.0)
    pixels = draw(shown, camera, clear(quality="high", greenness=0.6, sun_height=50.0), size=(640, 400))
    lower = pixels[160:].astype(float)
    green = ndimage.binary_opening(lower[..., 1] > 1.04 * lower[..., 0], iterations=1)
    labels, _ = ndimage.label(green)
    boxes = [box for box in ndimage.find_objects(labels) if green[box].sum() > 24]
    assert len(boxes) > 3
    shapes = [(box[0].stop - box[0].start) / (box[1].stop - box[1].start) for box in boxes]
    assert np.median(shapes) > 0.5


def test_bushes_are_darker_than_green_grass(draw: Draw) -> None:
    """Under a high sun, which throws hardly a shadow, spots among the grass are dark and not pale."""
    shown = snapshot(flat(48, 64, 100.0), cell_size=4.0)
    scene = clear(quality="high", greenness=1.0, snow_line=2.0, sun_height=85.0)
    pixels = draw(shown, from_above(shown, 0.3), scene, size=(320, 320)).astype(float).mean(axis=2)
    spots = ndimage.gaussian_filter(pixels, 1.0) / ndimage.gaussian_filter(pixels, 5.0)
    darkest, palest = np.percentile(spots, [1, 99])
    assert 1.0 - darkest > 1.05 * (palest - 1.0) > 0.05


def test_swales_of_a_plain_are_greener_and_darker_than_what_lies_between(draw: Draw) -> None:
    """They are too shallow for less light to fall into them."""
    rows, columns = np.mgrid[0:120, 0:120]
    low = np.cos(2.0 * np.pi * columns / 15.0) > 0.5
    high = np.cos(2.0 * np.pi * columns / 15.0) < -0.5
    ground = 100.0 - 0.1 * rows - 0.15 * np.cos(2.0 * np.pi * columns / 15.0)
    shown = snapshot(ground, cell_size=4.0)
    scene = clear(quality="high", greenness=0.7, snow_line=2.0, sun_height=89.0)
    pixels = draw(shown, from_above(shown, 1.0), scene, size=(120, 120)).astype(float)
    inner = np.zeros_like(low)
    inner[36:-36, 36:-36] = True
    swale, between = pixels[low & inner].mean(axis=0), pixels[high & inner].mean(axis=0)
    assert swale[1] / swale[0] > 1.05 * between[1] / between[0]
    assert swale.mean() < 0.9 * between.mean()


@pytest.mark.parametrize("quality", ["low", "medium"])
def test_lower_levels_have_shrubs_on_meadows(draw: Draw, quality: str) -> None:
    shown = snapshot(flat(48, 64, 100.0), cell_size=10.0)
    scene = clear(quality=quality, greenness=1.0, snow_line=2.0, sun_height=85.0)
    pixels = draw(shown, from_above(shown, 0.6), scene, size=(320, 320)).astype(float).mean(axis=2)
    assert 0.05 < (pixels < 0.85 * ndimage.gaussian_filter(pixels, 8.0)).mean() < 0.35


def test_a_stream_on_the_floor_of_a_dry_valley_has_bare_banks(draw: Draw) -> None:
    """Sand and gravel beside it are brighter than the scrub of the floor beyond."""
    row, column = np.mgrid[:96, :96]
    ground = 10.0 * (0.02 * np.abs(column - 48.0) + 0.01 * (96.0 - row))
    valley = with_materials(snapshot(ground, cell_size=10.0), materials(("sandstone", 400.0)), rise=1500.0)
    shown = with_rivers(valley, 1.5e5)
    scene = clear(quality="medium", greenness=1.0, fine_relief=0.0, sun_height=80.0)
    pixels = draw(shown, from_above(shown, 0.6), scene, size=(240, 240)).astype(float).mean(axis=2)
    assert pixels[40:, 125:140].mean() > 1.3 * pixels[40:, :90].mean()


def test_dry_mud_is_cracked_and_wet_mud_is_not(draw: Draw) -> None:
    scene, lines = clear(quality="high", sun_height=70.0), []
    for wetness in (0.0, 0.6):
        shown = living(wetness, kind="clay")
        pixels = draw(shown, from_above(shown, 0.012), scene, size=(240, 240)).astype(float).mean(axis=2)
        lines.append((pixels < 0.8 * ndimage.uniform_filter(pixels, 25)).mean())
    assert lines[0] > 0.04 > 4.0 * lines[1]


def test_grass_is_withered_where_it_freezes(show: Show) -> None:
    shown, ratio = living(0.6, 1.0, slope=0.2), []
    for temperature in (20.0, 1.0):
        scene = clear(snow_line=2.0).with_value("climate.temperature", temperature)
        red, green, _ = show(shown, from_above(shown, 0.5), scene).mean(axis=(0, 1))
        ratio.append(green / red)
    assert ratio[0] > 1.0 > 0.92 > ratio[1]


def test_grass_does_not_grow_on_a_wall_where_noise_alone_asks_for_it(draw: Draw) -> None:
    """Noise frays the borders of what grows, where the ground is gentle enough for some of it."""
    made = materials(("sandstone", 400.0), repeat=True)
    shown = with_materials(snapshot(plane(48, 64, 0.0, -25.0), cell_size=10.0), made, rise=1500.0)
    middle = glm.vec3(320.0, shown.lowest + 600.0, 240.0)
    camera, seen = Camera(middle, 0.0, 22.0, 1300.0, 16.0), []
    for greenness in (0.0, 0.5):
        scene = clear(quality="high", greenness=greenness, sun_direction=150.0, sun_height=35.0)
        seen.append(draw(shown, camera, scene, size=(320, 240))[60:180, 40:280].astype(float))
    assert np.abs(seen[0] - seen[1]).mean() < 0.30, "but on ledges between blocks"

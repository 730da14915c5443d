"""Pictures beside those that a person has looked at and found right, in `tests/screenshots`.

After a change that is meant to be seen, `pytest tests/passes/test_screenshots.py --regenerate-screenshots` makes them
anew. Look at each before it is committed: each test says what should be seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import moderngl
import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from pyglm import glm
from scipy import ndimage

from app.cli.headless import scene_camera
from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.survey import Surveyor, wanted_by
from app.files.recorder import write_png
from app.model.snapshot import Snapshot
from app.model.world import World
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.picture import Picture
from app.scene.scene import Scene, load_preset
from tests.app.small import simulated, small_preset
from tests.graphics import graphics
from tests.passes.worlds import (
    bumps,
    drowned,
    hills,
    island,
    materials,
    snapshot,
    with_layers,
    with_materials,
    with_rivers,
    wooded,
)

FOLDER = Path(__file__).parents[1] / "screenshots"
FAILED = FOLDER / "failed"

# Sines and exponentials may round differently from machine to machine.
ROUNDING = 2  # of 255
OUTLIERS = 0.001  # of the pixels

NUMBERS = itertools.count(1)  # of worlds that were simulated; those of `snapshot` are far higher

Shoot = Callable[..., None]


@pytest.fixture(scope="module")
def picture() -> Iterator[Picture]:
    with graphics() as context:
        picture = Picture(context, bake_at_once=True)
    yield picture
    with graphics():
        picture.release()


@pytest.fixture
def shoot(
    context: moderngl.Context,
    canvas: Canvas,
    picture: Picture,
    resting_place: moderngl.Framebuffer,
    request: pytest.FixtureRequest,
) -> Shoot:
    """Draws a picture and compares it with the reference that has the name of the test."""
    renderer = context.info["GL_RENDERER"]
    if "llvmpipe" not in renderer:
        pytest.skip(f"the references were drawn by llvmpipe, and here draws {renderer}")
    name = request.node.name.removeprefix("test_").replace("_", "-")

    def shoot(
        shown: Snapshot,
        scene: Scene,
        camera: Camera | None = None,
        *,
        size: tuple[int, int] = (320, 180),
        minimap: bool = False,
    ) -> None:
        resting_place.use()
        if picture.snapshot is not shown:
            picture.show(shown)
        picture.draw(canvas.framebuffer(*size), camera or scene_camera(scene, shown), scene, minimap=minimap)
        pixels = canvas.pixels()
        assert pixels is not None
        if request.config.getoption("--regenerate-screenshots"):
            write_png(FOLDER / f"{name}.png", pixels)
        else:
            compare(name, pixels)

    return shoot


def compare(name: str, pixels: NDArray[np.uint8]) -> None:
    path = FOLDER / f"{name}.png"
    assert path.exists(), f"there is no reference {path.name}; --regenerate-screenshots makes it"
    expected = np.asarray(Image.open(path).convert("RGB"), int)
    assert expected.shape == pixels.shape
    difference = np.abs(pixels - expected)
    outliers = (difference.max(axis=2) > ROUNDING).mean()
    if outliers > OUTLIERS:
        FAILED.mkdir(exist_ok=True)
        write_png(FAILED / f"{name}-actual.png", pixels)
        write_png(FAILED / f"{name}-difference.png", np.clip(16 * difference, 0, 255).astype(np.uint8))
        pytest.fail(f"{outliers:.2%} of the pixels of {name} differ; see tests/screenshots/failed")


def view(scene: Scene, **changes: float | str | bool) -> Scene:
    for name, value in changes.items():
        scene = scene.with_value(f"view.{name}", value)
    return scene


def opened(scene: Scene) -> Simulator:
    """A land before its first cycle, with what it has from its past."""
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    simulator.prepare_all()
    return simulator


def seen(simulator: Simulator) -> tuple[Snapshot, Scene]:
    """A land as it is now, with its streams."""
    simulator.verify()
    world, scene = simulator.world, simulator.scene
    survey = Surveyor().survey(world, scene.rivers, wanted_by(scene.view), scene.runoff)
    return take_snapshot(world, next(NUMBERS), survey=survey), scene


@cache
def jacksboro() -> tuple[Snapshot, Scene]:
    return seen(opened(view(load_preset("jacksboro"), quality="high")))


@cache
def rough_hills() -> Snapshot:
    ground = hills(160, 220, seed=12) * 900.0
    soil = 6.0 * np.maximum(hills(160, 220, seed=13) - 0.4, 0.0)
    return snapshot(ground, soil, cell_size=20.0)


@cache
def wet_hills() -> tuple[Snapshot, Scene]:
    """The same hills, deeper in the middle and at the southern edge, with lakes and rivers."""
    rows, columns = np.mgrid[:160, :220]
    dents = np.exp(-((rows - 80) ** 2 + (columns - 105) ** 2) / 500) + np.exp(
        -((rows - 150) ** 2 + (columns - 60) ** 2) / 300
    )
    ground = hills(160, 220, seed=12) * 900.0 - 190.0 * dents
    scene = view(Scene(), quality="high", stream_threshold=250.0)
    dry = snapshot(ground, cell_size=20.0)
    return with_rivers(dry, rain=scene.climate.precipitation), scene


def test_default_scene(shoot: Shoot) -> None:
    """The Jacksboro fault as the program opens: mountains in the sun above a valley with lakes, to which a ridge leads
    from the right; the skyline in the upper third, haze towards the back.
    """
    shoot(*jacksboro())


@pytest.mark.nightly
def test_portrait(shoot: Shoot) -> None:
    """The same land in a tall window: nothing is stretched, the land in the middle, sky above, table below."""
    shoot(*jacksboro(), size=(180, 320))


def test_top_view(shoot: Shoot) -> None:
    """The same land from straight above with north at the top: its outline is that of the map, shadows fall north."""
    shown, scene = jacksboro()
    rows, columns = shown.shape
    middle = glm.vec3(columns / 2, 0.0, rows / 2) * shown.cell_size
    shoot(shown, scene, Camera(middle, 0.0, 90.0, 2.1 * max(rows, columns) * shown.cell_size))


@pytest.mark.nightly
def test_low_sun(shoot: Shoot) -> None:
    """Evening: warm light from the right, long soft shadows, valleys in the dark, cool where the sun does not reach."""
    scene = view(Scene(), sun_height=9.0, sun_direction=65.0, quality="high")
    shoot(rough_hills(), scene)


def test_overlay_and_minimap(shoot: Shoot) -> None:
    """The steepness as colours from dark blue (flat) to yellow (steep); the minimap has the same, with the camera."""
    shoot(rough_hills(), view(Scene(), overlay="slope", quality="high"), size=(400, 260), minimap=True)


def test_low_quality(shoot: Shoot) -> None:
    """Hills at level low: the same light and colours, a little blurred, outlines smooth."""
    shown = replace(rough_hills(), world=next(NUMBERS))  # level low would keep the relief of a higher level
    shoot(shown, view(Scene(), quality="low"))


def test_high_quality(shoot: Shoot) -> None:
    """The same hills at a high level: crisp, with fine relief and smooth edges."""
    shoot(rough_hills(), view(Scene(), quality="high"))


def test_close_by(shoot: Shoot) -> None:
    """A slope from 200 m away: ground that is finer than the cells of 20 m, no facets, no tiles that repeat."""
    shown = rough_hills()
    height = float(shown.layers["bedrock"][80, 110])
    shoot(shown, view(Scene(), quality="high"), Camera(glm.vec3(2210.0, height, 1610.0), 20.0, 18.0, 260.0))


def test_smallest_map(shoot: Shoot) -> None:
    """Eight by eight cells: a small block with walls all round, smooth ground, sediment as a band on its sides."""
    shoot(snapshot(bumps(8, 8, seed=5) * 15.0, 4.0), view(Scene(), quality="high"))


@pytest.mark.nightly
def test_eroded(shoot: Shoot) -> None:
    """After 60 cycles of rain: gullies down the slopes, and loose sediment where it is flat."""
    world = World(hills(128, 128, seed=12) * 500.0, np.zeros((128, 128)), 20.0, seed=1)
    scene = view(Scene(), quality="high").with_value("droplets.count", 2000)
    simulator = Simulator(scene, world, threads=1)
    for _ in range(60):
        simulator.advance()
    simulator.verify()
    assert world.sediment.max() > 0.0
    survey = Surveyor().survey(world, scene.rivers, wanted_by(scene.view), scene.runoff)
    shoot(take_snapshot(world, next(NUMBERS), survey=survey), scene)


def test_lakes_and_rivers(shoot: Shoot) -> None:
    """Hills with a lake in the middle, dark where it is deep, and rivers that run into it and on, white where steep."""
    shown, scene = wet_hills()
    shoot(shown, scene, Camera(glm.vec3(2150.0, 350.0, 1700.0), 330.0, 32.0, 2600.0), minimap=True, size=(400, 260))


@pytest.mark.nightly
def test_lake_by_low_sun(shoot: Shoot) -> None:
    """The lake from near its shore, against the light: mirrored hills and sky, glitter, small waves, a soft shore."""
    shown, scene = wet_hills()
    camera = Camera(glm.vec3(2150.0, 330.0, 1650.0), 250.0, 9.0, 1300.0)
    shoot(shown, view(scene, sun_height=14.0, sun_direction=245.0), camera)


@pytest.mark.nightly
def test_lake_cut_by_the_edge(shoot: Shoot) -> None:
    """The block from its southern side: where the lake is cut, one looks into the water, its surface a bright line."""
    shown, scene = wet_hills()
    ground, level = shown.layers["bedrock"], shown.layers["water_level"].copy()
    brim = np.float32(ground[150, 60] + 120.0)
    label, _ = ndimage.label(ground < brim)
    level[label == label[150, 60]] = brim
    layers = {**shown.layers, "water_level": level, "water": level - ground}
    shown = replace(shown, world=shown.world + 5000, layers=layers)
    shoot(shown, view(scene, sun_direction=200.0), Camera(glm.vec3(1500.0, 300.0, 3100.0), 15.0, 14.0, 3200.0))


def test_open_sea(shoot: Shoot) -> None:
    """The hills drowned up to their slopes: pale shallows, a sea that passes the map's edge and the horizon unseen."""
    shown = rough_hills()
    ground = shown.layers["bedrock"] + shown.layers["sediment"]
    level = np.maximum(ground, np.float32(420.0))
    layers = {**shown.layers, "water_level": level, "water": level - ground}
    sea = replace(shown, world=shown.world + 5000, layers=layers, versions=dict.fromkeys(layers, 0), sea_level=420.0)
    shoot(sea, view(Scene(), quality="high"), Camera(glm.vec3(2200.0, 420.0, 1600.0), 330.0, 12.0, 5200.0))


@cache
def small_island() -> Snapshot:
    return drowned(snapshot(island(220, 260, seed=2, relief=900.0), cell_size=20.0), 0.0)


def surf(**changes: float | str) -> Scene:
    scene = view(Scene(), quality="high", sun_height=30.0).with_value("climate.wind_direction", 215.0)
    for name, value in {"wavelength": 0.045, **changes}.items():
        scene = scene.with_value(f"waves.{name}", value)
    return scene


def test_surf(shoot: Shoot) -> None:
    """An island from the sea: fronts that bend around it, broken into waves of their own, white where they break."""
    shoot(small_island(), surf(), Camera(glm.vec3(2000.0, 0.0, 2900.0), 20.0, 22.0, 2600.0), size=(400, 260))


def test_beach(shoot: Shoot) -> None:
    """Close by: the edge of the water is foam, the ground that it has left is dark and dries."""
    shoot(small_island(), surf(), Camera(glm.vec3(1850.0, 5.0, 2950.0), 35.0, 14.0, 650.0), size=(400, 260))


def test_sea_as_lines(shoot: Shoot) -> None:
    """The island in an even blue sea with a white coast and white lines around it, fainter the farther, with gaps."""
    camera = Camera(glm.vec3(2600.0, 0.0, 2200.0), 330.0, 35.0, 7500.0)
    shoot(small_island(), surf(style="lines"), camera, size=(400, 260), minimap=True)


def test_cells_of_the_coast(shoot: Shoot) -> None:
    """Around the island cells in many colours, each as wide as its piece of the coast; in the minimap too."""
    camera = Camera(glm.vec3(2600.0, 0.0, 2200.0), 0.0, 90.0, 9000.0)
    shoot(small_island(), surf(stage="cells"), camera, minimap=True)


@cache
def canyon_land() -> Snapshot:
    """A plateau cut by a river's bend: cliffs in tilted and folded strata, sand on their ledges and on the floor."""
    rows, columns = np.mgrid[:192, :192] / 192.0
    middle = 0.5 + 0.13 * np.sin(7.0 * columns) + 0.05 * np.sin(19.0 * columns + 1.0)
    away = np.abs(rows - middle) + 0.05 * (hills(192, 192, seed=4) - 0.5)
    height = 260.0 * np.clip((away - 0.02) / 0.22, 0.0, 1.0) ** 0.8 + 60.0 * (hills(192, 192, seed=7) - 0.5)
    step = height / 55.0
    within = step - np.floor(step)
    terraces = 55.0 * (np.floor(step) + 0.75 * np.clip((within - 0.25) / 0.35, 0.0, 1.0) + 0.25 * within)
    ground = ndimage.gaussian_filter(terraces, 0.7)
    steepness = np.hypot(*np.gradient(ground, 12.0))
    sand = ndimage.gaussian_filter(np.clip(4.0 * (0.5 - steepness), 0.0, 3.0), 1.0)
    sand *= np.clip(1.2 - 3.0 * away, 0.0, 1.0)
    stack = ("sandstone", 40.0), ("clay", 12.0), ("sandstone", 22.0), ("clay", 30.0), ("granite", 30.0)
    made = materials(*stack, repeat=True)
    rise = 300.0 + 40.0 * np.sin(4.0 * columns + 2.0 * rows) - 90.0 * columns
    return with_materials(snapshot(ground, sand, cell_size=12.0), made, made.kind("sand"), rise)


INTO_THE_CANYON = Camera(glm.vec3(1350.0, 100.0, 960.0), 292.0, 17.0, 2100.0)


def test_canyon(shoot: Shoot) -> None:
    """Bands of sandstone and clay run along cliffs and the block's side, tilted and folded; sand on the ledges."""
    scene = view(Scene(), quality="high", greenness=0.0)
    shoot(canyon_land(), scene, INTO_THE_CANYON, size=(400, 260))


def test_dust_storm(shoot: Shoot) -> None:
    """The canyon in a storm: the sun and the horizon dim, the far side pale in the dust, veils over the ground."""
    scene = view(Scene(), quality="high", greenness=0.0)
    scene = scene.with_values({"climate.storms": 1.0, "climate.storm_length": 60})
    shown = replace(with_layers(canyon_land(), airborne=0.03, wind_path=0.3), cycle=30)
    shoot(shown, scene, INTO_THE_CANYON, size=(400, 260))


def test_wet_ground_and_grass(shoot: Shoot) -> None:
    """Hills of four kinds of ground: dark and glossy where wet, marsh in the hollows, tufts that thicken to meadows."""
    ground = hills(160, 220, seed=12) * 500.0
    low = 1.0 - ndimage.gaussian_filter(ground, 2.0) / 500.0
    steepness = np.hypot(*np.gradient(ground, 20.0))
    wetness = np.clip(2.6 * (low - 0.38), 0.0, 1.0) * np.clip(1.3 - steepness, 0.0, 1.0)
    uneven = 0.7 * (hills(160, 220, seed=33) - 0.5)
    grass = np.clip(1.6 * wetness + uneven, 0.0, 1.0) * np.clip(1.5 - 1.8 * steepness, 0.0, 1.0)
    kinds = np.floor(3.999 * hills(160, 220, seed=21))
    land = snapshot(ground, 2.5 * np.clip(1.3 - 1.6 * steepness, 0.0, 1.0), cell_size=20.0)
    shown = with_materials(land, materials(("sandstone", 60.0), ("granite", float("inf"))), kinds, rise=480.0)
    shown = with_layers(shown, wetness=wetness, grass=grass)
    camera = Camera(glm.vec3(2300.0, 200.0, 1650.0), 330.0, 22.0, 2300.0)
    shoot(shown, view(Scene(), quality="high"), camera, size=(400, 260))


def test_forest(shoot: Shoot) -> None:
    """Hills with woods: broadleaves below, dark conifers above, gaps with grass; near trees have shadows of their own,
    far ones pass into a colour of the slopes without a border."""
    land = snapshot(hills(200, 200, seed=12, roughness=2.6) * 1000.0, cell_size=20.0)
    shown = wooded(land, 26_000)
    camera = Camera(glm.vec3(1800.0, float(land.layers["bedrock"][150, 90]), 3000.0), 20.0, 16.0, 1500.0)
    shoot(shown, view(Scene(), quality="high", sun_direction=290.0), camera, size=(400, 260), minimap=True)


# One of each family of presets, as it opens and after some cycles: what processes make, and not only what tests invent.


def simulated_preset(name: str, columns: int, cycles: int) -> tuple[Snapshot, Scene]:
    preset = msgspec.structs.replace(small_preset(name, columns), keys={})  # the light as it opens
    return seen(simulated(cycles, view(preset, quality="high")))


@pytest.mark.nightly
def test_simulated_mountains(shoot: Shoot) -> None:
    """Sharp ridges with some snow around a lake that mirrors them, green where it is level, one side in the shade."""
    shoot(*simulated_preset("ridged", 256, 60))


@pytest.mark.nightly
def test_simulated_lakes(shoot: Shoot) -> None:
    """Rounded hills with a large lake between them and others behind, bare ground on their shores, green in hollows."""
    shoot(*simulated_preset("lakes", 192, 60))


@pytest.mark.nightly
def test_simulated_dunes(shoot: Shoot) -> None:
    """Sand to the edge of the block, in low crests across the wind with a short slip face in the shade behind each."""
    shoot(*simulated_preset("dune-field", 256, 150))


def test_simulated_island(shoot: Shoot) -> None:
    """A volcano and lower hills in a deep sea, ravines with streams from their tops to the beach, surf where waves
    meet it, a lake behind the coast.
    """
    shoot(*simulated_preset("island", 192, 80))


@pytest.mark.nightly
def test_simulated_forest(shoot: Shoot) -> None:
    """An old volcano in the sea, its crater open to the viewer, with woods all over but where it is steep; surf."""
    shoot(*simulated_preset("forest-island", 192, 120))


def test_simulated_canyon(shoot: Shoot) -> None:
    """A gorge that winds through a plateau, its walls in bands of ochre and white, its bottom in the shade."""
    shoot(*simulated_preset("canyon", 176, 60))


def test_simulated_delta(shoot: Shoot) -> None:
    """A river comes from a gap between mountains to a lake, with new and green land at its mouth; dunes in the west."""
    shoot(*simulated_preset("delta", 136, 60))

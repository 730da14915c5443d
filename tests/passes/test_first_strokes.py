"""The first stroke of a brush on a land changes the picture where the brush was, and nowhere else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.brushes.tools import TOOLS
from app.cli.headless import scene_camera
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.model.plants import GRASS, ROOTED_GROUND
from app.model.world import World
from app.scene.edits import Stroke
from app.scene.scene import Scene, presets
from kernels.brushes import FORMS
from kernels.standing import DRY
from tests.app.small import simulated, small_preset
from tests.nets.profile import is_nightly
from tests.passes.conftest import Draw

# Lines and stamps reach farther than a brush, and drops run on.
PAINTING = [name for name, tool in TOOLS.items() if tool.act and tool.gesture == "paint" and not tool.runs_drops]
TRIED = tuple(presets()) if is_nightly() else ("jacksboro", "spring")  # one without plants and with lakes, one with
PIXELS = 100  # along a side
RADIUS = 0.06  # of a brush, in the land's sides
SEEN = 8  # of 255: more than what light and water farther off have of a touch
UNSEEN = 0.01  # of the pixels away from it

FROM_ABOVE = {
    "camera.pitch": 85.0,
    "camera.heading": 0.0,
    "camera.distance": 1.4,
    "camera.target_east": 0.5,
    "camera.target_south": 0.5,
    "view.clouds": 0.0,
    "view.overlay": "none",
}


@pytest.mark.parametrize("name", TRIED)
def test_a_first_stroke_changes_the_picture_where_it_was_alone(
    name: str, draw: Draw, subtests: pytest.Subtests
) -> None:
    begun = simulated(2, small_preset(name, 40).with_values(FROM_ABOVE))
    begun.settle_levels()
    numbers = itertools.count(1)  # a world for each picture, which keeps nothing of the one before
    untouched: dict[str, NDArray[np.int16]] = {}  # by the process that a tool needs
    for tool in PAINTING:
        for choice in choices(begun.world, tool):
            with subtests.test(tool=tool, choice=choice):
                simulator = begun.copy()
                needed = f"{TOOLS[tool].needs}.enabled" if TOOLS[tool].needs else ""
                if needed and not simulator.scene.value(needed):
                    simulator.change(simulator.scene.with_value(needed, True))
                else:
                    needed = ""
                if needed not in untouched:
                    untouched[needed] = picture_of(simulator, next(numbers), draw)
                row, column = middle_of_heights(simulator.world)
                simulator.paint(stroke(simulator.world, tool, choice, row, column))
                simulator.settle_levels()
                away = far_from(simulator, row, column)
                drawn = picture_of(simulator, next(numbers), draw)
                changed = np.abs(drawn - untouched[needed]).max(axis=2) > SEEN
                assert np.mean(changed[away]) < UNSEEN


def test_plants_begin_as_green_as_the_picture_was() -> None:
    simulator = simulated(2, small_preset("jacksboro", 40))
    world, greenness = simulator.world, simulator.scene.view.greenness
    assert ROOTED_GROUND not in world.layers and greenness > 0.5
    simulator.change(
        simulator.scene.with_values({"plants.enabled": True, "plants.grass_at_start": greenness, "plants.rate": 0.0})
    )
    simulator.advance()
    steep = np.hypot(*np.gradient(world.ground, world.cell_size))
    dry = world.standing == DRY
    grass = world.layers[GRASS]
    np.testing.assert_allclose(grass[dry & (steep < 0.45)], greenness, rtol=0.01)
    assert not grass[steep > 1.0].any() and not grass[~dry].any()


def choices(world: World, tool: str) -> Iterator[str]:
    kinds = world.materials.names if world.materials else ("sediment",)
    known = {"loose": kinds, "plant": (GRASS, *world.flora.names), "form": tuple(FORMS), "rate": ("rain",)}
    yield from known.get(TOOLS[tool].choice, ("",))[: None if is_nightly() else 1]


def middle_of_heights(world: World) -> tuple[int, int]:
    """A dry cell far from the edges that is neither high nor low: a touch leaves the span of heights as it is."""
    rows, columns = world.shape
    off = np.abs(world.ground - np.median(world.ground)) + np.where(world.standing == DRY, 0.0, 1e9)
    inner = off[rows // 4 : -(rows // 4), columns // 4 : -(columns // 4)]
    row, column = np.unravel_index(int(inner.argmin()), inner.shape)
    return int(row) + rows // 4, int(column) + columns // 4


def stroke(world: World, tool: str, choice: str, row: int, column: int) -> Stroke:
    """One dab with the brush as it is at first."""
    height, lowest, highest = (
        float(value) for value in (world.ground[row, column], world.ground.min(), world.ground.max())
    )
    radius = RADIUS * max(world.shape) * world.cell_size
    amount = {
        "metres": min(0.0125 * radius, 0.3 * (height - lowest), 0.3 * (highest - height)),
        "part": 0.2,
        "seeds": 0.25,
    }[TOOLS[tool].amount]
    at = ((column + 0.5) * world.cell_size, (row + 0.5) * world.cell_size, 1.0)
    return Stroke(tool, (at,), radius, amount, hardness=0.35, level=height, choice=choice)


def picture_of(simulator: Simulator, number: int, draw: Draw) -> NDArray[np.int16]:
    snapshot = take_snapshot(simulator.world, number, overlay="none")
    camera = scene_camera(simulator.scene, snapshot, aspect=1.0)
    return draw(snapshot, camera, simulator.scene, size=(PIXELS, PIXELS)).astype(np.int16)


def far_from(simulator: Simulator, row: int, column: int) -> NDArray[np.bool_]:
    """The pixels that lie farther from a cell than three radii of the brush."""
    world, scene = simulator.world, simulator.scene
    side = max(world.shape) * world.cell_size
    middle, beside = (
        pixel_of(scene, simulator, (column + 0.5) * world.cell_size + east, (row + 0.5) * world.cell_size)
        for east in (0.0, RADIUS * side)
    )
    reach = 3.0 * np.hypot(*(middle - beside)) + 4.0
    down, across = np.mgrid[:PIXELS, :PIXELS]
    far: NDArray[np.bool_] = np.hypot(across - middle[0], down - middle[1]) > reach
    return far


def pixel_of(scene: Scene, simulator: Simulator, east: float, south: float) -> NDArray[np.float64]:
    camera = scene_camera(scene, take_snapshot(simulator.world, overlay="none"), aspect=1.0)
    height = float(np.median(simulator.world.ground)) * scene.view.exaggeration
    point = camera.projection(1.0) * camera.view() * glm.vec4(east, height, south, 1.0)
    return np.array([0.5 + 0.5 * point.x / point.w, 0.5 - 0.5 * point.y / point.w]) * PIXELS

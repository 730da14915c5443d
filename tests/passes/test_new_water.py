"""Water that has just come to a land, or gone from it, is seen as water, or ground, in each frame that follows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.cli.headless import scene_camera
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.picture.canvas import Canvas
from app.picture.picture import Picture
from app.scene.edits import Stroke
from tests.app.small import simulated, small_preset
from tests.nets.profile import is_nightly
from tests.passes.test_first_strokes import FROM_ABOVE, PIXELS, RADIUS, far_from, middle_of_heights

TRIED = ("jacksboro", "lakes")  # whose ground is nowhere as bright as foam
LEVELS = ("lowest", "low", "high") if is_nightly() else ("low",)
SIZE = (PIXELS, PIXELS)
FRAMES = 3  # after each touch: light is worked out over some
WHITE = 170  # of 255, in red, green and blue: more than any ground or water seen from above
CHANGED = 8  # steps of 255
FEW = 0.01  # of the pixels around the place


@pytest.fixture
def pictures(context: moderngl.Context, resting_place: moderngl.Framebuffer) -> Iterator[tuple[Picture, Canvas]]:
    """A picture whose light is worked out gradually, as in the window."""
    picture, canvas = Picture(context, quality="low"), Canvas(context)
    yield picture, canvas
    resting_place.use()
    picture.release()
    canvas.release()


@pytest.mark.parametrize(("name", "level"), list(itertools.product(TRIED, LEVELS)))
def test_new_water_is_nowhere_white(
    name: str, level: str, pictures: tuple[Picture, Canvas], resting_place: moderngl.Framebuffer
) -> None:
    """White comes into no place where it was not: not where a lake is made, undone, or water is poured."""
    still = FROM_ABOVE | {"view.quality": level, "pools.enabled": True}
    begun = simulated(2, small_preset(name, 40).with_values(still))
    begun.settle_levels()
    picture, canvas = pictures
    camera = scene_camera(begun.scene, take_snapshot(begun.world, overlay="none"), aspect=1.0)

    def frames(simulator: Simulator, number: int) -> NDArray[np.int16]:
        """The least of red, green and blue, [frame, row, column]."""
        picture.show(take_snapshot(simulator.world, number, overlay="none"))
        seen = []
        for frame in range(FRAMES):
            resting_place.use()
            picture.draw(canvas.framebuffer(*SIZE), camera, simulator.scene, time=frame / 10.0)
            pixels = canvas.pixels()
            assert pixels is not None
            seen.append(pixels.min(axis=2).astype(np.int16))
        return np.stack(seen)

    before = frames(begun, 1)

    row, column = middle_of_heights(begun.world)
    near = ~far_from(begun, row, column)

    def new_white(seen: NDArray[np.int16]) -> float:
        return float(((seen > WHITE) & (np.abs(seen - before[-1]) > CHANGED))[:, near].mean())

    side, cell = max(begun.world.shape) * begun.world.cell_size, begun.world.cell_size
    place = ((column + 0.5) * cell, (row + 0.5) * cell, 1.0)
    for number, tool in enumerate(("lake", "pour"), 2):
        simulator = begun.copy()
        frames(simulator, 2 * number)
        for part in range(1 if tool == "lake" else 3):
            simulator.paint(Stroke(tool, (place,), RADIUS * side, 0.15 * RADIUS * side, number=1, first=part))
            simulator.settle_levels()
            seen = frames(simulator, 2 * number)
            assert new_white(seen) < FEW, tool
        assert simulator.world.water.sum() > begun.world.water.sum()
        gone = frames(begun.copy(), 2 * number + 1)  # as an undo shows it: another world
        assert new_white(gone) < FEW, f"{tool}, undone"
        np.testing.assert_allclose(gone[-1], before[-1], atol=3)

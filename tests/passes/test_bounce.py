"""Light that the land throws back: which map it comes from, when that is drawn, and what it does to a picture."""

from __future__ import annotations

from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes.bounce import BounceMap
from app.picture.passes.shaders import ShaderLibrary
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import pyramid, snapshot, with_layers, with_water

CELL, SIDE = 20.0, 64


def valleys() -> Snapshot:
    """Each between two slopes: a sun in the west lights the eastern one, which faces west."""
    east = np.broadcast_to(np.abs(np.arange(SIDE) % 16 - 7.5), (SIDE, SIDE))
    return snapshot(0.9 * CELL * east, cell_size=CELL, world=5)


def scene(**view: float | str) -> Scene:
    low_sun = {"sun_direction": 270.0, "sun_height": 25.0, "greenness": 0.0, "snow_line": 2.0, "fine_relief": 0.0}
    return Scene().with_values({f"view.{name}": value for name, value in (low_sun | view).items()})


def from_above() -> Camera:
    return Camera(glm.vec3(0.5 * SIDE * CELL, 0.0, 0.5 * SIDE * CELL), 0.0, 90.0, 2.0 * SIDE * CELL, 30.0)


def in_shade(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The mean colour of the darker third of the land in a picture from above."""
    land = pixels[20:100, 40:120].reshape(-1, 3).astype(float)
    brightness = land.sum(axis=1)
    colour: NDArray[np.float64] = land[brightness < np.percentile(brightness, 33)].mean(axis=0)
    return colour


def bounce_of(picture: Picture) -> NDArray[np.float32]:
    assert picture.frame is not None
    texture = picture.frame.textures["bounce"]
    width, height = texture.size[:2]
    roots = np.frombuffer(texture.read(), np.uint8).reshape(height, width, 4)[..., :3] / np.float32(255.0)
    light: NDArray[np.float32] = 4.0 * roots * roots
    return light


def test_lakes_are_as_muddy_as_their_water_where_they_are_seen_by_the_way(draw: Draw, picture: Picture) -> None:
    """In what other water mirrors, and in land around the block."""
    lake = with_water(snapshot(pyramid(SIDE, SIDE, 32, 32, -300.0, 24), cell_size=CELL, world=6), -100.0)
    ratios = []
    for world, load in enumerate((0.0, 20.0)):
        muddy = replace(with_layers(lake, suspended=load), world=7 + world)
        draw(muddy, from_above(), scene(quality="high"))
        assert picture.frame is not None
        texture = picture.frame.textures["lit_land"]
        width, height = texture.size[:2]
        land = np.frombuffer(texture.read(), np.float16).reshape(height, width, 4).astype(float)
        red, _, blue, _ = land[height // 2, width // 2]
        ratios.append(red / blue)
    assert ratios[0] < 0.3 and ratios[1] > 0.7, f"{ratios}"


def test_a_slope_is_lit_by_what_it_faces(draw: Draw, picture: Picture) -> None:
    """The western slope lies in shade, and faces the one in the sun."""
    draw(valleys(), from_above(), scene(quality="high"))
    light = bounce_of(picture).mean(axis=(0, 2))
    shady, sunny = light[34:36].mean(), light[44:46].mean()
    assert shady > 1.05 * sunny > 0.0, "half way down on either side"


@pytest.mark.parametrize("quality", ["lowest", "high"])
def test_shade_is_warmer_beside_land_in_the_sun(draw: Draw, quality: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lit = in_shade(draw(valleys(), from_above(), scene(quality=quality)))
    monkeypatch.setattr("app.picture.passes.bounce.REACH", 1e-3)  # only from where it lies itself
    alone = in_shade(draw(valleys(), from_above(), scene(quality=quality, haze=1.001)))
    assert lit[0] > alone[0] + 4.0 and lit[2] / lit[0] < 0.95 * alone[2] / alone[0]


def test_shade_under_a_blue_sky_is_no_cobalt(draw: Draw) -> None:
    colour = in_shade(draw(valleys(), from_above(), scene(quality="high", sun_height=8.0)))
    assert 1.0 - colour.min() / colour.max() < 0.5


def test_it_is_drawn_in_bands_towards_one_goal_at_a_time(
    context: moderngl.Context, shaders: ShaderLibrary, resting_place: moderngl.Framebuffer
) -> None:
    bounce = BounceMap(context, shaders)
    surface = context.texture((8, 8), 4, bytes(4 * 4 * 64), dtype="f4")

    def bands(goal: str, world: int, *, at_once: bool = False) -> list[tuple[int, int]]:
        found = []
        for number in range(100):
            bounce.begin(world, (64, 32), (goal, number) if goal == "moves" else goal, 256, 16, at_once=at_once)
            if bounce.band is None:
                break
            found.append(bounce.band)
            bounce.finish(surface)
        return found

    assert bands("first", 1) == [(0, 8)], "that of a new world is whole at once"
    assert bands("first", 1) == [] and bounce.is_settled
    bounce.begin(1, (64, 32), "second", 32, 16, at_once=False)
    assert bounce.band == (0, 2) and not bounce.is_settled
    bounce.finish(surface)
    bounce.begin(1, (64, 32), "third", 32, 16, at_once=False)
    assert bounce.band == (2, 4), "what is under way is finished first"
    bounce.finish(surface)
    for row in (4, 6):
        bounce.begin(1, (64, 32), "third", 32, 16, at_once=False)
        assert bounce.band == (row, row + 2)
        bounce.finish(surface)
    assert not bounce.is_settled, "a frame has asked for the third meanwhile"
    bounce.begin(1, (64, 32), "third", 32, 16, at_once=False)
    assert bounce.band == (0, 2)
    bounce.begin(1, (64, 32), "third", 32, 16, at_once=True)
    assert bounce.band == (0, 8)
    bounce.finish(surface)
    assert bands("third", 1) == []
    for goal, row in (("fourth", 0), ("fifth", 2), ("fourth", 4), ("fourth", 6)):
        bounce.begin(1, (64, 32), goal, 32, 16, at_once=False)
        assert bounce.band == (row, row + 2)
        bounce.finish(surface)
    assert not bounce.is_settled, "two rows have the light of the fifth"
    assert bands("fourth", 1) == [(0, 8)] and bounce.is_settled
    resting_place.use()
    bounce.release()
    surface.release()

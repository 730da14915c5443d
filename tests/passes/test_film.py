"""Pictures of one size, put together of what is drawn in any size."""

from __future__ import annotations

from collections.abc import Iterator

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.picture.canvas import Canvas
from app.picture.film import Film, fitted
from app.picture.sides import Area
from tests.nets.cases import tried

SIDES = st.integers(2, 4000)


@tried(100)
@given(st.tuples(SIDES, SIDES), st.tuples(SIDES, SIDES))
def test_a_picture_keeps_its_shape_and_stands_in_the_middle(size: tuple[int, int], into: tuple[int, int]) -> None:
    scale, left, bottom = fitted(size, into)
    for have, room, corner in zip(size, into, (left, bottom), strict=True):
        assert corner >= -1e-6 and corner + scale * have <= room + (1 if scale == 1.0 else 1e-6)
        assert corner == pytest.approx(0.5 * (room - scale * have), abs=0.51)
    assert min(left, bottom) < 1e-6


@tried(100)
@given(st.tuples(SIDES, SIDES))
def test_an_odd_pixel_is_cut_and_nothing_scaled(size: tuple[int, int]) -> None:
    assert fitted(size, (size[0] // 2 * 2, size[1] // 2 * 2)) == (1.0, 0.0, 0.0)


@pytest.fixture
def canvases(context: moderngl.Context, resting_place: moderngl.Framebuffer) -> Iterator[list[Canvas]]:
    made = [Canvas(context), Canvas(context)]
    yield made
    resting_place.use()
    for canvas in made:
        canvas.release()


def test_two_sides_become_one_picture_also_in_another_size(
    context: moderngl.Context, canvases: list[Canvas], resting_place: moderngl.Framebuffer
) -> None:
    areas = [Area(0, 60, 50), Area(60, 40, 50)]
    parts = []
    for canvas, area, red in zip(canvases, areas, (90, 180), strict=True):
        target = canvas.framebuffer(area.width, area.height)
        pixels = np.full((area.height, area.width, 4), (red, 10, 20, 255), np.uint8)
        pixels[:10] = (red, 200, 20, 255)  # the uppermost rows
        canvas.paint(pixels, 0, 0)
        parts.append((target, area))
    for size, scale, (left, top) in (((100, 50), 1, (0, 0)), ((200, 140), 2, (0, 20)), ((260, 100), 2, (30, 0))):
        film = Film(context, *size)
        seen = film.expose(parts, (100, 50))[..., :3]
        resting_place.use()
        film.release()
        assert seen.shape == (size[1], size[0], 3)
        inside = seen[top : top + 50 * scale, left : left + 100 * scale]
        for column, red in ((30, 90), (80, 180)):
            assert tuple(inside[5 * scale, column * scale]) == (red, 200, 20)
            assert tuple(inside[30 * scale, column * scale]) == (red, 10, 20)
        outside = np.ones(seen.shape[:2], bool)
        outside[top : top + 50 * scale, left : left + 100 * scale] = False
        assert not seen[outside].any()

"""Framebuffers that are released while they are in use, as at the end of a film."""

from __future__ import annotations

from collections.abc import Callable

import moderngl
import pytest

from app.picture.canvas import Canvas
from app.picture.passes.targets import MapTarget

SIZE = (8, 4)


def release_a_target(context: moderngl.Context) -> None:
    target = MapTarget(context, (4, "f1"))
    target.fit(SIZE)
    target.framebuffer.use()
    target.release()


def outgrow_a_target(context: moderngl.Context) -> None:
    target = MapTarget(context, (4, "f1"))
    target.fit(SIZE)
    target.framebuffer.use()
    target.fit((16, 4))


def release_a_canvas(context: moderngl.Context) -> None:
    canvas = Canvas(context)
    canvas.framebuffer(*SIZE).use()
    canvas.release()


@pytest.mark.parametrize("let_go", [release_a_target, outgrow_a_target, release_a_canvas])
def test_what_is_made_after_one_in_use_is_released_meets_no_error(
    context: moderngl.Context, let_go: Callable[[moderngl.Context], None]
) -> None:
    let_go(context)
    made = context.framebuffer([context.texture(SIZE, 4)])
    made.clear(1.0, 0.0, 0.0, 1.0)
    assert made.read()[:3] == b"\xff\x00\x00"
    assert context.error == "GL_NO_ERROR"

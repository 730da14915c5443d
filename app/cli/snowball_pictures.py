"""One land after different numbers of snowballs, side by side, as in the article's comparison (Talle 2020)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

from app.cli.render import headless_context, scene_camera
from app.engine.creation import create_world
from app.engine.memory import check_memory
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.files.recorder import Pixels, open_recorder
from app.model.numbers import spaced
from app.model.world import World
from app.picture.canvas import Canvas
from app.picture.lettering import sign
from app.picture.picture import Picture
from app.scene.scene import Scene

LABEL_SCALE = 540  # pixels of a picture's height at which its label is as large as the panel's text
GAP = 4  # pixels between pictures


def draw_snowballs(
    scene: Scene, path: Path, *, numbers: Sequence[int], size: tuple[int, int], threads: int | None = None
) -> None:
    """Draw the land of a scene after each number of snowballs into one picture, two in a row, each of `size`."""
    columns = min(len(numbers), 2)
    rows = -(-len(numbers) // columns)
    width, height = size
    whole = (columns * width + (columns - 1) * GAP, rows * height + (rows - 1) * GAP)
    with contextlib.ExitStack() as stack:
        record = stack.enter_context(open_recorder(path, *whole, fps=1))
        context = stack.enter_context(headless_context())
        picture = Picture(context, bake_at_once=True)
        stack.callback(picture.release)
        canvas = Canvas(context)
        stack.callback(canvas.release)
        sheet: Pixels = np.zeros((whole[1], whole[0], 3), np.uint8)
        for number, balls in enumerate(tqdm(numbers, desc="rolling", unit="picture")):
            # Each from the start, because each ends with a blur: the balls that fall first are the same.
            world, made = rolled(scene, balls, threads)
            snapshot = take_snapshot(world, number)
            picture.show(snapshot)
            picture.draw(canvas.framebuffer(*size), scene_camera(made, snapshot), made, minimap=False)
            pixels = canvas.pixels()
            assert pixels is not None
            row, column = divmod(number, columns)
            top, left = row * (height + GAP), column * (width + GAP)
            part = sheet[top : top + height, left : left + width]
            part[...] = pixels
            _label(part, f"{spaced(balls)} snowballs" if balls else "before")
        record(sheet)
    print(path)


def _label(picture: Pixels, words: str) -> None:
    """Write into the upper left corner of a picture, in place."""
    rows, columns = picture.shape[:2]
    letters = sign((words,), max(rows / LABEL_SCALE, 0.4), columns)[:rows, :columns]
    picture[: letters.shape[0], : letters.shape[1]] = letters[..., :3]


def rolled(scene: Scene, balls: int, threads: int | None = None) -> tuple[World, Scene]:
    """The world of a scene after a run of `balls` snowballs, with all other processes paused."""
    world, scene = create_world(scene, partial(check_memory, [scene], shown=True))
    simulator = Simulator(scene, world, threads)
    simulator.begin_run(balls)
    simulator.compile_missing()
    while not simulator.run_is_over:
        simulator.advance()
    simulator.verify()
    simulator.derive_levels()
    return world, scene

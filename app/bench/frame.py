"""The picture beside the simulation: how steady its frames are, and what a new state costs it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np

from app.bench.row import Row
from app.canvas import Canvas
from app.errors import UserError
from app.opening import open_scene
from app.passes.maps import LayerTextures
from app.picture import Picture
from app.render import headless_context, scene_camera
from app.scene import DEFAULT_PRESET, Scene
from app.simulation import SimulationThread, take_snapshot
from app.sources import create_world

FRAMES_PER_SECOND = 60  # what a screen shows
PATIENCE = 120.0  # seconds after which a measurement has failed


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    size, frames, pairs = ((64, 36), 3, 1) if tiny else ((1280, 720), 120, 5)
    scene = open_scene(DEFAULT_PRESET)
    if tiny:
        scene = scene.with_value("world.columns", 32)
    with headless_context() as context:
        width, height = size
        without, running = frame_times(context, scene, size, frames, pairs)
        worst = [percentile_99(times) for times in without]
        ratios = [percentile_99(times) / other for times, other in zip(running, worst, strict=True)]
        yield Row(f"frame time p99, {width}×{height}, simulation paused", 1e3 * statistics.median(worst), "ms", None)
        yield Row("frame time p99, simulation running against paused", statistics.median(ratios), "times", 1.5)

        side, samples = (32, 3) if tiny else (1024, 201)
        milliseconds = upload_milliseconds(context, side, samples)
        yield Row(f"snapshot and upload of one layer, {side}²", milliseconds, "ms", 1.0)


def frame_times(
    context: moderngl.Context, scene: Scene, size: tuple[int, int], frames: int, pairs: int
) -> tuple[list[list[float]], list[list[float]]]:
    """Seconds for each frame, in blocks with the simulation paused and, in turn with them, running."""
    simulation = SimulationThread(scene)
    simulation.first_picture_shown.set()
    simulation.start()
    picture = Picture(context)
    canvas = Canvas(context)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (taken := simulation.take()) or taken[0].cycle == 0:
            if simulation.status.state == "failed" or time.monotonic() > deadline:
                raise UserError(f"the simulation does not run: {simulation.status.error or 'it takes too long'}")
            time.sleep(0.01)
        picture.show(taken[0])
        camera = scene_camera(scene, taken[0])

        def block(count: int) -> list[float]:
            """Draw as the window does: a frame, then a wait for the screen; the camera moves, so each frame differs."""
            nonlocal camera
            times = []
            for _ in range(count):
                begin = time.perf_counter()
                simulation.frame_began()
                if newer := simulation.take():
                    picture.show(newer[0])
                camera = replace(camera, heading=camera.heading + 0.5)
                picture.draw(canvas.framebuffer(*size), camera, scene, time=begin, minimap=scene.view.minimap)
                context.finish()
                times.append(time.perf_counter() - begin)
                time.sleep(max(0.0, 1.0 / FRAMES_PER_SECOND - times[-1]))
            return times

        block(frames)
        # From here on at the level that the picture has found for this machine: a change would be taken for a ratio.
        scene = scene.with_value("view.quality", picture.quality(scene.view).name)
        without, running = [], []
        for _ in range(pairs):
            simulation.set_paused(True)
            block(max(frames // 10, 1))
            without.append(block(frames))
            simulation.set_paused(False)
            block(max(frames // 10, 1))
            running.append(block(frames))
        return without, running
    finally:
        simulation.stop()
        picture.release()
        canvas.release()


def percentile_99(times: list[float]) -> float:
    return float(np.percentile(times, 99))


def upload_milliseconds(context: moderngl.Context, side: int, samples: int) -> float:
    """Milliseconds to take one layer of a world and have it as a texture; the median."""
    scene = Scene().with_value("world.columns", side).with_value("world.rows", side)
    world, _ = create_world(scene)
    whole = take_snapshot(world)
    layer = np.empty(world.shape, np.float32)
    textures = LayerTextures(context)
    times = []
    for cycle in range(samples):
        begin = time.perf_counter()
        np.copyto(layer, world.bedrock, casting="same_kind")
        textures.upload(replace(whole, layers={"bedrock": layer}, versions={"bedrock": cycle}))
        context.finish()
        times.append(time.perf_counter() - begin)
    textures.release()
    return 1e3 * statistics.median(times)

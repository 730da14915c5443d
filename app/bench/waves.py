"""Waves: cost of finding the shore, its spread over frames, and cost per frame."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np

from app.bench.row import Row
from app.bench.yardstick import terrain
from app.cli.headless import headless_context, scene_camera
from app.engine.publishing import take_snapshot
from app.model.snapshot import Snapshot
from app.model.world import World
from app.picture.canvas import Canvas
from app.picture.passes import frame
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.quality import BY_NAME
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.shore import ShoreMap, wet_cells, with_waves
from app.picture.passes.swell import Swell
from app.picture.picture import Picture
from app.scene.scene import Scene

CELL_SIZE = 10.0
SWELL = Swell(2.0 * np.pi / 120.0, towards=90.0)


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side, samples, size = (32, 2, (64, 36)) if tiny else (512, 15, (1280, 720))
    with headless_context() as context:
        at_once, worst_frame, frames = shore_seconds(context, side, samples)
        yield Row(f"the shore found at once, {side}²", 1e3 * at_once, "ms", None)
        yield Row("the most of it in a frame while the coast moves", worst_frame / at_once, "of that", 0.35)
        yield Row("frames from one coast to the next while it moves", frames, "frames", 8.0, at_least=True)
        added = frame_ratio(context, side, samples, size)
        yield Row(f"a frame with waves against one without, {size[0]}×{size[1]}, low quality", added, "times", 2.0)


def island(side: int, sea_level: float) -> Snapshot:
    """A snapshot of hills in a sea."""
    ground = 300.0 * terrain(side, side)
    shown = take_snapshot(World(ground, np.zeros_like(ground), CELL_SIZE, seed=0))
    level = np.maximum(ground, sea_level).astype(np.float32)
    layers = {**shown.layers, "water": level - shown.layers["bedrock"], "water_level": level}
    return replace(shown, layers=layers, versions={**shown.versions, "water": 0, "water_level": 0}, sea_level=sea_level)


def shore_seconds(context: moderngl.Context, side: int, samples: int) -> tuple[float, float, float]:
    """Seconds to find the shore at once; the most in a frame that has its budget; frames until the next is found."""
    shaders = ShaderLibrary(context, {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
    layers, surface, shore = LayerTextures(context), SurfaceMap(context, shaders), ShoreMap(context, shaders)
    block = frame.FrameBlock(context)
    block.values["map"] = (side, side, CELL_SIZE, 1.0)
    block.upload()
    seas = island(side, 120.0), island(side, 121.0)
    cycle = 0

    def seconds(*, at_once: bool, moves: bool) -> tuple[float, bool]:
        """A frame, with another coast than the one before or with the same, but of another cycle."""
        nonlocal cycle
        cycle += moves
        shown = replace(seas[cycle % 2], cycle=cycle, versions=dict.fromkeys(seas[0].versions, cycle))
        textures = layers.upload(shown)
        surface.update(shown, textures)
        context.finish()
        begin = time.perf_counter()
        budget = BY_NAME["low"].shore_budget
        waters = with_waves(wet_cells(shown))
        done = shore.update(shown, SWELL, waters, surface.texture, layers, budget=budget, at_once=at_once)
        context.finish()
        return time.perf_counter() - begin, done

    seconds(at_once=True, moves=False)
    at_once = min(seconds(at_once=True, moves=True)[0] for _ in range(samples))
    worst, counts = [], []
    for _ in range(samples):
        times = [seconds(at_once=False, moves=True)]
        while not times[-1][1]:
            times.append(seconds(at_once=False, moves=False))
        worst.append(max(taken for taken, _ in times))
        counts.append(len(times))
    for made in (shore, surface, layers, block, shaders):
        made.release()
    return at_once, min(worst), statistics.median(counts)


def frame_ratio(context: moderngl.Context, side: int, samples: int, size: tuple[int, int]) -> float:
    """How much longer a frame takes with waves, in turn with one without; the median."""
    shown = island(side, 120.0)
    picture, canvas = Picture(context, bake_at_once=True, quality="low"), Canvas(context)
    picture.show(shown)
    with_waves = Scene()
    camera = scene_camera(with_waves, shown)
    scenes = (with_waves.with_value("waves.enabled", False), with_waves)
    ratios = []
    for sample in range(samples + 1):
        times = []
        for scene in scenes:
            begin = time.perf_counter()
            picture.draw(canvas.framebuffer(*size), camera, scene, time=0.1 * sample, minimap=False)
            context.finish()
            times.append(time.perf_counter() - begin)
        ratios.append(times[1] / times[0])
    picture.release()
    canvas.release()
    return statistics.median(ratios[1:])  # the first compiles

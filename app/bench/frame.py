"""The picture: its cost relative to a plain one, its steadiness beside the simulation, and the cost of a new state."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np

from app.bench.budget import Budget, budget
from app.bench.row import Row
from app.cli.headless import headless_context, scene_camera
from app.engine.creation import create_world
from app.engine.messages import FrameBegan, Pause, Run
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.survey import Surveyor, wanted_by
from app.engine.thread import SimulationThread
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.picture.canvas import Canvas
from app.picture.passes.declaration import Frame, Pass, Passes
from app.picture.passes.detail import detail_texture
from app.picture.passes.maps import LayerTextures
from app.picture.passes.mesh import (
    TWISTED,
    GroundMesh,
    crossed_nodes,
    detail_distance,
    parts_within,
    select_nodes,
    twisted_patches,
)
from app.picture.passes.mesh_parts import MeshParts
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.targets import release_all, release_targets
from app.picture.picture import Picture
from app.scene.scene import Scene

FRAMES_PER_SECOND = 60  # what a screen shows
SCENES = ("jacksboro", "basic", "delta", "dune-field", "island", "coupled-with-trees")
CYCLES = 100  # after which there are streams, lakes and trees
TURN = 0.5  # degrees from frame to frame
LARGE = (2560, 1440)
# Of textures for each pixel of that size: what a graphics card of 24 billion reads a second has time for in a frame,
# where half of it goes to the reads.
READS = 50
SETTLING = 400  # frames after which the light must have been baked
PATIENCE = 120.0  # seconds after which a measurement has failed


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    size, frames, pairs, samples = ((64, 36), 3, 1, 2) if tiny else ((1280, 720), 40, 3, 15)
    width, height = size
    with headless_context() as context:
        plain: list[float] = []
        for name in SCENES:
            scene = _open(name, tiny)
            milliseconds, ratio = picture_against_plain_mesh(context, scene, size, samples, 2 if tiny else CYCLES)
            plain.append(milliseconds)
            yield Row(f"{name}, level low, against the plain mesh", ratio, "times", 1.7)
        yield Row(f"the plain mesh, {width}×{height}", statistics.median(plain), "ms", None)
        for name in SCENES:
            large = (64, 36) if tiny else LARGE
            counted = picture_budget(context, _open(name, tiny), large, 2 if tiny else CYCLES)
            at = f"at {large[0]}×{large[1]}"
            yield Row(f"{name}, level high, draws {at}", counted and counted.draws, "draws", 100)
            reads = counted and counted.reads / (large[0] * large[1])
            yield Row(f"{name}, level high, reads of textures {at}", reads, "a pixel", READS)
        for name in SCENES:
            without, running = frame_times(context, _open(name, tiny), size, frames, pairs)
            yield Row(f"{name}, frame time p99, running against paused", running / without, "times", 1.3)

        side, uploads = (32, 3) if tiny else (1024, 201)
        milliseconds = upload_milliseconds(context, side, uploads)
        yield Row(f"snapshot and upload of one layer, {side}²", milliseconds, "ms", 1.0)


def _open(name: str, tiny: bool) -> Scene:
    scene = open_scene(name)
    return scene.with_value("world.columns", 32).with_value("world.rows", 32) if tiny else scene


def picture_against_plain_mesh(
    context: moderngl.Context, scene: Scene, size: tuple[int, int], samples: int, cycles: int
) -> tuple[float, float]:
    """Milliseconds of the plain mesh, and how many times as long the picture takes at level low: medians, in turn."""
    scene, snapshot = _seen(scene.with_value("view.quality", "low"), cycles)
    picture, canvas = Picture(context), Canvas(context)
    picture.show(snapshot)
    camera = scene_camera(scene, snapshot)
    for frame in range(SETTLING):
        picture.draw(canvas.framebuffer(*size), camera, scene, minimap=scene.view.minimap)
        if picture.frame_settled and frame > 1:
            break
    plain = PlainMesh(context, picture, size)
    times: list[tuple[float, float]] = []
    for sample in range(samples + 1):
        camera = replace(camera, heading=camera.heading + TURN)
        begin = time.perf_counter()
        picture.draw(canvas.framebuffer(*size), camera, scene, time=0.1 * sample, minimap=scene.view.minimap)
        context.finish()
        drawn = time.perf_counter()
        whole = plain.whole_frame()
        begin_plain = time.perf_counter()
        plain.draw(whole)
        context.finish()
        times.append((drawn - begin, time.perf_counter() - begin_plain))
    plain.release()
    picture.release()
    canvas.release()
    # The first frame compiles.
    return 1e3 * statistics.median(b for _, b in times[1:]), statistics.median(a / b for a, b in times[1:])


def picture_budget(context: moderngl.Context, scene: Scene, size: tuple[int, int], cycles: int) -> Budget | None:
    """What a frame at level high asks of a graphics card."""
    return budget(context, *_seen(scene.with_value("view.quality", "high"), cycles), size)


def _seen(scene: Scene, cycles: int) -> tuple[Scene, Snapshot]:
    """What is drawn of a scene after so many cycles."""
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    for _ in range(cycles):
        simulator.advance()
    scene = simulator.scene
    survey = Surveyor().survey(world, scene.rivers, wanted_by(scene.view), scene.runoff)
    return scene, take_snapshot(world, survey=survey)


PLAIN = Pass("plain mesh", "terrain.vert", "bench/plain.frag", GroundMesh, defines={"STORM": 2})


class PlainMesh:
    """The mesh of a picture that has been drawn, with next to nothing on it: light, one texture of detail, and fog.

    It has as many pixels as the whole picture, of the kind that scenes are drawn in, all of the mesh, and detail that
    fades smoothly. Nodes have vertices at all centres of quads, or at none: what a picture saves there, by leaving out
    what lies beside it, or of its filters, is its own merit.
    """

    def __init__(self, context: moderngl.Context, picture: Picture, size: tuple[int, int]) -> None:
        assert picture.frame is not None
        snapshot = picture.frame.snapshot
        self._twisted = twisted_patches(snapshot.ground(), TWISTED * snapshot.cell_size)
        self._picture = picture
        self._passes = Passes(context, picture.shaders, [PLAIN])
        self._detail = detail_texture(context, Mipmaps(context, picture.shaders))
        self._framebuffer = context.framebuffer(
            [context.texture(size, 4, dtype="f2")], context.depth_renderbuffer(size)
        )

    def whole_frame(self) -> Frame:
        """The frame that the picture has drawn last, with all of its mesh."""
        frame = self._picture.frame
        assert frame is not None
        rows, columns = frame.snapshot.shape
        heights = (frame.snapshot.lowest * frame.exaggeration, frame.snapshot.highest * frame.exaggeration)
        detail = detail_distance(frame.camera, frame.crop.size[1], frame.quality)
        nodes = select_nodes(columns, rows, frame.snapshot.cell_size, heights, frame.camera, detail)
        crossed = crossed_nodes(nodes, self._twisted)
        return replace(
            frame,
            nodes=nodes,
            mesh=MeshParts(nodes[~crossed], nodes[:0], parts_within(nodes[crossed], np.ones_like(self._twisted))),
            textures={**frame.textures, "detail": self._detail},
            targets={"scene": self._framebuffer},
        )

    def draw(self, frame: Frame) -> None:
        """Draw the mesh of a `whole_frame`."""
        self._framebuffer.clear(depth=1.0)
        self._passes.draw(PLAIN, frame)

    def release(self) -> None:
        release_targets([self._framebuffer])
        release_all(self._passes, self._detail)


def frame_times(
    context: moderngl.Context, scene: Scene, size: tuple[int, int], frames: int, pairs: int
) -> tuple[float, float]:
    """The 99th percentile of the seconds of frames with the simulation paused, and, in turn with them, running."""
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
            simulation.ask(FrameBegan())  # which lets some scenes go on
            time.sleep(0.01)
        picture.show(taken[0])
        camera = scene_camera(scene, taken[0])

        def block(count: int) -> list[float]:
            """Draw as the window does: a frame, then a wait for the screen; the camera moves, so each frame differs."""
            nonlocal camera
            times = []
            for _ in range(count):
                begin = time.perf_counter()
                simulation.ask(FrameBegan())
                if newer := simulation.take():
                    picture.show(newer[0])
                camera = replace(camera, heading=camera.heading + TURN)
                picture.draw(canvas.framebuffer(*size), camera, scene, time=begin, minimap=scene.view.minimap)
                context.finish()
                times.append(time.perf_counter() - begin)
                time.sleep(max(0.0, 1.0 / FRAMES_PER_SECOND - times[-1]))
            return times

        block(frames)
        # From here on at the level that the picture has found for this machine: a change would be taken for a ratio.
        scene = scene.with_value("view.quality", picture.quality(scene.view).name)
        without: list[float] = []
        running: list[float] = []
        for _ in range(pairs):
            simulation.ask(Pause())
            block(max(frames // 10, 1))
            without += block(frames)
            simulation.ask(Run())
            block(max(frames // 10, 1))
            running += block(frames)
        return percentile_99(without), percentile_99(running)
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

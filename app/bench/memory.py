"""Memory of a running simulation: peak of arrays, by holder."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType

import numpy as np

from app.bench.row import Row
from app.bench.world import everything
from app.cli.headless import headless_context, scene_camera
from app.engine.backup import SECONDS_BETWEEN_BACKUPS
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.engine.thread import SimulationThread
from app.model.snapshot import Snapshot
from app.picture.canvas import Canvas
from app.picture.passes.held import held
from app.picture.picture import Picture
from app.scene.scene import Scene

SIZE = 1280, 720  # of a picture
UNIT = "bytes per cell"
SMALL, CYCLES_OF_SMALL = 32, 10  # a world that loads all code


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side = 32 if tiny else 1024
    seconds = 0.2 if tiny else 2.0 * SECONDS_BETWEEN_BACKUPS
    scenes = {
        "a world": (Scene().with_values({"world.columns": side, "world.rows": side}), 200.0),
        "everything": (everything(side), 400.0),
    }
    for name, (scene, bar) in scenes.items():
        most, parts, snapshot = bytes_per_cell(scene, seconds)
        yield Row(f"{name} in memory, {side}², snapshots included", most, UNIT, bar)
        for holder, size in parts.items():
            if size > 0.0:
                yield Row(f"{name}, {side}²: {holder}", size, UNIT, None)
        yield Row(f"{name}, {side}²: textures and buffers of a picture", of_a_picture(scene, snapshot), UNIT, None)


def bytes_per_cell(scene: Scene, seconds: float) -> tuple[float, dict[str, float], Snapshot]:
    """The most that a running simulation holds in arrays, by what holds them when it is stopped, and its last snapshot.

    NumPy reports what it allocates to tracemalloc; so does Python, so that all code is loaded before. What kernels
    allocate inside is not seen; for drops it grows with their number and not with the map.
    """
    load_code(scene)
    simulation = SimulationThread(scene)
    cells = scene.world.rows * scene.world.columns
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        simulation.first_picture_shown.set()
        simulation.start()
        taken: tuple[Snapshot, ...] = ()
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            time.sleep(0.01)
            taken = simulation.take() or taken
            if deadline is None and taken and taken[0].cycle > 0:
                tracemalloc.reset_peak()  # what making the terrain took is given back
                deadline = time.monotonic() + seconds
            elif simulation.status.state == "failed":
                raise RuntimeError(simulation.status.error)
        simulation.stop()
        most = (tracemalloc.get_traced_memory()[1] - before) / cells
    finally:
        tracemalloc.stop()
        simulation.stop()
    parts = {name: size / cells for name, size in _by_holder(simulation).items()}
    return most, {**parts, "while a process runs": max(0.0, most - sum(parts.values()))}, taken[0]


def load_code(scene: Scene) -> None:
    """Run a small world of a scene, so that all of its code is in memory."""
    world, scene = create_world(scene.with_values({"world.columns": SMALL, "world.rows": SMALL}))
    simulator = Simulator(scene, world)
    for _ in range(CYCLES_OF_SMALL):
        simulator.run_cycle()
    simulator.back_up()


def _by_holder(simulation: SimulationThread) -> dict[str, int]:
    """Bytes of arrays, each counted for the first that holds it."""
    assert simulation.session.lockstep is not None
    (simulator,) = simulation.session.lockstep.simulators
    holders = {
        "its layers, trees and materials": simulator.world,
        "its backup": simulator.backup,
        "snapshots": simulation.session.showing.publisher,
        "kept states": simulation.session.timeline,
        "room that processes share": simulator._scratch,
        "what processes keep": simulator._processes,
    }
    seen: set[int] = set()
    return {name: _bytes_of(holder, seen) for name, holder in holders.items()}


def _bytes_of(holder: object, seen: set[int]) -> int:
    """Bytes of all arrays, also compressed ones, that can be reached from an object, and have not been seen before."""
    total, left = 0, [holder]
    while left:
        found = left.pop()
        if id(found) in seen or isinstance(found, (type, ModuleType, FunctionType, MethodType)):
            continue
        seen.add(id(found))
        if isinstance(found, bytes):  # compressed
            total += len(found)
        elif isinstance(found, np.ndarray):
            if found.base is None:
                total += found.nbytes
            else:
                left.append(found.base)
        else:
            left += gc.get_referents(found)
    return total


def of_a_picture(scene: Scene, snapshot: Snapshot) -> float:
    """Bytes that a picture's layers of a snapshot take in OpenGL, for each cell, besides those of its pixels."""
    with headless_context() as context:
        canvas, picture = Canvas(context), Picture(context, bake_at_once=True, quality="high")
        framebuffer = canvas.framebuffer(*SIZE)
        empty = held()
        picture.show(snapshot)
        picture.draw(framebuffer, scene_camera(scene, snapshot), scene, minimap=False)
        textures, buffers, *_ = (now - before for now, before in zip(held(), empty, strict=True))
        picture.release()
        canvas.release()
    return (textures + buffers) / snapshot.layers["bedrock"].size

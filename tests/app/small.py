"""Scenes that are simulated in no time, and what their tests compare."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from app.engine.creation import ARTICLE, create_world, size_in_cells
from app.engine.messages import Report
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.model.parameters import Value
from app.model.world import World
from app.scene.scene import Scene, load_preset

Heard = TypeVar("Heard", bound=Report)


def small_scene(**settings: object) -> Scene:
    """40 × 32 cells of noise with a little soil and few drops; `settings` are written with `__` for the dot."""
    scene = Scene()
    small = {"world__columns": 40, "world__rows": 32, "world__soil_depth": 0.5, "droplets__count": 60}
    for path, value in {**small, **settings}.items():
        scene = scene.with_value(path.replace("__", "."), value)  # type: ignore[arg-type]
    return scene


def small_preset(name: str, columns: int, **settings: Value) -> Scene:
    """A shipped preset in fewer cells: the same land in larger ones, and so as steep as the preset's.

    As many drops fall on each cell, and as many parcels of wind cross it; springs keep their drops. All other numbers
    that count cells hold for the larger ones. As the numbers of articles count in cells, their land keeps its cells and
    is smaller in all directions. `settings` are written with `__` for the dot.
    """
    scene = load_preset(name)
    fewer = (scene.world.columns or create_world(scene)[0].shape[1]) / columns
    changes: dict[str, Value] = {
        **size_in_cells(scene, columns, 0),
        "world.reference_cell_size": 0.0,
        "droplets.count": round(scene.droplets.count / fewer**2),
        "wind.count": max(round(scene.wind.count / fewer), 1),
    }
    if name.startswith(ARTICLE):
        changes["world.relief"] = scene.world.relief / fewer
    return scene.with_values({**changes, **{path.replace("__", "."): value for path, value in settings.items()}})


def simulated(cycles: int, scene: Scene | None = None, threads: int | None = None) -> Simulator:
    """The simulator of a scene after so many cycles."""
    world, scene = create_world(scene or small_scene())
    simulator = Simulator(scene, world, threads)
    for _ in range(cycles):
        simulator.advance()
    return simulator


def assert_continues_after_saving(simulator: Simulator, path: Path, cycles: int) -> None:
    """Save a world to `path`: opened again, it continues with the same bits as the one in memory."""
    checkpoint.save(path, simulator.world, simulator.scene)
    world, scene = checkpoint.load(path)
    again = Simulator(scene, world)
    for _ in range(cycles):
        simulator.advance()
        again.advance()
    assert bits(again.world) == bits(simulator.world)


def bits(world: World) -> dict[str, object]:
    """All of a world's state, such that two of them are equal only if every bit is."""
    layers = {name: layer.tobytes() for name, layer in world.layers.items()}
    shown = {name: layer.tobytes() for name, layer in take_snapshot(world, overlay="none").layers.items()}
    return {
        "layers": layers,
        "shown": shown,
        "ground": world.ground.tobytes(),
        "trees": world.trees.tobytes(),
        "centrelines": world.centrelines.tobytes(),
        "beds": world.beds and [array.tobytes() for array in world.beds],
        "cycle": world.cycle,
        "ledger": world.ledger_copy(),
    }


def heard(thread: SimulationThread, kind: type[Heard]) -> list[Heard]:
    """The reports of one kind since the last call of this or any other."""
    return [report for report in thread.reports() if isinstance(report, kind)]

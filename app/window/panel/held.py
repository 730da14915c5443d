"""The actual values of parameters whose 0 means: as in the source, or as the machine has."""

from __future__ import annotations

from app.engine.machine import cores
from app.scene.scene import Scene
from app.sources.generators import GENERATORS
from app.sources.grid import grid_of, relief_of
from app.window.views import Views

AUTOMATIC_AT_ZERO = (
    "world.columns",
    "world.rows",
    "world.cell_size",
    "world.reference_cell_size",
    "world.relief",
    "simulation.threads",
)


def held_value(path: str, scene: Scene, views: Views) -> float | None:
    """The actual value of a parameter that is 0; None if there is none or it is unknown."""
    if path not in AUTOMATIC_AT_ZERO:
        return None
    if path == "simulation.threads":
        return cores()
    snapshot = views.snapshot
    if snapshot is None:
        return None
    rows, columns = snapshot.shape
    match path:
        case "world.columns":
            return columns
        case "world.rows":
            return rows
        case "world.cell_size" | "world.reference_cell_size":  # 0: the cell size
            return snapshot.cell_size
        case "world.relief" if scene.world.source in GENERATORS:
            return relief_of(scene, grid_of(scene, rows, columns))
        case "world.relief":
            return views.relief_at_start
    return None

"""The generators of terrain, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.model.world import Layer
from app.sources import diamond_square, island, noise, sand
from app.sources.mountain_range import Land, mountain_range

if TYPE_CHECKING:
    from app.scene.scene import Scene

# A generator makes elevations for a scene and a shape, or the heights of rock and the thickness of what lies on it, as
# fractions of the relief. The relief and the cell size come from the scene. Or it makes a land in metres.
Generator = Callable[["Scene", int, int], Layer | tuple[Layer, Layer] | Land]

RANGE = "range"

GENERATORS: dict[str, Generator] = {
    "noise": noise.elevation,
    "diamond-square": diamond_square.elevation,
    "sand": sand.layers,
    "island": island.layers,
    RANGE: mountain_range,
}

DEFAULT_SIDE = 512  # cells
DEFAULT_RELIEF = 0.15  # of the map's longer side


def relief_of(scene: Scene, rows: int, columns: int, cell_size: float) -> float:
    """The relief in metres that a generator makes: what the scene asks for, or one that suits the size of the map."""
    return scene.world.relief or DEFAULT_RELIEF * max(rows, columns) * cell_size

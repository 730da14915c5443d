"""A world for export, with derived values computed on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.engine.beginning import first_ground
from app.export.sheet import Sheet
from app.model.errors import UserError
from app.model.world import World
from app.scene.scene import Scene
from kernels.standing import DRY

if TYPE_CHECKING:
    from app.export.vectors import Waters
    from kernels.rivers import Drainage

Numbers = NDArray[np.float64]

SURFACES = {
    "ground": "what water and wind see: rock, and what lies on it",
    "rock": "solid rock alone",
    "water": "lakes and sea where there is water, the ground elsewhere",
    "filled": "the ground with its depressions filled to their outlets",
}


@dataclass(frozen=True)
class Landscape:
    """A world that does not change, with its scene.

    `opened` is the scene that it was made from, if that differs: that of a saved world names its file.
    """

    world: World
    scene: Scene
    opened: Scene | None = None

    @cached_property
    def drainage(self) -> Drainage:
        """The drainage to the sea or the edge of the map."""
        from app.engine.discharge import drained

        world, scene = self.world, self.scene
        is_open, by_cost = scene.edges.water != "wall", scene.rivers.ties == "cost"
        ground, sea_level = world.ground, scene.edges.sea
        return drained(ground, world.cell_size, sea_level, scene.runoff, open_edges=is_open, by_cost=by_cost)

    @property
    def rise(self) -> Numbers:
        """Change of the ground since the start, [row, column]; negative if lower.

        Raises `UserError` if the initial land cannot be recomputed.
        """
        if isinstance(self._rise, UserError):
            raise self._rise
        return self._rise

    @cached_property
    def _rise(self) -> Numbers | UserError:
        try:
            return self.world.ground - first_ground(self.world, self.opened or self.scene)
        except UserError as error:
            return error

    @cached_property
    def water_surface(self) -> Numbers:
        """The surface of lakes and sea, or the ground where it is dry, [row, column]."""
        return np.where(self.world.standing == DRY, self.world.ground, self.world.water_level)

    @cached_property
    def levels_around(self) -> Numbers:
        """The water level of each cell. A dry cell has the highest level within two cells, or else its ground."""
        world = self.world
        levels = np.where(world.standing != DRY, world.water_level, -np.inf)
        for _ in range(2):
            levels = np.where(np.isfinite(levels), levels, highest_around(levels, outside=-np.inf))
        return np.where(np.isfinite(levels), levels, world.ground)

    def surface(self, name: str) -> Numbers:
        """One of `SURFACES` in metres, [row, column]."""
        match name:
            case "rock":
                return self.world.bedrock
            case "water":
                return self.water_surface
            case "filled":
                return self.drainage.filled
        return self.world.ground

    @cached_property
    def sheet(self) -> Sheet:
        """The cells of the source model, or those of the world if it had none."""
        return Sheet.of_source(self.world.shape, self.world.cell_size, self.world.origin)

    @cached_property
    def waters(self) -> Waters:
        """Rivers, watersheds and lakes by the parameters of the scene."""
        from app.engine.discharge import discharge_of_world, rivers_by
        from app.export.vectors import Waters
        from kernels.falls import find_falls
        from kernels.lakes import find_lakes
        from kernels.routing import strahler_orders
        from kernels.watersheds import find_watersheds

        world, scene, drainage = self.world, self.scene, self.drainage
        discharge = discharge_of_world(drainage, world, scene.runoff)
        is_river = rivers_by(scene.rivers, drainage, discharge, scene.runoff, world.cell_area) >= 1.0
        orders = strahler_orders(drainage.directions, drainage.routes.order, is_river)
        orders[drainage.ocean] = 0
        lakes = find_lakes(world.ground, drainage.filled, drainage.directions, drainage.accumulation, world.cell_size)
        watersheds = find_watersheds(drainage.routes.outlets, drainage.ocean, scene.rivers.watershed_size)
        surface, rivers = np.maximum(drainage.filled, world.sea_level), orders > 0
        falls = find_falls(surface, drainage.directions, discharge, rivers, world.cell_size, scene.rivers.width)
        return Waters(self.sheet, world.cell_size, drainage, orders, discharge, lakes, watersheds, falls)

    @property
    def world_sheet(self) -> Sheet:
        """The cells of the world."""
        return Sheet.of_world(self.world.shape, self.world.cell_size, self.world.origin)


def highest_around(values: NDArray[Any], outside: float) -> NDArray[Any]:
    """The highest value of each cell and its eight neighbours, [row, column]; `outside` is the value beyond the map."""
    rows, columns = values.shape
    padded = np.pad(values, 1, constant_values=outside)
    parts = [padded[down : down + rows, right : right + columns] for down in range(3) for right in range(3)]
    highest: NDArray[Any] = np.max(parts, axis=0)
    return highest

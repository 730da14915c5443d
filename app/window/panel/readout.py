"""What lies under the pointer: height, slope, water, ground and coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.model.numbers import measured, spaced

if TYPE_CHECKING:
    from app.model.snapshot import Snapshot

LEAST_DEPTH = 0.005  # metres of water or loose ground that are mentioned
DEGREE_DECIMALS = 5  # of coordinates: a metre


def readout(snapshot: Snapshot, cell: tuple[int, int]) -> str:
    """Height, slope, depth of water, ground, and place of a cell (row, column), in words."""
    row, column = cell
    parts = [f"{measured(float(snapshot.ground(cell, np.float64)))} m", f"{slope_at(snapshot, cell):.0f}°"]
    water = snapshot.layers.get("water")
    if water is not None and water[cell] > LEAST_DEPTH:
        parts.append(f"{measured(float(water[cell]))} m of water")
    parts.append(ground_at(snapshot, cell))
    place = snapshot.origin.georeference if snapshot.origin else None
    if place is None:
        parts.append(f"x {spaced((column + 0.5) * snapshot.cell_size)}, y {spaced((row + 0.5) * snapshot.cell_size)} m")
    else:
        x, y = place.position(row, column)
        if place.in_degrees:
            parts.append(
                f"{abs(y):.{DEGREE_DECIMALS}f}° {'N' if y >= 0.0 else 'S'}, "
                f"{abs(x):.{DEGREE_DECIMALS}f}° {'E' if x >= 0.0 else 'W'}"
            )
        else:
            parts.append(f"E {spaced(x)}, N {spaced(y)}")
    return " · ".join(parts)


def slope_at(snapshot: Snapshot, cell: tuple[int, int]) -> float:
    """The slope of the ground in degrees, from the cells on both sides; at an edge from the cell and its neighbour."""
    row, column = cell
    rows, columns = snapshot.shape
    north, south = max(row - 1, 0), min(row + 1, rows - 1)
    west, east = max(column - 1, 0), min(column + 1, columns - 1)

    def height(row: int, column: int) -> float:
        return float(snapshot.ground((row, column), np.float64))

    southward = (height(south, column) - height(north, column)) / max(south - north, 1)
    eastward = (height(row, east) - height(row, west)) / max(east - west, 1)
    return math.degrees(math.atan(math.hypot(southward, eastward) / snapshot.cell_size))


def ground_at(snapshot: Snapshot, cell: tuple[int, int]) -> str:
    """The uppermost material: thickness and kind of loose ground, or rock."""
    thickness = float(snapshot.layers["sediment"][cell])
    if thickness <= LEAST_DEPTH:
        return "rock"
    kinds, told = snapshot.materials, snapshot.layers.get("loose_kinds")
    kind = kinds.names[int(told[cell]) % 16] if kinds is not None and told is not None else "sediment"
    return f"{measured(thickness)} m of {kind}"

"""A terrain by midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.model.world import Layer

if TYPE_CHECKING:
    from app.scene.scene import Scene


def elevation(scene: Scene, rows: int, columns: int) -> Layer:
    """Elevations from 0 to 1, `[rows, columns]`."""
    from kernels.diamond_square import diamond_square

    return diamond_square(rows, columns, scene.world.seed, scene.diamond_square.roughness)

"""Land that rivers and hillslopes have worn for some years: valleys, spurs and alluvium instead of plain noise.

It has one kind of rock, uniform rain and no uplift. Loose material on it afterwards is alluvium; the scene adds soil.
Like a mountain range it is computed from coarse to fine, which is fast: the change of a coarse map is the initial state
of the next finer one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from app.model.geology_parameters import has_base_level, landscape_parameters, outlets_of
from app.model.layered_map import Layer
from app.model.wanted import check_wanted
from app.sources.heightmap.resampling import resample
from app.sources.land_scene import LandScene


class _Level(NamedTuple):
    coarser: int  # factor on the cell size
    part: float  # fraction of the years
    steps: int


class Wear(NamedTuple):
    """The wear of a land, in metres, [row, column]."""

    change: Layer  # of the height of its ground
    alluvium: Layer  # that lies on its rock


LEVELS = (_Level(4, 0.6, 20), _Level(2, 0.25, 8), _Level(1, 0.15, 4))


def wear_of(scene: LandScene, ground: Layer, cell_size: float) -> Wear:
    """The wear of a land by rivers and hillslopes of a scene, from heights in metres, [row, column]."""
    from kernels.landscape import evolve, lay_lowest
    from kernels.materials import one_kind
    from kernels.scratch import Scratch

    geology, walls = scene.geology, scene.edges.water == "wall"
    rows, columns = ground.shape
    change, loose = np.zeros((2, 2)), np.zeros((2, 2))
    for level in LEVELS:
        shape = max(rows // level.coarser, 2), max(columns // level.coarser, 2)
        before = resample(ground, *shape)
        change, loose = resample(change, *shape), resample(loose, *shape)
        after = np.ascontiguousarray(before + change)
        loose = np.ascontiguousarray(np.clip(loose, 0.0, None))
        rock, scratch = after - loose, Scratch()
        cell = cell_size * max(rows, columns) / max(shape)
        parameters = landscape_parameters(geology, level.part * scene.world.worn / level.steps)
        parameters = parameters._replace(soil_production=0.0)
        for step in range(level.steps):
            check_wanted()
            evolved = evolve(
                rock,
                loose,
                after,
                one_kind(loose),
                cell,
                parameters,
                0.0,
                outlets_of(after, walls=walls),
                base_level=has_base_level(geology, walls=walls),
                sea_level=scene.edges.sea,
                columns_first=step % 2 == 0,
                scratch=scratch,
            )
            if walls:
                lay_lowest(loose[..., None], after, evolved.moved.off_map)
                np.add(rock, loose, out=after)
        change = after - before
    return Wear(change, loose)

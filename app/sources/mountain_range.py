"""A mountain range: uplift, river incision and hillslopes by the scene's geology, until a given age.

It has one kind of rock and uniform rain; of the fields only uplift applies.

It is computed from coarse to fine, which is fast, and gives a seed the same rivers at any resolution: all maps of one
extent begin with the same coarse map, and finer ones follow its valleys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from app.model.errors import UserError
from app.model.geology_parameters import Uplift, has_base_level, landscape_parameters, outlets_of
from app.model.layered_map import Layer
from app.model.layers import LAYERS
from app.model.wanted import check_wanted
from app.model.world import DEFAULT_CELL_SIZE
from app.sources import fields
from app.sources.grid import Grid
from app.sources.heightmap.resampling import resample
from app.sources.land_scene import LandScene

COARSEST = 64  # cells of the longer side
ENDS = (0.55, 0.8, 0.92, 0.97)  # fractions of the age at which a level is refined to half the cell size
STEPS = (120, 60, 40, 25)  # of each level; the last number applies to all finer levels
ROUGHNESS = 0.15  # of new cells of a finer level, as a fraction of the fall from cell to cell


@dataclass(frozen=True)
class GeneratedLand:
    """A generated land after some years; in metres, [row, column]."""

    rock: Layer  # heights
    loose: Layer | None = None  # thickness on it; None: `rock` is the ground, including soil
    years: float = 0.0


class _Level(NamedTuple):
    rows: int
    columns: int
    end: float  # years
    steps: int


def mountain_range(scene: LandScene, grid: Grid) -> GeneratedLand:
    """The range of a scene, in the cells of a grid."""
    from kernels.landscape import evolve, lay_lowest
    from kernels.materials import one_kind
    from kernels.scratch import Scratch

    geology, rows, columns = scene.geology, grid.rows, grid.columns
    extent = max(rows, columns) * (scene.world.cell_size or DEFAULT_CELL_SIZE)
    sea_level, walls = scene.edges.sea, scene.edges.water == "wall"
    levels = _levels(rows, columns, geology.age)
    rock = _plain(scene, levels[0].rows, levels[0].columns)
    ground, loose = rock.copy(), np.zeros_like(rock)
    now = 0.0
    for number, level in enumerate(levels):
        if number:
            loose = resample(loose, level.rows, level.columns)
            rock = _refined(ground, level, scene.world.seed, number) - loose
            ground = rock + loose
        scratch = Scratch()
        uplift = Uplift(level.rows, level.columns, scene.world.seed)
        factor = _uplift_field(scene, ground, extent / max(ground.shape))
        years = (level.end - now) / level.steps
        for step in range(level.steps if years > 0.0 else 0):
            check_wanted()
            evolved = evolve(
                rock,
                loose,
                ground,
                one_kind(loose),
                extent / max(ground.shape),
                landscape_parameters(geology, years),
                factor * uplift.risen(geology, now, years),
                outlets_of(ground, walls=walls),
                base_level=has_base_level(geology, walls=walls),
                sea_level=sea_level,
                columns_first=step % 2 == 0,
                scratch=scratch,
            )
            now += years
            if walls:
                lay_lowest(loose[..., None], ground, evolved.moved.off_map)
                np.add(rock, loose, out=ground)
    low, high = LAYERS["bedrock"].bounds
    if not (rock.min() > low and rock.max() < high):
        raise UserError(
            f"geology.age = {geology.age:g} with geology.uplift = {geology.uplift:g}: the land would lie beyond "
            f"{high:g} m; less of one of them is right"
        )
    return GeneratedLand(rock, loose, geology.age)


def _uplift_field(scene: LandScene, ground: Layer, cell_size: float) -> Layer | float:
    """The factor on uplift from the scene's field, for the current land; 1 without a field."""
    land = fields.LandVariables(ground, cell_size, {}, np.zeros_like(ground))
    values = fields.field_on(land, "uplift", scene.fields.uplift)
    return 1.0 if values is None else values.astype(np.float64)


def _levels(rows: int, columns: int, age: float) -> list[_Level]:
    """The levels, from the coarsest to the map itself."""
    side, levels = COARSEST, list[_Level]()
    while side < max(rows, columns):
        scale = side / max(rows, columns)
        number = len(levels)
        end = ENDS[number] if number < len(ENDS) else 1.0 - (1.0 - ENDS[-1]) * 0.5 ** (number - 3)
        steps = STEPS[min(number, len(STEPS) - 1)]
        levels.append(_Level(max(round(rows * scale), 2), max(round(columns * scale), 2), end * age, steps))
        side *= 2
    return [*levels, _Level(rows, columns, age, STEPS[min(len(levels), len(STEPS) - 1)])]


def _plain(scene: LandScene, rows: int, columns: int) -> Layer:
    """The initial land: nearly flat, and a little uneven."""
    from kernels.noise import fractal_noise

    parameters = scene.range
    wavelength = parameters.wavelength * max(rows, columns)
    uneven = fractal_noise(rows, columns, scene.world.seed, wavelength, parameters.octaves)
    base = scene.edges.sea_level if scene.edges.water == "sea" else 0.0
    return base + parameters.base + parameters.unevenness * (uneven - 0.5)


def _refined(ground: Layer, level: _Level, seed: int, number: int) -> Layer:
    """The ground at a finer level, slightly rough on slopes, so that rivers find their own courses.

    A rough map of one extent is the same whatever finer ones follow it.
    """
    from kernels.random import mix_all, process_number, stream

    finer = resample(ground, level.rows, level.columns)
    south, east = np.gradient(finer)
    key = np.uint64(stream(seed, process_number("range"), number))
    words = mix_all(key + np.arange(finer.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    uneven = (words >> np.uint64(11)) * 2.0**-52 - 1.0
    return np.asarray(finer + ROUGHNESS * np.hypot(south, east) * uneven.reshape(finer.shape))

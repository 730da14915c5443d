"""Patterns of uplift: where rock rises, and how fast beside where it rises fastest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernels.layers import Layer

FOLDS = 2.5  # waves of a fold belt in its width

# No fault is straight, and no dome round: by so much, and over such lengths, relative to the map's longer side, they
# bend.
BEND = 0.12
BEND_LENGTH = 0.6


class Pattern(NamedTuple):
    """What a pattern is made from. Lengths are relative to the map's longer side."""

    direction: float  # degrees clockwise from north, to which a fault or an escarpment faces, or across folds
    width: float  # of what rises
    subsidence: float  # how fast the foreland sinks, as a part of the fastest uplift
    seed: int  # of its bends


def _uniform(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    return np.ones_like(along)


def _dome(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    """Round, highest in the middle, flat at its rim."""
    part = np.clip((along**2 + across**2) / pattern.width**2, 0.0, 1.0)
    return np.asarray((1.0 - part) ** 2)


def _tilted_block(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    """Highest at the fault that it faces, down to nothing at its hinge; the foreland sinks most beside the fault."""
    block = np.clip(1.0 + along / pattern.width, 0.0, 1.0)
    return np.where(along < 0.0, block, -pattern.subsidence * np.exp(-along / pattern.width))


def _fault(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    """All of one side of a fault rises alike, and the other sinks most beside it."""
    return np.where(along < 0.0, 1.0, -pattern.subsidence * np.exp(-along / pattern.width))


def _belt(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    """One broad swell, highest along its axis."""
    return np.asarray(np.cos(0.5 * math.pi * np.clip(along / pattern.width, -1.0, 1.0)) ** 2)


def _fold_belt(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    """Anticlines side by side, the highest in the middle."""
    folds = np.cos(2.0 * math.pi * FOLDS * np.clip(along / pattern.width, -1.0, 1.0))
    return np.asarray(_belt(pattern, along, across) * (0.6 + 0.4 * folds))


def _escarpment(pattern: Pattern, along: Layer, across: Layer) -> Layer:
    """A plateau that rises as a whole, and what lies before it stays."""
    part = np.clip(0.5 - along / (0.1 * pattern.width), 0.0, 1.0)
    return part * part * (3.0 - 2.0 * part)


PATTERNS: dict[str, Callable[[Pattern, Layer, Layer], Layer]] = {
    "uniform": _uniform,
    "dome": _dome,
    "tilted block": _tilted_block,
    "fault": _fault,
    "belt": _belt,
    "fold belt": _fold_belt,
    "escarpment": _escarpment,
}


def uplift_pattern(name: str, rows: int, columns: int, pattern: Pattern) -> Layer:
    """The uplift of each cell beside the fastest, which is 1, [row, column]; less than 0 where rock sinks."""
    from kernels.noise import fractal_noise

    side = max(rows, columns)
    south = ((np.arange(rows) + 0.5) / side - 0.5 * rows / side)[:, None]
    east = ((np.arange(columns) + 0.5) / side - 0.5 * columns / side)[None, :]
    direction = math.radians(pattern.direction)
    along = math.sin(direction) * east - math.cos(direction) * south
    across = math.cos(direction) * east + math.sin(direction) * south
    bends = (
        BEND * (fractal_noise(rows, columns, seed, BEND_LENGTH * side, octaves=3) - 0.5)
        for seed in (pattern.seed, -1 - pattern.seed)
    )
    along, across = (distance + bend for distance, bend in zip((along, across), bends, strict=True))
    return np.ascontiguousarray(PATTERNS[name](pattern, along, across))

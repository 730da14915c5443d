"""Covering arrays of strength two: few rows in which each two values of each two factors meet at least once.

Greedy, a row at a time, after Cohen, Dalal, Fredman, Patton 1997, "The AETG system: an approach to testing based on
combinatorial design". The same factors give the same rows.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bound=Hashable)

CANDIDATES = 8  # rows of which the best is taken


def covering_rows(factors: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Rows of one value for each factor, so that each pair of values of two factors is in a row."""
    names = list(factors)
    if len(names) < 2:
        return [{name: value} for name in names for value in factors[name]]
    chance = random.Random(1)
    # The levels of all factors, one after the other: those of a factor are from its first to before the next one's.
    ends = list(itertools.accumulate(len(factors[name]) for name in names))
    levels = [range(end - len(factors[name]), end) for name, end in zip(names, ends, strict=True)]
    uncovered = np.ones((ends[-1], ends[-1]), bool)
    for own in levels:
        uncovered[own.start : own.stop, own.start : own.stop] = False
    rows = []
    while uncovered.any():
        candidates = [_candidate(levels, uncovered, chance) for _ in range(CANDIDATES)]
        row = max(candidates, key=lambda row: int(uncovered[np.ix_(row, row)].sum()))
        uncovered[np.ix_(row, row)] = False
        rows.append(
            {name: factors[name][level - own.start] for name, own, level in zip(names, levels, row, strict=True)}
        )
    return rows


def _candidate(levels: Sequence[range], uncovered: NDArray[np.bool_], chance: random.Random) -> list[int]:
    """A row that begins with the value that lacks most, and takes of each further factor the one that gains most."""
    lacking = uncovered.sum(axis=1)
    first = chance.choice(np.flatnonzero(lacking == lacking.max()).tolist())
    row = [first if first in own else -1 for own in levels]
    gains = uncovered[first].astype(int)
    rest = [place for place, level in enumerate(row) if level < 0]
    chance.shuffle(rest)
    for place in rest:
        own = levels[place]
        its_gains = gains[own.start : own.stop]
        row[place] = own.start + chance.choice(np.flatnonzero(its_gains == its_gains.max()).tolist())
        gains += uncovered[row[place]]
    return row

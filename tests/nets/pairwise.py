"""Covering arrays of strength two: few rows in which each two values of each two factors meet at least once.

Greedy, a row at a time, after Cohen, Dalal, Fredman, Patton 1997, "The AETG system: an approach to testing based on
combinatorial design". The same factors give the same rows.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)

CANDIDATES = 8  # rows of which the best is taken


def covering_rows(factors: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Rows of one value for each factor, so that each pair of values of two factors is in a row."""
    names = list(factors)
    levels = [len(factors[name]) for name in names]
    if len(names) < 2:
        return [{name: value} for name in names for value in factors[name]]
    chance = random.Random(1)
    # What is still to be covered: uncovered[factor][level][other factor] is a set of levels of the other one.
    uncovered = [
        [[set(range(count)) if other != place else set() for other, count in enumerate(levels)] for _ in range(own)]
        for place, own in enumerate(levels)
    ]
    left = sum(a * b for place, a in enumerate(levels) for b in levels[:place])
    rows = []
    while left:
        candidates = [_candidate(levels, uncovered, chance) for _ in range(CANDIDATES)]
        row = max(candidates, key=lambda row: _gain(row, uncovered))
        for place, level in enumerate(row):
            for other in range(place):
                if row[other] in uncovered[place][level][other]:
                    uncovered[place][level][other].remove(row[other])
                    uncovered[other][row[other]][place].remove(level)
                    left -= 1
        rows.append({name: factors[name][level] for name, level in zip(names, row, strict=True)})
    return rows


def _candidate(levels: list[int], uncovered: list[list[list[set[int]]]], chance: random.Random) -> list[int]:
    """A row that begins with the value that lacks most, and takes of each further factor the one that gains most."""
    lacking = {
        (place, level): sum(map(len, uncovered[place][level]))
        for place, own in enumerate(levels)
        for level in range(own)
    }
    most = max(lacking.values())
    first, its_level = chance.choice([pair for pair, lack in lacking.items() if lack == most])
    row = [-1] * len(levels)
    row[first] = its_level
    rest = [place for place in range(len(levels)) if place != first]
    chance.shuffle(rest)
    chosen = [first]
    for place in rest:
        gains = [
            sum(row[other] in uncovered[place][level][other] for other in chosen) for level in range(levels[place])
        ]
        best = max(gains)
        row[place] = chance.choice([level for level, gain in enumerate(gains) if gain == best])
        chosen.append(place)
    return row


def _gain(row: list[int], uncovered: list[list[list[set[int]]]]) -> int:
    return sum(
        row[other] in uncovered[place][level][other] for place, level in enumerate(row) for other in range(place)
    )

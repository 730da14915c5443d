"""Kinds of ground as kernels see them: what loose material is a mix of, and the rock in strata below it.

All kernels that move loose material are given `Materials`, with a mix of at least one kind: see `one_kind`. Drops, wind
and slides have two variants: a quick one for bare ground, of one kind and with nothing on it, and one for rich ground,
of several kinds, or with wetness or plants on it. There `f_rich` stands in the place of a function `f`: see
`kernels.compiling.variant`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.rock import INTRUDED

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]

INTRUSION = 0  # the number of its rock


class Materials(NamedTuple):
    """The kinds of ground of one map: at least one of loose material, and one of rock.

    `mix` is the thickness of each kind in each cell, in metres, [cell * kinds + kind]; their sum, in the order of the
    kinds, is the sediment of the cell to the last bit. Where there is one kind it is the sediment itself. Properties of
    loose kinds are [kind], those of rocks [rock].
    """

    kinds: int
    mix: Numbers
    erodibility: Numbers  # how easily water takes it, 1: all that it can
    abrasion: Numbers  # how easily it is worn where it is moved, or, of rocks, by what the wind carries
    porosity: Numbers  # part of its volume that water can fill
    permeability: Numbers  # how easily water flows through it, beside sand
    deposition: Numbers  # how fast it settles from water and air, beside sand
    suspension: Numbers  # how easily the wind lifts it, beside sand
    repose: Numbers  # tangent of the slope at which it lies
    worn: Indices  # kind after abrasion, or itself
    strata: NDArray[np.uint8]  # [step]: the rock at each depth below the top of the strata; the last continues
    steps_per_metre: float
    # [0, cell]: height of the top of the strata, see INTRUDED; unknown where they have one step. [1, cell], if there is
    # such a row: how far below it the roofs of intrusions lie, and without INTRUDED in the first one.
    rise: NDArray[np.float32]
    open_below: Numbers  # [step]: metres from its top down to the first rock that no water flows through, or infinity
    rock_erodibility: Numbers
    rock_abrasion: Numbers
    rock_porosity: Numbers
    rock_permeability: Numbers
    rock_steepest: Numbers  # tangent of the steepest slope that stands
    rock_worn: Indices  # the loose kind that water and wind make of it
    rock_broken: Indices  # the loose kind that it breaks into
    burden: Numbers = np.empty(0)  # [cell]: what else lies there and raises the ground, metres; empty: nothing does


_ONE, _FIRST = np.ones(1), np.zeros(1, np.int64)
_PLAIN = Materials(
    1, np.empty(0), _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _FIRST,
    np.zeros(1, np.uint8), 1.0, np.empty((1, 0), np.float32), np.array([np.inf]),
    _ONE, _ONE, _ONE, _ONE, _ONE, _FIRST, _FIRST,
)  # fmt: skip


def one_kind(sediment: NDArray[np.float64], **properties: float) -> Materials:
    """Of a map with one sort of sediment on one sort of rock, whose properties are 1 where they are not told."""
    told: dict[str, Any] = {name: np.array([value]) for name, value in properties.items()}
    return _PLAIN._replace(mix=sediment.reshape(-1), **told)


class Moved(NamedTuple):
    """Changes of each loose kind in a cycle, in metres over one cell: [kind], or empty."""

    from_rock: tuple[float, ...] = ()  # bedrock that became this kind
    off_map: tuple[float, ...] = ()
    blown_in: tuple[float, ...] = ()
    worn: tuple[float, ...] = ()  # of this kind that became the one that it wears into


def asked(materials: Materials, names: Iterable[str]) -> Iterator[Any]:
    """The arrays of materials that a kernel uses. Each further array costs seconds of compiling."""
    return (getattr(materials, name) for name in names)


@inlined
def thickness(materials, cell):
    """The exact sum of the kinds of a cell in metres: its sediment."""
    first = np.uintp(cell * materials.kinds)
    total = 0.0
    for kind in range(materials.kinds):
        total += materials.mix[first + np.uintp(kind)]
    return total


@inlined
def ground_of(burden, cell, rock, loose):
    """The ground of a cell in metres: the sum of all that lies there. No kernel sums it up in another way.

    `burden` is that of `Materials`. Kernels for bare ground, which has none, leave it out.
    """
    ground = rock + loose
    if len(burden) > 0:
        ground += burden[np.uintp(cell)]
    return ground


@inlined
def is_intruded(materials, cell, height):
    """Whether the rock of a cell at a height in metres, and all below it, is that of an intrusion."""
    if len(materials.strata) == 1:
        return False
    if materials.rise.shape[0] > 1:
        return materials.rise[0, np.uintp(cell)] - height >= materials.rise[1, np.uintp(cell)]
    return materials.rise[0, np.uintp(cell)] > 0.5 * INTRUDED


@inlined
def above_roof(materials, cell, height):
    """Metres from a height down to the roof of an intrusion, if one lies below it; infinite where none is told."""
    if len(materials.strata) == 1 or materials.rise.shape[0] == 1:
        return np.inf
    return height - (materials.rise[0, np.uintp(cell)] - np.float64(materials.rise[1, np.uintp(cell)]))


@inlined
def step_at(materials, cell, height):
    """The step of the strata at a height in metres, and how many steps this is below their top."""
    if len(materials.strata) == 1:
        return 0, 0.0
    below = (materials.rise[0, np.uintp(cell)] - height) * materials.steps_per_metre
    return min(max(int(below), 0), len(materials.strata) - 1), below


@inlined
def rock_at(materials, cell, height):
    """The number of the rock at a height in metres."""
    if is_intruded(materials, cell, height):
        return INTRUSION
    step, _ = step_at(materials, cell, height)
    return int(materials.strata[np.uintp(step)])


@njit(cache=True, nogil=True, parallel=True)
def _commonest(mix: Any, kinds: int, told: Any) -> None:
    for cell in prange(len(told)):
        first = second = 0
        most, next_most = -1.0, -1.0
        for kind in range(kinds):
            depth = mix[cell * kinds + kind]
            if depth > most:
                second, next_most = first, most
                first, most = kind, depth
            elif depth > next_most:
                second, next_most = kind, depth
        part = 0.0
        if next_most > 0.0:
            part = next_most / (most + next_most)
        told[cell] = first + 16 * second + 256 * int(255.0 * part + 0.5)


def commonest_kinds(mix: NDArray[np.float64], told: NDArray[np.float32]) -> None:
    """Write to `told` [row, column] what lies in each cell of `mix` [row, column, kind].

    A value is f + 16 s + 256 p: f is the kind of which most is there, s the second, and p / 255 the second's part of
    both, up to a half.
    """
    _commonest(mix.reshape(-1), mix.shape[-1], told.reshape(-1))

"""C7: kinds of ground as kernels see them: what loose material is a mix of, and the rock in strata below it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]


class Materials(NamedTuple):
    """The kinds of ground of one map. Properties of loose kinds are [kind], those of rocks [rock].

    `mix` is the thickness of each kind in each cell, in metres, [cell * kinds + kind]; their sum, in the order of the
    kinds, is the sediment of the cell to the last bit. With `kinds` 0 there is but one sort of sediment and of rock,
    and no array has anything in it.
    """

    kinds: int
    mix: Numbers
    erodibility: Numbers  # how easily water takes it, 1: all that it can
    abrasion: Numbers  # how easily it is worn where it is moved, or, of rocks, by what the wind carries
    porosity: Numbers  # part of its volume that water can fill
    deposition: Numbers  # how fast it settles from water and air, beside sand
    suspension: Numbers  # how easily the wind lifts it, beside sand
    repose: Numbers  # tangent of the slope at which it lies
    worn: Indices  # the kind that it becomes when it is worn, itself where it stays what it is
    strata: NDArray[np.uint8]  # [step]: the rock at each depth below the top of the strata; the last one goes on
    steps_per_metre: float
    rise: NDArray[np.float32]  # [cell]: height of the top of the strata
    rock_erodibility: Numbers
    rock_abrasion: Numbers
    rock_porosity: Numbers
    rock_steepest: Numbers  # tangent of the steepest slope that stands
    rock_worn: Indices  # the loose kind that water and wind make of it
    rock_broken: Indices  # the loose kind that it breaks into


def no_materials() -> Materials:
    """Of a map with one sort of sediment on one sort of rock."""
    none, nothing = np.empty(0), np.empty(0, np.int64)
    return Materials(
        0, none, none, none, none, none, none, none, nothing,
        np.empty(0, np.uint8), 0.0, np.empty(0, np.float32), none, none, none, none, nothing, nothing,
    )  # fmt: skip


# In kernels that make no arrays; see `in_step` of kernels/particles.py.
_inline = njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)  # type: ignore[call-overload]


@_inline
def thickness(materials, cell):
    """What the kinds of a cell are together, in metres: its sediment, to the last bit."""
    first = np.uintp(cell * materials.kinds)
    total = 0.0
    for kind in range(materials.kinds):
        total += materials.mix[first + np.uintp(kind)]
    return total


@_inline
def rock_at(materials, cell, height):
    """The number of the rock at a height in metres."""
    step = int((materials.rise[np.uintp(cell)] - height) * materials.steps_per_metre)
    return int(materials.strata[np.uintp(min(max(step, 0), len(materials.strata) - 1))])


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

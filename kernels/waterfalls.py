"""Falls at work: they dig a plunge pool at their foot, undercut the face above it, and so wander upstream.

The plunge pool is as deep below the water beneath as the jet digs (Veronese 1937), 1.9 q^0.54 H^0.225 metres for a
discharge q in square metres a second and a height H in metres. The face is undercut in the weakest rock that it bares,
by the power law of Hayakawa and Matsukura (2003): recession grows with what comes over a square metre of the face, Q /
(w H), to the power of 0.73. When a notch is as deep as the cell, what stands over it breaks, whatever it is made of: so
the face stays as steep as it was, and a hard layer over a weak one recedes as the weak one does.

What breaks and what is dug lies along the river below, where that is gentle; a part is so fine that the river carries
it off. What has come down from the sides goes the same way, as far as the river below is steep. Falls follow each other
in the order of their cells, on one thread.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import inlined, njit
from kernels.falls import STEEP, Falls
from kernels.hydraulic_geometry import channel_width
from kernels.layers import Layer, check_layers
from kernels.materials import Materials, Moved, asked, ground_of, rock_at, thickness
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OPPOSITE, OUTLET, ROW_STEPS, index_steps
from kernels.parameters import exact
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.rivers import Drainage
from kernels.units import Metres

POOL, POOL_BY_DISCHARGE, POOL_BY_HEIGHT = 1.9, 0.54, 0.225
RECESSION = 0.73
USUAL = 1.0 / (7.2 * 10.0)  # what comes over a square metre of a fall of 10 m, of a usual river of 1 m³/s: m/s
GENTLE = 0.01  # slope of the bed that is left at the foot of what has broken
TONGUE = 8.0  # cells along a gentle river over which the most of what has broken lies
RESTS = 0.08  # slope of a river's bed above which it lays nothing down
LEAST = 1e-6  # metres of a load that is too little to be parted
FARTHEST = 4096  # cells along the river: there all of the rest lies

_ASKED = (
    "kinds", "mix", "burden", "strata", "steps_per_metre", "rise", "rock_erodibility", "rock_broken", "rock_worn",
)  # fmt: skip
_Rocks: Any = namedtuple("_Rocks", _ASKED)  # type: ignore[misc]


class WaterfallParameters(NamedTuple):
    """What falls do in a step."""

    retreat: Metres  # of a face of the weakest rock, in a fall of 10 m and 1 m³/s
    pool: float  # factor on the depth of pools
    dug: float  # part of what is too much above a pool's floor that is dug
    fines: float  # part of the broken rock that rivers carry off


class Totals(NamedTuple):
    """What falls did in a step."""

    moved: Moved
    fines: tuple[float, ...]  # of each kind, what rivers carried off, in metres over one cell


@inlined
def _weakest(rocks, cell, low, high):
    """How readily water wears the weakest rock of a cell between two heights in metres."""
    weakest = rocks.rock_erodibility[rock_at(rocks, cell, low)]
    pieces = min(max(int((high - low) * rocks.steps_per_metre), 1), 256)
    for piece in range(pieces):
        rock = rock_at(rocks, cell, low + (piece + 0.5) * (high - low) / pieces)
        weakest = max(weakest, rocks.rock_erodibility[rock])
    return weakest


@njit(nogil=True, error_model="numpy")
def _take_rock(rocks, bedrock, cell, base, kinds_of, load):
    """Lower the rock of a cell to a height; add it to `load` [kind]."""
    height = bedrock[cell]
    piece = 1.0 / rocks.steps_per_metre if len(rocks.strata) > 1 else height - base
    while height > base:
        rock = rock_at(rocks, cell, height)
        lower = max(height - piece, base)
        if not lower < height:
            break
        load[kinds_of[rock]] += height - lower
        height = lower
    bedrock[cell] = height


@njit(nogil=True, error_model="numpy")
def _sum(rocks, bedrock, sediment, ground, cell):
    sediment[cell] = thickness(rocks, cell)
    ground[cell] = ground_of(rocks.burden, cell, bedrock[cell], sediment[cell])


@njit(nogil=True, error_model="numpy")
def _lay(rocks, bedrock, sediment, ground, direction, steps, cell_size, rates, leaves, first, load, off_map):
    """Lay a load [kind] along the river from a cell on, where it is gentle; what comes to its end leaves the map."""
    cell = first
    for step in range(FARTHEST):
        is_end = direction[cell] == OUTLET
        if is_end and leaves:
            for kind in range(rocks.kinds):
                off_map[kind] += load[kind]
                load[kind] = 0.0
            return
        below, depth = cell + steps[direction[cell]], 0.0
        for kind in range(rocks.kinds):
            depth += load[kind]
        if not depth > 0.0:
            return
        part = 1.0
        if not is_end and step + 1 < FARTHEST and depth > LEAST:
            room = ground[below] + RESTS * cell_size * LENGTHS[direction[cell]] - ground[cell]
            part = max(min(rate_of(rates, cell, MOBILITY) / TONGUE, room / depth), 0.0)
        for kind in range(rocks.kinds):
            laid = part * load[kind]
            rocks.mix[cell * rocks.kinds + kind] += laid
            load[kind] = 0.0 if part == 1.0 else load[kind] - laid
        _sum(rocks, bedrock, sediment, ground, cell)
        if part == 1.0:
            return
        cell = below


@njit(nogil=True, error_model="numpy")
def _donor(direction, through, cell, columns):
    """The neighbour that brings a cell most of its water; −1 where none does."""
    rows = len(direction) // columns
    best, most = -1, 0.0
    for neighbour in range(8):
        row, column = cell // columns + ROW_STEPS[neighbour], cell % columns + COLUMN_STEPS[neighbour]
        if 0 <= row < rows and 0 <= column < columns:
            there = row * columns + column
            if direction[there] == OPPOSITE[neighbour] and through[there] > most:
                best, most = there, through[there]
    return best


@njit(nogil=True, error_model="numpy")
def _take_loose(rocks, cell, part, load):
    """Add a part of the loose material of a cell to `load` [kind]."""
    for kind in range(rocks.kinds):
        place = cell * rocks.kinds + kind
        taken = part * rocks.mix[place]
        rocks.mix[place] -= taken
        load[kind] += taken


@njit(nogil=True, error_model="numpy")
def _dig(rocks, bedrock, sediment, ground, foot, floor, part, load):
    """Lower a foot towards the floor of its pool; add what was dug to `load`, loose material and then [1] rock."""
    wanted = part * (ground[foot] - floor)
    loose = min(wanted, sediment[foot])
    if loose > 0.0:
        _take_loose(rocks, foot, min(loose / sediment[foot], 1.0), load[0])
    rest = (wanted - loose) * rocks.rock_erodibility[rock_at(rocks, foot, bedrock[foot])]
    if rest > 0.0:
        _take_rock(rocks, bedrock, foot, bedrock[foot] - rest, rocks.rock_worn, load[1])
    _sum(rocks, bedrock, sediment, ground, foot)


@njit(nogil=True, error_model="numpy")
def _sweep(rocks, bedrock, sediment, ground, filled, direction, steps, cell_size, lip, foot, part, load):
    """Sweep the bed of a fall, which is too steep for a loose one; the lowest cell with a face of rock, or −1."""
    face, cell = -1, lip
    while cell != foot:
        below = cell + steps[direction[cell]]
        _take_loose(rocks, cell, part, load)
        _sum(rocks, bedrock, sediment, ground, cell)
        if bedrock[cell] > filled[below] + STEEP * cell_size * LENGTHS[direction[cell]]:
            face = cell
        cell = below
    return face


@njit(nogil=True, error_model="numpy")
def _clear(rocks, bedrock, sediment, ground, direction, steps, cell_size, foot, part, load):
    """Carry on what lies loose in the river below a fall, as far as it is steep."""
    cell = foot
    for _ in range(FARTHEST):
        if direction[cell] == OUTLET:
            return
        below = cell + steps[direction[cell]]
        excess = ground[cell] - ground[below] - RESTS * cell_size * LENGTHS[direction[cell]]
        if not excess > 0.0:
            return
        if sediment[cell] > 0.0:
            _take_loose(rocks, cell, part * min(excess / sediment[cell], 1.0), load)
            _sum(rocks, bedrock, sediment, ground, cell)
        cell = below


@njit(nogil=True, error_model="numpy")
def _break(rocks, bedrock, sediment, ground, direction, columns, cell_size, face, base, width, rates, load):
    """Break a face down to its base, and what stands beside it: the gorge becomes twice as wide as the river."""
    rows, reach = len(ground) // columns, int(width / cell_size)
    south, east = ROW_STEPS[direction[face]], COLUMN_STEPS[direction[face]]
    row, column = face // columns, face % columns
    for i in range(max(row - reach, 0), min(row + reach + 1, rows)):
        for j in range(max(column - reach, 0), min(column + reach + 1, columns)):
            away, cell = (i - row) ** 2 + (j - column) ** 2, i * columns + j
            upstream = (i - row) * south + (j - column) * east < 0
            if away > 0 and (upstream or away * cell_size * cell_size > width * width):
                continue
            if bedrock[cell] > base and rate_of(rates, cell, MOBILITY) > 0.0:
                _take_rock(rocks, bedrock, cell, base, rocks.rock_broken, load)
                _sum(rocks, bedrock, sediment, ground, cell)


@njit(cache=True, nogil=True, error_model="numpy")
def _work(
    bedrock, sediment, ground, filled, direction, through, steps, columns, cell_size, falls, widths, undercut,
    rocks, rates, leaves, parameters, totals,
):  # fmt: skip
    load = np.zeros((2, rocks.kinds))
    for fall in range(len(falls.lip)):
        foot, height, width = falls.foot[fall], falls.height[fall], widths[fall]
        floor = filled[foot] - parameters.pool * (
            POOL * (falls.discharge[fall] / width) ** POOL_BY_DISCHARGE * height**POOL_BY_HEIGHT
        )
        free = parameters.dug * rate_of(rates, foot, MOBILITY)
        face = _sweep(
            rocks, bedrock, sediment, ground, filled, direction, steps, cell_size, falls.lip[fall], foot, free, load[0]
        )
        if direction[foot] != OUTLET and ground[foot] > floor and free > 0.0:
            _dig(rocks, bedrock, sediment, ground, foot, floor, free, load)
        _clear(rocks, bedrock, sediment, ground, direction, steps, cell_size, foot, free, load[0])
        if face >= 0:
            length = cell_size * LENGTHS[direction[face]]
            base = filled[face + steps[direction[face]]] + GENTLE * length
            pace = rate_of(rates, face, MOBILITY) * rate_of(rates, face, ERODIBILITY)
            pace *= _weakest(rocks, face, base, bedrock[face])
            comes = falls.discharge[fall] / (width * height)
            cut = undercut[face] + parameters.retreat * pace * (comes / USUAL) ** RECESSION
            undercut[face] = cut
            if cut >= length:
                _break(
                    rocks, bedrock, sediment, ground, direction, columns, cell_size, face, base, width, rates, load[1]
                )
                undercut[face] = 0.0
                above = _donor(direction, through, face, columns)
                if above >= 0:
                    undercut[above] = max(undercut[above], min(cut - length, cell_size))
        for kind in range(rocks.kinds):
            broken = load[1, kind]
            totals[0, kind] += broken
            totals[1, kind] += parameters.fines * broken
            load[0, kind] += broken - parameters.fines * broken
            load[1, kind] = 0.0
        first = foot if direction[foot] == OUTLET else foot + steps[direction[foot]]
        _lay(rocks, bedrock, sediment, ground, direction, steps, cell_size, rates, leaves, first, load[0], totals[2])


def work(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    drainage: Drainage,
    discharge: NDArray[np.float64],
    falls: Falls,
    width_of_one: float,
    undercut: NDArray[np.float32],
    parameters: WaterfallParameters,
    *,
    leaves: bool = True,
    rates: Rates | None = None,
) -> Totals:
    """Let falls work for a step, and change the map in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. `drainage`, `discharge` in cubic metres
    a second and `falls` are those of this ground, and `width_of_one` is the width of a river of 1 m³/s in metres.
    `undercut` [row, column] is how deep the notch is that each face has, in metres. Where water does not leave the
    map, what comes to the end of a river lies there.
    """
    check_layers(bedrock, sediment, ground)
    order = np.argsort(falls.lip)
    falls = Falls(*(part[order] for part in falls))  # type: ignore[arg-type]
    totals = np.zeros((3, materials.kinds))
    _work(
        bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1), drainage.filled.reshape(-1),
        drainage.directions.reshape(-1), discharge.reshape(-1), index_steps(ground.shape[1]), ground.shape[1],
        float(cell_size), falls, channel_width(falls.discharge, float(width_of_one)), undercut.reshape(-1),
        _Rocks._make(asked(materials, _ASKED)), flat(rates), bool(leaves), exact(parameters), totals,
    )  # fmt: skip
    broken, fines, off_map = (tuple(row) for row in totals.tolist())
    return Totals(Moved(from_rock=broken, off_map=off_map), fines)

"""Sediment that running water drags along its bed.

After Meyer-Peter & Müller (1948): through each side of a cell goes, in m² of grains a second,

    q = 8 √(R g D³) · (θ − θ_c)^1.5     θ = n² u² / (R D h^(1/3)),   θ_c = 0.047,   R = 1.65

for grains of the size D, water of the depth h and the speed u, and Manning's roughness n. All kinds go alike, by their
part in the bed and their erodibility. What more goes from a cell than comes to it lowers it, and the other way round
(Exner 1925). Only loose material moves, never more than there is, and never more in one go than a part of the depth of
the water: so beds neither swing nor rise through the water. Cells give and take in the order of the map: no order of
threads shows.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit
from kernels.floods import FILM, GRAVITY
from kernels.layers import Layer, check_layers
from kernels.loads import dig, sum_up
from kernels.materials import Materials, Moved, asked, thickness
from kernels.rates import ERODIBILITY, MOBILITY, Rates, flat, rate_of
from kernels.units import Metres, Roughness, Seconds

_HEAVIER = 1.65  # R: how much heavier than water grains are
_CRITICAL = 0.047  # θ_c
_PACKED = 0.6  # part of a bed that is grains
_PART = 0.1  # of the depth of the water, by which a bed changes at most in one go

_ASKED = ("kinds", "mix", "erodibility", "burden", "strata", "steps_per_metre", "rise", "rock_worn")
_FIELDS = (*_ASKED, "rates", "bedrock", "sediment", "ground")
_Land: Any = namedtuple("_Land", _FIELDS)  # type: ignore[misc]


class BedLoadParameters(NamedTuple):
    """How water drags grains."""

    seconds: Seconds
    roughness: Roughness
    grain_size: Metres


@njit(nogil=True, error_model="numpy")
def _drag(fast, depth, parameters):
    """What goes through a metre of a side, in m³ of the bed a second, in the direction of the water."""
    if not depth > FILM or fast == 0.0:
        return 0.0
    grain = parameters.grain_size
    shields = (parameters.roughness * fast) ** 2 / (_HEAVIER * grain * depth ** (1.0 / 3.0))
    if shields <= _CRITICAL:
        return 0.0
    moved = 8.0 * math.sqrt(_HEAVIER * GRAVITY * grain**3) * (shields - _CRITICAL) ** 1.5 / _PACKED
    return math.copysign(moved, fast)


@njit(cache=True, nogil=True, error_model="numpy")
def _carry(land: Any, depth: Any, east: Any, south: Any, cell_size: float, parameters: Any, moved: Any) -> Any:
    """Move what a cycle drags; `moved` [kind] becomes what left the map, in metres over one cell."""
    rows, columns = depth.shape
    kinds = land.kinds
    comes, taken, none = np.zeros((rows * columns, kinds)), np.zeros(kinds), np.zeros(kinds)
    goes, touched = np.zeros(4), np.zeros(rows * columns, np.bool_)
    for row in range(rows):
        for column in range(columns):
            cell = row * columns + column
            here = depth[row, column]
            if not here > FILM:
                continue
            goes[0] = max(_drag(east[row, column], here, parameters), 0.0)
            goes[1] = max(_drag(south[row, column], here, parameters), 0.0)
            goes[2] = max(-_drag(east[row, column - 1], here, parameters), 0.0) if column > 0 else 0.0
            goes[3] = max(-_drag(south[row - 1, column], here, parameters), 0.0) if row > 0 else 0.0
            total = (goes[0] + goes[2]) + (goes[1] + goes[3])
            loose = thickness(land, cell)
            if not (total > 0.0 and loose > 0.0):
                continue
            ease = 0.0
            for kind in range(kinds):
                ease += land.erodibility[kind] * land.mix[cell * kinds + kind] / loose
            ease *= rate_of(land.rates, cell, ERODIBILITY) * rate_of(land.rates, cell, MOBILITY)
            volume = min(ease * total * parameters.seconds / cell_size, min(loose, _PART * here))
            if not volume > 0.0:
                continue
            taken[:] = 0.0
            dig(land, cell, volume, taken, 0, none)
            touched[cell] = True
            for side in range(4):
                share = goes[side] / total
                if not share > 0.0:
                    continue
                i, j = row, column
                if side == 0:
                    j += 1
                elif side == 1:
                    i += 1
                elif side == 2:
                    j -= 1
                else:
                    i -= 1
                beyond = i >= rows or j >= columns
                to = cell if beyond else i * columns + j
                if rate_of(land.rates, to, MOBILITY) == 0.0:
                    to = cell  # protected ground takes nothing
                for kind in range(kinds):
                    if beyond:
                        moved[kind] += share * taken[kind]
                    else:
                        comes[to, kind] += share * taken[kind]
                touched[to] = True
    for cell in range(rows * columns):
        if touched[cell]:
            for kind in range(kinds):
                land.mix[cell * kinds + kind] += comes[cell, kind]
            sum_up(land, cell)


def carry(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    cell_size: float,
    water: Layer,
    east: Layer,
    south: Layer,
    parameters: BedLoadParameters,
    rates: Rates | None = None,
) -> Moved:
    """Let water drag grains along its bed for some seconds, and change the ground in place.

    Layers are as other kernels that move sediment take them; `water`, `east` and `south` are those of
    `kernels.floods.run`.
    """
    check_layers(bedrock, sediment, ground, water, east, south)
    land = _Land._make((
        *asked(materials, _ASKED), flat(rates), bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1),
    ))  # fmt: skip
    off_map: NDArray[np.float64] = np.zeros(materials.kinds)
    _carry(land, water, east, south, float(cell_size), parameters, off_map)
    return Moved(off_map=tuple(off_map.tolist()))

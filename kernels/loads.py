"""Excavation and deposition by water, kind by kind, with exact conservation.

`land` is a named tuple with `kinds`, `mix`, `burden`, `strata`, `steps_per_metre`, `rise` and `rock_worn` of
`kernels.materials.Materials`, and `bedrock`, `sediment` and `ground` of all cells. `carried[first + kind]` is the load,
in metres over one cell.
"""

from __future__ import annotations

import numpy as np

from kernels.compiling import inlined
from kernels.materials import ground_of, rock_at


@inlined
def dig(land, cell, depth, carried, first, from_rock):
    """Dig so much off a cell, loose material first, and add it to the load `carried` by kind."""
    own = cell * land.kinds
    loose = all_of(land.mix, own, land.kinds)
    part = min(depth / loose, 1.0) if loose > 0.0 else 0.0
    # Kinds are few, and a loop of few turns costs more than what it does: so here and below the first go without one.
    _dig_kind(land.mix, own, part, carried, first)
    if land.kinds > 1:
        _dig_kind(land.mix, own + 1, part, carried, first + 1)
    if land.kinds > 2:
        _dig_kind(land.mix, own + 2, part, carried, first + 2)
    if land.kinds > 3:
        _dig_kind(land.mix, own + 3, part, carried, first + 3)
    for kind in range(4, land.kinds):
        _dig_kind(land.mix, own + kind, part, carried, first + kind)
    if depth > loose:
        kind, dug = dig_rock(land, cell, depth - loose)
        from_rock[kind] += dug
        carried[first + kind] += dug
    sum_up(land, cell)


@inlined
def _dig_kind(mix, own, part, carried, load):
    before = mix[np.uintp(own)]
    now = before - part * before if part < 1.0 else 0.0
    mix[np.uintp(own)] = now
    carried[np.uintp(load)] += before - now


@inlined
def dig_rock(land, cell, depth):
    """Dig so much rock off a cell. Returns the resulting kind and the exact amount."""
    rock = land.bedrock[cell]
    kind = land.rock_worn[rock_at(land, cell, rock)]
    land.bedrock[cell] = rock - depth
    return kind, rock - land.bedrock[cell]


@inlined
def lay(land, cell, part, carried, first):
    """Lay a part of a load on a cell."""
    own = cell * land.kinds
    _lay_kind(land.mix, own, part, carried, first)
    if land.kinds > 1:
        _lay_kind(land.mix, own + 1, part, carried, first + 1)
    if land.kinds > 2:
        _lay_kind(land.mix, own + 2, part, carried, first + 2)
    if land.kinds > 3:
        _lay_kind(land.mix, own + 3, part, carried, first + 3)
    for kind in range(4, land.kinds):
        _lay_kind(land.mix, own + kind, part, carried, first + kind)
    sum_up(land, cell)


@inlined
def _lay_kind(mix, own, part, carried, load):
    laid = part * carried[np.uintp(load)]
    carried[np.uintp(load)] -= laid
    mix[np.uintp(own)] += laid


@inlined
def sum_up(land, cell):
    """Bring the sediment and the ground of a cell up to date with its mix and its rock."""
    land.sediment[cell] = all_of(land.mix, cell * land.kinds, land.kinds)
    land.ground[cell] = ground_of(land.burden, cell, land.bedrock[cell], land.sediment[cell])


@inlined
def all_of(carried, first, kinds):
    """The load of all kinds together."""
    load = carried[np.uintp(first)]
    if kinds > 1:
        load += carried[np.uintp(first + 1)]
    if kinds > 2:
        load += carried[np.uintp(first + 2)]
    if kinds > 3:
        load += carried[np.uintp(first + 3)]
    for kind in range(4, kinds):
        load += carried[np.uintp(first + kind)]
    return load


@inlined
def add_all(carried, first, target, to, kinds):
    """Add a load to another."""
    target[np.uintp(to)] += carried[np.uintp(first)]
    if kinds > 1:
        target[np.uintp(to + 1)] += carried[np.uintp(first + 1)]
    if kinds > 2:
        target[np.uintp(to + 2)] += carried[np.uintp(first + 2)]
    if kinds > 3:
        target[np.uintp(to + 3)] += carried[np.uintp(first + 3)]
    for kind in range(4, kinds):
        target[np.uintp(to + kind)] += carried[np.uintp(first + kind)]

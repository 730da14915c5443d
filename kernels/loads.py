"""What water digs from cells and lays on others, kind by kind: to the last bit, nothing is lost on the way.

`land` is a named tuple with `kinds`, `mix`, `burden`, `strata`, `steps_per_metre`, `rise` and `rock_worn` of
`kernels.materials.Materials`, and `bedrock`, `sediment` and `ground` of all cells. `carried[first + kind]` is the load,
in metres over one cell.
"""

from __future__ import annotations

from kernels.compiling import inlined
from kernels.materials import ground_of, rock_at, thickness


@inlined
def dig(land, cell, depth, carried, first, from_rock):
    """Take so much off a cell, loose material first, and add it to the load of which `carried` has each kind."""
    own = cell * land.kinds
    loose = thickness(land, cell)
    part = min(depth / loose, 1.0) if loose > 0.0 else 0.0
    for kind in range(land.kinds):
        before = land.mix[own + kind]
        land.mix[own + kind] = before - part * before if part < 1.0 else 0.0
        carried[first + kind] += before - land.mix[own + kind]
    if depth > loose:
        rock = land.bedrock[cell]
        kind = land.rock_worn[rock_at(land, cell, rock)]
        land.bedrock[cell] = rock - (depth - loose)
        dug = rock - land.bedrock[cell]
        from_rock[kind] += dug
        carried[first + kind] += dug
    sum_up(land, cell)


@inlined
def lay(land, cell, part, carried, first):
    """Lay a part of a load on a cell."""
    own = cell * land.kinds
    for kind in range(land.kinds):
        laid = part * carried[first + kind]
        carried[first + kind] -= laid
        land.mix[own + kind] += laid
    sum_up(land, cell)


@inlined
def sum_up(land, cell):
    """Bring the sediment and the ground of a cell up to date with its mix and its rock."""
    land.sediment[cell] = thickness(land, cell)
    land.ground[cell] = ground_of(land.burden, cell, land.bedrock[cell], land.sediment[cell])


@inlined
def all_of(carried, first, kinds):
    """The load of all kinds together."""
    load = 0.0
    for kind in range(kinds):
        load += carried[first + kind]
    return load

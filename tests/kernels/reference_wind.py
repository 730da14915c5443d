"""Wind erosion once more, as plain as can be, to compare the kernels with.

`article` is the article's text and listing (McDonald 2020, "Simple particle-based wind erosion"), one particle after
the other with a cascade at each contact: heights h in [0, 1] and `scale` cells to one unit of height. Two of its faults
are mended, because with them there is nothing to compare: a particle rises and falls in the unit in which it moves
(which changes nothing for a scale of 1), and where less is left in a cell than it takes, it takes that and wears the
rock with the rest of its force, instead of losing it.

`corrected` is one parcel in metres, with all that `kernels/wind.py` says that it does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

Layer = NDArray[np.float64]


@njit
def cascade(i, j, h, s, dt, roughness, settling, diagonal):
    """The article's cascade at one cell, with the map's edge checked with the neighbour's place.

    A difference over the diagonal may be `diagonal` times as large: 1 in the article, √2 for a cone of one slope.
    """
    rows, columns = h.shape
    for a in (-1, 0, 1):
        for b in (-1, 0, 1):
            k, l = i + a, j + b
            if (a == 0 and b == 0) or not (0 <= k < rows and 0 <= l < columns):
                continue
            difference = (h[i, j] + s[i, j]) - (h[k, l] + s[k, l])
            excess = abs(difference) - (roughness * diagonal if a != 0 and b != 0 else roughness)
            if excess <= 0.0:
                continue
            transfer = min(s[i, j], excess / 2.0) if difference > 0.0 else -min(s[k, l], excess / 2.0)
            s[i, j] -= dt * settling * transfer
            s[k, l] += dt * settling * transfer


@njit
def article(h, s, start, wind, sediment, scale, dt, suspension, abrasion, settling, deposition, roughness, diagonal):
    """One particle over `h` and `s`, changed in place. Returns what it carried off, and its steps.

    `deposition` is the article's `suspension` where it is the rate at which the load of a flying particle settles.
    """
    rows, columns = h.shape
    x, z = start
    height = 0.0
    vx, vy, vz = wind[0], 0.0, wind[1]
    steps = 0
    while True:
        i, j = int(x), int(z)
        height = max(height, h[i, j] + s[i, j])
        n, w = max(i - 1, 0), max(j - 1, 0)
        b, e = min(i + 1, rows - 1), min(j + 1, columns - 1)
        nx = -scale * (h[b, j] + s[b, j] - h[n, j] - s[n, j]) / (b - n)
        nz = -scale * (h[i, e] + s[i, e] - h[i, w] - s[i, w]) / (e - w)
        length = math.sqrt(nx * nx + nz * nz + 1.0)
        nx, ny, nz = nx / length, 1.0 / length, nz / length
        if height > h[i, j] + s[i, j]:
            vy -= dt * 0.01
        else:
            # (v × n) × n, spelled out
            cx, cy, cz = vy * nz - vz * ny, vz * nx - vx * nz, vx * ny - vy * nx
            vx += dt * (cy * nz - cz * ny)
            vy += dt * (cz * nx - cx * nz)
            vz += dt * (cx * ny - cy * nx)
        vx += 0.1 * dt * (wind[0] - vx)
        vy += 0.1 * dt * (0.0 - vy)
        vz += 0.1 * dt * (wind[1] - vz)
        x += dt * vx
        z += dt * vz
        height += dt * vy / scale
        steps += 1
        if not (0.0 <= x < rows and 0.0 <= z < columns):
            return sediment, steps
        k, l = int(x), int(z)
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        if height <= h[k, l] + s[k, l]:
            force = speed * (s[k, l] + h[k, l] - height) * scale
            if s[i, j] <= 0.0:
                worn = dt * abrasion * force * sediment
                h[i, j] -= worn
                s[i, j] += worn
            elif s[i, j] > dt * suspension * force:
                s[i, j] -= dt * suspension * force
                sediment += dt * suspension * force
                cascade(i, j, h, s, dt, roughness, settling, diagonal)
            else:
                spare = 1.0 - s[i, j] / (dt * suspension * force)
                sediment += s[i, j]
                worn = spare * dt * abrasion * force * sediment
                h[i, j] -= worn
                s[i, j] = worn
        else:
            settled = dt * deposition * sediment
            sediment -= settled
            s[k, l] += 0.5 * settled
            s[i, j] += 0.5 * settled
            cascade(k, l, h, s, dt, roughness, settling, diagonal)
            cascade(i, j, h, s, dt, roughness, settling, diagonal)
        if speed < 0.01:
            return sediment, steps


@dataclass
class Parameters:
    """As `kernels.wind.WindParameters`."""

    wind_direction: float = 270.0
    wind_speed: float = math.sqrt(2.0)
    time_step: float = 0.25
    gravity: float = 0.01
    drag: float = 0.1
    friction: float = 1.0
    suspension: float = 0.0001
    deposition: float = 0.0001
    abrasion: float = 0.0001
    dust: float = 0.0
    inflow: float = 0.0
    shear: float = 0.0
    speed_up: float = 0.0
    upwind_length: float = 20.0
    shelter_angle: float = 90.0
    lee_deposition: float = 0.0
    scale: float = 80.0
    wrap: bool = False
    longest_path: int = 20_000
    uplift: float = 0.0
    lag: float = 0.0
    lift: float = 0.0
    lift_height: float = 4.0
    memory: float = 0.0
    wet_cohesion: float = 4.0
    plant_drag: float = 0.6
    plant_cover: float = 0.95
    plant_trapping: float = 0.5
    wind_field_direction: float = 270.0


@dataclass
class Sorts:
    """Kinds of loose material, and rocks in level strata: from the top, the height of the bottom of each but the last.

    The defaults are one sort of each.
    """

    fall: tuple[float, ...] = (1.0,)
    suspension: tuple[float, ...] = (1.0,)
    bottoms: tuple[float, ...] = ()
    rock_abrasion: tuple[float, ...] = (1.0,)
    rock_worn: tuple[int, ...] = (0,)


@dataclass
class Map:
    """Two layers in metres, the loose one [row, column, kind], and what has left them."""

    bedrock: Layer
    mix: Layer
    cell_size: float
    sorts: Sorts = field(default_factory=Sorts)
    surface: Layer | None = None  # [row, column, (wetness, grass, roots, canopy)]
    wind: Layer | None = None  # [row, column, (south, east)]
    airborne: Layer | None = None
    streets: Layer | None = None  # [row, column, (south, east)]
    borne: Layer = field(init=False)  # as many: what this adds
    steps: int = 0
    touched: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.off_edge = np.zeros(self.mix.shape[2])
        self.borne = np.zeros((*self.bedrock.shape, 2))
        self.abraded = np.zeros(self.mix.shape[2])  # by the kind that it became

    def ground(self, cell: tuple[int, int]) -> float:
        """In cells."""
        return float(self.bedrock[cell] + self.mix[cell].sum()) / self.cell_size

    def rock(self, cell: tuple[int, int]) -> int:
        return sum(self.bedrock[cell] <= bottom for bottom in self.sorts.bottoms)

    def traces(self, cell: tuple[int, int]) -> tuple[float, float, float]:
        """Wetness, grass and canopy."""
        if self.surface is None:
            return 0.0, 0.0, 0.0
        wetness, grass, _, canopy = (float(value) for value in self.surface[cell])
        return wetness, grass, canopy

    def rise(self, cell: tuple[int, int], axis: int, wrap: bool) -> float:
        """How steeply the ground rises along an axis."""
        before, after = list(cell), list(cell)
        before[axis] -= 1
        after[axis] += 1
        side = self.bedrock.shape[axis]
        span = 2
        if wrap:
            before[axis] %= side
            after[axis] %= side
        else:
            before[axis], after[axis] = max(before[axis], 0), min(after[axis], side - 1)
            span = after[axis] - before[axis]
        return (self.ground((after[0], after[1])) - self.ground((before[0], before[1]))) / span


def corrected(world: Map, start: tuple[float, float], p: Parameters) -> None:
    """One parcel over a map, changed in place."""
    rows, columns = world.bedrock.shape
    sorts = world.sorts
    fall, suspension = np.array(sorts.fall), np.array(sorts.suspension)
    angle = math.radians(p.wind_direction)
    prevailing = p.wind_speed * np.array([math.cos(angle), -math.sin(angle), 0.0])
    turn = math.radians(p.wind_field_direction - p.wind_direction)

    def wind_at(cell: tuple[int, int]) -> NDArray[np.float64]:
        wind = prevailing
        if world.wind is not None:
            south, east = world.wind[cell]
            towards = p.wind_speed * complex(south, east) * complex(math.cos(turn), math.sin(turn))
            wind = np.array([towards.real, towards.imag, 0.0])
        if world.streets is None or world.airborne is None or not p.memory > 0.0:
            return wind
        street = np.append(world.streets[cell], 0.0)
        if not street @ wind > 0.0:
            return wind
        aloft = float(world.airborne[cell])
        pull = p.memory * aloft / (aloft + float(world.airborne.mean()))
        return wind + pull * math.sqrt(wind @ wind) * street / math.sqrt(street @ street)

    def nearness(above: float) -> float:
        return (1.0 + max(above, 0.0) / p.lift_height) ** -2.0 if p.lift > 0.0 else 1.0

    def upward(above: float, along: float) -> float:
        if not (p.lift > 0.0 and load.sum() > 0.0):
            return -p.gravity
        return p.lift * along**2 * nearness(above) - float(load @ fall) / float(load.sum()) * p.gravity

    x = np.array(start)
    cell = (int(x[0]), int(x[1]))
    v = wind_at(cell).copy()
    height = upwind = world.ground(cell)
    crest = height if p.shelter_angle < 90.0 else -math.inf
    load = np.zeros(len(fall))
    load[np.argmax(suspension)] = 0.0 if p.wrap else p.inflow
    crossing = abs(math.cos(angle)) * rows + abs(math.sin(angle)) * columns if p.wrap else math.inf
    travelled = 0.0
    for step in range(1, p.longest_path + 1):
        world.steps += 1
        cell = (int(x[0]), int(x[1]))
        ground = world.ground(cell)
        wetness, grass, canopy = world.traces(cell)
        cover = grass + canopy - grass * canopy
        sheltered = ground < crest
        if height < crest:
            height = crest
            v[2] = max(v[2], 0.0)
        height = max(height, ground)
        time = min(p.time_step, 1.0 / math.hypot(v[0], v[1]))
        speed_up = 0.0 if world.wind is not None else p.speed_up
        faster = max(0.0, 1.0 + speed_up * (max(ground, crest) - upwind) / p.upwind_length)
        faster *= 1.0 - p.plant_drag * (grass if world.wind is not None else cover)
        came = time * math.hypot(v[0], v[1])
        upwind += came * (ground - upwind) / p.upwind_length
        pull = min(1.0, time * p.drag) * faster * wind_at(cell)
        if height > ground:
            v[2] += time * upward(height - ground, came / time)
        else:
            world.touched.add(cell)
            v[2] += time * max(0.0, upward(0.0, came / time)) if p.lift > 0.0 else 0.0
            n = np.array([-world.rise(cell, 0, p.wrap), -world.rise(cell, 1, p.wrap), 1.0])
            n /= math.sqrt(n @ n)
            v += min(1.0, time * p.friction) * (n * (n @ v) - v)
        v += pull - min(1.0, time * p.drag) * v

        along = math.hypot(v[0], v[1])
        time = min(time, 1.0 / along)
        x += time * v[:2]
        height += time * v[2]
        travelled += time * along
        world.borne[cell] += time * load.sum() * v[:2]
        if p.shelter_angle < 90.0:
            crest = max(crest - math.tan(math.radians(p.shelter_angle)) * came, ground)
        if p.wrap:
            x %= (rows, columns)
        elif not (0.0 <= x[0] < rows and 0.0 <= x[1] < columns):
            world.off_edge += load
            return
        ahead = (int(x[0]), int(x[1]))
        left = crossing - travelled
        dying = left < 0.1 * crossing
        lee = sheltered or world.ground(ahead) < crest
        pressed = world.ground(ahead) - height
        reach = 16.0 - (world.ground(ahead) - ground)
        speed = math.sqrt(v @ v)
        settling = max(p.deposition, p.lee_deposition) if lee else p.deposition
        settling += p.plant_trapping * cover
        part = np.minimum(1.0, time * settling * fall / (1.0 + p.uplift * speed**2 / fall))
        near = nearness(-pressed)
        part *= near + (1.0 - near) * np.minimum(fall, 1.0)
        if dying:
            part = np.maximum(part, min(1.0, time * along / (left + time * along)))
        depths = world.mix[cell].copy()
        settled = part * load
        onward = 0.5 * settled / (1.0 + p.lag * fall) if ahead != cell else 0.0 * settled
        world.mix[cell] += settled - onward
        world.mix[ahead] += onward
        load = load - settled
        if pressed >= 0.0 and not lee and not dying:
            loose = float(depths.sum())
            force = speed * (pressed + time * p.shear * speed)
            deepest = world.cell_size * max(0.0, min(pressed + p.shear * time * along, reach))
            want = min(time * p.suspension * p.scale * world.cell_size * force, deepest)
            open_ground = (1.0 - p.plant_cover * cover) ** 2
            freedom = open_ground * max(0.0, 1.0 - p.wet_cohesion * wetness) ** 2
            taken = np.zeros(len(fall))
            for kind in range(len(fall)):
                if depths[kind] > 0.0:
                    taken[kind] = min(depths[kind], freedom * want * suspension[kind] * depths[kind] / loose)
            world.mix[cell] -= taken
            load = load + taken
            if loose <= want:
                spare = 1.0 - loose / want if loose > 0.0 else 1.0
                rock = world.rock(cell)
                wear = spare * open_ground * p.abrasion * sorts.rock_abrasion[rock]
                wearing = load.sum() + p.dust
                worn = min(wear * time * force * wearing, wearing, deepest)
                world.bedrock[cell] -= worn
                world.mix[cell][sorts.rock_worn[rock]] += worn
                world.abraded[sorts.rock_worn[rock]] += worn
        if speed < 0.01 or step == p.longest_path or left <= 0.0:
            world.mix[ahead] += load
            return

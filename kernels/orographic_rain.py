"""Rain that the wind brings: where moist air is lifted over the land, and where it falls dry behind it.

Smith and Barstad 2004, "A Linear Theory of Orographic Precipitation" (J. Atmos. Sci. 61): air of wind U that the land h
lifts condenses its vapour; what condenses turns to drops and falls after two delays, and drifts with the wind
meanwhile. For each wave of the land, of wave vector k, with σ = U·k,

    P(k) = C_w · iσ · h(k) / ( (1 − i m H_w) (1 + iσ τ_c) (1 + iσ τ_f) )

`C_w` is the sensitivity of rain to lift and `H_w` the depth of the moist layer. The vertical wave number is
m² = (N² − σ²) / σ² · |k|², of the sign of σ where waves rise from the land, and positive imaginary where they die out
with height (σ² > N²). To this comes the rain of level land, and less than none does not fall.

Vapour that is taken up over water drifts on and is lost within a length L: with the part of water w in a cell, it is
w(k) / (1 + i L d·k), d the direction of the wind. That is a choice of this program, of the same kind as the delays.

The land is taken on a grid of up to 128 nodes a side: drift and delays smooth far more than that. Beyond open edges it
goes on, and leads over to the other side of the map.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.units import Celsius, Degrees, Metres

Numbers = NDArray[np.float64]

# Units of the air, which no other process has
MetresPerSecond = Annotated[float, "m/s"]
Seconds = Annotated[float, "s"]
PerSecond = Annotated[float, "1/s"]
MillimetresPerHour = Annotated[float, "mm/h"]

MOST_NODES = 128
MOST_RAIN = 100.0  # times the mean of the map

_DRIFTS = 4.0  # lengths over which drops drift, beyond which the other side of the map may come
_SECONDS_PER_HOUR = 3600.0

# Air
_GRAVITY = 9.81  # m/s²
_HEAT = 2.5e6  # J/kg, latent, of vapour
_VAPOUR_GAS, _DRY_GAS = 461.5, 287.0  # J/(kg K)
_DRY_HEAT = 1004.0  # J/(kg K), at constant pressure
_PRESSURE = 101325.0  # Pa, at height 0
_LEAST_LAPSE = 1e-3  # K/m: more stable air holds no theory of lift


class RainParameters(NamedTuple):
    """The air that brings the rain."""

    wind_direction: Degrees  # where it comes from, clockwise from north
    air_speed: MetresPerSecond
    temperature: Celsius  # at height 0
    stability: PerSecond  # moist Brunt–Väisälä frequency
    forming_time: Seconds  # from vapour to drops
    fall_time: Seconds  # of drops
    background: MillimetresPerHour  # on level land
    uptake: float  # how much more it rains where the air comes from over water, as a fraction
    uptake_reach: Metres  # within which air takes up vapour, and loses it
    wrap: bool  # what leaves the map comes back on the other side


class MoistAir(NamedTuple):
    """Saturated air."""

    sensitivity: float  # C_w, kg/m³
    depth: Metres  # H_w


def moist_air(temperature: float, stability: float) -> MoistAir:
    """Saturated air of so many degrees Celsius at height 0 that is stable by so much, the frequency N in 1/s.

    C_w = ρ Γ / γ and H_w = R T² / (L γ): ρ is the density of saturated vapour (Bolton 1980), Γ the lapse rate along a
    moist adiabat, and γ that of the air, which follows from N² = g / T · (Γ − γ).
    """
    kelvin = temperature + 273.15
    pressure = 611.2 * math.exp(17.67 * temperature / (temperature + 243.5))
    mixing = _DRY_GAS / _VAPOUR_GAS * pressure / (_PRESSURE - pressure)
    adiabat = _GRAVITY * (1.0 + _HEAT * mixing / (_DRY_GAS * kelvin))
    adiabat /= _DRY_HEAT + _HEAT**2 * mixing / (_VAPOUR_GAS * kelvin**2)
    lapse = max(adiabat - stability**2 * kelvin / _GRAVITY, _LEAST_LAPSE)
    density = pressure / (_VAPOUR_GAS * kelvin)
    return MoistAir(density * adiabat / lapse, _VAPOUR_GAS * kelvin**2 / (_HEAT * lapse))


def orographic_rain(
    ground: Numbers,
    sides: tuple[float, float],
    wind: tuple[float, float],
    air: MoistAir,
    stability: float,
    delays: tuple[float, float],
    *,
    wrap: bool = False,
) -> Numbers:
    """What lift adds to the rain of level land, in mm/h, float64 [row, column], also below 0.

    `ground` is metres [row, column], `sides` those of a cell in metres, south and east, `wind` its velocity in m/s,
    likewise, and `delays` the times of formation and fall in seconds.
    """
    drift = math.hypot(*wind) * sum(delays)
    land = ground if wrap else _go_on(ground, tuple(math.ceil(_DRIFTS * drift / side) for side in sides))
    south, east = _waves(land.shape, sides)
    along = south * wind[0] + east * wind[1]
    # The fraction times σ, of which σ m has no pole where the wind blows along the crests
    rising = np.hypot(south, east) * np.sqrt((stability**2 - along**2).astype(np.complex128))
    rising[along < -stability] *= -1.0
    below = along - 1j * air.depth * rising
    for delay in delays:
        below *= 1.0 + 1j * delay * along
    below[below == 0.0] = 1.0  # the wind does not cross these waves, and no rain comes of them
    response = (1j * _SECONDS_PER_HOUR * air.sensitivity) * along**2 / below
    response *= np.fft.rfft2(land)
    return np.fft.irfft2(response, land.shape)[: ground.shape[0], : ground.shape[1]]


def vapour(
    water: Numbers, sides: tuple[float, float], direction: tuple[float, float], length: float, *, wrap: bool = False
) -> Numbers:
    """How far air is moistened by the water that it came over, from 0 to 1, float64 [row, column].

    `water` is the part of each cell under water, `direction` where the wind blows to, a unit vector (south, east), and
    `length` metres within which it takes up vapour or loses it.
    """
    land = water if wrap else _go_on(water, tuple(math.ceil(_DRIFTS * length / side) for side in sides))
    south, east = _waves(land.shape, sides)
    waves = np.fft.rfft2(land) / (1.0 + 1j * length * (south * direction[0] + east * direction[1]))
    return np.clip(np.fft.irfft2(waves, land.shape)[: water.shape[0], : water.shape[1]], 0.0, 1.0)


def relative_rain(
    ground: Numbers, water: NDArray[np.bool_] | None, cell_size: float, parameters: RainParameters
) -> NDArray[np.float32]:
    """How much it rains on each cell beside the mean of the map, float32 [row, column], up to `MOST_RAIN`.

    `ground` is metres [row, column], `water` where sea or lakes are, or None, `cell_size` the side of a cell in metres.
    Where it would rain nowhere, it rains on all cells alike.
    """
    p = parameters
    step = math.ceil(max(ground.shape) / MOST_NODES)
    land = _mean_of_cells(ground, step)
    sides = tuple(cells / nodes * cell_size for cells, nodes in zip(ground.shape, land.shape, strict=True))
    direction = (
        round(math.cos(math.radians(p.wind_direction)), 15),
        round(-math.sin(math.radians(p.wind_direction)), 15),
    )
    wind = (p.air_speed * direction[0], p.air_speed * direction[1])
    air = moist_air(p.temperature, p.stability)
    delays = (p.forming_time, p.fall_time)
    rain = orographic_rain(land, sides, wind, air, p.stability, delays, wrap=p.wrap)
    np.maximum(rain + p.background, 0.0, out=rain)
    if water is not None and p.uptake > 0.0 and water.any():
        wet = _mean_of_cells(water.astype(np.float64), step)
        rain *= 1.0 + p.uptake * vapour(wet, sides, direction, p.uptake_reach, wrap=p.wrap)
    cells = _to_cells(rain.astype(np.float32), ground.shape, wrap=p.wrap)
    mean = float(cells.mean(dtype=np.float64))
    if not mean > 0.0:
        return np.ones(ground.shape, np.float32)
    cells /= np.float32(mean)
    return np.minimum(cells, np.float32(MOST_RAIN), out=cells)


def _waves(shape: tuple[int, ...], sides: tuple[float, float]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The wave numbers of a real transform, in rad/m, [row, 1] and [1, column]. The shortest have no direction: 0."""
    south = 2.0 * np.pi * np.fft.fftfreq(shape[0], sides[0])
    east = 2.0 * np.pi * np.fft.rfftfreq(shape[1], sides[1])
    if shape[0] % 2 == 0:
        south[shape[0] // 2] = 0.0
    if shape[1] % 2 == 0:
        east[-1] = 0.0
    return south[:, None], east[None, :]


def _go_on(field: Numbers, reach: tuple[int, ...]) -> Numbers:
    """A field with more rows and columns after it, which lead from the last to the first ones without a step.

    As many as `reach`, though no less than half the field has and no more than twice as many.
    """
    for axis in (0, 1):
        cells = field.shape[axis]
        more = _quick_length(cells + min(max(reach[axis], math.ceil(cells / 2)), 2 * cells)) - cells
        place = ((np.arange(more) + 0.5) / more).reshape((-1, 1) if axis == 0 else (1, -1))
        fade = place * place * (3.0 - 2.0 * place)
        last, first = field.take([-1], axis), field.take([0], axis)
        field = np.concatenate([field, last + fade * (first - last)], axis)
    return field


def _quick_length(least: int) -> int:
    """The least length from this on that a transform is quick at: one without prime factors over 5."""
    length = least
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def _mean_of_cells(layer: Numbers, step: int) -> Numbers:
    """The mean of the cells of each node, which has up to `step` times as many of them."""
    for axis in (0, 1):
        cells = layer.shape[axis]
        nodes = math.ceil(cells / step)
        first = np.arange(nodes) * cells // nodes
        count = np.diff(np.append(first, cells)).reshape((-1, 1) if axis == 0 else (1, -1))
        layer = np.add.reduceat(layer, first, axis) / count
    return layer


def _to_cells(nodes: NDArray[np.float32], shape: tuple[int, ...], *, wrap: bool) -> NDArray[np.float32]:
    """The values of nodes at the cells, linearly between them."""
    for axis in (0, 1):
        count = nodes.shape[axis]
        if count == shape[axis]:
            continue
        place = (np.arange(shape[axis]) + 0.5) * count / shape[axis] - 0.5
        before = np.floor(place).astype(np.intp)
        part: Any = (place - before).astype(np.float32).reshape((-1, 1) if axis == 0 else (1, -1))
        ends = (before % count, (before + 1) % count) if wrap else np.clip((before, before + 1), 0, count - 1)
        one, other = (nodes.take(end, axis) for end in ends)
        other -= one
        other *= part
        one += other
        nodes = one
    return nodes if nodes.flags.owndata else nodes.copy()

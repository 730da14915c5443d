"""Orographic rain: moist air rains as it rises over windward slopes, and leaves a rain shadow behind them.

Smith and Barstad 2004, "A Linear Theory of Orographic Precipitation" (J. Atmos. Sci. 61): the land h lifts air of wind
U, and its vapour condenses. Condensed water forms drops and falls to the ground after two delays, during which it
drifts with the wind. For each Fourier component of the land, of wave vector k, with σ = U·k,

    P(k) = C_w · iσ · h(k) / ( (1 − i m H_w) (1 + iσ τ_c) (1 + iσ τ_f) )

`C_w` is the uplift sensitivity and `H_w` the depth of the moist layer. The vertical wave number is
m² = (N² − σ²) / σ² · |k|². Its root has the sign of σ where waves propagate upwards, and is positive imaginary where
they decay with height (σ² > N²). The background rain of level land is added, and negative sums become 0.

Vapour taken up over water drifts downwind and is lost over a length L: with the fraction of water w of a cell, it is
w(k) / (1 + i L d·k), d the direction of the wind. This term is not in the article; it has the form of the delays.

The grid has at most 128 nodes per side, as drift and delays smooth much longer lengths. Beyond open edges the land is
continued with a smooth transition to the opposite edge, because the transform is periodic.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.units import Celsius, Degrees, Metres

Numbers = NDArray[np.float64]

# Units that only this process has
MetresPerSecond = Annotated[float, "m/s"]
Seconds = Annotated[float, "s"]
PerSecond = Annotated[float, "1/s"]
MillimetresPerHour = Annotated[float, "mm/h"]

MOST_NODES = 128
MOST_RAIN = 100.0  # times the mean of the map

_DRIFTS = 4.0  # lengths of drift by which open edges are continued, before the opposite edge begins
_SECONDS_PER_HOUR = 3600.0

# Air
_GRAVITY = 9.81  # m/s²
_HEAT = 2.5e6  # J/kg, latent heat of vaporization
_VAPOUR_GAS, _DRY_GAS = 461.5, 287.0  # J/(kg K)
_DRY_HEAT = 1004.0  # J/(kg K), at constant pressure
_PRESSURE = 101325.0  # Pa, at height 0
_LEAST_LAPSE = 1e-3  # K/m: the theory does not hold for more stable air


class RainParameters(NamedTuple):
    """Properties of the moist air."""

    wind_direction: Degrees  # that the wind comes from, clockwise from north
    air_speed: MetresPerSecond
    temperature: Celsius  # at height 0
    stability: PerSecond  # moist Brunt–Väisälä frequency
    forming_time: Seconds  # from vapour to drops
    fall_time: Seconds  # of drops
    background: MillimetresPerHour  # on level land
    uptake: float  # increase of rain from air that has crossed water, as a fraction
    uptake_reach: Metres  # distance over which air takes up vapour, and loses it
    wrap: bool  # periodic edges


class MoistAir(NamedTuple):
    """Saturated air."""

    sensitivity: float  # C_w, kg/m³
    depth: Metres  # H_w


def moist_air(temperature: float, stability: float) -> MoistAir:
    """Saturated air of a temperature at height 0, in °C, and a moist stability, the frequency N in 1/s.

    C_w = ρ Γ / γ and H_w = R T² / (L γ): ρ is the density of saturated vapour (Bolton 1980), Γ the moist adiabatic
    lapse rate, and γ the lapse rate of the air, from N² = g / T · (Γ − γ).
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
    """Rain due to lift, relative to that of level land: mm/h, float64 [row, column], also negative.

    `ground` is metres [row, column], `sides` are the sides of a cell in metres (south, east), `wind` is the velocity in
    m/s (south, east), and `delays` are the times of formation and fall in seconds.
    """
    drift = math.hypot(*wind) * sum(delays)
    land = ground if wrap else _go_on(ground, tuple(math.ceil(_DRIFTS * drift / side) for side in sides))
    south, east = _waves(land.shape, sides)
    along = south * wind[0] + east * wind[1]
    # Numerator and denominator are multiplied by σ, because σ m is finite where the wind blows along the crests.
    rising = np.hypot(south, east) * np.sqrt((stability**2 - along**2).astype(np.complex128))
    rising[along < -stability] *= -1.0
    below = along - 1j * air.depth * rising
    for delay in delays:
        below *= 1.0 + 1j * delay * along
    below[below == 0.0] = 1.0  # the wind blows along these crests, so the numerator is 0
    response = (1j * _SECONDS_PER_HOUR * air.sensitivity) * along**2 / below
    response *= np.fft.rfft2(land)
    return np.fft.irfft2(response, land.shape)[: ground.shape[0], : ground.shape[1]]


def vapour(
    water: Numbers, sides: tuple[float, float], direction: tuple[float, float], length: float, *, wrap: bool = False
) -> Numbers:
    """Vapour that air has taken up over water, from 0 to 1, float64 [row, column].

    `water` is the fraction of each cell under water, `direction` a unit vector (south, east) that the wind blows to,
    and `length` the distance in metres over which air takes up vapour or loses it.
    """
    land = water if wrap else _go_on(water, tuple(math.ceil(_DRIFTS * length / side) for side in sides))
    south, east = _waves(land.shape, sides)
    waves = np.fft.rfft2(land) / (1.0 + 1j * length * (south * direction[0] + east * direction[1]))
    return np.clip(np.fft.irfft2(waves, land.shape)[: water.shape[0], : water.shape[1]], 0.0, 1.0)


def relative_rain(
    ground: Numbers, water: NDArray[np.bool_] | None, cell_size: float, parameters: RainParameters
) -> NDArray[np.float32]:
    """Rain on each cell relative to the mean of the map, float32 [row, column], at most `MOST_RAIN`.

    `ground` is metres [row, column], `water` a mask of seas and lakes or None, `cell_size` the side of a cell in
    metres. If it would rain nowhere, rain is uniform.
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
    """Wave numbers of a real transform in rad/m, [row, 1] and [1, column]. Nyquist waves have no direction: 0."""
    south = 2.0 * np.pi * np.fft.fftfreq(shape[0], sides[0])
    east = 2.0 * np.pi * np.fft.rfftfreq(shape[1], sides[1])
    if shape[0] % 2 == 0:
        south[shape[0] // 2] = 0.0
    if shape[1] % 2 == 0:
        east[-1] = 0.0
    return south[:, None], east[None, :]


def _go_on(field: Numbers, reach: tuple[int, ...]) -> Numbers:
    """Append rows and columns to a field that lead smoothly from its last to its first ones.

    Their number is `reach`, limited to between half and twice the length of the field.
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
    """The smallest length ≥ `least` with a fast transform: one without prime factors over 5."""
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
    """Average cells to nodes, up to `step` cells per node along each axis."""
    for axis in (0, 1):
        cells = layer.shape[axis]
        nodes = math.ceil(cells / step)
        first = np.arange(nodes) * cells // nodes
        count = np.diff(np.append(first, cells)).reshape((-1, 1) if axis == 0 else (1, -1))
        layer = np.add.reduceat(layer, first, axis) / count
    return layer


def _to_cells(nodes: NDArray[np.float32], shape: tuple[int, ...], *, wrap: bool) -> NDArray[np.float32]:
    """Interpolate values of nodes linearly at the cells."""
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

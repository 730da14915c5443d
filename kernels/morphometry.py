"""Morphometry: measures of the form of a land, which tell fluvial terrain from noise.

All functions are pure. Arrays are [row, column], lengths in metres; a `Drainage` is that of `kernels.rivers`, whose
routing is D8 on the exactly filled surface. What cannot be taken, as on a map too small, level or all sea, is None.
The sea is left out everywhere. A lake, where `filled` is above the ground, has no slope of its own, so it is left out
of slopes; it is a part of its river's catchment and way.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.neighbours import LENGTHS, OUTLET, index_steps
from kernels.rivers import Drainage
from kernels.routing import longest_ways, strahler_orders

Numbers = NDArray[np.float64]

HACK_CELLS = 1000  # upstream: from here on basins have a form of their own
SLOPE_AREA_CELLS = 100  # upstream: from here on it is the bed of a river, and not a hillslope
# Cells of a river on one level: more are a lake, fewer what errors of heights, in whole metres or not, make of a bed.
LONGEST_LEVEL = 30
DECADES = 0.2  # width of a bin of areas
FEWEST_IN_BIN, FEWEST_BINS = 10, 3
REFERENCE_CONCAVITY = 0.45  # at which steepness is given
RELIEF_TO_MEASURE = 1e-9  # of the largest height: less is rounding


class Law(NamedTuple):
    """y = factor · x^exponent, and the means in bins of x that it is seen by."""

    factor: float
    exponent: float
    x: Numbers  # [bin]
    y: Numbers


class Hypsometry(NamedTuple):
    """How much of the land lies how high."""

    integral: float
    part_above: Numbers  # [level] of the land, from 1 to 0
    height: Numbers  # of the levels, 0 for the lowest place and 1 for the highest


class Network(NamedTuple):
    """Rivers by their Strahler order; entry k of the lists is order k + 1."""

    counts: NDArray[np.int64]
    lengths: Numbers  # metres, of all of an order together
    bifurcation_ratio: float | None
    length_ratio: float | None
    density: float | None  # metres of river for each square metre of land


class Ways(NamedTuple):
    """Cells of large rivers, [cell]."""

    cells: NDArray[np.int64]  # row * columns + column
    areas: Numbers  # the catchment of each, in m²
    lengths: Numbers  # the longest way upstream, in metres


class Beds(NamedTuple):
    """Cells of rivers' beds, without lakes, [cell]."""

    cells: NDArray[np.int64]  # row * columns + column
    areas: Numbers  # the catchment of each, in cells
    falls: Numbers  # from each to the next, in metres
    lengths: Numbers  # the way there


class Rivers(NamedTuple):
    """Cells of rivers, [cell]."""

    cells: NDArray[np.int64]  # row * columns + column
    orders: NDArray[np.int64]  # Strahler's
    begins: NDArray[np.bool_]  # whether a river of its order begins there
    lengths: Numbers  # the way to the next cell, in metres


def depth_to_fill(ground: Numbers, drainage: Drainage) -> float | None:
    """Mean over the land of filled − ground, in metres: 0 where every cell drains."""
    land = ~drainage.ocean
    return float(np.mean((drainage.filled - ground)[land])) if land.any() else None


def laplacian_skew(ground: Numbers, drainage: Drainage) -> float | None:
    """(q95 + q5 − 2·q50) / (q95 − q5) of the 5-point Laplacian's quantiles q over the land, without the map's border.

    From −1 to 1; positive where hollows are sharper than humps. The coefficient is that of Bowley (1901), at 5 %
    instead of 25 (Hinkley 1975).
    """
    values, _ = laplacian(ground, drainage)
    if not len(values):
        return None
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    if high - low <= RELIEF_TO_MEASURE * max(1.0, float(np.abs(ground).max())):
        return None
    return float((high + low - 2.0 * middle) / (high - low))


def laplacian(ground: Numbers, drainage: Drainage) -> tuple[Numbers, NDArray[np.int64]]:
    """The 5-point Laplacian of the land without the map's border, in metres, and its cells, both [cell]."""
    inner = ~drainage.ocean[1:-1, 1:-1]
    values = ground[:-2, 1:-1] + ground[2:, 1:-1] + ground[1:-1, :-2] + ground[1:-1, 2:] - 4.0 * ground[1:-1, 1:-1]
    rows, columns = np.nonzero(inner)
    return values[inner], (rows + 1) * ground.shape[1] + columns + 1


def hack(drainage: Drainage, cell_size: float) -> Law | None:
    """L = c·A^h: the longest way L upstream of each cell, in metres, over its catchment A, in m² (Hack 1957).

    By least squares over the logs of all cells of at least `HACK_CELLS`.
    """
    found = ways(drainage, cell_size)
    if len(found.cells) < FEWEST_IN_BIN or found.areas.max() < 2.0 * HACK_CELLS * cell_size**2:
        return None
    return _law(found.areas, found.lengths)


def ways(drainage: Drainage, cell_size: float) -> Ways:
    """The ways upstream of all cells that Hack's law is fitted to."""
    large = (drainage.accumulation >= HACK_CELLS) & ~drainage.ocean
    cells = np.flatnonzero(large)
    lengths = longest_ways(drainage.directions, drainage.routes.order, cell_size)[large]
    has_way = lengths > 0.0
    return Ways(cells[has_way], drainage.accumulation[large][has_way] * cell_size**2, lengths[has_way])


def slope_area(ground: Numbers, drainage: Drainage, cell_size: float) -> Law | None:
    """S = ks·A^−θ: the mean gradient S of river beds over the catchment A, in m² (Flint 1974).

    The gradient is that along the flow, from each cell to the next, on the filled surface. Cells of more than
    `SLOPE_AREA_CELLS` are binned by their area, `DECADES` wide; the law is fitted to the logs of the bins' means, all
    of the same weight. Lakes are left out, but not the hollows of a bed, which errors of heights make: what rises below
    such a hollow was taken from the fall above, and alone it would make large rivers steeper than they are.
    """
    found = beds(ground, drainage, cell_size)
    if not len(found.cells):
        return None
    bins = area_bins(found.areas)
    counts, falls, lengths, log_areas = (
        np.bincount(bins, values).astype(np.float64)
        for values in (np.ones_like(found.areas), found.falls, found.lengths, np.log(found.areas))
    )
    return bed_law(counts, falls, lengths, log_areas, cell_size)


def beds(ground: Numbers, drainage: Drainage, cell_size: float) -> Beds:
    """The cells that the law of slope and area is fitted to: see `slope_area`."""
    steps, lengths = index_steps(ground.shape[1]), np.append(LENGTHS * cell_size, np.inf)
    filled, ocean = drainage.filled.reshape(-1), drainage.ocean.reshape(-1)
    is_river = (drainage.accumulation > SLOPE_AREA_CELLS) & (drainage.directions != OUTLET)
    cells = np.flatnonzero(is_river & ~drainage.ocean)
    directions = drainage.directions.reshape(-1)[cells]
    below = cells + steps[directions]
    on_land = ~ocean[below]  # else it is the floor of the sea that lies below
    cells, directions, below = cells[on_land], directions[on_land], below[on_land]
    is_bed = _cells_on_level(filled, cells, below) <= LONGEST_LEVEL
    cells, directions, below = cells[is_bed], directions[is_bed], below[is_bed]
    areas = drainage.accumulation.reshape(-1)[cells]
    return Beds(cells, areas, filled[cells] - filled[below], lengths[directions])


def area_bins(areas: Numbers) -> NDArray[np.int64]:
    """The bin of each catchment, in cells."""
    bins: NDArray[np.int64] = np.floor(np.log10(areas / SLOPE_AREA_CELLS) / DECADES).astype(np.int64)
    return bins


def bed_law(counts: Numbers, falls: Numbers, lengths: Numbers, log_areas: Numbers, cell_size: float) -> Law | None:
    """The law of slope and area from what lies in each bin, [bin]: cells, and sums over them."""
    used = (counts >= FEWEST_IN_BIN) & (falls > RELIEF_TO_MEASURE * lengths)
    if np.count_nonzero(used) < FEWEST_BINS:
        return None
    x = np.exp(log_areas[used] / counts[used]) * cell_size**2
    y = falls[used] / lengths[used]
    factor, exponent = _line(np.log(x), np.log(y))
    return Law(factor, exponent, x, y)


def _cells_on_level(filled: Numbers, cells: NDArray[np.int64], below: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each of some cells of rivers, which go on to those `below`: how many lie on its level and run to its end."""
    place = np.full(len(filled), -1)
    place[cells] = np.arange(len(cells))
    end = np.arange(len(cells))
    goes_on = (filled[cells] == filled[below]) & (place[below] >= 0)
    end[goes_on] = place[below[goes_on]]
    while not np.array_equal(end, farther := end[end]):
        end = farther
    counts: NDArray[np.int64] = np.bincount(end, minlength=len(end))[end]
    return counts


def steepness(law: Law | None) -> float | None:
    """ksn, in m^0.9: the factor of S = ksn·A^−0.45 through the middle of a law's bins (Wobus et al. 2006)."""
    if law is None:
        return None
    return float(np.exp(np.mean(np.log(law.y) + REFERENCE_CONCAVITY * np.log(law.x))))


def hypsometry(ground: Numbers, drainage: Drainage, points: int = 101) -> Hypsometry | None:
    """The hypsometric curve (Strahler 1952) and its integral, (mean − lowest) / (highest − lowest)."""
    heights = ground[~drainage.ocean]
    low, high = float(heights.min(initial=np.inf)), float(heights.max(initial=-np.inf))
    if high - low <= RELIEF_TO_MEASURE * max(1.0, abs(low), abs(high)):
        return None
    counts, levels = np.histogram(heights, points - 1, (low, high))
    above = np.append(counts[::-1].cumsum()[::-1], 0) / len(heights)
    relative = (levels - low) / (high - low)
    return Hypsometry((float(heights.mean()) - low) / (high - low), above, relative)


def slopes(ground: Numbers, drainage: Drainage, cell_size: float) -> Numbers | None:
    """The slope of each cell of the land, in degrees [cell]: by central differences, one-sided at the map's border."""
    dry = (drainage.filled <= ground) & ~drainage.ocean
    if not dry.any():
        return None
    south, east = (np.gradient(ground, cell_size, axis=axis)[dry] for axis in (0, 1))
    degrees: Numbers = np.degrees(np.arctan(np.hypot(south, east)))
    return degrees


def network(drainage: Drainage, cell_size: float, river_cells: int) -> Network:
    """The river network of a land, with rivers from `river_cells` on: number, length and density.

    A river of an order goes on until it meets another of its order or comes to a higher one (Strahler 1957). Its length
    has the step into the next river. The ratios (Horton 1945) of one order and the next are averaged with the number of
    rivers in both as weights (Strahler 1953): the highest order is often one river, which the map's edge cuts off.
    """
    found = rivers(drainage, cell_size, river_cells)
    highest = int(found.orders.max(initial=0))
    counts = np.bincount(found.orders[found.begins], minlength=highest + 1)[1:]
    lengths: Numbers = np.bincount(found.orders, found.lengths, minlength=highest + 1)[1:].astype(np.float64)
    return network_of(counts, lengths, int(np.count_nonzero(~drainage.ocean)) * cell_size**2)


def rivers(drainage: Drainage, cell_size: float, river_cells: int) -> Rivers:
    """The cells of the rivers of a network: see `network`."""
    has_river = drainage.accumulation >= river_cells
    orders = strahler_orders(drainage.directions, drainage.routes.order, has_river)
    cells = np.flatnonzero(has_river & ~drainage.ocean)
    order = orders.reshape(-1)[cells].astype(np.int64)
    directions = drainage.directions.reshape(-1)[cells]
    below = cells + index_steps(orders.shape[1])[directions]
    goes_on = np.zeros(orders.size, np.bool_)  # whether a river of its own order comes into a cell
    goes_on[below[(orders.reshape(-1)[below] == order) & (directions != OUTLET)]] = True
    steps: Numbers = np.append(LENGTHS * cell_size, 0.0)[directions]
    return Rivers(cells, order, ~goes_on[cells], steps)


def network_of(counts: NDArray[Any], lengths: Numbers, land: float) -> Network:
    """The ratios of rivers of which there are so many, and so long, of each order; the land is in m²."""
    density = float(lengths.sum()) / land if land else None
    if len(counts) < 2 or not ((lengths > 0.0).all() and (counts > 0).all()):
        return Network(counts, lengths, None, None, density)
    weights = counts[:-1] + counts[1:]
    means = lengths / counts
    return Network(
        counts,
        lengths,
        float(np.average(counts[:-1] / counts[1:], weights=weights)),
        float(np.average(means[1:] / means[:-1], weights=weights)),
        density,
    )


def _law(x: Numbers, y: Numbers) -> Law | None:
    """A power law through points, by least squares of their logs; the bins are only to be seen."""
    log_x, log_y = np.log(x), np.log(y)
    factor, exponent = _line(log_x, log_y)
    bins = np.floor((log_x - log_x.min()) / (DECADES * math.log(10.0))).astype(np.int64)
    counts = np.bincount(bins)
    used = counts > 0
    means = [np.exp(np.bincount(bins, logs)[used] / counts[used]) for logs in (log_x, log_y)]
    return Law(factor, exponent, *means)


def _line(log_x: Numbers, log_y: Numbers) -> tuple[float, float]:
    """Factor and exponent of the line of least squares through logs."""
    from_mean = log_x - log_x.mean()
    exponent = float(from_mean @ log_y / (from_mean @ from_mean))
    return math.exp(float(log_y.mean()) - exponent * float(log_x.mean())), exponent

"""How sure the measures of `app.engine.realism` are: by a bootstrap over the basins of a land.

A land is one of many that its rivers could have made. Basins are drawn from it with replacement, as many as it has, and
the measures are taken of what was drawn (Efron 1979; whole basins, for cells of a basin depend on each other). Of the
values that come out, 5 % are below the interval and 5 % above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.model.realism import MEASURES, Spread

if TYPE_CHECKING:
    from kernels.morphometry import Beds, Law
    from kernels.rivers import Drainage

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

DRAWS = 200
SEED = 1979
LEAST_PART = 1.0 / 2000.0  # of the land: smaller basins are drawn together, with those whose outlets are next to theirs
FEWEST_BASINS = 8  # from here on the interval means something
LEVELS = 2000  # steps of the values that quantiles are found by
MOST_MISSING = 0.1  # of the draws, in which a measure could not be taken
INTERVAL = 0.05, 0.95


def spread_of(
    ground: Numbers, drainage: Drainage, cell_size: float, *, river_cells: int | None = None
) -> dict[str, Spread | None]:
    """For each measure the interval that holds nine of ten draws; None where basins are too few, or it has none.

    Arguments are as for `app.engine.realism.measure`.
    """
    basins = basins_of(drainage)
    count = int(basins.max(initial=-1)) + 1
    if count < FEWEST_BASINS:
        return {measure.name: None for measure in MEASURES}
    drawn = np.random.Generator(np.random.Philox(key=SEED)).integers(0, count, (DRAWS, count))
    weights = np.stack([np.bincount(draw, minlength=count) for draw in drawn]).astype(np.float64)
    values = weighted(ground, drainage, cell_size, basins, weights, river_cells)
    return {name: _interval(each) for name, each in values.items()}


def _interval(values: Numbers) -> Spread | None:
    known = values[np.isfinite(values)]
    if len(known) < (1.0 - MOST_MISSING) * len(values):
        return None
    low, high = np.quantile(known, INTERVAL).tolist()
    return Spread(low, high)


def basins_of(drainage: Drainage) -> Integers:
    """The number of the basin of each cell, [row * columns + column]; −1 in the sea."""
    outlets, land = drainage.routes.outlets.reshape(-1), ~drainage.ocean.reshape(-1)
    sizes = np.bincount(outlets[land], minlength=len(outlets))
    found = np.flatnonzero(sizes)
    least = max(1.0, LEAST_PART * np.count_nonzero(land))
    is_large = sizes[found] >= least
    together = np.floor(np.cumsum(np.where(is_large, 0, sizes[found])) / least).astype(np.int64)
    # Large basins have numbers of their own, after those of the small ones that are drawn together
    own = np.where(is_large, together.max(initial=0) + 1 + np.arange(len(found)), together)
    _, numbers = np.unique(own, return_inverse=True)
    number_of = np.full(len(outlets), -1, np.int64)
    number_of[found] = numbers
    basins: Integers = np.where(land, number_of[outlets], -1)
    return basins


def weighted(
    ground: Numbers,
    drainage: Drainage,
    cell_size: float,
    basins: Integers,
    weights: Numbers,
    river_cells: int | None = None,
) -> dict[str, Numbers]:
    """The measures of lands that have each basin so many times as `weights` [draw, basin] say; NaN: not measured."""
    from app.engine.realism import default_river_cells
    from kernels import morphometry

    count = weights.shape[1]
    land = np.flatnonzero(basins >= 0)
    of_land = basins[land]

    def total(values: Numbers | Integers, basin: Integers) -> Numbers:
        """The sum of values of cells, [draw]."""
        return weights @ np.bincount(basin, values, minlength=count)

    cells = total(np.ones(len(land)), of_land)
    depth = (drainage.filled - ground).reshape(-1)[land]
    found = {"depth_to_fill": total(depth, of_land) / cells}

    laplacian, inner = morphometry.laplacian(ground, drainage)
    low, middle, high = _quantiles(laplacian, basins[inner], weights, (0.05, 0.5, 0.95))
    least = morphometry.RELIEF_TO_MEASURE * max(1.0, float(np.abs(ground).max()))
    found["laplacian_skew"] = _ratio(high + low - 2.0 * middle, np.where(high - low > least, high - low, 0.0))

    ways = morphometry.ways(drainage, cell_size)
    found["hack_exponent"] = _exponents(np.log(ways.areas), np.log(ways.lengths), basins[ways.cells], weights)
    laws = _bed_laws(morphometry.beds(ground, drainage, cell_size), basins, weights, cell_size)
    found["concavity"] = np.array([np.nan if law is None else -law.exponent for law in laws])
    found["steepness"] = np.array([np.nan if law is None else morphometry.steepness(law) for law in laws])

    heights = ground.reshape(-1)[land]
    lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lowest, of_land, heights)
    np.maximum.at(highest, of_land, heights)
    base = np.where(weights > 0.0, lowest, np.inf).min(axis=1)
    relief = np.where(weights > 0.0, highest, -np.inf).max(axis=1) - base
    found["hypsometric_integral"] = _ratio(total(heights, of_land) / cells - base, relief)

    dry = np.flatnonzero((drainage.filled <= ground).reshape(-1) & (basins >= 0))
    degrees = morphometry.slopes(ground, drainage, cell_size)
    median, steep = _quantiles(np.empty(0) if degrees is None else degrees, basins[dry], weights, (0.5, 0.95))
    found |= {"median_slope": median, "steep_slope": steep}

    parts = morphometry.rivers(drainage, cell_size, river_cells or default_river_cells(drainage))
    orders = range(1, int(parts.orders.max(initial=0)) + 1)
    counts, lengths = (
        np.array([total(values * (parts.orders == order), basins[parts.cells]) for order in orders])
        if len(parts.cells)
        else np.zeros((0, len(weights)))
        for values in (parts.begins.astype(np.float64), parts.lengths)
    )
    networks = [
        morphometry.network_of(counts[:, draw], lengths[:, draw], cells[draw] * cell_size**2)
        for draw in range(len(weights))
    ]
    for name, ratios in (
        ("drainage_density", [each.density and 1e3 * each.density for each in networks]),
        ("bifurcation_ratio", [each.bifurcation_ratio for each in networks]),
        ("length_ratio", [each.length_ratio for each in networks]),
    ):
        found[name] = np.array([np.nan if ratio is None else ratio for ratio in ratios])
    return found


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    quotient: Numbers = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0.0)
    return quotient


def _quantiles(values: Numbers, basins: Integers, weights: Numbers, parts: tuple[float, ...]) -> list[Numbers]:
    """Quantiles of values of cells, [part][draw], by a histogram between those of all of them."""
    if not len(values):
        return [np.full(len(weights), np.nan) for _ in parts]
    edges = np.unique(np.quantile(values, np.linspace(0.0, 1.0, LEVELS + 1)))
    if len(edges) == 1:
        return [np.full(len(weights), edges[0]) for _ in parts]
    steps = len(edges) - 1
    step = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, steps - 1)
    counts = np.bincount(basins * steps + step, minlength=weights.shape[1] * steps).reshape(-1, steps)
    sums = np.cumsum(weights @ counts, axis=1)
    below = np.concatenate([np.zeros((len(sums), 1)), sums], axis=1) / np.maximum(sums[:, -1:], 1.0)
    below[below[:, -1] == 0.0] = np.nan  # nothing of it was drawn
    return list(np.stack([np.interp(parts, each, edges) for each in below]).T)


def _exponents(log_x: Numbers, log_y: Numbers, basins: Integers, weights: Numbers) -> Numbers:
    """Exponents of power laws by least squares of logs, [draw]."""
    if not len(log_x):
        return np.full(len(weights), np.nan)
    x, y = log_x - log_x.mean(), log_y - log_y.mean()
    columns = np.ones_like(x), x, y, x * x, x * y
    n, sum_x, sum_y, sum_xx, sum_xy = (
        weights @ np.bincount(basins, column, minlength=weights.shape[1]) for column in columns
    )
    spread = n * sum_xx - sum_x**2
    return _ratio(n * sum_xy - sum_x * sum_y, np.where(spread > 1e-12 * np.maximum(n, 1.0) ** 2, spread, 0.0))


def _bed_laws(beds: Beds, basins: Integers, weights: Numbers, cell_size: float) -> list[Law | None]:
    """The law of slope and area of each draw."""
    from kernels import morphometry

    count = weights.shape[1]
    if not len(beds.cells):
        return [None] * len(weights)
    bins = morphometry.area_bins(beds.areas)
    number = int(bins.max()) + 1
    place = basins[beds.cells] * number + bins
    counts, falls, lengths, log_areas = (
        weights @ np.bincount(place, values, minlength=count * number).reshape(count, number)
        for values in (np.ones(len(bins)), beds.falls, beds.lengths, np.log(beds.areas))
    )
    return [
        morphometry.bed_law(counts[draw], falls[draw], lengths[draw], log_areas[draw], cell_size)
        for draw in range(len(weights))
    ]

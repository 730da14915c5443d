"""Small pictures of maps: colours over a relief shaded from the north-west, as on printed maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.palettes import OCEAN, RIVER, watershed_colours
from app.model.shading import PAPER, Picture, Values, on_relief, over, relief

LARGEST_SIDE = 2048  # pixels; a larger map is drawn smaller

_EARTH = (0.62, 0.50, 0.40)  # the ground of a section
_MARGIN = 0.08  # of a section's height, above the highest point
_FILLED = 0.82  # fraction of the height between the lowest and the highest point
_LINE = 400.0  # ratio of the height to half the width of a line


def reduced(values: NDArray[np.generic], largest: bool = False) -> Values:
    """A map reduced to a preview: means of blocks of cells, or maxima for lines."""
    step = -(-max(values.shape) // LARGEST_SIDE)
    if step == 1:
        return values.astype(np.float64)
    rows, columns = (side // step * step for side in values.shape)
    blocks = values[:rows, :columns].reshape(rows // step, step, columns // step, step)
    return np.asarray(blocks.max(axis=(1, 3)) if largest else blocks.mean(axis=(1, 3)), np.float64)


def shaded_relief(ground: Values, ocean: NDArray[np.bool_], cell_size: float) -> Picture:
    """Pale paper in relief, and a dark sea."""
    height = reduced(ground)
    paper = relief(height, cell_size * ground.shape[0] / height.shape[0])
    return over(paper, np.divide(OCEAN, 255.0), reduced(ocean))


def with_watersheds(below: Picture, numbers: Values) -> Picture:
    """Lay the colours of watersheds over a relief. `numbers` are 0 on the coast, and negative in the ocean."""
    table = watershed_colours()
    known = numbers.astype(np.intp)
    colours = table[np.where(known > 0, 1 + (known - 1) % (len(table) - 1), 0)]
    return over(below, on_relief(colours, below), np.where(known >= 0, 0.85, 0.0))


def with_rivers(below: Picture, orders: Values) -> Picture:
    """Draw rivers by their Strahler orders, the larger ones wider."""
    wide = np.where(orders >= 3, orders, 0)
    wide[1:] = np.maximum(wide[1:], wide[:-1])
    wide[:, 1:] = np.maximum(wide[:, 1:], wide[:, :-1])
    opacity = np.clip(0.35 + 0.15 * orders, 0.0, 1.0) * (orders > 0)
    opacity = np.maximum(opacity, np.clip(0.2 * wide - 0.3, 0.0, 1.0))
    return over(below, np.divide(RIVER, 255.0), opacity)


def profile(along: Values, ground: Values, raised: Values, size: tuple[int, ...]) -> Picture:
    """A section along a river, [row, column, 3] of `size`: the ground, water that fills it, and the raised line."""
    rows, columns = size
    at = np.linspace(0.0, float(along[-1]), columns) if along[-1] > 0.0 else np.zeros(columns)
    low, high = float(ground.min()), float(max(raised.max(), ground.max()))
    to_row = (rows - 1) / max(high - low, 1e-9) * _FILLED
    floor, line = ((high - np.interp(at, along, values)) * to_row + rows * _MARGIN for values in (ground, raised))
    row = np.arange(rows)[:, None]
    picture = np.broadcast_to(np.array(PAPER), (rows, columns, 3)).copy()
    picture[(row >= line) & (row < floor)] = np.divide(OCEAN, 255.0)
    picture[row >= floor] = _EARTH
    picture[np.abs(row - line) <= max(rows / _LINE, 0.5)] = np.divide(RIVER, 255.0)
    return picture

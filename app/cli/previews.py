"""Small pictures of maps: colours over a relief with light from the north-west, as on printed maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.model.palettes import OCEAN, RIVER, Stops, interpolated, watershed_colours

Values = NDArray[np.floating]
Picture = NDArray[np.float64]  # sRGB in [0, 1], [row, column, 3]

LARGEST_SIDE = 2048  # pixels; a larger map is drawn smaller

_PAPER = (0.93, 0.92, 0.89)
_LIGHT = np.array([-0.5, -0.5, 0.75]) / np.linalg.norm([-0.5, -0.5, 0.75])  # east, south, up
_STEEP = 0.35  # a map looks best where its usual slope is drawn so steep


def reduced(values: NDArray[np.generic], largest: bool = False) -> Values:
    """A map made so small that it fits a preview: means of blocks of cells, or their largest values, as for lines."""
    step = -(-max(values.shape) // LARGEST_SIDE)
    if step == 1:
        return values.astype(np.float64)
    rows, columns = (side // step * step for side in values.shape)
    blocks = values[:rows, :columns].reshape(rows // step, step, columns // step, step)
    return np.asarray(blocks.max(axis=(1, 3)) if largest else blocks.mean(axis=(1, 3)), np.float64)


def shaded_relief(ground: Values, ocean: NDArray[np.bool_], cell_size: float) -> Picture:
    """Pale paper in relief, and a dark sea."""
    height = reduced(ground)
    cell_size *= ground.shape[0] / height.shape[0]
    south, east = np.gradient(height, cell_size)
    slope = np.hypot(south, east)
    exaggeration = _STEEP / max(float(np.median(slope[slope > 0.0])) if (slope > 0.0).any() else _STEEP, 1e-9)
    south, east = south * exaggeration, east * exaggeration
    light = (_LIGHT[2] - east * _LIGHT[0] - south * _LIGHT[1]) / np.sqrt(1.0 + south * south + east * east)
    paper = np.clip(0.30 + 0.85 * light, 0.0, 1.0)[..., None] * _PAPER
    return over(paper, np.divide(OCEAN, 255.0), reduced(ocean))


def over(below: Picture, colour: NDArray[np.float64], opacity: Values) -> Picture:
    """Lay a colour, or one for each cell, over a picture."""
    return below + opacity[..., None] * (colour - below)


def with_palette(relief: Picture, values: Values, low: float, high: float, stops: Stops, opacity: float) -> Picture:
    """Lay a palette over a relief, whose light and shade stay."""
    table = interpolated(stops, 256)
    part = np.clip((values - low) / max(high - low, 1e-12), 0.0, 1.0)
    colours = table[np.rint(255 * part).astype(np.intp)]
    return over(relief, shaded(colours[..., :3], relief), opacity * colours[..., 3])


def with_watersheds(relief: Picture, numbers: Values) -> Picture:
    """Lay the colours of watersheds over a relief. `numbers` are 0 on the coast, and negative in the ocean."""
    table = watershed_colours()
    known = numbers.astype(np.intp)
    colours = table[np.where(known > 0, 1 + (known - 1) % (len(table) - 1), 0)]
    return over(relief, shaded(colours, relief), np.where(known >= 0, 0.85, 0.0))


def with_rivers(below: Picture, orders: Values) -> Picture:
    """Draw rivers by their Strahler orders, the larger ones wider."""
    wide = np.where(orders >= 3, orders, 0)
    wide[1:] = np.maximum(wide[1:], wide[:-1])
    wide[:, 1:] = np.maximum(wide[:, 1:], wide[:, :-1])
    opacity = np.clip(0.35 + 0.15 * orders, 0.0, 1.0) * (orders > 0)
    opacity = np.maximum(opacity, np.clip(0.2 * wide - 0.3, 0.0, 1.0))
    return over(below, np.divide(RIVER, 255.0), opacity)


def shaded(colours: NDArray[np.float64], relief: Picture) -> NDArray[np.float64]:
    """Colours in the light of a relief."""
    light = relief.mean(axis=-1, keepdims=True) / np.mean(_PAPER)
    lit: NDArray[np.float64] = np.clip(colours * (0.35 + 0.75 * light), 0.0, 1.0)
    return lit


def to_pixels(picture: Picture) -> NDArray[np.uint8]:
    return np.rint(255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)

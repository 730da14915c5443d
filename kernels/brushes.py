"""Shapes of brushes: the weight of each cell around a place, and the forms of stamps.

In numpy, and with no more than sums, products, minima and roots, whose bits are the same on every machine; nothing is
compiled, so that the first touch waits for nothing. Places and lengths are in metres from the map's north-western
corner, `east` and `south`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float64]
Cells = tuple[slice, slice]

NARROWEST = 0.75  # of a cell: a smaller radius would fall between their middles
_GOLDEN = np.array([0x9E3779B97F4A7C15], np.uint64)
_WORDS = 64  # corners along one period of the noise; it repeats beyond


class Footprint(NamedTuple):
    """The cells that a brush reaches, and where their middles are from its own middle, relative to its radius."""

    cells: Cells
    across: Map  # [row, column], eastward
    down: Map  # southward

    @property
    def distance(self) -> Map:
        """From the middle, 1 at the radius."""
        distance: Map = np.sqrt(self.across * self.across + self.down * self.down)
        return distance


def footprint(shape: tuple[int, int], cell_size: float, east: float, south: float, radius: float) -> Footprint:
    """The cells of a map that a brush at a place reaches; may be empty."""
    radius = max(radius, NARROWEST * cell_size)
    rows, row = _reached(shape[0], cell_size, south, radius)
    columns, column = _reached(shape[1], cell_size, east, radius)
    down, across = np.meshgrid(row, column, indexing="ij")
    return Footprint((rows, columns), across, down)


def _reached(count: int, cell_size: float, middle: float, radius: float) -> tuple[slice, Map]:
    first = int(np.clip(np.floor((middle - radius) / cell_size), 0, count))
    end = int(np.clip(np.ceil((middle + radius) / cell_size), first, count))
    away: Map = ((np.arange(first, end, dtype=np.float64) + 0.5) * cell_size - middle) / radius
    return slice(first, end), away


def falloff(distance: Map, hardness: float) -> Map:
    """1 up to `hardness`, 0 from 1 on, and a smooth step between."""
    part = np.clip((1.0 - distance) / max(1.0 - hardness, 1e-6), 0.0, 1.0)
    step: Map = part * part * (3.0 - 2.0 * part)
    return step


def heights_at(ground: Map, cell_size: float, east: Map | float, south: Map | float) -> Map:
    """The ground at some places, interpolated between the middles of cells; beyond the map that of its edge."""
    rows, columns = ground.shape
    column = np.clip(np.asarray(east, np.float64) / cell_size - 0.5, 0.0, columns - 1.0)
    row = np.clip(np.asarray(south, np.float64) / cell_size - 0.5, 0.0, rows - 1.0)
    west, north = np.minimum(column.astype(np.intp), columns - 2), np.minimum(row.astype(np.intp), rows - 2)
    across, down = column - west, row - north
    upper = ground[north, west] * (1.0 - across) + ground[north, west + 1] * across
    lower = ground[north + 1, west] * (1.0 - across) + ground[north + 1, west + 1] * across
    heights: Map = upper * (1.0 - down) + lower * down
    return heights


def blurred(ground: Map, cells: Cells, reach: int) -> Map:
    """The mean of the ground around some cells: twice that of a square of `reach` cells to each side."""
    reach = min(max(reach, 1), max(ground.shape))
    margin = 2 * reach
    rows, columns = ground.shape
    row = np.clip(np.arange(cells[0].start - margin, cells[0].stop + margin), 0, rows - 1)
    column = np.clip(np.arange(cells[1].start - margin, cells[1].stop + margin), 0, columns - 1)
    mean: Map = ground[row[:, None], column]
    for _ in range(2):
        for axis in (0, 1):
            mean = _box(mean, reach, axis)
    return mean


def _box(values: Map, reach: int, axis: int) -> Map:
    """The mean of 2 `reach` + 1 neighbours along an axis; the result is shorter by `reach` at both ends."""
    width = 2 * reach + 1
    middle = float(values.mean())  # sums of small numbers lose less
    zero = np.zeros_like(np.take(values, [0], axis))
    sums = np.cumsum(np.concatenate([zero, values - middle], axis), axis)
    count = values.shape[axis] - width + 1
    later, earlier = np.take(sums, range(width, width + count), axis), np.take(sums, range(count), axis)
    mean: Map = (later - earlier) / width + middle
    return mean


def uniforms(count: int, name: str, *numbers: int) -> Map:
    """Random numbers from 0 to 1 that follow from a name and numbers alone, see `kernels.random`."""
    from kernels.random import mix_all, process_number  # Numba, which is not loaded before it is needed

    key = np.array([process_number(name)], np.uint64)
    for number in numbers:
        key = mix_all((key ^ np.array([number % 2**64], np.uint64)) + _GOLDEN)
    words = mix_all(key + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def noise(east: Map, south: Map, wavelength: float, seed: int) -> Map:
    """Smooth bumps at some places, from -1 to 1: three octaves of value noise, the longest of `wavelength`."""
    corners = 2.0 * uniforms(_WORDS * _WORDS, "bumps", seed).reshape(_WORDS, _WORDS) - 1.0
    total = np.zeros(np.shape(east))
    for octave in range(3):
        scale = 2.0**octave / wavelength
        x, y = np.asarray(east) * scale + 17.3 * octave, np.asarray(south) * scale + 5.1 * octave
        i, j = np.floor(x), np.floor(y)
        u, v = x - i, y - j
        u, v = u * u * (3.0 - 2.0 * u), v * v * (3.0 - 2.0 * v)
        i, j = i.astype(np.int64) % _WORDS, j.astype(np.int64) % _WORDS
        k, m = (i + 1) % _WORDS, (j + 1) % _WORDS
        upper = corners[j, i] * (1.0 - u) + corners[j, k] * u
        lower = corners[m, i] * (1.0 - u) + corners[m, k] * u
        total += 0.5**octave * (upper * (1.0 - v) + lower * v)
    return total / 1.75


class Segment(NamedTuple):
    """How cells lie beside the straight way between two places."""

    distance: Map  # from the way, in metres
    along: Map  # 0 at its first place, 1 at its second


def beside(shape: tuple[int, int], cell_size: float, cells: Cells, first: Map, second: Map) -> Segment:
    """How some cells lie beside the way from one place (east, south) to another."""
    rows, columns = np.arange(*cells[0].indices(shape[0])), np.arange(*cells[1].indices(shape[1]))
    down, across = np.meshgrid((rows + 0.5) * cell_size, (columns + 0.5) * cell_size, indexing="ij")
    way = second - first
    length = float(way @ way)
    along = ((across - first[0]) * way[0] + (down - first[1]) * way[1]) / length if length > 0.0 else 0.0 * across
    along = np.clip(along, 0.0, 1.0)
    away_east, away_south = across - first[0] - along * way[0], down - first[1] - along * way[1]
    return Segment(np.sqrt(away_east * away_east + away_south * away_south), along)


def cells_around(shape: tuple[int, int], cell_size: float, places: Map, reach: float) -> Cells:
    """The cells within a rectangle that leaves `reach` metres around places [place, (east, south)]."""
    spans = []
    for count, values in zip(shape, (places[:, 1], places[:, 0]), strict=True):
        first = int(np.clip(np.floor((values.min() - reach) / cell_size), 0, count))
        spans.append(slice(first, int(np.clip(np.ceil((values.max() + reach) / cell_size), first, count))))
    return spans[0], spans[1]


def curve(places: Map, step: float) -> Map:
    """A smooth way through places [place, (east, south)], with one about every `step` (Catmull, Rom 1974)."""
    ways = [places[:1]]
    ends = np.concatenate([2.0 * places[:1] - places[1:2], places, 2.0 * places[-1:] - places[-2:-1]])
    for before, first, second, after in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        length = float(np.sqrt(((second - first) ** 2).sum()))
        count = int(np.clip(np.ceil(length / step), 1, 4096))
        t = (np.arange(1, count + 1) / count)[:, None]
        bend = 2.0 * before - 5.0 * first + 4.0 * second - after
        turn = 3.0 * (first - second) + after - before
        ways.append(0.5 * (2.0 * first + (second - before) * t + bend * t * t + turn * t * t * t))
    return np.concatenate(ways)


# The forms of a stamp: heights relative to the largest, over a disc of radius 1, before it is turned.


def _step(low: float, high: float, values: Map) -> Map:
    part = np.clip((values - low) / (high - low), 0.0, 1.0)
    step: Map = part * part * (3.0 - 2.0 * part)
    return step


def _crater(distance: Map, across: Map, down: Map, rough: Map) -> Map:
    rim = 0.62 + 0.03 * rough
    bowl = (distance / rim) ** 2 * 1.6 - 1.0
    apron = 0.6 * np.clip((1.0 - distance) / (1.0 - rim), 0.0, 1.0) ** 3
    return np.where(distance < rim, np.minimum(bowl, 0.6), apron)


def _mesa(distance: Map, across: Map, down: Map, rough: Map) -> Map:
    edge = distance + 0.08 * rough
    return 0.8 * (1.0 - _step(0.6, 0.7, edge)) + 0.2 * (1.0 - _step(0.6, 1.0, distance))


def _ridge(distance: Map, across: Map, down: Map, rough: Map) -> Map:
    aside = np.abs(across + 0.12 * rough) / 0.55
    sharp = np.clip(1.0 - aside, 0.0, 1.0)
    return (0.75 * sharp + 0.25 * sharp * sharp) * (1.0 + 0.2 * rough) * (1.0 - _step(0.5, 1.0, distance))


def _dune(distance: Map, across: Map, down: Map, rough: Map) -> Map:
    # A barchan: its horns point the way that the wind blows, and there the steep side is.
    crest = 0.15 + 0.75 * across * across
    ahead = -down - crest
    windward = np.clip(1.0 + ahead / 1.05, 0.0, 1.0)
    lee = np.clip(1.0 - ahead / 0.28, 0.0, 1.0)
    wide = np.clip(1.0 - across * across / 0.64, 0.0, 1.0)
    return np.where(ahead < 0.0, windward * windward * (3.0 - 2.0 * windward), lee) * wide * (distance < 1.0)


def _cone(distance: Map, across: Map, down: Map, rough: Map) -> Map:
    slope = np.clip(1.0 - distance, 0.0, 1.0)
    flank = slope**2 * 0.55 + slope * 0.45
    vent = 0.3 * np.clip(1.0 - distance / 0.12, 0.0, 1.0)
    return flank * (1.0 + 0.06 * rough) - vent


FORMS: dict[str, Callable[[Map, Map, Map, Map], Map]] = {
    "crater": _crater,
    "mesa": _mesa,
    "ridge": _ridge,
    "dune": _dune,
    "cone": _cone,
}

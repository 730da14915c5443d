"""Channels of streams as wide as they are drawn, in which no tree stands."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.picture.passes.flow_map import (
    BARS_SPARED,
    BESIDE_ITS_CELL,
    EVENED,
    FARTHEST_EVENED,
    FARTHEST_STRAIGHTENED,
    HARDLY_HIGHER,
    STRAIGHTENED,
    WIDE,
    WITH_BARS,
    reach_of_half_width,
)
from app.picture.passes.swash import grown
from kernels.hydraulic_geometry import channel_width

NARROWEST = 0.2  # cells: half the width of the narrowest that keep trees away
BARE_BANK = 1.25  # half widths from the middle of a channel within which nothing stands: the water and its bars
MOVES = 0.3  # cells by which a channel is drawn beside where it is looked for
WIDEST = 8  # cells: half the widest channel that is looked at

Mask = NDArray[np.bool_]


class Channels:
    """The channels of the latest snapshot."""

    def __init__(self) -> None:
        self.version = 0  # grows where other cells have become channels
        self._noted: tuple[object, ...] | None = None
        self._half_width = np.empty((0, 0), np.float32)  # in cells, 0 beside channels, `[row, column]`
        self._moved = np.empty((0, 0, 2), np.float32)  # from the middle of its cell, `[row, column, (row, column)]`
        self._step = np.empty((0, 0, 2), np.float32)  # to the next cell, `[row, column, (row, column)]`

    def note(self, snapshot: Snapshot, smallest: float, width: float) -> None:
        """Take the streams of a snapshot: the `smallest` in m³/s, and the `width` of one of 1 m³/s in metres."""
        versions = tuple(snapshot.versions.get(name) for name in (SURVEYED_FLOW, SURVEYED_WAY))
        noted = (snapshot.world, smallest, width, *versions)
        if noted == self._noted:
            return
        self._noted = noted
        before = self._half_width
        flow, way = (snapshot.layers.get(name) for name in (SURVEYED_FLOW, SURVEYED_WAY))
        if flow is None or way is None:
            self._half_width = np.zeros((1, 1), np.float32)
        else:
            half = 0.5 * channel_width(np.maximum(flow, 0.0).astype(np.float64), width) / snapshot.cell_size
            half[(flow <= smallest) | (half < NARROWEST) | (way < 0.0)] = 0.0  # threads come and go
            self._half_width = np.minimum(half, WIDEST).astype(np.float32)
            ground = snapshot.ground()
            self._moved = _straightened(flow, way, self._half_width, smallest, ground, snapshot.cell_size)
            self._step = _steps(way)
        were, are = before > 0.0, self._half_width > 0.0
        if (were.any() or are.any()) and not np.array_equal(were, are):
            self.version += 1

    @property
    def any(self) -> bool:
        return bool((self._half_width > 0.0).any())

    def cover(self, places: NDArray[np.floating]) -> Mask:
        """Which positions `[position, (row, column)]`, in cells, lie in a channel or on its bars."""
        half, result = self._half_width, np.zeros(len(places), bool)
        if not half.any():
            return result
        reach = math.ceil(BARE_BANK * float(half.max()) + MOVES + float(np.abs(self._moved).max()))
        cells = np.clip(places, 0.0, np.array(half.shape) - 1).astype(np.intp)
        near = np.flatnonzero(grown(half > 0.0, reach)[cells[:, 0], cells[:, 1]])
        place, cells = places[near], cells[near]
        inside = np.zeros(len(near), bool)
        for south in range(-reach, reach + 1):
            for east in range(-reach, reach + 1):
                at = cells + np.array((south, east))
                on_map = ((at >= 0) & (at < half.shape)).all(axis=1)
                at[~on_map] = 0
                wide, step = half[at[:, 0], at[:, 1]], self._step[at[:, 0], at[:, 1]]
                moved = self._moved[at[:, 0], at[:, 1]]
                away = place - (at + 0.5 + moved)
                to = (at + step.astype(np.intp)).clip(0, np.array(half.shape) - 1)
                goes_on = half[to[:, 0], to[:, 1]] > 0.0
                step = step + goes_on[:, None] * (self._moved[to[:, 0], to[:, 1]] - moved)
                along = (away * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), 1e-6)
                away = np.linalg.norm(away - np.clip(along, 0.0, 1.0)[:, None] * step, axis=1)
                inside |= on_map & (wide > 0.0) & (away < BARE_BANK * wide + MOVES)
        result[near] = inside
        return result


def _steps(way: NDArray[np.float32]) -> NDArray[np.float32]:
    """The step from each cell of `surveyed_way` to where its water goes, `[row, column, (row, column)]`."""
    from kernels.neighbours import COLUMN_STEPS, OUTLET, ROW_STEPS

    number = np.rint(way).astype(np.intp) - 1
    steps = np.stack([np.append(ROW_STEPS, 0), np.append(COLUMN_STEPS, 0)], axis=1).astype(np.float32)
    return np.asarray(steps[np.where((number < 0) | (number > OUTLET), OUTLET, number)])


def _straightened(
    flow: NDArray[np.float32],
    way: NDArray[np.float32],
    half_width: NDArray[np.float32],
    smallest: float,
    ground: NDArray[np.float32],
    cell_size: float,
) -> NDArray[np.float32]:
    """How far from the middles of its cells a river is drawn, in cells, `[row, column, (row, column)]`.

    As river_points.frag finds it, which draws it.
    """
    moved = np.zeros((*flow.shape, 2), np.float32)
    rivers = np.flatnonzero((half_width > WIDE[0]) & (way > 0.0))
    if not len(rivers):
        return moved
    columns = flow.shape[1]
    last = np.array(flow.shape) - 1
    places = np.stack(np.divmod(np.arange(flow.size), columns), axis=1)
    to = np.clip(places + _steps(way).reshape(-1, 2).astype(np.intp), 0, last) @ (columns, 1)
    streams = np.flatnonzero((flow.ravel() > smallest) & (to != np.arange(flow.size)))
    streams = streams[np.argsort(flow.ravel()[streams], kind="stable")]
    brings_most = np.arange(flow.size)
    brings_most[to[streams]] = streams  # the last one, which has the most water
    near, far = np.zeros((len(rivers), 2)), np.zeros((len(rivers), 2))
    up, down, goes_on = rivers, rivers, np.ones(len(rivers), bool)
    for step in range(1, STRAIGHTENED + 1):
        # A course that ends early has its shorter mean alone.
        ends = goes_on & ((brings_most[up] == up) | (to[down] == down))
        far[ends] = near[ends] = near[ends] if step > EVENED else 0.0
        goes_on &= ~ends
        up, down = brings_most[up], to[down]
        away = (places[up] + places[down] - 2 * places[rivers]) * goes_on[:, None]
        near += max(EVENED + 1 - step, 0) / (EVENED + 1) ** 2 * away
        far += (STRAIGHTENED + 1 - step) / (STRAIGHTENED + 1) ** 2 * away
    half = half_width.ravel()[rivers].astype(np.float64)
    widest = float(half.max())
    found = reach_of_half_width(widest) + BESIDE_ITS_CELL - np.maximum(half, WITH_BARS * half - BARS_SPARED)
    near = _no_longer_than(near, np.full(len(rivers), FARTHEST_EVENED))
    far = _no_longer_than(far, np.clip(found, FARTHEST_EVENED, FARTHEST_STRAIGHTENED))
    beside = np.clip(np.rint(places[rivers] + far), 0, last).astype(np.intp)
    rise = np.abs(ground[beside[:, 0], beside[:, 1]] - ground.ravel()[rivers])
    low = HARDLY_HIGHER * _mean_depth(2.0 * half * cell_size)
    part = np.minimum(low / np.maximum(rise, 1e-6), 1.0)[:, None]
    wide = np.clip((half - WIDE[0]) / (WIDE[1] - WIDE[0]), 0.0, 1.0)[:, None]
    moved.reshape(-1, 2)[rivers] = wide * wide * (3.0 - 2.0 * wide) * (near + part * (far - near))
    return moved


def _mean_depth(width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres, of rivers so many metres wide, as river_depth.glsl has it (Leopold and Maddock 1953)."""
    return np.asarray(0.35 * (width / 5.0) ** 0.8)


def _no_longer_than(way: NDArray[np.float64], most: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(way, axis=1)
    return np.asarray(way * np.minimum(1.0, most / np.maximum(length, 1e-6))[:, None])

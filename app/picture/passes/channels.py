"""Channels of streams as wide as they are drawn, in which no tree stands."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.picture.passes.swash import grown
from kernels.hydraulic_geometry import channel_width

NARROWEST = 0.2  # cells: half the width of the narrowest that keep trees away
BARE_BANK = 1.25  # half widths from the middle of a channel within which nothing stands: the water and its bars
MOVES = 0.3  # cells by which a channel is drawn beside the middles of its cells
WIDEST = 8  # cells: half the widest channel that is looked at

Mask = NDArray[np.bool_]


class Channels:
    """The channels of the latest snapshot."""

    def __init__(self) -> None:
        self.version = 0  # grows where other cells have become channels
        self._noted: tuple[object, ...] | None = None
        self._half_width = np.empty((0, 0), np.float32)  # in cells, 0 beside channels, `[row, column]`
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
        reach = math.ceil(BARE_BANK * float(half.max(initial=0.0)) + MOVES)
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
                away = place - (at + 0.5)
                along = (away * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), 1.0)
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

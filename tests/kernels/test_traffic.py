"""Rivers and lakes where the traffic of snowballs gathers: in valleys and hollows, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.lakes import Lakes, find_lakes
from kernels.neighbours import OUTLET, index_steps
from kernels.rivers import Drainage, drain
from kernels.routing import way_to_outlet
from kernels.traffic import BANK_SLOPE, LAKE_SHARE, SMALLEST_LAKE, Gathered, gather
from tests.kernels.terrain import hills

CELL = 10.0
ROWS, COLUMNS, MIDDLE = 40, 41, 20

Map = NDArray[np.float64]


def gathered(ground: Map, traffic: Map, threshold: float) -> tuple[Gathered, Drainage, Lakes]:
    drainage = drain(ground, CELL, -np.inf)
    lakes = find_lakes(ground, drainage.filled, drainage.directions, drainage.accumulation, CELL)
    return gather(ground, drainage, lakes, traffic.astype(np.float32), threshold, CELL), drainage, lakes


def valley(banks: float) -> Map:
    """A slope down to the south, with a valley down its middle."""
    row, column = np.mgrid[:ROWS, :COLUMNS]
    return 2.0 * (ROWS - row) + banks * CELL * np.abs(column - MIDDLE)


def test_a_stream_begins_in_a_valley_and_not_on_an_open_flank() -> None:
    everywhere = np.full((ROWS, COLUMNS), 50.0)
    found, *_ = gathered(valley(2.0 * BANK_SLOPE), everywhere, 40.0)
    assert (found.flow[:, MIDDLE] > 0.0).sum() == ROWS - 1, "all but where the divide is the edge"
    outside = np.delete(found.flow, MIDDLE, axis=1)
    assert not outside.any()
    assert np.isneginf(found.level).all()
    assert not gathered(valley(0.5 * BANK_SLOPE), everywhere, 40.0)[0].flow.any(), "too flat a valley"
    assert not gathered(valley(2.0 * BANK_SLOPE), everywhere, 51.0)[0].flow.any(), "too little traffic"


def test_a_stream_runs_on_to_its_outlet_where_little_traffic_is_left() -> None:
    traffic = np.zeros((ROWS, COLUMNS))
    traffic[5:12, MIDDLE - 2 : MIDDLE + 3] = 80.0
    found, drainage, _ = gathered(valley(0.3), traffic, 40.0)
    begins = int(np.flatnonzero(found.flow[:, MIDDLE])[0])
    assert begins in (4, 5)
    way = way_to_outlet(drainage.directions, begins, MIDDLE)
    assert (found.flow[way[:, 0], way[:, 1]] >= 40.0).all()
    assert np.count_nonzero(found.flow) == len(way)
    below = found.flow[20:, MIDDLE]
    assert (below == below[0]).all(), "nothing joins it there"


def test_where_streams_meet_they_carry_what_both_carry() -> None:
    row, column = np.mgrid[:ROWS, :COLUMNS]
    apart = np.maximum(24 - row, 0) // 2  # two valleys, which come together in row 24
    ground = 8.0 * (ROWS - row) + 3.0 * np.minimum(np.abs(column - MIDDLE + apart), np.abs(column - MIDDLE - apart))
    traffic = np.zeros((ROWS, COLUMNS))
    traffic[2:9, :MIDDLE], traffic[2:9, MIDDLE:] = 60.0, 90.0
    found, *_ = gathered(ground, traffic, 40.0)
    upper = found.flow[14, :MIDDLE].max(), found.flow[14, MIDDLE:].max()
    assert upper[0] == pytest.approx(60.0)
    assert upper[1] == pytest.approx(90.0)
    assert found.flow[-3].max() == pytest.approx(sum(upper), rel=1e-12)
    assert np.count_nonzero(found.flow[-3]) == 1


def hollow() -> Map:
    """A plateau that falls to the south, with a bowl in it, whose sill is lower than all around it."""
    row, column = np.mgrid[:ROWS, :COLUMNS]
    away = np.hypot(row - 18, column - MIDDLE)
    return 100.0 - 0.5 * row + np.minimum(0.0, 3.0 * (away - 11.0)) + 1e-3 * column


def inflow(drainage: Drainage, lakes: Lakes, traffic: Map) -> float:
    """The traffic of all dry cells whose water runs straight into the only lake."""
    steps, label = index_steps(COLUMNS), lakes.labels.reshape(-1)
    direction, balls = drainage.directions.reshape(-1), traffic.astype(np.float32).reshape(-1)
    into = [
        cell
        for cell in range(direction.size)
        if label[cell] == 0 and direction[cell] != OUTLET and label[cell + steps[direction[cell]]] > 0
    ]
    return float(balls[into].sum(dtype=np.float64))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_lake_is_level_and_as_large_as_its_inflow_keeps_it(share: float) -> None:
    ground, traffic = hollow(), 3.0 + hills(ROWS, COLUMNS, seed=3)
    _, drainage, lakes = gathered(ground, traffic, 1.0)
    assert len(lakes.cells) == 1
    found, *_ = gathered(ground, traffic, inflow(drainage, lakes, traffic) / (LAKE_SHARE * share * lakes.cells[0]))
    wet = np.isfinite(found.level)
    assert abs(np.count_nonzero(wet) - share * lakes.cells[0]) <= 1.0 + 1e-6
    assert np.ptp(found.level[wet]) == 0.0
    surface = found.level[wet][0]
    assert np.array_equal(wet, (lakes.labels > 0) & (ground < surface)), "the lowest cells"
    assert not found.flow.any(), "nothing flows over its sill"


def test_a_lake_that_gets_more_than_it_takes_is_full_and_runs_over() -> None:
    ground, traffic = hollow(), np.full((ROWS, COLUMNS), 50.0)
    found, drainage, lakes = gathered(ground, traffic, 40.0)
    wet = np.isfinite(found.level)
    assert np.array_equal(wet, lakes.labels > 0)
    assert np.array_equal(found.level[wet], drainage.filled[wet])
    surplus = inflow(drainage, lakes, traffic) - LAKE_SHARE * 40.0 * lakes.cells[0]
    below = np.unravel_index(int(lakes.outlet[0]), ground.shape)
    assert found.flow[below] == pytest.approx(surplus, rel=1e-9)
    assert not (wet & (found.flow > 0.0)).any()


def test_a_hollow_that_few_enter_or_that_is_tiny_is_dry() -> None:
    ground = hollow()
    assert np.isneginf(gathered(ground, np.zeros((ROWS, COLUMNS)), 40.0)[0].level).all()
    hole = 2.0 * valley(0.3)
    hole[20, MIDDLE] -= 30.0
    found, _, lakes = gathered(hole, np.full((ROWS, COLUMNS), 50.0), 40.0)
    assert 0 < lakes.cells[0] < SMALLEST_LAKE
    assert np.isneginf(found.level).all()
    assert found.flow[19, MIDDLE] > 0.0
    assert found.flow[21, MIDDLE] > 0.0, "the stream runs on"


def test_water_is_only_where_the_rules_have_it_on_any_land() -> None:
    ground = 80.0 * hills(60, 70, seed=5)
    traffic = 120.0 * hills(60, 70, seed=6) ** 2
    found, drainage, lakes = gathered(ground, traffic, 30.0)
    assert found.flow.any()
    wet = np.isfinite(found.level)
    assert wet.any()
    assert (found.level[wet] > ground[wet]).all()
    assert (found.level[wet] <= drainage.filled[wet]).all()
    streams = np.argwhere(found.flow > 0.0)
    steps, direction = index_steps(70), drainage.directions.reshape(-1)
    for row, column in streams:
        cell = row * 70 + column
        below = cell + steps[direction[cell]]
        if direction[cell] != OUTLET and lakes.labels.reshape(-1)[below] == 0:
            assert found.flow.reshape(-1)[below] >= found.flow[row, column], "a stream never loses water on its way"

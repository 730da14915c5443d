"""Falls on land whose steps are known, and on others, where they are those of a walk along each river."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.falls import STEEP, Falls, find_falls
from kernels.hydraulic_geometry import bankfull_depth, channel_width
from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS
from kernels.rivers import Drainage, drain
from tests.kernels.terrain import hills

CELL_SIZE = 8.0
WIDTH = 7.2
GENTLE = 0.02  # slope of the river between its steps


def valley(steps: dict[int, float], rows: int = 9, columns: int = 30) -> NDArray[np.float64]:
    """A straight valley to the west; it drops by so many metres from some columns to those west of them."""
    along = GENTLE * CELL_SIZE * np.arange(columns, dtype=np.float64)
    for column, height in steps.items():
        along[column:] += height
    return along + np.abs(np.arange(rows) - rows // 2)[:, None] * 3.0


def falls_of(
    ground: NDArray[np.float64], least: float = 20.0, discharge: float = 1e-3, *, low: bool = False
) -> tuple[Drainage, Falls]:
    """The falls of rivers of at least so many cells, each of which brings so much."""
    drainage = drain(ground, CELL_SIZE, -np.inf)
    through = drainage.accumulation * discharge
    rivers = drainage.accumulation >= least
    return drainage, find_falls(drainage.filled, drainage.directions, through, rivers, CELL_SIZE, WIDTH, low=low)


def test_steps_of_known_height_are_found() -> None:
    ground = valley({8: 40.0, 20: 12.0})
    drainage, falls = falls_of(ground)
    row = 4
    assert [divmod(cell, 30) for cell in falls.lip.tolist()] == [(row, 8), (row, 20)]
    assert [divmod(cell, 30) for cell in falls.foot.tolist()] == [(row, 7), (row, 19)]
    np.testing.assert_allclose(falls.height, [40.0 + GENTLE * CELL_SIZE, 12.0 + GENTLE * CELL_SIZE])
    assert np.array_equal(falls.discharge, drainage.accumulation.flat[falls.lip] * 1e-3)


def test_steps_that_follow_each_other_are_one_fall() -> None:
    _, falls = falls_of(valley({8: 10.0, 9: 20.0, 10: 15.0, 12: 9.0}))
    assert [cell % 30 for cell in falls.lip.tolist()] == [10, 12]
    assert [cell % 30 for cell in falls.foot.tolist()] == [7, 11]
    np.testing.assert_allclose(falls.height, [45.0 + 3 * GENTLE * CELL_SIZE, 9.0 + GENTLE * CELL_SIZE])


def test_a_bed_on_which_gravel_rests_is_no_fall() -> None:
    _, falls = falls_of(valley({8: (STEEP - GENTLE - 0.01) * CELL_SIZE, 20: (STEEP - GENTLE + 0.01) * CELL_SIZE}))
    assert [cell % 30 for cell in falls.lip.tolist()] == [20]


def test_a_river_deeper_than_the_step_does_not_fall() -> None:
    ground = valley({8: 6.0})
    assert len(falls_of(ground)[1].lip) == 1
    drainage, falls = falls_of(ground, discharge=1e3)
    assert bankfull_depth(channel_width(drainage.accumulation[4, 8] * 1e3, WIDTH)) > 6.0 + GENTLE * CELL_SIZE
    assert len(falls.lip) == 0


def test_low_falls_are_steps_that_stand_out_from_their_reach() -> None:
    """The reach falls by `GENTLE`, or by more: on a slope that is as steep everywhere, nothing falls."""
    ground = valley({8: 2.0, 20: 40.0})
    assert [cell % 30 for cell in falls_of(ground)[1].lip.tolist()] == [20]
    _, falls = falls_of(ground, low=True)
    assert [cell % 30 for cell in falls.lip.tolist()] == [20, 8]
    np.testing.assert_allclose(falls.height, [40.0 + GENTLE * CELL_SIZE, 2.0 + GENTLE * CELL_SIZE])
    steep = valley(dict.fromkeys(range(1, 30), 2.0))
    assert len(falls_of(steep, low=True)[1].lip) == 0
    two = valley({8: 1.0, 9: 1.5})  # that follow each other are one
    assert [(lip % 30, foot % 30) for lip, foot in zip(*falls_of(two, low=True)[1][:2], strict=True)] == [(9, 7)]


@pytest.mark.parametrize("below", [1, 2])
def test_where_a_river_begins_its_hillside_is_no_low_fall(below: int) -> None:
    head = int(np.flatnonzero(drain(valley({}), CELL_SIZE, -np.inf).accumulation[4] >= 20.0)[-1])
    ground = valley({head - below: 2.0})
    assert [cell % 30 for cell in falls_of(ground, low=True)[1].lip.tolist()] == [head - below] * (below == 2)


def test_a_river_deeper_than_a_low_step_does_not_fall() -> None:
    assert len(falls_of(valley({8: 2.0}), discharge=1.0, low=True)[1].lip) == 0


def test_a_dry_bed_has_no_falls() -> None:
    assert len(falls_of(valley({8: 40.0}), discharge=0.0)[1].lip) == 0


def test_a_lake_falls_from_its_outlet() -> None:
    ground = valley({8: 30.0})
    ground[4, 10:16] -= 3.0
    drainage, falls = falls_of(ground)
    assert (drainage.filled > ground).any()
    assert [cell % 30 for cell in falls.lip.tolist()] == [8]


def test_where_rivers_fall_together_the_greater_goes_on() -> None:
    surface = np.array([[60.0, 50.0], [40.0, 20.0], [0.0, 0.0]])  # both of the first row into the second, then south
    directions = np.array([[3, 6], [3, 3], [OUTLET, OUTLET]], np.int8)
    discharge = np.array([[1.0, 2.0], [3.0, 0.1], [3.0, 0.1]])
    falls = find_falls(surface, directions, discharge, discharge >= 1.0, 1.0, WIDTH)
    assert sorted(zip(falls.lip.tolist(), falls.foot.tolist(), falls.height.tolist(), strict=True)) == [
        (0, 2, 20.0),
        (1, 4, 50.0),
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(40, 61), (150, 33), (7, 5), (2, 2)])
def test_falls_are_those_of_a_walk(shape: tuple[int, int], seed: int) -> None:
    drainage, falls = falls_of(hills(*shape, 600.0, seed), least=3.0)
    steps = dict[int, tuple[int, float]]()  # the cell below, and the discharge
    columns = shape[1]
    for row, column in np.ndindex(*shape):
        number = int(drainage.directions[row, column])
        if number == OUTLET or drainage.accumulation[row, column] < 3.0:
            continue
        below = row + int(ROW_STEPS[number]), column + int(COLUMN_STEPS[number])
        drop = float(drainage.filled[row, column] - drainage.filled[below])
        discharge = float(drainage.accumulation[row, column]) * 1e-3
        depth = bankfull_depth(channel_width(discharge, WIDTH))
        if drop > STEEP * CELL_SIZE * LENGTHS[number] and drop > depth:
            steps[row * columns + column] = below[0] * columns + below[1], discharge
    main = dict[int, int]()
    for cell, (below_it, discharge) in sorted(steps.items()):
        if below_it not in main or discharge > steps[main[below_it]][1]:
            main[below_it] = cell
    expected = set()
    for cell in steps:
        if cell in main:
            continue
        foot, before = steps[cell][0], cell
        while foot in steps and main[foot] == before:
            foot, before = steps[foot][0], foot
        expected.add((cell, foot))
    assert set(zip(falls.lip.tolist(), falls.foot.tolist(), strict=True)) == expected
    assert len(falls.lip) == len(expected)
    filled = drainage.filled.reshape(-1)
    assert np.array_equal(falls.height, filled[falls.lip] - filled[falls.foot])
    assert (np.diff(falls.height) <= 0.0).all()
    if min(shape) > 30:
        assert len(expected) > 5

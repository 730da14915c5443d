"""Land that is carried sideways in whole cells: nothing is lost, and nothing is blurred."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.sideways import Step, along_fault, distances, fault_height, over_thrust, step_towards

STEPS = (Step(0, 1), Step(-1, 0), Step(1, 1), Step(2, -1), Step(-3, 2), Step(1, 3))


@pytest.mark.parametrize("degrees", np.arange(0.0, 361.0, 7.0))
def test_no_direction_is_far_from_that_of_a_step(degrees: float) -> None:
    step = step_towards(degrees)
    angle = math.degrees(math.atan2(step.east, -step.south)) % 360.0
    assert min(abs(angle - degrees), 360.0 - abs(angle - degrees)) < 9.3


def test_directions_are_clockwise_from_north() -> None:
    assert [step_towards(degrees) for degrees in (0.0, 90.0, 180.0, 270.0)] == [(-1, 0), (0, 1), (1, 0), (0, -1)]
    ahead, left = distances(9, 9, Step(0, 1))
    assert (ahead[4] == np.arange(-4.0, 5.0)).all() and (left[:, 4] == np.arange(4.0, -5.0, -1.0)).all()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("times", [1, 4, 1000])
def test_all_land_is_somewhere_and_moves_as_one_piece(step: Step, times: int) -> None:
    rows, columns = 24, 31
    moves = distances(rows, columns, step)[1] > 0.25
    source = along_fault(moves, step, times)
    assert np.array_equal(np.sort(source), np.arange(rows * columns)), "each cell's land is in one cell"
    assert (source.reshape(rows, columns)[~moves] == np.flatnonzero(~moves)).all()
    row, column = np.indices((rows, columns))
    south, east = row - source.reshape(rows, columns) // columns, column - source.reshape(rows, columns) % columns
    whole = moves & (south == times * step.south) & (east == times * step.east)
    if times == 1:
        inside = (row - step.south >= 0) & (row - step.south < rows)
        inside &= (column - step.east >= 0) & (column - step.east < columns)
        assert np.array_equal(whole, moves & inside), "what does not come in over an edge has moved by the step"


def test_many_steps_are_as_many_single_ones() -> None:
    step = Step(-1, 2)
    moves = distances(20, 27, step)[1] < 1.0
    land = once = np.arange(540)
    single = along_fault(moves, step, 1)
    for _ in range(7):
        once = once[single]
    assert np.array_equal(land[along_fault(moves, step, 7)], once)


@pytest.mark.parametrize("step", STEPS)
def test_each_cell_of_a_hanging_wall_goes_somewhere(step: Step) -> None:
    rows, columns = 20, 26
    hanging = distances(rows, columns, step)[0] <= 2.0
    wall = over_thrust(hanging, step, 2)
    comes = np.flatnonzero(hanging.reshape(-1) & ~wall.enters)
    gone = np.sort(np.concatenate([wall.source[comes], wall.over_edge, wall.over_front]))
    assert np.array_equal(gone, np.flatnonzero(hanging))
    assert not hanging.reshape(-1)[wall.front].any() and len(set(wall.front)) == len(wall.front) > 0
    assert hanging.reshape(-1)[wall.source[wall.enters]].all()
    assert (wall.source[~hanging.reshape(-1)] == np.flatnonzero(~hanging)).all()


def test_a_fault_goes_from_a_flat_over_a_ramp_to_a_flat() -> None:
    heights = fault_height(np.array([-50.0, 0.0, 100.0, 200.0, 900.0]), 0.0, 0.5, 100.0)
    assert heights.tolist() == [0.0, 0.0, 50.0, 100.0, 100.0]

"""Loads of several kinds: as many at once as there are, each as if it were alone."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from kernels.exchanging import (
    KINDS,
    LANES,
    LINES,
    add,
    clear,
    exchange,
    exchange_lines,
    lowest_bit,
    settle_four,
    settle_four_ahead,
    sum_of,
    turn_four,
    weighed,
)

BEFORE, AFTER = 3, 2  # numbers that lie beside a cell and a load, and must stay


@numba.njit
def _exchange(mix, carried, dug_part, laid_part, kinds):  # type: ignore[no-untyped-def]
    exchange(mix, BEFORE, carried, BEFORE, dug_part, laid_part, kinds)


@numba.njit
def _add(source, target, kinds):  # type: ignore[no-untyped-def]
    add(source, BEFORE, target, BEFORE, kinds)


@numba.njit
def _sum(carried, kinds):  # type: ignore[no-untyped-def]
    return sum_of(carried, BEFORE, kinds)


@numba.njit
def _weighed(carried, weights, kinds):  # type: ignore[no-untyped-def]
    return weighed(carried, BEFORE, weights, kinds)


@numba.njit
def _clear(carried, kinds):  # type: ignore[no-untyped-def]
    clear(carried, BEFORE, kinds)


@numba.njit
def _turn(source, step, target, on):  # type: ignore[no-untyped-def]
    turn_four(source, BEFORE, step, target, BEFORE, on)


@numba.njit
def _exchange_lines(mix, carried, goes, sign, loose):  # type: ignore[no-untyped-def]
    lacks, lines = exchange_lines(mix, LANES, carried, LANES, goes, 0, LANES, sign, loose), []
    while lacks != 0:
        lines.append(lowest_bit(lacks))
        lacks &= lacks - 1
    return lines


@numba.njit
def _settle(mix, loads, fall, ease, numbers):  # type: ignore[no-untyped-def]
    settle_four(mix, BEFORE, loads, BEFORE, fall, ease, numbers[0], numbers[1], numbers[2])


@numba.njit
def _settle_ahead(mix, there, loads, fall, ease, numbers):  # type: ignore[no-untyped-def]
    settle_four_ahead(mix, BEFORE, there, loads, BEFORE, fall, ease, numbers[0], numbers[1], numbers[2])


@pytest.mark.parametrize("kinds", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("parts", [(0.3, 0.0), (1.0, 0.0), (0.0, 0.7), (0.0, 1.0), (0.2, 0.9), (0.0, 0.0)])
def test_each_kind_has_the_bits_that_it_has_alone(kinds: int, parts: tuple[float, float]) -> None:
    random = np.random.default_rng(kinds)
    mix, carried = random.random((2, BEFORE + kinds + AFTER))
    now, load = mix.copy(), carried.copy()
    _exchange(now, load, *parts, kinds)
    dug, laid = parts
    for kind in range(BEFORE, BEFORE + kinds):
        left, settles = mix[kind] - dug * mix[kind], laid * carried[kind]
        mix[kind], carried[kind] = left + settles, (carried[kind] - settles) + (mix[kind] - left)
    assert now.tobytes() == mix.tobytes()
    assert load.tobytes() == carried.tobytes()
    _add(now, load, kinds)
    carried[BEFORE : BEFORE + kinds] += mix[BEFORE : BEFORE + kinds]
    assert load.tobytes() == carried.tobytes()
    assert _sum(load, kinds) == sum(load[BEFORE : BEFORE + kinds].tolist())
    weights = random.random(kinds)
    assert _weighed(load, weights, kinds) == sum((load[BEFORE : BEFORE + kinds] * weights).tolist())
    _clear(load, kinds)
    carried[BEFORE : BEFORE + kinds] = 0.0
    assert load.tobytes() == carried.tobytes()


@pytest.mark.parametrize(("step", "on"), [(4, 16), (16, 4), (8, 5)])
def test_rows_become_columns(step: int, on: int) -> None:
    source, target = np.random.default_rng(1).random((2, 4 * LINES))
    wanted = target.copy()
    for row in range(4):
        for column in range(4):
            wanted[BEFORE + column * on + row] = source[BEFORE + row * step + column]
    _turn(source, step, target, on)
    assert target.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_lines_side_by_side_have_the_bits_that_each_has_alone(sign: float) -> None:
    random = np.random.default_rng(2)
    mix, carried = random.random((2, KINDS, LINES))
    mix[:, LINES - 2 :] = 0.0  # rock is bare
    goes = sign * np.array(
        [  # what comes to each of eight lines, and what goes on from there
            [0.0, 0.5, 0.5, 0.0, 0.2, -1.0, 0.0, 0.1],
            [0.0, 0.2, 0.9, 0.4, -0.3, 9.0, 0.7, 0.1],
        ]
    )
    now, load, loose = mix.copy(), carried.copy(), np.empty(LANES)
    lacks = _exchange_lines(now.reshape(-1), load.reshape(-1), goes.reshape(-1), sign, loose)
    assert lacks == [5, 6]
    for line in range(LANES, LINES):
        come, go = np.maximum(sign * goes[:, line - LANES], 0.0)
        lies = sum(mix[:, line].tolist())
        assert loose[line - LANES] == lies
        dug = min((go - come) / (lies or 1.0), 1.0) if go > come else 0.0
        laid = 1.0 - go / come if come >= go and come > 0.0 else 0.0
        before, load_before = mix[:, line].copy(), carried[:, line].copy()
        left, settles = before - dug * before, laid * load_before
        mix[:, line], carried[:, line] = left + settles, (load_before - settles) + (before - left)
    assert now.tobytes() == mix.tobytes()
    assert load.tobytes() == carried.tobytes()


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("rate", [0.3, 2.0])
@pytest.mark.parametrize("least", [0.0, 0.6])
@pytest.mark.parametrize("lifted", [0.0, 0.4, 3.0])
def test_four_kinds_settle_and_are_lifted_as_one_after_the_other(
    ahead: bool, rate: float, least: float, lifted: float
) -> None:
    random = np.random.default_rng(1)
    there = BEFORE + KINDS + AFTER
    mix, loads = random.random(there + KINDS + AFTER), random.random(BEFORE + KINDS + AFTER)
    fall, ease = random.random((2, KINDS))
    now, load = mix.copy(), loads.copy()
    if ahead:
        _settle_ahead(now, there, load, fall, ease, (rate, least, lifted))
    else:
        _settle(now, load, fall, ease, (rate, least, lifted))
    for kind in range(KINDS):
        cell, beyond, carried = mix[BEFORE + kind], mix[there + kind], loads[BEFORE + kind]
        settled = carried * max(min(1.0, rate * fall[kind]), least)
        taken = cell * min(1.0, lifted * ease[kind])
        onward = 0.5 * settled if ahead else 0.0
        mix[BEFORE + kind] = (cell - taken) + (settled - onward)
        mix[there + kind] = onward + beyond
        loads[BEFORE + kind] = (carried - settled) + taken
    assert now.tobytes() == mix.tobytes()
    assert load.tobytes() == loads.tobytes()

"""Loads of several kinds: as many at once as there are, each as if it were alone."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from kernels.exchanging import add, exchange, sum_of

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

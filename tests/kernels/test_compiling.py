"""How kernels are compiled: what they call in parallel loops, once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numba
import numpy as np
from numba import prange
from numba.core import event
from numpy.typing import NDArray

from kernels.compiling import in_threads


@in_threads
def _double_row(numbers: Any, row: int) -> None:
    for column in range(numbers.shape[1]):
        numbers[row, column] *= 2.0


@numba.njit(parallel=True, error_model="numpy")
def _double(numbers: Any) -> None:
    for row in prange(len(numbers)):
        _double_row(numbers, np.int64(row))


class _Compilations(event.Listener):
    """Counts how often each function is compiled."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def on_start(self, event: event.Event) -> None:
        self.counts[event.data["dispatcher"].py_func.__name__] += 1

    def on_end(self, event: event.Event) -> None:
        """Nothing is counted at the end."""


def test_what_a_parallel_loop_calls_is_compiled_once() -> None:
    numbers: NDArray[np.float64] = np.ones((4, 3))
    compilations = _Compilations()
    with event.install_listener("numba:compile", compilations):
        _double(numbers)
    assert np.array_equal(numbers, np.full((4, 3), 2.0))
    assert compilations.counts["_double_row"] == 1

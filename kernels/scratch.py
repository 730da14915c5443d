"""Memory that kernels share, which never run at the same time: what each works its step out in, and no longer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LINE = 64  # bytes of a cache line, at which arrays begin


class Scratch:
    """One block of memory, of which each step takes its arrays from the first byte on.

    It becomes as large as the step that needs most of it. What was taken is good until the next `begin`.
    """

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)
        self._taken = 0  # bytes, also beyond the block

    @property
    def nbytes(self) -> int:
        """How large it is."""
        return self._block.nbytes

    def begin(self) -> Scratch:
        """Begin a step: all that was taken before is given back. Returns itself."""
        if self._taken > self._block.nbytes:
            self._block = np.empty(0, np.uint8)  # first, so that there are never both
            self._block = np.empty(self._taken, np.uint8)
        self._taken = 0
        return self

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """An array for this step, of any values. Where the block is too small, it has memory of its own this once."""
        size = math.prod(shape) if isinstance(shape, tuple) else shape
        begin, length = self._taken, size * np.dtype(dtype).itemsize
        self._taken += -(-length // LINE) * LINE
        if self._taken > self._block.nbytes:
            return np.empty(shape, dtype)
        return self._block[begin : begin + length].view(dtype).reshape(shape)

    def set_aside(self) -> None:
        """Give the block back to the system until the next step, which takes as large a one at once."""
        self._block, self._taken = np.empty(0, np.uint8), max(self._block.nbytes, self._taken)

    def release(self) -> None:
        """Give the block back to the system. What was taken stays good for who has it."""
        self._block, self._taken = np.empty(0, np.uint8), 0

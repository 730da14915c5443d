"""Work on whole maps by NumPy, shared by threads, a block of rows each: the same bits whatever their number."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

ROWS = 64  # of a block: few, since what is worked out on the way then stays in the cache, and takes little memory
WORTH_SHARING = 2**17  # cells: of smaller maps a thread is done before others are awake


def for_blocks(work: Callable[[slice], object], rows: int, columns: int) -> None:
    """Call `work` for each block of the rows of a map; it may write to these rows alone, and call no kernels.

    NumPy lets go of the interpreter's lock while it computes. Raises what `work` raises.
    """
    blocks = [slice(first, min(first + ROWS, rows)) for first in range(0, rows, ROWS)]
    _share(work, blocks, min(threads(), len(blocks)) if rows * columns >= WORTH_SHARING else 1)


def _share(work: Callable[[slice], object], blocks: Sequence[slice], sharing: int) -> None:
    """Let so many threads work, this one among them; each takes the next block as soon as it is free."""
    left = iter(blocks)

    def work_on() -> None:
        for block in left:
            work(block)

    others: list[Future[None]] = []
    with contextlib.suppress(RuntimeError):  # when the program ends, this thread works alone
        others += (_pool().submit(work_on) for _ in range(sharing - 1))
    try:
        work_on()
    finally:
        wait(others)
    for other in others:
        other.result()


def threads() -> int:
    """How many threads share work: as many as those of kernels, which need not be loaded yet."""
    asked = getattr(sys.modules.get("numba"), "get_num_threads", None)
    return asked() if asked else 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="blocks")

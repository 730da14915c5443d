"""What the tests of the kernels share."""

from collections.abc import Iterator

import app  # noqa: F401  # first, as it sets Numba's cache: its own would miss changes in a file that a kernel uses

# isort: split
import numba
import pytest


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


@pytest.fixture
def two_threads() -> int:
    """Two, where the machine has them."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("needs two threads: set NUMBA_NUM_THREADS=2")
    return 2

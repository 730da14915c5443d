"""Diamond-square: the published algorithm, any rectangle, and the same bits everywhere."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels import diamond_square as module
from kernels.diamond_square import diamond_square
from kernels.random import stream, uniform
from kernels.sampling import NATIVE


def plain(n: int, seed: int, roughness: float) -> NDArray[np.float64]:
    """Point by point, as the algorithm is told."""
    side = 2**n + 1
    key = np.uint64(stream(seed, module._PROCESS, 0))
    heights: dict[tuple[int, int], float] = {}

    def random(point: tuple[int, int], reach: float) -> float:
        return reach * (2.0 * uniform(key, point[0] * side + point[1]) - 1.0)

    def place(point: tuple[int, int], around: list[tuple[int, int]], reach: float) -> None:
        known = [heights[p] for p in around if p in heights]
        heights[point] = sum(known) / len(known) + random(point, reach)

    for corner in ((0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1)):
        heights[corner] = random(corner, 1.0)
    for iteration in range(1, n + 1):
        step = (side - 1) >> (iteration - 1)
        half = step // 2
        reach = roughness**iteration
        centres = [(i, j) for i in range(half, side, step) for j in range(half, side, step)]
        for i, j in centres:
            place((i, j), [(i + a, j + b) for a in (-half, half) for b in (-half, half)], reach)
        middles = {(i + a, j + b) for i, j in centres for a, b in ((-half, 0), (half, 0), (0, -half), (0, half))}
        before = set(heights)
        for i, j in sorted(middles):
            around = [(i - half, j), (i + half, j), (i, j - half), (i, j + half)]
            place((i, j), [p for p in around if p in before], reach)
    return np.array([[heights[i, j] for j in range(side)] for i in range(side)])


@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize("roughness", [0.3, 0.8])
def test_agrees_with_the_plain_reference(n: int, roughness: float) -> None:
    side = 2**n + 1
    np.testing.assert_allclose(diamond_square(side, side, 4, roughness), plain(n, 4, roughness), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("shape", [(8, 8), (9, 9), (10, 8), (8, 200), (129, 65), (257, 256)])
def test_any_rectangle(shape: tuple[int, int]) -> None:
    heights = diamond_square(*shape, 1, 0.5)
    assert heights.shape == shape
    assert heights.flags.c_contiguous
    assert np.isfinite(heights).all()
    assert np.abs(heights).max() <= 1.0 / (1.0 - 0.5)
    longest = max(shape)
    assert np.array_equal(heights, diamond_square(longest, longest, 1, 0.5)[: shape[0], : shape[1]])


def test_same_bits_on_one_thread_and_two(two_threads: int) -> None:
    numba.set_num_threads(1)
    alone = diamond_square(300, 400, 9, 0.6)
    numba.set_num_threads(two_threads)
    assert alone.tobytes() == diamond_square(300, 400, 9, 0.6).tobytes()


def test_seeds_and_roughness() -> None:
    assert not np.array_equal(diamond_square(65, 65, 1, 0.5), diamond_square(65, 65, 2, 0.5))
    rough = [np.abs(np.diff(diamond_square(257, 257, 1, roughness))).mean() for roughness in (0.3, 0.5, 0.8)]
    assert rough[0] < rough[1] < rough[2]


def test_corners_that_are_given_are_the_corners() -> None:
    corners = (0.5, -0.25, 1.0, -1.0)
    land = diamond_square(33, 33, 3, corners=corners)
    assert (land[0, 0], land[0, -1], land[-1, 0], land[-1, -1]) == corners
    usual = diamond_square(33, 33, 3)
    drawn = (usual[0, 0], usual[0, -1], usual[-1, 0], usual[-1, -1])
    assert np.array_equal(diamond_square(33, 33, 3, corners=drawn), usual)
    finer = diamond_square(65, 65, 3, sampling=NATIVE._replace(cell=0.5), land=(33, 33), corners=corners)
    assert finer[0, 0] != usual[0, 0]

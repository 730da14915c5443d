"""E4, the cascade: nothing is lost, no direction is favoured, and what has settled lies at the angle of repose."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.cascade import CascadeParameters, cascade
from tests.kernels.terrain import hills, soil

Layer = NDArray[np.float64]

SHAPES = [(8, 8), (8, 200), (61, 47), (300, 260)]


def slide(bedrock: Layer, sediment: Layer, cell_size: float = 1.0, **parameters: Any) -> tuple[Layer, Layer]:
    """Sediment and ground afterwards."""
    sediment, ground = sediment.copy(), bedrock + sediment
    before = bedrock.copy()
    cascade(bedrock, sediment, ground, cell_size, CascadeParameters(**parameters))
    assert np.array_equal(bedrock, before)
    assert np.array_equal(ground, bedrock + sediment)
    return sediment, ground


def steepest(ground: Layer) -> float:
    """The largest slope to any of the eight neighbours."""
    straight = max(np.abs(np.diff(ground, axis=0)).max(), np.abs(np.diff(ground, axis=1)).max())
    diagonal = max(np.abs(ground[1:, 1:] - ground[:-1, :-1]).max(), np.abs(ground[1:, :-1] - ground[:-1, 1:]).max())
    return float(max(straight, diagonal / math.sqrt(2.0)))


def plain(bedrock: Layer, sediment: Layer, repose: float, rate: float, creep: float, wrap: bool) -> Layer:
    """Sediment after one pass, cell by cell and neighbour by neighbour."""
    rows, columns = bedrock.shape
    ground = bedrock + sediment
    after = sediment.copy()
    for i in range(rows):
        for j in range(columns):
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    k, l = i + a, j + b
                    if wrap:
                        k, l = k % rows, l % columns
                    if (a, b) == (0, 0) or not (0 <= k < rows and 0 <= l < columns):
                        continue
                    difference = ground[i, j] - ground[k, l]
                    if difference > 0.0:
                        excess = max(difference - repose * math.hypot(a, b), creep * difference)
                        moved = rate * min(sediment[i, j], 0.5 * max(excess, 0.0))
                        after[i, j] -= moved
                        after[k, l] += moved
    return after


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(("creep", "settling"), [(0.0, 0.02), (0.3, 0.02), (0.3, 1.0)])
@pytest.mark.parametrize("shape", [(8, 8), (15, 22), (32, 9), (33, 8), (70, 9)])
def test_agrees_with_the_plain_reference(shape: tuple[int, int], wrap: bool, creep: float, settling: float) -> None:
    """On maps of less than a band of rows, of one, of a little more, and of several."""
    bedrock, sediment = hills(*shape, 30.0), soil(*shape, 3.0)
    # No faster than where eight neighbours would take more than is there
    rate = min(2.0 * 5.5 * 0.25 * settling, 0.125 * (1.0 - 1e-9))
    settings = {"roughness": 0.01, "scale": 50.0, "settling": settling, "creep": creep, "wrap": wrap}
    expected = sediment
    for passes in (1, 2, 3):
        ours, _ = slide(bedrock, sediment, 2.0, passes=passes, **settings)
        expected = plain(bedrock, expected, 0.01 * 50.0 * 2.0, rate, creep, wrap)
        assert np.abs(expected - sediment).max() > 0.01
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrap", [False, True])
def test_nothing_is_lost_and_none_becomes_negative(shape: tuple[int, int], wrap: bool) -> None:
    bedrock, sediment = hills(*shape, 300.0), soil(*shape)
    for settling in (0.0, 0.01, 0.045, 1.0):
        for roughness in (0.0, 0.005):
            for creep in (0.0, 1.0):
                after, _ = slide(
                    bedrock, sediment, roughness=roughness, settling=settling, creep=creep, passes=20, wrap=wrap
                )
                assert after.sum() == pytest.approx(sediment.sum(), rel=1e-13)
                assert (after >= 0.0).all()
                assert (settling > 0.0) == (not np.array_equal(after, sediment))


@pytest.mark.parametrize("shape", SHAPES)
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], two_threads: int) -> None:
    results = set()
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        results.add(slide(hills(*shape, 50.0), soil(*shape), passes=5, settling=0.03)[1].tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("cell_size", [1.0, 25.0])
def test_a_settled_heap_lies_at_the_angle_of_repose(cell_size: float) -> None:
    heap = np.zeros((61, 61))
    heap[25:36, 25:36] = 12.0 * cell_size
    _, ground = slide(np.zeros_like(heap), heap, cell_size, settling=0.045, passes=6000, roughness=0.005, scale=80.0)
    slope = steepest(ground / cell_size)
    assert slope <= 0.4 * 1.01
    assert slope >= 0.4 * 0.95  # and it has slid no farther than that


def test_no_direction_is_favoured() -> None:
    heap = np.zeros((41, 41))
    heap[18:23, 18:23] = 20.0
    _, ground = slide(np.zeros_like(heap), heap, settling=0.045, passes=300)
    for turned in (ground[::-1], ground[:, ::-1], ground.T):
        np.testing.assert_allclose(ground, turned, rtol=0.0, atol=1e-12)
    # A cone and not a pyramid: as high at the same distance straight ahead and half-way between two neighbours
    height = ground[20, 20]
    assert ground[20, 30] == pytest.approx(ground[27, 27], abs=0.08 * height)


def test_a_map_that_wraps_has_no_seam() -> None:
    bedrock, sediment = hills(24, 31, 30.0), soil(24, 31, 3.0)
    _, ground = slide(bedrock, sediment, passes=9, settling=0.03, wrap=True)
    moved = (7, 12)
    _, other = slide(
        np.roll(bedrock, moved, (0, 1)), np.roll(sediment, moved, (0, 1)), passes=9, settling=0.03, wrap=True
    )
    np.testing.assert_allclose(np.roll(ground, moved, (0, 1)), other, rtol=0.0, atol=1e-12)


def test_rock_stays_and_sand_on_it_slides() -> None:
    steps = np.repeat(np.arange(40.0)[::-1, None] * 3.0, 12, axis=1)  # far steeper than sand can lie
    after, _ = slide(steps, np.ones_like(steps), passes=4000, settling=0.045)
    assert after[:30].max() < 1e-3
    assert after.sum() == pytest.approx(40 * 12)


def test_layers_of_the_wrong_kind_are_refused() -> None:
    good = np.zeros((16, 16))
    for bad in (good.astype(np.float32), np.zeros((16, 32))[:, ::2], np.zeros((16, 17))):
        with pytest.raises(ValueError, match="C-contiguous float64"):
            cascade(good, bad, good, 1.0, CascadeParameters())

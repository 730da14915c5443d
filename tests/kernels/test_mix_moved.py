"""Where a process does not distinguish kinds: the mix follows what it moved, and no kind is lost."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from kernels.materials import mix_moved
from tests.kernels.terrain import hills, soil
from tests.kernels.test_kinds_in_water import CLAY, KINDS, SAND, Land, assert_sound, patches


def moved(land: Land, seed: int) -> float:
    """Wear rock, take and lay sediment, and lose some over the edge, as a process would; returns what left the map."""
    shape = land.bedrock.shape
    worn = soil(*shape, 0.4, seed + 3)
    taken = np.minimum(land.sediment, soil(*shape, 0.3, seed + 4))
    lost = 0.1 * (worn.sum() + taken.sum())
    laid = soil(*shape, 0.5, seed + 5)
    laid *= (worn.sum() + taken.sum() - lost) / laid.sum()
    land.bedrock -= worn
    land.sediment[...] = land.sediment - taken + laid
    return float(lost)


@pytest.mark.parametrize("shape", [(8, 8), (8, 200), (61, 47), (130, 257)])
@pytest.mark.parametrize("seed", [0, 7])
def test_no_kind_is_lost(shape: tuple[int, int], seed: int) -> None:
    land = Land(hills(*shape, seed=seed), patches(shape))
    before, rock, sediment = land.masses(), land.bedrock.copy(), land.sediment.copy()
    lost = moved(land, seed)
    wanted = land.sediment.copy()
    from_rock, off_map = map(np.array, mix_moved(land.materials, rock, land.bedrock, land.sediment, land.ground)[:2])
    assert_sound(land)
    np.testing.assert_allclose(land.sediment, wanted, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(land.masses(), before + from_rock - off_map, rtol=1e-12, atol=1e-12)
    assert from_rock.sum() == pytest.approx((rock - land.bedrock).sum(), rel=1e-12)
    assert off_map.sum() == pytest.approx(lost, rel=1e-9)
    assert from_rock[CLAY] > 0.0 and from_rock[SAND] > 0.0
    less = land.sediment < sediment
    assert less.any()
    for kind in range(KINDS):  # what lay there was taken in proportion, nothing was added
        part = (sediment > 0.0) & less
        expected = patches(shape)[..., kind] * np.divide(wanted, sediment, out=np.zeros(shape), where=part)
        np.testing.assert_allclose(land.mix[part, kind], expected[part], rtol=1e-9, atol=1e-12)


def test_all_that_is_laid_is_of_one_mix() -> None:
    shape = (40, 52)
    land = Land(hills(*shape), np.zeros((*shape, KINDS)))
    rock = land.bedrock.copy()
    moved(land, 0)
    from_rock, _ = map(np.array, mix_moved(land.materials, rock, land.bedrock, land.sediment, land.ground)[:2])
    there = land.sediment > 0.0
    parts = land.mix[there] / land.sediment[there][:, None]
    np.testing.assert_allclose(parts, np.tile(from_rock / from_rock.sum(), (len(parts), 1)), rtol=1e-9, atol=1e-12)


def test_where_nothing_moved_no_bit_changes() -> None:
    shape = (40, 52)
    land = Land(hills(*shape), patches(shape))
    bits = land.bits()
    sums = mix_moved(land.materials, land.bedrock.copy(), land.bedrock, land.sediment, land.ground)
    assert land.bits() == bits
    assert not any(sums.from_rock) and not any(sums.off_map)


def test_same_bits_on_one_thread_and_two(two_threads: int) -> None:
    results = []
    for threads in (1, two_threads):
        numba.set_num_threads(threads)
        land = Land(hills(130, 257), patches((130, 257)))
        rock = land.bedrock.copy()
        moved(land, 0)
        sums = mix_moved(land.materials, rock, land.bedrock, land.sediment, land.ground)
        results.append((land.bits(), sums))
    assert results[0] == results[1]

"""Buried beds below an active layer: order, runs, what happens when a stack is full, and that nothing is lost."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from app.model.beds import Beds
from kernels.beds import NO_BED
from kernels.stratigraphy import exchange, exhume, limit, spare_rock, sum_of_beds, thickness_of_kinds

CLAY, SAND, KINDS = 0, 1, 2
ACTIVE = 0.2


class Column:
    """A map of a few cells, each of which is treated alike unless told otherwise."""

    def __init__(self, rows: int = 1, columns: int = 1, count: int = 4) -> None:
        self.mix = np.zeros((rows, columns, KINDS))
        self.sediment, self.buried = np.zeros((rows, columns)), np.zeros((rows, columns))
        self.beds, self.most = Beds.none(KINDS, (rows, columns)), count
        self.cycle = 0

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.mix, self.sediment, self.buried, *self.beds

    def change(self, kind: int, metres: float | np.ndarray) -> None:
        """Lay down so much of a kind, or take up to so much, in a cycle."""
        self.mix[..., kind] = np.maximum(self.mix[..., kind] + metres, 0.0)
        self.end_cycle()

    def erode(self, metres: float) -> np.ndarray:
        """Take so much of what lies on top, as it is mixed. Returns the metres of each kind in the first cell."""
        taken = self.mix * (metres / self.sediment)[..., None]
        self.mix -= taken
        self.end_cycle()
        return np.asarray(taken[0, 0])

    def end_cycle(self) -> None:
        self.sediment[...] = self.mix[..., 0] + self.mix[..., 1]
        _, *arrays = exchange(*self.arrays, ACTIVE, self.most, self.cycle)
        self.keep(*arrays)
        self.cycle += 1

    def keep(self, thicknesses: np.ndarray, cycles: np.ndarray) -> None:
        """Keep the new arrays of beds."""
        self.beds = Beds(self.beds.numbers, thicknesses, cycles)

    def spare_some(self) -> None:
        """Take beds in the place of rock, in the first cells more than in the last."""
        rows, columns = self.sediment.shape
        worn = np.linspace(1.2, 0.0, rows * columns).reshape(rows, columns) * self.buried
        _, *arrays = spare_rock(np.zeros_like(worn), worn, self.buried, *self.beds)
        self.keep(*arrays)

    def stored(self) -> np.ndarray:
        return np.asarray(self.mix.sum(axis=(0, 1)) + thickness_of_kinds(self.beds.thicknesses))

    def shares(self) -> list[float]:
        """The share of clay in each bed of the first cell, the uppermost first."""
        thick = self.beds.dense()[0][0, 0].astype(np.float64)
        return [float(bed[CLAY] / bed.sum()) for bed in thick if bed.sum() > 0.0]


def flooded_and_blown_over() -> Column:
    """Three metres of clay in the time of a flood, and below three metres of sand of a dune."""
    column = Column()
    for kind in (CLAY, SAND):
        for _ in range(10):
            column.change(kind, 0.3)
    return column


def test_what_is_laid_down_later_lies_on_top() -> None:
    column = flooded_and_blown_over()
    shares = column.shares()
    assert shares == sorted(shares) and shares[0] < 0.1 and shares[-1] > 0.9
    assert 2 <= len(shares) <= 4, "beds of one kind are runs"
    thick, cycles = (array[0, 0] for array in column.beds.dense(4))
    thick = thick.sum(axis=1)
    assert 2.0 < thick[len(shares) - 1] < 3.0
    known = cycles[: len(shares)]
    assert (np.diff(known) < 0.0).all() and known[0] > 10.0 and known[-1] < 10.0
    assert (cycles[len(shares) :] == NO_BED).all()


def test_it_comes_out_again_in_its_order() -> None:
    column = flooded_and_blown_over()
    taken = np.array([column.erode(0.12) for _ in range(45)])
    share = taken[:, CLAY] / taken.sum(axis=1)
    assert (share[:15] < 0.1).all() and (share[-12:] > 0.9).all()
    assert (np.diff(share) > -0.12).all()


def test_a_thin_and_a_thick_layer_stay_as_they_are_between_their_bounds() -> None:
    column = Column()
    column.change(SAND, 0.3)
    assert not column.shares() and column.sediment == 0.3
    column.change(SAND, 0.3)
    assert column.sediment == pytest.approx(ACTIVE) and column.buried == pytest.approx(0.4)
    column.change(SAND, -0.05)
    assert column.sediment == pytest.approx(0.15)
    column.change(SAND, -0.1)
    assert column.sediment == pytest.approx(ACTIVE) and column.buried == pytest.approx(0.25)
    column.change(SAND, -0.2)
    column.change(SAND, -0.2)
    assert column.sediment == pytest.approx(0.05) and column.buried == 0.0 and not column.beds.numbers.any()


def test_the_oldest_merge_first() -> None:
    column = Column(count=3)
    for kind in (CLAY, SAND, CLAY, SAND, CLAY, SAND):
        for _ in range(8):
            column.change(kind, 0.3)
    assert column.beds.most == 3
    shares = column.shares()
    assert shares[0] < 0.1, "the newest is what it was"
    assert 0.3 < shares[-1] < 0.7, "and the oldest is mixed"
    np.testing.assert_allclose(column.stored(), [7.2, 7.2], rtol=1e-13)


def random_history(rows: int, columns: int, threads: int) -> Column:
    column, numbers = Column(rows, columns), np.random.default_rng(4)
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(min(threads, available))
    laid = np.zeros(KINDS)
    for number in range(120):
        before = column.mix.sum(axis=(0, 1))
        kind, most = number % 3 % KINDS, (0.5, -0.6, 30.0, -1e-7)[number % 4]
        column.mix[..., kind] = np.maximum(column.mix[..., kind] + most * numbers.random((rows, columns)), 0.0)
        laid += column.mix.sum(axis=(0, 1)) - before
        column.end_cycle()
        assert (column.mix >= 0.0).all() and not column.beds.fault(column.buried, KINDS)
        np.testing.assert_array_equal(column.sediment, column.mix[..., 0] + column.mix[..., 1])
    numba.set_num_threads(available)
    np.testing.assert_allclose(column.stored(), laid, rtol=1e-13)
    return column


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 31), (40, 8)])
def test_no_kind_is_lost_and_threads_change_no_bit(rows: int, columns: int) -> None:
    one, two = (random_history(rows, columns, threads) for threads in (1, 2))
    assert all(np.array_equal(*pair) for pair in zip(one.arrays, two.arrays, strict=True))


def test_a_part_of_the_map_is_exhumed_as_deep_as_wanted() -> None:
    column = random_history(6, 9, 1)
    before, buried = column.stored(), column.buried.copy()
    wanted = np.full((2, 3), np.inf)
    wanted[0, 0] = column.sediment[1, 4] + 0.5 * buried[1, 4]
    bedrock, ice = np.linspace(0.0, 9.0, 54).reshape(6, 9), np.full((6, 9), 0.25)
    ground = bedrock + column.sediment + (column.buried + ice)
    changes, *arrays = exhume(*column.arrays, wanted, 1, 4, bedrock, ground, [ice])
    column.keep(*arrays)
    assert changes and not column.beds.fault(column.buried, KINDS)
    np.testing.assert_array_equal(ground, bedrock + column.sediment + (column.buried + ice))
    np.testing.assert_allclose(column.stored(), before, rtol=1e-13)
    assert column.sediment[1, 4] == pytest.approx(wanted[0, 0], rel=1e-6)
    assert not column.buried[1:3, 5:7].any() and column.buried[2, 4] == 0.0 and (buried[1:3, 4:7] > 0.0).all()
    changed = column.buried != buried
    changed[1:3, 4:7] = False
    assert not changed.any()


def test_fewer_beds_hold_the_same() -> None:
    column = random_history(6, 9, 1)
    assert column.beds.most == 4
    before = column.stored()
    column.keep(*limit(*column.arrays, 2))
    np.testing.assert_allclose(column.stored(), before, rtol=1e-13)
    assert column.beds.most == 2 and not column.beds.fault(column.buried, KINDS)
    np.testing.assert_array_equal(sum_of_beds(column.beds.numbers, column.beds.thicknesses), column.buried)


def test_beds_take_memory_where_they_are() -> None:
    column = random_history(7, 5, 1)
    column.spare_some()
    count = int(column.beds.numbers.sum())
    assert len(column.beds.cycles) == len(column.beds.thicknesses) == count < 4 * 7 * 5
    assert all(array.base is None for array in column.beds)
    dense = column.beds.dense(6)
    again = Beds.packed(*dense)
    assert all(np.array_equal(*pair) for pair in zip(column.beds, again, strict=True))
    for number in range(5):
        assert all(
            np.array_equal(one, all_[:, :, number]) for one, all_ in zip(column.beds.bed(number), dense, strict=True)
        )
    before = column.stored()
    column.mix[...] = 0.0
    column.sediment[...] = 0.0
    bedrock = np.zeros((7, 5))
    ground = column.sediment + column.buried
    _, *arrays = exhume(*column.arrays, np.full((7, 5), np.inf), 0, 0, bedrock, ground)
    column.keep(*arrays)
    np.testing.assert_array_equal(ground, column.sediment)
    assert len(column.beds.cycles) == 0 and not column.beds.numbers.any() and not column.buried.any()
    assert (column.mix.sum(axis=(0, 1)) <= before).all() and column.mix.any()


def test_rock_below_beds_is_spared_as_far_as_they_go() -> None:
    column = random_history(5, 7, 1)
    total, buried = column.stored(), column.buried.copy()
    before = np.linspace(40.0, 60.0, 35).reshape(5, 7)
    worn = np.zeros_like(before)
    worn[1, 2], worn[2, 3], worn[4, 6] = 0.25 * buried[1, 2], buried[2, 3] + 3.0, 0.01
    bedrock = before - worn
    taken, *arrays = spare_rock(bedrock, before, column.buried, *column.beds)
    column.keep(*arrays)
    np.testing.assert_allclose(before - bedrock, np.maximum(worn - buried, 0.0), atol=1e-5)
    np.testing.assert_allclose(column.stored() + taken, total, rtol=1e-13)
    np.testing.assert_allclose(taken.sum(), (buried - column.buried).sum(), rtol=1e-12)
    np.testing.assert_allclose(bedrock + column.buried, before - worn + buried, rtol=1e-13)
    assert column.buried[2, 3] == 0.0 and not column.beds.fault(column.buried, KINDS)
    still = worn == 0.0
    assert np.array_equal(column.buried[still], buried[still]) and np.array_equal(bedrock[still], before[still])

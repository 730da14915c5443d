"""Distributaries: when a river breaks out, how its water is shared, and that all arms come to water."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.distributaries import ArmParameters, Arms, part_rivers, run_in_arms
from kernels.droplets import DropletParameters, StandingWater, erode, new_flow
from kernels.hydraulic_geometry import bankfull_depth, channel_width
from kernels.materials import one_kind
from kernels.neighbours import COLUMN_STEPS, ROW_STEPS
from kernels.rivers import drain
from kernels.routing import accumulate

CELL, WIDTH_OF_ONE, DISCHARGE = 10.0, 10.0, 4.0
DEPTH = float(bankfull_depth(channel_width(DISCHARGE, WIDTH_OF_ONE)))
USUAL = ArmParameters(slope=0.05, superelevation=0.6, advantage=1.3, least=1.0, least_part=0.06, spacing=3.0)
ROWS, COLUMNS, RIVER, SHORE, BAY = 40, 41, 20, 34, 6  # the river's column, the first row of the sea, its bay's columns


class Delta:
    """A plain that falls to the sea in the south, and more steeply to a bay in the west, with a river to the south."""

    def __init__(self) -> None:
        row, column = np.mgrid[:ROWS, :COLUMNS]
        self.ground = CELL * (0.001 * (SHORE - row) + 0.003 * (column - BAY)) + 1.2
        self.plain = self.ground.copy()
        self.water = (row >= SHORE) | (column < BAY)
        self.ground[self.water] = -1.0
        self.codes = np.zeros(self.ground.shape, np.float32)
        self.silt_up(to=-DEPTH)

    def silt_up(self, to: float) -> None:
        """Let the bed lie so high above the plain."""
        self.ground[:SHORE, RIVER] = self.plain[:SHORE, RIVER] + to

    def part(self, turn: float = 1.0, **changes: float) -> Arms:
        drainage = drain(self.ground, CELL, 0.0, open_edges=False)
        source = np.zeros(self.ground.shape)
        source[0, RIVER] = DISCHARGE
        discharge = accumulate(drainage.directions, drainage.routes.order, source)
        level = np.zeros(self.ground.shape)
        land = (self.codes, self.ground, self.water, level, drainage.directions, discharge)
        return part_rivers(*land, CELL, WIDTH_OF_ONE, USUAL._replace(**changes), turn)

    def ways(self, cell: int) -> list[tuple[int, float]]:
        """Where the water of an arm's cell goes on to, and what part of it."""
        code = float(self.codes.flat[cell])
        first, second, part = (int(code) - 1) & 7, (int(code) - 1) >> 3, code - int(code)
        to = [cell + ROW_STEPS[way] * COLUMNS + COLUMN_STEPS[way] for way in (first, second)]
        return [(to[0], 1.0)] if first == second else [(to[0], part), (to[1], 1.0 - part)]

    def mouths(self, arms: Arms) -> dict[tuple[int, int], float]:
        """The last cells of arms, and what of the river comes there."""
        parts = dict(zip(arms.cells.tolist(), arms.part.tolist(), strict=True))
        return {
            divmod(cell, COLUMNS): parts[cell] * part
            for cell in parts
            for to, part in self.ways(cell)
            if self.water.flat[to]
        }


def test_a_river_in_a_deep_channel_stays_in_it() -> None:
    delta = Delta()
    arms = delta.part()
    assert arms.broke_out == -1
    assert delta.mouths(arms) == {(SHORE - 1, RIVER): 1.0}
    assert (arms.part == 1.0).all() and len(arms.cells) == SHORE


@pytest.mark.parametrize(("superelevation", "breaks"), [(1.0, False), (0.95, True)])
def test_it_breaks_out_where_its_water_stands_high_enough_over_the_plain(superelevation: float, breaks: bool) -> None:
    delta = Delta()
    delta.part()
    delta.silt_up(to=-0.02)
    beside = CELL * 0.003 - CELL * 0.001  # so much lower than that by the river is the lowest cell of the plain there
    superelevation = (DEPTH - 0.02 + beside + CELL * 0.002) / DEPTH + superelevation - 0.975
    arms = delta.part(superelevation=superelevation)
    assert (arms.broke_out >= 0) == breaks
    west = [row for row, column in delta.mouths(arms) if column == BAY]
    assert len(west) == breaks
    assert sum(delta.mouths(arms).values()) == pytest.approx(1.0)


def test_it_stays_where_no_way_is_steeper_or_its_mouth_is_too_near() -> None:
    for changes in ({"advantage": 10.0}, {"spacing": 30.0}):
        delta = Delta()
        delta.part()
        delta.silt_up(to=0.0)
        assert delta.part(**changes).broke_out == -1


def test_arms_take_water_by_their_slopes_and_one_that_takes_too_little_is_given_up() -> None:
    delta = Delta()
    delta.part()
    delta.silt_up(to=0.0)
    fork = delta.part().broke_out
    alone = {"spacing": 1e3}  # no more break out
    arms = delta.part(turn=0.5, **alone)
    before = dict(delta.ways(fork))
    arms = delta.part(**alone)
    balanced = dict(delta.ways(fork))
    slopes = {}
    for to in balanced:
        cell, length = fork, 0.0
        while True:
            towards = to if cell == fork else delta.ways(cell)[0][0]
            length += CELL * (2.0**0.5 if (towards - cell) % COLUMNS and abs(towards - cell) > 1 else 1.0)
            cell = towards
            if delta.water.flat[cell]:
                break
        slopes[to] = delta.ground.flat[fork] / length
    for to, part in balanced.items():
        roots = {cell: slope**0.5 for cell, slope in slopes.items()}
        assert part == pytest.approx(roots[to] / sum(roots.values()), abs=1e-3)
        assert abs(part - 0.5) >= abs(before[to] - 0.5) or part > before[to] > 0.3
    west = max(balanced.values())
    assert west > 0.55, "the steeper one"
    arms = delta.part(least_part=1.01 * (1.0 - west), **alone)
    assert [column for _, column in delta.mouths(arms)] == [BAY]
    assert not delta.codes[SHORE - 1, RIVER], "and its arm is closed"


def test_an_arm_goes_on_over_land_that_its_mouth_has_built() -> None:
    delta = Delta()
    delta.part()
    delta.water[SHORE : SHORE + 3, RIVER - 2 : RIVER + 3] = False
    delta.ground[SHORE : SHORE + 3, RIVER - 2 : RIVER + 3] = 0.01
    arms = delta.part()
    ((row, _),) = delta.mouths(arms)
    assert row >= SHORE and len(arms.cells) > SHORE


def test_all_water_of_all_arms_comes_to_mouths_however_the_land_changes() -> None:
    random = np.random.default_rng(3)
    delta, most = Delta(), 0
    for _ in range(40):
        delta.ground[:SHORE, BAY:] += 0.3 * random.normal(size=(SHORE, COLUMNS - BAY))
        delta.ground[:, RIVER] = np.minimum(delta.ground[:, RIVER], delta.plain[:, RIVER])
        delta.ground[~delta.water] = np.maximum(delta.ground[~delta.water], 0.05)
        arms = delta.part(turn=0.3, spacing=1.0, advantage=1.0, slope=1.0)
        mouths = delta.mouths(arms)
        most = max(most, len(mouths))
        assert sum(mouths.values()) == pytest.approx(1.0, abs=1e-6)
        numbers = {cell: number for number, cell in enumerate(arms.cells.tolist())}
        assert set(np.flatnonzero(delta.codes).tolist()) == numbers.keys()
        for cell, number in numbers.items():
            for to, _ in delta.ways(cell):
                assert delta.water.flat[to] or numbers[to] > number, "no way comes to a cell twice"
    assert most >= 2


def run_drops(codes: NDArray[np.float32], drops: int, *, pond: bool = False) -> NDArray[np.float32]:
    """What passes each cell of a plain on which so many drops follow arms."""
    rock = np.add.outer(-0.1 * np.arange(12.0), np.zeros(12)) + 2.0
    if pond:
        rock[6, 5] -= 0.5
    soil, flow, level = np.zeros_like(rock), new_flow(*rock.shape), rock.copy()
    standing = np.zeros(rock.shape, np.uint8)
    if pond:
        standing[6, 5], level[6, 5] = 1, rock[7, 5]
    sources = np.tile((2.5, 5.5, 0.0, 0.0, 1.0), (drops, 1))
    settings = dict.fromkeys(DropletParameters._fields, 0.0) | {
        "count": 0, "time_step": 1.2, "density": 1.0, "minimum_volume": 0.01, "longest_path": 100, "water": 0.1,
        "river_transport": 1.0,
    }  # fmt: skip
    erode(
        rock, soil, rock + soil, one_kind(soil), 1.0, 1, 1, DropletParameters(**settings), flow=flow,
        standing=StandingWater(standing, level, np.zeros_like(rock), walls=False), sources=sources, arms=codes,
    )  # fmt: skip
    return flow[..., 4]


def test_drops_part_as_the_arms_say_and_run_on_through_ponds_in_them() -> None:
    codes = np.zeros((12, 12), np.float32)
    codes[2:8, 5] = 1 + 3 + 8 * 3 + 0.5  # to the south
    codes[4, 5] = 1 + 3 + 8 * 6 + 0.25  # a quarter to the south, the rest to the south-west
    for place in range(5, 8):
        codes[place, 9 - place] = 1 + 6 + 8 * 6 + 0.5
    drops = 4000
    for pond in (False, True):
        passed = run_drops(codes, drops, pond=pond)
        assert passed[4, 5] == drops
        assert passed[7, 5] == pytest.approx(0.25 * drops, abs=4.0 * (drops * 0.25 * 0.75) ** 0.5)
        assert passed[7, 2] == drops - passed[7, 5]


def test_streams_run_in_the_arms_and_no_longer_on_the_steepest_way_alone() -> None:
    codes, flow, directions = np.zeros((6, 7), np.float32), np.zeros((6, 7)), np.zeros((6, 7), np.int32)
    flow[:, 3], directions[:5, 3] = 8.0, 4  # to the south
    flow[4:, 3] = 9.0  # with what comes from beside
    codes[1, 3] = 1 + 6 + 8 * 7 + 0.75  # to the south-west, and a quarter to the south-east
    codes[2, 2] = codes[3, 2] = codes[2, 4] = 1 + 3 + 8 * 3 + 0.5
    run_in_arms(codes, flow, directions)
    assert flow[:, 3].tolist() == [8.0, 8.0, 0.0, 0.0, 1.0, 1.0]
    assert flow[2:4, 2].tolist() == [6.0, 6.0] and flow[2, 4] == 2.0
    assert (directions[1, 3], directions[2, 2], directions[3, 2]) == (7, 4, 4)
    assert directions[2, 4] == -4, "where it parts"

"""Wind over several kinds of ground, over wet ground and among plants."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels import materials as kinds_of_ground
from kernels.surface import CANOPY, GRASS, STRIDE, WETNESS
from kernels.wind import WindTotals, blow
from tests.kernels import reference_wind as reference
from tests.kernels.parameters import wind_parameters
from tests.kernels.terrain import hills, soil
from tests.kernels.test_wind import DUNES, start_of
from tests.kernels.test_wind import Land as OneSort
from tests.nets.cases import covered

Layer = NDArray[np.float64]

# Clay, gravel, sand, soil; soft rock on hard rock, as reference and kernels have them
SORTS = reference.Sorts(
    fall=(0.2, 3.0, 1.0, 0.5),
    suspension=(0.1, 0.0, 1.0, 0.35),
    bottoms=(12.0,),
    rock_abrasion=(1.0, 0.15),
    rock_worn=(2, 0),
)
CLAY, GRAVEL, SAND, SOIL = range(4)
STEP = 0.25  # metres, of the strata
NO_SURFACE = np.zeros(STRIDE, np.float32)


def ground_of(sorts: reference.Sorts, mix: Layer, top: float = 1e4) -> kinds_of_ground.Materials:
    """What kernels take for these sorts and this mix, [row, column, kind]."""
    cells = mix.shape[0] * mix.shape[1]
    depths = top - STEP * (np.arange(round((top - min(sorts.bottoms, default=top)) / STEP) + 1) + 0.5)
    strata = np.searchsorted(-np.array(sorts.bottoms), -depths).astype(np.uint8)
    return kinds_of_ground.one_kind(mix)._replace(
        kinds=mix.shape[2],
        deposition=np.array(sorts.fall),
        suspension=np.array(sorts.suspension),
        strata=strata,
        steps_per_metre=1.0 / STEP,
        rise=np.full((1, cells), top, np.float32),
        rock_abrasion=np.array(sorts.rock_abrasion),
        rock_worn=np.array(sorts.rock_worn, np.int64),
    )


class Land:
    """The layers of a map of several kinds of ground, and cycles of wind over them."""

    def __init__(self, bedrock: Layer, mix: Layer, cell_size: float = 1.0, surface: Any = None) -> None:
        self.bedrock = bedrock.copy()
        self.mix = mix.copy()
        self.sediment = np.zeros_like(self.bedrock)
        for kind in range(mix.shape[2]):
            self.sediment += self.mix[..., kind]
        self.ground = self.bedrock + self.sediment
        self.wind_path = np.zeros_like(self.bedrock)
        self.airborne = np.zeros_like(self.bedrock)
        self.cell_size = cell_size
        self.surface = surface
        self.field: NDArray[np.float32] | None = None
        self.streets: NDArray[np.float32] | None = None

    def blow(self, cycle: int = 0, seed: int = 1, **parameters: Any) -> WindTotals:
        return blow(
            self.bedrock, self.sediment, self.ground, ground_of(SORTS, self.mix), self.wind_path, self.airborne,
            self.cell_size, seed, cycle, wind_parameters(**parameters), self.surface, self.field,
            streets=self.streets,
        )  # fmt: skip

    def amounts(self) -> Layer:
        return np.asarray(self.mix.sum((0, 1)))

    def bits(self) -> bytes:
        layers = (self.bedrock, self.mix, self.sediment, self.ground, self.wind_path, self.airborne)
        return b"".join(layer.tobytes() for layer in layers)


def patches(rows: int, columns: int, depth: float = 1.0) -> Layer:
    """A mix in which each kind lies where it will, with bare rock between, [row, column, kind]."""
    return np.stack([soil(rows, columns, depth, seed) for seed in range(4)], axis=2)


def lawns(rows: int, columns: int) -> NDArray[np.float32]:
    """Wet ground and plants in patches."""
    surface = np.stack([np.clip(soil(rows, columns, 1.0, seed + 20), 0.0, 1.0) for seed in range(STRIDE)], axis=2)
    return np.ascontiguousarray(surface, np.float32)


def eddies(rows: int, columns: int) -> NDArray[np.float32]:
    """A wind that goes here and there, on the whole to the east."""
    return np.ascontiguousarray(
        np.stack([hills(rows, columns, 1.6, 31) - 0.8, hills(rows, columns, 1.6, 32) + 0.1], axis=2), np.float32
    )


STRONG: dict[str, Any] = {**DUNES, "abrasion": 0.1, "dust": 0.1, "inflow": 0.3, "suspension": 0.004}


def assert_sound(before: Land, after: Land, totals: WindTotals) -> None:
    """Each kind has gone or come as the totals say, and the sediment is the sum of the mix to the last bit."""
    assert totals.failed_row == -1
    worn, off_edge, inflow = map(np.array, totals.moved[:3])
    scale = before.amounts().sum() + inflow.sum() + worn.sum()
    np.testing.assert_allclose(
        after.amounts(), before.amounts() + worn + inflow - off_edge, rtol=0.0, atol=1e-12 * scale
    )
    rock_scale = np.abs(before.bedrock).sum()
    assert before.bedrock.sum() - after.bedrock.sum() == pytest.approx(
        worn.sum(), abs=1e-12 * (rock_scale + worn.sum())
    )
    assert (after.mix >= 0.0).all()
    summed = np.zeros_like(after.sediment)
    for kind in range(after.mix.shape[2]):
        summed += after.mix[..., kind]
    assert np.array_equal(after.sediment, summed)
    assert np.array_equal(after.ground, after.bedrock + after.sediment)


@pytest.mark.parametrize("shape", [(8, 8), (8, 200), (61, 47), (130, 257)])
@pytest.mark.parametrize("wrap", [False, True])
def test_no_kind_is_lost(shape: tuple[int, int], wrap: bool) -> None:
    land = Land(hills(*shape), patches(*shape), surface=lawns(*shape))
    land.field = eddies(*shape)
    moved = np.zeros(4)
    abraded = 0.0
    for cycle, direction in enumerate((0.0, 77.0, 180.0, 211.0, 315.0)):
        before = Land(land.bedrock, land.mix)
        settings = {
            **STRONG,
            "count": 150,
            "wind_direction": direction,
            "wrap": wrap,
            "uplift": 0.2 * cycle,
            "lag": 0.5,
            "lift": 0.004 * cycle,
            "memory": 0.5,
        }
        totals = land.blow(cycle, seed=cycle, **settings)
        assert_sound(before, land, totals)
        abraded += sum(totals.moved.from_rock)
        assert (sum(totals.moved.off_map) > 0.0) != wrap
        moved += np.abs(land.mix - before.mix).sum((0, 1))
    assert abraded > 0.0
    assert moved[CLAY] > 0.0
    assert moved[SAND] > moved[SOIL] > 0.0


@pytest.mark.parametrize("shape", [(64, 64), (130, 257)])
@pytest.mark.parametrize("wrap", [False, True])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], wrap: bool, two_threads: int) -> None:
    results = []
    for threads in (1, two_threads, two_threads):
        numba.set_num_threads(threads)
        land = Land(hills(*shape), patches(*shape), surface=lawns(*shape))
        land.field = eddies(*shape)
        land.streets = np.zeros((*shape, 2), np.float32)
        flying = {**STRONG, "count": 300, "wrap": wrap, "lift": 0.01, "memory": 1.0}
        totals = [land.blow(cycle, **flying) for cycle in range(2)]
        results.append((land.bits(), land.streets.tobytes(), totals))
    assert results[0] == results[1] == results[2]


@covered(
    parameters=[
        {},
        {**DUNES, "gusts": 0.0},
        {"suspension": 0.2, "shear": 0.5, "deposition": 0.1, "abrasion": 50.0, "dust": 1.0, "inflow": 0.2},
        {
            **STRONG,
            "gusts": 0.0,
            "uplift": 2.0,
            "lag": 3.0,
            "time_step": 1.0,
            "plant_trapping": 3.0,
            "longest_path": 60,
        },
        {
            **STRONG,
            "gusts": 0.0,
            "wet_cohesion": 1.0,
            "plant_drag": 1.0,
            "plant_cover": 0.5,
            "wind_field_direction": 250.0,
        },
        {**STRONG, "gusts": 0.0, "lift": 0.02, "lift_height": 3.0, "memory": 1.5},
    ],
    wrap=[False, True],
    with_field=[False, True],
)
def test_agrees_with_the_plain_reference(parameters: dict[str, Any], wrap: bool, with_field: bool) -> None:
    shape = (24, 31)
    relief, cell_size = 20.0, 2.0
    parameters = {**parameters, "wind_direction": 290.0, "wrap": wrap}
    land = Land(hills(*shape, relief), patches(*shape, 0.5), cell_size, lawns(*shape))
    land.field = eddies(*shape) if with_field else None
    land.airborne = (1.0 + soil(*shape, 2.0, 7)).astype(np.float32).astype(np.float64)
    land.streets = eddies(*shape)
    before = land.airborne.copy(), land.streets.copy()
    plain = reference.Map(land.bedrock.copy(), land.mix.copy(), cell_size, SORTS, land.surface, land.field, *before)
    own = {name: value for name, value in parameters.items() if name != "gusts"}
    off_edge = np.zeros(4)
    abraded = np.zeros(4)
    steps = 0
    start = land.mix.copy()
    # Where a parcel comes down again after a flight, a rounded bit more or less is told from the other side of a cell.
    near = (1e-9 if "lift" in parameters else 1e-10) * relief
    for cycle in range(15):
        plain.borne[...] = 0.0
        totals = land.blow(cycle, count=1, **parameters)
        off_edge += totals.moved.off_map
        abraded += totals.moved.from_rock
        steps += totals.steps
        reference.corrected(plain, start_of(cycle, shape, 290.0, wrap), reference.Parameters(**own))
        np.testing.assert_allclose(land.bedrock, plain.bedrock, rtol=0.0, atol=near)
        np.testing.assert_allclose(land.mix, plain.mix, rtol=0.0, atol=near)
        if "memory" in parameters:
            remembered = before[1] + 0.01 * (plain.borne - before[1])
            np.testing.assert_allclose(land.streets, remembered, rtol=0.0, atol=1e-6)
        land.airborne[...], land.streets[...] = before  # which the reference does not change
    assert steps == plain.steps
    np.testing.assert_allclose(off_edge, plain.off_edge, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(abraded, plain.abraded, rtol=1e-7, atol=1e-12)
    assert np.abs(land.mix - start).max() > 1e-6


def test_one_kind_like_sand_on_dry_bare_ground_is_the_wind_without_kinds() -> None:
    shape = (61, 47)
    one, other = (OneSort(hills(*shape), soil(*shape)) for _ in range(2))
    other.surface = np.zeros((*shape, STRIDE), np.float32)
    for cycle in range(3):
        totals, other_totals = (land.blow(cycle, **{**STRONG, "wrap": False}) for land in (one, other))
        assert totals.steps == other_totals.steps
        assert sum(totals.moved.from_rock) == pytest.approx(sum(other_totals.moved.from_rock), rel=1e-9)
        for layer in ("bedrock", "sediment", "ground", "wind_path", "airborne"):
            np.testing.assert_allclose(getattr(one, layer), getattr(other, layer), rtol=0.0, atol=1e-11)


# What must be seen.


def sheet(parts: dict[int, float], rows: int = 24, columns: int = 90, depth: float = 1.0) -> Land:
    """Level ground under loose material of one thickness and mix."""
    mix = np.zeros((rows, columns, 4))
    for kind, part in parts.items():
        mix[..., kind] = depth * part
    return Land(np.zeros((rows, columns)), mix)


LEVEL: dict[str, Any] = {
    "wind_direction": 270.0, "count": 300, "friction": 0.02, "suspension": 0.0004, "deposition": 0.2, "shear": 5.0,
}  # fmt: skip


def test_an_armour_of_gravel_ends_the_deflation() -> None:
    """Wind takes the sand out of a mix until gravel covers the ground; pure sand goes on being blown away."""
    lost = {}
    for name, parts in (("mixed", {GRAVEL: 0.5, SAND: 0.5}), ("sand", {SAND: 1.0})):
        land = sheet(parts, columns=30, depth=0.1)
        rates = []
        for cycle in range(60):
            rates.append(land.blow(cycle, **LEVEL).moved.off_map[SAND])
        lost[name] = sum(rates[:10]), sum(rates[-10:])
        if name == "mixed":
            upwind = land.mix[:, 2:10].mean((0, 1))
            assert upwind[GRAVEL] == pytest.approx(0.05)  # none was moved
            assert upwind[SAND] < 0.2 * 0.05
            assert -land.bedrock.min() < 1e-3  # and it covers the rock
    assert lost["mixed"][1] < 0.3 * lost["mixed"][0]
    assert lost["mixed"][0] < lost["sand"][0]


def test_coarse_kinds_settle_first() -> None:
    """Downwind of a strip of mixed ground the fine kinds have flown farther."""
    strip = np.zeros((24, 90, 4))
    strip[:, 5:15] = 0.25
    land = Land(np.zeros((24, 90)), strip)
    land.blow(**{**LEVEL, "deposition": 0.02, "suspension": 0.002})
    column = np.arange(90)
    beyond = land.mix[:, 16:].sum(0)
    mean_path = [(beyond[:, kind] * column[16:]).sum() / beyond[:, kind].sum() for kind in (SAND, SOIL, CLAY)]
    assert beyond[:, GRAVEL].sum() == 0.0
    assert mean_path[0] + 0.5 < mean_path[1]
    assert mean_path[1] + 0.5 < mean_path[2]


def test_lag_keeps_coarse_grains_behind() -> None:
    """The same settles, but nearer to where it came from."""
    centres = []
    for lag in (0.0, 5.0):
        strip = np.zeros((24, 60, 4))
        strip[:, 5:30, SAND] = 1.0
        land = Land(np.zeros((24, 60)), strip)
        land.blow(**{**LEVEL, "lag": lag})
        moved = np.maximum(0.0, land.mix[..., SAND] - strip[..., SAND]).sum(0)
        centres.append((moved * np.arange(60)).sum() / moved.sum())
    assert centres[1] < centres[0] - 0.05


@pytest.mark.parametrize("parts", [{SAND: 1.0}, {CLAY: 0.5, SAND: 0.5}])
def test_fast_wind_holds_up_fine_kinds(parts: dict[int, float]) -> None:
    carried = [sheet(parts) for _ in range(2)]
    for land, uplift in zip(carried, (0.0, 1.0), strict=True):
        land.blow(**{**LEVEL, "uplift": uplift})
    assert carried[1].airborne.sum() > 1.5 * carried[0].airborne.sum()


def test_wet_sand_stays_and_dry_sand_moves() -> None:
    moved = []
    for wetness in (0.0, 0.1, 0.25, 1.0):
        land = sheet({SAND: 1.0})
        before = land.mix.copy()
        land.surface = np.zeros((24, 90, STRIDE), np.float32)
        land.surface[..., WETNESS] = wetness
        land.blow(**LEVEL)
        moved.append(np.abs(land.mix - before).sum())
    assert moved[0] > 1.5 * moved[1] > 0.0
    assert moved[2] == moved[3] == 0.0


@pytest.mark.parametrize("plant", [GRASS, CANOPY])
def test_plants_slow_the_wind_keep_the_ground_and_catch_what_is_carried(plant: int) -> None:
    """A belt of plants across level sand: inside it less is lifted, and what comes in settles."""
    belt = np.s_[:, 40:60]
    heights = []
    for cover in (0.0, 0.9):
        land = sheet({SAND: 1.0})
        land.surface = np.zeros((24, 90, STRIDE), np.float32)
        land.surface[(*belt, plant)] = cover
        for cycle in range(5):
            land.blow(cycle, **LEVEL)
        heights.append(land.mix[(*belt, SAND)].mean())
        edge = land.mix[:, 40:44, SAND].mean()
    assert heights[1] > heights[0]
    assert heights[1] > 1.0  # it has gained
    assert edge > heights[1]  # most at the windward side


def test_plants_keep_bare_rock_from_wear() -> None:
    worn = []
    for cover in (0.0, 1.0):
        land = Land(hills(40, 40, 10.0), np.zeros((40, 40, 4)))
        land.surface = np.zeros((40, 40, STRIDE), np.float32)
        land.surface[..., GRASS] = cover
        worn.append(sum(land.blow(**{**LEVEL, "dust": 0.1, "abrasion": 0.1}).moved.from_rock))
    assert worn[1] < 0.05 * worn[0]


def test_a_lee_slope_with_plants_keeps_its_sand_and_a_bare_one_does_not() -> None:
    """Sand on the slope behind a ridge, where the wind falls on it again."""
    rows, columns = 24, 100
    ridge = np.maximum(0.0, 6.0 - 0.2 * np.abs(np.arange(columns) - 40.0))
    slope = np.s_[:, 46:66]
    kept = []
    for cover in (0.0, 0.8):
        mix = np.zeros((rows, columns, 4))
        mix[(*slope, SAND)] = 0.5
        surface = np.zeros((rows, columns, STRIDE), np.float32)
        surface[(*slope, GRASS)] = cover
        land = Land(np.tile(ridge, (rows, 1)), mix, surface=surface)
        for cycle in range(20):
            land.blow(cycle, **{**LEVEL, "gravity": 0.5})
        kept.append(land.mix[(*slope, SAND)].sum() / (0.5 * rows * 20))
    assert kept[0] < 0.5
    assert kept[1] > 0.9


def test_soft_rock_wears_faster_than_hard_rock_and_to_its_own_kind() -> None:
    worn = []
    for height in (20.0, 5.0):  # above and below the bottom of the soft rock
        land = Land(height + hills(40, 40, 4.0), np.zeros((40, 40, 4)))
        totals = land.blow(**{**LEVEL, "dust": 0.1, "abrasion": 0.01})
        worn.append(totals.moved.from_rock)
    assert worn[0][CLAY] == worn[1][SAND] == 0.0
    assert worn[0][SAND] > 3.0 * worn[1][CLAY] > 0.0


def test_what_comes_over_the_edge_is_the_kind_that_is_lifted_most_easily() -> None:
    totals = sheet({SOIL: 1.0}).blow(**{**LEVEL, "inflow": 0.5})
    assert totals.moved.blown_in == (0.0, 0.0, 150.0, 0.0)


# Bad input.


@pytest.mark.parametrize("low", [True, False])
def test_parameters_at_their_ends_break_nothing(low: bool) -> None:
    shape = (8, 11)
    ends = {
        "uplift": (0.0, 10.0), "lag": (0.0, 10.0), "wet_cohesion": (0.0, 20.0), "plant_drag": (0.0, 1.0),
        "plant_cover": (0.0, 1.0), "plant_trapping": (0.0, 4.0), "gust_speed": (0.0, 1.0), "suspension": (0.0, 0.01),
        "deposition": (0.0, 1.0), "abrasion": (0.0, 100.0),
    }  # fmt: skip
    for relief in (0.0, 20.0, 500.0):
        for name, (lowest, highest) in ends.items():
            others = {other: low_end if low else high_end for other, (low_end, high_end) in ends.items()}
            for value in (lowest, highest):
                for surface in (0.0, 1.0):
                    land = Land(hills(*shape, relief), patches(*shape), 3.0, np.full((*shape, STRIDE), surface, "f4"))
                    before = Land(land.bedrock, land.mix)
                    settings = {**STRONG, **others, name: value, "wrap": low, "count": 20, "longest_path": 300}
                    assert_sound(before, land, land.blow(**settings))


def test_no_wind_moves_nothing() -> None:
    land = Land(hills(24, 30), patches(24, 30), surface=lawns(24, 30))
    before = land.bits()
    totals = land.blow(wind_speed=0.0, inflow=1.0)
    assert land.bits() == before
    assert totals.steps == 0
    assert not np.array(totals.moved[:3]).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_film_thinner_than_any_number_and_bad_traces_leave_no_nan(bad: float) -> None:
    land = Land(hills(40, 40), np.full((40, 40, 4), 1e-310), surface=np.zeros((40, 40, STRIDE), np.float32))
    assert_sound(Land(land.bedrock, land.mix), land, land.blow(**STRONG))
    land.surface[20, 20] = bad
    land.blow(**{**STRONG, "count": 2000})
    assert np.isfinite(land.ground).all()
    assert np.isfinite(land.mix).all()


def test_surfaces_and_fields_of_another_form_are_refused() -> None:
    land = sheet({SAND: 1.0})
    for bad in (np.zeros((24, 90, STRIDE)), np.zeros((24, 90, 2), np.float32), np.zeros((90, 24, STRIDE), np.float32)):
        land.surface = bad
        with pytest.raises(ValueError, match="C-contiguous float32"):
            land.blow()


FLYING: dict[str, Any] = {**LEVEL, "deposition": 0.05}


def far(land: Land, kind: int, source: int) -> float:
    """The mean way of what lies downwind of a source, in cells."""
    laid = land.mix[:, source:, kind].sum(0)
    return float(np.average(np.arange(len(laid)), weights=laid))


def patch(kinds: dict[int, float], rows: int = 24, columns: int = 160, source: int = 12) -> Land:
    """Level rock with loose material in a strip across the wind."""
    land = sheet(kinds, rows, columns)
    land.mix[:, :4] = land.mix[:, source:] = 0.0
    return Land(land.bedrock, land.mix)


def test_lift_carries_dust_far_and_lets_sand_hop() -> None:
    """Dust goes up and is carried far; sand comes down again, the farther the more it is lifted; gravel lies."""
    ways: dict[float, tuple[float, float]] = {}
    for lift in (0.001, 0.004):
        land = patch({CLAY: 0.4, SAND: 0.4, GRAVEL: 0.2})
        gravel = land.mix[..., GRAVEL].copy()
        for cycle in range(8):
            assert land.blow(cycle, **{**FLYING, "lift": lift}).failed_row == -1
        ways[lift] = far(land, CLAY, 12), far(land, SAND, 12)
        assert np.array_equal(land.mix[..., GRAVEL], gravel)
    (dust, sand), (high_dust, high_sand) = ways[0.001], ways[0.004]
    assert dust > 3.0 * sand and high_dust > 1.5 * high_sand
    assert high_sand > 1.5 * sand and high_dust > sand


def test_a_wind_that_remembers_gathers_in_streets() -> None:
    """Over level sand with gusts to all sides, what flies keeps to the ways of what flew before."""
    uneven = {}
    for memory in (0.0, 1.5):
        land = sheet({SAND: 1.0}, rows=48, columns=64, depth=5.0)
        land.streets = np.zeros((48, 64, 2), np.float32)
        for cycle in range(150):
            land.blow(cycle, **{**LEVEL, "count": 60, "gusts": 20.0, "memory": memory, "wrap": True})
        across = land.airborne.mean(1)
        uneven[memory] = float(across.std() / across.mean())
    assert uneven[1.5] > 1.3 * uneven[0.0]

"""Drops on varied ground: loads of several kinds, strata, roots that hold, ground that soaks."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels import droplets
from kernels.droplets import DropletTotals, StandingWater, erode, new_flow
from kernels.materials import Materials, one_kind
from kernels.random import stream, uniform
from kernels.standing import LAKE
from kernels.surface import ROOTS, STRIDE, WETNESS
from tests.kernels import reference_droplets as reference
from tests.kernels.parameters import droplet_parameters
from tests.kernels.terrain import hills, soil
from tests.nets.cases import covered, tried

Layer = NDArray[np.float64]

CLAY, GRAVEL, SAND = range(3)
KINDS = 3
SOFT, HARD = range(2)


def materials(shape: tuple[int, int], kinds: int = KINDS, **properties: Any) -> Materials:
    """Clay, gravel that wears to sand, and sand, or as many plain kinds, on hard and soft rock by turns."""
    cells = shape[0] * shape[1]
    few = {
        "erodibility": np.array([0.8, 0.3, 1.0]),
        "abrasion": np.array([0.6, 0.1, 0.2]),
        "deposition": np.array([0.2, 3.0, 1.0]),
        "worn": np.array([CLAY, SAND, SAND]),
        "rock_worn": np.array([CLAY, SAND]),
    }
    if kinds != KINDS:
        few = dict.fromkeys(("erodibility", "abrasion", "deposition"), np.ones(kinds)) | {
            "worn": np.arange(kinds),
            "rock_worn": np.zeros(2, np.int64),
        }
    known: dict[str, Any] = {
        "kinds": kinds,
        "strata": np.array([SOFT, HARD] * 20, np.uint8),
        "steps_per_metre": 0.5,
        "rise": np.full((1, cells), 22.0, np.float32),
        "rock_erodibility": np.array([1.0, 0.1]),
    }
    return one_kind(np.zeros(cells * kinds))._replace(**{**known, **few, **properties})


class Land:
    """A map of several kinds, and cycles of drops over it."""

    def __init__(self, bedrock: Layer, mix: Layer, cell_size: float = 1.0, **properties: Any) -> None:
        self.bedrock = bedrock.copy()
        self.materials = materials(bedrock.shape, mix.shape[2], mix=mix.reshape(-1).copy(), **properties)
        self.sediment = ordered_sum(self.mix)
        self.ground = self.bedrock + self.sediment
        self.cell_size = cell_size
        self.flow = new_flow(*bedrock.shape)
        self.moisture = np.zeros_like(bedrock)
        self.surface: NDArray[np.float32] | None = None
        self.standing: StandingWater | None = None

    @property
    def mix(self) -> Layer:
        return self.materials.mix.reshape(*self.bedrock.shape, self.materials.kinds)

    def erode(self, cycle: int = 0, seed: int = 1, **parameters: Any) -> DropletTotals:
        layers = (self.bedrock, self.sediment, self.ground, self.materials)
        more = {"flow": self.flow, "standing": self.standing, "surface": self.surface, "moisture": self.moisture}
        return erode(*layers, self.cell_size, seed, cycle, droplet_parameters(**parameters), **more)

    def masses(self) -> NDArray[np.float64]:
        """Of each kind."""
        masses: NDArray[np.float64] = self.mix.sum(axis=(0, 1))
        return masses

    def bits(self) -> bytes:
        parts = (self.bedrock, self.sediment, self.ground, self.mix, self.flow, self.moisture)
        return b"".join(part.tobytes() for part in parts)


def ordered_sum(mix: Layer) -> Layer:
    total = np.zeros(mix.shape[:2])
    for kind in range(mix.shape[2]):
        total += mix[..., kind]
    return total


def patches(shape: tuple[int, int], depth: float = 1.0, kinds: int = KINDS) -> Layer:
    """A patchy mix, with bare rock between."""
    return np.stack([soil(*shape, depth, seed=kind) for kind in range(kinds)], axis=-1)


def surface_of(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Roots here, wet ground there."""
    surface = np.zeros((*shape, STRIDE), np.float32)
    surface[..., ROOTS] = hills(*shape, 1.0, seed=8)
    surface[..., WETNESS] = hills(*shape, 1.0, seed=9)
    return surface


def assert_sound(land: Land) -> None:
    assert np.array_equal(land.sediment, ordered_sum(land.mix)), "the sum of the kinds, to the last bit"
    assert np.array_equal(land.ground, land.bedrock + land.sediment)
    assert (land.mix >= 0.0).all()


def assert_no_kind_is_lost(before: NDArray[np.float64], land: Land, totals: DropletTotals) -> None:
    moved = totals.moved
    into = np.zeros(len(before))
    np.add.at(into, land.materials.worn, moved.worn)
    expected = before + moved.from_rock - moved.off_map - moved.worn + into
    np.testing.assert_allclose(land.masses(), expected, rtol=1e-12, atol=1e-12 * (1.0 + before.sum()))


def start_of(cycle: int, shape: tuple[int, int], particle: int = 0) -> tuple[float, float]:
    key = np.uint64(stream(1, droplets._PROCESS, cycle))
    return uniform(key, 2 * particle) * shape[0], uniform(key, 2 * particle + 1) * shape[1]


@pytest.mark.parametrize("seed", [0, pytest.param(5, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("relief", "cell_size", "parameters"),
    [
        (30.0, 1.0, {"attrition": 900.0, "longest_path": 100}),
        (90.0, 20.0, {"root_hold": 0.9, "root_deposition": 0.0, "longest_path": 100}),
        (90.0, 20.0, {"attrition": 30.0, "root_hold": 0.8, "soaking": 0.02, "water": 0.3, "longest_path": 100}),
        (20.0, 1.0, {"deposition_rate": 0.7, "longest_path": 40, "minimum_volume": 0.9, "evaporation": 0.01}),
        (20.0, 1.0, {"river_transport": 3.0, "attrition": 20.0, "longest_path": 100}),
    ],
)
def test_agrees_with_the_plain_reference(
    relief: float, cell_size: float, parameters: dict[str, Any], seed: int
) -> None:
    """Drop by drop, across tiles, to the edge and beyond, through hard and soft strata.

    None goes on for long, as one that goes round and round in a pit makes much of rounding. So does, later, one that
    comes to a cell that was filled up to just the next one.
    """
    shape = (40, 52)
    land = Land(hills(*shape, relief, seed), patches(shape, 0.02 * relief), cell_size)
    land.surface = surface_of(shape)
    plain = reference.Map(
        land.bedrock.copy(), land.sediment.copy(), cell_size, materials=land.materials, mix=land.mix.copy()
    )
    plain.roots, plain.wetness = land.surface[..., ROOTS], land.surface[..., WETNESS]
    if "river_transport" in parameters:  # rivers of up to five drops
        rivers = (5.0 * hills(*shape, 1.0, seed=7)).astype(np.float32)
        land.flow[..., droplets.FLOW.index("discharge")] = plain.discharge[:] = rivers
    # What passes is float32.
    rounding, part = (1e-6, 1e-4) if "river_transport" in parameters else (1e-10, 1e-9)
    sums = np.zeros((3, KINDS))
    water_off_edge = 0.0
    for cycle in range(20):
        totals = land.erode(cycle, count=1, **parameters)
        sums += [totals.moved.from_rock, totals.moved.off_map, totals.moved.worn]
        water_off_edge += totals.water_off_edge
        reference.corrected(plain, start_of(cycle, shape), reference.Parameters(**parameters))
        np.testing.assert_allclose(land.bedrock, plain.bedrock, rtol=0.0, atol=rounding * relief)
        np.testing.assert_allclose(land.mix, plain.mix, rtol=0.0, atol=rounding * relief)
        assert_sound(land)
    np.testing.assert_allclose(sums[0], plain.kinds_from_rock, rtol=part, atol=1e-12)
    np.testing.assert_allclose(sums[1], plain.kinds_off_edge, rtol=part, atol=1e-12)
    np.testing.assert_allclose(sums[2], plain.kinds_worn, rtol=part, atol=1e-12)
    np.testing.assert_allclose(land.moisture, plain.moisture, rtol=part, atol=1e-12)
    assert (land.moisture.sum() > 0.0) == ("soaking" in parameters)
    assert water_off_edge == pytest.approx(parameters.get("water", 1.0) * plain.water_off_edge, rel=part)
    assert sums[0, CLAY] > 0.0 and sums[0, SAND] > 0.0, "both rocks were worn"
    assert (sums[2, GRAVEL] > 0.0) == ("attrition" in parameters)
    assert sums[2, CLAY] == sums[2, SAND] == 0.0


@covered(shape=[(8, 8), (8, 200), (61, 47), (130, 257)], kinds=[2, KINDS, 16], river_transport=[0.0, 3.0])
def test_no_kind_is_lost(shape: tuple[int, int], kinds: int, river_transport: float) -> None:
    # Many kinds lie thinner, or none of them would leave any rock bare.
    land = Land(hills(*shape), patches(shape, 3.0 / kinds**2, kinds))
    level = np.full(shape, np.quantile(land.ground, 0.1))
    standing = (land.ground < level).astype(np.uint8) * LAKE
    land.standing = StandingWater(standing, np.maximum(level, land.ground), np.zeros(shape), walls=False)
    rock, worn = land.bedrock.sum(), 0.0
    for cycle in range(4):
        before = land.masses()
        totals = land.erode(cycle, count=400, attrition=100.0, river_transport=river_transport)
        assert_no_kind_is_lost(before, land, totals)
        assert_sound(land)
        worn += sum(totals.moved.from_rock)
    assert worn > 0.0
    assert rock - land.bedrock.sum() == pytest.approx(worn, rel=1e-9)


@tried(40)
@given(
    rows=st.integers(8, 40),
    columns=st.integers(8, 40),
    relief=st.sampled_from([0.0, 1e-6, 5.0, 3000.0]),
    cell_size=st.sampled_from([0.01, 1.0, 10_000.0]),
    depth=st.sampled_from([0.0, 1e-9, 0.1]),
    factor=st.sampled_from([0.0, 1e-6, 1.0, 100.0]),
    erodibility=st.sampled_from([0.0, 1.0]),
    time_step=st.sampled_from([0.1, 2.0]),
    deposition_rate=st.sampled_from([0.0, 0.1, 0.8]),
    evaporation=st.sampled_from([0.0, 0.1]),
    rock_erodibility=st.sampled_from([0.0, 1.0]),
    longest_path=st.sampled_from([1, 300]),
    attrition=st.sampled_from([0.0, 1000.0]),
    soaking=st.sampled_from([0.0, 1.0]),
    root_hold=st.sampled_from([0.0, 1.0]),
    root_deposition=st.sampled_from([0.0, 1.0]),
)
def test_no_kind_is_lost_at_the_ends_of_the_ranges(
    rows: int,
    columns: int,
    relief: float,
    cell_size: float,
    depth: float,
    factor: float,
    erodibility: float,
    **parameters: Any,
) -> None:
    shape = (rows, columns)
    land = Land(
        hills(*shape, relief),
        patches(shape, depth * relief),
        cell_size,
        deposition=np.array([factor, 1.0, 100.0]),
        abrasion=np.array([factor, factor, 1.0]),
        erodibility=np.array([erodibility, 1.0, erodibility]),
    )
    land.surface = surface_of(shape)
    before = land.masses()
    totals = land.erode(count=80, **parameters)
    assert totals.failed_row == -1
    assert np.isfinite(land.mix).all()
    assert_sound(land)
    assert_no_kind_is_lost(before, land, totals)
    gone = totals.evaporated + totals.water_off_edge + totals.water_soaked
    assert totals.rained == pytest.approx(gone, rel=1e-9)
    assert totals.water_soaked == pytest.approx(land.moisture.sum(), rel=1e-9, abs=1e-12)
    assert (totals.water_soaked > 0.0) == (parameters["soaking"] > 0.0)


@pytest.mark.parametrize("shape", [(64, 64), (61, 147), (257, 130)])
def test_same_bits_on_one_thread_and_two(shape: tuple[int, int], two_threads: int) -> None:
    results = []
    for threads in (1, two_threads, two_threads):
        numba.set_num_threads(threads)
        land = Land(hills(*shape), patches(shape))
        land.surface = surface_of(shape)
        totals = [land.erode(cycle, count=600, attrition=50.0, soaking=0.01, root_hold=0.9) for cycle in range(3)]
        results.append((land.bits(), totals))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("cell_size", [1.0, 20.0])
def test_kinds_with_all_factors_1_are_as_one_sort(cell_size: float) -> None:
    shape = (48, 60)
    rock, loose = hills(*shape, 20.0 * cell_size), soil(*shape, 0.5 * cell_size)
    land = Land(rock, loose[..., None] * [0.25, 0.75], cell_size, rock_erodibility=np.ones(2))
    bedrock, sediment, ground = rock.copy(), loose.copy(), rock + loose
    for cycle in range(30):
        of_two = land.erode(cycle, count=1)
        layers = (bedrock, sediment, ground, one_kind(sediment))
        plain = erode(*layers, cell_size, 1, cycle, droplet_parameters(count=1))
        np.testing.assert_allclose(land.sediment, sediment, rtol=0.0, atol=1e-10 * cell_size)
        np.testing.assert_allclose(land.bedrock, bedrock, rtol=0.0, atol=1e-10 * cell_size)
        assert of_two[1:7] == pytest.approx(plain[1:7], rel=1e-9, abs=1e-12)
        assert sum(of_two.moved.off_map) == pytest.approx(plain.moved.off_map[0], rel=1e-9, abs=1e-12)
        assert of_two.moved.from_rock == pytest.approx((*plain.moved.from_rock, 0.0), rel=1e-9)
    assert not np.array_equal(bedrock, rock)


def test_four_kinds_are_to_the_bit_as_among_five_of_which_one_is_nowhere() -> None:
    """Four are exchanged in one register, and other numbers of them one after the other."""
    shape, lands = (48, 60), []
    mix = patches(shape, 0.5, 5)
    mix[..., 4] = 0.0
    of_each = {"erodibility": np.array([0.8, 0.3, 1.0, 0.5, 1.0]), "deposition": np.array([0.2, 3.0, 1.0, 0.6, 1.0])}
    for kinds in (4, 5):
        land = Land(hills(*shape), mix[..., :kinds], **{name: values[:kinds] for name, values in of_each.items()})
        for cycle in range(3):
            land.erode(cycle, count=300)
        lands.append((land.bedrock, land.sediment, np.ascontiguousarray(land.mix[..., :4])))
    assert all(one.tobytes() == other.tobytes() for one, other in zip(*lands, strict=True))
    assert not np.array_equal(lands[0][2], mix[..., :4])


def test_nothing_on_the_ground_is_as_bare_ground_to_the_bit() -> None:
    """The step for covered ground does the same as the one for bare ground where nothing is on it."""
    shape = (61, 147)
    results = []
    for surface in (None, np.zeros((*shape, STRIDE), np.float32)):
        bedrock, sediment = hills(*shape), soil(*shape)
        layers = (bedrock, sediment, bedrock + sediment)
        parameters = droplet_parameters(count=500, root_hold=0.9)
        totals = [erode(*layers, one_kind(sediment), 1.0, 1, cycle, parameters, surface=surface) for cycle in range(3)]
        results.append((b"".join(layer.tobytes() for layer in layers), totals))
    assert results[0] == results[1]


def plane(rows: int, columns: int, slope: float) -> Layer:
    """Ground that falls to the south."""
    return np.ascontiguousarray(np.repeat(slope * np.arange(rows, 0.0, -1.0)[:, None], columns, axis=1))


def test_roots_hold_the_ground() -> None:
    shape = (60, 40)
    worn = []
    for roots in (0.0, 0.5, 1.0):
        land = Land(hills(*shape), patches(shape))
        land.surface = np.zeros((*shape, STRIDE), np.float32)
        land.surface[..., ROOTS] = roots
        start = land.ground.copy()
        land.erode(count=400, root_hold=0.9)
        worn.append(np.abs(land.ground - start).sum())
    assert worn[0] > 1.3 * worn[1] > 1.3 * 1.3 * worn[2] > 0.0
    land = Land(hills(*shape), patches(shape))
    land.surface = np.ones((*shape, STRIDE), np.float32)
    start = land.ground.copy()
    land.erode(count=400, root_hold=1.0)
    assert np.array_equal(land.ground, start), "where nothing comes loose"


def test_roots_that_hold_let_sediment_settle_if_asked() -> None:
    """Where roots let nothing go, a load that comes from bare ground is put down or carried through."""
    shape = (60, 40)
    ground = np.linspace(30.0, 0.0, 60)[:, None] ** 2 / 30.0 + np.zeros(shape)  # steep, then ever less so
    settled = []
    for root_deposition in (1.0, 0.0):
        land = Land(ground, patches(shape))
        land.surface = np.zeros((*shape, STRIDE), np.float32)
        land.surface[20:, :, ROOTS] = 1.0
        start = land.ground.copy()
        land.erode(count=400, root_hold=1.0, root_deposition=root_deposition)
        change = (land.ground - start)[22:]
        assert change.min() >= -1e-12, "nothing comes loose"
        settled.append(change.sum())
    assert settled[1] > 3.0 * max(settled[0], 0.1), "where drops end alone; everywhere"


def test_ground_soaks_up_water_where_it_is_dry() -> None:
    shape = (60, 40)
    bedrock = plane(*shape, 0.2)
    land = Land(bedrock, np.zeros((*shape, KINDS)))
    land.surface = np.zeros((*shape, STRIDE), np.float32)
    land.surface[:, :20, WETNESS] = 1.0
    totals = land.erode(count=500, soaking=0.05, water=0.3, deposition_rate=0.0)
    assert land.moisture[:, :20].sum() == 0.0 < land.moisture[10:, 20:].sum(axis=0).min()
    assert totals.water_soaked == pytest.approx(land.moisture.sum(), rel=1e-12)
    assert totals.rained == pytest.approx(totals.evaporated + totals.water_off_edge + totals.water_soaked, rel=1e-12)


def test_hard_strata_are_worn_less_than_soft_ones() -> None:
    """Steps are left on a slope where hard rock comes to the surface: it keeps more than the soft beside it."""
    shape = (120, 48)
    start = plane(*shape, 0.5)
    land = Land(start, np.zeros((*shape, KINDS)), steps_per_metre=0.1, rise=np.full((1, start.size), 60.0, np.float32))
    for cycle in range(30):
        land.erode(cycle, count=300, rock_erodibility=1.0)
    worn = (start - land.bedrock)[8:-8, 4:-4]
    was_hard = (np.floor((60.0 - start[8:-8, 4:-4]) * 0.1).astype(int) % 2) == HARD
    assert worn[~was_hard].mean() > 2.0 * worn[was_hard].mean() > 0.0


def test_a_fan_gets_finer_downstream() -> None:
    """Drops of gravel, sand and clay come down a steep valley to a plain: first lies the gravel, the clay goes far."""
    rows, columns = 110, 41
    row, column = np.mgrid[:rows, :columns].astype(float)
    across = np.abs(column - 20.0)
    bedrock = np.where(row < 40.0, 20.0 + 0.5 * (40.0 - row) + 0.4 * across, 20.0 - 0.02 * (row - 40.0))
    mix = np.zeros((rows, columns, KINDS))
    mix[:36] = 2.0
    land = Land(bedrock, mix, rock_erodibility=np.zeros(2))
    for cycle in range(30):
        land.erode(cycle, count=200, longest_path=400)
    fan = land.mix[42:] - mix[42:]
    place = np.arange(len(fan))[:, None]
    far = [float((fan[..., kind] * place).sum() / fan[..., kind].sum()) for kind in (GRAVEL, SAND, CLAY)]
    assert far[0] < far[1] < far[2]
    coarse = fan[:10, :, GRAVEL].sum() / fan[:10].sum()
    assert coarse > 2.0 * fan[30:, :, GRAVEL].sum() / fan[30:].sum()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_cell_is_named_and_not_spread(bad: float) -> None:
    shape = (64, 64)
    land = Land(hills(*shape), patches(shape))
    land.mix[30, 20, SAND] = land.sediment[30, 20] = land.ground[30, 20] = bad
    totals = land.erode(count=3000)
    assert abs(totals.failed_row - 30) <= 1 and abs(totals.failed_column - 20) <= 1
    assert np.count_nonzero(~np.isfinite(land.ground)) == np.count_nonzero(~np.isfinite(land.mix)) == 1

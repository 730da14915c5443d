"""Maps of flowing water, what they do to the drops, and drops that end in lakes, in the sea, at walls."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels import droplets
from kernels.droplets import DropletTotals, StandingWater, erode, new_flow, remember
from kernels.materials import one_kind
from kernels.random import stream, uniform
from kernels.rivers import drain
from kernels.routing import way_to_outlet
from kernels.standing import DRY, LAKE, SEA
from tests.kernels import reference_droplets as reference
from tests.kernels.parameters import droplet_parameters
from tests.kernels.terrain import hills, soil

Layer = NDArray[np.float64]
RIVERS = {"river_transport": 3.0, "water": 0.2}
COUPLED = {"stream_friction": 0.5, "stream_evaporation": 0.2, "stream_stop": 0.01, "momentum": 0.3, "water": 0.2}


class Land:
    """A map with maps of flowing water, and lakes and sea up to given levels."""

    def __init__(self, bedrock: Layer, sediment: Layer | None = None, *, lakes: Layer | None = None) -> None:
        self.bedrock = bedrock.copy()
        self.sediment = np.zeros_like(bedrock) if sediment is None else sediment.copy()
        self.ground = self.bedrock + self.sediment
        self.flow = new_flow(*bedrock.shape)
        self.level = self.ground.copy() if lakes is None else np.fmax(self.ground, lakes)
        self.standing = np.where(self.level > self.ground, LAKE, DRY).astype(np.uint8)
        self.water = np.zeros_like(bedrock)
        self.walls = False

    def erode(
        self,
        cycle: int = 0,
        seed: int = 1,
        sources: Layer | None = None,
        rain: NDArray[np.float32] | None = None,
        with_water: bool = True,
        **parameters: Any,
    ) -> DropletTotals:
        standing = StandingWater(self.standing, self.level, self.water, self.walls) if with_water else None
        layers = (self.bedrock, self.sediment, self.ground, one_kind(self.sediment))
        more = {"flow": self.flow, "standing": standing, "sources": sources, "rain": rain}
        return erode(*layers, 1.0, seed, cycle, droplet_parameters(**parameters), **more)

    def passed(self, kind: str = "passed") -> NDArray[np.float32]:
        return self.flow[..., droplets.FLOW.index(kind)]

    def bits(self) -> bytes:
        parts = (self.bedrock, self.sediment, self.ground, self.water, self.flow)
        return b"".join(part.tobytes() for part in parts)


def lakes_below(ground: Layer, part: float) -> Layer:
    """Water over the lowest part of a map, in two lakes of different height; NaN where there is none."""
    level = np.where(np.arange(ground.shape[1]) < ground.shape[1] // 2, 1.0, 1.2) * np.quantile(ground, part)
    return np.where(ground < level, level, np.nan)


def follow(plain: reference.Map, land: Land) -> None:
    """Go on from the same bits: else rounding, which differs from machine to machine, would grow from drop to drop."""
    plain.bedrock[:], plain.sediment[:], plain.ground[:] = land.bedrock, land.sediment, land.ground
    plain.stream[:], plain.discharge[:] = land.passed("stream"), land.passed("discharge")
    plain.momentum[..., 0], plain.momentum[..., 1] = land.passed("momentum_south"), land.passed("momentum_east")


@pytest.mark.parametrize("walls", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [{}, COUPLED, {"momentum": 1.0, "evaporation": 0.05, "water": 2.0, "friction": 0.3}, RIVERS, {**COUPLED, **RIVERS}],
)
def test_agrees_with_the_plain_reference(parameters: dict[str, Any], walls: bool) -> None:
    """Drop by drop: rain and sources, streams that act on the drops, lakes and sea where they end."""
    shape, rate = (40, 52), 0.3
    rock, loose = hills(*shape, 20.0), soil(*shape, 0.4)
    land = Land(rock, loose, lakes=lakes_below(rock + loose, 0.1))
    land.standing[:20][land.standing[:20] == LAKE] = SEA
    land.walls = walls
    plain = reference.Map(rock.copy(), loose.copy(), 1.0, walls=walls)
    plain.level = np.where(land.standing > DRY, land.level, np.nan)
    plain.is_sea = land.standing == SEA
    p = reference.Parameters(**parameters)
    if p.river_transport:  # rivers of up to five drops
        land.passed("discharge")[:] = plain.discharge[:] = 5.0 * p.water * hills(*shape, 1.0, seed=5)
    totals = []
    # Later, a cell is filled up to just the next one, and rounding tells where a drop goes.
    for cycle in range(12 if parameters else 20):
        sources = np.array([[3.5 + 0.5 * cycle, 7.25, 0.4, -0.3, 0.7]])
        totals.append(land.erode(cycle, count=1, **parameters))
        totals.append(land.erode(cycle, sources=sources, count=0, **parameters))
        key = np.uint64(stream(1, droplets._PROCESS, cycle))
        reference.corrected(plain, (uniform(key, 0) * shape[0], uniform(key, 1) * shape[1]), p)
        row, column, south, east, volume = sources[0]
        reference.corrected(plain, (row, column), p, (south, east), volume)
        np.testing.assert_allclose(land.ground, plain.ground, rtol=0.0, atol=1e-5)
        np.testing.assert_allclose(land.passed(), plain.passed[..., 0], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(land.passed("passed_south"), plain.passed[..., 1], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(land.passed("passed_east"), plain.passed[..., 2], rtol=1e-3, atol=1e-3)
        remember(land.flow, rate, p.water)
        plain.stream += rate * ((plain.passed[..., 0] > 0.0) - plain.stream)
        plain.discharge += rate * (p.water * plain.passed[..., 0] - plain.discharge)
        plain.momentum += rate * (p.water * plain.passed[..., 1:] - plain.momentum)
        plain.passed[:] = 0.0
        for name in ("stream", "discharge"):
            np.testing.assert_allclose(land.passed(name), getattr(plain, name), rtol=1e-4, atol=1e-4)
        follow(plain, land)
    np.testing.assert_allclose(land.water, p.water * plain.brought, rtol=1e-4, atol=1e-4)
    assert sum(total.water_into_sea for total in totals) == pytest.approx(p.water * plain.into_sea, rel=1e-4)
    assert sum(total.water_off_edge for total in totals) == pytest.approx(p.water * plain.water_off_edge, rel=1e-4)
    assert plain.into_sea > 0.0 and plain.brought.any()
    assert (plain.water_off_edge == 0.0) == walls
    assert sum(total.steps for total in totals) == plain.steps


@pytest.mark.parametrize("shape", [(8, 8), (8, 200), (61, 47), (130, 257)])
@pytest.mark.parametrize("walls", [False, True])
@pytest.mark.parametrize("river_transport", [0.0, 3.0])
def test_no_water_is_lost(shape: tuple[int, int], walls: bool, river_transport: float) -> None:
    rock = hills(*shape)
    land = Land(rock, soil(*shape), lakes=lakes_below(rock, 0.3))
    land.standing[: shape[0] // 3][land.standing[: shape[0] // 3] == LAKE] = SEA
    land.walls = walls
    sources = np.tile([4.5, 4.5, 0.0, 0.5, 0.25], (9, 1))
    mass = land.bedrock.sum() + land.sediment.sum()
    totals = land.erode(count=2000, sources=sources, water=0.3, river_transport=river_transport)
    gone = totals.evaporated + totals.water_off_edge + totals.water_into_sea + totals.water_kept
    assert totals.rained == pytest.approx(0.3 * 2000)
    assert gone == pytest.approx(totals.rained + 0.3 * 9 * 0.25, rel=1e-12)
    assert land.water.sum() == pytest.approx(totals.water_kept, rel=1e-12)
    assert land.bedrock.sum() + land.sediment.sum() + sum(totals.moved.off_map) == pytest.approx(mass, rel=1e-12)
    assert (totals.water_off_edge == 0.0) == walls


@pytest.mark.parametrize("shape", [(64, 64), (61, 147), (257, 130)])
def test_same_bits_on_any_number_of_threads(shape: tuple[int, int]) -> None:
    def run(threads: int) -> bytes:
        numba.set_num_threads(threads)
        rock = hills(*shape)
        land = Land(rock, soil(*shape), lakes=lakes_below(rock, 0.1))
        for cycle in range(4):
            land.erode(cycle, count=1000, sources=np.tile([9.5, 30.5, 0.0, 0.5, 0.5], (40, 1)), **COUPLED)
            remember(land.flow, 0.05, 0.2)
        return land.bits()

    available = numba.config.NUMBA_NUM_THREADS
    try:
        assert run(1) == run(available)
    finally:
        numba.set_num_threads(available)


@pytest.mark.parametrize("turned", [False, True])
def test_the_outlet_of_a_valley_carries_the_rain_on_its_catchment(turned: bool) -> None:
    rows, columns = 60, 41
    row, column = np.mgrid[:rows, :columns].astype(float)
    valley = 0.5 * np.abs(column - columns // 2) + 0.3 * (rows - row)
    land = Land(np.ascontiguousarray(valley.T if turned else valley))
    totals = land.erode(count=3000, water=0.2, evaporation=0.0, deposition_rate=0.0, friction=0.3)
    assert totals.water_off_edge == pytest.approx(totals.rained, rel=1e-3), "all of it arrives"
    remember(land.flow, 1.0, 0.2)
    discharge = land.passed("discharge").T if turned else land.passed("discharge")
    outlet = slice(columns // 2 - 3, columns // 2 + 4)  # drops swing from one flank to the other
    for last in (20, 40, 59):
        caught = totals.rained * (last + 0.5) / rows
        # The fall line on a flank goes 0.3 down the valley for each 0.5 across, so some is still on its way to the bed.
        on_the_flanks = totals.rained * 0.5 * (0.3 / 0.5) * (columns // 2) / rows
        assert discharge[last].max() <= 1.1 * caught
        assert caught - 1.2 * on_the_flanks <= discharge[last, outlet].sum() <= 1.2 * caught
    momentum = land.passed("momentum_east").T if turned else land.passed("momentum_south")
    assert (momentum[20:, columns // 2] > 0.0).all()


def test_a_stream_is_how_often_drops_pass() -> None:
    flow = new_flow(2, 3)
    for cycle in range(200):
        flow[0, 0, droplets.FLOW.index("passed")] = 2.0
        flow[0, 0, droplets.FLOW.index("passed_south")] = -1.0
        flow[0, 1, droplets.FLOW.index("passed")] = cycle % 2
        remember(flow, 0.05, 0.5)
    stream, discharge, south = flow[..., 0], flow[..., 1], flow[..., 2]
    np.testing.assert_allclose(stream[0], [1.0, 0.5, 0.0], atol=0.02)
    np.testing.assert_allclose(discharge[0], [1.0, 0.25, 0.0], atol=0.02)
    np.testing.assert_allclose(south[0], [-0.5, 0.0, 0.0], atol=0.02)
    assert not flow[..., 4:].any()


@pytest.mark.parametrize(("stop", "last"), [(0.01, 9), (0.0, 19)])
def test_a_slow_drop_ends_in_the_first_cell_of_a_stream(stop: float, last: int) -> None:
    """As in the article, the stream is that of the cell which the drop enters."""
    land = Land(np.tile(-1e-4 * np.arange(20.0), (8, 1)))
    land.passed("stream")[:, 10:] = 1.0
    drop = np.array([[4.5, 3.5, 0.0, 2.0, 1.0]])  # a cell in a step
    land.erode(sources=drop, count=0, stream_stop=stop, friction=0.0, evaporation=0.0, deposition_rate=0.0)
    assert np.flatnonzero(land.passed()[4]).tolist() == list(range(3, last + 1))


def test_rain_falls_where_its_map_and_altitude_say() -> None:
    """Drops that go nowhere leave their water where they fell."""
    shape = (40, 60)
    rain = np.zeros(shape, np.float32)
    rain[:, 15:30], rain[:, 30:] = 0.5, 1.0
    land = Land(np.zeros(shape))
    land.erode(count=9000, rain=rain, evaporation=0.0)
    fell = land.water.sum(axis=0)
    assert fell[:15].sum() == 0.0
    assert fell[30:].sum() / fell[15:30].sum() == pytest.approx(4.0, rel=0.1)  # twice the rain on twice the width

    heights = np.linspace(0.0, 30.0, 60)
    steps = Land(np.tile(heights, (40, 1)), lakes=np.tile(heights + 1.0, (40, 1)))  # a drop stays where it falls
    steps.erode(count=20_000, rain_by_altitude=1.0)
    fell = steps.water.sum(axis=0)
    assert np.corrcoef(fell, heights)[0, 1] > 0.97
    assert fell[:10].sum() < 0.05 * fell[-10:].sum() * 2.0
    assert fell.sum() == pytest.approx(20_000)


def sinuosity(seed: int, momentum: float) -> float:
    """Length of a river over that of its valley, after 300 cycles in a straight channel on a gentle plain of gravel."""
    rows, columns = 160, 80
    row, column = np.mgrid[:rows, :columns].astype(float)
    roughness = 0.02 * np.random.default_rng(seed).random((rows, columns))
    plain = 0.05 * (rows - row) + roughness - 0.3 * np.exp(-(((column - columns / 2) / 2.0) ** 2))
    land = Land(plain - 5.0, np.full(plain.shape, 5.0))
    spring = np.tile([0.5, columns / 2 + 0.5, 0.5, 0.0, 1.0], (60, 1))
    spring[:, 1] += np.linspace(-1.0, 1.0, 60)
    for cycle in range(300):
        land.erode(
            cycle, seed, spring, count=0, with_water=False, momentum=momentum, water=0.2,
            evaporation=0.0, friction=0.1, stream_friction=0.5, longest_path=2000,
        )  # fmt: skip
        remember(land.flow, 0.05, 0.2)
    discharge = land.passed("discharge")[19 : rows - 19]
    middle = (discharge * column[19 : rows - 19]).sum(axis=1) / discharge.sum(axis=1)
    middle = np.convolve(middle, np.ones(3) / 3.0, "valid")
    return float(np.hypot(np.diff(middle), 1.0).mean())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_momentum_bends_a_straight_channel(seed: int) -> None:
    straight, bent = sinuosity(seed, momentum=0.0), sinuosity(seed, momentum=0.3)
    assert straight < 1.015
    assert bent - 1.0 > 2.5 * (straight - 1.0)


def test_a_drop_wears_no_shore_below_the_surface_of_its_lake() -> None:
    cliff = np.zeros((16, 16))
    cliff[:, :8] = 10.0 + 0.1 * np.arange(8, 0, -1)
    cliff[:, 8:] = -50.0
    lake = np.where(cliff < 0.0, 10.0, np.nan)
    flooded, dry = Land(cliff, lakes=lake), Land(cliff)
    for cycle in range(50):
        flooded.erode(cycle, count=100)
        dry.erode(cycle, count=100)
    assert flooded.ground[:, 7].min() > 9.9
    assert dry.ground[:, 7].min() < 0.0


def test_load_settles_where_a_stream_enters_a_lake() -> None:
    slope = np.tile(np.concatenate([np.linspace(30.0, 10.0, 40), np.full(24, 4.0)]), (16, 1))
    land = Land(slope, np.full(slope.shape, 0.5), lakes=np.where(slope < 9.0, 9.0, np.nan))
    before = land.sediment.copy()
    for cycle in range(30):
        totals = land.erode(cycle, count=200, evaporation=0.0)
        assert totals.water_kept > 0.0
    grown = (land.sediment - before).sum(axis=0)
    assert grown[40:43].sum() > 1.0, "a delta grows at the shore"
    assert abs(grown[46:]).sum() < 0.01 * grown[40:43].sum(), "none of it reaches the middle"


@pytest.mark.parametrize("evaporation", [0.0, 1.0])
@pytest.mark.parametrize("water", [0.001, 10.0])
@pytest.mark.parametrize("momentum", [0.0, 1.0])
@pytest.mark.parametrize("level", [-1.0, 2.0])
def test_extremes_break_nothing(evaporation: float, water: float, momentum: float, level: float) -> None:
    """Level −1: no lake at all; 2: all is sea."""
    rock = hills(24, 40)
    land = Land(rock, soil(24, 40), lakes=np.full((24, 40), level * rock.max()))
    land.standing[land.standing == LAKE] = SEA
    parameters = {"evaporation": evaporation, "water": water, "momentum": momentum, "time_step": 2.0, "friction": 0.8}
    for cycle in range(5):
        totals = land.erode(cycle, count=300, **{**COUPLED, **parameters})
        remember(land.flow, 1.0, water)
        gone = totals.evaporated + totals.water_off_edge + totals.water_into_sea + totals.water_kept
        assert gone == pytest.approx(totals.rained, rel=1e-12)
        assert totals.water_into_sea == pytest.approx(totals.rained if level > 0.0 else 0.0)
    assert np.isfinite(land.ground).all() and np.isfinite(land.flow).all()


def filled_depth(ground: Layer) -> float:
    """Metres that would have to be filled on average for everything to drain."""
    return float((drain(ground, 1.0, -np.inf).filled - ground).mean())


def rained_on(ground: Layer, cycles: int, drops: int, **parameters: Any) -> Land:
    """A land after cycles of rain in which rivers form."""
    land = Land(ground)
    for cycle in range(cycles):
        land.erode(cycle, count=drops, with_water=False, **parameters)
        remember(land.flow, max(0.05, 1.0 / (cycle + 1)), parameters["water"])
    return land


def valleys(side: int) -> Layer:
    """Rough slopes that lead to one straight valley, which leaves the map in the south: metres, cells of 1 m."""
    i, j = np.mgrid[:side, :side].astype(float)
    plain = 0.05 * (side - 1 - i) + 0.25 * np.abs(j - side // 2)
    return np.ascontiguousarray(plain + hills(side, side, 3.0))


def test_rivers_carry_out_what_slopes_bring() -> None:
    start = valleys(96)
    lands = {k: rained_on(start, 60, 400, water=0.2, river_transport=k) for k in (0.0, 3.0)}
    fills = {k: filled_depth(land.ground) for k, land in lands.items()}
    assert fills[3.0] < 0.2 * fills[0.0]
    # The volume that was worn and stayed on the map
    stayed = {k: land.sediment.sum() / np.maximum(start - land.ground, 0.0).sum() for k, land in lands.items()}
    assert stayed[3.0] < 0.5 * stayed[0.0]
    drainage = drain(lands[3.0].ground, 1.0, -np.inf)
    mouth = np.unravel_index(np.argmax(drainage.accumulation), start.shape)
    upstream = np.argmax(np.where(drainage.routes.outlets == mouth[0] * 96 + mouth[1], drainage.routes.distances, -1.0))
    way = way_to_outlet(drainage.directions, *divmod(int(upstream), 96))
    river = way[drainage.accumulation[way[:, 0], way[:, 1]] > 400.0]
    profile = lands[3.0].ground[river[:, 0], river[:, 1]]
    assert len(profile) > 40
    assert np.diff(profile).max() < 0.02 * np.ptp(profile)


@pytest.mark.parametrize("river_transport", [0.0, 3.0])
def test_an_outlet_is_cut_and_not_dammed(river_transport: float) -> None:
    i, j = np.mgrid[:48, :24].astype(float)
    rock = np.ascontiguousarray(0.1 * (47.0 - i) + 0.2 * np.abs(j - 12.0))
    bar = np.where(i >= 46, 0.15, 0.0)
    land = Land(rock, np.ascontiguousarray(bar))
    for cycle in range(30):
        land.erode(cycle, count=300, with_water=False, water=0.2, river_transport=river_transport)
        remember(land.flow, max(0.05, 1.0 / (cycle + 1)), 0.2)
    assert land.bedrock[-1, 12] == rock[-1, 12]  # the base level
    assert (land.sediment[-1, 12] < 0.02) == (river_transport > 0.0)


def test_a_lake_fills_up_to_its_surface_and_what_is_left_goes_on() -> None:
    i, j = np.mgrid[:40, :16].astype(float)
    rock = np.ascontiguousarray(0.4 * (39.0 - i) + 0.3 * np.abs(j - 8.0))
    rock[18:21, 7:10] = rock[21, 8] - 0.05
    pond = np.full(rock.shape, np.nan)
    pond[18:21, 7:10] = rock[21, 8]
    land = Land(rock, lakes=pond)
    before = land.bedrock.sum()
    totals = land.erode(count=400, **RIVERS)
    assert land.ground[18:21, 7:10].max() < rock[21, 8] + 0.02  # what runs over the filled pond leaves a little
    assert land.sediment[18:21, 7:10].sum() > 0.0
    assert totals.water_off_edge > 0.5 * totals.rained
    mass = land.bedrock.sum() + land.sediment.sum() + sum(totals.moved.off_map)
    assert mass == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("river_transport", [0.0, 3.0])
def test_smaller_cells_are_the_same_land(river_transport: float) -> None:
    """As much water on an area, in more and smaller drops, wears as much."""

    def worn(side: int) -> float:
        i, j = np.mgrid[:side, :side] / side
        ground = np.ascontiguousarray(40.0 * (1.0 - i) + 6.0 * np.cos(4.0 * np.pi * j) * (0.2 + i))
        start, sediment, flow = ground.copy(), np.zeros_like(ground), new_flow(side, side)
        cell_size, finer = 64.0 / side, side // 64
        for cycle in range(20):
            parameters = droplet_parameters(
                count=200 * finer**2, water=0.2, longest_path=1000 * finer, river_transport=river_transport
            )
            bedrock = ground - sediment
            erode(
                bedrock, sediment, ground, one_kind(sediment), cell_size, 1, cycle, parameters,
                flow=flow, reference_cell_size=1.0,
            )  # fmt: skip
            remember(flow, 1.0 / (cycle + 1), 0.2)
        return float(np.maximum(start - ground, 0.0).sum() * cell_size**2)

    coarse, fine = worn(64), worn(128)
    assert fine == pytest.approx(coarse, rel=0.15)

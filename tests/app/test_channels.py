"""The width and migration of channels, on known flows, and in the compared presets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.channels import ChannelFigures, Channels, ChannelWatch, banks, find_channels, migration
from app.engine.simulator import Simulator
from app.model.world import World
from app.scene.scene import load_preset
from kernels.noise import fractal_noise
from kernels.standing import LAKE
from tests.app.small import simulated, small_preset
from tests.kernels.reference_hydrology import ADAPTATION, Hydrology


def flowing(discharge: NDArray[np.float64], south: float, east: float) -> World:
    """A world of drops that all go one way."""
    world = World(np.zeros(discharge.shape), np.zeros(discharge.shape), 10.0, seed=1)
    world.trace("discharge")[...] = discharge
    world.trace("momentum_south")[...] = discharge * south
    world.trace("momentum_east")[...] = discharge * east
    return world


def river(heading: float, spread: float, aside: float = 0.0, shape: tuple[int, int] = (72, 80)) -> World:
    """A river through the middle of the map, whose discharge is a bell across it. `heading` is clockwise from east."""
    south, east = math.sin(math.radians(heading)), math.cos(math.radians(heading))
    row, column = np.mgrid[: shape[0], : shape[1]] - np.array(shape)[:, None, None] / 2.0
    across = south * column - east * row - aside
    return flowing(3.0 * np.exp(-0.5 * (across / spread) ** 2), south, east)


@pytest.mark.parametrize("heading", [0.0, 30.0, 45.0, 90.0, 215.0])
@pytest.mark.parametrize("spread", [1.5, 3.0])
def test_width_and_flow_of_a_river_in_any_direction(heading: float, spread: float) -> None:
    channels = find_channels(river(heading, spread), least_flow=1.0)
    # A bell of height 1 down to a tenth on both sides
    width = math.sqrt(2.0 * math.pi) * spread * math.erf(math.sqrt(math.log(10.0)))
    inside = (np.abs(channels.rows - 36.0) < 20.0) & (np.abs(channels.columns - 40.0) < 20.0)
    assert inside.sum() >= 38
    assert channels.width[inside] == pytest.approx(width, rel=0.08)
    assert channels.flow[inside] == pytest.approx(3.0 * width, rel=0.12)
    assert channels.relative_width == pytest.approx(width / math.sqrt(3.0 * width), rel=0.1)


def test_two_rivers_are_told_apart() -> None:
    one, other = river(0.0, 1.5, -9.5), river(0.0, 1.5, 9.5)
    both = flowing(one.trace("discharge") + other.trace("discharge"), 0.0, 1.0)
    channels = find_channels(both, least_flow=1.0)
    assert len(np.unique(channels.rows)) == 2
    assert channels.typical_width == pytest.approx(find_channels(one, 1.0).typical_width, rel=0.05)


def test_small_ones_and_lakes_do_not_count() -> None:
    world = river(0.0, 2.0)
    flow = find_channels(world, 1.0).flow.max()
    assert len(find_channels(world, 1.01 * flow)) == 0
    world.standing[...] = LAKE
    assert len(find_channels(world, 1.0)) == 0
    still = flowing(np.zeros((20, 20)), 0.0, 0.0)
    assert find_channels(still, 0.0).relative_width == find_channels(still, 0.0).typical_width == 0.0


def test_migration_is_the_way_that_channels_moved() -> None:
    before, after = (find_channels(river(0.0, 2.0, aside), 1.0) for aside in (0.0, 4.0))
    assert migration(before, before) == 0.0
    assert migration(before, after) == pytest.approx(4.0)
    nowhere = Channels(*(np.empty(0) for _ in range(4)))
    assert math.isnan(migration(before, nowhere))


def test_a_channel_whose_flow_passes_the_threshold_has_not_moved() -> None:
    """Nor that of drops that come by chance: half of all migration on land that is not eroded was such."""
    channels = find_channels(river(0.0, 2.0), 1.0)
    half = (
        channels.rows < np.median(channels.rows) if np.ptp(channels.rows) > 1.0 else np.arange(len(channels)) % 2 == 0
    )
    weaker = Channels(channels.rows, channels.columns, channels.width, np.where(half, 0.6, 1.0) * channels.flow)
    threshold = 0.8 * float(channels.flow.min())
    assert len(weaker.at_least(threshold)) < len(channels)
    assert migration(channels, weaker, threshold) == 0.0
    assert migration(channels.at_least(threshold), weaker.at_least(threshold)) > 0.0


def test_banks_lie_beside_the_bed() -> None:
    channels = find_channels(river(0.0, 2.0), 1.0)
    beside = banks(channels, (72, 80))[:, 40]
    half = 0.5 * channels.typical_width
    away = np.abs(np.arange(72) - 36.0)
    assert beside.sum() == 6
    assert (away[beside] > half).all()
    assert (away[beside] <= half + 3.0).all()
    assert not banks(Channels(*(np.empty(0) for _ in range(4))), (8, 8)).any()


LEAST_FLOW = 20.0  # metres over one cell times cells


LOOKS = 2  # at channels, after the first


def watch_channels(simulator: Simulator, cycles: int, least_flow: float) -> ChannelFigures:
    """Advance a simulation, and look at its channels at the start and then so many times, in equal spans of time.

    Returns the means of all looks.
    """
    watch = ChannelWatch(least_flow)
    figures = [watch.look(simulator.world)]
    for _ in range(LOOKS):
        for _ in range(cycles // LOOKS):
            simulator.advance()
        figures.append(watch.look(simulator.world))
    return ChannelFigures(
        cells=float(np.mean([figure.cells for figure in figures])),
        width=float(np.mean([figure.width for figure in figures])),
        relative_width=float(np.mean([figure.relative_width for figure in figures])),
        migration=float(np.mean([figure.migration for figure in figures[1:]])),
        bank_wear=float(np.mean([figure.bank_wear for figure in figures[1:]])),
    )


def watched(preset: str, lands: int, side: int, grown: int, cycles: int) -> tuple[list[ChannelFigures], float]:
    """The channels of a compared preset on each of some lands, grown soon, and how dense roots are on their banks."""
    figures, roots = [], []
    for seed in range(1, lands + 1):
        scene = small_preset(preset, side, world__seed=seed, world__worn=0.0, world__past=0)
        if scene.plants.enabled:
            scene = scene.with_value("plants.rate", 8.0)
        simulator = simulated(grown, scene)
        figures.append(watch_channels(simulator, cycles, LEAST_FLOW))
        world = simulator.world
        beside = banks(find_channels(world, LEAST_FLOW), world.shape)
        roots.append(float(world.trace("roots")[beside].mean()) if scene.plants.enabled else 0.0)
    return figures, float(np.mean(roots))


def is_less(some: list[ChannelFigures], others: list[ChannelFigures], name: str, part: float = 1.0) -> bool:
    """Whether a figure is less than this part of it in the other scene on the same land.

    On one land alone chance is as large as what is looked for: in the mean of many, beyond twice its standard error,
    which a difference by chance is in one of forty cases.
    """
    ratios = [math.log(getattr(a, name) / getattr(b, name)) for a, b in zip(some, others, strict=True)]
    return float(np.mean(ratios) + 2.0 * np.std(ratios, ddof=1) / math.sqrt(len(ratios))) < math.log(part)


def kept(roots: float) -> float:
    """The part of what banks lose that they do at most where roots keep so much of the ground where they stand."""
    return 1.0 - 0.5 * load_preset("coupled-with-trees").droplets.root_hold * roots


@pytest.mark.slow
def test_trees_hold_the_banks_of_streams() -> None:
    (coupled, _), (with_trees, roots) = (watched(name, 4, 64, 150, 60) for name in ("coupled", "coupled-with-trees"))
    assert is_less(with_trees, coupled, "bank_wear", kept(roots))


@pytest.mark.nightly
def test_coupling_leaves_fewer_strong_streams_momentum_narrows_and_trees_narrow_hold_and_steady() -> None:
    (basic, _), (coupled, _), (with_momentum, _), (with_trees, roots) = (
        watched(name, 8, 96, 300, 200) for name in ("basic", "coupled", "coupled-with-momentum", "coupled-with-trees")
    )
    assert is_less(basic, coupled, "width"), "the coupling of the article alone widens channels"
    assert is_less(with_momentum, basic, "width")
    assert is_less(with_momentum, coupled, "relative_width")
    assert is_less(with_trees, coupled, "width")
    assert is_less(with_trees, coupled, "migration")
    assert is_less(with_trees, coupled, "bank_wear", kept(roots))


STRONG = 0.5  # of the cycles: where drops slow down they end, in the article


def channels_of_article(map: Hydrology, least_flow: float) -> Channels:
    """The channels of a map of the article's own listing, by the same rule as ours; flow is in drops in a cycle."""
    mean = map.flow / (1.0 - (1.0 - ADAPTATION) ** map.cycle)
    world = World(np.zeros(map.h.shape), np.zeros(map.h.shape), 10.0, seed=1)
    for part, name in enumerate(("discharge", "momentum_south", "momentum_east")):
        world.trace(name)[...] = mean[..., part]
    world.standing[map.pool > 0.0] = LAKE
    return find_channels(world, least_flow)


@pytest.mark.nightly  # the listing never changes, and what finds the channels has tests of its own
def test_the_articles_own_listing_gives_fewer_strong_streams_and_wider_channels(subtests: pytest.Subtests) -> None:
    """It says that coupling narrows streams. What becomes less is their number, and not their width at a flow."""
    for seed in (1, 2, 3, 5):
        with subtests.test(seed=seed):
            land = fractal_noise(96, 96, seed, 96.0)
            land = (land - land.min()) / np.ptp(land)
            basic, coupled = (Hydrology(land, 40.0, coupled) for coupled in (False, True))
            for map in (basic, coupled):
                map.erode(200, 100)
            assert (coupled.stream > STRONG).sum() < 0.95 * (basic.stream > STRONG).sum()
            for least_flow in (5.0, 10.0, 20.0):
                narrow, wide = (channels_of_article(map, least_flow) for map in (basic, coupled))
                assert wide.typical_width > 1.04 * narrow.typical_width
                assert wide.relative_width > 1.04 * narrow.relative_width

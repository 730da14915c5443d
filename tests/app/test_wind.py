"""Wind and cascade as processes of a scene."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.model.climate import Weather
from app.model.edge_parameters import EdgeParameters
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.cascade import Cascade, CascadeParameters
from app.processes.cycle import Cycle
from app.processes.wind import WindErosion, WindParameters
from app.scene.scene import DECLARATIONS, Scene, load_preset, presets
from tests.app.small import assert_continues_after_saving, bits, simulated, small_preset, small_scene
from tests.kernels.terrain import hills, soil
from tests.nets.pairwise import covering_rows
from tests.nets.profile import is_nightly

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written

WINDY = {"wind__enabled": True, "cascade__enabled": True, "wind__dust": 0.1, "wind__inflow": 0.5}

SAND = [name for name in presets() if load_preset(name).world.source == "sand"]


def windy(**settings: object) -> Scene:
    return small_scene(**{**WINDY, **settings})


@pytest.mark.parametrize("edges", ["open", "wrap"])
def test_ledger_closes(edges: str) -> None:
    simulator = simulated(20, windy(edges__wind=edges))
    world = simulator.world
    assert world.imbalance() < 1e-12
    lost = world.ledger.sediment.lost.get("off the map", 0.0)
    assert world.ledger.rock.lost["worn by wind"] > 0.0
    assert world.ledger.sediment.gained["worn by wind"] == world.ledger.rock.lost["worn by wind"]
    gained = world.ledger.sediment.gained.get("blown in", 0.0)
    assert gained == (pytest.approx(20 * 250 * 0.5 * world.cell_area) if edges == "open" else 0.0)
    assert lost > 0.0  # by drops, too


def test_wrapping_dunes_lose_nothing() -> None:
    world = simulated(100, small_preset("dune-field", 64, world__rows=48)).world
    assert "off the map" not in world.ledger.sediment.lost
    assert world.imbalance() < 1e-13
    assert np.ptp(world.ground) > 0.0


def test_off_by_default_and_other_scenes_keep_their_bits() -> None:
    scene = Scene()
    assert not scene.wind.enabled
    assert not scene.cascade.enabled
    world = simulated(3).world
    assert "wind_path" not in world.layers
    assert "airborne" not in world.layers


def test_same_bits_on_any_number_of_threads() -> None:
    assert bits(simulated(8, windy(), 1).world) == bits(simulated(8, windy(), 2).world)


def test_a_saved_world_goes_on_as_if_it_had_not_been_saved(tmp_path: Path) -> None:
    first = simulated(5, windy())
    assert_continues_after_saving(first, tmp_path / "world.npz", cycles=5)
    assert first.world.layers["wind_path"].any()


def test_a_saved_world_without_water_and_traces_can_be_read(tmp_path: Path) -> None:
    simulator = simulated(2)
    checkpoint.save(tmp_path / "new.npz", simulator.world, simulator.scene)
    with np.load(tmp_path / "new.npz") as file:
        old = {name: file[name] for name in ("meta", "bedrock", "sediment")}
    np.savez(tmp_path / "old.npz", **old)
    world, _ = checkpoint.load(tmp_path / "old.npz")
    assert np.array_equal(world.ground, simulator.world.ground)
    assert set(world.layers) == {"bedrock", "sediment", "water"}
    assert not world.water.any()


HILLS = hills(8, 11, 20.0), soil(8, 11, 2.0)  # sand and bare rock, on a map 8 cells wide
NOTHING = np.zeros((8, 11))
TOWER = np.where(np.add.outer(np.arange(8), np.arange(11)) % 5 == 0, 500.0, 0.0)  # much higher than the map is wide
LANDS = {
    "hills": HILLS,
    "all rock": (HILLS[0], NOTHING),
    "all sand": (NOTHING, HILLS[0]),
    "nothing": (NOTHING, NOTHING),
    "towers of rock": (TOWER, NOTHING),
    "towers of sand": (NOTHING, TOWER),
    "sand on towers": (TOWER, TOWER),
}


def assert_sand_survives(
    land: tuple[np.ndarray, np.ndarray], wind: dict[str, Any], cascade: dict[str, Any], edges: Literal["open", "wrap"]
) -> World:
    """A cycle of both processes breaks nothing and loses nothing."""
    wind = dict(wind)
    world = World(land[0].copy(), land[1].copy(), cell_size=3.0, seed=1)
    weather = {name: wind.pop(name) for name in ("wind_direction", "wind_speed") if name in wind}
    cycle = Cycle(Weather(**weather), EdgeParameters(wind=edges))
    WindErosion().step(world, WindParameters(**{"count": 12, "longest_path": 200, **wind}), cycle)
    Cascade().step(world, CascadeParameters(**cascade), cycle)
    told = f"{wind}, {cascade}, {edges}"
    assert world.imbalance() < 1e-12, told
    assert find_fault(world) is None, told
    assert world.sediment.min() >= 0.0, told
    assert np.array_equal(world.ground, world.bedrock + world.sediment), told
    before, after = sum(float(layer.sum()) for layer in land), float(world.ground.sum())
    ledger = world.ledger.sediment
    gone = (ledger.lost.get("off the map", 0.0) - ledger.gained.get("blown in", 0.0)) / world.cell_area
    assert after + gone == pytest.approx(before, rel=1e-12, abs=1e-12), told
    assert edges == "open" or gone == 0.0, told
    return world


NUMBERS = {
    path: declaration
    for path, declaration in DECLARATIONS.items()
    if path.startswith(("wind.", "cascade.")) and declaration.kind in (int, float) and path != "wind.count"
}


def of_both(values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Numbers of wind and cascade by their paths."""
    both: dict[str, dict[str, Any]] = {"wind": {}, "cascade": {}}
    for path, value in values.items():
        group, _, name = path.partition(".")
        both[group][name] = NUMBERS[path].kind(value)
    return both


@pytest.mark.parametrize("land", LANDS)
def test_nothing_breaks_with_all_parameters_at_the_ends_of_their_ranges(land: str) -> None:
    """In each row another half of them at its highest, so that each two ends of each two parameters meet."""
    assert len(NUMBERS) > 20
    rows = covering_rows({path: (declaration.low, declaration.high) for path, declaration in NUMBERS.items()})
    for row, edges in itertools.product(rows, ("open", "wrap")):
        short = min(row["wind.longest_path"], 200)
        assert_sand_survives(LANDS[land], **of_both({**row, "wind.longest_path": short}), edges=edges)


@pytest.mark.nightly
def test_nothing_breaks_with_any_two_parameters_at_the_ends_of_their_ranges() -> None:
    for one, other in itertools.combinations(NUMBERS, 2):
        ends = ((NUMBERS[path].low, NUMBERS[path].high) for path in (one, other))
        for a, b in itertools.product(*ends):
            for edges in ("open", "wrap"):
                assert_sand_survives(HILLS, **of_both({"wind.longest_path": 200, one: a, other: b}), edges=edges)


@pytest.mark.parametrize("land", LANDS)
@pytest.mark.parametrize("edges", ["open", "wrap"])
def test_nothing_breaks_on_any_land(land: str, edges: Literal["open", "wrap"]) -> None:
    """With the article's wind, with strong wind and wear, with each parameter at its ends, and without any wind."""
    article = {"shear": 0.0, "speed_up": 0.0, "shelter_angle": 90.0, "friction": 1.0, "deposition": 0.0001}
    strong = {"wind_speed": 4.0, "suspension": 0.01, "abrasion": 100.0, "dust": 1.0, "inflow": 10.0, "shear": 20.0}
    alone = [
        {path.removeprefix("wind."): declaration.kind(end)}
        for path, declaration in DECLARATIONS.items()
        if path.startswith("wind.") and declaration.kind in (int, float) and path != "wind.count"
        for end in (declaration.low, declaration.high)
    ]
    for wind in (article, strong, {**strong, **article}, *alone, *({**strong, **one} for one in alone)):
        for direction in (0.0, 90.0, 225.0):
            wind = {"wind_direction": direction, **wind, "longest_path": min(wind.get("longest_path", 200), 200)}
            assert_sand_survives(LANDS[land], wind, {"creep": 1.0, "settling": 0.045}, edges)
    still = assert_sand_survives(LANDS[land], {**strong, "wind_speed": 0.0}, {"settling": 0.0}, edges)
    assert np.array_equal(still.bedrock, LANDS[land][0])
    assert np.array_equal(still.sediment, LANDS[land][1])
    assert not still.ledger.sediment.gained.get("blown in")


@pytest.mark.parametrize("count", [1, 100_000])
def test_nothing_breaks_with_the_fewest_and_the_most_parcels(count: int) -> None:
    assert_sand_survives(HILLS, {"count": count, "longest_path": 30}, {}, "wrap")


@pytest.mark.parametrize("name", SAND)
def test_sand_presets_run_and_lose_nothing(name: str) -> None:
    world, scene = create_world(small_preset(name, 48, wind__count=20))
    start = world.sediment.copy()
    assert start.sum() > 0.0
    simulator = Simulator(scene, world)
    for _ in range(10):
        simulator.advance()
    assert world.imbalance() < 1e-12
    assert not np.array_equal(start, world.sediment)


def test_dunes_of_the_field_are_gentle_to_the_wind_and_lie_no_steeper_than_sand_can() -> None:
    """From sand without dunes: the angle of repose holds while the wind blows, and the slip faces are in the lee."""
    scene = load_preset("dune-field").with_value("sand.form", "sheet")
    repose = scene.cascade.roughness * scene.cascade.scale

    def steeper_down(ground: np.ndarray, axis: int) -> float:
        """How much steeper ground falls in a direction than it rises, where it is steepest."""
        rise = np.roll(ground, -1, axis) - ground
        return float(-np.percentile(rise, 1.0) / np.percentile(rise, 99.0))

    def steepest(ground: np.ndarray) -> np.ndarray:
        return np.abs([np.roll(ground, -1, axis) - ground for axis in (0, 1)]) / repose

    long = 400 if is_nightly() else 200
    start, world, still = (
        simulated(cycles, scene.with_value("wind.enabled", windy)).world.ground / scene.world.cell_size
        for cycles, windy in ((0, True), (long, True), (long, False))
    )
    # The wind blows from the west. Across it, and where it has not blown, dunes are the same on both sides: as nearly
    # as that is so, the rest is the wind's.
    chance = max(abs(steeper_down(ground, axis) - 1.0) for ground, axis in ((start, 1), (still, 1), (world, 0)))
    assert steeper_down(world, 1) > 1.0 + 3.0 * chance
    assert steepest(world).max() < 1.08
    assert np.percentile(steepest(world), 99.9) > np.percentile(steepest(start), 99.9) > steepest(still).max()


@pytest.mark.parametrize(
    "name", ["barchan", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("pyramid", "ridges-under-sand"))]
)
def test_sand_slides_off_rock_about_as_fast_as_the_wind_piles_it_up(name: str) -> None:
    """The presets as they are: nearly nowhere does it lie steeper than it can, and nowhere much; else it would."""
    scene = load_preset(name)
    repose = scene.cascade.roughness * scene.cascade.scale

    def steepness(world: World) -> np.ndarray:
        """Of sand, beside what it can have."""
        ground, sediment = world.ground / scene.world.cell_size, world.sediment
        of_sand = []
        for axis in (0, 1):
            rise = ground - np.roll(ground, 1, axis)
            higher = np.where(rise > 0.0, sediment, np.roll(sediment, 1, axis))
            of_sand.append(np.abs(rise[higher > 0.2]) / repose)
        return np.concatenate(of_sand)

    steep = steepness(simulated(150, scene).world)
    assert np.percentile(steep, 99.0) < 1.05
    assert steep.max() < 1.3
    # Half of the time is enough for the wind to heap it up steeper than both, if it does not slide.
    still = steepness(simulated(75, scene.with_value("cascade.enabled", False)).world)
    assert np.percentile(still, 99.0) > 1.05
    assert still.max() > 1.3


def test_twice_the_parcels_carry_twice_the_sand_and_make_dunes_as_steep() -> None:
    """In half of the cycles: the slides keep up with the wind, else dunes would stand half as steep again."""
    scene = small_preset("dune-field", 128, sand__form="sheet")
    carried, steepness, heights = [], [], []
    for times in (1, 2, 4):
        cycles = 240 // times
        world = simulated(cycles, scene.with_value("wind.count", times * scene.wind.count)).world
        # The average over time of what flies, in which the first cycles count less and less
        carried.append(world.trace("airborne").sum() / (1.0 - 0.99**cycles) / times)
        rises = [np.abs(world.ground - np.roll(world.ground, 1, axis)) for axis in (0, 1)]
        steepness.append(np.percentile(rises, 99.9))
        heights.append(world.ground.std())
    for figures, spread in ((carried, 0.05), (steepness, 0.06), (heights, 0.02)):
        assert max(figures) < (1.0 + spread) * min(figures)


def test_the_slides_are_told_how_many_parcels_blew() -> None:
    parcels = []
    for weather in (Weather(), Weather(storm=1.0)):
        cycle = Cycle(weather)
        world = World(hills(16, 16, 10.0), np.ones((16, 16)), cell_size=1.0, seed=1)
        WindErosion().step(world, WindParameters(count=40, storm_parcels=1.5), cycle)
        parcels.append(cycle.parcels)
    assert parcels == [40, 100]


def test_the_heap_becomes_a_barchan() -> None:
    """A crescent that wanders, with its horns downwind; the same heap without wind stays round, and where it is."""
    scene = small_preset("barchan", 96)
    repose = scene.cascade.roughness * scene.cascade.scale
    start, world = (simulated(cycles, scene).world for cycles in (0, 300))
    still = simulated(300, scene.with_value("wind.enabled", False)).world

    def centre(world: World) -> float:
        return float((world.sediment.sum(axis=0) * np.arange(world.shape[1])).sum() / world.sediment.sum())

    def horns(world: World) -> float:
        """How much farther east sand lies in both the outer thirds of the rows that have any than in the middle."""
        sand = world.sediment > 0.05 * world.sediment.max()
        ends = [np.max(np.flatnonzero(row)) for row in sand if row.any()]
        third, half = len(ends) // 3, len(ends) // 2
        return float(min(max(ends[:third]), max(ends[-third:])) - np.mean(ends[half - 2 : half + 3]))

    for heap in (start, still):
        assert horns(heap) < 0.0
        assert centre(heap) == pytest.approx(centre(start), abs=1.0)
    assert horns(world) > 2.0
    assert centre(world) > centre(start) + 5.0
    # It slides down in the lee, and only there: on the windward side nothing is as steep as sand can lie.
    middle = slice(world.shape[0] // 2 - 2, world.shape[0] // 2 + 3)
    rise = np.diff(world.ground[middle], axis=1) / world.cell_size
    assert -rise.min() > 0.95 * repose > rise.max()


def test_dunes_climb_the_ridges_and_thin_sand_is_blown_off_their_crests() -> None:
    scene = small_preset("ridges-under-sand", 128)
    start, world = (simulated(cycles, scene).world for cycles in (0, 200))
    still = simulated(200, scene.with_value("wind.enabled", False)).world
    thin = (start.sediment > 0.01) & (start.sediment < 0.15 * start.sediment.max())
    highest, bare = zip(
        *(
            (land.ground[land.sediment > 0.3].max(), np.count_nonzero(land.sediment[thin] < 0.05))
            for land in (start, world, still)
        ),
        strict=True,
    )
    # Sand that only slides comes down, and lays bare what is too steep for it: less than half as much.
    assert highest[1] > highest[0] > highest[2]
    assert bare[1] > 2 * bare[2] > 2 * bare[0]


def lie_of_ridges(sand: np.ndarray) -> tuple[float, float]:
    """The parts of the variance of sand in ridges along a wind from the west, and across it, within 22°."""
    power = np.abs(np.fft.fft2(sand - sand.mean())) ** 2
    south, east = np.meshgrid(*(np.abs(np.fft.fftfreq(side)) for side in sand.shape), indexing="ij")
    narrow = np.tan(np.radians(22.5))
    return tuple(
        float(power[own < narrow * other].sum() / power.sum()) for own, other in ((east, south), (south, east))
    )


@pytest.mark.parametrize(
    ("seed", "cycles"), [(1, 40), *(pytest.param(seed, 80, marks=pytest.mark.nightly) for seed in (1, 2, 3))]
)
def test_a_wind_that_remembers_leaves_streets_in_thin_sand(seed: int, cycles: int) -> None:
    """Ridges and bare lanes lie along the wind, where without memory dunes lie across it."""
    scene = load_preset("dune-field")
    for path, value in {
        "world.columns": 96,
        "world.rows": 96,
        "world.seed": seed,
        "world.relief": 1.5,
        "sand.form": "sheet",
        "wind.gusts": 20.0,
        "wind.suspension": 0.001,
        "cascade.creep": 0.0,
    }.items():
        scene = scene.with_value(path, value)
    along, across = lie_of_ridges(simulated(cycles, scene.with_value("wind.memory", 2.0)).world.sediment)
    usual_along, usual_across = lie_of_ridges(simulated(cycles, scene).world.sediment)
    assert along > 1.2 * across
    assert usual_across > 1.5 * usual_along


def test_the_pyramid_wears_most_at_its_edges_and_tip() -> None:
    """The preset as it is, where the west wind meets bare rock: an edge in the middle, faces on both sides of it."""
    scene = load_preset("pyramid")
    world, scene = create_world(scene)
    rock, sand = world.bedrock.copy(), world.sediment.copy()
    simulator = Simulator(scene, world)
    for _ in range(250 if is_nightly() else 120):
        simulator.advance()
    worn = rock - world.bedrock
    rows, columns = rock.shape
    radius = scene.sand.rock_radius * columns
    south, east = (axis + 0.5 - 0.5 * side for axis, side in zip(np.mgrid[:rows, :columns], rock.shape, strict=True))
    on_it = np.abs(south) + np.abs(east) < 0.95 * radius
    windward = on_it & (east < 0.0)
    tip = np.abs(south) + np.abs(east) < 4.0
    edge = windward & ~tip & (np.abs(south) < 1.5)
    face = windward & (np.minimum(np.abs(south), np.abs(east)) > 6.0) & (world.sediment < 0.3)
    crests = windward & ~tip & (np.abs(east) < 1.5)
    assert np.count_nonzero(face) > 500
    assert worn[tip].mean() > 2.0 * worn[face].mean()
    assert worn[edge].mean() > 2.0 * worn[face].mean()
    # The sand gathers in the lee, and leaves the windward side as it was.
    lee = on_it & (east > 0.0)
    gathered = world.sediment - sand
    assert gathered[lee].mean() > 2.0 * abs(gathered[windward].mean())
    # Lower down it covers the crests to the north and south, too.
    bare = crests & (world.sediment < 0.3)
    assert worn[bare].mean() > worn[face].mean()


def test_a_sheet_of_sand_goes_on_across_the_edges() -> None:
    world, _ = create_world(small_preset("dune-field", 96, world__rows=64))
    for axis in (0, 1):
        inside = np.abs(np.diff(world.ground, axis=axis)).mean()
        across = np.abs(np.take(world.ground, 0, axis) - np.take(world.ground, -1, axis)).mean()
        assert across < 2.0 * inside


VARIATIONS = {
    "article-settling-4": {"cascade.settling": 4.0},
    "article-settling-0.2": {"cascade.settling": 0.2},
    "article-roughness-2": {"cascade.roughness": 2.0},
    "article-suspension-10": {"wind.suspension": 10.0, "wind.deposition": 10.0},
    "article-suspension-0.1": {"wind.suspension": 0.1, "wind.deposition": 0.1},
    "article-wind-0.25": {"climate.wind_speed": 0.25, "wind.count": 62 / 250},  # as many as cross the land in a time
}


def test_variations_of_the_article_differ_from_their_base_in_what_they_say() -> None:
    base = load_preset("article-wind")
    assert VARIATIONS.keys() == {name for name in SAND if name.startswith("article-")} - {"article-wind"}
    assert base.world.seed == 1606266249
    for name, changes in VARIATIONS.items():
        variation = load_preset(name)
        for path in DECLARATIONS:
            value, expected = variation.value(path), base.value(path)
            if path in changes:
                assert isinstance(expected, int | float)
                assert value == pytest.approx(expected * changes[path]), path
            else:
                assert value == expected, path


def test_variations_of_the_article_make_other_lands() -> None:
    """On the same land with the same seed: each differs from each by more than twice what chance does, the root of the
    mean square of the difference in height; and in the way that its name says."""

    def after(name: str, first_cycle: int = 0) -> World:
        simulator = simulated(0, small_preset(name, 64))
        simulator.world.cycle = first_cycle  # other cycles have other random numbers
        for _ in range(100):
            simulator.advance()
        return simulator.world

    def difference(one: World, other: World) -> float:
        return float(np.sqrt(np.mean((one.ground - other.ground) ** 2)))

    def steepness(world: World) -> float:
        return float(np.mean([np.abs(np.diff(world.ground, axis=axis)).mean() for axis in (0, 1)]))

    def blown_away(world: World) -> float:
        return world.ledger.sediment.lost["off the map"]

    base = after("article-wind")
    worlds = {name: after(name) for name in VARIATIONS}
    chance = difference(base, after("article-wind", first_cycle=1_000))
    for one, other in itertools.combinations([base, *worlds.values()], 2):
        assert difference(one, other) > 2.0 * chance > 0.0
    fast, slow, rough = (steepness(worlds[f"article-{name}"]) for name in ("settling-4", "settling-0.2", "roughness-2"))
    assert fast < steepness(base) < min(slow, rough)
    # What is lifted goes with the suspension, as far as the land stays the same.
    for factor in (10.0, 0.1):
        assert blown_away(worlds[f"article-suspension-{factor:g}"]) == pytest.approx(factor * blown_away(base), rel=0.2)
    assert blown_away(worlds["article-wind-0.25"]) < blown_away(base)

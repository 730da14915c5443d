"""Islands as a source, snowballs as a process: runs of them, the blur, and what is said where something is wrong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.cycles import PORTION
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.model.soundness import find_fault
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.process import ProcessFailure
from app.processes.snowballs import SnowballErosion, SnowballParameters, smooth
from app.scene.edits import Blur, CancelSnowballs, Change, RollSnowballs
from app.scene.scene import DECLARATIONS, Scene, load_preset
from kernels.components import components
from kernels.filling import fill
from kernels.standing import DRY
from tests.app.hands import let_go_round
from tests.app.small import bits, simulated, small_preset
from tests.kernels.reference_snowballs import many_of_the_article
from tests.kernels.terrain import hills, soil
from tests.waiting import wait_for

ISLANDS = ("island", "archipelago", "volcano", "article-island")


def island(**settings: object) -> Scene:
    """48 × 40 cells of island, without drops and with snowballs; `settings` are written with `__` for the dot."""
    scene = Scene()
    small = {
        "world__source": "island", "world__columns": 48, "world__rows": 40, "droplets__enabled": False,
        "snowballs__enabled": True, "snowballs__count": 100,
    }  # fmt: skip
    for path, value in {**small, **settings}.items():
        scene = scene.with_value(path.replace("__", "."), value)  # type: ignore[arg-type]
    return scene


def ground(scene: Scene) -> np.ndarray:
    return create_world(scene)[0].ground


# The source.


@pytest.mark.parametrize("shape", [(8, 8), (8, 64), (40, 48)])
def test_islands_fill_their_relief_with_the_sea_at_0(shape: tuple[int, int]) -> None:
    world, _ = create_world(island(world__rows=shape[0], world__columns=shape[1], world__relief=1000.0))
    assert world.shape == shape
    assert world.ground.max() == pytest.approx(750.0)
    assert -250.0 - 1e-9 <= world.ground.min() < -20.0
    assert not world.sediment.any()
    assert world.imbalance() == 0.0


def test_another_seed_is_another_island_and_everything_else_stays() -> None:
    one, again, other = (ground(island(world__seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_an_archipelago_stands_where_it_is_listed() -> None:
    land = ground(island(island__places="0.25 0.5 0.5; 0.8, 0.5, 0.4")) > 0.0
    assert land[:, :20].any() and land[:, 30:].any()
    assert not land[:, 24:27].any()
    more = ground(island(island__islands=5, island__size=0.4)) > 0.0
    assert land.any() and more.any()


@pytest.mark.parametrize(
    "places", ["0.5", "a b c", "0.5 0.5 0", "0.5 0.5 -1", "nan 0.5 1", "0.5 0.5 1; 99 0 1", "1 2 3 4"]
)
def test_places_that_are_none_are_refused_in_one_line(places: str) -> None:
    with pytest.raises(UserError, match=r"island\.places = .* must be three numbers") as raised:
        create_world(island(island__places=places))
    assert "\n" not in str(raised.value)


def test_nothing_breaks_with_any_parameter_of_an_island_at_the_ends_of_its_range() -> None:
    for path, declaration in DECLARATIONS.items():
        if not path.startswith("island.") or declaration.kind not in (int, float):
            continue
        for value in (declaration.low, declaration.high):
            scene = island().with_value("world.columns", 16).with_value("world.rows", 9)
            z = ground(scene.with_value(path, declaration.kind(value)))
            assert np.isfinite(z).all(), path
            assert np.ptp(z) <= 0.15 * 16 * 20.0 + 1e-6, path


@pytest.mark.parametrize("name", ISLANDS)
def test_island_presets_have_land_and_sea_and_lose_nothing(name: str) -> None:
    scene = load_preset(name)
    world, scene = create_world(scene)
    assert scene.snowballs.enabled
    assert 0.08 < (world.ground > 0.0).mean() < 0.6
    edge = np.concatenate([world.ground[0], world.ground[-1], world.ground[:, 0], world.ground[:, -1]])
    assert (edge < 0.0).all()
    simulator = Simulator(scene, world)
    for _ in range(3):
        simulator.advance()
    assert world.imbalance() < 1e-12
    assert world.trace("wear").any()


def test_the_volcano_is_one_cone_with_a_crater() -> None:
    """Which is gone where no mountain is mirrored down; beside it in its height is what noise makes of hollows."""

    def crater(**settings: float) -> float:
        """The deepest hollow on land, as a part of how high that stands."""
        z = ground(small_preset("volcano", 96, **settings))
        outlets = np.pad(np.zeros((z.shape[0] - 2, z.shape[1] - 2), np.bool_), 1, constant_values=True)
        return float((fill(z, outlets) - z)[z > 0.0].max() / z.max())

    land = ground(small_preset("volcano", 96)) > 0.0
    _, islands = components(land)
    assert islands == 1
    assert crater() > 4.0 * crater(island__crater_threshold=1.0)


# The process.


def test_off_by_default_and_other_scenes_keep_their_bits() -> None:
    assert not Scene().snowballs.enabled
    world = simulated(3).world
    assert not world.layers.keys() & {"wear", "deposit", "traffic"}
    assert world.snowballs == 0


def test_same_bits_on_any_number_of_threads() -> None:
    scene = island(snowballs__smoothing=0.1)
    assert bits(simulated(8, scene, 1).world) == bits(simulated(8, scene, 2).world)


def test_a_saved_world_goes_on_as_if_it_had_not_been_saved(tmp_path: Path) -> None:
    scene = island(snowballs__total=730)
    first = simulated(4, scene)
    checkpoint.save(tmp_path / "world.npz", first.world, first.scene)
    world, scene = checkpoint.load(tmp_path / "world.npz")
    assert world.snowballs == 400
    second = Simulator(scene, world)
    for _ in range(6):
        first.advance()
        second.advance()
    assert first.world.snowballs == world.snowballs == 730
    assert bits(first.world) == bits(second.world)


def test_a_number_of_snowballs_that_cannot_be_is_refused(tmp_path: Path) -> None:
    simulator = simulated(1, island())
    simulator.world.snowballs = -1
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    with pytest.raises(UserError, match="its snowballs is -1; it must be from 0"):
        checkpoint.load(tmp_path / "world.npz")


def test_the_ledger_adds_up_and_says_what_snowballs_did() -> None:
    world = simulated(20, island(snowballs__smoothing=0.2)).world
    assert world.imbalance() < 1e-12
    worn = world.ledger.rock.lost["worn by snowballs"]
    assert worn == world.ledger.sediment.gained["worn by snowballs"] > 0.0


def test_after_the_last_ball_the_ground_is_blurred_once_and_rests() -> None:
    blurred = simulated(5, island(snowballs__total=300))
    rough = simulated(5, island(snowballs__total=300, snowballs__smooth_at_end=False))
    assert blurred.world.snowballs == rough.world.snowballs == 300
    assert blurred.enabled() == []
    assert not np.array_equal(blurred.world.ground, rough.world.ground)
    smooth(rough.world)
    assert np.array_equal(blurred.world.ground, rough.world.ground)
    longer = simulated(9, island(snowballs__total=300))
    assert np.array_equal(blurred.world.ground, longer.world.ground)


def test_the_blur_keeps_rock_and_sediment_each() -> None:
    world = simulated(5, island()).world
    rock, sediment = world.stored("rock"), world.stored("sediment")
    for _ in range(20):
        smooth(world, 0.7)
    assert world.stored("rock") == pytest.approx(rock, abs=1e-12 * world.ledger.rock.scale)
    assert world.stored("sediment") == pytest.approx(sediment, rel=1e-12)
    assert np.array_equal(world.ground, world.bedrock + world.sediment)
    assert world.imbalance() < 1e-12


def test_nothing_breaks_with_any_two_parameters_at_the_ends_of_their_ranges() -> None:
    """On a map 8 cells wide with sediment and bare rock, half of it under the sea."""
    numbers = [
        declaration
        for path, declaration in DECLARATIONS.items()
        if path.startswith("snowballs.") and declaration.kind in (int, float) and declaration.name != "count"
    ]
    process = SnowballErosion()
    for one, other in itertools.combinations(numbers, 2):
        for a, b in itertools.product((one.low, one.high), (other.low, other.high)):
            values = {"iterations": 200, one.name: one.kind(a), other.name: other.kind(b)}
            world = World(hills(8, 11, 20.0), soil(8, 11, 2.0), cell_size=3.0, seed=1)
            world.sea_level = 10.0
            process.step(world, SnowballParameters(count=12, **values), Cycle())  # type: ignore[arg-type]
            assert world.imbalance() < 1e-12, values
            assert find_fault(world) is None, values
            assert world.sediment.min() >= 0.0, values
            assert np.array_equal(world.ground, world.bedrock + world.sediment), values


def test_a_value_that_is_not_finite_stops_the_process() -> None:
    world = World(hills(32, 32), np.zeros((32, 32)), cell_size=1.0, seed=1)
    world.bedrock[10, 10] = world.ground[10, 10] = math.nan
    with pytest.raises(ProcessFailure, match="snowballs: a value at row"):
        SnowballErosion().step(world, SnowballParameters(count=2000), Cycle())


def test_no_water_is_shown_where_balls_have_dug_since_the_levels_were_found() -> None:
    simulator = simulated(5, island(pools__enabled=True, edges__water="sea"))
    world = simulator.world
    snapshot = take_snapshot(world)
    dry = world.standing == DRY
    assert 0 < dry.sum() < dry.size
    assert (world.ground[dry] < world.water_level[dry] - 0.1).any(), "some cells are lower than they were"
    assert not snapshot.layers["water"][dry].any()
    assert np.array_equal(snapshot.layers["water_level"][dry], world.ground[dry].astype(np.float32))
    assert (snapshot.layers["water"][~dry] > 0.0).mean() > 0.9


# Runs of many balls.


def test_a_run_lets_so_many_fall_while_nothing_else_moves_the_ground() -> None:
    scene = island(droplets__enabled=True, snowballs__enabled=False)
    world, scene = create_world(scene)
    simulator = Simulator(scene, world)
    simulator.begin_snowball_run(2 * PORTION + 1)
    for _ in range(3):
        assert not simulator.snowball_run_is_over
        assert [process.name for process in simulator.enabled()] == ["snowballs"]
        simulator.advance()
    assert simulator.snowball_run_is_over
    assert world.snowballs == 2 * PORTION + 1
    assert not world.ledger.water.gained, "it did not rain"
    simulator.end_snowball_run()
    assert [process.name for process in simulator.enabled()] == ["droplets"]


def test_a_run_gives_what_the_same_balls_in_a_stream_give() -> None:
    world, scene = create_world(island(snowballs__enabled=False))
    simulator = Simulator(scene, world)
    simulator.begin_snowball_run(2 * PORTION)
    while not simulator.snowball_run_is_over:
        simulator.advance()
    stream = simulated(2, island(snowballs__count=PORTION, snowballs__total=2 * PORTION))
    assert bits(world) == bits(stream.world)


@contextmanager
def running(scene: Scene, *, paused: bool = True) -> Iterator[SimulationThread]:
    thread = SimulationThread(scene, paused=paused)
    thread.first_picture_shown.set()
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


def shown(thread: SimulationThread, wanted: Callable[[Snapshot], bool]) -> Snapshot:
    """The first snapshot that is as wanted."""
    found: list[Snapshot] = []

    def take() -> bool:
        found.extend(snapshot for snapshot in thread.take() if wanted(snapshot))
        return bool(found)

    wait_for(take, "a snapshot")
    return found[0]


def test_a_run_in_the_window_tells_how_far_it_is_and_leaves_a_pause_as_it_was() -> None:
    with running(island(snowballs__enabled=False)) as thread:
        shown(thread, lambda snapshot: True)
        thread.ask(RollSnowballs(20 * PORTION))
        seen = set()

        def over() -> bool:
            thread.take()
            if thread.status.snowball_run:
                seen.add(thread.status.snowball_run)
            return bool(seen) and thread.status.snowball_run is None

        wait_for(over, "the end of the run")
        assert {total for _, total in seen} == {20 * PORTION}
        assert all(0 <= done <= total for done, total in seen)
        thread.ask(Blur())  # so that a last snapshot surely comes
        after = shown(thread, lambda snapshot: snapshot.cycle == 21)
        assert after.snowballs == 20 * PORTION
        assert after.imbalance < 1e-12
        assert thread.status.state == "paused"


def test_two_worlds_that_are_compared_roll_and_blur_together() -> None:
    one, other = island(snowballs__enabled=False), island(snowballs__enabled=False, snowballs__erosion_rate=0.1)
    thread = SimulationThread(one, other, paused=True)
    thread.first_picture_shown.set()
    thread.start()
    try:
        thread.ask(RollSnowballs(3 * PORTION))
        thread.ask(Blur())  # waits for its turn, which comes before the first ball
        pairs: list[tuple[Snapshot, ...]] = []

        def over() -> bool:
            pairs.append(thread.take())
            return bool(pairs[-1]) and pairs[-1][0].snowballs == 3 * PORTION

        wait_for(over, "the end of the run")
        first, second = pairs[-1]
        assert (first.snowballs, first.cycle) == (second.snowballs, second.cycle) == (3 * PORTION, 4)
        assert not np.array_equal(first.layers["bedrock"], second.layers["bedrock"])
        assert max(first.imbalance, second.imbalance) < 1e-12
        wait_for(lambda: thread.status.snowball_run is None, "the end of the run")
    finally:
        thread.stop()


def test_a_run_can_be_cancelled() -> None:
    with running(island(snowballs__enabled=False)) as thread:
        shown(thread, lambda snapshot: True)
        thread.ask(RollSnowballs(10_000_000))
        shown(thread, lambda snapshot: snapshot.snowballs > 0)
        thread.ask(CancelSnowballs())
        wait_for(lambda: thread.status.snowball_run is None, "the end of the run")
        thread.ask(Blur())
        wait_for(lambda: (thread.take(), True)[1], "a snapshot")
        cycle = thread.status.cycle
        let_go_round(thread)
        assert thread.status.cycle in (cycle, cycle + 1), "only the blur came after it"


def test_the_window_rests_where_nothing_is_left_to_do() -> None:
    with running(island(snowballs__total=300), paused=False) as thread:
        shown(thread, lambda snapshot: snapshot.snowballs == 300)
        let_go_round(thread)
        assert thread.status.cycle == 3
        thread.ask(Change({"snowballs.total": 500}))
        shown(thread, lambda snapshot: snapshot.snowballs == 500)
        assert thread.status.cycle == 5


def test_the_blur_by_hand_is_shown_while_paused() -> None:
    with running(island()) as thread:
        before = shown(thread, lambda snapshot: True)
        rock = before.layers["bedrock"].copy()
        thread.ask(Blur())
        after = shown(thread, lambda snapshot: snapshot.cycle == 1)
        assert not np.array_equal(rock, after.layers["bedrock"])
        assert np.ptp(after.layers["bedrock"]) < np.ptp(rock)


# The coast.


def coast(ground: np.ndarray) -> int:
    """Sides of cells between land and a sea at 0."""
    land = ground > 0.0
    return int((land[1:] != land[:-1]).sum() + (land[:, 1:] != land[:, :-1]).sum())


def fallen(start: World, *, into_water: bool, count: int = 100_000) -> np.ndarray:
    """The ground of an island after so many of the article's balls, and its blur."""
    world = World(start.bedrock, start.sediment, start.cell_size, start.seed)
    world.sea_level = 0.0
    SnowballErosion().step(world, SnowballParameters(count=count, total=count, into_water=into_water), Cycle())
    return world.ground


def test_balls_that_roll_on_below_water_make_the_coast_uneven_and_others_smooth_it() -> None:
    start, _ = create_world(load_preset("article-island"))
    before = coast(start.ground)
    assert coast(fallen(start, into_water=True)) > 1.06 * before
    assert coast(fallen(start, into_water=False)) < before


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [12, 3, 7])
def test_the_coast_is_as_uneven_as_the_articles_but_for_what_that_throws_away(seed: int) -> None:
    """The listing makes it uneven in two ways: balls dig on below water, and what they carry does not fill the inlets.

    100 000 balls leave 1.4 to 1.7 times as much coast; where their load is kept, 1.1 to 1.2 times; where they stop at
    the water, too, about as much as before.
    """
    start, scene = create_world(load_preset("article-island").with_value("world.seed", seed))
    metres = scene.snowballs.scale * start.cell_size
    found = {}
    for keeps, stops in ((False, False), (True, False), (True, True)):
        world = World(start.ground.copy(), np.zeros_like(start.ground), start.cell_size, 0)
        height = world.bedrock / metres
        many_of_the_article(height, 100_000, 1, scene.snowballs.scale, keeps, stops)
        world.bedrock[...] = metres * height
        smooth(world)
        found[keeps, stops] = coast(world.bedrock) / coast(start.ground)
    assert found[False, False] > 1.3
    assert 1.06 < found[True, False] < 1.3
    assert found[True, True] < 1.05
    for stops in (False, True):
        own = coast(fallen(start, into_water=not stops)) / coast(start.ground)
        assert own == pytest.approx(found[True, stops], abs=0.06)

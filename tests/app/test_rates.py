"""Rates: factors on what processes do in each cell, and ground that is protected."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.stored_world import StoredWorld
from app.files import checkpoint
from app.model.layers import LAYERS, RATES, side_by_side
from app.model.soundness import find_fault
from app.model.world import World
from app.scene.scene import Scene
from kernels import droplets, rates
from kernels.rain import starts_of_rain
from tests.app.small import bits, small_scene

PROCESSES: dict[str, dict[str, Any]] = {
    "droplets": {"droplets__enabled": True, "droplets__count": 200},
    "snowballs": {"snowballs__enabled": True, "snowballs__count": 60, "snowballs__smoothing": 0.3},
    "wind": {"wind__enabled": True, "wind__count": 60, "wind__inflow": 0.01},
    "weathering": {"weathering__enabled": True, "weathering__frost": 0.01, "climate__temperature": 0.0},
    "cascade": {"cascade__enabled": True, "cascade__creep": 0.2},
    "geology": {"geology__enabled": True, "geology__erodibility": 1e-4},
    "plants": {"plants__enabled": True},
    "pools": {"pools__enabled": True},
    "moisture": {"moisture__enabled": True, "pools__enabled": True},
}
EVERYTHING: dict[str, Any] = {key: value for settings in PROCESSES.values() for key, value in settings.items()}
Lay = Callable[[World], None]


def scene_of(**settings: Any) -> Scene:
    """Steep soft ground, where all that can happens in a few cycles; drops are off unless they are asked for."""
    return small_scene(**{"droplets__enabled": False, "world__soil_depth": 2.0, "world__relief": 400.0, **settings})


def run(scene: Scene, cycles: int, lay: Lay | None = None, threads: int | None = None) -> World:
    world, scene = create_world(scene)
    if lay is not None:
        lay(world)
    simulator = Simulator(scene, world, threads)
    for _ in range(cycles):
        simulator.advance()
    simulator.verify()
    return world


def rate(name: str, value: float | NDArray[Any]) -> Lay:
    return lambda world: world.lay_rate(name, np.broadcast_to(np.float32(value), world.shape))


def patch(shape: tuple[int, int], seed: int) -> NDArray[np.bool_]:
    """A block in the middle, a strip along an edge and cells here and there."""
    rows, columns = shape
    protected = np.random.default_rng(seed).random(shape) < 0.05
    protected[rows // 4 : rows // 2, columns // 4 : 3 * columns // 4] = True
    protected[:, -3:] = True
    return protected


@pytest.mark.parametrize("shape", [(40, 32), (32, 56)])
@pytest.mark.parametrize("kinds", [False, True])
@pytest.mark.parametrize("name", [*PROCESSES, "all"])
def test_protected_ground_keeps_its_bits(name: str, kinds: bool, shape: tuple[int, int]) -> None:
    seed = len(name) + shape[0]
    settings = EVERYTHING if name == "all" else PROCESSES[name]
    sizes = {"world__rows": shape[0], "world__columns": shape[1], "world__seed": seed}
    scene = scene_of(**settings, **sizes, materials__enabled=kinds)
    protected = patch(shape, seed)
    before, _ = create_world(scene)
    world = run(scene, 50, rate("mobility", ~protected))
    for layer, old in ((world.bedrock, before.bedrock), (world.sediment, before.sediment), (world.mix, before.mix)):
        assert np.array_equal(layer[protected], old[protected])
    assert np.array_equal(world.ground[protected], before.ground[protected])
    assert world.imbalance() < 1e-9
    if name not in ("plants", "pools", "moisture"):
        moved = (world.bedrock != before.bedrock) | (world.sediment != before.sediment)
        assert moved[~protected].mean() > 0.05


@pytest.mark.parametrize("kinds", [False, True])
def test_rates_give_the_same_bits_on_any_number_of_threads(kinds: bool) -> None:
    def lay(world: World) -> None:
        random = np.random.default_rng(3)
        for name in RATES:
            world.lay_rate(name, random.random(world.shape) * (1.0 if name == "mobility" else 3.0))

    scene = scene_of(**EVERYTHING, materials__enabled=kinds, world__rows=70, world__columns=90)
    one, two = (run(scene, 20, lay, threads) for threads in (1, 2))
    assert bits(one) == bits(two)


def test_what_ends_over_protected_ground_is_laid_down_beside_it() -> None:
    """Nothing leaves a map with walls, and all that was worn lies there in the end."""
    for kinds in (False, True):
        scene = scene_of(
            **PROCESSES["droplets"], pools__enabled=True, edges__water="wall", materials__enabled=kinds
        )  # fmt: skip
        world = run(scene, 30, rate("mobility", ~patch((32, 40), 7)))
        account = world.ledger.sediment
        assert account.gained["worn by drops"] > 100.0
        assert account.lost.get("off the map", 0.0) == 0.0


def test_the_nearest_free_cell_takes_what_is_left() -> None:
    ground = np.arange(48.0).reshape(6, 8)
    factors = np.ones((6, 8, rates.STRIDE), np.float32)
    factors[1:5, 1:6, rates.MOBILITY] = 0.0
    sediment, bedrock = np.zeros((6, 8)), ground.copy()
    from kernels.materials import one_kind

    places = np.array([[2.5, 3.5], [2.2, 1.9], [0.5, 0.5], [-1.0, 3.0]])
    loads = np.array([[1.0], [2.0], [0.5], [4.0]])
    rates.settle(places, loads, rates.flat(factors), one_kind(sediment), bedrock, sediment, ground)
    assert sediment[0, 1] == 1.0, "of the ring of two cells around, its lowest free one"
    assert sediment[1, 0] == 2.0
    assert sediment[0, 0] == 0.5
    assert loads[:, 0].tolist() == [0.0, 0.0, 0.0, 4.0], "what has left the map is no more to be laid down"
    assert np.array_equal(ground, bedrock + sediment)


@pytest.mark.parametrize("kinds", [False, True])
@pytest.mark.parametrize("name", ["droplets", "snowballs", "wind", "weathering", "cascade", "plants", "moisture"])
def test_rates_of_one_change_nothing(name: str, kinds: bool) -> None:
    """Beside the same kernel without them, which covered ground asks for."""
    settings = {**PROCESSES[name], "materials__enabled": kinds, "wind__uplift": 1e-9}
    with_rates = run(scene_of(**settings), 12, _cover_with_rates)
    without = run(scene_of(**settings), 12, _cover)
    for layer in without.layers:
        # Levels of lakes are sums in another order.
        exactly = 1e-12 if layer in ("water", "groundwater", "moisture", "wetness") else 0.0
        assert np.allclose(with_rates.layers[layer], without.layers[layer], rtol=exactly, atol=exactly), layer


def _cover(world: World) -> None:
    world.trace("wetness")


def _cover_with_rates(world: World) -> None:
    world.trace("wetness")
    world.trace("mobility")


DOUBLED: dict[str, tuple[str, dict[str, Any]]] = {
    "snowballs": ("rate_erodibility", {"snowballs__erosion_rate": 2.0}),
    "wind": ("rate_wind", {"wind__suspension": 2.0, "wind__abrasion": 2.0}),
    "weathering": ("rate_weathering", {"weathering__breaking": 2.0, "weathering__frost": 2.0}),
    "moisture": ("rate_evaporation", {"moisture__evaporation": 2.0, "pools__evaporation": 2.0}),
    "geology": ("rate_uplift", {"geology__uplift": 2.0}),
}


@pytest.mark.parametrize("name", DOUBLED)
def test_a_rate_of_two_is_a_doubled_parameter(name: str) -> None:
    layer, doubled = DOUBLED[name]
    scene = scene_of(**PROCESSES[name], wind__uplift=1e-9, world__lake_depth=20.0)
    values = {
        path.replace("__", "."): scene.value(path.replace("__", ".")) * factor for path, factor in doubled.items()
    }
    by_rate = run(scene, 12, rate(layer, 2.0))
    by_parameter = run(scene.with_values(values), 12)
    usual = run(scene, 12)
    changed = False
    for told in ("bedrock", "sediment", "water", *(("moisture",) if name == "moisture" else ())):
        # Levels of lakes are sums in another order.
        assert np.allclose(by_rate.layers[told], by_parameter.layers[told], rtol=1e-13, atol=1e-10), told
        changed |= not np.array_equal(by_rate.layers[told], usual.layers[told])
    assert changed


def test_evaporation_of_drops_is_doubled() -> None:
    scene = scene_of(**PROCESSES["droplets"], droplets__evaporation=0.01)
    by_rate = run(scene, 5, rate("rate_evaporation", 2.0))
    by_parameter = run(scene.with_value("droplets.evaporation", 0.02), 5, _cover)
    assert np.array_equal(by_rate.bedrock, by_parameter.bedrock)
    assert np.array_equal(by_rate.sediment, by_parameter.sediment)


def test_erodibility_of_drops() -> None:
    """Where it is 0 nothing is taken, and what comes by may settle; where it is 2, drops take twice as readily."""
    scene = scene_of(**PROCESSES["droplets"], world__soil_depth=0.0)
    before, _ = create_world(scene)
    half = np.ones(before.shape)
    half[:, :20] = 0.0
    world = run(scene, 20, rate("rate_erodibility", half))
    assert np.array_equal(world.bedrock[:, :20], before.bedrock[:, :20])
    assert (world.sediment[:, :20] > 0.0).any()
    assert (world.bedrock[:, 20:] < before.bedrock[:, 20:]).mean() > 0.3

    # In one step of time, of drops that do not put anything down
    worn = []
    for factor in (1.0, 2.0):
        short = scene.with_values({"droplets.longest_path": 1, "droplets.deposition_rate": 0.01})
        land = run(short, 1, rate("rate_erodibility", factor))
        worn.append(land.ledger.rock.lost["worn by drops"])
    assert worn[1] == pytest.approx(2.0 * worn[0], rel=0.05)  # a bed that is lower takes from the next drop


def test_rain_falls_where_its_rate_says_and_as_much() -> None:
    scene = scene_of(**PROCESSES["droplets"])

    def rained(lay: Lay | None, **settings: Any) -> float:
        values = {path.replace("__", "."): value for path, value in settings.items()}
        return run(scene.with_values(values), 4, lay).ledger.water.gained["rain"]

    once = rained(None)
    assert rained(rate("rate_rain", 2.0)) == pytest.approx(2.0 * once)
    assert rained(rate("rate_rain", 7.0)) == pytest.approx(7.0 * once)
    half = np.zeros((32, 40))
    half[:16] = 1.0
    assert rained(rate("rate_rain", half)) == pytest.approx(0.5 * once)
    assert rained(rate("rate_rain", 3.0), climate__rain_by_altitude=1.0) == pytest.approx(3.0 * once)

    places = starts_of_rain(half * 5.0, 20_000, 11)
    assert (places[:, 0] < 16.0).all()
    assert (places >= 0.0).all() and (places[:, 1] < 40.0).all()
    counts = np.histogram2d(places[:, 0], places[:, 1], bins=(4, 4), range=((0, 16), (0, 40)))[0]
    assert counts.min() > 1050 and counts.max() < 1450


def test_drops_begin_nowhere_else() -> None:
    scene = scene_of(**PROCESSES["droplets"], droplets__longest_path=1)
    corner = np.zeros((32, 40))
    corner[5:8, 30:33] = 1.0
    world = run(scene, 10, rate("rate_rain", corner * 50.0))
    assert world.ledger.water.gained["rain"] > 0.0
    assert not world.layers["stream"][:3].any() and not world.layers["stream"][:, :28].any()


def test_growth() -> None:
    scene = scene_of(**PROCESSES["plants"], world__relief=40.0, plants__rate=5.0, plants__grass_arrival=0.01)
    half = np.ones((32, 40))
    half[:, :20] = 0.0
    world = run(scene, 100, rate("rate_growth", half))
    grass = world.layers["grass"]
    assert not grass[:, :20].any()
    assert grass[:, 20:].mean() > 0.2
    assert (world.trees[:, 1] >= 20.0).all()

    scene = scene.with_values({"plants.seeds": 0.0, "plants.tree_arrival": 0.0})  # which would shade the grass
    doubled = ("grass_growth", "grass_spread", "grass_arrival")
    values = {f"plants.{name}": 2.0 * float(scene.value(f"plants.{name}")) for name in doubled}
    by_rate, by_parameter = run(scene, 48, rate("rate_growth", 2.0)), run(scene.with_values(values), 48)
    assert np.allclose(by_rate.layers["grass"], by_parameter.layers["grass"], atol=1e-5)


def test_a_rate_that_is_cleared_leaves_nothing() -> None:
    """And the plain kernels run again, with the bits that they always had."""
    scene = scene_of(**EVERYTHING)
    plain = run(scene, 8)

    def lay_and_clear(world: World) -> None:
        for name in RATES:
            rate(name, 2.0 if name != "mobility" else 0.0)(world)
        for name in RATES:
            world.lay_rate(name, np.ones(world.shape) if name == "rate_wind" else None)
        assert world.rates is None
        assert not set(world.layers) & set(RATES)

    assert bits(run(scene, 8, lay_and_clear)) == bits(plain)


def test_the_world_keeps_its_rates(tmp_path: Path) -> None:
    scene = scene_of(**PROCESSES["droplets"])
    world, scene = create_world(scene)
    for name in RATES:
        assert (world.trace(name) == 1.0).all()
        world.lay_rate(name, None)
    without = world.state()
    world.lay_rate("rate_rain", np.full(world.shape, 3.0))
    world.lay_rate("mobility", np.full(world.shape, 0.25))
    first = world.changed["mobility"]
    world.lay_rate("mobility", np.full(world.shape, 0.5))
    assert world.changed["mobility"] > first
    assert set(side_by_side("rates")) < set(world.layers)
    state = world.state()

    world.lay_rate("mobility", None)
    assert "rate_wind" not in world.layers
    world.restore(state)
    assert (world.layers["mobility"] == 0.5).all() and (world.layers["rate_wind"] == 1.0).all()
    assert (world.copy().layers["rate_rain"] == 3.0).all()

    simulator = Simulator(scene, world)
    kept = StoredWorld.of(simulator).simulator().world
    assert bits(kept) == bits(world)
    assert (take_snapshot(world).layers["mobility"] == 0.5).all()

    checkpoint.save(tmp_path / "rates.npz", world, scene)
    loaded, _ = checkpoint.load(tmp_path / "rates.npz")
    there = [name for name in RATES if name in world.layers]
    assert {name: loaded.layers[name].tobytes() for name in there} == {
        name: world.layers[name].tobytes() for name in there
    }

    world.restore(without)
    assert world.rates is None
    world.lay_rate("rate_wind", np.full(world.shape, 101.0))
    assert (fault := find_fault(world)) and fault[1:] == ("rate_wind", (0, 0))


def test_a_rate_of_another_version_each_time() -> None:
    """A picture that was made of an earlier one must not be taken for that of a later one: versions only grow.

    Also where it is the same rate again, after it was cleared, in the same cycle and in later ones.
    """
    simulator = Simulator(*reversed(create_world(scene_of())))  # type: ignore[arg-type]
    world = simulator.world
    versions = []
    for value in (2.0, 3.0, None, 3.0, "a cycle", 2.0, None, "a cycle", 2.0, 2.5):
        if value == "a cycle":
            simulator.advance()
            continue
        world.lay_rate("rate_rain", None if value is None else np.full(world.shape, value))
        shown = take_snapshot(world)
        if value is None:
            assert "rate_rain" not in shown.versions
        else:
            assert (shown.layers["rate_rain"] == value).all()
            versions.append(shown.versions["rate_rain"])
    assert len(versions) == 6
    assert all(before < after for before, after in itertools.pairwise(versions)), versions


def test_kernels_and_table_agree() -> None:
    named = {"ERODIBILITY": "rate_erodibility", "MOBILITY": "mobility"}
    columns = side_by_side("rates")
    assert len(columns) == rates.STRIDE
    for name in ("ERODIBILITY", "WIND", "WEATHERING", "GROWTH", "EVAPORATION", "MOBILITY"):
        assert columns[getattr(rates, name)] == named.get(name, f"rate_{name.lower()}")
    assert all(LAYERS[name].default == 1.0 for name in RATES)


def test_rates_of_another_form_are_refused() -> None:
    from kernels.materials import one_kind
    from tests.kernels.parameters import droplet_parameters

    flat = np.zeros((8, 8))
    with pytest.raises(ValueError, match="rates must be"):
        droplets.erode(
            flat, flat.copy(), flat.copy(), one_kind(flat.copy()), 1.0, 0, 0, droplet_parameters(count=1),
            rates=np.ones((8, 8), np.float32),
        )  # fmt: skip

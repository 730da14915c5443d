"""Brushes: each tool does what it says, loses nothing, and is done again to the bit."""

from __future__ import annotations

import functools
import itertools
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.brushes.material import SEDIMENT
from app.brushes.painting import check, paint
from app.brushes.tools import RATES, TOOLS
from app.brushes.touch import BY_HAND
from app.cli.main import main
from app.engine.builds import ON_RICH_GROUND
from app.engine.lockstep import Lockstep
from app.engine.messages import Arrived, Edited, GoTo, Moment, Opened, Refused, Save, Saved, Watch
from app.engine.publishing import Publisher
from app.engine.simulator import SimulationError, Simulator
from app.files import checkpoint
from app.files.journal import Journal, journal_content, journal_from
from app.model.errors import UserError
from app.model.layers import LAYERS, LayerDeclaration, burdening
from app.model.ledger import LARGEST_IMBALANCE
from app.model.overlays import DIFFERENCE
from app.model.world import World
from app.processes.droplets import DropletErosion
from app.processes.process import ProcessFailure
from app.scene.edits import Dab, Edit, Open, Stroke
from app.scene.scene import Scene
from kernels.brushes import FORMS
from tests.app.hands import Hands
from tests.app.small import bits, simulated, small_preset, small_scene
from tests.nets.profile import is_nightly

ACTING = [name for name, tool in TOOLS.items() if tool.act is not None]
LINES = [name for name in ACTING if TOOLS[name].gesture in ("line", "curve")]
SCENES: dict[str, Callable[[], Scene]] = {
    "plain": lambda: small_scene(world__cell_size=10.0),
    "lakes": lambda: small_scene(pools__enabled=True, world__seed=7, world__cell_size=10.0),
    "sea": lambda: small_preset("island", 48),
    "kinds": lambda: small_preset("canyon", 40),
    "plants": lambda: small_preset("forest-island", 40),
    "smallest": lambda: small_scene(world__columns=8, world__rows=9, world__cell_size=3.0),
}


@functools.cache
def _first(name: str, cycles: int) -> Simulator:
    return simulated(cycles, SCENES[name]())


def made(name: str, cycles: int = 3) -> Simulator:
    """A scene after some cycles: a copy, as many tests begin with the same."""
    return _first(name, cycles).copy()


def choices(world: World, tool: str) -> list[str]:
    kinds = list(world.materials.names) if world.materials else [SEDIMENT]
    plants = ["grass", *world.flora.names]
    return {"": [""], "loose": kinds, "plant": plants, "form": list(FORMS), "rate": list(RATES)}[TOOLS[tool].choice]


def dab(world: World, east: float, south: float, pressure: float = 1.0) -> Dab:
    """A place by the parts of the map's width and height."""
    rows, columns = world.shape
    return (east * columns * world.cell_size, south * rows * world.cell_size, pressure)


def stroke(
    world: World, tool: str, *dabs: Dab, radius: float = 0.2, amount: float | None = None, **rest: object
) -> Stroke:
    usual = {"metres": 5.0, "part": 0.5, "drops": 20.0, "seeds": 1.0}[TOOLS[tool].amount]
    dabs = dabs or (dab(world, 0.4, 0.5), dab(world, 0.6, 0.5))
    values: dict[str, object] = {"choice": choices(world, tool)[0], "hardness": 0.5, **rest}
    return Stroke(tool, dabs, radius * world.shape[1] * world.cell_size, usual if amount is None else amount, **values)  # type: ignore[arg-type]


def ground_from_its_layers(world: World) -> NDArray[np.float64]:
    """The sum of all that raises the ground, where the loose is the sum of its kinds."""
    loose = np.zeros(world.shape) if world.materials else world.sediment
    for kind in range(world.mix.shape[2] if world.materials else 0):
        loose = loose + world.mix[..., kind]
    return functools.reduce(np.add, (world.bedrock, loose, *burdening(world.layers)))


@pytest.mark.parametrize("tool", ["raise", "lower", "smooth", "flatten"])
def test_a_dab_works_on_its_own_cells_and_not_on_the_whole_map(tool: str) -> None:
    side = 400
    world = World(np.add.outer(0.01 * np.arange(float(side)) ** 2, np.zeros(side)), np.ones((side, side)), 1.0, 0)
    asked = stroke(world, tool, dab(world, 0.5, 0.5), radius=0.04)
    before = world.ground.copy()
    tracemalloc.start()
    try:
        paint(world, Scene(), asked)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not np.array_equal(world.ground, before)
    assert most < world.ground.nbytes // 2, "all that it needed at once"


@pytest.mark.parametrize("name", SCENES)
def test_each_tool_loses_nothing_and_leaves_a_sound_world_that_goes_on(name: str, subtests: pytest.Subtests) -> None:
    for tool in ACTING:
        with subtests.test(tool=tool):
            simulator = made(name)
            world = simulator.world
            for choice in choices(world, tool):
                asked = stroke(world, tool, choice=choice, level=float(world.ground.mean()))
                check(world, asked)
                simulator.paint(asked)
            for layer in world.layers.values():
                assert np.isfinite(layer).all()
            assert np.array_equal(world.ground, ground_from_its_layers(world)), "to the bit"
            assert abs(world.imbalance()) < LARGEST_IMBALANCE / 1000.0
            simulator.settle_levels()
            simulator.verify()
            for _ in range(2):
                simulator.advance()
            simulator.verify()


@pytest.mark.parametrize("name", ["plain", "kinds"])
def test_each_tool_keeps_a_layer_that_somebody_adds_to_the_ground(
    name: str, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    snow = LayerDeclaration("snow", "snow that lies, as water", "m", np.float64, account="water", raises_ground=True)
    monkeypatch.setitem(LAYERS, "snow", snow)
    for tool in ACTING:
        with subtests.test(tool=tool):
            world = made(name).world
            world.trace("snow")[...] = 1.5
            world.sum_ground()
            for choice in choices(world, tool):
                paint(world, Scene(), stroke(world, tool, choice=choice, level=float(world.ground.mean())))
            assert (world.layers["snow"] == 1.5).all()
            assert np.array_equal(world.ground, ground_from_its_layers(world))


def test_what_the_brush_does_not_reach_stays_as_it_is(subtests: pytest.Subtests) -> None:
    for tool in (tool for tool in ACTING if tool not in (*LINES, "erode")):
        with subtests.test(tool=tool):
            simulator = made("kinds")
            world = simulator.world
            before = {name: layer.copy() for name, layer in world.layers.items()}
            asked = stroke(world, tool, dab(world, 0.3, 0.4), radius=0.15, level=0.0)
            simulator.paint(asked)
            rows, columns = np.indices(world.shape)
            east, south, _ = asked.dabs[0]
            x, y = (columns + 0.5) * world.cell_size - east, (rows + 0.5) * world.cell_size - south
            away = np.hypot(x, y) > asked.radius
            for name, layer in before.items():
                assert np.array_equal(world.layers[name][away], layer[away]), name


# What single tools do, against plain sums.


def falloff(distance: float, hardness: float) -> float:
    if distance <= hardness:
        return 1.0
    if distance >= 1.0:
        return 0.0
    part = (1.0 - distance) / (1.0 - hardness)
    return part * part * (3.0 - 2.0 * part)


@pytest.mark.parametrize("hardness", [0.0, 0.4, 0.9])
def test_raising_adds_rock_by_the_distance_from_the_middle(hardness: float) -> None:
    world = made("plain").world
    before = world.bedrock.copy()
    asked = stroke(world, "raise", dab(world, 0.41, 0.37, 0.7), hardness=hardness, amount=3.0)
    paint(world, Scene(), asked)
    east, south, pressure = asked.dabs[0]
    for row in range(world.shape[0]):
        for column in range(world.shape[1]):
            x, y = (column + 0.5) * world.cell_size - east, (row + 0.5) * world.cell_size - south
            added = 3.0 * pressure * falloff(float(np.hypot(x, y)) / asked.radius, hardness)
            assert world.bedrock[row, column] - before[row, column] == pytest.approx(added, abs=1e-9)
    volume = (world.bedrock - before).sum() * world.cell_area
    assert world.ledger.rock.gained[BY_HAND] == pytest.approx(volume, rel=1e-9)


def test_lowering_takes_what_is_loose_before_rock() -> None:
    world = made("plain").world
    rock, loose = world.bedrock.copy(), world.sediment.copy()
    paint(world, Scene(), stroke(world, "lower", dab(world, 0.5, 0.5), amount=0.2, hardness=1.0))
    shallow = loose >= 0.2
    assert np.array_equal(world.bedrock[shallow], rock[shallow])
    assert (loose - world.sediment).max() == pytest.approx(0.2)
    paint(world, Scene(), stroke(world, "lower", dab(world, 0.5, 0.5), amount=5.0, hardness=1.0))
    assert world.sediment[16, 20] == 0.0 and world.bedrock[16, 20] < rock[16, 20]
    assert {"rock", "sediment"} <= {
        name for name, account in world.ledger.accounts().items() if BY_HAND in account.lost
    }


def test_smoothing_evens_out_and_sharpening_does_the_contrary() -> None:
    world = made("plain").world

    def roughness() -> float:
        return float(np.abs(np.diff(world.ground[12:20, 16:24], 2, axis=1)).mean())

    rough = roughness()
    paint(world, Scene(), stroke(world, "sharpen", dab(world, 0.5, 0.5)))
    sharper = roughness()
    for _ in range(6):
        paint(world, Scene(), stroke(world, "smooth", dab(world, 0.5, 0.5), hardness=0.9))
    assert roughness() < 0.6 * rough < rough < sharper


def test_smoothing_keeps_sand_sand() -> None:
    sand = 3.0 + 3.0 * np.random.default_rng(0).random((30, 40))
    world = World(np.zeros((30, 40)), sand.copy(), cell_size=10.0, seed=0)
    rock = world.bedrock.copy()
    paint(world, Scene(), stroke(world, "smooth", dab(world, 0.5, 0.5), amount=0.2))
    assert np.array_equal(world.bedrock, rock)
    assert not np.array_equal(world.sediment, sand)
    assert abs(world.imbalance()) < 1e-12


def test_flattening_comes_to_the_level() -> None:
    world = made("lakes").world
    level = float(np.median(world.ground))
    asked = stroke(world, "flatten", *(dab(world, 0.5, 0.5),) * 20, amount=0.9, hardness=0.8, level=level)
    paint(world, Scene(), asked)
    assert world.ground[14:18, 18:22] == pytest.approx(level, abs=1e-6)


def test_a_slope_is_even_from_one_place_to_the_other() -> None:
    world = made("plain").world
    first, second = dab(world, 0.2, 0.52), dab(world, 0.8, 0.52)
    row = int(0.52 * world.shape[0])
    asked = stroke(world, "slope", first, second, radius=0.1, amount=1.0, hardness=0.9)
    paint(world, Scene(), asked)
    along = world.ground[row, 9:31]
    assert np.diff(along) == pytest.approx(np.full(21, np.diff(along).mean()), abs=1e-9)


def test_a_river_bed_falls_all_the_way() -> None:
    world = made("plain").world
    places = [dab(world, 0.1, 0.2), dab(world, 0.4, 0.6), dab(world, 0.6, 0.4), dab(world, 0.9, 0.8)]
    paint(world, Scene(), stroke(world, "river bed", *places, radius=0.06, amount=4.0))
    from kernels.brushes import curve

    way = curve(np.array([place[:2] for place in places]), 0.1 * world.cell_size)
    cells = dict.fromkeys(map(tuple, (way[:, ::-1] // world.cell_size).astype(int).tolist()))
    bed = np.array([world.ground[cell] for cell in cells])
    bed = bed if bed[0] > bed[-1] else bed[::-1]
    climbs = np.diff(np.minimum.accumulate(bed) - bed)
    # Cells lie beside the middle of the bed, on its banks.
    assert np.abs(climbs).max() < 4.0
    assert (bed <= np.maximum.accumulate(bed[::-1])[::-1] + 4.0).all()


def test_a_lake_holds_its_water() -> None:
    simulator = made("lakes")
    scene = simulator.scene.with_values({"pools.evaporation": 0.0, "droplets.count": 0})
    simulator.change(scene)
    world = simulator.world
    simulator.paint(stroke(world, "lake", dab(world, 0.5, 0.5), radius=0.2, amount=8.0))
    poured = world.ledger.water.gained[BY_HAND]
    simulator.settle_levels()
    level = world.water_level[16, 20]
    assert world.standing[16, 20] and level - world.ground[16, 20] > 4.0
    for _ in range(5):
        simulator.advance()
    assert world.water_level[16, 20] == pytest.approx(level, abs=1e-6)
    assert poured == pytest.approx(float((world.water[8:24, 10:30]).sum()) * world.cell_area, rel=0.2)


def test_water_is_poured_and_taken() -> None:
    simulator = made("lakes")
    world = simulator.world
    before = world.stored("water")
    simulator.paint(stroke(world, "pour", dab(world, 0.5, 0.5), amount=2.0))
    poured = world.stored("water") - before
    assert poured > 0.0 and world.ledger.water.gained[BY_HAND] == pytest.approx(poured)
    simulator.paint(stroke(world, "drain", dab(world, 0.5, 0.5), amount=50.0, hardness=1.0, radius=0.3))
    assert world.water[16, 20] == 0.0
    assert abs(world.imbalance()) < 1e-12


def test_each_kind_is_poured_and_taken() -> None:
    simulator = made("kinds")
    world = simulator.world
    assert world.materials is not None
    for kind in world.materials.names:
        before = world.stored(kind)
        simulator.paint(stroke(world, "loose", choice=kind))
        assert world.stored(kind) > before
        simulator.paint(stroke(world, "take loose", choice=kind, amount=1.0))
        assert BY_HAND in world.ledger.kinds[kind].gained and BY_HAND in world.ledger.kinds[kind].lost
    assert abs(world.imbalance()) < 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_turned_with_its_angle(form: str) -> None:
    def stamped(angle: float) -> np.ndarray:
        world = World(np.zeros((41, 41)), np.zeros((41, 41)), cell_size=5.0, seed=3)
        asked = Stroke("stamp", ((102.5, 102.5, 1.0),), 90.0, 30.0, choice=form, angle=angle)
        check(world, asked)
        paint(world, Scene(), asked)
        return world.ground

    upright, turned = stamped(0.0), stamped(90.0)
    assert np.ptp(upright) > 10.0 and abs(upright).max() < 45.0
    # The bumps belong to the land and are not turned with the form.
    assert np.abs(np.rot90(turned) - upright).mean() < 0.08 * np.ptp(upright)
    assert upright[0].max() == upright[:, -1].max() == 0.0


def test_an_image_is_a_stamp(tmp_path: Path) -> None:
    picture = np.zeros((20, 20), np.float32)
    picture[:10] = 1.0
    np.save(tmp_path / "half.npy", picture)
    world = World(np.zeros((40, 40)), np.zeros((40, 40)), cell_size=1.0, seed=0)
    asked = Stroke("stamp", ((20.0, 20.0, 1.0),), 14.0, 10.0, choice=str(tmp_path / "half.npy"))
    check(world, asked)
    paint(world, Scene(), asked)
    assert world.ground[13:18, 15:25] == pytest.approx(10.0)
    assert world.ground[23:28, 15:25] == pytest.approx(0.0)
    with pytest.raises(UserError, match="no form or image"):
        check(world, Stroke("stamp", asked.dabs, 14.0, 10.0, choice="crator"))


def test_plants_are_sown_and_cleared() -> None:
    simulator = made("plants")
    world = simulator.world
    kind = world.flora.names[0]
    high = np.unravel_index(int(world.ground.argmax()), world.shape)
    place = dab(world, (high[1] + 0.5) / world.shape[1], (high[0] + 0.5) / world.shape[0])
    simulator.paint(stroke(world, "clear", place, choice="all", amount=1.0, hardness=1.0))
    bare = len(world.trees)
    simulator.paint(stroke(world, "sow", *(place,) * 10, choice=kind, amount=1.0))
    assert len(world.trees) > bare
    assert (world.standing[world.trees[bare:, 0].astype(int), world.trees[bare:, 1].astype(int)] == 0).all()
    simulator.paint(stroke(world, "sow", place, choice="grass", amount=1.0))
    assert world.layers["grass"][high] > 0.0
    simulator.advance()
    simulator.paint(stroke(world, "clear", place, choice=kind, amount=1.0, hardness=1.0))
    near = np.hypot(world.trees[:, 0] - high[0] - 0.5, world.trees[:, 1] - high[1] - 0.5) < 6.0
    assert not (world.trees[near, 2] == 0).any()


def test_erosion_here_wears_what_is_under_the_brush() -> None:
    simulator = made("plain", cycles=1)
    world = simulator.world
    before = world.ground.copy()
    simulator.paint(stroke(world, "erode", *(dab(world, 0.3, 0.3),) * 4, radius=0.1, amount=30.0))
    worn = np.abs(world.ground - before)
    assert worn[6:14, 8:16].sum() > 0.3 * worn.sum() > 0.0
    assert world.ledger.water.gained[BY_HAND] > 0.0


def test_the_same_stroke_is_the_same_on_finer_cells() -> None:
    """In metres: the means over the coarse cells agree."""
    coarse, fine = (
        World(np.zeros((side, side)), np.full((side, side), 1.0), cell_size=640.0 / side, seed=1) for side in (64, 256)
    )
    for tool in ("raise", "lower", "roughen", "flatten", "loose", "stamp", "slope", "river bed"):
        for world in (coarse, fine):
            dabs = ((200.0, 300.0, 1.0), (320.0, 330.0, 0.5), (400.0, 260.0, 1.0))
            choice = "mesa" if tool == "stamp" else ""
            paint(world, Scene(), Stroke(tool, dabs, 120.0, 2.0 if tool != "slope" else 0.5, choice=choice, level=4.0))
        means = fine.ground.reshape(64, 4, 64, 4).mean(axis=(1, 3))
        assert np.abs(means - coarse.ground).mean() < 0.02 * np.ptp(coarse.ground), tool


# Any stroke, anywhere.

numbers = st.floats(-200.0, 600.0)
strokes = st.builds(
    lambda tool, dabs, radius, amount, hardness, level, angle, pick: (
        tool,
        dabs,
        radius,
        amount,
        hardness,
        level,
        angle,
        pick,
    ),
    st.sampled_from(ACTING),
    st.lists(st.tuples(numbers, numbers, st.floats(0.0, 1.0)), min_size=2, max_size=5),
    st.floats(0.01, 900.0),
    st.floats(0.0, 300.0),
    st.floats(0.0, 1.0),
    st.floats(-2000.0, 4000.0),
    st.floats(-360.0, 360.0),
    st.integers(0, 9),
)


def few_or_many(few: int, many: int) -> settings:
    """So many strokes in the check, the same each time, and so many in a nightly run."""
    return settings(
        max_examples=many if is_nightly() else few,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@few_or_many(12, 1000)
@given(st.sampled_from(list(SCENES)), st.lists(strokes, min_size=1, max_size=4))
def test_any_strokes_leave_a_sound_world(name: str, drawn: list[tuple]) -> None:  # type: ignore[type-arg]
    simulator = made(name, cycles=1)
    world = simulator.world
    for number, (tool, dabs, radius, amount, hardness, level, angle, pick) in enumerate(drawn):
        known = choices(world, tool)
        asked = Stroke(
            tool, tuple(dabs), radius, amount, hardness, level, angle, known[pick % len(known)], number=number
        )
        check(world, asked)
        simulator.paint(asked)
    simulator.settle_levels()
    simulator.verify()
    simulator.advance()
    simulator.verify()


# Time: strokes are steps that can be undone, done again, and replayed.


def parts(world: World, tool: str, number: int, count: int) -> list[Stroke]:
    """A stroke as a hand sends it, in parts."""
    return [
        stroke(
            world,
            tool,
            dab(world, 0.2 + 0.1 * part, 0.4),
            dab(world, 0.25 + 0.1 * part, 0.5),
            number=number,
            first=2 * part,
        )
        for part in range(count)
    ]


def draw(hands: Hands, tool: str, number: int, *, cycles_between: int = 0) -> Moment:
    """Draw a stroke. Returns the moment before it."""
    first, *others = parts(hands.lockstep.worlds[0], tool, number, 3)
    before = hands.ask(first, Edited).before
    for part in others:
        hands.step(cycles_between)
        hands.thread.ask(part)
    hands.settle()
    return before


def come_to_rest(hands: Hands) -> None:
    """Wait until the levels of water are those of the land, as they are when it is shown."""
    hands.wait(lambda: not any(simulator._levels_are_old for simulator in hands.lockstep.simulators))
    hands.settle()  # what they were brought up to date in is over


TIMED = ("raise", "smooth", "erode", "pour", "loose")


@pytest.mark.parametrize("between", [0, 2])
def test_a_stroke_is_undone_and_done_again_to_the_bit(hands: Hands, between: int) -> None:
    hands.step(4)
    for number, tool in enumerate(TIMED, 1):
        before_it = hands.bits
        before = draw(hands, tool, number, cycles_between=between)
        come_to_rest(hands)
        after_it = hands.bits
        arrived = hands.ask(GoTo(before.branch, before.cycle, before.edits), Arrived)
        assert hands.bits == before_it, tool
        after = arrived.before
        hands.ask(GoTo(after.branch, after.cycle, after.edits), Arrived)
        come_to_rest(hands)
        assert hands.bits == after_it, tool
        hands.step(1)


def test_a_touch_is_shown_and_told_before_the_land_without_it_is_stored(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands.step(2)
    timeline, moment, before_it = hands.thread.session.timeline, hands.moment, hands.bits
    stored: list[bool] = []

    def is_stored() -> bool:
        return timeline.start_for(moment).moment == moment  # type: ignore[union-attr]

    hands.thread.on_touch(lambda: stored.append(is_stored()))
    hands.step(0)
    hands.settle()
    assert not stored, "no touch was published"
    asked = stroke(hands.lockstep.worlds[0], "raise", number=1)
    assert hands.ask(asked, Edited).before == moment
    hands.settle()
    assert stored == [False]
    hands.wait(is_stored)
    hands.ask(GoTo(moment.branch, moment.cycle, moment.edits), Arrived)
    assert hands.bits == before_it


def test_parts_of_a_stroke_that_follow_one_another_are_one_edit(hands: Hands) -> None:
    draw(hands, "raise", 1)
    edits = hands.thread.session.timeline.edits_of(hands.moment)
    assert [len(edit.request.dabs) for edit in edits if isinstance(edit.request, Stroke)] == [6]
    draw(hands, "raise", 2, cycles_between=1)
    edits = hands.thread.session.timeline.edits_of(hands.moment)
    assert [len(edit.request.dabs) for edit in edits if isinstance(edit.request, Stroke)] == [6, 2, 2, 2]


@few_or_many(8, 300)
@given(st.lists(st.sampled_from([*TIMED, "undo", "undo", "redo", "step"]), min_size=4, max_size=14))
def test_strokes_undone_and_redone_in_any_order_come_back_to_the_same_bits(steps: list[str]) -> None:
    hands = Hands(SCENES["lakes"]())
    try:
        hands.step(2)
        done: list[tuple[Moment, object]] = []  # before each stroke: the moment and the bits
        undone: list[tuple[Moment, object]] = []
        for number, step in enumerate(steps, 1):
            come_to_rest(hands)
            now = hands.bits
            if step == "step":
                hands.step(1)
                undone.clear()
            elif step == "undo" and done:
                before, wanted = done.pop()
                arrived = hands.ask(GoTo(before.branch, before.cycle, before.edits), Arrived)
                undone.append((arrived.before, now))
                come_to_rest(hands)
                assert hands.bits == wanted
            elif step == "redo" and undone:
                after, wanted = undone.pop()
                arrived = hands.ask(GoTo(after.branch, after.cycle, after.edits), Arrived)
                done.append((arrived.before, now))
                come_to_rest(hands)
                assert hands.bits == wanted
            elif step in TOOLS:
                done.append((draw(hands, step, number), now))
                undone.clear()
    finally:
        hands.thread.stop()


def test_a_painted_world_is_replayed_to_the_bit(hands: Hands, tmp_path: Path) -> None:
    hands.step(2)
    for number, tool in enumerate(TIMED, 1):
        draw(hands, tool, number, cycles_between=number % 3)
    hands.step(3)
    path, again = tmp_path / "painted.npz", tmp_path / "again.npz"
    hands.thread.ask(Save(path))
    hands.wait(lambda: Saved(path) in hands.reports)
    assert main(["replay", str(path), "--out", str(again)]) == 0
    assert bits(checkpoint.load(again)[0]) == bits(checkpoint.load(path)[0])


def test_a_stroke_stays_where_a_later_cycle_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator, other = made("plain"), made("plain")
    for one in (simulator, other):
        one.paint(stroke(one.world, "raise"))
    step, asked = DropletErosion.step, 0

    def fails(self: DropletErosion, *arguments: object) -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise ProcessFailure("droplets", 1, 2)
        step(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(DropletErosion, "step", fails)
    simulator.advance()
    with pytest.raises(SimulationError):
        simulator.advance()
    monkeypatch.undo()
    other.advance()
    assert bits(simulator.world) == bits(other.world)


def test_a_stroke_does_not_go_on_where_the_land_is_another_one(hands: Hands) -> None:
    hands.step(2)
    for go_elsewhere in (
        lambda before: hands.ask(GoTo(before.branch, before.cycle, before.edits), Arrived),
        lambda before: hands.ask(Open((SCENES["sea"](),)), Opened),
    ):
        first, second, _ = parts(hands.lockstep.worlds[0], "raise", 1, 3)
        before = hands.ask(first, Edited).before
        go_elsewhere(before)
        hands.step(1)
        there, edits = hands.bits, len(hands.thread.session.timeline.edits_of(hands.moment))
        hands.thread.ask(second)
        hands.settle()
        assert hands.bits == there
        assert len(hands.thread.session.timeline.edits_of(hands.moment)) == edits


def test_strokes_wait_for_their_kernels_in_their_order(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    hands.step(1)
    before = hands.bits
    ready = False
    monkeypatch.setattr("app.engine.readiness.Readiness.is_ready", lambda *arguments: ready)
    for simulator in hands.lockstep.simulators:
        simulator.prepared.clear()
    first, second = (parts(hands.lockstep.worlds[0], tool, number, 1)[0] for number, tool in enumerate(TIMED[1:3], 1))
    hands.thread.ask(second)  # erosion, by the kernel of drops
    hands.thread.ask(first)
    hands.settle()
    assert hands.bits == before
    ready = True
    hands.wait(lambda: len([report for report in hands.reports if isinstance(report, Edited)]) == 2)
    assert [report.request for report in hands.reports if isinstance(report, Edited)] == [second, first]
    assert hands.bits != before


def test_kernels_of_rates_are_made_before_one_is_painted(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("app.engine.readiness.Readiness.is_ready", lambda self, build, *others: asked.append(build))
    hands.thread.ask(Watch("slope"))
    hands.settle()
    assert not [build for build in asked if build.endswith(ON_RICH_GROUND)]
    hands.thread.ask(Watch("protection"))
    hands.settle()
    assert "droplets" + ON_RICH_GROUND in asked


def test_a_stroke_that_cannot_be_done_changes_nothing(hands: Hands) -> None:
    before = hands.bits
    for wrong in (
        Stroke("loose", ((10.0, 10.0, 1.0),), 50.0, 1.0, choice="marzipan"),
        Stroke("sow", ((10.0, 10.0, 1.0),), 50.0, 1.0, choice="triffid"),
        Stroke("stamp", ((10.0, 10.0, 1.0),), 50.0, 1.0, choice="nothing.png"),
        Stroke("slope", ((10.0, 10.0, 1.0),), 50.0, 1.0),
        Stroke("spring", ((10.0, 10.0, 1.0),), 50.0, 1.0),
        Stroke("explode", ((10.0, 10.0, 1.0),), 50.0, 1.0),
    ):
        if wrong.choice != "marzipan" or hands.lockstep.worlds[0].materials:
            hands.ask(wrong, Refused)
    assert hands.bits == before


@pytest.mark.parametrize("name", ["lakes", "sea"])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 6))])
def test_pictures_between_the_parts_of_a_stroke_change_no_bit(name: str, seed: int) -> None:
    """A picture brings the levels of water up to date, and comes when it comes; a journal knows nothing of it."""
    chance = np.random.default_rng(seed)
    live, again = made(name, 1), made(name, 1)
    for number in range(6):
        tool = str(chance.choice(["lower", "raise", "pour", "drain", "lake", "erode", "sow"]))
        choice = str(chance.choice(choices(live.world, tool)))
        places = [dab(live.world, *chance.random(2)) for _ in range(3)]
        level, radius = float(live.world.ground.min()) - 5.0, float(chance.uniform(0.1, 0.5))
        amount = 50.0 if TOOLS[tool].amount == "metres" else None
        whole = stroke(
            live.world, tool, *places, radius=radius, amount=amount, choice=choice, number=number, level=level
        )
        parts = [msgspec.structs.replace(whole, dabs=whole.dabs[n : n + 1], first=n) for n in range(3)]
        for part in parts:
            if chance.random() < 0.5:
                live.settle_levels()
            live.paint(part)
        for part in parts if TOOLS[tool].runs_drops else [whole]:
            again.paint(part)
        if chance.random() < 0.3:
            live.advance()
            again.advance()
        live.settle_levels()
        again.settle_levels()
        assert bits(live.world) == bits(again.world), (number, tool)


def test_where_a_stroke_fails_in_one_world_none_is_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    lockstep = Lockstep([made("plain"), made("plain")])
    before = [state_bits(world) for world in lockstep.worlds]
    monkeypatch.setattr("app.engine.simulator.paint", failing_after(1))
    with pytest.raises(SimulationError, match=r"raise: .*nothing was changed"):
        lockstep.paint(stroke(lockstep.worlds[0], "raise"))
    assert [state_bits(world) for world in lockstep.worlds] == before


def test_where_strokes_cannot_be_painted_again_the_backup_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = made("plain")
    simulator.back_up()
    before = state_bits(simulator.world)
    monkeypatch.setattr("app.engine.simulator.paint", failing_after(1))
    simulator.paint(stroke(simulator.world, "raise"))
    with pytest.raises(SimulationError, match="went back to cycle 3"):
        simulator.paint(stroke(simulator.world, "raise"))
    assert state_bits(simulator.world) == before


def state_bits(world: World) -> dict[str, object]:
    """All but what is derived for pictures."""
    return {name: value for name, value in bits(world).items() if name != "shown"}


def failing_after(times: int) -> Callable[..., None]:
    """Painting that is no good after so many strokes."""
    done = 0

    def painted(*arguments: object) -> None:
        nonlocal done
        done += 1
        if done > times:
            raise UserError("there is no more paint")
        paint(*arguments)  # type: ignore[arg-type]

    return painted


def test_a_dam_leaves_protected_ground_alone() -> None:
    simulator = made("plain")
    world = simulator.world
    world.trace("mobility")[:, :20] = 0.0
    before = world.ground.copy()
    simulator.paint(stroke(world, "lake", dab(world, 0.5, 0.5), radius=0.3, level=float(before.max()) + 5.0))
    assert np.array_equal(world.ground[:, :20], before[:, :20])
    assert (world.ground[:, 20:] > before[:, 20:]).any()


def test_plants_rise_with_the_land_below_them() -> None:
    simulator = made("plants")
    world = simulator.world
    buried = world.ground - world.layers["rooted_ground"]
    simulator.paint(stroke(world, "raise", amount=40.0))
    assert world.ground - world.layers["rooted_ground"] == pytest.approx(buried, abs=1e-3)
    simulator.paint(stroke(world, "rock", amount=40.0))
    assert (world.ground - world.layers["rooted_ground"]).max() > 39.0


def test_what_a_field_says_beyond_a_brush_is_not_painted_down() -> None:
    world = made("plain").world
    world.lay_rate("rate_weathering", np.full(world.shape, 20.0))
    paint(world, Scene(), stroke(world, "faster", choice="weathering"))
    assert (world.layers["rate_weathering"] == 20.0).all()


def test_heaps_of_all_kinds_stay_within_bounds() -> None:
    simulator = made("kinds")
    world = simulator.world
    for kind in choices(world, "loose"):
        simulator.paint(stroke(world, "loose", choice=kind, amount=1e9))
    simulator.verify()
    simulator.paint(stroke(world, "rock", amount=1e9))
    simulator.verify()


@pytest.mark.parametrize("tool", ["smooth", "erode"])
def test_what_no_memory_holds_is_not_asked_for(tool: str) -> None:
    simulator = made("plain")
    huge = stroke(simulator.world, tool, amount=1.0 if tool == "smooth" else 1e9, radius=1e6)
    if tool == "smooth":
        simulator.paint(huge)
        simulator.verify()
    else:
        with pytest.raises(UserError, match="drops in one dab"):
            check(simulator.world, huge)


def test_the_difference_of_worlds_is_shown_anew_after_each_stroke() -> None:
    lockstep, publisher = Lockstep([made("plain"), made("plain")]), Publisher()
    publisher.begin(publisher.first(lockstep.worlds, DIFFERENCE))
    shown = []
    for number, world in enumerate((0, 0, 1)):
        lockstep.paint(msgspec.structs.replace(stroke(lockstep.worlds[0], "raise", number=number), world=world))
        publisher.publish(lockstep.worlds, (None, None), DIFFERENCE)
        shown.append([snapshot.versions[DIFFERENCE] for snapshot in publisher.take()])
    assert len(set(map(tuple, shown))) == len(shown) == 3
    assert all(before < after for one in zip(*shown, strict=True) for before, after in itertools.pairwise(one))


def test_an_image_is_stamped_as_its_file_is_now(tmp_path: Path) -> None:
    path = tmp_path / "slope.npy"
    heights = []
    for number, picture in enumerate((np.eye(9), 1.0 - np.eye(9))):
        np.save(path, picture.astype(np.float32))
        os.utime(path, (number, number))
        world = World(np.zeros((16, 16)), np.zeros((16, 16)), cell_size=1.0, seed=0)
        paint(world, Scene(), Stroke("stamp", ((8.0, 8.0, 1.0),), 6.0, 10.0, choice=str(path)))
        heights.append(world.ground)
    assert not np.array_equal(*heights)


def test_only_the_world_that_is_meant_is_painted() -> None:
    lockstep = Lockstep([made("plain"), made("plain")])
    before = bits(lockstep.worlds[0])
    lockstep.paint(msgspec.structs.replace(stroke(lockstep.worlds[0], "raise"), world=1))
    assert bits(lockstep.worlds[0]) == before != bits(lockstep.worlds[1])


# Files.


def journal_with(request: Stroke) -> Journal:
    return Journal((Edit(0, Open((small_scene(),))), Edit(3, request)), 5)


@few_or_many(25, 10_000)
@given(strokes)
def test_strokes_are_read_as_they_were_written(drawn: tuple) -> None:  # type: ignore[type-arg]
    import tomllib

    import tomli_w

    tool, dabs, radius, amount, hardness, level, angle, pick = drawn
    choice = "mesa" if TOOLS[tool].choice == "form" else "x"
    asked = Stroke(tool, tuple(dabs), radius, amount, hardness, level, angle, choice, number=pick, first=pick)
    written = tomli_w.dumps(journal_content(journal_with(asked), Path()))
    assert journal_from(tomllib.loads(written), "x", Path()).edits[1].request == asked


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tool", "explode"),
        ("tool", 3),
        ("dabs", []),
        ("dabs", [[1.0, 2.0]]),
        ("dabs", [[1.0, float("nan"), 1.0]]),
        ("dabs", [[1.0, 1.0, 2.0]]),
        ("radius", 0.0),
        ("radius", float("inf")),
        ("amount", -1.0),
        ("hardness", 1.5),
        ("world", 99),
        ("number", -1),
    ],
)
def test_a_wrong_stroke_is_told_in_one_line(key: str, value: object) -> None:
    content = journal_content(journal_with(Stroke("raise", ((1.0, 2.0, 1.0),), 5.0, 1.0)), Path())
    content["edit"][1][key] = value
    with pytest.raises(UserError, match="after cycle 3"):
        journal_from(content, "x", Path())

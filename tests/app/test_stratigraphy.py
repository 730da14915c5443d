"""Stratigraphy as a process of a scene: beds in the ledger, in files, under brushes, and when it is switched."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.refining import refined
from app.engine.stored_world import StoredWorld
from app.export.landscape import Landscape
from app.export.maps import maps_of
from app.files import checkpoint
from app.model.errors import UserError
from app.model.soundness import find_fault
from app.model.world import World
from app.picture.passes.edge_beds import edge_texels
from app.picture.passes.materials import albedo
from app.processes.stratigraphy import SPARED
from app.scene.edits import Stroke
from app.scene.scene import Scene
from app.sources.fields import LandVariables
from kernels.beds import NO_BED
from tests.app.small import assert_continues_after_saving, bits, simulated, small_scene


def layered(**settings: object) -> Scene:
    """Deep soil of several kinds, on which drops and wind work."""
    usual = {
        "materials__enabled": True,
        "materials__loose": "sand 2; clay 1",
        "world__soil_depth": 3.0,
        "stratigraphy__enabled": True,
        "stratigraphy__active_layer": 0.1,
        "wind__enabled": True,
        "wind__count": 20,
        "cascade__enabled": True,
    }
    return small_scene(**{**usual, **settings})


def lay(world: World, kind: str, metres: float) -> None:
    """Lay down so much of a kind everywhere, by hand."""
    world.mix[..., world.materials.kind(kind)] += metres  # type: ignore[union-attr]
    volume = metres * world.ground.size * world.cell_area
    for account in (world.ledger.sediment, world.ledger.kinds[kind]):
        account.gain("by hand", volume)
    world.sum_mix()


def test_off_by_default_and_without_a_trace() -> None:
    assert not Scene().stratigraphy.enabled
    world = simulated(2, layered(stratigraphy__enabled=False)).world
    assert world.beds is None and "buried" not in world.layers
    # On one kind of ground it does nothing.
    on, off = (
        simulated(2, layered(materials__enabled=False, stratigraphy__enabled=enabled)) for enabled in (True, False)
    )
    assert bits(on.world) == bits(off.world)


@pytest.mark.parametrize("size", [(40, 32), (8, 8), (9, 61)])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_kind_is_lost_and_threads_change_no_bit(seed: int, size: tuple[int, int]) -> None:
    columns, rows = size
    scene = layered(world__seed=seed, world__columns=columns, world__rows=rows)
    one, two = simulated(0, scene, threads=1), simulated(0, scene, threads=2)
    for _ in range(8):
        one.advance()
        two.advance()
        assert one.world.imbalance() < 1e-13
    one.verify()
    assert bits(one.world) == bits(two.world)
    beds = one.world.beds
    assert beds is not None and beds.numbers.any() and "clay" in one.world.ledger.kinds
    assert one.world.stored("sediment") == pytest.approx(sum(map(one.world.stored, one.world.ledger.kinds)))


def test_ground_stays_where_it_is_when_it_is_switched() -> None:
    simulator = simulated(0, layered(droplets__enabled=False, wind__enabled=False, cascade__enabled=False))
    before = simulator.world.ground.copy()
    for enabled in (True, False, True):
        simulator.change(simulator.scene.with_value("stratigraphy.enabled", enabled))
        simulator.advance()
        simulator.verify()
        assert (simulator.world.beds is not None) == enabled
        np.testing.assert_allclose(simulator.world.ground, before, rtol=1e-12)


def test_clay_of_a_flood_lies_under_sand_of_a_dune_and_comes_out_where_it_is_dug() -> None:
    scene = layered(world__soil_depth=0.0, droplets__enabled=False, wind__enabled=False, cascade__enabled=False)
    simulator = simulated(0, scene)
    world = simulator.world
    assert world.materials is not None
    clay, sand = (world.materials.kind(kind) for kind in ("clay", "sand"))
    for kind in ("clay", "sand"):
        for _ in range(8):
            lay(world, kind, 0.25)
            simulator.advance()
    simulator.verify()
    assert (world.mix[..., clay] < 0.01 * world.mix[..., sand]).all(), "the surface is of sand"

    size, shape = world.cell_size, world.shape
    middle = (0.5 * shape[1] * size, 0.5 * shape[0] * size, 1.0)
    before = world.stored("clay")
    simulator.paint(Stroke("lower", (middle,), radius=6.0 * size, amount=2.1))
    cell = shape[0] // 2, shape[1] // 2
    assert world.mix[(*cell, clay)] > world.mix[(*cell, sand)], "the ground is dug down to the clay"
    assert world.stored("clay") < before
    far = world.mix[0, 0]
    assert far[clay] < 0.01 * far[sand]
    simulator.advance()
    simulator.verify()
    assert world.imbalance() < 1e-13

    rock = world.bedrock[cell]
    simulator.paint(Stroke("rock", (middle,), radius=6.0 * size, amount=1.0))
    assert not world.mix[cell].any() and world.layers["buried"][cell] == 0.0 and world.bedrock[cell] > rock + 1.0
    simulator.verify()


def test_beds_are_saved_kept_copied_and_refined(tmp_path: Path) -> None:
    simulator = simulated(6, layered())
    world = simulator.world
    for again in (world.copy(), StoredWorld.of(simulator).simulator().world):
        assert bits(again) == bits(world)
    finer = refined(world, 2, channels=False)
    assert find_fault(finer) is None and finer.imbalance() < 1e-12
    assert finer.stored("clay") == pytest.approx(world.stored("clay"), rel=1e-12)

    path = tmp_path / "world.npz"
    state = world.state()
    assert_continues_after_saving(simulator, path, 3)
    after = bits(world)
    world.restore(state)
    for _ in range(3):
        simulator.advance()
    assert bits(world) == after

    assert world.beds is not None
    uppermost = world.beds.thicknesses[5].copy()
    world.beds.thicknesses[5] = 0.0
    assert (fault := find_fault(world)) and "have a thickness" in fault.why
    world.beds.thicknesses[5] = uppermost
    world.beds.numbers[3, 4] += 1
    assert (fault := find_fault(world)) and "as many as all cells have" in fault.why
    world.beds.numbers[3, 4] -= 1
    world.beds.cycles[5] = NO_BED
    assert (fault := find_fault(world)) and "a cycle that there was not" in fault.why
    world.beds.cycles[5] = 0.0
    world.beds.thicknesses[5, 0] += 1.0
    assert (fault := find_fault(world)) and fault.layer == "buried"
    checkpoint.save(path, world, simulator.scene)
    with pytest.raises(UserError, match=r"world\.npz: its buried beds are not together what the layer 'buried' is"):
        checkpoint.load(path)


def test_a_file_of_an_older_version_has_as_many_beds_in_each_cell(tmp_path: Path) -> None:
    simulator, path = simulated(6, layered()), tmp_path / "world.npz"
    world = simulator.world
    assert world.beds is not None
    checkpoint.save(path, world, simulator.scene)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name != "bed_numbers"}
    arrays["beds"], arrays["bed_cycles"] = world.beds.dense(8)
    np.savez(path, **arrays)
    again, _ = checkpoint.load(path)
    assert again.beds is not None
    assert all(np.array_equal(*pair) for pair in zip(world.beds, again.beds, strict=True))
    arrays["bed_cycles"][3, 4, 7] = 0.0
    np.savez(path, **arrays)
    with pytest.raises(UserError, match=r"world\.npz: its buried beds must lie on one another"):
        checkpoint.load(path)


def test_beds_of_finer_cells_get_thicker_towards_their_continuation() -> None:
    """A wedge stays a wedge, where the bed above it begins too; no kind is lost; what does not go on has a step."""
    beds = "sand 1 + 3 * x; clay 2 * (x < 0.5); gravel 2 - y; soil 1.5 * (y < 0.5)"
    world, _ = create_world(layered(world__soil_depth=0.0, soil__beds=beds))
    fine = refined(world, 4, channels=False)
    assert fine.beds is not None and world.beds is not None and world.materials is not None
    assert find_fault(fine) is None and fine.imbalance() < 1e-13
    for kind in ("sand", "clay", "gravel", "soil"):
        assert fine.stored(kind) == pytest.approx(world.stored(kind), rel=1e-13)
    old, new = (each.beds.dense()[0].sum(axis=2) for each in (world, fine))
    np.testing.assert_allclose(new.reshape(32, 4, 40, 4, -1).mean(axis=(1, 3)), old, rtol=1e-6)
    rows, columns = new.shape[:2]
    south, east = ((np.arange(rows) + 0.5) / rows)[:, None], (np.arange(columns) + 0.5) / columns
    sand, clay, gravel, soil = (new[..., world.materials.kind(kind)] for kind in ("sand", "clay", "gravel", "soil"))
    np.testing.assert_allclose(sand, np.broadcast_to(1.0 + 3.0 * east, new.shape[:2]), rtol=1e-5)
    np.testing.assert_allclose(gravel, np.broadcast_to(2.0 - south, new.shape[:2]), rtol=1e-5)
    np.testing.assert_allclose(clay, np.broadcast_to(2.0 * (east < 0.5), new.shape[:2]))
    np.testing.assert_allclose(soil, np.broadcast_to(1.5 * (south < 0.5), new.shape[:2]))

    # A lens wedges out within its last cells, where what lies below comes out.
    lens, _ = create_world(layered(world__soil_depth=0.0, soil__beds="sand max(3.1 - 7 * abs(x - 0.503), 0); clay 2"))
    finer = refined(lens, 4, channels=False)
    assert finer.beds is not None and lens.beds is not None and find_fault(finer) is None
    (first, *_, last), there = np.flatnonzero(lens.beds.numbers[3] == 2), finer.beds.numbers[12]
    ends = there[4 * first : 4 * first + 4], there[4 * last : 4 * last + 4][::-1]
    assert all(set(end) == {1, 2} and (np.diff(end.astype(int)) >= 0).all() for end in ends)
    assert finer.stored("sand") == pytest.approx(lens.stored("sand"), rel=1e-13)
    assert finer.stored("clay") == pytest.approx(lens.stored("clay"), rel=1e-13)

    # A thin end is kept.
    thin, _ = create_world(layered(world__soil_depth=0.0, soil__beds="sand 0.01 + 40 * (x > 0.5) * (x - 0.5)"))
    finer = refined(thin, 2, channels=False)
    assert finer.beds is not None and finer.beds.sum().min() > 0.0005 and find_fault(finer) is None
    assert finer.stored("sand") == pytest.approx(thin.stored("sand"), rel=1e-13)


def test_the_number_of_beds_changes_while_it_runs() -> None:
    simulator = simulated(2, layered(stratigraphy__beds=5))
    for number in range(9):
        lay(simulator.world, ("clay", "sand")[number % 2], 0.5)
        simulator.advance()
    assert simulator.world.beds.most == 5  # type: ignore[union-attr]
    still = {"droplets.enabled": False, "wind.enabled": False, "cascade.enabled": False}
    simulator.change(simulator.scene.with_values(still))
    simulator.advance()
    version = simulator.world.version_of("beds")
    simulator.change(simulator.scene.with_value("stratigraphy.beds", 2))
    simulator.advance()
    assert simulator.world.version_of("beds") != version, "or kept states would share those of before"
    for beds in (2, 8):
        simulator.change(simulator.scene.with_value("stratigraphy.beds", beds))
        for number in range(beds):
            simulator.advance()
            assert simulator.world.beds.most <= beds  # type: ignore[union-attr]
            lay(simulator.world, ("clay", "sand")[number % 2], 0.5)
        simulator.advance()
        simulator.verify()
        assert simulator.world.imbalance() < 1e-13
        assert simulator.world.beds.most == beds  # type: ignore[union-attr]


BEDS = "sand 1.5 * (x > 0.3); clay 2 * (x < 0.6); gravel 0.25"


def test_beds_at_the_start_lie_as_they_are_told_and_the_ground_as_high() -> None:
    still = {"droplets__enabled": False, "wind__enabled": False, "cascade__enabled": False, "world__soil_depth": 0.0}
    before, _ = create_world(layered(**still))
    simulator = simulated(0, layered(**still, soil__beds=BEDS))
    world = simulator.world
    assert world.beds is not None and world.materials is not None
    np.testing.assert_allclose(world.ground, before.ground, rtol=1e-12)
    sand, clay, gravel = (world.materials.kind(kind) for kind in ("sand", "clay", "gravel"))
    west, middle, east = (world.beds.dense(4)[0][3, column] for column in (2, 18, 37))
    assert west[0, clay] == 2.0 and west[1, gravel] == 0.25 and not west[2:].any()
    assert middle[0, sand] == 1.5 and middle[1, clay] == 2.0 and middle[2, gravel] == 0.25
    assert east[0, sand] == 1.5 and east[1, gravel] == 0.25
    assert find_fault(world) is None and world.imbalance() < 1e-13
    simulator.advance()
    assert world.mix[3, 2].argmax() == clay and world.mix[3, 18].argmax() == sand, "the uppermost beds are open"
    simulator.verify()

    off, _ = create_world(layered(**still, soil__beds=BEDS, stratigraphy__enabled=False))
    assert off.beds is None and bits(off) == bits(before)
    for text, why in {
        "sand": "'sand' must be a kind and an expression, such as clay 2",
        "silt 2": "there is no loose material 'silt'",
        "clay (2": "parentheses",
        "; ".join(["clay 1"] * 17): "17 beds; there may be up to 16",
    }.items():
        with pytest.raises(UserError, match=r"soil\.beds.*" + re.escape(why)):
            create_world(layered(soil__beds=text))


def test_overlays_and_maps_tell_age_number_and_thickness_of_beds() -> None:
    simulator = simulated(0, layered(soil__beds=BEDS))
    for _ in range(4):
        simulator.advance()
        lay(simulator.world, "gravel", 0.5)
    simulator.advance()
    world = simulator.world
    assert world.beds is not None
    shown = take_snapshot(world, overlay="bed_age").layers
    np.testing.assert_array_equal(shown["bed_age"], world.cycle - world.beds.dense()[1][..., 0])
    assert "beds" not in shown and shown["bed_age"].max() <= 5.0 and np.median(shown["bed_age"]) < 4.0
    np.testing.assert_array_equal(take_snapshot(world, overlay="beds").layers["beds"], world.beds.numbers)
    without = take_snapshot(world, overlay="none").layers
    assert not {"bed_age", "beds", "buried", "burden"} & without.keys()
    np.testing.assert_allclose(without["sediment"], world.sediment + world.layers["buried"], rtol=1e-6)
    np.testing.assert_allclose(without["bedrock"] + without["sediment"], world.ground, rtol=1e-6)

    lands = LandVariables.of_world(world), LandVariables.of_snapshot(take_snapshot(world))
    np.testing.assert_allclose(*(land.value("sediment") for land in lands), rtol=1e-6)

    landscape = Landscape(world, simulator.scene)
    maps = {each.name: each.values(landscape) for each in maps_of(landscape, ("beds", "sediment", "sediment_kinds"))}
    number = world.beds.most
    thicknesses = [maps[f"bed_{bed}_thickness"] for bed in range(number + 1)]
    assert f"bed_{number + 1}_thickness" not in maps
    np.testing.assert_allclose(sum(thicknesses), maps["sediment"], rtol=1e-12)
    kinds = (maps[f"sediment_{kind}"] for kind in world.materials.names)  # type: ignore[union-attr]
    np.testing.assert_allclose(sum(kinds), maps["sediment"], rtol=1e-12)
    np.testing.assert_allclose(maps["bed_1_age"], world.cycle - world.beds.dense()[1][..., 0], rtol=1e-6)
    older = maps["bed_2_thickness"] > 0.0
    assert (maps["bed_2_age"][older] >= maps["bed_1_age"][older]).all()


def test_beds_hold_groundwater_and_keep_frost_from_rock() -> None:
    """As the same ground does that is mixed."""
    still = {"droplets__enabled": False, "wind__enabled": False, "cascade__enabled": False}
    wet = {"moisture__enabled": True, "weathering__enabled": True, "weathering__breaking": 0.0}
    scene = layered(**still, **wet, weathering__frost=0.01, climate__temperature=-5.0)
    on, off = (simulated(5, scene.with_value("stratigraphy.enabled", enabled)).world for enabled in (True, False))
    assert on.beds is not None and on.layers["groundwater"].any()
    np.testing.assert_allclose(on.layers["groundwater"], off.layers["groundwater"], rtol=1e-9)
    assert np.array_equal(on.bedrock, off.bedrock) and "broken" not in on.ledger.rock.lost


def test_walls_of_the_block_show_the_beds_at_its_edges() -> None:
    still = {"droplets__enabled": False, "wind__enabled": False, "cascade__enabled": False, "world__soil_depth": 0.0}
    simulator = simulated(1, layered(**still, soil__beds="sand 2; clay 3 * x"))
    world, materials = simulator.world, simulator.world.materials
    assert materials is not None
    snapshot = take_snapshot(world)
    beds = snapshot.edge_beds
    rows, columns = world.shape
    assert beds is not None and beds.shape == (4, max(rows, columns), 3, len(materials.loose))
    north, east, south, west = beds.sum(axis=(2, 3))
    np.testing.assert_allclose(north, world.loose[0], rtol=1e-6)
    np.testing.assert_allclose(south, world.loose[-1], rtol=1e-6)
    np.testing.assert_allclose(east[:rows], world.loose[:, -1], rtol=1e-6)
    np.testing.assert_allclose(west[:rows], world.loose[:, 0], rtol=1e-6)
    assert not west[rows:].any()
    assert take_snapshot(world, old=snapshot).edge_beds is beds, "nothing has changed"

    texels = edge_texels(beds, materials).reshape(4, 3, max(rows, columns), 4)
    sand, clay = (np.sqrt(albedo(materials.loose[materials.kind(kind)])) for kind in ("sand", "clay"))
    foot = texels[1, :, 5, 3]
    np.testing.assert_allclose(foot, [0.1, 2.0, 2.0 + 3.0 * (columns - 0.5) / columns], rtol=1e-5)
    np.testing.assert_allclose(texels[1, 0, 5, :3], sand, rtol=1e-5)
    tones = [(texels[1, bed, 5, :3] / colour).mean() for bed, colour in ((1, sand), (2, clay))]
    assert tones[0] < 1.0 and tones[1] == pytest.approx(1.0), "every other bed is darker"


@pytest.mark.parametrize("in_time", [False, True])
def test_what_a_cycle_takes_of_rock_below_beds_is_taken_of_beds(in_time: bool) -> None:
    still = {"wind__enabled": False, "cascade__enabled": False, "world__soil_depth": 0.0}
    still |= {f"geology__{rate}": 0.0 for rate in ("uplift", "erodibility", "diffusivity", "soil_production")}
    beds = "sand 0.4; clay 5"
    scene = layered(
        geology__enabled=in_time, **still, soil__beds=beds, materials__strata="clay", stratigraphy__active_layer=0.02
    )
    simulator = simulated(1, scene)
    world = simulator.world
    for _ in range(10):
        rock, deep = world.bedrock.copy(), world.layers["buried"] > 3.0
        simulator.advance()
        assert deep.mean() > 0.5 and np.abs(world.bedrock - rock)[deep].max() < 1e-5
        assert world.imbalance() < 1e-12
    simulator.verify()
    taken = {name: account.lost.get(SPARED, 0.0) for name, account in world.ledger.kinds.items()}
    assert taken["clay"] > 0.0 and taken["gravel"] == 0.0
    assert world.ledger.rock.gained[SPARED] == pytest.approx(sum(taken.values()))


# Geological time


def aged(**settings: object) -> Scene:
    """Two metres of sand on thick clay, of which rivers and slopes take up to two metres in a step."""
    still = {"droplets__enabled": False, "wind__enabled": False, "cascade__enabled": False, "world__soil_depth": 0.0}
    time = {"geology__enabled": True, "geology__years_per_cycle": 1500.0, "geology__uplift": 0.5, "geology__cover": 0.5}
    worn = {"geology__erodibility": 2e-5, "geology__diffusivity": 0.02, "geology__critical_slope": 90.0}
    worn |= {"world__relief": 40.0, "geology__soil_production": 1e-3}
    return layered(**{**still, **time, **worn, "soil__beds": "sand 2; clay 40", **settings})


@pytest.mark.parametrize("sideways", ["none", "right-lateral fault"])
def test_geological_time_takes_what_lies_on_top_and_lays_down_on_top(sideways: str) -> None:
    simulator = simulated(0, aged(geology__sideways=sideways, geology__sideways_rate=20.0))
    world = simulator.world
    assert world.materials is not None
    clay, sand = (world.materials.kind(kind) for kind in ("clay", "sand"))
    lost = []
    for _ in range(12):
        simulator.advance()
        assert world.imbalance() < 1e-12 and find_fault(world) is None
        lost.append({kind: sum(world.ledger.kinds[kind].lost.values()) for kind in ("clay", "sand")})
    simulator.verify()
    assert 0.0 <= lost[0]["clay"] < 1e-6 * lost[0]["sand"], "though twenty times as much clay lies below"
    later, last = lost[-2:]
    assert last["clay"] - later["clay"] > last["sand"] - later["sand"], "it comes out where the sand is gone"
    assert SPARED not in world.ledger.rock.gained, "beds were taken as beds"
    assert world.ledger.rock.lost.get("turned to soil", 0.0) < 1e-6 * last["clay"], "none under beds"

    assert world.beds is not None
    assert world.beds.numbers.all()
    deepest = world.beds.thicknesses[np.cumsum(world.beds.numbers, dtype=np.intp) - 1]
    assert (deepest[:, clay] > 0.99 * deepest.sum(axis=1)).all()
    sandy = world.mix[..., sand] / world.sediment
    assert (sandy < 0.01).mean() > 0.1 and (sandy > 0.5).mean() > 0.1


def test_geological_time_over_beds_has_the_same_bits_on_any_threads_and_goes_on_from_files(tmp_path: Path) -> None:
    one, two = (simulated(4, aged(), threads=threads) for threads in (1, 2))
    assert bits(one.world) == bits(two.world)
    assert_continues_after_saving(one, tmp_path / "world.npz", 2)


def test_rock_that_sinks_with_its_beds_takes_none_of_them() -> None:
    simulator = simulated(0, aged(geology__uplift=-2.0, geology__erodibility=0.0, geology__diffusivity=0.0))
    world = simulator.world
    before = world.loose.copy()
    simulator.advance()
    np.testing.assert_allclose(world.loose, before, rtol=1e-9)
    assert SPARED not in world.ledger.rock.gained and world.ledger.rock.lost["subsidence"] > 0.0


def test_beds_cover_rock_as_mixed_ground_does() -> None:
    """Of one kind, beds change nothing in what time does."""
    one = {"soil__beds": "clay 3 + 4 * x", "materials__loose": "clay", "geology__soil_production": 0.0}
    beds = simulated(3, aged(**one)).world
    mixed = simulated(3, aged(**one, stratigraphy__active_layer=10.0)).world
    assert beds.beds is not None and beds.layers["buried"].mean() > 1.0
    np.testing.assert_allclose(beds.ground, mixed.ground, atol=1e-9)

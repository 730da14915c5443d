"""Strata that faults displace and intrusions cut: where they lie, and that all that wears rock finds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.refining import refined
from app.files import checkpoint
from app.model.errors import UserError
from app.model.layers import ROOF
from app.model.layers import STRATA as STRATA_TOP
from app.model.materials import is_intruded, rock_numbers
from app.model.world import World
from app.scene.scene import Scene
from kernels.rock import INTRUDED
from tests.app.small import bits, simulated, small_scene

STRATA = {"materials__enabled": True, "materials__strata": "sandstone 12; clay 6; siltstone", "world__soil_depth": 0.0}
DYKE = "0.06 - abs(x - 0.5)"  # of four cells


def layered(**settings: object) -> Scene:
    return small_scene(**{**STRATA, **settings})


def made(scene: Scene) -> World:
    world, _ = create_world(scene)
    return world


def rocks_at(world: World, height: float) -> list[list[str]]:
    """The names of the rocks at a height in metres, [row][column]."""
    assert world.materials is not None
    names = np.array([rock.name for rock in world.materials.rocks])
    depth = world.layers[STRATA_TOP] - height
    found: list[list[str]] = names[rock_numbers(world.materials, depth, world.layers.get(ROOF))].tolist()
    return found


def test_a_fault_lifts_strata_on_one_side() -> None:
    level, faulted = (made(layered(materials__shift=shift)) for shift in ("", "15 * (x > 0.5)"))
    top = float(level.layers[STRATA_TOP].max())
    assert rocks_at(level, top - 5.0) == [["sandstone"] * 40] * 32
    assert rocks_at(faulted, top - 5.0) == [["sandstone"] * 20 + ["siltstone"] * 20] * 32
    assert np.array_equal(level.ground, faulted.ground)


def test_an_intrusion_cuts_through_all_strata() -> None:
    world = made(layered(materials__intrusion=DYKE))
    for height in (-1e4, float(world.ground.min()), float(world.ground.max()), 1e4):
        (row, *others) = rocks_at(world, height)
        assert row[18:22] == ["granite"] * 4 and row.count("granite") == 4 and others == [row] * 31
    other = made(layered(materials__intrusion="1", materials__intrusion_rock="clay", materials__strata="clay"))
    assert set(rocks_at(other, 0.0)[0]) == {"clay"}


MOVED = {
    "droplets": {"droplets__count": 400, "droplets__rock_erodibility": 1.0},
    "weathering": {"weathering__enabled": True, "weathering__breaking": 0.5, "weathering__frost": 1.0},
    "wind": {"wind__enabled": True, "wind__count": 400, "wind__abrasion": 0.1, "wind__inflow": 0.5},
    "geology": {"geology__enabled": True, "geology__uplift": 1.0, "geology__soil_production": 1e-3},
    "snowballs": {"snowballs__enabled": True, "snowballs__count": 500},
}


@pytest.mark.parametrize("process", MOVED)
def test_what_is_worn_off_an_intrusion_is_of_its_rock(process: str) -> None:
    """All that is worn here is, though strata of clay lie at every height."""
    only = {"droplets__enabled": process == "droplets", "world__relief": 300.0, **MOVED[process]}
    worn: dict[str, dict[str, float]] = {}
    for intrusion in ("1", "-1"):
        scene = layered(materials__strata="clay 40; clay", materials__intrusion=intrusion, **only)
        world = simulated(3, scene).world
        worn[intrusion] = {kind: sum(account.gained.values()) for kind, account in world.ledger.kinds.items()}
        assert world.imbalance() < 1e-9
    granite, clay = worn["1"], worn["-1"]
    assert granite["clay"] == 0.0 and granite["sand"] + granite["gravel"] > 0.0
    assert clay["clay"] > 0.0 and clay["gravel"] == 0.0


def test_groundwater_does_not_fill_an_intrusion_of_tight_rock() -> None:
    scene = layered(
        materials__strata="sandstone", materials__intrusion=DYKE, moisture__enabled=True, moisture__groundwater=1.0
    )
    world = simulated(1, scene).world
    inside = is_intruded(world.layers[STRATA_TOP])
    assert (world.layers["groundwater"][inside] == 0.0).mean() > 0.9
    assert (world.layers["groundwater"][~inside] > 0.0).mean() > 0.9


def test_finer_cells_have_it_where_the_coarse_ones_had() -> None:
    scene = layered(materials__intrusion=DYKE, materials__shift="15 * (x > 0.7)")
    world = made(scene)
    fine = refined(world, 2, channels=False)
    rise, finer = world.layers[STRATA_TOP], fine.layers[STRATA_TOP]
    inside = is_intruded(rise)
    assert np.array_equal(is_intruded(finer), np.repeat(np.repeat(inside, 2, 0), 2, 1))
    tops = [np.where(is_intruded(layer), layer - INTRUDED, layer) for layer in (rise, finer)]
    assert abs(tops[0].min() - tops[1].min()) < 3.0 and abs(tops[0].max() - tops[1].max()) < 3.0


def test_a_saved_world_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    simulator = simulated(3, layered(materials__intrusion=DYKE, weathering__enabled=True))
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    world, _ = checkpoint.load(tmp_path / "world.npz")
    assert bits(world) == bits(simulator.world)
    assert world.materials is not None and world.materials.intruded
    assert rocks_at(world, 0.0) == rocks_at(simulator.world, 0.0)


# Intrusions that end below the ground.


def test_above_its_roof_strata_are_as_they_were() -> None:
    before, level, deep = (
        made(layered(materials__intrusion=intrusion, materials__intrusion_roof=roof))
        for intrusion, roof in (("", ""), (DYKE, "height - 10"), (DYKE, "15 + 100 * (y > 0.5)"))
    )
    for world, roofs in ((level, np.full((32, 40), 10.0)), (deep, deep.ground - np.repeat([15.0, 115.0], 16)[:, None])):
        for height in (-300.0, 9.0, 11.0, 60.0, 1e4):
            expected = np.array(rocks_at(before, height))
            expected[:, 18:22][height < roofs[:, 18:22]] = "granite"
            assert rocks_at(world, height) == expected.tolist()


@pytest.mark.parametrize("process", MOVED)
def test_what_comes_to_a_roof_finds_the_rock_below_it(process: str) -> None:
    """Beds above a deep roof are worn as if there were no intrusion; one above the ground is none."""
    only = {"droplets__enabled": process == "droplets", "world__relief": 300.0, **MOVED[process]}
    land: dict[tuple[str, str], World] = {}
    for intrusion, roof in (("-1", ""), ("1", "400"), ("1", ""), ("1", "-400"), ("1", "0.02")):
        scene = layered(
            materials__strata="clay 40; clay", materials__intrusion=intrusion, materials__intrusion_roof=roof, **only
        )
        land[intrusion, roof] = simulated(3, scene).world
        assert land[intrusion, roof].imbalance() < 1e-9
    none, deep, all_of_it, up, through = land.values()
    for one, same in ((none, deep), (all_of_it, up)):
        assert np.array_equal(one.bedrock, same.bedrock) and np.array_equal(one.mix, same.mix)
    clay, without, whole = (sum(world.ledger.kinds["clay"].gained.values()) for world in (through, none, all_of_it))
    assert whole == 0.0 < clay < without, "a thin bed is soon worn through"


def test_a_roof_rises_with_its_rock_however_slowly() -> None:
    settings = {"geology__enabled": True, "geology__uplift": 0.1, "geology__years_per_cycle": 100.0}
    simulator = simulated(0, layered(materials__intrusion=DYKE, materials__intrusion_roof="40", **settings))
    world = simulator.world
    before = world.layers[STRATA_TOP] - world.layers[ROOF]
    for _ in range(20):
        simulator.advance()
    inner = np.s_[1:-1, 18:22]  # the edges are the base level
    assert (world.layers[STRATA_TOP] - world.layers[ROOF] - before)[inner] == pytest.approx(0.2, abs=1e-3)


def test_water_stands_on_the_roof_of_tight_rock() -> None:
    settings = {"materials__strata": "sandstone", "moisture__enabled": True, "moisture__groundwater": 1.0}
    world = simulated(
        1, layered(materials__intrusion="1", materials__intrusion_roof="2 + 8 * (x > 0.5)", **settings)
    ).world
    groundwater = world.layers["groundwater"]
    assert 0.0 < np.median(groundwater[:, :20]) < 0.5 * np.median(groundwater[:, 20:])


def test_finer_cells_have_the_roof_where_the_coarse_ones_had() -> None:
    world = made(layered(materials__intrusion=DYKE, materials__intrusion_roof="20 + 30 * y"))
    fine = refined(world, 2, channels=False)
    inside, finer = (layer < 0.5 * INTRUDED for layer in (world.layers[ROOF], fine.layers[ROOF]))
    assert np.array_equal(finer, np.repeat(np.repeat(inside, 2, 0), 2, 1))
    means = fine.layers[ROOF].reshape(32, 2, 40, 2).mean(axis=(1, 3))
    assert np.abs(means - world.layers[ROOF])[inside].max() < 1e-3
    assert len(np.unique(fine.layers[ROOF][:, 36:44])) > 2 * len(np.unique(world.layers[ROOF][:, 18:22]))


def test_a_roof_is_kept_in_files_and_by_undo(tmp_path: Path) -> None:
    scene = layered(materials__intrusion=DYKE, materials__intrusion_roof="height - 20", weathering__enabled=True)
    simulator = simulated(3, scene)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    world, _ = checkpoint.load(tmp_path / "world.npz")
    copy = simulator.world.copy()
    for same in (world, copy):
        assert bits(same) == bits(simulator.world)
        assert rocks_at(same, 10.0) == rocks_at(simulator.world, 10.0) != rocks_at(simulator.world, 30.0)


def test_a_snapshot_shows_an_intrusion_where_the_ground_has_come_to_its_roof() -> None:
    world = made(layered(materials__intrusion=DYKE, materials__intrusion_roof="0.5"))
    shown = take_snapshot(world)
    assert not is_intruded(shown.layers[STRATA_TOP]).any()
    world.bedrock[:8] -= 1.0
    world.touched("bedrock")
    inside = is_intruded(take_snapshot(world, old=shown).layers[STRATA_TOP])
    assert inside[:8, 18:22].all() and inside.sum() == 32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"materials__shift": "20 * z"}, r"materials\.shift = '20 \* z': there is no variable 'z'"),
        ({"materials__intrusion": "1 / (x - x)"}, r"materials\.intrusion: .* is not a finite number at row 0"),
        ({"materials__intrusion": "1", "materials__intrusion_roof": "z"}, r"materials\.intrusion_roof = 'z': .*'z'"),
        (
            {"materials__intrusion": "1", "materials__intrusion_rock": "sand"},
            r"materials\.intrusion_rock: 'sand'",
        ),
        ({"materials__intrusion": "1", "materials__intrusion_rock": "grani"}, r"did you mean 'granite'|granite"),
    ],
)
def test_what_is_wrong_is_said_with_its_parameter(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        made(layered(**settings))

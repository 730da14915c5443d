"""Traits of materials and of plants, which a scene can have otherwise than their files, also while it runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.thread import SimulationThread
from app.files import checkpoint
from app.model.errors import UserError
from app.model.materials import OF_ALL, OF_LOOSE, OF_SOLID, Material
from app.model.plants import Flora, Tree, shipped_flora
from app.model.soundness import find_fault
from app.model.trait_parameters import read_material_traits, read_plant_traits
from app.model.traits import Setting, declared_traits, traits_of, with_setting, without_setting, write_settings
from app.scene.edits import Change
from app.scene.scene import Scene, preset_to_toml, read_preset
from kernels.plants import TREE_TRAITS
from tests.app.small import bits, simulated, small_scene
from tests.waiting import wait_for

LIVING = {
    "materials__enabled": True,
    "materials__loose": "sand 3; gravel 2; clay 1",
    "materials__strata": "sandstone 12; clay 6; granite",
    "world__soil_depth": 1.0,
    "droplets__count": 80,
    "pools__enabled": True,
    "moisture__enabled": True,
    "moisture__groundwater": 0.4,
    "wind__enabled": True,
    "wind__count": 40,
    "snowballs__enabled": True,
    "snowballs__count": 20,
    "weathering__enabled": True,
    "cascade__enabled": True,
    "plants__enabled": True,
    "plants__rate": 8.0,
    "plants__tree_arrival": 0.01,
}


def living(**settings: object) -> Scene:
    return small_scene(**{**LIVING, **settings})


def changed_at(cycle: int, last: int, scene: Scene, path: str, text: str) -> Simulator:
    """A simulation in which a parameter changes after so many cycles."""
    simulator = simulated(cycle, scene)
    simulator.change(simulator.scene.with_value(path, text))
    for _ in range(last - cycle):
        simulator.advance()
    return simulator


# Texts.


def test_all_numbers_and_colours_of_a_kind_are_traits() -> None:
    assert set(declared_traits(Material)) == {*OF_ALL, *OF_SOLID, *OF_LOOSE, "colour"}
    assert set(declared_traits(Tree)) == {*TREE_TRAITS, "wetness", "temperature", "slope", "height", "colour"}
    assert set(traits_of(shipped_flora().grass)) == {"wetness", "temperature", "slope"}
    for kind in (Material, Tree):
        for trait in declared_traits(kind).values():
            assert trait.help and all(number.low < number.high and number.help for number in trait.numbers)


@given(st.data())
def test_what_is_written_is_read_again(data: st.DataObject) -> None:
    traits = declared_traits(Tree)
    settings: tuple[Setting, ...] = ()
    for _ in range(data.draw(st.integers(0, 6))):
        trait = data.draw(st.sampled_from(list(traits.values())))
        values = [round(data.draw(st.floats(n.low, n.high)), 6) for n in trait.numbers]
        values = sorted(min(max(v, n.low), n.high) for v, n in zip(values, trait.numbers, strict=True))
        value: float | tuple[float, ...] | str = "#12ab9F"
        if values:
            value = values[0] if len(values) == 1 else tuple(values)
        settings = with_setting(
            settings, Setting(data.draw(st.sampled_from(["conifer", "my-tree"])), trait.name, value)
        )
    assert read_plant_traits(write_settings(settings)) == settings
    for setting in settings:
        fewer = without_setting(settings, setting.kind, setting.trait)
        assert len(fewer) == len(settings) - 1 and setting not in fewer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sand", "traits.materials: 'sand' must be a kind, one of its traits and its value"),
        ("Sand repose 3", "traits.materials: 'Sand repose 3' must be a kind, one of its traits and its value"),
        ("sand repos 30", "traits.materials: 'sand repos 30': there is no trait 'repos'; did you mean 'repose'?"),
        ("sand repose", "traits.materials: 'sand repose': repose must be a number"),
        ("sand repose x", "traits.materials: 'sand repose x': repose must be a number"),
        ("sand repose 30 40", "traits.materials: 'sand repose 30 40': repose must be a number"),
        ("sand repose 95", "traits.materials: 'sand repose 95': 95 must be from 1 to 89°"),
        ("sand repose nan", "traits.materials: 'sand repose nan': nan must be from 1 to 89°"),
        ("sand colour red", "traits.materials: 'sand colour red': colour must be a colour, such as #8f6a58"),
    ],
)
def test_wrong_texts_of_materials(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        Scene().with_value("traits.materials", f"clay repose 20; {text}")
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grass crown 1", "there is no trait 'crown'"),
        ("conifer slope 30", "slope must be 2 numbers"),
        ("conifer slope 40 30", "its numbers must not fall"),
        ("conifer wetness 0 0.2 0.5 1.2", "1.2 must be from 0 to 1"),
    ],
)
def test_wrong_texts_of_plants(text: str, message: str) -> None:
    with pytest.raises(UserError, match=f"^traits.plants: '{text}': {message}"):
        Scene().with_setting(f"traits.plants={text}")


def test_kinds_that_there_are_not_are_refused_where_a_scene_is_opened() -> None:
    with pytest.raises(UserError, match=r"^traits\.materials: there is no material 'snad'; did you mean 'sand'\?$"):
        create_world(living(traits__materials="snad repose 30"))
    with pytest.raises(
        UserError, match=r"^traits\.plants: there is no kind of plants 'conifr'; did you mean 'conifer'"
    ):
        create_world(living(traits__plants="conifr roots 1"))
    create_world(living(traits__materials="soil repose 30", traits__plants="poplar roots 1"))  # known, and not in use


# Worlds.


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("traits.materials", "sand erodibility 0.1; sandstone erodibility 0.9"),
        ("traits.plants", "conifer growth 40; grass wetness 0 0 1 1; broadleaf roots 1"),
    ],
)
def test_a_change_acts_from_the_next_cycle_on_and_can_be_taken_back(path: str, text: str) -> None:
    scene = living()
    before, as_it_was = simulated(20, scene), simulated(40, scene)
    through = changed_at(20, 40, scene, path, text)
    assert bits(through.world)["layers"] != bits(as_it_was.world)["layers"]
    begun = changed_at(20, 20, scene, path, text)
    assert bits(begun.world)["layers"] == bits(before.world)["layers"], "not before the next cycle"
    back = changed_at(20, 20, scene, path, text)
    back.change(back.scene.with_value(path, ""))
    for _ in range(20):
        back.advance()
    assert bits(back.world)["layers"] == bits(as_it_was.world)["layers"]


def test_what_is_set_as_the_files_say_changes_no_bit() -> None:
    flora = shipped_flora()
    plants = [
        Setting(plant.name, name, getattr(plant, name))
        for plant in (flora.grass, *flora.trees)
        for name in traits_of(plant)
    ]
    world, _ = create_world(living())
    assert world.materials is not None
    ground = {m.name: m for m in (*world.materials.loose, *world.materials.rocks)}
    materials = [Setting(m.name, name, getattr(m, name)) for m in ground.values() for name in traits_of(m)]
    scene = living(traits__materials=write_settings(materials), traits__plants=write_settings(plants))
    assert bits(simulated(20, scene).world)["layers"] == bits(simulated(20, living()).world)["layers"]


def test_a_saved_world_and_a_preset_keep_them(tmp_path: Path) -> None:
    scene = living(traits__materials="gravel repose 20", traits__plants="conifer growth 40")
    assert read_preset(preset_to_toml(scene), "p").traits == scene.traits
    through, saved = simulated(30, scene), simulated(15, scene)
    checkpoint.save(tmp_path / "w.npz", saved.world, saved.scene)
    again = Simulator(*reversed(checkpoint.load(tmp_path / "w.npz")))  # type: ignore[arg-type]
    assert again.world.materials is not None
    assert next(m for m in again.world.materials.loose if m.name == "gravel").repose == 20.0
    for _ in range(15):
        again.advance()
    assert bits(again.world) == bits(through.world)


def test_a_copy_goes_back_to_the_files_too() -> None:
    """As they are compared: the copy of a world knows what the files say."""
    first = simulated(10, living(traits__materials="sand repose 10", traits__plants="conifer roots 0"))
    other = first.copy()
    other.change(other.scene.with_values({"traits.materials": "", "traits.plants": ""}))
    assert other.world.materials is not None and first.world.materials is not None
    assert next(m for m in other.world.materials.loose if m.name == "sand").repose == 33.0
    assert next(m for m in first.world.materials.loose if m.name == "sand").repose == 10.0
    assert other.world.flora == shipped_flora()


@pytest.mark.parametrize("end", ["low", "high"])
def test_both_ends_of_each_trait(end: str) -> None:
    """Changed in a run, one after the other, with all that moves the ground."""
    simulator = simulated(6, living())
    scene, state = simulator.scene, simulator.world.state()
    assert simulator.world.materials is not None
    materials = {m.name: m for m in (*simulator.world.materials.loose, *simulator.world.materials.rocks)}
    flora = simulator.world.flora
    changes = {"traits.materials": materials.values(), "traits.plants": (flora.grass, *flora.trees)}
    for path, kinds in changes.items():
        for name in {name for kind in kinds for name in traits_of(kind)} - {"colour"}:
            settings = []
            for kind in kinds:
                if trait := traits_of(kind).get(name):
                    values = tuple(getattr(number, end) for number in trait.numbers)
                    settings.append(Setting(kind.name, name, values[0] if len(values) == 1 else values))
            simulator.change(scene.with_value(path, write_settings(settings)))
            for _ in range(3):
                simulator.advance()
            assert find_fault(simulator.world) is None, name
            assert simulator.world.imbalance() < 1e-9, name
            simulator.world.restore(state)


def test_a_colour_is_seen_at_once_also_at_rest() -> None:
    thread = SimulationThread(living(), paused=True)
    thread.first_picture_shown.set()
    thread.start()
    try:
        wait_for(thread.take, "a snapshot")
        thread.ask(Change({"traits.materials": "sand colour #102030", "traits.plants": "conifer colour #405060"}))

        def coloured() -> Flora | None:
            for snapshot in thread.take():
                assert snapshot.materials is not None
                if "#102030" in [kind.colour for kind in snapshot.materials.loose if kind.name == "sand"]:
                    return snapshot.flora
            return None

        assert wait_for(coloured, "the colour of sand").trees[0].colour == "#405060"
    finally:
        thread.stop()


def test_snapshots_share_the_kinds_of_their_world() -> None:
    simulator = simulated(2, living())
    assert take_snapshot(simulator.world).flora is simulator.world.flora
    assert np.shares_memory(simulator.world.mix, simulator.world.layers["loose_sand"])
    assert read_material_traits("") == ()

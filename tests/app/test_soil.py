"""Loose ground of several kinds at the start: as expressions and pictures tell, beside plain sums of their own."""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.files.journal import Journal, journal_content, journal_from
from app.files.paths import found_from, named_from
from app.model.errors import UserError
from app.model.soil_parameters import LARGEST_DEPTH
from app.model.soundness import find_fault
from app.model.world import World
from app.scene.edits import Edit, Open
from app.scene.scene import Scene, preset_to_toml, read_preset
from kernels.standing import SEA
from tests.app.small import bits, simulated, small_scene
from tests.app.test_materials import LOOSE_FILE, write

SOILS = {"materials__enabled": True, "soil__clay": "3 * (x > 0.5)", "soil__sand": "0.01 * height + noise(200, 3)"}


def layered(**settings: object) -> Scene:
    return small_scene(**{**SOILS, **settings})


def parts_of(world: World) -> dict[str, NDArray[np.float64]]:
    return {name: world.layers[f"loose_{name}"] for name in ("clay", "gravel", "sand", "soil")}


def test_kinds_lie_as_thick_as_they_are_told_and_the_ground_as_high(subtests: pytest.Subtests) -> None:
    told = {
        "soil.clay": "mix(0, 3, x > 0.5)",
        "soil.gravel": "-2 + 4 * y",  # none in the north
        "soil.sand": "1e9 * (abs(east - south) < 30)",
    }
    for seed, columns, rows in ((1, 40, 32), (2, 8, 8), (3, 9, 57), (4, 61, 8)):
        with subtests.test(seed=seed, columns=columns, rows=rows):
            size = {"world__columns": columns, "world__rows": rows, "world__seed": seed}
            scene = small_scene(materials__enabled=True, materials__loose="soil", **size)
            before, _ = create_world(scene)
            world, _ = create_world(scene.with_values(told))
            x, y = (np.arange(columns) + 0.5) / columns, ((np.arange(rows) + 0.5) / rows)[:, None]
            side = world.cell_size
            along = np.abs((np.arange(columns) + 0.5) * side - ((np.arange(rows) + 0.5) * side)[:, None])
            flat = np.zeros((rows, columns))
            expected = {
                "clay": flat + np.where(x > 0.5, 3.0, 0.0),
                "gravel": flat + np.maximum(-2.0 + 4.0 * y, 0.0),
                "sand": np.where(along < 30.0, LARGEST_DEPTH, 0.0),
                "soil": before.sediment,  # what `world.soil_depth` puts there
            }
            found = parts_of(world)
            for name, depth in expected.items():
                np.testing.assert_allclose(found[name], depth, rtol=1e-12, err_msg=name)
            np.testing.assert_allclose(world.ground, before.ground, rtol=0.0, atol=1e-9)
            np.testing.assert_allclose(world.bedrock + sum(expected.values()), world.ground, rtol=0.0, atol=1e-9)
            untouched = sum(expected.values()) == before.sediment
            assert np.array_equal(world.bedrock[untouched], before.bedrock[untouched])
            assert find_fault(world) is None
            assert world.ledger.rock.initial == pytest.approx(before.ledger.rock.initial - _more(world, before))
            assert all(world.imbalances()[name] == 0.0 for name in (*found, "rock", "sediment"))


def _more(world: World, before: World) -> float:
    return world.stored("sediment") - before.stored("sediment")


def test_a_land_of_several_kinds_balances_and_is_the_same_on_any_number_of_threads() -> None:
    scene = layered(world__columns=70, world__rows=50, droplets__count=150, cascade__enabled=True)
    worlds = [simulated(5, scene, threads=threads).world for threads in (1, 2)]
    assert bits(worlds[0]) == bits(worlds[1])
    assert worlds[0].imbalance() < 1e-9
    assert worlds[0].ledger.kinds["clay"].lost


def test_it_does_nothing_where_it_is_not_told_or_no_kinds_are_known() -> None:
    plain = small_scene(materials__enabled=True)
    assert bits(create_world(plain.with_value("soil.sand", "0"))[0]) == bits(create_world(plain)[0])
    assert bits(create_world(layered(materials__enabled=False))[0]) == bits(create_world(small_scene())[0])


def test_a_beach_is_where_water_stands() -> None:
    coast = {"pools__enabled": True, "edges__sea_level": 40.0, "edges__water": "sea"}
    world, _ = create_world(layered(**coast, soil__clay="water_depth > 0", soil__sand=""))
    sea = world.standing == SEA
    assert sea.any() and not sea.all()
    assert np.array_equal(world.layers["loose_clay"] == 1.0, sea)


def test_pictures_and_kinds_of_a_folder(tmp_path: Path) -> None:
    """A picture is found from the file that names it; kinds that do not ship are told in one text."""
    folder = tmp_path / "kinds"
    folder.mkdir()
    write(folder, silt=LOOSE_FILE)
    iio.imwrite(tmp_path / "where.png", np.linspace(0, 255, 64).reshape(8, 8).astype(np.uint8))
    picture = f'image("{tmp_path}/where.png")'
    scene = layered(materials__folder=str(folder), soil__own_kinds=f"silt 4 * {picture}", soil__sand=f"2 * {picture}")
    world, _ = create_world(scene)
    silt, sand = (
        world.layers["loose_silt"],
        world.layers["loose_sand"] - create_world(scene.with_value("soil.sand", ""))[0].layers["loose_sand"],
    )
    np.testing.assert_allclose(silt, 2.0 * sand, atol=1e-12)
    assert silt.min() == 0.0 and silt.max() == 4.0 and silt[0, 0] < silt[0, -1] < silt[-1, -1]
    named = named_from(scene, tmp_path)
    assert named.soil.own_kinds == 'silt 4 * image("where.png")'
    assert found_from(read_preset(preset_to_toml(named), "a preset"), tmp_path) == scene


def test_presets_saved_worlds_and_journals_keep_it(tmp_path: Path) -> None:
    scene = layered()
    assert read_preset(preset_to_toml(scene), "a preset") == scene
    journal = Journal((Edit(0, Open((scene,))),), cycle=3)
    again = journal_from(journal_content(journal, tmp_path), "a journal", tmp_path)
    assert again.edits[0].request == Open((scene,))
    simulator = simulated(2, scene)
    checkpoint.save(tmp_path / "world.npz", simulator.world, simulator.scene)
    loaded, kept = checkpoint.load(tmp_path / "world.npz")
    assert kept.soil == scene.soil
    other = Simulator(kept, loaded)
    for each in (simulator, other):
        each.advance()
    assert bits(other.world) == bits(simulator.world)


def test_what_is_wrong_is_told_in_a_line_that_names_the_key(subtests: pytest.Subtests) -> None:
    wrong = {
        ("soil.sand", "hight"): "soil.sand = 'hight': there is no variable 'hight'; did you mean 'height'?",
        ("soil.snad", "1"): "there is no parameter 'soil.snad'; did you mean 'soil.sand'?",
        ("soil.clay", "1 / (x - x)"): "soil.clay: '1 / (x - x)' is not a finite number at row 0, column 0",
        ("soil.clay", 'image("none/there.png")'): "soil.clay: none/there.png: there is no such file",
        ("soil.own_kinds", "silt"): "soil.own_kinds: 'silt' must be a kind and an expression, such as silt 0.5 * x",
        ("soil.own_kinds", "sand 2"): "soil.own_kinds: 'sand' has a parameter of its own, soil.sand",
        ("soil.own_kinds", "silt 1; silt 2"): "soil.own_kinds: 'silt' is there twice",
        ("soil.own_kinds", "silt (1"): "soil.own_kinds = 'silt (1': parentheses: ')' is missing before the end",
        ("soil.own_kinds", "silt 2"): "soil.own_kinds: there is no loose material 'silt'; did you mean 'soil'?",
        ("soil.own_kinds", "granite 2"): "soil.own_kinds: there is no loose material 'granite'",
    }
    for (path, text), message in wrong.items():
        with subtests.test(path=path, text=text):
            with pytest.raises(UserError) as raised:
                create_world(small_scene(materials__enabled=True).with_value(path, text))
            assert str(raised.value).startswith(message) and "\n" not in str(raised.value)

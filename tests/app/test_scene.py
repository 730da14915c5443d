"""Scenes: from settings, presets, generators and files, and what is said where one of them is wrong."""

from __future__ import annotations

import math
import os
import tomllib
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.engine.creation import create_world
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.soundness import find_fault
from app.scene.families import families
from app.scene.scene import DECLARATIONS, Scene, load_preset, preset_to_toml, presets, read_preset, without_effect
from app.sources.generators import GENERATORS
from tests.app.few_presets import FEW, tried_presets
from tests.app.small import small_preset


def test_setting_changes_one_value_and_leaves_the_old_scene() -> None:
    before = Scene()
    after = before.with_setting(" droplets.evaporation = 0.02 ")
    assert after.droplets.evaporation == 0.02
    assert before.droplets.evaporation == Scene().droplets.evaporation
    assert after.with_value("droplets.evaporation", before.droplets.evaporation) == before


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("droplets.count=12", 12),
        ("droplets.density=2", 2.0),
        ("droplets.enabled=off", False),
        ("noise.ridged=TRUE", True),
        ("view.overlay=slope", "slope"),
        ("world.source=a=b.tif", "a=b.tif"),
    ],
)
def test_settings_are_read_by_their_kind(setting: str, value: object) -> None:
    path = setting.partition("=")[0]
    read = Scene().with_setting(setting).value(path)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("droplets.evaporation=9", "droplets.evaporation = 9: must be from 0 to 1 1/t"),
        ("droplets.evaporation=nan", "droplets.evaporation = nan: must be a number from 0 to 1 1/t"),
        ("view.exposure=-inf", "view.exposure = -inf: must be a number from -4 to 4 stops"),
        ("droplets.count=1.5", "droplets.count = 1.5: must be a whole number from 0 to 100000"),
        ("droplets.count=", "droplets.count = : must be a whole number from 0 to 100000"),
        ("world.seed=-1", "world.seed = -1: must be from 0 to 2147483647"),
        ("view.overlay=fog", "view.overlay = 'fog': must be one of none, elevation, slope, sediment, change"),
        ("view.minimap=7", "view.minimap = 7: must be true or false"),
        ("droplets.evap=1", "there is no parameter 'droplets.evap'; did you mean 'droplets.evaporation'?"),
        ("evaporation=1", "there is no parameter 'evaporation'; did you mean 'pools.evaporation'?"),
        ("drops.count=1", "drops.count: there is no section 'drops'; did you mean 'droplets'?"),
        ("description.x=1", "description.x: there is no section 'description'"),
        ("evaporation", "--set evaporation: must be section.name=value, such as droplets.evaporation=0.01"),
    ],
)
def test_wrong_settings_say_what_would_be_right(setting: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        Scene().with_setting(setting)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", None, [0.01]])
def test_values_of_a_wrong_kind_are_refused(value: object) -> None:
    with pytest.raises(UserError, match=r"^droplets\.evaporation = .*: must be a number from 0 to 1 1/t$"):
        Scene().with_value("droplets.evaporation", value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[droplets]\nevaporation = 7", "p.toml: droplets.evaporation = 7: must be from 0 to 1 1/t"),
        (
            "[droplets]\nevaporation = nan",
            "p.toml: droplets.evaporation = nan: must be a number from 0 to 1 1/t",
        ),
        (
            "[droplets]\nevaporation = inf",
            "p.toml: droplets.evaporation = inf: must be a number from 0 to 1 1/t",
        ),
        ("[droplets]\ncount = 5.0", "p.toml: droplets.count = 5.0: must be a whole number from 0 to 100000"),
        ("[droplets]\ncount = 'many'", "p.toml: droplets.count = 'many': must be a whole number from 0 to 100000"),
        ("[droplets]\nenabled = 1", "p.toml: droplets.enabled = 1: must be true or false"),
        ("[droplets]\ndensty = 1", "p.toml: there is no parameter 'droplets.densty'; did you mean 'droplets.density'?"),
        ("[driplets]\ndensity = 1", "p.toml: there is no section 'driplets'; did you mean 'droplets'?"),
        ("droplets = 3", "p.toml: droplets = 3: must be a section, [droplets]"),
        ("description = 3", "p.toml: description = 3: must be a text"),
        ("saved_world = 'w.npz'", "p.toml: there is no section 'saved_world'"),
        ("[droplets", "p.toml: not valid TOML: "),
        ("a = " + "[" * 5000, "p.toml: not a preset: its values are nested too deeply"),
        ("a." * 101 + "a = 1", "p.toml: not a preset: its values are nested too deeply"),
        ("[world]\nrows = 7", "p.toml: world.rows = 7: must be 0 or from 8 to 8192 cells"),
        (
            "[world]\nreference_cell_size = 1e-5",
            "p.toml: world.reference_cell_size = 1e-05: must be 0 or from",
        ),
    ],
)
def test_wrong_presets_say_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        read_preset(text, "p.toml")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_preset_keeps_defaults_for_what_it_does_not_mention() -> None:
    scene = read_preset("[droplets]\ncount = 7\ndensity = 2", "p.toml")
    assert scene == Scene().with_value("droplets.count", 7).with_value("droplets.density", 2.0)


def test_preset_round_trip_holds_only_what_differs() -> None:
    scene = Scene(description="hills").with_setting("noise.gain=0.4").with_setting("view.overlay=slope")
    text = preset_to_toml(scene)
    assert tomllib.loads(text) == {"description": "hills", "noise": {"gain": 0.4}, "view": {"overlay": "slope"}}
    assert read_preset(text, "p.toml") == scene


def test_shipped_presets_are_sound(subtests: pytest.Subtests) -> None:
    for name in presets():
        with subtests.test(name=name):
            scene = load_preset(name)
            assert scene.description
            assert scene == open_scene(name)
            assert read_preset(preset_to_toml(scene), name) == msgspec.structs.replace(scene, name="")
            world, _ = create_world(small_preset(name, 32))
            assert world.shape[1] == 32
            assert world.ground.std() > 0.0
            assert find_fault(world) is None


def test_few_presets_are_of_different_families_and_of_all_generators() -> None:
    assert len({family.title for family in families().family if set(FEW) & set(family.presets)}) == len(FEW)
    assert {load_preset(name).world.source for name in FEW} == set(GENERATORS)


def test_presets_in_few_cells_are_as_steep_as_they_are(subtests: pytest.Subtests) -> None:
    """What a test of a small one tells is then true of it. Beside the preset's land in the means of 4 × 4 cells."""

    def steepness(ground: np.ndarray, cell_size: float) -> float:
        return float(np.sqrt(np.square(np.gradient(ground, cell_size)).sum(axis=0).mean()))

    for name in tried_presets():
        with subtests.test(name=name):
            world, scene = create_world(load_preset(name))
            small, few = create_world(small_preset(name, world.shape[1] // 4))
            rows, columns = small.shape
            means = world.ground[: 4 * rows, : 4 * columns].reshape(rows, 4, columns, 4).mean(axis=(1, 3))
            # A quarter is what means leave out of the roughest land, and by 4 times it is wrong where only the map
            # shrinks. Of a range the smallest valleys are missing, and with them their slopes.
            missing = 0.5 if scene.world.source == "range" else 0.25
            expected = steepness(means, 4.0 * world.cell_size)
            assert steepness(small.ground, small.cell_size) == pytest.approx(expected, rel=missing)
            for process in ("droplets", "wind"):
                assert 0 <= few.value(f"{process}.count") <= scene.value(f"{process}.count")


def test_sources_are_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("noise.npy", np.zeros((8, 8)))
    Path("ridged").write_bytes(Path("noise.npy").read_bytes())
    assert open_scene("ridged") == load_preset("ridged")
    assert open_scene("./ridged").world.source == "./ridged"
    assert open_scene("noise.npy").world.source == "noise.npy"
    assert open_scene("jacksboro.npz").world.source == "jacksboro.npz"  # a terrain that ships with the program


def test_a_heightmap_has_lakes_and_streams(tmp_path: Path) -> None:
    np.save(tmp_path / "h.npy", np.zeros((8, 8)))
    scene = open_scene(str(tmp_path / "h.npy"))
    assert scene.pools.enabled
    assert scene.droplets.stream_friction > 0.0, "streams do not act"
    assert scene.view.exaggeration == 1.0, "a plain is seen true to scale"


def test_preset_of_ones_own_finds_the_terrain_beside_it(tmp_path: Path) -> None:
    np.save(tmp_path / "hill.npy", np.fromfunction(lambda row, column: row + column, (9, 11)))
    (tmp_path / "mine.toml").write_text("[world]\nsource = 'hill.npy'\ncell_size = 5.0")
    world, _ = create_world(open_scene(str(tmp_path / "mine.toml")))
    assert world.shape == (9, 11)
    assert world.cell_size == 5.0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("jacksbor", r"^jacksbor: there is no preset, generator or file of this name; did you mean 'jacksboro'\?"),
        (
            "qqqq",
            r"^qqqq: there is no .* \(presets are .*jacksboro.*; generators are noise, diamond-square, sand, island, "
            r"range\)$",
        ),
        ("a/b", "^a/b: there is no such file$"),
        ("hill.tif", "^hill.tif: there is no such file$"),
    ],
)
def test_unknown_sources_are_told_with_what_there_is(source: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        open_scene(source)


def test_preset_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"p\.toml: not a preset: it must be text in UTF-8$"):
        open_scene(str(tmp_path / "p.toml"))


def test_preset_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xef\xbb\xbf[droplets]\ncount = 7")
    assert open_scene(str(tmp_path / "p.toml")).droplets.count == 7


def test_preset_that_would_fill_memory(tmp_path: Path) -> None:
    with (tmp_path / "p.toml").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(UserError, match=r"p\.toml: not a preset: it has more than 1048576 bytes$"):
        open_scene(str(tmp_path / "p.toml"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("name", ["p.npz", "p.toml", "p.asc"])
def test_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UserError, match="is not a regular file"):
        create_world(open_scene(str(tmp_path / name)))


def test_another_land_is_not_called_as_the_one_that_was_opened() -> None:
    scene = load_preset("lakes")
    assert scene.with_value("droplets.count", 7).with_value("world.source", "noise").name == "lakes"
    assert scene.with_value("world.source", "sand").name == ""


def test_presets_of_before_are_read_with_the_names_of_today() -> None:
    old = """
        [climate]
        rain = 0.5
        [pools]
        enabled = true
        edges = "sea"
        sea_level = 12.0
        [wind]
        edges = "open"
        [cascade]
        edges = "wrap"
        [moisture]
        rain = 0.02
        [rivers]
        rain = 500.0
        [view]
        river_width = 40.0
    """
    scene = read_preset(old, "old")
    assert scene.rivers.width == 40.0
    assert scene.climate.precipitation == 400.0
    assert (scene.edges.water, scene.edges.sea_level, scene.edges.wind) == ("sea", 12.0, "wrap")
    assert scene.pools.enabled
    assert scene.moisture.rain_infiltration == 0.02
    assert read_preset(preset_to_toml(scene), "new") == scene
    assert read_preset("[climate]\nrain = 2.0\nprecipitation = 90.0\n", "both").climate.precipitation == 90.0
    with pytest.raises(UserError, match=r"old: edges.water = 'moat': must be one of open, sea, wall"):
        read_preset('[pools]\nedges = "moat"\n', "old")
    with pytest.raises(UserError, match=r"there is no parameter 'pools.edges' any more; it is 'edges.water' now"):
        Scene().with_setting("pools.edges=sea")


def test_what_has_no_effect_says_why() -> None:
    def why(scene: Scene, path: str) -> str:
        return without_effect(scene, DECLARATIONS[path])

    assert why(Scene(), "edges.sea_level") == "no effect while edges.water is open"
    assert why(Scene().with_value("edges.water", "sea"), "edges.sea_level") == ""
    assert why(Scene(), "climate.season_rain") == "no effect while climate.year is 0 cycles"
    assert why(Scene().with_value("climate.year", 10), "climate.season_rain") == ""
    assert why(Scene(), "droplets.count") == ""

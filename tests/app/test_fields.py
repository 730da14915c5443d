"""Fields: expressions of the land, and the layers that they make."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st

from app.engine.creation import create_world
from app.engine.lockstep import Lockstep
from app.engine.player import edited
from app.engine.publishing import take_snapshot
from app.engine.simulator import Simulator
from app.engine.stored_world import StoredWorld
from app.files import checkpoint
from app.files.paths import found_from, named_from
from app.model.errors import UserError
from app.model.expressions import DEEPEST, FUNCTIONS, LONGEST, read_expression
from app.model.field_parameters import FIELD_LAYERS, NAMES, VARIABLES, FieldParameters, read_field, with_files
from app.model.layers import RATES
from app.model.overlays import OVERLAYS
from app.model.world import LARGEST_SIDE, World
from app.scene.edits import Change
from app.scene.scene import read_preset
from app.sources.fields import LandVariables, distance_to, preview
from tests.app.small import bits, small_scene
from tests.nets.cases import tried

WORDS = st.sampled_from(
    [*VARIABLES, *FUNCTIONS, "noise", "image", "and", "or", "not", *"+-*/^()<>,", "**", "<=", "==", "1", "0.5", "2e3",
     '"a.png"', "'", "\0", "é", " "]
)  # fmt: skip


def land() -> World:
    return create_world(small_scene())[0]


@tried(150)
@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join), st.lists(WORDS).map("".join)))
def test_no_text_does_more_than_to_be_refused(text: str) -> None:
    small = World(np.ones((8, 9)), np.ones((8, 9)), 10.0, 0)
    try:
        values = LandVariables.of_world(small).value(text)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert values is None or (values.shape == (8, 9) and np.isfinite(values).all())


@pytest.mark.parametrize(
    "text", ["(" * 500, "-" * 900, "not " * 200, "abs(" * 200, "1" + "+1" * 499, "a" * (LONGEST + 1)]
)
def test_what_is_long_or_deep_is_refused_or_worked_out(text: str) -> None:
    try:
        assert LandVariables.of_world(land()).value(text) is not None
    except UserError as error:
        assert len(str(error)) < 200


NUMBERS = {
    "1 + 2 * 3": 7.0,
    "2 ^ 3 ^ 2": 512.0,
    "-2 ** 2": -4.0,
    "2 ^ -1": 0.5,
    "(1 + 2) * 3 - 4 / 8": 8.5,
    "1 < 2 and not 3 <= 2": 1.0,
    "0 or 0": 0.0,
    "2 > 1 or 1 / 2 > 1": 1.0,
    "1 == 1": 1.0,
    "1 != 1": 0.0,
    "min(3, 1, 2) + max(1, 5)": 6.0,
    "abs(-3) + sqrt(16) + exp(0) + log(1)": 8.0,
    "clamp(7, 0, 2) + clamp(-1, 0, 2)": 2.0,
    "smoothstep(0, 2, 1)": 0.5,
    "smoothstep(2, 0, 0.5)": 0.84375,
    "mix(1, 3, 0.25)": 1.5,
    "1e3 + .5": 1000.5,
}


@pytest.mark.parametrize("text", NUMBERS)
def test_arithmetic(text: str) -> None:
    def no_variable(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        raise AssertionError(name)

    assert float(read_expression(text, NAMES).value(no_variable)) == pytest.approx(NUMBERS[text])


WRONG = {
    "hight": "there is no variable 'hight'; did you mean 'height'?",
    "smoothstp(1, 2, 3)": "there is no function 'smoothstp'; did you mean 'smoothstep'?",
    "min(1)": "min takes 2 or more, not 1: min(a, b, …)",
    "clamp(1, 2)": "clamp takes 3, not 2",
    "noise(30)": r"noise takes 2, not 1: noise\(metres, seed\)",
    "1 2": "'2' is not expected after '1'; a sign such as \\* is missing",
    "(1": r"parentheses: '\)' is missing before the end",
    "1 +": r"missing after '\+' before the end",
    "1 < 2 < 3": "two comparisons in a row; write a < b and b < c",
    "slope(3)": "slope is a variable, without parentheses",
    "sqrt": r"sqrt is a function: sqrt\(a\)",
    '"a.png"': r"a text stands only in image\(\"path\"\)",
    "image(3)": r"image takes the name of a file: image\(\"path\"\)",
    "height $ 3": r"'\$' cannot be read here",
    "noise(0, 1)": "must be more than 0",
    "noise(height, 1)": "must be numbers",
    "1 / (x - x)": "not a finite number at row 0, column 0",
    'image("nowhere/there.png")': "nowhere/there.png: there is no such file",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_in_a_line(text: str) -> None:
    with pytest.raises(UserError, match=WRONG[text].replace("(a, b", r"\(a, b").replace("…)", r"…\)")):
        LandVariables.of_world(land()).value(text)
    assert DEEPEST < LONGEST


def test_variables() -> None:
    world = land()
    rows, columns = world.shape
    assert np.array_equal(_value(world, "height"), world.ground)
    assert np.array_equal(_value(world, "sediment"), world.sediment)
    assert np.allclose(_value(world, "x")[3], (np.arange(columns) + 0.5) / columns)
    assert np.allclose(_value(world, "y")[:, 3], (np.arange(rows) + 0.5) / rows)
    assert np.allclose(_value(world, "east")[3], (np.arange(columns) + 0.5) * world.cell_size)
    assert np.allclose(_value(world, "south")[:, 3], (np.arange(rows) + 0.5) * world.cell_size)
    ramp = np.tile(np.arange(20.0) * 10.0, (12, 1))
    assert np.allclose(_value(World(ramp, np.zeros((12, 20)), 10.0, 0), "slope"), 45.0)
    for name in ("wetness", "grass", "canopy", "water_depth"):
        assert not _value(world, name).any()
    world.trace("grass")[2, 3] = 0.5
    assert _value(world, "grass")[2, 3] == 0.5


def _value(world: World, text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    found = LandVariables.of_world(world).value(text)
    assert found is not None
    return found


@tried(40)
@given(st.integers(8, 40), st.integers(8, 40), st.integers(0, 2**32 - 1), st.floats(0.001, 0.3))
def test_distance_beside_all_places(rows: int, columns: int, seed: int, part: float) -> None:
    places = np.random.default_rng(seed).random((rows, columns)) < part
    found = distance_to(places)
    if not places.any():
        assert (found == math.hypot(rows, columns)).all()
        return
    each = np.argwhere(places)
    south, east = np.indices((rows, columns))
    expected = np.min([np.hypot(south - row, east - column) for row, column in each], axis=0)
    assert np.abs(found - expected).max() < 1.0
    assert (found == expected).mean() > 0.98


def test_noise_is_the_same_at_any_resolution() -> None:
    coarse = World(np.zeros((40, 60)), np.zeros((40, 60)), 30.0, 0)
    fine = World(np.zeros((120, 180)), np.zeros((120, 180)), 10.0, 0)
    noise = _value(fine, "noise(300, 5)")
    assert np.allclose(_value(coarse, "noise(300, 5)"), noise[1::3, 1::3])
    assert 0.3 < noise.mean() < 0.7
    assert noise.min() < 0.35 and noise.max() > 0.65
    assert not np.allclose(noise, _value(fine, "noise(300, 6)"))
    assert np.abs(np.diff(noise)).max() < 0.1


def test_fields_of_a_new_world() -> None:
    world, _ = create_world(small_scene(fields__rain="2 * y", fields__mobility="x > 0.5", fields__growth="1 + 0"))
    assert np.allclose(world.layers["rate_rain"], _value(world, "2 * y"))
    assert set(np.unique(world.layers["mobility"])) == {0.0, 1.0}
    assert (world.layers["rate_growth"] == 1.0).all()
    assert world.rates is not None
    plain, _ = create_world(small_scene(fields__rain="1", fields__wind="x <= 1"))
    assert not set(plain.layers) & set(RATES)
    beyond, _ = create_world(small_scene(fields__rain="-50 + 1000 * x", fields__mobility="7"))
    assert beyond.layers["rate_rain"].min() == 0.0
    assert beyond.layers["rate_rain"].max() == 100.0
    assert "mobility" not in beyond.layers


def test_a_change_makes_the_layer_anew_and_can_be_replayed() -> None:
    """On the land of that moment; what is painted meanwhile stays until then."""
    settings = {
        "pools__enabled": True,
        "world__lake_depth": 30.0,
        "cascade__enabled": True,
        "fields__erodibility": "1 + x",
    }
    edits = {
        5: {"fields.rain": "smoothstep(0, 200, height)", "fields.mobility": "slope < 20"},
        9: {"fields.rain": "min(2, water_distance / 100)"},
        12: {"fields.mobility": ""},
        15: {"fields.erodibility": "", "fields.rain": ""},
    }

    def run(threads: int, resumed_at: int = -1) -> list[dict[str, object]]:
        world, scene = create_world(small_scene(**settings))
        lockstep = Lockstep([Simulator(scene, world, threads)])
        states = []
        for cycle in range(20):
            if cycle == resumed_at:
                lockstep = Lockstep([StoredWorld.of(lockstep.simulators[0]).simulator(threads)])
            if cycle in edits:
                lockstep = edited(lockstep, Change(dict(edits[cycle])))
            lockstep.advance()
            states.append(bits(lockstep.worlds[0]))
        lockstep.verify()
        assert not set(lockstep.worlds[0].layers) & set(RATES)
        return states

    first = run(1)
    assert run(2) == first
    assert run(1, resumed_at=10) == first
    assert run(2, resumed_at=5) == first


def test_a_cycle_that_fails_goes_back_to_the_field() -> None:
    world, scene = create_world(small_scene())
    simulator = Simulator(scene, world)
    simulator.advance()
    simulator.change(scene.with_value("fields.mobility", "0"))
    before = world.bedrock.copy()
    simulator.advance()
    simulator.go_back(1)
    assert (world.layers["mobility"] == 0.0).all()
    simulator.go_back(world.cycle)
    simulator.advance()
    assert np.array_equal(world.bedrock, before)


def test_a_field_that_cannot_be_found_changes_nothing(tmp_path: Path) -> None:
    worlds = [create_world(small_scene(fields__rain="2")) for _ in range(2)]
    lockstep = Lockstep([Simulator(scene, world) for world, scene in worlds])
    scenes = lockstep.scenes
    before = [bits(world) for world in lockstep.worlds]
    with pytest.raises(UserError, match=r"fields.wind: .*there is no such file"):
        edited(lockstep, Change({"fields.rain": "3", "fields.wind": f'image("{tmp_path}/none.png")'}))
    assert lockstep.scenes == scenes
    assert [bits(world) for world in lockstep.worlds] == before
    with pytest.raises(UserError, match=r"fields.rain|hight"):
        small_scene(fields__rain="hight")


def test_pictures_are_named_as_other_files_are(tmp_path: Path) -> None:
    import imageio.v3 as iio

    folder = tmp_path / "maps"
    folder.mkdir()
    picture = np.linspace(0, 255, 64).reshape(8, 8).astype(np.uint8)
    iio.imwrite(folder / "it's.png", picture)
    text = f"""1 + image("{folder}/it's.png")"""
    scene = small_scene(fields__rain=text)
    world, _ = create_world(scene)
    rain = world.layers["rate_rain"]
    assert rain.min() == 1.0 and rain.max() == 2.0
    assert rain[0, 0] < rain[0, -1] < rain[-1, -1]
    assert named_from(scene, tmp_path).fields.rain == '1 + image("maps/it\'s.png")'
    assert found_from(named_from(scene, tmp_path), tmp_path).fields.rain == text
    preset = read_preset("[fields]\nrain = '''image(\"maps/it's.png\")'''", "some")
    assert str(folder) in found_from(preset, tmp_path).fields.rain
    checkpoint.save(tmp_path / "world.npz", world, scene)
    loaded, again = checkpoint.load(tmp_path / "world.npz")
    assert again.fields.rain == text
    assert np.array_equal(loaded.layers["rate_rain"], rain), "as it was saved: it is not made again"
    assert with_files("height + 1", lambda name: "x") == "height + 1"


def test_pictures_larger_than_a_map_are_masks_in_larger_cells(tmp_path: Path) -> None:
    """There is no option by which a part of one, or fewer of its cells, could be asked for."""
    columns = LARGEST_SIDE + 1000
    rises_to_the_east = np.broadcast_to(np.arange(columns, dtype=np.uint16), (100, columns))
    tifffile.imwrite(tmp_path / "wide.tif", rises_to_the_east, rowsperstrip=10)
    scene = small_scene(fields__uplift=f'image("{tmp_path}/wide.tif")', world__rain_map=str(tmp_path / "wide.tif"))
    world, _ = create_world(scene)
    expected = np.broadcast_to((np.arange(40) + 0.5) / 40, (32, 40))
    np.testing.assert_allclose(world.layers["rate_uplift"], expected, atol=2e-3)
    np.testing.assert_allclose(world.layers["rain"], expected, atol=2e-3)


def test_preview_is_the_field_in_fewer_cells() -> None:
    world, _ = create_world(small_scene(world__columns=150, world__rows=100))
    small = preview(take_snapshot(world), "fields.rain", "height / 100 + noise(300, 1)")
    whole = _value(world, "height / 100 + noise(300, 1)")
    assert max(small.shape) <= 72
    assert np.allclose(small, whole[1::3, 1::3], atol=0.01)
    with pytest.raises(UserError, match="did you mean"):
        preview(take_snapshot(world), "fields.rain", "hight")


def test_each_field_has_a_layer_an_overlay_and_a_parameter() -> None:
    assert set(FIELD_LAYERS.values()) == set(RATES)
    assert list(FIELD_LAYERS) == list(FieldParameters.__struct_fields__)
    for layer in RATES:
        assert [row.name for row in OVERLAYS.values() if row.layers == (layer,)]
    assert read_field("  ") is None

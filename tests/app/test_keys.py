"""Parameters over time: curves through keys, exact under replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.main import main
from app.engine.messages import Arrived, GoTo
from app.files import checkpoint
from app.files.opening import read_journal
from app.model.curves import Key, curve_at, read_curve, value_at, write_curve
from app.model.errors import UserError
from app.scene.edits import Change
from app.scene.scene import DECLARATIONS, KEYS, Scene, curve_of, preset_to_toml, read_preset
from tests.app.hands import Hands
from tests.app.small import bits, simulated, small_scene
from tests.nets.cases import tried

PATH = "droplets.friction"


@tried(100)
@given(
    st.lists(st.tuples(st.integers(0, 5000), st.floats(-50.0, 50.0)), min_size=1, max_size=9, unique_by=lambda k: k[0])
)
def test_a_curve_goes_through_its_keys_and_beyond_none_of_them(keys: list[tuple[int, float]]) -> None:
    places, values = zip(*sorted(keys), strict=True)
    for place, value in zip(places, values, strict=True):
        assert curve_at(places, values, place) == pytest.approx(value, abs=1e-9)
    assert curve_at(places, values, places[0] - 100.0) == values[0]
    assert curve_at(places, values, places[-1] + 100.0) == values[-1]
    for low, high, begin, end in zip(values, values[1:], places, places[1:], strict=False):
        between = [curve_at(places, values, place) for place in np.linspace(begin, end, 17)]
        assert min(between) >= min(low, high) - 1e-9 and max(between) <= max(low, high) + 1e-9
        steps = np.diff(between) * np.sign(high - low)
        assert (steps >= -1e-9).all()


def test_it_is_the_curve_of_the_reference_between_its_ends() -> None:
    from scipy.interpolate import PchipInterpolator  # takes long to load

    places, values = [0.0, 100.0, 150.0, 400.0, 430.0, 900.0], [0.0, 3.0, 10.0, 12.0, 30.0, 31.0]
    reference = PchipInterpolator(places, values)
    for place in np.linspace(100.0, 430.0, 50):  # at the ends ours comes to rest
        assert curve_at(places, values, float(place)) == pytest.approx(float(reference(place)), rel=1e-12)


def test_angles_turn_the_shorter_way_and_choices_change_at_their_keys() -> None:
    wind = DECLARATIONS["view.sun_direction"]
    assert wind.high - wind.low == 360.0
    turning = (Key(0, 350.0), Key(100, 10.0))
    assert float(value_at(wind, turning, 50)) % 360.0 == pytest.approx(0.0, abs=1e-6)
    choice = DECLARATIONS["edges.water"]
    first, second = choice.choices[:2]
    keys = (Key(10, first), Key(20, second))
    assert [value_at(choice, keys, cycle) for cycle in (0, 19, 20, 99)] == [first, first, second, second]
    count = value_at(DECLARATIONS["droplets.count"], (Key(0, 10), Key(7, 20)), 3)
    assert isinstance(count, int) and 10 < count < 20


def test_a_text_lists_keys_in_any_order() -> None:
    keys = read_curve(" 300: 2.5;0: 1 ;", float)
    assert keys == (Key(0, 1.0), Key(300, 2.5))
    assert read_curve(write_curve(keys), float) == keys


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("keys.droplets.friction=3", "must be a cycle and a value"),
        ("keys.droplets.friction=0: 7", "from 0 to 0.8"),
        ("keys.droplets.frictoin=0: 0.1", "did you mean"),
        ("keys.world.seed=0: 1", "same in all cycles"),
        ("keys.droplets.springs=0: 1", "same in all cycles"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(setting: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        Scene().with_setting(setting)
    assert words in str(error.value)


def test_presets_have_a_section_of_keys() -> None:
    text = (
        '[droplets]\ncount = 10\n[keys]\n"droplets.friction" = "0: 0.1; 40: 0.5"\n"view.sun_height" = "0: 60; 90: 5"\n'
    )
    scene = read_preset(text, "mine")
    assert [key.cycle for key in curve_of(scene, PATH)] == [0, 40]
    assert read_preset(preset_to_toml(scene), "again") == scene
    assert scene.at(40).droplets.friction == 0.5
    assert scene.at(900).view.sun_height == 5.0
    with pytest.raises(UserError, match=r"mine: .*friction"):
        read_preset('[keys]\n"droplets.friction" = "x"', "mine")


def test_a_value_that_is_set_by_hand_wins_over_keys() -> None:
    curve = f"keys.{PATH}=0: 0.1; 40: 0.5"
    scene = Scene().with_setting(curve).with_setting(f"{PATH}=0.3")
    assert [scene.at(cycle).droplets.friction for cycle in (0, 20, 90)] == [0.3, 0.3, 0.3]
    again = scene.with_setting(curve)
    assert again.at(40).droplets.friction == 0.5, "and keys that are set after it win over the value"


def test_the_simulation_follows_them_cycle_by_cycle() -> None:
    scene = small_scene().with_setting(f"keys.{PATH}=0: 0.0; 10: 0.6")
    simulator = simulated(0, scene)
    by_hand = simulated(0)
    for cycle in range(14):
        by_hand.change(by_hand.scene.with_value(PATH, value_at(DECLARATIONS[PATH], curve_of(scene, PATH), cycle)))
        by_hand.advance()
        simulator.advance()
        assert bits(simulator.world) == bits(by_hand.world)
    simulator.back_up()
    simulator.advance()
    there = bits(simulator.world)
    simulator.go_back(simulator.world.cycle)
    assert bits(simulator.world) == there


@pytest.mark.slow
def test_keys_are_exact_on_the_time_line_in_journals_and_saved_worlds(tmp_path: Path, hands: Hands) -> None:
    hands.step(2)
    hands.thread.ask(Change({KEYS + PATH: "2: 0.05; 12: 0.7", "keys.edges.sea_level": "0: 0; 20: 30"}))
    hands.step(10)
    there = hands.bits
    moment = hands.moment
    assert hands.thread.scenes[0].droplets.friction > 0.5
    hands.ask(GoTo(moment.branch, 5), Arrived)
    assert hands.thread.scenes[0].droplets.friction < 0.5
    hands.ask(GoTo(moment.branch, moment.cycle), Arrived)
    assert hands.bits == there
    small = ["noise", "--size", "24x20", "--set", f"keys.{PATH}=0: 0.05; 9: 0.7"]
    assert main(["simulate", *small, "--cycles", "6", "--out", str(tmp_path / "a.npz")]) == 0
    assert main(["simulate", str(tmp_path / "a.npz"), "--cycles", "6", "--out", str(tmp_path / "b.npz")]) == 0
    assert main(["simulate", *small, "--cycles", "12", "--out", str(tmp_path / "c.npz")]) == 0
    assert bits(checkpoint.load(tmp_path / "b.npz")[0]) == bits(checkpoint.load(tmp_path / "c.npz")[0])
    assert main(["replay", str(tmp_path / "b.npz"), "--out", str(tmp_path / "d.npz")]) == 0
    assert bits(checkpoint.load(tmp_path / "d.npz")[0]) == bits(checkpoint.load(tmp_path / "c.npz")[0])
    assert read_journal(tmp_path / "d.npz").cycle == 12

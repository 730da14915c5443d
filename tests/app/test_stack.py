"""The stack of edits: layers of strokes and fields, from which a land is made again."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.brushes.stack import changed, layers_of, names_of
from app.engine.creation import create_world
from app.engine.messages import Arrived, Edited, GoTo, Refused
from app.engine.runner import Replay
from app.files.journal import Journal, journal_content, journal_from, write_journal
from app.files.opening import read_journal
from app.model.errors import UserError
from app.scene.edits import Blur, Change, Copy, Edit, Lay, Open, Restack, Stroke
from tests.app.hands import Hands
from tests.app.small import small_scene

SCENE = small_scene()
RAIN = "fields.rain"


def stroke(number: int, tool: str = "raise", **more: object) -> Stroke:
    return Stroke(tool, ((200.0, 200.0, 1.0),), radius=80.0, amount=4.0, number=number, **more)  # type: ignore[arg-type]


def journal_of(*edits: Edit) -> list[Edit]:
    return [Edit(0, Open((SCENE,))), *edits]


EDITS = journal_of(
    Edit(0, stroke(1)),
    Edit(1, stroke(2)),
    Edit(2, Change({"droplets.count": 50})),
    Edit(3, stroke(3, "lower")),
    Edit(4, stroke(3, "lower", first=1)),
    Edit(5, Change({RAIN: "2"})),
    Edit(300, stroke(4, "lower")),
)


def test_edits_without_names_lie_in_layers_of_their_kind() -> None:
    assert names_of(EDITS) == ["", "raise", "raise", "", "lower", "lower", "field of rain", "lower 2"]
    first, *_, field, _ = layers_of(EDITS)
    assert (first.places, first.cycle, first.is_on, first.strength) == ((1, 2), 0, True, 1.0)
    assert field.expression == "2"


def with_layer(edits: Sequence[Edit], layer: str, **change: object) -> list[Edit]:
    return changed(edits, Restack(layer, **change))  # type: ignore[arg-type]


def test_a_layer_is_switched_blended_renamed_moved_and_removed() -> None:
    off = with_layer(EDITS, "raise", is_on=False)
    assert [edit.made is None for edit in off] == [False, True, True, *[False] * 5]
    half = with_layer(with_layer(EDITS, "raise", strength=0.5), "field of rain", strength=0.5)
    assert isinstance(made := half[1].made, Stroke) and made.amount == 2.0
    assert half[6].made == Change({RAIN: "1 + 0.5 * ((2) - 1)"})
    assert with_layer(EDITS, "field of rain", expression="height")[6].made == Change({RAIN: "height"})
    assert layers_of(with_layer(EDITS, "lower", name=" raise  "))[1].name == "raise 2"
    assert [edit.cycle for edit in with_layer(EDITS, "lower", removed=True)] == [0, 0, 1, 2, 5, 300]
    up = with_layer(EDITS, "raise", after="field of rain")
    assert [(edit.layer, edit.cycle) for edit in up[-3:]] == [("raise", 5), ("raise", 5), ("lower 2", 300)]
    start = with_layer(EDITS, "lower 2", after="")
    assert (start[1].layer, start[1].cycle) == ("lower 2", 0) and names_of(start)[4:] == names_of(EDITS)[3:-1]


def test_what_is_wrong_with_a_change_of_the_stack_is_said() -> None:
    compared = journal_of(Edit(0, stroke(1)), Edit(1, Copy(0)), Edit(1, stroke(2, "lower")))
    for edits, request, why in (
        (EDITS, Restack("hill", removed=True), "no layer 'hill'"),
        (EDITS, Restack("", is_on=False), "no layer ''"),
        (EDITS, Restack("raise", after="hill"), "no layer 'hill'"),
        (EDITS, Restack("field of rain", expression="heigth"), "heigth"),
        (compared, Restack("lower", after=""), "worlds were added"),
    ):
        with pytest.raises(UserError, match=why):
            changed(edits, request)


def test_a_journal_keeps_the_stack() -> None:
    edits = tuple(with_layer(with_layer(EDITS, "raise", is_on=False, strength=0.25), "lower", name="trench"))
    content = journal_content(Journal(edits, 300), Path())
    assert journal_from(content, "j", Path()).edits == edits
    long = with_layer(with_layer(EDITS, "raise", name=61 * "a"), "lower", name=61 * "a")
    assert [layer.name for layer in layers_of(long)][:2] == [60 * "a", 58 * "a" + " 2"]
    assert journal_from(journal_content(Journal(tuple(long), 300), Path()), "j", Path()).edits == tuple(long)
    for wrong in ({"strength": -1.0}, {"is_on": 1}, {"layer": 3}, {"strength": True}):
        content["edit"][1].update({"layer": "a", "is_on": True, "strength": 1.0} | wrong)
        with pytest.raises(UserError, match=next(iter(wrong))):
            journal_from(content, "j", Path())
    rows = journal_content(Journal(tuple(journal_of(Edit(1, Blur()))), 3), Path())
    rows["edit"][1]["layer"] = "blur"
    with pytest.raises(UserError, match="only strokes"):
        journal_from(rows, "j", Path())


def restack(hands: Hands, layer: str, **change: object) -> Edited:
    """Make the land again, and return what was said of it at first."""
    request = Restack(layer, **change)  # type: ignore[arg-type]
    hands.ask(request, Arrived)
    return next(each for each in hands.reports if isinstance(each, Edited) and each.request is request)


def test_the_land_is_made_again_as_if_it_had_been_edited_so() -> None:
    """What is switched off was never painted; what was eroded since is eroded again. Undo has the former land."""
    hands, other = Hands(SCENE), Hands(SCENE)
    try:
        for number, tool in enumerate(("raise", "lower"), 1):
            hands.ask(stroke(number, tool), Edited)
            hands.step(3)
        other.step(3)
        other.ask(stroke(2, "lower"), Edited)
        other.step(3)
        before, with_both = hands.moment, hands.bits
        edited = restack(hands, "raise", is_on=False)
        assert edited.before == before
        assert hands.bits == other.bits != with_both and hands.thread.status.cycle == 6
        restack(hands, "raise", is_on=True)
        assert hands.bits == with_both

        strong, strong_bits = other.moment, other.bits
        restack(other, "lower", strength=0.25)
        assert other.bits not in (strong_bits, with_both)
        hands.ask(GoTo(before.branch, before.cycle, before.edits), Arrived)
        assert hands.bits == with_both
        other.ask(GoTo(strong.branch, strong.cycle, strong.edits), Arrived)
        restack(other, "lower", removed=True)
        again = Hands(SCENE)
        again.step(6)
        assert other.bits == again.bits
        again.thread.stop()
    finally:
        hands.thread.stop()
        other.thread.stop()


def test_heights_raise_the_land_and_are_a_layer() -> None:
    hands = Hands(SCENE)
    try:
        begun = hands.lockstep.worlds[0].ground.copy()
        hands.ask(Lay("20 * x - 5"), Edited)
        across = (np.arange(40) + 0.5) / 40
        world = hands.lockstep.worlds[0]
        assert np.allclose(world.ground, begun + 20.0 * across - 5.0, atol=1e-12)
        assert world.imbalance() < 1e-12
        refused = hands.ask(Lay("1 / (x - x)"), Refused)
        assert isinstance(refused, Refused) and "not a finite number" in refused.why
        hands.step(2)
        restack(hands, "heights", strength=0.0)
        hands.ask(GoTo(hands.moment.branch, 0), Arrived)
        assert np.array_equal(hands.lockstep.worlds[0].ground, begun)
        restack(hands, "heights", strength=1.0, expression="")
        assert np.array_equal(hands.lockstep.worlds[0].ground, begun)
    finally:
        hands.thread.stop()


def test_imported_heights_are_found_beside_their_journal(tmp_path: Path) -> None:
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(tmp_path / "hill.png")
    edits = tuple(journal_of(Edit(0, Lay(f"30 * image('{tmp_path / 'hill.png'}')"))))
    assert names_of(edits)[1] == "import of hill.png"
    write_journal(tmp_path / "story.toml", Journal(edits, 1))
    assert 'image("hill.png")' in tomllib.loads((tmp_path / "story.toml").read_text())["edit"][1]["expression"]
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("story.toml", "hill.png"):
        (tmp_path / name).rename(moved / name)
    journal = read_journal(moved / "story.toml")
    run = Replay(journal)
    run.reach(0)
    begun = create_world(SCENE)[0].ground
    assert 25.0 < float((run.lockstep.worlds[0].ground - begun).max()) < 30.001
    content = journal_content(journal, moved)
    for wrong in ("height +", 3):
        content["edit"][1]["expression"] = wrong
        with pytest.raises(UserError, match=r"the edit after cycle 0|must be a text"):
            journal_from(content, "story.toml", moved)


def test_a_stroke_that_goes_on_is_whole_in_the_land_that_is_made_again() -> None:
    """Parts of a stroke join it without a word; a refused change leaves the time line as it was."""
    hands = Hands(SCENE)
    try:
        hands.ask(stroke(1, "lower"), Edited)
        hands.ask(stroke(2), Edited)
        hands.thread.ask(stroke(2, first=1))
        hands.settle()
        whole = hands.bits
        for is_on in (False, True):
            restack(hands, "lower", is_on=is_on)
        assert hands.bits == whole
        now, branches = hands.moment, len(hands.timeline.branches)
        hands.ask(Restack("hill", removed=True), Refused)
        assert hands.moment == now and len(hands.timeline.branches) == branches
        restack(hands, "raise", name="hill")
        assert [layer.name for layer in layers_of(hands.timeline.edits_of(hands.moment))] == ["lower", "hill"]
        assert hands.bits == whole
    finally:
        hands.thread.stop()


FIELDS_OF_START = {"fields.rain": "1 + x", "fields.wind": "2"}
RAIN_AT_START = "rain at the start"


def test_fields_that_a_land_was_opened_with_are_layers_that_become_edits_once_they_are_changed() -> None:
    edits = [Edit(0, Open((SCENE.with_values(FIELDS_OF_START),))), Edit(5, Change({RAIN: "3"})), Edit(6, stroke(1))]
    rain, wind, later, raised = layers_of(edits)
    assert (rain.name, rain.places, rain.expression, rain.of_start) == (RAIN_AT_START, (), "1 + x", True)
    assert (wind.expression, later.name, later.of_start) == ("2", "field of rain", False)
    assert raised.takes_strokes and not rain.takes_strokes
    off = with_layer(edits, RAIN_AT_START, is_on=False)
    assert [edit.made for edit in off[1:]] == [Change({RAIN: ""}), *(edit.request for edit in edits[1:])]
    assert [layer.name for layer in layers_of(off)] == [wind.name, rain.name, later.name, raised.name]
    assert with_layer(edits, RAIN_AT_START, removed=True) == off  # it can be switched on again
    on = with_layer(off, RAIN_AT_START, is_on=True, expression="y", name="showers")
    assert on[1].made == Change({RAIN: "y"}) and layers_of(on)[1].name == "showers"
    first = with_layer(off, "raise", after=wind.name)
    assert [edit.layer for edit in first[1:]] == [RAIN_AT_START, "raise", "field of rain"]
    with pytest.raises(UserError, match="where the land begins"):
        with_layer(edits, RAIN_AT_START, after="raise")
    compared = [Edit(0, Open((SCENE, SCENE.with_value(RAIN, "x"))))]
    assert with_layer(compared, RAIN_AT_START, is_on=False)[1].made == Change({RAIN: ""}, 1)

    content = journal_content(Journal(tuple(off), 6), Path())
    assert journal_from(content, "j", Path()).edits == tuple(off)
    content["edit"][3]["of_start"] = True
    with pytest.raises(UserError, match="of_start"):
        journal_from(content, "j", Path())


def test_a_field_of_the_start_that_is_off_leaves_the_land_that_never_had_it() -> None:
    hands, other = Hands(SCENE.with_value(RAIN, "2 * x")), Hands(SCENE)
    try:
        for each in (hands, other):
            each.step(3)
        with_field = hands.bits
        restack(hands, RAIN_AT_START, is_on=False)
        without = [{**world, "changed": None} for world in hands.bits]
        assert hands.bits != with_field
        assert without == [{**world, "changed": None} for world in other.bits]
        assert hands.thread.scenes[0].fields.rain == ""
        restack(hands, RAIN_AT_START, is_on=True)
        assert hands.thread.scenes[0].fields.rain == "2 * x"
    finally:
        hands.thread.stop()
        other.thread.stop()


def test_an_older_layer_takes_a_stroke() -> None:
    taken = with_layer(EDITS, "raise", takes=4)
    assert [(edit.layer, edit.cycle) for edit in taken[1:5]] == [("raise", 0), ("raise", 1), ("raise", 1), ("", 2)]
    assert isinstance(stroke_4 := taken[3].request, Stroke) and stroke_4.number == 4 and len(taken) == len(EDITS)
    parts = with_layer(with_layer(EDITS, "raise", strength=0.5), "raise", takes=3)
    assert [(edit.cycle, edit.strength) for edit in parts[3:5]] == [(1, 0.5), (1, 0.5)]
    for layer, number, why in (
        ("raise", 9, "no stroke"),
        ("lower 2", 4, "no stroke"),
        ("field of rain", 4, "no strokes"),
    ):
        with pytest.raises(UserError, match=why):
            with_layer(EDITS, layer, takes=number)

    hands, other = Hands(SCENE), Hands(SCENE)
    try:
        hands.ask(stroke(1), Edited)
        hands.step(3)
        hands.ask(stroke(2, "lower"), Edited)
        hands.step(2)
        restack(hands, "raise", takes=2)
        other.ask(stroke(1), Edited)
        other.ask(stroke(2, "lower"), Edited)
        other.step(5)
        assert hands.bits == other.bits and hands.thread.status.cycle == 5
        assert [layer.name for layer in layers_of(hands.timeline.edits_of(hands.moment))] == ["raise"]
    finally:
        hands.thread.stop()
        other.thread.stop()

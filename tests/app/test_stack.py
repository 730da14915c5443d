"""The stack of edits: layers of strokes and fields, from which a land is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.brushes.stack import layers_of, moved, names_of, renamed, with_layer, without
from app.engine.messages import Arrived, Edited, GoTo, Refused, Restack
from app.files.journal import Journal, journal_content, journal_from
from app.model.errors import UserError
from app.scene.edits import Blur, Change, Copy, Edit, Open, Stroke
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


def test_a_layer_is_switched_blended_renamed_moved_and_removed() -> None:
    off = with_layer(EDITS, "raise", is_on=False)
    assert [edit.made is None for edit in off] == [False, True, True, *[False] * 5]
    half = with_layer(with_layer(EDITS, "raise", strength=0.5), "field of rain", strength=0.5)
    assert isinstance(made := half[1].made, Stroke) and made.amount == 2.0
    assert half[6].made == Change({RAIN: "1 + 0.5 * ((2) - 1)"})
    assert layers_of(renamed(EDITS, "lower", " raise  "))[1].name == "raise 2"
    assert [edit.cycle for edit in without(EDITS, "lower")] == [0, 0, 1, 2, 5, 300]
    up = moved(EDITS, "raise", "field of rain")
    assert [(edit.layer, edit.cycle) for edit in up[-3:]] == [("raise", 5), ("raise", 5), ("lower 2", 300)]
    start = moved(EDITS, "lower 2", "")
    assert (start[1].layer, start[1].cycle) == ("lower 2", 0) and names_of(start)[4:] == names_of(EDITS)[3:-1]
    with pytest.raises(UserError, match="no layer"):
        without(EDITS, "hill")
    with pytest.raises(UserError, match="worlds were added"):
        moved(journal_of(Edit(0, stroke(1)), Edit(1, Copy(0)), Edit(1, stroke(2, "lower"))), "lower", "")


def test_a_journal_keeps_the_stack() -> None:
    edits = tuple(renamed(with_layer(EDITS, "raise", is_on=False, strength=0.25), "lower", "trench"))
    content = journal_content(Journal(edits, 300), Path())
    assert journal_from(content, "j", Path()).edits == edits
    for wrong in ({"strength": -1.0}, {"is_on": 1}, {"layer": 3}, {"strength": True}):
        content["edit"][1].update({"layer": "a", "is_on": True, "strength": 1.0} | wrong)
        with pytest.raises(UserError, match=next(iter(wrong))):
            journal_from(content, "j", Path())
    rows = journal_content(Journal(tuple(journal_of(Edit(1, Blur()))), 3), Path())
    rows["edit"][1]["layer"] = "blur"
    with pytest.raises(UserError, match="only strokes"):
        journal_from(rows, "j", Path())


def restack(hands: Hands, stack: list[Edit], replaced: int | None = None) -> Edited:
    """Make the land again, and return what was said of it at first."""
    now = hands.moment
    request = Restack(now.branch, now.edits if replaced is None else replaced, tuple(stack))
    hands.thread.ask(request)
    hands.wait(lambda: any(isinstance(each, Arrived) and each.request is request for each in hands.reports))
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
        edits = hands.timeline.edits_of(before)
        edited = restack(hands, with_layer(edits, "raise", is_on=False))
        assert edited.before == before
        assert hands.bits == other.bits != with_both and hands.thread.status.cycle == 6
        restack(hands, with_layer(hands.timeline.edits_of(hands.moment), "raise", is_on=True))
        assert hands.bits == with_both

        weak = other.moment
        restack(other, with_layer(other.timeline.edits_of(weak), "lower", strength=0.25))
        assert other.bits not in (hands.bits, with_both)
        other.ask(GoTo(weak.branch, weak.cycle, weak.edits), Arrived)
        restack(other, without(other.timeline.edits_of(other.moment), "lower"))
        again = Hands(SCENE)
        try:
            again.step(6)
            assert other.bits == again.bits
        finally:
            again.thread.stop()
    finally:
        hands.thread.stop()
        other.thread.stop()


def test_what_was_edited_meanwhile_stays_and_what_is_wrong_is_refused() -> None:
    hands = Hands(SCENE)
    try:
        hands.ask(stroke(1), Edited)
        hands.step(2)
        asked = hands.timeline.edits_of(hands.moment)
        hands.ask(stroke(2, "lower"), Edited)
        restack(hands, with_layer(asked, "raise", is_on=False), len(asked))
        assert [layer.name for layer in layers_of(hands.timeline.edits_of(hands.moment))] == ["raise", "lower"]
        now, branches = hands.moment, len(hands.timeline.branches)
        edits = hands.timeline.edits_of(now)
        for branch, replaced, stack in (
            (now.branch - 1, now.edits, edits),
            (now.branch, now.edits + 1, edits),
            (now.branch, now.edits, edits[1:]),
            (now.branch, now.edits, (*edits[:1], *edits[:0:-1])),
        ):
            hands.ask(Restack(branch, replaced, stack), Refused)
        assert hands.moment == now and len(hands.timeline.branches) == branches
    finally:
        hands.thread.stop()

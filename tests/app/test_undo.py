"""The steps that can be undone, and done again."""

from __future__ import annotations

import pytest

from app.engine.messages import Moment
from app.window.undo import LandStep, Undo, ValueStep


def friction(before: float, after: float, time: float = 0.0) -> ValueStep:
    return ValueStep({"droplets.friction": (before,)}, {"droplets.friction": (after,)}, time)


def test_changes_that_follow_one_another_are_one_step_and_none_where_it_ends_as_it_began() -> None:
    undo = Undo()
    undo.add(friction(0.1, 0.2, 0.0))
    undo.add(friction(0.2, 0.3, 0.5))
    assert undo.done == [friction(0.1, 0.3, 0.5)]
    undo.add(friction(0.3, 0.1, 0.9))
    assert undo.done == []
    undo.add(friction(0.1, 0.2, 10.0))
    undo.add(friction(0.2, 0.3, 20.0))
    assert len(undo.done) == 2


def test_land_that_is_undone_in_a_row_comes_back_in_its_order() -> None:
    undo = Undo()
    moments = [Moment(1, cycle, edits) for cycle, edits in ((5, 1), (9, 2), (12, 3), (20, 4))]
    for number, moment in enumerate(moments[:3]):
        undo.add(LandStep(f"s{number}", moment))
    steps = [undo.undo() for _ in range(3)]
    goings = [step.going for step in steps if isinstance(step, LandStep)]
    assert undo.redo() is None  # the land is still on its way
    for going, at in zip(goings, (moments[3], moments[2], moments[1]), strict=True):
        assert going is not None
        undo.was_undone(going, at)
    redone = [undo.redo() for _ in range(3)]
    assert [step.name for step in redone if step] == ["s0", "s1", "s2"]
    assert [step.after for step in redone if isinstance(step, LandStep)] == moments[1:]
    again = undo.undo()
    assert isinstance(again, LandStep) and again.after is None


def test_a_step_to_which_there_is_no_way_back_does_not_stand_in_the_way() -> None:
    undo = Undo()
    undo.add(friction(0.1, 0.2))
    undo.add(LandStep("blur", Moment(1, 5, 1)))
    gone = undo.undo()
    undo.undo()
    assert isinstance(gone, LandStep) and gone.going is not None
    undo.cannot_be_undone(gone.going)
    assert isinstance(undo.redo(), ValueStep)
    assert undo.redo() is None


@pytest.mark.parametrize("count", [1, 700])
def test_what_is_done_later_cannot_be_mixed_with_what_was_undone(count: int) -> None:
    undo = Undo()
    for number in range(count):
        undo.add(friction(number, number + 1.0, 10.0 * number))
    undo.undo()
    undo.add(LandStep("blur", Moment()))
    assert undo.undone == [] and len(undo.done) <= 500


def test_overlays_between_two_edits_stand_in_the_way_of_neither() -> None:
    def overlay(before: str, after: str, time: float) -> ValueStep:
        return ValueStep({"view.overlay": (before,)}, {"view.overlay": (after,)}, time)

    undo = Undo()
    slope, water = overlay("none", "slope", 3.0), overlay("slope", "water", 9.0)
    land = LandStep("raise", Moment(1, 5, 1))
    undo.add(land)
    undo.add(slope)
    undo.add(friction(0.1, 0.2, 5.0))
    undo.add(water)
    assert undo.undo() == friction(0.1, 0.2, 5.0)
    undo.add(overlay("water", "none", 20.0))
    assert undo.redo() == friction(0.1, 0.2, 5.0), "to look at another overlay gives up nothing"
    names = [step.name for _ in range(5) if (step := undo.undo())]
    assert [name.split(":")[0] for name in names] == ["friction", "raise", "overlay", "overlay", "overlay"]
    assert undo.undo() is None

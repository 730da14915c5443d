"""The table of keys."""

from __future__ import annotations

from itertools import pairwise

from app.window.actions import ACTIONS, BY_KEY


def test_no_two_actions_have_the_same_key() -> None:
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys)) == len(BY_KEY)


def test_no_two_actions_have_the_same_label_or_name() -> None:
    assert len({action.label for action in ACTIONS}) == len({action.name for action in ACTIONS}) == len(ACTIONS)


def test_every_action_does_something_and_has_a_line_of_help() -> None:
    for action in ACTIONS:
        assert callable(action.does)
        assert action.help and "\n" not in action.help
        assert action.group


def test_groups_are_not_torn_apart() -> None:
    groups = [action.group for action in ACTIONS]
    assert sum(one != other for one, other in pairwise(groups)) + 1 == len(set(groups))

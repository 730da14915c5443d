"""The table of keys."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from app.window.actions import ACTIONS, BY_KEY, GAMEPAD, MOUSE
from app.window.commands import Commands


def test_no_two_actions_have_the_same_key() -> None:
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys)) == len(BY_KEY)


def test_no_two_actions_have_the_same_label_or_command() -> None:
    assert len({action.label for action in ACTIONS}) == len({action.command for action in ACTIONS}) == len(ACTIONS)


def test_every_action_has_a_command_and_a_line_of_help() -> None:
    for action in ACTIONS:
        assert callable(getattr(Commands, action.command))
        assert action.help and "\n" not in action.help
        assert action.group


def test_the_readme_lists_them_as_the_program_does() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for action in ACTIONS:
        keys = ", ".join(f"`{key}`" for key in action.keys)
        assert f"| {keys} | {action.label}: {action.help} |" in readme
    for gesture, help in (*MOUSE, *GAMEPAD):
        assert f"| {gesture} | {help} |" in readme


def test_groups_are_not_torn_apart() -> None:
    groups = [action.group for action in ACTIONS]
    assert sum(one != other for one, other in pairwise(groups)) + 1 == len(set(groups))

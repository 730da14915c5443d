"""The budget of the check is told truly."""

from __future__ import annotations

from pathlib import Path

from tests import budget

HERE = Path(__file__).parent


def test_every_folder_of_tests_has_its_budget_and_all_share_six_minutes_of_two_workers() -> None:
    folders = {str(path.parent.relative_to(HERE.parent).as_posix()) for path in HERE.rglob("test_*.py")}
    assert folders == budget.SECONDS.keys()
    assert sum(budget.SECONDS.values()) <= 2 * 6 * 60


def test_what_is_over_its_budget_is_said() -> None:
    lines = budget.told({"a": 1.0, "b": 3.0, "c": 2.0}, {"a": 5, "b": 7, "c": 9}, {"a": 1.0, "b": 2.5, "other": 9.0})
    assert [line.split()[4].strip(",") for line in lines] == ["b", "c", "a", "all"]
    assert ["OVER BUDGET" in line for line in lines] == [True, True, False, True]
    assert lines[-1] == "     6.0 s     21 tests  all, of 4 s, OVER BUDGET"


def test_without_a_budget_nothing_is_over() -> None:
    assert budget.told({"a": 1.0}, {"a": 5}, {}) == ["     1.0 s      5 tests  a", "     1.0 s      5 tests  all"]

"""The form of what is measured, at sizes that measure nothing. No test asserts a time."""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from app import bench
from app.bench.row import Row
from app.bench.scaling import PIECES, Cost, Region, in_turn, side_by_side
from app.bench.yardstick import Yardstick, run_drops, terrain
from app.cli import main as cli

# What is better, by the units; of what is counted in times and in parts of a hundred, each row says it by itself.
MORE_IS_BETTER = {"times as fast", "1 is yes", "1/s", "frames"}
LESS_IS_BETTER = {
    "yards", "yards per step", "yards per cell", "times the cost", "times a step", "of that", "bytes per cell", "MB",
    "GB", "s", "ms", "draws", "a pixel", "worlds",
}  # fmt: skip
EITHER = {"times", "%"}

# Of these a row costs seconds even at sizes that measure nothing.
FOR_THE_NIGHT = {"sweep", "window", "start", "geology", "frame", "hands"}
README = Path(__file__).parents[2] / "README.md"

pytestmark = pytest.mark.xdist_group("benchmarks")  # rows are measured once


@functools.cache
def rows_of(group: str) -> list[Row]:
    return list(bench.measure(group, tiny=True))


@pytest.mark.parametrize(
    "group",
    [pytest.param(group, marks=[pytest.mark.nightly] * (group in FOR_THE_NIGHT)) for group in bench.GROUPS],
)
def test_rows_of_a_group_are_whole(group: str, subtests: pytest.Subtests) -> None:
    rows = rows_of(group)
    assert rows
    names = [row.name for row in rows]
    assert len(set(names)) == len(names), "each can be told from all others"
    for row in rows:
        with subtests.test(row=row.name):
            assert row.value is not None and math.isfinite(row.value)
            # Noise can make less than nothing of a part, and a worker can be killed between two worlds.
            assert row.value > 0.0 or row.unit in ("%", "worlds")
            assert row.unit in MORE_IS_BETTER | LESS_IS_BETTER | EITHER
            if row.bar is not None:
                assert row.bar > 0.0
                assert row.at_least or row.unit not in MORE_IS_BETTER
                assert not row.at_least or row.unit not in LESS_IS_BETTER
            if row.unit == "1 is yes":
                assert row.ok, "it holds at any size"


def bars_of_the_readme() -> dict[str, float]:
    """The bars in the table of the README, by what is measured; percents as such."""
    rows = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| ([\d. ]*\d)( million)?[^|]*\|$", README.read_text(encoding="utf-8"), re.M
    )
    return {what: float(number.replace(" ", "")) * (1e6 if million else 1.0) for what, number, million in rows}


def test_the_readme_tells_bars() -> None:
    bars = bars_of_the_readme()
    assert len(bars) > 40
    assert bars["a drop's step, 256², one core"] == 1.2
    assert bars["50 000 snowballs, 251×501, one core"] == 980_000.0


@pytest.mark.nightly
def test_each_bar_of_the_readme_is_that_of_a_row(subtests: pytest.Subtests) -> None:
    bars = [row.bar for group in bench.GROUPS for row in rows_of(group) if row.bar is not None]
    for what, told in bars_of_the_readme().items():
        with subtests.test(what=what):
            assert any(told == pytest.approx(bar, rel=0.01) or told == pytest.approx(100.0 * bar) for bar in bars)


def test_table_and_file_hold_the_same_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Row("quick", 1.0, "s", 2.0), Row("slow", 3.0, "s", 2.0), Row("none", None, "s", 2.0)]
    monkeypatch.setattr(bench, "measure", lambda group: iter(rows))
    assert cli.main(["bench", "frame", "--json", str(tmp_path / "rows.json")]) == 0  # also where a bar is missed
    written = json.loads((tmp_path / "rows.json").read_text())
    assert written == [
        {"name": "quick", "value": 1.0, "unit": "s", "bar": 2.0, "ok": True},
        {"name": "slow", "value": 3.0, "unit": "s", "bar": 2.0, "ok": False},
        {"name": "none", "value": None, "unit": "s", "bar": 2.0, "ok": False},
    ]
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "value", "unit", "bar"]
    assert [line.split()[0] for line in lines] == ["quick", "slow", "none"]
    assert [line.endswith("missed") for line in lines] == [False, True, True]


def test_bars_from_above_and_below() -> None:
    assert Row("", 2.0, "", 2.0).ok
    assert not Row("", 2.1, "", 2.0).ok
    assert Row("", 2.1, "", 2.0, at_least=True).ok
    assert not Row("", 1.9, "", 2.0, at_least=True).ok
    assert Row("", 9.0, "", None).ok


def test_yardstick_runs_drops_that_erode() -> None:
    start = terrain(64, 64)
    assert (start.min(), start.max()) == (0.0, 1.0)
    height = start.copy()
    steps = run_drops(height, 50, 1)
    assert steps > 50
    assert (height != start).any()
    assert Yardstick().nanoseconds() > 0.0


def test_help_lists_all_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["bench", "--help"])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert [name for name in listed if name in bench.GROUPS] == list(bench.GROUPS)


def test_only_what_others_do_now_counts_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (8.0, 8.0, 8.0), raising=False)  # left by the group before
    times = iter([100.0, 100.0, 100.0, 150.0, None, None])
    monkeypatch.setattr(bench, "_processor_times", lambda: next(times))
    monkeypatch.setattr("os.sysconf", lambda name: 100, raising=False)
    assert bench.busy_cores(0.25) == 0.0
    assert bench.busy_cores(0.25) == pytest.approx(2.0)
    assert bench.busy_cores(0.0) is None


def test_pieces_that_threads_take_in_turn_and_side_by_side() -> None:
    pieces = np.array([3.0, 3.0, 2.0, 2.0, 2.0])
    assert in_turn(pieces, 1) == side_by_side(pieces, 1) == 12.0
    assert in_turn(pieces, 2) == 7.0  # 3 2 2 and 3 2
    assert side_by_side(pieces, 2) == 8.0  # 3 3 2 and 2 2
    assert in_turn(pieces, 9) == side_by_side(pieces, 9) == 3.0
    assert side_by_side(np.empty(0), 4) == in_turn(np.empty(0), 4) == 0.0


def test_speed_up_is_bounded_by_what_runs_alone() -> None:
    even = Region(6.0, [np.full(12, 1.0 / 12.0)], in_turn=False)
    waves = Region(2.0, [np.array([0.25, 0.25]), np.array([0.5])], in_turn=True)
    cost = Cost(10.0, [even, waves])  # 2 s alone
    assert cost.speed_up(1) == pytest.approx(1.0)
    assert cost.speed_up(4) == pytest.approx(10.0 / (2.0 + 1.5 + 1.5))
    assert cost.speed_up(1000) == pytest.approx(10.0 / (2.0 + 0.5 + 1.5))


def test_kernels_whose_pieces_are_told_have_parallel_loops() -> None:
    for name in PIECES:
        module, kernel = name.split(".")
        assert getattr(importlib.import_module(f"kernels.{module}"), kernel).targetoptions["parallel"]

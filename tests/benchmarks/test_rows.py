"""The form of what is measured, at sizes that measure nothing. No test asserts a time."""

from __future__ import annotations

import functools
import importlib
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app import bench
from app.bench import command, figures
from app.bench.figures import Figure
from app.bench.row import MORE_IS_BETTER, SHARES, Row
from app.bench.scaling import LOOPS_INSIDE, OF_TREES, PIECES, Cost, Region, _noted, _of_rivers, in_turn, side_by_side
from app.bench.world import PERIOD, everything, idle, simulator_of
from app.bench.yardstick import Yardstick, run_drops, terrain
from app.cli import main as cli
from app.model.parameters import Value
from app.processes import PROCESSES
from kernels import blocks, meanders

# What is better, by the units; of shares and what is counted in times, each row says it by itself.
LESS_IS_BETTER = {
    "yards", "yards per step", "yards per cell", "times the cost", "times a step", "of that", "bytes per cell", "MB",
    "GB", "sides", "s", "ms", "draws", "a pixel", "worlds",
}  # fmt: skip

# Of these a row costs seconds even at sizes that measure nothing.
FOR_THE_NIGHT = {"memory", "scaling", "sweep", "window", "start", "geology", "frame", "hands", "continent"}


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
            assert row.unit in MORE_IS_BETTER | LESS_IS_BETTER | SHARES
            if row.bar is not None:
                assert row.bar > 0.0
                assert row.at_least or row.unit not in MORE_IS_BETTER
                assert not row.at_least or row.unit not in LESS_IS_BETTER
            if row.unit == "1 is yes":
                assert row.ok, "it holds at any size"
    for shown_of, shown in figures.SHOWN:
        if shown_of == group:
            with subtests.test(shown=shown):
                assert any(without_numbers(name).startswith(without_numbers(shown)) for name in names)


def without_numbers(name: str) -> str:
    """Names tell sizes and counts, which are small here."""
    return re.sub(r"\d+", "", name)


@pytest.mark.nightly
def test_each_figure_that_is_kept_has_unit_and_bar_of_a_row(subtests: pytest.Subtests) -> None:
    for group in bench.GROUPS:
        measured = {(row.unit, row.bar, row.at_least) for row in rows_of(group)}
        for figure in kept():
            if figure.group == group:
                with subtests.test(group=group, name=figure.name):
                    assert (figure.unit, figure.bar, figure.at_least) in measured


@functools.cache
def kept() -> list[Figure]:
    return figures.read_figures(figures.FIGURES)


def test_the_readme_has_the_figures_that_are_kept() -> None:
    page = figures.README.read_text(encoding="utf-8")
    assert figures.with_table(page, kept()) == page


def test_figures_that_are_kept_are_of_groups_and_each_is_there_once() -> None:
    assert {figure.group for figure in kept()} <= set(bench.GROUPS)
    assert len({(figure.group, figure.name) for figure in kept()}) == len(kept())
    for figure in kept():
        assert re.fullmatch(r"[0-9a-f]{7,}\+?", figure.commit) and re.fullmatch(r"\d{4}-\d\d-\d\d", figure.day)


QUICK, SLOW, NONE = Row("quick", 1.0, "s", 2.0), Row("slow", 3.0, "s", 2.0), Row("none", None, "s", 2.0)


@pytest.fixture
def of_all(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Row]]:
    """What is measured in each group."""
    rows = {"frame": [QUICK, SLOW, NONE], "wind": [Row("strong", 2.0, "times as fast", 1.6, at_least=True)]}
    monkeypatch.setattr(bench, "measure", lambda group, side=None: iter(rows[group]))
    monkeypatch.setattr(bench, "GROUPS", dict.fromkeys(rows, "words"))
    monkeypatch.setattr(figures, "commit_of_sources", lambda: "abc1234")
    return rows


def test_rows_are_printed_and_kept_beside_those_of_other_groups(
    tmp_path: Path, of_all: dict[str, list[Row]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.json"
    assert cli.main(["bench", "frame", "--json", str(path)]) == 0  # also where a bar is missed
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "value", "unit", "bar"]
    assert [line.split()[0] for line in lines] == ["quick", "slow", "none"]
    assert [line.endswith("missed") for line in lines] == [False, True, True]
    written = json.loads(path.read_text())
    assert [(figure["name"], figure["value"], figure["bar"]) for figure in written] == [
        ("quick", 1.0, 2.0), ("slow", 3.0, 2.0), ("none", None, 2.0),
    ]  # fmt: skip
    assert {figure["commit"] for figure in written} == {"abc1234"} and all(figure["day"] for figure in written)
    assert cli.main(["bench", "wind", "--json", str(path)]) == 0
    of_all["frame"] = [SLOW]
    assert cli.main(["bench", "frame", "--json", str(path)]) == 0
    assert [(figure.group, figure.name) for figure in figures.read_figures(path)] == [
        ("wind", "strong"), ("frame", "slow"),
    ]  # fmt: skip


def test_what_got_worse_by_more_than_a_tenth_is_told_and_what_misses_its_bar(
    tmp_path: Path, of_all: dict[str, list[Row]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.json"
    assert cli.main(["bench", "--json", str(path)]) == 0
    of_all["frame"] = [replace(QUICK, value=1.2), replace(SLOW, value=3.2), Row("new", 9.0, "s", None)]
    of_all["wind"] = [replace(of_all["wind"][0], value=1.5)]
    capsys.readouterr()
    assert cli.main(["bench", "--against", str(path)]) == 0
    assert capsys.readouterr().out.split("\n\n")[1].splitlines() == [
        "quick: 1.2 s, 20 % worse than 1 s",
        "slow: 3.2 s misses 2 s",
        "strong: 1.5 times as fast, 25 % worse than 2 times as fast",
        "strong: 1.5 times as fast misses 1.6 times as fast",
    ]
    of_all["frame"], of_all["wind"] = [QUICK], []
    assert cli.main(["bench", "--against", str(path)]) == 0
    assert f"nothing is worse than in {path}" in capsys.readouterr().out


def test_files_of_something_else_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}')
    for option, path, why in (
        ("--against", other, "figures that `thalweg bench --json` keeps were expected"),
        ("--json", other, "figures that `thalweg bench --json` keeps were expected"),
        ("--against", tmp_path / "none.json", "there is no such file"),
        ("--against", tmp_path, "cannot be read"),
    ):
        assert cli.main(["bench", "frame", option, str(path)]) == 1
        assert f"{path}: {why}" in capsys.readouterr().err
    assert other.read_text() == '{"a": 1}'


def test_figures_are_read_as_a_person_reads_them() -> None:
    told = [
        figures.amount(value, unit)
        for value, unit in ((0.6312, "yards"), (152_000.0, "yards"), (3.812e6, "yards"), (8.51, "%"), (None, "s"))
    ]
    assert told == ["0.631 yards", "152000 yards", "3.81 million yards", "8.51 %", "not measured"]


def test_everything_is_all_processes_but_snowballs() -> None:
    scene = everything(16)
    on = [process.name for process in PROCESSES if getattr(scene, process.name).enabled]
    assert {process.name for process in PROCESSES} - set(on) == {"snowballs"}
    names = [row.name for row in rows_of("world")]
    assert f" {len(on)} processes" in names[0]
    assert {f"of that: {name}" for name in on} <= set(names)


def test_each_process_works_in_everything_and_one_that_does_not_is_found() -> None:
    scene = everything(64).with_value("orographic_rain.every", 20)
    assert idle(simulator_of(scene, 1), PERIOD) == set()
    without: dict[str, Value] = {
        "edges.water": "open",
        "climate.temperature": 40.0,
        "droplets.river_transport": 0.0,
        "meandering.narrowest": 1000.0,
        "falls.least": 1e5,
        "orographic_rain.every": 10_000,
    }
    none = {"coast", "snow", "ice", "distributaries", "meandering", "falls", "orographic_rain"}
    assert idle(simulator_of(scene.with_values(without), 1), cycles=8) >= none


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
    assert all(what in command.EPILOG for what in bench.GROUPS.values())


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
    for name in (PIECES.keys() - LOOPS_INSIDE) | OF_TREES:
        module, kernel = name.split(".")
        assert getattr(importlib.import_module(f"kernels.{module}"), kernel).targetoptions["parallel"]


def test_blocks_of_rows_count_as_shared_each_by_itself() -> None:
    regions: list[Region] = []
    with _noted(regions, 8):
        blocks.for_blocks(lambda rows: None, 4 * blocks.ROWS, 3)
    blocks.for_blocks(lambda rows: None, 4 * blocks.ROWS, 3)
    (region,) = regions
    assert region.in_turn
    assert [wave.tolist() for wave in region.waves] == [[0.25] * 4]


def test_rivers_that_meander_count_by_their_points() -> None:
    points = np.zeros((8, 5))
    points[6:, meanders.RIVER] = 1.0
    assert _of_rivers(None, points, None).tolist() == [0.75, 0.25]

"""The form of what is measured, at sizes that measure nothing. No test asserts a time."""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from app import bench
from app.bench.frame import SCENES
from app.bench.row import Row
from app.bench.scaling import PIECES, SIDES, TINY, Cost, Region, in_turn, side_by_side
from app.bench.yardstick import Yardstick, run_drops, terrain
from app.cli import main as cli
from app.processes import PROCESSES
from app.processes.snowballs import SnowballErosion

EXPECTED = {
    "droplets": [
        ("one core", "yards per step", 1.2),
        ("discharge-aware drops, 32², bare ground", "times a step", 1.15),
        ("discharge-aware drops, 32², rich ground", "times a step", 1.15),
        ("two threads against one", "times as fast", 1.6),
        ("same bits", "1 is yes", 1.0),
        ("a world in memory", "bytes per cell", 200.0),
    ],
    "island": [
        ("100 snowballs, 32×63, one core", "yards", 980_000.0),
        ("a step of a snowball, 32×63, one core", "yards per step", None),
        ("a new island, 32², one core", "yards", 110e6 / 46.0 / 2),
        ("two threads against one", "times as fast", None),
        ("same bits", "1 is yes", 1.0),
    ],
    "wind": [
        ("article, 32², one core, with cascade", "yards per step", 0.7),
        ("article, 250 parcels", "yards", 167_000.0),
        ("dunes, 32², one core, with cascade", "yards per step", 0.7),
        ("dunes, 250 parcels", "yards", 167_000.0),
        ("two threads against one", "times as fast", 1.6),
        ("same bits", "1 is yes", 1.0),
        ("same parcels", "times the cost", 2.0),
    ],
    "water": [
        ("a drop's step with streams", "yards per step", 0.85),
        ("pools, 32², one core", "yards", 152_000.0),
        ("half of the map under water against 1 %", "times", 1.25),
        ("a cycle of 512 drops with pools", "yards", 350_000.0),
        ("half of the map under water against 1 %", "times", 1.25),
        ("a cycle of 2048 drops with pools", "yards", 1_400_000.0),
    ],
    "rivers": [
        ("exact fill, 16²", "yards per cell", 0.26),
        ("exact fill, 32²", "yards per cell", 0.26),
        ("fill to accumulation, 32²", "yards per cell", 0.9),
        ("white noise against it", "times the cost", 4.0),
        ("exact fill, 32², white noise", "yards per cell", 1.04),
        ("measures of realism, 32²", "yards per cell", 4.0),
        ("fill to accumulation, 64²", "yards per cell", 1.6),
    ],
    "geology": [
        ("a step with rivers, slopes and soil, 32², one core", "yards", 300_000.0),
        ("32², beside fastscapelib", "times as fast", 8.0),
        ("a step with rivers, slopes and soil, 64², one core", "yards", 1_300_000.0),
        ("64², beside fastscapelib", "times as fast", 8.0),
        ("a new range, 512², from the command to the picture", "s", 3.0),
    ],
    "waves": [
        ("the shore found at once", "ms", None),
        ("the most of it in a frame", "of that", 0.35),
        ("frames from one coast to the next", "frames", 8.0),
        ("a frame with waves against one without", "times", 2.0),
    ],
    "world": [
        ("a cycle of everything, 32²", "yards", 800_000.0),
        *((f"of that: {process.name}", "%", None) for process in PROCESSES if process is not SnowballErosion),
        ("parcels' steps twice as long", "yards", None),
        ("100000 trees", "times", 1.1),
        ("drops alone, all else off", "times", 1.01),
        ("all fields against none", "times", None),
        ("two threads against one", "times as fast", 1.5),
        ("same bits", "1 is yes", 1.0),
        ("everything in memory", "bytes per cell", 400.0),
    ],
    "timeline": [
        ("keeping states of everything, 32²", "%", 3.0),
        ("a kept state of everything, 32²", "MB", None),
        ("a time line of 10000 cycles", "GB", 1.0),
        ("back to a kept state of everything, 32²", "s", 0.3),
        ("back to any cycle of everything, 32²", "s", 3.0),
    ],
    "scaling": [
        (f"{what}, {side // TINY}², {threads} threads", "times as fast", bars.get((what, side, threads)))
        for bars in ({("everything", 1024, 8): 5.0, ("everything", 2048, 16): 8.0},)
        for side in SIDES
        for what in ("droplets", "wind", "everything")
        for threads in (4, 8, 16)
    ],
    "sweep": [
        ("cores busy, 4 worlds of 32², 5 cycles", "%", 95.0),
        ("a world alone in a process", "s", None),
        ("processor time of a world above that", "%", 5.0),
        ("worlds that a killed worker loses", "worlds", 1.0),
    ],
    "frame": [
        *((f"{name}, level low, against the plain mesh", "times", 1.7) for name in SCENES),
        ("the plain mesh", "ms", None),
        *(
            (f"{name}, level high, {what}", unit, bar)
            for name in SCENES
            for what, unit, bar in (("draws", "draws", 100), ("reads of textures", "a pixel", 50))
        ),
        *((f"{name}, frame time p99, running against paused", "times", 1.3) for name in SCENES),
        ("snapshot and upload of one layer", "ms", 1.0),
    ],
    "window": [
        ("jacksboro: cycles a second", "times", 0.4),
        ("jacksboro: cycles a second there", "1/s", None),
        ("jacksboro: frames a second there, at level", "1/s", 10.0),
        ("basic: recording, its cost in cycles a second", "times", 0.85),
        ("basic: recording, its cost in frames a second", "times", 0.85),
        ("the gallery, 41 entries, opened again", "s", 0.2),
        ("from a key to its slider on the screen", "ms", 100.0),
    ],
    "hands": [
        ("a stroke of 2 s at radius 40 cells, 48², of the cycles", "%", 5.0),
        ("a touch until the land shows it, 48²", "ms", None),
        ("that against a frame and a cycle there", "times", 1.0),
    ],
    "start": [
        ("first cycle on an empty cache, jacksboro", "s", 10.0),
        ("compiling for it, on one core, jacksboro", "s", None),
        ("first cycle on an empty cache, delta", "s", 35.0),
        ("compiling for it, on one core, delta", "s", None),
        ("first picture, second start", "s", 0.8),
    ],
}


@pytest.mark.parametrize("group", bench.GROUPS)
def test_rows_of_each_group(group: str) -> None:
    rows = [row for row in bench.measure(group, tiny=True) if "for comparison" not in row.name]
    assert len(rows) == len(EXPECTED[group])
    for row, (name, unit, bar) in zip(rows, EXPECTED[group], strict=True):
        assert name in row.name
        assert (row.unit, row.bar) == (unit, bar)
        assert row.value is not None
        assert math.isfinite(row.value)
        # Noise can make less than nothing of a part, and a worker can be killed between two worlds
        assert row.value > 0.0 or row.unit in ("%", "worlds")
        assert row.as_json().keys() == {"name", "value", "unit", "bar", "ok"}


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

"""The soak: a short one in a real window, and what it tells of memory and errors."""

from __future__ import annotations

import gc
import io
import json
import logging
import sys
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from app.cli import main as cli
from app.engine.builds import prepare
from app.model.errors import UserError
from app.picture.passes.held import Held
from app.scene.scene import DECLARATIONS, check_value, find_declaration
from app.soak import Plan, make_plan, soak
from app.soak.person import CHANGEABLE, Person, changed_parameter
from app.soak.report import Report, Visit, table
from app.soak.window import Mistakes, Soak, loaded_kernels, own_kernels
from app.window.notices import Notices


@pytest.mark.nightly
def test_a_short_soak_visits_presets_and_tells_what_became(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "actions.jsonl"
    report = soak(0.1 / 3600.0, ["noise", "basic"], seed=5, record=record, side=32)
    assert not report.errors
    assert {visit.preset for visit in report.visits} == {"noise", "basic"}
    for visit in report.visits:
        assert visit.memory > 50e6 and visit.held.textures > 1e6 and visit.held.objects > 50
        assert visit.kernels > 50 and visit.held.programs > 20
        assert visit.frames > 10 and visit.cycles > 0 and visit.actions > 0
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    done = [line for line in lines if "action" in line]
    assert len(done) == sum(visit.actions + 2 for visit in report.visits)
    assert [line["with"][0] for line in done if line["action"] == "visit"] == [v.preset for v in report.visits]
    printed = capsys.readouterr().out
    assert "--seed 5" in printed
    assert "no errors" in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["actions.jsonl"], "all else is saved elsewhere"


def test_all_kernels_are_found() -> None:
    prepare("wind")  # one of those that run by tiles, which no module has under a name
    # An engine of particles that a test has made says that it is of the module that made it.
    found = set(map(id, [*own_kernels(), *own_kernels(("tests.",))]))
    for thing in gc.get_objects():
        if isinstance(thing, Dispatcher) and isinstance(thing._cache, FunctionCache):
            assert id(thing) in found or not thing.py_func.__module__.startswith(("app.", "kernels.")), thing
    assert loaded_kernels() > 0


def test_what_is_done_follows_from_the_seed() -> None:
    values = {}
    random, again = Random("4 round 0 noise"), Random("4 round 0 noise")
    for _ in range(3000):
        path, value = changed_parameter(random)
        assert [path, value] == changed_parameter(again)
        assert check_value(find_declaration(str(path)), value) == value
        values[path] = value
    assert len(values) == len(CHANGEABLE) > 150
    assert not any(declaration.names_file for declaration in CHANGEABLE)
    assert "world.source" in DECLARATIONS and "world.source" not in values


def test_a_visit_ends_the_recording_of_the_one_before() -> None:
    ended: list[str] = []
    application: Any = SimpleNamespace(
        panel=SimpleNamespace(visible=False), recording=SimpleNamespace(stop=lambda: ended.append("recording"))
    )
    window: Any = SimpleNamespace(full_screen=False, post=lambda event: None, resize=lambda *size: ended.append("size"))
    for _ in Person(application, window, io.StringIO()).come_home((800, 500)):
        pass
    assert ended == ["recording", "size"] and application.panel.visible


def report_of(*rounds: float, errors: tuple[str, ...] = ()) -> Report:
    """Rounds of two presets, with so many bytes in all."""
    held = Held(3 * 2**20, 2**20, 40, 100)
    visits = [
        Visit(preset, number, memory=int(memory / 2), held=held, kernels=70 + number, frames=10, cycles=20, actions=3)
        for number, memory in enumerate(rounds)
        for preset in ("noise", "lakes")
    ]
    return Report(visits, list(errors))


def test_memory_is_flat_when_the_last_round_has_no_more_than_the_second() -> None:
    flat, grown = report_of(500e6, 800e6, 900e6, 815e6), report_of(500e6, 800e6, 820e6)
    assert flat.growth == pytest.approx(15 / 800, abs=1e-6)
    assert not flat.problems
    assert "+1.88%, flat" in table(flat)
    assert grown.problems == ["memory grew by 2.5%"]
    assert "NOT flat" in table(grown)
    flat.visits.append(Visit("noise", 4, memory=10**10))  # too few of the round to count
    assert flat.growth == pytest.approx(15 / 800, abs=1e-6)
    assert report_of(500e6, 800e6).growth is None
    assert "too few rounds" in table(report_of(500e6, 800e6))


def test_a_round_that_is_not_whole_is_compared_by_its_own_presets() -> None:
    memory = {"noise": (1, 500, 510), "lakes": (1, 700, 714), "delta": (1, 9000, 0)}
    visits = [Visit(name, number, each[number]) for number in range(3) for name, each in memory.items()]
    assert Report(visits).growth == pytest.approx(0.02)
    assert Report(visits[:-2]).growth is None


def test_the_table_has_a_line_for_each_round_and_each_error_once() -> None:
    lines = table(report_of(400e6, 400e6, errors=("lakes: it broke", "lakes: it broke"))).splitlines()
    assert lines[0].split()[:6] == ["round", "visits", "actions", "refused", "frames", "cycles"]
    memory = ["190.7", "MiB", "3.0", "MiB", "1.0", "MiB"]
    assert lines[1].split() == ["1", "2", "6", "0", "20", "40", *memory, "70", "40", "100"]
    assert lines[-1] == "error: lakes: it broke"
    assert sum("it broke" in line for line in lines) == 1


def test_the_plan_has_three_rounds_and_short_visits(tmp_path: Path) -> None:
    plan = make_plan(600.0, tuple("abcdefghij"), 3, tmp_path / "r", 0)
    assert 3 * len(plan.presets) * plan.seconds_of_visit < plan.seconds
    assert make_plan(1e6, ("a",), 3, tmp_path / "r", 0).seconds_of_visit == 30.0
    assert (
        make_plan(60.0, ("a",), None, tmp_path / "r", 0).seed != make_plan(60.0, ("a",), None, tmp_path / "r", 0).seed
    )


def test_presets_that_do_not_exist_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="lake: there is no preset of this name; did you mean 'lakes'"):
        soak(0.1, ["lake"], record=tmp_path / "r")
    assert cli.main(["soak", "noise", "--record", "/nowhere/soak.jsonl"]) == 1
    assert "cannot write /nowhere/soak.jsonl" in capsys.readouterr().err


def test_a_window_that_dies_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "dies.sh"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(UserError, match="the window ended with status -11; again: --seed 3; what was done is in"):
        soak(0.001, ["noise"], seed=3, record=tmp_path / "actions.jsonl")
    assert "error: the window ended with status -11" in capsys.readouterr().out


def stub(state: str = "running", error: str = "") -> Any:
    """As much of an application as a soak counts."""
    status = SimpleNamespace(cycle=7, state=state, error=error, message="")
    return SimpleNamespace(simulation=SimpleNamespace(status=status), notices=Notices())


def test_mistakes_and_a_simulation_that_stops_are_errors_and_refusals_are_counted(tmp_path: Path) -> None:
    report = Report()
    with (tmp_path / "r").open("w") as record:
        watching = Soak(Plan(1.0, 1, ("noise",), "r"), report, record, lambda: None)
        watching.last_action = "key C"
        watching.visit = Visit("noise", 0)
        application = stub()
        watching.count(application)
        assert not report.errors
        assert watching.visit.cycles == 7
        application.notices.complain("wind.count = -1: must be from 0 to 100000")
        watching.count(application)
        watching.count(stub("failed", "wind: not finite"))
        watching.count(stub("failed", "wind: not finite"))
        log = logging.getLogger("app.test_of_soak")
        log.propagate = False
        log.addHandler(Mistakes(report, watching))
        log.warning("no mistake")
        try:
            raise ZeroDivisionError("by 0")
        except ZeroDivisionError:
            log.exception("a part of a frame failed")
    assert watching.visit.refusals == 1
    assert not application.notices.shown(), "it is dismissed"
    assert report.errors == [
        "noise: wind: not finite (after: key C)",
        "a part of a frame failed: ZeroDivisionError: by 0 (after: key C)",
    ]

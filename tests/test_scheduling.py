"""A worker that dies: its test is named, and all others run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from xdist.scheduler import loadscope

from tests.scheduling import ByFile
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]

DIES = """
import os, signal

def test_before() -> None: ...

def test_dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)

def test_after() -> None: ...
"""
CONFTEST = """
from tests.scheduling import pytest_testnodedown, pytest_xdist_make_scheduler
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there processes are not ended by signals")
def test_a_worker_that_dies_names_its_test_and_all_others_run(tmp_path: Path) -> None:
    """Of files with few tests and with one, before and after it."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for number in range(9):
        (tmp_path / f"test_{number}.py").write_text(DIES if number == 4 else "def test_one() -> None: ...\n")
    words = ["-q", "--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *words, "-rA", str(tmp_path)]
    few = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **few}, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 1, done.stderr
    assert "has ended by SIGKILL" in done.stdout
    assert "crashed while running 'test_4.py::test_dies'" in done.stdout
    assert "1 failed, 10 passed" in done.stdout, done.stdout


def test_what_a_worker_was_to_run_that_had_just_died_is_run_by_others(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loadscope, "parse_tx_spec_config", lambda config: ["popen"] * 2)
    told: list[int] = []

    def worker(tell: Callable[[list[int]], None]) -> Mock:
        node = Mock(send_runtest_some=tell, shutting_down=False)
        node.shutdown = lambda: setattr(node, "shutting_down", True)
        return node

    dead, alive = worker(Mock(side_effect=OSError("cannot send (already closed?)"))), worker(told.extend)
    tests = [f"test_{number}.py::test_one" for number in range(6)]
    schedule = ByFile(request.config)
    schedule.workqueue.update({test.split("::")[0]: {test: False} for test in tests})
    for node in (dead, alive):
        schedule.registered_collections[node], schedule.assigned_work[node] = tests, {}
        schedule._reschedule(node)
    assert told == [2, 3] and schedule.remove_node(dead) == tests[0]
    for test in range(2, 6):
        schedule.mark_test_complete(alive, test)
    assert sorted(told) == [1, 2, 3, 4, 5]

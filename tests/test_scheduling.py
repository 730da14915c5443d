"""A worker that dies: its test is named, and all others run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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

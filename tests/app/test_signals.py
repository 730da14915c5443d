"""Ctrl+C, `kill`, `timeout` and a terminal that closes: what is kept, and what is told."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as cli
from app.cli.signals import Ended, ended_by_signals, kept_from_signals
from app.files import checkpoint
from tests.app.small import bits
from tests.app.test_cli import SMALL

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there they are not signals")


def heard() -> None:
    """Also where the tests run in the background of a shell, which has Ctrl+C ignored there."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def started(*words: str, **options: Any) -> subprocess.Popen[str]:
    """The program in a process of its own, once it has begun with its cycles."""
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "app", *words]
    process = subprocess.Popen(command, process_group=0, preexec_fn=heard, **pipes, **options)
    assert process.stderr is not None
    told = ""
    deadline = time.monotonic() + 60.0
    while told.count("cycle/s]") < 2 and time.monotonic() < deadline:
        told += process.stderr.read(1)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_simulation_is_saved_and_goes_on_as_told(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "a world.npz"
    with started("simulate", *SMALL, "--cycles", "1000000", "--out", str(path)) as process:
        os.killpg(process.pid, number)
        _, error = process.communicate(timeout=60.0)
    assert process.returncode == 128 + number
    told = error.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["a world.npz"]
    world, _ = checkpoint.load(path)
    name = shlex.quote(str(path))
    assert told == (
        f"thalweg simulate: stopped after cycle {world.cycle}; go on with: "
        f"thalweg simulate {name} --cycles {1000000 - world.cycle} --out {name}"
    )
    assert cli.main(["simulate", *SMALL, "--cycles", str(world.cycle), "--out", str(tmp_path / "same.npz")]) == 0
    assert bits(checkpoint.load(tmp_path / "same.npz")[0]) == bits(world)


@pytest.mark.slow
def test_a_terminal_that_has_closed_is_no_reason_to_lose_the_world(tmp_path: Path) -> None:
    """Every write fails, also before the signal comes."""
    path = tmp_path / "world.npz"
    with started("simulate", *SMALL, "--cycles", "1000000", "--out", str(path)) as process:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        process.wait(timeout=60.0)
    assert checkpoint.load(path)[0].cycle > 0
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_by_signals(), kept_from_signals("step") as wish:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not wish
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_first_is_a_wish_and_the_second_ends_at_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Ended) as raised, kept_from_signals("step") as wish:
        os.kill(os.getpid(), signal.SIGTERM)
        assert wish.number == signal.SIGTERM
        os.kill(os.getpid(), signal.SIGTERM)
    assert raised.value.status == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before

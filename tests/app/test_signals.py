"""Ctrl+C, `kill`, `timeout` and a terminal that closes: what is kept, and what is told."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main as cli
from app.cli.signals import Ended, ended_by_signals, kept_from_signals
from app.files import checkpoint
from tests.app.small import bits
from tests.app.test_cli import SMALL
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there they are not signals")


def started(*words: str) -> subprocess.Popen[str]:
    """The program in a process of its own, once it has begun with its cycles."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app", *words],
        process_group=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    told = ""
    while told.count("cycle/s]") < 2:
        letter = process.stderr.read(1)
        assert letter, f"it has ended: {told}"
        told += letter
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_simulation_is_saved_and_goes_on_as_told(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "a world.npz"
    with started("simulate", *SMALL, "--cycles", "1000000", "--out", str(path)) as process:
        os.killpg(process.pid, number)
        _, error = process.communicate(timeout=PATIENCE)
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


def is_stopped(process: subprocess.Popen[str]) -> bool:
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)


def writes(process: subprocess.Popen[str]) -> int:
    """How often it has tried to write something."""
    told = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
    return int(told["syscw"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there it is known what a process does")
def test_a_terminal_that_has_closed_is_no_reason_to_lose_the_world(tmp_path: Path) -> None:
    """A write has failed before the signal comes, and others do after it."""
    path = tmp_path / "world.npz"
    with started("simulate", *SMALL, "--cycles", "1000000", "--out", str(path)) as process:
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: is_stopped(process), "a stop, before which it may write something")
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        before = writes(process)
        process.send_signal(signal.SIGCONT)
        wait_for(lambda: writes(process) > before, "a write that fails")
        process.send_signal(signal.SIGHUP)
        process.wait(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGHUP
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

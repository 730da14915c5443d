"""Ctrl+C, `kill`, `timeout` and a terminal that closes: what is kept, and what is told."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as cli
from app.cli import signals
from app.cli.signals import Ended, ended_by_signals, shielded_from_signals
from app.files import checkpoint
from app.files.journal import Journal, write_journal
from app.scene.edits import Edit, Open
from tests.app.small import bits, small_scene
from tests.app.test_cli import NO_PAST, SMALL
from tests.nets.profile import is_nightly
from tests.waiting import PATIENCE, wait_for

ROOT = str(Path(__file__).parents[2])

pytestmark = [
    pytest.mark.slow,  # programs are started
    pytest.mark.skipif(sys.platform == "win32", reason="there they are not signals"),
]


def begun(command: Sequence[str], says: str, **how: Any) -> subprocess.Popen[str]:
    """A process of a group of its own, once it has said so on its error output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    process = subprocess.Popen(command, process_group=0, text=True, **pipes)
    read_up_to(says, process)
    return process


def read_up_to(says: str, process: subprocess.Popen[str]) -> None:
    output, told = process.stderr or process.stdout, ""
    assert output is not None
    while says not in told:
        letter = output.read(1)
        assert letter, f"it has ended: {told}"
        told += letter


def started(*words: str) -> subprocess.Popen[str]:
    """The program in a process of its own, once it has begun with its cycles."""
    process = begun([sys.executable, "-m", "app", *words], "cycle/s]")
    read_up_to("cycle/s]", process)
    return process


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(number, marks=pytest.mark.nightly) for number in (signal.SIGINT, signal.SIGHUP))],
)
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
    try:
        return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)
    except (FileNotFoundError, ProcessLookupError):  # a thread that has just ended
        return False


def writes(process: subprocess.Popen[str]) -> int:
    """How often it has tried to write something."""
    told = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
    return int(told["syscw"])


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
        with ended_by_signals(), shielded_from_signals("step") as wish:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not wish
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_first_is_a_wish_and_the_second_ends_at_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Ended) as raised, shielded_from_signals("step") as wish:
        os.kill(os.getpid(), signal.SIGTERM)
        assert wish.number == signal.SIGTERM
        os.kill(os.getpid(), signal.SIGTERM)
    assert raised.value.status == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before


# Two ways not to end: what a handler raises is lost, or no handler has its turn, as while a kernel runs
PROGRAM = """
import contextlib, ctypes, sys, time
from app.cli import signals
from app.files.atomic import write_atomically

signals.GRACE = 0.1

def say(word):
    print(word, file=sys.stderr, flush=True)

def lost():
    word = "begun"
    while True:
        try:
            say(word)
            time.sleep(60.0)
        except KeyboardInterrupt:
            word = "lost"

def deaf():
    lock, library = (ctypes.c_char * 256)(), ctypes.CDLL(None)
    library.pthread_mutex_lock(lock)
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # of a signal that comes before
            say("begun")
            library.pthread_mutex_lock(lock)

"""
PLAIN = "with signals.ended_by_signals(), write_atomically('file'): {}()"
KEPT = "with signals.ended_by_signals(), signals.shielded_from_signals('cycle'), write_atomically('file'): {}()"
MAKING = "with signals.ended_by_signals(), signals.shielded_from_signals('cycle') as wish, wish.at_once(): {}()"
WINDOW = "with signals.ended_by_signals(), signals.first_signal_raises(): {}()"
STOPPING = "stopping after this cycle; interrupt again"
# What the first signal leads to, None where it is the end
ENDS: tuple[tuple[str, str, str | None], ...] = (
    ("lost", PLAIN, None),
    ("deaf", PLAIN, None),
    ("lost", KEPT, STOPPING),
    ("deaf", KEPT, STOPPING),
    ("lost", MAKING, None),
    ("deaf", MAKING, None),
    ("lost", WINDOW, "lost"),
)


def test_what_goes_on_nevertheless_is_ended_by_force(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """And nothing half-written is left, nor is it ended while it may keep its work."""
    for what, code, first in ENDS:
        with subtests.test(what, code=code):
            command = [sys.executable, "-c", PROGRAM + code.format(what)]
            with begun(command, "begun", cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT}) as process:
                try:
                    process.send_signal(signal.SIGTERM)
                    if first:
                        read_up_to(first, process)
                        process.send_signal(signal.SIGTERM)
                    _, error = process.communicate(timeout=PATIENCE)
                finally:
                    process.kill()
            assert process.returncode == 128 + signal.SIGTERM
            assert error.endswith("ended in the midst of its work; nothing half-written was left\n")
            assert not list(tmp_path.iterdir())


SOON_DRAWN = ("--width", "64", "--height", "48", "--set", "view.quality=lowest")

# A command whose third cycle has no end, and lets no handler have its turn
LONG_CYCLE = """
import ctypes, sys
from app.cli import main, signals
from app.engine import backup, simulator

signals.LONGEST_STEP, backup.SECONDS_BETWEEN_BACKUPS = 0.1, 0.0
backup.LARGEST_COST = float("inf")
lock, library = (ctypes.c_char * 256)(), ctypes.CDLL(None)
library.pthread_mutex_lock(lock)
run = simulator.Simulator._run_cycle

def run_cycle(self):
    if self.world.cycle == 2:
        self.world.sediment[...] += 1.0  # as a kernel does in its midst
        print("begun", file=sys.stderr, flush=True)
        library.pthread_mutex_lock(lock)
    run(self)

simulator.Simulator._run_cycle = run_cycle
sys.exit(main.main(sys.argv[1:]))
"""


def test_a_cycle_without_end_is_given_up_and_what_was_before_it_is_kept(
    subtests: pytest.Subtests, tmp_path: Path
) -> None:
    """By one signal: the world of the cycle before, or the frames so far. The check tries one command of each kind."""
    assert cli.main(["simulate", *SMALL, "--cycles", "2", "--out", str(tmp_path / "two.npz")]) == 0
    write_journal(tmp_path / "story.toml", Journal((Edit(0, Open((small_scene(),))),), 9))
    film = (*SOON_DRAWN, "--frames", "9", "--cycles-per-frame", "1")
    commands = (
        (("simulate", *SMALL, "--cycles", "9"), "stopped after cycle 2; go on with: thalweg simulate", "world.npz"),
        (("render", *SMALL, *film), "frames that are complete: 3", "film.mp4"),
        (("replay", "story.toml"), "stopped after cycle 2 of 9; saved", "replayed.npz"),
        (("render", *SMALL, *film[:-1], "5"), "frames that are complete: 1", "short.mp4"),
    )
    for words, says, file in commands if is_nightly() else commands[:2]:
        with subtests.test(words=words):
            command = [sys.executable, "-c", LONG_CYCLE, *words, "--out", file]
            with begun(command, "begun", cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT}) as process:
                try:
                    process.send_signal(signal.SIGTERM)
                    _, error = process.communicate(timeout=PATIENCE)
                finally:
                    process.kill()
            assert process.returncode == 128 + signal.SIGTERM
            assert says in error.splitlines()[-1]
            assert (tmp_path / file).stat().st_size > 500
            assert not list(tmp_path.glob(".thalweg-*"))
    assert bits(checkpoint.load(tmp_path / "world.npz")[0]) == bits(checkpoint.load(tmp_path / "two.npz")[0])
    if is_nightly():
        assert checkpoint.load(tmp_path / "replayed.npz")[0].cycle == 2


LONG = ("--cycles", "1000000")
FILM = ("--frames", "100000", *SOON_DRAWN)
LARGE = ("noise", "--size", "2048", "--debug", *NO_PAST)
# What a program says in a phase, and words with which that lasts
PHASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("making the land", ("simulate", "range", "--size", "1024", "--debug", "--out", "world.npz")),
    ("compiling kernels", ("sheet", "wind", "--size", "48", "--width", "160", "--height", "90")),
    ("frame/s]", ("render", *SMALL, *FILM)),
)
MORE_PHASES = (
    ("cycles of the past", ("simulate", "gallery-forest", "--size", "1024", "--debug", *LONG)),
    ("cycle/s]", ("simulate", *SMALL, *LONG)),
    ("compiling kernels", ("simulate", *SMALL, *LONG)),
    ("making the land", ("render", *LARGE, *FILM)),
    ("compiling kernels", ("render", *SMALL, *FILM)),
    ("row/s]", ("render", *SMALL, "--frames", "1", "--width", "16384", "--out", "still.png")),
    ("step/s]", ("sheet", "wind", "--size", "48", "--width", "160", "--height", "90")),
    ("making the land", ("sheet", "snowballs", *LARGE)),
    ("compiling kernels", ("demo", "dune-field", "delta", "--width", "64", "--height", "48", "--out", "tour.mp4")),
    ("frame/s]", ("demo", "dune-field", "delta", "--width", "64", "--height", "48", "--out", "tour.mp4")),
    ("cycle/s]", ("compare", *SMALL, "--with", "droplets.friction=0.1", *LONG)),
    ("compiling kernels", ("compare", *SMALL, "--with", "droplets.friction=0.1", *LONG)),
    ("making the land", ("analyze", "noise", "--debug", "--out", "maps")),
    ("cycle/s]", ("analyze", "--realism", "noise", *LONG)),
    ("making the land", ("export", *LARGE, "--out", "land.tif")),
    ("cycle/s]", ("export", *SMALL, *LONG, "--out", "land.tif")),
    ("writing", ("export", *LARGE, "--out", "folder", "--meshes", "stl,glb,obj")),
    ("cycle/s]", ("replay", "story.toml", *LONG)),
    ("running", ("sweep", "recipe.toml", "--out", "set.zarr")),
    ("yards per step", ("bench", "droplets")),
    ("bar", ("bench", "start")),
    ("presets for", ("soak", "noise", "--hours", "1")),
)


def ends_at(says: str, words: Sequence[str], number: signal.Signals, folder: Path) -> None:
    """A command that a signal ends in a phase says so in its status, and leaves nothing that is half-written."""
    (folder / "recipe.toml").write_text('sources = ["noise"]\nsize = "64"\ncycles = 100000\nseeds = [1, 2]\n')
    write_journal(folder / "story.toml", Journal((Edit(0, Open((small_scene(),))),), 1_000_000))
    fresh = {"NUMBA_CACHE_DIR": str(folder / "cache")} if says.startswith("compiling") else {}
    environment = {**os.environ, "PYTHONPATH": ROOT, "PYTHONUNBUFFERED": "1", **fresh}
    command = [sys.executable, "-m", "app", *words]
    with begun(command, says, cwd=folder, env=environment, stderr=subprocess.STDOUT) as process:
        try:
            os.killpg(process.pid, number)
            told, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 128 + number, told
    assert "Traceback" not in told
    assert not list(folder.rglob(".thalweg-*"))


def test_a_command_ends_in_each_phase(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for says, words in PHASES:
        with subtests.test(says, words=words):
            ends_at(says, words, signal.SIGINT, tmp_path)


@pytest.mark.nightly
def test_every_command_ends_in_every_phase_by_every_signal(
    subtests: pytest.Subtests, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for says, words in (*PHASES, *MORE_PHASES):
        for number in signals.ENDING:
            with subtests.test(says, words=words, number=number):
                ends_at(says, words, number, tmp_path_factory.mktemp("phase"))


def test_after_a_step_that_was_given_up_at_once_there_is_time_to_keep_the_rest() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ended_by_signals(), shielded_from_signals("cycle") as wish:
        with pytest.raises(Ended), wish.at_once():
            os.kill(os.getpid(), signal.SIGTERM)
        assert wish.number == signal.SIGTERM
        assert signals._watch is not None and signals._watch._latest_end is None
        with pytest.raises(Ended), wish.at_once():  # nor does another such step begin
            raise AssertionError
        with pytest.raises(Ended):
            os.kill(os.getpid(), signal.SIGTERM)
        assert signals._watch._latest_end is not None
    assert signal.getsignal(signal.SIGTERM) == before


def test_where_the_program_was_when_it_crashed_is_told_in_every_command() -> None:
    code = """
import contextlib, faulthandler
from app.cli.main import main
from app.cli.table import COMMANDS
for command in COMMANDS:
    faulthandler.disable()
    with contextlib.suppress(SystemExit):
        main([command, "--help"])
    assert faulthandler.is_enabled(), command
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)

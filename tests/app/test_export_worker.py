"""The process that exports for the window: what it answers to lines that are asked, and to what are none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.export.protocol import Answer, Done, Failed, Plan, Planned, Ready, Write, Written, answer_in, say
from app.export.wishes import WISHES, Wishes
from app.files import checkpoint
from app.model.errors import UserError
from tests.app.small import simulated, small_scene
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow  # programs are started

COMMANDS = [["-m", "app", "export-worker"], ["-m", "app.cli.export_worker"]]  # frozen, and from sources


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = simulated(3, small_scene())
    path = tmp_path_factory.mktemp("saved") / "world.npz"
    checkpoint.save(path, simulator.world, simulator.scene, compressed=False)
    return path


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []

    def started(words: list[str], **environment: str) -> subprocess.Popen[str]:
        words, there = [sys.executable, *words], os.environ | environment
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen(words, stdin=pipe, stdout=pipe, encoding="utf-8", env=there))
        return processes[-1]

    yield started
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def heard(process: subprocess.Popen[str]) -> Answer:
    assert process.stdout is not None
    return answer_in(process.stdout.readline())


@pytest.mark.parametrize(("command", "encoding"), [(COMMANDS[0], "utf-8"), (COMMANDS[1], "latin-1")])
def test_it_plans_and_writes_until_nobody_asks(
    command: list[str], encoding: str, start: Callable[..., subprocess.Popen[str]], saved: Path, tmp_path: Path
) -> None:
    """Pipes are in UTF-8 on both ends, whatever the locale; Windows would take its own encoding of one end."""
    folder = tmp_path / "a" / "Höhen ∆"
    process = start([*command, str(saved)], PYTHONIOENCODING=encoding)
    assert process.stdin is not None
    ready = heard(process)
    assert isinstance(ready, Ready) and ready.cycle == 3 and "grass" in ready.missing
    say(Plan(Wishes(heights=("npy",), maps=("slope",))), process.stdin)
    planned = heard(process)
    assert isinstance(planned, Planned)
    assert [file.name for file in planned.files] == ["ground.npy", "slope.tif", "maps.json"]
    print("all of it, please", file=process.stdin, flush=True)
    assert isinstance(heard(process), Failed)
    say(Plan(Wishes(maps=("grass",))), process.stdin)
    failed = heard(process)
    assert isinstance(failed, Failed) and failed.why.startswith("--maps grass: this world has none")
    say(Write(Wishes(heights=("npy", "png")), str(folder)), process.stdin)
    answers = [heard(process) for _ in range(4)]
    assert [type(answer) for answer in answers] == [Planned, Written, Written, Done]
    written = answers[2]
    assert isinstance(written, Written) and "Unity" in written.told
    assert written.size == (folder / "ground.png").stat().st_size
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    process.stdin.close()
    process.wait(timeout=PATIENCE)


def test_a_world_that_cannot_be_read_is_one_line(start: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    (tmp_path / "world.npz").write_bytes(b"none")
    process = start([*COMMANDS[0], str(tmp_path / "world.npz")])
    failed = heard(process)
    assert isinstance(failed, Failed) and str(tmp_path / "world.npz") in failed.why
    assert process.wait(timeout=PATIENCE) == 0


# The table of wishes.


def test_each_wish_is_a_field_and_checks_its_values() -> None:
    for wish in WISHES:
        value = Wishes().value(wish.path)
        assert Wishes().with_value(wish.path, value) == Wishes()
        wish.check(value)
        if wish.known is not None:
            with pytest.raises(UserError, match=f"^{wish.option} none: "):
                wish.check(("none",) if wish.several else "none")
        elif not isinstance(value, str):
            for wrong in (wish.low - 1, wish.high + 1):
                with pytest.raises(UserError, match=f"^{wish.option} .*: must be from "):
                    wish.check(wrong)

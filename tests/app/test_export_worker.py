"""The process that exports for the window: what it answers to lines that are asked, and to what are none."""

from __future__ import annotations

import io
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

COMMANDS = [["-m", "app", "export-worker"], ["-m", "app.cli.export_worker"]]  # frozen, and from sources


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = simulated(3, small_scene())
    path = tmp_path_factory.mktemp("saved") / "world.npz"
    checkpoint.save(path, simulator.world, simulator.scene, compressed=False)
    return path


@pytest.fixture
def start() -> Iterator[Callable[[list[str]], subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []

    def started(words: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen([sys.executable, *words], stdin=pipe, stdout=pipe, text=True))
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


@pytest.mark.parametrize("command", COMMANDS)
def test_it_plans_and_writes_until_nobody_asks(
    command: list[str], start: Callable[[list[str]], subprocess.Popen[str]], saved: Path, tmp_path: Path
) -> None:
    process = start([*command, str(saved)])
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
    say(Write(Wishes(heights=("npy", "png")), str(tmp_path / "a" / "b")), process.stdin)
    answers = [heard(process) for _ in range(4)]
    assert [type(answer) for answer in answers] == [Planned, Written, Written, Done]
    written = answers[2]
    assert isinstance(written, Written) and "Unity" in written.told
    assert written.size == (tmp_path / "a" / "b" / "ground.png").stat().st_size
    process.stdin.close()
    process.wait(timeout=60.0)


def test_folders_have_any_letters_whatever_the_locale(saved: Path, tmp_path: Path) -> None:
    """Pipes are in UTF-8 on both ends; Windows would take its own encoding of one end."""
    folder = tmp_path / "Höhen ∆"
    request = io.StringIO()
    say(Write(Wishes(heights=("npy",)), str(folder)), request)
    with subprocess.Popen(
        [sys.executable, *COMMANDS[1], str(saved)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(request.getvalue())
        process.stdin.flush()
        assert [type(heard(process)) for _ in range(4)] == [Ready, Planned, Written, Done]
        process.stdin.close()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [folder.name]


def test_a_world_that_cannot_be_read_is_one_line(
    start: Callable[[list[str]], subprocess.Popen[str]], tmp_path: Path
) -> None:
    (tmp_path / "world.npz").write_bytes(b"none")
    process = start([*COMMANDS[0], str(tmp_path / "world.npz")])
    failed = heard(process)
    assert isinstance(failed, Failed) and str(tmp_path / "world.npz") in failed.why
    assert process.wait(timeout=60.0) == 0


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

"""The program as a folder: kernels that it brings along, and the whole of it in a window and without one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import app.cli.freeze
from app.cli.freeze import WARM_UPS, compile_kernels, freeze
from app.engine.builds import all_builds, foreseen
from app.numba_settings import COMPILED, FROZEN_KERNELS
from app.scene.scene import load_preset, presets
from tests.gui.display import start_display

ROOT = Path(__file__).parents[1]

# A program that takes itself for a frozen one, and runs a kernel; with a word, only from the cache.
RUN_A_KERNEL = """
import sys
sys.frozen = True
import app, os
import numpy as np
from app.engine.compiling import only_from_cache
import contextlib
with only_from_cache() if sys.argv[1:] else contextlib.nullcontext():
    from kernels.smoothing import smooth
    layer = np.arange(36.0).reshape(6, 6) ** 2
    smooth(layer)
    print(layer.sum(axis=0).tobytes().hex(), os.environ["NUMBA_CACHE_DIR"])
"""


def run_a_kernel(folder: Path, *words: str, **environment: str) -> str:
    """What a program in a folder prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    command = [sys.executable, "-c", RUN_A_KERNEL, *words]
    done = subprocess.run(command, cwd=folder, env={**kept, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_kernels_brought_along_are_used_wherever_the_folder_lies(tmp_path: Path) -> None:
    first = run_a_kernel(ROOT, NUMBA_CACHE_DIR=str(tmp_path / "made"))
    assert {path.name for path in (tmp_path / "made").iterdir()} == {FROZEN_KERNELS}
    moved = tmp_path / "elsewhere"
    for package in ("app", "kernels"):
        shutil.copytree(ROOT / package, moved / package, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.raises(AssertionError, match="NotCached"):
        run_a_kernel(moved, "cached", XDG_CACHE_HOME=str(tmp_path / "home"))
    shutil.rmtree(tmp_path / "home")
    shutil.copytree(tmp_path / "made" / FROZEN_KERNELS, moved / COMPILED)
    second = run_a_kernel(moved, "cached", XDG_CACHE_HOME=str(tmp_path / "home"))
    assert second.split()[0] == first.split()[0]
    assert Path(second.split()[1]).is_relative_to(tmp_path / "home")  # where more can be written


def test_all_builds_are_all() -> None:
    builds = all_builds()
    assert len(set(builds)) == len(builds)
    for name in presets():
        assert set(foreseen(load_preset(name))) <= set(builds), name


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that starts the program; one that was made before, where THALWEG_PROGRAM names it."""
    if made := os.environ.get("THALWEG_PROGRAM"):
        return Path(made)
    program = freeze(tmp_path_factory.mktemp("app"))
    compile_kernels(program)
    return program


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Without Python, and in a home of its own."""
    homes = {name: str(tmp_path / "home") for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    return {**kept, **homes, "PATH": "/usr/bin:/bin"}


@pytest.mark.nightly
def test_program_without_python_renders_and_compiles_nothing(
    program: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    command = [program, "render", "jacksboro", "--size", "128", "--frames", "2", "--width", "320", "--height", "180"]
    done = subprocess.run(
        [*command, "--out", "a.png"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "compiling" not in done.stderr
    assert np.asarray(Image.open(tmp_path / "a.png")).std() > 20.0


@pytest.mark.nightly
def test_program_says_what_it_is(program: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [program, "--version", "--debug"], env=environment, capture_output=True, text=True, check=True
    )
    assert "a folder of its own" in done.stdout
    assert "kernels are for generic" in done.stdout
    assert re.search(r"^numba +\d", done.stdout, re.MULTILINE)


@pytest.fixture
def screen(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    server, name = start_display()
    yield {**environment, "DISPLAY": name}
    server.terminate()
    server.wait()


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="needs a virtual display")
def test_program_opens_a_preset_draws_it_and_quits(program: Path, screen: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with log.open("w") as file:
        process = subprocess.Popen(
            [program, "--debug", "noise", "--size", "128"], cwd=tmp_path, env=screen, stdout=file, stderr=file
        )

    def xdotool(*words: str) -> str:
        done = subprocess.run(["xdotool", *words], env=screen, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def wait_for(what: str, patience: float = 90.0) -> None:
        end = time.monotonic() + patience
        while what not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, f"no '{what}': {log.read_text()}"
            time.sleep(0.2)

    try:
        wait_for("first picture")
        window = xdotool("search", "--onlyvisible", "--name", "^Thalweg").split()[0]
        xdotool("windowfocus", "--sync", window)
        xdotool("key", "--window", window, "F12")
        end = time.monotonic() + 60.0
        while not (pictures := list(tmp_path.glob("[!.]*.png"))):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.2)
        xdotool("key", "--window", window, "ctrl+q")
        assert process.wait(60) == 0, log.read_text()
    finally:
        process.kill()
    assert np.asarray(Image.open(pictures[0]).convert("L")).std() > 10.0
    assert "Traceback" not in log.read_text()


def test_warm_ups_name_commands() -> None:
    from app.cli.main import COMMANDS

    assert {words[0] for words in WARM_UPS} <= COMMANDS.keys()


def test_a_program_that_cannot_be_made_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is that of the command that failed."""
    monkeypatch.setattr(sys, "argv", ["freeze", str(tmp_path)])
    monkeypatch.setattr(app.cli.freeze, "freeze", lambda _: Path(sys.executable))
    monkeypatch.setattr(app.cli.freeze, "all_builds", list)
    monkeypatch.setattr(
        app.cli.freeze, "WARM_UPS", [("-c", "import sys; sys.exit('compiling\\nno kernel of that name')")]
    )
    with pytest.raises(SystemExit) as raised:
        app.cli.freeze.main()
    line = str(raised.value.code)  # which Python prints, and ends with 1
    assert re.fullmatch(r"make app: .* ended with 1: no kernel of that name", line), line

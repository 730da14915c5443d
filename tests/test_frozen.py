"""The program as a folder: kernels that it brings along, and the whole of it in a window and without one."""

from __future__ import annotations

import ast
import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import rasterio
import tifffile
from PIL import Image

from app.engine.builds import all_builds, foreseen
from app.numba_settings import COMPILED, FROZEN_KERNELS
from app.scene.scene import load_preset, presets
from tests.gui.display import start_display
from tests.making import freeze as freezing
from tests.making.freeze import (
    OTHER_CODECS,
    WARM_UPS,
    add_notices,
    bundled_libraries,
    compile_kernels,
    freeze,
    remove_unseen_pictures,
)
from tests.waiting import PATIENCE, wait_for

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
    (moved / "assets").symlink_to(ROOT / "assets")
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
def test_program_without_python_writes_every_format(program: Path, environment: dict[str, str], tmp_path: Path) -> None:
    command = [program, "export", "forest-island", "--size", "64", "--cycles", "25", "--out", "out"]
    asked = [
        "--heights",
        "tif,png,r16,exr,asc,npy",
        "--maps",
        "all",
        "--trees",
        "csv,glb",
        "--meshes",
        "glb,obj,ply,stl",
    ]
    done = subprocess.run(
        [*command, *asked, "--pictures", "relief", "--picture-format", "pdf", "--dpi", "36"],
        cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with rasterio.open(tmp_path / "out" / "ground.tif") as file:
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"


@pytest.mark.nightly
def test_program_says_what_it_is(program: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [program, "--version", "--debug"], env=environment, capture_output=True, text=True, check=True
    )
    assert "a folder of its own" in done.stdout
    assert "kernels are for generic" in done.stdout
    assert re.search(r"^numba +\d", done.stdout, re.MULTILINE)
    done = subprocess.run([program, "guide", "dunes"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Dunes\n")
    assert (program.parent / "NOTICES.md").exists() and (program.parent / "licences" / "numpy").is_dir()


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

    def told(what: str) -> bool:
        assert process.poll() is None, log.read_text()
        return what in log.read_text()

    def pictures() -> list[Path]:
        assert process.poll() is None, log.read_text()
        return list(tmp_path.glob("[!.]*.png"))

    try:
        wait_for(lambda: told("first picture"), log.read_text, between=0.2)
        window = xdotool("search", "--onlyvisible", "--name", "^Thalweg").split()[0]
        xdotool("windowfocus", "--sync", window)
        xdotool("key", "--window", window, "F12")
        (picture,) = wait_for(pictures, log.read_text, between=0.2)
        xdotool("key", "--window", window, "ctrl+q")
        assert process.wait(PATIENCE) == 0, log.read_text()
    finally:
        process.kill()
    assert np.asarray(Image.open(picture).convert("L")).std() > 10.0
    assert "Traceback" not in log.read_text()


def test_the_folder_shows_what_is_by_others(tmp_path: Path) -> None:
    add_notices(tmp_path)
    notices = (tmp_path / "NOTICES.md").read_text(encoding="utf-8")
    assert "Roboto" in notices and "Geological Survey" in notices and "FFmpeg" in notices
    for name in bundled_libraries():
        assert f"| {name} |" in notices, name
        texts = [
            path.read_text(encoding="utf-8", errors="replace") for path in (tmp_path / "licences" / name).iterdir()
        ]
        assert max(map(len, texts)) > 200, name
    built = (tmp_path / "licences" / "ffmpeg.txt").read_text(encoding="utf-8")
    assert "General Public License" in built and "--enable-gpl" in built
    assert {"numpy", "rasterio", "glcontext"} <= set(bundled_libraries()), "its own, those of exports, and theirs"
    assert not {"pytest", "dask", "scipy"} & set(bundled_libraries())


def test_the_folder_has_the_pictures_that_the_guide_shows_and_no_others(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "assets" / "pictures", tmp_path / "pictures")
    remove_unseen_pictures(tmp_path)
    kept = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert {"dune-field.jpg", "canyon.jpg"} <= kept
    assert not {"tour.webp", "pictures.toml"} & kept


def test_warm_ups_name_commands() -> None:
    from app.cli.table import COMMANDS

    assert {words[0] for words in WARM_UPS} <= COMMANDS.keys()


@pytest.mark.skipif(shutil.which("strip") is None, reason="needs strip")
def test_libraries_that_wheels_have_patched_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append([str(word) for word in command]))
    for name in ("glm.so", "package/core.so", "lib.so.1.0", "numpy.libs/libopenblas.so", "numpy.libs/deeper/a.so"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "linked.so").symlink_to(tmp_path / "glm.so")
    freezing._strip(tmp_path)
    (command,) = commands
    assert {Path(word).relative_to(tmp_path).as_posix() for word in command[2:]} == {
        "glm.so", "package/core.so", "lib.so.1.0",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/full/thalweg"), "No space left on device: '/full/thalweg'"),
        (shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")]), "No space left on device: 'b'"),
        (subprocess.CalledProcessError(1, ["strip"]), "'strip'.* status 1"),
    ],
)
def test_a_folder_that_has_no_room_is_one_line(
    error: Exception, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> Path:
        raise error

    monkeypatch.setattr(sys, "argv", ["freeze", str(tmp_path)])
    monkeypatch.setattr(freezing, "freeze", fail)
    with pytest.raises(SystemExit) as raised:
        freezing.main()
    assert re.fullmatch(f"make app: .*{says}.*", str(raised.value.code)), raised.value.code


def test_no_codec_is_left_out_that_the_program_names() -> None:
    named = set()
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py")]
    for text in (text for text in texts if "imagecodecs" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module == "imagecodecs":
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "imagecodecs":
                named.add(node.attr)
    assert {"blosc_encode", "png_decode"} <= named
    assert not {name.partition("_")[0] for name in named} & set(OTHER_CODECS)


READ_ALL = """
import sys
from pathlib import Path
from tests.making.freeze import OTHER_CODECS
for codec in OTHER_CODECS:
    sys.modules[f"imagecodecs._{codec}"] = None
import numpy as np
from app.sources.heightmap import read_heightmap
for path in sorted(Path().iterdir()):
    read = read_heightmap(path, part="32x32+0+0" if path.suffix == ".tif" else "")
    print(path.name, read.elevation.sum())
"""


def test_every_compression_is_read_without_the_codecs_that_are_left_out(tmp_path: Path) -> None:
    heights = (100 * np.add.outer(np.arange(32), np.arange(48))).astype(np.uint16)
    written = ("none", "lzw", "zlib", "deflate", "zstd", "lzma", "packbits", "lerc", "jpeg2000", "jpegxl", "jpegxr")
    for name in written:
        options = (
            {} if name == "none" else {"compression": {"jpegxl": "jpegxl", "zlib": "adobe_deflate"}.get(name, name)}
        )
        lossless = {"compressionargs": {"level": 0}} if name in ("jpeg2000",) else {}
        tifffile.imwrite(tmp_path / f"{name}.tif", heights, **options, **lossless)
        tifffile.imwrite(tmp_path / f"{name}-tiled.tif", heights, tile=(16, 16), **options, **lossless)
    tifffile.imwrite(tmp_path / "predicted.tif", heights.astype("f4"), compression="zlib", predictor=True)
    Image.fromarray(heights).save(tmp_path / "image.png")
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2 * len(written) + 2


def test_a_program_that_cannot_be_made_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is that of the command that failed."""
    monkeypatch.setattr(sys, "argv", ["freeze", str(tmp_path)])
    monkeypatch.setattr(freezing, "freeze", lambda _: Path(sys.executable))
    monkeypatch.setattr(freezing, "all_builds", list)
    monkeypatch.setattr(freezing, "WARM_UPS", [("-c", "import sys; sys.exit('compiling\\nno kernel of that name')")])
    with pytest.raises(SystemExit) as raised:
        freezing.main()
    line = str(raised.value.code)  # which Python prints, and ends with 1
    assert re.fullmatch(r"make app: .* ended with 1: no kernel of that name", line), line

"""The command line as a person meets it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from app.cli import main as cli
from app.cli import scenes as scenes_of_options
from app.cli.table import COMMANDS
from app.files.atomic import claimed_place
from app.files.journal import Journal, write_journal
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.droplets import DropletParameters
from app.scene.edits import Edit, Open
from app.scene.scene import DECLARATIONS, DEFAULT_PRESET, Scene, presets
from app.sources.heightmap import reading
from app.sources.parameters import WorldParameters
from app.window.part_choice import Asked

ROOT = str(Path(__file__).parents[2])
# Numbers hold for these cells, and not for smaller ones.
NO_PAST = ["--set", "world.past=0"]  # whose kernels would have to be compiled first, which is told
CELLS = "0 or from 0.0001 to 1e+06 m"
SMALL = ["noise", "--size", "40x32", "--set", "world.reference_cell_size=0", "--set", "droplets.count=60", *NO_PAST]


def thalweg(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "app", *map(str, words)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# Does what several command lines say: most of what one takes goes into its start.
IN_TURN = """
import sys
from app.cli.main import main
words, statuses = sys.argv[1:], []
while words:
    end = words.index("and then")
    statuses.append(main(words[:end]))
    del words[: end + 1]
print("statuses", *statuses)
"""


CLAIMING = [
    "simulate jacksboro --out x.npz",
    "simulate jacksboro --overwrite --out x.npz",
    "replay story.toml --out x.npz",
    "render --out x.mp4",
    "render --frames 1 --out x.exr",
    "render --out x%04d.png",
    "sheet wind --out x.png",
    "demo --out x.mp4",
    "export jacksboro --out x.tif",
    "analyze jacksboro --out x/analysis.json",  # of which the command takes the folder
    "analyze jacksboro --realism --json x.json",
    "bench droplets --json x.json",
    "soak --record x.jsonl",
    "sweep recipe.toml --out x.zarr",
    "sweep recipe.toml --out y.zarr --table x.csv",
    "sweep recipe.toml --out y.zarr --sheet x.png",
]


def test_what_another_run_is_writing_is_refused_in_one_line_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "recipe.toml").write_text('sources = ["noise"]\nsize = "32"\ncycles = 1\n')
    write_journal(tmp_path / "story.toml", Journal((Edit(0, Open((Scene(),))),), 1))
    before = set(tmp_path.rglob("*"))
    for line in CLAIMING:
        with subtests.test(line):
            *words, out = line.split()
            place = out.removesuffix("/analysis.json")
            with claimed_place(Path(out)):
                assert cli.main([*words, place]) == 1
            (error,) = capsys.readouterr().err.splitlines()
            assert error.startswith(f"thalweg: cannot write {out}: another run is writing it; wait for its end")
            assert set(tmp_path.rglob("*")) == before


def test_a_replay_of_several_worlds_replaces_none_of_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_journal(tmp_path / "story.toml", Journal((Edit(0, Open((Scene(), Scene()))),), 1))
    (tmp_path / "x-B.npz").write_bytes(b"mine")
    assert cli.main(["replay", str(tmp_path / "story.toml"), "--out", str(tmp_path / "x.npz")]) == 1
    assert "x-B.npz already exists; --overwrite replaces it" in capsys.readouterr().err


def in_turn(*lines: Sequence[str | Path]) -> list[str]:
    """A command that runs the program in one process with several command lines."""
    return [sys.executable, "-c", IN_TURN, *(str(word) for line in lines for word in (*line, "and then"))]


def stops(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """The one line with which the program refuses."""
    try:
        status = cli.main([str(word) for word in words])
    except SystemExit as end:  # argparse
        status = int(end.code or 0)
    assert status not in (0, 130)
    error = capsys.readouterr().err
    assert error.endswith("\n")
    assert error.count("\n") == 1, error
    assert "Traceback" not in error
    return error.rstrip()


# Help and lists.


def test_help_says_what_it_does_with_an_example(capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests) -> None:
    for command in ([], *([name] for name in COMMANDS)):
        with subtests.test(command=command):
            with pytest.raises(SystemExit) as end:
                cli.main([*command, "--help"])
            assert end.value.code == 0
            text = capsys.readouterr().out
            assert re.search(r"examples:\n  thalweg", text)
            assert "--debug" in text
            if not command:
                assert all(name in text for name in COMMANDS)


def test_list_of_parameters_is_derived(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--list-parameters"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(DECLARATIONS)
    evaporation = next(line for line in lines if line.startswith("droplets.evaporation"))
    for part in ("0.001", "from 0 to 1 1/t", DECLARATIONS["droplets.evaporation"].help):
        assert part in evaporation


def test_list_of_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--list-presets"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(presets())


# What is refused.


WRONG_WORDS: list[tuple[list[str], str]] = [
    (["simulate", "nowhere.tif"], "nowhere.tif: there is no such file"),
    (["simulate", "jacksbor"], "did you mean 'jacksboro'?"),
    (["simulate", *SMALL, "--set", "droplets.evaporation=9"], "droplets.evaporation = 9: must be from 0"),
    (["simulate", *SMALL, "--set", "droplets.evaporation=nan"], "droplets.evaporation = nan: must be a number"),
    (["simulate", *SMALL, "--set", "evaporation"], "--set evaporation: must be section.name=value"),
    (["simulate", "noise", "--size", "big"], "--size big: must be a number of cells, or WIDTHxHEIGHT"),
    (["simulate", "noise", "--size", "7"], "--size 7: must be a number of cells, or WIDTHxHEIGHT, each from 8 to"),
    (["simulate", "noise", "--size", "64x9999"], "each from 8 to 8192"),
    (["simulate", "noise", "--size", "64x"], "--size 64x: must be"),
    (["simulate", "noise", "--extent", "wide"], "--extent wide: must be a width in metres, or WIDTHxHEIGHT"),
    (["simulate", "noise", "--extent", "100"], "--extent 100: 5×5 cells of 20 m: sides must be from 8 to 8192"),
    (["simulate", "jacksboro", "--extent", "9000"], "jacksboro.npz is a file, which keeps its extent"),
    (["simulate", "noise", "--seed", "-4"], "world.seed = -4: must be from 0 to 2147483647"),
    (["simulate", "noise", "--cell-size", "wide"], f"world.cell_size = wide: must be a number, {CELLS}"),
    (["simulate", "noise", "--cell-size", "-0.0"], f"world.cell_size = -0: must be {CELLS}"),
    (["simulate", "noise", "--cell-size", "1e-320"], f"world.cell_size = 9.99989e-321: must be {CELLS}"),
    (["simulate", "noise", "--size", "32", "--cell-size", "1e-310"], f"world.cell_size = 1e-310: must be {CELLS}"),
    (
        ["simulate", "noise", "--size", "32", "--cell-size", "0.1"],
        "a map of 3.2 m: it must be at least 8",
    ),
    (["simulate", "noise", "--set", "world.relief=1e-320"], "must be 0 or from 0.001 to 9000 m"),
    (["simulate", "--cycles", "-1"], "argument --cycles: -1: must be a whole number from 0 to 1000000000"),
    (["simulate", "--cycles", "9" * 5000], "9: must be a whole number from 0 to 1000000000"),
    (["simulate", "noise", "--cell-size", "1e-9"], "world.cell_size = 1e-09: must be 0 or from 0.0001 to 1e+06 m"),
    (["simulate", "~nobody-is-called-this/land.tif"], "~nobody-is-called-this/land.tif: there is no such file"),
    (["demo", "--seconds", "1e300", "--out", "tour.mp4"], "--seconds: 1e300: must be more than 0, and at most 100000"),
    (["render", "story.toml", "--seconds", "0"], "--seconds: 0: must be more than 0, and at most 100000"),
    (["soak", "--hours", "1e300"], "--hours: 1e300: must be more than 0, and at most 10000"),
    (["simulate", "--threads", "0"], "argument --threads: 0: must be a whole number from 1 to 256"),
    (["simulate", "--cyc", "3"], "unrecognized arguments: --cyc"),
    (["simulate", *SMALL, "--out", "/nowhere/w.npz"], "cannot write /nowhere/w.npz: there is no folder /nowhere"),
    (["simulate", *SMALL, "--out", "x.png"], "x.png: a world is saved as .npz; `thalweg render` draws pictures"),
    (["render", *SMALL, "--compare", "nois"], "did you mean 'noise'?"),
    (["render", *SMALL, "--compare", "jacksboro.npz"], "jacksboro.npz: it has land but no parameters of processes"),
    (["render", *SMALL, "--compare", "world.seed=2"], "world.seed=2: worlds that are compared share it"),
    (["render", *SMALL, "--compare", "droplets.count=-1"], "droplets.count = -1: must be from 0 to 100000"),
    (["render", *SMALL, *["--compare", "noise"] * 4], "--compare: 4 worlds can be compared, and not 5"),
    (["simulate", *SMALL, "--compare", "noise"], "unrecognized arguments: --compare noise"),
    (["render", "--width", "4"], "argument --width: 4: must be a whole number from 16 to 16384"),
    (["render", *SMALL, "--width", "9000"], "thalweg.mp4: frames have at most 8192 pixels along a side"),
    (["render", "--orbit", "nan"], "argument --orbit: nan: must be a finite number"),
    (["render", "--orbit", "round"], "argument --orbit: round: must be a finite number"),
    (["render", "--frames", "0"], "argument --frames: 0: must be a whole number from 1 to"),
    (
        ["render", *SMALL, "--out", "clip.avi"],
        "clip.avi: must be a clip (.mp4, .mov, .gif, .webp), a picture (.png) or",
    ),
    (
        ["render", *SMALL, "--out", "f_%099999999d.png"],
        "f_%099999999d.png: pictures are numbered with at most 20 digits",
    ),
    (["render", *SMALL, "--out", f"%{'9' * 200}d.png"], "pictures are numbered with at most 20 digits"),
    (["render", *SMALL, "--width", "641"], "thalweg.mp4: a clip of 641×360 pixels: width and height must be even"),
    (["render", *SMALL, "--out", "/nowhere/c.mp4"], "cannot write /nowhere/c.mp4: there is no folder /nowhere"),
    (["render", *SMALL, "--out", "/nowhere/%d.png"], "cannot write /nowhere/%d.png: there is no folder /nowhere"),
    (["analyze", "nowhere.tif", "--out", "."], "nowhere.tif does not exist; expected a heightmap file"),
    (["analyze", "hills.doc", "--out", "."], "hills.doc: a heightmap's name must end in one of .png, .tif"),
    (["analyze", "hills.tif"], "one of the arguments --out --realism is required"),
    (["analyze", "h.tif", "--out", ".", "--realism"], "argument --realism: not allowed with argument --out"),
    (["analyze", "h.tif", "--out", ".", "--json", "m.json"], "--json is only for --realism"),
    (["analyze", "h.tif", "--out", ".", "--cycles", "3"], "--cycles is only for --realism"),
    (["analyze", "--realism", "noise", "--rain-map", "r.png"], "--rain-map is only for --out"),
    (["analyze", "--realism", "jacksboro.npz", "--cycles", "3"], "a heightmap has no processes; --cycles runs"),
    (["analyze", "--realism", "nose"], "nose"),
    (["analyze", "--realism", "noise", "--json", "/nowhere/m.json"], "cannot write /nowhere/m.json: there is no"),
    (["analyze", "h.tif", "--out", ".", "--sea-level", "nan"], "--sea-level: nan: must be a finite number"),
    (["analyze", "h.tif", "--out", ".", "--river", "0"], "argument --river: 0: must be a whole number from 1 to"),
    (["analyze", "h.tif", "--out", ".", "--cell-size", "0"], "argument --cell-size: 0: must be from 0.0001 to 1e+06 m"),
    (["analyze", "h.tif", "--out", ".", "--relief", "1e-320"], "argument --relief: 1e-320: must be from 0.001 to 9000"),
    (["analyze", "h.tif", "--realism", "--cell-size", "1e300"], "--cell-size: 1e300: must be from 0.0001 to 1e+06 m"),
    (["analyze", "h.tif", "--out", ".", "--edges", "round"], "argument --edges: invalid choice: 'round'"),
    ([""], "thalweg: the name of the source is empty"),
    (["simulate", ""], "thalweg: the name of the source is empty"),
    (["simulate", *SMALL, "--out", ""], "argument --out: the name of the file is empty"),
    (["export", *SMALL], "the following arguments are required: --out"),
    (
        ["export", *SMALL, "--out", "/nowhere/land.tif"],
        "cannot write /nowhere/land.tif: there is no folder /nowhere",
    ),
    (
        ["export", *SMALL, "--out", "land.jpg"],
        "--out land.jpg: must be a folder, or end in one of .tif, .png",
    ),
    (["export", *SMALL, "--out", "land.tif", "--heights", "png"], "--out land.tif: several things are asked for"),
    (
        ["export", *SMALL, "--out", "new", "--heights", "pngg"],
        "--heights pngg: there is no such name; did you",
    ),
    (
        ["export", *SMALL, "--out", "land.tif", "--surface", "sky"],
        "--surface sky: there is no such name; there",
    ),
    (["export", *SMALL, "--out", "land.tif", "--surface", "rock,water"], "2 surfaces need a folder, or one"),
    (["export", *SMALL, "--out", "land.tif", "--side", "1x1"], "--side 1x1: must be unity, unreal, world, a number of"),
    (["export", *SMALL, "--out", "land.tif", "--maps", "zzz"], "no such name; `thalweg export --help` lists them"),
    (["export", *SMALL, "--out", "land.tif", "--maps", "slop"], "--maps slop: there is no such name; did you mean"),
    (["export", *SMALL, "--out", "land.tif", "--maps", "slope"], "--out land.tif: several things are asked for"),
    (["export", *SMALL, "--out", "new", "--maps", "grass"], "--maps grass: this world has none; the processes"),
    (["export", *SMALL, "--out", "new", "--map-format", "jpg"], "--map-format jpg: there is no such name; did"),
    (
        ["export", *SMALL, "--out", "new", "--trees", "jpg"],
        "--trees jpg: there is no such name; there are csv",
    ),
    (["export", *SMALL, "--out", "new", "--pictures", "releif"], "--pictures releif: there is no such name; did"),
    (["export", *SMALL, "--out", "new", "--pictures", "relief", "--paper", "a9"], "--paper a9: there is no such"),
    (
        ["export", *SMALL, "--out", "new", "--pictures", "relief", "--paper", "a0"],
        "--dpi 300: a0 would have 14043×9933 pixels; at most 213 dpi are right for it",
    ),
    (
        ["export", *SMALL, "--out", "new", "--pictures", "map", "--set", "view.overlay=rivers"],
        "view.overlay = rivers: it is drawn in the window alone",
    ),
    (
        ["export", *SMALL, "--out", "new", "--pictures", "map", "--set", "view.overlay=grass"],
        "view.overlay = grass: this world has no 'grass'",
    ),
    (["export", *SMALL, "--out", "land.tif", "--heights", ","], "must be names with commas between them"),
    (["analyze", "", "--out", "."], "argument FILE: the name of the file is empty"),
    (["bench", "drops"], "drops: there is no such group; did you mean 'droplets'?"),
    (["bench", "zzz"], "zzz: there is no such group; `thalweg bench --help` lists them"),
    (["demo", "zzz"], "zzz: there is no such preset; `thalweg --list-presets` lists them"),
    (["guide", "zzz"], "zzz: the guide has no such page; `thalweg guide` lists them"),
    (["bench", "droplets", "--json", "/nowhere/b.json"], "cannot write /nowhere/b.json"),
    (["--seed", "3", "render"], "render: commands come first; a file of that name is ./render"),
]


def test_wrong_words_give_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for number, (words, message) in enumerate(WRONG_WORDS):
        with subtests.test(words=words):
            folder = tmp_path / str(number)
            folder.mkdir()
            monkeypatch.chdir(folder)
            error = stops(capsys, *words)
            assert error.startswith("thalweg")
            assert message in error
            assert list(folder.iterdir()) == []


def test_folders_without_permission_are_one_line_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """The user who runs tests may be one to whom nothing is forbidden."""
    secret = tmp_path / "secret"
    secret.mkdir()
    is_dir, iterdir = Path.is_dir, Path.iterdir

    def asked(path: Path) -> bool:
        if secret in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return is_dir(path)

    def listed(path: Path) -> Iterator[Path]:
        if path == secret:
            raise PermissionError(13, "Permission denied", str(path))
        return iterdir(path)

    monkeypatch.setattr(Path, "is_dir", asked)
    monkeypatch.setattr(Path, "iterdir", listed)
    monkeypatch.setattr(os, "access", lambda place, *_: Path(place) != secret)
    out = ["--out", str(tmp_path / "world.npz")]
    for words, message in (
        (["export", "noise", "--out", str(secret / "land.tif")], f"cannot write {secret / 'land.tif'}: no permission"),
        (["export", "noise", "--out", str(secret)], f"cannot write into {secret}: no permission"),
        (["analyze", "noise", "--out", str(secret)], f"cannot write into {secret}: no permission"),
        (["simulate", *SMALL, *out, "--set", f"flora.folder={secret}"], f"flora.folder: {secret}: cannot be read"),
    ):
        with subtests.test(words=words):
            error = stops(capsys, *words)
            assert message in error


def test_no_display_is_said_and_what_to_do_without() -> None:
    done = thalweg(*SMALL, DISPLAY="", WAYLAND_DISPLAY="")
    assert done.returncode == 1
    assert done.stderr.startswith("thalweg: there is no display here")
    assert "`thalweg render`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_debug_shows_the_traceback() -> None:
    done = thalweg("simulate", "nowhere.tif", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "nowhere.tif: there is no such file" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of a shell")
def test_nobody_needs_to_read_on(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Neither as much as fits a pipe, nor anything."""
    simulate = f"simulate {' '.join(SMALL)} --cycles 1"
    for words, reader in (
        ("--help", "true"),
        ("bench --help", "true"),
        ("--list-parameters", "true"),
        ("--list-parameters", "head -1"),  # the only one that prints more than is written at once
        (simulate, "true"),
    ):
        with subtests.test(words=words, reader=reader):
            line = f"{sys.executable} -m app {words} 2>errors | {reader}; exit ${{PIPESTATUS[0]}}"
            done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT})
            assert done.returncode in (0, 141)
            told = (tmp_path / "errors").read_text().replace("\r", "\n").splitlines()
            assert all(line.startswith("simulating") for line in told if line), told


def test_a_full_disk_under_what_is_printed_is_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is full")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "app", "--list-presets"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "thalweg: cannot write the output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "locale", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_terminals_that_know_few_letters(locale: dict[str, str], tmp_path: Path) -> None:
    simulate = ["simulate", *SMALL, "--cycles", "1", "--out", tmp_path / "dünen.npz"]
    command = in_turn(simulate, ["simulate", "dünen.tif"], ["--list-parameters"])
    done = subprocess.run(command, env={**os.environ, **locale}, capture_output=True, text=True)
    assert "40x32 cells of 256 m after cycle 1\nrock, m3\n" in done.stdout, done.stderr
    assert (tmp_path / "dünen.npz").exists()
    assert done.stderr.endswith("nen.tif: there is no such file\n")
    assert done.stdout.endswith("statuses 0 1 0\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all names are text")
def test_a_name_that_is_no_text_is_said(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.npy"
    np.save(tmp_path / "h.npy", np.eye(12))
    (tmp_path / "h.npy").rename(os.fsdecode(name))
    command = [sys.executable, "-m", "app", "simulate", name, "--cycles", "1", "--out", str(tmp_path / "w.npz")]
    done = subprocess.run(command, capture_output=True)
    assert done.stderr == b"thalweg: " + name + b": its name is not valid UTF-8, so no world could name it; rename it\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there a folder that is in use stays")
def test_a_working_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    world = tmp_path / "world.npz"
    simulate = ["simulate", *SMALL, "--cycles", "1"]
    command = in_turn(
        [*simulate, "--out", world], ["simulate", world, "--cycles", "1", "--out", world], simulate, [world]
    )
    done = subprocess.run(
        ["bash", "-c", 'rmdir "$PWD"; exec "$@"', "bash", *command],
        cwd=tmp_path / "gone",
        env={**os.environ, "PYTHONPATH": ROOT, "DISPLAY": "", "WAYLAND_DISPLAY": ""},
        capture_output=True,
        text=True,
    )
    assert done.stdout.endswith("statuses 0 0 1 1\n"), done.stderr
    failed, window = done.stderr.splitlines()[-2:]
    assert failed == "thalweg: cannot write world.npz: there is no such folder any more; choose another place"
    assert "there is no display here" in window


def test_the_window_opens_before_a_folder_of_tiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It opens the tiles itself, and what the options say of their land is done then; mistakes are told at once."""
    from app.window import loop

    opened: list[Path] = []
    shown: list[tuple[tuple[Scene, ...], Asked | None]] = []
    monkeypatch.setattr(reading, "_open_tile", opened.append)
    monkeypatch.setattr(loop, "run", lambda *scenes, asked_about=None, **_: shown.append((scenes, asked_about)))
    monkeypatch.setenv("DISPLAY", ":0")
    assert stops(capsys, tmp_path).endswith(
        "expected a heightmap file, a Zarr store, or a folder with tiles (.tif, .tiff, .hgt)"
    )
    (tmp_path / "N46E007.hgt").write_bytes(b"")
    words = [tmp_path, "--size", "300x200", "--part", "800x800+0+0", "--threads", "1"]
    assert "droplets.frictoin" in stops(capsys, *words, "--set", "droplets.frictoin=0.2")
    assert not shown
    assert cli.main([*map(str, words), "--set", "view.exaggeration=2.5", "--compare", "climate.precipitation=300"]) == 0
    ((scenes, asked),) = shown
    assert [scene.name for scene in scenes] == [DEFAULT_PRESET] and not opened
    assert asked is not None and asked.source == tmp_path and (asked.part, asked.wanted) == ("800x800+0+0", 300)
    monkeypatch.setattr(scenes_of_options, "with_changes", lambda scene, options: scene.with_setting(*options.set))
    changed = asked.change(Scene(world=WorldParameters(source="noise")))
    assert [scene.view.exaggeration for scene in changed] == [2.5, 2.5]
    assert {scene.simulation.threads for scene in changed} == {1}


def test_lists_are_not_padded_for_one_wide_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--list-parameters"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(len(line) > 200 for line in lines) < 24
    starts = [line.index(DECLARATIONS[path].help) for line in lines[1:] if (path := line.split()[0])]
    assert max(set(starts), key=starts.count) < 100


def test_file_with_the_name_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("hills.npy", np.fromfunction(lambda row, column: row * column, (12, 10)))
    Path("hills.npy").rename("render.npy")
    assert cli.main(["simulate", "./render.npy", "--cycles", "1", "--out", "world.npz"]) == 0
    with np.load("world.npz") as file:
        assert file["bedrock"].shape == (12, 10)


# Simulations.


def saved(path: Path) -> dict[str, bytes]:
    with np.load(path) as file:
        return {name: file[name].tobytes() for name in file}


@pytest.mark.slow
def test_simulate_loads_what_it_needs_and_tells_its_ledger(tmp_path: Path) -> None:
    words = ["simulate", *SMALL, "--cycles", "5", "--out", str(tmp_path / "world.npz")]
    code = (
        f"import sys\nfrom app.cli.main import main\nstatus = main({words})\n"
        "print('loaded', *sys.modules)\nsys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split("loaded ")[1].split())
    assert "kernels.droplets" in loaded
    assert not loaded & {"moderngl", "glfw", "imgui_bundle", "scipy.linalg", "yaml"}
    assert "40×32 cells of 256 m after cycle 5" in done.stdout
    for part in ("rock, m³", "sediment, m³", "water, m³", "worn by drops", "imbalance:"):
        assert part in done.stdout
    assert "100%" in done.stderr  # the progress bar
    assert "5/5" in done.stderr


def test_resume_equals_run_through_and_threads_do_not_matter(tmp_path: Path) -> None:
    def simulate(source: list[str], cycles: int, name: str, *words: str) -> None:
        assert cli.main(["simulate", *source, "--cycles", str(cycles), "--out", str(tmp_path / name), *words]) == 0

    simulate(SMALL, 9, "through.npz", "--threads", "1")
    simulate(SMALL, 9, "two.npz", "--threads", "2")
    simulate(SMALL, 4, "four.npz")
    simulate([str(tmp_path / "four.npz")], 5, "four.npz")  # onto itself
    assert saved(tmp_path / "through.npz") == saved(tmp_path / "two.npz") == saved(tmp_path / "four.npz")


def test_saved_world_takes_new_parameters_but_no_new_terrain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = tmp_path / "world.npz"
    simulate = ["simulate", str(world), "--out", str(world), "--cycles", "1"]
    assert cli.main(["simulate", *SMALL, "--cycles", "1", "--out", str(world)]) == 0
    assert cli.main([*simulate, "--set", "droplets.count=7"]) == 0
    with np.load(world) as file:
        assert '"count":7' in str(file["meta"])
        assert '"cycle":2' in str(file["meta"])
    capsys.readouterr()
    for words in (
        ["--size", "64"],
        ["--seed", "3"],
        ["--cell-size", "5"],
        ["--extent", "640"],
        ["--set", "noise.gain=0.4"],
    ):
        assert f"{' '.join(words)}: {world} is a saved world, which keeps" in stops(capsys, *simulate, *words)


def test_another_world_is_replaced_only_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    world = Path("world.npz")  # the default
    world.write_bytes(b"old")
    simulate = ["simulate", *SMALL, "--cycles", "1"]
    assert stops(capsys, *simulate) == (
        "thalweg: world.npz already exists; --overwrite replaces it, and --out names another file"
    )
    assert world.read_bytes() == b"old"
    assert cli.main([*simulate, "--overwrite"]) == 0
    assert saved(world)["bedrock"]
    assert cli.main(["simulate", "./world.npz", "--cycles", "1"]) == 0  # it goes on


def test_simulate_saves_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.files import checkpoint

    cycles = []
    save = checkpoint.save
    monkeypatch.setattr(checkpoint, "save", lambda *what: (cycles.append(what[1].cycle), save(*what)))
    world = tmp_path / "world.npz"
    assert cli.main(["simulate", *SMALL, "--cycles", "7", "--save-every", "3", "--out", str(world)]) == 0
    assert cli.main(["simulate", str(world), "--cycles", "4", "--save-every", "2", "--out", str(world)]) == 0
    assert cycles == [3, 6, 7, 9, 11]


def test_a_cycle_that_fails_leaves_what_was_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.processes.droplets import DropletErosion

    step = DropletErosion.step

    def fail_in_cycle_4(self: DropletErosion, world: World, parameters: DropletParameters, cycle: Cycle) -> None:
        if world.cycle == 4:
            raise ValueError("no rain")
        step(self, world, parameters, cycle)

    world = tmp_path / "world.npz"
    assert cli.main(["simulate", *SMALL, "--cycles", "4", "--out", str(tmp_path / "good.npz")]) == 0
    monkeypatch.setattr(DropletErosion, "step", fail_in_cycle_4)
    capsys.readouterr()
    assert cli.main(["simulate", *SMALL, "--cycles", "9", "--out", str(world)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"thalweg: droplets: ValueError: no rain; stopped after cycle 4; {world} holds the world at that point"
    )
    assert saved(world) == saved(tmp_path / "good.npz")


def test_threads_beyond_the_machine_are_taken_as_all_it_has(tmp_path: Path) -> None:
    assert cli.main(["simulate", *SMALL, "--cycles", "1", "--threads", "256", "--out", str(tmp_path / "w.npz")]) == 0


def test_interrupt_leaves_the_old_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: object) -> None:
        raise KeyboardInterrupt

    world = tmp_path / "world.npz"
    world.write_bytes(b"old")
    monkeypatch.setattr("app.engine.simulator.Simulator.advance", interrupt)
    assert cli.main(["simulate", *SMALL, "--overwrite", "--out", str(world)]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == ("thalweg simulate: interrupted; nothing half-written was left")
    assert world.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [world]


def test_mistake_of_our_own_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stumble(*_: object) -> None:
        raise IndexError("list index\nout of range")

    monkeypatch.setattr("app.files.opening.open_scene", stumble)
    error = stops(capsys, "simulate", *SMALL)
    assert error == "thalweg: internal error: IndexError: list index out of range (--debug shows where)"


def test_failed_cycle_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no rain")

    monkeypatch.setattr("app.processes.droplets.DropletErosion.step", fail)
    for prepare in ("prepare", "prepare_alternative"):
        monkeypatch.setattr(f"app.processes.droplets.DropletErosion.{prepare}", lambda *_, **__: None)
    assert cli.main(["simulate", *SMALL, "--out", str(tmp_path / "world.npz")]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "thalweg: droplets: ValueError: no rain; stopped after cycle 0"
    assert list(tmp_path.iterdir()) == []


def about(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What a report of a bug has, by its names."""
    assert cli.main(["--version", "--debug"]) == 0
    lines = capsys.readouterr().out.splitlines()
    return {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}


@pytest.mark.slow
def test_debug_version_has_what_a_report_needs_without_a_display(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    told = about(capsys)
    assert told["thalweg"] == metadata.version("thalweg")
    assert told["numpy"] == np.__version__
    assert told["Python"].startswith(platform.python_version())
    assert told["kernels"] == os.environ["NUMBA_CACHE_DIR"]
    assert "there is no display" in told["OpenGL in a window"]
    assert "thalweg guide notices" in told["parts by others"]
    assert {f"OpenGL without a window, {name}" for name in ("vendor", "renderer", "version")} < told.keys()
    assert {
        "data",
        "log",
        "system",
        "processor",
        "cores",
        "memory",
        "moderngl",
        "imgui-bundle",
        "rasterio",
    } < told.keys()


@pytest.mark.slow
def test_debug_version_says_where_there_is_no_opengl(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("no driver")

    monkeypatch.setattr("moderngl.create_standalone_context", fail)
    assert re.search("none: .*needs OpenGL 4.1.*no driver", about(capsys)["OpenGL without a window"])


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"thalweg {metadata.version('thalweg')}\n"

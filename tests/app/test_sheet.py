"""Sheets of variations: what their files may say, the grid, clips, and what is kept where one ends early."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import sys
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.cli import main as cli
from app.cli import sheet as drawing
from app.cli.arguments import DEFAULT_FRAMES
from app.cli.filming import open_film
from app.cli.headless import scene_camera
from app.cli.scenes import with_changes
from app.cli.sheet import GAP, GROUND, SheetGrid
from app.cli.sheet_file import LONGEST_LINE, MOST_PICTURES, Sheet, open_sheet, read_sheet, sheets
from app.cli.table import find_command
from app.engine import runner
from app.engine.creation import create_world
from app.engine.cycles import PORTION
from app.engine.publishing import take_snapshot
from app.engine.simulator import SimulationError, Simulator
from app.engine.survey import Surveyor, wanted_by
from app.model.errors import UserError
from app.model.world import World
from app.picture import lettering
from app.picture.canvas import Canvas
from app.picture.passes.declaration import Shot
from app.picture.picture import Picture
from app.scene.comparison import settings_that_differ, with_compared_of
from app.scene.scene import load_preset
from tests.app.small import bits, simulated, small_preset, small_scene
from tests.graphics import graphics
from tests.nets.profile import is_nightly

pytestmark = pytest.mark.slow  # pictures are drawn

SMALL = """
title = "Rain"
base = "noise"
size = "40x32"
cycles = 4
columns = 2
width = 160
height = 90

[changes.world]
reference_cell_size = 0.0  # the count is for so few cells

[changes.view]
quality = "low"

[changes.droplets]
count = 60

[[pictures]]
caption = "before"
cycles = 0

[[pictures]]
caption = "rain"

[[pictures]]
caption = "more rain"
changes.droplets.count = 600
"""
ROWS, COLUMNS = 90, 160


def read(text: str, folder: Path = Path()) -> Sheet:
    return read_sheet(text, "a.toml", folder)


def whole(path: Path) -> NDArray[np.int64]:
    return np.asarray(Image.open(path).convert("RGB"), np.int64)


def parts(sheet: NDArray[np.int64], pictures: int, columns: int) -> list[NDArray[np.int64]]:
    """The pictures of a sheet, found from below: there the title is not."""
    rows = -(-pictures // columns)
    head = len(sheet) - rows * ROWS - (rows - 1) * GAP
    cells = itertools.product(range(rows), range(columns))
    places = [(head + row * (ROWS + GAP), column * (COLUMNS + GAP)) for row, column in cells]
    return [sheet[top : top + ROWS, left : left + COLUMNS] for top, left in places]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def draw(*words: str | Path) -> int:
    return cli.main(["sheet", *map(str, words)])


# The file.


@pytest.mark.parametrize("name", sheets())
def test_each_that_ships_opens_and_its_captions_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = open_sheet(name)
    base = sheet.base()
    variations = sheet.variations(base)
    assert len({variation.caption for variation in variations}) == len(variations) > 2
    worlds = {
        tuple(getattr(variation.scene, group) for group in ("world", "sand", "island")) for variation in variations
    }
    assert len(worlds) == 1, "one land, one seed"
    cut: list[str] = []
    shortened = lettering.shortened

    def note(face: lettering.Face, words: str, size: int, room: int) -> str:
        shown = shortened(face, words, size, room)
        cut.extend([words] if shown != words else [])
        return shown

    monkeypatch.setattr(lettering, "shortened", note)
    lettering.sign.cache_clear()
    values = sheet.values
    grid = SheetGrid(len(variations), values.columns, values.width, values.height, 0)
    scale = drawing.text_scale(grid)
    drawing._title(values.title, "512×512 cells, seed 2147483647, after 10 000 cycles", scale, grid.shape[1])
    for variation in variations:
        lines = (variation.caption, *drawing.settings_that_differ(base, variation.scene), "after 10 000 cycles")
        assert drawing._caption(lines, scale, grid).shape[1] <= values.width
    assert cut == []


SEEDS = (1606266249, 1, 2)  # the article's, and others


def blown_over(seed: int) -> tuple[NDArray[np.float64], dict[str, World]]:
    """Ground before the wind, and worlds after it by caption: on less land, for as many fewer cycles as it crosses it
    sooner."""
    sheet = open_sheet("wind")
    base = small_preset("article-wind", 48).with_value("world.seed", seed)
    before, *variations = sheet.variations(sheet.base())
    assert before.cycles == 0
    fewer = base.wind.count / sheet.base().wind.count
    worlds = {
        variation.caption: simulated(
            400,
            with_compared_of(base, variation.scene).with_value("wind.count", round(fewer * variation.scene.wind.count)),
        ).world
        for variation in variations
    }
    return create_world(base)[0].ground.copy(), worlds


def inner(world: World) -> NDArray[np.float64]:
    """The ground without its edges, over which parcels come and go."""
    return world.ground[6:-6, 6:-6]


def slope(world: World, part: float) -> float:
    """So many hundredths of the land are less steep."""
    return float(np.percentile(np.hypot(*np.gradient(inner(world))), part))


def crest_spacing(world: World) -> float:
    """From crest to crest, in cells, by the moments of the spectrum (Longuet-Higgins 1957)."""
    ground = inner(world)
    side = len(ground)
    window = np.hanning(side)[:, None] * np.hanning(side)
    transformed = np.abs(np.fft.fft2((ground - ground.mean()) * window)) ** 2
    number = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.fftfreq(side))
    seen = (number > 0.0) & (number < 0.25)
    second, fourth = ((transformed[seen] * number[seen] ** power).sum() for power in (2, 4))
    return float(np.sqrt(second / fourth))


def bare(world: World) -> float:
    """The share of bare rock."""
    return float((world.sediment < 0.01).mean())


@pytest.mark.slow
def test_variations_of_the_wind_differ_as_in_the_article(subtests: pytest.Subtests) -> None:
    """In the words of the article: what each of its seven pictures shows, beside the base."""
    for seed in SEEDS if is_nightly() else SEEDS[:1]:
        with subtests.test(seed=seed):
            start, worlds = blown_over(seed)
            moved = {caption: float(np.abs(world.ground - start).mean()) for caption, world in worlds.items()}
            blown = {caption: world.ledger.sediment.lost["off the map"] for caption, world in worlds.items()}
            steep = {caption: slope(world, 90.0) for caption, world in worlds.items()}
            spacing = {caption: crest_spacing(world) for caption, world in worlds.items()}
            for one, other in itertools.combinations(worlds, 2):
                apart = float(np.abs(worlds[one].ground - worlds[other].ground).mean())
                assert apart > 0.15 * min(moved[one], moved[other]), f"{one} is like {other}"

            # Settling and roughness: higher or flatter dunes, and rough ones with more texture
            assert steep["settling × 0.2"] > 1.05 * steep["base"] > 1.1 * steep["settling × 4"]
            assert steep["roughness × 2"] > 1.1 * steep["base"]
            assert spacing["roughness × 2"] < 0.95 * spacing["base"]
            # Suspension: more of it moves more sand, less of it lets slides prevail
            assert moved["suspension × 10"] > 1.8 * moved["base"] > 1.9 * moved["suspension × 0.1"]
            assert blown["suspension × 10"] > 4.0 * blown["base"] > 20.0 * blown["suspension × 0.1"]
            # Rock hardly shows: sand covers it, but in places where ten times as much is blown off
            assert bare(worlds["suspension × 10"]) < 0.01
            assert all(bare(world) < 0.001 for caption, world in worlds.items() if caption != "suspension × 10")
            # Weaker wind: sharper dunes of smaller scale
            assert steep["wind × 0.25"] > 1.05 * steep["base"]
            assert spacing["wind × 0.25"] < 0.95 * spacing["base"]
            assert steep["wind × 0.25"] > 1.02 * steep["suspension × 0.1"], "and not only less of it"


def test_pictures_have_the_land_of_the_base_and_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "calm.toml").write_text(
        "[world]\nseed = 9\n[climate]\nprecipitation = 400.0\n[droplets]\nfriction = 0.3\n[view]\nhaze = 3.0\n"
    )
    more = (
        '[[pictures]]\ncaption = "calm"\npreset = "calm.toml"\nsnowballs = 700\nchanges.droplets.evaporation = 0.02\n'
    )
    sheet = read(SMALL + more, tmp_path)
    base = sheet.base()
    before, rain, more_rain, calm = sheet.variations(base)
    assert (base.world.columns, base.world.rows, base.droplets.count) == (40, 32, 60)
    assert before.scene == rain.scene == base
    assert more_rain.scene == base.with_value("droplets.count", 600)
    assert [variation.cycles for variation in (before, rain, more_rain)] == [0, 4, 4]
    assert calm.snowballs == 700
    assert calm.scene.droplets.friction == 0.3, "the processes of the preset"
    assert calm.scene.droplets.evaporation == 0.02, "and then its own change"
    assert calm.scene.climate.precipitation == 400.0
    assert calm.scene.droplets.count == load_preset("noise").droplets.count
    assert calm.scene.world == base.world
    assert calm.scene.view == base.view


def test_pictures_may_differ_in_what_the_ground_is_made_of() -> None:
    changes = "changes.materials.enabled = true\nchanges.materials.strata = 'clay 9; granite'\n"
    sheet = read(SMALL + "[[pictures]]\ncaption = 'clay'\n" + changes)
    base = sheet.base()
    first, *_, last = sheet.variations(base)
    assert first.scene.materials == base.materials and last.scene.materials.strata == "clay 9; granite"
    assert settings_that_differ(base, last.scene) == ["materials on"]


def test_another_base_keeps_what_the_sheet_says() -> None:
    base = read(SMALL).base("ridged")
    assert base.name == "ridged"
    assert (base.world.columns, base.droplets.count) == (40, 60)


def test_files_are_named_from_the_folder_of_the_sheet(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    np.save(tmp_path / "inner" / "hills.npy", np.add.outer(np.arange(12.0), np.arange(10.0)))
    sheet = 'title = "a"\nbase = "{}"\n[changes.world]\n{}\n[[pictures]]\ncaption = "b"\n'
    for text in (sheet.format("hills.npy", ""), sheet.format("noise", 'source = "hills.npy"')):
        source = read(text, tmp_path / "inner").base().world.source
        assert Path(source).samefile(tmp_path / "inner" / "hills.npy")


PICTURE = '[[pictures]]\ncaption = "a"\n'
HEAD = 'title = "a"\nbase = "noise"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "not valid TOML"),
        ("a = " + "[" * 3000, "nested too deeply"),
        ("", "'title' is missing, which every sheet has"),
        ('title = "a"\n' + PICTURE, "'base' is missing, which every sheet has"),
        (HEAD, f"must have from 1 to {MOST_PICTURES} pictures"),
        (HEAD + PICTURE * (MOST_PICTURES + 1), f"must have from 1 to {MOST_PICTURES} pictures"),
        (HEAD + "pictures = 3\n", f"must have from 1 to {MOST_PICTURES} pictures"),
        (HEAD + "pictures = [3]\n", "picture 1: must hold values"),
        (HEAD + "colums = 3\n" + PICTURE, "there is no 'colums' in a sheet; did you mean 'columns'?"),
        (HEAD + "columns = 0\n" + PICTURE, "columns = 0: must be from 1 to 16"),
        (HEAD + "width = 1e9\n" + PICTURE, "width = 1000000000.0: must be a whole number from 16 to 4096 pixels"),
        (HEAD + 'cycles = "many"\n' + PICTURE, "cycles = 'many': must be a whole number from 0 to"),
        (HEAD + 'size = "big"\n' + PICTURE, "size = big: must be a number of cells, or WIDTHxHEIGHT"),
        (HEAD + "changes = 1\n" + PICTURE, "changes: must hold sections, such as [changes.camera]"),
        (HEAD + "changes.camera = 1\n" + PICTURE, "changes: camera = 1: must be a section"),
        (HEAD + "changes.camra.pitch = 1\n" + PICTURE, "changes: there is no section 'camra'; did you mean 'camera'?"),
        (HEAD + "changes.camera.pich = 1\n" + PICTURE, "there is no parameter 'camera.pich'; did you mean"),
        (HEAD + "changes.camera.pitch = 91\n" + PICTURE, "camera.pitch = 91: must be from 1 to 90 °"),
        (HEAD + "[[pictures]]\n", "picture 1: 'caption' is missing, which every picture has"),
        (HEAD + PICTURE + '[[pictures]]\ncaption = ""\n', "picture 2: 'caption' is missing"),
        (HEAD + '[[pictures]]\ncaption = "a\\nb"\n', "picture 1: 'a\\nb' must be one line"),
        (HEAD + f'[[pictures]]\ncaption = "{"a" * (LONGEST_LINE + 1)}"\n', f"one line of up to {LONGEST_LINE} letters"),
        (HEAD + PICTURE + "caption2 = 1\n", "picture 1: there is no 'caption2' in a picture; did you mean 'caption'?"),
        (HEAD + PICTURE + "snowballs = -1\n", "picture 1: snowballs = -1: must be from 0 to 10000000"),
        (HEAD + PICTURE + "changes.world.seed = 2\n", "picture 1: world.seed: all pictures of a sheet show one land"),
        (HEAD + PICTURE + "changes.noise.octaves = 2\n", "picture 1: noise.octaves: all pictures of a sheet show one"),
    ],
)
def test_what_a_file_may_not_say(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        read(text)
    assert str(raised.value).startswith("a.toml: ")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "a"\nbase = "nowhere.toml"\n' + PICTURE, "nowhere.toml: there is no such file"),
        ('title = "a"\nbase = "nois"\n' + PICTURE, "nois: there is no such file"),
        (HEAD + PICTURE + 'preset = "coupld"\n', "a.toml: picture 1: "),
        (HEAD + PICTURE + 'preset = "jacksboro.npz"\n', "it has land but no parameters of processes"),
    ],
)
def test_what_it_may_not_name(text: str, message: str, tmp_path: Path) -> None:
    sheet = read(text, tmp_path)
    with pytest.raises(UserError) as raised:
        sheet.variations(sheet.base())
    assert message in str(raised.value)


def test_a_saved_world_keeps_its_land(tmp_path: Path) -> None:
    world = tmp_path / "w.npz"
    assert cli.main(["simulate", "noise", "--size", "40", "--cycles", "3", "--out", str(world)]) == 0
    with pytest.raises(UserError, match=r"^world.columns: w is a saved world, which keeps its terrain and size"):
        read(SMALL).base(str(world))
    sheet = read('title = "a"\nbase = "w.npz"\ncycles = 2\n' + PICTURE, tmp_path)
    (variation,) = sheet.variations(sheet.base())
    assert variation.scene.saved_world == str(world)
    sheet = read('title = "a"\nbase = "w.npz"\n' + PICTURE + "changes.soil.clay = '1'\n", tmp_path)
    with pytest.raises(UserError, match=r"picture 1: soil.clay: w is a saved world, which keeps its ground"):
        sheet.variations(sheet.base())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which sheet? `thalweg sheet --list` lists"),
        (["wimd"], "wimd: there is no sheet of this name; did you mean 'wind'?"),
        (["./wind"], "./wind: there is no such file"),
        (["nowhere.toml"], "nowhere.toml: there is no such file"),
        (["."], ".: not a sheet: it is not a regular file"),
        (["wind", "--frames", "0"], "argument --frames: 0: must be a whole number"),
        (["wind", "--set", "wind.count=-1"], "wind.count = -1: must be from 1"),
        (["wind", "--width", "4096", "--height", "4096"], "a sheet of 8196×"),
        (["wind", "--out", "a.avi"], "a.avi: must be a clip (.mp4, .mov, .gif, .webp), a picture (.png) or"),
        (["wind", "--out", "/nowhere/a.png"], "cannot write /nowhere/a.png: there is no folder /nowhere"),
    ],
)
def test_wrong_words_give_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SystemExit):  # argparse
        assert draw(*words) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_list_has_all_that_ship(capsys: pytest.CaptureFixture[str]) -> None:
    assert draw("--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(sheets())
    assert all(open_sheet(line.split()[0]).values.title in line for line in lines)


# The picture.


def test_each_picture_is_what_its_world_looks_like_alone_and_in_its_place(tmp_path: Path) -> None:
    fine = SMALL.replace('"low"', '"high"')
    (tmp_path / "fine.toml").write_text(fine)
    assert draw(tmp_path / "fine.toml", "--out", tmp_path / "sheet.png") == 0
    sheet = whole(tmp_path / "sheet.png")
    assert sheet.shape[1] == 2 * COLUMNS + GAP
    *pictures, empty = parts(sheet, 4, 2)
    assert (empty == GROUND).all(), "there is no fourth"
    base = read(fine).base()
    start = take_snapshot(simulated(0, base).world)
    camera = scene_camera(base, start, COLUMNS / ROWS)
    # Streams of all are on one scale.
    least = base.runoff.smallest_stream(start.reference_cell_size or start.cell_size)
    label = 30  # rows, more than the captions here have
    with graphics() as context:
        picture, canvas = Picture(context, bake_at_once=True), Canvas(context)
        for number, (cycles, count) in enumerate(((0, 60), (4, 60), (4, 600))):
            shown, scene = pictures[number], base.with_value("droplets.count", count)
            simulator = simulated(cycles, scene)
            simulator.finish_spin_up()
            survey = Surveyor().survey(simulator.world, scene.rivers, wanted_by(scene.view), scene.runoff)
            picture.show(take_snapshot(simulator.world, number, None, survey))
            shot = Shot(camera, scene, minimap=False, least_discharge=least)
            for _ in picture.slices(canvas.framebuffer(COLUMNS, ROWS), shot):
                pass
            alone = canvas.pixels()
            assert alone is not None
            np.testing.assert_array_equal(shown[label:], alone[label:])
            assert np.abs(shown[:10, :10] - alone[:10, :10]).mean() > 20.0, "there is a caption"
        picture.release()
        canvas.release()
    for one, other in itertools.combinations(pictures, 2):
        assert np.abs(one[label:] - other[label:]).mean() > 1.0


def test_the_grid_is_filled_row_by_row_and_is_even() -> None:
    for pictures, columns, width, height, head in itertools.product(
        (1, 2, 5, 6), (1, 2, 3, 7), (16, 33), (16, 21), (0, 9)
    ):
        grid = SheetGrid(pictures, columns, width, height, head)
        rows, across = grid.shape
        assert rows % 2 == across % 2 == 0
        covered = np.zeros((rows, across), int)
        for number in range(pictures):
            part = covered[grid.part(number)]
            assert part.shape == (height, width), "it lies within the whole"
            part += number + 1
        assert set(np.unique(covered)) - {0} == set(range(1, pictures + 1)), "none covers another"
        assert not covered[:head].any()
        rows_of = [covered[head + row * (height + GAP)] for row in range(-(-pictures // columns))]
        assert list(dict.fromkeys(number for row in rows_of for number in row if number)) == [*range(1, pictures + 1)]
    with pytest.raises(UserError, match="a side may have up to"):
        _ = SheetGrid(64, 1, 4096, 4096, 0).shape


def test_snowballs_are_those_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    verify = Simulator.verify

    def note(self: Simulator) -> None:
        verify(self)
        ended.append((self.world.snowballs, bits(self.world)))

    monkeypatch.setattr(Simulator, "verify", note)
    words = ["--width", "64", "--height", "36", "--size", "48", "--out", tmp_path / "sheet.png"]
    assert draw("snowballs", "island", *words) == 0
    fallen = dict(ended)
    assert {0, 35_000, 50_000, 100_000} <= set(fallen)
    monkeypatch.undo()
    sheet = open_sheet("snowballs")
    options = find_command("sheet")[1].parse_args(["snowballs", "island", "--size", "48"])
    simulator = simulated(0, with_changes(sheet.base("island"), options))
    simulator.begin_snowball_run(35_000)
    for _ in range(-(-35_000 // PORTION)):
        simulator.advance()
    simulator.derive_levels()
    assert bits(simulator.world)["layers"] == fallen[35_000]["layers"]


# The clip.


def test_a_clip_shows_all_from_their_beginning_to_their_end(small: Path, tmp_path: Path) -> None:
    words = ["--frames", "3", "--fps", "5", "--out", tmp_path / "clip.mp4", "--out", tmp_path / "frame_%d.png"]
    assert draw(small, *words) == 0
    assert imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "clip.mp4"))[0] == 3
    frames = [parts(whole(tmp_path / f"frame_{number}.png"), 3, 2) for number in range(3)]
    first, middle, last = frames
    assert np.array_equal(first[1][40:], first[0][40:]), "all begin alike"
    for picture in (1, 2):
        assert not np.array_equal(first[picture], middle[picture])
        assert not np.array_equal(middle[picture], last[picture])
    assert draw(small, "--out", tmp_path / "sheet.png") == 0
    for alone, side_by_side in zip(parts(whole(tmp_path / "sheet.png"), 3, 2), last, strict=False):
        assert np.abs(alone[40:] - side_by_side[40:]).mean() < 1.0, "the last frame is the picture; waves have gone on"


def test_a_clip_has_as_many_frames_as_any_other(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(drawing, "draw_sheet", lambda *_, frames, **__: asked.append(frames))
    for out in (["a.png"], ["a.mp4"], ["a.png", "a_%d.png"]):
        assert draw(small, *(word for name in out for word in ("--out", tmp_path / name))) == 0
    assert asked == [1, DEFAULT_FRAMES, DEFAULT_FRAMES]


def test_the_same_bits_every_time(small: Path, tmp_path: Path) -> None:
    for run, threads in (("a", "1"), ("b", "2")):
        words = ["--threads", threads, "--frames", "2", "--out", tmp_path / f"{run}.mp4"]
        assert draw(small, *words) == 0
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


# What is kept.


def failing_in(cycle: int, world: int, monkeypatch: pytest.MonkeyPatch, fail: object) -> None:
    """Let the world that is made as the number `world` fail, or be ended, in a cycle."""
    made: list[Simulator] = []  # held, as another may come to lie where one was
    advance = Simulator.advance

    def note(self: Simulator) -> None:
        if self not in made:
            made.append(self)
        advance(self)
        if made.index(self) == world and self.world.cycle == cycle:
            assert callable(fail)
            fail()

    monkeypatch.setattr(Simulator, "advance", note)


def no_rain() -> None:
    raise SimulationError("no rain")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.skipif(sys.platform == "win32", reason="there they are not signals")
@pytest.mark.parametrize(("fail", "status", "told"), [(no_rain, 1, "no rain; "), (interrupt, 143, "stopped; ")])
@pytest.mark.parametrize(("out", "kept"), [("sheet.png", "2 of 3 pictures"), ("clip.mp4", "2 of 5 frames")])
def test_what_was_whole_is_kept(
    fail: object, status: int, told: str, out: str, kept: str,
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The second world that runs is the third picture; in the clip of five frames a cycle lies between two."""
    failing_in(2, 1, monkeypatch, fail)
    path = tmp_path / out
    frames = ["--frames", "5"] if out == "clip.mp4" else []
    assert draw(small, *frames, "--out", path) == status
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"{told}{path}: {kept} are complete")
    assert {entry.name for entry in tmp_path.iterdir()} == {"small.toml", out}
    if out == "clip.mp4":
        assert imageio_ffmpeg.count_frames_and_secs(str(path))[0] == 2
        return
    before, rain, missing, _ = parts(whole(path), 4, 2)
    assert before.std() > 5.0 and rain.std() > 5.0
    assert (missing == GROUND).all()


@pytest.mark.skipif(sys.platform == "win32", reason="there they are not signals")
@pytest.mark.parametrize(("fail", "status"), [(no_rain, 1), (interrupt, 143)])
def test_nothing_is_left_before_the_first_picture(
    fail: object, status: int, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.write_text(re.sub(r'\[\[pictures\]\]\ncaption = "before"\ncycles = 0\n', "", SMALL))
    (tmp_path / "sheet.png").write_bytes(b"old")
    failing_in(2, 0, monkeypatch, fail)
    assert draw(small, "--out", tmp_path / "sheet.png") == status
    assert (tmp_path / "sheet.png").read_bytes() == b"old"
    assert {entry.name for entry in tmp_path.iterdir()} == {"small.toml", "sheet.png"}


def test_worlds_are_made_one_after_the_other_for_a_picture_and_together_for_a_clip(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(runner, "check_memory", lambda scenes, *_, **__: asked.append(len(scenes)))
    assert draw(small, "--out", tmp_path / "sheet.png") == 0
    assert asked == [1, 1, 1]
    asked.clear()
    assert draw(small, "--frames", "2", "--out", tmp_path / "clip.mp4") == 0
    assert asked == [3, 2, 1]


def test_a_picture_that_has_no_room_leaves_those_before_it(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse_more_rain(scenes: list[object], *_: object, **__: object) -> None:
        if scenes[0].droplets.count == 600:  # type: ignore[attr-defined]
            raise UserError("no room")

    monkeypatch.setattr(runner, "check_memory", refuse_more_rain)
    assert draw(small, "--out", tmp_path / "sheet.png") == 1
    assert "no room; " in capsys.readouterr().err.splitlines()[-1]
    assert whole(tmp_path / "sheet.png").std() > 5.0


def test_two_worlds_of_one_size_are_told_apart() -> None:
    """The picture keeps the layers of a world that it knows, by their versions: none takes those of another."""
    with open_film([], (16, 16), 30) as film:
        (views,) = drawing._Series(read(SMALL).variations(small_scene()), 1.0, 1, film, frames=1).frames()
    assert len({view.snapshot.world for view in views}) == len(views)

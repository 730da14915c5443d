"""The table of the pictures of README and guide: complete, and each is made by words that the program takes."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli.commands.viewer import viewer_scenes
from app.cli.scenes import scenes_of
from app.cli.sheet import GROUND, SheetGrid
from app.cli.table import find_command
from app.files import guide
from app.model.errors import UserError
from app.scene.tour import stops
from app.window.panel.parameters import SECTIONS
from tests.making import pictures
from tests.making.pictures import ReadmePicture, draw_pictures, readme_pictures
from tests.making.views import COLUMNS, SIZE, views

README = Path(__file__).parents[2] / "README.md"


def test_each_picture_of_readme_and_guide_has_its_words_and_no_other() -> None:
    texts = [README.read_text(encoding="utf-8"), *(page.text for page in guide.pages().values())]
    shown = {name for text in texts for name in re.findall(r"\((?:assets|\.\.)/pictures/([\w.-]+)\)", text)}
    assert shown == {name + picture.suffix for name, picture in readme_pictures().items()}
    there = {entry.name for entry in (files("assets") / "pictures").iterdir()}
    assert shown == there - {"pictures.toml", "views.toml"}


def test_the_program_takes_the_words(subtests: pytest.Subtests) -> None:
    for name, picture in readme_pictures().items():
        with subtests.test(name=name):
            assert [bool(words) for words in (picture.draw, picture.loop, picture.window)].count(True) == 1
            assert not picture.section or picture.section in SECTIONS
            if picture.window:
                assert viewer_scenes(shlex.split(picture.window))
                continue
            command, *words = shlex.split(picture.draw or picture.loop)
            _, parser = find_command(command)
            options = parser.parse_args([*words, "--out", "a.png"])
            if command == "render":
                assert scenes_of(options)
            if command == "demo":
                assert stops(options.presets)


def test_the_program_takes_the_words_of_views(subtests: pytest.Subtests) -> None:
    _, parser = find_command("render")
    for caption, words in views().items():
        with subtests.test(caption=caption):
            command, *others = shlex.split(words)
            assert command == "render"
            assert scenes_of(parser.parse_args([*others, "--out", "a.png"]))


def test_views_lie_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in its place and with its caption, as large as the program is asked for."""
    colours = {f"view {number}": (30 * number, 200 - 20 * number, 7) for number in range(COLUMNS + 1)}
    _, parser = find_command("render")

    def draw(words: str, out: Path) -> None:
        source, *others = shlex.split(words)
        options = parser.parse_args([*others, "--out", str(out)])
        Image.new("RGB", (options.width, options.height), colours[source]).save(out)

    monkeypatch.setattr(pictures, "views", lambda: {caption: f"'{caption}' noise" for caption in colours})
    monkeypatch.setattr(pictures, "_run", draw)
    monkeypatch.setattr(pictures, "VIEWS_FILE", tmp_path / "new" / "views.jpg")
    draw_pictures(["views"])
    grid = SheetGrid(len(colours), COLUMNS, *SIZE, 0)
    with Image.open(tmp_path / "new" / "views.jpg") as image:
        sheet = np.asarray(image, int)
    assert sheet.shape == (*grid.shape, 3)
    for number, colour in enumerate(colours.values()):
        view = sheet[grid.part(number)]
        assert np.abs(view[40:-16, 16:-16] - colour).max() < 3, "JPEG mixes colours in blocks along the edges alone"
        assert view[:40].std() > 5.0, "there is a caption"
    left_over = sheet[grid.height + 16 :, grid.width + 16 :]
    assert np.abs(left_over - GROUND).max() < 3, "no view is left over"


def test_a_picture_replaces_the_old_one_when_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = "render noise --size 32 --width 64 --height 36 --frames 1"
    table = {"small": ReadmePicture(draw=draw), "wrong": ReadmePicture(draw=f"{draw} --set no.such=1")}
    monkeypatch.setattr(pictures, "readme_pictures", lambda: table)
    monkeypatch.setattr(pictures, "files", lambda _: tmp_path)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in table:
        (folder / f"{name}.jpg").write_bytes(b"old")
    with pytest.raises(UserError, match="there is no such picture"):
        draw_pictures(["smal"])
    with pytest.raises(UserError, match="ends with status 1"):
        draw_pictures([])
    assert Image.open(folder / "small.jpg").size == (64, 36)
    assert (folder / "wrong.jpg").read_bytes() == b"old"
    assert len(list(folder.iterdir())) == 2


def test_a_loop_has_all_pictures_of_the_clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "render noise --size 32 --width 64 --height 36 --frames 3"
    monkeypatch.setattr(pictures, "readme_pictures", lambda: {"loop": ReadmePicture(loop=loop)})
    monkeypatch.setattr(pictures, "files", lambda _: tmp_path)
    (tmp_path / "pictures").mkdir()
    draw_pictures(["loop"])
    image = Image.open(tmp_path / "pictures" / "loop.webp")
    assert image.size == (64, 36) and image.n_frames == 3

"""The table of the README's pictures: complete, and each is made by words that the program takes."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path

import pytest
from PIL import Image

from app.cli import main as cli
from app.cli import pictures
from app.cli.pictures import ReadmePicture, draw_pictures, readme_pictures
from app.model.errors import UserError

README = Path(__file__).parents[2] / "README.md"


def test_each_picture_of_the_readme_has_its_words_and_no_other() -> None:
    shown = re.findall(r"\(assets/pictures/([\w-]+)\.jpg\)", README.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(readme_pictures())
    there = {entry.name.removesuffix(".jpg") for entry in (files("assets") / "pictures").iterdir()}
    assert set(shown) == there - {"pictures.toml"}


@pytest.mark.parametrize("name", readme_pictures())
def test_the_program_takes_the_words(name: str) -> None:
    picture = readme_pictures()[name]
    assert bool(picture.draw) != bool(picture.window)
    command, *words = shlex.split(picture.draw or f"simulate {picture.window}")
    _, parser = cli.COMMANDS[command]()
    options = parser.parse_args([*words, "--out", "a.npz" if picture.window else "a.png"])
    if command != "sheet":
        assert cli._scenes(options) if command == "render" else cli._scene(options)


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

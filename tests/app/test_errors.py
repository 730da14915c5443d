"""Errors of a person: one line each, whatever a file holds or is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.files.opening import open_scene
from app.model.errors import LONGEST, UserError
from app.model.materials import load_materials
from app.model.plants import load_plants
from app.scene.scene import read_preset
from app.sources.heightmap import read_heightmap


def test_what_cannot_be_seen_is_written_as_escapes() -> None:
    assert str(UserError("a\nb\x1b[31m\u202e: 3 m³ ≤ 5°")) == r"a\nb\x1b[31m\u202e: 3 m³ ≤ 5°"


def test_beginning_and_end_of_a_long_line_are_kept() -> None:
    line = str(UserError("world.npz: it has '" + "[" * 5000 + "', which no saved world has"))
    assert len(line) <= LONGEST
    assert line.startswith("world.npz: it has '[[") and line.endswith("[[', which no saved world has")
    assert str(UserError("x" * LONGEST)) == "x" * LONGEST


def test_a_file_with_a_line_break_in_its_name(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        read_heightmap(tmp_path / "a\nb.png")
    assert str(raised.value).splitlines() == [str(raised.value)]


@pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = " + "[" * 100_000, "a = \0", "[a\nb]"])
def test_toml_of_any_sort_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        read_preset(text, "preset")
    assert str(raised.value).startswith("preset: ")
    (tmp_path / "chalk.toml").write_text(text)
    (tmp_path / "grass.toml").write_text(text)
    for load in (lambda: load_materials(str(tmp_path)), lambda: load_plants(str(tmp_path))):
        with pytest.raises(UserError) as raised:
            load()
        assert str(raised.value).startswith(str(tmp_path))


def test_a_preset_in_a_file_that_is_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(UserError, match="nested too deeply"):
        open_scene(str(tmp_path / "a.toml"))

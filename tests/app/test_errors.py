"""Errors of a person: one line each, whatever a file holds or is called."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from app.cli.main import main
from app.files.opening import open_scene
from app.model.errors import LONGEST, LONGEST_WORD, UserError
from app.model.materials import load_materials
from app.model.plants import load_plants
from app.model.toml import DEEPEST, parse_toml
from app.scene.scene import read_preset
from app.sources.heightmap import read_heightmap


def test_what_cannot_be_seen_is_written_as_escapes() -> None:
    assert str(UserError("a\nb\x1b[31m\u202e: 3 m³ ≤ 5°")) == r"a\nb\x1b[31m\u202e: 3 m³ ≤ 5°"


def test_beginning_and_end_of_a_long_line_and_of_a_long_value_are_kept() -> None:
    line = str(UserError("world.npz: it has '" + "[" * 5000 + "', which no saved world has"))
    assert len(line) < 200
    assert line.startswith("world.npz: it has '[[") and line.endswith("[[', which no saved world has")
    line = str(UserError("begin " + "[ " * 5000 + "end"))
    assert len(line) <= LONGEST and line.startswith("begin [ [") and line.endswith("[ [ end")
    assert str(UserError("x" * LONGEST_WORD + " y")) == "x" * LONGEST_WORD + " y"


def test_what_was_pasted_is_not_echoed_whole_by_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    digits = "9" * 5000
    for words in (
        ("simulate", "noise", "--size", digits),
        ("simulate", "noise", "--cycles", digits),
        ("simulate", "noise", "--set", f"droplets.count={digits}"),
        ("simulate", "noise", f"--frob{digits}"),
        ("simulate", digits),
        ("render", "noise", "--width", digits),
        (f"frob{digits}",),
    ):
        status = 0
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
        (line,) = capsys.readouterr().err.splitlines()
        assert status in (1, 2) and 3 <= line.count("9") < 300, words


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


def test_nesting_is_counted_outside_texts_and_comments() -> None:
    brackets = "[{" * DEEPEST
    for text in (f'a = "{brackets}"', f"a = '{brackets}'", f'a = """\n{brackets}\n"""', f"# {brackets}", r'a = "\"[["'):
        parse_toml(text)
    parse_toml("a = [\n" + "[1, {b = [2]}], # [\n" * 1000 + "]")
    parse_toml("a = " + "[" * DEEPEST + "]" * DEEPEST)


def test_nested_text_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("the parser was called"))
    for text in ("a = " + "[" * (DEEPEST + 1), 'a = "\\""\nb = ' + "[{c = " * DEEPEST, "a." * DEEPEST + "a = 1"):
        with pytest.raises(RecursionError):
            parse_toml(text)

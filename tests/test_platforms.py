"""What can be known here of Windows and macOS: calls that they lack, names of files, encodings, line ends, paths."""

from __future__ import annotations

import ast
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import platformdirs
import pytest

from app.files.atomic import write_atomically
from app.files.paths import from_folder
from app.files.small_file import read_small_file, write_small_file
from app.scene.scene import preset_to_toml, presets, read_preset
from tests.test_imports import parsed

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "assets", "kernels", "shaders")
SHIPPED = sorted(
    path.relative_to(ROOT)
    for package in PACKAGES
    for path in (ROOT / package).rglob("*")
    if "__pycache__" not in path.parts
)

FORBIDDEN = '<>:"|?*\\'  # in names of Windows
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
LONGEST = 160  # letters of a path below the folder of the program: Windows has 260 for the whole

# Where Linux tells of itself, in ASCII
OF_LINUX = ("/proc", "app/engine/memory.py")


@pytest.mark.nightly
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_nothing_is_called_that_a_system_lacks(system: str) -> None:
    """By the types of the standard library, which know what each system has."""
    cache = ROOT / ".mypy_cache" / system  # of what has not changed since the last run
    command = [sys.executable, "-m", "mypy", "--platform", system, "--cache-dir", str(cache)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_system_can_have_the_files() -> None:
    for path in SHIPPED:
        name = path.as_posix()
        assert not set(name) & set(FORBIDDEN), name
        assert not {part.partition(".")[0].lower() for part in path.parts} & DEVICES, name
        assert not any(part.endswith((".", " ")) for part in path.parts), name
        assert len(name) <= LONGEST, name
        assert name == unicodedata.normalize("NFC", name), name


def test_no_two_files_differ_by_small_and_large_letters_alone() -> None:
    assert len({path.as_posix().lower() for path in SHIPPED}) == len(SHIPPED)


def code() -> dict[str, ast.Module]:
    """The trees of all our modules, by their paths."""
    return {
        path.relative_to(ROOT).as_posix(): parsed(path)
        for package in ("app", "kernels")
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def method_calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """All calls of methods, and of `open`, with their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            yield "open", node


def text_mode(call: ast.Call) -> str:
    """The mode in which a call of `open` asks for text; empty where it is another, or not written there."""
    nodes = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return next((mode for mode in modes if set(mode) <= set("rwaxt+")), "")


def test_text_has_an_encoding_and_its_own_line_ends() -> None:
    """Windows would otherwise take its own of each: other bytes, and letters that cannot be written."""
    for path, tree in code().items():
        for name, call in method_calls(tree):
            if name not in ("open", "read_text", "write_text"):
                continue
            text = f"{path}: {ast.unparse(call)}"
            mode = text_mode(call) if name == "open" else ""
            words = {word.arg for word in call.keywords}
            if (name in ("read_text", "write_text") or mode) and not any(place in text for place in OF_LINUX):
                assert "encoding" in words, text
            if name == "write_text" or set(mode) & set("wax"):
                assert "newline" in words, text


PIPES = ("run", "Popen", "check_output", "check_call", "call", "fdopen", "TextIOWrapper")


def without_encoding(tree: ast.AST) -> Iterator[str]:
    """Calls that make text of what goes through a pipe, as the system writes it and not in UTF-8."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = {word.arg: word.value for word in node.keywords}
        if name not in PIPES or "encoding" in words:
            continue
        mode = words.get("mode", node.args[1] if len(node.args) > 1 else ast.Constant("r"))
        opens = name == "fdopen" and not (isinstance(mode, ast.Constant) and "b" in str(mode.value))
        asks = any(isinstance(value, ast.Constant) and value.value is True for word, value in words.items()
                   if word in ("text", "universal_newlines"))  # fmt: skip
        if opens or asks or "errors" in words or name == "TextIOWrapper":
            yield ast.unparse(node)


def test_text_of_pipes_has_an_encoding() -> None:
    """What one process writes another reads, whatever the system's own encoding is."""
    for path, tree in code().items():
        assert not list(without_encoding(tree)), path


def test_text_without_an_encoding_is_found(subtests: pytest.Subtests) -> None:
    for text, lacks in (
        ("subprocess.run(command, text=True)", True),
        ("Popen(command, universal_newlines=True)", True),
        ("subprocess.run(command, errors='replace')", True),
        ("subprocess.run(command)", False),
        ("subprocess.run(command, encoding='utf-8')", False),
        ("os.fdopen(number)", True),
        ("os.fdopen(number, 'w')", True),
        ("os.fdopen(number, 'wb')", False),
        ("os.fdopen(number, 'w', encoding='utf-8')", False),
        ("io.TextIOWrapper(file)", True),
    ):
        with subtests.test(text=text):
            assert bool(list(without_encoding(ast.parse(text)))) == lacks


def test_no_place_is_that_of_one_system() -> None:
    """Of the person's folders, platformdirs knows where they are; temporary ones are tempfile's."""
    for path, tree in code().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not node.value.startswith(("/tmp", "/home", "/var", "/usr", "C:\\", "~/")), (path, node.value)


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_files_are_written_whole_on_other_systems(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with write_atomically(tmp_path / "a.txt") as file:
        file.write(b"old\n")
    with pytest.raises(KeyError), write_atomically(tmp_path / "a.txt") as file:
        file.write(b"new\n")
        raise KeyError
    assert (tmp_path / "a.txt").read_bytes() == b"old\n"
    write_small_file(tmp_path / "b.json", {"ä": 1})
    assert read_small_file(tmp_path / "b.json", dict[str, int], {}) == {"ä": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.json"]


def test_presets_of_windows_are_read() -> None:
    """With its line ends, and the mark that its editors begin with is taken away by `read_text`."""
    text = presets()["jacksboro"].read_text(encoding="utf-8").replace("\r\n", "\n")
    assert read_preset(text.replace("\n", "\r\n"), "a") == read_preset(text, "a")
    assert "\r" not in preset_to_toml(read_preset(text, "a"))


def test_files_name_others_with_slashes(tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "a.tif").touch()
    name = from_folder(str(tmp_path / "maps" / "a.tif"), tmp_path)
    assert PurePosixPath(name) == PurePosixPath("maps/a.tif")
    assert "\\" not in name


def test_folders_of_the_person_are_not_those_of_the_program() -> None:
    for place in (platformdirs.user_data_path, platformdirs.user_cache_path):
        assert not place("thalweg", appauthor=False).is_relative_to(ROOT)

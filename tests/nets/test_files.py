"""Hostile files of every kind: each opens, or one line names it and says what is wrong; nothing else happens.

`tests/corpus` has a folder for each kind, whose files are all tried. An input that Hypothesis finds belongs there.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.bench.world import everything, plant
from app.cli.sheet_file import sheets
from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.scene.scene import presets, scene_content
from app.sources.heightmap import SUFFIXES
from tests.app.small import small_scene
from tests.app.test_heightmap import every_format
from tests.nets.files import OPENERS, assert_opens_or_says_why, meta_of, open_heightmap
from tests.nets.mutations import (
    Arrays,
    changed_tree,
    damaged,
    misspelt,
    npy,
    npz,
    odd_npy,
    other_archive,
    other_array,
    other_png,
)
from tests.nets.profile import examples

CORPUS = Path(__file__).parent.parent / "corpus"


def fuzzing(few: int) -> settings:
    """So many inputs, the same ones each time; in a nightly run ten thousand, others each time."""
    return settings(
        max_examples=examples(few),
        suppress_health_check=list(HealthCheck),
        database=None,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One for all inputs of a test."""
    return tmp_path


def tried(kind: str, content: bytes, folder: Path, name: str) -> str:
    path = folder / name
    path.write_bytes(content)
    names = {entry.name for entry in folder.iterdir()}
    line = assert_opens_or_says_why(OPENERS[kind], path)
    if kind != "plants":  # which are opened among others
        assert {entry.name for entry in folder.iterdir()} == names, "something was left behind"
    return line


# The corpus.


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_corpus(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if path.parent.name == "worlds":
        request.getfixturevalue("worlds")  # compiles what takes more memory than any file
    tried(path.parent.name, path.read_bytes(), tmp_path, path.name)


def test_the_corpus_has_something_of_every_kind() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(OPENERS)


# Heightmaps.


class Valid(dict[Any, Any]):
    """What is damaged, by name. Hypothesis shows what a test was given, and this would fill screens."""

    def __repr__(self) -> str:
        return "Valid()"


@pytest.fixture(scope="module")
def heightmaps(tmp_path_factory: pytest.TempPathFactory) -> Valid:
    return Valid(every_format(tmp_path_factory.mktemp("valid")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("suffix", list(SUFFIXES))
@fuzzing(25)
@given(data=st.data())
def test_heightmaps(suffix: str, data: st.DataObject, heightmaps: Valid, folder: Path) -> None:
    content = heightmaps[suffix]
    made = damaged(content)
    match suffix:
        case ".png":
            made |= other_png(content)
        case ".asc":
            made |= misspelt(content.decode()).map(lambda text: text.encode("utf-8", "replace"))
        case ".npy":
            made |= odd_npy | other_array(np.arange(132.0).reshape(12, 11)).map(npy)
        case ".npz":
            made |= other_archive(
                {"elevation": np.arange(132.0).reshape(12, 11), "dx": np.array(9.0), "dy": np.array(9.0)}
            )
    tried(suffix.removeprefix("."), data.draw(made), folder, f"a{suffix}")


ODD_NAMES = (
    "~", "~nobody", "-rf", "--help", "%s", "{x}", "a\nb", "..", "...", " ", "noise", "a=b", "a_9999999999x9", "a_0x0",
    "a_99999x99999", "é" * 40,
)  # fmt: skip
letters = st.characters(exclude_characters="/\0", exclude_categories=("Cs",))
odd_names = st.sampled_from(ODD_NAMES) | st.text(letters, min_size=1, max_size=40)


@fuzzing(40)
@given(data=st.data())
def test_names_of_heightmaps(data: st.DataObject, heightmaps: Valid, folder: Path) -> None:
    suffix = data.draw(st.sampled_from(list(SUFFIXES)))
    stem = data.draw(odd_names)
    inner = folder / "inner"
    inner.mkdir(exist_ok=True)
    for entry in inner.iterdir():
        entry.unlink()
    content = data.draw(st.sampled_from((heightmaps[suffix], b"", b"a")))
    path = inner / f"{stem}{suffix}"
    path.write_bytes(content)
    assert_opens_or_says_why(open_heightmap, path)


# Presets, sheets, materials, plants, and what the window keeps.


def toml(tree: dict[str, Any]) -> bytes:
    """As TOML where it can be written so."""
    try:
        return tomli_w.dumps(tree).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return repr(tree).encode("utf-8", "replace")


def tomls(text: str) -> st.SearchStrategy[bytes]:
    tree = msgspec.toml.decode(text)
    return st.one_of(
        changed_tree(tree).map(toml),
        changed_tree(tree).map(toml),
        misspelt(text).map(lambda text: text.encode("utf-8", "replace")),
        damaged(text.encode()),
    )


@fuzzing(60)
@given(data=st.data())
def test_presets(data: st.DataObject, folder: Path) -> None:
    name = data.draw(st.sampled_from(("canyon", "island", "storm", "delta", "everything")))
    if name == "everything":
        text = toml(scene_content(small_scene())).decode()
    else:
        text = presets()[name].read_text(encoding="utf-8")
    tried("presets", data.draw(tomls(text)), folder, "a.toml")


@fuzzing(40)
@given(data=st.data())
def test_sheets(data: st.DataObject, folder: Path) -> None:
    name = data.draw(st.sampled_from(sorted(sheets())))
    tried("sheets", data.draw(tomls(sheets()[name].read_text(encoding="utf-8"))), folder, "a.toml")


@fuzzing(40)
@given(data=st.data())
def test_materials(data: st.DataObject, folder: Path) -> None:
    entry = data.draw(st.sampled_from(sorted((files("assets") / "materials").iterdir(), key=lambda entry: entry.name)))
    tried("materials", data.draw(tomls(entry.read_text(encoding="utf-8"))), folder, "chalk.toml")


@fuzzing(40)
@given(data=st.data())
def test_plants(data: st.DataObject, folder: Path) -> None:
    entry = data.draw(st.sampled_from(sorted((files("assets") / "plants").iterdir(), key=lambda entry: entry.name)))
    for older in folder.iterdir():
        older.unlink()
    tried("plants", data.draw(tomls(entry.read_text(encoding="utf-8"))), folder, entry.name)


@fuzzing(40)
@given(data=st.data())
def test_levels(data: st.DataObject, folder: Path) -> None:
    content = json.dumps({"llvmpipe": "low", "another": "high"}).encode()
    tree = changed_tree({"llvmpipe": "low", "another": "high"})
    written = tree.map(lambda tree: json.dumps(tree, default=str).encode("utf-8", "replace"))
    assert tried("levels", data.draw(written | damaged(content)), folder, "levels.json") == ""


# Saved worlds.


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Valid:
    """A small one of drops alone, and one that has every layer."""
    folder = tmp_path_factory.mktemp("worlds")
    full = everything(12).with_values(
        {"snowballs.enabled": True, "snowballs.count": 3, "climate.rain_by_altitude": 0.5}
    )
    made = Valid()
    for number, scene in enumerate((small_scene(world__columns=12, world__rows=10), full)):
        world, scene = create_world(scene)
        simulator = Simulator(scene, world, threads=1)
        for _ in range(4):
            simulator.run_cycle()
        if number:
            plant(world)
            simulator.run_cycle()
        checkpoint.save(folder / f"{number}.npz", world, scene)
        with np.load(folder / f"{number}.npz") as file:
            made[number] = dict(file)
    return made


def archive(arrays: Arrays) -> bytes:
    return npz([(f"{name}.npy", npy(array)) for name, array in arrays.items()], stored=True)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@fuzzing(40)
@given(data=st.data())
def test_saved_worlds(data: st.DataObject, worlds: Valid, folder: Path) -> None:
    """Layers that are others, by a bit or altogether."""
    arrays = worlds[data.draw(st.sampled_from(sorted(worlds)))]
    name = data.draw(st.sampled_from(sorted(arrays)))
    other = other_array(arrays[name]).map(lambda array: archive({**arrays, name: array}))
    tried("worlds", data.draw(other | other_archive(arrays)), folder, "a.npz")


@fuzzing(40)
@given(data=st.data())
def test_meta_of_saved_worlds(data: st.DataObject, worlds: Valid, folder: Path) -> None:
    arrays = worlds[data.draw(st.sampled_from(sorted(worlds)))]
    text = str(arrays["meta"])
    made = data.draw(
        st.one_of(
            changed_tree(meta_of(arrays)).map(lambda tree: json.dumps(tree, default=str)),
            misspelt(text),
            damaged(text.encode()).map(lambda text: text.decode("utf-8", "replace")),
        )
    )
    tried("worlds", archive({**arrays, "meta": np.array(made)}), folder, "a.npz")

"""Files that a scene names, in presets and saved worlds: found when these are moved, together or alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.files import checkpoint
from app.files.opening import open_scene
from app.files.paths import NAMING, named_from
from app.model.errors import UserError
from app.model.world import World
from app.scene.scene import Scene, preset_to_toml


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what a scene can name, in which the program runs."""
    folder = tmp_path / "one" / "data"
    (folder / "ground").mkdir(parents=True)
    (tmp_path / "one" / "kept").mkdir()
    np.save(folder / "h.npy", np.add.outer(np.arange(20.0), np.arange(24.0)))
    np.save(folder / "rain.npy", np.add.outer(np.arange(20.0), np.zeros(24)))
    assets = Path(__file__).parents[2] / "assets"
    shutil.copy(assets / "materials" / "clay.toml", folder / "ground" / "bluish.toml")
    (folder / "kinds").mkdir()
    shutil.copy(assets / "plants" / "conifer.toml", folder / "kinds" / "larch.toml")
    monkeypatch.chdir(folder)
    return folder


def scene_of_files() -> Scene:
    scene = open_scene("h.npy").with_value("world.rain_map", "rain.npy").with_value("droplets.count", 20)
    return scene.with_values(
        {"materials.enabled": True, "materials.folder": "ground", "flora.folder": "kinds", "flora.trees": "larch"}
    )


def write_both(folder: Path) -> None:
    """The scene of the files as a preset, and a world of it."""
    scene = scene_of_files()
    (folder / "p.toml").write_text(preset_to_toml(named_from(scene, folder)))
    world, made = create_world(scene)
    simulator = Simulator(made, world)
    simulator.advance()
    checkpoint.save(folder / "w.npz", world, made)


def begun_anew(path: Path) -> World:
    """The world that a preset, or Reset on a saved world, begins with."""
    return create_world(msgspec.structs.replace(open_scene(str(path)), saved_world=""))[0]


def test_all_that_names_a_file_is_declared() -> None:
    assert NAMING == ["world.source", "world.rain_map", "materials.folder", "flora.folder"]


@pytest.mark.parametrize("name", ["p.toml", "w.npz"])
def test_files_are_named_from_the_file_that_names_them(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tmp_path / "one"
    write_both(one / "kept")
    ground = create_world(scene_of_files())[0].ground
    monkeypatch.chdir(tmp_path)
    for place in (one, tmp_path / "two"):
        if place != one:
            one.rename(place)  # all together
        assert np.array_equal(begun_anew(place / "kept" / name).ground, ground)
        assert np.array_equal(begun_anew(Path(place.name) / "kept" / name).ground, ground)
    assert create_world(open_scene(str(tmp_path / "two" / "kept" / "w.npz")))[0].cycle == 1


@pytest.mark.parametrize("name", ["p.toml", "w.npz"])
def test_files_that_have_moved_are_looked_for_beside_and_here(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_both(data.parent / "kept")
    (data / "h.npy").rename(data.parent / "kept" / "h.npy")
    (data / "rain.npy").rename(tmp_path / "rain.npy")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"^world.rain_map: /.*/one/data/rain.npy: there is no such file; if it has"):
        begun_anew(data.parent / "kept" / name)
    (tmp_path / "rain.npy").rename(data.parent / "kept" / "rain.npy")
    begun_anew(data.parent / "kept" / name)
    (data.parent / "kept" / "h.npy").unlink()
    with pytest.raises(UserError, match=r"^world.source: /.*/one/data/h.npy: there is no such file; if it has moved"):
        begun_anew(data.parent / "kept" / name)


def test_what_is_no_file_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for source in ("noise", "jacksboro.npz", "gone.tif"):
        scene = Scene().with_value("world.source", source)
        assert named_from(scene, tmp_path / "kept") == scene
    np.save("noise.npy", np.eye(12))
    Path("noise.npy").rename("noise")
    scene = named_from(Scene().with_value("world.source", "./noise"), tmp_path)
    assert scene.world.source == "./noise"


def test_a_home_is_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    np.save(tmp_path / "h.npy", np.eye(12))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "p.toml").write_text('[world]\nsource = "~/h.npy"\n')
    assert open_scene(str(tmp_path / "kept" / "p.toml")).world.source == str(tmp_path / "h.npy")

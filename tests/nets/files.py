"""How each kind of file is opened, and what must hold whatever is in it: the program reads it or says one line."""

from __future__ import annotations

import io
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tifffile

from app.cli.sheet_file import open_sheet
from app.engine.creation import create_world
from app.engine.simulator import SimulationError, Simulator
from app.files import checkpoint
from app.files.opening import open_scene
from app.model.errors import LONGEST, UserError
from app.model.layers import layer_declaration
from app.model.materials import load_materials
from app.model.plants import load_plants
from app.model.soundness import find_fault
from app.model.world import World
from app.scene.scene import preset_to_toml, read_preset, scene_content
from app.sources.heightmap import SUFFIXES, is_saved_world
from app.sources.heightmap.georeference import read_georeference
from app.window.known_levels import LevelsInFile

MOST_MEMORY = 512 * 2**20  # bytes that one small file may make the program take
SMALL = 10_000  # cells of a world that is made in no time

CLEAR_REFS = Path("/proc/self/clear_refs")


def open_heightmap(path: Path) -> None:
    """As the command line does, and as `analyze` does, which writes the place of a map into others."""
    scene = open_scene(str(path))
    if is_saved_world(path):
        open_saved_world(path)
        return
    world, _ = create_world(scene)
    assert_sound(world)
    if path.suffix in (".tif", ".tiff") and (place := read_georeference(path, *world.shape)) is not None:
        tifffile.imwrite(io.BytesIO(), np.zeros((8, 8), np.float32), extratags=place.tags())


def open_preset(path: Path) -> None:
    """A preset that is opened can be written and read again, and the world that it asks for can be made."""
    scene = open_scene(str(path))
    again = read_preset(preset_to_toml(scene), "again")
    assert scene_content(again) == scene_content(scene)
    if 0 < scene.world.columns * scene.world.rows <= SMALL:
        world, _ = create_world(scene)
        assert_sound(world)


def open_saved_world(path: Path) -> None:
    """A world that is opened is sound, runs a cycle or stays before it, still is, and can be saved and opened."""
    scene = open_scene(str(path))
    world, scene = create_world(scene)
    assert_sound(world)
    assert np.isfinite(world.imbalance())
    if world.bedrock.size > SMALL:
        return
    simulator = Simulator(scene, world, threads=1)
    is_full = holds_more_than_a_cell_may(world)
    try:
        simulator.run_cycle()
        simulator.verify()
    except SimulationError as error:
        assert is_full and " may be from " in str(error), error
    assert_sound(world)
    again = path.with_name("again.npz")
    checkpoint.save(again, world, scene)
    try:
        checkpoint.load(again)
    except UserError as error:
        raise AssertionError("what was opened and went on cannot be opened once it is saved") from error
    finally:
        again.unlink()


def holds_more_than_a_cell_may(world: World) -> bool:
    """Whether there is so much of something on the map that it would be beyond its bounds if it came together."""
    return any(
        np.abs(layer).sum(dtype=np.float64) > largest
        for name, layer in world.layers.items()
        if (largest := layer_declaration(name).largest) > 1.0
    )


def open_sheet_of(path: Path) -> None:
    """All that a sheet names is opened, too."""
    sheet = open_sheet(str(path))
    sheet.variations(sheet.base())


def open_materials(path: Path) -> None:
    load_materials(str(path.parent))


def open_plants(path: Path) -> None:
    load_plants(str(path.parent))


def open_levels(path: Path) -> None:
    """They are only a hint: whatever is in the file, none is as good as one that is not known."""
    levels = LevelsInFile(path)
    levels.level("a renderer")
    levels.level("")


OPENERS: dict[str, Callable[[Path], None]] = {
    **{suffix.removeprefix("."): open_heightmap for suffix in SUFFIXES},
    "presets": open_preset,
    "sheets": open_sheet_of,
    "worlds": open_saved_world,
    "materials": open_materials,
    "plants": open_plants,
    "levels": open_levels,
}


def assert_opens_or_says_why(opener: Callable[[Path], None], path: Path) -> str:
    """The line with which a file is refused, empty where it opens. Nothing on disk may have changed after that."""
    before = path.read_bytes()
    with bounded_memory():
        try:
            opener(path)
            line = ""
        except UserError as error:
            line = str(error)
            assert line, "a refusal says nothing"
            assert "\n" not in line and line.isprintable(), f"not one line: {line!r}"
            assert path.name in line or path.parent.name in line, f"no file is named: {line}"
            assert len(line) <= LONGEST, f"too long: {line}"
    assert path.read_bytes() == before, "the file was changed"
    return line


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Fails where what happens meanwhile takes more than `MOST_MEMORY`. Linux can forget how much it was before."""
    if CLEAR_REFS.exists():
        CLEAR_REFS.write_text("5")
    before = _peak()
    yield
    assert _peak() - before < MOST_MEMORY, f"it took {(_peak() - before) / 2**20:.0f} MiB"


def _peak() -> int:
    """The most memory that the process has had, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    except (OSError, IndexError):
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def assert_sound(world: World) -> None:
    """Every value is finite and within what a saved world may hold."""
    assert find_fault(world) is None
    assert np.isfinite(world.ground).all()


def meta_of(arrays: dict[str, Any]) -> dict[str, Any]:
    """What a saved world says of itself."""
    meta: dict[str, Any] = json.loads(str(arrays["meta"]))
    return meta

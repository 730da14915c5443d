"""Opening a source by name: its scene."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.files import checkpoint
from app.files.analysed import is_analysed, read_analysed
from app.files.journal import Journal, journal_from
from app.files.paths import found_from
from app.files.suiting import suited
from app.files.text import read_text
from app.model.errors import UserError, nearest
from app.scene.comparison import is_of_ground, is_shared, with_compared_of
from app.scene.scene import DEFAULT_PRESET, Scene, load_preset, presets, read_preset, read_toml
from app.sources.generators import GENERATORS
from app.sources.parameters import WorldParameters
from app.sources.terrain import find_terrain, is_there


def open_scene(source: str, part: str | None = None, wanted: int = 0) -> Scene:
    """The scene of a preset, a generator or a file, tried in this order. Raises `UserError` if there is none.

    Of a heightmap or a folder of tiles, also one that a preset names, it can be that of a part, and what suits land
    with about as many cells along its longer side as `wanted`; 0 are those that it has.

    A file is a preset (`.toml`), a saved world, or otherwise a heightmap. A file named like a preset or a
    generator is reached by its path: `./noise`.
    """
    if not source:
        raise UserError("the name of the source is empty; without one it is a preset of this program")
    scene = _open(source, part or "", wanted)
    if part is None or part == scene.world.part or scene.saved_world or scene.world.source in GENERATORS:
        return scene
    return scene.with_value("world.part", part)


def _open(source: str, part: str, wanted: int) -> Scene:
    if source in presets():
        return load_preset(source)
    if source in GENERATORS:
        return Scene(world=WorldParameters(source=source))
    path = _find_file(source)
    return msgspec.structs.replace(_open_file(source, path, part, wanted), name=path.stem)


def is_file(source: str) -> bool:
    """Whether a source is a file of the user."""
    return source not in presets() and source not in GENERATORS and is_there(Path(source))


def is_model(source: str) -> bool:
    """Whether a source is a heightmap or folder of tiles of the user: choosing its scene can take long."""
    from app.sources.heightmap import is_saved_world
    from app.sources.heightmap.formats import SUFFIXES

    path = Path(source)
    return is_file(source) and (path.is_dir() or (path.suffix.lower() in SUFFIXES and not is_saved_world(path)))


def open_comparison(scene: Scene, words: Sequence[str]) -> Scene:
    """The scene of a compared world on the land of `scene`, changed by each word in turn.

    A word is a preset or a file whose climate and processes it takes, or a change of one of their parameters, such as
    `droplets.evaporation=0.01`, or of what the ground is made of, such as `soil.clay=1`.
    Raises `UserError` if a word is neither.
    """
    second = scene
    settings = [word for word in words if "=" in word]
    for word in words:
        second = second.with_setting(word) if word in settings else with_compared_of(second, open_compared(word))
    for word in settings:
        path = word.partition("=")[0].strip()
        if is_of_ground(path):
            if scene.saved_world:
                raise UserError(f"{word}: {scene.name} is a saved world, which keeps the ground that it began with")
        elif is_shared(second, path):
            raise UserError(
                f"{word}: worlds that are compared share it; only climate, processes, rivers, materials and soil can"
                " differ"
            )
    return second


def open_compared(source: str) -> Scene:
    """The scene of a preset or a saved world, for its climate and processes.

    Raises `UserError` if it has none.
    """
    scene = open_scene(source)
    if not (source in presets() or scene.saved_world or source.endswith(".toml")):
        raise UserError(f"{source}: it has land but no parameters of processes; a preset or a saved world has them")
    return scene


def _open_file(source: str, path: Path, part: str, wanted: int) -> Scene:
    if path.suffix == ".toml":
        return _open_preset(path)

    from app.sources.heightmap import is_saved_world

    if is_saved_world(path):
        return checkpoint.load_scene(path)
    if is_analysed(path):
        analysed = read_analysed(path)
        scene = _heightmap_scene(str(analysed.model), analysed.model, part, wanted)
        return analysed.scene_of(scene, part)
    return _heightmap_scene(source, path, part, wanted)


def _heightmap_scene(source: str, path: Path, part: str, wanted: int) -> Scene:
    """The scene of a heightmap, which is land alone: it has lakes and streams as the real land that ships, and what
    suits its own relief.

    A file that cannot be read gets no further than the world that would be made of it, which says why.
    """
    from app.sources.heightmap.overview import overview_of_file

    scene = heightmap_scene(source, part)
    try:
        land = overview_of_file(path, part, wanted)
    except Exception:  # decoders raise anything on broken files
        return scene
    return scene if land is None else suited(scene, land, land.cells)


def heightmap_scene(source: str, part: str = "") -> Scene:
    """The scene of a heightmap before it is read."""
    real = load_preset(DEFAULT_PRESET)
    land = WorldParameters(source=source, part=part, past=real.world.past)
    return Scene(world=land, pools=real.pools, droplets=real.droplets)


def _find_file(source: str) -> Path:
    try:
        return find_terrain(source)
    except UserError:
        if is_there(Path(source)):
            raise  # it exists, but its name is refused
        if "/" in source or "." in source:
            raise UserError(f"{source}: there is no such file") from None
        names = f"presets are {', '.join(presets())}; generators are {', '.join(GENERATORS)}"
        hint = nearest(source, {*presets(), *GENERATORS})
        hint = hint if "did you mean" in hint else ""
        raise UserError(f"{source}: there is no preset, generator or file of this name{hint} ({names})") from None


def _open_preset(path: Path) -> Scene:
    """A preset from a file. Its paths are relative to that file."""
    return found_from(read_preset(read_text(path, "preset"), str(path)), path.parent)


def read_journal(path: Path) -> Journal:
    """The journal of a TOML file or a saved world. Raises `UserError` if there is none."""
    if path.suffix.lower() != ".toml":
        journal = checkpoint.load_journal(path)
        if journal is None:
            raise UserError(f"{path}: it has no journal, from which it could be made again")
        return journal
    return journal_from(read_toml(read_text(path, "journal"), str(path), "journal"), str(path), path.parent)


def is_journal(path: Path) -> bool:
    """Whether a TOML file is a journal rather than a preset."""
    if path.suffix.lower() != ".toml" or not path.is_file():
        return False
    try:
        return "edit" in read_toml(read_text(path, "journal"), str(path), "journal")
    except UserError:
        return False

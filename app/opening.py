"""From what a person names to the scene that it means."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.errors import UserError
from app.scene import Scene, load_preset, nearest, presets, read_preset
from app.sources import GENERATORS, find_terrain
from app.sources.parameters import WorldParameters

LARGEST_PRESET = 2**20  # bytes; those that are written have a few thousand


def open_scene(source: str) -> Scene:
    """The scene of a preset, a generator or a file, looked for in this order. Raises `UserError` where there is none.

    A file is a preset of one's own (`.toml`), a saved world, or else a heightmap. One that is named like a preset or a
    generator is reached by its path: `./noise`.
    """
    if source in presets():
        return load_preset(source)
    if source in GENERATORS:
        return Scene(world=WorldParameters(source=source))
    path = _find_file(source)
    if path.suffix == ".toml":
        return _open_preset(path)

    from app.sources.heightmap import is_saved_world

    if is_saved_world(path):
        from app import checkpoint

        return checkpoint.load_scene(path)
    return Scene(world=WorldParameters(source=source))


def _find_file(source: str) -> Path:
    try:
        return find_terrain(source)
    except UserError:
        if "/" in source or "." in source:
            raise UserError(f"{source}: there is no such file") from None
        names = f"presets are {', '.join(presets())}; generators are {', '.join(GENERATORS)}"
        hint = nearest(source, {*presets(), *GENERATORS})
        hint = hint if "did you mean" in hint else ""
        raise UserError(f"{source}: there is no preset, generator or file of this name{hint} ({names})") from None


def _open_preset(path: Path) -> Scene:
    """A preset that lies in a file. A terrain that it names is looked for beside it."""
    if not path.is_file():
        raise UserError(f"{path}: not a preset: it is not a regular file")
    try:
        if path.stat().st_size > LARGEST_PRESET:
            raise UserError(f"{path}: not a preset: it has more than {LARGEST_PRESET} bytes")
        text = path.read_text(encoding="utf-8-sig")  # some editors begin with a byte order mark
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a preset: it must be text in UTF-8") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    scene = read_preset(text, str(path))
    beside = path.parent / scene.world.source
    if scene.world.source in GENERATORS or not beside.is_file():
        return scene
    return msgspec.structs.replace(scene, world=msgspec.structs.replace(scene.world, source=str(beside)))

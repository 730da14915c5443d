"""The families of presets in the gallery, and how their pictures are made, from `assets/gallery/families.toml`."""

from __future__ import annotations

import functools
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

FOLDER = "gallery"
TABLE = "families.toml"
SUFFIX = ".webp"  # of pictures
CYCLES_OF_LOOP = 240  # where the picture shows the land as it begins


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A family of presets."""

    title: str
    presets: tuple[str, ...]
    cycles: int = 0  # cycles before their pictures are drawn


class CardPicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the picture of a preset differs from those of its family."""

    cycles: int | None = None
    set: tuple[str, ...] = ()  # changes of parameters, as `--set` takes them


class Families(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table."""

    family: tuple[Family, ...]
    picture: dict[str, CardPicture] = {}


@functools.cache
def families() -> Families:
    """The table of families."""
    return msgspec.toml.decode((_folder() / TABLE).read_bytes(), type=Families)


def picture_file(preset: str) -> Traversable:
    """The picture of a shipped preset."""
    return _folder() / f"{preset}{SUFFIX}"


def picture_words(preset: str) -> str:
    """The `thalweg` command of a preset's picture, without size and --out."""
    table = families()
    family = next(family for family in table.family if preset in family.presets)
    own = table.picture.get(preset, CardPicture())
    cycles = family.cycles if own.cycles is None else own.cycles
    changes = "".join(f" --set {change}" for change in own.set)
    frames = f"--frames 2 --cycles-per-frame {cycles}" if cycles else "--frames 1"
    return f"render {preset} --orbit 0 {frames}{changes}"


def loop_words(preset: str, frames: int) -> str:
    """The `thalweg` command of a preset's loop, which ends with its picture; without size and --out."""
    words, _, more = picture_words(preset).partition(" --frames ")
    _, _, changes = more.partition(" --set ")
    cycles = int(more.partition("--cycles-per-frame ")[2].partition(" ")[0] or CYCLES_OF_LOOP)
    pace = max(round(cycles / (frames - 1)), 1)
    return f"{words} --frames {frames} --cycles-per-frame {pace}{' --set ' * bool(changes)}{changes}"


def readable(name: str) -> str:
    """The name of a preset or a file as a title: `dune-field` is "Dune field"."""
    words = name.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _folder() -> Traversable:
    return files("assets") / FOLDER

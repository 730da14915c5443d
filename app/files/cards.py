"""The cards of the gallery: sources that can be opened, described without making their land."""

from __future__ import annotations

import functools
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.files.library import Library, RecentFile
from app.files.opening import open_scene
from app.model.errors import UserError, explained
from app.processes import PROCESSES
from app.scene.families import families, readable
from app.scene.scene import GROUPS, Scene, load_preset

OWN, RECENT = "Own", "Recent"
PRESET, WORLD, JOURNAL = ".toml", ".npz", ".journal.toml"
MOST_OWN = 1000  # cards from one folder


@dataclass(frozen=True)
class Card:
    """Something that can be opened. `source` is what `open_scene` takes."""

    source: str
    title: str
    family: str
    description: str = ""
    at_work: tuple[str, ...] = ()  # titles of the enabled processes
    path: Path | None = None  # None: shipped with the program
    picture: Path | None = None  # its picture, if neither source nor path tells
    problem: str = ""  # why it cannot be opened, in one line

    def fits(self, words: Iterable[str]) -> bool:
        """Whether name, description or family contain all words of a search, in lower case."""
        name = self.source if self.path is None else self.path.name
        text = "\n".join((self.title, name, self.description, self.family)).casefold()
        return all(word in text for word in words)


def all_cards(library: Library) -> list[Card]:
    """All cards by family: recent files, the user's presets, and shipped ones."""
    return [*recent_cards(library.recent), *own_cards(library.own_folder), *shipped_cards()]


@functools.cache
def shipped_cards() -> tuple[Card, ...]:
    """The presets of the program, in the order of their families."""
    return tuple(
        _described(Card(name, readable(name), family.title), load_preset(name))
        for family in families().family
        for name in family.presets
    )


def own_cards(folder: Path | None) -> list[Card]:
    """The presets and worlds in the user's folder, by name."""
    try:
        files = sorted(folder.iterdir(), key=lambda path: path.name.casefold()) if folder else []
    except OSError:  # no folder yet
        return []
    return [card_of(path, OWN) for path in files if _is_meant(path)][:MOST_OWN]


def recent_cards(files: Iterable[RecentFile]) -> list[Card]:
    """The cards of recent files; the day stands in for a missing description."""
    cards = []
    for file in files:
        card = card_of(file.place, RECENT)
        day = time.strftime("%d %B %Y", time.localtime(file.time))
        cards.append(card if card.description else replace(card, description=f"{file.place.name}, {day}"))
    return cards


def card_of(path: Path, family: str) -> Card:
    """The card of a file, with its problem, if any."""
    card = Card(str(path), readable(path.stem), family, path=path)
    try:
        stat = path.stat()
    except OSError as error:
        if path.is_symlink():
            return replace(card, problem="a link to what is not there")
        is_gone = isinstance(error, FileNotFoundError)
        return replace(card, problem="it is no longer there" if is_gone else error.strerror or str(error))
    if path.suffix not in (PRESET, WORLD):
        return card if path.is_file() or path.is_dir() else replace(card, problem="it is not a file")
    scene = _scene_of(str(path), stat.st_mtime_ns, stat.st_size)
    return replace(card, problem=scene) if isinstance(scene, str) else _described(card, scene)


@functools.lru_cache(maxsize=4096)
def _scene_of(path: str, _changed: int, _size: int) -> Scene | str:
    """The scene of a file, or why there is none. Cached while the file does not change."""
    try:
        if path.endswith(WORLD) and not zipfile.is_zipfile(path):  # otherwise it would count as a heightmap
            return "it is damaged, or no saved world"
        return open_scene(path)
    except UserError as error:
        why = str(error)
    except Exception as error:  # one broken file must not hide the others
        why = explained(error)
    return why.replace(f"{path}: ", "").replace("not a preset: ", "")


def _described(card: Card, scene: Scene) -> Card:
    at_work = tuple(
        GROUPS[process.name].title for process in PROCESSES if getattr(getattr(scene, process.name), "enabled", True)
    )
    return replace(card, description=scene.description, at_work=at_work)


def _is_meant(path: Path) -> bool:
    """Whether a file is meant to be a preset or a world."""
    return path.suffix in (PRESET, WORLD) and not path.name.endswith(JOURNAL) and not path.name.startswith(".")

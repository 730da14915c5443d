"""The cards of the gallery: what can be opened, and what is known of it without making its land."""

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
MOST_OWN = 1000  # files of a folder


@dataclass(frozen=True)
class Card:
    """Something that can be opened. `source` is what `open_scene` takes."""

    source: str
    title: str
    family: str
    description: str = ""
    at_work: tuple[str, ...] = ()  # titles of the processes that are on
    path: Path | None = None  # of a file; None where it ships with the program
    picture: Path | None = None  # where its picture lies, where neither source nor path tells
    problem: str = ""  # why it cannot be opened, in one line

    def fits(self, words: Iterable[str]) -> bool:
        """Whether all words of a search, in small letters, are in its name, description or family."""
        name = self.source if self.path is None else self.path.name
        text = "\n".join((self.title, name, self.description, self.family)).casefold()
        return all(word in text for word in words)


def all_cards(library: Library) -> list[Card]:
    """All there are, by family: recent files, presets of one's own, and what ships with the program."""
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
    """The presets and worlds in a person's folder, by name."""
    try:
        files = sorted(folder.iterdir(), key=lambda path: path.name.casefold()) if folder else []
    except OSError:  # there is none yet
        return []
    return [card_of(path, OWN) for path in files if _is_meant(path)][:MOST_OWN]


def recent_cards(files: Iterable[RecentFile]) -> list[Card]:
    """Those of files that were opened or saved, with the day where there is nothing else to say."""
    cards = []
    for file in files:
        card = card_of(file.place, RECENT)
        day = time.strftime("%d %B %Y", time.localtime(file.time))
        cards.append(card if card.description else replace(card, description=f"{file.place.name}, {day}"))
    return cards


def card_of(path: Path, family: str) -> Card:
    """That of a file. What is wrong with the file stands on it."""
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
    """The scene that a file begins with, or why there is none. It is read once as long as it does not change."""
    try:
        if path.endswith(WORLD) and not zipfile.is_zipfile(path):  # else it would be taken for a heightmap
            return "it is damaged, or no saved world"
        return open_scene(path)
    except UserError as error:
        why = str(error)
    except Exception as error:  # whatever a file holds, the others are shown
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

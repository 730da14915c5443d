"""Search of parameters by name, help and unit."""

from __future__ import annotations

import functools
from typing import NamedTuple

from app.scene.scene import DECLARATIONS, GROUPS
from app.scene.synonyms import SYNONYMS

# Places of a match, from best to worst.
SYNONYM, EXACT, BEGINNING, NAME, PATH, TITLE, HELP, NOWHERE = range(8)


def words_of(query: str) -> tuple[str, ...]:
    """The words of a query. A path counts as one word, and so does a value in `--set`."""
    query = query.casefold().replace("--set", " ").partition("=")[0]
    return tuple(query.replace("_", " ").split())


def found_parameters(query: str) -> tuple[str, ...]:
    """The paths of parameters that contain all words of a query, best first; none for an empty query."""
    return _found(words_of(query))


@functools.lru_cache(maxsize=64)
def _found(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words:
        return ()
    paths = list(_all_texts())
    for word in words:  # of hundreds of parameters few have a word anywhere
        paths = [path for path in paths if word in _all_texts()[path]]
    places = {
        path: (_whole(" ".join(words), path), sum(_place(word, path) for word in words))
        for path in paths
        if all(_place(word, path) < NOWHERE for word in words)
    }
    return tuple(sorted(places, key=lambda path: places[path]))  # stable: ties keep the order of declaration


class _Texts(NamedTuple):
    """What is said of a parameter, in small letters."""

    label: str
    path: str
    title: str  # of its group
    help: str  # with its unit and choices


def _whole(query: str, path: str) -> bool:
    """False, which sorts first, if the whole query is the name or the path of a parameter."""
    return query not in _texts(path)[:2]


def _place(word: str, path: str) -> int:
    """The best place of a word in what is said of a parameter."""
    if word in SYNONYMS.get(path, ()):
        return SYNONYM
    texts = _texts(path)
    if word in texts.label:
        parts = texts.label.split()
        return EXACT if word in parts else BEGINNING if any(part.startswith(word) for part in parts) else NAME
    return next((place for place, text in zip((PATH, TITLE, HELP), texts[1:], strict=True) if word in text), NOWHERE)


@functools.cache
def _texts(path: str) -> _Texts:
    declaration = DECLARATIONS[path]
    about = f"{declaration.help} {declaration.unit} {' '.join(declaration.choices)}"
    return _Texts(
        declaration.label.casefold(),
        path.casefold().replace("_", " "),
        GROUPS[path.partition(".")[0]].title.casefold(),
        about.casefold().replace("_", " "),
    )


@functools.cache
def _all_texts() -> dict[str, str]:
    """All that is said of each parameter, in one."""
    return {path: "\n".join((*_texts(path), *SYNONYMS.get(path, ()))) for path in DECLARATIONS}

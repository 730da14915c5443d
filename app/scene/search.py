"""Search of parameters by name, help and unit."""

from __future__ import annotations

import functools

from app.model.parameters import Declaration
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
    places = {
        path: (_whole(" ".join(words), declaration), sum(_place(word, declaration) for word in words))
        for path, declaration in DECLARATIONS.items()
        if all(_place(word, declaration) < NOWHERE for word in words)
    }
    return tuple(sorted(places, key=lambda path: places[path]))  # stable: ties keep the order of declaration


def _whole(query: str, declaration: Declaration) -> bool:
    """False, which sorts first, if the whole query is the name or the path of a parameter."""
    return query not in (declaration.label.casefold(), _plain(declaration.path))


def _place(word: str, declaration: Declaration) -> int:
    """The best place of a word in a declaration."""
    if word in SYNONYMS.get(declaration.path, ()):
        return SYNONYM
    label = declaration.label.casefold()
    if word in label.split():
        return EXACT
    if any(part.startswith(word) for part in label.split()):
        return BEGINNING
    texts = (
        (NAME, label),
        (PATH, _plain(declaration.path)),
        (TITLE, GROUPS[declaration.path.partition(".")[0]].title.casefold()),
        (HELP, f"{declaration.help} {declaration.unit} {' '.join(declaration.choices)}".casefold().replace("_", " ")),
    )
    return next((place for place, text in texts if word in text), NOWHERE)


def _plain(path: str) -> str:
    return path.casefold().replace("_", " ")

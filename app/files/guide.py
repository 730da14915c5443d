"""The guide: Markdown pages that the program shows in the window and in a terminal."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from app.model.errors import UserError, nearest

FOLDER = "guide"
SUFFIX = ".md"
INDEX = "index"  # the first page; the others follow in the order of its links
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A page. `thalweg guide` and links use its `name`."""

    name: str
    text: str  # Markdown, without comments

    @property
    def title(self) -> str:
        return self.text.partition("\n")[0].removeprefix("# ")

    @functools.cached_property
    def _folded(self) -> str:
        return self.text.casefold()

    def has(self, words: str) -> bool:
        """Whether the page contains all words, in any order and case."""
        wanted = words.casefold().split()
        return not wanted or all(word in self._folded for word in wanted)

    def lines_with(self, words: str) -> list[str]:
        """The lines that have most of these words, as plain text."""
        wanted = words.casefold().split()
        lines = [without_marks(line).strip("|#- ") for line in self.text.splitlines()[1:]]
        counts = [sum(word in line.casefold() for word in wanted) for line in lines]
        most = max(counts, default=0)
        return [line for line, count in zip(lines, counts, strict=True) if count and count == most]


@dataclass(frozen=True)
class Chapter:
    """A group of pages of the index."""

    title: str
    pages: tuple[Page, ...]


@functools.cache
def index() -> Page:
    """The page that lists all others."""
    return _read(INDEX)


@functools.cache
def chapters() -> tuple[Chapter, ...]:
    """All pages, in the order of the index."""
    found = []
    for part in index().text.split("\n## ")[1:]:
        title, _, links = part.partition("\n")
        names = [page_of(target) for _, target in LINK.findall(links)]
        found.append(Chapter(title, tuple(_read(name) for name in names if name)))
    return tuple(found)


def pages() -> dict[str, Page]:
    """All pages by their names, the index first."""
    return {INDEX: index()} | {page.name: page for chapter in chapters() for page in chapter.pages}


def page(name: str) -> Page:
    """A page by its name, in any case. Raises `UserError` if there is none."""
    known, asked = pages(), name
    name = name.casefold()
    if name not in known:
        raise UserError(f"{asked}: the guide has no such page{nearest(name, known)}; `thalweg guide` lists them")
    return known[name]


def page_of(target: str) -> str:
    """The name of the page that a link leads to; empty for other links."""
    name = target.partition("#")[0]
    return name.removesuffix(SUFFIX) if name.endswith(SUFFIX) and "/" not in name else ""


def without_marks(text: str) -> str:
    """A line of Markdown as plain text; links to pages become page names."""
    text = LINK.sub(lambda link: _link(link[1], link[2]), IMAGE.sub("", text))
    return re.sub(r"\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", text)


def _link(text: str, target: str) -> str:
    name = page_of(target)
    if name:
        return text if text.casefold() == name else f"{text} ({name})"
    return f"{text} <{target}>"


def picture(target: str) -> Traversable:
    """The file of a picture that a page shows."""
    return files("assets").joinpath(*target.removeprefix("../").split("/"))


def _read(name: str) -> Page:
    text = (files("assets") / FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return Page(name, _COMMENT.sub("", text).strip() + "\n")

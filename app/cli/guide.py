"""`thalweg guide`: pages of the guide as plain text."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator

from app.files import guide
from app.files.guide import IMAGE, Page, without_marks
from app.model.errors import UserError

WIDEST = 100  # characters per line on any terminal
NARROWEST = 40
MOST_LINES = 2  # shown per page that a search finds
INDENT = "    "  # of code
LONGEST_FIRST_CELL = 32  # characters of the first column of a table, if the others stand beside it


def print_guide(name: str, search: str = "") -> None:
    """Print a page, or the results of a search. Raises `UserError` if there are none."""
    if search:
        print(found(search))
    else:
        print(plain(guide.page(name), min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)))


def found(words: str) -> str:
    """The pages that contain all words, with their first matching lines."""
    pages = [page for name, page in guide.pages().items() if name != guide.INDEX and page.has(words)]
    if not pages:
        raise UserError(f"the guide says nothing of {words}")
    lines = []
    for page in pages:
        lines.append(f"{page.name}: {page.title}")
        lines += [f"{INDENT}{line}" for line in page.lines_with(words)[:MOST_LINES]]
    return "\n".join(lines)


def plain(page: Page, width: int) -> str:
    """A page as plain text: paragraphs as wide as the terminal, tables row by row, code unchanged."""
    return "\n".join(_without_double_gaps(_blocks(page.text, width)))


def _blocks(text: str, width: int) -> Iterator[str]:
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        begin = number
        number += 1
        if line.startswith("```"):
            while not lines[number].startswith("```"):
                yield INDENT + lines[number]
                number += 1
            number += 1
        elif line.startswith("#"):
            title = without_marks(line.lstrip("# "))
            yield from ("", title, ("=" if line.startswith("# ") else "-") * len(title), "")
        elif line.startswith("|"):
            while number < len(lines) and lines[number].startswith("|"):
                number += 1
            yield from _table(lines[begin:number], width)
        elif line and not IMAGE.fullmatch(line):
            while number < len(lines) and _goes_on(lines[number]):
                number += 1
            yield from _wrapped(without_marks(" ".join(part.strip() for part in lines[begin:number])), width)
        elif not line:
            yield ""


def _goes_on(line: str) -> bool:
    """Whether a line continues the paragraph before it."""
    return bool(line) and not re.match(r"#|\||```|!\[|- |\d+\. ", line)


def _wrapped(text: str, width: int) -> list[str]:
    mark = re.match(r"- |\d+\. ", text)
    after = " " * len(mark[0]) if mark else ""
    return textwrap.wrap(text, width, subsequent_indent=after, break_long_words=False, break_on_hyphens=False)


def _table(lines: list[str], width: int) -> Iterator[str]:
    """The rows of a table: the first column, with the others beside or below it."""
    rows = [
        [without_marks(cell.strip()) for cell in _cells(line)] for line in lines if not re.fullmatch(r"[|\s:-]+", line)
    ]
    rows = [row for row in rows if any(row)]
    if not rows:  # a table of pictures
        return
    first = min(max(len(row[0]) for row in rows), LONGEST_FIRST_CELL)
    for row in rows:
        rest = " | ".join(filter(None, row[1:]))
        indent = " " * (first + 2)
        label = row[0].ljust(first + 2)
        if len(row[0]) > first:
            yield row[0]
            label = indent
        lines_of_row = textwrap.wrap(
            rest, width, initial_indent=label, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        yield from lines_of_row or [row[0]]


def _cells(line: str) -> list[str]:
    """The cells of a row. A bar in code or after a backslash does not separate cells."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    return re.split(r"\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", inner)


def _without_double_gaps(lines: Iterator[str]) -> Iterator[str]:
    """The lines without leading or repeated empty lines."""
    before = ""
    for line in lines:
        if line or before:
            yield line
        before = line

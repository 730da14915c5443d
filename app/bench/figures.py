"""Stored figures: the last measurements with bar, place and time. The README's table derives from them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec

from app.bench.row import Row
from app.engine.machine import cores, processor_name
from app.files.atomic import write_atomically
from app.model.errors import UserError

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "assets" / "figures.json"
README = ROOT / "README.md"
BEGIN, END = "<!-- figures: written by `make figures` -->\n", "<!-- end of figures -->\n"
NOTABLE = 0.1  # a figure that got worse by this part of it is told

# Rows of the README's table, by group and how the name begins: what a reader wants to know. Some say last where they
# were measured.
SHOWN = (
    ("start", "first picture, second start"),
    ("start", "first cycle on an empty cache, jacksboro"),
    ("droplets", "droplets, 256², one core"),
    ("droplets", "droplets, 1024², two threads against one"),
    ("wind", "wind, article, 256², one core, with cascade"),
    ("water", "pools, 512², one core"),
    ("island", "a new island, 512², one core"),
    ("rivers", "rivers, fill to accumulation, 1024², one core"),
    ("geology", "geology, a step with rivers, slopes and soil, 512², one core"),
    ("geology", "a new range, 512², from the command to the picture"),
    ("world", "a cycle of everything"),
    ("world", "everything, 1024², two threads against one"),
    ("memory", "everything in memory, 1024², snapshots included"),
    ("memory", "a world in memory, 1024², snapshots included"),
)


class Figure(msgspec.Struct, frozen=True):
    """A row of a group, with place, time and commit of its measurement."""

    group: str
    name: str
    value: float | None
    unit: str
    bar: float | None
    at_least: bool
    commit: str
    day: str
    processor: str

    @property
    def row(self) -> Row:
        return Row(self.name, self.value, self.unit, self.bar, self.at_least)


def read_figures(path: Path) -> list[Figure]:
    """Figures of a file. Raises `UserError` if it holds none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Figure])
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise UserError(f"{path}: figures that `thalweg bench --json` keeps were expected: {error}") from error


def write(path: Path, measured: Mapping[str, Iterable[Row]]) -> None:
    """Write the rows of groups into a file, in the place of those that it has of them. Those of others stay.

    Raises `UserError` if it cannot be written, or holds something else.
    """
    before = read_figures(path) if path.exists() else []
    commit, day, processor = commit_of_sources(), date.today().isoformat(), processor_and_cores()
    new = [
        Figure(group, row.name, row.value, row.unit, row.bar, row.at_least, commit, day, processor)
        for group, rows in measured.items()
        for row in rows
    ]
    figures = [figure for figure in before if figure.group not in measured] + new
    with write_atomically(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(figures)) + b"\n")


def worse(kept: Sequence[Figure], measured: Mapping[str, Iterable[Row]]) -> list[str]:
    """A line for each row that misses its bar, or that got worse by more than a tenth since it was kept."""
    before = {(figure.group, figure.name): figure.value for figure in kept}
    lines = []
    for group, rows in measured.items():
        for row in rows:
            old = before.get((group, row.name))
            by = row.worse_by(old) if old is not None else None
            if by is not None and by > NOTABLE:
                now, then = (amount(value, row.unit) for value in (row.value, old))
                lines.append(f"{row.name}: {now}, {100.0 * by:.0f} % worse than {then}")
            if not row.ok:
                lines.append(f"{row.name}: {amount(row.value, row.unit)} misses {amount(row.bar, row.unit)}")
    return lines


def amount(value: float | None, unit: str) -> str:
    """A figure as text: three digits, and millions in words."""
    if value is None:
        return "not measured"
    if unit == "%":
        return f"{value:.3g} %"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g} million {unit}"
    return f"{value:.0f} {unit}" if abs(value) >= 100.0 else f"{value:.3g} {unit}"


def table(figures: Sequence[Figure]) -> str:
    """The README's table, and of what, when and where it was measured."""
    shown = [
        next(figure for figure in figures if figure.group == group and figure.name.startswith(name))
        for group, name in SHOWN
    ]
    places = sorted({f"on {figure.processor}, {figure.day}, at {figure.commit}" for figure in shown})
    lines = ["| what | measured | bar |", "| --- | --- | --- |"]
    for figure in shown:
        bar = "" if figure.bar is None else f"{'≥' if figure.at_least else '≤'} {amount(figure.bar, figure.unit)}"
        missed = "" if figure.row.ok else ": missed"
        lines.append(f"| {figure.name} | {amount(figure.value, figure.unit)}{missed} | {bar} |")
    return "\n".join(["Measured " + "; ".join(places) + ":", "", *lines]) + "\n"


def with_table(text: str, figures: Sequence[Figure]) -> str:
    """A text with the table between its two marks."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}{table(figures)}{END}{rest.split(END)[1]}"


def commit_of_sources() -> str:
    """The commit that is measured, with a + where files have changed since; empty outside of a checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def processor_and_cores() -> str:
    return f"{cores()} cores of {processor_name()}"


def write_table() -> None:
    """Write the table into the README."""
    page = with_table(README.read_text(encoding="utf-8"), read_figures(FIGURES))
    README.write_text(page, encoding="utf-8", newline="\n")

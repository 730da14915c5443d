"""What a window and the process that exports for it say to each other: a line of JSON each.

The process is one of its own, because kernels that run on many threads must not run beside those of the simulation.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import msgspec

from app.export.wishes import Wishes


class Line(msgspec.Struct, frozen=True, tag=True):
    """A message in one line."""


# What is asked.


class Plan(Line, frozen=True):
    """Say which files these would be."""

    wishes: Wishes


class Write(Line, frozen=True):
    """Write them into a folder, created if needed."""

    wishes: Wishes
    folder: str


# What is answered.


class File(msgspec.Struct, frozen=True):
    """A file that would be written, and about how many bytes it takes."""

    name: str
    size: float


class Ready(Line, frozen=True):
    """The world is read: the cycle that it is after, and maps that it has not."""

    cycle: int
    missing: tuple[str, ...]


class Planned(Line, frozen=True):
    """The answer to `Plan`, and the first one to `Write`."""

    files: tuple[File, ...]


class Written(Line, frozen=True):
    """A file is written: its actual size, and notes."""

    name: str
    size: int
    told: str


class Done(Line, frozen=True):
    """All files are written."""


class Failed(Line, frozen=True):
    """What was asked for could not be done, or the world not be read."""

    why: str


Asked = Plan | Write
Answer = Ready | Planned | Written | Done | Failed


def say(line: Line, to: IO[str]) -> None:
    """Raises `OSError` if the reader has gone."""
    print(msgspec.json.encode(line).decode(), file=to, flush=True)


def asked_in(text: str) -> Asked:
    """The request in a line. Raises `ValueError` if it is none."""
    asked: Asked = msgspec.json.decode(text, type=Asked)
    return asked


def answer_in(text: str) -> Answer:
    """The answer in a line. Raises `ValueError` if it is none."""
    answer: Answer = msgspec.json.decode(text, type=Answer)
    return answer


def folder_of(request: Write) -> Path:
    """Where the files go, with `~` for the person's own folder."""
    return Path(request.folder).expanduser()

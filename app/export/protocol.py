"""Messages between the window and its export process: a line of JSON each.

Exports run in their own process, because multi-threaded kernels must not run beside those of the simulation.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import msgspec

from app.export.wishes import Wishes


class Line(msgspec.Struct, frozen=True, tag=True):
    """A message in one line."""


# Requests.


class Plan(Line, frozen=True):
    """List the files that would be written."""

    wishes: Wishes


class Write(Line, frozen=True):
    """Write the files to a folder, which is created if needed."""

    wishes: Wishes
    folder: str


# Answers.


class File(msgspec.Struct, frozen=True):
    """A file that would be written, and its approximate size in bytes."""

    name: str
    size: float


class Ready(Line, frozen=True):
    """The world is loaded: its cycle, and the maps that it lacks."""

    cycle: int
    missing: tuple[str, ...]


class Planned(Line, frozen=True):
    """The answer to `Plan`, and the first one to `Write`."""

    files: tuple[File, ...]


class Written(Line, frozen=True):
    """A file is written: its actual size, and a message."""

    name: str
    size: int
    told: str


class Done(Line, frozen=True):
    """All files are written."""


class Failed(Line, frozen=True):
    """A request failed, or the world could not be loaded."""

    why: str


Asked = Plan | Write
Answer = Ready | Planned | Written | Done | Failed


def say(line: Line, to: IO[str]) -> None:
    """Send a message. Raises `OSError` if the reader has gone."""
    print(msgspec.json.encode(line).decode(), file=to, flush=True)


def asked_in(text: str) -> Asked:
    """The request in a line. Raises `ValueError` if there is none."""
    asked: Asked = msgspec.json.decode(text, type=Asked)
    return asked


def answer_in(text: str) -> Answer:
    """The answer in a line. Raises `ValueError` if there is none."""
    answer: Answer = msgspec.json.decode(text, type=Answer)
    return answer


def folder_of(request: Write) -> Path:
    """The folder for the files; `~` is the user's home."""
    return Path(request.folder).expanduser()

"""What is asked of the simulation, and what it says has happened: frozen values, which can be written down and read.

Requests go one way and reports the other. They are taken in their order, between two cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.engine.survey import Wanted
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene.edits import (
    Blur,
    Copy,
    Keep,
    LandRequest,
    Message,
    Open,
    Refine,
    RollSnowballs,
    Stroke,
)
from app.scene.scene import Scene


class Moment(msgspec.Struct, frozen=True):
    """A moment of a branch of the time line: after a cycle, and after so many of the branch's edits."""

    branch: int = 0
    cycle: int = 0
    edits: int = 0


# What is asked.


class Pause(Message, frozen=True):
    """Let no more cycles run."""


class Run(Message, frozen=True):
    """Let cycles run, also after a failure."""


class Step(Message, frozen=True):
    """Pause, and run a single cycle."""


class Save(Message, frozen=True):
    """Write a world to a file, seen as a scene says, or its own; to one in TOML, its journal alone.

    One that is invalid is rolled back first. One that is for another process of the program is written at once, without
    its journal and as large as it is.
    """

    path: Path
    world: int = 0
    seen: Scene | None = None
    is_scratch: bool = False


class Look(Message, frozen=True):
    """The land is seen so from now on: for journals and what is saved without being asked for."""

    view: ViewParameters
    camera: CameraParameters


class Watch(Message, frozen=True):
    """What is looked at: the next snapshots have all that an overlay shows, and what is wanted of rivers."""

    overlay: str = "none"
    wanted: Wanted = Wanted()


class GoTo(Message, frozen=True):
    """Bring back the worlds of a moment: of its branch after a cycle, with so many edits or, without a number, all.

    What is asked of the worlds on the way is done when they are there.
    """

    branch: int
    cycle: int
    edits: int | None = None
    pause: bool = True  # there; else cycles go on if they ran before


class DiscardBranch(Message, frozen=True):
    """Throw away a branch of the time line."""

    branch: int


class FrameBegan(Message, frozen=True):
    """A frame is drawn that spans this many screen frames: the pace of the simulation may follow it."""

    screens: int = 1


Request = LandRequest | Pause | Run | Step | Save | GoTo | DiscardBranch | Look | Watch | FrameBegan


# What has happened.


class Opened(Message, frozen=True):
    """The worlds that were asked for are made. Their snapshots have these numbers, and come after this.

    They are the first of a branch; `before` is where the worlds before them were.
    """

    request: Open
    worlds: tuple[int, ...]
    branch: int = 0
    before: Moment = Moment()


class OpenFailed(Message, frozen=True):
    """The worlds that were asked for cannot be made; those before go on, where there are any."""

    request: Open
    why: str


class Edited(Message, frozen=True):
    """What was asked is done, and has a place in the journal. `before` is the moment before it."""

    request: Copy | Keep | Blur | Refine | RollSnowballs | Stroke
    before: Moment


class Arrived(Message, frozen=True):
    """The worlds are at the moment that was asked for, and were at `before`. Their snapshots have these numbers.

    Without numbers, they are on the way to another one that was asked for meanwhile.
    """

    request: GoTo
    worlds: tuple[int, ...]
    before: Moment


class Saved(Message, frozen=True):
    """A world lies in this file now."""

    path: Path


class SaveFailed(Message, frozen=True):
    """A world could not be written; what lay there before is as it was."""

    path: Path
    why: str


class SessionWritten(Message, frozen=True):
    """The work so far is safe. A picture of it belongs to this place."""

    picture: Path


class SessionFailed(Message, frozen=True):
    """The work so far could not be written for the case that the program is killed."""

    why: str


class Stopped(Message, frozen=True):
    """A cycle failed, and no other runs until one is asked for. The worlds are as they were before it.

    `process`, `layer` and `cell` (row, column) say where, as far as it is known.
    """

    why: str
    process: str = ""
    layer: str = ""
    cell: tuple[int, int] | None = None


class SurveyFailed(Message, frozen=True):
    """The survey of rivers failed, and is not repeated until something else is wanted."""

    why: str


class SpinUpFailed(Message, frozen=True):
    """A land begins without its spin-up."""

    why: str


class Refused(Message, frozen=True):
    """What was asked for could not be done."""

    request: Request
    why: str


Report = (
    Opened
    | OpenFailed
    | Edited
    | Arrived
    | Saved
    | SaveFailed
    | SessionWritten
    | SessionFailed
    | Stopped
    | SurveyFailed
    | SpinUpFailed
    | Refused
)


def written(messages: Sequence[Request | Report]) -> bytes:
    """Messages as JSON."""
    return msgspec.json.encode(messages, enc_hook=str)  # a path is its text


def read(text: bytes) -> list[Request | Report]:
    """The messages that were written. Raises `ValueError` where it holds anything else."""
    return msgspec.json.decode(text, type=list[Request | Report], dec_hook=_decoded)


def _decoded(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(kind)

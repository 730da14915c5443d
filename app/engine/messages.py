"""Requests to the simulation and reports from it: frozen values that can be serialized.

They are handled in order, between two cycles.
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
    Lay,
    Message,
    Open,
    Refine,
    Restack,
    RollSnowballs,
    Stroke,
)
from app.scene.scene import Scene


class Moment(msgspec.Struct, frozen=True):
    """A moment on a branch of the time line: after a cycle and a number of the branch's edits."""

    branch: int = 0
    cycle: int = 0
    edits: int = 0


# Requests.


class Pause(Message, frozen=True):
    """Stop running cycles."""


class Run(Message, frozen=True):
    """Run cycles, also after a failure."""


class Step(Message, frozen=True):
    """Pause, and run a single cycle."""


class Save(Message, frozen=True):
    """Write a world to a file, with the view of a scene or its own. A TOML file gets only the journal.

    One that is invalid is rolled back first. One that is for another process of the program is written at once, without
    its journal and as large as it is.
    """

    path: Path
    world: int = 0
    seen: Scene | None = None
    is_scratch: bool = False


class Look(Message, frozen=True):
    """The current view of the land, for journals and backups."""

    view: ViewParameters
    camera: CameraParameters


class Watch(Message, frozen=True):
    """What the window shows: the next snapshots have the layers of the overlay, and the wanted surveys."""

    overlay: str = "none"
    wanted: Wanted = Wanted()


class GoTo(Message, frozen=True):
    """Restore the worlds of a moment of a branch: after a cycle, with a number of edits, by default all.

    Requests made on the way are answered on arrival.
    """

    branch: int
    cycle: int
    edits: int | None = None
    pause: bool = True  # on arrival; otherwise cycles continue if they ran before


class DiscardBranch(Message, frozen=True):
    """Delete a branch of the time line."""

    branch: int


class FrameBegan(Message, frozen=True):
    """A frame begins that spans this many screen frames. The pace of the simulation may follow it."""

    screens: int = 1


Request = LandRequest | Pause | Run | Step | Save | GoTo | Restack | DiscardBranch | Look | Watch | FrameBegan


# Reports.


class Opened(Message, frozen=True):
    """The requested worlds exist. Their snapshots have these numbers and follow this report.

    They begin a branch. `before` is the moment of the worlds that they replace.
    """

    request: Open
    worlds: tuple[int, ...]
    branch: int = 0
    before: Moment = Moment()


class OpenFailed(Message, frozen=True):
    """The requested worlds cannot be made. The current worlds, if any, continue."""

    request: Open
    why: str


class Edited(Message, frozen=True):
    """An edit is done and entered in the journal, or its land is on the way. `before` is the moment before it."""

    request: Copy | Keep | Blur | Refine | RollSnowballs | Stroke | Lay | Restack
    before: Moment


class Arrived(Message, frozen=True):
    """The worlds have reached the requested moment; they were at `before`. Their snapshots have these numbers.

    Without numbers, they go on to another moment that was requested meanwhile.
    """

    request: GoTo | Restack
    worlds: tuple[int, ...]
    before: Moment


class Saved(Message, frozen=True):
    """A world was written to this file."""

    path: Path


class SaveFailed(Message, frozen=True):
    """A world could not be written. A file that was there is unchanged."""

    path: Path
    why: str


class SessionWritten(Message, frozen=True):
    """The backup of the session was written. Its picture belongs at this path."""

    picture: Path


class SessionFailed(Message, frozen=True):
    """The backup of the session could not be written."""

    why: str


class Stopped(Message, frozen=True):
    """A cycle failed. No further cycle runs unless requested. The worlds are as before that cycle.

    `process`, `layer` and `cell` (row, column) say where, as far as it is known.
    """

    why: str
    process: str = ""
    layer: str = ""
    cell: tuple[int, int] | None = None


class GivenUp(Message, frozen=True):
    """The user gave up a cycle. The worlds are as before it, and paused."""

    cycle: int  # its number


class SurveyFailed(Message, frozen=True):
    """The survey of rivers failed. It is not repeated until something else is wanted."""

    why: str


class SpinUpFailed(Message, frozen=True):
    """The spin-up failed; the land begins without it."""

    why: str


class Refused(Message, frozen=True):
    """A request was refused."""

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
    | GivenUp
    | SurveyFailed
    | SpinUpFailed
    | Refused
)


def written(messages: Sequence[Request | Report]) -> bytes:
    """Messages as JSON."""
    return msgspec.json.encode(messages, enc_hook=str)  # paths as text


def read(text: bytes) -> list[Request | Report]:
    """Messages from JSON. Raises `ValueError` for anything else."""
    return msgspec.json.decode(text, type=list[Request | Report], dec_hook=_decoded)


def _decoded(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(kind)

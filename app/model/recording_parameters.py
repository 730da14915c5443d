"""How the window is recorded, as parameters."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from app.model.parameters import Parameters, described, parameter

Format = Literal["mp4", "mov", "gif", "webp", "png"]


class RecordingParameters(Parameters, frozen=True, kw_only=True):
    """Clips of the window, which F9 begins and ends. They change nothing of the land."""

    title: ClassVar[str] = "Recording"
    section: ClassVar[str] = "view"

    # fmt: off
    format: Annotated[Format, described(
        "mp4: H.264 for any player; mov: ProRes for editing; png: numbered pictures; gif, webp: short loops")] = "mp4"
    frames_per_second: Annotated[int, parameter(1, 60,
        "frames per second of the clip, however many the window draws; at most 50 in a gif")] = 30
    minimap: Annotated[bool,
        described("the minimap is in clips of the scene, too; else it is hidden while one is recorded")] = False
    # fmt: on

"""The program as it is, which leaves a note after each frame: `python -m tests.gui.watched NOTE ...`.

What was done with mouse and keys is seen in the window some frames later, and nobody outside knows when. A still
picture is drawn more often than usual: who waits for the next frame does not wait for long.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypedDict

from app.cli.main import program
from app.engine.session import Session
from app.engine.thread import SimulationThread
from app.window import loop
from app.window.panel import places
from app.window.viewer import Viewer
from app.window.window import Window

# Seconds between frames of a still picture, in the place of loop.LONGEST_REST. More of them take cores from others.
REST = 0.02


class Note(TypedDict):
    """What is so after a frame."""

    frame: int  # its number
    title: str  # as it was given to the window
    size: list[int]  # of the window, width and height in pixels
    waiting: int  # what ImGui was told of, and takes in the frames that follow
    typing: bool  # what is typed goes to a field
    pictures: int  # of the land, so far
    recorded: int  # the one that a recording took last
    world: int  # the number of the land that is seen
    cycle: int
    paused: bool  # or will be, once all requests are answered
    resting: bool  # nothing is left to be drawn, nor comes of the simulation
    as_opened: bool  # all parameters are
    steps: list[str]  # that can be undone
    places: dict[str, list[int]]  # the middles of buttons, in pixels


class Quiet:
    """Whether all that a simulation has to show has come to the window.

    Lakes and streams of a land come after its first picture, each when its kernels are loaded.
    """

    def __init__(self) -> None:
        self._steps = 0  # of the session that are over
        self._since: int | None = None  # how many were, when nothing more was to be shown
        self._frames = 0  # that have begun since another step was over
        step = Session.step

        def counted(session: Session) -> float:
            rest = step(session)
            self._steps += 1
            return rest

        Session.step = counted  # type: ignore[method-assign]

    def after_frame(self, simulation: SimulationThread) -> bool:
        """Whether it is so after a frame: a step after which nothing is left is over, and its snapshot was taken."""
        if _has_something_to_show(simulation):
            self._since, self._frames = None, 0
            return False
        if self._since is None:
            self._since = self._steps
        self._frames += self._steps > self._since
        return self._frames > 1


def _has_something_to_show(simulation: SimulationThread) -> bool:
    lockstep, showing = simulation.session.lockstep, simulation.session.showing
    return (
        lockstep is None
        or simulation.status.state not in ("paused", "failed")
        or not simulation._requests.empty()
        or bool(lockstep.unprepared())
        or showing.is_old
        or showing._surveys.are_due(lockstep)
        or bool(showing.publisher._published)
    )


def noting(place: Path) -> Callable[[Viewer, Window], None]:
    """What leaves a note at a place after each frame, whole at any moment."""
    from imgui_bundle import imgui

    frames, quiet = itertools.count(1), Quiet()
    part = place.with_suffix(".part")

    def note(viewer: Viewer, window: Window) -> None:
        application = viewer.application
        snapshot = application.snapshot
        written = Note(
            frame=next(frames),
            title=window._title,
            size=list(application.pixel_size),
            waiting=len(imgui.get_current_context().input_events_queue),
            typing=imgui.get_io().want_text_input,
            pictures=application.sides.pictures,
            recorded=application.recording._seen,
            world=snapshot.world if snapshot else -1,
            cycle=snapshot.cycle if snapshot else -1,
            paused=application.simulation.paused,
            resting=quiet.after_frame(application.simulation) and viewer.at_rest,
            as_opened=application.documents.scene == application.documents.opened,
            places={
                name: [round((at.left + at.right) / 2.0), round((at.top + at.bottom) / 2.0)]
                for name in places._Noted.places
                if (at := places.place_of(name)) is not None
            },
            steps=[step.name for step in application.undo.done],
        )
        part.write_text(json.dumps(written))
        part.replace(place)

    return note


if __name__ == "__main__":
    loop.LONGEST_REST = REST
    loop.run = partial(loop.run, after_frame=noting(Path(sys.argv[1])))
    sys.exit(program(sys.argv[2:]))

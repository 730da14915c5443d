"""The main loop."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.thread import SimulationThread
from app.files.library import Library
from app.model.errors import UserError, explained
from app.scene.scene import Scene

if TYPE_CHECKING:
    from app.engine.autosave import SessionFolder
    from app.window.application import Application
    from app.window.part_choice import Asked
    from app.window.viewer import Viewer
    from app.window.window import Window

log = logging.getLogger(__name__)

OPENING_SIZE = (1440, 900)
HIDDEN_WAIT = 0.1  # seconds between checks of a hidden window
LONGEST_REST = 0.25  # seconds between frames of a still picture
LONGEST_STEP = 0.1  # seconds of camera movement in one frame, at most


def run(
    *scenes: Scene,
    paused: bool = False,
    layout_file: Path | None = None,
    size: tuple[int, int] = OPENING_SIZE,
    on_first_picture: Callable[[], None] | None = None,
    after_frame: Callable[[Viewer, Window], None] | None = None,
    keep_session: bool = False,
    welcome: bool = False,
    library: Library | None = None,
    asked_about: Asked | None = None,
) -> None:
    """Show a scene, or several that are compared, in a window until it is closed.

    With `keep_session` the work is backed up, unclosed sessions are offered, and files are remembered in the user's
    library, unless another is given. With `welcome` the gallery opens, if it was never closed before. A model,
    `asked_about`, is opened in addition. Calls `on_first_picture` after the first picture of the land and
    `after_frame` after each frame. Raises `UserError` if the land cannot be made.
    """
    simulation = SimulationThread(*scenes, paused=paused, folder=_session_folder() if keep_session else None)
    simulation.start()  # it loads the terrain while the window opens
    try:
        layout_file = layout_file or _layout_file()
        library = library or (Library.of_user() if keep_session else Library())
        panel_file = _panel_file() if keep_session else None
        _run_window(
            simulation,
            size,
            layout_file,
            on_first_picture,
            after_frame,
            library,
            panel_file,
            asked_about,
            keep_session=keep_session,
            welcome=welcome,
        )
    finally:
        simulation.stop()


def _run_window(
    simulation: SimulationThread,
    size: tuple[int, int],
    layout_file: Path | None,
    on_first_picture: Callable[[], None] | None,
    after_frame: Callable[[Viewer, Window], None] | None,
    library: Library,
    panel_file: Path | None,
    asked_about: Asked | None,
    *,
    keep_session: bool,
    welcome: bool,
) -> None:
    from app.engine.autosave import ended_sessions
    from app.picture import style
    from app.window.application import Application
    from app.window.known_levels import LevelsInFile
    from app.window.panel.memory import PanelMemory
    from app.window.viewer import Viewer
    from app.window.window import Window

    with Window("Thalweg", *size, layout_file=layout_file) as window:
        style.load_fonts()
        known_levels = LevelsInFile(layout_file.with_name("levels.json") if layout_file else None)
        application = Application(
            window.context,
            simulation,
            window,
            known_levels=known_levels,
            refines=True,
            library=library,
            look_up_sessions=ended_sessions if keep_session else tuple,
        )
        viewer = Viewer(application, PanelMemory(panel_file))
        simulation.on_touch(window.wake)
        application.sessions.offer()
        if welcome and not application.sessions.listed and not library.welcome.gallery:
            viewer.panel.gallery.welcome()
        if asked_about is not None:
            application.part_choice.begin(asked_about)
        try:
            _show(simulation, viewer, window, on_first_picture, after_frame)
        except UserError:
            raise
        except Exception as error:
            # At once: the cleanup may fail, too.
            raise UserError(_end_of(error, simulation, application)) from error
        finally:
            simulation.on_touch(lambda: None)
            if not window.lost:
                viewer.close()
            application.recording.finish()


def _session_folder() -> SessionFolder | None:
    """The folder of backups, or None if there can be none."""
    from app.engine.autosave import SessionFolder

    try:
        return SessionFolder()
    except UserError as error:
        log.warning("%s", error)
        return None


def _show(
    simulation: SimulationThread,
    viewer: Viewer,
    window: Window,
    on_first_picture: Callable[[], None] | None,
    after_frame: Callable[[Viewer, Window], None] | None,
) -> None:
    """Draw frame after frame until the window is closed."""
    from app.picture import style

    application = viewer.application
    last = time.perf_counter()
    while not window.closing:
        events = window.events(wait=min(viewer.rest, LONGEST_REST))
        window.set_title(viewer.title)
        if window.hidden:
            time.sleep(HIDDEN_WAIT)
            continue

        begin = time.perf_counter()
        dt, last = min(begin - last, LONGEST_STEP), begin
        application.content_scale = window.content_scale
        style.apply(application.interface_scale)
        window.begin_frame()
        viewer.frame(events, dt, *window.size, window.pixels_per_unit)
        window.end_frame(viewer.lay_pictures, viewer.take_screen)
        application.frame_times.add(time.perf_counter() - begin)

        if application.snapshot is None and simulation.status.state == "failed":
            raise UserError(simulation.status.error)  # nothing can be shown
        if application.snapshot is not None and not simulation.first_picture_shown.is_set():
            simulation.first_picture_shown.set()
            log.debug("first picture %.2f s after the start of the process", _seconds_since_start())
            if on_first_picture:
                on_first_picture()
        if after_frame:
            after_frame(viewer, window)
        _wait_for_screen(begin, window.frames_per_second)


def _end_of(error: Exception, simulation: SimulationThread, application: Application) -> str:
    """Why the window ends, and where the worlds were saved, in one line."""
    from app.window.window import ContextLost

    why = str(error) if isinstance(error, ContextLost) else f"internal error: {explained(error)}"
    if not simulation.first_picture_shown.is_set():
        return why
    from app.window.rescue import rescue

    return f"{why}; {rescue(simulation, application.documents.name, application.seen_scene)}"


def _wait_for_screen(begin: float, frames_per_second: int) -> None:
    """Sleep until the next refresh, in case the driver does not wait for it."""
    time.sleep(max(0.0, begin + 1.0 / frames_per_second - time.perf_counter() - 0.001))


def _layout_file() -> Path | None:
    """The file of ImGui's window positions, or None if none can be written."""
    import platformdirs

    try:
        return platformdirs.user_cache_path("thalweg", appauthor=False, ensure_exists=True) / "layout.ini"
    except OSError as error:
        log.debug("the panel layout cannot be saved: %s", error)
        return None


def _panel_file() -> Path:
    """The file of what the panel remembers."""
    import platformdirs

    return platformdirs.user_data_path("thalweg", appauthor=False) / "panel.json"


def _seconds_since_start() -> float:
    """Seconds since the process started, imports included."""
    import os

    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError, IndexError):
            ticks = float(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
            uptime = float(Path("/proc/uptime").read_text().split()[0])
            return uptime - ticks / os.sysconf("SC_CLK_TCK")
    return time.process_time()

"""Export from the window: a worker process gets a state of the land, and plans and writes the files.

The simulation and the window continue meanwhile.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.engine.messages import Save, Saved, SaveFailed
from app.engine.thread import SimulationThread
from app.engine.workers import start_worker, worker_command
from app.files.atomic import remove_orphans
from app.files.scratch import scratch_folder
from app.model.numbers import bytes_text
from app.window.documents import Documents
from app.window.notices import Notices
from app.window.views import Views

if TYPE_CHECKING:
    from app.export.protocol import Answer, File, Line, Written
    from app.export.wishes import Wishes

WORKER = "export-worker"  # makes a frozen program a worker, as it runs no modules
SECONDS_BETWEEN_LOOKS = 0.1

# Saving: the land is being written for the worker. Starting: the worker reads it. Failed: no land to export.
State = Literal["idle", "saving", "starting", "ready", "writing", "failed"]


class Exporting:
    """One export at a time: wishes, planned files and progress."""

    def __init__(self, simulation: SimulationThread, documents: Documents, views: Views, notices: Notices) -> None:
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._notices = notices
        self._state: State = "idle"
        self._saved: Path | None = None  # the land, for the worker
        self._worker: Worker | None = None
        self._planned: Wishes | None = None  # the last wishes sent to the worker
        self._answered = True
        self._beside = Path()
        self._new_folders: tuple[Path, ...] = ()  # created by the export, innermost first
        self._asked = set[Path]()  # lands that are being saved
        self._number = 0
        self.is_open = False
        self.cycle = 0  # of the land
        self.folder = ""
        self.why = ""  # why it cannot be exported
        self.missing: tuple[str, ...] = ()  # maps that the land does not have
        self.files: tuple[File, ...] = ()
        self.written: dict[str, Written] = {}
        self.outcome = ""

    @cached_property
    def wishes(self) -> Wishes:
        """The wishes; they are kept for the next export."""
        from app.export.wishes import IN_A_FOLDER

        return IN_A_FOLDER

    @property
    def _proposed_folder(self) -> str:
        return str(self._beside / f"{self._documents.name}-{self.cycle:06d}")

    @property
    def is_writing(self) -> bool:
        return self._state == "writing"

    @property
    def is_reading(self) -> bool:
        """Whether the planned files are not known yet."""
        return self._state in ("saving", "starting") or (self._state == "ready" and not self._answered)

    @property
    def can_write(self) -> bool:
        return self._state == "ready" and self._answered and not self.why and bool(self.files)

    @property
    def rest(self) -> float:
        """For how many seconds the dialog will not change."""
        return SECONDS_BETWEEN_LOOKS if self.is_writing or self.is_reading else math.inf

    @property
    def size(self) -> float:
        """The approximate size of all files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def part(self) -> float:
        """The written fraction, from 0 to 1."""
        done = sum(file.size for file in self.files if file.name in self.written)
        return done / max(self.size, 1.0)

    # User actions.

    def open(self, beside: Path) -> None:
        """Show the dialog. Unless files are being written, take the current land and propose a folder."""
        self.is_open = True
        if self.is_writing:
            return
        self._end()
        snapshot = self._views.snapshot
        self.cycle = snapshot.cycle if snapshot else 0
        self._beside = beside
        self.folder = self._proposed_folder
        self._state, self._number = "saving", self._number + 1
        self._saved = scratch_folder() / f"export-{self._number}.npz"
        self._asked.add(self._saved)
        world = self._documents.edited_worlds[0]
        self._simulation.ask(Save(self._saved, world, self._views.seen_scene, is_scratch=True))

    def close(self) -> None:
        """Hide the dialog. A running export continues."""
        self.is_open = False
        if not self.is_writing:
            self._end()

    def wish(self, wishes: Wishes) -> None:
        """Change the wishes."""
        if not self.is_writing:
            self.wishes, self.outcome = wishes, ""

    def write(self) -> None:
        """Write the files."""
        from app.export.protocol import Write

        self._new_folders = ()
        with contextlib.suppress(OSError, RuntimeError):  # the worker reports errors
            folder = Path(self.folder).expanduser()
            self._new_folders = tuple(place for place in (folder, *folder.parents) if not place.exists())
        self.written, self.outcome, self._state = {}, "", "writing"
        self._tell(Write(self.wishes, self.folder))

    def cancel(self) -> None:
        """Cancel the export. Finished files stay; the unfinished one is removed."""
        if self.is_writing:
            self._stop_worker()
            self._leave_whole_files()
            self.outcome = f"cancelled: {len(self.written)} of {len(self.files)} files are written"
            self._start_worker()

    def release(self) -> None:
        """End the worker and remove its copy of the land."""
        if self.is_writing:
            self._stop_worker()
            self._leave_whole_files()
        self._end()

    # Answers.

    def awaits(self, path: Path) -> bool:
        """Whether a saved world is the one for the worker."""
        return path in self._asked

    def hear(self, report: Saved | SaveFailed) -> None:
        """The land for the worker was saved, or saving failed."""
        self._asked.discard(report.path)
        if report.path != self._saved:  # for a dialog that was closed meanwhile
            report.path.unlink(missing_ok=True)
        elif isinstance(report, SaveFailed):
            self._fail(report.why)
        else:
            self._start_worker()

    def update(self) -> None:
        """Handle answers of the worker, and send it changed wishes."""
        while self._worker is not None and (answer := self._worker.answer()) is not None:
            self._take(answer)
        if self._state == "ready" and self._answered and self.wishes != self._planned:
            from app.export.protocol import Plan

            self._planned, self._answered = self.wishes, False
            self._tell(Plan(self.wishes))

    def _take(self, answer: Answer) -> None:
        from app.export.protocol import Done, Failed, Planned, Ready, Written

        match answer:
            case Ready(cycle, missing):
                is_ours = self.folder == self._proposed_folder
                self.cycle, self.missing, self._state = cycle, missing, "ready"
                if is_ours:
                    self.folder = self._proposed_folder
                kept = tuple(name for name in self.wishes.maps if name not in missing)
                self.wishes = replace(self.wishes, maps=kept)
            case Planned(files):
                self.files, self.why, self._answered = files, "", True
            case Written():
                self.written[answer.name] = answer
            case Done():
                size = sum(written.size for written in self.written.values())
                count = f"{len(self.written)} file{'s' if len(self.written) != 1 else ''}"
                self.outcome = f"exported {count}, {bytes_text(size)}, into {self.folder}"
                self._state = "ready"
                self._notices.say(self.outcome)
            case Failed(why):
                if self._state == "writing" and not self.is_open:
                    self._notices.complain(why)
                if self._state == "starting" or (self._worker and self._worker.has_ended):
                    self._fail(why)
                else:
                    self.why, self._state, self._answered = why, "ready", True

    def _fail(self, why: str) -> None:
        """Nothing can be exported."""
        self._end()
        self._state, self.why = "failed", why

    # The worker.

    def _start_worker(self) -> None:
        assert self._saved is not None
        self._state, self._planned, self._answered, self.why = "starting", None, True, ""
        try:
            self._worker = Worker(self._saved)
        except OSError as error:
            self._fail(f"the process that exports cannot be started: {error.strerror or error}")

    def _tell(self, line: Line) -> None:
        if self._worker is not None:
            self._worker.tell(line)

    def _stop_worker(self) -> None:
        """End the worker, after noting the files it has written."""
        if self._worker is not None:
            from app.export.protocol import Written

            self._worker.end()
            while (answer := self._worker.answer()) is not None:
                if isinstance(answer, Written):
                    self._take(answer)
            self._worker = None

    def _end(self) -> None:
        self._stop_worker()
        if self._saved is not None:
            self._saved.unlink(missing_ok=True)
        self._saved, self._state = None, "idle"
        self.files, self.written, self.missing, self.why, self.outcome = (), {}, (), "", ""

    def _leave_whole_files(self) -> None:
        """Remove unfinished files and empty new folders."""
        with contextlib.suppress(OSError, RuntimeError):
            remove_orphans(Path(self.folder).expanduser())
        with contextlib.suppress(OSError):
            for place in self._new_folders:
                place.rmdir()  # fails unless empty


class Worker:
    """The worker process. Its answers are queued."""

    def __init__(self, world: Path) -> None:
        self._process = start_worker([*worker_command(WORKER, "app.cli.export_worker"), str(world)])
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, name="export", daemon=True)
        self._listener.start()

    def tell(self, line: Line) -> None:
        """Send a request. A dead worker is noticed elsewhere."""
        from app.export.protocol import say

        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            say(line, self._process.stdin)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def answer(self) -> Answer | None:
        """The next answer, if any."""
        with contextlib.suppress(queue.Empty):
            return self._answers.get_nowait()
        return None

    def end(self) -> None:
        """Kill the worker."""
        self._process.kill()
        self._process.wait()
        self._listener.join(timeout=2.0)
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _listen(self) -> None:
        from app.export.protocol import Failed, answer_in

        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):
            for line in self._process.stdout:
                self._answers.put(answer_in(line))
        self._process.wait()
        self._answers.put(Failed("the process that exports has ended; there may be too little memory for it"))

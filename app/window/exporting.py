"""What is exported from the window: a state of the land goes to a process of its own, which says what it would write.

The simulation goes on meanwhile, and so may a person, also while files are written.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import subprocess
import sys
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.engine.messages import Save, Saved, SaveFailed
from app.engine.thread import SimulationThread
from app.files.atomic import remove_orphans
from app.files.scratch import scratch_folder
from app.model.numbers import bytes_text
from app.window.documents import Documents
from app.window.notices import Notices
from app.window.views import Views

if TYPE_CHECKING:
    from app.export.protocol import Answer, File, Line, Written
    from app.export.wishes import Wishes

WORKER = "export-worker"  # makes the program a worker, where it is a frozen executable that runs no modules
SECONDS_BETWEEN_LOOKS = 0.1

# Saving: the land is written for the worker. Starting: it reads that. Failed: there is no land to export.
State = Literal["idle", "saving", "starting", "ready", "writing", "failed"]


class Exporting:
    """One export at a time: what is wished for, which files that would be, and how far the writing is."""

    def __init__(self, simulation: SimulationThread, documents: Documents, views: Views, notices: Notices) -> None:
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._notices = notices
        self._state: State = "idle"
        self._saved: Path | None = None  # the land, for the worker
        self._worker: Worker | None = None
        self._planned: Wishes | None = None  # what the worker was asked for last
        self._answered = True
        self._beside = Path()
        self._new_folders: tuple[Path, ...] = ()  # which the writing makes, from the innermost
        self._asked = set[Path]()  # lands that are still to be saved
        self._number = 0
        self.is_open = False
        self.cycle = 0  # of the land
        self.folder = ""
        self.why = ""  # it cannot be done
        self.missing: tuple[str, ...] = ()  # maps that the land has not
        self.files: tuple[File, ...] = ()
        self.written: dict[str, Written] = {}
        self.outcome = ""

    @cached_property
    def wishes(self) -> Wishes:
        """What shall be written; it stays for the next time."""
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
        """Whether it is not known yet what would be written."""
        return self._state in ("saving", "starting") or (self._state == "ready" and not self._answered)

    @property
    def can_write(self) -> bool:
        return self._state == "ready" and self._answered and not self.why and bool(self.files)

    @property
    def rest(self) -> float:
        """For how many seconds nothing of it will look otherwise."""
        return SECONDS_BETWEEN_LOOKS if self.is_writing or self.is_reading else math.inf

    @property
    def size(self) -> float:
        """About how many bytes all files take."""
        return sum(file.size for file in self.files)

    @property
    def part(self) -> float:
        """How much of it is written, from 0 to 1."""
        done = sum(file.size for file in self.files if file.name in self.written)
        return done / max(self.size, 1.0)

    # What a person does.

    def open(self, beside: Path) -> None:
        """Show the dialog; where nothing is being written, for the land as it is now, and a folder beside others."""
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
        """Hide the dialog. What is being written goes on."""
        self.is_open = False
        if not self.is_writing:
            self._end()

    def wish(self, wishes: Wishes) -> None:
        """Ask for something else."""
        if not self.is_writing:
            self.wishes, self.outcome = wishes, ""

    def write(self) -> None:
        """Write the files."""
        from app.export.protocol import Write

        self._new_folders = ()
        with contextlib.suppress(OSError, RuntimeError):  # it is for the worker to say what is wrong
            folder = Path(self.folder).expanduser()
            self._new_folders = tuple(place for place in (folder, *folder.parents) if not place.exists())
        self.written, self.outcome, self._state = {}, "", "writing"
        self._tell(Write(self.wishes, self.folder))

    def cancel(self) -> None:
        """Write no more. Files that are whole stay, and of the one in work nothing does."""
        if self.is_writing:
            self._stop_worker()
            self._leave_whole_files()
            self.outcome = f"cancelled: {len(self.written)} of {len(self.files)} files are written"
            self._start_worker()

    def release(self) -> None:
        """End the worker, and remove what it has read."""
        if self.is_writing:
            self._stop_worker()
            self._leave_whole_files()
        self._end()

    # What others say.

    def awaits(self, path: Path) -> bool:
        """Whether a saved world is the one for the worker."""
        return path in self._asked

    def hear(self, report: Saved | SaveFailed) -> None:
        """The land is written for the worker, or cannot be."""
        self._asked.discard(report.path)
        if report.path != self._saved:  # of a dialog that was closed meanwhile
            report.path.unlink(missing_ok=True)
        elif isinstance(report, SaveFailed):
            self._fail(report.why)
        else:
            self._start_worker()

    def update(self) -> None:
        """Hear what the worker says, and ask it about other wishes."""
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
        """There is nothing that could be exported."""
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
        """End it, and hear which files it has written until then."""
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
        """Remove what a worker that was ended has begun, and those of its folders where nothing is in them."""
        with contextlib.suppress(OSError, RuntimeError):
            remove_orphans(Path(self.folder).expanduser())
        with contextlib.suppress(OSError):
            for place in self._new_folders:
                place.rmdir()  # only where it is empty


class Worker:
    """The process that exports. What it says waits until it is asked for."""

    def __init__(self, world: Path) -> None:
        is_frozen = getattr(sys, "frozen", False)
        command = [sys.executable, WORKER] if is_frozen else [sys.executable, "-m", "app.cli.export_worker"]
        root = str(Path(__file__).parents[2])  # wherever the program runs
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [*command, str(world)],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, name="export", daemon=True)
        self._listener.start()

    def tell(self, line: Line) -> None:
        """Ask for something. One that has ended says so in another way."""
        from app.export.protocol import say

        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            say(line, self._process.stdin)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def answer(self) -> Answer | None:
        """What it has said next, if anything."""
        with contextlib.suppress(queue.Empty):
            return self._answers.get_nowait()
        return None

    def end(self) -> None:
        """End it at once, whatever it does."""
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

"""The window of a soak, in a separate process: `python -m app.soak.window PLAN REPORT`."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import FunctionType
from typing import IO, TYPE_CHECKING

import msgspec

from app.bench.resident import resident_bytes
from app.engine.builds import all_builds, prepare
from app.engine.compiling import fill_cache
from app.engine.memory import trim_memory
from app.files.opening import open_scene
from app.picture.passes.held import held
from app.soak import Plan, minutes_since
from app.soak.report import MEBIBYTE, Report, Visit

if TYPE_CHECKING:
    from numba.core.dispatcher import Dispatcher

    from app.scene.scene import Scene
    from app.window.application import Application
    from app.window.viewer import Viewer
    from app.window.window import Window

STANDSTILL = 120.0  # seconds without a frame, after which the program has stopped: it says where, and ends
PATIENCE = 180.0  # seconds for a world to be made, and its kernels to be compiled
FEWEST_ACTIONS = 4  # in a visit, however long the preset took to open
SETTLING = 8  # frames from the first picture of a world to the measurement of memory
BETWEEN_LINES = 60.0  # seconds


class Soak:
    """Visits presets and lets a random user act. `after_frame` advances it by a frame."""

    def __init__(self, plan: Plan, report: Report, record: IO[str], write: Callable[[], None]) -> None:
        self._plan = plan
        self._report = report
        self._record = record
        self._write = write
        self._begin = time.monotonic()
        self._next_line = self._begin + BETWEEN_LINES
        self._course: Iterator[None] | None = None
        self.visit: Visit | None = None  # the current one
        self._cycle = 0
        self._reported: set[tuple[str, float]] = set()  # refusals, and when they were born
        self.last_action = ""

    def after_frame(self, viewer: Viewer, window: Window) -> None:
        """Called when a frame is on the screen."""
        faulthandler.dump_traceback_later(STANDSTILL, exit=True)
        if self._course is None:
            self._course = self._rounds(viewer.application, window)
        self.count(viewer.application)
        if next(self._course, "over") == "over":
            faulthandler.cancel_dump_traceback_later()
            self._write()
            window.close()

    def _rounds(self, application: Application, window: Window) -> Iterator[None]:
        from app.soak.person import Person

        person = Person(application, window, self._record)
        number = 0
        while True:
            names = list(self._plan.presets)
            Random(f"{self._plan.seed} round {number}").shuffle(names)
            for name in names:
                yield from self._visit_preset(name, number, application, window, person)
                if number > 0 and self._is_over:
                    return
            if self._is_over:
                return
            number += 1

    @property
    def _is_over(self) -> bool:
        return time.monotonic() - self._begin > self._plan.seconds

    def _visit_preset(
        self, name: str, number: int, application: Application, window: Window, person: object
    ) -> Iterator[None]:
        from app.soak.person import Person

        assert isinstance(person, Person)
        random = Random(f"{self._plan.seed} round {number} {name}")
        yield from person.come_home(self._plan.size)
        person.note("visit", name, number)
        self.visit = visit = Visit(name, number)
        self._report.visits.append(visit)
        begin = time.monotonic()
        yield from self._open(name, application)
        gc.collect()
        trim_memory()
        visit.memory, visit.held, visit.kernels = resident_bytes(), held(), loaded_kernels()
        person.note("measure", name, visit.memory, *visit.held, visit.kernels)
        yield from person.change("view.quality", "automatic")
        self._print_progress()
        before = person.actions
        while person.actions - before < FEWEST_ACTIONS or time.monotonic() - begin < self._plan.seconds_of_visit:
            yield from person.act(random)
            visit.actions = person.actions - before
            self.last_action = person.last
        visit.seconds = time.monotonic() - begin
        self._write()

    def _open(self, name: str, application: Application) -> Iterator[None]:
        """Open a preset, and wait until it is there, runs, and is seen."""
        shown = {snapshot.world for snapshot in application.sides.snapshots}
        application.open(scene_of(name, self._plan.side))
        from app.engine.messages import Run

        application.simulation.ask(Run())
        give_up = time.monotonic() + PATIENCE
        settling = 0
        while settling < SETTLING:
            yield
            status = application.simulation.status
            is_new = shown.isdisjoint(snapshot.world for snapshot in application.sides.snapshots)
            if is_new and status.state == "running" and status.cycle > 0:
                settling += 1
            if time.monotonic() > give_up:
                self._report.errors.append(f"{name}: {status.state} for {PATIENCE:.0f} s; {status.message}".strip())
                return

    def count(self, application: Application) -> None:
        """Take note of what a frame brought."""
        status, visit = application.simulation.status, self.visit
        if visit is None:
            return
        visit.frames += 1
        visit.cycles += max(status.cycle - self._cycle, 0)
        self._cycle = status.cycle
        if status.state == "failed":
            error = f"{visit.preset}: {status.error or status.message} (after: {self.last_action})"
            if error not in self._report.errors:
                self._report.errors.append(error)
        for notice in application.notices.shown():
            if notice.is_error and (notice.text, notice.born) not in self._reported:
                self._reported.add((notice.text, notice.born))
                visit.refusals += 1
                self._record.write(f'{{"refused": {msgspec.json.encode(notice.text).decode()}}}\n')
                application.notices.dismiss(notice)

    def _print_progress(self) -> None:
        """Print a line from time to time."""
        if time.monotonic() < self._next_line or self.visit is None:
            return
        self._next_line += BETWEEN_LINES
        visits, visit = self._report.visits, self.visit
        frames, cycles, actions = (
            sum(getattr(one, name) for one in visits) for name in ("frames", "cycles", "actions")
        )
        memory, textures = visit.memory / MEBIBYTE, visit.held.textures / MEBIBYTE
        print(
            f"{minutes_since(self._begin)}: {len(visits)} visits, {actions} actions, {frames} frames, {cycles} cycles, "
            f"{len(set(self._report.errors))} errors; {visit.preset}: {memory:.0f} MiB, textures {textures:.0f} MiB",
            flush=True,
        )


class Mistakes(logging.Handler):
    """Keeps the internal errors that the program logs."""

    def __init__(self, report: Report, soak: Soak) -> None:
        super().__init__(logging.ERROR)
        self._report = report
        self._soak = soak

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        text = f"{record.getMessage()}: {type(error).__name__}: {error}" if error else record.getMessage()
        self._report.errors.append(f"{text} (after: {self._soak.last_action})")


def loaded_kernels() -> int:
    """The number of kernels in memory, each with every set of types that it was called with."""
    return sum(len(kernel.overloads) for kernel in own_kernels())


def own_kernels(packages: tuple[str, ...] = ("app.", "kernels.")) -> list[Dispatcher]:
    """The kernels of all modules that are imported, also those that functions there enclose.

    To ask the garbage collector for all objects takes hold of tuples that another thread is just making, and that
    fails there.
    """
    from numba.core.dispatcher import Dispatcher

    found: dict[int, Dispatcher] = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            for value in list(vars(module).values()):
                cells = (value.__closure__ or ()) if isinstance(value, FunctionType) else ()
                enclosed = (cell.cell_contents for cell in cells)
                found.update((id(one), one) for one in (value, *enclosed) if isinstance(one, Dispatcher))
    return list(found.values())


def scene_of(name: str, side: int) -> Scene:
    """A preset at full speed, with `side` cells along a side, or with its own size where that is 0.

    Its level of quality is one and the same: an automatic one follows the load of the machine, and so does its memory.
    """
    scene = open_scene(name).with_values({"simulation.cycles_per_frame": 0, "view.quality": "low"})
    return scene.with_values({"world.columns": side, "world.rows": side}) if side else scene


def _main(plan_text: str, file: str) -> None:
    from app.numba_settings import configure_numba
    from app.window.loop import run

    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent process ends it, and reports
    configure_numba()
    logging.basicConfig(format="%(name)s: %(message)s")
    plan = msgspec.json.decode(plan_text, type=Plan)
    report, place = Report(), Path(file)
    os.chdir(place.parent)  # where pictures and worlds are saved

    def write() -> None:
        part = place.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(report))
        part.replace(place)

    with Path(plan.record).open("w", encoding="utf-8", newline="\n") as record:
        fill_cache(all_builds(), prepare)  # now: later they would look as if memory grew
        soak = Soak(plan, report, record, write)
        logging.getLogger().addHandler(Mistakes(report, soak))
        first = scene_of(plan.presets[0], plan.side)
        run(first, layout_file=place.with_name("layout.ini"), size=plan.size, after_frame=soak.after_frame)
    write()


if __name__ == "__main__":
    _main(*sys.argv[1:])

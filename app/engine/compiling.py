"""Worker processes compile kernels into Numba's cache on disk.

Numba compiles under the interpreter's lock: compiling in a thread would block the window, and use one core only. So a
`Compiler` starts worker processes and gives them one build after the other; whoever asked for a build loads it from the
cache once it is there. Cached kernels of the same name in two builds have the same types, so no worker overwrites the
result of another one (see `kernels.particles.engine`).

Run as a module, this is the worker: it reads names of builds, a line each, and answers each with a line.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from app.engine.builds import in_order
from app.engine.machine import cores
from app.engine.status import Compiling
from app.engine.workers import start_worker, worker_command

log = logging.getLogger(__name__)

NICENESS = 5  # of the workers: picture and simulation have priority
MOST_WORKERS = 8  # each needs some 300 MB
WORKER = "compile-kernels"  # argument that makes a frozen executable, which runs no modules, a worker
DONE, FAILED = "done", "failed"


class NotCached(Exception):
    """A kernel is not in the cache."""


@contextlib.contextmanager
def only_from_cache() -> Iterator[None]:
    """Within this context, a kernel that is not in the cache raises `NotCached` instead of being compiled."""
    from numba.core import event

    caller = threading.get_ident()

    class Refusal(event.Listener):
        def on_start(self, event: object) -> None:
            if threading.get_ident() == caller:
                raise NotCached

        def on_end(self, event: object) -> None: ...

    with event.install_listener("numba:compile", Refusal()):
        yield


def cache_is_empty() -> bool:
    """Whether nothing was ever compiled from these sources. Fast, and without Numba."""
    return not any(Path(os.environ["NUMBA_CACHE_DIR"]).glob("*/*.nbi"))


class Compiler:
    """Compiles builds in workers, one per core."""

    def __init__(self, workers: int | None = None, start: Callable[[], subprocess.Popen[str]] | None = None) -> None:
        """`start` starts a worker, which may belong to another program."""
        self._start = start
        self._most = workers or min(cores(), MOST_WORKERS)
        self._lock = threading.Lock()
        self._asked: list[str] = []  # since the compiler was last idle
        self._waiting: list[str] = []
        self._at_work: list[str] = []
        self._outcomes: dict[str, str] = {}  # by build: empty, or the error
        self._leaders = 0  # threads that lead a worker and will take waiting builds
        self._threads: list[threading.Thread] = []  # of the leaders, and of those that still end their worker
        self._workers: list[subprocess.Popen[str]] = []
        self._closed = False
        self.seconds = 0.0  # of processor time that builds took

    def ask(self, builds: Iterable[str]) -> None:
        """Compile builds in this order, unless they were requested already. Returns at once."""
        with self._lock:
            new = [build for build in builds if not self._knows(build)]
            if self._closed or not new:
                return
            if not self._waiting and not self._at_work:
                self._asked = []
            self._asked += new
            self._waiting += new
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            for _ in range(min(len(self._waiting), self._most - self._leaders)):
                self._leaders += 1
                thread = threading.Thread(target=self._lead_worker, name="compiler", daemon=True)
                self._threads.append(thread)
                thread.start()

    def has_asked(self, build: str) -> bool:
        """Whether a build was requested."""
        with self._lock:
            return self._knows(build)

    def outcome(self, build: str) -> str | None:
        """The error of a build, empty if it is compiled; None if that is not known yet."""
        return self._outcomes.get(build)

    @property
    def progress(self) -> Compiling | None:
        """The progress; None if there is nothing to do."""
        with self._lock:
            if not self._waiting and not self._at_work:
                return None
            done = sum(build in self._outcomes for build in self._asked)
            at_work, waiting = (
                tuple(name.replace("_", " ") for name in names) for names in (self._at_work, self._waiting)
            )
            return Compiling(done, len(self._asked), at_work, waiting)

    def close(self) -> None:
        """End all workers at once, and start no more."""
        with self._lock:
            self._closed = True
            self._waiting = []
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join(timeout=2.0)

    def _knows(self, build: str) -> bool:
        return build in self._outcomes or build in self._waiting or build in self._at_work

    def _lead_worker(self) -> None:
        """Give a worker builds until none are left. One that ends during a build is replaced."""
        worker: subprocess.Popen[str] | None = None
        while build := self._next():
            try:
                worker = worker or self._start_worker()
                error = self._have_compiled(worker, build)
            except (OSError, EOFError, ValueError) as failure:
                error = str(failure)
                self._end_worker(worker)
                worker = None
            with self._lock:
                self._at_work.remove(build)
                if not self._closed:  # when closed, the build was abandoned and has not failed
                    self._outcomes[build] = error
        self._end_worker(worker)

    def _next(self) -> str:
        """The next build, or none. A thread that gets none stops leading; later requests start a new leader."""
        with self._lock:
            if not self._waiting:
                self._leaders -= 1
                return ""
            self._at_work.append(self._waiting.pop(0))
            return self._at_work[-1]

    def _have_compiled(self, worker: subprocess.Popen[str], build: str) -> str:
        """Have a worker compile a build. Returns the error, if any. Raises `EOFError` if the worker ends."""
        assert worker.stdin is not None
        assert worker.stdout is not None
        print(build, file=worker.stdin, flush=True)
        word, _, rest = worker.stdout.readline().strip().partition(" ")
        if word == FAILED:
            return rest
        if word != DONE:
            raise EOFError("the process that compiled it ended")
        self.seconds += float(rest)
        return ""

    def _start_worker(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._closed:
                raise EOFError("nothing is compiled any more")
            worker = (self._start or _start_worker)()
            self._workers.append(worker)
            return worker

    def _end_worker(self, worker: subprocess.Popen[str] | None) -> None:
        if worker is not None:
            worker.kill()
            worker.communicate()
            with self._lock:
                self._workers.remove(worker)


def fill_cache(builds: Iterable[str], load: Callable[[str], None]) -> None:
    """Load builds. Those that are missing are compiled first, in parallel, with a progress bar.

    Builds whose worker fails are compiled here.
    """
    missing = []
    for build in builds:
        try:
            with only_from_cache():
                load(build)
        except NotCached:
            missing.append(build)
    if not missing:
        return
    failures = compile_in_workers(missing, "compiling kernels, after an update")
    for build in missing:
        if build in failures:
            log_failure(build, failures[build])
        load(build)


def compile_in_workers(builds: Iterable[str], title: str) -> dict[str, str]:
    """Compile builds in parallel, with a progress bar. Returns the errors by build."""
    from tqdm import tqdm

    asked = in_order(builds)
    compiler = Compiler()
    try:
        compiler.ask(asked)
        with tqdm(total=len(asked), desc=title, unit="process", leave=False) as bar:
            told = None
            while progress := compiler.progress:
                if progress != told:  # in a log, each redraw of the bar takes a line
                    bar.n, told = progress.done, progress
                    bar.set_postfix_str(", ".join(progress.at_work))
                time.sleep(0.1)
    finally:
        compiler.close()
    return {build: error for build in asked if (error := compiler.outcome(build))}


def log_failure(build: str, error: str) -> None:
    """Log that no worker could compile a build, so that the program compiles it itself."""
    log.warning("the kernels of %s are compiled within the program, as the worker failed: %s", build, error)


def _start_worker() -> subprocess.Popen[str]:
    return start_worker(worker_command(WORKER, "app.engine.compiling"))


def work() -> None:
    """Run a worker: compile the requested builds until the program ends."""
    import gc
    import queue
    import signal

    from app.engine.builds import prepare

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends its workers
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    gc.disable()  # Numba makes millions of permanent objects; garbage collection would take a tenth of the time
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="replace")
    sys.stdout = sys.stderr  # so that nothing printed is mistaken for an answer
    requests = os.fdopen(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace")
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in requests:
            asked.put(line.strip())
        os._exit(0)  # even during a build: the program is gone

    threading.Thread(target=listen, daemon=True).start()
    before = 0.0
    while True:
        build = asked.get()
        try:
            prepare(build)
            answer = f"{DONE} {time.process_time() - before}"
        except Exception as error:
            answer = f"{FAILED} {type(error).__name__}: " + " ".join(str(error).split())
        before = time.process_time()
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    work()

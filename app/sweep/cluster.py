"""Workers of a sweep, on local cores or in a Dask cluster, and the worlds that they run."""

from __future__ import annotations

import contextlib
import logging
import math
import multiprocessing
import os
import queue
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

import dask
import distributed
from distributed.deploy.spec import SpecCluster

from app.cli.signals import LONGEST_STEP, Wish
from app.engine.machine import cores
from app.model.errors import UserError, explained
from app.scene.scene import Scene
from app.sweep import worlds
from app.sweep.worlds import Order, Outcome, Wanted

PATIENCE = 10.0  # seconds in which a scheduler must answer
ENDED = "the process ended, time and again; is there enough memory?"
# Executed by workers of a scheduler before they unpickle tasks: they find `app` through the installed package.
FIND_PACKAGES = """
import contextlib
with contextlib.suppress(ImportError):
    import thalweg
"""
LOOK = 0.5  # seconds between checks whether to end
STARTS = 4  # attempts to start local processes, if one ends early

# Environment of local processes: one thread per library. Dask's own variables would make the C library return the
# memory of each array at once, which costs a tenth of the time.
ENVIRONMENT = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@contextlib.contextmanager
def opened(scheduler: str = "", workers: int | None = None) -> Iterator[distributed.Client]:
    """A context with a client of the scheduler at an address, or of local processes, by default one per core.

    Raises `UserError` if there is no such scheduler, its workers are unsuitable, or it ends early.
    """
    dask.config.set(
        {
            "distributed.worker.profile.enabled": False,  # it costs time on each core
            "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
        }
    )
    for name in (
        "asyncio",
        "distributed",
        "distributed.client",
        "distributed.worker",
        "distributed.nanny",
        "distributed.scheduler",
    ):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # outcomes of worlds tell what matters
    if scheduler:
        try:
            client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise UserError(f"--scheduler {scheduler}: no Dask scheduler answers there") from error
        try:
            with client:
                client.register_worker_callbacks(partial(exec, FIND_PACKAGES))
                _check_workers(client, scheduler)
                yield client
        except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
            raise UserError(f"--scheduler {scheduler}: it has ended, or cannot be reached any more") from error
        return
    # Not the default of Dask: what reads files with it would ask workers, also those that are ending.
    with (
        _unchanged_environment(),
        _started(workers or cores()) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        try:
            yield client
        finally:
            _end(cluster)


def _started(workers: int) -> distributed.LocalCluster:
    """Start local processes. Raises `UserError` if they keep ending."""
    _start_tracker()
    for _ in range(STARTS):
        try:
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=None,  # memory is checked for each world
                dashboard_address=":0",  # any port: Dask warns if its usual one is in use
                silence_logs=logging.CRITICAL,
                plugins=(_ShieldedFromInterrupts(),),
            )
        except (RuntimeError, OSError, TimeoutError) as error:
            failure = error
        except KeyboardInterrupt:  # otherwise Dask complains on exit
            for unfinished in list(SpecCluster._instances):
                unfinished.shutdown_on_close = False
            raise
    raise UserError(f"no processes that run worlds can be started: {ENDED}") from failure


def _end(cluster: distributed.LocalCluster) -> None:
    """Kill its processes: their work is not wanted any more, and Dask would wait for kernels."""
    nannies = list(cluster.workers.values())
    for nanny in nannies:
        nanny.close_gracefully()  # otherwise it restarts processes
    pids = {nanny.pid for nanny in nannies}
    for process in multiprocessing.active_children():
        if process.pid in pids:
            process.kill()


def _start_tracker() -> None:
    """Start Python's resource tracker with SIGHUP blocked.

    A closing terminal signals all processes; others complain if the tracker ends first.
    """
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])  # child processes inherit the mask
        try:
            resource_tracker.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])


@contextlib.contextmanager
def _unchanged_environment() -> Iterator[None]:
    """A context that restores the environment, which Dask changes for its workers: Numba refuses later changes."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _ShieldedFromInterrupts(distributed.WorkerPlugin):  # type: ignore[misc]
    """Workers ignore Ctrl+C and a closing terminal: the program ends them."""

    def setup(self, worker: distributed.Worker) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if sys.platform != "win32":
                signal.signal(signal.SIGHUP, signal.SIG_IGN)


def prepare(client: distributed.Client, scenes: Sequence[Scene], wanted: Wanted) -> None:
    """Compile kernels once per machine, by one of its workers. Raises `UserError`."""
    kinds = list({worlds.kind_of(scene): scene for scene in scenes}.values())
    machines = {worker["host"] for worker in _known_workers(client).values()}
    # Where a worker ends, another one does it, of the same machine if it has one; where none is there, the first one
    places: list[dict[str, Any]] = [{"workers": [machine], "allow_other_workers": True} for machine in machines]
    futures = [client.submit(worlds.prepare, kinds, wanted, pure=False, **place) for place in places or [{}]]
    watch = _WorkerWatch(client)
    while True:
        try:
            with client.as_current():
                distributed.wait(futures, timeout=LOOK)
            break
        except TimeoutError as error:
            watch.look()
            if watch.is_overdue:
                raise UserError("no worker is there any more") from error
    try:
        client.gather(futures)
    except distributed.KilledWorker as error:
        raise UserError(f"no worker gets ready to run worlds: {ENDED}") from error


class _WorkerWatch:
    """Watches which workers there are."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._last_seen = time.monotonic()  # time of any worker

    def look(self) -> list[str]:
        """The addresses of all workers."""
        found = list(_known_workers(self._client))
        if found:
            self._last_seen = time.monotonic()
        return found

    @property
    def is_overdue(self) -> bool:
        """Whether there has been no worker for longer than a restart takes."""
        return time.monotonic() - self._last_seen > PATIENCE


def run_all(
    client: distributed.Client, orders: Iterator[Order], wish: Wish, tell: Callable[[str], None] = lambda line: None
) -> Iterator[tuple[int, Outcome]]:
    """Run worlds, each as one task, and yield the number and outcome of each as soon as it is known.

    Each worker has one task at a time, and none is queued there. After a `wish` to end no task starts, and those that
    take longer than `LONGEST_STEP` seconds are abandoned. If a worker dies during a task, the world is run again; if
    that happens repeatedly, the world fails. A later worker that is unsuitable gets no more worlds, the user is told,
    and another worker runs its world.
    """
    token = secrets.token_hex(8)  # schedulers merge tasks of the same key, even of other sweeps
    ended: queue.SimpleQueue[distributed.Future] = queue.SimpleQueue()
    running: dict[distributed.Future, Order] = {}
    again: list[Order] = []  # refused by a worker
    refused: set[str] = set()
    watch, is_told = _WorkerWatch(client), False

    def begin_more(workers: Sequence[str]) -> None:
        while not wish and len(running) < max(len(workers), 1):
            order = again.pop() if again else next(orders, None)
            if order is None:
                break
            # Others are not forbidden, for the last of those that are named may end, and the world would wait forever
            only = {"workers": workers, "allow_other_workers": True} if refused and workers else {}
            key = f"world-{token}-{order.number}-{secrets.token_hex(4)}"
            future = client.submit(worlds.run_world, order, key=key, pure=False, **only)
            running[future] = order
            future.add_done_callback(ended.put)

    def fit_workers() -> list[str]:
        return [address for address in watch.look() if address not in refused]

    begin_more(workers := fit_workers())
    latest = math.inf
    while running:
        if wish and latest == math.inf:
            latest = time.monotonic() + LONGEST_STEP
        if time.monotonic() > latest:
            return
        try:
            future = ended.get(timeout=LOOK)
        except queue.Empty:
            workers = fit_workers()  # workers may have changed
            if wish and not workers:
                return  # nobody is left to finish a world
            if watch.is_overdue and not is_told:
                tell("no worker is there any more; the next one goes on")
            is_told = watch.is_overdue
            begin_more(workers)
            continue
        order, outcome = running.pop(future), _outcome_of(future)
        is_run_again = False
        if outcome.refused_by:
            if outcome.refused_by not in refused:
                tell(f"worker {outcome.refused_by} runs no worlds: {outcome.error}")
            refused.add(outcome.refused_by)
            workers = fit_workers()
            is_run_again = bool(workers)
        if is_run_again:
            again.append(order)
        begin_more(workers)  # before anything is written
        if not is_run_again:
            yield order.number, outcome


def _outcome_of(future: distributed.Future) -> Outcome:
    """The outcome of a finished task. Raises `distributed.CancelledError` if the scheduler is lost."""
    if future.status != "error":
        outcome: Outcome = future.result()
        return outcome
    error = future.exception()
    return Outcome(ENDED if isinstance(error, distributed.KilledWorker) else explained(error))


def _known_workers(client: distributed.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.scheduler_info(n_workers=-1).get("workers", {})
    return found


def _check_workers(client: distributed.Client, scheduler: str) -> None:
    """Raise `UserError` if there are no workers, or worlds would differ on them."""
    workers = _known_workers(client)
    if not workers:
        raise UserError(f"--scheduler {scheduler}: it has no workers; dask worker {scheduler} --nthreads 1 starts some")
    for address, worker in workers.items():
        if worker["nthreads"] != 1:
            raise UserError(f"--scheduler {scheduler}: worker {address} {worlds.too_many(worker['nthreads'])}")
    programs = client.run(worlds.program, on_error="return")
    for address, program in programs.items():
        if isinstance(program, ImportError):
            raise UserError(f"--scheduler {scheduler}: this program is not installed where its workers are")
        if isinstance(program, OSError):
            continue  # it has ended meanwhile
        if program != worlds.program():
            raise UserError(f"--scheduler {scheduler}: worker {address} {worlds.OTHER_PROGRAM}")

"""Workers of a sweep, on this machine's cores or of a Dask cluster, and the worlds that they run."""

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
# Run by workers of a scheduler before they unpickle what is sent: there `app` is found through the installed package.
FIND_PACKAGES = """
import contextlib
with contextlib.suppress(ImportError):
    import thalweg
"""
LOOK = 0.5  # seconds between two looks at whether there is a wish to end
STARTS = 4  # times that this machine's processes are started, where one ends before all are there

# What processes of this machine have before they import anything: one thread for each library that would start more.
# Dask's own variables have the C library give back the memory of each array at once, a tenth of a world's time.
ENVIRONMENT = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@contextlib.contextmanager
def opened(scheduler: str = "", workers: int | None = None) -> Iterator[distributed.Client]:
    """A client of the scheduler at an address, or of so many processes of this machine, by default one per core.

    Raises `UserError` where there is no such scheduler, or its workers would not do, or it ends in the midst.
    """
    dask.config.set(
        {
            "distributed.worker.profile.enabled": False,  # it takes a part of each core
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
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters, a world's outcome tells
    if scheduler:
        try:
            client = distributed.Client(scheduler, timeout=PATIENCE)
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
    with _unchanged_environment(), _started(workers or cores()) as cluster, distributed.Client(cluster) as client:
        try:
            yield client
        finally:
            _end(cluster)


def _started(workers: int) -> distributed.LocalCluster:
    """So many processes of this machine. Raises `UserError` where they end, whenever they are started."""
    _start_tracker()
    for _ in range(STARTS):
        try:
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=None,  # each world is asked before it is made
                dashboard_address=":0",  # without one, Dask takes its usual port and warns where that is in use
                silence_logs=logging.CRITICAL,
                plugins=(_KeptFromInterrupts(),),
            )
        except (RuntimeError, OSError, TimeoutError) as error:
            failure = error
        except KeyboardInterrupt:  # in the midst, of which Dask would complain on the way out
            for unfinished in list(SpecCluster._instances):
                unfinished.shutdown_on_close = False
            raise
    raise UserError(f"no processes that run worlds can be started: {ENDED}") from failure


def _end(cluster: distributed.LocalCluster) -> None:
    """End its processes at once: nobody wants any more what they are at, and Dask would wait for their kernels."""
    nannies = list(cluster.workers.values())
    for nanny in nannies:
        nanny.close_gracefully()  # else it starts another process in place of the one that ends
    pids = {nanny.pid for nanny in nannies}
    for process in multiprocessing.active_children():
        if process.pid in pids:
            process.kill()


def _start_tracker() -> None:
    """Start the process in which Python notes what processes share, deaf to a terminal that closes.

    That tells all of them; one that ended before the others would be missed by them, and they would say so.
    """
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])  # which a process inherits
        try:
            resource_tracker.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])


@contextlib.contextmanager
def _unchanged_environment() -> Iterator[None]:
    """What Dask sets in this process for its workers is taken back: Numba refuses to run with another one later."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _KeptFromInterrupts(distributed.WorkerPlugin):  # type: ignore[misc]
    """Ctrl+C, and a terminal that closes, are for the program, which ends its workers: all of them are told."""

    def setup(self, worker: distributed.Worker) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if sys.platform != "win32":
                signal.signal(signal.SIGHUP, signal.SIG_IGN)


def prepare(client: distributed.Client, scenes: Sequence[Scene], wanted: Wanted) -> None:
    """Have kernels compiled once on each machine, by one of its workers. Raises `UserError`."""
    kinds = list({worlds.kind_of(scene): scene for scene in scenes}.values())
    machines = {worker["host"] for worker in _known_workers(client).values()}
    # Where a worker ends, another one does it, of the same machine if it has one; where none is there, the first one
    places: list[dict[str, Any]] = [{"workers": [machine], "allow_other_workers": True} for machine in machines]
    futures = [client.submit(worlds.prepare, kinds, wanted, pure=False, **place) for place in places or [{}]]
    watch = _WorkerWatch(client)
    while True:
        try:
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
    """A look now and then at which workers there are."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        self._last_seen = time.monotonic()  # any worker

    def look(self) -> list[str]:
        """The addresses of all workers."""
        found = list(_known_workers(self._client))
        if found:
            self._last_seen = time.monotonic()
        return found

    @property
    def is_overdue(self) -> bool:
        """Whether there has been no worker for longer than it takes to start one again."""
        return time.monotonic() - self._last_seen > PATIENCE


def run_all(
    client: distributed.Client, orders: Iterator[Order], wish: Wish, tell: Callable[[str], None] = lambda line: None
) -> Iterator[tuple[int, Outcome]]:
    """Run worlds, each as one task, and yield what became of each as soon as it is known, by its number.

    Each worker has one at a time, and none waits there for its turn. After a `wish` none begins any more, and those
    that go on for `LONGEST_STEP` seconds are left. A worker that
    ends in the midst of a world loses this one, which is run again; where that happens time and again, the world fails.
    One that came later and would not do gets no more worlds, which is told, and another worker runs the one it had.
    """
    token = secrets.token_hex(8)  # to a scheduler, tasks of the same key are one, whichever sweep they are of
    ended: queue.SimpleQueue[distributed.Future] = queue.SimpleQueue()
    running: dict[distributed.Future, Order] = {}
    again: list[Order] = []  # which a worker has refused
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
            workers = fit_workers()  # others have come, or gone
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
    """What became of a task that has ended. Raises `distributed.CancelledError` where the scheduler is lost."""
    if future.status != "error":
        outcome: Outcome = future.result()
        return outcome
    error = future.exception()
    return Outcome(ENDED if isinstance(error, distributed.KilledWorker) else explained(error))


def _known_workers(client: distributed.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.scheduler_info(n_workers=-1).get("workers", {})
    return found


def _check_workers(client: distributed.Client, scheduler: str) -> None:
    """Raise `UserError` where worlds would not be the same there, or there is nobody to run them."""
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

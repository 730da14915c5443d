"""The work of a process that solves tiles, one at a time, and of the one that hands them out."""

from __future__ import annotations

import queue
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import distributed

from app.files.atomic import reason_of
from app.model.errors import UserError, explained
from app.sweep.cluster import ENDED
from app.tiles.land import TiledLand
from app.tiles.mapping import STEPS
from app.tiles.steps import Arrays
from app.tiles.store import FolderStore, key_of

LOOK = 0.5  # seconds between looks at which workers there are


class Order(NamedTuple):
    """One step of one tile."""

    land: TiledLand
    store: FolderStore
    step: str
    tile: int
    told: Arrays


class Outcome(NamedTuple):
    """What a step told, or why it failed; and whether it was done before."""

    told: Arrays
    error: str = ""
    was_done: bool = False


def perform(order: Order) -> Outcome:
    """Do one step of one tile, unless it is done."""
    land, store, step, tile, told = order
    key = key_of(step, told)
    if (kept := store.told(step, tile, key)) is not None:
        return Outcome(kept, was_done=True)
    try:
        found = STEPS[step](land, tile, store, told)
        store.keep(step, tile, key, found)
    except OSError as error:
        return Outcome({}, f"cannot write into {store.folder.parent}: {reason_of(error, store.folder)}")
    except UserError as error:
        return Outcome({}, str(error))
    except MemoryError:
        return Outcome({}, "not enough memory for a tile; smaller --tiles need less")
    except Exception as error:  # it reaches the user in one line
        return Outcome({}, f"tile {tile}, {step}: {explained(error)}")
    return Outcome(found)


class Crew:
    """Hands out steps to the workers of a Dask client, one to each, and takes what they tell."""

    def __init__(
        self, client: distributed.Client, land: TiledLand, store: FolderStore, done: Callable[[str, int, bool], None]
    ) -> None:
        """`done` hears of each step of a tile that is done, and whether that was before."""
        self._client, self._land, self._store, self._done = client, land, store, done
        self._token = secrets.token_hex(8)  # schedulers merge tasks of the same key, even of other programs

    def perform(self, step: str, tiles: Iterable[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
        """See `app.tiles.analysis.Perform`. Raises `UserError` where a step fails.

        A worker that ends in the midst of a step loses this one, which another one does.
        """
        ended: queue.SimpleQueue[distributed.Future] = queue.SimpleQueue()
        running: dict[distributed.Future, int] = {}
        waiting = iter(tiles)
        while True:
            while len(running) < max(len(self._workers()), 1) and (tile_told := next(waiting, None)):
                tile, told = tile_told
                key = f"tile-{self._token}-{step}-{tile}-{secrets.token_hex(4)}"
                order = Order(self._land, self._store, step, tile, told)
                future = self._client.submit(perform, order, key=key, pure=False)
                running[future] = tile
                future.add_done_callback(ended.put)
            if not running:
                return
            try:
                future = ended.get(timeout=LOOK)
            except queue.Empty:
                continue
            tile = running.pop(future)
            outcome = _outcome_of(future)
            if outcome.error:
                raise UserError(outcome.error)
            self._done(step, tile, outcome.was_done)
            yield tile, outcome.told

    def _workers(self) -> dict[str, Any]:
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1).get("workers", {})
        return workers


def _outcome_of(future: distributed.Future) -> Outcome:
    """The outcome of a finished task. Raises `distributed.CancelledError` if the scheduler is lost."""
    if future.status != "error":
        outcome: Outcome = future.result()
        return outcome
    error = future.exception()
    return Outcome({}, ENDED if isinstance(error, distributed.KilledWorker) else explained(error))

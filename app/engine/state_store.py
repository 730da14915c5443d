"""Storage of stored states: the newest in memory, older ones on disk, very old ones thinned out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

from app.engine.branches import Branch, StoredState
from app.engine.compressed import spill
from app.engine.memory import free_memory, trim_memory

log = logging.getLogger(__name__)

LARGEST_MEMORY = 2**26  # bytes of stored states; older ones are on disk
PART_OF_FREE = 0.125  # of the free memory, if that is less
LARGEST_DISK = 4 * 2**30  # bytes; beyond this, old states are thinned out
UNTHINNED = 8  # newest states of the current branch; other branches keep their first and last


class StateStore:
    """Moves stored states to disk on a thread of its own, and drops some if there are too many."""

    def __init__(self) -> None:
        self._closing = False
        self._writer = ThreadPoolExecutor(1, "stored states")

    def in_background(self, work: Callable[[], None]) -> None:
        """Queue background work on stored states."""
        self._writer.submit(work)

    def put_away(self, branches: Iterable[Branch]) -> None:
        """Move the states of left lands to disk and return their memory to the system."""
        others = list(branches)
        for state in (state for branch in others for state in branch.states if state.bytes_in_memory):
            self._writer.submit(self._spill, state)
        if others:
            self._writer.submit(trim_memory)

    def make_room(self, branches: Collection[Branch], of_now: Branch) -> None:
        """Move the oldest states to disk if they take too much memory, and drop some if disk usage is too high."""
        states = sorted((state for branch in branches for state in branch.states), key=_age)
        in_memory = sum(state.bytes_in_memory for state in states)
        most = min(LARGEST_MEMORY, PART_OF_FREE * (free_memory() + in_memory))
        for state in states[:-1]:
            if in_memory <= most:
                break
            if size := state.bytes_in_memory:
                in_memory -= size
                self._writer.submit(self._spill, state)
        total = sum(state.bytes for state in states)
        while total > LARGEST_DISK + LARGEST_MEMORY and (least := _least_missed(branches, of_now)):
            branch, state = least
            branch.states.remove(state)
            total -= state.bytes

    def _spill(self, state: StoredState) -> None:
        """Move a state to a file. If that fails, it stays in memory."""
        if self._closing:
            return
        try:
            spill(list(state.parts))
        except Exception as error:
            log.warning("stored states stay in memory, as they cannot be written: %s", error)

    def close(self) -> None:
        """Finish the background work. States are left where they are: they are not needed any more."""
        self._closing = True
        self._writer.shutdown(wait=True)


def _least_missed(branches: Collection[Branch], of_now: Branch) -> tuple[Branch, StoredState] | None:
    """The state without which the way to the moments after it grows least, for how long ago they are."""
    candidates = []
    for branch in branches:
        thinned = branch.states[:-UNTHINNED] if branch is of_now else branch.states
        for before, state, after in zip(thinned, thinned[1:], thinned[2:], strict=False):
            gap = after.moment.cycle - before.moment.cycle
            candidates.append((gap / (1 + branch.last - state.moment.cycle), branch.number, branch, state))
    return min(candidates, key=lambda candidate: candidate[:2])[2:] if candidates else None


def sizes_of(branches: Collection[Branch]) -> tuple[int, int]:
    """Bytes of stored states in memory, and on disk."""
    states = [state for branch in branches for state in branch.states]
    in_memory = sum(state.bytes_in_memory for state in states)
    return in_memory, sum(state.bytes for state in states) - in_memory


def _age(state: StoredState) -> tuple[int, int, int]:
    return state.moment.branch, state.moment.cycle, state.moment.edits

"""Where kept states lie: the newest in memory, older ones on disk, and of very many only some."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

from app.engine.branches import Branch, Kept
from app.engine.compressed import spill
from app.engine.memory import free_memory, give_back_what_is_free

log = logging.getLogger(__name__)

LARGEST_MEMORY = 2**29  # bytes of kept states; older ones are on disk
PART_OF_FREE = 0.125  # of the free memory, where that is less
LARGEST_DISK = 4 * 2**30  # bytes; beyond them old states are thinned out
UNTHINNED = 8  # the newest of the branch of now; of others the first and the last stay


class StateStore:
    """Moves kept states to disk on a thread of its own, and forgets some where there are too many."""

    def __init__(self) -> None:
        self._closing = False
        self._writer = ThreadPoolExecutor(1, "kept states")

    def in_background(self, work: Callable[[], None]) -> None:
        """Do something with kept states beside the cycles, after what is being done already."""
        self._writer.submit(work)

    def put_away(self, branches: Iterable[Branch]) -> None:
        """Let the states of lands that were left be on disk, and their memory be the system's again."""
        others = list(branches)
        for state in (state for branch in others for state in branch.kept if state.bytes_in_memory):
            self._writer.submit(self._spill, state)
        if others:
            self._writer.submit(give_back_what_is_free)

    def make_room(self, branches: Collection[Branch], of_now: Branch) -> None:
        """Write the oldest states to disk where they take too much memory, and forget some where they take too much."""
        states = sorted((state for branch in branches for state in branch.kept), key=_age)
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
            branch.kept.remove(state)
            total -= state.bytes

    def _spill(self, state: Kept) -> None:
        """Put a state into a file. Where that fails it stays in memory."""
        if self._closing:
            return
        try:
            spill(list(state.parts))
        except Exception as error:
            log.warning("kept states stay in memory, for they cannot be written: %s", error)

    def close(self) -> None:
        """Finish what others asked for in the background. States stay where they are: they are not needed any more."""
        self._closing = True
        self._writer.shutdown(wait=True)


def _least_missed(branches: Collection[Branch], of_now: Branch) -> tuple[Branch, Kept] | None:
    """The state without which the way to the moments after it grows least, for how long ago they are."""
    candidates = []
    for branch in branches:
        thinned = branch.kept[:-UNTHINNED] if branch is of_now else branch.kept
        for before, state, after in zip(thinned, thinned[1:], thinned[2:], strict=False):
            gap = after.moment.cycle - before.moment.cycle
            candidates.append((gap / (1 + branch.last - state.moment.cycle), branch.number, branch, state))
    return min(candidates, key=lambda candidate: candidate[:2])[2:] if candidates else None


def sizes_of(branches: Collection[Branch]) -> tuple[int, int]:
    """How many bytes of kept states are in memory, and how many on disk."""
    states = [state for branch in branches for state in branch.kept]
    in_memory = sum(state.bytes_in_memory for state in states)
    return in_memory, sum(state.bytes for state in states) - in_memory


def _age(state: Kept) -> tuple[int, int, int]:
    return state.moment.branch, state.moment.cycle, state.moment.edits

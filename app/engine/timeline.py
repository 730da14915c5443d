"""The time line: all edits of the worlds and stored states, from which every moment can be restored.

A branch is a run of cycles with edits between them. It begins with opened worlds, or at a moment of another branch.
As cycles are exact, a moment is restored from the stored state before it and the edits since.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import msgspec

from app.brushes.tools import TOOLS
from app.engine.branches import Branch, StoredState
from app.engine.lockstep import Lockstep
from app.engine.messages import Moment
from app.engine.moments import BranchSeen, StateSeen, TimelineSeen, order
from app.engine.state_store import StateStore, sizes_of
from app.files.journal import Journal
from app.model.errors import UserError
from app.model.view_parameters import CameraParameters, ViewParameters
from app.scene.edits import (
    Blur,
    Edit,
    LandRequest,
    Looked,
    Open,
    Stroke,
)

log = logging.getLogger(__name__)

SECONDS_BETWEEN_STATES = 1.0  # of running cycles: the longest replay between two states
LARGEST_COST = 0.025  # of storing states, as a fraction of the time of cycles
MOST_LOOKS = 20_000  # per branch; beyond this, every other one is dropped


class Timeline:
    """The branches, and the current moment. Used by the thread that runs the worlds only."""

    def __init__(self) -> None:
        self.now = Moment()
        self.version = 0  # grows with each change of `seen`, except further cycles of a branch
        self._branches: dict[int, Branch] = {}
        self._highest = 0
        self._look_time = time.monotonic()  # of the last look, or of arrival on the branch
        self._worlds = 1
        self._seconds = 0.0  # of cycles since the last stored state
        self._pause = SECONDS_BETWEEN_STATES
        self.store = StateStore()

    # Events.

    def begin(self, request: Open, lockstep: Lockstep, journal: Journal | None = None) -> None:
        """New worlds were opened. `journal` is that of their file."""
        self._highest += 1
        cycle = lockstep.cycle
        edits = list(journal.edits) if journal else [Edit(cycle, request)]
        looks = list(journal.looks) if journal else []
        self._look_time = time.monotonic()
        self._branches[self._highest] = Branch(
            self._highest, lockstep.scenes[0].name or "land", None, edits[0].cycle, cycle, edits, looks
        )
        self.now, self._worlds = Moment(self._highest, cycle, len(edits)), len(lockstep.simulators)
        self.version += 1
        self.store_state(lockstep)
        self.store.put_away(branch for branch in self._branches.values() if branch.number != self.now.branch)

    def edited(self, request: LandRequest, lockstep: Lockstep) -> None:
        """An edit was made; `lockstep` is its result."""
        branch = self._branch_to_extend()
        if self._joined_stroke(branch, request):
            return
        branch.edits.append(Edit(self.now.cycle, request))
        if not isinstance(request, Stroke) or request.begins:  # other parts of a stroke are not listed
            self.version += 1
        branch.last = max(branch.last, lockstep.cycle)
        self.now, self._worlds = Moment(branch.number, lockstep.cycle, len(branch.edits)), len(lockstep.simulators)

    def _joined_stroke(self, branch: Branch, request: LandRequest) -> bool:
        """Join the next part of a stroke to the last, if nothing was done or stored between them."""
        last = branch.edits[-1]
        if isinstance(request, Stroke) and (TOOLS[request.tool].runs_drops or request.mask):
            return False  # levels of lakes are updated, or a mask is found, before each part
        if not (isinstance(request, Stroke) and isinstance(last.request, Stroke) and last.cycle == self.now.cycle):
            return False
        if not last.request.is_continued_by(request) or (branch.states and branch.states[-1].moment == self.now):
            return False
        branch.edits[-1] = msgspec.structs.replace(last, request=last.request.and_then(request))
        return True

    def looked(self, view: ViewParameters, camera: CameraParameters) -> None:
        """The view has changed. Ignored while an earlier moment is shown."""
        branch = self._branches.get(self.now.branch)
        if branch is None or (self.now.cycle, self.now.edits) < (branch.last, len(branch.edits)):
            return
        now = time.monotonic()
        seconds = (branch.looks[-1].seconds if branch.looks else 0.0) + now - self._look_time
        self._look_time = now
        branch.looks.append(Looked(self.now.cycle, round(seconds, 3), view, camera))
        if len(branch.looks) > MOST_LOOKS:
            del branch.looks[1:-1:2]

    def repeat_look(self) -> None:
        """Note the last view again when cycles start or stop: otherwise a pause would count as slow cycles."""
        branch = self._branches.get(self.now.branch)
        if branch and branch.looks:
            self.looked(branch.looks[-1].view, branch.looks[-1].camera)

    def advanced(self, lockstep: Lockstep, seconds: float) -> None:
        """Cycles ran for this long, or the worlds were rolled back."""
        if lockstep.cycle < self.now.cycle:
            self._forget_after(lockstep.cycle)
            return
        branch = self._branch_to_extend() if len(self._branch.edits) > self.now.edits else self._branch
        self.now = Moment(branch.number, lockstep.cycle, self.now.edits)
        branch.last = max(branch.last, lockstep.cycle)
        self._seconds += seconds

    def travelled(self, now: Moment, lockstep: Lockstep, seconds: float = 0.0) -> None:
        """The worlds travelled to this moment, at last by a cycle that took so long."""
        self.now, self._worlds = now, len(lockstep.simulators)
        self._seconds, self._look_time = self._seconds + seconds if seconds else 0.0, time.monotonic()
        if now.cycle > self._branch.last:
            self._branch.last = now.cycle
            self.version += 1

    def has(self, moment: Moment) -> bool:
        """Whether a moment is one of its branch, up to now."""
        branch = self._branches.get(moment.branch)
        return branch is not None and moment.cycle <= branch.last and moment.edits <= len(branch.edits)

    # Kept states.

    @property
    def state_is_due(self) -> bool:
        return self._seconds > self._pause

    def store_state(self, lockstep: Lockstep, moment: Moment | None = None) -> None:
        """Store a state, which is sound: the current one, or that of an earlier moment."""
        moment = moment or self.now
        states = self._of(moment).states
        place = bisect_right(states, order(moment), key=lambda state: order(state.moment))
        self._seconds = 0.0
        if place and states[place - 1].moment == moment:
            return
        begin = time.perf_counter()
        states.insert(place, StoredState.of(moment, lockstep, states[place - 1].worlds if place else ()))
        self.version += 1
        self._pause = max(SECONDS_BETWEEN_STATES, (time.perf_counter() - begin) / LARGEST_COST)
        self.store.make_room(self._branches.values(), self._branch)

    def replace_state(self, lockstep: Lockstep) -> None:
        """Replace the stored state by the current one, which a spin-up has changed."""
        self._branch.states[:] = [state for state in self._branch.states if state.moment != self.now]
        self.store_state(lockstep)

    # Ways.

    def start_for(self, moment: Moment) -> StoredState | None:
        """The last stored state before a moment; None: replay from the opened worlds."""
        branch = self._of(moment)
        while True:
            place = bisect_right(branch.states, order(moment), key=lambda state: order(state.moment))
            if place:
                return branch.states[place - 1]
            if branch.origin is None:
                return None
            moment, branch = min(moment, branch.origin, key=order), self._of(branch.origin)

    def complete(self, branch: int, cycle: int) -> Moment:
        """The moment of a branch after a cycle, with all its edits."""
        edits = self._of(Moment(branch)).edits
        done = bisect_right(edits, cycle, key=lambda edit: edit.cycle)
        for number, edit in enumerate(edits[:done]):
            if edit.cycle == cycle and isinstance(edit.request, Blur):  # a blur is a cycle of its own, after this one
                done = number
                break
        return Moment(branch, cycle, done)

    def edits_of(self, moment: Moment) -> list[Edit]:
        """All edits up to a moment."""
        return self._of(moment).edits[: moment.edits]

    def end_of(self, moment: Moment) -> Moment:
        """The end of a moment's branch."""
        branch = self._of(moment)
        return Moment(branch.number, branch.last, len(branch.edits))

    def journal_of(self, state: StoredState) -> Journal:
        """The journal that leads to a stored state."""
        return self._journal(state.moment)

    def journal(self, world: int) -> Journal:
        """The journal that leads to a present world."""
        journal = self._journal(self.now)
        return journal.of(world) if self._worlds > 1 else journal

    def _journal(self, moment: Moment) -> Journal:
        looks = (look for look in self._of(moment).looks if look.cycle <= moment.cycle)
        return Journal(tuple(self.edits_of(moment)), moment.cycle, tuple(looks))

    def store_first_state(self, number: int, lockstep: Lockstep) -> StoredState:
        """Store the first state of a branch or of its ancestor."""
        branch = self._branches[number]
        while branch.origin:
            branch = self._branches[branch.origin.branch]
        moment = Moment(branch.number, branch.first, 1)
        state = StoredState.of(moment, lockstep)
        branch.states.insert(0, state)
        self.version += 1
        return state

    def discard(self, number: int) -> None:
        """Delete a branch. Its descendants stay, and so does the current branch. Raises `UserError`."""
        if number == self.now.branch:
            raise UserError("the land is on this branch; go to another one first")
        gone = self._of(Moment(number))
        if any(branch.origin and branch.origin.branch == number for branch in self._branches.values()):
            raise UserError("other branches begin on this one; delete them first")
        del self._branches[gone.number]
        self.version += 1

    def seen(self, target: Moment | None) -> TimelineSeen:
        """A frozen copy for display."""
        branches = {
            branch.number: BranchSeen(
                branch.number,
                branch.name,
                branch.origin,
                branch.first,
                branch.last,
                tuple(branch.edits),
                tuple(StateSeen(state.moment, state.thumbnail) for state in branch.states),
            )
            for branch in self._branches.values()
        }
        return TimelineSeen(branches, target, *sizes_of(self._branches.values()))

    @property
    def _branch(self) -> Branch:
        return self._branches[self.now.branch]

    def _of(self, moment: Moment) -> Branch:
        if moment.branch not in self._branches:
            raise UserError("this branch of the time line was deleted")
        return self._branches[moment.branch]

    def _branch_to_extend(self) -> Branch:
        """The current branch if it ends now; otherwise a new branch, so that later moments stay."""
        branch = self._branch
        if (self.now.cycle, self.now.edits) >= (branch.last, len(branch.edits)):
            return branch
        self._highest += 1
        new = replace(branch, number=self._highest, origin=self.now, first=self.now.cycle, last=self.now.cycle)
        new.edits, new.states = branch.edits[: self.now.edits], []
        new.looks = [look for look in branch.looks if look.cycle <= self.now.cycle]
        if new.looks:  # time on the old branch does not count
            new.looks.append(msgspec.structs.replace(new.looks[-1], cycle=self.now.cycle))
        self._look_time = time.monotonic()
        self._branches[new.number] = new
        self.version += 1
        self.now = msgspec.structs.replace(self.now, branch=new.number)
        return new

    def restack(self, now: Moment, edits: Sequence[Edit]) -> Moment:
        """A branch with other edits up to the cycle of `now`, which leaves that of `now` where they differ.

        Returns its end. Raises `UserError` if the edits do not begin with the same worlds, or are not in order.
        """
        branch, edits = self._of(now), list(edits)
        old = branch.edits[: now.edits]
        if edits[:1] != old[:1] or any(isinstance(edit.request, Open) for edit in edits[1:]):
            raise UserError("other edits of a land begin with the same worlds")
        cycles = [edit.cycle for edit in edits]
        if cycles != sorted(cycles) or cycles[-1] > now.cycle:
            raise UserError("edits are in the order of their cycles, up to the present one")
        pairs = zip(old, edits, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: _effect(pair[0]) == _effect(pair[1]), pairs))
        begins = min(kept[same].cycle if same < len(kept) else now.cycle for kept in (old, edits))
        self._highest += 1
        new = replace(
            branch, number=self._highest, origin=Moment(branch.number, begins, same), first=begins, last=now.cycle
        )
        new.edits, new.states, new.looks = edits, [], [look for look in branch.looks if look.cycle <= now.cycle]
        self._branches[new.number] = new
        self.version += 1
        return Moment(new.number, now.cycle, len(edits))

    def _forget_after(self, cycle: int) -> None:
        """Drop what follows a cycle that was rolled back."""
        branch = self._branch
        branch.last = cycle
        self.version += 1
        branch.edits = [edit for edit in branch.edits if edit.cycle <= cycle]  # strokes only: others make a backup
        branch.states = [state for state in branch.states if state.moment.cycle <= cycle]
        branch.looks = [look for look in branch.looks if look.cycle <= cycle]
        self.now = Moment(branch.number, cycle, min(self.now.edits, len(branch.edits)))


def _effect(edit: Edit) -> tuple[int, LandRequest | None]:
    """What an edit does to the land."""
    return edit.cycle, edit.made

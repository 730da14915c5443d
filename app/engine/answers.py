"""How a session answers each kind of request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.brushes.stack import changed
from app.engine.branches import StoredState
from app.engine.lockstep import Lockstep
from app.engine.memory import NOTHING, Needs, check_memory
from app.engine.messages import (
    DiscardBranch,
    Edited,
    FrameBegan,
    GoTo,
    Look,
    Moment,
    Opened,
    OpenFailed,
    Pause,
    Request,
    Run,
    Save,
    Saved,
    SaveFailed,
    Step,
    Stopped,
    Watch,
)
from app.engine.player import Travel
from app.engine.runner import make_worlds
from app.engine.session_state import SessionState
from app.engine.simulator import SimulationError
from app.files import checkpoint
from app.files.journal import Journal, write_journal
from app.model.errors import UserError, explained
from app.model.snapshot import Snapshot
from app.scene.comparison import MOST_WORLDS
from app.scene.edits import Blur, CancelSnowballs, Change, Copy, Keep, Lay, Open, Refine, Restack, RollSnowballs, Stroke
from app.scene.scene import seen_as

log = logging.getLogger(__name__)


def answer(session: SessionState, request: Request) -> None:
    """Carry out a request. Where that fails, raise an error and change nothing."""
    ANSWERS[type(request)](session, request)


# Other worlds.


def _open(session: SessionState, request: Open) -> None:
    """Make worlds. No local name holds a half-made world, so that an error frees its memory."""
    before = session.status
    moment = session.leave()
    session.say(state="loading", message=f"loading {request.scenes[0].world.source}", stopped=None)
    try:
        lockstep, snapshots = _made(session, request)
        journal = _journal_before(request)
    except Exception as error:
        if not isinstance(error, UserError):
            log.exception("a world cannot be made")
        why = explained(error)
        if session.lockstep is None:
            session.say(state="failed", message=why, stopped=Stopped(why))
        else:
            session.say(state=before.state, message=before.message, stopped=before.stopped)
        session.report(OpenFailed(request, why))
        return
    session.give_up_travel()
    session.drop_backlog()
    session.timeline.begin(request, lockstep, journal)
    session.replace_worlds(lockstep)
    numbers = tuple(snapshot.world for snapshot in snapshots)
    session.report(Opened(request, numbers, session.timeline.now.branch, moment))
    session.showing.begin(snapshots)  # last, after the report on what they are


def _made(session: SessionState, request: Open) -> tuple[Lockstep, tuple[Snapshot, ...]]:
    """New worlds and their first snapshots. They replace the current worlds only if they can be shown."""
    before = NOTHING
    if session.lockstep is not None:
        before = Needs.of(session.lockstep.scenes, session.lockstep.worlds[0].ground.size, shown=True)
    lockstep = make_worlds(request.scenes, shown=True, given_back=before)
    lockstep.verify()
    return lockstep, session.showing.first(lockstep)


def _journal_before(request: Open) -> Journal | None:
    """The journal that led to a saved world, if any. A comparison begins without one."""
    if len(request.scenes) > 1 or not request.scenes[0].saved_world:
        return None
    return checkpoint.journal_before(Path(request.scenes[0].saved_world))


def _go_to(session: SessionState, request: GoTo) -> None:
    if session.lockstep is None:
        raise UserError("there is no world yet")
    timeline = session.timeline
    target = Moment(request.branch, request.cycle, max(request.edits or 1, 1))  # the first edit made the worlds
    if request.edits is None:
        target = timeline.complete(request.branch, request.cycle)
    _travel(session, request, target, session.leave(), pause=request.pause)


def _restack(session: SessionState, request: Restack) -> None:
    """Make the land again with another stack of edits."""
    session.sound_lockstep()
    before = session.leave()
    timeline = session.timeline
    target = timeline.restack(before, changed(timeline.edits_of(before), request))
    try:
        _travel(session, request, target, before, pause=False)
    except Exception:
        timeline.discard(target.branch)
        raise
    session.report(Edited(request, before))


def _travel(session: SessionState, request: GoTo | Restack, target: Moment, before: Moment, *, pause: bool) -> None:
    """Set out for a moment. The worlds were at `before`."""
    timeline = session.timeline
    edits = timeline.edits_of(target)
    start = timeline.start_for(target) or _begin_again(session, target)
    lockstep = Lockstep([kept.simulator() for kept in start.worlds])
    snapshots = session.showing.first(lockstep)
    # Everything that can fail is done; the worlds change only now.
    if pause:
        session.set_paused(True)
    if not session.travel:  # a backlog from during a travel is answered at its new end
        session.drop_backlog(Change, Stroke)
    session.give_up_travel()
    session.travel = Travel(start.moment, target, edits, request, before)
    timeline.travelled(session.travel.moment(lockstep), lockstep)
    session.replace_worlds(lockstep)
    session.showing.begin(snapshots)


def _begin_again(session: SessionState, target: Moment) -> StoredState:
    """Make the first state on the way to a moment of a saved world's journal, of which no states are kept."""
    opened = session.timeline.edits_of(target)[0]
    assert isinstance(opened.request, Open)
    lockstep = make_worlds(opened.request.scenes)
    Journal((opened,), opened.cycle).check_beginning(lockstep.cycle)
    return session.timeline.store_first_state(target.branch, lockstep)


def _discard_branch(session: SessionState, request: DiscardBranch) -> None:
    session.timeline.discard(request.branch)
    session.tell_of_timeline()


def _copy(session: SessionState, request: Copy) -> None:
    lockstep, world = session.lockstep, request.world
    if lockstep is None or world >= len(lockstep.simulators):
        raise UserError("there is no world yet that could be compared")
    worlds = len(lockstep.simulators)
    if worlds == MOST_WORLDS:
        raise UserError(f"{MOST_WORLDS} worlds are compared already; there can be no more")
    check_memory([lockstep.scenes[world]], *lockstep.worlds[world].shape, shown=True)
    _edit(session, request)
    session.showing.add()
    session.follow_worlds([*range(worlds), world])


def _keep(session: SessionState, request: Keep) -> None:
    worlds = request.worlds
    if session.lockstep is None or not worlds or max(worlds) >= len(session.lockstep.simulators):
        raise UserError("there is no such world to go on with")
    _edit(session, request)
    session.showing.keep_only(worlds)
    session.follow_worlds(worlds)


# Edits.


def _edit(session: SessionState, request: Copy | Keep | Blur | RollSnowballs | Lay) -> None:
    """Make an edit that can be undone."""
    before = session.leave()
    session.edit(request)
    session.report(Edited(request, before))
    session.showing.is_old = True


def _change(session: SessionState, request: Change) -> None:
    lockstep = session.lockstep
    if lockstep is None:
        return
    if request.applied_to(lockstep.scenes) != lockstep.scenes:
        versions, seen = lockstep.water_versions, _seen(lockstep)
        session.edit(request)
        session.say(milliseconds=lockstep.milliseconds)
        # A new sea level, colour of a kind or field is shown at once, even while no cycle runs.
        if lockstep.water_versions != versions or _seen(lockstep) != seen:
            session.showing.is_old = True
    session.say(scenes=session.scenes_asked_for)


def _seen(lockstep: Lockstep) -> list[Any]:
    """What of the scenes is visible without running a cycle."""
    return [(scene.traits, scene.fields) for scene in lockstep.scenes]


def _blur(session: SessionState, request: Blur) -> None:
    session.sound_lockstep()
    _edit(session, request)
    session.say(cycle=session.timeline.now.cycle)


def _refine(session: SessionState, request: Refine) -> None:
    """Replace the worlds by finer ones. If these cannot be made or shown, the current worlds continue."""
    lockstep = session.sound_lockstep()
    before = session.leave()
    finer = lockstep.refined(request.times, shown=True)
    snapshots = session.showing.first(finer)
    session.lockstep = finer
    session.note(request)
    session.pace.measure_anew()
    session.report(Edited(request, before))
    session.showing.begin(snapshots)


def _roll_snowballs(session: SessionState, request: RollSnowballs) -> None:
    lockstep = session.sound_lockstep()
    _edit(session, request)
    session.say(snowball_run=lockstep.snowball_run)


def _paint(session: SessionState, request: Stroke) -> None:
    """Paint a part of a stroke. The whole stroke can be undone."""
    if request.begins:
        session.stroke = None
    elif request.number != session.stroke:
        return  # the stroke could not begin, or belongs to another land
    session.sound_lockstep()
    session.stroke = request.number
    before = session.leave_soon() if request.begins else None
    session.edit(request)
    if before is not None:
        session.report(Edited(request, before))
    session.showing.is_old = session.showing.brush_waits = True


def _lay(session: SessionState, request: Lay) -> None:
    session.sound_lockstep()
    _edit(session, request)
    session.showing.brush_waits = True


# Files.


def _save(session: SessionState, request: Save) -> None:
    try:
        _write(session, request)
    except Exception as error:
        if not isinstance(error, UserError):
            log.exception("%s cannot be saved", request.path)
        session.report(SaveFailed(request.path, explained(error)))
    else:
        session.report(Saved(request.path))


def _write(session: SessionState, request: Save) -> None:
    if session.lockstep is None:
        raise UserError("there is no world to save yet")
    if request.world >= len(session.lockstep.simulators):  # another was opened since the window asked
        raise UserError("the world to save is no longer there")
    try:
        session.lockstep.verify()
    except SimulationError as error:  # the worlds were rolled back to a sound cycle
        session.fail(error)
    simulator = session.lockstep.simulators[request.world]
    scene = seen_as(simulator.scene, request.seen) if request.seen else simulator.scene
    journal = session.timeline.journal(request.world)
    if request.path.suffix.lower() == ".toml" and not request.is_scratch:
        write_journal(request.path, journal)
    else:
        checkpoint.save(request.path, simulator.world, scene, journal, compressed=not request.is_scratch)


# What is looked at.


def _look(session: SessionState, request: Look) -> None:
    if session.writer:
        session.writer.look = request
    if not session.travel:
        session.timeline.looked(request.view, request.camera)


def _follow_frame(session: SessionState, request: FrameBegan) -> None:
    if session.lockstep:
        session.pace.follow_frame(session.lockstep.scenes[0], request.screens)


ANSWERS: dict[type, Callable[[SessionState, Any], None]] = {
    Open: _open,
    GoTo: _go_to,
    Restack: _restack,
    DiscardBranch: _discard_branch,
    Copy: _copy,
    Keep: _keep,
    Change: _change,
    Blur: _blur,
    Refine: _refine,
    RollSnowballs: _roll_snowballs,
    CancelSnowballs: lambda session, _: session.end_snowball_run(),
    Stroke: _paint,
    Lay: _lay,
    Pause: lambda session, _: session.set_paused(True),
    Run: lambda session, _: session.set_paused(False),
    Step: lambda session, _: session.set_paused(True, 1),
    Save: _save,
    Look: _look,
    Watch: lambda session, request: session.showing.watch(request, session.lockstep),
    FrameBegan: _follow_frame,
}

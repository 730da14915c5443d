"""Undo, redo and the time line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.messages import DiscardBranch, GoTo
from app.model.errors import UserError
from app.window.undo import LandStep, ValueStep

if TYPE_CHECKING:
    from app.window.application import Application


def undo(application: Application) -> None:
    """Undo the last change of parameters or edit of the land."""
    if application.documents.restart_waits:
        application.documents.cancel_restart()
        return
    match application.undo.undo():
        case None:
            raise UserError("there is nothing to undo")
        case ValueStep(before=values) as step:
            application.editing.set_values(values)
        case LandStep(going=going, seen=seen) as step:
            assert going is not None
            application.history.go_to(going)
            if seen is not None:
                application.editing.set_values(seen.before)
    application.notices.say(f"undone: {step.name}")


def redo(application: Application) -> None:
    """Redo the last undone step."""
    match application.undo.redo():
        case None:
            raise UserError("there is nothing to redo")
        case ValueStep(after=values) as step:
            application.editing.set_values(values)
        case LandStep(after=moment, seen=seen) as step:
            assert moment is not None
            if seen is not None:
                application.editing.set_values(seen.after)
            application.history.go_to(GoTo(moment.branch, moment.cycle, moment.edits, pause=False))
    application.notices.say(f"redone: {step.name}")


def step_back(application: Application) -> None:
    """Pause, and go back by one cycle."""
    status = application.simulation.status
    moment = status.timeline.target or status.moment
    branch = status.timeline.branches.get(moment.branch)
    if branch is None or moment.cycle <= status.timeline.branches[status.timeline.root(moment.branch)].first:
        raise UserError("this is the first cycle")
    application.history.go_to(GoTo(moment.branch, moment.cycle - 1))


def go_to_cycle(application: Application, branch: int, cycle: int) -> None:
    """Pause, and go to a cycle of a branch."""
    application.history.go_to(GoTo(branch, cycle))


def discard_branch(application: Application, branch: int) -> None:
    """Delete a branch of the time line."""
    application.simulation.ask(DiscardBranch(branch))

"""Arrivals from the simulation: reports and snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.engine.messages import (
    Arrived,
    Edited,
    GivenUp,
    GoTo,
    Opened,
    OpenFailed,
    Refused,
    Saved,
    SaveFailed,
    SessionFailed,
    SessionWritten,
    SpinUpFailed,
    Stopped,
    SurveyFailed,
)
from app.model.numbers import spaced
from app.model.snapshot import Snapshot
from app.scene.edits import Change, Copy
from app.window.application import Application
from app.window.commands import files
from app.window.pointing import Pointing


class Arrivals:
    """Passes reports and snapshots of the simulation to the parts of the application."""

    def __init__(self, application: Application, pointing: Pointing) -> None:
        self._application = application
        self._pointing = pointing
        self._opened_worlds: frozenset[int] = frozenset()  # numbers of newly opened worlds, as opposed to restored ones

    def hear(self) -> None:
        """Handle all new reports."""
        for report in self._application.simulation.reports():
            self._hear(report)

    def _hear(self, report: object) -> None:
        application = self._application
        documents, notices = application.documents, application.notices
        match report:
            case Opened(request, worlds, branch, before):
                self._opened_worlds = frozenset(worlds)
                application.history.keep_view(before)
                documents.opened_on(branch, request)
                application.editing.add_land_step(request, before)
            case Edited(request, before):
                application.editing.add_land_step(request, before)
            case Arrived(request, worlds, before):
                application.undo.was_undone(request, before)
                if worlds:
                    application.history.arrive(before)
                application.history.ended(request)
            case OpenFailed(request, why):
                documents.take_name(request)
                for scene in request.scenes:  # what is no land is no recent file; too little memory is not its fault
                    if (source := scene.saved_world or scene.world.source) in why:
                        application.library.forget(Path(source).absolute())
                if why != application.simulation.status.error:  # shown in its own box
                    notices.complain(why)
                if application.snapshot is not None and documents.worlds_failed(request):
                    application.views.opening = False
            case Saved() | SaveFailed() if application.exporting.awaits(report.path):
                application.exporting.hear(report)
            case Saved() | SaveFailed() if application.versions.awaits(report.path):
                application.versions.hear(report, files.seen_pixels(application))
            case GivenUp(cycle):
                notices.say(f"cycle {spaced(cycle)} was given up; the land is paused as it was before it")
            case Saved(path):
                files.saved(application, path)
            case SaveFailed(path, why):
                files.save_failed(application, path, why)
            case SessionWritten(picture):
                files.session_written(application, picture)
            case SessionFailed(why):
                notices.complain(f"this session cannot be backed up: {why}")
            case SurveyFailed(why):
                notices.complain(f"rivers: {why}")
            case SpinUpFailed(why):
                notices.complain(why)
            case Refused(request, why):
                notices.complain(why)
                self._refuse(request)
            case Stopped():
                pass  # the status shows it

    def _refuse(self, request: object) -> None:
        """Revert a request that was refused."""
        documents = self._application.documents
        documents.take_name(request)
        if isinstance(request, Copy):
            documents.copy_failed()
        if isinstance(request, Change):
            documents.change_refused(request)
        if isinstance(request, GoTo):
            self._application.undo.cannot_be_undone(request)
        self._application.history.ended(request)

    def take(self, snapshots: Sequence[Snapshot]) -> None:
        """Show the newest snapshots, if any."""
        application = self._application
        documents, sides, views = application.documents, application.sides, application.views
        if snapshots:
            worlds = {shown.world for shown in sides.snapshots}
            are_others = worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            were_opened = are_others and not self._opened_worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            if were_opened:
                application.watching.asked_place = None
                views.relief_at_start = snapshots[0].highest - snapshots[0].lowest
                documents.worlds_came()
                application.sessions.worlds_came()
            elif are_others:
                application.cameras.renumber(
                    [shown.world for shown in sides.snapshots], [new.world for new in snapshots]
                )
            try:
                self._show(snapshots, are_others=are_others)  # last, as it may fail; the worlds exist in any case
            finally:
                application.simulation.give_back(sides.snapshots)
            if were_opened and not documents.are_shown:  # another one was asked for since
                views.camera.open(documents.seen_scene.camera)
        if views.opening and documents.are_shown and views.snapshot is not None:
            views.camera.open(documents.scene.camera)
            views.opening = not application.panel.is_laid_out  # before that, the free part of the scene is unknown

    def _show(self, snapshots: Sequence[Snapshot], *, are_others: bool) -> None:
        """Show snapshots. The number of pictures may change."""
        sides, views, cameras = self._application.sides, self._application.views, self._application.cameras
        count, before = len(sides.shown), views.aspect
        sides.show(snapshots)
        if len(sides.shown) != count:
            views.place = 0
            self._pointing.leave_minimap()
            views.lay_out()
            if not cameras.linked:
                cameras.unlink(views.worlds_shown, views.camera)
            for camera in cameras.in_use(views.worlds_shown):
                camera.keep_width_of_view(before)
        views.see_ground(of_others=are_others)

    def follow_keys(self) -> None:
        """Set keyed parameters to their values in the shown cycle."""
        application, documents = self._application, self._application.documents
        if application.snapshot is not None and any(scene.keys for scene in documents.scenes):
            before = documents.scene
            documents.reach(application.snapshot.cycle)
            if documents.scene is not before:
                application.views.follow(before)

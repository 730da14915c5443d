"""Travelling along the time line."""

from __future__ import annotations

from app.engine.messages import GoTo, Moment
from app.engine.thread import SimulationThread
from app.model.view_parameters import CameraParameters
from app.scene.edits import Restack
from app.window.documents import Documents
from app.window.views import Views


class History:
    """Goes to moments of the time line, and remembers the last view of each land."""

    def __init__(self, simulation: SimulationThread, documents: Documents, views: Views) -> None:
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._going: GoTo | Restack | None = None  # the pending request
        self._seen: dict[int, CameraParameters] = {}  # the last view of each land, by its first branch

    def go_to(self, going: GoTo) -> None:
        """Request the land of a moment."""
        self._leave(going)
        self._simulation.ask(going)

    def restack(self, request: Restack, name: str) -> None:
        """Request the land of the present moment with another stack of edits. `name` is that of the step."""
        self._leave(request)
        self._documents.ask_as_step(request, name)

    def _leave(self, going: GoTo | Restack) -> None:
        self._going = going
        self._seen[self._land] = self._views.camera.parameters()
        self._documents.leave_for_moment()

    @property
    def is_going(self) -> bool:
        """Whether a requested moment has not arrived yet."""
        return self._going is not None

    @property
    def _land(self) -> int:
        """The first branch of the shown land."""
        return self._land_of(self._simulation.status.moment)

    def _land_of(self, moment: Moment) -> int:
        """The first branch of the land of a moment."""
        return self._simulation.status.timeline.root(moment.branch)

    def keep_view(self, left: Moment) -> None:
        """Remember the view of a land that is left at a moment."""
        self._seen[self._land_of(left)] = self._views.camera.parameters()

    def ended(self, request: object) -> None:
        """A requested moment has arrived or was refused."""
        if self._going is request:
            self._going = None

    def arrive(self, before: Moment) -> None:
        """Another moment has arrived: restore the view of its land."""
        self._documents.came_to_moment(self._land)
        if self._land != self._land_of(before) and (camera := self._seen.get(self._land)):
            self._views.camera.open(camera)
        self._views.wake()

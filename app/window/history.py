"""The way through the time line."""

from __future__ import annotations

from app.engine.messages import GoTo, Moment
from app.engine.thread import SimulationThread
from app.model.view_parameters import CameraParameters
from app.window.documents import Documents
from app.window.views import Views


class History:
    """Goes to moments of the time line, and knows how each land was seen when it was left."""

    def __init__(self, simulation: SimulationThread, documents: Documents, views: Views) -> None:
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._going: GoTo | None = None  # to a moment of the time line, which is not reached yet
        self._seen: dict[int, CameraParameters] = {}  # lands, by their first branch, when they were left

    def go_to(self, going: GoTo) -> None:
        """Bring back the land of a moment of the time line."""
        self._going = going
        self._seen[self._land] = self._views.camera.parameters()
        self._simulation.ask(going)

    @property
    def is_going(self) -> bool:
        """Whether the land of another moment is still to come."""
        return self._going is not None

    @property
    def _land(self) -> int:
        """The first branch of the land that is shown."""
        return self._land_of(self._simulation.status.moment)

    def _land_of(self, moment: Moment) -> int:
        """The first branch of the land of a moment."""
        return self._simulation.status.timeline.root(moment.branch)

    def keep_view(self, left: Moment) -> None:
        """Keep how a land is seen that is left at a moment."""
        self._seen[self._land_of(left)] = self._views.camera.parameters()

    def ended(self, request: object) -> None:
        """A moment that was asked for is there, or cannot be."""
        if self._going is request:
            self._going = None

    def arrive(self, before: Moment) -> None:
        """Another moment is there: its land is seen as when it was left."""
        self._documents.came_to_moment(self._land)
        if self._land != self._land_of(before) and (camera := self._seen.get(self._land)):
            self._views.camera.open(camera)
        self._views.wake()

"""The way through the time line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.messages import GoTo, Moment
from app.model.view_parameters import CameraParameters

if TYPE_CHECKING:
    from app.window.application import Application


class History:
    """Goes to moments of the time line, and knows how each land was seen when it was left."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._going: GoTo | None = None  # to a moment of the time line, which is not reached yet
        self._views: dict[int, CameraParameters] = {}  # of lands, by their first branch, when they were left

    def go_to(self, going: GoTo) -> None:
        """Bring back the land of a moment of the time line."""
        self._going = going
        self._views[self._land] = self._application.camera.parameters()
        self._application.simulation.ask(going)

    @property
    def is_going(self) -> bool:
        """Whether the land of another moment is still to come."""
        return self._going is not None

    @property
    def _land(self) -> int:
        """The first branch of the land that is shown."""
        status = self._application.simulation.status
        return status.timeline.root(status.moment.branch)

    def keep_view(self, left: Moment) -> None:
        """Keep how a land is seen that is left at a moment."""
        self._views[self._application.simulation.status.timeline.root(left.branch)] = (
            self._application.camera.parameters()
        )

    def ended(self, request: object) -> None:
        """A moment that was asked for is there, or cannot be."""
        if self._going is request:
            self._going = None

    def arrive(self, before: Moment) -> None:
        """Another moment is there: its land is seen as when it was left."""
        application = self._application
        application.documents.came_to_moment(self._land)
        left = application.simulation.status.timeline.root(before.branch)
        if self._land != left and (camera := self._views.get(self._land)):
            application.camera.open(camera)
        application.wake()

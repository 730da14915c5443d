"""Drawing of the pictures: when they are due and have changed, interrupted by input."""

from __future__ import annotations

from imgui_bundle import imgui

from app.window.application import Application
from app.window.events import PointerMoved
from app.window.pace import Pace


class Drawing:
    """Draws the pictures of an application."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._pace = Pace()

    def draw(self) -> None:
        """Draw the pictures if they are due and have changed.

        Slow drawing is interrupted by input and continues in the next frame.
        """
        application = self._application
        sides, views = application.sides, application.views
        if application.snapshot is None or min(application.layout.pixel_size) < 1:
            return
        if self._is_covered:
            views.still_frames += 1
            return
        if not sides.drawing:
            if self.rest > 0.0 or application.brushing.awaits_land:
                return
            if not application.begin_picture():
                views.still_frames += 1
                return
            self._pace.begin_picture()
        views.wake()
        self._pace.begin_work()
        sides.go_on(lambda: self._pace.slice_is_over and self._user_waits)
        self._pace.end_work()

    @property
    def rest(self) -> float:
        """The seconds until the next picture is due."""
        return self._pace.rest(shared=self._shares_cores)

    @property
    def _is_covered(self) -> bool:
        """Whether the gallery covers a picture that is already drawn."""
        application = self._application
        return application.panel.is_covered and application.sides.pictures > 0 and application.recording.current is None

    @property
    def _shares_cores(self) -> bool:
        """Whether pictures take cores from the simulation while the view is at rest."""
        application, camera = self._application, self._application.camera
        runs = application.simulation.status.state in ("running", "compiling", "growing")
        moves = camera.dragging or camera.moving or camera.flying or application.brushing.is_drawing
        return runs and not moves and application.side.picture.software

    @property
    def _user_waits(self) -> bool:
        """Whether input waits that the panel or the next picture should show soon."""
        waiting = self._application.host.waiting_events()
        if imgui.is_any_item_active() or (waiting and imgui.get_io().want_capture_mouse):
            return True
        return any(not isinstance(event, PointerMoved) for event in waiting)

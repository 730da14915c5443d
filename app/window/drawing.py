"""Drawing of the pictures: when they are due and have changed, interrupted by input."""

from __future__ import annotations

from imgui_bundle import imgui

from app.window.application import Application
from app.window.events import KeyPressed, PointerMoved
from app.window.pace import Pace

HAND_RESTS = 0.3  # seconds after which a hand that moved the view is at rest
# Seconds between states of the land while the view follows a hand: their maps take as long as a picture.
LAND_WAITS = 1.0


class Drawing:
    """Draws the pictures of an application."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._pace = Pace()
        self._follows_until = 0.0  # the view follows a hand, by the clock of the application
        self._land_due = 0.0  # when the next state of the land is shown meanwhile

    def follow_hand(self) -> None:
        """Let the simulation give way while the view follows a hand, and no brush waits for the land."""
        application = self._application
        if application.brushing.is_drawing:
            self._follows_until = 0.0
        elif application.follows_hand:
            self._follows_until = application.time + HAND_RESTS
        application.simulation.give_way(self._follows)

    @property
    def _follows(self) -> bool:
        return self._application.time < self._follows_until

    def holds_land(self) -> bool:
        """Whether a new state of the land waits: for the picture of the last one, or for a hand that moves the view.

        Asked once in each frame: where the answer is no, the next state waits from now on.
        """
        application = self._application
        if application.sides.drawing:
            return True
        if not self._follows:
            self._land_due = 0.0
        elif application.time < self._land_due:
            return True
        else:
            self._land_due = application.time + LAND_WAITS
        return False

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
                views.still_frames += sides.settled  # until then a minimap is due soon
                return
            self._pace.begin_picture()
        refines = sides.refines
        views.wake()
        self._pace.begin_work()
        sides.go_on(lambda: self._key_waits or (self._pace.slice_is_over and self._user_waits))
        self._pace.end_work()
        if refines and sides.drawing:
            sides.abandon()  # the picture that comes of the input is due at once

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
    def _key_waits(self) -> bool:
        """Whether a key was pressed: the panel shows it first, in the next frame."""
        application = self._application
        waiting = application.host.waiting_events() if application.side.picture.software else ()
        return any(isinstance(event, KeyPressed) for event in waiting)

    @property
    def _user_waits(self) -> bool:
        """Whether input waits that the panel or the next picture should show soon."""
        waiting = self._application.host.waiting_events()
        if imgui.is_any_item_active() or (waiting and imgui.get_io().want_capture_mouse):
            return True
        return any(not isinstance(event, PointerMoved) for event in waiting)

"""The tour of presets in the window, with the camera on its path."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.scene.scene import Scene
from app.scene.tour import last_cycle
from app.window.viewer import Viewer
from app.window.window import Window


class Tour:
    """Opens the stops in turn, again and again. The first is already open."""

    def __init__(self, stops: Sequence[Scene], seconds: float) -> None:
        self._stops = stops
        self._seconds = seconds  # for each stop
        self._place = 0
        self._begun: float | None = None  # start time of the current stop

    def after_frame(self, viewer: Viewer, window: Window) -> None:
        """Go to the next stop when its time has come."""
        application = viewer.application
        if application.snapshot is None or not application.documents.are_shown:
            return
        now = time.monotonic()
        if self._begun is None:
            self._begun = now
            application.camera_follow.begin(last_cycle(self._stops[self._place]) / self._seconds)
        elif now - self._begun > self._seconds:
            self._place = (self._place + 1) % len(self._stops)
            self._begun = None
            application.open(self._stops[self._place])

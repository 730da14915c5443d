"""Mouse and wheel in the scene: camera, minimap, brush, and picking of cells."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from app.picture.sides import Side
from app.window.events import Button, ButtonPressed, ButtonReleased, PointerMoved, Scrolled

if TYPE_CHECKING:
    from app.window.application import Application

CLICK_REACH = 4.0  # logical units: a press that moves farther is a drag


class Pointing:
    """Handles mouse and wheel in the scene."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._on_minimap: Side | None = None  # the side whose minimap is being dragged on
        self._pressed_at: tuple[float, float] | None = None  # where a press began that may become a click
        self._pressed_with_control = False
        self._pressed_with_shift = False

    def let_go(self) -> None:
        """Forget a press or drag."""
        self.leave_minimap()
        self._pressed_at = None

    def leave_minimap(self) -> None:
        """Forget a drag on a minimap: its side may be gone."""
        self._on_minimap = None

    def press(self, event: ButtonPressed) -> None:
        side = self._point_at(event.x, event.y)
        camera, (left, top) = self._application.camera, self._application.layout.corner(side)
        if event.button is Button.LEFT and self._is_on_minimap(side, event.x, event.y):
            self._on_minimap = side
            self._look_at_minimap(side, event.x, event.y)
        elif self._is_for_brush(event):
            self._application.brushing.press(event.x, event.y, shift=event.shift, control=event.control)
        else:
            camera.press(replace(event, x=event.x - left, y=event.y - top))
            is_click = event.button is Button.LEFT and not camera.flying
            self._pressed_at = (event.x, event.y) if is_click else None
            self._pressed_with_control, self._pressed_with_shift = event.control, event.shift

    def release(self, event: ButtonReleased) -> None:
        application = self._application
        if event.button is Button.LEFT:
            application.brushing.release()
            if self._pressed_at is not None:
                place = self._cell_under(*self._pressed_at)
                if self._pressed_with_shift:
                    hit = application.views.ground_under(*self._pressed_at)
                    application.ruler.set((hit.x, hit.z) if hit is not None else None)
                elif self._pressed_with_control:
                    application.springs.toggle(place)
                else:
                    application.watching.ask_about_water(place)
            self.let_go()
        application.camera.release(event.button)

    def _is_for_brush(self, event: ButtonPressed) -> bool:
        """Whether a press is for the brush; with Alt it moves the camera."""
        is_drawing = self._application.brushing.is_active and not self._application.camera.flying
        return is_drawing and event.button is Button.LEFT and not event.alt

    def move(self, event: PointerMoved) -> None:
        brushing = self._application.brushing
        if brushing.is_active and not brushing.is_drawing and not self._application.camera.dragging:
            self._point_at(event.x, event.y)
        brushing.move(event.x, event.y)
        if self._pressed_at is not None and math.dist(self._pressed_at, (event.x, event.y)) > CLICK_REACH:
            self._pressed_at = None
        if self._on_minimap is not None:
            self._look_at_minimap(self._on_minimap, event.x, event.y)
        else:
            left, top = self._application.layout.corner(self._application.views.pointed_side)
            self._application.camera.move(replace(event, x=event.x - left, y=event.y - top))

    def scroll(self, event: Scrolled) -> None:
        brushing = self._application.brushing
        if brushing.scroll(event.amount, shift=event.shift, control=event.control, alt=event.alt):
            return
        left, top = self._application.layout.corner(self._point_at(event.x, event.y))
        self._application.camera.scroll(event.amount, event.x - left, event.y - top)

    def _point_at(self, x: float, y: float) -> Side:
        """Point at the side under the pointer, unless a drag or flight goes on."""
        application = self._application
        if not application.camera.dragging and not application.camera.flying and not application.brushing.is_drawing:
            application.views.point_at(application.layout.side_at(x, y))
        return application.views.pointed_side

    def _cell_under(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of the land under the pointer."""
        views = self._application.views
        hit = views.ground_under(x, y)
        return views.cell_at(hit.x, hit.z) if hit is not None else None

    def _is_on_minimap(self, side: Side, x: float, y: float) -> bool:
        left, top, width, height = self._application.layout.minimap(side)
        is_shown = self._application.recording.shows_minimap
        return is_shown and left <= x <= left + width and top <= y <= top + height

    def _look_at_minimap(self, side: Side, x: float, y: float) -> None:
        """Look at the place of the map that the pointer is on."""
        if side.snapshot is None:
            return
        left, top, width, height = self._application.layout.minimap(side)
        across, down = (x - left) / max(width, 1.0), (y - top) / max(height, 1.0)
        rows, columns = side.snapshot.shape
        cell_size = side.snapshot.cell_size
        self._application.camera.look_at(across * columns * cell_size, down * rows * cell_size)

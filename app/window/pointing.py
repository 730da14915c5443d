"""Mouse and wheel in the scene: they move the camera, look around on the minimap, and pick points of the land."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from pyglm import glm

from app.picture.sides import Side
from app.window.commands import changes
from app.window.events import Button, ButtonPressed, ButtonReleased, PointerMoved, Scrolled

if TYPE_CHECKING:
    from app.window.application import Application

CLICK_REACH = 4.0  # logical units: a press that moves farther is a drag


class Pointing:
    """The side that mouse and wheel are used on, and what a press has begun there."""

    def __init__(self, application: Application) -> None:
        self.place = 0  # of the side, from the left
        self._application = application
        self._on_minimap: Side | None = None  # a drag that began on its minimap goes on
        self._pressed_at: tuple[float, float] | None = None  # where a press began that may become a click on the land
        self._pressed_with_control = False

    @property
    def side(self) -> Side:
        return self._application.sides.shown[self.place]

    def reset(self) -> None:
        """Forget the side and the press: the number of sides has changed."""
        self.place = 0
        self._on_minimap = None

    def let_go(self) -> None:
        """Forget what a press has begun."""
        self._on_minimap = None
        self._pressed_at = None

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
            is_click = event.button is Button.LEFT and not event.shift and not camera.flying
            self._pressed_at = (event.x, event.y) if is_click else None
            self._pressed_with_control = event.control

    def release(self, event: ButtonReleased) -> None:
        application = self._application
        if event.button is Button.LEFT:
            application.brushing.release()
            if self._pressed_at is not None:
                place = self._cell_under(*self._pressed_at)
                if self._pressed_with_control:
                    changes.toggle_spring(application, place)
                else:
                    application.watching.ask_about_water(place)
            self.let_go()
        application.camera.release(event.button)

    def _is_for_brush(self, event: ButtonPressed) -> bool:
        """With Alt the camera is moved, as it is without a brush."""
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
            left, top = self._application.layout.corner(self.side)
            self._application.camera.move(replace(event, x=event.x - left, y=event.y - top))

    def scroll(self, event: Scrolled) -> None:
        brushing = self._application.brushing
        if brushing.scroll(event.amount, shift=event.shift, control=event.control, alt=event.alt):
            return
        left, top = self._application.layout.corner(self._point_at(event.x, event.y))
        self._application.camera.scroll(event.amount, event.x - left, event.y - top)

    def _point_at(self, x: float, y: float) -> Side:
        """Let mouse and wheel be used on the side that is under the pointer, unless they go on in another one."""
        application = self._application
        if not application.camera.dragging and not application.camera.flying and not application.brushing.is_drawing:
            place = application.layout.side_at(x, y)
            if place != self.place:
                self.place = place
                application.views.look_from_here()
        return self.side

    def _cell_under(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of the land under the pointer."""
        hit = self.ground_under(x, y)
        return self.cell_at(hit.x, hit.z) if hit is not None else None

    def _is_on_minimap(self, side: Side, x: float, y: float) -> bool:
        left, top, width, height = self._application.layout.minimap(side)
        is_shown = self._application.views.with_minimap
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

    # What a brush asks about the land.

    @property
    def painted_world(self) -> int | None:
        """The one of several that a brush changes: that under the pointer, or all where the panel changes all."""
        if not self._application.documents.comparing or self._application.documents.edited == "all":
            return None
        return self.place

    def ground_under(self, x: float, y: float) -> glm.vec3 | None:
        """The land under a place of the window, in picture space; None where there is none of the map."""
        left, top = self._application.layout.corner(self.side)
        hit, snapshot = self._application.camera.ground_under(x - left, y - top), self.side.snapshot
        if hit is None or snapshot is None:
            return None
        rows, columns = snapshot.shape
        side = snapshot.cell_size
        return hit if 0.0 <= hit.x < columns * side and 0.0 <= hit.z < rows * side else None

    def cell_at(self, east: float, south: float) -> tuple[int, int] | None:
        """Row and column of a place, in metres."""
        snapshot = self.side.snapshot
        if snapshot is None:
            return None
        return int(south // snapshot.cell_size), int(east // snapshot.cell_size)

    def height_at(self, east: float, south: float) -> float:
        """The height of the land at a place, in metres."""
        snapshot, cell = self.side.snapshot, self.cell_at(east, south)
        return float(snapshot.ground(cell, np.float64)) if snapshot is not None and cell is not None else 0.0

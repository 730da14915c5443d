"""Tells the simulation what is looked at: overlay, rivers, a place, the view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.engine.messages import Look, Watch
from app.engine.survey import wanted_by
from app.engine.thread import SimulationThread
from app.model.numbers import area_text
from app.model.overlays import OVERLAYS
from app.model.snapshot import SURVEYED_FLOW, Snapshot, lit_flow_path
from app.picture.sides import Sides
from app.window.documents import Documents
from app.window.notices import Notices
from app.window.views import Views

SECONDS_BETWEEN_LOOKS = 0.25
# In cells, and relative to the longer side: a click so near to a river means the river.
REACH_OF_A_RIVER, FARTHEST_REACH = 3, 0.01
MORE_THAN_ASIDE = 4.0  # ratio of a river's discharge to that of a clicked place


class Watching:
    """Tells the simulation which surveys picture and panel need, when that changes."""

    def __init__(
        self, simulation: SimulationThread, documents: Documents, sides: Sides, views: Views, notices: Notices
    ) -> None:
        self.asked_place: tuple[int, int] | None = None  # cell whose flow path is shown
        self._simulation = simulation
        self._documents = documents
        self._sides = sides
        self._views = views
        self._notices = notices
        self._is_clicked = False  # the cell, as long as its catchment is unknown
        self._watched: Watch | None = None  # last message to the simulation
        self._filling = 1  # grows when the filling restarts
        self._looked: Look | None = None  # last reported view
        self._looked_at = 0.0

    def ask_about(self, place: tuple[int, int] | None, *, look_there: bool = False) -> None:
        """Show the flow path from a cell (row, column), or none."""
        self.asked_place, self._is_clicked = place, False
        self._views.wake()
        snapshot = self._views.snapshot
        if look_there and place is not None and snapshot is not None:
            row, column = place
            self._views.camera.look_at((column + 0.5) * snapshot.cell_size, (row + 0.5) * snapshot.cell_size)

    def ask_about_water(self, place: tuple[int, int] | None) -> None:
        """Show the flow path from a clicked cell, or from the river close to it."""
        snapshot = self._views.snapshot
        self.ask_about(river_near(snapshot, place) if place and snapshot else place)
        self._is_clicked = place is not None

    def tell_of_catchment(self) -> None:
        """Report the catchment of a clicked place once it is known. A tiny one darkens no land."""
        snapshot = self._views.snapshot
        flow_path = snapshot.survey.flow_path if snapshot and snapshot.survey else None
        if not self._is_clicked or snapshot is None or flow_path is None or flow_path.asked != self.asked_place:
            return
        self._is_clicked = False
        area = area_text(flow_path.catchment)
        if not lit_flow_path(snapshot):
            self._notices.say(f"only {area} drain here; too little to highlight (profile: section Rivers)")
        else:
            self._notices.say(
                f"highlighted: the {area} that drain here, and their flow path (profile: section Rivers); Esc ends it"
            )

    def fill_again(self) -> None:
        """Restart the fronts of the filling."""
        self._filling += 1
        self._views.wake()

    def watch(self, *, rivers: bool, realism: bool) -> None:
        """Report to the simulation what is looked at, if that has changed.

        `rivers` and `realism`: whether these sections of the panel are visible.
        """
        view = self._documents.scene.view
        wanted = wanted_by(view, self.asked_place, self._filling)
        watch = Watch(
            view.overlay,
            replace(wanted, rivers=wanted.rivers or rivers, channels=rivers, realism=realism),
        )
        if watch != self._watched:
            self._watched = watch
            self._simulation.ask(watch)

    def tell_of_view(self, time: float) -> None:
        """Report the view to the simulation, if it has changed; `time` is in seconds."""
        is_soon = time - self._looked_at < SECONDS_BETWEEN_LOOKS
        if is_soon or self._views.snapshot is None or self._views.opening:
            return
        look = Look(self._documents.scene.view, self._views.camera.parameters())
        if look != self._looked:
            self._looked, self._looked_at = look, time
            self._simulation.ask(look)

    @property
    def waits_for_survey(self) -> bool:
        """Whether a requested flow path or filling is not complete yet."""
        surveys = [snapshot.survey for snapshot in self._sides.snapshots]
        wants_flow_path = self.asked_place is not None and any(not (survey and survey.flow_path) for survey in surveys)
        shows_filling = OVERLAYS[self._documents.scene.view.overlay].survey == "filling"
        is_filling = shows_filling and any(not (survey and survey.filled) for survey in surveys)
        return wants_flow_path or is_filling


def river_near(snapshot: Snapshot, place: tuple[int, int]) -> tuple[int, int]:
    """The cell (row, column) with the most water near a place, if it has far more than the place itself."""
    discharge = snapshot.layers.get(SURVEYED_FLOW)
    if discharge is None:
        return place
    row, column = place
    reach = max(REACH_OF_A_RIVER, round(FARTHEST_REACH * max(snapshot.shape)))
    top, left = max(row - reach, 0), max(column - reach, 0)
    around = discharge[top : row + reach + 1, left : column + reach + 1]
    south, east = np.unravel_index(int(around.argmax()), around.shape)
    if around[south, east] <= MORE_THAN_ASIDE * discharge[row, column]:
        return place
    return top + int(south), left + int(east)

"""What the simulation is told of what a person looks at: the overlay, rivers, a place, the view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.engine.messages import Look, Watch
from app.engine.survey import wanted_by
from app.engine.thread import SimulationThread
from app.model.overlays import OVERLAYS
from app.model.snapshot import Snapshot
from app.picture.sides import Sides
from app.window.documents import Documents
from app.window.notices import Notices
from app.window.views import Views

SECONDS_BETWEEN_LOOKS = 0.25
REACH_OF_A_RIVER = 3  # cells: a click so near to one means it
MORE_THAN_ASIDE = 4.0  # times the water of a place that a river near it has


class Watching:
    """Tells the simulation what to find out for the picture and the panel, where that has changed."""

    def __init__(
        self, simulation: SimulationThread, documents: Documents, sides: Sides, views: Views, notices: Notices
    ) -> None:
        self.asked_place: tuple[int, int] | None = None  # row and column whose flow path is shown
        self._simulation = simulation
        self._documents = documents
        self._sides = sides
        self._views = views
        self._notices = notices
        self._watched: Watch | None = None  # what the simulation knows of it
        self._filling = 1  # grows when the filling restarts
        self._looked: Look | None = None  # what the simulation knows of view and camera
        self._looked_at = 0.0

    def ask_about(self, place: tuple[int, int] | None, *, look_there: bool = False) -> None:
        """Follow the water of a place (row, column) to the ocean, or of none."""
        self.asked_place = place
        self._views.wake()
        snapshot = self._views.snapshot
        if look_there and place is not None and snapshot is not None:
            row, column = place
            self._views.camera.look_at((column + 0.5) * snapshot.cell_size, (row + 0.5) * snapshot.cell_size)

    def ask_about_water(self, place: tuple[int, int] | None) -> None:
        """Follow the water of a place that a person has pointed at, or of the river that is close to it."""
        snapshot = self._views.snapshot
        self.ask_about(river_near(snapshot, place) if place and snapshot else place)
        if place is not None:
            self._notices.say("lit: what drains here, and the way of its water (profile: section Rivers); Esc ends it")

    def fill_again(self) -> None:
        """Restart the fronts of the filling."""
        self._filling += 1
        self._views.wake()

    def watch(self, *, rivers: bool, realism: bool) -> None:
        """Report to the simulation what is looked at, where that has changed.

        `rivers` and `realism` are whether the panel shows what is found out about them.
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
        """Report to the simulation how the land is seen, where that has changed; `time` is in seconds."""
        is_soon = time - self._looked_at < SECONDS_BETWEEN_LOOKS
        if is_soon or self._views.snapshot is None or self._views.opening:
            return
        look = Look(self._documents.scene.view, self._views.camera.parameters())
        if look != self._looked:
            self._looked, self._looked_at = look, time
            self._simulation.ask(look)

    @property
    def waits_for_survey(self) -> bool:
        """Whether something about rivers is asked for that the picture does not show yet, or that moves on."""
        surveys = [snapshot.survey for snapshot in self._sides.snapshots]
        wants_course = self.asked_place is not None and any(not (survey and survey.course) for survey in surveys)
        shows_filling = OVERLAYS[self._documents.scene.view.overlay].survey == "filling"
        is_filling = shows_filling and any(not (survey and survey.filled) for survey in surveys)
        return wants_course or is_filling


def river_near(snapshot: Snapshot, place: tuple[int, int]) -> tuple[int, int]:
    """The cell (row, column) with the most water near a place, where that is far more than at the place itself."""
    discharge = snapshot.layers.get("discharge")
    if discharge is None:
        return place
    row, column = place
    top, left = max(row - REACH_OF_A_RIVER, 0), max(column - REACH_OF_A_RIVER, 0)
    around = discharge[top : row + REACH_OF_A_RIVER + 1, left : column + REACH_OF_A_RIVER + 1]
    south, east = np.unravel_index(int(around.argmax()), around.shape)
    if around[south, east] <= MORE_THAN_ASIDE * discharge[row, column]:
        return place
    return top + int(south), left + int(east)

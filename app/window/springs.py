"""Springs: places where water comes out of the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.model.errors import UserError
from app.model.springs import Spring, read_springs, write_springs
from app.window.documents import Documents
from app.window.editing import Editing
from app.window.notices import Notices
from app.window.views import Views

DROPS_OF_A_SPRING = 100.0  # per cycle, of a spring that is placed by a click
REACH_OF_A_SPRING = 0.02  # relative to the map: a click nearer to a spring removes it


class Springs:
    """Adds, changes and removes springs of the edited worlds."""

    def __init__(self, documents: Documents, editing: Editing, views: Views, notices: Notices) -> None:
        self._documents = documents
        self._editing = editing
        self._views = views
        self._notices = notices

    @property
    def all(self) -> tuple[Spring, ...]:
        return tuple(read_springs(self._documents.scene.droplets.springs))

    def toggle(self, cell: tuple[int, int] | None) -> None:
        """Add a spring at a cell (row, column), or remove the one near it."""
        snapshot = self._views.snapshot
        if cell is None or snapshot is None:
            return
        south, east = ((index + 0.5) / count for index, count in zip(cell, snapshot.shape, strict=True))
        springs = self.all
        kept = tuple(
            spring for spring in springs if math.hypot(spring.south - south, spring.east - east) > REACH_OF_A_SPRING
        )
        adds = len(kept) == len(springs)
        self._set((*kept, Spring(south, east, DROPS_OF_A_SPRING)) if adds else kept)
        self._notices.say("spring added" if adds else "spring removed")

    def set_drops(self, number: int, drops: float) -> None:
        """Set how many drops a spring gives in a cycle."""
        springs = list(self.all)
        springs[number] = springs[number]._replace(drops=drops)
        self._set(springs)

    def remove(self, number: int) -> None:
        springs = self.all
        self._set((*springs[:number], *springs[number + 1 :]))

    def _set(self, springs: Sequence[Spring]) -> None:
        try:
            self._editing.change("droplets.springs", write_springs(springs))
        except UserError as error:
            self._notices.complain(str(error))

"""Showing worlds: snapshots, and surveys of rivers."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence

from app.engine.builds import RIVERS, STREAMS, WAVES
from app.engine.lockstep import Lockstep
from app.engine.messages import Report, SurveyFailed, Watch
from app.engine.publishing import LARGEST_KEPT, Publisher
from app.engine.readiness import Readiness
from app.engine.surveys import Surveys
from app.model.errors import explained
from app.model.layers import side_by_side
from app.model.overlays import OVERLAYS
from app.model.snapshot import Snapshot

log = logging.getLogger(__name__)

WAIT_FOR_PICTURE = 10.0  # seconds


class Showing:
    def __init__(self, readiness: Readiness, report: Callable[[Report], None]) -> None:
        self.publisher = Publisher()
        self.first_picture_shown = threading.Event()  # kernels are loaded only afterwards
        self.is_old = False  # the last snapshots are out of date
        self.brush_waits = False  # replace snapshots that were not taken yet
        self.tell_of_touch: Callable[[], None] = lambda: None  # called when a touch of a brush is published
        self._latest_picture = math.inf  # deadline: a hidden window must not delay kernels
        self._survey_waits = False
        self._has_waves = False
        self._overlay = "none"
        self._readiness = readiness
        self._report = report
        self._surveys = Surveys()

    # The worlds that are shown.

    def first(self, lockstep: Lockstep) -> tuple[Snapshot, ...]:
        """The first snapshots of new worlds. Raises an error if they cannot be shown."""
        return self.publisher.first(lockstep.worlds, self._overlay)

    def begin(self, snapshots: tuple[Snapshot, ...]) -> None:
        """Show new worlds, beginning with these snapshots."""
        self._latest_picture = min(self._latest_picture, time.monotonic() + WAIT_FOR_PICTURE)
        self._surveys.begin(len(snapshots))
        self.is_old = False
        self.publisher.begin(snapshots)

    def add(self) -> None:
        """Add a world to the comparison."""
        self.publisher.add()
        self._surveys.add()

    def keep_only(self, worlds: Sequence[int]) -> None:
        """Keep only these worlds, in order."""
        self.publisher.keep_only(worlds)
        self._surveys.keep_only(worlds)

    # What is looked at.

    def watch(self, request: Watch, lockstep: Lockstep | None) -> None:
        self.is_old = self.is_old or request.overlay != self._overlay  # even while no cycle runs
        self._overlay, self._surveys.wanted = request.overlay, request.wanted
        if lockstep is not None and not set(side_by_side("rates")).isdisjoint(OVERLAYS[self._overlay].layers):
            # Compile kernels for rates as soon as their overlay is shown, so that a brush need not wait long.
            for simulator in lockstep.simulators:
                self._readiness.missing(simulator.unprepared(rated=True), simulator)

    def waits_for_first(self, lockstep: Lockstep | None) -> bool:
        """Whether kernels wait until a first picture is shown."""
        if self.first_picture_shown.is_set() or time.monotonic() > self._latest_picture:
            return False
        return lockstep is not None and bool(lockstep.unprepared())

    # Publishing.

    def is_due(self, lockstep: Lockstep) -> bool:
        """Whether there is something new to publish, and free arrays."""
        publisher = self.publisher
        if publisher.is_full and not (self.brush_waits and publisher.has_place):
            return False
        return self.is_old or self._survey_is_due(lockstep)

    def publish(self, lockstep: Lockstep) -> None:
        """Publish snapshots with all that is wanted; a touch of a brush is shown before the survey that it asks for."""
        self._survey_waits = self.brush_waits and not self._survey_waits  # for one snapshot at most
        if self._survey_is_due(lockstep) and not self._survey_waits:
            try:
                self._surveys.find(lockstep)
            except Exception as error:
                log.exception("the survey failed")
                self._report(SurveyFailed(explained(error)))
        # First: a failure is not retried until something changes.
        is_touched = self.brush_waits
        self.is_old = self.brush_waits = False
        lockstep.set_room_aside(LARGEST_KEPT)  # a large one and new snapshots are never in memory together
        self.publisher.publish(lockstep.worlds, self._surveys.newest, self._overlay)
        if is_touched:
            self.tell_of_touch()

    def load_waves(self, lockstep: Lockstep | None) -> None:
        """Load the kernels of drawn waves, after those of cycles. Until then waves run straight to the coast."""
        if self._has_waves or lockstep is None or not self.first_picture_shown.is_set() or lockstep.unprepared():
            return
        if any(world.water_version or math.isfinite(world.sea_level) for world in lockstep.worlds):
            self._has_waves = self._readiness.is_ready(WAVES, lockstep.simulators[0])

    def survey_waits(self, lockstep: Lockstep | None) -> bool:
        """Whether a survey is to be made and published, even while no cycle runs."""
        return lockstep is not None and not self.publisher.is_full and self._survey_is_due(lockstep)

    def _survey_is_due(self, lockstep: Lockstep) -> bool:
        wanted = self._surveys.wanted
        if (wanted.anything and not self.first_picture_shown.is_set()) or not self._surveys.are_due(lockstep):
            return False
        if wanted.streams_alone:  # streams wait for the kernels of cycles
            return not lockstep.unprepared() and self._readiness.is_ready(STREAMS, lockstep.simulators[0])
        return not wanted.anything or self._readiness.is_ready(RIVERS, lockstep.simulators[0])

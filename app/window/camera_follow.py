"""The camera following its keys on the time line, with the cycles or at its own speed."""

from __future__ import annotations

import math

from app.engine.thread import SimulationThread
from app.model.camera_path import CameraKey, read_camera_path
from app.model.snapshot import Snapshot
from app.picture.camera_path import CameraPath
from app.picture.ground import Ground
from app.window.documents import Documents
from app.window.views import Views

CATCHING_UP = 0.6  # seconds of smoothing: cycles arrive in jumps
FARTHEST_BEHIND = 200.0  # cycles; beyond this, as after a jump on the time line, it moves at once


class CameraFollow:
    """Moves the camera of all sides while switched on. Any drag or flight switches it off."""

    def __init__(self, simulation: SimulationThread, documents: Documents, views: Views) -> None:
        self.following = False
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._cycle = 0.0  # present cycle of the camera
        self._cycles_per_second: float | None = None  # None: follow the land
        self._path: tuple[object, CameraPath] | None = None  # with its inputs

    def begin(self, cycles_per_second: float | None = None) -> None:
        """Follow the keys from the current cycle, with the land or at a given speed."""
        self.following = True
        self._cycle = float(self._simulation.status.cycle)
        self._cycles_per_second = cycles_per_second

    def look_at_key(self, cycle: int) -> None:
        """Go to the key of a cycle."""
        self.following = False
        self._cycle = float(cycle)
        keys = read_camera_path(self._documents.seen_scene.view.camera_path)
        if keys and self._views.snapshot is not None:
            self._place(keys, self._views.snapshot)

    def update(self, dt: float) -> None:
        """Let `dt` seconds pass."""
        snapshot = self._views.snapshot
        if not self.following or snapshot is None:
            return
        keys = read_camera_path(self._documents.seen_scene.view.camera_path)
        if not keys:
            self.following = False
            return
        if self._views.camera.dragging or self._views.camera.flying:
            self.following = False
            return
        before, cycle = self._cycle, float(snapshot.cycle)
        if self._cycles_per_second is not None:
            self._cycle += dt * self._cycles_per_second
        elif abs(cycle - self._cycle) > FARTHEST_BEHIND:
            self._cycle = cycle
        else:
            self._cycle += (cycle - self._cycle) * (1.0 - math.exp(-dt / CATCHING_UP))
        if self._cycle != before or self._path is None or self._path[0] != self._made_from(keys, snapshot):
            self._place(keys, snapshot)

    def _place(self, keys: tuple[CameraKey, ...], snapshot: Snapshot) -> None:
        """Place the camera on the path through these keys, at its cycle."""
        made_from = self._made_from(keys, snapshot)
        if self._path is None or self._path[0] != made_from:
            ground = Ground(snapshot, self._documents.seen_scene.view.exaggeration)
            self._path = made_from, CameraPath(keys, ground, made_from[-1])
        self._views.camera.place(self._path[1].at(self._cycle))

    def _made_from(self, keys: tuple[CameraKey, ...], snapshot: Snapshot) -> tuple[object, int, int, float, float]:
        """The inputs of the path."""
        exaggeration = self._documents.seen_scene.view.exaggeration
        return keys, snapshot.world, snapshot.ground_version, exaggeration, self._views.aspect

    @property
    def moving(self) -> bool:
        """Whether the camera is still moving."""
        snapshot = self._views.snapshot
        if self.following and self._cycles_per_second is not None:
            return True
        return self.following and snapshot is not None and abs(snapshot.cycle - self._cycle) > 0.01

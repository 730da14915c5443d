"""Views: the camera of each side, its ground, and the land under the pointer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec
import numpy as np
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.ground import Ground
from app.picture.sides import Side, Sides
from app.scene.scene import Scene
from app.window.camera_control import CameraControl
from app.window.cameras import Cameras
from app.window.documents import Documents
from app.window.layout import Layout


class Views:
    """The cameras of all sides, linked or each its own, and the side that mouse and keys act on."""

    def __init__(self, sides: Sides, layout: Layout, cameras: Cameras, documents: Documents) -> None:
        self.place = 0  # index of the side that is pointed at
        self.opening = True  # the next world is seen from the scene's opening view
        self.relief_at_start = 0.0  # metres, of the world when it was shown first
        self.still_frames = 0  # frames since the last change on the screen
        self._sides = sides
        self._layout = layout
        self._cameras = cameras
        self._documents = documents

    @property
    def pointed_side(self) -> Side:
        """The side that mouse and keys act on."""
        return self._sides.shown[self.place]

    @property
    def camera(self) -> CameraControl:
        """The camera that mouse and keys move: the common one, or that of the pointed side."""
        return self.camera_of(self.pointed_side)

    def camera_of(self, side: Side) -> CameraControl:
        return self._cameras.of(side.snapshot.world if side.snapshot else None)

    @property
    def side(self) -> Side:
        """The side that the panel describes."""
        return self._sides.shown[min(self._documents.edited_worlds[0], len(self._sides.shown) - 1)]

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that the panel describes."""
        return self.side.snapshot

    @property
    def seen_scene(self) -> Scene:
        """The shown scene with the current view as its opening view."""
        return msgspec.structs.replace(self._documents.scene, camera=self.camera.parameters())

    @property
    def aspect(self) -> float:
        """The aspect ratio of each view."""
        return self._layout.view_aspect(len(self._sides.shown))

    @property
    def worlds_shown(self) -> list[int]:
        return [snapshot.world for snapshot in self._sides.snapshots]

    def wake(self) -> None:
        """Draw again: something has changed."""
        self.still_frames = 0

    def lay_out(self) -> None:
        """Lay out the pictures and tell cameras their areas."""
        self._layout.apply()
        for side in (*self._sides.shown, self.pointed_side):  # the pointed side last: it counts for a common camera
            self._layout.fit(self.camera_of(side), side)

    def link(self, linked: bool) -> None:
        """Link all cameras, or give each world its own, starting from the current view."""
        if linked:
            self._cameras.link(self.camera)
        else:
            self._cameras.unlink(self.worlds_shown, self.camera)
        self.look_from_here()
        self.wake()

    def point_at(self, place: int) -> None:
        """Let mouse and keys act on another side."""
        if place != self.place:
            self.place = place
            self.look_from_here()

    def look_from_here(self) -> None:
        """Use the ground of the pointed side for the camera."""
        self.lay_out()
        self.see_ground()

    def look_at_part(self, south: float, east: float) -> None:
        """Look at a place, given as fractions of the map."""
        snapshot = self.snapshot
        if snapshot is not None:
            rows, columns = snapshot.shape
            self.camera.look_at(east * columns * snapshot.cell_size, south * rows * snapshot.cell_size)

    def places_of(self, side: Side, points: Iterable[glm.vec3]) -> list[tuple[float, float] | None]:
        """Window positions of points of a side's land, in logical units; None if out of view."""
        area, camera = side.area, self.camera_of(side).camera()
        camera = replace(camera, middle=area.free[0] + area.free[1] - 1.0)
        (left, top), scale = self._layout.corner(side), self._layout.pixels_per_unit
        places: list[tuple[float, float] | None] = []
        for point in points:
            seen = camera.place_of(point, area.width / max(area.height, 1))
            if seen is None or max(map(abs, seen)) > 1.0:
                places.append(None)
                continue
            x, y = 0.5 + 0.5 * seen[0], 0.5 - 0.5 * seen[1]
            places.append((left + x * area.width / scale, top + y * area.height / scale))
        return places

    def follow(self, before: Scene) -> None:
        """Update the view after a change of the scene."""
        scene = self._documents.scene
        if scene.camera != before.camera:
            self.camera.open(scene.camera, at_once=False)
        if scene.view.exaggeration != before.view.exaggeration:
            self.see_ground()
        self.wake()

    def see_ground(self, *, of_others: bool = False) -> None:
        """Give the cameras the current ground."""
        snapshots = self._sides.snapshots
        if not snapshots:
            return
        exaggeration = self._documents.seen_scene.view.exaggeration
        grounds = [Ground(snapshot, exaggeration) for snapshot in snapshots]
        if self._cameras.linked:
            self._see(self.camera, grounds.pop(self.place), *grounds, is_other=of_others)
            return
        for snapshot, ground in zip(snapshots, grounds, strict=True):
            self._see(self._cameras.of(snapshot.world), ground, is_other=of_others)

    def _see(self, camera: CameraControl, *grounds: Ground, is_other: bool) -> None:
        see = camera.see_another if is_other and not self.opening else camera.see
        see(*grounds)

    # The land under the pointer.

    @property
    def painted_world(self) -> int | None:
        """The world that a brush paints: the one under the pointer, or None for all."""
        if not self._documents.comparing or self._documents.edited == "all":
            return None
        return self.place

    def ground_under(self, x: float, y: float) -> glm.vec3 | None:
        """The land under a window position, in picture space; None outside the map."""
        side = self.pointed_side
        left, top = self._layout.corner(side)
        hit, snapshot = self.camera.ground_under(x - left, y - top), side.snapshot
        if hit is None or snapshot is None:
            return None
        height, width = (count * snapshot.cell_size for count in snapshot.shape)
        return hit if 0.0 <= hit.x < width and 0.0 <= hit.z < height else None

    def cell_at(self, east: float, south: float) -> tuple[int, int] | None:
        """Row and column of a place in metres."""
        snapshot = self.pointed_side.snapshot
        if snapshot is None:
            return None
        return int(south // snapshot.cell_size), int(east // snapshot.cell_size)

    def height_at(self, east: float, south: float) -> float:
        """The height of the land at a place, both in metres."""
        snapshot, cell = self.pointed_side.snapshot, self.cell_at(east, south)
        return float(snapshot.ground(cell, np.float64)) if snapshot is not None and cell is not None else 0.0

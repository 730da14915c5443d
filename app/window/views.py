"""How each side sees its land: its camera, and the ground that the camera goes by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pyglm import glm

from app.picture.ground import Ground
from app.picture.sides import Side
from app.scene.scene import Scene
from app.window.camera_control import CameraControl

if TYPE_CHECKING:
    from app.window.application import Application


class Views:
    """The cameras of all sides, linked or each its own."""

    def __init__(self, application: Application) -> None:
        self._application = application

    @property
    def camera(self) -> CameraControl:
        """The one that mouse and keys move: that of all sides, or of the one that is pointed at."""
        return self.camera_of(self._application.pointing.side)

    def camera_of(self, side: Side) -> CameraControl:
        return self._application.cameras.of(side.snapshot.world if side.snapshot else None)

    @property
    def worlds_shown(self) -> list[int]:
        return [snapshot.world for snapshot in self._application.sides.snapshots]

    @property
    def with_minimap(self) -> bool:
        """Whether a minimap lies over the scene."""
        application = self._application
        return application.documents.seen_scene.view.minimap and not application.recording.hides_minimap

    def link(self, linked: bool) -> None:
        """Let all worlds be seen from one camera, or each from its own. It begins with what is seen now."""
        if linked:
            self._application.cameras.link(self.camera)
        else:
            self._application.cameras.unlink(self.worlds_shown, self.camera)
        self.look_from_here()
        self._application.wake()

    def look_from_here(self) -> None:
        """Another side is pointed at: its ground is what the camera goes by."""
        self._application.lay_out()
        self.see_ground()

    def look_at_part(self, south: float, east: float) -> None:
        """Look at a place, told by the parts of the map's height and width."""
        snapshot = self._application.snapshot
        if snapshot is not None:
            rows, columns = snapshot.shape
            self.camera.look_at(east * columns * snapshot.cell_size, south * rows * snapshot.cell_size)

    def places_of(self, side: Side, points: Iterable[glm.vec3]) -> list[tuple[float, float] | None]:
        """Where points of a side's land are seen, in logical units; None where one is not."""
        layout, area, camera = self._application.layout, side.area, self.camera_of(side).camera()
        camera = replace(camera, middle=area.free[0] + area.free[1] - 1.0)
        (left, top), scale = layout.corner(side), layout.pixels_per_unit
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
        """See the land as the scene says now, which was another one before."""
        scene = self._application.documents.scene
        if scene.camera != before.camera:
            self.camera.open(scene.camera, at_once=False)
        if scene.view.exaggeration != before.view.exaggeration:
            self.see_ground()
        self._application.wake()

    def see_ground(self, *, of_others: bool = False) -> None:
        """Let the cameras go by the ground that is shown now."""
        application, snapshots = self._application, self._application.sides.snapshots
        if not snapshots:
            return
        exaggeration = application.documents.seen_scene.view.exaggeration
        grounds = [Ground(snapshot, exaggeration) for snapshot in snapshots]
        if application.cameras.linked:
            self._see(self.camera, grounds.pop(application.pointing.place), *grounds, is_other=of_others)
            return
        for snapshot, ground in zip(snapshots, grounds, strict=True):
            self._see(application.cameras.of(snapshot.world), ground, is_other=of_others)

    def _see(self, camera: CameraControl, *grounds: Ground, is_other: bool) -> None:
        see = camera.see_another if is_other and not self._application.opening else camera.see
        see(*grounds)

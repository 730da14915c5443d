"""The cameras of worlds that are compared: one for all of them, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

from app.window.camera_control import CameraControl


class Cameras:
    """The camera of each world. Worlds are identified by their numbers in snapshots."""

    def __init__(self) -> None:
        self.linked = True
        self._common = CameraControl()
        self._own: dict[int, CameraControl] = {}

    def of(self, world: int | None) -> CameraControl:
        """The camera of a world; for None, or a world without its own, the common one."""
        return self._common if self.linked or world is None else self._own.get(world, self._common)

    def in_use(self, worlds: Sequence[int]) -> list[CameraControl]:
        """The cameras of these worlds, without repetition."""
        return list({id(camera): camera for camera in map(self.of, worlds)}.values()) or [self._common]

    def renumber(self, before: Sequence[int], now: Sequence[int]) -> None:
        """Worlds have new numbers and keep their cameras."""
        self._own = {new: self._own[old] for old, new in zip(before, now, strict=False) if old in self._own}

    def unlink(self, worlds: Sequence[int], seen: CameraControl) -> None:
        """Give each world its own camera; new ones start as copies of `seen`."""
        self.linked = False
        self._own = {world: self._own.get(world) or seen.copy() for world in worlds}

    def link(self, seen: CameraControl) -> None:
        """Use `seen` for all worlds."""
        self._common, self._own, self.linked = seen, {}, True

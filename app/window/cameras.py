"""The cameras of worlds that are compared: one for all of them, or one for each."""

from __future__ import annotations

from collections.abc import Sequence

from app.window.camera_control import CameraControl


class Cameras:
    """Where each world is seen from. Worlds are known by their numbers in snapshots."""

    def __init__(self) -> None:
        self.linked = True
        self._common = CameraControl()
        self._own: dict[int, CameraControl] = {}

    def of(self, world: int | None) -> CameraControl:
        """The camera of a world; of None, and of one that has none of its own, the common one."""
        return self._common if self.linked or world is None else self._own.get(world, self._common)

    def in_use(self, worlds: Sequence[int]) -> list[CameraControl]:
        """The cameras that these worlds are seen from, each once."""
        return list({id(camera): camera for camera in map(self.of, worlds)}.values()) or [self._common]

    def renumber(self, before: Sequence[int], now: Sequence[int]) -> None:
        """Worlds have other numbers now. They are seen from where they were seen before."""
        self._own = {new: self._own[old] for old, new in zip(before, now, strict=False) if old in self._own}

    def unlink(self, worlds: Sequence[int], seen: CameraControl) -> None:
        """Give each world a camera of its own. One that had none begins where `seen` is."""
        self.linked = False
        self._own = {world: self._own.get(world) or seen.copy() for world in worlds}

    def link(self, seen: CameraControl) -> None:
        """See all worlds from where `seen` is."""
        self._common, self._own, self.linked = seen, {}, True

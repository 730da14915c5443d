"""The open scenes, and which of them is edited."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from app.scene.comparison import NAMES, Letter
from app.scene.scene import Scene

Edited = Letter | Literal["all"]


class OpenScenes:
    """One scene, or several that are compared, one per world.

    `edited` is the letter of the edited world, or all.
    """

    def __init__(self, scenes: tuple[Scene, ...]) -> None:
        self.scenes = scenes  # as they are now
        self.edited: Edited = self._last_letter
        self._opened = scenes

    @property
    def comparing(self) -> bool:
        """Whether there are several worlds, including requested ones."""
        return len(self.scenes) > 1

    @property
    def edited_worlds(self) -> tuple[int, ...]:
        """The indices of the edited worlds; the panel shows the first."""
        if not self.comparing:
            return (0,)
        return tuple(range(len(self.scenes))) if self.edited == "all" else (NAMES.index(self.edited),)

    @property
    def choices(self) -> tuple[Edited, ...]:
        """The possible values of `edited`."""
        return (*NAMES[: len(self.scenes)], "all")

    @property
    def _last_letter(self) -> Edited:
        return NAMES[len(self.scenes) - 1]

    @property
    def scene(self) -> Scene:
        """The scene that the panel shows."""
        return self.scenes[self.edited_worlds[0]]

    @property
    def opened(self) -> Scene:
        """The same scene as it was opened."""
        return self._opened[self.edited_worlds[0]]

    @property
    def state(self) -> tuple[object, ...]:
        """A key that changes whenever the scenes, the opened scenes or the choice of edited worlds change."""
        return self.scenes, self._opened, self.edited

    @property
    def name(self) -> str:
        """The name of the land, for title and file names: that of its preset or file."""
        return name_of(self.scenes[0])


def name_of(scene: Scene) -> str:
    """The name of a scene's land."""
    return scene.name or Path(scene.world.source).stem or "land"

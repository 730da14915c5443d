"""The scenes that are open, and which of them the panel shows and changes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from app.scene.comparison import NAMES, Letter
from app.scene.scene import Scene

Edited = Letter | Literal["all"]


class OpenScenes:
    """One scene, or several that are compared: each belongs to a world, and has its place in the order of `scenes`.

    `edited` is the one of several that the panel changes, or all of them.
    """

    def __init__(self, scenes: tuple[Scene, ...]) -> None:
        self.scenes = scenes  # as they are now
        self.edited: Edited = self._last_letter
        self._opened = scenes

    @property
    def comparing(self) -> bool:
        """Whether there are several worlds, or will be as soon as they are made."""
        return len(self.scenes) > 1

    @property
    def edited_worlds(self) -> tuple[int, ...]:
        """The places of the worlds that the panel changes; it shows the first of them."""
        if not self.comparing:
            return (0,)
        return tuple(range(len(self.scenes))) if self.edited == "all" else (NAMES.index(self.edited),)

    @property
    def choices(self) -> tuple[Edited, ...]:
        """What `edited` can be."""
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
        """What is another object after each change of what is edited, of what it was opened from, and of who is."""
        return self.scenes, self._opened, self.edited

    @property
    def name(self) -> str:
        """What the land is called, in the title and in names of files: as the preset or the file that it is from."""
        return name_of(self.scenes[0])


def name_of(scene: Scene) -> str:
    """What the land of a scene is called."""
    return scene.name or Path(scene.world.source).stem or "land"

"""What is open: the scenes of the worlds, as they are now and as they were opened, and what is asked for with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from app.engine.messages import Change, Keep, Open
from app.engine.thread import SimulationThread
from app.model.parameters import Value
from app.scene.comparison import COMPARED_SECTION, differences, with_processes_of
from app.scene.scene import GROUPS, WORLD_SECTION, Scene

Edited = Literal["A", "B", "both"]
EDITED: dict[Edited, tuple[int, ...]] = {"A": (0,), "B": (1,), "both": (0, 1)}

VIEW_SECTION = "view"  # its groups concern the picture alone
RESTART_DELAY = 0.3  # seconds after the last change of what the terrain is made from


@dataclass(frozen=True)
class Beginning:
    """What the worlds were asked to begin as, and the scenes that were opened for it."""

    scenes: tuple[Scene, ...]
    opened: tuple[Scene, ...]


class Documents:
    """One scene, or two that are compared: each belongs to a world, and has its place in the order of `scenes`.

    What changes here is asked of the simulation. Where there are two, `edited` is what the panel changes: one, or both.
    """

    def __init__(self, simulation: SimulationThread) -> None:
        self.scenes = simulation.scenes  # as they are now
        self.edited: Edited = "A" if len(self.scenes) == 1 else "B"
        self._simulation = simulation
        self._opened = self.scenes
        self._made_from = Beginning(self.scenes, self._opened)  # the worlds on the screen
        self._asked_for: Beginning | None = self._made_from  # worlds that are not here yet
        self._restart_due: float | None = None

    @property
    def comparing(self) -> bool:
        """Whether there are two worlds, or will be as soon as they are made."""
        return len(self.scenes) > 1

    @property
    def edited_worlds(self) -> tuple[int, ...]:
        """The places of the worlds that the panel changes; it shows the first of them."""
        return EDITED[self.edited] if self.comparing else (0,)

    @property
    def scene(self) -> Scene:
        """The scene that the panel shows."""
        return self.scenes[self.edited_worlds[0]]

    @property
    def opened(self) -> Scene:
        """The same scene as it was opened."""
        return self._opened[self.edited_worlds[0]]

    @property
    def name(self) -> str:
        """What the land is called, in the title and in names of files: as the preset or the file that it is from."""
        scene = self.scenes[0]
        return scene.name or Path(scene.world.source).stem or "land"

    @property
    def are_shown(self) -> bool:
        """Whether the worlds that were asked for last are there."""
        return self._asked_for is None

    @property
    def restart_waits(self) -> bool:
        """Whether the worlds will be rebuilt soon."""
        return self._restart_due is not None

    # What a person does.

    def change(self, path: str, value: Value, *, in_all: bool = False) -> None:
        """Change one parameter, wherever it takes effect; that of a process only in what is edited, or in all worlds.

        Raises `UserError` where the value does not fit.
        """
        section = GROUPS[path.partition(".")[0]].section
        everywhere = tuple(range(len(self.scenes)))
        worlds = self.edited_worlds if section == COMPARED_SECTION and not in_all else everywhere
        self.scenes = tuple(
            scene.with_value(path, value) if place in worlds else scene for place, scene in enumerate(self.scenes)
        )
        if section == WORLD_SECTION:
            # A little later, so that a slider can be dragged; and from its source, where it was a saved world.
            self.scenes = tuple(msgspec.structs.replace(scene, saved_world="") for scene in self.scenes)
            self._restart_due = time.monotonic() + RESTART_DELAY
        elif section != VIEW_SECTION:
            self._simulation.ask(Change({path: value}, None if worlds == everywhere else worlds[0]))

    def change_back(self, path: str, values: Sequence[Value]) -> None:
        """Give a parameter the value in each world that it had there before. Not one that rebuilds the world."""
        self.scenes = tuple(scene.with_value(path, value) for scene, value in zip(self.scenes, values, strict=True))
        if GROUPS[path.partition(".")[0]].section != VIEW_SECTION:
            for world, value in enumerate(values):
                self._simulation.ask(Change({path: value}, world))

    def take_processes(self, other: Scene) -> None:
        """Give the processes of another scene to what is edited, which goes on with them."""
        scenes = list(self.scenes)
        for world in self.edited_worlds:
            values = differences(scenes[world], other)
            scenes[world] = with_processes_of(scenes[world], other)
            if values:
                self._simulation.ask(Change(values, world))
        self.scenes = tuple(scenes)

    def restart(self) -> None:
        """Rebuild the worlds of the scenes."""
        self._restart_due = None
        self._asked_for = Beginning(self.scenes, self._opened)
        self._simulation.ask(Open(self.scenes))

    def restart_when_due(self) -> None:
        """Rebuild them once their initial conditions have not been changed for a while."""
        if self._restart_due is not None and time.monotonic() > self._restart_due:
            self.restart()

    def open(self, scene: Scene) -> None:
        """Leave what is open for another scene."""
        self.scenes = self._opened = (scene,)
        self.edited = "A"
        self.restart()

    def compare(self) -> None:
        """Put a second world beside the first, which restarts with it."""
        self.scenes, self._opened = self.scenes * 2, self._opened * 2
        self.edited = "B"
        self.restart()

    def end_comparison(self) -> None:
        """Go on with one of two worlds alone: the one whose parameters the panel shows."""
        kept = slice(self.edited_worlds[0], self.edited_worlds[0] + 1)
        self.scenes, self._opened = self.scenes[kept], self._opened[kept]
        self._made_from = Beginning(self._made_from.scenes[kept] or self.scenes, self._opened)
        if self._asked_for is not None:
            self._asked_for = Beginning(self._asked_for.scenes[kept] or self.scenes, self._opened)
        self.edited = "A"
        self._simulation.ask(Keep(kept.start))

    # What the simulation says.

    def worlds_came(self) -> None:
        """Other worlds are on the screen."""
        if self._asked_for is not None:
            self._made_from, self._asked_for = self._asked_for, None

    def worlds_failed(self, request: Open) -> bool:
        """Go back to what the worlds on the screen were made from, where it was others that were asked for last.

        Returns whether it was.
        """
        if self._asked_for is None or self._asked_for.scenes != request.scenes:
            return False
        self._asked_for = None
        shown = self.scene
        self._opened = self._made_from.opened
        self.scenes = tuple(
            _made_as(msgspec.structs.replace(scene, view=shown.view, camera=shown.camera), made)
            for scene, made in zip(self._simulation.scenes, self._made_from.scenes, strict=False)
        )
        self.edited = "B" if self.comparing else "A"
        return True


def _made_as(scene: Scene, other: Scene) -> Scene:
    """`scene`, with its world made as that of another one."""
    groups = {name: getattr(other, name) for name, group in GROUPS.items() if group.section == WORLD_SECTION}
    return msgspec.structs.replace(scene, saved_world=other.saved_world, **groups)

"""The open documents: scenes of the worlds, now and as opened, and the requests made with them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from app.engine.thread import SimulationThread
from app.model.errors import UserError
from app.model.parameters import Value
from app.scene.comparison import MOST_WORLDS, differences, is_shared, with_compared_of
from app.scene.edits import Blur, Change, Copy, Keep, Lay, Open, Refine, Restack, RollSnowballs, Stroke
from app.scene.scene import (
    DECLARATIONS,
    VIEW_SECTION,
    Scene,
    makes_world,
    section_of,
    seen_as,
)
from app.window.open_scenes import Edited, OpenScenes

Named = Open | Copy | Keep | Blur | Refine | RollSnowballs | Stroke | Lay | Restack  # requests that are steps of undo

RESTART_DELAY = 0.3  # seconds after the last change of initial conditions


@dataclass(frozen=True)
class Beginning:
    """A request for new worlds, with their scenes at the start and as opened."""

    request: Open
    scenes: tuple[Scene, ...]
    opened: tuple[Scene, ...]

    def of(self, worlds: Sequence[int]) -> Beginning:
        """The same for a selection of worlds. A missing one begins like the first."""
        return Beginning(
            self.request,
            tuple(self.scenes[world if world < len(self.scenes) else 0] for world in worlds),
            tuple(self.opened[world if world < len(self.opened) else 0] for world in worlds),
        )

    def with_copy(self, world: int) -> Beginning:
        return self.of((*range(len(self.scenes)), world))


@dataclass(frozen=True)
class Left:
    """The state before a request for other worlds, restored if they cannot be made."""

    scenes: tuple[Scene, ...]
    edited: Edited


class Documents(OpenScenes):
    """The open scenes, and the worlds that were requested with them.

    Changes are sent to the simulation.
    """

    def __init__(self, simulation: SimulationThread) -> None:
        super().__init__(simulation.scenes)
        self._simulation = simulation
        self._made_from = Beginning(Open(self.scenes), self.scenes, self._opened)  # the worlds on the screen
        self._asked_for: Beginning | None = self._made_from  # requested worlds that have not arrived
        self._asked_before: list[Beginning] = []  # replaced by later requests before they arrived
        self._left: Left | None = None  # while newly opened worlds have not arrived
        self._heard_of: Beginning | None = None  # the newest worlds that were reported
        self._lands: dict[int, Beginning] = {}  # by branch of the time line that begins with it
        self._changes_on_the_way: list[Change] | None = None  # requested since a moment was, until it arrives
        self._names: list[tuple[Named, str]] = []  # of pending requests
        self._restart_name = ""
        self._restart_due: float | None = None

    @property
    def seen(self) -> tuple[Scene, ...]:
        """The scenes of the worlds on the screen: the old ones until newly opened worlds arrive."""
        return self._left.scenes if self._left else self.scenes

    @property
    def seen_scene(self) -> Scene:
        """The first of them, whose view applies to all."""
        return self.seen[0]

    @property
    def are_shown(self) -> bool:
        """Whether the last requested worlds have arrived."""
        return self._asked_for is None

    @property
    def other_comes(self) -> bool:
        """Whether another land was opened than that on the screen, and is not here."""
        return self._left is not None

    @property
    def restart_waits(self) -> bool:
        """Whether the worlds will be rebuilt soon."""
        return self._restart_due is not None

    # Changes by the user.

    def change(self, path: str, value: Value, *, in_all: bool = False) -> None:
        """Change a parameter in all worlds that share it; one of a process in the edited worlds, or in all.

        Raises `UserError` if the value does not fit.
        """
        everywhere = tuple(range(len(self.scenes)))
        rebuilds = self.rebuilds(path)
        worlds = everywhere if in_all else self._changed_with(path)
        self.scenes = tuple(
            scene.with_value(path, value) if place in worlds else scene for place, scene in enumerate(self.scenes)
        )
        if rebuilds:
            # Delayed, so that a slider can be dragged. A saved world is rebuilt from its source.
            self.scenes = tuple(msgspec.structs.replace(scene, saved_world="") for scene in self.scenes)
            self._restart_due = time.monotonic() + RESTART_DELAY
            self._restart_name = DECLARATIONS[path].label
        elif section_of(path) != VIEW_SECTION:
            for world in (None,) if worlds == everywhere else worlds:
                self._ask_for_change({path: value}, world)

    def rebuilds(self, path: str) -> bool:
        """Whether a change of a parameter rebuilds the edited worlds."""
        return any(makes_world(self.scenes[world], path) for world in self.edited_worlds)

    def _changed_with(self, path: str) -> tuple[int, ...]:
        """The worlds that a change of a parameter applies to."""
        shared = any(is_shared(self.scenes[world], path) for world in self.edited_worlds)
        return tuple(range(len(self.scenes))) if shared else self.edited_worlds

    def change_together(self, values: Mapping[str, Value], name: str) -> Open | None:
        """Change several parameters at once.

        If some of them rebuild the worlds, these start with all of the values, and the request is returned.
        Raises `UserError` if a value does not fit.
        """
        scenes = list(self.scenes)
        worlds = {path: self._changed_with(path) for path in values}
        for path, value in values.items():
            for world in worlds[path]:
                scenes[world] = scenes[world].with_value(path, value)
        rebuilds = any(map(self.rebuilds, values))
        if rebuilds:
            self.scenes = tuple(msgspec.structs.replace(scene, saved_world="") for scene in scenes)
            return self.restart(name)
        self.scenes = tuple(scenes)
        for world in range(len(scenes)):
            acting = {
                path: value
                for path, value in values.items()
                if section_of(path) != VIEW_SECTION and world in worlds[path]
            }
            if acting:
                self._ask_for_change(acting, world)
        return None

    def change_back(self, path: str, values: Sequence[Value]) -> None:
        """Restore the former value of a parameter in each world; not for parameters that rebuild the worlds.

        If there are more worlds than before, the last value applies to the rest.
        """
        values = [values[min(place, len(values) - 1)] for place in range(len(self.scenes))]
        self.scenes = tuple(scene.with_value(path, value) for scene, value in zip(self.scenes, values, strict=True))
        if section_of(path) != VIEW_SECTION:
            for world, value in enumerate(values):
                self._ask_for_change({path: value}, world)

    def take_from(self, other: Scene) -> None:
        """Apply climate and processes of another scene to the edited worlds."""
        scenes = list(self.scenes)
        for world in self.edited_worlds:
            values = differences(scenes[world], other)
            scenes[world] = with_compared_of(scenes[world], other)
            if values:
                self._ask_for_change(values, world)
        self.scenes = tuple(scenes)

    def _ask_for_change(self, values: Mapping[str, Value], world: int | None) -> None:
        change = Change(dict(values), world)
        if self._changes_on_the_way is not None:
            self._changes_on_the_way.append(change)
        self._simulation.ask(change)

    def restart(self, name: str) -> Open:
        """Rebuild the worlds. `name` is that of the step. Returns the request."""
        self._restart_due = None
        request = Open(self.scenes)
        if self._asked_for is not None:
            self._asked_before.append(self._asked_for)
        self._asked_for = Beginning(request, self.scenes, self._opened)
        self.ask_as_step(request, name)
        return request

    def ask_as_step(self, request: Named, name: str) -> None:
        """Send a request that can be undone under this name."""
        self._names.append((request, name))
        self._simulation.ask(request)

    def change_refused(self, request: Change) -> None:
        """A change was refused: restore its parameters."""
        self.scenes = tuple(
            scene.with_values({path: known.value(path) for path in request.values})
            for scene, known in zip(self.scenes, self._simulation.scenes, strict=False)
        )

    def take_name(self, request: object) -> str:
        """Remove and return the name of a request that was answered; empty if it has none."""
        for place, (asked, name) in enumerate(self._names):
            if asked is request:
                del self._names[: place + 1]
                return name
        return ""

    def cancel_restart(self) -> None:
        """Cancel a delayed rebuild."""
        self._restart_due = None
        self.scenes = tuple(
            _made_as(scene, made) for scene, made in zip(self.scenes, self._made_from.scenes, strict=False)
        )

    def restart_when_due(self) -> None:
        """Rebuild the worlds once the delay after the last change is over."""
        if self._restart_due is not None and time.monotonic() > self._restart_due:
            self.restart(self._restart_name)

    def open(self, *scenes: Scene) -> None:
        """Open another scene, or several that are compared."""
        if self._left is None and self._made_from is not self._asked_for:
            self._left = Left(self.scenes, self.edited)
        self.scenes = self._opened = scenes
        self.edited = self._last_letter
        self.restart(f"open {self.name}")

    def add_world(self) -> None:
        """Add a copy of the shown world, which becomes the edited one.

        Raises `UserError` if there are too many.
        """
        if len(self.scenes) == MOST_WORLDS:
            raise UserError(f"{MOST_WORLDS} worlds are compared already; there can be no more")
        world = self.edited_worlds[0]
        self.ask_as_step(Copy(world), "compare")
        self.scenes, self._opened = (*self.scenes, self.scenes[world]), (*self._opened, self._opened[world])
        self._made_from = self._made_from.with_copy(world)
        if self._asked_for is not None:
            self._asked_for = self._asked_for.with_copy(world)
        self.edited = self._last_letter

    def keep_only(self, worlds: tuple[int, ...]) -> None:
        """Keep only these worlds, in order."""
        self.scenes = tuple(self.scenes[world] for world in worlds)
        self._opened = tuple(self._opened[world] for world in worlds)
        self._made_from = self._made_from.of(worlds)
        if self._asked_for is not None:
            self._asked_for = self._asked_for.of(worlds)
        self.edited = self._last_letter
        self.ask_as_step(Keep(worlds), "compare no more" if len(worlds) == 1 else "compare fewer")

    def compare_from_start(self) -> None:
        """Compare two copies of the shown world from cycle 0."""
        world = self.edited_worlds[0]
        self.scenes, self._opened = (self.scenes[world],) * 2, (self._opened[world],) * 2
        self.edited = self._last_letter
        self.restart("compare anew")

    # Reports of the simulation.

    def reach(self, cycle: int) -> None:
        """The land has reached a cycle: keyed parameters follow their curves."""
        self.scenes = tuple(scene.at(cycle) for scene in self.scenes)

    def opened_on(self, branch: int, request: Open) -> None:
        """The requested worlds begin a branch of the time line."""
        if self._asked_for is None:
            return
        asked = [*self._asked_before, self._asked_for]
        # Of two that are equal the later one: nobody can tell which it was.
        place = max((place for place, each in enumerate(asked) if each.request == request), default=-1)
        if place >= 0:
            self._lands[branch] = self._heard_of = asked[place]
            self._asked_before = self._asked_before[place + 1 :]

    def worlds_came(self) -> None:
        """The last reported worlds are on the screen. Others may have been requested since."""
        if self._asked_for is None or self._heard_of is None:
            return
        if self._heard_of.request == self._asked_for.request:  # to which a copy may have come meanwhile
            self._made_from, self._asked_for, self._left = self._asked_for, None, None
            return
        self._made_from = self._heard_of
        if self._made_from.opened != self._asked_for.opened:
            self._left = Left(self._made_from.scenes, self._left.edited if self._left else self.edited)

    def leave_for_moment(self) -> None:
        """A moment of the time line was requested. Changes from now on apply to its land."""
        self._changes_on_the_way = []

    def came_to_moment(self, branch: int) -> None:
        """The worlds were restored from a moment of the time line; their land began with this branch.

        They keep the current view and have the parameters of that moment, with what was changed on the way to it.
        """
        changes, self._changes_on_the_way = self._changes_on_the_way or (), None
        if self._asked_for is not None and self._asked_for is not self._heard_of:
            return  # another land was requested since
        self._asked_for = self._restart_due = self._left = None
        shown = self.scene
        scenes = self._simulation.scenes
        for change in changes:
            scenes = change.applied_to(scenes)
        self.scenes = tuple(seen_as(scene, shown) for scene in scenes)
        self._made_from = self._lands.get(branch, self._made_from).of(range(len(self.scenes)))
        self._opened = self._made_from.opened
        if self.edited not in self.choices:
            self.edited = self._last_letter

    def worlds_failed(self, request: Open) -> bool:
        """The requested worlds failed: return to those on the screen, if the request is still the last.

        Returns whether it was.
        """
        if self._asked_for is None or self._asked_for.request != request or self._restart_due is not None:
            return False  # others were or will be requested: keep later changes
        left = self._left or Left((self.scene,), self._last_letter)
        shown, self._opened = left.scenes[0], self._made_from.opened
        self._asked_for = self._left = None
        self.scenes = tuple(
            _made_as(seen_as(scene, shown), made)
            for scene, made in zip(self._simulation.scenes, self._made_from.scenes, strict=False)
        )
        self.edited = left.edited if left.edited in self.choices else self._last_letter
        return True

    def copy_failed(self) -> None:
        """The copy failed: continue with the current worlds."""
        count = len(self._simulation.scenes)
        self.scenes, self._opened = self.scenes[:count], self._opened[:count]
        self._made_from = self._made_from.of(range(count))
        self.edited = self._last_letter


def _made_as(scene: Scene, other: Scene) -> Scene:
    """`scene` with the initial conditions of another scene."""
    made = {path: other.value(path) for path in DECLARATIONS if makes_world(scene, path)}
    return msgspec.structs.replace(scene.with_values(made), saved_world=other.saved_world)

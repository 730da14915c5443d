"""Changes of parameters as steps of undo, visible at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from app.engine.messages import Moment
from app.engine.thread import SimulationThread
from app.model.curves import Key, write_curve
from app.model.overlays import OVERLAYS
from app.model.parameters import Value
from app.scene.comparison import differences
from app.scene.edits import Restack
from app.scene.scene import KEYS, Scene, curve_of, section_of
from app.window.documents import Documents
from app.window.undo import LandStep, Undo, ValueStep

log = logging.getLogger(__name__)

VIEW_SECTION = "view"


class Editing:
    """Changes parameters of the worlds that the panel edits. `seen` is called with the scene before a change."""

    def __init__(
        self, documents: Documents, undo: Undo, simulation: SimulationThread, seen: Callable[[Scene], None]
    ) -> None:
        self._documents = documents
        self._undo = undo
        self._simulation = simulation
        self._seen = seen
        self._of_next_land: tuple[object, ValueStep | None] = (None, None)  # a request, and its change of the view

    def change(self, path: str, value: Value, *, in_all: bool = False) -> None:
        """Change a parameter and update the view; see `Documents.change`."""
        if curve_of(self._documents.scene, path):  # keyed: the value follows the curve
            self.set_key(path, value, from_now_on=True)
            return
        before, scenes = self._documents.scene, self._documents.scenes
        if path == "plants.enabled" and value and not (before.plants.enabled or before.plants.grass_at_start):
            # Plants begin with the greenness that the climate gave.
            self.change_together({path: value, "plants.grass_at_start": before.view.greenness}, "plants")
            return
        log.debug("%s = %r", path, value)
        rebuilds = self._documents.rebuilds(path)
        self._documents.change(path, value, in_all=in_all)
        if not rebuilds:  # a rebuild is a step once the world arrives
            self._undo.add(self._value_step(scenes, path))
        self._seen(before)

    def change_together(self, values: Mapping[str, Value], name: str) -> None:
        """Change several parameters as one step of undo, and update the view."""
        before, scenes = self._documents.scene, self._documents.scenes
        request = self._documents.change_together(values, name)
        if request is None:
            self._undo.add(self._value_step(scenes, *values))
        else:  # a step once the world arrives, together with the view
            seen = [path for path in values if section_of(path) == VIEW_SECTION]
            self._of_next_land = (request, self._value_step(scenes, *seen) if seen else None)
        self._seen(before)

    def set_key(self, path: str, value: Value, *, from_now_on: bool = False) -> None:
        """Put a key on a parameter's curve: a value in the current cycle.

        With `from_now_on` later keys are removed, so that the value holds as with a slider. They stay if an earlier
        moment is shown.
        """
        status = self._simulation.status
        branch = status.timeline.branches.get(status.moment.branch)
        gives_up = from_now_on and (branch is None or status.cycle >= branch.last)
        others = [
            key
            for key in curve_of(self._documents.scene, path)
            if key.cycle < status.cycle or (key.cycle > status.cycle and not gives_up)
        ]
        self.change(KEYS + path, write_curve(sorted([*others, Key(status.cycle, value)])))

    def change_back(self, path: str, values: Sequence[Value]) -> None:
        """Restore a parameter's former value in each world; see `Documents.change_back`."""
        before, scenes = self._documents.scene, self._documents.scenes
        self._documents.change_back(path, values)
        self._undo.add(self._value_step(scenes, path))
        self._seen(before)

    def take_from(self, other: Scene) -> None:
        """Apply climate and processes of another scene to the edited worlds."""
        before = self._documents.scenes
        self._documents.take_from(other)
        paths = sorted(
            {path for pair in zip(before, self._documents.scenes, strict=True) for path in differences(*pair)}
        )
        if paths:
            self._undo.add(self._value_step(before, *paths))

    def set_values(self, values: Mapping[str, Sequence[Value]]) -> None:
        """Restore values of parameters in each world."""
        before = self._documents.scene
        for path, in_worlds in values.items():
            self._documents.change_back(path, in_worlds)
        self._seen(before)

    @property
    def overlay(self) -> str:
        """The overlay that is shown."""
        return self._documents.scene.view.overlay

    def show_overlay(self, name: str) -> None:
        """Show an overlay for a tool, without a step of undo."""
        if name in OVERLAYS:
            before = self._documents.scene
            self._documents.change("view.overlay", name)
            self._seen(before)

    def add_land_step(self, request: object, before: Moment) -> None:
        """A named request was answered: add it as a step of undo, with its change of the view."""
        name = self._documents.take_name(request)
        if isinstance(request, Restack) and request.takes is not None:
            before = self._undo.before_stroke() or before
        if name and before.branch:  # the first land has none before it
            (seen_with, seen), self._of_next_land = self._of_next_land, (None, None)
            self._undo.add(LandStep(name, before, seen=seen if seen_with is request else None))

    def _value_step(self, before: Sequence[Scene], *paths: str) -> ValueStep:
        """The step that changes these parameters from earlier scenes to the current ones."""
        old, new = (
            {path: tuple(scene.value(path) for scene in scenes) for path in paths}
            for scenes in (before, self._documents.scenes)
        )
        return ValueStep(old, new)

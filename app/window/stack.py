"""The stack of edits in the window: its layers, and changes of them as steps of undo."""

from __future__ import annotations

from pathlib import Path

from app.brushes.stack import Layer, check_heights, layers_of, new_name
from app.engine.messages import Moment
from app.engine.moments import TimelineSeen
from app.engine.thread import SimulationThread
from app.model.errors import UserError
from app.model.field_parameters import image_mask
from app.scene.edits import Lay, Restack
from app.sources.fields import picture
from app.window.documents import Documents
from app.window.history import History
from app.window.views import Views

PART_OF_RELIEF = 0.3  # of the land, for heights that are new


class Stack:
    """The layers of the present land. A change of one makes the land again, up to the present cycle."""

    def __init__(self, simulation: SimulationThread, documents: Documents, views: Views, history: History) -> None:
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._history = history
        self._made: tuple[TimelineSeen, Moment, list[Layer]] | None = None
        self._painted = ""  # name of the layer that takes the next strokes

    @property
    def layers(self) -> list[Layer]:
        """The one that is made first in front; those of the land that is on its way, if one is."""
        timeline, moment = self._simulation.status.timeline, self._simulation.status.moment
        moment = timeline.target or moment
        moment = Moment(moment.branch, 0, moment.edits)  # cycles change no layer
        if self._made is None or self._made[0] is not timeline or self._made[1] != moment:
            self._made = timeline, moment, layers_of(timeline.edits_of(moment))
        return self._made[2]

    def lay_image(self, image: Path) -> None:
        """Raise the land by a picture or heightmap, as a layer. Raises `UserError` where it cannot be read."""
        mask = image_mask(str(image))
        check_heights(mask)
        picture(image)
        self._lay(f"{self._fit_height()} * {mask}", f"import {image.name}")

    def lay_hills(self) -> None:
        """Raise the land by hills of noise, as a layer."""
        snapshot = self._views.snapshot
        size = max(snapshot.shape) * snapshot.cell_size if snapshot else 1000.0
        length, seed = _round(size / 4.0), len(self.layers) + 1
        self._lay(f"{self._fit_height()} * noise({length}, {seed})", "hills")

    def _lay(self, expression: str, name: str) -> None:
        self._documents.ask_as_step(Lay(expression, self._views.painted_world), name)

    def _fit_height(self) -> str:
        """A height in metres that is seen on the present land, as a round number."""
        snapshot = self._views.snapshot
        if snapshot is None:
            raise UserError("there is no land yet that could be edited")
        relief = snapshot.highest - snapshot.lowest
        return _round(max(PART_OF_RELIEF * relief, snapshot.cell_size))

    @property
    def painted(self) -> Layer | None:
        """The chosen layer that takes the next strokes; without one they are made now."""
        return next((layer for layer in self.layers if layer.name == self._painted and layer.takes_strokes), None)

    def choose(self, layer: Layer) -> None:
        """Let the next strokes go into a layer, or not any more."""
        self._painted = layer.name if layer.takes_strokes and layer.name != self._painted else ""

    def take_stroke(self, number: int) -> None:
        """A stroke has been drawn: make it in the chosen layer, if there is one."""
        if layer := self.painted:
            self._ask(Restack(layer.name, takes=number), f"stroke in {layer.name}")

    def switch(self, layer: Layer) -> None:
        self._ask(Restack(layer.name, is_on=not layer.is_on), f"{layer.name} {'off' if layer.is_on else 'on'}")

    def blend(self, layer: Layer, strength: float) -> None:
        """Make a layer with this part of its effect."""
        self._ask(Restack(layer.name, strength=strength), f"{layer.name} at {100.0 * strength:.0f} %")

    def rename(self, layer: Layer, name: str) -> None:
        if name.strip() and name.strip() != layer.name:
            if self._painted == layer.name:
                self._painted = new_name(layer.name, name, {other.name for other in self.layers})
            self._ask(Restack(layer.name, name=name), f"{layer.name} is {name.strip()}")

    def remove(self, layer: Layer) -> None:
        self._ask(Restack(layer.name, removed=True), f"{layer.name} removed")

    def write(self, layer: Layer, expression: str) -> None:
        """Give the layer of a field or of heights another expression."""
        if expression.strip() != layer.expression.strip():
            self._ask(Restack(layer.name, expression=expression), f"{layer.name} written anew")

    def move_after(self, layer: Layer, other: Layer | None) -> None:
        """Make a layer right after another one; without one, on the land as it began."""
        if other is None or other.name != layer.name:
            self._ask(Restack(layer.name, after=other.name if other else ""), f"{layer.name} moved")

    def move_by(self, layer: Layer, steps: int) -> None:
        """Make a layer before or after its neighbour."""
        layers = self.layers
        place = layers.index(layer) + steps
        others = [other for other in layers if other != layer]
        if 0 <= place < len(layers):
            self.move_after(layer, others[place - 1] if place else None)

    def _ask(self, request: Restack, name: str) -> None:
        self._history.restack(request, name)


def _round(metres: float) -> str:
    """Metres with two digits."""
    return f"{float(f'{metres:.2g}'):g}"

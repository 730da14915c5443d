"""The stack of edits in the window: its layers, and changes of them as steps of undo."""

from __future__ import annotations

from app.brushes.stack import Layer, layers_of
from app.engine.messages import Moment
from app.engine.moments import TimelineSeen
from app.engine.thread import SimulationThread
from app.scene.edits import Restack
from app.window.history import History


class Stack:
    """The layers of the present land. A change of one makes the land again, up to the present cycle."""

    def __init__(self, simulation: SimulationThread, history: History) -> None:
        self._simulation = simulation
        self._history = history
        self._made: tuple[TimelineSeen, Moment, list[Layer]] | None = None

    @property
    def layers(self) -> list[Layer]:
        """The one that is made first in front; those of the land that is on its way, if one is."""
        timeline, moment = self._simulation.status.timeline, self._simulation.status.moment
        moment = timeline.target or moment
        moment = Moment(moment.branch, 0, moment.edits)  # cycles change no layer
        if self._made is None or self._made[0] is not timeline or self._made[1] != moment:
            self._made = timeline, moment, layers_of(timeline.edits_of(moment))
        return self._made[2]

    def switch(self, layer: Layer) -> None:
        self._ask(Restack(layer.name, is_on=not layer.is_on), f"{layer.name} {'off' if layer.is_on else 'on'}")

    def blend(self, layer: Layer, strength: float) -> None:
        """Make a layer with this part of its effect."""
        self._ask(Restack(layer.name, strength=strength), f"{layer.name} at {100.0 * strength:.0f} %")

    def rename(self, layer: Layer, name: str) -> None:
        if name.strip() and name.strip() != layer.name:
            self._ask(Restack(layer.name, name=name), f"{layer.name} is {name.strip()}")

    def remove(self, layer: Layer) -> None:
        self._ask(Restack(layer.name, removed=True), f"{layer.name} removed")

    def write(self, layer: Layer, expression: str) -> None:
        """Give the layer of a field another expression."""
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

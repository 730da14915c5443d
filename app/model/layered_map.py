"""Layers of a map, and the versions by which others know which of them have changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.layers import LAYERS, SCRATCH, burdening, side_by_side

Layer = NDArray[np.float64]

TOUCHES = 2**20  # by hand, between two cycles: versions of what was changed then are told apart as far as this


class LayeredMap:
    """Layers in float64 metres, `[row, column]`, row 0 in the north; `app.model.layers` declares what each layer is.

    `ground` is the sum of those that raise it, which water and wind see: rock, sediment, and the `burden` of all
    others, to the last bit. A process that changes one of these keeps it current, cell by cell: kernels do so by
    `ground_of`, and what runs over whole layers by `sum_ground`.
    """

    def __init__(self, bedrock: Layer, sediment: Layer, water: Layer | None = None) -> None:
        self.layers: dict[str, NDArray[Any]] = {
            "bedrock": np.ascontiguousarray(bedrock, np.float64),
            "sediment": np.ascontiguousarray(sediment, np.float64),
            "water": np.zeros(np.shape(bedrock)) if water is None else np.ascontiguousarray(water, np.float64),
        }
        self.cycle = 0
        self.touches = 0  # by hand since the last cycle
        self.changed = dict.fromkeys(self.layers, 0)  # as `version` was when each layer was changed last
        self._packs: dict[str, NDArray[np.float32]] = {}
        self.ground: Layer = np.empty(self.shape)
        self.sum_ground()

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.bedrock.shape
        return rows, columns

    @property
    def bedrock(self) -> Layer:
        return self.layers["bedrock"]

    @property
    def sediment(self) -> Layer:
        return self.layers["sediment"]

    @property
    def water(self) -> Layer:
        return self.layers["water"]

    @property
    def version(self) -> int:
        """Grows with each cycle, and with all that is changed by hand between two of them."""
        return self.cycle * TOUCHES + min(self.touches, TOUCHES - 1)

    @property
    def next_version(self) -> int:
        """That of what is changed in the cycle that is running."""
        return (self.cycle + 1) * TOUCHES

    def end_cycle(self) -> None:
        """Count a cycle that has run."""
        self.cycle += 1
        self.touches = 0

    def touched(self, *names: str) -> None:
        """Layers were changed by hand, after the last cycle."""
        self.touches += 1
        self.changed.update(dict.fromkeys(names, self.version))

    def sum_ground(self, cells: Any = np.s_[:, :]) -> None:
        """Bring the ground up to date with the layers that raise it, in all cells or in those of an index."""
        self.ground_of_layers(self.ground[cells], cells)

    def ground_of_layers(self, ground: Layer, cells: Any = np.s_[:, :]) -> Layer:
        np.add(self.bedrock[cells], self.sediment[cells], out=ground)
        if (burden := self.burden) is not None:
            ground += burden[cells]
        return ground

    @property
    def burden(self) -> Layer | None:
        """What raises the ground beside rock and sediment, in metres; None where nothing does. Not to be written to."""
        layers = burdening(self.layers)
        return np.ascontiguousarray(sum(layers[1:], layers[0]), np.float64) if layers else None

    def trace(self, name: str) -> NDArray[Any]:
        """A trace, which is its default everywhere, mostly 0, where nothing has been left in it yet."""
        if name not in self.layers:
            layer = LAYERS[name]
            if layer.pack:
                self.pack(layer.pack)
            else:
                self.layers[name] = np.full(self.shape, layer.default, layer.dtype)
                self.changed[name] = 0
        return self.layers[name]

    def pack(self, pack: str) -> NDArray[np.float32]:
        """Traces that lie side by side, `[row, column, trace]`, and what a cycle adds up after them."""
        if pack not in self._packs:
            names = side_by_side(pack)
            self._packs[pack] = np.zeros((*self.shape, len(names) + SCRATCH.get(pack, 0)), np.float32)
            for number, name in enumerate(names):
                self._packs[pack][..., number] = LAYERS[name].default
                self.layers[name] = self._packs[pack][..., number]
                self.changed[name] = 0
        return self._packs[pack]

    @property
    def flow(self) -> NDArray[np.float32]:
        """The traces of flowing water, `[row, column, trace]`, and as many sums of the present cycle after them."""
        return self.pack("flow")

    @property
    def surface(self) -> NDArray[np.float32] | None:
        """Wetness and plants, `[row, column, trace]`, where a process has left any."""
        return self._packs.get("surface")

    @property
    def is_covered(self) -> bool:
        """Whether a process has left wetness or plants on the ground, or a layer that raises it."""
        return self.surface is not None or bool(burdening(self.layers))

    @property
    def rates(self) -> NDArray[np.float32] | None:
        """The factors on what processes do in each cell, `[row, column, rate]`, where any is not 1 everywhere."""
        return self._packs.get("rates")

    @property
    def rainfall(self) -> NDArray[np.float32] | None:
        """How much of the rain falls on each cell, by its map and its rate; None where it falls on all alike."""
        falls = [self.layers[name] for name in ("rain", "rate_rain") if name in self.layers]
        return falls[0] * falls[1] if len(falls) == 2 else falls[0] if falls else None

    def lay_rate(self, name: str, values: NDArray[Any] | None) -> None:
        """Let a rate be these values, [row, column]; None: 1 everywhere, which takes neither memory nor time."""
        if values is None or (values == 1.0).all():
            if name in self.layers:
                self._clear_rate(name)
            return
        self._change_rate(name, values)

    def _change_rate(self, name: str, values: NDArray[Any] | float) -> None:
        self.trace(name)[...] = values
        self.touched(name)

    def _clear_rate(self, name: str) -> None:
        """Let a rate be 1 everywhere, and forget it where no other one beside it needs its memory."""
        self._change_rate(name, 1.0)
        pack = LAYERS[name].pack
        names = side_by_side(pack) if pack else (name,)
        if all((self.layers[other] == 1.0).all() for other in names):
            for other in names:
                del self.layers[other], self.changed[other]
            self._packs.pop(pack, None)

    @property
    def wind_field(self) -> NDArray[np.float32] | None:
        """The wind near the ground, `[row, column, (south, east)]`, where a process has found it."""
        return self._packs.get("wind field")

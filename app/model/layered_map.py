"""Layers of a map, with versions that tell which have changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.layers import LAYERS, OROGRAPHIC_RAIN, SCRATCH, burdening, side_by_side
from kernels.blocks import for_blocks
from kernels.scratch import Scratch

Layer = NDArray[np.float64]

TOUCHES = 2**20  # edits between two cycles that versions can tell apart

# Factors on the rain of each cell, beside the map that a world began with: of a whole year, and of the present
ICE, ICE_RUNOFF = "ice", "ice_runoff"
SNOW, SNOW_RUNOFF = "snow", "snow_runoff"
FIRN, MASS_BALANCE, LEAST_SNOW, ICE_MELT = "firn", "mass_balance", "least_snow", "ice_melt"
RATES_OF_PRECIPITATION = ("rate_rain", OROGRAPHIC_RAIN)
RATES_OF_RAIN = (*RATES_OF_PRECIPITATION, ICE_RUNOFF)

SHELTERING = 1.0  # metres of ice under which nothing else moves the ground


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
        self.touches = 0  # edits since the last cycle
        self.changed = dict.fromkeys(self.layers, 0)  # `version` at the last change of each layer
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
        """Grows with each cycle and each edit."""
        return self.cycle * TOUCHES + min(self.touches, TOUCHES - 1)

    @property
    def next_version(self) -> int:
        """The version of changes in the running cycle."""
        return (self.cycle + 1) * TOUCHES

    def end_cycle(self) -> None:
        """Count a finished cycle."""
        self.cycle += 1
        self.touches = 0

    def touched(self, *names: str) -> None:
        """Count an edit of layers."""
        self.touches += 1
        self.changed.update(dict.fromkeys(names, self.version))

    def sum_ground(self, cells: Any = None) -> None:
        """Recompute the ground from the layers that raise it, in all cells or in an index."""
        if cells is None:
            self.ground_of_layers(self.ground)
        else:
            self._sum_ground(self.ground[cells], cells, burdening(self.layers))

    def ground_of_layers(self, ground: Layer) -> Layer:
        """Write the sum of the layers that raise the ground to an array, [row, column], and return it."""
        layers = burdening(self.layers)
        for_blocks(lambda rows: self._sum_ground(ground[rows], rows, layers), *self.shape)
        return ground

    def _sum_ground(self, ground: Layer, cells: Any, layers: Sequence[NDArray[Any]]) -> None:
        np.add(self.bedrock[cells], self.sediment[cells], out=ground)
        if len(layers) == 1:
            ground += layers[0][cells]
        elif layers:
            burden = np.add(layers[0][cells], layers[1][cells], dtype=np.float64)
            for other in layers[2:]:
                burden += other[cells]
            ground += burden

    @property
    def burden(self) -> Layer | None:
        """Thickness of everything besides rock and sediment, in metres; None if there is nothing. Read-only."""
        layers = burdening(self.layers)
        if len(layers) < 2:
            return np.ascontiguousarray(layers[0], np.float64) if layers else None
        burden = np.empty(self.shape)
        self.sum_burden(burden)
        return burden

    def sum_burden(self, out: Layer) -> None:
        """Write the sum of all layers of the `burden` to an array, [row, column]."""
        first, *others = burdening(self.layers)

        def sum_up(rows: slice) -> None:
            if not others:
                np.copyto(out[rows], first[rows])
                return
            np.add(first[rows], others[0][rows], out=out[rows], dtype=np.float64)
            for layer in others[1:]:
                out[rows] += layer[rows]

        for_blocks(sum_up, *self.shape)

    def trace(self, name: str) -> NDArray[Any]:
        """A trace layer, created with its default on first use."""
        if name not in self.layers:
            layer = LAYERS[name]
            if layer.pack:
                self.pack(layer.pack)
            else:
                self.layers[name] = np.full(self.shape, layer.default, layer.dtype)
                self.changed[name] = 0
        return self.layers[name]

    def forget(self, *names: str) -> None:
        """Remove traces that lie in no pack."""
        for name in names:
            self.layers.pop(name, None)
            self.changed.pop(name, None)

    def pack(self, pack: str) -> NDArray[np.float32]:
        """A pack of traces, `[row, column, trace]`, followed by sums of the cycle."""
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
        """The traces of flowing water, `[row, column, trace]`, followed by as many sums of the current cycle."""
        return self.pack("flow")

    @property
    def surface(self) -> NDArray[np.float32] | None:
        """Wetness and plants, `[row, column, trace]`, if any."""
        return self._packs.get("surface")

    @property
    def is_covered(self) -> bool:
        """Whether a process has left wetness or plants on the ground, or a layer that raises it."""
        return self.surface is not None or bool(burdening(self.layers))

    @property
    def rates(self) -> NDArray[np.float32] | None:
        """Factors on the rates of processes, `[row, column, rate]`, unless all are 1. Under ice nothing moves."""
        return self.rates_in(Scratch())

    def rates_in(self, scratch: Scratch) -> NDArray[np.float32] | None:
        """As `rates`, in an array of a step that has begun on `scratch` where there is ice that shelters."""
        rates, sheltered = self.unsheltered, self.sheltered
        if sheltered is None:
            return rates
        names = side_by_side("rates")
        found = scratch.empty((*self.shape, len(names)), np.float32)

        def shelter(rows: slice) -> None:
            found[rows] = 1.0 if rates is None else rates[rows]
            for name in ("mobility", "rate_growth"):
                np.copyto(found[rows, :, names.index(name)], 0.0, where=sheltered[rows])

        for_blocks(shelter, *self.shape)
        return found

    @property
    def sheltered(self) -> NDArray[np.bool_] | None:
        """Where nothing but ice moves the ground, [row, column]; None: nowhere."""
        if ICE not in self.layers:
            return None
        sheltered = np.empty(self.shape, np.bool_)
        ice = self.layers[ICE]
        for_blocks(lambda rows: np.greater_equal(ice[rows], SHELTERING, out=sheltered[rows]), *self.shape)
        return sheltered if sheltered.any() else None

    @property
    def unsheltered(self) -> NDArray[np.float32] | None:
        """As `rates`, as if there were no ice."""
        return self._packs.get("rates")

    @property
    def rainfall(self) -> NDArray[np.float32] | None:
        """Relative rain of each cell, by map and rate; None if uniform."""
        return self._product("rain", *RATES_OF_RAIN)

    @property
    def rain_and_melt(self) -> NDArray[np.float32] | None:
        """As `rainfall`, without what falls as snow at present and with what melts of it."""
        return self._product("rain", *self._rates_of_runoff)

    @property
    def precipitation(self) -> NDArray[np.float32] | None:
        """As `rainfall`, without what ice gains and loses in a year."""
        return self._product("rain", *RATES_OF_PRECIPITATION)

    @property
    def mean_rain_rate(self) -> NDArray[np.float32] | None:
        """As `rain_rate`, over the year: without snow."""
        return self._product(*RATES_OF_RAIN)

    @property
    def rain_rate(self) -> NDArray[np.float32] | None:
        """The factor on the rain of each cell, by its rate, by what the wind brings and by snow; None: 1 everywhere."""
        return self._product(*self._rates_of_runoff)

    @property
    def _rates_of_runoff(self) -> tuple[str, ...]:
        """Those of the present. Where snow lies, its runoff has the melt of ice by season."""
        return (*RATES_OF_PRECIPITATION, SNOW_RUNOFF) if SNOW_RUNOFF in self.layers else RATES_OF_RAIN

    def _product(self, *names: str) -> NDArray[np.float32] | None:
        """Of those of these layers that there are."""
        there = [self.layers[name] for name in names if name in self.layers]
        if len(there) < 2:
            return there[0] if there else None
        product = np.empty(self.shape, np.result_type(*there))

        def multiply(rows: slice) -> None:
            np.multiply(there[0][rows], there[1][rows], out=product[rows])
            for layer in there[2:]:
                product[rows] *= layer[rows]

        for_blocks(multiply, *self.shape)
        return product

    def lay_rate(self, name: str, values: NDArray[Any] | None) -> None:
        """Set a rate, [row, column]; None: 1 everywhere, without memory."""
        if values is None or (values == 1.0).all():
            if name in self.layers:
                self._clear_rate(name)
            return
        self._change_rate(name, values)

    def _change_rate(self, name: str, values: NDArray[Any] | float) -> None:
        self.trace(name)[...] = values
        self.touched(name)

    def _clear_rate(self, name: str) -> None:
        """Reset a rate to 1, and free the pack if no other rate needs it."""
        self._change_rate(name, 1.0)
        pack = LAYERS[name].pack
        names = side_by_side(pack) if pack else (name,)
        if all((self.layers[other] == 1.0).all() for other in names):
            for other in names:
                del self.layers[other], self.changed[other]
            self._packs.pop(pack, None)

    @property
    def wind_field(self) -> NDArray[np.float32] | None:
        """The wind near the ground, `[row, column, (south, east)]`, if computed."""
        return self._packs.get("wind field")

"""The state that the simulation owns: the layers of the ground, and the ledger of what came and went."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

Layer = NDArray[np.float64]

LARGEST_SIDE = 8192
SMALLEST_SIDE = 8

# Sides of a cell in metres: beyond them lies no landscape, and far beyond them volumes overflow or vanish.
SMALLEST_CELL = 1e-4
LARGEST_CELL = 1e6

# What a saved world holds. `ground` is derived from these.
LAYERS = ("bedrock", "sediment", "water")

# What wind and water left behind, averaged over time, in the precision that it needs. A world has a trace only when a
# process has left one: memory is for what is used. `rain` is given: how much of the rain falls where, from 0 to 1.
TRACES: dict[str, type[np.floating[Any]]] = {
    "wind_path": np.float64,
    "airborne": np.float64,
    "stream": np.float32,
    "discharge": np.float32,
    "momentum_south": np.float32,
    "momentum_east": np.float32,
    "rain": np.float32,
    "wear": np.float32,
    "deposit": np.float32,
    "traffic": np.float32,
}

# The traces of flowing water lie side by side in memory, because a drop reads them together, and before as much again
# in which a cycle adds up its own: kernels/droplets.py has them in this order.
FLOW_TRACES = ("stream", "discharge", "momentum_south", "momentum_east")

# What may be negative
SIGNED = ("bedrock", "momentum_south", "momentum_east")

# What stands on a cell, as `World.standing` has it.
DRY, LAKE, SEA = 0, 1, 2


class Account(msgspec.Struct):
    """What came in and went out of one substance since the start, in cubic metres, by cause."""

    initial: float = 0.0
    scale: float = 0.0  # the sum of magnitudes at the start; `initial` itself may cancel out where heights are negative
    gained: dict[str, float] = {}
    lost: dict[str, float] = {}

    def gain(self, cause: str, volume: float) -> None:
        self.gained[cause] = self.gained.get(cause, 0.0) + volume

    def lose(self, cause: str, volume: float) -> None:
        self.lost[cause] = self.lost.get(cause, 0.0) + volume

    def expected(self) -> float:
        """What should be stored now."""
        return self.initial + sum(self.gained.values()) - sum(self.lost.values())

    def imbalance(self, stored: float) -> float:
        """How far `stored` is from what should be there, as a fraction of all there ever was."""
        total = self.scale + sum(self.gained.values())
        return (stored - self.expected()) / total if total > 0.0 else 0.0


class Ledger(msgspec.Struct):
    """The accounts of a world. Rock that is worn becomes sediment; sediment and water can leave the map."""

    rock: Account = msgspec.field(default_factory=Account)
    sediment: Account = msgspec.field(default_factory=Account)
    water: Account = msgspec.field(default_factory=Account)


class Spills(NamedTuple):
    """What ran over the outlets of lakes in this cycle. It stands in the layer `water`, on the cells beyond them."""

    sill: NDArray[np.int32]  # the highest cell on the way out, as row * columns + column
    beyond: NDArray[np.int32]  # the next one
    volume: NDArray[np.float64]  # m over one cell


class World:
    """Layers in float64 metres, `[row, column]`, row 0 in the north, on square cells of side `cell_size` metres.

    `bedrock` is the height of solid rock, `sediment` the thickness of loose material on it. `ground` is their sum,
    which water and wind see: a process that changes a layer keeps it current, cell by cell. `water` is the depth of
    what stands in lakes, or waits on a cell to run to one; the sea is not in it.

    Traces: `wind_path` is how often wind touches the ground, from 0 to 1, and `airborne` how much sand it carries over
    a cell in a cycle. `stream` is how often drops of water pass a cell, from 0 to 1; `discharge` how much of it does
    so in a cycle, and `momentum_south` and `momentum_east` the same times its speed. `wear` and `deposit` are what
    snowballs took and put down of late, in metres, and `traffic` how many of them came to a cell.

    Derived from the layers by the process of lakes and sea: `standing` tells where each of them is (DRY, LAKE, SEA),
    `water_level` its surface, which is flat to the last bit in each lake; it is the ground where it is dry.
    """

    def __init__(
        self, bedrock: Layer, sediment: Layer, cell_size: float, seed: int, water: Layer | None = None
    ) -> None:
        self.layers: dict[str, NDArray[Any]] = {
            "bedrock": np.ascontiguousarray(bedrock, np.float64),
            "sediment": np.ascontiguousarray(sediment, np.float64),
            "water": np.zeros(np.shape(bedrock)) if water is None else np.ascontiguousarray(water, np.float64),
        }
        self.ground: Layer = self.bedrock + self.sediment
        self.standing = np.where(self.water > 0.0, LAKE, DRY).astype(np.uint8)
        self.water_level: Layer = self.ground + self.water
        self.sea_level = -math.inf  # where there is no sea
        self.water_version = 0  # grows with each change of the three above
        self.walls = False  # whether the map's edges keep all water
        self.spills: Spills | None = None  # of the present cycle; None: lakes are not simulated
        self._flow: NDArray[np.float32] | None = None
        self.changed = dict.fromkeys(self.layers, 0)  # the cycle in which each layer was changed last
        self.cell_size = float(cell_size)
        self.seed = int(seed)
        self.cycle = 0
        self.snowballs = 0  # that have fallen
        self.ledger = Ledger(
            rock=Account(initial=self.stored("rock"), scale=self._volume(np.abs(self.bedrock))),
            sediment=Account(initial=self.stored("sediment"), scale=self.stored("sediment")),
            water=Account(initial=self.stored("water"), scale=self.stored("water")),
        )

    @property
    def bedrock(self) -> Layer:
        return self.layers["bedrock"]

    @property
    def sediment(self) -> Layer:
        return self.layers["sediment"]

    @property
    def water(self) -> Layer:
        return self.layers["water"]

    def trace(self, name: str) -> NDArray[Any]:
        """A trace, which is 0 everywhere where no process has left one yet."""
        if name in FLOW_TRACES:
            return self.flow[..., FLOW_TRACES.index(name)]
        if name not in self.layers:
            self.layers[name] = np.zeros(self.shape, TRACES[name])
            self.changed[name] = 0
        return self.layers[name]

    @property
    def flow(self) -> NDArray[np.float32]:
        """The traces of flowing water, `[row, column, trace]`, and as many sums of the present cycle after them."""
        if self._flow is None:
            self._flow = np.zeros((*self.shape, 2 * len(FLOW_TRACES)), np.float32)
            for number, name in enumerate(FLOW_TRACES):
                self.layers[name] = self._flow[..., number]
                self.changed[name] = 0
        return self._flow

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.bedrock.shape
        return rows, columns

    @property
    def cell_area(self) -> float:
        """Square metres."""
        return self.cell_size * self.cell_size

    def stored(self, substance: str) -> float:
        """Cubic metres of a substance that lie in the layers now."""
        match substance:
            case "rock":
                return self._volume(self.bedrock)
            case "sediment":
                return self._volume(self.sediment)
            case "water":
                return self._volume(self.water)  # drops do not outlive their cycle
        raise KeyError(substance)

    def imbalance(self) -> float:
        """The largest imbalance of any account, as a fraction: 0 means that nothing was lost or made from nothing."""
        accounts = msgspec.structs.asdict(self.ledger)
        return max((abs(account.imbalance(self.stored(name))) for name, account in accounts.items()), default=0.0)

    def non_finite_cell(self) -> tuple[str, int, int] | None:
        """The first layer and cell whose value is not a finite number, or None."""
        for name, layer in self.layers.items():
            # A sum is finite only if all its terms are, and is far cheaper than a test of each cell.
            if not np.isfinite(layer.sum()):
                bad = np.argwhere(~np.isfinite(layer))
                if len(bad):
                    return name, int(bad[0][0]), int(bad[0][1])
        return None

    def state(self) -> dict[str, Any]:
        """A copy of all that changes from cycle to cycle."""
        return {
            "layers": {name: layer.copy() for name, layer in self.layers.items()},
            "cycle": self.cycle,
            "snowballs": self.snowballs,
            "changed": dict(self.changed),
            "ledger": self.ledger_copy(),
        }

    def ledger_copy(self) -> Ledger:
        """The ledger as it is now, for others to keep."""
        return msgspec.convert(msgspec.to_builtins(self.ledger), Ledger)

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        for name in self.layers.keys() - state["layers"].keys():
            del self.layers[name]  # a trace that nobody had left yet
        if self._flow is not None:
            self._flow[..., len(FLOW_TRACES) :] = 0.0
            if FLOW_TRACES[0] not in self.layers:
                self._flow = None
        for name, layer in state["layers"].items():
            self.layers[name][...] = layer
        np.add(self.bedrock, self.sediment, out=self.ground)
        self.spills = None
        self.cycle = state["cycle"]
        self.snowballs = state["snowballs"]
        self.changed = dict(state["changed"])
        self.ledger = msgspec.convert(msgspec.to_builtins(state["ledger"]), Ledger)

    def _volume(self, layer: Layer) -> float:
        return float(layer.sum()) * self.cell_area

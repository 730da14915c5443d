"""The state that the simulation owns: the layers of the ground, and the ledger of what came and went."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.climate import Weather
from app.materials import Materials
from kernels.standing import DRY, LAKE

if TYPE_CHECKING:
    from kernels.materials import Materials as MaterialFields

Layer = NDArray[np.float64]

LARGEST_SIDE = 8192
SMALLEST_SIDE = 8

# Sides of a cell in metres: beyond them lies no landscape, and far beyond them volumes overflow or vanish.
SMALLEST_CELL = 1e-4
LARGEST_CELL = 1e6

# What a saved world holds. `ground` is derived from these.
LAYERS = ("bedrock", "sediment", "water")

# What processes leave beside that, in the precision that it needs. A world has a trace only when a process has left
# one: memory is for what is used.
TRACES: dict[str, type[np.floating[Any]]] = {
    "wind_path": np.float32,
    "airborne": np.float32,
    "stream": np.float32,
    "discharge": np.float32,
    "momentum_south": np.float32,
    "momentum_east": np.float32,
    "rain": np.float32,
    "wear": np.float32,
    "deposit": np.float32,
    "traffic": np.float32,
    "moisture": np.float64,
    "groundwater": np.float64,
    "wetness": np.float32,
    "grass": np.float32,
    "roots": np.float32,
    "canopy": np.float32,
    "wind_field_south": np.float32,
    "wind_field_east": np.float32,
    "strata_rise": np.float32,
    "rooted_ground": np.float32,
}

# Traces that are read together lie side by side in memory, [row, column, trace]. Kernels have them in this order.
FLOW_TRACES = ("stream", "discharge", "momentum_south", "momentum_east")
SURFACE_TRACES = ("wetness", "grass", "roots", "canopy")
WIND_FIELD_TRACES = ("wind_field_south", "wind_field_east")
PACKS: tuple[tuple[str, ...], ...] = (FLOW_TRACES, SURFACE_TRACES, WIND_FIELD_TRACES)
PACK_OF = {name: pack for pack in PACKS for name in pack}
# Further places in which a cycle adds up its own, 0 between cycles.
SCRATCH: dict[tuple[str, ...], int] = {FLOW_TRACES: len(FLOW_TRACES)}

# What the account of water counts beside the layer of that name.
IN_THE_GROUND = ("moisture", "groundwater")

# What is given, and never changed.
CONSTANT = {"rain", "strata_rise"}

# The thickness of one kind of loose material, as a layer: this and the kind's name.
LOOSE = "loose_"

# What may be negative.
SIGNED = (
    "bedrock",
    "momentum_south",
    "momentum_east",
    "wind_field_south",
    "wind_field_east",
    "strata_rise",
    "rooted_ground",
)

# The largest magnitude of a layer's values: metres, far more than any source gives, and still no volume overflows.
LARGEST_HEIGHT = 1e6
# Of those that add up what all the land above brings, or all that ever came by: metres over one cell, or a count.
LARGEST_SUM = 1e12
SUMS = (*FLOW_TRACES, "airborne", "traffic", "water", "wear", "deposit")

# How much of what there is may be unaccounted for, as a fraction.
LARGEST_IMBALANCE = 1e-9

LARGEST_CYCLE = 2**53  # what every reader of JSON keeps exactly

# What is known of a tree, float32 [tree, column]: its place in cells, the number of its kind, its size as a part of
# that of a full-grown one, its age in cycles, and its health from 0 to 1.
TREE_COLUMNS = ("row", "column", "kind", "size", "age", "health")


def bounds(name: str) -> tuple[float, float]:
    """The lowest and the highest value that a layer may hold, also in a saved world."""
    largest = LARGEST_SUM if name in SUMS else LARGEST_HEIGHT
    return -largest if name in SIGNED else 0.0, largest


def is_within(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether all values are from `low` to `high`, which NaN is not."""
    # Far cheaper than a test of each; both are NaN where any value is.
    return bool(values.min() >= low and values.max() <= high)


def unsound_cell(name: str, layer: NDArray[Any]) -> tuple[int, int] | None:
    """The first cell of a layer whose value is beyond its bounds, or not a finite number; None where all are sound."""
    low, high = bounds(name)
    if is_within(layer, low, high):
        return None
    row, column = np.argwhere(~((layer >= low) & (layer <= high)))[0]
    return int(row), int(column)


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
        total, difference = self.scale + sum(self.gained.values()), stored - self.expected()
        if total > 0.0:
            return difference / total
        return math.copysign(math.inf, difference) if difference else 0.0


class Ledger(msgspec.Struct):
    """The accounts of a world. Rock that is worn becomes sediment; sediment and water can leave the map.

    `kinds` has one more for each kind of loose material, where a world knows several: all of them are the sediment.
    """

    rock: Account = msgspec.field(default_factory=Account)
    sediment: Account = msgspec.field(default_factory=Account)
    water: Account = msgspec.field(default_factory=Account)
    kinds: dict[str, Account] = {}

    def accounts(self) -> dict[str, Account]:
        """All accounts by the name of their substance."""
        return {"rock": self.rock, "sediment": self.sediment, **self.kinds, "water": self.water}


class Spills(NamedTuple):
    """What ran over the outlets of lakes in this cycle. It stands in the layer `water`, on the cells beyond them."""

    sill: NDArray[np.int32]  # the highest cell on the way out, as row * columns + column
    beyond: NDArray[np.int32]  # the next one
    volume: NDArray[np.float64]  # m over one cell


class Rising(NamedTuple):
    """Groundwater that comes to the surface in this cycle. It is in no layer any more: drops carry it on."""

    cell: NDArray[np.int64]  # row * columns + column
    depth: NDArray[np.float64]  # m over one cell


class World:
    """Layers in float64 metres, `[row, column]`, row 0 in the north, on square cells of side `cell_size` metres.

    `bedrock` is the height of solid rock, `sediment` the thickness of loose material on it. `ground` is their sum,
    which water and wind see: a process that changes a layer keeps it current, cell by cell. `water` is the depth of
    what stands in lakes, or waits on a cell to run to one; the sea is not in it.

    Traces: `wind_path` is how often wind touches the ground, from 0 to 1, and `airborne` how much sand it carries over
    a cell in a cycle. `stream` is how often drops of water pass a cell, from 0 to 1; `discharge` how much of it does
    so in a cycle, and `momentum_south` and `momentum_east` the same times its speed. `wear` and `deposit` are what
    snowballs took and put down of late, in metres, and `traffic` how many of them came to a cell. `moisture` and
    `groundwater` are metres of water in the loose material and below, and `wetness` how full of it the ground is at its
    surface, from 0 to 1. `grass`, `roots` and `canopy` are how densely grass stands, roots hold the ground, and crowns
    of trees cover it, from 0 to 1. `wind_field_south` and `wind_field_east` are the wind near the ground beside the
    prevailing one, as parts of its speed. `strata_rise` is the height of the top of the strata, and `rain` how much of
    the rain falls where, from 0 to 1: both are given and never change. `rooted_ground` is the ground as plants knew it
    last.

    Where the world knows several materials, `mix` is the thickness of each loose one, [row, column, kind], and
    `sediment` their sum in the order of their numbers, to the last bit. A layer `loose_<name>` is a view of one.

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
        self.rising: Rising | None = None  # of the present cycle
        self.soaking = 0.0  # part of a drop's water that dry ground takes in a unit of time, in the present cycle
        self.weather = Weather()  # of the present cycle
        self.running: frozenset[str] = frozenset()  # names of the processes of the present cycle
        self.materials: Materials | None = None  # where there are several
        self.mix: Layer = np.empty((*self.shape, 0))
        self.trees = np.empty((0, len(TREE_COLUMNS)), np.float32)
        self.trees_version = 0  # the cycle in which they were changed last
        self.wind_field_direction = 0.0  # degrees that the prevailing wind came from when the field was found
        self._packs: dict[tuple[str, ...], NDArray[np.float32]] = {}
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
        if name in PACK_OF:
            self.pack(PACK_OF[name])
        elif name not in self.layers:
            self.layers[name] = np.zeros(self.shape, TRACES[name])
            self.changed[name] = 0
        return self.layers[name]

    def pack(self, names: tuple[str, ...]) -> NDArray[np.float32]:
        """Traces that lie side by side, `[row, column, trace]`, and what a cycle adds up after them."""
        if names not in self._packs:
            pack = np.zeros((*self.shape, len(names) + SCRATCH.get(names, 0)), np.float32)
            for number, name in enumerate(names):
                self.layers[name] = pack[..., number]
                self.changed[name] = 0
            self._packs[names] = pack
        return self._packs[names]

    @property
    def flow(self) -> NDArray[np.float32]:
        """The traces of flowing water, `[row, column, trace]`, and as many sums of the present cycle after them."""
        return self.pack(FLOW_TRACES)

    @property
    def surface(self) -> NDArray[np.float32] | None:
        """Wetness and plants, `[row, column, trace]`, where a process has left any."""
        return self._packs.get(SURFACE_TRACES)

    @property
    def wind_field(self) -> NDArray[np.float32] | None:
        """The wind near the ground, `[row, column, (south, east)]`, where a process has found it."""
        return self._packs.get(WIND_FIELD_TRACES)

    def lay_materials(self, materials: Materials, parts: Mapping[str, float], rise: NDArray[np.float32]) -> None:
        """Make the ground of several materials: the rock in strata, whose top is at `rise`, the sediment a mix.

        `parts` are the amounts of the kinds beside each other.
        """
        self._have_materials(materials)
        total = sum(parts.values())
        for name, part in parts.items():
            self.mix[..., materials.kind(name)] += self.sediment * (part / total)
        self.trace("strata_rise")[...] = rise
        self.sum_mix()
        self.ledger.sediment = Account(initial=self.stored("sediment"), scale=self.stored("sediment"))
        for name in materials.names:
            self.ledger.kinds[name] = Account(initial=self.stored(name), scale=self.stored("sediment"))

    def restore_materials(self, materials: Materials, layers: Mapping[str, Layer]) -> None:
        """As `lay_materials`, with the mix that a saved world had, and without a word to the ledger."""
        self._have_materials(materials)
        for name in materials.names:
            self.layers[LOOSE + name][...] = layers[LOOSE + name]

    def sum_mix(self) -> None:
        """Bring sediment and ground up to date with the mix."""
        self.sediment[...] = 0.0
        for kind in range(self.mix.shape[2]):
            self.sediment[...] += self.mix[..., kind]
        np.add(self.bedrock, self.sediment, out=self.ground)

    def material_fields(self) -> MaterialFields:
        """The materials as kernels take them, with this world's own arrays."""
        from kernels.materials import Materials as MaterialFields
        from kernels.materials import no_materials

        if self.materials is None:
            return no_materials()
        return MaterialFields(
            kinds=self.mix.shape[2],
            mix=self.mix.reshape(-1),
            steps_per_metre=1.0 / self.materials.metres_per_step,
            rise=self.layers["strata_rise"].reshape(-1),
            **self.materials.properties,
        )

    def _have_materials(self, materials: Materials) -> None:
        self.materials = materials
        self.mix = np.zeros((*self.shape, len(materials.loose)))
        for number, name in enumerate(materials.names):
            self.layers[LOOSE + name] = self.mix[..., number]

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
            case "water":  # drops do not outlive their cycle
                return sum(self._volume(self.layers[name]) for name in ("water", *IN_THE_GROUND) if name in self.layers)
        return self._volume(self.layers[LOOSE + substance])

    def imbalance(self) -> float:
        """The largest imbalance of any account, as a fraction: 0 means that nothing was lost or made from nothing."""
        return max(map(abs, self.imbalances().values()))

    def imbalances(self) -> dict[str, float]:
        """The imbalance of each account, as `Account.imbalance` has it."""
        return {name: account.imbalance(self.stored(name)) for name, account in self.ledger.accounts().items()}

    def unsound_cell(self) -> tuple[str, int, int] | None:
        """The first layer and cell whose value is beyond `bounds`, or not a finite number; None where all are sound."""
        mix_is_sound = not self.mix.size or is_within(self.mix, *bounds(LOOSE))  # faster than kind by kind
        for name, layer in self.layers.items():
            if mix_is_sound and name.startswith(LOOSE):
                continue
            if cell := unsound_cell(name, layer):
                return name, *cell
        return None

    def end_cycle(self) -> None:
        """Forget what processes tell each other within a cycle."""
        self.spills = None
        self.rising = None
        self.soaking = 0.0

    def state(self, old: dict[str, Any] | None = None) -> dict[str, Any]:
        """A copy of all that changes from cycle to cycle, in the arrays of an old one where there is one."""
        derived = {"sediment"} if self.materials is not None else set()
        layers: dict[str, NDArray[Any]] = {}
        for name in self.layers.keys() - derived - CONSTANT:
            kept = old["layers"].get(name) if old else None
            layers[name] = np.empty(self.shape, self.layers[name].dtype) if kept is None else kept
            layers[name][...] = self.layers[name]
        return {
            "layers": layers,
            "trees": self.trees.copy(),
            "trees_version": self.trees_version,
            "cycle": self.cycle,
            "snowballs": self.snowballs,
            "wind_field_direction": self.wind_field_direction,
            "changed": dict(self.changed),
            "ledger": self.ledger_copy(),
        }

    def ledger_copy(self) -> Ledger:
        """The ledger as it is now, for others to keep."""
        return msgspec.convert(msgspec.to_builtins(self.ledger), Ledger)

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        for name in self.layers.keys() - state["layers"].keys() - set(LAYERS) - CONSTANT:
            del self.layers[name]  # a trace that nobody had left yet
        for names in list(self._packs):
            self._packs[names][..., len(names) :] = 0.0
            if names[0] not in self.layers:
                del self._packs[names]
        for name, layer in state["layers"].items():
            self.layers[name][...] = layer
        if self.materials is None:
            np.add(self.bedrock, self.sediment, out=self.ground)
        else:
            self.sum_mix()
        self.end_cycle()
        self.trees = state["trees"].copy()
        self.trees_version = state["trees_version"]
        self.cycle = state["cycle"]
        self.snowballs = state["snowballs"]
        self.wind_field_direction = state["wind_field_direction"]
        self.changed = dict(state["changed"])
        self.ledger = msgspec.convert(msgspec.to_builtins(state["ledger"]), Ledger)

    def _volume(self, layer: Layer) -> float:
        return float(layer.sum()) * self.cell_area

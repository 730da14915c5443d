"""The state that the simulation owns: the layers of the ground, and the ledger of what came and went."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.model.centrelines import CENTRELINE_COLUMNS, fault_of_centrelines
from app.model.errors import UserError
from app.model.georeference import Origin
from app.model.layers import GROUND, LAYERS, LOOSE, SCRATCH, burdening, layer_declaration, side_by_side
from app.model.ledger import Account, Ledger
from app.model.materials import Materials
from app.model.plants import TREE_COLUMNS, fault_of_trees, shipped_flora
from kernels.standing import DRY, LAKE

if TYPE_CHECKING:
    from kernels.materials import Materials as MaterialFields

Layer = NDArray[np.float64]

LARGEST_SIDE = 8192
SMALLEST_SIDE = 8

# Sides of a cell in metres: beyond them lies no landscape, and far beyond them volumes overflow or vanish.
SMALLEST_CELL = 1e-4
LARGEST_CELL = 1e6
SMALLEST_RELIEF = 1e-3  # metres: a flatter land has no ways for water that numbers of the picture could tell
LARGEST_RELIEF = 9000.0

ABOUT = 0.999  # of a length that is as long as another one, but for how both were rounded

DEFAULT_CELL_SIZE = 20.0  # metres, where neither source nor scene gives one

LARGEST_CYCLE = 2**53  # what every reader of JSON keeps exactly

TOUCHES = 2**20  # by hand, between two cycles: versions of what was changed then are told apart as far as this


def check_extent(longer_side: float, reference_cell_size: float) -> None:
    """Raise `UserError` where a map of this length is less of a land, in reference cells, than the smallest map of it.

    On each reference cell fall as many particles as on a cell of that size: on a small part of one, more than end.
    """
    if longer_side < SMALLEST_SIDE * reference_cell_size * ABOUT:
        raise UserError(
            f"a map of {longer_side:g} m: it must be at least {SMALLEST_SIDE} reference cells long, which have "
            f"{reference_cell_size:g} m; world.reference_cell_size says how large they are"
        )


def is_within(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether all values are from `low` to `high`, which NaN is not."""
    # Far cheaper than a test of each; both are NaN where any value is.
    return bool(values.min() >= low and values.max() <= high)


def unsound_cell(name: str, layer: NDArray[Any]) -> tuple[int, int] | None:
    """The first cell of a layer whose value is beyond its bounds, or not a finite number; None where all are sound."""
    low, high = layer_declaration(name).bounds
    if is_within(layer, low, high):
        return None
    row, column = np.argwhere(~((layer >= low) & (layer <= high)))[0]
    return int(row), int(column)


class World:
    """Layers in float64 metres, `[row, column]`, row 0 in the north, on square cells of side `cell_size` metres.

    `app.model.layers` declares what each layer is. `ground` is the sum of those that raise it, which water and wind
    see: rock, sediment, and the `burden` of all others, to the last bit. A process that changes one of these keeps it
    current, cell by cell: kernels do so by `ground_of`, and what runs over whole layers by `sum_ground`.

    `mix` is the thickness of each loose material, [row, column, kind], and `sediment` their sum in the order of their
    numbers, to the last bit. A world that knows one alone has a view of `sediment` there; where it knows several, a
    layer `loose_<name>` is a view of each.

    `reference_cell_size` is the side of a cell, in metres, for which those parameters hold that count cells, steps or
    particles; it is `cell_size`, if not given.

    Derived from the layers by the process of lakes and sea: `standing` is DRY, LAKE or SEA,
    `water_level` its surface, which is flat to the last bit in each lake; it is the ground where it is dry.
    """

    def __init__(
        self,
        bedrock: Layer,
        sediment: Layer,
        cell_size: float,
        seed: int,
        water: Layer | None = None,
        reference_cell_size: float = 0.0,
    ) -> None:
        self.layers: dict[str, NDArray[Any]] = {
            "bedrock": np.ascontiguousarray(bedrock, np.float64),
            "sediment": np.ascontiguousarray(sediment, np.float64),
            "water": np.zeros(np.shape(bedrock)) if water is None else np.ascontiguousarray(water, np.float64),
        }
        self.ground: Layer = np.empty(self.shape)
        self.sum_ground()
        self.standing = np.where(self.water > 0.0, LAKE, DRY).astype(np.uint8)
        self.water_level: Layer = self.ground + self.water
        self.sea_level = -math.inf  # where there is no sea
        self.water_version = 0  # grows with each change of the three above
        self.walls = False  # whether the map's edges keep all water
        self.materials: Materials | None = None  # where there are several
        self.mix = self.sediment[..., None]
        self.flora = shipped_flora()
        self.origin: Origin | None = None  # of a world that began with a model that has one
        self.trees = np.empty((0, len(TREE_COLUMNS)), np.float32)
        self.trees_version = 0  # as `version` was when they were changed last
        self.centrelines = np.empty((0, len(CENTRELINE_COLUMNS)))  # of rivers that meander
        self.wind_field_direction = 0.0  # degrees that the prevailing wind came from when the field was found
        self._packs: dict[str, NDArray[np.float32]] = {}
        self.changed = dict.fromkeys(self.layers, 0)  # as `version` was when each layer was changed last
        if not SMALLEST_CELL <= cell_size <= LARGEST_CELL:
            raise UserError(f"cells of {cell_size:g} m: a side must be from {SMALLEST_CELL:g} to {LARGEST_CELL:g} m")
        self.cell_size = float(cell_size)
        self.reference_cell_size = float(reference_cell_size) or self.cell_size
        self.seed = int(seed)
        self.cycle = 0
        self.touches = 0  # by hand since the last cycle
        self.snowballs = 0  # that have fallen
        self.years = 0.0  # of geological time
        self.years_to_come = 0.0  # of it, that have passed and wait for the next step
        self.has_past = False  # whether it has water and plants of before its first cycle
        self.cycles_before = 0  # that the averages of streams know beside those since the first
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
        self._sum_ground(self.ground[cells], cells)

    def _sum_ground(self, ground: Layer, cells: Any = np.s_[:, :]) -> Layer:
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

    def lay_materials(self, materials: Materials, parts: Mapping[str, float], rise: NDArray[np.float32]) -> None:
        """Make the ground of several materials: the rock in strata, whose top is at `rise`, the sediment a mix.

        `parts` are the proportions of the kinds.
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

    def sum_mix(self, cells: Any = np.s_[:, :]) -> None:
        """Bring sediment and ground up to date with the mix, in all cells or in those of an index."""
        if self.materials is not None:
            sediment, mix = self.sediment[cells], self.mix[cells]
            sediment[...] = 0.0
            for kind in range(mix.shape[2]):
                sediment += mix[..., kind]
        self.sum_ground(cells)

    def material_fields(self, **properties: float) -> MaterialFields:
        """The materials as kernels take them, with this world's own arrays.

        `properties` are those of sediment and rock in a world that knows one sort of each: 1 where they are not told.
        """
        from kernels.materials import Materials as MaterialFields
        from kernels.materials import one_kind

        raised = self.burden
        burden = np.empty(0) if raised is None else raised.reshape(-1)
        if self.materials is None:
            kind = one_kind(self.sediment, **properties)
            return kind if raised is None else kind._replace(burden=burden)
        return MaterialFields(
            burden=burden,
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
    def refinement(self) -> float:
        """How many cells lie along a side of a reference cell: 1 where parameters that count cells hold as they are."""
        return self.reference_cell_size / self.cell_size

    @property
    def cell_area(self) -> float:
        """Square metres."""
        return self.cell_size * self.cell_size

    def stored(self, substance: str) -> float:
        """Cubic metres of a substance that lie in the layers now."""
        names = (name for name in (*LAYERS, LOOSE + substance) if name in self.layers)  # drops do not outlive a cycle
        return sum(self._volume(self.layers[name]) for name in names if layer_declaration(name).account == substance)

    def imbalance(self) -> float:
        """The largest imbalance of any account, as a fraction: 0 means that nothing was lost or made from nothing."""
        return max(map(abs, self.imbalances().values()))

    def imbalances(self) -> dict[str, float]:
        """The imbalance of each account, as `Account.imbalance` has it."""
        return {name: account.imbalance(self.stored(name)) for name, account in self.ledger.accounts().items()}

    def unsound_cell(self) -> tuple[str, int, int] | None:
        """The first layer and cell whose value is beyond `bounds`, or not a finite number; None where all are sound.

        The ground counts as one, which is unsound where it is not the sum of the layers that raise it.
        """
        # Faster than kind by kind
        mix_is_sound = self.materials is None or is_within(self.mix, *layer_declaration(LOOSE).bounds)
        for name, layer in self.layers.items():
            if mix_is_sound and name.startswith(LOOSE):
                continue
            if cell := unsound_cell(name, layer):
                return name, *cell
        differs = self.ground != self._sum_ground(np.empty(self.shape))
        if differs.any():
            row, column = np.argwhere(differs)[0]
            return GROUND, int(row), int(column)
        return None

    def fault_of_tables(self) -> str:
        """What is wrong with the trees or the centrelines, in words; empty: nothing."""
        if fault := fault_of_trees(self.trees, self.shape, self.flora):
            return f"trees: {fault}"
        rows, columns = self.shape
        fault = fault_of_centrelines(self.centrelines, (rows * self.cell_size, columns * self.cell_size))
        return f"centrelines: {fault}" if fault else ""

    def state(self, old: dict[str, Any] | None = None) -> dict[str, Any]:
        """A copy of all that changes from cycle to cycle, in the arrays of an old one where there is one."""
        derived = {"sediment"} if self.materials is not None else set()
        layers: dict[str, NDArray[Any]] = {}
        for name in self.layers.keys() - derived:
            if layer_declaration(name).given:
                continue
            kept = old["layers"].get(name) if old else None
            layers[name] = np.empty(self.shape, self.layers[name].dtype) if kept is None else kept
        state = {"layers": layers, **self.rest_of_state()}
        # Last: where there is no memory for all of the above, the old state is still whole.
        for name, layer in layers.items():
            layer[...] = self.layers[name]
        return state

    def rest_of_state(self) -> dict[str, Any]:
        """A copy of what `state` has besides the layers."""
        return {
            "trees": self.trees.copy(),
            "trees_version": self.trees_version,
            "centrelines": self.centrelines.copy(),
            "cycle": self.cycle,
            "touches": self.touches,
            "snowballs": self.snowballs,
            "years": self.years,
            "years_to_come": self.years_to_come,
            "has_past": self.has_past,
            "cycles_before": self.cycles_before,
            "wind_field_direction": self.wind_field_direction,
            "changed": dict(self.changed),
            "ledger": self.ledger_copy(),
        }

    def ledger_copy(self) -> Ledger:
        """The ledger as it is now, for others to keep."""
        return msgspec.convert(msgspec.to_builtins(self.ledger), Ledger)

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to what `state` returned."""
        for name in self.layers.keys() - state["layers"].keys():
            if not (layer_declaration(name).always or layer_declaration(name).given):
                del self.layers[name]  # a trace that no process had left yet
        for pack in list(self._packs):
            names = side_by_side(pack)
            self._packs[pack][..., len(names) :] = 0.0
            if names[0] not in self.layers:
                del self._packs[pack]
        for name, layer in state["layers"].items():
            (self.layers[name] if name in self.layers else self.trace(name))[...] = layer
        self.sum_mix()
        self.trees = state["trees"].copy()
        self.trees_version = state["trees_version"]
        self.centrelines = state["centrelines"].copy()
        self.cycle = state["cycle"]
        self.touches = state["touches"]
        self.snowballs = state["snowballs"]
        self.years = state["years"]
        self.years_to_come = state["years_to_come"]
        self.has_past = state["has_past"]
        self.cycles_before = state["cycles_before"]
        self.wind_field_direction = state["wind_field_direction"]
        self.changed = dict(state["changed"])
        self.ledger = msgspec.convert(msgspec.to_builtins(state["ledger"]), Ledger)

    @classmethod
    def from_state(
        cls,
        state: dict[str, Any],
        given: Mapping[str, NDArray[Any]],
        materials: Materials | None,
        cell_size: float,
        seed: int,
        reference_cell_size: float = 0.0,
    ) -> World:
        """A world in a state as `state` returns it; `given` are the layers that never change.

        The levels of its lakes are derived from how much water lies there, see `app.processes.pools`.
        """
        layers = state["layers"]
        bedrock = layers["bedrock"].copy()
        sediment = np.zeros_like(bedrock) if materials is not None else layers["sediment"].copy()
        world = cls(bedrock, sediment, cell_size, seed, layers["water"].copy(), reference_cell_size)
        if materials is not None:
            world.restore_materials(materials, layers)
        for name, layer in given.items():
            world.trace(name)[...] = layer
        for name in layers.keys() - world.layers.keys():
            world.trace(name)
        world.restore(state)
        return world

    def copy(self) -> World:
        """Another world in the same state, which shares nothing that changes with this one."""
        given = {name: layer for name, layer in self.layers.items() if layer_declaration(name).given}
        other = World.from_state(
            self.state(), given, self.materials, self.cell_size, self.seed, self.reference_cell_size
        )
        other.standing, other.water_level = self.standing.copy(), self.water_level.copy()
        other.flora, other.origin = self.flora, self.origin
        other.sea_level, other.water_version, other.walls = self.sea_level, self.water_version, self.walls
        return other

    def _volume(self, layer: Layer) -> float:
        return float(layer.sum()) * self.cell_area

"""The world: the state that the simulation owns, with layers and ledger."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.model.beds import ARRAYS, Beds
from app.model.centrelines import CENTRELINE_COLUMNS
from app.model.climate import MoistWind
from app.model.errors import UserError
from app.model.georeference import Origin
from app.model.layered_map import Layer, LayeredMap
from app.model.layers import BURIED, LAYERS, LOOSE, ROOF, STRATA, burdening, layer_declaration, side_by_side
from app.model.ledger import Account, Ledger
from app.model.materials import Materials, rock_numbers
from app.model.plants import TREE_COLUMNS, shipped_flora
from kernels.blocks import for_blocks
from kernels.standing import DRY, LAKE

if TYPE_CHECKING:
    from kernels.materials import Materials as MaterialFields

LARGEST_SIDE = 8192
SMALLEST_SIDE = 8

# Limits of cell sizes in metres: there are no landscapes beyond them, and far beyond, volumes overflow or underflow.
SMALLEST_CELL = 1e-4
LARGEST_CELL = 1e6
SMALLEST_RELIEF = 1e-3  # metres: flatter land has no flow paths in single precision
LARGEST_RELIEF = 9000.0

ABOUT = 0.999  # ratio of lengths that are equal up to rounding

DEFAULT_CELL_SIZE = 20.0  # metres, if neither source nor scene gives one


# Plain numbers of a state
COUNTS = (
    "trees_version", "cycle", "touches", "snowballs", "years", "years_to_come", "way_to_come", "has_past",
    "cycles_before", "wind_field_direction", "rain_wind", "swell_direction",
)  # fmt: skip


def check_extent(longer_side: float, reference_cell_size: float) -> None:
    """Raise `UserError` if a map covers too few reference cells.

    Each reference cell gets as many particles as a cell of that size; on a small part of one, too many would gather.
    """
    if longer_side < SMALLEST_SIDE * reference_cell_size * ABOUT:
        raise UserError(
            f"a map of {longer_side:g} m: it must be at least {SMALLEST_SIDE} reference cells long, which have "
            f"{reference_cell_size:g} m; world.reference_cell_size says how large they are"
        )


class World(LayeredMap):
    """A map of square cells of side `cell_size` in metres, with its materials and the ledger of gains and losses.

    `mix` is the thickness of each loose material, [row, column, kind], and `sediment` is exactly their sum in the order
    of kinds. In a world with a single kind, `mix` is a view of `sediment`; with several, layers `loose_<name>` are
    views of it.

    `reference_cell_size` is the side of a cell in metres to which parameters in cells, steps or particles refer; by
    default it is `cell_size`.

    The process of lakes and sea derives `standing` (DRY, LAKE or SEA) and `water_level`, the surface of the water,
    which is exactly flat in each lake; on dry ground it is the ground.
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
        super().__init__(bedrock, sediment, water)
        self.standing = np.where(self.water > 0.0, LAKE, DRY).astype(np.uint8)
        self.water_level: Layer = self.ground + self.water
        self.sea_level = -math.inf  # no sea
        self.water_version = 0  # grows with each change of the three above
        self.walls = False  # whether the edges are walls for water
        self.materials: Materials | None = None  # if there are several
        self.mix = self.sediment[..., None]
        self.beds: Beds | None = None  # below the loose material of the layers, if any were buried
        self.flora = shipped_flora()
        self.origin: Origin | None = None  # of the source model, if it has one
        self.trees = np.empty((0, len(TREE_COLUMNS)), np.float32)
        self.trees_version = 0  # `version` at their last change
        self.centrelines = np.empty((0, len(CENTRELINE_COLUMNS)))  # of meandering rivers
        self.wind_field_direction = 0.0  # direction of the prevailing wind for which the field was computed, degrees
        self.rain_wind = MoistWind()  # of the map of rain
        self.swell_direction = 0.0  # degrees clockwise from north that the known swell runs to
        self._kinds_buried: Layer | None = None  # metres of each kind in the present beds, if known
        if not SMALLEST_CELL <= cell_size <= LARGEST_CELL:
            raise UserError(f"cells of {cell_size:g} m: a side must be from {SMALLEST_CELL:g} to {LARGEST_CELL:g} m")
        self.cell_size = float(cell_size)
        self.reference_cell_size = float(reference_cell_size) or self.cell_size
        self.seed = int(seed)
        self.snowballs = 0  # fallen so far
        self.years = 0.0  # of geological time
        self.years_to_come = 0.0  # geological time that waits for the next step
        self.way_to_come = 0.0  # metres that land waits to be carried sideways, in whole cells
        self.has_past = False  # whether it was spun up
        self.cycles_before = 0  # cycles in the averages of streams before the first cycle
        self.ledger = Ledger(water=Account(initial=self.stored("water"), scale=self.stored("water")))
        self._begin_accounts()

    def lay_materials(
        self,
        materials: Materials,
        parts: Mapping[str, float],
        rise: NDArray[np.float32],
        roof: NDArray[np.float32] | None = None,
    ) -> None:
        """Use several materials: rock in strata with their top at `rise`, sediment as a mix.

        `parts` are the proportions of the kinds; `roof` is the layer of roofs of intrusions, if they have some.
        """
        self._have_materials(materials)
        total = sum(parts.values())
        for name, part in parts.items():
            self.mix[..., materials.kind(name)] += self.sediment * (part / total)
        self.trace(STRATA)[...] = rise
        if roof is not None:
            self.trace(ROOF)[...] = roof
        self.sum_mix()
        self._begin_accounts()

    def lay_soil(self, depths: Mapping[str, Layer]) -> None:
        """Turn the uppermost rock into loose kinds of these thicknesses in metres, [row, column], at constant height.

        Each cell mixes them with loose material that is already there. Only before the first cycle.
        """
        assert self.materials is not None
        for name, depth in depths.items():
            self.mix[..., self.materials.kind(name)] += depth
            self.bedrock[...] -= depth
        self.sum_mix()
        self._begin_accounts()

    def lay_beds(self, beds: Sequence[tuple[str, Layer]]) -> None:
        """Turn rock below what is loose into beds of these kinds and thicknesses in metres, from the top.

        Thicknesses are [row, column]. The ground keeps its height. Only before the first cycle.
        """
        assert self.materials is not None
        self.beds = Beds.none(self.mix.shape[2], self.shape)
        for name, thickness in beds:
            self.beds = self.beds.with_below(self.materials.kind(name), thickness)
        buried = self.trace(BURIED)
        buried[...] = self.beds.sum()
        self.bedrock[...] -= buried
        self.sum_ground()
        self._begin_accounts()

    def _begin_accounts(self) -> None:
        """Start the ledger with the current rock and loose kinds."""
        self.ledger.rock = Account(initial=self.stored("rock"), scale=self._volume(np.abs(self.bedrock)))
        self.ledger.sediment = Account(initial=self.stored("sediment"), scale=self.stored("sediment"))
        for name in self.materials.names if self.materials is not None else ():
            self.ledger.kinds[name] = Account(initial=self.stored(name), scale=self.stored("sediment"))

    def restore_materials(self, materials: Materials, layers: Mapping[str, Layer]) -> None:
        """Like `lay_materials`, with the mix of a saved world, and without the ledger."""
        self._have_materials(materials)
        for name in materials.names:
            self.layers[LOOSE + name][...] = layers[LOOSE + name]

    def sum_mix(self, cells: Any = None) -> None:
        """Recompute sediment and ground from the mix, in all cells or in an index."""
        if self.materials is not None and cells is None:
            for_blocks(self._sum_kinds, *self.shape)
        elif self.materials is not None:
            self._sum_kinds(cells)
        self.sum_ground(cells)

    def _sum_kinds(self, cells: Any) -> None:
        sediment, mix = self.sediment[cells], self.mix[cells]
        sediment[...] = 0.0
        for kind in range(mix.shape[2]):
            sediment += mix[..., kind]

    def material_fields(self, **properties: float) -> MaterialFields:
        """The materials for kernels, with the arrays of this world.

        `properties` are those of the single sediment and rock of a world without materials, by default 1.
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
            rise=_attitude(self.layers),
            **self.materials.properties,
        )

    def _have_materials(self, materials: Materials) -> None:
        self.materials = materials
        self.mix = np.zeros((*self.shape, len(materials.loose)))
        for number, name in enumerate(materials.names):
            self.layers[LOOSE + name] = self.mix[..., number]

    @property
    def refinement(self) -> float:
        """Cells along the side of a reference cell; 1 if parameters that count cells apply unchanged."""
        return self.reference_cell_size / self.cell_size

    @property
    def cell_area(self) -> float:
        """Area of a cell in square metres."""
        return self.cell_size * self.cell_size

    def stored(self, substance: str) -> float:
        """Cubic metres of a substance in the layers."""
        names = (name for name in (*LAYERS, LOOSE + substance) if name in self.layers)  # drops end within a cycle
        layers = ((layer_declaration(name), self.layers[name]) for name in names)
        in_layers = sum(layer.content * self._volume(values) for layer, values in layers if layer.account == substance)
        return in_layers + self._buried(substance)

    def _buried(self, kind: str) -> float:
        """Cubic metres of a loose kind in buried beds."""
        if self.beds is None or self.materials is None or kind not in self.materials.names:
            return 0.0
        if self._kinds_buried is None:
            self._kinds_buried = self.beds.thickness_of_kinds()
        return float(self._kinds_buried[self.materials.kind(kind)]) * self.cell_area

    @property
    def loose(self) -> Layer:
        """Thickness of all loose material, buried beds too, in metres, [row, column]; read-only."""
        return self.sediment if self.beds is None else self.sediment + self.layers[BURIED]

    def edge_beds(self) -> NDArray[np.float32] | None:
        """Metres of each kind in the loose material at the edges of the map, [side, place, bed, kind].

        Sides are north, east, south and west, places the columns or rows; the first bed is the active layer. None if
        there are no beds.
        """
        if self.beds is None:
            return None
        found = np.zeros((4, max(self.shape), self.beds.most + 1, self.mix.shape[2]), np.float32)
        edges: tuple[tuple[Any, Any], ...] = np.s_[0, :], np.s_[:, -1], np.s_[-1, :], np.s_[:, 0]
        flat = self.beds.numbers.reshape(-1)
        firsts = (np.cumsum(flat, dtype=np.int64) - flat).reshape(self.shape)
        for side, cells in enumerate(edges):
            active, first, number = self.mix[cells], firsts[cells], self.beds.numbers[cells]
            found[side, : len(active), 0] = active
            for bed in range(int(number.max(initial=0))):
                there = np.flatnonzero(number > bed)
                found[side, there, bed + 1] = self.beds.thicknesses[first[there] + bed]
        return found

    def bury(self, active: float, count: int) -> bool:
        """Bury what exceeds an active layer of `active` metres in up to `count` beds, or exhume what it lacks.

        Returns whether anything has changed.
        """
        from kernels.stratigraphy import exchange, limit

        changed = self.beds is None or self.beds.most > count
        if self.beds is None:
            self.trace(BURIED)
            self.beds = Beds.none(self.mix.shape[2], self.shape)
        elif self.beds.most > count:
            self.beds = Beds(self.beds.numbers, *limit(self.mix, self.sediment, self.layers[BURIED], *self.beds, count))
        exchanged, *arrays = exchange(
            self.mix, self.sediment, self.layers[BURIED], *self.beds, active, count, self.cycle
        )
        self.beds = Beds(self.beds.numbers, *arrays)
        changed |= exchanged
        if changed:
            self._kinds_buried = None
            self.sum_ground()
        return changed

    def spare_rock(self, before: Layer) -> Layer:
        """Take from beds what was taken of the rock below them since it was as high as `before`, [row, column].

        Returns the cubic metres of each kind, [kind].
        """
        assert self.beds is not None
        from kernels.stratigraphy import spare_rock

        taken, *arrays = spare_rock(self.bedrock, before, self.layers[BURIED], *self.beds)
        self.beds = Beds(self.beds.numbers, *arrays)
        if taken.any():
            self._kinds_buried = None
            self.sum_ground()
        return taken * self.cell_area

    def exhume(self, wanted: Layer | float = math.inf, north: int = 0, west: int = 0) -> bool:
        """Let uppermost beds become loose material of the layers until that is `wanted` metres thick.

        `wanted` is for all cells, or [row, column] for those of a part of the map that begins at row `north` and column
        `west`. Returns whether any did.
        """
        if self.beds is None:
            return False
        from kernels.stratigraphy import exhume

        metres = np.asarray(wanted, np.float64)
        if metres.ndim == 0:
            metres = np.broadcast_to(metres, self.shape)
        buried, *others = burdening(self.layers)
        changed, *arrays = exhume(
            self.mix, self.sediment, buried, *self.beds, metres, north, west, self.bedrock, self.ground, others
        )
        self.beds = Beds(self.beds.numbers, *arrays)
        if changed:
            self._kinds_buried = None
        return changed

    def forget_beds(self) -> None:
        """Let all beds become loose material of the layers, which mixes them."""
        self.exhume()
        self.beds = None
        self.forget(BURIED)
        self.sum_ground()

    def imbalance(self) -> float:
        """The largest imbalance of any account, as a fraction."""
        return max(map(abs, self.imbalances().values()))

    def imbalances(self) -> dict[str, float]:
        """The imbalance of each account, see `Account.imbalance`."""
        return {name: account.imbalance(self.stored(name)) for name, account in self.ledger.accounts().items()}

    def layers_of_state(self) -> dict[str, NDArray[Any]]:
        """The layers of a state: without constant ones, and without sediment that is the sum of a mix."""
        derived = {"sediment"} if self.materials is not None else set()
        layers = {
            name: layer
            for name, layer in self.layers.items()
            if name not in derived and not layer_declaration(name).given
        }
        return layers if self.beds is None else layers | self.beds.arrays()

    def version_of(self, name: str) -> int:
        """`version` at the last change of a layer."""
        if name in ARRAYS:
            return self.changed[BURIED]
        return self.changed["sediment" if name.startswith(LOOSE) else name]

    def state(self) -> dict[str, Any]:
        """A copy of everything that changes from cycle to cycle."""
        layers = {name: layer.copy() for name, layer in self.layers_of_state().items()}
        return {"layers": layers, **self.rest_of_state()}

    def rest_of_state(self) -> dict[str, Any]:
        """A copy of `state` without the layers."""
        return {
            **{name: getattr(self, name) for name in COUNTS},
            "trees": self.trees.copy(),
            "centrelines": self.centrelines.copy(),
            "changed": dict(self.changed),
            "ledger": self.ledger_copy(),
        }

    def ledger_copy(self) -> Ledger:
        """A copy of the ledger."""
        return _copied(self.ledger)

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state."""
        for name in self.layers.keys() - state["layers"].keys():
            if not (layer_declaration(name).always or layer_declaration(name).given):
                del self.layers[name]  # a trace that did not exist then
        for pack in list(self._packs):
            names = side_by_side(pack)
            self._packs[pack][..., len(names) :] = 0.0
            if names[0] not in self.layers:
                del self._packs[pack]
        layers = {name: layer for name, layer in state["layers"].items() if name not in ARRAYS}
        self.beds = Beds.of_state(state["layers"])
        self._kinds_buried = None
        for name, layer in layers.items():
            (self.layers[name] if name in self.layers else self.trace(name))[...] = layer
        self.sum_mix()
        for name in COUNTS:
            setattr(self, name, state[name])
        self.trees = state["trees"].copy()
        self.centrelines = state["centrelines"].copy()
        self.changed = dict(state["changed"])
        self.ledger = _copied(state["ledger"])

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
        """A world in a state from `state`; `given` are the constant layers.

        The levels of lakes are derived from their water, see `app.processes.pools`.
        """
        layers = {name: np.array(layer) for name, layer in state["layers"].items()}  # some are compressed
        bedrock = layers["bedrock"]
        sediment = np.zeros_like(bedrock) if materials is not None else layers["sediment"]
        world = cls(bedrock, sediment, cell_size, seed, layers["water"], reference_cell_size)
        if materials is not None:
            world.restore_materials(materials, layers)
        for name, layer in given.items():
            world.trace(name)[...] = layer
        for name in layers.keys() - world.layers.keys() - set(ARRAYS):
            world.trace(name)
        world.restore(state)
        return world

    def copy(self, state: dict[str, Any] | None = None) -> World:
        """A copy of the world in its current or an older state. It shares nothing that changes."""
        given = {name: layer for name, layer in self.layers.items() if layer_declaration(name).given}
        other = World.from_state(
            state or self.state(), given, self.materials, self.cell_size, self.seed, self.reference_cell_size
        )
        other.standing, other.water_level = self.standing.copy(), self.water_level.copy()
        other.flora, other.origin = self.flora, self.origin
        other.sea_level, other.water_version, other.walls = self.sea_level, self.water_version, self.walls
        return other

    def _volume(self, layer: Layer) -> float:
        return float(layer.sum()) * self.cell_area


def _copied(ledger: Ledger) -> Ledger:
    return msgspec.convert(msgspec.to_builtins(ledger), Ledger)


def _attitude(layers: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The attitude of the strata, as `kernels.materials.Materials.rise` has it."""
    rise, roof = layers[STRATA], layers.get(ROOF)
    return rise.reshape(1, -1) if roof is None else np.stack((rise.reshape(-1), roof.reshape(-1)))


def rocks_on_top(world: World, cells: Any = np.s_[:, :]) -> NDArray[np.intp]:
    """The number of the rock on top of the bedrock, in all cells or in an index."""
    assert world.materials is not None
    depth, roof = world.layers[STRATA][cells] - world.bedrock[cells], world.layers.get(ROOF)
    return rock_numbers(world.materials, depth, None if roof is None else roof[cells])


def take_beds(world: World, source: NDArray[np.int64]) -> None:
    """Take the beds of each cell from another one, [cell], as its layers were."""
    from kernels.stratigraphy import taken_from

    if world.beds is not None:
        world.beds = Beds(*taken_from(*world.beds, source))
        world._kinds_buried = None

"""Publishing of snapshots, so that neither thread waits for the other."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from app.model.layers import BED_AGE, BED_NUMBER, BURIED, ROOF, STRATA, burdening, layer_declaration
from app.model.overlays import DIFFERENCE, OVERLAYS
from app.model.snapshot import BURDEN, RAISING, SURVEYED_LEVEL, Snapshot, Survey
from app.model.world import World
from kernels.rock import INTRUDED
from kernels.standing import DRY

MOST_NUMBERS = 1024  # world numbers that a version can tell apart
# Bytes of snapshots up to which their arrays are used again. Cycles of larger worlds take so long that new memory for
# each snapshot costs next to nothing, and where one set of arrays alone is in memory most of the time, they need less.
LARGEST_KEPT = 2**25


class Publisher:
    """Publishes snapshots of one world, or of several that are compared.

    Two sets of arrays alternate: the picture reads one while the other is written. Large ones that nobody reads any
    more are freed instead. Only `take` and `give_back` may be called from another thread.
    """

    def __init__(self) -> None:
        self._numbers: tuple[int, ...] = ()  # of the worlds
        self._highest_number = 0
        self._sets: list[tuple[Snapshot, ...]] = []  # the last two of these worlds
        self._read: list[tuple[Snapshot, ...]] = []  # taken and not given back, of any worlds
        self._published: tuple[Snapshot, ...] = ()
        self._lock = threading.Lock()

    def first(self, worlds: Sequence[World], overlay: str) -> tuple[Snapshot, ...]:
        """The first snapshots of new worlds, with new numbers. They are not published yet."""
        numbers = itertools.count(self._highest_number + 1)
        return tuple(take_snapshot(world, next(numbers), overlay=overlay) for world in worlds)

    def begin(self, snapshots: tuple[Snapshot, ...]) -> None:
        """Publish the first snapshots of new worlds."""
        self._numbers = tuple(snapshot.world for snapshot in snapshots)
        self._highest_number = max(self._numbers)
        self._sets = [snapshots]
        with self._lock:
            self._published = snapshots

    def keep_only(self, worlds: Sequence[int]) -> None:
        """Keep only these worlds, in order."""
        self._numbers = tuple(self._numbers[world] for world in worlds)
        self._sets = []

    def add(self) -> None:
        """Add a world to the comparison."""
        self._highest_number += 1
        self._numbers = (*self._numbers, self._highest_number)
        self._sets = []

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of the worlds."""
        return self._numbers

    @property
    def is_full(self) -> bool:
        """Whether the last snapshots have not been taken, or no arrays are free."""
        return bool(self._published) or not self.has_place

    @property
    def has_place(self) -> bool:
        """Whether there are free arrays to write to."""
        with self._lock:
            return len(self._sets) < 2 or bool(self._published) or bool(self._unread())

    def _unread(self) -> list[int]:
        """The indices of the sets that nobody reads."""
        reading = set(map(id, self._read))
        return [place for place, snapshots in enumerate(self._sets) if id(snapshots) not in reading]

    def publish(self, worlds: Sequence[World], surveys: Sequence[Survey | None], overlay: str) -> None:
        """Publish the current worlds. Snapshots that were not taken yet are overwritten."""
        old: Sequence[Snapshot | None] = (None,) * len(worlds)
        with self._lock:
            if len(self._sets) == 2:
                if places := [1] if self._published else self._unread():
                    old = self._sets.pop(places[0])
                else:  # the last were taken just now: the reader alone keeps the oldest
                    self._sets.pop(0)
                self._published = ()
        last: Sequence[Snapshot | None] = self._sets[-1] if self._sets else (None,) * len(worlds)
        in_use = frozenset(
            id(layer) for each in (*self._sets, *self._read) for snapshot in each for layer in snapshot.layers.values()
        )
        snapshots = tuple(
            take_snapshot(world, number, before, survey, overlay, last=one_before, in_use=in_use)
            for world, number, before, survey, one_before in zip(worlds, self._numbers, old, surveys, last, strict=True)
        )
        if overlay == DIFFERENCE and len(worlds) > 1:
            _compare(worlds, snapshots)
        with self._lock:
            self._sets.append(snapshots)
            self._published = snapshots

    def take(self, *, gives_back: bool = True) -> tuple[Snapshot, ...]:
        """The newest snapshots, one per world and all of the same cycle; none if nothing is new.

        Gives back the arrays of the last snapshots, unless the caller still reads them and gives them back later.
        """
        with self._lock:
            snapshots, self._published = self._published, ()
            if snapshots:
                self._read = [snapshots] if gives_back else [*self._read, snapshots]
                self._free()
        return snapshots

    def give_back(self, shown: Sequence[Snapshot]) -> bool:
        """Give back the arrays of all taken snapshots that are not shown. Returns whether there were any."""
        reading, before = set(map(id, shown)), len(self._read)
        with self._lock:
            self._read = [snapshots for snapshots in self._read if not reading.isdisjoint(map(id, snapshots))]
            if not self._published:
                self._free()
            return len(self._read) < before

    def _free(self) -> None:
        """Forget large sets that nobody reads, if the last was taken."""
        unread = self._unread()
        if unread and sum(map(_bytes, self._sets)) > 2 * LARGEST_KEPT:
            self._sets = [snapshots for place, snapshots in enumerate(self._sets) if place not in unread]


def _bytes(snapshots: Sequence[Snapshot]) -> int:
    """Bytes of the layers of snapshots."""
    return sum(layer.nbytes for snapshot in snapshots for layer in snapshot.layers.values())


def _compare(worlds: Sequence[World], snapshots: Sequence[Snapshot]) -> None:
    """Add the layer of differences: each ground minus the first; for the first, minus the second."""
    for world, snapshot in zip(worlds, snapshots, strict=True):
        reference = 1 if snapshot is snapshots[0] else 0
        if snapshot.layers.get(DIFFERENCE) is None:
            snapshot.layers[DIFFERENCE] = np.empty(world.shape, np.float32)
        np.subtract(world.ground, worlds[reference].ground, out=snapshot.layers[DIFFERENCE], casting="same_kind")
        # The sum grows when either does; the larger one alone might not.
        both = snapshot.ground_version + snapshots[reference].ground_version
        snapshot.versions[DIFFERENCE] = both * MOST_NUMBERS + snapshots[reference].world % MOST_NUMBERS


def take_snapshot(
    world: World,
    number: int = 0,
    old: Snapshot | None = None,
    survey: Survey | None = None,
    overlay: str | None = None,
    *,
    last: Snapshot | None = None,
    in_use: Collection[int] = (),
) -> Snapshot:
    """The state of `world` in float32, written into the arrays of an old snapshot, if given.

    Its layers are those of `shown_versions`, and those of the survey. Layers that did not change since the `last`
    snapshot are shared with it. Arrays with these ids are `in_use` by other snapshots, and are not written to.
    """
    arrays = {} if old is None else old.layers
    before = [snapshot for snapshot in (old, last) if snapshot is not None]
    versions = shown_versions(world, overlay)
    surveyed = {} if survey is None else dict(survey.layers)
    lakes = surveyed.pop(SURVEYED_LEVEL, None)
    if survey is not None and lakes is not None:
        newest = max(versions[name] for name in RAISING if name in versions)
        versions["water"] = (world.water_version << 128) + (survey.versions[SURVEYED_LEVEL] << 96) + newest
        versions["water_level"] = versions["water"]
    for name in arrays.keys() - versions.keys():
        del arrays[name]
    new_layers = set()
    for name, version in versions.items():
        if old is not None and name in arrays and old.versions.get(name) == version:
            continue
        if last is not None and name in last.layers and last.versions.get(name) == version:
            arrays[name] = last.layers[name]
            continue
        if name not in arrays or id(arrays[name]) in in_use:
            arrays[name] = np.empty(world.shape, np.float32)
        new_layers.add(name)
        match name:
            # Dry ground may have been dug since the levels were derived.
            case "water":
                np.subtract(world.water_level, world.ground, out=arrays[name], casting="same_kind")
                np.maximum(arrays[name], 0.0, out=arrays[name])
                arrays[name] *= world.standing != DRY
            case "water_level":
                np.copyto(arrays[name], world.water_level, casting="same_kind")
                np.copyto(arrays[name], world.ground, casting="same_kind", where=world.standing == DRY)
            case "sediment":
                np.copyto(arrays[name], world.loose, casting="same_kind")
            case "burden":
                others = burdening({layer: values for layer, values in world.layers.items() if layer != BURIED})
                np.copyto(arrays[name], sum(others[1:], others[0]), casting="same_kind")
            case "bed_age" | "beds" if world.beds is not None:
                shown = world.beds.age(world.cycle) if name == BED_AGE else world.beds.numbers
                np.copyto(arrays[name], shown, casting="same_kind")
            case "loose_kinds":
                _tell_loose_kinds(world, arrays[name])
            case "strata_rise" if ROOF in world.layers:
                bare = world.layers[STRATA] - world.bedrock >= world.layers[ROOF]
                np.copyto(arrays[name], world.layers[STRATA] + INTRUDED * bare, casting="same_kind")
            case _ if layer_declaration(name).given:
                arrays[name] = world.layers[name]  # which never changes
            case _:
                np.copyto(arrays[name], world.layers[name], casting="same_kind")
    if lakes is not None and "water" in new_layers:
        _add_lakes(arrays, lakes, world.ground)
    if survey is not None:  # whose layers never change
        arrays |= surveyed
        versions |= {name: survey.versions[name] for name in surveyed}
    return Snapshot(
        world=number,
        layers=arrays,
        versions=versions,
        cell_size=world.cell_size,
        seed=world.seed,
        cycle=world.cycle,
        lowest=float(world.ground.min()),
        highest=float(world.ground.max()),
        sea_level=world.sea_level,
        ledger=world.ledger_copy(),
        imbalance=world.imbalance(),
        survey=survey,
        snowballs=world.snowballs,
        years=world.years,
        materials=world.materials,
        trees=_trees(world, before),
        trees_version=world.trees_version,
        version=world.version,
        flora=world.flora,
        reference_cell_size=world.reference_cell_size,
        origin=world.origin,
        edge_beds=_edge_beds(world, before, versions["sediment"]),
        of_world=frozenset(world.layers),
    )


def _trees(world: World, before: Sequence[Snapshot]) -> NDArray[np.float32]:
    """A copy of those of the world, or those of a snapshot before of the same version."""
    for snapshot in before:
        if snapshot.trees_version == world.trees_version:
            return snapshot.trees
    return world.trees.copy()


def _edge_beds(world: World, before: Sequence[Snapshot], version: int) -> NDArray[np.float32] | None:
    """Those of the world, or of a snapshot before of the same version."""
    if world.beds is not None:
        for snapshot in before:
            if snapshot.versions.get("sediment") == version:
                return snapshot.edge_beds
    return world.edge_beds()


SAMPLED = 4  # cells between samples of the loose material of a world


def _tell_loose_kinds(world: World, told: NDArray[np.float32]) -> None:
    """Write the kinds in each cell, see `commonest_kinds`; on bare rock, the commonest of the world.

    Some is seen in the cracks of rock: if that were any kind, the first grains that come to a plain would change
    the colour of all of it from one cycle to the next.
    """
    from kernels.materials import commonest_kinds

    commonest_kinds(world.mix, told)
    of_world = np.empty((1, 1), np.float32)
    commonest_kinds(world.mix[::SAMPLED, ::SAMPLED].sum(axis=(0, 1))[None, None], of_world)
    told[world.sediment <= 0.0] = of_world[0, 0]


def _add_lakes(arrays: dict[str, NDArray[np.float32]], lakes: NDArray[np.float32], ground: NDArray[np.float64]) -> None:
    """Fill lakes up to these levels."""
    depth = np.subtract(lakes, ground, dtype=np.float64).astype(np.float32)
    deeper = depth > arrays["water"]
    arrays["water"][deeper] = depth[deeper]
    arrays["water_level"][deeper] = lakes[deeper]


def shown_versions(world: World, overlay: str | None = None) -> dict[str, int]:
    """The layers that a snapshot of `world` needs, with their present versions.

    With the name of an overlay, layers that only other overlays show are left out.
    """
    in_overlay = None if overlay is None else OVERLAYS[overlay].layers
    versions = {name: version for name, version in world.changed.items() if layer_declaration(name).is_seen(in_overlay)}
    if world.materials is not None:
        versions["loose_kinds"] = versions["sediment"]
    if ROOF in world.layers:
        versions[STRATA] = max(versions[STRATA], versions["bedrock"])
    if world.beds is not None:
        versions["sediment"] = max(versions["sediment"], world.changed[BURIED])
        of_beds = {BED_AGE: world.version, BED_NUMBER: world.changed[BURIED]}
        versions |= {name: of for name, of in of_beds.items() if in_overlay is None or name in in_overlay}
    if raising := burdening({name: version for name, version in world.changed.items() if name != BURIED}):
        versions[BURDEN] = max(raising)
    if world.water_version == 0:
        del versions["water"]  # there has never been any water
    else:
        versions["water"] = versions["water_level"] = world.water_version
    return versions

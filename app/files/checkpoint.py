"""Saved worlds: each layer by name in float64, and one JSON text `meta`."""

from __future__ import annotations

import logging
import math
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np

from app.files.atomic import write_atomically
from app.files.journal import Journal, journal_content, journal_from
from app.files.paths import found_from, named_from
from app.model.arms import fault_of_arms
from app.model.beds import ARRAYS, CYCLES, NUMBERS, THICKNESSES, Beds, fault_of_dense
from app.model.centrelines import fault_of_centrelines
from app.model.climate import MoistWind
from app.model.errors import UserError
from app.model.georeference import (
    Origin,
    Place,
    SourceContent,
    content_of,
    content_of_source,
    georeference_of,
    source_of,
)
from app.model.layered_map import Layer
from app.model.layers import ARM_CODES, BURIED, LARGEST_CYCLE, LAYERS, LOOSE, layer_declaration
from app.model.ledger import LARGEST_IMBALANCE, Ledger
from app.model.materials import MOST_KINDS, Materials, materials_of
from app.model.plants import fault_of_trees, flora_of
from app.model.soundness import unsound_cell
from app.model.world import (
    LARGEST_CELL,
    LARGEST_SIDE,
    SMALLEST_CELL,
    SMALLEST_SIDE,
    World,
    check_extent,
)
from app.scene.scene import Scene, scene_content, scene_from
from kernels.beds import MOST

log = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

FORMAT = 1

TREES = "trees"
CENTRELINES = "centrelines"
UNMAPPED = "unmapped"  # mask of cells without data in the source model, [row, column]
SOURCE_UNMAPPED = "source_unmapped"  # the same in the cells of the source model, if the world has others
MOST_BYTES = MOST * MOST_KINDS // 2  # of buried beds, relative to a layer in float64
NEEDED = ("bedrock", "sediment")  # the layers without which there is no world

LARGEST_SEED = 2**31 - 1


class Meta(msgspec.Struct):
    """The metadata of a saved world."""

    format: int
    cell_size: float
    seed: int
    cycle: int
    parameters: dict[str, Any]
    ledger: Ledger
    snowballs: int = 0
    wind_field_direction: float = 0.0
    years: float = 0.0  # of geological time
    years_to_come: float = 0.0
    has_past: bool = False
    cycles_before: int = 0
    reference_cell_size: float = 0.0  # 0: the cell size
    journal: dict[str, Any] | None = None  # see `app.files.journal`
    georeference: Place | None = None  # of the source model
    rain_wind: MoistWind = MoistWind()
    swell_direction: float = 0.0
    source: SourceContent | None = None  # the cells of the source model, if the world has others
    way_to_come: float = 0.0  # metres


def save(path: Path, world: World, scene: Scene, journal: Journal | None = None, *, compressed: bool = True) -> None:
    """Save a world with the scene that it continues with. An old file is replaced only when all is written."""
    with write_atomically(path) as file:
        content = journal_content(journal, path.parent) if journal and not journal.begins_with(path) else None
        _write(file, world, named_from(scene, path.parent), content, compressed=compressed)


def _write(file: BinaryIO, world: World, scene: Scene, journal: dict[str, Any] | None, *, compressed: bool) -> None:
    place = world.origin.georeference if world.origin else None
    source = world.origin.source if world.origin else None
    meta = Meta(
        FORMAT, world.cell_size, world.seed, world.cycle, scene_content(scene), world.ledger, world.snowballs,
        world.wind_field_direction, world.years, world.years_to_come, world.has_past, world.cycles_before,
        world.reference_cell_size, journal, content_of(place) if place else None, world.rain_wind,
        world.swell_direction, content_of_source(source) if source else None,
        world.way_to_come,
    )  # fmt: skip
    arrays: dict[str, Any] = {"meta": np.array(msgspec.json.encode(meta).decode()), **world.layers}
    if len(world.trees):
        arrays[TREES] = world.trees
    if len(world.centrelines):
        arrays[CENTRELINES] = world.centrelines
    if world.beds is not None:
        arrays |= world.beds.arrays()
    if world.origin and world.origin.unmapped is not None:
        arrays[UNMAPPED] = world.origin.unmapped
    if source and source.unmapped is not None:
        arrays[SOURCE_UNMAPPED] = source.unmapped
    (np.savez_compressed if compressed else np.savez)(file, **arrays)


def load(path: Path, check: Callable[[int, int], None] = lambda rows, columns: None) -> tuple[World, Scene]:
    """The world of a file and its scene. Raises `UserError` if the file is not sound.

    `check` is called with its rows and columns before it is read, and may refuse it.
    """
    layers = (name for name in LAYERS if name not in NEEDED)
    optional = (*layers, TREES, CENTRELINES, *ARRAYS, UNMAPPED, SOURCE_UNMAPPED)
    arrays = _read(path, ("meta", *NEEDED), optional, check)
    meta = _meta(path, arrays.pop("meta"))
    trees = arrays.pop(TREES, None)
    centrelines = arrays.pop(CENTRELINES, None)
    beds = {name: arrays.pop(name) for name in ARRAYS if name in arrays}
    unmapped = {name: arrays.pop(name, None) for name in (UNMAPPED, SOURCE_UNMAPPED)}
    for name in arrays.keys() & LAYERS.keys():
        if arrays[name].dtype == np.float64:  # older versions saved more layers in float64
            arrays[name] = arrays[name].astype(LAYERS[name].dtype, copy=False)
    _check_layers(path, arrays)
    try:
        check_extent(max(arrays["bedrock"].shape) * meta.cell_size, meta.reference_cell_size)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    ground = arrays["bedrock"], arrays["sediment"]
    world = World(*ground, meta.cell_size, meta.seed, arrays.get("water"), meta.reference_cell_size)
    for name in (name for name in LAYERS if name in arrays):
        world.trace(name)[...] = arrays[name]
    world.sum_ground()
    world.cycle = meta.cycle
    world.snowballs = meta.snowballs
    world.wind_field_direction, world.rain_wind = meta.wind_field_direction, meta.rain_wind
    world.swell_direction = meta.swell_direction
    world.years, world.years_to_come = meta.years, meta.years_to_come
    world.way_to_come = meta.way_to_come
    world.has_past, world.cycles_before = meta.has_past, meta.cycles_before
    world.ledger = meta.ledger
    scene = found_from(scene_from(meta.parameters, str(path)), path.parent)
    try:
        world.flora = flora_of(scene.flora)
        materials = materials_of(scene.materials) if scene.materials.enabled else None
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    world.origin = _origin_of(path, meta, unmapped, world.shape)
    if trees is not None:
        if fault := fault_of_trees(trees, world.shape, world.flora):
            raise UserError(f"{path}: 'trees' {fault}")
        world.trees = trees
    if centrelines is not None:
        rows, columns = world.shape
        if fault := fault_of_centrelines(centrelines, (rows * world.cell_size, columns * world.cell_size)):
            raise UserError(f"{path}: '{CENTRELINES}' {fault}")
        world.centrelines = centrelines
    if ARM_CODES in arrays and (fault := fault_of_arms(arrays[ARM_CODES])):
        raise UserError(f"{path}: '{ARM_CODES}' {fault}")
    if materials is not None:
        _restore_materials(path, world, materials, arrays)
    _restore_beds(path, world, beds)
    if not all(map(math.isfinite, world.imbalances().values())):
        raise UserError(f"{path}: its ledger has numbers that do not add up to finite ones")
    _account_for_changes(world)
    return world, scene


def _origin_of(
    path: Path, meta: Meta, unmapped: Mapping[str, np.ndarray[Any, Any] | None], shape: tuple[int, int]
) -> Origin | None:
    source_shape = (meta.source.rows, meta.source.columns) if meta.source else None
    for (name, cells), expected in zip(unmapped.items(), (shape, source_shape), strict=True):
        if cells is not None and (cells.dtype != np.bool_ or cells.shape != expected):
            raise UserError(f"{path}: '{name}' must be true or false in each cell; it is {cells.dtype}")
    place, own = meta.georeference, unmapped[UNMAPPED]
    if place is None and own is None and meta.source is None:
        return None
    try:
        if meta.source and meta.source.middle and not place:
            raise UserError("its 'source' is projected, and it has no 'georeference' that leads there")
        source = source_of(meta.source, unmapped[SOURCE_UNMAPPED]) if meta.source else None
        return Origin(georeference_of(place) if place else None, own, source)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def load_scene(path: Path) -> Scene:
    """The scene of a saved world. Reads nothing else."""
    meta = _meta(path, _read(path, ("meta",))["meta"])
    scene = found_from(scene_from(meta.parameters, str(path)), path.parent)
    return msgspec.structs.replace(scene, saved_world=str(path))


def journal_before(path: Path) -> Journal | None:
    """The journal of a saved world that is continued, if it is readable."""
    try:
        journal = load_journal(path)
    except UserError as error:
        log.warning("the world continues without its journal: %s", error)
        return None
    return journal.without_run() if journal else None


def load_journal(path: Path) -> Journal | None:
    """The journal of a saved world, if any. Reads nothing else."""
    meta = _meta(path, _read(path, ("meta",))["meta"])
    return journal_from(meta.journal, str(path), path.parent) if meta.journal else None


def _read(
    path: Path,
    names: tuple[str, ...],
    optional: tuple[str, ...] = (),
    check: Callable[[int, int], None] = lambda rows, columns: None,
) -> dict[str, np.ndarray[Any, Any]]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # such as a pipe, which would block forever
            raise UserError(f"{path}: not a saved world: it is not a regular file")
        with zipfile.ZipFile(path) as archive:
            if optional:
                optional += tuple(entry.removesuffix(".npy") for entry in archive.namelist() if entry.startswith(LOOSE))
                for entry in set(archive.namelist()) - {f"{name}.npy" for name in (*names, *optional)}:
                    raise UserError(f"{path}: it has '{entry}', which no saved world has")
            names = (*names, *(name for name in optional if f"{name}.npy" in archive.namelist()))
            # Checked before unpacking: a small file can unpack to more than the memory.
            largest = LARGEST_SIDE * LARGEST_SIDE * np.dtype(np.float64).itemsize + 1024
            for name in names:
                of_beds = name in ARRAYS
                most = MOST_BYTES * archive.getinfo(f"{NEEDED[0]}.npy").file_size if of_beds else largest
                if archive.getinfo(f"{name}.npy").file_size > most:
                    raise UserError(f"{path}: '{name}' is too large; a side may have up to {LARGEST_SIDE} cells")
            if optional and len(shape := _shape(archive)) == 2:  # other shapes are reported later
                check(*shape)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in names}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):  # NumPy returns other objects as they are
                raise UserError(f"{path}: '{name}' is not an array")
        return arrays
    except UserError:
        raise
    except KeyError as error:
        missing = next((name for name in names if name in str(error)), str(error))
        raise UserError(f"{path}: not a saved world: it has no '{missing}'") from error
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file") from error
    except Exception as error:  # libraries raise anything on broken files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{path}: cannot be read as a saved world: {reason}") from error


def _shape(archive: zipfile.ZipFile) -> tuple[int, ...]:
    """The shape of the layers, without reading them."""
    with archive.open(f"{NEEDED[0]}.npy") as layer:
        if layer.read(8) != np.lib.format.magic(1, 0):
            return ()
        return tuple(np.lib.format.read_array_header_1_0(layer)[0])


def _meta(path: Path, array: np.ndarray[Any, Any]) -> Meta:
    if array.dtype.kind != "U" or array.ndim:
        raise UserError(f"{path}: 'meta' is not what a saved world has: it must be one text")
    text = str(array[()])
    try:
        version = msgspec.json.decode(text, type=dict[str, Any]).get("format")
        if version != FORMAT:
            raise UserError(f"{path}: written in format {version}; this version of the program reads format {FORMAT}")
        meta = msgspec.json.decode(text, type=Meta)
    except (ValueError, RecursionError) as error:  # also for invalid Unicode and deep nesting
        raise UserError(f"{path}: 'meta' is not what a saved world has: {error}") from error
    for name, side in (
        ("cell size", meta.cell_size),
        ("reference cell size", meta.reference_cell_size or meta.cell_size),
    ):
        if not SMALLEST_CELL <= side <= LARGEST_CELL:
            raise UserError(f"{path}: its {name} is {side:g}; it must be from {SMALLEST_CELL:g} to {LARGEST_CELL:g} m")
    for name, largest in (
        ("cycle", LARGEST_CYCLE),
        ("cycles_before", LARGEST_CYCLE),
        ("snowballs", LARGEST_CYCLE),
        ("seed", LARGEST_SEED),
    ):
        if not 0 <= getattr(meta, name) <= largest:
            raise UserError(f"{path}: its {name} is {getattr(meta, name)}; it must be from 0 to {largest}")
    if not 0.0 <= meta.wind_field_direction <= 360.0:
        raise UserError(
            f"{path}: its wind_field_direction is {meta.wind_field_direction:g}; it must be from 0 to 360 degrees"
        )
    for name in ("years", "years_to_come", "way_to_come"):
        if not 0.0 <= (amount := getattr(meta, name)) < math.inf:
            raise UserError(f"{path}: its {name} are {amount:g}; they must be a finite number, 0 or more")
    for substance, account in meta.ledger.accounts().items():
        volumes = {"at the start": account.scale, **account.gained, **account.lost}
        rounded = LARGEST_IMBALANCE * sum(map(abs, volumes.values()))  # differences may be negative
        for cause, volume in volumes.items():
            if not volume >= -rounded:
                raise UserError(f"{path}: its ledger says '{cause}' of {volume:g} m³ of {substance}; must be 0 or more")
        if substance != "rock" and not account.expected() >= -rounded:  # heights of rock may be negative
            raise UserError(f"{path}: its ledger says that more {substance} was lost than there ever was")
    return meta


def _check_layers(path: Path, layers: dict[str, np.ndarray[Any, Any]]) -> None:
    shape = layers[NEEDED[0]].shape
    for name, layer in layers.items():
        kind = np.dtype(layer_declaration(name).dtype)
        if layer.dtype != kind:
            raise UserError(f"{path}: layer '{name}' is of type {layer.dtype}; it must be {kind}")
        if layer.ndim != 2 or layer.shape != shape:
            raise UserError(f"{path}: layer '{name}' has the shape {layer.shape}; all must be [row, column] and alike")
        if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in layer.shape):
            raise UserError(
                f"{path}: a world of {shape[1]}×{shape[0]} cells; sides must be from {SMALLEST_SIDE} to {LARGEST_SIDE}"
            )
        _check_values(path, name, layer)


def _account_for_changes(world: World) -> None:
    """Enter in the ledger what was changed in the layers of a file, so that it adds up from now on.

    Otherwise more could leave than was ever there, and the saved world could not be opened again.
    """
    for substance, imbalance in world.imbalances().items():
        if abs(imbalance) > LARGEST_IMBALANCE:
            account = world.ledger.accounts()[substance]
            more = world.stored(substance) - account.expected()
            (account.gain if more > 0.0 else account.lose)("changed in the file", abs(more))


def _restore_materials(path: Path, world: World, materials: Materials, layers: Mapping[str, Layer]) -> None:
    if "strata_rise" not in layers:
        raise UserError(f"{path}: its rock is of several materials, but it has no 'strata_rise'")
    found = {name.removeprefix(LOOSE) for name in layers if name.startswith(LOOSE)}
    if found != set(materials.names):
        raise UserError(
            f"{path}: its loose materials are {', '.join(sorted(found)) or 'none'}; those that are known now are "
            f"{', '.join(sorted(materials.names))}"
        )
    if missing := sorted(found - world.ledger.kinds.keys()):
        raise UserError(f"{path}: its ledger has no account of {', '.join(missing)}")
    world.restore_materials(materials, layers)
    thickness = world.sediment.copy()
    world.sum_mix()
    if not np.array_equal(thickness, world.sediment):
        raise UserError(f"{path}: its loose materials are not together what its layer 'sediment' is")


def _restore_beds(path: Path, world: World, arrays: dict[str, Array]) -> None:
    if not arrays and BURIED not in world.layers:
        return
    if not {THICKNESSES, CYCLES} <= arrays.keys() or BURIED not in world.layers or world.materials is None:
        raise UserError(f"{path}: its buried beds need '{THICKNESSES}', '{CYCLES}', '{BURIED}' and several materials")
    if NUMBERS in arrays:
        beds, fault = Beds(*(arrays[name] for name in ARRAYS)), ""
    elif not (fault := fault_of_dense(arrays[THICKNESSES], arrays[CYCLES])):  # older versions packed none
        beds = Beds.packed(arrays[THICKNESSES], arrays[CYCLES])
    if fault := fault or beds.fault(world.layers[BURIED], len(world.materials.loose)):
        raise UserError(f"{path}: its buried beds {fault}")
    world.beds = beds


def _check_values(path: Path, name: str, layer: Layer) -> None:
    if cell := unsound_cell(name, layer):
        low, high = layer_declaration(name).bounds
        must = f"a finite number within {high:g}" if low < 0.0 else f"a finite number, 0 or more, within {high:g}"
        raise UserError(f"{path}: layer '{name}' is {layer[cell]:g} at row {cell[0]}, column {cell[1]}; must be {must}")

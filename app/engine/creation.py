"""Creation of a world from a scene."""

from __future__ import annotations

import logging
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.files import checkpoint
from app.model.errors import UserError, nearest
from app.model.field_parameters import FIELD_LAYERS, OF_WATER, read_field
from app.model.georeference import Origin
from app.model.layered_map import Layer
from app.model.materials import load_materials, materials_of, read_mix
from app.model.plants import flora_of, load_plants
from app.model.soil_parameters import LARGEST_DEPTH, given_depths, read_beds
from app.model.trait_parameters import read_material_traits, read_plant_traits
from app.model.traits import check_kinds
from app.model.wanted import check_wanted
from app.model.world import (
    DEFAULT_CELL_SIZE,
    LARGEST_CELL,
    LARGEST_SIDE,
    SMALLEST_CELL,
    SMALLEST_SIDE,
    World,
    check_extent,
)
from app.processes.floods import derive_levels
from app.scene.scene import Scene
from app.sources import strata
from app.sources.fields import PICTURE_SIDE, LandVariables, field_values, values_on
from app.sources.generators import DEFAULT_SIDE, GENERATORS, generate, is_worn, stretched
from app.sources.grid import grid_of
from app.sources.parameters import RANGE
from app.sources.terrain import find_terrain

if TYPE_CHECKING:
    from app.sources.heightmap import Heightmap

log = logging.getLogger(__name__)

# Called with rows and columns before a world is made. Raises an error to refuse the size.
SizeCheck = Callable[[int, int], None]

SAME_SIZE = 1e-3  # relative difference of cell sizes that makes no difference to any place on Earth

ARTICLE = "article-"  # prefix of presets with the parameters of an article


def create_world(scene: Scene, check: SizeCheck = lambda rows, columns: None) -> tuple[World, Scene]:
    """The initial world of a scene, and the scene that continues with it. `check` may refuse its size."""
    check_wanted()
    _check_traits(scene)
    if scene.saved_world:
        world, _ = checkpoint.load(Path(scene.saved_world), check)
        return world, msgspec.structs.replace(scene, saved_world="")
    source = scene.world.source
    log.debug("making the land of %s", source)
    if source in GENERATORS:
        return _complete(_generate(scene, check), scene), scene
    from app.sources import heightmap

    path = _terrain_of(scene, "world.source")
    if heightmap.is_saved_world(path):
        return create_world(checkpoint.load_scene(path), check)
    wanted = max(scene.world.rows, scene.world.columns)
    read = heightmap.read_heightmap(path, part=scene.world.part, wanted=wanted)
    return _complete(_from_heightmap(scene, read, check), scene), scene


def create_worlds(scenes: Sequence[Scene], check: SizeCheck) -> list[tuple[World, Scene]]:
    """Like `create_world`, for scenes that are compared. `check` is called once, as all have the same size."""
    first, *others = scenes
    made = [create_world(first, check), *(_compared_world(first, other) for other in others)]
    (world, _), *compared = made
    for other, _ in compared:
        if (other.shape, other.cell_size) != (world.shape, world.cell_size):
            raise UserError("worlds of different cells cannot be compared")
        # Saved worlds may have different cycles. They continue with the same count, and so with the same weather.
        other.cycle = world.cycle
    return made


class _Sized(Exception):
    """The rows and columns of a world. Raised before it is made."""


def shape_of_world(scene: Scene) -> tuple[int, int]:
    """The rows and columns of the initial world of a scene, found without making it."""

    def check(rows: int, columns: int) -> None:
        raise _Sized(rows, columns)

    try:
        return create_world(scene, check)[0].shape
    except _Sized as sized:
        rows, columns = sized.args
        return rows, columns


def _compared_world(first: Scene, scene: Scene) -> tuple[World, Scene]:
    """Like `create_world`, for a scene that is compared with another: both begin with the same land."""
    if scene.saved_world or not is_worn(scene):
        return create_world(scene)
    return _complete(_generate(scene, lambda rows, columns: None, land_of=first), scene), scene


def read_size(text: str, name: str) -> tuple[int, int]:
    """Columns and rows from a text; 0 rows: in proportion. `name` precedes it in the error."""
    match = re.fullmatch(r"(\d{1,9})(?:[x×](\d{1,9}))?", text.strip())
    sides = [int(side) for side in match.groups() if side] if match else []
    if not sides or not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides):
        raise UserError(
            f"{name} {text}: must be a number of cells, or WIDTHxHEIGHT, each from {SMALLEST_SIDE} to {LARGEST_SIDE}"
        )
    return sides[0], sides[1] if len(sides) == 2 else 0


def cells_wanted(values: Mapping[str, object]) -> int:
    """Cells along the longer side that these parameter values ask for; 0: none given."""
    sides = [values.get(path) for path in ("world.rows", "world.columns")]
    return max((side for side in sides if isinstance(side, int)), default=0)


def size_in_cells(scene: Scene, columns: int, rows: int) -> dict[str, int | float]:
    """The changes to a scene that give the same land this many cells; 0 rows means in proportion.

    Its longer side stays the same in metres, and parameters in cells still refer to cells of the original size. Presets
    of articles are defined in cells, so their land keeps the size of cells, and gets larger or smaller.
    """
    values: dict[str, int | float] = {"world.columns": columns, "world.rows": rows}
    if scene.saved_world:
        return values
    made = scene.world.source in GENERATORS
    heightmap = None if made else _heightmap_of(scene, max(rows, columns))
    if not (made or heightmap):
        return values
    old_rows, old_columns = _size(scene, *(heightmap.elevation.shape if heightmap else (DEFAULT_SIDE, DEFAULT_SIDE)))
    rows = rows or max(round(old_rows * columns / old_columns), SMALLEST_SIDE)
    values["world.rows"] = rows
    if scene.name.startswith(ARTICLE):
        return values
    cell_size = scene.world.cell_size or (
        _resampled_cell_size(heightmap, old_rows, old_columns) if heightmap else DEFAULT_CELL_SIZE
    )
    values["world.reference_cell_size"] = scene.world.reference_cell_size or cell_size
    if made or scene.world.cell_size:
        values["world.cell_size"] = cell_size * max(old_rows, old_columns) / max(rows, columns)
    return values


def read_extent(text: str, name: str) -> tuple[float, float]:
    """Width and height in metres from a text; height 0: in proportion. `name` is for the error."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:[x×](\d+(?:\.\d+)?))?", text.strip())
    sides = [float(side) for side in match.groups() if side] if match else []
    if not sides or not all(SMALLEST_CELL <= side <= LARGEST_SIDE * LARGEST_CELL for side in sides):
        raise UserError(f"{name} {text}: must be a width in metres, or WIDTHxHEIGHT, such as 12000 or 12000x8000")
    return sides[0], sides[1] if len(sides) == 2 else 0.0


def extent_in_metres(scene: Scene, width: float, height: float) -> dict[str, int | float]:
    """The changes to a scene that give its map this width and height with cells of the same size.

    A height of 0 means in proportion. The land beyond that of the scene continues with hills of the same size, and the
    rivers of `world.worn` take other courses. A mountain range, whose rivers end at the map's edge, is generated anew
    in the new size. Raises `UserError` if the source has no land beyond.
    """
    if scene.saved_world:
        raise UserError(f"{scene.saved_world} is a saved world, which keeps its extent")
    if scene.world.source not in GENERATORS:
        raise UserError(f"{scene.world.source} is a file, which keeps its extent; a generator's can be changed")
    cell_size = scene.world.cell_size or DEFAULT_CELL_SIZE
    old_rows, old_columns = _size(scene, DEFAULT_SIDE, DEFAULT_SIDE)
    grid = grid_of(scene, old_rows, old_columns)
    columns = round(width / cell_size)
    rows = round(height / cell_size) if height else round(columns * old_rows / old_columns)
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in (rows, columns)):
        raise UserError(
            f"{columns}×{rows} cells of {cell_size:g} m: sides must be from {SMALLEST_SIDE} to {LARGEST_SIDE} cells"
        )
    cells: dict[str, int | float] = {"world.columns": columns, "world.rows": rows}
    if scene.world.source == RANGE:
        return cells
    return {
        **cells,
        "world.land_columns": grid.land_columns,
        "world.land_rows": grid.land_rows,
    }


def _heightmap_of(scene: Scene, wanted: int) -> Heightmap | None:
    """The heightmap of a scene; None if it begins with a saved world.

    One that is larger than the largest map is read at a lower resolution, with about as many cells as wanted.
    """
    from app.sources import heightmap

    path = _terrain_of(scene, "world.source")
    if heightmap.is_saved_world(path):
        return None
    return heightmap.read_heightmap(path, part=scene.world.part, wanted=wanted)


def _resampled_cell_size(file: Heightmap, rows: int, columns: int) -> float:
    """The cell size in metres after resampling a file to this many cells."""
    file_rows, file_columns = file.elevation.shape
    larger: float = max(file_rows / rows, file_columns / columns)
    return (file.cell_size or DEFAULT_CELL_SIZE) * larger


def _check_traits(scene: Scene) -> None:
    """Raise `UserError` if the scene sets a trait of an unknown kind of ground or plant."""
    if scene.traits.materials:
        known = load_materials(scene.materials.folder)
        check_kinds("traits.materials", read_material_traits(scene.traits.materials), known, "material")
    if scene.traits.plants:
        plants = load_plants(scene.flora.folder)
        check_kinds("traits.plants", read_plant_traits(scene.traits.plants), plants, "kind of plants")


def _terrain_of(scene: Scene, parameter: str) -> Path:
    """The file that a parameter of a scene names. Raises `UserError` if it does not exist."""
    try:
        return find_terrain(str(scene.value(parameter)))
    except UserError as error:
        raise UserError(f"{parameter}: {error}; if it has moved, --set {parameter}=FILE gives its new place") from error


def _generate(scene: Scene, check: SizeCheck, land_of: Scene | None = None) -> World:
    """The land of a scene, or that of another scene in the same cells."""
    rows, columns = _size(scene, DEFAULT_SIDE, DEFAULT_SIDE)
    cell_size = scene.world.cell_size or DEFAULT_CELL_SIZE
    check_extent(max(rows, columns) * cell_size, scene.world.reference_cell_size)
    check(rows, columns)
    land = generate((land_of or scene).at(0), grid_of(scene, rows, columns))
    if land.loose is None:
        return _world(scene, land.rock, cell_size)
    reference = scene.world.reference_cell_size
    sediment = land.loose + scene.world.soil_depth
    world = World(land.rock, sediment, cell_size, scene.world.seed, reference_cell_size=reference)
    world.years = land.years
    return world


def _from_heightmap(scene: Scene, heightmap: Heightmap, check: SizeCheck) -> World:
    from app.sources.heightmap import resample
    from app.sources.sea_floor import with_sea_floor

    elevation = heightmap.elevation
    lowest, highest = float(elevation.min()), float(elevation.max())
    file_rows, file_columns = elevation.shape
    rows, columns = _size(scene, file_rows, file_columns)
    cell_size = _resampled_cell_size(heightmap, rows, columns)
    check_extent(max(rows, columns) * (scene.world.cell_size or cell_size), scene.world.reference_cell_size)
    check(rows, columns)
    if (rows, columns) != (file_rows, file_columns):
        elevation = resample(elevation, rows, columns)
        if not scene.world.reference_cell_size:
            lowest, highest = float(elevation.min()), float(elevation.max())
    if scene.world.sea_floor:
        elevation = with_sea_floor(elevation, scene.world.cell_size or cell_size, scene.world.sea_floor)
    if scene.world.relief:
        elevation = lowest + stretched(elevation, scene.world.relief, lowest, highest)
    elif heightmap.relief_from_width and scene.world.cell_size:
        elevation = elevation * (scene.world.cell_size / cell_size)
    world = _world(scene, elevation, scene.world.cell_size or cell_size)
    world.origin = _origin_of(heightmap, world, cell_size)
    return world


def _origin_of(heightmap: Heightmap, world: World, cell_size: float) -> Origin | None:
    """What a world stores about its source model, if its cells were `cell_size` metres wide."""
    from app.sources.heightmap.resampling import nearest_cells

    place, unmapped = heightmap.georeference, heightmap.missing
    if not math.isclose(world.cell_size, cell_size, rel_tol=SAME_SIZE):
        place = None  # a different size is a different place
    rows, columns = world.shape
    source = heightmap.source if (rows, columns) == heightmap.elevation.shape else None  # else other cells are wanted
    if source is not None and place is None:
        source = None if source.middle else replace(source, place=None)
    if place is not None:
        place = place.in_cells(heightmap.elevation.shape[1] / columns, heightmap.elevation.shape[0] / rows)
    if unmapped is not None:
        unmapped = nearest_cells(unmapped, rows, columns)
    nothing = place is None and unmapped is None and source is None
    return None if nothing else Origin(place, unmapped, source)


def _complete(world: World, scene: Scene) -> World:
    """Add to a world all that the scene specifies besides the terrain."""
    world.flora = flora_of(scene.flora)
    if scene.materials.enabled:
        parts = {part.kind: part.amount for part in read_mix(scene.materials.loose)}
        attitude = (scene.materials.shift, scene.materials.intrusion, scene.materials.intrusion_roof)
        _know_water(world, scene, attitude)
        rise, roof = strata.rise(world, scene.materials, _longer_side(scene, world))
        world.lay_materials(materials_of(scene.materials), parts, rise, roof)
    if scene.world.lake_depth:
        part = np.s_[: max(round(scene.world.lake_part * len(world.ground)), 1)]
        ground = world.ground[part]
        world.water[part] = np.maximum(0.0, ground.min() + scene.world.lake_depth - ground)
        world.ledger.water.gain("stood in lakes at the start", float(world.water.sum()) * world.cell_area)
    if depths := _soil_depths(world, scene):
        world.lay_soil(depths)
    if scene.stratigraphy.enabled and (beds := _beds(world, scene)):
        world.lay_beds(beds)
    world.ledger.began = zlib.crc32(world.ground.data)
    return _with_fields(_with_rain(world, scene), scene)


def _longer_side(scene: Scene, world: World) -> float:
    """The reference of relative lengths, in cells of the world."""
    side = max(scene.world.land_rows, scene.world.land_columns)
    return side * world.reference_cell_size / world.cell_size if side else max(world.shape)


def _with_rain(world: World, scene: Scene) -> World:
    """The world with the rain map of the scene, if any."""
    if scene.world.rain_map:
        world.trace("rain")[...] = read_rain_map(_terrain_of(scene, "world.rain_map"), *world.shape)
    return world


def _with_fields(world: World, scene: Scene) -> World:
    """The world with the fields of the scene."""
    values = field_values_of(world, scene, scene.fields.__struct_fields__)
    for name, field in values.items():
        world.lay_rate(FIELD_LAYERS[name], field)
    return world


def field_values_of(world: World, scene: Scene, names: Iterable[str]) -> dict[str, NDArray[np.float32] | None]:
    """The values of some fields on the current world, see `field_values`. Raises `UserError`."""
    texts = {name: str(getattr(scene.fields, name)) for name in names}
    _know_water(world, scene, texts.values())
    return {name: field_values(world, name, text) for name, text in texts.items()}


def _know_water(world: World, scene: Scene, texts: Iterable[str]) -> None:
    """Update the levels of lakes and sea if one of these expressions uses them."""
    expressions = map(read_field, texts)
    if any(expression and expression.uses(*OF_WATER) for expression in expressions):
        derive_levels(world, scene.floods, scene.pools, scene.edges)


def _soil_depths(world: World, scene: Scene) -> dict[str, Layer]:
    """The thickness of each kind of loose material in the scene, in metres, [row, column]. Raises `UserError`."""
    if world.materials is None:
        return {}
    told = given_depths(scene.soil)
    _know_water(world, scene, (text for _, text in told.values()))
    land = LandVariables.of_world(world)
    return {kind: _depth_of(world, land, kind, path, text) for kind, (path, text) in told.items()}


def _beds(world: World, scene: Scene) -> list[tuple[str, Layer]]:
    """Kind and thickness in metres, [row, column], of each bed at the start, from the top. Raises `UserError`."""
    told = read_beds(scene.soil.beds) if world.materials is not None else ()
    _know_water(world, scene, (text for _, text in told))
    land = LandVariables.of_world(world)
    return [(kind, _depth_of(world, land, kind, "soil.beds", text)) for kind, text in told]


def _depth_of(world: World, land: LandVariables, kind: str, path: str, text: str) -> Layer:
    """The thickness of a kind of loose material by an expression. Raises `UserError`."""
    assert world.materials is not None
    if kind not in world.materials.names:
        raise UserError(f"{path}: there is no loose material '{kind}'{nearest(kind, world.materials.names)}")
    values = values_on(land, path, text)
    assert values is not None
    return np.clip(values, 0.0, LARGEST_DEPTH)


def read_rain_map(path: Path, rows: int, columns: int) -> NDArray[np.float32]:
    """Relative rain on each cell, [row, column], from 0 where the picture is darkest to 1 where it is brightest.

    Raises `UserError` if the picture cannot be read or has one shade only.
    """
    return rain_in_part(read_rain_picture(path), rows, columns, (slice(None), slice(None)))


def read_rain_picture(path: Path) -> NDArray[np.float64]:
    """Relative rain in the cells of a picture, from 0 to 1. Raises `UserError` as `read_rain_map` does."""
    from app.sources.heightmap import read_heightmap

    rain = read_heightmap(path, wanted=PICTURE_SIDE).elevation
    rain = stretched(rain, 1.0, float(rain.min()), float(rain.max()))
    if not rain.max() > 0.0:
        raise UserError(f"{path}: all of one shade; a rain map must have darker and lighter places")
    return rain


def rain_in_part(
    picture: NDArray[np.float64], rows: int, columns: int, part: tuple[slice, slice]
) -> NDArray[np.float32]:
    """The rain of a picture on some cells of a map that it is laid over."""
    from app.sources.heightmap.resampling import resampled_part

    return np.clip(resampled_part(picture, rows, columns, part), 0.0, 1.0).astype(np.float32)


def _size(scene: Scene, rows: int, columns: int) -> tuple[int, int]:
    """The rows and columns of the scene. If only one is given, the other follows in proportion."""
    wanted_rows, wanted_columns = scene.world.rows, scene.world.columns
    if wanted_rows or wanted_columns:
        scale = wanted_columns / columns if wanted_columns else wanted_rows / rows
        rows, columns = wanted_rows or round(rows * scale), wanted_columns or round(columns * scale)
    for side in (rows, columns):
        if not SMALLEST_SIDE <= side <= LARGEST_SIDE:
            raise UserError(
                f"a map of {columns}×{rows} cells: sides must be from {SMALLEST_SIDE} to {LARGEST_SIDE} cells"
            )
    return rows, columns


def _world(scene: Scene, elevation: Layer, cell_size: float) -> World:
    """Solid ground; its uppermost part is the soil of the scene."""
    soil = np.full_like(elevation, scene.world.soil_depth)
    reference = scene.world.reference_cell_size
    return World(elevation - soil, soil, cell_size, scene.world.seed, reference_cell_size=reference)

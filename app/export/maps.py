"""The table of exportable maps: meaning, unit, needs and function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.engine.discharge import discharge_of_world
from app.engine.streams import streams_of
from app.export.landscape import Landscape, Numbers, highest_around
from app.export.light import normals, sky_light, slope, sun_light
from app.model.errors import UserError
from app.model.layers import LAYERS, LOOSE
from app.model.materials import SEDIMENT_THAT_HIDES
from app.model.world import rocks_on_top
from app.sources.fields import LandVariables
from kernels.standing import DRY, LAKE, SEA

Array = NDArray[Any]

# Meaning of the values of a map: amounts, unit vectors, numbers of kinds, yes or no, fractions of a whole
Kind = Literal["amount", "direction", "id", "mask", "parts"]

CLIFF = 45.0  # least slope of a cliff in degrees
WEIGHTS = 4  # per splat map: red, green, blue, alpha

XY, XYZ, RGBA = ("X", "Y"), ("X", "Y", "Z"), ("R", "G", "B", "A")


@dataclass(frozen=True)
class Map:
    """One map: [row, column], or [row, column, channel] for several channels."""

    name: str
    help: str
    values: Callable[[Landscape], Array]
    unit: str = ""
    kind: Kind = "amount"
    channels: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # layers, at least one of which must exist
    names: Callable[[Landscape], list[str]] = lambda landscape: []  # of ids, or of the channels
    of_beginning: bool = False  # whether it needs the initial land, which takes time to recompute

    def may_be_there(self, landscape: Landscape) -> bool:
        """Whether a world has the needed layers."""
        return not self.needs or any(name in landscape.world.layers for name in self.needs)

    def why_missing(self, landscape: Landscape) -> str:
        """Why a world lacks the map; empty if it has it."""
        if not self.may_be_there(landscape):
            return "the processes that leave it have not run"
        if self.of_beginning:
            try:
                _ = landscape.rise
            except UserError as error:
                return str(error)
        return ""


# Functions of maps.


def _water_depth(land: Landscape) -> Array:
    depth: Array = np.maximum(land.water_surface - land.world.ground, 0.0)
    return depth


def _flow(land: Landscape) -> Array:
    """Directions of flow: those of the drops, or of steepest descent where no drop passed."""
    from kernels.neighbours import COLUMN_STEPS, LENGTHS, OUTLET, ROW_STEPS

    directions = land.drainage.directions.astype(np.intp)
    step = np.where(directions < OUTLET, directions, 0)
    south, east = (steps[step] / LENGTHS[step] for steps in (ROW_STEPS, COLUMN_STEPS))
    runs = (directions < OUTLET) & ~land.drainage.ocean
    way = np.stack([np.where(runs, east, 0.0), np.where(runs, -south, 0.0)], axis=-1)
    if "momentum_east" in land.world.layers:
        momentum = _momentum(land).astype(np.float64)
        size = np.linalg.norm(momentum, axis=-1, keepdims=True)
        way = np.where(size > 0.0, momentum / np.maximum(size, 1e-300), way)
    return way


def _momentum(land: Landscape) -> Array:
    layers = land.world.layers
    momentum: Array = np.stack([layers["momentum_east"], -layers["momentum_south"]], axis=-1)
    return momentum


def _discharge(land: Landscape) -> Array:
    return discharge_of_world(land.drainage, land.world, land.scene.runoff)


def _wear(land: Landscape) -> Array:
    return np.maximum(-land.rise, 0.0)


def _deposit(land: Landscape) -> Array:
    return np.maximum(land.rise, 0.0)


def _slope(land: Landscape) -> Array:
    return slope(land.world.ground, land.world.cell_size)


def _curvature(land: Landscape) -> Array:
    padded = np.pad(land.world.ground, 1, mode="edge")
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    found: Array = (around - 4.0 * land.world.ground) / land.world.cell_area
    return found


def _sun(land: Landscape) -> Array:
    view = land.scene.view
    return sun_light(land.world.ground, land.world.cell_size, view.sun_direction, view.sun_height)


def _rivers(land: Landscape) -> Array:
    """Cells with at least the discharge of a visible stream."""
    runoff = land.scene.runoff
    flow, _ = streams_of(land.world, runoff)
    least = runoff.smallest_stream(land.world.reference_cell_size)
    streams: Array = (flow > 0.0) & (flow >= least) & (land.world.standing == DRY)
    return streams


def _shore(land: Landscape) -> Array:
    wet = land.world.standing != DRY
    shore: Array = highest_around(wet, outside=False) & ~wet
    return shore


def material_names(land: Landscape) -> list[str]:
    """All materials of the ground: loose kinds, then rocks, by number; grass last."""
    materials = land.world.materials
    known = [*materials.names, *(rock.name for rock in materials.rocks)] if materials else ["sediment", "rock"]
    return known if "grass" not in land.world.layers else [*known, "grass"]


def _rock_numbers(land: Landscape) -> NDArray[np.intp]:
    """The number of the rock below loose material, among rocks."""
    world = land.world
    if world.materials is None:
        return np.zeros(world.shape, np.intp)
    return rocks_on_top(world)


def _material_ids(land: Landscape) -> Array:
    """The number of the material at the surface: the thickest loose kind, or the rock."""
    world = land.world
    covered = world.loose > 0.5 * SEDIMENT_THAT_HIDES * world.cell_size
    numbers: Array = np.where(covered, world.mix.argmax(axis=-1), world.mix.shape[-1] + _rock_numbers(land))
    return numbers.astype(np.uint8)


def material_parts(land: Landscape) -> Array:
    """Fraction of the surface that each of `material_names` covers, [row, column, name]; their sum is 1.

    Loose material covers rock as in the picture, and grass covers both.
    """
    world = land.world
    loose = world.mix.shape[-1]
    parts = np.zeros((*world.shape, len(material_names(land))))
    covered = 1.0 - np.exp(-world.loose / (SEDIMENT_THAT_HIDES * world.cell_size))
    whole = world.mix.sum(axis=-1)
    mixed = np.divide(world.mix, whole[..., None], out=np.zeros_like(world.mix), where=whole[..., None] > 0.0)
    parts[..., :loose] = covered[..., None] * mixed
    rocks = loose + _rock_numbers(land)
    np.put_along_axis(parts, rocks[..., None], 1.0 - parts[..., :loose].sum(axis=-1, keepdims=True), axis=-1)
    if "grass" in world.layers:
        grass = np.clip(world.layers["grass"], 0.0, 1.0)
        parts *= 1.0 - grass[..., None]
        parts[..., -1] = grass
    return parts


# The table.


def _layer(name: str, *, needs: bool = True, called: str = "") -> Map:
    """A layer of the world as it is."""
    layer = LAYERS[name]
    return Map(
        called or name, layer.help, lambda land: land.world.layers[name], layer.unit, needs=(name,) if needs else ()
    )


def _mask(name: str, help: str, values: Callable[[Landscape], Array]) -> Map:
    return Map(name, help, values, kind="mask")


MAPS: dict[str, Map] = {
    row.name: row
    for row in (
        Map("water_depth", "depth of lakes and sea", _water_depth, "m"),
        Map("flow", "direction of running water, east and north; 0 where it ends", _flow, "", "direction", XY),
        Map(
            "momentum", "discharge times velocity, east and north", _momentum, LAYERS["momentum_east"].unit,
            channels=XY, needs=("momentum_east",),
        ),
        Map("discharge", "mean discharge of the rain of a year", _discharge, "m³/s"),
        _layer("stream"),
        Map(
            "wear", "how much lower the ground is than at the start, all causes together", _wear, "m",
            of_beginning=True,
        ),
        Map(
            "deposit", "how much higher the ground is than at the start, all causes together, also uplift", _deposit,
            "m", of_beginning=True,
        ),
        _layer("wear", called="recent_wear"),
        _layer("deposit", called="recent_deposit"),
        Map("sediment", LAYERS["sediment"].help, lambda land: land.world.loose, LAYERS["sediment"].unit),
        _layer("wetness"),
        _layer("moisture"),
        _layer("groundwater"),
        _layer("orographic_rain"),
        _layer("snow"),
        _layer("grass"),
        _layer("canopy"),
        _layer("roots"),
        _layer("wind_path"),
        Map("sun", "cosine of the sun's angle to the ground, 0 in shadow", _sun),
        Map("sky", "part of the sky that is seen", lambda land: sky_light(land.world.ground, land.world.cell_size)),
        Map("slope", "slope of the ground", _slope, "°"),
        Map("curvature", "Laplacian of the ground, positive in hollows", _curvature, "1/m"),
        Map(
            "normals", "unit normals of the ground, east, north and up",
            lambda land: normals(land.world.ground, land.world.cell_size), "", "direction", XYZ,
        ),
        Map("materials", "number of the material at the surface", _material_ids, "", "id", names=material_names),
        _mask("rivers", "streams as in the picture, without lakes", _rivers),
        _mask("lakes", "lakes", lambda land: land.world.standing == LAKE),
        _mask("sea", "sea", lambda land: land.world.standing == SEA),
        _mask("shore", "dry ground beside lakes and sea", _shore),
        _mask("cliffs", f"slopes of {CLIFF:g}° and more", lambda land: _slope(land) >= CLIFF),
    )
}  # fmt: skip

SPLAT, KINDS, BEDS = "splat", "sediment_kinds", "beds"  # one map per kind of ground, three per bed
FAMILIES = {
    SPLAT: "weights of the materials at the surface, four in each map",
    KINDS: "thickness of each kind of loose material",
    BEDS: "thickness, age and kind of each buried bed of loose material",
}
MAP_NAMES = (*MAPS, *FAMILIES)
MASK = "mask"  # the map of an expression
HALF = 0.5  # least value of an expression that counts as true
ALL = "all"  # maps that a world has


def maps_of(landscape: Landscape, names: tuple[str, ...], mask: str = "") -> Iterator[Map]:
    """The maps of these names. A family stands for its maps, `ALL` for all maps of the world. `mask` adds one map.

    Raises `UserError` if the world lacks a named map.
    """
    for name in MAP_NAMES if ALL in names else names:
        if name in MAPS and (why := MAPS[name].why_missing(landscape)):
            if ALL in names:
                continue
            raise UserError(f"--maps {name}: this world has none; {why}")
        if name not in FAMILIES:
            yield MAPS[name]
            continue
        maps = list(_family(landscape, name))
        if not maps and ALL not in names:
            raise UserError(f"--maps {name}: this world has none; {_WITHOUT[name]}")
        yield from maps
    if mask:
        yield _mask(MASK, f"where {mask}", lambda land: _where(land, mask))


_WITHOUT = {
    KINDS: "its loose material is all of one kind",
    BEDS: "nothing was buried in beds, as with stratigraphy.enabled",
}


def _family(landscape: Landscape, name: str) -> Iterator[Map]:
    """The maps of a family, none where the world has nothing for them."""
    if name == SPLAT:
        yield from _splat_maps(landscape)
    elif name == KINDS:
        materials = landscape.world.materials
        for kind in materials.names if materials else ():
            yield Map(f"sediment_{kind}", f"thickness of {kind}", _thickness(kind), "m")
    else:
        yield from _maps_of_beds(landscape)


def _where(land: Landscape, mask: str) -> Array:
    values = LandVariables.of_world(land.world).value(mask)
    assert values is not None
    return values >= HALF


def _thickness(kind: str) -> Callable[[Landscape], Array]:
    def thickness(land: Landscape) -> Array:
        world = land.world
        assert world.materials is not None
        active: Array = world.layers[LOOSE + kind]
        if world.beds is None:
            return active
        return np.add(active, world.beds.thickness_of_kind(world.materials.kind(kind)))

    return thickness


def _maps_of_beds(landscape: Landscape) -> Iterator[Map]:
    """Thickness, age and kind of each bed, from the active layer (number 0) downwards."""
    world = landscape.world
    if world.beds is None or world.materials is None:
        return
    yield Map("bed_0_thickness", "thickness of the active layer above all beds", lambda land: land.world.sediment, "m")
    for number in range(world.beds.most):
        yield from _maps_of_bed(number, list(world.materials.names))


def _maps_of_bed(number: int, kinds: list[str]) -> Iterator[Map]:
    def thickness(land: Landscape) -> Array:
        assert land.world.beds is not None
        thick: Array = land.world.beds.bed(number)[0].sum(axis=2, dtype=np.float64)
        return thick

    def age(land: Landscape) -> Array:
        assert land.world.beds is not None
        cycles = land.world.beds.bed(number)[1].astype(np.float64)
        return np.where(thickness(land) > 0.0, land.world.cycle - cycles, 0.0)

    def kind(land: Landscape) -> Array:
        assert land.world.beds is not None
        commonest: Array = land.world.beds.bed(number)[0].argmax(axis=2).astype(np.uint8)
        return commonest

    name, bed = f"bed_{number + 1}", f"buried bed {number + 1} from above"
    yield Map(f"{name}_thickness", f"thickness of {bed}; 0 where there is none", thickness, "m")
    yield Map(f"{name}_age", f"cycles since {bed} was buried, in the mean of its material", age, "cycles")
    yield Map(f"{name}_kind", f"number of the commonest kind in {bed}", kind, "", "id", names=lambda land: kinds)


def _splat_maps(landscape: Landscape) -> Iterator[Map]:
    names = material_names(landscape)
    for number, first in enumerate(range(0, len(names), WEIGHTS)):
        four = names[first : first + WEIGHTS]

        def values(land: Landscape, first: int = first) -> Array:
            parts = material_parts(land)[..., first : first + WEIGHTS]
            return np.pad(parts, ((0, 0), (0, 0), (0, WEIGHTS - parts.shape[-1])))

        def told(land: Landscape, four: list[str] = four) -> list[str]:
            return four

        yield Map(f"splat_{number}", f"weights of {', '.join(four)}", values, "", "parts", RGBA, names=told)


def unit_length(vectors: Numbers) -> Numbers:
    """Normalize vectors, [..., axis]; those of length 0 stay 0."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Numbers = np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0.0)
    return unit

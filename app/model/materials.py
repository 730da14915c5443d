"""Kinds of ground as data: files of `assets/materials`, checked, and the set of them that a world is made of.

A material may lie in strata (`solid`), on them (`loose`), or both. Which properties it must have depends on that:

    title, colour                   for the picture: "#rrggbb"
    erodibility                     how readily water erodes it: 1 as far as the transport capacity goes, 0 not at all
    abrasion                        how readily it is abraded: rock by the load of the wind, loose kinds in transport
    porosity                        pore space as a fraction of its volume
    permeability                    relative to sand; 1 by default
    steepest                        of a solid one: its steepest stable slope, in degrees
    deposition, suspension, repose  of a loose one: settling rate and entrainment by wind, both relative to sand, and
                                    the angle of repose, in degrees
    worn, broken                    what abrasion and weathering turn it into; required where it is only solid

All numbers and the colour are traits, which can be changed while a world runs: see `app.model.traits`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources.abc import Traversable
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError, nearest
from app.model.field_parameters import of_land
from app.model.kind_files import kind_files, read_kind
from app.model.parameters import Parameters, described, parameter
from app.model.traits import Colour, Setting, changed, linear_colour
from kernels.rock import INTRUDED, TIGHT

MOST_KINDS = 16  # of loose material, and of rock
SEDIMENT_THAT_HIDES = 0.02  # of a cell's side: thinner sediment lets the ground below show
STRATA_STEPS = 4096  # largest resolution of the stack in depth
REPEATS = 16  # of a repeating stack; below, its last rock continues
RESERVED = ("rock", "sediment", "water")  # accounts of the ledger


class Material(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of ground, from its file; see the top of this module."""

    name: str = ""  # of the file
    title: str
    colour: Colour
    erodibility: Annotated[float, parameter(0.0, 1.0, "how readily water erodes it, as a fraction")]
    abrasion: Annotated[float, parameter(0.0, 100.0, "how readily it is abraded", log=True)]
    porosity: Annotated[float, parameter(0.0, 1.0, "pore space as a fraction of its volume")]
    permeability: Annotated[float, parameter(0.0, 100.0, "permeability relative to sand", log=True)] = 1.0
    solid: bool = False
    loose: bool = False
    steepest: Annotated[float, parameter(1.0, 89.0, "its steepest stable slope as rock", unit="°")] | None = None
    deposition: Annotated[float, parameter(0.0, 100.0, "settling rate relative to sand", log=True)] | None = None
    suspension: Annotated[float, parameter(0.0, 100.0, "entrainment by wind relative to sand", log=True)] | None = None
    repose: Annotated[float, parameter(1.0, 89.0, "angle of repose of loose material", unit="°")] | None = None
    worn: str = ""
    broken: str = ""

    @property
    def linear_colour(self) -> tuple[float, float, float]:
        """The albedo in linear light."""
        return linear_colour(self.colour)


# Numbers of all materials, of solid ones, and of loose ones
OF_ALL = ("erodibility", "abrasion", "porosity", "permeability")
OF_SOLID = ("steepest",)
OF_LOOSE = ("deposition", "suspension", "repose")


class Stratum(NamedTuple):
    """A layer of rock in the stack."""

    rock: str
    thickness: float  # metres; infinite if it is the last


class Part(NamedTuple):
    """A component of a mix of loose material."""

    kind: str
    amount: float  # relative to the others


def read_strata(text: str) -> tuple[Stratum, ...]:
    """The strata in a text, from the top. Raises `UserError` if it is invalid."""
    strata = [Stratum(name, amount) for name, amount in _read_amounts("materials.strata", text, math.inf)]
    for stratum in strata[:-1]:
        if not 0.0 < stratum.thickness < math.inf:
            raise UserError(
                f"materials.strata: '{stratum.rock}' needs a thickness in metres, such as {stratum.rock} 30: "
                "only the last one may go on for ever"
            )
    if not strata or not strata[-1].thickness > 0.0:
        raise UserError("materials.strata: must name rocks from the top with their thickness: sandstone 30; granite")
    return tuple(strata)


def read_mix(text: str) -> tuple[Part, ...]:
    """The mix in a text. Raises `UserError` if it is invalid."""
    parts = tuple(Part(name, amount) for name, amount in _read_amounts("materials.loose", text, 1.0))
    if not sum(part.amount for part in parts) > 0.0 or any(math.isinf(part.amount) for part in parts):
        raise UserError("materials.loose: must name loose materials, with their parts: sand 3; gravel 1")
    return parts


def _read_amounts(path: str, text: str, default: float) -> Iterable[tuple[str, float]]:
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, _, amount = part.partition(" ")
        try:
            number = float(amount) if amount.strip() else default
        except ValueError:
            number = -1.0
        if not number >= 0.0:
            raise UserError(f"{path}: '{part}' must be a name and a number that is not negative, such as sand 30")
        yield name, number


class MaterialParameters(Parameters, frozen=True, kw_only=True):
    """Kinds of ground: rock in strata, and loose material as a mix, each with its own properties."""

    title: ClassVar[str] = "Materials"
    section: ClassVar[str] = "world"

    # fmt: off
    enabled: Annotated[bool, described("several kinds of rock and sediment, each with its own properties")] = False
    folder: Annotated[str,
        described("folder of further materials (TOML); a file with the name of a shipped material replaces it",
        names_file=True)] = ""
    strata: Annotated[str, described("rocks from the top with their thickness in metres; the last continues downwards",
        check=read_strata, essential=True)] = "sandstone 60; clay 25; sandstone 40; granite"
    repeat: Annotated[bool, described("repeat the sequence of strata downwards")] = False
    dip: Annotated[float, parameter(0.0, 60.0, "dip of the strata", unit="°")] = 0.0
    dip_direction: Annotated[float, parameter(0.0, 360.0, "dip direction (downslope), clockwise from north", unit="°",
        needs="materials.dip")] = 90.0
    fold: Annotated[float, parameter(0.0, 5_000.0, "height of folds from trough to crest", unit="m", log=True)] = 0.0
    fold_wavelength: Annotated[float, parameter(0.05, 4.0, "wavelength of the folds, relative to the map's longer side",
        log=True, needs="materials.fold")] = 0.5
    shift: Annotated[str, of_land("materials.shift",
        "metres by which strata lie higher, as an expression such as 80 * (x > 0.5) for a fault; empty: none")] = ""
    intrusion: Annotated[str, of_land("materials.intrusion",
        "an intrusion cuts through all strata where this expression is above 0, such as 30 - abs(east - 900)"
        " for a dyke 60 m wide; empty: none")] = ""
    intrusion_roof: Annotated[str, of_land("materials.intrusion_roof",
        "metres below the first ground up to which intrusions have come, such as 80; height - 600 for a level roof"
        " at 600 m; empty: up to the ground", needs="materials.intrusion")] = ""
    intrusion_rock: Annotated[str, described("rock of the intrusion", needs="materials.intrusion")] = "granite"
    loose: Annotated[str, described("initial loose material: kinds with their proportions, such as sand 3; gravel 1",
        check=read_mix)] = "sand"
    # fmt: on


@dataclass(frozen=True)
class Materials:
    """The materials of a world. Loose ones are in the order of `World.mix`.

    If there are intrusions, their rock is the first, and strata have two steps or more: see `INTRUDED`.
    """

    loose: tuple[Material, ...]
    rocks: tuple[Material, ...]
    strata: NDArray[np.uint8]  # [step]: number of the rock at each depth below the top; the last continues
    metres_per_step: float
    intruded: bool = False  # whether there are intrusions
    given: Materials | None = None  # as in their files, if traits were changed

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the loose materials."""
        return tuple(material.name for material in self.loose)

    def kind(self, name: str) -> int:
        """The number of a loose material."""
        return self.names.index(name)

    def with_traits(self, settings: Sequence[Setting]) -> Materials:
        """The materials with these traits changed."""
        given = self.given or self
        if not settings:
            return given
        loose, rocks = changed(given.loose, settings), changed(given.rocks, settings)
        return replace(given, loose=loose, rocks=rocks, given=given)

    @cached_property
    def properties(self) -> dict[str, NDArray[Any]]:
        """The arrays for `kernels.materials.Materials`, except mix and rise."""
        loose, rocks = self.loose, self.rocks

        def numbers(materials: Iterable[Material], name: str) -> NDArray[np.float64]:
            return np.array([float(getattr(material, name)) for material in materials])

        return {
            **{name: numbers(loose, name) for name in (*OF_ALL, *OF_LOOSE[:2])},
            "repose": np.tan(np.radians(numbers(loose, "repose"))),
            "worn": np.array([self.kind(material.worn or material.name) for material in loose], np.int64),
            "strata": self.strata,
            "open_below": open_below(self),
            **{f"rock_{name}": numbers(rocks, name) for name in OF_ALL},
            "rock_steepest": np.tan(np.radians(numbers(rocks, "steepest"))),
            "rock_worn": np.array([self.kind(material.worn or material.name) for material in rocks], np.int64),
            "rock_broken": np.array([self.kind(material.broken or material.name) for material in rocks], np.int64),
        }


def materials_of(parameters: MaterialParameters) -> Materials:
    """The materials of a scene. Raises `UserError` if a file or a name is wrong."""
    known = load_materials(parameters.folder)
    stack = read_strata(parameters.strata)
    for stratum in stack:
        _find(known, stratum.rock, "materials.strata", "solid")
    for part in read_mix(parameters.loose):
        _find(known, part.kind, "materials.loose", "loose")
    rock_of_intrusion = (parameters.intrusion_rock,) if parameters.intrusion.strip() else ()
    for rock in rock_of_intrusion:
        _find(known, rock, "materials.intrusion_rock", "solid")
    rocks = tuple(dict.fromkeys((*rock_of_intrusion, *(stratum.rock for stratum in stack))))
    loose = tuple(material for material in known.values() if material.loose)
    for what, count in (("loose materials", len(loose)), ("rocks", len(rocks))):
        if count > MOST_KINDS:
            raise UserError(f"{count} {what}: a world has up to {MOST_KINDS}")
    strata, metres_per_step = strata_steps(stack, rocks, repeat=parameters.repeat)
    if rock_of_intrusion and len(strata) == 1:
        strata = np.repeat(strata, 2)
    return Materials(loose, tuple(known[name] for name in rocks), strata, metres_per_step, bool(rock_of_intrusion))


def load_materials(folder: str = "") -> dict[str, Material]:
    """All materials by name: shipped ones, and those of a folder. Raises `UserError`."""
    return dict(_shipped_materials()) if not folder else _read_materials(folder)


@cache
def _shipped_materials() -> dict[str, Material]:
    return _read_materials("")


def _read_materials(folder: str) -> dict[str, Material]:
    entries = kind_files("materials", folder, "materials.folder")
    materials = {name: _read_material(entry) for name, entry in entries.items()}
    for material in materials.values():
        _check_links(material, materials)
    _check_no_cycle(materials)
    return materials


def _read_material(entry: Traversable) -> Material:
    material = read_kind(entry, Material, "material", RESERVED)
    if not (material.solid or material.loose):
        raise UserError(f"{entry}: neither solid nor loose: one of them must be true, or both")
    for form, properties in (("solid", OF_SOLID), ("loose", OF_LOOSE)):
        for property in properties:
            has, needs = getattr(material, property) is not None, getattr(material, form)
            if needs and not has:
                raise UserError(f"{entry}: '{property}' is missing, which every {form} material has")
            if has and not needs:
                raise UserError(f"{entry}: '{property}' is of {form} materials, and this one says {form} = false")
    if material.broken and not material.solid:
        raise UserError(f"{entry}: 'broken' is of solid materials, and this one says solid = false")
    for link in ("worn", "broken"):
        if material.solid and not material.loose and not getattr(material, link):
            raise UserError(f"{entry}: '{link}' is missing: what does it become? It is not loose itself")
    return material


def _check_links(material: Material, materials: Mapping[str, Material]) -> None:
    for link in ("worn", "broken"):
        if target := getattr(material, link):
            _find(materials, target, f"{material.name}.toml: {link}", "loose")


def _check_no_cycle(materials: Mapping[str, Material]) -> None:
    """Raise `UserError` if abrasion turns a loose material into itself through others."""
    for start in materials.values():
        way = [start.name]
        while (after := materials[way[-1]].worn) and after != way[-1]:
            if after in way:
                raise UserError(
                    f"{after}.toml: worn goes in a circle: {' → '.join([*way[way.index(after) :], after])}; "
                    "it must come to an end"
                )
            way.append(after)


def _find(materials: Mapping[str, Material], name: str, where: str, form: str) -> Material:
    """A material by name. Raises `UserError` if there is none of that form."""

    fitting = [known.name for known in materials.values() if getattr(known, form)]
    if name not in materials:
        raise UserError(f"{where}: there is no material '{name}'{nearest(name, fitting)}")
    if name not in fitting:
        raise UserError(f"{where}: '{name}' is not {form}; those that are: {', '.join(fitting)}")
    return materials[name]


def strata_steps(
    stack: tuple[Stratum, ...], rocks: tuple[str, ...], *, repeat: bool
) -> tuple[NDArray[np.uint8], float]:
    """The rock at each depth, in steps of equal thickness, and that thickness in metres."""
    numbers = np.array([rocks.index(stratum.rock) for stratum in stack], np.uint8)
    finite = [stratum.thickness for stratum in stack if stratum.thickness < math.inf]
    if not finite:
        return numbers, 1.0
    bottoms = np.cumsum(finite)
    times = REPEATS if repeat else 1
    total = float(bottoms[-1])
    steps = STRATA_STEPS // times
    metres_per_step = total / steps
    depths = (np.arange(steps) + 0.5) * metres_per_step
    places = np.minimum(np.searchsorted(bottoms, depths, side="right"), len(stack) - 1)
    table = np.tile(numbers[places], times)
    # The last step continues below the table.
    return np.append(table, numbers[-1]), metres_per_step


def rock_numbers(
    materials: Materials, depth: NDArray[np.floating], roof: NDArray[np.float32] | None = None
) -> NDArray[np.intp]:
    """The index in `rocks` at this depth in metres below the top of the strata, or in an intrusion.

    `roof` is the layer of roofs of intrusions, if they have some.
    """
    step = (depth / materials.metres_per_step).astype(np.intp)
    numbers: NDArray[np.intp] = materials.strata[np.clip(step, 0, len(materials.strata) - 1)].astype(np.intp)
    if not materials.intruded:
        return numbers
    return np.where(is_intruded(depth) if roof is None else depth >= roof, 0, numbers)


def is_intruded(rise: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Where a rise of the strata, or how far it is above anything, says that there is an intrusion."""
    return np.asarray(rise > 0.5 * INTRUDED)


def open_below(materials: Materials) -> NDArray[np.float64]:
    """For each step of the strata, the depth in metres to the first impermeable rock."""
    tight = np.array([material.permeability <= TIGHT for material in materials.rocks])[materials.strata]
    places = np.arange(len(tight))
    first = np.minimum.accumulate(np.where(tight, places, len(tight))[::-1])[::-1]
    metres: NDArray[np.float64] = np.where(first < len(tight), (first - places) * materials.metres_per_step, np.inf)
    return metres

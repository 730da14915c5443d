"""Kinds of plants as data: files of `assets/plants`, checked. `grass.toml` is grass, all others are kinds of trees.

The requirements of each, of which the one that is met worst limits it (Liebig's law of the minimum):

    wetness, temperature    [none below, optimal from, optimal to, none above]: of the ground, 0 to 1; annual mean, °C
    slope                   [optimal to, none above]: in degrees

The traits of a tree that is full-grown and has all it needs, with lengths in cells and times in cycles:

    number                  in World.trees
    height, crown, rooting  its height, the radius of its crown, the radius of its roots
    roots                   root density at the trunk, from 0 to 1
    growth, lifetime        time to 95 % of its full size; the age that it reaches
    hardiness               time scale on which its health follows the conditions, good or bad
    seeds, distance         seedlings per cycle where there is room; mean dispersal distance
    shade_tolerance         fraction of its health that a small one keeps in full shade
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, TypeVar

import msgspec

from app.model.errors import UserError

MOST_KINDS = 16  # of trees

# What is known of a tree, float32 [tree, column]: its place in cells, the number of its kind, its size relative to
# a full-grown one, its age in cycles, and its health from 0 to 1.
TREE_COLUMNS = ("row", "column", "kind", "size", "age", "health")

GRASS = "grass"

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Celsius = Annotated[float, msgspec.Meta(ge=-100.0, le=100.0)]
Degrees = Annotated[float, msgspec.Meta(ge=0.0, le=89.0)]
Cells = Annotated[float, msgspec.Meta(gt=0.0, le=6.0)]
Cycles = Annotated[float, msgspec.Meta(ge=1.0, le=1e6)]


class Plant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a plant needs, as its file says; see the top of this module."""

    name: str = ""  # of the file
    title: str
    wetness: tuple[Share, Share, Share, Share]
    temperature: tuple[Celsius, Celsius, Celsius, Celsius]
    slope: tuple[Degrees, Degrees]


class Tree(Plant, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A kind of trees."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=MOST_KINDS)]
    height: Annotated[float, msgspec.Meta(gt=0.0, le=20.0)]
    crown: Cells
    rooting: Cells
    roots: Share
    growth: Cycles
    lifetime: Cycles
    hardiness: Cycles
    seeds: Share
    distance: Annotated[float, msgspec.Meta(gt=0.0, le=30.0)]
    shade_tolerance: Share


Kind = TypeVar("Kind", bound=Plant)


@cache
def load_plants(folder: Traversable | None = None) -> tuple[Plant, tuple[Tree, ...]]:
    """Grass, and the kinds of trees in the order of their numbers. Raises `UserError` where a file is wrong."""
    place: Traversable = folder or files("assets") / "plants"
    entries = sorted((entry for entry in place.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    grass = [entry for entry in entries if entry.name == f"{GRASS}.toml"]
    if not grass:
        raise UserError(f"{place}: there is no {GRASS}.toml, which says what grass needs")
    trees = [_read(entry, Tree) for entry in entries if entry.name != f"{GRASS}.toml"]
    trees.sort(key=lambda tree: tree.number)
    _check_numbers(place, trees)
    return _read(grass[0], Plant), tuple(trees)


def tree_kinds() -> tuple[Tree, ...]:
    """Those that ship with the program, in the order of their numbers in `World.trees`."""
    return load_plants()[1]


def _check_numbers(place: Traversable, trees: Sequence[Tree]) -> None:
    for number, tree in enumerate(trees):
        if tree.number != number:
            raise UserError(
                f"{place}: the numbers of trees are {', '.join(f'{tree.name} {tree.number}' for tree in trees)}; "
                f"they must go from 0 to {len(trees) - 1}, each once"
            )


def _read(entry: Traversable, kind: type[Kind]) -> Kind:
    name = entry.name.removesuffix(".toml")
    try:
        plant = msgspec.toml.decode(entry.read_bytes(), type=kind)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{entry}: {_plain(str(error))}") from error
    if not re.fullmatch("[a-z][a-z0-9-]*", name):
        raise UserError(f"{entry}: '{name}' cannot be the name of a plant: small letters, digits and -")
    if plant.name not in ("", name):
        raise UserError(f"{entry}: its name is '{plant.name}', but a plant has the name of its file")
    for need in ("wetness", "temperature", "slope"):
        limits: tuple[Any, ...] = getattr(plant, need)
        if list(limits) != sorted(limits):
            raise UserError(f"{entry}: '{need}' is {list(limits)}; its numbers must not fall")
    return msgspec.structs.replace(plant, name=name)


def _plain(reason: str) -> str:
    """An error of msgspec in terms of the file."""
    reason = re.sub(r"Object missing required field `(\w+)`", r"'\1' is missing", reason)
    reason = re.sub(r"Object contains unknown field `(\w+)`", r"'\1' is not a property of a plant", reason)
    return re.sub(r" - at `\$\.(\w+)(?:\[\d+\])?`", r": '\1'", reason)

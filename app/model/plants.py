"""Kinds of plants as data: files of `assets/plants`, checked, and the set of them that a world has.

`grass.toml` is grass, all others are kinds of trees. The requirements of each, of which the one that is met worst
limits it (Liebig's law of the minimum):

    wetness, temperature    [none below, optimal from, optimal to, none above]: of the ground, 0 to 1; annual mean, °C
    slope                   [optimal to, none above]: in degrees

The traits of a tree that is full-grown and has all it needs, with lengths in cells and times in cycles:

    crown, rooting          the radius of its crown, the radius of its roots
    roots                   root density at the trunk, from 0 to 1
    growth, lifetime        time to 95 % of its full size; the age that it reaches
    hardiness               time scale on which its health follows the conditions, good or bad
    seeds, distance         seedlings per cycle where there is room; mean dispersal distance
    shade_tolerance         fraction of its health that a small one keeps in full shade

and of what is seen of it:

    shape, colour           one of SHAPES; of its leaves: "#rrggbb"
    height                  relative to `view.tree_size`
    deciduous               whether it sheds its leaves in winter

Towards the cold that it does not endure a tree gets lower: see `cold_on`.

All numbers and the colour can be changed while a world runs: see `app.model.traits`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError, nearest
from app.model.kind_files import kind_files, read_kind
from app.model.parameters import Parameters, described, parameter
from app.model.traits import Colour, Setting, changed, rising

MOST_KINDS = 16  # of trees

# Columns of a tree, float32 [tree, column]: position in cells, number of its kind, size relative to full size, age in
# cycles, and health from 0 to 1.
TREE_COLUMNS = ("row", "column", "kind", "size", "age", "health")

GRASS = "grass"
ROOTED_GROUND = "rooted_ground"  # the layer of simulated plants

Shape = Literal["conifer", "broadleaf", "columnar", "shrub"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

Share = Annotated[float, parameter(0.0, 1.0, "")]
Celsius = Annotated[float, parameter(-100.0, 100.0, "", unit="°C")]
Degrees = Annotated[float, parameter(0.0, 89.0, "", unit="°")]

# Near the tree line trees are lower, and stand farther apart, over so many degrees above the cold that ends them: some
# 300 m of altitude (Körner 2012). The last are krummholz, this fraction as high as others of their size.
TREE_LINE_SPAN = 2.0  # °C
KRUMMHOLZ = 0.12

FOUR = ("none below", "optimal from", "optimal to", "none above")


def fault_of_trees(trees: NDArray[Any], shape: tuple[int, int], flora: Flora) -> str:
    """What is wrong with a table of trees on a map of so many rows and columns; empty if nothing is."""
    if trees.dtype != np.float32 or trees.ndim != 2 or trees.shape[1] != len(TREE_COLUMNS):
        return f"must be float32 [tree, {len(TREE_COLUMNS)}]; it is {trees.dtype} {trees.shape}"
    if not np.isfinite(trees).all():
        tree, column = np.argwhere(~np.isfinite(trees))[0]
        return f"must be finite numbers; the {TREE_COLUMNS[column]} of tree {tree} is {trees[tree, column]:g}"
    row, column, kind, size, _, health = trees.T
    if (trees < 0.0).any() or not ((row < shape[0]) & (column < shape[1])).all():
        return "must be 0 or more, and on the map"
    if (size > 1.0).any() or (health > 1.0).any():
        return "must have sizes and healths of up to 1"
    if len(kind) and kind.max() >= len(flora.trees):
        names = ", ".join(f"{name} {number}" for number, name in enumerate(flora.names)) or "none"
        return f"has kind {kind.max():g}; those that are known now are {names}"
    return ""


def read_trees(text: str) -> tuple[str, ...]:
    """The names of tree kinds in a text. Raises `UserError` if it is invalid."""
    names = tuple(filter(None, (name.strip() for name in text.split(";"))))
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UserError(f"flora.trees: '{name}' is there twice")
        if " " in name or name == GRASS:
            raise UserError(f"flora.trees: '{name}' is no kind of trees; such as conifer; broadleaf")
    if len(names) > MOST_KINDS:
        raise UserError(f"flora.trees: {len(names)} kinds of trees: a world has up to {MOST_KINDS}")
    return names


class FloraParameters(Parameters, frozen=True, kw_only=True):
    """Kinds of plants: their needs, their traits and their looks."""

    title: ClassVar[str] = "Flora"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "plants.enabled"

    # fmt: off
    folder: Annotated[str,
        described("folder of further kinds of plants (TOML); a file with the name of a shipped kind replaces it",
        names_file=True)] = ""
    trees: Annotated[str, described("kinds of trees, such as conifer; broadleaf; poplar; empty: grass alone",
        check=read_trees, essential=True)] = "conifer; broadleaf"
    # fmt: on


class Plant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The needs of a plant, from its file; see the top of this module."""

    name: str = ""  # of the file
    title: str
    # fmt: off
    wetness: Annotated[tuple[Share, Share, Share, Share], rising("wetness of the ground that it needs", *FOUR)]
    temperature: Annotated[
        tuple[Celsius, Celsius, Celsius, Celsius], rising("annual mean temperature that it needs", *FOUR)
    ]
    slope: Annotated[tuple[Degrees, Degrees], rising("slope that it stands on", *FOUR[2:])]
    # fmt: on


class Tree(Plant, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A kind of trees."""

    shape: Shape
    colour: Colour
    deciduous: bool = False
    # fmt: off
    height: Annotated[float, parameter(0.05, 4.0, "height in the picture relative to tree size", unit="×", log=True)]
    crown: Annotated[float, parameter(0.05, 6.0, "radius of its crown", unit="cells", log=True)]
    rooting: Annotated[float, parameter(0.05, 6.0, "radius of its roots", unit="cells", log=True)]
    roots: Annotated[float, parameter(0.0, 1.0, "root density at its trunk")]
    growth: Annotated[float, parameter(1.0, 1e6, "time to 95 % of its full size", unit="cycles", log=True)]
    lifetime: Annotated[float, parameter(1.0, 1e6, "age that it reaches", unit="cycles", log=True)]
    hardiness: Annotated[
        float, parameter(1.0, 1e6, "time in which its health follows the conditions", unit="cycles", log=True)
    ]
    seeds: Annotated[float, parameter(0.0, 1.0, "seedlings where there is room", unit="1/cycle", log=True)]
    distance: Annotated[float, parameter(0.05, 30.0, "mean dispersal distance", unit="cells", log=True)]
    shade_tolerance: Annotated[float, parameter(0.0, 1.0, "health that a small one keeps in full shade, as a fraction")]
    # fmt: on


@dataclass(frozen=True)
class Flora:
    """The kinds of plants of a world. Trees are in the order of their numbers in `World.trees`."""

    grass: Plant
    trees: tuple[Tree, ...]
    given: Flora | None = None  # as in their files, if traits were changed

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tree kinds."""
        return tuple(tree.name for tree in self.trees)

    def with_traits(self, settings: Sequence[Setting]) -> Flora:
        """The kinds with these traits changed."""
        given = self.given or self
        if not settings:
            return given
        return Flora(changed((given.grass,), settings)[0], changed(given.trees, settings), given)


def flora_of(parameters: FloraParameters) -> Flora:
    """The kinds of plants of a scene. Raises `UserError` if a file or a name is wrong."""
    known = load_plants(parameters.folder)
    trees = []
    for name in read_trees(parameters.trees):
        tree = known.get(name)
        if not isinstance(tree, Tree):
            others = (other for other in known if other != GRASS)
            raise UserError(f"flora.trees: there is no kind '{name}'{nearest(name, others)}")
        trees.append(tree)
    return Flora(known[GRASS], tuple(trees))


@cache
def shipped_flora() -> Flora:
    """The default kinds of plants."""
    return flora_of(FloraParameters())


def load_plants(folder: str = "") -> dict[str, Plant]:
    """Grass and all kinds of trees by name: those that ship with the program, and those of a folder.

    Raises `UserError` if a file is wrong.
    """
    return dict(_shipped_plants()) if not folder else _read_plants(folder)


@cache
def _shipped_plants() -> dict[str, Plant]:
    return _read_plants("")


def _read_plants(folder: str) -> dict[str, Plant]:
    return {name: _read_plant(entry) for name, entry in kind_files("plants", folder, "flora.folder").items()}


def _read_plant(entry: Traversable) -> Plant:
    kind = Plant if entry.name == f"{GRASS}.toml" else Tree
    plant = read_kind(entry, kind, "plant")
    for need in ("wetness", "temperature", "slope"):
        limits: tuple[Any, ...] = getattr(plant, need)
        if list(limits) != sorted(limits):
            raise UserError(f"{entry}: '{need}' is {list(limits)}; its numbers must not fall")
    return plant


class Cold(NamedTuple):
    """What cold does to trees, [tree]."""

    height: NDArray[np.float32]  # as a fraction of that in a warm place
    health: NDArray[np.float32]  # that they can have at most


def cold_on(flora: Flora, kinds: NDArray[np.intp], temperature: NDArray[Any]) -> Cold:
    """What the annual mean temperature in °C does to trees of these kinds: see `TREE_LINE_SPAN`."""
    needs = np.array([tree.temperature[:2] for tree in flora.trees] or [(0.0, 1.0)], np.float32)[kinds].T
    warmth = np.clip((temperature - needs[0]) / TREE_LINE_SPAN, 0.0, 1.0).astype(np.float32)
    share = KRUMMHOLZ + (1.0 - KRUMMHOLZ) * warmth * warmth * (3.0 - 2.0 * warmth)
    endured = np.clip((temperature - needs[0]) / np.maximum(needs[1] - needs[0], 1e-3), 0.0, 1.0)
    return Cold(share.astype(np.float32), endured.astype(np.float32))

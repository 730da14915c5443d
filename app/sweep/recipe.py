"""Recipes of sweeps: which worlds, how long they run, and which results are stored.

sources = ["noise", "canyon"]     # presets, generators or files
size = "256"
cycles = 300
seeds = { from = 1, count = 50 }  # or a list
layers = ["ground", "water_depth", "discharge"]
pictures = ["scene", "slope"]

[changes.view]                    # of all worlds: sections as in a preset
sun_height = 30.0

[vary.climate]                    # every value with every other one
precipitation = [400.0, 800.0, 1600.0]

[vary.droplets]
friction = { from = 0.02, to = 0.2, steps = 4, log = true }

With `draws = { count = 100, seed = 7 }` ranges may omit their steps: then each draw has a random value of all of these
at once, and is combined with every value of the others.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec

from app.engine.creation import cells_wanted, read_size, shape_of_world, size_in_cells
from app.export.landscape import SURFACES
from app.export.maps import MAPS
from app.files.opening import open_scene
from app.files.paths import EXPRESSIONS, NAMING, found, names_in, value_found, with_names
from app.files.text import read_text
from app.model.errors import UserError, nearest
from app.model.kind_files import SUFFIX as KIND_SUFFIX
from app.model.kind_files import plain_reason
from app.model.overlays import OVERLAYS
from app.model.parameters import Declaration, Value
from app.scene.scene import (
    Scene,
    check_value,
    find_declaration,
    presets,
    read_toml,
    read_values,
    rebuilds_world,
    scene_content,
)
from app.sources.generators import GENERATORS
from app.sources.heightmap.models import tiles_in
from app.sources.terrain import find_terrain

MOST_WORLDS = 100_000
MOST_PIXELS = 1_000_000  # of a picture
LARGEST_SEED = 2**31 - 1
SEED, PART = "world.seed", "world.part"
OF_FILES = (*NAMING, *EXPRESSIONS)  # parameters
OF_KINDS = ("materials.folder", "flora.folder")
SCENES, FILES = "scenes", "files"  # of a recipe's identity, besides its text
LAYER_NAMES = (*SURFACES, *MAPS)
SCENE = "scene"  # the picture without an overlay
PICTURE_NAMES = (SCENE, *(name for name in OVERLAYS if name != "none"))

Whole = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_SEED)]


class Seeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Consecutive seeds."""

    first: Whole = msgspec.field(name="from")
    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_WORLDS)]


class Draws(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Random draws from all ranges without steps."""

    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_WORLDS)]
    seed: Whole = 0


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Evenly spaced values, or with even ratios if `log`, including both ends; without steps they are drawn."""

    first: float = msgspec.field(name="from")
    to: float
    steps: Annotated[int, msgspec.Meta(ge=2, le=MOST_WORLDS)] | None = None
    log: bool = False

    def values(self) -> list[float]:
        """Raises `UserError` if there are no such ratios."""
        assert self.steps is not None
        between = self._at([step / (self.steps - 1) for step in range(self.steps)])
        return [self.first, *between[1:-1], self.to]

    def of_whole_numbers(self) -> Range:
        """The range limited to whole numbers. Raises `UserError` if it contains none."""
        ends = sorted((self.first, self.to))
        if not all(map(math.isfinite, ends)):
            return self  # none that a parameter may be
        low, high = math.ceil(ends[0]), math.floor(ends[1])
        if low > high:
            raise UserError(f"there is no whole number from {ends[0]:g} to {ends[1]:g}")
        return Range(low, high, log=self.log)

    def drawn(self, places: Iterable[float], *, whole: bool) -> list[float]:
        """Values at positions from 0 to 1. If `whole`, each whole number has an equal part of the range.

        Raises `UserError` if there are no such ratios.
        """
        if not whole:
            return self._at(places)
        self._at(())  # raises if there are no ratios
        wider = Range(self.first - 0.5, self.to + 0.5, log=self.log)
        return [min(max(math.floor(value + 0.5), self.first), self.to) for value in wider._at(places)]

    def _at(self, places: Iterable[float]) -> list[float]:
        if self.log and not (self.first > 0.0 and self.to > 0.0):
            raise UserError("'from' and 'to' must be more than 0 with log = true")
        if self.log:
            values = [self.first * math.pow(self.to / self.first, place) for place in places]
        else:
            values = [self.first + (self.to - self.first) * place for place in places]
        return [float(f"{value:.12g}") for value in values]  # rounded, as the last bits of `pow` depend on the system


_Axis = Range | list[bool | int | float | str]


class RecipeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of a recipe file."""

    sources: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MOST_WORLDS)]
    title: Annotated[str, msgspec.Meta(max_length=120)] = ""
    size: str = ""  # of all worlds in cells, as --size; empty: those of the sources
    cycles: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
    seeds: Annotated[tuple[Whole, ...], msgspec.Meta(max_length=MOST_WORLDS)] | Seeds = ()  # none: those of the sources
    layers: Annotated[tuple[str, ...], msgspec.Meta(max_length=len(LAYER_NAMES))] = ("ground",)
    pictures: Annotated[tuple[str, ...], msgspec.Meta(max_length=16)] = (SCENE,)
    width: Annotated[int, msgspec.Meta(ge=16, le=4096)] = 240  # of a picture, in pixels
    height: Annotated[int, msgspec.Meta(ge=16, le=4096)] = 135
    draws: Draws | None = None
    changes: dict[str, dict[str, Any]] = {}
    vary: dict[str, dict[str, Any]] = {}  # ranges and lists


@dataclass(frozen=True)
class Planned:
    """One world of a sweep: number, source, varied values, and scene."""

    number: int
    source: str
    values: Mapping[str, Value]  # by the dotted paths of parameters
    scene: Scene
    shape: tuple[int, int] = (0, 0)  # rows and columns
    error: str = ""  # why it cannot be made; empty if it can


class Recipe:
    """A validated recipe. Worlds are planned on demand."""

    def __init__(self, said: RecipeFile, name: str, folder: Path) -> None:
        """`name` is that of the file, for errors; paths are relative to `folder`. Raises `UserError`."""
        self.said = said
        self.name = name
        self._folder = folder
        self._bases: dict[tuple[str, str | None], Scene] = {}  # of sources and parts
        self._shapes: dict[object, tuple[int, int]] = {}  # by the values that determine them
        try:
            self._check_names()
            if said.size:
                read_size(said.size, "size =")
            axes = dict(_axis(path, values) for path, values in _paths(said.vary))
            self._refuse_too_many(axes.values())
            self._changes = read_values(said.changes)
            ranges = {path: axis for path, axis in axes.items() if isinstance(axis, Range) and axis.steps is None}
            self.varied = {path: _values(path, axis) for path, axis in axes.items() if path not in ranges}
            self._drawn = self._draw(ranges)  # by their parameters, a value for each draw
            self._take_seeds()
        except UserError as error:
            raise UserError(f"{name}: {error}") from error

    def _refuse_too_many(self, axes: Iterable[_Axis]) -> None:
        """Check the number of worlds before values are made."""
        said = self.said
        seeds = said.seeds.count if isinstance(said.seeds, Seeds) else max(len(said.seeds), 1)
        lengths = ((axis.steps or 1) if isinstance(axis, Range) else len(axis) for axis in axes)
        draws = said.draws.count if said.draws else 1
        count = math.prod((len(said.sources), seeds, draws, *lengths))
        if count > MOST_WORLDS:
            raise UserError(f"{count} worlds: at most {MOST_WORLDS} make a set")

    def _draw(self, ranges: Mapping[str, Range]) -> dict[str, list[Value]]:
        """Draw values of each range. Raises `UserError` if the recipe has no number of draws, or nothing to draw."""
        draws = self.said.draws
        if draws is None and ranges:
            raise UserError(
                f"{next(iter(ranges))}: a range without 'steps' is drawn from, as often as the recipe says: "
                "draws = { count = …, seed = … }"
            )
        if draws is not None and not ranges:
            raise UserError("draws: there is nothing to draw from; a range without 'steps' under [vary.…] is")
        if draws is None:
            return {}
        from app.sweep.draws import latin_hypercube  # loads Numba

        return {
            path: _drawn_values(path, axis, latin_hypercube(draws.seed, path, draws.count).tolist())
            for path, axis in ranges.items()
        }

    def _check_names(self) -> None:
        said = self.said
        for key, names, known, command in (
            ("layers", said.layers, LAYER_NAMES, "thalweg export --help"),
            ("pictures", said.pictures, PICTURE_NAMES, "thalweg --list-parameters"),
        ):
            for name in names:
                if name not in known:
                    raise UserError(f"{key}: there is no '{name}'{nearest(name, known, command)}")
            if len(set(names)) < len(names):
                raise UserError(f"{key}: each may be named once")
        if said.width * said.height > MOST_PIXELS:
            raise UserError(
                f"a picture of {said.width}×{said.height} pixels: at most {MOST_PIXELS} are kept of a world"
            )
        if not said.title.isprintable():
            raise UserError("title: must be one line")

    def _take_seeds(self) -> None:
        """Vary seeds last. Raises `UserError` if anything is set twice."""
        for path in (*self.varied, *self._drawn):
            if path in self._changes or (path == SEED and self.said.seeds):
                raise UserError(f"{path}: is said twice; it varies, or is the same in all worlds")
        seeds = self.said.seeds
        if isinstance(seeds, Seeds):
            if seeds.first + seeds.count - 1 > LARGEST_SEED:
                raise UserError(f"seeds: the last would be more than {LARGEST_SEED}")
            self.varied[SEED] = list(range(seeds.first, seeds.first + seeds.count))
        elif seeds:
            self.varied[SEED] = list(dict.fromkeys(seeds))

    @cached_property
    def worlds(self) -> list[Planned]:
        """All worlds in nested order: sources, varied parameters as written, draws, and seeds, which vary fastest.

        Raises `UserError` if a source yields none.
        """
        planned: list[Planned] = []
        for source in self.said.sources:
            first = len(planned)
            for values in self._choices():
                planned.append(self._planned(len(planned), source, values))
            if all(world.error for world in planned[first:]):
                raise UserError(f"{self.name}: {source}: {planned[first].error}")
        return planned

    def _planned(self, number: int, source: str, values: Mapping[str, Value]) -> Planned:
        try:
            scene = self._with_values(self._base(source, self._part(values)), values)
            return Planned(number, source, values, scene, self._shape_of(scene))
        except UserError as error:
            return Planned(number, source, values, Scene(), error=str(error))

    def _shape_of(self, scene: Scene) -> tuple[int, int]:
        key = scene.world, scene.saved_world
        if key not in self._shapes:
            self._shapes[key] = shape_of_world(scene)
        return self._shapes[key]

    @property
    def paths(self) -> list[str]:
        """The parameters that vary between worlds of one source."""
        return [*self.varied, *self._drawn]

    def _choices(self) -> list[dict[str, Value]]:
        """The variations of the worlds of one source."""
        seeds = {SEED: self.varied[SEED]} if SEED in self.varied else {}
        others = {path: values for path, values in self.varied.items() if path not in seeds}
        draws = [dict(zip(self._drawn, draw, strict=True)) for draw in zip(*self._drawn.values(), strict=True)] or [{}]
        return [
            {**dict(zip(others, choice, strict=True)), **draw, **dict(zip(seeds, seed, strict=True))}
            for choice in itertools.product(*others.values())
            for draw in draws
            for seed in itertools.product(*seeds.values())
        ]

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of all worlds. Raises `UserError` if they differ."""
        first, *others = (world for world in self.worlds if not world.error)
        for other in others:
            if other.shape != first.shape:
                sizes = " and ".join(f"{columns}×{rows}" for rows, columns in (first.shape, other.shape))
                raise UserError(
                    f"{self.name}: worlds of {sizes} cells, {_beside(first, other)}: all worlds of a set have the "
                    'same; size = "256x256" gives them one, or two recipes make two sets'
                )
        return first.shape

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The identity of the recipe for a set, independent of paths.

        It consists of its text, the scenes of its sources, and the contents of all files that these name, in order; ""
        means a missing file. Raises `UserError` if one cannot be read.
        """
        scenes = hashlib.sha256()
        named: list[tuple[str, str]] = []  # parameters and the files that they name
        for source, part in itertools.product(self.said.sources, self.varied.get(PART, [self._changes.get(PART)])):
            try:
                scene = open_scene(self._found(source), None if part is None else str(part))
            except UserError:  # worlds of this part fail
                continue
            scenes.update(msgspec.json.encode(scene_content(with_names(scene, lambda name: Path(name).name))))
            named += [("world.source", scene.saved_world)] if scene.saved_world else []
            named += [(path, name) for path in OF_FILES for name in names_in(path, scene.value(path))]
        for path, values in [*((path, [value]) for path, value in self._changes.items()), *self.varied.items()]:
            if path in OF_FILES:
                found_values = (value_found(path, value, self._found) for value in values)
                named += [(path, name) for value in found_values for name in names_in(path, value)]
        digests = {each: _digest(*each) for each in set(named)}
        said: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.said))  # the form that a set returns
        return {**said, SCENES: scenes.hexdigest(), FILES: [digests[each] for each in named]}

    def _part(self, values: Mapping[str, Value]) -> str | None:
        """The part of its source that a world shows, which determines its size; None if the recipe has none."""
        part = values.get(PART, self._changes.get(PART))
        return None if part is None else str(part)

    def _base(self, source: str, part: str | None) -> Scene:
        """The scene of a source with all fixed changes."""
        if (source, part) not in self._bases:
            wanted = max(read_size(self.said.size, "size =")) if self.said.size else cells_wanted(self._changes)
            scene = open_scene(self._found(source), part, wanted)
            values = dict(self._changes)
            if self.said.size:
                values = {**size_in_cells(scene, *read_size(self.said.size, "size =")), **values}
            self._bases[source, part] = self._with_values(scene, values)
        return self._bases[source, part]

    def _with_values(self, scene: Scene, values: Mapping[str, Value]) -> Scene:
        for path, value in values.items():
            if scene.saved_world and rebuilds_world(path):
                raise UserError(f"{path}: {scene.name} is a saved world, which keeps its terrain, size and seed")
            scene = scene.with_value(path, value_found(path, value, self._found))
        return scene

    def _found(self, name: str) -> str:
        return name if name in presets() or name in GENERATORS else found(name, self._folder)


def _beside(first: Planned, other: Planned) -> str:
    """The differences of two worlds, in words."""
    pairs: list[tuple[str, Value, Value]] = [("source", first.source, other.source)]
    pairs += [(path, value, other.values[path]) for path, value in first.values.items()]
    return ", ".join(f"{name} = {one!r} and {two!r}" for name, one, two in pairs if one != two)


def _digest(path: str, name: str) -> str:
    """A digest of the file, or of the files in the folder, that a parameter names; empty if there is none.

    It includes names, as they contain the positions of tiles and the names of kinds. Raises `UserError`.
    """
    try:
        place = find_terrain(name)
    except UserError:
        return ""
    digest = hashlib.sha256()
    try:
        if place.is_file():
            folder, files = place.parent, [place]
        else:
            folder, files = place, tiles_in(place) if path not in OF_KINDS else sorted(place.glob(f"*{KIND_SUFFIX}"))
        for each in files:
            digest.update(each.relative_to(folder).as_posix().encode())
            with each.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise UserError(f"{path}: {error.filename or place}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def open_recipe(path: Path) -> Recipe:
    """The recipe of a file. Raises `UserError` if it is invalid."""
    return read_recipe(read_text(path, "recipe"), str(path), path.parent)


def read_recipe(text: str, name: str, folder: Path) -> Recipe:
    """A recipe from a text; see `Recipe`."""
    content = read_toml(text, name, "recipe")
    try:
        said = msgspec.convert(content, RecipeFile)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UserError(f"{name}: {plain_reason(str(error), 'recipe')}") from error
    return Recipe(said, name, folder)


def _paths(sections: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, Any]]:
    return ((f"{section}.{key}", value) for section, items in sections.items() for key, value in items.items())


def _axis(path: str, said: object) -> tuple[str, _Axis]:
    """A varied parameter with its values or range. Raises `UserError`."""
    try:
        return path, msgspec.convert(said, _Axis)
    except (msgspec.ValidationError, RecursionError) as error:
        raise UserError(
            f"{path}: {plain_reason(str(error), 'range')}; must be a list, or {{ from = …, to = …, steps = … }}"
        ) from error


def _values(path: str, axis: _Axis) -> list[Value]:
    """The distinct values of a parameter. Raises `UserError`."""
    declaration = find_declaration(path)
    values: Sequence[Value] = axis if isinstance(axis, list) else []
    if isinstance(axis, Range):
        if declaration.kind not in (int, float):
            raise UserError(f"{path}: has no range; name its values in a list")
        try:
            values = [_in_kind(declaration, value) for value in axis.values()]
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
    if not values:
        raise UserError(f"{path} = []: must have a value at least")
    return list(dict.fromkeys(check_value(declaration, value) for value in values))


def _drawn_values(path: str, axis: Range, places: Sequence[float]) -> list[Value]:
    """The value of a parameter in each draw. Raises `UserError`."""
    declaration = find_declaration(path)
    if declaration.kind not in (int, float):
        raise UserError(f"{path}: has no range; name its values in a list")
    is_whole = declaration.kind is int
    try:
        axis = axis.of_whole_numbers() if is_whole else axis
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    for end in (axis.first, axis.to):
        check_value(declaration, _in_kind(declaration, end))
    try:
        drawn = axis.drawn(places, whole=is_whole)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return [check_value(declaration, _in_kind(declaration, value)) for value in drawn]


def _in_kind(declaration: Declaration, value: float) -> float:
    return round(value) if declaration.kind is int and math.isfinite(value) else value

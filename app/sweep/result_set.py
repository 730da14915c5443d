"""The Zarr store of a sweep: complete results of worlds, and which are missing.

Each array of layers has one chunk per world. The `record` of a world is written last, in its own chunk. So a world is
either complete or missing, however a sweep ends. Figures from the records are written to arrays periodically and at the
end of a sweep, `status` last: all arrays of a world with status `done` are complete.
"""

from __future__ import annotations

import secrets
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import zarr
from numpy.typing import NDArray

from app.export.landscape import SURFACES
from app.export.maps import MAPS
from app.files.atomic import PART, as_user_error
from app.model.errors import UserError
from app.model.georeference import Place
from app.model.realism import MEASURES, Spread
from app.scene.scene import find_declaration
from app.sweep.coordinates import COLUMN, CONVENTIONS, GRID, ROW, WORLD, make_coordinates, write_coordinates
from app.sweep.recipe import FILES, SCENES, SEED, Planned, Recipe
from app.sweep.worlds import ENTRIES, SUBSTANCES, Figures, Outcome, program, stored_as

RECORD, PICTURES, SOURCE, SEED_FIGURE, CYCLES, ERROR = "record", "pictures", "source", "seed", "cycles", "error"
STATUS = "status"
DONE, FAILED, MISSING = "done", "failed", "missing"
NOT_RUN = "has not run"  # error of a missing world
PARTS = 10  # of a set; after each one, the figures of all worlds so far are written to arrays
RECIPE, PROGRAM = "recipe", "program"  # attributes

Cell = float | int | str | None


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record of a world that ran."""

    error: str = ""
    figures: Figures = {}
    ledger: dict[str, Any] = {}
    place: Place | None = None  # coordinates of its cells


class ResultSet:
    """A set of worlds on disk, of one recipe."""

    def __init__(self, path: Path, recipe: Recipe) -> None:
        """Open the existing set, or make an empty one. Raises `UserError` if another set is there."""
        self.path = path
        self._recipe = recipe
        self.worlds: Sequence[Planned] = recipe.worlds
        if path.exists():
            _check_same(path, recipe)
        else:
            _make(path, recipe)
        self._group = zarr.open_group(path, mode="r+")
        texts = self._values(RECORD, slice(None))
        self._records = {number: _read(text, path) for number, text in enumerate(texts.tolist()) if text}
        self._since = 0  # worlds that were written since the figures

    @property
    def missing(self) -> list[Planned]:
        """The worlds that have not run or have failed."""
        return [world for world in self.worlds if not self.has(world.number)]

    @property
    def count(self) -> int:
        """The number of finished worlds."""
        return sum(not record.error for record in self._records.values())

    def has(self, number: int) -> bool:
        """Whether a world is complete."""
        return number in self._records and not self._records[number].error

    @property
    def failures(self) -> dict[int, str]:
        """Why worlds failed, by their numbers."""
        return {number: record.error for number, record in sorted(self._records.items()) if record.error}

    def put(self, number: int, outcome: Outcome) -> None:
        """Write the outcome of a world. Raises `UserError` if writing fails."""
        record = Record(outcome.error, outcome.figures, outcome.accounts, outcome.place)
        try:
            for name, values in outcome.layers.items():
                self._group[name][number] = values
            if outcome.pictures is not None:
                self._group[PICTURES][number] = outcome.pictures
            self._group[RECORD][number] = msgspec.json.encode(record).decode()
        except OSError as error:
            raise as_user_error(error, self.path) from error
        self._records[number] = record
        self._since += 1
        if self._since * PARTS >= len(self.worlds):
            self.write_figures()

    def write_figures(self) -> None:
        """Write the figures of all worlds as arrays, and coordinates of their cells if all lie in one place.

        Raises `UserError` if writing fails.
        """
        self._since = 0
        columns = self.table()
        try:
            for array in _figures(self._recipe):
                values = [array.nothing if value is None else value for value in columns[array.name]]
                self._group[array.name][:] = np.array(values, object if array.kind is str else array.kind)
            places = [record.place for record in self._records.values() if not record.error]
            write_coordinates(self._group, places, self._recipe.shape)
        except OSError as error:
            raise as_user_error(error, self.path) from error

    def table(self) -> dict[str, list[Cell]]:
        """A column per figure, with a cell per world; None without a value."""
        rows = [self._row(world) for world in self.worlds]
        names = [WORLD, *(array.name for array in _figures(self._recipe))]
        return {name: [row.get(name) for row in rows] for name in names}

    def pictures(self) -> Iterator[tuple[Planned, NDArray[np.uint8]]]:
        """The pictures of each world that has any: [picture, line, pixel, colour]."""
        for world in self.worlds:
            if self.has(world.number):
                yield world, self._values(PICTURES, world.number)

    def _values(self, name: str, place: int | slice) -> NDArray[Any]:
        """Values of an array. Raises `UserError` if it cannot be read."""
        try:
            return np.asarray(self._group[name][place])
        except (OSError, ValueError, RuntimeError) as error:  # errors of files and codecs
            reason = " ".join(str(error).split())
            raise UserError(f"{self.path}: '{name}' is damaged: {reason}; name another set") from error

    def _row(self, world: Planned) -> dict[str, Cell]:
        found = self._records.get(world.number)
        record = found or Record(NOT_RUN)
        status = MISSING if not found else FAILED if found.error else DONE
        cells: dict[str, Cell] = {WORLD: world.number, SOURCE: world.source, SEED_FIGURE: _seed(world)}
        cells |= {CYCLES: self._recipe.said.cycles, **world.values, **record.figures}
        return cells | {ERROR: record.error, STATUS: status}


class _Array(NamedTuple):
    """An array of the store. Its first dimension is that of worlds."""

    name: str
    kind: type[Any]
    told: Mapping[str, Any]  # attributes
    of_world: Mapping[str, int] = {}  # further dimensions and their sizes
    nothing: Any = None  # fill value of worlds without a value
    chunk_each: bool = True  # a chunk for each world; otherwise one for all


def _make(path: Path, recipe: Recipe) -> None:
    """Make an empty set in a temporary folder beside its path, then rename it."""
    attributes = {"Conventions": CONVENTIONS, "title": recipe.said.title, RECIPE: recipe.identity, PROGRAM: program()}
    count = len(recipe.worlds)
    beside = path.with_name(f"{PART}{secrets.token_hex(8)}.part{path.suffix}")
    try:
        group = zarr.create_group(beside, attributes=attributes)
        for array in (*_layers(recipe), *_figures(recipe)):
            sizes = tuple(array.of_world.values())
            group.create_array(
                array.name,
                shape=(count, *sizes),
                chunks=(1 if array.chunk_each else count, *sizes),
                dtype=array.kind,
                fill_value=array.nothing,
                dimension_names=(WORLD, *array.of_world),
                attributes=dict(array.told),
            )
        make_coordinates(group, count, recipe.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Zarr 3 warns about consolidated metadata, but xarray wants it
            zarr.consolidate_metadata(group.store)
        beside.rename(path)
    except OSError as error:
        raise as_user_error(error, path) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _layers(recipe: Recipe) -> Iterator[_Array]:
    """The arrays that a world writes after its run."""
    said = recipe.said
    rows, columns = recipe.shape
    for name in said.layers:
        kind, nothing = stored_as(name)
        dimensions, told = {ROW: rows, COLUMN: columns}, {"units": "m", "long_name": SURFACES.get(name, "")}
        if name not in SURFACES:
            told = {"units": MAPS[name].unit, "long_name": MAPS[name].help}
            if channels := MAPS[name].channels:
                dimensions[f"{name}_channel"] = len(channels)
                told["channels"] = ", ".join(channels)
        yield _Array(name, kind, {**told, "coordinates": GRID, "grid_mapping": GRID}, dimensions, nothing)
    if said.pictures:
        dimensions = {"picture": len(said.pictures), "line": said.height, "pixel": said.width, "colour": 3}
        yield _Array(PICTURES, np.uint8, {"long_name": ", ".join(said.pictures)}, dimensions, 0)
    yield _Array(RECORD, str, {"long_name": "all that is known of a world, as JSON"}, {}, "")


def _figures(recipe: Recipe) -> Iterator[_Array]:
    """The arrays with one value per world, in the order of writing."""
    yield _figure(SOURCE, str, "preset, generator or file")
    yield _figure(SEED_FIGURE, int, "seed of all random numbers")
    yield _figure(CYCLES, int, "cycles that were run")
    for path in recipe.paths:
        if path != SEED:
            declaration = find_declaration(path)
            yield _figure(path, declaration.kind, declaration.help, declaration.unit)
    yield _figure("cell_size", float, "side of a cell", "m")
    yield _figure("ledger.imbalance", float, "what is unaccounted for, as a fraction of all")
    for substance in SUBSTANCES:
        for entry in ENTRIES:
            yield _figure(f"ledger.{substance}.{entry}", float, f"{substance} {entry}", "m³")
    for measure in MEASURES:
        yield _figure(f"realism.{measure.name}", float, measure.label, measure.unit)
        for end in Spread._fields:
            help = f"{measure.label}: {end} end of the interval of nine of ten draws of basins"
            yield _figure(f"realism.{measure.name}.{end}", float, help, measure.unit)
    yield _figure(ERROR, str, "why it failed, or is missing; empty where it is done")._replace(nothing=NOT_RUN)
    yield _figure(STATUS, str, f"{DONE}, {FAILED} or {MISSING}")._replace(nothing=MISSING)


# Fill values of numbers and switches in failed worlds can be told from real values by the status.
_KINDS: dict[type[Any], tuple[type[Any], Any]] = {
    str: (str, ""), float: (np.float64, np.nan), int: (np.int64, 0), bool: (np.bool_, False),
}  # fmt: skip


def _figure(name: str, kind: type[Any], help: str, unit: str = "") -> _Array:
    stored, nothing = _KINDS[kind]
    return _Array(name, stored, {"long_name": help, "units": unit}, {}, nothing, chunk_each=False)


def _seed(world: Planned) -> Cell:
    """The seed of a world; None if its source could not be opened."""
    return world.values.get(SEED) if world.error else world.scene.world.seed


def _read(text: str, path: Path) -> Record:
    try:
        return msgspec.json.decode(text, type=Record)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a set of worlds, or damaged: {error}") from error


def _holds(before: object, files: list[str]) -> bool:
    """Whether files are unchanged. Files that were missing, so that worlds failed, may exist now."""
    if not isinstance(before, list) or len(before) != len(files):
        return False
    return all(was in ("", now) for was, now in zip(before, files, strict=True))


def _check_same(path: Path, recipe: Recipe) -> None:
    """Raise `UserError` if a path holds no set, or one of another recipe or program."""
    try:
        group = zarr.open_group(path, mode="r")
        attributes = dict(group.attrs)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: is there, and is no set of worlds; name another one") from error
    there, here = attributes.get(RECIPE), recipe.identity
    if not isinstance(there, dict):
        raise UserError(f"{path}: is there, and is no set of worlds; name another one")
    for key, value in here.items():
        if not (_holds(there.get(key), value) if key == FILES else there.get(key) == value):
            what = "presets or files it names have changed" if key in (SCENES, FILES) else f"'{key}' is another one"
            raise UserError(f"{path}: was made with another recipe than {recipe.name}: {what}; name another set")
    arrays = {array.name for array in (*_layers(recipe), *_figures(recipe))} | {WORLD, ROW, COLUMN, GRID}
    if attributes.get(PROGRAM) != program() or not arrays <= set(group.array_keys()):
        raise UserError(
            f"{path}: was begun with another version of the program, whose worlds may differ; name another set"
        )

"""Rivers as lines, watersheds and lakes as polygons, falls as points, for geographic information systems.

Lines connect the centres of cells. Polygons follow the edges of cells in the maps of the same names, so they do not
overlap, and their areas are exactly those of the maps.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from app.export.projection import LOCAL_TEXT, coordinate_system
from app.export.sheet import Sheet
from app.files.atomic import write_atomically

if TYPE_CHECKING:
    from kernels.falls import Falls
    from kernels.lakes import Lakes
    from kernels.outlines import Rings
    from kernels.rivers import Drainage
    from kernels.watersheds import Watersheds

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

VECTORS_FILE = "vectors.gpkg"
WKB_POINT, WKB_LINE, WKB_POLYGON, WKB_MULTIPOLYGON = 1, 2, 3, 6  # of the standard "Simple feature access"
LITTLE_ENDIAN = 1
STRIP_CELLS = 1 << 22  # of a map, that outlines are found in at a time
CACHE = 1 << 26  # bytes of what is read from its file
MANY_SHAPES = 50_000  # that are written at a time
SAME_DATE = "1970-01-01T00:00:00.000Z"  # date of the last change; fixed, so that files are reproducible


@dataclass(frozen=True)
class Reaches:
    """Rivers split at confluences: each reach runs from a source or confluence to the next confluence or an outlet.

    The cells of reach k are those from `begin[k]` to `begin[k + 1]`, downstream. The last one is the first of the
    reach below, or the outlet.
    """

    cells: Integers  # row * columns + column
    begin: Integers  # [reach + 1]
    following: Integers  # the reach below; -1 if there is none

    def __len__(self) -> int:
        return len(self.following)


class RiverColumns(NamedTuple):
    """Reaches, and what is known of each; discharge and land are those of its last cell before the next one."""

    reaches: Reaches
    order: NDArray[Any]
    watershed: NDArray[Any]  # number of that of its first cell, 0: coast
    discharge: Numbers  # cubic metres a second
    land_cells: Numbers


class BasinColumns(NamedTuple):
    """Watersheds, entry k is number k + 1."""

    outlet: Integers  # row * columns + column
    cells: NDArray[Any]
    discharge: Numbers


class LakeColumns(NamedTuple):
    """Lakes, entry k is number k + 1: see `kernels.lakes.Lakes`."""

    level: Numbers
    depth: Numbers
    volume: Numbers
    cells: Integers
    outlet: Integers
    inflow: Numbers
    discharge: Numbers


class Drawn(Protocol):
    """What was found out about the water of a land, as vectors are made of it."""

    @property
    def sheet(self) -> Sheet:
        """The cells of the maps."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the cells that were computed in."""

    @property
    def cell_size(self) -> float:
        """The side of these, in metres."""

    def rivers(self) -> RiverColumns:
        """Rivers, cut where they meet."""

    def basins(self) -> BasinColumns:
        """Watersheds."""

    def lake_columns(self) -> LakeColumns:
        """Lakes."""

    def falls(self) -> Falls:
        """Falls of rivers, the highest first."""

    def labels(self, name: str) -> NDArray[np.int32] | Path:
        """The map of numbers, [row, column] in the computed cells; or a file that has it in those of the maps."""


@dataclass(frozen=True)
class Waters:
    """What was found out about the water of a land; arrays are [row, column] of the cells it was computed in."""

    sheet: Sheet  # the cells of the maps
    cell_size: float  # of those that were computed in, in metres
    drainage: Drainage
    orders: NDArray[np.uint8]  # Strahler's, of rivers
    discharge: Numbers  # in cubic metres a second
    lakes: Lakes
    watersheds: Watersheds
    of_falls: Falls

    @property
    def shape(self) -> tuple[int, int]:
        """See `Drawn`."""
        rows, columns = self.orders.shape
        return rows, columns

    def rivers(self) -> RiverColumns:
        """See `Drawn`."""
        reaches = reaches_of(self.drainage.directions, self.orders)
        first, last = reaches.cells[reaches.begin[:-1]], reaches.cells[reaches.begin[1:] - 2]
        return RiverColumns(
            reaches,
            self.orders.reshape(-1)[first],
            self.watersheds.labels.reshape(-1)[first],
            self._through(last),
            self.drainage.accumulation.reshape(-1)[last],
        )

    def basins(self) -> BasinColumns:
        """See `Drawn`."""
        found = self.watersheds
        return BasinColumns(found.outlet, found.cells, self._through(found.outlet))

    def lake_columns(self) -> LakeColumns:
        """See `Drawn`."""
        found = self.lakes
        return LakeColumns(
            found.level, found.depth, found.volume, found.cells, found.outlet, found.inflow, self._through(found.outlet)
        )

    def falls(self) -> Falls:
        """See `Drawn`."""
        return self.of_falls

    def labels(self, name: str) -> NDArray[np.int32] | Path:
        """See `Drawn`."""
        return {"watersheds": self.watersheds.labels, "lakes": self.lakes.labels}[name]

    def _through(self, cells: Integers) -> Numbers:
        return self.discharge.reshape(-1)[cells].astype(np.float64)


def _coordinates(waters: Drawn, rows: Numbers, columns: Numbers) -> Numbers:
    """Coordinates [place, 2] of places, counted in computed cells from the corner."""
    return np.stack(waters.sheet.coordinates(*waters.sheet.places(rows, columns, waters.shape)), axis=-1)


# Rivers.


def reaches_of(directions: NDArray[np.int8], orders: NDArray[np.uint8]) -> Reaches:
    """The reaches of rivers in the order of their first cells. Arguments are as in `Waters`.

    A river of a single cell, its outlet, has no length and is left out.
    """
    from kernels.neighbours import OUTLET, index_steps

    flat = directions.reshape(-1)
    is_river = orders.reshape(-1) > 0
    cells = np.flatnonzero(is_river)
    leaves = flat[cells] == OUTLET
    below = cells + index_steps(directions.shape[1])[flat[cells]]
    inflows = np.bincount(below[~leaves & is_river[below]], minlength=flat.size)
    starts = cells[~leaves & (inflows[cells] != 1)]
    number = np.full(flat.size, -1, np.int64)
    number[starts] = np.arange(len(starts))
    next_of = np.full(flat.size, -1, np.int64)
    next_of[cells[~leaves]] = below[~leaves]
    ways, lengths, following = list[int](), list[int](), list[int]()
    step, reach_of = next_of.tolist(), number.tolist()
    for start in starts.tolist():
        before, cell = len(ways), start
        ways.append(cell)
        while True:
            cell = step[cell]
            ways.append(cell)
            if reach_of[cell] >= 0 or step[cell] < 0:
                break
        lengths.append(len(ways) - before)
        following.append(reach_of[cell])
    begin = np.append(0, np.cumsum(np.array(lengths, np.int64))).astype(np.int64)
    return Reaches(np.array(ways, np.int64), begin, np.array(following, np.int64))


def way_lengths(reaches: Reaches, columns: int) -> Numbers:
    """The length of each reach in cells."""
    south, east = (np.abs(np.diff(part)) for part in np.divmod(reaches.cells, columns))
    is_across = np.append(0, np.cumsum(south * east))
    across = is_across[reaches.begin[1:] - 1] - is_across[reaches.begin[:-1]]
    beside = np.diff(reaches.begin) - 1 - across
    lengths: Numbers = beside + across * np.sqrt(2.0)
    return lengths


# Layers.


@dataclass(frozen=True)
class Field:
    """An attribute of features: its name in the file, with its unit, and its meaning."""

    name: str
    help: str


@dataclass(frozen=True)
class Layer:
    """Features of one kind: shapes as well-known binary, and a column for each field; masked where it has no value."""

    shapes: NDArray[Any]
    columns: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class LayerRow:
    """A layer of the file: description, type of shape, fields, and the function that makes it."""

    help: str
    shape: str
    fields: tuple[Field, ...]
    find: Callable[[Drawn], Iterator[Layer]]  # many features at a time


def _rivers(waters: Drawn) -> Iterator[Layer]:
    found = waters.rivers()
    reaches = found.reaches
    rows, columns = np.divmod(reaches.cells, waters.shape[1])
    points = _coordinates(waters, rows + 0.5, columns + 0.5)
    shapes = [
        _wkb(WKB_LINE, points[begin:end])
        for begin, end in zip(reaches.begin[:-1].tolist(), reaches.begin[1:].tolist(), strict=True)
    ]
    yield Layer(
        _objects(shapes),
        {
            "id": np.arange(1, len(reaches) + 1),
            "next_id": np.ma.masked_equal(reaches.following + 1, 0),
            "strahler": found.order.astype(np.int32),
            "length_m": way_lengths(reaches, waters.shape[1]) * waters.cell_size,
            "discharge_m3_s": found.discharge,
            "catchment_m2": found.land_cells * waters.cell_size**2,
            "watershed": np.ma.masked_equal(found.watershed.astype(np.int32), 0),
        },
    )


def _watersheds(waters: Drawn) -> Iterator[Layer]:
    found = waters.basins()
    for numbers, shapes in _outlines(waters.labels("watersheds"), len(found.outlet), waters.sheet):
        outlets = found.outlet[numbers - 1]
        places = _coordinates(waters, *(part + 0.5 for part in np.divmod(outlets, waters.shape[1])))
        yield Layer(
            shapes,
            {
                "id": numbers,
                "area_m2": found.cells[numbers - 1] * waters.cell_size**2,
                "discharge_m3_s": found.discharge[numbers - 1],
                "outlet_x": places[:, 0],
                "outlet_y": places[:, 1],
            },
        )


def _lakes(waters: Drawn) -> Iterator[Layer]:
    found, area = waters.lake_columns(), waters.cell_size**2
    for numbers, shapes in _outlines(waters.labels("lakes"), len(found.level), waters.sheet):
        lake = numbers - 1
        yield Layer(
            shapes,
            {
                "id": numbers,
                "level_m": found.level[lake],
                "depth_m": found.depth[lake],
                "area_m2": found.cells[lake] * area,
                "volume_m3": found.volume[lake],
                "catchment_m2": found.inflow[lake] * area,
                "discharge_m3_s": found.discharge[lake],
            },
        )


def _falls(waters: Drawn) -> Iterator[Layer]:
    found, columns = waters.falls(), waters.shape[1]
    lips, feet = (
        _coordinates(waters, *(part + 0.5 for part in np.divmod(cells, columns))) for cells in (found.lip, found.foot)
    )
    yield Layer(
        _objects([_wkb(WKB_POINT, lip) for lip in lips]),
        {
            "id": np.arange(1, len(lips) + 1),
            "height_m": found.height,
            "lip_m": found.top,
            "discharge_m3_s": found.discharge,
            "foot_x": feet[:, 0],
            "foot_y": feet[:, 1],
        },
    )


LAYERS: dict[str, LayerRow] = {
    "rivers": LayerRow(
        "rivers, cut where they meet",
        "LineString",
        (
            Field("id", "number of the reach"),
            Field("next_id", "number of the reach that it flows into; none where it ends at an outlet"),
            Field("strahler", "Strahler order"),
            Field("length_m", "length along the middles of cells, m"),
            Field("discharge_m3_s", "mean discharge at its lower end, before the confluence, m³/s"),
            Field("catchment_m2", "land that drains through its lower end, m²"),
            Field("watershed", "number of the watershed that it lies in; none on the coast"),
        ),
        _rivers,
    ),
    "watersheds": LayerRow(
        "watersheds, with numbers as in their map",
        "MultiPolygon",
        (
            Field("id", "number of the watershed"),
            Field("area_m2", "area of its land, m²"),
            Field("discharge_m3_s", "mean discharge at its outlet, m³/s"),
            Field("outlet_x", "coordinate of its outlet to the east, in units of the coordinate system"),
            Field("outlet_y", "coordinate of its outlet to the north"),
        ),
        _watersheds,
    ),
    "lakes": LayerRow(
        "lakes, with numbers as in their map",
        "MultiPolygon",
        (
            Field("id", "number of the lake"),
            Field("level_m", "height of its surface, m"),
            Field("depth_m", "its largest depth, m"),
            Field("area_m2", "area, m²"),
            Field("volume_m3", "volume, m³"),
            Field("catchment_m2", "land that drains through its outlet, m²"),
            Field("discharge_m3_s", "mean discharge at its outlet, m³/s"),
        ),
        _lakes,
    ),
    "falls": LayerRow(
        "falls of rivers, at their lips, the highest first",
        "Point",
        (
            Field("id", "number of the fall"),
            Field("height_m", "height of the water at its lip over that at its foot, m"),
            Field("lip_m", "height of the water at its lip, m"),
            Field("discharge_m3_s", "mean discharge at its lip, m³/s"),
            Field("foot_x", "coordinate of its foot to the east, in units of the coordinate system"),
            Field("foot_y", "coordinate of its foot to the north"),
        ),
        _falls,
    ),
}


# Shapes.


def _outlines(labels: NDArray[np.int32] | Path, count: int, sheet: Sheet) -> Iterator[tuple[Integers, NDArray[Any]]]:
    """The labels from 1 to `count` that occur in a map, and the outline of the cells of each; many at a time."""
    from kernels.outlines import Outlines, last_rows

    last = np.full(count + 1, -1, np.int64)
    row = columns = 0
    for strip in _strips(labels, sheet):
        last_rows(strip, row, last)
        row, columns = row + len(strip), strip.shape[1]
    outlines = Outlines(columns, last)
    numbers, shapes = list[int](), list[bytes]()
    for strip in chain(_strips(labels, sheet), [np.zeros((1, columns), np.int32)]):
        rings = outlines.follow(strip)
        numbers += np.unique(rings.number).tolist()
        shapes += _multipolygons(rings, sheet)
        if len(shapes) >= MANY_SHAPES:
            yield _by_number(numbers, shapes)
            numbers, shapes = [], []
    yield _by_number(numbers, shapes)


def _by_number(numbers: list[int], shapes: list[bytes]) -> tuple[Integers, NDArray[Any]]:
    order = np.argsort(np.array(numbers, np.int64))
    return np.array(numbers, np.int64)[order], _objects(shapes)[order]


def _strips(labels: NDArray[np.int32] | Path, sheet: Sheet) -> Iterator[NDArray[np.int32]]:
    """Rows of the map [row, column], some at a time; a file is never read as a whole."""
    import rasterio

    if isinstance(labels, Path):
        # Its own cache would hold the whole map
        with rasterio.Env(GDAL_CACHEMAX=CACHE), rasterio.open(labels) as file:
            for row, rows in _rows_of_strips(file.height, file.width):
                yield file.read(1, window=((row, row + rows), (0, file.width)), out_dtype=np.int32)
        return
    laid = np.ascontiguousarray(sheet.labels(labels) if sheet.is_source else labels, np.int32)
    for row, rows in _rows_of_strips(*laid.shape):
        strip = laid[row : row + rows]
        if sheet.unmapped is not None:
            strip = np.where(sheet.unmapped[row : row + rows], np.int32(0), strip)
        yield strip


def _rows_of_strips(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    most = max(1, STRIP_CELLS // columns)
    return ((row, min(most, rows - row)) for row in range(0, rows, most))


def _objects(shapes: Sequence[bytes]) -> NDArray[Any]:
    array = np.empty(len(shapes), object)
    array[:] = shapes
    return array


def _wkb(kind: int, points: Numbers) -> bytes:
    """Well-known binary of a point or a line."""
    head = struct.pack("<BI", LITTLE_ENDIAN, kind)
    if kind == WKB_LINE:
        head += struct.pack("<I", len(points))
    return head + points.astype("<f8").tobytes()


def _multipolygons(rings: Rings, sheet: Sheet) -> Iterator[bytes]:
    """Well-known binary of the outlines of each number."""
    places = sheet.coordinates(rings.row.astype(np.float64), rings.column.astype(np.float64))
    points = memoryview(np.stack(places, axis=-1).astype("<f8").tobytes())
    begins = np.append(np.flatnonzero(rings.is_outer), len(rings.number))  # of polygons
    of = rings.number[begins[:-1]]
    is_last_of = np.append(of[1:] != of[:-1], True)[: len(of)]
    counts = np.diff(rings.begin).tolist()
    at, polygons, written = 0, 0, list[bytes | memoryview]()
    for begin, end, is_last in zip(begins[:-1].tolist(), begins[1:].tolist(), is_last_of.tolist(), strict=True):
        polygons += 1
        written.append(struct.pack("<BII", LITTLE_ENDIAN, WKB_POLYGON, end - begin))
        for ring in range(begin, end):
            size = 16 * counts[ring]
            written += (struct.pack("<I", counts[ring]), points[at : at + size])
            at += size
        if is_last:
            yield struct.pack("<BII", LITTLE_ENDIAN, WKB_MULTIPOLYGON, polygons) + b"".join(written)
            polygons, written = 0, []


# Files.


def write_geopackage(path: Path, waters: Drawn) -> None:
    """Write all layers to one GeoPackage. An existing file is replaced only when all is written."""
    from pyogrio import set_gdal_config_options
    from pyogrio.raw import write

    set_gdal_config_options({"OGR_CURRENT_DATE": SAME_DATE})
    crs = coordinate_system(waters.sheet.place) or LOCAL_TEXT
    with tempfile.TemporaryDirectory() as folder, write_atomically(path) as file:
        made = Path(folder) / path.with_suffix(".gpkg").name
        for name, row in LAYERS.items():
            for number, layer in enumerate(row.find(waters)):
                assert list(layer.columns) == [field.name for field in row.fields]
                write(
                    made,
                    layer.shapes,
                    [np.ma.getdata(column) for column in layer.columns.values()],
                    list(layer.columns),
                    field_mask=[
                        np.ma.getmaskarray(column) if np.ma.isMaskedArray(column) else None
                        for column in layer.columns.values()
                    ],
                    layer=name,
                    driver="GPKG",
                    geometry_type=row.shape,
                    crs=crs,
                    append=number > 0,
                    layer_options={"DESCRIPTION": row.help} if number == 0 else {},
                )
        with made.open("rb") as whole:
            shutil.copyfileobj(whole, file)


@dataclass(frozen=True)
class VectorFormat:
    """A format of vectors: description, file name, writer, and approximate size per cell."""

    help: str
    file: str
    write: Callable[[Path, Waters], None]
    bytes_per_cell: float


VECTOR_FORMATS: dict[str, VectorFormat] = {
    "gpkg": VectorFormat(
        "GeoPackage with rivers as lines, watersheds and lakes as polygons, falls as points",
        VECTORS_FILE,
        write_geopackage,
        1.0,
    ),
}

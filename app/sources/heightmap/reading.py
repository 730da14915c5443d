"""From a path to a heightmap, and what holds for every format."""

from __future__ import annotations

import logging
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError
from app.model.georeference import Georeference, SourceGrid, is_turned
from app.model.world import DEFAULT_CELL_SIZE, LARGEST_CELL, LARGEST_SIDE, SMALLEST_CELL, SMALLEST_SIDE
from app.sources.heightmap.formats import Format, format_of
from app.sources.heightmap.hgt import open_hgt
from app.sources.heightmap.models import TILE_SUFFIXES, Model, Reader, Samples, joined, moved, tiles_in
from app.sources.heightmap.nodata import fill, usual_markers
from app.sources.heightmap.projection import NOT_SEEN, Degrees, datum_of
from app.sources.heightmap.raster import Raster, check_array, check_size
from app.sources.heightmap.resampling import nearest_cells, resample
from app.sources.heightmap.tiff import cell_sides, degrees_of
from app.sources.heightmap.tiff_model import open_tiff
from app.sources.heightmap.zarr_model import is_zarr, open_zarr
from app.sources.part import read_part

log = logging.getLogger(__name__)

# For files without a scale of heights: the full range of the samples, relative to the map's longer side.
DEFAULT_RELIEF = 0.25
# Higher or deeper is no landscape but a mistake in the file: metres.
LARGEST_HEIGHT = 1e5
# Cells whose sides differ by less are square, and their map keeps its exact values.
SQUARE_WITHIN = 1e-3
# Largest length of a decoder's own error message, in characters.
LONGEST_REASON = 160


@dataclass(frozen=True)
class Heightmap:
    """Terrain as it was read from a file, ready to be a world's ground."""

    elevation: NDArray[np.float64]  # [row, column], metres, row 0 in the north, finite everywhere
    cell_size: float | None  # side of the square cells in metres, or None if neither file nor caller gives it
    filled_cells: int  # cells of the file that held no data and were filled from their surroundings
    relief_from_width: bool = False  # whether the scale of its heights is unknown, and follows the map's width
    missing: NDArray[np.bool_] | None = None  # [row, column]: where cells were filled, if any
    georeference: Georeference | None = None  # None if the file has none
    source: SourceGrid | None = None  # the cells of the file, if the map has others


def read_heightmap(
    path: str | Path, *, cell_size: float | None = None, relief: float | None = None, part: str = "", wanted: int = 0
) -> Heightmap:
    """Read a heightmap of any format in `FORMATS`, a Zarr store, or a folder of tiles. Raises `UserError`.

    Of a model that is larger than a map may be, `part` is read (see `app.sources.part`), or all of it in
    cells so much larger that its longer side has about `wanted` of them. One in degrees is projected to metres where
    these are not even over the map.

    `cell_size` (metres) overrides that of the file. `relief` (metres) stretches the heights so that they span it.

    Without `relief`, heights are the file's own metres if it can hold metres. What cannot are unsigned 8- and 16-bit
    images without a cell size, and floats without one that all lie in [0, 1]: their whole range, from black to white or
    from 0 to 1, becomes a quarter of the longer side of the map (with cells of `DEFAULT_CELL_SIZE` if unknown).
    """
    path = Path(path)
    model = open_model(path)
    if model is not None and _is_read_in_parts(model, path, part):
        return _of_model(model, path, part, wanted, cell_size, relief)
    format = format_of(path)
    _check_readable(path)
    raster = _decode(path, format)
    if raster.taken:
        log.info("%s: its heights are %s", path, raster.taken)
    try:
        if part:
            return _of_raster(raster, path, format, part, cell_size, relief)
        place = _place(path, format, *raster.samples.shape)
        return _to_heightmap(raster, path, cell_size, relief, place)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except MemoryError as error:
        raise UserError(f"{path}: not enough memory for a map of {raster.samples.shape}; use a smaller one") from error


def _of_raster(
    raster: Raster, path: Path, format: Format, text: str, cell_size: float | None, relief: float | None
) -> Heightmap:
    """A part of a map that was read as a whole."""
    rows, columns = raster.samples.shape
    place = _place(path, format, rows, columns)
    part = read_part(text, place.to_model if place else None).within(rows, columns)
    place = place and moved(place, part.column, part.row)
    return _to_heightmap(raster.part(part), path, cell_size, relief, place)


# The tiles that were joined last, each with its size and time, and what became of them: what suits a land, and the land
# itself, are read one after the other, and to open thousands of tiles takes seconds.
_Tiles = list[tuple[Path, int, int]]
_joined_last: tuple[tuple[Path, _Tiles], Model] | None = None


def open_model(path: Path, progress: Callable[[float], None] = lambda done: None) -> Model | None:
    """A model that can be read in parts, a Zarr store, or joined tiles; None for other files.

    `progress` hears how many of the tiles are open, from 0 to 1; what it raises ends the opening. The tiles that were
    joined last are not opened again while their files are as they were. Raises `UserError` if a folder has no tiles,
    or such as cannot be joined.
    """
    global _joined_last
    if not path.is_dir():
        try:
            return _open_tile(path) if path.suffix.lower() in TILE_SUFFIXES and path.is_file() else None
        except Exception:  # whatever is wrong with it, it is for its reader to say
            return None
    if is_zarr(path):
        return open_zarr(path)
    tiles = tiles_of(path)
    try:
        known = [(tile.absolute(), status.st_size, status.st_mtime_ns) for tile in tiles if (status := tile.stat())]
    except OSError as error:
        raise UserError(f"{path}: {error.filename}: cannot be read: {error.strerror}") from error
    last = _joined_last  # which another thread may exchange
    if last is not None and last[0] == (path, known):
        return last[1]
    model = _joined(path, tiles, progress)
    _joined_last = (path, known), model
    return model


def tiles_of(folder: Path) -> list[Path]:
    """The tiles of a folder, see `tiles_in`. Raises `UserError` if there are none."""
    if tiles := tiles_in(folder):
        return tiles
    raise UserError(
        f"{folder} is a folder; expected a heightmap file, a Zarr store, "
        f"or a folder with tiles ({', '.join(TILE_SUFFIXES)})"
    )


def _joined(path: Path, tiles: Sequence[Path], progress: Callable[[float], None]) -> Model:
    """The tiles of a folder as one model. Raises `UserError`."""
    opened: list[tuple[str, Model]] = []
    for number, tile in enumerate(tiles):
        progress(number / len(tiles))
        try:
            model = _open_tile(tile)
        except Exception as error:  # whatever the library makes of a broken file
            why = str(error) if isinstance(error, UserError) else _reason(error)
            raise UserError(f"cannot read {tile} as an elevation model: {why}") from error
        if model is None:
            raise UserError(f"{tile} is no elevation model; expected one layer of numbers")
        opened.append((tile.name, replace(model, read=_naming(tile, model.read))))
    try:
        return joined(opened)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _naming(tile: Path, read: Reader) -> Reader:
    """A reader whose errors say which tile of a folder it is that cannot be read."""

    def named(rows: slice, columns: slice) -> tuple[Samples, NDArray[np.bool_] | None]:
        try:
            return read(rows, columns)
        except MemoryError:
            raise
        except UserError as error:
            raise UserError(f"{tile.name}: {error}") from error
        except Exception as error:  # whatever a decoder makes of a broken file
            raise UserError(f"{tile.name}: {_reason(error)}; it must be complete") from error

    return named


def _open_tile(path: Path) -> Model | None:
    return open_hgt(path) if path.suffix.lower() == ".hgt" else open_tiff(path)


def step_of(model: Model, path: Path, part: str, longest: int, wanted: int) -> int:
    """How many rows and columns of a model, or of a part whose longer side is given, become one of the map."""
    if not _is_read_in_parts(model, path, part):
        return 1
    return max(longest // wanted if wanted else 1, -(-longest // LARGEST_SIDE))


def _is_read_in_parts(model: Model, path: Path, part: str) -> bool:
    return path.is_dir() or bool(part) or not _is_map(model) or curves(model)


def _is_map(model: Model) -> bool:
    return max(model.rows, model.columns) <= LARGEST_SIDE


def curves(model: Model) -> bool:
    """Whether the length of a degree varies noticeably over a model."""
    if model.place is None or not np.isfinite(model.place.to_model).all():
        return False
    return degrees_to_project(model, model.place, model.rows, model.columns) is not None


def degrees_to_project(model: Model, place: Georeference, rows: int, columns: int) -> Degrees | None:
    """The degrees of a map that needs projection; None if they are even enough, rotated, or no degrees."""
    unit = degrees_of(place.to_model, rows, columns, model.names)
    if not unit or is_turned(place.to_model):
        return None
    degrees = Degrees(place.to_model * unit, rows, columns)
    if not degrees.can_be_projected:
        return None
    return degrees if degrees.stray(*cell_sides(place.to_model, rows, columns, model.names)) > NOT_SEEN else None


def _of_model(
    model: Model, path: Path, text: str, wanted: int, cell_size: float | None, relief: float | None
) -> Heightmap:
    """A part of a model, or all of it in larger cells."""
    try:
        return _part_of_model(model, path, text, wanted, cell_size, relief)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except MemoryError as error:
        raise UserError(f"{path}: not enough memory for it; a smaller part needs less") from error
    except Exception as error:  # whatever a decoder makes of a broken file
        raise UserError(f"cannot read {path}: {_reason(error)}; it must be complete") from error


def _part_of_model(
    model: Model, path: Path, text: str, wanted: int, cell_size: float | None, relief: float | None
) -> Heightmap:
    part = model.whole
    if text:
        part = model.part_of(text)
    longest = max(part.rows, part.columns)
    step = step_of(model, path, text, longest, wanted)
    if step > 1 and not text and not wanted:
        raise UserError(
            f"the map has {part.rows} rows and {part.columns} columns; each must be from {SMALLEST_SIDE} to "
            f"{LARGEST_SIDE}: --part 4096x4096+0+0 takes some of it, --size 2048 all of it in larger cells"
        )
    check_size(part.rows // step, part.columns // step)
    if step > 1:
        log.info("%s: each cell is the mean of %d × %d of the model", path, step, step)
    place = model.place_of(part, step)
    if place is not None and is_turned(place.to_model):
        log.warning("%s: the map is turned; its first row is taken for the north", path)
    heights, missing = model.part(part, step)
    rows, columns = heights.shape
    sides: tuple[float | None, float | None] = None, None
    source = None
    if place is not None:
        width, height = sides = cell_sides(place.to_model, rows, columns, model.names)
        if degrees := degrees_to_project(model, place, rows, columns):
            unknown = missing | usual_markers(heights)
            middle = degrees.metres.longitude, degrees.metres.latitude
            source = SourceGrid(rows, columns, place, unknown if unknown.any() else None, middle, model.degrees)
            grid = degrees.grid(min(width, height))
            heights, missing = grid.projected(heights, missing)
            place, sides = grid.place(datum_of(model.names)), (grid.size, grid.size)
            log.info("%s: its degrees are projected to metres around its middle", path)
    raster = Raster(heights, missing, *sides, full_scale=model.full_scale)
    heightmap = _to_heightmap(raster, path, cell_size, relief, place)
    return heightmap if source is None else replace(heightmap, source=source)


def _check_readable(path: Path) -> None:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path} is a folder; expected a heightmap file")
        # Others, such as pipes, may have no end.
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path} is not a regular file; expected a heightmap file")
        if status.st_size == 0:
            raise UserError(f"{path} is empty; expected a heightmap file")
        path.open("rb").close()
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected a heightmap file") from error
    except PermissionError as error:
        raise UserError(f"{path} cannot be read: no permission; it must be readable for this user") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {_reason(error)}") from error


def _decode(path: Path, format: Format) -> Raster:
    """The file's content. Whatever a decoder makes of a broken file, it ends as one line for the user."""
    try:
        raster = format.read(path)
        check_array(raster.samples.shape, raster.samples.dtype)
        return raster
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except Exception as error:
        raise UserError(
            f"cannot read {path} as {format.name}: {_reason(error)}; "
            "it must be complete and of the kind that its suffix says"
        ) from error


def _place(path: Path, format: Format, rows: int, columns: int) -> Georeference | None:
    """The georeference of a map that was resampled to these cells. None if it is damaged: the map is still usable."""
    try:
        return format.place(path, rows, columns) if format.place else None
    except Exception as error:  # whatever the library makes of it
        log.warning("%s: where it lies is not known: %s", path, _reason(error))
        return None


def _reason(error: Exception) -> str:
    """What an exception of another library says, in one line."""
    text = getattr(error, "strerror", None) or str(error)
    if not any(map(str.isalpha, text)):  # a key, say, that is not there
        text = f"{type(error).__name__} {text}".rstrip()
    line = "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()).rstrip("."))
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + "…"


def _to_heightmap(
    raster: Raster, path: Path, cell_size: float | None, relief: float | None, place: Georeference | None
) -> Heightmap:
    """The map of a raster that lies in a place, in square cells."""
    width, height = _cell_sides(raster)
    scaled = _full_scale(raster, width)
    # What does not fit becomes infinite or NaN, and so NODATA.
    with np.errstate(over="ignore", invalid="ignore"):
        elevation = raster.samples.astype(np.float64)
    missing = _missing(raster, elevation, scaled is not None, path)
    elevation = fill(elevation, missing)
    elevation, square = _square_cells(elevation, width, height, path)
    size = cell_size or square
    if scaled is not None:
        longer_side = max(elevation.shape) * (size or DEFAULT_CELL_SIZE)
        elevation *= DEFAULT_RELIEF * longer_side / scaled
    if relief:
        elevation = _stretch(elevation, relief)
    _check_heights(elevation)
    filled = int(np.count_nonzero(missing))
    unmapped = nearest_cells(missing, *elevation.shape) if filled else None
    (rows, columns), (new_rows, new_columns) = missing.shape, elevation.shape
    source = None
    if (rows, columns) != (new_rows, new_columns):
        source = SourceGrid(rows, columns, place, missing if filled else None)
        place = place and place.in_cells(columns / new_columns, rows / new_rows)
    return Heightmap(elevation, size, filled, scaled is not None and not relief, unmapped, place, source)


def _cell_sides(raster: Raster) -> tuple[float | None, float | None]:
    width, height = raster.cell_width, raster.cell_height
    for side in (width, height):
        if side is not None and not SMALLEST_CELL <= side <= LARGEST_CELL:
            raise UserError(
                f"its cells have a side of {side:g} m; it must be from {SMALLEST_CELL:g} to {LARGEST_CELL:g} m"
            )
    return width, height


def _full_scale(raster: Raster, cell_width: float | None) -> float | None:
    """The sample that stands for the whole relief, or None if samples are metres."""
    if cell_width is not None:
        return None
    samples = raster.samples
    if raster.full_scale is None and samples.dtype.kind == "f":
        known = samples[np.isfinite(samples) if raster.missing is None else np.isfinite(samples) & ~raster.missing]
        if known.size and known.min() >= 0.0 and known.max() <= 1.0:
            return 1.0
    return raster.full_scale


def _missing(raster: Raster, elevation: NDArray[np.float64], scaled: bool, path: Path) -> NDArray[np.bool_]:
    """Where there is no data, counted in the log."""
    missing = ~np.isfinite(elevation)
    if raster.missing is not None:
        missing |= raster.missing
    declared = np.count_nonzero(missing)
    if not scaled:
        missing |= usual_markers(elevation)
    count = np.count_nonzero(missing)
    if count > declared:
        log.warning("%s: %d cells hold values that usually mean NODATA, and are taken as such", path, count - declared)
    if count == elevation.size:
        raise UserError("every cell is NODATA; at least one must hold a height")
    if count:
        log.info("%s: filled %d of %d cells without data from their surroundings", path, count, elevation.size)
    return missing


def _square_cells(
    elevation: NDArray[np.float64], width: float | None, height: float | None, path: Path
) -> tuple[NDArray[np.float64], float | None]:
    """The map on square cells of the finer of the two sides, and that side in metres."""
    if width is None or height is None or abs(width - height) <= SQUARE_WITHIN * min(width, height):
        return elevation, width
    rows, columns = elevation.shape
    extent_east, extent_north = columns * width, rows * height
    # As fine as the file, but not more cells than a map may have.
    size = max(min(width, height), max(extent_east, extent_north) / LARGEST_SIDE)
    new_rows, new_columns = round(extent_north / size), round(extent_east / size)
    check_array((new_rows, new_columns), elevation.dtype)
    log.info("%s: cells of %g by %g m resampled to %g m", path, width, height, size)
    return resample(elevation, new_rows, new_columns), size


def _stretch(elevation: NDArray[np.float64], relief: float) -> NDArray[np.float64]:
    """The same lowest point, and `relief` metres from there to the highest. A plain stays a plain."""
    lowest, highest = elevation.min(), elevation.max()
    return elevation if highest == lowest else lowest + (elevation - lowest) * (relief / (highest - lowest))


def _check_heights(elevation: NDArray[np.float64]) -> None:
    extreme = max(elevation.min(), elevation.max(), key=abs)
    if not abs(extreme) <= LARGEST_HEIGHT:
        raise UserError(
            f"it has a height of {extreme:g} m; heights must lie within {LARGEST_HEIGHT:g} m "
            "(if it means NODATA, the file must declare it, or hold NaN)"
        )

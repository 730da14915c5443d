"""Plans the files of an export with their sizes, and writes them."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from app.engine.memory import free_memory
from app.export.heights import HEIGHT_FORMATS, HeightFormat, Heights, engine_side, scale_text, tile_name
from app.export.landscape import SURFACES, Landscape
from app.export.map_files import (
    LAYERED,
    LAYERED_FILE,
    LIST_FILE,
    MAP_FORMATS,
    Entry,
    MapFile,
    MapFormat,
    entry_of,
    write_layered,
    write_list,
)
from app.export.maps import Map, maps_of
from app.export.meshes import (
    BYTES_PER_PIXEL,
    BYTES_PER_PRINTED,
    MESH_FORMATS,
    PRINTED,
    TEXTURED,
    Pixels,
    block,
    ground_mesh,
    water_block,
    water_mesh,
    wet_squares,
    write_stl,
)
from app.export.pictures import OVERLAY, PICTURE_FORMATS, overlay_of, page_of, write_picture
from app.export.sheet import Sheet
from app.export.trees import TREE_FORMATS, TreeFormat
from app.export.triangles import Surface, in_tiles, lattice_side, triangulated
from app.export.vectors import VECTOR_FORMATS, VectorFormat
from app.export.wishes import OF_WORLD, Wishes, read_side
from app.files.atomic import REASONS, write_atomically
from app.model.errors import UserError

# Bytes of memory, measured at 2048² cells
BYTES_OF_CELL, BYTES_OF_LAYER, BYTES_OF_PIXEL, BYTES_OF_POINT = 90, 14, 100, 80
LARGEST_SHEET = 2**15  # cells of a side of all tiles together
BYTES_PER_ENTRY = 300  # in the list of maps

OTHERS = (*(format.suffix for format in MESH_FORMATS.values()), f".{PRINTED}", *(f".{name}" for name in VECTOR_FORMATS))

# Draws the ground in its own colours; the argument is the number of pixels along the longer side of the map
Colours = Callable[[int], Pixels]


@dataclass(frozen=True)
class Item:
    """A file to be written: its name, approximate size in bytes, and a function that writes it to a path.

    The function returns a message for the user.
    """

    name: str
    size: float
    write: Callable[[Path], str]


def plan(landscape: Landscape, wishes: Wishes, colours: Colours | None = None) -> list[Item]:
    """All requested files. Raises `UserError` if a request cannot be met.

    `colours` draws the ground of the whole map.
    """
    wishes = wishes.checked()
    sheet = sheet_of(landscape, wishes)
    _check_memory(landscape, sheet, wishes)
    items = [
        *_heights(landscape, sheet, wishes),
        *_maps(landscape, sheet, wishes),
        *_trees(landscape, wishes),
        *_vectors(landscape, wishes),
        *_meshes(landscape, wishes, colours),
        *_pictures(landscape, wishes),
    ]
    if not items and (reasons := left_out(landscape, wishes)):
        raise UserError(reasons[0])
    return items


def left_out(landscape: Landscape, wishes: Wishes) -> list[str]:
    """Reasons why requested files are not planned, a line for each."""
    return [f"--trees {name}: there are no trees in this world" for name in wishes.trees if not _has(landscape, name)]


def _has(landscape: Landscape, trees: str) -> bool:
    return TREE_FORMATS[trees].may_be_empty or len(landscape.world.trees) > 0


def _check_memory(landscape: Landscape, sheet: Sheet, wishes: Wishes) -> None:
    """Raise `UserError` if the largest file needs more memory than is free."""
    needs = BYTES_OF_CELL * sheet.rows * sheet.columns
    if (wishes.maps or wishes.mask) and wishes.map_format == LAYERED:
        channels = sum(max(1, len(map.channels)) for map in maps_of(landscape, wishes.maps, wishes.mask))
        needs += BYTES_OF_LAYER * channels * sheet.rows * sheet.columns
    if wishes.pictures:
        page = page_of(landscape, wishes.paper, wishes.dpi)
        needs = max(needs, BYTES_OF_PIXEL * page.width * page.height)
    if wishes.meshes:
        needs = max(needs, BYTES_OF_POINT * lattice_side(*landscape.world.shape) ** 2)
    if needs > (free := free_memory()):
        raise UserError(
            f"the export needs about {needs / 1e9:.1f} GB of memory; {free / 1e9:.1f} are free; "
            "ask for fewer cells (--side), pixels (--dpi) or maps at once"
        )


def sheet_of(landscape: Landscape, wishes: Wishes) -> Sheet:
    """The cells of all maps: those of the source, those of the world, or a requested number."""
    side = read_side(wishes.side)
    if side is None:
        return landscape.sheet
    sheet, tiles = landscape.world_sheet, wishes.height_tiles
    if side == OF_WORLD:
        return sheet
    if isinstance(side, str):
        columns = rows = engine_side(side, sheet.rows // tiles, sheet.columns // tiles)
    else:
        columns, rows = side
        rows = rows or max(round(columns * sheet.rows / sheet.columns), 2)
    if tiles > 1:  # neighbours share the cells of their border
        rows, columns = tiles * (rows - 1) + 1, tiles * (columns - 1) + 1
        if max(rows, columns) > LARGEST_SHEET:
            raise UserError(f"--height-tiles {tiles}: {columns}×{rows} cells; a side may have {LARGEST_SHEET}")
    return sheet.resized(rows, columns, "cut" if wishes.fit == "cut" else "add")


def _heights(landscape: Landscape, sheet: Sheet, wishes: Wishes) -> Iterator[Item]:
    for surface in wishes.surfaces:
        for format in (HEIGHT_FORMATS[name] for name in wishes.heights):
            if wishes.height_tiles > 1:
                yield from _height_tiles(landscape, sheet, wishes, surface, format)
            else:
                yield heights_item(landscape, sheet, surface, format)


def _height_tiles(
    landscape: Landscape, sheet: Sheet, wishes: Wishes, surface: str, format: HeightFormat
) -> Iterator[Item]:
    """One surface in tiles that share their borders. Raises `UserError` if it cannot be divided evenly."""
    tiles = wishes.height_tiles
    if (sheet.rows - 1) % tiles or (sheet.columns - 1) % tiles:
        raise UserError(
            f"--height-tiles {tiles}: {sheet.columns}×{sheet.rows} cells cannot be cut into so many that share their "
            "borders; --side says how many cells each has"
        )
    rows, columns = (sheet.rows - 1) // tiles, (sheet.columns - 1) // tiles

    @cache
    def whole() -> Heights:
        return Heights(sheet.numbers(landscape.surface(surface)), sheet, SURFACES[surface])

    def writer(row: int, column: int) -> Callable[[Path], str]:
        def write(path: Path) -> str:
            return _write_heights(path, whole().tile(row * rows, column * columns, rows + 1, columns + 1), format)

        return write

    size = format.bytes_per_cell * (rows + 1) * (columns + 1)
    for row in range(tiles):
        for column in range(tiles):
            name = f"{surface}{tile_name(wishes.side, row, column, tiles)}{format.suffix}"
            yield Item(name, size, writer(row, column))


def heights_item(landscape: Landscape, sheet: Sheet, surface: str, format: HeightFormat, name: str = "") -> Item:
    """One surface in one format. Its scale, if it has one, goes to a text file beside it and into the message."""

    def write(path: Path) -> str:
        heights = Heights(sheet.numbers(landscape.surface(surface)), sheet, SURFACES[surface])
        return _write_heights(path, heights, format)

    raw = format.suffix in (".r16", ".raw") and sheet.rows != sheet.columns  # no header tells their sides
    stem = f"{surface}_{sheet.columns}x{sheet.rows}" if raw else surface
    return Item(name or stem + format.suffix, format.bytes_per_cell * sheet.rows * sheet.columns, write)


def _write_heights(path: Path, heights: Heights, format: HeightFormat) -> str:
    format.write(path, heights)
    if not format.scaled:
        window = heights.sheet.window
        return f"{window.told}\n" if window and window.told else ""
    text = scale_text(heights)
    with write_atomically(path.with_name(f"{path.name}.txt")) as file:
        file.write(text.encode())
    return text


def _maps(landscape: Landscape, sheet: Sheet, wishes: Wishes) -> Iterator[Item]:
    """Maps, followed by a list of them."""
    maps = list(maps_of(landscape, wishes.maps, wishes.mask))
    if not maps:
        return
    if wishes.map_format == LAYERED:
        yield layers_item(landscape, sheet, maps, LAYERED_FILE)
        return
    format, entries = MAP_FORMATS[wishes.map_format], list[Entry]()
    for map in maps:
        yield _map_item(landscape, sheet, map, format, entries)

    def write_entries(path: Path) -> str:
        write_list(path, entries)
        return ""

    yield Item(LIST_FILE, BYTES_PER_ENTRY * len(maps), write_entries)


def _map_item(landscape: Landscape, sheet: Sheet, map: Map, format: MapFormat, entries: list[Entry]) -> Item:
    """One map in a file of its own. Writing it adds an entry to the list."""

    def write(path: Path) -> str:
        file = MapFile.of(map, landscape, sheet)
        format.write(path, file)
        entries.append(entry_of(file, path.name, landscape, scaled=format.scaled))
        return f"{sheet.window.told}\n" if sheet.window and sheet.window.told else ""

    size = format.bytes_per_cell * max(1, len(map.channels)) * sheet.rows * sheet.columns
    return Item(map.name + format.suffix, size, write)


def layers_item(landscape: Landscape, sheet: Sheet, maps: list[Map], name: str) -> Item:
    """All maps as layers of one EXR, with a list of them beside it."""

    def write(path: Path) -> str:
        files = write_layered(path, (MapFile.of(map, landscape, sheet) for map in maps))
        entries = [entry_of(file, path.name, landscape, scaled=False) for file in files]
        write_list(path.with_suffix(".json"), entries)
        return ""

    channels = sum(max(1, len(map.channels)) for map in maps)
    return Item(name, MAP_FORMATS["exr"].bytes_per_cell * channels * sheet.rows * sheet.columns, write)


def _trees(landscape: Landscape, wishes: Wishes) -> Iterator[Item]:
    for name in wishes.trees:
        if not _has(landscape, name):
            continue
        format = TREE_FORMATS[name]

        def write(path: Path, format: TreeFormat = format) -> str:
            format.write(path, landscape)
            return ""

        yield Item(format.file, format.bytes_per_tree * len(landscape.world.trees), write)


def _vectors(landscape: Landscape, wishes: Wishes) -> Iterator[Item]:
    rows, columns = landscape.world.shape
    for name in wishes.vectors:
        format = VECTOR_FORMATS[name]

        def write(path: Path, format: VectorFormat = format) -> str:
            format.write(path, landscape.waters)
            return ""

        yield Item(format.file, format.bytes_per_cell * rows * columns, write)


def _meshes(landscape: Landscape, wishes: Wishes, colours: Colours | None) -> Iterator[Item]:
    """The land in tiles, and the water of a print as a separate body. All formats share the same triangles."""
    if not wishes.meshes:
        return
    rows, columns = landscape.world.shape
    if 2 * wishes.tiles > min(rows, columns) - 1:
        raise UserError(f"--tiles {wishes.tiles}: {columns}×{rows} cells are too few for so many tiles")

    @cache
    def surfaces() -> dict[tuple[int, int], Surface]:
        whole = triangulated(landscape.world.ground, wishes.triangles, wishes.tiles)
        return {(row, column): part for row, column, part in in_tiles(whole)}

    @cache
    def picture() -> Pixels | None:
        return colours(wishes.texture) if colours and wishes.texture else None

    triangles = min(wishes.triangles, 2 * (rows - 1) * (columns - 1))
    pixels = wishes.texture**2 * min(rows, columns) / max(rows, columns) if colours else 0.0
    wet = int(wet_squares(landscape).sum())
    for name in wishes.meshes:
        for row in range(wishes.tiles):
            for column in range(wishes.tiles):
                tile = f"_{row}_{column}" if wishes.tiles > 1 else ""
                write = _mesh_writer(landscape, wishes, name, partial(_tile, surfaces, (row, column)), picture)
                part = 1.0 / wishes.tiles**2
                if name == PRINTED:
                    yield Item(f"block{tile}.stl", BYTES_PER_PRINTED * part * triangles, write)
                else:
                    format = MESH_FORMATS[name]
                    size = format.bytes_per_triangle * (triangles + (2 * wet if name == TEXTURED else 0))
                    size += pixels * BYTES_PER_PIXEL if name == TEXTURED else 0.0
                    yield Item(f"ground{tile}{format.suffix}", part * size, write)
    if PRINTED in wishes.meshes and wet:

        def write_water(path: Path) -> str:
            write_stl(path, water_block(landscape, wishes.printed))
            return ""

        yield Item("water.stl", 4 * BYTES_PER_PRINTED * wet, write_water)


def _pictures(landscape: Landscape, wishes: Wishes) -> Iterator[Item]:
    for name in wishes.pictures:
        page = page_of(landscape, wishes.paper, wishes.dpi)
        if name == OVERLAY:
            overlay_of(landscape)  # raises an error before anything is written

        def write(path: Path, name: str = name) -> str:
            write_picture(path, landscape, name, wishes.picture_format, wishes.paper, wishes.dpi)
            return ""

        size = PICTURE_FORMATS[wishes.picture_format] * page.width * page.height
        yield Item(f"{name}.{wishes.picture_format}", size, write)


def _tile(surfaces: Callable[[], dict[tuple[int, int], Surface]], place: tuple[int, int]) -> Surface:
    return surfaces()[place]


def _mesh_writer(
    landscape: Landscape,
    wishes: Wishes,
    name: str,
    surface: Callable[[], Surface],
    picture: Callable[[], Pixels | None],
) -> Callable[[Path], str]:
    def write(path: Path) -> str:
        land = surface()
        if name == PRINTED:
            write_stl(path, block(landscape, land, wishes.printed))
        else:
            coloured = name == TEXTURED
            parts = {"ground": ground_mesh(landscape, land, picture() if coloured else None)}
            if coloured and (water := water_mesh(landscape, land)) is not None:
                parts["water"] = water
            MESH_FORMATS[name].write(path, parts)
        return f"{len(land.faces)} triangles, at most {land.error:.4g} m from the land, {land.rms:.4g} m in the mean\n"

    return write


def write_item(item: Item, path: Path) -> str:
    """Write one file. If that fails, raises `UserError` and keeps the previous file."""
    with _told(path, item.size):
        return item.write(path)


@contextmanager
def _told(path: Path, size: float) -> Iterator[None]:
    """Turn errors of libraries, such as those of a full disk, into a `UserError` of one line.

    Some libraries report a full disk only as a short write; the free space is then compared with `size`.
    """
    try:
        yield
    except (UserError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        raise UserError(
            f"cannot write {path}: the Python package {error.name} is not installed; "
            "pip install 'thalweg[export]' adds what exports need"
        ) from error
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        with suppress(OSError):
            if shutil.disk_usage(path.parent).free < size:
                reason = REASONS[errno.ENOSPC]
        raise UserError(f"cannot write {path}: {reason}") from error


def single(wishes: Wishes, path: Path) -> Callable[[Landscape, Colours | None], Item]:
    """The function that plans the single file that a path with a suffix asks for.

    Raises `UserError` if the wishes need several files or none. It needs no landscape, as making one may take long.
    """
    wishes = wishes.checked()
    suffix = path.suffix.lower()
    kind = suffix.removeprefix(".")
    if wishes.height_tiles > 1:
        raise UserError(f"--out {path}: {wishes.height_tiles} × {wishes.height_tiles} tiles need a folder")
    if (wishes.maps or wishes.mask) and not (wishes.heights or wishes.trees) and suffix == ".exr":
        return partial(_layers, wishes, path)
    if len(wishes.pictures) == 1 and kind in PICTURE_FORMATS:
        alone = Wishes(pictures=wishes.pictures, picture_format=kind, paper=wishes.paper, dpi=wishes.dpi)
        if replace(wishes, picture_format=kind) == alone:
            return partial(_first_planned, alone, path)
    if wishes.any:
        raise UserError(f"--out {path}: several things are asked for; name a folder, or an .exr for --maps alone")
    if kind in (*MESH_FORMATS, PRINTED):
        return partial(_first_planned, replace(wishes, meshes=(kind,), tiles=1), path)
    if kind in VECTOR_FORMATS:
        return partial(_first_planned, replace(wishes, vectors=(kind,)), path)
    formats = {format.suffix: format for format in HEIGHT_FORMATS.values()} | {".tiff": HEIGHT_FORMATS["tif"]}
    if suffix not in formats:
        raise UserError(f"--out {path}: must be a folder, or end in one of {', '.join([*formats, *OTHERS])}")
    if len(wishes.surfaces) > 1:
        raise UserError(f"--out {path}: {len(wishes.surfaces)} surfaces need a folder, or one --surface")
    return partial(_surface, wishes, path, formats[suffix])


def _layers(wishes: Wishes, path: Path, landscape: Landscape, _: Colours | None) -> Item:
    sheet = sheet_of(landscape, wishes)
    _check_memory(landscape, sheet, replace(wishes, map_format=LAYERED))
    return layers_item(landscape, sheet, list(maps_of(landscape, wishes.maps, wishes.mask)), path.name)


def _first_planned(wishes: Wishes, path: Path, landscape: Landscape, colours: Colours | None) -> Item:
    return replace(plan(landscape, wishes, colours)[0], name=path.name)


def _surface(wishes: Wishes, path: Path, format: HeightFormat, landscape: Landscape, _: Colours | None) -> Item:
    sheet = sheet_of(landscape, wishes)
    _check_memory(landscape, sheet, wishes)
    return heights_item(landscape, sheet, wishes.surfaces[0], format, path.name)

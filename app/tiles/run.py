"""`thalweg analyze --tiles`: maps and lists of land that is too large for memory."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from app.cli.analysis_lists import (
    LIST_FILE,
    BasinColumns,
    Frame,
    LakeColumns,
    Listing,
    MouthColumns,
    summary,
    write_lists,
)
from app.cli.analysis_maps import MAPS
from app.cli.analyze import RiverWishes, rule_of
from app.cli.folder import made
from app.cli.progress import Progress
from app.cli.signals import Ended
from app.export.geotiff import Band
from app.export.sheet import Sheet
from app.export.tiled_geotiff import SMALLEST_BLOCK, put_together
from app.files.atomic import as_user_error, claimed, write_atomically
from app.model.errors import UserError
from app.model.georeference import Origin
from app.sweep.cluster import opened
from app.sweep.worlds import program
from app.tiles.analysis import Found, TiledAnalysis
from app.tiles.gaps import fill_coarse
from app.tiles.land import TiledLand, opened_model
from app.tiles.store import FolderStore
from app.tiles.tiling import Tiling
from app.tiles.work import Crew

# What takes passes of its own over all land, and is not done in tiles
ONLY_AT_ONCE = frozenset({"fragments", "path_cost"})
UNFINISHED = "unfinished-tiles"  # the folder of what is done, until all is

# About how much of the time each step takes
SHARES = MappingProxyType({"sea": 0.04, "passes": 0.3, "level": 0.3, "maps": 0.34, "orders": 0.02})


@dataclass(frozen=True)
class Crowd:
    """Who solves tiles: so many processes of this machine, by default one for each core, or a Dask cluster."""

    workers: int | None = None
    scheduler: str = ""


def analyze_in_tiles(
    path: Path,
    folder: Path,
    side: int,
    crowd: Crowd,
    *,
    sea_level: float | None = None,
    open_edges: bool | None = None,
    climate: Mapping[str, float] = MappingProxyType({}),
    rivers: RiverWishes | None = None,
    cell_size: float | None = None,
    part: str = "",
) -> None:
    """Write the maps and lists of a model into `folder`, solved in tiles with so many rows and columns.

    All else is as for `app.cli.analyze.analyze`, and so are the results, to the last bit. What was done when an earlier
    run was stopped is not done again. Raises `UserError`.
    """
    if side % SMALLEST_BLOCK:
        raise UserError(f"--tiles {side}: the side of a tile must be a multiple of {SMALLEST_BLOCK} cells")
    model = opened_model(path, part, cell_size)
    land = TiledLand(model.source, Tiling(model.rows, model.columns, side), model.cell_size, place=model.place)
    runoff = replace(
        land.runoff,
        precipitation=climate.get("precipitation", land.runoff.precipitation),
        by_altitude=climate.get("rain_by_altitude", land.runoff.by_altitude),
    )
    land = replace(
        land,
        runoff=runoff,
        sea_level=-math.inf if sea_level is None else sea_level,
        open_edges=open_edges is not False,
    )
    with made(folder), claimed(folder / LIST_FILE):
        listing = _analyze(path, folder, land, crowd, rivers or RiverWishes())
    print(summary(folder, listing))


def _analyze(path: Path, folder: Path, land: TiledLand, crowd: Crowd, wishes: RiverWishes) -> Listing:
    store = FolderStore(folder / UNFINISHED, land.tiling)
    _begin(store.folder, _key(path, land))
    cells = land.tiling.rows * land.tiling.columns
    bar = Progress(range(cells), "following the water", "cell", scaled=True)
    done = _Done(land.tiling, bar)
    try:
        with opened(crowd.scheduler, crowd.workers) as client:
            crew = Crew(client, land, store, done)
            found = TiledAnalysis(
                land,
                crew.perform,
                lambda count: rule_of(None, count, wishes),
                lambda window: fill_coarse(land.source, window, store.folder),
            ).run()
        bar.reach(cells)
        for name in MAPS:
            if name not in ONLY_AT_ONCE:
                bar.set_description(f"writing {name}.tif")
                _write(folder / f"{name}.tif", name, store, land, found.has_gaps)
        listing = _listing(path, land, found)
        with write_atomically(folder / LIST_FILE) as file:
            write_lists(file, listing)
    except Ended as ended:
        text = f"stopped; {done.count} steps of tiles are done in {store.folder}; the same command goes on"
        raise Ended(ended.number, text) from ended
    finally:
        bar.close()
    shutil.rmtree(store.folder, ignore_errors=True)
    return listing


class _Done:
    """Tells the progress bar of steps that are done, as the part of all cells that they stand for."""

    def __init__(self, tiling: Tiling, bar: Progress) -> None:
        self._tiling, self._bar = tiling, bar
        self._share = 0.0
        self.count = 0

    def __call__(self, step: str, tile: int, was_done: bool) -> None:
        window = self._tiling.window(tile)
        self.count += 1
        self._share += SHARES.get(step, 0.0) * window.rows * window.columns
        self._bar.reach(min(int(self._share), self._tiling.rows * self._tiling.columns))


def _key(path: Path, land: TiledLand) -> str:
    """What the results of tiles depend on beside what steps are told: the model, the land, and this program."""
    files = sorted(place for place in path.rglob("*") if place.is_file()) if path.is_dir() else [path]
    known = [(str(place), status.st_size, status.st_mtime_ns) for place in files if (status := place.stat())]
    return hashlib.sha256(repr((known, land, program())).encode()).hexdigest()


def _begin(folder: Path, key: str) -> None:
    """Make the folder of what is done; what is there for another land, or from another program, is removed."""
    named = folder / "key"
    try:
        if folder.exists() and (not named.exists() or named.read_text(encoding="ascii") != key):
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        named.write_text(key, encoding="ascii")
    except OSError as error:
        raise as_user_error(error, folder) from error


def _write(path: Path, name: str, store: FolderStore, land: TiledLand, has_gaps: bool) -> None:
    row = MAPS[name]
    with np.load(store.piece(name, 0)) as parts:
        dtype = np.dtype(str(parts["dtype"]))
    band = Band(row.help, row.unit)
    put_together(path, dtype, store.pyramid, store.pieces(name), land.place, band, row.way, has_gaps)


def _listing(path: Path, land: TiledLand, found: Found) -> Listing:
    tiling, of_a_cell = land.tiling, land.runoff.discharge(land.cell_size**2)
    sheet = Sheet.of_world((tiling.rows, tiling.columns), land.cell_size, Origin(land.place))
    lake, basin, mouth = found.lake, found.watershed, found.mouth
    return Listing(
        path,
        Frame(tiling.rows, tiling.columns, land.cell_size, sheet, land.place is not None),
        land.sea_level,
        land.runoff,
        False,
        found.rule,
        found.land_cells,
        found.water * of_a_cell,
        LakeColumns(
            lake["level"],
            lake["depth"],
            lake["metres"] * land.cell_size**2,
            lake["cells"],
            lake["outlet"],
            lake["inflow"],
            lake["water"] * of_a_cell,
        ),
        BasinColumns(basin["outlet"], basin["cells"], basin["water"] * of_a_cell),
        MouthColumns(mouth["cell"], mouth["cells"], mouth["discharge"], mouth["longest"], mouth["watershed"]),
        {},
    )

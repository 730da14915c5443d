"""`thalweg analyze --tiles`: maps and lists of land that is too large for memory."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from app.cli.analysis_lists import (
    Frame,
    Listing,
    MouthColumns,
    summary,
    write_lists,
)
from app.cli.analysis_maps import MAPS
from app.cli.analyze import Profile, RiverWishes, rule_of, write_vectors
from app.cli.folder import made
from app.cli.progress import Progress
from app.cli.signals import Ended
from app.engine.creation import read_rain_picture
from app.export.geotiff import Band
from app.export.sheet import Sheet
from app.export.tiled_geotiff import SMALLEST_BLOCK, put_together
from app.export.vectors import VECTORS_FILE, BasinColumns, LakeColumns, RiverColumns
from app.files.analysed import LIST_FILE
from app.files.atomic import as_user_error, claimed, reason_of, write_atomically
from app.files.paths import from_folder
from app.model.errors import UserError
from app.model.georeference import Georeference, Origin
from app.sweep.cluster import opened
from app.sweep.worlds import program
from app.tiles.analysis import Found, Perform, TiledAnalysis
from app.tiles.gaps import fill_coarse
from app.tiles.land import TiledLand
from app.tiles.opening import opened_land
from app.tiles.profile import profile_of
from app.tiles.relaid import has_nothing, own_of, with_gaps_filled
from app.tiles.steps import Arrays
from app.tiles.store import FolderStore
from app.tiles.tiling import Tiling
from app.tiles.work import Crew
from kernels.falls import Falls

# What takes passes of its own over all land, and is not done in tiles
ONLY_AT_ONCE = frozenset({"fragments", "path_cost"})
OWN = "own-cells"  # within the folder below: of what is done in the model's own cells
UNFINISHED = "unfinished-tiles"  # the folder of what is done, until all is

# About how much of the time each step takes
SHARES = MappingProxyType(
    {"gaps": 0.02, "sea": 0.04, "passes": 0.27, "level": 0.27, "maps": 0.31, "orders": 0.02, "lay": 0.07}
)


@dataclass(frozen=True)
class Cut:
    """Rows and columns of a tile, and who solves these: processes, by default one for each core, or a Dask cluster."""

    side: int
    workers: int | None = None
    scheduler: str = ""


def analyze_in_tiles(
    path: Path,
    folder: Path,
    cut: Cut,
    *,
    sea_level: float | None = None,
    open_edges: bool | None = None,
    climate: Mapping[str, float] = MappingProxyType({}),
    rain_map: Path | None = None,
    rivers: RiverWishes | None = None,
    cell_size: float | None = None,
    part: str = "",
) -> None:
    """Write the maps and lists of a model into `folder`, solved in tiles as `cut` says.

    All else is as for `app.cli.analyze.analyze`, and so are the results, to the last bit. What was done when an earlier
    run was stopped is not done again. Raises `UserError`.
    """
    if cut.side % SMALLEST_BLOCK:
        raise UserError(f"--tiles {cut.side}: the side of a tile must be a multiple of {SMALLEST_BLOCK} cells")
    land = opened_land(path, cut.side, part, cell_size)
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
        rain_map=rain_map,
    )
    if rain_map is not None:
        read_rain_picture(rain_map)  # which refuses another file before minutes are spent
    with made(folder), claimed(folder / LIST_FILE):
        listing = _analyze(path, folder, land, cut, rivers or RiverWishes())
    print(summary(folder, listing))


def _analyze(path: Path, folder: Path, land: TiledLand, cut: Cut, wishes: RiverWishes) -> Listing:
    store = FolderStore(folder / UNFINISHED, land.tiling)
    _begin(store.folder, _key(path, land, wishes))
    cells = land.tiling.rows * land.tiling.columns
    bar = Progress(range(cells), "following the water", "cell", scaled=True)
    done = _Done(bar, cells)
    try:
        with opened(cut.scheduler, cut.workers) as client:

            def perform(of: TiledLand, into: FolderStore) -> Perform:
                return Crew(client, of, into, partial(done, into.tiling)).perform

            own = None if land.own is None else FolderStore(store.folder / OWN, land.own.tiling)
            if own is not None:
                own.folder.mkdir(exist_ok=True)
                land = with_gaps_filled(land, _all(perform(land, own), "gaps", own.tiling, {}), own.folder)
            found = TiledAnalysis(
                land,
                perform(land, store),
                lambda count: rule_of(None, count, wishes),
                lambda window: fill_coarse(land.source, window, store.folder),
            ).run()
            maps = _put_together(store.folder if own else folder, store, land.place, len(found.gaps) > 0, bar)
            if own is not None:
                bar.set_description("bringing maps to the cells of the model")
                _all(perform(land, own), "lay", own.tiling, {"maps": np.array(list(map(str, maps)))})
                _put_together(folder, own, own_of(land)[0].sheet.place, has_nothing(land), bar)
        bar.reach(cells)
        bar.set_description(f"writing {VECTORS_FILE}")
        waters = TiledWaters(land, found, folder)
        write_vectors(folder / VECTORS_FILE, waters)
        listing = _listing(Path(from_folder(str(path), folder)), waters, profile_of(land, found, store))
        with write_atomically(folder / LIST_FILE) as file:
            write_lists(file, listing)
    except Ended as ended:
        text = f"stopped; {done.count} steps of tiles are done in {store.folder}; the same command goes on"
        raise Ended(ended.number, text) from ended
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {reason_of(error, folder)}") from error
    finally:
        bar.close()
    shutil.rmtree(store.folder, ignore_errors=True)
    return listing


def _all(perform: Perform, step: str, tiling: Tiling, told: Arrays) -> list[Arrays]:
    """Perform a step of all tiles, each of which is told the same."""
    return [found for _, found in perform(step, ((tile, told) for tile in range(len(tiling))))]


class _Done:
    """Tells the progress bar of steps that are done, as the part of all cells that they stand for."""

    def __init__(self, bar: Progress, cells: int) -> None:
        self._bar, self._cells = bar, cells
        self._share = 0.0
        self.count = 0

    def __call__(self, tiling: Tiling, step: str, tile: int, was_done: bool) -> None:
        window = tiling.window(tile)
        self.count += 1
        self._share += SHARES.get(step, 0.0) * window.rows * window.columns / (tiling.rows * tiling.columns)
        self._bar.reach(min(int(self._share * self._cells), self._cells))


def _key(path: Path, land: TiledLand, wishes: RiverWishes) -> str:
    """What the results of tiles depend on: the model, the land, what rivers are, and this program."""
    files = sorted(place for place in path.rglob("*") if place.is_file()) if path.is_dir() else [path]
    if land.rain_map:
        files.append(land.rain_map)
    known = [(str(place), status.st_size, status.st_mtime_ns) for place in files if (status := place.stat())]
    return hashlib.sha256(repr((known, land, wishes, program())).encode()).hexdigest()


def _begin(folder: Path, key: str) -> None:
    """Make the folder of what is done; what is there for another land, or from another program, is removed."""
    named = folder / "key"
    try:
        if folder.exists() and (not named.exists() or named.read_text(encoding="ascii") != key):
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        named.write_text(key, encoding="ascii", newline="\n")
    except OSError as error:
        raise as_user_error(error, folder) from error


def _put_together(
    folder: Path, store: FolderStore, place: Georeference | None, has_nothing: bool, bar: Progress
) -> list[Path]:
    """Write all maps from their tiles; their files."""
    files = []
    for name, row in MAPS.items():
        if name in ONLY_AT_ONCE:
            continue
        bar.set_description(f"writing {name}.tif")
        with np.load(store.piece(name, 0)) as parts:
            dtype = np.dtype(str(parts["dtype"]))
        files.append(folder / f"{name}.tif")
        band = Band(row.help, row.unit)
        put_together(files[-1], dtype, store.pyramid, store.pieces(name), place, band, row.way, has_nothing)
    return files


@dataclass(frozen=True)
class TiledWaters:
    """What vectors are made of, see `app.export.vectors.Drawn`; the maps are files in a folder."""

    land: TiledLand
    found: Found
    folder: Path

    @property
    def sheet(self) -> Sheet:
        """See `Drawn`."""
        if self.land.own is not None:
            return self.land.own.sheet
        return Sheet.of_world(self.shape, self.cell_size, Origin(self.land.place))

    @property
    def shape(self) -> tuple[int, int]:
        """See `Drawn`."""
        return self.land.tiling.rows, self.land.tiling.columns

    @property
    def cell_size(self) -> float:
        """See `Drawn`."""
        return self.land.cell_size

    @property
    def _of_a_cell(self) -> float:
        """The discharge of the precipitation on a cell."""
        return self.land.runoff.discharge(self.cell_size**2)

    def rivers(self) -> RiverColumns:
        """See `Drawn`."""
        found = self.found.reaches
        return RiverColumns(found.reaches, found.order, found.watershed, found.discharge, found.land_cells)

    def basins(self) -> BasinColumns:
        """See `Drawn`."""
        found = self.found.watershed
        return BasinColumns(found["outlet"], found["cells"], found["water"] * self._of_a_cell)

    def lake_columns(self) -> LakeColumns:
        """See `Drawn`."""
        lake, area = self.found.lake, self.cell_size**2
        volume, discharge = lake["metres"] * area, lake["water"] * self._of_a_cell
        return LakeColumns(
            lake["level"], lake["depth"], volume, lake["cells"], lake["outlet"], lake["inflow"], discharge
        )

    def falls(self) -> Falls:
        """See `Drawn`."""
        return self.found.falls

    def labels(self, name: str) -> NDArray[np.int32] | Path:
        """See `Drawn`."""
        return self.folder / f"{name}.tif"


def _listing(path: Path, waters: TiledWaters, longest: Profile | None) -> Listing:
    land, found, mouth = waters.land, waters.found, waters.found.mouth
    rows, columns = waters.shape
    return Listing(
        path,
        Frame(rows, columns, land.cell_size, waters.sheet, land.place is not None),
        land.sea_level,
        land.runoff,
        land.rain_map is not None,
        found.rule,
        found.land_cells,
        found.water * land.runoff.discharge(land.cell_size**2),
        waters.lake_columns(),
        waters.basins(),
        MouthColumns(mouth["cell"], mouth["cells"], mouth["discharge"], mouth["longest"], mouth["watershed"]),
        found.falls,
        {} if longest is None else {"profile": {name: of.tolist() for name, of in longest._asdict().items()}},
    )

"""Analyses in tiles of a model larger than memory: cells a second, memory, and what more workers would bring."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.bench.row import Row
from app.cli.analyze import RiverWishes, rule_of
from app.export.geotiff import Band
from app.export.tiled_geotiff import Piece, Pyramid, encoded_tile, put_together, write_parts
from app.model.georeference import Georeference, local_place
from app.model.world import LARGEST_SIDE
from app.tiles.analysis import TiledAnalysis
from app.tiles.gaps import fill_coarse
from app.tiles.opening import opened_land
from app.tiles.steps import Arrays
from app.tiles.store import FolderStore
from app.tiles.tiling import Tiling
from app.tiles.work import Order, perform
from kernels.noise import fractal_noise
from kernels.sampling import Sampling

log = logging.getLogger(__name__)

SIDE, TILE = 16384, 2048
CELL_SIZE, RELIEF = 30.0, 3000.0  # metres
HILLS, OCTAVES = 4096.0, 11  # cells of the largest hills, and how often they are halved
EARTH = 100_000  # cells of a side of the model that is counted for
MANY = 64  # workers
LOOK = 0.2  # seconds between looks at memory
WORKERS = (1, 2)
UTM = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32632)


class Run(NamedTuple):
    """What a run took: seconds, and bytes of its largest process and of all together at the most."""

    seconds: float
    worker: float
    whole: float


def rows(tiny: bool = False, side: int | None = None) -> Iterator[Row]:
    """Measure the group; `side` is that of the model, in cells."""
    tile = 16 if tiny else TILE
    side = side or (48 if tiny else SIDE)
    at_once_side = min(side, LARGEST_SIDE)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        smaller = made_model(place / "smaller.tif", at_once_side, tile)
        whole = smaller if side == at_once_side else made_model(place / "model.tif", side, tile)
        at_once = run(smaller, place)
        if at_once:
            yield Row(f"in memory, {at_once_side}²", at_once_side**2 / at_once.seconds, "1/s", None)
            yield Row(f"memory of that, {at_once_side}²", at_once.whole / 1e9, "GB", None)
        for workers, bar in zip(WORKERS, (0.6, 1.7), strict=True):
            words = ("--tiles", str(tile), "--workers", str(workers))
            done, compared = run(whole, place, *words), run(smaller, place, *words)
            if done is None or compared is None or at_once is None:
                continue
            name = f"{side}² in tiles of {tile}², {workers} {'worker' if workers == 1 else 'workers'}"
            yield Row(f"cells solved, {name}", side**2 / done.seconds, "1/s", None)
            yield Row(f"memory of its largest process, {name}", done.worker / 1e9, "GB", None)
            yield Row(f"memory of all, {name}", done.whole / 1e9, "GB", 2.0)
            faster = at_once.seconds / compared.seconds
            name = f"{at_once_side}², in tiles on {workers} against in memory"
            yield Row(name, faster, "times as fast", None if tiny else bar, at_least=True)
        yield counted(smaller, place / "counted", tile)


def made_model(path: Path, side: int, tile: int) -> Path:
    """A model of hills, made and written tile by tile."""
    pyramid = Pyramid(side, side, tile)
    with tempfile.TemporaryDirectory() as folder:
        pieces = []
        for top in range(0, side, tile):
            for left in range(0, side, tile):
                file = Path(folder) / f"{top}-{left}.map"
                with file.open("wb") as written:
                    write_parts(written, encoded_tile(_ground(top, left, side, tile), pyramid, "mean", False))
                pieces.append(Piece(top, left, file))
        local = local_place(side, CELL_SIZE)
        place = Georeference(local.to_model, ((34735, "H", len(UTM), UTM, True),))
        put_together(path, np.dtype(np.float32), pyramid, pieces, place, Band("ground", "m"), "mean", False)
    return path


def _ground(top: int, left: int, side: int, tile: int) -> NDArray[np.float32]:
    where = Sampling(south=float(top), east=float(left))
    rows, columns = min(tile, side - top), min(tile, side - left)
    heights = fractal_noise(rows, columns, 1, HILLS, octaves=OCTAVES, gain=0.5, sampling=where)
    return (RELIEF * heights).astype(np.float32)


def run(model: Path, folder: Path, *words: str) -> Run | None:
    """Analyse a model by the command, and look at the memory of its processes; None where it fails."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [sys.executable, "-m", "app", "analyze", str(model), "--out", out, *words]
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        watch = _MemoryWatch(process.pid)
        _, said = process.communicate()
        seconds = time.perf_counter() - begin
        watch.stop()
    if process.returncode != 0:
        log.warning("the analysis fails: %s", (said.decode(errors="replace").strip().splitlines() or ["no reason"])[-1])
        return None
    return Run(seconds, watch.largest, watch.whole)


class _MemoryWatch(threading.Thread):
    """Looks at the memory of a process and of those that it starts, until it is stopped."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.largest = self.whole = 0.0  # bytes
        self._process, self._over = process, threading.Event()
        self.start()

    def run(self) -> None:
        """Look."""
        try:
            import psutil

            process = psutil.Process(self._process)
        except Exception:  # without it, or where the process has ended, nothing is known
            return
        while not self._over.wait(LOOK):
            sizes = []
            try:
                for one in (process, *process.children(recursive=True)):
                    sizes.append(float(one.memory_info().rss))
            except psutil.Error:
                continue
            self.largest, self.whole = max(self.largest, *sizes), max(self.whole, sum(sizes))

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


def counted(model: Path, folder: Path, tile: int) -> Row:
    """How many times as fast many workers would be as one: what is done in one place grows with borders alone."""
    folder.mkdir()
    land = opened_land(model, tile)
    tiling = land.tiling
    store = FolderStore(folder, tiling)
    in_tiles = 0.0

    def perform_all(step: str, tiles: Iterable[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
        nonlocal in_tiles
        for number, told in tiles:
            begin = time.process_time()
            outcome = perform(Order(land, store, step, number, told))
            in_tiles += time.process_time() - begin
            yield number, outcome.told

    analysis = TiledAnalysis(
        land,
        perform_all,
        lambda cells: rule_of(None, cells, RiverWishes()),
        lambda window: fill_coarse(land.source, window, folder),
    )
    begin = time.process_time()
    analysis.run()
    in_one_place = time.process_time() - begin - in_tiles
    tiles = in_tiles / (tiling.rows * tiling.columns) * EARTH**2
    borders = in_one_place / float(tiling.first_nodes[-1]) * float(Tiling(EARTH, EARTH, TILE).first_nodes[-1])
    faster = (tiles + borders) / (tiles / MANY + borders)
    return Row(f"{EARTH}² in tiles of {TILE}², by count: {MANY} workers against one", faster, "times as fast", None)

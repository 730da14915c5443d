"""Compile all kernels before the tests: each once and on all cores, where two workers would compile the same ones.

.venv/bin/python -m tests.kernels_at_hand
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import app  # noqa: F401  # sets Numba's cache
import kernels
from app.bench.world import everything
from app.cli import main as cli
from app.cli.analyze import RiverWishes
from app.cli.analyzed_land import AnalyzedLand
from app.engine.builds import all_builds
from app.engine.compiling import compile_in_workers
from app.engine.creation import create_world
from app.engine.player import edited
from app.engine.publishing import take_snapshot
from app.engine.runner import make_worlds
from app.scene.edits import Blur, Refine
from app.scene.scene import Scene
from app.sources.generators import GENERATORS
from kernels.filling import fill
from tests.app.test_heightmap import write_tiff
from tests.app.test_tiles import check
from tests.kernels.relief import island


def stamp() -> Path:
    """The file whose presence says that all is compiled. Numba compiles anew what lies elsewhere or is newer."""
    sources = sorted(Path(next(iter(kernels.__path__))).glob("*.py"))
    known = repr([(str(source), source.stat().st_mtime_ns) for source in sources])
    return Path(os.environ["NUMBA_CACHE_DIR"]) / f"has-all-builds-{hashlib.sha256(known.encode()).hexdigest()[:16]}"


# What has no builds of its own, in parts that take about as long.


def _make_lands() -> None:
    """Make land of each kind, and run what is done to a whole land by hand, where rivers wander."""
    for generator in GENERATORS:
        create_world(Scene().with_values({"world.source": generator, "world.columns": 24, "world.rows": 20}))
    values = {"world.columns": 24, "world.rows": 20, "meandering.enabled": True}
    lockstep = make_worlds([Scene().with_values(values)])
    for request in (Blur(), Refine(2)):
        lockstep = edited(lockstep, request)
        lockstep.compile_missing()
        lockstep.advance()
    lockstep.verify()
    rough = np.random.default_rng(1).random((60, 60))
    fill(rough, np.pad(np.zeros((58, 58), np.bool_), 1, constant_values=True))


def _run_everything() -> None:
    """Run all processes at once, on ground of several kinds, and publish what is seen of it."""
    lockstep = make_worlds([everything(48)])
    for _ in range(3):
        lockstep.advance()
    take_snapshot(lockstep.simulators[0].world)


def _analyze() -> None:
    """Analyse land in tiles and at once, and a model in degrees with gaps."""
    ground = island(60, 72)
    check(AnalyzedLand(ground, 12.5, sea_level=1.0), 16, RiverWishes(cells=8, watershed_cells=20))
    with tempfile.TemporaryDirectory() as folder:
        ground[20:31, 5:37] = -9999.0
        model = write_tiff(
            Path(folder) / "island.tif", ground, scale=[1 / 50, 1 / 40, 0.0], tiepoint=[0, 0, 0, 7.0, 61.0, 0],
            geo_keys={1024: 2, 1025: 1, 2048: 4326}, nodata="-9999",
        )  # fmt: skip
        sys.exit(cli.main(["analyze", str(model), "--out", str(Path(folder) / "maps")]))


PARTS = {"lands": _make_lands, "everything": _run_everything, "analysis": _analyze}


def compile_all() -> None:
    """Compile every build and what makes land, unless that was done for these sources.

    Raises `SystemExit` with what went wrong.
    """
    done = stamp()
    if done.exists():
        return
    if failures := compile_in_workers(all_builds(), "compiling all kernels"):
        sys.exit("\n".join(f"{build}: {error}" for build, error in failures.items()))
    programs = {part: subprocess.Popen([sys.executable, "-m", "tests.kernels_at_hand", part]) for part in PARTS}
    if failed := [part for part, program in programs.items() if program.wait()]:
        sys.exit(f"failed: {', '.join(failed)}")
    done.touch()


if __name__ == "__main__":
    for one in sys.argv[1:]:
        PARTS[one]()
    if not sys.argv[1:]:
        compile_all()

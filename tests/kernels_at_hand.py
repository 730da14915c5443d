"""Compile all kernels before the tests: each once and on all cores, where two workers would compile the same ones.

.venv/bin/python -m tests.kernels_at_hand
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import app  # noqa: F401  # sets Numba's cache
import kernels
from app.engine.builds import all_builds
from app.engine.compiling import compile_in_workers
from app.engine.creation import create_world
from app.engine.player import edited
from app.engine.runner import make_worlds
from app.scene.edits import Blur, Refine
from app.scene.scene import Scene
from app.sources.generators import GENERATORS


def stamp() -> Path:
    """The file whose presence says that all is compiled. Numba compiles anew what lies elsewhere or is newer."""
    sources = sorted(Path(next(iter(kernels.__path__))).glob("*.py"))
    known = repr([(str(source), source.stat().st_mtime_ns) for source in sources])
    return Path(os.environ["NUMBA_CACHE_DIR"]) / f"has-all-builds-{hashlib.sha256(known.encode()).hexdigest()[:16]}"


def _edit_a_land_with_rivers() -> None:
    """Run what has no builds of its own: rivers that wander, and what is done to a whole land by hand."""
    values = {"world.columns": 24, "world.rows": 20, "meandering.enabled": True}
    lockstep = make_worlds([Scene().with_values(values)])
    for request in (Blur(), Refine(2)):
        lockstep = edited(lockstep, request)
        lockstep.compile_missing()
        lockstep.advance()
    lockstep.verify()


def compile_all() -> None:
    """Compile every build and what makes land, unless that was done for these sources.

    Raises `SystemExit` with what went wrong.
    """
    done = stamp()
    if done.exists():
        return
    if failures := compile_in_workers(all_builds(), "compiling all kernels"):
        sys.exit("\n".join(f"{build}: {error}" for build, error in failures.items()))
    for generator in GENERATORS:
        create_world(Scene().with_values({"world.source": generator, "world.columns": 24, "world.rows": 20}))
    _edit_a_land_with_rivers()
    done.touch()


if __name__ == "__main__":
    compile_all()

"""Compile all kernels before the tests: each once and on all cores, where two workers would compile the same ones.

.venv/bin/python -m tests.kernels_at_hand
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import app  # noqa: F401  # sets Numba's cache
from app.engine.builds import all_builds
from app.engine.compiling import compile_in_workers


def compile_all() -> None:
    """Compile every build, unless that was done for these sources. Raises `SystemExit` with what went wrong."""
    done = Path(os.environ["NUMBA_CACHE_DIR"]) / "has-all-builds"
    if done.exists():
        return
    if failures := compile_in_workers(all_builds(), "compiling all kernels"):
        sys.exit("\n".join(f"{build}: {error}" for build, error in failures.items()))
    done.touch()


if __name__ == "__main__":
    compile_all()

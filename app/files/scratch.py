"""A scratch folder of this process, for data that is too large for memory."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

if sys.platform != "win32":
    import fcntl

LOCK = "in-use"


@cache
def scratch_folder() -> Path:
    """The scratch folder, created on first use. Folders of dead processes are removed.

    It lies in the user's cache, as the system's temporary folder is often in memory.
    """
    home = platformdirs.user_cache_path("thalweg") / "scratch"
    home.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(home)
    folder = Path(tempfile.mkdtemp(dir=home))
    if sys.platform != "win32":
        fcntl.flock(os.open(folder / LOCK, os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)  # held while the process lives
    atexit.register(remove_scratch_folder)
    return folder


def remove_scratch_folder() -> None:
    """Remove the folder with its contents, if it exists."""
    if scratch_folder.cache_info().currsize:
        shutil.rmtree(scratch_folder(), ignore_errors=True)
        scratch_folder.cache_clear()


def _remove_abandoned(home: Path) -> None:
    if sys.platform != "win32":  # Windows tells nothing about processes without open files
        for folder in home.iterdir():
            with contextlib.suppress(OSError), (folder / LOCK).open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its owner lives
                shutil.rmtree(folder, ignore_errors=True)

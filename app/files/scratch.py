"""A folder of this process for what is too large for memory and need not outlive the program."""

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
    """The folder, which is made by the first who asks. Those of processes that are gone are removed.

    It lies among the person's caches, and not where the system keeps temporary files: that is often in memory.
    """
    home = platformdirs.user_cache_path("thalweg") / "scratch"
    home.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(home)
    folder = Path(tempfile.mkdtemp(dir=home))
    if sys.platform != "win32":
        fcntl.flock(os.open(folder / LOCK, os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)  # for as long as the process lives
    atexit.register(remove_scratch_folder)
    return folder


def remove_scratch_folder() -> None:
    """Remove it, with all that is in it, where there is one."""
    if scratch_folder.cache_info().currsize:
        shutil.rmtree(scratch_folder(), ignore_errors=True)
        scratch_folder.cache_clear()


def _remove_abandoned(home: Path) -> None:
    if sys.platform != "win32":  # where nothing tells whether a process lives that has no file open
        for folder in home.iterdir():
            with contextlib.suppress(OSError), (folder / LOCK).open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which is refused while its owner lives
                shutil.rmtree(folder, ignore_errors=True)

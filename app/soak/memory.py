"""How much memory this process has in use."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import subprocess
from pathlib import Path


def resident_bytes() -> int:
    """What of this process is in memory now; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:  # macOS
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=True)
        return int(told.stdout) * 1024
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0


def give_back_what_is_free() -> None:
    """Let the system have what is used no more, as far as it can be told to the allocator.

    Else it is kept for later, in pieces, and by how much differs from one moment to the next.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc has it

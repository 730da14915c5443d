"""How much memory this process has in use."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path


def resident_bytes() -> int:
    """The resident set of this process; 0 if the system does not report it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:  # macOS
        done = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(os.getpid())],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
        )
        return int(done.stdout) * 1024
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0

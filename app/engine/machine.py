"""The machine that this process runs on."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from pathlib import Path


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_name() -> str:
    """The model name of the processor."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):  # only Linux has this file
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        name = found[1] if found else name
    return name

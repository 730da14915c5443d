"""Worker processes, which take requests line by line and answer line by line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def worker_command(word: str, module: str) -> list[str]:
    """The command that runs a module as a worker. A frozen program runs no modules and is told `word`.

    The working folder is not searched: it may have an `app` of its own.
    """
    return [sys.executable, word] if getattr(sys, "frozen", False) else [sys.executable, "-P", "-m", module]


def start_program(words: Sequence[str], before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a command of the program itself, `before` which another program may stand, such as `nice`."""
    frozen = getattr(sys, "frozen", False)
    return start_worker([*before, sys.executable, *(() if frozen else ("-P", "-m", "app")), *words])


def start_worker(command: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a worker by its command, with additions to the environment."""
    root = str(Path(__file__).parents[2])  # of the packages, wherever the program runs
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
        | getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )

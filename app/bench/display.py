"""A screen for windows that are measured: that of the person, or one in memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from app.model.errors import UserError


def has_display() -> bool:
    """Whether a window can be opened as things are."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def display() -> Iterator[tuple[str, dict[str, str]]]:
    """Where windows open inside `with`, in words, and what a program's environment must have besides for it.

    Raises `UserError` where there is no screen and none can be made.
    """
    if has_display():
        yield "in a window", {}
    elif shutil.which("Xvfb"):
        with _virtual_display() as name:
            yield "in a window under Xvfb", {"DISPLAY": name}
    else:
        raise UserError("there is neither a display nor Xvfb, a screen in memory, to open a window on")


@contextlib.contextmanager
def _virtual_display() -> Iterator[str]:
    """A screen in memory, and the name under which programs find it."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        try:
            with os.fdopen(reading) as answer:
                number = answer.readline().strip()
            if not number:
                raise UserError("Xvfb, the screen in memory, does not start")
            yield f":{number}"
        finally:
            server.terminate()

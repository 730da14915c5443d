"""A screen for windows that are measured: that of the person, or one in memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from app.model.errors import UserError

PATIENCE = 300.0  # seconds after which a measurement has failed


def has_display() -> bool:
    """Whether a window can be opened as things are."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def display() -> Iterator[tuple[str, dict[str, str]]]:
    """Where windows open inside `with`, in words, and what a program's environment must have besides for it.

    Raises `UserError` if there is no screen and none can be made.
    """
    if has_display():
        yield "in a window", {}
    elif shutil.which("Xvfb"):
        with _virtual_display() as name:
            yield "in a window under Xvfb", {"DISPLAY": name}
    else:
        raise UserError("there is neither a display nor Xvfb, a screen in memory, to open a window on")


def pointer_is_at(place: tuple[float, float]) -> bool:
    """Whether the panel has the pointer at a place, in logical units, and that it is told so: call it in each frame.

    The real pointer may be over the panel, which would take what is pressed and dragged over the land.
    """
    from imgui_bundle import imgui

    pointer = imgui.get_io().mouse_pos
    imgui.get_io().add_mouse_pos_event(*place)
    return max(abs(pointer.x - place[0]), abs(pointer.y - place[1])) <= 1.0


def measured_in_window(module: str, plan: msgspec.Struct, environment: Mapping[str, str], what: str) -> bytes:
    """What a module, run in a separate process as a user would run the program, writes about a plan, as JSON.

    It is given the plan and the file to write. Raises `UserError`, which names `what` was to run, where it does not.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seen.json"
        command = [sys.executable, "-m", module, msgspec.json.encode(plan).decode(), str(file)]
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode != 0 or not file.exists():
            reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise UserError(f"{what} does not run in a window: {reason}")
        return file.read_bytes()


@contextlib.contextmanager
def _virtual_display() -> Iterator[str]:
    """A screen in memory, and the name under which programs find it."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        try:
            with os.fdopen(reading, encoding="utf-8") as answer:
                number = answer.readline().strip()
            if not number:
                raise UserError("Xvfb, the screen in memory, does not start")
            yield f":{number}"
        finally:
            server.terminate()

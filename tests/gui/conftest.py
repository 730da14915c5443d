"""A display for what needs one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from tests.gui.display import start_display


@pytest.fixture(scope="session", autouse=True)
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A place of their own for the sessions of programs that tests start: what one leaves is offered to the next."""
    before = os.environ.get("XDG_DATA_HOME")
    os.environ["XDG_DATA_HOME"] = str(tmp_path_factory.mktemp("data"))
    yield
    if before is None:
        del os.environ["XDG_DATA_HOME"]
    else:
        os.environ["XDG_DATA_HOME"] = before


@pytest.fixture(scope="session", autouse=True)
def display() -> Iterator[str]:
    """The display that windows open on: on Linux a virtual one, which disturbs nobody and is the same everywhere."""
    if not shutil.which("Xvfb"):
        yield os.environ.get("DISPLAY", "")
        return
    server, name = start_display()
    before = dict(os.environ)
    os.environ["DISPLAY"] = name
    os.environ.pop("WAYLAND_DISPLAY", None)
    yield name
    os.environ.update({key: before[key] for key in ("DISPLAY", "WAYLAND_DISPLAY") if key in before})
    server.terminate()
    try:
        server.wait(timeout=10.0)
    except subprocess.TimeoutExpired:
        server.kill()

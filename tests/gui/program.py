"""The real program in a real window, used from outside with mouse and keys."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import ImageGrab

PATIENCE = 90.0  # seconds: kernels may have to be compiled, on a machine with other things to do
SCENE_MIDDLE = (450, 400)


class Program:
    """The program, running in a window on the virtual display."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.log = folder / "log.txt"
        environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
        environment["XDG_DATA_HOME"] = str(folder / "data")  # what it leaves there is offered to the next
        # Kernels are the same for all: only the first program compiles them.
        environment["NUMBA_CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"]
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", "--debug", *arguments],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
            )
        self.window = ""
        self.wait_for(self._find_window, "the window")
        self.wait_for(lambda: "first picture" in self.log.read_text(), "the first picture")

    def _find_window(self) -> bool:
        found = self.xdotool("search", "--onlyvisible", "--name", "^Thalweg", check=False).split()
        self.window = found[0] if found else ""
        return bool(found)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"the program ended: {self.log.read_text()}"
            assert time.monotonic() < end, f"waited in vain for {what}: {self.log.read_text()}"
            time.sleep(0.1)

    def xdotool(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(["xdotool", *arguments], capture_output=True, text=True, timeout=30.0, check=check)
        return done.stdout.strip()

    @property
    def title(self) -> str:
        return self.xdotool("getwindowname", self.window)

    @property
    def cycle(self) -> int:
        match = re.search(r"cycle (\d+)", self.title)
        assert match, self.title
        return int(match.group(1))

    @property
    def state(self) -> str:
        return self.title.rpartition(" ")[2]

    @property
    def size(self) -> tuple[int, int]:
        geometry = self.xdotool("getwindowgeometry", "--shell", self.window)
        width, height = (int(re.search(rf"{name}=(\d+)", geometry).group(1)) for name in ("WIDTH", "HEIGHT"))  # type: ignore[union-attr]
        return width, height

    def key(self, *keys: str) -> None:
        self.xdotool("key", *keys)

    def move(self, x: int, y: int) -> None:
        self.xdotool("mousemove", "--window", self.window, str(x), str(y))
        time.sleep(0.2)

    def drag(self, start: tuple[int, int], end: tuple[int, int], *, button: int = 1, steps: int = 5) -> None:
        self.move(*start)
        self.xdotool("mousedown", str(button))
        for step in range(1, steps + 1):
            self.move(*(round(a + (b - a) * step / steps) for a, b in zip(start, end, strict=True)))
        self.xdotool("mouseup", str(button))

    def picture(self) -> NDArray[np.int16]:
        """What is on the display."""
        return np.asarray(ImageGrab.grab(xdisplay=os.environ["DISPLAY"]).convert("RGB")).astype(np.int16)

    def scene(self) -> NDArray[np.int16]:
        """A part of the land, free of panel, minimap and pointer."""
        return self.picture()[250:550, 250:650]

    def found(self) -> NDArray[np.int16]:
        """What is listed in the panel below the text that is searched for."""
        return self.picture()[100:400, self.size[0] - 250 : self.size[0] - 10]

    def searched(self) -> NDArray[np.int16]:
        """The field for what is searched for."""
        return self.picture()[64:92, self.size[0] - 250 : self.size[0] - 10]

    def settled(self, part: Callable[[], NDArray[np.int16]] | None = None) -> NDArray[np.int16]:
        """The scene, or another part, once nothing moves in it, for longer than a frame that compiles its shaders."""
        part = part or self.scene
        end = time.monotonic() + PATIENCE
        last, alike = part(), 0
        while time.monotonic() < end:
            time.sleep(0.6)
            now = part()
            alike = 0 if np.any(now != last) else alike + 1
            if alike == 3:
                return now
            last = now
        raise AssertionError("the picture does not come to rest")

    def pause(self) -> None:
        self.wait_for(lambda: self.cycle > 0, "the first cycle, before which lakes may not be seen yet")
        self.move(*SCENE_MIDDLE)
        self.key("space")
        self.wait_for(lambda: self.state == "paused", "the pause")

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=30.0)

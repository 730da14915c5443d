"""The real program in a real window, used from outside with mouse and keys."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray
from PIL import Image, ImageGrab

from app.numba_settings import kernel_cache_folder
from tests import waiting
from tests.gui.display import start_display
from tests.gui.watched import Note

SCREEN = (1000, 700)  # pixels: a small window is drawn soon
SCENE_MIDDLE = (330, 330)
SCENE = (slice(210, 450), slice(170, 490))  # a part of the land, free of panel, minimap and pointer
PANEL_WIDTH = 250  # pixels at the right of the window that belong to its panel in any case

# A land that is there soon. At one level: pictures are compared, and the automatic one may change between them.
LAND = ("noise", "--size", "64", "--set", "view.quality=lowest")
DRY_LAND = (*LAND, "--set", "droplets.enabled=false")  # whose kernels are loaded sooner
STILL_LAND = (*DRY_LAND, "--set", "view.clouds=0")
UNSEEN, SEEN = 0.1, 2.0  # differences of two pictures: of the same, and of another view

Pixels = NDArray[np.int16]


def cycle_in(title: str) -> int:
    """The cycle that a window's title tells."""
    match = re.search(r"cycle (\d+)", title)
    assert match, title
    return int(match.group(1))


def difference(one: Pixels, other: Pixels) -> float:
    """How far two pictures are apart, in steps of 255, in the mean of all pixels."""
    return float(np.abs(one - other).mean())


@contextlib.contextmanager
def own_screen(size: tuple[int, int] = SCREEN) -> Iterator[str]:
    """A display that nothing else has windows on. Gives its name."""
    server, name = start_display("{}x{}".format(*size))
    try:
        yield name
    finally:
        server.terminate()
        server.wait(timeout=waiting.PATIENCE)


class Program:
    """The program, running in a window on a display of its own.

    Whatever is done with it is over when the program has heard it: nothing is done with a window that does not know yet
    of what was done before.
    """

    def __init__(self, folder: Path, display: str, *arguments: str, waits: bool = False) -> None:
        """At a first start it `waits` with its land behind the gallery."""
        self.folder = folder
        self.log = folder / "log.txt"
        self.display = display
        self._note = folder / "note.json"
        environment = os.environ | {
            "DISPLAY": display,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_DATA_HOME": str(folder / "data"),  # what it leaves there is offered to the next
            # Kernels and shaders are the same for all: only the first program compiles them.
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR") or str(kernel_cache_folder()),
            "MESA_SHADER_CACHE_DIR": os.environ.get("MESA_SHADER_CACHE_DIR") or str(platformdirs.user_cache_path()),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONFAULTHANDLER": "1",
        }
        environment.pop("WAYLAND_DISPLAY", None)
        words = [sys.executable, "-m", "tests.gui.watched", str(self._note), "--debug", *arguments]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, cwd=folder, env=environment, stdout=log, stderr=log)
        self.wait_for(lambda: "first picture" in self.log.read_text(), "the first picture")
        self.window = self.xdotool(
            "search", "--all", "--onlyvisible", "--pid", str(self.process.pid), "--name", "^Thalweg"
        )
        self.wait_for(lambda: waits or self.cycle > 0, "the first cycle, before which lakes may not be seen yet")

    # What it says of itself.

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        def is_met() -> bool:
            assert self.process.poll() is None, f"the program ended with {self.process.returncode}: {self.told}"
            return condition()

        waiting.wait_for(is_met, lambda: f"{what}: {self.note}, {self.told}")

    @property
    def told(self) -> str:
        return self.log.read_text()

    @property
    def note(self) -> Note:
        """What is so after the last frame."""
        note: Note = json.loads(self._note.read_text())
        return note

    @property
    def title(self) -> str:
        """As it was given to the window. To ask the display for it takes a process each time."""
        return self.note["title"]

    @property
    def title_on_display(self) -> str:
        return self.xdotool("getwindowname", self.window)

    @property
    def cycle(self) -> int:
        return cycle_in(self.title)

    @property
    def state(self) -> str:
        return self.title.rpartition(" ")[2]

    @property
    def size(self) -> tuple[int, int]:
        geometry = self.xdotool("getwindowgeometry", "--shell", self.window)
        width, height = (int(re.search(rf"{name}=(\d+)", geometry).group(1)) for name in ("WIDTH", "HEIGHT"))  # type: ignore[union-attr]
        return width, height

    # What a person does.

    def xdotool(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments],
            env=os.environ | {"DISPLAY": self.display},
            capture_output=True, text=True, timeout=waiting.PATIENCE, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def frames(self, count: int) -> None:
        """Let so many frames go by that begin after now."""
        first = self.note["frame"] + 1  # it may have begun already
        self.wait_for(lambda: self.note["frame"] >= first + count, f"{count} frames")

    def do(self, *arguments: str) -> None:
        """Use mouse or keys, and wait until all of it has been heard. ImGui takes one thing after the other."""
        self.xdotool(*arguments)
        self.frames(1)
        self.wait_for(lambda: self.note["waiting"] == 0, "an end of what is heard")

    def key(self, *keys: str) -> None:
        self.do("key", "--delay", "0", *keys)

    def type(self, text: str) -> None:
        """In place of what is in the field that has the keyboard, or is about to have it."""
        self.wait_for(lambda: self.note["typing"], "a field that has the keyboard")
        self.key("ctrl+a")
        self.do("type", "--delay", "0", text)

    def at(self, x: int, y: int) -> tuple[str, ...]:
        """The words for `do` that lead the pointer to a place of the window."""
        return ("mousemove", "--window", self.window, str(x), str(y))

    def move(self, x: int, y: int) -> None:
        self.do(*self.at(x, y))

    def drag(self, start: tuple[int, int], end: tuple[int, int], *, button: int = 1, steps: int = 5) -> None:
        self.move(*start)
        self.do("mousedown", str(button))
        for step in range(1, steps + 1):
            self.move(*(round(a + (b - a) * step / steps) for a, b in zip(start, end, strict=True)))
        self.do("mouseup", str(button))

    def resize(self, width: int, height: int) -> None:
        self.xdotool("windowsize", self.window, str(width), str(height))
        self.wait_for(lambda: self.note["size"] == [width, height], "the new size")

    def pause(self) -> None:
        """Pause, unless it is. The title is not asked: it tells of kernels and spin-ups, too, while it is paused."""
        self.move(*SCENE_MIDDLE)
        if not self.note["paused"]:
            self.key("space")
        self.wait_for(lambda: self.state == "paused", "the pause")

    # What is seen.

    def picture(self) -> Pixels:
        """What is on the display."""
        return np.asarray(ImageGrab.grab(xdisplay=self.display).convert("RGB")).astype(np.int16)

    def scene(self) -> Pixels:
        return self.picture()[SCENE]

    def settled(self) -> Pixels:
        """The scene, once it shows the cycle that the simulation rests in, and nothing moves any more."""
        self.wait_for(lambda: self.note["resting"] and self.note["cycle"] == self.cycle, "a picture at rest")
        return self.scene()

    # How it ends.

    def close(self) -> None:
        """What a window manager asks for where the window is closed with the mouse."""
        _ask_to_close(self.display, int(self.window))

    def ends_well(self) -> None:
        """Wait for the end, which is a clean one."""
        waiting.wait_for(lambda: self.process.poll() is not None, lambda: f"the end: {self.told}")
        assert self.process.returncode == 0, self.told
        assert not re.search("Traceback|[Ee]rror", self.told), self.told

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=waiting.PATIENCE)


class Kept:
    """A program that one test after the other uses. Where a test has ended it there is another one."""

    def __init__(self, folder: Path, display: str, *arguments: str) -> None:
        self._folder = folder
        self._display = display
        self._arguments = arguments
        self._running: Program | None = None
        self._known: Pixels | None = None  # how its land looks in cycle 0
        self._left: tuple[int, list[str]] | None = None  # the land that was opened last, and what could be undone then
        self._started = 0

    def program(self) -> Program:
        """The program in a window of the usual size, with nothing begun, and the pointer over the scene."""
        program = self._running
        if program is None or program.process.poll() is not None:
            folder = self._folder / str(self._started)
            folder.mkdir()
            self._started, self._left = self._started + 1, None
            self._running = program = Program(folder, self._display, *self._arguments)
        program.move(*SCENE_MIDDLE)
        program.key("Escape", "Escape")
        if program.size != SCREEN:
            program.resize(*SCREEN)
        return program

    def at_start(self) -> Program:
        """The program, paused in cycle 0 of its land, which is seen as it opens."""
        program = self.program()
        program.pause()
        seen = self._as_opened(program)
        if self._known is None:  # what others are compared with has come twice
            while difference(seen, again := self._as_opened(program)) >= UNSEEN:
                seen = again
            self._known = seen
        apart = difference(seen, self._known)
        if apart >= UNSEEN:
            for name, pixels in (("known", self._known), ("seen", seen)):
                Image.fromarray(pixels.astype(np.uint8)).save(self._folder / f"{name}.png")
        assert apart < UNSEEN, f"{apart} in the mean between known.png and seen.png in {self._folder}"
        return program

    def _as_opened(self, program: Program) -> Pixels:
        """How the land looks where it was seen first. It is opened again, unless nothing was done to it since."""
        note = program.note
        is_untouched = program.cycle == note["cycle"] == 0 and (note["world"], note["steps"]) == self._left
        if self._known is None or not (is_untouched and note["as_opened"]):
            program.key("r")
            program.wait_for(lambda: program.note["world"] != note["world"], "another world")
        program.key("Home")
        seen = program.settled()
        assert program.title.endswith("cycle 0 – paused"), program.title
        program.wait_for(lambda: program.title_on_display == program.title, "the title on the display")
        assert program.size == SCREEN and program.note["as_opened"]
        self._left = program.note["world"], program.note["steps"]
        return seen

    def end(self) -> None:
        if self._running is not None:
            self._running.kill()


def _ask_to_close(display: str, window: int) -> None:
    """Send a window WM_DELETE_WINDOW. (xdotool can only destroy it, which no program outlives.)"""
    x = ctypes.CDLL("libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    x.XInternAtom.restype = ctypes.c_ulong
    server = ctypes.c_void_p(x.XOpenDisplay(display.encode()))
    protocols, delete = (x.XInternAtom(server, name, False) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW"))
    client_message, longs = 33, 32
    #        type, serial, send_event, display, window, message_type, format, data
    message = (ctypes.c_long * 24)(client_message, 0, True, 0, window, protocols, longs, delete)
    x.XSendEvent(server, ctypes.c_ulong(window), False, ctypes.c_long(0), ctypes.byref(message))
    x.XCloseDisplay(server)

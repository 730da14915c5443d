"""A random user: each action is chosen by random numbers, logged, and performed in the window."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import IO

from app.model.parameters import Declaration, Value
from app.scene.comparison import NAMES
from app.scene.scene import DECLARATIONS, presets
from app.window.actions import ACTIONS
from app.window.application import Application
from app.window.commands import changes, files, running, worlds
from app.window.events import (
    Button,
    ButtonPressed,
    ButtonReleased,
    FilesDropped,
    KeyPressed,
    KeyReleased,
    PointerMoved,
    Scrolled,
)
from app.window.window import SMALLEST_SIZE, Window

KEYS = tuple(key for action in ACTIONS for key in action.keys if action.name != "quit")
LARGEST_WINDOW = 1100, 720
SIDES = 48, 320  # of maps, in cells
FACTOR = 4.0  # largest factor of change of a number
SAVED = ("world-1.npz", "world-2.npz", "parameters-1.toml", "parameters-2.toml")
# What would take minutes, asks for files that are not there, or is no parameter of what runs.
LAND = ("world.source", "world.rain_map", "world.cell_size", "world.reference_")
UNTOUCHED = ("camera.", "materials.folder", "simulation.", *LAND)

Frames = Iterator[None]  # at each of its stops, a frame passes


@dataclass(frozen=True)
class Deed:
    """A kind of action: its relative frequency, the choice of its arguments, and its execution."""

    weight: float
    choose: Callable[[Random], list[object]]
    do: Callable[..., Frames]


class Person:
    """Acts on an application in a window. Files are saved in the working folder, and `record` has a line for each act.

    What is chosen follows from the random numbers alone, and not from what is on the screen.
    """

    def __init__(self, application: Application, window: Window, record: IO[str]) -> None:
        self._application = application
        self._window = window
        self._record = record
        self._begin = time.monotonic()
        self.actions = 0
        self.last = "nothing yet"
        self._deeds = {
            "key": Deed(20, lambda random: [random.choice(KEYS)], self._press),
            "change": Deed(25, changed_parameter, self.change),
            "drag": Deed(12, _drag, self._drag),
            "scroll": Deed(6, lambda random: [random.choice((-3, -1, 1, 3)), *_place(random)], self._scroll),
            "click": Deed(8, lambda random: [*_place(random), random.random() < 0.2], self._click),
            "fly": Deed(2, lambda random: [random.choice("WASDQE"), random.randint(1, 8)], self._fly),
            "resize": Deed(5, _window_size, self._resize),
            "compare": Deed(5, lambda _: [], lambda: self._press("C")),
            "edit": Deed(3, lambda random: [random.choice((*NAMES, "all"))], self._edit),
            "divide": Deed(2, lambda random: [round(random.random(), 3)], self._divide),
            "take from": Deed(3, lambda random: [random.choice(tuple(presets()))], self._take_from),
            "worlds": Deed(2, lambda random: [random.choice(("add", "remove", "grid", "cameras"))], self._worlds),
            "snowballs": Deed(2, lambda random: [random.choice((0, 500, 5000))], self._roll),
            "save": Deed(4, lambda random: [random.choice(SAVED)], self._save),
            "open": Deed(3, lambda random: [random.choice(SAVED)], self._open),
            "drop": Deed(1, lambda random: [random.choice(SAVED)], self._drop),
            "wait": Deed(8, lambda random: [random.randint(1, 10)], self._wait),
        }

    def act(self, random: Random) -> Frames:
        """Perform a random action."""
        names = list(self._deeds)
        (name,) = random.choices(names, [self._deeds[name].weight for name in names])
        deed = self._deeds[name]
        arguments = deed.choose(random)
        self.note(name, *arguments)
        self.actions += 1
        yield from deed.do(*arguments)

    def note(self, name: str, *arguments: object) -> None:
        """Log an action before it is performed."""
        status = self._application.simulation.status
        self.last = " ".join(map(str, (name, *arguments)))
        line = {
            "seconds": round(time.monotonic() - self._begin, 2),
            "cycle": status.cycle,
            "state": status.state,
            "action": name,
            "with": arguments,
        }
        self._record.write(json.dumps(line) + "\n")
        self._record.flush()

    def come_home(self, size: tuple[int, int]) -> Frames:
        """Close what is open, end a recording, and give the window its size again.

        Its clip is finished at the end of the program, which would wait for one of an hour.
        """
        if self._window.full_screen:
            self._window.toggle_full_screen()
        for _ in range(4):
            yield from self._press("Esc")
        self._application.recording.stop()
        self._application.panel.visible = True
        self._window.resize(*size)
        yield

    def change(self, path: str, value: Value) -> Frames:
        """Give a parameter another value."""
        changes.change(self._application, path, value)
        yield

    # Helpers.

    def _press(self, key: str) -> Frames:
        self._window.post(KeyPressed(key))
        yield

    def _at(self, across: float, down: float) -> tuple[float, float]:
        width, height = self._window.size
        return across * width, down * height

    def _drag(self, button: str, across: float, down: float, to_across: float, to_down: float, shift: bool) -> Frames:
        begin, end = self._at(across, down), self._at(to_across, to_down)
        self._window.post(PointerMoved(*begin))
        self._window.post(ButtonPressed(Button(button), *begin, shift=shift))
        for part in (0.3, 0.6, 1.0):
            self._window.post(PointerMoved(*(a + part * (b - a) for a, b in zip(begin, end, strict=True))))
            yield
        self._window.post(ButtonReleased(Button(button)))
        yield

    def _scroll(self, amount: float, across: float, down: float) -> Frames:
        self._window.post(Scrolled(amount, *self._at(across, down)))
        yield

    def _click(self, across: float, down: float, control: bool) -> Frames:
        self._window.post(ButtonPressed(Button.LEFT, *self._at(across, down), control=control))
        self._window.post(ButtonReleased(Button.LEFT))
        yield

    def _fly(self, key: str, frames: int) -> Frames:
        self._window.post(KeyPressed("G", "G"))
        yield
        self._window.post(KeyPressed(key, key))
        yield from self._wait(frames)
        self._window.post(KeyReleased(key))
        yield from self._press("Esc")

    def _resize(self, width: int, height: int) -> Frames:
        if not self._window.full_screen:
            self._window.resize(width, height)
        yield

    def _edit(self, edited: str) -> Frames:
        documents = self._application.documents
        if documents.comparing:
            documents.edited = next((name for name in documents.choices if name == edited), "all")
        yield

    def _divide(self, part: float) -> Frames:
        if self._application.documents.comparing:
            self._application.layout.move_divider(part * self._window.size[0])
        yield

    def _take_from(self, preset: str) -> Frames:
        worlds.take_from(self._application, preset)
        yield

    def _worlds(self, deed: str) -> Frames:
        layout = self._application.layout
        if self._application.documents.comparing:
            match deed:
                case "add":
                    worlds.add_world(self._application)
                case "remove":
                    worlds.remove_world(self._application)
                case "grid":
                    layout.grid_chosen = not layout.in_grid
                case _:
                    worlds.link_cameras(self._application)
        yield

    def _roll(self, balls: int) -> Frames:
        if balls:
            running.roll_snowballs(self._application, balls)
        else:
            running.cancel_snowballs(self._application)
        yield

    def _save(self, name: str) -> Frames:
        files.save(self._application, Path(name))
        yield

    def _open(self, name: str) -> Frames:
        if Path(name).exists():
            files.open(self._application, Path(name))
        yield

    def _drop(self, name: str) -> Frames:
        if Path(name).exists():
            self._window.post(FilesDropped((Path(name).resolve(),)))
        yield

    def _wait(self, frames: int) -> Frames:
        for _ in range(frames):
            yield


def _place(random: Random) -> list[object]:
    """A place in the window, as fractions of its width and height."""
    return [round(random.random(), 3), round(random.random(), 3)]


def _drag(random: Random) -> list[object]:
    button = random.choice(tuple(Button))
    return [button.value, *_place(random), *_place(random), random.random() < 0.2]


def _window_size(random: Random) -> list[object]:
    return [random.randint(low, high) for low, high in zip(SMALLEST_SIZE, LARGEST_WINDOW, strict=True)]


def changed_parameter(random: Random) -> list[object]:
    declaration = random.choice(CHANGEABLE)
    return [declaration.path, _value(declaration, random)]


def _value(declaration: Declaration, random: Random) -> Value:
    """A value that a parameter may have: of a number, one in the neighbourhood of its default."""
    if declaration.path in ("world.columns", "world.rows"):
        return random.randint(*SIDES)
    if declaration.kind is bool:
        return random.random() < 0.5
    if declaration.choices:
        return random.choice(declaration.choices)
    low, high, default = declaration.low, declaration.high, float(declaration.default)
    if default == 0.0:
        number = random.uniform(low, low + 0.1 * (high - low)) if math.isfinite(high - low) else 0.0
    else:
        number = default * FACTOR ** random.uniform(-1.0, 1.0)
    number = min(max(number, low), high)
    return round(number) if declaration.kind is int else number


CHANGEABLE = tuple(
    declaration
    for declaration in DECLARATIONS.values()
    if not declaration.path.startswith(UNTOUCHED)
    and (declaration.kind is not str or declaration.choices)
    and not declaration.names_file
)

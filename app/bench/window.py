"""The program in a real window: interference of picture and simulation, and latency of keys."""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.bench.display import display, measured_in_window, pointer_is_at
from app.bench.row import Row
from app.files.library import Library
from app.files.opening import open_scene
from app.model.errors import UserError
from app.scene.scene import load_preset, preset_to_toml, presets
from app.window.events import Button, ButtonPressed, KeyPressed, PointerMoved

if TYPE_CHECKING:
    from app.scene.scene import Scene
    from app.window.viewer import Viewer
    from app.window.window import Window

SCENES = ("jacksboro", "basic", "delta", "dune-field", "island", "coupled-with-trees")
# Each moves the speed: from the full one to less than that, and back.
KEYS = ("[", "]")
TURN = 60.0  # logical units by which the pointer moves in a second
SLOWEST_TURN = 30.0  # seconds after which a view that does not turn never will


class Plan(msgspec.Struct, frozen=True):
    """What is measured in a window."""

    preset: str
    size: tuple[int, int] = (1280, 800)
    side: int = 0  # cells; 0: those of the preset
    settling: float = 20.0  # seconds after the first cycle, in which the level of the picture is found
    seconds: float = 10.0  # that are measured
    keys: int = 40
    pause: float = 0.15  # seconds between two keys
    turning: float = 4.0  # seconds in which the pointer turns the view


class RecordingPlan(msgspec.Struct, frozen=True):
    """What is measured of a window that is recorded in turn: some seconds without, some with, and again."""

    preset: str = "basic"
    size: tuple[int, int] = (1280, 720)
    side: int = 0
    settling: float = 20.0
    seconds: float = 6.0  # of each turn that are measured
    pause: float = 1.5  # seconds before it
    rounds: int = 5


class GalleryPlan(msgspec.Struct, frozen=True):
    """What is measured of the gallery in a window in which the land evolves."""

    preset: str = "basic"
    size: tuple[int, int] = (1280, 720)
    side: int = 0
    entries: int = 60
    settling: float = 10.0
    openings: int = 7


AnyPlan = Plan | RecordingPlan | GalleryPlan


class Turn(msgspec.Struct):
    """What was measured in a turn."""

    recorded: bool
    cycles_per_second: float
    frames_per_second: float


class Seen(msgspec.Struct):
    """What was measured there."""

    quality: str
    cycles: tuple[int, int]  # before and after
    seconds: float
    frames: int
    key_seconds: list[float]
    turned: float = 0.0  # pictures a second meanwhile


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    every_key: list[float] = []
    for preset in SCENES[:1] if tiny else SCENES:
        plan = Plan(preset)
        if tiny:
            plan = Plan(preset, size=(480, 320), side=32, settling=0.1, seconds=1.5, keys=2, pause=0.01, turning=0.5)
        with display() as (where, environment):
            seen = msgspec.json.decode(_look(plan, environment), type=Seen)
        every_key += seen.key_seconds
        pace = (seen.cycles[1] - seen.cycles[0]) / seen.seconds
        alone = _alone(plan, seen.cycles)
        yield Row(f"{preset}: cycles a second {where} against none", pace / alone, "times", 0.4, at_least=True)
        yield Row(f"{preset}: cycles a second there", pace, "1/s", None)
        name = f"{preset}: frames a second there, at level {seen.quality}"
        yield Row(name, seen.frames / seen.seconds, "1/s", 10.0, at_least=True)
        yield Row(f"{preset}: pictures a second there while the view turns", seen.turned, "1/s", 20.0, at_least=True)
    yield from _recording_rows(tiny)
    yield _gallery_row(tiny)
    slowest = statistics.quantiles(every_key, n=20, method="inclusive")[-1]
    yield Row("from a key to its slider on the screen, p95 in all of them", 1e3 * slowest, "ms", 50.0)


def _recording_rows(tiny: bool) -> Iterator[Row]:
    """What it costs to record the scene: the median of each turn with it against those before and after."""
    plan = RecordingPlan()
    if tiny:
        plan = RecordingPlan(size=(480, 320), side=32, settling=0.1, seconds=0.3, pause=0.1, rounds=1)
    with display() as (_, environment):
        turns = msgspec.json.decode(_look(plan, environment), type=list[Turn])
    for what, name in (("cycles_per_second", "cycles a second"), ("frames_per_second", "frames a second")):
        paces = [getattr(turn, what) for turn in turns]
        kept = [
            2.0 * paces[place] / max(paces[place - 1] + paces[place + 1], 1e-9)
            for place, turn in enumerate(turns)
            if turn.recorded
        ]
        label = f"{plan.preset}: recording, its cost in {name}, with against without"
        yield Row(label, statistics.median(kept), "times", 0.85, at_least=True)


def _gallery_row(tiny: bool) -> Row:
    """How long it takes from the command to the frame in which all cards are on the screen, with their pictures."""
    plan = GalleryPlan()
    if tiny:
        plan = GalleryPlan(size=(480, 320), side=32, entries=41, settling=0.1, openings=2)
    with display() as (_, environment):
        seconds = msgspec.json.decode(_look(plan, environment), type=list[float])
    return Row(f"the gallery, {plan.entries} entries, opened again", statistics.median(seconds), "s", 0.2)


def _look(plan: AnyPlan, environment: dict[str, str]) -> bytes:
    return measured_in_window("app.bench.window", plan, environment, plan.preset)


def _scene(plan: AnyPlan) -> Scene:
    scene = open_scene(plan.preset).with_value("simulation.cycles_per_frame", 0)  # as fast as it goes
    return scene.with_values({"world.columns": plan.side, "world.rows": plan.side}) if plan.side else scene


def _alone(plan: Plan, cycles: tuple[int, int]) -> float:
    """How many of the same cycles run in a second without a window, on as many threads."""
    from app.engine.creation import create_world
    from app.engine.simulator import Simulator

    world, scene = create_world(_scene(plan))
    simulator = Simulator(scene, world)
    begin = time.perf_counter()
    while world.cycle < cycles[1]:
        if world.cycle == cycles[0]:
            begin = time.perf_counter()
        simulator.advance()
    return (cycles[1] - cycles[0]) / (time.perf_counter() - begin)


class _Observer:
    """Follows a window from frame to frame: waits, counts, presses keys, and closes it."""

    def __init__(self, plan: Plan, file: Path) -> None:
        self._plan = plan
        self._file = file
        self._first_cycle: int | None = None  # that is known
        self._measured_from: float | None = None  # when, by the clock
        self._due = 0.0
        self._cycle = 0
        self._frames = 0
        self._seen: Seen | None = None
        self._pressed: float | None = None  # when, while it has not shown
        self._shown_before: object = None
        self._turned: tuple[float, int, float] | None = None  # when the view began to turn, after which picture, whence

    def after_frame(self, viewer: Viewer, window: Window) -> None:
        """Called when a frame is on the screen."""
        application = viewer.application
        now = time.perf_counter()
        cycle = application.simulation.status.cycle
        if self._first_cycle is None:
            self._first_cycle = cycle
        if cycle == self._first_cycle:
            return
        if not self._due:
            self._due = now + self._plan.settling
        self._frames += 1
        if now < self._due:
            return
        if self._measured_from is None:
            self._measured_from, self._cycle, self._frames = now, cycle, 0
            self._due = now + self._plan.seconds
        elif self._seen is None:
            view = application.documents.scene.view
            quality = application.side.picture.quality(view).name
            self._seen = Seen(quality, (self._cycle, cycle), now - self._measured_from, self._frames, [])
        else:
            self._press_keys(viewer, window, self._seen)

    def _press_keys(self, viewer: Viewer, window: Window, seen: Seen) -> None:
        now, simulation = time.perf_counter(), viewer.application.documents.scene.simulation
        shown = simulation.cycles_per_frame, simulation.frames_per_cycle
        if self._pressed is not None:
            if shown == self._shown_before:
                return
            seen.key_seconds.append(now - self._pressed)
            self._pressed = None
        if len(seen.key_seconds) == self._plan.keys:
            self._turn(viewer, window, seen)
            return
        key = KEYS[len(seen.key_seconds) % 2]
        self._shown_before = shown
        # Whenever it comes: while a frame is drawn, as likely as not. No two wait for the same moment of a frame.
        pause = self._plan.pause * (1.0 + 0.618 * len(seen.key_seconds) % 1.0)
        threading.Timer(pause, self._press, (window, key)).start()
        self._pressed = float("inf")

    def _turn(self, viewer: Viewer, window: Window, seen: Seen) -> None:
        """Turn the view with the pointer, a little in each frame, and end."""
        now, pictures = time.perf_counter(), viewer.application.sides.pictures
        heading = viewer.application.camera.camera().heading
        middle = 0.3 * self._plan.size[0], 0.5 * self._plan.size[1]
        if not pointer_is_at(middle):
            return
        if self._turned is None:
            self._turned = now, pictures, heading
            window.post(ButtonPressed(Button.LEFT, *middle))
        begun, first, whence = self._turned
        if heading == whence and now - begun > self._plan.turning + SLOWEST_TURN:
            raise UserError("the view did not turn")
        if heading != whence and now - begun > self._plan.turning:
            seen.turned = (pictures - first) / (now - begun)
            self._file.write_bytes(msgspec.json.encode(seen))
            window.close()
            return
        window.post(PointerMoved(middle[0] + TURN * (now - begun), middle[1]))

    def _press(self, window: Window, key: str) -> None:
        self._pressed = time.perf_counter()
        window.post(KeyPressed(key))


class _RecordingObserver:
    """Lets a window be recorded in turn, and counts."""

    def __init__(self, plan: RecordingPlan, file: Path) -> None:
        self._plan = plan
        self._file = file
        self._due = 0.0
        self._turns: list[Turn] = []
        self._before: tuple[float, int] | None = None  # when the turn began, and at which cycle
        self._frames = 0

    def after_frame(self, viewer: Viewer, window: Window) -> None:
        """Called when a frame is on the screen."""
        application = viewer.application
        now, cycle = time.perf_counter(), application.simulation.status.cycle
        self._frames += 1
        if cycle == 0:
            return
        if not self._due:
            self._due = now + self._plan.settling
        if now < self._due:
            return
        if self._before is None:
            self._before, self._frames, self._due = (now, cycle), 0, now + self._plan.seconds
            return
        seconds, recording = now - self._before[0], application.recording
        recorded = recording.current is not None
        self._turns.append(Turn(recorded, (cycle - self._before[1]) / seconds, self._frames / seconds))
        if len(self._turns) == 2 * self._plan.rounds + 1:
            self._file.write_bytes(msgspec.json.encode(self._turns))
            window.close()
        elif recorded:
            recording.stop()
        else:
            recording.begin(self._file.parent, "measured")
        self._before, self._due = None, now + self._plan.pause


class _GalleryObserver:
    """Opens and closes the gallery. The first opening, which makes the textures, does not count."""

    def __init__(self, plan: GalleryPlan, file: Path) -> None:
        self._plan = plan
        self._file = file
        self._due = 0.0
        self._opened: float | None = None  # when
        self._seconds: list[float] = []

    @property
    def library(self) -> Library:
        """As many presets of one's own as are wanting to the entries, in the file's folder."""
        library = Library(self._file.parent, self._file.parent)
        folder = library.own_folder
        assert folder is not None
        folder.mkdir()
        for number in range(self._plan.entries - len(presets())):
            (folder / f"land-{number}.toml").write_text(
                preset_to_toml(load_preset("noise")), encoding="utf-8", newline="\n"
            )
        return library

    def after_frame(self, viewer: Viewer, window: Window) -> None:
        """Called when a frame is on the screen."""
        now, gallery = time.perf_counter(), viewer.panel.gallery
        if viewer.application.simulation.status.cycle == 0:
            return
        self._due = self._due or now + self._plan.settling
        if now < self._due:
            return
        if self._opened is None:
            gallery.open()
            self._opened = time.perf_counter()
        elif gallery.is_whole:
            assert len(gallery.shown) == max(self._plan.entries, len(presets()))
            self._seconds.append(now - self._opened)
            gallery.close()
            self._opened = None
            if len(self._seconds) > self._plan.openings:
                self._file.write_bytes(msgspec.json.encode(self._seconds[1:]))
                window.close()


def _main(plan: str, file: str) -> None:
    from app.numba_settings import configure_numba
    from app.window.loop import run

    configure_numba()
    wanted: AnyPlan
    observer: _Observer | _RecordingObserver | _GalleryObserver
    library = None
    if "openings" in msgspec.json.decode(plan):
        wanted = msgspec.json.decode(plan, type=GalleryPlan)
        observer = _GalleryObserver(wanted, Path(file))
        library = observer.library
    elif "rounds" in msgspec.json.decode(plan):
        wanted = msgspec.json.decode(plan, type=RecordingPlan)
        observer = _RecordingObserver(wanted, Path(file))
    else:
        wanted = msgspec.json.decode(plan, type=Plan)
        observer = _Observer(wanted, Path(file))
    layout = Path(file).with_name("layout.ini")
    run(_scene(wanted), layout_file=layout, size=wanted.size, after_frame=observer.after_frame, library=library)


if __name__ == "__main__":
    _main(*sys.argv[1:])

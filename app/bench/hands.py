"""Brushes: latency of a touch, and cost of a stroke."""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.bench.display import PATIENCE, display, measured_in_window, pointer_is_at
from app.bench.row import Row
from app.engine.thread import SimulationThread
from app.files.opening import open_scene
from app.model.errors import UserError
from app.scene.edits import Dab, Stroke
from app.scene.scene import Scene
from app.window.events import Button, ButtonPressed, ButtonReleased

if TYPE_CHECKING:
    from app.window.viewer import Viewer
    from app.window.window import Window

PRESET = "basic"
RADIUS = 40.0  # cells
DABS_PER_SECOND, PARTS_PER_SECOND = 40, 30
LEAST_CHANGE = 2.0  # metres, from which a touch counts as seen
SLOWEST_TOUCH = 30.0  # seconds after which it does not show at all


class Plan(msgspec.Struct, frozen=True):
    """What is measured in a window."""

    side: int = 512
    size: tuple[int, int] = (1280, 800)
    settling: float = 15.0  # seconds after the first cycle
    touches: int = 24
    pause: float = 0.6  # seconds between two touches


class Seen(msgspec.Struct):
    """What was measured there, in seconds: of touches, of pictures, and of cycles."""

    touches: list[float]
    frame: float
    cycle: float


def rows(tiny: bool = False) -> Iterator[Row]:
    """Measure the group."""
    side = 48 if tiny else 512
    cost = cost_of_stroke(_scene(side), seconds=0.2 if tiny else 2.0, rounds=1 if tiny else 5)
    yield Row(f"a stroke of 2 s at radius 40 cells, {side}², of the cycles", cost, "%", 5.0)
    plan = Plan(side, (480, 320), 0.1, 2, 0.05) if tiny else Plan()
    with display() as (where, environment):
        found = measured_in_window("app.bench.hands", plan, environment, PRESET)
        seen = msgspec.json.decode(found, type=Seen)
    touch = statistics.median(seen.touches)
    both = max(seen.frame + seen.cycle, 1e-9)
    yield Row(f"a touch until the land shows it, {side}², {where}", 1e3 * touch, "ms", None)
    yield Row("that against a frame and a cycle there", touch / both, "times", 1.2)


def _scene(side: int) -> Scene:
    scene = open_scene(PRESET).with_value("simulation.cycles_per_frame", 0)  # as fast as it goes
    return scene.with_values({"world.columns": side, "world.rows": side})


def cost_of_stroke(scene: Scene, seconds: float, rounds: int) -> float:
    """Per cent of the cycles that do not run while a stroke is drawn: each turn with one against those beside it."""
    simulation = SimulationThread(scene)
    simulation.first_picture_shown.set()
    simulation.start()
    try:
        _wait_for_cycles(simulation)
        paces = [_pace(simulation, seconds, number) for number in range(2 * rounds + 1)]
    finally:
        simulation.stop()
    kept = [2.0 * paces[turn] / (paces[turn - 1] + paces[turn + 1]) for turn in range(1, len(paces), 2)]
    return 100.0 * (1.0 - statistics.median(kept))


def _wait_for_cycles(simulation: SimulationThread) -> None:
    end = time.monotonic() + PATIENCE
    while simulation.status.cycle < 5:
        simulation.take()
        if time.monotonic() > end:
            raise TimeoutError("the simulation does not run")
        time.sleep(0.005)


def _pace(simulation: SimulationThread, seconds: float, number: int) -> float:
    """Cycles a second in a turn; in every other one a stroke is drawn."""
    snapshot = None
    while snapshot is None:
        snapshot = next(iter(simulation.take()), None)
    width, first, sent = snapshot.shape[1] * snapshot.cell_size, simulation.status.cycle, 0
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < seconds:
        simulation.take()
        due = int(passed * DABS_PER_SECOND) + 1
        if number % 2 and due > sent:
            dabs: tuple[Dab, ...] = tuple(
                (width * (0.3 + 0.4 * dab / (seconds * DABS_PER_SECOND)), 0.5 * width, 1.0) for dab in range(sent, due)
            )
            radius = RADIUS * snapshot.cell_size
            simulation.ask(Stroke("raise", dabs, radius, 0.01 * radius, number=number, first=sent))
            sent = due
        time.sleep(1.0 / PARTS_PER_SECOND)
    return (simulation.status.cycle - first) / (time.perf_counter() - begin)


class _Observer:
    """Touches the land in a window now and then, and sees how soon the picture shows it."""

    def __init__(self, plan: Plan, file: Path) -> None:
        self._plan = plan
        self._file = file
        self._due = 0.0
        self._touches: list[float] = []
        self._pressed: float | None = None  # when, while it has not shown
        self._height = 0.0
        self._needed: int | None = None  # the version of the land that has it
        self._cell = (0, 0)

    def after_frame(self, viewer: Viewer, window: Window) -> None:
        """Called when a frame is on the screen."""
        application = viewer.application
        now = time.perf_counter()
        if application.simulation.status.cycle == 0 or application.snapshot is None:
            return
        if not self._due:
            self._due = now + self._plan.settling
            application.brushing.choose("raise")
        if now < self._due:
            return
        place = (0.3 * self._plan.size[0], 0.55 * self._plan.size[1])
        if not pointer_is_at(place):
            return
        hit = application.views.ground_under(*place)
        cell = application.views.cell_at(hit.x, hit.z) if hit is not None else (0, 0)
        assert cell is not None
        if self._pressed is None:
            self._cell = cell
            self._height = float(application.snapshot.ground(cell))
            pause = self._plan.pause * (1.0 + 0.618 * len(self._touches) % 1.0)
            threading.Timer(pause, self._press, (window, place)).start()
            self._pressed = float("inf")
            return
        height = float(application.snapshot.ground(self._cell))
        if self._pressed > now:  # what was drawn before may still come
            self._height = height
        elif self._needed is None and abs(height - self._height) > LEAST_CHANGE:
            self._needed = application.snapshot.version
        if now - self._pressed > SLOWEST_TOUCH:
            raise UserError("a touch did not change the land")
        drawn = application.side.drawn_version
        if self._needed is not None and drawn is not None and drawn >= self._needed:
            self._touches.append(now - self._pressed)
            window.post(ButtonReleased(Button.LEFT))
            self._pressed = self._needed = None
        if len(self._touches) == self._plan.touches:
            cycle = sum(application.simulation.status.milliseconds.values()) * 1e-3
            seen = Seen(self._touches, application.frame_times.typical * 1e-3, cycle)
            self._file.write_bytes(msgspec.json.encode(seen))
            window.close()

    def _press(self, window: Window, place: tuple[float, float]) -> None:
        self._pressed = time.perf_counter()
        # Up and down in turn, so that no tower grows into the view.
        window.post(ButtonPressed(Button.LEFT, *place, control=len(self._touches) % 2 == 1))


def _main(plan: str, file: str) -> None:
    from app.numba_settings import configure_numba
    from app.window.loop import run

    configure_numba()
    wanted = msgspec.json.decode(plan, type=Plan)
    observer = _Observer(wanted, Path(file))
    layout = Path(file).with_name("layout.ini")
    run(_scene(wanted.side), layout_file=layout, size=wanted.size, after_frame=observer.after_frame)


if __name__ == "__main__":
    _main(*sys.argv[1:])

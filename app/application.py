"""The application: four hooks that a loop calls, and what they work on.

It knows nothing of the window that it is in: the program hosts it in `app.loop`, tests host it elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

import moderngl
import msgspec
from imgui_bundle import imgui

from app.actions import BY_KEY
from app.camera_control import FLIGHT_KEYS, CameraControl
from app.canvas import Canvas
from app.commands import Commands
from app.errors import UserError
from app.events import (
    Button,
    ButtonPressed,
    ButtonReleased,
    Event,
    FilesDropped,
    FocusLost,
    KeyPressed,
    KeyReleased,
    PointerMoved,
    Scrolled,
)
from app.ground import Ground
from app.history import FrameTimes, LedgerHistory
from app.notices import Notices
from app.panel import Panel
from app.panel.style import EMPTY
from app.parameters import Value
from app.picture import Picture
from app.processes.droplets import Spring, read_springs, write_springs
from app.scene import GROUPS, Scene
from app.simulation import SimulationThread
from app.snapshot import Snapshot
from app.survey import wanted_by

log = logging.getLogger(__name__)

WORLD_SECTION = "world"  # a change to its groups makes the world anew
VIEW_SECTION = "view"  # its groups concern the picture alone
RESTART_DELAY = 0.3  # seconds after the last change of what the terrain is made from
CLICK_REACH = 4.0  # logical units: a press that moves farther is a drag
DROPS_OF_A_SPRING = 100.0  # in each cycle, where one is placed by a click
REACH_OF_A_SPRING = 0.02  # parts of the map: a click that is nearer to a spring ends it
STILL_FRAMES = 4  # drawn after the last change, in which ImGui comes to rest


class Host(Protocol):
    """What the application wants from the window that it is in."""

    def close(self) -> None: ...

    def toggle_full_screen(self) -> None: ...

    @property
    def full_screen(self) -> bool: ...

    def capture_pointer(self, captured: bool) -> None: ...


class Application:
    """A landscape in a window: the simulation that runs, the picture that shows it, camera and panel.

    A host calls `frame` between ImGui's begin and end of a frame.
    """

    def __init__(
        self, context: moderngl.Context, simulation: SimulationThread, host: Host, *, content_scale: float = 1.0
    ) -> None:
        self.simulation = simulation
        self.host = host
        self.scene = self.opened = simulation.scene  # as it is now, and as it was opened
        self.snapshot: Snapshot | None = None
        self.camera = CameraControl()
        self.notices = Notices()
        self.frame_times = FrameTimes()
        self.ledger_history = LedgerHistory()
        self.content_scale = content_scale
        self.interface_size = 1.0  # the person's own factor on the content scale
        self.commands = Commands(self)
        self.panel = Panel(self)
        self.picture = Picture(context)
        self.canvas = Canvas(context)
        self._size = (1.0, 1.0)  # in logical units
        self._pixels_per_unit = 1.0
        self._time = 0.0
        self._restart_due: float | None = None
        self._made_from = self.scene  # what the world on the screen began as
        self._asked_for: Scene | None = self.scene  # what a world that is not here yet begins as
        self._opening = True  # the next world is seen from the scene's opening view
        self.asked_place: tuple[int, int] | None = None  # row and column whose water somebody follows
        self._filling = 1  # grows when the filling begins anew
        self._pressed_at: tuple[float, float] | None = None  # where a press began that may become a click on the land
        self._pressed_with_control = False
        self._on_minimap = False  # a drag that began on the minimap goes on
        self._drawn: object = None
        self._still = 0

    def frame(self, events: Sequence[Event], dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """All hooks in their order: a frame in a window of this size in logical units."""
        self.guarded(lambda: self.update(dt, width, height, pixels_per_unit))
        for event in events:
            self.guarded(partial(self.handle, event))
        self.guarded(self.draw)
        self.guarded(self.gui)

    # The hooks.

    def update(self, dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """Let `dt` seconds pass: take what the simulation made, and move on. The size is in logical units."""
        self._time += dt
        height -= self.panel.height_below_scene
        self._size = (width, height)
        self._pixels_per_unit = pixels_per_unit
        self.camera.width, self.camera.height = width, height
        self.camera.free = self.panel.free_of_scene
        self.picture.content_scale = self.interface_scale * pixels_per_unit
        self.simulation.frame_began()
        wanted = wanted_by(self.scene.view.overlay, self.asked_place, self._filling)
        self.simulation.want(replace(wanted, rivers=wanted.rivers or self.panel.rivers_shown))
        self._take_snapshot()
        self._hear_simulation()
        self._restart_when_due()
        self.camera.update(dt)
        self.host.capture_pointer(self.camera.flying)

    def handle(self, event: Event) -> None:
        """Do what a person asks for with mouse or keyboard. The panel goes first, but a drag goes on where it began."""
        self._still = 0
        io = imgui.get_io()
        match event:
            case KeyPressed() if not io.want_text_input and not self._keeps_from_scene(event):
                self._press_key(event)
            case KeyReleased():
                self.camera.let_go(event.place)
            case FocusLost():
                self.camera.let_go_of_all()
                self._on_minimap = False
                self._pressed_at = None
            case ButtonPressed() if not io.want_capture_mouse or self.camera.flying:
                if event.button is Button.LEFT and self._look_at_minimap(event.x, event.y):
                    self._on_minimap = True
                else:
                    self.camera.press(event)
                    is_click = event.button is Button.LEFT and not event.shift and not self.camera.flying
                    self._pressed_at = (event.x, event.y) if is_click else None
                    self._pressed_with_control = event.control
            case ButtonReleased():
                if event.button is Button.LEFT and self._pressed_at is not None:
                    act = self.toggle_spring if self._pressed_with_control else self.ask_about
                    act(self._cell_under(*self._pressed_at))
                    self._pressed_at = None
                self._on_minimap = self._on_minimap and event.button is not Button.LEFT
                self.camera.release(event.button)
            case PointerMoved():
                if self._pressed_at is not None and math.dist(self._pressed_at, (event.x, event.y)) > CLICK_REACH:
                    self._pressed_at = None
                if self._on_minimap:
                    self._look_at_minimap(event.x, event.y, inside_only=False)
                else:
                    self.camera.move(event)
            case Scrolled() if not io.want_capture_mouse:
                self.camera.scroll(event.amount, event.x, event.y)
            case FilesDropped() if event.paths:
                self.commands.open(event.paths[0])

    def _keeps_from_scene(self, event: KeyPressed) -> bool:
        """Whether a dialog is open and the key may belong to a file's name: N would make another world meanwhile."""
        return self.panel.is_asking and event.chord != "Esc" and not event.chord.startswith("Ctrl+")

    def draw(self) -> None:
        """Draw the picture, if anything that it shows has changed."""
        width, height = self.pixel_size
        if self.snapshot is None or width < 1 or height < 1:
            return
        camera = self.camera.camera()
        shown = (
            self.snapshot.world,
            self.snapshot.cycle,
            self.snapshot.survey and self.snapshot.survey.versions,
            camera,
            self.scene.view,
            width,
            height,
            self.picture.content_scale,
        )
        if shown == self._drawn and self.picture.frame_settled:
            self._still += 1
            return
        target = self.canvas.framebuffer(width, height)
        self.picture.draw(target, camera, self.scene, time=self._time, minimap=self.scene.view.minimap)
        self._drawn = shown
        self._still = 0

    def gui(self) -> None:
        """Lay out the panel, with the picture behind it."""
        background = imgui.get_background_draw_list()
        background.add_rect_filled((0.0, 0.0), imgui.get_io().display_size, imgui.get_color_u32(imgui.ImVec4(*EMPTY)))
        if self.canvas.texture is not None and self.snapshot is not None:
            texture = imgui.ImTextureRef(self.canvas.texture.glo)
            background.add_image(
                texture, (0.0, 0.0), self._size, (0.0, 1.0), (1.0, 0.0)
            )  # its first row is at the bottom
        with _closing_what_is_open():
            self.panel.gui()
        if imgui.is_any_item_active():
            self._still = 0

    def guarded(self, hook: Callable[[], None]) -> None:
        """Call a hook. What goes wrong in it is shown, and neither ends the program nor loses the simulation."""
        try:
            hook()
        except UserError as error:
            self.notices.complain(str(error))
        except Exception as error:
            if self.notices.complain(f"{type(error).__name__}: {error}"):
                log.exception("a part of a frame failed")

    # What panel and commands read and change.

    @property
    def pixel_size(self) -> tuple[int, int]:
        """The picture's."""
        width, height = self._size
        return round(width * self._pixels_per_unit), round(height * self._pixels_per_unit)

    @property
    def interface_scale(self) -> float:
        return self.content_scale * self.interface_size

    @property
    def name(self) -> str:
        """What the land is called, in the title and in names of files."""
        return Path(self.scene.saved_world or self.scene.world.source).stem or "land"

    @property
    def title(self) -> str:
        status = self.simulation.status
        return f"Thalweg – {self.name} – cycle {status.cycle} – {status.state}"

    @property
    def at_rest(self) -> bool:
        """Whether the next frame would look like this one unless something happens."""
        return (
            self.simulation.status.state in ("paused", "failed")
            and self.simulation.status.run is None
            and self._still > STILL_FRAMES
            and not self.camera.moving
            and not self.camera.flying
            and not any(not notice.is_error for notice in self.notices.shown())
            and self._restart_due is None
            and not self._waits_for_survey
        )

    @property
    def _waits_for_survey(self) -> bool:
        """Whether something about rivers is asked for that the picture does not show yet, or that moves on."""
        survey = self.snapshot.survey if self.snapshot else None
        wants_course = self.asked_place is not None and (survey is None or survey.course is None)
        return wants_course or (self.scene.view.overlay == "filling" and not (survey and survey.filled))

    def change(self, path: str, value: Value) -> None:
        """Change one parameter, wherever it takes effect. Raises `UserError` where the value does not fit."""
        before, self.scene = self.scene, self.scene.with_value(path, value)
        log.debug("%s = %r", path, value)
        section = GROUPS[path.partition(".")[0]].section
        if section == WORLD_SECTION:
            # A little later, so that a slider can be dragged; and from its source, where it was a saved world.
            self.scene = msgspec.structs.replace(self.scene, saved_world="")
            self._restart_due = time.monotonic() + RESTART_DELAY
        elif section != VIEW_SECTION:
            self.simulation.change(path, value)
        if self.scene.camera != before.camera:
            self.camera.open(self.scene.camera, at_once=False)
        if self.scene.view.exaggeration != before.view.exaggeration:
            self._see_ground()
        self._still = 0

    def restart(self) -> None:
        """Make the world of the scene anew."""
        self._restart_due = None
        self._asked_for = self.scene
        self.simulation.restart(self.scene)

    def open(self, scene: Scene) -> None:
        """Leave this scene for another one."""
        self.scene = self.opened = scene
        self._opening = True
        self.restart()

    def ask_about(self, place: tuple[int, int] | None, *, look_there: bool = False) -> None:
        """Follow the water of a place (row, column) to the ocean, or of none."""
        self.asked_place = place
        self._still = 0
        if look_there and place is not None and self.snapshot is not None:
            row, column = place
            self.camera.look_at((column + 0.5) * self.snapshot.cell_size, (row + 0.5) * self.snapshot.cell_size)

    def toggle_spring(self, place: tuple[int, int] | None) -> None:
        """Let a spring well up at a place (row, column), or end the one that is near it."""
        if place is None or self.snapshot is None:
            return
        rows, columns = self.snapshot.shape
        south, east = (place[0] + 0.5) / rows, (place[1] + 0.5) / columns
        springs = read_springs(self.scene.droplets.springs)
        kept = tuple(
            spring for spring in springs if math.hypot(spring.south - south, spring.east - east) > REACH_OF_A_SPRING
        )
        if len(kept) == len(springs):
            kept = (*springs, Spring(south, east, DROPS_OF_A_SPRING))
        self.change("droplets.springs", write_springs(kept))
        self.notices.say("a spring wells up" if len(kept) > len(springs) else "the spring has ended")

    def fill_again(self) -> None:
        """Let the fronts of the filling begin anew."""
        self._filling += 1
        self._still = 0

    def redraw(self) -> None:
        """Draw the picture again, though nothing that it shows has changed."""
        self._drawn = None

    def close(self) -> None:
        """Give back what the graphics hold. The simulation is stopped by who started it."""
        self.panel.release()
        self.picture.release()
        self.canvas.release()

    # How it is done.

    def _take_snapshot(self) -> None:
        snapshot = self.simulation.take()
        if snapshot is None:
            return
        is_other_world = self.snapshot is None or snapshot.world != self.snapshot.world
        is_other_shape = self.snapshot is None or snapshot.shape != self.snapshot.shape
        if is_other_world:
            self.asked_place = None
        self.snapshot = snapshot
        self.picture.show(snapshot)
        self.ledger_history.add(snapshot)
        self._see_ground()
        if is_other_world and self._asked_for is not None:
            self._made_from, self._asked_for = self._asked_for, None
        if is_other_world and (self._opening or is_other_shape):
            self._opening = False
            self.camera.open(self.scene.camera)

    def _cell_under(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of the land under the pointer."""
        hit = self.camera.ground_under(x, y)
        if hit is None or self.snapshot is None:
            return None
        rows, columns = self.snapshot.shape
        row, column = int(hit.z // self.snapshot.cell_size), int(hit.x // self.snapshot.cell_size)
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def _see_ground(self) -> None:
        if self.snapshot is not None:
            self.camera.see(Ground(self.snapshot, self.scene.view.exaggeration))

    def _hear_simulation(self) -> None:
        for text in self.simulation.notices():
            if text.startswith("saved "):
                self.notices.say(text)
                continue
            if text != self.simulation.status.error:  # which is told in a box of its own
                self.notices.complain(text)
            if self._asked_for is not None and self.snapshot is not None:
                # No world could be made, so the one before goes on: what it was made from is the truth again.
                self._asked_for = None
                self.scene = _made_as(self.scene, self._made_from)

    def _restart_when_due(self) -> None:
        if self._restart_due is not None and time.monotonic() > self._restart_due and not imgui.is_any_item_active():
            self.restart()

    def _press_key(self, event: KeyPressed) -> None:
        if self.camera.flying:
            self.camera.hold(event.place)
            if event.place in FLIGHT_KEYS:
                return
        action = BY_KEY.get(event.chord)
        if action is not None:
            self.commands.run(action)

    def minimap_place(self) -> tuple[float, float, float]:
        """Where something may stand on the minimap: left, bottom and width, in logical units."""
        left, top, width, height = self._minimap_rectangle()
        if not self.scene.view.minimap:
            return left, top + height, width
        return left, top - 0.5 * left, width

    def _minimap_rectangle(self) -> tuple[float, float, float, float]:
        """Left, top, width and height in logical units."""
        left, top, width, height = self.picture.minimap_rectangle(*self.pixel_size)
        scale = self._pixels_per_unit
        return left / scale, top / scale, width / scale, height / scale

    def _look_at_minimap(self, x: float, y: float, *, inside_only: bool = True) -> bool:
        """Look at the place of the map that the pointer is on, and tell whether it is on the minimap."""
        if not self.scene.view.minimap or self.snapshot is None:
            return False
        left, top, width, height = self._minimap_rectangle()
        across, down = (x - left) / max(width, 1.0), (y - top) / max(height, 1.0)
        if inside_only and not (0.0 <= across <= 1.0 and 0.0 <= down <= 1.0):
            return False
        rows, columns = self.snapshot.shape
        self.camera.look_at(across * columns * self.snapshot.cell_size, down * rows * self.snapshot.cell_size)
        return True


def _made_as(scene: Scene, other: Scene) -> Scene:
    """`scene`, with its world made as that of another one."""
    groups = {name: getattr(other, name) for name, group in GROUPS.items() if group.section == WORLD_SECTION}
    return msgspec.structs.replace(scene, saved_world=other.saved_world, **groups)


@contextlib.contextmanager
def _closing_what_is_open() -> Iterator[None]:
    """Close the windows and groups that an error leaves open in ImGui, so that the frame can be ended."""
    state = imgui.internal.ErrorRecoveryState()
    imgui.internal.error_recovery_store_state(state)
    try:
        yield
    except Exception:
        io = imgui.get_io()
        asserts, tooltips = io.config_error_recovery_enable_assert, io.config_error_recovery_enable_tooltip
        io.config_error_recovery_enable_assert = io.config_error_recovery_enable_tooltip = False
        imgui.internal.error_recovery_try_to_recover_state(state)
        io.config_error_recovery_enable_assert, io.config_error_recovery_enable_tooltip = asserts, tooltips
        raise

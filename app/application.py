"""The application: four hooks that a loop calls, and what they work on.

It knows nothing of the window that it is in: the program hosts it in `app.loop`, tests host it elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import moderngl
import msgspec
import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.actions import BY_KEY
from app.camera_control import FLIGHT_KEYS, CameraControl
from app.commands import Commands
from app.comparison import COMPARED_SECTION, differences, with_processes_of
from app.errors import UserError, explained
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
from app.history import FrameTimes
from app.notices import Notices
from app.overlays import OVERLAYS
from app.pace import Pace
from app.panel import Panel
from app.panel.style import EMPTY
from app.parameters import Value
from app.passes.quality import KnownLevels
from app.processes.droplets import Spring, read_springs, write_springs
from app.scene import GROUPS, WORLD_SECTION, Scene
from app.sides import Side, Sides
from app.simulation import SimulationThread
from app.snapshot import Snapshot
from app.survey import wanted_by

log = logging.getLogger(__name__)

Edited = Literal["A", "B", "both"]
EDITED: dict[Edited, tuple[int, ...]] = {"A": (0,), "B": (1,), "both": (0, 1)}

DIVIDER_RANGE = (0.1, 0.9)  # of what the panel leaves of the width

VIEW_SECTION = "view"  # its groups concern the picture alone
RESTART_DELAY = 0.3  # seconds after the last change of what the terrain is made from
CLICK_REACH = 4.0  # logical units: a press that moves farther is a drag
DROPS_OF_A_SPRING = 100.0  # in each cycle, where one is placed by a click
REACH_OF_A_SPRING = 0.02  # parts of the map: a click that is nearer to a spring ends it
SCREENS_PER_SECOND = 60  # the frames that a pace in cycles for each frame is meant for
STILL_FRAMES = 4  # drawn after the last change, in which ImGui comes to rest


class Host(Protocol):
    """What the application wants from the window that it is in."""

    def close(self) -> None: ...

    def toggle_full_screen(self) -> None: ...

    @property
    def full_screen(self) -> bool: ...

    def capture_pointer(self, captured: bool) -> None: ...

    def waiting_events(self) -> Sequence[Event]:
        """What has happened in this moment and was not handed over yet."""
        ...

    def events(self) -> Sequence[Event]:
        """The same, handed over."""
        ...


@dataclass(frozen=True)
class Beginning:
    """What the worlds were asked to begin as, and the scenes that were opened for it."""

    scenes: tuple[Scene, ...]
    opened: tuple[Scene, ...]


class Application:
    """A landscape in a window, or two side by side: the simulation that runs, the pictures that show it, camera, panel.

    Each world has a scene of its own, and a place in the order of `scenes` and of what `sides` shows; where there are
    two, `edited` tells which of them the panel changes. A host calls `frame` between ImGui's begin and end of a frame.
    """

    def __init__(
        self,
        context: moderngl.Context,
        simulation: SimulationThread,
        host: Host,
        *,
        content_scale: float = 1.0,
        known_levels: KnownLevels | None = None,
    ) -> None:
        self.simulation = simulation
        self.host = host
        self.scenes = simulation.scenes  # as they are now
        self._opened = simulation.scenes  # as they were opened
        self.edited: Edited = "A" if len(self.scenes) == 1 else "B"
        self.divider = 0.5  # where two pictures meet, as a part of what the panel leaves of the width
        self.camera = CameraControl()
        self.notices = Notices()
        self.frame_times = FrameTimes()
        self.content_scale = content_scale
        self.interface_size = 1.0  # the person's own factor on the content scale
        self.commands = Commands(self)
        self.panel = Panel(self)
        self.sides = Sides(context, known_levels=known_levels)
        self._size = (1.0, 1.0)  # in logical units
        self._pixels_per_unit = 1.0
        self._time = 0.0
        self._restart_due: float | None = None
        self._made_from = Beginning(self.scenes, self._opened)  # the worlds on the screen
        self._asked_for: Beginning | None = self._made_from  # worlds that are not here yet
        self._opening = True  # the next world is seen from the scene's opening view
        self.relief_at_start = 0.0  # metres from the lowest to the highest point, when the world was seen first
        self._pointed = 0  # the side that mouse and wheel are used on
        self._on_minimap: Side | None = None  # a drag that began on its minimap goes on
        self.asked_place: tuple[int, int] | None = None  # row and column whose water somebody follows
        self._filling = 1  # grows when the filling begins anew
        self._pressed_at: tuple[float, float] | None = None  # where a press began that may become a click on the land
        self._pressed_with_control = False
        self._still = 0
        self._pace = Pace()
        self._panel_went_first = False  # in the last frame, in which no picture was drawn

    def frame(self, events: Sequence[Event], dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """All hooks in their order: a frame in a window of this size in logical units."""
        self.guarded(lambda: self.update(dt, width, height, pixels_per_unit))
        for event in events:
            self.guarded(partial(self.handle, event))
        # A key shows in the panel first; the picture, which takes its time, goes on in the next frame.
        is_for_panel = any(isinstance(event, KeyPressed) for event in events) and self.side.picture.software
        self._panel_went_first = is_for_panel and not self._panel_went_first
        if not self._panel_went_first:
            self.guarded(self.draw)
        if self.sides.drawing:  # it stopped for what happened meanwhile, which the panel shall show now
            for event in self.host.events():
                self.guarded(partial(self.handle, event))
        self.guarded(self.gui)

    # The hooks.

    def update(self, dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """Let `dt` seconds pass: take what the simulation made, and move on. The size is in logical units."""
        self._time += dt
        height -= self.panel.height_below_scene
        self._size = (width, height)
        self._pixels_per_unit = pixels_per_unit
        self.sides.set_content_scale(self.interface_scale * pixels_per_unit)
        self._lay_out()
        self.simulation.frame_began(max(1, round(dt * SCREENS_PER_SECOND)))  # a slow picture does not slow it down
        wanted = wanted_by(self.scene.view.overlay, self.asked_place, self._filling)
        self.simulation.want(replace(wanted, rivers=wanted.rivers or self.panel.rivers_shown))
        self.simulation.show_overlay(self.scene.view.overlay)
        if not self.sides.drawing:  # a picture shows one state of the world
            self._take_snapshots()
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
                self._on_minimap = None
                self._pressed_at = None
            case ButtonPressed() if not io.want_capture_mouse or self.camera.flying:
                side = self._point_at(event.x)
                if event.button is Button.LEFT and self._is_on_minimap(side, event.x, event.y):
                    self._on_minimap = side
                    self._look_at_minimap(side, event.x, event.y)
                else:
                    self.camera.press(replace(event, x=event.x - self._left(side)))
                    is_click = event.button is Button.LEFT and not event.shift and not self.camera.flying
                    self._pressed_at = (event.x, event.y) if is_click else None
                    self._pressed_with_control = event.control
            case ButtonReleased():
                if event.button is Button.LEFT:
                    if self._pressed_at is not None:
                        act = self.toggle_spring if self._pressed_with_control else self.ask_about
                        act(self._cell_under(*self._pressed_at))
                    self._pressed_at = self._on_minimap = None
                self.camera.release(event.button)
            case PointerMoved():
                if self._pressed_at is not None and math.dist(self._pressed_at, (event.x, event.y)) > CLICK_REACH:
                    self._pressed_at = None
                if self._on_minimap is not None:
                    self._look_at_minimap(self._on_minimap, event.x, event.y)
                else:
                    self.camera.move(replace(event, x=event.x - self._left(self._pointed_side)))
            case Scrolled() if not io.want_capture_mouse:
                side = self._point_at(event.x)
                self.camera.scroll(event.amount, event.x - self._left(side), event.y)
            case FilesDropped() if event.paths:
                self.commands.open(event.paths[0])

    def _keeps_from_scene(self, event: KeyPressed) -> bool:
        """Whether a key belongs to the panel.

        Esc does while a slider is held, all others where a dialog is open and they may belong to a file's name: N
        would make another world meanwhile.
        """
        if event.chord == "Esc" and imgui.is_any_item_active():
            return True
        return self.panel.is_asking and event.chord != "Esc" and not event.chord.startswith("Ctrl+")

    def draw(self) -> None:
        """Draw the pictures, if they are due and anything that they show has changed.

        Where drawing takes long, it stops for a person who does something else, and goes on in the next frame.
        """
        if self.snapshot is None or min(self.pixel_size) < 1:
            return
        if not self.sides.drawing:
            if self._pace.rest(shared=self._shares_cores) > 0.0:
                return
            if not self._begin_picture():
                self._still += 1
                return
            self._pace.begin_picture()
        self._still = 0
        self._pace.begin_work()
        self.sides.go_on(lambda: self._pace.slice_is_over and self._somebody_waits)
        self._pace.end_work()

    def picture(self) -> NDArray[np.uint8] | None:
        """The whole picture as it is now, `[row, column, (red, green, blue)]`, the uppermost row first."""
        if self.snapshot is not None and min(self.pixel_size) >= 1:
            self._begin_picture()
            self.sides.go_on()
        return self.sides.pixels()

    def _begin_picture(self) -> bool:
        """Begin to draw, if anything has changed that is seen, and tell whether it has."""
        # Until worlds that were asked for are here, there may be another number of them.
        count = len(self.sides.shown)
        scenes = self.scenes if len(self.scenes) == count else (self.scene,) * count
        minimap = self.scene.view.minimap
        return self.sides.begin(self.camera.camera(), scenes, time=self._time, minimap=minimap)

    @property
    def _shares_cores(self) -> bool:
        """Whether pictures take time from the simulation, and nobody moves what is seen."""
        runs = self.simulation.status.state in ("running", "compiling")
        moves = self.camera.dragging or self.camera.moving or self.camera.flying
        return runs and not moves and self.side.picture.software

    @property
    def _somebody_waits(self) -> bool:
        """Whether a person does something that the panel, or the next picture, should show soon."""
        waiting = self.host.waiting_events()
        if imgui.is_any_item_active() or (waiting and imgui.get_io().want_capture_mouse):
            return True
        return any(not isinstance(event, PointerMoved) for event in waiting)

    def gui(self) -> None:
        """Lay out the panel."""
        with _closing_what_is_open():
            self.panel.gui()
        if imgui.is_any_item_active():
            self._still = 0

    def lay_pictures(self, screen: moderngl.Framebuffer, height: int) -> None:
        """Lay the pictures behind the panel, onto a screen so many pixels high.

        They are copied: to draw them as ImGui draws an image would cost a software rasteriser twice as much.
        """
        screen.use()
        screen.clear(*EMPTY)
        for side in self.sides.shown:
            area = side.seen_area
            side.canvas.lay_onto(screen, area.left, height - area.height)

    def guarded(self, hook: Callable[[], None]) -> None:
        """Call a hook. What goes wrong in it is shown, and neither ends the program nor loses the simulation."""
        try:
            hook()
        except Exception as error:
            is_new = self.notices.complain(explained(error))
            if is_new and not isinstance(error, UserError):
                log.exception("a part of a frame failed")

    # What panel and commands read and change.

    @property
    def comparing(self) -> bool:
        """Whether there are two worlds, or will be as soon as they are made."""
        return len(self.scenes) > 1

    @property
    def edited_worlds(self) -> tuple[int, ...]:
        """The places of the worlds that the panel changes; it shows the first of them."""
        return EDITED[self.edited] if self.comparing else (0,)

    @property
    def scene(self) -> Scene:
        """The scene that the panel shows."""
        return self.scenes[self.edited_worlds[0]]

    @property
    def seen_scene(self) -> Scene:
        """The same scene, opening with what is seen now."""
        return msgspec.structs.replace(self.scene, camera=self.camera.parameters())

    @property
    def opened(self) -> Scene:
        """The same scene as it was opened."""
        return self._opened[self.edited_worlds[0]]

    @property
    def side(self) -> Side:
        """The side whose numbers the panel shows."""
        return self.sides.shown[min(self.edited_worlds[0], len(self.sides.shown) - 1)]

    @property
    def snapshot(self) -> Snapshot | None:
        return self.side.snapshot

    @property
    def pixel_size(self) -> tuple[int, int]:
        """Of the whole picture."""
        width, height = self._size
        return round(width * self._pixels_per_unit), round(height * self._pixels_per_unit)

    @property
    def interface_scale(self) -> float:
        return self.content_scale * self.interface_size

    @property
    def name(self) -> str:
        """What the land is called, in the title and in names of files: as the preset or the file that it is from."""
        scene = self.scenes[0]
        return scene.name or Path(scene.world.source).stem or "land"

    @property
    def title(self) -> str:
        status = self.simulation.status
        return f"Thalweg – {self.name} – cycle {status.cycle} – {status.state}"

    @property
    def rest(self) -> float:
        """For how many seconds the next frame would look like this one, unless something happens."""
        if self._at_rest:
            return self.notices.rest
        if self.sides.drawing or self.snapshot is None or imgui.is_any_item_active():
            return 0.0
        return self._pace.rest(shared=self._shares_cores)

    @property
    def _at_rest(self) -> bool:
        return (
            self.simulation.status.state in ("paused", "failed", "compiling")
            and self.simulation.status.run is None
            and self._still > STILL_FRAMES
            and not self.sides.drawing
            and not self.camera.moving
            and not self.camera.flying
            and self._restart_due is None
            and not self._waits_for_survey
        )

    @property
    def _waits_for_survey(self) -> bool:
        """Whether something about rivers is asked for that the picture does not show yet, or that moves on."""
        surveys = [snapshot.survey for snapshot in self.sides.snapshots]
        wants_course = self.asked_place is not None and any(not (survey and survey.course) for survey in surveys)
        shows_filling = OVERLAYS[self.scene.view.overlay].survey == "filling"
        is_filling = shows_filling and any(not (survey and survey.filled) for survey in surveys)
        return wants_course or is_filling

    def change(self, path: str, value: Value, *, in_all: bool = False) -> None:
        """Change one parameter, wherever it takes effect; that of a process only in what is edited, or in all worlds.

        Raises `UserError` where the value does not fit.
        """
        before = self.scene
        log.debug("%s = %r", path, value)
        section = GROUPS[path.partition(".")[0]].section
        everywhere = tuple(range(len(self.scenes)))
        worlds = self.edited_worlds if section == COMPARED_SECTION and not in_all else everywhere
        self.scenes = tuple(
            scene.with_value(path, value) if place in worlds else scene for place, scene in enumerate(self.scenes)
        )
        if section == WORLD_SECTION:
            # A little later, so that a slider can be dragged; and from its source, where it was a saved world.
            self.scenes = tuple(msgspec.structs.replace(scene, saved_world="") for scene in self.scenes)
            self._restart_due = time.monotonic() + RESTART_DELAY
        elif section != VIEW_SECTION:
            self.simulation.change({path: value}, None if worlds == everywhere else worlds[0])
        self._follow_view(before)

    def change_back(self, path: str, values: Sequence[Value]) -> None:
        """Give a parameter the value in each world that it had there before. Not one that makes the world anew."""
        before = self.scene
        self.scenes = tuple(scene.with_value(path, value) for scene, value in zip(self.scenes, values, strict=True))
        if GROUPS[path.partition(".")[0]].section != VIEW_SECTION:
            for world, value in enumerate(values):
                self.simulation.change({path: value}, world)
        self._follow_view(before)

    def take_processes(self, other: Scene) -> None:
        """Give the processes of another scene to what is edited, which goes on with them."""
        scenes = list(self.scenes)
        for world in self.edited_worlds:
            values = differences(scenes[world], other)
            scenes[world] = with_processes_of(scenes[world], other)
            if values:
                self.simulation.change(values, world)
        self.scenes = tuple(scenes)
        self._still = 0

    def restart(self) -> None:
        """Make the worlds of the scenes anew."""
        self._restart_due = None
        self._asked_for = Beginning(self.scenes, self._opened)
        self.simulation.restart(*self.scenes)

    def open(self, scene: Scene) -> None:
        """Leave what is shown for another scene."""
        self.scenes = self._opened = (scene,)
        self.edited = "A"
        self._opening = True
        self.restart()

    def compare(self) -> None:
        """Put a second world beside the first, which begins anew with it."""
        self.scenes, self._opened = self.scenes * 2, self._opened * 2
        self.edited = "B"
        self.divider = 0.5
        self.restart()

    def end_comparison(self) -> None:
        """Go on with one of two worlds alone: the one whose parameters the panel shows."""
        kept = slice(self.edited_worlds[0], self.edited_worlds[0] + 1)
        self.scenes, self._opened = self.scenes[kept], self._opened[kept]
        self._made_from = Beginning(self._made_from.scenes[kept] or self.scenes, self._opened)
        if self._asked_for is not None:
            self._asked_for = Beginning(self._asked_for.scenes[kept] or self.scenes, self._opened)
        self.edited = "A"
        self.simulation.keep(kept.start)

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
        self.sides.redraw()

    def close(self) -> None:
        """Give back what the graphics hold. The simulation is stopped by who started it."""
        self.panel.release()
        self.sides.release()

    # How it is done.

    def _lay_out(self) -> None:
        """Give the pictures their places, and the camera the one that it is used on."""
        free = self.panel.free_of_scene
        self.sides.lay_out(*self.pixel_size, free=free, divider=self.divider)
        area, scale = self._pointed_side.area, self._pixels_per_unit
        self.camera.width, self.camera.height, self.camera.free = area.width / scale, area.height / scale, area.free
        # Wherever the divider is: a view must not depend on it.
        self.camera.view_aspect = self._view_aspect(len(self.sides.shown))

    def _view_aspect(self, sides: int) -> float:
        """Width to height of an equal share of what the panel leaves."""
        left, right = self.panel.free_of_scene
        return (right - left) * self._size[0] / sides / max(self._size[1], 1.0)

    def _take_snapshots(self) -> None:
        snapshots = self.simulation.take()
        if snapshots:
            worlds = {shown.world for shown in self.sides.snapshots}
            are_others = worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            if are_others:
                self.asked_place = None
                self.relief_at_start = snapshots[0].highest - snapshots[0].lowest
                if self._asked_for is not None:
                    self._made_from, self._asked_for = self._asked_for, None
            self._show(snapshots, are_others=are_others)  # last, for it may fail; the worlds are there in any case
        if self._opening and self._asked_for is None and self.snapshot is not None:
            self.camera.open(self.scene.camera)
            self._opening = not self.panel.is_laid_out  # until then it is not known what is free of the scene

    def _show(self, snapshots: Sequence[Snapshot], *, are_others: bool) -> None:
        """Show snapshots, of other worlds or not, in another number of pictures where that has changed."""
        count = len(self.sides.shown)
        self.sides.show(snapshots)
        if len(self.sides.shown) != count:
            self._pointed = 0
            self._on_minimap = None
            self._lay_out()
            self.camera.keep_width_of_view(self._view_aspect(count))
        self._see_ground(of_others=are_others)

    def _cell_under(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column of the land under the pointer."""
        hit = self.camera.ground_under(x - self._left(self._pointed_side), y)
        if hit is None or self.snapshot is None:
            return None
        rows, columns = self.snapshot.shape
        row, column = int(hit.z // self.snapshot.cell_size), int(hit.x // self.snapshot.cell_size)
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def _follow_view(self, before: Scene) -> None:
        """See the land as the scene says now, which was another one before."""
        if self.scene.camera != before.camera:
            self.camera.open(self.scene.camera, at_once=False)
        if self.scene.view.exaggeration != before.view.exaggeration:
            self._see_ground()
        self._still = 0

    def _see_ground(self, *, of_others: bool = False) -> None:
        if self.sides.snapshots:
            exaggeration = self.scene.view.exaggeration
            grounds = [Ground(snapshot, exaggeration) for snapshot in self.sides.snapshots]
            see = self.camera.see_another if of_others and not self._opening else self.camera.see
            see(grounds.pop(self._pointed), *grounds)

    def _hear_simulation(self) -> None:
        for path, why in self.simulation.failed_saves():
            self.commands.save_failed(path, why)
        for text in self.simulation.notices():
            if text.startswith("saved "):
                self.notices.say(text)
                continue
            if text != self.simulation.status.error:  # which is told in a box of its own
                self.notices.complain(text)
        for scenes in self.simulation.failed_restarts():
            if self._asked_for is not None and self._asked_for.scenes == scenes and self.snapshot is not None:
                # Those before go on, so what they were made from is the truth again.
                self._asked_for = None
                self._return_to(self._made_from)

    def _return_to(self, beginning: Beginning) -> None:
        shown = self.scene
        self._opening = False
        self._opened = beginning.opened
        self.scenes = tuple(
            _made_as(msgspec.structs.replace(scene, view=shown.view, camera=shown.camera), made)
            for scene, made in zip(self.simulation.scenes, beginning.scenes, strict=False)
        )
        self.edited = "B" if self.comparing else "A"

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

    # Sides and their minimaps.

    @property
    def _pointed_side(self) -> Side:
        return self.sides.shown[self._pointed]

    def _left(self, side: Side) -> float:
        """Where the picture of a side begins, in logical units."""
        return side.area.left / self._pixels_per_unit

    def _point_at(self, x: float) -> Side:
        """Let mouse and wheel be used on the side that is under the pointer, unless they go on in another one."""
        if not self.camera.dragging and not self.camera.flying:
            pointed = sum(x >= self._left(side) for side in self.sides.shown[1:])
            if pointed != self._pointed:
                self._pointed = pointed
                self._lay_out()
                self._see_ground()
        return self._pointed_side

    @property
    def divider_place(self) -> float:
        """Where two pictures meet, in logical units from the left."""
        return self._left(self.sides.shown[-1])

    def move_divider(self, x: float) -> None:
        """Let two pictures meet as near to a place as both can still be seen."""
        left, right = (part * self._size[0] for part in self.panel.free_of_scene)
        part = (x - left) / max(right - left, 1.0)
        self.divider = min(max(part, DIVIDER_RANGE[0]), DIVIDER_RANGE[1])

    def minimap_place(self) -> tuple[float, float, float]:
        """Where something may stand on the leftmost minimap: left, bottom and width, in logical units."""
        left, top, width, height = self._minimap_rectangle(self.sides.shown[0])
        if not self.scene.view.minimap:
            return left, top + height, width
        return left, top - 0.5 * left, width

    def _minimap_rectangle(self, side: Side) -> tuple[float, float, float, float]:
        """Left, top, width and height in logical units."""
        left, top, width, height = side.picture.minimap_rectangle(side.area.width, side.area.height)
        scale = self._pixels_per_unit
        return (side.area.left + left) / scale, top / scale, width / scale, height / scale

    def _is_on_minimap(self, side: Side, x: float, y: float) -> bool:
        left, top, width, height = self._minimap_rectangle(side)
        return self.scene.view.minimap and left <= x <= left + width and top <= y <= top + height

    def _look_at_minimap(self, side: Side, x: float, y: float) -> None:
        """Look at the place of the map that the pointer is on."""
        if side.snapshot is None:
            return
        left, top, width, height = self._minimap_rectangle(side)
        across, down = (x - left) / max(width, 1.0), (y - top) / max(height, 1.0)
        rows, columns = side.snapshot.shape
        self.camera.look_at(across * columns * side.snapshot.cell_size, down * rows * side.snapshot.cell_size)


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

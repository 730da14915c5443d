"""The application: four hooks that a loop calls, and what they work on.

It knows nothing of the window that it is in: the program hosts it in `app.window.loop`, tests host it elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import moderngl
import msgspec
import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray
from pyglm import glm

from app.engine.autosave import EndedSession
from app.engine.messages import (
    Arrived,
    Edited,
    FrameBegan,
    GoTo,
    Look,
    Moment,
    Opened,
    OpenFailed,
    PastFailed,
    Refused,
    Saved,
    SaveFailed,
    SessionFailed,
    Stopped,
    SurveyFailed,
    Watch,
)
from app.engine.survey import wanted_by
from app.engine.thread import SimulationThread
from app.files.library import Library
from app.model.curves import Key, write_curve
from app.model.errors import UserError, explained
from app.model.overlays import OVERLAYS
from app.model.parameters import Value
from app.model.snapshot import Snapshot
from app.model.view_parameters import CameraParameters
from app.picture.ground import Ground
from app.picture.history import FrameTimes
from app.picture.passes.quality import KnownLevels
from app.picture.sides import Side, Sides
from app.picture.style import EMPTY
from app.processes.droplets import Spring, read_springs, write_springs
from app.scene.captions import picture_labels
from app.scene.comparison import differences
from app.scene.edits import Change, Copy, Open
from app.scene.scene import KEYS, VIEW_SECTION, Scene, curve_of, section_of
from app.window.actions import BY_COMMAND, BY_KEY
from app.window.brushing import Brushing
from app.window.camera_control import FLIGHT_KEYS, CameraControl
from app.window.camera_follow import CameraFollow
from app.window.cameras import Cameras
from app.window.commands import Commands
from app.window.documents import Documents
from app.window.events import (
    ButtonPressed,
    ButtonReleased,
    Event,
    FilesDropped,
    FocusLost,
    GamepadPressed,
    KeyPressed,
    KeyReleased,
    PointerMoved,
    Scrolled,
    Steered,
)
from app.window.exporting import Exporting
from app.window.gallery import CardStock
from app.window.layout import Layout
from app.window.notices import Notices
from app.window.pace import Pace
from app.window.panel import Panel
from app.window.panel.memory import PanelMemory
from app.window.part_choice import PartChoice
from app.window.pointing import Pointing
from app.window.recording import Recording
from app.window.undo import LandStep, Undo, ValueStep

log = logging.getLogger(__name__)

DROPS_OF_A_SPRING = 100.0  # in each cycle, where one is placed by a click
REACH_OF_A_SPRING = 0.02  # relative to the map: a click nearer to a spring removes it
REACH_OF_A_RIVER = 3  # cells: a click so near to one means it
MORE_THAN_ASIDE = 4.0  # times the water of a place that a river near it has
SCREENS_PER_SECOND = 60  # the frames that a pace in cycles for each frame is meant for
SECONDS_BETWEEN_LOOKS = 0.25
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


class Application:
    """A landscape in a window, or two side by side: the simulation that runs, the pictures that show it, camera, panel.

    Each world has a place in the order of scenes in `documents` and of what `sides` shows. A host calls `frame` between
    ImGui's begin and end of a frame.
    """

    def __init__(
        self,
        context: moderngl.Context,
        simulation: SimulationThread,
        host: Host,
        *,
        content_scale: float = 1.0,
        known_levels: KnownLevels | None = None,
        panel_memory: PanelMemory | None = None,
        library: Library | None = None,
    ) -> None:
        self.simulation = simulation
        self.host = host
        self.documents = Documents(simulation)
        self.cameras = Cameras()
        self.notices = Notices()
        self.undo = Undo()
        self.frame_times = FrameTimes()
        self.content_scale = content_scale
        self.library = library or Library()
        self.stock = CardStock(context, self.library)
        self.interface_size = 1.0  # the person's own factor on the content scale
        self.commands = Commands(self)
        self.panel = Panel(self, panel_memory or PanelMemory())
        self.sides = Sides(context, known_levels=known_levels)
        self.layout = Layout(self.sides)
        self.brushing = Brushing(self)
        self.pointing = Pointing(self)
        self.camera_follow = CameraFollow(self)
        self.recording = Recording(self, context)
        self.exporting = Exporting(self)
        self.part_choice = PartChoice(self)
        self.last_session: EndedSession | None = None  # which can be gone on with
        self.offering = False  # whether the person has still to say so
        self.pixel_size = (0, 0)  # of the window
        self._time = 0.0
        self._looked: Look | None = None  # what the simulation knows of view and camera
        self._looked_at = 0.0
        self._opened_worlds: frozenset[int] = frozenset()  # numbers of worlds that were asked for, and not gone back to
        self._views: dict[int, CameraParameters] = {}  # of lands, by their first branch, when they were left
        self._going: GoTo | None = None  # to a moment of the time line, which is not reached yet
        self._opening = True  # the next world is seen from the scene's opening view
        self.relief_at_start = 0.0  # metres from the lowest to the highest point, when the world was seen first
        self.asked_place: tuple[int, int] | None = None  # row and column whose flow path is shown
        self._watched: Watch | None = None  # what the simulation knows of it
        self._filling = 1  # grows when the filling restarts
        self._seen_with_land: tuple[Open | None, ValueStep | None] = (None, None)  # what belongs to the next land
        self._still = 0
        self._pace = Pace()
        self._was_held = False  # something of the panel, in the last frame: at Esc ImGui lets go of it by itself
        self._panel_went_first = False  # in the last frame, in which no picture was drawn

    def frame(self, events: Sequence[Event], dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """All hooks in their order: a frame in a window of this size in logical units."""
        self.guarded(lambda: self.update(dt, width, height, pixels_per_unit))
        for event in events:
            self.guarded(partial(self.handle, event))
        self.guarded(lambda: self.brushing.update(dt))
        # A key shows in the panel first; the picture, which takes its time, goes on in the next frame.
        is_for_panel = any(isinstance(event, KeyPressed) for event in events) and self.side.picture.software
        self._panel_went_first = is_for_panel and not self._panel_went_first
        if not self._panel_went_first:
            self.guarded(self.draw)
        if self.sides.drawing:  # it stopped for what happened meanwhile, which the panel shall show now
            for event in self.host.events():
                self.guarded(partial(self.handle, event))
        self.guarded(self.recording.take_scene)
        self.guarded(self.gui)

    # The hooks.

    def update(self, dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """Let `dt` seconds pass: take what the simulation made, and move on. The size is in logical units."""
        self._time += dt
        self.pixel_size = round(width * pixels_per_unit), round(height * pixels_per_unit)
        self.layout.top = self.panel.height_above_scene
        self.layout.size = (width, height - self.panel.height_below_scene - self.layout.top)
        self.layout.pixels_per_unit = pixels_per_unit
        self.sides.set_content_scale(self.interface_scale * pixels_per_unit)
        self._lay_out()
        if self.documents.scenes[0].simulation.cycles_per_frame and not self.simulation.paused:
            self.simulation.ask(FrameBegan(max(1, round(dt * SCREENS_PER_SECOND))))  # a slow picture does not slow it
        self._watch()
        self._tell_of_view()
        # A picture shows one state of the world, and what is shown is read until others are.
        snapshots = () if self.sides.drawing else self.simulation.take(gives_back=False)
        self._hear_simulation()
        self.exporting.update()
        self.part_choice.update()
        self._take_snapshots(snapshots)
        self._follow_keys()
        if not imgui.is_any_item_active():
            self.documents.restart_when_due()
        self.camera_follow.update(dt)
        for camera in self.cameras.in_use(self._worlds_shown):
            camera.update(dt)
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
                self.brushing.cancel()
                self.camera.let_go_of_all()
                self.pointing.let_go()
            case ButtonPressed() if not io.want_capture_mouse or self.camera.flying:
                self.panel.keyboard.leave()
                self.pointing.press(event)
            case ButtonReleased():
                self.pointing.release(event)
            case PointerMoved():
                self.pointing.move(event)
            case Scrolled() if not io.want_capture_mouse:
                self.pointing.scroll(event)
            case FilesDropped() if event.paths:
                self.commands.open(event.paths[0])
            case Steered() if not self.panel.is_covered:
                self.camera.steer(event)
            case GamepadPressed(button):
                self.commands.press_gamepad(button)

    def _keeps_from_scene(self, event: KeyPressed) -> bool:
        """Whether a key belongs to the panel.

        Esc does while a slider is held, all others where a dialog is open and they may belong to a file's name: N
        would make another world meanwhile.
        """
        if self.panel.is_covered or (event.chord == "Esc" and (imgui.is_any_item_active() or self._was_held)):
            return True
        if self.panel.keyboard.takes(event.chord):
            return True
        return self.panel.is_asking and event.chord != "Esc" and not event.chord.startswith("Ctrl+")

    def draw(self) -> None:
        """Draw the pictures, if they are due and anything that they show has changed.

        Where drawing takes long, it stops for a person who does something else, and goes on in the next frame.
        """
        if self.snapshot is None or min(self.layout.pixel_size) < 1:
            return
        if self._is_covered:
            self._still += 1
            return
        if not self.sides.drawing:
            if self._pace.rest(shared=self._shares_cores) > 0.0 or self.brushing.awaits_land:
                return
            if not self._begin_picture():
                self._still += 1
                return
            self._pace.begin_picture()
        self._still = 0
        self._pace.begin_work()
        self.sides.go_on(lambda: self._pace.slice_is_over and self._user_waits)
        self._pace.end_work()

    @property
    def _is_covered(self) -> bool:
        """Whether nobody sees what would be drawn: the gallery lies over a picture that is there already."""
        return self.panel.is_covered and self.sides.pictures > 0 and self.recording.current is None

    def picture(self) -> NDArray[np.uint8] | None:
        """The whole picture as it is now, `[row, column, (red, green, blue)]`, the uppermost row first."""
        if self.snapshot is not None and min(self.layout.pixel_size) >= 1:
            self._begin_picture()
            self.sides.go_on()
        return self.sides.pixels()

    def _begin_picture(self) -> bool:
        """Begin to draw, if anything visible has changed. Returns whether it has."""
        # Until worlds that were asked for are here, there may be another number of them.
        count = len(self.sides.shown)
        scenes = self.documents.scenes
        scenes = scenes if len(scenes) == count else (self.documents.scene,) * count
        minimap = scenes[0].view.minimap
        cameras = [self.camera_of(side).camera() for side in self.sides.shown]
        labels = picture_labels(scenes, *((self.snapshot.cycle, self.snapshot.years) if self.snapshot else (0, 0.0)))
        for side in self.sides.shown:
            side.covered_left = round(self.panel.width_left_of_scene * self.layout.pixels_per_unit)
        return self.sides.begin(cameras, scenes, time=self._time, minimap=minimap, labels=labels)

    @property
    def _shares_cores(self) -> bool:
        """Whether pictures take time from the simulation, and the view is not being moved."""
        runs = self.simulation.status.state in ("running", "compiling", "growing")
        moves = self.camera.dragging or self.camera.moving or self.camera.flying or self.brushing.is_drawing
        return runs and not moves and self.side.picture.software

    @property
    def _user_waits(self) -> bool:
        """Whether there is input that the panel, or the next picture, should show soon."""
        waiting = self.host.waiting_events()
        if imgui.is_any_item_active() or (waiting and imgui.get_io().want_capture_mouse):
            return True
        return any(not isinstance(event, PointerMoved) for event in waiting)

    def gui(self) -> None:
        """Lay out the panel."""
        with _closing_what_is_open():
            self.panel.gui()
        self._was_held = imgui.is_any_item_active()
        if self._was_held:
            self._still = 0

    def lay_pictures(self, screen: moderngl.Framebuffer, height: int) -> None:
        """Lay the pictures behind the panel, onto a screen `height` pixels high.

        They are copied: to draw them as ImGui draws an image would cost a software rasteriser twice as much.
        """
        screen.use()
        screen.clear(*EMPTY)
        for side in self.sides.shown:
            area = side.seen_area
            side.canvas.lay_onto(screen, area.left, height - self.layout.pixel_top - area.top - area.height)

    def take_screen(self, screen: moderngl.Framebuffer, size: tuple[int, int]) -> None:
        """See a finished frame of the window, of this size in pixels, before it is presented."""
        self.guarded(partial(self.recording.take_screen, screen, size))

    def guarded(self, hook: Callable[[], None]) -> None:
        """Call a hook. What goes wrong in it is shown, and neither ends the program nor loses the simulation."""
        try:
            hook()
        except Exception as error:
            is_new = self.notices.complain(explained(error))
            if is_new and not isinstance(error, UserError):
                log.exception("a hook of a frame failed")

    # What panel and commands read and change.

    @property
    def seen_scene(self) -> Scene:
        """The scene that the panel shows, opening with what is seen now."""
        return msgspec.structs.replace(self.documents.scene, camera=self.camera.parameters())

    @property
    def side(self) -> Side:
        """The side whose numbers the panel shows."""
        return self.sides.shown[min(self.documents.edited_worlds[0], len(self.sides.shown) - 1)]

    @property
    def snapshot(self) -> Snapshot | None:
        return self.side.snapshot

    @property
    def interface_scale(self) -> float:
        return self.content_scale * self.interface_size

    @property
    def title(self) -> str:
        status = self.simulation.status
        return f"Thalweg – {self.documents.name} – cycle {status.cycle} – {status.state}"

    @property
    def rest(self) -> float:
        """For how many seconds the next frame would look like this one, unless something happens."""
        if self._at_rest:
            return min(self.notices.rest, self.exporting.rest, self.part_choice.rest)
        if self.sides.drawing or self.snapshot is None or imgui.is_any_item_active():
            return 0.0
        return self._pace.rest(shared=self._shares_cores)

    @property
    def _at_rest(self) -> bool:
        return (
            self.simulation.status.state in ("paused", "failed", "compiling", "growing")
            and self.simulation.status.run is None
            and self._still > STILL_FRAMES
            and not self.sides.drawing
            and not self.camera.moving
            and not self.camera.flying
            and not self.documents.restart_waits
            and not self.is_going
            and not self.camera_follow.moving
            and not self._waits_for_survey
            and not self.brushing.is_drawing
        )

    @property
    def _waits_for_survey(self) -> bool:
        """Whether something about rivers is asked for that the picture does not show yet, or that moves on."""
        surveys = [snapshot.survey for snapshot in self.sides.snapshots]
        wants_course = self.asked_place is not None and any(not (survey and survey.course) for survey in surveys)
        shows_filling = OVERLAYS[self.documents.scene.view.overlay].survey == "filling"
        is_filling = shows_filling and any(not (survey and survey.filled) for survey in surveys)
        return wants_course or is_filling

    def change(self, path: str, value: Value, *, in_all: bool = False) -> None:
        """Change one parameter, and see the land as it says; see `Documents.change`."""
        if curve_of(self.documents.scene, path):  # which its value follows
            self.set_key(path, value, from_now_on=True)
            return
        before, scenes = self.documents.scene, self.documents.scenes
        log.debug("%s = %r", path, value)
        rebuilds = self.documents.rebuilds(path)
        self.documents.change(path, value, in_all=in_all)
        if not rebuilds:  # which is a step when the world is there
            self.undo.add(self._value_step(scenes, path))
        self._follow_view(before)

    def change_together(self, values: Mapping[str, Value], name: str) -> None:
        """Change several parameters as one step of undo, and see the land as they say."""
        before, scenes = self.documents.scene, self.documents.scenes
        request = self.documents.change_together(values, name)
        if request is None:
            self.undo.add(self._value_step(scenes, *values))
        else:  # it is a step when the world is there; how it is seen goes with it
            seen = [path for path in values if section_of(path) == VIEW_SECTION]
            self._seen_with_land = (request, self._value_step(scenes, *seen) if seen else None)
        self._follow_view(before)

    def set_key(self, path: str, value: Value, *, from_now_on: bool = False) -> None:
        """Let a parameter have a value in the cycle of now, and follow a curve through all its keys.

        With `from_now_on` it keeps the value, as one would expect of a slider: keys of cycles that have not come yet
        are given up. Where it is an earlier moment that is looked at, they stay.
        """
        status = self.simulation.status
        branch = status.timeline.branches.get(status.moment.branch)
        gives_up = from_now_on and (branch is None or status.cycle >= branch.last)
        others = [
            key
            for key in curve_of(self.documents.scene, path)
            if key.cycle < status.cycle or (key.cycle > status.cycle and not gives_up)
        ]
        self.change(KEYS + path, write_curve(sorted([*others, Key(status.cycle, value)])))

    def change_back(self, path: str, values: Sequence[Value]) -> None:
        """Give a parameter the value in each world that it had there before; see `Documents.change_back`."""
        before, scenes = self.documents.scene, self.documents.scenes
        self.documents.change_back(path, values)
        self.undo.add(self._value_step(scenes, path))
        self._follow_view(before)

    def _value_step(self, before: Sequence[Scene], *paths: str) -> ValueStep:
        """The step from scenes as they were to those of now, where these parameters are others."""
        old, new = (
            {path: tuple(scene.value(path) for scene in scenes) for path in paths}
            for scenes in (before, self.documents.scenes)
        )
        return ValueStep(old, new)

    def take_from(self, other: Scene) -> None:
        """Give climate and processes of another scene to what is edited, which goes on with them."""
        before = self.documents.scenes
        self.documents.take_from(other)
        paths = sorted(
            {path for pair in zip(before, self.documents.scenes, strict=True) for path in differences(*pair)}
        )
        if paths:
            self.undo.add(self._value_step(before, *paths))

    def set_values(self, values: Mapping[str, Sequence[Value]]) -> None:
        """Give parameters the values that they had in each world at another time."""
        before = self.documents.scene
        for path, in_worlds in values.items():
            self.documents.change_back(path, in_worlds)
        self._follow_view(before)

    def go_to(self, going: GoTo) -> None:
        """Bring back the land of a moment of the time line."""
        self._going = going
        self._views[self._land] = self.camera.parameters()
        self.simulation.ask(going)

    @property
    def is_going(self) -> bool:
        """Whether the land of another moment is still to come."""
        return self._going is not None

    @property
    def _land(self) -> int:
        """The first branch of the land that is shown."""
        status = self.simulation.status
        return status.timeline.root(status.moment.branch)

    def open(self, *scenes: Scene) -> None:
        """Leave what is shown for another scene, or several that are compared."""
        self.part_choice.close()
        self._opening = True
        self.documents.open(*scenes)

    def offer(self, sessions: Sequence[EndedSession]) -> None:
        """Offer to go on with a session that was not closed. The newest can be gone on with in any case."""
        unclosed = [session for session in sessions if not session.index.closed]
        self.offering = bool(unclosed)
        self.last_session = next(iter(unclosed or sessions), None)

    def add_world(self) -> None:
        """Compare the world that the panel shows with a copy of it."""
        self.layout.divider = 0.5
        self.documents.add_world()

    def compare_from_start(self) -> None:
        """Compare the world that the panel shows with another one; both begin anew."""
        self.layout.divider = 0.5
        self.documents.compare_from_start()

    @property
    def camera(self) -> CameraControl:
        """The one that mouse and keys move: that of all sides, or of the one that is pointed at."""
        return self.camera_of(self.pointing.side)

    def places_of(self, side: Side, points: Iterable[glm.vec3]) -> list[tuple[float, float] | None]:
        """Where points of a side's land are seen, in logical units; None where one is not."""
        area, camera = side.area, self.camera_of(side).camera()
        camera = replace(camera, middle=area.free[0] + area.free[1] - 1.0)
        (left, top), scale = self.layout.corner(side), self.layout.pixels_per_unit
        places: list[tuple[float, float] | None] = []
        for point in points:
            seen = camera.place_of(point, area.width / max(area.height, 1))
            if seen is None or max(map(abs, seen)) > 1.0:
                places.append(None)
                continue
            x, y = 0.5 + 0.5 * seen[0], 0.5 - 0.5 * seen[1]
            places.append((left + x * area.width / scale, top + y * area.height / scale))
        return places

    def look_at_part(self, south: float, east: float) -> None:
        """Look at a place, told by the parts of the map's height and width."""
        if self.snapshot is not None:
            rows, columns = self.snapshot.shape
            self.camera.look_at(east * columns * self.snapshot.cell_size, south * rows * self.snapshot.cell_size)

    def camera_of(self, side: Side) -> CameraControl:
        return self.cameras.of(side.snapshot.world if side.snapshot else None)

    @property
    def _worlds_shown(self) -> list[int]:
        return [snapshot.world for snapshot in self.sides.snapshots]

    def link_cameras(self, linked: bool) -> None:
        """Let all worlds be seen from one camera, or each from its own. It begins with what is seen now."""
        if linked:
            self.cameras.link(self.camera)
        else:
            self.cameras.unlink(self._worlds_shown, self.camera)
        self.look_from_here()
        self._still = 0

    def look_from_here(self) -> None:
        """Another side is pointed at: its ground is what the camera goes by."""
        self._lay_out()
        self._see_ground()

    def ask_about(self, place: tuple[int, int] | None, *, look_there: bool = False) -> None:
        """Follow the water of a place (row, column) to the ocean, or of none."""
        self.asked_place = place
        self._still = 0
        if look_there and place is not None and self.snapshot is not None:
            row, column = place
            self.camera.look_at((column + 0.5) * self.snapshot.cell_size, (row + 0.5) * self.snapshot.cell_size)

    # What a brush asks about the land.

    @property
    def side_pointed_at(self) -> Side:
        return self.pointing.side

    @property
    def painted_world(self) -> int | None:
        """The one of several that a brush changes: that under the pointer, or all where the panel changes all."""
        if not self.documents.comparing or self.documents.edited == "all":
            return None
        return self.pointing.place

    def ground_under(self, x: float, y: float) -> glm.vec3 | None:
        """The land under a place of the window, in picture space; None where there is none of the map."""
        left, top = self.layout.corner(self.pointing.side)
        hit, snapshot = self.camera.ground_under(x - left, y - top), self.pointing.side.snapshot
        if hit is None or snapshot is None:
            return None
        rows, columns = snapshot.shape
        side = snapshot.cell_size
        return hit if 0.0 <= hit.x < columns * side and 0.0 <= hit.z < rows * side else None

    def cell_at(self, east: float, south: float) -> tuple[int, int] | None:
        """Row and column of a place, in metres."""
        snapshot = self.pointing.side.snapshot
        if snapshot is None:
            return None
        return int(south // snapshot.cell_size), int(east // snapshot.cell_size)

    def height_at(self, east: float, south: float) -> float:
        """The height of the land at a place, in metres."""
        snapshot, cell = self.pointing.side.snapshot, self.cell_at(east, south)
        return float(snapshot.ground(cell, np.float64)) if snapshot is not None and cell is not None else 0.0

    def show_overlay(self, name: str) -> None:
        """Lay a map over the land for a tool; that is not a step to be undone."""
        if name in OVERLAYS:
            before = self.documents.scene
            self.documents.change("view.overlay", name)
            self._follow_view(before)

    def ask_about_water(self, place: tuple[int, int] | None) -> None:
        """Follow the water of a place that a person has pointed at, or of the river that is close to it."""
        self.ask_about(river_near(self.snapshot, place) if place and self.snapshot else place)
        if place is not None:
            key = BY_COMMAND["close"].key_text
            self.notices.say(
                f"lit: what drains here, and the way of its water (profile: section Rivers); {key} ends it"
            )

    def toggle_spring(self, place: tuple[int, int] | None) -> None:
        """Add a spring at a place (row, column), or remove the one that is near it."""
        if place is None or self.snapshot is None:
            return
        rows, columns = self.snapshot.shape
        south, east = (place[0] + 0.5) / rows, (place[1] + 0.5) / columns
        springs = read_springs(self.documents.scene.droplets.springs)
        kept = tuple(
            spring for spring in springs if math.hypot(spring.south - south, spring.east - east) > REACH_OF_A_SPRING
        )
        if len(kept) == len(springs):
            kept = (*springs, Spring(south, east, DROPS_OF_A_SPRING))
        self.change("droplets.springs", write_springs(kept))
        self.notices.say("spring added" if len(kept) > len(springs) else "spring removed")

    def fill_again(self) -> None:
        """Restart the fronts of the filling."""
        self._filling += 1
        self._still = 0

    def redraw(self) -> None:
        """Draw the picture again, though nothing that it shows has changed."""
        self.sides.redraw()

    def close(self) -> None:
        """Give back what the graphics hold. The simulation is stopped by who started it."""
        self.panel.release()
        self.stock.release()
        self.recording.release()
        self.exporting.release()
        self.part_choice.close()
        self.sides.release()

    # How it is done.

    def _lay_out(self) -> None:
        self.layout.free = self.panel.free_of_scene
        self.layout.apply()
        for side in (*self.sides.shown, self.pointing.side):  # the last counts where the camera is that of all
            self.layout.fit(self.camera_of(side), side)

    def _watch(self) -> None:
        """Report to the simulation what is looked at, where that has changed."""
        wanted = wanted_by(self.documents.scene.view, self.asked_place, self._filling)
        watch = Watch(
            self.documents.scene.view.overlay,
            replace(
                wanted,
                rivers=wanted.rivers or self.panel.rivers_shown,
                channels=self.panel.rivers_shown,
                realism=self.panel.realism_shown,
            ),
        )
        if watch != self._watched:
            self._watched = watch
            self.simulation.ask(watch)

    def _follow_keys(self) -> None:
        """Let parameters that have keys on the time line be as in the cycle that is seen."""
        if self.snapshot is not None and any(scene.keys for scene in self.documents.scenes):
            before = self.documents.scene
            self.documents.reach(self.snapshot.cycle)
            if self.documents.scene is not before:
                self._follow_view(before)

    def _tell_of_view(self) -> None:
        """Report to the simulation how the land is seen, where that has changed."""
        if self._time - self._looked_at < SECONDS_BETWEEN_LOOKS or self.snapshot is None or self._opening:
            return
        look = Look(self.documents.scene.view, self.camera.parameters())
        if look != self._looked:
            self._looked, self._looked_at = look, self._time
            self.simulation.ask(look)

    def _take_snapshots(self, snapshots: Sequence[Snapshot]) -> None:
        if snapshots:
            worlds = {shown.world for shown in self.sides.snapshots}
            are_others = worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            were_opened = are_others and not self._opened_worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            if were_opened:
                self.asked_place = None
                self.relief_at_start = snapshots[0].highest - snapshots[0].lowest
                self.documents.worlds_came()
            elif are_others:
                self.cameras.renumber([shown.world for shown in self.sides.snapshots], [new.world for new in snapshots])
            try:
                self._show(snapshots, are_others=are_others)  # last, for it may fail; the worlds are there in any case
            finally:
                self.simulation.give_back(self.sides.snapshots)
        if self._opening and self.documents.are_shown and self.snapshot is not None:
            self.camera.open(self.documents.scene.camera)
            self._opening = not self.panel.is_laid_out  # until then it is not known what is free of the scene

    def _show(self, snapshots: Sequence[Snapshot], *, are_others: bool) -> None:
        """Show snapshots, of other worlds or not, in another number of pictures where that has changed."""
        count, before = len(self.sides.shown), self.layout.view_aspect(len(self.sides.shown))
        self.sides.show(snapshots)
        if len(self.sides.shown) != count:
            self.pointing.reset()
            self._lay_out()
            if not self.cameras.linked:
                self.cameras.unlink(self._worlds_shown, self.camera)
            for camera in self.cameras.in_use(self._worlds_shown):
                camera.keep_width_of_view(before)
        self._see_ground(of_others=are_others)

    def _follow_view(self, before: Scene) -> None:
        """See the land as the scene says now, which was another one before."""
        if self.documents.scene.camera != before.camera:
            self.camera.open(self.documents.scene.camera, at_once=False)
        if self.documents.scene.view.exaggeration != before.view.exaggeration:
            self._see_ground()
        self._still = 0

    def _see_ground(self, *, of_others: bool = False) -> None:
        if self.sides.snapshots:
            exaggeration = self.documents.scene.view.exaggeration
            grounds = [Ground(snapshot, exaggeration) for snapshot in self.sides.snapshots]
            if self.cameras.linked:
                self._see(self.camera, grounds.pop(self.pointing.place), *grounds, is_other=of_others)
                return
            for snapshot, ground in zip(self.sides.snapshots, grounds, strict=True):
                self._see(self.cameras.of(snapshot.world), ground, is_other=of_others)

    def _see(self, camera: CameraControl, *grounds: Ground, is_other: bool) -> None:
        see = camera.see_another if is_other and not self._opening else camera.see
        see(*grounds)

    def _hear_simulation(self) -> None:
        for report in self.simulation.reports():
            match report:
                case Opened(request, worlds, branch, before):
                    self._opened_worlds = frozenset(worlds)
                    self._views[self.simulation.status.timeline.root(before.branch)] = self.camera.parameters()
                    self.documents.opened_on(branch, request)
                    self._add_step(request, before)
                case Edited(request, before):
                    self._add_step(request, before)
                case Arrived(request, worlds, before):
                    self.undo.was_undone(request, before)
                    if worlds:
                        self._arrive(before)
                    if self._going is request:
                        self._going = None
                case OpenFailed(request, why):
                    self.documents.take_name(request)
                    if why != self.simulation.status.error:  # which has its own box
                        self.notices.complain(why)
                    if self.snapshot is not None and self.documents.worlds_failed(request):
                        self._opening = False
                case Saved() | SaveFailed() if self.exporting.awaits(report.path):
                    self.exporting.hear(report)
                case Saved(path):
                    self.commands.saved(path)
                case SaveFailed(path, why):
                    self.commands.save_failed(path, why)
                case SessionFailed(why):
                    self.notices.complain(f"the work so far is not safe from a crash: {why}")
                case SurveyFailed(why):
                    self.notices.complain(f"rivers: {why}")
                case PastFailed(why):
                    self.notices.complain(why)
                case Refused(request, why):
                    self.notices.complain(why)
                    self.documents.take_name(request)
                    if isinstance(request, Copy):
                        self.documents.copy_failed()
                    if isinstance(request, Change):
                        self.documents.change_refused(request)
                    if isinstance(request, GoTo):
                        self.undo.cannot_be_undone(request)
                    if self._going is request:
                        self._going = None
                case Stopped():
                    pass  # the status shows it

    def _add_step(self, request: object, before: Moment) -> None:
        """What was asked for under a name is done, and can be undone."""
        name = self.documents.take_name(request)
        if name and before.branch:  # the first land has none before it
            (seen_with, seen), self._seen_with_land = self._seen_with_land, (None, None)
            self.undo.add(LandStep(name, before, seen=seen if seen_with is request else None))

    def _arrive(self, before: Moment) -> None:
        """The land of another moment is there."""
        left = self.simulation.status.timeline.root(before.branch)
        self.documents.came_to_moment(self._land)
        if self._land != left and (camera := self._views.get(self._land)):
            self.camera.open(camera)
        self._still = 0

    def _press_key(self, event: KeyPressed) -> None:
        if self.camera.flying:
            self.camera.hold(event.place)
            if event.place in FLIGHT_KEYS:
                return
        action = BY_KEY.get(event.chord)
        if action is not None:
            self.commands.run(action)


def river_near(snapshot: Snapshot, place: tuple[int, int]) -> tuple[int, int]:
    """The cell (row, column) with the most water near a place, where that is far more than at the place itself."""
    discharge = snapshot.layers.get("discharge")
    if discharge is None:
        return place
    row, column = place
    top, left = max(row - REACH_OF_A_RIVER, 0), max(column - REACH_OF_A_RIVER, 0)
    around = discharge[top : row + REACH_OF_A_RIVER + 1, left : column + REACH_OF_A_RIVER + 1]
    south, east = np.unravel_index(int(around.argmax()), around.shape)
    if around[south, east] <= MORE_THAN_ASIDE * discharge[row, column]:
        return place
    return top + int(south), left + int(east)


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

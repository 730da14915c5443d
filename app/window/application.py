"""The application: four hooks that a loop calls, and what they work on.

It knows nothing of the window that it is in: the program hosts it in `app.window.loop`, tests host it elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

import moderngl
import msgspec
import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.engine.messages import (
    Arrived,
    Edited,
    FrameBegan,
    GoTo,
    Opened,
    OpenFailed,
    Refused,
    Saved,
    SaveFailed,
    SessionFailed,
    SessionWritten,
    SpinUpFailed,
    Stopped,
    SurveyFailed,
)
from app.engine.thread import SimulationThread
from app.files.library import Library
from app.model.errors import UserError, explained
from app.model.snapshot import Snapshot
from app.picture.history import FrameTimes
from app.picture.passes.quality import KnownLevels
from app.picture.sides import Side, Sides
from app.picture.style import EMPTY
from app.scene.captions import picture_labels
from app.scene.edits import Change, Copy
from app.scene.scene import Scene
from app.window.actions import BY_KEY
from app.window.brushing import Brushing
from app.window.camera_control import FLIGHT_KEYS, CameraControl
from app.window.camera_follow import CameraFollow
from app.window.cameras import Cameras
from app.window.commands import files, view
from app.window.documents import Documents
from app.window.editing import Editing
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
from app.window.guide import Guide
from app.window.history import History
from app.window.layout import Layout
from app.window.notices import Notices
from app.window.pace import Pace
from app.window.panel import Panel
from app.window.panel.memory import PanelMemory
from app.window.part_choice import PartChoice
from app.window.pointing import Pointing
from app.window.recording import Recording
from app.window.sessions import LookUp, Sessions
from app.window.undo import Undo
from app.window.views import Views
from app.window.watching import Watching

log = logging.getLogger(__name__)

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
        look_up_sessions: LookUp = tuple,
    ) -> None:
        self.simulation: SimulationThread = simulation
        self.host: Host = host
        self.documents: Documents = Documents(simulation)
        self.cameras: Cameras = Cameras()
        self.notices = Notices()
        self.undo = Undo()
        self.frame_times = FrameTimes()
        self.content_scale = content_scale
        self.library = library or Library()
        self.stock = CardStock(context, self.library)
        self.guide: Guide = Guide(context)
        self.interface_size = 1.0  # the person's own factor on the content scale
        self.last_overlay = "none"  # that was hidden
        self.panel: Panel = Panel(self, panel_memory or PanelMemory())
        self.sides = Sides(context, known_levels=known_levels)
        self.layout = Layout(self.sides)
        self.editing: Editing = Editing(self.documents, self.undo, simulation, lambda before: self.views.follow(before))
        self.views: Views = Views(self)
        self.watching: Watching = Watching(self)
        self.history: History = History(self)
        self.brushing: Brushing = Brushing(self)
        self.pointing: Pointing = Pointing(self)
        self.camera_follow: CameraFollow = CameraFollow(self)
        self.recording: Recording = Recording(self, context)
        self.exporting: Exporting = Exporting(self)
        self.part_choice: PartChoice = PartChoice(self)
        self.sessions: Sessions = Sessions(look_up_sessions, lambda scenes: self.open(*scenes))
        self.pixel_size = (0, 0)  # of the window
        self.time = 0.0
        self._opened_worlds: frozenset[int] = frozenset()  # numbers of worlds that were asked for, and not gone back to
        self.opening = True  # the next world is seen from the scene's opening view
        self.relief_at_start = 0.0  # metres from the lowest to the highest point, when the world was seen first
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
        self.time += dt
        self.pixel_size = round(width * pixels_per_unit), round(height * pixels_per_unit)
        self.layout.top = self.panel.height_above_scene
        self.layout.size = (width, height - self.panel.height_below_scene - self.layout.top)
        self.layout.pixels_per_unit = pixels_per_unit
        self.sides.set_content_scale(self.interface_scale * pixels_per_unit)
        self.lay_out()
        if self.documents.scenes[0].simulation.cycles_per_frame and not self.simulation.paused:
            self.simulation.ask(FrameBegan(max(1, round(dt * SCREENS_PER_SECOND))))  # a slow picture does not slow it
        self.watching.watch()
        self.watching.tell_of_view()
        # A picture shows one state of the world, and what is shown is read until others are.
        snapshots = () if self.sides.drawing else self.simulation.take(gives_back=False)
        self._hear_simulation()
        self.exporting.update()
        self.sessions.offer_later(self.time)
        self.part_choice.update()
        self._take_snapshots(snapshots)
        self._follow_keys()
        if not imgui.is_any_item_active():
            self.documents.restart_when_due()
        self.camera_follow.update(dt)
        for camera in self.cameras.in_use(self.views.worlds_shown):
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
                files.open(self, event.paths[0])
            case Steered() if not self.panel.is_covered:
                self.camera.steer(event)
            case GamepadPressed(button):
                view.press_gamepad(self, button)

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
        # Until a copy of a world is here, there may be another number of them.
        count = len(self.sides.shown)
        scenes = self.documents.seen
        scenes = scenes if len(scenes) == count else (self.documents.seen_scene,) * count
        minimap = self.views.with_minimap
        cameras = [self.views.camera_of(side).camera() for side in self.sides.shown]
        labels = picture_labels(scenes, *((self.snapshot.cycle, self.snapshot.years) if self.snapshot else (0, 0.0)))
        for side in self.sides.shown:
            side.covered_left = round(self.panel.width_left_of_scene * self.layout.pixels_per_unit)
        return self.sides.begin(cameras, scenes, time=self.time, minimap=minimap, labels=labels)

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
    def camera(self) -> CameraControl:
        """The camera that mouse and keys move."""
        return self.views.camera

    def wake(self) -> None:
        """Draw again: something has changed."""
        self._still = 0

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
            and not self.history.is_going
            and not self.camera_follow.moving
            and not self.watching.waits_for_survey
            and not self.brushing.is_drawing
        )

    def open(self, *scenes: Scene) -> None:
        """Leave what is shown for another scene, or several that are compared."""
        self.part_choice.close()
        self.opening = True
        self.sessions.something_else_is_opened()
        self.documents.open(*scenes)

    def add_world(self) -> None:
        """Compare the world that the panel shows with a copy of it."""
        self.layout.divider = 0.5
        self.documents.add_world()

    def compare_from_start(self) -> None:
        """Compare the world that the panel shows with another one; both begin anew."""
        self.layout.divider = 0.5
        self.documents.compare_from_start()

    def close(self) -> None:
        """Give back what the graphics hold. The simulation is stopped by who started it."""
        self.panel.release()
        self.stock.release()
        self.recording.release()
        self.exporting.release()
        self.part_choice.close()
        self.sides.release()

    # How it is done.

    def lay_out(self) -> None:
        self.layout.free = self.panel.free_of_scene
        self.layout.apply()
        for side in (*self.sides.shown, self.pointing.side):  # the last counts where the camera is that of all
            self.layout.fit(self.views.camera_of(side), side)

    def _follow_keys(self) -> None:
        """Let parameters that have keys on the time line be as in the cycle that is seen."""
        if self.snapshot is not None and any(scene.keys for scene in self.documents.scenes):
            before = self.documents.scene
            self.documents.reach(self.snapshot.cycle)
            if self.documents.scene is not before:
                self.views.follow(before)

    def _take_snapshots(self, snapshots: Sequence[Snapshot]) -> None:
        if snapshots:
            worlds = {shown.world for shown in self.sides.snapshots}
            are_others = worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            were_opened = are_others and not self._opened_worlds.isdisjoint(snapshot.world for snapshot in snapshots)
            if were_opened:
                self.watching.asked_place = None
                self.relief_at_start = snapshots[0].highest - snapshots[0].lowest
                self.documents.worlds_came()
                self.sessions.worlds_came()
            elif are_others:
                self.cameras.renumber([shown.world for shown in self.sides.snapshots], [new.world for new in snapshots])
            try:
                self._show(snapshots, are_others=are_others)  # last, for it may fail; the worlds are there in any case
            finally:
                self.simulation.give_back(self.sides.snapshots)
        if self.opening and self.documents.are_shown and self.snapshot is not None:
            self.camera.open(self.documents.scene.camera)
            self.opening = not self.panel.is_laid_out  # until then it is not known what is free of the scene

    def _show(self, snapshots: Sequence[Snapshot], *, are_others: bool) -> None:
        """Show snapshots, of other worlds or not, in another number of pictures where that has changed."""
        count, before = len(self.sides.shown), self.layout.view_aspect(len(self.sides.shown))
        self.sides.show(snapshots)
        if len(self.sides.shown) != count:
            self.pointing.reset()
            self.lay_out()
            if not self.cameras.linked:
                self.cameras.unlink(self.views.worlds_shown, self.camera)
            for camera in self.cameras.in_use(self.views.worlds_shown):
                camera.keep_width_of_view(before)
        self.views.see_ground(of_others=are_others)

    def _hear_simulation(self) -> None:
        for report in self.simulation.reports():
            match report:
                case Opened(request, worlds, branch, before):
                    self._opened_worlds = frozenset(worlds)
                    self.history.keep_view(before)
                    self.documents.opened_on(branch, request)
                    self.editing.add_land_step(request, before)
                case Edited(request, before):
                    self.editing.add_land_step(request, before)
                case Arrived(request, worlds, before):
                    self.undo.was_undone(request, before)
                    if worlds:
                        self.history.arrive(before)
                    self.history.ended(request)
                case OpenFailed(request, why):
                    self.documents.take_name(request)
                    if why != self.simulation.status.error:  # which has its own box
                        self.notices.complain(why)
                    if self.snapshot is not None and self.documents.worlds_failed(request):
                        self.opening = False
                case Saved() | SaveFailed() if self.exporting.awaits(report.path):
                    self.exporting.hear(report)
                case Saved(path):
                    files.saved(self, path)
                case SaveFailed(path, why):
                    files.save_failed(self, path, why)
                case SessionWritten(picture):
                    files.session_written(self, picture)
                case SessionFailed(why):
                    self.notices.complain(f"the work so far is not safe from a crash: {why}")
                case SurveyFailed(why):
                    self.notices.complain(f"rivers: {why}")
                case SpinUpFailed(why):
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
                    self.history.ended(request)
                case Stopped():
                    pass  # the status shows it

    def _press_key(self, event: KeyPressed) -> None:
        if self.camera.flying:
            self.camera.hold(event.place)
            if event.place in FLIGHT_KEYS:
                return
        action = BY_KEY.get(event.chord)
        if action is not None:
            action.run(self)


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

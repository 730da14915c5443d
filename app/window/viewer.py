"""The viewer: four hooks that a loop calls, in an application with its panel.

It knows nothing of the window that it is in: the program hosts it in `app.window.loop`, tests host it elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import moderngl
from imgui_bundle import imgui

from app.engine.messages import FrameBegan
from app.model.errors import UserError, explained
from app.picture.style import EMPTY
from app.window.actions import BY_KEY
from app.window.application import Application
from app.window.arrivals import Arrivals
from app.window.brushing import DABS_PER_SECOND
from app.window.camera_control import FLIGHT_KEYS
from app.window.commands import files, running
from app.window.drawing import Drawing
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
from app.window.open_scenes import name_of
from app.window.panel import Panel
from app.window.panel.memory import PanelMemory
from app.window.pointing import Pointing

log = logging.getLogger(__name__)

KEYS_OF_TEXT = {f"Ctrl+{key}" for key in ("A", "C", "V", "X", "Y", "Z", "Shift+Z", "Left", "Right", "Home", "End")}
SCREENS_PER_SECOND = 60  # the frame rate that cycles per frame refer to
STILL_FRAMES = 4  # drawn after the last change, until ImGui settles


class Viewer:
    """Shows an application frame by frame. A host calls `frame` between ImGui's begin and end of a frame."""

    def __init__(self, application: Application, memory: PanelMemory | None = None) -> None:
        self.application = application
        self.panel = Panel(application, memory or PanelMemory())
        application.panel = self.panel
        self._pointing = Pointing(application)
        self._arrivals = Arrivals(application, self._pointing)
        self.drawing = Drawing(application)
        self._was_held = False  # a widget was active in the last frame; Esc makes ImGui release it
        self._panel_went_first = False  # the last frame drew no picture

    def frame(self, events: Sequence[Event], dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """Run all hooks for a frame in a window of this size in logical units."""
        application = self.application
        self.guarded(lambda: self.update(dt, width, height, pixels_per_unit))
        for event in events:
            self.guarded(partial(self.handle, event))
        self.guarded(lambda: application.brushing.update(dt))
        self.drawing.follow_hand()
        # The panel shows a key press first; a slow picture follows in the next frame.
        is_for_panel = any(isinstance(event, KeyPressed) for event in events) and application.side.picture.software
        self._panel_went_first = is_for_panel and not self._panel_went_first
        if not self._panel_went_first:
            self.guarded(self.drawing.draw)
        if application.sides.drawing:  # interrupted by input that the panel should show now
            for event in application.host.events():
                self.guarded(partial(self.handle, event))
        self.guarded(application.recording.take_scene)
        self.guarded(self.gui)

    # The hooks.

    def update(self, dt: float, width: float, height: float, pixels_per_unit: float) -> None:
        """Advance by `dt` seconds and take results of the simulation. The size is in logical units."""
        application = self.application
        application.time += dt
        application.pixel_size = round(width * pixels_per_unit), round(height * pixels_per_unit)
        self._lay_out(width, height, pixels_per_unit)
        simulation, documents = application.simulation, application.documents
        if documents.scenes[0].simulation.cycles_per_frame and not simulation.paused:
            simulation.ask(FrameBegan(max(1, round(dt * SCREENS_PER_SECOND))))  # also with slow pictures
        application.watching.watch(rivers=self.panel.rivers_shown, realism=self.panel.realism_shown)
        application.watching.tell_of_view(application.time)
        application.watching.tell_of_catchment()
        # A picture shows one state; its snapshot is read until it is complete.
        snapshots = () if self.drawing.holds_land() else simulation.take(gives_back=False)
        self._arrivals.hear()
        application.exporting.update()
        application.sessions.offer_later(application.time)
        application.part_choice.update()
        self._arrivals.take(snapshots)
        self._arrivals.follow_keys()
        if not imgui.is_any_item_active():
            documents.restart_when_due()
        application.camera_follow.update(dt)
        for camera in application.cameras.in_use(application.views.worlds_shown):
            camera.update(dt)
        application.host.capture_pointer(application.camera.flying)

    def _lay_out(self, width: float, height: float, pixels_per_unit: float) -> None:
        """Lay out the pictures in the free part of a window of this size in logical units."""
        application, layout = self.application, self.application.layout
        layout.top = self.panel.height_above_scene
        layout.size = (width, height - self.panel.height_below_scene - layout.top)
        layout.pixels_per_unit = pixels_per_unit
        layout.free = self.panel.free_of_scene
        application.sides.set_content_scale(application.interface_scale * pixels_per_unit)
        application.views.lay_out()

    def handle(self, event: Event) -> None:
        """Handle an input event. The panel has priority, but a drag stays where it began."""
        application = self.application
        application.views.wake()
        io = imgui.get_io()
        match event:
            case KeyPressed() if not self._keeps_from_scene(event):
                self._press_key(event)
            case KeyReleased():
                application.camera.let_go(event.place)
            case FocusLost():
                application.brushing.cancel()
                application.camera.release_all_keys()
                self._pointing.let_go()
            case ButtonPressed() if not io.want_capture_mouse or application.camera.flying:
                self.panel.keyboard.leave()
                self._pointing.press(event)
            case ButtonReleased():
                self._pointing.release(event)
            case PointerMoved():
                self._pointing.move(event)
            case Scrolled() if not io.want_capture_mouse:
                self._pointing.scroll(event)
            case FilesDropped() if event.paths:
                files.open(application, event.paths[0])
            case Steered() if not self.panel.is_covered:
                application.camera.steer(event)
            case GamepadPressed(button):
                self._press_gamepad(button)

    def _keeps_from_scene(self, event: KeyPressed) -> bool:
        """Whether a key belongs to the panel.

        Esc does while a slider is held. All other keys do while text is typed or a dialog is open, but those that no
        text needs.
        """
        if imgui.get_io().want_text_input and not (event.chord.startswith("Ctrl+") and event.chord not in KEYS_OF_TEXT):
            return True
        if self.panel.is_covered or (event.chord == "Esc" and (imgui.is_any_item_active() or self._was_held)):
            return True
        if self.panel.keyboard.takes(event.chord):
            return True
        return self.panel.is_asking and event.chord != "Esc" and not event.chord.startswith("Ctrl+")

    def _press_key(self, event: KeyPressed) -> None:
        camera = self.application.camera
        if camera.flying:
            camera.hold(event.place)
            if event.place in FLIGHT_KEYS:
                return
        action = BY_KEY.get(event.chord)
        if action is not None:
            action.run(self.application)

    def _press_gamepad(self, button: str) -> None:
        """Handle a gamepad button: it chooses in the gallery and flies elsewhere."""
        gallery, camera = self.panel.gallery, self.application.camera
        match button:
            case "start":
                self.panel.toggle_gallery()
            case "left" | "right" | "up" | "down" if gallery.is_open:
                gallery.move(button)
            case "a" if gallery.is_open:
                gallery.choose()
            case "b" if gallery.is_open:
                gallery.close()
            case "a":
                running.toggle_pause(self.application)
            case "b" if camera.flying:
                camera.toggle_fly()
            case "left bumper" | "right bumper" if camera.flying:
                camera.scroll(1.0 if button == "right bumper" else -1.0, 0.0, 0.0)

    def gui(self) -> None:
        """Lay out the panel."""
        with _recovering_imgui():
            self.panel.gui()
        self._was_held = imgui.is_any_item_active()
        if self._was_held:
            self.application.views.wake()

    def lay_pictures(self, screen: moderngl.Framebuffer, height: int) -> None:
        """Copy the pictures behind the panel, onto a screen `height` pixels high.

        On a software rasteriser this costs half of drawing them as ImGui images.
        """
        screen.use()
        screen.clear(*EMPTY)
        for side in self.application.sides.shown:
            area = side.seen_area
            bottom = height - self.application.layout.pixel_top - area.top - area.height
            side.canvas.lay_onto(screen, area.left + side.seen_left, bottom)

    def take_screen(self, screen: moderngl.Framebuffer, size: tuple[int, int]) -> None:
        """Take a finished frame of the window, of this size in pixels, before it is presented."""
        self.guarded(partial(self.application.recording.take_screen, screen, size))

    def guarded(self, hook: Callable[[], None]) -> None:
        """Call a hook. An error is shown and does not end the program."""
        try:
            hook()
        except Exception as error:
            is_new = self.application.notices.complain(explained(error))
            if is_new and not isinstance(error, UserError):
                log.exception("a hook of a frame failed")

    # State for the loop.

    @property
    def title(self) -> str:
        status = self.application.simulation.status
        documents = self.application.documents
        opening = f"{name_of(documents.seen_scene)}, opening " if documents.other_comes else ""
        return f"Thalweg – {opening}{documents.name} – cycle {status.cycle} – {status.state}"

    @property
    def rest(self) -> float:
        """Seconds until the next frame would differ, without input."""
        application = self.application
        if self.at_rest:
            return min(application.notices.rest, application.exporting.rest, application.part_choice.rest)
        if application.sides.drawing or application.snapshot is None or imgui.is_any_item_active():
            return 0.0
        if application.brushing.awaits_land:
            return 1.0 / DABS_PER_SECOND  # or until the land with the touch wakes it: frames would only take its cores
        return self.drawing.rest

    @property
    def at_rest(self) -> bool:
        """Whether nothing moves and nothing is awaited."""
        application, status = self.application, self.application.simulation.status
        return (
            status.state in ("paused", "failed", "compiling", "growing")
            and status.snowball_run is None
            and application.simulation.cycle_so_far is None
            and application.views.still_frames > STILL_FRAMES
            and not application.sides.drawing
            and not application.camera.moving
            and not application.camera.flying
            and not application.documents.restart_waits
            and not application.history.is_going
            and not application.camera_follow.moving
            and not application.watching.waits_for_survey
            and not application.brushing.is_drawing
        )

    def close(self) -> None:
        """Release all graphics resources. The caller stops the simulation."""
        self.panel.release()
        self.application.release()


@contextlib.contextmanager
def _recovering_imgui() -> Iterator[None]:
    """Close ImGui windows and groups that an error leaves open, so that the frame can end."""
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

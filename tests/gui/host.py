"""Hosts the application where ImGui's test engine can drive it: in a window that is nowhere seen, of `immapp`.

Mouse and keys reach the application as they do in the program, by events; here they are read from ImGui, which is what
the test engine pretends to use.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import moderngl
import numpy as np
import pytest
from imgui_bundle import hello_imgui, imgui, immapp
from numpy.typing import NDArray

from app.engine.thread import SimulationThread
from app.files.library import Library
from app.model.view_parameters import ViewParameters
from app.picture import style
from app.picture.passes.quality import BY_NAME, LEVELS, Quality
from app.picture.picture import Picture
from app.scene.scene import DECLARATIONS, GROUPS, Scene
from app.sources.heightmap import reading
from app.sources.parameters import WorldParameters
from app.window import card_loops, documents, notices, part_choice, tour, undo
from app.window.application import Application
from app.window.commands import files
from app.window.events import Button, ButtonPressed, ButtonReleased, Event, KeyPressed, PointerMoved, Scrolled
from app.window.panel import messages, places, widgets
from app.window.panel.parameters import SECTIONS
from app.window.viewer import Viewer
from tests import waiting
from tests.graphics import graphics

Context = imgui.test_engine.TestContext

COARSE = 0.15  # pixels of the scene for each that is seen, along a side
AT_ONCE = 1 << 24  # texels of light or shore in a frame: in parts they would take several pictures
FRAME_TIME = 1.0 / 30.0  # seconds, however long a frame takes
DOUBLE_CLICK = 0.45  # seconds, as in the program's own window

SMALL = Scene(world=WorldParameters(source="noise", columns=64, rows=48))

NAMED_KEYS = {
    imgui.Key.space: "Space",
    imgui.Key.tab: "Tab",
    imgui.Key.escape: "Esc",
    imgui.Key.home: "Home",
    **{getattr(imgui.Key, f"f{number}"): f"F{number}" for number in range(1, 13)},
    **{getattr(imgui.Key, letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"},
    imgui.Key.equal: "=",
    imgui.Key.minus: "-",
    imgui.Key.period: ".",
    imgui.Key.keypad_add: "+",
    **{getattr(imgui.Key, f"_{number}"): str(number) for number in range(10)},
}
FUNCTION_KEYS = [name for name in NAMED_KEYS.values() if name[1:].isdigit()]
BUTTONS = {0: Button.LEFT, 1: Button.RIGHT, 2: Button.MIDDLE}


@dataclass
class FakeHost:
    """A window that only remembers what it was asked for."""

    asked: list[str] = field(default_factory=list)
    full_screen: bool = False
    pointer_captured: bool = False
    happening: list[Event] = field(default_factory=list)  # while a frame is drawn

    def close(self) -> None:
        self.asked.append("close")

    def toggle_full_screen(self) -> None:
        self.asked.append("full screen")

    def capture_pointer(self, captured: bool) -> None:
        self.pointer_captured = captured

    def waiting_events(self) -> list[Event]:
        return self.happening

    def events(self) -> list[Event]:
        happened, self.happening = self.happening, []
        return happened


class Driver:
    """What a test holds: the application, and ImGui's test engine to use it with."""

    def __init__(self, viewer: Viewer, context: Context) -> None:
        self.viewer = viewer
        self.application: Application = viewer.application
        self.engine = context
        self.seen: NDArray[np.uint8] | None = None  # the window as it was drawn last
        self.looks = False  # for the next frame
        self.asked: Callable[[], None] | None = None  # of the next frame
        self.refused: Exception | None = None  # by what was asked for last

    def look(self) -> NDArray[np.uint8]:
        """The window, `[row, column, (red, green, blue)]`, the uppermost row first."""
        self.seen, self.looks = None, True
        self.engine.yield_(2)
        assert self.seen is not None
        return self.seen

    def take(self, screen: moderngl.Framebuffer) -> None:
        """See a frame that was drawn."""
        width, height = screen.size
        pixels = screen.read(components=3, alignment=1)
        self.seen, self.looks = np.frombuffer(pixels, np.uint8).reshape(height, width, 3)[::-1], False

    def save(self, path: Path) -> None:
        """Save as the dialog does: in a frame of the window, whose thread alone may ask OpenGL for the picture.

        Raises what saving raises.
        """
        self.asked = partial(files.save, self.application, path)
        while self.asked is not None:
            self.engine.yield_()
        if self.refused is not None:
            refused, self.refused = self.refused, None
            raise refused

    def act(self) -> None:
        """Do what was asked for, within a frame."""
        if self.asked is not None:
            try:
                self.asked()
            except Exception as error:
                self.refused = error
            self.asked = None

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Let frames pass until something is so."""

        def is_so() -> bool:
            if not condition():
                assert not self.engine.is_error(), f"waited for {what} when nothing more was done"
                self.engine.yield_()
            return condition()

        waiting.wait_for(is_so, what)

    def wait_for_picture(self) -> None:
        """Let frames pass until all land that has come is drawn, and nothing of it is left to be baked."""

        def is_whole() -> bool:
            sides, showing = self.application.sides, self.application.simulation.session.showing
            return not (sides.drawing or showing.is_old or showing.publisher.is_full) and all(
                side.picture.snapshot is side.snapshot and side.picture.frame_settled for side in sides.shown
            )

        self.engine.yield_(4)  # what was asked for last may not have been begun
        self.wait_for(is_whole, "a whole picture")

    def let_pass(self, seconds: float) -> None:
        """Let the frames pass in which so much time goes by for the window."""
        self.engine.yield_(math.ceil(seconds / FRAME_TIME) + 1)

    def rows(self) -> set[str]:
        """The parameters that have a row in the panel, in sight or not."""
        self._refer_to_parameters()
        items = imgui.test_engine.TestItemList()
        self.engine.gather_items(items, "")
        shown = {items.get_by_index(number).id_ for number in range(items.get_size())}
        return {path for path in DECLARATIONS if self.engine.get_id(f"{path}/##{path}") in shown}

    def widget(self, parameter: str) -> str:
        """The test engine's name of a parameter's widget."""
        self._refer_to_parameters()
        name = f"{parameter}/##{parameter}"
        if not self.engine.item_exists(name):
            self.unfold(parameter.partition(".")[0])
        return name

    def unfold(self, group: str) -> None:
        """Let a group show all its parameters, where it is shown itself."""
        self._refer_to_parameters()
        if group not in self.application.panel.memory.state.unfolded and self.engine.item_exists(f"###group {group}"):
            self.engine.item_click(f"###group {group}")
            self.engine.yield_(2)

    def reset_button(self, parameter: str) -> str:
        self._refer_to_parameters()
        return f"{parameter}/###reset {parameter}"

    def section(self, name: str) -> str:
        self._refer_to_parameters()
        return f"###section {name}"

    def button(self, command: str) -> str:
        """A button of the uppermost row."""
        self.engine.set_ref("//Panel")
        return f"###{command}"

    def snowball_button(self, name: str) -> str:
        """A button below the parameters of snowballs."""
        self._refer_to_parameters()
        return f"###{name}"

    def open_all_sections(self) -> None:
        """Let all parameters be seen that are in use."""
        for section in reversed(SECTIONS):  # from the end: what is above would push it down
            self.engine.item_open(self.section(section))
        self.application.panel.memory.state.unfolded = list(GROUPS)
        self.engine.yield_(3)

    def press(self, chord: str) -> None:
        """Press the key that has this name in the table of actions."""
        name = chord.removeprefix("Ctrl+").removeprefix("Shift+")
        key = next((int(key) for key, known in NAMED_KEYS.items() if known == name), None)
        if chord != name:
            assert key is not None, chord
            held = [(imgui.Key.mod_ctrl, "Ctrl+" in chord), (imgui.Key.mod_shift, "Shift+" in chord)]
            self.engine.key_press(sum(int(modifier) for modifier, is_held in held if is_held) | key)
        elif key is not None and (name.isalnum() or len(name) > 1):
            self.engine.key_press(key)
        else:
            self.engine.key_chars(name)
        self.engine.yield_(3)

    def _refer_to_parameters(self) -> None:
        self.engine.set_ref(self.engine.window_info("//Panel/parameters").window)


def drive(
    test: Callable[[Driver], None],
    *scenes: Scene,
    paused: bool = True,
    size: tuple[int, int] = (1280, 800),
    scale: float = 1.0,
    library: Library | None = None,
    sharp: bool = False,
    draws_land: bool = True,
) -> None:
    """Run the application, with one scene or two side by side, and a test beside it.

    ImGui, application and simulation are new for each test; OpenGL is not, nor are its programs. Pictures have few
    pixels, each drawn large, unless they shall be `sharp`: to draw them takes longer than all else. A test that looks
    at nothing but the panel can do without the land in them: then `draws_land` is false. Their automatic
    quality does not follow the time that they take, and what the window lets last for a time lasts for frames.
    """

    with graphics() as context, pytest.MonkeyPatch.context() as patch:
        clock = _begin_anew(patch, sharp=sharp, draws_land=draws_land)
        simulation = SimulationThread(*(scenes or (SMALL,)), paused=paused)
        _Stage(context, simulation, clock, size, scale, library).play(test)


def _begin_anew(patch: pytest.MonkeyPatch, *, sharp: bool, draws_land: bool) -> Clock:
    """Let all that there is once for a program be as it is when a program begins."""
    clock = Clock()
    for module in (card_loops, documents, messages, notices, part_choice, tour, undo, widgets):
        patch.setattr(module, "time", clock)
    patch.setattr(widgets._Slides, "began", {})
    patch.setattr(places._Noted, "places", {})
    patch.setattr(reading, "_joined_last", None)

    def quality(picture: Picture, view: ViewParameters, finer: int = 0) -> Quality:
        level = LEVELS[finer] if view.quality == "automatic" else BY_NAME[view.quality]
        return level if sharp else replace(level, scale=COARSE, light_budget=AT_ONCE, shore_budget=AT_ONCE)

    patch.setattr(Picture, "quality", quality)
    if not draws_land:
        patch.setattr(Picture, "slices", lambda self, target, shot: iter(()))
        patch.setattr(Picture, "frame_settled", True)
        patch.setattr(Picture, "may_stay", lambda self, time: True)
    return clock


class Clock:
    """In the place of the module `time`: each frame takes as long as any other."""

    def __init__(self) -> None:
        self._now = 1000.0

    def monotonic(self) -> float:
        return self._now

    def go_on(self) -> None:
        self._now += FRAME_TIME

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)


class _Stage:
    """A window that is nowhere seen: ImGui without a screen, and the application in it."""

    def __init__(
        self,
        context: moderngl.Context,
        simulation: SimulationThread,
        clock: Clock,
        size: tuple[int, int],
        scale: float,
        library: Library | None,
    ) -> None:
        self._context, self._simulation, self._clock = context, simulation, clock
        self._size, self._scale, self._library = size, scale, library
        self._screen = context.framebuffer([context.renderbuffer(size)])
        self._viewer: Viewer | None = None
        self._driver: Driver | None = None
        self._error: BaseException | None = None

    def play(self, test: Callable[[Driver], None]) -> None:
        """Run a test to its end. Raises what it raises, and for what the test engine could not do `AssertionError`."""
        parameters = hello_imgui.RunnerParams()
        parameters.use_imgui_test_engine = True
        parameters.platform_backend_type = hello_imgui.PlatformBackendType.null
        parameters.renderer_backend_type = hello_imgui.RendererBackendType.null
        parameters.imgui_window_params.default_imgui_window_type = hello_imgui.DefaultImGuiWindowType.no_default_window
        parameters.imgui_window_params.enable_viewports = False
        parameters.fps_idling.enable_idling = False
        parameters.ini_disable = True
        parameters.callbacks.load_additional_fonts = style.load_fonts
        parameters.callbacks.setup_imgui_style = lambda: style.apply(self._scale)
        parameters.callbacks.post_init = self._begin
        parameters.callbacks.pre_new_frame = self._begin_frame
        parameters.callbacks.show_gui = self._frame
        parameters.callbacks.after_swap = self._present
        parameters.callbacks.before_exit_post_cleanup = imgui.destroy_context  # as a platform would
        immapp.manual_render.setup_from_runner_params(parameters, immapp.AddOnsParams())
        try:
            self._run(test)
        finally:
            try:
                self._end()
            finally:
                imgui.backends.opengl3_shutdown()
                immapp.manual_render.tear_down()

    def _run(self, test: Callable[[Driver], None]) -> None:
        engine = hello_imgui.get_imgui_test_engine()
        io = imgui.test_engine.get_io(engine)
        io.config_run_speed = imgui.test_engine.TestRunSpeed.fast
        io.config_fixed_delta_time = FRAME_TIME
        io.config_watchdog_warning = io.config_watchdog_kill_test = sys.float_info.max  # pytest watches over the time
        registered = imgui.test_engine.register_test(engine, "application", "test")
        registered.test_func = partial(self._act, test)
        imgui.test_engine.queue_test(engine, registered)
        while not imgui.test_engine.is_test_queue_empty(engine):
            immapp.manual_render.render()
        log = registered.output.log.get_text()
        if self._error is not None:
            self._error.add_note(log)
            raise self._error
        assert registered.output.status == imgui.test_engine.TestStatus.success, log

    def _act(self, test: Callable[[Driver], None], context: Context) -> None:
        assert self._viewer is not None
        self._driver = Driver(self._viewer, context)
        context.yield_(3)
        try:
            test(self._driver)
        except BaseException as error:
            self._error = error

    def _begin(self) -> None:
        imgui.backends.opengl3_init("#version 410 core")
        imgui.get_io().mouse_double_click_time = DOUBLE_CLICK
        self._viewer = Viewer(
            Application(self._context, self._simulation, FakeHost(), content_scale=self._scale, library=self._library)
        )
        self._simulation.start()

    def _begin_frame(self) -> None:
        imgui.backends.opengl3_new_frame()
        imgui.get_io().display_size = imgui.ImVec2(*self._size)

    def _frame(self) -> None:
        viewer = self._viewer
        assert viewer is not None
        application = viewer.application
        self._clock.go_on()
        viewer.frame(_events(), FRAME_TIME, *self._size, 1.0)
        if self._driver is not None:
            self._driver.act()
        if application.snapshot is not None:
            self._simulation.first_picture_shown.set()
        application.frame_times.add(FRAME_TIME)
        style.apply(application.interface_scale)

    def _present(self) -> None:
        """Draw the panel over the pictures where the test looks at them."""
        data = imgui.get_draw_data()
        if self._driver is not None and self._driver.looks:
            assert self._viewer is not None
            self._screen.viewport = self._screen.scissor = (0, 0, *self._size)
            self._viewer.lay_pictures(self._screen, self._size[1])
            imgui.backends.opengl3_render_draw_data(data)
            self._driver.take(self._screen)
        for texture in data.textures:
            if texture.status != imgui.ImTextureStatus.ok:
                imgui.backends.opengl3_update_texture(texture)

    def _end(self) -> None:
        assert self._viewer is not None
        self._simulation.stop()
        self._viewer.application.recording.finish()
        self._viewer.close()
        for made in (self._screen, *self._screen.color_attachments):
            made.release()


def _events() -> list[Event]:
    """What ImGui heard in this frame, as the events of the program's window."""
    io = imgui.get_io()
    events: list[Event] = []
    control = "Ctrl+" if io.key_ctrl else ""
    for key, name in NAMED_KEYS.items():
        is_sign = len(name) == 1 and not name.isalnum()
        if imgui.is_key_pressed(key, False) and (control or not is_sign):
            has_two = (len(name) == 1 and name.isalpha()) or name in FUNCTION_KEYS
            shift = "Shift+" if io.key_shift and has_two else ""
            events.append(KeyPressed(control + shift + name, name))
    for character in io.input_queue_characters:
        if not chr(character).isalnum() and not chr(character).isspace():
            events.append(KeyPressed(chr(character)))
    place = io.mouse_pos
    events.append(PointerMoved(place.x, place.y))
    for number, button in BUTTONS.items():
        if imgui.is_mouse_clicked(number):
            events.append(ButtonPressed(button, place.x, place.y, io.key_shift, io.key_ctrl))
        if imgui.is_mouse_released(number):
            events.append(ButtonReleased(button))
    if io.mouse_wheel:
        events.append(Scrolled(io.mouse_wheel, place.x, place.y))
    return events

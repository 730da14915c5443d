"""Hosts the application where ImGui's test engine can drive it: in `immapp`, and not in the program's own loop.

Mouse and keys reach the application as they do in the program, by events; here they are read from ImGui, which is what
the test engine pretends to use.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import moderngl
import numpy as np
from imgui_bundle import hello_imgui, imgui
from imgui_bundle.immapp import testing
from numpy.typing import NDArray

from app.engine.thread import SimulationThread
from app.files.library import Library
from app.picture import style
from app.scene.scene import GROUPS, Scene
from app.sources.parameters import WorldParameters
from app.window.application import Application
from app.window.events import Button, ButtonPressed, ButtonReleased, Event, KeyPressed, PointerMoved, Scrolled
from app.window.panel.parameters import SECTIONS

Context = imgui.test_engine.TestContext

LONGEST_TEST = 500.0  # seconds

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

    def __init__(self, application: Application, context: Context) -> None:
        self.application = application
        self.engine = context
        self.seen: NDArray[np.uint8] | None = None  # the window as it was drawn last
        self._looks = False

    def look(self) -> NDArray[np.uint8]:
        """The window, `[row, column, (red, green, blue)]`, the uppermost row first."""
        self.seen, self._looks = None, True
        self.wait_for(lambda: self.seen is not None, "a frame")
        assert self.seen is not None
        return self.seen

    def take(self, screen: moderngl.Framebuffer, width: int, height: int) -> None:
        """See a frame that was drawn, where the test waits for one."""
        if self._looks:
            pixels = screen.read(viewport=(0, 0, width, height), components=3, alignment=1)
            self.seen, self._looks = np.frombuffer(pixels, np.uint8).reshape(height, width, 3)[::-1], False

    def wait_for(self, condition: Callable[[], bool], what: str, *, frames: int = 3000) -> None:
        """Let frames pass until something is so."""
        for _ in range(frames):
            if condition():
                return
            self.engine.yield_()
            time.sleep(0.005)
        raise AssertionError(f"waited in vain: {what}")

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
        if group not in self.application.panel.memory.kept.unfolded and self.engine.item_exists(f"###group {group}"):
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
        for section in reversed(SECTIONS):  # from the end: what is above would push it down
            self.engine.item_open(self.section(section))
        for group in reversed(GROUPS):
            self.unfold(group)
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
) -> None:
    """Run the application in a window, with one scene or two side by side, and a test beside it."""
    simulation = SimulationThread(*(scenes or (SMALL,)), paused=paused)
    running: list[Application] = []
    drivers: list[Driver] = []
    last = time.perf_counter()

    def begin() -> None:
        # Frames of a busy machine take long.
        imgui.get_io().mouse_double_click_time, imgui.get_io().mouse_single_click_delay = 3.0, 3.1  # seconds
        context = moderngl.create_context(require=410)
        running.append(Application(context, simulation, FakeHost(), content_scale=scale, library=library))
        simulation.start()

    def frame() -> None:
        nonlocal last
        application = running[0]
        now = time.perf_counter()
        display = imgui.get_io().display_size
        application.frame(_events(), now - last, display.x, display.y, 1.0)
        application.sides.context.screen.use()  # into which immapp draws the panel
        if application.snapshot is not None:
            simulation.first_picture_shown.set()
        application.frame_times.add(time.perf_counter() - now)
        style.apply(application.interface_scale)
        last = now

    def background() -> None:
        context = running[0].sides.context
        width, height = imgui.get_io().display_size
        context.screen.viewport = context.screen.scissor = (0, 0, round(width), round(height))
        running[0].lay_pictures(context.screen, round(height))

    def presented() -> None:
        display = imgui.get_io().display_size
        for driver in drivers:
            driver.take(running[0].sides.context.screen, round(display.x), round(display.y))

    def run_test(context: Context) -> None:
        # pytest watches over the time a test takes; the engine's own minute is short for a machine that is busy
        imgui.test_engine.get_io(hello_imgui.get_imgui_test_engine()).config_watchdog_kill_test = LONGEST_TEST
        driver = Driver(running[0], context)
        drivers.append(driver)
        context.yield_(3)
        test(driver)

    def end() -> None:
        simulation.stop()
        running[0].recording.finish()
        running[0].close()

    parameters = hello_imgui.RunnerParams()
    parameters.app_window_params.window_geometry.size = size
    parameters.imgui_window_params.default_imgui_window_type = hello_imgui.DefaultImGuiWindowType.no_default_window
    parameters.imgui_window_params.enable_viewports = False
    parameters.fps_idling.enable_idling = False
    parameters.ini_disable = True
    parameters.callbacks.load_additional_fonts = style.load_fonts
    parameters.callbacks.setup_imgui_style = lambda: style.apply(scale)
    parameters.callbacks.post_init = begin
    parameters.callbacks.show_gui = frame
    parameters.callbacks.custom_background = background
    parameters.callbacks.after_swap = presented
    parameters.callbacks.before_exit = end
    testing.run(test_function=run_test, runner_params=parameters)


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

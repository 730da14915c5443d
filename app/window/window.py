"""The window: glfw with ImGui's backend. Sole owner of sizes, scales and events."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

# imgui_bundle points glfw at its own library; in the other order two libraries would be loaded.
from imgui_bundle import imgui  # isort: skip
import glfw  # isort: skip
import moderngl

from app.model.errors import UserError
from app.window import gamepad
from app.window.events import (
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

log = logging.getLogger(__name__)

OPENGL = (4, 1)
NEEDED = f"OpenGL {OPENGL[0]}.{OPENGL[1]}"
NO_WINDOW_HINT = "`thalweg render` makes pictures and videos without a window"
SMALLEST_SIZE = (480, 320)

_NO_RESET = 0  # GL_NO_ERROR

_NAMED_KEYS = {
    glfw.KEY_SPACE: "Space",
    glfw.KEY_TAB: "Tab",
    glfw.KEY_ESCAPE: "Esc",
    glfw.KEY_HOME: "Home",
    glfw.KEY_LEFT_SHIFT: "Shift",
    glfw.KEY_RIGHT_SHIFT: "Shift",
    **{getattr(glfw, f"KEY_F{number}"): f"F{number}" for number in range(1, 13)},
}
_FUNCTION_KEYS = {f"F{number}" for number in range(1, 13)}
_BUTTONS = {
    glfw.MOUSE_BUTTON_LEFT: Button.LEFT,
    glfw.MOUSE_BUTTON_RIGHT: Button.RIGHT,
    glfw.MOUSE_BUTTON_MIDDLE: Button.MIDDLE,
}
_SHIFT_KEYS = (glfw.KEY_LEFT_SHIFT, glfw.KEY_RIGHT_SHIFT)
_CONTROL_KEYS = (glfw.KEY_LEFT_CONTROL, glfw.KEY_RIGHT_CONTROL)
_ALT_KEYS = (glfw.KEY_LEFT_ALT, glfw.KEY_RIGHT_ALT)
_GAMEPAD_BUTTONS: dict[int, gamepad.Button] = {
    glfw.GAMEPAD_BUTTON_A: "a",
    glfw.GAMEPAD_BUTTON_B: "b",
    glfw.GAMEPAD_BUTTON_LEFT_BUMPER: "left bumper",
    glfw.GAMEPAD_BUTTON_RIGHT_BUMPER: "right bumper",
    glfw.GAMEPAD_BUTTON_START: "start",
    glfw.GAMEPAD_BUTTON_DPAD_LEFT: "left",
    glfw.GAMEPAD_BUTTON_DPAD_RIGHT: "right",
    glfw.GAMEPAD_BUTTON_DPAD_UP: "up",
    glfw.GAMEPAD_BUTTON_DPAD_DOWN: "down",
}
LONGEST_WAIT_FOR_GAMEPAD = 1.0 / 30.0  # seconds between two readings
_COMMAND_KEY = glfw.MOD_SUPER if sys.platform == "darwin" else glfw.MOD_CONTROL


class ContextLost(Exception):
    """The graphics driver was reset. Its resources are lost, and nothing can be drawn any more."""

    def __init__(self) -> None:
        super().__init__("the graphics driver was reset")


@contextlib.contextmanager
def hidden_context() -> Iterator[moderngl.Context]:
    """A context of a hidden window. Raises `UserError` if there is no OpenGL or it is too old."""
    errors: list[str] = []
    glfw.set_error_callback(lambda _code, text: errors.append(_text(text)))
    try:
        if not glfw.init():
            raise UserError(_last(errors))
        _ask_for_opengl()
        glfw.window_hint(glfw.VISIBLE, False)
        handle = glfw.create_window(*SMALLEST_SIZE, "", None, None)
        if not handle:
            raise UserError(_last(errors))
        glfw.make_context_current(handle)
        with moderngl.create_context(require=OPENGL[0] * 100 + OPENGL[1] * 10) as context:
            yield context
    finally:
        glfw.terminate()


def _ask_for_opengl() -> None:
    """Set the hints of the next window."""
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, OPENGL[0])
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, OPENGL[1])
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    glfw.window_hint(glfw.OPENGL_FORWARD_COMPAT, True)
    for unused in (glfw.DEPTH_BITS, glfw.STENCIL_BITS):  # the land has a framebuffer of its own
        glfw.window_hint(unused, 0)


class Input:
    """Input from glfw as events: keys, mouse, dropped files, gamepads."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._events: list[Event] = []
        self._gamepads: list[int] = []  # connected
        self._gamepad_before = gamepad.AT_REST
        glfw.set_key_callback(handle, self._on_key)
        glfw.set_char_callback(handle, self._on_character)
        glfw.set_cursor_pos_callback(handle, self._on_pointer)
        glfw.set_mouse_button_callback(handle, self._on_button)
        glfw.set_scroll_callback(handle, self._on_scroll)
        on_drop: Any = self._on_drop  # glfw passes a list, but declares the C types
        glfw.set_drop_callback(handle, on_drop)
        glfw.set_window_focus_callback(handle, self._on_focus)
        glfw.set_joystick_callback(lambda _joystick, _event: self._find_gamepads())
        self._find_gamepads()

    def take(self, wait: float) -> list[Event]:
        """All that happened since the last call; where nothing did, waits up to `wait` seconds for something."""
        if self._gamepads:  # gamepads wake nobody
            wait = min(wait, LONGEST_WAIT_FOR_GAMEPAD)
        if wait > 0.0 and not self._events:
            glfw.wait_events_timeout(wait)
        else:
            glfw.poll_events()
        happened, self._events = self._events, []
        if self._gamepads:
            happened += self._gamepad_events()
        return happened

    def waiting(self) -> Sequence[Event]:
        """The events that `take` will return, so far."""
        glfw.poll_events()
        return tuple(self._events)

    def post(self, event: Event) -> None:
        """Add an event, from any thread."""
        self._events.append(event)
        glfw.post_empty_event()

    def _gamepad_events(self) -> Iterator[Event]:
        """Events of the first gamepad since the last call; none without the focus."""
        read = glfw.get_gamepad_state(self._gamepads[0]) if glfw.get_window_attrib(self._handle, glfw.FOCUSED) else None
        state = _gamepad_state(read) if read is not None else gamepad.AT_REST
        yield from gamepad.events(state, self._gamepad_before)
        self._gamepad_before = state

    def _find_gamepads(self) -> None:
        self._gamepads = [joystick for joystick in range(glfw.JOYSTICK_LAST + 1) if glfw.joystick_is_gamepad(joystick)]

    # Callbacks of glfw.

    def _on_key(self, _window: Any, key: int, scancode: int, action: int, modifiers: int) -> None:
        place = _NAMED_KEYS.get(key) or (chr(key) if 32 < key < 127 else "")
        if action == glfw.RELEASE:
            self._events.append(KeyReleased(place))
            return
        if action != glfw.PRESS:
            return
        command, shift = bool(modifiers & _COMMAND_KEY), bool(modifiers & glfw.MOD_SHIFT)
        printed = _NAMED_KEYS.get(key) or (glfw.get_key_name(key, scancode) or "").upper()
        # The key of a sign such as ? or [ depends on the keyboard: it comes as a character, see `_on_character`.
        is_letter = len(printed) == 1 and printed.isalpha()
        if shift and (is_letter or printed in _FUNCTION_KEYS):
            printed = f"Shift+{printed}"
        if command and printed:
            self._events.append(KeyPressed(f"Ctrl+{printed}", place))
        elif len(printed) > 1 or printed.isalnum():
            self._events.append(KeyPressed(printed, place))

    def _on_character(self, _window: Any, code: int) -> None:
        character = chr(code)
        if character.isprintable() and not character.isalnum() and not character.isspace():
            self._events.append(KeyPressed(character))

    def _on_pointer(self, _window: Any, x: float, y: float) -> None:
        self._events.append(PointerMoved(x, y))

    def _on_button(self, _window: Any, button: int, action: int, modifiers: int) -> None:
        if button not in _BUTTONS:
            return
        if action == glfw.PRESS:
            x, y = glfw.get_cursor_pos(self._handle)
            shift, control = bool(modifiers & glfw.MOD_SHIFT), bool(modifiers & glfw.MOD_CONTROL)
            alt = bool(modifiers & glfw.MOD_ALT)
            self._events.append(ButtonPressed(_BUTTONS[button], x, y, shift, control, alt))
        else:
            self._events.append(ButtonReleased(_BUTTONS[button]))

    def _on_scroll(self, _window: Any, across: float, amount: float) -> None:
        x, y = glfw.get_cursor_pos(self._handle)
        shift, control, alt = (any(map(self._is_down, keys)) for keys in (_SHIFT_KEYS, _CONTROL_KEYS, _ALT_KEYS))
        # With Shift some systems scroll sideways.
        self._events.append(Scrolled(amount or across, x, y, shift, control, alt))

    def _is_down(self, key: int) -> bool:
        return bool(glfw.get_key(self._handle, key) == glfw.PRESS)

    def _on_drop(self, _window: Any, paths: list[str]) -> None:
        self._events.append(FilesDropped(tuple(Path(path) for path in paths)))

    def _on_focus(self, _window: Any, focused: int) -> None:
        if not focused:
            self._events.append(FocusLost())


class Window:
    """A window with OpenGL and ImGui in it.

    A frame is `events()`, `begin_frame()`, what the application draws, `end_frame()`. Its `context` is current on the
    thread that made it.
    """

    def __init__(self, title: str, width: int, height: int, *, layout_file: Path | None = None) -> None:
        self._title = title
        self._place_before: tuple[int, int, int, int] | None = None  # of the window before full screen
        self._pointer_hidden = False
        self.lost = False  # whether the context is lost
        self._open(title, width, height)
        self._connect_imgui(layout_file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.lost:  # after a reset there is nothing to release
            imgui.backends.opengl3_shutdown()
            imgui.backends.glfw_shutdown()
            imgui.destroy_context()
            self.context.release()
        glfw.terminate()

    # Sizes.

    @property
    def size(self) -> tuple[int, int]:
        """Size in logical units, as used by pointer and ImGui."""
        width, height = glfw.get_window_size(self._handle)
        return width, height

    @property
    def pixel_size(self) -> tuple[int, int]:
        """Size in pixels, as used by OpenGL."""
        width, height = glfw.get_framebuffer_size(self._handle)
        return width, height

    @property
    def pixels_per_unit(self) -> float:
        return self.pixel_size[0] / max(self.size[0], 1)

    @property
    def content_scale(self) -> float:
        """The scale of text in logical units on this screen.

        Where logical units are already larger than pixels (macOS, Wayland), the scale is reduced by that.
        """
        scale = max(glfw.get_window_content_scale(self._handle))
        return float(max(scale / max(self.pixels_per_unit, 1e-3), 0.5))

    @property
    def hidden(self) -> bool:
        """Whether the window is invisible: minimised, unmapped or of size 0."""
        iconified = glfw.get_window_attrib(self._handle, glfw.ICONIFIED)
        visible = glfw.get_window_attrib(self._handle, glfw.VISIBLE)
        return bool(iconified) or not visible or 0 in self.pixel_size

    @property
    def frames_per_second(self) -> int:
        """The refresh rate of the screen, or 60 if unknown."""
        mode = glfw.get_video_mode(glfw.get_primary_monitor()) if glfw.get_primary_monitor() else None
        return mode.refresh_rate if mode and 20 <= mode.refresh_rate <= 500 else 60

    # A frame.

    def events(self, wait: float = 0.0) -> list[Event]:
        """All that happened since the last call; where nothing did, waits up to `wait` seconds for something."""
        return self._input.take(wait)

    def waiting_events(self) -> Sequence[Event]:
        """The events that `events` will return, so far."""
        return self._input.waiting()

    def post(self, event: Event) -> None:
        """Add an event from any thread, as if from the user."""
        self._input.post(event)

    def wake(self) -> None:
        """End a wait for events, from any thread."""
        glfw.post_empty_event()

    def begin_frame(self) -> None:
        imgui.backends.opengl3_new_frame()
        imgui.backends.glfw_new_frame()
        imgui.new_frame()

    def end_frame(
        self,
        lay_behind: Callable[[moderngl.Framebuffer, int], None],
        see: Callable[[moderngl.Framebuffer, tuple[int, int]], None],
    ) -> None:
        """Draw what ImGui collected over what `lay_behind` draws onto a screen of a height in pixels, and present it.

        `see` is given the screen, of a size in pixels, with all that is drawn. Raises `ContextLost` if the driver
        reports that nothing can be drawn any more.
        """
        imgui.render()
        screen = self.context.screen
        screen.viewport = screen.scissor = (0, 0, *self.pixel_size)
        lay_behind(screen, self.pixel_size[1])
        imgui.backends.opengl3_render_draw_data(imgui.get_draw_data())
        see(screen, self.pixel_size)
        glfw.swap_buffers(self._handle)
        if self._reset_status() != _NO_RESET:
            self.lost = True
            raise ContextLost

    @property
    def closing(self) -> bool:
        return bool(glfw.window_should_close(self._handle))

    # Requests of the application.

    def close(self) -> None:
        glfw.set_window_should_close(self._handle, True)

    def resize(self, width: int, height: int) -> None:
        """Resize the window, in logical units."""
        glfw.set_window_size(self._handle, width, height)

    def set_title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            glfw.set_window_title(self._handle, title)

    @property
    def full_screen(self) -> bool:
        return self._place_before is not None

    def toggle_full_screen(self) -> None:
        """Enter full screen on the current monitor, or leave it."""
        if self._place_before:
            no_monitor: Any = None  # None means a window, which glfw's types do not allow
            glfw.set_window_monitor(self._handle, no_monitor, *self._place_before, glfw.DONT_CARE)
            self._place_before = None
            return
        monitor = self._monitor()
        if monitor is None:
            return
        self._place_before = (*glfw.get_window_pos(self._handle), *glfw.get_window_size(self._handle))
        mode = glfw.get_video_mode(monitor)
        glfw.set_window_monitor(self._handle, monitor, 0, 0, mode.size.width, mode.size.height, mode.refresh_rate)

    def capture_pointer(self, captured: bool) -> None:
        """Capture the pointer for looking around."""
        if captured != self._pointer_hidden:
            self._pointer_hidden = captured
            glfw.set_input_mode(self._handle, glfw.CURSOR, glfw.CURSOR_DISABLED if captured else glfw.CURSOR_NORMAL)

    # Setup.

    def _open(self, title: str, width: int, height: int) -> None:
        errors: list[str] = []
        glfw.set_error_callback(lambda _code, text: errors.append(_text(text)))
        if not glfw.init():
            raise UserError(f"no window: there is no display ({_last(errors)}); {NO_WINDOW_HINT}")
        _ask_for_opengl()
        glfw.window_hint(glfw.CONTEXT_ROBUSTNESS, glfw.LOSE_CONTEXT_ON_RESET)  # if the driver supports it
        glfw.window_hint(glfw.SCALE_TO_MONITOR, True)
        glfw.window_hint_string(glfw.X11_CLASS_NAME, "thalweg")
        glfw.window_hint_string(glfw.WAYLAND_APP_ID, "thalweg")
        self._handle = glfw.create_window(width, height, title, None, None)
        if not self._handle:
            glfw.terminate()
            raise UserError(f"no window: {NEEDED} is needed ({_last(errors)}); {NO_WINDOW_HINT}")
        glfw.set_error_callback(lambda _code, text: log.warning("glfw: %s", _text(text)))
        self._fit_screen()
        glfw.set_window_size_limits(self._handle, *SMALLEST_SIZE, glfw.DONT_CARE, glfw.DONT_CARE)
        glfw.make_context_current(self._handle)
        glfw.swap_interval(1)
        try:
            self.context = moderngl.create_context(require=OPENGL[0] * 100 + OPENGL[1] * 10)
        except Exception as error:
            glfw.terminate()
            raise UserError(f"no window: {NEEDED} is needed ({error}); {NO_WINDOW_HINT}") from error
        self._reset_status = self._find_reset_status()

    def _find_reset_status(self) -> Callable[[], int]:
        """OpenGL's function that reports a lost context; a constant if the driver has none."""
        address: Any = glfw.get_proc_address("glGetGraphicsResetStatusARB")
        reports = glfw.get_window_attrib(self._handle, glfw.CONTEXT_ROBUSTNESS) == glfw.LOSE_CONTEXT_ON_RESET
        if not address or not reports:
            return lambda: _NO_RESET
        status: Callable[[], int] = ctypes.PYFUNCTYPE(ctypes.c_int)(ctypes.cast(address, ctypes.c_void_p).value or 0)
        return status

    def _fit_screen(self) -> None:
        """Shrink the window to the screen: glfw enlarges it by the content scale."""
        monitor = glfw.get_primary_monitor()
        if monitor:
            _, _, free_width, free_height = glfw.get_monitor_workarea(monitor)
            width, height = self.size
            if width > free_width or height > free_height:
                glfw.set_window_size(self._handle, min(width, free_width), min(height, free_height))

    def _connect_imgui(self, layout_file: Path | None) -> None:
        imgui.create_context()
        io = imgui.get_io()
        io.set_ini_filename(str(layout_file) if layout_file else "")
        io.config_flags |= imgui.ConfigFlags_.docking_enable.value
        io.config_windows_move_from_title_bar_only = True
        io.mouse_double_click_time = 0.45  # long enough for the slow frames of a software rasteriser
        # Ours first: ImGui's backend chains existing callbacks, not the other way round.
        self._input = Input(self._handle)
        address = ctypes.cast(self._handle, ctypes.c_void_p).value
        assert address is not None
        imgui.backends.glfw_init_for_opengl(address, True)
        imgui.backends.opengl3_init(f"#version {OPENGL[0]}{OPENGL[1]}0 core")

    def _monitor(self) -> Any:
        """The monitor that shows most of the window."""
        x, y = glfw.get_window_pos(self._handle)
        width, height = glfw.get_window_size(self._handle)

        def shown(monitor: Any) -> int:
            left, top = glfw.get_monitor_pos(monitor)
            size = glfw.get_video_mode(monitor).size
            across = min(x + width, left + size.width) - max(x, left)
            down = min(y + height, top + size.height) - max(y, top)
            return max(across, 0) * max(down, 0)

        return max(glfw.get_monitors(), key=shown, default=None)


def _gamepad_state(read: Any) -> gamepad.GamepadState:
    """The gamepad state from glfw."""
    axes, pressed = read.axes, read.buttons
    return gamepad.GamepadState(
        (axes[glfw.GAMEPAD_AXIS_LEFT_X], axes[glfw.GAMEPAD_AXIS_LEFT_Y]),
        (axes[glfw.GAMEPAD_AXIS_RIGHT_X], axes[glfw.GAMEPAD_AXIS_RIGHT_Y]),
        axes[glfw.GAMEPAD_AXIS_LEFT_TRIGGER],
        axes[glfw.GAMEPAD_AXIS_RIGHT_TRIGGER],
        frozenset(name for number, name in _GAMEPAD_BUTTONS.items() if pressed[number]),
    )


def _text(message: str | bytes) -> str:
    return message.decode(errors="replace") if isinstance(message, bytes) else message


def _last(errors: list[str]) -> str:
    return errors[-1] if errors else "no reason was given"

"""Widgets of the panel: buttons, tooltips, and widgets for each type of parameter."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from imgui_bundle import imgui

from app.model.numbers import empty_means, exact_text, number_text, rounded, take_typed, zero_means
from app.model.parameters import Declaration, Value
from app.picture.style import ACCENT, FAINT_TEXT, FIELD, FIELD_HOVERED, TEXT, Colour, Face, em, faded
from app.window.panel import sight
from app.window.panel.places import note_place

LABEL_PART = 0.41  # of a row
NARROWEST_ROW = 15.0  # heights of the font; below it the label stands above its widget
BUTTON_WIDTH = 1.15  # of a button with an icon, in heights of a row
TOGGLE_HEIGHT = 0.78  # of a switch, in heights of a row
TOGGLE_WIDTH = 1.75  # of a switch, in its heights
LARGEST_SLIDER = 2**30  # wider ranges, such as seeds, are typed
NEXT_TO_ZERO = 1e-5  # of its high end: start of a logarithmic slider from zero
NARROWEST_TOOLTIP, SEVERAL_ROWS = 10.0, 5.0  # heights of the font
FINE = 0.1  # factor of slider movement with Shift
COARSE = 5.0  # factor with Ctrl
LEAST_TOLD = 0.1  # seconds of a cycle below which nothing is said
SOFT_SECONDS = 1.0  # of a cycle, up to which a slider moves freely
BISECTIONS = 20
Seconds = Callable[[float], float]

# Invisible windows that take the pointer over the scene
HANDLE_FLAGS = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_background.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_nav.value
    | imgui.WindowFlags_.no_move.value
    | imgui.WindowFlags_.no_bring_to_front_on_focus.value
    | imgui.WindowFlags_.no_focus_on_appearing.value
)
FOR_TOOLTIP = imgui.HoveredFlags_.for_tooltip.value
BY_KEYBOARD = imgui.ButtonFlags_.enable_nav.value
BY_TYPING = imgui.internal.ItemFlagsPrivate_.inputable.value
TAKING_KEYS = (imgui.Key.enter, imgui.Key.keypad_enter, imgui.Key.tab)


def icon_button(icon: str, name: str, tooltip: str, *, enabled: bool = True) -> bool:
    """A square button with an icon. `name` identifies it."""
    side = imgui.get_frame_height()
    imgui.begin_disabled(not enabled)
    pressed = imgui.button(f"{icon}###{name}", imgui.ImVec2(side * BUTTON_WIDTH, side * 1.1))
    imgui.end_disabled()
    note_place(name)
    tooltip_on_hover(tooltip)
    return pressed


def tooltip_on_hover(*lines: str) -> None:
    """Help on the last item: first line bright, the rest faint."""
    if tooltip_is_due():
        tooltip(*lines)


def tooltip_is_due() -> bool:
    """Whether the pointer has rested on the last item for long enough."""
    return imgui.is_item_hovered(FOR_TOOLTIP)


def tooltip(*lines: str) -> None:
    """Help on the last item, beside its window, so that it covers no rows."""
    widest = _stand_beside(lines, min(em(22.0), 0.6 * imgui.get_main_viewport().size.x))
    if not imgui.begin_tooltip():
        return
    imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + widest)
    for number, line in enumerate(lines):
        if number:
            imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), line)
        else:
            imgui.text_unformatted(line)
    imgui.pop_text_wrap_pos()
    imgui.end_tooltip()


def _stand_beside(lines: Sequence[str], widest: float) -> float:
    """Let a tooltip stand beside the window of the last item, where there is room, and return how wide it may be.

    Not beside a line of few rows, such as that at the bottom: there ImGui finds the place.
    """
    window, screen = imgui.internal.get_current_window().root_window, imgui.get_main_viewport().size
    gap, padding = em(0.4), imgui.get_style().window_padding
    left, right = window.pos.x - gap, screen.x - window.pos.x - window.size.x - gap
    room = max(left, right) - 2.0 * padding.x
    if window.size.y < em(SEVERAL_ROWS) or room < em(NARROWEST_TOOLTIP):
        return widest
    widest = min(widest, room)
    height = sum(imgui.calc_text_size(line, False, widest).y for line in lines)
    height += (len(lines) - 1) * imgui.get_style().item_spacing.y + 2.0 * padding.y
    top = max(min(imgui.get_item_rect_min().y, screen.y - height - gap), 0.0)
    place, pivot = (left, 1.0) if left >= right else (screen.x - right, 0.0)
    imgui.set_next_window_pos(imgui.ImVec2(place, top), imgui.Cond_.always.value, imgui.ImVec2(pivot, 0.0))
    return widest


def faint(text: str) -> None:
    """A line that explains, in as many lines as the panel is narrow."""
    imgui.push_text_wrap_pos(0.0)
    imgui.text_disabled(text)
    imgui.pop_text_wrap_pos()


def heading(text: str) -> None:
    imgui.push_font(Face.BOLD.font(), 0.0)
    imgui.text_unformatted(text)
    imgui.pop_font()


def right_aligned(text: str) -> None:
    """Right-aligned text in the rest of the line or cell."""
    free = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(free, 0.0))
    imgui.text_unformatted(text)


def slider_part(declaration: Declaration, value: float) -> float:
    """The position of a value on its slider, from 0 to 1."""
    low, high = declaration.low, declaration.high
    if declaration.log:
        low = low or NEXT_TO_ZERO * high
        return math.log(max(value, low) / low) / math.log(high / low)
    return (value - low) / (high - low)


def slider_value(declaration: Declaration, part: float) -> float:
    """The value at a fraction of the range, from 0 to 1, in the steps of its slider."""
    low, high = declaration.low, declaration.high
    if part <= 0.0 or part >= 1.0:
        value = low if part <= 0.0 else high
    elif declaration.log:
        low = low or NEXT_TO_ZERO * high
        value = low * (high / low) ** part
    else:
        value = low + (high - low) * part
    return rounded(declaration, value)


@dataclass
class Drag:
    """A slider being dragged, relative to its former value."""

    path: str
    before: Value
    pressed: float  # horizontal position of the press
    part: float  # position on the slider
    value: Value
    seconds: Seconds | None = None  # of a cycle, by value
    pointer: float | None = None  # last position; None until it counts as a drag

    def follow(self, declaration: Declaration, pointer: float, width: float) -> None:
        """Move with the pointer."""
        if self.pointer is None:
            reach = imgui.get_io().mouse_drag_threshold
            if abs(pointer - self.pressed) < reach:
                return
            self.pointer = self.pressed + math.copysign(reach, pointer - self.pressed)
        if pointer != self.pointer:
            pace = FINE if imgui.get_io().key_shift else COARSE if imgui.get_io().key_ctrl else 1.0
            if self.seconds is not None and pointer > self.pointer:
                pace = self._held_back(declaration, (pointer - self.pointer) / width, pace, self.seconds)
            self.part += (pointer - self.pointer) / width * pace
            self.pointer = pointer
            self.value = slider_value(declaration, self.part)

    @property
    def is_costly(self) -> bool:
        """Whether a cycle with its value will take longer than the soft range allows."""
        return self.seconds is not None and not isinstance(self.value, str) and self.seconds(self.value) > SOFT_SECONDS

    def _held_back(self, declaration: Declaration, step: float, pace: float, seconds: Seconds) -> float:
        """The pace of a step upwards, which ends where the soft range does, and goes on slowly from there."""
        low, high = self.part, self.part + step * pace
        if seconds(slider_value(declaration, high)) <= SOFT_SECONDS:
            return pace
        if seconds(slider_value(declaration, low)) > SOFT_SECONDS:
            return min(pace, FINE)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if seconds(slider_value(declaration, middle)) > SOFT_SECONDS else (middle, high)
        return (high - self.part) / step


@dataclass
class Typing:
    """A field being typed into."""

    path: str
    opened: str  # the former text
    text: str
    frame: int  # last frame in which it was visible


class ParameterWidgets:
    """Edits values of parameters, with a widget for each type.

    A press on a slider changes nothing, a drag moves it from where it is; Ctrl + click or a double click opens a field
    to type in. Esc reverts either. What `acts_at_end` changes only where a drag ends, or on Enter. `report` gets
    one line where something cannot be accepted as typed.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._drag: Drag | None = None
        self._typing: Typing | None = None

    @property
    def dragged(self) -> str:
        """The path of the parameter whose slider is held, if any."""
        return self._drag.path if self._drag else ""

    @property
    def used(self) -> str:
        """The path of the parameter that is dragged or typed, if any."""
        return self._drag.path if self._drag else self._typing.path if self._typing else ""

    def reserve(self, declaration: Declaration, width: float) -> None:
        """Leave the room of a widget that is out of sight."""
        flags = BY_TYPING
        if declaration.kind is bool:
            width, flags = toggle_width(), 0
        elif declaration.choices:
            width, flags = math.floor(width), 0  # ImGui's own widgets have whole pixels
        elif _is_typed(declaration):
            width = math.floor(width)
        sight.reserve(f"##{declaration.path}", imgui.ImVec2(width, imgui.get_frame_height()), flags)

    def edit(
        self,
        declaration: Declaration,
        value: Value,
        width: float,
        *,
        acts_at_end: bool = False,
        holding: float | None = None,
        seconds: Seconds | None = None,
    ) -> Value | None:
        """Show the widget of a parameter, `width` wide, and return the value that it has now.

        None where a drag was reverted: the value is then the one before. `holding` is what holds where a zero
        stands for something else. `seconds` tells what a cycle will take with a value: beyond the soft range, in which
        it is short, a drag goes on in fine steps, and changes the value only where it ends.
        """
        label = f"##{declaration.path}"
        imgui.set_next_item_width(width)
        if declaration.kind is bool:
            return toggle(label, bool(value))
        if declaration.choices:
            return choice(label, str(value), declaration.choices)
        if _is_typed(declaration):
            return self._text(label, declaration, value, acts_at_end)
        assert not isinstance(value, str)
        return self._slider(label, declaration, value, width, acts_at_end, holding, seconds)

    def _slider(
        self,
        label: str,
        declaration: Declaration,
        value: float,
        width: float,
        acts_at_end: bool,
        holding: float | None,
        seconds: Seconds | None,
    ) -> Value | None:
        path, place = declaration.path, imgui.get_cursor_screen_pos()
        size = imgui.ImVec2(width, imgui.get_frame_height())
        box = imgui.internal.ImRect(place, imgui.ImVec2(place.x + size.x, place.y + size.y))
        id = imgui.get_id(label)
        imgui.internal.item_size(size, imgui.get_style().frame_padding.y)
        if not imgui.internal.item_add(box, id, None, BY_TYPING):
            return value  # out of sight
        if not acts_at_end:
            note_place("slider", first=True)
        if self._typing_in(path):
            return self._type(box, id, label, declaration, value, acts_at_end)

        from_here = holding if value == 0 and holding is not None else value
        if imgui.get_current_context().nav_activate_id == id:  # activated by the keyboard
            return self._begin_typing(from_here, box, id, label, declaration, value, acts_at_end)
        _, hovered, held = imgui.internal.button_behavior(box, id, False, False)
        if imgui.is_item_activated():
            if imgui.get_io().key_ctrl or imgui.is_mouse_double_clicked(0):
                return self._begin_typing(from_here, box, id, label, declaration, value, acts_at_end)
            part = slider_part(declaration, from_here)
            self._drag = Drag(path, value, imgui.get_io().mouse_pos.x, part, value)
        if self._drag is None or self._drag.path != path or not (held or imgui.is_item_deactivated()):
            self._draw(box, declaration, value, holding, is_strong=hovered)
            return value
        self._drag.seconds = seconds
        return self._move(box, self._drag, declaration, value, acts_at_end, holding, held)

    def _move(
        self,
        box: imgui.internal.ImRect,
        drag: Drag,
        declaration: Declaration,
        value: Value,
        acts_at_end: bool,
        holding: float | None,
        held: bool,
    ) -> Value | None:
        """A frame of a drag, including its end."""
        if imgui.is_key_pressed(imgui.Key.escape):  # ImGui's keyboard navigation has released it already
            self._drag = None
            imgui.internal.clear_active_id()
            self._draw(box, declaration, float(drag.before), holding, is_strong=True)
            return value if acts_at_end else None
        drag.follow(declaration, imgui.get_io().mouse_pos.x, box.max.x - box.min.x)
        self._draw(box, declaration, float(drag.value), holding, is_strong=True, seconds=drag.seconds)
        acts_at_end = acts_at_end or drag.is_costly
        if not held:
            self._drag = None
        if drag.pointer is None or (held and acts_at_end):
            return value
        return drag.value

    def _draw(
        self,
        box: imgui.internal.ImRect,
        declaration: Declaration,
        value: float,
        holding: float | None,
        *,
        is_strong: bool,
        seconds: Seconds | None = None,
    ) -> None:
        """A slider, filled up to its value."""
        place, end = box.min, box.max
        if not imgui.is_rect_visible(place, end):
            return
        rounding = imgui.get_style().frame_rounding
        drawing = imgui.get_window_draw_list()
        meaning = zero_means(declaration) if value == 0 else ""
        shown = holding if meaning and holding is not None else value
        drawing.add_rect_filled(place, end, _packed(FIELD_HOVERED if is_strong else FIELD), rounding)
        filled = place.x + min(max(slider_part(declaration, shown), 0.0), 1.0) * (end.x - place.x)
        if filled > place.x + rounding:
            fill = faded(ACCENT, 0.12 if meaning else 0.32 if is_strong else 0.22)
            drawing.add_rect_filled(place, imgui.ImVec2(filled, end.y), _packed(fill), rounding)
        text = number_text(declaration, shown)
        if seconds is not None and (will_take := seconds(shown)) >= LEAST_TOLD:
            text += f" · ≈ {will_take:.2g} s" if will_take < 10.0 else f" · ≈ {will_take:.0f} s"
        if meaning:
            room = end.x - place.x - em(0.8)
            texts = (meaning, "automatic") if holding is None else (f"{text} · {meaning}", f"{text} · auto", text)
            text = next((words for words in texts if imgui.calc_text_size(words).x < room), texts[-1])
        middle = 0.5 * (place.x + end.x - imgui.calc_text_size(text).x)
        height = place.y + imgui.get_style().frame_padding.y
        drawing.add_text(imgui.ImVec2(middle, height), _packed(FAINT_TEXT if meaning else TEXT), text)
        if is_strong:
            imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)

    def being_typed(self, path: str) -> str | None:
        """The text being typed for a parameter; None if none is."""
        return self._typing.text if self._typing and self._typing_in(path) else None

    def _typing_in(self, path: str) -> bool:
        """Whether a field is open and still visible."""
        typing = self._typing
        if typing is not None and typing.path == path:
            if imgui.get_frame_count() - typing.frame <= 1:
                typing.frame = imgui.get_frame_count()
                return True
            self._typing = None
        return False

    def _begin_typing(
        self,
        from_here: float,
        box: imgui.internal.ImRect,
        id: int,
        label: str,
        declaration: Declaration,
        value: Value,
        acts_at_end: bool,
    ) -> Value:
        """Open a field over a slider, with an initial number."""
        text = exact_text(from_here)
        self._drag, self._typing = None, Typing(declaration.path, text, text, imgui.get_frame_count())
        return self._type(box, id, label, declaration, value, acts_at_end)

    def _type(
        self,
        box: imgui.internal.ImRect,
        id: int,
        label: str,
        declaration: Declaration,
        value: Value,
        acts_at_end: bool,
    ) -> Value:
        """A frame of a field over its slider."""
        assert self._typing is not None
        flags = imgui.InputTextFlags_.auto_select_all.value
        self._typing.text = imgui.internal.temp_input_text(box, id, label, self._typing.text, flags)[1]
        if imgui.internal.temp_input_is_active(id):
            return value
        return self._typed(declaration, value, acts_at_end)

    def _text(self, label: str, declaration: Declaration, value: Value, acts_at_end: bool) -> Value:
        """A text, or a number with too wide a range for a slider."""
        is_typing = self._typing_in(declaration.path)
        shown = self._typing.text if is_typing and self._typing else str(value)
        flags = 0 if declaration.kind is str else imgui.InputTextFlags_.auto_select_all.value
        text = imgui.input_text_with_hint(label, empty_means(declaration), shown, flags)[1]
        if imgui.is_item_active():
            if is_typing and self._typing:
                self._typing.text = text
            else:
                self._typing = Typing(declaration.path, shown, text, imgui.get_frame_count())
            return value
        if not is_typing or not self._typing:
            return value
        self._typing.text = text
        return self._typed(declaration, value, acts_at_end)

    def _typed(self, declaration: Declaration, value: Value, acts_at_end: bool) -> Value:
        """The value of a parameter after its field was closed."""
        assert self._typing is not None
        typing, self._typing = self._typing, None
        if imgui.is_key_pressed(imgui.Key.escape) or typing.text == typing.opened:
            return value
        if acts_at_end and not any(imgui.is_key_pressed(key) for key in TAKING_KEYS):
            self._report(f"{declaration.label}: not changed; Enter takes what was typed")
            return value
        if isinstance(value, str):
            return typing.text
        taken, message = take_typed(declaration, typing.text, value)
        if message:
            self._report(message)
        return taken


def _is_typed(declaration: Declaration) -> bool:
    """Whether a parameter has a field to type in rather than a slider."""
    return declaration.kind is str or declaration.high > LARGEST_SLIDER


def toggle_width() -> float:
    return imgui.get_frame_height() * TOGGLE_HEIGHT * TOGGLE_WIDTH


def toggle(label: str, value: bool) -> bool:
    """An animated switch."""
    height, width = imgui.get_frame_height() * TOGGLE_HEIGHT, toggle_width()
    place = imgui.get_cursor_screen_pos()
    place = imgui.ImVec2(place.x, place.y + (imgui.get_frame_height() - height) / 2.0)
    if imgui.invisible_button(label, imgui.ImVec2(width, imgui.get_frame_height()), BY_KEYBOARD):
        value = not value
        _Slides.began[label] = time.monotonic()
    if not imgui.is_item_visible():
        return value
    passed = (time.monotonic() - _Slides.began.get(label, 0.0)) / _Slides.SECONDS
    part = min(passed, 1.0) if value else max(1.0 - passed, 0.0)
    track = [low + (high - low) * part for low, high in zip(FIELD, (*ACCENT[:3], 0.85), strict=True)]
    if imgui.is_item_hovered():
        track = [min(channel * 1.12, 1.0) for channel in track]
    drawing = imgui.get_window_draw_list()
    end = imgui.ImVec2(place.x + width, place.y + height)
    drawing.add_rect_filled(place, end, imgui.get_color_u32(imgui.ImVec4(*track)), height / 2.0)
    knob = imgui.ImVec2(place.x + height / 2.0 + part * (width - height), place.y + height / 2.0)
    drawing.add_circle_filled(knob, height * 0.36, imgui.get_color_u32(imgui.ImVec4(0.95, 0.96, 0.97, 1.0)))
    return value


class _Slides:
    """Start times of switch animations."""

    SECONDS = 0.12
    began: dict[str, float] = {}  # noqa: RUF012 (one for the program: ImGui is, too)


@functools.cache
def _packed(colour: Colour) -> int:
    return imgui.color_convert_float4_to_u32(imgui.ImVec4(*colour))


def choice(label: str, value: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if imgui.begin_combo(label, value):
        for word in choices:
            if imgui.selectable(word, word == value)[0]:
                value = word
            if word == value:
                imgui.set_item_default_focus()
        imgui.end_combo()
    return value

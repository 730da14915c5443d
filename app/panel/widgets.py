"""The parts that the panel is made of: buttons, tooltips, and a fitting widget for each kind of parameter."""

from __future__ import annotations

import math
import time

from imgui_bundle import imgui

from app.panel.style import ACCENT, FAINT_TEXT, FIELD, NOTHING, Fonts, em, faded
from app.parameters import Declaration, Value

BUTTON_WIDTH = 1.15  # of a button with an icon, in heights of a row
LARGEST_SLIDER = 2**30  # ImGui's sliders take half of the range of a 32-bit number
NEXT_TO_ZERO = 1e-5  # of its high end: where a logarithmic slider begins whose low end is zero
SIGNIFICANT_DIGITS = 7  # of what comes back from ImGui, which counts in float32


def icon_button(icon: str, name: str, tooltip: str, *, enabled: bool = True) -> bool:
    """A square button with an icon. `name` tells it apart from others."""
    side = imgui.get_frame_height()
    imgui.begin_disabled(not enabled)
    pressed = imgui.button(f"{icon}###{name}", imgui.ImVec2(side * BUTTON_WIDTH, side * 1.1))
    imgui.end_disabled()
    tooltip_on_hover(tooltip)
    return pressed


def tooltip_on_hover(*lines: str) -> None:
    """Help on the last item: the first line in full strength, the rest fainter."""
    if imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip.value) and imgui.begin_tooltip():
        imgui.push_text_wrap_pos(min(em(22.0), 0.6 * imgui.get_main_viewport().size.x))
        for number, line in enumerate(lines):
            if number:
                imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), line)
            else:
                imgui.text_unformatted(line)
        imgui.pop_text_wrap_pos()
        imgui.end_tooltip()


def heading(text: str) -> None:
    imgui.push_font(Fonts.bold, 0.0)
    imgui.text_unformatted(text)
    imgui.pop_font()


def right_aligned(text: str) -> None:
    """Text that ends at the right edge of what is left of the line or cell."""
    free = imgui.get_content_region_avail().x - imgui.calc_text_size(text).x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(free, 0.0))
    imgui.text_unformatted(text)


def zero_means(declaration: Declaration) -> str:
    """What a zero stands for, where its help tells: `0 means one for each core`."""
    return declaration.help.partition("0 means ")[2]


def slider_part(declaration: Declaration, value: float) -> float:
    """Where in its range a value is, from 0 to 1, as its slider shows it."""
    low, high = declaration.low, declaration.high
    if declaration.log:
        low = low or NEXT_TO_ZERO * high
        return math.log(max(value, low) / low) / math.log(high / low)
    return (value - low) / (high - low)


def number_format(declaration: Declaration) -> str:
    """How ImGui prints a number: as fine as its range asks for, with its unit."""
    unit = declaration.unit.replace("%", "%%")
    suffix = unit if unit in ("°", "×", "") else f" {unit}"
    if declaration.kind is int:
        return f"%d{suffix}"
    # On a logarithmic slider the low end decides; ImGui shows nothing below the last decimal there.
    if not declaration.log:
        finest = (declaration.high - declaration.low) / 100.0
    else:
        finest = declaration.low / 10.0 if declaration.low else NEXT_TO_ZERO * declaration.high
    decimals = min(max(math.ceil(-math.log10(finest) - 1e-9), 0), 6)
    return f"%.{decimals}f{suffix}"


class ParameterWidgets:
    """Edits values of parameters. Remembers what a first click replaced, for the second one that makes it a double."""

    def __init__(self) -> None:
        self._before_click: tuple[str, Value] | None = None

    def edit(self, declaration: Declaration, value: Value, width: float) -> Value:
        """Show the widget of a parameter, `width` wide, and return the value that it has now."""
        label = f"##{declaration.path}"
        imgui.set_next_item_width(width)
        if declaration.kind is bool:
            return toggle(label, bool(value))
        if declaration.choices:
            return choice(label, str(value), declaration.choices)
        if declaration.kind is str:
            return imgui.input_text(label, str(value))[1]
        return self._number(label, declaration, value, width)

    def _number(self, label: str, declaration: Declaration, value: Value, width: float) -> Value:
        io = imgui.get_io()
        flags = imgui.SliderFlags_.always_clamp.value
        if declaration.log:
            flags |= imgui.SliderFlags_.logarithmic.value
        if declaration.high > LARGEST_SLIDER:
            changed, whole = imgui.input_int(label, int(value), 0, 0)
            return min(max(whole, int(declaration.low)), int(declaration.high)) if changed else value

        # ImGui's sliders take an exact number after Ctrl + click. A double click shall do the same.
        typing, control = imgui.is_mouse_double_clicked(0), io.key_ctrl
        io.key_ctrl = control or typing
        self._bar(declaration, float(value), width)
        format = number_format(declaration)
        if value == 0 and (meaning := zero_means(declaration)):
            format = meaning if imgui.calc_text_size(meaning).x < width - em(1.0) else "automatic"
        imgui.push_style_color(imgui.Col_.frame_bg.value, imgui.ImVec4(*NOTHING))
        if declaration.kind is int:
            span = int(declaration.low), int(declaration.high)
            changed, whole = imgui.slider_int(label, int(value), *span, format, flags)
            result: Value = whole if changed else value
        else:
            low, high = declaration.low, declaration.high
            changed, new = imgui.slider_float(label, float(value), low, high, format, flags)
            result = min(max(float(f"{new:.{SIGNIFICANT_DIGITS}g}"), low), high) if changed else value
        imgui.pop_style_color()
        io.key_ctrl = control
        if imgui.is_item_activated() and not typing:
            self._before_click = (declaration.path, value)
        elif typing and imgui.is_item_activated() and self._before_click and self._before_click[0] == declaration.path:
            return self._before_click[1]  # the first of the two clicks moved the slider, which was not meant
        return result

    def _bar(self, declaration: Declaration, value: float, width: float) -> None:
        """What lies behind a slider: a field that is filled as far as the value goes."""
        rounding = imgui.get_style().frame_rounding
        place = imgui.get_cursor_screen_pos()
        height = imgui.get_frame_height()
        drawing = imgui.get_window_draw_list()
        end = imgui.ImVec2(place.x + width, place.y + height)
        drawing.add_rect_filled(place, end, imgui.get_color_u32(imgui.ImVec4(*FIELD)), rounding)
        filled = place.x + max(slider_part(declaration, value), 0.0) * width
        if filled > place.x + rounding:
            fill = imgui.get_color_u32(imgui.ImVec4(*faded(ACCENT, 0.22)))
            drawing.add_rect_filled(place, imgui.ImVec2(filled, end.y), fill, rounding)


def toggle(label: str, value: bool) -> bool:
    """A switch that slides."""
    height = imgui.get_frame_height() * 0.78
    width = height * 1.75
    place = imgui.get_cursor_screen_pos()
    place = imgui.ImVec2(place.x, place.y + (imgui.get_frame_height() - height) / 2.0)
    if imgui.invisible_button(label, imgui.ImVec2(width, imgui.get_frame_height())):
        value = not value
        _Slides.began[label] = time.monotonic()
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
    """When each switch began to slide."""

    SECONDS = 0.12
    began: dict[str, float] = {}  # noqa: RUF012 (one for the program: ImGui is, too)


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

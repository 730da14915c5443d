"""Colours of text against what lies behind it (WCAG 2.1, success criterion 1.4.3)."""

from __future__ import annotations

import pytest
from imgui_bundle import imgui

from app.picture import style
from app.picture.style import Colour
from app.window.panel import parameters

ENOUGH = 4.5
SCENES: tuple[Colour, ...] = (
    (1.0, 1.0, 1.0, 1.0),
    (0.0, 0.0, 0.0, 1.0),
)  # the brightest and the darkest behind a panel

TEXTS = {
    "text": style.TEXT,
    "faint text": style.FAINT_TEXT,
    "accent": style.ACCENT,
    "warning": style.WARNING,
    "good": style.GOOD,
    "error": style.ERROR,
}
GROUNDS: dict[str, tuple[Colour, ...]] = {  # from the lowest to what lies uppermost
    "over the scene": (style.OVER_SCENE,),
    "panel": (style.PANEL,),
    "header": (style.PANEL, style.COLOURS[imgui.Col_.header]),
    "header under the pointer": (style.PANEL, style.COLOURS[imgui.Col_.header_hovered]),
    "empty window": (style.EMPTY,),
    "field": (style.PANEL, style.FIELD),
    "field under the pointer": (style.PANEL, style.FIELD_HOVERED),
}
FULL_FIELDS: dict[str, tuple[Colour, ...]] = {
    "filled field": (style.PANEL, style.FIELD, style.faded(style.ACCENT, 0.22)),
    "filled field under the pointer": (style.PANEL, style.FIELD_HOVERED, style.faded(style.ACCENT, 0.32)),
    "lit word": (style.PANEL, style.faded(style.ACCENT, 0.4)),
    "progress": (style.OVER_SCENE, style.COLOURS[imgui.Col_.plot_histogram]),
    "selected text": (style.PANEL, style.FIELD, style.COLOURS[imgui.Col_.text_selected_bg]),
}


def over(above: Colour, below: Colour) -> Colour:
    """One colour laid over another, as the driver blends them: in sRGB."""
    opacity = above[3]
    red, green, blue = (a * opacity + b * (1.0 - opacity) for a, b in zip(above[:3], below[:3], strict=True))
    return red, green, blue, 1.0


def luminance(colour: Colour) -> float:
    """Relative luminance of an sRGB colour."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(text: Colour, *grounds: Colour) -> float:
    """The lowest contrast of a text with what lies behind it, over any scene."""
    found = []
    for scene in SCENES:
        ground = scene
        for layer in grounds:
            ground = over(layer, ground)
        low, high = sorted((luminance(ground), luminance(over(text, ground))))
        found.append((high + 0.05) / (low + 0.05))
    return min(found)


def test_contrast_is_that_of_the_recommendation() -> None:
    white, black, grey = (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0), (0x77 / 255, 0x77 / 255, 0x77 / 255, 1.0)
    assert contrast(black, white) == pytest.approx(21.0)
    assert contrast(grey, white) == pytest.approx(4.48, abs=0.01)  # the well-known one that just fails


def test_text_can_be_read_on_its_ground(subtests: pytest.Subtests) -> None:
    for text, colour in TEXTS.items():
        for ground, layers in GROUNDS.items():
            with subtests.test(text=text, ground=ground):
                assert contrast(colour, *layers) >= ENOUGH


def test_values_can_be_read_on_what_is_filled(subtests: pytest.Subtests) -> None:
    for ground, layers in FULL_FIELDS.items():
        with subtests.test(ground=ground):
            assert contrast(style.TEXT, *layers) >= ENOUGH


def test_names_of_parameters_can_be_read_also_where_they_have_no_effect() -> None:
    assert contrast(style.faded(style.TEXT, 0.88 * parameters.IDLE_OPACITY), style.PANEL) >= ENOUGH

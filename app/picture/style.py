"""The style of the panel: fonts, colours and sizes."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import imgui_bundle
from imgui_bundle import imgui

Colour = tuple[float, float, float, float]

FONT_SIZE = 15.0  # logical units at scale 1; all other lengths are relative to it or scaled with it

# One accent, the blue of water. Everything else is a grey with a little of it.
WATER: Colour = (0.36, 0.66, 0.90, 1.0)
ACCENT: Colour = (0.42, 0.71, 0.86, 1.0)
TEXT: Colour = (0.89, 0.91, 0.92, 1.0)
FAINT_TEXT: Colour = (0.67, 0.71, 0.74, 1.0)
WARNING: Colour = (0.95, 0.70, 0.36, 1.0)
GOOD: Colour = (0.55, 0.80, 0.52, 1.0)
ERROR: Colour = (0.97, 0.60, 0.55, 1.0)
PANEL: Colour = (0.085, 0.098, 0.110, 0.92)
OVER_SCENE: Colour = (0.085, 0.098, 0.110, 0.94)  # boxes over the scene
FIELD: Colour = (0.20, 0.23, 0.255, 0.80)
FIELD_HOVERED: Colour = (0.205, 0.240, 0.270, 1.0)
FIELD_ACTIVE: Colour = (0.230, 0.275, 0.310, 1.0)
EMPTY: Colour = (0.060, 0.068, 0.076, 1.0)  # behind everything, before there is a picture
NOTHING: Colour = (0.0, 0.0, 0.0, 0.0)


def faded(colour: Colour, opacity: float) -> Colour:
    """A colour with reduced opacity."""
    return (*colour[:3], colour[3] * opacity)


COLOURS: dict[imgui.Col_, Colour] = {
    imgui.Col_.text: TEXT,
    imgui.Col_.text_disabled: FAINT_TEXT,
    imgui.Col_.window_bg: PANEL,
    imgui.Col_.child_bg: NOTHING,
    imgui.Col_.popup_bg: OVER_SCENE,
    imgui.Col_.border: (1.0, 1.0, 1.0, 0.07),
    imgui.Col_.frame_bg: FIELD,
    imgui.Col_.frame_bg_hovered: FIELD_HOVERED,
    imgui.Col_.frame_bg_active: FIELD_ACTIVE,
    imgui.Col_.title_bg: OVER_SCENE,
    imgui.Col_.title_bg_active: OVER_SCENE,
    imgui.Col_.scrollbar_bg: NOTHING,
    imgui.Col_.scrollbar_grab: (1.0, 1.0, 1.0, 0.14),
    imgui.Col_.scrollbar_grab_hovered: (1.0, 1.0, 1.0, 0.24),
    imgui.Col_.scrollbar_grab_active: (1.0, 1.0, 1.0, 0.34),
    imgui.Col_.check_mark: ACCENT,
    imgui.Col_.slider_grab: faded(ACCENT, 0.55),
    imgui.Col_.slider_grab_active: ACCENT,
    imgui.Col_.button: FIELD,
    imgui.Col_.button_hovered: FIELD_HOVERED,
    imgui.Col_.button_active: FIELD_ACTIVE,
    imgui.Col_.header: (1.0, 1.0, 1.0, 0.045),
    imgui.Col_.header_hovered: (1.0, 1.0, 1.0, 0.085),
    imgui.Col_.header_active: (1.0, 1.0, 1.0, 0.12),
    imgui.Col_.separator: (1.0, 1.0, 1.0, 0.08),
    imgui.Col_.plot_histogram: faded(ACCENT, 0.45),  # of progress, with words on it
    imgui.Col_.separator_hovered: faded(ACCENT, 0.6),
    imgui.Col_.separator_active: ACCENT,
    imgui.Col_.resize_grip: NOTHING,
    imgui.Col_.resize_grip_hovered: faded(ACCENT, 0.4),
    imgui.Col_.resize_grip_active: faded(ACCENT, 0.7),
    imgui.Col_.tab: NOTHING,
    imgui.Col_.tab_hovered: FIELD_HOVERED,
    imgui.Col_.tab_selected: FIELD,
    imgui.Col_.tab_selected_overline: ACCENT,
    imgui.Col_.tab_dimmed: NOTHING,
    imgui.Col_.tab_dimmed_selected: FIELD,
    imgui.Col_.tab_dimmed_selected_overline: NOTHING,
    imgui.Col_.docking_preview: faded(ACCENT, 0.35),
    imgui.Col_.docking_empty_bg: NOTHING,
    imgui.Col_.plot_lines: ACCENT,
    imgui.Col_.table_border_light: (1.0, 1.0, 1.0, 0.06),
    imgui.Col_.table_border_strong: (1.0, 1.0, 1.0, 0.06),
    imgui.Col_.table_row_bg_alt: (1.0, 1.0, 1.0, 0.025),
    imgui.Col_.text_selected_bg: faded(ACCENT, 0.35),
    imgui.Col_.nav_cursor: ACCENT,
    imgui.Col_.modal_window_dim_bg: (0.0, 0.0, 0.0, 0.35),
}

# At scale 1.
SIZES: dict[str, float | tuple[float, float]] = {
    "window_padding": (12.0, 10.0),
    "frame_padding": (8.0, 4.0),
    "item_spacing": (8.0, 5.0),
    "item_inner_spacing": (6.0, 4.0),
    "cell_padding": (6.0, 3.0),
    "indent_spacing": 14.0,
    "scrollbar_size": 10.0,
    "grab_min_size": 3.0,
    "window_rounding": 8.0,
    "child_rounding": 6.0,
    "frame_rounding": 5.0,
    "popup_rounding": 6.0,
    "scrollbar_rounding": 5.0,
    "grab_rounding": 2.0,
    "tab_rounding": 5.0,
    "window_border_size": 1.0,
    "popup_border_size": 1.0,
    "frame_border_size": 0.0,
    "tab_bar_border_size": 0.0,
    "separator_text_border_size": 1.0,
    "docking_separator_size": 2.0,
}

_FONTS = Path(imgui_bundle.__file__).parent / "assets" / "fonts"
_ICONS = _FONTS / "Font_Awesome_6_Free-Solid-900.otf"


class Face(Enum):
    """A font by its file, which outlives any context."""

    PLAIN = "Roboto-Regular.ttf"
    BOLD = "Roboto-Bold.ttf"

    def font(self) -> imgui.ImFont:
        """The font in ImGui's current context, with which it goes: looked up for each use, and never kept."""
        assert imgui.get_current_context() is not None, "there is no font without a context"
        for font in imgui.get_io().fonts.fonts:
            if font.get_debug_name() == self.value:  # ImGui calls a font by its file
                return font
        raise LookupError(f"{self.value} is not in ImGui's current context")


def load_fonts() -> None:
    """Load the fonts, each with the icons in it. Once in a context of ImGui, and before its first frame."""
    for face in Face:
        _load(face)


def _load(face: Face) -> None:
    atlas = imgui.get_io().fonts
    atlas.add_font_from_file_ttf(str(_FONTS / "Roboto" / face.value), FONT_SIZE)
    icons = imgui.ImFontConfig()
    icons.merge_mode = True
    icons.glyph_min_advance_x = FONT_SIZE
    icons.glyph_offset = imgui.ImVec2(0.0, 1.0)
    atlas.add_font_from_file_ttf(str(_ICONS), FONT_SIZE * 0.86, icons)


def apply(scale: float) -> None:
    """Set colours and sizes for a scale of the interface. Cheap, so it may be called in every frame."""
    style = imgui.get_style()
    if style.font_scale_dpi == scale and style.font_size_base == FONT_SIZE:
        return
    for colour, value in COLOURS.items():
        style.set_color_(colour, imgui.ImVec4(*value))
    for name, size in SIZES.items():
        scaled = size * scale if isinstance(size, float) else imgui.ImVec2(size[0] * scale, size[1] * scale)
        setattr(style, name, scaled)
    style.font_size_base = FONT_SIZE
    style.font_scale_dpi = scale
    style.window_menu_button_position = imgui.Dir.none
    style.hover_delay_normal = 0.45
    style.separator_text_align = imgui.ImVec2(0.0, 0.5)


def em(count: float) -> float:
    """A length in heights of the font, which grows with the scale."""
    return count * imgui.get_font_size()

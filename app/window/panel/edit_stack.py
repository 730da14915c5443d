"""The section of edits: a row for each layer of strokes or of a field, the newest uppermost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.brushes.stack import HEIGHTS, LARGEST_STRENGTH, LONGEST_NAME, Layer
from app.model.field_parameters import FIELDS
from app.model.numbers import spaced
from app.model.parameters import Declaration
from app.picture.style import ACCENT, FAINT_TEXT, TEXT, em, faded
from app.window.commands.attempt import attempt
from app.window.panel.widgets import ParameterWidgets, faint, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

DRAGGED = "layer"  # kind of what is dragged from row to row
STRENGTH_WIDTH = 5.0  # heights of the font
ICONS = {
    "Land": icons.ICON_FA_MOUNTAIN,
    "Material": icons.ICON_FA_CUBES,
    "Water": icons.ICON_FA_WATER,
    "Rates": icons.ICON_FA_SLIDERS,
    "Plants": icons.ICON_FA_TREE,
    "Forms": icons.ICON_FA_STAMP,
    FIELDS: icons.ICON_FA_CHART_AREA,
    HEIGHTS: icons.ICON_FA_FILE_IMPORT,
}
STRENGTH = Declaration(
    "stack.strength", float, 100.0, 0.0, 100.0 * LARGEST_STRENGTH / 2.0, "%", "part of the effect of an edit",
    log=False, choices=(), check=None, names_file=False,
)  # fmt: skip


@dataclass
class _Renaming:
    """A name or an expression that is being typed in a row."""

    layer: str
    text: str
    begins: bool = True


class EditStack:
    """Lays out the rows, and keeps what is dragged and typed in them."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._widgets = ParameterWidgets(application.notices.warn)
        self._typed: _Renaming | None = None
        self._dragged = ""  # name of a layer

    def gui(self) -> None:
        """The section below its header."""
        self._additions()
        layers = self._application.stack.layers
        if not layers:
            faint("strokes of brushes and changes of fields are listed here, to be switched, blended and moved")
            return
        for layer in reversed(layers):
            imgui.push_id(layer.name)
            self._row(layer)
            imgui.pop_id()
        imgui.align_text_to_frame_padding()
        imgui.text_disabled(f"{icons.ICON_FA_MOUNTAIN_SUN}  the land as it began")
        self._takes_drop(None)
        tooltip_on_hover("Drop an edit here to make it before all others, on the land of the start")

    def _additions(self) -> None:
        """Buttons that add layers which no brush paints."""
        application = self._application
        if imgui.button(f"{icons.ICON_FA_FILE_IMPORT}  Image …###import"):
            application.panel.ask_for_image(self._lay_image)
        tooltip_on_hover("Raise the land by a picture or a heightmap: nothing where it is darkest")
        imgui.same_line()
        if imgui.button(f"{icons.ICON_FA_PLUS}  Hills###hills"):
            attempt(application, application.stack.lay_hills)
        tooltip_on_hover("Raise the land by an expression, at first hills of noise, which can be written anew")

    def _lay_image(self, image: Path) -> None:
        attempt(self._application, lambda: self._application.stack.lay_image(image))

    def _row(self, layer: Layer) -> None:
        side, gap = imgui.get_frame_height(), em(0.3)
        stack = self._application.stack
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(0.0, imgui.get_style().frame_padding.y))
        if self._flat_button(icons.ICON_FA_EYE if layer.is_on else icons.ICON_FA_EYE_SLASH, "eye", layer.is_on):
            stack.switch(layer)
        imgui.pop_style_var()
        tooltip_on_hover("Leave this edit out" if layer.is_on else "Make this edit again")
        imgui.same_line(0.0, gap)
        width = imgui.get_content_region_avail().x
        is_wide = width > em(STRENGTH_WIDTH + 8.0)
        strength_width = em(STRENGTH_WIDTH) if is_wide else 0.0
        self._name(layer, width - strength_width - side - 2.0 * gap)
        imgui.same_line(0.0, gap)
        if is_wide:
            imgui.begin_disabled(not layer.is_on)
            shown = round(100.0 * layer.strength, 6)
            new = self._widgets.edit(_strength_of(layer), shown, strength_width, acts_at_end=True)
            imgui.end_disabled()
            tooltip_on_hover("How much of this edit is made", "drag, or Ctrl + click to type it")
            if isinstance(new, int | float) and new != shown:
                stack.blend(layer, new / 100.0)
            imgui.same_line(0.0, gap)
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(0.0, imgui.get_style().frame_padding.y))
        if self._flat_button(icons.ICON_FA_TRASH, "remove", False):
            stack.remove(layer)
        imgui.pop_style_var()
        tooltip_on_hover("Remove this edit; undo brings it back")
        if layer.icon in (FIELDS, HEIGHTS):
            self._expression(layer)

    def _flat_button(self, icon: str, name: str, is_strong: bool) -> bool:
        side = imgui.get_frame_height()
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
        imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*(ACCENT if is_strong else FAINT_TEXT)))
        pressed = imgui.button(f"{icon}###{name}", imgui.ImVec2(side, 0.0))
        imgui.pop_style_color(2)
        return pressed

    def _name(self, layer: Layer, width: float) -> None:
        """The name, which can be dragged to another row, and typed anew after a double click."""
        if self._typed is not None and self._typed.layer == layer.name:
            self._rename(layer, width)
            return
        place, height = imgui.get_cursor_screen_pos(), imgui.get_frame_height()
        size = imgui.ImVec2(max(width, 1.0), height)
        if imgui.invisible_button("name", size, imgui.ButtonFlags_.enable_nav.value):
            self._application.stack.choose(layer)
        is_hovered = imgui.is_item_hovered()
        if is_hovered and imgui.is_mouse_double_clicked(0):
            self._typed = _Renaming(layer.name, layer.name)
        if imgui.begin_drag_drop_source():
            imgui.set_drag_drop_payload_py_id(DRAGGED, 0)
            self._dragged = layer.name
            imgui.text_unformatted(layer.name)
            imgui.end_drag_drop_source()
        self._takes_drop(layer)
        self._menu(layer)
        drawing, padding = imgui.get_window_draw_list(), imgui.get_style().frame_padding.y
        if is_hovered:
            corner = imgui.ImVec2(place.x + size.x, place.y + height)
            drawing.add_rect_filled(place, corner, imgui.get_color_u32(imgui.Col_.header_hovered.value), em(0.25))
        if layer == self._application.stack.painted:
            bar = imgui.ImVec2(place.x + em(0.15), place.y + height)
            drawing.add_rect_filled(place, bar, imgui.get_color_u32(imgui.ImVec4(*ACCENT)))
        cycle = spaced(layer.cycle)
        right = place.x + size.x - imgui.calc_text_size(cycle).x - em(0.2)
        imgui.push_clip_rect(place, imgui.ImVec2(right - em(0.4), place.y + height), True)
        colour = imgui.get_color_u32(imgui.ImVec4(*(TEXT if layer.is_on else faded(FAINT_TEXT, 0.7))))
        icon = imgui.get_color_u32(imgui.ImVec4(*faded(FAINT_TEXT, 1.0 if layer.is_on else 0.7)))
        drawing.add_text(imgui.ImVec2(place.x + em(0.2), place.y + padding), icon, ICONS[layer.icon])
        drawing.add_text(imgui.ImVec2(place.x + em(1.7), place.y + padding), colour, layer.name)
        imgui.pop_clip_rect()
        drawing.add_text(imgui.ImVec2(right, place.y + padding), icon, cycle)
        parts = f"{len(layer.places)} {'part' if len(layer.places) == 1 else 'parts'}"
        tooltip_on_hover(
            layer.name,
            "the land was opened with it" if layer.of_start else f"after cycle {cycle}, {parts}",
            *(["click to paint into it, and again to paint now"] if layer.takes_strokes else []),
            "drag to make it earlier or later, double click to rename it, right click for more",
        )

    def _rename(self, layer: Layer, width: float) -> None:
        """A field in the place of the name."""
        assert self._typed is not None
        if self._typed.begins:
            imgui.set_keyboard_focus_here()
        imgui.set_next_item_width(width)
        flags = imgui.InputTextFlags_.enter_returns_true.value | imgui.InputTextFlags_.auto_select_all.value
        entered, text = imgui.input_text("##rename", self._typed.text, flags)
        self._typed.text = text[:LONGEST_NAME]
        if entered:
            self._application.stack.rename(layer, self._typed.text)
        if entered or (not self._typed.begins and not imgui.is_item_active()):
            self._typed = None
        else:
            self._typed.begins = False

    def _takes_drop(self, layer: Layer | None) -> None:
        """Let the last item take a layer that is dropped on it: that is then made right after this one."""
        if not imgui.begin_drag_drop_target():
            return
        if imgui.accept_drag_drop_payload_py_id(DRAGGED) is not None:
            stack = self._application.stack
            moved = next((other for other in stack.layers if other.name == self._dragged), None)
            if moved is not None:
                stack.move_after(moved, layer)
        imgui.end_drag_drop_target()

    def _menu(self, layer: Layer) -> None:
        if not imgui.begin_popup_context_item("of layer"):
            return
        stack, layers = self._application.stack, self._application.stack.layers
        place = layers.index(layer)
        is_painted = layer == stack.painted
        if imgui.menu_item("Paint into it", "", is_painted, layer.takes_strokes)[0]:
            stack.choose(layer)
        begun = sum(other.of_start for other in layers)
        if imgui.menu_item("Later", "", False, begun <= place < len(layers) - 1)[0]:
            stack.move_by(layer, +1)
        if imgui.menu_item("Earlier", "", False, place > begun)[0]:
            stack.move_by(layer, -1)
        if imgui.menu_item("On the land as it began", "", False, not layer.of_start)[0]:
            stack.move_after(layer, None)
        imgui.separator()
        if imgui.menu_item("Rename", "", False)[0]:
            self._typed = _Renaming(layer.name, layer.name)
        if imgui.menu_item("Remove", "", False)[0]:
            stack.remove(layer)
        imgui.end_popup()

    def _expression(self, layer: Layer) -> None:
        """What a field was written as, to be written anew."""
        imgui.indent(em(1.6))
        imgui.set_next_item_width(-1.0)
        flags = imgui.InputTextFlags_.enter_returns_true.value
        entered, text = imgui.input_text("##expression", layer.expression, flags)
        if entered:
            self._application.stack.write(layer, text)
        imgui.unindent(em(1.6))


def _strength_of(layer: Layer) -> Declaration:
    """The slider of a layer's strength."""
    return replace(STRENGTH, path=f"stack.{layer.name}.strength")

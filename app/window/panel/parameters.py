"""Rows of parameters, derived from declarations."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.numbers import number_text, range_words, spaced, value_text
from app.model.parameters import Declaration, Parameters, Value
from app.picture.style import ACCENT, FAINT_TEXT, TEXT, WARNING, Colour, Face, em, faded
from app.scene.comparison import NAMES
from app.scene.scene import (
    DECLARATIONS,
    GROUPS,
    KEYS,
    Scene,
    can_have_keys,
    curve_of,
)
from app.sources.generators import GENERATORS
from app.window.actions import BY_NAME
from app.window.commands import changes
from app.window.panel import sight
from app.window.panel.facts import Facts, ParameterFacts
from app.window.panel.fields import FieldPreviews
from app.window.panel.held import held_value
from app.window.panel.mask_picker import MaskPicker
from app.window.panel.memory import PanelMemory
from app.window.panel.traits import TraitRows
from app.window.panel.widgets import (
    BUTTON_WIDTH,
    LABEL_PART,
    NARROWEST_ROW,
    ParameterWidgets,
    Seconds,
    icon_button,
    toggle_width,
    tooltip,
    tooltip_is_due,
    tooltip_on_hover,
)

if TYPE_CHECKING:
    from app.window.application import Application

# The sections in their order, and whether they are open at first.
SECTIONS: dict[str, bool] = {
    "processes": True,
    "climate": True,
    "fields": False,
    "edits": False,
    "world": True,
    "view": True,
    "rivers": False,
    "realism": False,
    "performance": False,
}

REBUILDS = "rebuilds the world from cycle 0, when a drag ends or on Enter"
HOW_TO_SET = "drag (Shift: finer, Ctrl: coarser), Ctrl + click or double click to type, Esc to cancel"

MARK_SIZE = 0.66  # heights of the font
SIGN_WIDTH = 0.85

BY_RIGHT_BUTTON = imgui.PopupFlags_.mouse_button_right.value
OPACITY = imgui.StyleVar_.alpha.value

SOURCE = "world.source"  # a text with choices that its declaration does not know
# Rows with more than a name, a widget, and a button where they are changed
OF_OTHER_WIDGETS = frozenset((SOURCE, *(path for path, declaration in DECLARATIONS.items() if declaration.of_land)))
IDLE_OPACITY = 0.65  # of a parameter that has no effect now


class ParameterRows:
    """Shows parameters in rows, and passes on changes."""

    def __init__(self, application: Application, memory: PanelMemory) -> None:
        self._application = application
        self._memory = memory
        self.facts = Facts(application.documents)
        self._widgets = ParameterWidgets(application.notices.warn)
        self._fields = FieldPreviews(application)
        self._mask = MaskPicker(  # that a field is to be multiplied by
            application.views, application.sides, application.notices.warn
        )
        self._traits = TraitRows(application, self._widgets)
        self._cost_told: tuple[str, Seconds | None] = ("", None)  # by path, while its slider is held
        self._before_drag: tuple[str, list[Value]] = ("", [])  # a path, and its values in each world
        self.lit: tuple[str, ...] = ()  # words highlighted in labels
        self._to_be_focused = ""  # path of the parameter to focus in the next frame
        self._kept = OF_OTHER_WIDGETS  # paths of rows that are whole also out of sight

    def begin_frame(self) -> None:
        """Call it before all rows of a frame."""
        used = (self._to_be_focused, self._widgets.used, self._before_drag[0], self._cost_told[0])
        self._kept = OF_OTHER_WIDGETS.union(self.facts.changed, used)

    def traits(self) -> None:
        """The rows of all traits of materials and plants."""
        self._traits.rows()

    def focus(self, path: str) -> None:
        """Give the keyboard to a parameter's widget in the next frame, and scroll there."""
        self._to_be_focused = path

    def switch(self, declaration: Declaration) -> None:
        """The switch of a group, for the line of its title."""
        path = declaration.path
        imgui.push_id(path)
        size = imgui.ImVec2(toggle_width(), imgui.get_frame_height())
        if not (path in self._kept or sight.is_needed(size, f"##{path}")):
            sight.reserve(f"##{path}", size)
            imgui.pop_id()
            return
        facts = self.facts.of(path)
        self._value(declaration, facts, imgui.get_frame_height())
        self._menu(declaration)
        if facts.is_changed:
            imgui.same_line(0.0, em(0.2))
            self._reset_button(declaration, imgui.get_frame_height() * 0.8)
        imgui.pop_id()

    def row(self, declaration: Declaration) -> None:
        """Name and value of a parameter."""
        width, height = imgui.get_content_region_avail().x, imgui.get_frame_height()
        gap = imgui.get_style().item_spacing.x
        is_wide = width > em(NARROWEST_ROW)
        label_width = width * LABEL_PART if is_wide else 0.0
        widget_width = width - label_width - height - gap * 0.5
        imgui.push_id(declaration.path)
        size = imgui.ImVec2(width, height if is_wide else 2.0 * height + imgui.get_style().item_spacing.y)
        if not (declaration.path in self._kept or sight.is_needed(size, f"##{declaration.path}")):
            if is_wide:
                imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + label_width)
            else:
                imgui.internal.item_size(imgui.ImVec2(width, height))
            self._widgets.reserve(declaration, widget_width)
        else:
            self._whole_row(declaration, width, label_width, widget_width)
        imgui.pop_id()

    def _whole_row(self, declaration: Declaration, width: float, label_width: float, widget_width: float) -> None:
        """All of a row, whose label stands above its widget where it has no width of its own."""
        path = declaration.path
        facts = self.facts.of(path)
        imgui.push_style_var(OPACITY, IDLE_OPACITY if facts.without_effect else 1.0)
        left = imgui.get_cursor_pos_x()
        imgui.align_text_to_frame_padding()
        self._label(declaration, facts, label_width - imgui.get_style().item_spacing.x if label_width else width)
        if label_width:
            imgui.same_line(left + label_width)
        if self._to_be_focused == path:
            imgui.set_keyboard_focus_here()
            imgui.set_scroll_here_y()
            self._to_be_focused = ""
        if path == SOURCE:
            self._source(str(facts.value), widget_width)
        else:
            self._value(declaration, facts, widget_width)
        if facts.is_changed:
            reset_width = imgui.get_frame_height()
            imgui.same_line(left + width - reset_width)
            self._reset_button(declaration, reset_width)
        if declaration.of_land:
            self._fields.row(declaration, self._widgets.being_typed(path) or str(facts.value))
        self._menu(declaration)
        imgui.pop_style_var()

    def release(self) -> None:
        """Give back the pictures of fields."""
        self._fields.release()
        self._mask.release()

    def _value(self, declaration: Declaration, facts: ParameterFacts, width: float) -> None:
        """The widget of a parameter, and its effects."""
        application, path, value = self._application, declaration.path, facts.value
        holding = None
        if value == 0 and declaration.kind is not bool:
            holding = held_value(path, application.documents.scene, application.views)
        new = self._widgets.edit(
            declaration, value, width, acts_at_end=facts.rebuilds, holding=holding, seconds=self._cost(declaration)
        )
        self._opens_menu(declaration)
        if self._widgets.dragged != path:
            self._help_on_hover(declaration)
        elif self._before_drag[0] != path:  # it has only been pressed
            self._before_drag = (path, [scene.value(path) for scene in application.documents.scenes])
        if new is None:
            changes.change_back(application, path, self._before_drag[1])
        elif new != value:
            changes.change(application, path, new)
        if self._widgets.dragged != path == self._before_drag[0]:
            self._before_drag = ("", [])

    def _cost(self, declaration: Declaration) -> Seconds | None:
        """What a cycle will take with a value of a parameter, while its slider is held; None if that is not known.

        It is told from the cycles before the drag: those since have other values than are known here.
        """
        path = declaration.path
        if not declaration.costs or self._widgets.dragged != path:
            if self._cost_told[0] == path:
                self._cost_told = ("", None)
            return None
        if self._cost_told[0] != path:
            status, value = self._application.simulation.status, float(self._application.documents.scene.value(path))
            own = status.milliseconds.get(path.partition(".")[0], 0.0) * 1e-3
            others = sum(status.milliseconds.values()) * 1e-3 - own
            told = own > 0.0 < value
            self._cost_told = path, (lambda new: others + own * new / value) if told else None
        return self._cost_told[1]

    def _label(self, declaration: Declaration, facts: ParameterFacts, width: float) -> None:
        colour: Colour = ACCENT if facts.is_changed else faded(TEXT, 0.88)
        if not imgui.is_rect_visible(imgui.ImVec2(width, imgui.get_frame_height())):
            imgui.text_unformatted(declaration.label)
            return
        place = imgui.get_cursor_screen_pos()
        if facts.is_changed:
            dot = imgui.ImVec2(place.x - em(0.38), place.y + imgui.get_frame_height() / 2.0)
            imgui.get_window_draw_list().add_circle_filled(dot, em(0.14), imgui.get_color_u32(imgui.ImVec4(*ACCENT)))
        width = room_for_label(facts, width)
        if facts.differs:
            sign = imgui.ImVec2(place.x + width, place.y + imgui.get_style().frame_padding.y)
            imgui.get_window_draw_list().add_text(sign, imgui.get_color_u32(imgui.ImVec4(*WARNING)), "≠")
        elif facts.rebuilds:
            self._rebuild_mark(imgui.ImVec2(place.x + width, place.y))
        if facts.has_keys:
            self._diamond(imgui.ImVec2(place.x - em(0.38), place.y + imgui.get_frame_height() / 2.0))
        imgui.push_clip_rect(place, imgui.ImVec2(place.x + width, place.y + imgui.get_frame_height() * 1.2), True)
        light_words(declaration.label, self.lit)
        imgui.text_colored(imgui.ImVec4(*colour), declaration.label)
        imgui.pop_clip_rect()
        self._help_on_hover(declaration)
        if facts.is_changed and imgui.is_item_hovered() and imgui.is_mouse_double_clicked(0):
            changes.reset_parameters(self._application, [declaration.path])
        self._opens_menu(declaration)

    def _diamond(self, middle: imgui.ImVec2) -> None:
        """The sign of a parameter that has keys on the time line."""
        colour = imgui.get_color_u32(imgui.ImVec4(*WARNING))
        imgui.get_window_draw_list().add_ngon_filled(middle, em(0.22), colour, 4)

    def _opens_menu(self, declaration: Declaration) -> None:
        """Let the last item open the menu of a parameter, by the right button or the keyboard's menu key."""
        if imgui.is_mouse_released(1):
            imgui.open_popup_on_item_click(f"of {declaration.path}", BY_RIGHT_BUTTON)
        if imgui.is_item_focused() and imgui.is_key_pressed(imgui.Key.menu):
            imgui.open_popup(f"of {declaration.path}")

    def _menu(self, declaration: Declaration) -> None:
        """The context menu of a parameter. Call it once per row."""
        path = declaration.path
        if not imgui.begin_popup(f"of {path}"):
            return
        application = self._application
        value, opened = application.documents.scene.value(path), application.documents.opened.value(path)
        imgui.push_style_var(OPACITY, 1.0)
        imgui.text_disabled(path)
        resets = [("as opened", opened), *([("by default", declaration.default)] * (opened != declaration.default))]
        for words, other in resets:
            label = f"Reset to {value_text(declaration, other)}, {words}###reset {words}"
            if imgui.menu_item(label, "", False, value != other)[0]:
                changes.change(application, path, other)
        setting = setting_text(path, value)
        if imgui.menu_item(f"Copy {setting}###copy", "", False)[0]:
            imgui.set_clipboard_text(setting)
        pinned = self._memory.state.pinned_parameters
        if imgui.menu_item("Unpin###pin" if path in pinned else "Pin to the top###pin", "", False)[0]:
            self._memory.toggle(pinned, path)
        if declaration.of_land and imgui.menu_item("Mask by an image …###mask", "", False)[0]:
            self._application.panel.ask_for_image(lambda image: changes.mask_by(application, path, image))
        if declaration.of_land and imgui.begin_menu("Mask by the land"):
            self._mask.gui(em(16.0), em(4.0))
            imgui.begin_disabled(not self._mask.text)
            if imgui.button("Mask"):
                changes.mask_by_land(application, path, self._mask.text)
                imgui.close_current_popup()
            imgui.end_disabled()
            imgui.end_menu()
        if can_have_keys(declaration):
            imgui.separator()
            self._key_items(declaration)
        imgui.pop_style_var()
        imgui.end_popup()

    def _key_items(self, declaration: Declaration) -> None:
        """Keys on the time line."""
        application, path = self._application, declaration.path
        cycle = application.simulation.status.cycle
        curve = curve_of(application.documents.scene, path)
        value = value_text(declaration, application.documents.scene.value(path))
        imgui.text_disabled(f"{declaration.label} over the cycles")
        if imgui.menu_item(f"Key here: {value} in cycle {spaced(cycle)}###add key", "", False)[0]:
            changes.set_key(application, path)
        for key in curve:
            label = f"Remove {value_text(declaration, key.value)} in cycle {spaced(key.cycle)}###remove {key.cycle}"
            if imgui.menu_item(label, "", False)[0]:
                changes.remove_key(application, path, key.cycle)
        if curve and imgui.menu_item("Remove all keys", "", False)[0]:
            changes.change(application, KEYS + path, "")

    def _rebuild_mark(self, place: imgui.ImVec2) -> None:
        """The sign of the button Reset, small: a change rebuilds the world."""
        size = MARK_SIZE * imgui.get_font_size()
        top = place.y + (imgui.get_frame_height() - size) / 2.0
        colour = imgui.get_color_u32(imgui.ImVec4(*faded(FAINT_TEXT, 0.7)))
        drawing = imgui.get_window_draw_list()
        drawing.add_text(Face.PLAIN.font(), size, imgui.ImVec2(place.x, top), colour, icons.ICON_FA_BACKWARD_FAST)

    def _help_on_hover(self, declaration: Declaration) -> None:
        if tooltip_is_due():  # otherwise its text would be built for each row in each frame
            tooltip(*self._help(declaration))

    def _help(self, declaration: Declaration) -> list[str]:
        path = declaration.path
        facts, opened = self.facts.of(path), self._application.documents.opened.value(path)
        lines = [declaration.help]
        if facts.without_effect:
            lines.append(facts.without_effect)
        scene, views = self._application.documents.scene, self._application.views
        if facts.value == 0 and (holding := held_value(path, scene, views)) is not None:
            lines.append(f"now {number_text(declaration, holding)}")
        if facts.rebuilds:
            lines.append(REBUILDS)
        if declaration.kind in (int, float):
            lines.append(f"{range_words(declaration)}; {HOW_TO_SET}")
        if facts.differs:
            values = (value_text(declaration, scene.value(path)) for scene in self._application.documents.scenes)
            lines.append(" · ".join(f"{name}: {value}" for name, value in zip(NAMES, values, strict=False)))
        if sources := sources_of(GROUPS[path.partition(".")[0]]):
            lines.append(f"after {sources}")
        lines.append(f"{path}; right click: reset, pin, copy{', keys' if can_have_keys(declaration) else ''}")
        lines.append(f"{value_text(declaration, opened)} in the scene as opened")
        if opened != declaration.default:
            lines.append(f"{value_text(declaration, declaration.default)} by default")
        return lines

    def _reset_button(self, declaration: Declaration, side: float) -> None:
        opened = self._application.documents.opened.value(declaration.path)
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
        imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*FAINT_TEXT))
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(0.0, imgui.get_style().frame_padding.y))
        pressed = imgui.button(f"{icons.ICON_FA_ROTATE_LEFT}###reset {declaration.path}", imgui.ImVec2(side, 0.0))
        imgui.pop_style_var()
        imgui.pop_style_color(2)
        tooltip_on_hover(f"reset to {value_text(declaration, opened)}, as in the scene as opened")
        if pressed:
            changes.change(self._application, declaration.path, opened)

    def _source(self, source: str, width: float) -> None:
        """The source of the terrain: a generator or a file. Presets, which set all parameters, are in the gallery."""
        gap = imgui.get_style().item_inner_spacing.x
        button = imgui.get_frame_height() * BUTTON_WIDTH
        imgui.set_next_item_width(width - 2.0 * (button + gap))
        if imgui.begin_combo(f"##{SOURCE}", source.rpartition("/")[2]):
            for name in GENERATORS:
                if imgui.selectable(f"{name}##generator", name == source)[0]:
                    changes.change(self._application, SOURCE, name)
            imgui.end_combo()
        tooltip_on_hover(DECLARATIONS[SOURCE].help, "The generators; the gallery has the presets.")
        imgui.same_line(0.0, gap)
        gallery = BY_NAME["toggle_gallery"]
        if icon_button(icons.ICON_FA_IMAGES, gallery.name, gallery.tooltip):
            gallery.run(self._application)
        imgui.same_line(0.0, gap)
        if icon_button(icons.ICON_FA_FOLDER_OPEN, "open file", "Open a heightmap, a saved world or a preset (Ctrl+O)"):
            BY_NAME["open_dialog"].run(self._application)


def room_for_label(facts: ParameterFacts, width: float) -> float:
    """The width of a label beside its mark."""
    return width - (em(SIGN_WIDTH) if facts.differs or facts.rebuilds else 0.0)


def setting_text(path: str, value: Value) -> str:
    """The option that sets a parameter, such as `--set droplets.count=500`."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"--set {shlex.quote(f'{path}={text}')}"


def sources_of(group: type[Parameters]) -> str:
    """The articles that a group follows, as its docstring names them: `McDonald 2020, 2023`."""
    line = inspect.cleandoc(group.__doc__ or "").partition("\n")[0]
    named = re.findall(r"\(([^()]*\d{4}[^()]*)\)", line)
    return "; ".join(text.removeprefix("after ") for text in named)


def light_words(text: str, words: Iterable[str]) -> None:
    """Highlight words in the text that is drawn next."""
    place, drawing = imgui.get_cursor_screen_pos(), imgui.get_window_draw_list()
    top = place.y + imgui.get_current_context().current_window.dc.curr_line_text_base_offset
    for word in words:
        begin = text.casefold().find(word)
        if begin >= 0:
            left, right = (place.x + imgui.calc_text_size(text[:end]).x for end in (begin, begin + len(word)))
            low, high = imgui.ImVec2(left, top), imgui.ImVec2(right, top + imgui.get_text_line_height())
            drawing.add_rect_filled(low, high, imgui.get_color_u32(imgui.ImVec4(*faded(ACCENT, 0.4))), em(0.15))


def is_in_use(group: str, scene: Scene) -> bool:
    """Whether a group has an effect: a generator only if it is the source of the world."""
    generator = group.replace("_", "-")
    return generator not in GENERATORS or scene.world.source == generator

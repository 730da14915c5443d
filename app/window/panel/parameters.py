"""The parameters, by section and group: every row is derived from a declaration in the scene."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.climate import ClimateParameters
from app.model.numbers import number_text, range_words, spaced, value_text
from app.model.parameters import Declaration, Parameters, Value
from app.model.trait_parameters import TraitParameters
from app.picture.style import ACCENT, FAINT_TEXT, TEXT, WARNING, Colour, Fonts, em, faded
from app.processes.droplets import DropletParameters
from app.processes.snowballs import SnowballErosion
from app.scene.comparison import NAMES
from app.scene.scene import (
    DECLARATIONS,
    GROUPS,
    KEYS,
    Scene,
    can_have_keys,
    curve_of,
    rebuilds_world,
    section_of,
    without_effect,
)
from app.sources.generators import GENERATORS
from app.window.actions import BY_COMMAND
from app.window.panel.held import held_value
from app.window.panel.snowball_runs import snowball_runs
from app.window.panel.springs import spring_list
from app.window.panel.traits import TraitRows
from app.window.panel.weather import weather_line
from app.window.panel.widgets import (
    BUTTON_WIDTH,
    LABEL_PART,
    NARROWEST_ROW,
    ParameterWidgets,
    icon_button,
    tooltip,
    tooltip_is_due,
    tooltip_on_hover,
)

if TYPE_CHECKING:
    from app.window.application import Application

# The sections in their order, and whether they are open at first.
SECTIONS: dict[str, bool] = {
    "world": True,
    "climate": False,
    "processes": True,
    "rivers": False,
    "view": True,
    "performance": False,
}

REBUILDS = "rebuilds the world from cycle 0, when a drag ends or on Enter"
HOW_TO_SET = "drag (Shift: finer), Ctrl + click or double click to type, Esc to cancel"

MARK_SIZE = 0.66  # heights of the font
SIGN_WIDTH = 0.85

SOURCE = "world.source"  # a text: what it may be is not known to its declaration
IDLE_OPACITY = 0.45  # of a parameter that has no effect now


class ParameterRows:
    """Shows the scene's parameters and passes on what is changed."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._widgets = ParameterWidgets(application.notices.warn)
        self._traits = TraitRows(application, self._widgets)
        self._before_drag: tuple[str, list[Value]] = ("", [])  # a path, and what it had in each world

    def changed(self, section: str) -> int:
        """How many parameters of a section are not as they were opened."""
        return sum(self._is_changed(path) for path in DECLARATIONS if section_of(path) == section)

    def differing(self, section: str) -> int:
        """How many parameters of a section are not the same in both worlds."""
        return sum(self._differs(path) for path in DECLARATIONS if section_of(path) == section)

    def section(self, section: str) -> None:
        """All rows of a section."""
        for name, group in GROUPS.items():
            if group.section == section and is_in_use(name, self._application.documents.scene):
                self._group(name, group, with_title=group.title.lower() != section)

    def _group(self, name: str, group: type[Parameters], *, with_title: bool) -> None:
        """The rows of a group. That of a process which is off, unless a scene switches it on, is folded at first."""
        switch = f"{name}.enabled"
        if with_title:
            imgui.push_style_color(imgui.Col_.header.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
            imgui.push_font(Fonts.bold, 0.0)
            flags = imgui.TreeNodeFlags_.span_avail_width.value
            if (
                switch not in DECLARATIONS
                or DECLARATIONS[switch].default
                or self._application.documents.opened.value(switch)
            ):
                flags |= imgui.TreeNodeFlags_.default_open.value
            is_open = imgui.tree_node_ex(
                f"{group.title}###group {name}", flags | imgui.TreeNodeFlags_.no_tree_push_on_open.value
            )
            imgui.pop_font()
            imgui.pop_style_color()
            tooltip_on_hover(inspect.cleandoc(group.__doc__ or "").partition("\n")[0])
            self._time_share(name)
            if not is_open:
                if switch in DECLARATIONS:
                    self._row(DECLARATIONS[switch])  # a process can be switched on without being unfolded
                return
        for path, declaration in DECLARATIONS.items():
            if path.startswith(f"{name}."):
                self._row(declaration)
        if name == SnowballErosion.name:
            snowball_runs(self._application)
        elif group is ClimateParameters:
            weather_line(self._application)
        elif group is DropletParameters:
            spring_list(self._application)
        elif group is TraitParameters:
            self._traits.rows()

    def _time_share(self, name: str) -> None:
        """At the end of the title of a process that runs: how long it takes, and its share of a cycle."""
        milliseconds = self._application.simulation.status.milliseconds
        if name not in milliseconds:
            return
        share = milliseconds[name] / max(sum(milliseconds.values()), 1e-9)
        text = f"{milliseconds[name]:.1f} ms · {share:.0%}"
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        place = imgui.ImVec2(high.x - imgui.calc_text_size(text).x, low.y + imgui.get_style().frame_padding.y)
        imgui.get_window_draw_list().add_text(place, imgui.get_color_u32(imgui.ImVec4(*FAINT_TEXT)), text)

    def _row(self, declaration: Declaration) -> None:
        application, path = self._application, declaration.path
        value = application.documents.scene.value(path)
        is_changed = self._is_changed(path)
        idle = without_effect(application.documents.scene, declaration)
        imgui.push_id(path)
        imgui.push_style_var(imgui.StyleVar_.alpha.value, IDLE_OPACITY if idle else 1.0)
        reset_width = imgui.get_frame_height()
        width = imgui.get_content_region_avail().x
        gap = imgui.get_style().item_spacing.x
        left = imgui.get_cursor_pos_x()
        is_wide = width > em(NARROWEST_ROW)
        label_width = width * LABEL_PART if is_wide else 0.0

        imgui.align_text_to_frame_padding()
        self._label(declaration, is_changed, label_width - gap if is_wide else width)
        if is_wide:
            imgui.same_line(left + label_width)
        widget_width = width - label_width - reset_width - gap * 0.5
        if path == SOURCE:
            self._source(str(value), widget_width)
        else:
            self._value(declaration, value, widget_width)
        if is_changed:
            imgui.same_line(left + width - reset_width)
            self._reset_button(declaration, reset_width)
        imgui.pop_style_var()
        imgui.pop_id()

    def _value(self, declaration: Declaration, value: Value, width: float) -> None:
        """The widget of a parameter, and what is done with it."""
        application, path = self._application, declaration.path
        holding = held_value(application, path) if value == 0 else None
        new = self._widgets.edit(declaration, value, width, acts_at_end=rebuilds_world(path), holding=holding)
        if self._widgets.dragged != path:
            self._help_on_hover(declaration)
        elif self._before_drag[0] != path:  # it has only been pressed
            self._before_drag = (path, [scene.value(path) for scene in application.documents.scenes])
        if new is None:
            application.commands.change_back(path, self._before_drag[1])
        elif new != value:
            application.commands.change(path, new)
        if self._widgets.dragged != path == self._before_drag[0]:
            self._before_drag = ("", [])

    def _label(self, declaration: Declaration, is_changed: bool, width: float) -> None:
        colour: Colour = ACCENT if is_changed else faded(TEXT, 0.88)
        place = imgui.get_cursor_screen_pos()
        if is_changed:
            dot = imgui.ImVec2(place.x - em(0.38), place.y + imgui.get_frame_height() / 2.0)
            imgui.get_window_draw_list().add_circle_filled(dot, em(0.14), imgui.get_color_u32(imgui.ImVec4(*ACCENT)))
        width = self._room_for_label(declaration, width)
        if self._differs(declaration.path):
            sign = imgui.ImVec2(place.x + width, place.y + imgui.get_style().frame_padding.y)
            imgui.get_window_draw_list().add_text(sign, imgui.get_color_u32(imgui.ImVec4(*WARNING)), "≠")
        if rebuilds_world(declaration.path):
            self._rebuild_mark(imgui.ImVec2(place.x + width, place.y))
        if curve_of(self._application.documents.scene, declaration.path):
            self._diamond(imgui.ImVec2(place.x - em(0.38), place.y + imgui.get_frame_height() / 2.0))
        imgui.push_clip_rect(place, imgui.ImVec2(place.x + width, place.y + imgui.get_frame_height() * 1.2), True)
        imgui.text_colored(imgui.ImVec4(*colour), declaration.label)
        imgui.pop_clip_rect()
        self._help_on_hover(declaration)
        if can_have_keys(declaration):
            self._key_menu(declaration)

    def _diamond(self, middle: imgui.ImVec2) -> None:
        """The sign of a parameter that has keys on the time line."""
        colour = imgui.get_color_u32(imgui.ImVec4(*WARNING))
        imgui.get_window_draw_list().add_ngon_filled(middle, em(0.22), colour, 4)

    def _key_menu(self, declaration: Declaration) -> None:
        """By the right button on the label: keys on the time line."""
        if not imgui.begin_popup_context_item(f"keys of {declaration.path}"):
            return
        application, path = self._application, declaration.path
        cycle = application.simulation.status.cycle
        curve = curve_of(application.documents.scene, path)
        value = value_text(declaration, application.documents.scene.value(path))
        imgui.text_disabled(f"{declaration.label} over the cycles")
        if imgui.menu_item(f"Key here: {value} in cycle {spaced(cycle)}###add key", "", False)[0]:
            application.commands.set_key(path)
        for key in curve:
            label = f"Remove {value_text(declaration, key.value)} in cycle {spaced(key.cycle)}###remove {key.cycle}"
            if imgui.menu_item(label, "", False)[0]:
                application.commands.remove_key(path, key.cycle)
        if curve and imgui.menu_item("Remove all keys", "", False)[0]:
            application.commands.change(KEYS + path, "")
        imgui.end_popup()

    def _room_for_label(self, declaration: Declaration, width: float) -> float:
        """What the sign behind a label leaves of its width. No parameter has two signs: worlds share how they began."""
        has_sign = self._differs(declaration.path) or rebuilds_world(declaration.path)
        return width - (em(SIGN_WIDTH) if has_sign else 0.0)

    def _rebuild_mark(self, place: imgui.ImVec2) -> None:
        """The sign of the button Reset, small: a change rebuilds the world."""
        size = MARK_SIZE * imgui.get_font_size()
        top = place.y + (imgui.get_frame_height() - size) / 2.0
        colour = imgui.get_color_u32(imgui.ImVec4(*faded(FAINT_TEXT, 0.7)))
        drawing = imgui.get_window_draw_list()
        drawing.add_text(Fonts.text, size, imgui.ImVec2(place.x, top), colour, icons.ICON_FA_BACKWARD_FAST)

    def _help_on_hover(self, declaration: Declaration) -> None:
        if tooltip_is_due():  # else its lines would be made for each row in each frame
            tooltip(*self._help(declaration))

    def _help(self, declaration: Declaration) -> list[str]:
        path = declaration.path
        opened = self._application.documents.opened.value(path)
        lines = [declaration.help]
        if idle := without_effect(self._application.documents.scene, declaration):
            lines.append(idle)
        if (
            self._application.documents.scene.value(path) == 0
            and (holding := held_value(self._application, path)) is not None
        ):
            lines.append(f"now {number_text(declaration, holding)}")
        if rebuilds_world(path):
            lines.append(REBUILDS)
        if declaration.kind in (int, float):
            lines.append(f"{range_words(declaration)}; {HOW_TO_SET}")
        if self._differs(path):
            values = (value_text(declaration, scene.value(path)) for scene in self._application.documents.scenes)
            lines.append(" · ".join(f"{name}: {value}" for name, value in zip(NAMES, values, strict=False)))
        if can_have_keys(declaration):
            lines.append("right click on the name: keys on the time line")
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
            self._application.commands.change(declaration.path, opened)

    def _source(self, source: str, width: float) -> None:
        """The source of the terrain: a generator or a file. Presets, which set all parameters, are in the gallery."""
        commands, gap = self._application.commands, imgui.get_style().item_inner_spacing.x
        button = imgui.get_frame_height() * BUTTON_WIDTH
        imgui.set_next_item_width(width - 2.0 * (button + gap))
        if imgui.begin_combo(f"##{SOURCE}", source.rpartition("/")[2]):
            for name in GENERATORS:
                if imgui.selectable(f"{name}##generator", name == source)[0]:
                    commands.change(SOURCE, name)
            imgui.end_combo()
        tooltip_on_hover(DECLARATIONS[SOURCE].help, "The generators; the gallery has the presets.")
        imgui.same_line(0.0, gap)
        gallery = BY_COMMAND["toggle_gallery"]
        if icon_button(icons.ICON_FA_IMAGES, gallery.command, gallery.tooltip):
            commands.run(gallery)
        imgui.same_line(0.0, gap)
        if icon_button(icons.ICON_FA_FOLDER_OPEN, "open file", "Open a heightmap, a saved world or a preset (Ctrl+O)"):
            commands.open_dialog()

    def _is_changed(self, path: str) -> bool:
        return self._application.documents.scene.value(path) != self._application.documents.opened.value(path)

    def _differs(self, path: str) -> bool:
        scenes = self._application.documents.scenes
        return len(scenes) > 1 and len({scene.value(path) for scene in scenes}) > 1


def is_in_use(group: str, scene: Scene) -> bool:
    """Whether a group of parameters has an effect: that of a generator only while the world is made by it."""
    generator = group.replace("_", "-")
    return generator not in GENERATORS or scene.world.source == generator

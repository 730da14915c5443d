"""Groups of parameters, by section: what is at work with its essential parameters, and all others one click away."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.climate import ClimateParameters
from app.model.geology_parameters import GeologyParameters
from app.model.parameters import Parameters
from app.model.trait_parameters import TraitParameters
from app.picture.style import ACCENT, FAINT_TEXT, TEXT, Colour, Face, em
from app.processes.droplets import DropletParameters
from app.processes.snowballs import SnowballErosion
from app.scene.scene import DECLARATIONS, GROUPS, KEYS, SWITCHES, section_of
from app.window.commands import changes
from app.window.panel import sight
from app.window.panel.facts import MEMBERS
from app.window.panel.geology import geology_lines
from app.window.panel.memory import PanelMemory
from app.window.panel.parameters import SECTIONS, ParameterRows, is_in_use, setting_text
from app.window.panel.snowball_runs import snowball_runs
from app.window.panel.springs import spring_list
from app.window.panel.weather import weather_line
from app.window.panel.widgets import BY_KEYBOARD, faint, tooltip, tooltip_is_due

if TYPE_CHECKING:
    from app.window.application import Application

TITLE_GAP = 0.4  # heights of the font
COLUMN_OF_SWITCHES = 9.5  # the least width of one, of groups that are not at work


class GroupRows:
    """Shows groups of parameters, and what of them is pinned and unfolded."""

    def __init__(self, application: Application, rows: ParameterRows, memory: PanelMemory) -> None:
        self._application = application
        self._rows = rows
        self._memory = memory

    @property
    def sections(self) -> list[str]:
        """All sections, those that are pinned first."""
        pinned = self._memory.state.pinned_sections
        return sorted(SECTIONS, key=lambda section: section not in pinned)

    def pinned(self) -> None:
        """The parameters and groups that are pinned."""
        state = self._memory.state
        for path in state.pinned_parameters:
            if path in DECLARATIONS:
                self._rows.row(DECLARATIONS[path])
        for name in state.pinned_groups:
            if name in GROUPS:
                self._group(name)
        if state.pinned_parameters or state.pinned_groups:
            imgui.spacing()

    def section(self, section: str) -> None:
        """All groups of a section: those at work, and below them the switches of the others."""
        state, scene = self._memory.state, self._application.documents.scene
        names = [
            name
            for name, group in GROUPS.items()
            if group.section == section and name not in state.pinned_groups and is_in_use(name, scene)
        ]
        idle = [name for name in names if self._rows.facts.is_idle(name) and name not in state.unfolded]
        for name in names:
            if name not in idle:
                self._group(name, with_title=GROUPS[name].title.lower() != section)
        if idle:
            self._switches(idle)

    def menu_of_section(self, section: str) -> None:
        """By the right button on its header."""
        if not imgui.begin_popup_context_item(f"of section {section}"):
            return
        pinned = self._memory.state.pinned_sections
        if imgui.menu_item("Unpin###pin" if section in pinned else "Pin to the top###pin", "", False)[0]:
            self._memory.toggle(pinned, section)
        paths = [path for path in sorted(self._rows.facts.changed) if section_of(path) == section]
        self._items_of_changes(paths)
        imgui.end_popup()

    def is_pinned(self, section: str) -> bool:
        return section in self._memory.state.pinned_sections

    def _group(self, name: str, *, with_title: bool = True) -> None:
        """Its title with its switch, and its essential parameters, or all."""
        state, group = self._memory.state, GROUPS[name]
        unfolded = name in state.unfolded
        if with_title:
            self._title(name, group)
        is_off, changed = self._rows.facts.is_off(name), self._rows.facts.changed
        shown = [
            member
            for member in MEMBERS[name]
            if unfolded or (not is_off and (member.essential or member.path in changed))
        ]
        for declaration in shown:
            if declaration.path not in state.pinned_parameters:
                self._rows.row(declaration)
        if not with_title:
            self._fold_button(name, group)
        self._what_belongs_to(name, group, unfolded=unfolded)

    def _what_belongs_to(self, name: str, group: type[Parameters], *, unfolded: bool) -> None:
        """What a group has besides its parameters."""
        if name == SnowballErosion.name and not self._rows.facts.is_off(name):
            snowball_runs(self._application)
        elif group is GeologyParameters:
            geology_lines(self._application.snapshot)
        elif group is ClimateParameters:
            weather_line(self._application.snapshot, self._application.documents.scene.climate)
        elif group is DropletParameters:
            spring_list(self._application)
        elif group is TraitParameters and unfolded:
            self._rows.traits()

    def _switches(self, names: Sequence[str]) -> None:
        """Groups that are not at work, in as many columns as there is room for: a click switches one on."""
        imgui.spacing()
        faint("not at work")
        left, width = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x
        columns = max(int(width / em(COLUMN_OF_SWITCHES)), 1)
        for number, name in enumerate(names):
            if column := number % columns:
                imgui.same_line(left + column * width / columns)
            end = left + (column + 1) * width / columns - em(TITLE_GAP)
            switch = f"{name}.enabled"
            if switch in SWITCHES:
                self._rows.switch(DECLARATIONS[switch])
                imgui.same_line(0.0, em(TITLE_GAP))
            size = imgui.ImVec2(end - imgui.get_cursor_pos_x(), imgui.get_frame_height())
            is_changed = self._rows.facts.is_changed(name)
            colour = ACCENT if is_changed or switch in self._rows.facts.changed else FAINT_TEXT
            self._title_button(name, GROUPS[name], size, colour, Face.PLAIN.font(), "")

    def _title(self, name: str, group: type[Parameters]) -> None:
        """A line with the switch of a group, its name, how long it takes, and what unfolds it."""
        switch = f"{name}.enabled"
        if switch in SWITCHES:
            self._rows.switch(DECLARATIONS[switch])
            imgui.same_line(0.0, em(TITLE_GAP))
        size = imgui.ImVec2(imgui.get_content_region_avail().x, imgui.get_frame_height())
        is_changed = switch in self._rows.facts.changed
        self._title_button(name, group, size, ACCENT if is_changed else TEXT, Face.BOLD.font(), self._fold_text(name))

    def _title_button(
        self, name: str, group: type[Parameters], size: imgui.ImVec2, colour: Colour, font: imgui.ImFont, end: str
    ) -> None:
        """The name of a group, which unfolds it, with words at its end."""
        place = imgui.get_cursor_screen_pos()
        box, label = imgui.ImVec2(max(size.x, 1.0), size.y), f"###group {name}"
        if not sight.is_needed(box, label):
            sight.reserve(label, box)
            return
        if imgui.invisible_button(label, box, BY_KEYBOARD):
            self._memory.toggle(self._memory.state.unfolded, name)
        if imgui.is_item_visible():
            self._words_of_title(name, place, size, colour, font, end)
        if tooltip_is_due():
            unfolds = "fewer" if name in self._memory.state.unfolded else f"all {len(MEMBERS[name])} parameters"
            tooltip(summary_of(group), f"click: {unfolds}")
        self._menu_of_group(name)

    def _words_of_title(
        self, name: str, place: imgui.ImVec2, size: imgui.ImVec2, colour: Colour, font: imgui.ImFont, end: str
    ) -> None:
        """What is seen of the button of a group."""
        title = GROUPS[name].title
        drawing, padding = imgui.get_window_draw_list(), imgui.get_style().frame_padding.y
        if imgui.is_item_hovered():
            corner = imgui.ImVec2(place.x + size.x, place.y + size.y)
            drawing.add_rect_filled(place, corner, imgui.get_color_u32(imgui.Col_.header_hovered.value), em(0.25))
        faint = imgui.get_color_u32(imgui.ImVec4(*FAINT_TEXT))
        imgui.push_font(font, 0.0)
        title_width = imgui.calc_text_size(title).x
        packed = imgui.get_color_u32(imgui.ImVec4(*colour))
        drawing.add_text(imgui.ImVec2(place.x + em(0.2), place.y + padding), packed, title)
        imgui.pop_font()
        right = place.x + size.x - em(0.2)
        for text in (end, self._time_share(name) if end else ""):
            width = imgui.calc_text_size(text).x
            if text and right - width > place.x + title_width + em(0.6):
                drawing.add_text(imgui.ImVec2(right - width, place.y + padding), faint, text)
                right -= width + em(0.8)

    def _fold_text(self, name: str) -> str:
        if name in self._memory.state.unfolded:
            return f"fewer {icons.ICON_FA_CHEVRON_UP}"
        return f"all {len(MEMBERS[name])} {icons.ICON_FA_CHEVRON_DOWN}"

    def _fold_button(self, name: str, group: type[Parameters]) -> None:
        """For a group whose section has its name, below its parameters."""
        if not all(member.essential for member in MEMBERS[name]):
            text = self._fold_text(name)
            width = imgui.calc_text_size(text).x + em(1.0)
            imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x - width)
            imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
            imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*FAINT_TEXT))
            if imgui.button(f"{text}###group {name}"):
                self._memory.toggle(self._memory.state.unfolded, name)
            imgui.pop_style_color(2)

    def _menu_of_group(self, name: str) -> None:
        """By the right button on its title, or the keyboard's menu key."""
        if imgui.is_item_focused() and imgui.is_key_pressed(imgui.Key.menu):
            imgui.open_popup(f"of group {name}")
        if not imgui.begin_popup_context_item(f"of group {name}"):
            return
        pinned = self._memory.state.pinned_groups
        if imgui.menu_item("Unpin###pin" if name in pinned else "Pin to the top###pin", "", False)[0]:
            self._memory.toggle(pinned, name)
        paths = [path for path in sorted(self._rows.facts.changed) if path.removeprefix(KEYS).startswith(f"{name}.")]
        self._items_of_changes(paths)
        imgui.end_popup()

    def _items_of_changes(self, paths: Sequence[str]) -> None:
        """What can be done with all that is not as it was opened."""
        count = f"{len(paths)} change" + ("s" if len(paths) != 1 else "")
        if imgui.menu_item(f"Reset {count}###reset changes", "", False, bool(paths))[0]:
            changes.reset_parameters(self._application, paths)
        if imgui.menu_item(f"Copy {count} as --set###copy changes", "", False, bool(paths))[0]:
            imgui.set_clipboard_text(settings_text(self._application, paths))

    def _time_share(self, name: str) -> str:
        """Of a process that runs: how long it takes, and its share of a cycle."""
        milliseconds = self._application.simulation.status.milliseconds
        if name not in milliseconds or self._rows.facts.is_off(name):
            return ""
        share = milliseconds[name] / max(sum(milliseconds.values()), 1e-9)
        return f"{milliseconds[name]:.1f} ms · {share:.0%}"


def settings_text(application: Application, paths: Sequence[str]) -> str:
    """What sets these parameters on the command line. Curves cannot be set there."""
    scene = application.documents.scene
    return " ".join(setting_text(path, scene.value(path)) for path in paths if not path.startswith(KEYS))


@functools.cache
def summary_of(group: type[Parameters]) -> str:
    """The first line of its docstring."""
    return inspect.cleandoc(group.__doc__ or "").partition("\n")[0]

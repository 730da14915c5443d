"""Traits of all kinds in use: a fold per kind, with a row per trait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.materials import Material
from app.model.numbers import range_words, value_text
from app.model.parameters import Declaration, Value
from app.model.plants import Plant
from app.model.snapshot import Snapshot
from app.model.trait_parameters import read_material_traits, read_plant_traits
from app.model.traits import (
    Setting,
    Trait,
    changed,
    numbers_of,
    setting_of,
    traits_of,
    with_setting,
    without_setting,
    write_settings,
)
from app.picture.style import ACCENT, FAINT_TEXT, TEXT, em, faded
from app.window.commands import changes
from app.window.panel.widgets import LABEL_PART, NARROWEST_ROW, ParameterWidgets, tooltip_on_hover

if TYPE_CHECKING:
    from app.scene.scene import Scene
    from app.window.application import Application

AnyKind = Material | Plant


class Table(NamedTuple):
    """The kinds of one parameter, from their files."""

    path: str  # parameter that lists the changed traits
    read: Callable[[str], tuple[Setting, ...]]
    kinds: tuple[AnyKind, ...]


def tables(scene: Scene, snapshot: Snapshot) -> Iterator[Table]:
    """The tables of a world: its materials, and its plants."""
    if snapshot.materials is not None:
        given = snapshot.materials.given or snapshot.materials
        materials = {material.name: material for material in (*given.loose, *given.rocks)}
        yield Table("traits.materials", read_material_traits, tuple(materials.values()))
    if scene.plants.enabled or len(snapshot.trees):
        flora = snapshot.flora.given or snapshot.flora
        yield Table("traits.plants", read_plant_traits, (flora.grass, *flora.trees))


class TraitRows:
    """Shows traits of kinds, and passes on changes as the text of changed traits."""

    def __init__(self, application: Application, widgets: ParameterWidgets) -> None:
        self._application = application
        self._widgets = widgets
        self._before_drag: tuple[str, list[Value]] = ("", [])  # a row, and the former text in each world

    def rows(self) -> None:
        """All kinds of the shown world."""
        snapshot = self._application.snapshot
        if snapshot is None:
            return
        for table in tables(self._application.documents.scene, snapshot):
            settings = table.read(str(self._application.documents.scene.value(table.path)))
            for kind in table.kinds:
                self._kind(table, kind, settings)

    def _kind(self, table: Table, kind: AnyKind, settings: tuple[Setting, ...]) -> None:
        own = [setting for setting in settings if setting.kind == kind.name]
        imgui.push_style_color(imgui.Col_.header.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
        imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*(ACCENT if own else TEXT)))
        flags = imgui.TreeNodeFlags_.span_avail_width.value | imgui.TreeNodeFlags_.no_tree_push_on_open.value
        is_open = imgui.tree_node_ex(f"{kind.title}###kind {table.path} {kind.name}", flags)
        imgui.pop_style_color(2)
        tooltip_on_hover(f"Traits of {kind.title.lower()}", f"{len(own) or 'none'} of them not as in its file")
        if not is_open:
            return
        now = changed((kind,), own)[0]
        imgui.indent(em(0.6))
        for trait in traits_of(kind).values():
            if trait.numbers:
                self._numbers(table, kind, now, trait, settings)
            else:
                self._colour(table, kind, now, trait, settings)
        imgui.unindent(em(0.6))

    def _numbers(self, table: Table, kind: AnyKind, now: AnyKind, trait: Trait, settings: tuple[Setting, ...]) -> None:
        """A slider for each number of a trait."""
        given, values = numbers_of(kind, trait), numbers_of(now, trait)
        for place, declaration in enumerate(_of_kind(table.path, kind, trait)):
            lone = len(values) == 1
            label = trait.label if lone else f"{trait.label}, {trait.numbers[place].name}"
            with_reset = place == 0 and given != values
            lines = (f"{range_words(declaration)}; {value_text(declaration, given[place])} in its file",)
            width = self._begin_row(label, given[place] != values[place], (declaration.help, *lines))
            new = self._widgets.edit(declaration, values[place], width)
            self._note_drag(declaration.path, table.path)
            if new is None:
                changes.change_back(self._application, table.path, self._before_drag[1])
            elif new != values[place]:
                numbers = list(values)
                numbers[place] = float(new)
                for other in range(place):  # earlier values are limited like later ones
                    numbers[other] = min(numbers[other], numbers[place])
                self._take(table, kind, settings, setting_of(kind.name, trait, numbers))
            self._end_row(table, kind, trait, settings, with_reset=with_reset)

    def _colour(self, table: Table, kind: AnyKind, now: AnyKind, trait: Trait, settings: tuple[Setting, ...]) -> None:
        given, value = str(getattr(kind, trait.name)), str(getattr(now, trait.name))
        width = self._begin_row(trait.label, given != value, (trait.help, f"{given} in its file"))
        imgui.set_next_item_width(width)
        before = [int(value[place : place + 2], 16) / 255.0 for place in (1, 3, 5)]
        label = f"##{table.path}.{kind.name}.{trait.name}"
        is_changed, rgb = imgui.color_edit3(label, before, imgui.ColorEditFlags_.display_hex.value)
        text = "#" + "".join(f"{round(255.0 * min(max(channel, 0.0), 1.0)):02x}" for channel in rgb)
        if is_changed and text != value.lower():
            self._take(table, kind, settings, Setting(kind.name, trait.name, text))
        self._end_row(table, kind, trait, settings, with_reset=given != value)

    def _begin_row(self, label: str, is_changed: bool, help: Iterable[str]) -> float:
        """The label of a row; returns the width of its widget."""
        width, left = imgui.get_content_region_avail().x, imgui.get_cursor_pos_x()
        is_wide = width > em(NARROWEST_ROW)
        imgui.align_text_to_frame_padding()
        place, room = imgui.get_cursor_screen_pos(), width * LABEL_PART if is_wide else width
        right = imgui.ImVec2(place.x + room - em(0.3), place.y + imgui.get_frame_height() * 1.2)
        imgui.push_clip_rect(place, right, True)
        imgui.text_colored(imgui.ImVec4(*(ACCENT if is_changed else faded(TEXT, 0.88))), label)
        imgui.pop_clip_rect()
        tooltip_on_hover(label, *help)
        if is_wide:
            imgui.same_line(left + room)
        reset = imgui.get_frame_height() + 0.5 * imgui.get_style().item_spacing.x
        return width - (room if is_wide else 0.0) - reset

    def _end_row(
        self, table: Table, kind: AnyKind, trait: Trait, settings: tuple[Setting, ...], *, with_reset: bool
    ) -> None:
        """A button that resets a trait to its file."""
        if not with_reset:
            return
        imgui.same_line(0.0, 0.5 * imgui.get_style().item_spacing.x)
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
        imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*FAINT_TEXT))
        side, padding = imgui.get_frame_height(), imgui.get_style().frame_padding.y
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(0.0, padding))
        name = f"{icons.ICON_FA_ROTATE_LEFT}###reset {table.path} {kind.name} {trait.name}"
        pressed = imgui.button(name, imgui.ImVec2(side, 0.0))
        imgui.pop_style_var()
        imgui.pop_style_color(2)
        tooltip_on_hover(f"{trait.label} as in its file")
        if pressed:
            self._change(table, without_setting(settings, kind.name, trait.name))

    def _note_drag(self, row: str, path: str) -> None:
        """Remember the value before a drag."""
        if self._widgets.dragged == row and self._before_drag[0] != row:
            scenes = self._application.documents.scenes
            self._before_drag = (row, [scene.value(path) for scene in scenes])
        elif self._widgets.dragged != row == self._before_drag[0]:
            self._before_drag = ("", self._before_drag[1])

    def _take(self, table: Table, kind: AnyKind, settings: tuple[Setting, ...], new: Setting) -> None:
        """Set a trait; the value of its file removes the entry."""
        if new.value == getattr(kind, new.trait):
            self._change(table, without_setting(settings, kind.name, new.trait))
        else:
            self._change(table, with_setting(settings, new))

    def _change(self, table: Table, settings: tuple[Setting, ...]) -> None:
        changes.change(self._application, table.path, write_settings(settings))


def _of_kind(path: str, kind: AnyKind, trait: Trait) -> Iterator[Declaration]:
    """The declarations of a trait for a kind, with the defaults of its file."""
    for number, value in zip(trait.numbers, numbers_of(kind, trait), strict=True):
        name = trait.name if len(trait.numbers) == 1 else f"{trait.name} {number.name}"
        yield replace(number, path=f"{path}.{kind.name}.{name}", default=value)

"""The toolbar at the left of the scene: brush groups, gallery, recording, and settings of the selected brush."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.brushes.tools import TOOLS, Tool
from app.picture.style import ACCENT, FAINT_TEXT, OVER_SCENE, em, faded
from app.window.actions import BY_NAME
from app.window.panel.file_dialog import FileDialog, Filter
from app.window.panel.mask_picker import MaskPicker
from app.window.panel.parameters import HOW_TO_SET
from app.window.panel.widgets import BUTTON_WIDTH, ParameterWidgets, icon_button, toggle, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

GROUPS: tuple[tuple[str, str, str], ...] = (  # of tools: icon, and command
    ("Land", icons.ICON_FA_MOUNTAIN, "brush_land"),
    ("Material", icons.ICON_FA_CUBES_STACKED, "brush_material"),
    ("Water", icons.ICON_FA_DROPLET, "brush_water"),
    ("Rates", icons.ICON_FA_GAUGE_HIGH, "brush_rates"),
    ("Plants", icons.ICON_FA_SEEDLING, "brush_plants"),
    ("Forms", icons.ICON_FA_STAMP, "brush_forms"),
)

CHOICES = {"loose": "kind", "plant": "plant", "form": "form", "rate": "rate"}

WIDTH = 15.5  # of the box with the settings, in heights of the font
LABEL = 5.2
HEIGHT_FOR_RECORD = 22.0
FLAGS = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.always_auto_resize.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_move.value
    | imgui.WindowFlags_.no_bring_to_front_on_focus.value
    | imgui.WindowFlags_.no_focus_on_appearing.value
)


class Toolbar:
    """The toolbar."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self.mask = MaskPicker(  # where a brush acts
            application.views, application.sides, application.notices.warn
        )
        self._file_dialog = FileDialog()
        self._widgets = ParameterWidgets(application.notices.warn)
        self._before_drag: tuple[str, float] = ("", 0.0)  # a setting and its former value
        self.width = 0.0  # covered at the left of the scene

    def gui(self, left: float, top: float, width: float, height: float) -> None:
        """A frame, in the free part of the scene."""
        gap = em(0.6)
        if width < em(12.0) or height < em(14.0):
            self.width = 0.0
            return
        self._begin("##toolbar", left + gap, top + gap, (0.3, 0.35))
        self._buttons(has_record=height > em(HEIGHT_FOR_RECORD))
        size = imgui.get_window_size()
        self._end()
        self.width = size.x + gap
        if self._application.brushing.tool is not None:
            self._begin("##brush", left + 2.0 * gap + size.x, top + gap, (0.7, 0.6))
            self._settings(self._application.brushing.tool, min(em(WIDTH), width - size.x - 5.0 * gap))
            self._end()
        middle = (left + width / 2.0, top + height / 2.0)
        self._file_dialog.gui(middle, width - em(2.0), height - em(2.0))

    @property
    def is_asking(self) -> bool:
        """Whether a file dialog is open."""
        return self._file_dialog.is_open

    def close(self) -> None:
        """Close the dialog."""
        self._file_dialog.close()

    def release(self) -> None:
        """Give back the map of the mask."""
        self.mask.release()

    def _begin(self, name: str, left: float, top: float, padding: tuple[float, float]) -> None:
        imgui.set_next_window_pos(imgui.ImVec2(left, top), imgui.Cond_.always.value)
        imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*OVER_SCENE))
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(em(padding[0]), em(padding[1])))
        imgui.begin(name, None, FLAGS)

    def _end(self) -> None:
        imgui.end()
        imgui.pop_style_var()
        imgui.pop_style_color()

    def _buttons(self, *, has_record: bool) -> None:
        """The pointer, one button for each group of tools, the gallery, and where there is room what records."""
        brushing = self._application.brushing
        if _tool_button(icons.ICON_FA_ARROW_POINTER, "pointer", "Look: move the camera, ask about water  (Esc)",
                        lit=not brushing.is_active):  # fmt: skip
            brushing.choose("")
        for group, icon, command in GROUPS:
            action = BY_NAME[command]
            is_lit = brushing.tool is not None and brushing.tool.group == group
            if _tool_button(icon, command, action.tooltip, lit=is_lit):
                action.run(self._application)
        imgui.separator()
        gallery = BY_NAME["toggle_gallery"]
        if icon_button(icons.ICON_FA_IMAGES, gallery.name, gallery.tooltip):
            gallery.run(self._application)
        if has_record:
            record, is_on = BY_NAME["record"], self._application.recording.current is not None
            icon = icons.ICON_FA_STOP if is_on else icons.ICON_FA_VIDEO
            if _tool_button(icon, record.name, record.tooltip, lit=is_on):
                record.run(self._application)

    def _settings(self, tool: Tool, width: float) -> None:
        """The tools of the group, and the settings of the selected one."""
        brushing = self._application.brushing
        right = imgui.get_cursor_screen_pos().x + width
        for number, (name, other) in enumerate(TOOLS.items()):
            if other.group != tool.group:
                continue
            label_width = imgui.calc_text_size(other.label).x + 2.0 * imgui.get_style().frame_padding.x
            if number and imgui.get_item_rect_max().x + label_width + em(0.3) < right and not _is_first(name):
                imgui.same_line(0.0, em(0.3))
            is_lit = name == brushing.tool_name
            if is_lit:
                imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(*faded(ACCENT, 0.45)))
            if imgui.button(f"{other.label}###tool {name}"):
                brushing.choose(name)
            if is_lit:
                imgui.pop_style_color()
            tooltip_on_hover(other.help, *_more_on(other))
        imgui.spacing()
        self._choice(tool, width)
        self._sliders(tool, width)
        if tool.act is not None:
            self.mask.gui(width, em(LABEL))
            brushing.mask = self.mask.text
        if tool.act is not None and (layer := self._application.stack.painted):
            self._label("into", "The layer of Edits that is chosen there takes the next strokes")
            imgui.text_unformatted(layer.name)
        imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + width)
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), _how_to_use(tool))
        imgui.pop_text_wrap_pos()

    def _choice(self, tool: Tool, width: float) -> None:
        """The choice of material, plant, form or image."""
        if not tool.choice:
            return
        brushing = self._application.brushing
        chosen = brushing.choice_of(brushing.tool_name)
        self._label(CHOICES[tool.choice], "")
        button = imgui.get_frame_height() * BUTTON_WIDTH + em(0.3) if tool.choice == "form" else 0.0
        imgui.set_next_item_width(width - em(LABEL) - button)
        if imgui.begin_combo("##choice", chosen.rpartition("/")[2]):
            for name in brushing.choices(brushing.tool_name):
                if imgui.selectable(name.rpartition("/")[2] + f"###{name}", name == chosen)[0]:
                    brushing.choose_option(name)
            imgui.end_combo()
        if tool.choice == "form":
            imgui.same_line(0.0, em(0.3))
            if icon_button(icons.ICON_FA_FOLDER_OPEN, "image", "Stamp an image: black is low, white is high"):
                from app.sources.heightmap import FORMATS

                filters = [Filter(f.name.removeprefix("a ").removeprefix("an "), f.suffixes) for f in FORMATS]
                self._file_dialog.ask_to_open(filters, self._take_image)

    def _take_image(self, path: Path | str) -> None:
        self._application.brushing.image = str(path)
        self._application.brushing.choose_option(str(path))

    def _sliders(self, tool: Tool, width: float) -> None:
        """Sliders of the settings that the tool uses."""
        if tool.act is None:
            return
        self._slider("radius", width)
        self._slider("strength", width)
        if tool.gesture not in ("stamp", "curve"):
            self._slider("hardness", width)
        if tool.gesture == "paint":
            self._slider("spacing", width)
        if tool.takes_level or tool.has_level:
            self._level(width)

    def _slider(self, name: str, width: float) -> None:
        brushing = self._application.brushing
        declaration, value = brushing.shown(name)
        self._label(declaration.label, declaration.help)
        if name == "strength" and brushing.tool is not None and brushing.tool.amount == "metres":
            more = f"now {brushing.amount(brushing.tool):.3g} m at a touch"
        else:
            more = ""
        new = self._widgets.edit(declaration, value, width - em(LABEL))
        if self._widgets.dragged != declaration.path:
            tooltip_on_hover(declaration.help, *filter(None, (more, HOW_TO_SET)))
        elif self._before_drag[0] != declaration.path:
            self._before_drag = (declaration.path, value)
        if new is None:  # reverted
            brushing.set_shown(name, self._before_drag[1])
        elif new != value and not isinstance(new, str):
            brushing.set_shown(name, float(new))

    def _level(self, width: float) -> None:
        """A fixed height, or that of the land."""
        brushing = self._application.brushing
        declaration, value = brushing.shown("level")
        self._label("level", declaration.help)
        told = toggle("##told", brushing.level_is_told)
        tooltip_on_hover(f"{declaration.help}; off: that of the land where the stroke begins")
        if told and not brushing.level_is_told and (snapshot := self._application.snapshot):
            brushing.set("level", round(0.5 * (snapshot.lowest + snapshot.highest), 1))
        brushing.level_is_told = told
        if told:
            imgui.same_line(0.0, em(0.4))
            new = self._widgets.edit(
                declaration, value, imgui.get_cursor_start_pos().x + width - imgui.get_cursor_pos_x()
            )
            if new is not None and not isinstance(new, str):
                brushing.set("level", float(new))

    def _label(self, text: str, help: str) -> None:
        imgui.align_text_to_frame_padding()
        left = imgui.get_cursor_pos_x()
        imgui.text_unformatted(text)
        if help:
            tooltip_on_hover(help)
        imgui.same_line(left + em(LABEL))


def _tool_button(icon: str, name: str, tooltip: str, *, lit: bool) -> bool:
    if lit:
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(*faded(ACCENT, 0.45)))
    pressed = icon_button(icon, name, tooltip)
    if lit:
        imgui.pop_style_color()
    return pressed


def _is_first(name: str) -> bool:
    """Whether a tool is the first of its group."""
    group = TOOLS[name].group
    return next(known for known, tool in TOOLS.items() if tool.group == group) == name


def _more_on(tool: Tool) -> list[str]:
    lines = []
    if tool.opposite:
        lines.append(f"with Ctrl: {TOOLS[tool.opposite].label}")
    if tool.needs:
        lines.append(f"switches {tool.needs} on")
    return lines


def _how_to_use(tool: Tool) -> str:
    match tool.gesture:
        case "line":
            return "drag from one place to another"
        case "curve":
            return "draw its course"
        case "stamp":
            return "click, or drag for size and direction"
        case "place":
            return "click"
    opposite = f" · Ctrl: {TOOLS[tool.opposite].label}" if tool.opposite else ""
    return f"drag · Shift: straight{opposite} · Alt: camera"

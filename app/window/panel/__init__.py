"""The panel: everything in the window that is not the picture, in ImGui."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.picture.style import Face, em
from app.scene.comparison import NAMES
from app.scene.scene import WORLD_SECTION
from app.window.commands import files
from app.window.panel import comparison, keyboard, legend, menus, messages, sight, status_line, transport
from app.window.panel.brush_marks import brush_marks
from app.window.panel.camera_path import CameraPathList
from app.window.panel.divider import Divider
from app.window.panel.edit_stack import EditStack
from app.window.panel.export_dialog import ExportDialog
from app.window.panel.file_dialog import Chosen, FileDialog, Filter
from app.window.panel.first_tour import FirstTour
from app.window.panel.gallery import Gallery
from app.window.panel.groups import GroupRows
from app.window.panel.guide import GuideWindow
from app.window.panel.keyboard import Keyboard
from app.window.panel.memory import PanelMemory
from app.window.panel.parameters import SECTIONS, ParameterRows
from app.window.panel.part_dialog import PartDialog
from app.window.panel.search import Search
from app.window.panel.session_list import session_list
from app.window.panel.springs import SpringMarks
from app.window.panel.timeline import TimelineStrip
from app.window.panel.toolbar import Toolbar
from app.window.panel.version_list import VersionList
from app.window.panel.widgets import tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

WINDOW = "Panel"
WIDTH = 23.5  # heights of the font
WIDEST_PART = 0.46  # of the window

SAVED_WORLD = Filter("saved worlds", (".npz",))
PRESET = Filter("presets", (".toml",))


class Panel:
    """Lays out the panel, and keeps its state."""

    def __init__(self, application: Application, memory: PanelMemory) -> None:
        self.visible = True
        self.timeline_visible = True
        self._application = application
        self.keyboard: Keyboard = Keyboard(application)
        self.memory = memory
        self._rows = ParameterRows(application, memory)
        self._groups = GroupRows(application, self._rows, memory)
        self._search = Search(application, self._rows)
        self._divider = Divider(application.layout)
        self._springs = SpringMarks(application)
        self._timeline = TimelineStrip(application)
        self._toolbar = Toolbar(application)
        self._camera_path = CameraPathList(application)
        self._file_dialog = FileDialog()
        self._export_dialog = ExportDialog(
            application.exporting, application.views, application.sides, application.notices
        )
        self._part_dialog = PartDialog(application)
        self.gallery = Gallery(application)
        self._edit_stack = EditStack(application)
        self._version_list = VersionList(application)
        self._guide = GuideWindow(application.guide)
        self.tour: FirstTour = FirstTour(application)
        self._laid_out_scale = 0.0
        self._room = 0.0  # width of the window in the last frame
        self._own_width = 0.0  # of the panel, while the window is too narrow for it
        self.free_of_scene = (0.0, 1.0)  # free range of the width, from 0 at the left to 1 at the right
        self._frames = 0
        self._plots_shown = False
        self._section_shown = ""  # if only one is unfolded
        self.rivers_shown = False  # whether the section is visible
        self.realism_shown = False

    def gui(self) -> None:
        """A frame."""
        self.rivers_shown = self.realism_shown = False
        sight.begin_frame()
        self._rows.begin_frame()
        self.keyboard.gui()
        self._divider.gui()
        exaggeration = self._application.documents.seen_scene.view.exaggeration
        brush_marks(self._application.brushing.marks, self._application.views, exaggeration)
        if self._application.ruler.is_on:
            from app.window.panel import ruler

            self._plots_shown = ruler.ruler(self._application) or self._plots_shown
        if self.visible:
            self._springs.gui()
            legend.legend(self._application)
            menus.menus(self._application)
            status_line.status_line(self._application)
            if self.timeline_visible:
                self._timeline.gui()
            self._dock()
            imgui.begin(WINDOW, None, imgui.WindowFlags_.no_collapse.value)
            transport.transport(self._application)
            comparison.comparison(self._application)
            self._search.field()
            imgui.spacing()
            imgui.begin_child("parameters", child_flags=imgui.ChildFlags_.nav_flattened.value)
            if self._search.query:
                self._search.results()
            else:
                self._groups.pinned()
                self._sections()
            imgui.end_child()
            imgui.end()
        self._over_scene()
        self._frames += 1

    @property
    def is_laid_out(self) -> bool:
        """Whether the free area is known: ImGui places its windows after the first frame."""
        return self._frames > 1

    @property
    def height_below_scene(self) -> float:
        """The height of status line and time line."""
        if not self.visible:
            return 0.0
        return status_line.height() + (self._timeline.height() if self.timeline_visible else 0.0)

    @property
    def width_left_of_scene(self) -> float:
        """The width of the toolbar."""
        return self._toolbar.width if self.visible else 0.0

    @property
    def height_above_scene(self) -> float:
        """The height of the menus."""
        return menus.height() if self.visible else 0.0

    @property
    def shows_timeline(self) -> bool:
        return self.timeline_visible and self._timeline.height() > 0.0

    def changed(self, section: str) -> int:
        """The number of changed parameters of a section."""
        return self._rows.facts.changed_in(section)

    def begin_search(self) -> None:
        """Focus the search field."""
        self.visible = True
        self.keyboard.enter_panel()
        self._search.begin()

    def begin_tour(self) -> None:
        self.tour.begin()

    def move_keyboard(self) -> None:
        """Move the keyboard to the next part of the window."""
        self.keyboard.go_on()

    def toggle_gallery(self) -> None:
        if self.gallery.is_open:
            self.gallery.close()
        else:
            self.gallery.open()

    def show_only(self, section: str) -> None:
        """Unfold a section in the next frame and fold all others. Without a name all stay."""
        self._section_shown = section

    @property
    def is_asking(self) -> bool:
        """Whether typed text belongs to a dialog or the search field."""
        application = self._application
        dialogs = self._file_dialog.is_open or self._toolbar.is_asking
        dialogs = dialogs or application.exporting.is_open or application.part_choice.is_open
        return dialogs or (self.visible and self._search.is_beginning)

    @property
    def is_covered(self) -> bool:
        """Whether something covers the whole window and takes all keys."""
        return self.gallery.is_open

    def ask_for_file_to_open(self) -> None:
        self._file_dialog.ask_to_open([*_heightmaps(), PRESET], partial(files.open, self._application))

    def ask_for_folder_to_open(self) -> None:
        from app.sources.heightmap.models import TILE_SUFFIXES

        self._file_dialog.ask_for_folder(Filter("Tiles", TILE_SUFFIXES), partial(files.open, self._application))

    def ask_for_image(self, chosen: Chosen) -> None:
        """Ask for a picture or a heightmap."""
        self._file_dialog.ask_to_open(_heightmaps(), chosen)

    def ask_for_file_to_save(self) -> None:
        snapshot = self._application.snapshot
        side = (
            f"-{NAMES[self._application.documents.edited_worlds[0]]}" if self._application.documents.comparing else ""
        )
        name = f"{self._application.documents.name}{side}-{snapshot.cycle if snapshot else 0:06d}.npz"
        self._file_dialog.ask_to_save(name, [SAVED_WORLD, PRESET], files.target, partial(files.save, self._application))

    def ask_for_preset_to_save(self, folder: Path) -> None:
        """Ask for the name of a user preset."""
        name = f"{self._application.documents.name}.toml"
        self._file_dialog.ask_to_save(name, [PRESET], files.target, partial(files.save, self._application), folder)

    def ask_again_for_file_to_save(self, path: Path, why: str) -> None:
        """Ask again after saving to `path` failed."""
        self._file_dialog.ask_again(
            path, why, [SAVED_WORLD, PRESET], files.target, partial(files.save, self._application)
        )

    def close_topmost(self) -> bool:
        """Close the topmost thing. Returns whether there was one."""
        if self.gallery.is_open:
            self.gallery.close()
        elif self._file_dialog.is_open:
            self._file_dialog.close()
        elif self._toolbar.is_asking:
            self._toolbar.close()
        elif self._application.part_choice.is_open:
            self._application.part_choice.close()
        elif self._application.exporting.is_open:
            self._application.exporting.close()
        elif self._application.versions.is_open:
            self._application.versions.is_open = False
        elif self._application.guide.is_open:
            self._application.guide.is_open = False
        elif self._search.query:
            self._search.end()
        elif self.keyboard.place != keyboard.SCENE:
            self.keyboard.leave()
        elif self.tour.is_on:
            self.tour.end()
        else:
            return False
        return True

    def release(self) -> None:
        """Release what ImGui does not release itself."""
        self._timeline.release()
        self._rows.release()
        self._part_dialog.release()
        self._toolbar.release()
        self._export_dialog.release()
        self._guide.release()
        if self._plots_shown:
            from app.window.panel import plots

            plots.release()

    def _dock(self) -> None:
        """A dock space over the window, with the panel docked at the right at first."""
        viewport = imgui.get_main_viewport()
        space = imgui.get_id("dock space")
        width = min(em(WIDTH), WIDEST_PART * viewport.work_size.x)
        scale = self._application.interface_scale
        node = imgui.internal.dock_builder_get_node(space)
        if node is None or (not node.is_split_node() and self._laid_out_scale == 0.0):
            imgui.internal.dock_builder_add_node(space, imgui.internal.DockNodeFlagsPrivate_.dock_space.value)
            imgui.internal.dock_builder_set_node_size(space, viewport.work_size)
            part = width / max(viewport.work_size.x, 1.0)
            split = imgui.internal.dock_builder_split_node(space, imgui.Dir.right, part)
            imgui.internal.dock_builder_dock_window(WINDOW, split.id_at_dir)
            imgui.internal.dock_builder_finish(space)
            self._laid_out_scale = scale
        elif self._laid_out_scale != scale and self._set_width(
            width
        ):  # also one that is kept from text of another size
            self._laid_out_scale = scale
        self._fit(viewport.work_size.x)
        flags = imgui.DockNodeFlags_.passthru_central_node.value | imgui.DockNodeFlags_.auto_hide_tab_bar.value
        imgui.dock_space_over_viewport(space, viewport, flags)

    def _fit(self, room: float) -> None:
        """Narrow the panel with the window, in which it takes half at most, and widen it again."""
        window = imgui.internal.find_window_by_name(WINDOW)
        if room == self._room or window is None:
            return
        width = max(window.size.x, self._own_width)
        fitting = min(width, WIDEST_PART * room)
        if self._room and fitting != window.size.x and self._set_width(fitting):
            self._own_width = width if fitting < width else 0.0
        self._room = room

    def _set_width(self, width: float) -> bool:
        """Set the width of the panel if it is docked. Returns whether it is."""
        window = imgui.internal.find_window_by_name(WINDOW)
        node = window.dock_node if window is not None else None
        is_docked = node is not None and node.parent_node is not None
        if is_docked:
            imgui.internal.dock_builder_set_node_size(node.id_, imgui.ImVec2(width, node.size.y))
        return is_docked

    def _sections(self) -> None:
        for section in self._groups.sections:
            changed = self.changed(section)
            differing = self._rows.facts.differing_in(section)
            mark = f"  {icons.ICON_FA_THUMBTACK}" if self._groups.is_pinned(section) else ""
            mark += f"   · {changed} changed" if changed else ""
            mark += f"   · {differing} differ" if differing else ""
            if section == "edits" and (count := len(self._application.stack.layers)):
                mark += f"   · {count}"
            flags = imgui.TreeNodeFlags_.default_open.value if SECTIONS[section] else 0
            if self._section_shown:
                imgui.set_next_item_open(section == self._section_shown)
            imgui.push_font(Face.BOLD.font(), 0.0)
            is_open = imgui.collapsing_header(f"{section.capitalize()}{mark}###section {section}", flags)
            imgui.pop_font()
            self._groups.menu_of_section(section)
            if section == WORLD_SECTION:
                tooltip_on_hover(
                    "Initial conditions: each change rebuilds the world", "All other parameters act while it runs."
                )
            if not is_open:
                continue
            imgui.indent(em(0.55))
            self._groups.section(section)
            if section == "performance":
                from app.window.panel import performance

                self._plots_shown = True
                performance.performance(self._application.frame_times, self._application.side, self._whose)
            if section == "edits":
                self._edit_stack.gui()
            if section == "view":
                self._camera_path.gui()
            if section == "rivers":
                from app.window.panel import rivers

                self._plots_shown = self.rivers_shown = True
                rivers.rivers(self._application)
            if section == "realism":
                from app.window.panel import realism

                self._plots_shown = self.realism_shown = True
                realism.realism(self._application.sides.snapshots, self._application.snapshot, self._whose)
            imgui.unindent(em(0.55))
            imgui.spacing()
        self._section_shown = ""

    @property
    def _whose(self) -> str:
        """Which of several worlds the panel shows, for titles."""
        documents = self._application.documents
        return f" of {NAMES[documents.edited_worlds[0]]}" if documents.comparing else ""

    def _over_scene(self) -> None:
        """Lay out everything over the free area of the scene."""
        viewport = imgui.get_main_viewport()
        central = imgui.internal.dock_builder_get_central_node(imgui.get_id("dock space")) if self.visible else None
        place, free = (central.pos, central.size) if central else (viewport.work_pos, viewport.work_size)
        width = max(viewport.work_size.x, 1.0)
        self.free_of_scene = (place.x / width, (place.x + free.x) / width) if free.x > 0.0 else (0.0, 1.0)
        middle = (place.x + free.x / 2.0, place.y + free.y / 2.0)
        widest, highest = max(free.x - em(2.0), em(18.0)), free.y - em(2.0)
        if self.visible:
            self._toolbar.gui(place.x, place.y, free.x, free.y)
        self.gallery.gui()
        messages.waiting(self._application, middle)
        messages.compiling(self._application, middle[0], place.y + em(1.0), widest)
        if self._application.simulation.status.compiling is None:
            messages.long_cycle(self._application, middle[0], place.y + em(1.0), widest)
        messages.failure(self._application, middle, widest)
        messages.notices(self._application, middle[0], place.y + free.y - em(1.0), widest)
        if self._application.snapshot is not None and not self.gallery.is_open:
            session_list(self._application.sessions, self._application.stock, middle, (widest, highest))
        self._version_list.gui(middle, (widest, highest))
        # It may cover the panel, too.
        self._guide.gui((viewport.work_size.x / 2.0, middle[1]), viewport.work_size.x - em(2.0), highest)
        self._export_dialog.gui(middle, widest, highest)
        self._part_dialog.gui(middle, widest, highest)
        self._file_dialog.gui(middle, widest, highest)
        self.tour.gui((middle[0], free.y - em(3.0)))


def _heightmaps() -> list[Filter]:
    from app.sources.heightmap import FORMATS

    return [Filter(format.name.removeprefix("a ").removeprefix("an "), format.suffixes) for format in FORMATS]

"""File dialogs: that of the system if there is one, otherwise our own."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, portable_file_dialogs

from app.files.atomic import check_writable, working_folder
from app.model.errors import UserError
from app.picture.style import ACCENT, ERROR, FAINT_TEXT, em
from app.sources.terrain import is_there
from app.window.panel.dialog_window import dialog_window
from app.window.panel.fitted import fitted

# The programs that show a dialog for others on Linux. Without one, `portable_file_dialogs` silently does nothing.
HELPERS = ("zenity", "kdialog", "matedialog", "qarma")

SIZE = 36.0, 28.0  # heights of the font

NativeDialog = portable_file_dialogs.open_file | portable_file_dialogs.save_file | portable_file_dialogs.select_folder
Chosen = Callable[[Path], None]
# Maps a typed path to the written one. Raises `UserError` if there is none.
Target = Callable[[Path], Path]


@dataclass(frozen=True)
class Filter:
    """A kind of file to choose from."""

    name: str
    suffixes: tuple[str, ...]

    def fits(self, path: Path) -> bool:
        return path.suffix.lower() in self.suffixes


class FileDialog:
    """One dialog at a time. The choice is passed to the function given with the question."""

    def __init__(self) -> None:
        self._native: NativeDialog | None = None
        self._own: OwnDialog | None = None
        self._chosen: Chosen | None = None
        self._target: Target | None = None  # of a dialog to save
        self._filters: Sequence[Filter] = ()
        self._folder = working_folder()

    @property
    def is_open(self) -> bool:
        return self._native is not None or self._own is not None

    def _takes_place_of_own(self) -> bool:
        """Whether there can be another dialog: in place of our own, but not of the system's."""
        self._own = None
        return self._native is None

    def ask_to_open(self, filters: Sequence[Filter], chosen: Chosen) -> None:
        if not self._takes_place_of_own():
            return
        self._chosen, self._target = chosen, None
        if _has_native_dialogs():
            self._native = portable_file_dialogs.open_file("Open", str(self._folder), _native_filters(filters))
        else:
            self._own = OwnDialog("Open", self._folder, filters)

    def ask_for_folder(self, held: Filter, chosen: Chosen) -> None:
        """Ask for a folder that holds such files."""
        if not self._takes_place_of_own():
            return
        self._chosen, self._target = chosen, None
        if _has_native_dialogs():
            self._native = portable_file_dialogs.select_folder("Open a folder", str(self._folder))
        else:
            self._own = OwnDialog("Open", self._folder, [held], takes_folder=True)

    def ask_to_save(
        self, name: str, filters: Sequence[Filter], target: Target, chosen: Chosen, folder: Path | None = None
    ) -> None:
        """Ask where to save, at first in the folder of the last time, or another one.

        `target` is chosen only where it can be written, and not over a file without a word.
        """
        if not self._takes_place_of_own():
            return
        folder = folder or self._folder
        self._chosen, self._target, self._filters = chosen, target, filters
        if _has_native_dialogs():
            self._native = portable_file_dialogs.save_file("Save", str(folder / name), _native_filters(filters))
        else:
            self._own = OwnDialog("Save", folder, filters, name, target)

    def ask_again(self, path: Path, why: str, filters: Sequence[Filter], target: Target, chosen: Chosen) -> None:
        """Ask again in our own dialog, with the reason why `path` failed."""
        if not self.is_open:
            self._chosen, self._target, self._filters = chosen, target, filters
            self._own = OwnDialog("Save", path.parent, filters, path.name, target, why)

    def close(self) -> None:
        """Close our own dialog."""
        self._own = None

    def gui(self, place: tuple[float, float], widest: float, highest: float) -> None:
        """Show our own dialog, and handle the choice of either."""
        path: Path | None = None
        if self._native is not None:
            if not self._native.ready(0):
                return
            result = self._native.result()
            self._native = None
            first = result[0] if isinstance(result, list) and result else result
            path = Path(first) if isinstance(first, str) and first else None
            if path is not None and self._target is not None:
                path = self._checked(path, self._target)
        elif self._own is not None:
            path = self._own.gui(place, widest, highest)
            if self._own.is_done:
                self._own = None
        if path is not None and self._chosen is not None:
            self._folder = path.parent
            self._chosen(path)

    def _checked(self, path: Path, target: Target) -> Path | None:
        """What the system's dialog has chosen. It has asked about a file of this very name, but knows not the ending
        that is added; then our own asks."""
        try:
            written = _writable(path, target)
            why = f"{written.name} already exists" if written != path and _is_file(written) else ""
        except UserError as error:
            written, why = path, str(error)
        if not why:
            return written
        self._own = OwnDialog("Save", written.parent, self._filters, written.name, target, why)
        return None


class OwnDialog:
    """A file dialog in ImGui: folders and fitting files in a list, and the name in a line.

    With a `target` it is one to save: an existing file is only replaced after a question. One that takes a folder takes
    the one that is entered, and shows the files in it only to know it by.
    """

    def __init__(
        self,
        title: str,
        folder: Path,
        filters: Sequence[Filter],
        name: str = "",
        target: Target | None = None,
        why: str = "",
        *,
        takes_folder: bool = False,
    ) -> None:
        self.is_done = False
        self._takes_folder = takes_folder
        self._title = title
        self._target = target
        self._filters = filters
        self._name = name
        self._said = why  # what is wrong with the name, or to be known before it is taken
        self._asked: Path | None = None  # whether it may be replaced
        self._takes_keyboard = True  # in the next frame, for the name
        self._enter(folder)

    def gui(self, place: tuple[float, float], widest: float, highest: float) -> Path | None:
        """Show it, and return the path once one was chosen."""
        what = f"{self._title} a folder of tiles" if self._takes_folder else self._title
        title = f"{what}###file dialog"
        with dialog_window(title, SIZE, place, (widest, highest)) as (is_expanded, is_open):
            chosen = self._content() if is_expanded else None
        self.is_done = self.is_done or chosen is not None or not is_open
        return chosen

    def _content(self) -> Path | None:
        self._breadcrumbs()
        below = 2.0 * imgui.get_frame_height_with_spacing() + em(0.4)
        if self._said:
            width = imgui.get_content_region_avail().x
            below += imgui.calc_text_size(self._said, wrap_width=width).y + imgui.get_style().item_spacing.y
        chosen = None
        if imgui.begin_child("files", imgui.ImVec2(0.0, -below)):
            chosen = self._list()
        imgui.end_child()
        if self._takes_keyboard:
            imgui.set_keyboard_focus_here()  # a person goes on typing, and must not press the program's keys by that
            self._takes_keyboard = False
        imgui.set_next_item_width(-1.0)
        before = self._name
        entered, self._name = imgui.input_text("##name", self._name, imgui.InputTextFlags_.enter_returns_true.value)
        if imgui.is_item_deactivated() and imgui.is_key_pressed(imgui.Key.escape):
            self.is_done = True  # the field heard it: a person means the dialog
        if self._name != before:
            self._said, self._asked = "", None
        if self._said:
            imgui.push_text_wrap_pos(0.0)
            imgui.text_colored(imgui.ImVec4(*ERROR), self._said)
            imgui.pop_text_wrap_pos()
        known = " ".join(suffix for filter in self._filters for suffix in filter.suffixes)
        room = imgui.get_content_region_avail().x - em(9.2)
        imgui.align_text_to_frame_padding()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), fitted(known, room, lambda text: imgui.calc_text_size(text).x))
        imgui.same_line(imgui.get_content_region_avail().x - em(8.6))
        if imgui.button("Cancel", imgui.ImVec2(em(4.2), 0.0)):
            self.is_done = True
        imgui.same_line(0.0, em(0.4))
        replaces = self._replaces()
        imgui.begin_disabled(not self._name and not self._takes_folder)
        # A button that says so has asked already.
        if imgui.button("Replace" if replaces else self._title, imgui.ImVec2(em(4.2), 0.0)):
            chosen = self._take(may_replace=replaces)
            self._takes_keyboard = chosen is None
        elif entered and (self._name or self._takes_folder):
            chosen = self._take()
            self._takes_keyboard = chosen is None  # what was refused is typed anew, and Enter is heard again
        imgui.end_disabled()
        return chosen

    def _path(self) -> Path:
        """What the name means: in this folder, or, where it says so, in another."""
        try:
            return self._folder / Path(self._name).expanduser()
        except RuntimeError:  # the home of an unknown user
            return self._folder / self._name

    def _replaces(self) -> bool:
        """Whether what is written would take the place of a file."""
        if self._target is None or not self._name:
            return False
        with contextlib.suppress(UserError):
            return _is_file(self._target(self._path()))
        return False

    def _breadcrumbs(self) -> None:
        """Buttons of the parent folders."""
        parts = [*reversed(self._folder.parents), self._folder][-4:]
        for number, folder in enumerate(parts):
            if number:
                imgui.same_line(0.0, em(0.2))
            if imgui.button(f"{folder.name or folder.anchor}##{folder}"):
                self._enter(folder)

    def _list(self) -> Path | None:
        double = imgui.is_mouse_double_clicked(0)
        for path in self._entries:
            is_folder = path in self._folders
            icon = icons.ICON_FA_FOLDER if is_folder else icons.ICON_FA_FILE
            imgui.text_colored(imgui.ImVec4(*(ACCENT if is_folder else FAINT_TEXT)), icon)
            imgui.same_line(em(1.6))
            if self._takes_folder and not is_folder:
                imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), path.name)
                continue
            clicked = imgui.selectable(path.name, path.name == self._name)[0]
            if clicked and is_folder:
                self._enter(path)
                break
            if clicked:
                self._name, self._said, self._asked = path.name, "", None
            if double and imgui.is_item_hovered() and not is_folder:
                self._name = path.name
                return self._take()
        return None

    def _take(self, may_replace: bool = False) -> Path | None:
        """The path that the name means, unless it is a folder, cannot be written, or has to be asked about first."""
        path = self._path()
        if self._takes_folder:
            if _is_folder(path):
                return path
            self._said = f"{self._name} is no folder"
            return None
        if _is_folder(path):
            self._enter(path)
            self._name = ""
            return None
        if self._target is None:
            return path
        try:
            path = _writable(path, self._target)
        except UserError as error:
            self._said = str(error)
            return None
        if _is_file(path) and not may_replace and self._asked != path:
            self._asked, self._said = path, f"{path.name} already exists: Enter again replaces it"
            return None
        return path

    def _enter(self, folder: Path) -> None:
        self._folder = folder
        try:
            visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
        except OSError:
            visible = []  # a folder that may not be read shows nothing, and there is a way up
        self._folders = {path for path in visible if _is_folder(path)}
        files = {path for path in visible if path not in self._folders and any(f.fits(path) for f in self._filters)}
        self._entries = [*sorted(self._folders, key=_by_name), *sorted(files, key=_by_name)]


def _is_folder(path: Path) -> bool:
    return is_there(path) and path.is_dir()


def _is_file(path: Path) -> bool:
    return is_there(path) and path.is_file()


def _writable(path: Path, target: Target) -> Path:
    """Where a name leads to. Raises `UserError` if nothing can be written there."""
    path = target(path)
    check_writable(path)
    return path


def _by_name(path: Path) -> str:
    return path.name.casefold()


def _has_native_dialogs() -> bool:
    return sys.platform != "linux" or any(shutil.which(helper) for helper in HELPERS)


def _native_filters(filters: Sequence[Filter]) -> list[str]:
    """As `portable_file_dialogs` wants them: name and patterns in turn."""
    every = Filter("all of these", tuple(suffix for filter in filters for suffix in filter.suffixes))
    listed = [every, *filters] if len(filters) > 1 else filters
    return [part for filter in listed for part in (filter.name, " ".join(f"*{suffix}" for suffix in filter.suffixes))]

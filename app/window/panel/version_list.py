"""The list of versions with their pictures: go to one, or compare two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.files.cards import Card
from app.model.numbers import spaced
from app.picture.style import FAINT_TEXT, em
from app.window.commands.attempt import attempt
from app.window.panel.dialog_window import dialog_window
from app.window.panel.widgets import heading, tooltip_on_hover
from app.window.versions import LONGEST_NAME, Version

if TYPE_CHECKING:
    from app.window.application import Application

WIDTH, PICTURE = 32.0, (8.0, 4.5)  # heights of the font
FEWEST_ROWS, MOST_ROWS = 2, 4  # visible at once


class VersionList:
    """The window with the list and the name of the next version."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._name = ""
        self._rows = 0

    def gui(self, place: tuple[float, float], room: tuple[float, float]) -> None:
        """Show the window while it is open, centred at a `place` within a `room`."""
        versions = self._application.versions
        if not versions.is_open:
            return
        self._application.stock.begin_frame()
        height = 7.5 + (PICTURE[1] + 0.8) * min(max(len(versions.entries), FEWEST_ROWS), MOST_ROWS)
        with dialog_window("Versions###versions", (WIDTH, height), place, room) as (is_expanded, is_open):
            if len(versions.entries) != self._rows:  # it opened with room for others
                self._rows = len(versions.entries)
                imgui.set_window_size(imgui.ImVec2(imgui.get_window_width(), min(em(height), room[1])))
            if is_expanded:
                self._new()
                below = imgui.get_frame_height_with_spacing() + em(0.2)
                if imgui.begin_child("rows", imgui.ImVec2(0.0, -below), imgui.ChildFlags_.nav_flattened.value):
                    for version in tuple(versions.entries):
                        imgui.push_id(version.file)
                        self._row(version)
                        imgui.pop_id()
                    if not versions.entries:
                        imgui.text_disabled("none yet; they are kept with the session")
                imgui.end_child()
                imgui.begin_disabled(len(versions.chosen) != 2)
                if imgui.button("Side by side"):
                    attempt(self._application, versions.side_by_side)
                imgui.end_disabled()
                tooltip_on_hover("compare the two that are ticked; both go on in step")
        versions.is_open = bool(is_open)

    def _new(self) -> None:
        """A field for a name, and the button that saves the current land under it."""
        versions = self._application.versions
        imgui.set_next_item_width(-em(6.0))
        flags = imgui.InputTextFlags_.enter_returns_true.value
        entered, self._name = imgui.input_text_with_hint("##name", versions.free_name, self._name, flags)
        imgui.same_line()
        if imgui.button("Keep", imgui.ImVec2(-1.0, 0.0)) or entered:
            attempt(self._application, lambda: versions.save(self._name[:LONGEST_NAME]))
            self._name = ""
        tooltip_on_hover("keep the land as it is now, with a picture")

    def _row(self, version: Version) -> None:
        application, size = self._application, imgui.ImVec2(em(PICTURE[0]), em(PICTURE[1]))
        begin, picture = imgui.get_cursor_pos(), application.versions.picture(version)
        texture = application.stock.texture(Card(f"version {picture}", version.name, "", picture=picture))
        if texture is not None:
            imgui.image(imgui.ImTextureRef(texture.glo), size)
        else:
            imgui.dummy(size)
        imgui.same_line(0.0, em(0.8))
        imgui.begin_group()
        heading(version.name)
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{version.land}, cycle {spaced(version.cycle)}")
        if imgui.button("Go to"):
            attempt(application, lambda: application.versions.go_to(version))
        tooltip_on_hover("go on with this land; the land of now is in the list of undo")
        imgui.same_line()
        if imgui.checkbox("beside", version.file in application.versions.chosen)[0]:
            application.versions.choose(version)
        imgui.same_line()
        if imgui.button(icons.ICON_FA_TRASH + "###remove"):
            attempt(application, lambda: application.versions.remove(version))
        tooltip_on_hover("throw this version away")
        imgui.end_group()
        imgui.set_cursor_pos(imgui.ImVec2(begin.x, max(imgui.get_cursor_pos_y(), begin.y + size.y + em(0.5))))
        imgui.dummy(imgui.ImVec2(0.0, 0.0))

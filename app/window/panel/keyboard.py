"""Keyboard focus among the parts of the window: scene, panel, menus, time line.

In the scene ImGui moves nothing by keys, so that Space, Tab, W A S D and the arrows are the program's. Elsewhere arrows
and Tab go from item to item, Space and Enter use one, the menu key opens what the right button does; Esc leads back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

if TYPE_CHECKING:
    from app.window.application import Application

SCENE = ""  # the names of ImGui's windows, in the order of the key
PANEL = "Panel"
MENUS = "##MainMenuBar"
TIMELINE = "time line"

KEPT = ("Space", "Tab", "Shift+Tab", "Home")  # keys that ImGui uses outside the scene


class Keyboard:
    """Moves the keyboard focus from part to part."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self.place = SCENE
        self._moves_to: str | None = None

    def go_on(self) -> None:
        """Move to the next visible part."""
        panel = self._application.panel
        if not panel.visible:
            panel.visible = True
        places = [SCENE, PANEL, MENUS, *([TIMELINE] if panel.shows_timeline else [])]
        index = places.index(self.place) if self.place in places else 0
        self.place = self._moves_to = places[(index + 1) % len(places)]

    def leave(self) -> None:
        """Move back to the scene."""
        if self.place != SCENE:
            self.place = self._moves_to = SCENE

    def enter_panel(self) -> None:
        """Move to the panel; one of its items takes the focus."""
        self.place = PANEL

    def takes(self, chord: str) -> bool:
        """Whether the current part takes a key from the scene. Esc closes an open menu."""
        if self.place == SCENE:
            is_open = imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value)
            if chord == "Esc" and is_open and imgui.internal.get_top_most_popup_modal() is None:
                imgui.internal.close_popup_to_level(0, True)
                return True
            return False
        return chord in KEPT or (chord == "Esc" and imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value))

    def gui(self) -> None:
        """A frame, before all windows."""
        io, flag = imgui.get_io(), imgui.ConfigFlags_.nav_enable_keyboard.value
        if self.place == SCENE or not self._application.panel.visible:
            io.config_flags &= ~flag
        else:
            io.config_flags |= flag
        if self._moves_to is not None:
            moves_to, self._moves_to = self._moves_to, None
            if moves_to == SCENE:
                imgui.set_window_focus(None)
                return
            imgui.set_window_focus(moves_to)
            window = imgui.internal.find_window_by_name(moves_to)
            if window is not None:
                if moves_to == MENUS:  # otherwise ImGui leaves the bar
                    imgui.get_current_context().nav_layer = imgui.internal.NavLayer.menu
                imgui.internal.nav_init_window(window, True)
                imgui.set_nav_cursor_visible(True)

"""The keys of the camera on the time line, below the parameters of the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.camera_path import read_camera_path
from app.model.numbers import spaced
from app.picture.style import FAINT_TEXT, em
from app.window.actions import BY_NAME
from app.window.camera_moves import ALONG_WATER, OVER_LAND
from app.window.commands import camera, moments
from app.window.panel.widgets import heading, icon_button, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

SHORTEST_MOVE, LONGEST_MOVE = 10, 100_000
LONGEST_HOLD = 100_000  # cycles


class CameraPathList:
    """The list of camera keys, and buttons of ready-made moves."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._cycles = 600  # cycles of a ready-made move

    def gui(self) -> None:
        application = self._application
        heading("Camera path")
        following = application.camera_follow.following
        keys = read_camera_path(application.documents.scene.view.camera_path)
        icon = icons.ICON_FA_STOP if following else icons.ICON_FA_PLAY
        if icon_button(icon, "follow keys", BY_NAME["follow_path"].tooltip, enabled=bool(keys)):
            BY_NAME["follow_path"].run(application)
        imgui.same_line(0.0, em(0.3))
        if icon_button(icons.ICON_FA_PLUS, "camera key", BY_NAME["camera_key"].tooltip):
            BY_NAME["camera_key"].run(application)
        imgui.same_line(0.0, em(0.3))
        if icon_button(icons.ICON_FA_TRASH, "clear camera path", "Remove all keys", enabled=bool(keys)):
            camera.clear_camera_path(application)
        for key in keys:
            self._key(key.cycle, key.hold)
        self._moves()

    def _key(self, cycle: int, hold: int) -> None:
        imgui.push_id(f"camera key {cycle}")
        imgui.align_text_to_frame_padding()
        if icon_button(icons.ICON_FA_LOCATION_CROSSHAIRS, "go", "Go to this cycle, and see it from this key"):
            branch = self._application.simulation.status.moment.branch
            if cycle <= self._application.simulation.status.cycle:
                moments.go_to_cycle(self._application, branch, cycle)
            self._application.camera_follow.look_at_key(cycle)
        imgui.same_line()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"cycle {spaced(cycle)}")
        imgui.same_line()
        button = imgui.get_frame_height()
        imgui.set_next_item_width(max(imgui.get_content_region_avail().x - 1.6 * button, em(4.0)))
        changed, new = imgui.drag_int("##hold", hold, 1.0, 0, LONGEST_HOLD, "holds %d")
        tooltip_on_hover("For how many cycles the camera stays here")
        if changed:
            camera.hold_camera_key(self._application, cycle, new)
        imgui.same_line()
        if icon_button(icons.ICON_FA_XMARK, "remove", "Remove this key"):
            camera.remove_camera_key(self._application, cycle)
        imgui.pop_id()

    def _moves(self) -> None:
        imgui.set_next_item_width(em(9.0))
        changed, cycles = imgui.drag_int("##cycles", self._cycles, 5.0, SHORTEST_MOVE, LONGEST_MOVE, "%d cycles")
        tooltip_on_hover("How long a ready-made move takes")
        if changed:
            self._cycles = min(max(cycles, SHORTEST_MOVE), LONGEST_MOVE)
        for number, move in enumerate((*OVER_LAND, *ALONG_WATER)):
            if number % 2:
                imgui.same_line(0.0, em(0.4))
            width = (imgui.get_content_region_avail().x - em(0.4)) / (1 if number % 2 else 2)
            if imgui.button(move.capitalize(), imgui.ImVec2(width, 0.0)):
                camera.move_camera(self._application, move, self._cycles)

"""Springs: marks in the scene and on the minimap, and a list in the panel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from pyglm import glm

from app.model.springs import MOST_DROPS, Spring, read_springs
from app.picture.ground import Ground
from app.picture.sides import Side
from app.picture.style import FAINT_TEXT, OVER_SCENE, WATER, em, faded
from app.window.panel.widgets import BUTTON_WIDTH, HANDLE_FLAGS, faint, icon_button, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

RADIUS = 0.75  # of a mark, in heights of the font
HIDDEN = 0.35  # opacity of a mark behind a hill
IN_FRONT = 0.98  # of the distance to a mark: nearer ground hides it
DOUBLING = 60.0  # logical units of a drag by which a strength doubles
WEAKEST = 1.0  # drops in a cycle, where a drag begins from nothing


class SpringMarks:
    """Marks of the springs of all shown worlds. Those of the edited world can be dragged."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._dragged: tuple[int, float] | None = None  # index of a spring, and its former strength

    def gui(self) -> None:
        documents, sides = self._application.documents, self._application.sides.shown
        if len(documents.scenes) != len(sides):
            return  # other worlds are about to arrive
        for place, (scene, side) in enumerate(zip(documents.scenes, sides, strict=True)):
            if scene.droplets.enabled and side.snapshot is not None:
                ground = Ground(side.snapshot, scene.view.exaggeration)
                for number, spring in enumerate(read_springs(scene.droplets.springs)):
                    self._mark_on_minimap(side, spring)
                    # A brush paints through them
                    is_edited = place == documents.edited_worlds[0] and not self._application.brushing.is_active
                    self._mark(side, ground, number, spring, is_edited=is_edited)

    def _mark(self, side: Side, ground: Ground, number: int, spring: Spring, *, is_edited: bool) -> None:
        """A drop at the spring, with its strength under the pointer."""
        east, south = spring.east * ground.east, spring.south * ground.south
        point = glm.vec3(east, ground.height(east, south), south)
        (place,) = self._application.views.places_of(side, [point])
        if place is None:
            return
        size = imgui.ImVec2(2.0 * em(RADIUS), 2.0 * em(RADIUS))
        imgui.set_next_window_pos(imgui.ImVec2(*place), imgui.Cond_.always.value, imgui.ImVec2(0.5, 0.5))
        imgui.set_next_window_size(size)
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(0.0, 0.0))
        imgui.push_style_var(imgui.StyleVar_.window_min_size.value, imgui.ImVec2(1.0, 1.0))
        flags = HANDLE_FLAGS | (0 if is_edited else imgui.WindowFlags_.no_inputs.value)
        imgui.begin(f"##spring {number} of {side.snapshot.world if side.snapshot else 0}", None, flags)
        imgui.invisible_button("mark", size)
        is_lit = imgui.is_item_active() or imgui.is_item_hovered()
        if is_edited:
            self._drag(number, spring)
            if is_lit:
                imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ns.value)
        camera = self._application.views.camera_of(side).camera()
        hit = ground.hit(camera.position, glm.normalize(point - camera.position))
        away = glm.length(point - camera.position)
        is_hidden = hit is not None and glm.length(hit - camera.position) < IN_FRONT * away
        _draw_mark(imgui.ImVec2(*place), lit=is_lit, opacity=HIDDEN if is_hidden and not is_lit else 1.0)
        imgui.end()
        imgui.pop_style_var(2)
        if is_lit:
            imgui.set_tooltip(f"a spring of {spring.drops:.4g} drops in a cycle; drag up or down to change it")

    def _drag(self, number: int, spring: Spring) -> None:
        """Change the strength by dragging up or down: it doubles every `DOUBLING`."""
        if imgui.is_item_activated():
            self._dragged = number, max(spring.drops, WEAKEST)
        if self._dragged is None or self._dragged[0] != number:
            return
        if imgui.is_item_active() or imgui.is_item_deactivated():
            moved = -imgui.get_mouse_drag_delta(0, 0.0).y if imgui.is_item_active() else 0.0
            if moved:
                drops = min(self._dragged[1] * 2.0 ** (moved / DOUBLING), MOST_DROPS)
                self._application.springs.set_drops(number, drops)
        if imgui.is_item_deactivated():
            self._dragged = None

    def _mark_on_minimap(self, side: Side, spring: Spring) -> None:
        if not self._application.recording.shows_minimap:
            return
        left, top, width, height = self._application.layout.minimap(side)
        place = imgui.ImVec2(left + spring.east * width, top + spring.south * height)
        drawing = imgui.get_background_draw_list()
        drawing.add_circle_filled(place, em(0.28), imgui.get_color_u32(imgui.ImVec4(*OVER_SCENE)))
        drawing.add_circle_filled(place, em(0.19), imgui.get_color_u32(imgui.ImVec4(*WATER)))


def _draw_mark(middle: imgui.ImVec2, *, lit: bool, opacity: float) -> None:
    drawing = imgui.get_window_draw_list()
    radius = em(RADIUS)
    imgui.push_style_var(imgui.StyleVar_.alpha.value, opacity)
    drawing.add_circle_filled(middle, radius, imgui.get_color_u32(imgui.ImVec4(*OVER_SCENE)))
    colour = imgui.get_color_u32(imgui.ImVec4(*(WATER if not lit else faded(WATER, 1.0))))
    drawing.add_circle(middle, 0.92 * radius, colour, 0, em(0.16 if lit else 0.09))
    size = imgui.calc_text_size(icons.ICON_FA_DROPLET)
    drawing.add_text(imgui.ImVec2(middle.x - size.x / 2.0, middle.y - size.y / 2.0), colour, icons.ICON_FA_DROPLET)
    imgui.pop_style_var()


def spring_list(application: Application) -> None:
    """The list of springs of the shown world."""
    springs = read_springs(application.documents.scene.droplets.springs)
    if not springs:
        faint("Ctrl + click on the land lets a spring well up")
        return
    button = imgui.get_frame_height()
    for number, spring in enumerate(springs):
        imgui.push_id(f"spring {number}")
        imgui.align_text_to_frame_padding()
        if icon_button(icons.ICON_FA_LOCATION_CROSSHAIRS, "look", "Look there"):
            application.views.look_at_part(spring.south, spring.east)
        imgui.same_line()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{spring.south:.2f} south, {spring.east:.2f} east")
        imgui.same_line()
        end = BUTTON_WIDTH * button + imgui.get_style().item_spacing.x
        imgui.set_next_item_width(max(imgui.get_content_region_avail().x - end, em(4.0)))
        speed = max(spring.drops, WEAKEST) / 100.0
        changed, drops = imgui.drag_float("##drops", spring.drops, speed, 0.0, MOST_DROPS, "%.4g drops")
        tooltip_on_hover("Strength, in drops of volume 1 per cycle", "Ctrl + click to type it")
        if changed and math.isfinite(drops):
            application.springs.set_drops(number, min(max(drops, 0.0), MOST_DROPS))
        imgui.same_line()
        if icon_button(icons.ICON_FA_XMARK, "end", "End this spring"):
            application.springs.remove(number)
        imgui.pop_id()

"""The time line: a strip below the scene with thumbnails of the land and marks of edits."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import moderngl
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.engine.compressed import Compressed
from app.engine.moments import BranchSeen, StateSeen, TimelineSeen, name_of
from app.model.camera_path import read_camera_path
from app.model.curves import value_at
from app.model.numbers import spaced
from app.picture.style import ACCENT, ERROR, FAINT_TEXT, FIELD, OVER_SCENE, TEXT, WARNING, Colour, em, faded
from app.scene.edits import Edit, Stroke
from app.scene.scene import DECLARATIONS, curve_of
from app.window.actions import BY_NAME
from app.window.commands import moments
from app.window.panel.side_bar import side_bar
from app.window.panel.widgets import icon_button, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

log = logging.getLogger(__name__)

HEIGHT = 3.1  # heights of the font
SMALLEST_WINDOW = 26.0  # heights of the font; smaller windows have no strip
MARK = 0.32  # half the width of an edit's mark
MOST_TEXTURES = 64
DIMMED = 0.8  # opacity of maps, so that marks stand out
MOST_LISTED = 6  # edits in a tooltip
CURVE_POINTS = 96
CURVE_COLOURS: tuple[Colour, ...] = (WARNING, ACCENT, ERROR, TEXT)
MOST_STEPS = 12  # in the list of undo steps


class TimelineStrip:
    """Shows the current branch; dragging goes to another cycle."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._textures: dict[int, tuple[Compressed, moderngl.Texture]] = {}  # by identity of the thumbnail
        self._wanted: int | None = None  # the cycle of a drag that was not requested yet

    def height(self) -> float:
        """The height of the strip, in logical units."""
        fits = imgui.get_main_viewport().size.y > em(SMALLEST_WINDOW)
        return em(HEIGHT) if fits and self._application.simulation.status.timeline.branches else 0.0

    def gui(self) -> None:
        """A frame."""
        if self.height() == 0.0:
            return
        with side_bar("time line", self.height(), (0.6, 0.3)) as is_seen:
            if is_seen:
                self._content()

    def release(self) -> None:
        """Give back the textures."""
        for _, texture in self._textures.values():
            texture.release()
        self._textures.clear()

    def _content(self) -> None:
        status = self._application.simulation.status
        branch = status.timeline.branches.get(status.moment.branch)
        if branch is None:
            return
        self._buttons(status.timeline, branch)
        imgui.same_line(0.0, em(0.6))
        size = imgui.get_content_region_avail()
        place = imgui.get_cursor_screen_pos()
        if size.x < em(6.0) or size.y < em(1.0):
            return
        strip = _Strip(place, size, *self._span(status.timeline, branch))
        imgui.invisible_button("strip", size)
        is_hovered, is_held = imgui.is_item_hovered(), imgui.is_item_active()
        pointed = strip.cycle(imgui.get_mouse_pos().x)
        self._drag(branch, pointed, held=is_held)
        states = status.timeline.states_of(branch.number)
        self._maps(strip, states)
        strip.dim_after(status.cycle)
        strip.marks(branch)
        self._curves(strip)
        target = status.timeline.target
        if target is not None:
            strip.line(target.cycle, WARNING)
        strip.line(status.cycle, ACCENT)
        if is_hovered or is_held:
            strip.line(pointed, faded(TEXT, 0.5))
            self._tell(strip, branch, states, pointed)

    def _span(self, timeline: TimelineSeen, branch: BranchSeen) -> tuple[int, int]:
        first = timeline.branches[timeline.root(branch.number)].first
        scenes = self._application.documents.scenes
        keys = [curve_of(scene, path)[-1].cycle for scene in scenes for path in scene.keys]
        keys += [key.cycle + key.hold for key in read_camera_path(scenes[0].view.camera_path)]
        return first, max(branch.last, self._application.simulation.status.cycle, first + 1, *keys)

    def _drag(self, branch: BranchSeen, cycle: int, *, held: bool) -> None:
        """Request the cycle under the pointer; while one is pending, the newest waits."""
        if held and (imgui.is_item_activated() or imgui.get_io().mouse_delta.x):
            self._wanted = cycle
        if self._wanted is not None and not self._application.history.is_going:
            if self._wanted != self._application.simulation.status.cycle:
                moments.go_to_cycle(self._application, branch.number, self._wanted)
            self._wanted = None

    def _buttons(self, timeline: TimelineSeen, branch: BranchSeen) -> None:
        application = self._application
        rows = (
            ("undo", icons.ICON_FA_REPLY, bool(application.undo.done)),
            ("redo", icons.ICON_FA_SHARE, bool(application.undo.undone)),
        )
        for command, icon, enabled in rows:
            action = BY_NAME[command]
            if icon_button(icon, command, action.tooltip, enabled=enabled):
                action.run(application)
            imgui.same_line(0.0, em(0.2))
        if icon_button(icons.ICON_FA_CODE_BRANCH, "branches", "What can be undone, and all branches"):
            imgui.open_popup("branches of the time line")
        if imgui.begin_popup("branches of the time line"):
            self._steps()
            self._branches(timeline, branch)
            imgui.end_popup()

    def _steps(self) -> None:
        """The undo steps, newest first; choosing one undoes all up to it."""
        application = self._application
        imgui.text_disabled("undo")
        done = application.undo.done[-MOST_STEPS:]
        if not done:
            imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), "nothing has been done yet")
        for count, step in enumerate(reversed(done), 1):
            if imgui.menu_item(f"{step.name}##undo {count}", "", False)[0]:
                for _ in range(count):
                    moments.undo(application)
        if application.undo.undone:
            imgui.text_disabled("redo")
        for count, step in enumerate(reversed(application.undo.undone[-MOST_STEPS:]), 1):
            if imgui.menu_item(f"{step.name}##redo {count}", "", False)[0]:
                for _ in range(count):
                    moments.redo(application)

    def _branches(self, timeline: TimelineSeen, current: BranchSeen) -> None:
        """All branches: go to the end of one, or delete it."""
        imgui.separator()
        imgui.text_disabled("branches")
        cycle = self._application.simulation.status.cycle
        for branch in timeline.branches.values():
            is_current = branch.number == current.number
            last = max(branch.last, cycle) if is_current else branch.last
            begin = f"from cycle {spaced(branch.origin.cycle)}" if branch.origin else "from the start"
            label = f"{branch.number}  {branch.name}  {begin} to {spaced(last)}"
            if imgui.menu_item(f"{label}##branch", "", is_current)[0] and not is_current:
                moments.go_to_cycle(self._application, branch.number, branch.last)
            if not is_current:
                imgui.same_line(0.0, em(1.0))
                if imgui.small_button(f"{icons.ICON_FA_TRASH}##discard {branch.number}"):
                    moments.discard_branch(self._application, branch.number)
                tooltip_on_hover("Delete this branch")
        kept = timeline.bytes_in_memory / 1e6, timeline.bytes_on_disk / 1e6
        imgui.text_disabled(f"stored states: {kept[0]:.0f} MB in memory, {kept[1]:.0f} MB on disk")

    def _curves(self, strip: _Strip) -> None:
        """The curves of keyed parameters, each over its own range."""
        scene = self._application.documents.scene
        strip.keys([key.cycle for key in read_camera_path(scene.view.camera_path)], TEXT)
        for number, path in enumerate(scene.keys):
            keys, declaration = curve_of(scene, path), DECLARATIONS[path]
            if all(isinstance(key.value, int | float) for key in keys):
                cycles = strip.cycles(CURVE_POINTS)
                strip.curve(cycles, [float(value_at(declaration, keys, cycle)) for cycle in cycles], number)
            strip.keys([key.cycle for key in keys], CURVE_COLOURS[number % len(CURVE_COLOURS)])

    def _maps(self, strip: _Strip, states: Sequence[StateSeen]) -> None:
        """As many thumbnails as fit, each at its cycle."""
        if not states:
            return
        rows, columns = states[-1].thumbnail.shape[:2]
        width = strip.size.y * columns / rows
        drawing = imgui.get_window_draw_list()
        drawing.push_clip_rect(strip.place, strip.place + strip.size, True)
        drawing.add_rect_filled(strip.place, strip.place + strip.size, _packed(faded(FIELD, 0.6)), em(0.2))
        free, used = strip.place.x, 1  # with that of the tooltip
        colour = _packed((DIMMED, DIMMED, DIMMED, 1.0))
        for state in states:
            left = strip.x(state.moment.cycle)
            if left < free - 0.5:
                continue
            free, used = left + width + em(0.1), used + 1
            corner = imgui.ImVec2(left, strip.place.y)
            drawing.add_image(
                imgui.ImTextureRef(self._texture(state.thumbnail).glo),
                corner,
                corner + imgui.ImVec2(width, strip.size.y),
                imgui.ImVec2(0.0, 0.0),
                imgui.ImVec2(1.0, 1.0),
                colour,
            )
        drawing.pop_clip_rect()
        self._forget_unused(used)

    def _texture(self, thumbnail: Compressed) -> moderngl.Texture:
        """The texture of a thumbnail."""
        known = self._textures.pop(id(thumbnail), None)
        if known is None or known[0] is not thumbnail:
            rows, columns = thumbnail.shape[:2]
            context = self._application.sides.context
            texture = context.texture((columns, rows), 3, pixels_of(thumbnail), alignment=1)
            known = thumbnail, texture
        self._textures[id(thumbnail)] = known
        return known[1]

    def _forget_unused(self, used: int) -> None:
        """Release the least recently used textures, but none of this frame."""
        while len(self._textures) > max(MOST_TEXTURES, used):
            _, texture = self._textures.pop(next(iter(self._textures)))
            texture.release()

    def _tell(self, strip: _Strip, branch: BranchSeen, states: Sequence[StateSeen], cycle: int) -> None:
        """The tooltip of a cycle."""
        near = strip.edits_near(branch, imgui.get_mouse_pos().x)
        before = [state for state in states if state.moment.cycle <= cycle]
        imgui.set_next_window_pos(
            imgui.ImVec2(strip.x(cycle), strip.place.y - em(0.5)), imgui.Cond_.always.value, imgui.ImVec2(0.5, 1.0)
        )
        if not imgui.begin_tooltip():
            return
        if before:
            rows, columns = before[-1].thumbnail.shape[:2]
            size = imgui.ImVec2(em(8.0), em(8.0) * rows / columns)
            imgui.image(imgui.ImTextureRef(self._texture(before[-1].thumbnail).glo), size)
        year = self._application.documents.scene.climate.year
        imgui.text_unformatted(f"cycle {spaced(cycle)}{f', year {cycle / year:.1f}' if year else ''}")
        for edit in near[:MOST_LISTED]:
            imgui.text_colored(imgui.ImVec4(*WARNING), f"{spaced(edit.cycle)}  {name_of(edit.request)}")
        if len(near) > MOST_LISTED:
            imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"and {len(near) - MOST_LISTED} more")
        imgui.end_tooltip()


def pixels_of(thumbnail: Compressed) -> bytes:
    """The pixels of a thumbnail; black if the cache was deleted."""
    try:
        return thumbnail.array().tobytes()
    except OSError as error:
        log.warning("a small map of the time line is missing: %s", error)
        return bytes(math.prod(thumbnail.shape))


class _Strip:
    """A span of cycles along a rectangle of the window."""

    def __init__(self, place: imgui.ImVec2, size: imgui.ImVec2, first: int, last: int) -> None:
        self.place, self.size = place, size
        self._first, self._last = first, last

    def x(self, cycle: float) -> float:
        return self.place.x + self.size.x * (cycle - self._first) / (self._last - self._first)

    def cycle(self, x: float) -> int:
        part = min(max((x - self.place.x) / self.size.x, 0.0), 1.0)
        return self._first + round(part * (self._last - self._first))

    def line(self, cycle: int, colour: Colour) -> None:
        x, top = self.x(cycle), self.place.y
        low = imgui.ImVec2(x, top - em(0.15))
        imgui.get_window_draw_list().add_line(low, imgui.ImVec2(x, top + self.size.y), _packed(colour), em(0.13))

    def dim_after(self, cycle: int) -> None:
        """Dim the future of the shown land."""
        corner = imgui.ImVec2(self.x(cycle), self.place.y)
        end = self.place + self.size
        if corner.x < end.x - 1.0:
            imgui.get_window_draw_list().add_rect_filled(corner, end, _packed(faded(OVER_SCENE, 0.55)))

    def marks(self, branch: BranchSeen) -> None:
        """A mark for each edit except the first. Overlapping marks are joined."""
        drawing = imgui.get_window_draw_list()
        half, last = em(MARK), -1e9
        for edit in _shown_edits(branch):
            x = self.x(edit.cycle)
            if x < last + half:
                continue
            last = x
            top, low = self.place.y, self.place.y + 1.6 * half
            drawing.add_triangle_filled(
                imgui.ImVec2(x - half, top), imgui.ImVec2(x + half, top), imgui.ImVec2(x, low), _packed(WARNING)
            )

    def cycles(self, count: int) -> list[float]:
        """Evenly spaced cycles from first to last."""
        return [self._first + (self._last - self._first) * number / (count - 1) for number in range(count)]

    def curve(self, cycles: Sequence[float], values: Sequence[float], number: int) -> None:
        """A curve of values from bottom to top."""
        low, span = min(values), max(max(values) - min(values), 1e-12)
        height = self.size.y - em(0.8)
        points: list[imgui.ImVec2Like] = [
            imgui.ImVec2(self.x(cycle), self.place.y + em(0.4) + height * (1.0 - (value - low) / span))
            for cycle, value in zip(cycles, values, strict=True)
        ]
        colour = _packed(CURVE_COLOURS[number % len(CURVE_COLOURS)])
        imgui.get_window_draw_list().add_polyline(points, colour, em(0.12), imgui.ImDrawFlags_.none.value)

    def keys(self, cycles: Sequence[int], colour: Colour) -> None:
        """Diamonds at the lower edge."""
        for cycle in cycles:
            middle = imgui.ImVec2(self.x(cycle), self.place.y + self.size.y - em(0.4))
            imgui.get_window_draw_list().add_ngon_filled(middle, em(0.3), _packed(colour), 4)

    def edits_near(self, branch: BranchSeen, x: float) -> list[Edit]:
        return [edit for edit in _shown_edits(branch) if abs(self.x(edit.cycle) - x) < em(0.5)]


def _shown_edits(branch: BranchSeen) -> Iterator[Edit]:
    """All edits except the first and later parts of strokes."""
    for edit in branch.edits[1:]:
        if not (isinstance(edit.request, Stroke) and not edit.request.begins):
            yield edit


def _packed(colour: tuple[float, ...]) -> int:
    return imgui.get_color_u32(imgui.ImVec4(*colour))

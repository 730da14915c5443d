"""The dialog to choose a part of a large model on its overview."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import moderngl
from imgui_bundle import imgui

from app.picture.style import ACCENT, ERROR, FAINT_TEXT, FIELD, em, faded
from app.window.commands.attempt import attempt
from app.window.panel.dialog_window import dialog_window
from app.window.panel.widgets import choice, tooltip_on_hover
from app.window.part_choice import SIDES

if TYPE_CHECKING:
    from app.window.application import Application
    from app.window.part_choice import PartChoice, Pixels

SIZE = 40.0, 40.0  # heights of the font
LABELS = 5.0
BUTTON = 6.0
SHADE = (0.0, 0.0, 0.0, 0.45)  # outside the part
WHEEL = 1.2  # factor on the side of the part per wheel notch


class PartDialog:
    """Lays out the dialog, while `PartChoice` says that it is open."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._texture: moderngl.Texture | None = None
        self._shown: Pixels | None = None  # in the texture

    def gui(self, place: tuple[float, float], widest: float, highest: float) -> None:
        choosing = self._application.part_choice
        if not choosing.is_open:
            self.release()
            return
        if not self._application.panel.is_laid_out:  # the free area is unknown
            return
        title = "Which part of the model?" if choosing.is_choosing else f"Opening {Path(choosing.source).name}"
        title, still = f"{title}###part", imgui.WindowFlags_.no_scroll_with_mouse.value
        with dialog_window(title, SIZE, place, (widest, highest), more_flags=still) as (is_expanded, is_open):
            if is_expanded and choosing.is_choosing:
                self._content(choosing)
            elif is_expanded:
                self._opening(choosing)
        if not is_open:
            choosing.close()

    def release(self) -> None:
        """Give back the picture."""
        if self._texture is not None:
            self._texture.release()
        self._texture, self._shown = None, None

    def _opening(self, choosing: PartChoice) -> None:
        """Progress of opening tiles."""
        imgui.dummy(imgui.ImVec2(0.0, max(imgui.get_content_region_avail().y / 2.0 - em(2.0), 0.0)))
        imgui.progress_bar(choosing.progress, imgui.ImVec2(-1.0, 0.0), "opening the model")
        imgui.set_cursor_pos_y(imgui.get_cursor_pos_y() + imgui.get_content_region_avail().y - imgui.get_frame_height())
        self._cancel(choosing, 1)

    def _content(self, choosing: PartChoice) -> None:
        below = 4.0 * imgui.get_frame_height_with_spacing() + em(0.3)
        room = imgui.get_content_region_avail()
        self._picture(choosing, room.x, room.y - below)
        words, land = choosing.words
        _label("part")
        imgui.set_next_item_width(-1.0)
        low, high = choosing.sides
        logarithmic = imgui.SliderFlags_.logarithmic.value | imgui.SliderFlags_.always_clamp.value
        changed, side = imgui.slider_int("##side", choosing.side, low, high, "%d cells along its side", logarithmic)
        tooltip_on_hover("The wheel over the picture changes it, too")
        if changed:
            choosing.resize(side)
        _label("land")
        imgui.set_next_item_width(em(8.0))
        sides = tuple(str(number) for number in SIDES)
        choosing.cells = int(choice("##cells", str(choosing.cells), sides))
        tooltip_on_hover("Cells along the longer side of the land, at most; more of the model's are averaged")
        imgui.same_line(0.0, em(0.6))
        imgui.align_text_to_frame_padding()
        imgui.text_unformatted(land)
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), words)
        self._buttons(choosing)

    def _picture(self, choosing: PartChoice, width: float, height: float) -> None:
        """The overview with the part highlighted. Clicks and drags move the part."""
        rows, columns = choosing.model.rows, choosing.model.columns
        scale = min(width / columns, height / rows)
        size = imgui.ImVec2(max(columns * scale, 1.0), max(rows * scale, 1.0))
        corner = imgui.get_cursor_screen_pos()
        place = imgui.ImVec2(corner.x + (width - size.x) / 2.0, corner.y + (height - size.y) / 2.0)
        end = imgui.ImVec2(place.x + size.x, place.y + size.y)
        drawing = imgui.get_window_draw_list()
        texture = self._texture_of(choosing.pixels)
        if texture is None:
            drawing.add_rect_filled(place, end, _packed(FIELD))
            self._waiting(choosing, place, size)
        else:
            drawing.add_image(imgui.ImTextureRef(texture.glo), place, end)
            self._lit(choosing, place, end, scale)
        imgui.set_cursor_screen_pos(place)
        imgui.invisible_button("##model", size)
        if imgui.is_item_active():
            pointer = imgui.get_io().mouse_pos
            row, column = int((pointer.y - place.y) / scale), int((pointer.x - place.x) / scale)
            choosing.choose(choosing.side, row, column)
        wheel = imgui.get_io().mouse_wheel
        if imgui.is_item_hovered() and wheel:
            low, high = choosing.sides
            choosing.resize(round(min(max(choosing.side * WHEEL**-wheel, low), high)))
        imgui.set_cursor_screen_pos(imgui.ImVec2(corner.x, corner.y + height + imgui.get_style().item_spacing.y))

    def _lit(self, choosing: PartChoice, place: imgui.ImVec2, end: imgui.ImVec2, scale: float) -> None:
        """Shade all but the part."""
        part, drawing, shade = choosing.part, imgui.get_window_draw_list(), _packed(SHADE)
        left, right = place.x + part.column * scale, place.x + (part.column + part.columns) * scale
        top, bottom = place.y + part.row * scale, place.y + (part.row + part.rows) * scale
        for x0, y0, x1, y1 in (
            (place.x, place.y, end.x, top),
            (place.x, bottom, end.x, end.y),
            (place.x, top, left, bottom),
            (right, top, end.x, bottom),
        ):
            drawing.add_rect_filled(imgui.ImVec2(x0, y0), imgui.ImVec2(x1, y1), shade)
        thickness = math.ceil(1.5 * imgui.get_style().font_scale_dpi)
        drawing.add_rect(imgui.ImVec2(left, top), imgui.ImVec2(right, bottom), _packed(ACCENT), thickness=thickness)

    def _waiting(self, choosing: PartChoice, place: imgui.ImVec2, size: imgui.ImVec2) -> None:
        """Progress of the overview, or its error."""
        margin = em(1.5)
        imgui.set_cursor_screen_pos(imgui.ImVec2(place.x + margin, place.y + size.y / 2.0 - em(1.0)))
        if choosing.why:
            imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + size.x - 2.0 * margin)
            imgui.text_colored(imgui.ImVec4(*ERROR), choosing.why)
            imgui.pop_text_wrap_pos()
        else:
            wide = imgui.ImVec2(max(size.x - 2.0 * margin, em(4.0)), 0.0)
            imgui.progress_bar(choosing.progress, wide, "reading the model")

    def _texture_of(self, pixels: Pixels | None) -> moderngl.Texture | None:
        if pixels is not None and pixels is not self._shown:
            self.release()
            rows, columns = pixels.shape[:2]
            context = self._application.sides.context
            self._texture = context.texture((columns, rows), 3, pixels.tobytes(), alignment=1)
            self._shown = pixels
        return self._texture if pixels is not None else None

    def _cancel(self, choosing: PartChoice, buttons: int) -> bool:
        """The cancel button, first of so many at the right. Returns whether it was pressed."""
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        imgui.set_cursor_pos_x(right - em(buttons * BUTTON + (buttons - 1) * 0.4))
        if imgui.button("Cancel", imgui.ImVec2(em(BUTTON), 0.0)):
            choosing.close()
            return True
        return False

    def _buttons(self, choosing: PartChoice) -> None:
        if self._cancel(choosing, 2):
            return
        imgui.same_line(0.0, em(0.4))
        imgui.begin_disabled(bool(choosing.why))
        if imgui.button("Open###open", imgui.ImVec2(em(BUTTON), 0.0)):
            attempt(self._application, choosing.open)
        imgui.end_disabled()


def _label(text: str) -> None:
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), text)
    imgui.same_line(em(LABELS))


def _packed(colour: tuple[float, float, float, float]) -> int:
    return imgui.get_color_u32(imgui.ImVec4(*faded(colour, 1.0)))

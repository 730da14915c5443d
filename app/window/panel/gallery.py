"""The gallery: everything that can be opened, as cards with pictures, by family."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.engine.messages import Pause, Run
from app.files.cards import OWN, RECENT, Card
from app.picture.style import ACCENT, FAINT_TEXT, FIELD, OVER_SCENE, TEXT, WARNING, Colour, Face, em, faded
from app.window.actions import BY_NAME
from app.window.commands import files, worlds
from app.window.panel.fitted import fitted, fitted_lines
from app.window.panel.widgets import tooltip

if TYPE_CHECKING:
    from app.window.application import Application

NAME = "Gallery"
# All in heights of the font.
WIDEST = 108.0
NARROWEST_CARD = 15.5
GAP = 1.0
MARGIN = 1.6
TITLE_SIZE = 1.5
SIGN_SIZE = 1.8
HELP_HEIGHT = 8.0  # heights of the font, of the help on a card
PICTURE_SHAPE = 9.0 / 16.0
LINES = 2  # of a description
MOST_COLUMNS = 8
PAGE = 3  # rows
MISSING_OPACITY = 0.5
BEHIND: Colour = (*OVER_SCENE[:3], 0.985)
CARD: Colour = (1.0, 1.0, 1.0, 0.035)
CARD_HOVERED: Colour = (1.0, 1.0, 1.0, 0.085)

FLAGS = (
    imgui.WindowFlags_.no_decoration.value
    | imgui.WindowFlags_.no_saved_settings.value
    | imgui.WindowFlags_.no_docking.value
    | imgui.WindowFlags_.no_move.value
    | imgui.WindowFlags_.no_nav.value
)

Direction = Literal["left", "right", "up", "down", "page up", "page down"]

ARROWS: dict[imgui.Key, Direction] = {
    imgui.Key.left_arrow: "left",
    imgui.Key.right_arrow: "right",
    imgui.Key.up_arrow: "up",
    imgui.Key.down_arrow: "down",
    imgui.Key.page_up: "page up",
    imgui.Key.page_down: "page down",
}
ENTER = (imgui.Key.enter, imgui.Key.keypad_enter)


@dataclass(frozen=True)
class CardGrid:
    """The grid of cards, as rows of indices. A family begins a new row."""

    rows: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(families: Sequence[str], columns: int) -> CardGrid:
        """The grid of cards of these families, in at most so many columns."""
        rows: list[tuple[int, ...]] = []
        for _, group in itertools.groupby(range(len(families)), key=lambda number: families[number]):
            rows += _rows(tuple(group), columns)
        return CardGrid(tuple(rows))

    def moved(self, number: int, direction: Direction) -> int:
        """The card that an arrow key leads to, or the same one."""
        last = sum(map(len, self.rows)) - 1
        if direction in ("left", "right"):
            return min(max(number + (1 if direction == "right" else -1), 0), max(last, 0))
        row = next((place for place, cards in enumerate(self.rows) if number in cards), 0)
        if not self.rows:
            return 0
        step = {"up": -1, "down": 1, "page up": -PAGE, "page down": PAGE}[direction]
        other = self.rows[min(max(row + step, 0), len(self.rows) - 1)]
        column = self.rows[row].index(number) if number in self.rows[row] else 0
        return other[min(column, len(other) - 1)]


def _rows(cards: tuple[int, ...], columns: int) -> list[tuple[int, ...]]:
    return [cards[first : first + columns] for first in range(0, len(cards), columns)]


OR_ITS_BUTTON = (  # also while that is pressed
    imgui.HoveredFlags_.allow_when_overlapped_by_item.value
    | imgui.HoveredFlags_.allow_when_blocked_by_active_item.value
)


class Gallery:
    """Covers the whole window while open. Typing searches."""

    def __init__(self, application: Application) -> None:
        self.is_open = False
        self.is_whole = False  # whether the last frame was complete, pictures included
        self._application = application
        self._search = ""
        self._selected = 0
        self._reveals = False  # scroll the selected card into view
        self._holds_land = False  # the land is paused until it is closed
        self._is_new = False  # not shown yet
        self._is_pointed_at = False  # any card, in this frame
        self._grid = CardGrid(())

    def open(self) -> None:
        """Open the gallery and read all cards."""
        self.is_open, self.is_whole = True, False
        self._search, self._selected, self._reveals = "", 0, True
        self._is_new = True
        self._application.stock.read_anew()

    def welcome(self) -> None:
        """Open it at the first start. The land pauses until it is closed."""
        self.open()
        simulation = self._application.simulation
        if not simulation.paused:
            simulation.ask(Pause())
            self._holds_land = True

    def close(self) -> None:
        """Close it. It does not open by itself again."""
        self.is_open = False
        self._application.stock.loops.leave()
        if self._holds_land:
            self._application.simulation.ask(Run())
            self._holds_land = False
        library = self._application.library
        welcome = library.welcome
        if not welcome.gallery:
            library.welcome = msgspec.structs.replace(welcome, gallery=True)
            if not welcome.tour:
                self._application.panel.begin_tour()

    @property
    def shown(self) -> list[Card]:
        """The cards that the search finds."""
        words = self._search.casefold().split()
        return [card for card in self._application.stock.cards if card.fits(words)]

    def move(self, direction: Direction) -> None:
        """Select another card."""
        self._selected, self._reveals = self._grid.moved(self._selected, direction), True

    def choose(self, *, to_compare: bool = False) -> None:
        """Open the selected card, or give its climate and processes to a copy of the current land."""
        cards = self.shown
        if not 0 <= self._selected < len(cards):
            return
        card = cards[self._selected]
        if card.problem:
            self._application.notices.warn(f"{card.title}: {card.problem}")
            return
        self.close()
        if to_compare:
            worlds.compare_with(self._application, card.source)
        else:
            files.open(self._application, card.source)

    def gui(self) -> None:
        """A frame."""
        if not self.is_open:
            return
        viewport, stock = imgui.get_main_viewport(), self._application.stock
        stock.begin_frame()
        imgui.set_next_window_pos(viewport.pos)
        imgui.set_next_window_size(viewport.size)
        imgui.push_style_color(imgui.Col_.window_bg.value, imgui.ImVec4(*BEHIND))
        imgui.push_style_var(imgui.StyleVar_.window_rounding.value, 0.0)
        imgui.push_style_var(imgui.StyleVar_.window_border_size.value, 0.0)
        margin = max(em(MARGIN), (viewport.size.x - em(WIDEST)) / 2.0)
        imgui.push_style_var(imgui.StyleVar_.window_padding.value, imgui.ImVec2(margin, em(0.9)))
        imgui.begin(NAME, None, FLAGS)
        imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
        imgui.pop_style_var(3)
        imgui.pop_style_color()
        self._header()
        imgui.begin_child("cards")
        self._is_pointed_at = False
        self._cards()
        if not self._is_pointed_at:
            stock.loops.leave()
        imgui.end_child()
        imgui.end()
        self._keys()

    def _header(self) -> None:
        """Title, search, and buttons."""
        imgui.push_font(Face.BOLD.font(), TITLE_SIZE * imgui.get_style().font_size_base)
        imgui.text_unformatted(NAME)
        imgui.pop_font()
        title_height = imgui.get_item_rect_size().y
        imgui.same_line(0.0, em(1.4))
        top = imgui.get_cursor_pos_y() + (title_height - imgui.get_frame_height()) / 2.0
        imgui.set_cursor_pos_y(top)
        open_file = f"{icons.ICON_FA_FOLDER_OPEN}  Open file"
        padding, gap = imgui.get_style().frame_padding.x, imgui.get_style().item_spacing.x
        square = imgui.get_frame_height() * 1.15
        buttons = imgui.calc_text_size(open_file).x + 2.0 * padding + gap + square
        room = imgui.get_content_region_avail().x
        if self._is_new:  # text of this frame was typed before
            imgui.get_io().clear_input_keys()
            imgui.set_window_focus()
        elif not imgui.is_any_item_active():
            imgui.set_keyboard_focus_here()
        self._is_new = False
        imgui.set_next_item_width(min(em(26.0), room - buttons - em(1.0)))
        flags = imgui.InputTextFlags_.escape_clears_all.value
        had_text = bool(self._search)
        hint = f"{icons.ICON_FA_MAGNIFYING_GLASS}  search by name, text or family"
        is_changed, self._search = imgui.input_text_with_hint("##search", hint, self._search, flags)
        if is_changed:
            self._selected, self._reveals = 0, True
        imgui.same_line()
        imgui.set_cursor_pos((imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x - buttons, top))
        if imgui.button(f"{open_file}###open file"):
            self.close()
            BY_NAME["open_dialog"].run(self._application)
        imgui.same_line()
        leaves = imgui.button(f"{icons.ICON_FA_XMARK}###close", imgui.ImVec2(square, 0.0))
        if leaves or (imgui.is_key_pressed(imgui.Key.escape, False) and not had_text):
            self.close()
        imgui.dummy(imgui.ImVec2(0.0, em(0.2)))

    def _keys(self) -> None:
        """Keys other than text."""
        io = imgui.get_io()
        for key, direction in ARROWS.items():
            if imgui.is_key_pressed(key):
                self.move(direction)
        if any(imgui.is_key_pressed(key, False) for key in ENTER):
            self.choose(to_compare=io.key_ctrl)
        if imgui.is_key_pressed(imgui.Key.delete, False):
            cards = self.shown
            if self._selected < len(cards):
                self._forget(cards[self._selected])

    def _forget(self, card: Card) -> None:
        """Take a recent file from the list."""
        if card.family == RECENT and card.path is not None:
            self._application.library.forget(card.path)
            self._application.stock.read_anew()

    def _cards(self) -> None:
        """The cards by family. Hidden rows only take height."""
        cards = self.shown
        width = imgui.get_content_region_avail().x - em(0.5)
        columns = max(int((width + em(GAP)) / em(NARROWEST_CARD + GAP)), 1)
        size = _card_size(width, columns)
        while size.y > imgui.get_window_height() - em(2.0) and columns < MOST_COLUMNS:  # large text in a low window
            columns += 1
            size = _card_size(width, columns)
        card_width = size.x
        self._grid = CardGrid.of([card.family for card in cards], columns)
        self._selected = min(self._selected, max(len(cards) - 1, 0))
        self.is_whole = True
        family = ""
        for row in self._grid.rows:
            if cards[row[0]].family != family:
                family = cards[row[0]].family
                self._family(family, sum(card.family == family for card in cards))
            place = imgui.get_cursor_screen_pos()
            if self._reveals and self._selected in row:
                self._reveal(size.y, is_first=row == self._grid.rows[0])
            for column, number in enumerate(row):
                imgui.set_cursor_screen_pos((place.x + column * (card_width + em(GAP)), place.y))
                end = (place.x + (column + 1) * (card_width + em(GAP)), place.y + size.y)
                if imgui.is_rect_visible(imgui.get_cursor_screen_pos(), imgui.ImVec2(*end)):
                    self._card(number, cards[number], size)
            imgui.set_cursor_screen_pos(place)
            imgui.dummy(imgui.ImVec2(width, size.y + em(GAP)))
        if self._application.stock.is_reading:
            self.is_whole = False
        elif not cards:
            imgui.text_disabled(f"Nothing is called “{self._search}”; Esc shows all again." if self._search else "")
        self._reveals = self._reveals and not cards

    def _reveal(self, height: float, *, is_first: bool) -> None:
        """Scroll the next row into view, with the title of its family."""
        top = imgui.get_cursor_pos_y() - em(2.4)
        bottom = top + height + em(2.8)
        seen, window = imgui.get_scroll_y(), imgui.get_window_height()
        if is_first or top < seen:
            imgui.set_scroll_y(0.0 if is_first else top)
        elif bottom > seen + window:
            imgui.set_scroll_y(bottom - window)

    def _family(self, family: str, count: int) -> None:
        imgui.push_font(Face.BOLD.font(), 0.0)
        imgui.text_unformatted(family)
        imgui.pop_font()
        imgui.same_line(0.0, em(0.5))
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), str(count))
        if family == OWN and self._application.library.own_folder:
            imgui.same_line(0.0, em(0.8))
            imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), f"{BY_NAME['save_preset'].key_text} adds the present one")
        imgui.dummy(imgui.ImVec2(0.0, em(0.1)))

    def _card(self, number: int, card: Card, size: imgui.ImVec2) -> None:
        """A card at the cursor."""
        place = imgui.get_cursor_screen_pos()
        end = imgui.ImVec2(place.x + size.x, place.y + size.y)
        if card.family == RECENT:  # for its button; others take a press in the frame in which the pointer arrives
            imgui.set_next_item_allow_overlap()
        imgui.invisible_button(f"###card {card.family} {card.source}", size)
        is_hovered = imgui.is_item_hovered()
        is_over = imgui.is_item_hovered(OR_ITS_BUTTON)
        if imgui.is_item_clicked():
            self._selected = number
        if imgui.is_item_deactivated() and is_hovered:
            self.choose(to_compare=imgui.get_io().key_shift)
        is_due = imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip.value)
        drawing, rounding = imgui.get_window_draw_list(), em(0.45)
        drawing.add_rect_filled(place, end, _packed(CARD_HOVERED if is_over else CARD), rounding)
        self._picture(card, place, size.x, rounding, moves=is_over)
        self._is_pointed_at = self._is_pointed_at or is_over
        self._words(card, imgui.ImVec2(place.x + em(0.7), place.y + int(size.x * PICTURE_SHAPE) + em(0.55)), size.x)
        if number == self._selected:
            thickness = 2.0 * imgui.get_style().font_scale_dpi
            drawing.add_rect(place, end, _packed(ACCENT), rounding, thickness)
        if card.family == RECENT and (is_over or number == self._selected):
            self._forget_button(card, imgui.ImVec2(end.x, place.y))
        if is_due:
            self._stand_off(place, end)
            tooltip(*self._help(card))

    def _stand_off(self, place: imgui.ImVec2, end: imgui.ImVec2) -> None:
        """Let the next tooltip stand below a card, or above it, so that its picture is seen while it moves."""
        gap = em(0.3)
        if end.y + em(HELP_HEIGHT) < imgui.get_main_viewport().size.y:
            imgui.set_next_window_pos(imgui.ImVec2(place.x, end.y + gap))
        else:
            imgui.set_next_window_pos(imgui.ImVec2(place.x, place.y - gap), 0, imgui.ImVec2(0.0, 1.0))

    def _picture(self, card: Card, place: imgui.ImVec2, width: float, rounding: float, *, moves: bool) -> None:
        """The picture of a card, or an icon. One that `moves` is its loop, as soon as there is one."""
        drawing, stock = imgui.get_window_draw_list(), self._application.stock
        end = imgui.ImVec2(place.x + width, place.y + int(width * PICTURE_SHAPE))
        top = imgui.ImDrawFlags_.round_top.value
        texture = stock.texture(card)
        self.is_whole = self.is_whole and stock.is_settled(card)
        texture = (stock.loops.texture(card) if moves else None) or texture
        if texture is not None:
            opacity = MISSING_OPACITY if card.problem else 1.0
            reference, white = imgui.ImTextureRef(texture.glo), _packed((1.0, 1.0, 1.0, opacity))
            corners = imgui.ImVec2(0.0, 0.0), imgui.ImVec2(1.0, 1.0)
            drawing.add_image_rounded(reference, place, end, *corners, white, rounding, top)
            if moves and stock.loops.is_drawing:
                self._film(imgui.ImVec2(place.x, end.y))
            return
        drawing.add_rect_filled(place, end, _packed(FIELD), rounding, top)
        sign = icons.ICON_FA_TRIANGLE_EXCLAMATION if card.problem else icons.ICON_FA_MOUNTAIN_SUN
        size, drawn = SIGN_SIZE * imgui.get_font_size(), imgui.calc_text_size(sign) * SIGN_SIZE
        middle = imgui.ImVec2((place.x + end.x - drawn.x) / 2.0, (place.y + end.y - drawn.y) / 2.0)
        colour = faded(WARNING, 0.8) if card.problem else faded(FAINT_TEXT, 0.55)
        drawing.add_text(Face.PLAIN.font(), size, middle, _packed(colour), sign)

    def _film(self, corner: imgui.ImVec2) -> None:
        """The sign of a loop that is being drawn, at the lower left of a picture."""
        sign, padding = icons.ICON_FA_FILM, em(0.35)
        size = imgui.calc_text_size(sign)
        place = imgui.ImVec2(corner.x + 2.0 * padding, corner.y - size.y - 2.0 * padding)
        low, high = (
            imgui.ImVec2(place.x - padding, place.y - padding),
            imgui.ImVec2(place.x + size.x + padding, place.y + size.y + padding),
        )
        drawing = imgui.get_window_draw_list()
        drawing.add_rect_filled(low, high, _packed(OVER_SCENE), em(0.25))
        drawing.add_text(place, _packed(faded(TEXT, 0.55 + 0.45 * math.sin(4.0 * imgui.get_time()))), sign)

    def _words(self, card: Card, place: imgui.ImVec2, width: float) -> None:
        """The name, and two lines of description or error."""
        drawing, room = imgui.get_window_draw_list(), width - em(1.4)
        imgui.push_font(Face.BOLD.font(), 0.0)
        title = fitted(card.title, room, _width)
        drawing.add_text(place, _packed(FAINT_TEXT if card.problem else TEXT), title)
        imgui.pop_font()
        colour = WARNING if card.problem else FAINT_TEXT
        for number, line in enumerate(fitted_lines(card.problem or card.description, room, LINES, _width)):
            drawing.add_text(imgui.ImVec2(place.x, place.y + (1 + number) * _line()), _packed(colour), line)

    def _forget_button(self, card: Card, corner: imgui.ImVec2) -> None:
        """A button at the upper right that removes it from the list."""
        side = imgui.get_frame_height()
        imgui.set_cursor_screen_pos((corner.x - side - em(0.3), corner.y + em(0.3)))
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(*OVER_SCENE))
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, imgui.ImVec2(0.0, 0.0))
        pressed = imgui.button(f"{icons.ICON_FA_XMARK}###forget {card.source}", imgui.ImVec2(side, side))
        imgui.pop_style_var()
        imgui.pop_style_color()
        if imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip.value):
            tooltip("Remove it from this list (Del); the file stays")
        if pressed:
            self._forget(card)

    def _help(self, card: Card) -> list[str]:
        lines = [card.problem or card.description or card.title]
        if card.at_work:
            lines.append(f"at work: {', '.join(title.lower() for title in card.at_work)}")
        if card.path is not None:
            lines.append(str(card.path))
        if not card.problem:
            lines.append("Enter or click opens it; with Ctrl or Shift, its climate and processes act beside this land")
        return lines


def _card_size(width: float, columns: int) -> imgui.ImVec2:
    card = int((width - (columns - 1) * em(GAP)) / columns)
    return imgui.ImVec2(card, int(card * PICTURE_SHAPE) + em(1.1) + (1 + LINES) * _line())


def _line() -> float:
    return imgui.get_font_size() * 1.22


def _width(text: str) -> float:
    return imgui.calc_text_size(text).x


def _packed(colour: Colour) -> int:
    return imgui.color_convert_float4_to_u32(imgui.ImVec4(*colour))

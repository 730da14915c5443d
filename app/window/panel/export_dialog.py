"""The export dialog: wishes, beside the planned files and their sizes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.numbers import bytes_text, spaced
from app.picture.style import ACCENT, ERROR, FAINT_TEXT, WARNING, em
from app.window.panel.dialog_window import dialog_window
from app.window.panel.fitted import fitted
from app.window.panel.mask_picker import MaskPicker
from app.window.panel.widgets import choice, heading, right_aligned, tooltip_on_hover

if TYPE_CHECKING:
    from app.export.wishes import Wish, Wishes
    from app.picture.sides import Sides
    from app.window.exporting import Exporting
    from app.window.notices import Notices
    from app.window.views import Views

SIZE = 58.0, 36.0  # heights of the font
WISHES_PART = 0.62  # of the width
LABELS = 6.3
BUTTON = 6.0
MASK, MASK_WIDTH = "mask", 16.0  # the wish that is picked with sliders


class ExportDialog:
    """Lays out the dialog, while `Exporting` says that it is open."""

    def __init__(self, exporting: Exporting, views: Views, sides: Sides, notices: Notices) -> None:
        self._exporting = exporting
        self._mask = MaskPicker(views, sides, notices.warn)
        self._typed: dict[str, str] = {}  # text of active fields

    def release(self) -> None:
        """Give back the map of the mask."""
        self._mask.release()

    def gui(self, place: tuple[float, float], widest: float, highest: float) -> None:
        exporting = self._exporting
        if not exporting.is_open:
            return
        title = f"Export the land after cycle {spaced(exporting.cycle)}###export"
        with dialog_window(title, SIZE, place, (widest, highest)) as (is_expanded, is_open):
            if is_expanded:
                self._content(exporting)
        if not is_open:
            exporting.close()

    def _content(self, exporting: Exporting) -> None:
        below = 3.0 * imgui.get_frame_height_with_spacing() + em(0.4)
        said = self._said(exporting)
        if said:
            width = imgui.get_content_region_avail().x
            below += imgui.calc_text_size(said, wrap_width=width).y + imgui.get_style().item_spacing.y
        width = WISHES_PART * imgui.get_content_region_avail().x
        imgui.begin_disabled(exporting.is_writing)
        if imgui.begin_child("wishes", imgui.ImVec2(width, -below)):
            self._wishes(exporting)
        imgui.end_child()
        imgui.end_disabled()
        imgui.same_line(0.0, em(1.0))
        if imgui.begin_child("files", imgui.ImVec2(0.0, -below)):
            _files(exporting)
        imgui.end_child()
        if said:
            imgui.push_text_wrap_pos(0.0)
            imgui.text_colored(imgui.ImVec4(*(ERROR if exporting.why else ACCENT)), said)
            imgui.pop_text_wrap_pos()
        self._folder(exporting)
        _progress(exporting)
        self._buttons(exporting)

    def _said(self, exporting: Exporting) -> str:
        """The error in the words of the dialog, or the outcome."""
        from app.export.wishes import WISHES

        why = exporting.why
        for wish in WISHES:
            if why.startswith(f"{wish.option} "):
                return f"{wish.label}{why.removeprefix(wish.option)}"
        return why or exporting.outcome

    # Wishes.

    def _wishes(self, exporting: Exporting) -> None:
        from app.export.wishes import WISHES

        wishes, group = exporting.wishes, ""
        for wish in WISHES:
            if wish.group != group:
                if group:
                    imgui.spacing()
                group = wish.group
                heading(group.capitalize())
            imgui.push_id(wish.path)
            value = self._row(exporting, wish, wishes)
            imgui.pop_id()
            if value != wishes.value(wish.path):
                wishes = wishes.with_value(wish.path, value)
        if wishes != exporting.wishes:
            exporting.wish(wishes)

    def _row(self, exporting: Exporting, wish: Wish, wishes: Wishes) -> Any:
        """A row of the table. Returns its value."""
        value = wishes.value(wish.path)
        imgui.align_text_to_frame_padding()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), wish.label)
        tooltip_on_hover(_first_letter(wish.help))
        imgui.same_line(em(LABELS))
        if wish.path == MASK:
            imgui.begin_group()
            self._mask.gui(em(MASK_WIDTH), em(4.0))
            imgui.end_group()
            return self._mask.text
        if wish.several:
            return _several(wish, value, exporting.missing)
        imgui.set_next_item_width(em(8.0))
        if wish.known is not None:
            chosen = choice("##value", str(value), tuple(wish.known))
            tooltip_on_hover(_first_letter(wish.help), f"{value}: {wish.known.get(str(value), '')}")
            return type(value)(chosen)
        typed = self._typed_into(wish, value)
        if wish.proposed:
            imgui.same_line(0.0, em(0.3))
            if imgui.begin_combo("##proposed", "", imgui.ComboFlags_.no_preview.value):
                for word in ("", *wish.proposed):
                    if imgui.selectable(word or "as the source has", word == value)[0]:
                        typed = word
                imgui.end_combo()
        if wish.unit:
            imgui.same_line(0.0, em(0.5))
            imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), wish.unit)
        return typed

    def _typed_into(self, wish: Wish, value: Any) -> Any:
        """A field for a number or a text, which takes effect when it is left."""
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        hint = "as the source has" if wish.proposed else ""
        _, text = imgui.input_text_with_hint("##value", hint, self._typed.get(wish.path, shown))
        tooltip_on_hover(_first_letter(wish.help))
        if imgui.is_item_active():
            self._typed[wish.path] = text
            return value
        self._typed.pop(wish.path, None)
        if text == shown:
            return value
        if isinstance(value, str):
            return text.strip()
        try:
            return type(value)(min(max(float(text), wish.low), wish.high))
        except ValueError:
            return value

    # Destination.

    def _folder(self, exporting: Exporting) -> None:
        imgui.align_text_to_frame_padding()
        imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), "folder")
        imgui.same_line(em(LABELS))
        imgui.set_next_item_width(-1.0)
        imgui.begin_disabled(exporting.is_writing)
        _, exporting.folder = imgui.input_text("##folder", exporting.folder)
        imgui.end_disabled()
        tooltip_on_hover("Created if needed")

    def _buttons(self, exporting: Exporting) -> None:
        there = frozenset() if exporting.is_writing else _names_in(exporting.folder, imgui.get_time() // 1.0)
        replaced = sum(file.name in there for file in exporting.files)
        if replaced and not exporting.outcome:
            imgui.align_text_to_frame_padding()
            text = f"{replaced} of these files {'is' if replaced == 1 else 'are'} there, and will be replaced"
            room = imgui.get_content_region_avail().x - em(2.0 * BUTTON + 1.5)
            imgui.text_colored(imgui.ImVec4(*WARNING), fitted(text, room, lambda part: imgui.calc_text_size(part).x))
            imgui.same_line()
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        imgui.set_cursor_pos_x(right - em(2.0 * BUTTON + 0.4))
        if imgui.button("Cancel" if exporting.is_writing else "Close", imgui.ImVec2(em(BUTTON), 0.0)):
            (exporting.cancel if exporting.is_writing else exporting.close)()
        imgui.same_line(0.0, em(0.4))
        imgui.begin_disabled(not exporting.can_write or not exporting.folder.strip())
        if imgui.button(f"{'Replace' if replaced else 'Export'}###write", imgui.ImVec2(em(BUTTON), 0.0)):
            exporting.write()
        imgui.end_disabled()


def _several(wish: Wish, value: tuple[str, ...], missing: tuple[str, ...]) -> tuple[str, ...]:
    """Checkboxes in columns. Maps that the land lacks are grey."""
    from app.export.maps import ALL

    assert wish.known is not None
    words = {name: name.replace("_", " ") for name in wish.known}
    beside = imgui.get_frame_height() + imgui.get_style().item_inner_spacing.x + em(0.8)
    widest = max(imgui.calc_text_size(word).x for word in words.values()) + beside
    left, room = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x
    columns = max(1, int(room / widest))
    chosen = set(value)
    for number, name in enumerate(wish.known):
        if number % columns:
            imgui.same_line(left + number % columns * widest)
        else:
            imgui.set_cursor_pos_x(left)
        why = "this land has none: the processes that leave it have not run" if name in missing else ""
        is_part = ALL in chosen and name != ALL
        imgui.begin_disabled(bool(why) or is_part)
        is_chosen = imgui.checkbox(f"{words[name]}###{name}", (is_part and not why) or name in chosen)[1]
        imgui.end_disabled()
        if imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled.value):
            imgui.set_tooltip(f"{wish.known[name]}{f'; {why}' if why else ''}")
        if not is_part:
            (chosen.add if is_chosen else chosen.discard)(name)
    return tuple(name for name in wish.known if name in chosen)


def _files(exporting: Exporting) -> None:
    """Files with estimated or actual sizes."""
    heading("Files")
    imgui.same_line()
    right_aligned(f"about {bytes_text(exporting.size)}" if exporting.files else "")
    if not exporting.files:
        words = "reading the land …" if exporting.is_reading else "" if exporting.why else "nothing is asked for"
        imgui.text_disabled(words)
        return
    clipper = imgui.ListClipper()
    clipper.begin(len(exporting.files))
    while clipper.step():
        for file in exporting.files[clipper.display_start : clipper.display_end]:
            written = exporting.written.get(file.name)
            imgui.text_colored(imgui.ImVec4(*ACCENT), icons.ICON_FA_CHECK if written else "")
            imgui.same_line(em(1.4))
            size = bytes_text(written.size if written else file.size)
            room = imgui.get_content_region_avail().x - imgui.calc_text_size(size).x - em(0.5)
            imgui.text_unformatted(fitted(file.name, room, lambda text: imgui.calc_text_size(text).x))
            if written and written.told:
                tooltip_on_hover(*written.told.splitlines())
            imgui.same_line()
            right_aligned(size)
    told = dict.fromkeys(written.told for written in exporting.written.values() if written.told)
    imgui.spacing()
    imgui.push_text_wrap_pos(0.0)
    for text in told:
        imgui.text_disabled(text.rstrip())
    imgui.pop_text_wrap_pos()


def _progress(exporting: Exporting) -> None:
    """Progress of the writing, or an empty line of the same height."""
    if not exporting.is_writing:
        imgui.dummy(imgui.ImVec2(0.0, imgui.get_frame_height()))
        return
    number = len(exporting.written)
    name = exporting.files[number].name if number < len(exporting.files) else ""
    words = f"{number} of {len(exporting.files)}   {name}" if name else ""
    imgui.progress_bar(exporting.part, imgui.ImVec2(-1.0, imgui.get_frame_height()), words)


@lru_cache(maxsize=4)
def _names_in(folder: str, second: float) -> frozenset[str]:
    """The names of files in a folder, refreshed once a second."""
    try:
        return frozenset(path.name for path in Path(folder).expanduser().iterdir())
    except (OSError, RuntimeError, ValueError):
        return frozenset()


def _first_letter(text: str) -> str:
    return text[:1].upper() + text[1:]

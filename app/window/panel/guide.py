"""The guide in the window: a list of its pages with a search, and the page that is open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import imgui_bundle
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from imgui_bundle import rich_md as markdown

from app.files.guide import Page
from app.files.guide import index as index_page
from app.picture.style import ACCENT, FAINT_TEXT, FIELD, FONT_SIZE, TEXT, em
from app.window.panel.dialog_window import dialog_window
from app.window.panel.widgets import tooltip, tooltip_is_due, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.guide import Guide

NAME = "Guide"
# All in heights of the font.
SIZE = 68.0, 52.0
LIST = 13.0
NARROWEST_WITH_LIST = 44.0
WIDEST_TEXT = 52.0
HIGHEST_PICTURE = 0.55  # of the height of the page
GAP = 1.0
SCROLL = 3.0  # per arrow key
MOST_LINES = 4  # per found page
LANGUAGES = ("sh", "toml", "python", "text")


class GuideWindow:
    """Draws the guide. The Markdown renderer is created on first use."""

    def __init__(self, guide: Guide) -> None:
        self._guide = guide
        self._context: markdown.Context | None = None
        self._shown = ""  # the page of the last frame
        self._height = 0.0  # visible height

    def gui(self, place: tuple[float, float], widest: float, highest: float) -> None:
        """A frame, with the middle of the window at `place` when it opens."""
        guide = self._guide
        if not guide.is_open:
            self._shown = ""
            return
        if self._context is None:
            self._context = self._made()
        with dialog_window(NAME, SIZE, place, (widest, highest)) as (is_visible, stays_open):
            if is_visible:
                is_wide = imgui.get_content_region_avail().x > em(NARROWEST_WITH_LIST)
                if is_wide:
                    imgui.begin_child("list", imgui.ImVec2(em(LIST), 0.0))
                    self._header(room=imgui.get_content_region_avail().x)
                    imgui.begin_child("pages", child_flags=imgui.ChildFlags_.nav_flattened.value)
                    self._list()
                    imgui.end_child()
                    imgui.end_child()
                    imgui.same_line(0.0, em(GAP))
                else:
                    self._header(room=em(LIST))
                    imgui.same_line()
                    self._choice()
                self._page()
        guide.is_open = bool(stays_open) and guide.is_open

    def release(self) -> None:
        """Release the renderer."""
        self._guide.pictures.release()
        if self._context is not None:
            markdown.destroy_context(self._context)

    def _made(self) -> markdown.Context:
        markdown.set_assets_folder(str(Path(imgui_bundle.__file__).parent / "assets"))
        options = markdown.MarkdownOptions()
        options.font_options.regular_size = FONT_SIZE
        options.callbacks.on_image = self._picture
        options.callbacks.on_open_link = self._follow
        context = markdown.create_context(options)
        markdown.set_current_context(context)
        for language in LANGUAGES:
            markdown.register_fenced_block_renderer(language, _code)
        return context

    # The list.

    def _header(self, room: float) -> None:
        """Back, and the search."""
        guide = self._guide
        imgui.begin_disabled(not guide.can_go_back)
        if imgui.button(f"{icons.ICON_FA_ARROW_LEFT}###back"):
            guide.go_back()
        imgui.end_disabled()
        tooltip_on_hover("Previous page")
        imgui.same_line()
        imgui.set_next_item_width(room - imgui.get_item_rect_size().x - imgui.get_style().item_spacing.x)
        flags = imgui.InputTextFlags_.enter_returns_true.value | imgui.InputTextFlags_.escape_clears_all.value
        hint = f"{icons.ICON_FA_MAGNIFYING_GLASS}  search"
        is_entered, guide.search = imgui.input_text_with_hint("##search", hint, guide.search, flags)
        if is_entered and (page := guide.first_found()):
            guide.go_to(page.name)

    def _list(self) -> None:
        """The pages by chapter, filtered by the search."""
        guide = self._guide
        if not guide.search:
            self._entry(index_page())
        for chapter in guide.chapters:
            imgui.dummy(imgui.ImVec2(0.0, em(0.25)))
            imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), chapter.title)
            for page in chapter.pages:
                self._entry(page)
        if not guide.chapters:
            imgui.text_disabled("no page has these words")

    def _entry(self, page: Page) -> None:
        is_shown = self._guide.page == page.name
        imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*(ACCENT if is_shown else TEXT)))
        if imgui.selectable(f"{page.title}###{page.name}", is_shown)[0]:
            self._guide.go_to(page.name)
        imgui.pop_style_color()
        if self._guide.search and tooltip_is_due() and (lines := page.lines_with(self._guide.search)):
            tooltip(*lines[:MOST_LINES])

    def _choice(self) -> None:
        """A combo box instead of the list, in a narrow window."""
        imgui.set_next_item_width(-1.0)
        if imgui.begin_combo("##page", self._guide.text.partition("\n")[0].removeprefix("# ")):
            self._list()
            imgui.end_combo()

    # The page.

    def _page(self) -> None:
        is_new, self._shown = self._shown != self._guide.page, self._guide.page
        imgui.begin_child("page", child_flags=imgui.ChildFlags_.nav_flattened.value)
        self._height = imgui.get_window_height()
        if is_new:
            imgui.set_scroll_y(0.0)
        width = min(imgui.get_content_region_avail().x - em(0.6), em(WIDEST_TEXT))
        # A child window limits the width of lines, tables and pictures.
        imgui.begin_child("text", imgui.ImVec2(width, 0.0), imgui.ChildFlags_.auto_resize_y.value)
        markdown.render_raw(self._guide.text)
        imgui.dummy(imgui.ImVec2(0.0, em(1.0)))
        imgui.end_child()
        if imgui.is_window_focused(imgui.FocusedFlags_.root_and_child_windows.value) and not imgui.is_any_item_active():
            self._scroll()
        imgui.end_child()

    def _scroll(self) -> None:
        """By keys."""
        page = imgui.get_window_height() - em(SCROLL)
        ways = {
            imgui.Key.down_arrow: em(SCROLL),
            imgui.Key.up_arrow: -em(SCROLL),
            imgui.Key.page_down: page,
            imgui.Key.page_up: -page,
        }
        for key, way in ways.items():
            if imgui.is_key_pressed(key):
                imgui.set_scroll_y(imgui.get_scroll_y() + way)

    def _picture(self, target: str) -> markdown.MarkdownImage | None:
        """A picture as large as fits; None until it is loaded."""
        texture = self._guide.pictures.texture(target)
        if texture is None:
            return None
        highest = HIGHEST_PICTURE * self._height
        room = min(imgui.get_content_region_avail().x, highest * texture.width / texture.height)
        width = max(min(room, float(texture.width)), 1.0)
        image = markdown.MarkdownImage()
        image.texture_id = texture.glo
        image.size = imgui.ImVec2(width, width * texture.height / texture.width)
        image.uv0, image.uv1 = imgui.ImVec2(0.0, 0.0), imgui.ImVec2(1.0, 1.0)
        image.col_tint, image.col_border = imgui.ImVec4(1.0, 1.0, 1.0, 1.0), imgui.ImVec4(0.0, 0.0, 0.0, 0.0)
        return image

    def _follow(self, target: str) -> None:
        if not self._guide.follow(target):
            markdown.on_open_link_default(target)


def _code(text: str) -> None:
    """A block of code."""
    font = markdown.get_code_font()
    imgui.push_font(font.font, font.size)
    imgui.push_style_color(imgui.Col_.child_bg.value, imgui.ImVec4(*FIELD[:3], 0.35))
    flags = imgui.ChildFlags_.auto_resize_y.value | imgui.ChildFlags_.always_use_window_padding.value
    window = imgui.WindowFlags_.horizontal_scrollbar.value
    imgui.begin_child(f"code {imgui.get_cursor_pos_y():.0f}", imgui.ImVec2(0.0, 0.0), flags, window)
    imgui.text_unformatted(text.rstrip())
    imgui.end_child()
    imgui.pop_style_color()
    imgui.pop_font()

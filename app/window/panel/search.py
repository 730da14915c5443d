"""The search of parameters, its results, and buttons for all changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.model.parameters import Declaration
from app.picture.style import FAINT_TEXT, em
from app.scene.scene import DECLARATIONS, GROUPS
from app.scene.search import found_parameters, words_of
from app.window.actions import BY_NAME
from app.window.commands import changes
from app.window.panel.groups import settings_text
from app.window.panel.parameters import ParameterRows, light_words, setting_text
from app.window.panel.widgets import icon_button, tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

MOST_SHOWN = 60
FRAMES_TO_BEGIN = 4  # ImGui focuses a field two frames after the request
HELP_INDENT = 2.3  # heights of the font


class Search:
    """Finds parameters of all sections, including unused groups."""

    def __init__(self, application: Application, rows: ParameterRows) -> None:
        self._application = application
        self._rows = rows
        self.query = ""
        self._frames_to_begin = 0  # frames until the field has the focus

    def begin(self) -> None:
        """Focus the field."""
        self._frames_to_begin = FRAMES_TO_BEGIN

    @property
    def is_beginning(self) -> bool:
        """Whether keys belong to the field, although it is not focused yet."""
        return self._frames_to_begin > 0

    def end(self) -> None:
        """Show all sections again."""
        self.query = ""

    def field(self) -> None:
        """The field, and buttons for all that has been changed."""
        changed = sorted(self._rows.facts.changed)
        gap = em(0.3)
        reset = f"{icons.ICON_FA_ROTATE_LEFT} {len(changed)}"
        padding = 2.0 * imgui.get_style().frame_padding.x
        widths = (imgui.calc_text_size(text).x + padding + gap for text in (reset, icons.ICON_FA_COPY))
        width = imgui.get_content_region_avail().x - (sum(widths) if changed else 0.0)
        imgui.set_next_item_width(width)
        if self._frames_to_begin == FRAMES_TO_BEGIN:
            imgui.set_window_focus()  # take the focus from the window of the sliders
            imgui.set_keyboard_focus_here()
        self._frames_to_begin = max(self._frames_to_begin - 1, 0)
        key = BY_NAME["search"].key_text
        hints = [
            f"{icons.ICON_FA_MAGNIFYING_GLASS}  {text}" for text in (f"find a parameter  ({key})", f"find  ({key})")
        ]
        hint = next((text for text in hints if imgui.calc_text_size(text).x + padding < width), hints[-1])
        flags = imgui.InputTextFlags_.enter_returns_true.value
        entered, query = imgui.input_text_with_hint("###search", hint, self.query, flags)
        self.query = query
        if imgui.is_item_active():
            self._frames_to_begin = 0
        if imgui.is_item_deactivated() and imgui.is_key_pressed(imgui.Key.escape):
            self.end()
        elif entered and (found := found_parameters(self.query)):
            self._rows.focus(found[0])
        if not changed:
            return
        count = f"{len(changed)} change" + ("s" if len(changed) > 1 else "")
        imgui.same_line(0.0, gap)
        if imgui.button(f"{reset}###reset all"):
            changes.reset_parameters(self._application, changed)
        tooltip_on_hover(f"Reset all {count}", "All parameters as they were opened, as one step of undo.")
        imgui.same_line(0.0, gap)
        if imgui.button(f"{icons.ICON_FA_COPY}###copy all"):
            imgui.set_clipboard_text(settings_text(self._application, changed))
        tooltip_on_hover(f"Copy {count} as --set, for the command line")

    def results(self) -> None:
        """The found rows, each below the name of its group."""
        paths = found_parameters(self.query)
        words = self._rows.lit = words_of(self.query)
        group, order = "", list(dict.fromkeys(path.partition(".")[0] for path in paths))
        for path in sorted(paths[:MOST_SHOWN], key=lambda path: order.index(path.partition(".")[0])):
            name = path.partition(".")[0]
            if name != group:
                group = name
                imgui.spacing()
                light_words(GROUPS[name].title, words)
                imgui.text_disabled(GROUPS[name].title)
            self._result(DECLARATIONS[path], words)
        if not paths:
            imgui.text_disabled("No parameter is called so, or does that." if words else "")
        elif len(paths) > MOST_SHOWN:
            imgui.text_disabled(f"and {len(paths) - MOST_SHOWN} more")
        self._rows.lit = ()

    def _result(self, declaration: Declaration, words: tuple[str, ...]) -> None:
        path = declaration.path
        imgui.push_id(f"copy {path}")
        setting = setting_text(path, self._application.documents.scene.value(path))
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
        imgui.push_style_color(imgui.Col_.text.value, imgui.ImVec4(*FAINT_TEXT))
        if icon_button(icons.ICON_FA_COPY, "copy", f"Copy {setting}"):
            imgui.set_clipboard_text(setting)
        imgui.pop_style_color(2)
        imgui.pop_id()
        imgui.same_line(0.0, em(0.6))
        self._rows.row(declaration)
        in_help = [word for word in words if word not in declaration.label.casefold()]
        if any(word in declaration.help.casefold() for word in in_help):
            imgui.indent(em(HELP_INDENT))
            letters = int(imgui.get_content_region_avail().x / imgui.calc_text_size("n").x)
            text = _excerpt(declaration.help, in_help[0], letters)
            light_words(text, in_help)
            imgui.text_disabled(text)
            imgui.unindent(em(HELP_INDENT))


def _excerpt(text: str, word: str, letters: int) -> str:
    """An excerpt of a text around a word."""
    if len(text) <= letters:
        return text
    at = text.casefold().find(word)
    if at + len(word) <= letters - 2:
        return f"{text[: letters - 2]} …"
    begin = min(max(at - letters // 3, 0), len(text) - letters + 2)
    end = begin + letters - 4
    return f"… {text[begin:end]}{' …' if end < len(text) else ''}"

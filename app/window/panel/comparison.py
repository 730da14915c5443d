"""The comparison of worlds: which are edited, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.files.cards import shipped_cards
from app.picture.style import ACCENT, FAINT_TEXT, em, faded
from app.scene.comparison import MOST_WORLDS, NAMES
from app.window.commands import worlds
from app.window.panel.widgets import tooltip_on_hover

if TYPE_CHECKING:
    from app.window.application import Application

PICTURE = 3.2, 1.8  # heights of the font


def comparison(application: Application) -> None:
    """Rows for several worlds: which are edited, how many, and their view."""
    documents = application.documents
    if not documents.comparing:
        return
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), "change")
    for number, edited in enumerate(documents.choices):
        imgui.same_line(0.0, em(0.2 if number else 0.5))
        help = "The panel shows the first world, and changes all" if edited == "all" else f"The panel changes {edited}"
        if _choice(edited, is_chosen=documents.edited == edited, help=help):
            documents.edited = edited
    _worlds(application)


def _choice(label: str, *, is_chosen: bool, help: str) -> bool:
    if is_chosen:
        imgui.push_style_color(imgui.Col_.button.value, imgui.ImVec4(*faded(ACCENT, 0.32)))
        imgui.push_style_color(imgui.Col_.button_hovered.value, imgui.ImVec4(*faded(ACCENT, 0.48)))
    pressed = imgui.button(f"{label}###change {label}", imgui.ImVec2(em(2.2 if len(label) == 1 else 3.2), 0.0))
    if is_chosen:
        imgui.pop_style_color(2)
    tooltip_on_hover(help, "Climate, processes and rivers can differ; everything else is shared.")
    return pressed


def _worlds(application: Application) -> None:
    """Buttons for another world, for one less, for the cameras, a preset and the arrangement.

    They do not move when worlds are added, so that repeated clicks hit the same button.
    """
    documents, layout = application.documents, application.layout
    count = len(documents.scenes)
    imgui.begin_disabled(count == MOST_WORLDS)
    if imgui.button(f"{icons.ICON_FA_PLUS}###add a world"):
        worlds.add_world(application)
    imgui.end_disabled()
    tooltip_on_hover("Compare with another copy of the world that the panel shows", f"{MOST_WORLDS} at most")
    imgui.same_line(0.0, em(0.2))
    if imgui.button(f"{icons.ICON_FA_MINUS}###remove the world"):
        worlds.remove_world(application)
    tooltip_on_hover(f"Remove {NAMES[documents.edited_worlds[0]]}")
    imgui.same_line(0.0, em(0.6))
    if imgui.button(f"{icons.ICON_FA_LINK if application.cameras.linked else icons.ICON_FA_LINK_SLASH}###link cameras"):
        worlds.link_cameras(application)
    tooltip_on_hover("One camera for all worlds, or one each", "now linked" if application.cameras.linked else "")
    imgui.same_line(0.0, em(0.6))
    _take_from(application)
    if count > 2:
        imgui.same_line(0.0, em(0.2))
        icon = icons.ICON_FA_TABLE_COLUMNS if layout.in_grid else icons.ICON_FA_TABLE_CELLS_LARGE
        if imgui.button(f"{icon}###grid"):
            layout.grid_chosen = not layout.in_grid
        tooltip_on_hover("Side by side" if layout.in_grid else "In a grid")


def _take_from(application: Application) -> None:
    """A list of presets whose climate and processes can be applied."""
    if imgui.button(f"apply a preset  {icons.ICON_FA_CARET_DOWN}###take a preset"):
        imgui.open_popup("presets")
    tooltip_on_hover("Apply climate and processes of a preset to the selected worlds; the land stays")
    if imgui.begin_popup("presets"):
        application.stock.begin_frame()
        size = imgui.ImVec2(em(PICTURE[0]), em(PICTURE[1]))
        for card in shipped_cards():
            if (texture := application.stock.texture(card)) is not None:
                imgui.image(imgui.ImTextureRef(texture.glo), size)
            else:
                imgui.dummy(size)
            imgui.same_line(0.0, em(0.6))
            if imgui.selectable(f"{card.title}###{card.source}", False)[0]:
                worlds.take_from(application, card.source)
        imgui.end_popup()

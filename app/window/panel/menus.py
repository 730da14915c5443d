"""The bar of menus above the scene: all actions by their groups, and the overlays by their families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from app.engine.memory import memory_text
from app.engine.refining import why_not_refined
from app.model.overlays import OVERLAYS
from app.picture.style import OVER_SCENE, em
from app.scene.edits import REFINEMENTS
from app.scene.shown_overlays import families, why_empty
from app.window.actions import ACTIONS, BY_NAME
from app.window.commands import running, view
from app.window.panel.widgets import tooltip_on_hover

if TYPE_CHECKING:
    from app.scene.scene import Scene
    from app.window.application import Application

FIRST = ("Files", "Time", "View", "Camera", "Simulation")  # first groups; others follow, and the last is
LAST = "Help"
OVERLAY_GROUP = "View"  # the menu with the overlays
REFINEMENT_GROUP = "Simulation"  # the menu with refinement
REFINEMENT = "the present land in finer cells, with detail along its streams"


def height() -> float:
    """Of the bar, in logical units."""
    return imgui.get_frame_height()


def groups() -> list[str]:
    """The menus from left to right."""
    others = dict.fromkeys(action.group for action in ACTIONS if action.group not in (*FIRST, LAST))
    return [*FIRST, *others, LAST]


def menus(application: Application) -> None:
    """The bar, with the overlay of now at its right end."""
    imgui.push_style_color(imgui.Col_.menu_bar_bg.value, imgui.ImVec4(*OVER_SCENE))
    if imgui.begin_main_menu_bar():
        for group in groups():
            if imgui.begin_menu(group):
                _actions(application, group)
                imgui.end_menu()
        _overlay(application)
        imgui.end_main_menu_bar()
    imgui.pop_style_color()


def _actions(application: Application, group: str) -> None:
    for action in ACTIONS:
        if action.group == group:
            if imgui.menu_item(action.label, action.keys[0], False)[0]:
                action.run(application)
            tooltip_on_hover(action.help)
    if group == REFINEMENT_GROUP and application.snapshot is not None:
        imgui.separator()
        if imgui.begin_menu("Refine"):
            imgui.text_disabled(REFINEMENT)
            _refinements(application, application.snapshot.shape)
            imgui.end_menu()
    if group == OVERLAY_GROUP:
        imgui.separator()
        if imgui.begin_menu("Overlay"):
            _overlays(application)
            imgui.end_menu()


def refinement_label(scenes: Sequence[Scene], rows: int, columns: int, times: int) -> str:
    """The label of a refinement of so many cells."""
    rows, columns = rows * times, columns * times
    return f"×{times}: {columns} × {rows} cells, about {memory_text(scenes, rows, columns)} of memory"


def _refinements(application: Application, shape: tuple[int, int]) -> None:
    """Refinements of the current land. Those that are too large are grey with a reason."""
    scenes = application.documents.scenes
    for times in REFINEMENTS:
        why = why_not_refined(scenes, *(side * times for side in shape))
        if imgui.menu_item(refinement_label(scenes, *shape, times), "", False, not why)[0]:
            running.refine(application, times)
        if why and imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled.value):
            imgui.set_tooltip(why)


def _overlay(application: Application) -> None:
    """A menu with the name of the overlay that is shown, and a button to either side, where there is room for them."""
    shown = application.documents.scene.view.overlay
    label = f"{icons.ICON_FA_LAYER_GROUP}  {'no overlay' if shown == 'none' else shown.replace('_', ' ')}"
    widest = max(imgui.calc_text_size(f"{icons.ICON_FA_LAYER_GROUP}  {name}").x for name in OVERLAYS)
    arrow = em(1.4)
    free = imgui.get_content_region_avail().x
    if free < widest + 2.0 * arrow + em(1.5):
        return
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + free - widest - 2.0 * arrow - em(1.5))
    for command, icon in (
        ("previous_overlay", icons.ICON_FA_CHEVRON_LEFT),
        ("next_overlay", icons.ICON_FA_CHEVRON_RIGHT),
    ):
        action = BY_NAME[command]
        if imgui.menu_item(f"{icon}###bar {command}", "", False)[0]:
            action.run(application)
        tooltip_on_hover(action.tooltip)
    if imgui.begin_menu(f"{label}###overlay"):
        _overlays(application)
        imgui.end_menu()


def _overlays(application: Application) -> None:
    """All overlays. Empty ones are grey with a reason."""
    shown, scenes = application.documents.scene.view.overlay, application.documents.scenes
    for family, names in families().items():
        if family:
            imgui.separator_text(family)
        for name in names:
            why = "" if name == shown else why_empty(name, scenes, application.snapshot)
            key = BY_NAME["toggle_overlay"].key_text if name == "none" else ""
            if imgui.menu_item(f"{name.replace('_', ' ')}###overlay {name}", key, name == shown, not why)[0]:
                view.show_overlay(application, name)
            if imgui.is_item_hovered(imgui.HoveredFlags_.allow_when_disabled.value):
                imgui.set_tooltip(f"{OVERLAYS[name].label}{f': nothing to see while {why}' if why else ''}")

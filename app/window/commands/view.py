"""View commands: overlays, size of the interface, and what lies over the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.model.errors import UserError
from app.model.overlays import OVERLAYS
from app.scene.shown_overlays import neighbour

if TYPE_CHECKING:
    from app.window.application import Application

NO_OVERLAY = "none"
INTERFACE_SIZES: tuple[float, ...] = (0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5)


def step_overlay(application: Application, steps: int) -> None:
    """Show the next overlay that is not empty; -1: the previous one."""
    shown = application.documents.scene.view.overlay
    name = neighbour(shown, steps, application.documents.scenes, application.snapshot)
    show_overlay(application, name)


def toggle_overlay(application: Application) -> None:
    """Hide the overlay, or show the last one again."""
    shown = application.documents.scene.view.overlay
    if shown != NO_OVERLAY:
        application.last_overlay = shown
    elif application.last_overlay == NO_OVERLAY:
        raise UserError("there is no overlay; Next overlay shows one")
    show_overlay(application, application.last_overlay if shown == NO_OVERLAY else NO_OVERLAY)


def show_overlay(application: Application, name: str) -> None:
    """Drape a map over the ground."""
    application.editing.change("view.overlay", name)
    application.notices.say(f"overlay: {OVERLAYS[name].label}")


def step_interface_size(application: Application, steps: int) -> None:
    index = INTERFACE_SIZES.index(application.interface_size) + steps
    application.interface_size = INTERFACE_SIZES[min(max(index, 0), len(INTERFACE_SIZES) - 1)]


def toggle_minimap(application: Application) -> None:
    application.editing.change("view.minimap", not application.documents.scene.view.minimap)


def toggle_timeline(application: Application) -> None:
    application.panel.timeline_visible = not application.panel.timeline_visible


def toggle_panel(application: Application) -> None:
    application.panel.visible = not application.panel.visible


def reload_shaders(application: Application) -> None:
    error = application.sides.reload_shaders()
    if error:
        raise UserError(error)
    application.notices.say("shaders reloaded")


def close(application: Application) -> None:
    """Close the topmost thing over the scene."""
    if application.panel.close_topmost() or application.notices.dismiss_all():
        return
    if application.sessions.listed:
        application.sessions.close_list()
        return
    if application.camera.flying:
        application.camera.toggle_fly()
    elif application.brushing.is_active:
        application.brushing.choose("")
    elif application.ruler.is_on:
        application.ruler.forget()
    elif application.watching.asked_place is not None:
        application.watching.ask_about(None)
    elif application.host.full_screen:
        application.host.toggle_full_screen()

"""Compare worlds side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.model.errors import UserError
from app.scene.comparison import NAMES
from app.window.commands.attempt import attempted

if TYPE_CHECKING:
    from app.window.application import Application


def compare(application: Application) -> None:
    """Start a comparison with a copy of the land, or end it."""
    if application.documents.comparing:
        (chosen, *_) = application.documents.edited_worlds
        application.documents.keep_only((chosen,))
        application.notices.say(f"{NAMES[chosen]} continues alone")
    else:
        add_world(application)


@attempted
def add_world(application: Application) -> None:
    """Compare the world that the panel shows with a copy of it."""
    _add_world(application)


def _add_world(application: Application) -> None:
    application.layout.divider = 0.5
    application.documents.add_world()


def compare_from_start(application: Application) -> None:
    """Compare two worlds, both from cycle 0."""
    application.layout.divider = 0.5
    application.documents.compare_from_start()
    application.notices.say("A and B restart from the same land; the panel changes B")


def remove_world(application: Application) -> None:
    """Remove the edited world from the comparison."""
    documents = application.documents
    removed = documents.edited_worlds[0]
    documents.keep_only(tuple(world for world in range(len(documents.scenes)) if world != removed))


@attempted
def link_cameras(application: Application) -> None:
    """Link the cameras of all worlds, or unlink them."""
    if not application.documents.comparing:
        raise UserError("there is one world alone; with several, each can have its own camera")
    application.views.link(not application.cameras.linked)


@attempted
def take_from(application: Application, source: str) -> None:
    """Apply climate and processes of a preset to the edited worlds."""
    from app.files.opening import open_compared

    application.editing.take_from(open_compared(source))


@attempted
def compare_with(application: Application, source: str) -> None:
    """Add a copy of the shown world with climate and processes of a preset."""
    from app.files.opening import open_compared

    other = open_compared(source)
    _add_world(application)
    application.editing.take_from(other)

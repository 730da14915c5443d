"""Open, save, export and record."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.engine.messages import Save
from app.files.atomic import free_path
from app.model.errors import UserError
from app.window.commands.attempt import attempted
from app.window.part_choice import Asked

if TYPE_CHECKING:
    from app.window.application import Application

SAVED = (".npz", ".toml")  # suffixes of files that can be saved
JOURNAL = ".journal.toml"


@attempted
def open(application: Application, source: Path | str) -> None:
    """Open a preset, a generator, a file or a folder of tiles."""
    from app.files.opening import is_file, is_model, open_scene

    if is_model(str(source)):
        application.part_choice.begin(Asked(Path(source)))
        return
    application.open(open_scene(str(source)))
    if is_file(str(source)):
        application.library.note(Path(source))


def target(path: Path) -> Path:
    """The path that `save` writes: a name without suffix becomes a world. Raises `UserError` for other suffixes."""
    suffix = path.suffix.lower()
    if suffix not in SAVED:
        if any(letter.isalpha() for letter in suffix):
            raise UserError(f"{path.name}: a world is saved as .npz, its parameters as .toml, its journal as {JOURNAL}")
        if not path.name:
            raise UserError(f"{path}: a file needs a name")
        path = path.with_name(path.name + SAVED[0])
    return path


def save(application: Application, path: Path) -> None:
    """Write the parameters if the name ends in .toml, otherwise the world with them.

    A name that ends in .journal.toml gets the journal, which `thalweg replay` repeats.
    """
    try:
        path = target(path)
        if path.suffix.lower() == ".toml" and not path.name.lower().endswith(JOURNAL):
            _save_preset(application, path)
        else:
            seen, world = application.seen_scene, application.documents.edited_worlds[0]
            application.simulation.ask(Save(path, world, seen))
            application.waiting_saves.add(path)
    except UserError as error:
        save_failed(application, path, str(error))


def save_preset(application: Application) -> None:
    """Ask for the name of a preset in the user's own folder."""
    folder = application.library.own_folder
    if folder is None:
        raise UserError("there is no folder for presets of one's own here; Ctrl+S saves one elsewhere")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {error.strerror}") from error
    application.panel.ask_for_preset_to_save(folder)


def saved(application: Application, path: Path) -> None:
    """Report a saved file, and keep the current picture for its card in the gallery."""
    application.waiting_saves.discard(path)
    application.notices.say(f"saved {path}")
    if path.name.lower().endswith(JOURNAL):
        return
    application.library.note(path)
    pixels = seen_pixels(application)
    if pixels is not None:
        application.stock.keep_picture(path, pixels)


def seen_pixels(application: Application) -> NDArray[np.uint8] | None:
    """The part of the scene that no panel covers, `[row, column, channel]`; None before the first picture."""
    pixels = application.sides.pixels()
    if pixels is None:
        return None
    left, right = (round(part * pixels.shape[1]) for part in application.layout.free)
    return pixels[:, left:right] if right > left else pixels


def session_written(application: Application, picture: Path) -> None:
    """A backup was written: add the current picture for the list of sessions."""
    pixels = seen_pixels(application)
    if pixels is not None:
        application.stock.write_picture(picture, pixels.copy())


def save_failed(application: Application, path: Path, why: str) -> None:
    """Report the failure and ask again where to save."""
    application.waiting_saves.discard(path)
    application.notices.complain(why)
    application.panel.ask_again_for_file_to_save(path, why)


def _save_preset(application: Application, path: Path) -> None:
    from app.files.atomic import write_atomically
    from app.files.paths import named_from
    from app.scene.scene import preset_to_toml

    scene = named_from(msgspec.structs.replace(application.seen_scene, saved_world=""), path.parent)
    with write_atomically(path) as file:
        file.write(preset_to_toml(scene).encode())
    saved(application, path)


def export_dialog(application: Application) -> None:
    """Open or close the export dialog. A running export continues."""
    exporting = application.exporting
    if exporting.is_open:
        exporting.close()
    else:
        exporting.open(_picture_folder())


def screenshot(application: Application) -> None:
    pixels = application.picture()
    if pixels is None:
        raise UserError("there is no picture yet")
    path = free_path(_picture_folder(), _picture_name(application), ".png")
    # Compressing is slow and must not block the window.
    threading.Thread(target=_write_screenshot, args=(application, path, pixels.copy()), name="screenshot").start()


def _picture_name(application: Application) -> str:
    """The file name of pictures, without number and suffix."""
    snapshot = application.snapshot
    return f"thalweg-{application.documents.name}-{snapshot.cycle if snapshot else 0:06d}"


def record(application: Application, *, with_panel: bool) -> None:
    """Start a recording of the scene or of the whole window, or stop the running one."""
    recording = application.recording
    if recording.current is not None:
        recording.stop()
    else:
        window_size = application.pixel_size if with_panel else None
        recording.begin(_picture_folder(), _picture_name(application), window_size=window_size)


@attempted
def _write_screenshot(application: Application, path: Path, pixels: NDArray[np.uint8]) -> None:
    from app.files.recorder import write_png

    write_png(path, pixels)
    application.notices.say(f"saved {path}")


def _picture_folder() -> Path:
    """The working folder, or the user's folder of pictures if it is not writable."""
    from app.files.atomic import working_folder

    here = working_folder()
    if os.access(here, os.W_OK) and here != Path(here.anchor):
        return here
    import platformdirs

    pictures = platformdirs.user_pictures_path()
    pictures.mkdir(parents=True, exist_ok=True)
    return pictures

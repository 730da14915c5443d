"""Versions: named states of the land with pictures, saved with the session."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.engine.messages import Save, Saved, SaveFailed
from app.files.atomic import free_path, write_atomically
from app.model.errors import UserError, explained
from app.window.documents import Documents
from app.window.gallery import CardStock
from app.window.notices import Notices
from app.window.views import Views

if TYPE_CHECKING:
    from app.engine.thread import SimulationThread
    from app.scene.scene import Scene

FOLDER, INDEX = "versions", "versions.json"  # in the folder of a session
LONGEST_NAME = 60


class Version(msgspec.Struct, frozen=True):
    """A saved state: its name, and the file of its world, in the folder of the list."""

    name: str
    file: str
    land: str  # name of the land
    cycle: int
    columns: int
    rows: int


class Versions:
    """The versions of a session, the newest last. Their list is a file beside them, so it survives a kill."""

    def __init__(
        self,
        simulation: SimulationThread,
        documents: Documents,
        views: Views,
        stock: CardStock,
        notices: Notices,
        open_scenes: Callable[[Sequence[Scene]], None],
    ) -> None:
        """Without a folder of the session, versions are lost when the program ends."""
        self.is_open = False  # whether the list is shown
        self.entries: list[Version] = []
        self.chosen: list[str] = []  # files of versions to compare side by side: at most two
        self._simulation = simulation
        self._documents = documents
        self._views = views
        self._stock = stock
        self._notices = notices
        self._open_scenes = open_scenes
        self._session = simulation.session_path
        self._awaited: dict[Path, Version] = {}

    @property
    def folder(self) -> Path:
        """The folder of the versions. Raises `UserError` if it cannot be made."""
        if self._session is None:
            from app.files.scratch import scratch_folder

            self._session = scratch_folder()
        folder = self._session / FOLDER
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"versions cannot be kept: {explained(error)}") from error
        return folder

    def toggle(self) -> None:
        self.is_open = not self.is_open

    @property
    def free_name(self) -> str:
        """The default name of the next version."""
        taken = {version.name for version in self.entries}
        return next(name for number in range(1, len(taken) + 2) if (name := f"version {number}") not in taken)

    def save(self, name: str) -> None:
        """Save the current land as a version. Raises `UserError` if there is none."""
        documents, snapshot = self._documents, self._views.snapshot
        if snapshot is None:
            raise UserError("there is no land yet that could be kept")
        name = " ".join(name.split())[:LONGEST_NAME] or self.free_name
        path = free_path(self.folder, f"{len(self.entries) + len(self._awaited) + 1:03d}", ".npz")
        rows, columns = snapshot.shape
        self._awaited[path] = Version(name, path.name, documents.name, snapshot.cycle, columns, rows)
        self._simulation.ask(Save(path, documents.edited_worlds[0], self._views.seen_scene))

    def awaits(self, path: Path) -> bool:
        return path in self._awaited

    def hear(self, report: Saved | SaveFailed, pixels: NDArray[np.uint8] | None) -> None:
        """A version was saved, or could not be. `pixels` are the current picture."""
        version = self._awaited.pop(report.path)
        if isinstance(report, SaveFailed):
            self._notices.complain(f"{version.name} cannot be kept: {report.why}")
            return
        self.entries.append(version)
        self._write()
        if pixels is not None:
            self._stock.write_picture(self.picture(version), pixels.copy())
        self._notices.say(f"kept as {version.name}")

    def picture(self, version: Version) -> Path:
        """The path of its picture, which may not exist."""
        return (self.folder / version.file).with_suffix(".webp")

    def go_to(self, version: Version) -> None:
        """Continue with the land of a version. This can be undone."""
        self._open_scenes([self._scene(version)])

    def choose(self, version: Version) -> None:
        """Select or deselect a version for the comparison. A third one replaces the first."""
        if version.file in self.chosen:
            self.chosen.remove(version.file)
        else:
            self.chosen = [*self.chosen[-1:], version.file]

    def side_by_side(self) -> None:
        """Compare the two selected versions, which run in lockstep. Raises `UserError` if that is not possible."""
        pair = [version for version in self.entries if version.file in self.chosen]
        if len(pair) != 2:
            raise UserError("choose two versions to see side by side")
        if len({(version.rows, version.columns) for version in pair}) > 1:
            raise UserError("versions of different cells cannot be compared")
        self._open_scenes([self._scene(version) for version in pair])

    def remove(self, version: Version) -> None:
        """Delete a version."""
        self.entries.remove(version)
        self.chosen = [file for file in self.chosen if file != version.file]
        self._write()
        with contextlib.suppress(OSError):
            self.picture(version).unlink(missing_ok=True)
            (self.folder / version.file).unlink(missing_ok=True)

    def take_over(self, session: Path) -> None:
        """Add the versions of an earlier session that is resumed."""
        for version in read_versions(session / FOLDER):
            path = free_path(self.folder, version.file.removesuffix(".npz"), ".npz")
            try:
                shutil.copy(session / FOLDER / version.file, path)
                picture = (session / FOLDER / version.file).with_suffix(".webp")
                if picture.exists():
                    shutil.copy(picture, path.with_suffix(".webp"))
            except OSError as error:
                self._notices.complain(f"{version.name} was not taken over: {explained(error)}")
                continue
            self.entries.append(msgspec.structs.replace(version, file=path.name))
        self._write()

    def _scene(self, version: Version) -> Scene:
        from app.files.checkpoint import load_scene

        return msgspec.structs.replace(load_scene(self.folder / version.file), name=version.name)

    def _write(self) -> None:
        try:
            with write_atomically(self.folder / INDEX) as file:
                file.write(msgspec.json.encode(self.entries))
        except OSError as error:
            raise UserError(f"the list of versions cannot be written: {explained(error)}") from error


def read_versions(folder: Path) -> list[Version]:
    """The versions in a folder whose files exist; none if the list is missing or invalid."""
    try:
        found = msgspec.json.decode((folder / INDEX).read_bytes(), type=list[Version])
    except (OSError, ValueError):
        return []
    return [
        version for version in found if Path(version.file).name == version.file and (folder / version.file).exists()
    ]

"""Where an analysis in tiles keeps what is done, so that one that was stopped goes on from there.

A file is written beside its place and renamed. What a step told is kept under a key of all that it was told: a step
that was told the same is done.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from app.cli.analysis_maps import MAPS
from app.export.tiled_geotiff import Piece, Pyramid, encoded_tile, nothing_of, write_parts
from app.tiles.gaps import COARSE
from app.tiles.steps import Arrays
from app.tiles.tiling import Tiling

PARTIAL = ".part"


@dataclass(frozen=True)
class FolderStore:
    """Arrays and encoded maps of tiles as files of one folder."""

    folder: Path
    tiling: Tiling

    def save(self, name: str, tile: int, array: NDArray[Any]) -> None:
        """Keep an array."""
        write_beside(self.folder / f"{name}-{tile}.npy", lambda file: np.save(file, array, allow_pickle=False))

    def load(self, name: str, tile: int) -> NDArray[Any]:
        """An array that was kept."""
        array: NDArray[Any] = np.load(self.folder / f"{name}-{tile}.npy", allow_pickle=False)
        return array

    def coarse(self) -> NDArray[np.float64]:
        """What gaps are filled from: read where it is used."""
        array: NDArray[np.float64] = np.load(self.folder / COARSE, mmap_mode="r", allow_pickle=False)
        return array

    def write(self, name: str, tile: int, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        """Encode a tile of a map."""
        if missing is not None:
            values = np.where(missing, values.dtype.type(nothing_of(values.dtype)), values)
        parts = encoded_tile(values, self.pyramid, MAPS[name].way, missing is not None)
        write_beside(self.piece(name, tile), lambda file: write_parts(file, parts))

    @property
    def pyramid(self) -> Pyramid:
        """How the maps are cut."""
        return Pyramid(self.tiling.rows, self.tiling.columns, self.tiling.side)

    def piece(self, name: str, tile: int) -> Path:
        """The file of an encoded tile."""
        return self.folder / f"{name}-{tile}.map"

    def pieces(self, name: str) -> list[Piece]:
        """All encoded tiles of a map."""
        windows = map(self.tiling.window, range(len(self.tiling)))
        return [Piece(window.row, window.column, self.piece(name, tile)) for tile, window in enumerate(windows)]

    def told(self, step: str, tile: int, key: str) -> Arrays | None:
        """What a step told, if it is done."""
        try:
            with np.load(self._answer(step, tile, key)) as kept:
                return dict(kept.items())
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # it is not there, or damaged

    def keep(self, step: str, tile: int, key: str, told: Arrays) -> None:
        """Keep what a step told: it is done."""
        write_beside(self._answer(step, tile, key), lambda file: np.savez(file, allow_pickle=False, **told))

    def _answer(self, step: str, tile: int, key: str) -> Path:
        return self.folder / f"{step}-{tile}-{key}.npz"


def write_beside(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under another name and rename it. Raises `OSError`, and leaves nothing then."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        with part.open("wb") as file:
            write(file)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def key_of(step: str, told: Arrays) -> str:
    """A key of all that a step is told."""
    digest = hashlib.blake2b(step.encode(), digest_size=12)
    for name in sorted(told):
        array = np.ascontiguousarray(told[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()

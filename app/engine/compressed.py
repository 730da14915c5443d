"""Compressed arrays and objects: shared where they did not change, and moved to disk beyond some memory."""

from __future__ import annotations

import logging
import os
import pickle
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.files.scratch import scratch_folder
from app.model.world import World
from kernels.blocks import threads

# Of the coders of Blosc, measured on a world of everything with 512² cells, 30.4 MB, after 160 cycles: LZ4 makes
# 24.1 MB of it in 23 ms, Zstandard 22.9 MB in 85 ms; of the difference to 60 cycles before, 22.6 and 20.7 MB. So what
# has not changed is shared with the state before, and what has is kept whole: no state needs another one to be read.
CODER, LEVEL, SHUFFLE = "lz4", 1, "shuffle"

# Bytes of the layers of one state. Large worlds are backed up rarely, and a rollback waits for its replay and not for
# the disk: so their backups need no memory.
LARGEST_IN_MEMORY = 2**25

log = logging.getLogger(__name__)


class Compressed:
    """An array, compressed by as many threads as kernels have, in memory or at a place in a file."""

    __slots__ = ("__weakref__", "_data", "_dtype", "_place", "_shape", "length")

    def __init__(self, array: NDArray[Any]) -> None:
        from imagecodecs import blosc_encode

        coded = blosc_encode(
            np.ascontiguousarray(array).reshape(-1).view(np.uint8),  # type: ignore[arg-type]
            level=LEVEL,
            compressor=CODER,
            shuffle=SHUFFLE,
            typesize=array.dtype.itemsize,
            numthreads=threads(),
        )
        self.length = len(coded)
        self._data: bytes | None = bytes(coded)
        self._dtype, self._shape = array.dtype, array.shape
        self._place: tuple[SpillFile, int] | None = None

    @classmethod
    def pickled(cls, value: object) -> Compressed:
        """Compress any object; `unpickled` restores it."""
        return cls(np.frombuffer(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), np.uint8))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def in_memory(self) -> bool:
        return self._data is not None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Decompress when NumPy copies from it: one array at a time, so that few are in memory uncompressed."""
        return np.array(self.array(), dtype, copy=copy)

    def array(self) -> NDArray[Any]:
        from imagecodecs import blosc_decode

        data = self._data  # another thread may be moving it into a file
        if data is None:
            assert self._place is not None
            file, offset = self._place
            data = file.read(offset, self.length)
        return np.frombuffer(blosc_decode(data, numthreads=threads()), self._dtype).reshape(self._shape)

    def unpickled(self) -> Any:
        return pickle.loads(self.array().data)


class SpillFile:
    """A file of compressed arrays. It is removed when none of them is needed any more.

    It is open only while it is written or read: there may be thousands.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        weakref.finalize(self, path.unlink, missing_ok=True)

    def read(self, offset: int, length: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(offset)
            data = file.read(length)
        if len(data) != length:
            raise OSError(f"{self._path}: a stored state has been damaged")
        return data


def spill(arrays: Sequence[Compressed]) -> None:
    """Move arrays from memory into a file of their own. Raises `OSError` if it cannot be written."""
    handle, name = tempfile.mkstemp(".states", dir=scratch_folder())
    path, offset = Path(name), 0
    places: list[tuple[Compressed, int]] = []
    try:
        with os.fdopen(handle, "wb") as file:
            for array in arrays:
                if (data := array._data) is not None:  # another thread may be moving it, too
                    file.write(data)
                    places.append((array, offset))
                    offset += array.length
    except OSError:
        path.unlink(missing_ok=True)
        raise
    spilled = SpillFile(path)
    for array, offset in places:
        array._place = spilled, offset
        array._data = None


class CompressedLayers(NamedTuple):
    """The layers of a world at some moment, with their versions."""

    layers: Mapping[str, Compressed]
    versions: Mapping[str, int]

    @classmethod
    def of(cls, world: World, *before: CompressedLayers) -> CompressedLayers:
        """The layers of a world's state. Layers of the same version are shared with those `before`.

        As soon as they exceed `LARGEST_IN_MEMORY`, all are moved to disk.
        """
        own = world.layers_of_state()
        versions = {name: world.version_of(name) for name in own}
        layers: dict[str, Compressed] = {}
        in_memory: list[Compressed] = []
        is_large = False
        for name, layer in own.items():
            alike = (other.layers[name] for other in before if other.versions.get(name) == versions[name])
            layers[name] = next(alike, None) or Compressed(layer)
            if layers[name].in_memory:
                in_memory.append(layers[name])
            if sum(each.length for each in in_memory) > LARGEST_IN_MEMORY:
                is_large = _spilled(in_memory)
                in_memory = []
        if is_large and in_memory:
            _spilled(in_memory)
        return cls(layers, versions)

    def take_along(self, others: Sequence[Compressed]) -> None:
        """Move others to disk, too, if all layers are there."""
        if not any(layer.in_memory for layer in self.layers.values()):
            _spilled(others)


def _spilled(arrays: Sequence[Compressed]) -> bool:
    """Move arrays to disk, and return whether that worked. Otherwise they stay in memory."""
    try:
        spill(arrays)
    except OSError as error:
        log.warning("a backup stays in memory, as it cannot be written: %s", error)
        return False
    return True

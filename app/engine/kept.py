"""States of worlds that are kept to come back to: compressed, and beyond some memory on disk."""

from __future__ import annotations

import logging
import os
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.simulator import Simulator, SnowballRun
from app.files.scratch import scratch_folder
from app.model.georeference import Origin
from app.model.layers import LOOSE, layer_declaration
from app.model.materials import Materials
from app.model.plants import Flora
from app.model.world import World
from app.scene.scene import Scene

log = logging.getLogger(__name__)

# Of the coders of Blosc, measured on a world of everything with 512² cells, 30.4 MB, after 160 cycles: LZ4 makes
# 24.1 MB of it in 23 ms, Zstandard 22.9 MB in 85 ms; of the difference to 60 cycles before, 22.6 and 20.7 MB. So what
# has not changed is shared with the state before, and what has is kept whole: no state needs another one to be read.
CODER, LEVEL, SHUFFLE = "lz4", 1, "shuffle"

STANDING, LEVELS = "standing", "level over ground"  # beside the layers: what is derived, and yet not from them alone


class Compressed:
    """An array, compressed, in memory or at a place in a file."""

    __slots__ = ("__weakref__", "_data", "_dtype", "_place", "_shape", "length")

    def __init__(self, array: NDArray[Any]) -> None:
        from imagecodecs import blosc_encode

        coded = blosc_encode(
            np.ascontiguousarray(array).tobytes(),
            level=LEVEL,
            compressor=CODER,
            shuffle=SHUFFLE,
            typesize=array.dtype.itemsize,
            numthreads=1,
        )
        self.length = len(coded)
        self._data: bytes | None = bytes(coded)
        self._dtype, self._shape = array.dtype, array.shape
        self._place: tuple[SpillFile, int] | None = None

    @property
    def in_memory(self) -> bool:
        return self._data is not None

    def array(self) -> NDArray[Any]:
        from imagecodecs import blosc_decode

        data = self._data  # which another thread may put into a file just now
        if data is None:
            assert self._place is not None
            file, offset = self._place
            data = file.read(offset, self.length)
        return np.frombuffer(blosc_decode(data, numthreads=1), self._dtype).reshape(self._shape)


class SpillFile:
    """A file of compressed arrays, which is removed when none of them is needed any more.

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
            raise OSError(f"{self._path}: a kept state has been damaged")
        return data


def spill(arrays: Sequence[Compressed]) -> None:
    """Put arrays into a file of their own, and out of memory. Raises `OSError` where not all of it can be written."""
    handle, name = tempfile.mkstemp(".states", dir=scratch_folder())
    path, offset = Path(name), 0
    places: list[tuple[Compressed, int]] = []
    try:
        with os.fdopen(handle, "wb") as file:
            for array in arrays:
                if array._data is not None:
                    file.write(array._data)
                    places.append((array, offset))
                    offset += array.length
    except OSError:
        path.unlink(missing_ok=True)
        raise
    spilled = SpillFile(path)
    for array, offset in places:
        array._place = spilled, offset
        array._data = None


@dataclass(frozen=True)
class KeptWorld:
    """All of a simulator's state, from which another one goes on as this one would have."""

    scene: Scene
    cell_size: float
    reference_cell_size: float
    seed: int
    materials: Materials | None
    flora: Flora
    origin: Origin | None
    given: Mapping[str, NDArray[Any]]  # layers that never change
    layers: Mapping[str, Compressed]
    rest: Mapping[str, Any]  # of `World.state`, without the layers
    levels: tuple[float, int, bool]  # the sea's, the version of the water's, and whether the edges keep all water
    run: SnowballRun | None
    allowed_imbalance: float
    prepared: frozenset[str]  # builds
    versions: Mapping[str, int] = field(default_factory=dict)  # of the layers

    @classmethod
    def of(cls, simulator: Simulator, before: KeptWorld | None = None) -> KeptWorld:
        """What a simulator's world is now. Layers that have not changed since `before` are shared with it."""
        world = simulator.world
        own = {name: layer for name, layer in world.layers.items() if not layer_declaration(name).given}
        if world.materials is not None:
            del own["sediment"]  # the sum of the mix
        versions = {name: world.changed["sediment" if name.startswith(LOOSE) else name] for name in own}
        layers = {}
        for name, layer in own.items():
            is_same = before is not None and before.versions.get(name) == versions[name]
            layers[name] = before.layers[name] if before is not None and is_same else Compressed(layer)
        layers[STANDING] = Compressed(world.standing)
        # As bits, so that nothing is lost: most of them are those of the ground.
        layers[LEVELS] = Compressed(world.water_level.view(np.uint64) ^ world.ground.view(np.uint64))
        return cls(
            scene=simulator.scene,
            cell_size=world.cell_size,
            reference_cell_size=world.reference_cell_size,
            seed=world.seed,
            materials=world.materials,
            flora=world.flora,
            origin=world.origin,
            given={name: layer for name, layer in world.layers.items() if layer_declaration(name).given},
            layers=layers,
            rest=world.rest_of_state(),
            levels=(world.sea_level, world.water_version, world.walls),
            run=simulator.run,
            allowed_imbalance=simulator.allowed_imbalance,
            prepared=frozenset(simulator.prepared),
            versions=versions,
        )

    def simulator(self, threads: int | None = None) -> Simulator:
        """A simulator in this state."""
        layers = {name: kept.array() for name, kept in self.layers.items()}
        standing, levels = layers.pop(STANDING), layers.pop(LEVELS)
        state = {"layers": layers, **self.rest}
        world = World.from_state(state, self.given, self.materials, self.cell_size, self.seed, self.reference_cell_size)
        world.flora, world.origin = self.flora, self.origin
        world.standing = standing.copy()
        world.water_level = (levels ^ world.ground.view(np.uint64)).view(np.float64)
        world.sea_level, world.water_version, world.walls = self.levels
        simulator = Simulator(self.scene, world, threads)
        simulator.run, simulator.allowed_imbalance = self.run, self.allowed_imbalance
        simulator.prepared = set(self.prepared)
        return simulator

    @property
    def bytes_in_memory(self) -> int:
        return sum(kept.length for kept in self.layers.values() if kept.in_memory)

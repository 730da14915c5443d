"""Kept states of worlds: compressed, and on disk beyond some memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.compressed import Compressed, CompressedLayers
from app.engine.cycles import SnowballRun
from app.engine.simulator import Simulator
from app.model.georeference import Origin
from app.model.layers import layer_declaration
from app.model.materials import Materials
from app.model.plants import Flora
from app.model.world import World
from app.scene.scene import Scene

STANDING, LEVELS = "standing", "level over ground"  # derived values that do not follow from the layers alone


@dataclass(frozen=True, slots=True)
class StoredWorld:
    """The complete state of a simulator, from which another continues with the same bits."""

    scene: Scene
    cell_size: float
    reference_cell_size: float
    seed: int
    materials: Materials | None
    flora: Flora
    origin: Origin | None
    given: Mapping[str, NDArray[Any]]  # layers that never change
    layers: Mapping[str, Compressed]
    rest: Compressed  # pickled, of `World.state` all but the layers
    levels: tuple[float, int, bool]  # of the sea; version of the water; whether the edges keep all water
    snowball_run: SnowballRun | None
    allowed_imbalance: float
    prepared: frozenset[str]  # builds
    versions: Mapping[str, int] = field(default_factory=dict)  # of the layers

    @classmethod
    def of(cls, simulator: Simulator, before: StoredWorld | None = None) -> StoredWorld:
        """The current state of a simulator's sound world. It becomes the backup, too: both share all layers.

        Layers that have not changed since `before` are shared with it. Where they are on disk, so is all else.
        """
        world = simulator.world
        own = simulator.take_backup(*([before.layers_of_world] if before else []))
        layers = dict(own.layers)
        layers[STANDING] = Compressed(world.standing)
        # As bits, so that nothing is lost: most are those of the ground.
        layers[LEVELS] = Compressed(world.water_level.view(np.uint64) ^ world.ground.view(np.uint64))
        prepared = frozenset(simulator.prepared)
        stored = cls(
            scene=simulator.scene,
            cell_size=world.cell_size,
            reference_cell_size=world.reference_cell_size,
            seed=world.seed,
            materials=world.materials,
            flora=world.flora,
            origin=world.origin,
            given={name: layer for name, layer in world.layers.items() if layer_declaration(name).given},
            layers=layers,
            rest=Compressed.pickled(world.rest_of_state()),
            levels=(world.sea_level, world.water_version, world.walls),
            snowball_run=simulator.snowball_run,
            allowed_imbalance=simulator.allowed_imbalance,
            prepared=before.prepared if before and before.prepared == prepared else prepared,
            versions=own.versions,
        )
        own.take_along(stored.parts)
        return stored

    def simulator(self, threads: int | None = None) -> Simulator:
        """A simulator in this state."""
        layers = {name: kept.array() for name, kept in self.layers.items()}
        standing, levels = layers.pop(STANDING), layers.pop(LEVELS)
        state = {"layers": layers, **self.rest.unpickled()}
        world = World.from_state(state, self.given, self.materials, self.cell_size, self.seed, self.reference_cell_size)
        world.flora, world.origin = self.flora, self.origin
        world.standing = standing.copy()
        world.water_level = (levels ^ world.ground.view(np.uint64)).view(np.float64)
        world.sea_level, world.water_version, world.walls = self.levels
        simulator = Simulator(self.scene, world, threads, self.layers_of_world)
        simulator.snowball_run, simulator.allowed_imbalance = self.snowball_run, self.allowed_imbalance
        simulator.prepared = set(self.prepared)
        return simulator

    @property
    def layers_of_world(self) -> CompressedLayers:
        """The layers of the world that are not derived."""
        return CompressedLayers({name: self.layers[name] for name in self.versions}, self.versions)

    @property
    def parts(self) -> Sequence[Compressed]:
        """All parts that can be moved to disk. Some kilobytes remain, whatever the size of the world."""
        return (*self.layers.values(), self.rest)

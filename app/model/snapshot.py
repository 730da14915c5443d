"""Snapshots: what the simulation publishes for the picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.model.georeference import Origin
from app.model.ledger import Ledger
from app.model.materials import Materials
from app.model.plants import TREE_COLUMNS, Flora, shipped_flora
from app.model.realism import Realism

BURDEN = "burden"
RAISING = ("bedrock", "sediment", BURDEN)  # layers whose sum is the ground of a snapshot


@dataclass(frozen=True)
class Lake:
    """A filled depression. Lengths in metres; catchment and discharge are those of its outlet."""

    row: int  # of the outlet
    column: int
    level: float
    depth: float
    area: float
    volume: float
    catchment: float
    discharge: float  # cubic metres for each second


@dataclass(frozen=True)
class Mouth:
    """A river mouth. Areas in square metres, discharge in cubic metres per second."""

    row: int
    column: int
    catchment: float
    discharge: float


@dataclass(frozen=True)
class Fall:
    """A fall of a river, by the cells of its lip and of its foot."""

    row: int
    column: int
    foot: tuple[int, int]  # row, column
    height: float  # metres
    discharge: float  # cubic metres per second


@dataclass(frozen=True)
class ChannelFigures:
    """Figures of river channels, see `app.engine.channels`."""

    cells: float  # number of channel centre cells
    width: float  # median, in cells
    relative_width: float  # median width at a flow of 1
    migration: float  # cells in 1000 cycles; NaN without channels or with a single measurement
    bank_wear: float  # metres by which banks rose or sank in 1000 cycles; NaN as above


@dataclass(frozen=True)
class FlowPath:
    """The flow path from a place to the ocean, and the catchment of the place.

    For a place beside a river, it is that of the river.
    """

    asked: tuple[int, int]
    row: int
    column: int
    catchment: float  # square metres
    length: float  # metres, as all following lengths
    drop: float
    places: NDArray[np.intp]  # [cell, (row, column)]: the path
    distances: NDArray[np.float32]  # [cell]: along the path
    ground: NDArray[np.float32]
    water: NDArray[np.float32]  # the ground with its depressions filled
    discharge: NDArray[np.float64]  # [cell]: cubic metres per second


# What water a survey found, beside that of the world itself: the levels of lakes in metres, minus infinity where there
# is none; what runs through each cell in cubic metres a second; and 1 + the number of the neighbour that it runs to, or
# 0 if it ends; below 0 if it runs beside other threads of a river that parts, −9 where it ends there.
SURVEYED_LEVEL, SURVEYED_FLOW, SURVEYED_WAY = "surveyed_level", "surveyed_flow", "surveyed_way"


@dataclass(frozen=True)
class Survey:
    """The drainage of the land at some cycle.

    `layers` are float32 [row, column] and never change: `filled`, the height of the ground with its depressions filled
    or of the sea, and `lake_depth` in metres, `flow_directions` as 1 + the number of the neighbour, 0 in the sea,
    `accumulation`, the contributing area, in square kilometres, `distance` to the ocean in kilometres, `watersheds` as
    numbers of colours, and `rivers` as 16 × Strahler order + the number of the neighbour that the river flows to;
    `fragments`, in the same form, what rivers there are without filling. Of a flow path: `catchment`, 1 inside, and
    `flow_path`, in the form of rivers. `filling` is 0 where the fronts have not come yet, 1 where they have left its
    final level, and up to 2 where it is to sink by most. `versions` distinguish the layers of all surveys.

    The lakes that it found are drawn as those of the world are: `SURVEYED_LEVEL`. Streams are what it found of them:
    `SURVEYED_FLOW` and `SURVEYED_WAY`.
    """

    cycle: int
    layers: dict[str, NDArray[np.float32]]
    versions: dict[str, int]
    highest_order: int = 1
    lakes: tuple[Lake, ...] = ()  # the largest first, up to the length of the list
    lake_count: int = 0
    lake_volume: float = 0.0  # of all lakes
    mouths: tuple[Mouth, ...] = ()
    mouth_count: int = 0
    falls: tuple[Fall, ...] = ()  # the highest first, up to the length of the list
    fall_count: int = 0
    watershed_count: int = 0
    flow_path: FlowPath | None = None
    channels: ChannelFigures | None = None
    realism: Realism | None = None
    fronts: int = 0  # rounds of the filling so far
    filled: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The world after one cycle: float32 layers that stay unchanged until the next snapshot is taken.

    `layers` has those of the world, and `water_level`: the surface of lake or sea, or the ground where it is dry. Here
    `water` is the depth of the sea too. A trace that no process has left is absent. Those of the survey are present
    while one is wanted; the lakes that it found stand in `water` and `water_level`.

    `burden` is what raises the ground beside rock and sediment, where anything does.
    Where there are several materials, `loose_kinds` are those on top, as `kernels.materials.commonest_kinds` has them.
    `trees` are as `World.trees` has them, and never change.

    `versions` holds what `version` was when each layer was changed last, so that none is copied or uploaded again as it
    was; `version` grows with each cycle and with all that is changed by hand.
    `world` identifies the world: it changes with each restart.
    """

    world: int
    layers: dict[str, NDArray[np.float32]]
    versions: dict[str, int]
    cell_size: float
    seed: int
    cycle: int
    lowest: float
    highest: float
    sea_level: float  # minus infinity without a sea
    ledger: Ledger
    imbalance: float
    survey: Survey | None = None
    snowballs: int = 0  # fallen so far
    years: float = 0.0  # of geological time
    materials: Materials | None = None  # if there are several
    trees: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, len(TREE_COLUMNS)), np.float32))
    trees_version: int = 0
    version: int = 0
    flora: Flora = field(default_factory=shipped_flora)
    reference_cell_size: float | None = None  # see `World.reference_cell_size`; None: the cell size
    origin: Origin | None = None  # of the source model, if it has one
    edge_beds: NDArray[np.float32] | None = None  # see `World.edge_beds`
    of_world: frozenset[str] = frozenset()  # names of all layers of the world, including those not here

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.layers["bedrock"].shape
        return rows, columns

    def ground(self, cells: Any = np.s_[:, :], dtype: type[np.floating[Any]] = np.float32) -> NDArray[Any]:
        """The height of the ground, of all cells or of an index."""
        ground: NDArray[Any] = self.layers["bedrock"][cells].astype(dtype)
        for name in RAISING[1:]:
            if name in self.layers:
                ground += self.layers[name][cells]
        return ground

    @property
    def ground_version(self) -> int:
        """The version of the last change of the ground."""
        return max(self.versions[name] for name in RAISING if name in self.versions)


FEWEST_LIT, LEAST_LIT = 6, 4e-3  # cells, and of the map: for a smaller catchment the land is not darkened


def lit_flow_path(snapshot: Snapshot) -> FlowPath | None:
    """The flow path whose catchment is lit in the picture; None if there is none, or it is next to nothing."""
    flow_path = snapshot.survey.flow_path if snapshot.survey else None
    rows, columns = snapshot.shape
    least = max(FEWEST_LIT, LEAST_LIT * rows * columns) * snapshot.cell_size**2
    return flow_path if flow_path is not None and flow_path.catchment >= least else None

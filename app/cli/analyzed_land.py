"""A land to analyse, and the results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.export.sheet import Sheet
from app.export.vectors import Waters
from app.model.climate import ClimateParameters
from app.model.georeference import Georeference, Origin
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff

if TYPE_CHECKING:
    from kernels.falls import Falls
    from kernels.lakes import Lakes
    from kernels.rivers import Drainage
    from kernels.watersheds import Watersheds


@dataclass(frozen=True)
class AnalyzedLand:
    """The ground in metres [row, column], its origin, and settings of its world: sea, edges and rivers."""

    ground: NDArray[np.float64]
    cell_size: float
    origin: Origin | None = None
    sea_level: float = -math.inf
    open_edges: bool = True
    runoff: Runoff = field(default_factory=lambda: Runoff(ClimateParameters().precipitation, least_cells=0.0))
    rain: NDArray[np.float32] | None = None  # fraction of the precipitation that falls on each cell
    rain_rate: NDArray[np.float32] | None = None  # a factor on it
    rivers: RiverParameters | None = None  # of the world: threshold of rivers, and smallest watershed
    reference_cell_size: float | None = None  # of the world
    cycle: int = 0

    @cached_property
    def sheet(self) -> Sheet:
        """The cells of the maps: those of the source file, or its own if it had none."""
        rows, columns = self.ground.shape
        return Sheet.of_source((rows, columns), self.cell_size, self.origin)

    @property
    def place(self) -> Georeference | None:
        """The georeference of these cells, if known."""
        return self.sheet.place if self.origin and self.origin.georeference else None


@dataclass(frozen=True)
class Analysis:
    """The results for a land."""

    land: AnalyzedLand
    drainage: Drainage
    discharge: NDArray[np.float64]  # through each cell, m³/s
    runoff: float  # of the whole land, m³/s
    rule: RiverParameters  # threshold of rivers, and smallest watershed
    rivers: NDArray[np.uint8]  # Strahler orders [row, column]
    fragments: NDArray[np.uint8]  # the same without filling, see `app.engine.fragments`
    fragment_ends: int  # number of these rivers that end in a depression
    path_cost: NDArray[np.float64]  # length of the shortest path to the ocean that never rises, in metres
    lakes: Lakes
    watersheds: Watersheds

    @property
    def outlets(self) -> NDArray[np.bool_]:
        """Where water leaves the land, [row, column]."""
        from kernels.neighbours import OUTLET

        return np.equal(self.drainage.directions, OUTLET)

    @property
    def waters(self) -> Waters:
        """The input of vector files."""
        land = self.land
        return Waters(
            land.sheet,
            land.cell_size,
            self.drainage,
            self.rivers,
            self.discharge,
            self.lakes,
            self.watersheds,
            self.falls,
        )

    @cached_property
    def falls(self) -> Falls:
        """Falls of rivers, the highest first."""
        from kernels.falls import find_falls

        land, drainage = self.land, self.drainage
        surface = np.maximum(drainage.filled, land.sea_level)
        return find_falls(
            surface, drainage.directions, self.discharge, self.rivers > 0, land.cell_size, self.rule.width
        )

"""The part of a scene that sources of land read."""

from __future__ import annotations

from typing import Protocol

from app.model.climate import ClimateParameters
from app.model.edge_parameters import EdgeParameters
from app.model.field_parameters import FieldParameters
from app.model.geology_parameters import GeologyParameters
from app.sources.parameters import (
    DiamondSquareParameters,
    IslandParameters,
    NoiseParameters,
    RangeParameters,
    SandParameters,
    WorldParameters,
)


class Repose(Protocol):
    """The repose of sand; the slope is roughness × scale."""

    @property
    def roughness(self) -> float: ...
    @property
    def scale(self) -> float: ...


class LandScene(Protocol):
    """The groups of parameters that define the initial land."""

    @property
    def world(self) -> WorldParameters: ...
    @property
    def noise(self) -> NoiseParameters: ...
    @property
    def diamond_square(self) -> DiamondSquareParameters: ...
    @property
    def sand(self) -> SandParameters: ...
    @property
    def island(self) -> IslandParameters: ...
    @property
    def range(self) -> RangeParameters: ...
    @property
    def climate(self) -> ClimateParameters: ...
    @property
    def edges(self) -> EdgeParameters: ...
    @property
    def fields(self) -> FieldParameters: ...
    @property
    def geology(self) -> GeologyParameters: ...
    @property
    def cascade(self) -> Repose: ...

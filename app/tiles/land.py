"""A land that is analysed tile by tile: where its ground comes from, and what is the same for all tiles."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.engine.creation import rain_in_part, read_rain_picture
from app.engine.discharge import in_whole_parts
from app.model.climate import ClimateParameters
from app.model.errors import UserError
from app.model.georeference import Georeference
from app.model.runoff import Runoff
from app.sources.heightmap.models import Model
from app.sources.heightmap.reading import LARGEST_HEIGHT, open_model
from app.sources.part import Part
from app.tiles.own_cells import OwnCells
from app.tiles.tiling import Tiling, Window

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Source(Protocol):
    """Where the ground of tiles comes from; it is sent to the processes that work on them."""

    def read(self, window: Window) -> tuple[Numbers, Mask | None]:
        """The ground in metres, [row, column], and where there are no data, if anywhere; there it is any number."""


@dataclass(frozen=True)
class ArraySource:
    """Ground in memory."""

    ground: Numbers
    missing: Mask | None = None

    def read(self, window: Window) -> tuple[Numbers, Mask | None]:
        """See `Source`."""
        cells = np.s_[window.row : window.row + window.rows, window.column : window.column + window.columns]
        ground, missing = np.array(self.ground[cells]), None if self.missing is None else self.missing[cells]
        return ground, missing if missing is not None and missing.any() else None


@dataclass(frozen=True)
class ModelSource:
    """An elevation model in a file, or a folder of tiles, or a part of it."""

    path: Path
    row: int = 0  # of the part
    column: int = 0

    def read(self, window: Window) -> tuple[Numbers, Mask | None]:
        """See `Source`."""
        part = Part(self.row + window.row, self.column + window.column, window.rows, window.columns)
        ground, missing = model_in(self.path).part(part)
        extreme = float(max(ground.min(), ground.max(), key=abs))
        if not abs(extreme) <= LARGEST_HEIGHT:
            raise UserError(
                f"{self.path}: it has a height of {extreme:g} m; heights must lie within {LARGEST_HEIGHT:g} m"
            )
        return np.ascontiguousarray(ground), missing if missing.any() else None


def model_in(path: Path) -> Model:
    """The model in a file or a folder, opened once. Raises `UserError` if there is none."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _opened(path, changed)


@lru_cache(maxsize=1)
def _opened(path: Path, changed: int) -> Model:
    """The same; one that has `changed` is opened again, by a worker that lasts longer than a run."""
    model = open_model(path)
    if model is None:
        raise UserError(f"{path}: --tiles takes elevation models: GeoTIFF, .hgt, a Zarr store, or a folder with tiles")
    return model


@dataclass(frozen=True)
class TiledLand:
    """What all tiles are solved with."""

    source: Source
    tiling: Tiling
    cell_size: float
    sea_level: float = -math.inf
    open_edges: bool = True
    runoff: Runoff = field(default_factory=lambda: Runoff(ClimateParameters().precipitation, least_cells=0.0))
    place: Georeference | None = None
    rain_map: Path | None = None  # a picture of where it rains
    own: OwnCells | None = None  # those of the model, if others are computed in

    @cached_property
    def is_rain_even(self) -> bool:
        """Whether each cell has the water of the precipitation, no more and no less."""
        return self.runoff.by_altitude == 0.0 and self.runoff.rain == 1.0 and self.rain_map is None

    def water(self, tile: int, ground: Numbers, ocean: Mask, span: tuple[float, float]) -> Numbers:
        """The water input to each cell of a tile, as in `gathered_water`; `span` is that of all land."""
        from kernels.rain import rain_map

        with_span = np.append(ground, span)  # as the rain goes by the lowest and the highest ground
        rain = None if self.rain_map is None else np.append(self._rain(tile), np.ones(len(span), np.float32))
        water = rain_map(with_span, rain, self.runoff.by_altitude)[: -len(span)].reshape(ground.shape)
        water *= self.runoff.rain
        in_whole_parts(water, self.tiling.rows * self.tiling.columns)
        water[ocean] = 0.0
        return water

    def _rain(self, tile: int) -> NDArray[np.float32]:
        assert self.rain_map is not None
        window = self.tiling.window(tile)
        part = slice(window.row, window.row + window.rows), slice(window.column, window.column + window.columns)
        return rain_in_part(_picture(self.rain_map), self.tiling.rows, self.tiling.columns, part)


@lru_cache(maxsize=1)
def _picture(path: Path) -> Numbers:
    return read_rain_picture(path)

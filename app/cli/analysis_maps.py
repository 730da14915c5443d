"""The maps of an analysis by file name: description, unit, and method of resampling to the cells of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.cli.analyzed_land import Analysis
from app.export.geotiff import Band, write_geotiff
from app.export.sheet import Sheet

# Codes of flow directions in geographic information systems, indexed by those of `kernels.neighbours`: powers of two
# clockwise from the east, and 0 for an outlet.
D8_CODES = np.array([64, 16, 1, 4, 32, 128, 8, 2, 0], np.uint8)

# Methods of resampling cells to a larger one: the mean, the largest value, or the value at the centre
Way = Literal["mean", "largest", "label"]


@dataclass(frozen=True)
class MapRow:
    """A map of an analysis."""

    help: str
    values: Callable[[Analysis], NDArray[Any]]  # [row, column], in computed cells
    way: Way = "mean"
    unit: str = ""
    counts_cells: bool = False  # those of the file, which may be larger than computed ones

    def laid_out(self, found: Analysis) -> NDArray[Any]:
        """The map resampled to the cells of the file."""
        sheet, values = found.land.sheet, self.values(found)
        if not sheet.is_source:
            return values
        ways = {"mean": sheet.numbers, "largest": sheet.largest, "label": sheet.labels}
        return ways[self.way](self.counted(values, found.land.cell_size, sheet))

    def counted(self, values: NDArray[Any], cell_size: float, sheet: Sheet) -> NDArray[Any]:
        """Values whose counts of computed cells are turned into counts of those of a sheet."""
        return values * (cell_size**2 / sheet.cell_area) if self.counts_cells else values

    def write(self, path: Path, found: Analysis) -> None:
        """Write the map as a GeoTIFF."""
        land, band = found.land, Band(self.help, self.unit)
        write_geotiff(path, self.laid_out(found), land.place, (band,), land.sheet.unmapped, optimised=False)


MAPS: dict[str, MapRow] = {
    "filled": MapRow("ground with its depressions filled", lambda found: found.drainage.filled, unit="m"),
    "lake_depth": MapRow(
        "depth of lakes", lambda found: (found.drainage.filled - found.land.ground).astype(np.float32), unit="m"
    ),
    "lakes": MapRow("number of the lake, 0: none", lambda found: found.lakes.labels, "label"),
    "directions": MapRow(
        "D8 direction, powers of two clockwise from the east, 0: outlet",
        lambda found: D8_CODES[found.drainage.directions],
        "label",
    ),
    "accumulation": MapRow(
        "cells that drain through this one, and itself",
        lambda found: found.drainage.accumulation,
        "largest",
        "cells",
        counts_cells=True,
    ),
    "discharge": MapRow("mean discharge", lambda found: found.discharge.astype(np.float32), "largest", "m³/s"),
    "rivers": MapRow("Strahler order of rivers, 0: none", lambda found: found.rivers, "largest"),
    "fragments": MapRow("Strahler order of rivers without filling, 0: none", lambda found: found.fragments, "largest"),
    "watersheds": MapRow("number of the watershed, 0: ocean or coast", lambda found: found.watersheds.labels, "label"),
    "distance": MapRow(
        "way of the water to its outlet", lambda found: found.drainage.routes.distances.astype(np.float32), unit="m"
    ),
    "path_cost": MapRow(
        "least way to an outlet that never leads up", lambda found: found.path_cost.astype(np.float32), unit="m"
    ),
}

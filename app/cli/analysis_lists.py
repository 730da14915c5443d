"""The lists of an analysis: lakes, watersheds, river mouths and falls with their measures, and the thresholds used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.export.sheet import Sheet
from app.export.vectors import BasinColumns, LakeColumns
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff

if TYPE_CHECKING:
    from kernels.falls import Falls


Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


class Frame(NamedTuple):
    """The cells that were computed in, and those of the maps."""

    rows: int
    columns: int
    cell_size: float
    sheet: Sheet
    has_place: bool  # whether it is known where they lie


class MouthColumns(NamedTuple):
    """River mouths by their cells, ascending."""

    cell: Integers
    cells: Numbers
    discharge: Numbers
    longest: Numbers  # the longest way to it, in metres
    watershed: Integers  # 0: the coast


@dataclass(frozen=True)
class Listing:
    """What lists are made of. Cells are row * columns + column, discharges cubic metres a second."""

    path: Path
    frame: Frame
    sea_level: float
    runoff: Runoff
    has_rain_map: bool
    rule: RiverParameters
    land_cells: int
    discharge: float  # of all land
    lakes: LakeColumns
    basins: BasinColumns
    mouths: MouthColumns
    falls: Falls
    more: dict[str, Any]

    @property
    def cell_area(self) -> float:
        return self.frame.cell_size**2

    @property
    def least_discharge(self) -> float:
        """The discharge at which a river begins."""
        return self.rule.discharge or self.rule.threshold * self.runoff.discharge(self.cell_area)

    def place(self, cell: int) -> dict[str, float]:
        """A cell's row and column in the maps, and the coordinates of its middle where the map has any."""
        frame, sheet = self.frame, self.frame.sheet
        at, shape = divmod(cell, frame.columns), (frame.rows, frame.columns)
        row, column = sheet.cell_of(at[0], at[1], shape)
        place: dict[str, float] = {"row": row, "column": column}
        if frame.has_place:
            south, east = (np.array([part + 0.5]) for part in at)
            x, y = sheet.coordinates(*sheet.places(south, east, shape))
            place["x"], place["y"] = x.item(), y.item()
        return place


def write_lists(file: BinaryIO, listing: Listing) -> None:
    """Write the lists as JSON."""
    file.write(msgspec.json.format(msgspec.json.encode(lists(listing))) + b"\n")


def lists(listing: Listing) -> dict[str, Any]:
    """All lists. Lengths are metres."""
    frame, rule, area = listing.frame, listing.rule, listing.cell_area
    sheet = frame.sheet
    return {
        "file": str(listing.path),
        "columns": sheet.columns,
        "rows": sheet.rows,
        "cell_width": sheet.width,
        "cell_height": sheet.height,
        "computed_in": {"columns": frame.columns, "rows": frame.rows, "cell_size": frame.cell_size},
        "brought_back": sheet.is_source,
        "cell_size": frame.cell_size,
        "sea_level": None if math.isinf(listing.sea_level) else listing.sea_level,
        "precipitation_mm_a": listing.runoff.precipitation,
        "rain_by_altitude": listing.runoff.by_altitude,
        "rain_map": listing.has_rain_map,
        "springs": len(listing.runoff.springs) + len(listing.runoff.braided),
        "river_begins_by": rule.begin,
        "smallest_river_discharge_m3_s": listing.least_discharge if rule.begin == "discharge" else None,
        "smallest_river_catchment_m2": rule.threshold * area if rule.begin == "area" else None,
        "smallest_watershed_m2": rule.watershed_size * area,
        "land_m2": listing.land_cells * area,
        "ocean_m2": (frame.rows * frame.columns - listing.land_cells) * area,
        "discharge_m3_s": listing.discharge,
        "watersheds": len(listing.basins.outlet),
        "lakes": _list_lakes(listing),
        "basins": _list_basins(listing),
        "mouths": _list_mouths(listing),
        "falls": _list_falls(listing),
        **listing.more,
    }


def _list_lakes(listing: Listing) -> list[dict[str, Any]]:
    """Lakes by descending volume; `lake` is the number in the map of lakes."""
    lakes, area = listing.lakes, listing.cell_area
    order = np.lexsort((np.arange(len(lakes.volume)), -lakes.volume))
    return [
        {
            "lake": int(lake) + 1,
            "level": float(lakes.level[lake]),
            "depth": float(lakes.depth[lake]),
            "area_m2": int(lakes.cells[lake]) * area,
            "volume_m3": float(lakes.volume[lake]),
            "catchment_m2": float(lakes.inflow[lake]) * area,
            "discharge_m3_s": float(lakes.discharge[lake]),
            "outlet": listing.place(int(lakes.outlet[lake])),
        }
        for lake in order
    ]


def _list_basins(listing: Listing) -> list[dict[str, Any]]:
    """Watersheds by descending area; `watershed` is the number in their map."""
    basins, areas = listing.basins, listing.basins.cells * listing.cell_area
    return [
        {
            "watershed": int(basin) + 1,
            "area_m2": float(areas[basin]),
            "discharge_m3_s": float(basins.discharge[basin]),
            "outlet": listing.place(int(basins.outlet[basin])),
        }
        for basin in np.lexsort((basins.outlet, -areas))
    ]


def _list_mouths(listing: Listing) -> list[dict[str, Any]]:
    """River mouths by descending discharge; `watershed` is the number in the map of watersheds."""
    mouths, area = listing.mouths, listing.cell_area
    return [
        {
            "watershed": int(mouths.watershed[mouth]),
            "catchment_m2": float(mouths.cells[mouth]) * area,
            "discharge_m3_s": float(mouths.discharge[mouth]),
            "longest_way": float(mouths.longest[mouth]),
            "place": listing.place(int(mouths.cell[mouth])),
        }
        for mouth in np.lexsort((mouths.cell, -mouths.cells, -mouths.discharge))
    ]


def _falls_text(listing: Listing) -> str:
    """How many falls there are, and the highest."""
    height = listing.falls.height
    if not len(height):
        return "no falls"
    return f"{len(height)} fall{'s' if len(height) > 1 else ''} of up to {height[0]:.4g} m"


def _list_falls(listing: Listing) -> list[dict[str, Any]]:
    """Falls by descending height; `fall` is the number among the points."""
    found = listing.falls
    return [
        {
            "fall": fall + 1,
            "height": float(found.height[fall]),
            "lip_level": float(found.top[fall]),
            "discharge_m3_s": float(found.discharge[fall]),
            "lip": listing.place(int(found.lip[fall])),
            "foot": listing.place(int(found.foot[fall])),
        }
        for fall in range(len(found.lip))
    ]


def summary(folder: Path, listing: Listing, fragment_ends: int | None = None) -> str:
    """What was found, in one line."""
    lakes, area, rule, frame = listing.lakes, listing.cell_area, listing.rule, listing.frame
    begins = f"{rule.threshold * area / 1e6:.4g} km²"
    if rule.begin == "discharge":
        begins = f"{listing.least_discharge:.3g} m³/s"
    sheet = frame.sheet
    back = f" (maps in the {sheet.columns}×{sheet.rows} cells of the file)" if sheet.is_source else ""
    ends = f"without filling {fragment_ends} of them would end in a hollow; " if fragment_ends is not None else ""
    return (
        f"{folder}: {frame.columns}×{frame.rows} cells of {frame.cell_size:g} m{back}; "
        f"{len(lakes.volume)} lakes with {lakes.volume.sum():.4g} m³ on {lakes.cells.sum() * area / 1e6:.4g} km²; "
        f"{len(listing.basins.outlet)} watersheds of {rule.watershed_size * area / 1e6:.4g} km² and more; "
        f"rivers from {begins}; {ends}{_falls_text(listing)}; "
        f"{listing.discharge:.4g} m³/s of {listing.runoff.precipitation:g} mm of rain a year"
    )

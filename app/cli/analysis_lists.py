"""The lists of an analysis: lakes, watersheds, river mouths and falls with their measures, and the thresholds used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
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
Entry = dict[str, Any]

AT_A_TIME = 10_000  # entries of a list


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

    def places(self, cells: Integers) -> list[dict[str, float]]:
        """Rows and columns of cells in the maps, and the coordinates of their centres where the map has any."""
        frame, sheet = self.frame, self.frame.sheet
        (rows, columns), shape = np.divmod(cells, frame.columns), (frame.rows, frame.columns)
        found: dict[str, NDArray[Any]] = dict(zip(("row", "column"), sheet.cells_of(rows, columns, shape), strict=True))
        if frame.has_place:
            found["x"], found["y"] = sheet.coordinates(*sheet.places(rows + 0.5, columns + 0.5, shape))
        values = (column.tolist() for column in found.values())
        return [dict(zip(found, place, strict=True)) for place in zip(*values, strict=True)]


def write_lists(file: BinaryIO, listing: Listing) -> None:
    """Write the lists as JSON, some entries at a time: of a large model each list may be long."""
    begin = b"{"
    for name, value in lists(listing).items():
        file.write(begin + b"\n  " + msgspec.json.encode(name) + b": ")
        if isinstance(value, Iterator):
            _write_entries(file, value)
        else:
            file.write(_indented(value))
        begin = b","
    file.write(b"\n}\n")


def _write_entries(file: BinaryIO, parts: Iterator[list[Entry]]) -> None:
    begin = b"["
    for part in parts:
        if part:
            file.write(begin + _indented(part)[1 : -len(b"\n  ]")])
            begin = b","
    file.write(b"[]" if begin == b"[" else b"\n  ]")


def _indented(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value)).replace(b"\n", b"\n  ")


def _parts(order: Integers, entries: Callable[[Integers], list[Entry]]) -> Iterator[list[Entry]]:
    return (entries(order[begin : begin + AT_A_TIME]) for begin in range(0, len(order), AT_A_TIME))


def _columns(**columns: NDArray[Any] | list[Any]) -> list[Entry]:
    """Entries from the values of each name."""
    values = (of.tolist() if isinstance(of, np.ndarray) else of for of in columns.values())
    return [dict(zip(columns, entry, strict=True)) for entry in zip(*values, strict=True)]


def lists(listing: Listing) -> dict[str, Any]:
    """All lists, long ones as parts. Lengths are metres."""
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


def _list_lakes(listing: Listing) -> Iterator[list[Entry]]:
    """Lakes by descending volume; `lake` is the number in the map of lakes."""
    lakes, area = listing.lakes, listing.cell_area

    def entries(lake: Integers) -> list[Entry]:
        return _columns(
            lake=lake + 1,
            level=lakes.level[lake],
            depth=lakes.depth[lake],
            area_m2=lakes.cells[lake] * area,
            volume_m3=lakes.volume[lake],
            catchment_m2=lakes.inflow[lake] * area,
            discharge_m3_s=lakes.discharge[lake],
            outlet=listing.places(lakes.outlet[lake]),
        )

    return _parts(np.lexsort((np.arange(len(lakes.volume)), -lakes.volume)), entries)


def _list_basins(listing: Listing) -> Iterator[list[Entry]]:
    """Watersheds by descending area; `watershed` is the number in their map."""
    basins, areas = listing.basins, listing.basins.cells * listing.cell_area

    def entries(basin: Integers) -> list[Entry]:
        return _columns(
            watershed=basin + 1,
            area_m2=areas[basin].astype(np.float64),
            discharge_m3_s=basins.discharge[basin],
            outlet=listing.places(basins.outlet[basin]),
        )

    return _parts(np.lexsort((basins.outlet, -areas)), entries)


def _list_mouths(listing: Listing) -> Iterator[list[Entry]]:
    """River mouths by descending discharge; `watershed` is the number in the map of watersheds."""
    mouths, area = listing.mouths, listing.cell_area

    def entries(mouth: Integers) -> list[Entry]:
        return _columns(
            watershed=mouths.watershed[mouth],
            catchment_m2=mouths.cells[mouth] * area,
            discharge_m3_s=mouths.discharge[mouth],
            longest_way=mouths.longest[mouth],
            place=listing.places(mouths.cell[mouth]),
        )

    return _parts(np.lexsort((mouths.cell, -mouths.cells, -mouths.discharge)), entries)


def _falls_text(listing: Listing) -> str:
    """How many falls there are, and the highest."""
    height = listing.falls.height
    if not len(height):
        return "no falls"
    return f"{len(height)} fall{'s' if len(height) > 1 else ''} of up to {height[0]:.4g} m"


def _list_falls(listing: Listing) -> Iterator[list[Entry]]:
    """Falls by descending height; `fall` is the number among the points."""
    found = listing.falls

    def entries(fall: Integers) -> list[Entry]:
        return _columns(
            fall=fall + 1,
            height=found.height[fall],
            lip_level=found.top[fall],
            discharge_m3_s=found.discharge[fall],
            lip=listing.places(found.lip[fall]),
            foot=listing.places(found.foot[fall]),
        )

    return _parts(np.arange(len(found.lip)), entries)


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

"""Folders of `thalweg analyze`: their model, and the rivers of the whole that a part of it takes over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.files import paths
from app.model.errors import UserError
from app.model.runoff import Runoff
from app.model.springs import Spring, write_springs
from app.model.world import LARGEST_SIDE
from app.scene.scene import Scene
from app.sources.heightmap.models import Model
from app.sources.heightmap.reading import open_model
from app.sources.heightmap.tiff_model import open_tiff
from app.sources.part import Part

LIST_FILE = "analysis.json"
RIVERS, DISCHARGE, DIRECTIONS = "rivers.tif", "discharge.tif", "directions.tif"
# Steps to rows and columns by the codes of flow directions in geographic information systems
OUTLET = (0, 0)
LONGEST_WAY = 8  # times the distance from the edge, after which a river is no longer followed
D8_STEPS = {1: (0, 1), 2: (1, 1), 4: (1, 0), 8: (1, -1), 16: (0, -1), 32: (-1, -1), 64: (-1, 0), 128: (-1, 1)}


@dataclass(frozen=True)
class Analysed:
    """The results of an analysis in a folder."""

    folder: Path
    model: Path
    precipitation: float  # mm a year
    by_altitude: float
    smallest_river: float  # m³/s

    def overview_of_rivers(self, side: int) -> NDArray[np.float64]:
        """Mean discharge in at most `side` cells along the longer side, [row, column]. Raises `UserError`."""
        return self._map(DISCHARGE).overview(side)[0]

    def scene_of(self, scene: Scene, part: Part | str) -> Scene:
        """The scene of a part of its model, with the climate of the analysis, and the rivers that come in.

        Raises `UserError`.
        """
        if isinstance(part, str):
            model = open_model(self.model)
            if part and model is None:
                raise UserError(f"{self.model}: no part of it can be opened")
            part = model.part_of(part) if part and model is not None else Part(0, 0, *self._side)
        longest = max(scene.world.columns, scene.world.rows) or LARGEST_SIDE
        within = max(1, -(-max(part.rows, part.columns) // longest))  # cells of the model in one of the land
        return scene.with_values(
            {
                "climate.precipitation": self.precipitation,
                "climate.rain_by_altitude": self.by_altitude,
                "rivers.begin": "discharge",
                "rivers.discharge": self.smallest_river,
                "rivers.inflows": write_springs(self.inflows(part, within), digits=7),
            }
        )

    def inflows(self, part: Part, within: int = 1) -> list[Spring]:
        """Where rivers of the whole come into a part, and their discharge in m³/s, by the cells around it.

        They are followed until they are at least `within` cells from its edge, over which the map's own water leaves;
        those that leave again before are left out.
        """
        around = part.grown(1).within(*self._side)
        if around == part:
            return []  # all of the model
        orders, discharge = (self._along_edge(name, around, 1) for name in (RIVERS, DISCHARGE))
        codes = self._along_edge(DIRECTIONS, around, LONGEST_WAY * within + 2)
        top, left = part.row - around.row, part.column - around.column
        bottom, right = top + part.rows, left + part.columns
        outside = np.ones(orders.shape, np.bool_)
        outside[top:bottom, left:right] = False
        found: dict[tuple[int, int], float] = {}
        for row, column in np.argwhere(outside & (orders > 0)).tolist():
            water = float(discharge[row, column])
            down, across = D8_STEPS.get(int(codes[row, column]), OUTLET)
            row, column = row + down, column + across
            for _ in range(
                LONGEST_WAY * within
            ):  # directions that were brought back to cells of a file may go in circles
                if (down, across) == OUTLET or not (top <= row < bottom and left <= column < right):
                    break
                if min(row - top, bottom - 1 - row, column - left, right - 1 - column) >= within:
                    found[row - top, column - left] = found.get((row - top, column - left), 0.0) + water
                    break
                down, across = D8_STEPS.get(int(codes[row, column]), OUTLET)
                row, column = row + down, column + across
        return [
            Spring((row + 0.5) / part.rows, (column + 0.5) / part.columns, water)
            for (row, column), water in sorted(found.items())
        ]

    def _along_edge(self, name: str, part: Part, width: int) -> NDArray[np.float32]:
        """A part of a map, [row, column], of which only so many cells at each edge are read; 0 elsewhere."""
        found = np.zeros((part.rows, part.columns), np.float32)
        across, down = min(width, part.columns), min(width, part.rows)
        for row, column, rows, columns in (
            (0, 0, down, part.columns),
            (part.rows - down, 0, down, part.columns),
            (0, 0, part.rows, across),
            (0, part.columns - across, part.rows, across),
        ):
            strip = Part(part.row + row, part.column + column, rows, columns)
            found[row : row + rows, column : column + columns] = self._map(name).part(strip)[0]
        return found

    @property
    def _side(self) -> tuple[int, int]:
        whole = self._map(DISCHARGE).whole
        return whole.rows, whole.columns

    def _map(self, name: str) -> Model:
        path = self.folder / name
        model = open_tiff(path, of_heights=False) if path.is_file() else None
        if model is None:
            raise UserError(f"{path}: there is no such map; an analysis writes it")
        return model


def is_analysed(path: Path) -> bool:
    """Whether a folder has an analysis."""
    return path.is_dir() and (path / LIST_FILE).is_file()


class _Said(msgspec.Struct):
    """What the list of an analysis says, as far as it is needed here."""

    file: str
    rows: int
    columns: int
    precipitation_mm_a: float
    rain_by_altitude: float
    smallest_river_discharge_m3_s: float | None
    smallest_river_catchment_m2: float | None


def read_analysed(folder: Path) -> Analysed:
    """The analysis in a folder. Raises `UserError` if its model is not there, or not the one whose maps it has."""
    try:
        said = msgspec.json.decode((folder / LIST_FILE).read_bytes(), type=_Said)
    except (OSError, msgspec.MsgspecError) as error:
        raise UserError(f"{folder / LIST_FILE}: it is not the list of an analysis: {error}") from error
    path = Path(paths.found(said.file, folder))
    if not path.exists():
        raise UserError(f"{folder}: its model {path} is not there")
    model = open_model(path)
    if model is not None and (model.rows, model.columns) != (said.rows, said.columns):
        raise UserError(f"{folder}: it is an analysis of a part of {path.name}; analyse all of the model")
    smallest = said.smallest_river_discharge_m3_s
    if smallest is None:
        runoff = Runoff(said.precipitation_mm_a, least_cells=0.0)
        smallest = runoff.discharge(said.smallest_river_catchment_m2 or 0.0)
    return Analysed(folder, path, said.precipitation_mm_a, said.rain_by_altitude, smallest)

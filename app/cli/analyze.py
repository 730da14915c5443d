"""Rivers, lakes and watersheds of a land, without a display: maps for other programs, previews, and lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from app.cli import previews
from app.cli.folder import made
from app.cli.progress import Progress
from app.engine.creation import create_world, read_rain_map
from app.engine.discharge import mean_discharge
from app.engine.memory import check_memory
from app.engine.simulator import Simulator
from app.files.atomic import claimed, write_atomically
from app.files.opening import open_scene
from app.files.recorder import write_png
from app.model import palettes
from app.model.climate import ClimateParameters
from app.model.errors import UserError
from app.model.georeference import Georeference
from app.model.world import DEFAULT_CELL_SIZE, World
from app.scene.scene import Scene, presets
from app.sources.generators import GENERATORS

if TYPE_CHECKING:
    from kernels.lakes import Lakes
    from kernels.rivers import Drainage
    from kernels.watersheds import Watersheds

# Defaults for the contributing area of a river and the smallest watershed: fractions of the land, at least some cells.
RIVER_PART = 1.0 / 2000.0
WATERSHED_PART = 1.0 / 500.0
FEWEST_CELLS = 20

LIST_FILE = "analysis.json"

# The numbers that programs for maps use for directions, by those of `kernels.neighbours`: powers of two clockwise from
# the east, and 0 for an outlet.
D8_CODES = np.array([64, 16, 1, 4, 32, 128, 8, 2, 0], np.uint8)


@dataclass(frozen=True)
class Land:
    """The ground in metres [row, column], where it lies, and what a world says besides: its sea, edges and rain."""

    ground: NDArray[np.float64]
    cell_size: float
    georeference: Georeference | None = None
    sea_level: float = -math.inf
    open_edges: bool = True
    climate: ClimateParameters = field(default_factory=ClimateParameters)
    rain: NDArray[np.float32] | None = None  # the part of the precipitation that falls on each cell
    cycle: int = 0


@dataclass(frozen=True)
class Analysis:
    """The results for a land."""

    land: Land
    drainage: Drainage
    discharge: NDArray[np.float64]  # through each cell, in cubic metres a second
    river_cells: int
    rivers: NDArray[np.uint8]  # Strahler's orders [row, column]
    lakes: Lakes
    watershed_cells: int
    watersheds: Watersheds

    @property
    def outlets(self) -> NDArray[np.bool_]:
        """Where water leaves the land, [row, column]."""
        from kernels.neighbours import OUTLET

        return np.equal(self.drainage.directions, OUTLET)

    @property
    def runoff(self) -> float:
        """Of all the land, in cubic metres a second."""
        return float(self.discharge[self.outlets].sum())


def analyze(
    path: Path,
    folder: Path,
    *,
    sea_level: float | None = None,
    open_edges: bool | None = None,
    climate: Mapping[str, float] = MappingProxyType({}),
    rain_map: Path | None = None,
    river_cells: int | None = None,
    watershed_cells: int | None = None,
    cell_size: float | None = None,
    relief: float | None = None,
    part: str = "",
) -> None:
    """Write all maps of a land into `folder`, which is made where it is not there.

    `path` is a heightmap, a saved world, or a preset: a file of one, or its name. The ocean is what lies below
    `sea_level` (metres) and is reached from the map's edge; over that, water leaves too where `open_edges` says so.
    `climate` has values of its parameters, and `rain_map` is a picture of where it rains. Without one of these it is
    that of the world; a heightmap has no ocean, open edges, and the usual rain everywhere.

    A river has a catchment of at least `river_cells`; watersheds of fewer than `watershed_cells` are merged into the
    coast. `cell_size`, `relief` and `part` are as for `read_heightmap`. Raises `UserError` where a file cannot be read
    or the folder cannot be written.
    """
    with made(folder), claimed(folder / LIST_FILE):
        land = read_land(path, cell_size, relief, part=part)
        if sea_level is not None:
            land = replace(land, sea_level=sea_level)
        if open_edges is not None:
            land = replace(land, open_edges=open_edges)
        if rain_map is not None:
            land = replace(land, rain=read_rain_map(rain_map, *land.ground.shape))
        land = replace(land, climate=msgspec.structs.replace(land.climate, **climate))
        steps = 1 + len(MAPS) + len(PREVIEWS) + 1
        with tqdm(total=steps, desc="following the water", unit="step", mininterval=0.0) as bar:

            def next_step(name: str) -> None:
                bar.update()
                bar.set_description(name)

            analysis = analysis_of(land, river_cells, watershed_cells)
            for name, values in MAPS.items():
                next_step(f"writing {name}.tif")
                _write_map(folder / f"{name}.tif", values(analysis), land)
            relief_picture = previews.shaded_relief(land.ground, analysis.drainage.ocean, land.cell_size)
            for name, draw in PREVIEWS.items():
                next_step(f"writing {name}.png")
                write_png(folder / f"{name}.png", previews.to_pixels(draw(analysis, relief_picture)))
            next_step(f"writing {LIST_FILE}")
            with write_atomically(folder / LIST_FILE) as file:
                file.write(msgspec.json.format(msgspec.json.encode(lists(path, analysis))) + b"\n")
            bar.update()
    print(_summary(folder, analysis))


def read_land(
    path: Path, cell_size: float | None = None, relief: float | None = None, *, cycles: int = 0, part: str = ""
) -> Land:
    """The land of a heightmap, with the georeference that the file may have, of a saved world, or of a preset.

    The last two run for `cycles` first. Of a heightmap it can be a part, see `app.sources.part`.
    """
    from app.sources import heightmap

    is_preset = str(path) in presets() or str(path) in GENERATORS or path.suffix == ".toml"
    if is_preset or heightmap.is_saved_world(path):
        if cell_size is not None or relief is not None:
            kind = "preset has" if is_preset else "saved world keeps"
            raise UserError(f"{path}: a {kind} its cell size and its relief")
        if part:
            raise UserError(f"--part {part}: only a heightmap or a folder of tiles has parts")
        opened = open_scene(str(path))
        world, scene = create_world(opened, partial(check_memory, [opened]))
        if cycles:
            _run(world, scene, cycles)
        return _land_of(world, scene)
    if cycles:
        raise UserError(f"{path}: a heightmap has no processes; --cycles runs a preset or a saved world")
    read = heightmap.read_heightmap(path, cell_size=cell_size, relief=relief, part=part)
    return Land(np.ascontiguousarray(read.elevation), read.cell_size or DEFAULT_CELL_SIZE, read.georeference)


def _run(world: World, scene: Scene, cycles: int) -> None:
    simulator = Simulator(scene, world)
    simulator.compile_missing()
    for _ in Progress(range(cycles), "simulating", "cycle"):
        simulator.advance()
    simulator.verify()


def _land_of(world: World, scene: Scene) -> Land:
    return Land(
        world.ground,
        world.cell_size,
        sea_level=scene.edges.sea,
        open_edges=scene.edges.water != "wall",
        climate=scene.climate,
        rain=world.rainfall,
        cycle=world.cycle,
    )


def analysis_of(land: Land, river_cells: int | None, watershed_cells: int | None) -> Analysis:
    """Analyse a land; the arguments are as for `analyze`."""
    from kernels.lakes import find_lakes
    from kernels.rivers import drain
    from kernels.routing import strahler_orders
    from kernels.watersheds import find_watersheds

    drainage = drain(land.ground, land.cell_size, land.sea_level, open_edges=land.open_edges)
    land_cells = int(np.count_nonzero(~drainage.ocean))
    if river_cells is None:
        river_cells = max(FEWEST_CELLS, round(RIVER_PART * land_cells))
    if watershed_cells is None:
        watershed_cells = max(FEWEST_CELLS, round(WATERSHED_PART * land_cells))
    rivers = strahler_orders(drainage.directions, drainage.routes.order, drainage.accumulation >= river_cells)
    rivers[drainage.ocean] = 0
    lakes = find_lakes(land.ground, drainage.filled, drainage.directions, drainage.accumulation, land.cell_size)
    watersheds = find_watersheds(drainage.routes.outlets, drainage.ocean, watershed_cells)
    through = mean_discharge(drainage, land.ground, land.cell_size, land.climate, land.rain)
    return Analysis(land, drainage, through, river_cells, rivers, lakes, watershed_cells, watersheds)


# The maps, by the names of their files.

MAPS: dict[str, Callable[[Analysis], NDArray[Any]]] = {
    "filled": lambda found: found.drainage.filled,
    "lake_depth": lambda found: (found.drainage.filled - found.land.ground).astype(np.float32),
    "lakes": lambda found: found.lakes.labels,
    "directions": lambda found: D8_CODES[found.drainage.directions],
    "accumulation": lambda found: found.drainage.accumulation,
    "discharge": lambda found: found.discharge.astype(np.float32),
    "rivers": lambda found: found.rivers,
    "watersheds": lambda found: found.watersheds.labels,
    "distance": lambda found: found.drainage.routes.distances.astype(np.float32),
}


def _write_map(path: Path, values: NDArray[Any], land: Land) -> None:
    """A TIFF with the georeference of the land, compressed without loss."""
    import tifffile

    tags = land.georeference.tags() if land.georeference else ()
    with write_atomically(path) as file:
        tifffile.imwrite(
            file,
            values,
            photometric="minisblack",
            compression="zlib",
            predictor=True,
            metadata=None,
            extratags=tags,
        )


# Their previews.


def _draw_filled(found: Analysis, relief: previews.Picture) -> previews.Picture:
    ground = previews.reduced(found.drainage.filled)
    land = previews.reduced(~found.drainage.ocean)
    lowest, highest = float(ground[land > 0.5].min(initial=np.inf)), float(ground.max())
    picture = previews.with_palette(relief, ground, min(lowest, highest), highest, palettes.DISTANCE, 0.8)
    return previews.over(relief, picture, land)


def _draw_lakes(found: Analysis, relief: previews.Picture) -> previews.Picture:
    depth = previews.reduced(found.drainage.filled - found.land.ground, largest=True)
    picture = previews.with_rivers(relief, 0.6 * previews.reduced(found.rivers, largest=True))
    deepest = float(np.quantile(depth[depth > 0.0], 0.98)) if (depth > 0.0).any() else 1.0
    return previews.with_palette(picture, np.sqrt(depth), 0.0, math.sqrt(deepest), palettes.LAKE, 1.0)


def _draw_rivers(found: Analysis, relief: previews.Picture) -> previews.Picture:
    lakes = previews.reduced(found.lakes.labels > 0)
    picture = previews.over(relief, np.divide(palettes.RIVER, 255.0), 0.35 * lakes)
    return previews.with_rivers(picture, previews.reduced(found.rivers, largest=True))


def _draw_accumulation(found: Analysis, relief: previews.Picture) -> previews.Picture:
    cells = np.log10(previews.reduced(np.maximum(found.drainage.accumulation, 1.0), largest=True))
    land = previews.reduced(~found.drainage.ocean)
    picture = previews.with_palette(relief, cells, 0.0, float(cells.max()), palettes.ACCUMULATION, 1.0)
    return previews.over(relief, picture, land)


def _draw_watersheds(found: Analysis, relief: previews.Picture) -> previews.Picture:
    from kernels.watersheds import watershed_colours

    colours = np.append(0, watershed_colours(found.watersheds))
    numbers = np.where(found.drainage.ocean, -1, colours[found.watersheds.labels])
    picture = previews.with_watersheds(relief, previews.reduced(numbers, largest=True))
    return previews.with_rivers(picture, previews.reduced(found.rivers, largest=True))


def _draw_distance(found: Analysis, relief: previews.Picture) -> previews.Picture:
    metres = previews.reduced(found.drainage.routes.distances)
    picture = previews.with_palette(relief, metres, 0.0, float(metres.max()), palettes.DISTANCE, 0.85)
    return previews.over(relief, picture, previews.reduced(~found.drainage.ocean))


PREVIEWS: dict[str, Callable[[Analysis, previews.Picture], previews.Picture]] = {
    "filled": _draw_filled,
    "lake_depth": _draw_lakes,
    "accumulation": _draw_accumulation,
    "rivers": _draw_rivers,
    "watersheds": _draw_watersheds,
    "distance": _draw_distance,
}


# The lists.


def lists(path: Path, found: Analysis) -> dict[str, Any]:
    """Lakes, watersheds and river mouths with their measures, and what they were found with. Lengths are metres."""
    rows, columns = found.land.ground.shape
    climate = found.land.climate
    area = found.land.cell_size**2
    return {
        "file": str(path),
        "columns": columns,
        "rows": rows,
        "cell_size": found.land.cell_size,
        "sea_level": None if math.isinf(found.land.sea_level) else found.land.sea_level,
        "precipitation_mm_a": climate.precipitation,
        "rain_by_altitude": climate.rain_by_altitude,
        "rain_map": found.land.rain is not None,
        "smallest_river_catchment_m2": found.river_cells * area,
        "smallest_watershed_m2": found.watershed_cells * area,
        "land_m2": int(np.count_nonzero(~found.drainage.ocean)) * area,
        "ocean_m2": int(np.count_nonzero(found.drainage.ocean)) * area,
        "discharge_m3_s": found.runoff,
        "watersheds": len(found.watersheds.outlet),
        "lakes": _list_lakes(found),
        "basins": _list_basins(found),
        "mouths": _list_mouths(found),
    }


def _list_lakes(found: Analysis) -> list[dict[str, Any]]:
    """The lake with the largest volume first; `lake` is its number in the map of lakes."""
    lakes, area = found.lakes, found.land.cell_size**2
    order = np.lexsort((np.arange(len(lakes.volume)), -lakes.volume))
    return [
        {
            "lake": int(lake) + 1,
            "level": float(lakes.level[lake]),
            "depth": float(lakes.depth[lake]),
            "area_m2": int(lakes.cells[lake]) * area,
            "volume_m3": float(lakes.volume[lake]),
            "catchment_m2": float(lakes.inflow[lake]) * area,
            "discharge_m3_s": float(found.discharge.reshape(-1)[lakes.outlet[lake]]),
            "outlet": _place(found, int(lakes.outlet[lake])),
        }
        for lake in order
    ]


def _list_basins(found: Analysis) -> list[dict[str, Any]]:
    """Watersheds, the largest first; `watershed` is the number in their map."""
    outlets, through = found.watersheds.outlet, found.discharge.reshape(-1)
    areas = found.drainage.accumulation.reshape(-1)[outlets] * found.land.cell_size**2
    return [
        {
            "watershed": int(basin) + 1,
            "area_m2": float(areas[basin]),
            "discharge_m3_s": float(through[outlets[basin]]),
            "outlet": _place(found, int(outlets[basin])),
        }
        for basin in np.lexsort((outlets, -areas))
    ]


def _list_mouths(found: Analysis) -> list[dict[str, Any]]:
    """Where rivers leave the land, the largest catchment first; `watershed` is its number in their map."""
    drainage, area = found.drainage, found.land.cell_size**2
    through = drainage.accumulation.reshape(-1)
    mouths = np.flatnonzero(found.outlets.reshape(-1) & (through >= found.river_cells))
    mouths = mouths[np.lexsort((mouths, -through[mouths]))]
    longest = np.zeros(through.size)
    np.maximum.at(longest, drainage.routes.outlets.reshape(-1), drainage.routes.distances.reshape(-1))
    numbers = dict(zip(found.watersheds.outlet.tolist(), range(1, 1 + len(found.watersheds.outlet)), strict=True))
    return [
        {
            "watershed": numbers.get(mouth, 0),
            "catchment_m2": float(through[mouth]) * area,
            "discharge_m3_s": float(found.discharge.reshape(-1)[mouth]),
            "longest_way": float(longest[mouth]),
            "place": _place(found, mouth),
        }
        for mouth in mouths.tolist()
    ]


def _place(found: Analysis, cell: int) -> dict[str, float]:
    """A cell's row and column, and the coordinates of its middle where the map has any."""
    row, column = divmod(cell, found.land.ground.shape[1])
    place: dict[str, float] = {"row": row, "column": column}
    if found.land.georeference:
        place["x"], place["y"] = found.land.georeference.position(row, column)
    return place


def _summary(folder: Path, found: Analysis) -> str:
    lakes, area = found.lakes, found.land.cell_size**2
    rows, columns = found.land.ground.shape
    return (
        f"{folder}: {columns}×{rows} cells of {found.land.cell_size:g} m; "
        f"{len(lakes.volume)} lakes with {lakes.volume.sum():.4g} m³ on {lakes.cells.sum() * area / 1e6:.4g} km²; "
        f"{len(found.watersheds.outlet)} watersheds of {found.watershed_cells * area / 1e6:.4g} km² and more; "
        f"rivers from {found.river_cells * area / 1e6:.4g} km²; "
        f"{found.runoff:.4g} m³/s of "
        f"{found.land.climate.precipitation:g} mm of rain a year"
    )

"""Rivers, lakes and watersheds of a land, without a display: maps for other programs, previews, and lists."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from app.cli import previews
from app.cli.analysis_lists import (
    Frame,
    Listing,
    MouthColumns,
    summary,
    write_lists,
)
from app.cli.analysis_maps import MAPS
from app.cli.analyzed_land import Analysis, AnalyzedLand
from app.cli.folder import made
from app.cli.progress import simulating
from app.engine.creation import read_rain_map
from app.engine.discharge import drained, gathered_water, rivers_by
from app.engine.fragments import drain_unfilled
from app.engine.runner import run_scene
from app.export.vectors import VECTORS_FILE, BasinColumns, Drawn, write_geopackage
from app.files.analysed import LIST_FILE
from app.files.atomic import claimed, write_atomically
from app.files.opening import open_scene
from app.files.paths import from_folder
from app.files.recorder import write_png
from app.model import palettes, shading
from app.model.errors import UserError
from app.model.georeference import Origin
from app.model.river_parameters import RiverParameters, Ties
from app.model.world import DEFAULT_CELL_SIZE, World
from app.scene.scene import Scene, presets
from app.sources.generators import GENERATORS

if TYPE_CHECKING:
    from kernels.rivers import Drainage

# Defaults of the contributing area of a river and of the smallest watershed: a fraction of the land, and a minimum.
RIVER_PART = 1.0 / 2000.0
WATERSHED_PART = 1.0 / 500.0
FEWEST_CELLS = 20

log = logging.getLogger(__name__)


class RiverWishes(NamedTuple):
    """Threshold of a river, as a catchment in cells or a mean discharge in m³/s, the smallest watershed, and ties.

    For None see `rule_of`. Smaller watersheds are merged into the coast; `ties` are those of `RiverParameters`.
    """

    cells: int | None = None
    discharge: float | None = None
    watershed_cells: int | None = None
    ties: Ties | None = None


def analyze(
    path: Path,
    folder: Path,
    *,
    sea_level: float | None = None,
    open_edges: bool | None = None,
    climate: Mapping[str, float] = MappingProxyType({}),
    rain_map: Path | None = None,
    rivers: RiverWishes | None = None,
    cell_size: float | None = None,
    relief: float | None = None,
    part: str = "",
) -> None:
    """Write all maps of a land into `folder`, which is created if needed.

    `path` is a heightmap, a saved world, or a preset: its file or name. The ocean is the ground below `sea_level`
    (metres) that is connected to the map's edge; with `open_edges`, water leaves over higher edges as well. `climate`
    holds values of its parameters, and `rain_map` is an image of relative rain. Defaults are those of the world; a
    heightmap has no ocean, open edges and uniform rain.

    `cell_size`, `relief` and `part` are as for `read_heightmap`. Raises `UserError` if a file cannot be read or the
    folder cannot be written.
    """
    with made(folder), claimed(folder / LIST_FILE):
        land = read_land(path, cell_size, relief, part=part)
        if sea_level is not None:
            land = replace(land, sea_level=sea_level)
        if open_edges is not None:
            land = replace(land, open_edges=open_edges)
        if rain_map is not None:
            land = replace(land, rain=read_rain_map(rain_map, *land.ground.shape), rain_rate=None)
        before, rains = land.runoff, climate.get("precipitation", land.runoff.precipitation)
        less = before.precipitation / rains if rains > 0.0 else 1.0  # beside more rain, springs are what they were
        runoff = replace(
            before,
            precipitation=rains,
            springs=tuple((south, east, part * less) for south, east, part in before.springs),
            by_altitude=climate.get("rain_by_altitude", before.by_altitude),
        )
        land = replace(land, runoff=runoff)
        steps = 1 + len(MAPS) + 1 + len(PREVIEWS) + 1
        with tqdm(total=steps, desc="following the water", unit="step", mininterval=0.0) as bar:

            def next_step(name: str) -> None:
                bar.update()
                bar.set_description(name)

            analysis = analysis_of(land, rivers or RiverWishes())
            for name, row in MAPS.items():
                next_step(f"writing {name}.tif")
                row.write(folder / f"{name}.tif", analysis)
            next_step(f"writing {VECTORS_FILE}")
            write_vectors(folder / VECTORS_FILE, analysis.waters)
            relief_picture = previews.shaded_relief(land.ground, analysis.drainage.ocean, land.cell_size)
            for name, draw in PREVIEWS.items():
                next_step(f"writing {name}.png")
                write_png(folder / f"{name}.png", shading.to_pixels(draw(analysis, relief_picture)))
            next_step(f"writing {LIST_FILE}")
            listing = listing_of(Path(from_folder(str(path), folder)), analysis)
            with write_atomically(folder / LIST_FILE) as file:
                write_lists(file, listing)
            bar.update()
    print(summary(folder, listing, analysis.fragment_ends))


def read_land(
    path: Path, cell_size: float | None = None, relief: float | None = None, *, cycles: int = 0, part: str = ""
) -> AnalyzedLand:
    """The land of a heightmap, with the georeference that the file may have, of a saved world, or of a preset.

    The last two run for `cycles` first. Heightmaps can be cropped, see `app.sources.part`.
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
        return _land_of(*run_scene(opened, cycles, steps=simulating, with_spin_up=cycles > 0))
    if cycles:
        raise UserError(f"{path}: a heightmap has no processes; --cycles runs a preset or a saved world")
    read = heightmap.read_heightmap(path, cell_size=cell_size, relief=relief, part=part)
    origin = Origin(read.georeference, read.missing, read.source)
    return AnalyzedLand(np.ascontiguousarray(read.elevation), read.cell_size or DEFAULT_CELL_SIZE, origin)


def _land_of(world: World, scene: Scene) -> AnalyzedLand:
    return AnalyzedLand(
        world.ground,
        world.cell_size,
        world.origin,
        sea_level=scene.edges.sea,
        open_edges=scene.edges.water != "wall",
        runoff=scene.runoff,
        rain=world.layers.get("rain"),
        rain_rate=world.mean_rain_rate,
        rivers=scene.rivers,
        reference_cell_size=world.reference_cell_size,
        cycle=world.cycle,
    )


def rule_of(rivers: RiverParameters | None, land_cells: int, wishes: RiverWishes) -> RiverParameters:
    """Threshold of rivers and smallest watershed: as requested, those of the world, or a fraction of the land."""
    rule = rivers or RiverParameters(
        threshold=max(FEWEST_CELLS, round(RIVER_PART * land_cells)),
        watershed_size=max(FEWEST_CELLS, round(WATERSHED_PART * land_cells)),
    )
    if wishes.cells is not None:
        rule = msgspec.structs.replace(rule, begin="area", threshold=wishes.cells)
    if wishes.discharge is not None:
        rule = msgspec.structs.replace(rule, begin="discharge", discharge=wishes.discharge)
    smallest = wishes.watershed_cells
    return rule if smallest is None else msgspec.structs.replace(rule, watershed_size=smallest)


def analysis_of(land: AnalyzedLand, wishes: RiverWishes) -> Analysis:
    """Analyse a land with the requested rivers."""
    from kernels.lakes import find_lakes
    from kernels.neighbours import OUTLET
    from kernels.path_cost import path_cost
    from kernels.routing import strahler_orders
    from kernels.watersheds import find_watersheds

    by_cost = (wishes.ties or (land.rivers or RiverParameters()).ties) == "cost"
    size, is_open = land.cell_size, land.open_edges
    drainage = drained(land.ground, size, land.sea_level, land.runoff, open_edges=is_open, by_cost=by_cost)
    rule = rule_of(land.rivers, int(np.count_nonzero(~drainage.ocean)), wishes)

    def rivers_of(drained: Drainage) -> tuple[NDArray[np.float64], NDArray[np.uint8], float]:
        """The discharge of each cell, Strahler orders of rivers, and the discharge of the whole land."""
        reference = land.reference_cell_size or land.cell_size
        through = gathered_water(
            drained, land.ground, land.cell_size, land.runoff, land.rain, land.rain_rate, reference
        )
        of_a_cell = land.runoff.discharge(land.cell_size**2)
        of_land = float(through[np.equal(drained.directions, OUTLET)].sum()) * of_a_cell
        through *= of_a_cell
        is_river = rivers_by(rule, drained, through, land.runoff, land.cell_size**2) >= 1.0
        orders = strahler_orders(drained.directions, drained.routes.order, is_river)
        orders[drained.ocean] = 0
        return through, orders, of_land

    through, rivers, of_land = rivers_of(drainage)
    unfilled = drain_unfilled(land.ground, land.cell_size, land.sea_level, open_edges=land.open_edges)
    _, fragments, _ = rivers_of(unfilled)
    ends = (fragments > 0) & (unfilled.directions == OUTLET) & (drainage.directions != OUTLET)
    lakes = find_lakes(land.ground, drainage.filled, drainage.directions, drainage.accumulation, land.cell_size)
    watersheds = find_watersheds(drainage.routes.outlets, drainage.ocean, rule.watershed_size)
    cost = path_cost(drainage.filled, np.equal(drainage.directions, OUTLET), land.cell_size)
    return Analysis(land, drainage, through, of_land, rule, rivers, fragments, int(ends.sum()), cost, lakes, watersheds)


def write_vectors(path: Path, waters: Drawn) -> None:
    """Write rivers, watersheds and lakes with coordinates, if the packages for this are installed."""
    try:
        write_geopackage(path, waters)
    except ModuleNotFoundError as error:
        log.warning(
            "%s is not written: the Python package %s is not installed; pip install 'thalweg[export]' adds it",
            path, error.name,
        )  # fmt: skip


# The previews of the maps.


def _draw_filled(found: Analysis, relief: shading.Picture) -> shading.Picture:
    ground = previews.reduced(found.drainage.filled)
    land = previews.reduced(~found.drainage.ocean)
    lowest, highest = float(ground[land > 0.5].min(initial=np.inf)), float(ground.max())
    picture = shading.with_palette(relief, ground, min(lowest, highest), highest, palettes.DISTANCE, 0.8)
    return shading.over(relief, picture, land)


def _draw_lakes(found: Analysis, relief: shading.Picture) -> shading.Picture:
    depth = previews.reduced(found.drainage.filled - found.land.ground, largest=True)
    picture = previews.with_rivers(relief, 0.6 * previews.reduced(found.rivers, largest=True))
    deepest = float(np.quantile(depth[depth > 0.0], 0.98)) if (depth > 0.0).any() else 1.0
    return shading.with_palette(picture, np.sqrt(depth), 0.0, math.sqrt(deepest), palettes.LAKE, 1.0)


def _draw_rivers(found: Analysis, relief: shading.Picture) -> shading.Picture:
    lakes = previews.reduced(found.lakes.labels > 0)
    picture = shading.over(relief, np.divide(palettes.RIVER, 255.0), 0.35 * lakes)
    return previews.with_rivers(picture, previews.reduced(found.rivers, largest=True))


def _draw_fragments(found: Analysis, relief: shading.Picture) -> shading.Picture:
    return previews.with_rivers(relief, previews.reduced(found.fragments, largest=True))


def _draw_profile(found: Analysis, relief: shading.Picture) -> shading.Picture:
    longest = profile_of(found)
    return previews.profile(longest.distance, longest.ground, longest.raised, relief.shape[:2])


def _draw_accumulation(found: Analysis, relief: shading.Picture) -> shading.Picture:
    cells = np.log10(previews.reduced(np.maximum(found.drainage.accumulation, 1.0), largest=True))
    land = previews.reduced(~found.drainage.ocean)
    picture = shading.with_palette(relief, cells, 0.0, float(cells.max()), palettes.ACCUMULATION, 1.0)
    return shading.over(relief, picture, land)


def _draw_watersheds(found: Analysis, relief: shading.Picture) -> shading.Picture:
    from kernels.watersheds import watershed_colours

    colours = np.append(0, watershed_colours(found.watersheds))
    numbers = np.where(found.drainage.ocean, -1, colours[found.watersheds.labels])
    picture = previews.with_watersheds(relief, previews.reduced(numbers, largest=True))
    return previews.with_rivers(picture, previews.reduced(found.rivers, largest=True))


def _draw_path_cost(found: Analysis, relief: shading.Picture) -> shading.Picture:
    return _draw_metres(found, found.path_cost, relief)


def _draw_distance(found: Analysis, relief: shading.Picture) -> shading.Picture:
    return _draw_metres(found, found.drainage.routes.distances, relief)


def _draw_metres(found: Analysis, distances: NDArray[np.float64], relief: shading.Picture) -> shading.Picture:
    metres = previews.reduced(distances)
    picture = shading.with_palette(relief, metres, 0.0, float(metres.max()), palettes.DISTANCE, 0.85)
    return shading.over(relief, picture, previews.reduced(~found.drainage.ocean))


PREVIEWS: dict[str, Callable[[Analysis, shading.Picture], shading.Picture]] = {
    "filled": _draw_filled,
    "lake_depth": _draw_lakes,
    "accumulation": _draw_accumulation,
    "rivers": _draw_rivers,
    "fragments": _draw_fragments,
    "profile": _draw_profile,
    "watersheds": _draw_watersheds,
    "distance": _draw_distance,
    "path_cost": _draw_path_cost,
}


# Lists.


class Profile(NamedTuple):
    """The longest river from source to outlet, in metres, with its discharge in cubic metres per second."""

    distance: NDArray[np.float64]  # [cell]: along the river
    ground: NDArray[np.float64]
    raised: NDArray[np.float64]  # the filled surface
    discharge: NDArray[np.float64]


def profile_of(found: Analysis) -> Profile:
    """The profile of the longest river; without rivers, of the longest flow path."""
    from kernels.routing import way_to_outlet

    drainage, land = found.drainage, found.land
    ways = drainage.routes.distances
    away = np.where(found.rivers > 0, ways, -1.0) if found.rivers.any() else ways
    source = np.unravel_index(int(away.argmax()), away.shape)
    cells = tuple(way_to_outlet(drainage.directions, int(source[0]), int(source[1])).T)
    raised = np.where(drainage.ocean, np.maximum(drainage.filled, land.sea_level), drainage.filled)
    return Profile(ways[source] - ways[cells], land.ground[cells], raised[cells], found.discharge[cells])


def listing_of(path: Path, found: Analysis) -> Listing:
    """What the lists of an analysis are made of."""
    land, drainage, through = found.land, found.drainage, found.discharge.reshape(-1)
    basins, area = found.watersheds, land.cell_size**2
    cells = drainage.accumulation.reshape(-1)
    begun = rivers_by(found.rule, drainage, found.discharge, land.runoff, area).reshape(-1) >= 1.0
    mouths = np.flatnonzero(found.outlets.reshape(-1) & begun)
    longest = np.zeros(cells.size)
    np.maximum.at(longest, drainage.routes.outlets.reshape(-1), drainage.routes.distances.reshape(-1))
    numbers = np.zeros(cells.size, np.int64)
    numbers[basins.outlet] = np.arange(1, len(basins.outlet) + 1)
    rows, columns = land.ground.shape
    return Listing(
        path,
        Frame(rows, columns, land.cell_size, land.sheet, land.place is not None),
        land.sea_level,
        land.runoff,
        land.rain is not None or land.rain_rate is not None,
        found.rule,
        int(np.count_nonzero(~drainage.ocean)),
        found.runoff,
        found.waters.lake_columns(),
        BasinColumns(basins.outlet, cells[basins.outlet], through[basins.outlet]),
        MouthColumns(mouths, cells[mouths], through[mouths], longest[mouths], numbers[mouths]),
        found.falls,
        {
            "rivers_that_end_in_a_hollow_without_filling": found.fragment_ends,
            "profile": {name: values.tolist() for name, values in profile_of(found)._asdict().items()},
        },
    )

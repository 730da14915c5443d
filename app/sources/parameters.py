"""The initial terrain of a world, as parameters."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from app.model.errors import UserError
from app.model.parameters import Parameters, described, parameter
from app.model.world import LARGEST_CELL, LARGEST_RELIEF, LARGEST_SIDE, SMALLEST_CELL, SMALLEST_RELIEF, SMALLEST_SIDE
from app.sources.part import check_part

# Of the generators, in the order of their list
GENERATOR_NAMES = NOISE, DIAMOND_SQUARE, SAND, ISLAND, RANGE = "noise", "diamond-square", "sand", "island", "range"


class WorldParameters(Parameters, frozen=True, kw_only=True):
    """The source of the terrain, its size and its seed."""

    title: ClassVar[str] = "World"
    section: ClassVar[str] = "world"

    # fmt: off
    source: Annotated[str, described(f"a generator ({', '.join(GENERATOR_NAMES)}) or a heightmap file", names_file=True,
        essential=True)] = "noise"
    part: Annotated[str, described(
        "part of the heightmap: cells as 2048x2048+1000+500 (columns x rows + column + row), or west,south,east,"
        "north in its coordinates; empty: all", check=check_part)] = ""
    columns: Annotated[int, parameter(0, LARGEST_SIDE, "number of cells from west to east; 0 means as in the source",
        unit="cells", least=SMALLEST_SIDE)] = 0
    rows: Annotated[int, parameter(0, LARGEST_SIDE, "number of cells from north to south; 0 means as in the source",
        unit="cells", least=SMALLEST_SIDE)] = 0
    seed: Annotated[int, parameter(0, 2**31 - 1, "seed of all random numbers", essential=True)] = 1
    cell_size: Annotated[float, parameter(0.0, LARGEST_CELL, "side of a cell; 0 means as in the source", unit="m",
        least=SMALLEST_CELL)] = 0.0
    reference_cell_size: Annotated[float, parameter(0.0, LARGEST_CELL,
        "side of a cell for which parameters that count cells, steps or particles hold; 0: that of the map's cells",
        unit="m", least=SMALLEST_CELL)] = 0.0
    land_columns: Annotated[int, parameter(0, LARGEST_SIDE,
        "reference cells from west to east that relative lengths and the relief refer to; 0: all of the map",
        unit="cells")] = 0
    land_rows: Annotated[int, parameter(0, LARGEST_SIDE,
        "reference cells from north to south that relative lengths and the relief refer to; 0: all of the map",
        unit="cells")] = 0
    relief: Annotated[float, parameter(0.0, LARGEST_RELIEF,
        "height difference between lowest and highest point; 0 means as in the source", unit="m", least=SMALLEST_RELIEF,
        essential=True)] = 0.0
    sea_floor: Annotated[float, parameter(0.0, 0.5,
        "slope of the sea floor, where a heightmap has a level sea at 0 m; 0: as in the source")] = 0.0
    soil_depth: Annotated[float, parameter(0.0, 100.0, "initial thickness of loose material on the rock",
        unit="m")] = 0.0
    lake_depth: Annotated[float, parameter(0.0, 1_000.0, "initial water level above the lowest point", unit="m")] = 0.0
    lake_part: Annotated[float, parameter(0.01, 1.0,
        "part of the map, from the north, whose lowest point counts and in which that water stands",
        needs="world.lake_depth")] = 1.0
    worn: Annotated[float, parameter(0.0, 5e7,
        "years in which rivers and slopes have worn the land, by the parameters of rivers and uplift", unit="years",
        log=True, needs="world.source=noise or world.source=diamond-square or world.source=island")] = 0.0
    past: Annotated[int, parameter(0, 100_000,
        "cycles before the first, in which water, snow, plants come, rivers make beds, floods run, walls shed debris",
        unit="cycles", log=True,
        needs="droplets.enabled or pools.enabled or moisture.enabled or braiding.enabled or "
            "meandering.enabled or floods.enabled or plants.enabled or snow.enabled or weathering.enabled")] = 0
    rain_map: Annotated[str,
        described("image of the rainfall pattern: most rain where white, none where black; empty: uniform",
        names_file=True, needs="droplets.enabled or moisture.enabled or plants.enabled or geology.enabled")] = ""
    # fmt: on


class NoiseParameters(Parameters, frozen=True, kw_only=True):
    """Fractal gradient noise (Perlin 2002; ridged after Musgrave 1998)."""

    title: ClassVar[str] = "Fractal noise"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "world.source=noise"

    # fmt: off
    wavelength: Annotated[float, parameter(0.05, 4.0,
        "wavelength of the largest hills, relative to the map's longer side", log=True, essential=True)] = 0.6
    octaves: Annotated[int, parameter(1, 12, "number of octaves; more add finer detail")] = 8
    lacunarity: Annotated[float, parameter(1.2, 4.0, "frequency ratio between successive octaves")] = 2.0
    gain: Annotated[float, parameter(0.1, 0.9, "amplitude ratio between successive octaves; higher is rougher",
        essential=True)] = 0.5
    ridged: Annotated[bool, described("ridged noise: sharp crests instead of rounded hills", essential=True)] = False
    plateau: Annotated[float, parameter(0.0, 0.95,
        "fraction of the relief cut off the hilltops, which leaves mesas")] = 0.0
    tilt: Annotated[float, parameter(0.0, 20.0,
        "regional slope: drop over the map's longer side, relative to the relief")] = 0.0
    tilt_direction: Annotated[float, parameter(0.0, 360.0, "downslope direction of the tilt, clockwise from north",
        unit="°", needs="noise.tilt")] = 180.0
    basin: Annotated[float, parameter(0.0, 20.0, "depth of a round basin, relative to the relief of the hills")] = 0.0
    basin_radius: Annotated[float, parameter(0.02, 1.0, "radius of the basin, relative to the map's longer side",
        needs="noise.basin")] = 0.25
    basin_row: Annotated[float, parameter(0.0, 1.0, "position of the basin's centre: 0 north, 1 south",
        needs="noise.basin")] = 0.5
    basin_column: Annotated[float, parameter(0.0, 1.0, "position of the basin's centre: 0 west, 1 east",
        needs="noise.basin")] = 0.5
    valley: Annotated[float, parameter(0.0, 20.0,
        "depth of a winding valley, relative to the relief of the hills")] = 0.0
    valley_width: Annotated[float, parameter(0.01, 1.0,
        "half-width of the valley, axis to rim, relative to the map's longer side", needs="noise.valley")] = 0.1
    valley_direction: Annotated[float, parameter(0.0, 360.0, "downstream direction of the valley, clockwise from north",
        unit="°", needs="noise.valley")] = 180.0
    valley_row: Annotated[float, parameter(0.0, 1.0, "position of the valley's midpoint: 0 north, 1 south",
        needs="noise.valley")] = 0.5
    valley_column: Annotated[float, parameter(0.0, 1.0, "position of the valley's midpoint: 0 west, 1 east",
        needs="noise.valley")] = 0.5
    valley_winding: Annotated[float, parameter(0.0, 0.5,
        "amplitude of the valley's bends, relative to the map's longer side", needs="noise.valley")] = 0.08
    valley_wavelength: Annotated[float, parameter(0.05, 4.0,
        "wavelength of the valley's bends, relative to the map's longer side", log=True,
        needs="noise.valley, noise.valley_winding")] = 0.5
    valley_spurs: Annotated[float, parameter(0.0, 2.0,
        "how far hills narrow the valley and hollows widen it, as a fraction of its width", needs="noise.valley")] = 0.0
    valley_fall: Annotated[float, parameter(0.0, 2.0,
        "downstream deepening of the valley over the map's longer side, as a fraction of its depth",
        needs="noise.valley")] = 0.0
    valley_floor: Annotated[float, parameter(0.0, 0.95, "flat floor of the valley, as a fraction of its width",
        needs="noise.valley")] = 0.0
    moraine: Annotated[float, parameter(0.0, 1.0,
        "height of a moraine across the valley, as a fraction of its depth", needs="noise.valley")] = 0.0
    moraine_place: Annotated[float, parameter(-0.5, 0.5,
        "distance of the moraine downstream of the valley's midpoint, relative to the map's longer side",
        needs="noise.valley, noise.moraine")] = 0.0
    moraine_breach: Annotated[float, parameter(0.0, 1.0,
        "depth of a breach in the moraine, as a fraction of its height", needs="noise.valley, noise.moraine")] = 0.0
    # fmt: on


def read_corners(text: str, name: str = "diamond_square.corners") -> tuple[float, ...]:
    """The heights of four corners in a text; none if it is empty. Raises `UserError`."""
    try:
        corners = tuple(float(word) for word in text.split())
    except ValueError:
        corners = (math.nan,)
    if corners and not (len(corners) == 4 and all(-1.0 <= corner <= 1.0 for corner in corners)):
        raise UserError(
            f"{name} = '{text}': must be four numbers from -1 to 1, such as 0 0.5 -0.5 1: "
            "north-west, north-east, south-west, south-east; or empty"
        )
    return corners


class DiamondSquareParameters(Parameters, frozen=True, kw_only=True):
    """Midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

    title: ClassVar[str] = "Diamond-square"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "world.source=diamond-square"

    # fmt: off
    roughness: Annotated[float, parameter(0.05, 0.95, "R: iteration i displaces by up to R^i; higher is rougher",
        essential=True)] = 0.55
    corners: Annotated[str,
        described("heights of the square's corners, four numbers from -1 to 1: north-west, north-east, south-west, "
        "south-east; empty: by the seed", check=read_corners)] = ""
    # fmt: on


class SandParameters(Parameters, frozen=True, kw_only=True):
    """Loose sand on rock."""

    title: ClassVar[str] = "Sand"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "world.source=sand"

    # fmt: off
    rock: Annotated[Literal["flat", "valley", "pyramid", "ridges", "basin", "foreland"],
        described("shape of the rock; a basin's floor is free of sand; a foreland descends from a gap"
        " between mountains in the north to a basin in the south", essential=True)] = "flat"
    rock_height: Annotated[float, parameter(0.0, 1.0, "height of the rock, as a fraction of the relief",
        needs="not sand.rock=flat")] = 1.0
    rock_radius: Annotated[float, parameter(0.01, 1.0,
        "radius of a basin, or centre to corner of a pyramid, relative to the map's longer side",
        needs="sand.rock=pyramid or sand.rock=basin or sand.rock=foreland")] = 0.25
    delta: Annotated[float, parameter(0.0, 0.5,
        "longest arm of a delta built into a foreland's lake, relative to the map's longer side",
        needs="sand.rock=foreland")] = 0.0
    form: Annotated[Literal["sheet", "dunes", "heap", "row", "column"], described(
        "sand as an uneven sheet, dunes across the wind, a heap, or a row of dunes (column: from north to south)",
        essential=True)] = "sheet"
    height: Annotated[float, parameter(0.0, 1.0,
        "top of a sheet or of dunes, or height of a heap or row, as a fraction of the relief")] = 1.0
    unevenness: Annotated[float, parameter(0.0, 1.0,
        "depth of the hollows in a sheet or row, or between dunes, as a fraction of its height",
        needs="not sand.form=heap")] = 0.5
    wavelength: Annotated[float, parameter(0.02, 4.0,
        "wavelength of the largest hills, or from dune to dune, relative to the map's longer side", log=True)] = 0.2
    octaves: Annotated[int, parameter(1, 12, "number of octaves; more add finer detail")] = 4
    heap_radius: Annotated[float, parameter(0.01, 1.0,
        "radius of a heap, or half-width of a row, relative to the map's longer side",
        needs="sand.form=heap or sand.form=row or sand.form=column")] = 0.15
    heap_row: Annotated[float, parameter(0.0, 1.0, "position of the heap or row: 0 north, 1 south",
        needs="sand.form=heap or sand.form=row")] = 0.5
    heap_column: Annotated[float, parameter(0.0, 1.0, "position of the heap or column: 0 west, 1 east",
        needs="sand.form=heap or sand.form=column")] = 0.25
    # fmt: on


class IslandParameters(Parameters, frozen=True, kw_only=True):
    """Islands of cubic value noise under cosine cones, with cliffs and craters (Talle 2020)."""

    title: ClassVar[str] = "Island"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "world.source=island"

    # fmt: off
    islands: Annotated[int, parameter(1, 40, "number of islands; a single one stands in the centre",
        needs="not island.places", essential=True)] = 1
    size: Annotated[float, parameter(0.02, 2.0, "radius of the largest island; 1 reaches the map's edges",
        unit="half maps", needs="not island.places", essential=True)] = 1.0
    size_variation: Annotated[float, parameter(0.0, 0.95,
        "how much smaller than the largest island others may be, as a fraction", needs="not island.places")] = 0.5
    spread: Annotated[float, parameter(0.0, 1.0, "largest distance of islands from the map's centre", unit="half maps",
        needs="not island.places")] = 0.8
    places: Annotated[str,
        described("explicit islands instead: east, south and radius of each, such as 0.3 0.5 0.6; 0.8 0.4 0.2")] = ""
    wavelength: Annotated[float, parameter(0.02, 4.0,
        "wavelength of the largest hills, relative to the map's longer side", log=True)] = 0.2
    octaves: Annotated[int, parameter(1, 12, "number of octaves; more add finer detail")] = 6
    lacunarity: Annotated[float, parameter(1.2, 4.0, "frequency ratio between successive octaves")] = 1.7
    gain: Annotated[float, parameter(0.1, 0.9, "amplitude ratio between successive octaves; higher is rougher")] = 0.5
    power: Annotated[float, parameter(0.5, 8.0,
        "exponent of the noise; higher gives flatter plains and steeper peaks")] = 4.5
    cone_power: Annotated[float, parameter(0.5, 8.0,
        "exponent of the cone; higher gives broader islands with steeper coasts")] = 1.6
    coast: Annotated[float, parameter(0.005, 0.95, "sea level, from the sea floor (0) to the highest point (1)",
        unit="h", essential=True)] = 0.155
    cliffs: Annotated[bool, described("coastal cliffs cut by the sea")] = True
    cliff_low: Annotated[float, parameter(0.001, 1.0,
        "land below this height is always cut; below sea level it leaves beaches", unit="h",
        needs="island.cliffs")] = 0.125
    cliff_high: Annotated[float, parameter(0.001, 1.0, "height of the highest cliffs", unit="h",
        needs="island.cliffs")] = 0.375
    cliff_wavelength: Annotated[float, parameter(0.005, 2.0,
        "distance between high cliffs, relative to the map's longer side", log=True, needs="island.cliffs")] = 0.04
    cliff_power: Annotated[float, parameter(0.0, 8.0, "steepness of the cliffs", needs="island.cliffs")] = 3.0
    craters: Annotated[bool, described("volcanic craters in the highest mountains")] = True
    crater_threshold: Annotated[float, parameter(0.05, 1.0, "height above which summits are mirrored down into craters",
        unit="h", needs="island.craters")] = 0.85
    crater_unevenness: Annotated[float, parameter(0.0, 1.0,
        "height difference between the lowest and highest crater rims", unit="h", needs="island.craters")] = 0.2
    crater_wavelength: Annotated[float, parameter(0.005, 2.0,
        "wavelength of the rims' unevenness, relative to the map's longer side", log=True,
        needs="island.craters")] = 0.1
    crater_slope: Annotated[float, parameter(0.0, 2.0, "slope inside a crater, relative to that of the mountain",
        needs="island.craters")] = 0.6
    ocean_depth: Annotated[float, parameter(0.0, 0.95, "depth of the open sea, as a fraction of the relief")] = 0.25
    floor_reach: Annotated[float, parameter(1.0, 4.0,
        "distance over which the sea floor descends, relative to an island's radius")] = 1.7
    # fmt: on


class RangeParameters(Parameters, frozen=True, kw_only=True):
    """The plain on which a range rises; what makes it is the geology (Yuan et al. 2019)."""

    title: ClassVar[str] = "Range"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "world.source=range"

    # fmt: off
    base: Annotated[
        float, parameter(-5_000.0, 5_000.0, "elevation of the plain, above the sea where there is one", unit="m")
    ] = 0.0
    unevenness: Annotated[
        float, parameter(0.1, 1_000.0, "height of the plain's hills, whose hollows become rivers", unit="m", log=True)
    ] = 20.0
    wavelength: Annotated[
        float, parameter(0.02, 4.0, "wavelength of the largest hills, relative to the map's longer side", log=True)
    ] = 0.3
    octaves: Annotated[int, parameter(1, 12, "number of octaves; more add finer detail")] = 6
    # fmt: on

"""What a world starts from, as parameters."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from app.model.parameters import Parameters, described, parameter
from app.model.world import LARGEST_SIDE


class WorldParameters(Parameters, frozen=True, kw_only=True):
    """The source of the terrain, its size and its seed."""

    title: ClassVar[str] = "World"
    section: ClassVar[str] = "world"

    source: Annotated[
        str, described("a generator (noise, diamond-square, sand, island) or a heightmap's file", names_file=True)
    ] = "noise"
    columns: Annotated[
        int, parameter(0, LARGEST_SIDE, "cells from west to east; 0 means as many as the source has", unit="cells")
    ] = 0
    rows: Annotated[
        int, parameter(0, LARGEST_SIDE, "cells from north to south; 0 means as many as the source has", unit="cells")
    ] = 0
    seed: Annotated[int, parameter(0, 2**31 - 1, "what all random numbers start from")] = 1
    cell_size: Annotated[float, parameter(0.0, 10_000.0, "side of a cell; 0 means what the source says", unit="m")] = (
        0.0
    )
    relief: Annotated[
        float, parameter(0.0, 9_000.0, "lowest to highest point; 0 means what the source says", unit="m")
    ] = 0.0
    soil_depth: Annotated[float, parameter(0.0, 100.0, "loose material on the rock at the start", unit="m")] = 0.0
    lake_depth: Annotated[
        float, parameter(0.0, 1_000.0, "of the water that stands over the lowest point at the start", unit="m")
    ] = 0.0
    rain_map: Annotated[
        str,
        described(
            "an image's file: where it is white most rain falls, where it is black none; empty: everywhere",
            names_file=True,
        ),
    ] = ""


class NoiseParameters(Parameters, frozen=True, kw_only=True):
    """Fractal gradient noise (Perlin 2002; ridged after Musgrave 1998)."""

    title: ClassVar[str] = "Fractal noise"
    section: ClassVar[str] = "world"

    wavelength: Annotated[
        float, parameter(0.05, 4.0, "size of the largest hills, as a part of the map's longer side", log=True)
    ] = 0.6
    octaves: Annotated[int, parameter(1, 12, "layers of finer and finer noise")] = 8
    lacunarity: Annotated[float, parameter(1.2, 4.0, "how much finer each octave is than the one before")] = 2.0
    gain: Annotated[float, parameter(0.1, 0.9, "how strong each octave is beside the one before")] = 0.5
    ridged: Annotated[bool, described("sharp ridges instead of rounded hills")] = False
    plateau: Annotated[
        float, parameter(0.0, 0.95, "how much of the height is cut off the hills, which leaves table lands")
    ] = 0.0
    tilt: Annotated[float, parameter(0.0, 20.0, "how far the land falls from one side to the other, in reliefs")] = 0.0
    tilt_direction: Annotated[
        float, parameter(0.0, 360.0, "where a tilted land falls to, clockwise from north", unit="°")
    ] = 180.0
    basin: Annotated[float, parameter(0.0, 20.0, "depth of a round basin, in reliefs of the hills around")] = 0.0
    basin_radius: Annotated[float, parameter(0.02, 1.0, "of the basin, as a part of the map's longer side")] = 0.25
    basin_row: Annotated[float, parameter(0.0, 1.0, "where the basin lies, from north to south")] = 0.5
    basin_column: Annotated[float, parameter(0.0, 1.0, "where the basin lies, from west to east")] = 0.5
    valley: Annotated[float, parameter(0.0, 20.0, "depth of a winding valley, in reliefs of the hills around")] = 0.0
    valley_width: Annotated[
        float, parameter(0.01, 1.0, "from its middle to its rim, as a part of the map's longer side")
    ] = 0.1
    valley_direction: Annotated[
        float, parameter(0.0, 360.0, "where the valley runs to, clockwise from north", unit="°")
    ] = 180.0
    valley_row: Annotated[float, parameter(0.0, 1.0, "where the valley lies, from north to south")] = 0.5
    valley_column: Annotated[float, parameter(0.0, 1.0, "where the valley lies, from west to east")] = 0.5
    valley_winding: Annotated[
        float, parameter(0.0, 0.5, "how far it swings to either side, as a part of the map's longer side")
    ] = 0.08
    valley_wavelength: Annotated[
        float, parameter(0.05, 4.0, "from bend to bend, as a part of the map's longer side", log=True)
    ] = 0.5
    valley_spurs: Annotated[
        float, parameter(0.0, 2.0, "how much narrower it is between hills than between hollows, as a part")
    ] = 0.0
    valley_fall: Annotated[
        float, parameter(0.0, 2.0, "how much deeper it is after one length of the map's longer side, as a part")
    ] = 0.0


class DiamondSquareParameters(Parameters, frozen=True, kw_only=True):
    """Midpoint displacement (Fournier, Fussell, Carpenter 1982)."""

    title: ClassVar[str] = "Diamond-square"
    section: ClassVar[str] = "world"

    roughness: Annotated[float, parameter(0.05, 0.95, "R: iteration i displaces by up to R to the power of i")] = 0.55


class SandParameters(Parameters, frozen=True, kw_only=True):
    """Loose sand on rock."""

    title: ClassVar[str] = "Sand"
    section: ClassVar[str] = "world"

    rock: Annotated[
        Literal["flat", "valley", "pyramid", "ridges", "basin", "foreland"],
        described(
            "what the rock looks like; in the middle of a basin it lies bare; a foreland falls from a gap between"
            " mountains in the north to a basin in the south"
        ),
    ] = "flat"
    rock_height: Annotated[float, parameter(0.0, 1.0, "height of the rock, as a part of the relief")] = 1.0
    rock_radius: Annotated[
        float,
        parameter(0.01, 1.0, "from the middle to the corners of a pyramid or the rim of a basin, in longer sides"),
    ] = 0.25
    form: Annotated[
        Literal["sheet", "heap", "row", "column"],
        described("whether sand covers the map, lies in a heap, or in a row of dunes (column: from north to south)"),
    ] = "sheet"
    height: Annotated[
        float, parameter(0.0, 1.0, "highest surface of a sheet, or height of a heap, as a part of the relief")
    ] = 1.0
    unevenness: Annotated[float, parameter(0.0, 1.0, "how deep the hollows of a sheet are")] = 0.5
    wavelength: Annotated[
        float, parameter(0.02, 4.0, "size of the largest hills, as a part of the map's longer side", log=True)
    ] = 0.2
    octaves: Annotated[int, parameter(1, 12, "layers of finer and finer noise")] = 4
    heap_radius: Annotated[
        float, parameter(0.01, 1.0, "of the heap, or half the width of the row, as a part of the map's longer side")
    ] = 0.15
    heap_row: Annotated[float, parameter(0.0, 1.0, "where the heap or the row lies, from north to south")] = 0.5
    heap_column: Annotated[float, parameter(0.0, 1.0, "where the heap or the column lies, from west to east")] = 0.25


class IslandParameters(Parameters, frozen=True, kw_only=True):
    """Islands of cubic value noise under cosine cones, with cliffs and craters (Talle 2020)."""

    title: ClassVar[str] = "Island"
    section: ClassVar[str] = "world"

    islands: Annotated[int, parameter(1, 40, "how many there are; one alone stands in the middle")] = 1
    size: Annotated[
        float, parameter(0.02, 2.0, "radius of the largest one; at 1 it reaches the map's edges", unit="half maps")
    ] = 1.0
    size_variation: Annotated[float, parameter(0.0, 0.95, "how much smaller than the largest others may be")] = 0.5
    spread: Annotated[float, parameter(0.0, 1.0, "how far from the middle of the map they lie", unit="half maps")] = 0.8
    places: Annotated[
        str, described("where they stand instead: parts of width and height, and radius: 0.3 0.5 0.6; 0.8 0.4 0.2")
    ] = ""
    wavelength: Annotated[
        float, parameter(0.02, 4.0, "size of the largest hills, as a part of the map's longer side", log=True)
    ] = 0.2
    octaves: Annotated[int, parameter(1, 12, "layers of finer and finer noise")] = 6
    lacunarity: Annotated[float, parameter(1.2, 4.0, "how much finer each octave is than the one before")] = 1.7
    gain: Annotated[float, parameter(0.1, 0.9, "how strong each octave is beside the one before")] = 0.5
    power: Annotated[float, parameter(0.5, 8.0, "what the noise is raised to: flat plains and steep peaks")] = 4.5
    cone_power: Annotated[float, parameter(0.5, 8.0, "how broad an island stays up to its rim")] = 1.6
    coast: Annotated[float, parameter(0.005, 0.95, "where the sea stands on the land without it", unit="h")] = 0.155
    cliffs: Annotated[bool, described("whether the sea has cut cliffs")] = True
    cliff_low: Annotated[
        float, parameter(0.001, 1.0, "below this height all land is cut; beaches where it is below the sea", unit="h")
    ] = 0.125
    cliff_high: Annotated[float, parameter(0.001, 1.0, "the highest cliffs", unit="h")] = 0.375
    cliff_wavelength: Annotated[
        float, parameter(0.005, 2.0, "between high cliffs, as a part of the map's longer side", log=True)
    ] = 0.04
    cliff_power: Annotated[float, parameter(0.0, 8.0, "how steep they are")] = 3.0
    craters: Annotated[bool, described("whether the highest mountains are volcanoes")] = True
    crater_threshold: Annotated[
        float, parameter(0.05, 1.0, "what stands higher is mirrored down into a crater", unit="h")
    ] = 0.85
    crater_unevenness: Annotated[
        float, parameter(0.0, 1.0, "between the lowest and the highest rim of craters", unit="h")
    ] = 0.2
    crater_wavelength: Annotated[
        float, parameter(0.005, 2.0, "of the rims' unevenness, as a part of the map's longer side", log=True)
    ] = 0.1
    crater_slope: Annotated[float, parameter(0.0, 2.0, "slope inside of a crater, beside that of the mountain")] = 0.6
    ocean_depth: Annotated[float, parameter(0.0, 0.95, "of the open sea, as a part of the relief")] = 0.25
    floor_reach: Annotated[
        float, parameter(1.0, 4.0, "how far the floor of the sea slopes, beside the radius of an island")
    ] = 1.7

"""`thalweg analyze`."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import TYPE_CHECKING

from app.cli.arguments import file_path, finite_number, metres_of, whole_number
from app.model.errors import UserError

if TYPE_CHECKING:
    from app.cli.analyze import RiverWishes

ONLY_WITH_REALISM = ("json", "curves", "cycles")
# What goes with --tiles and nothing else, and what does not go with it
ONLY_WITH_TILES = ("workers", "scheduler")
ONLY_AT_ONCE = ("relief", "ties")
ONLY_WITH_MAPS = ("precipitation", "rain_by_altitude", "rain_map", "river_discharge", "watershed", "ties", "tiles")

DESCRIPTION = (
    "Find the rivers, lakes and watersheds of a land, and write them as TIFF maps in the cells and the place of the "
    "file, as lines, polygons and points in a GeoPackage, as PNG previews, and as lists of lakes, watersheds, river "
    "mouths and falls in JSON; or measure how far it is like real terrain."
)
EPILOG = """
examples:
  thalweg analyze elevation.tif --out maps
  thalweg analyze island.png --relief 400 --cell-size 10 --sea-level 60 --out maps
  thalweg analyze world.npz --river 2000 --watershed 10000 --out maps
  thalweg analyze world.npz --river-discharge 0.05 --out maps
  thalweg analyze world.npz --precipitation 1600 --rain-by-altitude 0.5 --out maps
  thalweg analyze country.tif --tiles 2048 --workers 2 --out maps
  thalweg analyze --realism elevation.tif
  thalweg analyze --realism elevation.tif --curves curves.png
  thalweg analyze --realism noise --cycles 200 --json realism.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument(
        "file",
        type=file_path,
        metavar="FILE",
        help="a heightmap such as a GeoTIFF, a saved world, or a preset, whose initial land is taken",
    )
    result = parser.add_mutually_exclusive_group(required=True)
    result.add_argument("--out", type=file_path, metavar="DIR", help="folder for the maps; created if needed")
    result.add_argument(
        "--realism", action="store_true", help="print measures of the land's form, beside the ranges of real terrain"
    )
    parser.add_argument(
        "--json", type=file_path, metavar="FILE", help="with --realism: also write the measures to a file"
    )
    parser.add_argument(
        "--curves",
        type=file_path,
        metavar="FILE",
        help="with --realism: also draw the curves that the measures are taken from, as a .png, and beside it write "
        "their points and laws as a .csv",
    )
    parser.add_argument(
        "--cycles",
        type=whole_number(0, 10**9),
        metavar="N",
        help="with --realism: run a preset or a saved world first; default: 0",
    )
    parser.add_argument(
        "--sea-level",
        type=finite_number,
        metavar="METRES",
        help="land below it that is connected to the map's edge is ocean; default: that of the world, if it has a sea",
    )
    parser.add_argument(
        "--edges",
        choices=("open", "closed"),
        help="open: water leaves over the map's edges too; closed: only into the ocean, where there is one; default: "
        "as in the world, and open for a heightmap",
    )
    parser.add_argument(
        "--precipitation",
        metavar="MM",
        help="annual rain, which sets the discharge; default: climate.precipitation of the world, or 800",
    )
    parser.add_argument(
        "--rain-by-altitude",
        metavar="FRACTION",
        help="part that increases with altitude, from 0 to 1; default: climate.rain_by_altitude of the world, or 0",
    )
    parser.add_argument(
        "--rain-map",
        type=file_path,
        metavar="FILE",
        help="picture of the rainfall: most where lightest, none where darkest; default: that of the world",
    )
    cells = whole_number(1, 2**31 - 1)
    parser.add_argument(
        "--river",
        type=cells,
        metavar="CELLS",
        help="contributing area at which a river begins; default: as in the world, 1/2000 of the land of a heightmap "
        "under even rain, with --realism 1/4000",
    )
    parser.add_argument(
        "--river-discharge",
        metavar="M3_S",
        help="mean discharge at which a river begins, in m³/s, instead of --river",
    )
    parser.add_argument(
        "--watershed",
        type=cells,
        metavar="CELLS",
        help="smaller watersheds are merged; default: as in the world, 1/500 of the land",
    )
    parser.add_argument(
        "--ties",
        choices=("flat", "cost"),
        help="where several ways are equally steep, water takes the shortest over a flat, or that of the least cost to "
        "the ocean; default: as in the world, and flat for a heightmap",
    )
    parser.add_argument(
        "--cell-size", type=metres_of("world.cell_size"), metavar="METRES", help="side of a cell, overriding the file"
    )
    parser.add_argument(
        "--relief", type=metres_of("world.relief"), metavar="METRES", help="height from the lowest to the highest point"
    )
    _add_tiles(parser)
    parser.add_argument(
        "--part",
        default="",
        metavar="PART",
        help="of a heightmap or a folder of tiles: columns x rows + column + row, or west,south,east,north",
    )


def _add_tiles(parser: argparse.ArgumentParser) -> None:
    """Add the options of models that are larger than memory."""
    parser.add_argument(
        "--tiles",
        type=whole_number(16, 2**15),
        metavar="CELLS",
        help="solve a model that is larger than memory in tiles of so many rows and columns, a multiple of 16, such as "
        "2048, to the same maps; a run that was stopped goes on from the tiles that are done",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=whole_number(1, 1024),
        metavar="N",
        help="with --tiles: processes on this machine; default: one per core",
    )
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="with --tiles: address of a Dask cluster that solves them"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    without_effect = ONLY_WITH_MAPS if options.realism else ONLY_WITH_REALISM
    for name in without_effect:
        if getattr(options, name) is not None:
            word, other = "--" + name.replace("_", "-"), "--out" if options.realism else "--realism"
            raise UserError(f"{word} is only for {other}")
    refused, why = (ONLY_AT_ONCE, "does not go with") if options.tiles else (ONLY_WITH_TILES, "is only for")
    for name in refused:
        if getattr(options, name) is not None:
            raise UserError(f"--{name.replace('_', '-')} {why} --tiles")
    if options.realism:
        _run_realism(options)
    else:
        _run_maps(options)


def _run_realism(options: argparse.Namespace) -> None:
    from app.cli.realism import print_realism

    print_realism(
        options.file,
        options.json,
        curves=options.curves,
        cycles=options.cycles or 0,
        sea_level=options.sea_level,
        open_edges=None if options.edges is None else options.edges == "open",
        river_cells=options.river,
        cell_size=options.cell_size,
        relief=options.relief,
        part=options.part,
    )


def _run_maps(options: argparse.Namespace) -> None:
    from app.cli.analyze import RiverWishes
    from app.scene.scene import Scene

    asked = {"precipitation": options.precipitation, "rain_by_altitude": options.rain_by_altitude}
    asked = {name: text for name, text in asked.items() if text is not None}
    scene = Scene()
    for name, text in asked.items():
        scene = scene.with_setting(f"climate.{name}={text}")
    if options.river_discharge is not None:
        if options.river is not None:
            raise UserError("--river counts cells and --river-discharge m³/s: a river can begin by one of them")
        scene = scene.with_setting(f"rivers.discharge={options.river_discharge}")
    climate = {name: getattr(scene.climate, name) for name in asked}
    rivers = RiverWishes(options.river, scene.rivers.discharge or None, options.watershed, options.ties)
    if options.tiles:
        _run_in_tiles(options, climate, rivers)
    else:
        _run_at_once(options, climate, rivers)


def _run_at_once(options: argparse.Namespace, climate: dict[str, float], rivers: RiverWishes) -> None:
    from app.cli.analyze import analyze

    analyze(
        options.file,
        options.out,
        sea_level=options.sea_level,
        open_edges=None if options.edges is None else options.edges == "open",
        climate=climate,
        rain_map=options.rain_map,
        rivers=rivers,
        cell_size=options.cell_size,
        relief=options.relief,
        part=options.part,
    )


def _run_in_tiles(options: argparse.Namespace, climate: dict[str, float], rivers: RiverWishes) -> None:
    try:
        run = importlib.import_module("app.tiles.run")  # by its name, as commands are: it lies above this room
    except ImportError as error:
        if getattr(sys, "frozen", False):
            why = "this program, a folder of its own, solves no tiles; installed in Python it does"
        else:
            why = f"--tiles needs {error.name}"
        raise UserError(f"{why}: pip install 'thalweg[sweep,export]'") from error
    run.analyze_in_tiles(
        options.file,
        options.out,
        run.Cut(options.tiles, options.workers, options.scheduler or ""),
        sea_level=options.sea_level,
        open_edges=None if options.edges is None else options.edges == "open",
        climate=climate,
        rain_map=options.rain_map,
        rivers=rivers,
        cell_size=options.cell_size,
        part=options.part,
    )

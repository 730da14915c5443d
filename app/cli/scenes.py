"""Scenes and journals from the options of a command."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from app.cli.arguments import whole_number
from app.model.errors import UserError

if TYPE_CHECKING:
    from app.files.journal import Journal
    from app.scene.scene import Scene


def add_scene_options(parser: argparse.ArgumentParser, default: str = "the preset jacksboro") -> None:
    """Add the options that describe a scene. `default` names the default scene in the help."""
    scene = parser.add_argument_group("scene")
    scene.add_argument(
        "source",
        nargs="?",
        metavar="SOURCE",
        help="a preset, a generator (noise, diamond-square, sand, island, range) or a file (a heightmap, a saved "
        f"world, your own preset), looked up in this order; default: {default}",
    )
    scene.add_argument(
        "--size",
        metavar="SIZE",
        help="map size: cells from west to east, the other side in proportion; or WIDTHxHEIGHT; the land keeps its "
        "extent in metres and its hills, and more cells show more detail",
    )
    scene.add_argument(
        "--extent",
        metavar="METRES",
        help="how far the map reaches: metres from west to east, the other side in proportion; or WIDTHxHEIGHT; its "
        "cells and hills keep their size, so that a wider map has more of them; rivers that have worn it find other "
        "ways, and a range is made anew, as wide",
    )
    scene.add_argument(
        "--part",
        metavar="PART",
        help="of a heightmap or a folder of tiles: 2048x2048+1000+500 (columns x rows + column + row of its cells), or "
        "west,south,east,north in its coordinates",
    )
    scene.add_argument("--seed", metavar="N", help="seed of all random numbers")
    scene.add_argument("--cell-size", metavar="METRES", help="side of a cell")
    scene.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.NAME=VALUE",
        help="change a parameter; can be repeated; `thalweg --list-parameters` lists them",
    )
    scene.add_argument(
        "--threads", type=whole_number(1, 256), metavar="N", help="threads of the simulation; default: one per core"
    )


def add_comparison(parser: argparse.ArgumentParser, option: str = "--compare") -> None:
    """Add the option that names worlds to compare with."""
    parser.add_argument(
        option,
        dest="compare",
        action="append",
        nargs="+",
        default=[],
        metavar="WITH",
        help="show another world beside the first: the same land with climate and processes of a preset or a saved "
        "world, with parameters changed (SECTION.NAME=VALUE), or both; can be repeated, up to four worlds",
    )


def scenes_of(options: argparse.Namespace) -> list[Scene]:
    """The scene of the options, and the scenes it is compared with, if any."""
    return compared_scenes(opened_scene(options), options)


def compared_scenes(scene: Scene, options: argparse.Namespace) -> list[Scene]:
    """The scene with the changes of the options, and the scenes it is compared with, if any."""
    from app.files.opening import open_comparison
    from app.scene.comparison import MOST_WORLDS

    scene = with_changes(scene, options)
    if len(options.compare) >= MOST_WORLDS:
        raise UserError(f"--compare: {MOST_WORLDS} worlds can be compared, and not {len(options.compare) + 1}")
    return [scene, *(open_comparison(scene, words) for words in options.compare)]


def scene_of(options: argparse.Namespace) -> Scene:
    """The scene that the options describe."""
    return with_changes(opened_scene(options), options)


def opened_scene(options: argparse.Namespace) -> Scene:
    """The scene that the options open."""
    from app.files.opening import open_scene
    from app.scene.scene import DEFAULT_PRESET

    source = DEFAULT_PRESET if options.source is None else options.source
    return open_scene(source, options.part, wanted_cells(options))


def wanted_cells(options: argparse.Namespace) -> int:
    """The number of cells along the longer side in the options; 0: none given."""
    from app.engine.creation import cells_wanted, read_size
    from app.scene.scene import read_setting

    wanted = cells_wanted(dict(map(read_setting, options.set)))
    return wanted or (max(read_size(options.size, "--size")) if options.size is not None else 0)


def with_changes(scene: Scene, options: argparse.Namespace) -> Scene:
    """The scene with the changes of the options."""
    from app.scene.scene import DECLARATIONS, rebuilds_world

    for option, setting in _settings(options, scene):
        path = setting.partition("=")[0].strip()
        if scene.saved_world and path in DECLARATIONS and rebuilds_world(path):
            raise UserError(
                f"{option}: {options.source or scene.name} is a saved world, which keeps the terrain, size and seed it "
                "began with"
            )
        scene = scene.with_setting(setting)
    return scene


def _settings(options: argparse.Namespace, scene: Scene) -> list[tuple[str, str]]:
    """The changes of the options, each as typed and as --set would write it; --set itself comes last."""
    from app.engine.creation import extent_in_metres, read_extent, read_size, size_in_cells
    from app.sources.generators import GENERATORS

    values: dict[str, tuple[str, int | float]] = {}
    parts: list[tuple[str, str]] = []
    if options.part is not None:
        if scene.saved_world or scene.world.source in GENERATORS:
            raise UserError(f"--part {options.part}: only a heightmap or a folder of tiles has parts")
        parts = [(f"--part {options.part}", f"world.part={options.part}")]
        scene = scene.with_value("world.part", options.part)
    if options.extent is not None:
        option = f"--extent {options.extent}"
        extent = read_extent(options.extent, "--extent")
        if options.cell_size is not None:
            scene = scene.with_setting(f"world.cell_size={options.cell_size}")
        try:
            changes = extent_in_metres(scene, *extent)
        except UserError as error:
            raise UserError(f"{option}: {error}") from error
        values |= {path: (option, value) for path, value in changes.items()}
        scene = scene.with_values(changes)
    if options.size is not None:
        changes = size_in_cells(scene, *read_size(options.size, "--size"))
        values |= {path: (f"--size {options.size}", value) for path, value in changes.items()}
    settings = parts + [(option, f"{path}={value!r}") for path, (option, value) in values.items()]
    if options.seed is not None:
        settings += [(f"--seed {options.seed}", f"world.seed={options.seed}")]
    if options.cell_size is not None:
        settings += [(f"--cell-size {options.cell_size}", f"world.cell_size={options.cell_size}")]
    return settings + [(f"--set {setting}", setting) for setting in options.set]


def journal_of(options: argparse.Namespace) -> Journal:
    """The journal that the options name, with their changes to its scenes."""
    from app.cli.replay import changed
    from app.files.opening import read_journal
    from app.sources.terrain import find_terrain

    if options.source is None:
        raise UserError("which file? a saved world has its journal in it")
    return changed(read_journal(find_terrain(options.source)), lambda scene: with_changes(scene, options))

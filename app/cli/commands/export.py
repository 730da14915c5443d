"""`thalweg export`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.cli.arguments import file_path, finite_number, list_of_names, whole_number
from app.cli.scenes import add_scene_options, scene_of

if TYPE_CHECKING:
    from app.export.wishes import Wish


DESCRIPTION = "Write the land of a preset, a saved world or a heightmap in formats of other programs."
EPILOG = """
examples:
  thalweg export world.npz --out land.tif
  thalweg export world.npz --out land.r16 --side unreal
  thalweg export canyon --cycles 400 --out folder --heights tif,png,exr --surface ground,water
  thalweg export coupled-with-trees --cycles 400 --out folder --maps all --map-format png --trees csv
  thalweg export world.npz --out land.gpkg
  thalweg export world.npz --out land.glb --triangles 50000
  thalweg export volcano --cycles 200 --out folder --meshes stl --print-width 120
  thalweg export world.npz --out contours.pdf --pictures contours --paper a3
  thalweg export world.npz --out maps.exr --maps water_depth,flow,splat
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    from app.export.wishes import WISHES

    add_scene_options(parser)
    parser.add_argument(
        "--cycles", type=whole_number(0, 10**9), default=0, metavar="N", help="run it first; default: 0"
    )
    parser.add_argument(
        "--out",
        type=file_path,
        required=True,
        metavar="PATH",
        help="a folder for all files, made if needed, or one file, whose suffix says what it holds",
    )
    groups = {wish.group: parser.add_argument_group(wish.group) for wish in WISHES}
    for wish in WISHES:
        groups[wish.group].add_argument(
            wish.option,
            dest=wish.path,
            type=_wish_reader(wish),
            default=wish.default,
            metavar="NAMES" if wish.several else "NAME" if isinstance(wish.default, str) else "N",
            help=_wish_help(wish),
        )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.cli.export import export
    from app.export.wishes import WISHES, Wishes

    wishes = Wishes()
    for wish in WISHES:
        wishes = wishes.with_value(wish.path, getattr(options, wish.path))
    export(scene_of(options), options.out, wishes, cycles=options.cycles, threads=options.threads)


def _wish_reader(wish: Wish) -> Callable[[str], Any]:
    """The function that parses a value."""
    if wish.several:
        return list_of_names
    if isinstance(wish.default, int):
        return whole_number(int(max(wish.low, 0)), int(min(wish.high, 10**9)))
    return finite_number if isinstance(wish.default, float) else str


def _wish_help(wish: Wish) -> str:
    """The help of a wish: its meaning, choices and default."""
    known = "; ".join(f"{name}: {help}" for name, help in (wish.known or {}).items())
    default = ",".join(wish.default) if wish.several else wish.default
    words = wish.help + (f" in {wish.unit}" if wish.unit else "") + (", with commas" if wish.several else "")
    return f"{words}{f': {known}' if known else ''}{f'; default: {default}' if default else ''}".replace("%", "%%")

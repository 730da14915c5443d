"""`thalweg simulate`."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.arguments import file_path, whole_number
from app.cli.scenes import add_scene_options, scene_of

DESCRIPTION = "Run cycles of a simulation and save the world, from which every command can continue."
EPILOG = """
examples:
  thalweg simulate --cycles 1000 --out world.npz
  thalweg simulate world.npz --cycles 1000 --out world.npz
  thalweg world.npz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    add_scene_options(parser)
    parser.add_argument("--cycles", type=whole_number(0, 10**9), default=1000, metavar="N", help="default: %(default)s")
    parser.add_argument("--out", type=file_path, default=Path("world.npz"), metavar="FILE", help="default: %(default)s")
    parser.add_argument("--overwrite", action="store_true", help="replace another world saved under that name")
    parser.add_argument(
        "--save-every",
        type=whole_number(1, 10**9),
        metavar="N",
        help="also save every N cycles; at the end and on Ctrl+C the world is saved in any case",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.cli.simulate import simulate

    simulate(
        scene_of(options),
        options.out,
        cycles=options.cycles,
        threads=options.threads,
        save_every=options.save_every,
        overwrite=options.overwrite,
    )

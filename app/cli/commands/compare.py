"""`thalweg compare`."""

from __future__ import annotations

import argparse

from app.cli.arguments import whole_number
from app.cli.scenes import add_comparison, add_scene_options, scenes_of

DESCRIPTION = (
    "Run worlds of the same land with different processes, and print what becomes of each: its channels, what was "
    "worn and put down, its water."
)
EPILOG = """
examples:
  thalweg compare basic --with coupled --with coupled-with-trees --cycles 600
  thalweg compare noise --with climate.precipitation=400 --with climate.precipitation=1600 droplets.friction=0.1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    add_scene_options(parser)
    add_comparison(parser, "--with")
    parser.add_argument("--cycles", type=whole_number(1, 10**9), default=400, metavar="N", help="default: %(default)s")


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.cli.compare import compare

    compare(scenes_of(options), cycles=options.cycles, threads=options.threads)

"""`thalweg replay`."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.arguments import file_path, whole_number
from app.cli.scenes import add_scene_options, journal_of

DESCRIPTION = (
    "Run a journal again: all that was done to a saved world, after the same cycles. Without further options the "
    "world is the same to the bit; with another seed, size or parameter it is the same story on another land."
)
EPILOG = """
examples:
  thalweg replay world.npz --out again.npz
  thalweg replay world.npz --out story.toml
  thalweg replay story.toml --seed 7 --size 512 --out elsewhere.npz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    add_scene_options(parser, "none: a saved world, or the journal of one (.toml)")
    parser.add_argument(
        "--cycles", type=whole_number(0, 10**9), metavar="N", help="default: up to the end of the journal"
    )
    parser.add_argument(
        "--out", type=file_path, default=Path("replayed.npz"), metavar="FILE",
        help="a world (.npz), or the journal alone (.toml); default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="replace another world saved under that name")


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.cli.replay import replay

    journal = journal_of(options)
    replay(journal, options.out, cycles=options.cycles, threads=options.threads, overwrite=options.overwrite)

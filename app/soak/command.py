"""`thalweg soak`."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.arguments import file_path, positive_number, whole_number

MOST_HOURS = 10_000.0

DESCRIPTION = (
    "Stress-test the window: run presets in turn and apply random actions (keys, changes, comparisons, camera, "
    "window sizes, saving and opening). Reports errors, frames, cycles and memory at the end."
)
EPILOG = """
examples:
  thalweg soak --hours 8
  thalweg soak noise lakes --hours 0.1 --seed 4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="presets to run; default: all")
    parser.add_argument(
        "--hours", type=positive_number(MOST_HOURS), default=1.0, metavar="H", help="default: %(default)g"
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**31 - 1),
        metavar="N",
        help="random seed of the actions; default: a new one each time",
    )
    parser.add_argument(
        "--record",
        type=file_path,
        default=Path("soak.jsonl"),
        metavar="FILE",
        help="log of all actions, each written before it is performed; default: %(default)s",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.soak import soak

    soak(options.hours, options.presets, seed=options.seed, record=options.record)

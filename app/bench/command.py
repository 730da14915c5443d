"""`thalweg bench`."""

from __future__ import annotations

import argparse

from app.bench import GROUPS, bench
from app.cli.arguments import file_path, whole_number

_GROUPS = "\n".join(f"  {name:<12} {what}" for name, what in GROUPS.items())

DESCRIPTION = "Benchmark this machine. Times are in yards: one yard is the time of a step of a plain droplet kernel."
EPILOG = f"""
groups:
{_GROUPS}

examples:
  thalweg bench
  thalweg bench droplets --json droplets.json
  thalweg bench droplets --against droplets.json
  thalweg bench continent --side 4096
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument("group", nargs="?", metavar="GROUP", help="what to measure; default: all")
    parser.add_argument(
        "--json",
        type=file_path,
        metavar="FILE",
        help="write the rows to a file, in place of its rows of the same groups",
    )
    parser.add_argument(
        "--against", type=file_path, metavar="FILE", help="report what is worse by more than a tenth than in a file"
    )
    parser.add_argument(
        "--side",
        type=whole_number(64, 2**17),
        metavar="CELLS",
        help="with the group continent: side of its model, in cells; default: 16384",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    bench(options.group, options.json, options.against, options.side)

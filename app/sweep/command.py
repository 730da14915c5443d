"""`thalweg sweep`."""

from __future__ import annotations

import argparse

from app.cli.arguments import file_path, whole_number

DESCRIPTION = (
    "Run the worlds of a recipe, on all cores or a Dask cluster, into one Zarr store with a table and a contact "
    "sheet. What is there already is kept, and only what is missing is run."
)
EPILOG = """
examples:
  thalweg sweep recipe.toml --out set.zarr
  thalweg sweep recipe.toml --out set.zarr --table set.parquet --workers 4
  thalweg sweep recipe.toml --out set.zarr --scheduler tcp://head:8786

a recipe that draws 200 worlds at random, spread evenly over their parameters:
  sources = ["noise", "ridged"]
  size = "256"
  cycles = 300
  draws = { count = 100, seed = 7 }

  [vary.world]
  seed = { from = 0, to = 1000000 }

  [vary.climate]
  precipitation = { from = 200.0, to = 3000.0, log = true }
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument(
        "recipe", type=file_path, metavar="RECIPE", help="recipe: which worlds to run, and what to keep of them (.toml)"
    )
    parser.add_argument("--out", type=file_path, required=True, metavar="SET", help="a Zarr store (.zarr)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", default="", metavar="ADDRESS", help="address of a Dask cluster that runs them")
    where.add_argument(
        "--workers", type=whole_number(1, 1024), metavar="N", help="processes on this machine; default: one per core"
    )
    parser.add_argument("--table", type=file_path, metavar="FILE", help=".csv or .parquet; default: SET.csv")
    parser.add_argument("--sheet", type=file_path, metavar="FILE", help="contact sheet (.png); default: SET.png")


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.sweep.run import sweep

    sweep(
        options.recipe,
        options.out,
        scheduler=options.scheduler,
        workers=options.workers,
        table=options.table,
        sheet=options.sheet,
    )

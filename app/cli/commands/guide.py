"""`thalweg guide`."""

from __future__ import annotations

import argparse

DESCRIPTION = "Print a page of the guide, which F1 opens in the window. Without a name it lists the pages."
EPILOG = """
examples:
  thalweg guide
  thalweg guide dunes
  thalweg guide --search "oxbow lakes"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument("page", nargs="?", default="index", metavar="PAGE", help="default: the list of pages")
    parser.add_argument("--search", default="", metavar="WORDS", help="list the pages that have these words")


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.cli.guide import print_guide

    print_guide(options.page, options.search)

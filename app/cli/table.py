"""The table of commands. Modules are loaded on demand, so that help and window start fast."""

from __future__ import annotations

import argparse
import importlib
from typing import NamedTuple, Protocol, cast

from app.cli.arguments import new_parser


class Command(Protocol):
    """The interface of a command's module."""

    DESCRIPTION: str
    EPILOG: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command to a parser."""

    def run(self, options: argparse.Namespace) -> None:
        """Run the command with these options."""


class Row(NamedTuple):
    """The module of a command, and its line in the help of the program."""

    module: str
    summary: str


VIEWER = "app.cli.commands.viewer"  # if no command is given

COMMANDS = {
    "render": Row("app.cli.commands.render", "render a clip or a picture to a file, without a display"),
    "simulate": Row("app.cli.commands.simulate", "run cycles and save the world, without a picture"),
    "replay": Row("app.cli.commands.replay", "run again all that was done to a saved world"),
    "compare": Row("app.cli.commands.compare", "run worlds on the same land, and print figures of each"),
    "demo": Row("app.cli.commands.demo", "a tour of the presets, in the window or as a film"),
    "sheet": Row("app.cli.commands.sheet", "draw what becomes of one land in several ways, side by side"),
    "analyze": Row("app.cli.commands.analyze", "find the rivers, lakes and watersheds of a heightmap"),
    "export": Row("app.cli.commands.export", "write the land in formats of other programs"),
    "sweep": Row("app.sweep.command", "run many worlds, on all cores or a cluster, into one set"),
    "bench": Row("app.bench.command", "benchmark this machine"),
    "soak": Row("app.soak.command", "stress-test the window with random actions"),
    "guide": Row("app.cli.commands.guide", "print a page of the guide"),
}


def find_command(name: str = "") -> tuple[Command, argparse.ArgumentParser]:
    """A command by name, or the viewer, with its parser."""
    command = cast("Command", importlib.import_module(COMMANDS[name].module if name else VIEWER))
    parser = new_parser(name, command.DESCRIPTION, command.EPILOG)
    command.add_arguments(parser)
    return command, parser

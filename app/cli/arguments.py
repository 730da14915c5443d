"""Parsers of command lines, and argument types."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from app.model.errors import shortened

PROGRAM = "thalweg"
PICTURE_SIZE = 1280, 720  # pixels
DEFAULT_FRAMES = 150  # of a clip
MOST_SECONDS = 100_000.0  # of a clip


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports an error in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with one line and status 2."""
        self.exit(2, f"{self.prog}: {shortened(message)} (see {self.prog} --help)\n")


def new_parser(command: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """A parser for a command; "" is the program itself."""
    parser = OneLineParser(
        prog=f"{PROGRAM} {command}".strip(),
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--debug", action="store_true", help="log more, and show the traceback of an error")
    return parser


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """An argument type: an integer within bounds."""

    def parse(text: str) -> int:
        if not (re.fullmatch(r"\s*\d{1,20}\s*", text) and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"{text}: must be a whole number from {low} to {high}")
        return int(text)

    return parse


def metres_of(path: str) -> Callable[[str], float]:
    """An argument type: a length within the range of the parameter `path`, except its special value 0."""

    def parse(text: str) -> float:
        from app.scene.scene import DECLARATIONS

        declaration, number = DECLARATIONS[path], finite_number(text)
        if not declaration.least <= number <= declaration.high:
            raise argparse.ArgumentTypeError(
                f"{text}: must be from {declaration.least:g} to {declaration.high:g} {declaration.unit}"
            )
        return number

    return parse


def file_path(text: str) -> Path:
    """A path from a text, which must not be empty."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return Path(text)


def list_of_names(text: str) -> tuple[str, ...]:
    """A list of names, separated by commas."""
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    if not names:
        raise argparse.ArgumentTypeError("must be names with commas between them")
    return names


def finite_number(text: str) -> float:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text}: must be a finite number")
    return number


def positive_number(most: float = math.inf) -> Callable[[str], float]:
    """An argument type: a number above 0 and up to `most`."""

    def parse(text: str) -> float:
        number = finite_number(text)
        if not 0.0 < number <= most:
            upper = f", and at most {most:g}" if most < math.inf else ""
            raise argparse.ArgumentTypeError(f"{text}: must be more than 0{upper}")
        return number

    return parse

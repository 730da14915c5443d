"""What is printed: to any terminal, whatever letters it knows, and to programs that read no further."""

from __future__ import annotations

import codecs
import contextlib
import faulthandler
import os
import sys
from collections.abc import Sequence

from app.model.errors import UserError

WIDEST_COLUMN = 32  # letters, in lists

# What stands for letters that an encoding lacks.
PLAIN = {"×": "x", "²": "2", "³": "3", "–": "-", "…": "...", "≤": "<=", "≥": ">=", "·": "*", "−": "-", "’": "'"}


def take_any_letter() -> None:
    """Let every text be printed: a letter that the terminal lacks as a plain one or `?`, a file's name as its bytes."""
    codecs.register_error("thalweg", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="thalweg")


def tell_of_crashes() -> None:
    """Say on the terminal where the program was, should a library or a kernel end it."""
    if not faulthandler.is_enabled():
        with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):  # there is none
            faulthandler.enable()


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    # Bytes of a name that are no text are kept in the lower half of these numbers.
    parts = [os.fsencode(x) if "\udc80" <= x <= "\udcff" else PLAIN.get(x, "?").encode() for x in letters]
    return b"".join(parts), error.end


def no_more_output() -> None:
    """Discard what is printed from now on: the output is closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def check_display() -> None:
    """Raise `UserError` where no window can be opened."""
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise UserError(
            "there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set); "
            "`thalweg render` draws into a file without one"
        )


def in_columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of a list as text, of which the last column is as wide as it is."""
    # A cell that is wider than the column pushes what follows in its own row, and pads no other.
    widths = [min(max(len(row[column]) for row in rows), WIDEST_COLUMN) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)

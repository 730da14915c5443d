"""Output to terminals with any encoding, and to pipes that may close."""

from __future__ import annotations

import codecs
import contextlib
import faulthandler
import os
import sys
from collections.abc import Sequence

from app.model.errors import UserError

WIDEST_COLUMN = 32  # characters, in lists

# Replacements for characters that an encoding lacks.
PLAIN = {"×": "x", "²": "2", "³": "3", "–": "-", "…": "...", "≤": "<=", "≥": ">=", "·": "*", "−": "-", "’": "'"}


def take_any_letter() -> None:
    """Make every text printable: missing characters are replaced, and file names keep their bytes."""
    codecs.register_error("thalweg", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="thalweg")


def tell_of_crashes() -> None:
    """Print where the program was if a library or a kernel crashes it."""
    if not faulthandler.is_enabled():
        with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):  # there is no terminal
            faulthandler.enable()


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    # Undecodable bytes of a name are kept in the lower half of these code points.
    parts = [os.fsencode(x) if "\udc80" <= x <= "\udcff" else PLAIN.get(x, "?").encode() for x in letters]
    return b"".join(parts), error.end


def no_more_output() -> None:
    """Discard further output: it is closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def check_display() -> None:
    """Raise `UserError` if no window can be opened."""
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise UserError(
            "there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set); "
            "`thalweg render` draws into a file without one"
        )


def in_columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of a list as aligned text; the last column is not padded."""
    # A wide cell shifts only its own row.
    widths = [min(max(len(row[column]) for row in rows), WIDEST_COLUMN) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)

"""What is printed: to any terminal, whatever letters it knows, and to programs that read no further."""

from __future__ import annotations

import codecs
import contextlib
import faulthandler
import os
import sys

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

"""The command line: finds the command, runs it and returns the exit status.

Heavy imports are deferred: help comes at once, and `simulate` never loads OpenGL.
"""

from __future__ import annotations

import errno
import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from app.cli.arguments import PROGRAM
from app.cli.garbage import collect_late
from app.cli.signals import Ended, ended_by_signals
from app.cli.table import COMMANDS, find_command
from app.cli.terminal import no_more_output, take_any_letter, tell_of_crashes
from app.model.errors import UserError, explained

FAILED = 1
INTERRUPTED = 130  # what shells report after Ctrl-C
CLOSED = 141  # what shells report if the output is closed


def program(arguments: Sequence[str] | None = None) -> int:
    """What a process does that is nothing but the program: as `main`."""
    collect_late()
    return main(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit status."""
    take_any_letter()
    tell_of_crashes()
    try:
        try:
            return _run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where a failure can still be reported
    except BrokenPipeError:  # as with `| head`
        no_more_output()
        return CLOSED
    except OSError as error:
        if not _is_of_output(error):
            raise
        print(f"{PROGRAM}: cannot write the output: {error.strerror or error}", file=sys.stderr)
        no_more_output()
        return FAILED


def _run(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["compile-kernels"]:  # a worker, started by `app.engine.compiling`
        from app.engine.compiling import work

        work()
    if words[:1] == ["export-worker"]:  # a worker, started by `app.window.exporting`
        from app.cli.export_worker import work as export

        export(Path(words[1]))
        return 0
    # Only the first word can be a command, so a file that has a command's name is reached as ./render.
    command, parser = find_command(words.pop(0) if words and words[0] in COMMANDS else "")
    options = parser.parse_args(_with_western_parts(words))
    _set_up_log(options.debug)
    try:
        with ended_by_signals():
            command.run(options)
    except KeyboardInterrupt as end:
        print(f"\n{parser.prog}: {str(end) or 'interrupted; nothing half-written was left'}", file=sys.stderr)
        return end.status if isinstance(end, Ended) else INTERRUPTED
    except Exception as error:
        if options.debug or _is_of_output(error):
            raise
        print(f"{PROGRAM}: {_message(error)}", file=sys.stderr)
        return FAILED
    return 0


def _with_western_parts(words: Sequence[str]) -> list[str]:
    """The words, with negative coordinates after --part protected from being parsed as options."""
    joined: list[str] = []
    for word in words:
        if joined[-1:] == ["--part"] and re.match(r"-[\d.]", word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _is_of_output(error: Exception) -> bool:
    """Whether the error concerns the printed output: that of a file would name it."""
    full = (errno.EPIPE, errno.ENOSPC, errno.EIO)
    return isinstance(error, OSError) and error.filename is None and error.errno in full


def _message(error: Exception) -> str:
    if isinstance(error, UserError | MemoryError):
        return explained(error)
    return f"internal error: {explained(error)} (--debug shows where)"


def _set_up_log(debug: bool) -> None:
    form = "%(name)s: %(message)s" if debug else f"{PROGRAM}: %(message)s"
    logging.basicConfig(format=form)
    logging.getLogger("app").setLevel(logging.DEBUG if debug else logging.INFO)

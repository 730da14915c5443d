"""Errors, and their one-line messages."""

import difflib
import re
from collections.abc import Iterable

LONGEST = 1200  # characters; longer messages lose their middle
LONGEST_WORD = 500  # characters of a pasted value; file names can be long


class UserError(Exception):
    """An error that the user caused and can fix. Its message is one clear line: it names the file, key or value, and
    what would be right.

    The command line prints it without a traceback, the window shows it in a notice. What a file holds, or is called,
    can be in it: line breaks and whatever else could not be seen are written as escapes.
    """

    def __init__(self, message: str) -> None:
        line = "".join(letter if _can_be_shown(letter) else repr(letter)[1:-1] for letter in message)
        super().__init__(shortened(line))


def shortened(line: str) -> str:
    """A line with long values shortened, and of limited length."""
    line = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: f"{word[0][:80]}…{word[0][-40:]}", line)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 300]} … {line[-290:]}"


def _can_be_shown(letter: str) -> bool:
    """Whether a character is printable; undecodable bytes of file names are, as they can be typed."""
    return letter.isprintable() or "\udc80" <= letter <= "\udcff"


def explained(error: Exception) -> str:
    """The message of an error of any kind, in one line."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; a smaller map needs less"
    reason = " ".join(str(error).split())
    if type(error).__module__.endswith("moderngl"):  # not imported here: it loads OpenGL
        return f"OpenGL: {reason}"
    return f"{type(error).__name__}: {reason}"


def nearest(name: str, known: Iterable[str], command: str = "") -> str:
    """A hint: the known name nearest to a mistyped one, all names if they are few, or the command that lists them."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean '{near[0]}'?"
    if len(known) <= 20:
        return f"; there are {', '.join(known)}"
    return f"; `{command}` lists them" if command else ""

"""TOML from files of anybody: parsed only where its nesting is bounded."""

from __future__ import annotations

import re
import tomllib
from typing import Any

DEEPEST = 100  # levels of lists and tables, and parts of a dotted key

# Python's parser takes memory by the square of the parts of a key: gigabytes for 16 000.
_DEEP_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{DEEPEST}}}""",
)
_TEXT_OR_BRACKET = re.compile(
    r'"""(?s:\\.|.)*?"""' r"|'''(?s:.)*?'''" r'|"(?:\\.|[^"\\\n])*+"' r"|'[^'\n]*+'" r"|\#[^\n]*+" r"|[\[\]{}]",
)


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a text. Raises `ValueError` where it is no TOML, `RecursionError` where it is nested too deeply.

    The parser calls itself for each level. Were it to find out by itself that it cannot go deeper, garbage that is
    collected down there could not be: no finalizer, of whatever else in the program, could call a function.
    """
    if _DEEP_KEY.search(text) or _nesting(text) > DEEPEST:
        raise RecursionError
    return tomllib.loads(text)


def _nesting(text: str) -> int:
    """The most brackets that are open at once, outside texts and comments."""
    deepest = depth = 0
    for found in _TEXT_OR_BRACKET.finditer(text):
        match found[0]:
            case "[" | "{":
                depth += 1
                deepest = max(deepest, depth)
            case "]" | "}":
                depth -= 1
    return deepest

"""TOML from untrusted files, with limited nesting."""

from __future__ import annotations

import re
import tomllib
from typing import Any

DEEPEST = 100  # levels of lists and tables, and parts of a dotted key

# Python's parser needs memory quadratic in the parts of a key: gigabytes for 16 000.
_DEEP_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{DEEPEST}}}""",
)
_TEXT_OR_BRACKET = re.compile(
    r'"""(?s:\\.|.)*?"""' r"|'''(?s:.)*?'''" r'|"(?:\\.|[^"\\\n])*+"' r"|'[^'\n]*+'" r"|\#[^\n]*+" r"|[\[\]{}]",
)


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a text. Raises `ValueError` if it is not TOML, `RecursionError` if it is nested too deeply.

    The parser recurses for each level. At its own limit, finalizers of collected garbage could not call functions
    any more.
    """
    if _DEEP_KEY.search(text) or _nesting(text) > DEEPEST:
        raise RecursionError
    return tomllib.loads(text)


def _nesting(text: str) -> int:
    """The deepest nesting of brackets, outside strings and comments."""
    deepest = depth = 0
    for found in _TEXT_OR_BRACKET.finditer(text):
        match found[0]:
            case "[" | "{":
                depth += 1
                deepest = max(deepest, depth)
            case "]" | "}":
                depth -= 1
    return deepest

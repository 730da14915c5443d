"""The brushes' tools that every run draws with in a window."""

from __future__ import annotations

from app.brushes.tools import TOOLS, Tool
from tests.nets.profile import is_nightly

# Of each group: with its digit one goes from the first to the second, and so to all.
GROUPS: dict[str, list[str]] = {}
for _name, _tool in TOOLS.items():
    GROUPS.setdefault(_tool.group, []).append(_name)


def few_tools(of_each_group: int = 2) -> dict[str, Tool]:
    """Some of each group, and all of them in a nightly run."""
    return {name: TOOLS[name] for names in GROUPS.values() for name in names[: None if is_nightly() else of_each_group]}

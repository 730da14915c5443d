"""Names of files in which ~ stands for a person's own folder."""

from __future__ import annotations

from pathlib import Path


def path_of(name: str) -> Path:
    """The path that a name means; where nobody is called what follows ~, that is a part of the name."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)

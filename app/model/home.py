"""Paths in which ~ stands for a home folder."""

from __future__ import annotations

from pathlib import Path


def path_of(name: str) -> Path:
    """The path of a name. ~ stays part of the name if no such user exists."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)

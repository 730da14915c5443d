"""Figures of this machine: what is measured, against which bar, and how it is shown."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.bench.row import Row
from app.errors import UserError
from app.files import write_atomically_by_path
from app.scene import nearest

log = logging.getLogger(__name__)

# Each group is a module of this package with a function `rows`. They are imported when they are measured.
GROUPS = ("droplets", "island", "wind", "water", "rivers", "waves", "world", "frame", "start")


def bench(group: str | None = None, path: Path | None = None) -> list[Row]:
    """Measure one group or all, print a row as soon as it is known, and write all of them to `path` as JSON."""
    if group is not None and group not in GROUPS:
        raise UserError(f"{group}: there is no such group{nearest(group, GROUPS)}")
    if path is None:
        return _measure_and_print(group)
    with write_atomically_by_path(path) as temporary:
        rows = _measure_and_print(group)
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode([row.as_json() for row in rows])) + b"\n")
    return rows


def measure(group: str, *, tiny: bool = False) -> Iterator[Row]:
    """The rows of a group. `tiny` runs through all of it at sizes that measure nothing, which is for the tests."""
    yield from importlib.import_module(f"app.bench.{group}").rows(tiny)


def _measure_and_print(group: str | None) -> list[Row]:
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if busy > 0.5:
        log.warning("other programs keep about %.1f cores busy; figures that need two cores say little now", busy)
    print(f"{'name':<68} {'value':>10} {'unit':<14} {'bar':>8}", flush=True)
    rows = []
    for name in (group,) if group else GROUPS:
        for row in measure(name):
            print(row.as_text(), flush=True)
            rows.append(row)
    return rows

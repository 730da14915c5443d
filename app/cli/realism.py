"""Realism of a land, without a display: a table of measures, also as a file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from app.cli.analyze import read_land
from app.cli.analyzed_land import AnalyzedLand
from app.engine.realism import default_river_cells, measure
from app.files.atomic import claimed, write_atomically
from app.model.realism import MEASURES, Realism


def print_realism(
    path: Path,
    json: Path | None = None,
    *,
    cycles: int = 0,
    sea_level: float | None = None,
    open_edges: bool | None = None,
    river_cells: int | None = None,
    cell_size: float | None = None,
    relief: float | None = None,
    part: str = "",
) -> None:
    """Print the measures of a land beside the ranges of real terrain, and write them to `json` too.

    A preset or a saved world runs for `cycles` first; the other arguments are as for `analyze`. Raises `UserError`
    where a file cannot be read or written.
    """
    from kernels.rivers import drain

    with claimed(*([] if json is None else [json])):
        land = read_land(path, cell_size, relief, cycles=cycles, part=part)
        land = replace(
            land,
            sea_level=land.sea_level if sea_level is None else sea_level,
            open_edges=land.open_edges if open_edges is None else open_edges,
        )
        drainage = drain(land.ground, land.cell_size, land.sea_level, open_edges=land.open_edges)
        river_cells = river_cells or default_river_cells(drainage)
        found = measure(land.ground, drainage, land.cell_size, river_cells=river_cells, cycle=land.cycle)
        if json is not None:
            with write_atomically(json) as file:
                file.write(msgspec.json.format(msgspec.json.encode(as_json(path, land, found, river_cells))) + b"\n")
        rows, columns = land.ground.shape
        print(f"{path}: {columns}×{rows} cells of {land.cell_size:g} m, cycle {land.cycle}\n")
        print(table(found))


def table(found: Realism) -> str:
    """The measures, a line each, and a second line where one is out of range or missing."""
    rows = [("measure", "value", "real terrain", "verdict", "")]
    for each in MEASURES:
        value = found.values[each.name]
        verdict = {"any": "", "none": "not measured"}.get(each.verdict(value), each.verdict(value))
        rows.append((each.title, each.text(value), each.range_text, verdict, each.meaning(value)))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for label, text, span, verdict, meaning in rows:
        lines.append(f"{label:<{widths[0]}}  {text:>{widths[1]}}  {span:>{widths[2]}}  {verdict}".rstrip())
        lines += [f"    {meaning.removeprefix('not measured: ')}"] if meaning else []
    bounded = [each for each in MEASURES if each.is_bounded]
    inside = sum(each.verdict(found.values[each.name]) == "inside" for each in bounded)
    return "\n".join([*lines, "", f"{inside} of {len(bounded)} are those of real terrain"])


def as_json(path: Path, land: AnalyzedLand, found: Realism, river_cells: int) -> dict[str, Any]:
    """The measures and their settings; None for a missing bound or measure."""
    rows, columns = land.ground.shape
    return {
        "file": str(path),
        "columns": columns,
        "rows": rows,
        "cell_size": land.cell_size,
        "cycle": land.cycle,
        "sea_level": _finite(land.sea_level),
        "smallest_river_catchment_m2": river_cells * land.cell_size**2,
        "measures": {
            each.name: {
                "label": each.label,
                "unit": each.unit,
                "value": found.values[each.name],
                "low": _finite(each.low),
                "high": _finite(each.high),
                "absolute": each.has_sign,
                "verdict": each.verdict(found.values[each.name]),
                "meaning": each.meaning(found.values[each.name]),
            }
            for each in MEASURES
        },
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

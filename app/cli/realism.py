"""Realism of a land, without a display: a table of measures, also as a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from app.cli.analyze import read_land
from app.cli.analyzed_land import AnalyzedLand
from app.cli.curves import reach_text, table_path, write_curves
from app.engine.realism import default_river_cells, measure
from app.engine.realism_spread import spread_of
from app.files.atomic import claimed, write_atomically
from app.model.realism import MEASURES, Realism, Spread

LAWS = {"concavity": "slope_area", "steepness": "slope_area", "hack_exponent": "hack"}  # the curves of measures


def print_realism(
    path: Path,
    json: Path | None = None,
    *,
    curves: Path | None = None,
    cycles: int = 0,
    sea_level: float | None = None,
    open_edges: bool | None = None,
    river_cells: int | None = None,
    cell_size: float | None = None,
    relief: float | None = None,
    part: str = "",
) -> None:
    """Print the measures of a land beside the ranges of real terrain, and write them to `json` too.

    `curves` is the file of a chart of the underlying curves; a table is written beside it. A preset or a saved world
    runs for `cycles` first; the other arguments are as for `analyze`. Raises `UserError` if a file cannot be read or
    written.
    """
    from kernels.rivers import drain

    places = [*([] if json is None else [json]), *([] if curves is None else [curves, table_path(curves)])]
    with claimed(*places):
        land = read_land(path, cell_size, relief, cycles=cycles, part=part)
        land = replace(
            land,
            sea_level=land.sea_level if sea_level is None else sea_level,
            open_edges=land.open_edges if open_edges is None else open_edges,
        )
        drainage = drain(land.ground, land.cell_size, land.sea_level, open_edges=land.open_edges)
        river_cells = river_cells or default_river_cells(drainage)
        found = measure(land.ground, drainage, land.cell_size, river_cells=river_cells, cycle=land.cycle)
        spread = spread_of(land.ground, drainage, land.cell_size, river_cells=river_cells)
        if curves is not None:
            write_curves(curves, found)
        if json is not None:
            with write_atomically(json) as file:
                file.write(
                    msgspec.json.format(msgspec.json.encode(as_json(path, land, found, spread, river_cells))) + b"\n"
                )
        rows, columns = land.ground.shape
        print(f"{path}: {columns}×{rows} cells of {land.cell_size:g} m, cycle {land.cycle}\n")
        print(table(found, spread))


def table(found: Realism, spread: Mapping[str, Spread | None]) -> str:
    """The measures, a line for each, followed by lines on measures outside their range or without a value, and on the
    range of areas that laws were fitted over.
    """
    rows = [("measure", "value", "90 % of draws", "real terrain", "verdict", "")]
    for each in MEASURES:
        value = found.values[each.name]
        verdict = {"any": "", "none": "not measured"}.get(each.verdict(value), each.verdict(value))
        sure = spread.get(each.name)
        interval = "" if sure is None or value is None else f"{each.text(sure.low)} to {each.text(sure.high)}"
        below = "\n".join(filter(None, (each.meaning(value).removeprefix("not measured: "), _reach(each.name, found))))
        rows.append((each.title, each.text(value), interval, each.range_text, verdict, below))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for label, text, interval, span, verdict, below in rows:
        cells = f"{text:>{widths[1]}}  {interval:>{widths[2]}}  {span:>{widths[3]}}  {verdict}"
        lines.append(f"{label:<{widths[0]}}  {cells}".rstrip())
        lines += [f"    {line}" for line in below.splitlines()]
    bounded = [each for each in MEASURES if each.is_bounded]
    inside = sum(each.verdict(found.values[each.name]) == "inside" for each in bounded)
    return "\n".join([*lines, "", f"{inside} of {len(bounded)} are those of real terrain"])


def _reach(name: str, found: Realism) -> str:
    """The range of catchments that the law of a measure was fitted over; empty if it has no law."""
    curve = found.curves.get(LAWS.get(name, ""))
    return "" if curve is None else reach_text(curve)


def as_json(
    path: Path, land: AnalyzedLand, found: Realism, spread: Mapping[str, Spread | None], river_cells: int
) -> dict[str, Any]:
    """The measures and their settings; None for missing bounds and values."""
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
                "interval": spread.get(each.name),
                "reach_m2": _reach_m2(each.name, found),
                "low": _finite(each.low),
                "high": _finite(each.high),
                "absolute": each.has_sign,
                "verdict": each.verdict(found.values[each.name]),
                "meaning": each.meaning(found.values[each.name]),
            }
            for each in MEASURES
        },
    }


def _reach_m2(name: str, found: Realism) -> list[float] | None:
    """The smallest and the largest catchment that a law was fitted over (means of its bins)."""
    curve = found.curves.get(LAWS.get(name, ""))
    return None if curve is None else [float(curve.x.min()), float(curve.x.max())]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

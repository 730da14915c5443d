"""Legends of overlays: what their colours mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.model import palettes
from app.model.overlays import OVERLAYS, Value, material_colours, overlay_ends
from app.model.snapshot import Snapshot


@dataclass(frozen=True)
class Legend:
    """A legend: colours with `names`, or a palette with values at its `ends`; and a `note`."""

    name: str  # of the overlay
    label: str
    names: tuple[tuple[str, tuple[float, float, float]], ...]  # with sRGB in [0, 1]
    ends: tuple[str, str]
    note: str  # meaning of no colour; empty if there is always one


def legend(name: str, snapshots: Sequence[Snapshot]) -> Legend | None:
    """The legend of an overlay for worlds that are shown together; None if there is none."""
    overlay = OVERLAYS[name]
    if overlay.value is Value.NONE or not snapshots:
        return None
    first = snapshots[0]
    known = any(map(overlay.is_known, snapshots))
    ends, note = overlay_ends(name, *snapshots), overlay.clear and f"no colour: {overlay.clear}"
    if not known and overlay.ends is None:
        nothing = "nothing painted yet" if overlay.family == "fields" else "this world has none"
        ends, note = ("", ""), "not computed yet" if overlay.survey else nothing
    surveyed = known and overlay.survey and first.survey is not None
    label = f"{overlay.label}, cycle {first.survey.cycle}" if surveyed and first.survey else overlay.label
    return Legend(name, label, tuple(legend_names(name, first)), ends, note)


def legend_colours(name: str, steps: int = 64) -> NDArray[np.float64]:
    """The palette of an overlay as sRGB in [0, 1] with opacity, `[steps, 4]`, for legends."""
    return palettes.interpolated(OVERLAYS[name].palette, steps)


def legend_names(name: str, snapshot: Snapshot) -> list[tuple[str, tuple[float, float, float]]]:
    """Names and sRGB in [0, 1] of the colours of a categorical overlay."""
    overlay, materials = OVERLAYS[name], snapshot.materials
    if overlay.names:
        stops = [(red / 255.0, green / 255.0, blue / 255.0) for red, green, blue, _ in overlay.palette]
        return list(zip(overlay.names, stops, strict=False))
    if not overlay.of_materials or materials is None:
        return []
    loose = [material.title for material in materials.loose]
    # A material that is both loose and solid has two colours.
    rocks = [f"{rock.title}, solid" if rock.title in loose else rock.title for rock in materials.rocks]
    colours = material_colours(materials)
    return [(title, (r, g, b)) for title, (r, g, b, _) in zip([*loose, *rocks], colours.tolist(), strict=False)]

"""Overlays: maps drawn over the ground, as one table.

A row declares everything about an overlay. The choices of the view, the key and the panel, the legend, what a snapshot
holds, what is surveyed for it and how it is drawn follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from app.model import palettes
from app.model.field_parameters import FIELD_LAYERS
from app.model.layers import BED_AGE, BED_NUMBER, LAYERS, OROGRAPHIC_RAIN
from app.model.numbers import round_step, spaced
from app.model.palettes import Stops

if TYPE_CHECKING:
    from app.model.materials import Materials
    from app.model.snapshot import Snapshot

Span = tuple[float, float]  # the values at the low and high end of a palette
Ends = Callable[[Sequence["Snapshot"]], tuple[str, str]]  # texts for both ends, for all shown snapshots
Survey = Literal["", "rivers", "fragments", "cost", "filling"]


class Value(IntEnum):
    """What an overlay shows in a cell: the cases of include/overlay.glsl, with the same names."""

    NONE = 0
    ELEVATION = 1
    SLOPE = 2
    SEDIMENT = 3
    CHANGE = 4  # of the elevation since the start
    LAYER = 5  # a layer of the snapshot as it is
    MAGNITUDE = 6  # of a layer: the palette follows its logarithm
    KIND = 7  # a layer of whole numbers, each with its colour
    RIVERS = 8  # lines, and lakes
    FIELD = 9  # directions and speeds
    CONTOURS = 10  # a surface as colours and lines of equal height, and where it lies above the ground
    ARROWS = 11  # directions, as colours and arrows


CONTOURS = 20  # spaces between lines of equal height in the range of an overlay


def glsl() -> str:
    """The values as constants for the shaders."""
    values = "".join(f"const int OVERLAY_{value.name} = {int(value)};\n" for value in Value)
    return values + f"const float CONTOURS = {CONTOURS}.0;\n"


def _fixed(low: float, high: float) -> Callable[[Snapshot], Span]:
    return lambda snapshot: (low, high)


PARTS = _fixed(0.0, 1.0)


@dataclass(frozen=True)
class Overlay:
    """One overlay: `label` and `unit` are the legend's, `span` finds the range of its palette.

    It needs the `layers` of a snapshot, and a survey if one provides them. An overlay that is neither a layer nor
    computed from the surface is `drawn` first, by the shader of its name in shaders/overlays.
    """

    name: str
    value: Value
    label: str
    palette: Stops
    unit: str = ""
    span: Callable[[Snapshot], Span] = PARTS
    layers: tuple[str, ...] = ()
    survey: Survey = ""
    drawn: bool = False
    of_materials: bool = False  # in the colours of the materials, if there are several
    names: tuple[str, ...] = ()  # of the stops of a categorical palette
    ends: Ends | None = None  # of the legend, if not the span
    family: str = "others"  # heading in lists
    clear: str = ""  # meaning of transparent parts
    dims: bool = True  # dims the land below

    @property
    def is_moving(self) -> bool:
        """Whether it is animated."""
        return self.value is Value.FIELD

    @property
    def has_sides(self) -> bool:
        """Whether its palette has two hues on both sides of a transparent middle. The lower one is hatched."""
        opacities = [stop[3] for stop in self.palette]
        return not self.names and 0 < opacities.index(min(opacities)) < len(opacities) - 1 and min(opacities) == 0.0

    def is_known(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot has its layers."""
        # Without a field, the prevailing wind is shown
        return self.value is Value.FIELD or snapshot.layers.keys() >= set(self.layers)

    def scaled(self, value: float) -> float:
        """A value in the scale of the shader."""
        return math.log2(max(value, 1e-30)) if self.value is Value.MAGNITUDE else value


DIFFERENCE = "difference"  # the overlay and its layer, computed when worlds are compared

# Ranges.

MAGNITUDES = 1e-4  # of the largest value: low end of a logarithmic palette


def largest(snapshot: Snapshot, name: str) -> float:
    """The largest magnitude in a layer; 0 if the snapshot lacks it."""
    layer = snapshot.layers.get(name)
    return 0.0 if layer is None else max(float(layer.max()), -float(layer.min()))


_MOST_SHOWN = 4.0  # end of the palette of factors
_DEEP_SNOW = 1.5  # metres of snow water equivalent, the end of its palette

# So that integers hit the centres of their colours
_KINDS = _fixed(-0.5, palettes.WATERSHED_COLOURS + 0.5)


def _up_to(layer: str, part: float = 1.0, *, at_least: float = 1e-6) -> Callable[[Snapshot], Span]:
    """From 0 to a fraction of the largest value."""
    return lambda snapshot: (0.0, _rounded(max(part * largest(snapshot, layer), at_least)))


def _both_ways(layer: str, *, at_least: float = 1e-3) -> Callable[[Snapshot], Span]:
    """As far below 0 as above it, to the largest magnitude."""

    def span(snapshot: Snapshot) -> Span:
        end = _rounded(max(largest(snapshot, layer), at_least))
        return -end, end

    return span


def _elevation(snapshot: Snapshot) -> Span:
    return snapshot.lowest, snapshot.lowest + _relief(snapshot)


def _sediment(snapshot: Snapshot) -> Span:
    return 0.0, _rounded(0.03 * _relief(snapshot))


def _change(snapshot: Snapshot) -> Span:
    span = _rounded(0.012 * _relief(snapshot))
    return -span, span


def _difference(snapshot: Snapshot) -> Span:
    span = _rounded(max(0.5 * largest(snapshot, DIFFERENCE), 1e-3))
    return -span, span


def _discharge(snapshot: Snapshot) -> Span:
    high = _rounded(max(largest(snapshot, "discharge"), 1e-6))
    return MAGNITUDES * high, high


def _momentum(snapshot: Snapshot) -> Span:
    # Symmetric. A few rivers carry far more than all others.
    carried = max(0.02 * largest(snapshot, layer) for layer in ("momentum_east", "momentum_south"))
    span = _rounded(max(carried, 1e-9))
    return -span, span


def _orders(snapshot: Snapshot) -> Span:
    return 1.0, float(max(5, snapshot.survey.highest_order if snapshot.survey else 1))


def _contours(snapshot: Snapshot) -> Span:
    """A span with contours at round heights: 1, 2 or 5 times a power of ten apart."""
    low = max(snapshot.lowest, snapshot.sea_level)
    apart = round_step(max(snapshot.highest - low, 1e-3) / (CONTOURS - 1))
    low = math.floor(low / apart) * apart
    return low, low + CONTOURS * apart


def _accumulation(snapshot: Snapshot) -> Span:
    cell = snapshot.cell_size**2 * 1e-6
    return cell, max(largest(snapshot, "accumulation"), 2.0 * cell)


def _relief(snapshot: Snapshot) -> float:
    return max(snapshot.highest - snapshot.lowest, 1e-3)


def _rounded(value: float) -> float:
    """Rounded to one digit, so that the legend does not flicker."""
    digits = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / digits) * digits)


# Ends of legends.


def _difference_ends(snapshots: Sequence[Snapshot]) -> tuple[str, str]:
    return ("", "") if all(DIFFERENCE in snapshot.layers for snapshot in snapshots) else ("one world alone", "")


def _material_ends(snapshots: Sequence[Snapshot]) -> tuple[str, str]:
    return ("", "") if all(snapshot.materials for snapshot in snapshots) else ("a single material", "")


def _watershed_ends(snapshots: Sequence[Snapshot]) -> tuple[str, str]:
    counts = (snapshot.survey.watershed_count if snapshot.survey else 0 for snapshot in snapshots)
    return "", " · ".join(map(str, counts)) + " in all"


def _filling_ends(snapshots: Sequence[Snapshot]) -> tuple[str, str]:
    surveys = [snapshot.survey for snapshot in snapshots]
    rounds = max(survey.fronts if survey else 0 for survey in surveys)
    return "", f"round {rounds}{', filled' if all(survey and survey.filled for survey in surveys) else ''}"


def _contour_ends(snapshots: Sequence[Snapshot]) -> tuple[str, str]:
    low, high = overlay_range("filled", *snapshots)
    return f"{_legible(low)} m", f"{_legible(high)} m, a line each {_legible((high - low) / CONTOURS)} m"


def _protection_ends(snapshots: Sequence[Snapshot]) -> tuple[str, str]:
    return "protected", "free"


# The table, in the order of the action and of all lists.


class _More(TypedDict, total=False):
    """Further fields of `Overlay` for overlays of a layer."""

    survey: Survey
    ends: Ends
    family: str
    clear: str
    dims: bool


def _of_layer(
    name: str,
    label: str,
    palette: Stops,
    unit: str = "",
    span: Callable[[Snapshot], Span] = PARTS,
    *,
    layer: str = "",
    value: Value = Value.LAYER,
    **more: Unpack[_More],
) -> Overlay:
    """An overlay that shows a layer, by default the layer of its name."""
    return Overlay(name, value, label, palette, unit, span, (layer or name,), **more)


def _of_rates() -> list[Overlay]:
    """Overlays of fields: factors on a logarithmic scale around 1, and protected ground."""
    rows = []
    for name, layer in FIELD_LAYERS.items():
        help = LAYERS[layer].help
        if layer == "mobility":
            label = "protected ground (violet)"
            rows.append(
                _of_layer(
                    "protection",
                    label,
                    palettes.PROTECTED,
                    layer=layer,
                    ends=_protection_ends,
                    family="fields",
                    clear="free",
                )
            )
        else:
            span = _fixed(1.0 / _MOST_SHOWN, _MOST_SHOWN)
            palette, value = palettes.LESS_AND_MORE, Value.MAGNITUDE
            rows.append(
                _of_layer(
                    f"{name}_field", help, palette, "×", span, layer=layer, value=value, family="fields", clear="×1"
                )
            )
    return rows


# fmt: off
_ROWS = (
    Overlay("none", Value.NONE, "no overlay", palettes.RELIEF, family=""),
    Overlay("elevation", Value.ELEVATION, "elevation", palettes.RELIEF, "m", _elevation, family="ground"),
    Overlay("slope", Value.SLOPE, "slope", palettes.HEAT, "°", _fixed(0.0, 45.0), family="ground"),
    Overlay("sediment", Value.SEDIMENT, "thickness of sediment", palettes.SAND, "m", _sediment, family="ground",
        clear="bare rock"),
    Overlay("change", Value.CHANGE, "erosion (red), deposition (blue) since the start", palettes.CHANGE, "m", _change,
        family="ground", clear="no change"),
    _of_layer(DIFFERENCE, "lower (red) or higher (blue) than A; A relative to B", palettes.CHANGE, "m", _difference,
        ends=_difference_ends, family="ground", clear="no difference"),
    _of_layer(BED_AGE, "cycles since the uppermost bed was buried", palettes.WORN, "cycles",
        _up_to(BED_AGE, at_least=1.0), family="ground", clear="no bed"),
    _of_layer(BED_NUMBER, "number of buried beds", palettes.SAND, "beds",
        _up_to(BED_NUMBER, at_least=1.0), family="ground", clear="no bed"),
    _of_layer("wind_path", "frequency of wind contact with the ground", palettes.CONTACT, span=_fixed(0.0, 0.7),
        family="wind and sand", clear="no contact"),
    _of_layer("airborne", "airborne sand", palettes.SAND, "m", _up_to("airborne", 0.5), family="wind and sand",
        clear="none"),
    _of_layer("water", "depth of lakes and sea", palettes.WATER, "m", _up_to("water"), family="water",
        clear="no water"),
    _of_layer("flood_speed", "speed of running water", palettes.FLOW, "m/s", _up_to("flood_speed", 0.8),
        family="water", clear="still"),
    _of_layer("froude", "Froude number: 1 and more is faster than its waves", palettes.FLOW, span=_fixed(0.0, 1.5),
        family="water", clear="still"),
    _of_layer("wave_power", "power of waves at the shore", palettes.FLOW, "kW/m", _up_to("wave_power", at_least=0.1),
        family="water", clear="none"),
    _of_layer("drift", "sand that drifts along the shore per cycle", palettes.SAND, "m³", _up_to("drift", at_least=0.1),
        family="water", clear="none"),
    _of_layer("undercut", "depth of the notch in the face of a fall", palettes.SAND, "m",
        _up_to("undercut", at_least=0.1), family="water", clear="none"),
    _of_layer("arms", "part of its river that runs in an arm", palettes.FLOW, family="water", clear="no arms"),
    _of_layer("stream", "frequency of droplets", palettes.FLOW, family="water", clear="no droplets"),
    _of_layer("discharge", "discharge per cycle", palettes.FLOW, "m", _discharge, value=Value.MAGNITUDE,
        family="water", clear="no flow"),
    _of_layer("momentum_east", "momentum of flow, west (red) and east (blue)", palettes.CHANGE, span=_momentum,
        family="water", clear="no flow"),
    _of_layer("momentum_south", "momentum of flow, north (red) and south (blue)", palettes.CHANGE, span=_momentum,
        family="water", clear="no flow"),
    _of_layer("wear", "recent erosion by snowballs", palettes.WORN, "m", _up_to("wear", 0.2, at_least=1e-3),
        family="snowballs", clear="none"),
    _of_layer("deposit", "recent deposition by snowballs", palettes.SAND, "m", _up_to("deposit", 0.2, at_least=1e-3),
        family="snowballs", clear="none"),
    _of_layer("traffic", "recent traffic of snowballs", palettes.FLOW, "balls", _up_to("traffic", 0.6, at_least=1.0),
        family="snowballs", clear="none"),
    _of_layer("rain", "rain that the wind brings, relative to the mean", palettes.LESS_AND_MORE, "×",
        _fixed(1.0 / _MOST_SHOWN, _MOST_SHOWN), layer=OROGRAPHIC_RAIN, value=Value.MAGNITUDE, family="water",
        clear="×1"),
    _of_layer("snow", "snow water equivalent", palettes.WATER, "m", _fixed(0.0, _DEEP_SNOW), family="water",
        clear="no snow"),
    _of_layer("suspended", "fine sediment that water carries", palettes.SAND, "m", _up_to("suspended", 0.5),
        family="water", clear="clear"),
    _of_layer("ice", "thickness of ice", palettes.WATER, "m", _up_to("ice"), family="water", clear="no ice"),
    _of_layer("ice_speed", "speed of ice", palettes.FLOW, "m/year", _up_to("ice_speed", 0.6), family="water",
        clear="still"),
    _of_layer("ice_debris", "debris in and on ice", palettes.SAND, "m", _up_to("ice_debris", 0.5), family="water",
        clear="none"),
    _of_layer("mass_balance", "gain (blue) or melt (red) of ice in a year of snow, as water", palettes.CHANGE, "m/year",
        _both_ways("mass_balance"), family="water", clear="none"),
    _of_layer("isostasy", "uplift by isostasy: risen (blue) or sunk (red)", palettes.CHANGE, "m",
        _both_ways("isostasy"), family="ground", clear="none"),
    _of_layer("wetness", "wetness of the surface", palettes.DAMP, family="water", clear="dry"),
    _of_layer("groundwater", "groundwater storage", palettes.WATER, "m", _up_to("groundwater"), family="water",
        clear="none"),
    _of_layer("grass", "grass cover", palettes.PLANTS, family="plants", clear="no grass"),
    _of_layer("canopy", "canopy cover", palettes.PLANTS, family="plants", clear="no trees"),
    _of_layer("roots", "root density, which holds the ground", palettes.ROOTS, family="plants", clear="no roots"),
    *_of_rates(),
    Overlay("material", Value.KIND, "material at the surface", palettes.NOTHING, span=_KINDS,
        layers=("loose_kinds", "bedrock", "sediment", "strata_rise"), drawn=True, of_materials=True,
        ends=_material_ends, family="ground"),
    Overlay("wind", Value.FIELD, "local wind relative to the prevailing wind", palettes.WIND, "×", _fixed(0.0, 2.0),
        layers=("wind_field_south", "wind_field_east"), drawn=True, family="wind and sand"),
    Overlay("rivers", Value.RIVERS, "rivers by Strahler order, and lakes", palettes.RIVERS, span=_orders,
        layers=("rivers", "lake_depth"), survey="rivers", drawn=True, family="rivers", clear="neither"),
    Overlay("fragments", Value.RIVERS, "rivers where nothing is filled: each ends in the first hollow",
        palettes.RIVERS, span=_orders, layers=("fragments",), survey="fragments", drawn=True, family="rivers",
        clear="no river"),
    _of_layer("lakes", "depth of lakes, filled to their outlets", palettes.LAKE, "m",
        _up_to("lake_depth", 0.5, at_least=1e-3), layer="lake_depth", survey="rivers", family="rivers",
        clear="no lake"),
    Overlay("filled", Value.CONTOURS, "surface with depressions filled (blue: raised)", palettes.RELIEF, "m",
        _contours, layers=("filled", "lake_depth"), survey="rivers", drawn=True, ends=_contour_ends, family="rivers",
        clear="sea"),
    Overlay("flow_directions", Value.ARROWS, "flow directions on the filled surface", palettes.COMPASS, "°",
        _fixed(0.0, 360.0), layers=("flow_directions",), survey="rivers", drawn=True, names=("north", "north-east",
        "east", "south-east", "south", "south-west", "west", "north-west"), family="rivers", clear="sea, outlets"),
    _of_layer("watersheds", "watersheds", palettes.watershed_stops(), span=_KINDS, value=Value.KIND, survey="rivers",
        ends=_watershed_ends, family="rivers", clear="sea, coast"),
    _of_layer("accumulation", "contributing area", palettes.ACCUMULATION, "km²", _accumulation, value=Value.MAGNITUDE,
        survey="rivers", family="rivers"),
    _of_layer("path_cost", "least cost to the ocean: the shortest way that never leads up", palettes.FROM_THE_COAST,
        "km", _up_to("path_cost"), survey="cost", family="rivers", clear="sea"),
    _of_layer("distance", "flow distance to the ocean", palettes.FROM_THE_COAST, "km", _up_to("distance"),
        survey="rivers", family="rivers", clear="sea"),
    _of_layer("filling", "filling from the ocean: behind the fronts are lakes and rivers", palettes.FILLING,
        span=_fixed(0.0, 2.0), survey="filling", ends=_filling_ends, family="rivers", clear="land that is reached",
        dims=False),
)
# fmt: on

OVERLAYS: dict[str, Overlay] = {overlay.name: overlay for overlay in _ROWS}


# Queries.


def overlay_range(name: str, *snapshots: Snapshot) -> Span:
    """The values at both ends of an overlay's palette, for all snapshots together."""
    lows, highs = zip(*map(OVERLAYS[name].span, snapshots), strict=True)
    return min(lows), max(highs)


def overlay_ends(name: str, *snapshots: Snapshot) -> tuple[str, str]:
    """The texts at both ends of an overlay's legend, for all snapshots together."""
    overlay = OVERLAYS[name]
    if overlay.ends is not None:
        return overlay.ends(snapshots)
    low, high = overlay_range(name, *snapshots)
    return f"{_legible(low)} {overlay.unit}".strip(), f"{_legible(high)} {overlay.unit}".strip()


def _legible(value: float) -> str:
    """A number with three digits, or with all digits before the point."""
    return spaced(value) if 999.5 <= abs(value) < 1e9 else f"{value:.3g}"


ROCK_DARKER = 0.80  # than loose material of the same colour


def material_colours(materials: Materials) -> NDArray[np.float64]:
    """sRGB in [0, 1] with opacity by material number, [256, 4]: loose materials, then rocks."""
    colours = np.zeros((256, 4))
    for number, material in enumerate((*materials.loose, *materials.rocks)):
        dark = 1.0 if number < len(materials.loose) else ROCK_DARKER
        colours[number] = [*(dark * int(material.colour[place : place + 2], 16) / 255.0 for place in (1, 3, 5)), 1.0]
    return colours


def palette_colours(name: str, materials: Materials | None = None) -> NDArray[np.float64]:
    """The colours of an overlay as the shaders read them, linear with opacity, `[256, 4]`."""
    overlay = OVERLAYS[name]
    if overlay.of_materials and materials is not None:
        colours = material_colours(materials)
    else:
        colours = palettes.interpolated(overlay.palette, 256)
    srgb = colours[:, :3]
    colours[:, :3] = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return colours

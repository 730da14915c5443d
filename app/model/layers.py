"""The layers of a world, declared once: what each is, and how it is accounted for, saved and shown.

The world, its ledger, saved worlds and snapshots are derived from this table. Which process writes
a layer is declared by `Process.changes`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

T = TypeVar("T")

# Largest magnitude of layer values: metres, far above any source, and without overflow of volumes.
LARGEST_HEIGHT = 1e6
# The same for accumulated quantities: metres over one cell, or a count.
LARGEST_SUM = 1e12
LARGEST_CYCLE = 2**53  # exact in every JSON reader

# The largest factor on the rate of a process, as a layer
LARGEST_RATE = 100.0

GROUND = "ground"  # not a layer, but the sum of those that raise it; named in errors

# Prefix of the layers of loose kinds, followed by the name of the kind.
LOOSE = "loose_"

OROGRAPHIC_RAIN = "orographic_rain"
SWELL_SOUTH, SWELL_EAST = "swell_south", "swell_east"
BURIED = "buried"
BED_AGE, BED_NUMBER = "bed_age", "beds"  # of snapshots: cycles since the uppermost bed was buried; how many there are
ARM_CODES = "arm_codes"
STRATA, ROOF = "strata_rise", "intrusion_roof"


@dataclass(frozen=True)
class LayerDeclaration:
    """One layer, [row, column]. Layers that are not `always` present are traces, which exist once they are written."""

    name: str
    help: str
    unit: str = ""  # empty: a fraction from 0 to 1, or a count
    dtype: type[np.floating[Any]] = np.float32  # the precision that it needs
    always: bool = False
    raises_ground: bool = False  # part of the height of the ground
    account: str = ""  # account of the ledger, for metres of a substance
    content: float = 1.0  # metres of the substance in a metre of the layer
    signed: bool = False  # may be negative
    largest: float = LARGEST_HEIGHT
    given: bool = False  # part of the initial terrain, never changes
    default: float = 0.0  # value of a trace that was never written
    pack: str = ""  # layers that kernels read together: interleaved in memory, in the order of the table
    # In the scene: in each snapshot. In overlays: only in snapshots for an overlay that needs it.
    seen: Literal["in the scene", "in overlays", "never"] = "in the scene"
    of_place: bool = False  # of a place on the map: stays where land moves sideways

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and highest allowed value."""
        return -self.largest if self.signed else 0.0, self.largest

    @property
    def is_burden(self) -> bool:
        """Whether it raises the ground, apart from rock and sediment."""
        return self.raises_ground and not self.always

    def is_seen(self, in_overlay: Container[str] | None) -> bool:
        """Whether a snapshot for an overlay with these layers has it; None: a snapshot with all visible layers."""
        if self.seen == "in overlays":
            return in_overlay is None or self.name in in_overlay
        return self.seen == "in the scene"


LAYERS: dict[str, LayerDeclaration] = {}


def _rate(
    name: str, help: str, pack: str = "", largest: float = LARGEST_RATE, *, of_place: bool = True
) -> LayerDeclaration:
    """A factor on the rate of a process in each cell, 1 by default."""
    return LayerDeclaration(
        name, help, "times", pack=pack, largest=largest, default=1.0, seen="in overlays", of_place=of_place
    )


def declare_layers(*layers: LayerDeclaration) -> None:
    """Add layers to the table. Raises `ValueError` if a name is taken."""
    for layer in layers:
        if layer.name in LAYERS or layer.name.startswith(LOOSE):
            raise ValueError(f"there is a layer '{layer.name}' already")
        LAYERS[layer.name] = layer


def layer_declaration(name: str) -> LayerDeclaration:
    """The declaration of a layer, including layers of loose kinds. Raises `KeyError`."""
    if name.startswith(LOOSE):
        kind = name.removeprefix(LOOSE)
        return LayerDeclaration(name, f"thickness of {kind}", "m", np.float64, account=kind, seen="never")
    return LAYERS[name]


def burdening(values: Mapping[str, T]) -> list[T]:
    """The entries of layers that raise the ground, apart from rock and sediment."""
    names = [name for name, layer in LAYERS.items() if layer.raises_ground]  # few: called in each step
    return [values[name] for name in names if name in values and LAYERS[name].is_burden]


def side_by_side(pack: str) -> tuple[str, ...]:
    """The layers of a pack, in their order in memory."""
    return tuple(layer.name for layer in LAYERS.values() if layer.pack == pack)


# fmt: off
declare_layers(
    LayerDeclaration("bedrock", "height of solid rock", "m", np.float64, always=True, raises_ground=True,
        account="rock", signed=True),
    LayerDeclaration("sediment", "thickness of loose material", "m", np.float64, always=True, raises_ground=True,
        account="sediment"),
    LayerDeclaration("water", "depth of water in lakes, or on its way to one; without the sea", "m", np.float64,
        always=True, account="water", largest=LARGEST_SUM),
    LayerDeclaration(BURIED, "thickness of buried beds of loose material", "m", np.float64, raises_ground=True,
        account="sediment", seen="never"),
    LayerDeclaration("wind_path", "frequency of wind contact with the ground"),
    LayerDeclaration("airborne", "sand that wind carries over a cell per cycle", "m", largest=LARGEST_SUM),
    LayerDeclaration("street_south", "airborne sand times its velocity, southward", "m cells/t", pack="streets",
        signed=True, largest=LARGEST_SUM, seen="in overlays"),
    LayerDeclaration("street_east", "airborne sand times its velocity, eastward", "m cells/t", pack="streets",
        signed=True, largest=LARGEST_SUM, seen="in overlays"),
    LayerDeclaration("stream", "frequency of droplets", pack="flow", largest=LARGEST_SUM, seen="in overlays"),
    LayerDeclaration("discharge", "water that passes per cycle", "m", pack="flow", largest=LARGEST_SUM,
        seen="in overlays"),
    LayerDeclaration("momentum_south", "discharge times velocity, southward", "m cells/t", pack="flow", signed=True,
        largest=LARGEST_SUM, seen="in overlays"),
    LayerDeclaration("momentum_east", "discharge times velocity, eastward", "m cells/t", pack="flow", signed=True,
        largest=LARGEST_SUM, seen="in overlays"),
    LayerDeclaration("rain", "relative rainfall", given=True, of_place=True, seen="never"),
    LayerDeclaration(OROGRAPHIC_RAIN, "rain that the wind brings, relative to the mean of the map", "times",
        largest=LARGEST_RATE, of_place=True),
    LayerDeclaration("wear", "recent erosion by snowballs", "m", largest=LARGEST_SUM),
    LayerDeclaration("deposit", "recent deposition by snowballs", "m", largest=LARGEST_SUM),
    LayerDeclaration("reworked", "how lately a braided river moved the ground, from 1 for now, falling with time",
        largest=1.0),
    LayerDeclaration("traffic", "recent traffic of snowballs", largest=LARGEST_SUM, seen="in overlays"),
    LayerDeclaration("moisture", "water in the soil", "m", np.float64, account="water", largest=LARGEST_SUM,
        seen="in overlays"),
    LayerDeclaration("groundwater", "water below the soil", "m", np.float64, account="water", largest=LARGEST_SUM,
        seen="in overlays"),
    LayerDeclaration("wetness", "relative saturation at the surface", pack="surface", largest=1.0),
    LayerDeclaration("grass", "grass cover", pack="surface", largest=1.0),
    LayerDeclaration("roots", "root density", pack="surface", largest=1.0, seen="in overlays"),
    LayerDeclaration("canopy", "canopy cover", pack="surface", largest=1.0, seen="in overlays"),
    LayerDeclaration("wind_field_south", "southward wind near the ground, relative to the prevailing speed",
        pack="wind field", signed=True, seen="in overlays", of_place=True),
    LayerDeclaration("wind_field_east", "eastward wind near the ground, relative to the prevailing speed",
        pack="wind field", signed=True, seen="in overlays", of_place=True),
    LayerDeclaration(STRATA, "height of the top of the strata", "m", signed=True),
    LayerDeclaration(ROOF, "depth of the roofs of intrusions below the top of the strata", "m", signed=True),
    LayerDeclaration("rooted_ground", "ground when plants were last updated", "m", signed=True, seen="never"),
    # In the order of kernels/rates.py
    _rate("rate_erodibility", "factor on the wear by rivers, drops and snowballs", "rates", of_place=False),
    _rate("rate_wind", "factor on the entrainment and abrasion by wind", "rates"),
    _rate("rate_weathering", "factor on the breakdown of rock", "rates", of_place=False),
    _rate("rate_growth", "factor on the growth and arrival of plants", "rates"),
    _rate("rate_evaporation", "factor on evaporation", "rates"),
    _rate("mobility", "whether rock and sediment may move: 1 free, 0 protected", "rates", largest=1.0, of_place=False),
    _rate("rate_rain", "factor on the rain"),
    _rate("rate_uplift", "factor on uplift"),
)
# fmt: on

# Additional slots of a pack for sums of a cycle; 0 between cycles.
SCRATCH = {"flow": len(side_by_side("flow"))}

# Factors on the rates of processes
RATES = tuple(layer.name for layer in LAYERS.values() if layer.default == 1.0)

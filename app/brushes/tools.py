"""The tools of the brushes, as one table: to add one is to add a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from app.brushes import forms, land, material, plants, water
from app.brushes.touch import Touch, part_of_way
from app.model.field_parameters import FIELD_LAYERS

if TYPE_CHECKING:
    from app.scene.scene import Scene

Gesture = Literal["paint", "line", "curve", "stamp", "place"]
Choice = Literal["", "loose", "plant", "form", "rate"]
Amount = Literal["metres", "part", "drops", "seeds"]

RATES = tuple(name for name in FIELD_LAYERS if name != "mobility")  # rates that can be chosen
LARGEST_RATE = 4.0  # largest painted rate; 1 is neutral

Act = Callable[[Touch], None]


@dataclass(frozen=True)
class Tool:
    """A tool of brushes, as a row of the table."""

    label: str
    help: str
    group: str
    act: Act | None  # None: the window does it, by changing parameters
    gesture: Gesture = "paint"
    amount: Amount = "metres"
    choice: Choice = ""
    opposite: str = ""  # the opposite tool
    flows: bool = False  # continues while the pointer rests
    takes_level: bool = False  # by default that of the ground where a stroke begins
    has_level: bool = False  # where one is told
    needs: str = ""  # the process that the tool needs
    shows: str = ""  # its overlay; {choice} stands for the chosen option
    full: float = 0.1  # of metres: how much of its radius a dab of full strength changes
    everywhere: bool = False  # even on protected ground
    runs_drops: bool = False  # through kernels of droplets, over lakes and sea whose levels must be up to date

    def lacks_process(self, scene: Scene) -> bool:
        """Whether the process that it needs is off, and none runs in its place."""
        in_its_place = self.needs == "pools" and scene.has_standing_water
        return bool(self.needs) and not (in_its_place or scene.value(f"{self.needs}.enabled"))


def _rate(goal: float, name: str = "") -> Act:
    """Paint a rate towards a goal: the named rate, or the chosen one."""

    def act(touch: Touch) -> None:
        layer = FIELD_LAYERS[name or touch.stroke.choice]
        values = touch.world.trace(layer)[touch.cells]
        way = goal - values
        if goal == LARGEST_RATE:  # larger values of a field stay
            way = np.maximum(way, 0.0)
        values += (part_of_way(touch) * way).astype(np.float32)
        touch.world.touched(layer)

    return act


# fmt: off
TOOLS: dict[str, Tool] = {
    "raise": Tool("raise", "raise the land, with all that lies on it", "Land", land.raise_land, opposite="lower",
        flows=True),
    "lower": Tool("lower", "take land away: loose material first, then rock", "Land", land.lower, opposite="raise",
        flows=True),
    "smooth": Tool("smooth", "even out what is rough", "Land", land.smooth, amount="part", opposite="sharpen",
        flows=True),
    "sharpen": Tool("sharpen", "make ridges sharper and hollows deeper", "Land", land.sharpen, amount="part",
        opposite="smooth", flows=True),
    "flatten": Tool("flatten", "bring the land to the height where the stroke begins", "Land", land.flatten,
        amount="part", flows=True, takes_level=True),
    "slope": Tool("slope", "an even slope from where a drag begins to where it ends", "Land", land.slope, "line",
        "part"),
    "roughen": Tool("roughen", "add bumps", "Land", land.roughen, opposite="smooth", flows=True),
    "erode": Tool("erode here", "let rain fall under the brush alone, and wear the land", "Land", land.erode,
        amount="drops", flows=True, runs_drops=True),
    "rock": Tool("rock", "put rock over all that lies there", "Material", material.put_rock, opposite="lower",
        flows=True),
    "loose": Tool("loose material", "pour loose material of a kind", "Material", material.put_loose, choice="loose",
        opposite="take loose", flows=True),
    "take loose": Tool("take loose material", "take loose material of a kind", "Material", material.take_loose,
        choice="loose", opposite="loose", flows=True),
    "pour": Tool("pour water", "pour water, which stands in the lowest hollow below at once; with Floods it runs there",
        "Water", water.pour, opposite="drain", flows=True, needs="pools"),
    "drain": Tool("take water", "take water away", "Water", water.drain, opposite="pour", flows=True, needs="pools"),
    "lake": Tool("lake", "a basin with a lake, as deep as the strength says; drag for its size", "Water", water.lake,
        "stamp", has_level=True, needs="pools", full=0.3),
    "river bed": Tool("river bed", "draw a bed, which falls all the way from its higher end", "Water", water.river_bed,
        "curve", full=0.6),
    "spring": Tool("spring", "let a spring well up, or end the one that is there", "Water", None, "place",
        needs="droplets"),
    "rain": Tool("more rain", "let more rain fall here", "Rates", _rate(LARGEST_RATE, "rain"), amount="part",
        opposite="less rain", flows=True, shows="rain_field"),
    "less rain": Tool("less rain", "let less rain fall here", "Rates", _rate(0.0, "rain"), amount="part",
        opposite="rain", flows=True, shows="rain_field"),
    "uplift": Tool("more uplift", "let the rock rise faster here", "Rates", _rate(LARGEST_RATE, "uplift"),
        amount="part", opposite="less uplift", flows=True, shows="uplift_field", needs="geology"),
    "less uplift": Tool("less uplift", "let the rock rise more slowly here, or not at all", "Rates",
        _rate(0.0, "uplift"), amount="part", opposite="uplift", flows=True, shows="uplift_field", needs="geology"),
    "protect": Tool("protect", "let nothing move here", "Rates", _rate(0.0, "mobility"), amount="part",
        opposite="free", flows=True, shows="protection", everywhere=True),
    "free": Tool("free", "let things move here again", "Rates", _rate(1.0, "mobility"), amount="part",
        opposite="protect", flows=True, shows="protection", everywhere=True),
    "faster": Tool("faster", "let a process work faster here", "Rates", _rate(LARGEST_RATE), amount="part",
        choice="rate", opposite="slower", flows=True, shows="{choice}_field"),
    "slower": Tool("slower", "let a process work more slowly here, or not at all", "Rates", _rate(0.0), amount="part",
        choice="rate", opposite="faster", flows=True, shows="{choice}_field"),
    "sow": Tool("sow", "sow grass, or set young trees", "Plants", plants.sow, amount="seeds", choice="plant",
        opposite="clear", flows=True),
    "clear": Tool("clear", "clear plants away", "Plants", plants.clear, amount="part", choice="plant", opposite="sow",
        flows=True),
    "stamp": Tool("stamp", "a form of land: drag for its size and direction", "Forms", forms.stamp, "stamp",
        choice="form", full=0.6),
}
# fmt: on

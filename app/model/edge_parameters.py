"""The boundary conditions of the map, for all processes."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from app.model.parameters import Parameters, described, parameter


class EdgeParameters(Parameters, frozen=True, kw_only=True):
    """The boundary of the map for water, for wind and sand, and the level of the sea."""

    title: ClassVar[str] = "Edges and sea"
    section: ClassVar[str] = "climate"

    # fmt: off
    water: Annotated[Literal["open", "sea", "wall"],
        described("boundary for water: it flows off the map (open), into the sea, or is kept by a wall",
        essential=True)] = "open"
    wind: Annotated[Literal["open", "wrap"],
        described("boundary for wind and sand: open, or periodic (wrap), where what leaves returns on the other side",
        needs="wind.enabled or wind_field.enabled or plants.enabled or cascade.enabled or moisture.enabled"
        " or orographic_rain.enabled or snow.enabled")] = "open"
    sea_level: Annotated[float, parameter(-10_000.0, 10_000.0, "elevation of the sea", unit="m",
        needs="edges.water=sea", essential=True)] = 0.0
    # fmt: on

    @property
    def sea(self) -> float:
        """The level of the sea; minus infinity without a sea."""
        return self.sea_level if self.water == "sea" else -math.inf

    @property
    def wrap(self) -> bool:
        """Whether wind and sand are periodic."""
        return self.wind == "wrap"

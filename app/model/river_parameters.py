"""What is searched for in the land as it is now."""

from __future__ import annotations

from typing import Annotated, ClassVar

from app.model.parameters import Parameters, parameter


class RiverParameters(Parameters, frozen=True, kw_only=True):
    """What counts as a river and as a watershed, and how often the land is searched for them."""

    title: ClassVar[str] = "Rivers"
    section: ClassVar[str] = "rivers"

    interval: Annotated[int, parameter(1, 1000, "cycles from one survey to the next", unit="cycles", log=True)] = 20
    threshold: Annotated[
        int, parameter(1, 1_000_000, "a river begins where so much land drains", unit="cells", log=True)
    ] = 150
    watershed_size: Annotated[
        int, parameter(1, 1_000_000, "smaller watersheds are merged into the coast", unit="cells", log=True)
    ] = 500
    rain: Annotated[float, parameter(1.0, 10_000.0, "what feeds the rivers, in a year", unit="mm", log=True)] = 800.0
    channel_flow: Annotated[
        float,
        parameter(0.1, 1000.0, "channels that carry less in a cycle are not measured", unit="m", log=True),
    ] = 5.0
    channel_interval: Annotated[
        int, parameter(10, 10_000, "cycles from one measurement of channels to the next", unit="cycles", log=True)
    ] = 200
    filling_pace: Annotated[
        int, parameter(1, 100, "rounds for each picture while the filling is looked at", unit="rounds", log=True)
    ] = 2

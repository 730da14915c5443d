"""Rivers and watersheds of the current land, as parameters."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from app.model.parameters import Parameters, described, parameter
from app.model.springs import Spring, read_springs

Beginning = Literal["discharge", "area"]
Ties = Literal["flat", "cost"]
READ_STREAMS = "droplets.enabled or geology.enabled or braiding.enabled or snowballs.enabled"  # where there can be some
RIVER_WIDTH = 7.2  # metres, of a river whose mean discharge is 1 m³/s (Moody, Troutman 2002)


MOST_INFLOW = 1e6  # m³/s


def read_inflows(text: str) -> tuple[Spring, ...]:
    """Where rivers come in from outside of the map, and their mean discharge. Raises `UserError` if it is invalid."""
    return read_springs(text, "rivers.inflows", "m³/s", MOST_INFLOW)


class RiverParameters(Parameters, frozen=True, kw_only=True):
    """Thresholds for rivers and watersheds, and how often they are surveyed."""

    title: ClassVar[str] = "Rivers"
    section: ClassVar[str] = "rivers"

    # fmt: off
    interval: Annotated[int, parameter(1, 1000, "cycles between surveys of rivers, lakes, watersheds and realism",
        unit="cycles", log=True)] = 20
    begin: Annotated[Beginning, described(
        "what makes a river: its mean discharge, by rain and springs, or its contributing area")] = "discharge"
    ties: Annotated[Ties, described(
        "of equally steep ways water takes the shortest over a flat, or that of the least cost to the ocean")] = "flat"
    discharge: Annotated[float, parameter(0.0, 1e6,
        "mean discharge at which a river begins; 0: of 'threshold' cells under even rain", unit="m³/s", log=True,
        least=1e-9, needs="rivers.begin=discharge")] = 0.0
    threshold: Annotated[int, parameter(1, 1_000_000,
        "contributing area at which a river begins, or whose rain it begins with", unit="cells", log=True,
        needs="rivers.begin=area or not rivers.discharge", essential=True)] = 150
    width: Annotated[float, parameter(0.5, 1000.0,
        "width of a river of 1 m³/s; that of others grows with the root of their mean discharge", unit="m", log=True,
        needs=f"{READ_STREAMS} or meandering.enabled or falls.enabled", essential=True)] = RIVER_WIDTH
    inflows: Annotated[str, described(
        "rivers from outside of the map, which move no ground, as 'south east m³/s; …', places from 0 to 1",
        check=read_inflows)] = ""
    watershed_size: Annotated[int, parameter(1, 1_000_000, "smaller watersheds are merged into the coast", unit="cells",
        log=True)] = 500
    channel_flow: Annotated[float, parameter(0.1, 1000.0, "smallest discharge per cycle of a channel that is measured",
        unit="m", log=True)] = 5.0
    channel_interval: Annotated[int, parameter(10, 10_000, "cycles between measurements of channels", unit="cycles",
        log=True)] = 200
    filling_pace: Annotated[int, parameter(1, 100, "rounds of filling per picture while the overlay 'filling' is shown",
        unit="rounds", log=True, needs="view.overlay=filling")] = 2
    # fmt: on

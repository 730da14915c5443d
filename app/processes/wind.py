"""E2, E3, E5, E7, F3, F4: wind that lifts, carries and drops loose material, and wears rock."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np

from app.parameters import Parameters, described, for_kernel, parameter
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import ProcessFailure, register
from app.processes.wind_field import WindField
from app.world import World


class WindParameters(Parameters, frozen=True, kw_only=True):
    """Wind erosion (McDonald 2020), with shelter, speed-up and shear for dunes that stay and wander."""

    title: ClassVar[str] = "Wind"
    section: ClassVar[str] = "processes"

    enabled: Annotated[bool, described("whether wind blows")] = False
    count: Annotated[int, parameter(1, 100_000, "parcels of wind in each cycle", log=True)] = 250
    gusts: Annotated[
        float, parameter(0.0, 60.0, "how far each parcel's own wind may blow beside the direction", unit="°")
    ] = 15.0
    gust_speed: Annotated[
        float, parameter(0.0, 1.0, "part of its speed by which each parcel's own wind may be faster or slower")
    ] = 0.0
    storm_parcels: Annotated[
        float, parameter(0.0, 4.0, "how many more parcels there are at the height of a storm", unit="times")
    ] = 1.0
    edges: Annotated[
        Literal["open", "wrap"],
        described("what lies beyond the map's edges: nothing (open), or the other side of the map (wrap)"),
    ] = "open"
    inflow: Annotated[
        float, parameter(0.0, 10.0, "sand over one cell that a parcel brings along over an open edge", unit="m")
    ] = 0.0
    suspension: Annotated[float, parameter(0.0, 0.01, "how much sand the wind lifts")] = 0.0004
    deposition: Annotated[float, parameter(0.0, 1.0, "how fast the load settles", unit="1/t")] = 0.2
    shear: Annotated[
        float,
        parameter(0.0, 20.0, "how much the wind lifts from level ground, beside what it lifts where the ground rises"),
    ] = 5.0
    speed_up: Annotated[
        float, parameter(0.0, 20.0, "how much faster the wind is over crests, where no wind field tells")
    ] = 8.0
    upwind_length: Annotated[
        float,
        parameter(1.0, 1000.0, "over what length the ground upwind counts for the speed-up", unit="cells", log=True),
    ] = 100.0
    shelter_angle: Annotated[
        float, parameter(1.0, 90.0, "how steeply the shelter behind a crest falls; 90: there is none", unit="°")
    ] = 15.0
    lee_deposition: Annotated[float, parameter(0.0, 4.0, "how fast the load settles in shelter", unit="1/t")] = 0.5
    abrasion: Annotated[float, parameter(0.0, 100.0, "how much bare rock is worn by what the wind carries")] = 0.0001
    dust: Annotated[
        float,
        parameter(0.0, 1.0, "what the wind always carries over one cell, which wears rock and never settles", unit="m"),
    ] = 0.0
    wet_cohesion: Annotated[
        float,
        parameter(0.0, 20.0, "how firmly wet ground stays; where the wetness is over 1 / this, the wind lifts nothing"),
    ] = 4.0
    plant_drag: Annotated[
        float, parameter(0.0, 1.0, "part of the wind near the ground that plants take where they cover all")
    ] = 0.6
    plant_cover: Annotated[
        float, parameter(0.0, 1.0, "part of the ground that plants keep from the wind where they cover all")
    ] = 0.95
    plant_trapping: Annotated[float, parameter(0.0, 4.0, "how fast the load settles among plants", unit="1/t")] = 0.5
    uplift: Annotated[
        float,
        parameter(0.0, 10.0, "how strongly fast wind holds up what it carries, fine dust most", unit="t²/cells²"),
    ] = 0.0
    lag: Annotated[float, parameter(0.0, 10.0, "how far what settles falls behind the parcel, coarse grains most")] = (
        0.0
    )
    time_step: Annotated[
        float, parameter(0.05, 2.0, "length of a parcel's step, shortened where it would pass a cell", unit="t")
    ] = 0.25
    gravity: Annotated[float, parameter(0.0, 1.0, "how fast a parcel in the air falls", unit="cells/t²")] = 0.01
    drag: Annotated[float, parameter(0.0, 1.0, "how fast a parcel takes on the speed of the wind", unit="1/t")] = 0.1
    friction: Annotated[float, parameter(0.0, 4.0, "how fast a parcel loses speed along the ground", unit="1/t")] = 0.02
    scale: Annotated[
        float, parameter(1.0, 1000.0, "cells to one h, the article's unit of height", unit="cells", log=True)
    ] = 80.0
    longest_path: Annotated[
        int, parameter(1, 100_000, "a parcel ends after this many steps", unit="steps", log=True)
    ] = 20_000


@register
class WindErosion:
    """Lets wind blow over a world, one cycle at a time."""

    name: ClassVar[str] = "wind"
    after: ClassVar[str] = "wind_field"
    parameters: ClassVar[type[Parameters]] = WindParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", "wind_path", "airborne")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, WindParameters(count=1), Cycle())

    def prepare_rich(self) -> None:
        """As `prepare`, for ground of several kinds or with something on it, and for a wind that the ground shapes."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, WindParameters(count=1, uplift=1.0), Cycle())

    def asks_for_rich(self, parameters: WindParameters, running: frozenset[str]) -> bool:
        """So do a wind field, and two properties of parcels."""
        return WindField.name in running or parameters.uplift > 0.0 or parameters.lag > 0.0

    def step(self, world: World, parameters: WindParameters, cycle: Cycle) -> None:
        """Advance `world` by the wind of one cycle. Raises `ProcessFailure` before anything non-finite is written."""
        from kernels import wind

        weather = cycle.weather
        totals = wind.blow(
            world.bedrock,
            world.sediment,
            world.ground,
            world.material_fields(),
            world.trace("wind_path"),
            world.trace("airborne"),
            world.cell_size,
            world.seed,
            world.cycle,
            for_kernel(
                wind.WindParameters,
                parameters,
                weather,
                count=round(parameters.count * (1.0 + parameters.storm_parcels * weather.storm)),
                wrap=parameters.edges == "wrap",
                wind_field_direction=world.wind_field_direction,
            ),
            world.surface,
            world.wind_field if WindField.name in cycle.running else None,
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        account_for(world, "worn by wind", totals.moved)

"""Wind that entrains, transports and deposits loose material, and abrades rock (after McDonald 2020)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np

from app.model.layers import side_by_side
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import ProcessFailure, register
from app.processes.wind_field import WindField


class WindParameters(Parameters, frozen=True, kw_only=True):
    """Wind erosion (McDonald 2020), with shelter, speed-up and shear for dunes that persist and migrate."""

    title: ClassVar[str] = "Wind"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool,
        described("wind erosion: entrainment, transport and deposition of sand, abrasion of rock")] = False
    count: Annotated[int, parameter(1, 100_000, "parcels of wind per cycle", log=True, essential=True,
        costs=True)] = 250
    gusts: Annotated[float, parameter(0.0, 60.0, "largest deviation of a parcel's wind from the prevailing direction",
        unit="°")] = 15.0
    gust_speed: Annotated[float, parameter(0.0, 1.0,
        "largest deviation of a parcel's wind from the prevailing speed, as a fraction")] = 0.0
    storm_parcels: Annotated[float, parameter(0.0, 4.0,
        "additional parcels at the peak of a storm, relative to their usual count", unit="times",
        needs="climate.storms")] = 1.0
    inflow: Annotated[float, parameter(0.0, 10.0,
        "sand that each parcel brings in over an open edge, as depth over one cell", unit="m",
        needs="edges.wind=open")] = 0.0
    suspension: Annotated[float, parameter(0.0, 0.01, "entrainment rate: how readily wind lifts sand",
        essential=True)] = 0.0004
    deposition: Annotated[float, parameter(0.0, 1.0, "rate at which the load settles", unit="1/t")] = 0.2
    shear: Annotated[float, parameter(0.0, 20.0,
        "entrainment by shear on level ground, relative to that on rising ground")] = 5.0
    speed_up: Annotated[float, parameter(0.0, 20.0,
        "increase of wind speed over crests, where no wind field is simulated", needs="not wind_field.enabled")] = 8.0
    upwind_length: Annotated[float, parameter(1.0, 1000.0,
        "length over which the upwind ground is averaged for the speed-up", unit="cells", log=True,
        needs="not wind_field.enabled")] = 100.0
    shelter_angle: Annotated[float, parameter(1.0, 90.0,
        "angle below horizontal of the sheltered zone's upper edge behind a crest; 90: no shelter", unit="°")] = 15.0
    lee_deposition: Annotated[float, parameter(0.0, 4.0, "rate at which the load settles in shelter", unit="1/t")] = 0.5
    abrasion: Annotated[float, parameter(0.0, 100.0, "abrasion of bare rock by the load of the wind",
        essential=True)] = 0.0001
    dust: Annotated[float, parameter(0.0, 1.0,
        "constant background load over one cell, which abrades rock and never settles", unit="m")] = 0.0
    wet_cohesion: Annotated[float, parameter(0.0, 20.0,
        "reduction of entrainment by moisture; none occurs above a wetness of 1 / this",
        needs="moisture.enabled or plants.enabled")] = 4.0
    plant_drag: Annotated[float, parameter(0.0, 1.0,
        "reduction of near-ground wind under full plant cover, as a fraction", needs="plants.enabled")] = 0.6
    plant_cover: Annotated[float, parameter(0.0, 1.0,
        "fraction of the ground shielded from the wind under full plant cover", needs="plants.enabled")] = 0.95
    plant_trapping: Annotated[float, parameter(0.0, 4.0,
        "additional rate at which the load settles under full plant cover", unit="1/t", needs="plants.enabled")] = 0.5
    uplift: Annotated[float, parameter(0.0, 10.0,
        "turbulent suspension: how strongly fast wind delays settling, of fine dust most", unit="t²/cells²")] = 0.0
    lag: Annotated[float, parameter(0.0, 10.0,
        "how far settling grains fall behind the parcel, coarse ones most")] = 0.0
    lift: Annotated[float, parameter(0.0, 0.1,
        "lift of parcels in flight by the square of their speed: dust rises, coarse sand hops", unit="1/cells")] = 0.0
    lift_height: Annotated[float, parameter(0.1, 100.0, "height above the ground at which lift is a quarter",
        unit="cells", log=True, needs="wind.lift")] = 4.0
    memory: Annotated[float, parameter(0.0, 2.0,
        "how far streets of airborne sand turn the wind along them and speed it up; they form, and stay",
        unit="times")] = 0.0
    time_step: Annotated[float, parameter(0.05, 2.0, "time step of a parcel, shortened so that it skips no cell",
        unit="t")] = 0.25
    gravity: Annotated[float, parameter(0.0, 1.0, "downward acceleration of a parcel in the air",
        unit="cells/t²")] = 0.01
    drag: Annotated[float, parameter(0.0, 1.0, "rate at which a parcel adopts the velocity of the wind",
        unit="1/t")] = 0.1
    friction: Annotated[float, parameter(0.0, 4.0, "rate at which a parcel loses speed along the ground",
        unit="1/t")] = 0.02
    scale: Annotated[float, parameter(1.0, 1000.0, "cells per h, the article's unit of height", unit="cells",
        log=True)] = 80.0
    longest_path: Annotated[int, parameter(1, 100_000, "a parcel ends after this many steps", unit="steps",
        log=True)] = 20_000
    # fmt: on


@register
class WindErosion:
    """Lets wind blow over a world, one cycle at a time."""

    name: ClassVar[str] = "wind"
    after: ClassVar[str] = "wind_field"
    parameters: ClassVar[type[Parameters]] = WindParameters
    changes: ClassVar[tuple[str, ...]] = ("bedrock", "sediment", "wind_path", "airborne", *side_by_side("streets"))

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        self.step(world, WindParameters(count=1), Cycle())

    def prepare_rich(self) -> None:
        """As `prepare`, for ground of several kinds or with something on it, and for a wind that the ground shapes."""
        world = World(np.zeros((8, 8)), np.zeros((8, 8)), cell_size=1.0, seed=0)
        world.trace("mobility")
        self.step(world, WindParameters(count=1, uplift=1.0, memory=1.0), Cycle())

    def asks_for_rich(self, parameters: WindParameters, running: frozenset[str]) -> bool:
        """So do a wind field, and some properties of parcels."""
        own = (parameters.uplift, parameters.lag, parameters.lift, parameters.memory)
        return WindField.name in running or max(own) > 0.0

    def step(self, world: World, parameters: WindParameters, cycle: Cycle) -> tuple[str, ...]:
        """Advance `world` by the wind of one cycle, and return what has changed.

        Streets are layers of the world only while the wind remembers them. Raises `ProcessFailure` before anything
        non-finite is written.

        In cells n times as fine, the same air is moved by n times as many parcels, for each sweeps a path that is one
        cell wide: so each place is met as often in a cycle, and what is lifted there, worn and put down in metres is
        the same at each meeting. Speeds and lengths keep their metres and so have n times as many cells; a step of a
        parcel is as many cells long as before, and n times as short. A load that is gathered and put down over the
        same metres is n times as deep over one cell, and so is what a parcel brings along: what it wears of rock in
        proportion to its load is that much less.
        """
        from kernels import wind

        weather = cycle.weather
        finer = world.refinement
        count = round(parameters.count * (1.0 + parameters.storm_parcels * weather.storm) * finer)
        cycle.parcels = count
        cycle.blown = np.zeros(world.shape, np.uint8)
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
                count=count,
                wind_speed=weather.wind_speed * finer,
                time_step=parameters.time_step / finer,
                gravity=parameters.gravity * finer,
                abrasion=parameters.abrasion / finer,
                dust=parameters.dust * finer,
                inflow=parameters.inflow * finer,
                upwind_length=parameters.upwind_length * finer,
                scale=parameters.scale * finer,
                longest_path=round(parameters.longest_path * finer),
                uplift=parameters.uplift / finer**2,
                lift=parameters.lift / finer,
                lift_height=parameters.lift_height * finer,
                wrap=cycle.edges.wrap,
                wind_field_direction=world.wind_field_direction,
            ),
            world.surface,
            world.wind_field if WindField.name in cycle.running else None,
            world.rates_in(cycle.scratch.begin()),
            world.pack("streets") if parameters.memory > 0.0 else None,
            cycle.blown,
        )
        if totals.failed_row >= 0:
            raise ProcessFailure(self.name, totals.failed_row, totals.failed_column)
        account_for(world, "worn by wind", totals.moved)
        streets = side_by_side("streets")
        return tuple(name for name in self.changes if parameters.memory > 0.0 or name not in streets)

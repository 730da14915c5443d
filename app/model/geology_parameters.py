"""Parameters of rivers and uplift, for the process and for ranges with an initial age."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from app.model.parameters import Parameters, described, for_kernel, parameter
from kernels.uplift import Pattern, uplift_pattern

if TYPE_CHECKING:
    from kernels.landscape import LandscapeParameters

Layer = NDArray[np.float64]

MILLIMETRE = 1e-3
CUTS = "geology.erodibility"
RUNS = "geology.enabled"
CARRIES = f"{RUNS}, not geology.sideways=none, geology.sideways_rate"


class GeologyParameters(Parameters, frozen=True, kw_only=True):
    """Uplift, river incision and deposition, landslides, creep and soil (Yuan et al. 2019; Culling 1960)."""

    title: ClassVar[str] = "Rivers and uplift"
    section: ClassVar[str] = "processes"
    acts_with: ClassVar[str] = "world.source=range or world.worn"

    # fmt: off
    enabled: Annotated[bool, described("geological time: uplift, incision by rivers, and hillslopes")] = False
    age: Annotated[float, parameter(0.0, 5e7, "age at which a new range begins", unit="years", log=True,
        needs="world.source=range", essential=True, makes_world=True)] = 5e6
    years_per_cycle: Annotated[float, parameter(1.0, 1e6, "time that passes in a cycle", unit="years", log=True,
        needs=RUNS, essential=True)] = 10_000.0
    every: Annotated[int, parameter(1, 1000, "cycles between two steps; each makes up for their time", unit="cycles",
        log=True, needs=RUNS)] = 1
    uplift: Annotated[float, parameter(-20.0, 20.0, "uplift of rock where it is fastest; below 0 it sinks",
        unit="mm/year", essential=True)] = 0.5
    uplift_pattern: Annotated[Literal["uniform", "dome", "tilted block", "fault", "belt", "fold belt", "escarpment"],
        described("where rock rises; the field of uplift is a factor on it", needs="geology.uplift",
        essential=True)] = "uniform"
    uplift_direction: Annotated[float, parameter(0.0, 360.0,
        "direction that the uplifted side of a fault or an escarpment faces, or across folds; clockwise from north",
        unit="°", needs="geology.uplift, not geology.uplift_pattern=uniform, not geology.uplift_pattern=dome")] = 180.0
    uplift_width: Annotated[float, parameter(0.02, 4.0,
        "radius of a dome, width of a block or a half of a belt, relative to the map's longer side", log=True,
        needs="geology.uplift, not geology.uplift_pattern=uniform")] = 0.45
    subsidence: Annotated[float, parameter(0.0, 1.0, "subsidence beside the fault, as a fraction of the uplift",
        needs="geology.uplift, geology.uplift_pattern=tilted block or geology.uplift_pattern=fault")] = 0.2
    uplift_end: Annotated[float, parameter(0.0, 1e8, "time at which the uplift ends; 0: it goes on", unit="years",
        needs="geology.uplift")] = 0.0
    sideways: Annotated[Literal["none", "right-lateral fault", "left-lateral fault", "thrust", "fold"],
        described("what carries land along a fault, over the other side of one, or over a ramp",
        needs=RUNS, essential=True)] = "none"
    sideways_rate: Annotated[float, parameter(0.0, 100.0, "how fast land is carried sideways", unit="mm/year",
        needs=f"{RUNS}, not geology.sideways=none")] = 5.0
    sideways_direction: Annotated[float, parameter(0.0, 360.0,
        "to which it is carried, clockwise from north, up to 9° off: land moves in whole cells", unit="°",
        needs=CARRIES)] = 90.0
    fault_place: Annotated[float, parameter(-1.0, 1.0,
        "place of the fault or of the ramp's foot, from the middle, as a part of the map's longer side",
        needs=CARRIES)] = 0.0
    ramp_dip: Annotated[float, parameter(1.0, 80.0, "dip of the ramp", unit="°",
        needs=f"{CARRIES}, geology.sideways=thrust or geology.sideways=fold")] = 25.0
    ramp_height: Annotated[float, parameter(0.0, 10_000.0, "how high the ramp leads", unit="m",
        needs=f"{CARRIES}, geology.sideways=thrust or geology.sideways=fold")] = 1000.0
    erodibility: Annotated[float, parameter(0.0, 1e-2, "K: erodibility of rock by rivers", unit="m^(1-2m)/year",
        log=True, essential=True)] = 5e-6
    sediment_erodibility: Annotated[float, parameter(0.1, 50.0, "erodibility of loose material beside that of rock",
        unit="times", log=True, needs=CUTS)] = 2.0
    cover: Annotated[float, parameter(0.01, 100.0, "thickness of loose material that half protects rock", unit="m",
        log=True, needs=CUTS)] = 2.0
    area_exponent: Annotated[float, parameter(0.1, 1.0, "m: exponent of the drainage area in incision",
        needs=CUTS)] = 0.45
    channel_area: Annotated[float, parameter(0.0, 1e7,
        "area that drains to the head of a channel; slopes above it wear as the head does", unit="m²", log=True,
        needs=CUTS)] = 0.0
    slope_exponent: Annotated[float, parameter(0.5, 3.0, "n: exponent of the slope in incision", needs=CUTS)] = 1.0
    deposition: Annotated[float, parameter(0.0, 10.0, "G: how readily rivers deposit; 0 carries all away", needs=CUTS,
        essential=True)] = 0.5
    critical_slope: Annotated[float, parameter(5.0, 90.0, "steeper slopes slide; 90 leaves all", unit="°", needs=CUTS,
        essential=True)] = 33.0
    settling_length: Annotated[float, parameter(1.0, 1e6,
        "distance in the sea over which two thirds of a river's load settle", unit="m", log=True,
        needs=f"{CUTS}, edges.water=sea")] = 1000.0
    diffusivity: Annotated[float, parameter(0.0, 10.0, "creep of hillslopes, which rounds them", unit="m²/year",
        log=True, essential=True)] = 0.01
    soil_production: Annotated[float, parameter(0.0, 10.0, "rate at which bare rock turns to soil", unit="mm/year",
        log=True)] = 0.02
    soil_depth: Annotated[float, parameter(0.01, 10.0, "thickness of soil that reduces its production to a third",
        unit="m", log=True, needs="geology.soil_production")] = 0.5
    # fmt: on


def landscape_parameters(parameters: GeologyParameters, years: float, finer: float = 1.0) -> LandscapeParameters:
    """The parameters of the kernel for a step of so many years.

    `finer` is how many cells are as long as one of the reference.
    """
    from kernels.landscape import LandscapeParameters

    slope = parameters.critical_slope
    return for_kernel(
        LandscapeParameters,
        parameters,
        years=years,
        erodibility=parameters.erodibility,
        sediment_erodibility=parameters.sediment_erodibility,
        critical_slope=math.tan(math.radians(slope)) if slope < 90.0 else math.inf,
        soil_production=parameters.soil_production * MILLIMETRE,
        finer=finer,
    )


def outlets_of(ground: Layer, *, walls: bool) -> NDArray[np.bool_]:
    """Mask of the base level, [row, column]: low cells of the edge, or the lowest cell if the edge is a wall."""
    from kernels.stream_power import lowest_of_edge

    if not walls:
        return lowest_of_edge(ground)
    outlets = np.zeros(ground.shape, np.bool_)
    outlets.flat[int(ground.argmin())] = True
    return outlets


def has_base_level(parameters: GeologyParameters, *, walls: bool) -> bool:
    """Whether outlets keep their height, because rivers or slopes lower the land beside them."""
    return not walls and (parameters.erodibility > 0.0 or parameters.diffusivity > 0.0)


class Uplift:
    """Uplift by a pattern, cached between steps."""

    def __init__(self, rows: int, columns: int, seed: int) -> None:
        self._map = rows, columns, seed
        self._made_from: tuple[str, Pattern] | None = None

    def is_for(self, rows: int, columns: int, seed: int) -> bool:
        """Whether it applies to a map of this shape and seed."""
        return self._map == (rows, columns, seed)

    def risen(self, parameters: GeologyParameters, begin: float, years: float) -> Layer | float:
        """Uplift in so many years after `begin`, in metres, [row, column].

        A single number if uniform.
        """
        if parameters.uplift_end:
            years = max(min(begin + years, parameters.uplift_end) - begin, 0.0)
        rows, columns, seed = self._map
        pattern = Pattern(parameters.uplift_direction, parameters.uplift_width, parameters.subsidence, seed)
        made_from, metres = (parameters.uplift_pattern, pattern), parameters.uplift * MILLIMETRE * years
        if parameters.uplift_pattern == "uniform":
            return np.float64(metres)  # float64, to stay precise when multiplied by a field
        if made_from != self._made_from:
            self._pattern = uplift_pattern(parameters.uplift_pattern, rows, columns, pattern)
            self._made_from = made_from
        risen: Layer = self._pattern * metres
        return risen

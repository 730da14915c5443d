"""The waves on sea and lakes, as parameters. They are only drawn: no layer and no process depends on them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from app.model.parameters import Parameters, described, parameter

Style = Literal["natural", "lines"]
Stage = Literal["sea", "cells", "distance", "plain_wave"]


class WaveParameters(Parameters, frozen=True, kw_only=True):
    """Waves on the shore. They are only drawn, and change nothing of the land.

    Their length is relative to the map's longer side, so that it suits any size.
    """

    title: ClassVar[str] = "Waves"
    section: ClassVar[str] = "view"

    # fmt: off
    enabled: Annotated[bool, described("waves on the shore; they are only drawn, and change nothing")] = True
    style: Annotated[Style, described("a sea with surf, or white lines around the coast as on a drawn map")] = "natural"
    stage: Annotated[Stage,
        described("the finished sea, or an intermediate stage: nearest-coast cells, distance and direction"
        " to the coast, a plain wave")] = "sea"
    wavelength: Annotated[float, parameter(0.002, 0.2, "deep-water wavelength in the usual wind; at least 3 cells",
        unit="sides", log=True)] = 0.024
    height: Annotated[float, parameter(0.0, 4.0, "wave height relative to that which suits the wavelength", unit="×",
        essential=True)] = 1.0
    steep_fronts: Annotated[float, parameter(0.0, 1.0,
        "how much steeper the front of a breaking wave is than its back")] = 0.7
    scatter: Annotated[float, parameter(0.0, 1.0,
        "how much wave fronts are broken up along the shore into separate waves")] = 0.8
    fronts: Annotated[float, parameter(1.0, 40.0, "number of wave fronts off the shore", unit="waves", log=True)] = 9.0
    shelter: Annotated[float, parameter(0.0, 1.0, "how calm the lee side of the land is")] = 1.0
    foam: Annotated[float, parameter(0.0, 2.0, "amount of foam that breaking waves produce and leave behind",
        unit="×")] = 1.0
    run_up: Annotated[float, parameter(0.0, 4.0, "height of wave run-up on the beach", unit="×")] = 1.0
    drying: Annotated[float, parameter(1.0, 600.0, "time for which sand stays wet", unit="s", log=True)] = 25.0
    speed: Annotated[float, parameter(0.1, 10.0, "speed of the waves relative to real ones", unit="×", log=True)] = 1.0
    loop: Annotated[float, parameter(4.0, 600.0, "period after which the sea repeats seamlessly", unit="s",
        log=True)] = 60.0
    # fmt: on

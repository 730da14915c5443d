"""The waves on sea and lakes, as parameters. They are only drawn: no layer and no process knows of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from app.model.parameters import Parameters, described, parameter

Style = Literal["natural", "lines"]
Stage = Literal["sea", "cells", "distance", "plain_wave"]


class WaveParameters(Parameters, frozen=True, kw_only=True):
    """Waves that run to the shore. They decorate the picture and change nothing of the land.

    Their length is in parts of the map's longer side, so that it suits any size.
    """

    title: ClassVar[str] = "Waves"
    section: ClassVar[str] = "view"

    enabled: Annotated[bool, described("whether waves run to the shore; they are only drawn, and change nothing")] = (
        True
    )
    style: Annotated[Style, described("a sea with surf, or white lines around the coast as on a drawn map")] = "natural"
    stage: Annotated[
        Stage,
        described(
            "the finished sea, or a step on the way to it: cells of the nearest coast, distance and direction to it, "
            "a plain wave"
        ),
    ] = "sea"
    wavelength: Annotated[
        float,
        parameter(
            0.002,
            0.2,
            "from crest to crest where it is deep, in a common wind; at least 3 cells",
            unit="sides",
            log=True,
        ),
    ] = 0.024
    height: Annotated[float, parameter(0.0, 4.0, "of the waves beside that which suits their length", unit="×")] = 1.0
    steep_fronts: Annotated[
        float, parameter(0.0, 1.0, "how much steeper waves are ahead of their crests than behind, where they break")
    ] = 0.7
    scatter: Annotated[
        float, parameter(0.0, 1.0, "how much fronts are broken up along the shore, so that they are waves of their own")
    ] = 0.8
    fronts: Annotated[float, parameter(1.0, 40.0, "how many waves stand before the shore", unit="waves", log=True)] = (
        9.0
    )
    shelter: Annotated[float, parameter(0.0, 1.0, "how calm the side of the land is that lies away from the wind")] = (
        0.7
    )
    foam: Annotated[float, parameter(0.0, 2.0, "how much foam breaking waves make and leave behind", unit="×")] = 1.0
    run_up: Annotated[float, parameter(0.0, 4.0, "how high waves run up the beach", unit="×")] = 1.0
    drying: Annotated[float, parameter(1.0, 600.0, "how long sand stays wet", unit="s", log=True)] = 25.0
    speed: Annotated[float, parameter(0.1, 10.0, "how fast the waves go beside real ones", unit="×", log=True)] = 1.0
    loop: Annotated[
        float, parameter(4.0, 600.0, "after this time the sea repeats, without a jump", unit="s", log=True)
    ] = 60.0

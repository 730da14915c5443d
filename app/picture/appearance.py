"""What a picture depends on, apart from the land and the camera."""

from __future__ import annotations

from typing import Protocol

from app.model.climate import ClimateParameters
from app.model.runoff import Runoff
from app.model.view_parameters import ViewParameters
from app.model.wave_parameters import WaveParameters


class Appearance(Protocol):
    """Parameters of light, water and weather. A scene has them, and much that a picture does not look at."""

    @property
    def view(self) -> ViewParameters: ...

    @property
    def waves(self) -> WaveParameters: ...

    @property
    def climate(self) -> ClimateParameters: ...

    @property
    def runoff(self) -> Runoff:
        """The water that runs over its land."""
        ...

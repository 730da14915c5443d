"""The appearance of a picture, apart from land and camera."""

from __future__ import annotations

from typing import Protocol

from app.model.climate import ClimateParameters
from app.model.runoff import Runoff
from app.model.view_parameters import ViewParameters
from app.model.wave_parameters import WaveParameters


class Appearance(Protocol):
    """Parameters of light, water and weather that a picture needs. A scene has them."""

    @property
    def view(self) -> ViewParameters: ...

    @property
    def waves(self) -> WaveParameters: ...

    @property
    def climate(self) -> ClimateParameters: ...

    @property
    def runoff(self) -> Runoff:
        """The runoff of the land."""
        ...

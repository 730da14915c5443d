"""The snapshot and shot of a picture."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.snapshot import Snapshot
from app.picture.crop import Crop
from app.picture.passes.declaration import Shot
from app.picture.passes.quality import Quality
from app.picture.passes.waves import SeaState


class Taken(NamedTuple):
    """A picture of a snapshot, or a part of it. All options of `shot` are resolved."""

    snapshot: Snapshot
    shot: Shot
    quality: Quality
    crop: Crop  # the drawn part, in pixels of the scene
    aspect: float  # of the whole picture
    weather: Weather
    sea: SeaState
    waves: int  # their style, see `waves.drawing_of`
    storm: float  # amount of dust in the air
    falling: float  # amount of rain or snow

    @property
    def heights(self) -> tuple[float, float]:
        """The lowest and the highest ground, exaggerated."""
        exaggeration = self.shot.appearance.view.exaggeration
        return self.snapshot.lowest * exaggeration, self.snapshot.highest * exaggeration

    @property
    def view_projection(self) -> NDArray[np.float64]:
        """From picture space to clip space, [row, column]."""
        camera = self.shot.camera
        clip_space = self.crop.clip * camera.projection(self.aspect) * camera.view()
        return np.array(clip_space.to_list()).T

    @property
    def focal_length(self) -> float:
        """The focal length in pixels of the scene."""
        return 0.5 * self.crop.size[1] / math.tan(math.radians(self.shot.camera.field_of_view) / 2.0)

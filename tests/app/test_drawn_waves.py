"""When the kernels of drawn waves are loaded: after a first picture, and only where there is water."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from app.engine.builds import WAVES
from app.engine.showing import Showing


def lockstep(sea_level: float, unprepared: list[str]) -> Any:
    world = SimpleNamespace(water_version=0, sea_level=sea_level)
    return SimpleNamespace(worlds=[world], simulators=[None], unprepared=lambda: unprepared)


def test_kernels_of_drawn_waves_are_loaded_after_those_of_cycles_where_there_is_a_sea() -> None:
    asked: list[str] = []
    ready = iter([False, True])

    def is_ready(build: str, simulator: object) -> bool:
        asked.append(build)
        return next(ready)

    showing = Showing(cast(Any, SimpleNamespace(is_ready=is_ready)), print)
    showing.load_waves(lockstep(0.0, []))
    assert asked == [], "before a picture"
    showing.first_picture_shown.set()
    showing.load_waves(None)
    showing.load_waves(lockstep(0.0, ["pools"]))
    showing.load_waves(lockstep(-np.inf, []))
    assert asked == []
    for _ in range(4):
        showing.load_waves(lockstep(0.0, []))
    assert asked == [WAVES, WAVES], "until they are there"

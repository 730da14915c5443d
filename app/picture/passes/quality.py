"""Levels of quality: a table of settings and budgets."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP, Filter
from app.picture.passes.unlocked import TimeQuery


@dataclass(frozen=True)
class Quality:
    """A level of quality."""

    name: str
    scale: float  # pixels of the scene per pixel of the target, along a side
    samples: int  # multisampling; 0 is none
    fxaa: bool
    outlines: bool  # antialiasing of outlines only, for scenes without samples
    triangle_pixels: float  # approximate side of a triangle in the picture
    tree_pixels: tuple[float, float, float]  # least heights of trees drawn in detail, as bodies, as points
    tree_shadow: int  # texels per side of the shadow map of trees nearby
    detail_scales: int  # of noise finer than a cell: 1, 2, or 3 with one for cliffs
    relief: int  # texels per cell of the relief finer than the map; 0: no relief
    fine_water: bool  # more waves, reflections of land, refraction of the bed
    sun_steps: int
    sky_directions: int
    sky_steps: int
    shore_budget: int  # texels of the shore computed in a frame while the coast moves
    light_budget: int  # texels of the light map, and of the relief, baked in a frame while the ground changes
    grain: bool = False  # the one scale of noise is as fine as a pixel is wide

    @property
    def light_scale(self) -> int:
        """Texels of baked light per cell."""
        return 2 if self.shadows_have_heights else 1

    @property
    def shadows_have_heights(self) -> bool:
        """Whether baked light tells up to which height shadows reach: deferred ground does not read that."""
        return self.displaced and not self.deferred

    @property
    def relief_in_light(self) -> bool:
        """Whether only the light shows the relief finer than the map, and the mesh does not."""
        return not self.displaced

    @property
    def relief_scale(self) -> int:
        """Texels per cell of the map of the relief, also of one that only the light reads."""
        return self.relief or 2

    @property
    def bounce_budget(self) -> int:
        """Texels of the lit land drawn in a frame while it changes."""
        return self.light_budget // 4

    @property
    def bounce_side(self) -> int:
        """Texels along the longer side of the lit land."""
        return 512 if self.fine_water else 256

    @property
    def afar_side(self) -> int:
        """Texels along the longer side of the map of land beyond it."""
        return 1024 if self.fine_water else 512 if self.detail_scales > 1 else 256

    @property
    def mipmaps(self) -> Filter:
        """Filter of textures read per pixel: in software, reading one mipmap level costs half as much as two."""
        return ONE_MIPMAP if self.detail_scales == 1 else MIPMAPPED

    @property
    def displaced(self) -> bool:
        """Whether the mesh is displaced by the relief finer than the map."""
        return self.relief > 0

    @property
    def undergrowth(self) -> bool:
        """Whether undergrowth is drawn near the camera."""
        return not self.deferred

    @property
    def deep_clouds(self) -> bool:
        """Whether clouds have depth, and cast shadows."""
        return self.fine_water

    @property
    def deferred(self) -> bool:
        """Whether the ground is shaded once per pixel, after its mesh."""
        return self.samples == 0


LEVELS: tuple[Quality, ...] = (
    Quality("lowest", 0.5, 0, False, True, 9.0, (130.0, 34.0, 3.4), 512, 1, 0, False, 50, 6, 9, 60_000, 4_000),
    Quality("low", 0.65, 0, False, True, 7.0, (130.0, 34.0, 3.4), 512, 1, 0, False, 60, 6, 9, 100_000, 6_000, True),
    Quality("medium", 1.0, 0, True, False, 5.0, (120.0, 30.0, 3.0), 1024, 2, 2, False, 90, 8, 11, 200_000, 24_000),
    Quality("high", 1.0, 4, False, False, 5.0, (60.0, 18.0, 1.1), 4096, 3, 3, True, 110, 12, 14, 4_000_000, 1_000_000),
    Quality("ultra", 1.5, 4, True, False, 1.5, (50.0, 16.0, 1.0), 4096, 3, 4, True, 140, 16, 16, 16_000_000, 4_000_000),
)

BY_NAME = {level.name: level for level in LEVELS}


class KnownLevels(Protocol):
    """The level of each renderer in earlier runs."""

    def level(self, renderer: str) -> Quality | None: ...

    def note(self, renderer: str, level: Quality) -> None:
        """Remember the level for the next run."""
        ...


class AutomaticQuality:
    """Chooses a level by frame time: down quickly if frames are late, up only with a large margin.

    A `guessed` level is judged by its first frames, so that a level that is far too slow is left at once. `changed` is
    called with each new level.
    """

    SLOW = 1.0 / 18.0  # seconds for a frame
    FAST = 1.0 / 90.0
    PATIENCE = 24  # frames

    COMPILING = 3  # first frames of a guessed level, which are not judged
    JUDGED = 5  # following frames, which are
    FAR_TOO_SLOW = 4.0 / 18.0  # seconds per frame at which a guessed level drops to the lowest

    def __init__(
        self, start: Quality, *, guessed: bool = False, changed: Callable[[Quality], None] = lambda level: None
    ) -> None:
        self.level = start
        self._changed = changed
        self._first: list[float] | None = [] if guessed else None
        self._late = 0
        self._early = 0
        self._ceiling = LEVELS.index(BY_NAME["high"])

    def measure(self, seconds: float) -> None:
        """Record the drawing time of a frame."""
        if self._first is not None:
            self._judge(self._first, seconds)
            return
        self._late = self._late + 1 if seconds > self.SLOW else 0
        self._early = self._early + 1 if seconds < self.FAST else 0
        index = LEVELS.index(self.level)
        if self._late >= self.PATIENCE and index > 0:
            self._ceiling = index - 1  # a level that was too slow once is not tried again
            self._change(index - 1)
        elif self._early >= 4 * self.PATIENCE and index < self._ceiling:
            self._change(index + 1)

    def _judge(self, first: list[float], seconds: float) -> None:
        """Leave a guessed level if its first frames are late."""
        first.append(seconds)
        if len(first) < self.COMPILING + self.JUDGED:
            return
        self._first = None
        usual = statistics.median(first[self.COMPILING :])
        index = LEVELS.index(self.level)
        if usual > self.SLOW and index > 0:
            lower = 0 if usual > self.FAR_TOO_SLOW else index - 1
            self._ceiling = lower
            self._change(lower)

    def _change(self, index: int) -> None:
        self.level = LEVELS[index]
        self._changed(self.level)
        self._late = self._early = 0


class Haste:
    """Chooses the size of pictures that software draws while a hand moves the view: fewer pixels if they are late."""

    SCALES = (0.4, 0.5, 0.6, 0.8)  # fractions of the pixels along a side of a whole picture
    SLOW = 1.0 / 33.0  # seconds for a picture: the panel and the screen take the rest of a twentieth
    FAST = 1.0 / 80.0
    PATIENCE = 3  # pictures

    def __init__(self) -> None:
        self.scale = 0.6
        self._late = self._early = 0

    def measure(self, seconds: float) -> None:
        """Record the drawing time of a picture."""
        self._late = self._late + 1 if seconds > self.SLOW else 0
        self._early = self._early + 1 if seconds < self.FAST else 0
        place = self.SCALES.index(self.scale)
        if self._late >= self.PATIENCE:
            place = max(place - 1, 0)
        elif self._early >= 4 * self.PATIENCE:
            place = min(place + 1, len(self.SCALES) - 1)
        else:
            return
        self.scale = self.SCALES[place]
        self._late = self._early = 0


class FrameTimer:
    """Measures the time of rendering a frame, not that of submitting its commands."""

    def __init__(self, software: bool) -> None:
        self._software = software
        self._queries = [] if software else [TimeQuery(), TimeQuery()]
        self._frames = 0

    def measure(self, slices: Iterator[None], take: Callable[[float], None]) -> Iterator[None]:
        """Pass on the slices of a frame; calls `take` with the drawing time in seconds.

        A software rasteriser is done when a slice ends, so the clock suffices. A graphics card draws later: its own
        timer is read when the frame after the next one begins, and all slices run as one.
        """
        if self._software:
            seconds = 0.0
            begin = time.perf_counter()
            for _ in slices:
                seconds += time.perf_counter() - begin
                yield
                begin = time.perf_counter()
            take(seconds + time.perf_counter() - begin)
            return
        query = self._queries[self._frames % 2]
        if self._frames >= 2 and (measured := query.seconds) is not None:
            take(measured)
        with query:
            for _ in slices:
                pass
        self._frames += 1
        yield

"""Opening a model, and choosing a part of a large one in an overview. Only overview and part are read, on a thread."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.engine.memory import memory_text
from app.files.library import Library
from app.model import palettes, shading
from app.model.errors import explained
from app.model.world import LARGEST_SIDE, SMALLEST_SIDE
from app.sources.part import Part
from app.window.notices import Notices

if TYPE_CHECKING:
    from app.files.analysed import Analysed
    from app.scene.scene import Scene
    from app.sources.heightmap.models import Model
    from app.sources.heightmap.overview import Overview

LARGEST_UNASKED = 2048  # cells along a side; larger models ask for a part
FIRST_SIDE = 2048  # of the proposed part, in cells of the model
SIDES = (512, 1024, 2048, 4096)  # of the resulting land
FIRST_CELLS = 1024
SECONDS_BETWEEN_LOOKS = 0.1
UNSEEN = 0.3  # seconds of opening before the dialog appears

RIVERS_SEEN = 0.06  # of the cells of an overview
SEA = np.array([0.33, 0.47, 0.58])

Pixels = NDArray[np.uint8]


class _Given(Exception):
    """Opening was cancelled."""


@dataclass(frozen=True)
class Asked:
    """A file or a folder of tiles to open. With a part or a number of cells, no question is asked."""

    source: Path
    part: str | None = None
    wanted: int = 0  # cells along the longer side of the land; 0: as in the source
    change: Callable[[Scene], Sequence[Scene]] = lambda scene: [scene]  # maps its scene to the scenes to show

    @property
    def is_plain(self) -> bool:
        """Whether neither part nor cells are given."""
        return self.part is None and not self.wanted


@dataclass
class _Reading:
    """A model being opened on a thread, with its overview if a part is to be chosen."""

    asked: Asked
    progress: float = 0.0
    is_wanted: bool = True
    is_heard: bool = False  # the results of the thread were handled
    analysed: Analysed | None = None  # of a folder with an analysis
    model: Model | None = None  # if a part is to be chosen
    scenes: Sequence[Scene] = ()  # if no part is to be chosen
    overview: Overview | None = None
    pixels: Pixels | None = None
    why: str = ""
    began: float = field(default_factory=lambda: time.monotonic())
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._read, name="overview", daemon=True)
        self.thread.start()

    def _report(self, progress: float) -> None:
        self.progress = progress
        if not self.is_wanted:
            raise _Given

    def _read(self) -> None:
        from app.files.analysed import is_analysed, read_analysed
        from app.files.opening import open_scene
        from app.sources.heightmap.overview import overview_of
        from app.sources.heightmap.reading import open_model

        try:
            asked = self.asked
            self.analysed = read_analysed(asked.source) if is_analysed(asked.source) else None
            model = open_model(self.analysed.model if self.analysed else asked.source, self._report)
            if not (asked.is_plain and (_is_asked_about(model) or (self.analysed and model))):
                self.scenes = asked.change(open_scene(str(asked.source), asked.part, asked.wanted))
                return
            self.progress, self.model = 0.0, model
            overview = overview_of(model, progress=self._report)
            self.pixels = picture_of(overview, self.analysed)
            self.overview = overview
        except _Given:
            pass
        except Exception as error:
            self.why = explained(error)


def _is_asked_about(model: Model | None) -> TypeGuard[Model]:
    """Whether a part of the model is to be chosen."""
    return model is not None and model.full_scale is None and max(model.rows, model.columns) > LARGEST_UNASKED


class PartChoice:
    """The model being opened, and its chosen part. `open_scenes` opens the resulting scenes."""

    def __init__(self, library: Library, notices: Notices, open_scenes: Callable[[Sequence[Scene]], None]) -> None:
        self._library = library
        self._notices = notices
        self._open_scenes = open_scenes
        self._reading: _Reading | None = None
        self.is_choosing = False  # a part of an opened model
        self.source = ""
        self.part = Part(0, 0, 1, 1)
        self.cells = FIRST_CELLS  # along the longer side of the land, at most

    @property
    def is_open(self) -> bool:
        """Whether the dialog is visible: a part is to be chosen, or opening takes long."""
        lasts = self._reading is not None and time.monotonic() - self._reading.began >= UNSEEN
        return self.is_choosing or lasts

    @property
    def model(self) -> Model:
        assert self._reading is not None and self._reading.model is not None
        return self._reading.model

    @property
    def overview(self) -> Overview | None:
        return self._reading.overview if self._reading else None

    @property
    def pixels(self) -> Pixels | None:
        """The overview as a picture, [row, column, (red, green, blue)], once it is read."""
        return self._reading.pixels if self._reading and self._reading.overview else None

    @property
    def progress(self) -> float:
        """The fraction of the overview that is read."""
        return self._reading.progress if self._reading else 1.0

    @property
    def why(self) -> str:
        """Why there is no overview; empty if there is one."""
        return self._reading.why if self._reading else ""

    @property
    def rest(self) -> float:
        """For how many seconds the dialog will not change."""
        return SECONDS_BETWEEN_LOOKS if self._reading and not self._reading.is_heard else math.inf

    def begin(self, asked: Asked) -> None:
        """Open a file or a folder of tiles. A large one asks for a part first."""
        self.close()
        self.source, self._reading = str(asked.source), _Reading(asked)

    def update(self) -> None:
        """Handle results of the thread, once per frame."""
        reading = self._reading
        if reading is None or reading.is_heard:
            return
        reading.is_heard = not reading.thread.is_alive()  # checked before the results
        if reading.model is not None and not self.is_choosing:
            self.is_choosing = True
            self.source = str(reading.analysed.model if reading.analysed else reading.asked.source)
            self.choose(min(FIRST_SIDE, self.longest), self.model.rows // 2, self.model.columns // 2)
        if reading.is_heard and reading.scenes:
            self._open(reading.scenes)
        elif reading.is_heard and reading.why and not self.is_choosing:
            self.close()
            self._notices.complain(reading.why)

    def close(self) -> None:
        """Cancel opening."""
        self.is_choosing = False
        if self._reading is not None:
            self._reading.is_wanted = False
            self._reading = None

    @property
    def side(self) -> int:
        """The longer side of the part, in cells of the model."""
        return max(self.part.rows, self.part.columns)

    @property
    def sides(self) -> tuple[int, int]:
        """The sides of the smallest part and of the whole."""
        return min(SMALLEST_SIDE * 8, self.longest), self.longest

    @property
    def longest(self) -> int:
        return max(self.model.rows, self.model.columns)

    def choose(self, side: int, row: int, column: int) -> None:
        """Choose a square of so many cells around a cell, within the model."""
        rows, columns = min(side, self.model.rows), min(side, self.model.columns)
        top = min(max(row - rows // 2, 0), self.model.rows - rows)
        left = min(max(column - columns // 2, 0), self.model.columns - columns)
        self.part = Part(top, left, rows, columns)

    def resize(self, side: int) -> None:
        """Resize the square around its centre."""
        self.choose(side, self.part.row + self.part.rows // 2, self.part.column + self.part.columns // 2)

    @property
    def land(self) -> tuple[int, int]:
        """Rows and columns of the resulting land, before projection of degrees."""
        scale = min(1.0, self.cells / self.side)
        rows, columns = (max(round(side * scale), SMALLEST_SIDE) for side in (self.part.rows, self.part.columns))
        return rows, columns

    @property
    def words(self) -> tuple[str, str]:
        """Descriptions of the part and of the resulting land."""
        from app.files.opening import heightmap_scene

        rows, columns = self.land
        memory = memory_text([heightmap_scene(self.source)], rows, columns)
        part = f"{self.part.columns} × {self.part.rows} of {self.model.columns} × {self.model.rows} cells"
        if self.overview is None:
            return part, f"{columns} × {rows} cells, {memory} of memory"
        width, height = self.overview.width * self.part.columns, self.overview.height * self.part.rows
        cell = max(width / columns, height / rows)
        return (
            f"{part}, {_distance(width)} × {_distance(height)}",
            f"{columns} × {rows} cells of about {cell:.3g} m, {memory} of memory",
        )

    def scene(self) -> Scene:
        """The scene of the part, with suitable parameters."""
        from app.files.opening import heightmap_scene
        from app.files.suiting import suited

        rows, columns = self.land
        is_all = self.part == self.model.whole
        scene = heightmap_scene(self.source, "" if is_all else str(self.part))
        if self.side > min(self.cells, LARGEST_SIDE):
            longer = "world.columns" if columns >= rows else "world.rows"
            scene = scene.with_values({longer: max(rows, columns)})
        if self.overview is not None:
            scene = suited(scene, self.overview.part(self.part), rows * columns)
        if self._reading is not None and self._reading.analysed:
            scene = self._reading.analysed.scene_of(scene, self.part)
        return msgspec.structs.replace(scene, name=Path(self.source).stem)

    def open(self) -> None:
        """Open the land of the part."""
        assert self._reading is not None
        self._open(self._reading.asked.change(self.scene()))

    def _open(self, scenes: Sequence[Scene]) -> None:
        assert self._reading is not None
        source = self._reading.asked.source
        self.close()
        self._open_scenes(scenes)
        self._library.note(source)


def picture_of(overview: Overview, analysed: Analysed | None = None) -> Pixels:
    """An overview as a map: colours by height, hill shading, the sea, and the largest of the rivers that are known."""
    heights = np.where(overview.missing, overview.known.mean() if overview.known.size else 0.0, overview.heights)
    light = shading.hill_shade(heights, 1.0, ~overview.missing)
    picture = shading.lit(0.25 * np.array(shading.PAPER) + 0.75 * shading.by_height(heights, palettes.RELIEF), light)
    is_level = np.hypot(*shading.gradient(heights, 1.0)) < 1e-6
    picture[is_level & (np.abs(heights) < 0.5)] = SEA
    picture[overview.missing] = 0.35 * np.array(shading.PAPER)
    if analysed is not None:
        rivers = _strength(analysed.overview_of_rivers(max(heights.shape)))
        if rivers.shape == heights.shape:
            picture = shading.over(picture, np.divide(palettes.RIVER, 255.0), rivers)
    return shading.to_pixels(picture)


def _strength(discharge: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of a river is seen in each cell of an overview, from 0 to 1: a river on a part of those with most."""
    some = discharge[discharge > 0.0]
    if not some.size:
        return np.zeros(discharge.shape)
    least, most = np.log(np.quantile(some, 1.0 - RIVERS_SEEN)), np.log(some.max())
    logarithm = np.log(np.maximum(discharge, np.exp(least)))
    strength: NDArray[np.float64] = np.sqrt((logarithm - least) / max(most - least, 1e-9))
    return strength


def _distance(metres: float) -> str:
    return f"{metres / 1000.0:.3g} km" if metres >= 1000.0 else f"{metres:.3g} m"

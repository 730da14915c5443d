"""Ground cover from layers: colours of loose material, wetness, grass."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.snapshot import Snapshot
from app.picture.passes.maps import LayerTextures
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MapTarget, release_all

LIVING = ("wetness", "grass")  # layers that moisture and plants leave
LAYERS = (*LIVING, "loose_kinds", "wind_path", "water")
CYCLES_OF_MEAN = 100  # of which the paths of the wind are a running mean
LOOKED_AT = 8  # cells from one to the next of those that tell whether the wetness has been found anew


class CoverMap:
    """Two textures with a texel for each cell: the colour of loose material and how coarse its grain is; and how wet it
    is, how densely grass stands on it, and how much wind touches it."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "cover.frag")
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._target = MapTarget(context, (4, "f1"), (4, "f1"))
        self._drawn: tuple[object, ...] | None = None
        self._wetness = MeasuredWetness(context, shaders)
        self.is_behind = False  # whether they show an earlier state of the land

    def textures(self) -> dict[str, moderngl.Texture]:
        """Textures by shader name."""
        if self._drawn is None:
            return {"loose_colour": self._nothing, "cover": self._nothing}
        return {"loose_colour": self._target.texture(0), "cover": self._target.texture(1)}

    def update(
        self, snapshot: Snapshot, layers: LayerTextures, materials: dict[str, moderngl.Texture], *, may_wait: bool
    ) -> None:
        """Redraw them after a change of a layer. `materials` are the textures of the materials of the world.

        Where they `may_wait`, they show the land as it was before.
        """
        self.is_behind = False
        if not materials and not any(name in snapshot.layers for name in LIVING):
            self._drawn = None
            return
        rows, columns = snapshot.shape
        if self._target.fit((columns, rows)):
            self.forget()
        needs = snapshot.flora.grass.wetness[:2]
        style = snapshot.world, bool(materials), needs
        self.is_behind = may_wait and self._drawn is not None and self._drawn[: len(style)] == style
        if self.is_behind:
            return
        since = self._wetness.update(snapshot, layers)
        told_of = _told_of(snapshot)
        wanted = (*style, since, told_of, *(snapshot.versions.get(name) for name in LAYERS))
        if wanted != self._drawn:
            self._drawn = wanted
            read = {name: layers.texture(name) for name in LAYERS} | self._wetness.textures(self._nothing)
            self._drawing.program.bind(kinds=materials.get("kinds", self._nothing), **read)
            wetness = snapshot.layers.get("wetness")
            simulated = wetness is None or bool(wetness.any())
            told_by_grass = (0.0, 0.0) if simulated else (needs[0], needs[1] - needs[0])
            self._drawing.program.set(
                with_materials=bool(materials), told_by_grass=told_by_grass, since=since, told_of=told_of
            )
            self._drawing.draw(self._target.framebuffer)

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = None

    def release(self) -> None:
        self.forget()
        release_all(self._target, self._nothing, self._drawing, self._wetness)


def _told_of(snapshot: Snapshot) -> float:
    """The part of the mean paths of the wind that is of cycles there have been. Before the first there are no paths."""
    return 1.0 - math.exp(-snapshot.cycle / CYCLES_OF_MEAN)


class MeasuredWetness:
    """How wet the ground was found to be last, and the time before, where no water stood on it."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "measured_wetness.frag")
        self._now, self._before = (MapTarget(context, (1, "f4")) for _ in range(2))
        self._found: NDArray[np.float32] | None = None  # by which it is known again
        self._world: int | None = None
        self._cycle = self._shown = 0  # in which it was found, and that was shown last
        self._period = self._first = 0  # cycles from one to the next, and before the first picture that has it

    def textures(self, nothing: moderngl.Texture) -> dict[str, moderngl.Texture]:
        """By their names in the shaders."""
        maps = {"measured": self._now, "measured_before": self._before}
        return dict.fromkeys(maps, nothing) if self._found is None else {name: maps[name].texture() for name in maps}

    def update(self, snapshot: Snapshot, layers: LayerTextures) -> float:
        """Take note of the wetness of a snapshot, and return the part of the time until the next that has passed.

        Less than 0 if none is known.
        """
        wetness = snapshot.layers.get("wetness")
        if wetness is None:
            self._found = None
            return -1.0
        found = wetness[::LOOKED_AT, ::LOOKED_AT]
        size = snapshot.shape[1], snapshot.shape[0]
        on_from = snapshot.cycle - self._shown
        before = self._found if self._world == snapshot.world and self._now.size == size and on_from >= 0 else None
        goes_on = before is not None
        if before is None or not np.array_equal(found, before):
            self._found = None  # until both maps have been drawn
            self._now, self._before = self._before, self._now
            for target in (self._now,) if goes_on else (self._now, self._before):
                target.fit(size)
                self._drawing.program.bind(wetness=layers.texture("wetness"), water=layers.texture("water"))
                self._drawing.draw(target.framebuffer)
            self._period, self._first = (snapshot.cycle - self._cycle, on_from) if goes_on else (0, 0)
            self._found, self._world, self._cycle = found.copy(), snapshot.world, snapshot.cycle
        self._shown = snapshot.cycle
        passed = snapshot.cycle - self._cycle + self._first
        return min(passed / self._period, 1.0) if self._period > 0 else 1.0

    def release(self) -> None:
        self._found = None
        release_all(self._now, self._before, self._drawing)

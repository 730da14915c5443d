"""Meshes of water: lakes, each at its own level, running water, and the sea, which extends to the horizon."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl

from app.picture.passes.declaration import Frame, Part
from app.picture.passes.standing_water import TILE
from app.picture.passes.waves import NATURAL, NO_WAVES


class SeaMesh:
    """One plane to the horizon."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        if not frame.water.has_sea:
            return
        if frame.quality.fine_water:
            yield Part(vertices=12, defines={"SEA": 1})
            return
        # Two variants: natural waves only on the map, and around it no bed to shine through.
        outside = NO_WAVES if frame.waves == NATURAL else frame.waves
        yield Part(vertices=6, defines={"SEA": 1, "PART": 1})
        yield Part(vertices=24, defines={"SEA": 1, "PART": 2, "WAVES": outside})

    def release(self) -> None:
        pass


class LakesMesh:
    """A rectangle for each lake, or for each tile of a large one."""

    WIDE = True

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        rectangles = frame.water.lakes[self.WIDE]
        # A drawn sea omits puddles; otherwise they are drawn without waves.
        waves = NO_WAVES if frame.waves == NATURAL and not (self.WIDE and frame.quality.fine_water) else frame.waves
        if rectangles.number:
            defines = {"SEA": 0, "WAVES": waves}
            yield Part(rectangles.geometry, 4, rectangles.number, moderngl.TRIANGLE_STRIP, defines=defines)

    def release(self) -> None:
        pass


class RunningMesh:
    """A grid of squares for each tile with running water."""

    def __init__(self, context: moderngl.Context) -> None:
        pass

    def parts(self, frame: Frame) -> Iterable[Part]:
        tiles = frame.water.running
        if tiles.number:
            # Where the sea runs, its waves run on over it.
            waves = NO_WAVES if frame.waves == NATURAL and not frame.water.has_sea else frame.waves
            defines = {"SEA": 0, "WAVES": waves, "RUNNING": 1}
            yield Part(tiles.geometry, 6 * TILE * TILE, tiles.number, defines=defines)

    def release(self) -> None:
        pass


class LakeSides(LakesMesh):
    """Four walls for each rectangle of a lake."""

    def parts(self, frame: Frame) -> Iterable[Part]:
        rectangles = frame.water.lakes[self.WIDE]
        if rectangles.number:
            yield Part(rectangles.geometry, 24, rectangles.number)


class PuddlesMesh(LakesMesh):
    """A rectangle for each water without waves, or for each tile of a large one."""

    WIDE = False


class PuddleSides(LakeSides):
    """Four walls for each rectangle of water without waves."""

    WIDE = False

"""Meshes of falls: their sheets, the pools at their feet and the spray over them."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.passes.declaration import Frame, Part
from app.picture.passes.falls import POOL, SHEET, SPRAY, FallSheets
from app.picture.passes.geometry import Geometry
from app.picture.passes.targets import GrowingBuffer, release_all


class TrianglesOfFalls:
    """Triangles that are the same until the falls change."""

    def __init__(self, context: moderngl.Context, layout: tuple[str, ...]) -> None:
        self._vertices, self._triangles = GrowingBuffer(context), GrowingBuffer(context)
        self._geometry = Geometry([(self._vertices.buffer, *layout)], self._triangles.buffer)
        self._written: tuple[FallSheets, int] | None = None

    def geometry(self, falls: FallSheets, vertices: NDArray[np.float32], triangles: NDArray[np.uint32]) -> Geometry:
        if self._written != (falls, falls.version):
            self._vertices.write(vertices)
            self._triangles.write(triangles)
            self._written = (falls, falls.version)
        return self._geometry

    def release(self) -> None:
        release_all(self._vertices, self._triangles)


class FallMesh(TrianglesOfFalls):
    """The sheets, as strips of triangles."""

    def __init__(self, context: moderngl.Context) -> None:
        super().__init__(context, SHEET)

    def parts(self, frame: Frame) -> Iterable[Part]:
        falls = frame.falls
        geometry = self.geometry(falls, falls.sheets, falls.triangles)
        yield Part(geometry, len(falls.triangles), uniforms={"pixel": 1.0 / frame.focal_length})


class PoolMesh(TrianglesOfFalls):
    """The pools at their feet, and the wet rock behind them."""

    def __init__(self, context: moderngl.Context) -> None:
        super().__init__(context, POOL)

    def parts(self, frame: Frame) -> Iterable[Part]:
        falls = frame.falls
        yield Part(self.geometry(falls, falls.pools, falls.pool_triangles), len(falls.pool_triangles))


class SprayMesh:
    """Squares of spray that face the eye."""

    def __init__(self, context: moderngl.Context) -> None:
        self._vertices = GrowingBuffer(context)
        self._geometry = Geometry([(self._vertices.buffer, *SPRAY)])
        self._written: tuple[FallSheets, int] | None = None

    def parts(self, frame: Frame) -> Iterable[Part]:
        falls = frame.falls
        if self._written != (falls, falls.version):
            self._vertices.write(falls.spray)
            self._written = (falls, falls.version)
        yield Part(self._geometry, len(falls.spray))

    def release(self) -> None:
        self._vertices.release()

"""Meshes of falls: their sheets, the pools at their feet and the spray over them."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl

from app.picture.passes.declaration import Frame, Part
from app.picture.passes.falls import POOL, SHEET, SPRAY, FallSheets
from app.picture.passes.geometry import Geometry
from app.picture.passes.targets import GrowingBuffer, release_all


class FallMesh:
    """The sheets, as strips of triangles."""

    def __init__(self, context: moderngl.Context) -> None:
        self._vertices, self._triangles = GrowingBuffer(context), GrowingBuffer(context)
        self._geometry = Geometry([(self._vertices.buffer, *SHEET)], self._triangles.buffer)
        self._written: tuple[FallSheets, int] | None = None

    def parts(self, frame: Frame) -> Iterable[Part]:
        falls = frame.falls
        if self._written != (falls, falls.version):
            self._vertices.write(falls.sheets)
            self._triangles.write(falls.triangles)
            self._written = (falls, falls.version)
        yield Part(self._geometry, len(falls.triangles), uniforms={"pixel": 1.0 / frame.focal_length})

    def release(self) -> None:
        release_all(self._vertices, self._triangles)


class PoolMesh:
    """The pools at their feet, and the wet rock behind them."""

    def __init__(self, context: moderngl.Context) -> None:
        self._vertices, self._triangles = GrowingBuffer(context), GrowingBuffer(context)
        self._geometry = Geometry([(self._vertices.buffer, *POOL)], self._triangles.buffer)
        self._written: tuple[FallSheets, int] | None = None

    def parts(self, frame: Frame) -> Iterable[Part]:
        falls = frame.falls
        if self._written != (falls, falls.version):
            self._vertices.write(falls.pools)
            self._triangles.write(falls.pool_triangles)
            self._written = (falls, falls.version)
        yield Part(self._geometry, len(falls.pool_triangles))

    def release(self) -> None:
        release_all(self._vertices, self._triangles)


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

"""Meshes of trees: bodies, shadows, and points in the distance."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.passes import tree_shapes
from app.picture.passes.declaration import Frame, Part
from app.picture.passes.forest import VARIANTS, variants_of
from app.picture.passes.geometry import Geometry
from app.picture.passes.shaders import Uniform
from app.picture.passes.targets import GrowingBuffer, release_all
from app.picture.passes.trees import Bodies

SHAPES = {"near": tree_shapes.NEAR, "middle": tree_shapes.MIDDLE}


class TreeCasters:
    """The trees whose shadows are drawn."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._bodies: dict[tuple[str, int, int], Bodies] = {}  # by level, shape and form

    def parts(self, frame: Frame) -> Iterable[Part]:
        shadows = frame.trees.shadows
        if shadows.casters is not None:
            yield from self._of_level("middle", shadows.casters, shadow_matrix=shadows.clip_matrix)

    def _of_level(self, level: str, trees: NDArray[np.float32], **uniforms: Uniform) -> Iterable[Part]:
        forms = variants_of(trees)
        for number, shape in enumerate(SHAPES[level]):
            for form in range(VARIANTS):
                alike = trees[(trees[:, 2] == number) & (forms == form)]
                if not len(alike):
                    continue
                key = level, number, form
                if key not in self._bodies:
                    self._bodies[key] = Bodies(self._context, shape(form))
                self._bodies[key].trees.write(alike)
                yield Part(self._bodies[key].geometry, instances=len(alike), uniforms=uniforms)

    def release(self) -> None:
        release_all(*self._bodies.values())


class TreeBodies(TreeCasters):
    """The trees near the camera, as bodies."""

    def parts(self, frame: Frame) -> Iterable[Part]:
        selected, (near, middle, _) = frame.selected_trees, frame.quality.tree_pixels
        if selected is not None:
            yield from self._of_level("near", selected.near, limits=(0.0, near))
            yield from self._of_level("middle", selected.middle, limits=(near, middle))


class TreePoints:
    """The trees farther away."""

    def __init__(self, context: moderngl.Context) -> None:
        self._numbers = GrowingBuffer(context)
        self._of_numbers: Geometry | None = None

    def parts(self, frame: Frame) -> Iterable[Part]:
        selected, (_, middle, _) = frame.selected_trees, frame.quality.tree_pixels
        if selected is None:
            return
        limits: dict[str, Uniform] = {"limits": (middle, selected.smallest)}
        if selected.one_by_one is None:
            for first, number in selected.points:
                yield Part(frame.trees.geometry, number, mode=moderngl.POINTS, first=first, uniforms=limits)
        elif len(selected.one_by_one):
            if self._of_numbers is None:
                self._of_numbers = Geometry([frame.trees.vertices], self._numbers.buffer)
            self._numbers.write(selected.one_by_one)
            yield Part(self._of_numbers, len(selected.one_by_one), mode=moderngl.POINTS, uniforms=limits)

    def release(self) -> None:
        self._numbers.release()

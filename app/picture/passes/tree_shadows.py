"""The shadows of the trees near the camera, as a map of depths seen from the sun."""

from __future__ import annotations

import math
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.picture.passes.forest import AROUND, Forest, Selection, TreeView
from app.picture.passes.quality import Quality
from app.picture.passes.shaders import Uniform
from app.picture.passes.targets import release_targets, released_on_error

PATIENCE = 40  # frames for which shadows stay although the ground changes
REACH = 6.0  # how far towards the sun trees cast shadows, in half widths of the map of shadows
TO_TEXTURE = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])  # from clip space


class Frustum(NamedTuple):
    """A box along the sunlight. It moves in steps, so that most frames find the shadows drawn."""

    middle: tuple[float, float, float]
    half_width: float  # level
    half_height: float  # across the light
    sun: tuple[float, float, float]

    @staticmethod
    def about(low: NDArray[np.float64], high: NDArray[np.float64], sun: NDArray[np.float64]) -> Frustum:
        """The box about a box of picture space."""
        radius = _rounded_up(1.25 * max(math.hypot(high[0] - low[0], high[2] - low[2]) / 2.0, 0.2 * (high[1] - low[1])))
        relief = _rounded_up(1.25 * (high[1] - low[1]) / 2.0)
        steps = np.array([radius, 0.5 * relief, radius]) / 4.0
        x, y, z = np.round((low + high) / 2.0 / steps) * steps
        level = math.hypot(sun[0], sun[2])
        return Frustum(
            (float(x), float(y), float(z)), radius, float(radius * sun[1] + relief * level), tuple(sun.tolist())
        )

    @property
    def axes(self) -> NDArray[np.float64]:
        """Unit vectors across the light and level, across the light, and towards the sun."""
        sun = np.array(self.sun)
        level = np.array([sun[2], 0.0, -sun[0]])
        length = np.linalg.norm(level)
        level = level / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])
        return np.array([level, np.cross(sun, level), sun])

    @property
    def halves(self) -> NDArray[np.float64]:
        return np.array([self.half_width, self.half_height, REACH * self.half_width])

    def matrix(self) -> NDArray[np.float64]:
        """From picture space to clip space, with depth towards the sun."""
        matrix = np.eye(4)
        scale = np.array([1.0, 1.0, -1.0]) / self.halves
        matrix[:3, :3] = self.axes * scale[:, None]
        matrix[:3, 3] = -matrix[:3, :3] @ self.middle
        return matrix

    def touches(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which boxes of picture space may reach into it."""
        middle, half = 0.5 * (low + high) - self.middle, 0.5 * (high - low)
        away = np.abs(middle @ self.axes.T) - half @ np.abs(self.axes.T)
        return np.asarray((away < self.halves).all(axis=1))


class TreeShadows:
    """A texture of depths, redrawn when its inputs change."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self.target: moderngl.Framebuffer | None = None
        self._texture: moderngl.Texture | None = None
        self._drawn: tuple[object, ...] | None = None
        self._ground: tuple[int, ...] = ()
        self._wanted_ground: tuple[int, ...] = ()  # of the last frame
        self._age = 0  # frames since it was drawn
        self._frustum: Frustum | None = None
        self._strength = 1.0
        self.any = False  # whether there are trees near enough in this frame
        self.casters: NDArray[np.float32] | None = None  # the trees to draw into it in this frame, if it has changed

    @property
    def is_settled(self) -> bool:
        """Whether the shadows of the last frame are those of its ground."""
        return not self.any or self._ground == self._wanted_ground

    def clear(self) -> None:
        """No shadows in this frame."""
        self.any, self.casters = False, None

    @property
    def texture(self) -> dict[str, moderngl.Texture]:
        """The texture by sampler name, if there are shadows."""
        return {"tree_shadow": self._texture} if self.any and self._texture is not None else {}

    @property
    def uniforms(self) -> dict[str, Uniform]:
        """Uniforms of tree_shadow.glsl, if there are shadows."""
        if not self.any or self._frustum is None:
            return {}
        matrix = _columns(TO_TEXTURE @ self._frustum.matrix())
        return {"shadow_matrix": matrix, "shadow_strength": self._strength}

    @property
    def clip_matrix(self) -> Uniform:
        assert self._frustum is not None
        return _columns(self._frustum.matrix())

    def begin(
        self,
        forest: Forest,
        selected: Selection,
        sun: NDArray[np.float64],
        quality: Quality,
        view: TreeView,
        trees: tuple[int, ...],
        ground: tuple[int, ...],
        *,
        strength: float = 1.0,
        at_once: bool,
    ) -> None:
        """Choose the trees that cast shadows, and set `casters`.

        `trees` and `ground` are their worlds and versions, or numbers. The ground changes slowly. Of how they shade it,
        `strength` is the part that is seen; the rest is as without them.
        """
        self.clear()
        self._strength = strength
        self.any = len(selected.near) + len(selected.middle) > 0 and sun[1] > 0.0
        if not self.any:
            return
        self._age += 1
        self._wanted_ground = ground
        frustum = Frustum.about(selected.low, selected.high, sun)
        wanted = (frustum, view.height, view.exaggeration, quality.tree_shadow, trees)
        if wanted == self._drawn and (ground == self._ground or (self._age < PATIENCE and not at_once)):
            return
        self._drawn, self._ground, self._age, self._frustum = wanted, ground, 0, frustum
        self._begin_texture(quality.tree_shadow)
        low, high = forest.boxes(view.exaggeration, view.tallest)
        blocks = np.flatnonzero(frustum.touches(low, high))
        numbers, lengths = forest.of_blocks(blocks)
        # A block is much wider than a crown: most of its trees may stand beside what is shaded.
        around = 0.5 * AROUND * view.tallest * forest.sizes[numbers]
        (east, south), bottom, top = forest.places[:, numbers], low[blocks, 1], high[blocks, 1]
        feet = np.column_stack([east - around, bottom.repeat(lengths), south - around])
        tops = np.column_stack([east + around, top.repeat(lengths), south + around])
        self.casters = forest.trees[numbers[frustum.touches(feet, tops)]]

    def release(self) -> None:
        if self.target is not None:
            release_targets([self.target])
        self.target = self._texture = self._drawn = None

    def _begin_texture(self, side: int) -> None:
        if self._texture is None or self._texture.width != side:
            outgrown = self.target
            with released_on_error() as keep:
                texture = keep(self._context.depth_texture((side, side)))
                texture.compare_func = "<="
                texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
                texture.repeat_x = texture.repeat_y = False
                self.target = self._context.framebuffer(depth_attachment=texture)
                self._texture = texture
            if outgrown is not None:
                release_targets([outgrown])
        assert self.target is not None
        # With a viewport: otherwise the scissors of the previous target limit the clearing.
        self.target.clear(depth=1.0, viewport=self.target.viewport)


def _rounded_up(length: float) -> float:
    """The next of a series of lengths that grow by the root of 2."""
    return float(2.0 ** (math.ceil(2.0 * math.log2(max(length, 1e-6))) / 2.0))


def _columns(matrix: NDArray[np.float64]) -> Uniform:
    """A matrix as a uniform: its columns one after the other."""
    return tuple(matrix.T.ravel().tolist())

"""Gradual work on maps, spread over frames."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

import moderngl

from app.picture.passes.shaders import FullScreen, Uniform
from app.picture.passes.targets import MapTarget


class GradualWork:
    """Runs one piece of work at a time, spread over frames."""

    def __init__(self) -> None:
        self._steps: Iterator[int] | None = None
        self._goal: Hashable = None
        self._done: Hashable = None
        self._strays = False  # whether a part of the work under way was drawn in frames of another goal
        self.is_mixed = False  # whether that is so of the last finished work

    @property
    def done(self) -> Hashable:
        """The key of the last finished work; None before."""
        return self._done

    def abandon(self) -> None:
        """Give up the current work; what was done before stays."""
        self._steps = self._goal = None

    def forget(self) -> None:
        """Abandon the current work and all results."""
        self._steps = self._goal = self._done = None
        self.is_mixed = False

    def is_done(self, goal: Hashable) -> bool:
        """Whether the last finished work was for this goal, and all of it drawn in frames of this goal.

        Shaders read the sun and the scale of heights of the frame, not those of the goal.
        """
        return self._done == goal and not self.is_mixed

    def advance(self, goal: Hashable, begin: Callable[[], Iterator[int]], budget: int, *, at_once: bool) -> bool:
        """Continue work towards `goal` within a budget of texels. True if this has finished a piece of work.

        `begin` returns the steps, which yield the number of texels drawn. If the goal changes during the work, the work
        is finished first: a goal that always changes would never be reached. With `at_once`, all is done now.
        """
        if self.is_done(goal) and (self._steps is None or at_once):
            self._steps = None
            return False
        if self._steps is None or (at_once and (self._goal != goal or self._strays)):
            self._steps, self._goal, self._strays = begin(), goal, False
        self._strays |= self._goal != goal
        for texels in self._steps:
            budget -= texels
            if budget <= 0 and not at_once:
                return False
        self._steps, self._done, self.is_mixed = None, self._goal, self._strays
        return True


def draw_in_bands(
    drawing: FullScreen,
    target: MapTarget,
    texels: int,
    textures: Mapping[str, moderngl.Texture],
    **uniforms: Uniform,
) -> Iterator[int]:
    """Draw over the whole target in bands of about `texels`, and yield the size of each."""
    columns, rows = target.size
    height = max(1, texels // columns)
    for row in range(0, rows, height):
        band = min(height, rows - row)
        drawing.program.bind(**textures)  # for each band, as other drawings bind theirs between frames
        drawing.program.set(**uniforms)
        drawing.draw(target.framebuffer, (0, row, columns, band))
        yield columns * band

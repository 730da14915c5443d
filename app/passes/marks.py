"""The marks of snowballs on the ground: their traces joined and blurred into one map."""

from __future__ import annotations

from typing import NamedTuple

import moderngl

from app.passes.maps import LayerTextures
from app.passes.shaders import FullScreen, ShaderLibrary
from app.passes.targets import colour, map_target
from app.snapshot import Snapshot

TRACES = ("wear", "deposit", "traffic")


class Marks(NamedTuple):
    """What the map depends on."""

    world: int
    versions: tuple[int, ...]  # of the traces
    strength: float
    threshold: float


class MarksMap:
    """Sand, bare rock, running water and damp banks, each from 0 to 1, with a texel for each cell."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = FullScreen(context, shaders, "marks.frag")
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self._texture: moderngl.Texture | None = None
        self._target: moderngl.Framebuffer | None = None
        self._drawn: Marks | None = None

    @property
    def texture(self) -> moderngl.Texture:
        return self._nothing if self._texture is None or self._drawn is None else self._texture

    @property
    def shown(self) -> bool:
        """Whether there are any marks."""
        return self._drawn is not None

    def update(self, snapshot: Snapshot, layers: LayerTextures, strength: float, threshold: float) -> None:
        """Join the traces of a snapshot. `strength` is that of sand and rock; traffic over `threshold` is water."""
        if not all(name in snapshot.layers for name in TRACES) or (strength == 0.0 and threshold == 0.0):
            self._drawn = None
            return
        versions = tuple(snapshot.versions[name] for name in TRACES)
        wanted = Marks(snapshot.world, versions, strength, threshold)
        if wanted == self._drawn:
            return
        rows, columns = snapshot.shape
        target = self._sized_target(columns, rows)
        self._drawing.program.bind(**{name: layers.texture(name) for name in TRACES})
        self._drawing.program.set(strength=strength, threshold=threshold)
        self._drawing.draw(target)
        self._drawn = wanted

    def forget(self) -> None:
        """Join the traces anew, though nothing has changed."""
        self._drawn = None

    def release(self) -> None:
        if self._target is not None and self._texture is not None:
            self._target.release()
            self._texture.release()
        self._target = self._texture = self._drawn = None
        self._nothing.release()
        self._drawing.release()

    def _sized_target(self, columns: int, rows: int) -> moderngl.Framebuffer:
        if self._target is None or self._target.size != (columns, rows):
            outgrown = (self._target, self._texture)
            self._target = map_target(self._context, (columns, rows), (4, "f1"))
            self._texture = colour(self._target)
            for old in outgrown:  # only now: making a target ends with a return to the one in use
                if old is not None:
                    old.release()
        return self._target

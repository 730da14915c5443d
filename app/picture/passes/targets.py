"""Framebuffers with a texel for each cell of a map, and buffers, which are recreated when they no longer fit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import moderngl
import numpy as np

Filter = tuple[int, int]
EXACT: Filter = (moderngl.NEAREST, moderngl.NEAREST)
SMOOTH: Filter = (moderngl.LINEAR, moderngl.LINEAR)
ONE_MIPMAP: Filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)  # at half the cost
MIPMAPPED: Filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)  # fades far away, and smoothly


class MapTarget:
    """Textures that are drawn into together, of the size that was asked for last."""

    def __init__(self, context: moderngl.Context, *formats: tuple[int, str], filter: Filter = SMOOTH) -> None:
        """`formats` are the number of components and the type of each texture."""
        self._context = context
        self.formats = formats
        self._filter = filter
        self._framebuffer: moderngl.Framebuffer | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows; none before the first is asked for."""
        return self._framebuffer.size if self._framebuffer is not None else (0, 0)

    @property
    def framebuffer(self) -> moderngl.Framebuffer:
        assert self._framebuffer is not None
        return self._framebuffer

    def texture(self, attachment: int = 0) -> moderngl.Texture:
        return colour(self.framebuffer, attachment)

    def fit(self, size: tuple[int, int], *formats: tuple[int, str]) -> bool:
        """Take this size, and these formats where any are named; returns whether what was drawn is lost for that."""
        formats = formats or self.formats
        if self.size == size and formats == self.formats:
            return False
        outgrown = self._framebuffer
        with released_on_error() as keep:
            textures = [keep(self._context.texture(size, components, dtype=dtype)) for components, dtype in formats]
            for texture in textures:
                texture.filter = self._filter
                texture.repeat_x = texture.repeat_y = False
            self._framebuffer = self._context.framebuffer(textures)
        self.formats = formats
        if outgrown is not None:
            release_targets([outgrown])
        return True

    def release(self) -> None:
        if self._framebuffer is not None:
            release_targets([self._framebuffer])
            self._framebuffer = None


Made = TypeVar("Made", moderngl.Texture, moderngl.Framebuffer, moderngl.Renderbuffer)


@contextlib.contextmanager
def released_on_error() -> Iterator[Callable[[Made], Made]]:
    """A context that releases the objects passed to `keep` on an error: graphics memory is not freed otherwise.

    Else a picture that cannot be drawn, and is tried again in each frame, would take more and more.
    """
    with contextlib.ExitStack() as stack:

        def keep(made: Made) -> Made:
            stack.callback(made.release)
            return made

        yield keep
        stack.pop_all()


def colour(target: moderngl.Framebuffer, attachment: int = 0) -> moderngl.Texture:
    texture = target.color_attachments[attachment]
    assert isinstance(texture, moderngl.Texture)
    return texture


def release_targets(targets: Iterable[moderngl.Framebuffer]) -> None:
    """Release framebuffers with their attachments. One that is in use gives way to OpenGL's own.

    Whatever is made or cleared next returns to the one in use, and to a released one there is no return: that is an
    error of OpenGL.
    """
    for target in targets:
        context = target.ctx
        if context.fbo is not None and context.fbo.glo == target.glo:
            (context.screen or context.detect_framebuffer(0)).use()
        for attached in (*target.color_attachments, target.depth_attachment):
            if attached is not None:
                attached.release()
        target.release()


class Releasable(Protocol):
    def release(self) -> object: ...


def release_all(*made: Releasable) -> None:
    """Release all resources of a context."""
    for each in made:
        each.release()


class GrowingBuffer:
    """A buffer of vertices, instances or indices that grows as needed."""

    def __init__(self, context: moderngl.Context) -> None:
        self.buffer = context.buffer(reserve=1024, dynamic=True)

    def write(self, values: np.ndarray) -> None:
        if values.nbytes > self.buffer.size:
            self.buffer.orphan(2 * values.nbytes)
        if values.nbytes:
            self.buffer.write(np.ascontiguousarray(values))

    def release(self) -> None:
        self.buffer.release()

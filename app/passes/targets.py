"""Framebuffers with a texel for each cell of a map."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import moderngl

Made = TypeVar("Made", moderngl.Texture, moderngl.Framebuffer, moderngl.Renderbuffer)


def map_target(context: moderngl.Context, size: tuple[int, int], *formats: tuple[int, str]) -> moderngl.Framebuffer:
    """Textures of that many components and of that type each, which are drawn into together."""
    (target,) = map_targets(context, size, formats)
    return target


def map_targets(
    context: moderngl.Context, size: tuple[int, int], *targets: Sequence[tuple[int, str]]
) -> list[moderngl.Framebuffer]:
    """As `map_target`, several: all of them, or, with an error, none, and nothing that was made for them is left."""
    with released_on_error() as keep:
        made = []
        for formats in targets:
            textures = [keep(context.texture(size, components, dtype=dtype)) for components, dtype in formats]
            for texture in textures:
                texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
                texture.repeat_x = texture.repeat_y = False
            made.append(keep(context.framebuffer(textures)))
        return made


@contextlib.contextmanager
def released_on_error() -> Iterator[Callable[[Made], Made]]:
    """Within it, what is given to `keep` is released again where an error comes: on a graphics card nobody else does.

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
    """To be called after the making of others, which ends with a return to the one in use: that must live so long."""
    for target in targets:
        for texture in target.color_attachments:
            texture.release()
        target.release()

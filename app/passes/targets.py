"""Framebuffers with a texel for each cell of a map."""

from __future__ import annotations

from collections.abc import Iterable

import moderngl


def map_target(context: moderngl.Context, size: tuple[int, int], *formats: tuple[int, str]) -> moderngl.Framebuffer:
    """Textures of that many components and of that type each, which are drawn into together."""
    textures = [context.texture(size, components, dtype=dtype) for components, dtype in formats]
    for texture in textures:
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        texture.repeat_x = texture.repeat_y = False
    return context.framebuffer(textures)


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

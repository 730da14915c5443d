"""What OpenGL holds for the program, as OpenGL itself tells: what has been let go without a release is there, too."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NamedTuple

from app.passes.unlocked import address

# Names are given from 1 on, and again when they are free: after so many that name nothing there is none.
_GAP = 512

_LEVELS = 16  # of a texture, at most: the largest has 2¹⁵ texels along a side
_TEXTURE_2D, _TEXTURE_BINDING = 0x0DE1, 0x8069
_TEXTURE_SIZE = 0x1000, 0x1001  # width and height
_TEXTURE_BITS = 0x805C, 0x805D, 0x805E, 0x805F, 0x884A, 0x88F1  # red, green, blue, alpha, depth, stencil
_RENDERBUFFER, _RENDERBUFFER_BINDING, _RENDERBUFFER_SAMPLES = 0x8D41, 0x8CA7, 0x8CAB
_RENDERBUFFER_SIZE = 0x8D42, 0x8D43
_RENDERBUFFER_BITS = 0x8D50, 0x8D51, 0x8D52, 0x8D53, 0x8D54, 0x8D55
_COPY_READ_BUFFER, _BUFFER_SIZE = 0x8F36, 0x8764  # the place where buffers are looked at is nobody else's
_OTHERS = "glIsFramebuffer", "glIsVertexArray", "glIsProgram", "glIsShader", "glIsQuery"


class Held(NamedTuple):
    """Bytes of textures (2D; renderbuffers with them) and of buffers, and the number of objects of any kind."""

    textures: int
    buffers: int
    objects: int


def held() -> Held:
    """What the context that is current holds. Textures and renderbuffers stay bound as they were."""
    textures = [_texture_bytes(name) for name in _names("glIsTexture")]
    renderbuffers = [_renderbuffer_bytes(name) for name in _names("glIsRenderbuffer")]
    buffers = [_buffer_bytes(name) for name in _names("glIsBuffer")]
    others = sum(1 for kind in _OTHERS for _ in _names(kind))
    objects = len(textures) + len(renderbuffers) + len(buffers) + others
    return Held(sum(textures) + sum(renderbuffers), sum(buffers), objects)


def _names(kind: str) -> Iterator[int]:
    """The names that stand for an object of a kind."""
    function = ctypes.CFUNCTYPE(ctypes.c_ubyte, ctypes.c_uint)(address(kind))
    name, last = 1, 0
    while name <= last + _GAP:
        if function(name):
            last = name
            yield name
        name += 1


def _texture_bytes(name: int) -> int:
    before = _value("glGetIntegerv", _TEXTURE_BINDING)
    _call("glBindTexture", _TEXTURE_2D, name)
    total = 0
    for level in range(_LEVELS):
        width, height = (_value("glGetTexLevelParameteriv", _TEXTURE_2D, level, what) for what in _TEXTURE_SIZE)
        if width * height == 0:
            break
        bits = sum(_value("glGetTexLevelParameteriv", _TEXTURE_2D, level, what) for what in _TEXTURE_BITS)
        total += width * height * bits // 8
    _call("glBindTexture", _TEXTURE_2D, before)
    return total


def _renderbuffer_bytes(name: int) -> int:
    before = _value("glGetIntegerv", _RENDERBUFFER_BINDING)
    _call("glBindRenderbuffer", _RENDERBUFFER, name)
    width, height, samples = (
        _value("glGetRenderbufferParameteriv", _RENDERBUFFER, what)
        for what in (*_RENDERBUFFER_SIZE, _RENDERBUFFER_SAMPLES)
    )
    bits = sum(_value("glGetRenderbufferParameteriv", _RENDERBUFFER, what) for what in _RENDERBUFFER_BITS)
    _call("glBindRenderbuffer", _RENDERBUFFER, before)
    return width * height * max(samples, 1) * bits // 8


def _buffer_bytes(name: int) -> int:
    _call("glBindBuffer", _COPY_READ_BUFFER, name)
    size = _value("glGetBufferParameteriv", _COPY_READ_BUFFER, _BUFFER_SIZE)
    _call("glBindBuffer", _COPY_READ_BUFFER, 0)
    return size


def _call(function: str, target: int, name: int) -> None:
    ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_uint)(address(function))(target, name)


def _value(function: str, *arguments: int) -> int:
    """The number that a function writes to its last parameter."""
    value = ctypes.c_int()
    kinds = (ctypes.c_uint,) * len(arguments)
    ctypes.CFUNCTYPE(None, *kinds, ctypes.c_void_p)(address(function))(*arguments, ctypes.byref(value))
    return value.value

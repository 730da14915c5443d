"""Resources that OpenGL holds for the program, including leaked ones."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NamedTuple

from app.picture.passes.unlocked import address

# Some drivers assign the lowest free name, others the one after the last. The search continues up to a new name, and
# until this many names in sequence are unused.
_GAP = 512

_LEVELS = 16  # of a texture, at most: the largest has 2¹⁵ texels along a side
_TEXTURE_2D, _TEXTURE_BINDING = 0x0DE1, 0x8069
_TEXTURE_SIZE = 0x1000, 0x1001  # width and height
_TEXTURE_BITS = 0x805C, 0x805D, 0x805E, 0x805F, 0x884A, 0x88F1  # red, green, blue, alpha, depth, stencil
_RENDERBUFFER, _RENDERBUFFER_BINDING, _RENDERBUFFER_SAMPLES = 0x8D41, 0x8CA7, 0x8CAB
_RENDERBUFFER_SIZE = 0x8D42, 0x8D43
_RENDERBUFFER_BITS = 0x8D50, 0x8D51, 0x8D52, 0x8D53, 0x8D54, 0x8D55
_COPY_READ_BUFFER, _BUFFER_SIZE = 0x8F36, 0x8764  # the target for buffer queries is used by nothing else
_OTHERS = "Framebuffer", "VertexArray", "Shader", "Query"
_PLURALS = {"Query": "Queries"}
_VERTEX_SHADER = 0x8B31


class Held(NamedTuple):
    """Bytes of textures (2D, including renderbuffers) and buffers, and numbers of programs and of all objects."""

    textures: int
    buffers: int
    programs: int
    objects: int


def held() -> Held:
    """The resources of the current context. Bindings are preserved."""
    textures = [_texture_bytes(name) for name in _names("Texture")]
    renderbuffers = [_renderbuffer_bytes(name) for name in _names("Renderbuffer")]
    buffers = [_buffer_bytes(name) for name in _names("Buffer")]
    programs = sum(1 for _ in _names("Program"))
    others = sum(1 for kind in _OTHERS for _ in _names(kind))
    objects = len(textures) + len(renderbuffers) + len(buffers) + programs + others
    return Held(sum(textures) + sum(renderbuffers), sum(buffers), programs, objects)


def _names(kind: str) -> Iterator[int]:
    """The names in use for objects of a kind."""
    is_one = ctypes.CFUNCTYPE(ctypes.c_ubyte, ctypes.c_uint)(address(f"glIs{kind}"))
    name, last = 1, _new_name(kind)
    while name <= last + _GAP:
        if is_one(name):
            last = max(last, name)
            yield name
        name += 1


def _new_name(kind: str) -> int:
    """The name that the next object of a kind would have."""
    if kind in ("Program", "Shader"):  # they share a namespace
        shader: int = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_uint)(address("glCreateShader"))(_VERTEX_SHADER)
        ctypes.CFUNCTYPE(None, ctypes.c_uint)(address("glDeleteShader"))(shader)
        return shader
    name = ctypes.c_uint()
    for verb in ("Gen", "Delete"):
        function = address(f"gl{verb}{_PLURALS.get(kind, kind + 's')}")
        ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(function)(1, ctypes.byref(name))
    return name.value


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

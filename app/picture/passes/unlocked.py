"""OpenGL calls that can block, made without the interpreter's lock.

moderngl holds the lock in every call. A call that needs what an earlier one draws, or that does its own vertex work, as
on a software rasteriser, would keep the simulation's thread from returning to Python for as long as it takes. Calls
through ctypes give the lock back meanwhile. What is called here are OpenGL's own functions, on the context that is
current; moderngl keeps no record of the state that they touch (program, vertex array, texture of a unit).

On Linux two dispatches of OpenGL are in the process: the system's, below libGL.so.1, and the one that ImGui's bundle
links to under names of its own (libOpenGL-….so, libGLdispatch-….so). They cannot disagree, because only the system's is
ever used. A dispatch calls a driver through the context that was made current by it. That is done by glfw, or by
moderngl without a window, which both load the system's library at run time; so do moderngl and ImGui's backend for
OpenGL 3 to find their functions, and this module. The bundle imports none of the functions that make a context current,
and those that it does import are called by its backend for OpenGL 2 alone, which nobody starts. Nor does one get the
other's symbols: both are loaded locally, by what needs them. A test asks each dispatch that is loaded.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "SwiftShader", "Software")

_UNSIGNED_INT = 0x1405
_FLOAT, _UNSIGNED_BYTE, _RED = 0x1406, 0x1401, 0x1903
_COLOURS = {3: 0x1907, 4: 0x1908}  # RGB and RGBA
_PACK_ALIGNMENT, _UNPACK_ALIGNMENT = 0x0D05, 0x0CF5
_TEXTURE0 = 0x84C0
_TEXTURE_2D = 0x0DE1
_BASE_LEVEL, _MAX_LEVEL, _ALL_LEVELS = 0x813C, 0x813D, 1000
_TEXTURE_WIDTH, _INTERNAL_FORMAT = 0x1000, 0x1003
_FRAMEBUFFER, _COLOR_ATTACHMENT0 = 0x8D40, 0x8CE0
_READ_FRAMEBUFFER, _DRAW_FRAMEBUFFER = 0x8CA8, 0x8CA9
_COLOR_BUFFER_BIT, _NEAREST, _LINEAR = 0x4000, 0x2600, 0x2601
_TIME_ELAPSED, _QUERY_RESULT, _QUERY_RESULT_AVAILABLE = 0x88BF, 0x8866, 0x8867

_INT, _POINTER = ctypes.c_int, ctypes.c_void_p
# The names and parameters of the functions that are used. Enumerations and sizes are as wide as an int.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "glActiveTexture": (_INT,),
    "glBeginQuery": (_INT, _INT),
    "glBindFramebuffer": (_INT, _INT),
    "glBindTexture": (_INT, _INT),
    "glBindVertexArray": (_INT,),
    "glBlitFramebuffer": (_INT,) * 10,
    "glDeleteQueries": (_INT, _POINTER),
    "glDrawArraysInstanced": (_INT, _INT, _INT, _INT),
    "glDrawElementsInstanced": (_INT, _INT, _INT, _POINTER, _INT),
    "glEndQuery": (_INT,),
    "glFinish": (),
    "glFramebufferTexture2D": (_INT,) * 5,
    "glGenQueries": (_INT, _POINTER),
    "glGetQueryObjectui64v": (_INT, _INT, _POINTER),
    "glGetTexLevelParameteriv": (_INT, _INT, _INT, _POINTER),
    "glPixelStorei": (_INT, _INT),
    "glReadPixels": (_INT, _INT, _INT, _INT, _INT, _INT, _POINTER),
    "glTexImage2D": (_INT,) * 8 + (_POINTER,),
    "glTexParameteri": (_INT, _INT, _INT),
    "glTexSubImage2D": (_INT,) * 8 + (_POINTER,),
    "glUseProgram": (_INT,),
}
# These only change state and keep the lock: releasing it would cost more than the call.
_QUICK = {
    "glActiveTexture",
    "glBeginQuery",
    "glBindFramebuffer",
    "glBindTexture",
    "glBindVertexArray",
    "glDeleteQueries",
    "glEndQuery",
    "glFramebufferTexture2D",
    "glGenQueries",
    "glGetTexLevelParameteriv",
    "glPixelStorei",
    "glTexImage2D",
    "glTexParameteri",
    "glUseProgram",
}

draws = 0  # number of draws so far


def is_software(context: moderngl.Context) -> bool:
    """Whether rendering is in software."""
    return any(name in context.info["GL_RENDERER"] for name in SOFTWARE_RENDERERS)


def draw(
    array: moderngl.VertexArray, *, indexed: bool, mode: int, vertices: int, first: int = 0, instances: int = 1
) -> None:
    """As `array.render`; if it is `indexed`, by indices of four bytes."""
    global draws
    draws += 1
    _function("glUseProgram")(array.program.glo)
    _function("glBindVertexArray")(array.glo)
    if indexed:
        offset = first * ctypes.sizeof(ctypes.c_uint32)
        _function("glDrawElementsInstanced")(mode, vertices, _UNSIGNED_INT, offset, instances)
    else:
        _function("glDrawArraysInstanced")(mode, first, vertices, instances)


def allocate_mipmaps(texture: moderngl.Texture) -> None:
    """Give a texture all levels of mipmaps, with any contents, unless it has them."""
    _bind(texture)
    width, height = texture.size
    if max(width, height) == 1 or _level_value(1, _TEXTURE_WIDTH):
        return
    level, kept = 0, _level_value(0, _INTERNAL_FORMAT)
    while max(width, height) > 1:
        width, height, level = max(width // 2, 1), max(height // 2, 1), level + 1
        _function("glTexImage2D")(_TEXTURE_2D, level, kept, width, height, 0, _COLOURS[4], _UNSIGNED_BYTE, None)


@contextmanager
def between_levels(framebuffer: moderngl.Framebuffer, texture: moderngl.Texture, level: int) -> Iterator[None]:
    """Within it, `framebuffer` is drawn into a level of a texture, and all that is read of it is the level before."""
    attach, set_parameter = _function("glFramebufferTexture2D"), _function("glTexParameteri")
    framebuffer.use()
    _bind(texture)
    attach(_FRAMEBUFFER, _COLOR_ATTACHMENT0, _TEXTURE_2D, texture.glo, level)
    set_parameter(_TEXTURE_2D, _BASE_LEVEL, level - 1)
    set_parameter(_TEXTURE_2D, _MAX_LEVEL, level - 1)
    try:
        yield
    finally:
        _bind(texture)
        set_parameter(_TEXTURE_2D, _BASE_LEVEL, 0)
        set_parameter(_TEXTURE_2D, _MAX_LEVEL, _ALL_LEVELS)


def upload(texture: moderngl.Texture, layer: NDArray[np.float32]) -> None:
    """As `texture.write`, for a texture of one float32: `layer` [row, column] is contiguous and of its size."""
    rows, columns = layer.shape
    assert texture.size == (columns, rows) and layer.dtype == np.float32 and layer.flags.c_contiguous
    _bind(texture)
    _function("glPixelStorei")(_UNPACK_ALIGNMENT, 4)
    _function("glTexSubImage2D")(_TEXTURE_2D, 0, 0, 0, columns, rows, _RED, _FLOAT, layer.ctypes.data)


def read(framebuffer: moderngl.Framebuffer, colours: int = 3) -> NDArray[np.uint8]:
    """Red, green and blue of all pixels, [row from the bottom, column, colour]; then `framebuffer` is bound.

    With four `colours`, as software has them, it takes a tenth of the time.
    """
    width, height = framebuffer.size
    pixels = np.empty((height, width, colours), np.uint8)
    framebuffer.use()
    _function("glPixelStorei")(_PACK_ALIGNMENT, 1)
    _function("glReadPixels")(0, 0, width, height, _COLOURS[colours], _UNSIGNED_BYTE, pixels.ctypes.data)
    return pixels


def read_floats(framebuffer: moderngl.Framebuffer) -> NDArray[np.float32]:
    """Red, green, blue and alpha of all pixels, [row from the bottom, column, colour]; then `framebuffer` is bound."""
    width, height = framebuffer.size
    pixels = np.empty((height, width, 4), np.float32)
    framebuffer.use()
    _function("glPixelStorei")(_PACK_ALIGNMENT, 1)
    _function("glReadPixels")(0, 0, width, height, _COLOURS[4], _FLOAT, pixels.ctypes.data)
    return pixels


def copy(source: moderngl.Framebuffer, target: moderngl.Framebuffer, left: int, bottom: int) -> None:
    """The colours of all of `source` into `target`, with that place of their lower left corner; then that is bound."""
    width, height = source.size
    _function("glBindFramebuffer")(_READ_FRAMEBUFFER, source.glo)
    _function("glBindFramebuffer")(_DRAW_FRAMEBUFFER, target.glo)
    to = (left, bottom, left + width, bottom + height)
    _function("glBlitFramebuffer")(0, 0, width, height, *to, _COLOR_BUFFER_BIT, _NEAREST)
    target.use()


def copy_scaled(
    source: moderngl.Framebuffer, size: tuple[int, int], target: moderngl.Framebuffer, place: tuple[int, int, int, int]
) -> None:
    """The colours of `source`, of this size (width, height), into a `place` in `target`: left, bottom, right and top.

    Then `target` is bound.
    """
    is_as_large = size == (place[2] - place[0], place[3] - place[1])
    _function("glBindFramebuffer")(_READ_FRAMEBUFFER, source.glo)
    _function("glBindFramebuffer")(_DRAW_FRAMEBUFFER, target.glo)
    _function("glBlitFramebuffer")(0, 0, *size, *place, _COLOR_BUFFER_BIT, _NEAREST if is_as_large else _LINEAR)
    target.use()


def finish() -> None:
    """Wait until all drawing is finished."""
    _function("glFinish")()


class TimeQuery:
    """Measures the GPU time of drawing inside `with`."""

    def __init__(self) -> None:
        self._name = ctypes.c_uint()
        _function("glGenQueries")(1, ctypes.byref(self._name))

    def __enter__(self) -> None:
        _function("glBeginQuery")(_TIME_ELAPSED, self._name.value)

    def __exit__(self, *error: object) -> None:
        _function("glEndQuery")(_TIME_ELAPSED)

    @property
    def seconds(self) -> float | None:
        """The last measurement, or None if it is not available yet."""
        if not self._result(_QUERY_RESULT_AVAILABLE):
            return None
        return self._result(_QUERY_RESULT) * 1e-9

    def release(self) -> None:
        _function("glDeleteQueries")(1, ctypes.byref(self._name))

    def _result(self, which: int) -> int:
        value = ctypes.c_uint64()
        _function("glGetQueryObjectui64v")(self._name.value, which, ctypes.byref(value))
        return value.value


def _level_value(level: int, which: int) -> int:
    """What OpenGL knows of a level of the bound texture."""
    value = ctypes.c_int()
    _function("glGetTexLevelParameteriv")(_TEXTURE_2D, level, which, ctypes.byref(value))
    return value.value


def _bind(texture: moderngl.Texture) -> None:
    _function("glActiveTexture")(_TEXTURE0)
    _function("glBindTexture")(_TEXTURE_2D, texture.glo)


@cache
def _function(name: str) -> Callable[..., None]:
    kind = ctypes.PYFUNCTYPE if name in _QUICK else ctypes.CFUNCTYPE
    return kind(None, *_FUNCTIONS[name])(address(name))


@cache
def address(name: str) -> int:
    """The address of an OpenGL function for the current context."""
    if sys.platform == "win32":
        library = ctypes.WinDLL("opengl32")
        look_up = library.wglGetProcAddress
        look_up.restype, look_up.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        found = look_up(name.encode())
        if found:  # functions of version 1.1 are in the library itself
            return int(found)
    elif sys.platform == "darwin":
        library = ctypes.CDLL("/System/Library/Frameworks/OpenGL.framework/OpenGL")
    else:
        library = ctypes.CDLL("libGL.so.1")
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return address

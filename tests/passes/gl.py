"""OpenGL called directly, for what moderngl does not show: which objects live, and state that it does not know of."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from typing import Any

from app.picture.passes.held import _names as names_in_use

_LIBRARY = "opengl32" if sys.platform == "win32" else ctypes.util.find_library("GL") or "libGL.so.1"

GL_SCISSOR_TEST = 0x0C11
GL_BLEND = 0x0BE2
GL_CULL_FACE = 0x0B44
GL_UNIFORM_OFFSET = 0x8A3B
GL_LINK_STATUS = 0x8B82
GL_ACTIVE_UNIFORMS = 0x8B86
GL_SHADERS = {".frag": 0x8B30, ".vert": 0x8B31}
GL_SAMPLERS = (*range(0x8B5D, 0x8B65), *range(0x8DC0, 0x8DD9))

_KINDS = ("Texture", "Buffer", "Framebuffer", "Renderbuffer", "VertexArray", "Program", "Shader", "Query")


def call(name: str) -> Callable[..., Any]:
    """The function `gl<name>`."""
    function: Callable[..., Any] = getattr(ctypes.CDLL(_LIBRARY), f"gl{name}")
    return function


def living_objects() -> dict[str, int]:
    """How many objects of each kind the current context holds."""
    call("UseProgram")(0)  # one that is in use lives on when it is released
    return {kind: sum(1 for _ in names_in_use(kind)) for kind in _KINDS}


def uniform_offsets(program: int, names: list[str]) -> list[int]:
    """Where the driver has put members of uniform blocks, in bytes."""
    texts = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
    indices = (ctypes.c_uint * len(names))()
    offsets = (ctypes.c_int * len(names))()
    call("GetUniformIndices")(program, len(names), texts, indices)
    call("GetActiveUniformsiv")(program, len(names), indices, GL_UNIFORM_OFFSET, offsets)
    return list(offsets)


def active_samplers(suffix: str, source: str) -> list[str]:
    """The samplers that a shader of one stage, `.vert` or `.frag`, is left with by the compiler."""
    create = call("CreateShaderProgramv")
    create.restype = ctypes.c_uint
    if suffix == ".vert":  # which must declare what it writes where it stands alone; NVIDIA's driver insists on it
        version, rest = source.split("\n", 1)
        source = f"{version}\nout gl_PerVertex {{ vec4 gl_Position; float gl_PointSize; }};\n{rest}"
    program = create(GL_SHADERS[suffix], 1, (ctypes.c_char_p * 1)(source.encode()))
    linked, count, size, kind = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_uint()
    call("GetProgramiv")(program, GL_LINK_STATUS, ctypes.byref(linked))
    said = ctypes.create_string_buffer(1000)
    call("GetProgramInfoLog")(program, len(said), None, said)
    assert linked.value, said.value.decode()
    call("GetProgramiv")(program, GL_ACTIVE_UNIFORMS, ctypes.byref(count))
    samplers = []
    for index in range(count.value):
        name = ctypes.create_string_buffer(200)
        call("GetActiveUniform")(program, index, len(name), None, ctypes.byref(size), ctypes.byref(kind), name)
        if kind.value in GL_SAMPLERS:
            samplers += [name.value.decode()] * size.value
    call("DeleteProgram")(program)
    return samplers

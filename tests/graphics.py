"""OpenGL for all tests of a process: what takes long to make is made once, and handed on as if it were new."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import moderngl
import pytest

from app.picture.passes import frame
from app.picture.passes import shaders as module
from app.picture.passes.fixed import FixedTextures
from app.picture.passes.fractures import Fractures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import Key, ShaderLibrary, Shaders
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP

MOST_UNUSED = 200  # programs, each of some 2 MB

_FILES = module.read_shader, module.files
_OF_LIBRARIES = {name: getattr(ShaderLibrary, name) for name in ("_read", "_link", "_let_go")}

Text = tuple[str, str]  # of a vertex and of a fragment shader


class Programs:
    """Programs that libraries have let go, for the next ones: to compile those of a picture takes longer than drawing.

    Each is used by one library at a time, which gets it as it was when it had been compiled.
    """

    def __init__(self) -> None:
        self._unused: dict[Text, list[moderngl.Program]] = {}  # from those that were let go longest ago
        self._made: dict[int, tuple[Text, dict[str, bytes]]] = {}  # text and uniforms, by OpenGL's name
        self._shaders: dict[Text, Shaders] = {}  # by the names of two files

    def read(self, library: ShaderLibrary, vertex: str, fragment: str) -> Shaders:
        """In the place of `ShaderLibrary._read`: files of the package do not change while tests run."""
        if not library._generated or (module.read_shader, module.files) != _FILES:
            return _OF_LIBRARIES["_read"](library, vertex, fragment)
        if (vertex, fragment) not in self._shaders:
            self._shaders[vertex, fragment] = _OF_LIBRARIES["_read"](library, vertex, fragment)
        return self._shaders[vertex, fragment]

    def link(self, library: ShaderLibrary, vertex: str, fragment: str) -> moderngl.Program:
        """In the place of `ShaderLibrary._link`."""
        if unused := self._unused.get((vertex, fragment)):
            program = copy.copy(unused.pop())  # one that no drawing knows
            for name, value in self._made[program.glo][1].items():
                program[name].write(value)
            return program
        program = _OF_LIBRARIES["_link"](library, vertex, fragment)
        uniforms = {name: program[name].read() for name in program if isinstance(program[name], moderngl.Uniform)}
        self._made[program.glo] = (vertex, fragment), uniforms
        return program

    def let_go(self, library: ShaderLibrary, *keys: Key) -> None:
        """In the place of `ShaderLibrary._let_go`."""
        for key in keys:
            program = library._linked.pop(key).gl
            for array in program.extra:
                array.release()
            text = self._made[program.glo][0]
            self._unused[text] = [*self._unused.pop(text, ()), program]

    def make_room(self) -> None:
        """Release those that nobody has wanted for long."""
        excess = sum(map(len, self._unused.values())) - MOST_UNUSED
        while excess > 0:
            for program in self._unused.pop(next(iter(self._unused))):
                del self._made[program.glo]
                program.release()
                excess -= 1


_PROGRAMS = Programs()


@cache
def _context() -> moderngl.Context:
    return moderngl.create_standalone_context(require=410, **({"backend": "egl"} if sys.platform == "linux" else {}))


@cache
def own_framebuffer() -> moderngl.Framebuffer:
    """A framebuffer that outlives all others. moderngl goes back to the one in use, which must not be released."""
    return _context().framebuffer([_context().renderbuffer((1, 1))])


@cache
def _keep_fixed_textures() -> None:
    """Have all that pictures share, so that none makes it: as a program's second picture finds it."""
    own_framebuffer().use()
    fixed = FixedTextures.of(_context())
    library = ShaderLibrary(_context(), {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
    mipmaps = Mipmaps(_context(), library)
    for filter in (ONE_MIPMAP, MIPMAPPED):
        fixed.repeating(mipmaps, filter)
    fractures = Fractures(_context(), library, fixed)
    assert fractures.texture
    own_framebuffer().use()
    fractures.release()
    mipmaps.release()
    library.release()


@contextmanager
def graphics() -> Iterator[moderngl.Context]:
    """OpenGL without a window, in the state of a new context, and with the programs of the tests before.

    Whoever leaves an error in it raises `AssertionError`.
    """
    with _context() as context, pytest.MonkeyPatch.context() as patch:
        for name, method in (("_read", Programs.read), ("_link", Programs.link), ("_let_go", Programs.let_go)):
            patch.setattr(ShaderLibrary, name, lambda *given, method=method: method(_PROGRAMS, *given))
        context.enable_only(moderngl.NOTHING)
        _keep_fixed_textures()
        own_framebuffer().use()
        try:
            yield context
        finally:
            _PROGRAMS.make_room()
            error = context.error
            assert error == "GL_NO_ERROR", f"OpenGL has the error {error}"


@contextmanager
def own_fixed_textures() -> Iterator[None]:
    """Within it, pictures make what they share, and release it with the last."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_context(), "extra", None)
        yield


@contextmanager
def own_programs() -> Iterator[None]:
    """Within it, libraries compile all programs anew, and release what they let go."""
    with pytest.MonkeyPatch.context() as patch:
        for name, method in _OF_LIBRARIES.items():
            patch.setattr(ShaderLibrary, name, method)
        yield

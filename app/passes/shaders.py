"""Shaders: files with includes, compiled into programs that can be reloaded while they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import NamedTuple

import moderngl

from app.errors import UserError
from app.passes import unlocked

VERSION = "#version 410 core"
_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')

Uniform = float | int | bool | tuple[float, ...]


class ShaderError(UserError):
    """A shader that does not compile, with its file and line."""


class Line(NamedTuple):
    """A line of source and where it comes from. `#line` would tell a compiler, but Mesa forgets the file."""

    text: str
    file: str
    number: int


class MissingShaderError(ShaderError):
    """A shader's file that is not there."""


def read_shader(name: str) -> str:
    """The text of a file below `shaders/`."""
    path = files("shaders")
    for part in name.split("/"):
        path = path / part
    if not path.is_file():
        raise MissingShaderError(f"shaders/{name}: there is no such file")
    return path.read_text(encoding="utf-8")


def preprocess(name: str, generated: Mapping[str, str]) -> list[Line]:
    """The lines of a shader with its includes in place.

    An include is `#include "file"`, relative to `shaders/include/`, and is taken in only once. `generated` are includes
    that have no file.
    """
    seen: set[str] = set()

    def expand(current: str, text: str, stack: tuple[str, ...]) -> Iterable[Line]:
        for number, line in enumerate(text.splitlines(), start=1):
            match = _INCLUDE.match(line)
            if not match:
                yield Line(line, current, number)
                continue
            included = "include/" + match.group(1)
            if included in stack:
                raise ShaderError(f"shaders/{name}: '{included}' includes itself by way of {' > '.join(stack[1:])}")
            if included not in seen:
                seen.add(included)
                body = generated.get(match.group(1))
                try:
                    yield from expand(included, read_shader(included) if body is None else body, (*stack, included))
                except MissingShaderError as error:
                    raise ShaderError(f"shaders/{current}, line {number}: {error}") from error

    return list(expand(name, read_shader(name), (name,)))


class Program:
    """A linked program whose uniforms are set by name; those that the compiler dropped are passed over."""

    def __init__(self, linked: Callable[[], moderngl.Program]) -> None:
        self._linked = linked

    @property
    def gl(self) -> moderngl.Program:
        """OpenGL's own, which is another one after a reload, or after it had to make room for others."""
        return self._linked()

    def set(self, **uniforms: Uniform) -> None:
        program = self.gl
        for name, value in uniforms.items():
            member = program.get(name, None)
            if isinstance(member, moderngl.Uniform):
                member.value = value

    def bind(self, **textures: moderngl.Texture | moderngl.TextureArray) -> None:
        """Bind textures to the samplers of these names, on consecutive units."""
        program = self.gl
        for unit, (name, texture) in enumerate(textures.items()):
            member = program.get(name, None)
            if isinstance(member, moderngl.Uniform):
                texture.use(unit)
                member.value = unit


class Drawing:
    """A program with the buffers that it draws from. Follows the program through reloads."""

    def __init__(
        self,
        context: moderngl.Context,
        program: Program,
        buffers: Sequence[tuple[object, ...]] = (),
        indices: moderngl.Buffer | None = None,
    ) -> None:
        self.program = program
        self._context = context
        self._buffers = buffers
        self._indices = indices
        self._array: moderngl.VertexArray | None = None
        self._built_for: moderngl.Program | None = None

    def render(self, mode: int = moderngl.TRIANGLES, vertices: int = -1, instances: int = 1, first: int = 0) -> None:
        program = self.program.gl
        if self._array is None or self._built_for is not program:
            self.release()
            self._array = self._context.vertex_array(
                program, list(self._buffers), index_buffer=self._indices, skip_errors=True
            )
            self._built_for = program
            program.extra.append(self._array)
        if vertices < 0:
            vertices = self._array.vertices
        indexed = self._indices is not None
        unlocked.draw(self._array, indexed=indexed, mode=mode, vertices=vertices, first=first, instances=instances)

    def release(self) -> None:
        if self._array is not None:
            self._array.release()
            self._array = None


class FullScreen(Drawing):
    """A fragment shader over the whole target, or over a part of it."""

    def __init__(
        self, context: moderngl.Context, shaders: ShaderLibrary, fragment: str, defines: tuple[str, ...] = ()
    ) -> None:
        super().__init__(context, shaders.program("fullscreen.vert", fragment, defines))

    def draw(self, target: moderngl.Framebuffer, rectangle: tuple[int, int, int, int] | None = None) -> None:
        """Replace what is in the rectangle (left, bottom, width, height), whatever state others have left."""
        target.use()
        target.viewport = rectangle or (0, 0, *target.size)
        target.scissor = target.viewport
        self._context.enable_only(moderngl.NOTHING)
        # Blending with a second source is refused with several targets, also while it is off.
        self._context.blend_func = moderngl.ONE, moderngl.ZERO
        self.render(vertices=3)
        target.viewport = (0, 0, *target.size)
        target.scissor = target.viewport


# A picture needs some 40 programs. Each takes about 4 MB on a software rasteriser, and there are thousands of variants.
MOST_PROGRAMS = 48

Key = tuple[str, str, tuple[str, ...]]


class ShaderLibrary:
    """Compiles programs and keeps those that were used last. `reload` compiles them again, or keeps the old ones."""

    def __init__(self, context: moderngl.Context, generated: Mapping[str, str], blocks: Mapping[str, int]) -> None:
        self._context = context
        self._generated = generated
        self._blocks = blocks  # uniform blocks by name, and the binding points that they are read from
        self._programs: dict[Key, Program] = {}  # all that were ever asked for
        self._linked: dict[Key, moderngl.Program] = {}  # what is kept of them, from the one that was used longest ago

    def program(self, vertex: str, fragment: str, defines: tuple[str, ...] = ()) -> Program:
        """The program of two files below `shaders/`, such as `terrain.vert` and `terrain.frag`.

        `defines` such as `OVERLAY 1` choose a variant at compile time: software renderers pay for both sides of an if.
        """
        key = (vertex, fragment, defines)
        if key not in self._programs:
            self._use(key)  # what is wrong with it is told here
            self._programs[key] = Program(partial(self._use, key))
        return self._programs[key]

    def reload(self) -> str:
        """Compile every program again. Returns "" or the first error; then all the old programs run on."""
        compiled: dict[Key, moderngl.Program] = {}
        try:
            for key in self._linked:
                compiled[key] = self._compile(*key)
        except ShaderError as error:
            for program in compiled.values():
                program.release()
            return str(error)
        self._let_go(*compiled)
        self._linked = compiled
        return ""

    def release(self) -> None:
        self._let_go(*list(self._linked))
        self._programs.clear()

    def _use(self, key: Key) -> moderngl.Program:
        """A program that is used now, compiled where it is not there; then one may have to make room for it."""
        program = self._linked.pop(key, None) or self._compile(*key)
        self._linked[key] = program
        if len(self._linked) > MOST_PROGRAMS:
            self._let_go(next(iter(self._linked)))
        return program

    def _let_go(self, *keys: Key) -> None:
        """Release programs, with the vertex arrays that were made for them."""
        for key in keys:
            program = self._linked.pop(key)
            for array in program.extra:
                array.release()
            program.release()

    def _compile(self, vertex: str, fragment: str, defines: tuple[str, ...]) -> moderngl.Program:
        head = [Line(VERSION, "", 0), *(Line(f"#define {define}", "", 0) for define in defines)]
        vertex_lines = head + preprocess(vertex, self._generated)
        fragment_lines = head + preprocess(fragment, self._generated)
        try:
            program = self._context.program(vertex_shader=_text(vertex_lines), fragment_shader=_text(fragment_lines))
        except moderngl.Error as error:
            message = str(error)
            lines = fragment_lines if "fragment_shader" in message else vertex_lines
            raise ShaderError(_explain(message, lines, f"{vertex} + {fragment}")) from error
        for name, binding in self._blocks.items():
            block = program.get(name, None)
            if isinstance(block, moderngl.UniformBlock):
                block.binding = binding
        program.extra = []  # vertex arrays
        return program


def _text(lines: Iterable[Line]) -> str:
    return "".join(f"{line.text}\n" for line in lines)


def _explain(message: str, lines: Sequence[Line], program: str) -> str:
    """The first error of a compiler, `0:14(3): error: …` or `0(14) : error …`, with the file that line 14 is from."""
    for complaint in message.splitlines():
        match = re.match(r"\s*(?:ERROR:\s*)?\d+[:(](\d+)[\s():\d]*", complaint)
        if match and "error" in complaint.lower() and int(match.group(1)) <= len(lines):
            line = lines[int(match.group(1)) - 1]
            return f"shaders/{line.file}, line {line.number}: {complaint[match.end() :]}"
    return f"shaders/{program}: " + " ".join(message.split())

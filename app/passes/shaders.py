"""Shaders: files with includes, compiled into programs that can be reloaded while they run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

import moderngl

from app.errors import UserError
from app.passes import unlocked

VERSION = "#version 410 core"
_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')

_CHOICE = re.compile(r"^\s*#ifndef\s+(\w+)\s*$")  # what a define chooses, with a default below
_UNIFORM = re.compile(r"^\s*uniform\s+(\w+)\s+(\w+)\s*;")

NO_DEFINES: Mapping[str, int] = MappingProxyType({})

Uniform = float | int | bool | tuple[float, ...]
Texture = moderngl.Texture | moderngl.TextureArray


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


class Shaders:
    """The text of two shaders with all includes, and what it declares, also where a define leaves it out."""

    def __init__(self, vertex: str, fragment: str, generated: Mapping[str, str]) -> None:
        self.name = f"{vertex} + {fragment}"
        self.vertex, self.fragment = preprocess(vertex, generated), preprocess(fragment, generated)
        lines = [line.text for line in (*self.vertex, *self.fragment)]
        self.choices = frozenset(match.group(1) for match in map(_CHOICE.match, lines) if match)
        self.uniforms = {match.group(2): match.group(1) for match in map(_UNIFORM.match, lines) if match}  # types


class Program:
    """A linked program whose uniforms are set by name.

    A name that its shaders do not declare is an error; one that the compiler dropped is passed over.
    """

    def __init__(self, shaders: Shaders, program: moderngl.Program) -> None:
        self.take(shaders, program)

    def take(self, shaders: Shaders, program: moderngl.Program) -> None:
        """Be this program from now on."""
        self.gl = program
        self._shaders = shaders
        members = {name: program[name] for name in program}
        self._active = {name: member for name, member in members.items() if isinstance(member, moderngl.Uniform)}
        self._samplers = [name for name in self._active if shaders.uniforms.get(name, "").startswith("sampler")]

    def set(self, **uniforms: Uniform) -> None:
        self._check(uniforms)
        for name, value in uniforms.items():
            if name in self._active:
                self._active[name].value = value

    def bind(self, **textures: Texture) -> None:
        """Bind textures to the samplers of these names, on consecutive units."""
        self._check(textures)
        for unit, name in enumerate(filter(textures.__contains__, self._samplers)):
            textures[name].use(unit)
            self._active[name].value = unit

    def read(self, textures: Mapping[str, Texture], uniforms: Mapping[str, Uniform]) -> None:
        """Give it all that its shaders read out of these, which can hold more.

        Raises `ShaderError` where something that they read is not there.
        """
        missing = self._active.keys() - textures.keys() - uniforms.keys()
        if missing:
            raise ShaderError(f"shaders/{self._shaders.name} read what nobody gives them: {', '.join(sorted(missing))}")
        self.bind(**{name: textures[name] for name in self._samplers})
        self.set(**{name: uniforms[name] for name in self._active.keys() - set(self._samplers)})

    def _check(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if name not in self._shaders.uniforms]
        if unknown:
            raise ShaderError(f"shaders/{self._shaders.name} declare no uniform {', '.join(unknown)}")


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
        if self._array is None or self._built_for is not self.program.gl:
            self.release()
            self._array = self._context.vertex_array(
                self.program.gl, list(self._buffers), index_buffer=self._indices, skip_errors=True
            )
            self._built_for = self.program.gl
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
        self,
        context: moderngl.Context,
        shaders: ShaderLibrary,
        fragment: str,
        defines: Mapping[str, int] = NO_DEFINES,
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


class ShaderLibrary:
    """Compiles programs once and keeps them. `reload` compiles them again and keeps the old ones where that fails."""

    def __init__(self, context: moderngl.Context, generated: Mapping[str, str], blocks: Mapping[str, int]) -> None:
        self._context = context
        self._generated = generated
        self._blocks = blocks  # uniform blocks by name, and the binding points that they are read from
        self._shaders: dict[tuple[str, str], Shaders] = {}
        self._programs: dict[tuple[str, str, frozenset[tuple[str, int]]], Program] = {}

    def program(self, vertex: str, fragment: str, defines: Mapping[str, int] = NO_DEFINES) -> Program:
        """The program of two files below `shaders/`, such as `terrain.vert` and `terrain.frag`.

        `defines` such as `OVERLAY` choose a variant at compile time: software renderers pay for both sides of an if.
        Raises `ShaderError` for one that has no `#ifndef` with its default in either of them.
        """
        key = (vertex, fragment, frozenset(defines.items()))
        if key not in self._programs:
            self._programs[key] = Program(self._read(vertex, fragment), self._compile(*key))
        return self._programs[key]

    def variant(
        self, vertex: str, fragment: str, values: Mapping[str, int], own: Mapping[str, int] = NO_DEFINES
    ) -> Program:
        """The program with those of the `values` that its shaders have an `#ifndef` for, and with all of its `own`."""
        return self.program(vertex, fragment, self.chosen(vertex, fragment, values) | {**own})

    def chosen(self, vertex: str, fragment: str, values: Mapping[str, int]) -> dict[str, int]:
        """Those of the defines that two shaders have an `#ifndef` for."""
        return {name: values[name] for name in self._read(vertex, fragment).choices & values.keys()}

    def reload(self) -> str:
        """Compile every program again. Returns "" or the first error; then all the old programs run on."""
        compiled: dict[tuple[str, str, frozenset[tuple[str, int]]], moderngl.Program] = {}
        before, self._shaders = self._shaders, {}
        try:
            for key in self._programs:
                compiled[key] = self._compile(*key)
        except ShaderError as error:
            for program in compiled.values():
                program.release()
            self._shaders = before
            return str(error)
        for key, program in compiled.items():
            self._programs[key].gl.release()
            self._programs[key].take(self._read(*key[:2]), program)
        return ""

    def release(self) -> None:
        for program in self._programs.values():
            program.gl.release()
        self._programs.clear()

    def _read(self, vertex: str, fragment: str) -> Shaders:
        if (vertex, fragment) not in self._shaders:
            self._shaders[vertex, fragment] = Shaders(vertex, fragment, self._generated)
        return self._shaders[vertex, fragment]

    def _compile(self, vertex: str, fragment: str, defines: frozenset[tuple[str, int]]) -> moderngl.Program:
        shaders = self._read(vertex, fragment)
        unknown = sorted(name for name, _ in defines if name not in shaders.choices)
        if unknown:
            raise ShaderError(f"shaders/{shaders.name} have no #ifndef {', '.join(unknown)}")
        head = [Line(VERSION, "", 0), *(Line(f"#define {name} {value}", "", 0) for name, value in sorted(defines))]
        vertex_lines, fragment_lines = head + shaders.vertex, head + shaders.fragment
        try:
            program = self._context.program(vertex_shader=_text(vertex_lines), fragment_shader=_text(fragment_lines))
        except moderngl.Error as error:
            message = str(error)
            lines = fragment_lines if "fragment_shader" in message else vertex_lines
            raise ShaderError(_explain(message, lines, shaders.name)) from error
        for name, binding in self._blocks.items():
            block = program.get(name, None)
            if isinstance(block, moderngl.UniformBlock):
                block.binding = binding
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

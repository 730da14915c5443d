"""Shaders: files with includes, compiled into programs that can be reloaded while they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

import moderngl

from app.model.errors import UserError
from app.picture.passes import unlocked

VERSION = "#version 410 core"
_INCLUDE = re.compile(r'^[^\S\n]*#include[^\S\n]+"([^"\n]+)"[^\S\n]*(?:\n|\Z)', re.MULTILINE)
_CHOICE = re.compile(r"^[^\S\n]*#ifndef[^\S\n]+(\w+)[^\S\n]*$", re.MULTILINE)  # set by a define, with a default below
_UNIFORM = re.compile(r"^[^\S\n]*uniform[^\S\n]+(\w+)[^\S\n]+(\w+)[^\S\n]*;", re.MULTILINE)

NO_DEFINES: Mapping[str, int] = MappingProxyType({})

Uniform = float | int | bool | tuple[float, ...]
Texture = moderngl.Texture | moderngl.TextureArray


class ShaderError(UserError):
    """A shader that does not compile, with its file and line."""


class Line(NamedTuple):
    """A line of source and its origin. `#line` would pass it to the compiler, but Mesa drops the file."""

    text: str
    file: str
    number: int


class Part(NamedTuple):
    """The lines of a file between two includes, and their declarations, including those that a define excludes."""

    text: str  # each line ends
    file: str
    number: int  # of its first line
    choices: frozenset[str]
    uniforms: dict[str, str]  # types by name

    @classmethod
    def of(cls, text: str, file: str, number: int) -> Part:
        text += "\n" if text and not text.endswith("\n") else ""
        uniforms = {name: kind for kind, name in _UNIFORM.findall(text)}
        return cls(text, file, number, frozenset(_CHOICE.findall(text)), uniforms)


Parts = list[tuple[Part, str]]  # of a file, each with the name of the include that follows it, or ""


class MissingShaderError(ShaderError):
    """A missing shader file."""


def read_shader(name: str) -> str:
    """The text of a file below `shaders/`."""
    path = files("shaders")
    for part in name.split("/"):
        path = path / part
    if not path.is_file():
        raise MissingShaderError(f"shaders/{name}: there is no such file")
    return path.read_text(encoding="utf-8")


def preprocess(name: str, generated: Mapping[str, str], known: dict[str, Parts] | None = None) -> list[Part]:
    """A shader with its includes in place.

    An include is `#include "file"`, relative to `shaders/include/`, and is inserted only once. `generated` are includes
    without a file. Files that are `known` are not read again: most shaders have the same includes.
    """
    known = {} if known is None else known
    seen: set[str] = set()

    def expand(current: str, way: tuple[str, ...]) -> Iterable[Part]:
        if current not in known:
            body = generated.get(current.removeprefix("include/"))
            known[current] = _parts(current, read_shader(current) if body is None else body)
        for part, include in known[current]:
            yield part
            included = f"include/{include}"
            if not include or included in seen:
                continue
            if included in way:
                raise ShaderError(f"shaders/{name}: '{included}' includes itself by way of {' > '.join(way)}")
            try:
                yield from expand(included, (*way, included))
            except MissingShaderError as error:
                line = part.number + part.text.count("\n")
                raise ShaderError(f"shaders/{current}, line {line}: {error}") from error
            seen.add(included)

    return list(expand(name, ()))


def _parts(file: str, text: str) -> Parts:
    """Cut the text of a file at its includes."""
    pieces = [*_INCLUDE.split(text), ""]
    parts, number = [], 1
    for body, include in zip(pieces[::2], pieces[1::2], strict=True):
        parts.append((Part.of(body, file, number), include))
        number += body.count("\n") + 1
    return parts


def lines_of(parts: Iterable[Part]) -> list[Line]:
    """The lines of a shader, one by one."""
    return [
        Line(text, part.file, number)
        for part in parts
        for number, text in enumerate(part.text.splitlines(), start=part.number)
    ]


class Shaders:
    """The text of two shaders with all includes, and its declarations, including those that a define excludes."""

    def __init__(
        self, vertex: str, fragment: str, generated: Mapping[str, str], known: dict[str, Parts] | None = None
    ) -> None:
        self.name = f"{vertex} + {fragment}"
        self.vertex, self.fragment = (preprocess(name, generated, known) for name in (vertex, fragment))
        self.text = tuple("".join(part.text for part in parts) for parts in (self.vertex, self.fragment))
        parts = [*self.vertex, *self.fragment]
        self.choices = frozenset[str]().union(*(part.choices for part in parts))
        self.uniforms = {name: kind for part in parts for name, kind in part.uniforms.items()}


class Linked(NamedTuple):
    """The OpenGL program, its uniforms, and the text that it was compiled from."""

    gl: moderngl.Program
    shaders: Shaders
    active: dict[str, moderngl.Uniform]
    samplers: list[str]  # uniforms that textures are bound to

    @classmethod
    def of(cls, gl: moderngl.Program, shaders: Shaders) -> Linked:
        members = {name: gl[name] for name in gl}
        active = {name: member for name, member in members.items() if isinstance(member, moderngl.Uniform)}
        samplers = [name for name in active if shaders.uniforms.get(name, "").startswith("sampler")]
        gl.extra = []  # vertex arrays that were made for it
        return cls(gl, shaders, active, samplers)

    def check(self, names: Iterable[str]) -> None:
        """Raise `ShaderError` for a uniform that the shaders do not declare."""
        unknown = [name for name in names if name not in self.shaders.uniforms]
        if unknown:
            raise ShaderError(f"shaders/{self.shaders.name} declare no uniform {', '.join(unknown)}")

    def release(self) -> None:
        for array in self.gl.extra:
            array.release()
        self.gl.release()


class Program:
    """A linked program whose uniforms are set by name.

    A name that its shaders do not declare is an error; one that the compiler has optimised away is ignored.
    """

    def __init__(self, linked: Callable[[], Linked]) -> None:
        self._linked = linked

    @property
    def gl(self) -> moderngl.Program:
        """The OpenGL program. It changes after a reload or an eviction from the cache."""
        return self._linked().gl

    def set(self, **uniforms: Uniform) -> None:
        linked = self._linked()
        linked.check(uniforms)
        for name, value in uniforms.items():
            if name in linked.active:
                linked.active[name].value = value

    def bind(self, **textures: Texture) -> None:
        """Bind textures to the samplers of these names, on consecutive units."""
        linked = self._linked()
        linked.check(textures)
        for unit, name in enumerate(filter(textures.__contains__, linked.samplers)):
            textures[name].use(unit)
            linked.active[name].value = unit

    def read(self, textures: Mapping[str, Texture], uniforms: Mapping[str, Uniform]) -> None:
        """Set the uniforms that its shaders read. Further values are ignored.

        Raises `ShaderError` if a value that they read is missing.
        """
        linked = self._linked()
        missing = linked.active.keys() - textures.keys() - uniforms.keys()
        if missing:
            name = linked.shaders.name
            raise ShaderError(f"shaders/{name} read what nobody gives them: {', '.join(sorted(missing))}")
        self.bind(**{name: textures[name] for name in linked.samplers})
        self.set(**{name: uniforms[name] for name in linked.active.keys() - set(linked.samplers)})


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
    """A fragment shader over the whole target, or over an area of it."""

    def __init__(
        self,
        context: moderngl.Context,
        shaders: ShaderLibrary,
        fragment: str,
        defines: Mapping[str, int] = NO_DEFINES,
        *,
        depth_func: str = "",
    ) -> None:
        """With a `depth_func` it tests and writes depth; without one, depth is ignored."""
        super().__init__(context, shaders.program("fullscreen.vert", fragment, defines))
        self._depth_func = depth_func

    def draw(self, target: moderngl.Framebuffer, rectangle: tuple[int, int, int, int] | None = None) -> None:
        """Replace the rectangle (left, bottom, width, height), independent of the GL state."""
        target.use()
        target.viewport = rectangle or (0, 0, *target.size)
        target.scissor = target.viewport
        self._context.enable_only(moderngl.DEPTH_TEST if self._depth_func else moderngl.NOTHING)
        if self._depth_func:
            self._context.depth_func = self._depth_func
        # Dual-source blending is refused with several targets, even while blending is off.
        self._context.blend_func = moderngl.ONE, moderngl.ZERO
        self.render(vertices=3)
        target.viewport = (0, 0, *target.size)
        target.scissor = target.viewport


# A picture needs about 40 programs, each of about 4 MB on a software rasteriser, and there are thousands of variants.
MOST_PROGRAMS = 48

Key = tuple[str, str, frozenset[tuple[str, int]]]


class ShaderLibrary:
    """Compiles programs and caches those that were used last. `reload` compiles them again, or keeps the old ones."""

    def __init__(self, context: moderngl.Context, generated: Mapping[str, str], blocks: Mapping[str, int]) -> None:
        self._context = context
        self._generated = generated
        self._blocks = blocks  # binding points of uniform blocks by name
        self._files: dict[str, Parts] = {}  # that were read
        self._shaders: dict[tuple[str, str], Shaders] = {}
        self._programs: dict[Key, Program] = {}  # all requested ones
        self._linked: dict[Key, Linked] = {}  # the cached ones, least recently used first

    def program(self, vertex: str, fragment: str, defines: Mapping[str, int] = NO_DEFINES) -> Program:
        """The program of two files below `shaders/`, such as `terrain.vert` and `terrain.frag`.

        `defines` such as `OVERLAY` choose a variant at compile time, as software renderers pay for both sides of an if.
        Raises `ShaderError` if neither file has an `#ifndef` with a default for a define.
        """
        key = (vertex, fragment, frozenset(defines.items()))
        if key not in self._programs:
            self._use(key)  # its errors are reported here
            self._programs[key] = Program(partial(self._use, key))
        return self._programs[key]

    def variant(
        self, vertex: str, fragment: str, values: Mapping[str, int], own: Mapping[str, int] = NO_DEFINES
    ) -> Program:
        """The program with all its `own` defines, and with those `values` that its shaders have an `#ifndef` for."""
        return self.program(vertex, fragment, self.chosen(vertex, fragment, values) | {**own})

    def chosen(self, vertex: str, fragment: str, values: Mapping[str, int]) -> dict[str, int]:
        """The defines that two shaders have an `#ifndef` for."""
        return {name: values[name] for name in self._read(vertex, fragment).choices & values.keys()}

    def reload(self) -> str:
        """Compile every program again. Returns "" or the first error, in which case all old programs stay in use."""
        compiled: dict[Key, Linked] = {}
        before = self._files, self._shaders
        self._files, self._shaders = {}, {}
        try:
            for key in self._linked:
                compiled[key] = self._compile(*key)
        except ShaderError as error:
            for linked in compiled.values():
                linked.release()
            self._files, self._shaders = before
            return str(error)
        self._let_go(*compiled)
        self._linked = compiled
        return ""

    def release(self) -> None:
        self._let_go(*list(self._linked))
        self._programs.clear()

    def _use(self, key: Key) -> Linked:
        """A program for immediate use, compiled if it is not cached. The cache may evict another one."""
        linked = self._linked.pop(key, None) or self._compile(*key)
        self._linked[key] = linked
        if len(self._linked) > MOST_PROGRAMS:
            self._let_go(next(iter(self._linked)))
        return linked

    def _let_go(self, *keys: Key) -> None:
        """Release programs, with the vertex arrays that were made for them."""
        for key in keys:
            self._linked.pop(key).release()

    def _read(self, vertex: str, fragment: str) -> Shaders:
        if (vertex, fragment) not in self._shaders:
            self._shaders[vertex, fragment] = Shaders(vertex, fragment, self._generated, self._files)
        return self._shaders[vertex, fragment]

    def _compile(self, vertex: str, fragment: str, defines: frozenset[tuple[str, int]]) -> Linked:
        shaders = self._read(vertex, fragment)
        unknown = sorted(name for name, _ in defines if name not in shaders.choices)
        if unknown:
            raise ShaderError(f"shaders/{shaders.name} have no #ifndef {', '.join(unknown)}")
        head = [Line(VERSION, "", 0), *(Line(f"#define {name} {value}", "", 0) for name, value in sorted(defines))]
        vertex_text, fragment_text = ("".join(f"{line.text}\n" for line in head) + text for text in shaders.text)
        try:
            program = self._link(vertex_text, fragment_text)
        except moderngl.Error as error:
            message = str(error)
            parts = shaders.fragment if "fragment_shader" in message else shaders.vertex
            raise ShaderError(_explain(message, head + lines_of(parts), shaders.name)) from error
        for name, binding in self._blocks.items():
            block = program.get(name, None)
            if isinstance(block, moderngl.UniformBlock):
                block.binding = binding
        return Linked.of(program, shaders)

    def _link(self, vertex: str, fragment: str) -> moderngl.Program:
        return self._context.program(vertex_shader=vertex, fragment_shader=fragment)


def _explain(message: str, lines: Sequence[Line], program: str) -> str:
    """The first error of a compiler, `0:14(3): error: …` or `0(14) : error …`, with the file that line 14 is from."""
    for complaint in message.splitlines():
        match = re.match(r"\s*(?:ERROR:\s*)?\d+[:(](\d+)[\s():\d]*", complaint)
        if match and "error" in complaint.lower() and int(match.group(1)) <= len(lines):
            line = lines[int(match.group(1)) - 1]
            return f"shaders/{line.file}, line {line.number}: {complaint[match.end() :]}"
    return f"shaders/{program}: " + " ".join(message.split())

"""Shaders: includes, errors that name file and line, variants, reloading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import moderngl
import numpy as np
import pytest

from app.picture.passes import frame
from app.picture.passes import shaders as module
from app.picture.passes.held import held
from app.picture.passes.quality import LEVELS
from app.picture.passes.shaders import Drawing, FullScreen, ShaderError, ShaderLibrary, lines_of, preprocess
from tests.nets.profile import is_nightly
from tests.passes import gl

VERTEX = """out vec2 uv;
void main() {
    uv = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, 1.0, 1.0);
}
"""
MOST_SAMPLERS = 16  # of one stage, which OpenGL 4.1 is sure to have
FRAGMENT = "out vec4 colour;\nvoid main() { colour = vec4(%s); }\n"

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files into a folder that takes the place of `shaders/`."""

    def write(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    monkeypatch.setattr(module, "files", lambda package: tmp_path)
    write("fullscreen.vert", VERTEX)
    return write


@pytest.fixture
def library(context: moderngl.Context) -> Iterator[ShaderLibrary]:
    library = ShaderLibrary(context, {}, {})
    yield library
    library.release()


def drawn(context: moderngl.Context, drawing: Drawing) -> tuple[int, ...]:
    """The colour that a shader fills a target with."""
    before = context.fbo
    target = context.framebuffer([context.renderbuffer((1, 1))])
    target.use()
    context.disable(moderngl.DEPTH_TEST | moderngl.BLEND)
    drawing.render(vertices=3)
    colour = tuple(target.read(components=4))
    before.use()
    target.color_attachments[0].release()
    target.release()
    return colour


# Includes.


def test_includes_are_taken_in_recursively_and_once(write: Write) -> None:
    write("include/a.glsl", '#include "b.glsl"\nfloat a() { return b(); }')
    write("include/b.glsl", "float b() { return 1.0; }")
    write("x.frag", '#include "a.glsl"\n#include "b.glsl"\nvoid main() {}')
    lines = lines_of(preprocess("x.frag", {}))
    assert [line.text for line in lines] == ["float b() { return 1.0; }", "float a() { return b(); }", "void main() {}"]
    assert [line.file for line in lines] == ["include/b.glsl", "include/a.glsl", "x.frag"]


def test_lines_are_counted_in_their_own_file(write: Write) -> None:
    write("include/a.glsl", "// one\n// two")
    write("x.frag", '// one\n#include "a.glsl"\n// three')
    places = [(line.file, line.number) for line in lines_of(preprocess("x.frag", {}))]
    assert places == [("x.frag", 1), ("include/a.glsl", 1), ("include/a.glsl", 2), ("x.frag", 3)]


def test_generated_includes_need_no_file(write: Write) -> None:
    write("x.frag", '#include "made.glsl"\n')
    lines = lines_of(preprocess("x.frag", {"made.glsl": "const float made = 1.0;"}))
    assert [line.text for line in lines] == ["const float made = 1.0;"]


@pytest.mark.parametrize("cycle", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_an_include_cycle_is_an_error_that_names_the_way(write: Write, cycle: list[str]) -> None:
    for name, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        write(f"include/{name}.glsl", f'#include "{following}.glsl"')
    write("x.frag", '#include "a.glsl"')
    with pytest.raises(ShaderError, match="includes itself") as error:
        preprocess("x.frag", {})
    assert all(f"{name}.glsl" in str(error.value) for name in cycle)


def test_a_missing_include_is_named_with_the_line_that_asks_for_it(write: Write) -> None:
    write("include/a.glsl", '\n\n#include "nowhere.glsl"')
    write("x.frag", '#include "a.glsl"')
    with pytest.raises(ShaderError, match=r"shaders/include/a\.glsl, line 3: .*shaders/include/nowhere\.glsl"):
        preprocess("x.frag", {})


def test_a_missing_shader_is_named(write: Write, library: ShaderLibrary) -> None:
    with pytest.raises(ShaderError, match=r"shaders/nowhere\.frag: there is no such file"):
        library.program("fullscreen.vert", "nowhere.frag")


# Errors.


@pytest.mark.parametrize("in_include", [False, True])
def test_an_error_is_told_with_its_file_and_line(write: Write, library: ShaderLibrary, in_include: bool) -> None:
    broken = "float broken() {\n    return nowhere;\n}\n"
    write("include/a.glsl", broken if in_include else "// nothing\n")
    write("x.frag", '#include "a.glsl"\n' + ("" if in_include else broken) + FRAGMENT % "1.0")
    with pytest.raises(ShaderError) as error:
        library.program("fullscreen.vert", "x.frag")
    place = "shaders/include/a.glsl, line 2:" if in_include else "shaders/x.frag, line 3:"
    assert str(error.value).startswith(place)
    assert "nowhere" in str(error.value)


def test_an_error_in_the_vertex_shader_names_the_vertex_shader(write: Write, library: ShaderLibrary) -> None:
    write("broken.vert", VERTEX + "\nfloat x() { return nowhere; }")
    write("x.frag", FRAGMENT % "1.0")
    with pytest.raises(ShaderError, match=r"^shaders/broken\.vert, line 7:"):
        library.program("broken.vert", "x.frag")


def test_a_warning_before_an_error_is_not_taken_for_it(write: Write, library: ShaderLibrary) -> None:
    write("x.frag", "out vec4 colour;\nvoid main() {\n    float a;\n    colour = vec4(a);\n    b = 1.0;\n}\n")
    with pytest.raises(ShaderError, match=r"^shaders/x\.frag, line 5:.*['`\"]b['\"]"):
        library.program("fullscreen.vert", "x.frag")


def test_an_error_of_the_linker_names_its_shaders(write: Write, library: ShaderLibrary) -> None:
    """Mesa's linker names no line, and both shaders are named; NVIDIA's names one."""
    write("x.frag", "in float uv;\nout vec4 colour;\nvoid main() { colour = vec4(uv); }\n")
    with pytest.raises(ShaderError, match=r"fullscreen\.vert( \+ x\.frag|, line 1):"):
        library.program("fullscreen.vert", "x.frag")


# Programs.


SHADED = """#ifndef SHADE
#define SHADE 1
#endif
out vec4 colour;
void main() { colour = vec4(float(SHADE)); }
"""


def test_defines_choose_a_variant_and_keep_line_numbers(
    write: Write, library: ShaderLibrary, context: moderngl.Context
) -> None:
    write("x.frag", SHADED)
    programs = [library.program("fullscreen.vert", "x.frag", {"SHADE": n}) for n in (1, 0)]
    one, none = (Drawing(context, program) for program in programs)
    assert drawn(context, one) == (255,) * 4
    assert drawn(context, none) == (0,) * 4
    write("y.frag", SHADED.replace("float(SHADE)", "nowhere"))
    with pytest.raises(ShaderError, match=r"^shaders/y\.frag, line 5:"):
        library.program("fullscreen.vert", "y.frag", {"SHADE": 1})
    one.release()
    none.release()


def test_a_define_that_the_shaders_do_not_ask_about_is_an_error(write: Write, library: ShaderLibrary) -> None:
    write("x.frag", SHADED)
    with pytest.raises(ShaderError, match=r"x\.frag have no #ifndef SHAED"):
        library.program("fullscreen.vert", "x.frag", {"SHAED": 0})
    both = {"SHADE": 0, "OVERLAY": 1}
    assert library.variant("fullscreen.vert", "x.frag", both) is library.program(
        "fullscreen.vert", "x.frag", {"SHADE": 0}
    )
    with pytest.raises(ShaderError, match="OVERLAY"):
        library.variant("fullscreen.vert", "x.frag", both, both)


def test_uniforms_that_the_compiler_dropped_are_passed_over(write: Write, library: ShaderLibrary) -> None:
    write("x.frag", "uniform float unused;\nuniform sampler2D texel;\n" + FRAGMENT % "1.0")
    program = library.program("fullscreen.vert", "x.frag")
    program.set(unused=1.0)
    program.read({}, {})


def test_a_name_that_the_shaders_do_not_declare_is_an_error(
    write: Write, library: ShaderLibrary, context: moderngl.Context
) -> None:
    write("x.frag", "uniform sampler2D texel;\nuniform float shade;\n" + FRAGMENT % "texture(texel, vec2(shade))")
    program = library.program("fullscreen.vert", "x.frag")
    texture = context.texture((1, 1), 4)
    with pytest.raises(ShaderError, match=r"x\.frag declare no uniform shaed"):
        program.set(shaed=1.0)
    with pytest.raises(ShaderError, match=r"x\.frag declare no uniform txel"):
        program.bind(txel=texture)
    for textures, uniforms, missing in (({}, {"shade": 1.0}, "texel"), ({"texel": texture}, {}, "shade")):
        with pytest.raises(ShaderError, match=f"read what nobody gives them: {missing}"):
            program.read(textures, uniforms)  # type: ignore[arg-type]
    program.read({"texel": texture, "others": texture}, {"shade": 1.0, "more": 2})
    texture.release()


def test_a_reload_takes_up_a_change(write: Write, library: ShaderLibrary, context: moderngl.Context) -> None:
    write("include/shade.glsl", "const float shade = 0.0;")
    write("x.frag", '#include "shade.glsl"\n' + FRAGMENT % "shade")
    drawing = FullScreen(context, library, "x.frag")
    assert drawn(context, drawing) == (0,) * 4
    write("include/shade.glsl", "const float shade = 1.0;")
    assert drawn(context, drawing) == (0,) * 4
    assert library.reload() == ""
    assert drawn(context, drawing) == (255,) * 4
    drawing.release()


def test_a_failed_reload_keeps_all_programs_and_says_where_it_failed(
    write: Write, library: ShaderLibrary, context: moderngl.Context
) -> None:
    write("good.frag", FRAGMENT % "0.0")
    write("bad.frag", FRAGMENT % "0.0")
    drawings = [FullScreen(context, library, name) for name in ("good.frag", "bad.frag")]
    write("good.frag", FRAGMENT % "1.0")
    write("bad.frag", FRAGMENT % "nowhere")
    error = library.reload()
    assert error.startswith("shaders/bad.frag, line 2:") and "nowhere" in error
    assert [drawn(context, drawing) for drawing in drawings] == [(0,) * 4] * 2
    write("bad.frag", FRAGMENT % "1.0")
    assert library.reload() == ""
    assert [drawn(context, drawing) for drawing in drawings] == [(255,) * 4] * 2
    for drawing in drawings:
        drawing.release()


def test_a_reload_that_misses_a_file_keeps_the_program(
    write: Write, library: ShaderLibrary, context: moderngl.Context, tmp_path: Path
) -> None:
    write("x.frag", FRAGMENT % "1.0")
    drawing = FullScreen(context, library, "x.frag")
    (tmp_path / "x.frag").unlink()
    assert "shaders/x.frag" in library.reload()
    assert drawn(context, drawing) == (255,) * 4
    drawing.release()


@pytest.mark.usefixtures("compiled_anew")
def test_programs_that_were_not_used_for_long_make_room_and_come_back(
    write: Write, library: ShaderLibrary, context: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_PROGRAMS", 3)
    shade = (
        "#ifndef SHADE\n#define SHADE 0\n#endif\nuniform float more;\nout vec4 colour;\n"
        "void main() { colour = vec4(float(SHADE) / 255.0 + more); }\n"
    )
    write("x.frag", shade)
    drawings, objects = [], []
    for number in range(6):
        drawing = Drawing(context, library.program("fullscreen.vert", "x.frag", {"SHADE": number}))
        drawing.program.set(more=1.0 / 255.0)
        assert drawn(context, drawing) == (number + 1,) * 4
        drawings.append(drawing)
        objects.append(held().objects)
    assert objects[1] < objects[2] == objects[3] == objects[5], "no more than three, with their vertex arrays"
    for number, drawing in enumerate(drawings):
        drawing.program.set(more=1.0 / 255.0)
        assert drawn(context, drawing) == (number + 1,) * 4
    assert held().objects == objects[2]
    kept = drawings[3].program.gl
    drawings[0].program.set(more=0.0)
    drawings[1].program.set(more=0.0)
    assert drawings[3].program.gl is kept, "what was used of late stays"
    assert library.reload() == ""
    assert drawn(context, drawings[3]) == (3,) * 4
    for drawing in drawings:
        drawing.release()


# The shaders that ship.

SHIPPED = sorted(path.name for path in Path(str(files("shaders"))).glob("*.*") if path.suffix in (".vert", ".frag"))
OVERLAY_VARIANTS = [
    {"OVERLAY": overlay, "DETAIL_SCALES": scales}
    for overlay in (0, 1)
    for scales in sorted({level.detail_scales for level in LEVELS})
]


# Vertex shaders that draw parts of the screen, and what they are drawn with
PARTS = {
    "tiles.vert": ("terrain.frag", {"DEFERRED": 1, "STREAMS": 2, "BEACH": 1, "OVERLAY": 0, "FLOW_PATH": 0}),
    "block_shadow.vert": ("backdrop.frag", {"TABLE": 1, "SHADOW": 1}),
    "surroundings.vert": ("backdrop.frag", {"TABLE": 2, "FAR_LAND": 1}),
}


def vertex_shader_of(fragment: str) -> str:
    own = fragment.replace(".frag", ".vert")
    return own if own in SHIPPED else "fullscreen.vert"


def test_every_shipped_program_compiles(shaders: ShaderLibrary, subtests: pytest.Subtests) -> None:
    with_block = set()
    for fragment in (name for name in SHIPPED if name.endswith(".frag")):
        for defines in ({}, *OVERLAY_VARIANTS):  # a program has those that it knows, and is compiled once with them
            with subtests.test(fragment=fragment, **defines):
                program = shaders.variant(vertex_shader_of(fragment), fragment, defines).gl
                blocks = [program[name] for name in program if isinstance(program[name], moderngl.UniformBlock)]
                for block in blocks:
                    assert block.name == frame.BLOCK
                    assert block.binding == frame.BINDING
                    assert block.size == frame.LAYOUT.itemsize
                    with_block.add(fragment)
    assert {name for name in SHIPPED if name.endswith(".frag") and "frame." in module.read_shader(name)} <= with_block


def test_every_program_for_a_part_of_the_screen_compiles(shaders: ShaderLibrary, subtests: pytest.Subtests) -> None:
    for vertex, (fragment, defines) in PARTS.items():
        with subtests.test(vertex=vertex):
            assert shaders.program(vertex, fragment, defines).gl.glo


def test_every_shipped_vertex_shader_is_used_by_a_program() -> None:
    used = {vertex_shader_of(name) for name in SHIPPED if name.endswith(".frag")} | PARTS.keys()
    assert used == {name for name in SHIPPED if name.endswith(".vert")}


def test_shipped_shaders_stay_within_glsl_410() -> None:
    newer = re.compile(
        r"\b(?:layout\s*\([^)]*binding|buffer\s+\w+\s*\{|shared\s|imageLoad|imageStore|textureQueryLevels|textureGatherOffsets"
        r"|uniform\s+layout|gl_GlobalInvocationID)|#\s*(?:version|extension)"
    )
    for path in Path(str(files("shaders"))).rglob("*.*"):
        if path.suffix in (".vert", ".frag", ".glsl"):
            assert not newer.search(path.read_text(encoding="utf-8")), path.name


Defines = dict[str, int]


def variants_of(text: str) -> list[Defines]:
    """Defines of a shader: all of the largest values that its conditions tell apart, none, and each once smaller."""
    largest = {name: int(value) for name, value in re.findall(r"#ifndef (\w+)\n#define \1 (\d+)", text)}
    conditions = " ".join(re.findall(r"#(?:el)?if (.*)", text))
    for name, sign, value in re.findall(r"([A-Z_]+) (==|>) (\d+)", conditions):
        largest[name] = max(largest[name], int(value) + (sign == ">"))
    assert set(re.findall(r"[A-Z_]{2,}", conditions)) <= set(largest)
    plain = {name: 0 for name in ("OVERLAY", "FLOW_PATH") if name in largest}  # with them, much else is not drawn
    fullest = [largest, largest | plain]
    if "DEFERRED" in largest:
        deferred = largest | plain
        fullest = [each | {"DEFERRED": 0, "BEACH": 0, "STREAMS": 0} for each in fullest] + [deferred]
    smaller = [each | {name: value} for each in fullest for name in each for value in range(each[name])]
    chosen = [*fullest, dict.fromkeys(largest, 0), *smaller]
    return [defines for number, defines in enumerate(chosen) if defines not in chosen[:number]]


def branches(text: str, defines: Defines) -> set[tuple[int, bool]]:
    """The lines of a shader with a condition that is asked for these defines, each with its answer."""
    found, known = set(), dict(defines)
    open_conditions: list[tuple[bool, bool]] = []  # whether what follows is compiled, and whether something was
    for number, line in enumerate(text.splitlines()):
        word, _, rest = line.strip().partition(" ")
        compiled = all(here for here, _ in open_conditions)
        if word in ("#if", "#elif"):
            before = open_conditions.pop()[1] if word == "#elif" else False
            asked = all(here for here, _ in open_conditions) and not before
            condition = re.sub(r"//.*", "", rest).replace("&&", " and ").replace("||", " or ")
            answer = asked and bool(eval(condition, {}, known))
            found |= {(number, answer)} if asked else set()
            open_conditions.append((answer, before or answer))
        elif word in ("#ifdef", "#ifndef"):
            answer = (rest.split()[0] in known) == (word == "#ifdef")
            open_conditions.append((answer, answer))
        elif word == "#else":
            open_conditions.append((not open_conditions.pop()[1], True))
        elif word == "#endif":
            open_conditions.pop()
        elif word in ("#define", "#undef") and compiled:
            name, *value = rest.split()
            known[name] = int(value[0]) if value and value[0].isdigit() else 0
    return found


def covering(text: str) -> list[Defines]:
    """Of the variants of a shader those that, from the fullest on, compile a branch that none before does."""
    chosen, seen = [], set[tuple[int, bool]]()
    for defines in variants_of(text):
        if not (found := branches(text, defines)) <= seen:
            seen |= found
            chosen.append(defines)
    return chosen


def test_branches_are_those_of_the_preprocessor() -> None:
    text = "#if A > 1\n#if B == 1\n#endif\n#elif A == 1 && B == 0  // or\n#else\n#if B == 0 || A == 7\n#endif\n#endif"
    assert branches(text, {"A": 2, "B": 1}) == {(0, True), (1, True)}
    assert branches(text, {"A": 1, "B": 0}) == {(0, False), (3, True)}
    assert branches(text, {"A": 0, "B": 0}) == {(0, False), (3, False), (5, True)}


def test_no_stage_reads_more_textures_than_every_driver_has(
    context: moderngl.Context, subtests: pytest.Subtests
) -> None:
    """In the check, of variants that lead to each branch of each shader; at night, of all."""
    folder = Path(str(files("shaders")))
    for path in sorted(path for path in folder.rglob("*.*") if path.suffix in (".vert", ".frag")):
        name = path.relative_to(folder).as_posix()
        text = "".join(f"{line.text}\n" for line in preprocess(name, {frame.INCLUDE: frame.glsl()}))
        with subtests.test(name=name):
            for defines in variants_of(text) if is_nightly() else covering(text):
                head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
                samplers = gl.active_samplers(path.suffix, f"{module.VERSION}\n{head}{text}")
                assert len(samplers) <= MOST_SAMPLERS, (defines, samplers)


# The frame block.


def test_the_frame_block_lies_in_memory_as_the_driver_expects(shaders: ShaderLibrary) -> None:
    program = shaders.program("terrain.vert", "terrain.frag", {"OVERLAY": 1, "DETAIL_SCALES": 1}).gl
    names = [name for name, _, _ in frame.FIELDS]
    offsets = gl.uniform_offsets(program.glo, [f"{frame.BLOCK}.{name}" for name in names])
    fields = frame.LAYOUT.fields
    assert fields is not None
    assert offsets == [fields[name][1] for name in names]


def test_each_value_of_the_frame_block_arrives_in_a_shader(
    write: Write, context: moderngl.Context, frame_block: frame.FrameBlock
) -> None:
    sums = [
        f"frame.{name}[3][3] + frame.{name}[1][2]" if kind == "mat4" else f"dot(frame.{name}, vec4(1, 10, 100, 1000))"
        for name, kind, _ in frame.FIELDS
    ]
    cases = "".join(f"if (n == {number}) v = {value};\n" for number, value in enumerate(sums))
    write("x.frag", f'#include "{frame.INCLUDE}"\nout vec4 colour;\n'
          f"void main() {{ int n = int(gl_FragCoord.x); float v = -1.0;\n{cases} colour = vec4(v); }}\n")  # fmt: skip
    library = ShaderLibrary(context, {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
    expected = []
    for number, (name, kind, _) in enumerate(frame.FIELDS):
        values = np.arange(16 if kind == "mat4" else 4) + 20 * number
        frame_block.values[name] = values
        # NumPy's rows are GLSL's columns: m[3][3] is element 15, m[1][2] element 6.
        expected.append(values[15] + values[6] if kind == "mat4" else values @ (1, 10, 100, 1000))
    frame_block.upload()
    texture = context.texture((len(frame.FIELDS), 1), 1, dtype="f4")
    target = context.framebuffer([texture])
    drawing = FullScreen(context, library, "x.frag")
    before = context.fbo
    drawing.draw(target)
    before.use()
    assert np.frombuffer(texture.read(), np.float32).tolist() == expected
    for part in (drawing, library, target, texture):
        part.release()

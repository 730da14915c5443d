"""The cost of a picture for a graphics card: draws and texture reads, counted while drawing.

Every shader is compiled anew with a count of the reads that it makes, through all its loops and branches; each drawn
fragment adds its own to a buffer. So it needs no card, but OpenGL 4.3.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import moderngl
import numpy as np

from app.cli.headless import scene_camera
from app.model.errors import UserError
from app.model.snapshot import Snapshot
from app.picture.canvas import Canvas
from app.picture.passes import unlocked
from app.picture.passes.shaders import VERSION, ShaderLibrary
from app.picture.passes.targets import release_all
from app.picture.picture import Picture
from app.scene.scene import Scene

COUNTS_FROM, VERSION_THAT_COUNTS = 430, "#version 430 core"
_READ = re.compile(r"\b(texture|textureLod|textureGrad|textureGather|texelFetch)\s*\(")
_PLACES = ("vec2", "vec3", "vec4", "ivec2", "ivec3")  # what a read may say of where
_COUNTER = "uint counted_reads = 0u;\n" + "".join(
    f"{kind} counted({kind} place) {{ counted_reads += 1u; return place; }}\n" for kind in _PLACES
)
_SUMS = """
layout(std430, binding = 0) buffer CountedSums { uint reads; uint fragments; } counted_sums;
void main() {
    counted_main();
    atomicAdd(counted_sums.reads, counted_reads);
    atomicAdd(counted_sums.fragments, 1u);
}
"""


class Budget(NamedTuple):
    """What was counted over some draws."""

    draws: int
    fragments: int
    reads: int  # of textures


def with_counts(fragment: str) -> str:
    """A fragment shader that counts, from the text of one without its version."""
    # Fragments that others hide are not shaded, as in the shader itself; unless it drops some of its own.
    early = "" if re.search(r"\bdiscard\b", fragment) else "layout(early_fragment_tests) in;\n"
    body = re.sub(r"\bvoid\s+main\s*\(\s*(void)?\s*\)", "void counted_main()", _with_counted_reads(fragment))
    return f"{VERSION_THAT_COUNTS}\n{early}{_COUNTER}{body}{_SUMS}"


def _with_counted_reads(text: str) -> str:
    """Each read's second argument goes through `counted`."""
    parts, at = [], 0
    while match := _READ.search(text, at):
        commas, end = _arguments(text, match.end())
        start = commas[0] + 1
        stop = commas[1] if len(commas) > 1 else end
        parts += [text[at:start], " counted(", _with_counted_reads(text[start:stop]), ")"]
        at = stop
    return "".join([*parts, text[at:]])


def _arguments(text: str, start: int) -> tuple[list[int], int]:
    """Where the commas between a call's arguments are, of which the first begins at `start`, and its parenthesis."""
    depth, commas = 0, list[int]()
    for place in range(start, len(text)):
        letter = text[place]
        if letter == ")" and depth == 0:
            return commas, place
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            commas.append(place)
    raise UserError(f"a call without its end: {text[start : start + 40]}")


class _CountingShaders(ShaderLibrary):
    """Programs whose fragments count."""

    def _link(self, vertex: str, fragment: str) -> moderngl.Program:
        return super()._link(vertex, with_counts(fragment.removeprefix(VERSION)))


def budget(context: moderngl.Context, scene: Scene, snapshot: Snapshot, size: tuple[int, int]) -> Budget | None:
    """Of a frame of a scene once its maps are there; None where OpenGL cannot count."""
    if context.version_code < COUNTS_FROM:
        return None
    picture, canvas = Picture(context, bake_at_once=True, library=_CountingShaders), Canvas(context)
    sums = context.buffer(reserve=8)
    picture.show(snapshot)
    camera = scene_camera(scene, snapshot)

    def draw() -> Budget:
        sums.clear()
        sums.bind_to_storage_buffer(0)
        before = unlocked.draws
        picture.draw(canvas.framebuffer(*size), camera, scene, minimap=scene.view.minimap)
        context.finish()
        reads, fragments = np.frombuffer(sums.read(), np.uint32).tolist()
        return Budget(unlocked.draws - before, fragments, reads)

    try:
        draw()  # which makes the maps
        return draw()
    finally:
        release_all(picture, canvas, sums)

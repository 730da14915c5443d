"""Joints that part rock into blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes import shaders as module
from app.picture.passes.frame import FrameBlock
from app.picture.passes.frame_values import way_across_beds
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from tests.passes.test_maps import texels

PROBE = """#include "clefts.glsl"
uniform mat3 over;  // a place, east and south of the picture to places in cells
uniform float shattered;
in vec2 uv;
out vec4 result;
void main() {
    vec3 at = over * vec3(1.0, uv);
    Clefts clefts = clefts_at(at, vec3(0.0), mat2x3(dFdx(at), dFdy(at)), shattered);
    result = vec4(clefts.tone, clefts.open, tilted_by(clefts.lean, vec2(0.5, 3.0)));
}
"""
SIDE = 192
EAST, SOUTH, DOWN = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)
Probe = Callable[..., NDArray[np.float32]]


@pytest.fixture
def probe(
    context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Probe]:
    """What a square of so many cells shows, along two directions: tone, clefts, change of slope."""
    frame_block.values["beds"] = way_across_beds(math.inf)
    frame_block.upload()
    read = module.read_shader
    monkeypatch.setattr(module, "read_shader", lambda name: PROBE if name == "probe.frag" else read(name))
    drawing = FullScreen(context, shaders, "probe.frag")
    target = context.texture((SIDE, SIDE), 4, dtype="f4")
    framebuffer = context.framebuffer([target])

    def draw(cells: float, along: tuple[float, ...], down: tuple[float, ...], shattered: float = 0.5) -> NDArray:
        drawing.program.set(
            over=(310.0, 40.0, 270.0, *(cells * x for x in along), *(cells * x for x in down)), shattered=shattered
        )
        before = context.fbo
        drawing.draw(framebuffer)
        before.use()
        return texels(target)

    yield draw
    for made in (framebuffer, target, drawing):
        made.release()


@pytest.mark.parametrize("cells", [6.0, 20.0, 65.0])
def test_blocks_have_even_tones_and_edges_at_all_sizes(probe: Probe, cells: float) -> None:
    """However near they are, some are a few pixels wide."""
    tone = probe(cells, EAST, DOWN)[..., 0]
    for axis in (0, 1):
        steps = np.abs(np.diff(tone, axis=axis))
        edges = steps > 0.01
        assert 0.04 < edges.mean() < 0.7
        assert (steps < 1e-5).mean() > 0.15, "between them it is even"


def test_blocks_are_not_drawn_out_on_a_wall_that_faces_any_way(probe: Probe) -> None:
    for angle in range(0, 180, 30):
        along = (math.cos(math.radians(angle)), 0.0, math.sin(math.radians(angle)))
        tone = probe(20.0, along, DOWN)[..., 0]
        across, down = ((np.abs(np.diff(tone, axis=axis)) > 0.01).mean() for axis in (1, 0))
        assert 0.4 < down / across < 2.5


def test_faces_of_one_bed_lean_alike(probe: Probe) -> None:
    """Beds stand out as ledges: rows that follow one differ from each other more than columns do."""
    east, _, south, _ = way_across_beds(math.inf)
    level = math.hypot(east, south)
    lean = probe(30.0, (-south / level, 0.0, east / level), DOWN)[..., 3]
    rows, columns = (np.abs(np.diff(lean.mean(axis=axis))).mean() for axis in (1, 0))
    assert rows > 4.0 * columns


def test_blocks_finer_than_pixels_are_not_seen(probe: Probe) -> None:
    assert np.abs(probe(4000.0, EAST, SOUTH)).max() == 0.0


def test_shattered_rock_has_wider_clefts_than_massive_rock(probe: Probe) -> None:
    massive, shattered = (probe(20.0, EAST, SOUTH, part)[..., 1].mean() for part in (0.0, 1.0))
    assert shattered > 1.3 * massive > 0.0


def test_no_face_changes_a_slope_without_end(probe: Probe) -> None:
    change = probe(20.0, EAST, DOWN, 1.0)[..., 2:]
    assert 0.5 < np.abs(change).max() < 1.2 * (1.0 + math.hypot(0.5, 3.0)) + 1e-3

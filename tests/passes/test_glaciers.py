"""What glaciers look like, by the layers of their process: firn, crevasses where ice stretches, rock on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from app.picture.passes.frame import FrameBlock
from app.picture.passes.glaciers import FINER, GlaciersMap
from app.picture.passes.maps import LayerTextures, SurfaceMap
from app.picture.passes.shaders import ShaderLibrary
from tests.passes.worlds import snapshot

ROWS, COLUMNS, CELL = 48, 40, 100.0
FALL = 0.1  # to the south
THICK = 150.0  # metres, in the middle of a glacier


@pytest.fixture
def glaciers(context: moderngl.Context, shaders: ShaderLibrary, frame_block: FrameBlock) -> Iterator[GlaciersMap]:
    frame_block.values["map"] = (COLUMNS, ROWS, CELL, 1.0)
    frame_block.upload()
    made = GlaciersMap(context, shaders)
    yield made
    made.release()


def drawn(
    context: moderngl.Context,
    shaders: ShaderLibrary,
    glaciers: GlaciersMap,
    thick: NDArray[np.float64] | float = THICK,
    runoff: float = 2.0,
    speed: NDArray[np.float64] | float = 50.0,
    debris: float = 20.0,
) -> NDArray[np.float64]:
    """Ice, firn, crevasses and rock where the surface falls to the south, [row of texels, column, 4]."""
    bed = np.repeat(FALL * CELL * np.arange(ROWS)[::-1, None], COLUMNS, axis=1) - thick
    traces = {"ice": thick, "ice_speed": speed, "ice_debris": debris, "ice_runoff": runoff, "burden": thick}
    layers = {name: np.broadcast_to(np.float32(value), (ROWS, COLUMNS)).copy() for name, value in traces.items()}
    made = snapshot(bed, cell_size=CELL)
    shown = replace(made, layers={**made.layers, **layers}, versions={**made.versions, **dict.fromkeys(layers, 0)})
    textures, surface, before = LayerTextures(context), SurfaceMap(context, shaders), context.fbo
    surface.update(shown, textures.upload(shown))
    glaciers.forget()
    glaciers.update(shown, textures, surface.texture)
    before.use()
    width, height = glaciers.texture.size
    assert (width, height) == (FINER * COLUMNS, FINER * ROWS)
    found = np.frombuffer(glaciers.texture.read(), np.uint8).reshape(height, width, 4) / 255.0
    textures.release()
    surface.release()
    return found


def test_firn_lies_where_more_falls_than_melts_and_hides_rock(
    context: moderngl.Context, shaders: ShaderLibrary, glaciers: GlaciersMap
) -> None:
    firn = drawn(context, shaders, glaciers, runoff=0.3)
    assert firn[..., 1].min() == 1.0 and firn[..., 3].max() == 0.0
    bare = drawn(context, shaders, glaciers, runoff=4.0)
    assert bare[..., 1].max() == 0.0 and bare[..., 3].mean() > 0.3


def test_thin_ice_hides_less(context: moderngl.Context, shaders: ShaderLibrary, glaciers: GlaciersMap) -> None:
    none, thin, thick = (drawn(context, shaders, glaciers, depth)[..., 0].mean() for depth in (0.0, 5.0, THICK))
    assert none == 0.0 < thin < 0.3 < 0.85 < thick


def test_thick_ice_has_crevasses_where_it_becomes_faster(
    context: moderngl.Context, shaders: ShaderLibrary, glaciers: GlaciersMap
) -> None:
    down = np.arange(ROWS)[:, None] * np.ones(COLUMNS)
    faster = 20.0 + 20.0 * np.clip(down - 20.0, 0.0, 8.0)  # m/year: by 0.2 a year in eight cells
    inner = slice(FINER * 22, FINER * 27)
    assert drawn(context, shaders, glaciers, speed=faster)[inner, 8:-8, 2].min() > 0.9
    assert drawn(context, shaders, glaciers, speed=faster)[: FINER * 18, 8:-8, 2].max() == 0.0
    assert drawn(context, shaders, glaciers, speed=faster[::-1])[8:-8, 8:-8, 2].max() == 0.0, "it is pressed together"
    assert drawn(context, shaders, glaciers, 5.0, speed=faster)[..., 2].max() == 0.0


def test_rock_on_ice_lies_in_bands_along_the_flow(
    context: moderngl.Context, shaders: ShaderLibrary, glaciers: GlaciersMap
) -> None:
    """That of walls which crumble: from below them on, in as many columns; there is none where ice has no debris."""
    thick = np.full((ROWS, COLUMNS), THICK)
    thick[:8] = 0.0
    rock = drawn(context, shaders, glaciers, thick, runoff=1.2)[FINER * 12 : FINER * 28, :, 3]
    along, across = np.abs(np.diff(rock, axis=0)).mean(), np.abs(np.diff(rock, axis=1)).mean()
    assert rock.max() > 0.7 and rock.min() < 0.15
    assert along < 0.3 * across
    assert drawn(context, shaders, glaciers, thick, runoff=1.2, debris=0.0)[..., 3].max() == 0.0

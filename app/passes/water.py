"""Standing water: lakes, each at its own level, and the sea, which goes on to the horizon."""

from __future__ import annotations

import math

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.passes.quality import Quality
from app.passes.shaders import Drawing, ShaderLibrary
from app.passes.waves import NATURAL, NO_WAVES
from app.passes.wind_waves import wind_waves_texture
from app.snapshot import Snapshot

TILE = 16  # cells along a side of the squares that lakes are drawn in
SOURCE_1_COLOUR = 0x88F9  # GL_SRC1_COLOR, which moderngl has no name for


def lake_tiles(snapshot: Snapshot, of: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """The squares of `TILE` cells that lakes lie in, once for each level: float32 `[n, (column, row, level)]`.

    A square reaches from the middle of its first cells to that of its neighbour's first cells. `of` tells for each cell
    whether its lake counts; without it, all do.
    """
    layers = snapshot.layers
    if "water_level" not in layers:
        return np.empty((0, 3), np.float32)
    level = layers["water_level"]
    lake = (layers["water"] > 0.0) & (level != np.float32(snapshot.sea_level))
    if of is not None:
        lake &= of
    # A cell beside one of the same lake in the same tile adds nothing.
    fresh = lake.copy()
    fresh[:, 1:] &= ~(lake[:, :-1] & (level[:, 1:] == level[:, :-1]))
    for first in (0, 1):  # cells that a tile begins with are the end of the one before, too
        fresh[:, first::TILE] |= lake[:, first::TILE]
    row, column = np.nonzero(fresh)
    keys = []
    across = -(-level.shape[1] // TILE)
    for rows_back in (0, 1):
        for columns_back in (0, 1):
            # Tiles that this cell is in: its own, and those that it ends.
            ends = ((row % TILE == 0) | (rows_back == 0)) & ((column % TILE == 0) | (columns_back == 0))
            tile_row, tile_column = row[ends] // TILE - rows_back, column[ends] // TILE - columns_back
            on_map = (tile_row >= 0) & (tile_column >= 0)
            number = (tile_row * across + tile_column).astype(np.uint64)[on_map]
            bits = level[row[ends], column[ends]].view(np.uint32)[on_map]
            keys.append((number << np.uint64(32)) | bits)
    key = np.unique(np.concatenate(keys))
    number = (key >> np.uint64(32)).astype(np.int64)
    levels = (key & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    return np.column_stack([number % across * TILE, number // across * TILE, levels]).astype(np.float32)


def blend_by_colour(context: moderngl.Context) -> None:
    """Let what is drawn from now on keep a part of each colour that is there: water takes red first."""
    context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
    context.depth_func = "<="
    context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
    context.blend_func = moderngl.ONE, SOURCE_1_COLOUR


class LakeTiles:
    """Tiles of lakes as the shaders read them, one for each instance."""

    def __init__(self, context: moderngl.Context) -> None:
        self.buffer = context.buffer(reserve=1024, dynamic=True)
        self.number = 0

    def write(self, tiles: NDArray[np.float32]) -> None:
        self.number = len(tiles)
        if tiles.nbytes > self.buffer.size:
            self.buffer.orphan(2 * tiles.nbytes)
        if self.number:
            self.buffer.write(tiles)

    def release(self) -> None:
        self.buffer.release()


class WaterPass:
    """Lays water over the ground that has been drawn; draws nothing where there is none."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._waves = wind_waves_texture(context)
        self._tiles = {False: LakeTiles(context), True: LakeTiles(context)}  # by whether waves can come up on them
        self._has_sea = False
        self._level_is_known = False
        self._version: tuple[int, int] | None = None
        self._drawings: dict[tuple[object, ...], Drawing] = {}

    @property
    def is_seen(self) -> bool:
        """Whether there is any."""
        return self._has_sea or any(tiles.number for tiles in self._tiles.values())

    def show(self, snapshot: Snapshot, wide: NDArray[np.bool_]) -> None:
        """Take note of where the water of a snapshot stands; `wide` are the cells of waters `with_waves`."""
        self._has_sea = math.isfinite(snapshot.sea_level)
        self._level_is_known = "water_level" in snapshot.layers
        version = (snapshot.world, snapshot.versions.get("water_level", -1))
        if version != self._version:
            self._version = version
            self._tiles[True].write(lake_tiles(snapshot, wide))
            self._tiles[False].write(lake_tiles(snapshot, ~wide))

    def draw(
        self,
        quality: Quality,
        *,
        with_overlay: bool,
        with_course: bool,
        with_materials: bool,
        with_life: bool,
        with_dust: bool,
        waves: int,
        **textures: moderngl.Texture,
    ) -> None:
        blend_by_colour(self._context)
        look = (
            f"STORM {int(with_dust)}",
            f"OVERLAY {int(with_overlay)}",
            f"LINES {int(with_course)}",
            f"FINE_WATER {int(quality.fine_water)}",
            f"MATERIALS {int(with_materials)}",  # of the land that is mirrored
            f"LIVING {int(with_life)}",
            "DESERT 0",
        )
        if self._has_sea and quality.fine_water:
            self._prepared("water", ("SEA 1", f"WAVES {waves}", *look), None, textures).render(vertices=12)
        elif self._has_sea:
            # Natural waves are on the map alone, and around it there is no bed: one shader would have to do both.
            outside = NO_WAVES if waves == NATURAL else waves
            self._prepared("water", ("SEA 1", "PART 1", f"WAVES {waves}", *look), None, textures).render(vertices=6)
            self._prepared("water", ("SEA 1", "PART 2", f"WAVES {outside}", *look), None, textures).render(vertices=24)
        for wide, tiles in self._tiles.items():
            if not tiles.number:
                continue
            # A drawing of the sea leaves puddles out; else they are drawn as if there were no waves anywhere.
            drawn = NO_WAVES if waves == NATURAL and not wide else waves
            lakes = self._prepared("water", ("SEA 0", f"WAVES {drawn}", *look), tiles, textures)
            lakes.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=tiles.number)
            self._prepared("lake_sides", look[:1], tiles, textures).render(vertices=24, instances=tiles.number)

    def _prepared(
        self,
        name: str,
        defines: tuple[str, ...],
        tiles: LakeTiles | None,
        textures: dict[str, moderngl.Texture],
    ) -> Drawing:
        """The drawing of two shaders of that name, with all that they read."""
        key = (name, tiles, *defines)
        if key not in self._drawings:
            program = self._shaders.program(f"{name}.vert", f"{name}.frag", defines)
            buffers = [] if tiles is None else [(tiles.buffer, "3f/i", "lake")]
            self._drawings[key] = Drawing(self._context, program, buffers)
        drawing = self._drawings[key]
        _, _, width, height = self._context.viewport
        drawing.program.bind(wind_waves=self._waves, **textures)
        drawing.program.set(
            tile=float(TILE), scene_size=(float(width), float(height)), level_is_known=self._level_is_known
        )
        return drawing

    def release(self) -> None:
        for drawing in self._drawings.values():
            drawing.release()
        for tiles in self._tiles.values():
            tiles.release()
        self._waves.release()

"""Maps of streams and of distant water, drawn only where there is water."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.overlays import largest
from app.model.snapshot import SURVEYED_FLOW, SURVEYED_WAY, Snapshot
from app.picture.passes.blocks import PATCH, corners_of, in_whole_blocks, joined, reduce_blocks
from app.picture.passes.maps import LayerTextures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import NO_DEFINES, Drawing, FullScreen, ShaderLibrary
from app.picture.passes.shore_blocks import with_those_around
from app.picture.passes.standing_water import RUNNING
from app.picture.passes.targets import EXACT, MIPMAPPED, GrowingBuffer, MapTarget, release_all
from app.picture.passes.wet_mark import WetMark
from kernels.hydraulic_geometry import channel_width

BESIDE_ITS_CELL = 0.4  # cells: largest distance of the curve and the bent banks of a stream from its cell
WITH_BARS, BARS_SPARED = 1.5, 0.5  # half widths to which bars of wide rivers reach; cells where there are none
# Rivers of such half widths, in cells, are drawn straighter than they run from cell to cell: their windings are evened
# over so many cells up and down, and over more where the land beside is higher by at most this part of their depth.
# They stay within the first distance of the middle of their cell, in cells, and where straightened within the second.
WIDE = 0.2, 0.6
EVENED, STRAIGHTENED = 3, 8
HARDLY_HIGHER = 0.6
FARTHEST_EVENED, FARTHEST_STRAIGHTENED = 0.48, 1.9
PLUME_REACH = 8  # cells over which the plume of a river in a lake is visible
WIDEST_REACH = 6  # cells: half of the largest width of drawn streams
SIDE = 4  # cells per side of the blocks in which maps are drawn or skipped
# Where threads begin, as a fraction of the smallest visible discharge; the same as in river_points.frag.
THREADS_FROM = 0.25
NOWHERE_NEAR = 1.2  # metres above water: the value for places without water nearby


class Blocks(NamedTuple):
    """Blocks of `SIDE` × `SIDE` cells, `[row, column]`, in which maps are drawn: there is no water elsewhere."""

    of_streams: NDArray[np.bool_]  # with streams
    beside_streams: NDArray[np.bool_]  # within their width
    beside_water: NDArray[np.bool_]  # others with standing water in or beside them


class FlowMap:
    """Maps of streams: courses, their cover as seen from afar, directions, and height above nearby water."""

    STREAM_LAYERS = (SURVEYED_FLOW, SURVEYED_WAY)

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._find_points = BlocksDrawing(context, shaders, "river_points.frag")
        self._join = BlocksDrawing(context, shaders, "rivers.frag")
        self._join_plainly = BlocksDrawing(context, shaders, "rivers.frag", {"BENDS": 0})
        plumes = {"PLUME_REACH": PLUME_REACH}
        self._find_mouths = FullScreen(context, shaders, "river_mouths.frag", plumes)
        self._dry = FullScreen(context, shaders, "dry_land.frag")
        self._blur = BlocksDrawing(context, shaders, "flow.frag", plumes)
        self._blur_standing = BlocksDrawing(context, shaders, "flow.frag", {**plumes, "RUNNING": 0})
        self._points = MapTarget(context, (4, "f4"), filter=EXACT)
        self._rivers = MapTarget(context, (4, "f4"), filter=EXACT)
        self._mouths = MapTarget(context, (1, "f1"), filter=EXACT)
        self._flow = MapTarget(context, (4, "f2"), filter=MIPMAPPED)
        self._mipmaps = Mipmaps(context, shaders)
        self._wet_mark = WetMark(context, shaders)
        self._drawn: tuple[object, ...] | None = None
        self._mark_drawn = 0  # the version of the wet mark
        self.is_behind = False  # whether the maps show an earlier state of the land
        self._streams: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None  # `of_streams` and `beside_streams`
        self._streams_noted: tuple[object, ...] | None = None
        self.stream_patches = np.zeros((0, 0), bool)  # `patches_with_streams` of the map that is shown
        self.reach = 1  # half of the neighbourhood in cells that is searched for the widest stream

    @property
    def texture(self) -> moderngl.Texture:
        return self._flow.texture()

    @property
    def rivers(self) -> moderngl.Texture:
        return self._rivers.texture()

    @property
    def drawn(self) -> tuple[object, ...] | None:
        """The key of the drawn map, but for what dries on it."""
        return self._drawn

    def update(
        self,
        snapshot: Snapshot,
        layers: LayerTextures,
        surface: moderngl.Texture,
        wet: NDArray[np.bool_],
        smallest: float,
        width: float,
        *,
        fine: bool,
        may_wait: bool,
    ) -> None:
        """Redraw the maps after a change of a layer, or of the style of streams.

        Water stands in the `wet` cells, `[row, column]`. `smallest` is the discharge of the smallest visible stream in
        m³/s, and `width` the width of a stream of 1 m³/s in metres. Where they are `fine`, rivers are visible in lakes,
        and their bends are told, in which bars lie. Where they `may_wait`, they show the land as it was before.
        """
        rows, columns = snapshot.shape
        fits = [target.fit((columns, rows)) for target in (self._points, self._rivers, self._flow)]
        fits.append(self._mouths.fit((-(-columns // PLUME_REACH), -(-rows // PLUME_REACH))))
        if any(fits):
            self.forget()
        style = (snapshot.world, smallest, width, fine)
        self.is_behind = may_wait and self._drawn is not None and self._drawn[: len(style)] == style
        if self.is_behind:
            return
        self._wet_mark.update(snapshot, layers, surface)
        ground = (snapshot.ground_version, snapshot.sea_level, snapshot.versions.get("water"))
        layered = (snapshot.versions.get(name) for name in self.STREAM_LAYERS)
        wanted = (*style, *ground, *layered)
        if wanted == self._drawn and self._mark_drawn == self._wet_mark.version:
            return
        self._drawn, self._mark_drawn = wanted, self._wet_mark.version
        self.reach = reach_of(largest(snapshot, SURVEYED_FLOW), width, snapshot.cell_size)
        blocks = self._blocks(snapshot, wet, smallest)
        self.stream_patches = patches_with_streams(blocks.beside_streams)
        streams = {name: layers.texture(name) for name in self.STREAM_LAYERS}
        water = layers.texture("water")
        for target in (self._points, self._rivers):
            target.framebuffer.use()  # a clear is limited to the viewport of the target in use
            target.framebuffer.clear()
        self._find_points.program.set(
            river_reach=self.reach,
            found_beside=BESIDE_ITS_CELL,
            bars=(WITH_BARS, BARS_SPARED),
            wide_from=WIDE,
            evened_over=EVENED,
            straightened_over=STRAIGHTENED,
            hardly_higher=HARDLY_HIGHER,
            farthest=(FARTHEST_EVENED, FARTHEST_STRAIGHTENED),
        )
        self._find_points.program.bind(surface=surface, water=water, **streams)
        # Include blocks where streams have become too small to be visible.
        self._find_points.draw(self._points.framebuffer, blocks.beside_streams)
        join = self._join if fine else self._join_plainly
        join.program.bind(points=self._points.texture(), **streams)
        join.draw(self._rivers.framebuffer, blocks.of_streams)
        courses = {"surface": surface, "water": water, "rivers": self.rivers, **streams}
        if fine:
            self._find_mouths.program.bind(
                **{name: courses[name] for name in ("surface", "water", "rivers", SURVEYED_WAY)}
            )
            self._find_mouths.draw(self._mouths.framebuffer)
        self._dry.program.set(nowhere_near=NOWHERE_NEAR)
        self._dry.program.bind(surface=surface, wet_mark=self._wet_mark.texture)
        self._dry.draw(self._flow.framebuffer)
        for drawing, where in ((self._blur, blocks.beside_streams), (self._blur_standing, blocks.beside_water)):
            drawing.program.set(river_reach=self.reach, with_plumes=fine, nowhere_near=NOWHERE_NEAR)
            drawing.program.bind(
                mouths=self._mouths.texture(),
                wet_mark=self._wet_mark.texture,
                froude=layers.texture(RUNNING),
                **courses,
            )
            drawing.draw(self._flow.framebuffer, where)
        self._mipmaps.build(self.texture)

    def forget(self) -> None:
        """Force a redraw."""
        self._drawn = None

    def release(self) -> None:
        self.forget()
        targets = (self._points, self._rivers, self._mouths, self._flow)
        release_all(
            *targets,
            self._mipmaps,
            self._wet_mark,
            self._find_points,
            self._join,
            self._join_plainly,
            self._find_mouths,
            self._dry,
            self._blur,
            self._blur_standing,
        )

    def _blocks(self, snapshot: Snapshot, wet: NDArray[np.bool_], smallest: float) -> Blocks:
        noted = (snapshot.world, smallest, self.reach, *(snapshot.versions.get(name) for name in self.STREAM_LAYERS))
        if self._streams is None or self._streams_noted != noted:
            runs = stream_cells(snapshot, smallest)
            self._streams = _in_blocks(runs), _in_blocks(with_those_around(runs, np.logical_or, self.reach))
            self._streams_noted = noted
        beside_water = _in_blocks(with_those_around(wet, np.logical_or))
        return Blocks(*self._streams, beside_water & ~self._streams[1])


def patches_with_streams(blocks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which patches of `PATCH` × `PATCH` cells hold a stream or lie beside one, `[row, column]` of patches.

    The map tells of streams in these `blocks` of `SIDE` × `SIDE` cells, and its smaller images in those around.
    """
    side = PATCH // SIDE
    around = with_those_around(blocks, np.logical_or)
    return np.asarray(reduce_blocks(in_whole_blocks(around, side, False), side, np.logical_or))


class BlocksDrawing:
    """A fragment shader over some blocks of a map."""

    def __init__(
        self, context: moderngl.Context, shaders: ShaderLibrary, fragment: str, defines: Mapping[str, int] = NO_DEFINES
    ) -> None:
        self._context = context
        self._corners, self._indices = GrowingBuffer(context), GrowingBuffer(context)
        self.program = shaders.program("tiles.vert", fragment, defines)
        self._drawing = Drawing(context, self.program, [(self._corners.buffer, "2f", "corner")], self._indices.buffer)

    def draw(self, target: moderngl.Framebuffer, blocks: NDArray[np.bool_]) -> None:
        """Draw the blocks that are true."""
        if not blocks.any():
            return
        target.use()
        corners, indices = corners_of(joined(blocks), SIDE, target.size)
        self._corners.write(corners)
        self._indices.write(indices)
        self._context.enable_only(moderngl.NOTHING)
        self._context.blend_func = moderngl.ONE, moderngl.ZERO  # see FullScreen
        self._drawing.render(vertices=indices.size)

    def release(self) -> None:
        release_all(self._drawing, self._corners, self._indices)


def stream_cells(snapshot: Snapshot, smallest: float) -> NDArray[np.bool_]:
    """The cells of visible streams, `[row, column]`; the `smallest` of them has this discharge."""
    flow, way = (snapshot.layers.get(name) for name in FlowMap.STREAM_LAYERS)
    if flow is None:
        return np.zeros(snapshot.shape, bool)
    runs = flow > smallest
    if way is not None:
        runs |= (way < 0.0) & (flow > THREADS_FROM * smallest)
    return np.asarray(runs)


def reach_of(discharge: float, width: float, cell_size: float) -> int:
    """The distance in cells at which a stream of this discharge can have its centreline and still cover a place."""
    return reach_of_half_width(0.5 * channel_width(max(discharge, 0.0), width) / cell_size)


def reach_of_half_width(half_width: float) -> int:
    """The same, of one whose half width is given in cells."""
    return min(max(math.ceil(max(half_width, WITH_BARS * half_width - BARS_SPARED) + BESIDE_ITS_CELL), 1), WIDEST_REACH)


def _in_blocks(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The blocks that contain any of these cells."""
    return np.asarray(reduce_blocks(in_whole_blocks(cells, SIDE, False), SIDE, np.logical_or))

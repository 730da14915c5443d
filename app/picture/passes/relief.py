"""Fine relief with wavelengths of a few cells and less, in the picture only: a baked map finer than the land."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import moderngl

from app.model.snapshot import BURDEN, SURVEYED_FLOW
from app.picture.passes.fractures import Fractures
from app.picture.passes.gradual import GradualWork, draw_in_bands
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.shared import HIGHEST_BLOCKS, HIGHEST_LEDGES
from app.picture.passes.targets import MIPMAPPED, ONE_MIPMAP, MapTarget, release_all

MOST_TEXELS = 2_400_000  # larger maps need less, as their cells are smaller in the picture
BAND = 65_536  # texels drawn at a time, at most
CHEAPER = 8  # so many texels of slopes, or of calm, cost as much as one of heights
HIGHEST = 2.5  # limit of relief of the usual amount: height in cells above or below the map, and slope
BENCHES = 1.5  # added to this by strata
SNOW_ON_ALL, SNOW_ON_NONE = -0.06, 1.0  # snow lines, as fractions of the relief of the land
EXACTLY, IN_8_BITS = (4, "f2"), (4, "f1")


class Relief(NamedTuple):
    """The inputs of the map."""

    world: int
    cycle: int  # of the last change of the ground
    exaggeration: float
    texels_per_cell: int
    amount: float  # height relative to the usual one
    snow_line: float  # above which no rock protrudes from the snow, as a fraction of the relief of the land
    water: tuple[object, ...] = ()  # key of the maps of water
    exact: bool = True  # in floats, for a displaced mesh, or in 8 bits
    materials: int = 0  # version of the materials, whose strata form benches; 0 without
    usual_flow: float = 0.0  # discharge of most cells, m³/s; 0: no water runs
    blocks: bool = False  # whether massive rock stands out in blocks, which only a mesh shows
    is_mixed: bool = False  # whether parts were drawn while something else was wanted; never wanted

    @property
    def span(self) -> float:
        """The limit of its height in cells, and of its slopes if it is not exact."""
        blocks = (HIGHEST_BLOCKS + HIGHEST_LEDGES) * self.blocks
        return HIGHEST * max(self.amount, 1.0) + BENCHES * bool(self.materials) + blocks


class CarvedLand(NamedTuple):
    """The maps that shape the relief."""

    surface: moderngl.Texture
    burden: moderngl.Texture  # what raises it beside rock and sediment
    water: moderngl.Texture  # depth of standing water, where there is no relief
    flow: moderngl.Texture  # streams, where there is none either
    fractures: Fractures  # drawn on first use
    strata_rise: moderngl.Texture
    benches: moderngl.Texture  # see `bench_table`
    surveyed_flow: moderngl.Texture  # discharge, m³/s


class ReliefMap:
    """Heights in cells, slopes, and streaks (0 to 1) finer than the map, drawn in bands into a second texture."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._heights = MapTarget(context, (2, "f4"))
        self._mipmaps = Mipmaps(context, shaders)
        self._shown, self._next = (MapTarget(context, EXACTLY, filter=MIPMAPPED) for _ in range(2))
        self._calm = MapTarget(context, (1, "f1"))
        self._of_calm = FullScreen(context, shaders, "relief_calm.frag")
        self._of_height = FullScreen(context, shaders, "relief_height.frag")
        self._of_slopes = {
            exact: FullScreen(context, shaders, "relief.frag", {"RELIEF": 1 + int(exact)}) for exact in (False, True)
        }
        self._read: dict[str, moderngl.Texture] = {}  # by the shader of heights
        self._work = GradualWork()
        self._shown_for: Relief | None = None
        self._world: int | None = None  # that is shown, or will be

    @property
    def texture(self) -> moderngl.Texture | None:
        """The map; None before there is one."""
        return None if self._shown_for is None else self._shown.texture()

    @property
    def kind(self) -> int:
        """A number for shaders: 0 none, 1 in 8 bits, 2 exact."""
        return 0 if self._shown_for is None else 1 + int(self._shown.formats == (EXACTLY,))

    @property
    def span(self) -> float:
        """Range of the shown relief: largest height in cells, and slope."""
        return HIGHEST if self._shown_for is None else self._shown_for.span

    @property
    def drawn(self) -> Relief | None:
        """The inputs of the texture in use."""
        return self._shown_for

    def settled(self, wanted: Relief) -> bool:
        return wanted.texels_per_cell == 0 or self._work.is_done(wanted)

    def update(self, land: CarvedLand, wanted: Relief, budget: int, *, at_once: bool, new_at_once: bool = True) -> None:
        """Continue drawing `wanted` within the budget; completely if `at_once`, or for a new world if `new_at_once`."""
        if wanted.texels_per_cell == 0:
            self._give_back()
            return
        # Those of an earlier frame may be released before the work is done.
        self._read |= {
            BURDEN: land.burden,
            "strata_rise": land.strata_rise,
            "benches": land.benches,
            SURVEYED_FLOW: land.surveyed_flow,
        }
        if wanted.world != self._world:
            self.forget()
            self._world = wanted.world
        at_once = at_once or (new_at_once and self._shown_for is None)
        band = BAND if at_once else min(BAND, budget)
        steps = partial(self._draw, land, wanted, band)
        if self._work.advance(wanted, steps, budget, at_once=at_once):
            self._shown, self._next = self._next, self._shown
            assert isinstance(self._work.done, Relief)
            self._shown_for = self._work.done._replace(is_mixed=self._work.is_mixed)

    def forget(self) -> None:
        """Force a redraw, or remove the relief."""
        self._work.forget()
        self._shown_for = None

    def keep_shown_only(self) -> None:
        """Give back the textures of work that is done. Other work, which a touch has interrupted, begins anew."""
        self._work.abandon()
        release_all(self._calm, self._heights, self._next)

    def _give_back(self) -> None:
        """Remove the relief with its textures, which are the largest of a picture."""
        self.forget()
        release_all(self._calm, self._heights, self._shown, self._next)

    def release(self) -> None:
        self._give_back()
        release_all(self._of_calm, self._of_height, self._mipmaps, *self._of_slopes.values())

    def _draw(self, land: CarvedLand, wanted: Relief, band: int) -> Iterator[int]:
        scale = wanted.texels_per_cell
        size = land.surface.width * scale, land.surface.height * scale
        self._calm.fit(land.surface.size)
        self._heights.fit(size)
        self._next.fit(size, EXACTLY if wanted.exact else IN_8_BITS)
        self._next.texture().filter = MIPMAPPED if wanted.exact else ONE_MIPMAP
        waters = {"surface": land.surface, "water": land.water, "flow": land.flow}
        yield from _cheap(draw_in_bands(self._of_calm, self._calm, band, waters))
        uniforms = {"texels_per_cell": float(scale)}
        self._read |= {"surface": land.surface, "calm": self._calm.texture(), "fractures": land.fractures.texture}
        carved = {"amount": wanted.amount, "snow_line": wanted.snow_line, "usual_flow": wanted.usual_flow}
        carved |= {"tells_hollows": wanted.exact, "in_blocks": wanted.blocks}
        yield from draw_in_bands(self._of_height, self._heights, band, self._read, **uniforms, **carved)
        slopes = {"heights": self._heights.texture(), "surface": land.surface}
        if not wanted.exact:
            uniforms["relief_span"] = wanted.span
        yield from _cheap(draw_in_bands(self._of_slopes[wanted.exact], self._next, band, slopes, **uniforms))
        self._mipmaps.build(self._next.texture())


def _cheap(texels: Iterator[int]) -> Iterator[int]:
    """What maps of few reads take of the budget."""
    return (number // CHEAPER for number in texels)


def texels_per_cell(columns: int, rows: int, most: int) -> int:
    """Resolution of the relief of a map, at most `most`; 0: no relief."""
    scale = min(most, math.isqrt(MOST_TEXELS // (columns * rows)))
    return scale if scale > 1 else 0

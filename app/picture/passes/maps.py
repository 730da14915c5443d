"""Map textures: the uploaded layers, the surface that combines them, and its baked light."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import NamedTuple

import moderngl
import numpy as np

from app.model.layers import LAYERS
from app.model.snapshot import BURDEN, RAISING, Snapshot
from app.picture.passes import unlocked
from app.picture.passes.canopy import Crowns
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.quality import Quality
from app.picture.passes.relief import Relief
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.targets import MIPMAPPED, MapTarget, release_all

FINE_CELLS = 640 * 640  # largest map whose light may be finer than a cell
NOTHING_AVERAGED = object()
FIRST_TEXELS = 512 * 512  # of light baked at once for a new land: a fraction of a second in software


class LayerTextures:
    """One R32F texture for each layer, double-buffered, because writing to a texture in use would wait."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._sets: list[dict[str, moderngl.Texture]] = [{}, {}]
        self._versions: list[dict[str, tuple[int, int]]] = [{}, {}]
        self._turn = 0
        # One texture for each default
        self._absent = {
            default: context.texture((1, 1), 1, np.float32(default).tobytes(), dtype="f4") for default in (0.0, 1.0)
        }

    def upload(self, snapshot: Snapshot) -> dict[str, moderngl.Texture]:
        """Textures with the layers of a snapshot. Only layers that this set lacks are uploaded."""
        turn = 1 - self._turn
        textures, versions = self._sets[turn], self._versions[turn]
        rows, columns = snapshot.shape
        for name in list(textures):
            if name not in snapshot.layers or textures[name].size != (columns, rows):
                textures.pop(name).release()
                versions.pop(name, None)
        for name, layer in snapshot.layers.items():
            version = (snapshot.world, snapshot.versions[name])
            if name not in textures:
                textures[name] = self._context.texture((columns, rows), 1, dtype="f4")
                textures[name].filter = (moderngl.LINEAR, moderngl.LINEAR)  # for overlays; joining them reads texels
                textures[name].repeat_x = textures[name].repeat_y = False
            elif versions.get(name) == version:
                continue
            versions.pop(name, None)  # until the upload is complete
            unlocked.upload(textures[name], layer)
            versions[name] = version
        self._turn = turn  # last: if an upload fails, the other set stays visible
        return textures

    def texture(self, name: str) -> moderngl.Texture:
        """A layer of the last uploaded snapshot, or a texture of its default."""
        there = self._sets[self._turn].get(name)
        return self._absent[LAYERS[name].default if name in LAYERS else 0.0] if there is None else there

    def release(self) -> None:
        for textures in self._sets:
            for texture in textures.values():
                texture.release()
            textures.clear()
        for texture in self._absent.values():
            texture.release()


class AirborneMap:
    """Sand in the air, averaged across the wind. Redrawn after changes."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._drawing = FullScreen(context, shaders, "airborne.frag")
        self._target = MapTarget(context, (1, "f2"))
        self._drawn: tuple[int, int] | None = None  # world and version

    @property
    def texture(self) -> moderngl.Texture | None:
        """None if it was not requested, or does not exist."""
        return None if self._drawn is None else self._target.texture()

    def update(self, snapshot: Snapshot, layers: LayerTextures) -> None:
        """Draw the map of a snapshot from its uploaded layers."""
        if "airborne" not in snapshot.layers:
            self.forget()
            return
        rows, columns = snapshot.shape
        if self._target.fit((columns, rows)):
            self.forget()
        wanted = snapshot.world, snapshot.versions["airborne"]
        if wanted != self._drawn:
            self._drawn = wanted
            self._drawing.program.bind(airborne=layers.texture("airborne"))
            self._drawing.draw(self._target.framebuffer)

    def forget(self) -> None:
        """Force a redraw, or remove the map."""
        self._drawn = None

    def release(self) -> None:
        release_all(self._target, self._drawing)


class SurfaceMap:
    """Elevation, its slopes to the east and south, and sediment in one texture; and the elevation of the start.

    Land beyond the map is seen from far away: it reads the same with mipmaps.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._join, self._join_without_burden = (
            FullScreen(context, shaders, "surface.frag", {"WITH_BURDEN": burden}) for burden in (1, 0)
        )
        self._now, self._start = (MapTarget(context, (components, "f4")) for components in (4, 1))
        self._world: int | None = None  # the world of the initial elevation
        self._from_afar = MapTarget(context, (4, "f2"), filter=MIPMAPPED)
        self._average = [FullScreen(context, shaders, "afar.frag", {"RELIEF": kind}) for kind in (0, 1)]
        self._mipmaps = Mipmaps(context, shaders)
        self._averaged: Hashable = NOTHING_AVERAGED

    @property
    def texture(self) -> moderngl.Texture:
        return self._now.texture()

    @property
    def initial(self) -> moderngl.Texture:
        """The elevation of the world when it was first shown."""
        return self._start.texture()

    def update(self, snapshot: Snapshot, layers: dict[str, moderngl.Texture]) -> None:
        rows, columns = snapshot.shape
        if self._now.fit((columns, rows)) | self._start.fit((columns, rows)):
            self._world = None
        join = self._join if BURDEN in layers else self._join_without_burden
        join.program.bind(**{name: layers[name] for name in RAISING if name in layers})
        join.draw(self._now.framebuffer)
        if snapshot.world != self._world:
            self._world = snapshot.world
            self._context.copy_framebuffer(self._start.framebuffer, self._now.framebuffer)
        self._averaged = NOTHING_AVERAGED

    def from_afar(
        self, side: int, relief: moderngl.Texture | None = None, packed_span: float = 0.0, drawn: Hashable = None
    ) -> moderngl.Texture:
        """The surface with mipmaps, of `side` texels along the longer side of the map, or a texel for each cell.

        With a fine `relief`, in 8 bits of `packed_span` and known by what it was `drawn` for: its height in cells, the
        slopes of both, and its streaks.
        """
        factor = min(side / max(self._now.size), 1.0)
        columns, rows = (max(round(cells * factor), 1) for cells in self._now.size)
        if self._from_afar.fit((columns, rows)) or self._averaged != drawn:
            average = self._average[relief is not None]
            if relief is None:
                average.program.bind(surface=self._now.texture())
            else:
                average.program.bind(surface=self._now.texture(), relief=relief)
                average.program.set(relief_span=packed_span)
            average.program.set(taps=math.ceil(0.5 / factor))
            average.draw(self._from_afar.framebuffer)
            self._mipmaps.build(self._from_afar.texture())
            self._averaged = drawn
        return self._from_afar.texture()

    def release(self) -> None:
        release_all(self._now, self._start, self._join, self._join_without_burden)
        release_all(self._from_afar, *self._average, self._mipmaps)


class Lighting(NamedTuple):
    """The inputs of the light map."""

    world: int
    cycle: int  # of the last change of the ground
    sun: tuple[float, ...]  # with the exaggeration of heights
    detail: tuple[int, ...]  # of the marches over the map
    crowns: Crowns | None = None  # of trees, if there are any
    relief: float = 0.0  # height factor of the relief that only the light shows
    materials: int = 0  # version of the materials, whose strata form benches; 0 without
    carved: Relief | None = None  # what the map of that relief was drawn for; None: ribs and benches alone

    @property
    def exaggeration(self) -> float:
        return self.sun[2]


class LightMap:
    """Sun and sky visibility of each cell, or of quarters of cells.

    It is baked in bands over several frames into a second texture, which then replaces the first. A new land gets its
    light at once, at low resolution if the map is large, so that the first picture does not wait. Light with relief has
    one texel per cell while ground or sun change, and is refined once they rest. It is above 1 where flanks of ribs
    face the sun, and has the tones of streaks and of weathered rock.

    Levels with a displaced mesh have a second map with the heights up to which shadows reach. They smooth the light,
    because otherwise it has grain, and jagged shadows on cliffs.
    """

    LIGHT, ABOVE_1, SMOOTHED, SHADE = (4, "f1"), (4, "f2"), (4, "f2"), (4, "f4")

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._shaders = shaders
        self._drawings: dict[tuple[int, int, int], FullScreen] = {}  # by (trees, shade, relief)
        self._shown, self._next = (MapTarget(context, self.LIGHT) for _ in range(2))
        self._smoothed = MapTarget(context, self.SMOOTHED)
        self._smooth: FullScreen | None = None
        self._map_size = self._size = (0, 0)  # of the land's maps, and wanted of the light
        self._baked: Lighting | None = None
        self._baking: Lighting | None = None
        self._strays = False  # whether rows of what is being baked have the sun of a frame that wanted another light
        self._is_mixed = False  # whether the texture in use has such rows
        self._row = 0

    @property
    def texture(self) -> moderngl.Texture:
        return self._smoothed.texture() if self._has_shade else self._shown.texture()

    @property
    def _has_shade(self) -> bool:
        return len(self._shown.formats) > 1

    @property
    def shade(self) -> moderngl.Texture | None:
        """The heights up to which shadows reach, and the distance of the objects that cast them; None if unknown.

        These heights are valid near the ground; a third component is valid on water, too.
        """
        return self._shown.texture(1) if self._baked is not None and self._has_shade else None

    @property
    def baked(self) -> Lighting | None:
        """The inputs of the texture in use."""
        return self._baked

    @property
    def drawn(self) -> tuple[Lighting | None, tuple[int, int], bool]:
        """The inputs and the size of the texture in use, as the same light can be baked at a higher resolution; and
        whether rows of it have other light.
        """
        return self._baked, self._shown.size, self._is_mixed

    def settled(self, wanted: Lighting | None) -> bool:
        """Whether the texture in use was baked for `wanted`, for every cell."""
        is_whole = self._shown.size == self._size and not self._is_mixed
        return wanted is not None and self._baked == wanted and is_whole

    def update(
        self,
        surface: moderngl.Texture,
        wanted: Lighting,
        quality: Quality,
        *,
        at_once: bool,
        of_relief: Mapping[str, moderngl.Texture],
        packed_span: float = 0.0,
        canopy: moderngl.Texture | None = None,
        budget: int | None = None,
    ) -> None:
        """Continue baking `wanted`, completely or within a budget of texels, that of the quality if there is no other.

        `of_relief` are the maps that shape the relief beside the surface, and its own map, by shader name; that is in 8
        bits of `packed_span`, or exact where that is 0. `canopy` has the crowns.
        """
        budget = quality.light_budget if budget is None else budget
        maps = {"surface": surface, **of_relief} | ({} if canopy is None else {"canopy": canopy})
        with_relief = wanted.relief > 0.0
        scale = 2 if with_relief else quality.light_scale
        if math.prod(surface.size) > FINE_CELLS:
            scale = 1
        size = surface.width * scale, surface.height * scale
        if self._baked is None or self._baked.world != wanted.world or self._map_size != surface.size:
            self._map_size, self._size = surface.size, size
            self._begin(wanted, size if at_once else _coarse_size(*surface.size), quality)
            self._bake(maps, quality, size[1], packed_span)
            return
        if self._size != size:
            self._size, self._baking = size, None
        if at_once:
            if not self.settled(wanted):
                self._begin(wanted, size, quality)
                self._bake(maps, quality, size[1], packed_span)
        elif self._baking is not None or not self.settled(wanted):
            # Baking for another sun or cycle is finished first, otherwise a world that always changes would never get
            # any light. Refinement of older light is abandoned.
            refines = self._baking is not None and self._baking == self._baked
            if self._baking is None or (refines and self._baking != wanted):
                self._begin(wanted, surface.size if with_relief and self._baked != wanted else size, quality)
            self._strays |= self._baking != wanted
            self._bake(maps, quality, max(1, budget // self._next.size[0]), packed_span)

    def forget(self) -> None:
        """Force a rebake."""
        self._baked = self._baking = None

    def release(self) -> None:
        self.forget()
        release_all(self._shown, self._next, self._smoothed, *self._drawings.values())
        if self._smooth is not None:
            self._smooth.release()

    def _begin(self, wanted: Lighting, size: tuple[int, int], quality: Quality) -> None:
        self._baking, self._row, self._strays = wanted, 0, False
        with_shade = self.LIGHT, self.SHADE
        formats = with_shade if quality.shadows_have_heights else (self.ABOVE_1 if wanted.relief else self.LIGHT,)
        self._next.fit(size, *formats)

    def _bake(self, maps: dict[str, moderngl.Texture], quality: Quality, rows: int, packed_span: float) -> None:
        columns, last = self._next.size
        assert self._baking is not None
        crowns, relief, carved = self._baking.crowns, self._baking.relief, self._baking.carved
        in_light = 0 if relief == 0.0 else 1 if carved is None else 2
        variant = (int(crowns is not None), int(len(self._next.formats) > 1), in_light)
        if variant not in self._drawings:
            defines = dict(zip(("CANOPY", "SHADE", "RELIEF"), variant, strict=True))
            self._drawings[variant] = FullScreen(self._context, self._shaders, "light.frag", defines)
        drawing = self._drawings[variant]
        drawing.program.bind(**maps)
        drawing.program.set(
            tree_height=crowns.height if crowns is not None else 0.0,
            cells_per_texel=(self._map_size[0] / columns, self._map_size[1] / last),
            sun_steps=quality.sun_steps,
            sky_directions=quality.sky_directions,
            sky_steps=quality.sky_steps,
        )
        if in_light == 2:
            drawing.program.set(relief_span=packed_span)
        elif in_light == 1:
            drawing.program.set(amount=relief, octaves=_octaves(columns / self._map_size[0]))
        drawing.draw(self._next.framebuffer, (0, self._row, columns, min(rows, last - self._row)))
        self._row += rows
        if self._row >= last:
            self._shown, self._next = self._next, self._shown
            self._baked, self._baking, self._is_mixed = self._baking, None, self._strays
            if self._has_shade:
                self._draw_smoothed()
            else:
                self._smoothed.release()

    def _draw_smoothed(self) -> None:
        if self._smooth is None:
            self._smooth = FullScreen(self._context, self._shaders, "smoothed.frag")
        self._smoothed.fit(self._shown.size)
        self._smooth.program.bind(map=self._shown.texture())
        self._smooth.draw(self._smoothed.framebuffer)


def _octaves(texels: float) -> int:
    """Octaves of relief that light with this many texels per cell can show."""
    return 3 if texels >= 2.0 else 2 if texels >= 1.0 else 1


def _coarse_size(columns: int, rows: int) -> tuple[int, int]:
    """The size of a light map that bakes quickly: that of the map, or smaller by an integer factor."""
    factor = max(1, math.ceil(math.sqrt(columns * rows / FIRST_TEXELS)))
    return math.ceil(columns / factor), math.ceil(rows / factor)

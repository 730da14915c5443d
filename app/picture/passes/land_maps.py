"""The maps of a snapshot for the passes, by shader name."""

from __future__ import annotations

import math
from collections.abc import Iterator

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather
from app.model.layers import ROOF, STRATA
from app.model.overlays import OVERLAYS, Value, largest
from app.model.plants import ROOTED_GROUND
from app.model.snapshot import BURDEN, SURVEYED_FLOW, Snapshot, lit_flow_path
from app.model.view_parameters import ViewParameters
from app.picture.passes.bounce import BounceMap
from app.picture.passes.canopy import CanopyMap, Crowns, SkylineMap
from app.picture.passes.channels import Channels
from app.picture.passes.climate_woods import ClimateWoods
from app.picture.passes.cover import LIVING, CoverMap
from app.picture.passes.edge_beds import EdgeBeds
from app.picture.passes.falls import FallSheets
from app.picture.passes.fixed import FixedTextures
from app.picture.passes.fractures import Fractures
from app.picture.passes.glaciers import GlaciersMap
from app.picture.passes.horizons import Horizons
from app.picture.passes.level_maps import LevelMaps
from app.picture.passes.maps import AirborneMap, LayerTextures, Lighting, LightMap, SurfaceMap
from app.picture.passes.marks import MarksMap
from app.picture.passes.materials import MaterialTextures
from app.picture.passes.mesh import TWISTED, twisted_patches
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.overlays import FLOW_PATH, OverlayMaps, palette_texture
from app.picture.passes.quality import Quality
from app.picture.passes.relief import SNOW_ON_ALL, SNOW_ON_NONE, CarvedLand, Relief, texels_per_cell
from app.picture.passes.shaders import ShaderLibrary, Texture
from app.picture.passes.shore import ShoreMap, cells_of_shore, has_calm_shore, open_water, wet_cells, with_waves
from app.picture.passes.shore_blocks import Shore
from app.picture.passes.standing_water import StandingWater
from app.picture.passes.swell import Waves
from app.picture.passes.targets import MIPMAPPED, release_all
from app.picture.passes.trees import Trees
from app.picture.passes.valleys import ValleyFloors
from app.picture.passes.waves import RunUp

# That shaders read directly
LAYERS = ("wind_path", "airborne", "water", "water_level", STRATA, ROOF, "froude", "suspended")
RELIEF_SHARE = 3  # of the texels of light baked in a frame, one is of the relief where only the light shows that
HORIZONS_SHARE = 8  # so many texels of light are baked for one of the horizons, while the land changes
TEXELS_AT_REST = 20_000  # of relief or light in one slice of a picture that is refined, which a touch gives up
SHORE_AT_REST = 100_000  # of the shore, whose texels read less
SAND_IN_AIR = 400.0  # 1/m: opacity of dust per metre of airborne sediment


class LandMaps:
    """The maps of the shown snapshot; changed ones are redrawn."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary, *, bake_at_once: bool) -> None:
        self._context = context
        self._shaders = shaders
        self._bake_at_once = bake_at_once
        self.layers = LayerTextures(context)
        self.surface = SurfaceMap(context, shaders)
        self.marks = MarksMap(context, shaders)
        self.glaciers = GlaciersMap(context, shaders)
        self._mipmaps = Mipmaps(context, shaders)
        self.materials = MaterialTextures(context, self._mipmaps)
        self._edge_beds = EdgeBeds(context)
        self._cover = CoverMap(context, shaders)
        self._canopy = CanopyMap(context, shaders)
        self._skyline = SkylineMap(context, shaders)
        self._usual = LevelMaps(context, shaders)
        self._at_rest: LevelMaps | None = None  # those of refined pictures, after which the usual ones are still there
        self._level = self._usual  # those of the picture that is drawn
        self._shore = ShoreMap(context, shaders)
        self._airborne = AirborneMap(context, shaders)
        self._valleys = ValleyFloors(context)
        self._has_valleys = False
        self._overlay = OverlayMaps(context, shaders)
        self._flow_path = OverlayMaps(context, shaders)
        self._palettes: dict[str, moderngl.Texture] = {}
        self._fixed = FixedTextures.of(context)
        self._filter = MIPMAPPED  # of mipmaps, as the level has it
        self._fractures = Fractures(context, shaders, self._fixed)
        self._drawn = (
            self.marks, self.glaciers, self._cover, self._overlay, self._flow_path, self._canopy, self._skyline,
            self._fractures, self._shore, self._airborne,
        )  # fmt: skip
        self._nothing = context.texture((1, 1), 4, bytes(4))
        self.trees = Trees(context)
        self._channels = Channels()
        self.falls = FallSheets()
        self.water = StandingWater(context)
        self.water_stands = False  # whether there is water with waves that run to a shore
        self.shore: Shore | None = None
        self.with_streams = False
        self.twisted = np.zeros((0, 0), bool)  # patches of the ground that need vertices at the centres of quads
        self._ground_noted: tuple[int, int] | None = None
        self.sand_in_air = 0.0  # from 0 to 1
        self._water_noted: tuple[int, int, float, int] | None = None
        self._wet = np.zeros((0, 0), bool)  # cells with standing water
        self._waters = np.zeros((0, 0), bool)  # cells of waters that can have waves
        self._surface_is_current = False
        self._changes = 0  # updates with another state of the land

    def show(self, snapshot: Snapshot) -> None:
        """Upload changed layers. The arrays of the snapshot may be reused afterwards."""
        self._uploaded = self.layers.upload(snapshot)
        if self.materials.show(snapshot.materials):
            for name in [name for name in self._palettes if OVERLAYS[name].of_materials]:
                self._palettes.pop(name).release()
        self.trees.show(snapshot)
        self.with_streams = largest(snapshot, SURVEYED_FLOW) > 0.0
        carried = float(snapshot.layers["airborne"].mean()) if "airborne" in snapshot.layers else 0.0
        self.sand_in_air = 1.0 - 0.6 * math.exp(-SAND_IN_AIR * carried) if carried > 0.0 else 0.0
        self._note_ground(snapshot)
        self._note_water(snapshot)
        self.water.show(snapshot, self._waters)
        self._surface_is_current = False
        self._usual.note_change()
        if self._at_rest is not None:  # which takes as much memory again
            self._at_rest.release()
            self._at_rest, self._level = None, self._usual

    @property
    def _levels(self) -> Iterator[LevelMaps]:
        yield self._usual
        if self._at_rest is not None:
            yield self._at_rest

    def _maps_at_rest(self) -> LevelMaps:
        if self._at_rest is None:
            self._at_rest = LevelMaps(self._context, self._shaders)
        return self._at_rest

    @property
    def light(self) -> LightMap:
        return self._level.light

    @property
    def bounce(self) -> BounceMap:
        return self._level.bounce

    @property
    def settled(self) -> bool:
        """Whether streams, cover, trees, relief and light are up to date."""
        behind = self._cover.is_behind or (self.with_water and self._level.flow.is_behind)
        return self.trees.settled and not behind and self._level.settled

    @property
    def horizons_known(self) -> bool:
        """Whether there is a map of horizons, by which lakes mirror the land."""
        return self._level.wanted_horizons is not None and self._level.horizons.texture is not None

    @property
    def relief_kind(self) -> int:
        """The kind of fine relief, a number for shaders: 0 none, 1 in 8 bits, 2 exact enough to displace the mesh."""
        return 0 if self._level.only_in_light else self._level.relief.kind

    @property
    def relief_span(self) -> float:
        """Range of the fine relief: its largest height in cells, and its slopes."""
        return self._level.relief.span

    @property
    def with_water(self) -> bool:
        """Whether any water stands or runs."""
        return self.water.is_seen or self.with_streams

    @property
    def river_reach(self) -> int:
        """Half of the neighbourhood in cells that shaders search for the widest stream."""
        return self._level.flow.reach

    @property
    def stream_patches(self) -> NDArray[np.bool_]:
        """Which patches of the map hold a stream or lie beside one."""
        return self._level.flow.stream_patches

    @property
    def shade(self) -> Texture | None:
        """The heights up to which shadows reach, if they are valid for the drawn exaggeration."""
        baked, wanted = self._level.light.baked, self._level.wanted_light
        holds = baked is not None and wanted is not None and baked.exaggeration == wanted.exaggeration
        return self._level.light.shade if holds else None

    @property
    def state(self) -> tuple[object, ...]:
        """The keys of the maps that are redrawn gradually."""
        return self._level.light.drawn, self._level.relief.drawn, self._canopy.drawn, self._shore.shown

    def update(
        self,
        snapshot: Snapshot,
        view: ViewParameters,
        quality: Quality,
        smallest_stream: float,
        river_width: float,
        snow_line: float,
        waves: Waves | None,
        run_up: RunUp | None,
        weather: Weather,
        *,
        at_rest: bool,
    ) -> Iterator[None]:
        """Redraw changed maps, with breaks where other drawing may interleave.

        `river_width` is the width of a river of 1 m³/s, in metres; `snow_line` follows weather and view, as a fraction
        of the relief of the land. `waves` run to a shore, if there are any, and nothing grows within their `run_up`.
        Trees get lower towards the cold of the `weather`. `at_rest` relief, light, horizons and shore are completed,
        with many breaks; otherwise they continue within the budgets of a frame.
        """
        self._level = self._maps_at_rest() if at_rest else self._usual
        # At low levels, streams and cover take turns to follow a land that changes in every picture.
        cover_may_wait = streams_may_wait = False
        if not self._surface_is_current:
            self.surface.update(snapshot, self._uploaded)
            self._surface_is_current = True
            self._changes += 1
            if quality.deferred and not self._bake_at_once:
                cover_may_wait, streams_may_wait = self._changes % 2 == 1, self._changes % 2 == 0
        self.marks.update(snapshot, self.layers, view.wear_and_deposit, self.surface.texture, weather.wind_direction)
        self.glaciers.update(snapshot, self.layers, self.surface.texture)
        self._edge_beds.update(snapshot)
        self._cover.update(snapshot, self.layers, self.materials.textures(), may_wait=cover_may_wait)
        woods = woods_of(snapshot, view, quality)
        if len(snapshot.trees) or woods is not None:
            self._channels.note(snapshot, smallest_stream, river_width)
        self.trees.update(run_up, weather, self._channels, woods, at_once=self._bake_at_once)
        self._update_canopy(snapshot, view)
        if self.water.is_seen if quality.fine_water else self.water.has_lakes:
            self._skyline.update(
                self.surface.texture,
                self._canopy,
                (snapshot.world, snapshot.ground_version),
                snapshot.cell_size,
                view.exaggeration,
                rays=quality.fine_water,
            )
        else:
            self._skyline.forget()
        if view.drifting_sand > 0.0 and quality.detail_scales > 2:
            self._airborne.update(snapshot, self.layers)
        else:
            self._airborne.forget()
        self._has_valleys = view.fog > 0.0
        if self._has_valleys:
            self._valleys.update(snapshot)
        yield
        if self.with_water:
            self._level.flow.update(
                snapshot,
                self.layers,
                self.surface.texture,
                self._wet,
                smallest_stream,
                river_width,
                fine=quality.fine_water,
                may_wait=streams_may_wait,
            )
        self.falls.update(snapshot, smallest_stream, river_width)
        self._read_mipmaps(quality)
        yield
        texels = TEXELS_AT_REST if at_rest else None
        while True:
            relief = self._update_relief(snapshot, view, quality, snow_line, texels)
            yield
            if not at_rest or self._level.relief.settled(relief):
                break
        while True:
            light = self._update_light(snapshot, view, quality, texels)
            if not at_rest or self._level.light.settled(light):
                break
            yield
        while True:
            self._update_horizons(snapshot, view, quality, texels)
            yield
            if not at_rest or self._level.horizons.settled(self._level.wanted_horizons):
                break
        while waves is not None:
            self._shore.update(
                snapshot,
                waves,
                self._waters,
                self.surface.texture,
                self.layers,
                budget=min(quality.shore_budget, SHORE_AT_REST) if at_rest else quality.shore_budget,
                at_once=self._bake_at_once,
            )
            yield
            if not at_rest or self._shore.settled(snapshot, waves):
                break

    def land_afar(self, quality: Quality) -> tuple[Texture, bool]:
        """What land beyond the map shows of it, and whether that has the relief that is finer than the map."""
        relief = self._level.relief
        if relief.kind != 1:
            return self.surface.from_afar(quality.afar_side), False
        return self.surface.from_afar(quality.afar_side, relief.texture, relief.span, relief.drawn), True

    def textures(self, snapshot: Snapshot, overlay: str, *, with_waves: bool) -> dict[str, Texture]:
        """All textures by name; missing layers are 0 everywhere."""
        found: dict[str, Texture] = {
            **dict.fromkeys(
                (
                    "valleys",
                    "kinds",
                    "strata",
                    "rock_numbers",
                    "edge_beds",
                    "flow",
                    "rivers",
                    "coast",
                    "nearshore",
                    "surf",
                    "flow_path",
                    "relief",
                    "shade",
                    "horizons",
                ),
                self._nothing,
            ),
            **self._fixed.repeating(self._mipmaps, self._filter),
            **self._cover.textures(),
            **self.materials.textures(),
            **{name: self.layers.texture(name) for name in (*LAYERS, BURDEN)},
            "fractures": self._fractures.read_by(self._filter),
            "surface": self.surface.texture,
            "light": self._level.light.texture,
            "marks": self.marks.texture,
            "glaciers": self.glaciers.texture,
            "canopy": self._canopy.texture,
            "skyline": self._skyline.texture or self.surface.texture,
            "palette": self._palette(overlay, snapshot),
            "overlay_layer": self._overlay_texture(overlay, snapshot),
        }
        if self._edge_beds.texture is not None:
            found["edge_beds"] = self._edge_beds.texture
        if self._airborne.texture is not None:
            found["airborne"] = self._airborne.texture
        if self._has_valleys:
            found["valleys"] = self._valleys.texture
        if self._level.relief.texture is not None:
            found["relief"] = self._level.relief.texture
        if self._level.wanted_horizons is not None and (horizons := self._level.horizons.texture) is not None:
            found["horizons"] = horizons
        if self.shade is not None:
            found["shade"] = self.shade
        if self.with_water:
            found |= {"flow": self._level.flow.texture, "rivers": self._level.flow.rivers}
        if with_waves:
            found |= {"coast": self._shore.coast, "nearshore": self._shore.nearshore, "surf": self._shore.surf}
        if with_flow_path(snapshot):
            found["flow_path"] = self._flow_path.texture(FLOW_PATH, snapshot, self.layers, self.materials.textures())
        return found

    def forget(self) -> None:
        """Force a redraw of all maps."""
        self._surface_is_current = False
        for maps in self._drawn:
            maps.forget()
        for level in self._levels:
            level.forget()

    def release(self) -> None:
        release_all(
            self.layers,
            self.surface,
            self.materials,
            self._mipmaps,
            self._edge_beds,
            *self._drawn,
            *self._levels,
            self._valleys,
            self.trees,
            self.water,
            self._nothing,
            self._fixed,
            *self._palettes.values(),
        )

    def _update_canopy(self, snapshot: Snapshot, view: ViewParameters) -> None:
        forest = self.trees.forest
        if forest is None:
            self._canopy.forget()
            return
        reference_cells = (snapshot.reference_cell_size or snapshot.cell_size) / snapshot.cell_size
        crowns = Crowns(snapshot.world, forest.number, snapshot.flora, view.tree_size * reference_cells)
        self._canopy.update(crowns, self.surface.texture.size, self.trees.geometry, len(forest.trees))

    def _read_mipmaps(self, quality: Quality) -> None:
        """Set how shaders read mipmaps at this level of quality."""
        self._filter = quality.mipmaps
        read = [self._canopy.texture, *([self._level.flow.texture] if self.with_water else [])]
        for texture in read:
            if texture.filter != quality.mipmaps:
                texture.filter = quality.mipmaps

    def _update_light(self, snapshot: Snapshot, view: ViewParameters, quality: Quality, texels: int | None) -> Lighting:
        """Continue baking light, that many `texels` or within the budget of the quality. Returns what is wanted."""
        sun = (view.sun_direction, view.sun_height, view.exaggeration)
        detail = (quality.sun_steps, quality.sky_directions, quality.sky_steps)
        ground = snapshot.ground_version
        relief = view.fine_relief if quality.relief_in_light else 0.0
        carved = self._level.relief.drawn if relief > 0.0 else None
        wanted = Lighting(
            snapshot.world, ground, sun, detail, self._canopy.drawn, relief, self.materials.version, carved
        )
        budget = texels or quality.light_budget - self._relief_budget(quality)
        self._level.wanted_light = wanted
        if budget == 0 and not self._bake_at_once:
            return wanted
        self._level.light.update(
            self.surface.texture,
            wanted,
            quality,
            at_once=self._bake_at_once,
            of_relief={
                BURDEN: self.layers.texture(BURDEN),
                "strata_rise": self.layers.texture("strata_rise"),
                "benches": self._benches,
                "relief": self._level.relief.texture or self._nothing,
            },
            packed_span=self._level.relief.span if self._level.relief.kind == 1 else 0.0,
            canopy=self._canopy.texture,
            budget=budget,
        )
        return wanted

    def _update_horizons(self, snapshot: Snapshot, view: ViewParameters, quality: Quality, texels: int | None) -> None:
        """Lakes mirror the land by them where no ray is followed over it; where rays are, none is above them."""
        if not self.water.has_lakes:
            self._level.horizons.forget()
            self._level.wanted_horizons = None
            return
        water = snapshot.sea_level, snapshot.versions.get("water", -1)
        self._level.wanted_horizons = Horizons(
            snapshot.world, snapshot.ground_version, water, self._canopy.drawn, view.exaggeration, quality.fine_water
        )
        rests = self._level.light.settled(self._level.wanted_light) and not self._relief_budget(quality)
        budget = texels or (quality.light_budget if rests else quality.light_budget // HORIZONS_SHARE)
        maps = {
            "surface": self.surface.texture,
            "skyline": self._skyline.texture or self.surface.texture,
            "water": self.layers.texture("water"),
        }
        self._level.horizons.update(maps, self._level.wanted_horizons, budget, at_once=self._bake_at_once)

    def _update_relief(
        self, snapshot: Snapshot, view: ViewParameters, quality: Quality, snow_line: float, texels: int | None
    ) -> Relief:
        """Continue drawing relief, that many `texels` or within the budget of the quality. Returns what is wanted."""
        rows, columns = snapshot.shape
        scale = texels_per_cell(columns, rows, quality.relief_scale) if view.fine_relief > 0.0 else 0
        ground = snapshot.ground_version
        streams = self._level.flow.drawn if self.with_water else None
        water = snapshot.sea_level, snapshot.versions.get("water", -1), streams
        snow = min(max(snow_line, SNOW_ON_ALL), SNOW_ON_NONE)
        wanted = Relief(
            snapshot.world,
            ground,
            view.exaggeration,
            scale,
            view.fine_relief,
            snow,
            water,
            quality.displaced,
            self.materials.version,
            self._usual_flow(snapshot) if scale else 0.0,
            blocks=quality.displaced,
        )
        self._level.only_in_light = quality.relief_in_light
        self._level.wanted_relief = wanted
        flow = self._level.flow.texture if self.with_water else self._nothing
        land = CarvedLand(
            self.surface.texture,
            self.layers.texture(BURDEN),
            self.layers.texture("water"),
            flow,
            self._fractures,
            self.layers.texture("strata_rise"),
            self._benches,
            self.layers.texture(SURVEYED_FLOW),
        )
        self._level.relief.update(
            land,
            wanted,
            texels or self._relief_budget(quality) or quality.light_budget // 2,
            at_once=self._bake_at_once,
            new_at_once=not self._level.only_in_light and texels is None,
        )
        if self._level.only_in_light and self._level.relief.settled(wanted):
            self._level.relief.keep_shown_only()
        return wanted

    def _relief_budget(self, quality: Quality) -> int:
        """Texels of the relief that are drawn in a frame at the expense of those of the light, which shows it.

        These wait where only finer light or that of the next relief is left to bake.
        """
        if not self._level.only_in_light or self._level.relief_settled:
            return 0
        lit = self._level.wanted_light is not None and self._level.light.baked == self._level.wanted_light
        return quality.light_budget if lit else quality.light_budget // RELIEF_SHARE

    def _usual_flow(self, snapshot: Snapshot) -> float:
        """The median discharge of wet cells, m³/s, to a power of two, so that it stays; 0 where no water runs."""
        if not self.with_streams:
            return 0.0
        flow = snapshot.layers[SURVEYED_FLOW][::4, ::4]
        flow = flow[flow > 0.0]
        return 2.0 ** round(math.log2(float(np.median(flow)))) if flow.size else 0.0

    @property
    def _benches(self) -> moderngl.Texture:
        return self.materials.textures().get("benches", self._nothing)

    def _note_ground(self, snapshot: Snapshot) -> None:
        """Update where the ground is twisted, if that may have changed."""
        ground = snapshot.world, snapshot.ground_version
        if ground != self._ground_noted:
            self._ground_noted = ground
            self.twisted = twisted_patches(snapshot.ground(), TWISTED * snapshot.cell_size)

    def _note_water(self, snapshot: Snapshot) -> None:
        """Update whether and where water stands, if that may have changed."""
        version = snapshot.versions["water"] if "water" in snapshot.layers else snapshot.ground_version
        water = snapshot.world, version, snapshot.sea_level, has_calm_shore(snapshot) and snapshot.ground_version
        if water != self._water_noted:
            self._water_noted = water
            self._wet, wet = wet_cells(snapshot), cells_of_shore(snapshot)
            self.water_stands = open_water(wet)
            self._waters = with_waves(wet) if self.water_stands else np.zeros_like(wet)
            self.shore = None
            if self.water_stands:
                calm = has_calm_shore(snapshot)
                level = (
                    np.full(snapshot.shape, snapshot.sea_level, np.float32) if calm else snapshot.layers["water_level"]
                )
                self.shore = Shore.of(level, self._waters)

    def _palette(self, overlay: str, snapshot: Snapshot) -> moderngl.Texture:
        if overlay not in self._palettes:
            self._palettes[overlay] = palette_texture(self._context, overlay, snapshot.materials)
        return self._palettes[overlay]

    def _overlay_texture(self, overlay: str, snapshot: Snapshot) -> moderngl.Texture:
        """The source of the values of an overlay, if it is not the surface alone."""
        row = OVERLAYS[overlay]
        if row.value is Value.CHANGE:
            return self.surface.initial
        if row.drawn:
            return self._overlay.texture(overlay, snapshot, self.layers, self.materials.textures())
        return self.layers.texture(row.layers[0] if row.layers else "")


def with_flow_path(snapshot: Snapshot) -> bool:
    """Whether a flow path is highlighted."""
    return lit_flow_path(snapshot) is not None


def with_life(snapshot: Snapshot) -> bool:
    """Whether the ground has wetness or grass."""
    return any(name in snapshot.layers for name in LIVING)


def woods_of(snapshot: Snapshot, view: ViewParameters, quality: Quality) -> ClimateWoods | None:
    """What trees follow from where none are known; None where they are, and in deserts."""
    known = len(snapshot.trees) > 0 or with_plants(snapshot)
    if known or view.desert > 0.0 or snapshot.materials is not None:
        return None
    full_height = view.tree_size * (snapshot.reference_cell_size or snapshot.cell_size)
    return ClimateWoods(view.snow_line, view.greenness, full_height)


def with_plants(snapshot: Snapshot) -> bool:
    """Whether plants are simulated. Otherwise the climate decides what grows."""
    return ROOTED_GROUND in snapshot.of_world

"""The picture: takes snapshots, draws the passes in order."""

from __future__ import annotations

import math
from collections.abc import Iterator

import moderngl
import numpy as np
from pyglm import glm

from app.camera import Camera
from app.climate import USUAL_WIND, Weather, weather_of
from app.overlays import OVERLAYS, Value, largest, overlay_range
from app.passes import frame, unlocked
from app.passes.backdrop import BackdropPass
from app.passes.beach import BeachPass
from app.passes.canopy import CanopyMap, Crowns
from app.passes.cover import LIVING, CoverMap
from app.passes.detail import detail_texture
from app.passes.forest import TreeView, select_trees
from app.passes.maps import FlowMap, LayerTextures, Lighting, LightMap, SurfaceMap
from app.passes.marks import MarksMap
from app.passes.materials import MaterialTextures
from app.passes.mesh import QUADS, GroundMesh, coarsest_stride, detail_distance, select_nodes, shore_blocks
from app.passes.minimap import Contents, MinimapPass, Rectangle, minimap_rectangle
from app.passes.overlays import COURSE, OverlayMaps, palette_texture
from app.passes.places import PlacesPass
from app.passes.quality import BY_NAME, AutomaticQuality, FrameTimer, KnownLevels, Quality
from app.passes.resolve import ResolvePass, scene_size
from app.passes.shaders import ShaderLibrary
from app.passes.shore import ShoreMap, open_water, wet_cells, with_waves
from app.passes.streams import StreamsPass
from app.passes.terrain import Deferred, TerrainPass
from app.passes.tiles import GroundTiles, Shore, water_heights
from app.passes.trees import TreesPass
from app.passes.walls import WallsPass
from app.passes.water import WaterPass
from app.passes.waves import NATURAL, NO_WAVES, WEAKEST_WIND, SeaState, block_values, drawing_of, sea_state
from app.processes.droplets import read_springs
from app.scene import Scene
from app.snapshot import Snapshot
from app.view_parameters import ViewParameters

MINIMAP_PATIENCE = 0.25  # seconds from one to the next while cycles run, at levels that save work

SUN_STRENGTH = 3.4
SKY_STRENGTH = 0.5  # the sky's share of the light on level ground
REFERENCE_LIGHT = 1.94  # with the sun at 27°
SEDIMENT_THAT_HIDES = 0.02  # of a cell's side: thinner sediment lets the ground below show
STREAM_OCTAVES = 9.0  # the widest stream carries two to the power of it as much as the smallest that is seen
DIMMED = 0.42, 0.52, 0.68  # by how much the thickest dust of a storm dims sunlight: red, green, blue, as logarithms
DUST_DEPTH = 4.2  # optical depth of it, from one end of the longer side to the other along the lowest ground
DUST_HEIGHT, LOWEST_DUST = 0.30, 0.02  # over which it thins: a part of the relief, and at least of the longer side
DUST_DRIFT = 0.045  # of that side in a second
SAND_IN_AIR = 400.0  # 1/m, by which the mean of what the wind carries shows as dust
BED_SPAN = 0.02, 0.25  # of the relief: thinner strata than these, and thicker ones, are drawn with beds of that much
BASE_DEPTH = 0.10  # of the map's shorter side: what the block has below its lowest ground

# Water is coloured by its depth beside the land's relief, and waves follow the size of the map: landscapes of any size
# look alike, as models of each other. In the sketch that set the colours, the relief was 82 units.
UNIT_DEPTH = 1.0 / 82.0
FLATTEST_RELIEF = 0.04  # of the map's longer side
WAVE_LENGTH = 1.0 / 360.0  # of the map's longer side


class Picture:
    """Draws a snapshot as a landscape. One GL context, one thread.

    With `bake_at_once` nothing is spread over frames and the quality does not follow the time that frames take: the
    same snapshot and camera always give the same pixels. A picture that is drawn `beside` another one in each frame has
    its automatic quality, which else begins with the level that the renderer is known to hold.
    """

    def __init__(
        self,
        context: moderngl.Context,
        *,
        bake_at_once: bool = False,
        quality: str = "high",
        content_scale: float = 1.0,
        beside: Picture | None = None,
        known_levels: KnownLevels | None = None,
    ) -> None:
        self.context = context
        self.content_scale = content_scale
        self.minimap_width: int | None = None  # the part of the picture that it is fitted into; without it, the whole
        self.software = unlocked.is_software(context)
        self._bake_at_once = bake_at_once
        self._fixed_quality = BY_NAME[quality]
        self._automatic: AutomaticQuality = (
            beside._automatic if beside else self._opening_quality(known_levels or KnownLevels(None))
        )
        self._timer: FrameTimer = beside._timer if beside else FrameTimer(self.software)
        self._frame = frame.FrameBlock(context)
        self._shaders = ShaderLibrary(context, {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
        self._layers = LayerTextures(context)
        self._surface = SurfaceMap(context, self._shaders)
        self._marks = MarksMap(context, self._shaders)
        self._materials = MaterialTextures(context)
        self._cover = CoverMap(context, self._shaders)
        self._canopy = CanopyMap(context, self._shaders)
        self._light = LightMap(context, self._shaders)
        self._flow = FlowMap(context, self._shaders)
        self._shore = ShoreMap(context, self._shaders)
        self._mesh = GroundMesh(context)
        self._places = PlacesPass(context, self._shaders, self._mesh)
        self._ground_tiles = GroundTiles()
        self._terrain = TerrainPass(context, self._shaders, self._mesh)
        self._walls = WallsPass(context, self._shaders)
        self._streams = StreamsPass(context, self._shaders, self._mesh)
        self._beach = BeachPass(context, self._shaders)
        self._trees = TreesPass(context, self._shaders)
        self._water = WaterPass(context, self._shaders)
        self._backdrop = BackdropPass(context, self._shaders)
        self._resolve = ResolvePass(context, self._shaders)
        self._minimap = MinimapPass(context, self._shaders)
        self._detail = detail_texture(context)
        self._overlay_maps = OverlayMaps(context, self._shaders)
        self._course = OverlayMaps(context, self._shaders)
        self._palettes = {name: palette_texture(context, name) for name in OVERLAYS}
        self._snapshot: Snapshot | None = None
        self._shown = 0  # snapshots so far
        self._largest_discharge = 0.0
        self._sand_in_air = 0.0  # from 0 to 1
        self._water_noted: tuple[int, int, float] | None = None
        self._water_stands = False
        self._waters = np.zeros((0, 0), bool)  # the cells of waters that can have waves
        self._beaches: Shore | None = None
        self._surface_is_current = False
        self._wanted_light: Lighting | None = None
        self._overlay_span = (0.0, 1.0)

    def _opening_quality(self, known: KnownLevels) -> AutomaticQuality:
        """The level that the renderer came to before; else one that suits its kind, judged by its first frames."""
        renderer = self.context.info["GL_RENDERER"]
        level = known.level(renderer)
        start = level or BY_NAME["low" if self.software else "high"]
        return AutomaticQuality(start, guessed=level is None, changed=lambda level: known.note(renderer, level))

    @property
    def snapshot(self) -> Snapshot | None:
        """What is shown."""
        return self._snapshot

    @property
    def frame_settled(self) -> bool:
        """Whether the trees are those of the snapshot, the light that of it and the sun, and the minimap has them."""
        if self._snapshot is None:
            return True
        return self._trees.settled and self._light.settled(self._wanted_light) and not self._minimap.is_behind

    def has_waves(self, scene: Scene) -> bool:
        """Whether waves run to a shore, so that the picture changes though nothing else does."""
        return scene.waves.enabled and self._water_stands

    def is_moving(self, scene: Scene) -> bool:
        """Whether the picture changes with time alone: waves and the dust of storms never stand still."""
        snapshot = self._snapshot
        if snapshot is None:
            return False
        weather = weather_of(scene.climate, snapshot.seed, snapshot.cycle)
        return self.has_waves(scene) or self._dust(weather, scene.view) > 0.0 or OVERLAYS[scene.view.overlay].is_moving

    def show(self, snapshot: Snapshot) -> None:
        """Upload what changed. The snapshot's arrays may be written again once this has returned."""
        self._layer_textures = self._layers.upload(snapshot)
        if self._materials.show(snapshot.materials):
            for name, palette in self._palettes.items():
                if OVERLAYS[name].of_materials:
                    palette.release()
                    self._palettes[name] = palette_texture(self.context, name, snapshot.materials)
        self._trees.show(snapshot)
        self._snapshot = snapshot
        self._shown += 1
        self._largest_discharge = largest(snapshot, "discharge")
        carried = float(snapshot.layers["airborne"].mean()) if "airborne" in snapshot.layers else 0.0
        self._sand_in_air = 1.0 - 0.6 * math.exp(-SAND_IN_AIR * carried) if carried > 0.0 else 0.0
        self._note_water(snapshot)
        self._water.show(snapshot, self._waters)
        self._surface_is_current = False
        self._wanted_light = None

    def quality(self, view: ViewParameters) -> Quality:
        """The level that pictures are drawn at."""
        if view.quality != "automatic":
            return BY_NAME[view.quality]
        return self._fixed_quality if self._bake_at_once else self._automatic.level

    def one_frame(self, view: ViewParameters, slices: Iterator[None]) -> Iterator[None]:
        """The same slices, which together draw one frame, whose time the automatic quality follows."""
        if view.quality == "automatic" and not self._bake_at_once:
            return self._timer.measure(slices, self._automatic.measure)
        return slices

    def draw(
        self,
        target: moderngl.Framebuffer,
        camera: Camera,
        scene: Scene,
        *,
        time: float = 0.0,
        minimap: bool = True,
        overlay_span: tuple[float, float] | None = None,
    ) -> None:
        """Draw sky, land and minimap over the whole of `target`.

        `overlay_span` holds the values at the ends of the overlay's palette; without it, they suit the snapshot.
        """
        slices = self.slices(target, camera, scene, time=time, minimap=minimap, overlay_span=overlay_span)
        for _ in self.one_frame(scene.view, slices):
            pass

    def slices(
        self,
        target: moderngl.Framebuffer,
        camera: Camera,
        scene: Scene,
        *,
        time: float = 0.0,
        minimap: bool = True,
        overlay_span: tuple[float, float] | None = None,
    ) -> Iterator[None]:
        """As `draw`, in slices: between two of them anything else may be drawn, but no snapshot shown.

        On a software rasteriser a slice has been drawn when it ends: what follows does not wait for it, with the
        interpreter's lock in hand.
        """
        snapshot, view = self._snapshot, scene.view
        if snapshot is None or target.width < 1 or target.height < 1:
            target.use()
            target.clear(0.10, 0.11, 0.12, 1.0)
            return
        self._overlay_span = overlay_span or overlay_range(view.overlay, snapshot)
        for _ in self._passes(target, snapshot, camera, scene, time, minimap):
            if self.software:
                unlocked.finish()
            bound = self.context.fbo
            yield
            bound.use()  # others may have drawn elsewhere

    def minimap_rectangle(self, width: int, height: int) -> Rectangle:
        """Where the minimap lies: left, top, width and height in pixels from the top left corner of the picture."""
        rows, columns = self._snapshot.shape if self._snapshot else (1, 1)
        return minimap_rectangle(self.minimap_width or width, height, columns, rows, self.content_scale)

    def reload_shaders(self) -> str:
        """Compile all shaders again. Returns "" or the error; then the old ones run on."""
        error = self._shaders.reload()
        if not error:
            self._surface_is_current = False
            self._marks.forget()
            self._cover.forget()
            self._overlay_maps.forget()
            self._course.forget()
            self._canopy.forget()
            self._light.forget()
            self._flow.forget()
            self._shore.forget()
            self._minimap.forget()
        return error

    def release(self) -> None:
        for drawing in (
            self._places,
            self._terrain,
            self._walls,
            self._streams,
            self._beach,
            self._trees,
            self._water,
            self._backdrop,
            self._resolve,
            self._minimap,
        ):
            drawing.release()
        self._mesh.release()
        for maps in (
            self._layers,
            self._surface,
            self._marks,
            self._materials,
            self._cover,
            self._overlay_maps,
            self._course,
            self._canopy,
            self._light,
            self._flow,
            self._shore,
        ):
            maps.release()
        for texture in (self._detail, *self._palettes.values()):
            texture.release()
        self._frame.release()
        self._shaders.release()

    def _select_nodes(self, snapshot: Snapshot, camera: Camera, view: ViewParameters, detail: float) -> np.ndarray:
        rows, columns = snapshot.shape
        heights = (snapshot.lowest * view.exaggeration, snapshot.highest * view.exaggeration)
        return select_nodes(columns, rows, snapshot.cell_size, heights, camera, detail)

    def _tree_view(
        self,
        snapshot: Snapshot,
        camera: Camera,
        view: ViewParameters,
        weather: Weather,
        scene_height: int,
        detail: float,
    ) -> TreeView:
        rows, columns = snapshot.shape
        return TreeView(
            height=view.tree_size * snapshot.cell_size,
            focal_length=0.5 * scene_height / math.tan(math.radians(camera.field_of_view) / 2.0),
            mesh_reach=(detail * QUADS * snapshot.cell_size, float(coarsest_stride(columns, rows))),
            exaggeration=view.exaggeration,
            winter=max(-weather.season, 0.0),
        )

    def _passes(
        self,
        target: moderngl.Framebuffer,
        snapshot: Snapshot,
        camera: Camera,
        scene: Scene,
        time: float,
        minimap: bool,
    ) -> Iterator[None]:
        """Draw the passes in their order; stops after each."""
        view = scene.view
        quality = self.quality(view)
        weather = weather_of(scene.climate, snapshot.seed, snapshot.cycle)
        sea = sea_state(scene.waves, weather.wind_speed, snapshot.cell_size, max(snapshot.shape))
        waves = drawing_of(scene.waves) if self.has_waves(scene) else NO_WAVES
        storm = self._dust(weather, view)
        self._fill_frame_block(snapshot, camera, scene, weather, storm, sea, target, time)
        self._update_maps(snapshot, view, quality)
        yield
        with_overlay = view.overlay != "none"
        with_water = self._water.is_seen or self._largest_discharge > 0.0
        if with_water:
            self._flow.update(snapshot, self._layers, self._surface.texture, smallest_stream(scene, snapshot))
        yield

        maps = {"surface": self._surface.texture, "light": self._light.texture, "detail": self._detail}
        shown = {
            **maps,
            "marks": self._marks.texture,
            **self._cover.textures(),
            **self._materials.textures(),
            "canopy": self._canopy.texture,
            "palette": self._palettes[view.overlay],
            "overlay_layer": self._overlay_texture(view.overlay, snapshot),
            **{
                name: self._layers.texture(name)
                for name in ("wind_path", "airborne", "water", "water_level", "strata_rise")
            },
        }
        if with_water:
            shown["flow"] = self._flow.texture
        if waves != NO_WAVES:
            self._update_shore(snapshot, sea, quality)
            yield
            shown |= {"coast": self._shore.coast, "surf": self._shore.surf}
        with_course = snapshot.survey is not None and snapshot.survey.course is not None
        if with_course:
            shown["course"] = self._course.texture(COURSE, snapshot, self._layers, {})
        with_materials = snapshot.materials is not None
        with_life = any(name in snapshot.layers for name in LIVING)
        rippled = with_materials and "wind_path" in snapshot.layers
        desert = view.desert > 0.0 or rippled

        _, scene_height = scene_size(*target.size, quality)
        detail = detail_distance(camera, scene_height, quality)
        tree_view = self._tree_view(snapshot, camera, view, weather, scene_height, detail)
        selected, forest = None, None
        if self._trees.forest is not None:
            forest = (tree_view.height, tree_view.focal_length, quality.tree_pixels[2], tree_view.winter)
            if not with_overlay:  # which trees would hide
                aspect = target.width / target.height
                selected = select_trees(self._trees.forest, camera, aspect, quality.tree_pixels, tree_view)
        sun = self._frame.values["sun"][:3].astype(float)
        self._trees.cast_shadows(selected, sun, quality, tree_view, at_once=self._bake_at_once, **maps)
        yield
        framebuffer = self._resolve.begin(*target.size, quality)
        nodes = self._select_nodes(snapshot, camera, view, detail)
        self._mesh.select(nodes)
        with_streams = self._largest_discharge > 0.0
        beach_apart = not quality.deferred or with_overlay or with_course
        deferred: Deferred | None = None
        if quality.deferred:
            self._places.draw(framebuffer, self._surface.texture)
            yield
            tiles = self._ground_tiles.classes(
                snapshot,
                camera,
                view.exaggeration,
                framebuffer.size,
                tree_view.focal_length,
                shore=self._beaches if waves == NATURAL and not beach_apart else None,
                run_up=float(self._frame.values["beach"][0]),
                smallest_stream=smallest_stream(scene, snapshot) if with_streams else None,
            )
            deferred = Deferred(self._places.texture, tree_view.focal_length, with_streams, tiles)
        self._terrain.draw(
            quality,
            with_overlay=with_overlay,
            with_lines=OVERLAYS[view.overlay].value is Value.RIVERS,
            with_course=with_course,
            desert=desert,
            drifting=view.drifting_sand > 0.0,
            with_water=with_water,
            with_marks=self._marks.shown,
            with_materials=with_materials,
            with_life=with_life,
            with_dust=storm > 0.0,
            forest=None if with_overlay else forest,
            tree_shadows=self._trees.shadows,
            deferred=deferred,
            **shown,
        )
        self._walls.draw(nodes, with_materials=with_materials, **shown)
        yield
        if with_streams and deferred is None:
            self._streams.draw(quality, with_overlay=with_overlay, with_course=with_course, **shown)
            yield
        if waves == NATURAL and self._beaches is not None and beach_apart:
            self._beach.draw(
                nodes, self._beaches.blocks, quality, with_overlay=with_overlay, with_course=with_course, **shown
            )
            yield
        if selected is not None:
            self._trees.draw(selected, quality, tree_view, **maps, **self._trees.shadows.texture)
            yield
        if self._water.is_seen:
            self._water.draw(
                quality,
                with_overlay=with_overlay,
                with_course=with_course,
                with_materials=with_materials,
                with_life=with_life,
                with_dust=storm > 0.0,
                waves=waves,
                **shown,
            )
        self._backdrop.draw(
            framebuffer,
            camera.horizon(target.width / target.height),
            with_table=not math.isfinite(snapshot.sea_level) and camera.position.y > self._frame.values["heights"][2],
            with_dust=storm > 0.0,
            surface=maps["surface"],
            detail=self._detail,
        )
        yield
        self._resolve.finish(target, quality)
        self._minimap.is_behind = False
        if minimap:
            rectangle = self.minimap_rectangle(*target.size)
            moves = waves != NO_WAVES or OVERLAYS[view.overlay].is_moving
            self._minimap.draw(
                target,
                rectangle,
                camera,
                self.content_scale,
                contents=self._minimap_contents(scene, time if moves else 0.0),
                time=time,
                patience=MINIMAP_PATIENCE if quality.deferred and not self._bake_at_once else 0.0,
                shows=view.minimap_shows,
                with_water=with_water and not (view.minimap_shows == "overlay" and with_overlay),
                waves=waves,
                with_course=with_course,
                with_materials=with_materials,
                with_life=with_life,
                forest=forest,
                **shown,
            )
        yield

    def _minimap_contents(self, scene: Scene, time: float) -> Contents:
        simulated = (self._shown, self._overlay_span, self._light.baked, self._canopy.drawn, self._shore.shown)
        return Contents((scene, self._snapshot.world if self._snapshot else 0), simulated, time)

    def _dust(self, weather: Weather, view: ViewParameters) -> float:
        """How much dust is in the air: some in any storm over loose sand, and more where the wind carries much."""
        return weather.storm * view.dust * self._sand_in_air

    def _update_maps(self, snapshot: Snapshot, view: ViewParameters, quality: Quality) -> None:
        if not self._surface_is_current:
            self._surface.update(snapshot, self._layer_textures)
            self._surface_is_current = True
        self._marks.update(snapshot, self._layers, view.wear_and_deposit, view.traffic_water)
        self._cover.update(snapshot, self._layers, self._materials.textures())
        self._trees.update(at_once=self._bake_at_once)
        if self._trees.forest is not None:
            crowns = Crowns(snapshot.world, self._trees.version, view.tree_size)
            size = self._surface.texture.size
            self._canopy.update(crowns, size, self._trees.buffer, len(self._trees.forest.trees))
        else:
            self._canopy.forget()
        sun = (view.sun_direction, view.sun_height, view.exaggeration)
        detail = (quality.sun_steps, quality.sky_directions, quality.sky_steps)
        ground = max(snapshot.versions["bedrock"], snapshot.versions["sediment"])
        self._wanted_light = Lighting(snapshot.world, ground, sun, detail, self._canopy.drawn)
        self._light.update(
            self._surface.texture,
            self._wanted_light,
            quality,
            at_once=self._bake_at_once,
            canopy=self._canopy.texture,
        )

    def _overlay_texture(self, overlay: str, snapshot: Snapshot) -> moderngl.Texture:
        """What the values of an overlay are read from, where it is not the surface alone."""
        row = OVERLAYS[overlay]
        if row.value is Value.CHANGE:
            return self._surface.initial
        if row.drawn:
            return self._overlay_maps.texture(overlay, snapshot, self._layers, self._materials.textures())
        return self._layers.texture(row.layers[0] if row.layers else "")

    def _note_water(self, snapshot: Snapshot) -> None:
        """Take note of whether and where water stands, if that can have changed."""
        water = snapshot.world, snapshot.versions.get("water", -1), snapshot.sea_level
        if water != self._water_noted:
            self._water_noted = water
            wet = wet_cells(snapshot)
            self._water_stands = open_water(wet)
            self._waters = with_waves(wet)
            level = snapshot.layers.get("water_level", np.full(snapshot.shape, snapshot.sea_level, np.float32))
            self._beaches = Shore(shore_blocks(self._waters), water_heights(level, self._waters))

    def _update_shore(self, snapshot: Snapshot, sea: SeaState, quality: Quality) -> None:
        self._shore.update(
            snapshot,
            sea.wave_number,
            self._surface.texture,
            self._layers,
            budget=quality.shore_budget,
            at_once=self._bake_at_once,
        )

    def _fill_frame_block(
        self,
        snapshot: Snapshot,
        camera: Camera,
        scene: Scene,
        weather: Weather,
        storm: float,
        sea: SeaState,
        target: moderngl.Framebuffer,
        time: float,
    ) -> None:
        view = scene.view
        rows, columns = snapshot.shape
        side = max(rows, columns) * snapshot.cell_size
        lowest, highest = snapshot.lowest * view.exaggeration, snapshot.highest * view.exaggeration
        aspect = target.width / target.height
        view_projection = camera.projection(aspect) * camera.view()
        rays = (*camera.picture_axes(aspect), glm.vec3())
        direction, height = math.radians(view.sun_direction), math.radians(view.sun_height)
        eye = camera.position

        block = self._frame.values
        block["view_projection"] = np.array(view_projection.to_list(), np.float32).ravel()
        block["rays"] = [part for ray in rays for part in (*ray, 0.0)]
        block["camera"] = (eye.x, eye.y, eye.z, time)
        block["sun"] = (
            math.sin(direction) * math.cos(height),
            math.sin(height),
            -math.cos(direction) * math.cos(height),
            math.tan(min(height, math.radians(89.5))),
        )
        dimmed = (
            light * math.exp(-storm * part) for light, part in zip(sunlight(view.sun_height), DIMMED, strict=True)
        )
        block["sun_light"] = (*dimmed, exposure(view.sun_height) * 2.0**view.exposure)
        block["map"] = (columns, rows, snapshot.cell_size, view.exaggeration)
        base = lowest - BASE_DEPTH * min(rows, columns) * snapshot.cell_size
        block["heights"] = (lowest, highest, base, side)
        block["air"] = (0.11 * view.haze / side, 0.30 * side, lowest, target.width)
        cover = SEDIMENT_THAT_HIDES * snapshot.cell_size
        snow = snow_line(view, weather, scene.climate.year, snapshot)
        block["ground_look"] = (snow, view.greenness, cover, target.height)
        wind = math.radians(weather.wind_direction)  # where it comes from
        block["wind"] = (-math.sin(wind), math.cos(wind), view.desert, view.drifting_sand)
        relief_in_metres = snapshot.highest - snapshot.lowest
        thinnest, thickest = (max(part * relief_in_metres, 1e-3) for part in BED_SPAN)
        beds = min(max(self._materials.thickness, thinnest), thickest)
        block["strata"] = (1.0 / self._materials.depth, beds, weather.season, 0.0)
        thin = max(DUST_HEIGHT * (highest - lowest), LOWEST_DUST * side)
        block["dust"] = (storm * DUST_DEPTH / side, thin, storm, time * DUST_DRIFT * side)
        sea_level = max(snapshot.sea_level, frame.NO_SEA)
        relief = max(highest - lowest, FLATTEST_RELIEF * side)
        # The variance of the slopes of a sea grows with the wind (Cox and Munk 1954).
        roughness = view.waves * math.sqrt(max(weather.wind_speed / USUAL_WIND, WEAKEST_WIND))
        block["water"] = (UNIT_DEPTH * relief, roughness, WAVE_LENGTH * side, sea_level)
        block["streams"] = (
            math.log2(max(smallest_stream(scene, snapshot), 1e-30)),  # 0 where neither rain nor spring brings water
            1.0 / STREAM_OCTAVES,
            view.flow_speed,
            view.water_clarity,
        )
        for name, value in block_values(scene.waves, sea, time).items():
            block[name] = value
        low, high = self._overlay_span
        overlay = OVERLAYS[view.overlay]
        block["overlay"] = (overlay.value, view.overlay_opacity, overlay.scaled(low), overlay.scaled(high))
        self._frame.upload()


def snow_line(view: ViewParameters, weather: Weather, year: int, snapshot: Snapshot) -> float:
    """The part of the relief above which snow lies: that of the view, or, in a year's course, where it freezes."""
    if year == 0:
        return view.snow_line
    if weather.lapse_rate <= 0.0:
        freezes = -math.inf if weather.temperature < 0.0 else math.inf
    else:
        freezes = weather.temperature / weather.lapse_rate
    part = (freezes - snapshot.lowest) / max(snapshot.highest - snapshot.lowest, 1e-3)
    return min(view.snow_line, min(max(part, -1.0), 2.0))


def smallest_stream(scene: Scene, snapshot: Snapshot) -> float:
    """The discharge of the smallest stream that is seen: metres over one cell in a cycle."""
    rows, columns = snapshot.shape
    drops = scene.droplets.count + sum(spring.drops for spring in read_springs(scene.droplets.springs))
    return scene.view.stream_threshold * drops * scene.droplets.water * snapshot.cell_size / (rows * columns)


def sunlight(height: float) -> tuple[float, float, float]:
    """The colour of sunlight for the sun's height in degrees: white at noon, warm and weaker near the horizon."""
    # Air mass after Kasten and Young (1989); extinction per air mass chosen so that 27° gives (1.00, 0.87, 0.68).
    air = 1.0 / (math.sin(math.radians(height)) + 0.50572 * (height + 6.07995) ** -1.6364)
    extinction = (0.020, 0.083, 0.196)
    strength = SUN_STRENGTH * math.exp(0.020 * 2.19)
    red, green, blue = (strength * math.exp(-value * air) for value in extinction)
    return red, green, blue


def exposure(height: float) -> float:
    """How bright the picture is for the sun's height in degrees: like an eye, it evens out most of the difference."""
    red, green, _ = sunlight(height)
    on_level_ground = 0.5 * (red + green) * math.sin(math.radians(height)) + SKY_STRENGTH
    return 0.80 * min(math.pow(REFERENCE_LIGHT / on_level_ground, 0.75), 1.5)

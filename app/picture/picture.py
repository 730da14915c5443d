"""The picture: takes snapshots, draws the passes in order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import moderngl

from app.model.climate import Weather, weather_of
from app.model.overlays import OVERLAYS, Span, overlay_range
from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.appearance import Appearance
from app.picture.camera import Camera
from app.picture.crop import Crop, whole
from app.picture.passes import frame, table, unlocked
from app.picture.passes.composing import compose
from app.picture.passes.declaration import Frame, Passes, Shot
from app.picture.passes.frame_values import fill_frame_block
from app.picture.passes.land_maps import LandMaps
from app.picture.passes.minimap import Contents, MinimapPass, Rectangle, minimap_rectangle
from app.picture.passes.quality import BY_NAME, AutomaticQuality, FrameTimer, KnownLevels, Quality
from app.picture.passes.resolve import ResolvePass
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.waves import NO_WAVES, drawing_of, sea_state

MINIMAP_PATIENCE = 0.25  # seconds from one to the next while cycles run, at levels that save work


class Picture:
    """Draws a snapshot as a landscape. One GL context, one thread.

    With `bake_at_once` nothing is spread over frames and the quality does not follow the time that frames take: the
    same snapshot and camera always give the same pixels. A picture with a `neighbour` that is drawn in the same frames
    shares its automatic quality, which else begins with the level that the renderer is known to hold.
    """

    def __init__(
        self,
        context: moderngl.Context,
        *,
        bake_at_once: bool = False,
        quality: str = "high",
        content_scale: float = 1.0,
        neighbour: Picture | None = None,
        known_levels: KnownLevels | None = None,
    ) -> None:
        self.context = context
        self.content_scale = content_scale
        self.minimap_width: int | None = None  # the part of the picture that it is fitted into; without it, the whole
        self.software = unlocked.is_software(context)
        self._bake_at_once = bake_at_once
        self._fixed_quality = BY_NAME[quality]
        self._automatic: AutomaticQuality = neighbour._automatic if neighbour else self._opening_quality(known_levels)
        self._timer: FrameTimer = neighbour._timer if neighbour else FrameTimer(self.software)
        self._frame_block = frame.FrameBlock(context)
        self.shaders = ShaderLibrary(context, {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
        self._maps = LandMaps(context, self.shaders, bake_at_once=bake_at_once)
        self._passes = Passes(context, self.shaders, table.PASSES)
        self._resolve = ResolvePass(context, self.shaders)
        self._minimap = MinimapPass(context, self.shaders)
        self._snapshot: Snapshot | None = None
        self._shown = 0  # snapshots so far
        self.frame: Frame | None = None  # what was drawn last

    def _opening_quality(self, known: KnownLevels | None) -> AutomaticQuality:
        """The level that the renderer came to before; else one that suits its kind, judged by its first frames."""
        renderer = self.context.info["GL_RENDERER"]
        level = known.level(renderer) if known else None
        start = level or BY_NAME["low" if self.software else "high"]
        note = partial(known.note, renderer) if known else None
        return AutomaticQuality(start, guessed=level is None, changed=note or (lambda level: None))

    @property
    def snapshot(self) -> Snapshot | None:
        """What is shown."""
        return self._snapshot

    @property
    def frame_settled(self) -> bool:
        """Whether the trees are those of the snapshot, the light that of it and the sun, and the minimap has them."""
        return self._snapshot is None or (self._maps.settled and not self._minimap.is_behind)

    def has_waves(self, appearance: Appearance) -> bool:
        """Whether waves run to a shore, so that the picture changes though nothing else does."""
        return appearance.waves.enabled and self._maps.water_stands

    def is_moving(self, appearance: Appearance) -> bool:
        """Whether the picture changes with time alone: waves and the dust of storms never stand still."""
        snapshot = self._snapshot
        if snapshot is None:
            return False
        view, weather = appearance.view, weather_of(appearance.climate, snapshot.seed, snapshot.cycle)
        return self.has_waves(appearance) or self._dust(weather, view) > 0.0 or OVERLAYS[view.overlay].is_moving

    def show(self, snapshot: Snapshot) -> None:
        """Upload what changed. The snapshot's arrays may be written again once this has returned."""
        self._maps.show(snapshot)
        self._snapshot = snapshot
        self._shown += 1

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
        appearance: Appearance,
        *,
        time: float = 0.0,
        minimap: bool = True,
        overlay_span: Span | None = None,
    ) -> None:
        """Draw sky, land and minimap over the whole of `target`.

        `overlay_span` holds the values at the ends of the overlay's palette; without it, they suit the snapshot.
        """
        slices = self.slices(target, Shot(camera, appearance, time, minimap, overlay_span))
        for _ in self.one_frame(appearance.view, slices):
            pass

    def slices(self, target: moderngl.Framebuffer, shot: Shot) -> Iterator[None]:
        """As `draw`, in slices: between two of them anything else may be drawn, but no snapshot shown.

        On a software rasteriser a slice has been drawn when it ends: what follows does not wait for it, with the
        interpreter's lock in hand.
        """
        snapshot = self._snapshot
        if snapshot is None or target.width < 1 or target.height < 1:
            target.use()
            target.clear(0.10, 0.11, 0.12, 1.0)
            return
        try:
            for _ in self._draw_slices(target, snapshot, shot):
                if self.software:
                    unlocked.finish()
                bound = self.context.fbo
                yield
                bound.use()  # others may have drawn elsewhere
        except Exception:
            self._forget_maps()  # one of them may be half drawn
            raise

    def minimap_rectangle(self, width: int, height: int) -> Rectangle:
        """Where the minimap lies: left, top, width and height in pixels from the top left corner of the picture."""
        rows, columns = self._snapshot.shape if self._snapshot else (1, 1)
        return minimap_rectangle(self.minimap_width or width, height, columns, rows, self.content_scale)

    def reload_shaders(self) -> str:
        """Compile all shaders again. Returns "" or the error; then the old ones run on."""
        error = self.shaders.reload()
        if not error:
            self._forget_maps()
        return error

    def _forget_maps(self) -> None:
        """Redraw all maps, though nothing that they show has changed."""
        self._maps.forget()
        self._minimap.forget()

    def release(self) -> None:
        for made in (
            self._passes,
            self._maps,
            self._resolve,
            self._minimap,
            self._frame_block,
            self.shaders,
        ):
            made.release()

    def _draw_slices(self, target: moderngl.Framebuffer, snapshot: Snapshot, shot: Shot) -> Iterator[None]:
        """Draw maps, passes and minimap; stops where another thing may be drawn between."""
        appearance, view, quality = shot.appearance, shot.appearance.view, self.quality(shot.appearance.view)
        crop = shot.crop or whole(*target.size)
        scene = crop.scaled(quality.scale)
        weather = weather_of(appearance.climate, snapshot.seed, snapshot.cycle)
        sea = sea_state(appearance.waves, weather.wind_speed, snapshot.cell_size, max(snapshot.shape))
        waves = drawing_of(appearance.waves) if self.has_waves(appearance) else NO_WAVES
        storm = self._dust(weather, view)
        span = shot.overlay_span or overlay_range(view.overlay, snapshot)
        threshold = shot.least_discharge
        if threshold is None:
            threshold = appearance.smallest_stream(snapshot.shape, snapshot.cell_size)
        fill_frame_block(
            self._frame_block.values,
            snapshot,
            shot.camera,
            appearance,
            weather,
            sea,
            self._maps.materials,
            storm=storm,
            crop=crop,
            corner=(scene.left, scene.bottom),
            time=shot.time,
            overlay_span=span,
            least_discharge=threshold,
        )
        self._frame_block.upload()
        yield from self._maps.update(snapshot, view, quality, threshold, sea if waves != NO_WAVES else None)
        frame = self.frame = compose(
            snapshot,
            shot,
            quality,
            weather,
            self._maps,
            self._frame_block.values,
            self._resolve.begin(scene.width, scene.height, quality),
            aspect=crop.aspect,
            crop=scene,
            waves=waves,
            least_discharge=threshold,
            with_dust=storm > 0.0,
            at_once=self._bake_at_once,
        )
        yield from self._passes.slices(frame)
        self._resolve.finish(target, quality, scene)
        self._minimap.is_behind = False
        if shot.minimap:
            self._draw_minimap(target, frame, shot, crop, span, threshold)
        yield

    def _draw_minimap(
        self, target: moderngl.Framebuffer, frame: Frame, shot: Shot, crop: Crop, span: Span, threshold: float
    ) -> None:
        view = shot.appearance.view
        moves = frame.waves != NO_WAVES or OVERLAYS[view.overlay].is_moving
        shows_overlay = view.minimap_shows == "overlay" and frame.defines["OVERLAY"] == 1
        simulated = (self._shown, span, threshold, *self._maps.state)
        self._minimap.draw(
            target,
            self.minimap_rectangle(*crop.size),
            crop,
            self.content_scale,
            frame,
            contents=Contents((shot.appearance, frame.snapshot.world), simulated, shot.time if moves else 0.0),
            time=shot.time,
            patience=MINIMAP_PATIENCE if frame.quality.deferred and not self._bake_at_once else 0.0,
            shows=view.minimap_shows,
            with_water=self._maps.with_water and not shows_overlay,
        )

    def _dust(self, weather: Weather, view: ViewParameters) -> float:
        """How much dust is in the air: some in any storm over loose sand, and more where the wind carries much."""
        return weather.storm * view.dust * self._maps.sand_in_air

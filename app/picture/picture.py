"""The picture: takes snapshots, draws the passes in order."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.climate import Weather, weather_of, with_storm
from app.model.overlays import OVERLAYS, Span, overlay_range
from app.model.snapshot import Snapshot
from app.model.view_parameters import ViewParameters
from app.picture.appearance import Appearance
from app.picture.camera import Camera
from app.picture.crop import Crop, whole
from app.picture.ground_colours import draw_ground_colours
from app.picture.layers import DRAWN_BY, NOTHING, SurfaceOfLand, surface_layers
from app.picture.passes import frame, table, unlocked
from app.picture.passes.atmosphere import Sky
from app.picture.passes.composing import compose
from app.picture.passes.declaration import Frame, Passes, Shot
from app.picture.passes.frame_values import fill_frame_block, snow_line
from app.picture.passes.land_maps import LandMaps
from app.picture.passes.minimap import Contents, MinimapPass, Rectangle, Shows, minimap_rectangle
from app.picture.passes.quality import BY_NAME, LEVELS, AutomaticQuality, FrameTimer, Haste, KnownLevels, Quality
from app.picture.passes.rain import falling, storms_are_dry
from app.picture.passes.resolve import ResolvePass
from app.picture.passes.shaders import ShaderLibrary
from app.picture.passes.swell import StraightWaves, Swell, swell_is_ready
from app.picture.passes.taken import Taken
from app.picture.passes.waves import NATURAL, NO_WAVES, drawing_of, run_up, sea_state

LEAST_DUST = 0.4  # of the most that is in the air, where a storm is wished for before wind has carried any
SMALL_SIDE = 16  # pixels of a throwaway frame
FINEST_AT_REST = BY_NAME["high"]
MINIMAP_PATIENCE = 0.25  # seconds between updates while cycles run, at low levels


class Picture:
    """Draws a snapshot as a landscape. One GL context, one thread.

    With `bake_at_once` no work is spread over frames and the quality does not adapt: the same snapshot and camera
    always give the same pixels. Nor does the quality adapt where a level of it is given. Pictures drawn in the same
    frames share the automatic quality of their `neighbour`; otherwise it starts at the known level of the renderer.
    """

    def __init__(
        self,
        context: moderngl.Context,
        *,
        bake_at_once: bool = False,
        quality: str | None = None,
        content_scale: float = 1.0,
        neighbour: Picture | None = None,
        known_levels: KnownLevels | None = None,
        library: type[ShaderLibrary] = ShaderLibrary,
    ) -> None:
        self.context = context
        self.content_scale = content_scale
        self.least_scale = 0.0  # least scale of the scene relative to the picture, for all levels
        self.minimap_width: int | None = None  # width available to the minimap; None: the whole picture
        self.software = unlocked.is_software(context)
        self._bake_at_once = bake_at_once
        self._fixed_quality = BY_NAME[quality or "high"] if quality or bake_at_once else None
        self._automatic: AutomaticQuality = neighbour._automatic if neighbour else self._opening_quality(known_levels)
        self._haste: Haste = neighbour._haste if neighbour else Haste()
        self._timer: FrameTimer = neighbour._timer if neighbour else FrameTimer(self.software)
        self._frame_block = frame.FrameBlock(context)
        self.shaders = library(context, {frame.INCLUDE: frame.glsl()}, {frame.BLOCK: frame.BINDING})
        self._maps = LandMaps(context, self.shaders, bake_at_once=bake_at_once)
        self._sky = Sky(context, self.shaders)
        self._passes = Passes(context, self.shaders, table.PASSES)
        self._resolve = ResolvePass(context, self.shaders)
        self._minimap = MinimapPass(context, self.shaders)
        self._snapshot: Snapshot | None = None
        self._shown = 0  # number of snapshots so far
        self.frame: Frame | None = None  # the last frame

    def _opening_quality(self, known: KnownLevels | None) -> AutomaticQuality:
        """The level of the renderer in earlier runs, or a guess that the first frames judge."""
        renderer = self.context.info["GL_RENDERER"]
        level = known.level(renderer) if known else None
        start = level or BY_NAME["low" if self.software else "high"]
        note = partial(known.note, renderer) if known else None
        return AutomaticQuality(start, guessed=level is None, changed=note or (lambda level: None))

    @property
    def snapshot(self) -> Snapshot | None:
        """The shown snapshot."""
        return self._snapshot

    @property
    def frame_settled(self) -> bool:
        """Whether streams, cover, trees, light and minimap are up to date."""
        return self._snapshot is None or (self._maps.settled and not self._minimap.is_behind)

    def may_stay(self, time: float) -> bool:
        """Whether streams, cover, trees and light are up to date, and the minimap recent enough."""
        return self._snapshot is None or (self._maps.settled and self._minimap.may_stay(time))

    def has_waves(self, appearance: Appearance) -> bool:
        """Whether waves animate the picture."""
        return appearance.waves.enabled and self._maps.water_stands

    def is_moving(self, appearance: Appearance, *, beside_waves: bool = False) -> bool:
        """Whether the picture is animated by waves, dust, rain or arrows, or by anything `beside_waves`."""
        snapshot = self._snapshot
        if snapshot is None:
            return False
        view, weather = appearance.view, _seen_weather(appearance, snapshot)
        in_air = max(self._dust(weather, view), self._falling(weather, view, self.quality(view)))
        waves = self.has_waves(appearance) and not beside_waves
        return waves or in_air > 0.0 or OVERLAYS[view.overlay].is_moving

    def show(self, snapshot: Snapshot) -> None:
        """Upload changed layers. The arrays of the snapshot may be reused afterwards."""
        self._maps.show(snapshot)
        self._snapshot = snapshot
        self._shown += 1

    def finer_levels(self, view: ViewParameters) -> int:
        """How many levels of quality a software rasteriser can go up while nothing moves."""
        if not self.software or self._fixed_quality is not None or view.quality != "automatic":
            return 0
        return max(LEVELS.index(FINEST_AT_REST) - LEVELS.index(BY_NAME[self.quality(view).name]), 0)

    def quality(self, view: ViewParameters, finer: int = 0) -> Quality:
        """The current level of quality, or one that is so many levels above it."""
        if view.quality != "automatic":
            level = BY_NAME[view.quality]
        else:
            level = self._fixed_quality or self._automatic.level
        if finer:
            level = LEVELS[min(LEVELS.index(level) + finer, LEVELS.index(FINEST_AT_REST))]
        return level if level.scale >= self.least_scale else replace(level, scale=self.least_scale)

    def one_frame(self, view: ViewParameters, slices: Iterator[None], *, hasty: bool = False) -> Iterator[None]:
        """The slices of one frame, timed for the automatic quality, or for the size of a `hasty` picture."""
        if hasty:
            return self._timer.measure(slices, self._haste.measure) if self.software else slices
        if view.quality == "automatic" and self._fixed_quality is None:
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
        """Like `draw`, in slices. Between them, anything else may be drawn, but `show` must not be called.

        On a software rasteriser each slice waits until it is drawn, with the interpreter's lock released; otherwise a
        later call would wait and hold the lock.
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
                bound.use()  # other drawing may have changed the binding
        except Exception:
            self._forget_maps()  # a map may be incomplete
            raise

    def minimap_rectangle(self, width: int, height: int) -> Rectangle:
        """The minimap's left, top, width and height, in pixels from the top left corner of the picture."""
        rows, columns = self._snapshot.shape if self._snapshot else (1, 1)
        return minimap_rectangle(self.minimap_width or width, height, columns, rows, self.content_scale)

    def reload_shaders(self) -> str:
        """Compile all shaders again. Returns "" or the error, in which case the old ones stay in use."""
        error = self.shaders.reload()
        if not error:
            self._forget_maps()
        return error

    def _forget_maps(self) -> None:
        """Force a redraw of all maps."""
        self._maps.forget()
        self._sky.forget()
        self._minimap.forget()

    def release(self) -> None:
        for made in (
            self._passes,
            self._sky,
            self._maps,
            self._resolve,
            self._minimap,
            self._frame_block,
            self.shaders,
        ):
            made.release()

    def layers(self, shot: Shot, crop: Crop, land: SurfaceOfLand) -> dict[str, NDArray[np.generic]]:
        """Draw a part of a picture as the channels in `CHANNELS`: name to [row, column], top row first."""
        assert self._snapshot is not None
        quality = replace(self.quality(shot.appearance.view), scale=1.0, fxaa=False)
        shot = _complete(shot, self._snapshot)
        frame = _last(self._composed(self._snapshot, shot, crop, quality))
        for _ in self._passes.drawn(frame):
            pass
        light = np.frombuffer(self._resolve.light().read(components=3, dtype="f2"), np.float16)
        exposed = light.reshape(crop.height, crop.width, 3)[::-1] * self._frame_block.values["sun_light"][3]
        frame = _last(self._composed(self._snapshot, shot, crop, replace(quality, samples=0)))
        depth = np.ones((crop.height, crop.width), np.float32)
        drawn = np.full(depth.shape, NOTHING, np.uint32)
        for row in self._passes.drawn(frame):
            if row.name in DRAWN_BY:
                now = np.frombuffer(frame.scene.read(attachment=-1, components=1, dtype="f4"), np.float32).reshape(
                    depth.shape
                )
                drawn[now < depth] = DRAWN_BY[row.name]
                depth = now
        colours = {name: exposed[..., place].astype(np.float16) for place, name in enumerate("RGB")}
        return colours | surface_layers(depth[::-1], drawn[::-1], shot.camera, crop, land)

    def ground_colours(self, shot: Shot, width: int, height: int) -> NDArray[np.uint8]:
        """The unlit colours of the ground of the whole map, see `draw_ground_colours`."""
        assert self._snapshot is not None
        shot, quality = _complete(shot, self._snapshot), self.quality(shot.appearance.view)
        frame = _last(self._composed(self._snapshot, shot, whole(SMALL_SIDE, SMALL_SIDE), quality))
        return draw_ground_colours(self.context, self.shaders, frame, width, height)

    def _draw_slices(self, target: moderngl.Framebuffer, snapshot: Snapshot, shot: Shot) -> Iterator[None]:
        """Draw maps, passes and minimap in slices."""
        quality = self.quality(shot.appearance.view, shot.finer)
        if shot.hasty and self.software:
            quality = replace(quality, scale=self._haste.scale * quality.scale)
        crop, shot = shot.crop or whole(*target.size), _complete(shot, snapshot)
        frame = yield from self._composed(snapshot, shot, crop, quality)
        yield from self._passes.slices(frame)
        self._resolve.finish(target, frame)
        if shot.minimap:
            self._draw_minimap(target, frame, shot, crop)
        else:
            self._minimap.leave_out()
        yield

    def _composed(self, snapshot: Snapshot, shot: Shot, crop: Crop, quality: Quality) -> Generator[None, None, Frame]:
        """Update the maps, and compose the frame of a part of a picture."""
        appearance, view = shot.appearance, shot.appearance.view
        scene = crop.scaled(quality.scale)
        weather = _seen_weather(appearance, snapshot)
        climate = appearance.climate
        side = max(snapshot.shape)
        sea = sea_state(appearance.waves, climate.wind_speed, snapshot.cell_size, side, gust_speed=weather.wind_speed)
        waves = drawing_of(appearance.waves) if self.has_waves(appearance) else NO_WAVES
        # Swell comes from far away, so it follows the prevailing wind, not seasons or gusts. A year can pass in
        # seconds, and all crests would jump with each change of direction.
        swell = Swell(sea.wave_number, (climate.wind_direction + 180.0) % 360.0)
        comes = waves == NATURAL and (self._bake_at_once or swell_is_ready())
        incoming = swell if comes else StraightWaves(sea.wave_number)
        # Nothing takes root within the reach of usual waves, even in a calm.
        usual = sea_state(appearance.waves, climate.wind_speed, snapshot.cell_size, side)
        swept = run_up(appearance.waves, usual, snapshot.cell_size) if waves == NATURAL else None
        storm, rain = self._dust(weather, view), self._falling(weather, view, quality)
        taken = Taken(snapshot, shot, quality, scene, crop.aspect, weather, sea, waves, storm, rain)
        fill_frame_block(self._frame_block.values, taken, self._maps.materials, self._sky.update(view))
        self._frame_block.upload()
        to_shore = incoming if waves != NO_WAVES else None
        snow = snow_line(view, weather, snapshot)
        assert shot.least_discharge is not None
        stream, width = shot.least_discharge, shot.appearance.runoff.river_width
        drawn_with = snapshot, view, quality, stream, width, snow, to_shore, swept, weather
        yield from self._maps.update(*drawn_with, at_rest=shot.finer > 0)
        targets = self._resolve.begin(scene.width, scene.height, quality)
        block = self._frame_block.values
        frame = self.frame = compose(taken, self._maps, self._sky, block, targets, at_once=self._bake_at_once)
        return frame

    def _draw_minimap(self, target: moderngl.Framebuffer, frame: Frame, shot: Shot, crop: Crop) -> None:
        view = shot.appearance.view
        moves = frame.waves != NO_WAVES or OVERLAYS[view.overlay].is_moving
        shows_overlay = view.minimap_shows == "overlay" and frame.defines["OVERLAY"] == 1
        simulated = (self._shown, shot.overlay_span, shot.least_discharge, *self._maps.state)
        self._minimap.draw(
            target,
            self.minimap_rectangle(*crop.size),
            crop,
            self.content_scale,
            frame,
            contents=Contents((shot.appearance, frame.snapshot.world), simulated, shot.time if moves else 0.0),
            time=shot.time,
            patience=MINIMAP_PATIENCE if frame.quality.deferred and not self._bake_at_once else 0.0,
            shows=Shows(view.minimap_shows, self._maps.with_water, shows_overlay),
        )

    def _dust(self, weather: Weather, view: ViewParameters) -> float:
        """Amount of dust in the air: any storm over loose sand has some, and more if the wind carries much."""
        assert self._snapshot is not None
        least = LEAST_DUST if view.storm > 0.0 and storms_are_dry(self._snapshot, view) else 0.0
        return weather.storm * view.dust * max(self._maps.sand_in_air, least)

    def _falling(self, weather: Weather, view: ViewParameters, quality: Quality) -> float:
        """Amount of visible rain or snow; 0 at levels of quality that do not show it."""
        assert self._snapshot is not None
        return 0.0 if quality.deferred else falling(weather, view.rain, over_sand=storms_are_dry(self._snapshot, view))


def _seen_weather(appearance: Appearance, snapshot: Snapshot) -> Weather:
    return with_storm(weather_of(appearance.climate, snapshot.seed, snapshot.cycle), appearance.view.storm)


def _complete(shot: Shot, snapshot: Snapshot) -> Shot:
    """The shot with missing options chosen for the snapshot."""
    span, threshold, appearance = shot.overlay_span, shot.least_discharge, shot.appearance
    return shot._replace(
        overlay_span=overlay_range(appearance.view.overlay, snapshot) if span is None else span,
        least_discharge=appearance.runoff.smallest_stream(snapshot.reference_cell_size or snapshot.cell_size)
        if threshold is None
        else threshold,
    )


def _last(slices: Generator[None, None, Frame]) -> Frame:
    """Run all slices and return the result."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            frame: Frame = end.value
            return frame

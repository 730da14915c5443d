"""Resolve of the linear scene to the finished picture: multisampling, tone mapping, antialiasing."""

from __future__ import annotations

import math

import moderngl

from app.picture.passes.backdrop import raised_land
from app.picture.passes.declaration import Frame
from app.picture.passes.quality import Quality
from app.picture.passes.shaders import FullScreen, ShaderLibrary
from app.picture.passes.surroundings import REACH
from app.picture.passes.targets import colour, release_all, release_targets, released_on_error

ALWAYS = "1"  # a depth_func
CLOUD_EDGE = 3  # extra pixels of clouds: two at the edges, and one for odd sides


class ResolvePass:
    """Owns the framebuffers of a scene, and resolves them into pixels of the target."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._tone = FullScreen(context, shaders, "tone.frag")
        # Pixels at outlines are marked in the depth buffer: only a depth test spares software all other pixels.
        self._tone_and_mark = FullScreen(context, shaders, "tone.frag", {"OUTLINES": 1}, depth_func=ALWAYS)
        self._outlines = FullScreen(context, shaders, "outlines.frag", depth_func="<=")
        self._smooth = FullScreen(context, shaders, "fxaa.frag")
        self._enlarge = FullScreen(context, shaders, "copy.frag")
        self._framebuffers: dict[str, moderngl.Framebuffer] = {}
        self._made_for: tuple[object, ...] | None = None

    def begin(self, width: int, height: int, quality: Quality) -> dict[str, moderngl.Framebuffer]:
        """Clear the render targets for a scene of this size, and bind the `scene`.

        Without multisampling there are `places`, metres east and south of each pixel that shows ground. Clouds with
        depth have a target at half resolution.
        """
        size = width, height
        samples = min(quality.samples, self._context.max_samples)
        wanted = size, samples, quality.deep_clouds
        if self._made_for != wanted:
            self._make(*wanted)
            self._made_for = wanted
        scene = self._framebuffers["samples" if samples else "scene"]
        scene.use()
        scene.clear(0.0, 0.0, 0.0, 1.0, depth=1.0)
        targets = {"scene": scene}
        if quality.deep_clouds:
            targets["clouds"] = self._framebuffers["clouds"]
        if not samples:
            targets["places"] = self._framebuffers["places"]
            targets["places"].clear(depth=1.0)
        return targets

    def finish(self, target: moderngl.Framebuffer, frame: Frame) -> None:
        """Resolve the scene into the whole of `target`."""
        quality, crop = frame.quality, frame.crop
        scene = self.light()
        for tone in (self._tone, self._tone_and_mark):
            tone.program.set(brightness_in_alpha=quality.fxaa)
        last: FullScreen | None = None  # after tone mapping, which runs at the smaller resolution
        if quality.fxaa:
            last = self._smooth
        elif quality.scale < 1.0 or quality.outlines:
            last = self._enlarge
        toned = self._framebuffers["toned"] if last else target
        across, up = crop.size
        part = (*crop.scale, crop.left / across, crop.bottom / up)
        width, height = toned.size
        land = rows_of_land(frame) if quality.outlines else 0
        drawings = [(self._tone, land, height), (self._tone_and_mark, 0, land), (self._outlines, 0, land)]
        for drawing, low, high in drawings:
            if low < high:
                drawing.program.set(part=part)
                drawing.program.bind(scene=colour(scene))
                drawing.draw(toned, (0, low, width, high - low))
        if last:
            last.program.bind(picture=colour(toned))
            last.draw(target)

    def light(self) -> moderngl.Framebuffer:
        """The scene in linear light, with samples averaged."""
        scene = self._framebuffers["scene"]
        if "samples" in self._framebuffers:
            self._context.copy_framebuffer(scene, self._framebuffers["samples"])
        return scene

    def release(self) -> None:
        self._release_framebuffers()
        release_all(self._tone, self._tone_and_mark, self._outlines, self._smooth, self._enlarge)

    def _make(self, size: tuple[int, int], samples: int, deep_clouds: bool) -> None:
        self._release_framebuffers()
        self._made_for = None
        context = self._context
        with released_on_error() as keep:
            scene = keep(context.texture(size, 4, dtype="f2"))
            toned = keep(context.texture(size, 4))
            of_clouds = size[0] // 2 + CLOUD_EDGE, size[1] // 2 + CLOUD_EDGE
            clouds = [keep(context.texture(of_clouds, 4, dtype="f2"))] if deep_clouds else []
            for texture in (scene, toned, *clouds):
                texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
                texture.repeat_x = texture.repeat_y = False
            depth = None if samples else keep(context.depth_renderbuffer(size))
            framebuffers = {
                "scene": keep(context.framebuffer([scene], depth)),
                "toned": keep(context.framebuffer([toned], depth)),
            }
            if clouds:
                framebuffers["clouds"] = keep(context.framebuffer(clouds))
            if samples:
                colours = keep(context.renderbuffer(size, 4, samples=samples, dtype="f2"))
                depths = keep(context.depth_renderbuffer(size, samples=samples))
                framebuffers["samples"] = context.framebuffer([colours], depths)
            else:
                places = keep(context.texture(size, 2, dtype="f4"))
                places.filter = (moderngl.NEAREST, moderngl.NEAREST)
                framebuffers["places"] = context.framebuffer([places], depth)
            self._framebuffers = framebuffers

    def _release_framebuffers(self) -> None:
        release_targets(self._framebuffers.values())
        self._framebuffers.clear()


def rows_of_land(frame: Frame) -> int:
    """The number of rows of the drawn part, from the bottom, that may show land, also around the block, or trees."""
    height, snapshot, eye = frame.crop.height, frame.snapshot, frame.camera.position
    trees = 2.0 * frame.tree_view.tallest if frame.selected_trees is not None else 0.0
    above = eye.y - snapshot.highest * frame.exaggeration - trees
    if above <= 0.0:
        return height
    # Seen from above, all land is below the horizon, by at least the slope to its greatest height, farthest away.
    rows, columns = snapshot.shape
    east, south = (max(abs(at), abs(at - side * snapshot.cell_size)) for at, side in ((eye.x, columns), (eye.z, rows)))
    farthest = math.hypot(east, south)
    if raised_land(frame.camera, snapshot, frame.table_height):
        farthest += REACH * max(rows, columns) * snapshot.cell_size
    horizon = frame.camera.horizon(frame.aspect, above / farthest)  # from 0 at the bottom to 1
    line = horizon * frame.crop.size[1] - frame.crop.bottom
    return math.ceil(min(max(line + 1.0, 0.0), height))

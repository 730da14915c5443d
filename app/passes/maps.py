"""Map textures: the layers as they are uploaded, the surface that is joined from them, and the light baked on it."""

from __future__ import annotations

import moderngl

from app.passes.quality import Quality
from app.passes.shaders import FullScreen, ShaderLibrary
from app.snapshot import Snapshot


class LayerTextures:
    """One R32F texture for each layer; two sets in turn, because writing to one that is still drawn from would wait."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._sets: list[dict[str, moderngl.Texture]] = [{}, {}]
        self._versions: list[dict[str, tuple[int, int]]] = [{}, {}]
        self._turn = 0

    def upload(self, snapshot: Snapshot) -> dict[str, moderngl.Texture]:
        """Textures with the layers of a snapshot; only those that this set does not hold yet are sent."""
        self._turn = 1 - self._turn
        textures, versions = self._sets[self._turn], self._versions[self._turn]
        rows, columns = snapshot.shape
        for name, layer in snapshot.layers.items():
            version = (snapshot.world, snapshot.versions[name])
            if name not in textures or textures[name].size != (columns, rows):
                if name in textures:
                    textures[name].release()
                textures[name] = self._context.texture((columns, rows), 1, dtype="f4")
                textures[name].filter = (moderngl.NEAREST, moderngl.NEAREST)
            elif versions.get(name) == version:
                continue
            textures[name].write(layer)
            versions[name] = version
        return textures

    def release(self) -> None:
        for textures in self._sets:
            for texture in textures.values():
                texture.release()
            textures.clear()


class SurfaceMap:
    """Elevation, its slopes to the east and south, and sediment in one RGBA32F texture; and the one of the start."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = FullScreen(context, shaders, "surface.frag")
        self._targets: list[moderngl.Framebuffer] = []
        self._world = -1

    @property
    def texture(self) -> moderngl.Texture:
        return _colour(self._targets[0])

    @property
    def initial(self) -> moderngl.Texture:
        """The surface that the world had when it was first shown."""
        return _colour(self._targets[1])

    def update(self, snapshot: Snapshot, layers: dict[str, moderngl.Texture]) -> None:
        rows, columns = snapshot.shape
        if not self._targets or self._targets[0].size != (columns, rows):
            self.release()
            self._targets = [_map_target(self._context, columns, rows, "f4") for _ in range(2)]
        self._draw(self._targets[0], layers)
        if snapshot.world != self._world:
            self._world = snapshot.world
            self._draw(self._targets[1], layers)

    def release(self) -> None:
        for target in self._targets:
            _release_target(target)
        self._targets = []
        self._drawing.release()

    def _draw(self, target: moderngl.Framebuffer, layers: dict[str, moderngl.Texture]) -> None:
        target.use()
        target.viewport = (0, 0, *target.size)
        target.scissor = None
        self._context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self._drawing.program.bind(bedrock=layers["bedrock"], sediment=layers["sediment"])
        self._drawing.draw()


class LightMap:
    """Sun and sky visibility of each cell, baked in bands over frames into a second texture, which then takes over."""

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._drawing = FullScreen(context, shaders, "light.frag")
        self._targets: list[moderngl.Framebuffer] = []
        self._baked: object = None  # what the texture in use was baked for
        self._baking: object = None
        self._row = 0

    @property
    def texture(self) -> moderngl.Texture:
        return _colour(self._targets[0])

    def settled(self, wanted: object) -> bool:
        """Whether the texture in use was baked for `wanted`."""
        return self._baked == wanted

    def update(self, surface: moderngl.Texture, wanted: object, quality: Quality, *, at_once: bool) -> None:
        """Bake on towards `wanted`, which names ground and sun: all of it, or as much as the quality's budget."""
        columns, rows = surface.size
        if not self._targets or self._targets[0].size != (columns, rows):
            self.release()
            self._targets = [_map_target(self._context, columns, rows, "f1") for _ in range(2)]
            at_once = True  # the first picture has its light
        if self._baking is None:
            if self._baked == wanted:
                return
            self._baking, self._row = wanted, 0
        if at_once and self._baking != wanted:
            self._baking, self._row = wanted, 0
        band = rows if at_once else max(1, quality.light_budget // columns)
        self._draw(surface, quality, self._row, min(band, rows - self._row))
        self._row += band
        if self._row >= rows:
            self._targets.reverse()
            self._baked, self._baking = self._baking, None

    def release(self) -> None:
        for target in self._targets:
            _release_target(target)
        self._targets = []
        self._baked = self._baking = None
        self._drawing.release()

    def _draw(self, surface: moderngl.Texture, quality: Quality, first: int, count: int) -> None:
        target = self._targets[1]
        target.use()
        target.viewport = (0, 0, *target.size)
        target.scissor = (0, first, target.width, count)
        self._context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
        self._drawing.program.bind(surface=surface)
        self._drawing.program.set(
            sun_steps=quality.sun_steps, sky_directions=quality.sky_directions, sky_steps=quality.sky_steps
        )
        self._drawing.draw()
        target.scissor = None


def _map_target(context: moderngl.Context, columns: int, rows: int, dtype: str) -> moderngl.Framebuffer:
    texture = context.texture((columns, rows), 4, dtype=dtype)
    texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return context.framebuffer([texture])


def _colour(target: moderngl.Framebuffer) -> moderngl.Texture:
    texture = target.color_attachments[0]
    assert isinstance(texture, moderngl.Texture)
    return texture


def _release_target(target: moderngl.Framebuffer) -> None:
    for attachment in target.color_attachments:
        attachment.release()
    target.release()

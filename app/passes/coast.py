"""The coast: for each cell how far it is to the nearest shore and which way, found on the GPU by jump flooding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import moderngl

from app.passes.gradual import GradualWork, draw_in_bands
from app.passes.shaders import FullScreen, ShaderLibrary
from app.passes.targets import colour, map_target, release_targets
from app.snapshot import Snapshot

NO_COAST = 1e5  # cells to the shore where there is none
SMALLEST_LAKE = 16.0  # cells across: smaller waters have no waves

# The layers that the coast follows from
GROUND_AND_WATER = ("bedrock", "sediment", "water", "water_level")


class Coastline(NamedTuple):
    """What a coast depends on."""

    world: int
    versions: tuple[int, ...]


def coastline(snapshot: Snapshot) -> Coastline | None:
    """What the coast of a snapshot depends on, or None where no water stands."""
    if "water" not in snapshot.layers or not snapshot.layers["water"].any():
        return None
    return Coastline(snapshot.world, tuple(snapshot.versions[name] for name in GROUND_AND_WATER))


class CoastMap:
    """Signed distance to the nearest coast, and the way inland, for each cell of a map.

    The texture (RGBA32F) holds the distance in cells, positive on water and negative on land; the unit vector (east,
    south) towards land, so that the nearest point of the coast is the cell's middle plus distance × vector; and 0 on
    water that is too small to have waves, else 1. Without any coast the distance is ±`NO_COAST` and the vector 0.

    The coast is the line where the level of the water meets the ground, straight within each square between four cells.
    It is worked out over frames, in textures of its own: what is shown stays whole until then.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        self._bodies = FullScreen(context, shaders, "coast/bodies.frag")
        self._contour = FullScreen(context, shaders, "coast/contour.frag")
        self._seeds = FullScreen(context, shaders, "coast/seeds.frag")
        self._flood = FullScreen(context, shaders, "coast/flood.frag")
        self._field = FullScreen(context, shaders, "coast/field.frag")
        self._work = GradualWork()
        self._targets: dict[str, moderngl.Framebuffer] = {}

    @property
    def texture(self) -> moderngl.Texture:
        return colour(self._targets["shown"])

    @property
    def shown(self) -> Coastline | None:
        """What the texture was made for; None before the first."""
        done = self._work.done
        assert done is None or isinstance(done, Coastline)
        return done

    def update(
        self,
        wanted: Coastline,
        surface: moderngl.Texture,
        layers: Mapping[str, moderngl.Texture],
        sea_level: float,
        *,
        budget: int,
        at_once: bool = False,
    ) -> bool:
        """Work on towards `wanted`: `budget` texels, or all for a new world. True when the texture has changed."""
        at_once = at_once or self.shown is None or self.shown.world != wanted.world
        at_a_time = surface.width * surface.height if at_once else budget

        def begin() -> Iterator[int]:
            return self._find(surface, layers, sea_level, at_a_time)

        changed = self._work.advance(wanted, begin, budget, at_once=at_once)
        if changed:
            self._targets["shown"], self._targets["next"] = self._targets["next"], self._targets["shown"]
        return changed

    def forget(self) -> None:
        """Find the coast anew, though nothing has moved."""
        self._work.forget()

    def release(self) -> None:
        release_targets(self._targets.values())
        self._targets.clear()
        self._work.forget()
        for drawing in (self._bodies, self._contour, self._seeds, self._flood, self._field):
            drawing.release()

    def _find(
        self, surface: moderngl.Texture, layers: Mapping[str, moderngl.Texture], sea_level: float, texels: int
    ) -> Iterator[int]:
        self._fit(surface.size)
        water = {name: layers[name] for name in ("water", "water_level")}
        bodies, contour = self._targets["bodies"], self._targets["contour"]
        seeds, flooded = self._targets["seeds"], self._targets["flooded"]

        # The layers may be others in the next frame: what is read of them is read at once.
        cells = surface.width * surface.height
        drawn = sum(draw_in_bands(self._bodies, bodies, cells, water, sea_level=max(sea_level, -3e38)))
        colour(bodies).build_mipmaps()
        around = {"bodies": colour(bodies)}
        contour_from = {"surface": surface, **water, **around}
        drawn += sum(draw_in_bands(self._contour, contour, cells, contour_from, smallest_lake=SMALLEST_LAKE))
        yield drawn

        segments = {"segments": colour(contour, 0), "other_segments": colour(contour, 1)}
        yield from draw_in_bands(self._seeds, seeds, texels, segments)
        for reach in reaches(max(surface.size)):
            yield from draw_in_bands(self._flood, flooded, texels, {"seeds": colour(seeds)}, reach=reach)
            seeds, flooded = flooded, seeds
        field_from = {"seeds": colour(seeds), **segments, **around}
        field_is = {"no_coast": NO_COAST, "smallest_lake": SMALLEST_LAKE}
        yield from draw_in_bands(self._field, self._targets["next"], texels, field_from, **field_is)

    def _fit(self, size: tuple[int, int]) -> None:
        """Targets of the size of the map."""
        if self._targets and self._targets["next"].size == size:
            return
        outgrown = list(self._targets.values())
        segments = [self._context.texture(size, 4, dtype="f2") for _ in range(2)]
        bodies = map_target(self._context, size, 2, "f1")
        colour(bodies).build_mipmaps()
        colour(bodies).filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        self._targets = {
            "bodies": bodies,
            "contour": self._context.framebuffer(segments),
            "seeds": map_target(self._context, size, 2, "f4"),
            "flooded": map_target(self._context, size, 2, "f4"),
            "shown": map_target(self._context, size, 4, "f4"),
            "next": map_target(self._context, size, 4, "f4"),
        }
        release_targets(outgrown)


def reaches(side: int) -> Iterator[int]:
    """How far each pass of the flooding looks on a map of that longer side: halved each time, and 1 once more."""
    reach = 1
    while 2 * reach < side:
        reach *= 2
    while reach > 1:
        yield reach
        reach //= 2
    yield 1
    yield 1

"""The shore: distance to the nearest coast and phase of the waves, computed on the GPU over several frames."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.layers import SWELL_EAST, SWELL_SOUTH
from app.model.snapshot import Snapshot
from app.picture.passes.blocks import reduce_blocks
from app.picture.passes.frame import NO_SEA
from app.picture.passes.gradual import GradualWork, draw_in_bands
from app.picture.passes.maps import LayerTextures
from app.picture.passes.mipmaps import Mipmaps
from app.picture.passes.shaders import FullScreen, ShaderLibrary, Uniform
from app.picture.passes.standing_water import RUNNING
from app.picture.passes.swell import SeaGrid, Swell, Waves, sea_grid, swell_field
from app.picture.passes.targets import MIPMAPPED, MapTarget, release_all

NO_COAST = 1e5  # cells to the shore if there is none
WIDE = 4  # cells across: narrower water is a puddle or a brook
LOOKS_APART = 12  # frames between checks of a coast that has not moved
SMALLEST_LAKE = 16.0  # cells across: smaller waters have no waves

# Search distance of each pass for waves that arrive sooner from another coast
MEETINGS = (8, 4, 2, 1, 1)

# Intermediate results that are kept: components and format of each texture of a target
TARGETS: dict[str, tuple[tuple[int, str], ...]] = {
    "land": ((4, "f1"), (2, "f4")),  # bodies of water; heights of ground and water
    "known land": ((4, "f1"), (2, "f4")),  # the same, for which the shore was found
    "contour": ((4, "f2"), (4, "f2")),  # segments of the coast, two in each square between four cells
    "seeds": ((2, "f4"),),
    "flooded": ((2, "f4"),),
    "bed": ((1, "f4"),),
    "coast": ((4, "f4"),),
    "waves": ((4, "f4"), (4, "f4")),  # nearshore, surf
    "next coast": ((4, "f4"),),
    "next waves": ((4, "f4"), (4, "f4")),
    "swell": ((2, "f4"),),  # on its own grid
}


def open_water(wet: NDArray[np.bool_]) -> bool:
    """Whether there is any water wider than puddles and brooks."""
    rows, columns = (side // WIDE * WIDE for side in wet.shape)
    return bool(reduce_blocks(wet[:rows, :columns], WIDE, np.logical_and).any())


def with_waves(wet: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells of waters that are wide somewhere, where waves can run to a shore. Puddles and brooks have none.

    Waters closer to each other than a block of `WIDE` cells count as one.
    """
    rows, columns = wet.shape
    padded = np.pad(wet, [(0, -rows % WIDE), (0, -columns % WIDE)])
    some = reduce_blocks(padded, WIDE, np.logical_or)
    found = np.pad(reduce_blocks(padded, WIDE, np.logical_and), 1)
    number, grown = -1, 0
    while grown != number:
        number = grown
        found[:, 1:-1] |= found[:, :-2] | found[:, 2:]
        found[1:-1] |= found[:-2] | found[2:]
        found[1:-1, 1:-1] &= some
        found[[0, -1]] = found[:, [0, -1]] = False
        grown = int(np.count_nonzero(found))
    return np.asarray(wet & found[1:-1, 1:-1].repeat(WIDE, axis=0).repeat(WIDE, axis=1)[:rows, :columns])


class Shoreline(NamedTuple):
    """The inputs of a shore."""

    world: int
    versions: tuple[int, ...]  # of the layers that it depends on
    waves: Waves
    swell: int = -1  # version of the swell of a process

    def same_coast(self, other: Shoreline | None) -> bool:
        return other is not None and (self.world, self.versions) == (other.world, other.versions)

    def same_waves(self, other: Shoreline | None) -> bool:
        return other is not None and (self.waves, self.swell) == (other.waves, other.swell)


def wet_cells(snapshot: Snapshot) -> NDArray[np.bool_]:
    """The cells with standing water, `[row, column]`."""
    layers = snapshot.layers
    if "water" in layers:
        return layers["water"] > 0.0
    if snapshot.lowest >= snapshot.sea_level:
        return np.zeros(snapshot.shape, bool)
    return snapshot.ground() < snapshot.sea_level  # before the first cycle


def has_calm_shore(snapshot: Snapshot) -> bool:
    """Whether waves come to the shore of a calm sea, wherever that can stand.

    So they do before the first cycle, when no level is known, and where the sea runs: as its level varies, there is no
    line around it, and the waves of the sea run on over a passing one.
    """
    layers = snapshot.layers
    return "water_level" not in layers or (RUNNING in layers and math.isfinite(snapshot.sea_level))


def cells_of_shore(snapshot: Snapshot) -> NDArray[np.bool_]:
    """The cells with the water of the shore, `[row, column]`."""
    return snapshot.ground() < snapshot.sea_level if has_calm_shore(snapshot) else wet_cells(snapshot)


def depth_with_waves(snapshot: Snapshot, waters: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Depth of water in metres in the cells `waters` (see `with_waves`), and 0 elsewhere."""
    depth = snapshot.sea_level - snapshot.ground() if has_calm_shore(snapshot) else snapshot.layers["water"]
    return np.where(waters, depth, 0.0).astype(np.float32)


def shoreline(snapshot: Snapshot, waves: Waves) -> Shoreline:
    """The inputs of the shore of a snapshot with water."""
    versions = (snapshot.ground_version, -1 if has_calm_shore(snapshot) else snapshot.versions.get("water", -1))
    swell = snapshot.versions.get(SWELL_SOUTH, -1) if isinstance(waves, Swell) else -1
    return Shoreline(snapshot.world, versions, waves, swell)


def known_swell(snapshot: Snapshot) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """The swell, to the south and the east, if a process has found it."""
    if SWELL_SOUTH not in snapshot.layers:
        return None
    return snapshot.layers[SWELL_SOUTH], snapshot.layers[SWELL_EAST]


class ShoreMap:
    """Coast, nearshore and surf of each cell of a map, as three textures (RGBA32F).

    `coast` holds the signed distance to the nearest coast in cells, positive on water; the unit vector (east, south)
    towards land, so that the nearest point of the coast is the centre of the cell plus distance × vector; and the fetch
    of waves, from 0 to 1. Without any coast the distance is ±`NO_COAST` and the vector 0. The coast is where the level
    of the water meets the ground, a straight line within each square between four cells.

    `nearshore` holds that distance; phase / √distance of waves that run straight to the coast, in radians and cells,
    which is smooth where the phase itself is not; the depth in metres below the level of the nearest coast, negative on
    land; and the fetch, reduced where waves cross. The phase is the integral of the wave number from the coast
    outwards, so waves get shorter and slower in shallow water.

    `surf` holds the swell: the phase lag of its crests relative to the first cells, or relative to the coast where they
    run straight to it; a vector in their direction, with their height relative to that of the open sea as length; and
    the fraction, 1 at the coast and 0 at sea, of the phase from the coast by which they arrive earlier. It is 0 where
    all waves run straight to the coast.

    All are computed over several frames in separate textures; the previous ones are shown until then.
    """

    def __init__(self, context: moderngl.Context, shaders: ShaderLibrary) -> None:
        self._context = context
        names = (
            "bodies",
            "moved",
            "contour",
            "seeds",
            "flood",
            "coast",
            "bed",
            "phase",
            "meet",
            "even",
            "arrival",
        )
        self._drawings = {name: FullScreen(context, shaders, f"shore/{name}.frag") for name in names}
        self._surf = {
            swell: FullScreen(context, shaders, "shore/surf.frag", {"SWELL": int(swell)}) for swell in (False, True)
        }
        self._targets = {name: MapTarget(context, *formats) for name, formats in TARGETS.items()}
        self._mipmaps = Mipmaps(context, shaders)
        self._work = GradualWork()
        self._moved = context.query(samples=True)
        self._waters: SeaGrid | None = None  # of the copied land
        self._found = False  # whether the last finished work has found a moved shore
        self._looks_in = 0  # frames

    @property
    def coast(self) -> moderngl.Texture:
        return self._targets["coast"].texture()

    @property
    def nearshore(self) -> moderngl.Texture:
        return self._targets["waves"].texture()

    @property
    def surf(self) -> moderngl.Texture:
        return self._targets["waves"].texture(1)

    @property
    def shown(self) -> Shoreline | None:
        """The inputs of the textures; None before the first."""
        done = self._work.done
        assert done is None or isinstance(done, Shoreline)
        return done

    def settled(self, snapshot: Snapshot, waves: Waves) -> bool:
        """Whether the textures in use are those of a snapshot, or it was found that they need not change for it."""
        return self._work.is_done(shoreline(snapshot, waves))

    def update(
        self,
        snapshot: Snapshot,
        waves: Waves,
        waters: NDArray[np.bool_],
        surface: moderngl.Texture,
        layers: LayerTextures,
        *,
        budget: int,
        at_once: bool = False,
    ) -> bool:
        """Continue to compute the shore of a snapshot with these layers and surface. True if the textures changed.

        `waters` are its cells `with_waves`. Draws about `budget` texels, but all for a new world, so that the shore of
        the previous world is never shown.
        """
        wanted = shoreline(snapshot, waves)
        at_once = at_once or self.shown is None or self.shown.world != wanted.world
        texels = surface.width * surface.height if at_once else budget
        waits, self._looks_in = self._looks_in > 0 and not at_once, max(self._looks_in - 1, 0)
        if waits and wanted.same_waves(self.shown):
            return False

        def begin() -> Iterator[int]:
            same_waves = wanted.same_waves(self.shown)
            self._found = False
            if self._waters is not None and wanted.same_coast(self.shown):
                self._waters = self._waters.with_swell(known_swell(snapshot))
                self._context.copy_framebuffer(
                    self._targets["next coast"].framebuffer, self._targets["coast"].framebuffer
                )
            else:
                self._fit(surface.size)
                self._take_land(snapshot, surface, layers)
                # A result computed at once must not depend on the previous one.
                if not at_once and same_waves and not self._has_moved(snapshot.cell_size):
                    self._looks_in = LOOKS_APART
                    return
                depth = depth_with_waves(snapshot, waters)
                self._waters = sea_grid(depth, snapshot.cell_size).with_swell(known_swell(snapshot))
                self._find_contour()
                yield max(2 * surface.width * surface.height, texels)  # the CPU has used its share of a frame
                yield from self._find_coast(texels)
            yield from self._find_surf(waves, snapshot.cell_size, texels)
            self._found = True

        changed = self._work.advance(wanted, begin, budget, at_once=at_once) and self._found
        if changed:
            targets = self._targets
            for name in ("coast", "waves"):
                targets[name], targets[f"next {name}"] = targets[f"next {name}"], targets[name]
        return changed

    def forget(self) -> None:
        """Force a recomputation."""
        self._work.forget()

    def release(self) -> None:
        self._work.forget()
        release_all(self._mipmaps, *self._targets.values(), *self._drawings.values(), *self._surf.values())

    def _take_land(self, snapshot: Snapshot, surface: moderngl.Texture, layers: LayerTextures) -> None:
        """Copy the needed layers at once, because they may change before the next frame."""
        taken = {"surface": surface, **{name: layers.texture(name) for name in ("water", "water_level")}}
        self._draw_whole(
            "bodies",
            self._targets["land"],
            taken,
            sea_level=max(snapshot.sea_level, NO_SEA),
            level_is_known=not has_calm_shore(snapshot),
        )

    def _has_moved(self, cell_size: float) -> bool:
        """Whether water has changed visibly since the shore was found."""
        heights = {
            "heights": self._targets["land"].texture(1),
            "known_heights": self._targets["known land"].texture(1),
        }
        with self._moved:
            self._draw_whole("moved", self._targets["next waves"], heights, cell_size=cell_size)
        return self._moved.samples > 0

    def _find_contour(self) -> None:
        """Find the coast of the copied land, which becomes the known land."""
        targets = self._targets
        targets["land"], targets["known land"] = targets["known land"], targets["land"]
        bodies = targets["known land"].texture()
        self._mipmaps.build(bodies)
        kept = {"bodies": bodies, "heights": targets["known land"].texture(1)}
        self._draw_whole("contour", targets["contour"], kept, smallest_lake=SMALLEST_LAKE)

    def _draw_whole(
        self, name: str, target: MapTarget, textures: dict[str, moderngl.Texture], **uniforms: Uniform
    ) -> None:
        for _ in draw_in_bands(self._drawings[name], target, math.prod(target.size), textures, **uniforms):
            pass

    def _find_coast(self, texels: int) -> Iterator[int]:
        contour, seeds, flooded = (self._targets[name] for name in ("contour", "seeds", "flooded"))
        segments = {"segments": contour.texture(), "other_segments": contour.texture(1)}
        yield from draw_in_bands(self._drawings["seeds"], seeds, texels, segments)
        for reach in reaches(max(seeds.size)):
            known = {"seeds": seeds.texture()}
            yield from draw_in_bands(self._drawings["flood"], flooded, texels, known, reach=reach)
            seeds, flooded = flooded, seeds
        found = {"seeds": seeds.texture(), **segments, "bodies": self._targets["known land"].texture()}
        yield from draw_in_bands(
            self._drawings["coast"],
            self._targets["next coast"],
            texels,
            found,
            no_coast=NO_COAST,
            smallest_lake=SMALLEST_LAKE,
        )

    def _find_surf(self, waves: Waves, cell_size: float, texels: int) -> Iterator[int]:
        bed, phases, met = (self._targets[name] for name in ("bed", "seeds", "flooded"))
        coast = self._targets["next coast"].texture()
        heights = {"coast": coast, "heights": self._targets["known land"].texture(1)}
        yield from draw_in_bands(self._drawings["bed"], bed, texels, heights)
        around = {"coast": coast, "bed": bed.texture()}
        yield from draw_in_bands(
            self._drawings["phase"],
            phases,
            texels,
            around,
            deep_wave_number=waves.deep_wave_number,
            cell_size=cell_size,
            no_coast=NO_COAST,
        )
        for reach in MEETINGS:
            yield from draw_in_bands(self._drawings["meet"], met, texels, {"phases": phases.texture()}, reach=reach)
            phases, met = met, phases
        for along in ((1, 0), (0, 1)):
            known = {"phases": phases.texture(), "coast": coast}
            yield from draw_in_bands(self._drawings["even"], met, texels, known, along=along)
            phases, met = met, phases
        found = {"coast": coast, "phases": phases.texture(), "bed": bed.texture()}
        grid: dict[str, float] = {}
        if isinstance(waves, Swell):
            assert self._waters is not None
            yield from self._find_swell(self._waters, waves, texels)
            grid = {"swell_cells": float(self._waters.cells)}
            comes = {"coast": coast, "phases": phases.texture(), "swell": self._targets["swell"].texture()}
            yield from draw_in_bands(self._drawings["arrival"], met, texels, comes, **grid)
            found["arrivals"] = met.texture()
        drawing = self._surf[isinstance(waves, Swell)]
        yield from draw_in_bands(drawing, self._targets["next waves"], texels, found, **grid)

    def _find_swell(self, waters: SeaGrid, swell: Swell, texels: int) -> Iterator[int]:
        """Compute the swell on its grid, on the CPU, which takes its share of a frame."""
        field = swell_field(waters, swell)
        self._targets["swell"].fit((field.shape[1], field.shape[0]))
        self._targets["swell"].texture().write(field.tobytes())
        yield texels

    def _fit(self, size: tuple[int, int]) -> None:
        """Fit the targets to the size of the map."""
        for name, target in self._targets.items():
            if name != "swell":
                target.fit(size)
        for name in ("land", "known land"):
            bodies = self._targets[name].texture()
            if bodies.filter != MIPMAPPED:  # new, or one whose mipmaps have failed
                self._mipmaps.build(bodies)
                bodies.filter = MIPMAPPED


def reaches(side: int) -> Iterator[int]:
    """Search distances of the passes of jump flooding on a map with this longer side: halved each time, 1 twice."""
    reach = 1
    while 2 * reach < side:
        reach *= 2
    while reach > 1:
        yield reach
        reach //= 2
    yield 1
    yield 1

"""Memory that worlds need, and free memory: what would not fit is refused in advance.

Where it is not, a system takes the whole program down, or all others with it, without asking.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from app.engine.compressed import LARGEST_IN_MEMORY
from app.engine.publishing import shown_versions
from app.engine.spin_up import changes_ground, has_spin_up
from app.model.beds import Beds
from app.model.errors import UserError
from app.model.field_parameters import FIELD_LAYERS
from app.model.layers import LAYERS, ROOF, STRATA
from app.model.materials import materials_of
from app.model.soil_parameters import read_beds
from app.model.world import World
from app.processes import PROCESSES
from app.sources.generators import is_worn

if TYPE_CHECKING:
    from app.scene.scene import Scene

# Bytes per cell that no layer declares, measured at 2048² cells; those of maps at 1024², at level high.
KERNELS = 20  # the most that a process needs while it runs, besides its layers: snowballs and pools
BRAIDING = 144  # the same for braided rivers where half of all cells have water, without their scratch arrays
BRAIDING_ROOM = 76  # their part of the scratch arrays, which all processes share
COAST = 40  # the same for the swell
COAST_ROOM = 5  # that of the shore: where the sea is, and numbers of cells near it
ISOSTASY = 40  # the same for isostasy: loads, and their waves
FALLS = 24  # the same for the discharge that falls are found in
DRAINAGE_ROOM = 36  # of the scratch arrays: the drainage that falls and arms are found in
ARMS_ROOM = 36  # what the search for arms adds to it
FLOODS_ROOM = 56  # running water's part of them: a second set of its layers, and flows; and its bodies that calm down
BED_LOAD_ROOM = 33  # the same for the bed load that it drags: shares of what goes each way
BED_LOAD_OF_A_KIND = 8  # additional part per loose material: what is taken
SUSPENSION_ROOM = 40  # the same for what it carries in suspension: a second layer of it, and its ways
ICE_ROOM = 150  # that of ice: lines of both directions, fluxes, and what is turned
SNOW_ROOM = 64  # that of snow: what wind can carry, turned layers, and avalanches
GEOLOGY = 100  # part of a process of geological time, and of a source that begins with it
GEOLOGY_OF_A_KIND = 8  # additional part per loose material where there are several
MAPS = 112  # textures of every picture: the surface, its light and shadows, running water
MAPS_OF_A_LAYER = 12  # two textures of four bytes, and what is derived from them
MAPS_OF_WAVES = 180  # coast and swell, where there is standing water

SAMPLE_SIDE = 8  # cells
MEAN_BEDS = 2  # buried beds of a cell in the mean, beside those that it begins with: more than were found on any land


class Needs(NamedTuple):
    """Bytes that worlds need. `making`: while they are made, when the worlds before still exist."""

    making: float
    running: float

    @classmethod
    def of(cls, scenes: Iterable[Scene], cells: int, *, shown: bool) -> Needs:
        """Memory of worlds of `cells` cells each, with all layers of their processes; `shown`: with pictures."""
        making = running = 0.0
        for scene in scenes:
            world = _sample(scene)
            state = world.state()["layers"].values()  # the backup
            layers = len(shown_versions(world)) * np.dtype(np.float32).itemsize if shown else 0  # of a snapshot
            backup = _bytes(state) / world.ground.size
            itself = _bytes(vars(world).values()) + _bytes(world.layers.values()) + _bytes(world.beds or ())
            once = itself / world.ground.size + backup
            geology = GEOLOGY if scene.geology.enabled or is_worn(scene) else 0
            if scene.geology.enabled and world.materials is not None:
                geology += GEOLOGY_OF_A_KIND * len(world.materials.loose)
            spin_up_worlds = 2 if changes_ground(scene) else 1  # copies during a spin-up, see `app.engine.spin_up`
            spin_up = spin_up_worlds * once if has_spin_up(scene) else 0.0
            kernels, room = (BRAIDING, max(BRAIDING_ROOM, geology)) if scene.braiding.enabled else (KERNELS, geology)
            kernels = max(kernels, COAST if scene.coast.enabled else 0, FALLS if scene.falls.enabled else 0)
            kernels = max(kernels, ISOSTASY if scene.isostasy.enabled else 0)
            room = max(room, floods_room(scene, world), ICE_ROOM if scene.ice.enabled else 0)
            room = max(room, COAST_ROOM if scene.coast.enabled else 0)
            if scene.falls.enabled or scene.distributaries.enabled:
                room = max(room, DRAINAGE_ROOM + (ARMS_ROOM if scene.distributaries.enabled else 0))
            room = max(room, SNOW_ROOM if scene.snow.enabled else 0)
            making += once + layers + (geology if is_worn(scene) else 0)
            backups = 2 * min(backup, LARGEST_IN_MEMORY / cells)  # the next while the one before still exists
            running += once - backup + backups + spin_up + 2 * layers + kernels + room
            if shown:
                running += MAPS + MAPS_OF_A_LAYER * len(shown_versions(world))
                running += MAPS_OF_WAVES if scene.waves.enabled and _water_can_stand(scene) else 0
        return cls(making * cells, running * cells)


def floods_room(scene: Scene, world: World) -> int:
    """Running water's part of the scratch arrays, in bytes per cell; `world` is a sample of those of the scene."""
    if not scene.floods.enabled:
        return 0
    kinds = 1 if world.materials is None else len(world.materials.loose)
    dragged = BED_LOAD_ROOM + BED_LOAD_OF_A_KIND * kinds if scene.floods.bed_load else 0
    return max(FLOODS_ROOM, dragged, SUSPENSION_ROOM if scene.floods.suspended_load else 0)


NOTHING = Needs(0.0, 0.0)


def check_memory(
    scenes: Sequence[Scene], rows: int, columns: int, *, shown: bool = False, given_back: Needs = NOTHING
) -> None:
    """Raise `UserError` if worlds of this size need more memory than is free.

    `given_back` is what the worlds need whose place they take. It is free as soon as these are made, and not before.
    """
    needs, free = Needs.of(scenes, rows * columns, shown=shown), free_memory()
    if needs.making > free or needs.running > free + given_back.running:
        size = f"{columns}² cells" if rows == columns else f"{columns}×{rows} cells"
        worlds = size if len(scenes) == 1 else f"{len(scenes)} worlds of {size}"
        raise UserError(
            f"{worlds} need about {_gigabytes(max(needs.making, needs.running - given_back.running))} GB of memory; "
            f"{_gigabytes(free)} are free"
        )


def memory_text(scenes: Sequence[Scene], rows: int, columns: int) -> str:
    """Memory of worlds of this size while they are shown, such as `0.4 GB`."""
    return f"{_gigabytes(Needs.of(scenes, rows * columns, shown=True).running)} GB"


def free_memory() -> float:
    """Bytes that this process may still allocate without swapping; infinity if the system does not report it."""
    return max(0.0, min(_free(), default=math.inf))


def trim_memory() -> None:
    """Return unused memory to the system, as far as the allocator can.

    Otherwise it is kept for later, fragmented, in amounts that vary from moment to moment.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc only


def _sample(scene: Scene) -> World:
    """A small world with all layers that the scene will need."""
    flat = np.zeros((SAMPLE_SIDE, SAMPLE_SIDE))
    world = World(flat, flat.copy(), cell_size=1.0, seed=0)
    if scene.materials.enabled:
        world.restore_materials(materials_of(scene.materials), _Zero())
        world.trace(STRATA)
        if scene.materials.intrusion_roof.strip():
            world.trace(ROOF)
    if scene.world.rain_map:
        world.trace("rain")
    for name, layer in FIELD_LAYERS.items():
        if getattr(scene.fields, name):
            world.trace(layer)
    for process in PROCESSES:
        if getattr(scene, process.name).enabled:
            for name in process.changes:
                if not (LAYERS[name].always or name in (STRATA, ROOF)):  # those two come with materials
                    world.trace(name)
    if scene.stratigraphy.enabled and world.materials is not None:
        number = min(len(read_beds(scene.soil.beds)) + MEAN_BEDS, scene.stratigraphy.beds)
        of_cell = np.zeros((*world.shape, number, len(world.materials.loose)), np.float32)
        world.beds = Beds.packed(of_cell, np.zeros(of_cell.shape[:3], np.float32))
    if scene.has_standing_water or scene.world.lake_depth > 0.0:
        world.water_version = 1
    return world


def _water_can_stand(scene: Scene) -> bool:
    """Whether a scene has a sea, or can have lakes."""
    return math.isfinite(scene.edges.sea) or scene.has_standing_water or scene.world.lake_depth > 0.0


class _Zero(dict[str, Any]):
    """A mapping that has a layer of zeros for any name."""

    def __missing__(self, name: str) -> float:
        return 0.0


def _bytes(values: Iterable[Any]) -> int:
    """Total bytes of the arrays; shared memory counts once."""
    owners = (array if array.base is None else array.base for array in values if isinstance(array, np.ndarray))
    return sum({id(owner): owner.nbytes for owner in owners}.values())


def _gigabytes(number: float) -> str:
    """In gigabytes, with few digits."""
    return f"{number / 1e9:.2g}" if number < 9.95e9 else f"{number / 1e9:.0f}"


# Free memory in bytes: the minimum of the following.


def _free() -> Iterator[float]:
    if sys.platform == "win32":
        yield _free_on_windows()
    elif sys.platform == "linux":
        yield _number_in(Path("/proc/meminfo"), "MemAvailable", unit=1024)
        yield from _left_by_limits()
        yield from _left_by_groups()
    else:  # total memory: the free part is known to other programs only
        import os

        yield float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


if sys.platform == "linux":

    def _left_by_limits() -> Iterator[float]:
        """Memory left by limits of this process, such as `ulimit -v`."""
        import resource

        for limit, taken in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
            soft, _ = resource.getrlimit(limit)
            if soft != resource.RLIM_INFINITY:
                yield soft - _number_in(Path("/proc/self/status"), taken, unit=1024, missing=0.0)


def _left_by_groups() -> Iterator[float]:
    """Memory left by control groups, as containers use them: versions 2 and 1."""
    try:
        groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, place in groups:
        if not controllers:
            root, limit, taken, cached = Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            root, limit = Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
            taken, cached = "memory.usage_in_bytes", "total_inactive_file"
        else:
            continue
        folder = root / place.lstrip("/")
        for group in (folder, *folder.parents):
            if not group.is_relative_to(root):
                break
            most = _number_in(group / limit)
            if math.isfinite(most):  # the file cache counts as free
                kept = _number_in(group / "memory.stat", cached, missing=0.0)
                yield most - _number_in(group / taken, missing=0.0) + kept


def _number_in(path: Path, name: str = "", *, unit: int = 1, missing: float = math.inf) -> float:
    """The number after a name in a file, or its only number; `missing` if there is none."""
    try:
        for line in path.read_text().splitlines():
            words = line.replace(":", " ").split()
            if words and words[0] == (name or words[0]):
                return float(words[1 if name else 0]) * unit
    except (OSError, ValueError, IndexError):
        pass  # "max", for example
    return missing


if sys.platform == "win32":

    def _free_on_windows() -> float:
        class Status(ctypes.Structure):
            _fields_ = (
                ("length", ctypes.c_ulong),
                ("load", ctypes.c_ulong),
                *((name, ctypes.c_ulonglong) for name in ("total", "free", "of_file", "free_of_file", "of_process")),
                *((name, ctypes.c_ulonglong) for name in ("free_of_process", "extended")),
            )

        status = Status(length=ctypes.sizeof(Status))
        known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return float(min(status.free, status.free_of_process)) if known else math.inf

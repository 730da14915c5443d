"""The work of a worker: one world from its scene to its results, with the same bits on every machine."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from app.engine.realism import measure
from app.engine.realism_spread import spread_of
from app.engine.runner import make_worlds, run_scene
from app.engine.survey import Surveyor
from app.engine.surveys import surveyed_snapshot
from app.export.landscape import SURFACES, Landscape
from app.export.maps import MAPS
from app.model.errors import explained
from app.model.georeference import Place, content_of
from app.model.realism import Spread
from app.model.world import World
from app.numba_settings import kernel_cache_folder
from app.processes.floods import derive_levels
from app.scene.scene import Scene
from app.sweep.recipe import SCENE

if TYPE_CHECKING:
    from app.picture.painter import Painter

Figures = dict[str, float | None]

SUBSTANCES = ("rock", "sediment", "water")
ENTRIES = ("initial", "gained", "lost", "stored")  # of each substance, in cubic metres
OTHER_PROGRAM = "has another version of this program or of Python, whose worlds may differ"
SMALL = 32  # cells of a world that is run to have its kernels compiled


class Wanted(NamedTuple):
    """What to keep of each world."""

    layers: tuple[str, ...]
    pictures: tuple[str, ...]
    width: int  # of a picture, in pixels
    height: int


class Order(NamedTuple):
    """One world to run."""

    number: int
    scene: Scene
    cycles: int
    wanted: Wanted
    program: str  # that shall run it, see `program`


@dataclass(frozen=True)
class Outcome:
    """The outcome of a world: its results, or the error."""

    error: str = ""
    refused_by: str = ""  # address of an unsuitable worker
    figures: Figures = field(default_factory=dict)
    accounts: dict[str, Any] = field(default_factory=dict)  # the whole ledger
    layers: dict[str, NDArray[Any]] = field(
        default_factory=dict
    )  # as `stored_as` says, [row, column] or [row, column, channel]
    pictures: NDArray[np.uint8] | None = None  # [picture, line, pixel, colour]
    place: Place | None = None  # where its cells lie


def run_world(order: Order) -> Outcome:
    """Run a world on one thread. An error is its outcome and does not affect other worlds."""
    if refusal := _refusal(order):
        return refusal
    _use_one_thread()
    try:
        return _outcome(order)
    except Exception as error:
        return Outcome(explained(error))


def _refusal(order: Order) -> Outcome | None:
    """Why this process must not run a world: it may be of a worker that came when the others had been checked."""
    if order.program != program():
        return Outcome(f"its worker {OTHER_PROGRAM}", refused_by=_worker()[0])
    address, threads = _worker()
    return Outcome(f"its worker {too_many(threads)}", refused_by=address) if threads != 1 else None


def too_many(threads: int) -> str:
    """What is wrong with a worker of so many threads, in words."""
    return f"has {threads} threads; a world takes a process of its own: dask worker --nworkers N --nthreads 1"


def _worker() -> tuple[str, int]:
    """The address of the Dask worker that this thread is of, and how many threads it has; "" and 1 without one."""
    distributed = sys.modules.get("distributed")  # a worker has loaded it
    try:
        worker = distributed.get_worker() if distributed else None
    except ValueError:
        worker = None
    return (worker.address, worker.state.nthreads) if worker else ("", 1)


def prepare(scenes: Sequence[Scene], wanted: Wanted) -> None:
    """Have all kernels in the cache, compiled on all cores where they are not. Raises `UserError` without OpenGL.

    `scenes` are one of each kind, see `kind_of`.
    """
    _use_one_thread()
    if wanted.pictures:
        _painter(wanted.width, wanted.height)
    for scene in scenes:
        small = scene
        if not scene.saved_world:
            small = scene.with_values({"world.columns": SMALL, "world.rows": SMALL})
        with contextlib.suppress(Exception):  # which its own worlds will tell
            (simulator,) = make_worlds([small], threads=1).simulators
            small = simulator.scene
            simulator.compile_missing()
        with contextlib.suppress(Exception):
            _outcome(Order(0, small, 1, wanted._replace(pictures=()), program()))


def kind_of(scene: Scene) -> tuple[object, ...]:
    """A key of scenes that need the same kernels."""
    groups = (getattr(scene, name) for name in scene.__struct_fields__)
    switches = tuple(getattr(group, "enabled", None) for group in groups)
    return scene.world.source, scene.world.worn > 0.0, scene.saved_world, switches, scene.fields


def stored_as(layer: str) -> tuple[type[np.generic], Any]:
    """The type in which a layer is kept, and what stands there where a world has none."""
    small = layer in MAPS and MAPS[layer].kind in ("id", "mask")
    return (np.uint8, 255) if small else (np.float32, np.nan)


@functools.cache
def program() -> str:
    """An identity of the program, for the same bits."""
    return kernel_cache_folder().name


def _use_one_thread() -> None:
    """Each core has a worker of its own. On this thread, for Numba keeps it by thread."""
    import numba

    numba.set_num_threads(1)


def _outcome(order: Order) -> Outcome:
    world, scene = run_scene(order.scene, order.cycles, threads=1, on_this_core=True)
    derive_levels(world, scene.floods, scene.pools, scene.edges)
    landscape = Landscape(world, scene, order.scene)
    wanted = order.wanted
    layers = {name: values for name in wanted.layers if (values := _layer(landscape, name)) is not None}
    pictures = _paint(order, landscape) if wanted.pictures else None
    place = content_of(landscape.world_sheet.place)
    return Outcome("", "", _figures(landscape), _accounts(world), layers, pictures, place)


def _layer(landscape: Landscape, name: str) -> NDArray[Any] | None:
    """A surface or a map as it is kept; None if the world has none."""
    if name not in SURFACES and MAPS[name].why_missing(landscape):
        return None
    values = landscape.surface(name) if name in SURFACES else MAPS[name].values(landscape)
    kept, _ = stored_as(name)
    return np.ascontiguousarray(values, kept)


def _figures(landscape: Landscape) -> Figures:
    world = landscape.world
    accounts = world.ledger.accounts()
    figures: Figures = {"cell_size": world.cell_size, "ledger.imbalance": world.imbalance()}
    for substance in SUBSTANCES:
        account = accounts[substance]
        volumes = (
            account.initial,
            math.fsum(account.gained.values()),
            math.fsum(account.lost.values()),
            world.stored(substance),
        )
        figures |= {f"ledger.{substance}.{entry}": volume for entry, volume in zip(ENTRIES, volumes, strict=True)}
    found = measure(world.ground, landscape.drainage, world.cell_size, cycle=world.cycle)
    figures |= {f"realism.{name}": value for name, value in found.values.items()}
    for name, sure in spread_of(world.ground, landscape.drainage, world.cell_size).items():
        known = sure if found.values[name] is not None else None
        figures |= {f"realism.{name}.{end}": known and getattr(known, end) for end in Spread._fields}
    return figures


def _accounts(world: World) -> dict[str, Any]:
    accounts: dict[str, Any] = msgspec.to_builtins(world.ledger.accounts())
    return accounts


_opened = contextlib.ExitStack()  # as long as the process lives


@functools.cache
def _painter(width: int, height: int) -> Painter:
    """The one of this process and thread. Raises `UserError` without OpenGL."""
    from app.cli.headless import headless_context
    from app.picture.painter import Painter

    return Painter(_opened.enter_context(headless_context()), (width, height))


def _paint(order: Order, landscape: Landscape) -> NDArray[np.uint8]:
    """The wanted pictures, [picture, line, pixel, colour], from the opening view."""
    from app.cli.headless import scene_camera
    from app.picture.passes.declaration import Shot

    wanted = order.wanted
    painter, surveyor, pictures = _painter(wanted.width, wanted.height), Surveyor(), []
    for name in wanted.pictures:
        seen = landscape.scene if name == SCENE else landscape.scene.with_value("view.overlay", name)
        snapshot = surveyed_snapshot(surveyor, landscape.world, seen, order.number)
        camera = scene_camera(seen, snapshot, wanted.width / wanted.height)
        pictures.append(np.array(painter.paint(snapshot, Shot(camera, seen, 0.0, minimap=False))))
    return np.stack(pictures)

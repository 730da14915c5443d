"""Builds: sets of kernels that are compiled together, by the name that the window shows.

A process has one build, which has its name; one that is `Varied` has a second, richer one, of which most worlds need
only one or the other, and one `WithAlternatives` has as many for each of these. One that is `InParts` needs them all.
The survey of rivers is a build, too, and that of streams, and the waves of the sea as they are drawn.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from app.model.field_parameters import FIELD_LAYERS, FieldParameters
from app.model.layers import LAYERS, side_by_side
from app.processes import PROCESSES
from app.processes.moisture import Moisture
from app.processes.plants import Plants
from app.processes.pools import BASINS, DEPRESSIONS
from app.processes.process import InParts, Process, Varied, WithAlternatives
from app.scene.scene import Scene

RIVERS = "rivers"
STREAMS = "streams"
WAVES = "waves"  # as they are drawn
ON_RICH_GROUND = " on rich ground"

# The slowest builds first, so that no core is left with one while the others are idle.
SLOWEST_FIRST = (
    "droplets in rivers on rich ground",
    "droplets on rich ground",
    "moisture",
    "wind on rich ground",
    "plants",
    RIVERS,
    "cascade on rich ground",
    "droplets in rivers",
    BASINS,
    "droplets",
    "pools",
    STREAMS,
    "wind",
    DEPRESSIONS,
)


class Ground(NamedTuple):
    """What decides which build a `Varied` process needs."""

    materials: bool  # whether there are several materials
    covered: bool  # whether a process has left wetness or plants on it, or a layer that raises it
    rated: bool = False  # whether rates of processes vary from cell to cell
    will_be_rated: bool = False  # whether the scene asks for such rates


def builds_of(process: Process, parameters: Any, ground: Ground, running: frozenset[str]) -> tuple[str, ...]:
    """The builds that a process needs in the next cycles, given the processes that run."""
    name = process.name
    if _has_alternatives(type(process)):
        name += cast(WithAlternatives, process).alternative(parameters)
    if not _is_varied(type(process)):
        return (name, *parts_of(type(process)))
    rich = name + ON_RICH_GROUND
    asks = cast(Varied, process).asks_for_rich(parameters, running)
    if ground.materials or ground.covered or ground.rated or Moisture.name in running or asks:
        return (rich,)
    # What runs later in a cycle covers the ground from the next cycle on. A field may be 1 everywhere.
    if Plants.name in running or _burdens(running) or ground.will_be_rated:
        return (name, rich)
    return (name,)


@functools.cache
def parts_of(process: type[Process]) -> tuple[str, ...]:
    """The builds of a process besides that of its name; it needs all of them."""
    return cast(type[InParts], process).parts if hasattr(process, "parts") else ()


@functools.cache
def _burdens(running: frozenset[str]) -> bool:
    """Whether any of these processes leaves a layer that raises the ground."""
    changed = (name for process in PROCESSES if process.name in running for name in process.changes)
    return any(LAYERS[name].is_burden for name in changed)


def asks_for_rates(scene: Scene) -> bool:
    """Whether a scene has a field that kernels read beside the others of their pack."""
    return _have_rates(scene.fields)


@functools.lru_cache
def _have_rates(fields: FieldParameters) -> bool:
    layers = side_by_side("rates")  # asked in each cycle, and slow to answer
    return any(FIELD_LAYERS[name] in layers and getattr(fields, name).strip() for name in FIELD_LAYERS)


def foreseen(scene: Scene) -> list[str]:
    """The builds that the first cycles of a scene need, as far as is known before its world is made."""
    enabled = [process() for process in PROCESSES if getattr(scene, process.name).enabled]
    running = frozenset(process.name for process in enabled)
    ground = Ground(materials=scene.materials.enabled, covered=False, rated=asks_for_rates(scene))
    needed = (builds_of(process, getattr(scene, process.name), ground, running) for process in enabled)
    return [build for of_process in needed for build in of_process]


def all_builds() -> list[str]:
    """All builds, in the order in which they should start."""
    builds = [RIVERS, STREAMS, WAVES]
    for process in PROCESSES:
        others = cast(type[WithAlternatives], process).alternatives if _has_alternatives(process) else ()
        for build in (process.name, *(process.name + other for other in others)):
            builds += [build, build + ON_RICH_GROUND] if _is_varied(process) else [build]
        builds += parts_of(process)
    return in_order(builds)


def prepare(build: str, processes: Iterable[Process] | None = None) -> None:
    """Compile a build, or load it from the cache. Raises `KeyError` for an unknown name."""
    if build == RIVERS:
        from app.engine.survey import prepare as prepare_rivers

        prepare_rivers()
        return
    if build == STREAMS:
        from app.engine.survey import prepare_streams

        prepare_streams()
        return
    if build == WAVES:
        from kernels.swell import prepare as prepare_waves

        prepare_waves()
        return
    by_name = {process.name: process for process in processes or (process() for process in PROCESSES)}
    plain, is_rich = build.removesuffix(ON_RICH_GROUND), build.endswith(ON_RICH_GROUND)
    for process in by_name.values():
        if build in parts_of(type(process)):
            cast(InParts, process).prepare_part(build)
            return
        if _has_alternatives(type(process)):
            varying, other = cast(WithAlternatives, process), plain.removeprefix(process.name)
            if other in varying.alternatives:
                varying.prepare_alternative(other, rich=is_rich)
                return
    process = by_name[plain]
    if not is_rich:
        process.prepare()
    elif _is_varied(type(process)):
        cast(Varied, process).prepare_rich()
    else:
        raise KeyError(build)


@functools.cache
def _is_varied(process: type[Process]) -> bool:
    return issubclass(process, Varied)  # asked in each cycle, and slow to answer


@functools.cache
def _has_alternatives(process: type[Process]) -> bool:
    return hasattr(process, "alternatives")  # a protocol with data cannot be asked about a class


def in_order(builds: Iterable[str]) -> list[str]:
    """The builds without repetition, in the order in which they should start."""
    order = {build: place for place, build in enumerate(SLOWEST_FIRST)}
    return sorted(dict.fromkeys(builds), key=lambda build: order.get(build, len(order)))

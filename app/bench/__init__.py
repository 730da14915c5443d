"""Benchmarks: groups of measurements, compared with bars."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from app.bench import figures
from app.bench.row import Row
from app.files.atomic import claimed
from app.model.errors import UserError, nearest

log = logging.getLogger(__name__)

# Each group is a module of this package with a function `rows`, and says what it measures. They are imported when they
# are measured.
GROUPS = {
    "droplets": "the speed of droplet erosion, on one core and on two",
    "island": "the speed of snowballs, and of a new island",
    "wind": "the speed of wind and cascade, on one core and on two, and how it grows with the map",
    "water": "the speed of drops with streams, and of lakes",
    "floods": "the cost of a step of water that runs, all wet and little wet, and beside another library",
    "falls": "the cost of a step of falls at work",
    "deltas": "the cost of a step of rivers that part",
    "coast": "the cost of a cycle of the sea at work on a shore",
    "snow": "the cost of a cycle of snow, and what a cycle without any pays for it",
    "stratigraphy": "what beds of loose material cost in a cycle of several kinds, and their memory",
    "ice": "the cost of a step of ice, all covered and none, and what a cycle without ice pays for it",
    "rivers": "filling of depressions, directions, watersheds and accumulation, compared with other libraries",
    "geology": "a step of geological time, compared with another library, and the time to a new range",
    "crust": "the cost of carrying land sideways, and of a step of isostasy",
    "waves": "finding the shore at once and over frames, and the cost of waves in a frame",
    "world": "a cycle of everything, on one core and on two",
    "memory": "the memory of a world and of everything, by what holds it",
    "timeline": "time back to stored states and to any cycle, and the cost of storing them",
    "hands": "how soon a touch of a brush is seen, and what a stroke costs",
    "scaling": "speed-up possible with 4, 8 and 16 threads, by counting",
    "sweep": "how busy all cores are with many worlds, and what each costs above one alone",
    "continent": "analyses in tiles of land larger than memory, their memory, and what more workers bring",
    "frame": "cost of a picture relative to a plain one, steadiness of frames, and uploads",
    "window": "cycles and frames per second in the real window, and the latency of a key",
    "start": "the time to the first picture, and to the first cycle where nothing is compiled yet",
}

_BUSY = 0.5  # cores
_LOOK = 0.3  # seconds


def bench(
    group: str | None = None, path: Path | None = None, against: Path | None = None, side: int | None = None
) -> None:
    """Measure one group or all, and print a row as soon as it is known.

    `side` is that of the model of `continent`, in cells. With `path`, keep the rows in that file; with `against`, tell
    in the end what got worse than a file has it, and what misses its bar.
    """
    if group is not None and group not in GROUPS:
        raise UserError(f"{group}: there is no such group{nearest(group, GROUPS, 'thalweg bench --help')}")
    if side is not None and group != "continent":
        raise UserError("--side is for the group continent")
    before = figures.read_figures(against) if against else []
    with claimed(path) if path is not None else contextlib.nullcontext():
        if path is not None and path.exists():
            figures.read_figures(path)  # which refuses another file before minutes are spent
        measured = _measure_and_print(group, side)
        if path is not None:
            figures.write(path, measured)
    if against is not None:
        print("\n".join(["", *(figures.worse(before, measured) or [f"nothing is worse than in {against}"])]))


def measure(group: str, *, tiny: bool = False, side: int | None = None) -> Iterator[Row]:
    """The rows of a group. `tiny` runs through all of it at sizes that measure nothing, which is for the tests.

    `side` is for groups whose size can be chosen. A group may set Numba's threads as it likes; in the end all are back.
    """
    import numba

    from app.bench.threads import ALL

    sized = {} if side is None else {"side": side}
    try:
        yield from importlib.import_module(f"app.bench.{group}").rows(tiny, **sized)
    finally:
        numba.set_num_threads(ALL)


def busy_cores(seconds: float = _LOOK) -> float | None:
    """How many cores other programs use, while this one rests for `seconds`; None if the system does not report it.

    The system's load, averaged over a minute, would include what was measured just before.
    """
    before = _processor_times()
    time.sleep(seconds)
    after = _processor_times()
    if before is not None and after is not None and sys.platform != "win32":
        return max(0.0, (after - before) / os.sysconf("SC_CLK_TCK") / seconds)
    return None


def _processor_times() -> float | None:
    """What all cores together have worked since the start of the machine, in the system's ticks."""
    try:
        user, nice, system, _idle, _waiting, *interrupts = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except (OSError, ValueError):
        return None
    return float(user) + float(nice) + float(system) + sum(float(ticks) for ticks in interrupts[:3])


def _measure_and_print(group: str | None, side: int | None) -> dict[str, list[Row]]:
    """The rows of each group that is measured."""
    print(f"{'name':<68} {'value':>10} {'unit':<14} {'bar':>8}", flush=True)
    measured: dict[str, list[Row]] = {}
    for name in (group,) if group else GROUPS:
        busy = busy_cores()
        if busy is not None and busy > _BUSY:
            log.warning("other programs use about %.1f cores; figures of %s are unreliable now", busy, name)
        for row in measure(name, side=side):
            print(row.as_text(), flush=True)
            measured.setdefault(name, []).append(row)
    return measured

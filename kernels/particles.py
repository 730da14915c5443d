"""The particle engine: many particles that read and change one map, on any number of threads, with the same bits.

Particles that change the ground under them cannot simply run in parallel: two of them in one place would race, and the
result would depend on who came first. So the map is cut into square tiles, coloured like a checkerboard of four
colours. Every particle is sorted into the tile that it stands in. The tiles of one colour run in parallel, each taking
its particles in their fixed order and running each one until it ends or leaves the tile; then comes the next colour,
and so on until all particles have ended. Two tiles of one colour lie a whole tile apart, so they never touch the same
cells, and the order in which any cell is touched does not depend on the number of threads.

The engine knows where particles are, in which order they run and when they have ended. What a particle is and what it
does in a step belongs to its process, as two Numba functions:

    spawn(particle: int, key: uint64, fields, parameters) -> state
    step(state, fields, parameters) -> (state, status)

`state` is a tuple of float64: the row and column where the particle stands, in cells (cell 3 covers [3, 4)), then
whatever else the process keeps, including what it counts. `status` is RUNNING, ENDED or FAILED. `fields` and
`parameters` are any NamedTuples of arrays and numbers.

A step must keep to these bounds, on which the tiles rest:

- it moves the particle by no more than one cell, and
- it reads and writes cells no farther than `REACH` rows and columns from the cell where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import njit, prange, types
from numba.extending import intrinsic
from numba.np.unsafe.ndarray import to_fixed_tuple
from numpy.typing import NDArray

RUNNING = 0
ENDED = 1
FAILED = 2  # the step met a value that is not a finite number, and neither wrote nor used it as an index

REACH = 3
_SMALLEST_TILE = 2 * REACH + 2  # two tiles of one colour stay apart, each with its reach
_LARGEST_TILE = 64  # several fields of it fit a core's own cache

# Below this many particles in a colour, waking the other threads takes longer than the work.
_WORTH_SHARING = 4

# Placeholders: `engine` puts a process's own functions in their place, in that process's copies of the two below.
_spawn: Any = None
_step: Any = None
_run_tile: Any = None
_SLOTS = 0


@njit(cache=True, nogil=True)
def tile_side(rows: int, columns: int) -> int:
    """Side of a tile in cells. It depends on the map alone, because the order of events, and the result, depend on it.

    A map should have several tiles of each colour, or there is nothing to share among threads.
    """
    side = _LARGEST_TILE
    while side > _SMALLEST_TILE and rows * columns < 64 * side * side:
        side //= 2
    return side


@intrinsic
def _take_number(typing_context: Any, counter: Any) -> Any:
    """`counter[0]` before adding one to it, as a single operation that no other thread can divide."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(counter), generate


def _run_tile_source(particles, status, queue, begin, end, north, south, west, east, fields, parameters):
    """Run the particles queue[begin:end] in this order, each until it ends or leaves rows [north, south), columns
    [west, east)."""
    for place in range(begin, end):
        particle = queue[place]
        # As a tuple the state lives in registers; it goes back to memory only when the particle leaves the tile.
        state = to_fixed_tuple(particles[particle], _SLOTS)
        outcome = RUNNING
        while outcome == RUNNING and north <= state[0] < south and west <= state[1] < east:
            state, outcome = _step(state, fields, parameters)
        for slot in range(_SLOTS):
            particles[particle, slot] = state[slot]
        status[particle] = outcome


def _run_source(count, key, rows, columns, threads, fields, parameters):
    """Spawn `count` particles and run them all to their end on so many threads; see `engine`."""
    side = tile_side(rows, columns)
    tiles_down = (rows + side - 1) // side
    tiles_across = (columns + side - 1) // side
    particles = np.empty((count, _SLOTS))
    status = np.empty(count, np.int8)
    for particle in prange(count):
        state = _spawn(particle, key, fields, parameters)
        for slot in range(_SLOTS):
            particles[particle, slot] = state[slot]
        status[particle] = RUNNING

    tile = np.empty(count, np.int64)
    living = np.arange(count)  # always in the particles' order
    queue = np.empty(count, np.int64)
    population = np.zeros(tiles_down * tiles_across, np.int64)
    queue_end = np.empty(tiles_down * tiles_across, np.int64)
    occupied = np.empty(tiles_down * tiles_across, np.int64)
    ticket = np.empty(1, np.int64)
    failed = False
    while len(living) > 0 and not failed:
        for colour in range(4):
            # Counting sort of the living particles on this colour into the tiles that they stand in.
            tiles = 0
            waiting = 0
            for particle in living:
                tile[particle] = -1
                if status[particle] != RUNNING:
                    continue
                row, column = particles[particle, 0], particles[particle, 1]
                if not (0.0 <= row < rows and 0.0 <= column < columns):
                    status[particle] = FAILED  # the test is also false for NaN, which must never become an index
                    continue
                tile_row, tile_column = int(row) // side, int(column) // side
                if (tile_row & 1) * 2 + (tile_column & 1) != colour:
                    continue
                here = tile_row * tiles_across + tile_column
                tile[particle] = here
                if population[here] == 0:
                    occupied[tiles] = here
                    tiles += 1
                population[here] += 1
                waiting += 1
            start = 0
            for place in range(tiles):
                queue_end[occupied[place]] = start
                start += population[occupied[place]]
            for particle in living:
                here = tile[particle]
                if here >= 0:
                    queue[queue_end[here]] = particle
                    queue_end[here] += 1

            # Tiles differ widely in work, as water gathers in valleys: each thread takes the next one when it is free.
            takers = min(threads, tiles) if waiting >= _WORTH_SHARING else 1
            ticket[0] = 0
            for _ in prange(takers):
                while True:
                    place = _take_number(ticket)
                    if place >= tiles:
                        break
                    here = occupied[place]
                    north = (here // tiles_across) * side
                    west = (here % tiles_across) * side
                    end = queue_end[here]
                    begin = end - population[here]
                    _run_tile(
                        particles, status, queue, begin, end, north, north + side, west, west + side, fields, parameters
                    )
            for place in range(tiles):
                population[occupied[place]] = 0

        kept = 0
        for particle in living:
            failed = failed or status[particle] == FAILED
            if status[particle] == RUNNING:
                living[kept] = particle
                kept += 1
        living = living[:kept]
    return particles, status


Run = Callable[[int, np.uint64, int, int, Any, Any], tuple[NDArray[np.float64], NDArray[np.int8]]]


def engine(spawn: Any, step: Any, slots: int) -> Run:
    """Build the engine of one process from its Numba functions `spawn` and `step`, whose state has `slots` numbers.

    Returns the compiled function

        run(count, key, rows, columns, fields, parameters) -> particles [particle, slot], status [particle]

    which spawns `count` particles with the random numbers of `key` on a map of `rows` × `columns` cells and runs them
    until all have ended, or until one has FAILED, in which case the others may still be RUNNING. Particles are returned
    in their last state and in the order of their numbers, so that sums over them have the same bits each time. It runs
    on as many threads as `numba.set_num_threads` says, releases the GIL and is cached on disk.

    A Numba function that takes others as arguments or from a closure is compiled anew in each Python process, because
    its key in the cache has random parts. A copy of a plain function, with its own globals and its own name, is not.
    """
    process = spawn.py_func.__module__

    def compiled(source: Any, parallel: bool, **own: Any) -> Any:
        copy = FunctionType(source.__code__, {**globals(), **own})
        copy.__name__ = f"{source.__name__.removesuffix('_source').lstrip('_')}_{process.rpartition('.')[2]}"
        copy.__qualname__ = copy.__name__
        copy.__module__ = __name__
        return njit(parallel=parallel, nogil=True, cache=True, error_model="numpy")(copy)

    run_tile = compiled(_run_tile_source, False, _step=step, _SLOTS=slots)
    run_on = compiled(_run_source, True, _spawn=spawn, _run_tile=run_tile, _SLOTS=slots)

    def run(count: int, key: np.uint64, rows: int, columns: int, fields: Any, parameters: Any) -> Any:
        # Asked for here, because a compiled function that asks for it itself cannot be cached.
        return run_on(count, key, rows, columns, numba.get_num_threads(), fields, parameters)

    return run

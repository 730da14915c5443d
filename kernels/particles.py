"""The particle engine: many particles that read and change one map, on any number of threads, with the same bits.

Particles that change the ground under them cannot simply run in parallel: two of them in one place would race, and the
result would depend on who came first. So the map is cut into square tiles, coloured like a checkerboard of four
colours. Every particle is sorted into the tile that it stands in. The tiles of one colour run in parallel, each taking
its particles in their fixed order and running each one until it ends or leaves the tile; then comes the next colour,
and so on until all particles have ended. Two tiles of one colour lie a whole tile apart, so they never touch the same
cells, and the order in which any cell is touched does not depend on the number of threads.

Where the map wraps, so that what leaves it on one side comes back on the other, the first and the last tile of a row
are neighbours too. Then a row has an even number of tiles, of sides that differ by a cell where they must, or just one.

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

On a map that wraps both are counted across its edges, and the step itself takes the position modulo the map's sides.
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np
from numba import prange, types
from numba.extending import intrinsic
from numba.np.unsafe.ndarray import to_fixed_tuple
from numpy.typing import NDArray

from kernels.compiling import njit

RUNNING = 0
ENDED = 1
FAILED = 2  # the step met a value that is not a finite number, and neither wrote it nor used it as an index

REACH = 4
_SMALLEST_TILE = 2 * REACH  # two tiles of one colour lie a tile apart: each with its reach, they never meet
_LARGEST_TILE = 64  # several fields of it fit a core's own cache

# Fewer particles than this are done before a second thread has woken up.
_WORTH_SHARING = 32

# Decorates the functions that make up a step. Numba counts who uses an array, by an atomic operation for each array of
# each call: in a step that is a fifth of the time and more. The arrays outlive the run and a step makes none, so `_nrt`
# leaves it out.
in_step = njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)

# Placeholders: `engine` puts a process's own functions in their place, in that process's copies of those that use them.
_spawn: Any = None
_step: Any = None
_run_tile: Any = None
_coordinate: Any = None
_help: Any = None
_SLOTS = 0


def tile_side(rows: int, columns: int, largest: int = _LARGEST_TILE) -> int:
    """Side of a tile in cells. It depends on the map alone, because the order of events, and the result, depend on it.

    A map should have several tiles of each colour, or there is nothing to share among threads.
    """
    side = largest
    while side > _SMALLEST_TILE and rows * columns < 64 * side * side:
        side //= 2
    return side


def _cut(cells: int, side: int, wrap: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut a side of the map into tiles: the tile of each cell, and the first cell of each tile and one past the last.

    The remainder makes a smaller tile at the end, or, where the map wraps, is shared among an even number of tiles.
    """
    if wrap:
        tiles = max(1, cells // side // 2 * 2)
        begins = np.arange(tiles + 1) * cells // tiles
    else:
        begins = np.append(np.arange(0, cells, side), cells)
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins)), begins


class _Board(NamedTuple):
    """All that the threads of one run share."""

    words: NDArray[np.int64]  # see below
    particles: NDArray[np.float64]  # [particle, slot]
    status: NDArray[np.int8]  # [particle]
    queue: NDArray[np.int64]  # particles, tile after tile
    begins: NDArray[np.int64]  # [tile]: its part of the queue is queue[begin:end]
    ends: NDArray[np.int64]
    occupied: NDArray[np.int64]  # the tiles of the present colour in which particles stand
    row_tiles: NDArray[np.int64]  # [row]: the row of tiles that it is in
    column_tiles: NDArray[np.int64]  # [column]
    row_begins: NDArray[np.int64]  # [row of tiles]: its first row of cells; one more at the end
    column_begins: NDArray[np.int64]


# What the threads of a run tell each other, in words that change as a whole and are seen by all in one order. One
# thread, whichever comes first, coordinates: it sorts, offers the tiles of a colour, and works with the others until
# none is left. It waits for a tile that another has begun, but never for a thread that sleeps or has not even started,
# as a barrier would: on a busy machine that costs more than the second thread brings.
_ARRIVED = 0  # threads so far
_OFFERED = 8  # tiles of this colour that nobody has begun; each word on its own cache line
_UNFINISHED = 16  # tiles of this colour that are not done
_WORDS = 24
_OVER = -1  # in place of the number of offered tiles: nothing will follow

_FEW_TILES = 64

# So often a thread looks for work before it lets others have its core.
_PATIENCE = 200


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic
def _load(typing_context: Any, words: Any, index: Any) -> Any:
    """words[index], atomically."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(words, types.int64), generate


@intrinsic
def _add(typing_context: Any, words: Any, index: Any, number: Any) -> Any:
    """words[index] += number, atomically; returns what was there before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(words, types.int64, types.int64), generate


@intrinsic
def _replace(typing_context: Any, words: Any, index: Any, old: Any, new: Any) -> Any:
    """words[index] = new if it is `old`, atomically; returns whether it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        return builder.extract_value(builder.cmpxchg(pointer, arguments[2], arguments[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(words, types.int64, types.int64, types.int64), generate


if sys.platform == "win32":

    @njit(nogil=True)
    def _give_way() -> None:
        """Windows takes the core away by itself when another thread needs it."""

else:
    _give_way = types.ExternalFunction("sched_yield", types.int32())


@njit(nogil=True)
def _take_tile(words):
    """Begin one of the tiles on offer: its place in the list, or -1 where there is none."""
    while True:
        offered = _load(words, _OFFERED)
        if offered <= 0:
            return -1
        if _replace(words, _OFFERED, offered, offered - 1):
            return offered - 1


def _run_tile_source(board, tile, fields, parameters):
    """Run the particles in a tile in their order, each until it ends or leaves the tile."""
    tile_row, tile_column = divmod(tile, len(board.column_begins) - 1)
    north, south = board.row_begins[tile_row], board.row_begins[tile_row + 1]
    west, east = board.column_begins[tile_column], board.column_begins[tile_column + 1]
    for place in range(board.begins[tile], board.ends[tile]):
        particle = board.queue[place]
        # As a tuple the state lives in registers; it goes back to memory only when the particle leaves the tile.
        state = to_fixed_tuple(board.particles[particle], _SLOTS)
        outcome = RUNNING
        while outcome == RUNNING and north <= state[0] < south and west <= state[1] < east:
            state, outcome = _step(state, fields, parameters)
        for slot in range(_SLOTS):
            board.particles[particle, slot] = state[slot]
        board.status[particle] = outcome


def _help_source(board, fields, parameters):
    """Run tiles as they are offered, until the coordinating thread says that it is over."""
    idle = 0
    while True:
        place = _take_tile(board.words)
        if place >= 0:
            _run_tile(board, board.occupied[place], fields, parameters)
            _add(board.words, _UNFINISHED, -1)
            idle = 0
        elif _load(board.words, _OFFERED) == _OVER:
            return
        else:
            idle += 1
            if idle > _PATIENCE:
                _give_way()


@njit(nogil=True, error_model="numpy")
def _sort_into_tiles(board, living, tile_of, colour):
    """Counting sort of the living particles that stand on tiles of one colour; returns the number of such tiles.

    Stable: in each tile the particles keep their order. `tile_of` [particle] is scratch. All `ends` must be 0.
    """
    tiles = 0
    for particle in living:
        tile_of[particle] = -1
        if board.status[particle] != RUNNING:
            continue
        row, column = board.particles[particle, 0], board.particles[particle, 1]
        if not (0.0 <= row < len(board.row_tiles) and 0.0 <= column < len(board.column_tiles)):
            board.status[particle] = FAILED  # the test is also false for NaN, which must never become an index
            continue
        tile_row, tile_column = board.row_tiles[int(row)], board.column_tiles[int(column)]
        if (tile_row & 1) * 2 + (tile_column & 1) != colour:
            continue
        tile = tile_row * (len(board.column_begins) - 1) + tile_column
        tile_of[particle] = tile
        if board.ends[tile] == 0:
            board.occupied[tiles] = tile
            tiles += 1
        board.ends[tile] += 1
    # The last is taken first. It should be the fullest, so that no thread is still at it when the others have nothing
    # left; of many tiles none takes long beside the rest.
    for place in range(1, tiles if tiles <= _FEW_TILES else 0):
        tile = board.occupied[place]
        while place > 0 and board.ends[board.occupied[place - 1]] > board.ends[tile]:
            board.occupied[place] = board.occupied[place - 1]
            place -= 1
        board.occupied[place] = tile
    begin = 0
    for tile in board.occupied[:tiles]:
        population = board.ends[tile]
        board.begins[tile] = board.ends[tile] = begin
        begin += population
    for particle in living:
        tile = tile_of[particle]
        if tile >= 0:
            board.queue[board.ends[tile]] = particle
            board.ends[tile] += 1
    return tiles


def _coordinate_source(board, key, fields, parameters):
    """Spawn the particles and offer their tiles, colour by colour, until all particles have ended."""
    count = len(board.particles)
    for particle in range(count):
        state = _spawn(particle, key, fields, parameters)
        for slot in range(_SLOTS):
            board.particles[particle, slot] = state[slot]
        board.status[particle] = RUNNING
    living = np.arange(count)  # always in the particles' order
    tile_of = np.empty(count, np.int64)
    failed = False
    while len(living) > 0 and not failed:
        for colour in range(4):
            tiles = _sort_into_tiles(board, living, tile_of, colour)
            _add(board.words, _UNFINISHED, tiles)
            _add(board.words, _OFFERED, tiles)
            place = _take_tile(board.words)
            while place >= 0:
                _run_tile(board, board.occupied[place], fields, parameters)
                _add(board.words, _UNFINISHED, -1)
                place = _take_tile(board.words)
            idle = 0
            while _load(board.words, _UNFINISHED) > 0:
                idle += 1
                if idle > _PATIENCE:
                    _give_way()
            for tile in board.occupied[:tiles]:
                board.ends[tile] = 0
        kept = 0
        for particle in living:
            failed = failed or board.status[particle] == FAILED
            if board.status[particle] == RUNNING:
                living[kept] = particle
                kept += 1
        living = living[:kept]
    _add(board.words, _OFFERED, _OVER)


def _share_source(board, key, threads, fields, parameters):
    """Run on so many threads."""
    for _ in prange(threads):
        if _add(board.words, _ARRIVED, 1) == 0:
            _coordinate(board, key, fields, parameters)
        else:
            _help(board, fields, parameters)


_NUMBERS_OF_A_LINE = 8  # float64 in 64 bytes of cache


def own_amounts(particles: int, amounts: int) -> NDArray[np.float64]:
    """Room for what steps change of each particle beside its state: zeros, [particle, amount and more].

    Each particle has cache lines of its own: threads that write to one line take it from each other at every step.
    """
    stride = -(-amounts // _NUMBERS_OF_A_LINE) * _NUMBERS_OF_A_LINE
    room = np.zeros(particles * stride + _NUMBERS_OF_A_LINE)
    begin = -(room.ctypes.data // room.itemsize) % _NUMBERS_OF_A_LINE
    return room[begin : begin + particles * stride].reshape(particles, stride)


class Run(Protocol):
    """See `engine`."""

    def __call__(
        self, count: int, key: np.uint64, rows: int, columns: int, fields: Any, parameters: Any, *, wrap: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]: ...


def engine(spawn: Any, step: Any, slots: int, largest_tile: int = _LARGEST_TILE, name: str = "") -> Run:
    """Build the engine of one process from its Numba functions `spawn` and `step`, whose state has `slots` numbers.

    Returns a function

        run(count, key, rows, columns, fields, parameters, wrap=False) -> particles [particle, slot], status [particle]

    which spawns `count` particles with the random numbers of `key` on a map of `rows` × `columns` cells and runs them
    until all have ended, or until one has FAILED, in which case the others may still be RUNNING. Particles are returned
    in their last state and in the order of their numbers, so that sums over them have the same bits each time. It runs
    on as many threads as `numba.set_num_threads` says, releases the GIL and is cached on disk. Where particles stand
    close together, a smaller `largest_tile` shares them better among threads, at the price of more rounds.

    A Numba function that takes others as arguments or from a closure is compiled anew in each Python process, because
    its key in the cache has random parts. A copy of a plain function, with its own globals and its own name, is not.
    Like all of Numba's cache, it does not notice when a file changes from which it took a function: here the process's.
    A second engine of one process needs a `name` of its own: two processes may compile them at a time, and in the cache
    the one would take the place of the other.
    """
    process = name or spawn.__module__.rpartition(".")[2]

    def compiled(source: Any, parallel: bool = False, **own: Any) -> Any:
        copy = FunctionType(source.__code__, {**globals(), **own})
        copy.__name__ = f"{source.__name__.removesuffix('_source').lstrip('_')}_{process}"
        copy.__qualname__ = copy.__name__
        copy.__module__ = __name__
        return njit(parallel=parallel, nogil=True, cache=True, error_model="numpy")(copy)

    run_tile = compiled(_run_tile_source, _step=step, _SLOTS=slots)
    coordinate = compiled(_coordinate_source, _spawn=spawn, _run_tile=run_tile, _SLOTS=slots)
    helper = compiled(_help_source, _run_tile=run_tile)
    share = compiled(_share_source, parallel=True, _coordinate=coordinate, _help=helper)

    def run(
        count: int, key: np.uint64, rows: int, columns: int, fields: Any, parameters: Any, *, wrap: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        side = tile_side(rows, columns, largest_tile)
        row_tiles, row_begins = _cut(rows, side, wrap)
        column_tiles, column_begins = _cut(columns, side, wrap)
        tiles = (len(row_begins) - 1) * (len(column_begins) - 1)
        board = _Board(
            words=np.zeros(_WORDS, np.int64),
            particles=np.empty((count, slots)),
            status=np.empty(count, np.int8),
            queue=np.empty(count, np.int64),
            begins=np.zeros(tiles, np.int64),
            ends=np.zeros(tiles, np.int64),
            occupied=np.empty(tiles, np.int64),
            row_tiles=row_tiles,
            column_tiles=column_tiles,
            row_begins=row_begins,
            column_begins=column_begins,
        )
        # Asked for here, because a compiled function that asks for it itself cannot be cached.
        threads = numba.get_num_threads() if count >= _WORTH_SHARING else 1
        share(board, np.uint64(key), threads, fields, parameters)
        return board.particles, board.status

    return run

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

import contextlib
import functools
import sys
import time
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Protocol

import numba
import numpy as np
from numba import prange, types
from numba.extending import intrinsic
from numba.np.unsafe.ndarray import to_fixed_tuple
from numpy.typing import NDArray

from kernels.compiling import in_threads, njit, variant

RUNNING = 0
ENDED = 1
FAILED = 2  # the step met a value that is not a finite number, and neither wrote it nor used it as an index

REACH = 4
_SMALLEST_TILE = 2 * REACH  # two tiles of one colour lie a tile apart: each with its reach, they never meet
_LARGEST_TILE = 64  # several fields of it fit a core's own cache

# Fewer particles than this are done before a second thread has woken up.
_WORTH_SHARING = 32

# Placeholders: `engine` puts a process's own functions in their place, in that process's copies of those that use them.
_spawn: Any = None
_step: Any = None
_work: Any = None
_take_part: Any = None
_SLOTS = 0
_COUNTS = False  # whether a tile tells how many steps were taken in it


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
    tiles: NDArray[np.int64]  # [particle]: where it stands; -1 where it is not RUNNING
    queue: NDArray[np.int64]  # particles, tile after tile
    begins: NDArray[np.int64]  # [tile]: its part of the queue is queue[begin:end]
    ends: NDArray[np.int64]
    occupied: NDArray[np.int64]  # the tiles of the present colour in which particles stand
    living: NDArray[np.int64]  # particles that still run, in their order, and room for those that no longer do
    chosen: NDArray[np.int64]  # as many: scratch of what sorts them
    colours: NDArray[np.int64]  # [tile]
    row_tiles: NDArray[np.int64]  # [row]: the row of tiles that it is in
    column_tiles: NDArray[np.int64]  # [column]
    row_begins: NDArray[np.int64]  # [row of tiles]: its first row of cells; one more at the end
    column_begins: NDArray[np.int64]


# Messages between the threads of a run, in atomic words with a common order. One
# thread, whichever comes first, coordinates: it sorts, offers the tiles of a colour, and works with the others until
# none is left. It waits for a tile that another has begun, but never for a thread that sleeps or has not even started,
# as a barrier would: on a busy machine that costs more than the second thread brings.
_ARRIVED = 0  # threads so far
_OFFERED = 8  # pieces of work that nobody has begun: tiles of one colour; each word on its own cache line
_UNFINISHED = 16  # pieces that are not done
_COLOUR = 24  # of the tiles on offer; _NONE as long as the pieces are lots of particles that have yet to be spawned
_FAILURES = 32  # particles that have FAILED
_LIVING = 40  # particles that still ran when the present round began; only who coordinates reads it, and the next
_PIECES = 41  # that were offered last
_WORDS = 48
_OVER = -1  # in place of the number of offered tiles: nothing will follow

_COLOURS = 4
_NONE = _COLOURS  # as if a round had ended before the first one

_FEW_TILES = 64

_LOT = 64  # particles that are spawned together

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
def _take_piece(words):
    """Claim a piece of work: its index in the list, or -1 if there is none."""
    while True:
        offered = _load(words, _OFFERED)
        if offered <= 0:
            return -1
        if _replace(words, _OFFERED, offered, offered - 1):
            return offered - 1


@njit(nogil=True, error_model="numpy")
def _stand(board, particle, row, column, outcome):
    """Write down how a particle goes on, and where."""
    tile = -1
    if outcome == RUNNING:
        # The test is also false for NaN, which must never become an index.
        if 0.0 <= row < len(board.row_tiles) and 0.0 <= column < len(board.column_tiles):
            tile = board.row_tiles[int(row)] * (len(board.column_begins) - 1) + board.column_tiles[int(column)]
        else:
            outcome = FAILED
    if outcome == FAILED:
        _add(board.words, _FAILURES, 1)
    board.status[particle] = outcome
    board.tiles[particle] = tile


def _work_source(board, place, key, fields, parameters):
    """Do a piece of what is on offer. Returns how many steps were taken, where that is counted."""
    steps = 0
    if _load(board.words, _COLOUR) == _NONE:
        for particle in range(place * _LOT, min((place + 1) * _LOT, len(board.particles))):
            state = _spawn(particle, key, fields, parameters)
            for slot in range(_SLOTS):
                board.particles[particle, slot] = state[slot]
            _stand(board, particle, state[0], state[1], RUNNING)
        return steps
    # The particles of a tile in their order, each until it ends or leaves the tile
    tile = board.occupied[place]
    tile_row, tile_column = divmod(tile, len(board.column_begins) - 1)
    north, south = board.row_begins[tile_row], board.row_begins[tile_row + 1]
    west, east = board.column_begins[tile_column], board.column_begins[tile_column + 1]
    for place_in_queue in range(board.begins[tile], board.ends[tile]):
        particle = board.queue[place_in_queue]
        # As a tuple the state lives in registers; it goes back to memory only when the particle leaves the tile.
        state = to_fixed_tuple(board.particles[particle], _SLOTS)
        outcome = RUNNING
        while outcome == RUNNING and north <= state[0] < south and west <= state[1] < east:
            state, outcome = _step(state, fields, parameters)
            if _COUNTS:
                steps += 1
        for slot in range(_SLOTS):
            board.particles[particle, slot] = state[slot]
        _stand(board, particle, state[0], state[1], outcome)
    return steps


@njit(nogil=True, error_model="numpy")
def _sort_into_tiles(board, colour):
    """Counting sort of the living particles that stand on tiles of one colour; returns the number of such tiles.

    Stable: in each tile the particles keep their order. All `ends` must be 0.
    """
    # Serial work is kept short: one number per particle, without a branch.
    count = 0
    for particle in board.living[: board.words[_LIVING]]:
        tile = board.tiles[particle]
        board.chosen[count] = particle
        count += tile >= 0 and board.colours[tile] == colour
    tiles = 0
    for particle in board.chosen[:count]:
        tile = board.tiles[particle]
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
    for particle in board.chosen[:count]:
        tile = board.tiles[particle]
        board.queue[board.ends[tile]] = particle
        board.ends[tile] += 1
    return tiles


@njit(nogil=True, error_model="numpy")
def _clear_tiles(board, tiles):
    """Make ready for the tiles of the next colour."""
    for tile in board.occupied[:tiles]:
        board.ends[tile] = 0


@njit(nogil=True, error_model="numpy")
def _keep_living(board):
    """Leave those that still run, in their order; returns how many these are."""
    kept = 0
    for particle in board.living[: board.words[_LIVING]]:
        if board.tiles[particle] >= 0:
            board.living[kept] = particle
            kept += 1
    board.words[_LIVING] = kept
    return kept


@njit(nogil=True, error_model="numpy")
def _offer_next(board):
    """Offer what comes after all that was offered: particles to be spawned, and then tiles, colour by colour.

    One piece is kept for the thread that calls this, which coordinates: if others lost their core over a single piece,
    it would wait for nothing. Returns its place, or −1 where all particles have ended, and nothing follows.
    """
    pieces = 0
    if board.words[_PIECES] == 0:
        pieces = (len(board.particles) + _LOT - 1) // _LOT
    elif board.words[_COLOUR] != _NONE:
        _clear_tiles(board, board.words[_PIECES])
    while pieces == 0:
        colour = board.words[_COLOUR] + 1
        if colour >= _COLOURS:
            if _keep_living(board) == 0 or _load(board.words, _FAILURES) > 0:
                _add(board.words, _OFFERED, _OVER)
                return -1
            colour = 0
        _add(board.words, _COLOUR, colour - board.words[_COLOUR])
        pieces = _sort_into_tiles(board, colour)
    board.words[_PIECES] = pieces
    _add(board.words, _UNFINISHED, pieces)
    _add(board.words, _OFFERED, pieces - 1)
    return pieces - 1


def _take_part_source(board, key, fields, parameters):
    """Do pieces of what is on offer, until all particles have ended. The thread that comes first coordinates."""
    coordinates = _add(board.words, _ARRIVED, 1) == 0
    idle = 0
    while True:
        place = _take_piece(board.words)
        if place < 0:
            if _load(board.words, _OFFERED) == _OVER:
                return
            if coordinates and _load(board.words, _UNFINISHED) == 0:
                place = _offer_next(board)
        if place >= 0:
            _work(board, place, key, fields, parameters)
            _add(board.words, _UNFINISHED, -1)
            idle = 0
        else:
            idle += 1
            if idle > _PATIENCE:
                _give_way()


def _work_alone_source(board, places, key, fields, parameters, steps):
    """Do some pieces of work one after the other, and write down how many steps each took."""
    for number in range(len(places)):
        steps[number] = _work(board, places[number], key, fields, parameters)


class Count(NamedTuple):
    """Work of a run, counted on one thread; see `counted`. Times are in seconds."""

    process: str
    preparing: float  # and giving back, before and after all that follows
    spawning: float
    lots: int  # of particles that are spawned together
    sorting: float  # by the thread that coordinates, while the others wait
    running: float  # all tiles
    steps: list[NDArray[np.int64]]  # for each colour of each round: of each of its tiles, in the order they are taken
    elapsed: float  # with the counting itself


_counts: list[Count] | None = None


@contextlib.contextmanager
def counted() -> Iterator[list[Count]]:
    """Within it each run counts its work, on one thread and somewhat slower; the list grows by one `Count` for each.

    The kernels that do so are copies, so that the others take no longer for it.
    """
    global _counts
    _counts = []
    try:
        yield _counts
    finally:
        _counts = None


class GivenUp(Exception):
    """A run was ended by `give_up`; some of its particles still ran."""


class _Runs:
    """The runs that go on in this process, for other threads than those that they run on."""

    boards: ClassVar[list[_Board]] = []
    are_given_up = False


def give_up(given_up: bool = True) -> None:
    """From any thread: let all runs end after their present round, and raise `GivenUp`, as long as it is so."""
    _Runs.are_given_up = given_up
    for board in list(_Runs.boards) if given_up else ():
        board.words[_FAILURES] = 1  # at which a round is the last


def progress() -> float:
    """From any thread: the part of the particles of the run that goes on, if any, that had ended by its last round."""
    for board in _Runs.boards[-1:]:
        return 1.0 - float(board.words[_LIVING]) / max(len(board.particles), 1)
    return 0.0


def _share_source(board, key, threads, fields, parameters):
    """Run on so many threads."""
    for _ in prange(threads):
        _take_part(board, key, fields, parameters)


_NUMBERS_OF_A_LINE = 8  # float64 in 64 bytes of cache


def own_amounts(particles: int, amounts: int) -> NDArray[np.float64]:
    """Room for what steps change of each particle beside its state: zeros, [particle, amount and more].

    Each particle has cache lines of its own: threads that write to one line take it from each other at every step.
    """
    stride = -(-amounts // _NUMBERS_OF_A_LINE) * _NUMBERS_OF_A_LINE
    room = np.zeros(particles * stride + _NUMBERS_OF_A_LINE)
    begin = -(room.ctypes.data // room.itemsize) % _NUMBERS_OF_A_LINE
    return room[begin : begin + particles * stride].reshape(particles, stride)


def by_kind(own: NDArray[np.float64], kinds: int) -> tuple[float, ...]:
    """The sums of `own_amounts` over all particles, in their order."""
    return tuple(own[:, :kinds].sum(axis=0).tolist())


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

    def copied(source: Any, **own: Any) -> Any:
        copy = variant(source, **own)
        counting = "_counting" if own.get("_COUNTS") else ""
        copy.__name__ = f"{source.__name__.removesuffix('_source').lstrip('_')}_{process}{counting}"
        copy.__qualname__ = copy.__name__
        copy.__module__ = __name__
        return copy

    def work(**own: Any) -> Any:
        return in_threads(copied(_work_source, _spawn=spawn, _step=step, _SLOTS=slots, **own))

    # The step of a particle is compiled again with each calling function: keep few levels.
    take_part = in_threads(copied(_take_part_source, _work=work()))
    share = njit(parallel=True, nogil=True, cache=True, error_model="numpy")(
        copied(_share_source, _take_part=take_part)
    )
    work_alone = njit(nogil=True, cache=True, error_model="numpy")(
        copied(_work_alone_source, _work=work(_COUNTS=True), _COUNTS=True)
    )

    def run(
        count: int, key: np.uint64, rows: int, columns: int, fields: Any, parameters: Any, *, wrap: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        begin = time.perf_counter()
        board = _board(count, slots, rows, columns, tile_side(rows, columns, largest_tile), wrap)
        if _counts is not None:
            _counts.append(_count(process, board, begin, work_alone, np.uint64(key), fields, parameters))
            return board.particles, board.status
        # Known to others first: whoever gives up from now on finds it.
        _Runs.boards.append(board)
        try:
            if not _Runs.are_given_up:
                # Asked for here, because a compiled function that asks for it itself cannot be cached.
                share(board, np.uint64(key), _threads_worth(board), fields, parameters)
        finally:
            _Runs.boards.pop()
        if _Runs.are_given_up:
            raise GivenUp
        return board.particles, board.status

    return run


def _board(count: int, slots: int, rows: int, columns: int, side: int, wrap: bool) -> _Board:
    """For `count` particles on a map that is cut into tiles of so many cells a side."""
    row_tiles, row_begins = _cut(rows, side, wrap)
    column_tiles, column_begins = _cut(columns, side, wrap)
    tile_rows, tile_columns = np.arange(len(row_begins) - 1), np.arange(len(column_begins) - 1)
    colours = ((tile_rows & 1)[:, None] * 2 + (tile_columns & 1)).reshape(-1)
    tiles = len(colours)
    words = np.zeros(_WORDS, np.int64)
    words[_LIVING], words[_COLOUR] = count, _NONE
    return _Board(
        words=words,
        particles=np.empty((count, slots)),
        status=np.empty(count, np.int8),
        tiles=np.empty(count, np.int64),
        queue=np.empty(count, np.int64),
        begins=np.zeros(tiles, np.int64),
        ends=np.zeros(tiles, np.int64),
        occupied=np.empty(tiles, np.int64),
        living=np.arange(count),
        chosen=np.empty(count, np.int64),
        colours=colours,
        row_tiles=row_tiles,
        column_tiles=column_tiles,
        row_begins=row_begins,
        column_begins=column_begins,
    )


def _threads_worth(board: _Board) -> int:
    """How many of the threads that there are can have work at a time: as many as there are tiles of one colour."""
    if len(board.particles) < _WORTH_SHARING:
        return 1
    return min(numba.get_num_threads(), int(np.bincount(board.colours).max()))


@functools.cache
def _compiled_to_be_called() -> tuple[Any, Any]:
    """What sorts between two colours, for calls from Python, in which it is else a plain and slow function."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    return numba.njit(**options)(_sort_into_tiles), numba.njit(**options)(_keep_living)


def _count(
    process: str, board: _Board, begin: float, work_alone: Any, key: np.uint64, fields: Any, parameters: Any
) -> Count:
    """Run as `_take_part` would, with a look at the clock before and after each colour."""
    count = len(board.particles)
    none = np.empty(0, np.int64)
    preparing = time.perf_counter() - begin
    sort_into_tiles, keep_living = _compiled_to_be_called()
    work_alone(board, none, key, fields, parameters, none)  # compiles

    def seconds(function: Any, *arguments: Any) -> tuple[Any, float]:
        start = time.perf_counter()
        result = function(*arguments)
        return result, time.perf_counter() - start

    # What the call itself takes, which a run that does not count has only once
    call = min(seconds(work_alone, board, none, key, fields, parameters, none)[1] for _ in range(5))
    board.words[_LIVING] = 0
    sort_into_tiles(board, 0)
    keep_living(board)
    short_call = min(seconds(sort_into_tiles, board, 0)[1] for _ in range(5))
    board.words[_LIVING] = count
    lots = np.arange(-(-count // _LOT))
    spawning = seconds(work_alone, board, lots, key, fields, parameters, np.empty_like(lots))[1] - call
    sorting = running = 0.0
    steps = []
    left = keep_living(board)
    while left > 0 and board.words[_FAILURES] == 0:
        for colour in range(_COLOURS):
            board.words[_COLOUR] = colour
            tiles, elapsed = seconds(sort_into_tiles, board, colour)
            sorting += max(0.0, elapsed - short_call)
            places = np.arange(tiles)[::-1].copy()
            taken = np.zeros(tiles, np.int64)
            running += max(0.0, seconds(work_alone, board, places, key, fields, parameters, taken)[1] - call)
            _clear_tiles(board, tiles)
            steps.append(taken)
        left, elapsed = seconds(keep_living, board)
        sorting += max(0.0, elapsed - short_call)
    return Count(
        process, preparing, max(0.0, spawning), len(lots), sorting, running, steps, time.perf_counter() - begin
    )  # fmt: skip

"""Parcels of wind that fly over the ground, entrain loose sand, abrade bare rock and let their load settle.

After McDonald 2020, "Simple particle-based wind erosion", on two layers (rock, and loose sediment on it) and in metres.
The article has heights h in [0, 1] and `scale` cells to one unit of height; here a height is H = h · scale · cell_size
metres. The parcel's position, its height and all three components of its velocity are in cells, so that it climbs and
falls as it moves; the article adds a vertical speed in cells to a height in units of h, `scale` times too fast. What
the parcel takes keeps its part of h: suspension is multiplied by `scale`.

In each step of time t, with p the prevailing wind, v the velocity, n the unit normal of the ground, z the height:

    z ← max(z, H)                                     a parcel below the ground is lifted to it
    v ← v + t · friction · (n (n·v) − v)              on the ground; in the air: v.z ← v.z − t · gravity
    v ← v + t · drag · (p − v),  x ← x + t · v
    force = |v| · (H after − z)                       on the ground
    load ← load + t · suspension · scale · force      from sand; bare rock: t · abrasion · force · (load + dust) becomes
                                                      sand, and so does it for the part of a force that finds no sand
    load ← load − t · deposition · load               to the cells that it leaves and enters, half each

What the article's model lacks to make dunes that stay and wander, each of which can be switched off:

- Shear (`shear`): wind moves sand on level ground too; the force gets t · shear · |v|² more.
- Speed-up (`speed_up`): wind is fastest shortly before a crest and slow behind it (Jackson and Hunt 1975). Each parcel
  keeps a mean m of the ground that it came over, which follows in `upwind_length` cells L; its prevailing wind is
  p · (1 + speed_up · (H − m) / L).
- Shelter (`shelter_angle`): behind a crest the flow separates, and below the line that falls from the crest by this
  angle (Werner 1995: 15°) nothing is lifted. The parcel follows the line, and its load settles by `lee_deposition`.
  A line begins wherever the ground falls, so that wind on its way down lifts nothing on gentle slopes either.

Where the ground is more than sand on rock, in the functions with `_rich` in their names:

- Kinds: a parcel carries each kind of loose material by itself. What it lifts is of all kinds in proportion to
  their parts of the mix and to how easily the wind lifts them, so that a crust of gravel ends it. They settle at rates
  of their own, the coarse first, and what is worn of the rock becomes the kind that this rock wears to.
- Wet ground resists: what is lifted is multiplied by max(0, 1 − wet_cohesion · wetness)², so that there is a
  wetness beyond which nothing moves (after Fécan, Marticorena, Bergametti 1999, whose threshold grows with moisture).
- Plants on a part c of the ground slow the wind, p · (1 − plant_drag · c); what is lifted and worn falls as the
  square of what they leave open, (1 − plant_cover · c)², (after Raupach, Gillette, Leys 1993: they take their share of
  the drag); and load settles among them by plant_trapping · c more.
- Lift (`uplift`): fast wind holds grains up. A kind that falls w times as fast as sand settles 1 + uplift · |v|² / w
  times slower: the balance of fall and turbulence (Rouse 1937) by which fine dust stays in the air of a storm.
- Drag (`lag`): a coarse grain takes longer to come up to the wind (its drag length grows with its size: Andreotti,
  Claudin, Douady 2002). Of what settles in a step, all but 0.5 / (1 + lag · w) falls behind.

- Flight (`lift`): air that is faster near the ground lifts what it carries, against its weight. A load falls with the
  mean w of its kinds, and z is the height over the ground in lengths of `lift_height`:
      v.z ← v.z + t · (lift · |v|² / (1 + z)² − gravity · w)
  and a kind that falls w times as fast as sand settles s + (1 − s) · w times as fast, with s = 1 / (1 + z)² and w up to
  1: grains that fall fast come down from any height. So coarse sand hops, and dust goes up and is carried far. On the
  ground a parcel takes off where that is more than 0. Air without a load is not lifted.
- Memory (`memory`): the mean momentum of loaded air, as the map of streams has that of water. Where the load a over a
  cell, averaged over cycles, is large beside the mean A of the map, its direction u is that of a street:
      wind ← wind + memory · a / (a + A) · |wind| · u
  where the wind does not blow against it. So streets form, funnels behind gaps, and plumes, and they stay.

- Rates (kernels/rates.py) are factors on what is lifted and worn, and mobility on that and on what settles, of each of
  the two cells. What a parcel still carries that ends over protected ground comes down as near as it can.

Where the wind near the ground is known (`kernels/wind_field.py`), it is the parcels' prevailing wind, turned by as
much as each one's gust. `speed_up` has no say then: the field has it. The line of the shelter stays: it tells where
nothing is lifted, and the field how fast the wind is, which the line does not touch. The field knows the crowns of
trees, so that only grass slows the parcels further.

Where this is not what the article's own code does:

- A step ends at the latest after one cell's length, so that no parcel leaps over the ground between; t ≤ `time_step`.
- A parcel takes no more than is there and digs no deeper than it went in; the article sets what is left to zero.
- It wears no more of the rock in a step than it carries, and none at the foot of a step of more than sixteen cells.
- A load settles on the ground as well as in the air, else it would grow as long as the ground rises.
- `dust`, which never settles, wears rock before there is any sand to carry; and deposition has a rate of its own.
- What a parcel still carries when it ends on the map is put down there.
- Slopes slide in `kernels/cascade.py`, once for all.

What the article's model does and ours has kept: a rise to the next cell lifts sand from the cell before it, so that the
rise grows. Waves of two cells stand against the cascade where suspension is strong (ten times the article's).
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import inlined, njit, variant
from kernels.exchanging import KINDS, settle_four, settle_four_ahead, sum_of
from kernels.layers import Layer, check_layers
from kernels.materials import Materials, Moved, asked, ground_of, rock_at, thickness
from kernels.parameters import constants_type, exact
from kernels.particles import ENDED, FAILED, RUNNING, by_kind, engine, own_amounts
from kernels.random import process_number, stream, uniform
from kernels.rates import MOBILITY, WIND, Rates, flat, is_free, rate_of, settle
from kernels.surface import CANOPY, GRASS, STRIDE, WETNESS
from kernels.units import Acceleration, Cells, Degrees, Metres, PerTime, Speed, Steps, Time, Times

Surface = NDArray[np.float32]

_PROCESS = process_number("wind")

# Slower than this (cells per unit of time, up and down too, as in the article) a parcel has come to rest.
_STILL = 0.01

# How fast the averages over time follow what a cycle brings, as in the article.
_AVERAGING_RATE = 0.01

# On a map that wraps a parcel ends after one crossing. In the last part of it the wind dies down: it lifts nothing
# more, and its load settles evenly, so that no heap lies where it ends.
_DYING = 0.1

# Which random number of a parcel is the strength of its gust, beside the first three of each
_STRENGTH = 1 << 40

# The slowest that a kind falls beside sand, so that nothing is divided by zero.
_SLOWEST_FALL = 1e-9

# So far below the cell that a parcel enters, in sides of a cell, the one that it leaves is out of its reach: else a
# step grows by as much as it is high, again and again, as what is taken before it is put down on it.
_DEEPEST_HOLE = 16.0

# Metres of loose material that the wind takes all at once, if it takes any
_THINNEST = 1e-100


class WindParameters(NamedTuple):
    """What the wind of a cycle is like. A step of a parcel takes `time_step` or less."""

    count: int  # type: ignore[assignment]  # parcels; hides tuple.count, which nobody needs here
    wind_direction: Degrees  # where it comes from, clockwise from north
    wind_speed: Speed
    gusts: Degrees  # each parcel's own wind blows from up to so far beside the direction
    gust_speed: float  # part of the speed by which each parcel's own wind is faster or slower at most
    time_step: Time
    gravity: Acceleration
    drag: PerTime  # part of the difference to the prevailing wind that is lost
    friction: PerTime  # part of the speed along the ground that is lost in contact
    suspension: float
    deposition: PerTime  # part of the load that settles
    abrasion: float
    dust: Metres  # over one cell
    inflow: Metres  # sand that a parcel brings along over the upwind edge, over one cell
    shear: float
    speed_up: float
    upwind_length: Cells
    shelter_angle: Degrees  # 90: no shelter
    lee_deposition: PerTime  # part of the load that settles in shelter
    scale: Cells  # to the article's unit of height
    wrap: bool  # what leaves the map comes back on the other side
    longest_path: Steps  # a parcel ends after so many
    uplift: Annotated[float, "t²/cells²"]  # how strongly the square of the speed holds grains up
    lag: float  # how much of what settles falls behind, for grains that fall as sand does
    lift: Annotated[float, "1/cells"]  # upward acceleration at a speed of 1, close to the ground
    lift_height: Cells  # where it is a quarter of that
    memory: Times  # by what part streets of loaded air speed up and turn the wind at most
    wet_cohesion: float  # nothing is lifted where the wetness is over 1 / this
    plant_drag: float  # part of the wind that plants take where they cover all
    plant_cover: float  # part of the ground that they keep from the wind there
    plant_trapping: PerTime  # part of the load that settles among them
    wind_field_direction: Degrees  # of the prevailing wind that the field of local wind was found for


class WindTotals(NamedTuple):
    """Amounts moved in a cycle, in metres over one cell."""

    moved: Moved
    steps: int
    failed_row: int  # where a parcel met a value that is not a finite number; -1: nowhere
    failed_column: int


class _BareGround(NamedTuple):
    bedrock: Layer  # each [row * columns + column]: one index serves all
    sediment: Layer
    ground: Layer
    touched: NDArray[np.uint8]  # 1 where a parcel was in contact with the ground
    carried: Layer  # load over each cell times the time that it was there
    rows: int
    columns: int


class _OnTheGround(NamedTuple):
    surface: Surface  # as in `kernels/surface.py`; empty: dry and bare
    rates: Rates  # as in kernels/rates.py; empty: 1
    wind: Surface  # [cell * 2 + (south, east)]: the wind near the ground; empty: the prevailing one
    stride: int  # of the next two
    loads: Layer  # [parcel * stride + kind]: what it carries
    from_rock: Layer  # [drop * stride + kind]: load made from rock
    aloft: Surface  # [cell]: load over it, averaged over cycles; empty: nothing is remembered
    streets: Surface  # [cell * 2 + (south, east)]: the same times its velocity
    borne: Layer  # as many: what this cycle adds to it
    usual_load: float  # the mean of `aloft`
    memory: float  # as the parameters have it


# What parcels ask of `Materials`
_ASKED = (
    "kinds", "mix", "burden", "deposition", "suspension",
    "strata", "steps_per_metre", "rise", "rock_abrasion", "rock_worn",
)  # fmt: skip

# All side by side, because what Numba runs in parallel takes no tuple of tuples.
_RichGround: Any = namedtuple("_RichGround", _BareGround._fields + _OnTheGround._fields + _ASKED)  # type: ignore[misc]


# The parameters, but gusts in radians, suspension times scale, shear times metres per cell, and speed-up by the upwind
# length in metres; and what follows from them
_Constants = constants_type(
    WindParameters,
    "wind_row",  # the prevailing wind, in cells per unit of time
    "wind_column",
    "field_turn",  # radians from the wind that the local wind was found for to that of now
    "follow",  # part of the way to the ground that the mean of the upwind ground makes in a cell
    "shelter_slope",  # metres per cell
    "below_crest",  # 0; infinite where there is no shelter
    "crossing",  # a parcel of a map that wraps ends after so many cells
    "cells_per_metre",
    "metres_per_cell",
    "deepest_hole",  # metres
)


def _spawn(particle, key, fields, constants):
    """A parcel at the prevailing wind's speed, on the ground: on the upwind edges, or, where the map wraps, anywhere.

    On the edges each has its share of the wind that blows through it.
    """
    across = uniform(key, 3 * particle)
    along = uniform(key, 3 * particle + 1)
    if constants.wrap:
        row, column = across * fields.rows, along * fields.columns
    else:
        through_rows = abs(constants.wind_row) * fields.columns
        through_columns = abs(constants.wind_column) * fields.rows
        if across * (through_rows + through_columns) < through_rows:
            row = 0.0 if constants.wind_row > 0.0 else fields.rows - 1e-9
            column = along * fields.columns
        else:
            row = along * fields.rows
            column = 0.0 if constants.wind_column > 0.0 else fields.columns - 1e-9
    cell = int(row) * fields.columns + int(column)
    ground = fields.ground[cell]
    turn = constants.gusts * (2.0 * uniform(key, 3 * particle + 2) - 1.0)
    strength = 1.0 + constants.gust_speed * (2.0 * uniform(key, _STRENGTH + particle) - 1.0)
    wind_row, wind_column = _own_wind(turn, constants, fields)
    south, east = _local_wind(cell, wind_row, wind_column, fields)
    wind_row, wind_column, south, east = strength * wind_row, strength * wind_column, strength * south, strength * east
    return (
        row, column, ground, south, east, 0.0, math.hypot(south, east), wind_row, wind_column,
        constants.inflow, ground - constants.below_crest, ground, 0.0, _at_start(particle), 0.0,
    )  # fmt: skip


# What parcels do over bare ground, and over rich ground in the functions with `_rich` in their names; see
# kernels/materials.py.


@inlined
def _at_start(particle):
    """What a parcel keeps to tell what it wore: how much, or, over rich ground, its number, which finds its own.

    One more number in the state would cost a twentieth of the time.
    """
    return 0.0


@inlined
def _at_start_rich(particle):
    return float(particle)


@inlined
def _own_wind(turn, constants, fields):
    """The wind of a parcel as it keeps it, to the south and to the east."""
    return (
        math.cos(turn) * constants.wind_row - math.sin(turn) * constants.wind_column,
        math.sin(turn) * constants.wind_row + math.cos(turn) * constants.wind_column,
    )


@inlined
def _own_wind_rich(turn, constants, fields):
    """Where the local wind is known, a parcel keeps its speed and its turn from there, as a complex number."""
    if len(fields.wind) == 0:
        return _own_wind(turn, constants, fields)
    turn += constants.field_turn
    return constants.wind_speed * math.cos(turn), constants.wind_speed * math.sin(turn)


@inlined
def _local_wind(cell, wind_row, wind_column, fields):
    """A parcel's own wind where it is."""
    return wind_row, wind_column


@inlined
def _local_wind_rich(cell, wind_row, wind_column, fields):
    """The wind near the ground, turned and lengthened as the parcel's own is, where it is known."""
    if len(fields.wind) > 0:
        south, east = float(fields.wind[np.uintp(2 * cell)]), float(fields.wind[np.uintp(2 * cell + 1)])
        wind_row, wind_column = wind_row * south - wind_column * east, wind_column * south + wind_row * east
    if len(fields.aloft) > 0:
        south, east = float(fields.streets[np.uintp(2 * cell)]), float(fields.streets[np.uintp(2 * cell + 1)])
        along = math.sqrt(south * south + east * east)
        if along > 0.0 and wind_row * south + wind_column * east > 0.0:
            aloft = float(fields.aloft[np.uintp(cell)])
            pull = fields.memory * aloft / (aloft + fields.usual_load)
            pull *= math.sqrt(wind_row * wind_row + wind_column * wind_column) / along
            wind_row, wind_column = wind_row + pull * south, wind_column + pull * east
    return wind_row, wind_column


@inlined
def _upward(fields, constants, told, load, above, along):
    """The acceleration up of a parcel so many metres above the ground."""
    return -constants.gravity


@inlined
def _upward_rich(fields, constants, told, load, above, along):
    if not (constants.lift > 0.0 and load > 0.0):
        return -constants.gravity
    own = int(told) * fields.stride
    weight = 0.0
    for kind in range(fields.kinds):
        weight += fields.deposition[np.uintp(kind)] * fields.loads[np.uintp(own + kind)]
    weight /= load
    return constants.lift * along * along * _nearness(constants, above) - constants.gravity * weight


@inlined
def _nearness(constants, above):
    """How much of the shear near the ground there is so many metres above it."""
    away = 1.0 + above * constants.cells_per_metre / constants.lift_height
    return 1.0 / (away * away)


@inlined
def _taken_off(fields, constants, told, load, v_up, along, time):
    """The velocity up of a parcel on the ground."""
    return v_up


@inlined
def _taken_off_rich(fields, constants, told, load, v_up, along, time):
    if not constants.lift > 0.0:
        return v_up
    return v_up + time * max(0.0, _upward_rich(fields, constants, told, load, 0.0, along))


@inlined
def _near_ground(constants, above):
    """How near the ground a load settles, from 0 to 1."""
    return 1.0


@inlined
def _near_ground_rich(constants, above):
    return _nearness(constants, max(above, 0.0)) if constants.lift > 0.0 else 1.0


@inlined
def _bear(fields, cell, load, v_row, v_column):
    """Remember that so much of a load, times the time, went this way over a cell."""


@inlined
def _bear_rich(fields, cell, load, v_row, v_column):
    if len(fields.borne) > 0:
        fields.borne[np.uintp(2 * cell)] += load * v_row
        fields.borne[np.uintp(2 * cell + 1)] += load * v_column


@inlined
def _among_plants(cell, constants, fields):
    """What plants leave of the wind, and how much faster the load settles among them."""
    return 1.0, 0.0


@inlined
def _among_plants_rich(cell, constants, fields):
    surface = fields.surface
    if len(surface) == 0:
        return 1.0, 0.0
    at = cell * STRIDE
    open_to_grass = 1.0 - float(surface[np.uintp(at + GRASS)])
    cover = 1.0 - open_to_grass * (1.0 - float(surface[np.uintp(at + CANOPY)]))
    slowing = cover if len(fields.wind) == 0 else 1.0 - open_to_grass
    return 1.0 - constants.plant_drag * slowing, constants.plant_trapping * cover


@inlined
def _add_sediment(fields, cell, depth):
    """Put sediment on a cell of bare ground."""
    sediment = fields.sediment[np.uintp(cell)] + depth
    fields.sediment[np.uintp(cell)] = sediment
    fields.ground[np.uintp(cell)] = fields.bedrock[np.uintp(cell)] + sediment


@inlined
def _rise(fields, i, j, cell, wrap):
    """How much the ground rises in a cell to the south and to the east, in metres, from central differences."""
    rows, columns = fields.rows, fields.columns
    span_rows = span_columns = 0.5
    if 0 < i < rows - 1 and 0 < j < columns - 1:
        north, south, west, east = cell - columns, cell + columns, cell - 1, cell + 1
    elif wrap:
        north = cell - columns if i > 0 else cell + (rows - 1) * columns
        south = cell + columns if i < rows - 1 else j
        west = cell - 1 if j > 0 else cell + columns - 1
        east = cell + 1 if j < columns - 1 else cell - columns + 1
    else:
        # One-sided differences at the map's edge
        north, south = cell - columns * (i > 0), cell + columns * (i < rows - 1)
        west, east = cell - (j > 0), cell + (j < columns - 1)
        span_rows = 1.0 / ((i > 0) + (i < rows - 1))
        span_columns = 1.0 / ((j > 0) + (j < columns - 1))
    return (
        span_rows * (fields.ground[np.uintp(south)] - fields.ground[np.uintp(north)]),
        span_columns * (fields.ground[np.uintp(east)] - fields.ground[np.uintp(west)]),
    )


def _step(state, fields, constants):
    """One step of one parcel; the formulas are at the top of this file."""
    (
        row, column, height, v_row, v_column, v_up, along, wind_row, wind_column,
        load, crest, upwind, travelled, told, steps,
    ) = state  # fmt: skip
    rows, columns = fields.rows, fields.columns
    i, j = int(row), int(column)
    cell = i * columns + j
    # Unsigned, so that no test for a negative index is compiled.
    ground = fields.ground[np.uintp(cell)]

    # `crest` is the line that falls from the highest crest behind; where it is above the ground, there is shelter.
    sheltered = ground < crest
    if height < crest:
        height = crest
        v_up = max(v_up, 0.0)
    height = max(height, ground)
    time = constants.time_step
    if time * along > 1.0:
        time = 1.0 / along
    # The velocity says where the next step reads the ground, and the ground changes the velocity: the processor waits
    # for this chain of operations alone. So what does not depend on the ground is put first in sums and products.
    came = time * along  # from where the mean and the line stand
    slowed, trapping = _among_plants(cell, constants, fields)
    blows = slowed
    if constants.speed_up > 0.0:  # else the velocity need not wait for the ground that the step before left here
        blows = max(0.0, (1.0 - constants.speed_up * upwind) + constants.speed_up * max(ground, crest)) * slowed
        upwind += (constants.follow * came) * (ground - upwind)
    falls = constants.shelter_slope * came
    local_row, local_column = _local_wind(cell, wind_row, wind_column, fields)
    follow = min(1.0, time * constants.drag)
    keeps = 1.0 - follow  # part of the velocity that is left
    slide_row = slide_column = slide_up = 0.0
    if height > ground:
        v_up += time * _upward(fields, constants, told, load, height - ground, along)
    else:
        fields.touched[np.uintp(cell)] = 1
        v_up = _taken_off(fields, constants, told, load, v_up, along, time)
        if constants.friction > 0.0:
            rise_south, rise_east = _rise(fields, i, j, cell, constants.wrap)
            rise_south *= constants.cells_per_metre
            rise_east *= constants.cells_per_metre
            # n (n·v), with n = (−rise_south, −rise_east, 1) / √(…)
            away = (v_up - rise_south * v_row - rise_east * v_column) / (
                1.0 + (rise_south * rise_south + rise_east * rise_east)
            )
            rub = keeps * min(1.0, time * constants.friction)
            keeps -= rub
            slide_row = -(rub * rise_south) * away
            slide_column = -(rub * rise_east) * away
            slide_up = rub * away
    v_row = (keeps * v_row + (follow * local_row) * blows) + slide_row
    v_column = (keeps * v_column + (follow * local_column) * blows) + slide_column
    v_up = keeps * v_up + slide_up

    speed_squared = v_row * v_row + v_column * v_column
    along = math.sqrt(speed_squared)
    if time * along > 1.0:
        time = 1.0 / along
    distance = time * along
    row += time * v_row
    column += time * v_column
    height += time * v_up * constants.metres_per_cell
    crest = max(crest - falls, ground - constants.below_crest)
    travelled += distance
    steps += 1.0

    # Tests are put such that NaN takes the way of the exception.
    if not abs(height) + abs(ground) + along < np.inf:
        return state, FAILED
    if not slowed + trapping < np.inf:
        return state, FAILED
    fields.carried[np.uintp(cell)] += time * load
    _bear(fields, cell, time * load, v_row, v_column)
    if constants.wrap:
        if row < 0.0:
            row += rows
        if row >= rows:
            row -= rows
        if column < 0.0:
            column += columns
        if column >= columns:
            column -= columns
    elif not (0.0 <= row < rows and 0.0 <= column < columns):
        return (
            row, column, height, v_row, v_column, v_up, along, wind_row, wind_column,
            load, crest, upwind, travelled, told, steps,
        ), ENDED  # fmt: skip
    new_cell = int(row) * columns + int(column)
    new_ground = fields.ground[np.uintp(new_cell)]
    if not abs(new_ground) < np.inf:
        return state, FAILED

    # The exchange with the cell that the parcel leaves, or is still in: what it carried settles, then it lifts
    lee = sheltered or new_ground < crest
    left = constants.crossing - travelled
    dying = left < _DYING * constants.crossing
    settling = max(constants.deposition, constants.lee_deposition) if lee else constants.deposition
    near = _near_ground(constants, height - new_ground)
    lifts = height <= new_ground and not lee and not dying
    speed_squared += v_up * v_up
    ends = speed_squared < _STILL * _STILL or steps >= constants.longest_path or left <= 0.0
    pressed = new_ground - height
    reach = constants.deepest_hole - (new_ground - ground)
    load, told = _exchange(
        fields, constants, cell, new_cell, load, told, time, distance, settling + trapping, near, dying, left, lifts,
        speed_squared, pressed, reach, ends,
    )  # fmt: skip
    return (
        row, column, height, v_row, v_column, v_up, along, wind_row, wind_column,
        load, crest, upwind, travelled, told, steps,
    ), (ENDED if ends else RUNNING)  # fmt: skip


@inlined
def _exchange(
    fields, constants, cell, new_cell, load, told, time, distance, settling, near, dying, left, lifts, speed_squared,
    pressed, reach, ends,
):  # fmt: skip
    """What a parcel puts down, lifts and wears: its load afterwards, and what it tells of what it wore."""
    loose = fields.sediment[np.uintp(cell)]
    rock = fields.bedrock[np.uintp(cell)]
    part = min(1.0, time * settling)
    if dying:
        part = max(part, min(1.0, distance / (left + distance)))
    settled = load * part
    load -= settled
    # Half stays, all where the parcel does. No branch: the processor could not foresee it.
    stays = settled * (0.5 + 0.5 * (new_cell == cell))
    _add_sediment(fields, new_cell, settled - stays)
    taken = 0.0
    if lifts:
        speed = math.sqrt(speed_squared)
        # Force over speed, from shear, in metres
        shear = time * constants.shear * speed
        lift = time * constants.suspension * speed
        # No deeper than the parcel went in, nor than it reaches
        deepest = max(0.0, min(constants.shear * distance + pressed, reach))
        want = min(lift * shear + lift * pressed, deepest)
        taken = min(want, loose)
        load += taken
        if taken == loose:
            # Force that finds no sand to lift acts on the rock.
            spare = 1.0 - taken / want if taken > 0.0 else 1.0
            force = speed * (pressed + shear) * constants.cells_per_metre
            wearing = load + constants.dust
            worn = min(spare * time * constants.abrasion * force * wearing, wearing, deepest)
            rock -= worn
            loose += worn
            told += worn
            fields.bedrock[np.uintp(cell)] = rock
    loose = (loose + stays) - taken
    fields.sediment[np.uintp(cell)] = loose
    fields.ground[np.uintp(cell)] = rock + loose
    if ends:
        _add_sediment(fields, new_cell, load)
        load = 0.0
    return load, told


@inlined
def _exchange_rich(
    fields, constants, cell, new_cell, load, told, time, distance, settling, near, dying, left, lifts, speed_squared,
    pressed, reach, ends,
):  # fmt: skip
    """Each kind by itself. Sediment stays the sum of the mix in the order of the kinds."""
    kinds = fields.kinds
    loose = fields.sediment[np.uintp(cell)]
    rate = time * settling
    settles = 0.0  # of each kind, at least
    if dying:
        settles = min(1.0, distance / (left + distance))
    held = constants.uplift * speed_squared
    # How far what settles may stay, and go ahead
    free, free_ahead = rate_of(fields.rates, cell, MOBILITY), rate_of(fields.rates, new_cell, MOBILITY)
    want = part = work = bare = deepest = 0.0
    if lifts:
        speed = math.sqrt(speed_squared)
        shear = time * constants.shear * speed
        pace = rate_of(fields.rates, cell, WIND) * free
        lift = time * constants.suspension * speed * pace
        deepest = max(0.0, min(constants.shear * distance + pressed, reach))
        want = min(lift * shear + lift * pressed, deepest)
        work = time * speed * (pressed + shear) * constants.cells_per_metre * pace
        lifted, bare = _freedom(cell, constants, fields)
        if loose > 0.0 and lifted > 0.0:
            # Of each kind, where it is as easily lifted as sand; finite, as some are not lifted at all
            part = min(lifted / max(loose, _THINNEST) * want, 1.0 / _THINNEST)
    here, there, own = cell * kinds, new_cell * kinds, int(told) * fields.stride
    load = sediment = 0.0
    usual = kinds == KINDS and not (held > 0.0 or near < 1.0 or constants.lag > 0.0 or len(fields.rates) > 0)
    if usual and new_cell == cell:
        settle_four(
            fields.mix, here, fields.loads, own, fields.deposition, fields.suspension, rate, settles, part
        )  # fmt: skip
        sediment, load = sum_of(fields.mix, here, KINDS), sum_of(fields.loads, own, KINDS)
    elif usual:
        settle_four_ahead(
            fields.mix, here, there, fields.loads, own, fields.deposition, fields.suspension, rate, settles, part
        )  # fmt: skip
        sediment, load = sum_of(fields.mix, here, KINDS), sum_of(fields.loads, own, KINDS)
        beyond = sum_of(fields.mix, there, KINDS)
        fields.sediment[np.uintp(new_cell)] = beyond
        fields.ground[np.uintp(new_cell)] = ground_of(
            fields.burden, new_cell, fields.bedrock[np.uintp(new_cell)], beyond
        )
    # Where nothing is lifted, as in most steps over wet or grown ground, the loops are the same without that.
    elif new_cell == cell and part == 0.0:
        for kind in range(kinds):
            carried = fields.loads[np.uintp(own + kind)]
            settled = free * carried * _settling_part(fields.deposition[np.uintp(kind)], rate, held, near, settles)
            depth = fields.mix[np.uintp(here + kind)] + settled
            carried -= settled
            fields.mix[np.uintp(here + kind)] = depth
            fields.loads[np.uintp(own + kind)] = carried
            sediment += depth
            load += carried
    elif new_cell == cell:
        for kind in range(kinds):
            depth = fields.mix[np.uintp(here + kind)]
            carried = fields.loads[np.uintp(own + kind)]
            settled = free * carried * _settling_part(fields.deposition[np.uintp(kind)], rate, held, near, settles)
            taken = depth * min(1.0, part * fields.suspension[np.uintp(kind)])
            depth = (depth - taken) + settled
            carried = (carried - settled) + taken
            fields.mix[np.uintp(here + kind)] = depth
            fields.loads[np.uintp(own + kind)] = carried
            sediment += depth
            load += carried
    else:
        beyond = 0.0
        for kind in range(kinds):
            depth = fields.mix[np.uintp(here + kind)]
            carried = fields.loads[np.uintp(own + kind)]
            fall = fields.deposition[np.uintp(kind)]
            settled = carried * _settling_part(fall, rate, held, near, settles)
            taken = depth * min(1.0, part * fields.suspension[np.uintp(kind)])
            ahead = 0.5 * settled
            if constants.lag > 0.0:
                ahead /= 1.0 + constants.lag * fall
            if len(fields.rates) > 0:
                stays = free * (settled - ahead)
                ahead *= free_ahead
                settled = stays + ahead
                depth = (depth - taken) + stays
            else:
                depth = (depth - taken) + (settled - ahead)
            carried = (carried - settled) + taken
            ahead += fields.mix[np.uintp(there + kind)]
            fields.mix[np.uintp(here + kind)] = depth
            fields.mix[np.uintp(there + kind)] = ahead
            fields.loads[np.uintp(own + kind)] = carried
            sediment += depth
            beyond += ahead
            load += carried
        fields.sediment[np.uintp(new_cell)] = beyond
        fields.ground[np.uintp(new_cell)] = ground_of(
            fields.burden, new_cell, fields.bedrock[np.uintp(new_cell)], beyond
        )
    rock = fields.bedrock[np.uintp(cell)]
    if lifts and loose <= want:
        # Force that finds less than it could lift acts on the rock.
        spare = 1.0 - loose / want if loose > 0.0 else 1.0
        of_rock = rock_at(fields, cell, rock)
        abrasion = spare * bare * constants.abrasion * fields.rock_abrasion[np.uintp(of_rock)]
        wearing = load + constants.dust
        worn = min(abrasion * work * wearing, wearing, deepest)
        kind = fields.rock_worn[np.uintp(of_rock)]
        rock -= worn
        fields.bedrock[np.uintp(cell)] = rock
        fields.from_rock[np.uintp(own + kind)] += worn
        fields.mix[np.uintp(here + kind)] += worn
        sediment = thickness(fields, cell)
    fields.sediment[np.uintp(cell)] = sediment
    fields.ground[np.uintp(cell)] = ground_of(fields.burden, cell, rock, sediment)
    if ends and is_free(fields.rates, new_cell):
        for kind in range(kinds):
            fields.mix[np.uintp(there + kind)] += fields.loads[np.uintp(own + kind)]
            fields.loads[np.uintp(own + kind)] = 0.0
        load = 0.0
        sediment = thickness(fields, new_cell)
        fields.sediment[np.uintp(new_cell)] = sediment
        fields.ground[np.uintp(new_cell)] = ground_of(
            fields.burden, new_cell, fields.bedrock[np.uintp(new_cell)], sediment
        )
    return load, told


@inlined
def _settling_part(fall, rate, held, near, settles):
    """The part of a kind's load that settles in a step, at least `settles`."""
    part = rate * fall
    if held > 0.0:
        part *= fall / (fall + held)
    if near < 1.0:
        part *= near + (1.0 - near) * min(fall, 1.0)
    return max(min(1.0, part), settles)


@inlined
def _freedom(cell, constants, fields):
    """What wetness and plants leave of the lift, and plants of the wear of rock."""
    surface = fields.surface
    if len(surface) == 0:
        return 1.0, 1.0
    at = cell * STRIDE
    grass, canopy = surface[np.uintp(at + GRASS)], surface[np.uintp(at + CANOPY)]
    bare = 1.0 - constants.plant_cover * (1.0 - (1.0 - float(grass)) * (1.0 - float(canopy)))
    dry = 1.0 - constants.wet_cohesion * float(surface[np.uintp(at + WETNESS)])
    if not dry > 0.0:
        dry = 0.0
    return bare * bare * (dry * dry), bare * bare


# Parcels come in a row over the upwind edge and stay in a row: in larger tiles, too few have any.
_LARGEST_TILE = 32
_SLOTS = 15
_run = engine(inlined(_spawn), inlined(_step), _SLOTS, _LARGEST_TILE)
_run_rich = engine(
    inlined(variant(_spawn, "_rich")), inlined(variant(_step, "_rich")), _SLOTS, _LARGEST_TILE, "wind_on_rich_ground"
)


@njit(cache=True, nogil=True)
def _total(particles: Any, status: Any) -> Any:
    """Add up the parcels in their order."""
    abraded = off_map = 0.0
    steps = 0
    failed_row = failed_column = -1
    for particle in range(len(particles)):
        row, column = particles[particle, 0], particles[particle, 1]
        off_map += particles[particle, 9]  # where a parcel ended on the map, it has put down all
        abraded += particles[particle, 13]
        steps += int(particles[particle, 14])
        if status[particle] == FAILED and failed_row < 0:
            failed_row, failed_column = int(row), int(column)
    return abraded, off_map, steps, failed_row, failed_column


@njit(cache=True, nogil=True, parallel=True)
def _average(wind_path: Any, touched: NDArray[Any], airborne: Any, carried: NDArray[Any]) -> None:
    """Let the averages over time follow what this cycle brought, [row * columns + column]."""
    rows, columns = wind_path.shape
    for row in prange(rows):
        for column in range(columns):
            here = wind_path[row, column]
            wind_path[row, column] = here + _AVERAGING_RATE * (touched[row * columns + column] - here)
        for column in range(columns):
            here = airborne[row, column]
            airborne[row, column] = here + _AVERAGING_RATE * (carried[row * columns + column] - here)


def blow(
    bedrock: Layer,
    sediment: Layer,
    ground: Layer,
    materials: Materials,
    wind_path: NDArray[np.floating[Any]],
    airborne: NDArray[np.floating[Any]],
    cell_size: float,
    seed: int,
    cycle: int,
    parameters: WindParameters,
    surface: Surface | None = None,
    field: Surface | None = None,
    rates: Rates | None = None,
    streets: Surface | None = None,
    passed: NDArray[np.uint8] | None = None,
) -> WindTotals:
    """Let the wind of one cycle blow over a map, and change it in place.

    `bedrock` (heights), `sediment` (thickness on it) and `ground` (their sum, kept current) are float64 metres
    [row, column], C-contiguous; `materials` have the mix that is the sediment. Averaged over time, float32 or float64:
    `wind_path`, how often parcels touch the ground, from 0 to 1; and `airborne`, how much sand flies over a cell in a
    cycle, in metres × the article's unit of time. `cell_size` is the side of a cell in metres.

    `surface` is float32 [row, column, trace] as `kernels/surface.py` has it, and `field` float32
    [row, column, (south, east)] the wind near the ground as parts of the prevailing speed, where there are any. `rates`
    are float32 [row, column, one of kernels/rates.py]. `streets` is the momentum of loaded air, averaged over time,
    float32 [row, column, (south, east)]: with it the wind remembers, as far as the parameters say. `passed` [row,
    column] becomes 1 where a parcel was, on the ground or with a load above it.

    The same map, seed, cycle and parameters give the same bits on any number of threads. What was on the map and what
    came in is there afterwards or in `moved`.

    Where a parcel meets a value that is not a finite number, it stops before it writes, `failed_row` and
    `failed_column` say where, and the cycle is not complete.
    """
    rows, columns = bedrock.shape
    for average in (wind_path, airborne):
        if average.shape != (rows, columns) or average.dtype.kind != "f" or not average.flags.c_contiguous:
            raise ValueError("averages must be C-contiguous arrays of floating point numbers, shaped as the layers")
    check_layers(bedrock, sediment, ground)
    for traces, width in ((surface, STRIDE), (field, 2), (streets, 2)):
        if traces is not None and not (
            traces.shape == (rows, columns, width) and traces.dtype == np.float32 and traces.flags.c_contiguous
        ):
            raise ValueError(
                "surface, field and streets must be C-contiguous float32 arrays with the layers' rows and columns"
            )
    p = exact(parameters)
    # Blowing from the north means towards growing rows. Rounded, so that a wind from the west has no part across.
    towards_row = round(math.cos(math.radians(p.wind_direction)), 15)
    towards_column = round(-math.sin(math.radians(p.wind_direction)), 15)
    touched = np.zeros(rows * columns, np.uint8)
    carried = np.zeros(rows * columns)
    count = p.count if p.wind_speed > 0.0 else 0
    inflow = 0.0 if p.wrap else p.inflow
    bare = _BareGround(bedrock.reshape(-1), sediment.reshape(-1), ground.reshape(-1), touched, carried, rows, columns)
    fields: Any = bare
    run = _run
    kinds = materials.kinds
    brought = int(np.argmax(materials.suspension))  # the kind that parcels bring along
    factors = flat(rates)
    covered = surface is not None or field is not None or len(factors) > 0 or len(materials.burden) > 0
    remembers = streets is not None and p.memory > 0.0
    rich = kinds > 1 or covered or p.uplift > 0.0 or p.lag > 0.0 or p.lift > 0.0 or remembers
    loads, from_rock = (own_amounts(count if rich else 0, kinds) for _ in range(2))
    borne = np.zeros((rows, columns, 2) if remembers else 0)
    if rich:
        nothing = np.empty(0, np.float32)
        over_it = _OnTheGround(
            nothing if surface is None else surface.reshape(-1),
            factors,
            nothing if field is None else field.reshape(-1),
            loads.shape[1],
            loads.reshape(-1),
            from_rock.reshape(-1),
            np.ascontiguousarray(airborne, np.float32).reshape(-1) if remembers else nothing,
            streets.reshape(-1) if streets is not None and remembers else nothing,
            borne.reshape(-1),
            max(float(airborne.mean()), _THINNEST) if remembers else 1.0,
            p.memory,
        )
        loads[:, brought] = inflow
        settling = materials._replace(deposition=np.maximum(materials.deposition, _SLOWEST_FALL))
        fields, run = _RichGround._make((*bare, *over_it, *asked(settling, _ASKED))), _run_rich
    crossing = abs(towards_row) * rows + abs(towards_column) * columns
    of_all = p._asdict() | {
        "gusts": math.radians(p.gusts),
        "suspension": p.suspension * p.scale,
        "inflow": inflow,
        "shear": p.shear * float(cell_size),
        "speed_up": 0.0 if field is not None else p.speed_up / float(p.upwind_length * cell_size),
    }
    constants = _Constants(
        **of_all,
        wind_row=p.wind_speed * towards_row,
        wind_column=p.wind_speed * towards_column,
        field_turn=math.radians(p.wind_field_direction - p.wind_direction),
        follow=1.0 / p.upwind_length,
        shelter_slope=math.tan(math.radians(p.shelter_angle)) * cell_size,
        below_crest=0.0 if p.shelter_angle < 90.0 else math.inf,
        crossing=crossing if p.wrap else math.inf,
        cells_per_metre=1.0 / float(cell_size),
        metres_per_cell=float(cell_size),
        deepest_hole=_DEEPEST_HOLE * float(cell_size),
    )
    key = np.uint64(stream(int(seed), _PROCESS, int(cycle)))
    particles, status = run(count, key, rows, columns, fields, constants, wrap=p.wrap)
    if len(factors) > 0:
        settle(particles, loads, factors, materials, bedrock, sediment, ground)
    _average(wind_path, touched, airborne, carried)
    if streets is not None and remembers:
        streets += np.float32(_AVERAGING_RATE) * (borne.astype(np.float32) - streets)
    if passed is not None:
        passed[...] = (touched > 0).reshape(rows, columns) | (carried > 0.0).reshape(rows, columns)
    abraded, off_map, *others = _total(particles, status)
    worn, gone = ((abraded,), (off_map,)) if not rich else (by_kind(from_rock, kinds), by_kind(loads, kinds))
    blown_in = tuple(count * inflow * (kind == brought) for kind in range(kinds))
    return WindTotals(Moved(worn, gone, blown_in), *others)

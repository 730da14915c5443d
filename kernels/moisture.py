"""Subsurface water: soil moisture, and groundwater below it.

Two stores in each cell, in metres of water. The *moisture* is that of the soil, the uppermost metre or so: loose
material, and a little weathered rock. It soaks up rain, drops and lakes, gives to the air and to plants, and what is
more than it holds against gravity (its field capacity) percolates. The *groundwater* lies below, in the loose material
and in so many metres of rock under it, on rock that lets nothing through. Pores that it fills are those that gravity
drains, porosity · (1 − field capacity): the others hold the moisture (Meinzer 1923, "Outline of ground-water
hydrology"). Its level follows from its depth: first the rock is filled, then the loose material on it, and what is more
stands above the ground until it comes out as a spring.

It flows down the slope of its level, as deep as it is (Dupuit 1863, Boussinesq 1904), through a cell's side

    q = K · b · (level here − level there)      K: conductivity, b: mean of the saturated thicknesses

This is diffusion, and by far too fast for explicit steps. So it goes line by line, first along the rows, then along the
columns, in turn (Yanenko 1971, "The method of fractional steps"): each line is solved implicitly for the change of its
levels (Thomas's algorithm), and only the flows that follow from it are booked. These are cut down where more would
leave a cell than is in it and comes to it. So water is neither made nor lost nor negative, whatever the parameters are.
Lines do not see each other, so the number of threads changes nothing.

Evaporation follows the pressure of saturated vapour (Tetens 1930) and, as plants do it too, their cover. Soil that is
drier than its field capacity gives less.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from kernels.compiling import in_threads, inlined, njit
from kernels.layers import Layer, check_layers
from kernels.materials import INTRUSION, Materials, above_roof, asked, is_intruded, rock_at, step_at
from kernels.parameters import constants_type, exact
from kernels.rain import rain_on, span_of_heights
from kernels.rates import EVAPORATION, Rates, flat, rate_of
from kernels.rock import TIGHT
from kernels.standing import DRY, LAKE, SEA
from kernels.surface import CANOPY, GRASS, STRIDE, WETNESS
from kernels.units import Celsius, CelsiusPerMetre, Metres, MetresPerCycle, Times

# The least part of rock that groundwater can fill: its level must follow from its depth.
_LEAST_YIELD = 1e-3

# Cycles between exchanges of water with the ground, and of groundwater flow.
CYCLES_PER_EXCHANGE = 4
CYCLES_PER_FLOW = 8

# So many lines are solved side by side.
LINES = 16

# Storage of a cell whose level stays: where it meets a lake or the sea.
_FIXED = 1e30

# A little less than all there is may leave a cell, as sums are rounded.
_ALL = 1.0 - 1e-12

# Metres. What is less is nothing: cells that drain again and again would come to numbers that processors are slow with
_TRACE = 1e-30

# Pressure of saturated vapour beside that at 15 °C, for each half degree from −60 °C (Tetens 1930)
_COLDEST, _STEPS_PER_DEGREE, _STEPS = -60.0, 2.0, 240
_TEMPERATURES = _COLDEST + np.arange(_STEPS + 1) / _STEPS_PER_DEGREE
_VAPOUR = np.exp(17.27 * _TEMPERATURES / (_TEMPERATURES + 237.3) - 17.27 * 15.0 / (15.0 + 237.3))


class MoistureParameters(NamedTuple):
    """How the ground takes, holds and gives water. Depths are of water over one cell in a cycle."""

    rain: Metres
    rain_by_altitude: float  # part of the rain that follows the altitude
    infiltration: Metres  # from standing water, through ground as permeable as sand
    soil_depth: Metres
    weathered: Metres  # of rock that count as soil, at most
    field_capacity: float  # part of the pores that hold water against gravity
    percolation: float  # part of what the soil cannot hold that sinks in a cycle
    evaporation: Metres  # at 15 °C
    transpiration: Times  # how much more goes to the air where plants cover the ground
    temperature: Celsius  # at a height of 0
    lapse_rate: CelsiusPerMetre
    aquifer_depth: Metres  # of rock, below the loose material, that groundwater fills
    conductivity: MetresPerCycle  # of sand
    capillary_rise: Metres  # above the groundwater, to which it wets the ground
    smallest_spring: Metres  # what is less waits in the ground
    walls: bool  # nothing leaves over the map's edge
    sea_level: Metres


_ASKED = (
    "kinds", "mix", "porosity", "permeability",
    "strata", "steps_per_metre", "rise", "open_below", "rock_porosity", "rock_permeability",
)  # fmt: skip

# Pore space and permeability: the arrays of materials that are used
_Pores: Any = namedtuple("_Pores", _ASKED)  # type: ignore[misc]


class MoistureTotals(NamedTuple):
    """Gains and losses of the ground, in metres over one cell."""

    rained: float = 0.0
    evaporated: float = 0.0
    from_sea: float = 0.0
    into_sea: float = 0.0


class _Fields(NamedTuple):
    bedrock: Layer  # each [row * columns + column]
    sediment: Layer
    ground: Layer
    water: Layer
    standing: NDArray[np.uint8]
    moisture: Layer
    groundwater: Layer
    surface: NDArray[np.float32]
    rain: NDArray[np.float32]  # empty: everywhere alike
    rates: Rates  # as in kernels/rates.py; empty: 1
    lowest: float
    highest: float
    rows: int
    columns: int


_Constants = constants_type(MoistureParameters, "per_field_capacity", "per_capillary_rise")


@inlined
def _loose_at(cell, pores):
    """Porosity and permeability of the loose material of a cell."""
    if pores.kinds == 1:
        return pores.porosity[0], pores.permeability[0]
    volume = filled = open_to = 0.0
    first = np.uintp(cell * pores.kinds)
    for number in range(pores.kinds):
        kind = np.uintp(number)
        depth = pores.mix[first + kind]
        volume += depth
        filled += depth * pores.porosity[kind]
        open_to += depth * pores.permeability[kind]
    if not volume > _TRACE:  # below this the reciprocal would be infinite
        return pores.porosity[0], pores.permeability[0]
    per_volume = 1.0 / volume
    return filled * per_volume, open_to * per_volume


@inlined
def _rock_at(cell, bedrock, pores, constants):
    """Porosity and permeability of the rock at the top of a cell, and how many metres of it groundwater fills."""
    rock = np.uintp(rock_at(pores, cell, bedrock))
    if is_intruded(pores, cell, bedrock):
        filled = constants.aquifer_depth if pores.rock_permeability[rock] > TIGHT else 0.0
        return pores.rock_porosity[rock], pores.rock_permeability[rock], filled
    step, below = step_at(pores, cell, bedrock)
    opened = pores.open_below[np.uintp(step)]
    if 0.0 < opened < np.inf:
        opened -= (below - step) / pores.steps_per_metre
    if pores.rock_permeability[INTRUSION] <= TIGHT:
        opened = min(opened, above_roof(pores, cell, bedrock))
    return pores.rock_porosity[rock], pores.rock_permeability[rock], min(constants.aquifer_depth, max(opened, 0.0))


@inlined
def _yield_of(porosity, constants):
    """Part of the ground that groundwater fills."""
    return max(_LEAST_YIELD, porosity * (1.0 - constants.field_capacity))


@inlined
def _vapour(temperature):
    """Pressure of saturated vapour beside that at 15 °C."""
    # In this order of arguments, what is no number becomes the first and so never an index.
    place = min(_STEPS - 1e-6, max(0.0, (temperature - _COLDEST) * _STEPS_PER_DEGREE))
    step = np.int64(place)
    return _VAPOUR[step] + (place - step) * (_VAPOUR[step + 1] - _VAPOUR[step])


@in_threads
def _exchange_row(row, fields, pores, constants, totals):
    """Exchange of water of a row in a cycle, with its wetness and number of springs."""
    springs = 0
    rained = evaporated = from_sea = into_sea = 0.0
    for cell in range(row * fields.columns, (row + 1) * fields.columns):
        moisture, groundwater = fields.moisture[cell], fields.groundwater[cell]
        bedrock, sediment = fields.bedrock[cell], fields.sediment[cell]
        porosity, permeability = _loose_at(cell, pores)
        rock_porosity, rock_permeability, rock_depth = _rock_at(cell, bedrock, pores, constants)
        rock_yield, loose_yield = _yield_of(rock_porosity, constants), _yield_of(porosity, constants)
        loose_soil = min(sediment, constants.soil_depth)
        capacity = porosity * loose_soil
        capacity += rock_porosity * min(constants.weathered, constants.soil_depth - loose_soil)
        per_capacity = 1.0 / capacity if capacity > _TRACE else 0.0
        held = constants.field_capacity * capacity
        rock_room = rock_yield * rock_depth
        room = rock_room + loose_yield * sediment
        speed = min(1.0, permeability if sediment > 0.0 else rock_permeability)
        if moisture > capacity:  # what drops brought, or what was there before the soil was worn
            groundwater += moisture - capacity
            moisture = capacity

        standing = fields.standing[cell]
        if standing == SEA:
            taken = min(speed * constants.infiltration, capacity - moisture + max(0.0, room - groundwater))
            from_sea += taken
        elif fields.water[cell] > 0.0:
            taken = min(speed * constants.infiltration, capacity - moisture + max(0.0, room - groundwater))
            taken = min(taken, fields.water[cell])
            fields.water[cell] -= taken
        else:
            # Where nothing can sink, what the soil does not hold runs off at once.
            taken = constants.rain * rain_on(cell, fields, constants)
            taken = max(0.0, min(taken, min(capacity, held + max(0.0, room - groundwater)) - moisture))
            rained += taken
        into_soil = min(taken, capacity - moisture)
        moisture += into_soil
        groundwater += taken - into_soil

        if standing == SEA:
            if groundwater > room:
                into_sea += groundwater - room
                groundwater = room
        elif fields.water[cell] > 0.0:
            if groundwater > room:
                fields.water[cell] += groundwater - room
                groundwater = room
        else:
            grass, canopy = fields.surface[cell * STRIDE + GRASS], fields.surface[cell * STRIDE + CANOPY]
            cover = 1.0 - (1.0 - grass) * (1.0 - canopy)
            thirst = constants.evaporation * (1.0 + constants.transpiration * cover)
            thirst *= _vapour(constants.temperature - constants.lapse_rate * (bedrock + sediment))
            thirst *= rate_of(fields.rates, cell, EVAPORATION)
            lost = min(thirst, max(0.0, groundwater - room))
            groundwater -= lost
            ease = moisture * per_capacity * constants.per_field_capacity  # how full the part is that soil holds
            dried = min(moisture, (thirst - lost) * min(1.0, ease))
            moisture -= dried
            evaporated += lost + dried

        # Fraction that groundwater wets
        if groundwater >= room or room <= _TRACE:
            near = 1.0 if groundwater > 0.0 else 0.0
        else:
            depth = (room - groundwater) / loose_yield
            if groundwater < rock_room:
                depth = sediment + (rock_room - groundwater) / rock_yield
            thickness = sediment + rock_depth
            reached = constants.per_capillary_rise if thickness > constants.capillary_rise else 1.0 / thickness
            near = max(0.0, 1.0 - depth * reached)
        if moisture > held:
            sinking = min(speed * constants.percolation * (moisture - held), max(0.0, room - groundwater))
            moisture -= sinking
            groundwater += sinking
        else:
            rising = min(near * constants.percolation * (held - moisture), groundwater)
            moisture += rising
            groundwater -= rising
        fields.moisture[cell] = moisture
        fields.groundwater[cell] = groundwater

        wetness = 1.0
        if standing == DRY and fields.water[cell] == 0.0:
            wetness = max(near, min(1.0, moisture * per_capacity))
            springs += groundwater - room >= constants.smallest_spring
        fields.surface[cell * STRIDE + WETNESS] = wetness
    totals[0], totals[1], totals[2], totals[3] = rained, evaporated, from_sea, into_sea
    return springs


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _exchange(fields, pores, constants):
    totals = np.zeros((fields.rows, 8))  # a cache line for each row
    springs = np.empty(fields.rows, np.int64)
    for row in prange(fields.rows):
        springs[row] = _exchange_row(np.int64(row), fields, pores, constants, totals[row])
    return totals, springs


@inlined
def _rock_room(cell, fields, pores, constants):
    """The depth of groundwater that fills the rock of a cell."""
    porosity, _, depth = _rock_at(cell, fields.bedrock[cell], pores, constants)
    return _yield_of(porosity, constants) * depth


@inlined
def _room(cell, fields, pores, constants):
    """The depth of groundwater that fills a cell."""
    porosity, _ = _loose_at(cell, pores)
    return _rock_room(cell, fields, pores, constants) + _yield_of(porosity, constants) * fields.sediment[cell]


@in_threads
def _rise_in_row(row, fields, pores, constants, begin, end, cells, depths):
    """Take what comes out of the ground of a row; returns where in `cells` and `depths` what it has found ends."""
    found = begin
    if begin == end:
        return found
    for cell in range(row * fields.columns, (row + 1) * fields.columns):
        groundwater = fields.groundwater[cell]
        if groundwater < constants.smallest_spring + _rock_room(cell, fields, pores, constants):
            continue  # told without a look at the mix
        surplus = groundwater - _room(cell, fields, pores, constants)
        dry = fields.standing[cell] == DRY and fields.water[cell] == 0.0
        if dry and surplus >= constants.smallest_spring and found < end:
            cells[found], depths[found] = cell, surplus
            found += 1
            fields.groundwater[cell] -= surplus
    return found


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _rise(fields, pores, constants, begins, ends, cells, depths):
    """`begins` and `ends` [row] are where in `cells` and `depths` the springs of each row have their places; `ends`
    becomes how many have been found."""
    for unsigned_row in prange(fields.rows):
        row = np.int64(unsigned_row)
        ends[row] = _rise_in_row(row, fields, pores, constants, begins[row], ends[row], cells, depths) - begins[row]


@inlined
def _look_at_cell(cell, fields, pores, constants):
    """Level, transmissivity (m² per cycle), and storage of a cell that gains water, and of one that loses it."""
    bedrock, sediment = fields.bedrock[cell], fields.sediment[cell]
    groundwater = fields.groundwater[cell]
    rock_porosity, rock_permeability, rock_depth = _rock_at(cell, bedrock, pores, constants)
    rock_yield = _yield_of(rock_porosity, constants)
    rock_room = rock_yield * rock_depth
    above = groundwater - rock_room
    if above < 0.0:
        thickness = groundwater / rock_yield
        level = bedrock - rock_depth + thickness
        return level, constants.conductivity * rock_permeability * thickness, rock_yield, rock_yield
    porosity, permeability = _loose_at(cell, pores)
    loose_yield = _yield_of(porosity, constants)
    thickness = min(above / loose_yield, sediment)
    transmissivity = constants.conductivity * (rock_permeability * rock_depth + permeability * thickness)
    losing = loose_yield if thickness > 0.0 else rock_yield
    surplus = above - loose_yield * sediment
    if surplus < 0.0:
        return bedrock + thickness, transmissivity, loose_yield, losing
    if fields.standing[cell] == SEA:
        return max(constants.sea_level, bedrock + sediment), transmissivity, _FIXED, _FIXED
    if fields.standing[cell] == LAKE:
        return bedrock + sediment + fields.water[cell], transmissivity, _FIXED, _FIXED
    return bedrock + sediment + surplus, transmissivity, 1.0, losing


@njit(nogil=True, error_model="numpy")
def _edge_flow(cell, inner, per_area, transmissivity, fields, constants):
    """Outflow over the edge of the map: the level continues beyond it like the ground."""
    if constants.walls or fields.standing[cell] == SEA:
        return 0.0
    fall = max(0.0, fields.ground[inner] - fields.ground[cell])
    return per_area * transmissivity * fall


@in_threads
def _flow_along(first, lines, line_stride, stride, length, per_area, fields, pores, constants):
    """Let groundwater flow along some lines of cells. Returns what left over the map's edge.

    `first` is the first cell of the first line, `line_stride` leads to the next line, `stride` along it. `per_area` is
    the time over the area of a cell. Tables are [place, line]; lines that are not there are dry.
    """
    level, transmissivity = np.zeros((length, LINES)), np.zeros((length, LINES))
    gaining, losing = np.ones((length, LINES)), np.ones((length, LINES))
    for line in range(lines):
        cell = first + line * line_stride
        for place in range(length):
            h, t, up, down = _look_at_cell(cell, fields, pores, constants)
            level[place, line], transmissivity[place, line] = h, t
            gaining[place, line], losing[place, line] = up, down
            cell += stride
    edge = np.zeros((2, LINES))  # what leaves at the first end of each line, and at the last
    end = (length - 1) * stride
    for line in range(lines):
        cell = first + line * line_stride
        edge[0, line] = _edge_flow(cell, cell + stride, per_area, transmissivity[0, line], fields, constants)
        cell += end
        edge[1, line] = _edge_flow(cell, cell - stride, per_area, transmissivity[length - 1, line], fields, constants)

    # [place]: to it from the one before; conductance first, then flow. Nothing leads beyond the ends.
    side = np.zeros((length + 1, LINES))
    for place in range(1, length):
        for line in range(LINES):
            here, there = transmissivity[place - 1, line], transmissivity[place, line]
            source = here if level[place - 1, line] > level[place, line] else there
            side[place, line] = per_area * min(0.5 * (here + there), source)
    # Eliminate along the lines: the change of a level becomes `known` + `follows` times that of the next one. Both are
    # one place further on, behind a place before the first.
    known, follows = np.zeros((length + 1, LINES)), np.zeros((length + 1, LINES))
    for place in range(length):
        behind, ahead = max(place - 1, 0), min(place + 1, length - 1)
        for line in range(LINES):
            back, forth, here = side[place, line], side[place + 1, line], level[place, line]
            gain = back * (level[behind, line] - here) + forth * (level[ahead, line] - here)
            if place == 0:
                gain -= edge[0, line]
            if place == length - 1:
                gain -= edge[1, line]
            storage = gaining[place, line] if gain > 0.0 else losing[place, line]
            share = 1.0 / (storage + back * (1.0 - follows[place, line]) + forth)
            follows[place + 1, line] = forth * share
            known[place + 1, line] = (gain + back * known[place, line]) * share
    # From the last place back: the new levels, and what flows between them.
    change = np.zeros(LINES)
    for back_place in range(length):
        place = length - 1 - back_place
        ahead = min(place + 1, length - 1)
        for line in range(LINES):
            change[line] = known[place + 1, line] + follows[place + 1, line] * change[line]
            level[place, line] += change[line]
            side[place + 1, line] *= level[place, line] - level[ahead, line]
    return _book(first, lines, line_stride, stride, length, side, edge, known, fields.groundwater)


@njit(nogil=True, error_model="numpy")
def _book(first, lines, line_stride, stride, length, side, edge, part, groundwater):
    """Move what flows along some lines, less where a cell has not so much. `part` is room for a number for each cell.

    Returns what left over the map's edge.
    """
    # What comes to a cell may go on in the same step, else no water would pass more than a cell in it, however small.
    # This is known once it is known what leaves the cell before: first where water flows ahead, from the first place
    # on, then where it flows back. A cell that water leaves on one side gets it from the other side alone.
    for turn in range(2):
        for number in range(length):
            place = number if turn == 0 else length - 1 - number
            for line in range(lines):
                back, ahead = -min(side[place, line], 0.0), max(side[place + 1, line], 0.0)
                if place == 0:
                    back += edge[0, line]
                if place == length - 1:
                    ahead += edge[1, line]
                if turn == 1 and not back > 0.0:
                    continue
                there = groundwater[first + line * line_stride + place * stride]
                if place > 0 and not back > 0.0:
                    there += part[place - 1, line] * max(side[place, line], 0.0)
                elif place < length - 1 and turn == 1 and not ahead > 0.0:
                    there -= part[place + 1, line] * min(side[place + 1, line], 0.0)
                there *= _ALL
                part[place, line] = 1.0 if back + ahead <= there else there / (back + ahead)
    left = 0.0
    for line in range(lines):
        edge[0, line] *= part[0, line]
        edge[1, line] *= part[length - 1, line]
        left += edge[0, line] + edge[1, line]
        groundwater[first + line * line_stride] -= edge[0, line]
        groundwater[first + line * line_stride + (length - 1) * stride] -= edge[1, line]
    for place in range(length):
        ahead = min(place + 1, length - 1)
        for line in range(lines):
            goes = side[place + 1, line]
            goes *= part[place, line] if goes > 0.0 else part[ahead, line]
            side[place + 1, line] = goes
            cell = first + line * line_stride + place * stride
            there = groundwater[cell] + (side[place, line] - goes)
            groundwater[cell] = there if there > _TRACE else 0.0
    return left


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _flow_through_rows(per_area, fields, pores, constants):
    bands = (fields.rows + LINES - 1) // LINES
    left = np.zeros((bands, 8))
    for unsigned_band in prange(bands):
        first = np.int64(unsigned_band) * LINES
        left[unsigned_band, 0] = _flow_along(
            first * fields.columns, min(LINES, fields.rows - first), fields.columns, 1, fields.columns, per_area,
            fields, pores, constants,
        )  # fmt: skip
    return left  # whose sum is taken outside: Numba would take it in an order that depends on the threads


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _flow_through_columns(per_area, fields, pores, constants):
    bands = (fields.columns + LINES - 1) // LINES
    left = np.zeros((bands, 8))
    for unsigned_band in prange(bands):
        first = np.int64(unsigned_band) * LINES
        left[unsigned_band, 0] = _flow_along(
            first, min(LINES, fields.columns - first), 1, fields.columns, fields.rows, per_area,
            fields, pores, constants,
        )  # fmt: skip
    return left


@in_threads
def _fill_row(row, part, fields, pores, constants):
    for cell in range(row * fields.columns, (row + 1) * fields.columns):
        fields.groundwater[cell] += part * _room(cell, fields, pores, constants)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _fill(part, fields, pores, constants):
    for row in prange(fields.rows):
        _fill_row(np.int64(row), part, fields, pores, constants)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _seep(water: Any, groundwater: Any, depth: float) -> None:
    for cell in prange(len(water)):
        taken = min(water[cell], depth)
        water[cell] -= taken
        groundwater[cell] += taken


def seep(water: Layer, groundwater: Layer, depth: float) -> None:
    """Let up to `depth` metres of the `water` that stands on each cell into its `groundwater`. Float64 metres."""
    _seep(water.reshape(-1), groundwater.reshape(-1), float(depth))


class Ground(NamedTuple):
    """The layers of a map, [row, column], C-contiguous, float64 metres where nothing else is said."""

    bedrock: Layer  # heights
    sediment: Layer  # thickness on it
    ground: Layer  # their sum
    water: Layer  # what stands on it
    standing: NDArray[np.uint8]  # DRY, LAKE or SEA
    moisture: Layer
    groundwater: Layer
    surface: NDArray[np.float32]  # [row, column, (wetness, grass, roots, canopy)]
    rain: NDArray[np.float32] | None = None  # how much of the rain falls on each cell, beside 1
    rates: Rates | None = None  # [row, column, one of kernels/rates.py]


class Aquifer:
    """The water in the ground of a map under some parameters. All changes are made in the layers of `ground`.

    `materials` have the mix that is the sediment. Changes are the same on any number of threads, and no water is lost
    or becomes negative.
    """

    def __init__(self, ground: Ground, materials: Materials, cell_size: float, parameters: MoistureParameters) -> None:
        rows, columns = ground.bedrock.shape
        check_layers(ground.bedrock, ground.sediment, ground.ground, ground.water, ground.moisture, ground.groundwater)
        parameters = exact(parameters)
        self._fields = _Fields(
            ground.bedrock.reshape(-1),
            ground.sediment.reshape(-1),
            ground.ground.reshape(-1),
            ground.water.reshape(-1),
            ground.standing.reshape(-1),
            ground.moisture.reshape(-1),
            ground.groundwater.reshape(-1),
            ground.surface.reshape(-1),
            np.empty(0, np.float32) if ground.rain is None else np.ascontiguousarray(ground.rain).reshape(-1),
            flat(ground.rates),
            *span_of_heights(ground.ground, parameters.rain_by_altitude),
            rows,
            columns,
        )
        self._pores = _Pores._make(asked(materials, _ASKED))
        self._constants = _Constants(
            **parameters._asdict(),
            per_field_capacity=1.0 / max(parameters.field_capacity, 1e-9),
            per_capillary_rise=1.0 / parameters.capillary_rise,
        )
        self._springs = np.zeros(rows, np.int64)  # of each row
        self._cell_area = cell_size * cell_size

    def fill(self, part: float) -> float:
        """Add groundwater that fills a part of all pores. Returns how much it is, in metres over one cell."""
        before = float(self._fields.groundwater.sum())
        _fill(float(part), self._fields, self._pores, self._constants)
        return float(self._fields.groundwater.sum()) - before

    def exchange(self, cycles: int) -> MoistureTotals:
        """Exchange water with the ground for so many cycles, and return its wetness."""
        constants = self._constants
        constants = constants._replace(
            rain=cycles * constants.rain,
            infiltration=cycles * constants.infiltration,
            evaporation=cycles * constants.evaporation,
            percolation=1.0 - (1.0 - constants.percolation) ** cycles,
        )
        totals, self._springs = _exchange(self._fields, self._pores, constants)
        return MoistureTotals(*(float(total) for total in totals[:, :4].sum(axis=0)))

    def rise(self) -> tuple[NDArray[np.int64], Layer]:
        """Take what comes out of the ground from the groundwater, after `exchange`.

        Returns cells, as row * columns + column, and depths in metres over one cell.
        """
        springs, found = self._springs, np.cumsum(self._springs)
        cells, depths = np.empty(springs.sum(), np.int64), np.empty(springs.sum())
        _rise(self._fields, self._pores, self._constants, found - springs, found, cells, depths)
        if (found < springs).any():
            filled = np.concatenate(
                [np.arange(expected) < there for expected, there in zip(springs, found, strict=True)]
            )
            cells, depths = cells[filled], depths[filled]
        self._springs = np.zeros_like(springs)
        return cells, depths

    def flow(self, cycles: int, columns_first: bool = False) -> float:
        """Groundwater flow for so many cycles. Returns the outflow over the edge, in metres over one cell."""
        directions = (_flow_through_rows, _flow_through_columns)
        left = 0.0
        for direction in reversed(directions) if columns_first else directions:
            left += float(direction(cycles / self._cell_area, self._fields, self._pores, self._constants).sum())
        return left

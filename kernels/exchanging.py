"""Loads of several kinds of loose material, each kind by itself; four, the usual number, in one register at once.

Numba finds such registers too seldom by itself. The bits are those of one kind after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kernels.compiling import inlined

KINDS = 4  # the usual number
LINES = 16  # of cells that are side by side in memory: two times as many as `exchange_lines` takes
_FOUR = ir.VectorType(ir.DoubleType(), KINDS)
_NOTHING = ir.Constant(_FOUR, ir.Undefined)
_FIRST = ir.Constant(ir.IntType(32), 0)
_ALL_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), KINDS), [0] * KINDS)
LANES = 8  # lines in one register
_SOME = ir.VectorType(ir.DoubleType(), LANES)


@inlined
def exchange(mix, own, carried, first, dug_part, laid_part, kinds):
    """Dig a part of each kind of mix[own:] off it, and lay a part of each load of carried[first:] there.

    What is dug becomes load after the other part was laid.
    """
    if kinds == KINDS:
        _exchange_four(mix, own, carried, first, dug_part, laid_part)
        return
    for kind in range(kinds):
        depth, load = mix[np.uintp(own + kind)], carried[np.uintp(first + kind)]
        left, laid = depth - dug_part * depth, laid_part * load
        mix[np.uintp(own + kind)] = left + laid
        carried[np.uintp(first + kind)] = (load - laid) + (depth - left)


@inlined
def add(source, first, target, to, kinds):
    """Add the loads of source[first:] to those of target[to:]."""
    if kinds == KINDS:
        _add_four(source, first, target, to)
        return
    for kind in range(kinds):
        target[np.uintp(to + kind)] += source[np.uintp(first + kind)]


@inlined
def sum_of(carried, first, kinds):
    """All kinds together, in their order."""
    total = carried[np.uintp(first)]
    if kinds == KINDS:
        return total + carried[np.uintp(first + 1)] + carried[np.uintp(first + 2)] + carried[np.uintp(first + 3)]
    for kind in range(1, kinds):
        total += carried[np.uintp(first + kind)]
    return total


@inlined
def weighed(mix, own, weights, kinds):
    """The sum of all kinds of mix[own:], each times its weight, in their order."""
    total = mix[np.uintp(own)] * weights[0]
    if kinds == KINDS:
        second, third = mix[np.uintp(own + 1)] * weights[1], mix[np.uintp(own + 2)] * weights[2]
        return total + second + third + mix[np.uintp(own + 3)] * weights[3]
    for kind in range(1, kinds):
        total += mix[np.uintp(own + kind)] * weights[np.uintp(kind)]
    return total


@inlined
def clear(carried, first, kinds):
    """Take all loads of carried[first:] away."""
    carried[np.uintp(first)] = 0.0
    if kinds == KINDS:
        carried[np.uintp(first + 1)] = carried[np.uintp(first + 2)] = carried[np.uintp(first + 3)] = 0.0
        return
    for kind in range(1, kinds):
        carried[np.uintp(first + kind)] = 0.0


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any, vector: Any = _FOUR) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _repeated(builder: Any, number: Any) -> Any:
    return builder.shuffle_vector(builder.insert_element(_NOTHING, number, _FIRST), _NOTHING, _ALL_FIRST)


@intrinsic
def _exchange_four(
    typing_context: Any, mix: Any, own: Any, carried: Any, first: Any, dug_part: Any, laid_part: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        here = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        there = _pointer(context, builder, signature.args[2], arguments[2], arguments[3])
        depth, load = builder.load(here, align=8), builder.load(there, align=8)
        left = builder.fsub(depth, builder.fmul(_repeated(builder, arguments[4]), depth))
        laid = builder.fmul(_repeated(builder, arguments[5]), load)
        builder.store(builder.fadd(left, laid), here, align=8)
        builder.store(builder.fadd(builder.fsub(load, laid), builder.fsub(depth, left)), there, align=8)
        return context.get_dummy_value()

    return types.none(mix, types.int64, carried, types.int64, types.float64, types.float64), generate


@intrinsic
def _add_four(typing_context: Any, source: Any, first: Any, target: Any, to: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        here = _pointer(context, builder, signature.args[0], arguments[0], arguments[1])
        there = _pointer(context, builder, signature.args[2], arguments[2], arguments[3])
        builder.store(builder.fadd(builder.load(there, align=8), builder.load(here, align=8)), there, align=8)
        return context.get_dummy_value()

    return types.none(source, types.int64, target, types.int64), generate


@intrinsic
def turn_four(typing_context: Any, source: Any, first: Any, step: Any, target: Any, to: Any, on: Any) -> Any:
    """Write four rows of four numbers, source[first:] and some `step` on, as columns: target[to:] and some `on`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def places(array: int, begin: Any, step: Any) -> list[Any]:
            found = []
            for _ in range(KINDS):
                found.append(_pointer(context, builder, signature.args[array], arguments[array], begin))
                begin = builder.add(begin, step)
            return found

        def mixed(one: Any, other: Any, order: list[int]) -> Any:
            return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), KINDS), order))

        rows = [builder.load(place, align=8) for place in places(0, arguments[1], arguments[2])]
        even = [mixed(rows[i], rows[i + 1], [0, 4, 2, 6]) for i in (0, 2)]
        odd = [mixed(rows[i], rows[i + 1], [1, 5, 3, 7]) for i in (0, 2)]
        columns = [mixed(one, other, order) for order in ([0, 1, 4, 5], [2, 3, 6, 7]) for one, other in (even, odd)]
        for column, place in zip(columns, places(3, arguments[4], arguments[5]), strict=True):
            builder.store(column, place, align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.none(source, number, number, target, number, number), generate


@intrinsic
def exchange_lines(
    typing_context: Any, mix: Any, own: Any, carried: Any, first: Any, goes: Any, come: Any, go: Any, sign: Any,
    loose: Any,
) -> Any:  # fmt: skip
    """Let so much come to a cell of eight lines each with their loads, and so much go on, of four kinds.

    mix[own:] and carried[first:] are [kind * `LINES` + line], `sign` times goes[come:] and goes[go:] [line]; those
    below 0 are none. `loose` [line] becomes what lay there. Returns the lines, as bits, in which more goes on than
    comes and lay there.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def all_of(number: Any) -> Any:
            one = builder.insert_element(ir.Constant(_SOME, ir.Undefined), number, _FIRST)
            first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            return builder.shuffle_vector(one, ir.Constant(_SOME, ir.Undefined), first)

        def place(array: int, index: Any) -> Any:
            return _pointer(context, builder, signature.args[array], arguments[array], index, _SOME)

        zero, one = (all_of(ir.Constant(ir.DoubleType(), value)) for value in (0.0, 1.0))
        amounts = []
        for index in (5, 6):
            metres = builder.fmul(all_of(arguments[7]), builder.load(place(4, arguments[index]), align=8))
            amounts.append(builder.select(builder.fcmp_ordered(">", metres, zero), metres, zero))
        comes, leaves = amounts
        layers = [ir.Constant(ir.IntType(64), kind * LINES) for kind in range(KINDS)]
        cells = [place(0, builder.add(arguments[1], layer)) for layer in layers]
        stores = [place(2, builder.add(arguments[3], layer)) for layer in layers]
        depths = [builder.load(cell, align=8) for cell in cells]
        lies = depths[0]
        for depth in depths[1:]:
            lies = builder.fadd(lies, depth)
        more = builder.fsub(leaves, comes)
        is_dug = builder.fcmp_ordered(">", more, zero)
        over, under = builder.select(is_dug, more, leaves), builder.select(is_dug, lies, comes)
        under = builder.select(builder.fcmp_ordered(">", under, zero), under, one)
        part = builder.fdiv(over, under)
        moves = builder.fcmp_ordered(">", builder.fadd(comes, leaves), zero)
        dug = builder.select(builder.fcmp_ordered("<", part, one), part, one)
        dug = builder.select(builder.and_(moves, is_dug), dug, zero)
        laid = builder.select(builder.and_(moves, builder.not_(is_dug)), builder.fsub(one, part), zero)
        for cell, store, depth in zip(cells, stores, depths, strict=True):
            load = builder.load(store, align=8)
            left, settles = builder.fsub(depth, builder.fmul(dug, depth)), builder.fmul(laid, load)
            builder.store(builder.fadd(left, settles), cell, align=8)
            builder.store(builder.fadd(builder.fsub(load, settles), builder.fsub(depth, left)), store, align=8)
        builder.store(lies, place(8, ir.Constant(ir.IntType(64), 0)), align=8)
        lacks = builder.and_(moves, builder.fcmp_ordered(">", more, lies))
        return builder.zext(builder.bitcast(lacks, ir.IntType(LANES)), ir.IntType(64))

    number, real = types.int64, types.float64
    return number(mix, number, carried, number, goes, number, number, real, loose), generate


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """The number of the lowest bit that is 1; one is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def settle_four(
    typing_context: Any, mix: Any, here: Any, loads: Any, own: Any, fall: Any, ease: Any, rate: Any, least: Any,
    lifted: Any,
) -> Any:  # fmt: skip
    """Let four kinds of loads[own:] settle in a cell of mix[here:], and lift a part of what lay there.

    Of each load the part that settles is its `fall` times the `rate`, at `least` so much; of each kind that is lifted,
    its `ease` times so much.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cell, store, depth, load, settled, taken = _settling(context, builder, signature.args, arguments, (0, 1, 2, 3))
        builder.store(builder.fadd(builder.fsub(depth, taken), settled), cell, align=8)
        builder.store(builder.fadd(builder.fsub(load, settled), taken), store, align=8)
        return context.get_dummy_value()

    number, real = types.int64, types.float64
    return types.none(mix, number, loads, number, fall, ease, real, real, real), generate


@intrinsic
def settle_four_ahead(
    typing_context: Any, mix: Any, here: Any, there: Any, loads: Any, own: Any, fall: Any, ease: Any, rate: Any,
    least: Any, lifted: Any,
) -> Any:  # fmt: skip
    """As `settle_four`, and half of what settles does so in another cell, mix[there:]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cell, store, depth, load, settled, taken = _settling(context, builder, signature.args, arguments, (0, 1, 3, 4))
        beyond = _pointer(context, builder, signature.args[0], arguments[0], arguments[2])
        ahead = builder.fmul(_repeated(builder, ir.Constant(ir.DoubleType(), 0.5)), settled)
        after = builder.fadd(ahead, builder.load(beyond, align=8))
        left = builder.fadd(builder.fsub(depth, taken), builder.fsub(settled, ahead))
        builder.store(left, cell, align=8)
        builder.store(after, beyond, align=8)
        builder.store(builder.fadd(builder.fsub(load, settled), taken), store, align=8)
        return context.get_dummy_value()

    number, real = types.int64, types.float64
    return types.none(mix, number, number, loads, number, fall, ease, real, real, real), generate


def _settling(
    context: Any, builder: Any, kinds: Any, values: Any, places: tuple[int, int, int, int]
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Where a cell and a load are, what is there, how much of the load settles, and how much of the cell is lifted."""
    mix, here, loads, own = places
    cell = _pointer(context, builder, kinds[mix], values[mix], values[here])
    store = _pointer(context, builder, kinds[loads], values[loads], values[own])
    fall, ease = (
        builder.load(_pointer(context, builder, kinds[place], values[place], ir.Constant(ir.IntType(64), 0)), align=8)
        for place in (-5, -4)
    )
    rate, least, lifted = (_repeated(builder, value) for value in values[-3:])
    one = _repeated(builder, ir.Constant(ir.DoubleType(), 1.0))
    depth, load = builder.load(cell, align=8), builder.load(store, align=8)
    part = _smaller(builder, one, builder.fmul(rate, fall))
    part = builder.select(builder.fcmp_ordered("<", part, least), least, part)
    settled = builder.fmul(load, part)
    taken = builder.fmul(depth, _smaller(builder, one, builder.fmul(lifted, ease)))
    return cell, store, depth, load, settled, taken


def _smaller(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", other, one), other, one)

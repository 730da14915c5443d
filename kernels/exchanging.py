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
_FOUR = ir.VectorType(ir.DoubleType(), KINDS)
_NOTHING = ir.Constant(_FOUR, ir.Undefined)
_FIRST = ir.Constant(ir.IntType(32), 0)
_ALL_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), KINDS), [0] * KINDS)


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


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _FOUR.as_pointer())


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

"""Sorting of many numbers in a time that grows with their count alone."""

import numpy as np

from kernels.compiling import njit

_BITS = 11
_DIGITS = 1 << _BITS


@njit(nogil=True, cache=True)
def sorted_order(values):
    """The places of float64 `values` in ascending order, int32; equal values keep their order.

    A radix sort, as comparisons of hundreds of thousands of numbers take many times as long.
    """
    count = len(values)
    # As unsigned integers the bits of positive numbers are in order, those of negative ones in the opposite order.
    bits = values.view(np.int64)
    keys = np.empty(count, np.uint64)
    for place in range(count):
        keys[place] = np.uint64(bits[place] ^ ((bits[place] >> 63) | np.int64(-0x8000000000000000)))
    order = np.arange(count).astype(np.int32)
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    begins = np.empty(_DIGITS, np.int64)
    for shift in range(0, 64, _BITS):
        begins[:] = 0
        for key in keys:
            begins[(key >> np.uint64(shift)) & np.uint64(_DIGITS - 1)] += 1
        total = 0
        for digit in range(_DIGITS):
            total += begins[digit]
            begins[digit] = total - begins[digit]
        for place in range(count):
            digit = (keys[place] >> np.uint64(shift)) & np.uint64(_DIGITS - 1)
            other_keys[begins[digit]] = keys[place]
            other_order[begins[digit]] = order[place]
            begins[digit] += 1
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
    return order

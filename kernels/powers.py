"""Logarithms and powers of many numbers, several in one instruction: the mathematical library has them one by one.

All are exact to some units in the last digits, and have the same bits on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from kernels.compiling import njit

# So many at a time: they and what is kept between the loops stay in the nearest cache.
BLOCK = 512

_MANTISSA = np.int64((1 << 52) - 1)
_ONE = np.int64(1023 << 52)  # the bits of 1.0
_ROOT_OF_TWO = np.int64(0x6A09E667F3BCD)  # those after the binary point of the square root of 2
_ROUND = 6755399441055744.0  # 1.5 · 2^52: what is added to it loses its fraction, and its last bits are the number
_ROUND_BITS = np.int64(0x4338000000000000)

# log2((1 + s) / (1 − s)) = 2 / ln 2 · (s + s³ / 3 + s⁵ / 5 + …), |s| < 0.172
_LOG = 2.0 / math.log(2.0) / np.arange(1.0, 19.0, 2.0)
# 2^x = Σ (x ln 2)^k / k!, |x| ≤ 0.5
_EXP = np.array([math.log(2.0) ** k / math.factorial(k) for k in range(13)])

LEAST_EXPONENT = -1000.0  # of 2, whose power is as good as 0


@njit(nogil=True, error_model="numpy")
def log2_of(values, mantissa, exponent):
    """Positive values [up to `BLOCK`] become their logarithms to base 2; the others are scratch of `BLOCK` numbers."""
    l0, l1, l2, l3, l4, l5, l6, l7, l8 = _LOG
    bits, mantissa_bits, exponent_bits = values.view(np.int64), mantissa.view(np.int64), exponent.view(np.int64)
    for i in range(len(values)):
        word = bits[i]
        above = np.int64(1) if (word & _MANTISSA) > _ROOT_OF_TWO else np.int64(0)
        mantissa_bits[i] = (word & _MANTISSA) | (_ONE - (above << np.int64(52)))
        exponent_bits[i] = ((word >> np.int64(52)) + above - np.int64(1023)) + _ROUND_BITS
    for i in range(len(values)):
        s = (mantissa[i] - 1.0) / (mantissa[i] + 1.0)
        z = s * s
        tail = l0 + z * (l1 + z * (l2 + z * (l3 + z * (l4 + z * (l5 + z * (l6 + z * (l7 + z * l8)))))))
        values[i] = (exponent[i] - _ROUND) + s * tail


@njit(nogil=True, error_model="numpy")
def exp2_of(values, factor):
    """Values [up to `BLOCK`] from −1000 to 1000 become 2 to their power; the other is scratch of `BLOCK` numbers."""
    e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12 = _EXP
    bits, factor_bits = values.view(np.int64), factor.view(np.int64)
    for i in range(len(values)):
        rounded = values[i] + _ROUND
        x = values[i] - (rounded - _ROUND)
        low = e1 + x * (e2 + x * (e3 + x * (e4 + x * (e5 + x * e6))))
        high = e7 + x * (e8 + x * (e9 + x * (e10 + x * (e11 + x * e12))))
        x3 = x * x * x
        values[i] = e0 + x * (low + x3 * x3 * high)
        factor[i] = rounded
    for i in range(len(values)):
        bits[i] += (factor_bits[i] - _ROUND_BITS) << np.int64(52)


@njit(nogil=True, error_model="numpy")
def raise_to(values, exponent, one, other):
    """Positive values [up to `BLOCK`] become their powers; the last two are scratch of `BLOCK` numbers."""
    log2_of(values, one, other)
    for i in range(len(values)):
        values[i] *= exponent
    exp2_of(values, one)

"""Counter-based random numbers: a number depends only on its key and its index, never on what was drawn before.

So the same numbers come out in any order and on any number of threads, and no state has to be kept or saved.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from kernels.compiling import njit

# The odd integer nearest to 2^64 over the golden ratio (Knuth 1973): its multiples spread evenly over all 64-bit words.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TWO_TO_MINUS_53 = 1.0 / 9007199254740992.0


def process_number(name: str) -> int:
    """The number of a process in `stream`, from its name, so that no list of numbers has to be kept without clashes."""
    return zlib.crc32(name.encode())


@njit(cache=True, nogil=True)
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits: each input bit flips each output bit with probability one half.

    The finaliser of SplitMix64 (Steele, Lea, Flood 2014, with the constants of Stafford 2011, variant 13).
    """
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def mix_all(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`mix` of each word of an array, for which nothing has to be compiled."""
    mixed: NDArray[np.uint64] = mix.py_func(words)
    return mixed


@njit(cache=True, nogil=True)
def stream(seed: int, process: int, cycle: int) -> np.uint64:
    """The key of the random numbers of one process in one cycle, uint64.

    Mixed after each part, so that neighbouring seeds, processes and cycles share nothing. Any signed 64-bit integers.
    Outside of a Numba function the key comes back as an int: wrap it in np.uint64 before handing it to the next one.
    """
    key = mix(np.uint64(seed) + _GOLDEN)
    key = mix((key ^ np.uint64(process)) + _GOLDEN)
    return np.uint64(mix((key ^ np.uint64(cycle)) + _GOLDEN))


@njit(cache=True, nogil=True)
def uniform(key: np.uint64, index: int) -> float:
    """The random number of `index` in the stream of `key`, uniform in [0, 1) with 53 bits, float64."""
    word = mix(np.uint64(key) + (np.uint64(index) + np.uint64(1)) * _GOLDEN)
    return np.float64(word >> np.uint64(11)) * _TWO_TO_MINUS_53

"""How kernels are compiled: Numba's decorator, without what nobody uses and each function pays for."""

from __future__ import annotations

from typing import Any

import numba
from numba.extending import register_jitable


def njit(**options: Any) -> Any:
    """As `numba.njit`, where Python calls only what is cached on disk.

    Numba wraps each function twice, for calls from Python and from C: in a kernel of many arrays that is up to a fifth
    of the time that it takes to compile. From C nothing here is called, and from Python only what has `cache=True`.
    What has not is for other kernels, and to Python it stays the plain function that it was.
    """
    options["no_cfunc_wrapper"] = True
    if options.get("cache") or "inline" in options:  # a function inlined by Numba itself is never compiled alone
        return numba.njit(**options)
    return register_jitable(**options)


# Decorates what is a part of others' loops and makes no arrays. Numba counts who uses an array, by an atomic operation
# for each array of each call: in a particle's step that is a fifth of the time and more. `_nrt` leaves it out, as the
# arrays are held outside for as long.
inlined = njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)

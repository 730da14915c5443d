"""How kernels are compiled: Numba's decorator, without what nobody uses and each function pays for."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numba
from numba.extending import register_jitable


def njit(**options: Any) -> Any:
    """As `numba.njit`, with Python wrappers for cached functions only.

    Numba wraps each function twice, for calls from Python and from C: in a kernel of many arrays that is up to a fifth
    of the time that it takes to compile. From C nothing here is called, and from Python only what has `cache=True`.
    What has not is for other kernels, and to Python it stays the plain function that it was.
    """
    options["no_cfunc_wrapper"] = True
    if options.get("cache") or "inline" in options:  # a function inlined by Numba itself is never compiled alone
        return numba.njit(**options)
    return register_jitable(**options)


# Decorates what is called in loops that Numba runs in parallel, and cannot be called from Python. Numba compiles what
# `njit` decorates once for each set of flags of its callers, and such a loop has flags of its own beside those of the
# function in which it stands.
_WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
in_threads = numba.njit(nogil=True, error_model="numpy", **_WITHOUT_WRAPPERS)

# Decorates what is a part of others' loops and makes no arrays. Numba counts who uses an array, by an atomic operation
# for each array of each call: in a particle's step that is a fifth of the time and more. `_nrt` leaves it out, as the
# arrays are held outside for as long.
inlined = njit(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


def variant(function: Any, suffix: str = "", **names: Any) -> Any:
    """A copy of a plain function in which some global `names` are replaced.

    With a `suffix`, it also calls `f` + suffix instead of `f` wherever its module has such a function. So what differs
    between two kernels stands side by side, and each is compiled without a test in its loops.
    """
    own = function.__globals__
    others = {name.removesuffix(suffix): own[name] for name in own if suffix and name.endswith(suffix)}
    return FunctionType(function.__code__, {**own, **others, **names}, function.__name__)

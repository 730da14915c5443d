"""Where Numba finds the compiled kernels of a frozen program, wherever its folder lies. Numba imports this by name."""

from __future__ import annotations

from typing import Any, Self

from numba.core.caching import UserProvidedCacheLocator

from app.numba_settings import FROZEN_KERNELS


class FrozenLocator(UserProvidedCacheLocator):
    """One folder for all kernels. They need no stamp: the folder's name tells from which sources they are."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Self | None:
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()  # type: ignore[no-untyped-call]
        except OSError:
            return None
        return locator

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        return FROZEN_KERNELS

    def get_source_stamp(self) -> str:
        return FROZEN_KERNELS

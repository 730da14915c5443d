"""How many threads Numba may use while something is measured. Each group begins and ends with all of them."""

from __future__ import annotations

import numba

ALL: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
TWO = min(2, ALL)

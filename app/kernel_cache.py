"""Where compiled kernels are kept between runs."""

import hashlib
import os
import sys
from pathlib import Path

import platformdirs

APPLICATION = "thalweg"


def use_kernel_cache() -> None:
    """Point Numba at a cache folder that belongs to exactly these kernel sources.

    Numba recompiles a function when its own file changes, but not when a function that it inlined from *another* file
    does. With the hash of all sources in the folder's name, a stale kernel can never be loaded. Must run before Numba
    is imported, and costs well under a millisecond.
    """
    digest = hashlib.sha256(sys.version.encode())
    kernels = Path(__file__).parent.parent / "kernels"
    for source in sorted(kernels.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    folder = Path(platformdirs.user_cache_dir(APPLICATION, appauthor=False)) / "kernels" / digest.hexdigest()[:16]
    os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))

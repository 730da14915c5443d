"""Settings that Numba reads from the environment when it is imported."""

import hashlib
import os
import sys
from pathlib import Path

import platformdirs

APPLICATION = "thalweg"


def configure_numba() -> None:
    """Set what Numba and its threads read at their start. Must run before Numba is imported; takes no time."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(kernel_cache_folder()))
    # Threads that wait for work sleep, instead of taking the cores from the picture.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def kernel_cache_folder() -> Path:
    """The folder for compiled kernels that belongs to exactly these sources.

    Numba recompiles a function when its own file changes, but not when a function that it inlined from *another* file
    does. With the hash of all sources in the folder's name, a stale kernel can never be loaded.
    """
    digest = hashlib.sha256(sys.version.encode())
    kernels = Path(__file__).parents[1] / "kernels"
    for source in sorted(kernels.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir(APPLICATION, appauthor=False)) / "kernels" / digest.hexdigest()[:16]

"""Settings that Numba reads from the environment when it is imported."""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import platformdirs

APPLICATION = "thalweg"

# Of a frozen program: the folder beside its modules with the kernels that it brings along, and that of all its kernels
# in a cache
COMPILED, FROZEN_KERNELS = "compiled", "kernels"


def configure_numba() -> None:
    """Set what Numba and its threads read at their start. Must run before Numba is imported; takes no time."""
    if getattr(sys, "frozen", False):
        _use_bundled_kernels()
    os.environ.setdefault("NUMBA_CACHE_DIR", str(kernel_cache_folder()))
    # Threads that wait for work sleep, instead of taking the cores from the picture.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sys.meta_path.insert(0, _LeftOut)


# By name: the module that loads it, and what that module has once it has tried
_LEFT_OUT = {"scipy.linalg": ("numba.np.arraymath", "_HAVE_BLAS"), "yaml": ("numba.core.config", "_HAVE_YAML")}


class _LeftOut:
    """Hides from Numba what it would load where it is installed, and no kernel uses: a tenth of a start.

    That is SciPy's linear algebra, which does not come with the program, and YAML, which Numba reads settings with:
    ours are in the environment.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing, as others may do. Raises `ModuleNotFoundError` where Numba looks for what is left out."""
        if name in _LEFT_OUT:
            module, tried = _LEFT_OUT[name]
            asking = sys.modules.get(module)
            if asking is not None and not hasattr(asking, tried):  # it is being loaded
                raise ModuleNotFoundError(f"{name} is not used by Numba")


def usual_threads(available: int) -> int:
    """The threads of a simulation where nobody says how many: all that are `available`, or as OMP_NUM_THREADS says."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # there may be one for each nested level
    return min(int(first), available) if first.isdecimal() and int(first) else available


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


def _use_bundled_kernels() -> None:
    """Let a frozen program, which may lie anywhere, use kernels that were compiled for any processor of its kind.

    Numba writes beside what it reads, so they are copied to where this person's kernels are. Where that fails, they are
    compiled once more.
    """
    os.environ.setdefault("NUMBA_CPU_NAME", "generic")
    os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", "app.frozen_kernels.FrozenLocator")
    brought, cache = Path(__file__).parents[1] / COMPILED, kernel_cache_folder()
    if "NUMBA_CACHE_DIR" in os.environ or (cache / FROZEN_KERNELS).exists() or not brought.exists():
        return
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as beside:
            whole = shutil.copytree(brought, Path(beside) / FROZEN_KERNELS)
            whole.rename(cache / FROZEN_KERNELS)

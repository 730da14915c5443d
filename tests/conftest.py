"""What holds for all tests."""

import gc
import os
import signal
from pathlib import Path

import pytest

from tests.budget import Spending
from tests.nets.profile import is_nightly
from tests.scheduling import pytest_testnodedown, pytest_xdist_make_scheduler  # noqa: F401  # hooks

HOURS = 6 * 3600  # seconds, after which a test of a nightly run hangs

# Shells start what runs in the background with Ctrl+C ignored, `nohup` with a closing terminal ignored, and children
# inherit that. Programs that tests start and interrupt shall hear of both.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Pictures are compared with references, so they are drawn by the same rasteriser everywhere.
# This stands before anything that loads OpenGL, and applies to the programs that tests start, too.
os.environ["LIBGL_ALWAYS_SOFTWARE"] = "1"
os.environ["GALLIUM_DRIVER"] = "llvmpipe"

# Where each core has a worker of its own, each worker has one thread: two that wait for each other at every draw and in
# every loop would take turns with those of others, and most of a test would be waiting. Tests of many threads say so.
IS_ONE_OF_SEVERAL = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1
if IS_ONE_OF_SEVERAL:
    os.environ["LP_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

_mesa_egl = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")
if _mesa_egl.exists():
    os.environ["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(_mesa_egl)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-screenshots",
        action="store_true",
        help="make the pictures of today the references in tests/screenshots; look at each before it is committed",
    )


gc.disable()  # until all tests are found: what is loaded and made for that stays


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # reports of all workers come to the one process that has none
        config.pluginmanager.register(Spending(by_file=is_nightly()))
    if IS_ONE_OF_SEVERAL:
        import app  # noqa: F401  # first, as it sets Numba's cache

        # isort: split
        import numba

        numba.set_num_threads(1)  # of the thread that tests run on; a simulation's reads OMP_NUM_THREADS


def pytest_collection_finish() -> None:
    """Let the garbage collector leave out what is there now, and stays: it looked through all of it time and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is left to a nightly run, in which no test is too long."""
    if is_nightly():
        for item in items:
            item.add_marker(pytest.mark.timeout(HOURS))
        return
    left_out = [item for item in items if item.get_closest_marker("nightly")]
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=left_out)

"""What holds for all tests."""

import os
from pathlib import Path

import pytest

from tests.nets.profile import is_nightly

HOURS = 6 * 3600  # seconds, after which a test of a nightly run hangs

# Pictures are compared with references, so they are drawn by the same rasteriser everywhere.
# This stands before anything that loads OpenGL, and applies to the programs that tests start, too.
os.environ["LIBGL_ALWAYS_SOFTWARE"] = "1"
os.environ["GALLIUM_DRIVER"] = "llvmpipe"

_mesa_egl = Path("/usr/share/glvnd/egl_vendor.d/50_mesa.json")
if _mesa_egl.exists():
    os.environ["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(_mesa_egl)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-screenshots",
        action="store_true",
        help="make the pictures of today the references in tests/screenshots; look at each before it is committed",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes hours is left to a nightly run, in which no test is too long."""
    for item in items:
        if is_nightly():
            item.add_marker(pytest.mark.timeout(HOURS))
        elif item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.skip(reason="only in a nightly run: --hypothesis-profile nightly"))

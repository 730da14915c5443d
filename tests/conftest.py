"""What holds for all tests."""

import os
from pathlib import Path

import pytest

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

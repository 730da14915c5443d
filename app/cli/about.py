"""Facts for a bug report about the program and the machine: `thalweg --version --debug`."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import moderngl
import platformdirs

from app.cli.headless import headless_context
from app.engine.autosave import sessions_folder
from app.engine.machine import cores, processor_name
from app.engine.memory import free_memory
from app.model.errors import UserError
from app.numba_settings import APPLICATION, kernel_cache_folder

Line = tuple[str, str]

# Optional libraries
OPTIONAL = ("rasterio", "pyogrio", "trimesh", "dask", "zarr", "pyarrow")
SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE")  # environment variables that describe the screen
GL = {"vendor": "GL_VENDOR", "renderer": "GL_RENDERER", "version": "GL_VERSION"}


def report(version: str, window_gl: Iterator[Line]) -> str:
    """The report, one fact per line. `window_gl` are the lines on OpenGL in a window."""
    lines = [("thalweg", version), *_places(), *_system(), *_libraries(), *window_gl, *_headless_gl()]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines)


def gl_lines(context: moderngl.Context, where: str) -> Iterator[Line]:
    """The renderer and its driver, whose version is part of the OpenGL version."""
    for name, key in GL.items():
        yield f"OpenGL {where}, {name}", str(context.info[key])


def _headless_gl() -> Iterator[Line]:
    try:
        with headless_context() as context:
            yield from gl_lines(context, "without a window")
    except UserError as error:
        yield "OpenGL without a window", f"none: {error}"


def _places() -> Iterator[Line]:
    yield "program", f"{Path(__file__).parents[2]}{' (a folder of its own)' if getattr(sys, 'frozen', False) else ''}"
    yield "data", str(platformdirs.user_data_path(APPLICATION, appauthor=False))
    yield "sessions", str(sessions_folder())
    yield "cache", str(platformdirs.user_cache_path(APPLICATION, appauthor=False))
    yield "kernels", os.environ.get("NUMBA_CACHE_DIR", str(kernel_cache_folder()))
    yield "log", "standard error; --debug logs more"
    yield "parts by others", "`thalweg guide notices` lists them with their licences"


def _system() -> Iterator[Line]:
    yield "system", platform.platform()
    yield (
        "screen",
        ", ".join(f"{name}={os.environ[name]}" for name in SCREEN if name in os.environ) or "as the system has",
    )
    yield "processor", processor()
    yield "cores", f"{cores()} of {os.cpu_count()}"
    yield "memory", f"{free_memory() / 1e9:.1f} GB free"
    yield "Python", f"{platform.python_version()}, {platform.python_implementation()}, {platform.machine()}"


def processor() -> str:
    """The name of the processor, and the target that kernels are compiled for."""
    from llvmlite import binding

    compiled_for = os.environ.get("NUMBA_CPU_NAME", binding.get_host_cpu_name())
    return f"{processor_name()}; kernels are for {compiled_for}"


def _libraries() -> Iterator[Line]:
    try:
        needed = [
            re.split(r"[^\w.-]", text)[0] for text in metadata.requires(APPLICATION) or () if "extra ==" not in text
        ]
    except metadata.PackageNotFoundError:
        needed = ["numpy", "numba", "moderngl", "glfw", "imgui-bundle"]
    for name in (*needed, "llvmlite", *OPTIONAL):
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            yield name, "not installed"

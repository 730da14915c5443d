"""The rules of the house, proven from the imports: who may know whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GL = {"moderngl", "glfw", "imgui_bundle", "OpenGL"}  # what cannot be loaded, or is of no use, without a display

# Modules that run without a display; so must all that they import, wherever in their code that is.
WITHOUT_DISPLAY = [
    "app.simulation",
    "app.simulate",
    "app.analyze",
    "app.checkpoint",
    "app.opening",
    "app.world",
    "app.overlays",
    "app.snapshot",
]
WITHOUT_DISPLAY_PACKAGES = ["app.processes", "app.sources"]


def modules(package: str) -> dict[str, Path]:
    """The modules of a package and of those in it, by their dotted names."""
    found = {}
    for path in sorted((ROOT / package.replace(".", "/")).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


OURS = {**modules("app"), **modules("kernels")}


def imports(module: str) -> set[str]:
    """What a module imports anywhere in its code, except for types alone: the modules, and the names from them."""
    tree = ast.parse(OURS[module].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute, so that they can be found"
            found |= {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def reached(module: str) -> set[str]:
    """All that is imported by a module, by what it imports, and so on; a package's `__init__` is imported with it."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if "." in name:
            waiting.append(name.rpartition(".")[0])
        if name in OURS:
            waiting += imports(name)
    return found


def loaded_by(statement: str) -> set[str]:
    """The modules that a new process has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_there_is_something_to_look_at() -> None:
    assert {"kernels.droplets", "app.processes.droplets", "app.passes.table", "app.sources"} <= OURS.keys()
    assert "moderngl" in reached("app.picture")
    assert "numba" in reached("app.simulation")


@pytest.mark.parametrize("module", modules("kernels"))
def test_kernels_know_only_numbers(module: str) -> None:
    foreign = {name.partition(".")[0] for name in imports(module)} - set(sys.stdlib_module_names)
    assert foreign <= {"numpy", "numba", "kernels"}


@pytest.mark.parametrize(
    "module", [*WITHOUT_DISPLAY, *(name for package in WITHOUT_DISPLAY_PACKAGES for name in modules(package))]
)
def test_simulation_needs_no_display(module: str) -> None:
    assert not {name.partition(".")[0] for name in reached(module)} & GL


@pytest.mark.parametrize("module", modules("app.sources"))
def test_sources_know_no_processes(module: str) -> None:
    assert not {name for name in imports(module) if name.startswith("app.processes")}


@pytest.mark.parametrize("module", modules("app.processes"))
def test_processes_know_no_simulation(module: str) -> None:
    assert not imports(module) & {"app.simulation", "app.snapshot", "app.scene"}


@pytest.mark.parametrize("module", [*modules("app.passes"), "app.picture"])
def test_passes_read_snapshots_and_never_the_world(module: str) -> None:
    assert not imports(module) & {"app.world", "app.world.World", "app.simulation", "app.processes", "app.sources"}


@pytest.mark.parametrize("module", modules("app.panel"))
def test_panel_does_not_touch_the_simulation(module: str) -> None:
    assert not imports(module) & {"app.world.World", "app.simulation.Simulator", "kernels"}


def test_one_module_imports_glfw() -> None:
    """It must be imported after imgui_bundle, which brings its own; only one place can see to that."""
    assert [name for name in OURS if "glfw" in imports(name)] == ["app.window"]


@pytest.mark.parametrize(
    "module", ["app.simulation", "app.processes", "app.sources.heightmap", "app.simulate", "app.cli"]
)
def test_no_gl_is_loaded(module: str) -> None:
    assert not loaded_by(f"import {module}") & GL


def test_kernels_load_no_app() -> None:
    loaded = loaded_by("import kernels.droplets")
    assert not {name for name in loaded if name.partition(".")[0] == "app"}
    assert not loaded & GL


def test_numba_is_not_loaded_before_it_is_needed() -> None:
    """It takes a second, which the first picture does not have."""
    assert "numba" not in loaded_by("import app.simulation, app.opening, app.cli")

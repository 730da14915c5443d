"""The rules of the house, proven from the imports: who may know whom."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GL = {"moderngl", "glfw", "imgui_bundle", "OpenGL"}  # what cannot be loaded, or is of no use, without a display

# The rooms from below to above, and which others each may know: by its own imports, and by all that these bring along.
# Commands are found by name in a table, so that those of sweep, bench and soak can lie in these rooms.
_LAND = {"kernels", "app.model", "app.sources", "app.processes", "app.scene", "app.brushes", "app.files"}
_COMMANDS = {*_LAND, "app.engine", "app.export", "app.picture", "app.cli"}
ROOMS: dict[str, set[str]] = {
    "kernels": set(),
    "app.model": {"kernels"},
    "app.sources": {"app.model", "kernels"},
    "app.processes": {"app.model", "kernels"},
    "app.scene": {"app.model", "app.sources", "app.processes", "kernels"},
    "app.brushes": {"app.model", "app.sources", "app.processes", "app.scene", "kernels"},
    "app.files": _LAND,
    "app.engine": _LAND,
    "app.export": {*_LAND, "app.engine"},
    "app.picture": {"app.model", "kernels"},
    "app.window": {*_LAND, "app.engine", "app.export", "app.picture"},
    "app.cli": {*_LAND, "app.engine", "app.export", "app.picture", "app.window"},
    "app.sweep": _COMMANDS,
    "app.tiles": {*_COMMANDS, "app.sweep"},
    "app.bench": {*_COMMANDS, "app.window", "app.sweep", "app.tiles"},
    "app.soak": {*_COMMANDS, "app.window", "app.sweep", "app.bench"},
}
WITHOUT_DISPLAY = [
    room for room in list(ROOMS)[: list(ROOMS).index("app.window")] if room not in ("kernels", "app.picture")
]
# The commands that open it, when it is known that they shall
STARTS_THE_WINDOW = {"app.cli.commands.viewer", "app.cli.commands.demo"}

# What is installed around the rooms, and in none of them
INSTALLED = ROOT / "app" / "installed"

# Known by all: settings that must come before Numba is loaded.
COMMON = {"app", "app.numba_settings"}


def modules(package: str) -> dict[str, Path]:
    """The modules of a package and of those in it, by their dotted names."""
    found = {}
    for path in sorted((ROOT / package.replace(".", "/")).rglob("*.py")):
        if path.is_relative_to(INSTALLED):
            continue
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


OURS = {**modules("app"), **modules("kernels")}


def statements(node: ast.AST, *, types: bool = False) -> Iterator[ast.AST]:
    """All statements in a piece of code, those for types alone only with `types`. Imports are never in expressions."""
    parts: tuple[str, ...] = ("body", "orelse", "finalbody", "handlers", "cases")
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" and not types:
        parts = ("orelse",)
    for part in parts:
        for inner in getattr(node, part, ()):
            yield inner
            yield from statements(inner, types=types)


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The code of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(module: str, *, types: bool = False) -> set[str]:
    """What a module imports anywhere in its code, for types alone only with `types`: modules, and names from them."""
    found = set()
    for node in statements(parsed(OURS[module]), types=types):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute, so that they can be found"
            found |= {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@functools.cache
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


def loaded_by(*starts: str) -> list[set[str]]:
    """What a new process has loaded after each of some modules, imported one after the other."""
    code = "".join(f"import {module}\nprint(*sys.modules)\n" for module in starts)
    command = [sys.executable, "-c", f"import sys\n{code}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stdout.splitlines()]


def room_of(module: str) -> str:
    """The room that a module of ours lies in; the first two parts of its name, or `kernels`."""
    return "kernels" if module.partition(".")[0] == "kernels" else ".".join(module.split(".")[:2])


def way_to(module: str, other: str) -> str:
    """By which imports one module reaches another, for the message."""
    ways = {module: module}
    waiting = [module]
    while waiting:
        name = waiting.pop(0)
        for imported in sorted(imports(name) if name in OURS else ()):
            if imported not in ways and imported in OURS:
                ways[imported] = f"{ways[name]} → {imported}"
                waiting.append(imported)
    return ways.get(other, other)


def circles(ways: Mapping[str, set[str]]) -> list[set[str]]:
    """The largest sets in which there is a way from each to each."""

    def reached_from(start: str) -> set[str]:
        found: set[str] = set()
        waiting = list(ways[start])
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += ways[name]
        return found

    ahead = {name: reached_from(name) for name in ways}
    found = {frozenset(other for other in ahead[name] if name in ahead[other]) for name in ways if name in ahead[name]}
    return [set(circle) for circle in found]


def test_there_is_something_to_look_at() -> None:
    assert {"kernels.droplets", "app.processes.droplets", "app.picture.passes.table", "app.sources"} <= OURS.keys()
    assert "moderngl" in reached("app.picture.picture")
    assert "numba" in reached("app.engine.simulator")
    assert {room_of(module) for module in OURS} == {
        *ROOMS,
        "app",
        "app.__main__",
        "app.numba_settings",
        "app.frozen_kernels",
    }


def test_kernels_know_only_numbers(subtests: pytest.Subtests) -> None:
    for module in modules("kernels"):
        with subtests.test(module=module):
            foreign = {name.partition(".")[0] for name in imports(module)} - set(sys.stdlib_module_names)
            assert foreign <= {"numpy", "numba", "llvmlite", "kernels"}


def test_rooms_know_only_those_below(subtests: pytest.Subtests) -> None:
    for room, below in ROOMS.items():
        with subtests.test(room=room):
            wrong = {}
            for module in modules(room):
                others = (reached(module) & OURS.keys()) - COMMON
                above = {name for name in others if room_of(name) not in {room, *below}}
                of_types = (imports(module, types=True) & OURS.keys()) - COMMON
                above_for_types = {name for name in of_types if room_of(name) not in {room, *below}}
                if above or above_for_types:
                    wrong[module] = [way_to(module, min(above))] if above else sorted(above_for_types)
            assert not wrong


def test_no_rooms_know_each_other() -> None:
    assert not circles({room: below - {room} for room, below in ROOMS.items()})


def test_no_files_know_each_other() -> None:
    """Imports for types included. A package is known only by a module that takes a name from it itself."""

    def ways(module: str) -> set[str]:
        found = set()
        for node in statements(parsed(OURS[module]), types=True):
            if isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {name if name in OURS else str(node.module) for name in names}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        return (found & OURS.keys()) - {module}

    assert not circles({module: ways(module) for module in OURS})


def test_simulation_needs_no_display(subtests: pytest.Subtests) -> None:
    for room in WITHOUT_DISPLAY:
        for module in modules(room):
            with subtests.test(module=module):
                assert not {name.partition(".")[0] for name in reached(module)} & GL


def test_pictures_read_snapshots_and_never_the_world(subtests: pytest.Subtests) -> None:
    for module in modules("app.picture"):
        with subtests.test(module=module):
            assert "app.model.world" not in reached(module), way_to(module, "app.model.world")


def test_commands_need_no_window(subtests: pytest.Subtests) -> None:
    for module in sorted({*modules("app.cli"), *modules("app.sweep")} - STARTS_THE_WINDOW):
        with subtests.test(module=module):
            others = {name for name in reached(module) if room_of(name) in ("app.window", "app.bench", "app.soak")}
            assert not others, way_to(module, min(others))


def test_panel_does_not_touch_the_simulation(subtests: pytest.Subtests) -> None:
    for module in modules("app.window.panel"):
        with subtests.test(module=module):
            assert not imports(module) & {"app.model.world.World", "app.engine.simulator.Simulator", "kernels"}


def test_one_module_imports_glfw() -> None:
    """It must be imported after imgui_bundle, which brings its own; only one place can see to that."""
    assert [name for name in OURS if "glfw" in imports(name)] == ["app.window.window"]


def test_no_gl_is_loaded(subtests: pytest.Subtests) -> None:
    starts = ("app.cli.main", "app.processes", "app.sources.heightmap", "app.engine.thread", "app.cli.simulate")
    for module, loaded in zip(starts, loaded_by(*starts), strict=True):
        with subtests.test(module=module):
            assert module in loaded
            assert not loaded & GL


def test_kernels_load_no_app() -> None:
    (loaded,) = loaded_by("kernels.droplets")
    assert not {name for name in loaded if name.partition(".")[0] == "app"}
    assert not loaded & GL


def test_numba_is_not_loaded_before_it_is_needed(subtests: pytest.Subtests) -> None:
    """It takes a second, which the first picture does not have."""
    starts = ("app.engine.thread", "app.files.opening", "app.cli.main")
    for module, loaded in zip(starts, loaded_by(*starts), strict=True):
        with subtests.test(module=module):
            assert module in loaded
            assert "numba" not in loaded

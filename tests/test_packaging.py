"""The wheel holds what the checkout holds, and the lock installs what pyproject.toml asks for."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[1]
PACKAGES = ("app", "assets", "kernels", "shaders")
INSTALLED = CHECKOUT / "app" / "installed"
PROJECT_TABLE = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
PROJECT = PROJECT_TABLE["project"]
EXTRAS = PROJECT["optional-dependencies"]
RUN, TEST = "requirements.lock", "requirements-test.lock"
NEEDED = {
    RUN: [*PROJECT["dependencies"], *EXTRAS["install"]],
    TEST: [
        *PROJECT["dependencies"],
        *(requirement for extra in ("install", "test", "app", "export", "sweep") for requirement in EXTRAS[extra]),
    ],
}


WORKER_THAT_ENDS = """
import thalweg
from app.engine.compiling import _start_worker
with _start_worker() as worker:
    worker.stdin.close()
print(worker.returncode)
"""


def text_of(lock: str) -> str:
    return (CHECKOUT / lock).read_text()


def locked(lock: str) -> list[Requirement]:
    return [Requirement(line.rstrip(" \\")) for line in text_of(lock).splitlines() if re.match(r"\w", line)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_is_one_package_that_holds_every_file_of_all(wheel: zipfile.ZipFile) -> None:
    files = [path for package in PACKAGES for path in (CHECKOUT / package).rglob("*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts and not path.is_relative_to(INSTALLED)]
    expected = {f"thalweg/{path.relative_to(CHECKOUT).as_posix()}" for path in files}
    expected |= {f"thalweg/{path.name}" for path in (INSTALLED / "thalweg").glob("*.py")}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected


def test_wheel_packages_are_regular(wheel: zipfile.ZipFile) -> None:
    # Without __init__.py another folder of the same name anywhere on the path would be mixed in.
    assert {f"thalweg/{package}/__init__.py" for package in PACKAGES} <= set(wheel.namelist())


@pytest.mark.parametrize("editable", [False, True], ids=["wheel", "editable"])
def test_another_package_with_an_everyday_name_stays(editable: bool, wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """It is imported as before, and the program runs beside it."""
    (place,) = PROJECT_TABLE["tool"]["hatch"]["build"]["targets"]["wheel"]["dev-mode-dirs"]
    if not editable:
        wheel.extractall(tmp_path / "site")
    for package in PACKAGES:
        (tmp_path / "work" / package).mkdir(parents=True)
        (tmp_path / "work" / package / "__init__.py").write_text("print('another')")
    site = CHECKOUT / place if editable else tmp_path / "site"

    def run(*words: str) -> list[str]:
        command, environment = [sys.executable, *words], {**os.environ, "PYTHONPATH": str(site)}
        done = subprocess.run(
            command, cwd=tmp_path / "work", env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert run("-c", f"import {', '.join(PACKAGES)}") == ["another"] * len(PACKAGES)
    assert run("-m", "thalweg", "guide", "dunes")[0] == "Dunes"
    assert run("-P", "-c", WORKER_THAT_ENDS) == ["0"], "a worker of the program takes its own packages"


def test_wheel_has_the_command(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "thalweg = thalweg.__main__:main" in wheel.read(entry_points).decode()


@pytest.mark.parametrize("lock", NEEDED)
def test_lock_satisfies(lock: str, subtests: pytest.Subtests) -> None:
    pinned = locked(lock)
    for requirement in NEEDED[lock]:
        with subtests.test(requirement=requirement):
            wanted = Requirement(requirement)
            (found,) = [pin for pin in pinned if canonicalize_name(pin.name) == canonicalize_name(wanted.name)]
            (exactly,) = found.specifier
            assert exactly.operator == "=="
            assert exactly.version in wanted.specifier


def test_what_running_needs_is_part_of_what_tests_need_and_has_nothing_of_theirs() -> None:
    run, test = ({str(requirement) for requirement in locked(lock)} for lock in (RUN, TEST))
    assert run < test
    names = {canonicalize_name(requirement.name) for requirement in locked(RUN)}
    assert not names & {canonicalize_name(Requirement(only).name) for only in EXTRAS["test"]}


@pytest.mark.parametrize("lock", NEEDED)
def test_lock_pins_each_name_once(lock: str, subtests: pytest.Subtests) -> None:
    pinned = locked(lock)
    for system in ("linux", "darwin", "win32"):
        with subtests.test(system=system):
            environment = {**default_environment(), "sys_platform": system}
            names = [canonicalize_name(r.name) for r in pinned if r.marker is None or r.marker.evaluate(environment)]
            assert len(names) == len(set(names))


@pytest.mark.parametrize("lock", NEEDED)
def test_lock_has_hashes_for_all(lock: str) -> None:
    pinned = re.findall(r"^\w.* \\\n    --hash=sha256:[0-9a-f]{64}", text_of(lock), re.MULTILINE)
    assert len(pinned) == len(locked(lock))


@pytest.mark.parametrize("lock", NEEDED)
def test_lock_names_no_index(lock: str) -> None:
    # It would send every user to the index of the person who made the lock.
    assert "://" not in text_of(lock)

"""The wheel holds what the checkout holds, and the lock installs what pyproject.toml asks for."""

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
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
LOCK = (CHECKOUT / "requirements.lock").read_text()
LOCKED = [Requirement(line.rstrip(" \\")) for line in LOCK.splitlines() if re.match(r"\w", line)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_holds_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    files = [path for package in PACKAGES for path in (CHECKOUT / package).rglob("*") if path.is_file()]
    expected = {path.relative_to(CHECKOUT).as_posix() for path in files if "__pycache__" not in path.parts}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_packages_are_regular(wheel: zipfile.ZipFile, package: str) -> None:
    # Without __init__.py another folder of the same name anywhere on the path would be mixed in.
    assert f"{package}/__init__.py" in wheel.namelist()


def test_wheel_has_the_command(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "thalweg = app.cli:main" in wheel.read(entry_points).decode()


@pytest.mark.parametrize("requirement", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]])
def test_lock_satisfies(requirement: str) -> None:
    wanted = Requirement(requirement)
    (locked,) = [r for r in LOCKED if canonicalize_name(r.name) == canonicalize_name(wanted.name)]
    (exactly,) = locked.specifier
    assert exactly.operator == "=="
    assert exactly.version in wanted.specifier


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_lock_pins_each_name_once(system: str) -> None:
    environment = {**default_environment(), "sys_platform": system}
    names = [canonicalize_name(r.name) for r in LOCKED if r.marker is None or r.marker.evaluate(environment)]
    assert len(names) == len(set(names))


def test_lock_has_hashes_for_all() -> None:
    assert len(re.findall(r"^\w.* \\\n    --hash=sha256:[0-9a-f]{64}", LOCK, re.MULTILINE)) == len(LOCKED)


def test_lock_names_no_index() -> None:
    # It would send every user to the index of the person who made the lock.
    assert "://" not in LOCK

"""`make app`: the program as one folder that runs without Python, kernels compiled for any processor of its kind.

Run as a module, with the folder that it shall be made in.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

from tqdm import tqdm

from app.engine.builds import all_builds
from app.engine.compiling import WORKER, Compiler
from app.engine.workers import start_worker
from app.files import guide
from app.files.encoder import ffmpeg_program
from app.files.guide import IMAGE
from app.model.errors import UserError, explained
from app.numba_settings import COMPILED, FROZEN_KERNELS
from app.sources.generators import GENERATORS

LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
CHECKOUT = Path(__file__).parents[2]
NAME = "thalweg"

# Codecs that neither PNG nor any TIFF has, nor this program's own states
OTHER_CODECS = (
    "aec", "apng", "avif", "bcn", "bitshuffle", "blosc2", "bmp", "brotli", "bz2", "cms", "gif", "h5checksum",
    "htj2k", "jpegls", "lz4", "lz4f", "lzf", "lzfse", "lzham", "lzo", "meshopt", "pcodec", "pglz", "pixarlog", "qoi",
    "quantize", "rcomp", "rgbe", "snappy", "sperr", "spng", "sz3", "szip", "tiff", "ultrahdr", "zfp", "zopfli",
)  # fmt: skip

# What PyInstaller cannot see from the imports: what is found by name, and what is only installed to test.
COLLECTED = {
    "collect-submodules": ("app", "kernels", "imagecodecs", "pyogrio", "rasterio"),
    "collect-all": ("assets", "shaders"),
    "collect-data": ("imageio_ffmpeg", "imgui_bundle", "pyogrio", "rasterio"),
    "recursive-copy-metadata": ("thalweg",),
    "hidden-import": ("app.frozen_kernels",),
    "exclude-module": (
        "IPython", "PyInstaller", "_pytest", "bokeh", "dask", "distributed", "fastscapelib", "hypothesis", "matplotlib",
        "mypy", "numcodecs", "pandas", "pyarrow", "pyflwdir", "pytest", "richdem", "scipy", "skimage", "tkinter",
        "topotoolbox", "xarray", "zarr", "jinja2", "pygments", "setuptools", "yaml",
        *(f"imagecodecs._{codec}" for codec in OTHER_CODECS), "PIL._avif",
    ),
}  # fmt: skip

# Short runs for kernels that belong to no build
WARM_UPS = (
    *(("simulate", source, "--size", "32", "--cycles", "1", "--overwrite") for source in GENERATORS),
    ("simulate", "jacksboro", "--size", "32", "--cycles", "1", "--overwrite"),
    ("analyze", "noise", "--realism"),
    ("analyze", "jacksboro", "--out", "maps"),
)


def freeze(folder: Path) -> Path:
    """Make the program in `folder`/thalweg, in place of one that is there; returns the file to start.

    Raises `UserError` where PyInstaller is not installed, or fails.
    """
    try:
        import PyInstaller.__main__ as installer
    except ImportError as error:
        raise UserError("make app needs PyInstaller: pip install 'thalweg[app]'") from error
    options = [f"--{option}={name}" for option, names in COLLECTED.items() for name in names]
    with tempfile.TemporaryDirectory() as work:
        # The sources are not run: by them the program knows to which kernels a folder of compiled ones belongs
        sources = f"--add-data={CHECKOUT / 'kernels' / '*.py'}{os.pathsep}kernels"
        places = [f"--distpath={folder}", f"--workpath={work}", f"--specpath={work}", f"--paths={CHECKOUT}"]
        entry = str(CHECKOUT / "app" / "__main__.py")
        installer.run(
            [entry, f"--name={NAME}", "--onedir", "--noconfirm", "--log-level=ERROR", *options, sources, *places]
        )
    program = folder / NAME / (NAME + (".exe" if sys.platform == "win32" else ""))
    if not program.exists():
        raise UserError(f"PyInstaller has made no {program}")
    remove_unseen_pictures(program.parent / "_internal" / "assets")
    add_notices(program.parent)
    if sys.platform == "linux":
        _strip(program.parent)
    return program


def remove_unseen_pictures(assets: Path) -> None:
    """Take away the pictures that only the README shows, and no page of the guide."""
    seen = {guide.picture(target).name for page in guide.pages().values() for _, target in IMAGE.findall(page.text)}
    for path in (assets / "pictures").iterdir():
        if path.name not in seen:
            path.unlink()


def add_notices(folder: Path) -> None:
    """Put the page on what is by others into a folder, with the texts of their licences."""
    page = IMAGE.sub("", guide.page("notices").text).replace("\n\n\n\n", "\n\n")
    (folder / "NOTICES.md").write_text(page, encoding="utf-8", newline="\n")
    for name in (*bundled_libraries(), "pyinstaller"):
        for file in metadata.files(name) or ():
            if LICENCE_FILE.match(file.name) and Path(str(file.locate())).is_file():
                target = folder / "licences" / name / "-".join(part for part in file.parts if part != "..")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), target)
    python = Path(sysconfig.get_paths()["stdlib"]) / "LICENSE.txt"
    if python.is_file():  # some distributions keep it elsewhere
        shutil.copyfile(python, folder / "licences" / "python.txt")
    encoder = [ffmpeg_program(), "-hide_banner"]
    said = [subprocess.run([*encoder, word], capture_output=True, check=True).stdout for word in ("-L", "-buildconf")]
    (folder / "licences" / "ffmpeg.txt").write_bytes(b"\n".join(said))


def bundled_libraries() -> list[str]:
    """The distributions that the folder has of others: those that the program and its exports need, and theirs."""
    found = set[str]()
    waiting = _requirements(NAME, extras=("export",))
    while waiting:
        name = waiting.pop()
        if name not in found and _is_installed(name):
            found.add(name)
            waiting |= _requirements(name)
    return sorted(found, key=str.casefold)


def _requirements(name: str, extras: Sequence[str] = ()) -> set[str]:
    """The distributions that one asks for, by the names that they have themselves."""
    asked = set()
    for text in metadata.requires(name) or ():
        requirement, _, marker = text.partition(";")
        extra = re.search(r"extra == ['\"](.*?)['\"]", marker)
        if extra is None or extra[1] in extras:
            asked.add(re.split(r"[^\w.-]", requirement.strip())[0])
    return {metadata.metadata(each)["Name"] if _is_installed(each) else each for each in asked}


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _strip(folder: Path) -> None:
    """Take from libraries what only debuggers read, a fifth of the folder.

    Those in folders of wheels (`numpy.libs`) keep it: they are patched so that `strip` would break them.
    """
    strip = shutil.which("strip")
    if strip is not None:
        found = [path for path in folder.rglob("*.so*") if path.is_file() and not path.is_symlink()]
        plain = [path for path in found if not any(part.endswith(".libs") for part in path.parts)]
        subprocess.run([strip, "--strip-unneeded", *plain], check=True)


def compile_kernels(program: Path) -> Path:
    """Have a frozen program compile all of its kernels, and put them beside its modules; returns their folder.

    Raises `UserError` where it fails.
    """
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        compiler = Compiler(start=partial(start_worker, [str(program), WORKER], environment))
        builds = all_builds()
        try:
            compiler.ask(builds)
            with tqdm(total=len(builds), desc="compiling kernels", unit="build", mininterval=1.0) as bar:
                while progress := compiler.progress:
                    bar.update(progress.done - bar.n)
                    time.sleep(0.5)
        finally:
            compiler.close()
        if failed := {build: why for build in builds if (why := compiler.outcome(build))}:
            raise UserError(f"{len(failed)} builds cannot be compiled: {next(iter(failed.items()))}")
        for words in WARM_UPS:
            _warm_up([str(program), *words], cache, environment)
        return Path(shutil.copytree(Path(cache) / FROZEN_KERNELS, program.parent / "_internal" / COMPILED))


def _warm_up(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    """Run a command in a folder. Raises `UserError` with what it said last where it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise UserError(f"{' '.join(command)} ended with {done.returncode}: {said[0]}")


def main() -> None:
    """Make the program in the folder that the command line names. Ends with one line and 1 where that fails."""
    try:
        program = freeze(Path(sys.argv[1]))
        compiled = compile_kernels(program)
    except UserError as error:
        sys.exit(f"make app: {error}")
    except shutil.Error as error:  # of many files, each with its reason
        sys.exit(f"make app: {error.args[0][0][2]}")
    except (OSError, subprocess.SubprocessError) as error:
        sys.exit(f"make app: {explained(error)}")
    files = [path for path in program.parent.rglob("*") if path.is_file() and not path.is_symlink()]
    print(f"{program}: {sum(path.stat().st_size for path in files) / 1e6:.0f} MB, kernels in {compiled}")


if __name__ == "__main__":
    main()

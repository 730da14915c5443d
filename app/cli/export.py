"""`thalweg export`: land for other programs, without a display."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tqdm import tqdm

from app.cli.folder import made
from app.cli.progress import Progress
from app.engine.creation import create_world
from app.engine.memory import check_memory
from app.engine.simulator import Simulator
from app.export.landscape import Landscape
from app.export.plan import Item, plan, single, write_item
from app.export.wishes import Wishes
from app.files.atomic import check_writable
from app.processes.pools import derive_levels
from app.scene.scene import Scene

IN_A_FOLDER = Wishes(heights=("tif", "png"))  # where nothing is said


def export(scene: Scene, out: Path, wishes: Wishes, *, cycles: int = 0, threads: int | None = None) -> None:
    """Write what is wished for of a world into a folder, which is made where there is none, or one file of it.

    A path with a suffix is a file, unless there is a folder of that name. The world runs for `cycles` first. Raises
    `UserError` where a wish is none that can be met, or a file cannot be written; each is whole or as it was.
    """
    wishes = wishes.checked()
    if out.suffix and not out.is_dir():
        check_writable(out)
        item = single(_landscape(scene, cycles, threads), wishes, out)
        _write([(item, out)])
        return
    with made(out):
        landscape = _landscape(scene, cycles, threads)
        items = plan(landscape, wishes if wishes.any else IN_A_FOLDER)
        _write([(item, out / item.name) for item in items])


def _landscape(scene: Scene, cycles: int, threads: int | None) -> Landscape:
    world, scene = create_world(scene, partial(check_memory, [scene]))
    if cycles:
        simulator = Simulator(scene, world, threads)
        simulator.compile_missing()
        for _ in Progress(range(cycles), "simulating", "cycle"):
            simulator.advance()
        simulator.verify()
    if scene.pools.enabled:
        derive_levels(world, scene.pools, scene.edges)
    return Landscape(world, scene)


def _write(files: list[tuple[Item, Path]]) -> None:
    """Write all files, one after the other, and print what a program needs to be told besides."""
    told: set[str] = set()
    with tqdm(files, unit="file", mininterval=0.0) as bar:
        for item, path in bar:
            bar.set_description(f"writing {path.name}")
            text = write_item(item, path)
            if text and text not in told:
                bar.write(f"{path}\n{text}")
                told.add(text)

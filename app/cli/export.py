"""`thalweg export`: land for other programs, without a display."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from tqdm import tqdm

from app.cli.folder import is_folder, made
from app.cli.progress import simulating
from app.engine.publishing import take_snapshot
from app.engine.runner import run_scene
from app.export.landscape import Landscape
from app.export.meshes import Pixels
from app.export.plan import Item, left_out, plan, single, write_item
from app.export.wishes import IN_A_FOLDER, Wishes
from app.files.atomic import claimed
from app.processes.floods import derive_levels
from app.scene.scene import Scene

log = logging.getLogger(__name__)


def export(scene: Scene, out: Path, wishes: Wishes, *, cycles: int = 0, threads: int | None = None) -> None:
    """Write the wishes of a world into a folder, which is created if needed, or a single file.

    A path with a suffix is a file, unless there is a folder of that name. The world runs for `cycles` first. Raises
    `UserError` where a wish is none that can be met, or a file cannot be written; each is whole or as it was.
    """
    wishes = wishes.checked()
    if out.suffix and not is_folder(out):
        with claimed(out):
            file_of = single(wishes, out)
            landscape = landscape_of(scene, cycles, threads)
            _write([(file_of(landscape, partial(ground_colours, landscape)), out)])
        return
    with made(out):
        landscape = landscape_of(scene, cycles, threads)
        items = plan(landscape, wishes if wishes.any else IN_A_FOLDER, partial(ground_colours, landscape))
        for reason in left_out(landscape, wishes):
            log.warning(reason)
        files = [(item, out / item.name) for item in items]
        with claimed(*(path for _, path in files)):
            _write(files)


def landscape_of(scene: Scene, cycles: int = 0, threads: int | None = None) -> Landscape:
    """The land of a scene after its spin-up and so many cycles."""
    opened = scene
    world, scene = run_scene(scene, cycles, threads, steps=simulating)
    derive_levels(world, scene.floods, scene.pools, scene.edges)
    return Landscape(world, scene, opened)


def ground_colours(landscape: Landscape, side: int) -> Pixels:
    """The unlit colours of the ground of the whole map, with so many pixels along the longer side."""
    from app.cli.headless import headless_context, largest_tile, scene_camera
    from app.picture.passes.declaration import Shot
    from app.picture.picture import Picture

    rows, columns = landscape.world.shape
    with headless_context() as context:
        side = min(side, largest_tile(context))
        width, height = (max(1, round(side * cells / max(rows, columns))) for cells in (columns, rows))
        picture = Picture(context, bake_at_once=True)
        try:
            snapshot = take_snapshot(landscape.world)
            picture.show(snapshot)
            shot = Shot(scene_camera(landscape.scene, snapshot), landscape.scene, 0.0, minimap=False)
            return picture.ground_colours(shot, width, height)
        finally:
            picture.release()


def _write(files: list[tuple[Item, Path]]) -> None:
    """Write all files and print what the importing program must be told."""
    told: set[str] = set()
    with tqdm(files, unit="file", mininterval=0.0) as bar:
        for item, path in bar:
            bar.set_description(f"writing {path.name}")
            text = write_item(item, path)
            if text and text not in told:
                bar.write(f"{path}\n{text}")
                told.add(text)

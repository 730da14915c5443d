"""`thalweg sweep`: all worlds of a recipe, or those that are still missing."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.progress import Progress
from app.cli.signals import LONGEST_STEP, Ended, shielded_from_signals
from app.engine.machine import cores
from app.engine.memory import check_memory
from app.files.atomic import check_writable, claimed, claimed_place
from app.model.errors import UserError
from app.sweep.recipe import Recipe, open_recipe
from app.sweep.worlds import Order, Outcome, Wanted, program

if TYPE_CHECKING:
    from app.sweep.result_set import ResultSet

log = logging.getLogger(__name__)

SUFFIX = ".zarr"


def sweep(
    recipe_file: Path,
    out: Path,
    *,
    scheduler: str = "",
    workers: int | None = None,
    table: Path | None = None,
    sheet: Path | None = None,
) -> None:
    """Run the worlds of a recipe that are missing in the set `out`, on this machine or a cluster.

    At the end, or where a signal ends it early, `table` and contact sheet tell of all worlds; without paths they lie
    beside the set, where a new one overwrites nothing. Raises `UserError` before anything is run where the recipe is
    not right, or the set that is there has another one; and at the end where worlds failed.
    """
    try:
        import app.sweep.result_set  # noqa: F401
    except ImportError as error:
        raise _lacking(error) from error
    recipe = open_recipe(recipe_file)
    if out.suffix != SUFFIX:
        raise UserError(f"{out}: a set of worlds is {SUFFIX}")
    with claimed_place(out):
        _sweep(recipe, out, scheduler, workers, table, sheet)


def _sweep(
    recipe: Recipe, out: Path, scheduler: str, workers: int | None, table: Path | None, sheet: Path | None
) -> None:
    from app.sweep.result_set import ResultSet
    from app.sweep.table import check_table

    is_new = not out.exists()
    if is_new:
        _keep("--table", [] if table else [out.with_suffix(".csv")])
        _keep("--sheet", [] if sheet else _sheets(recipe, out.with_suffix(".png")))
    table, sheet = table or out.with_suffix(".csv"), sheet or out.with_suffix(".png")
    _check_paths(recipe, out, table, sheet)
    check_table(table)
    if not scheduler:
        _check_memory(recipe, workers or cores())
    with claimed(table, *_sheets(recipe, sheet)):
        _complete(recipe, ResultSet(out, recipe), is_new, scheduler, workers, table, sheet)


def _complete(
    recipe: Recipe, found: ResultSet, is_new: bool, scheduler: str, workers: int | None, table: Path, sheet: Path
) -> None:
    """Run the missing worlds of a set, and report on all."""
    out = found.path
    missing = found.missing
    if len(missing) < len(recipe.worlds):
        print(f"{out}: {found.count} of {len(recipe.worlds)} worlds are there")
    try:
        number = _run(recipe, found, scheduler, workers) if missing else 0
    except UserError:
        if is_new and len(found.missing) == len(recipe.worlds):  # nothing that could be gone on with
            shutil.rmtree(out, ignore_errors=True)
        else:
            with contextlib.suppress(UserError):  # of which the first is the one to tell
                print(_conclude(recipe, found, table, sheet))
        raise
    print(_conclude(recipe, found, table, sheet))
    if number:
        left = len(found.missing)
        raise Ended(
            number, f"stopped; {out}: {found.count} worlds are there, and {left} missing; the same command goes on"
        )
    if failures := found.failures:
        first, why = next(iter(failures.items()))
        raise UserError(f"{len(failures)} of {len(recipe.worlds)} worlds failed, see {table}: world {first}: {why}")


def _run(recipe: Recipe, found: ResultSet, scheduler: str, workers: int | None) -> int:
    """Run the missing worlds. Returns the signal that ended it early, or 0."""
    try:
        from app.sweep.cluster import opened, prepare, run_all
    except ImportError as error:
        raise _lacking(error) from error
    said, missing = recipe.said, []
    for world in found.missing:
        if world.error:
            found.put(world.number, Outcome(world.error))
            log.warning("world %d failed: %s", world.number, world.error)
        else:
            missing.append(world)
    if not missing:
        return 0
    wanted = Wanted(said.layers, said.pictures, said.width, said.height)
    orders = (Order(world.number, world.scene, said.cycles, wanted, program()) for world in missing)
    with opened(scheduler, workers) as client:
        prepare(client, [world.scene for world in missing], wanted)
        with shielded_from_signals(f"world, if it ends within {LONGEST_STEP:g} s") as wish:
            progress = Progress(range(len(missing)), "running", "world")
            for number, outcome in run_all(client, orders, wish, progress.write):
                found.put(number, outcome)
                if outcome.error:
                    progress.write(f"world {number} failed: {outcome.error}")
                progress.update()
            progress.close()
    return wish.number if found.missing and wish else 0


def _conclude(recipe: Recipe, found: ResultSet, table: Path, sheet: Path) -> str:
    """Write figures, table and contact sheets. Returns a line for each file."""
    from app.sweep.table import write_table

    found.write_figures()
    write_table(table, found.table())
    written = [found.path, table]
    if recipe.said.pictures and found.count:
        from app.sweep.contact_sheet import draw_contact_sheets

        written += draw_contact_sheets(recipe, found, sheet)
    return "\n".join(map(str, written))


def _check_paths(recipe: Recipe, out: Path, table: Path, sheet: Path) -> None:
    if not out.exists():
        check_writable(out)
    if recipe.said.pictures and sheet.suffix.lower() != ".png":
        raise UserError(f"{sheet}: a contact sheet is .png")


def _sheets(recipe: Recipe, sheet: Path) -> list[Path]:
    """Where contact sheets lie; nowhere without pictures, which need what is imported here."""
    if not recipe.said.pictures:
        return []
    from app.sweep.contact_sheet import sheet_paths

    return sheet_paths(recipe, sheet)


def _keep(option: str, places: Sequence[Path]) -> None:
    """Raise `UserError` if a file that is not of a new set lies at a place that nobody named; `option` names one."""
    for place in places:
        if place.exists():
            raise UserError(f"{place}: is there already, and not of this new set; {option} names another file")


def _check_memory(recipe: Recipe, workers: int) -> None:
    """Raise `UserError` if the worlds that run at once do not fit into memory."""
    scenes = [world.scene for world in recipe.worlds if not world.error][:workers]
    at_once = len(scenes)
    try:
        check_memory(scenes, *recipe.shape)
    except UserError as error:
        raise UserError(f"{recipe.name}: {error}; --workers {max(at_once // 2, 1)} runs fewer at once") from error


def _lacking(error: ImportError) -> UserError:
    if getattr(sys, "frozen", False):
        return UserError(
            "this program, a folder of its own, has no sweep; installed in Python it has: pip install 'thalweg[sweep]'"
        )
    return UserError(f"sweep needs {error.name}: pip install 'thalweg[sweep]'")

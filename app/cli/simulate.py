"""A simulation without a picture, from a scene to a saved world."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

from app.cli.progress import Progress
from app.cli.signals import Ended, shielded_from_signals
from app.engine.runner import make_worlds
from app.engine.simulator import SimulationError
from app.files import checkpoint
from app.files.atomic import claimed
from app.files.journal import Journal
from app.model.errors import UserError
from app.model.world import World
from app.scene.edits import Change, Edit, Open
from app.scene.scene import Scene, differing


def simulate(
    scene: Scene,
    path: Path,
    *,
    cycles: int,
    threads: int | None = None,
    save_every: int | None = None,
    overwrite: bool = False,
) -> None:
    """Run `cycles` cycles of a scene, save the world to `path` and print its ledger.

    The world is also saved every `save_every` cycles. If a signal or a failed cycle ends the run early, the world after
    the last good cycle is saved, and `Ended` or `UserError` says how to continue. Raises `UserError` if `path` exists,
    unless `overwrite` is set or it is the world that continues.
    """
    with claimed_world_file(path, overwrite, scene.saved_world):
        _simulate(scene, path, cycles, threads, save_every)


def _simulate(scene: Scene, path: Path, cycles: int, threads: int | None, save_every: int | None) -> None:
    (simulator,) = make_worlds([scene], threads).simulators
    world = simulator.world
    past = _past(scene, world.cycle)
    first = saved = world.cycle

    def save() -> None:
        nonlocal saved
        checkpoint.save(path, world, simulator.scene, Journal(past, world.cycle))
        saved = world.cycle

    def leave() -> str:
        """Save the last backup of the world when a cycle takes too long after a signal."""
        kept = simulator.backed_up_world()
        if kept.cycle > saved:
            checkpoint.save(path, kept, simulator.scene, Journal(past, kept.cycle), compressed=False)
        return f"thalweg simulate: {_stopped(path, first, max(kept.cycle, saved), cycles)}"

    progress = Progress(range(cycles), "simulating", "cycle")
    simulator.compile_missing()  # a signal here loses nothing
    with shielded_from_signals("cycle") as wish:
        try:
            for _ in progress:
                if wish:
                    break
                with wish.or_given_up(leave):
                    simulator.advance()
                if save_every and (world.cycle - first) % save_every == 0:
                    simulator.verify()
                    save()
            simulator.verify()
        except SimulationError as error:
            if world.cycle == first:
                raise
            if world.cycle != saved:
                save()
            raise UserError(f"{error}; {path} holds the world at that point") from error
        done = world.cycle - first
        if world.cycle != saved or cycles == 0:
            save()
    if done < cycles:
        raise Ended(wish.number, _stopped(path, first, world.cycle, cycles))
    rows, columns = world.shape
    print(f"{path}: {columns}×{rows} cells of {world.cell_size:g} m after cycle {world.cycle}")
    print(ledger_text(world))


def _past(scene: Scene, cycle: int) -> tuple[Edit, ...]:
    """The journal that led to the initial world of a scene, at a cycle."""
    journal = checkpoint.journal_before(Path(scene.saved_world)) if scene.saved_world else None
    if journal is None:
        return (Edit(cycle, Open((scene,))),)
    before = checkpoint.load_scene(Path(scene.saved_world))
    values = differing(before, scene)
    return (*journal.edits, Edit(cycle, Change(values))) if values else journal.edits


@contextlib.contextmanager
def claimed_world_file(
    path: Path, overwrite: bool, saved_world: str = "", *, or_journal: bool = False
) -> Iterator[None]:
    """Claim a file while a world is made.

    Raises `UserError` if it cannot be written, or if it would replace another world than `saved_world`.
    """
    if path.suffix.lower() not in ((".npz", ".toml") if or_journal else (".npz",)):
        saved = "a world is saved as .npz" + (", a journal as .toml" if or_journal else "")
        raise UserError(f"{path}: {saved}; `thalweg render` draws pictures")
    with claimed(path):
        goes_on = saved_world and Path(saved_world).resolve() == path.resolve()
        if path.exists() and not overwrite and not goes_on:
            raise UserError(f"{path} already exists; --overwrite replaces it, and --out names another file")
        yield


def _stopped(path: Path, first: int, cycle: int, cycles: int) -> str:
    """The message for a run that stopped between two cycles."""
    if cycle == first:
        return "stopped before the first cycle"
    name, left = shlex.quote(str(path)), first + cycles - cycle
    return f"stopped after cycle {cycle}; go on with: thalweg simulate {name} --cycles {left} --out {name}"


def ledger_text(world: World) -> str:
    """The ledger as text: gains and losses of each substance in cubic metres, and the imbalance."""
    lines = []
    for substance, account in world.ledger.accounts().items():
        stored = world.stored(substance)
        entries = [("at the start", account.initial)]
        entries += [(cause, volume) for cause, volume in account.gained.items()]
        entries += [(cause, -volume) for cause, volume in account.lost.items()]
        entries += [("in the world now", stored), ("unaccounted for", stored - account.expected())]
        lines += [f"{substance}, m³", *(f"  {cause:<20} {_volume_text(volume):>20}" for cause, volume in entries)]
    return "\n".join([*lines, f"imbalance: {world.imbalance():.1e} of the total"])


def _volume_text(volume: float) -> str:
    """A volume with its sign; 0 has none."""
    return f"{volume:+.6g}" if volume else "0"

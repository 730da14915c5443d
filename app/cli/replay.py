"""Replay of a journal: the same edits after the same cycles, on the same land or another."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from app.cli.progress import Progress
from app.cli.signals import Ended, shielded_from_signals
from app.cli.simulate import claimed_world_file, ledger_text
from app.engine.runner import Replay
from app.engine.simulator import SimulationError
from app.files import checkpoint
from app.files.journal import Journal, write_journal
from app.model.errors import UserError
from app.model.world import World
from app.scene.comparison import NAMES
from app.scene.edits import Edit, Open
from app.scene.scene import Scene


def changed(journal: Journal, change: Callable[[Scene], Scene]) -> Journal:
    """The journal with its opened scenes changed by `change`."""
    first, *others = journal.edits
    assert isinstance(first.request, Open)
    opened = Open(tuple(map(change, first.request.scenes)))
    return msgspec.structs.replace(journal, edits=(Edit(first.cycle, opened), *others))


def replay(
    journal: Journal,
    path: Path,
    *,
    cycles: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
) -> None:
    """Replay a journal to its end, or for `cycles` cycles, and save the result.

    If `path` ends in .toml, the journal itself is saved and not replayed. Several worlds are saved in files with their
    letters in the names. If a signal or a failed cycle ends it early, the worlds are saved as they are then.
    """
    first = journal.edits[0].request
    assert isinstance(first, Open)
    with contextlib.ExitStack() as stack:
        for place in _places(path, len(first.scenes)):
            stack.enter_context(claimed_world_file(place, overwrite, or_journal=True))
        _replay(journal, path, cycles, threads)


def _replay(journal: Journal, path: Path, cycles: int | None, threads: int | None) -> None:
    if path.suffix.lower() == ".toml":
        write_journal(path, journal)
        print(path)
        return
    run = Replay(journal, threads)
    begin = run.lockstep.cycle
    end = journal.cycle if cycles is None else begin + cycles

    def journal_up_to(cycle: int) -> Journal:
        looks = tuple(look for look in journal.looks if look.cycle <= cycle)
        return Journal(journal.edits[: run.edits], cycle, looks)

    def leave() -> str:
        """Save the last backups of the worlds when a cycle takes too long after a signal."""
        worlds = [simulator.backed_up_world() for simulator in run.lockstep.simulators]
        cycle = worlds[0].cycle
        if cycle == begin:
            return "thalweg replay: stopped before the first cycle"
        paths = _save(path, worlds, run.lockstep.scenes, journal_up_to(cycle), compressed=False)
        return f"thalweg replay: {_stopped(cycle, end, paths)}"

    failure = ""
    with shielded_from_signals("cycle") as wish, Progress(range(max(end - begin, 0)), "replaying", "cycle") as progress:
        try:
            run.reach(end, wish, at=lambda cycle: progress.reach(cycle - begin), within=lambda: wish.or_given_up(leave))
        except SimulationError as error:
            failure = str(error)
        lockstep = run.lockstep
        paths = _save(path, lockstep.worlds, lockstep.scenes, journal_up_to(lockstep.cycle))
    if failure:
        raise UserError(f"{failure}; {', '.join(map(str, paths))} holds the world at that point")
    if lockstep.cycle < end:
        raise Ended(wish.number, _stopped(lockstep.cycle, end, paths))
    for saved, world in zip(paths, lockstep.worlds, strict=True):
        print(f"{saved}: after cycle {world.cycle}, with {run.edits - 1} edits")
        print(ledger_text(world))


def _stopped(cycle: int, end: int, paths: Sequence[Path]) -> str:
    return f"stopped after cycle {cycle} of {end}; saved {', '.join(map(str, paths))}"


def _save(
    path: Path, worlds: Sequence[World], scenes: Sequence[Scene], journal: Journal, *, compressed: bool = True
) -> Sequence[Path]:
    """Save all worlds, each with its journal. Returns the paths."""
    places = _places(path, len(worlds))
    for number, (place, world, scene) in enumerate(zip(places, worlds, scenes, strict=True)):
        own = journal.of(number) if len(worlds) > 1 else journal
        checkpoint.save(place, world, scene, own, compressed=compressed)
    return places


def _places(path: Path, worlds: int) -> Sequence[Path]:
    """The paths of a number of worlds; a journal is a single file."""
    if worlds == 1 or path.suffix.lower() == ".toml":
        return [path]
    return [path.with_stem(f"{path.stem}-{name}") for name in NAMES[:worlds]]

"""A journal run again: the same edits after the same cycles, on the same land or on another one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from app.cli.progress import Progress
from app.cli.signals import Ended, kept_from_signals
from app.cli.simulate import claimed_for_a_world, ledger_text
from app.engine.creation import create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import check_memory
from app.engine.simulator import SimulationError, Simulator
from app.engine.timeline import edited
from app.files import checkpoint
from app.files.journal import Journal, write_journal
from app.model.errors import UserError
from app.scene.comparison import NAMES
from app.scene.edits import Edit, Open
from app.scene.scene import Scene


def changed(journal: Journal, change: Callable[[Scene], Scene]) -> Journal:
    """The same story of other worlds: those that `change` makes of the scenes that it opens."""
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
    """Run a journal again up to its end, or for `cycles` cycles, and save what comes of it.

    Where `path` ends in .toml it gets the journal itself, and nothing is run. Of several worlds each is saved, with its
    letter in the name. Where a signal or a cycle that fails ends it early, the worlds are saved as they are then.
    """
    first = journal.edits[0].request
    assert isinstance(first, Open)
    with contextlib.ExitStack() as stack:
        for place in _places(path, len(first.scenes)):
            stack.enter_context(claimed_for_a_world(place, overwrite, or_journal=True))
        _replay(journal, first, path, cycles, threads)


def _replay(journal: Journal, first: Open, path: Path, cycles: int | None, threads: int | None) -> None:
    if path.suffix.lower() == ".toml":
        write_journal(path, journal)
        print(path)
        return
    made = create_worlds(first.scenes, partial(check_memory, first.scenes))
    lockstep = Lockstep([Simulator(scene, world, threads) for world, scene in made])
    begin = lockstep.cycle
    journal.check_beginning(begin)
    end = journal.cycle if cycles is None else begin + cycles
    edits = [edit for edit in journal.edits[1:] if edit.cycle <= end]
    failure, done = "", 0
    for simulator in lockstep.simulators:
        simulator.compile_missing()
    with kept_from_signals("cycle") as wish, Progress(range(max(end - begin, 0)), "replaying", "cycle") as progress:
        try:
            while not wish:
                while done < len(edits) and edits[done].cycle <= lockstep.cycle:
                    lockstep = edited(lockstep, edits[done].request)
                    done += 1
                progress.reach(lockstep.cycle - begin)
                if lockstep.cycle >= end:
                    break
                lockstep.advance()
            lockstep.verify()
        except SimulationError as error:
            failure = str(error)
        looks = tuple(look for look in journal.looks if look.cycle <= lockstep.cycle)
        past = Journal((journal.edits[0], *edits[:done]), lockstep.cycle, looks)
        paths = _save(path, lockstep, past)
    if failure:
        raise UserError(f"{failure}; {', '.join(map(str, paths))} holds the world at that point")
    if lockstep.cycle < end:
        raise Ended(wish.number, f"stopped after cycle {lockstep.cycle} of {end}; saved {', '.join(map(str, paths))}")
    for saved, world in zip(paths, lockstep.worlds, strict=True):
        print(f"{saved}: after cycle {world.cycle}, with {done} edits")
        print(ledger_text(world))


def _save(path: Path, lockstep: Lockstep, journal: Journal) -> Sequence[Path]:
    """Save all worlds, each with the journal that leads to it. Returns where."""
    places = _places(path, len(lockstep.simulators))
    if len(places) == 1:
        checkpoint.save(path, lockstep.worlds[0], lockstep.scenes[0], journal)
        return places
    for number, (place, simulator) in enumerate(zip(places, lockstep.simulators, strict=True)):
        checkpoint.save(place, simulator.world, simulator.scene, journal.of(number))
    return places


def _places(path: Path, worlds: int) -> Sequence[Path]:
    """Where so many worlds are saved; a journal is one file of all of them."""
    if worlds == 1 or path.suffix.lower() == ".toml":
        return [path]
    return [path.with_stem(f"{path.stem}-{name}") for name in NAMES[:worlds]]

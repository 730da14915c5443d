"""Running worlds from scenes and journals: every command makes them so, and runs them to a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from app.engine import spin_up
from app.engine.creation import create_world, create_worlds
from app.engine.lockstep import Lockstep
from app.engine.memory import NOTHING, Needs, check_memory
from app.engine.player import Player
from app.engine.simulator import Simulator
from app.files.journal import Journal
from app.model.world import World
from app.scene.edits import Open
from app.scene.scene import Scene


def make_worlds(
    scenes: Sequence[Scene],
    threads: int | None = None,
    *,
    shown: bool = False,
    room_for: Sequence[Scene] = (),
    given_back: Needs = NOTHING,
) -> Lockstep:
    """The worlds of one scene, or of several that are compared. Their kernels are not compiled yet.

    Raises `UserError` where one cannot be made, or memory is too small for all of them, or for `room_for`, also with
    what is given back when they are there.
    """
    made = create_worlds(scenes, partial(check_memory, room_for or scenes, shown=shown, given_back=given_back))
    return Lockstep([Simulator(scene, world, threads) for world, scene in made])


class Replay:
    """Replays a journal: begins with its worlds and plays its edits. Kernels are compiled.

    Raises `UserError` where it began with other worlds.
    """

    def __init__(self, journal: Journal, threads: int | None = None, *, shown: bool = False) -> None:
        first = journal.edits[0].request
        assert isinstance(first, Open)
        self.lockstep = make_worlds(first.scenes, threads, shown=shown)
        journal.check_beginning(self.lockstep.cycle)
        self.lockstep.compile_missing()
        self._player = Player(journal.edits, 1)

    @property
    def edits(self) -> int:
        """The number of edits made so far, including the one that opened the worlds."""
        return self._player.done

    def reach(
        self,
        cycle: int,
        wish: object = None,
        *,
        at: Callable[[int], None] = lambda cycle: None,
        within: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Run up to a cycle, or until there is a wish to end. Tells `at` which cycle it is at. Raises `UserError`.

        Each cycle runs `within` what that gives.
        """
        while not wish:
            if self.lockstep.cycle <= cycle:
                self.lockstep = self._player.edit(self.lockstep)
            at(self.lockstep.cycle)
            if self.lockstep.cycle >= cycle:
                break
            with within():
                self.lockstep.advance()
        self.lockstep.verify()


def run_scene(
    scene: Scene,
    cycles: int,
    threads: int | None = None,
    *,
    steps: Callable[[range], Iterable[int]] = iter,
    on_this_core: bool = False,
    with_spin_up: bool = True,
) -> tuple[World, Scene]:
    """The world of a scene after so many cycles, and the scene as it is then.

    `steps` goes over the cycles, and may show how far it is. Kernels are compiled in other processes, unless
    `on_this_core`; without cycles none is needed but for a spin-up, which `with_spin_up` False leaves out. Raises
    `UserError`.
    """
    world, scene = create_world(scene, partial(check_memory, [scene]))
    if not cycles and not (with_spin_up and spin_up.is_due(world, scene)):
        return world, scene.at(world.cycle)
    simulator = Simulator(scene, world, threads)
    if on_this_core:
        simulator.prepare_all()
    else:
        simulator.compile_missing()
    for _ in steps(range(cycles)):
        simulator.advance()
    simulator.verify()
    return simulator.world, simulator.scene

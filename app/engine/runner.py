"""Makes worlds from scenes and journals, and runs them to a cycle, for all commands."""

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

    Raises `UserError` if one cannot be made, or if memory is too small for all of them or for `room_for`, including the
    memory that is given back once they exist.
    """
    made = create_worlds(scenes, partial(check_memory, room_for or scenes, shown=shown, given_back=given_back))
    return Lockstep([Simulator(scene, world, threads) for world, scene in made])


class Replay:
    """Replays a journal: begins with its worlds and plays its edits. Kernels are compiled.

    Raises `UserError` if it began with other worlds.
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
        """Run to a cycle, or until there is a wish to end. Reports each cycle to `at`. Raises `UserError`.

        Each cycle runs inside a context from `within`.
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
    """The world of a scene after a number of cycles, and the scene at that time.

    `steps` iterates over the cycles, and may show progress. Kernels are compiled in other processes, unless
    `on_this_core`. Without cycles they are needed for a spin-up only, which `with_spin_up=False` omits. Raises
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

"""The interface of processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from app.model.layers import LayerDeclaration, declare_layers
from app.model.parameters import Parameters
from app.model.world import World
from app.processes.cycle import Cycle


class ProcessFailure(Exception):
    """A process met a value that is not a finite number, and stopped before writing it."""

    def __init__(self, process: str, row: int, column: int) -> None:
        super().__init__(f"{process}: a value at row {row}, column {column} is not a finite number")
        self.process = process
        self.cell = row, column


class Process(Protocol):
    """Changes a world, one cycle at a time. Its parameters are the group of the scene that has its name.

    All else follows from what it declares here: the scene's groups with the panel, presets and help, the order of the
    cycle, and by its layers saved worlds, snapshots and the ledger.
    """

    name: ClassVar[str]
    after: ClassVar[str]  # the preceding process in a cycle; empty: first
    parameters: ClassVar[type[Parameters]]  # with a switch, `enabled`
    changes: ClassVar[tuple[str, ...]]  # the layers that a step may change

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache. May take seconds."""
        ...

    def step(self, world: World, parameters: Any, cycle: Cycle) -> tuple[str, ...] | None:
        """Advance `world` by one cycle and enter gains and losses in its ledger.

        Returns the layers that it changed in this cycle, where they are not all of `changes`.
        """
        ...


Registered = TypeVar("Registered", bound=Process)

PROCESSES: list[type[Process]] = []  # all registered processes, in the order of a cycle


def register(process: type[Registered]) -> type[Registered]:
    """Register a process with its `layers`. Raises `ValueError` if its name is taken."""
    if process.name in (known.name for known in PROCESSES):
        raise ValueError(f"there is a process '{process.name}' already")
    layers: tuple[LayerDeclaration, ...] = getattr(process, "layers", ())
    declare_layers(*layers)
    PROCESSES[:] = in_order([*PROCESSES, process])
    return process


def in_order(processes: Sequence[type[Process]]) -> list[type[Process]]:
    """Order processes by their `after`. Those that name an unknown process come last."""
    # Sorted by name, so that the order does not depend on imports.
    waiting, order = sorted(processes, key=lambda process: process.name), list[type[Process]]()
    while waiting:
        names = ["", *(process.name for process in order)]
        process = next((process for process in waiting if process.after in names), waiting[0])
        waiting.remove(process)
        order.insert(names.index(process.after) if process.after in names else len(order), process)
    return order


@runtime_checkable
class Varied(Protocol):
    """A process that has two kernels: a quick one for bare ground of one sort, and a richer one for all other ground.

    `prepare` compiles the first of them.
    """

    def prepare_rich(self) -> None:
        """As `prepare`, for the richer kernel."""
        ...

    def asks_for_rich(self, parameters: Any, running: frozenset[str]) -> bool:
        """Whether it needs the richer kernel on any ground, given the running processes."""
        ...


@runtime_checkable
class WithAlternatives(Protocol):
    """A process that has other kernels in the place of its own for some values of its parameters, each on all ground.

    `prepare` and `prepare_rich` compile what it has without them.
    """

    alternatives: ClassVar[tuple[str, ...]]  # how the names of their builds go on after that of the process

    def alternative(self, parameters: Any) -> str:
        """The alternative for these parameters; empty: none."""
        ...

    def prepare_alternative(self, alternative: str, *, rich: bool) -> None:
        """As `prepare`, or as `prepare_rich`, for one of them."""
        ...


@runtime_checkable
class InParts(Protocol):
    """A process with further builds besides its own, which are compiled side by side: each holds other kernels.

    `prepare` compiles what is in none of them.
    """

    parts: ClassVar[tuple[str, ...]]  # names of these builds

    def prepare_part(self, part: str) -> None:
        """As `prepare`, for one of them."""
        ...


@runtime_checkable
class Noting(Protocol):
    """A process that takes note of the world before all processes act in a cycle."""

    def note(self, world: World, cycle: Cycle) -> None:
        """Take note of what the step in this cycle needs, for others in `cycle`."""
        ...


@runtime_checkable
class Fading(Protocol):
    """A process that leaves traces which fade while it is switched off."""

    def fade(self, world: World, parameters: Any) -> bool:
        """Fade its traces by one cycle. Returns whether there were any."""
        ...


@runtime_checkable
class Caching(Protocol):
    """A process that caches data between steps."""

    def release(self) -> None:
        """Release the cached data, when the process is switched off."""
        ...


@runtime_checkable
class Finite(Protocol):
    """A process that can finish."""

    def finished(self, world: World, parameters: Any) -> bool:
        """Whether it has nothing left to do."""
        ...

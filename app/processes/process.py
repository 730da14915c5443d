"""What a process is."""

from typing import Any, ClassVar, Protocol, runtime_checkable

from app.world import World


class ProcessFailure(Exception):
    """A process met a value that is not a finite number, and stopped before writing it."""

    def __init__(self, process: str, row: int, column: int) -> None:
        super().__init__(f"{process}: a value at row {row}, column {column} is not a finite number")


class Process(Protocol):
    """Changes a world, one cycle at a time. Its parameters are the group of the scene that has its name."""

    name: ClassVar[str]
    changes: ClassVar[tuple[str, ...]]  # the layers that a step may change

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache. May take seconds."""
        ...

    def step(self, world: World, parameters: Any) -> None:
        """Advance `world` by one cycle and enter in its ledger what came and went."""
        ...


@runtime_checkable
class Varied(Protocol):
    """A process that has two kernels: a quick one for bare ground of one sort, and a richer one for all other ground.

    `prepare` compiles the first of them.
    """

    def prepare_rich(self) -> None:
        """As `prepare`, for the richer kernel."""
        ...

    def asks_for_rich(self, parameters: Any, running: frozenset[str]) -> bool:
        """Whether it takes the richer kernel whatever lies on the ground, while processes of these names run."""
        ...


@runtime_checkable
class Fading(Protocol):
    """A process that leaves traces which fade while it is switched off."""

    def fade(self, world: World, parameters: Any) -> bool:
        """Let its traces fade by one cycle, and tell whether there were any."""
        ...


@runtime_checkable
class Finite(Protocol):
    """A process that can come to an end by itself."""

    def finished(self, world: World, parameters: Any) -> bool:
        """Whether it has nothing left to do."""
        ...

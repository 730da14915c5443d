"""Braiding: water that splits around bars of its own gravel, and joins again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from app.model.layers import side_by_side
from app.model.parameters import Parameters, described, for_kernel, parameter
from app.model.springs import Spring, read_springs
from app.model.world import World
from app.processes.cycle import Cycle
from app.processes.kinds import account_for
from app.processes.process import register

if TYPE_CHECKING:
    from kernels.braids import Braided

BROUGHT = "brought by rivers"
MOST_STEPS = 64  # in a cycle: for cells an eighth as wide as those of the reference; in finer ones less is carried
MOVED_BED = 0.01  # metres of transport over a cell in a cycle at which its whole bed moves: a stone's thickness


def read_rivers(text: str) -> tuple[Spring, ...]:
    """Where rivers enter the map, and their water. Raises `UserError` if the text is invalid."""
    return read_springs(text, "braiding.springs", "m of water over one cell in a cycle")


class BraidingParameters(Parameters, frozen=True, kw_only=True):
    """Rivers that part into threads where slope and load are high (Murray, Paola 1994)."""

    title: ClassVar[str] = "Braiding"
    section: ClassVar[str] = "processes"

    # fmt: off
    enabled: Annotated[bool, described("rivers that part among bars of loose material and join again")] = False
    springs: Annotated[str, described(
        "position (south, east, from 0 to 1) and water per cycle, in metres over one cell, of each river that comes"
        " onto the map, separated by ';'", check=read_rivers)] = "0.5 0 300"
    transport: Annotated[float, parameter(0.0, 1000.0,
        "loose material that all the water takes from a cell in a cycle, at a slope of 1 %", unit="m", log=True,
        essential=True)] = 8.0
    lateral: Annotated[float, parameter(0.0, 100.0, "how readily banks slide into the water beside them", log=True,
        essential=True)] = 2.0
    overcome: Annotated[float, parameter(0.0, 0.1, "upward slope over which water still carries", log=True)] = 0.002
    load: Annotated[float, parameter(0.0, 1.0,
        "gravel that the rivers bring in, as a part of what they take from where they come in")] = 1.0
    regrowth: Annotated[float, parameter(1.0, 1e6,
        "cycles in which plants come back to two thirds of the ground that was moved", unit="cycles", log=True)] = 150.0
    memory: Annotated[float, parameter(0.001, 1.0, "weight of the latest cycle in the threads shown", log=True)] = 0.1
    # fmt: on


@register
class Braiding:
    """Lets rivers of a world braid, one cycle at a time."""

    name: ClassVar[str] = "braiding"
    after: ClassVar[str] = "droplets"
    parameters: ClassVar[type[Parameters]] = BraidingParameters
    changes: ClassVar[tuple[str, ...]] = ("sediment", *side_by_side("flow"), "reworked")

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        from kernels import braids

        plain = np.add.outer(np.zeros(12), np.arange(12.0, 0.0, -1.0))
        world, parameters = World(plain, np.ones((12, 12)), cell_size=10.0, seed=0), BraidingParameters()
        self.step(world, parameters, Cycle())
        braids.part(world.ground, world.cell_size, _sources(world, parameters))  # as it is drawn

    def step(self, world: World, parameters: BraidingParameters, cycle: Cycle) -> None:
        """Advance `world` by the water of one cycle.

        Water and gravel go by the metre of width: through cells of any size as much passes over each metre, and banks
        slide as far. No more than a part of the fall from cell to cell is carried at a time, or the bed would
        oscillate: a smaller part in cells larger than those of the reference, and in finer ones the same part more
        often.
        """
        from kernels import braids

        finer, steps = world.refinement, _steps_of(world)
        kernel_parameters = for_kernel(
            braids.BraidParameters,
            parameters,
            transport=parameters.transport * finer ** (1.0 + braids.EXPONENT) / steps,
            largest_part=braids.LARGEST_PART * min(1.0, finer**2),
        )
        carried, sources, still = np.zeros(world.shape), _sources(world, parameters), world.sheltered
        for _ in range(steps):
            braided = braids.braid(
                world.bedrock,
                world.sediment,
                world.ground,
                world.material_fields(),
                world.cell_size,
                sources,
                kernel_parameters,
                sea_level=cycle.edges.sea,
                open_edges=cycle.edges.water != "wall",
                rates=world.unsheltered,
                still=still,
                scratch=cycle.scratch,
            )
            account_for(world, "", braided.moved, blown_in=BROUGHT)
            carried.reshape(-1)[braided.cells] += braided.carried
        _show(world, braided, carried, parameters, among_drops=self.after in cycle.running)

    def fade(self, world: World, parameters: BraidingParameters) -> bool:
        """Age reworked ground, so that plants return."""
        if "reworked" not in world.layers or not world.layers["reworked"].any():
            return False
        _age(world, parameters)
        return True


def _sources(world: World, parameters: BraidingParameters) -> NDArray[np.float64]:
    """The water that comes to each cell, in metres, [row, column].

    A river is as wide where it comes in as a cell of the reference, in finer cells too.
    """
    sources = np.zeros(world.shape)
    for spring in read_rivers(parameters.springs):
        width = max(world.refinement, 1.0)
        rows, columns = (_shares(*one, width) for one in zip((spring.south, spring.east), world.shape, strict=True))
        there = np.ix_(np.flatnonzero(rows), np.flatnonzero(columns))
        sources[there] += spring.drops * world.refinement**2 * np.outer(rows, columns)[there]
    return sources


def _shares(place: float, cells: int, width: float) -> NDArray[np.float64]:
    """The part of each cell of a row in the piece of `width` cells that a place from 0 to 1 lies in; 1 in sum."""
    first = math.floor(min(place * cells / width, math.ceil(cells / width) - 1)) * width
    shares: NDArray[np.float64] = np.diff(np.clip(np.arange(cells + 1.0), first, first + width))
    shares /= shares.sum()
    return shares


def _steps_of(world: World) -> int:
    """How often the bed is worked out anew in a cycle, by the limit of explicit diffusion (Courant et al. 1928)."""
    return max(1, min(math.ceil(world.refinement**2 - 1e-6), MOST_STEPS))


def _show(
    world: World,
    braided: Braided,
    carried: NDArray[np.float64],
    parameters: BraidingParameters,
    *,
    among_drops: bool,
) -> None:
    """Update the traces of flow and reworked ground from the threads, and all that they `carried`, [row, column]."""
    reworked = _age(world, parameters)
    np.maximum(reworked, np.minimum(carried / MOVED_BED, 1.0).astype(np.float32), out=reworked)
    follow_threads(world, braided.water > 0.0, braided.water, parameters.memory, among_drops=among_drops)


def _age(world: World, parameters: BraidingParameters) -> NDArray[np.float32]:
    """Age reworked ground by a cycle."""
    from kernels import braids

    reworked: NDArray[np.float32] = world.trace("reworked")
    braids.fade(reworked, np.float32(math.exp(-1.0 / parameters.regrowth)))
    return reworked


def follow_threads(
    world: World, stream: NDArray[Any], discharge: NDArray[Any], weight: float, *, among_drops: bool
) -> None:
    """Move the traces of flow towards those of the threads, by a weight.

    With drops, only where threads have run; elsewhere drops maintain the traces.
    """
    from kernels import braids

    world.pack("flow")
    braids.follow(
        np.ascontiguousarray(stream, np.float32),
        np.ascontiguousarray(discharge, np.float32),
        np.float32(weight),
        among_drops,
        world.trace("reworked"),
        world.layers["stream"],
        world.layers["discharge"],
    )

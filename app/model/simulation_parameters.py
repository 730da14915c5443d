"""How the simulation runs, as parameters."""

from typing import Annotated, ClassVar

from app.model.parameters import Parameters, parameter


class SimulationParameters(Parameters, frozen=True, kw_only=True):
    """Pace and threads. Neither changes a result, only how fast it is computed."""

    title: ClassVar[str] = "Simulation"
    section: ClassVar[str] = "performance"

    # fmt: off
    cycles_per_frame: Annotated[int, parameter(0, 100,
        "cycles per 1/60 s in the window, per frame of a clip; 0 means as fast as possible")] = 0
    frames_per_cycle: Annotated[int, parameter(1, 600,
        "slow motion in the window: how many 1/60 s its cycles take, where it is not as fast as possible", log=True,
        needs="simulation.cycles_per_frame")] = 1
    threads: Annotated[int, parameter(0, 256, "threads of the simulation; 0 means one per core")] = 0
    # fmt: on

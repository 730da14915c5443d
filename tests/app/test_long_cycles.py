"""A cycle that takes long tells how far it is, and can be given up."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from app.engine.messages import GivenUp, Open, Run, Step
from app.engine.session import Session
from app.engine.simulator import CycleWasGivenUp, Simulator
from app.processes.process import Process
from tests import waiting
from tests.app.small import bits, simulated, small_scene

MANY = 100_000  # drops: more than are done before another thread has said that they are not wanted


def test_a_cycle_that_is_given_up_in_its_midst_has_not_begun() -> None:
    simulator, undisturbed = simulated(2), simulated(2)
    before = bits(simulator.world)
    calm = simulator.scene
    simulator.change(calm.with_value("droplets.count", MANY))

    def give_up() -> None:
        waiting.wait_for(lambda: (far := simulator.so_far()) is not None and far.process == "droplets", "the droplets")
        simulator.give_up_cycle()

    impatient = threading.Thread(target=give_up)
    impatient.start()
    with pytest.raises(CycleWasGivenUp, match="cycle 3 was given up"):
        simulator.advance()
    impatient.join()
    assert bits(simulator.world) == before and simulator.so_far() is None
    simulator.change(calm)
    for each in (simulator, undisturbed):
        each.advance()
    assert bits(simulator.world) == bits(undisturbed.world)


def test_a_session_pauses_before_the_cycle_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[Any] = []
    scene = small_scene(cascade__enabled=True)
    session = Session((scene,), reports.append)
    session.showing.first_picture_shown.set()
    session.ask(Open((scene,)))
    session.ask(Run())
    waiting.wait_for(lambda: session.step() is not None and session.status.cycle >= 2, "two cycles")
    assert session.lockstep is not None
    (simulator,) = session.lockstep.simulators
    step, cycle, state = Simulator._step, session.status.cycle, bits(simulator.world)

    def impatient(self: Simulator, process: Process) -> None:
        if far := self.so_far():  # none in cycles that are run again
            assert far.process == process.name and far.seconds >= 0.0
            self.give_up_cycle()  # what follows on this process is not wanted
        step(self, process)

    monkeypatch.setattr(Simulator, "_step", impatient)
    session.step()
    assert reports[-1] == GivenUp(cycle + 1)
    assert session.pace.is_paused and session.status.state == "paused" and session.status.cycle == cycle
    assert bits(session.lockstep.worlds[0]) == state
    monkeypatch.setattr(Simulator, "_step", step)
    session.ask(Step())
    waiting.wait_for(lambda: session.step() is not None and session.status.cycle == cycle + 1, "the cycle")

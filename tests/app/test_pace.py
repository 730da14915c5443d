"""When pictures are begun, by a clock that the test turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from app.model.parameters import Value
from app.scene.scene import Scene
from app.window import pace
from app.window.application import Application
from app.window.commands.running import FULL_SPEED, SPEEDS, change_speed
from app.window.pace import FEWEST, SHARE, SLICE, Pace


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(pace.time, "perf_counter", lambda: self.now)

    def draw(self, paced: Pace, *slices: float, between: float = 0.0) -> None:
        paced.begin_picture()
        for seconds in slices:
            paced.begin_work()
            self.now += seconds
            paced.end_work()
            self.now += between


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_the_first_picture_is_due_at_once(clock: Clock) -> None:
    assert Pace().rest(shared=True) == 0.0


def test_pictures_take_their_share_of_the_time_and_no_more(clock: Clock) -> None:
    paced = Pace()
    clock.draw(paced, 0.010, 0.005)
    assert paced.rest(shared=True) == pytest.approx(0.015 / SHARE - 0.015)
    clock.now += paced.rest(shared=True)
    assert paced.rest(shared=True) == 0.0


def test_work_alone_counts_and_not_what_came_between(clock: Clock) -> None:
    paced = Pace()
    clock.draw(paced, 0.010, 0.010, between=0.004)
    assert paced.rest(shared=True) == pytest.approx(0.020 / SHARE - 0.028)


def test_a_long_picture_is_followed_soon_enough(clock: Clock) -> None:
    paced = Pace()
    clock.draw(paced, 0.070)
    assert paced.rest(shared=True) == pytest.approx(1.0 / FEWEST - 0.070)
    clock.draw(paced, 0.5)
    assert paced.rest(shared=True) == 0.0


def test_what_shares_no_cores_does_not_wait(clock: Clock) -> None:
    paced = Pace()
    clock.draw(paced, 0.010)
    assert paced.rest(shared=False) == 0.0


def test_a_slice_is_over_after_its_time(clock: Clock) -> None:
    paced = Pace()
    paced.begin_picture()
    paced.begin_work()
    assert not paced.slice_is_over
    clock.now += 1.01 * SLICE
    assert paced.slice_is_over
    paced.end_work()
    paced.begin_work()
    assert not paced.slice_is_over


class _Seen:
    """What the command for the pace reads and changes of an application."""

    def __init__(self, cycles: int, frames: int = 1, *, cycles_per_second: float = 0.0, state: str = "running") -> None:
        values = {"simulation.cycles_per_frame": cycles, "simulation.frames_per_cycle": frames}
        self.documents = SimpleNamespace(scene=Scene().with_values(values))
        self.simulation = SimpleNamespace(status=SimpleNamespace(cycles_per_second=cycles_per_second, state=state))
        self.editing = SimpleNamespace(change_together=self.change_together)

    def change_together(self, values: dict[str, Value], name: str) -> None:
        self.documents.scene = self.documents.scene.with_values(values)

    @property
    def pace(self) -> tuple[int, int]:
        simulation = self.documents.scene.simulation
        return simulation.cycles_per_frame, simulation.frames_per_cycle


def test_slower_and_faster_go_from_one_cycle_in_a_second_to_full_speed() -> None:
    seen = _Seen(0, state="paused")
    paces = [seen.pace]
    for _ in range(2 * len(SPEEDS)):
        change_speed(cast(Application, seen), -1)
        paces.append(seen.pace)
    assert paces[: len(SPEEDS)] == list(reversed(SPEEDS))
    assert paces[-1] == SPEEDS[0] == (1, 60)
    for _ in range(2 * len(SPEEDS)):
        change_speed(cast(Application, seen), +1)
    assert seen.pace == FULL_SPEED
    seen = _Seen(3)
    change_speed(cast(Application, seen), +1)
    assert seen.pace == (5, 1)


def test_slower_than_full_speed_is_slower_than_what_the_machine_does() -> None:
    seen = _Seen(0, cycles_per_second=8.0)  # a cycle of 120 ms
    change_speed(cast(Application, seen), -1)
    cycles, frames = seen.pace
    assert cycles / frames * 60.0 < 8.0 and (cycles, frames) == (1, 20)

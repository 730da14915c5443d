"""When pictures are begun, by a clock that the test turns."""

from __future__ import annotations

import pytest

from app.window import pace
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

"""What is said to the person: the newest, each once, and not for ever."""

from __future__ import annotations

import math
from typing import Any

import pytest

from app.window import notices
from app.window.notices import MOST_SHOWN, Notices


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(notices.time, "monotonic", clock.monotonic)
    return clock


class Guarded(Notices):
    """Whose list only who holds the lock may read and change."""

    def __getattribute__(self, name: str) -> Any:
        assert name != "_shown" or self._lock._is_owned()  # type: ignore[attr-defined]
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: object) -> None:
        assert name != "_shown" or "_lock" not in vars(self) or self._lock._is_owned()  # type: ignore[attr-defined]
        super().__setattr__(name, value)


def test_no_thread_changes_what_another_one_is_at() -> None:
    said = Guarded()
    said.say("saved")
    said.warn("rounded")
    assert said.complain("no space")
    said.dismiss(said.shown()[0])
    assert said.rest > 0.0
    assert said.dismiss_all()


def test_the_newest_are_shown_and_what_is_said_again_is_counted() -> None:
    said = Notices()
    for number in range(5):
        said.complain(f"error {number}")
    assert [notice.text for notice in said.shown()] == ["error 2", "error 3", "error 4"][-MOST_SHOWN:]
    assert said.complain("another") and not said.complain("error 4") and not said.complain("error 4")
    assert said.shown()[-1].line == "error 4  (×3)"
    assert [notice.text for notice in said.shown()].count("error 4") == 1


def test_each_kind_fades_in_its_time_and_an_error_last(clock: Clock) -> None:
    said = Notices()
    said.complain("bad")
    said.warn("odd")
    said.say("done")
    assert said.rest == pytest.approx(6.0 - 0.7)
    lasted = {}
    for _ in range(200):
        clock.now += 0.5
        for notice in said.shown():
            lasted[notice.text] = clock.now - 100.0
    assert lasted["done"] < lasted["odd"] < lasted["bad"] == pytest.approx(60.0, abs=0.6)
    assert said.rest == math.inf


def test_what_is_said_again_stays_longer_and_all_can_be_dismissed(clock: Clock) -> None:
    said = Notices()
    said.complain("bad")
    clock.now += 50.0
    said.complain("bad")
    clock.now += 50.0
    assert said.shown()
    said.say("done")
    assert said.dismiss_all() and [notice.text for notice in said.shown()] == ["done"]
    assert not said.dismiss_all()

"""What is seen belongs to one land at any moment: its ground, its view, its camera and its name."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest

from app.engine import answers
from app.scene.scene import Scene
from app.window.viewer import Viewer
from tests.gui.host import SMALL, Driver, drive

COLUMNS = {"first": 64, "second": 40, "third": 56}


def land(name: str) -> Scene:
    """One that is known by its columns, its exaggeration and its view."""
    values = {"world.columns": COLUMNS[name], "view.exaggeration": COLUMNS[name] / 40.0, "droplets.enabled": False}
    return msgspec.structs.replace(SMALL.with_values({**values, "camera.pitch": COLUMNS[name] - 20.0}), name=name)


def seen(viewer: Viewer) -> dict[str, Any]:
    """Which land ground, view, camera and title are of; without the ground where there is none yet."""
    application, snapshot = viewer.application, viewer.application.snapshot
    if snapshot is None:
        return {}
    return {
        "ground": next(name for name, columns in COLUMNS.items() if columns == snapshot.shape[1]),
        "view": application.documents.seen_scene.name,
        "title": viewer.title.removeprefix("Thalweg – ").partition(" – ")[0].partition(",")[0],
        "camera": next(
            name for name, columns in COLUMNS.items() if abs(application.camera.parameters().pitch - columns + 20) < 1.0
        ),
    }


@pytest.mark.parametrize("is_first_seen", [True, False])
def test_what_is_seen_is_of_one_land_while_others_come(is_first_seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    may_make = {name: threading.Event() for name in COLUMNS}
    make_worlds = answers.make_worlds

    def made_late(scenes: tuple[Scene, ...], **settings: Any) -> Any:
        may_make[scenes[0].name].wait()
        return make_worlds(scenes, **settings)

    monkeypatch.setattr(answers, "make_worlds", made_late)

    def test(driver: Driver) -> None:
        application = driver.application
        grounds = []

        def comes(name: str) -> bool:
            now = seen(driver.viewer)
            if now:
                assert set(now.values()) == {now["ground"]}, now
                grounds.append(now["ground"])
            return bool(grounds) and grounds[-1] == name

        try:
            if is_first_seen:
                may_make["first"].set()
                driver.wait_for(lambda: comes("first"), "the first land")
                driver.engine.yield_(4)
            application.open(land("second"))
            driver.engine.yield_(2)
            application.open(land("third"))
            for name in COLUMNS:
                for _ in range(4):
                    comes("none")
                    driver.engine.yield_()
                if name != "third" and grounds:
                    assert driver.viewer.title.partition(" – cycle")[0].endswith("opening third")
                may_make[name].set()
                driver.wait_for(lambda name=name: comes(name), f"the land {name}")
            assert list(dict.fromkeys(grounds)) == list(COLUMNS)
            assert application.documents.are_shown and application.documents.name == "third"
        finally:
            for each in may_make.values():
                each.set()

    drive(test, land("first"))

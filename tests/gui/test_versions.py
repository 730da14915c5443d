"""Versions: named states that are kept with the session, gone back to, and seen side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.engine.creation import create_worlds
from app.files import checkpoint
from app.model.errors import UserError
from app.scene.edits import Blur
from app.window.application import Application
from app.window.versions import FOLDER, Versions, read_versions
from tests.app.small import simulated, small_scene
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_brushes import ground
from tests.gui.test_rivers import have_land
from tests.nets.profile import is_nightly

SCENE = SMALL.with_values({"view.quality": "low", "droplets.enabled": False})


def versions_in(application: Application, session: Path) -> Versions:
    """Versions that lie in the folder of a session."""
    versions = Versions(
        application.simulation,
        application.documents,
        application.views,
        application.stock,
        application.notices,
        lambda scenes: application.open(*scenes),
    )
    versions._session = session
    return versions


def test_a_version_is_kept_gone_back_to_and_seen_beside_another(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        versions = application.versions = versions_in(application, tmp_path / "session")
        grounds = []
        driver.engine.yield_(4)
        driver.press("Shift+V")
        for name in ("", "after the blur"):
            driver.engine.set_ref("//###versions")
            if name:
                driver.engine.item_input_value("##name", name)  # and Enter
            else:
                driver.engine.item_click("Keep")
            count = len(grounds) + 1
            driver.wait_for(lambda count=count: len(versions.entries) == count, f"version {count}")
            grounds.append(ground(application))
            if not name:
                cycle = application.simulation.status.cycle
                application.documents.ask_as_step(Blur(), "blur")
                driver.wait_for(lambda: not np.array_equal(ground(application), grounds[0]), "the blur")
                driver.engine.yield_(4)
        first, second = versions.entries
        assert (first.name, second.name, second.cycle) == ("version 1", "after the blur", cycle + 1)
        driver.wait_for(lambda: all(versions.picture(each).exists() for each in versions.entries), "their pictures")

        versions.go_to(first)
        driver.wait_for(
            lambda: application.documents.are_shown and np.array_equal(ground(application), grounds[0]), "the first"
        )
        assert application.documents.name == "version 1" and application.undo.done[-1].name == "open version 1"
        with pytest.raises(UserError, match="choose two"):
            versions.side_by_side()
        for version in versions.entries:
            versions.choose(version)
        driver.engine.set_ref("//###versions")
        driver.engine.item_click("Side by side")
        driver.wait_for(
            lambda: application.documents.are_shown and len(application.sides.snapshots) == 2, "both side by side"
        )
        for snapshot, kept in zip(application.sides.snapshots, grounds, strict=True):
            assert np.array_equal(snapshot.ground(), kept.astype(np.float32))
        driver.press("Esc")
        assert not versions.is_open

        later = versions_in(application, tmp_path / "later")
        later.take_over(tmp_path / "session")
        assert [version.name for version in read_versions(tmp_path / "later" / FOLDER)] == [first.name, second.name]
        later.remove(later.entries[0])
        assert [version.name for version in read_versions(tmp_path / "later" / FOLDER)] == [second.name]
        assert all(versions.picture(each).exists() for each in versions.entries)

    drive(test, SCENE, draws_land=is_nightly())


def test_saved_worlds_of_several_cycles_go_on_with_one_count(tmp_path: Path) -> None:
    scenes = []
    for cycles, columns in ((1, 40), (3, 40), (1, 48)):
        simulator = simulated(cycles, small_scene(world__columns=columns))
        path = tmp_path / f"{cycles}-{columns}.npz"
        checkpoint.save(path, simulator.world, simulator.scene)
        scenes.append(checkpoint.load_scene(path))
    (one, _), (other, _) = create_worlds(scenes[:2], lambda rows, columns: None)
    assert one.cycle == other.cycle == 1 and not np.array_equal(one.ground, other.ground)
    with pytest.raises(UserError, match="different cells"):
        create_worlds(scenes[1:], lambda rows, columns: None)

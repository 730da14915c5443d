"""Undo, redo and the time line, as a person uses them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest
from imgui_bundle import imgui

from app.engine.autosave import SessionFolder, ended_sessions
from app.engine.compressed import Compressed, spill
from app.engine.creation import create_world
from app.engine.messages import Request
from app.engine.simulator import Simulator
from app.engine.stored_world import StoredWorld
from app.files.journal import Journal
from app.files.opening import is_journal, read_journal
from app.files.scratch import scratch_folder
from app.model.camera_path import read_camera_path
from app.model.view_parameters import CameraParameters
from app.scene.edits import Blur, Change, Edit, Open
from app.scene.scene import curve_of
from app.window.application import Application
from app.window.camera_moves import ALONG_WATER, OVER_LAND
from app.window.commands import camera, changes, files, moments
from app.window.panel.timeline import HEIGHT, pixels_of
from app.window.sessions import Sessions
from app.window.undo import LandStep, ValueStep
from tests.gui.host import SMALL, Driver, drive
from tests.gui.test_panel import WITHOUT_DROPS, have_land, running_scene
from tests.nets.profile import is_nightly
from tests.waiting import wait_for


def settled(driver: Driver) -> None:
    """Wait until the land that was asked for is there."""
    application = driver.application
    driver.engine.yield_(3)
    driver.wait_for(
        lambda: not application.history.is_going and application.documents.are_shown, "the land that was asked for"
    )
    driver.engine.yield_(3)


def run_to(driver: Driver, cycle: int) -> None:
    """Let cycles run, and pause."""
    application = driver.application
    driver.press("Space")
    driver.wait_for(lambda: application.simulation.status.cycle >= cycle, "cycles")
    driver.press("Space")
    driver.wait_for(lambda: application.simulation.status.state == "paused", "a pause")
    settled(driver)


def paused(driver: Driver) -> Application:
    application = have_land(driver)
    if not application.simulation.paused:
        driver.press("Space")
    driver.wait_for(lambda: application.simulation.status.state == "paused", "a pause")
    return application


def test_a_drag_on_a_slider_is_one_step_that_can_be_undone_and_done_again() -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        before = application.documents.scene.droplets.friction
        driver.engine.item_drag_with_delta(driver.widget("droplets.friction"), imgui.ImVec2(60.0, 0.0))
        driver.engine.yield_(2)
        after = application.documents.scene.droplets.friction
        assert after != before
        (step,) = application.undo.done
        assert isinstance(step, ValueStep) and step.name.startswith("friction")
        driver.press("Ctrl+Z")
        driver.engine.yield_(2)
        assert application.documents.scene.droplets.friction == before
        driver.wait_for(lambda: running_scene(application).droplets.friction == before, "what the simulation was told")
        driver.press("Ctrl+Shift+Z")
        driver.engine.yield_(2)
        driver.wait_for(lambda: running_scene(application).droplets.friction == after, "what the simulation was told")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_new_seed_a_reset_and_a_blur_are_undone_to_the_land_of_before() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        run_to(driver, 5)
        cycle, seed = application.simulation.status.cycle, application.documents.scene.world.seed
        assert application.snapshot is not None
        there = application.snapshot.layers["bedrock"].copy()
        for key, name in (("N", "new seed"), ("R", "reset"), ("B", "blur")):
            driver.press(key)
            settled(driver)
            driver.wait_for(lambda: bool(application.undo.done), "a step")
            step = application.undo.done[-1]
            assert isinstance(step, LandStep) and step.name == name
            driver.press("Ctrl+Z")
            settled(driver)
            assert application.simulation.status.cycle == cycle
            assert application.documents.scene.world.seed == seed
            driver.wait_for(
                lambda: (
                    application.snapshot is not None
                    and application.snapshot.cycle == cycle
                    and bool((application.snapshot.layers["bedrock"] == there).all())
                ),
                "the land of before",
            )
        driver.press("Ctrl+Shift+Z")
        settled(driver)
        driver.wait_for(lambda: application.simulation.status.cycle == cycle + 1, "the blurred land")

    drive(test, SMALL, draws_land=False)


def test_a_change_before_a_moment_is_seen_to_have_come_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def test(driver: Driver) -> None:
        application, may_change = paused(driver), threading.Event()
        run_to(driver, 4)
        session = application.simulation.session
        ask = session.ask

        def held_up(request: Request) -> None:
            if isinstance(request, Change):
                may_change.wait()
            ask(request)

        monkeypatch.setattr(session, "ask", held_up)
        showing = session.showing  # what is full of an older land would not take that of the moment
        driver.wait_for(lambda: not (showing.is_old or showing.publisher.is_full), "all land that there was")
        cycle = application.simulation.status.cycle - 1
        moments.step_back(application)
        try:
            simulation = application.simulation  # no frame sees it yet
            wait_for(lambda: session.travel is None and simulation.status.cycle == cycle, "the moment")
            wait_for(lambda: showing.publisher.is_full, "its land")  # which the session that is held up shows first
            application.editing.change("simulation.frames_per_cycle", 7)
            settled(driver)
            seen = application.documents.scene.simulation.frames_per_cycle
        finally:
            may_change.set()
        assert seen == 7
        driver.wait_for(lambda: application.documents.scene == application.simulation.scenes[0], "the change")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_undo_goes_back_over_worlds_of_other_sizes() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        changes.change(application, "world.columns", 40)
        changes.change(application, "world.rows", 24)
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.shape == (24, 40), "a world")
        settled(driver)
        files.open(application, "diamond-square")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.shape[0] > 100, "another")
        settled(driver)
        driver.press("Ctrl+Z")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.shape == (24, 40), "back")
        settled(driver)
        assert application.documents.scene.world.columns == 40
        driver.press("Ctrl+Z")
        driver.wait_for(lambda: application.snapshot is not None and application.snapshot.shape == (48, 64), "first")
        settled(driver)
        assert application.documents.scene.world.columns == 64
        assert not application.undo.done

    drive(test, SMALL, draws_land=is_nightly())


def test_a_comparison_can_be_undone() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        driver.press("C")
        driver.wait_for(lambda: len(application.sides.shown) == 2, "two worlds")
        settled(driver)
        driver.press("Ctrl+Z")
        driver.wait_for(lambda: len(application.sides.shown) == 1, "one world")
        settled(driver)
        assert len(application.documents.scenes) == 1
        driver.press("Ctrl+Shift+Z")
        driver.wait_for(lambda: len(application.sides.shown) == 2, "two worlds")
        settled(driver)
        assert application.documents.edited in application.documents.choices

    drive(test, SMALL, draws_land=is_nightly())


def test_the_strip_is_dragged_to_another_cycle() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        run_to(driver, 30)
        last = application.simulation.status.cycle
        place, size = strip(driver)
        driver.engine.mouse_move_to_pos(imgui.ImVec2(place.x + 0.5 * size.x, place.y + 0.5 * size.y))
        driver.engine.mouse_down(0)
        driver.engine.yield_(3)
        driver.engine.mouse_move_to_pos(imgui.ImVec2(place.x + 0.25 * size.x, place.y + 0.5 * size.y))
        driver.engine.yield_(3)
        driver.engine.mouse_up(0)
        settled(driver)
        driver.wait_for(lambda: abs(application.simulation.status.cycle - last / 4) <= 1, "a quarter of the way")
        assert application.simulation.paused
        cycle = application.simulation.status.cycle
        driver.press(",")
        settled(driver)
        assert application.simulation.status.cycle == cycle - 1
        driver.press("H")
        driver.engine.yield_(2)
        assert not application.panel.timeline_visible

    drive(test, SMALL, draws_land=False)


def test_going_on_from_the_past_makes_a_branch_that_can_be_left_and_thrown_away() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        run_to(driver, 10)
        status = application.simulation.status
        changes.change(application, "droplets.count", 7)
        driver.wait_for(lambda: application.simulation.status.moment.edits == 2, "an edit")
        run_to(driver, status.cycle + 5)
        old = application.simulation.status.moment
        moments.go_to_cycle(application, old.branch, 3)
        settled(driver)
        assert application.documents.scene.droplets.count != 7
        run_to(driver, 5)
        new = application.simulation.status.moment
        assert new.branch != old.branch
        moments.go_to_cycle(application, old.branch, old.cycle)
        settled(driver)
        assert application.documents.scene.droplets.count == 7
        moments.discard_branch(application, new.branch)
        driver.wait_for(lambda: new.branch not in application.simulation.status.timeline.branches, "one branch")

    drive(test, SMALL, draws_land=False)


def strip(driver: Driver) -> tuple[imgui.ImVec2, imgui.ImVec2]:
    """Where the strip is, and its size."""
    driver.engine.set_ref("//time line")
    info = driver.engine.item_info("strip")
    low, high = info.rect_full.min, info.rect_full.max
    assert high.y - low.y < imgui.get_font_size() * HEIGHT
    return low, imgui.ImVec2(high.x - low.x, high.y - low.y)


def test_a_session_that_was_killed_is_offered_and_gone_on_with(tmp_path: Path) -> None:
    session = SessionFolder(tmp_path)
    world, scene = create_world(SMALL)
    simulator = Simulator(scene, world)
    simulator.advance()
    simulator.advance()
    session.write("hills", [StoredWorld.of(simulator)] * 2, Journal((Edit(0, Open((scene,) * 2)),), 2))
    os.close(session._lock)

    def test(driver: Driver) -> None:
        application = paused(driver)
        application.sessions = Sessions(
            lambda: ended_sessions(tmp_path), lambda scenes: application.open(*scenes), application.versions.take_over
        )
        application.sessions.offer()
        driver.engine.yield_(3)
        driver.engine.item_click("//###sessions/**/Go on with it")
        driver.wait_for(lambda: len(application.sides.shown) == 2, "both worlds")
        settled(driver)
        assert application.simulation.status.cycle == 2
        assert not application.sessions.listed
        application.sessions.offer()
        assert not application.sessions.listed, "it is settled"
        driver.press("Ctrl+Shift+O")
        driver.wait_for(lambda: len(application.sessions.listed) == 1, "a list of what there is")
        driver.press("Esc")
        driver.wait_for(lambda: not application.sessions.listed, "no list")

    drive(test, SMALL, draws_land=False)


def test_a_parameter_gets_keys_and_follows_them() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        changes.set_key(application, "droplets.friction")
        first = application.documents.scene.droplets.friction
        run_to(driver, 20)
        cycle = application.simulation.status.cycle
        changes.change(application, "droplets.friction", 0.7)  # which is a key here
        assert [key.cycle for key in curve_of(application.documents.scene, "droplets.friction")] == [0, cycle]
        changes.change(application, "keys.droplets.evaporation", "0: 0.001; 5000: 0.01")
        changes.change(application, "droplets.evaporation", 0.004)  # which it keeps: what was to come is given up
        assert [key.cycle for key in curve_of(application.documents.scene, "droplets.evaporation")] == [0, cycle]
        driver.engine.yield_(3)
        assert application.documents.scene.droplets.friction == 0.7
        moments.go_to_cycle(application, application.simulation.status.moment.branch, 0)
        settled(driver)
        driver.wait_for(lambda: application.documents.scene.droplets.friction == first, "the first key")
        driver.press("Ctrl+Z")  # which takes the second key back, on the land of the first cycle
        driver.engine.yield_(3)
        driver.press("Ctrl+Z")
        driver.press("Ctrl+Z")
        driver.engine.yield_(3)
        assert len(curve_of(application.documents.scene, "droplets.friction")) <= 1

    drive(test, SMALL, draws_land=False)


def test_the_camera_gets_keys_and_follows_them_while_cycles_run() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        driver.press("K")
        first = application.camera.parameters()
        application.camera.open(replace_heading(first, (first.heading + 90.0) % 360.0))
        run_to(driver, 20)
        driver.press("K")
        cycle = application.simulation.status.cycle
        assert [key.cycle for key in read_camera_path(application.documents.scene.view.camera_path)] == [0, cycle]
        driver.press("Shift+K")
        moments.go_to_cycle(application, application.simulation.status.moment.branch, 0)
        settled(driver)
        driver.wait_for(lambda: abs(application.camera.parameters().heading - first.heading) < 1.0, "the first key")
        assert application.camera_follow.following
        place = imgui.ImVec2(300.0, 200.0)
        driver.engine.mouse_move_to_pos(place)
        driver.engine.mouse_down(0)
        driver.engine.mouse_move_to_pos(imgui.ImVec2(360.0, 210.0))
        driver.engine.yield_(2)
        driver.engine.mouse_up(0)
        driver.engine.yield_(2)
        assert not application.camera_follow.following  # the hand is on it
        for move in (*OVER_LAND, *ALONG_WATER):
            camera.move_camera(application, move, 60)
        assert len(read_camera_path(application.documents.scene.view.camera_path)) > 2

    drive(test, SMALL, draws_land=is_nightly())


def replace_heading(view: CameraParameters, heading: float) -> CameraParameters:
    return msgspec.structs.replace(view, heading=heading)


def test_the_journal_is_saved_alone(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        driver.press("B")
        driver.wait_for(lambda: application.simulation.status.cycle == 1, "the blurred land")
        driver.save(tmp_path / "story.journal.toml")
        driver.wait_for((tmp_path / "story.journal.toml").exists, "the file")
        driver.save(tmp_path / "preset.toml")
        driver.wait_for((tmp_path / "preset.toml").exists, "the file")

    drive(test, SMALL, draws_land=False)
    assert [type(edit.request) for edit in read_journal(tmp_path / "story.journal.toml").edits] == [Open, Blur]
    assert not is_journal(tmp_path / "preset.toml")


def test_a_key_that_is_far_away_is_looked_at() -> None:
    def test(driver: Driver) -> None:
        application = paused(driver)
        path = "0: 10 40 1 0.5 0.5; 3000: 200 40 1 0.5 0.5"
        changes.change(application, "view.camera_path", path)
        application.camera_follow.look_at_key(3000)
        assert abs(application.camera.parameters().heading - 200.0) < 1.0
        assert not application.camera_follow.following

    drive(test, SMALL, draws_land=False)


def test_small_maps_are_black_where_the_caches_were_removed() -> None:
    image = Compressed(np.full((4, 5, 3), 7, np.uint8))
    spill([image])
    assert pixels_of(image) == bytes([7]) * 60
    for path in scratch_folder().glob("*.states"):
        path.unlink()
    assert pixels_of(image) == bytes(60)

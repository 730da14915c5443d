"""A view that moves is drawn in fewer pixels by a software rasteriser, and as it should be once it rests."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from app.model.snapshot import Snapshot
from app.picture.crop import Crop
from app.picture.passes.declaration import Frame, Shot
from app.picture.passes.quality import BY_NAME, Haste, Quality
from app.picture.picture import Picture
from app.window.drawing import Drawing
from app.window.events import KeyPressed
from app.window.pace import Pace
from tests.gui.host import COARSE, SMALL, Driver, drive
from tests.gui.test_rivers import MIDDLE, have_land

SCENE = SMALL.with_value("droplets.enabled", False)


@pytest.mark.parametrize("recorded", [False, True])
def test_it_is_hasty_only_while_it_moves_and_no_clip_is_made(
    recorded: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[tuple[bool, float]] = []
    crops: list[tuple[bool, Crop]] = []
    composed = Picture._composed

    def noted(
        self: Picture, snapshot: Snapshot, shot: Shot, crop: Crop, quality: Quality
    ) -> Generator[None, None, Frame]:
        drawn.append((shot.hasty, quality.scale))
        crops.append((shot.hasty, crop))
        return composed(self, snapshot, shot, crop, quality)

    monkeypatch.setattr(Picture, "_composed", noted)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        if not application.side.picture.software:
            pytest.skip("a graphics card draws whole pictures in time")
        driver.wait_for(lambda: not application.sides.drawing and not application.camera.moving, "the first picture")
        if recorded:
            driver.asked = lambda: application.recording.begin(tmp_path, "clip")
            driver.wait_for(lambda: application.recording.current is not None, "a recording")
            driver.wait_for(lambda: not application.sides.drawing, "its first picture")
        drawn.clear()
        application.camera.scroll(3.0, *MIDDLE)
        assert application.camera.moving
        driver.wait_for(lambda: not application.camera.moving and not application.sides.drawing, "the end of the way")
        driver.engine.yield_(3)
        for hasty, scale in drawn:
            assert scale == pytest.approx(COARSE) if not hasty else scale / COARSE in Haste.SCALES
        area = application.side.area
        for hasty, crop in crops[-len(drawn) :]:  # what the panel covers is left out
            begin, end = (part * area.width for part in area.free)
            assert crop.left <= begin and end <= crop.left + crop.width
            assert (crop.width < area.width) is hasty and crop.height == area.height
        pixels = application.sides.pixels()
        assert pixels is not None and pixels.shape[:2] == (area.height, area.width)
        assert len(drawn) > 1 and drawn[0][0] is not recorded and not drawn[-1][0]
        assert not application.side._drawn[0].hasty  # type: ignore[index]

    drive(test, SCENE)


def test_the_land_and_the_simulation_wait_while_a_hand_moves_the_view_and_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[bool, bool]] = []  # of each frame: whether the view follows a hand, and whether the land waits
    gave_way: list[bool] = []
    holds = Drawing.holds_land

    def noted(self: Drawing) -> bool:
        seen.append((self._follows, held := holds(self)))
        return held

    monkeypatch.setattr(Drawing, "holds_land", noted)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        if not application.side.picture.software:
            pytest.skip("a graphics card draws whole pictures in time")
        monkeypatch.setattr(application.simulation, "give_way", gave_way.append)
        driver.wait_for(lambda: not application.sides.drawing and not application.camera.moving, "the first picture")
        seen.clear()
        application.camera.scroll(3.0, *MIDDLE)
        driver.wait_for(lambda: (True, True) in seen, "land that waits")
        assert gave_way[-1]
        driver.wait_for(lambda: not application.camera.moving and not application.sides.drawing, "the end of the way")
        seen.clear()
        driver.wait_for(lambda: (False, False) in seen, "land that is taken")
        assert not gave_way[-1]

    drive(test, SCENE)


def test_a_clip_begins_without_the_minimap_of_a_picture_that_is_being_drawn(tmp_path: Path) -> None:
    shown: list[bool] = []

    def test(driver: Driver) -> None:
        application = have_land(driver)
        if not application.side.picture.software:
            pytest.skip("a graphics card draws whole pictures in time")
        driver.wait_for(lambda: not application.sides.drawing and not application.camera.moving, "the first picture")

        def begin() -> None:
            application.side.redraw()
            application.begin_picture()
            next(application.sides._drawing)
            application.recording.begin(tmp_path, "clip")
            shown.append(application.sides.drawing)

        driver.asked = begin
        driver.wait_for(lambda: bool(shown), "a recording")
        assert shown == [False]

    drive(test, SCENE)


def test_a_picture_is_interrupted_at_once_by_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "slice_is_over", False)
    interrupted: list[bool] = []

    def test(driver: Driver) -> None:
        application = have_land(driver)
        if not application.side.picture.software:
            pytest.skip("a graphics card draws whole pictures in time")
        driver.wait_for(lambda: not application.sides.drawing and not application.camera.moving, "the first picture")

        def draw() -> None:
            for waiting in ([KeyPressed("[")], []):
                application.side.redraw()
                application.begin_picture()
                with monkeypatch.context() as patch:
                    patch.setattr(application.host, "waiting_events", lambda waiting=waiting: waiting)
                    Drawing(application).draw()
                interrupted.append(application.sides.drawing)

        driver.asked = draw
        driver.wait_for(lambda: len(interrupted) == 2, "two pictures")
        assert interrupted == [True, False]

    drive(test, SCENE)


def test_a_view_at_rest_is_drawn_level_by_level_until_it_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    composed = Picture._composed

    def noted(
        self: Picture, snapshot: Snapshot, shot: Shot, crop: Crop, quality: Quality
    ) -> Generator[None, None, Frame]:
        drawn.append(quality.name)
        return composed(self, snapshot, shot, crop, quality)

    monkeypatch.setattr(Picture, "_composed", noted)
    monkeypatch.setattr("app.picture.picture.FINEST_AT_REST", BY_NAME["medium"])  # high takes longer to compile

    def test(driver: Driver) -> None:
        application = have_land(driver)
        sides, picture = application.sides, application.side.picture
        if not picture.software:
            pytest.skip("a graphics card draws at the level that suits it")

        def rests_at(level: str) -> bool:
            return drawn[-1:] == [level] and picture.frame_settled and not sides.drawing

        driver.wait_for(lambda: rests_at("lowest"), "the usual picture")
        assert set(drawn) == {"lowest"}, "it is not refined where that is not wanted"
        drawn.clear()
        application.refines = True
        driver.wait_for(lambda: rests_at("medium"), "the finest picture")
        assert list(dict.fromkeys(drawn)) == ["low", "medium"]

        drawn.clear()
        application.camera.scroll(1.0, *MIDDLE)
        driver.wait_for(lambda: not application.camera.moving and bool(drawn), "the end of the way")
        assert set(drawn) == {"lowest"}, "what moves is drawn at the usual level"
        monkeypatch.setattr(Drawing, "_user_waits", True)
        monkeypatch.setattr(Pace, "slice_is_over", True)
        application.camera.scroll(1.0, *MIDDLE)
        drawn.clear()
        driver.wait_for(lambda: drawn.count("low") > 2, "finer pictures that are begun")
        assert "medium" not in drawn and application.side._drawn[0].finer == 0, "none is finished"  # type: ignore[index]

    drive(test, SCENE)

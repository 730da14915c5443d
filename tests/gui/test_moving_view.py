"""A view that moves is drawn in fewer pixels by a software rasteriser, and as it should be once it rests."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from app.model.snapshot import Snapshot
from app.picture.crop import Crop
from app.picture.passes.declaration import Frame, Shot
from app.picture.passes.quality import Quality
from app.picture.picture import HASTY_SCALE, Picture
from tests.gui.host import COARSE, SMALL, Driver, drive
from tests.gui.test_rivers import MIDDLE, have_land

SCENE = SMALL.with_value("droplets.enabled", False)


@pytest.mark.parametrize("recorded", [False, True])
def test_it_is_hasty_only_while_it_moves_and_no_clip_is_made(
    recorded: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[tuple[bool, float]] = []
    composed = Picture._composed

    def noted(
        self: Picture, snapshot: Snapshot, shot: Shot, crop: Crop, quality: Quality
    ) -> Generator[None, None, Frame]:
        drawn.append((shot.hasty, quality.scale))
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
        scales = [COARSE * (HASTY_SCALE if hasty else 1.0) for hasty, _ in drawn]
        assert [scale for _, scale in drawn] == pytest.approx(scales)
        assert len(drawn) > 1 and drawn[0][0] is not recorded and not drawn[-1][0]
        assert not application.side._drawn[0].hasty  # type: ignore[index]

    drive(test, SCENE)

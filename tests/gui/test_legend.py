"""The legend over the minimap: a palette with the values at its ends, or colours with names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.model.legends import Legend, legend_names
from app.model.overlays import OVERLAYS
from app.window.commands import changes
from app.window.panel import legend
from tests.gui.host import SMALL, Driver, drive


@pytest.mark.parametrize("name", ["slope", "wetness", "roots", "wind", "material", "filled", "flow_directions"])
def test_the_legend_stands_over_the_minimap_and_on_the_screen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    boxes: list[tuple[str, Sequence[float]]] = []
    named: list[tuple[tuple[str, tuple[float, float, float]], ...]] = []
    box, names = legend._box, legend._names

    def noted_box(label: str, *edges: float) -> object:
        boxes.append((label, edges))
        return box(label, *edges)

    def noted_names(shown: Legend, *place: float) -> None:
        named.append(shown.names)
        names(shown, *place)

    monkeypatch.setattr(legend, "_box", noted_box)
    monkeypatch.setattr(legend, "_names", noted_names)

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
        changes.change(application, "view.overlay", name)
        driver.engine.yield_(4)
        label, (left, top, right, bottom) = boxes[-1]
        assert label.split(", cycle")[0] == OVERLAYS[name].label
        assert 0.0 <= left < right <= 1280.0 and 0.0 <= top < bottom <= 800.0
        assert (left, bottom) == application.layout.place_above_minimap(
            with_minimap=application.documents.scene.view.minimap
        )[:2]
        if name in ("material", "flow_directions"):
            assert application.snapshot is not None
            assert named[-1] == tuple(legend_names(name, application.snapshot))
            assert len(named[-1]) >= 7
        drawn = len(boxes)
        changes.change(application, "view.legend", True)
        driver.engine.yield_(4)
        assert len(boxes) <= drawn + 1, "the picture has it"

    drive(test, SMALL.with_value("materials.enabled", True))

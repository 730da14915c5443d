"""What does not grow where the sea runs up its beaches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pyglm import glm

from app.model.snapshot import Snapshot
from app.picture.camera import Camera
from app.picture.passes import forest as forest_module
from app.picture.passes.ground_cover import GroundCover
from app.picture.passes.swash import SeaShore
from app.picture.passes.waves import RunUp
from app.picture.picture import Picture
from app.scene.scene import Scene
from tests.passes.conftest import Draw
from tests.passes.worlds import drowned, flat, planted, snapshot, with_layers, with_water

CELL = 10.0
COAST = 40.0  # column; the sea lies west of it
ROWS, COLUMNS = 48, 96
RUN_UP = RunUp(height=2.0, reach=23.0)


def beach(slope: float) -> Snapshot:
    ground = (np.arange(COLUMNS) + 0.5 - COAST) * CELL * slope
    return drowned(snapshot(np.tile(ground, (ROWS, 1)), cell_size=CELL), 0.0)


@pytest.mark.parametrize(("slope", "cells"), [(0.01, 2.3), (0.05, 2.3), (0.2, 1.0)])
def test_waves_sweep_a_beach_as_far_as_they_run_and_no_higher(slope: float, cells: float) -> None:
    shore = SeaShore.of(beach(slope))
    assert shore is not None
    places = np.random.default_rng(1).random((4000, 2)) * (ROWS, COLUMNS)
    inland = places[:, 1] - COAST
    sure = np.abs(inland - cells) > 0.02
    np.testing.assert_array_equal(shore.swept(places, RUN_UP)[sure], (inland < cells)[sure])
    middles = np.broadcast_to(np.arange(COLUMNS) + 0.5 - COAST < cells, (ROWS, COLUMNS))
    np.testing.assert_array_equal(shore.swept_cells(RUN_UP), middles)


def test_only_the_sea_sweeps_its_shore() -> None:
    assert SeaShore.of(snapshot(flat(16, 16, 5.0))) is None
    ground = flat(ROWS, COLUMNS, -1.0)
    ground[:, 20:28] = 6.0  # a dike, with a polder to the east of it
    level = np.where(np.arange(COLUMNS) < 20, 0.0, ground)
    shore = SeaShore.of(with_water(snapshot(ground, cell_size=CELL), level, sea_level=0.0))
    assert shore is not None
    cells = shore.swept_cells(RUN_UP)
    assert cells[:, :20].all() and not cells[:, 21:].any()


def wooded_beach() -> Snapshot:
    places = np.random.default_rng(2).random((600, 2)) * (ROWS, COLUMNS - COAST) + (0.0, COAST)
    return planted(beach(0.02), np.column_stack([places, np.zeros(600), np.ones(600)]))


def trees_of(draw: Draw, picture: Picture, shown: Snapshot, scene: Scene) -> int:
    """How many are drawn, and none of them where waves run."""
    camera = Camera(glm.vec3(COLUMNS, 0.0, ROWS) * CELL / 2.0, 0.0, 90.0, 1500.0)
    draw(shown, camera, scene.with_value("view.quality", "low"), size=(64, 48))
    assert picture.frame is not None
    forest = picture.frame.trees.forest
    return 0 if forest is None else len(forest.trees)


def test_no_tree_is_drawn_where_waves_run(draw: Draw, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor for one that is simulated farther inland, in a stand that reaches there; without waves all are."""
    monkeypatch.setattr(forest_module, "GROVES", (1.0, 1.0))  # no clearings
    shown, scene = wooded_beach(), Scene()
    of_all = trees_of(draw, picture, shown, scene.with_value("waves.enabled", False))
    assert of_all == 4 * len(shown.trees)
    numbers = [trees_of(draw, picture, shown, scene.with_value("waves.run_up", times)) for times in (0.5, 1.0, 2.0)]
    assert 0 < numbers[2] < numbers[1] < numbers[0] < of_all
    assert picture.frame is not None and picture.frame.trees.forest is not None
    reach = 2.0 * np.sqrt(0.05) * 3.0  # cells: the shortest waves, whose height is a twentieth of that
    assert picture.frame.trees.forest.trees[:, 0].min() > COAST + reach - 0.02
    assert trees_of(draw, picture, replace(shown, trees=shown.trees[shown.trees[:, 1] < COAST + 0.2]), scene) == 0


def test_no_grass_stands_there() -> None:
    shown = with_layers(beach(0.02), grass=0.8, wetness=0.3)
    shore = SeaShore.of(shown)
    dry = GroundCover.of(shown, None, None, None)
    swept = GroundCover.of(shown, dry, shore, RUN_UP)
    assert dry is not None and swept is not None
    assert (dry.grass[:, 40:] == np.float32(0.8)).all()
    assert (swept.grass[:, :42] == 0.0).all() and (swept.grass[:, 43:] == np.float32(0.8)).all()
    assert GroundCover.of(shown, swept, shore, RUN_UP) is swept

"""Masks by what the land is: for brushes, and for fields."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.brushes.painting import check
from app.engine.publishing import take_snapshot
from app.files.journal import Journal, journal_content, journal_from
from app.model.errors import UserError
from app.model.field_parameters import band, masked_by
from app.scene.edits import Edit, Open, Stroke
from app.sources.fields import LandVariables, preview
from tests.app.small import simulated, small_scene

MASKS = [band("slope", 10.0, 30.0), band("height", 40.0, 80.0), band("water_distance", 0.0, 60.0)]


def stroke(mask: str, tool: str = "raise") -> Stroke:
    return Stroke(tool, ((400.0, 320.0, 1.0),), 600.0, 2.0, hardness=1.0, mask=mask)


@pytest.mark.parametrize("mask", MASKS)
def test_a_brush_acts_only_where_its_mask_lets_it(mask: str) -> None:
    simulator = simulated(2, small_scene(pools__enabled=True))
    simulator.settle_levels()
    before = simulator.world.ground.copy()
    through = LandVariables.of_world(simulator.world).value(mask)
    assert through is not None and 0.0 < through.mean() < 1.0
    simulator.paint(stroke(mask))
    raised = simulator.world.ground - before
    inner = np.hypot(*np.indices(before.shape).astype(float) - np.array([16.0, 20.0])[:, None, None]) < 15.0
    assert (
        np.array_equal(raised > 0.5, (through > 0.0) & (raised > 0.5)) and (raised[inner & (through > 0.0)] > 0.5).all()
    )
    assert not raised[through == 0.0].any()


def test_flow_curvature_and_kind_can_be_asked_for() -> None:
    simulator = simulated(8, small_scene(materials__enabled=True, materials__loose="sand 2; soil 1"))
    land, (rows, columns) = LandVariables.of_world(simulator.world), simulator.world.shape
    south, east = np.mgrid[:rows, :columns] * simulator.world.cell_size
    bowl = LandVariables((south**2 + east**2) / 4000.0, simulator.world.cell_size, {}, np.zeros((rows, columns)))
    np.testing.assert_allclose(bowl.variable("curvature")[2:-2, 2:-2], 1.0, rtol=1e-6)
    assert np.array_equal(land.variable("flow"), simulator.world.layers["discharge"])
    kinds = land.variable("kind")
    bare = simulator.world.sediment <= 0.0
    assert len(np.unique(kinds)) > 1 and (kinds[bare] == -1.0).all()
    assert np.array_equal(kinds[~bare], simulator.world.mix.argmax(axis=2)[~bare])
    seen = LandVariables.of_snapshot(take_snapshot(simulator.world))
    assert np.mean(seen.variable("kind") == kinds) > 0.95


def test_a_mask_stands_in_the_journal_and_a_wrong_one_is_refused() -> None:
    scene = small_scene()
    edits = (Edit(0, Open((scene,))), Edit(1, stroke(MASKS[0])))
    journal = Journal(edits, 2)
    assert journal_from(journal_content(journal, Path()), "j", Path()).edits == edits
    content = journal_content(journal, Path())
    content["edit"][1]["mask"] = "slope >"
    with pytest.raises(UserError, match="the edit after cycle 1"):
        journal_from(content, "j", Path())
    with pytest.raises(UserError):
        check(simulated(0).world, stroke("steepness > 3"))


def test_a_field_is_multiplied_by_a_mask() -> None:
    snapshot = take_snapshot(simulated(0).world)
    values = preview(snapshot, "fields.rain", masked_by("2", MASKS[0]))
    assert set(np.unique(values)) == {0.0, 2.0}

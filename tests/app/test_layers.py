"""The table of layers: an invented one is known to all that is derived from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.engine.publishing import take_snapshot
from app.files import checkpoint
from app.model.errors import UserError
from app.model.layers import LAYERS, RATES, LayerDeclaration, declare_layers, layer_declaration, side_by_side
from app.model.ledger import Ledger
from app.model.overlays import OVERLAYS
from app.model.soundness import find_fault
from app.processes import PROCESSES
from tests.app.small import simulated

ICE = LayerDeclaration(
    "ice", "thickness of ice", "m", np.float64,
    raises_ground=True, account="water", largest=10.0, seen="in overlays",
)  # fmt: skip


@pytest.fixture
def ice(monkeypatch: pytest.MonkeyPatch) -> LayerDeclaration:
    monkeypatch.setitem(LAYERS, ICE.name, ICE)
    monkeypatch.setitem(OVERLAYS, "canopy", replace(OVERLAYS["canopy"], layers=("canopy", ICE.name)))
    return ICE


def test_all_knows_an_invented_layer(ice: LayerDeclaration, tmp_path: Path) -> None:
    simulator = simulated(1)
    world = simulator.world
    before = world.state()
    dry, water = world.ground.copy(), world.stored("water")

    world.trace(ice.name)[...] = 2.0
    world.sum_ground()
    assert np.array_equal(world.ground, dry + 2.0)
    assert world.stored("water") == water + 2.0 * world.ground.size * world.cell_area
    assert take_snapshot(world).layers["ice"].dtype == np.float32
    for overlay in (None, "none"):
        seen = take_snapshot(world, overlay=overlay).ground(dtype=np.float64)
        np.testing.assert_allclose(seen, world.ground, atol=1e-4)
    assert "ice" in take_snapshot(world, overlay="canopy").layers
    assert "ice" not in take_snapshot(world, overlay="none").layers

    checkpoint.save(tmp_path / "with.npz", world, simulator.scene)
    loaded, _ = checkpoint.load(tmp_path / "with.npz")
    assert np.array_equal(loaded.layers["ice"], world.layers["ice"])
    assert np.array_equal(loaded.ground, world.ground)
    assert loaded.stored("water") == world.stored("water")

    world.layers["ice"][3, 4] = 11.0
    assert (fault := find_fault(world)) and fault[1:] == ("ice", (3, 4))
    checkpoint.save(tmp_path / "wrong.npz", world, simulator.scene)
    with pytest.raises(UserError, match=r"layer 'ice' is 11 at row 3, column 4; must be .* within 10"):
        checkpoint.load(tmp_path / "wrong.npz")

    world.restore(before)
    assert "ice" not in world.layers
    assert np.array_equal(world.ground, dry)


def test_layers_are_not_declared_twice() -> None:
    for name in ("bedrock", "loose_ice"):
        with pytest.raises(ValueError, match=name):
            declare_layers(LayerDeclaration(name, "once more"))


def test_table_fits_what_it_speaks_of() -> None:
    changed = {name for process in PROCESSES for name in process.changes}
    assert changed == {name for name, layer in LAYERS.items() if not layer.given and name not in RATES}
    shown = {layer for overlay in OVERLAYS.values() for layer in overlay.layers}
    for layer in LAYERS.values():
        assert layer.account in ("", *Ledger().accounts()), layer.name
        assert layer.seen != "never" or layer.name not in shown, layer.name
        assert not layer.account or (layer.unit == "m" and layer.dtype is np.float64), layer.name
        assert not layer.pack or layer.dtype is np.float32, layer.name


def test_packs_lie_as_kernels_read_them() -> None:
    from kernels import droplets, surface

    for number, name in enumerate(side_by_side("surface")):
        assert getattr(surface, name.upper()) == number
    assert len(side_by_side("surface")) == surface.STRIDE
    assert side_by_side("flow") == droplets.FLOW[:4]


def test_thickness_of_a_kind_is_a_layer() -> None:
    sand = layer_declaration("loose_sand")
    assert (sand.account, sand.seen, sand.bounds) == ("sand", "never", layer_declaration("sediment").bounds)
    with pytest.raises(KeyError):
        layer_declaration("sand")

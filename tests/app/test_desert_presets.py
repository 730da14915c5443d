"""Oasis and delta, on fewer and larger cells: what they promise."""

from __future__ import annotations

import numpy as np

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.world import World
from app.scene.scene import Scene, load_preset
from app.sources.noise import from_the_middle

SIDE = 96


def small(name: str, **settings: object) -> Scene:
    scene = load_preset(name)
    larger = scene.world.columns / SIDE
    return scene.with_values(
        {
            "world.columns": SIDE,
            "world.rows": SIDE,
            "world.cell_size": scene.world.cell_size * larger,
            "wind.count": max(1, round(scene.wind.count / larger)),
            **settings,
        }
    )


def run(world: World, scene: Scene, cycles: int) -> None:
    simulator = Simulator(scene, world)
    for _ in range(cycles):
        simulator.advance()
    assert world.imbalance() < 1e-9


def test_the_oasis_is_green_in_its_hollow_and_bare_on_its_dunes_and_plants_hold_the_sand() -> None:
    world, scene = create_world(small("oasis"))
    run(world, scene, 100)
    from_middle = np.hypot(*from_the_middle(SIDE, SIDE, 0.5, 0.5))
    hollow, dunes = from_middle < 0.15, from_middle > 0.4
    wetness, grass, roots = (world.layers[name] for name in ("wetness", "grass", "roots"))
    lake = world.water > 0.0
    assert 30 < np.count_nonzero(lake) < 0.15 * lake.size
    assert not lake[dunes].any()
    assert wetness[hollow].mean() > 0.4
    assert wetness[dunes].mean() < 0.1
    shore = hollow & ~lake
    assert grass[shore].mean() > 0.4
    assert grass[dunes].mean() < 0.01
    assert len(world.trees) > 0
    rooted, before = (roots > 0.3) & ~lake, world.ground.copy()
    run(world, scene, 60)
    moved = np.abs(world.ground - before)
    assert moved[rooted].mean() < 0.3 * moved[~rooted & ~lake & (from_middle < 0.3)].mean()


def test_the_delta_grows_into_its_lake_and_sand_comes_from_windward() -> None:
    world, scene = create_world(small("delta", **{"droplets.count": 60, "droplets.springs": "0.1 0.5 20"}))
    lake, sandy = world.water > 0.0, world.sediment > 0.0
    before, sediment = world.ground.copy(), world.sediment.copy()
    run(world, scene, 160)
    row, column = np.mgrid[:SIDE, :SIDE]
    # The river comes from the north: the nearest third of the lake is where its delta grows.
    rows = row[lake]
    near = lake & (row < rows.min() + (np.ptp(rows) + 1) / 3)
    risen = world.ground - before
    assert risen[near].mean() > 3.0 * risen[lake & ~near].mean()
    assert risen[near].max() > 1.0
    assert np.count_nonzero(near & (world.standing == 0)) > 0.4 * np.count_nonzero(near)
    # The wind comes from the west: sand now lies where none did, close to the dunes and not far from them.
    edge = int(column[sandy].max())
    leeward = ~lake & ~sandy & (column <= edge + 8) & (column > edge // 2)
    assert (world.sediment - sediment)[leeward].mean() > 0.02
    assert world.ledger.sediment.gained["blown in"] > 0.0
    assert len(world.trees) > 10

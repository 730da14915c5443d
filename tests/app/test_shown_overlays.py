"""Which overlays show something in a scene."""

from __future__ import annotations

import numpy as np

from app.engine.publishing import take_snapshot
from app.model.overlays import OVERLAYS
from app.scene.scene import Scene
from app.scene.shown_overlays import families, neighbour, why_empty
from tests.app.small import simulated, small_scene

DRY = Scene().with_values({"droplets.enabled": False})


def test_what_a_process_writes_is_empty_while_it_is_off() -> None:
    assert why_empty("discharge", [DRY]) == "droplets and braiding are off"
    assert why_empty("discharge", [Scene()]) == why_empty("discharge", [DRY, Scene()]) == ""
    assert why_empty("water", [DRY]) == "lakes and sea, moisture, droplets, coast, meandering and floods are off"
    assert why_empty("canopy", [DRY]) == "plants is off"
    assert why_empty("difference", [DRY]) == "there is one world alone"
    assert why_empty("difference", [DRY, DRY]) == ""
    assert why_empty("material", [DRY]) == "materials is off"
    for name in ("none", "elevation", "slope", "sediment", "change", "rivers", "watersheds", "filling"):
        assert why_empty(name, [DRY]) == "", name


def test_what_is_left_of_a_process_that_is_off_is_still_shown() -> None:
    from app.engine.creation import create_world

    scene = small_scene(world__source="sand", droplets__enabled=False)
    world, scene = create_world(scene)
    world.trace("wind_path")[3, 4] = 0.5
    snapshot = take_snapshot(world)
    assert why_empty("wind_path", [scene]) == "wind is off"
    assert why_empty("wind_path", [scene], snapshot) == ""
    assert why_empty("wear", [scene], snapshot) == "snowballs is off"


def test_what_no_cycle_has_left_anything_of_is_not_offered() -> None:
    simulator = simulated(1, small_scene(pools__enabled=False, moisture__enabled=False))
    scenes = [simulator.scene]
    assert why_empty("water", scenes, take_snapshot(simulator.world, overlay="none")) == "there is none here yet"
    assert why_empty("discharge", scenes, take_snapshot(simulator.world, overlay="none")) == ""
    assert why_empty("water", scenes) == why_empty("water", scenes, take_snapshot(simulated(0).world)) == ""
    assert neighbour("none", +1, scenes, take_snapshot(simulator.world)) != "water"
    with_water = simulated(1, small_scene(pools__enabled=True, edges__water="sea", edges__sea_level=100.0))
    assert why_empty("water", [with_water.scene], take_snapshot(with_water.world)) == ""


def test_a_field_is_shown_where_it_is_set_or_painted() -> None:
    from app.engine.creation import create_world

    world, scene = create_world(small_scene(world__source="sand"))
    assert why_empty("rain_field", [scene], take_snapshot(world)) == "nothing has been painted, or set as a field"
    assert why_empty("rain_field", [scene.with_values({"fields.rain": "1 + x"})]) == ""
    world.trace("rate_rain")[3, 4] = 0.5
    assert why_empty("rain_field", [scene], take_snapshot(world)) == ""  # though its overlay is not shown


def test_the_key_goes_round_what_shows_something_both_ways() -> None:
    name, seen = "none", []
    for _ in OVERLAYS:
        name = neighbour(name, +1, [DRY])
        seen.append(name)
        assert neighbour(neighbour(name, +1, [DRY]), -1, [DRY]) == name
    assert set(seen) == {name for name in OVERLAYS if not why_empty(name, [DRY])}
    assert neighbour("none", -1, [DRY]) == seen[seen.index("none") - 1]
    assert neighbour("canopy", +1, [DRY]) not in ("canopy", "grass"), "from one that is empty there is a way on, too"


def test_every_overlay_is_in_one_family() -> None:
    listed = [name for names in families().values() for name in names]
    assert sorted(listed) == sorted(OVERLAYS)
    assert next(iter(families().values())) == ["none"]


def test_trees_are_not_offered_where_none_has_come_up() -> None:
    simulator = simulated(1, small_scene(plants__enabled=True, plants__tree_arrival=0.0))
    world, scenes = simulator.world, [simulator.scene]
    assert not len(world.trees)
    assert why_empty("canopy", scenes, take_snapshot(world)) == "no tree stands here yet"
    world.layers["grass"][...] = 0.0
    assert why_empty("roots", scenes, take_snapshot(world)) == "no plant grows here yet"
    world.layers["grass"][3, 4] = 0.5
    assert why_empty("roots", scenes, take_snapshot(world)) == ""
    world.trees = np.zeros((1, world.trees.shape[1]), np.float32)
    assert why_empty("canopy", scenes, take_snapshot(world)) == ""

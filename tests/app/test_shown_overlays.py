"""Which overlays show something in a scene."""

from __future__ import annotations

from app.engine.publishing import take_snapshot
from app.model.overlays import OVERLAYS
from app.scene.scene import Scene
from app.scene.shown_overlays import families, neighbour, why_empty
from tests.app.small import small_scene

DRY = Scene().with_values({"droplets.enabled": False})


def test_what_a_process_writes_is_empty_while_it_is_off() -> None:
    assert why_empty("discharge", [DRY]) == "droplets and braiding are off"
    assert why_empty("discharge", [Scene()]) == why_empty("discharge", [DRY, Scene()]) == ""
    assert why_empty("water", [DRY]) == "lakes and sea, moisture, droplets and meandering are off"
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

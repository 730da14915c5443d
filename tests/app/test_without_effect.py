"""Parameters that have no effect in a scene: what says so must be true, and say it in words."""

from __future__ import annotations

import numpy as np
import pytest

from app.engine.creation import create_world
from app.engine.simulator import Simulator
from app.model.parameters import Declaration, Value
from app.scene.scene import DECLARATIONS, GROUPS, SWITCHES, Scene, section_of, without_effect
from app.sources.generators import GENERATORS

SMALL: dict[str, Value] = {"world.columns": 24, "world.rows": 20, "world.soil_depth": 2.0, "snowballs.count": 40}
CYCLES = 4
ACTING = ("world", "climate", "processes")  # the sections of what changes the land
UNTRIED = ("world.", "materials.folder", "flora.folder")


def scenes() -> dict[str, Scene]:
    """Scenes with few processes at work, in which much is without effect, and one with all."""
    bare = Scene().with_values({**SMALL, "droplets.enabled": False})
    switches = [switch for switch in SWITCHES if section_of(switch) in ACTING]
    with_one = {switch: bare.with_value(switch, True) for switch in switches}
    sources = {name: bare.with_value("world.source", name) for name in GENERATORS}
    return {"bare": bare, "rich": bare.with_values(dict.fromkeys(switches, True)), **with_one, **sources}


def ends(declaration: Declaration) -> tuple[Value, Value]:
    """The lowest and the highest that a parameter may be."""
    if declaration.kind is bool:
        return False, True
    if declaration.choices:
        return declaration.choices[0], declaration.choices[-1]
    return declaration.low, declaration.high


def land(scene: Scene) -> dict[str, bytes]:
    """What there is after a few cycles, bit by bit."""
    simulator = Simulator(scene, create_world(scene)[0], threads=1)
    simulator.prepare_all()
    for _ in range(CYCLES):
        simulator.run_cycle()
    return {name: np.ascontiguousarray(layer).tobytes() for name, layer in simulator.world.layers.items()}


def test_what_is_said_to_have_no_effect_has_none(subtests: pytest.Subtests) -> None:
    for name, scene in scenes().items():
        with subtests.test(scene=name):
            before = land(scene)
            idle = [
                declaration
                for path, declaration in DECLARATIONS.items()
                if section_of(path) in ACTING
                and not path.startswith(UNTRIED)
                and (declaration.kind is not str or declaration.choices)
                and without_effect(scene, declaration)
            ]
            assert idle
            for end in (0, 1):
                values = {declaration.path: ends(declaration)[end] for declaration in idle}
                if land(scene.with_values(values)) != before:
                    acting = [path for path, value in values.items() if land(scene.with_value(path, value)) != before]
                    pytest.fail(f"these have an effect: {', '.join(acting) or 'several together'}")


def test_the_reason_is_told_in_words() -> None:
    scene = Scene().with_values({"world.source": "sand", "droplets.enabled": False})
    told = {
        "noise.octaves": "no effect while world.source is sand",
        "sand.rock": "",
        "sand.rock_radius": "no effect while sand.rock is flat",
        "droplets.enabled": "",
        "droplets.count": "no effect while droplets is off",
        "climate.precipitation": (
            "no effect while droplets, moisture, plants, rivers and uplift, meandering, snow and falls are off"
        ),
        "climate.season_rain": "no effect while climate.year is 0 cycles",
        "flora.trees": "no effect while plants is off",
        "moisture.porosity": "no effect while moisture is off",
    }
    for path, reason in told.items():
        assert without_effect(scene, DECLARATIONS[path]) == reason, path
    with_materials = scene.with_values({"materials.enabled": True, "moisture.enabled": True})
    assert without_effect(with_materials, DECLARATIONS["moisture.porosity"]) == "no effect while materials is on"


def test_rain_and_widths_of_rivers_matter_to_all_that_reckon_with_discharge() -> None:
    bare = Scene().with_value("droplets.enabled", False)
    read = {
        "falls.enabled": ("climate.precipitation", "climate.rain_by_altitude", "rivers.width"),
        "floods.enabled": ("climate.rain_by_altitude",),
    }
    for switch, paths in read.items():
        for path in paths:
            assert without_effect(bare, DECLARATIONS[path]), path
            assert without_effect(bare.with_value(switch, True), DECLARATIONS[path]) == "", (switch, path)


def test_each_condition_names_parameters_and_values_that_there_are() -> None:
    groups = [group.needs for group in GROUPS.values()]
    for needs in filter(None, (*groups, *(declaration.needs for declaration in DECLARATIONS.values()))):
        for term in needs.replace(", ", " or ").split(" or "):
            path, equals, value = term.removeprefix("not ").partition("=")
            declaration = DECLARATIONS[path]
            if equals and path != "world.source":
                assert value in declaration.choices, term

"""An invented process, declared in one file: everything that follows from the table of processes knows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # programs are started

ROOT = Path(__file__).parent.parent.parent

# A line in app/processes/__init__.py would make it known as early.
PROGRAM = """
import sys, pathlib
import tests.app.invented
from tests.app.test_invented_process import check_all
check_all(pathlib.Path(sys.argv[1]))
"""


def test_a_process_of_one_file_is_known_to_all(tmp_path: Path) -> None:
    """In a program of its own: the scene is made of the processes that are known before it, and stays so."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "snowfall.depth" in done.stdout, "the help lists it"
    assert "what falls in a cycle, as water" in done.stdout


def check_all(folder: Path) -> None:
    """What the test above asserts."""
    from app.cli import main as cli
    from app.cli.simulate import ledger_text
    from app.engine.publishing import take_snapshot
    from app.engine.refining import refined
    from app.engine.simulator import SimulationError, Simulator
    from app.files import checkpoint
    from app.model.errors import UserError
    from app.model.soundness import find_fault
    from app.model.world import World
    from app.processes import PROCESSES
    from app.processes.cycle import Cycle
    from app.processes.process import register
    from app.scene.comparison import compared_groups as compared
    from app.scene.scene import GROUPS, Scene, preset_to_toml, read_preset
    from app.window.panel.parameters import SECTIONS, is_in_use
    from tests.app.invented import Snowfall, SnowfallParameters
    from tests.app.small import simulated, small_scene

    names = [process.name for process in PROCESSES]
    assert names.index("snowfall") == names.index("moisture") + 1
    with pytest.raises(ValueError, match="snowfall"):
        register(Snowfall)

    # Scene, presets and `--set`
    scene = read_preset("[snowfall]\nenabled = true\ndepth = 0.5\n", "mine")
    assert scene.value("snowfall.depth") == 0.5
    assert Scene().value("snowfall.enabled") is False
    assert read_preset(preset_to_toml(scene), "") == scene
    assert Scene().with_setting("snowfall.depth=0.75").value("snowfall.depth") == 0.75
    with pytest.raises(UserError, match=r"snowfall\.depth = 3: must be from 0 to 2 m"):
        Scene().with_setting("snowfall.depth=3")

    # Panel and comparison, which have a row and a column for each of these
    assert GROUPS["snowfall"] is SnowfallParameters
    assert SnowfallParameters.section in SECTIONS and is_in_use("snowfall", scene)
    assert "snowfall" in compared()

    # Cycles beside other processes, the ledger and snapshots
    beside = ("pools", "moisture", "plants")
    snowing = small_scene(snowfall__enabled=True, snowfall__depth=0.5, droplets__enabled=False)
    scene = snowing.with_values({f"{name}.enabled": True for name in beside})
    simulator = simulated(3, scene)
    world = simulator.world
    assert (world.layers["sleet"] == 1.5).all()
    assert np.array_equal(world.ground, world.bedrock + world.sediment + 1.5)
    assert world.ledger.water.gained["sleet"] == 1.5 * world.ground.size * world.cell_area
    assert world.imbalance() < 1e-12
    assert "sleet " in ledger_text(world)
    assert simulator.milliseconds.keys() == {"snowfall", *beside}
    assert take_snapshot(world).layers["sleet"].dtype == np.float32

    # Saved worlds, which go on with the same bits
    checkpoint.save(folder / "world.npz", world, scene)
    loaded = Simulator(*reversed(checkpoint.load(folder / "world.npz")))  # type: ignore[arg-type]
    for each in (simulator, loaded):
        each.advance()
        each.verify()
    assert loaded.scene.value("snowfall.depth") == 0.5
    assert np.array_equal(loaded.world.layers["sleet"], world.layers["sleet"])
    assert np.array_equal(loaded.world.ground, world.ground)

    # Beside each process alone, and beside all of them, on one kind of ground and on several
    everything = {f"{name}.enabled": True for name in names}
    cases = {name: {f"{name}.enabled": True} for name in names} | {
        "rivers": {"droplets.enabled": True, "droplets.river_transport": 1.0},
        "all": everything,
        "all on several kinds": {**everything, "materials.enabled": True},
    }
    moving = set()
    for name, values in cases.items():
        one = simulated(3, snowing.with_values(values))
        one.verify()
        assert (one.world.layers["sleet"] == 1.5).all() and one.world.imbalance() < 1e-12, name
        if any(not np.array_equal(one.world.layers[layer], world.layers[layer]) for layer in ("bedrock", "sediment")):
            moving.add(name)
        ice = one.world.layers.get("ice", 0.0)
        ground = one.world.bedrock + one.world.loose
        np.testing.assert_allclose(one.world.ground, ground + ice + 1.5, rtol=1e-14, err_msg=name)
        finer = refined(one.world, 2, channels=False)
        assert find_fault(finer) is None and finer.imbalance() < 1e-12, name
    still = {
        "pools",
        "floods",
        "coast",
        "orographic_rain",
        "snow",
        "moisture",
        "snowfall",
        "plants",
        "wind_field",
        "ice",
        "isostasy",
        "falls",
        "stratigraphy",
        "distributaries",
    }
    assert moving >= cases.keys() - still - {"meandering", "braiding"}, "which find no river on so small a land"

    # What it leaves is watched: a cycle that breaks it is not kept
    class Careless(Snowfall):
        def step(self, world: World, parameters: SnowfallParameters, cycle: Cycle) -> None:
            super().step(world, parameters, cycle)
            world.ground[2, 3] -= 0.5

    simulator._processes = [Careless() if process.name == "snowfall" else process for process in simulator._processes]
    simulator.advance()
    with pytest.raises(SimulationError, match=r"snowfall left ground that is not the sum .* at row 2, column 3"):
        simulator.verify()
    loaded.world.layers["sleet"][2, 3] = np.nan
    assert (fault := find_fault(loaded.world)) and fault[1:] == ("sleet", (2, 3))

    cli.main(["--list-parameters"])

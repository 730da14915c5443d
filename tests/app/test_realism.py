"""`thalweg analyze --realism`, and which lands are like real terrain and stay so."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main as cli
from app.engine.creation import create_world
from app.engine.realism import measure
from app.engine.simulator import Simulator
from app.files.opening import open_scene
from app.model.realism import MEASURES, Realism
from app.model.world import World
from kernels.rivers import drain
from tests.kernels.relief import island
from tests.nets.profile import is_nightly

# Presets whose land is to lie in all ranges, up to which cycle. Nothing raises the old range again: from two million
# years on so little is left of it that its hypsometric integral, 0.19, is lower than that of ranges that still stand.
TRUE_LANDS: dict[str, int] = {
    "jacksboro": 1000,
    "young-range": 1000,
}
NIGHTLY_LANDS = {"old-range": 100}
LOOKS = (0, 30, 60)  # cycles after which it is measured
NIGHTLY_LOOKS = (*LOOKS, 100, 200, 400, 600, 800, 1000)


def realism_of(world: World) -> Realism:
    ground = world.ground
    drainage = drain(ground, world.cell_size, world.sea_level, open_edges=not world.walls)
    return measure(ground, drainage, world.cell_size, cycle=world.cycle)


def strays(found: Realism) -> list[str]:
    """What lies outside of its range, with its value."""
    return [
        f"cycle {found.cycle}: {each.label} {each.text(found.values[each.name])}, not {each.range_text}"
        for each in found.outside()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "last"),
    [*TRUE_LANDS.items(), *(pytest.param(*land, marks=pytest.mark.nightly) for land in NIGHTLY_LANDS.items())],
)
def test_a_true_land_stays_true(preset: str, last: int) -> None:
    world, scene = create_world(open_scene(preset))
    simulator = Simulator(scene, world)
    found = []
    for look in NIGHTLY_LOOKS if is_nightly() else LOOKS:
        if look > last:
            break
        while world.cycle < look:
            simulator.advance()
        found += strays(realism_of(world))
    assert not found


@pytest.mark.parametrize(
    ("preset", "outside"),
    [
        ("noise", {"depth_to_fill", "laplacian_skew", "hack_exponent", "concavity"}),
        ("ridged", {"depth_to_fill", "laplacian_skew", "hack_exponent", "concavity", "bifurcation_ratio"}),
    ],
)
def test_noise_is_no_true_land(preset: str, outside: set[str]) -> None:
    world, _ = create_world(open_scene(preset).with_value("world.worn", 0.0))
    assert {each.name for each in realism_of(world).outside()} >= outside


def test_rivers_make_true_land_of_noise() -> None:
    """But for the skew: their ridges are as round as their valleys."""
    world, _ = create_world(open_scene("noise"))
    assert {each.name for each in realism_of(world).outside()} <= {"laplacian_skew"}


def after(simulator: Simulator, cycles: int) -> World:
    for _ in range(cycles):
        simulator.advance()
    return simulator.world


@pytest.mark.nightly
def test_why_lakes_and_islands_lie_outside_is_what_the_guide_says() -> None:
    """To be filled are the lakes, which cut catchments short; hollows of snowballs are drained by droplets."""
    scene = open_scene("lakes")
    world = after(Simulator(scene, create_world(scene)[0]), 100)
    assert {each.name for each in realism_of(world).outside()} == {"depth_to_fill", "hack_exponent"}
    drainage = drain(world.ground, world.cell_size, world.sea_level, open_edges=not world.walls)
    filled = World(drainage.filled, np.zeros(world.shape), world.cell_size, seed=0)
    assert {each.name for each in realism_of(filled).outside()} == {"hack_exponent"}
    dry = scene.with_value("pools.enabled", False)
    found = realism_of(after(Simulator(dry, create_world(dry)[0]), 100))
    assert "hack_exponent" not in {each.name for each in found.outside()}

    scene = open_scene("island")
    simulator = Simulator(scene, create_world(scene)[0])
    before = realism_of(after(simulator, 100))
    assert {each.name for each in before.outside()} == {"depth_to_fill", "hack_exponent"}
    simulator.change(simulator.scene.with_value("droplets.enabled", True))
    found = realism_of(after(simulator, 300))
    outside = {each.name for each in found.outside()}
    assert "depth_to_fill" not in outside and "hack_exponent" in outside


@pytest.mark.nightly
def test_why_canyon_and_meanders_lie_outside_is_what_the_guide_says() -> None:
    """They are laid out so: a high plateau with one gorge, and a plain that is nearly level."""
    scene = open_scene("canyon")
    simulator = Simulator(scene, create_world(scene)[0])
    laid_out = realism_of(simulator.world)
    found = realism_of(after(simulator, 100))
    assert {each.name for each in found.outside()} == {"hack_exponent", "concavity", "hypsometric_integral"}
    for each in found.outside():
        assert found.values[each.name] == pytest.approx(laid_out.values[each.name], abs=0.03)
    ground = simulator.world.ground
    assert (ground > ground.min() + 0.5 * np.ptp(ground)).mean() > 0.85

    scene = open_scene("meanders")
    simulator = Simulator(scene, create_world(scene)[0])
    laid_out = realism_of(simulator.world)
    found = realism_of(after(simulator, 100))
    outside = {"laplacian_skew", "hack_exponent", "concavity", "length_ratio"}
    assert {each.name for each in found.outside()} == outside
    assert {each.name for each in laid_out.outside()} == outside - {"laplacian_skew"}
    assert found.values["median_slope"] < 0.5  # degrees


def test_a_real_model_has_the_numbers_that_others_found() -> None:
    """Found once by a script of its own for this model, with other routing but for the first two."""
    values = realism_of(create_world(open_scene("jacksboro"))[0]).values
    assert values["depth_to_fill"] == pytest.approx(0.25, abs=0.005)
    assert values["laplacian_skew"] == pytest.approx(-0.02, abs=0.005)
    assert values["hack_exponent"] == pytest.approx(0.61, abs=0.025)
    # Its 0.72 counted lakes as river beds without a gradient
    assert values["concavity"] == pytest.approx(0.51, abs=0.005)


# The command.


def run(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The lines that the command prints."""
    assert cli.main(["analyze", "--realism", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_the_table_has_each_measure_with_its_range_and_what_lies_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ground = island(140, 90) + 12.0
    np.save(tmp_path / "island.npy", ground)
    file = tmp_path / "island.json"
    words = (str(tmp_path / "island.npy"), "--cell-size", "20", "--sea-level", "0", "--json", str(file))
    lines = run(capsys, *words)
    assert lines[0] == f"{tmp_path / 'island.npy'}: 90×140 cells of 20 m, cycle 0"
    found = measure(ground, drain(ground, 20.0, 0.0), 20.0)
    for each in MEASURES:
        value = found.values[each.name]
        number = next(number for number, line in enumerate(lines) if line.startswith(f"{each.title}  "))
        assert each.text(value) in lines[number]
        assert each.range_text in lines[number]
        if meaning := each.meaning(value).removeprefix("not measured: "):
            assert lines[number + 1] == f"    {meaning}"
    bounded = [each for each in MEASURES if each.is_bounded]
    inside = sum(each.low <= abs(found.values[each.name] or math.inf) <= each.high for each in bounded)
    assert lines[-1] == f"{inside} of {len(bounded)} are those of real terrain"
    read: dict[str, Any] = json.loads(file.read_text())
    assert (read["columns"], read["rows"], read["cell_size"], read["cycle"], read["sea_level"]) == (90, 140, 20.0, 0, 0)
    assert {name: row["value"] for name, row in read["measures"].items()} == found.values
    for each in MEASURES:
        row = read["measures"][each.name]
        assert row["verdict"] == each.verdict(row["value"])
        assert row["meaning"] == each.meaning(row["value"])
        assert (row["low"] is None and row["high"] is None) == (not each.is_bounded)
        if row["verdict"] == "inside":
            size = abs(row["value"]) if row["absolute"] else row["value"]
            assert row["low"] <= round(size, each.decimals) <= row["high"]
        assert row["absolute"] == ("±" in each.range_text)


def test_a_preset_runs_first_and_a_saved_world_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    preset = tmp_path / "small.toml"
    preset.write_text('description = "small"\n[world]\nsource = "noise"\ncolumns = 64\nrows = 48\n')
    saved, files = tmp_path / "world.npz", [tmp_path / f"{name}.json" for name in ("preset", "saved", "before")]
    assert cli.main(["simulate", str(preset), "--cycles", "2", "--out", str(saved)]) == 0
    capsys.readouterr()
    assert ", cycle 5" in run(capsys, str(preset), "--cycles", "5", "--json", str(files[0]))[0]
    assert ", cycle 5" in run(capsys, str(saved), "--cycles", "3", "--json", str(files[1]))[0]
    assert ", cycle 2" in run(capsys, str(saved), "--json", str(files[2]))[0]
    ran, went_on, before = (json.loads(file.read_text())["measures"] for file in files)
    assert ran == went_on != before


def test_a_land_too_small_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "small.npy", island(9, 12))
    text = "\n".join(run(capsys, str(tmp_path / "small.npy"), "--cell-size", "20"))
    assert "Hack's exponent" in text
    assert "it needs rivers with 1000 to 2000 cells upstream" in text
    np.save(tmp_path / "sea.npy", island(30, 30))
    lines = run(capsys, str(tmp_path / "sea.npy"), "--cell-size", "20", "--sea-level", "9999")
    assert sum("not measured" in line for line in lines) == len(MEASURES)
    assert lines[-1] == "0 of 7 are those of real terrain"

"""How sure measures are, the curves that they are taken from, and textbook basins whose numbers are known."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.cli import main as cli
from app.engine.realism import measure
from app.engine.realism_spread import FEWEST_BASINS, basins_of, spread_of, weighted
from kernels import morphometry
from kernels.rivers import drain
from tests.kernels.relief import hills, island
from tests.kernels.test_morphometry import CELL_SIZE, in_steady_state

pytestmark = pytest.mark.slow  # whole commands are run

Heights = NDArray[np.float64]


def textbook(theta: float, factor: float = 30.0, seed: int = 2) -> Heights:
    """Basins in steady state: S = factor · A^−θ on the rivers of some hills (Flint 1974)."""
    ground, _ = in_steady_state((160, 200), theta, factor)
    return ground


def test_draws_that_have_each_basin_once_are_the_land_itself() -> None:
    for ground, sea_level in ((hills(160, 200, 300.0, 4), -np.inf), (island(150, 140) + 5.0, 0.0)):
        drainage = drain(ground, 30.0, sea_level)
        basins = basins_of(drainage)
        assert ((basins < 0) == drainage.ocean.reshape(-1)).all()
        once = np.ones((1, basins.max() + 1))
        found = weighted(ground, drainage, 30.0, basins, once)
        expected = measure(ground, drainage, 30.0).values
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            # Quantiles are between the steps of a histogram
            within = 2e-3 if name in ("laplacian_skew", "median_slope", "steep_slope") else 1e-9
            if value is not None:
                assert found[name][0] == pytest.approx(value, rel=within, abs=within), name


def test_a_basin_that_is_drawn_again_counts_again() -> None:
    ground = island(150, 140) + 5.0
    drainage = drain(ground, 30.0, 0.0)
    basins = basins_of(drainage)
    draws = np.random.default_rng(8).integers(0, 4, (3, basins.max() + 1))
    found = weighted(ground, drainage, 30.0, basins, draws.astype(np.float64))
    ways, degrees = morphometry.ways(drainage, 30.0), morphometry.slopes(ground, drainage, 30.0)
    dry = np.flatnonzero((drainage.filled <= ground).reshape(-1) & (basins >= 0))
    assert degrees is not None
    for draw, times in enumerate(draws):
        again = np.repeat(np.arange(len(ways.cells)), times[basins[ways.cells]])
        exponent, _ = np.polyfit(np.log(ways.areas[again]), np.log(ways.lengths[again]), 1)
        assert found["hack_exponent"][draw] == pytest.approx(exponent, rel=1e-9)
        slopes = np.repeat(degrees, times[basins[dry]])
        assert found["median_slope"][draw] == pytest.approx(np.median(slopes), rel=2e-3)


def test_basins_are_whole_and_small_ones_are_together() -> None:
    drainage = drain(island(150, 140) + 5.0, 30.0, 0.0)
    basins, land = basins_of(drainage), ~drainage.ocean.reshape(-1)
    outlets = drainage.routes.outlets.reshape(-1)
    for outlet in np.unique(outlets[land]):
        assert len(np.unique(basins[land & (outlets == outlet)])) == 1
    sizes = np.bincount(basins[land])
    assert len(sizes) >= FEWEST_BASINS and np.median(sizes) >= 0.5 * land.sum() / 2000.0


def test_intervals_hold_the_value_and_are_half_as_wide_for_four_times_the_basins() -> None:
    alone = island(150, 140) + 5.0
    spreads = []
    for ground in (alone, np.tile(alone, (2, 2))):  # four islands of the same form
        drainage = drain(ground, 30.0, 0.0)
        values = measure(ground, drainage, 30.0, river_cells=20).values
        spread = spread_of(ground, drainage, 30.0, river_cells=20)
        held = [name for name, sure in spread.items() if sure and sure.low <= (values[name] or 0.0) <= sure.high]
        assert len(held) >= 6
        assert spread == spread_of(ground, drainage, 30.0, river_cells=20)  # drawn alike each time
        spreads.append(spread)
    one, four = spreads
    ratios = [
        (four_of.high - four_of.low) / (one_of.high - one_of.low)
        for name in ("depth_to_fill", "median_slope", "steep_slope", "drainage_density", "hypsometric_integral")
        if (four_of := four[name]) and (one_of := one[name])
    ]
    assert len(ratios) >= 4 and 0.35 < np.median(ratios) < 0.7


def test_a_land_of_few_basins_has_no_interval() -> None:
    slope = np.tile(np.arange(40.0) - 1.0, (5, 1))  # into the sea in the west, each row for itself
    drainage = drain(slope, 10.0, 0.0, open_edges=False)
    assert basins_of(drainage).max() + 1 == 5
    assert set(spread_of(slope, drainage, 10.0).values()) == {None}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["analyze", "--realism", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("theta", [0.3, 0.45, 0.6])
def test_textbook_basins_have_the_concavity_that_made_them(
    theta: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    factor = 30.0
    np.save(tmp_path / "basins.npy", textbook(theta, factor))
    files = tmp_path / "found.json", tmp_path / "curves.png"
    words = ("--cell-size", f"{CELL_SIZE:g}", "--json", str(files[0]), "--curves", str(files[1]))
    text = run(capsys, str(tmp_path / "basins.npy"), *words)
    measures: dict[str, Any] = json.loads(files[0].read_text())["measures"]
    concavity = measures["concavity"]
    assert concavity["value"] == pytest.approx(theta, abs=0.04)
    low, high = concavity["interval"]
    assert low - 0.03 <= theta <= high + 0.03 and high - low < 0.1
    smallest, largest = concavity["reach_m2"]
    assert 100 * CELL_SIZE**2 <= smallest < 160 * CELL_SIZE**2 < 10.0 * smallest < largest < 160 * 200 * CELL_SIZE**2
    assert f"over catchments of {smallest / 1e6:.3g} to {largest / 1e6:.3g} km²" in text
    with (tmp_path / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["curve"] for row in rows} == {"slope_area", "hack", "hypsometry", "slopes"}
    points = [row for row in rows if row["curve"] == "slope_area"]
    area, slope, law = (np.array([float(row[name]) for row in points]) for name in ("x", "y", "law"))
    np.testing.assert_allclose(slope, factor * area**-theta, rtol=0.3)
    np.testing.assert_allclose(np.diff(np.log(law)) / np.diff(np.log(area)), -concavity["value"], rtol=1e-9)
    assert (area[0], area[-1]) == (smallest, largest)
    picture = np.asarray(Image.open(files[1]).convert("RGB"), np.int64)
    assert picture.shape == (880, 1280, 3)
    for quarter in (np.s_[:440, :640], np.s_[:440, 640:], np.s_[440:, :640], np.s_[440:, 640:]):
        blue = (picture[quarter] == (34, 92, 158)).all(axis=-1)
        assert np.count_nonzero(blue) > 200  # points, or a line


def test_curves_of_a_land_without_rivers_say_that_they_are_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "small.npy", island(9, 12))
    assert "90 % of draws" in run(
        capsys, str(tmp_path / "small.npy"), "--cell-size", "20", "--curves", str(tmp_path / "curves.png")
    )
    curves = {line.partition(",")[0] for line in (tmp_path / "curves.csv").read_text().splitlines()[1:]}
    assert curves == {"hypsometry", "slopes"}


def test_the_picture_of_curves_is_a_png(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "small.npy", island(9, 12))
    for words, why in ((["--realism"], "must end in .png"), (["--out", str(tmp_path / "a")], "is only for --realism")):
        name = "curves.pdf" if why.startswith("must") else "curves.png"
        assert cli.main(["analyze", str(tmp_path / "small.npy"), *words, "--curves", str(tmp_path / name)]) != 0
        assert why in capsys.readouterr().err

"""Each process with its parameters and the climate at pairs of extremes: it goes on, and all of it can be saved."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest

from app.bench.world import everything
from app.scene.scene import DECLARATIONS, GROUPS, Scene, presets
from tests.app.small import small_preset
from tests.nets.extremes import PROCESS_NAMES, rows_of, try_out, values_of
from tests.nets.pairwise import covering_rows
from tests.nets.profile import is_nightly

SIDE = 32  # cells
CYCLES = 3
# Where each process has most to do
SCENES = {
    "geology": "dykes",
    "pools": "lakes",
    "orographic_rain": "rain-shadow",
    "snow": "winter",
    "floods": "dam-break",
    "ice": "alps",
    "isostasy": "young-range",
    "moisture": "oasis",
    "droplets": "coupled",
    "meandering": "meanders",
    "braiding": "braided",
    "coast": "tide",
    "distributaries": "delta",
    "falls": "falls",
    "snowballs": "island",
    "wind_field": "storm",
    "wind": "storm",
    "weathering": "scree",
    "cascade": "dune-field",
    "stratigraphy": "bedded-plain",
    "plants": "forest-island",
}
# So many particles take seconds each cycle: in every run there are fewer, which is as far from the usual number.
FEWER = {
    "floods.most_steps": 300,
    "ice.most_steps": 50,
    "droplets.count": 1_000,
    "snowballs.count": 1_000,
    "wind.count": 500,
    "wind.longest_path": 20_000,
}
FIRST_ROWS = 0.6  # of a process, in every run: more than nine of ten pairs are in these already
SHORT_PAST = 3  # cycles, in every run: a past takes longer than the cycles that are looked at


def small(preset: str, process: str) -> Scene:
    scene = small_preset(preset, SIDE, simulation__threads=1)
    past = scene.world.past if is_nightly() else min(scene.world.past, SHORT_PAST)
    return scene.with_values({f"{process}.enabled": True, "world.past": past})


def with_row(scene: Scene, row: dict[str, object]) -> Scene:
    if not is_nightly():
        row = {path: min(value, FEWER[path]) if path in FEWER else value for path, value in row.items()}  # type: ignore[type-var]
    return scene.with_values(row)  # type: ignore[arg-type]


def wrong_rows(scene: Scene, process: str, folder: Path) -> dict[int, str]:
    """What is wrong with each row of the extremes of a process, by its number."""
    rows = rows_of(process)
    return {
        number: found
        for number, row in enumerate(rows if is_nightly() else rows[: math.ceil(FIRST_ROWS * len(rows))])
        if (found := try_out(with_row(scene, row), CYCLES, folder))
    }


def test_every_process_has_a_scene() -> None:
    assert set(SCENES) == set(PROCESS_NAMES)


@pytest.mark.parametrize("process", PROCESS_NAMES)
def test_each_process_in_its_own_scene(process: str, tmp_path: Path) -> None:
    assert not wrong_rows(small(SCENES[process], process), process, tmp_path)


def test_all_processes_together(tmp_path: Path) -> None:
    """Pairs of two processes, too; every eighth row, and in a nightly run all of them."""
    rows = rows_of(*PROCESS_NAMES)
    scene = everything(SIDE).with_values({"snowballs.enabled": True, "simulation.threads": 1})
    wrong = {
        number: found
        for number, row in enumerate(rows)
        if (is_nightly() or number % 8 == 0) and (found := try_out(with_row(scene, row), CYCLES, tmp_path))
    }
    assert not wrong


@pytest.mark.nightly
@pytest.mark.parametrize("preset", presets())
def test_each_process_in_every_scene(preset: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for process in PROCESS_NAMES:
        with subtests.test(process=process):
            assert not wrong_rows(small(preset, process), process, tmp_path)


# The rows.


def test_rows_cover_each_pair_of_values() -> None:
    factors = {path: values_of(DECLARATIONS[path]) for path in DECLARATIONS if path.startswith(("wind.", "climate."))}
    rows = covering_rows(factors)
    for one, other in itertools.combinations(factors, 2):
        pairs = {(row[one], row[other]) for row in rows}
        assert pairs == set(itertools.product(factors[one], factors[other]))
    assert len(rows) < 40  # of 3 ** 40 that there are
    assert rows == covering_rows(factors)


def test_extremes_are_what_is_declared() -> None:
    assert set(PROCESS_NAMES) <= set(GROUPS)
    assert values_of(DECLARATIONS["wind.suspension"]) == (0.0, 0.0004, 0.01)
    assert values_of(DECLARATIONS["wind.count"]) == (1, 250, 100_000)
    assert values_of(DECLARATIONS["edges.wind"]) == ("open", "wrap")
    assert values_of(DECLARATIONS["edges.sea_level"]) == (-10_000.0, 0.0, 10_000.0)

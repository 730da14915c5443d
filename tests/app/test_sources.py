"""Forms of the land that generators make."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from app.engine.creation import create_world, size_in_cells
from app.model.world import World
from app.scene.scene import Scene, load_preset, presets
from app.sources.generators import GENERATORS
from tests.app.small import small_preset

SIZE = {"world.columns": 60, "world.rows": 40, "world.relief": 100.0, "world.cell_size": 10.0}


def land(**settings: object) -> World:
    return create_world(Scene().with_values({**SIZE, **{k.replace("__", "."): v for k, v in settings.items()}}))[0]  # type: ignore[misc,dict-item]


def test_a_plateau_is_flat_on_top_and_leaves_the_valleys() -> None:
    hills, table = land(world__seed=4), land(world__seed=4, noise__plateau=0.5)
    high = hills.ground > np.quantile(hills.ground, 0.8)
    assert np.ptp(table.ground[high]) < 0.25 * np.ptp(hills.ground[high])
    low = hills.ground < np.quantile(hills.ground, 0.2)
    assert np.corrcoef(hills.ground[low], table.ground[low])[0, 1] > 0.999
    assert np.ptp(table.ground) == pytest.approx(100.0)


@pytest.mark.parametrize(("direction", "falls"), [(0.0, "north"), (90.0, "east"), (180.0, "south"), (270.0, "west")])
def test_a_tilted_land_falls_to_its_direction(direction: float, falls: str) -> None:
    ground = land(noise__tilt=6.0, noise__tilt_direction=direction).ground
    sides = {"north": ground[:8], "south": ground[-8:], "west": ground[:, :8], "east": ground[:, -8:]}
    assert min(sides, key=lambda side: sides[side].mean()) == falls


def test_a_basin_lies_where_it_is_said_to() -> None:
    ground = land(noise__basin=5.0, noise__basin_radius=0.2, noise__basin_row=0.3, noise__basin_column=0.7).ground
    row, column = np.unravel_index(int(ground.argmin()), ground.shape)
    assert np.hypot(row - 12, column - 42) < 4
    sand = land(world__source="sand", sand__rock="basin", sand__rock_radius=0.3, sand__rock_height=0.3)
    assert sand.sediment[20, 30] < 0.05 * sand.sediment.max()
    assert sand.ground[20, 30] < sand.ground.mean()
    assert sand.sediment[:, :5].min() > 0.1 * sand.sediment.max()


def test_a_foreland_falls_from_a_gap_between_mountains_to_a_basin() -> None:
    ground = land(world__source="sand", sand__rock="foreland", sand__height=0.0, sand__rock_radius=0.2).ground
    rows, columns = ground.shape
    row, column = np.unravel_index(int(ground.argmin()), ground.shape)
    assert np.hypot(row - 0.72 * rows, column - 0.55 * columns) < 0.15 * columns
    assert ground[: rows // 3].mean() > 2.0 * ground[rows // 2 :].mean()
    gap = ground[: rows // 3, columns // 2 - 6 : columns // 2 + 6].min(1)
    assert gap.max() < 0.5 * ground[: rows // 3].max(1).min()


def test_a_column_of_dunes_lies_from_north_to_south() -> None:
    sand = {"world__source": "sand", "sand__heap_radius": 0.1, "sand__heap_row": 0.5, "sand__heap_column": 0.25}
    for form, axis, middle in (("column", 1, 15), ("row", 0, 20)):
        thickness = land(**sand, sand__form=form).sediment.sum(1 - axis)
        assert np.count_nonzero(thickness) <= 12
        assert abs(np.average(np.arange(thickness.size), weights=thickness) + 0.5 - middle) < 2.0


def test_a_lake_stands_level_over_the_lowest_point() -> None:
    world = land(world__lake_depth=12.0)
    wet = world.water > 0.0
    assert 0 < np.count_nonzero(wet) < wet.size
    assert (world.ground + world.water)[wet] == pytest.approx(12.0 + world.ground.min())
    assert world.ground[~wet].min() >= 12.0 + world.ground.min()
    assert world.imbalance() < 1e-12


@pytest.mark.parametrize(("direction", "mouth"), [(90.0, "east"), (180.0, "south")])
def test_a_valley_winds_across_the_map_and_falls_to_its_mouth(direction: float, mouth: str) -> None:
    settings = {
        "noise__valley": 5.0,
        "noise__valley_direction": direction,
        "noise__valley_winding": 0.1,
        "noise__valley_fall": 1.0,
        "noise__plateau": 0.9,
    }
    ground = land(**settings).ground
    ground = ground if mouth == "south" else ground.T  # in each row a cross-section, in the order of the way
    bed = ground.min(axis=1)
    assert (bed < np.median(ground, axis=1) - 10.0).all()
    assert np.polyfit(np.arange(len(bed)), bed, 1)[0] < 0.0
    assert np.ptp(ground.argmin(axis=1)) >= 4
    straight = land(**{**settings, "noise__valley_winding": 0.0}).ground
    straight = straight if mouth == "south" else straight.T
    assert np.ptp(straight.argmin(axis=1)) <= 1


def test_hills_reach_into_a_valley_as_spurs() -> None:
    settings = {"noise__valley": 5.0, "noise__valley_width": 0.2, "noise__valley_winding": 0.0, "noise__plateau": 0.9}

    def widths(spurs: float) -> np.ndarray:
        ground = land(noise__valley_spurs=spurs, **settings).ground
        below: np.ndarray = (ground < 75.0).sum(axis=1)
        return below

    assert np.ptp(widths(1.0)) > 3 * max(1, np.ptp(widths(0.0)))


@pytest.mark.parametrize("source", GENERATORS)
def test_a_land_in_other_cells_is_the_same_land(source: str) -> None:
    """As long, as high and of the same shape: not needles in fewer cells, nor gentler in more."""
    scene = Scene().with_values(
        {
            "world.source": source,
            "world.columns": 256,
            "world.rows": 128,
            "world.relief": 900.0,
            "noise.octaves": 3,
            "sand.octaves": 2,
        }
    )
    fine, _ = create_world(scene)
    coarse, _ = create_world(scene.with_values(size_in_cells(scene, 64, 0)))
    assert coarse.shape == (32, 64)
    assert coarse.cell_size == 4.0 * fine.cell_size
    means = fine.ground.reshape(32, 4, 64, 4).mean(axis=(1, 3))
    assert np.ptp(coarse.ground) == pytest.approx(np.ptp(fine.ground), rel=0.25)
    if source != "diamond-square":  # whose random numbers follow the cells
        assert np.corrcoef(means.ravel(), coarse.ground.ravel())[0, 1] > 0.95


def test_numbers_of_articles_count_in_cells_and_files_know_their_own_size() -> None:
    for name in presets():
        scene = load_preset(name)
        values = size_in_cells(scene, 64, 0)
        assert values["world.columns"] == 64
        made = scene.world.source in GENERATORS and scene.world.relief > 0.0
        assert ("world.cell_size" in values) == (made and not name.startswith("article"))
    island = load_preset("island")
    fewer = {"world.columns": 128, "world.rows": 96, "world.cell_size": 80.0, "world.reference_cell_size": 20.0}
    assert size_in_cells(island, 128, 0) == fewer
    assert size_in_cells(island.with_values(fewer), 256, 0)["world.reference_cell_size"] == 20.0
    model = load_preset("jacksboro")
    native, coarse = create_world(model)[0], create_world(model.with_values(size_in_cells(model, 64, 0)))[0]
    assert coarse.reference_cell_size == native.reference_cell_size == native.cell_size < coarse.cell_size
    assert size_in_cells(island, 512, 384)["world.cell_size"] == island.world.cell_size


@pytest.mark.parametrize("name", ["ridged", "noise"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ridged_noise_has_crests_sharper_than_its_hollows(name: str, seed: int) -> None:
    """By the skew of the Laplacian's quantiles, which is 0 where heights mirrored at their mean would look the same."""
    world, _ = create_world(small_preset(name, 128, world__seed=seed))
    low, middle, high = np.percentile(ndimage.laplace(world.ground)[1:-1, 1:-1], [5.0, 50.0, 95.0])
    skew = (high + low - 2.0 * middle) / (high - low)
    assert (skew < -0.2) if name == "ridged" else (abs(skew) < 0.05)

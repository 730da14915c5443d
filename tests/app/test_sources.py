"""Forms of the land that generators make."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import ndimage

from app.engine.creation import create_world, extent_in_metres, size_in_cells
from app.model.errors import UserError
from app.model.parameters import Value
from app.model.soundness import find_fault
from app.model.world import LARGEST_CELL, SMALLEST_CELL, SMALLEST_SIDE, World
from app.scene.scene import Scene, load_preset, presets
from app.sources.generators import GENERATORS
from app.sources.heightmap import resample
from kernels.rivers import drain
from tests.app.small import small_preset
from tests.nets.cases import tried
from tests.nets.profile import is_nightly

SIZE = {"world.columns": 60, "world.rows": 40, "world.relief": 100.0, "world.cell_size": 10.0}


def land(**settings: object) -> World:
    return create_world(Scene().with_values({**SIZE, **{k.replace("__", "."): v for k, v in settings.items()}}))[0]  # type: ignore[misc,dict-item]


SIDES = st.integers(SMALLEST_SIDE, 40)


@tried(25)
@given(
    st.sampled_from(sorted(GENERATORS)), SIDES, SIDES,
    st.floats(math.log(SMALLEST_CELL), math.log(LARGEST_CELL)), st.none() | st.floats(math.log(0.01), math.log(100.0)),
)  # fmt: skip
def test_cells_of_every_size_make_a_land(
    source: str, rows: int, columns: int, log_size: float, log_finer: float | None
) -> None:
    """Where it is at least as large, in reference cells, as the smallest map."""
    size = min(max(math.exp(log_size), SMALLEST_CELL), LARGEST_CELL)
    reference = 0.0 if log_finer is None else size * math.exp(log_finer)
    assume(not reference or SMALLEST_CELL <= reference <= LARGEST_CELL)
    values = {"world.source": source, "world.rows": rows, "world.columns": columns, "world.cell_size": size}
    scene = Scene().with_values({**values, "world.reference_cell_size": reference})
    try:
        world, _ = create_world(scene)
    except UserError as error:
        longest = max(rows, columns) * size
        assert "reference" in str(error) and "\n" not in str(error)
        assert longest < 8.0 * reference or longest > 8192.0 * reference or "lie beyond" in str(error)
    else:
        assert world.shape == (rows, columns)
        assert np.isfinite(world.ground).all() and not find_fault(world)


def test_a_map_of_one_row_is_the_same_in_more() -> None:
    row = np.arange(5.0)[None]
    assert (resample(row, 3, 5) == row.repeat(3, axis=0)).all()


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


def averaged(ground: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The mean of the cells that each of a coarser map covers."""
    (rows, columns), (down, across) = shape, (ground.shape[0] // shape[0], ground.shape[1] // shape[1])
    means: np.ndarray = ground.reshape(rows, down, columns, across).mean(axis=(1, 3))
    return means


def hypsometric_integral(ground: np.ndarray) -> float:
    return float((ground.mean() - ground.min()) / np.ptp(ground))


def mean_slope(ground: np.ndarray, cell_size: float) -> float:
    return float(np.hypot(*np.gradient(ground, cell_size)).mean())


def in_cells(scene: Scene, columns: int) -> World:
    return create_world(scene.with_values(size_in_cells(scene, columns, 0)))[0]


# At their own size some have a number of cells that others do not divide.
DUNES = {"world__source": "sand", "sand__form": "dunes", "world__cell_size": 2.0, "world__relief": 16.0}


@pytest.mark.parametrize("direction", [270.0, 0.0, 215.0])
def test_dunes_rise_with_the_wind_and_fall_steeply_behind_their_crests(direction: float) -> None:
    world = land(**DUNES, world__columns=192, world__rows=192, climate__wind_direction=direction)
    south, east = np.gradient(world.ground, world.cell_size)
    wind = math.radians(direction)
    along = -math.sin(wind) * east + math.cos(wind) * south  # the slope, on the way of the wind
    steep = np.tan(np.radians(25.0))
    assert 0.01 < (along < -steep).mean() < 0.15  # slip faces
    assert (along > steep).mean() < 0.002
    assert np.percentile(-along, 99.9) < np.tan(np.radians(42.0)), "much steeper than sand can lie"
    assert np.ptp(world.ground) > 4.0


def test_high_dunes_rise_up_to_their_brinks_and_low_ones_are_ahead() -> None:
    """None has a table top; where a crest is low it is farther down the wind than beside it, as a horn."""
    world = land(**DUNES, world__columns=256, world__rows=256, sand__unevenness=0.7)
    ground, cell = world.ground, world.cell_size
    falls = (np.roll(ground, -1, 1) - ground) / cell < -math.tan(math.radians(20.0))
    foot_after = 24  # cells, of which none is of two slip faces
    brinks = [(row, int(at)) for row in range(256) for at in np.flatnonzero(~falls[row] & np.roll(falls[row], -1))]
    rises, heights = [], []
    for row, at in brinks:
        around = np.take(ground[row], range(at - 7, at + foot_after), mode="wrap")
        heights.append(float(around[7] - around[7:].min()))
        rises.append(float(around[5] - around[0]) / (5 * cell))  # up to two cells before the brink
    high = np.array(heights) > np.percentile(heights, 60)
    assert np.median(np.array(rises)[high]) > math.tan(math.radians(5.0))
    assert np.percentile(heights, 90) > 2.5 * np.percentile(heights, 10)


def test_a_river_of_a_foreland_has_built_a_delta_with_arms_between_levees_into_its_lake() -> None:
    scene = load_preset("delta")
    lake, delta = (create_world(scene.with_value("sand.delta", length))[0] for length in (0.0, scene.sand.delta))
    built = delta.ground - lake.ground > 1e-6
    assert built[lake.water > 0.0].mean() > 0.1
    assert not built[(lake.water == 0.0) & (ndimage.distance_transform_edt(lake.water == 0.0) > 30)].any()
    rows, columns = np.nonzero(lake.water > 0.0)
    mouth = rows[0], columns[0]
    # Halfway along them, the arms of the delta are water between two strips of land each.
    around = np.linspace(-1.3, 1.3, 400)
    away = 0.5 * scene.sand.delta * max(lake.shape)
    at = (mouth[0] + away * np.cos(around)).astype(int), (mouth[1] + away * np.sin(around)).astype(int)
    land = (delta.water[at] == 0.0).astype(int)
    assert np.count_nonzero(np.diff(land) > 0) >= 4
    assert (lake.water[at] > 0.0).mean() > 0.8
    # Its edge is a shoal, over many cells.
    depth = delta.water[built & (delta.water > 0.0)]
    assert np.count_nonzero(depth < 1.2) > 0.4 * len(depth)


def test_dunes_go_on_at_the_opposite_edge() -> None:
    ground = land(**DUNES, world__columns=160, world__rows=96, climate__wind_direction=250.0).ground
    for axis in (0, 1):
        seam = np.abs(np.take(ground, 0, axis) - np.take(ground, -1, axis))
        inside = np.abs(np.diff(ground, axis=axis))
        assert seam.mean() < 2.0 * inside.mean() and seam.max() <= 1.5 * inside.max()


SIDES = (128, 256, 512, 1024)
IN_FINE_CELLS = ("basic", "dune-field")  # of the presets below, in the check; in the night all
PRESETS_IN_CELLS = ("basic", "ridged", "noise", "diamond-square", "dune-field", "ridges-under-sand", "volcano", "delta")


@pytest.mark.parametrize("name", PRESETS_IN_CELLS)
def test_a_land_is_the_same_in_cells_of_any_size(name: str) -> None:
    """What finer cells show in the mean is what coarser ones show, and their detail is around it."""
    scene = load_preset(name)
    native, _ = create_world(scene)
    extent = native.shape[1] * native.cell_size
    sides = SIDES if is_nightly() else SIDES[: 3 if name in IN_FINE_CELLS else 2]
    lands = [in_cells(scene, columns) for columns in sides]
    coarsest = lands[0]
    relief, slope = np.ptp(native.ground), mean_slope(coarsest.ground, coarsest.cell_size)
    for land in lands:
        assert land.shape[1] * land.cell_size == pytest.approx(extent)
        assert land.reference_cell_size == native.cell_size
        seen = averaged(land.ground, coarsest.shape)
        assert np.sqrt(np.mean((seen - coarsest.ground) ** 2)) < 0.006 * relief
        assert hypsometric_integral(seen) == pytest.approx(hypsometric_integral(coarsest.ground), abs=0.005)
        assert mean_slope(seen, coarsest.cell_size) == pytest.approx(slope, rel=0.02)
        assert averaged(land.sediment, coarsest.shape).mean() == pytest.approx(coarsest.sediment.mean(), rel=1e-3)
    details = [
        land.ground - np.kron(averaged(land.ground, (128, 128)), np.ones((columns // 128, columns // 128)))
        for land, columns in zip(lands, sides, strict=True)
    ]
    assert all(np.diff([np.abs(np.diff(detail)).sum() for detail in details]) > 0.0)


@pytest.mark.parametrize("name", ["basic", "noise", "ridged", "diamond-square", "dune-field", "island"])
def test_a_land_in_its_own_cells_has_the_same_bits_when_these_are_told(name: str) -> None:
    native, _ = create_world(load_preset(name))
    told = in_cells(load_preset(name), native.shape[1])
    assert told.ground.tobytes() == native.ground.tobytes()


def test_smaller_cells_of_a_ridged_land_have_sharper_ridges_and_not_other_ones() -> None:
    fine = in_cells(load_preset("ridged"), 1024)
    native = in_cells(load_preset("ridged"), 512)
    assert mean_slope(fine.ground, fine.cell_size) > mean_slope(native.ground, native.cell_size)
    assert np.corrcoef(averaged(fine.ground, native.shape).ravel(), native.ground.ravel())[0, 1] > 0.9999


# Sand's hills hang on all of them, and a range on the map's edge, which is its base level.
@pytest.mark.parametrize("source", [source for source in GENERATORS if source not in ("sand", "range")])
def test_a_wider_map_shows_the_same_land_and_more_around_it(source: str) -> None:
    scene = Scene().with_values({**SIZE, "world.source": source, "world.columns": 64, "world.rows": 48})
    narrow, _ = create_world(scene)
    wide, _ = create_world(scene.with_values(extent_in_metres(scene, 1280.0, 960.0)))
    assert wide.shape == (96, 128)
    assert wide.cell_size == wide.reference_cell_size == narrow.cell_size
    inside = wide.ground[24:72, 32:96]
    if source == "diamond-square":  # whose land has no edge any more
        assert np.corrcoef(inside.ravel(), narrow.ground.ravel())[0, 1] > 0.8
    else:
        np.testing.assert_allclose(inside, narrow.ground, rtol=0.0, atol=1e-9)
    if source == "island":  # around which there is the sea
        assert wide.ground[0].max() < 0.0
    else:
        slopes = [mean_slope(world.ground, world.cell_size) for world in (narrow, wide)]
        assert slopes[1] == pytest.approx(slopes[0], rel=0.4)


def test_dunes_of_a_wider_map_are_as_long_and_end_where_they_begin() -> None:
    scene = load_preset("dune-field")
    narrow, _ = create_world(scene)
    wide, _ = create_world(scene.with_values(extent_in_metres(scene, 1024.0, 0.0)))
    assert wide.shape == (512, 512)
    slopes = [mean_slope(world.ground, world.cell_size) for world in (narrow, wide)]
    assert slopes[1] == pytest.approx(slopes[0], rel=0.15)
    across = np.abs(wide.ground[:, 0] - wide.ground[:, -1]).mean()
    assert across < 2.0 * np.abs(np.diff(wide.ground, axis=1)).mean()


def test_a_wider_map_in_other_cells_is_the_same_wider_map() -> None:
    scene = load_preset("basic")
    wide = scene.with_values(extent_in_metres(scene, 15360.0, 7680.0))
    native, _ = create_world(wide)
    assert native.shape == (384, 768)
    coarse, _ = create_world(wide.with_values(size_in_cells(wide, 256, 0)))
    assert coarse.shape == (128, 256)
    assert coarse.cell_size == 60.0
    np.testing.assert_allclose(averaged(native.ground, coarse.shape), coarse.ground, rtol=0.0, atol=1e-9)


def test_strata_are_folded_alike_in_cells_of_any_size() -> None:
    scene = load_preset("ledges").with_values({"materials.fold": 30.0, "world.relief": 280.0})
    fine, coarse = in_cells(scene, 256), in_cells(scene, 64)
    rise = averaged(fine.layers["strata_rise"], coarse.shape)
    assert np.abs(rise - rise.mean() - coarse.layers["strata_rise"] + coarse.layers["strata_rise"].mean()).max() < 1.5


def test_numbers_of_articles_count_in_cells() -> None:
    for name in presets():
        scene = load_preset(name)
        values = size_in_cells(scene, 64, 0)
        assert values["world.columns"] == 64
        if name.startswith("article"):
            assert "world.cell_size" not in values
            assert "world.reference_cell_size" not in values
        else:
            few = {"world.columns": 16, "world.rows": 16} if scene.world.source in GENERATORS else {}
            assert values["world.reference_cell_size"] == create_world(scene.with_values(few))[0].cell_size, name
    island = load_preset("island")
    fewer = {"world.columns": 128, "world.rows": 96, "world.cell_size": 80.0, "world.reference_cell_size": 20.0}
    assert size_in_cells(island, 128, 0) == fewer
    assert size_in_cells(island.with_values(fewer), 256, 0)["world.reference_cell_size"] == 20.0
    assert size_in_cells(island, 512, 384)["world.cell_size"] == island.world.cell_size


def test_a_wider_range_is_made_as_wide() -> None:
    """Its longer rivers make it higher, in cells as large as before; there is no land of the narrower one in it."""
    scene = Scene().with_values(
        {"world.source": "range", "world.columns": 64, "world.rows": 48, "world.cell_size": 200.0}
    )
    usual, _ = create_world(scene)
    wide, _ = create_world(scene.with_values(extent_in_metres(scene, 2 * 64 * 200.0, 0.0)))
    assert (wide.shape, wide.cell_size, wide.reference_cell_size) == ((96, 128), 200.0, 200.0)
    assert wide.ground.max() > usual.ground.max()
    for land in (usual, wide):
        drained = drain(land.ground, land.cell_size, -np.inf)
        assert float((drained.filled - land.ground).mean()) < 1.0


@pytest.mark.parametrize("changes", [{}, {"world.cell_size": 30.0}, {"world.relief": 500.0}])
def test_a_file_in_other_cells_keeps_its_extent(changes: dict[str, Value]) -> None:
    model = load_preset("jacksboro").with_values(changes)
    native = create_world(model)[0]
    coarse, fine = in_cells(model, 64), in_cells(model, 806)
    for world in (coarse, fine):
        assert world.reference_cell_size == native.cell_size == native.reference_cell_size
        assert world.shape[1] * world.cell_size == pytest.approx(native.shape[1] * native.cell_size, rel=0.01)
        assert world.ground.mean() == pytest.approx(native.ground.mean(), rel=0.01)
    with pytest.raises(UserError, match="is a file, which keeps its extent"):
        extent_in_metres(model, 9000.0, 0.0)


def test_a_reference_cell_that_is_far_too_small_is_refused() -> None:
    with pytest.raises(UserError, match=r"world.reference_cell_size = 0.001: the land would have"):
        create_world(Scene().with_value("world.reference_cell_size", 0.001))


@pytest.mark.parametrize("name", ["ridged", "noise"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ridged_noise_has_crests_sharper_than_its_hollows(name: str, seed: int) -> None:
    """By the skew of the Laplacian's quantiles, which is 0 where heights mirrored at their mean would look the same."""
    world, _ = create_world(small_preset(name, 128, world__seed=seed, world__worn=0.0))
    low, middle, high = np.percentile(ndimage.laplace(world.ground)[1:-1, 1:-1], [5.0, 50.0, 95.0])
    skew = (high + low - 2.0 * middle) / (high - low)
    assert (skew < -0.2) if name == "ridged" else (abs(skew) < 0.05)

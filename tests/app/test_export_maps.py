"""Maps that are exported: against formulas on lands of a known form, and as other programs read them."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
import rasterio
from numpy.typing import NDArray
from PIL import Image

from app.cli import main as cli
from app.cli.export import landscape_of as saved_landscape
from app.cli.simulate import simulate
from app.engine.creation import create_world
from app.engine.publishing import take_snapshot
from app.engine.refining import refined
from app.engine.simulator import Simulator
from app.engine.streams import streams_of
from app.export.heights import HEIGHT_FORMATS
from app.export.landscape import Landscape
from app.export.light import normals, sky_light, sun_light
from app.export.map_files import MAP_FORMATS, MapFile
from app.export.maps import FAMILIES, MAPS, Map, maps_of, material_names, material_parts
from app.export.meshes import MESH_FORMATS
from app.export.plan import plan
from app.export.trees import TREE_FORMATS, tree_heights
from app.export.wishes import Wishes
from app.files import checkpoint
from app.files.journal import Journal
from app.files.opening import open_scene
from app.model.errors import UserError
from app.model.layers import LOOSE
from app.model.plants import TREE_COLUMNS
from app.model.world import World
from app.picture.layers import _materials_of_cells
from app.scene.edits import Edit, Open
from app.scene.scene import Scene
from app.sources.fields import LandVariables
from kernels.standing import DRY, LAKE, SEA
from tests.app.full_disk import keeps_the_old_file_on_a_full_disk
from tests.app.small import simulated, small_preset, small_scene
from tests.app.test_export import landscape_of, read_back, write
from tests.app.test_heightmap import PROJECTED, write_tiff
from tests.making.freeze import CHECKOUT as ROOT
from tests.making.freeze import COLLECTED

pytestmark = pytest.mark.slow  # worlds are simulated for long, or much is written

Numbers = NDArray[Any]


@pytest.fixture(scope="module")
def wooded() -> Landscape:
    """A preset of everything: lakes, wetness, grass and trees."""
    simulator = simulated(
        12, small_preset("coupled-with-trees", 48, world__rows=36, view__stream_threshold=15, moisture__enabled=True)
    )
    assert len(simulator.world.trees) > 0
    return Landscape(simulator.world, simulator.scene)


@pytest.fixture(scope="module")
def strata() -> Landscape:
    """A land of several rocks and kinds of loose material, which grass grows on."""
    landscape = landscape_of(
        small_scene(materials__enabled=True, materials__loose="sand 3; gravel 1; clay 1", world__soil_depth=0.2), 3
    )
    rows, columns = landscape.world.shape
    landscape.world.trace("grass")[...] = np.linspace(0.0, 1.0, rows * columns).reshape(rows, columns)
    return landscape


def values_of(name: str, landscape: Landscape) -> Numbers:
    (row,) = maps_of(landscape, (name,))
    return np.asarray(row.values(landscape))


def bare(ground: Numbers, cell_size: float = 10.0) -> Landscape:
    return Landscape(World(ground, np.zeros_like(ground), cell_size, 1), Scene())


# What they are.


def test_every_layer_and_mask_of_the_table_is_that_of_the_world(wooded: Landscape) -> None:
    world = wooded.world
    for name in ("sediment", "wetness", "grass", "canopy", "groundwater", "stream"):
        assert np.ptp(world.layers[name]) > 0.0, name
        np.testing.assert_array_equal(values_of(name, wooded), world.layers[name], name)
    np.testing.assert_array_equal(values_of("lakes", wooded), world.standing == LAKE)
    np.testing.assert_array_equal(values_of("sea", wooded), world.standing == SEA)
    depth = values_of("water_depth", wooded)
    wet = world.standing != DRY
    np.testing.assert_allclose(depth[wet], np.maximum(world.water_level - world.ground, 0.0)[wet])
    assert depth.max() > 0.0
    np.testing.assert_array_equal(depth[world.standing == DRY], 0.0)


def test_slope_curvature_and_normals_of_a_plane_and_a_bowl() -> None:
    south, east = np.meshgrid(np.arange(24.0), np.arange(30.0), indexing="ij")
    plane = bare(10.0 * (0.3 * east - 0.4 * south))  # rises to the east and to the north
    np.testing.assert_allclose(values_of("slope", plane), math.degrees(math.atan(0.5)))
    upward = np.array([-0.3, -0.4, 1.0]) / math.sqrt(1.25)
    np.testing.assert_allclose(values_of("normals", plane), np.broadcast_to(upward, (24, 30, 3)), atol=1e-12)
    bowl = bare(0.02 * ((10.0 * east) ** 2 + (10.0 * south) ** 2))
    np.testing.assert_allclose(values_of("curvature", bowl)[1:-1, 1:-1], 0.08)


def test_cliffs_are_steep() -> None:
    step = np.zeros((12, 12))
    step[:, 6:] = 100.0
    cliffs = values_of("cliffs", bare(step))
    assert cliffs[:, 5:7].all() and np.count_nonzero(cliffs) == 24


def test_light_of_the_sky_on_a_plain_and_below_a_wall() -> None:
    np.testing.assert_allclose(sky_light(np.full((20, 24), 7.0), 5.0), 1.0)
    # A long wall takes its half of the sky as far as it rises: the mean of cos² of the horizon's angle over directions,
    # whose tangent is h / d · |cos| of the angle to the wall (exact for a wall without an end)
    wall = np.zeros((401, 60))
    wall[:, 40:] = 100.0
    distance = 10.0 * 10
    angles = np.linspace(0.0, 2.0 * math.pi, 100_000, endpoint=False)
    rise = np.maximum(0.0, 100.0 / distance * np.cos(angles))
    expected = np.mean(1.0 / (1.0 + rise**2))
    assert sky_light(wall, 10.0)[200, 30] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("direction", [0.0, 90.0, 180.0, 270.0])
def test_light_of_the_sun_on_slopes_and_behind_a_wall(direction: float) -> None:
    level = np.zeros((40, 40))
    np.testing.assert_allclose(sun_light(level, 10.0, direction, 30.0), 0.5)
    ridge = level.copy()
    ridge[18:22, 18:22] = 50.0  # whose shadow is 86.6 m long
    lit = sun_light(ridge, 10.0, direction, 30.0)
    away = {0.0: (1, 0), 90.0: (0, -1), 180.0: (-1, 0), 270.0: (0, 1)}[direction]
    south, east = (21 if step > 0 else 18 if step < 0 else 19 for step in away)
    along = [lit[south + away[0] * step, east + away[1] * step] for step in range(1, 14)]
    assert along[1:7] == [0.0] * 6
    assert along[9:] == pytest.approx([0.5] * 4)
    # Towards the sun it is brighter
    slope = 10.0 * np.tan(np.radians(20.0)) * np.arange(40.0)
    facing_south = np.broadcast_to(-slope[:, None], (40, 40))  # lower in the south
    lit = sun_light(np.ascontiguousarray(facing_south), 10.0, direction, 30.0)
    expected = {0.0: math.sin(math.radians(10.0)), 180.0: math.sin(math.radians(50.0))}
    assert lit[20, 20] == pytest.approx(expected.get(direction, 0.5 * math.cos(math.radians(20.0))))


def test_normals_point_up() -> None:
    assert (normals(np.random.default_rng(1).normal(size=(9, 9)), 2.0)[..., 2] > 0.0).all()


def test_flow_leads_downhill_and_is_of_length_1(strata: Landscape) -> None:
    world = strata.world
    for name in ("momentum_east", "momentum_south"):
        assert name in world.layers
    flow, momentum = values_of("flow", strata), values_of("momentum", strata)
    size = np.linalg.norm(flow, axis=-1)
    assert np.logical_or(np.isclose(size, 1.0), size == 0.0).all()
    carried = np.linalg.norm(momentum, axis=-1) > 0.0
    along, length = (flow * momentum).sum(axis=-1), np.linalg.norm(momentum, axis=-1)
    np.testing.assert_allclose(along[carried], length[carried], rtol=1e-5)
    still = bare(np.add.outer(np.arange(10.0), np.zeros(12)))  # which falls to the north
    np.testing.assert_allclose(values_of("flow", still)[1:-1, 1:-1], np.broadcast_to((0.0, 1.0), (8, 10, 2)))


def test_discharge_of_a_year_leaves_the_land() -> None:
    land = bare(np.add.outer(np.arange(10.0), np.zeros(12)))
    through = values_of("discharge", land)
    fallen = 10 * 12 * 100.0 * land.scene.climate.precipitation * 1e-3 / (365.25 * 86400.0)
    assert through[land.drainage.directions == 8].sum() == pytest.approx(fallen)


def test_shore_and_rivers(wooded: Landscape) -> None:
    standing, shore = wooded.world.standing, values_of("shore", wooded)
    assert shore.any() and not (shore & (standing != DRY)).any()
    for row, column in np.argwhere(shore):
        around = standing[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        assert (around != DRY).any()
    rivers = values_of("rivers", wooded)
    assert rivers.any() and not (rivers & (standing != DRY)).any()
    flow, _ = streams_of(wooded.world, wooded.scene.runoff)
    assert flow[rivers].min() >= wooded.scene.runoff.smallest_stream(wooded.world.reference_cell_size)


def test_materials_are_as_in_pictures_and_weights_are_parts_of_a_whole(strata: Landscape) -> None:
    names, ids, parts = material_names(strata), values_of("materials", strata), material_parts(strata)
    assert names[-1] == "grass" and {"sand", "gravel", "clay", "granite", "sandstone"} <= set(names)
    snapshot = take_snapshot(strata.world)
    drawn = _materials_of_cells(snapshot)
    np.testing.assert_array_equal(ids, drawn - drawn.min() + ids.min())
    np.testing.assert_allclose(parts.sum(axis=-1), 1.0)
    assert (parts >= 0.0).all()
    np.testing.assert_allclose(parts[..., -1], strata.world.layers["grass"])
    grassless = parts[..., :-1] / np.maximum(1.0 - parts[..., -1:], 1e-9)
    loose = len(strata.world.materials.names) if strata.world.materials else 0
    rock = grassless[..., loose:].argmax(axis=-1) + loose
    bare_rock = (ids >= loose) & (parts[..., -1] < 0.9)
    assert (rock == ids)[bare_rock].all()


def test_kinds_of_sediment(strata: Landscape) -> None:
    maps = list(maps_of(strata, ("sediment_kinds",)))
    assert {row.name for row in maps} >= {"sediment_sand", "sediment_gravel", "sediment_clay"}
    total = sum(np.asarray(row.values(strata)) for row in maps)
    np.testing.assert_allclose(total, strata.world.sediment)
    np.testing.assert_array_equal(values_of_kind(maps, "sand", strata), strata.world.layers[f"{LOOSE}sand"])


def values_of_kind(maps: list[Map], kind: str, landscape: Landscape) -> Numbers:
    return np.asarray(next(row for row in maps if row.name == f"sediment_{kind}").values(landscape))


def test_maps_that_a_world_has_not() -> None:
    landscape = landscape_of(small_scene())
    named = {row.name for row in maps_of(landscape, ("all",))}
    assert "grass" not in named and "slope" in named
    for family in ("sediment_kinds", "beds"):
        with pytest.raises(UserError, match=f"--maps {family}: this world has none; (its loose material|nothing)"):
            list(maps_of(landscape, (family,)))
    with pytest.raises(UserError, match="--maps grass: this world has none"):
        list(maps_of(landscape, ("grass",)))


def test_a_mask_is_a_map_of_its_own() -> None:
    landscape = landscape_of(small_scene())
    (mask,) = maps_of(landscape, (), "(slope >= 10) * (slope <= 30)")
    slope = LandVariables.of_world(landscape.world).variable("slope")
    assert mask.name == "mask" and mask.kind == "mask"
    assert np.array_equal(mask.values(landscape), (slope >= 10.0) & (slope <= 30.0))
    assert Wishes(mask="slope < 20").checked().any
    with pytest.raises(UserError, match="--mask steep: "):
        Wishes(mask="steep").checked()


# What the ground has lost and gained.

WEARING = {
    "drops": small_scene(),
    "drops on several materials": small_scene(materials__enabled=True, materials__loose="sand 3; gravel 1; clay 1"),
    "wind": small_preset("dune-field", 40),
    "snowballs": small_preset("article-island", 40),
    "uplift, rivers and slopes": small_scene(geology__enabled=True, geology__every=1, geology__years_per_cycle=500.0),
    "worn before": small_scene(world__worn=20_000.0),
}


@pytest.mark.parametrize("name", WEARING)
def test_wear_and_deposit_are_what_the_ground_has_lost_and_gained(name: str) -> None:
    simulator = simulated(0, WEARING[name])
    world = simulator.world
    began = world.ground.copy()
    for _ in range(4):
        simulator.advance()
    landscape = Landscape(world, simulator.scene)
    wear, deposit = values_of("wear", landscape), values_of("deposit", landscape)
    np.testing.assert_array_equal(deposit - wear, world.ground - began)
    assert wear.min() == deposit.min() == 0.0 and wear.max() > 0.0 and deposit.max() > 0.0
    assert not ((wear > 0.0) & (deposit > 0.0)).any()
    accounts = [world.ledger.rock, world.ledger.sediment]
    volume = sum(sum(account.gained.values()) - sum(account.lost.values()) for account in accounts)
    scale = sum(account.scale for account in accounts)
    assert (deposit - wear).sum() * world.cell_area == pytest.approx(volume, abs=1e-9 * scale)


def saved_with_a_journal(path: Path, began: Scene, simulator: Simulator) -> Landscape:
    """A world that was saved, as `thalweg export` reads it."""
    journal = Journal((Edit(0, Open((began,))),), simulator.world.cycle)
    checkpoint.save(path, simulator.world, simulator.scene, journal)
    return saved_landscape(checkpoint.load_scene(path))


def test_saved_worlds_know_the_land_that_they_began_with(tmp_path: Path) -> None:
    scene = small_scene(world__worn=20_000.0)
    simulator = simulated(3, scene)
    expected = values_of("wear", Landscape(simulator.world, scene))
    np.testing.assert_array_equal(
        values_of("wear", saved_with_a_journal(tmp_path / "a.npz", scene, simulator)), expected
    )
    # What has changed since would have worn another land.
    simulator.change(scene.with_value("geology.erodibility", 3.0 * scene.geology.erodibility))
    changed = saved_with_a_journal(tmp_path / "b.npz", scene, simulator)
    np.testing.assert_array_equal(values_of("wear", changed), expected)
    checkpoint.save(tmp_path / "c.npz", simulator.world, simulator.scene)
    without_journal = saved_landscape(checkpoint.load_scene(tmp_path / "c.npz"))
    with pytest.raises(
        UserError, match=r"--maps wear: this world has none; .* made again: it was made with other param"
    ):
        values_of("wear", without_journal)
    assert not {"wear", "deposit"} & {row.name for row in maps_of(without_journal, ("all",))}


def test_a_saved_world_that_was_gone_on_with_knows_its_first_land(tmp_path: Path) -> None:
    scene = small_scene()
    began, world = simulated(0, scene).world.ground, tmp_path / "a.npz"
    for _ in range(2):
        simulate(scene, world, cycles=2, overwrite=True)
        scene = checkpoint.load_scene(world)
    landscape = saved_landscape(scene)
    assert landscape.world.cycle == 4
    np.testing.assert_array_equal(landscape.rise, landscape.world.ground - began)


def test_land_that_a_changed_or_lost_file_began_is_not_known(tmp_path: Path) -> None:
    heights = np.add.outer(np.arange(20.0), np.arange(30.0))
    np.save(tmp_path / "model.npy", heights)
    scene = open_scene(str(tmp_path / "model.npy"))
    simulator = simulated(2, scene)
    assert values_of("wear", Landscape(simulator.world, scene)).max() > 0.0
    np.save(tmp_path / "model.npy", heights[::-1])
    with pytest.raises(UserError, match="from a file that has changed"):
        values_of("wear", Landscape(simulator.world, scene))
    (tmp_path / "model.npy").unlink()
    with pytest.raises(UserError, match=r"cannot be made again: .*model\.npy: there is no such file$"):
        values_of("wear", Landscape(simulator.world, scene))


def test_refined_land_is_not_compared_with_coarser_one() -> None:
    simulator = simulated(1)
    landscape = Landscape(refined(simulator.world, 2, channels=False), simulator.scene)
    with pytest.raises(UserError, match="it was refined since"):
        values_of("wear", landscape)


# As files.


def shades_of(path: Path) -> Numbers:
    """A PNG as GDAL reads it, [row, column] or [row, column, band]."""
    with rasterio.open(path) as file:
        bands = file.read()
    return np.asarray(bands[0] if len(bands) == 1 else np.moveaxis(bands, 0, -1))


@pytest.mark.parametrize("format", MAP_FORMATS)
def test_files_have_the_numbers_of_all_maps(format: str, strata: Landscape, tmp_path: Path) -> None:
    write(strata, tmp_path, maps=("all",), map_format=format)
    entries = {entry["name"]: entry for entry in json.loads((tmp_path / "maps.json").read_text())}
    maps = {row.name: row for row in maps_of(strata, ("all",))}
    assert entries.keys() == maps.keys()
    assert len(list(tmp_path.iterdir())) == 1 + len(maps)
    for name, row in maps.items():
        expected, entry = np.asarray(row.values(strata)), entries[name]
        assert entry["help"] == row.help and entry.get("unit", "") == row.unit
        path = tmp_path / entry["file"]
        if format == "png":
            found = shades_of(path).astype(np.float64)
            if row.kind == "mask":
                found = found / 255.0
            elif row.kind != "id":
                found = (entry["offset"] + entry["step"] * found)[..., : len(row.channels) or None]
                found = found if row.channels else found.reshape(expected.shape)
        elif format == "tif":
            found = shades_of(path)
        elif format == "npy":
            found = np.load(path, allow_pickle=False)
        else:
            channels = OpenEXR.File(str(path), separate_channels=True).channels()
            found = np.stack([channels[name].pixels for name in row.channels or ("Y",)], axis=-1)
            found = found if row.channels else found[..., 0]
        off = 0.501 * entry["step"] + 1e-12 if "step" in entry else 0.0
        np.testing.assert_allclose(found, expected.astype(np.float32), rtol=1e-6, atol=off, err_msg=name)
        if row.kind == "id":
            assert entry["names"] == material_names(strata)


def test_cells_without_data_are_so_in_maps_of_all_kinds(tmp_path: Path) -> None:
    heights = np.add.outer(np.arange(20.0), np.arange(30.0)).astype("f4")
    heights[3:6, 7:9] = np.nan
    place = {"scale": [5.0, 5.0, 0.0], "tiepoint": [0.0, 0.0, 0.0, 4e5, 5e6, 0.0]}
    write_tiff(tmp_path / "model.tif", heights, geo_keys=PROJECTED, **place)
    world, scene = create_world(open_scene(str(tmp_path / "model.tif")))
    for path in write(Landscape(world, scene), tmp_path, maps=("slope", "cliffs", "normals", "materials")):
        if path.suffix == ".tif":
            with rasterio.open(path) as file:
                assert (file.read(masked=True).mask == np.isnan(heights)).all(), path.name


def test_layers_of_one_exr(strata: Landscape, tmp_path: Path) -> None:
    names = ("water_depth", "normals", "materials", "splat")
    write(strata, tmp_path, maps=names, map_format="layered")
    channels = OpenEXR.File(str(tmp_path / "maps.exr"), separate_channels=True).channels()
    for row in maps_of(strata, names):
        expected = np.asarray(row.values(strata))
        for number, channel in enumerate(row.channels or ("V",)):
            found = channels[f"{row.name}.{channel}"].pixels
            assert found.dtype == (np.uint32 if row.kind == "id" else np.float32)
            np.testing.assert_array_equal(
                found, (expected[..., number] if row.channels else expected).astype(found.dtype)
            )
    entries = json.loads((tmp_path / "maps.json").read_text())
    assert {entry["name"] for entry in entries} == {row.name for row in maps_of(strata, names)}


def test_splat_maps_are_pictures_with_four_weights(strata: Landscape, tmp_path: Path) -> None:
    paths = write(strata, tmp_path, maps=("splat",), map_format="png")
    pictures = [Image.open(path) for path in paths if path.suffix == ".png"]
    assert len(pictures) == math.ceil(len(material_names(strata)) / 4)
    assert all(picture.mode == "RGBA" and picture.size == (40, 32) for picture in pictures)
    total = sum(np.asarray(picture).astype(int).sum(axis=-1) for picture in pictures)
    assert np.abs(total - 255).max() <= len(material_names(strata)) // 2


@pytest.mark.parametrize(("rows", "columns"), [(64, 80), (9, 70), (20, 16)])
def test_resized_maps_stay_what_they_are(rows: int, columns: int, strata: Landscape) -> None:
    sheet = strata.sheet.resized(rows, columns)
    for row in maps_of(strata, ("all",)):
        file = MapFile.of(row, strata, sheet)
        before = np.asarray(row.values(strata))
        assert file.values.shape[:2] == (rows, columns)
        match row.kind:
            case "id" | "mask":
                assert set(np.unique(file.values)) <= set(np.unique(before).astype(int))
            case "direction":
                size = np.linalg.norm(file.values, axis=-1)
                assert np.logical_or(np.isclose(size, 1.0, atol=1e-5), size == 0.0).all()
            case _:
                assert file.values.min() >= before.min() - 1e-5 * abs(before.min())
                assert file.values.max() <= before.max() + 1e-5 * abs(before.max())


def test_tiny_and_level_land_have_all_maps(tmp_path: Path) -> None:
    for number, format in enumerate(("png", "tif", "layered")):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(bare(np.full((8, 9), 3.0)), folder, maps=("all",), map_format=format)
        assert (folder / "maps.json").exists()


def test_every_map_is_in_the_table_once_and_has_its_words() -> None:
    assert all(row.name == name and row.help for name, row in MAPS.items())
    assert not set(MAPS) & set(FAMILIES)


def test_full_disk_leaves_old_maps(strata: Landscape, tmp_path: Path) -> None:
    for format in (*MAP_FORMATS, "layered"):
        item, *_ = plan(strata, Wishes(maps=("normals",), map_format=format))
        keeps_the_old_file_on_a_full_disk(item, tmp_path / item.name)
    assert {path.suffix for path in tmp_path.iterdir()} == {".tif", ".png", ".exr", ".npy"}


# Trees.


def test_table_of_trees(wooded: Landscape, tmp_path: Path) -> None:
    (path,) = write(wooded, tmp_path, trees=("csv",))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    world = wooded.world
    assert len(rows) == len(world.trees)
    for row, tree in zip(rows, world.trees, strict=True):
        place = dict(zip(TREE_COLUMNS, map(float, tree), strict=True))
        assert row["kind"] == world.flora.names[int(place["kind"])]
        assert float(row["east"]) == pytest.approx(place["column"] * world.cell_size, rel=1e-5)
        assert float(row["x"]) == pytest.approx(place["column"] * world.cell_size, rel=1e-5)
        assert float(row["y"]) == pytest.approx((world.shape[0] - place["row"]) * world.cell_size, rel=1e-5)
        assert float(row["size"]) == pytest.approx(place["size"], rel=1e-5)
        cells = world.ground[
            max(int(place["row"] - 0.5), 0) : int(place["row"] + 1.5),
            max(int(place["column"] - 0.5), 0) : int(place["column"] + 1.5),
        ]
        assert cells.min() - 1e-2 <= float(row["ground"]) <= cells.max() + 1e-2


def test_trees_of_the_table_are_low_where_it_is_cold(wooded: Landscape) -> None:
    warm = tree_heights(wooded)
    cold = tree_heights(replace(wooded, scene=wooded.scene.with_value("climate.temperature", -2.5)))
    assert (cold < 0.5 * warm).all()
    assert (cold > 0.1 * warm).all()


def test_instances_of_trees_stand_where_they_grow(wooded: Landscape, tmp_path: Path) -> None:
    import trimesh  # takes half a second, and each worker looks for all tests

    (path, table) = write(wooded, tmp_path, trees=("glb", "csv"))
    scene = trimesh.load(path)
    world = wooded.world
    assert set(scene.geometry) == {world.flora.names[int(kind)] for kind in world.trees[:, 2]}
    vertices = {kind: np.asarray(tree.vertices) for kind, tree in scene.geometry.items()}
    nodes = list(scene.graph.nodes_geometry)
    assert len(nodes) == len(world.trees)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    height, width = (side * world.cell_size for side in world.shape)
    for node in nodes:
        matrix, kind = scene.graph[node]
        row = rows[int(node.rpartition(" ")[2])]
        assert row["kind"] == kind
        east, up, south = matrix[:3, 3]
        assert (east + 0.5 * width, south + 0.5 * height) == pytest.approx(
            (float(row["east"]), float(row["south"])), abs=0.1
        )
        assert up == pytest.approx(float(row["ground"]), abs=0.1)
        tree = vertices[kind] @ matrix[:3, :3].T + matrix[:3, 3]
        extents = np.ptp(tree, axis=0)
        assert tree[:, 1].min() == pytest.approx(up, abs=0.1)
        assert extents[1] == pytest.approx(float(row["height"]), rel=1e-3)
        assert extents[0] == pytest.approx(2.0 * float(row["crown_radius"]), rel=0.1)


WITHOUT_OTHERS = """
import sys
for name in {others}:
    sys.modules[name] = None
from app.cli import main
sys.exit(main.main(sys.argv[1:]))
"""


def test_all_formats_are_written_with_what_the_extra_installs(wooded: Landscape, tmp_path: Path) -> None:
    """And with nothing that only tests need, or that `make app` leaves out."""
    others = ["scipy", *(name for name in COLLECTED["exclude-module"] if "." not in name and name != "PyInstaller")]
    checkpoint.save(tmp_path / "world.npz", wooded.world, wooded.scene)
    done = subprocess.run(
        [
            sys.executable, "-c", WITHOUT_OTHERS.format(others=others), "export", str(tmp_path / "world.npz"),
            "--out", str(tmp_path / "out"), "--heights", ",".join(HEIGHT_FORMATS), "--maps", "all",
            "--trees", ",".join(TREE_FORMATS), "--meshes", ",".join([*MESH_FORMATS, "stl"]), "--texture", "64",
            "--pictures", "relief,contours", "--picture-format", "pdf", "--dpi", "36",
        ],
        cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "Error" not in done.stderr, done.stderr
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"ground.tif", "trees.glb", "trees.csv", "ground.glb", "ground.obj", "block.stl", "relief.pdf"} <= written
    with rasterio.open(tmp_path / "out" / "ground.tif") as file:
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"


def test_no_instances_without_trees_and_all_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    words = ["export", "noise", "--size", "32", "--out", str(tmp_path), "--trees"]
    assert cli.main([*words, "glb,csv", "--heights", "npy"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ground.npy", "trees.csv"]
    assert caplog.messages == ["--trees glb: there are no trees in this world"]
    with pytest.raises(UserError, match="--trees glb: there are no trees in this world"):
        plan(landscape_of(small_scene()), Wishes(trees=("glb",)))


def test_table_without_trees(tmp_path: Path) -> None:
    (path,) = write(landscape_of(small_scene()), tmp_path, trees=("csv",))
    assert len(path.read_text().splitlines()) == 1


# The command.


def test_command_writes_maps(tmp_path: Path) -> None:
    words = ["export", "noise", "--size", "40x32", "--maps", "slope,sky"]
    assert cli.main([*words, "--out", str(tmp_path / "all.exr")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.exr", "all.json"]
    assert set(OpenEXR.File(str(tmp_path / "all.exr"), separate_channels=True).channels()) == {"slope.V", "sky.V"}
    assert cli.main([*words, "--map-format", "npy", "--trees", "csv", "--out", str(tmp_path / "f")]) == 0
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == [
        "maps.json",
        "sky.npy",
        "slope.npy",
        "trees.csv",
    ]


def test_heights_and_maps_lie_over_each_other(wooded: Landscape, tmp_path: Path) -> None:
    write(wooded, tmp_path, heights=("tif",), maps=("water_depth",), side="60")
    with rasterio.open(tmp_path / "ground.tif") as ground, rasterio.open(tmp_path / "water_depth.tif") as depth:
        assert ground.bounds == depth.bounds and ground.shape == depth.shape == (45, 60)
    assert read_back(tmp_path / "ground.tif").shape == (45, 60)

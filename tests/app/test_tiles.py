"""Analyses in tiles, against the same land analysed at once: the same bits, however it is cut."""

from __future__ import annotations

import contextlib
import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import imagecodecs
import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from app.cli import main as cli
from app.cli.analysis_maps import MAPS, Way
from app.cli.analyze import RiverWishes, analysis_of, listing_of, rule_of
from app.cli.analyzed_land import Analysis, AnalyzedLand
from app.export.sheet import Sheet
from app.model.climate import ClimateParameters
from app.model.errors import UserError
from app.model.georeference import Origin
from app.model.river_parameters import RiverParameters
from app.model.runoff import Runoff
from app.sources.heightmap import read_heightmap
from app.sources.heightmap.nodata import fill
from app.sources.heightmap.resampling import resample, resampled_part
from app.sources.part import Part
from app.tiles.analysis import Found, TiledAnalysis
from app.tiles.gaps import COARSE, fill_coarse
from app.tiles.land import ArraySource, TiledLand
from app.tiles.mapping import STEPS
from app.tiles.opening import opened_land
from app.tiles.relaid import with_gaps_filled
from app.tiles.run import ONLY_AT_ONCE, UNFINISHED
from app.tiles.steps import Arrays
from app.tiles.store import FolderStore
from app.tiles.tiling import Tiling, Window
from app.tiles.work import Order, perform
from tests.app.test_heightmap import write_tiff
from tests.faults import full_disk
from tests.kernels.relief import RELIEFS, island
from tests.kernels.terrain import hills
from tests.nets.cases import tried
from tests.nets.profile import is_nightly

Heights = NDArray[np.float64]


class Kept:
    """Arrays of tiles in memory, and maps put together."""

    def __init__(self, tiling: Tiling) -> None:
        self.tiling = tiling
        self.arrays: dict[tuple[str, int], NDArray[Any]] = {}
        self.maps: dict[str, NDArray[Any]] = {}
        self.gaps: Heights = np.zeros((0, 0))

    def save(self, name: str, tile: int, array: NDArray[Any]) -> None:
        self.arrays[name, tile] = array.copy()

    def load(self, name: str, tile: int) -> NDArray[Any]:
        return self.arrays[name, tile]

    def coarse(self) -> Heights:
        return self.gaps

    def write(self, name: str, tile: int, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        window = self.tiling.window(tile)
        whole = self.maps.setdefault(name, np.zeros((self.tiling.rows, self.tiling.columns), values.dtype))
        whole[window.row : window.row + window.rows, window.column : window.column + window.columns] = values


def in_tiles(
    land: AnalyzedLand, side: int, wishes: RiverWishes, source: ArraySource | None = None
) -> tuple[Found, dict[str, NDArray[Any]]]:
    """Analyse a land in tiles, in this process, the last tiles first; its ground, or a `source` with gaps in it."""
    tiling = Tiling(*land.ground.shape, side)
    source = source or ArraySource(land.ground)
    tiled = TiledLand(source, tiling, land.cell_size, land.sea_level, land.open_edges, land.runoff)
    store = Kept(tiling)

    def perform(step: str, tiles: Iterable[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
        for tile, told in sorted(tiles, key=lambda item: -item[0]):
            yield tile, STEPS[step](tiled, tile, store, told)

    def fill_gaps(window: Window) -> None:
        with tempfile.TemporaryDirectory() as folder:
            fill_coarse(tiled.source, window, Path(folder))
            store.gaps = np.load(Path(folder) / COARSE)

    found = TiledAnalysis(tiled, perform, lambda cells: rule_of(None, cells, wishes), fill_gaps).run()
    return found, store.maps


def check(land: AnalyzedLand, side: int, wishes: RiverWishes, source: ArraySource | None = None) -> None:
    """Assert that maps and lists are the same in tiles and at once."""
    at_once = analysis_of(land, wishes)
    found, maps = in_tiles(land, side, wishes, source)
    assert maps.keys() == MAPS.keys() - ONLY_AT_ONCE
    for name, values in maps.items():
        expected = MAPS[name].values(at_once)
        assert values.dtype == expected.dtype, name
        np.testing.assert_array_equal(values, expected, name)
    check_lists(found, at_once)


def check_lists(found: Found, at_once: Analysis) -> None:
    """Assert that lists are the same."""
    lakes, basins = at_once.lakes, at_once.watersheds
    for name in ("level", "depth", "cells", "outlet", "inflow"):
        np.testing.assert_array_equal(found.lake[name], getattr(lakes, name), name)
    np.testing.assert_array_equal(found.lake["metres"] * at_once.land.cell_size**2, lakes.volume)
    np.testing.assert_array_equal(found.watershed["outlet"], basins.outlet)
    np.testing.assert_array_equal(found.watershed["cells"], basins.cells)
    of_a_cell = at_once.land.runoff.discharge(at_once.land.cell_size**2)
    through = at_once.discharge.reshape(-1)
    np.testing.assert_array_equal(found.watershed["water"] * of_a_cell, through[basins.outlet])
    np.testing.assert_array_equal(found.lake["water"] * of_a_cell, through[lakes.outlet])
    assert found.water * of_a_cell == at_once.runoff
    assert found.land_cells == np.count_nonzero(~at_once.drainage.ocean)
    assert found.rule == at_once.rule
    check_reaches(found, at_once)
    check_mouths(found, at_once)
    for name, values in found.falls._asdict().items():
        np.testing.assert_array_equal(values, getattr(at_once.falls, name), name)


def check_reaches(found: Found, at_once: Analysis) -> None:
    """Assert that rivers are cut into the same lines."""
    expected, joined = at_once.waters.rivers(), found.reaches
    for name in ("cells", "begin", "following"):
        np.testing.assert_array_equal(getattr(joined.reaches, name), getattr(expected.reaches, name), name)
    for name in ("order", "watershed", "discharge", "land_cells"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(expected, name), name)


def check_mouths(found: Found, at_once: Analysis) -> None:
    """Assert that mouths are the same."""
    expected = listing_of(Path("land"), at_once).mouths
    for name in ("cell", "cells", "discharge", "longest", "watershed"):
        np.testing.assert_array_equal(found.mouth[name], getattr(expected, name), name)


few_heights = st.integers(1, 6).flatmap(
    lambda most: arrays.arrays(
        np.float64,
        st.tuples(st.integers(2, 20), st.integers(2, 20)),
        elements=st.integers(0, most).map(float),
    )
)
sides = st.integers(2, 11)
runoffs = st.sampled_from([Runoff(800.0, 0.0), Runoff(ClimateParameters().precipitation, 0.0, by_altitude=0.7)])


@tried(25)
@given(few_heights, sides, st.sampled_from([-math.inf, 1.0, 2.5]), st.booleans(), runoffs, st.integers(1, 9))
def test_random_land_is_the_same_in_tiles(
    ground: Heights, side: int, sea_level: float, open_edges: bool, runoff: Runoff, smallest: int
) -> None:
    land = AnalyzedLand(ground, 12.5, sea_level=sea_level, open_edges=open_edges, runoff=runoff)
    check(land, side, RiverWishes(cells=smallest, watershed_cells=smallest))
    check(land, side, RiverWishes(discharge=runoff.discharge(smallest * 12.5**2), watershed_cells=2 * smallest))


@pytest.mark.slow
@pytest.mark.parametrize("name", RELIEFS)
def test_land_of_all_kinds_is_the_same_in_tiles(name: str) -> None:
    """Large land is cut into hundreds of tiles in the night only."""
    ground, sea_level = RELIEFS[name]()
    land = AnalyzedLand(ground, 30.0, sea_level=sea_level, runoff=Runoff(1000.0, 0.0, by_altitude=0.5))
    smallest = 7 if ground.size < 20_000 or is_nightly() else 21
    for side in (smallest, 32, 2 * max(ground.shape)):
        check(land, side, RiverWishes(cells=8, watershed_cells=20))


def test_many_border_cells_drain_to_one() -> None:
    row, column = np.mgrid[0:300, 0:150]
    valley = 3.0 * np.abs(column - 75.0) + 1.0 * (300 - row)
    check(AnalyzedLand(valley, 30.0, open_edges=True), 150, RiverWishes(cells=20, watershed_cells=50))


@pytest.mark.parametrize("side", [5, 16])
def test_falls_go_on_over_the_borders_of_tiles(side: int) -> None:
    land = AnalyzedLand(hills(40, 61, 600.0), 8.0)
    falls = analysis_of(land, RiverWishes(cells=3)).falls
    tile_of = (cells // 61 // side * 100 + cells % 61 // side for cells in (falls.lip, falls.foot))
    assert np.not_equal(*tile_of).sum() > 3
    check(land, side, RiverWishes(cells=3, watershed_cells=9))


@tried(30)
@given(few_heights, sides, st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([-math.inf, 1.0]))
def test_gaps_are_filled_as_at_once(ground: Heights, side: int, parts: int, seed: int, sea_level: float) -> None:
    random = np.random.default_rng(seed)
    missing = np.zeros(ground.shape, np.bool_)
    for _ in range(parts):
        top, left = random.integers(ground.shape)
        missing[top : top + random.integers(1, 12), left : left + random.integers(1, 12)] = True
    missing[tuple(random.integers(ground.shape))] = False
    gaps = np.where(missing, 0.0, ground)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.tiles.gaps.AT_ONCE", 8)  # so that several levels go through files
        land = AnalyzedLand(fill(gaps, missing), 12.5, sea_level=sea_level)
        check(land, side, RiverWishes(cells=2, watershed_cells=3), ArraySource(gaps, missing))


@pytest.mark.parametrize("shape", [(40, 70), (9, 12), (20, 12), (5, 70)])
def test_a_part_of_a_resampled_map_is_that_of_the_whole(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).random((20, 30))
    whole = resample(values, *shape)
    for part in (np.s_[0:3, 4:9], np.s_[2:5, 0:12], np.s_[0 : shape[0], 3:4]):
        np.testing.assert_array_equal(resampled_part(values, *shape, part), whole[part])


# The command.

UTM_17N = {1024: 1, 1025: 1, 3072: 32617}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An island with cells of 20 m and some that have no data."""
    ground = island(60, 72) + 12.0
    ground[20:31, 5:37] = ground[50, 70] = -9999.0
    return write_tiff(
        tmp_path_factory.mktemp("model") / "island.tif", ground,
        scale=[20.0, 20.0, 0.0], tiepoint=[0, 0, 0, 5e5, 4e6, 0], geo_keys=UTM_17N, nodata="-9999",
    )  # fmt: skip


# Models whose cells are no squares in metres: the sides of a cell, the first one's corner, and the GeoTIFF keys
OTHER_CELLS = {
    "degrees": ([1 / 50, 1 / 40, 0.0], [0, 0, 0, 7.0, 61.0, 0], {1024: 2, 1025: 1, 2048: 4326}),
    "wide cells": ([33.0, 20.0, 0.0], [0, 0, 0, 5e5, 4e6, 0], UTM_17N),
    "tall cells": ([20.0, 27.0, 0.0], [0, 0, 0, 5e5, 4e6, 0], UTM_17N),
}


@pytest.fixture(scope="module", params=OTHER_CELLS)
def other_model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same island in such cells."""
    ground = island(70, 83) + 12.0
    ground[20:31, 5:37] = ground[60, 70] = ground[:4, :9] = -9999.0
    scale, tiepoint, keys = OTHER_CELLS[request.param]
    path = tmp_path_factory.mktemp("model") / "island.tif"
    return write_tiff(path, ground, scale=scale, tiepoint=tiepoint, geo_keys=keys, nodata="-9999")


def with_other_cells(path: Path, side: int, folder: Path) -> TiledLand:
    """A land in tiles, with the gaps of its model filled."""
    land = opened_land(path, side)
    assert land.own is not None
    store = FolderStore(folder, land.own.tiling)
    return with_gaps_filled(land, [STEPS["gaps"](land, tile, store, {}) for tile in range(len(store.tiling))], folder)


def part_of(values: NDArray[Any], part: Part) -> NDArray[Any]:
    return values[part.row : part.row + part.rows, part.column : part.column + part.columns]


@pytest.mark.parametrize("side", [16, 48])
def test_a_model_in_other_cells_is_read_as_at_once(other_model: Path, side: int, tmp_path: Path) -> None:
    land, expected = with_other_cells(other_model, side, tmp_path), read_heightmap(other_model)
    rows, columns = expected.elevation.shape
    assert (land.tiling.rows, land.tiling.columns, land.cell_size) == (rows, columns, expected.cell_size)
    own, origin = land.own, Origin(expected.georeference, expected.missing, expected.source)
    assert own is not None and land.place is not None and expected.georeference is not None
    assert (own.sheet.back is not None) == own.sheet.place.in_degrees  # these are projected
    np.testing.assert_array_equal(land.place.to_model, expected.georeference.to_model)
    assert land.place.keys == expected.georeference.keys
    for top in range(0, rows, 21):  # also windows that do not begin as tiles do
        for left in range(0, columns, 34):
            window = Window(top, left, min(29, rows - top), min(40, columns - left))
            ground, missing = land.source.read(window)
            cells = np.s_[top : top + window.rows, left : left + window.columns]
            known = np.ones(ground.shape, np.bool_) if missing is None else ~missing
            np.testing.assert_array_equal(ground[known], expected.elevation[cells][known])
            assert expected.missing is not None and expected.missing[cells][~known].all()
    sheet = Sheet.of_source((rows, columns), land.cell_size, origin)
    assert (own.sheet.width, own.sheet.height) == (sheet.width, sheet.height)
    random, whole = np.random.default_rng(3), np.zeros((sheet.rows, sheet.columns))
    ways: dict[Way, Any] = {"mean": sheet.numbers, "largest": sheet.largest, "label": sheet.labels}
    for way, at_once in ways.items():
        values = random.random((rows, columns)).astype(np.float32)
        for tile in range(len(own.tiling)):
            window = own.tiling.window(tile)
            cells = np.s_[window.row : window.row + window.rows, window.column : window.column + window.columns]
            whole[cells] = own.laid(tile, way, partial(part_of, values))
        np.testing.assert_array_equal(whole, at_once(values), way)


@pytest.mark.slow
@pytest.mark.parametrize("other_model", ["degrees"], indirect=True)
def test_the_command_brings_maps_back_to_the_cells_of_the_model(other_model: Path, tmp_path: Path) -> None:
    once, tiles = tmp_path / "once", tmp_path / "tiles"
    words = ["analyze", str(other_model), "--sea-level", "2", "--river", "12", "--watershed", "30", "--out"]
    assert cli.main([*words, str(once)]) == 0
    with (
        mock.patch("app.tiles.run.opened", lambda *_: contextlib.nullcontext()),
        mock.patch("app.tiles.run.Crew", Alone),
    ):
        assert cli.main([*words, str(tiles), "--tiles", "32"]) == 0
    for name in MAPS.keys() - ONLY_AT_ONCE:
        with tifffile.TiffFile(tiles / f"{name}.tif") as file, tifffile.TiffFile(once / f"{name}.tif") as expected:
            np.testing.assert_array_equal(file.asarray(), expected.asarray(), name)
            for tag in ("GDAL_NODATA", "ModelTiepointTag", "ModelPixelScaleTag", "GeoKeyDirectoryTag", "GDAL_METADATA"):
                assert file.pages.first.tags[tag].value == expected.pages.first.tags[tag].value
    lists, expected_lists = (json.loads((place / "analysis.json").read_text()) for place in (tiles, once))
    assert lists.items() <= expected_lists.items()
    assert (tiles / "vectors.gpkg").read_bytes() == (once / "vectors.gpkg").read_bytes()


class Alone:
    """Performs steps in this process."""

    def __init__(self, client: object, land: TiledLand, store: FolderStore, done: object) -> None:
        self._land, self._store = land, store

    def perform(self, step: str, tiles: Iterable[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
        for tile, told in tiles:
            yield tile, STEPS[step](self._land, tile, self._store, told)


class Keeping(Alone):
    """Performs steps in this process, unless they are done."""

    def perform(self, step: str, tiles: Iterable[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
        for tile, told in tiles:
            yield tile, perform(Order(self._land, self._store, step, tile, told)).told


@pytest.mark.parametrize("other_model", ["wide cells"], indirect=True)
def test_other_options_take_nothing_from_a_run_that_failed(other_model: Path, tmp_path: Path) -> None:
    def analyze(folder: str, river: int) -> int:
        words = ["analyze", str(other_model), "--river", str(river), "--tiles", "48", "--out", str(tmp_path / folder)]
        return cli.main(words)

    with (
        mock.patch("app.tiles.run.opened", lambda *_: contextlib.nullcontext()),
        mock.patch("app.tiles.run.Crew", Keeping),
    ):
        with mock.patch("app.tiles.run.write_vectors", side_effect=UserError("full")):
            assert analyze("again", 12) != 0
        assert analyze("again", 60) == analyze("afresh", 60) == 0
    again, afresh = (tifffile.imread(tmp_path / folder / "rivers.tif") for folder in ("again", "afresh"))
    np.testing.assert_array_equal(again, afresh)


@pytest.mark.slow
def test_the_command_writes_the_same_in_tiles(model: Path, tmp_path: Path) -> None:
    """By one process; in the night by two."""
    rain = tmp_path / "rain.png"
    rain.write_bytes(imagecodecs.png_encode(np.tile(np.arange(0, 250, 5, np.uint8), (30, 1))))
    words = ["--sea-level", "0", "--river", "12", "--watershed", "30"]
    words += ["--rain-by-altitude", "0.5", "--rain-map", str(rain)]
    workers = "2" if is_nightly() else "1"
    for name, more in (("once", ()), ("tiles", ("--tiles", "16", "--workers", workers))):
        assert cli.main(["analyze", str(model), "--out", str(tmp_path / name), *words, *more]) == 0
    once, tiles = tmp_path / "once", tmp_path / "tiles"
    for name in MAPS.keys() - ONLY_AT_ONCE:
        with tifffile.TiffFile(tiles / f"{name}.tif") as file, tifffile.TiffFile(once / f"{name}.tif") as expected:
            np.testing.assert_array_equal(file.asarray(), expected.asarray(), name)
            for tag in ("GDAL_NODATA", "ModelTiepointTag", "ModelPixelScaleTag", "GeoKeyDirectoryTag", "GDAL_METADATA"):
                assert file.pages.first.tags[tag].value == expected.pages.first.tags[tag].value
            assert [page.shape for page in file.pages] == [(60, 72), (30, 36), (15, 18), (8, 9)]  # with overviews
    lists, expected_lists = (json.loads((place / "analysis.json").read_text()) for place in (tiles, once))
    left_out = {"rivers_that_end_in_a_hollow_without_filling"}
    assert lists == {name: value for name, value in expected_lists.items() if name not in left_out}
    assert (tiles / "vectors.gpkg").read_bytes() == (once / "vectors.gpkg").read_bytes()
    assert not (tiles / UNFINISHED).exists()


def orders_of(model: Path, folder: Path) -> tuple[TiledLand, FolderStore]:
    """A land in tiles, and a place for what is done."""
    land = opened_land(model, 32)
    return land, FolderStore(folder, land.tiling)


def analyzed(land: TiledLand, store: FolderStore, steps: Counter[str], most: float = math.inf) -> Found:
    """Analyse a land, and count the steps of tiles that are done; it is killed where there would be more."""

    def perform_all(step: str, tiles: Iterable[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
        for tile, told in tiles:
            if steps.total() >= most:
                raise KeyboardInterrupt
            outcome = perform(Order(land, store, step, tile, told))
            assert not outcome.error
            steps[step] += not outcome.was_done
            yield tile, outcome.told

    def rule(cells: int) -> RiverParameters:
        return rule_of(None, cells, RiverWishes())

    return TiledAnalysis(land, perform_all, rule, lambda window: fill_coarse(land.source, window, store.folder)).run()


@pytest.mark.slow
def test_a_killed_run_goes_on_from_what_is_done(model: Path, tmp_path: Path) -> None:
    whole, first, rest = Counter[str](), Counter[str](), Counter[str]()
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    expected = analyzed(*orders_of(model, tmp_path / "whole"), whole)
    with pytest.raises(KeyboardInterrupt):
        analyzed(*orders_of(model, tmp_path / "killed"), first, whole.total() // 2)
    found = analyzed(*orders_of(model, tmp_path / "killed"), rest)
    assert first.total() > 0 and rest.total() > 0
    assert first + rest == whole
    for name, values in expected.lake.items():
        np.testing.assert_array_equal(found.lake[name], values)
    kept = sorted(path.name for path in (tmp_path / "whole").glob("*.map"))
    for name in kept:
        with np.load(tmp_path / "whole" / name) as one, np.load(tmp_path / "killed" / name) as other:
            assert all(np.array_equal(one[key], other[key]) for key in one)
    assert len(kept) == 9 * 6


def test_a_full_disk_is_one_line(model: Path, tmp_path: Path) -> None:
    land, store = orders_of(model, tmp_path)
    told = {"gaps": np.zeros(0, np.int64), "sea": np.zeros(0, np.int64), "edges": np.array(True)}
    with mock.patch("app.tiles.store.np.savez", mock.Mock(side_effect=full_disk())):
        outcome = perform(Order(land, store, "passes", 0, told))
    assert (
        outcome.error
        == f"cannot write into {tmp_path.parent}: no space is left there; free some or choose another place"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--tiles", "20"), "--tiles 20: the side of a tile must be a multiple of 16 cells"),
        (("--workers", "2"), "--workers is only for --tiles"),
        (("--tiles", "32", "--relief", "100"), "--relief does not go with --tiles"),
    ],
)
def test_what_does_not_go_is_told_in_one_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert cli.main(["analyze", str(model), "--out", str(tmp_path / "maps"), *words]) != 0
    assert why in capsys.readouterr().err
    assert not (tmp_path / "maps").exists()

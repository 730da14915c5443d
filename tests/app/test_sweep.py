"""`thalweg sweep`: the same bits as one world alone, sets that go on where they were left, and what recipes may say."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import distributed
import numba
import numpy as np
import psutil
import pyarrow.parquet
import pytest
import rasterio
import xarray
from distributed.comm import CommClosedError
from numpy.typing import NDArray
from PIL import Image

from app.cli import main as cli
from app.cli.scenes import scene_of
from app.cli.sheet import GAP
from app.cli.signals import Wish
from app.cli.table import find_command
from app.files import guide
from app.files.opening import open_scene
from app.files.recorder import write_png
from app.model.errors import UserError
from app.model.realism import MEASURES
from app.scene.scene import Scene
from app.sweep import cluster
from app.sweep.recipe import MOST_WORLDS, Range, Recipe, open_recipe, read_recipe
from app.sweep.result_set import ResultSet
from app.sweep.worlds import Order, Outcome, Wanted, program, run_world, stored_as
from tests.app.small import simulated
from tests.app.test_export import UTM_17N
from tests.app.test_heightmap import write_tiff
from tests.test_imports import loaded_by
from tests.waiting import PATIENCE, wait_for

SMALL = """
sources = ["noise"]
size = "40x32"
cycles = 6
layers = ["ground", "water_depth", "flow", "lakes", "moisture"]
pictures = []
{more}

[changes.world]
reference_cell_size = 0.0  # the count is for so few cells

[changes.droplets]
count = 60
"""
RAIN = "[vary.climate]\nprecipitation = [400.0, 1600.0]\n[vary.world]\nseed = [3, 4]"
no_signals_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="no signals are sent there")
SIX = "seeds = { from = 1, count = 6 }"
NOTHING = Wanted(("ground",), (), 16, 16)


def written(folder: Path, more: str = "", name: str = "recipe.toml", text: str = SMALL) -> Path:
    """A recipe's file."""
    keys, _, sections = more.partition("[")
    path = folder / name
    path.write_text(text.replace("{more}", keys) + (f"\n[{sections}" if sections else ""), encoding="utf-8")
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def swept(recipe: Path, out: Path, *words: str) -> int:
    return cli.main(["sweep", str(recipe), "--out", str(out), *words])


@pytest.fixture(autouse=True)
def unchanged_environment() -> Iterator[None]:
    """Dask sets in this process what it sets for its workers; with that, Numba would compile nothing more here."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def patience_with_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was killed is replaced by a process that has to load all, which takes a busy machine long."""
    monkeypatch.setattr(cluster, "PATIENCE", PATIENCE)


PIDS: set[int] = set()  # of all processes that the worker has been


@pytest.fixture(scope="module")
def worker() -> Iterator[distributed.Client]:
    """The client of a process of this machine, which sweeps share: to start one takes seconds. Two starts fail before.

    It ends with the cluster, and so do those that it replaced.
    """
    start, fails = distributed.LocalCluster, [RuntimeError("Nanny failed to start."), CommClosedError("closed")]

    def started(**options: Any) -> distributed.LocalCluster:
        if fails:
            raise fails.pop()
        return start(**options)

    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "LocalCluster", started)
        with cluster.opened(workers=1) as client:
            patch.undo()
            os.environ.clear()
            os.environ.update(before)
            assert not fails
            yield client
            PIDS.update(client.run(os.getpid).values())
    wait_for(lambda: not PIDS & set(psutil.pids()), "the end of all workers")


def swept_by(worker: distributed.Client, recipe: Path, out: Path, *words: str) -> int:
    return swept(recipe, out, "--scheduler", worker.scheduler.address, *words)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, worker: distributed.Client) -> Path:
    """A set of four worlds: two climates, two seeds."""
    folder = tmp_path_factory.mktemp("whole")
    table = str(folder / "set.parquet")
    assert swept_by(worker, written(folder, RAIN), folder / "set.zarr", "--table", table) == 0
    return folder


def count_of_runs(dask_scheduler: Any) -> dict[str, int]:
    """How often each world was begun."""
    counts: dict[str, int] = {}
    for key, _, finish, *_ in dask_scheduler.transition_log:
        if finish == "processing":
            counts[str(key)] = counts.get(str(key), 0) + 1
    return counts


@no_signals_on_windows
def test_workers_that_are_killed_are_replaced(
    worker: distributed.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is killed as it gets ready, and one in the midst of a world. It is the first test, as the next worker stays.

    That all end with the program is seen where the cluster ends.
    """

    def killed_at_first(scenes: Sequence[Scene], tried: Path) -> None:
        if not tried.exists():
            tried.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    tried = tmp_path / "world-1"

    def kills_the_worker_of_world_1_once(order: Order) -> Outcome:
        if order.number == 1 and not tried.exists():
            tried.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(figures={"number": order.number})

    monkeypatch.setattr("app.sweep.worlds.prepare", killed_at_first)
    monkeypatch.setattr("app.sweep.worlds.run_world", kills_the_worker_of_world_1_once)
    orders = [Order(number, Scene(), 1, NOTHING, program()) for number in range(4)]
    pids = set(worker.run(os.getpid).values())
    assert worker.run(lambda: os.environ["NUMBA_NUM_THREADS"]) == dict.fromkeys(worker.ncores(), "1")
    cluster.prepare(worker, [], tmp_path / "ready")  # type: ignore[arg-type]
    pids.update(worker.run(os.getpid).values())
    outcomes = list(cluster.run_all(worker, iter(orders), Wish()))
    pids.update(worker.run(os.getpid).values())
    PIDS.update(pids)
    assert len(pids) == 3
    assert sorted((number, outcome.figures["number"]) for number, outcome in outcomes) == [(n, n) for n in range(4)]
    # The one that it had, and one that was given to it before its end was known
    runs = worker.run_on_scheduler(count_of_runs)
    assert sum(count for key, count in runs.items() if key.startswith("world-")) in (5, 6), runs


def test_worlds_have_the_bits_of_one_that_runs_alone(whole: Path) -> None:
    found = xarray.open_zarr(whole / "set.zarr")
    assert dict(found.sizes) == {"world": 4, "row": 32, "column": 40, "flow_channel": 2}
    assert found.ground.dims == ("world", "row", "column")
    scenes = [world.scene for world in open_recipe(whole / "recipe.toml").worlds]
    assert [scene.climate.precipitation for scene in scenes] == [400.0, 400.0, 1600.0, 1600.0]
    for number, scene in enumerate(scenes):
        alone = simulated(6, scene).world  # on all cores
        one = found.isel(world=number)
        assert one.ground.values.tobytes() == alone.ground.astype(np.float32).tobytes()
        assert float(one["ledger.sediment.stored"]) == alone.stored("sediment")
        assert float(one["ledger.rock.lost"]) == sum(alone.ledger.rock.lost.values())
        assert one.lakes.dtype == np.uint8
        assert np.isnan(one.moisture.values).all()  # which this world has not


def test_rows_and_columns_have_coordinates_in_local_metres(whole: Path) -> None:
    found = xarray.open_zarr(whole / "set.zarr")
    assert found.attrs["Conventions"].startswith("CF-")
    assert found.world.values.tolist() == [0, 1, 2, 3]
    side = float(found["cell_size"][0])
    np.testing.assert_allclose(found.column, (np.arange(40) + 0.5) * side)
    np.testing.assert_allclose(found.row, (31.5 - np.arange(32)) * side)  # north up
    assert (found.row.attrs["axis"], found.column.attrs["axis"], found.row.attrs["units"]) == ("Y", "X", "m")
    assert "spatial_ref" in found.ground.coords and "crs_wkt" not in found.spatial_ref.attrs


def run_here(folder: Path, more: str = "", text: str = SMALL) -> xarray.Dataset:
    """The set of a recipe whose worlds have run in this process."""
    found = made(folder, more, text)
    recipe = open_recipe(folder / "recipe.toml")
    said = recipe.said
    wanted, threads = Wanted(tuple(said.layers), (), said.width, said.height), numba.get_num_threads()
    for world in recipe.worlds:
        outcome = run_world(Order(world.number, world.scene, said.cycles, wanted, program()))
        assert not outcome.error
        found.put(world.number, outcome)
    numba.set_num_threads(threads)
    found.write_figures()
    return xarray.open_zarr(found.path)


def test_worlds_of_a_model_have_its_coordinate_system(tmp_path: Path) -> None:
    ground = np.add.outer(np.arange(24.0), np.arange(30.0))
    place = {"scale": [20.0, 20.0, 0.0], "tiepoint": [0, 0, 0, 5e5, 4e6, 0], "geo_keys": UTM_17N}
    write_tiff(tmp_path / "model.tif", ground, **place)
    text = f"""
sources = ["{tmp_path / "model.tif"}"]
cycles = 0
layers = ["ground", "lakes"]
pictures = []
seeds = {{ from = 1, count = 2 }}
"""
    found = run_here(tmp_path, text=text)
    np.testing.assert_allclose(found.column, 5e5 + 20.0 * (np.arange(30) + 0.5))
    np.testing.assert_allclose(found.row, 4e6 - 20.0 * (np.arange(24) + 0.5))
    told = found.spatial_ref.attrs
    assert rasterio.crs.CRS.from_wkt(told["crs_wkt"]).to_epsg() == 32617
    assert [float(number) for number in told["GeoTransform"].split()] == [5e5, 20.0, 0.0, 4e6, 0.0, -20.0]
    assert found.ground.encoding.get("grid_mapping", found.ground.attrs.get("grid_mapping")) == "spatial_ref"
    assert found.row.attrs["standard_name"] == "projection_y_coordinate"
    assert found.ground.sel(row=4e6 - 10.0, column=5e5 + 590.0, world=1).values == 29.0


def test_worlds_in_several_places_count_rows_and_columns(tmp_path: Path) -> None:
    found = run_here(tmp_path, "[vary.world]\ncell_size = [10.0, 20.0]")
    np.testing.assert_array_equal(found.row, np.arange(32) + 0.5)
    assert found.row.attrs["units"] == "1" and "crs_wkt" not in found.spatial_ref.attrs


def test_saved_world_of_simulate_is_the_same(whole: Path) -> None:
    words = ["noise", "--size", "40x32", "--seed", "4", "--cycles", "6", "--out", str(whole / "world.npz")]
    changes = ["world.reference_cell_size=0.0", "droplets.count=60", "climate.precipitation=1600.0"]
    settings = [word for setting in changes for word in ("--set", setting)]
    assert cli.main(["simulate", *words, *settings]) == 0
    with np.load(whole / "world.npz", allow_pickle=False) as saved:
        ground = (saved["bedrock"] + saved["sediment"]).astype(np.float32)
    assert (xarray.open_zarr(whole / "set.zarr").ground.isel(world=3).values == ground).all()


def test_figures_are_in_the_set_and_in_the_table(whole: Path) -> None:
    found = xarray.open_zarr(whole / "set.zarr")
    table = pyarrow.parquet.read_table(whole / "set.parquet").to_pydict()
    assert table["world"] == [0, 1, 2, 3]
    assert table["seed"] == found.seed.values.tolist() == [3, 4, 3, 4]
    assert table["source"] == found.source.values.tolist() == ["noise"] * 4
    assert table["error"] == [""] * 4
    assert table["status"] == found.status.values.tolist() == ["done"] * 4
    for name in ("climate.precipitation", "ledger.water.gained", *(f"realism.{each.name}" for each in MEASURES)):
        values = [np.nan if value is None else value for value in table[name]]
        assert np.array(values).tobytes() == found[name].values.tobytes(), name
    assert np.isfinite(found["realism.median_slope"]).all()
    low, high = (found[f"realism.median_slope.{end}"] for end in ("low", "high"))
    assert (low < high).all() and (low <= found["realism.median_slope"] + 0.1).all()
    record = json.loads(found.record.values[0])
    assert record["ledger"]["sediment"]["lost"]


def test_all_is_there_already(whole: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("nothing is missing")

    monkeypatch.setattr(cluster, "opened", fail)
    before = files_of(whole / "set.zarr")
    assert swept(whole / "recipe.toml", whole / "set.zarr") == 0
    assert "4 of 4 worlds are there" in capsys.readouterr().out
    assert files_of(whole / "set.zarr") == before
    with (whole / "set.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["climate.precipitation"] for row in rows] == ["400.0", "400.0", "1600.0", "1600.0"]


@no_signals_on_windows
def test_stopped_set_goes_on_and_is_the_same_to_the_bit(
    whole: Path,
    worker: distributed.Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe, stopped = whole / "recipe.toml", tmp_path / "stopped.zarr"
    everybody = [os.getpid(), *worker.run(os.getpid).values()]
    put, numbers = ResultSet.put, list[int]()

    def put_and_stop_after_two(found: ResultSet, number: int, outcome: Outcome) -> None:
        put(found, number, outcome)
        numbers.append(number)
        if len(numbers) == 2:
            for pid in everybody:  # as a terminal does
                os.kill(pid, signal.SIGINT)

    monkeypatch.setattr(ResultSet, "put", put_and_stop_after_two)
    monkeypatch.setattr(cluster, "LONGEST_STEP", PATIENCE)
    assert swept_by(worker, recipe, stopped) == 128 + signal.SIGINT
    out, err = capsys.readouterr()
    assert "3 worlds are there, and 1 missing" in err.splitlines()[-1], "the third was running already"
    assert str(stopped) in out
    assert sorted(xarray.open_zarr(stopped).status.values.tolist()) == ["done"] * 3 + ["missing"]
    assert swept_by(worker, recipe, stopped) == 0
    assert sorted(numbers) == [0, 1, 2, 3], "none runs twice"
    assert files_of(stopped) == files_of(whole / "set.zarr")


@pytest.mark.nightly
@no_signals_on_windows
def test_own_workers_give_the_same_set_and_leave_a_stop_by_the_terminal_to_the_program(
    worker: distributed.Client, tmp_path: Path
) -> None:
    recipe = written(tmp_path, SIX, text=SMALL.replace("cycles = 6", "cycles = 1500"))
    command = [sys.executable, "-m", "app", "sweep", str(recipe), "--workers", "1", "--out"]
    stopped = tmp_path / "stopped.zarr"
    process = subprocess.Popen(
        [*command, str(stopped)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip

    def records() -> list[Path]:
        assert process.poll() is None, process.communicate()
        return list((stopped / "record" / "c").glob("*"))

    wait_for(records, "a world")
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGINT, err
    assert "worlds are there, and" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert swept(recipe, stopped, "--workers", "2") == 0
    assert swept_by(worker, recipe, tmp_path / "at-once.zarr") == 0
    assert files_of(stopped) == files_of(tmp_path / "at-once.zarr")


@pytest.mark.nightly
@no_signals_on_windows
def test_killed_worker_loses_the_world_it_had() -> None:
    recipe = read_recipe(SMALL.replace("{more}", SIX), "recipe", Path())
    orders = iter([Order(world.number, world.scene, 4000, NOTHING, program()) for world in recipe.worlds])
    outcomes: dict[int, Outcome] = {}
    with cluster.opened(workers=2) as client:
        for number, outcome in cluster.run_all(client, orders, Wish()):
            assert number not in outcomes
            outcomes[number] = outcome
            if len(outcomes) == 2:
                wait_for(lambda: all(client.processing().values()), "worlds of both workers")
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        runs = client.run_on_scheduler(count_of_runs)
    assert sorted(outcomes) == list(range(6))
    assert not [outcome.error for outcome in outcomes.values() if outcome.error]
    # The one that it had, and on a busy machine one that was done there and not yet fetched.
    assert sum(runs.values()) <= 6 + 2, runs
    alone = simulated(4000, recipe.worlds[3].scene).world
    assert outcomes[3].layers["ground"].tobytes() == alone.ground.astype(np.float32).tobytes()


def test_no_process_that_starts_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    with pytest.raises(UserError, match="no processes that run worlds can be started"), cluster.opened(workers=1):
        pass


def test_workers_that_end_time_and_again_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise distributed.KilledWorker("its task", SimpleNamespace(address="tcp://gone"), 3)

    monkeypatch.setattr("app.sweep.worlds.prepare", fail)
    monkeypatch.setattr("app.sweep.worlds.run_world", fail)
    with in_this_process(1) as workers, distributed.Client(workers, set_as_default=False) as client:
        with pytest.raises(UserError, match=r"no worker gets ready .* the process ended, time and again"):
            cluster.prepare(client, [], NOTHING)
        orders = [Order(0, Scene(), 1, NOTHING, program())]
        assert list(cluster.run_all(client, iter(orders), Wish())) == [(0, Outcome(cluster.ENDED))]


@contextlib.contextmanager
def in_this_process(*threads: int) -> Iterator[distributed.SpecCluster]:
    """A cluster with a worker for each number of threads."""
    spec = {place: {"cls": distributed.Worker, "options": {"nthreads": each}} for place, each in enumerate(threads)}
    scheduler = {"cls": distributed.Scheduler, "options": {"protocol": "inproc://", "dashboard": False}}
    with distributed.SpecCluster(workers=spec, scheduler=scheduler) as workers:
        yield workers


RELEASED = threading.Event()


def runs_the_first_alone(order: Order) -> Outcome:
    if order.number:
        RELEASED.wait()
    return Outcome()


@pytest.mark.nightly
def test_a_scheduler_that_ends_is_one_line_and_fails_no_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sweep.worlds.run_world", runs_the_first_alone)
    orders = [Order(number, Scene(), 1, NOTHING, program()) for number in range(3)]
    outcomes = []
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),  # within which it is looked for again
            in_this_process(1) as workers,
            pytest.raises(UserError, match="has ended, or cannot be reached"),
            cluster.opened(workers.scheduler_address) as client,
        ):
            for each in cluster.run_all(client, iter(orders), Wish()):
                outcomes.append(each)
                client.loop.add_callback(client.scheduler_comm.comm.abort)
    finally:
        RELEASED.set()
    assert outcomes == [(0, Outcome())]


TO_BE_LEFT, TO_END = threading.Event(), Wish()


def goes_on_after_a_wish(order: Order) -> Outcome:
    TO_END.number = signal.SIGTERM
    TO_BE_LEFT.wait(PATIENCE)
    return Outcome()


def test_a_world_that_goes_on_after_a_wish_to_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "LONGEST_STEP", 0.01)
    monkeypatch.setattr(cluster, "LOOK", 0.01)
    monkeypatch.setattr("app.sweep.worlds.run_world", goes_on_after_a_wish)
    orders = [Order(number, Scene(), 1, NOTHING, program()) for number in range(2)]
    with in_this_process(1) as workers, distributed.Client(workers, set_as_default=False) as client:
        try:
            assert list(cluster.run_all(client, iter(orders), TO_END)) == []
        finally:
            TO_BE_LEFT.set()


def test_nobody_who_could_run_a_world_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.0)
    monkeypatch.setattr(cluster, "LOOK", 0.01)
    wish, told = Wish(), list[str]()

    def tell(line: str) -> None:
        told.append(line)
        wish.number = signal.SIGINT

    orders = [Order(0, Scene(), 1, NOTHING, program())]
    with in_this_process() as nobody, distributed.Client(nobody, set_as_default=False) as client:
        assert list(cluster.run_all(client, iter(orders), wish, tell)) == [], "nobody finishes what is wished to end"
        with pytest.raises(UserError, match="no worker is there any more"):
            cluster.prepare(client, [], NOTHING)
    assert told == ["no worker is there any more; the next one goes on"]


def test_worlds_that_fail_are_told_and_end_no_other(
    worker: distributed.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = written(tmp_path, '[vary.world]\nrain_map = ["later.png", ""]\nsource = ["noise", "gone.tif"]')
    out = tmp_path / "set.zarr"
    assert swept_by(worker, recipe, out) == 1
    assert "3 of 4 worlds failed" in capsys.readouterr().err.splitlines()[-1]
    found = xarray.open_zarr(out)
    assert found.status.values.tolist() == ["failed", "failed", "done", "failed"]
    assert re.search(r"world\.rain_map: .*later\.png: there is no such file", found.error.values[0])
    for number in (1, 3):  # which no worker has seen
        assert re.search(r"world\.source: .*gone\.tif: there is no such file", found.error.values[number])
    assert np.isnan(found.ground[0]).all()
    assert np.isnan(found["realism.median_slope"][0])
    assert np.isfinite(found.ground[2]).all()
    with (tmp_path / "set.csv").open(newline="") as file:
        assert "later.png" in next(csv.DictReader(file))["error"]
    # What failed is run again, in case that what it lacked is there now
    write_png(tmp_path / "later.png", np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3))
    assert swept_by(worker, recipe, out) == 1
    assert np.isfinite(xarray.open_zarr(out).ground[[0, 2]]).all()


def test_contact_sheets_have_a_picture_of_each_world(worker: distributed.Client, tmp_path: Path) -> None:
    recipe = written(
        tmp_path,
        "[vary.climate]\nprecipitation = [400.0, 1600.0]",
        text=SMALL.replace("pictures = []", 'pictures = ["scene", "slope"]\nwidth = 96\nheight = 64')
        + '[changes.view]\nquality = "low"\n',
    )
    assert swept_by(worker, recipe, tmp_path / "set.zarr") == 0
    pictures = xarray.open_zarr(tmp_path / "set.zarr").pictures
    assert pictures.shape == (2, 2, 64, 96, 3)
    assert len({picture.tobytes() for picture in pictures.values.reshape(4, -1)}) == 4
    for number, name in enumerate(("set.png", "set-slope.png")):
        sheet = np.asarray(Image.open(tmp_path / name).convert("RGB"))
        below = pictures.values[1, number, -20:]  # of the last one, what its caption leaves
        places = [(top, left) for top in range(len(sheet) - 19) for left in (0, 96 + GAP)]
        assert any((sheet[top : top + 20, left : left + 96] == below).all() for top, left in places)


def test_a_cluster_whose_workers_have_several_threads_is_refused() -> None:
    with (
        in_this_process(1, 2) as workers,
        pytest.raises(UserError, match="has 2 threads; a world takes a process of its own"),
        cluster.opened(workers.scheduler_address),
    ):
        pass


def test_two_sweeps_on_one_cluster_keep_to_their_own_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sweep.worlds.run_world", lambda order: Outcome(f"{order.cycles} cycles"))
    orders = [Order(0, Scene(), cycles, NOTHING, program()) for cycles in (1, 2)]
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as workers,
        distributed.Client(workers, set_as_default=False) as first,
        distributed.Client(workers, set_as_default=False) as second,
    ):
        runs = [
            cluster.run_all(client, iter([order]), Wish())
            for client, order in zip((first, second), orders, strict=True)
        ]
        assert [next(run)[1].error for run in runs] == ["1 cycles", "2 cycles"]


def test_a_worker_that_comes_later_and_would_not_do_runs_no_world(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """It has several threads. Another one runs what it was given; alone it is why all fail."""
    monkeypatch.setattr("app.sweep.worlds._outcome", lambda order: Outcome())
    orders = [Order(number, Scene(), 1, NOTHING, program()) for number in range(6)]
    for threads in ((1, 3), (3,)):
        told: list[str] = []
        with (
            subtests.test(threads=threads),
            in_this_process(*threads) as workers,
            distributed.Client(workers, set_as_default=False) as client,
        ):
            (unfit,) = (address for address, each in client.nthreads().items() if each == 3)
            outcomes = dict(cluster.run_all(client, iter(orders), Wish(), told.append))
            assert sorted(outcomes) == list(range(6))
            assert [f"worker {unfit} runs no worlds: its worker has 3 threads" in line for line in told] == [True]
            assert [bool(outcome.error) for outcome in outcomes.values()] == [1 not in threads] * 6


def test_no_scheduler_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense://"):
        assert swept(written(tmp_path), tmp_path / "set.zarr", "--scheduler", address) == 1
        assert f"--scheduler {address}: no Dask scheduler" in capsys.readouterr().err.splitlines()[-1]
        assert not (tmp_path / "set.zarr").exists(), "no world was run"
    ResultSet(tmp_path / "set.zarr", open_recipe(written(tmp_path)))
    assert swept(written(tmp_path), tmp_path / "set.zarr", "--scheduler", "nonsense://") == 1
    assert (tmp_path / "set.zarr").exists(), "it was there before"


def made(folder: Path, more: str = "", text: str = SMALL) -> ResultSet:
    """The set of a recipe, in which nothing has run."""
    return ResultSet(folder / "set.zarr", open_recipe(written(folder, more, text=text)))


def test_another_recipe_is_refused(tmp_path: Path) -> None:
    made(tmp_path, RAIN)
    assert made(tmp_path, RAIN).count == 0
    with pytest.raises(UserError, match=r"another recipe .*'cycles' is another one"):
        made(tmp_path, RAIN, SMALL.replace("cycles = 6", "cycles = 7"))
    with pytest.raises(UserError, match=r"another recipe .*'vary' is another one"):
        made(tmp_path, RAIN.replace("400.0", "500.0"))


def test_files_that_have_changed_make_another_set(tmp_path: Path) -> None:
    text = SMALL.replace('"noise"', '"own.toml"')
    (tmp_path / "own.toml").write_text("[climate]\nprecipitation = 500.0\n")
    made(tmp_path, text=text)
    (tmp_path / "own.toml").write_text("[climate]\nprecipitation = 501.0\n")
    with pytest.raises(UserError, match="files it names have changed"):
        made(tmp_path, text=text)


def test_folders_of_tiles_are_sources(tmp_path: Path) -> None:
    (tmp_path / "tiles").mkdir()
    heights = np.random.default_rng(1).uniform(0.0, 90.0, (32, 32)).astype(np.float32)

    def write(number: int, image: NDArray[np.float32]) -> None:
        corner = [0.0, 0.0, 0.0, 500000.0 + 320.0 * number, 4e6, 0.0]
        path = tmp_path / "tiles" / f"{number}.tif"
        write_tiff(path, image, scale=[10.0, 10.0, 0.0], tiepoint=corner, geo_keys=UTM_17N)

    for number in range(2):
        write(number, heights)
    text = SMALL.replace('"noise"', '"tiles"').replace("reference_cell_size = 0.0", "")
    made(tmp_path, text=text)
    write(0, heights + np.float32(1.0))
    with pytest.raises(UserError, match="files it names have changed"):
        made(tmp_path, text=text)


def model(folder: Path, rows: int, columns: int) -> None:
    heights = np.random.default_rng(1).uniform(0.0, 90.0, (rows, columns)).astype(np.float32)
    write_tiff(
        folder / "model.tif",
        heights,
        scale=[10.0, 10.0, 0.0],
        tiepoint=[0.0, 0.0, 0.0, 5e5, 4e6, 0.0],
        geo_keys=UTM_17N,
    )


NAMED_FILES = [
    "tiles/n/1.tif", "model.tif", "rain.png", "mask.png", "lift.png", "later.png", "kinds/chalk.toml",
    "plants/fir.toml",
]  # fmt: skip


def naming(folder: Path) -> Path:
    """A recipe which with its sources names each of `NAMED_FILES`, without one of them, and its set."""
    for name in ("tiles/n", "kinds", "plants"):
        (folder / name).mkdir(parents=True)
    model(folder, 32, 32)
    shutil.copy(folder / "model.tif", folder / "tiles/n/1.tif")
    for name in NAMED_FILES[2:]:
        (folder / name).write_text(name)
    (folder / "later.png").unlink()
    (folder / "own.toml").write_text(
        '[world]\nsource = "model.tif"\nrain_map = "rain.png"\n[materials]\nfolder = "kinds"\n'
        "[fields]\nerodibility = \"1 + image('mask.png')\"\n"
    )
    (folder / "recipe.toml").write_text(
        'sources = ["own.toml", "tiles"]\nsize = "32"\ncycles = 1\n[changes.fields]\nuplift = "image(\'lift.png\')"\n'
        '[vary.flora]\nfolder = ["", "plants"]\n[vary.world]\nrain_map = ["", "later.png"]\n'
    )
    ResultSet(folder / "set.zarr", open_recipe(folder / "recipe.toml"))
    return folder / "recipe.toml"


def test_all_that_is_named_makes_a_set(tmp_path: Path, subtests: pytest.Subtests) -> None:
    recipe = naming(tmp_path)
    for name in NAMED_FILES:
        place = tmp_path / name
        before = place.read_bytes() if place.exists() else b""
        with subtests.test(name):
            place.write_bytes(before + b" ")
            if name == "later.png":  # what lacked it failed, and is run again
                assert len(ResultSet(tmp_path / "set.zarr", open_recipe(recipe)).missing) == 8
            else:
                with pytest.raises(UserError, match="files it names have changed"):
                    ResultSet(tmp_path / "set.zarr", open_recipe(recipe))
        place.write_bytes(before)
        if name == "later.png":
            place.unlink()


def test_sets_go_on_where_they_and_their_recipes_have_moved(tmp_path: Path) -> None:
    naming(tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    recipe = open_recipe(tmp_path / "there" / "recipe.toml")
    assert len(ResultSet(tmp_path / "there" / "set.zarr", recipe).missing) == 8


@pytest.mark.parametrize("source", ["model.tif", "own.toml"])
def test_sizes_are_those_of_parts_as_on_the_command_line(tmp_path: Path, source: str) -> None:
    model(tmp_path, 64, 160)
    (tmp_path / "own.toml").write_text('[world]\nsource = "model.tif"\n')
    text = f'sources = ["{source}"]\nsize = "32"\ncycles = 1\n'
    parts = ["64x64+0+0", "48x48+100+10"]
    recipe = read_recipe(f"{text}[vary.world]\npart = {parts}", "recipe", tmp_path)
    assert recipe.shape == (32, 32)
    for world, part in zip(recipe.worlds, parts, strict=True):
        alone = read_recipe(f'{text}[changes.world]\npart = "{part}"', "recipe", tmp_path)
        words = [str(tmp_path / source), "--part", part, "--size", "32", "--out", "world.npz"]
        typed = scene_of(find_command("simulate")[1].parse_args(words))
        assert world.scene == alone.worlds[0].scene == typed


def test_other_programs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)
    monkeypatch.setattr("app.sweep.result_set.program", lambda: "another")
    with pytest.raises(UserError, match="another version of the program"):
        made(tmp_path)


def test_what_is_no_set_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "set.zarr").mkdir()
    (tmp_path / "set.zarr" / "mine").write_text("mine")
    with pytest.raises(UserError, match="no set of worlds"):
        made(tmp_path)
    assert files_of(tmp_path / "set.zarr") == {"mine": b"mine"}


def test_a_damaged_set_is_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    text = SMALL.replace("pictures = []", 'pictures = ["scene"]\nwidth = 16\nheight = 16')
    found = made(tmp_path, text=text)
    found.put(0, Outcome(pictures=np.ones((1, 16, 16, 3), np.uint8)))
    for name, content, error in (
        ("zarr.json", b"{", "is no set of worlds"),
        ("zarr.json", b"[]", "is no set of worlds"),
        ("zarr.json", b"\xff", "is no set of worlds"),
        ("record/c/0", b"junk", "'record' is damaged"),
        ("record/c/0", b"", "'record' is damaged"),
        ("pictures/c/0/0/0/0/0", b"junk", "'pictures' is damaged"),
    ):
        place = found.path / name
        before = place.read_bytes()
        place.write_bytes(content)
        with (
            subtests.test(name=name, content=content),
            pytest.raises(UserError, match=f"set.zarr: .*{error}") as raised,
        ):
            list(made(tmp_path, text=text).pictures())
        assert "\n" not in str(raised.value)
        place.write_bytes(before)
    assert len(list(made(tmp_path, text=text).pictures())) == 1


def test_full_disk_is_one_line_and_leaves_the_world_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(tmp_path, SIX)
    layers = {"ground": np.ones((32, 40), np.float32)}
    found.put(0, Outcome(layers=layers))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("zarr.storage._local._put", fail)
        with pytest.raises(UserError, match=r"cannot write .*set\.zarr: no space is left"):
            found.put(1, Outcome(layers=layers))
    again = made(tmp_path, SIX)
    assert [world.number for world in again.missing] == [1, 2, 3, 4, 5]


def test_a_set_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    recipe = open_recipe(written(tmp_path))
    monkeypatch.setattr("zarr.storage._local._put", fail)
    with pytest.raises(UserError, match="no space is left"):
        ResultSet(tmp_path / "set.zarr", recipe)
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.toml"]


def test_an_error_of_any_kind_is_the_outcome() -> None:
    scene = open_scene("noise").with_values({"world.columns": 40, "world.rows": 32})
    outcome = run_world(Order(0, scene, 1, Wanted(("nonsense",), (), 16, 16), program()))
    assert outcome.error == "KeyError: 'nonsense'"
    assert not outcome.layers


def test_another_program_runs_no_world() -> None:
    scene = open_scene("noise").with_values({"world.columns": 40, "world.rows": 32})
    outcome = run_world(Order(0, scene, 1, NOTHING, "another"))
    assert "another version of this program" in outcome.error
    assert not outcome.layers


def test_layers_are_kept_in_small_types() -> None:
    assert stored_as("ground")[0] == stored_as("discharge")[0] == np.float32
    assert stored_as("materials") == stored_as("cliffs") == (np.uint8, 255)


PAGE = guide.page("sweep").text


def example(language: str, word: str) -> str:
    """What the guide shows in a language, with a word in it."""
    return next(text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if word in text)


def test_recipe_of_the_guide_is_one() -> None:
    recipe = read_recipe(example("toml", "sources ="), "sweep.md", Path())
    assert len(recipe.worlds) == 200
    assert recipe.shape == (256, 256)


def read_as_in_the_guide() -> dict[str, Any]:
    """What its lines make of the set in the working folder."""
    lines = example("python", "xarray.open_zarr")
    assert len(list(filter(None, lines.splitlines()))) == 5
    names: dict[str, Any] = {}
    exec(lines, names)
    return names


def test_five_lines_of_the_guide_read_a_set(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(whole)
    names = read_as_in_the_guide()
    assert names["heights"].shape == (4, 32, 40)
    assert names["rain"].tolist() == [400.0, 400.0, 1600.0, 1600.0]


def test_five_lines_of_the_guide_leave_out_what_failed_or_has_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing comes after the last world that was put, as where a sweep is killed."""
    found = made(tmp_path, f"{SIX}\n[vary.climate]\nprecipitation = [400.0, 1600.0]")
    assert set(xarray.open_zarr(found.path).status.values) == {"missing"}
    ran = Outcome(layers={"ground": np.ones((32, 40), np.float32)}, figures={"realism.concavity": 0.5})
    outcomes = {0: ran, 5: Outcome("its rain map is not there"), 7: ran, 8: ran, 9: ran}
    for number, outcome in outcomes.items():
        found.put(number, outcome)
    monkeypatch.chdir(tmp_path)
    statuses = xarray.open_zarr("set.zarr").status.values.tolist()
    told = {number: status for number, status in enumerate(statuses) if status != "missing"}
    assert told == {0: "done", 5: "failed", 7: "done", 8: "done"}  # the last one is not told yet
    names = read_as_in_the_guide()
    assert (names["heights"] == 1.0).all()
    assert names["rain"].tolist() == [400.0, 1600.0, 1600.0]
    assert names["concavity"].tolist() == [0.5] * 3
    again = made(tmp_path, f"{SIX}\n[vary.climate]\nprecipitation = [400.0, 1600.0]")
    assert {world.number for world in again.missing} == set(range(12)) - {0, 7, 8, 9}


def test_ranges_have_both_ends() -> None:
    assert Range(0.1, 0.5, 5).values() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert Range(1.0, 1000.0, 4, log=True).values() == [1.0, 10.0, 100.0, 1000.0]
    recipe = parsed("[vary.snowballs]\ncount = { from = 10, to = 12, steps = 9 }")
    assert recipe.varied == {"snowballs.count": [10, 11, 12]}  # whole numbers, each once


DRAWN = """draws = {{ count = 16, seed = {seed} }}
[vary.climate]
precipitation = {{ from = 200.0, to = 3200.0, log = true }}
[vary.world]
seed = {{ from = 0, to = 31 }}
[vary.droplets]
friction = {{ from = 0.1, to = 0.5 }}
density = [1.0, 2.0]
"""


def test_draws_are_spread_evenly_and_the_same_everywhere() -> None:
    recipe = parsed(DRAWN.format(seed=7))
    assert recipe.varied == {"droplets.density": [1.0, 2.0]}
    worlds = recipe.worlds
    assert [world.values["droplets.density"] for world in worlds] == [1.0] * 16 + [2.0] * 16
    drawn = [(world.values["climate.precipitation"], world.values["droplets.friction"]) for world in worlds]
    assert drawn[:16] == drawn[16:]
    rain, friction = np.array(drawn[:16]).T
    assert sorted(np.floor(np.log2(rain / 200.0) * 4.0).astype(int)) == list(range(16))
    assert sorted(np.floor((friction - 0.1) * 40.0).astype(int)) == list(range(16))
    assert abs(np.corrcoef(rain, friction)[0, 1]) < 0.7
    seeds = [world.scene.world.seed for world in worlds[:16]]
    assert sorted(seed // 2 for seed in seeds) == list(range(16))  # whole numbers, in as many equal parts
    # Whatever machine and Python: a set that is half done must go on with the same draws
    assert drawn[:2] == [(2368.54715541, 0.288040972353), (724.332981388, 0.491005357823)]
    assert parsed(DRAWN.format(seed=8)).worlds[0].values != worlds[0].values
    fewer = parsed(DRAWN.format(seed=7).replace("[vary.world]\nseed = { from = 0, to = 31 }\n", ""))
    assert [world.values["droplets.friction"] for world in fewer.worlds[:16]] == friction.tolist()


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("low", "high"), [(3, 7), (2.6, 7.4), (2.4, 7.9), (7.5, 2.5), (6.0, 6.9)])
def test_whole_numbers_are_drawn_from_the_range_and_never_beside_it(low: float, high: float, log: bool) -> None:
    ends = f"from = {low}, to = {high}, log = {str(log).lower()}"
    recipe = parsed(f"draws = {{ count = 2000, seed = 5 }}\n[vary.snowballs]\ncount = {{ {ends} }}")
    drawn = [world.values["snowballs.count"] for world in recipe.worlds]
    inside = [number for number in range(1, 10) if min(low, high) <= number <= max(low, high)]
    found = {number: drawn.count(number) for number in set(drawn)}
    assert sorted(found) == inside and {type(number) for number in drawn} == {int}
    if not log:
        assert max(found.values()) - min(found.values()) <= 2
    else:  # as many as the range is wide around each in the logarithm
        parts = {number: math.log((number + 0.5) / (number - 0.5)) for number in inside}
        for number, part in parts.items():
            assert found[number] == pytest.approx(2000 * part / sum(parts.values()), abs=2)


def test_drawn_worlds_are_in_the_set_with_their_values(tmp_path: Path) -> None:
    text = DRAWN.format(seed=7).replace("count = 16", "count = 2").replace("density = [1.0, 2.0]\n", "")
    made(tmp_path, text).write_figures()
    found = xarray.open_zarr(tmp_path / "set.zarr")
    worlds = open_recipe(tmp_path / "recipe.toml").worlds
    assert found["droplets.friction"].values.tolist() == [world.values["droplets.friction"] for world in worlds]
    assert found.seed.values.tolist() == [world.scene.world.seed for world in worlds]
    with pytest.raises(UserError, match="'draws' is another one"):
        made(tmp_path, text.replace("seed = 7", "seed = 8"))


def test_every_value_with_every_other_and_seeds_fastest() -> None:
    recipe = parsed(
        'sources = ["noise", "ridged"]\nseeds = [5, 9]\n[vary.climate]\nprecipitation = [1.0, 2.0]', NO_SOURCE
    )
    assert [(world.source, *world.values.values()) for world in recipe.worlds] == [
        (source, rain, seed) for source in ("noise", "ridged") for rain in (1.0, 2.0) for seed in (5, 9)
    ]
    assert [world.number for world in recipe.worlds] == list(range(8))
    assert [world.scene.world.seed for world in recipe.worlds] == [5, 9] * 4
    assert recipe.shape == (32, 40)


NO_SOURCE = SMALL.replace('sources = ["noise"]', "")


def parsed(more: str, text: str = SMALL) -> Recipe:
    keys, _, sections = more.partition("[vary")
    return read_recipe(text.replace("{more}", keys) + (f"\n[vary{sections}" if sections else ""), "r.toml", Path())


MAY_NOT_BE_SAID = [
        ("", "'sources' is missing"),
        ("sources = [", "not valid TOML"),
        ('sources = ["noise"]', "'cycles' is missing"),
        ('sources = []\ncycles = 1', "length >= 1.*'sources'"),
        ('sources = "noise"\ncycles = 1', "Expected `array`, got `str`.*'sources'"),
        ('sources = ["noise"]\ncycles = -1', ">= 0.*'cycles'"),
        ('sources = ["noise"]\ncycles = 1\ncycels = 2', "'cycels' is not a property of a recipe"),
        ('sources = ["nosie"]\ncycles = 1', "no such file|no preset"),
        ('sources = ["noise"]\ncycles = 1\nsize = "huge"', "size = huge: must be"),
        ('sources = ["noise"]\ncycles = 1\nlayers = ["grund"]', "did you mean 'ground'"),
        ('sources = ["noise"]\ncycles = 1\nlayers = ["ground", "ground"]', "layers: each may be named once"),
        ('sources = ["noise"]\ncycles = 1\npictures = ["sloop"]', "did you mean 'slope'"),
        ('sources = ["noise"]\ncycles = 1\nwidth = 4096\nheight = 4096', "at most 1000000"),
        ('sources = ["noise"]\ncycles = 1\ntitle = "a\\nb"', "title: must be one line"),
        ('sources = ["noise"]\ncycles = 1\nseeds = { from = 1, count = 9000000000 }', "<= 100000.*'seeds.count'"),
        ('sources = ["noise"]\ncycles = 1\nseeds = { from = 2147483647, count = 2 }', "seeds: the last"),
        ('sources = ["noise"]\ncycles = 1\nseeds = [1]\n[vary.world]\nseed = [2]', "world.seed: is said twice"),
        ('sources = ["noise"]\ncycles = 1\n[vary.climate]\nprecipitation = []', "must have a value"),
        ('sources = ["noise"]\ncycles = 1\n[vary.climate]\nprecipitation = [1e9]', "must be from"),
        ('sources = ["noise"]\ncycles = 1\n[vary.climate]\nprecipitation = [nan]', "must be a number"),
        ('sources = ["noise"]\ncycles = 1\n[vary.climate]\nprecipitation = "much"', "Expected .* must be a list"),
        ('sources = ["noise"]\ncycles = 1\n[vary.climate]\nrain = [1]', "no parameter 'climate.rain'"),
        ('sources = ["noise"]\ncycles = 1\n[vary.weather]\nrain = [1]', "no section 'weather'"),
        ('sources = ["noise"]\ncycles = 1\n[vary.pools]\nenabled = { from = 0, to = 1, steps = 2 }', "has no range"),
        (
            'sources = ["noise"]\ncycles=1\n[vary.climate]\nprecipitation = {from = 0, to = 9, steps = 3, log = true}',
            "must be more than 0",
        ),
        (
            'sources = ["noise"]\ncycles=1\n[vary.climate]\nprecipitation = { from = inf, to = nan, steps = 3 }',
            "must be a number",
        ),
        (
            'sources = ["noise"]\ncycles = 1\n[changes.pools]\nenabled = true\n[vary.pools]\nenabled = [true]',
            "said twice",
        ),
        ('sources = ["noise", "island"]\ncycles = 1', "all worlds of a set have the same"),
        (
            'sources = ["noise"]\nsize = "32"\ncycles = 1\n[vary.world]\ncolumns = [32, 64]',
            "worlds of 32×32 and 64×32 cells, world.columns = 32 and 64: all worlds",
        ),
        ('sources = ["noise", "gone.tif"]\nsize = "32"\ncycles = 1', "gone.tif: there is no such file"),
        ('sources = ["noise"]\nsize = "32"\ncycles = 1\n[vary.world]\nsource = ["gone.tif"]', "world.source: .*gone"),
        (
            'sources = ["noise"]\ncycles = 1\n[vary.fields]\nuplift = ["1", "hill()"]',
            r"fields.uplift = 'hill\(\)': there is no function",
        ),
        (
            'sources = ["noise"]\ncycles=1\n[vary.climate]\nprecipitation = { from = 0, to = 9 }',
            "precipitation: a range without 'steps' is drawn from, .* draws = {",
        ),
        ('sources = ["noise"]\ncycles = 1\ndraws = { count = 3 }', "draws: there is nothing to draw from"),
        ('sources = ["noise"]\ncycles = 1\ndraws = { count = 0 }', ">= 1.*'draws.count'"),
        (
            'sources = ["noise"]\ncycles=1\ndraws={count=3}\n[vary.climate]\nprecipitation = { from = nan, to = 9 }',
            "must be a number",
        ),
        (
            'sources = ["noise"]\ncycles=1\ndraws={count=3}\n[vary.climate]\nprecipitation = { from = 1, to = 9e9 }',
            "must be from",
        ),
        (
            'sources = ["noise"]\ncycles=1\ndraws={count=3}\n[vary.climate]\nprecipitation={from=0,to=9,log=true}',
            "must be more than 0",
        ),
        (
            'sources = ["noise"]\ncycles=1\ndraws={count=3}\n[vary.droplets]\ncount = { from = 2.2, to = 2.8 }',
            "droplets.count: there is no whole number from 2.2 to 2.8",
        ),
        (
            'sources = ["noise"]\ncycles=1\ndraws={count=3}\n[vary.pools]\nenabled = { from = 0, to = 1 }',
            "has no range",
        ),
        (
            'sources=["noise"]\ncycles=1\nseeds=[1]\ndraws={count=3}\n[vary.world]\nseed = { from = 0, to = 9 }',
            "world.seed: is said twice",
        ),
        (
            'sources=["noise"]\ncycles=1\nseeds=[1,2]\ndraws={count=60000}\n[vary.climate]\nprecipitation={from=0,to=9}',
            "120000 worlds: at most",
        ),
]  # fmt: skip


def test_what_a_recipe_may_not_say_is_one_line(subtests: pytest.Subtests) -> None:
    for text, error in MAY_NOT_BE_SAID:
        with subtests.test(text), pytest.raises(UserError, match=error) as raised:
            _ = read_recipe(text, "r.toml", Path()).shape
        assert str(raised.value).startswith("r.toml: ")
        assert "\n" not in str(raised.value)


def test_too_many_worlds_are_refused_before_any_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Range, "values")
    axes = "\n".join(
        f"{name} = {{ from = 0.0, to = 0.1, steps = {MOST_WORLDS} }}" for name in ("evaporation", "friction", "density")
    )
    with pytest.raises(UserError, match=f"{MOST_WORLDS**3} worlds: at most {MOST_WORLDS}"):
        parsed(f"[vary.droplets]\n{axes}")


def test_worlds_that_have_no_room_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = written(tmp_path, SIX, text=SMALL.replace("40x32", "8192"))
    assert swept(recipe, tmp_path / "set.zarr", "--workers", "6") == 1
    assert re.search(r"6 worlds of 8192² cells need about .* --workers 3 runs fewer", capsys.readouterr().err)
    assert not (tmp_path / "set.zarr").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--out", "set.npz"], "a set of worlds is .zarr"),
        (["--out", "nowhere/set.zarr"], "no folder"),
        (["--out", f"{'n' * 300}.zarr"], "the name is too long"),
        (["--out", "set.zarr", "--table", "set.xls"], "a table is .csv or .parquet"),
        (["--out", "set.zarr", "--table", "nowhere/set.csv"], "no folder"),
    ],
)
def test_places_are_checked_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sweep", str(written(tmp_path)), *words]) == 1
    assert error in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "option"), [("valley.csv", "--table"), ("valley.png", "--sheet"), ("valley-slope.png", "--sheet")]
)
def test_files_beside_a_new_set_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, option: str
) -> None:
    recipe = written(tmp_path, text=SMALL.replace("pictures = []", 'pictures = ["scene", "slope"]'))
    (tmp_path / name).write_text("mine")
    monkeypatch.setattr("app.sweep.run._run", lambda *_: 0)
    assert swept(recipe, tmp_path / "valley.zarr") == 1
    assert re.search(rf"{name}: is there already.*{option} names another", capsys.readouterr().err)
    assert {path.name for path in tmp_path.iterdir()} == {"recipe.toml", name}
    # Who names it means it, and beside a set that is there it is of the set
    named = tmp_path / name.replace("-slope", "")
    assert swept(recipe, tmp_path / "valley.zarr", option, str(named)) == 0
    assert swept(recipe, tmp_path / "valley.zarr") == 0


@pytest.mark.parametrize(
    ("frozen", "said"), [(False, "sweep needs zarr: pip"), (True, "a folder of its own, has no sweep")]
)
def test_what_lacks_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, frozen: bool, said: str
) -> None:
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    monkeypatch.delitem(sys.modules, "app.sweep.result_set")
    monkeypatch.setitem(sys.modules, "zarr", None)
    assert swept(written(tmp_path), tmp_path / "set.zarr") == 1
    assert said in capsys.readouterr().err


def test_what_it_runs_with_is_not_loaded_before() -> None:
    (loaded,) = loaded_by("app.cli.main, app.sweep.recipe")
    assert not loaded & {"dask", "distributed", "zarr", "pyarrow", "pandas", "numba"}

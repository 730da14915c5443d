"""A part of a large model is chosen on an overview."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import rasterio
import tifffile
from imgui_bundle import imgui
from rasterio.transform import from_origin

from app.scene.scene import Scene
from app.sources.heightmap import reading
from app.sources.heightmap.formats import Format
from app.sources.heightmap.models import Model
from app.sources.heightmap.raster import Raster
from app.sources.part import Part
from app.window import part_choice
from app.window.commands import files
from app.window.events import FilesDropped
from app.window.part_choice import Asked, PartChoice
from tests.app.test_analysed import analysed
from tests.gui.host import Driver, drive
from tests.gui.test_panel import WITHOUT_DROPS, have_land
from tests.waiting import PATIENCE

ROWS, COLUMNS = 3000, 6000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Land that rises from a sea in the west by a metre each cell of 20 m."""
    path = tmp_path_factory.mktemp("model") / "wide.tif"
    profile = {"driver": "GTiff", "count": 1, "dtype": "int16", "crs": "EPSG:32632", "width": COLUMNS, "height": ROWS}
    place = from_origin(4e5, 5e6, 20.0, 20.0)
    with rasterio.open(path, "w", tiled=True, compress="deflate", transform=place, **profile) as file:
        file.write(np.maximum(np.arange(COLUMNS) - 3000, 0).astype("i2") + np.zeros((ROWS, 1), "i2"), 1)
    return path


def asked(driver: Driver, path: Path) -> PartChoice:
    """The dialog, with its overview."""
    application = have_land(driver)
    driver.viewer.handle(FilesDropped((path,)))
    choosing = application.part_choice
    driver.wait_for(lambda: choosing.pixels is not None and choosing.is_open, "the overview")
    assert application.panel.is_asking
    driver.engine.yield_(3)
    driver.engine.set_ref("//###part")
    return choosing


def test_a_part_is_pointed_at_and_opened(model: Path) -> None:
    def test(driver: Driver) -> None:
        application = driver.application
        choosing = asked(driver, model)
        assert choosing.part == Part(476, 1976, 2048, 2048)
        driver.engine.item_input_value("##side", 1000)
        driver.engine.yield_(2)
        assert choosing.part == Part(1000, 2500, 1000, 1000)
        driver.engine.item_click("##model")
        assert abs(choosing.part.column - 2500) < 60, "a click in the middle"
        place = driver.engine.item_info("##model").rect_full
        driver.engine.mouse_move_to_pos(imgui.ImVec2(place.max.x - 5.0, place.min.y + 5.0))
        driver.engine.mouse_click(0)
        driver.engine.yield_(2)
        assert choosing.part == Part(0, 5000, 1000, 1000)
        choosing.cells = 512
        driver.engine.yield_(2)
        assert choosing.words[0].endswith("1000 × 1000 of 6000 × 3000 cells, 20 km × 20 km")
        driver.engine.item_click("###open")
        driver.wait_for(lambda: application.documents.name == "wide" and application.documents.are_shown, "its land")
        snapshot = application.snapshot
        assert snapshot is not None and snapshot.shape == (512, 512)
        assert snapshot.cell_size == pytest.approx(20_000.0 / 512)
        assert (snapshot.lowest, snapshot.highest) == pytest.approx((2000.0, 2999.0), abs=3.0)
        scene = application.documents.scene
        assert scene.world.part == "1000x1000+5000+0"
        assert scene.edges.water == "open" and scene.view.exaggeration == 1.0
        assert not choosing.is_open

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_all_of_a_model_in_larger_cells_has_its_sea(model: Path) -> None:
    def test(driver: Driver) -> None:
        application = driver.application
        choosing = asked(driver, model)
        choosing.resize(COLUMNS)
        choosing.cells = 128
        assert choosing.part == Part(0, 0, ROWS, COLUMNS) and choosing.land == (64, 128)
        choosing.open()
        driver.wait_for(lambda: application.documents.name == "wide" and application.documents.are_shown, "its land")
        assert application.snapshot is not None and application.snapshot.shape == (64, 128)
        assert application.documents.scene.world.part == ""
        assert application.documents.scene.edges.water == "sea"

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_an_analysis_shows_its_rivers_and_a_part_takes_them_over(tmp_path: Path) -> None:
    folder = analysed(tmp_path)

    def test(driver: Driver) -> None:
        application = driver.application
        choosing = asked(driver, folder)
        overview = choosing.overview
        assert overview is not None and choosing.pixels is not None
        differs = (choosing.pixels != part_choice.picture_of(overview)).any(axis=2)
        assert 0.01 < differs.mean() < 0.1
        driver.engine.item_input_value("##side", 100)
        driver.engine.yield_(2)
        choosing.open()
        driver.wait_for(lambda: bool(application.documents.scene.rivers.inflows), "rivers from outside of the map")
        assert application.documents.scene.world.source == str(tmp_path / "land.tif")
        assert application.library.recent[0].path == str(folder)

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_esc_gives_it_up_also_while_it_is_read(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def test(driver: Driver) -> None:
        application = driver.application
        choosing = asked(driver, model)
        driver.press("Esc")
        assert not choosing.is_open
        files.open(application, model)
        begun = choosing._reading
        assert begun is not None
        choosing.close()
        begun.thread.join(timeout=PATIENCE)
        assert not begun.thread.is_alive() and begun.overview is None
        assert application.documents.name == "noise"

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_what_cannot_be_read_is_told_in_the_dialog(model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tif"
    broken.write_bytes(model.read_bytes()[:9000])

    def test(driver: Driver) -> None:
        application = have_land(driver)
        files.open(application, broken)
        choosing = application.part_choice
        driver.wait_for(lambda: bool(choosing.why or application.notices.shown()), "what is wrong")
        assert "\n" not in choosing.why

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_small_model_opens_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whatever format, it is read while frames pass."""
    np.save(tmp_path / "small.npy", np.random.default_rng(1).uniform(0.0, 50.0, (40, 50)))
    threads: set[threading.Thread] = set()
    decode = reading._decode

    def noted(path: Path, format: Format) -> Raster:
        threads.add(threading.current_thread())
        return decode(path, format)

    monkeypatch.setattr(reading, "_decode", noted)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        files.open(application, tmp_path / "small.npy")
        assert not application.part_choice.is_open
        driver.wait_for(lambda: application.documents.name == "small" and application.documents.are_shown, "its land")
        assert threads and threading.main_thread() not in threads

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_folder_that_is_none_is_one_line(tmp_path: Path) -> None:
    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.viewer.handle(FilesDropped((tmp_path,)))
        driver.wait_for(lambda: bool(application.notices.shown()), "what is wrong")
        assert [f"{tmp_path} is a folder; expected" in notice.text for notice in application.notices.shown()] == [True]
        assert not application.part_choice.is_open

    drive(test, WITHOUT_DROPS, draws_land=False)


@pytest.fixture(scope="module")
def a_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1024 tiles of 40² cells of 30 m, which rise to the east by a metre each cell."""
    folder = tmp_path_factory.mktemp("land") / "thousand"  # alone there: lists of folders are short in dialogs
    folder.mkdir()
    heights = np.zeros((40, 40), np.float32)
    keys = (1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32632)
    for number in range(1024):
        row, column = divmod(number, 64)
        heights[:] = 40.0 * column + np.arange(40.0)
        place = (0.0, 0.0, 0.0, 4e5 + 1200.0 * column, 5e6 - 1200.0 * row, 0.0)
        tags = [(33550, "d", 3, (30.0, 30.0, 0.0)), (33922, "d", 6, place), (34735, "H", 12, keys)]
        tifffile.imwrite(folder / f"{number:04d}.tif", heights, extratags=tags)
    return folder


def test_a_thousand_tiles_hold_no_frame(a_thousand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames pass while tiles are opened, and the dialog tells how many are."""
    gate = threading.Semaphore(0)  # which keeps the opening from being faster than a frame
    opened: list[str] = []
    threads: set[threading.Thread] = set()
    open_tile = reading._open_tile

    def slowly(path: Path) -> Model | None:
        if len(opened) % 256 == 100:
            gate.acquire()
        opened.append(path.name)
        threads.add(threading.current_thread())
        return open_tile(path)

    monkeypatch.setattr(reading, "_open_tile", slowly)
    monkeypatch.setattr(reading, "_joined_last", None)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        choosing = application.part_choice
        driver.viewer.handle(FilesDropped((a_thousand,)))
        for stop in range(100, 1024, 256):
            driver.wait_for(lambda stop=stop: len(opened) == stop, "some tiles")  # type: ignore[misc]
            driver.wait_for(lambda: choosing.is_open, "the dialog")
            driver.wait_for(lambda stop=stop: choosing.progress == stop / 1024, "what it tells")  # type: ignore[misc]
            driver.engine.yield_(2)
            assert not choosing.is_choosing and choosing.progress == stop / 1024
            assert application.panel.is_asking and driver.engine.item_exists("//###part/Cancel")
            gate.release()
        driver.wait_for(lambda: choosing.pixels is not None, "the overview")
        assert (choosing.model.rows, choosing.model.columns) == (16 * 40, 64 * 40)
        choosing.cells = 512
        choosing.open()
        driver.wait_for(lambda: application.documents.are_shown and application.snapshot is not None, "its land")
        assert application.documents.name == a_thousand.name
        assert threading.main_thread() not in threads
        assert len(opened) == 1024, "each tile is opened once, also for the land"

    monkeypatch.setattr(part_choice, "UNSEEN", 0.0)
    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_model_is_opened_as_the_command_line_says(model: Path) -> None:
    """In as many cells as are wanted, and with what shall be changed of its scene, no part is asked for."""

    def test(driver: Driver) -> None:
        application = have_land(driver)

        def change(scene: Scene) -> list[Scene]:
            assert threading.current_thread() is not threading.main_thread()
            changed = scene.with_values({"world.columns": 200, "world.rows": 100, "view.exaggeration": 3.0})
            return [changed, changed.with_value("climate.precipitation", 77.0)]

        application.part_choice.begin(Asked(model, wanted=200, change=change))
        driver.wait_for(lambda: application.documents.name == "wide" and application.documents.are_shown, "its land")
        assert application.snapshot is not None and application.snapshot.shape == (100, 200)
        assert [scene.climate.precipitation for scene in application.documents.scenes][1:] == [77.0]
        assert application.documents.scene.view.exaggeration == 3.0

    drive(test, WITHOUT_DROPS, draws_land=False)


@pytest.mark.parametrize("way", ["Esc", "preset"])
def test_opening_tiles_is_given_up(way: str, a_thousand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Esc, and where something else is opened meanwhile."""
    gate = threading.Event()
    opened: list[str] = []
    open_tile = reading._open_tile

    def waiting(path: Path) -> Model | None:
        opened.append(path.name)
        gate.wait(60.0)
        return open_tile(path)

    monkeypatch.setattr(reading, "_open_tile", waiting)
    monkeypatch.setattr(reading, "_joined_last", None)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        choosing = application.part_choice
        driver.viewer.handle(FilesDropped((a_thousand,)))
        driver.wait_for(lambda: choosing.is_open and bool(opened), "the dialog, and a first tile")
        thread = next(thread for thread in threading.enumerate() if thread.name == "overview")
        if way == "Esc":
            driver.press("Esc")
        else:
            files.open(application, "diamond-square")
        assert not choosing.is_open
        gate.set()
        thread.join(60.0)
        assert len(opened) == 1
        driver.engine.yield_(3)
        assert application.documents.name != a_thousand.name and not application.notices.shown()

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_a_folder_of_tiles_is_chosen(a_thousand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In our own dialog; files are seen there, and a name that is no folder is told."""
    from app.window.panel import file_dialog

    monkeypatch.setattr(file_dialog, "_has_native_dialogs", lambda: False)
    monkeypatch.chdir(a_thousand.parent)

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.press("Ctrl+T")
        driver.engine.yield_(2)
        assert application.panel.is_asking
        driver.engine.key_chars_replace_enter("nowhere")
        driver.engine.yield_(2)
        assert application.panel.is_asking
        driver.engine.set_ref("//###file dialog")
        driver.engine.item_click(f"**/{a_thousand.name}")
        driver.engine.yield_(2)
        driver.engine.item_click("##name")
        driver.engine.key_chars_replace("")
        driver.engine.item_click("Open")
        driver.wait_for(lambda: application.part_choice.is_choosing, "the model")
        assert Path(application.part_choice.source) == a_thousand
        driver.press("Esc")
        driver.press("Ctrl+T")
        driver.engine.yield_(2)
        driver.engine.key_chars_replace_enter(str(a_thousand))
        driver.wait_for(lambda: application.part_choice.is_choosing, "the model again")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_pictures_of_overviews_are_pictures() -> None:
    from app.sources.heightmap.overview import Overview

    for heights in (np.zeros((1, 1)), np.zeros((9, 7)), np.mgrid[:9, :7][0].astype(float)):
        for missing in (np.zeros(heights.shape, bool), np.ones(heights.shape, bool)):
            pixels = part_choice.picture_of(Overview(heights, missing, *heights.shape, 30.0, 30.0))
            assert pixels.shape == (*heights.shape, 3) and pixels.dtype == np.uint8

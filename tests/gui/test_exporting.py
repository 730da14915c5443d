"""Exports from the window: the dialog, used as a person uses it, and the process that writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.export.maps import MASK
from app.export.protocol import Line, Written
from app.export.wishes import WISHES, Wishes
from app.files import checkpoint
from app.files.atomic import PART
from app.sources.heightmap import read_heightmap
from app.window.commands import files, running
from app.window.exporting import Exporting
from tests.gui.host import Driver, drive
from tests.gui.test_panel import WITHOUT_DROPS, have_land

HEIGHTS = Wishes(heights=("npy",))


def opened(driver: Driver) -> Exporting:
    """The dialog, when it knows what would be written."""
    exporting = driver.application.exporting
    driver.press("Ctrl+E")
    driver.wait_for(lambda: not exporting.is_reading, "the list of files")
    driver.engine.set_ref("//###export")
    driver.engine.yield_(3)
    return exporting


def named(driver: Driver, folder: Path) -> None:
    """Type the folder."""
    driver.engine.item_click("##folder")
    driver.engine.key_chars_replace(str(folder))
    driver.engine.yield_(2)


def test_a_folder_is_exported_while_cycles_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others read of the files the land as it was when the dialog was opened."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "made" / "land"

    def test(driver: Driver) -> None:
        application = have_land(driver)
        driver.save(tmp_path / "now.npz")
        driver.wait_for(lambda: (tmp_path / "now.npz").exists(), "the world")
        exporting = opened(driver)
        assert [file.name for file in exporting.files] == ["ground.tif", "ground.png"]
        assert exporting.folder == str(tmp_path / "noise-000000")
        driver.engine.item_check("**/heights/npy")
        driver.engine.item_check("**/maps/slope")
        driver.wait_for(lambda: len(exporting.files) == 5, "more files")
        assert {"ground.npy", "slope.tif", "maps.json"} < {file.name for file in exporting.files}
        assert exporting.missing, "wind and plants have not been here"
        named(driver, folder)
        running.toggle_pause(application)
        driver.wait_for(lambda: application.simulation.status.cycle > 0, "a cycle")
        before = application.simulation.status.cycle
        driver.engine.item_click("###write")
        driver.wait_for(lambda: bool(exporting.outcome), "the end")
        assert application.simulation.status.cycle > before
        assert exporting.outcome.startswith("exported 5 files, ")
        assert exporting.outcome.endswith(f", into {folder}")
        assert [notice.text for notice in application.notices.shown()][-1] == exporting.outcome
        assert {path.name for path in folder.iterdir()} == {*exporting.written, "ground.png.txt"}
        for written in exporting.written.values():
            assert (folder / written.name).stat().st_size == written.size
        driver.wait_for(lambda: driver.engine.item_info("###write").id_ != 0, "the button")
        driver.press("Esc")
        assert not exporting.is_open

    drive(test, WITHOUT_DROPS, draws_land=False)
    world, _ = checkpoint.load(tmp_path / "now.npz")
    assert (read_heightmap(folder / "ground.npy").elevation == world.ground).all()


def test_what_cannot_be_is_one_line_in_the_dialog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("none that is a folder")

    def test(driver: Driver) -> None:
        have_land(driver)
        exporting = opened(driver)
        exporting.wish(Wishes(heights=("tif",), side="3"))
        driver.wait_for(lambda: bool(exporting.why), "what is wrong")
        assert exporting.why.startswith("--side 3: must be ") and not exporting.can_write
        exporting.wish(HEIGHTS)
        driver.wait_for(lambda: exporting.can_write, "files again")
        named(driver, tmp_path / "file")
        driver.engine.item_click("###write")
        driver.wait_for(lambda: bool(exporting.why), "what is wrong")
        assert exporting.why.startswith(f"cannot write into {tmp_path / 'file'}: it is a file")
        assert exporting.is_open and not exporting.is_writing

    drive(test, WITHOUT_DROPS, draws_land=False)
    assert (tmp_path / "file").read_text() == "none that is a folder"


def test_a_cancelled_export_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that writes for ever, and says at its end what nobody has heard yet; a real one follows it."""
    monkeypatch.chdir(tmp_path)
    before = tmp_path / "before"
    before.mkdir()
    folder = before / "new" / "cancelled"

    def begin(line: Line) -> None:
        folder.mkdir(parents=True)
        (folder / f"{PART}abc.part.tif").write_bytes(b"half")

    def test(driver: Driver) -> None:
        application = have_land(driver)
        exporting = opened(driver)
        worker = exporting._worker
        assert worker is not None
        exporting.folder = str(folder)
        end = worker.end

        def say_and_end() -> None:
            worker._answers.put(Written("ground.tif", 1, ""))
            end()

        monkeypatch.setattr(worker, "tell", begin)
        monkeypatch.setattr(worker, "end", say_and_end)
        exporting.write()
        driver.engine.yield_(5)
        assert exporting.is_writing
        driver.engine.item_click("Cancel")
        driver.wait_for(lambda: exporting.can_write, "a worker again")
        assert exporting.outcome == "cancelled: 1 of 2 files are written"
        assert list(before.iterdir()) == [], "what was there stays, and nothing else"
        exporting.write()
        files.export_dialog(application)  # which hides it
        assert not exporting.is_open and exporting.is_writing
        driver.wait_for(lambda: not exporting.is_writing, "the end")
        assert exporting.outcome.startswith("exported 2 files")

    drive(test, WITHOUT_DROPS, draws_land=False)
    assert (folder / "ground.tif").exists()


def test_a_worker_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def test(driver: Driver) -> None:
        have_land(driver)
        exporting = opened(driver)
        assert exporting._worker is not None
        exporting._worker._process.kill()
        driver.wait_for(lambda: bool(exporting.why), "what is wrong")
        assert exporting.why.startswith("the process that exports has ended")
        assert not exporting.can_write
        driver.press("Esc")
        opened(driver)
        driver.wait_for(lambda: exporting.can_write, "a worker again")

    drive(test, WITHOUT_DROPS, draws_land=False)


def test_each_wish_has_a_widget_and_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def test(driver: Driver) -> None:
        have_land(driver)
        exporting = opened(driver)
        child = driver.engine.window_info("//###export/wishes").window
        driver.engine.set_ref(child)
        for wish in WISHES:
            alone = "##mask by" if wish.path == MASK else "##value"
            for name in wish.known if wish.several and wish.known else (alone,):
                widget = f"{wish.path}/{name if name.startswith('#') else f'###{name}'}"
                for height in (0.0, 200.0, 400.0, 600.0, 800.0):  # what is out of sight is not there
                    if not driver.engine.item_exists(widget):
                        driver.engine.scroll_to_y(child.id_, height)
                        driver.engine.yield_(2)
                assert driver.engine.item_exists(widget), widget
        assert child.content_size.x <= child.inner_rect.get_width(), "a row is too wide"
        driver.engine.item_click("triangles/##value")
        driver.engine.key_chars_replace_enter("1e99")
        driver.engine.yield_(2)
        assert exporting.wishes.triangles == 10**8
        driver.press("Ctrl+E")
        assert not exporting.is_open

    drive(test, WITHOUT_DROPS, draws_land=False)

"""The gallery in the window, used by mouse and keys."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from imgui_bundle import imgui
from PIL import Image

from app.engine.messages import Run
from app.engine.workers import start_worker
from app.files.card_loops import FRAMES, LOOP_SIZE
from app.files.cards import OWN, RECENT
from app.files.library import Library, Welcome
from app.scene.scene import presets
from app.window import card_loops
from app.window.application import Application
from app.window.commands import files, moments
from app.window.panel import gallery as gallery_panel
from app.window.panel.gallery import Gallery
from tests.app.test_gallery import broken_files, preset
from tests.gui.host import SMALL, Driver, drive

QUIET = SMALL.with_value("droplets.enabled", False)


def have_gallery(driver: Driver, *, by: str = "P") -> tuple[Application, Gallery]:
    """The gallery, opened by a key, with all its cards and pictures."""
    application = driver.application
    driver.wait_for(lambda: application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)
    if by:
        driver.press(by)
    gallery = application.panel.gallery
    driver.wait_for(lambda: gallery.is_open and gallery.is_whole, "the gallery")
    return application, gallery


def type_text(driver: Driver, text: str) -> None:
    driver.engine.key_chars(text)
    driver.engine.yield_(4)


def press(driver: Driver, *keys: imgui.Key) -> None:
    for key in keys:
        driver.engine.key_press(int(key))
        driver.engine.yield_(3)


def cards_window(driver: Driver) -> imgui.internal.Window:
    return driver.engine.window_info(f"//{gallery_panel.NAME}/cards").window


def item(driver: Driver, name: str) -> str:
    """The test engine's name of what stands among the cards."""
    driver.engine.set_ref(cards_window(driver))
    return "###" + name.replace("/", "\\/")


def names(gallery: Gallery) -> list[str]:
    return [card.source for card in gallery.shown]


def library_with(folder: Path) -> tuple[Library, Path]:
    library = Library(folder / "data", folder / "cache")
    own = library.own_folder
    assert own is not None
    own.mkdir(parents=True)
    return library, own


def test_the_key_opens_it_and_is_not_taken_for_a_search() -> None:
    def test(driver: Driver) -> None:
        _, gallery = have_gallery(driver)
        assert sorted(names(gallery)) == sorted(presets())
        type_text(driver, "lake")
        assert "lakes" in names(gallery) and "pyramid" not in names(gallery)
        press(driver, imgui.Key.escape)
        assert gallery.is_open and len(names(gallery)) == len(presets())
        press(driver, imgui.Key.escape)
        assert not gallery.is_open

    drive(test, QUIET, draws_land=False)


def test_typing_does_nothing_else() -> None:
    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        world, scene = application.snapshot and application.snapshot.world, application.documents.scene
        for letter in (imgui.Key.n, imgui.Key.c, imgui.Key.m, imgui.Key.r, imgui.Key.p):
            press(driver, letter)
        assert application.documents.scene == scene and not application.documents.restart_waits
        assert application.snapshot and application.snapshot.world == world
        assert gallery.is_open

    drive(test, QUIET, draws_land=False)


def test_what_enter_opens_leaves_the_land_before_in_the_list_of_undo() -> None:
    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        before = application.documents.scene
        type_text(driver, "barchan crescent")
        assert names(gallery) == ["barchan"]
        press(driver, imgui.Key.enter)
        assert not gallery.is_open
        driver.wait_for(lambda: application.documents.are_shown and bool(application.undo.done), "the preset")
        assert application.documents.name == "barchan" and driver.viewer.title.startswith("Thalweg – barchan")
        assert [step.name for step in application.undo.done] == ["open barchan"]
        moments.undo(application)
        driver.wait_for(lambda: application.documents.scene.world == before.world, "the land before")

    drive(test, QUIET, draws_land=False)


def test_a_card_that_is_pointed_at_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of its own draws its loop once, and ends when the pointer goes on. One that fails is left alone."""
    started: list[list[str]] = []
    drawn = tmp_path / "drawn.webp"
    first, *others = (Image.new("RGB", LOOP_SIZE, (20 * number, 0, 0)) for number in range(FRAMES))
    first.save(drawn, "WEBP", save_all=True, append_images=others, lossless=True)

    does = {
        "barchan": "import shutil, sys; shutil.copy(*sys.argv[1:])",
        "dune-field": "import time; time.sleep(1000)",
        "storm": "1 / 0",
    }

    def start(words: Sequence[str], before: Sequence[str] = ()) -> subprocess.Popen[str]:
        started.append(list(words))
        return start_worker([sys.executable, "-c", does[words[1]], str(drawn), words[-1]])

    monkeypatch.setattr(card_loops, "start_program", start)
    library, _ = library_with(tmp_path)

    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        loops, engine = application.stock.loops, driver.engine
        type_text(driver, "desert")
        driver.wait_for(lambda: gallery.is_whole, "the cards")
        point_at(driver, "barchan")
        driver.wait_for(lambda: len(loops._frames) == FRAMES, "its loop")
        (card,) = [card for card in gallery.shown if card.source == "barchan"]
        seen = {loops.texture(card)}
        driver.wait_for(lambda: bool(seen.add(loops.texture(card))) or len(seen) == FRAMES, "each of its frames")
        point_at(driver, "dune-field")
        driver.wait_for(lambda: loops._process is not None, "the next one")
        process = loops._process
        assert process is not None and not loops._frames
        point_at(driver, "storm")
        assert process.poll() is not None
        driver.wait_for(lambda: len(started) == 3 and not loops.is_drawing, "one that cannot be drawn")
        point_at(driver, "barchan")
        driver.wait_for(lambda: len(loops._frames) == FRAMES, "its loop again")
        point_at(driver, "storm")
        engine.yield_(60)
        assert [words[1] for words in started] == ["barchan", "dune-field", "storm"]
        press(driver, imgui.Key.escape, imgui.Key.escape)
        assert not gallery.is_open and not loops._frames

    drive(test, QUIET, library=library, draws_land=False)


def point_at(driver: Driver, source: str) -> None:
    """Let the pointer rest on a card."""
    (card,) = [card for card in driver.application.panel.gallery.shown if card.source == source]  # type: ignore[attr-defined]
    driver.engine.mouse_move(item(driver, f"card {card.family} {source}"))
    driver.engine.yield_(4)


def test_arrows_lead_to_a_card_and_keep_it_in_sight() -> None:
    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        order = names(gallery)
        press(driver, imgui.Key.right_arrow, imgui.Key.page_down, imgui.Key.page_down, imgui.Key.down_arrow)
        driver.wait_for(lambda: gallery.is_whole, "the pictures there")
        chosen = order[gallery._selected]
        assert gallery._selected > 8
        family = gallery.shown[gallery._selected].family
        card, window = driver.engine.item_info(item(driver, f"card {family} {chosen}")), cards_window(driver)
        assert card.id_ and card.rect_full.min.y >= window.pos.y
        assert card.rect_full.max.y <= window.pos.y + window.size.y
        press(driver, imgui.Key.enter)
        assert application.documents.name == chosen

    drive(test, QUIET, draws_land=False)


@pytest.mark.parametrize(
    ("size", "scale"),
    [((1280, 720), 1.0), pytest.param((1024, 600), 1.0, marks=pytest.mark.nightly), ((1024, 600), 2.0)],
)
def test_a_click_opens_a_card_at_any_size(size: tuple[int, int], scale: float) -> None:
    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        driver.engine.mouse_wheel_y(-3.0)
        type_text(driver, "pyramid")
        driver.engine.item_click(f"//{gallery_panel.NAME}/**/###card Deserts pyramid")
        driver.engine.yield_(3)
        assert not gallery.is_open and application.documents.name == "pyramid"

    drive(test, QUIET, size=size, scale=scale, draws_land=False)


def test_with_shift_the_preset_acts_on_a_copy_of_the_land() -> None:
    def test(driver: Driver) -> None:
        application, _ = have_gallery(driver)
        source = application.documents.scene.world
        type_text(driver, "lakes at many")
        driver.engine.key_down(int(imgui.Key.mod_shift))
        driver.engine.item_click(f"//{gallery_panel.NAME}/**/###card Rivers and lakes lakes")
        driver.engine.key_up(int(imgui.Key.mod_shift))
        driver.wait_for(lambda: len(application.sides.shown) == 2, "two worlds")
        one, other = application.documents.scenes
        assert one.world == other.world == source
        assert not one.pools.enabled and other.pools.enabled

    drive(test, QUIET, draws_land=False)


def test_the_middle_of_a_hundred_files_with_ten_broken_ones_is_as_good_as_any(tmp_path: Path) -> None:
    library, own = library_with(tmp_path)
    for number in range(90):
        preset(own / f"land-{number:02d}.toml")
    broken = broken_files(own)

    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        cards = [card for card in gallery.shown if card.family == OWN]
        assert len(cards) == 100
        assert {card.path for card in cards if card.problem} == set(broken)
        type_text(driver, "unknown")
        press(driver, imgui.Key.enter)
        assert gallery.is_open
        assert any("droplets.speed" in notice.text for notice in application.notices.shown())
        press(driver, imgui.Key.escape)
        type_text(driver, "land 45")
        press(driver, imgui.Key.enter)
        assert application.documents.name == "land-45"

    drive(test, QUIET, library=library, draws_land=False)


def test_what_is_saved_gets_a_card_with_its_picture(tmp_path: Path) -> None:
    library, own = library_with(tmp_path)

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the land")
        driver.engine.yield_(20)
        driver.save(own / "mine.toml")
        driver.save(tmp_path / "kept.npz")
        driver.save(tmp_path / "told.journal.toml")
        driver.wait_for(lambda: len(library.recent) == 2, "the world")
        assert [file.place.name for file in library.recent] == ["kept.npz", "mine.toml"]
        driver.wait_for(lambda: len(list((tmp_path / "cache" / "cards").glob("*.webp"))) == 2, "the pictures")
        _, gallery = have_gallery(driver)
        first, second, third, *_ = gallery.shown
        assert [card.family for card in (first, second, third)] == [RECENT, RECENT, OWN]
        for card in (first, second, third):
            texture = application.stock.texture(card)
            assert texture is not None
        for kept in (tmp_path / "cache" / "cards").glob("*.webp"):  # no texture can be read on this thread
            assert np.asarray(Image.open(kept)).std() > 5.0

    drive(test, QUIET, library=library)


def test_a_recent_file_is_taken_from_the_list_and_stays(tmp_path: Path) -> None:
    library, _ = library_with(tmp_path)
    files = [preset(tmp_path / name) for name in ("one.toml", "two.toml", "three.toml")]
    for file in files:
        library.note(file)

    def test(driver: Driver) -> None:
        _, gallery = have_gallery(driver)
        press(driver, imgui.Key.delete)
        driver.wait_for(lambda: len([card for card in gallery.shown if card.family == RECENT]) == 2, "the list")
        press(driver, imgui.Key.right_arrow, imgui.Key.delete)
        driver.wait_for(lambda: len(library.recent) == 1, "the list")
        assert [file.place for file in library.recent] == [files[1]] and all(file.exists() for file in files)
        # And by the button of a card that is not chosen
        press(driver, imgui.Key.right_arrow)
        (card,) = [card for card in gallery.shown if card.family == RECENT]
        box = driver.engine.item_info(item(driver, f"card {card.family} {card.source}")).rect_full
        driver.engine.mouse_move_to_pos(imgui.ImVec2((box.min.x + box.max.x) / 2.0, box.max.y - 8.0))
        driver.engine.yield_(3)
        driver.engine.mouse_move_to_pos(imgui.ImVec2(box.max.x - 16.0, box.min.y + 16.0))
        driver.engine.yield_(3)
        driver.engine.mouse_down(0)
        driver.engine.yield_(3)
        driver.engine.mouse_up(0)
        driver.wait_for(lambda: not library.recent, "an empty list")
        assert gallery.is_open and files[1].exists()

    drive(test, QUIET, library=library, draws_land=False)


def test_once_closed_it_does_not_open_by_itself_again(tmp_path: Path) -> None:
    library, _ = library_with(tmp_path)
    assert library.welcome == Welcome()

    def test(driver: Driver) -> None:
        _, gallery = have_gallery(driver)
        gallery.close()

    drive(test, QUIET, library=library, draws_land=False)
    assert Library(tmp_path / "data").welcome.gallery


def test_a_land_waits_behind_the_gallery_of_the_first_start() -> None:
    def test(driver: Driver) -> None:
        application, gallery = have_gallery(driver)
        gallery.close()
        application.simulation.ask(Run())
        driver.wait_for(lambda: application.simulation.status.state == "running", "a land that runs")
        gallery.welcome()
        driver.wait_for(lambda: application.simulation.status.state == "paused", "a land that waits")
        gallery.close()
        driver.wait_for(lambda: application.simulation.status.state == "running", "a land that goes on")

    drive(test, QUIET, draws_land=False)


def test_a_picture_that_cannot_be_kept_leaves_the_saving_alone(tmp_path: Path) -> None:
    library, own = library_with(tmp_path)
    (tmp_path / "cache").write_text("in the way")

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the land")
        driver.save(own / "mine.toml")
        driver.engine.yield_(10)
        assert (own / "mine.toml").is_file()
        assert [notice.text for notice in application.notices.shown()] == [f"saved {own / 'mine.toml'}"]
        _, gallery = have_gallery(driver)
        assert application.stock.texture(gallery.shown[0]) is None

    drive(test, QUIET, library=library, draws_land=False)


def test_a_preset_of_ones_own_is_asked_for_in_the_folder_of_the_gallery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(tmp_path / "data")
    asked: list[Path] = []

    def test(driver: Driver) -> None:
        application = driver.application
        monkeypatch.setattr(application.panel._file_dialog, "ask_to_save", lambda name, *_: asked.append(_[-1] / name))
        driver.press("Ctrl+Shift+S")

    drive(test, msgspec.structs.replace(QUIET, name="mine"), library=library, draws_land=False)
    assert library.own_folder is not None and library.own_folder.is_dir()
    assert asked == [library.own_folder / "mine.toml"]


def test_what_cannot_be_opened_is_no_recent_file(tmp_path: Path) -> None:
    library, _ = library_with(tmp_path)
    wrong = tmp_path / "wrong.npz"
    wrong.write_text("no heights")

    def test(driver: Driver) -> None:
        application = driver.application
        driver.wait_for(lambda: application.snapshot is not None, "the land")
        library.note(preset(tmp_path / "one.toml"))
        driver.asked = lambda: files.open(application, wrong)
        driver.wait_for(lambda: application.notices.shown(), "an error")
        driver.wait_for(lambda: [file.place.name for file in library.recent] == ["one.toml"], "the list without it")

    drive(test, QUIET, library=library, draws_land=False)

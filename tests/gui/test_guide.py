"""The guide in the window, used by keys and mouse."""

from __future__ import annotations

import pytest
from imgui_bundle import imgui, rich_md

from app.files import guide
from app.files.guide import IMAGE, INDEX
from app.picture.style import Face
from app.window.guide import KEYS_PAGE, MOST_TEXTURES
from tests.gui.host import SMALL, Driver, drive

QUIET = SMALL.with_value("droplets.enabled", False)
SIZES = [((1280, 800), 1.0), ((800, 600), 1.0), ((800, 600), 2.0)]


def have_land(driver: Driver) -> None:
    driver.wait_for(lambda: driver.application.snapshot is not None, "the first snapshot")
    driver.engine.yield_(3)


def headings() -> list[str]:
    return [heading.text for heading in rich_md.last_render_headings()]


def entry(name: str) -> str:
    """The test engine's name of a page in the list."""
    return f"//Guide/**/###{name}"


def test_keys_open_and_close_it_on_their_pages() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        book = driver.application.guide
        driver.press("F1")
        assert book.is_open and headings()[0] == "Guide"
        driver.press("?")
        assert book.is_open and book.page == KEYS_PAGE and headings()[0] == "Keys"
        driver.press("?")
        assert not book.is_open
        driver.press("F1")
        assert book.is_open and book.page == KEYS_PAGE, "the page that was open last"
        driver.press("Esc")
        assert not book.is_open

    drive(test, QUIET, draws_land=False)


def test_links_lead_to_pages_and_a_button_back() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        book = driver.application.guide
        book.toggle("water")
        driver.engine.yield_(3)
        driver.application.panel._guide._follow("drainage.md")
        driver.engine.yield_(3)
        assert book.page == "drainage" and headings()[0] == "Drainage"
        driver.engine.item_click("//Guide/**/###back")
        driver.engine.yield_(3)
        assert book.page == "water" and headings()[0] == "Water"

    drive(test, QUIET, draws_land=False)


def test_keys_scroll_a_page_and_a_new_one_begins_at_its_top() -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        book = driver.application.guide
        driver.press("F1")

        def scrolled() -> float:
            return float(driver.engine.window_info("//Guide/page").window.scroll.y)

        assert scrolled() == 0.0
        driver.engine.key_press(int(imgui.Key.page_down))
        driver.engine.yield_(3)
        assert scrolled() > 100.0
        driver.engine.key_press(int(imgui.Key.page_up))
        driver.engine.yield_(3)
        assert scrolled() == 0.0
        driver.engine.key_press(int(imgui.Key.down_arrow))
        driver.engine.yield_(3)
        assert scrolled() > 0.0
        book.go_to("keys")
        driver.engine.yield_(3)
        assert scrolled() == 0.0

    drive(test, QUIET, draws_land=False)


@pytest.mark.parametrize(("size", "scale"), SIZES[:2])
def test_a_search_leaves_the_pages_that_have_its_words(size: tuple[int, int], scale: float) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        book, before = driver.application.guide, driver.application.documents.scene
        driver.press("F1")
        driver.engine.item_click(entry("islands"))
        driver.engine.yield_(3)
        assert headings()[0] == "Islands"
        driver.engine.item_click("//Guide/**/##search")
        driver.engine.key_chars("oxbow lakes")
        driver.engine.yield_(3)
        assert driver.engine.item_exists(entry("water")) and not driver.engine.item_exists(entry("dunes"))
        assert driver.application.documents.scene == before, "letters are no keys meanwhile"
        driver.engine.key_press(int(imgui.Key.enter))
        driver.engine.yield_(3)
        assert book.page == next(name for name, page in guide.pages().items() if page.has("oxbow lakes"))

    drive(test, QUIET, size=size, scale=scale, draws_land=False)


@pytest.mark.parametrize(("size", "scale"), SIZES)
def test_every_page_is_shown_with_its_pictures_and_in_letters_that_fonts_have(
    size: tuple[int, int], scale: float, subtests: pytest.Subtests
) -> None:
    def test(driver: Driver) -> None:
        have_land(driver)
        book = driver.application.guide
        for name, page in guide.pages().items():
            with subtests.test(page=name):
                book.is_open = True
                book.go_to(name)
                driver.engine.yield_(2)
                assert headings()[0] == page.title
                letters = {ord(letter) for letter in page.text if not letter.isspace()}
                for font in (Face.PLAIN.font(), rich_md.get_code_font().font):
                    assert not [chr(letter) for letter in letters if not font.is_glyph_in_font(letter)]
        book.go_to("dunes")
        for _, target in IMAGE.findall(book.text):
            driver.wait_for(lambda target=target: book.pictures.has(target), target)
        assert len(book.pictures._textures) <= MOST_TEXTURES
        assert not driver.application.notices.shown()
        book.go_to(INDEX)

    drive(test, QUIET, size=size, scale=scale, draws_land=False)

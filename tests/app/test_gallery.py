"""The gallery's cards, pictures and files, without a window."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imagecodecs import webp_decode

from app.cli.scenes import scenes_of
from app.cli.table import find_command
from app.files import card_pictures
from app.files.atomic import PART
from app.files.card_loops import FRAMES, loop_file, read_loop, words_of
from app.files.card_pictures import SIZE, card_sized, keep_picture, picture_of, read_picture
from app.files.cards import OWN, RECENT, all_cards, card_of, own_cards, recent_cards, shipped_cards
from app.files.library import MOST_RECENT, Library, RecentFile, Welcome
from app.files.opening import is_file, open_scene
from app.scene.families import families, picture_file, picture_words
from app.scene.scene import Scene, preset_to_toml, presets
from app.window.panel.fitted import ELLIPSIS, fitted, fitted_lines
from app.window.panel.gallery import ARROWS, CardGrid

pytestmark = pytest.mark.slow  # pictures are drawn

ALL_PICTURES = 1_000_000  # bytes
DARKEST, PLAINEST = 60.0, 8.0  # mean, and mean of the differences to it, of 255


def test_each_preset_has_one_family_and_a_picture_that_shows_something() -> None:
    table = families()
    named = [preset for family in table.family for preset in family.presets]
    assert sorted(named) == sorted(presets()) and set(table.picture) <= set(named)
    assert len({family.title for family in table.family}) == len(table.family)
    assert sum(len(picture_file(preset).read_bytes()) for preset in named) < ALL_PICTURES
    for preset in named:
        pixels = webp_decode(picture_file(preset).read_bytes())
        assert pixels.shape == (SIZE[1], SIZE[0], 3), preset
        assert pixels.mean() > DARKEST and np.abs(pixels - pixels.mean()).mean() > PLAINEST, preset


def test_the_program_takes_the_words_that_draw_a_picture(subtests: pytest.Subtests) -> None:
    _, parser = find_command("render")
    for preset in presets():
        with subtests.test(preset=preset):
            command, *words = shlex.split(picture_words(preset))
            assert command == "render"
            (scene,) = scenes_of(parser.parse_args(words))
            assert scene.name == preset


def test_the_program_takes_the_words_that_draw_a_loop_which_ends_with_the_picture(subtests: pytest.Subtests) -> None:
    _, parser = find_command("render")
    for card in shipped_cards():
        with subtests.test(preset=card.source):
            command, *words = words_of(card)
            assert command == "render"
            loop, picture = parser.parse_args(words), parser.parse_args(shlex.split(picture_words(card.source))[1:])
            (scene,) = scenes_of(loop)
            (pictured,) = scenes_of(picture)
            assert (scene.name, scene.camera) == (card.source, pictured.camera)
            assert loop.frames == FRAMES and loop.cycles_per_frame > 0
            if picture.frames > 1:
                assert abs((FRAMES - 1) * loop.cycles_per_frame - picture.cycles_per_frame) <= FRAMES


def test_own_presets_have_loops_and_other_files_have_none(tmp_path: Path) -> None:
    own = preset(tmp_path / "mine.toml")
    before = loop_file(card_of(own, OWN), tmp_path)
    assert words_of(card_of(own, OWN))[:2] == ["render", str(own)]
    os.utime(own, ns=(1, 1))
    assert loop_file(card_of(own, OWN), tmp_path) != before
    assert not words_of(card_of(tmp_path / "gone.toml", OWN)) and not words_of(card_of(tmp_path, OWN))
    (tmp_path / "bad.webp").write_bytes(b"RIFF")
    assert read_loop(tmp_path / "bad.webp") == [] == read_loop(tmp_path / "none.webp")


def test_a_shipped_card_says_what_the_preset_is_and_what_is_at_work() -> None:
    (lakes,) = [card for card in shipped_cards() if card.source == "lakes"]
    assert (lakes.title, lakes.family, lakes.problem) == ("Lakes", "Rivers and lakes", "")
    assert "Lakes and sea" in lakes.at_work and "Wind" not in lakes.at_work
    assert lakes.description == open_scene("lakes").description


@pytest.mark.parametrize("words", [["lak"], ["many", "levels"], ["rivers and"], ["lakes", "outlets"]])
def test_a_search_finds_by_name_text_and_family(words: list[str]) -> None:
    (lakes,) = [card for card in shipped_cards() if card.source == "lakes"]
    assert lakes.fits(words) and not lakes.fits([*words, "dune"])


# Files.


def preset(path: Path, description: str = "mine") -> Path:
    path.write_text(f'description = "{description}"\n[world]\nsource = "noise"\ncolumns = 64\nrows = 64\n')
    return path


def broken_files(folder: Path) -> dict[Path, str]:
    """Ten files and folders that are no presets, with what their card says of them."""
    (folder / "folder.toml").mkdir()
    (folder / "link.toml").symlink_to(folder / "nowhere.toml")
    (folder / "large.toml").write_text("#" * 2**21)
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    (folder / "words.toml").write_text("these are words")
    (folder / "unknown.toml").write_text("[droplets]\nspeed = 3.0\n")
    (folder / "section.toml").write_text("[weather]\nrain = 3.0\n")
    (folder / "range.toml").write_text("[droplets]\nfriction = 17.0\n")
    (folder / "deep.toml").write_text("a = " + "[" * 5000 + "]" * 5000)
    (folder / "world.npz").write_bytes(b"PK\x03\x04 but no archive")
    says = {
        "folder.toml": "not a regular file",
        "link.toml": "a link to what is not there",
        "large.toml": "more than",
        "binary.toml": "UTF-8",
        "words.toml": "not valid TOML",
        "unknown.toml": "no parameter 'droplets.speed'",
        "section.toml": "no section 'weather'",
        "range.toml": "must be from 0 to",
        "deep.toml": "nested too deeply",
        "world.npz": "no saved world",
    }
    return {folder / name: why for name, why in says.items()}


def test_of_a_hundred_files_the_ten_broken_ones_are_told_and_the_others_can_be_opened(tmp_path: Path) -> None:
    whole = [preset(tmp_path / f"land-{number:02d}.toml", f"number {number}") for number in range(90)]
    broken = broken_files(tmp_path)
    cards = {card.path: card for card in own_cards(tmp_path)}
    assert set(cards) == {*whole, *broken}
    for number, path in enumerate(whole):
        assert (cards[path].problem, cards[path].description) == ("", f"number {number}")
        assert cards[path].title == f"Land {number:02d}"
    for path, why in broken.items():
        problem = cards[path].problem
        assert problem and why in problem and "\n" not in problem and str(tmp_path) not in problem.split(":")[0], path


def test_a_file_is_read_anew_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("nothing")
    assert card_of(path, OWN).problem
    preset(path, "now it is one")
    assert card_of(path, OWN).description == "now it is one"


def test_what_is_no_preset_and_no_world_has_no_card_of_its_own(tmp_path: Path) -> None:
    for name in ("notes.txt", "story.journal.toml", ".hidden.toml", f"{PART}1.part.toml"):
        (tmp_path / name).write_text("")
    assert own_cards(tmp_path) == [] == own_cards(tmp_path / "nowhere") == own_cards(None)


def test_recent_files_that_are_gone_are_told(tmp_path: Path) -> None:
    here = preset(tmp_path / "here.toml")
    cards = recent_cards([RecentFile(str(tmp_path / "gone.tif"), 0.0), RecentFile(str(here), 1.0)])
    assert [(card.title, card.family) for card in cards] == [("Gone", RECENT), ("Here", RECENT)]
    assert [card.problem for card in cards] == ["it is no longer there", ""]


def test_all_cards_are_recent_own_and_shipped_ones(tmp_path: Path) -> None:
    library = Library(tmp_path / "data")
    assert library.own_folder is not None
    library.own_folder.mkdir(parents=True)
    own = preset(library.own_folder / "mine.toml")
    library.note(own)
    assert [card.family for card in all_cards(library)[:3]] == [RECENT, OWN, families().family[0].title]
    assert len(all_cards(library)) == 2 + len(presets())


# The library.


@given(st.lists(st.integers(0, 40), max_size=80))
def test_recent_files_are_the_last_ones_each_once(numbers: list[int]) -> None:
    library = Library()
    for number in numbers:
        library.note(Path(f"/land/{number}.npz"))
    expected = list(dict.fromkeys(reversed(numbers)))[:MOST_RECENT]
    assert [file.place for file in library.recent] == [Path(f"/land/{number}.npz") for number in expected]


def test_a_library_is_the_same_at_the_next_start_and_in_another_window(tmp_path: Path) -> None:
    one, other = Library(tmp_path), Library(tmp_path)
    one.note(Path("/a.npz"))
    other.note(Path("/b.npz"))
    assert [file.path for file in one.recent] == ["/b.npz", "/a.npz"]
    one.forget(Path("/b.npz"))
    assert [file.path for file in Library(tmp_path).recent] == ["/a.npz"]
    assert not Library(tmp_path).welcome.gallery
    one.welcome = Welcome(gallery=True)
    assert Library(tmp_path).welcome == Welcome(gallery=True, tour=False)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'[{"path": 3}]', b"[" * 10000])
def test_a_broken_list_is_as_if_there_were_none(tmp_path: Path, content: bytes) -> None:
    for name in ("recent.json", "welcome.json"):
        (tmp_path / name).write_bytes(content)
    library = Library(tmp_path)
    assert library.recent == ()
    library.note(Path("/a.npz"))
    assert [file.path for file in Library(tmp_path).recent] == ["/a.npz"]
    assert library.welcome == Welcome()


def test_where_nothing_can_be_written_the_list_lives_as_long_as_the_program(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    library = Library(tmp_path / "file" / "data")
    library.note(Path("/a.npz"))
    assert [file.path for file in library.recent] == ["/a.npz"]


# Pictures.


def test_the_picture_of_a_saved_file_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    path, folder = preset(tmp_path / "mine.toml"), tmp_path / "cards"
    pixels = np.zeros((300, 500, 3), np.uint8)
    pixels[:, 250:] = 200
    keep_picture(path, pixels, folder)
    seen = read_picture(card_of(path, OWN), folder)
    assert seen is not None and seen.shape == (SIZE[1], SIZE[0], 3)
    assert seen[:, :200].max() < 20 and seen[:, -200:].min() > 180
    os.utime(path, ns=(1, 1))
    assert read_picture(card_of(path, OWN), folder) is None


@pytest.mark.parametrize("content", [b"", b"RIFF", b"x" * 2**23])
def test_a_broken_picture_is_as_if_there_were_none(tmp_path: Path, content: bytes) -> None:
    path = preset(tmp_path / "mine.toml")
    place = picture_of(path, tmp_path)
    assert place is not None
    place.write_bytes(content)
    assert read_picture(card_of(path, OWN), tmp_path) is None


def test_a_picture_that_cannot_be_kept_spoils_nothing(tmp_path: Path) -> None:
    path = preset(tmp_path / "mine.toml")
    pixels = np.zeros((9, 16, 3), np.uint8)
    (tmp_path / "file").write_text("in the way")
    keep_picture(path, pixels, tmp_path / "file" / "cards")
    keep_picture(tmp_path / "gone.toml", pixels, tmp_path)
    keep_picture(path, pixels, None)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "mine.toml"]
    assert read_picture(card_of(path, OWN), tmp_path) is None


def test_only_so_many_pictures_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_pictures, "MOST_KEPT", 3)
    folder = tmp_path / "cards"
    for number in range(5):
        keep_picture(preset(tmp_path / f"{number}.toml"), np.zeros((9, 16, 3), np.uint8), folder)
    assert len(list(folder.iterdir())) == 3


@given(st.integers(1, 900), st.integers(1, 900), st.integers(0, 255))
def test_a_card_has_the_mean_of_what_it_shows(rows: int, columns: int, level: int) -> None:
    plain = card_sized(np.full((rows, columns, 3), level, np.uint8))
    assert plain.shape == (SIZE[1], SIZE[0], 3) and np.all(plain == level)


def test_a_picture_four_times_as_large_becomes_the_means_of_its_blocks() -> None:
    values = np.random.default_rng(3).integers(0, 256, (4 * SIZE[1], 4 * SIZE[0], 3)).astype(np.uint8)
    means = values.reshape(SIZE[1], 4, SIZE[0], 4, 3).mean(axis=(1, 3))
    assert np.abs(card_sized(values) - means).max() <= 0.51


# Words and places.


@given(st.text("abc de,;", max_size=60), st.integers(1, 40), st.integers(1, 4))
def test_words_fit_their_lines_and_none_is_left_out_silently(text: str, room: int, most: int) -> None:
    lines = fitted_lines(text, room, most, len)
    assert len(lines) <= most and all(len(line) <= room for line in lines)
    if not any(ELLIPSIS in line for line in lines):
        assert " ".join(lines).split() == text.split()
    assert fitted(text, len(text), len) == text


@given(st.lists(st.sampled_from("abc"), max_size=30).map(sorted), st.integers(1, 6), st.data())
def test_arrow_keys_reach_every_card_and_stay_among_them(
    families: list[str], columns: int, data: st.DataObject
) -> None:
    grid = CardGrid.of(families, columns)
    assert [card for row in grid.rows for card in row] == list(range(len(families)))
    assert all(len(row) <= columns and len({families[card] for card in row}) == 1 for row in grid.rows)
    if not families:
        assert all(grid.moved(0, direction) == 0 for direction in ARROWS.values())
        return
    start = data.draw(st.integers(0, len(families) - 1))
    for direction in ARROWS.values():
        assert 0 <= grid.moved(start, direction) < len(families)
    at, reached = 0, {0}
    for _ in families:
        at = grid.moved(at, "right")
        reached.add(at)
    assert reached == set(range(len(families)))
    above = grid.moved(grid.moved(start, "down"), "up")
    (row,) = [row for row in grid.rows if start in row]
    assert above in row or grid.rows[-1] == row


def test_a_preset_of_a_scene_becomes_a_card(tmp_path: Path) -> None:
    scene = Scene(description="made here").with_value("droplets.enabled", False)
    (tmp_path / "made_here.toml").write_text(preset_to_toml(scene))
    (card,) = own_cards(tmp_path)
    assert (card.title, card.description, "Droplets" in card.at_work) == ("Made here", "made here", False)


def test_only_files_of_a_person_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    preset(tmp_path / "lakes")
    preset(tmp_path / "mine.toml")
    sources = ["lakes", "noise", "mine.toml", "./lakes", "nowhere.toml"]
    assert [source for source in sources if is_file(source)] == ["mine.toml", "./lakes"]

"""Words over a picture."""

from __future__ import annotations

import pytest

from app.picture.lettering import sign
from app.scene.captions import caption_lines, picture_labels
from app.scene.scene import Scene
from tests.app.small import small_scene


def captioned(text: str, **settings: object) -> Scene:
    return small_scene(view__caption=text, **settings)


def test_fields_have_their_values() -> None:
    scene = captioned("{name} rises | cycle {cycle}, {years} a | sea {edges.sea_level}", climate__year=200)
    assert caption_lines(captioned("{age}"), 3, 2.5e6) == ("2.50 My",)
    assert caption_lines(scene, 12_500) == ("rises", "cycle 12 500, 62.5 a", "sea 0 m")


def test_what_is_no_field_stays_and_without_words_there_is_nothing() -> None:
    assert caption_lines(captioned("{no.such} {Cycle} 50 %"), 3) == ("{no.such} {Cycle} 50 %",)
    assert caption_lines(captioned("  "), 3) == ()
    assert picture_labels([small_scene()], 3) == [()]


def test_compared_worlds_have_it_over_their_letters() -> None:
    first = captioned("Rain")
    second = first.with_value("droplets.friction", 0.4)
    assert [label[:2] for label in picture_labels([first, second], 0)] == [("Rain", "A"), ("Rain", "B")]


@pytest.mark.parametrize(("words", "rows"), [("short", 1), ("a " * 50, 2), ("a " * 500, 2), ("a" * 500, 1), ("", 1)])
def test_a_long_line_is_broken_once_and_then_cut(words: str, rows: int) -> None:
    one, two = (sign(lines, 1.0, 360) for lines in (("title",), ("title", "words")))
    letters = sign(("title", words), 1.0, 360)
    assert letters.shape[1] <= 360
    assert letters.shape[0] == len(one) + rows * (len(two) - len(one))

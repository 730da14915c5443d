"""How numbers are written, and what is taken of what was typed."""

from __future__ import annotations

import pytest

from app.model.numbers import (
    decimals,
    exact_text,
    measured,
    number_text,
    range_words,
    rounded,
    spaced,
    take_typed,
    value_text,
)
from app.scene.scene import DECLARATIONS

OF_RELIEF = "0 or from 0.001 to 9 000 m"
OF_COLUMNS = "is out of its range, 0 or from 8 to 8 192 cells; it stays 300 cells"


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("climate.precipitation", 800.0, "800 mm"),
        ("climate.precipitation", 0.1234567, "0.123 mm"),
        ("snowballs.total", 80_000, "80 000 balls"),
        ("droplets.count", 1000, "1 000"),
        ("world.relief", 1536.0, "1 536 m"),
        ("world.relief", 0.0, "0 m"),
        ("edges.sea_level", -1234.5, "-1 234 m"),
        ("view.sun_direction", 27.0, "27°"),
        ("view.exaggeration", 1.0, "1×"),
        ("plants.tree_arrival", 4e-05, "0.00004 1/cycle"),
        ("wind.abrasion", 0.0001, "0.0001"),
        ("noise.gain", 0.5, "0.5"),
        ("droplets.momentum", 0.0, "0 1/t"),
    ],
)
def test_a_number_has_the_digits_that_its_range_deserves(path: str, value: float, text: str) -> None:
    assert number_text(DECLARATIONS[path], value) == text


def test_no_default_is_written_as_another_number() -> None:
    for path, declaration in DECLARATIONS.items():
        if declaration.kind in (int, float):
            digits = number_text(declaration, declaration.default).removesuffix(declaration.unit).replace(" ", "")
            assert float(digits.strip()) == declaration.default, path


def test_a_slider_sets_what_it_shows_and_reaches_both_ends() -> None:
    for path, declaration in DECLARATIONS.items():
        if declaration.kind not in (int, float):
            continue
        for part in (0.0, 0.013, 0.333333, 0.77, 1.0):
            value = rounded(declaration, declaration.low + part * (declaration.high - declaration.low))
            assert declaration.low <= value <= declaration.high, path
            assert type(value) is declaration.kind, path
            assert round(value, decimals(declaration, value)) == pytest.approx(value, rel=1e-12), path
        assert rounded(declaration, declaration.low) == declaration.low
        assert rounded(declaration, declaration.high) == declaration.high


def test_other_values_and_ranges() -> None:
    assert value_text(DECLARATIONS["world.rain_map"], "") == "uniform"
    assert value_text(DECLARATIONS["droplets.springs"], "") == "nothing"
    assert value_text(DECLARATIONS["droplets.enabled"], True) == "on"
    assert value_text(DECLARATIONS["world.relief"], 0.0) == "as in the source"
    assert range_words(DECLARATIONS["world.relief"]) == OF_RELIEF
    assert spaced(1234567.0) == "1 234 567" and spaced(-0.001, 1) == "0.0"
    assert [measured(number) for number in (0.0, 0.012345, 1.0, 99.96, 999.7, 5432.1)] == [
        "0", "0.0123", "1", "100", "1 000", "5 432"
    ]  # fmt: skip
    assert [exact_text(value) for value in (80_000, 0.1 + 0.2, 0.25, 5.0)] == [
        "80000",
        "0.30000000000000004",
        "0.25",
        "5",
    ]


@pytest.mark.parametrize(
    ("path", "typed", "taken", "said"),
    [
        ("world.relief", "500", 500.0, ""),
        ("world.relief", " 1 500 m ", 1500.0, ""),
        ("world.relief", "0", 0.0, ""),
        ("world.relief", "-500", 300.0, f"relief: -500 is out of its range, {OF_RELIEF}; it stays 300 m"),
        ("world.relief", "1e9", 300.0, f"relief: 1e9 is out of its range, {OF_RELIEF}; it stays 300 m"),
        ("world.relief", "1e-4", 300.0, f"relief: 1e-4 is out of its range, {OF_RELIEF}; it stays 300 m"),
        ("world.columns", "3", 300, f"columns: 3 {OF_COLUMNS}"),
        ("world.columns", "5000000", 300, f"columns: 5000000 {OF_COLUMNS}"),
        ("world.relief", "high", 300.0, 'relief: "high" is not a number; it stays 300 m'),
        ("world.relief", "nan", 300.0, 'relief: "nan" is not a number; it stays 300 m'),
        ("world.relief", "", 300.0, 'relief: "" is not a number; it stays 300 m'),
        ("world.seed", "12.5", 300, 'seed: "12.5" is not a whole number; it stays 300'),
        ("world.seed", "-4", 300, "seed: -4 is out of its range, from 0 to 2 147 483 647; it stays 300"),
        ("world.seed", "9" * 20, 300, f"seed: {'9' * 20} is out of its range, from 0 to 2 147 483 647;"),
        ("world.seed", "9" * 5000, 300, f'seed: "{"9" * 24}…" is not a number'),
        ("droplets.count", "1e4", 10_000, ""),
        ("droplets.friction", "-1", 300.0, "friction: -1 is out of its range, from 0 to 0.8 1/t; it stays 300 1/t"),
    ],
)
def test_what_was_typed_is_taken_or_said(path: str, typed: str, taken: float, said: str) -> None:
    declaration = DECLARATIONS[path]
    value, line = take_typed(declaration, typed, declaration.kind(300))
    assert (value, type(value)) == (taken, declaration.kind)
    assert line.startswith(said) and bool(line) == bool(said) and "\n" not in line

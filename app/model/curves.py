"""Parameters over time: values at cycles, and a curve between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.model.errors import UserError
from app.model.parameters import Declaration, Value

MOST_KEYS = 1000
FULL_CIRCLE = 360.0  # the range of angular parameters


class Key(NamedTuple):
    """The value of a parameter at a cycle."""

    cycle: int
    value: Value


def read_curve(text: str, parse: Callable[[str], Value]) -> tuple[Key, ...]:
    """The keys in a text such as `0: 12.5; 300: 40`, by cycle. Raises `UserError` if it is invalid."""
    keys: dict[int, Key] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        cycle, colon, value = (word.strip() for word in part.partition(":"))
        if not (colon and cycle.isdecimal() and len(cycle) <= 15):
            raise UserError(f"'{part}' must be a cycle and a value, such as 300: 12.5")
        keys[int(cycle)] = Key(int(cycle), parse(value))
    if len(keys) > MOST_KEYS:
        raise UserError(f"{len(keys)} keys: there can be up to {MOST_KEYS}")
    return tuple(keys[cycle] for cycle in sorted(keys))


def write_curve(keys: Sequence[Key]) -> str:
    """The text that lists keys."""
    return "; ".join(f"{key.cycle}: {_text(key.value)}" for key in keys)


def value_at(declaration: Declaration, keys: Sequence[Key], cycle: float) -> Value:
    """The value of a keyed parameter at a cycle; constant before the first and after the last key.

    Numbers follow the monotone cubic curve through their keys (Fritsch & Carlson 1980), without overshoot.
    An angle turns the shorter way. Other values are those of the key before.
    """
    if not isinstance(keys[0].value, int | float) or isinstance(keys[0].value, bool):
        return max((key for key in keys if key.cycle <= cycle), default=keys[0], key=lambda key: key.cycle).value
    is_angle = declaration.high - declaration.low == FULL_CIRCLE
    number = curve_at([key.cycle for key in keys], _values(keys, is_angle), cycle)
    if is_angle:
        number = declaration.low + (number - declaration.low) % FULL_CIRCLE
    return round(number) if declaration.kind is int else min(max(number, declaration.low), declaration.high)


def curve_at(places: Sequence[float], values: Sequence[float], place: float) -> float:
    """The monotone cubic curve through values at increasing positions (Fritsch & Carlson 1980)."""
    if place <= places[0]:
        return values[0]
    if place >= places[-1]:
        return values[-1]
    after = next(number for number, known in enumerate(places) if known > place)
    slopes = [
        (high - low) / (end - begin)
        for low, high, begin, end in zip(values, values[1:], places, places[1:], strict=False)
    ]
    width = places[after] - places[after - 1]
    part = (place - places[after - 1]) / width
    begin, end = (_tangent(slopes, number, places) for number in (after - 1, after))
    # Hermite's cubic
    square, cube = part * part, part * part * part
    return (
        (2.0 * cube - 3.0 * square + 1.0) * values[after - 1]
        + (cube - 2.0 * square + part) * width * begin
        + (3.0 * square - 2.0 * cube) * values[after]
        + (cube - square) * width * end
    )


def _tangent(slopes: Sequence[float], number: int, places: Sequence[float]) -> float:
    """The slope at a key: 0 at ends and extrema, otherwise the harmonic mean of the adjacent slopes."""
    if number in (0, len(slopes)):
        return 0.0
    before, after = slopes[number - 1], slopes[number]
    if before * after <= 0.0:
        return 0.0
    widths = places[number] - places[number - 1], places[number + 1] - places[number]
    weights = 2.0 * widths[1] + widths[0], widths[1] + 2.0 * widths[0]
    return sum(weights) / (weights[0] / before + weights[1] / after)


def _values(keys: Sequence[Key], is_angle: bool) -> list[float]:
    values: list[float] = []
    for key in keys:
        value = float(key.value)
        if is_angle and values:
            half = FULL_CIRCLE / 2.0
            value = values[-1] + (value - values[-1] + half) % FULL_CIRCLE - half
        values.append(value)
    return values


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"

"""Formatting and parsing of numbers, the same everywhere."""

from __future__ import annotations

import math

from app.model.errors import UserError
from app.model.parameters import Declaration, Value

SIGNIFICANT_DIGITS = 3  # of numbers with a logarithmic slider
FEWEST_DIGITS = 2  # of other numbers that are small relative to their range
MOST_DECIMALS = 9
FINER_THAN_A_HUNDREDTH = 0.15  # as a power of ten, so that a range of 0.8 has steps of 0.01
LONGEST_QUOTED = 24  # characters of quoted input
STEPS_OF_A_WHOLE_NUMBER = 1000  # over the range of a slider, at least


def spaced(number: float, decimals: int = 0) -> str:
    """A number with thousands separated by spaces: `80 000`, `-1 234.5`."""
    return f"{round(number, decimals) + 0.0:,.{decimals}f}".replace(",", " ")


def measured(number: float) -> str:
    """A measured number: three digits, or all digits before the point."""
    highest_digit = math.floor(math.log10(abs(number))) if number else 0
    return _without_zeros(spaced(number, min(max(SIGNIFICANT_DIGITS - 1 - highest_digit, 0), MOST_DECIMALS)))


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is `least` or more, which is above 0."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * next(step for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least * (1.0 - 1e-9))


def bytes_text(size: float) -> str:
    """The size of a file, such as `4.2 MB`."""
    for unit in ("B", "kB", "MB"):
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 99.95 else f"{size:.1f} {unit}"
        size /= 1000.0
    return f"{spaced(size, 2 if size < 100.0 else 0)} GB"


def length_text(metres: float) -> str:
    """A length such as `350 m` or `1.2 km`."""
    return f"{measured(metres / 1000.0)} km" if metres >= 1000.0 else f"{measured(metres)} m"


def area_text(square_metres: float) -> str:
    """An area such as `900 m²` or `0.01 km²`."""
    return f"{measured(square_metres * 1e-6)} km²" if square_metres >= 1e4 else f"{measured(square_metres)} m²"


def time_text(years: float) -> str:
    """A geological time: `800 years`, `45 ky`, `2.35 My`."""
    if years < 10_000.0:
        return f"{spaced(years)} years"
    if years < 1e6:
        return f"{measured(years / 1e3)} ky"
    return f"{spaced(years / 1e6, 2)} My"


def decimals(declaration: Declaration, value: float) -> int:
    """The decimals of a value, from its range and the steps of its slider."""
    if declaration.kind is int:
        return 0
    highest_digit = math.floor(math.log10(abs(value))) if value else 0
    if declaration.log:
        needed = SIGNIFICANT_DIGITS - 1 - highest_digit
    else:
        hundredth = (declaration.high - declaration.low) / 100.0
        needed = math.ceil(-math.log10(hundredth) - FINER_THAN_A_HUNDREDTH)
        if value:
            needed = max(needed, FEWEST_DIGITS - 1 - highest_digit)
        needed = max(needed, len(exact_text(float(declaration.default)).partition(".")[2]))
    return min(max(needed, 0), MOST_DECIMALS)


def rounded(declaration: Declaration, value: float) -> float:
    """A value rounded as it is shown. The ends of the range are exact."""
    if value in (declaration.low, declaration.high):
        pass
    elif declaration.kind is int:
        step = (declaration.high - declaration.low) / STEPS_OF_A_WHOLE_NUMBER
        if declaration.log:
            step = abs(value) / 10.0**SIGNIFICANT_DIGITS
        step = 10 ** max(math.floor(math.log10(step)), 0) if step > 1.0 else 1
        value = round(value / step) * step
    else:
        value = round(value, decimals(declaration, value))
    return declaration.nearest(value)


def number_text(declaration: Declaration, value: float) -> str:
    """A value of a parameter with its unit: `80 000 balls`, `0.05 1/t`, `27°`."""
    return _without_zeros(spaced(value, decimals(declaration, value))) + _suffix(declaration)


def value_text(declaration: Declaration, value: Value) -> str:
    """A value as text; in words if it has a special meaning."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value or empty_means(declaration) or "nothing"
    return (zero_means(declaration) if value == 0 else "") or number_text(declaration, value)


def range_words(declaration: Declaration) -> str:
    """The range and unit of a number: `from 0 to 9 000 m`, or `0 or from 8 to 8 192 cells`."""
    low = number_text(declaration, declaration.least or declaration.low).removesuffix(_suffix(declaration))
    span = f"from {low} to {number_text(declaration, declaration.high)}"
    return f"0 or {span}" if declaration.least else span


def exact_text(value: float) -> str:
    """A number for editing, not rounded."""
    text = _without_zeros(f"{value:.15f}")
    return text if float(text) == value else str(value)


def zero_means(declaration: Declaration) -> str:
    """The meaning of zero according to the help: `0 means one per core`."""
    return declaration.help.partition("0 means ")[2]


def empty_means(declaration: Declaration) -> str:
    """The meaning of an empty text according to the help: `empty: uniform`."""
    return declaration.help.partition("empty: ")[2]


def read_number(declaration: Declaration, text: str) -> float:
    """A typed number, in range or not. Spaces between digits and a unit are allowed.

    Raises `UserError` if it is not a number, or not an integer where one is needed.
    """
    bare = "".join(text.split()).removesuffix("".join(declaration.unit.split()))
    try:
        number = float(bare)
        if declaration.kind is int:
            number = int(bare) if "e" not in bare.lower() else number
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        whole = declaration.kind is int and _is_number(bare)
        raise UserError(f'{declaration.label}: "{_cut(text)}" is not a {"whole " if whole else ""}number')
    if declaration.kind is int and number != int(number):
        raise UserError(f'{declaration.label}: "{_cut(text)}" is not a whole number')
    return int(number) if declaration.kind is int else number


def take_typed(declaration: Declaration, text: str, before: float) -> tuple[float, str]:
    """The value of a parameter after typing, and an error line if the input was refused.

    Invalid input changes nothing: the nearest valid value might take minutes to build.
    """
    try:
        number = read_number(declaration, text)
        if not declaration.allows(number):
            beyond = f"{_cut(text.strip())} is out of its range, {range_words(declaration)}"
            raise UserError(f"{declaration.label}: {beyond}")
    except UserError as error:
        return before, f"{error}; it stays {value_text(declaration, before)}"
    return number, ""


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _suffix(declaration: Declaration) -> str:
    unit = declaration.unit
    return unit if unit in ("°", "×", "") else f" {unit}"


def _cut(text: str) -> str:
    """Typed text, shortened to a line."""
    return text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}…"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

"""How numbers are formatted and parsed: the same way everywhere in the window."""

from __future__ import annotations

import math

from app.model.errors import UserError
from app.model.parameters import Declaration, Value

SIGNIFICANT_DIGITS = 3  # of a number whose slider is in logs
FEWEST_DIGITS = 2  # of any other that is small relative to its range
MOST_DECIMALS = 9
FINER_THAN_A_HUNDREDTH = 0.15  # as a power of ten: 0.8 is shown in steps of 0.01, too
LONGEST_QUOTED = 24  # characters of what was typed
STEPS_OF_A_WHOLE_NUMBER = 1000  # from one end of a slider to the other, or somewhat more


def spaced(number: float, decimals: int = 0) -> str:
    """A number with its thousands set apart: `80 000`, `-1 234.5`."""
    return f"{round(number, decimals) + 0.0:,.{decimals}f}".replace(",", " ")


def measured(number: float) -> str:
    """A number that was measured or found out: three digits, or all of those before the point."""
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


def time_text(years: float) -> str:
    """A geological time: `800 years`, `45 ky`, `2.35 My`."""
    if years < 10_000.0:
        return f"{spaced(years)} years"
    if years < 1e6:
        return f"{measured(years / 1e3)} ky"
    return f"{spaced(years / 1e6, 2)} My"


def decimals(declaration: Declaration, value: float) -> int:
    """How many digits after the point a value deserves: as many as its range and the steps of its slider ask for."""
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
    """The value as a slider sets it: no finer than it is shown. Both ends of the range stay as they are."""
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
    """A value of any parameter as a person reads it: in words where it stands for something else."""
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
    """A number as it is typed: nothing of it is rounded away."""
    text = _without_zeros(f"{value:.15f}")
    return text if float(text) == value else str(value)


def zero_means(declaration: Declaration) -> str:
    """What a zero stands for, where its help says so: `0 means one per core`."""
    return declaration.help.partition("0 means ")[2]


def empty_means(declaration: Declaration) -> str:
    """The same of a text that is empty: `empty: uniform`."""
    return declaration.help.partition("empty: ")[2]


def read_number(declaration: Declaration, text: str) -> float:
    """The number that was typed, in its range or not. Spaces between digits and the unit may be there.

    Raises `UserError` where the text is no number, or no whole one where that is meant.
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
    """What a parameter has after a text was typed, and a line that says why where it is not what was typed.

    What is no number, or out of range, changes nothing: the nearest that is allowed may take minutes to be built.
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
    """What was typed, as much of it as one line has room for."""
    return text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}…"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False

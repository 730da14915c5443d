"""Small expressions such as `smoothstep(200, 900, height) * (slope < 30)`: parsed, checked, evaluated for all cells.

    numbers, + - * / ^ (or **), < <= > >= == !=, and, or, not, parentheses, and functions and variables by their names

True is 1, false is 0, and any value but 0 counts as true. Nothing else can be expressed, so that an expression
from a file can do no harm.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.model.errors import UserError, nearest

Values = NDArray[np.float64]  # [row, column], or one number for all cells

LONGEST = 1000  # letters
DEEPEST = 40  # nested parentheses and signs

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
        | (?P<name>[A-Za-z_]\w*)
        | (?P<text>"[^"]*"|'[^']*')
        | (?P<sign>\*\*|<=|>=|==|!=|[-+*/^<>(),])
    )""",
    re.VERBOSE | re.ASCII,
)


class Function(NamedTuple):
    """A function of expressions, with its number of arguments; None: one or more."""

    fewest: int
    most: int | None
    call: Callable[..., Any]
    help: str


def _smoothstep(low: Values, high: Values, value: Values) -> Values:
    part = np.clip((value - low) / (high - low), 0.0, 1.0)
    return np.asarray(part * part * (3.0 - 2.0 * part))


def _all_of(function: Any) -> Callable[..., Any]:
    return lambda *values: functools.reduce(function, values)


FUNCTIONS: dict[str, Function] = {
    "min": Function(2, None, _all_of(np.minimum), "min(a, b, …)"),
    "max": Function(2, None, _all_of(np.maximum), "max(a, b, …)"),
    "abs": Function(1, 1, np.abs, "abs(a)"),
    "sqrt": Function(1, 1, np.sqrt, "sqrt(a)"),
    "exp": Function(1, 1, np.exp, "exp(a)"),
    "log": Function(1, 1, np.log, "log(a)"),
    "clamp": Function(3, 3, lambda value, low, high: np.minimum(np.maximum(value, low), high), "clamp(a, low, high)"),
    "smoothstep": Function(3, 3, _smoothstep, "smoothstep(low, high, a)"),
    "mix": Function(3, 3, lambda a, b, part: a + (b - a) * part, "mix(a, b, part)"),
}

_SIGNS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "and": lambda a, b: np.logical_and(a != 0.0, b != 0.0),
    "or": lambda a, b: np.logical_or(a != 0.0, b != 0.0),
}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Names(NamedTuple):
    """Names that an expression may use besides the built-in functions."""

    variables: tuple[str, ...]
    functions: Mapping[str, tuple[int, str]]  # of numbers: count of arguments, and usage
    of_files: Mapping[str, str]  # of a file name: usage


class Step(NamedTuple):
    """One step of evaluation: replaces the last `takes` values by one."""

    takes: int
    what: float | str | Callable[..., Any]  # a number, a variable or a callable; functions are looked up by `name`
    name: str = ""
    file: str = ""


class Expression(NamedTuple):
    """A parsed expression: its steps in order of evaluation."""

    steps: tuple[Step, ...]

    def uses(self, *names: str) -> bool:
        """Whether it uses any of these variables."""
        return any(step.what in names for step in self.steps if isinstance(step.what, str) and not step.name)

    def value(
        self, variable: Callable[[str], Values], functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> Values:
        """Evaluate it. `functions` are those of `Names`. The result may be not finite."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                values = [stack.pop() for _ in range(step.takes)][::-1]
                if step.file:
                    result: Any = (functions or {})[step.name](step.file)
                elif step.name:
                    result = (functions or {})[step.name](*values)
                elif isinstance(step.what, str):
                    result = variable(step.what)
                elif callable(step.what):
                    result = step.what(*values)
                else:
                    result = step.what
                stack.append(np.asarray(result, np.float64))
        found: Values = stack.pop()
        return found


def read_expression(text: str, names: Names) -> Expression:
    """Parse an expression. Raises `UserError` with a hint."""
    if len(text) > LONGEST:
        raise UserError(f"an expression of {len(text)} letters; it may have {LONGEST}")
    return _Reader(text, names).read()


def renamed_files(text: str, names: Names, named: Callable[[str], str]) -> str:
    """The text with file names mapped by `named`. Invalid text is unchanged."""
    pattern = "|".join(map(re.escape, names.of_files))

    def rename(match: re.Match[str]) -> str:
        name = named(match["name"])
        quote = "'" if '"' in name else '"'
        return f"{match['begin']}{quote}{name}{quote}"

    return re.sub(rf"""(?P<begin>\b(?:{pattern})\s*\(\s*)(?P<quote>["'])(?P<name>.+?)(?P=quote)""", rename, text)


class _Reader:
    """A recursive descent parser."""

    def __init__(self, text: str, names: Names) -> None:
        self._names = names
        self._steps: list[Step] = []
        self._depth = 0
        self._tokens = self._split(text)
        self._place = 0

    @staticmethod
    def _split(text: str) -> list[tuple[str, str]]:
        tokens, place = [], 0
        text = text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None or match.lastgroup is None:
                rest = text[place:].strip()
                what = "a text without its end" if rest[0] in "\"'" else f"'{rest[0]}'"
                raise UserError(f"{what} cannot be read here; an expression has numbers, names and + - * / ^ ( ) < >")
            tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        return tokens

    def read(self) -> Expression:
        self._any_of()
        if self._place < len(self._tokens):
            raise UserError(f"'{self._next()[1]}' is not expected after {self._before()}; a sign such as * is missing")
        return Expression(tuple(self._steps))

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("end", "the end")

    def _before(self) -> str:
        return f"'{self._tokens[self._place - 1][1]}'" if self._place else "the beginning"

    def _take(self, *words: str) -> str:
        """Consume the next word if it is one of these."""
        kind, word = self._next()
        if word not in words or kind not in ("sign", "name"):
            return ""
        self._place += 1
        return "^" if word == "**" else word

    def _demand(self, word: str, where: str) -> None:
        if not self._take(word):
            raise UserError(f"{where}: '{word}' is missing before {self._word()}")

    def _word(self) -> str:
        kind, word = self._next()
        return word if kind == "end" else f"'{word}'"

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UserError(f"an expression may be nested {DEEPEST} deep; this is deeper")

    def _call(self, takes: int, what: Callable[..., Any]) -> None:
        self._steps.append(Step(takes, what))

    def _chain(self, part: Callable[[], None], *signs: str) -> None:
        part()
        while sign := self._take(*signs):
            part()
            self._call(2, _SIGNS[sign])

    def _any_of(self) -> None:
        self._chain(lambda: self._chain(self._negation, "and"), "or")

    def _negation(self) -> None:
        if self._take("not"):
            self._deeper()
            self._negation()
            self._depth -= 1
            self._call(1, lambda value: value == 0.0)
        else:
            self._comparison()

    def _comparison(self) -> None:
        self._sum()
        if sign := self._take(*_COMPARISONS):
            self._sum()
            self._call(2, _SIGNS[sign])
            if self._next()[1] in _COMPARISONS:
                raise UserError("two comparisons in a row; write a < b and b < c")

    def _sum(self) -> None:
        self._chain(lambda: self._chain(self._signed, "*", "/"), "+", "-")

    def _signed(self) -> None:
        if sign := self._take("-", "+"):
            self._deeper()
            self._signed()
            self._depth -= 1
            if sign == "-":
                self._call(1, np.negative)
        else:
            self._power()

    def _power(self) -> None:
        self._atom()
        if self._take("^", "**"):
            self._deeper()
            self._signed()
            self._depth -= 1
            self._call(2, _SIGNS["^"])

    def _atom(self) -> None:
        kind, word = self._next()
        if kind == "number":
            self._place += 1
            self._steps.append(Step(0, float(word)))
        elif kind == "name" and word not in ("and", "or", "not"):
            self._place += 1
            self._name(word)
        elif self._take("("):
            self._deeper()
            self._any_of()
            self._depth -= 1
            self._demand(")", "parentheses")
        elif kind == "text":
            raise UserError(f"{word}: a text stands only in {' or '.join(self._names.of_files.values())}")
        else:
            after = f" after {self._before()}" if self._place else ""
            raise UserError(f"a number, a name or ( is missing{after} before {self._word()}")

    def _name(self, name: str) -> None:
        names = self._names
        called = self._next() == ("sign", "(")
        functions = (*FUNCTIONS, *names.functions, *names.of_files)
        if not called and name in names.variables:
            self._steps.append(Step(0, name))
        elif called and name in names.of_files:
            self._of_file(name)
        elif called and name in functions:
            self._function(name)
        elif name in functions:
            raise UserError(f"{name} is a function: {self._written(name)}")
        elif name in names.variables:
            raise UserError(f"{name} is a variable, without parentheses")
        else:
            what = "function" if called else "variable"
            known = functions if called else names.variables
            raise UserError(f"there is no {what} '{name}'{nearest(name, known)}")

    def _written(self, name: str) -> str:
        if name in FUNCTIONS:
            return FUNCTIONS[name].help
        return self._names.of_files.get(name) or self._names.functions[name][1]

    def _of_file(self, name: str) -> None:
        self._place += 1
        kind, word = self._next()
        if kind != "text" or not word[1:-1].strip():
            raise UserError(f"{name} takes the name of a file: {self._written(name)}")
        self._place += 1
        self._demand(")", name)
        self._steps.append(Step(0, name, name, word[1:-1]))

    def _function(self, name: str) -> None:
        self._place += 1
        self._deeper()
        count = 0
        if self._next() != ("sign", ")"):
            self._any_of()
            count = 1
            while self._take(","):
                self._any_of()
                count += 1
        self._depth -= 1
        self._demand(")", name)
        function = FUNCTIONS.get(name)
        fewest = function.fewest if function else self._names.functions[name][0]
        most = function.most if function else fewest
        if count < fewest or (most is not None and count > most):
            raise UserError(f"{name} takes {fewest}{'' if most else ' or more'}, not {count}: {self._written(name)}")
        if function:
            self._call(count, function.call)
        else:
            self._steps.append(Step(count, name, name))

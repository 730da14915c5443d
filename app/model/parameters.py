"""Parameters, declared once.

A group of parameters is a frozen `Parameters` struct whose fields carry their range, unit and help:

    class Droplets(Parameters, title="Droplets"):
        evaporation: Annotated[float, parameter(0.0, 0.1, "volume lost per unit of time", unit="1/t")] = 0.001

The panel, presets, the command line and the documentation are all derived from `declarations`, and kernels are given
their parameters by `for_kernel`.
"""

from __future__ import annotations

import functools
import math
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec

Value = float | int | bool | str
OfKernel = TypeVar("OfKernel", bound=tuple[Any, ...])


def parameter(
    low: float,
    high: float,
    help: str,
    *,
    unit: str = "",
    log: bool = False,
    least: float = 0.0,
    needs: str = "",
    essential: bool = False,
    makes_world: bool = False,
    costs: bool = False,
) -> msgspec.Meta:
    """Declare a number: its range (both ends allowed), one line of help, its unit, whether its slider is in logs.

    Where 0 stands for something else, all other values begin at `least`, and `low` is 0.
    `needs` says without what it has no effect: another parameter's value as in `edges.water=sea`, or any value but 0
    and off as in `climate.year`; `not` denies it, `or` joins what will do, and commas separate what is needed together.
    What is `essential` is among the few parameters that a group shows first. What `makes_world` is of what the world
    begins with, as all parameters of the section `world` are. Where it `costs`, its process takes about as much longer
    in a cycle as it is larger.
    """
    extra = {
        "unit": unit,
        "log": log,
        "least": least,
        "needs": needs,
        "essential": essential,
        "makes_world": makes_world,
        "costs": costs,
    }
    return msgspec.Meta(ge=low, le=high, description=help, extra=extra)


def described(
    help: str,
    *,
    check: Callable[[str], object] | None = None,
    names_file: bool = False,
    names_files: bool = False,
    of_land: bool = False,
    needs: str = "",
    essential: bool = False,
) -> msgspec.Meta:
    """Declare a switch, a choice (`Literal`) or a text, which have no range; `needs` and `essential` as of a number.

    `check` raises `UserError` if a text is not what it must be. With `names_file` it can name a file or folder,
    with `names_files` some among other things, see `app.model.field_parameters.with_files`. One that is `of_land` is an
    expression of the land, and has a picture in the panel.
    """
    extra = {
        "check": check,
        "names_file": names_file,
        "names_files": names_files,
        "of_land": of_land,
        "needs": needs,
        "essential": essential,
    }
    return msgspec.Meta(description=help, extra=extra)


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of parameters that belong together. Immutable, so that threads can share it."""

    title: ClassVar[str] = ""
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = ""  # without what none of them has an effect, as of a parameter
    acts_with: ClassVar[str] = ""  # with what they have one though their switch is off


@dataclass(frozen=True)
class Declaration:
    """One parameter as it was declared. `path` is dotted, as in presets and `--set`."""

    path: str
    kind: type  # float, int, bool or str
    default: Value
    low: float
    high: float
    unit: str
    help: str
    log: bool
    choices: tuple[str, ...]
    check: Callable[[str], object] | None
    names_file: bool
    names_files: bool = False
    of_land: bool = False
    needs: str = ""
    essential: bool = False
    makes_world: bool = False
    least: float = 0.0  # see `parameter`
    costs: bool = False

    def allows(self, value: float) -> bool:
        """Whether a number is in the range. One below 0 that is too small to be told from it is not 0."""
        if self.least and not value:
            return math.copysign(1.0, value) > 0.0
        return (self.least or self.low) <= value <= self.high

    def nearest(self, value: float) -> float:
        """The number of the range that is nearest to one, but no 0 in the place of what is more."""
        nearest = min(max(value, self.least if value > 0.0 and self.least else self.low), self.high)
        return int(nearest) if self.kind is int else float(nearest)

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @functools.cached_property
    def label(self) -> str:
        return self.name.replace("_", " ")


def declarations(group: type[msgspec.Struct], prefix: str = "") -> Iterator[Declaration]:
    """Every parameter of `group` and of the groups inside it, in the order of their declaration."""
    hints = typing.get_type_hints(group, include_extras=True)
    # msgspec finds them evaluated: it would evaluate their texts once for the fields and once to convert.
    group.__annotations__ = {name: hints[name] for name in group.__annotations__}
    for field in msgspec.structs.fields(group):
        hint = hints[field.name]
        meta = next(
            (item for item in getattr(hint, "__metadata__", ()) if isinstance(item, msgspec.Meta)), msgspec.Meta()
        )
        kind = typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint
        path = prefix + field.name
        if isinstance(kind, type) and issubclass(kind, Parameters):
            yield from declarations(kind, path + ".")
            continue
        choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
        extra = meta.extra or {}
        default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        yield Declaration(
            path=path,
            kind=str if choices else kind,
            default=default,
            low=-float("inf") if meta.ge is None else meta.ge,
            high=float("inf") if meta.le is None else meta.le,
            unit=extra.get("unit", ""),
            help=meta.description or "",
            log=extra.get("log", False),
            choices=choices,
            check=extra.get("check"),
            names_file=extra.get("names_file", False),
            names_files=extra.get("names_files", False),
            of_land=extra.get("of_land", False),
            needs=extra.get("needs", ""),
            essential=extra.get("essential", False),
            makes_world=extra.get("makes_world", False),
            least=extra.get("least", 0.0),
            costs=extra.get("costs", False),
        )


def for_kernel(kind: type[OfKernel], *sources: Any, **derived: Value) -> OfKernel:
    """The named tuple of a kernel's parameters, filled by name from groups of parameters or other named tuples.

    What has no equal there, or is meant otherwise, is given as `derived`. Raises `TypeError` if a name is derived
    that the kernel does not ask for, where none or several of the sources know a name that is not derived, and where
    they have it in another type or unit.
    """
    sources_of = _sources_of(kind, tuple(map(type, sources)), frozenset(derived))
    values: dict[str, Any] = {name: getattr(sources[number], name) for name, number in sources_of.items()}
    return kind(**values, **derived)


@functools.cache
def _sources_of(kind: type, sources: tuple[type, ...], derived: frozenset[str]) -> dict[str, int]:
    """From which of the sources each field comes."""
    asked = _types_and_units(kind)
    if unknown := derived - asked.keys():
        raise TypeError(f"{kind.__module__}.{kind.__name__} has no '{min(unknown)}'")
    known = [_types_and_units(source) for source in sources]
    found: dict[str, int] = {}
    for name in asked.keys() - derived:
        numbers = [number for number, names in enumerate(known) if name in names]
        field = f"{kind.__module__}.{kind.__name__}: '{name}'"
        if len(numbers) != 1:
            raise TypeError(f"{field} is in {len(numbers)} of {', '.join(source.__name__ for source in sources)}")
        found[name] = numbers[0]
        if known[numbers[0]][name] != asked[name]:
            raise TypeError(f"{field} is {asked[name]}; {sources[numbers[0]].__name__} has {known[numbers[0]][name]}")
    return found


def _types_and_units(kind: type) -> dict[str, tuple[type, str]]:
    """Of the fields of a group of parameters, or of a named tuple, whose units are annotations."""
    if issubclass(kind, Parameters):
        return {declaration.name: (declaration.kind, declaration.unit) for declaration in declarations(kind)}
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        name: (*typing.get_args(hint), "")[:2] if typing.get_args(hint) else (hint, "") for name, hint in hints.items()
    }

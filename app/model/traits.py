"""Traits of materials and plants: numbers and colours that a scene can change.

A trait is a field of the struct of a kind: a number by `parameter`, several non-decreasing numbers by `rising`, or a
`Colour`. The changes of a scene are one text, `sand repose 30; clay colour #8f6a58`.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from app.model.errors import UserError, nearest
from app.model.numbers import range_words
from app.model.parameters import Declaration

COLOUR = "#[0-9a-fA-F]{6}"
Colour = Annotated[str, msgspec.Meta(pattern=f"^{COLOUR}$")]  # "#rrggbb"

TraitValue = float | tuple[float, ...] | str

Kind = TypeVar("Kind", bound=msgspec.Struct)


class Setting(NamedTuple):
    """A changed trait of a kind."""

    kind: str
    trait: str
    value: TraitValue


@dataclass(frozen=True)
class Trait:
    """The declaration of a trait. A colour has no numbers; a single number has the name of the trait."""

    name: str
    help: str
    numbers: tuple[Declaration, ...]

    @property
    def label(self) -> str:
        return self.name.replace("_", " ")


def rising(help: str, *names: str) -> msgspec.Meta:
    """Declare several non-decreasing numbers, each with a name."""
    return msgspec.Meta(description=help, extra={"names": names})


@cache
def declared_traits(kind: type[msgspec.Struct]) -> dict[str, Trait]:
    """The traits that a type of kinds declares, by name."""
    hints = typing.get_type_hints(kind, include_extras=True)
    found = ((field.name, _trait(field.name, hints[field.name])) for field in msgspec.structs.fields(kind))
    return {name: trait for name, trait in found if trait is not None}


def traits_of(kind: msgspec.Struct) -> dict[str, Trait]:
    """The traits that a kind has."""
    return {name: trait for name, trait in declared_traits(type(kind)).items() if getattr(kind, name) is not None}


def numbers_of(kind: msgspec.Struct, trait: Trait) -> tuple[float, ...]:
    """The numbers of a trait; none for a colour."""
    value = getattr(kind, trait.name)
    if not trait.numbers:
        return ()
    return value if isinstance(value, tuple) else (value,)


def setting_of(kind: str, trait: Trait, numbers: Sequence[float]) -> Setting:
    """The setting of a trait to these numbers. Later numbers are raised so that they do not decrease."""
    if len(trait.numbers) == 1:
        return Setting(kind, trait.name, float(numbers[0]))
    risen: list[float] = []
    for number in numbers:
        risen.append(max([float(number), *risen[-1:]]))
    return Setting(kind, trait.name, tuple(risen))


def changed(kinds: Iterable[Kind], settings: Iterable[Setting]) -> tuple[Kind, ...]:
    """The kinds with changed traits. Settings of other kinds are ignored."""
    settings = tuple(settings)

    def with_own(kind: Kind) -> Kind:
        known = traits_of(kind)
        own = {s.trait: s.value for s in settings if s.kind == getattr(kind, "name", "") and s.trait in known}
        return msgspec.structs.replace(kind, **own) if own else kind

    return tuple(map(with_own, kinds))


def with_setting(settings: Iterable[Setting], setting: Setting) -> tuple[Setting, ...]:
    """The settings with one added or replaced."""
    of_which = (setting.kind, setting.trait)
    others = tuple(settings)
    if of_which in ((s.kind, s.trait) for s in others):
        return tuple(setting if (s.kind, s.trait) == of_which else s for s in others)
    return (*others, setting)


def without_setting(settings: Iterable[Setting], kind: str, trait: str) -> tuple[Setting, ...]:
    """The settings without that of a trait."""
    return tuple(s for s in settings if (s.kind, s.trait) != (kind, trait))


def write_settings(settings: Iterable[Setting]) -> str:
    """The text that lists settings."""

    def written(value: TraitValue) -> str:
        if isinstance(value, str):
            return value
        return " ".join(f"{number:.12g}" for number in (value if isinstance(value, tuple) else (value,)))

    return "; ".join(f"{s.kind} {s.trait} {written(s.value)}" for s in settings)


def read_settings(path: str, text: str, type_of: Callable[[str], type[msgspec.Struct]]) -> tuple[Setting, ...]:
    """The settings in a text. Raises `UserError`, which begins with `path`, if it is invalid.

    `type_of` is the type of kind for a name. Whether that kind exists is not checked here.
    """
    settings: tuple[Setting, ...] = ()
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, name, *words = (*part.split(), "", "")
        known = declared_traits(type_of(kind))
        words = [word for word in words if word]
        if not name or not re.fullmatch("[a-z][a-z0-9-]*", kind):
            raise UserError(f"{path}: '{part}' must be a kind, one of its traits and its value")
        if name not in known:
            raise UserError(f"{path}: '{part}': there is no trait '{name}'{nearest(name, known)}")
        settings = with_setting(settings, Setting(kind, name, _value(f"{path}: '{part}'", known[name], words)))
    return settings


def check_kinds(path: str, settings: Iterable[Setting], known: Iterable[str], what: str) -> None:
    """Raise `UserError` for settings of unknown kinds; `what` names the kind."""
    names = tuple(known)
    for setting in settings:
        if setting.kind not in names:
            raise UserError(f"{path}: there is no {what} '{setting.kind}'{nearest(setting.kind, names)}")


def linear_colour(colour: str) -> tuple[float, float, float]:
    """A colour in linear light."""
    srgb = [int(colour[place : place + 2], 16) / 255.0 for place in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in srgb)
    return red, green, blue


def _value(where: str, trait: Trait, words: Sequence[str]) -> TraitValue:
    """The value of a trait from words of a text."""
    if not trait.numbers:
        if len(words) != 1 or not re.fullmatch(COLOUR, words[0]):
            raise UserError(f"{where}: {trait.label} must be a colour, such as #8f6a58")
        return words[0]
    count = len(trait.numbers)
    try:
        values = tuple(float(word) for word in words)
    except ValueError:
        values = ()
    if len(values) != count:
        raise UserError(f"{where}: {trait.label} must be {'a number' if count == 1 else f'{count} numbers'}")
    for declaration, value in zip(trait.numbers, values, strict=True):
        if not declaration.low <= value <= declaration.high:
            raise UserError(f"{where}: {value:g} must be {range_words(declaration)}")
    if list(values) != sorted(values):
        raise UserError(f"{where}: its numbers must not fall")
    return values[0] if count == 1 else values


def _trait(name: str, hint: Any) -> Trait | None:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):  # or None
        hint = next(part for part in typing.get_args(hint) if part is not types.NoneType)
    kind, *metas = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    meta = next((meta for meta in metas if isinstance(meta, msgspec.Meta)), None)
    if meta is None:
        return None
    if meta.pattern == f"^{COLOUR}$":
        return Trait(name, "its colour", ())
    if kind is float:
        return Trait(name, meta.description or "", (_number(name, meta),))
    names = (meta.extra or {}).get("names")
    if names is None:
        return None
    parts = [typing.get_args(part)[1] for part in typing.get_args(kind)]
    numbers = (_number(part, own) for part, own in zip(names, parts, strict=True))
    return Trait(name, meta.description or "", tuple(replace(n, help=f"{meta.description}: {n.name}") for n in numbers))


def _number(name: str, meta: msgspec.Meta) -> Declaration:
    extra = meta.extra or {}
    low, high = float(meta.ge or 0.0), float(meta.le or 0.0)
    return Declaration(
        path=name, kind=float, default=low, low=low, high=high, unit=extra.get("unit", ""),
        help=meta.description or "", log=extra.get("log", False), choices=(), check=None, names_file=False,
    )  # fmt: skip

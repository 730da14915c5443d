"""Parameters of kernels: named tuples, whose fields say their types and units and have no values of their own."""

from __future__ import annotations

import functools
import typing
from collections import namedtuple
from collections.abc import Iterable
from typing import Any, TypeVar

Parameters = TypeVar("Parameters", bound=tuple[Any, ...])


def exact(parameters: Parameters) -> Parameters:
    """The same, each in exactly the type that it is declared with: a kernel is compiled once, whoever calls it."""
    kind = type(parameters)
    values: Iterable[Any] = (exact(value) for exact, value in zip(_types(kind), parameters, strict=True))
    return kind(*values)


@functools.cache
def _types(kind: type[tuple[Any, ...]]) -> tuple[type, ...]:
    return tuple(typing.get_type_hints(kind).values())


def constants_type(parameters: type[tuple[Any, ...]], *further: str) -> Any:
    """A named tuple with the same fields and further ones, assigned to `_Constants` of a module."""
    fields = (*typing.cast(Any, parameters)._fields, *further)
    return namedtuple("_Constants", fields, module=parameters.__module__)

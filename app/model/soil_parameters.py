"""Initial loose ground: thickness of each kind by expressions of the land."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec

from app.model.errors import UserError
from app.model.field_parameters import of_land, read_field
from app.model.materials import load_materials
from app.model.parameters import Parameters, described
from kernels.beds import MOST

SOIL = "soil"  # section in a preset
LARGEST_DEPTH = 1000.0  # metres of one kind; more is cut off


def read_kind_depths(text: str) -> dict[str, str]:
    """The expressions in a text, by kind. Raises `UserError` if it is invalid."""
    path = f"{SOIL}.own_kinds"
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, expression = part.partition(" ")
        if not expression.strip():
            raise UserError(f"{path}: '{part}' must be a kind and an expression, such as silt 0.5 * x")
        if kind in SHIPPED_KINDS:
            raise UserError(f"{path}: '{kind}' has a parameter of its own, {SOIL}.{kind}")
        if kind in found:
            raise UserError(f"{path}: '{kind}' is there twice")
        try:
            read_field(expression)
        except UserError as error:
            raise UserError(f"{path} = '{part}': {error}") from error
        found[kind] = expression
    return found


def read_beds(text: str) -> tuple[tuple[str, str], ...]:
    """Kind and expression of each bed in a text, from the top. Raises `UserError` if it is invalid."""
    path, found = f"{SOIL}.beds", list[tuple[str, str]]()
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, expression = part.partition(" ")
        if not expression.strip():
            raise UserError(f"{path}: '{part}' must be a kind and an expression, such as clay 2 + x")
        try:
            read_field(expression)
        except UserError as error:
            raise UserError(f"{path} = '{part}': {error}") from error
        found.append((kind, expression))
    if len(found) > MOST:
        raise UserError(f"{path}: {len(found)} beds; there may be up to {MOST}")
    return tuple(found)


class _OfKinds(Parameters, frozen=True, kw_only=True):
    """Thickness of each kind of loose material at the start: the rock below is lower, and the ground stays as it is."""

    title: ClassVar[str] = "Soil"
    section: ClassVar[str] = "world"
    needs: ClassVar[str] = "materials.enabled"


SHIPPED_KINDS = tuple(name for name, kind in load_materials().items() if kind.loose and name.isidentifier())


def _depth(kind: str) -> object:
    help = f"initial thickness of {kind} in m, as an expression such as 2 * smoothstep(40, 20, slope); empty: none"
    return Annotated[str, of_land(f"{SOIL}.{kind}", help)]


_OWN = Annotated[
    str,
    described(
        "initial thickness of kinds of materials.folder in metres, such as silt 0.5 * x; loess noise(300, 1)",
        check=read_kind_depths,
        names_files=True,
        needs="materials.folder",
    ),
]

_BEDS = Annotated[
    str,
    described(
        "initial beds below other loose material, from the top, with their metres, such as sand 2; clay 1 + x",
        check=read_beds,
        names_files=True,
        needs="stratigraphy.enabled",
    ),
]

if TYPE_CHECKING:

    class SoilParameters(_OfKinds, frozen=True, kw_only=True):
        own_kinds: str = ""
        beds: str = ""

else:
    SoilParameters = msgspec.defstruct(
        "SoilParameters",
        [*((kind, _depth(kind), "") for kind in SHIPPED_KINDS), ("own_kinds", _OWN, ""), ("beds", _BEDS, "")],
        bases=(_OfKinds,),
        module=__name__,
        namespace={"__doc__": _OfKinds.__doc__},
        frozen=True,
        kw_only=True,
    )


def given_depths(parameters: SoilParameters) -> dict[str, tuple[str, str]]:
    """For each kind with a given thickness, the path of its parameter and the expression."""
    told = {kind: (f"{SOIL}.{kind}", str(getattr(parameters, kind))) for kind in SHIPPED_KINDS}
    told |= {kind: (f"{SOIL}.own_kinds", text) for kind, text in read_kind_depths(parameters.own_kinds).items()}
    return {kind: (path, text) for kind, (path, text) in told.items() if text.strip()}

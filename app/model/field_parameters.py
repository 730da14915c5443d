"""Fields: factors on the rates of processes that are made from the land, from noise or from pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar

from app.model.errors import UserError
from app.model.expressions import Expression, Names, read_expression, renamed_files
from app.model.parameters import Parameters, described

# Variables of field expressions, and their meaning in each cell
VARIABLES: dict[str, str] = {
    "height": "of the ground, m",
    "slope": "of the ground, °",
    "wetness": "of the surface, from 0 to 1",
    "grass": "its cover, from 0 to 1",
    "canopy": "cover by crowns of trees, from 0 to 1",
    "sediment": "its thickness, m",
    "water_depth": "of lakes and sea, m",
    "water_distance": "to the nearest lake, sea or strong stream, m",
    "x": "from 0 in the west to 1 in the east",
    "y": "from 0 in the north to 1 in the south",
    "east": "from the western edge, m",
    "south": "from the northern edge, m",
}
FIELDS = "fields"  # section of fields
OF_WATER = ("water_depth", "water_distance")

NAMES = Names(
    variables=tuple(VARIABLES),
    functions={"noise": (2, "noise(metres, seed)")},
    of_files={"image": 'image("path")'},
)


def read_field(text: str) -> Expression | None:
    """The expression of a field; None if the text is empty. Raises `UserError`."""
    return read_expression(text, NAMES) if text.strip() else None


def masked_by(text: str, image: str) -> str:
    """The expression multiplied by a picture, which is 0 where it is black."""
    quote = "'" if '"' in image else '"'
    mask = f"image({quote}{image}{quote})"
    return f"({text.strip()}) * {mask}" if text.strip() else mask


def with_files(text: str, named: Callable[[str], str]) -> str:
    """The expression with picture names mapped by `named`."""
    return renamed_files(text, NAMES, named)


def of_land(path: str, help: str, *, needs: str = "") -> object:
    """Declare a text parameter that is an expression of the land; `path` is its path."""

    def check(text: str) -> object:
        try:
            return read_field(text)
        except UserError as error:
            raise UserError(f"{path} = '{text}': {error}") from error

    return described(help, check=check, names_files=True, of_land=True, needs=needs)


def _field(name: str, help: str) -> object:
    return of_land(f"{FIELDS}.{name}", f"{help}, as an expression such as smoothstep(200, 900, height); empty: 1")


class FieldParameters(Parameters, frozen=True, kw_only=True):
    """Factors on rates in each cell, by expressions of the land: found when they are changed, and then kept."""

    title: ClassVar[str] = "Fields"
    section: ClassVar[str] = FIELDS

    rain: Annotated[str, _field("rain", "factor on rain")] = ""
    erodibility: Annotated[str, _field("erodibility", "factor on wear by rivers, droplets and snowballs")] = ""
    wind: Annotated[str, _field("wind", "factor on entrainment and abrasion by wind")] = ""
    weathering: Annotated[str, _field("weathering", "factor on weathering")] = ""
    growth: Annotated[str, _field("growth", "factor on the growth and arrival of plants")] = ""
    evaporation: Annotated[str, _field("evaporation", "factor on evaporation")] = ""
    uplift: Annotated[str, _field("uplift", "factor on uplift")] = ""
    mobility: Annotated[str, _field("mobility", "1 where ground may move, 0 where it is protected")] = ""


# The layer of each field
FIELD_LAYERS: dict[str, str] = {
    name: "mobility" if name == "mobility" else f"rate_{name}" for name in FieldParameters.__struct_fields__
}

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
    "flow": "water that passes in a cycle, m",
    "curvature": "of the ground, 1/km: above 0 in hollows, below on crests",
    "kind": "number of the loose material that lies uppermost, from 0; -1 for rock",
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


def image_mask(image: str) -> str:
    """A picture as a mask: nothing where it is black."""
    quote = "'" if '"' in image else '"'
    return f"image({quote}{image}{quote})"


def masked_by(text: str, mask: str) -> str:
    """The same expression times that of a mask."""
    return f"({text.strip()}) * {mask}" if text.strip() else mask


def blended_field(text: str, strength: float) -> str:
    """The expression of a factor with this part of its effect: at 0 it is 1 everywhere."""
    return f"1 + {strength:g} * (({text.strip()}) - 1)" if text.strip() else text


def band(variable: str, low: float, high: float) -> str:
    """The mask of where a variable lies between two values, both included: 1 there, and 0 elsewhere."""
    return f"({variable} >= {low:g}) * ({variable} <= {high:g})"


def with_files(text: str, named: Callable[[str], str]) -> str:
    """The expression with picture names mapped by `named`."""
    return renamed_files(text, NAMES, named)


def files_in(text: str) -> list[str]:
    """The names of pictures in an expression."""
    names: list[str] = []

    def note(name: str) -> str:
        names.append(name)
        return name

    with_files(text, note)
    return names


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

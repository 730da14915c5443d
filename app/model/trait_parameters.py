"""Changed traits of materials and plants, as parameters."""

from __future__ import annotations

from typing import Annotated, ClassVar

from app.model.materials import Material
from app.model.parameters import Parameters, described
from app.model.plants import GRASS, Plant, Tree
from app.model.traits import Setting, read_settings


def read_material_traits(text: str) -> tuple[Setting, ...]:
    """The traits of materials in a text. Raises `UserError` if it is invalid."""
    return read_settings("traits.materials", text, lambda name: Material)


def read_plant_traits(text: str) -> tuple[Setting, ...]:
    """The traits of plants in a text. Raises `UserError` if it is invalid."""
    return read_settings("traits.plants", text, lambda name: Plant if name == GRASS else Tree)


class TraitParameters(Parameters, frozen=True, kw_only=True):
    """Traits of materials and plants that are not as their files say."""

    title: ClassVar[str] = "Traits"
    section: ClassVar[str] = "processes"

    # fmt: off
    materials: Annotated[str, described("traits of materials, such as sand repose 30; empty: as their files say",
        check=read_material_traits, needs="materials.enabled")] = ""
    plants: Annotated[str, described("traits of plants, such as conifer roots 0.9; empty: as their files say",
        check=read_plant_traits, needs="plants.enabled")] = ""
    # fmt: on

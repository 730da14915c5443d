"""Springs and rivers that come in, as a text of places and amounts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.model.errors import UserError

MOST_DROPS = 100_000.0  # of one spring in a cycle


class Spring(NamedTuple):
    """A spring."""

    south: float  # from the northern edge, as a fraction of the map
    east: float  # from the western edge, as a fraction of the map
    drops: float  # of volume 1, in each cycle


def read_springs(
    text: str, name: str = "droplets.springs", amount: str = "drops in a cycle", most: float = MOST_DROPS
) -> tuple[Spring, ...]:
    """The springs in the text of the parameter `name`; `amount` is the unit of their strength, and `most` its limit.

    Raises `UserError` if it is invalid.
    """
    springs = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        try:
            spring = Spring(*(float(number) for number in part.split()))
        except (TypeError, ValueError):
            spring = None
        if spring is None or not (
            0.0 <= spring.south <= 1.0 and 0.0 <= spring.east <= 1.0 and 0.0 <= spring.drops <= most
        ):
            raise UserError(
                f"{name}: '{part}' must be three numbers, such as 0.2 0.7 50: south and east from 0 to 1, "
                f"and up to {most:.0f} {amount}"
            )
        springs.append(spring)
    return tuple(springs)


def write_springs(springs: Iterable[Spring], digits: int = 4) -> str:
    """The text that lists springs, their places with so many digits."""
    return "; ".join(f"{south:.{digits}g} {east:.{digits}g} {amount:.6g}" for south, east, amount in springs)

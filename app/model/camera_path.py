"""Camera paths: keys with a view and a cycle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.model.errors import UserError

FIELD_OF_VIEW = 32.0  # degrees, if a key has none
MOST_KEYS = 500
RANGES = {  # of a key's numbers, in the order of a text
    "heading": (-3600.0, 3600.0),  # several turns, for orbits
    "pitch": (-60.0, 90.0),
    "distance": (0.001, 10.0),
    "target east": (-2.0, 3.0),
    "target south": (-2.0, 3.0),
    "field of view": (10.0, 100.0),
}


class CameraKey(NamedTuple):
    """A view at a cycle, as in `CameraParameters`, held for `hold` cycles."""

    cycle: int
    heading: float
    pitch: float
    distance: float
    east: float
    south: float
    field_of_view: float = FIELD_OF_VIEW
    hold: int = 0


def read_camera_path(text: str) -> tuple[CameraKey, ...]:
    """The keys in a text, by cycle. Raises `UserError` if it is invalid.

    Each is `cycle: heading pitch distance east south`, with an optional field of view and `hold CYCLES`.
    """
    keys = {key.cycle: key for key in map(_key, filter(None, (part.strip() for part in text.split(";"))))}
    if len(keys) > MOST_KEYS:
        raise UserError(f"view.camera_path: {len(keys)} keys: there can be up to {MOST_KEYS}")
    path = tuple(keys[cycle] for cycle in sorted(keys))
    for key, later in itertools.pairwise(path):
        if key.cycle + key.hold > later.cycle:
            raise UserError(f"view.camera_path: the key in cycle {key.cycle} holds beyond the next, {later.cycle}")
    return path


def write_camera_path(keys: Iterable[CameraKey]) -> str:
    """The text that lists keys."""
    return "; ".join(_text(key) for key in sorted(keys))


def _key(part: str) -> CameraKey:
    cycle, _, rest = part.partition(":")
    view, said, hold = rest.partition("hold")
    try:
        numbers = [float(word) for word in view.split()]
        heading, pitch, distance, east, south, *more = numbers
        (field_of_view,) = more or [FIELD_OF_VIEW]
        key = CameraKey(int(cycle), heading, pitch, distance, east, south, field_of_view, int(hold) if said else 0)
        fits = key.cycle >= 0 and key.hold >= 0
    except ValueError:
        fits = False
    if not fits:
        raise UserError(
            f"view.camera_path: '{part}' must be a cycle and five numbers, such as 300: 330 24 1.35 0.5 0.5: heading, "
            "pitch, distance, and the target east and south; then a field of view and hold 60, where it stays"
        )
    for (name, (low, high)), number in zip(RANGES.items(), key[1:7], strict=True):
        if not (math.isfinite(number) and low <= number <= high):
            raise UserError(f"view.camera_path: {name} {number:g} in '{part}' must be from {low:g} to {high:g}")
    return key


def _text(key: CameraKey) -> str:
    numbers: Sequence[float] = key[1:6] if key.field_of_view == FIELD_OF_VIEW else key[1:7]
    hold = f" hold {key.hold}" if key.hold else ""
    return f"{key.cycle}: {' '.join(f'{number:.6g}' for number in numbers)}{hold}"

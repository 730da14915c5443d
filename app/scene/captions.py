"""Captions of pictures: user text with cycle, years, age and parameter values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.model.numbers import spaced, time_text, value_text
from app.scene.comparison import labels
from app.scene.scene import DECLARATIONS, Scene

FIELD = re.compile(r"\{([a-z_.]+)\}")
LINE_BREAK = "|"

Label = tuple[str, ...]


def picture_labels(scenes: Sequence[Scene], cycle: int, age: float = 0.0) -> list[Label]:
    """The label lines of each picture: labels of compared worlds, and the caption of the view, if any."""
    caption = caption_lines(scenes[0], cycle, age)
    return [caption + label for label in labels(scenes)] if caption else labels(scenes)


def caption_lines(scene: Scene, cycle: int, age: float = 0.0) -> Label:
    """The caption of a scene at a cycle, line by line. Unknown fields stay as written.

    `age` is the geological time of its world, in years.
    """
    text = scene.view.caption.strip()
    if not text:
        return ()
    lines = (FIELD.sub(lambda field: _value(scene, cycle, age, field), line) for line in text.split(LINE_BREAK))
    return tuple(line.strip() for line in lines)


def _value(scene: Scene, cycle: int, age: float, field: re.Match[str]) -> str:
    name = field[1]
    if name == "cycle":
        return spaced(cycle)
    if name == "years":
        year = scene.climate.year
        return f"{cycle / year:.1f}" if year else "0"
    if name == "age":
        return time_text(age)
    if name == "name":
        return scene.name
    if name in DECLARATIONS:
        return value_text(DECLARATIONS[name], scene.value(name))
    return field[0]

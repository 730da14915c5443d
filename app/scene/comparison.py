"""Two worlds side by side: the same land and the same view, and processes that may differ."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.model.numbers import value_text
from app.model.parameters import Declaration, Value
from app.scene.scene import DECLARATIONS, GROUPS, Scene

NAMES = ("A", "B")
COMPARED_SECTION = "processes"  # parameters of all other sections are the same for both
MOST_LISTED = 4  # differences in a label


def is_shared(declaration: Declaration) -> bool:
    """Whether a parameter has the same value for both worlds."""
    return GROUPS[declaration.path.partition(".")[0]].section != COMPARED_SECTION


def processes() -> list[str]:
    """The groups of parameters that may differ."""
    return [name for name, group in GROUPS.items() if group.section == COMPARED_SECTION]


def with_processes_of(scene: Scene, other: Scene) -> Scene:
    """`scene`, with the processes and the name of another one."""
    return msgspec.structs.replace(scene, name=other.name, **{name: getattr(other, name) for name in processes()})


def differences(scene: Scene, other: Scene) -> dict[str, Value]:
    """The parameters of processes that another scene has otherwise, with its values."""
    paths = [path for path, declaration in DECLARATIONS.items() if not is_shared(declaration)]
    return {path: other.value(path) for path in paths if other.value(path) != scene.value(path)}


def labels(scenes: Sequence[Scene]) -> list[tuple[str, ...]]:
    """What is written on each of the worlds: its letter and name, then what differs. Nothing on a single one."""
    if len(scenes) == 1:
        return [()]
    one, other = scenes
    paths = [path for path in differences(one, other) if _has_effect(path, one, other)]
    more = len(paths) - MOST_LISTED
    return [
        (
            f"{letter}   {scene.name}" if one.name != other.name else letter,
            *(_setting(scene, path) for path in paths[:MOST_LISTED]),
            *([f"and {more} more"] if more > 0 else []),
        )
        for letter, scene in zip(NAMES, scenes, strict=True)
    ]


def _has_effect(path: str, one: Scene, other: Scene) -> bool:
    """Whether a difference is one that is seen: none is, below the switch of a process that is off in one or both."""
    switch = f"{path.partition('.')[0]}.enabled"
    return path == switch or switch not in DECLARATIONS or bool(one.value(switch) and other.value(switch))


def _setting(scene: Scene, path: str) -> str:
    group = GROUPS[path.partition(".")[0]].title.lower()
    declaration, value = DECLARATIONS[path], scene.value(path)
    if declaration.name == "enabled":
        return f"{group} {value_text(declaration, value)}"
    return f"{group}: {declaration.label} {value_text(declaration, value)}"

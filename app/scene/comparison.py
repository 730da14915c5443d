"""Comparison of worlds: they share heights and view; climate, processes, and initial strata and soils may differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from app.model.numbers import value_text
from app.model.parameters import Value
from app.scene.scene import DECLARATIONS, GROUPS, Scene, acts, differing, makes_world, section_of

Letter = Literal["A", "B", "C", "D"]

NAMES: tuple[Letter, ...] = ("A", "B", "C", "D")
MOST_WORLDS = len(NAMES)
# Parameters of all other sections are shared.
COMPARED_SECTIONS = ("climate", "fields", "processes", "rivers")
GROUND_GROUPS = ("materials", "soil")  # may differ in new worlds, too: they leave the heights as they are
MOST_LISTED = 4  # differences listed in a label


def is_shared(scene: Scene, path: str) -> bool:
    """Whether a parameter is shared by all compared worlds."""
    return section_of(path) not in COMPARED_SECTIONS or makes_world(scene, path)


def is_of_ground(path: str) -> bool:
    """Whether a parameter is one of the ground's materials, which may differ between compared worlds."""
    return path.partition(".")[0] in GROUND_GROUPS


def compared_groups() -> list[str]:
    """The groups of parameters that may differ: those that act on the land, but not those that create it."""
    return [name for name, group in GROUPS.items() if group.section in COMPARED_SECTIONS]


def with_compared_of(scene: Scene, other: Scene) -> Scene:
    """`scene` with the comparable parameters and the name of another scene. The land stays the same."""
    groups = {name: getattr(other, name) for name in compared_groups()}
    keys = {path: curve for path, curve in scene.keys.items() if section_of(path) not in COMPARED_SECTIONS}
    keys |= {path: curve for path, curve in other.keys.items() if section_of(path) in COMPARED_SECTIONS}
    mixed: Scene = msgspec.structs.replace(scene, name=other.name, keys=keys, **groups)
    made = {
        path: value
        for path, value in differing(mixed, scene).items()
        if section_of(path) in COMPARED_SECTIONS and path in DECLARATIONS and makes_world(mixed, path)
    }
    return mixed.with_values(made)


def differences(scene: Scene, other: Scene) -> dict[str, Value]:
    """The comparable parameters that differ in another scene, with its values."""
    found = differing(scene, with_compared_of(scene, other))
    return {path: value for path, value in found.items() if section_of(path) in COMPARED_SECTIONS}


def _all_differences(scene: Scene, other: Scene) -> set[str]:
    """All parameters that differ, including those of the ground."""
    return {*differences(scene, other), *filter(is_of_ground, differing(scene, other))}


def labels(scenes: Sequence[Scene]) -> list[tuple[str, ...]]:
    """The labels of worlds: letter and name, then the differences. A single world has none."""
    if len(scenes) == 1:
        return [()]
    first, *others = scenes
    found = {path for other in others for path in _all_differences(first, other)}
    paths = [path for path in DECLARATIONS if path in found and _has_effect(path, scenes)]
    named = len({scene.name for scene in scenes}) > 1
    return [
        (f"{letter}   {scene.name}" if named else letter, *_listed(scene, paths))
        for letter, scene in zip(NAMES, scenes, strict=False)
    ]


def settings_that_differ(base: Scene, scene: Scene) -> list[str]:
    """The comparable parameters of `scene` that differ from `base`, a line each."""
    found = _all_differences(base, scene)
    return _listed(scene, [path for path in DECLARATIONS if path in found and _has_effect(path, (base, scene))])


def _listed(scene: Scene, paths: Sequence[str]) -> list[str]:
    """Values of parameters as text, as many as fit."""
    more = len(paths) - MOST_LISTED
    return [*(_setting(scene, path) for path in paths[:MOST_LISTED]), *([f"and {more} more"] if more > 0 else [])]


def _has_effect(path: str, scenes: Sequence[Scene]) -> bool:
    """Whether a difference matters: not in the group of a process that acts in fewer than two worlds."""
    group = path.partition(".")[0]
    if group == "soil":
        return sum(scene.materials.enabled for scene in scenes) > 0
    return path == f"{group}.enabled" or sum(acts(scene, group) for scene in scenes) > 1


def _setting(scene: Scene, path: str) -> str:
    group = GROUPS[path.partition(".")[0]].title.lower()
    declaration, value = DECLARATIONS[path], scene.value(path)
    if declaration.name == "enabled":
        return f"{group} {value_text(declaration, value)}"
    return f"{group}: {declaration.label} {value_text(declaration, value)}"

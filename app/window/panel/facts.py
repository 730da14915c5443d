"""Facts about parameters besides their values, cached per state of the scenes.

A frame of the panel asks for hundreds of these, and scenes seldom change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from app.model.parameters import Declaration, Value
from app.scene.scene import DECLARATIONS, GROUPS, SWITCHES, curve_of, differing, section_of, without_effect
from app.window.documents import Documents

Fact = TypeVar("Fact")

MEMBERS: dict[str, tuple[Declaration, ...]] = {  # of each group, without its switch
    name: tuple(
        declaration
        for path, declaration in DECLARATIONS.items()
        if path.startswith(f"{name}.") and path not in SWITCHES
    )
    for name in GROUPS
}


class ParameterFacts(NamedTuple):
    """Facts about a parameter in the shown scene."""

    value: Value
    is_changed: bool  # since the scene was opened
    without_effect: str  # why it has no effect; empty if it has
    rebuilds: bool  # the world
    differs: bool  # between the worlds that are compared
    has_keys: bool  # on the time line


class Facts:
    """Facts about all parameters and groups of the current scenes."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._scenes, self._opened, self._edited = documents.state
        self._known: dict[tuple[str, str], object] = {}

    @property
    def changed(self) -> frozenset[str]:
        """The paths of all changed parameters and curves."""
        return self._found("changed", "", self._find_changed)

    def changed_in(self, section: str) -> int:
        """The number of changed parameters and curves of a section."""
        return self._found("changed by section", "", lambda _: Counter(map(section_of, self.changed)))[section]

    def differing_in(self, section: str) -> int:
        """The number of parameters of a section that differ between worlds."""
        return self._found("differing by section", "", self._count_differing)[section]

    def of(self, path: str) -> ParameterFacts:
        return self._found("parameter", path, self._find)

    def is_off(self, group: str) -> bool:
        """Whether a group is switched off and has no effect."""
        return self._found("off", group, self._find_off)

    def is_idle(self, group: str) -> bool:
        """Whether a group is switched off or has no effect."""
        return self._found("idle", group, lambda group: self.is_off(group) or self._has_no_effect(group))

    def is_changed(self, group: str) -> bool:
        """Whether anything of a group has changed, apart from its switch."""
        return self._found("group", group, lambda group: any(member.path in self.changed for member in MEMBERS[group]))

    def _found(self, kind: str, name: str, find: Callable[[str], Fact]) -> Fact:
        scenes, opened, edited = self._documents.state
        if scenes is not self._scenes or opened is not self._opened or edited is not self._edited:
            self._scenes, self._opened, self._edited = scenes, opened, edited
            self._known.clear()
        known = self._known.get((kind, name))
        if known is None:
            known = self._known[kind, name] = find(name)
        return known  # type: ignore[return-value]  # what is kept of a kind was found by its own function

    def _find_changed(self, _: str) -> frozenset[str]:
        scene, opened = self._documents.scene, self._documents.opened
        follows = {path for path, curve in scene.keys.items() if opened.keys.get(path) == curve}
        return frozenset(differing(opened, scene)) - follows

    def _count_differing(self, _: str) -> Counter[str]:
        first, *others = self._documents.scenes
        paths = {path for other in others for path in differing(first, other)}
        return Counter(map(section_of, paths & DECLARATIONS.keys()))

    def _find(self, path: str) -> ParameterFacts:
        documents = self._documents
        scene = documents.scene
        value = scene.value(path)
        return ParameterFacts(
            value=value,
            is_changed=path in self.changed,
            without_effect=without_effect(scene, DECLARATIONS[path]),
            rebuilds=documents.rebuilds(path),
            differs=any(other.value(path) != value for other in documents.scenes),
            has_keys=bool(curve_of(scene, path)),
        )

    def _find_off(self, group: str) -> bool:
        switch = f"{group}.enabled"
        if switch not in SWITCHES or self._documents.scene.value(switch):
            return False
        return not GROUPS[group].acts_with or self._has_no_effect(group)

    def _has_no_effect(self, group: str) -> bool:
        return all(self.of(member.path).without_effect for member in MEMBERS[group])

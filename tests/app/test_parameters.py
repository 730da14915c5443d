"""What is declared once is all that panel, presets and command line need."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import pytest

from app.parameters import Declaration, Parameters, declarations, described, parameter
from app.scene import DECLARATIONS, GROUPS, Scene, check_value


class Inner(Parameters, frozen=True, kw_only=True):
    count: Annotated[int, parameter(1, 9, "how many", unit="drops", log=True)] = 3


class Outer(Parameters, frozen=True, kw_only=True):
    title: ClassVar[str] = "Outer"
    inner: Inner = Inner()
    speed: Annotated[float, parameter(0.0, 2.0, "how fast", unit="m/s")] = 1.0
    enabled: Annotated[bool, described("whether")] = True
    mode: Annotated[Literal["slow", "fast"], described("which")] = "fast"
    name: Annotated[str, described("what")] = "nobody"


def test_declarations_tell_all_that_was_declared() -> None:
    count, speed, enabled, mode, name = declarations(Outer, "outer.")
    assert count == Declaration("outer.inner.count", int, 3, 1, 9, "drops", "how many", True, (), None, False)
    assert speed == Declaration("outer.speed", float, 1.0, 0.0, 2.0, "m/s", "how fast", False, (), None, False)
    assert (enabled.kind, enabled.default, enabled.choices) == (bool, True, ())
    assert (mode.kind, mode.default, mode.choices) == (str, "fast", ("slow", "fast"))
    assert (name.kind, name.default) == (str, "nobody")
    assert (count.name, count.label) == ("count", "count")


def test_groups_are_shared_between_threads_and_so_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Inner().count = 4  # type: ignore[misc]


@pytest.mark.parametrize("declaration", DECLARATIONS.values(), ids=lambda declaration: declaration.path)
def test_every_parameter_of_a_scene_is_whole(declaration: Declaration) -> None:
    assert declaration.help
    assert not declaration.help.endswith(".")
    assert declaration.kind in (float, int, bool, str)
    assert check_value(declaration, declaration.default) == declaration.default
    assert Scene().value(declaration.path) == declaration.default
    if declaration.kind in (float, int):
        assert declaration.low < declaration.high < float("inf")
    if declaration.log:
        assert declaration.low >= 0.0


def test_every_group_of_a_scene_has_a_title_and_a_section() -> None:
    for group in GROUPS.values():
        assert group.title
        assert group.section in ("world", "climate", "processes", "rivers", "view", "performance")

"""What is declared once is all that panel, presets and command line need."""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pytest

import kernels
from app.model.climate import Weather
from app.model.errors import UserError
from app.model.parameters import Declaration, Parameters, Value, declarations, described, for_kernel, parameter
from app.scene.scene import DECLARATIONS, GROUPS, Scene, check_value, differing, preset_to_toml, read_preset
from kernels.parameters import exact
from kernels.units import Degrees, Speed, Steps


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


def others(declaration: Declaration) -> list[Value]:
    """Values that a parameter can have and that are not its default; of a free text none is known."""
    if declaration.kind is bool:
        return [not declaration.default]
    ends = (declaration.low, declaration.high) if declaration.kind is not str else declaration.choices
    return [value for value in map(declaration.kind, ends) if value != declaration.default]


def refused(declaration: Declaration) -> list[object]:
    """Values that a parameter cannot have."""
    if declaration.kind is bool:
        return [1, "true", None]
    if declaration.kind is str:
        return [3, True, None, *(["no such choice"] if declaration.choices else [])]
    low, high = declaration.kind(declaration.low), declaration.kind(declaration.high)
    beyond = [low - 1, high + 1] if declaration.kind is int else np.nextafter([low, high], [-np.inf, np.inf]).tolist()
    return [*beyond, math.nan, math.inf, True, "1", None]


def test_every_parameter_of_a_scene_is_whole(subtests: pytest.Subtests) -> None:
    for path, declaration in DECLARATIONS.items():
        with subtests.test(path=path):
            assert declaration.help
            assert not declaration.help.endswith(".")
            assert declaration.kind in (float, int, bool, str)
            assert type(declaration.default) is declaration.kind
            check_value(declaration, declaration.default)  # a default that it cannot have is an error
            if declaration.kind in (float, int):
                assert -math.inf < declaration.low < declaration.high < math.inf
            if declaration.log:
                assert declaration.low >= 0.0


def test_every_parameter_changes_alone_by_value_by_text_and_by_preset(subtests: pytest.Subtests) -> None:
    default = Scene()
    for path, declaration in DECLARATIONS.items():
        with subtests.test(path=path):
            assert default.with_setting(f"{path}={declaration.default}") == default
            for value in others(declaration):
                changed = default.with_value(path, value)
                assert differing(default, changed) == {path: value}
                assert type(changed.value(path)) is declaration.kind
                assert default.with_setting(f"{path}={value}") == changed
                assert read_preset(preset_to_toml(changed), "preset") == changed
                assert changed.with_value(path, declaration.default) == default


def test_no_parameter_takes_what_is_beyond_its_range_or_of_another_kind(subtests: pytest.Subtests) -> None:
    for path, declaration in DECLARATIONS.items():
        with subtests.test(path=path):
            for value in refused(declaration):
                with pytest.raises(UserError, match=f"^{re.escape(path)} = "):
                    check_value(declaration, value)


def test_every_group_of_a_scene_has_a_title_and_a_section() -> None:
    for group in GROUPS.values():
        assert group.title
        assert group.section in ("world", "climate", "fields", "processes", "rivers", "view", "performance")


# What kernels are given.


class OfKernel(NamedTuple):
    wrap: bool
    speed: Speed
    steps: Steps
    wind_direction: Degrees


class Flying(Parameters, frozen=True, kw_only=True):
    speed: Annotated[float, parameter(0.0, 9.0, "how fast", unit="cells/t")] = 2.0
    steps: Annotated[int, parameter(0, 9, "how many", unit="steps")] = 3
    colour: Annotated[str, described("which no kernel asks for")] = "red"


class Driving(Parameters, frozen=True, kw_only=True):
    speed: Annotated[float, parameter(0.0, 9.0, "how fast", unit="m/s")] = 2.0
    steps: Annotated[float, parameter(0.0, 9.0, "how many", unit="steps")] = 3.0


def test_kernels_are_given_parameters_by_name() -> None:
    weather = Weather(wind_direction=90.0)
    assert for_kernel(OfKernel, Flying(speed=4.0), weather, wrap=True) == OfKernel(True, 4.0, 3, 90.0)
    assert for_kernel(OfKernel, Flying(), wind_direction=1.0, steps=7, wrap=False) == OfKernel(False, 2.0, 7, 1.0)


@pytest.mark.parametrize(
    ("sources", "derived", "message"),
    [
        ([Flying(), Weather()], {}, "'wrap' is in 0 of Flying, Weather"),
        ([Flying(), Weather()], {"wrap": True, "colour": "red"}, "OfKernel has no 'colour'"),
        ([Flying(), Flying(), Weather()], {"wrap": True, "steps": 3}, "'speed' is in 2 of Flying, Flying, Weather"),
        ([Driving(), Weather()], {"wrap": True, "steps": 3}, "'speed' is (<class 'float'>, 'cells/t'); Driving has"),
        ([Driving(), Weather()], {"wrap": True, "speed": 3.0}, "'steps' is (<class 'int'>, 'steps'); Driving has"),
    ],
)
def test_kernels_are_given_nothing_by_guess(sources: list[Any], derived: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        for_kernel(OfKernel, *sources, **derived)


def test_kernels_have_no_defaults() -> None:
    found = 0
    for module in pkgutil.iter_modules(kernels.__path__, "kernels."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.endswith("Parameters") and hasattr(value, "_fields"):
                assert not value._field_defaults, value
                found += 1
    assert found >= 9


def test_kernels_take_each_parameter_in_its_own_type() -> None:
    once = exact(OfKernel(np.bool_(True), np.float32(2.0), np.int64(3), 4))  # type: ignore[arg-type]
    assert once == OfKernel(True, 2.0, 3, 4.0)
    assert [type(value) for value in once] == [bool, float, int, float]

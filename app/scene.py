"""A scene: what a world starts from and every parameter of the program, as one immutable value.

Presets, `--set`, saved worlds and the panel all read and write scenes.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
import tomli_w

from app.errors import UserError
from app.parameters import Declaration, Parameters, Value, declarations
from app.view_parameters import CameraParameters, ViewParameters
from app.processes.droplets import DropletParameters
from app.simulation_parameters import SimulationParameters
from app.sources.parameters import DiamondSquareParameters, NoiseParameters, WorldParameters

DEFAULT_PRESET = "jacksboro"


class Scene(Parameters, frozen=True, kw_only=True):
    """Every parameter of the program, by group."""

    description: str = ""
    world: WorldParameters = WorldParameters()
    noise: NoiseParameters = NoiseParameters()
    diamond_square: DiamondSquareParameters = DiamondSquareParameters()
    simulation: SimulationParameters = SimulationParameters()
    droplets: DropletParameters = DropletParameters()
    view: ViewParameters = ViewParameters()
    camera: CameraParameters = CameraParameters()

    def value(self, path: str) -> Value:
        """The value of the parameter with a dotted path, such as `droplets.evaporation`."""
        group, _, name = path.partition(".")
        return getattr(getattr(self, group), name)

    def with_value(self, path: str, value: Value) -> Scene:
        """The same scene with one parameter changed. Raises `UserError` where path or value do not fit."""
        declaration = DECLARATIONS.get(path)
        if declaration is None:
            raise UserError(f"there is no parameter '{path}'{_suggestion(path)}")
        group_name, _, name = path.partition(".")
        group = getattr(self, group_name)
        changed = msgspec.to_builtins(group) | {name: value}
        try:
            new_group = msgspec.convert(changed, type(group))
        except msgspec.ValidationError as error:
            raise UserError(f"{path} = {value!r}: {_explain(error)}{_range(declaration)}") from error
        return msgspec.structs.replace(self, **{group_name: new_group})

    def with_setting(self, setting: str) -> Scene:
        """The same scene changed by a text such as `droplets.evaporation=0.01`, as it is given to `--set`."""
        path, equals, text = setting.partition("=")
        path = path.strip()
        if not equals:
            raise UserError(f"--set {setting}: expected section.name=value, such as droplets.evaporation=0.01")
        declaration = DECLARATIONS.get(path)
        if declaration is None:
            raise UserError(f"--set {setting}: there is no parameter '{path}'{_suggestion(path)}")
        return self.with_value(path, parse_value(declaration, text.strip()))


DECLARATIONS: dict[str, Declaration] = {declaration.path: declaration for declaration in declarations(Scene)}


def parse_value(declaration: Declaration, text: str) -> Value:
    """The value that a text means for a parameter. Raises `UserError` where it means none."""
    if declaration.kind is str:
        return text
    if declaration.kind is bool:
        words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
        if text.lower() in words:
            return words[text.lower()]
        raise UserError(f"{declaration.path} = {text!r}: expected true or false")
    try:
        return declaration.kind(text)
    except ValueError:
        noun = "a whole number" if declaration.kind is int else "a number"
        raise UserError(f"{declaration.path} = {text!r}: expected {noun}{_range(declaration)}") from None


def read_preset(text: str, name: str) -> Scene:
    """The scene that a preset's TOML describes; what it does not mention keeps its default."""
    try:
        return msgspec.convert(tomllib.loads(text), Scene)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: not valid TOML: {error}") from error
    except msgspec.ValidationError as error:
        message = _explain(error)
        raise UserError(f"{name}: {message}{_suggestion(message)}") from error


def preset_to_toml(scene: Scene) -> str:
    """A preset with all that differs from the defaults."""
    default = msgspec.to_builtins(Scene())
    changed: dict[str, Any] = {}
    for key, value in msgspec.to_builtins(scene).items():
        if isinstance(value, dict):
            difference = {name: item for name, item in value.items() if item != default[key][name]}
            if difference:
                changed[key] = difference
        elif value != default[key]:
            changed[key] = value
    return tomli_w.dumps(changed)


def presets() -> dict[str, Traversable]:
    """The presets that ship with the program, by name."""
    folder = files("assets") / "presets"
    return {entry.name.removesuffix(".toml"): entry for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
            if entry.name.endswith(".toml")}


def load_preset(name: str) -> Scene:
    """The shipped preset of that name."""
    return read_preset(presets()[name].read_text(encoding="utf-8"), f"preset {name}")


def _explain(error: msgspec.ValidationError) -> str:
    """msgspec's message with the path in our spelling: `$.droplets.evaporation` becomes `droplets.evaporation`."""
    message, at, path = str(error).partition(" - at `$")
    message = message.replace("Object contains unknown field", "there is no parameter")
    return f"{path.strip('.`')}: {message}" if at and path.strip(".`") else message


def _range(declaration: Declaration) -> str:
    if declaration.choices:
        return f"; expected one of {', '.join(declaration.choices)}"
    if declaration.kind in (int, float):
        unit = f" {declaration.unit}" if declaration.unit else ""
        return f" from {declaration.low:g} to {declaration.high:g}{unit}"
    return ""


def _suggestion(text: str) -> str:
    """A hint at the names that are nearest to a mistyped one."""
    import difflib

    last = text.replace("`", " ").split()[-1] if text.split() else text
    near = difflib.get_close_matches(last, [*DECLARATIONS, *(d.name for d in DECLARATIONS.values())], n=1)
    return f"; did you mean '{near[0]}'?" if near else "; `thalweg --help` tells how to list them"

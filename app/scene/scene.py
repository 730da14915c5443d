"""A scene: what a world starts from and every parameter of the program, as one immutable value.

Presets, `--set`, saved worlds and the panel all read and write scenes, and all refuse wrong values in the same words.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import msgspec
import tomli_w

from app.model.climate import USUAL_PRECIPITATION, ClimateParameters
from app.model.curves import Key, read_curve, value_at
from app.model.edge_parameters import EdgeParameters
from app.model.errors import UserError, nearest
from app.model.field_parameters import FieldParameters
from app.model.materials import MaterialParameters
from app.model.numbers import value_text
from app.model.parameters import Declaration, Parameters, Value, declarations
from app.model.plants import FloraParameters
from app.model.recording_parameters import RecordingParameters
from app.model.river_parameters import RiverParameters, read_inflows
from app.model.runoff import Runoff
from app.model.simulation_parameters import SimulationParameters
from app.model.soil_parameters import SoilParameters
from app.model.springs import read_springs
from app.model.toml import parse_toml
from app.model.trait_parameters import TraitParameters
from app.model.view_parameters import CameraParameters, ViewParameters
from app.model.wave_parameters import WaveParameters
from app.processes import PROCESSES
from app.processes.braiding import read_rivers
from app.scene.renamed import RENAMED, renamed
from app.sources.parameters import (
    DiamondSquareParameters,
    IslandParameters,
    NoiseParameters,
    RangeParameters,
    SandParameters,
    WorldParameters,
)

if TYPE_CHECKING:
    from app.model.geology_parameters import GeologyParameters
    from app.processes.braiding import BraidingParameters
    from app.processes.cascade import CascadeParameters
    from app.processes.coast import CoastParameters
    from app.processes.distributaries import DistributariesParameters
    from app.processes.droplets import DropletParameters
    from app.processes.falls import FallsParameters
    from app.processes.floods import FloodsParameters
    from app.processes.ice import IceParameters
    from app.processes.isostasy import IsostasyParameters
    from app.processes.meandering import MeanderingParameters
    from app.processes.moisture import MoistureParameters
    from app.processes.orographic_rain import OrographicRainParameters
    from app.processes.plants import PlantsParameters
    from app.processes.pools import PoolsParameters
    from app.processes.snow import SnowParameters
    from app.processes.snowballs import SnowballParameters
    from app.processes.stratigraphy import StratigraphyParameters
    from app.processes.weathering import WeatheringParameters
    from app.processes.wind import WindParameters
    from app.processes.wind_field import WindFieldParameters

DEFAULT_PRESET = "jacksboro"

VIEW_SECTION = "view"  # its groups affect the picture only
LISTING = "thalweg --list-parameters"  # the command that lists all parameters
WORLD_SECTION = "world"  # a change to its groups rebuilds the world; all others take effect while it runs


class _BeforeProcesses(Parameters, frozen=True, kw_only=True):
    """The groups before those of processes."""

    name: str = ""  # of its preset or file
    description: str = ""
    # Curves of parameters over the cycles, by their paths, see `app.model.curves`.
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    saved_world: str = ""  # file of a world to continue, if any; `world` describes its beginning
    world: WorldParameters = WorldParameters()
    noise: NoiseParameters = NoiseParameters()
    diamond_square: DiamondSquareParameters = DiamondSquareParameters()
    sand: SandParameters = SandParameters()
    island: IslandParameters = IslandParameters()
    range: RangeParameters = RangeParameters()
    materials: MaterialParameters = MaterialParameters()
    soil: SoilParameters = SoilParameters()
    flora: FloraParameters = FloraParameters()
    simulation: SimulationParameters = SimulationParameters()
    climate: ClimateParameters = ClimateParameters()
    edges: EdgeParameters = EdgeParameters()
    fields: FieldParameters = FieldParameters()


if TYPE_CHECKING:  # of the processes, those that others ask by name

    class _WithProcesses(_BeforeProcesses, frozen=True, kw_only=True):
        geology: GeologyParameters = GeologyParameters()
        pools: PoolsParameters = PoolsParameters()
        floods: FloodsParameters = FloodsParameters()
        ice: IceParameters = IceParameters()
        isostasy: IsostasyParameters = IsostasyParameters()
        orographic_rain: OrographicRainParameters = OrographicRainParameters()
        snow: SnowParameters = SnowParameters()
        moisture: MoistureParameters = MoistureParameters()
        droplets: DropletParameters = DropletParameters()
        distributaries: DistributariesParameters = DistributariesParameters()
        falls: FallsParameters = FallsParameters()
        meandering: MeanderingParameters = MeanderingParameters()
        braiding: BraidingParameters = BraidingParameters()
        snowballs: SnowballParameters = SnowballParameters()
        wind_field: WindFieldParameters = WindFieldParameters()
        wind: WindParameters = WindParameters()
        weathering: WeatheringParameters = WeatheringParameters()
        cascade: CascadeParameters = CascadeParameters()
        coast: CoastParameters = CoastParameters()
        stratigraphy: StratigraphyParameters = StratigraphyParameters()
        plants: PlantsParameters = PlantsParameters()

else:
    _WithProcesses = msgspec.defstruct(
        "_WithProcesses",
        [(process.name, process.parameters, process.parameters()) for process in PROCESSES],
        bases=(_BeforeProcesses,),
        module=__name__,
        frozen=True,
        kw_only=True,
    )


class Scene(_WithProcesses, frozen=True, kw_only=True):
    """Every parameter of the program, by group: each process has one."""

    traits: TraitParameters = TraitParameters()
    rivers: RiverParameters = RiverParameters()
    view: ViewParameters = ViewParameters()
    waves: WaveParameters = WaveParameters()
    camera: CameraParameters = CameraParameters()
    recording: RecordingParameters = RecordingParameters()

    @property
    def has_drops(self) -> bool:
        """Whether drops run over the land, of rain or from springs."""
        return self.droplets.enabled and (self.droplets.count > 0 or bool(read_springs(self.droplets.springs)))

    @property
    def has_standing_water(self) -> bool:
        """Whether lakes and sea are simulated."""
        return self.pools.enabled or self.floods.enabled

    @property
    def runoff(self) -> Runoff:
        """The runoff of its land."""
        springs = read_springs(self.droplets.springs)
        inflows = tuple(read_inflows(self.rivers.inflows))
        # Without any rain, springs and inflows are compared with what usually falls.
        precipitation = self.climate.precipitation or (USUAL_PRECIPITATION if springs or inflows else 0.0)
        of_rain = self.droplets.count * (precipitation / USUAL_PRECIPITATION)
        drops = of_rain or sum(spring.drops for spring in springs)
        braided = read_rivers(self.braiding.springs) if self.braiding.enabled else []
        flow = Runoff(
            precipitation=precipitation,
            least_cells=self.view.stream_threshold,
            rain=1.0 if precipitation == self.climate.precipitation else 0.0,
            braided=tuple((spring.south, spring.east, spring.drops) for spring in braided),
            inflows=inflows,
            by_altitude=self.climate.rain_by_altitude,
            river_width=self.rivers.width,
            lasts=self.has_drops or self.geology.enabled or self.braiding.enabled,
        )
        if drops == 0.0 or (self.geology.enabled and not self.has_drops):
            return flow
        return dataclasses.replace(
            flow,
            rain=1.0 if self.droplets.count * self.climate.precipitation > 0.0 else 0.0,
            springs=tuple((spring.south, spring.east, spring.drops / drops) for spring in springs),
            loss=self.droplets.evaporation * (1.0 - self.droplets.stream_evaporation),
            drops=drops,
            drop_depth=self.droplets.water,
            memory=1.0 if self.droplets.river_transport > 0.0 else self.droplets.stream_memory,
        )

    def value(self, path: str) -> Value:
        """The value of the parameter with a dotted path, such as `droplets.evaporation`."""
        if path.startswith(KEYS):
            return self.keys.get(path.removeprefix(KEYS), "")
        group, _, name = path.partition(".")
        return typing.cast(Value, getattr(getattr(self, group), name))

    def with_value(self, path: str, value: Value) -> Scene:
        """The scene with one parameter changed. Raises `UserError` if path or value is invalid."""
        declaration = find_declaration(path)
        if path.startswith(KEYS):
            return self._with_keys(path.removeprefix(KEYS), str(check_value(declaration, value)).strip())
        group_name, _, name = path.partition(".")
        changed = msgspec.structs.replace(getattr(self, group_name), **{name: check_value(declaration, value)})
        # A different land no longer matches its file.
        called = "" if path == "world.source" and value != self.value(path) else self.name
        return msgspec.structs.replace(self, name=called, **{group_name: changed})

    def _with_keys(self, path: str, text: str) -> Scene:
        """The scene with the curve of a parameter; an empty text removes it."""
        keys = {known: curve for known, curve in self.keys.items() if known != path}
        return msgspec.structs.replace(self, keys=keys | {path: text} if text else keys)

    def at(self, cycle: int) -> Scene:
        """The scene at a cycle: keyed parameters follow their curves."""
        scene = self
        for path, text in self.keys.items():
            value = value_at(DECLARATIONS[path], _curve(path, text), cycle)
            if value != scene.value(path):
                scene = scene.with_value(path, value)
        return scene

    def with_values(self, values: Mapping[str, Value]) -> Scene:
        """The scene with several parameters changed, by their dotted paths."""
        scene = self
        for path, value in values.items():
            scene = scene.with_value(path, value)
        return scene

    def with_setting(self, setting: str) -> Scene:
        """The scene changed by a text such as `droplets.evaporation=0.01`, as for `--set`.

        An explicit value removes the keys of the parameter.
        """
        path, value = read_setting(setting)
        return self._with_keys(path, "").with_value(path, value)


def read_setting(setting: str) -> tuple[str, Value]:
    """The parameter and the value that a text such as `droplets.evaporation=0.01` names. Raises `UserError`."""
    path, equals, text = (part.strip() for part in setting.partition("="))
    if not equals:
        raise UserError(f"--set {setting}: must be section.name=value, such as droplets.evaporation=0.01")
    return path, parse_value(find_declaration(path), text)


KEYS = "keys."  # prefix of the path of a curve, followed by that of its parameter

GROUPS: dict[str, type[Parameters]] = {
    name: group
    for name, group in typing.get_type_hints(Scene).items()
    if isinstance(group, type) and issubclass(group, Parameters)
}

DECLARATIONS: dict[str, Declaration] = {
    declaration.path: declaration for name, group in GROUPS.items() for declaration in declarations(group, f"{name}.")
}

_PATHS = {name: [path for path in DECLARATIONS if path.startswith(f"{name}.")] for name in GROUPS}

SWITCHES: tuple[str, ...] = tuple(f"{name}.enabled" for name in GROUPS if f"{name}.enabled" in DECLARATIONS)


def without_effect(scene: Scene, declaration: Declaration) -> str:
    """Why a parameter has no effect in a scene; empty if it has."""
    why = ""
    if declaration.path not in SWITCHES:
        group = declaration.path.removeprefix(KEYS).partition(".")[0]
        why = next(filter(None, (_unmet(scene, needs) for needs in (_switch_of(group), GROUPS[group].needs))), "")
    why = why or _unmet(scene, declaration.needs)
    return f"no effect while {why}" if why else ""


def acts(scene: Scene, group: str) -> bool:
    """Whether a group is active: switched on, or active without its switch, or without a switch."""
    return not _unmet(scene, _switch_of(group))


def _switch_of(group: str) -> str:
    """The condition on the switch of a group, and its substitutes; empty without a switch."""
    switch = f"{group}.enabled"
    return " or ".join(filter(None, (switch, GROUPS[group].acts_with))) if switch in SWITCHES else ""


def _unmet(scene: Scene, needs: str) -> str:
    """The unmet part of a condition, in words; see `parameter`. Empty if it is met or there is none."""
    for choice in filter(None, needs.split(", ")):
        reasons = [_unmet_term(scene, term) for term in choice.split(" or ")]
        if all(reasons):
            return _joined(list(dict.fromkeys(reasons)))
    return ""


def _joined(reasons: Sequence[str]) -> str:
    """`rain is off`, or for several reasons with the same end `rain, wind and plants are off`."""
    subjects, states = zip(*(reason.rsplit(" is ", 1) for reason in reasons), strict=True)
    if len(reasons) == 1 or len(set(states)) > 1:
        return " and ".join(reasons)
    return f"{', '.join(subjects[:-1])} and {subjects[-1]} are {states[0]}"


def _unmet_term(scene: Scene, term: str) -> str:
    denied, term = term.startswith("not "), term.removeprefix("not ")
    path, _, wanted = term.partition("=")
    value = scene.value(path)
    is_so = (str(value) == wanted) if wanted else bool(value)
    if is_so != denied:
        return ""
    name = GROUPS[path.partition(".")[0]].title.lower() if path in SWITCHES else path
    return f"{name} is {value_text(DECLARATIONS[path], value)}"


@functools.cache
def rebuilds_world(path: str) -> bool:
    """Whether a change to the parameter with that path rebuilds the world."""
    declaration = DECLARATIONS.get(path.removeprefix(KEYS))
    return section_of(path) == WORLD_SECTION or (declaration is not None and declaration.makes_world)


def makes_world(scene: Scene, path: str) -> bool:
    """Whether a change of a parameter rebuilds the world of a scene.

    Besides parameters that always do, these are parameters that act although their process is off: they only affect
    how a new world begins.
    """
    if rebuilds_world(path):
        return True
    path = path.removeprefix(KEYS)
    group = path.partition(".")[0]
    switch = f"{group}.enabled"
    if not GROUPS[group].acts_with or path == switch or scene.value(switch):
        return False
    return not without_effect(scene, DECLARATIONS[path])


@functools.cache
def section_of(path: str) -> str:
    """The section of a parameter, or of the parameter of a curve."""
    return GROUPS[path.removeprefix(KEYS).partition(".")[0]].section


def curve_of(scene: Scene, path: str) -> tuple[Key, ...]:
    """The keys of a parameter; empty if it has none."""
    return _curve(path, scene.keys[path]) if path in scene.keys else ()


@functools.cache
def _curve(path: str, text: str) -> tuple[Key, ...]:
    declaration = DECLARATIONS[path]
    return read_curve(text, lambda value: parse_value(declaration, value))


def can_have_keys(declaration: Declaration) -> bool:
    """Whether a parameter can be keyed: not a text, nor a parameter of the initial world or the opening view."""
    is_text = declaration.kind is str and not declaration.choices
    return not is_text and not rebuilds_world(declaration.path) and not declaration.path.startswith("camera.")


def seen_as(scene: Scene, other: Scene) -> Scene:
    """`scene` with the view parameters and view curves of another scene."""
    groups = {name: getattr(other, name) for name, group in GROUPS.items() if group.section == VIEW_SECTION}
    keys = {path: curve for path, curve in scene.keys.items() if section_of(path) != VIEW_SECTION}
    keys |= {path: curve for path, curve in other.keys.items() if section_of(path) == VIEW_SECTION}
    return msgspec.structs.replace(scene, keys=keys, **groups)


def differing(scene: Scene, other: Scene) -> dict[str, Value]:
    """The parameters and curves that differ in another scene, with its values, by path."""
    unlike = [name for name in GROUPS if getattr(other, name) != getattr(scene, name)]  # asked in each frame
    paths = [path for name in unlike for path in _PATHS[name]]
    paths += [KEYS + path for path in sorted({*scene.keys, *other.keys})]
    return {path: other.value(path) for path in paths if other.value(path) != scene.value(path)}


# Values.


def find_declaration(path: str) -> Declaration:
    """The declaration of a parameter by dotted path. Raises `UserError` with the nearest name."""
    if path.startswith(KEYS):
        return _declaration_of_curve(find_declaration(path.removeprefix(KEYS)))
    declaration = DECLARATIONS.get(path)
    if declaration is None:
        group, dot, _ = path.partition(".")
        if path in RENAMED:
            new = RENAMED[path][0] or "climate.precipitation"
            raise UserError(f"there is no parameter '{path}' any more; it is '{new}' now")
        if group in GROUPS:
            known: Iterable[str] = (other for other in DECLARATIONS if other.startswith(f"{group}."))
        elif dot:
            raise UserError(f"{path}: there is no section '{group}'{nearest(group, GROUPS, LISTING)}")
        else:
            known = DECLARATIONS
        raise UserError(f"there is no parameter '{path}'{nearest(path, known, LISTING)}")
    return declaration


@functools.cache
def _declaration_of_curve(declaration: Declaration) -> Declaration:
    """The declaration of a parameter's curve, a text of keys. Raises `UserError` if it can have none."""
    path = declaration.path
    if not can_have_keys(declaration):
        raise UserError(f"keys of {path}: it is the same in all cycles")

    def check(text: str) -> object:
        try:
            return _curve(path, text)
        except UserError as error:
            raise UserError(f"keys of {path}: {error}") from error

    help = f"{declaration.label} over the cycles, such as 0: 1; 300: 2"
    return dataclasses.replace(
        declaration, path=KEYS + path, kind=str, default="", help=help, choices=(), check=check, low=-math.inf,
        high=math.inf, needs="",
    )  # fmt: skip


def parse_value(declaration: Declaration, text: str) -> Value:
    """The value of a parameter from a text. Raises `UserError` if it is invalid."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    try:
        value = words[text.lower()] if declaration.kind is bool else declaration.kind(text)
    except (KeyError, ValueError):
        raise UserError(f"{declaration.path} = {text}: must be {_kind(declaration)}") from None
    return check_value(declaration, value)


def check_value(declaration: Declaration, value: object) -> Value:
    """The value, if a parameter may have it. Raises `UserError`, which says what would be right, if not."""
    if declaration.kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    fits = type(value) is declaration.kind and not (isinstance(value, float) and not math.isfinite(value))
    if declaration.choices:
        fits = value in declaration.choices
    if not fits:  # show 1000.0 as such if a whole number is required
        shown = str(value) if isinstance(value, float) else _text(value)
        raise UserError(f"{declaration.path} = {shown}: must be {_kind(declaration)}")
    if isinstance(value, int | float) and not declaration.allows(value):
        raise UserError(f"{declaration.path} = {_text(value)}: must be {range_text(declaration)}")
    if declaration.check and isinstance(value, str):
        declaration.check(value)
    return typing.cast(Value, value)


def range_text(declaration: Declaration) -> str:
    """The range and unit of a number in words, such as `from 0 to 0.8 1/t`; empty if it has no range.

    If 0 has a special meaning, it is `0 or from 8 to 8192 cells`.
    """
    if declaration.kind not in (int, float):
        return ""
    unit = f" {declaration.unit}" if declaration.unit else ""
    span = f"from {_text(declaration.least or declaration.low)} to {_text(declaration.high)}{unit}"
    return f"0 or {span}" if declaration.least else span


def _kind(declaration: Declaration) -> str:
    if declaration.choices:
        return f"one of {', '.join(declaration.choices)}"
    if declaration.kind is bool:
        return "true or false"
    if declaration.kind is str:
        return "a text"
    number = "a whole number" if declaration.kind is int else "a number"
    return f"{number}{', ' if declaration.least else ' '}{range_text(declaration)}"


def _text(value: object) -> str:
    """A value as text in a preset."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else str(value)
    return repr(value) if isinstance(value, str) else str(value)


# Presets.


def read_preset(text: str, name: str) -> Scene:
    """The scene that a preset's TOML describes; other parameters have their defaults."""
    return scene_from(read_toml(text, name, "preset"), name)


def read_toml(text: str, name: str, kind: str) -> dict[str, Any]:
    """The content of a file of this kind. `name` is the file's, for the errors."""
    try:
        return parse_toml(text)
    except ValueError as error:  # also raised by a number with thousands of digits
        raise UserError(f"{name}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise UserError(f"{name}: not a {kind}: its values are nested too deeply") from error


def scene_from(content: dict[str, Any], name: str) -> Scene:
    """The scene that a preset or a saved world holds. `name` is the file's, for the errors."""
    sections = renamed(content)
    try:
        description = sections.get("description", "")
        if not isinstance(description, str):
            raise UserError(f"description = {_text(description)}: must be a text")
        read_values({name: items for name, items in sections.items() if name != "description"})
        scene = msgspec.convert(sections, Scene)
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    return scene


def read_values(sections: Mapping[str, Any]) -> dict[str, Value]:
    """The values of parameters, by their dotted paths, that the sections of a file hold. Raises `UserError`."""
    values = {}
    for section, items in sections.items():
        if section not in GROUPS and section != KEYS.rstrip("."):
            raise UserError(f"there is no section '{section}'{nearest(section, GROUPS, LISTING)}")
        if not isinstance(items, dict):
            raise UserError(f"{section} = {_text(items)}: must be a section, [{section}]")
        for key, value in items.items():
            path = f"{section}.{key}"
            values[path] = check_value(find_declaration(path), value)
    return values


def scene_content(scene: Scene) -> dict[str, Any]:
    """The content of a scene in a file, as `scene_from` reads it."""
    content: dict[str, Any] = msgspec.to_builtins(scene)
    del content["name"], content["saved_world"]
    return content


def preset_content(scene: Scene) -> dict[str, Any]:
    """The content of a preset: all differences from the defaults."""
    default = scene_content(Scene())
    changed: dict[str, Any] = {}
    for key, value in scene_content(scene).items():
        if isinstance(value, dict):
            difference = {name: item for name, item in value.items() if item != default[key].get(name)}
            if difference:
                changed[key] = difference
        elif value != default[key]:
            changed[key] = value
    return changed


def preset_to_toml(scene: Scene) -> str:
    """A preset as TOML."""
    return tomli_w.dumps(preset_content(scene))


def presets() -> dict[str, Traversable]:
    """The presets that ship with the program, by name."""
    entries = sorted((files("assets") / "presets").iterdir(), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".toml"): entry for entry in entries if entry.name.endswith(".toml")}


def load_preset(name: str) -> Scene:
    """A shipped preset by name."""
    scene = read_preset(presets()[name].read_text(encoding="utf-8"), f"preset {name}")
    return msgspec.structs.replace(scene, name=name)

"""Journals: all edits of worlds with their cycles, so that they can be replayed.

They are stored in saved worlds, and separately as readable TOML:

    format = 1
    cycle = 2000            # where it ends

    [[edit]]
    cycle = 0
    do = "open"
    [[edit.scenes]]         # each as a preset
    [edit.scenes.world]
    source = "noise"

    [[edit]]
    cycle = 120
    do = "change"
    world = 1               # of several; without it, all
    [edit.values]
    "droplets.count" = 900

    [[look]]                # how it was seen, where a person steered it
    cycle = 130
    seconds = 41.5
    [look.camera]
    heading = 20.0

    [[edit]]
    cycle = 150
    do = "stroke"           # of a brush, or a part of one
    tool = "raise"
    dabs = [[1200.0, 800.0, 1.0], [1240.0, 810.0, 1.0]]  # metres east and south of the corner, pressure
    radius = 200.0
    amount = 4.0

Other edits are `heights` (with an `expression` in metres), `copy` and `keep` (a comparison), `blur`, `refine` (with
`times`), `snowballs` (with `balls`) and `stop-snowballs`. Strokes, heights and changes of fields lie in a `layer`, and
may have a `strength`, or be left out by `is_on = false`; `of_start = true` are fields that the worlds were opened with.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from app.brushes.stack import LARGEST_STRENGTH, LONGEST_NAME, check_heights, is_stacked
from app.brushes.tools import TOOLS
from app.files.atomic import write_atomically
from app.files.paths import found, found_from, from_folder, named_from
from app.model.errors import UserError, nearest
from app.model.field_parameters import read_field, with_files
from app.model.layers import LARGEST_CYCLE
from app.model.parameters import Value
from app.model.view_parameters import ViewParameters
from app.scene.comparison import MOST_WORLDS
from app.scene.edits import (
    REFINEMENTS,
    Blur,
    CancelSnowballs,
    Change,
    Copy,
    Edit,
    Keep,
    LandRequest,
    Lay,
    Looked,
    Open,
    Refine,
    RollSnowballs,
    Stroke,
)
from app.scene.renamed import renamed
from app.scene.scene import Scene, check_value, find_declaration, preset_content, rebuilds_world, scene_from
from kernels.brushes import FORMS

FORMAT = 1
LARGEST_SECONDS = 1e9
LARGEST_LENGTH = 1e9  # metres, of lengths in a stroke
MOST_DABS = 1_000_000  # per part of a stroke
DEFAULT = msgspec.to_builtins(ViewParameters())


class Journal(msgspec.Struct, frozen=True):
    """`edits` begin with opening worlds. The journal ends after `cycle` cycles."""

    edits: tuple[Edit, ...]
    cycle: int
    looks: tuple[Looked, ...] = ()

    def check_beginning(self, cycle: int) -> None:
        """Raise `UserError` if the opened world is at another cycle than before: then it is another world."""
        if cycle != self.edits[0].cycle:
            raise UserError(
                f"the journal begins with a world that was after cycle {self.edits[0].cycle}, and is after {cycle} now"
            )

    def without_run(self) -> Journal:
        """The journal with a last run of snowballs ended: saved worlds do not continue runs."""
        rolls = any(isinstance(edit.request, RollSnowballs) for edit in self.edits)
        ended = isinstance(self.edits[-1].request, CancelSnowballs)
        if not rolls or ended:
            return self
        return Journal((*self.edits, Edit(self.cycle, CancelSnowballs())), self.cycle, self.looks)

    def begins_with(self, path: Path) -> bool:
        """Whether it continues the world of this file, so that a world saved in its place could not be replayed."""
        first = self.edits[0].request
        saved = [scene.saved_world for scene in first.scenes] if isinstance(first, Open) else []
        return any(name and Path(name).resolve() == path.resolve() for name in saved)

    def of(self, world: int) -> Journal:
        """The journal of one of several worlds alone."""
        return Journal((*self.edits, Edit(self.cycle, Keep((world,)))), self.cycle, self.looks)


def write_journal(path: Path, journal: Journal) -> None:
    """Write a journal alone, as TOML."""
    content = journal_content(journal, path.parent)
    with write_atomically(path) as file:
        file.write(tomli_w.dumps(content).encode())


def journal_content(journal: Journal, folder: Path) -> dict[str, Any]:
    """A journal as a file in `folder` keeps it."""
    edits = [
        {"cycle": edit.cycle, "do": _names()[type(edit.request)], **_stacked(edit), **_content(edit.request, folder)}
        for edit in journal.edits
    ]
    looks: list[dict[str, Any]] = []
    before: Looked | None = None
    for look in journal.looks:
        row = {"cycle": look.cycle, "seconds": look.seconds, "camera": msgspec.to_builtins(look.camera)}
        if before is None or look.view != before.view:  # it seldom changes
            row["view"] = {name: item for name, item in msgspec.to_builtins(look.view).items() if item != DEFAULT[name]}
        looks.append(row)
        before = look
    return {"format": FORMAT, "cycle": journal.cycle, "edit": edits} | ({"look": looks} if looks else {})


def journal_from(content: dict[str, Any], name: str, folder: Path) -> Journal:
    """The journal of a file in `folder`. `name` is that of the file, for errors."""
    try:
        if content.get("format") != FORMAT:
            raise UserError(f"journal of format {content.get('format')}; this version of the program reads {FORMAT}")
        end = _whole(content, "cycle", LARGEST_CYCLE)
        rows = content.get("edit")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise UserError("'edit' must be a list of tables, [[edit]]")
        edits = tuple(_edit(row, folder) for row in rows)
        cycles = [edit.cycle for edit in edits]
        if not edits or not isinstance(edits[0].request, Open):
            raise UserError('its first edit must open a world (do = "open")')
        if any(isinstance(edit.request, Open) for edit in edits[1:]):
            raise UserError("only its first edit can open worlds")
        if cycles != sorted(cycles) or end < cycles[-1]:
            raise UserError("the cycles of its edits must grow up to that of its end")
        looks = _looks(content.get("look", []))
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
    return Journal(edits, end, looks)


def _looks(rows: object) -> tuple[Looked, ...]:
    """The looks from a list of tables. A missing view is that of the look before."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError("'look' must be a list of tables, [[look]]")
    looks: list[Looked] = []
    for row in rows:
        cycle, seconds = _whole(row, "cycle", LARGEST_CYCLE), row.get("seconds")
        if type(seconds) not in (int, float) or not 0.0 <= seconds <= LARGEST_SECONDS:
            raise UserError(f"seconds = {seconds!r}: must be a number from 0 to {LARGEST_SECONDS:g}")
        if looks and (cycle < looks[-1].cycle or seconds < looks[-1].seconds):
            raise UserError("the cycles and seconds of its looks must grow")
        seen = scene_from({name: row[name] for name in ("camera", "view") if name in row}, "a look")
        view = looks[-1].view if looks and "view" not in row else seen.view
        looks.append(Looked(cycle, float(seconds), view, seen.camera))
    return tuple(looks)


def _edit(row: dict[str, Any], folder: Path) -> Edit:
    kind = row.get("do")
    if kind not in READERS:
        raise UserError(f"do = {kind!r}: must be one of {', '.join(READERS)}{nearest(str(kind), READERS)}")
    cycle = _whole(row, "cycle", LARGEST_CYCLE)
    try:
        return _in_stack(Edit(cycle, READERS[kind](row, folder)), row)
    except UserError as error:
        raise UserError(f"the edit after cycle {cycle}: {error}") from error


def _in_stack(edit: Edit, row: dict[str, Any]) -> Edit:
    """An edit with its place in the stack, if its row tells one."""
    layer, is_on, strength = row.get("layer", ""), row.get("is_on", True), row.get("strength", 1.0)
    of_start = row.get("of_start", False)
    if (layer, is_on, strength, of_start) == ("", True, 1.0, False):
        return edit
    if not is_stacked(edit.request):
        raise UserError("only strokes, heights and fields lie in a layer")
    if not isinstance(layer, str) or len(layer) > LONGEST_NAME:
        raise UserError(f"layer = {layer!r}: must be a text of up to {LONGEST_NAME} characters")
    if type(is_on) is not bool:
        raise UserError(f"is_on = {is_on!r}: must be true or false")
    if type(of_start) is not bool or (of_start and not isinstance(edit.request, Change)):
        raise UserError(f"of_start = {of_start!r}: must be true for changes of fields alone, or false")
    if type(strength) not in (int, float):
        raise UserError(f"strength = {strength!r}: must be a number")
    _check_range("strength", strength, 0.0, LARGEST_STRENGTH)
    return msgspec.structs.replace(edit, layer=layer, is_on=is_on, strength=float(strength), of_start=of_start)


def _stacked(edit: Edit) -> dict[str, Any]:
    """What differs from an edit that is made as it was."""
    names = ("layer", "is_on", "strength", "of_start")
    default = Edit(0, edit.request)
    return {name: getattr(edit, name) for name in names if getattr(edit, name) != getattr(default, name)}


def _open(row: dict[str, Any], folder: Path) -> Open:
    scenes = row.get("scenes")
    if not isinstance(scenes, list) or not 1 <= len(scenes) <= MOST_WORLDS:
        raise UserError(f"'scenes' must be 1 to {MOST_WORLDS} scenes, [[edit.scenes]]")
    return Open(tuple(_scene(content, folder) for content in scenes))


def _scene(content: object, folder: Path) -> Scene:
    if not isinstance(content, dict):
        raise UserError("a scene must be a table, as a preset is")
    rest = {key: value for key, value in content.items() if key not in ("name", "saved_world")}
    texts = {key: content[key] for key in ("name", "saved_world") if isinstance(content.get(key), str)}
    scene = found_from(scene_from(rest, "a scene"), folder)
    if saved := texts.get("saved_world"):
        texts["saved_world"] = found(saved, folder)
    return msgspec.structs.replace(scene, **texts)


def _change(row: dict[str, Any], folder: Path) -> Change:
    values = row.get("values")
    if not isinstance(values, dict):
        raise UserError("'values' must be a table of parameters, [edit.values]")
    checked: dict[str, Value] = {}
    for path, value in _as_named_now(values).items():
        checked[path] = check_value(find_declaration(path), value)
        if rebuilds_world(path):
            raise UserError(f"{path} can only be given where the world is opened")
    return Change(checked, _whole(row, "world", MOST_WORLDS - 1) if "world" in row else None)


def _as_named_now(values: dict[str, Any]) -> dict[str, Any]:
    """Values by the current paths of their parameters and curves."""
    sections: dict[str, Any] = {}
    for path, value in values.items():
        section, _, name = path.partition(".")
        sections.setdefault(section, {})[name] = value
    return {
        f"{section}.{name}": value
        for section, items in renamed(sections, is_whole=False).items()
        for name, value in items.items()
    }


def _keep(row: dict[str, Any], folder: Path) -> Keep:
    worlds = row.get("worlds")
    if not isinstance(worlds, list) or not worlds or not all(type(world) is int and world >= 0 for world in worlds):
        raise UserError("'worlds' must be a list of whole numbers, the first world being 0")
    return Keep(tuple(worlds))


def _stroke(row: dict[str, Any], folder: Path) -> Stroke:
    known = {name: item for name, item in row.items() if name in Stroke.__struct_fields__}
    dabs = known.get("dabs")
    if not isinstance(dabs, list) or not dabs or len(dabs) > MOST_DABS:
        raise UserError(f"'dabs' must be a list of 1 to {MOST_DABS} places, each [east, south, pressure]")
    try:
        stroke = msgspec.convert(known | {"type": "Stroke"}, Stroke)
    except msgspec.ValidationError as error:
        raise UserError(f"stroke: {error}") from error
    if stroke.tool not in TOOLS:
        raise UserError(f"tool = {stroke.tool!r}: must be one of {', '.join(TOOLS)}{nearest(stroke.tool, TOOLS)}")
    read_field(stroke.mask)
    _check_range("radius", stroke.radius, 1e-9, LARGEST_LENGTH)
    _check_range("amount", stroke.amount, 0.0, LARGEST_LENGTH)
    _check_range("hardness", stroke.hardness, 0.0, 1.0)
    _check_range("level", stroke.level, -LARGEST_LENGTH, LARGEST_LENGTH)
    _check_range("angle", stroke.angle, -360.0, 360.0)
    for name, low, high in (("number", 0, 2**63), ("first", 0, 2**31), ("world", 0, MOST_WORLDS - 1)):
        _check_range(name, getattr(stroke, name) or 0, low, high)
    for east, south, pressure in stroke.dabs:
        _check_range("dabs: east", east, -LARGEST_LENGTH, LARGEST_LENGTH)
        _check_range("dabs: south", south, -LARGEST_LENGTH, LARGEST_LENGTH)
        _check_range("dabs: pressure", pressure, 0.0, 1.0)
    if _names_image(stroke):
        return msgspec.structs.replace(stroke, choice=found(stroke.choice, folder))
    return stroke


def _names_image(stroke: Stroke) -> bool:
    return TOOLS[stroke.tool].choice == "form" and stroke.choice not in ("", *FORMS)


def _stroke_content(stroke: Stroke, folder: Path) -> dict[str, Any]:
    if _names_image(stroke):
        stroke = msgspec.structs.replace(stroke, choice=from_folder(stroke.choice, folder))
    default = Stroke(stroke.tool, (), 0.0, 0.0)
    content: dict[str, Any] = {"tool": stroke.tool, "radius": stroke.radius, "amount": stroke.amount}
    for name in Stroke.__struct_fields__:
        if name != "dabs" and getattr(stroke, name) != getattr(default, name):
            content[name] = getattr(stroke, name)
    return content | {"dabs": [list(dab) for dab in stroke.dabs]}


def _heights(row: dict[str, Any], folder: Path) -> Lay:
    expression = row.get("expression")
    if not isinstance(expression, str):
        raise UserError("'expression' must be a text, such as '40 * noise(300, 1)'")
    check_heights(expression)
    expression = with_files(expression, lambda name: found(name, folder))
    return Lay(expression, _whole(row, "world", MOST_WORLDS - 1) if "world" in row else None)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:  # false for NaN, too
        raise UserError(f"{name} = {value!r}: must be from {low:g} to {high:g}")


READERS: dict[str, Callable[[dict[str, Any], Path], LandRequest]] = {
    "open": _open,
    "change": _change,
    "copy": lambda row, folder: Copy(_whole(row, "world", MOST_WORLDS - 1)),
    "keep": _keep,
    "blur": lambda row, folder: Blur(),
    "refine": lambda row, folder: Refine(_whole(row, "times", max(REFINEMENTS))),
    "snowballs": lambda row, folder: RollSnowballs(_whole(row, "balls", LARGEST_CYCLE)),
    "stop-snowballs": lambda row, folder: CancelSnowballs(),
    "stroke": _stroke,
    "heights": _heights,
}


def _names() -> dict[type, str]:
    kinds = (Open, Change, Copy, Keep, Blur, Refine, RollSnowballs, CancelSnowballs, Stroke, Lay)
    return dict(zip(kinds, READERS, strict=True))


def _content(request: LandRequest, folder: Path) -> dict[str, Any]:
    match request:
        case Open(scenes):
            return {"scenes": [_scene_content(scene, folder) for scene in scenes]}
        case Change(values, world):
            return {"values": dict(values)} | ({} if world is None else {"world": world})
        case Copy(world):
            return {"world": world}
        case Keep(worlds):
            return {"worlds": list(worlds)}
        case Refine(times):
            return {"times": times}
        case RollSnowballs(balls):
            return {"balls": balls}
        case Stroke():
            return _stroke_content(request, folder)
        case Lay(expression, world):
            text = with_files(expression, lambda name: from_folder(name, folder))
            return {"expression": text} | ({} if world is None else {"world": world})
        case Blur() | CancelSnowballs():
            return {}


def _scene_content(scene: Scene, folder: Path) -> dict[str, Any]:
    content = preset_content(named_from(scene, folder))
    texts = {"name": scene.name, "saved_world": from_folder(scene.saved_world, folder) if scene.saved_world else ""}
    return {key: text for key, text in texts.items() if text} | content


def _whole(row: dict[str, Any], key: str, largest: int) -> int:
    value = row.get(key)
    if type(value) is not int or not 0 <= value <= largest:
        raise UserError(f"{key} = {value!r}: must be a whole number from 0 to {largest}")
    return value

"""The stack of edits: strokes, heights and fields of a journal as named layers, to be switched, moved and blended.

A layer is what the edits of a journal have in common that bear its name. What has none lies in that of its kind:
strokes of one tool that follow one another closely are a layer, and so are changes of one field. A field that the
worlds were opened with is a layer, too, and becomes an edit once it is changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.brushes.tools import TOOLS
from app.model.errors import UserError
from app.model.field_parameters import FIELDS, files_in, read_field
from app.model.parameters import Value
from app.scene.edits import Change, Copy, Edit, Keep, LandRequest, Lay, Open, Restack, Stroke
from app.scene.scene import DECLARATIONS, check_value, find_declaration

LARGEST_STRENGTH = 4.0
LONGEST_NAME = 60
HEIGHTS = "heights"  # icon of a layer that an expression raises
CYCLES_OF_ONE_LAYER = 100  # between strokes of one tool that lie in one layer

Edits = Sequence[Edit]


@dataclass(frozen=True)
class Layer:
    """A layer, and the places of its edits in the journal."""

    name: str
    places: tuple[int, ...]  # none: of what the worlds were opened with
    cycle: int  # after which its first edit is made
    is_on: bool
    strength: float
    icon: str  # group of its tool, `fields` or `heights`
    expression: str = ""  # of a field, or of heights
    of_start: bool = False  # a field that the worlds were opened with

    @property
    def takes_strokes(self) -> bool:
        """Whether strokes can be made right after its last."""
        return self.is_on and self.icon not in (FIELDS, HEIGHTS)


def is_stacked(request: LandRequest) -> bool:
    """Whether an edit lies in the stack: a stroke, heights, or a change of fields alone."""
    if isinstance(request, Change):
        return bool(request.values) and all(path.startswith(f"{FIELDS}.") for path in request.values)
    return isinstance(request, Stroke | Lay)


def layers_of(edits: Edits) -> list[Layer]:
    """The layers of a journal's edits, the one that is made first in front."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names_of(edits)):
        if name:
            places.setdefault(name, []).append(place)
    opened = [dataclasses.replace(_layer([edit], edit.layer, (0,)), places=()) for edit in opened_fields(edits)]
    return [*opened, *(_layer(edits, name, tuple(where)) for name, where in places.items())]


def opened_fields(edits: Edits) -> list[Edit]:
    """The fields that the worlds were opened with, as edits; without those that are edits of the journal already."""
    if not edits or not isinstance(opened := edits[0].request, Open):
        return []
    known = {
        (path, edit.request.world)
        for edit in edits
        if edit.of_start and isinstance(edit.request, Change)
        for path in edit.request.values
    }
    taken = {edit.layer for edit in edits}
    found: list[Edit] = []
    for path in (path for path in DECLARATIONS if path.startswith(f"{FIELDS}.")):
        texts = [scene.value(path) for scene in opened.scenes]
        alike = len(set(texts)) == 1
        for world, text in enumerate(texts[:1] if alike else texts):
            change = Change({path: text}, None if alike else world)
            if text == find_declaration(path).default or (path, change.world) in known:
                continue
            name = free_name(f"{path.partition('.')[2]} at the start", taken)
            taken.add(name)
            found.append(Edit(edits[0].cycle, change, name, of_start=True))
    return found


def _layer(edits: Edits, name: str, places: tuple[int, ...]) -> Layer:
    first, last = edits[places[0]], edits[places[-1]]
    if isinstance(first.request, Stroke):
        return Layer(name, places, first.cycle, first.is_on, first.strength, TOOLS[first.request.tool].group)
    if isinstance(first.request, Lay):
        return Layer(name, places, first.cycle, first.is_on, first.strength, HEIGHTS, first.request.expression)
    assert isinstance(last.request, Change)
    text = str(next(iter(last.request.values.values())))
    return Layer(name, places, first.cycle, first.is_on, first.strength, FIELDS, text, first.of_start)


def names_of(edits: Edits) -> list[str]:
    """The name of each edit's layer; empty for what lies in none."""
    names: list[str] = []
    taken = {edit.layer for edit in edits}
    strokes: dict[int, str] = {}  # layers of strokes, by their numbers
    for place, edit in enumerate(edits):
        name = edit.layer
        if not name and is_stacked(edit.request):
            request = edit.request
            if isinstance(request, Stroke) and not request.begins and request.number in strokes:
                name = strokes[request.number]
            elif place and names[-1] and _go_together(edits[place - 1], edit):
                name = names[-1]
            else:
                name = free_name(kind_of(request), taken)
        if isinstance(edit.request, Stroke):
            strokes[edit.request.number] = name
        taken.add(name)
        names.append(name)
    return names


def _go_together(earlier: Edit, later: Edit) -> bool:
    """Whether two edits without names, one right after the other, lie in one layer."""
    if earlier.layer or later.cycle - earlier.cycle > CYCLES_OF_ONE_LAYER:
        return False
    match earlier.request, later.request:
        case Stroke() as one, Stroke() as other:
            return (one.tool, one.choice, one.world) == (other.tool, other.choice, other.world)
        case Change() as one, Change() as other:
            return (one.values.keys(), one.world) == (other.values.keys(), other.world)
    return False


def kind_of(request: LandRequest) -> str:
    """What an edit does, in a few words."""
    match request:
        case Stroke(tool=tool, choice=choice):
            return f"{TOOLS[tool].label} {Path(choice).name}".rstrip()  # an image by its name
        case Lay(expression):
            files = files_in(expression)
            return f"import of {Path(files[0]).name}" if files else "heights"
        case Change(values):
            return f"field of {', '.join(path.partition('.')[2] for path in values)}"
    return "edit"


def free_name(name: str, taken: set[str]) -> str:
    """A name that no other layer has, which is not too long for a journal."""
    endings = ("" if number == 1 else f" {number}" for number in range(1, len(taken) + 2))
    return next(free for ending in endings if (free := name[: LONGEST_NAME - len(ending)] + ending) not in taken)


def new_name(name: str, wanted: str, taken: set[str]) -> str:
    """The name that a layer gets if another one is wanted: in one line, and that of no other layer."""
    wanted = " ".join(wanted.split())[:LONGEST_NAME]
    return name if wanted in ("", name) else free_name(wanted, taken)


def changed(edits: Edits, request: Restack) -> list[Edit]:
    """All edits with one layer changed, and the names of their layers. Raises `UserError` where that is wrong."""
    opened = {edit.layer: edit for edit in opened_fields(edits)}
    if request.layer in opened:
        edits = [edits[0], opened[request.layer], *edits[1:]]
    named = [
        edit if edit.layer == name else msgspec.structs.replace(edit, layer=name)
        for edit, name in zip(edits, names_of(edits), strict=True)
    ]
    places = [place for place, edit in enumerate(named) if request.layer and edit.layer == request.layer]
    if not places:
        raise UserError(f"there is no layer '{request.layer}'")
    if request.takes is not None:
        return _taken(named, places, request.takes)
    if request.removed and not named[places[0]].of_start:
        return [edit for place, edit in enumerate(named) if place not in places]
    name = request.layer
    if request.name is not None:
        name = new_name(name, request.name, {edit.layer for edit in named})
    for place in places:
        named[place] = _changed_edit(named[place], request, name)
    if request.after is None:
        return named
    return _moved(named, places, "" if request.after in opened else request.after)


def check_heights(expression: str) -> None:
    """Raise `UserError` where heights cannot be read."""
    try:
        read_field(expression)
    except UserError as error:
        raise UserError(f"heights = '{expression}': {error}") from error


def _changed_edit(edit: Edit, request: Restack, name: str) -> Edit:
    """An edit of the layer that a request changes."""
    if request.expression is not None and isinstance(edit.request, Change):
        values: dict[str, Value] = dict.fromkeys(edit.request.values, request.expression)
        for path, value in values.items():
            check_value(find_declaration(path), value)
        edit = msgspec.structs.replace(edit, request=msgspec.structs.replace(edit.request, values=values))
    if request.expression is not None and isinstance(edit.request, Lay):
        check_heights(request.expression)
        edit = msgspec.structs.replace(edit, request=Lay(request.expression, edit.request.world))
    return msgspec.structs.replace(
        edit,
        layer=name,
        is_on=not request.removed and (edit.is_on if request.is_on is None else request.is_on),
        strength=edit.strength if request.strength is None else min(max(request.strength, 0.0), LARGEST_STRENGTH),
    )


def _moved(named: Edits, places: Sequence[int], after: str) -> list[Edit]:
    """The edits at these places made right after another layer, in its cycle; without one, on the land as it began.

    Raises `UserError` where worlds were added or removed between, which strokes of one world tell by their numbers.
    """
    name = named[places[0]].layer
    if after == name:
        return list(named)
    if named[places[0]].of_start:
        raise UserError(f"{name} is where the land begins")
    ends = [place for place, edit in enumerate(named) if after and edit.layer == after]
    if after and not ends:
        raise UserError(f"there is no layer '{after}'")
    begin = max((place for place, edit in enumerate(named) if edit.of_start), default=0)
    return _made_after(named, places, ends[-1] if ends else begin)


def _taken(named: Edits, places: Sequence[int], number: int) -> list[Edit]:
    """A stroke made right after the others of the layer at these places. Raises `UserError` where that cannot be."""
    parts = [
        place for place, edit in enumerate(named) if isinstance(edit.request, Stroke) and edit.request.number == number
    ]
    others = [place for place in places if place not in parts]
    name = named[places[0]].layer
    if not parts or not others:
        raise UserError(f"there is no stroke that {name} could take")
    last = named[others[-1]]
    if not isinstance(last.request, Stroke):
        raise UserError(f"{name} takes no strokes")
    edits = list(named)
    for part in parts:
        edits[part] = msgspec.structs.replace(edits[part], layer=name, is_on=last.is_on, strength=last.strength)
    return _made_after(edits, parts, others[-1])


def _made_after(named: Edits, places: Sequence[int], at: int) -> list[Edit]:
    """The edits at these places made right after another one, in its cycle."""
    name = named[places[0]].layer
    between = named[min(at, places[0]) : max(at, places[-1]) + 1]
    if any(isinstance(edit.request, Copy | Keep) for edit in between):
        raise UserError(f"{name} cannot be moved there: worlds were added or removed between")
    layer = [msgspec.structs.replace(named[place], cycle=named[at].cycle) for place in places]
    before = [edit for place, edit in enumerate(named[: at + 1]) if place not in places]
    rest = [edit for place, edit in enumerate(named[at + 1 :], at + 1) if place not in places]
    return [*before, *layer, *rest]

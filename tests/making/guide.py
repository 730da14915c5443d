"""Write the parts of the guide that derive from tables, imports and examples: `python -m tests.making.guide`.

`make guide` does the same. A part stands between two marks of its page, by the name that it has in `PARTS`.
"""

from __future__ import annotations

import argparse
import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from app.cli.table import COMMANDS, find_command
from app.export.heights import HEIGHT_FORMATS
from app.export.vectors import LAYERS
from app.model.parameters import Declaration
from app.scene.families import families
from app.scene.scene import DECLARATIONS, GROUPS, load_preset, range_text
from app.sources.heightmap import FORMATS
from app.window.actions import ACTIONS, GAMEPAD, MOUSE
from tests.making.freeze import bundled_libraries
from tests.test_imports import COMMON, OURS, imports, room_of

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "assets" / "guide"
PART = re.compile(r"(<!-- (\w+): written by `make guide` -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
NO_ROOMS = {"app", "app.__main__", "app.frozen_kernels"} | COMMON  # what starts the program


# Tables.


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def keys() -> str:
    """All actions by their groups, then what mouse and gamepad do."""
    text = ""
    for group in dict.fromkeys(action.group for action in ACTIONS):
        rows = [
            (", ".join(f"`{key}`" for key in action.keys), f"{action.label}: {action.help}")
            for action in ACTIONS
            if action.group == group
        ]
        text += f"## {group}\n\n{table(('key', 'what it does'), rows)}\n"
    text += f"## Mouse\n\n{table(('mouse', 'what it does'), MOUSE)}\n"
    gamepad = [(gesture.removeprefix("gamepad: "), help) for gesture, help in GAMEPAD]
    return f"{text}## Gamepad\n\n{table(('gamepad', 'what it does'), gamepad)}"


def preset_tables() -> str:
    """The presets by their families, each with its description."""
    text = ""
    for family in families().family:
        rows = [(f"`{name}`", load_preset(name).description) for name in family.presets]
        text += f"### {family.title}\n\n{table(('preset', 'what it is'), rows)}\n"
    return text.removesuffix("\n")


def commands() -> str:
    rows = [(f"`thalweg {name}`", _first_sentence(find_command(name)[1].description or "")) for name in COMMANDS]
    return table(("command", "what it does"), rows)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].removesuffix(".")


def parameters() -> str:
    """All parameters by their groups, as `--list-parameters` has them."""
    text = ""
    for group, kind in GROUPS.items():
        own = [declaration for path, declaration in DECLARATIONS.items() if path.partition(".")[0] == group]
        rows = [(f"`{d.path}`", "; ".join(filter(None, (d.help, _range(d), _default(d))))) for d in own]
        if rows:
            text += f"## {kind.title}\n\n{table(('parameter', 'meaning, range and default'), rows)}\n"
    return text.removesuffix("\n")


def _range(declaration: Declaration) -> str:
    if declaration.kind is bool:
        return "true or false"
    return ", ".join(declaration.choices) or range_text(declaration)


def _default(declaration: Declaration) -> str:
    value = declaration.default
    if value == "":
        return ""
    return f"default: {str(value).lower() if isinstance(value, bool) else value}"


def heightmaps() -> str:
    return table(
        ("what", "names end in"), [(_kind(of.name), ", ".join(f"`{s}`" for s in of.suffixes)) for of in FORMATS]
    )


def _kind(name: str) -> str:
    return re.sub(r"^(a|an) ", "", name)


def heights() -> str:
    return table(("name", "what"), [(f"`{name}`", of.help) for name, of in HEIGHT_FORMATS.items()])


def vectors() -> str:
    rows = [
        (f"`{layer}`" if number == 0 else "", f"`{field.name}`", field.help)
        for layer, row in LAYERS.items()
        for number, field in enumerate(row.fields)
    ]
    return table(("layer", "attribute", "what"), rows)


def libraries() -> str:
    """What the folder of the program has of others, with the licence that each declares."""
    rows = [(name, licence_of(name)) for name in bundled_libraries()]
    return table(("library", "licence"), rows)


def licence_of(name: str) -> str:
    """As its metadata say it: an expression, a short name, or a classifier."""
    about = metadata.metadata(name)
    said = next((text for key in ("License-Expression", "License") for text in about.get_all(key) or []), "")
    of_trove = [text.rpartition(" :: ")[2] for text in about.get_all("Classifier") or [] if text.startswith("License")]
    if said and "\n" not in said and len(said) < 60:
        return said
    return ", ".join(of_trove) or "see its text"


# Imports.


def rooms() -> str:
    """A Mermaid flowchart of the rooms: an arrow for each import that no others imply."""
    direct = direct_imports()
    far = reached(direct)
    # Rooms that reach one another are one box.
    box = {room: " · ".join(sorted({room} | {other for other in far[room] if room in far[other]})) for room in direct}
    between = dict[str, set[str]]()
    for room in direct:
        between.setdefault(box[room], set()).update({box[other] for other in direct[room]} - {box[room]})
    far = reached(between)
    lines = [f'    {_id(name)}["{name}"]' for name in sorted(between)]
    for name in sorted(between):
        implied = {other for near in between[name] for other in far[near]}
        lines += [f"    {_id(name)} --> {_id(other)}" for other in sorted(between[name] - implied)]
    return "```mermaid\nflowchart TD\n" + "\n".join(lines) + "\n```\n"


def direct_imports() -> dict[str, set[str]]:
    """Which rooms each room imports from, but for types alone."""
    found: dict[str, set[str]] = {room_of(module): set() for module in OURS if room_of(module) not in NO_ROOMS}
    for module in OURS:
        room = room_of(module)
        for name in imports(module) if room in found else ():
            while name and name not in OURS:
                name = name.rpartition(".")[0]
            if name and (other := room_of(name)) in found and other != room:
                found[room].add(other)
    return found


def reached(direct: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What each name reaches by any number of arrows; itself only in a circle."""
    found = {}
    for start in direct:
        waiting, seen = list(direct[start]), set[str]()
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting += direct[name]
        found[start] = seen
    return found


def _id(box: str) -> str:
    """A name for Mermaid, which takes neither dots nor spaces."""
    return re.sub(r"\W+", "_", box)


# Examples.


def example(path: str, *names: str) -> Callable[[], str]:
    """The code of a file; of these names alone, where there are any."""

    def code() -> str:
        text = (ROOT / path).read_text(encoding="utf-8")
        if names:
            lines = text.splitlines()
            parts = [_lines_of(node, lines) for node in ast.parse(text).body if _name_of(node) in names]
            assert len(parts) == len(names), f"{path}: {names}"
            text = "\n\n\n".join(parts)
        return f"```python\n{text.strip()}\n```\n"

    return code


def _name_of(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return getattr(node, "name", "")


def _lines_of(node: ast.stmt, lines: Sequence[str]) -> str:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))


PARTS: dict[str, Callable[[], str]] = {
    "keys": keys,
    "presets": preset_tables,
    "commands": commands,
    "parameters": parameters,
    "heightmaps": heightmaps,
    "heights": heights,
    "vectors": vectors,
    "libraries": libraries,
    "rooms": rooms,
    "process": example("tests/app/invented.py"),
    "pass": example("tests/gui/additions.py", "SHADERS", "LanternMesh", "LANTERN"),
    "format": example("tests/app/invented_format.py"),
}


def with_parts(text: str) -> str:
    """A page with its parts as they are now. A name that is unknown is a `KeyError`."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]().strip()}\n\n{part[4]}", text)


def main() -> None:
    argparse.ArgumentParser(prog="make guide", description=__doc__).parse_args()
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (new := with_parts(text)) != text:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()

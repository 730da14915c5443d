"""The contact sheet of a sweep: the pictures of all worlds side by side."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from pathlib import Path

from app.cli.sheet import LARGEST, SheetGrid, lay, text_scale
from app.files.recorder import write_png
from app.model.numbers import value_text
from app.model.parameters import Value
from app.picture.lettering import sign
from app.scene.scene import find_declaration
from app.sweep.recipe import SEED, Planned, Recipe
from app.sweep.result_set import ResultSet

MOST_LINES = 3  # largest number of lines of a caption


def sheet_paths(recipe: Recipe, path: Path) -> list[Path]:
    """The paths of the sheets of a recipe's pictures: `path`, and others beside it with their names."""
    names = recipe.said.pictures
    return [path if number == 0 else path.with_stem(f"{path.stem}-{name}") for number, name in enumerate(names)]


def draw_contact_sheets(recipe: Recipe, found: ResultSet, path: Path) -> list[Path]:
    """Draw a sheet for each picture of the recipe, with as many worlds as fit. Returns the files."""
    said = recipe.said
    across, down = LARGEST // (said.width + 4), (LARGEST - 200) // (said.height + 4)
    shown = min(len(recipe.worlds), across * down)
    # About as wide as a screen
    columns = min(max(math.ceil(math.sqrt(shown * 1.6 * said.height / said.width)), -(-shown // down), 1), across)
    bare = SheetGrid(shown, columns, said.width, said.height, 0)
    scale = text_scale(bare)
    facts = f"{found.count} of {len(recipe.worlds)} worlds" + (
        f", the first {shown}" if shown < len(recipe.worlds) else ""
    )
    title = sign((said.title or found.path.stem, facts), scale, bare.shape[1])
    grid = replace(bare, head=len(title))
    paths = sheet_paths(recipe, path)
    wholes = [grid.blank() for _ in paths]
    for world, pictures in islice(found.pictures(), shown):
        if world.number >= shown:
            break
        letters = sign(caption(recipe, world), min(scale, 0.7), said.width)
        for whole, pixels in zip(wholes, pictures, strict=True):
            grid.put(whole, world.number, pixels, letters)
    for whole, place in zip(wholes, paths, strict=True):
        lay(title, whole)
        write_png(place, whole)
    return paths


def caption(recipe: Recipe, world: Planned) -> tuple[str, ...]:
    """The caption of a world: number, source and seed, and a line for each varied parameter."""
    first = [f"{world.number}"]
    if len(recipe.said.sources) > 1:
        first.append(world.source)
    if SEED in world.values:
        first.append(f"seed {world.values[SEED]}")
    others = [_text(path, value) for path, value in world.values.items() if path != SEED]
    return (", ".join(first), *others[: MOST_LINES - 1])


def _text(path: str, value: Value) -> str:
    declaration = find_declaration(path)
    return f"{declaration.label} {value_text(declaration, value)}"

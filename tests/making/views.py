"""The sheet of views that a change of the picture is judged by: the openings of all presets, and others of a table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from tqdm import tqdm

from app.scene.scene import presets

if TYPE_CHECKING:
    from PIL.Image import Image

TABLE = "views.toml"
SIZE = (480, 270)  # pixels of each view
COLUMNS = 6


def views() -> dict[str, str]:
    """What `thalweg` draws each view with, without size and --out, by their captions."""
    groups = msgspec.toml.decode((files("assets") / "pictures" / TABLE).read_bytes(), type=dict[str, dict[str, str]])
    openings = {preset: f"render {preset} --orbit 0 --frames 1" for preset in presets()}
    return openings | {f"{name}, {group}": words for group, table in groups.items() for name, words in table.items()}


def side_by_side(table: Mapping[str, str], draw: Callable[[str, Path], None]) -> Image:
    """A sheet of the views of a table, each as `draw` writes it from its words to a file."""
    import PIL.Image
    import PIL.ImageDraw

    width, height = SIZE
    sheet = PIL.Image.new("RGB", (min(len(table), COLUMNS) * width, -(-len(table) // COLUMNS) * height))
    letters = PIL.ImageDraw.Draw(sheet)
    with tempfile.TemporaryDirectory() as temporary:
        view = Path(temporary) / "view.png"
        for number, (caption, words) in enumerate(tqdm(table.items(), desc="views", unit="view")):
            draw(f"{words} --width {width} --height {height}", view)
            left, top = number % COLUMNS * width, number // COLUMNS * height
            sheet.paste(PIL.Image.open(view).convert("RGB"), (left, top))
            letters.text((left + 5, top + 3), caption, fill="white", stroke_width=2, stroke_fill="black")
    return sheet

"""The sheet of views that a change of the picture is judged by: the openings of all presets, and others of a table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

import msgspec
import numpy as np
from tqdm import tqdm

from app.cli.sheet import SheetGrid, text_scale
from app.files.encoder import Pixels
from app.picture.lettering import sign
from app.scene.scene import presets

TABLE = "views.toml"
SIZE = (480, 270)  # pixels of each view
COLUMNS = 6
LARGEST_TEXT = 0.8  # beside the panel's: a caption covers little of its view


def views() -> dict[str, str]:
    """What `thalweg` draws each view with, without size and --out, by their captions."""
    groups = msgspec.toml.decode((files("assets") / "pictures" / TABLE).read_bytes(), type=dict[str, dict[str, str]])
    openings = {preset: f"render {preset} --orbit 0 --frames 1" for preset in presets()}
    return openings | {f"{name}, {group}": words for group, table in groups.items() for name, words in table.items()}


def side_by_side(table: Mapping[str, str], draw: Callable[[str, Path], None]) -> Pixels:
    """A sheet of the views of a table, each as `draw` writes it from its words to a file."""
    import PIL.Image

    width, height = SIZE
    grid = SheetGrid(len(table), COLUMNS, width, height, 0)
    sheet, scale = grid.blank(), min(text_scale(grid), LARGEST_TEXT)
    with tempfile.TemporaryDirectory() as temporary:
        view = Path(temporary) / "view.png"
        for number, (caption, words) in enumerate(tqdm(table.items(), desc="views", unit="view")):
            draw(f"{words} --width {width} --height {height}", view)
            grid.put(sheet, number, np.array(PIL.Image.open(view).convert("RGB")), sign((caption,), scale, width))
    return sheet

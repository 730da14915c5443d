"""`thalweg sheet`."""

from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.arguments import DEFAULT_FRAMES, file_path, whole_number
from app.cli.scenes import add_scene_options, with_changes
from app.cli.terminal import in_columns
from app.model.errors import UserError

DESCRIPTION = (
    "Draw what becomes of one land in several ways, side by side, without a display: a picture of each of a "
    "sheet's variations, or a clip of all of them."
)
EPILOG = """
examples:
  thalweg sheet --list
  thalweg sheet wind --out wind.png
  thalweg sheet wind --size 128 --out wind.mp4
  thalweg sheet snowballs island --seed 4
  thalweg sheet my-sheet.toml --out sheet.png --out 'frames/sheet_%04d.png'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument("sheet", nargs="?", metavar="SHEET", help="one that ships with the program, or a file (.toml)")
    add_scene_options(parser, "what the sheet says")
    parser.add_argument("--list", action="store_true", help="list the sheets that ship with the program, and exit")
    frames = whole_number(1, 1_000_000)
    parser.add_argument(
        "--frames",
        type=frames,
        metavar="N",
        help="from the beginning of all worlds to their end; default: 150 in a clip, else the end alone",
    )
    parser.add_argument(
        "--fps", type=whole_number(1, 240), default=30, metavar="N", help="frames per second; default: 30"
    )
    whole = whole_number(16, 4096)
    parser.add_argument("--width", type=whole, metavar="W", help="of each picture; default: what the sheet says")
    parser.add_argument("--height", type=whole, metavar="H", help="likewise")
    parser.add_argument(
        "--out",
        type=file_path,
        action="append",
        metavar="FILE",
        help="a picture (.png), a clip (.mp4, .mov, .gif, .webp) or every frame (frame_%%04d.png); can be repeated; "
        "default: sheet.png",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.cli.sheet_file import open_sheet

    if options.list:
        print(_sheet_list())
        return
    if options.sheet is None:
        raise UserError("which sheet? `thalweg sheet --list` lists those that ship with the program")
    sheet = open_sheet(options.sheet)
    base = with_changes(sheet.base(options.source), options)
    variations = sheet.variations(base)
    paths = options.out or [Path("sheet.png")]
    from app.cli.sheet import draw_sheet
    from app.files.recorder import is_one_picture

    draw_sheet(
        sheet.values.title,
        base,
        variations,
        paths,
        columns=sheet.values.columns,
        size=(options.width or sheet.values.width, options.height or sheet.values.height),
        frames=options.frames or (1 if all(map(is_one_picture, paths)) else DEFAULT_FRAMES),
        fps=options.fps,
        threads=options.threads,
    )


def _sheet_list() -> str:
    from app.cli.sheet_file import open_sheet, sheets

    return in_columns([(name, open_sheet(name).values.title) for name in sheets()])

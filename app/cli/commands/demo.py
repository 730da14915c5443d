"""`thalweg demo`."""

from __future__ import annotations

import argparse

from app.cli.arguments import MOST_SECONDS, PICTURE_SIZE, file_path, positive_number, whole_number
from app.cli.terminal import check_display
from app.model.errors import UserError, nearest

DESCRIPTION = "A tour of the presets, each with its name and the camera on its path: in the window, or as a film."
EPILOG = """
examples:
  thalweg demo
  thalweg demo --out tour.mp4
  thalweg demo canyon delta dune-field --seconds 30 --out short.mp4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument(
        "presets", nargs="*", metavar="PRESET", help="stops of the tour; default: all but the articles'"
    )
    parser.add_argument(
        "--seconds", type=positive_number(MOST_SECONDS), default=120.0, metavar="S", help="of all; default: %(default)g"
    )
    parser.add_argument(
        "--out", type=file_path, action="append", metavar="FILE", help="draw it into a file, as `render` does"
    )
    parser.add_argument(
        "--fps", type=whole_number(1, 240), default=30, metavar="N", help="frames per second; default: 30"
    )
    parser.add_argument("--width", type=whole_number(16, 8192), metavar="W", help=f"default: {PICTURE_SIZE[0]} pixels")
    parser.add_argument("--height", type=whole_number(16, 8192), metavar="H", help=f"default: {PICTURE_SIZE[1]} pixels")
    parser.add_argument("--threads", type=whole_number(1, 256), metavar="N", help="threads of the simulation")


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.scene.scene import presets
    from app.scene.tour import stops

    for name in options.presets:
        if name not in presets():
            raise UserError(f"{name}: there is no such preset{nearest(name, presets(), 'thalweg --list-presets')}")
    scenes = stops(options.presets)
    if options.out:
        from app.cli.demo import render_tour

        size = options.width or PICTURE_SIZE[0], options.height or PICTURE_SIZE[1]
        render_tour(scenes, options.out, seconds=options.seconds, fps=options.fps, size=size, threads=options.threads)
        return
    check_display()
    from app.window import loop
    from app.window.tour import Tour

    loop.run(scenes[0], after_frame=Tour(scenes, options.seconds / len(scenes)).after_frame)

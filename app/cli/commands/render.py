"""`thalweg render`."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from app.cli.arguments import (
    DEFAULT_FRAMES,
    MOST_SECONDS,
    PICTURE_SIZE,
    file_path,
    finite_number,
    positive_number,
    whole_number,
)
from app.cli.scenes import add_comparison, add_scene_options, journal_of, scenes_of

SMALLEST_SIDE = 16

log = logging.getLogger(__name__)

DESCRIPTION = "Render a scene to files, without a display. Every run gives the same bits."
EPILOG = """
examples:
  thalweg render --frames 150 --fps 30 --out clip.mp4
  thalweg render noise --size 256 --frames 1 --out noise.png
  thalweg render world.npz --recorded --seconds 60 --fps 60 --out film.mp4
  thalweg render ridged --orbit 90 --out clip.mp4 --out last.png --out 'frames/frame_%04d.png'
  thalweg render canyon --frames 1 --width 16384 --out poster.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    add_scene_options(parser)
    add_comparison(parser)
    parser.add_argument(
        "--frames", type=whole_number(1, 1_000_000), default=DEFAULT_FRAMES, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--fps", type=whole_number(1, 240), default=30, metavar="N", help="frames per second; default: 30"
    )
    parser.add_argument(
        "--cycles-per-frame",
        type=whole_number(0, 100_000),
        metavar="K",
        help="cycles simulated between two frames; default: the scene's own pace, or 2",
    )
    side = whole_number(SMALLEST_SIDE, 16_384)
    parser.add_argument("--width", type=side, metavar="W", help=f"default: {PICTURE_SIZE[0]} pixels, or 16:9 for H")
    parser.add_argument("--height", type=side, metavar="H", help=f"default: {PICTURE_SIZE[1]} pixels, or 16:9 for W")
    parser.add_argument(
        "--orbit",
        type=finite_number,
        metavar="DEGREES",
        help="the camera turns by this angle around the land over the clip, 0: stands still, instead of following the "
        "scene's path; so does `--set camera…`",
    )
    parser.add_argument("--minimap", action="store_true", help="also draw the minimap")
    parser.add_argument("--grid", action="store_true", help="compared worlds in rows of two, instead of side by side")
    recorded = parser.add_argument_group("a run that was steered in the window")
    recorded.add_argument(
        "--recorded",
        action="store_true",
        help="draw the run that led to a saved world, with its camera, from its journal (a journal in TOML always is)",
    )
    recorded.add_argument(
        "--seconds",
        type=positive_number(MOST_SECONDS),
        metavar="S",
        help="length of the film; default: as it took, without the pauses",
    )
    recorded.add_argument(
        "--supersample",
        type=whole_number(1, 4),
        default=1,
        metavar="N",
        help="N × N samples for each pixel; default: 1",
    )
    parser.add_argument(
        "--out",
        type=file_path,
        action="append",
        metavar="FILE",
        help="a clip (.mp4; .mov for editing; .gif or .webp for short loops), the last frame (.png; .exr with depth, "
        "normals and materials) or every frame (frame_%%04d.png); can be repeated; default: thalweg.mp4",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    from app.engine.creation import read_size

    width, height = _picture_size(options.width, options.height)
    if options.recorded or (options.source is not None and _is_journal(options.source)):
        _render_recorded(options, (width, height))
        return
    scenes = scenes_of(options)
    if options.orbit is not None or _own_view(options):
        scenes[0] = scenes[0].with_values({"view.camera_path": ""})
    if options.size is not None and all(read_size(options.size, "--size")) and not (options.width or options.height):
        hint = "--size %s is that of the map in cells; the picture has %d×%d pixels (--width, --height)"
        log.info(hint, options.size, width, height)
    from app.cli.render import render

    render(
        scenes,
        options.out or [Path("thalweg.mp4")],
        frames=options.frames,
        fps=options.fps,
        cycles_per_frame=options.cycles_per_frame,
        size=(width, height),
        orbit=options.orbit or 0.0,
        minimap=options.minimap,
        in_grid=options.grid,
        threads=options.threads,
    )


def _own_view(options: argparse.Namespace) -> bool:
    """Whether the options place the camera and give it no path."""
    paths = [setting.partition("=")[0].strip() for setting in options.set]
    return any(path.startswith("camera.") for path in paths) and "view.camera_path" not in paths


def _is_journal(source: str) -> bool:
    from app.files.opening import is_journal

    return is_journal(Path(source))


def _render_recorded(options: argparse.Namespace, size: tuple[int, int]) -> None:
    from app.cli.film import render_recorded

    render_recorded(
        journal_of(options),
        options.out or [Path("thalweg.mp4")],
        fps=options.fps,
        size=size,
        seconds=options.seconds,
        supersampling=options.supersample,
        minimap=options.minimap,
        threads=options.threads,
    )


def _picture_size(width: int | None, height: int | None) -> tuple[int, int]:
    """Width and height of pictures. A missing one follows from the other, and is even, as clips need."""
    across, up = PICTURE_SIZE
    if width is None:
        width = across if height is None else 2 * round(height * across / up / 2)
    if height is None:
        height = 2 * round(width * up / across / 2)
    return max(width, SMALLEST_SIDE), max(height, SMALLEST_SIDE)

"""`thalweg`: the window."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.arguments import PROGRAM
from app.cli.scenes import add_comparison, add_scene_options, compared_scenes, opened_scene, scenes_of, wanted_cells
from app.cli.signals import first_signal_raises
from app.cli.table import COMMANDS, find_command
from app.cli.terminal import check_display, in_columns
from app.model.errors import UserError

if TYPE_CHECKING:
    from app.scene.scene import Scene

_COMMANDS = "\n".join(f"  {name:<12} {row.summary}" for name, row in COMMANDS.items())

DESCRIPTION = "Open the viewer on a landscape that evolves while you watch."
EPILOG = f"""
commands, as the first word (thalweg COMMAND --help for details):
{_COMMANDS}

examples:
  thalweg
  thalweg ridged --size 1024 --seed 7
  thalweg my-heightmap.tif --set droplets.count=4000
  thalweg world.npz
  thalweg basic --compare coupled
  thalweg noise --compare climate.precipitation=0
  thalweg basic --compare coupled --compare coupled-with-trees
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    add_scene_options(parser)
    add_comparison(parser)
    parser.add_argument(
        "--version", action="store_true", help="print the version, with --debug all that a bug report needs, and exit"
    )
    parser.add_argument("--list-parameters", action="store_true", help="list what --set can change, and exit")
    parser.add_argument("--list-presets", action="store_true", help="list the presets, and exit")


def run(options: argparse.Namespace) -> None:
    """Run the command with these options."""
    if options.version:
        print(_about() if options.debug else f"thalweg {_version()}")
        return
    if options.list_parameters:
        print(_parameter_list())
        return
    if options.list_presets:
        print(_preset_list())
        return
    if options.source in COMMANDS:
        raise UserError(f"{options.source}: commands come first; a file of that name is ./{options.source}")
    is_opened_beside = _opens_in_window(options)
    from app.scene.scene import DEFAULT_PRESET, load_preset

    if is_opened_beside:  # check the options now, on the scene that the window shows until the model is read
        others = argparse.Namespace(**{**vars(options), **dict.fromkeys(("source", "part", "size", "extent"))})
        scene = load_preset(DEFAULT_PRESET)
        _shown(scene, others)
        scenes = [scene]
    else:
        scenes = _shown(opened_scene(options), options)
    check_display()
    from app.files.atomic import working_folder

    os.chdir(working_folder())  # libraries of the window need an existing working folder
    from app.files.library import Library
    from app.files.opening import is_file
    from app.window import loop
    from app.window.part_choice import Asked

    asked_about = None
    if is_opened_beside:
        asked_about = Asked(Path(options.source), options.part, wanted_cells(options), partial(_shown, options=options))
    elif options.source and is_file(options.source):
        Library.of_user().note(Path(options.source))
    with first_signal_raises():
        loop.run(*scenes, keep_session=True, welcome=not options.source, asked_about=asked_about)


def viewer_scenes(words: Sequence[str]) -> list[Scene]:
    """The scenes that `thalweg` opens with these words."""
    _, parser = find_command()
    return scenes_of(parser.parse_args(words))


def _shown(scene: Scene, options: argparse.Namespace) -> list[Scene]:
    """The scenes that the window shows for an opened scene."""
    scenes = compared_scenes(scene, options)
    if options.threads is not None:
        scenes = [scene.with_value("simulation.threads", options.threads) for scene in scenes]
    return scenes


def _opens_in_window(options: argparse.Namespace) -> bool:
    """Whether the window opens first and then what is to be shown: a folder of tiles, or a model that is larger than
    a map may be and of which nothing says what is meant. Raises `UserError` for a folder without tiles."""
    from app.files.opening import is_file
    from app.model.world import LARGEST_SIDE

    if not options.source or not is_file(options.source):
        return False
    from app.sources.heightmap.reading import open_model, tiles_of
    from app.sources.heightmap.zarr_model import is_zarr

    path = Path(options.source)
    if path.is_dir() and not is_zarr(path):
        return bool(tiles_of(path))
    if options.part is not None or wanted_cells(options):
        return False
    model = open_model(path)
    return model is not None and max(model.rows, model.columns) > LARGEST_SIDE


def _parameter_list() -> str:
    from app.scene.scene import DECLARATIONS, range_text

    rows = [("parameter", "default", "range", "meaning")]
    for path, declaration in DECLARATIONS.items():
        default = str(declaration.default).lower() if declaration.kind is bool else f"{declaration.default}"
        span = "true or false" if declaration.kind is bool else range_text(declaration)
        rows.append((path, default, " ".join(declaration.choices) or span, declaration.help))
    return in_columns(rows)


def _preset_list() -> str:
    from app.scene.scene import load_preset, presets

    return in_columns([(name, load_preset(name).description) for name in presets()])


def _about() -> str:
    from app.cli.about import gl_lines, report

    def window_gl() -> Iterator[tuple[str, str]]:
        try:
            check_display()
            from app.window.window import hidden_context

            with hidden_context() as context:
                yield from gl_lines(context, "in a window")
        except UserError as error:
            yield "OpenGL in a window", f"none: {error}"

    return report(_version(), window_gl())


def _version() -> str:
    try:
        return metadata.version(PROGRAM)
    except metadata.PackageNotFoundError:
        return "(not installed)"

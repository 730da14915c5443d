"""The command line: `thalweg` opens the viewer; `render`, `simulate`, `analyze` and `bench` do without one.

Heavy imports are deferred: help comes at once, and `simulate` never loads OpenGL.
"""

from __future__ import annotations

import argparse
import errno
import logging
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from app.cli.signals import Ended, ended_by_signals, kept_on_the_way_out
from app.cli.terminal import no_more_output, take_any_letter, tell_of_crashes
from app.model.errors import UserError, explained, nearest

if TYPE_CHECKING:
    from app.export.wishes import Wish
    from app.files.journal import Journal
    from app.scene.scene import Scene

log = logging.getLogger(__name__)

PROGRAM = "thalweg"

PICTURE_SIZE = 1280, 720  # pixels
SMALLEST_SIDE = 16
DEFAULT_FRAMES = 150  # of a clip
MOST_SECONDS = 100_000.0  # of a clip
MOST_HOURS = 10_000.0
WIDEST_COLUMN = 32  # letters, in lists

FAILED = 1
INTERRUPTED = 130  # what shells report after Ctrl-C
CLOSED = 141  # and where the output is closed


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit status."""
    take_any_letter()
    tell_of_crashes()
    try:
        try:
            return _run(arguments)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where a failure can still be reported
    except BrokenPipeError:  # as `head` does
        no_more_output()
        return CLOSED
    except OSError as error:
        if not _is_of_output(error):
            raise
        print(f"{PROGRAM}: cannot write the output: {error.strerror or error}", file=sys.stderr)
        no_more_output()
        return FAILED


def _run(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["compile-kernels"]:  # a worker, started by `app.engine.compiling`
        from app.engine.compiling import work

        work()
    if words[:1] == ["export-worker"]:  # another one, started by `app.window.exporting`
        from app.cli.export_worker import work as export

        export(Path(words[1]))
        return 0
    # Only the first word can be a command, so a file that has a command's name is reached as ./render.
    run, parser = COMMANDS[words.pop(0)]() if words and words[0] in COMMANDS else _viewer()
    options = parser.parse_args(_with_western_parts(words))
    _set_up_log(options.debug)
    try:
        with ended_by_signals():
            run(options)
    except KeyboardInterrupt as end:
        print(f"\n{parser.prog}: {str(end) or 'interrupted; nothing half-written was left'}", file=sys.stderr)
        return end.status if isinstance(end, Ended) else INTERRUPTED
    except Exception as error:
        if options.debug or _is_of_output(error):
            raise
        print(f"{PROGRAM}: {_message(error)}", file=sys.stderr)
        return FAILED
    return 0


def _with_western_parts(words: Sequence[str]) -> list[str]:
    """The words, where coordinates below 0 after --part are not taken for another option."""
    joined: list[str] = []
    for word in words:
        if joined[-1:] == ["--part"] and re.match(r"-[\d.]", word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _is_of_output(error: Exception) -> bool:
    """Whether it is what is printed that cannot be written: a file would have its name in the error."""
    full = (errno.EPIPE, errno.ENOSPC, errno.EIO)
    return isinstance(error, OSError) and error.filename is None and error.errno in full


def _message(error: Exception) -> str:
    if isinstance(error, UserError | MemoryError):
        return explained(error)
    return f"internal error: {explained(error)} (--debug shows where)"


def _set_up_log(debug: bool) -> None:
    form = "%(name)s: %(message)s" if debug else f"{PROGRAM}: %(message)s"
    logging.basicConfig(format=form)
    logging.getLogger("app").setLevel(logging.DEBUG if debug else logging.INFO)


# The commands: each makes its parser, and names the function that does the work.

Command = tuple[Callable[[argparse.Namespace], None], argparse.ArgumentParser]


def _viewer() -> Command:
    parser = _parser(
        "",
        "Open the viewer on a landscape that evolves while you watch.",
        f"""
commands, as the first word ({PROGRAM} COMMAND --help for details):
  render       render a clip or a picture to a file, without a display
  simulate     run cycles and save the world, without a picture
  replay       run again all that was done to a saved world
  compare      run worlds on the same land, and print figures of each
  demo         a tour of the presets, in the window or as a film
  sheet        draw what becomes of one land in several ways, side by side
  analyze      find the rivers, lakes and watersheds of a heightmap
  export       write the land in formats of other programs
  sweep        run many worlds, on all cores or a cluster, into one set
  bench        benchmark this machine
  soak         stress-test the window with random actions

examples:
  {PROGRAM}
  {PROGRAM} ridged --size 1024 --seed 7
  {PROGRAM} my-heightmap.tif --set droplets.count=4000
  {PROGRAM} world.npz
  {PROGRAM} basic --compare coupled
  {PROGRAM} noise --compare climate.precipitation=0
  {PROGRAM} basic --compare coupled --compare coupled-with-trees
""",
    )
    _add_scene_options(parser)
    _add_comparison(parser)
    parser.add_argument(
        "--version", action="store_true", help="print the version, with --debug all that a bug report needs, and exit"
    )
    parser.add_argument("--list-parameters", action="store_true", help="list what --set can change, and exit")
    parser.add_argument("--list-presets", action="store_true", help="list the presets, and exit")
    return _run_viewer, parser


def _render() -> Command:
    parser = _parser(
        "render",
        "Render a scene to files, without a display. Every run gives the same bits.",
        f"""
examples:
  {PROGRAM} render --frames 150 --fps 30 --out clip.mp4
  {PROGRAM} render noise --size 256 --frames 1 --out noise.png
  {PROGRAM} render world.npz --recorded --seconds 60 --fps 60 --out film.mp4
  {PROGRAM} render ridged --orbit 90 --out clip.mp4 --out last.png --out 'frames/frame_%04d.png'
  {PROGRAM} render canyon --frames 1 --width 16384 --out poster.png
""",
    )
    _add_scene_options(parser)
    _add_comparison(parser)
    parser.add_argument(
        "--frames", type=_whole(1, 1_000_000), default=DEFAULT_FRAMES, metavar="N", help="default: %(default)s"
    )
    parser.add_argument("--fps", type=_whole(1, 240), default=30, metavar="N", help="frames per second; default: 30")
    parser.add_argument(
        "--cycles-per-frame",
        type=_whole(0, 100_000),
        metavar="K",
        help="cycles simulated between two frames; default: the scene's own pace, or 2",
    )
    side = _whole(SMALLEST_SIDE, 16_384)
    parser.add_argument("--width", type=side, metavar="W", help=f"default: {PICTURE_SIZE[0]} pixels, or 16:9 for H")
    parser.add_argument("--height", type=side, metavar="H", help=f"default: {PICTURE_SIZE[1]} pixels, or 16:9 for W")
    parser.add_argument(
        "--orbit",
        type=_finite,
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
        type=_positive(MOST_SECONDS),
        metavar="S",
        help="length of the film; default: as it took, without the pauses",
    )
    recorded.add_argument(
        "--supersample", type=_whole(1, 4), default=1, metavar="N", help="N × N samples for each pixel; default: 1"
    )
    parser.add_argument(
        "--out",
        type=_path,
        action="append",
        metavar="FILE",
        help="a clip (.mp4; .mov for editing; .gif or .webp for short loops), the last frame (.png; .exr with depth, "
        f"normals and materials) or every frame (frame_%%04d.png); can be repeated; default: {PROGRAM}.mp4",
    )
    return _run_render, parser


def _simulate() -> Command:
    parser = _parser(
        "simulate",
        "Run cycles of a simulation and save the world, from which every command can continue.",
        f"""
examples:
  {PROGRAM} simulate --cycles 1000 --out world.npz
  {PROGRAM} simulate world.npz --cycles 1000 --out world.npz
  {PROGRAM} world.npz
""",
    )
    _add_scene_options(parser)
    parser.add_argument("--cycles", type=_whole(0, 10**9), default=1000, metavar="N", help="default: %(default)s")
    parser.add_argument("--out", type=_path, default=Path("world.npz"), metavar="FILE", help="default: %(default)s")
    parser.add_argument("--overwrite", action="store_true", help="replace another world saved under that name")
    parser.add_argument(
        "--save-every",
        type=_whole(1, 10**9),
        metavar="N",
        help="also save every N cycles; at the end and on Ctrl+C the world is saved in any case",
    )
    return _run_simulate, parser


def _replay() -> Command:
    parser = _parser(
        "replay",
        "Run a journal again: all that was done to a saved world, after the same cycles. Without further options the "
        "world is the same to the bit; with another seed, size or parameter it is the same story on another land.",
        f"""
examples:
  {PROGRAM} replay world.npz --out again.npz
  {PROGRAM} replay world.npz --out story.toml
  {PROGRAM} replay story.toml --seed 7 --size 512 --out elsewhere.npz
""",
    )
    _add_scene_options(parser, "none: a saved world, or the journal of one (.toml)")
    parser.add_argument("--cycles", type=_whole(0, 10**9), metavar="N", help="default: up to the end of the journal")
    parser.add_argument(
        "--out", type=_path, default=Path("replayed.npz"), metavar="FILE",
        help="a world (.npz), or the journal alone (.toml); default: %(default)s",
    )  # fmt: skip
    parser.add_argument("--overwrite", action="store_true", help="replace another world saved under that name")
    return _run_replay, parser


def _demo() -> Command:
    parser = _parser(
        "demo",
        "A tour of the presets, each with its name and the camera on its path: in the window, or as a film.",
        f"""
examples:
  {PROGRAM} demo
  {PROGRAM} demo --out tour.mp4
  {PROGRAM} demo canyon delta dune-field --seconds 30 --out short.mp4
""",
    )
    parser.add_argument(
        "presets", nargs="*", metavar="PRESET", help="stops of the tour; default: all but the articles'"
    )
    parser.add_argument(
        "--seconds", type=_positive(MOST_SECONDS), default=120.0, metavar="S", help="of all; default: %(default)g"
    )
    parser.add_argument(
        "--out", type=_path, action="append", metavar="FILE", help="draw it into a file, as `render` does"
    )
    parser.add_argument("--fps", type=_whole(1, 240), default=30, metavar="N", help="frames per second; default: 30")
    parser.add_argument("--width", type=_whole(16, 8192), metavar="W", help=f"default: {PICTURE_SIZE[0]} pixels")
    parser.add_argument("--height", type=_whole(16, 8192), metavar="H", help=f"default: {PICTURE_SIZE[1]} pixels")
    parser.add_argument("--threads", type=_whole(1, 256), metavar="N", help="threads of the simulation")
    return _run_demo, parser


def _sheet() -> Command:
    parser = _parser(
        "sheet",
        "Draw what becomes of one land in several ways, side by side, without a display: a picture of each of a "
        "sheet's variations, or a clip of all of them.",
        f"""
examples:
  {PROGRAM} sheet --list
  {PROGRAM} sheet wind --out wind.png
  {PROGRAM} sheet wind --size 128 --out wind.mp4
  {PROGRAM} sheet snowballs island --seed 4
  {PROGRAM} sheet my-sheet.toml --out sheet.png --out 'frames/sheet_%04d.png'
""",
    )
    parser.add_argument("sheet", nargs="?", metavar="SHEET", help="one that ships with the program, or a file (.toml)")
    _add_scene_options(parser, "what the sheet says")
    parser.add_argument("--list", action="store_true", help="list the sheets that ship with the program, and exit")
    frames = _whole(1, 1_000_000)
    parser.add_argument(
        "--frames",
        type=frames,
        metavar="N",
        help="from the beginning of all worlds to their end; default: 150 in a clip, else the end alone",
    )
    parser.add_argument("--fps", type=_whole(1, 240), default=30, metavar="N", help="frames per second; default: 30")
    whole = _whole(16, 4096)
    parser.add_argument("--width", type=whole, metavar="W", help="of each picture; default: what the sheet says")
    parser.add_argument("--height", type=whole, metavar="H", help="likewise")
    parser.add_argument(
        "--out",
        type=_path,
        action="append",
        metavar="FILE",
        help="a picture (.png), a clip (.mp4, .mov, .gif, .webp) or every frame (frame_%%04d.png); can be repeated; "
        "default: sheet.png",
    )
    return _run_sheet, parser


def _analyze() -> Command:
    parser = _parser(
        "analyze",
        "Find the rivers, lakes and watersheds of a land, and write them as TIFF maps with the file's georeference, as "
        "PNG previews, and as lists of lakes, watersheds and river mouths in JSON; or measure how far it is like real "
        "terrain.",
        f"""
examples:
  {PROGRAM} analyze elevation.tif --out maps
  {PROGRAM} analyze island.png --relief 400 --cell-size 10 --sea-level 60 --out maps
  {PROGRAM} analyze world.npz --river 2000 --watershed 10000 --out maps
  {PROGRAM} analyze world.npz --precipitation 1600 --rain-by-altitude 0.5 --out maps
  {PROGRAM} analyze --realism elevation.tif
  {PROGRAM} analyze --realism noise --cycles 200 --json realism.json
""",
    )
    parser.add_argument(
        "file",
        type=_path,
        metavar="FILE",
        help="a heightmap, such as a GeoTIFF, a saved world, or a preset, of which it is the land at the start",
    )
    result = parser.add_mutually_exclusive_group(required=True)
    result.add_argument("--out", type=_path, metavar="DIR", help="folder for the maps; created if needed")
    result.add_argument(
        "--realism", action="store_true", help="print measures of the land's form, beside the ranges of real terrain"
    )
    parser.add_argument("--json", type=_path, metavar="FILE", help="with --realism: also write the measures to a file")
    parser.add_argument(
        "--cycles",
        type=_whole(0, 10**9),
        metavar="N",
        help="with --realism: run a preset or a saved world first; default: 0",
    )
    parser.add_argument(
        "--sea-level",
        type=_finite,
        metavar="METRES",
        help="land below it that is connected to the map's edge is ocean; default: that of the world, if it has a sea",
    )
    parser.add_argument(
        "--edges",
        choices=("open", "closed"),
        help="open: water leaves over the map's edges too; closed: only into the ocean, where there is one; default: "
        "as in the world, and open for a heightmap",
    )
    parser.add_argument(
        "--precipitation",
        metavar="MM",
        help="rain in a year, of which the discharge is; default: climate.precipitation of the world, or 800",
    )
    parser.add_argument(
        "--rain-by-altitude",
        metavar="FRACTION",
        help="part that increases with altitude, from 0 to 1; default: climate.rain_by_altitude of the world, or 0",
    )
    parser.add_argument(
        "--rain-map",
        type=_path,
        metavar="FILE",
        help="picture of where it falls: all of it where lightest, none where darkest; default: that of the world",
    )
    cells = _whole(1, 2**31 - 1)
    parser.add_argument(
        "--river",
        type=cells,
        metavar="CELLS",
        help="contributing area at which a river begins; default: 1/2000 of the land, with --realism 1/4000",
    )
    parser.add_argument(
        "--watershed", type=cells, metavar="CELLS", help="smaller watersheds are merged; default: 1/500 of the land"
    )
    parser.add_argument(
        "--cell-size", type=_metres("world.cell_size"), metavar="METRES", help="side of a cell, overriding the file"
    )
    parser.add_argument(
        "--relief", type=_metres("world.relief"), metavar="METRES", help="height from the lowest to the highest point"
    )
    parser.add_argument(
        "--part",
        default="",
        metavar="PART",
        help="of a heightmap or a folder of tiles: columns x rows + column + row, or west,south,east,north",
    )
    return _run_analyze, parser


def _bench() -> Command:
    from app.bench import GROUPS

    groups = "\n".join(f"  {name:<12} {what}" for name, what in GROUPS.items())
    parser = _parser(
        "bench",
        "Benchmark this machine. Times are in yards: one yard is the time of a step of a plain droplet kernel.",
        f"""
groups:
{groups}

examples:
  {PROGRAM} bench
  {PROGRAM} bench droplets --json droplets.json
  {PROGRAM} bench droplets --against droplets.json
""",
    )
    parser.add_argument("group", nargs="?", metavar="GROUP", help="what to measure; default: all")
    parser.add_argument(
        "--json", type=_path, metavar="FILE", help="keep the rows in a file, in the place of those that it has of them"
    )
    parser.add_argument(
        "--against", type=_path, metavar="FILE", help="tell what is worse by more than a tenth than in such a file"
    )
    return _run_bench, parser


def _soak() -> Command:
    parser = _parser(
        "soak",
        "Stress-test the window: run presets in turn and apply random actions (keys, changes, comparisons, camera, "
        "window sizes, saving and opening). Reports errors, frames, cycles and memory at the end.",
        f"""
examples:
  {PROGRAM} soak --hours 8
  {PROGRAM} soak noise lakes --hours 0.1 --seed 4
""",
    )
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="presets to run; default: all")
    parser.add_argument("--hours", type=_positive(MOST_HOURS), default=1.0, metavar="H", help="default: %(default)g")
    parser.add_argument(
        "--seed",
        type=_whole(0, 2**31 - 1),
        metavar="N",
        help="random seed of the actions; default: a new one each time",
    )
    parser.add_argument(
        "--record",
        type=_path,
        default=Path("soak.jsonl"),
        metavar="FILE",
        help="log of all actions, each written before it is performed; default: %(default)s",
    )
    return _run_soak, parser


def _compare() -> Command:
    parser = _parser(
        "compare",
        "Run worlds of the same land with different processes, and print what becomes of each: its channels, what was "
        "worn and put down, its water.",
        f"""
examples:
  {PROGRAM} compare basic --with coupled --with coupled-with-trees --cycles 600
  {PROGRAM} compare noise --with climate.precipitation=400 --with climate.precipitation=1600 droplets.friction=0.1
""",
    )
    _add_scene_options(parser)
    _add_comparison(parser, "--with")
    parser.add_argument("--cycles", type=_whole(1, 10**9), default=400, metavar="N", help="default: %(default)s")
    return _run_compare, parser


def _export() -> Command:
    from app.export.wishes import WISHES

    parser = _parser(
        "export",
        "Write the land of a preset, a saved world or a heightmap in formats of other programs.",
        f"""
examples:
  {PROGRAM} export world.npz --out land.tif
  {PROGRAM} export world.npz --out land.r16 --side unreal
  {PROGRAM} export canyon --cycles 400 --out folder --heights tif,png,exr --surface ground,water
  {PROGRAM} export coupled-with-trees --cycles 400 --out folder --maps all --map-format png --trees csv
  {PROGRAM} export world.npz --out land.glb --triangles 50000
  {PROGRAM} export volcano --cycles 200 --out folder --meshes stl --print-width 120
  {PROGRAM} export world.npz --out contours.pdf --pictures contours --paper a3
  {PROGRAM} export world.npz --out maps.exr --maps water_depth,flow,splat
""",
    )
    _add_scene_options(parser)
    parser.add_argument("--cycles", type=_whole(0, 10**9), default=0, metavar="N", help="run it first; default: 0")
    parser.add_argument(
        "--out",
        type=_path,
        required=True,
        metavar="PATH",
        help="a folder for all files, made if needed, or one file, whose suffix says what it holds",
    )
    groups = {wish.group: parser.add_argument_group(wish.group) for wish in WISHES}
    for wish in WISHES:
        groups[wish.group].add_argument(
            wish.option,
            dest=wish.path,
            type=_wish_reader(wish),
            default=wish.default,
            metavar="NAMES" if wish.several else "NAME" if isinstance(wish.default, str) else "N",
            help=_wish_help(wish),
        )
    return _run_export, parser


def _wish_reader(wish: Wish) -> Callable[[str], Any]:
    """What makes a value of a word."""
    if wish.several:
        return _names
    if isinstance(wish.default, int):
        return _whole(int(max(wish.low, 0)), int(min(wish.high, 10**9)))
    return _finite if isinstance(wish.default, float) else str


def _wish_help(wish: Wish) -> str:
    """What it is, what it can be, and what it is where nothing is said."""
    known = "; ".join(f"{name}: {help}" for name, help in (wish.known or {}).items())
    default = ",".join(wish.default) if wish.several else wish.default
    words = wish.help + (f" in {wish.unit}" if wish.unit else "") + (", with commas" if wish.several else "")
    return f"{words}{f': {known}' if known else ''}{f'; default: {default}' if default else ''}".replace("%", "%%")


def _sweep() -> Command:
    parser = _parser(
        "sweep",
        "Run the worlds of a recipe, on all cores or a Dask cluster, into one Zarr store with a table and a contact "
        "sheet. What is there already is kept, and only what is missing is run.",
        f"""
examples:
  {PROGRAM} sweep recipe.toml --out set.zarr
  {PROGRAM} sweep recipe.toml --out set.zarr --table set.parquet --workers 4
  {PROGRAM} sweep recipe.toml --out set.zarr --scheduler tcp://head:8786

a recipe that draws 200 worlds at random, spread evenly over their parameters:
  sources = ["noise", "ridged"]
  size = "256"
  cycles = 300
  draws = {{ count = 100, seed = 7 }}

  [vary.world]
  seed = {{ from = 0, to = 1000000 }}

  [vary.climate]
  precipitation = {{ from = 200.0, to = 3000.0, log = true }}
""",
    )
    parser.add_argument("recipe", type=_path, metavar="RECIPE", help="which worlds, and what is kept of them (.toml)")
    parser.add_argument("--out", type=_path, required=True, metavar="SET", help="a Zarr store (.zarr)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", default="", metavar="ADDRESS", help="of a Dask cluster that runs them")
    where.add_argument(
        "--workers", type=_whole(1, 1024), metavar="N", help="processes on this machine; default: one per core"
    )
    parser.add_argument("--table", type=_path, metavar="FILE", help=".csv or .parquet; default: SET.csv")
    parser.add_argument("--sheet", type=_path, metavar="FILE", help="contact sheet (.png); default: SET.png")
    return _run_sweep, parser


COMMANDS: dict[str, Callable[[], Command]] = {
    "compare": _compare,
    "render": _render,
    "simulate": _simulate,
    "replay": _replay,
    "demo": _demo,
    "sheet": _sheet,
    "analyze": _analyze,
    "export": _export,
    "sweep": _sweep,
    "bench": _bench,
    "soak": _soak,
}


def viewer_scenes(words: Sequence[str]) -> list[Scene]:
    """What `thalweg` with these words opens."""
    _, parser = _viewer()
    return _scenes(parser.parse_args(words))


def _run_viewer(options: argparse.Namespace) -> None:
    if options.version:
        print(_about() if options.debug else f"{PROGRAM} {_version()}")
        return
    if options.list_parameters:
        print(_parameter_list())
        return
    if options.list_presets:
        print(_preset_list())
        return
    if options.source in COMMANDS:
        raise UserError(f"{options.source}: commands come first; a file of that name is ./{options.source}")
    is_opened_beside = _is_opened_beside(options)
    from app.scene.scene import DEFAULT_PRESET, load_preset

    if is_opened_beside:  # what the options say is checked now, on what the window shows until the model is there
        others = argparse.Namespace(**{**vars(options), **dict.fromkeys(("source", "part", "size", "extent"))})
        scene = load_preset(DEFAULT_PRESET)
        _shown(scene, others)
        scenes = [scene]
    else:
        scenes = _shown(_opened(options), options)
    _check_display()
    from app.files.atomic import working_folder

    os.chdir(working_folder())  # where it has been deleted, libraries of the window do not even load
    from app.files.library import Library
    from app.files.opening import is_file
    from app.window.loop import run
    from app.window.part_choice import Asked

    asked_about = None
    if is_opened_beside:
        asked_about = Asked(Path(options.source), options.part, _wanted(options), partial(_shown, options=options))
    elif options.source and is_file(options.source):
        Library.of_user().note(Path(options.source))
    with kept_on_the_way_out():
        run(*scenes, keep_session=True, welcome=not options.source, asked_about=asked_about)


def _shown(scene: Scene, options: argparse.Namespace) -> list[Scene]:
    """What the window shows of a scene that was opened."""
    scenes = _compared(scene, options)
    if options.threads is not None:
        scenes = [scene.with_value("simulation.threads", options.threads) for scene in scenes]
    return scenes


def _is_opened_beside(options: argparse.Namespace) -> bool:
    """Whether the window opens first and then what is to be shown: a folder of tiles, or a model that is larger than
    a map may be and of which nothing says what is meant. Raises `UserError` for a folder without tiles."""
    from app.files.opening import is_file
    from app.model.world import LARGEST_SIDE

    if not options.source or not is_file(options.source):
        return False
    from app.sources.heightmap.reading import open_model, tiles_of

    path = Path(options.source)
    if path.is_dir():
        return bool(tiles_of(path))
    if options.part is not None or _wanted(options):
        return False
    model = open_model(path)
    return model is not None and max(model.rows, model.columns) > LARGEST_SIDE


def _about() -> str:
    from app.cli.about import gl_lines, report

    def window_gl() -> Iterator[tuple[str, str]]:
        try:
            _check_display()
            from app.window.window import hidden_context

            with hidden_context() as context:
                yield from gl_lines(context, "in a window")
        except UserError as error:
            yield "OpenGL in a window", f"none: {error}"

    return report(_version(), window_gl())


def _check_display() -> None:
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise UserError(
            "there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set); "
            f"`{PROGRAM} render` draws into a file without one"
        )


def _run_render(options: argparse.Namespace) -> None:
    from app.engine.creation import read_size

    width, height = _picture_size(options.width, options.height)
    if options.recorded or (options.source is not None and _is_journal(options.source)):
        _render_recorded(options, (width, height))
        return
    scenes = _scenes(options)
    if options.orbit is not None or _own_view(options):
        scenes[0] = scenes[0].with_values({"view.camera_path": ""})
    if options.size is not None and all(read_size(options.size, "--size")) and not (options.width or options.height):
        hint = "--size %s is that of the map in cells; the picture has %d×%d pixels (--width, --height)"
        log.info(hint, options.size, width, height)
    from app.cli.render import render

    render(
        scenes,
        options.out or [Path(f"{PROGRAM}.mp4")],
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
    """Whether the options say where the camera stands, and no path for it."""
    paths = [setting.partition("=")[0].strip() for setting in options.set]
    return any(path.startswith("camera.") for path in paths) and "view.camera_path" not in paths


def _is_journal(source: str) -> bool:
    from app.files.journal import is_journal

    return is_journal(Path(source))


def _render_recorded(options: argparse.Namespace, size: tuple[int, int]) -> None:
    from app.cli.film import render_recorded

    render_recorded(
        _journal(options),
        options.out or [Path(f"{PROGRAM}.mp4")],
        fps=options.fps,
        size=size,
        seconds=options.seconds,
        supersampling=options.supersample,
        minimap=options.minimap,
        threads=options.threads,
    )


def _journal(options: argparse.Namespace) -> Journal:
    """The journal of the file that the options name, with all that they change in its scenes."""
    from app.cli.replay import changed
    from app.files.journal import read_journal
    from app.sources.terrain import find_terrain

    if options.source is None:
        raise UserError("which file? a saved world has its journal in it")
    return changed(read_journal(find_terrain(options.source)), lambda scene: _changed(scene, options))


def _picture_size(width: int | None, height: int | None) -> tuple[int, int]:
    """Width and height of pictures; where one is not given, it suits the other, and is even, as clips must be."""
    across, up = PICTURE_SIZE
    if width is None:
        width = across if height is None else 2 * round(height * across / up / 2)
    if height is None:
        height = 2 * round(width * up / across / 2)
    return max(width, SMALLEST_SIDE), max(height, SMALLEST_SIDE)


def _run_compare(options: argparse.Namespace) -> None:
    from app.cli.compare import compare

    compare(_scenes(options), cycles=options.cycles, threads=options.threads)


def _run_simulate(options: argparse.Namespace) -> None:
    from app.cli.simulate import simulate

    simulate(
        _scene(options),
        options.out,
        cycles=options.cycles,
        threads=options.threads,
        save_every=options.save_every,
        overwrite=options.overwrite,
    )


def _run_replay(options: argparse.Namespace) -> None:
    from app.cli.replay import replay

    journal = _journal(options)
    replay(journal, options.out, cycles=options.cycles, threads=options.threads, overwrite=options.overwrite)


def _run_demo(options: argparse.Namespace) -> None:
    from app.scene.scene import presets
    from app.scene.tour import stops

    for name in options.presets:
        if name not in presets():
            raise UserError(f"{name}: there is no such preset{nearest(name, presets())}")
    scenes = stops(options.presets)
    if options.out:
        from app.cli.demo import render_tour

        size = options.width or PICTURE_SIZE[0], options.height or PICTURE_SIZE[1]
        render_tour(scenes, options.out, seconds=options.seconds, fps=options.fps, size=size, threads=options.threads)
        return
    _check_display()
    from app.window.loop import run
    from app.window.tour import Tour

    run(scenes[0], after_frame=Tour(scenes, options.seconds / len(scenes)).after_frame)


def _run_sheet(options: argparse.Namespace) -> None:
    from app.cli.sheet_file import open_sheet

    if options.list:
        print(_sheet_list())
        return
    if options.sheet is None:
        raise UserError(f"which sheet? `{PROGRAM} sheet --list` lists those that ship with the program")
    sheet = open_sheet(options.sheet)
    base = _changed(sheet.base(options.source), options)
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


ONLY_WITH_REALISM = ("json", "cycles")
ONLY_WITH_MAPS = ("precipitation", "rain_by_altitude", "rain_map", "watershed")


def _run_analyze(options: argparse.Namespace) -> None:
    without_effect = ONLY_WITH_MAPS if options.realism else ONLY_WITH_REALISM
    for name in without_effect:
        if getattr(options, name) is not None:
            word, other = "--" + name.replace("_", "-"), "--out" if options.realism else "--realism"
            raise UserError(f"{word} is only for {other}")
    if options.realism:
        _run_realism(options)
    else:
        _run_maps(options)


def _run_realism(options: argparse.Namespace) -> None:
    from app.cli.realism import print_realism

    print_realism(
        options.file,
        options.json,
        cycles=options.cycles or 0,
        sea_level=options.sea_level,
        open_edges=None if options.edges is None else options.edges == "open",
        river_cells=options.river,
        cell_size=options.cell_size,
        relief=options.relief,
        part=options.part,
    )


def _run_maps(options: argparse.Namespace) -> None:
    from app.cli.analyze import analyze
    from app.scene.scene import Scene

    asked = {"precipitation": options.precipitation, "rain_by_altitude": options.rain_by_altitude}
    asked = {name: text for name, text in asked.items() if text is not None}
    scene = Scene()
    for name, text in asked.items():
        scene = scene.with_setting(f"climate.{name}={text}")
    analyze(
        options.file,
        options.out,
        sea_level=options.sea_level,
        open_edges=None if options.edges is None else options.edges == "open",
        climate={name: getattr(scene.climate, name) for name in asked},
        rain_map=options.rain_map,
        river_cells=options.river,
        watershed_cells=options.watershed,
        cell_size=options.cell_size,
        relief=options.relief,
        part=options.part,
    )


def _run_export(options: argparse.Namespace) -> None:
    from app.cli.export import export
    from app.export.wishes import WISHES, Wishes

    wishes = Wishes()
    for wish in WISHES:
        wishes = wishes.with_value(wish.path, getattr(options, wish.path))
    export(_scene(options), options.out, wishes, cycles=options.cycles, threads=options.threads)


def _run_sweep(options: argparse.Namespace) -> None:
    from app.sweep.run import sweep

    sweep(
        options.recipe,
        options.out,
        scheduler=options.scheduler,
        workers=options.workers,
        table=options.table,
        sheet=options.sheet,
    )


def _run_bench(options: argparse.Namespace) -> None:
    from app.bench import bench

    bench(options.group, options.json, options.against)


def _run_soak(options: argparse.Namespace) -> None:
    from app.soak import soak

    soak(options.hours, options.presets, seed=options.seed, record=options.record)


# Scenes from options.


def _add_scene_options(parser: argparse.ArgumentParser, default: str = "the preset jacksboro") -> None:
    scene = parser.add_argument_group("scene")
    scene.add_argument(
        "source",
        nargs="?",
        metavar="SOURCE",
        help="a preset, a generator (noise, diamond-square, sand, island, range) or a file (a heightmap, a saved "
        f"world, your own preset), looked up in this order; default: {default}",
    )
    scene.add_argument(
        "--size",
        metavar="SIZE",
        help="map size: cells from west to east, the other side in proportion; or WIDTHxHEIGHT; the land keeps its "
        "extent in metres and its hills, and more cells show more detail",
    )
    scene.add_argument(
        "--extent",
        metavar="METRES",
        help="how far the map reaches: metres from west to east, the other side in proportion; or WIDTHxHEIGHT; its "
        "cells and hills keep their size, so that a wider map has more of them; rivers that have worn it find other "
        "ways, and a range is made anew, as wide",
    )
    scene.add_argument(
        "--part",
        metavar="PART",
        help="of a heightmap or a folder of tiles: 2048x2048+1000+500 (columns x rows + column + row of its cells), or "
        "west,south,east,north in its coordinates",
    )
    scene.add_argument("--seed", metavar="N", help="seed of all random numbers")
    scene.add_argument("--cell-size", metavar="METRES", help="side of a cell")
    scene.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.NAME=VALUE",
        help=f"change a parameter; can be repeated; `{PROGRAM} --list-parameters` lists them",
    )
    scene.add_argument(
        "--threads", type=_whole(1, 256), metavar="N", help="threads of the simulation; default: one per core"
    )


def _add_comparison(parser: argparse.ArgumentParser, option: str = "--compare") -> None:
    parser.add_argument(
        option,
        dest="compare",
        action="append",
        nargs="+",
        default=[],
        metavar="WITH",
        help="show another world beside the first: the same land with climate and processes of a preset or a saved "
        "world, with parameters changed (SECTION.NAME=VALUE), or both; can be repeated, up to four worlds",
    )


def _scenes(options: argparse.Namespace) -> list[Scene]:
    """The scene that the options describe, and those that it is compared with, if any."""
    return _compared(_opened(options), options)


def _compared(scene: Scene, options: argparse.Namespace) -> list[Scene]:
    """The scene with all that the options change in it, and those that it is compared with, if any."""
    from app.files.opening import open_comparison
    from app.scene.comparison import MOST_WORLDS

    scene = _changed(scene, options)
    if len(options.compare) >= MOST_WORLDS:
        raise UserError(f"--compare: {MOST_WORLDS} worlds can be compared, and not {len(options.compare) + 1}")
    return [scene, *(open_comparison(scene, words) for words in options.compare)]


def _scene(options: argparse.Namespace) -> Scene:
    """The scene that the options describe."""
    return _changed(_opened(options), options)


def _opened(options: argparse.Namespace) -> Scene:
    """The scene of what the options name."""
    from app.files.opening import open_scene
    from app.scene.scene import DEFAULT_PRESET

    source = DEFAULT_PRESET if options.source is None else options.source
    return open_scene(source, options.part, _wanted(options))


def _wanted(options: argparse.Namespace) -> int:
    """The cells along the longer side of the land that the options ask for; 0 where they ask for none."""
    from app.engine.creation import cells_wanted, read_size
    from app.scene.scene import read_setting

    wanted = cells_wanted(dict(map(read_setting, options.set)))
    return wanted or (max(read_size(options.size, "--size")) if options.size is not None else 0)


def _changed(scene: Scene, options: argparse.Namespace) -> Scene:
    """The scene with all that the options change in it."""
    from app.scene.scene import DECLARATIONS, rebuilds_world

    for option, setting in _settings(options, scene):
        path = setting.partition("=")[0].strip()
        if scene.saved_world and path in DECLARATIONS and rebuilds_world(path):
            raise UserError(
                f"{option}: {options.source or scene.name} is a saved world, which keeps the terrain, size and seed it "
                "began with"
            )
        scene = scene.with_setting(setting)
    return scene


def _settings(options: argparse.Namespace, scene: Scene) -> list[tuple[str, str]]:
    """What the options change in the scene, each as it was typed and as --set would say it; --set itself comes last."""
    from app.engine.creation import extent_in_metres, read_extent, read_size, size_in_cells
    from app.sources.generators import GENERATORS

    values: dict[str, tuple[str, int | float]] = {}
    parts: list[tuple[str, str]] = []
    if options.part is not None:
        if scene.saved_world or scene.world.source in GENERATORS:
            raise UserError(f"--part {options.part}: only a heightmap or a folder of tiles has parts")
        parts = [(f"--part {options.part}", f"world.part={options.part}")]
        scene = scene.with_value("world.part", options.part)
    if options.extent is not None:
        option = f"--extent {options.extent}"
        extent = read_extent(options.extent, "--extent")
        if options.cell_size is not None:
            scene = scene.with_setting(f"world.cell_size={options.cell_size}")
        try:
            changes = extent_in_metres(scene, *extent)
        except UserError as error:
            raise UserError(f"{option}: {error}") from error
        values |= {path: (option, value) for path, value in changes.items()}
        scene = scene.with_values(changes)
    if options.size is not None:
        changes = size_in_cells(scene, *read_size(options.size, "--size"))
        values |= {path: (f"--size {options.size}", value) for path, value in changes.items()}
    settings = parts + [(option, f"{path}={value!r}") for path, (option, value) in values.items()]
    if options.seed is not None:
        settings += [(f"--seed {options.seed}", f"world.seed={options.seed}")]
    if options.cell_size is not None:
        settings += [(f"--cell-size {options.cell_size}", f"world.cell_size={options.cell_size}")]
    return settings + [(f"--set {setting}", setting) for setting in options.set]


# Lists.


def _parameter_list() -> str:
    from app.scene.scene import DECLARATIONS, range_text

    rows = [("parameter", "default", "range", "meaning")]
    for path, declaration in DECLARATIONS.items():
        default = str(declaration.default).lower() if declaration.kind is bool else f"{declaration.default}"
        span = "true or false" if declaration.kind is bool else range_text(declaration)
        rows.append((path, default, " ".join(declaration.choices) or span, declaration.help))
    return _columns(rows)


def _preset_list() -> str:
    from app.scene.scene import load_preset, presets

    return _columns([(name, load_preset(name).description) for name in presets()])


def _sheet_list() -> str:
    from app.cli.sheet_file import open_sheet, sheets

    return _columns([(name, open_sheet(name).values.title) for name in sheets()])


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    # A cell that is wider than the column pushes what follows in its own row, and pads no other.
    widths = [min(max(len(row[column]) for row in rows), WIDEST_COLUMN) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


# Parsers.


class _OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser(command: str, description: str, epilog: str) -> argparse.ArgumentParser:
    parser = _OneLineParser(
        prog=f"{PROGRAM} {command}".strip(),
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--debug", action="store_true", help="log more, and show the traceback of an error")
    return parser


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (re.fullmatch(r"\s*\d{1,20}\s*", text) and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"{text}: must be a whole number from {low} to {high}")
        return int(text)

    return parse


def _metres(path: str) -> Callable[[str], float]:
    """What reads a length that a parameter may have, and not the 0 by which it leaves that to others."""

    def parse(text: str) -> float:
        from app.scene.scene import DECLARATIONS

        declaration, number = DECLARATIONS[path], _finite(text)
        if not declaration.least <= number <= declaration.high:
            raise argparse.ArgumentTypeError(
                f"{text}: must be from {declaration.least:g} to {declaration.high:g} {declaration.unit}"
            )
        return number

    return parse


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return Path(text)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    if not names:
        raise argparse.ArgumentTypeError("must be names with commas between them")
    return names


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text}: must be a finite number")
    return number


def _positive(most: float = math.inf) -> Callable[[str], float]:
    def parse(text: str) -> float:
        number = _finite(text)
        if not 0.0 < number <= most:
            upper = f", and at most {most:g}" if most < math.inf else ""
            raise argparse.ArgumentTypeError(f"{text}: must be more than 0{upper}")
        return number

    return parse


def _version() -> str:
    try:
        return metadata.version(PROGRAM)
    except metadata.PackageNotFoundError:
        return "(not installed)"

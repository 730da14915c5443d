"""Draw pictures of README, guide and gallery: `python -m tests.making.pictures [NAME ...]`, or `make pictures`.

Those of the gallery are called `gallery/PRESET`, and all of them `gallery`. `views` is a sheet of many views, by
which a change of the picture is judged: build/views.jpg.

Each is drawn beside the old one, which it replaces when it is complete.
"""

from __future__ import annotations

import itertools
import shlex
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.cli import main as cli
from app.cli.commands.viewer import viewer_scenes
from app.files import card_pictures
from app.files.atomic import write_atomically
from app.model.errors import UserError, nearest
from app.scene.edits import Stroke
from app.scene.families import FOLDER as GALLERY
from app.scene.families import SUFFIX as GALLERY_SUFFIX
from app.scene.families import picture_words
from app.scene.scene import presets
from app.window.actions import BY_NAME
from tests.making.views import side_by_side, views

if TYPE_CHECKING:
    from PIL.Image import Image

    from app.window.viewer import Viewer
    from app.window.window import Window

TABLE = "pictures.toml"
VIEWS, VIEWS_FILE = "views", Path("build/views.jpg")
JPEG_QUALITY = 88  # from 0 to 100
LOOP_QUALITY = 60  # of an animated WebP
LOOP_FPS = 10
FRAMES = 120  # of a window, after which its picture is whole


class ReadmePicture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a picture shows: what a command draws, once or as a loop, or a window with its panel."""

    draw: str = ""  # the words of a command without its --out
    loop: str = ""  # those of one that makes a clip, without its --out and --fps
    window: str = ""  # those of `thalweg` itself
    cycles: int = 0  # that run in the window
    size: tuple[int, int] = (1280, 800)  # of the window, in pixels
    place: tuple[int, int] | None = None  # row and column of the cell that is clicked on
    section: str = ""  # of the panel that is unfolded; as they are at first, where none is named
    gallery: bool = False  # whether it is open
    strokes: tuple[Stroke, ...] = ()  # that are drawn before the cycles
    tool: str = ""  # the brush that is held, and where its pointer is, in logical units
    pointer: tuple[float, float] = (0.0, 0.0)

    @property
    def suffix(self) -> str:
        """Of its file."""
        return ".webp" if self.loop else ".jpg"


def readme_pictures() -> dict[str, ReadmePicture]:
    """The table of pictures, by the names of their files without what they end with."""
    text = (files("assets") / "pictures" / TABLE).read_bytes()
    return msgspec.toml.decode(text, type=dict[str, ReadmePicture])


def draw_pictures(names: Sequence[str]) -> None:
    """Draw the pictures of these names, or all. Raises `UserError` where one is unknown or cannot be drawn."""
    import PIL.Image

    table = readme_pictures()
    cards = [f"{GALLERY}/{preset}" for preset in presets()]
    for name in names:
        if name not in (GALLERY, VIEWS, *table, *cards):
            raise UserError(f"{name}: there is no such picture in {TABLE}{nearest(name, [*table, *cards])}")
    with as_file(files("assets")) as assets:
        for name in names or (*table, GALLERY, VIEWS):
            for each in cards if name == GALLERY else (name,):
                print(each, flush=True)
                if each == VIEWS:
                    VIEWS_FILE.parent.mkdir(parents=True, exist_ok=True)
                    _save(PIL.Image.fromarray(side_by_side(views(), _run)), VIEWS_FILE)
                elif each in table:
                    _draw(table[each], assets / "pictures" / f"{each}{table[each].suffix}")
                else:
                    _draw_card(each.removeprefix(f"{GALLERY}/"), assets / f"{each}{GALLERY_SUFFIX}")


def _draw_card(preset: str, path: Path) -> None:
    """The picture of a preset in the gallery."""
    import PIL.Image

    width, height = card_pictures.SIZE  # it is drawn with twice as many pixels a side
    with tempfile.TemporaryDirectory() as temporary:
        drawn = Path(temporary) / "drawn.png"
        _run(f"{picture_words(preset)} --width {2 * width} --height {2 * height}", drawn)
        image = PIL.Image.open(drawn).convert("RGB").resize(card_pictures.SIZE, PIL.Image.Resampling.LANCZOS)
        with write_atomically(path) as file:
            image.save(file, "WEBP", quality=card_pictures.QUALITY, method=6)


def _draw(picture: ReadmePicture, path: Path) -> None:
    import PIL.Image

    with tempfile.TemporaryDirectory() as temporary:
        if picture.loop:
            _run(f"{picture.loop} --fps {LOOP_FPS}", Path(temporary) / "%05d.png")
            first, *others = map(PIL.Image.open, sorted(Path(temporary).iterdir()))
            each = {"duration": round(1000 / LOOP_FPS), "loop": 0, "quality": LOOP_QUALITY, "method": 5}
            with write_atomically(path) as file:
                first.save(file, "WEBP", save_all=True, append_images=others, **each)
            return
        if picture.window:
            image = _window_on(picture, Path(temporary) / "layout.ini")
        else:
            _run(picture.draw, Path(temporary) / "drawn.png")
            image = PIL.Image.open(Path(temporary) / "drawn.png").convert("RGB")
        _save(image, path)


def _save(image: Image, path: Path) -> None:
    with write_atomically(path) as file:
        image.save(file, "JPEG", quality=JPEG_QUALITY, optimize=True)


def _run(words: str, out: Path) -> None:
    if status := cli.main([*shlex.split(words), "--out", str(out)]):
        raise UserError(f"`thalweg {words}` ends with status {status}")


def _window_on(picture: ReadmePicture, layout_file: Path) -> Image:
    """What a window shows of a scene after exactly its cycles. It needs a display."""
    import PIL.Image

    from app.window.loop import run

    scenes = viewer_scenes(shlex.split(picture.window))
    shown: list[Image] = []
    frames = itertools.count()

    def look(viewer: Viewer, window: Window) -> None:
        application = viewer.application
        snapshot = application.snapshot
        if snapshot is None:
            return
        if not next(steps_asked):
            for stroke in picture.strokes:
                application.simulation.ask(stroke)
            application.brushing.choose(picture.tool)
            application.brushing.pointer = picture.pointer
            for _ in range(picture.cycles):
                BY_NAME["step"].run(application)
        viewer.panel.show_only(picture.section)
        gallery = viewer.panel.gallery
        if picture.gallery and not gallery.is_whole:
            if not gallery.is_open:
                gallery.open()
            return
        if snapshot.cycle < picture.cycles:
            return
        if application.watching.asked_place != picture.place:
            application.watching.ask_about(picture.place)
        elif picture.place and not (snapshot.survey and snapshot.survey.flow_path):
            return  # until it is found
        elif picture.section == "realism" and not (snapshot.survey and snapshot.survey.realism):
            return
        elif next(frames) > FRAMES and not application.sides.drawing:
            screen = window.context.screen
            pixels = screen.read(viewport=(0, 0, *window.pixel_size), components=3, alignment=1)
            image = PIL.Image.frombytes("RGB", window.pixel_size, pixels)
            shown.append(image.transpose(PIL.Image.Transpose.FLIP_TOP_BOTTOM))
            window.close()

    steps_asked = itertools.count()
    # A layout of its own, as on the first start
    run(*scenes, paused=True, size=picture.size, layout_file=layout_file, after_frame=look)
    return shown[0]


def main() -> int:
    """Draw what the command line names, and return the exit status."""
    try:
        draw_pictures(sys.argv[1:])
    except UserError as error:
        print(f"make pictures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

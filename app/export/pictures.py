"""Printed maps: relief, contours and overlays with legends, on paper of a standard size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.engine.publishing import take_snapshot
from app.export.landscape import Landscape, Numbers
from app.export.light import slope
from app.files.atomic import write_atomically
from app.model import palettes, shading
from app.model.errors import UserError
from app.model.numbers import round_step, spaced
from app.model.overlays import OVERLAYS, Value, overlay_ends, overlay_range
from app.sources.heightmap import resample
from kernels.standing import DRY

if TYPE_CHECKING:
    from PIL.Image import Image

MILLIMETRES_PER_INCH = 25.4
PAPERS = {"a5": (148, 210), "a4": (210, 297), "a3": (297, 420), "a2": (420, 594), "a1": (594, 841), "a0": (841, 1189)}
LARGEST_PRINT = 10_000  # pixels along a side

# On the paper, in millimetres
MARGIN, LEGEND, GAP = 10.0, 15.0, 3.0
TEXT_HEIGHT = 3.0
LINE, BOLD_LINE = 0.13, 0.30  # of contours
BOLD_EVERY = 5
LONGEST_BAR = 50.0

INK = (0.16, 0.15, 0.14)
CONTOUR_COLOUR = (0.47, 0.31, 0.19)
WATER_COLOUR = tuple(part / 255.0 for part in (120, 168, 200))
SHALLOWEST = 0.02  # metres of water that separate wet from dry cells at a shore
LINES = 24  # at most, contours of the relief


@dataclass(frozen=True)
class Legend:
    """The legend below a map: name and ends of a palette, or a single line."""

    title: str
    stops: palettes.Stops = ()
    ends: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Page:
    """A sheet of paper in the orientation of the map, and the map's position on it, in pixels."""

    width: int
    height: int
    dpi: int
    left: int
    top: int
    map_width: int
    map_height: int

    def pixels(self, millimetres: float) -> int:
        return round(millimetres * self.dpi / MILLIMETRES_PER_INCH)

    def millimetres(self, pixels: float) -> float:
        return pixels * MILLIMETRES_PER_INCH / self.dpi


def page_of(landscape: Landscape, paper: str, dpi: int) -> Page:
    """The page for a map on a paper of `PAPERS`. Raises `UserError` if it has too many pixels."""
    rows, columns = landscape.world.shape
    sides = sorted(PAPERS[paper], reverse=columns > rows)
    width, height = (round(side * dpi / MILLIMETRES_PER_INCH) for side in sides)
    if max(width, height) > LARGEST_PRINT:
        most = int(LARGEST_PRINT * MILLIMETRES_PER_INCH / max(sides))
        raise UserError(f"--dpi {dpi}: {paper} would have {width}×{height} pixels; at most {most} dpi are right for it")
    room = sides[0] - 2 * MARGIN, sides[1] - 2 * MARGIN - LEGEND - GAP
    scale = min(room[0] / columns, room[1] / rows) * dpi / MILLIMETRES_PER_INCH
    map_width, map_height = max(2, round(columns * scale)), max(2, round(rows * scale))
    left, top = (width - map_width) // 2, round(MARGIN * dpi / MILLIMETRES_PER_INCH)
    return Page(width, height, dpi, left, top, map_width, map_height)


# The maps.


@dataclass(frozen=True)
class _Ground:
    """The land in the pixels of a page."""

    landscape: Landscape
    page: Page
    heights: Numbers
    side: float  # of a pixel in metres
    water: Numbers  # fraction of each pixel under water

    @classmethod
    def of(cls, landscape: Landscape, page: Page) -> _Ground:
        world, shape = landscape.world, (page.map_height, page.map_width)
        side = world.cell_size * world.shape[1] / page.map_width
        return cls(landscape, page, resample(world.ground, *shape), side, _water(landscape, *shape))

    def relief(self) -> shading.Picture:
        return shading.relief(self.heights, self.side)

    def with_water(self, below: shading.Picture) -> shading.Picture:
        """Lakes and sea in one blue."""
        return shading.over(below, np.array(WATER_COLOUR), self.water)


def _water(landscape: Landscape, rows: int, columns: int) -> Numbers:
    """Fraction of each pixel under water. The shore is where the interpolated depth is 0."""
    world = landscape.world
    wet = world.standing != DRY
    depth = landscape.levels_around - world.ground
    depth = np.where(wet, np.maximum(depth, SHALLOWEST), np.minimum(depth, -SHALLOWEST))
    covered = np.pad((resample(depth, rows, columns) > 0.0).astype(np.float64), 1, mode="edge")
    covered = 0.25 * (covered[:-2] + covered[2:]) + 0.5 * covered[1:-1]
    soft: Numbers = 0.25 * (covered[:, :-2] + covered[:, 2:]) + 0.5 * covered[:, 1:-1]
    return soft


def _relief(ground: _Ground) -> tuple[shading.Picture, Legend]:
    """Colours by height, in relief."""
    low, high = float(ground.heights.min()), float(ground.heights.max())
    coloured = shading.with_palette(ground.relief(), ground.heights, low, high, palettes.RELIEF, 0.75)
    return ground.with_water(coloured), Legend("elevation", palettes.RELIEF, (_metres(low), _metres(high)))


def _contours(ground: _Ground) -> tuple[shading.Picture, Legend]:
    """Contours over pale relief; each fifth one is bold."""
    heights = ground.heights
    step = contour_step(float(np.ptp(heights)))
    south, east = np.gradient(heights)
    rise = np.maximum(np.hypot(south, east), 1e-12)  # metres a pixel
    picture = ground.with_water(0.55 + 0.45 * ground.relief())
    for every, width in ((1, LINE), (BOLD_EVERY, BOLD_LINE)):
        apart = step * every
        away = np.abs(heights - apart * np.rint(heights / apart)) / rise  # pixels
        drawn = np.clip(0.5 + 0.5 * width * ground.page.dpi / MILLIMETRES_PER_INCH - away, 0.0, 1.0)
        drawn *= rise < apart  # no lines on level ground, or if all pixels were lines
        drawn *= rise > 1e-9
        picture += drawn[..., None] * (np.array(CONTOUR_COLOUR) - picture)
    return picture, Legend(f"a line each {_metres(step)}, bold each {_metres(BOLD_EVERY * step)}")


def contour_step(relief: float) -> float:
    """The contour interval in metres: a round number that limits the number of contours."""
    return round_step(max(relief, 1e-3) / LINES)


def _overlay(ground: _Ground) -> tuple[shading.Picture, Legend]:
    """The overlay of the scene's view over pale relief, as the window's legend explains it."""
    landscape = ground.landscape
    name = overlay_of(landscape)
    overlay, snapshot = OVERLAYS[name], take_snapshot(landscape.world)
    low, high = map(overlay.scaled, overlay_range(name, snapshot))
    match overlay.value:
        case Value.ELEVATION:
            values = ground.heights
        case Value.SLOPE:
            values = slope(landscape.world.ground, landscape.world.cell_size)
        case Value.SEDIMENT:
            values = landscape.world.loose
        case Value.MAGNITUDE:
            values = np.log2(np.maximum(snapshot.layers[overlay.layers[0]].astype(np.float64), 1e-30))
        case _:
            values = snapshot.layers[overlay.layers[0]].astype(np.float64)
    values = resample(values, *ground.heights.shape)
    picture = shading.with_palette(ground.relief(), values, low, high, overlay.palette, 1.0)
    if overlay.layers != ("water",):
        picture = ground.with_water(picture)
    return picture, Legend(overlay.label, overlay.palette, overlay_ends(name, snapshot))


PRINTED_VALUES = (Value.ELEVATION, Value.SLOPE, Value.SEDIMENT, Value.LAYER, Value.MAGNITUDE)


def overlay_of(landscape: Landscape) -> str:
    """The printed overlay: that of the view, or elevation. Raises `UserError` if it is unavailable."""
    name = landscape.scene.view.overlay
    if name == "none":
        return "elevation"
    overlay = OVERLAYS[name]
    if overlay.value not in PRINTED_VALUES or overlay.survey:
        raise UserError(f"view.overlay = {name}: it is drawn in the window alone; a map of amounts can be printed")
    known = take_snapshot(landscape.world, overlay=name).layers
    if missing := [layer for layer in overlay.layers if layer not in known]:
        raise UserError(f"view.overlay = {name}: this world has no '{missing[0]}'; its processes have not run")
    return name


def _metres(value: float) -> str:
    return f"{spaced(value) if abs(value) >= 999.5 else f'{value:.3g}'} m"


@dataclass(frozen=True)
class Picture:
    """A printed map: description and drawing function."""

    help: str
    draw: Callable[[_Ground], tuple[shading.Picture, Legend]]


OVERLAY = "map"  # of these, the one that depends on the scene
PICTURES: dict[str, Picture] = {
    "relief": Picture("shaded relief, coloured by height", _relief),
    "contours": Picture("lines of equal height", _contours),
    OVERLAY: Picture("the overlay of the view with its legend, or the elevation", _overlay),
}
PICTURE_FORMATS = {"png": 2.0, "pdf": 0.6}  # and about how many bytes a pixel takes


# The page.


def write_picture(path: Path, landscape: Landscape, name: str, kind: str, paper: str, dpi: int) -> None:
    """A printed map as PNG or PDF, at the size of its paper."""
    page = page_of(landscape, paper, dpi)
    image = draw_page(landscape, page, PICTURES[name])
    with write_atomically(path) as file:
        if kind == "pdf":
            image.save(file, "PDF", resolution=float(dpi), quality=95, title=path.stem)
        else:
            image.save(file, "PNG", dpi=(dpi, dpi))


def draw_page(landscape: Landscape, page: Page, picture: Picture) -> Image:
    """The whole page: the map in a frame, its legend, and its scale."""
    from PIL import Image, ImageDraw

    colours, legend = picture.draw(_Ground.of(landscape, page))
    image = Image.new("RGB", (page.width, page.height), "white")
    image.paste(Image.fromarray(shading.to_pixels(colours)), (page.left, page.top))
    draw = ImageDraw.Draw(image)
    right, bottom = page.left + page.map_width, page.top + page.map_height
    thin = max(1, page.pixels(0.2))
    draw.rectangle((page.left - thin, page.top - thin, right, bottom), outline=_rgb(INK), width=thin)
    top = bottom + page.pixels(GAP)
    _draw_legend(image, page, legend, page.left, top)
    _draw_scale(image, page, landscape, right, top)
    return image


def _draw_legend(image: Image, page: Page, legend: Legend, left: int, top: int) -> None:
    """The name of the overlay, and below it the palette between its ends."""
    from PIL import Image, ImageDraw, ImageFont

    draw, font = ImageDraw.Draw(image), ImageFont.load_default(page.pixels(TEXT_HEIGHT))
    draw.text((left, top), legend.title, fill=_rgb(INK), font=font)
    if not legend.stops:
        return
    top += page.pixels(1.6 * TEXT_HEIGHT)
    width, height = min(page.pixels(70.0), page.map_width // 2), page.pixels(3.0)
    table = palettes.interpolated(legend.stops, width)
    shown = table[:, 3:] * table[:, :3] + (1.0 - table[:, 3:]) * shading.PAPER
    bar = np.rint(255.0 * shown).astype(np.uint8)[None].repeat(height, axis=0)
    image.paste(Image.fromarray(bar), (left, top))
    below = top + height + page.pixels(0.8)
    draw.text((left, below), legend.ends[0], fill=_rgb(INK), font=font)
    draw.text((left + width, below), legend.ends[1], fill=_rgb(INK), font=font, anchor="ra")


def _draw_scale(image: Image, page: Page, landscape: Landscape, right: int, top: int) -> None:
    """A bar of a round length, and the scale as a ratio."""
    from PIL import ImageDraw, ImageFont

    draw, font = ImageDraw.Draw(image), ImageFont.load_default(page.pixels(TEXT_HEIGHT))
    metres_per_pixel = landscape.world.shape[1] * landscape.world.cell_size / page.map_width
    longest = min(page.pixels(LONGEST_BAR), page.map_width // 3) * metres_per_pixel
    power = 10.0 ** math.floor(math.log10(longest))
    length = power * next(step for step in (5.0, 2.0, 1.0) if step * power <= longest)
    pixels = round(length / metres_per_pixel)
    ratio = metres_per_pixel / (1e-3 * page.millimetres(1.0))
    text = f"{length / 1000.0:g} km" if length >= 1000.0 else f"{length:g} m"
    draw.text((right, top), f"{text}    1 : {spaced(round(ratio))}", fill=_rgb(INK), font=font, anchor="ra")
    line = top + page.pixels(1.6 * TEXT_HEIGHT)
    draw.rectangle((right - pixels, line, right, line + page.pixels(1.0)), fill=_rgb(INK))


def _rgb(colour: tuple[float, ...]) -> tuple[int, ...]:
    return tuple(round(255.0 * part) for part in colour)

"""The curves behind the measures of realism, as a chart and a table."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.files.atomic import write_atomically
from app.model.errors import UserError
from app.model.realism import Curve, Realism

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw as Draw

Numbers = NDArray[np.float64]

WIDTH, HEIGHT = 640, 440  # pixels of a chart
LEFT, RIGHT, TOP, BOTTOM = 84, 20, 56, 56  # of its frame from its edges
TEXT = 15  # pixels
DOT = 4
INK, FAINT, POINTS, LAW = (38, 38, 44), (214, 214, 218), (34, 92, 158), (196, 78, 36)
COLUMNS = ("curve", "x", "x_unit", "y", "y_unit", "law")


@dataclass(frozen=True)
class Axis:
    """An axis of a chart: its name and unit, and whether it is logarithmic."""

    name: str
    unit: str = ""
    log: bool = False

    @property
    def title(self) -> str:
        return f"{self.name}, {self.unit}" if self.unit else self.name


@dataclass(frozen=True)
class Chart:
    """The chart of a curve of `Realism`."""

    title: str
    x: Axis
    y: Axis


CHARTS: dict[str, Chart] = {
    "slope_area": Chart("Slope and area", Axis("catchment", "m²", True), Axis("mean gradient of rivers", "", True)),
    "hack": Chart("Hack's law", Axis("catchment", "m²", True), Axis("longest way upstream", "m", True)),
    "hypsometry": Chart("Hypsometry", Axis("part of the land above"), Axis("relative height")),
    "slopes": Chart("Slopes", Axis("slope", "°"), Axis("part of the land in 1°")),
}


def law_text(name: str, curve: Curve) -> str:
    """The law of a curve in words, with the range of areas that it was fitted over; empty if it has none."""
    if curve.law is None:
        return ""
    sign = {"slope_area": "S", "hack": "L"}[name]
    exponent = f"{curve.law.exponent:.3f}".replace("-", "−")
    return f"{sign} = {curve.law.factor:.4g} · A^{exponent}, {reach_text(curve)}"


def reach_text(curve: Curve) -> str:
    """The range of areas that a law was fitted over (means of its bins)."""
    low, high = (f"{area / 1e6:.3g}" for area in (curve.x.min(), curve.x.max()))
    return f"over catchments of {low} to {high} km², in {len(curve.x)} bins"


def write_curves(picture: Path, found: Realism) -> list[Path]:
    """Write all curves as a PNG, and a CSV of their points beside it. Returns the paths.

    Raises `UserError` if a file cannot be written, or the package that draws is not installed.
    """
    table = table_path(picture)
    content = _table(found)
    image = _drawn(picture, found)
    for path, data in ((picture, image), (table, content)):
        with write_atomically(path) as file:
            file.write(data)
    return [picture, table]


def table_path(picture: Path) -> Path:
    """The path of the table of a picture. Raises `UserError` if the suffix of the picture is not `.png`."""
    if picture.suffix.lower() != ".png":
        raise UserError(f"--curves {picture}: must end in .png; the table of the points is the .csv beside it")
    return picture.with_suffix(".csv")


def _table(found: Realism) -> bytes:
    """A line for each point; `law` is the value of the fitted law there."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for name, chart in CHARTS.items():
        if (curve := found.curves.get(name)) is None:
            continue
        fitted = np.full(len(curve.x), np.nan) if curve.law is None else curve.law.factor * curve.x**curve.law.exponent
        for x, y, law in zip(curve.x.tolist(), curve.y.tolist(), fitted.tolist(), strict=True):
            writer.writerow([name, repr(x), chart.x.unit, repr(y), chart.y.unit, "" if math.isnan(law) else repr(law)])
    return text.getvalue().encode()


# The picture.


def _drawn(path: Path, found: Realism) -> bytes:
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise UserError(f"cannot write {path}: it needs Pillow; pip install 'thalweg[export]' adds it") from error
    image = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    for number, (name, chart) in enumerate(CHARTS.items()):
        _draw_chart(draw, (number % 2 * WIDTH, number // 2 * HEIGHT), name, chart, found.curves.get(name))
    content = io.BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


def _draw_chart(draw: Draw, corner: tuple[int, int], name: str, chart: Chart, curve: Curve | None) -> None:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(TEXT)
    left, top = corner[0] + LEFT, corner[1] + TOP
    right, bottom = corner[0] + WIDTH - RIGHT, corner[1] + HEIGHT - BOTTOM
    draw.text((left, corner[1] + 8), chart.title, fill=INK, font=font)
    if curve is None or not len(curve.x):
        draw.text((left, top + 8), "not measured", fill=INK, font=font)
        return
    x_scale, y_scale = _Scale.of(chart.x, curve.x, left, right), _Scale.of(chart.y, curve.y, bottom, top)
    for value, text in x_scale.marks():
        at = x_scale.place(value)
        draw.line((at, top, at, bottom), fill=FAINT)
        draw.text((at, bottom + 6), text, fill=INK, font=font, anchor="ma")
    for value, text in y_scale.marks():
        at = y_scale.place(value)
        draw.line((left, at, right, at), fill=FAINT)
        draw.text((left - 8, at), text, fill=INK, font=font, anchor="rm")
    draw.rectangle((left, top, right, bottom), outline=INK)
    draw.text(((left + right) // 2, bottom + 28), _drawable(chart.x.title), fill=INK, font=font, anchor="ma")
    width = int(font.getlength(chart.y.title)) + 2
    upright = Image.new("L", (width, TEXT + 6))
    ImageDraw.Draw(upright).text((0, 0), chart.y.title, fill=255, font=font)
    draw.bitmap((corner[0] + 6, (top + bottom - width) // 2), upright.rotate(90, expand=True), fill=INK)
    points = [(x_scale.place(x), y_scale.place(y)) for x, y in zip(curve.x, curve.y, strict=True)]
    if curve.law is None:
        draw.line(points, fill=POINTS, width=2)
        return
    ends = [float(curve.x.min()), float(curve.x.max())]
    draw.line([(x_scale.place(x), y_scale.place(curve.law.factor * x**curve.law.exponent)) for x in ends], LAW, 2)
    for x, y in points:
        draw.ellipse((x - DOT, y - DOT, x + DOT, y + DOT), fill=POINTS)
    draw.text((left, corner[1] + 28), _drawable(law_text(name, curve)), fill=LAW, font=font)


@dataclass(frozen=True)
class _Scale:
    """The scale of an axis, from values to pixels."""

    axis: Axis
    low: float
    high: float
    begin: int
    end: int

    @classmethod
    def of(cls, axis: Axis, values: Numbers, begin: int, end: int) -> _Scale:
        low, high = float(values.min()), float(values.max())
        if axis.log:
            return cls(axis, 10.0 ** (math.log10(low) - 0.1), 10.0 ** (math.log10(high) + 0.1), begin, end)
        return cls(axis, min(low, 0.0), high if high > min(low, 0.0) else low + 1.0, begin, end)

    def place(self, value: float) -> float:
        change: Callable[[float], float] = math.log10 if self.axis.log else float
        low, high = change(self.low), change(self.high)
        return self.begin + (change(value) - low) / (high - low) * (self.end - self.begin)

    def marks(self) -> Sequence[tuple[float, str]]:
        """Round values with their texts."""
        if self.axis.log:
            values = [digit * 10.0**power for power in range(-12, 16) for digit in (1, 2, 5)]
            inside = [value for value in values if self.low <= value <= self.high]
            tens = [value for value in inside if math.log10(value).is_integer()]
            chosen = tens if len(tens) >= 3 else inside
        else:
            span = self.high - self.low
            power = 10.0 ** math.floor(math.log10(span))
            step = next(part * power for part in (0.1, 0.2, 0.5, 1.0, 2.0) if span / (part * power) <= 6.0)
            chosen = [step * number for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [(value, _mark(value)) for value in chosen]


def _mark(value: float) -> str:
    if value == 0.0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:g}"
    digits, _, power = f"{value:.0e}".partition("e")
    return f"{digits}e{int(power)}"


def _drawable(text: str) -> str:
    """Replace characters that the font of Pillow lacks."""
    return text.replace("²", "2").replace("−", "-")

"""A mask by a property of the land and a range of it, with a map of the cells where it is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import moderngl
import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from app.model.field_parameters import VARIABLES, band
from app.model.parameters import Declaration
from app.model.shading import over, relief, to_pixels
from app.picture.style import em
from app.sources.fields import LandVariables, Values
from app.window.panel.widgets import ParameterWidgets, faint, tooltip_on_hover

if TYPE_CHECKING:
    from app.picture.sides import Sides
    from app.window.views import Views

# What a mask can go by, each with its unit
BY: dict[str, str] = {"slope": "°", "height": "m", "water_distance": "m", "flow": "m", "curvature": "1/km", "kind": ""}
BOUND = Declaration(
    "mask", float, 0.0, 0.0, 1.0, "", "an end of the range that a mask lets through",
    log=False, choices=(), check=None, names_file=False,
)  # fmt: skip
EVERYWHERE = "everywhere"
CHOSEN = np.array((0.16, 0.55, 0.78))  # sRGB, of cells inside the mask
OPACITY = 0.75
ROUND_DIGITS = 2  # that the ends of a range have in proportion to it
WIDEST_MAP = 16.0  # heights of the font
CYCLES_BETWEEN_MAPS = 50  # while the land changes


def mask_map(land: LandVariables, mask: str) -> NDArray[np.uint8]:
    """The land in relief, coloured inside a mask: [row, column, (red, green, blue)]."""
    picture = relief(land.height, land.cell_size)
    values = land.value(mask)
    through = np.ones(land.height.shape) if values is None else np.clip(values, 0.0, 1.0)
    return to_pixels(over(picture, CHOSEN, OPACITY * through))


def round_range(low: float, high: float) -> tuple[float, float]:
    """A range with round ends that holds another one."""
    if not low < high:
        return low, high
    digits = ROUND_DIGITS - math.ceil(math.log10(high - low))
    step = 10.0**-digits
    return round(math.floor(low / step) * step, max(digits, 0)), round(math.ceil(high / step) * step, max(digits, 0))


class MaskPicker:
    """The picked mask. Sliders span the range of the property on this land."""

    def __init__(self, views: Views, sides: Sides, report: Callable[[str], None]) -> None:
        """`report` is told what is wrong with a number that is typed."""
        self.by = EVERYWHERE
        self.low = self.high = 0.0
        self._views = views
        self._sides = sides
        self._land: tuple[object, LandVariables] | None = None  # a cache: its key, and the land at low resolution
        self._ranges: dict[str, tuple[float, float]] = {}
        self._map: tuple[object, moderngl.Texture] | None = None
        self._widgets = ParameterWidgets(report)
        self._before = 0.0, 1.0  # the range before a drag

    @property
    def text(self) -> str:
        """The mask as an expression; empty means everywhere."""
        return "" if self.by == EVERYWHERE else band(self.by, self.low, self.high)

    def choose(self, by: str) -> None:
        """Choose another property, with its whole range."""
        self.by = by
        if by != EVERYWHERE:
            self.low, self.high = self._range(by)

    def gui(self, width: float, label: float) -> None:
        """Show a combo, two sliders and the map, `width` wide, including labels `label` wide."""
        self._name("where", label)
        imgui.set_next_item_width(width - label)
        if imgui.begin_combo("##mask by", self.by.replace("_", " ")):
            for name in (EVERYWHERE, *BY):
                if imgui.selectable(f"{name.replace('_', ' ')}###{name}", name == self.by)[0]:
                    self.choose(name)
                if name in VARIABLES:
                    tooltip_on_hover(VARIABLES[name])
            imgui.end_combo()
        if self.by == EVERYWHERE:
            return
        lowest, highest = self._range(self.by)
        if not lowest < highest:
            faint("it is the same on all of this land")
            return
        for name, value in (("from", self.low), ("to", self.high)):
            self._name(name, label)
            declaration = replace(BOUND, path=f"mask {name}", default=value, low=lowest, high=highest, unit=BY[self.by])
            new = self._widgets.edit(declaration, value, width - label)
            if new is None:  # a drag that was given up
                new = self._before[name == "to"]
            elif self._widgets.dragged != declaration.path:
                self._before = self.low, self.high
            if new == value or isinstance(new, str):
                continue
            if name == "from":
                self.low, self.high = float(new), max(float(new), self.high)
            else:
                self.low, self.high = min(float(new), self.low), float(new)
        self._show_map(width)

    def release(self) -> None:
        """Release the texture of the map."""
        if self._map is not None:
            self._map[1].release()
            self._map = None

    def _name(self, text: str, label: float) -> None:
        imgui.align_text_to_frame_padding()
        left = imgui.get_cursor_pos_x()
        imgui.text_unformatted(text)
        imgui.same_line(left + label)

    def _small_land(self) -> LandVariables | None:
        snapshot = self._views.snapshot
        if snapshot is None:
            return None
        made_of = snapshot.world, snapshot.cycle // CYCLES_BETWEEN_MAPS, snapshot.version if not snapshot.cycle else 0
        if self._land is None or self._land[0] != made_of:
            self._land, self._ranges = (made_of, LandVariables.of_snapshot(snapshot)), {}
        return self._land[1]

    def _range(self, by: str) -> tuple[float, float]:
        land = self._small_land()
        if land is None:
            return 0.0, 1.0
        if by not in self._ranges:
            values: Values = land.variable(by)
            self._ranges[by] = round_range(float(values.min()), float(values.max()))
        return self._ranges[by]

    def _show_map(self, width: float) -> None:
        land = self._small_land()
        if land is None or self._land is None:
            return
        made_of = self._land[0], self.text
        if self._map is None or self._map[0] != made_of:
            self.release()
            picture = mask_map(land, self.text)
            rows, columns = picture.shape[:2]
            context = self._sides.context
            self._map = made_of, context.texture((columns, rows), 3, picture.tobytes(), alignment=1)
        texture = self._map[1]
        side = min(width, em(WIDEST_MAP))
        imgui.image(imgui.ImTextureRef(texture.glo), imgui.ImVec2(side, side * texture.height / texture.width))
        tooltip_on_hover("blue: where it acts", self.text)

"""Layout of pictures, minimaps and divider in the window, in logical units."""

from __future__ import annotations

from app.picture.sides import Side, Sides
from app.scene.comparison import MOST_WORLDS
from app.window.camera_control import CameraControl

DIVIDER_RANGE = (0.1, 0.9)  # fraction of the free width

Rectangle = tuple[float, float, float, float]  # left, top, width and height


class Layout:
    """The area of the scene in the window, and positions in it."""

    def __init__(self, sides: Sides) -> None:
        self.size = (1.0, 1.0)
        self.top = 0.0  # top of the pictures, below menus
        self.pixels_per_unit = 1.0
        self.free = (0.0, 1.0)  # the part of the width that the panel leaves free
        self.divider = 0.5  # where two pictures meet, as a fraction of the free width
        self.grid_chosen: bool | None = None
        self._sides = sides

    @property
    def pixel_size(self) -> tuple[int, int]:
        """Of the whole picture."""
        width, height = self.size
        return round(width * self.pixels_per_unit), round(height * self.pixels_per_unit)

    @property
    def pixel_top(self) -> int:
        """Where the pictures begin, in pixels."""
        return round(self.top * self.pixels_per_unit)

    @property
    def in_grid(self) -> bool:
        """Whether the pictures form a grid instead of a row; by default four do."""
        count = len(self._sides.shown)
        return count > 2 and (self.grid_chosen if self.grid_chosen is not None else count == MOST_WORLDS)

    def apply(self) -> None:
        """Lay out the pictures."""
        self._sides.lay_out(*self.pixel_size, free=self.free, divider=self.divider, in_grid=self.in_grid)

    def fit(self, camera: CameraControl, side: Side) -> None:
        """Tell a camera the area of its picture."""
        area, scale = side.area, self.pixels_per_unit
        camera.width, camera.height, camera.free = area.width / scale, area.height / scale, area.free
        # Independent of the divider, as a view must be.
        camera.view_aspect = self.view_aspect(len(self._sides.shown))

    def view_aspect(self, sides: int) -> float:
        """The aspect ratio of an equal share of the free area."""
        left, right = self.free
        columns, rows = (2, 2) if self.in_grid else (sides, 1)
        return (right - left) * self.size[0] / columns / max(self.size[1] / rows, 1.0)

    def corner(self, side: Side) -> tuple[float, float]:
        """The left and top of a side's picture."""
        return side.area.left / self.pixels_per_unit, side.area.top / self.pixels_per_unit + self.top

    def side_at(self, x: float, y: float) -> int:
        """The index of the side at a position."""
        corners = [self.corner(side) for side in self._sides.shown]
        return max((place for place, (left, top) in enumerate(corners) if x >= left and y >= top), default=0)

    @property
    def divider_place(self) -> float | None:
        """Where two columns meet, from the left; None unless there are two."""
        lefts = {self.corner(side)[0] for side in self._sides.shown}
        return max(lefts) if len(lefts) == 2 else None

    def move_divider(self, x: float) -> None:
        """Move the divider near a position, so that both pictures stay visible."""
        left, right = (part * self.size[0] for part in self.free)
        part = (x - left) / max(right - left, 1.0)
        self.divider = min(max(part, DIVIDER_RANGE[0]), DIVIDER_RANGE[1])

    def minimap(self, side: Side) -> Rectangle:
        """The rectangle of a side's minimap, shown or not."""
        left, top, width, height = side.picture.minimap_rectangle(side.area.width, side.area.height)
        scale = self.pixels_per_unit
        return (side.area.left + left) / scale, (side.area.top + top) / scale + self.top, width / scale, height / scale

    def place_above_minimap(self, *, with_minimap: bool) -> tuple[float, float, float]:
        """The space above the leftmost minimap, or in its place: left, bottom and width."""
        left, top, width, height = self.minimap(self._sides.shown[0])
        if not with_minimap:
            return left, top + height, width
        return left, top - 0.5 * left, width

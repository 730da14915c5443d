"""Where things are in the window: the pictures, their minimaps, and the divider between two. In logical units."""

from __future__ import annotations

from app.picture.sides import Side, Sides
from app.scene.comparison import MOST_WORLDS
from app.window.camera_control import CameraControl

DIVIDER_RANGE = (0.1, 0.9)  # of what the panel leaves of the width

Rectangle = tuple[float, float, float, float]  # left, top, width and height


class Layout:
    """The size of the scene's area in the window, and the places in it."""

    def __init__(self, sides: Sides) -> None:
        self.size = (1.0, 1.0)
        self.top = 0.0  # where the pictures begin, below what lies above them
        self.pixels_per_unit = 1.0
        self.free = (0.0, 1.0)  # what the panel leaves of the width
        self.divider = 0.5  # where two pictures meet, as a part of that
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
        """Whether the pictures lie in a grid, and not side by side: four do, unless it was chosen otherwise."""
        count = len(self._sides.shown)
        return count > 2 and (self.grid_chosen if self.grid_chosen is not None else count == MOST_WORLDS)

    def apply(self) -> None:
        """Give the pictures their places."""
        self._sides.lay_out(*self.pixel_size, free=self.free, divider=self.divider, in_grid=self.in_grid)

    def fit(self, camera: CameraControl, side: Side) -> None:
        """Give a camera the place that it is used on."""
        area, scale = side.area, self.pixels_per_unit
        camera.width, camera.height, camera.free = area.width / scale, area.height / scale, area.free
        # Wherever the divider is: a view must not depend on it.
        camera.view_aspect = self.view_aspect(len(self._sides.shown))

    def view_aspect(self, sides: int) -> float:
        """Width to height of an equal share of what the panel leaves."""
        left, right = self.free
        columns, rows = (2, 2) if self.in_grid else (sides, 1)
        return (right - left) * self.size[0] / columns / max(self.size[1] / rows, 1.0)

    def corner(self, side: Side) -> tuple[float, float]:
        """Where the picture of a side begins, from the left and from the top."""
        return side.area.left / self.pixels_per_unit, side.area.top / self.pixels_per_unit + self.top

    def side_at(self, x: float, y: float) -> int:
        """The place of the side that is there."""
        corners = [self.corner(side) for side in self._sides.shown]
        return max((place for place, (left, top) in enumerate(corners) if x >= left and y >= top), default=0)

    @property
    def divider_place(self) -> float | None:
        """Where two columns meet, from the left; None where there are not two."""
        lefts = {self.corner(side)[0] for side in self._sides.shown}
        return max(lefts) if len(lefts) == 2 else None

    def move_divider(self, x: float) -> None:
        """Let two pictures meet as near to a place as both can still be seen."""
        left, right = (part * self.size[0] for part in self.free)
        part = (x - left) / max(right - left, 1.0)
        self.divider = min(max(part, DIVIDER_RANGE[0]), DIVIDER_RANGE[1])

    def minimap(self, side: Side) -> Rectangle:
        """Where a side has its minimap, or would have it."""
        left, top, width, height = side.picture.minimap_rectangle(side.area.width, side.area.height)
        scale = self.pixels_per_unit
        return (side.area.left + left) / scale, (side.area.top + top) / scale + self.top, width / scale, height / scale

    def place_above_minimap(self, *, with_minimap: bool) -> tuple[float, float, float]:
        """Where something may stand on the leftmost minimap, or in its place: left, bottom and width."""
        left, top, width, height = self.minimap(self._sides.shown[0])
        if not with_minimap:
            return left, top + height, width
        return left, top - 0.5 * left, width

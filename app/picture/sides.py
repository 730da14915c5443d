"""The sides of the picture: one world, or several side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.model.legends import Legend, legend
from app.model.overlays import overlay_range
from app.model.snapshot import Snapshot
from app.picture.appearance import Appearance
from app.picture.camera import Camera
from app.picture.canvas import Canvas
from app.picture.crop import STEP, Crop, bands, whole
from app.picture.history import LedgerHistory
from app.picture.layers import SurfaceOfLand
from app.picture.passes.declaration import Shot
from app.picture.passes.frame_values import least_discharge
from app.picture.passes.quality import KnownLevels
from app.picture.picture import Picture

DIVIDER_COLOUR = np.array([235, 239, 242, 255], np.uint8)
DIVIDER_WIDTH = 2.0  # at scale 1
NARROWEST_LABEL, WIDEST_LABEL = 90.0, 360.0
WIDEST_LEGEND = 420.0
LABEL_MARGIN = 14.0  # the same as of the minimap


@dataclass(frozen=True)
class Area:
    """A part of the whole picture: upper left corner and size, in pixels.

    `free` is the uncovered range of its width, from 0 at its left to 1 at its right.
    """

    left: int
    width: int
    height: int
    free: tuple[float, float] = (0.0, 1.0)
    top: int = 0

    @property
    def uncovered(self) -> Crop:
        """The part that nothing covers."""
        left, right = (part * self.width for part in self.free)
        left, right = math.floor(left / STEP) * STEP, min(math.ceil(right / STEP) * STEP, self.width)
        return Crop((self.width, self.height), left, 0, right - left, self.height)


def areas(
    width: int,
    height: int,
    count: int,
    *,
    free: tuple[float, float] = (0.0, 1.0),
    divider: float = 0.5,
    in_grid: bool = False,
) -> list[Area]:
    """The areas of `count` pictures, row by row: side by side, or in a grid of two columns.

    Columns divide the uncovered part of the width equally, or two of them at `divider`, a fraction of it. The outer
    columns extend below what covers the picture.
    """
    columns = 2 if in_grid and count > 2 else count
    rows = -(-count // columns)

    def area(row: int, column: int, columns: int) -> Area:
        parts = [divider] if columns == 2 else [part / columns for part in range(1, columns)]
        meetings = [round((free[0] + (free[1] - free[0]) * part) * width) for part in parts]
        edges = [0, *(min(max(meeting, 1), max(width - 1, 1)) for meeting in meetings), width]
        left, right = edges[column], edges[column + 1]
        top, bottom = (round(height * edge / rows) for edge in (row, row + 1))
        low, high = (min(max((part * width - left) / max(right - left, 1), 0.0), 1.0) for part in free)
        return Area(left, right - left, bottom - top, (low, high) if low < high else (0.0, 1.0), top)

    return [
        area(row, column, min(columns, count - row * columns))
        for row in range(rows)
        for column in range(min(columns, count - row * columns))
    ]


REST = 2  # looks at which nothing has changed, before a picture is refined
LONGER_REST = 12  # the same where maps are not complete or waves run, which then stand still

Label = tuple[str, ...]  # lines, the first of them bright; may be empty


@dataclass(frozen=True)
class Look:
    """The view of a world."""

    camera: Camera
    appearance: Appearance
    minimap: bool
    label: Label
    overlay_span: tuple[float, float]
    least_discharge: float
    legend: Legend | None = None  # if drawn in the picture
    hasty: bool = False  # in fewer pixels, as it is seen for a moment only
    finer: int = 0  # levels of quality above the automatic one, as nothing moves


Drawn = tuple[Look, *tuple[object, ...]]  # the inputs of a canvas, apart from the time


class Side:
    """One world: its picture on a canvas, and the history of its sediment budget."""

    def __init__(
        self, context: moderngl.Context, neighbour: Side | None, *, bake_at_once: bool, known_levels: KnownLevels | None
    ) -> None:
        self.picture: Picture = Picture(
            context,
            bake_at_once=bake_at_once,
            neighbour=neighbour.picture if neighbour else None,
            known_levels=known_levels,
        )
        if bake_at_once:
            self.picture.least_scale = 1.0  # files are drawn at full scale
        self.canvas = Canvas(context)  # the shown picture
        self._next_canvas = Canvas(context)  # the picture being drawn
        self.ledger_history = LedgerHistory()
        self.snapshot: Snapshot | None = None
        self.area = Area(0, 0, 0)
        self.covered_left = 0  # pixels at the left that labels avoid
        self.seen_area = self.area  # area of the shown picture; `area` may have changed since
        self.seen_left = 0  # pixels at its left that the shown picture leaves out
        self.is_hasty = False  # whether the shown picture is, and leaves out what the panel covers
        self._drawn: Drawn | None = None
        self._drawn_version: int | None = None
        self._next_seen: tuple[Area, Drawn | None, int, bool] = (self.area, None, 0, False)  # of the next canvas
        self._next_version: int | None = None

    def show(self, snapshot: Snapshot) -> None:
        """Take the newest snapshot of the world."""
        self.snapshot = snapshot
        self.picture.show(snapshot)
        self.ledger_history.add(snapshot)

    def redraw(self) -> None:
        """Force a redraw."""
        self._drawn = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return self.snapshot is None or self.area.width < 1 or self.area.height < 1

    @property
    def drawn_version(self) -> int | None:
        """The version of the world in the shown picture."""
        return self._drawn_version

    def is_drawn(self, look: Look, time: float) -> bool:
        """Whether the canvas is up to date, but for a minimap that may stay, or there is nothing to draw."""
        if self.is_empty:
            return True
        still = self.picture.may_stay(time) and (look.finer > 0 or not self.picture.is_moving(look.appearance))
        return still and self._drawn == self._seen(look)

    def shows(self, look: Look) -> bool:
        """Whether the canvas shows this look, at any level of quality."""
        if self._drawn is None:
            return False
        shown, *others = self._drawn
        return [replace(shown, finer=0), *others] == [replace(look, finer=0), *self._seen(look)[1:]]

    def can_rest(self, look: Look) -> bool:
        """Whether the canvas shows this look, but for waves that run on and maps that are made in bands."""
        return self.shows(look) and not self.picture.is_moving(look.appearance, beside_waves=True)

    def slices(self, look: Look, time: float, crop: Crop | None = None) -> Iterator[None]:
        """Draw the area, or a part of it: picture, label, and dividers towards neighbours to the left and above.

        Call `present` after the last slice to show the result.
        """
        area, drawn = self.area, self._seen(look)
        crop = crop or (area.uncovered if look.hasty and self.picture.software else whole(area.width, area.height))
        camera = replace(look.camera, middle=area.free[0] + area.free[1] - 1.0)
        canvas = self._next_canvas
        shot = Shot(
            camera,
            look.appearance,
            time,
            look.minimap,
            look.overlay_span,
            look.least_discharge,
            crop,
            look.hasty,
            look.finer,
        )
        yield from self.picture.slices(canvas.framebuffer(crop.width, crop.height), shot)
        if look.label:
            self._paint_label(canvas, area, crop, look.label)
        if look.legend:
            self._paint_legend(canvas, area, crop, look.legend, with_minimap=look.minimap)
        thickness = max(round(DIVIDER_WIDTH * self.picture.content_scale), 1)
        for is_inside, rows, columns in (
            (area.left > 0, area.height, min(thickness, area.width)),
            (area.top > 0, min(thickness, area.height), area.width),
        ):
            if is_inside:
                canvas.paint(np.broadcast_to(DIVIDER_COLOUR, (rows, columns, 4)), -crop.left, -crop.top)
        self._next_seen = area, drawn, crop.left, look.hasty
        self._next_version = self.snapshot.version if self.snapshot else None

    def part(self, look: Look, time: float, crop: Crop) -> NDArray[np.uint8]:
        """Draw a part of the area. Returns its pixels: [row, column, (red, green, blue)], the uppermost row first."""
        for _ in self.slices(look, time, crop):
            pass
        pixels = self._next_canvas.pixels()
        assert pixels is not None
        return pixels

    def layers(self, look: Look, time: float, crop: Crop, land: SurfaceOfLand) -> dict[str, NDArray[np.generic]]:
        """Draw a part of the area in the layers of a still, see `app.picture.layers`."""
        camera = replace(look.camera, middle=self.area.free[0] + self.area.free[1] - 1.0)
        shot = Shot(camera, look.appearance, time, False, look.overlay_span, look.least_discharge)
        return self.picture.layers(shot, crop, land)

    def present(self) -> None:
        """Show the last drawn picture."""
        self.canvas, self._next_canvas = self._next_canvas, self.canvas
        self.seen_area, self._drawn, self.seen_left, self.is_hasty = self._next_seen
        self._drawn_version = self._next_version

    def _seen(self, look: Look) -> Drawn:
        """The inputs of the canvas, apart from the time."""
        snapshot = self.snapshot
        assert snapshot is not None
        surveyed = snapshot.survey and tuple(snapshot.survey.versions.items())
        place = self.area, self.covered_left, self.picture.content_scale
        return look, place, snapshot.world, snapshot.version, surveyed

    def _paint_label(self, canvas: Canvas, area: Area, crop: Crop, label: Label) -> None:
        from app.picture.lettering import sign  # loads ImGui only if needed

        scale = self.picture.content_scale
        left, right = (round(part * area.width) for part in area.free)
        left = min(max(left, self.covered_left - area.left), (left + right) // 2)
        margin = round(min(LABEL_MARGIN * scale, 0.1 * min(right - left, area.height)))
        widest = min(right - left - 2 * margin, round(WIDEST_LABEL * scale))
        if widest < NARROWEST_LABEL * scale:
            label = label[:1]  # more would be illegible
        canvas.paint(sign(label, scale, widest), left + margin - crop.left, margin - crop.top)

    def _paint_legend(self, canvas: Canvas, area: Area, crop: Crop, legend: Legend, *, with_minimap: bool) -> None:
        """Paint the legend above the minimap, or in its place."""
        from app.picture.legend import legend_sign  # loads ImGui only if needed

        scale = self.picture.content_scale
        left, top, width, height = self.picture.minimap_rectangle(area.width, area.height)
        sign = legend_sign(legend, scale, width, min(area.width - 2 * left, round(WIDEST_LEGEND * scale)))
        bottom = top - left // 2 if with_minimap else top + height
        canvas.paint(sign, left - crop.left, bottom - len(sign) - crop.top)

    def release(self) -> None:
        self.picture.release()
        self.canvas.release()
        self._next_canvas.release()


class Sides:
    """The worlds that are shown, from left to right and row by row."""

    def __init__(
        self, context: moderngl.Context, *, bake_at_once: bool = False, known_levels: KnownLevels | None = None
    ) -> None:
        self.context = context
        self._known_levels = known_levels
        self._bake_at_once = bake_at_once
        self.shown = [self._new_side(None)]
        self._size = (0, 0)
        self._spans: dict[str, tuple[float, float]] = {}  # of the shown snapshots, by overlay
        self._drawing: Iterator[None] = iter(())
        self._being_drawn: list[Side] = []
        self.pictures = 0  # pictures shown so far
        self._unchanged = 0  # how often in a row nothing had changed
        self._finer = 0  # levels of quality above the automatic one at which pictures are drawn

    def show(self, snapshots: Sequence[Snapshot]) -> None:
        """Show the newest snapshots, one per world. A continued world keeps its side."""
        self._forget_drawing()
        before = self.shown
        known = {side.snapshot.world: side for side in before if side.snapshot is not None}
        staying = [known.pop(snapshot.world, None) for snapshot in snapshots]
        unused = [side for side in before if side not in staying]
        self.shown = []
        for side in staying:
            self.shown.append(side or (unused.pop(0) if unused else self._new_side(before[0])))
        drawn = [side.canvas.framebuffer_as_drawn for side in self.shown]
        if unused and (that_stays := next(filter(None, drawn), None)):
            that_stays.use()  # unbinds those that are released
        for side in unused:
            side.release()
        for side, snapshot in zip(self.shown, snapshots, strict=True):
            side.show(snapshot)
        self._spans.clear()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole picture."""
        return self._size

    @property
    def snapshots(self) -> list[Snapshot]:
        return [side.snapshot for side in self.shown if side.snapshot is not None]

    def overlay_span(self, overlay: str) -> tuple[float, float]:
        """The values at the ends of an overlay's palette, on all sides the same."""
        if overlay not in self._spans:
            self._spans[overlay] = overlay_range(overlay, *self.snapshots)
        return self._spans[overlay]

    def lay_out(
        self,
        width: int,
        height: int,
        *,
        free: tuple[float, float] = (0.0, 1.0),
        divider: float = 0.5,
        in_grid: bool = False,
    ) -> None:
        """Give each side its area of a picture of this size; see `areas`."""
        self._size = width, height
        parts = areas(width, height, len(self.shown), free=free, divider=divider, in_grid=in_grid)
        columns = len({area.left for area in parts})
        # Minimaps have equal size, if they fit.
        share = round((free[1] - free[0]) * width / columns) if columns > 1 else width
        for side, area in zip(self.shown, parts, strict=True):
            side.area = area
            side.picture.minimap_width = min(area.width, share)

    def draw(
        self,
        cameras: Sequence[Camera],
        appearances: Sequence[Appearance],
        *,
        time: float,
        minimap: bool,
        labels: Sequence[Label] = (),
    ) -> bool:
        """Draw what has changed. Returns whether anything has. The target of each camera is at the centre of its side.

        Each side has a camera, an appearance, and optionally a label, which is a list of lines.
        """
        changed = self.begin(cameras, appearances, time=time, minimap=minimap, labels=labels)
        self.go_on()
        return changed

    def begin(
        self,
        cameras: Sequence[Camera],
        appearances: Sequence[Appearance],
        *,
        time: float,
        minimap: bool,
        labels: Sequence[Label] = (),
        hasty: bool = False,
        at_rest: bool = False,
    ) -> bool:
        """Begin to draw what has changed, as `draw` does. Returns whether anything has.

        A `hasty` picture has fewer pixels where a software rasteriser draws it. While `at_rest`, what has not changed
        is drawn again at the next level of quality, up to high; waves stand still there. No quality is chosen by the
        time of either.
        """
        self._forget_drawing()
        if not self.snapshots:
            return False
        looks = self.looks(cameras, appearances, minimap=minimap, labels=labels)
        view = appearances[0].view
        looks = [replace(look, hasty=hasty, finer=self._finer) for look in looks]
        if not at_rest or not all(map(Side.shows, self.shown, looks)):
            self._finer = 0
            looks = [replace(look, finer=0) for look in looks]
        changed = self._changed(looks, time)
        waits = at_rest and bool(changed) and all(map(Side.can_rest, self.shown, looks))
        counts = waits or (not changed and self.settled)
        self._unchanged = self._unchanged + 1 if counts else 0
        rest = LONGER_REST if waits else REST
        if at_rest and self._unchanged > rest and self._finer < self.shown[0].picture.finer_levels(view):
            self._finer += 1
            self._unchanged = 0
            changed = self._changed([replace(look, finer=self._finer) for look in looks], time)
        if changed:
            slices = (part for side, look in changed for part in side.slices(look, time))
            drawing = self.shown[0].picture
            self._drawing = slices if self._finer else drawing.one_frame(view, slices, hasty=hasty)
            self._being_drawn = [side for side, _ in changed]
        return bool(changed)

    def _changed(self, looks: Sequence[Look], time: float) -> list[tuple[Side, Look]]:
        """The sides that do not show their look, and the looks."""
        return [(side, look) for side, look in zip(self.shown, looks, strict=True) if not side.is_drawn(look, time)]

    @property
    def settled(self) -> bool:
        """Whether trees, light and minimaps of all sides are up to date."""
        return all(side.is_empty or side.picture.frame_settled for side in self.shown)

    def looks(
        self,
        cameras: Sequence[Camera],
        appearances: Sequence[Appearance],
        *,
        minimap: bool,
        labels: Sequence[Label] = (),
    ) -> list[Look]:
        """The view of each side; see `draw`."""
        view = appearances[0].view
        span = self.overlay_span(view.overlay)
        least = least_discharge(appearances, self.snapshots)
        looks = [
            Look(camera, appearance, minimap, label, span, least)
            for camera, appearance, label in zip(cameras, appearances, labels or [()] * len(appearances), strict=True)
        ]
        if view.legend:
            looks[0] = replace(looks[0], legend=legend(view.overlay, self.snapshots))
        return looks

    def bands(self, looks: Sequence[Look], time: float, largest: int) -> Iterator[NDArray[np.uint8]]:
        """Draw the picture in tiles whose sides are at most `largest` pixels. Yields bands from the top: [row, column,
        (red, green, blue)]. The window does not show them. All sides must be as high as the picture.
        """
        for band in self._bands(largest, lambda at, crop: {"": self.shown[at].part(looks[at], time, crop)}):
            yield np.asarray(band[""], np.uint8)

    def layer_bands(self, looks: Sequence[Look], time: float, largest: int) -> Iterator[dict[str, NDArray[np.generic]]]:
        """Like `bands`, in the layers of a still (see `app.picture.layers`), without minimap and labels."""
        lands = [
            SurfaceOfLand(snapshot, look.appearance.view.exaggeration)
            for snapshot, look in zip(self.snapshots, looks, strict=True)
        ]
        yield from self._bands(largest, lambda at, crop: self.shown[at].layers(looks[at], time, crop, lands[at]))

    def _bands(
        self, largest: int, draw: Callable[[int, Crop], dict[str, NDArray[np.generic]]]
    ) -> Iterator[dict[str, NDArray[np.generic]]]:
        """Assemble bands from tiles; `draw` gets the index of a side and a crop of it."""
        for row in zip(*(bands(side.area.width, side.area.height, largest) for side in self.shown), strict=True):
            whole_band: dict[str, NDArray[np.generic]] = {}
            for at, (side, tiles) in enumerate(zip(self.shown, row, strict=True)):
                for tile in tiles:
                    left = side.area.left + tile.left
                    for name, drawn in draw(at, tile.drawn).items():
                        part = drawn[tile.rows, tile.columns]
                        if name not in whole_band:
                            whole_band[name] = np.empty((tile.height, self._size[0], *part.shape[2:]), part.dtype)
                        whole_band[name][:, left : left + tile.width] = part
            yield whole_band

    @property
    def drawing(self) -> bool:
        """Whether a picture is incomplete; the previous one is shown until it is complete."""
        return bool(self._being_drawn)

    def go_on(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Continue drawing, slice by slice, until the picture is complete or `enough` returns True."""
        try:
            for _ in self._drawing:
                if enough():
                    return
        except BaseException:
            self._forget_drawing()
            raise
        for side in self._being_drawn:
            side.present()
        self.pictures += bool(self._being_drawn)
        self._forget_drawing()

    @property
    def refines(self) -> bool:
        """Whether the incomplete picture is what is shown already, at a higher level of quality."""
        return self.drawing and self._finer > 0

    def abandon(self) -> None:
        """Abandon an incomplete picture; the previous one stays."""
        self._finer -= self.refines
        self._unchanged = 0
        self._forget_drawing()

    def _forget_drawing(self) -> None:
        self._drawing = iter(())
        self._being_drawn = []

    def pixels(self) -> NDArray[np.uint8] | None:
        """The whole picture: red, green and blue by row and column, top row first."""
        width, height = self._size
        whole: NDArray[np.uint8] | None = None
        for side in self.shown:
            pixels, area = side.canvas.pixels(), side.seen_area
            if pixels is not None:
                whole = np.zeros((height, width, pixels.shape[2]), np.uint8) if whole is None else whole
                left = area.left + side.seen_left
                place = whole[area.top : area.top + area.height, left : left + pixels.shape[1]]
                place[...] = pixels[: place.shape[0], : place.shape[1]]
        return whole

    def set_content_scale(self, scale: float) -> None:
        for side in self.shown:
            side.picture.content_scale = scale

    def redraw(self) -> None:
        """Force a redraw of all sides."""
        self._forget_drawing()
        for side in self.shown:
            side.redraw()

    def reload_shaders(self) -> str:
        """Compile all shaders again. Returns "" or the first error; a picture with an error keeps its old ones."""
        self._forget_drawing()
        errors = [side.picture.reload_shaders() for side in self.shown]
        self.redraw()
        return next(filter(None, errors), "")

    def release(self) -> None:
        self._forget_drawing()
        for side in self.shown:
            side.release()

    def _new_side(self, neighbour: Side | None) -> Side:
        side = Side(self.context, neighbour, bake_at_once=self._bake_at_once, known_levels=self._known_levels)
        if neighbour:
            side.picture.content_scale = neighbour.picture.content_scale
        return side
